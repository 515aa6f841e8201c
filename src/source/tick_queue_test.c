#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>

#include "platform/time.h"
#include "source/tick_queue.h"
#include "test.h"
#include "waiting.h"

#define S TB_NS_PER_S

typedef struct fixture {
  tb_source_t *source;
  tb_clock_t *clock;
  tb__tick_queue_t queue;
  pthread_t receive_thread;
  _Atomic bool inside, go_on;
  _Atomic int reports;
  _Atomic int again; /* how often a report asks for another one */
  _Atomic bool holds_reports;
  bool ran_here;
  char trace[512];
} fixture_t;

static void on_report(void *user)
{
  fixture_t *f = user;
  if (pthread_equal(pthread_self(), f->receive_thread)) f->ran_here = true;
  if (f->again > 0) {
    f->again--;
    tb__tick_queue_report_again(&f->queue, 1); /* long past */
  }
  atomic_fetch_add(&f->reports, 1);
  while (f->holds_reports && !atomic_load(&f->go_on))
    sched_yield();
}

static int setup_on(void **state, bool wrapped)
{
  static fixture_t f;
  f = (fixture_t){.receive_thread = pthread_self()};
  assert_ok(tb_manual_source_create(&f.source));
  tb_timeline_t *ticked = tb_source_timeline(f.source);
  if (wrapped) assert_ok(tb_extrapolating_source_create(f.source, NULL, &f.source));
  tb_clock_options_t options = {TB_TIME_ROS, f.source};
  assert_ok(tb_clock_create(&options, &f.clock));
  assert_ok(tb__tick_queue_init(&f.queue, ticked, on_report, NULL, &f));
  *state = &f;
  return 0;
}

static int setup(void **state)
{
  return setup_on(state, false);
}

static int setup_wrapped(void **state)
{
  return setup_on(state, true);
}

static int teardown(void **state)
{
  fixture_t *f = *state;
  atomic_store(&f->go_on, true); /* also after a failure */
  tb__tick_queue_fini(&f->queue);
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  return 0;
}

static int64_t now_ns(fixture_t *f)
{
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  return now.ns;
}

static void test_X5_plain_ticks_are_committed_where_they_arrive(void **state)
{
  fixture_t *f = *state;
  uint32_t work = atomic_load(&f->queue.work);
  for (int64_t i = 1; i <= 100; i++) {
    tb__tick_queue_tick(&f->queue, i);
    assert_int_equal(now_ns(f), i); /* at once, on this thread */
  }
  assert_int_equal(atomic_load(&f->queue.work), work); /* the thread was not woken */
}

static void *sleep_until_20(void *clock)
{
  const tb_time_t time = {20 * S, TB_TIME_ROS};
  assert_ok(tb_clock_sleep_until(clock, time, NULL));
  return NULL;
}

/* From here on the dispatch thread does nothing until go_on. */
static void hold_dispatch(fixture_t *f)
{
  atomic_store(&f->go_on, false);
  atomic_store(&f->reports, 0);
  f->holds_reports = true;
  tb__tick_queue_report(&f->queue);
  while (atomic_load(&f->reports) == 0)
    sched_yield();
}

/* A message after the tick must not be seen at an earlier time, whichever waiters are to be woken.
 */
static void test_X5_ticks_that_make_waiters_due_are_committed_where_they_arrive(void **state)
{
  fixture_t *f = *state;
  pthread_t sleeper;
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 10 * S);
  assert_int_equal(pthread_create(&sleeper, NULL, sleep_until_20, f->clock), 0);
  wait_for_waiters(f->clock, 1);
  tb__tick_queue_tick(&f->queue, 20 * S);
  assert_int_equal(now_ns(f), 20 * S);
  tb__tick_queue_tick(&f->queue, 21 * S);
  assert_int_equal(now_ns(f), 21 * S);
  atomic_store(&f->go_on, true);
  pthread_join(sleeper, NULL);
}

static tb_jump_handler_t *handler_create(fixture_t *f, tb_jump_threshold_t threshold,
                                         tb_jump_callback_t after)
{
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold = threshold, .after = after, .user = f};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  return handler;
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  fixture_t *f = user;
  if (pthread_equal(pthread_self(), f->receive_thread)) f->ran_here = true;
  size_t used = strlen(f->trace);
  snprintf(f->trace + used, sizeof f->trace - used, "%lld->%lld ", (long long)(jump->before.ns / S),
           (long long)(jump->after.ns / S));
  atomic_store(&f->inside, true);
  while (!atomic_load(&f->go_on))
    sched_yield();
}

