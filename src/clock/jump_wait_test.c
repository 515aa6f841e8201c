#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/condition.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>

#include "clock/clock.h"
#include "clock/handler.h"
#include "clock/source.h"
#include "on_manual_source.h"
#include "platform/time.h"
#include "waiting.h"

#define INSTANT ((tb_duration_t){1}) /* has passed when it is checked */

/* ---- reports ---- */

static struct {
  _Atomic int count;
  char last[1024];
  pthread_t thread;
  tb_clock_t *clock; /* asked in the hook */
  tb_status_t now, change, tick, destroy;
  tb_time_t time;
} reports;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  tb_source_t *source = user;
  assert_int_equal(level, TB_LOG_WARN);
  snprintf(reports.last, sizeof reports.last, "%s", message);
  reports.thread = pthread_self();
  if (reports.clock) {
    reports.now = tb_clock_now(reports.clock, &reports.time);
    reports.change = tb_clock_set_source(reports.clock, NULL);
    reports.tick = tb_manual_source_set(source, 1);
    reports.destroy = tb_clock_destroy(reports.clock);
  }
  atomic_fetch_add(&reports.count, 1);
}

static void wait_for_reports(int count)
{
  while (atomic_load(&reports.count) < count)
    sched_yield();
}

/* ---- a jump that stays in a handler until it is released ---- */

typedef struct stuck {
  fixture_t *f;
  pthread_t thread;
  tb_jump_handler_t *handler;
  pthread_mutex_t *wanted; /* taken in "before", for the trap */
  bool by_change;          /* a change of source, not a tick */
  _Atomic int entered;     /* calls of "before" */
  _Atomic int after_calls;
  _Atomic bool release, done;
  tb_status_t status;
} stuck_t;

static void stay(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stuck_t *stuck = user;
  atomic_fetch_add(&stuck->entered, 1);
  if (stuck->wanted) {
    pthread_mutex_lock(stuck->wanted);
    pthread_mutex_unlock(stuck->wanted);
    return;
  }
  while (!atomic_load(&stuck->release))
    sched_yield();
}

static void count_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  atomic_fetch_add(&((stuck_t *)user)->after_calls, 1);
}

static void *move_time(void *argument)
{
  stuck_t *stuck = argument;
  stuck->status = stuck->by_change ? tb_clock_set_source(stuck->f->clock, NULL)
                                   : tb_manual_source_set(stuck->f->source, 20 * S);
  atomic_store(&stuck->done, true);
  return NULL;
}

static void set_options(fixture_t *f, int64_t limit_ns, bool give_up)
{
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.slow_handler_limit.ns = limit_ns;
  options.readers_give_up = give_up;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
}

static void add_handler(stuck_t *stuck, tb_clock_t *clock, const char *name, bool with_after)
{
  tb_jump_handler_options_t options = {.name = name,
                                       .threshold = {{0}, {-1}, true},
                                       .before = stay,
                                       .after = with_after ? count_after : NULL,
                                       .user = stuck};
  assert_ok(tb_jump_handler_create(clock, &options, &stuck->handler));
}

/* Begins the jump and returns when it is in the handler. */
static void begin(stuck_t *stuck)
{
  pthread_create(&stuck->thread, NULL, move_time, stuck);
  while (atomic_load(&stuck->entered) == 0)
    sched_yield();
}

static void release(stuck_t *stuck)
{
  atomic_store(&stuck->release, true);
  pthread_join(stuck->thread, NULL);
  assert_ok(stuck->status);
}

static int setup_stuck(void **state)
{
  setup_with_queue(state);
  fixture_t *f = *state;
  memset(&reports, 0, sizeof reports);
  tb_log_set_hook(on_log, f->source);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  return 0;
}

static int teardown_stuck(void **state)
{
  tb_log_set_hook(NULL, NULL);
  return teardown_with_queue(state);
}

typedef struct reader {
  tb_clock_t *clock;
  pthread_t thread;
  tb_status_t status;
  tb_time_t time;
  _Atomic bool done;
} reader_t;

