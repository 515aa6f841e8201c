#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>

#include "ros2/tick_queue.h"
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
  bool ran_here, holds_reports;
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

/* A message behind the tick must not be seen at an earlier time, whoever is to be woken. */
static void test_X5_ticks_that_make_somebody_due_are_committed_where_they_arrive(void **state)
{
  fixture_t *f = *state;
  pthread_t sleeper;
  f->holds_reports = true; /* the thread does nothing else meanwhile */
  tb__tick_queue_report(&f->queue);
  while (atomic_load(&f->reports) == 0)
    sched_yield();
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
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .after = on_jump, .user = f};
  tb__tick_queue_tick(&f->queue, 50 * S);
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
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

static void test_X5_a_full_queue_keeps_the_latest_time(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -100 * S, .after = on_jump, .user = f};
  tb__tick_queue_tick(&f->queue, 500 * S);
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
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
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .after = on_jump, .user = f};
  tb__tick_queue_tick(&f->queue, 50 * S);
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
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

#define WITH_QUEUE(test)         cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WITH_WRAPPED_QUEUE(test) cmocka_unit_test_setup_teardown(test, setup_wrapped, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_X5_plain_ticks_are_committed_where_they_arrive),
      WITH_QUEUE(test_X5_ticks_that_make_somebody_due_are_committed_where_they_arrive),
      WITH_QUEUE(test_X5_jumps_run_on_the_dispatch_thread_and_ticks_keep_their_order),
      WITH_WRAPPED_QUEUE(test_X5_jumps_run_on_the_dispatch_thread_and_ticks_keep_their_order),
      WITH_QUEUE(test_X5_a_full_queue_keeps_the_latest_time),
      WITH_QUEUE(test_X8_a_report_may_ask_to_be_called_again),
      WITH_QUEUE(test_X8_reports_run_on_the_dispatch_thread_once_for_all_that_ask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