static void test_X5_jumps_run_on_the_dispatch_thread_and_ticks_keep_their_order(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, on_jump);
  tb__tick_queue_tick(&f->queue, 20 * S);
  while (!atomic_load(&f->inside))
    sched_yield();
  /* the handler is at work: none of these blocks, and none overtakes it */
  tb__tick_queue_tick(&f->queue, 21 * S);
  tb__tick_queue_tick(&f->queue, 21 * S + 1);
  tb__tick_queue_tick(&f->queue, 21 * S + 2);
  tb__tick_queue_tick(&f->queue, 21 * S + 3);
  assert_true(f->queue.count <= 3); /* small steps are merged */
  tb__tick_queue_tick(&f->queue, 5 * S);
  tb__tick_queue_tick(&f->queue, 6 * S);
  atomic_store(&f->go_on, true);
  tb_clock_reading_t reading = {0};
  while (reading.time.ns != 6 * S)
    assert_ok(tb_clock_read(f->clock, &reading));
  assert_string_equal(f->trace, "50->20 21->5 ");
  assert_false(f->ran_here);
  tb_jump_handler_destroy(handler);
}

static void note(const tb_jump_t *jump, void *user)
{
  (void)jump;
  fixture_t *f = user;
  strcat(f->trace, "jump ");
}

/* Ticks come in while the thread is held; what a reader gets then, and after it. */
static void expect_read(fixture_t *f, tb_status_t status, int64_t time_ns)
{
  tb_time_t now = {-1, TB_TIME_ROS};
  assert_int_equal(tb_clock_try_now(f->clock, &now), status);
  if (status == TB_OK) assert_int_equal(now.ns, time_ns);
}

static void test_J3_readers_wait_from_the_arrival_of_a_jump(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, true}, note);
  hold_dispatch(f);
  expect_read(f, TB_OK, 0);
  tb__tick_queue_tick(&f->queue, S / 2); /* the first one */
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), S / 2);
  assert_string_equal(f->trace, "jump ");
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, S / 4);
  tb__tick_queue_tick(&f->queue, S / 4 + 1);
  tb__tick_queue_tick(&f->queue, S / 4 + 2);
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), S / 4 + 2); /* not at the jump, but after it */
  assert_string_equal(f->trace, "jump jump ");
  assert_false(f->ran_here);
  tb_jump_handler_destroy(handler);
}

static void test_X5_a_jump_forward_holds_up_readers_and_the_passing_of_time_does_not(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{1}, {0}, false}, note);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 51 * S - 1);
  tb__tick_queue_tick(&f->queue, 51 * S);
  expect_read(f, TB_OK, 50 * S);
  tb__tick_queue_tick(&f->queue, 52 * S);
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), 52 * S);
  assert_string_equal(f->trace, "jump jump jump ");
  tb_jump_handler_destroy(handler);
}

static void *wait_until_running(void *clock)
{
  assert_ok(tb_clock_wait_for_state(clock, TB_CLOCK_STATE_BIT(TB_CLOCK_RUNNING), NULL, NULL));
  return NULL;
}

static void test_C8_who_waits_for_a_state_is_told_when_readers_are_let_go(void **state)
{
  fixture_t *f = *state;
  pthread_t waiter;
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {0}, true}, note);
  assert_int_equal(pthread_create(&waiter, NULL, wait_until_running, f->clock), 0);
  wait_for_waiters(f->clock, 1);
  tb__tick_queue_tick(&f->queue, 50 * S);
  pthread_join(waiter, NULL);
  tb_jump_handler_destroy(handler);
}

static void test_X5_a_jump_that_is_dropped_lets_readers_go(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, note);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 20 * S);
  tb__mutex_lock(&f->queue.mutex);
  f->queue.stop = true; /* which the thread sees before it gets to the tick */
  tb__mutex_unlock(&f->queue.mutex);
  atomic_store(&f->go_on, true);
  tb__tick_queue_fini(&f->queue);
  expect_read(f, TB_OK, 50 * S);
  assert_string_equal(f->trace, "");
  tb_jump_handler_destroy(handler);
  assert_ok(tb__tick_queue_init(&f->queue, tb_source_timeline(f->source), NULL, NULL, NULL));
}

static void test_X4_readers_of_the_wrapping_source_wait(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, note);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 20 * S);
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  assert_string_equal(f->trace, "jump ");
  tb_jump_handler_destroy(handler);
}