static void *read_now(void *argument)
{
  reader_t *reader = argument;
  reader->status = tb_clock_now(reader->clock, &reader->time);
  atomic_store(&reader->done, true);
  return NULL;
}

static void reader_start(reader_t *reader, tb_clock_t *clock)
{
  *reader = (reader_t){.clock = clock};
  pthread_create(&reader->thread, NULL, read_now, reader);
}

static void wait_for_readers(_Atomic uint32_t *readers, uint32_t count)
{
  while (atomic_load(readers) != count)
    sched_yield();
}

/* ---- J7 ---- */

static void test_J7_a_blocked_reader_reports_the_handler_once_by_name(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  reader_t first, second;
  set_options(f, 1, false);
  add_handler(&stuck, f->clock, "planner", false);
  begin(&stuck);
  reader_start(&first, f->clock);
  wait_for_reports(1);
  assert_non_null(strstr(reports.last, "jump handler \"planner\" has been running for"));
  assert_non_null(strstr(reports.last, "readers blocked: 1."));
  assert_non_null(strstr(reports.last, "must not wait for a thread that reads the time"));
  assert_true(pthread_equal(reports.thread, first.thread));
  reader_start(&second, f->clock);
  wait_for_readers(&tb_source_timeline(f->source)->readers, 2);
  assert_false(first.done); /* time stays blocked */
  release(&stuck);
  pthread_join(first.thread, NULL);
  pthread_join(second.thread, NULL);
  assert_ok(first.status);
  assert_int_equal(first.time.ns, 20 * S);
  assert_int_equal(reports.count, 1); /* neither the second nor its own thread again */
  assert_int_equal(tb_source_timeline(f->source)->readers, 0);
}

static void test_J7_its_own_thread_reports_on_return_each_call(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f, .release = true};
  set_options(f, 1, false);
  add_handler(&stuck, f->clock, "alone", true);
  assert_ok(tb_manual_source_set(f->source, 40 * S));
  assert_int_equal(reports.count, 2); /* "before" and "after" */
  assert_non_null(strstr(reports.last, "jump handler \"alone\" took"));
  assert_non_null(strstr(reports.last, "readers blocked: 0."));
  assert_true(pthread_equal(reports.thread, pthread_self()));
  assert_ok(tb_manual_source_set(f->source, 30 * S));
  assert_int_equal(reports.count, 4);
  set_options(f, INT64_MAX, false);
  assert_ok(tb_manual_source_set(f->source, 29 * S));
  set_options(f, 0, false); /* never */
  assert_ok(tb_manual_source_set(f->source, 28 * S));
  assert_int_equal(reports.count, 4);
}

static void *tick_on(void *argument)
{
  assert_ok(tb_manual_source_set(argument, 60 * S));
  return NULL;
}

static void test_J7_a_writer_waiting_for_its_turn_reports(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  pthread_t writer;
  set_options(f, 1, false);
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  pthread_create(&writer, NULL, tick_on, f->source);
  wait_for_reports(1);
  assert_true(pthread_equal(reports.thread, writer));
  assert_non_null(strstr(reports.last, "\"slow\""));
  assert_non_null(strstr(reports.last, "readers blocked: 0."));
  release(&stuck);
  pthread_join(writer, NULL);
  assert_int_equal(reports.count, 1);
}

static void *deactivate(void *argument)
{
  assert_ok(tb_clock_set_source(argument, NULL));
  return NULL;
}

static void test_J7_in_a_change_of_source_readers_and_changers_report(void **state)
{
  fixture_t *f = *state;
  for (int by_changer = 0; by_changer < 2; by_changer++) {
    stuck_t stuck = {.f = f, .by_change = true};
    reader_t reader;
    pthread_t changer;
    atomic_store(&reports.count, 0);
    set_options(f, 1, false);
    assert_ok(tb_clock_set_source(f->clock, f->source));
    add_handler(&stuck, f->clock, "changed", false);
    begin(&stuck);
    if (by_changer)
      pthread_create(&changer, NULL, deactivate, f->clock);
    else
      reader_start(&reader, f->clock);
    wait_for_reports(1);
    assert_non_null(strstr(reports.last, "\"changed\" has been running"));
    assert_non_null(strstr(reports.last, by_changer ? "blocked: 0." : "blocked: 1."));
    release(&stuck);
    pthread_join(by_changer ? changer : reader.thread, NULL);
    assert_int_equal(reports.count, 1);
    tb_jump_handler_destroy(stuck.handler);
  }
}

static void test_J7_longest_handler_is_reported(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_timeline_stats_t stats;
  set_options(f, 0, false); /* reported is the second call alone */
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  assert_int_equal(stats.longest_handler.ns, 0);
  add_handler(&stuck, f->clock, "timed", false);
  int64_t begun_ns = tb__steady_now_ns();
  begin(&stuck);
  int64_t inside_ns = tb__steady_now_ns(), later_ns;
  while ((later_ns = tb__steady_now_ns()) - inside_ns < 1000)
    sched_yield();
  release(&stuck);
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  assert_true(stats.longest_handler.ns >= later_ns - inside_ns);
  assert_true(stats.longest_handler.ns <= tb__steady_now_ns() - begun_ns);
  int64_t longest_ns = stats.longest_handler.ns;
  set_options(f, 1, false); /* in the middle of a call, when it is reported */
  stuck.entered = 0;
  stuck.release = false;
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  begin(&stuck);
  inside_ns = tb__steady_now_ns();
  while (tb__steady_now_ns() - inside_ns <= longest_ns)
    sched_yield();
  reader_t reader;
  reader_start(&reader, f->clock);
  wait_for_reports(1);
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  assert_true(stats.longest_handler.ns > longest_ns);
  release(&stuck);
  pthread_join(reader.thread, NULL);
}

static void on_cond_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
}

static void test_J7_by_option_readers_give_up(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_time_t now;
  tb_clock_reading_t reading;
  tb_timer_t *timer;
  tb_rate_t *rate = NULL;
  tb_timer_options_t timer_options = {.period = {1}, .callback = on_cond_timer};
  assert_ok(tb_clock_timer_create(f->queue, f->clock, &timer_options, &timer));
  set_options(f, 1, true);
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  assert_status(tb_clock_now(f->clock, &now), TB_ERR_BUSY);
  assert_status(tb_clock_read(f->clock, &reading), TB_ERR_BUSY);
  assert_status(tb_timer_start(timer), TB_ERR_BUSY);
  assert_status(tb_timer_queue_run_due(f->queue, NULL), TB_ERR_BUSY);
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){1}, NULL), TB_ERR_BUSY);
  assert_status(tb_clock_rate_create(f->clock, (tb_duration_t){1}, &rate), TB_ERR_BUSY);
  assert_int_equal(reports.count, 1);
  release(&stuck);
  assert_ok(tb_clock_now(f->clock, &now));
  assert_int_equal(reports.count, 1);
}

static void test_J7_the_option_applies_at_once_to_blocked_readers(void **state)
{
  fixture_t *f = *state;
  for (int by_change = 0; by_change < 2; by_change++) {
    stuck_t stuck = {.f = f, .by_change = by_change};
    reader_t reader;
    set_options(f, 0, false); /* waits for ever, and would not look again */
    add_handler(&stuck, f->clock, "slow", false);
    begin(&stuck);
    reader_start(&reader, f->clock);
    wait_for_readers(by_change ? &f->clock->readers : &tb_source_timeline(f->source)->readers, 1);
    assert_false(reader.done);
    set_options(f, 1, true);
    pthread_join(reader.thread, NULL);
    assert_status(reader.status, TB_ERR_BUSY);
    release(&stuck);
    tb_jump_handler_destroy(stuck.handler);
  }
}