static void test_J7_readers_give_up_before_the_handlers_are_called(void **state)
{
  fixture_t *f = *state;
  tb_timeline_options_t limits = TB_TIMELINE_OPTIONS_INIT;
  tb_time_t now;
  limits.slow_handler_limit.ns = 1;
  limits.readers_give_up = true;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &limits));
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, note);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 20 * S);
  assert_int_equal(tb_clock_now(f->clock, &now), TB_ERR_BUSY);
  atomic_store(&f->go_on, true);
  tb_jump_handler_destroy(handler);
}

/* As slow as jumps must be for readers to be let in between them. */
static void on_slow_jump(const tb_jump_t *jump, void *user)
{
  fixture_t *f = user;
  (void)jump;
  tb__mutex_lock(&f->queue.mutex);
  int64_t since_ns = f->queue.announced_since_ns;
  strcat(f->trace, f->queue.overloaded ? "overloaded " : "jump ");
  tb__mutex_unlock(&f->queue.mutex);
  while (tb__real_steady_now_ns() - since_ns <= 100 * TB_NS_PER_MS)
    sched_yield();
}

static void test_X5_jumps_in_a_row_let_readers_in(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler =
      handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, on_slow_jump);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 40 * S);
  tb__tick_queue_tick(&f->queue, 40 * S + 1);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), 40 * S + 1); /* one jump, however slow, and the ticks after it */
  hold_dispatch(f);
  for (int64_t i = 3; i > 0; i--)
    tb__tick_queue_tick(&f->queue, i * S);
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  while (now_ns(f) != S)
    sched_yield();
  assert_string_equal(f->trace, "jump jump overloaded overloaded ");
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, S / 2); /* it is over */
  expect_read(f, TB_ERR_BUSY, 0);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), S / 2);
  tb_jump_handler_destroy(handler);
}

static void *leave_the_source(void *clock)
{
  assert_ok(tb_clock_set_source(clock, NULL));
  return NULL;
}

/* The thread that wakes due sleepers finds that another one has the turn, for a change of source.
 */
static void test_S7_sleepers_due_during_a_change_of_another_clock_are_woken(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *other;
  tb_jump_handler_t *handler;
  pthread_t sleeper, leaver;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  tb_jump_handler_options_t held = {.threshold.on_clock_change = true, .after = on_jump, .user = f};
  tb__tick_queue_tick(&f->queue, 10 * S);
  assert_ok(tb_clock_create(&options, &other));
  assert_ok(tb_jump_handler_create(other, &held, &handler));
  assert_int_equal(pthread_create(&sleeper, NULL, sleep_until_20, f->clock), 0);
  wait_for_waiters(f->clock, 1);
  hold_dispatch(f);
  tb__tick_queue_tick(&f->queue, 20 * S);
  assert_int_equal(pthread_create(&leaver, NULL, leave_the_source, other), 0);
  while (!atomic_load(&f->inside))
    sched_yield();
  f->holds_reports = false; /* go_on holds the handler */
  tb__tick_queue_report(&f->queue);
  while (atomic_load(&f->reports) < 2) /* it has tried to wake */
    sched_yield();
  atomic_store(&f->go_on, true);
  pthread_join(leaver, NULL);
  pthread_join(sleeper, NULL);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_destroy(other));
}

static void test_X5_a_jump_at_the_end_of_a_full_queue_is_one(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 500 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, note);
  hold_dispatch(f);
  for (int64_t i = 1; i < TB__TICK_QUEUE_SIZE; i++)
    tb__tick_queue_tick(&f->queue, (500 - 2 * i) * S);
  tb__tick_queue_tick(&f->queue, 374 * S + 1);
  assert_int_equal(f->queue.count, TB__TICK_QUEUE_SIZE);
  const tb__waiting_tick_t *last =
      &f->queue.ticks[(f->queue.first + TB__TICK_QUEUE_SIZE - 1) % TB__TICK_QUEUE_SIZE];
  assert_true(last->small_step);
  tb__tick_queue_tick(&f->queue, 900 * S);
  assert_false(last->small_step);
  atomic_store(&f->go_on, true);
  assert_int_equal(now_ns(f), 900 * S);
  tb_jump_handler_destroy(handler);
}

static void test_X5_a_full_queue_keeps_the_latest_time(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 500 * S);
  tb_jump_handler_t *handler =
      handler_create(f, (tb_jump_threshold_t){{0}, {-100 * S}, false}, on_jump);
  tb__tick_queue_tick(&f->queue, 20 * S);
  while (!atomic_load(&f->inside))
    sched_yield();
  for (int64_t i = 0; i < 1000; i++)
    tb__tick_queue_tick(&f->queue, (30 + i % 2) * S); /* steps of a second: not merged */
  tb__tick_queue_tick(&f->queue, 77 * S);
  atomic_store(&f->go_on, true);
  while (now_ns(f) != 77 * S)
    sched_yield();
  tb_jump_handler_destroy(handler);
}