static void test_J7_inside_the_log_hook_nothing_blocks(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  reader_t reader;
  set_options(f, 1, false);
  add_handler(&stuck, f->clock, "slow", false);
  reports.clock = f->clock;
  begin(&stuck);
  reader_start(&reader, f->clock);
  wait_for_reports(1);
  assert_status(reports.now, TB_ERR_BUSY);
  assert_status(reports.change, TB_ERR_DEADLOCK);
  assert_status(reports.tick, TB_ERR_DEADLOCK);
  assert_status(reports.destroy, TB_ERR_DEADLOCK);
  release(&stuck);
  pthread_join(reader.thread, NULL);
  assert_ok(tb_manual_source_set(f->source, 10 * S)); /* on the handler's own thread */
  assert_int_equal(reports.count, 2);
  assert_ok(reports.now);
  assert_int_equal(reports.time.ns, 20 * S); /* it runs in "before" */
  assert_status(reports.change, TB_ERR_DEADLOCK);
}

/* ---- J8 ---- */

typedef struct holder {
  tb_clock_t *clock;
  pthread_mutex_t mutex;
  stuck_t *stuck;
  _Atomic bool has_mutex, done;
  tb_status_t try_now, now;
} holder_t;

/* The trap: reads the time under a mutex that the handler wants. */
static void *hold_and_read(void *argument)
{
  holder_t *holder = argument;
  tb_time_t now;
  pthread_mutex_lock(&holder->mutex);
  atomic_store(&holder->has_mutex, true);
  while (atomic_load(&holder->stuck->entered) == 0)
    sched_yield();
  holder->try_now = tb_clock_try_now(holder->clock, &now);
  holder->now = tb_clock_now(holder->clock, &now);
  pthread_mutex_unlock(&holder->mutex);
  atomic_store(&holder->done, true);
  return NULL;
}

static void test_J8_a_mutex_held_while_reading_the_time_is_reported(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  holder_t holder = {.clock = f->clock, .mutex = PTHREAD_MUTEX_INITIALIZER, .stuck = &stuck};
  pthread_t thread;
  stuck.wanted = &holder.mutex;
  set_options(f, 1, false);
  add_handler(&stuck, f->clock, "map updater", false);
  pthread_create(&thread, NULL, hold_and_read, &holder);
  while (!atomic_load(&holder.has_mutex))
    sched_yield();
  begin(&stuck);
  wait_for_reports(1);
  assert_non_null(strstr(reports.last, "\"map updater\" has been running"));
  assert_non_null(strstr(reports.last, "readers blocked: 1."));
  assert_non_null(strstr(reports.last, "a mutex that is held while the time is read"));
  assert_true(pthread_equal(reports.thread, thread));
  assert_false(holder.done); /* each waits for the other, */
  assert_false(stuck.done);
  set_options(f, 1, true); /* until one gives up */
  pthread_join(thread, NULL);
  release(&stuck);
  assert_status(holder.try_now, TB_ERR_BUSY); /* would have been a way out */
  assert_status(holder.now, TB_ERR_BUSY);
  assert_int_equal(reports.count, 1);
}

/* ---- J6 ---- */

typedef struct remover {
  pthread_t thread;
  tb_jump_handler_t *handler;
  tb_status_t status;
} remover_t;

static void *remove_in_time(void *argument)
{
  remover_t *remover = argument;
  remover->status =
      tb_jump_handler_destroy_within(remover->handler, (tb_duration_t){TB_NS_PER_S / 5});
  return NULL;
}

/* Otherwise it would stay: the thread that got the report that it is being destroyed does not
 * try again. */
static void
test_J6_a_handler_that_two_threads_destroy_is_removed_also_when_one_has_a_limit(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  add_handler(&stuck, f->clock, "left", true);
  begin(&stuck);
  remover_t remover = {.handler = stuck.handler};
  pthread_create(&remover.thread, NULL, remove_in_time, &remover);
  for (bool leaving = false; !leaving; sched_yield()) {
    tb_timeline_t *timeline;
    tb__clock_lock(f->clock, &timeline);
    leaving = stuck.handler->leaving;
    tb__clock_unlock(timeline);
  }
  assert_status(tb_jump_handler_destroy_within(stuck.handler, INSTANT), TB_ERR_CLOSED);
  pthread_join(remover.thread, NULL);
  assert_ok(remover.status);
  release(&stuck);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_int_equal(stuck.entered, 1);
}

static void test_J6_removal_in_time_or_not_at_all(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  add_handler(&stuck, f->clock, "kept", true);
  begin(&stuck);
  assert_status(tb_jump_handler_destroy_within(stuck.handler, INSTANT), TB_ERR_TIMEOUT);
  assert_status(tb_jump_handler_destroy_within(stuck.handler, (tb_duration_t){-1}), TB_ERR_INVALID);
  release(&stuck);
  assert_int_equal(stuck.after_calls, 1);
  assert_ok(tb_manual_source_set(f->source, 10 * S)); /* called as before */
  assert_int_equal(stuck.entered, 2);
  assert_ok(tb_jump_handler_destroy_within(stuck.handler, INSTANT));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_int_equal(stuck.entered, 2);
  assert_ok(tb_jump_handler_destroy_within(NULL, INSTANT));
}

static void test_J6_a_clock_not_destroyed_in_time_is_closed(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_clock_t *clock;
  tb_time_t now;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &clock));
  add_handler(&stuck, clock, "of the clock", true);
  begin(&stuck);
  assert_status(tb_clock_destroy_within(clock, INSTANT), TB_ERR_TIMEOUT);
  release(&stuck);
  assert_int_equal(stuck.after_calls, 1);
  assert_ok(tb_clock_now(clock, &now));
  assert_status(tb_clock_sleep_for(clock, (tb_duration_t){1}, NULL), TB_ERR_CLOSED);
  assert_ok(tb_clock_destroy_within(clock, INSTANT));
  assert_ok(tb_manual_source_set(f->source, 10 * S));
  assert_int_equal(stuck.entered, 1);
}

static int starts, stops;

static tb_status_t count_start(void *self, tb_timeline_t *timeline)
{
  (void)self;
  (void)timeline;
  starts++;
  return TB_OK;
}

static void count_stop(void *self)
{
  (void)self;
  stops++;
}

static void test_J6_a_change_of_source_in_time_or_not_at_all(void **state)
{
  static const tb_source_ops_t ops = {.name = "counted", .start = count_start, .stop = count_stop};
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_source_t *other;
  tb_time_t now;
  starts = stops = 0;
  assert_ok(tb_source_create(&ops, NULL, &other));
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  assert_status(tb_clock_set_source_within(f->clock, other, INSTANT), TB_ERR_TIMEOUT);
  assert_int_equal(starts, 1);
  assert_int_equal(stops, 1);
  assert_status(tb_clock_set_source_within(f->clock, NULL, INSTANT), TB_ERR_TIMEOUT);
  assert_status(tb_source_destroy_within(f->source, INSTANT), TB_ERR_TIMEOUT);
  release(&stuck);
  assert_true(f->clock->source == f->source);
  assert_ok(tb_manual_source_set(f->source, 30 * S)); /* its right to tick was not touched, */
  assert_ok(tb_clock_now(f->clock, &now));            /* and the turn was given back */
  assert_int_equal(now.ns, 30 * S);
  assert_ok(tb_clock_set_source_within(f->clock, other, (tb_duration_t){TB_NS_PER_S}));
  assert_int_equal(starts, 2);
  assert_ok(tb_source_destroy_within(other, TB_NO_LIMIT));
  assert_int_equal(stops, 2);
  assert_false(tb_clock_is_active(f->clock));
}

static void test_J6_a_change_that_waits_for_another_one_is_not_begun(void **state)
{
  static const tb_source_ops_t ops = {.name = "counted", .start = count_start, .stop = count_stop};
  fixture_t *f = *state;
  stuck_t stuck = {.f = f, .by_change = true};
  tb_source_t *other;
  starts = stops = 0;
  assert_ok(tb_source_create(&ops, NULL, &other));
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  assert_status(tb_clock_set_source_within(f->clock, other, INSTANT), TB_ERR_TIMEOUT);
  assert_int_equal(starts, 1);
  assert_int_equal(stops, 1);
  release(&stuck);
  assert_false(tb_clock_is_active(f->clock));
  assert_ok(tb_source_destroy(other));
}