static void test_X8_reports_run_on_the_dispatch_thread_once_for_all_that_ask(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb_jump_handler_t *handler = handler_create(f, (tb_jump_threshold_t){{0}, {-1}, false}, on_jump);
  tb__tick_queue_tick(&f->queue, 20 * S);
  while (!atomic_load(&f->inside))
    sched_yield();
  for (int i = 0; i < 10; i++)
    tb__tick_queue_report(&f->queue); /* none of them blocks: the thread is in a handler */
  assert_int_equal(f->reports, 0);
  atomic_store(&f->go_on, true);
  while (!atomic_load(&f->reports))
    sched_yield();
  tb__tick_queue_tick(&f->queue, 10 * S); /* goes through the thread: by then it is over */
  while (now_ns(f) != 10 * S)
    sched_yield();
  assert_int_equal(f->reports, 1);
  assert_false(f->ran_here);
  tb_jump_handler_destroy(handler);
}

static void test_X8_a_report_may_ask_to_be_called_again(void **state)
{
  fixture_t *f = *state;
  f->again = 3;
  tb__tick_queue_report(&f->queue);
  while (atomic_load(&f->reports) < 4)
    sched_yield();
  tb__tick_queue_report(&f->queue);
  while (atomic_load(&f->reports) < 5)
    sched_yield();
  assert_false(f->ran_here);
}

/* ---- without a thread ---- */

static int setup_loop(void **state)
{
  setup(state);
  fixture_t *f = *state;
  tb__tick_loop_t *loop = NULL;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb__tick_queue_fini(&f->queue);
  assert_ok(tb__tick_loop_create(&loop));
  tb__tick_queue_init_for_loop(&f->queue, timeline, on_report, NULL, f, loop);
  return 0;
}

static int teardown_loop(void **state)
{
  fixture_t *f = *state;
  tb__tick_loop_t *loop = f->queue.loop;
  teardown(state);
  tb__tick_loop_destroy(loop);
  return 0;
}

static bool is_readable(const fixture_t *f)
{
  struct pollfd descriptor = {.fd = tb__tick_loop_fd(f->queue.loop), .events = POLLIN};
  return poll(&descriptor, 1, 0) == 1;
}

static void expect_reading(fixture_t *f, int64_t time_ns, uint64_t epoch)
{
  tb_clock_reading_t reading;
  tb_time_t tried;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.time.ns, time_ns);
  assert_int_equal(reading.epoch, epoch);
  assert_ok(tb_clock_try_now(f->clock, &tried));
  assert_int_equal(tried.ns, time_ns);
  assert_int_equal(tb_clock_epoch(f->clock), epoch);
}

/* One thread that reads, is reset, and only then runs; there are no handlers. */
static void test_X5_a_jump_waits_for_the_loop(void **state)
{
  fixture_t *f = *state;
  uint64_t epoch = tb_clock_epoch(f->clock);
  tb__tick_queue_tick(&f->queue, 100 * S);
  expect_reading(f, 0, epoch); /* the first tick too */
  assert_true(is_readable(f));
  assert_int_equal(tb__tick_queue_run(&f->queue), 1);
  expect_reading(f, 100 * S, epoch);
  assert_false(is_readable(f));
  tb__tick_queue_tick(&f->queue, 101 * S); /* the passing of time does not wait */
  expect_reading(f, 101 * S, epoch);
  assert_false(is_readable(f));
  tb__tick_queue_tick(&f->queue, 50 * S);
  tb__tick_queue_tick(&f->queue, 51 * S);
  expect_reading(f, 101 * S, epoch);
  assert_true(is_readable(f));
  assert_int_equal(tb__tick_queue_run(&f->queue), 2);
  assert_true(tb_clock_epoch(f->clock) > epoch);
  expect_reading(f, 51 * S, tb_clock_epoch(f->clock));
  assert_int_equal(tb__tick_queue_run(&f->queue), 0);
}

static void note_here(const tb_jump_t *jump, void *user)
{
  fixture_t *f = user;
  f->ran_here = pthread_equal(pthread_self(), f->receive_thread) != 0;
  snprintf(f->trace, sizeof f->trace, "%lld->%lld", (long long)(jump->before.ns / S),
           (long long)(jump->after.ns / S));
  tb__tick_queue_tick(&f->queue, 60 * S); /* what comes meanwhile is for the next run */
}

static void test_X5_handlers_and_reports_run_in_the_loop(void **state)
{
  fixture_t *f = *state;
  tb__tick_queue_tick(&f->queue, 100 * S);
  assert_int_equal(tb__tick_queue_run(&f->queue), 1);
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .after = note_here, .user = f};
  tb_jump_handler_t *handler = NULL;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  tb__tick_queue_tick(&f->queue, 50 * S);
  assert_string_equal(f->trace, "");
  assert_int_equal(tb__tick_queue_run(&f->queue), 1);
  assert_string_equal(f->trace, "100->50");
  assert_true(f->ran_here);
  assert_int_equal(now_ns(f), 50 * S);
  assert_true(is_readable(f));
  assert_int_equal(tb__tick_queue_run(&f->queue), 1);
  assert_int_equal(now_ns(f), 60 * S);
  tb_jump_handler_destroy(handler);
  f->again = 2;
  tb__tick_queue_report(&f->queue);
  for (int i = 0; i < 3; i++) { /* each asks for the next one, long past */
    struct pollfd descriptor = {.fd = tb__tick_loop_fd(f->queue.loop), .events = POLLIN};
    assert_int_equal(poll(&descriptor, 1, 60000), 1);
    tb__tick_queue_run(&f->queue);
    assert_int_equal(atomic_load(&f->reports), i + 1);
  }
  assert_false(is_readable(f));
}

static void test_X5_a_run_wakes_the_waiters_that_are_due(void **state)
{
  fixture_t *f = *state;
  tb_timer_queue_t *timers = NULL;
  tb_timer_t *timer = NULL;
  tb__tick_queue_tick(&f->queue, 100 * S);
  assert_int_equal(tb__tick_queue_run(&f->queue), 1);
  assert_ok(tb_timer_queue_create(&timers));
  tb_timer_options_t options = {.period.ns = 10 * S, .passive = true};
  assert_ok(tb_clock_timer_create(timers, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  tb__tick_queue_tick(&f->queue, 110 * S);
  assert_int_equal(now_ns(f), 110 * S);
  struct pollfd descriptor = {.fd = tb_timer_queue_fd(timers), .events = POLLIN};
  assert_int_equal(poll(&descriptor, 1, 0), 0);
  assert_true(is_readable(f));
  assert_int_equal(tb__tick_queue_run(&f->queue), 0);
  assert_int_equal(poll(&descriptor, 1, 0), 1);
  assert_false(is_readable(f));
  assert_ok(tb_timer_queue_destroy(timers));
}

#define WITH_QUEUE(test)         cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WITH_LOOP(test)          cmocka_unit_test_setup_teardown(test, setup_loop, teardown_loop)
#define WITH_WRAPPED_QUEUE(test) cmocka_unit_test_setup_teardown(test, setup_wrapped, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_LOOP(test_X5_a_jump_waits_for_the_loop),
      WITH_LOOP(test_X5_handlers_and_reports_run_in_the_loop),
      WITH_LOOP(test_X5_a_run_wakes_the_waiters_that_are_due),
      WITH_QUEUE(test_X5_plain_ticks_are_committed_where_they_arrive),
      WITH_QUEUE(test_X5_ticks_that_make_waiters_due_are_committed_where_they_arrive),
      WITH_QUEUE(test_X5_jumps_run_on_the_dispatch_thread_and_ticks_keep_their_order),
      WITH_WRAPPED_QUEUE(test_X5_jumps_run_on_the_dispatch_thread_and_ticks_keep_their_order),
      WITH_QUEUE(test_J3_readers_wait_from_the_arrival_of_a_jump),
      WITH_QUEUE(test_X5_a_jump_forward_holds_up_readers_and_the_passing_of_time_does_not),
      WITH_QUEUE(test_C8_who_waits_for_a_state_is_told_when_readers_are_let_go),
      WITH_QUEUE(test_X5_a_jump_that_is_dropped_lets_readers_go),
      WITH_WRAPPED_QUEUE(test_X4_readers_of_the_wrapping_source_wait),
      WITH_QUEUE(test_J7_readers_give_up_before_the_handlers_are_called),
      WITH_QUEUE(test_X5_jumps_in_a_row_let_readers_in),
      WITH_QUEUE(test_S7_sleepers_due_during_a_change_of_another_clock_are_woken),
      WITH_QUEUE(test_X5_a_jump_at_the_end_of_a_full_queue_is_one),
      WITH_QUEUE(test_X5_a_full_queue_keeps_the_latest_time),
      WITH_QUEUE(test_X8_a_report_may_ask_to_be_called_again),
      WITH_QUEUE(test_X8_reports_run_on_the_dispatch_thread_once_for_all_that_ask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