static void test_J6_the_turn_of_the_first_timeline_is_given_back(void **state)
{
  fixture_t *f = *state;
  fixture_t other = {0};
  stuck_t stuck = {.f = &other};
  assert_ok(tb_manual_source_create(&other.source)); /* a later timeline: its turn comes second */
  assert_ok(tb_manual_source_set(other.source, 50 * S));
  tb_clock_options_t options = {TB_TIME_ROS, other.source};
  assert_ok(tb_clock_create(&options, &other.clock));
  add_handler(&stuck, other.clock, "slow", false);
  begin(&stuck);
  assert_status(tb_clock_set_source_within(f->clock, other.source, INSTANT), TB_ERR_TIMEOUT);
  const tb_timeline_t *timeline = tb_source_timeline(f->source);
  assert_int_equal(timeline->turn_next, timeline->turn_serving);
  release(&stuck);
  assert_ok(tb_clock_destroy(other.clock));
  assert_ok(tb_source_destroy(other.source));
}

static void *change_within(void *argument)
{
  fixture_t *f = argument;
  assert_ok(tb_clock_set_source_within(f->clock, NULL, (tb_duration_t){3600 * S}));
  return NULL;
}

static void test_J6_a_change_with_a_limit_continues_when_the_jump_is_over(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  pthread_t changer;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  pthread_create(&changer, NULL, change_within, f);
  for (bool waits = false; !waits; sched_yield()) {
    tb__mutex_lock(&timeline->mutex);
    waits = timeline->turn_limited == 1;
    tb__mutex_unlock(&timeline->mutex);
  }
  release(&stuck);
  pthread_join(changer, NULL);
  assert_false(tb_clock_is_active(f->clock));
  assert_int_equal(timeline->turn_limited, 0);
  assert_int_equal(timeline->turn_next, timeline->turn_serving);
}

static void timer_stays(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  stay(NULL, user);
}

static void test_J6_a_queue_not_destroyed_in_time_is_valid(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  tb_timer_options_t options = {.period = {S}, .callback = timer_stays, .user = &stuck};
  assert_ok(tb_timer_queue_create(&queue));
  assert_ok(tb_timer_queue_start_thread(queue));
  assert_ok(tb_clock_timer_create(queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(f->source, 51 * S));
  while (atomic_load(&stuck.entered) == 0)
    sched_yield();
  assert_status(tb_timer_queue_destroy_within(queue, INSTANT), TB_ERR_TIMEOUT);
  assert_true(tb_timer_is_running(timer));
  atomic_store(&stuck.release, true);
  assert_ok(tb_timer_queue_destroy_within(queue, TB_NO_LIMIT));
}

/* A wait that begins during a blocking jump. */
typedef struct entry {
  fixture_t *f;
  tb_cond_t *cond;
  tb_cancel_token_t *token;
  pthread_mutex_t mutex;
  _Atomic bool held; /* it has the mutex when it returns */
  tb_status_t status;
} entry_t;

static void *enter_wait(void *argument)
{
  entry_t *entry = argument;
  tb_wait_options_t options = {.token = entry->token};
  pthread_mutex_lock(&entry->mutex);
  entry->status =
      entry->cond ? tb_cond_wait_for(entry->cond, &entry->mutex, (tb_duration_t){S}, &options, NULL)
                  : tb_clock_sleep_for(entry->f->clock, (tb_duration_t){S}, &options);
  pthread_mutex_unlock(&entry->mutex);
  return NULL;
}

static void test_J6_tokens_and_conditions_not_destroyed_in_time_are_closed(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  pthread_t sleeper, waiter;
  tb_wait_options_t options = {0};
  bool signalled;
  entry_t entry = {.f = f, .mutex = PTHREAD_MUTEX_INITIALIZER};
  entry_t cond_entry = {.f = f, .mutex = PTHREAD_MUTEX_INITIALIZER};
  assert_ok(tb_cancel_token_create(&entry.token));
  assert_ok(tb_cond_create(f->clock, &cond_entry.cond));
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  pthread_create(&sleeper, NULL, enter_wait, &entry);
  pthread_create(&waiter, NULL, enter_wait, &cond_entry);
  wait_for_readers(&tb_source_timeline(f->source)->readers, 2);
  assert_status(tb_cancel_token_destroy_within(entry.token, INSTANT), TB_ERR_TIMEOUT);
  assert_status(tb_cond_destroy_within(cond_entry.cond, INSTANT), TB_ERR_TIMEOUT);
  release(&stuck);
  pthread_join(sleeper, NULL);
  pthread_join(waiter, NULL);
  assert_status(entry.status, TB_ERR_CLOSED);
  assert_status(cond_entry.status, TB_ERR_CLOSED);
  options.token = entry.token;
  assert_status(tb_clock_sleep_for(f->clock, INSTANT, &options), TB_ERR_CLOSED);
  pthread_mutex_lock(&entry.mutex);
  assert_status(tb_cond_wait_for(cond_entry.cond, &entry.mutex, INSTANT, NULL, &signalled),
                TB_ERR_CLOSED);
  pthread_mutex_unlock(&entry.mutex);
  assert_ok(tb_cancel_token_destroy_within(entry.token, INSTANT));
  assert_ok(tb_cond_destroy_within(cond_entry.cond, INSTANT));
}

static void test_J6_the_limit_of_a_wait_holds_while_it_begins(void **state)
{
  fixture_t *f = *state;
  stuck_t stuck = {.f = f};
  tb_wait_options_t options = {.limit = INSTANT};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tb_cond_t *cond;
  assert_ok(tb_cond_create(f->clock, &cond));
  add_handler(&stuck, f->clock, "slow", false);
  begin(&stuck);
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){S}, &options), TB_ERR_TIMEOUT);
  assert_status(tb_clock_wait_until_started(f->clock, &options), TB_ERR_TIMEOUT);
  pthread_mutex_lock(&mutex);
  assert_status(tb_cond_wait_for(cond, &mutex, (tb_duration_t){S}, &options, NULL), TB_ERR_TIMEOUT);
  assert_int_not_equal(pthread_mutex_trylock(&mutex), 0); /* taken again */
  pthread_mutex_unlock(&mutex);
  assert_ok(tb_cond_signal(cond)); /* its queue is empty */
  release(&stuck);
  assert_int_equal(waiters_on(f->clock), 0);
  assert_ok(tb_cond_destroy(cond));
}

#define STUCK(test) cmocka_unit_test_setup_teardown(test, setup_stuck, teardown_stuck)

int main(void)
{
  const struct CMUnitTest tests[] = {
      STUCK(test_J7_a_blocked_reader_reports_the_handler_once_by_name),
      STUCK(test_J7_its_own_thread_reports_on_return_each_call),
      STUCK(test_J7_a_writer_waiting_for_its_turn_reports),
      STUCK(test_J7_in_a_change_of_source_readers_and_changers_report),
      STUCK(test_J7_longest_handler_is_reported),
      STUCK(test_J7_by_option_readers_give_up),
      STUCK(test_J7_the_option_applies_at_once_to_blocked_readers),
      STUCK(test_J7_inside_the_log_hook_nothing_blocks),
      STUCK(test_J8_a_mutex_held_while_reading_the_time_is_reported),
      STUCK(test_J6_a_handler_that_two_threads_destroy_is_removed_also_when_one_has_a_limit),
      STUCK(test_J6_removal_in_time_or_not_at_all),
      STUCK(test_J6_a_clock_not_destroyed_in_time_is_closed),
      STUCK(test_J6_a_change_of_source_in_time_or_not_at_all),
      STUCK(test_J6_a_change_that_waits_for_another_one_is_not_begun),
      STUCK(test_J6_the_turn_of_the_first_timeline_is_given_back),
      STUCK(test_J6_a_change_with_a_limit_continues_when_the_jump_is_over),
      STUCK(test_J6_a_queue_not_destroyed_in_time_is_valid),
      STUCK(test_J6_tokens_and_conditions_not_destroyed_in_time_are_closed),
      STUCK(test_J6_the_limit_of_a_wait_holds_while_it_begins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
