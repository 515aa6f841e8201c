/* Waiting for a state of a clock. */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <timebase/testing.h>

#include "on_manual_source.h"
#include "waiting.h"

#define BIT(state) TB_CLOCK_STATE_BIT(TB_CLOCK_##state)
#define LIMIT      ((tb_duration_t){600 * S})

typedef struct waiting {
  tb_clock_t *clock;
  uint32_t states;
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
  tb_clock_reading_t reading;
} waiting_t;

static void *wait_thread(void *argument)
{
  waiting_t *w = argument;
  w->status = tb_clock_wait_for_state(w->clock, w->states, &w->options, &w->reading);
  return NULL;
}

static void start(waiting_t *w, const fixture_t *f, uint32_t states)
{
  *w = (waiting_t){.clock = f->clock, .states = states};
  int before = waiters_on(f->clock);
  pthread_create(&w->thread, NULL, wait_thread, w);
  wait_for_waiters(f->clock, before + 1);
}

static void finish(waiting_t *w, tb_clock_state_t state)
{
  pthread_join(w->thread, NULL);
  assert_status(w->status, TB_OK);
  assert_int_equal(w->reading.state, state);
}

static tb_timeline_t *timeline_of(const fixture_t *f)
{
  return tb_source_timeline(f->source);
}

/* With the stall limit of any source but the manual one. */
static int setup_with_stalls(void **state)
{
  setup(state);
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  assert_ok(tb_timeline_set_options(timeline_of(*state), &options));
  return 0;
}

static int setup_held(void **state)
{
  setup_with_stalls(state);
  assert_ok(tb_testing_hold_os_time());
  return 0;
}

static int teardown_held(void **state)
{
  assert_ok(tb_testing_release_os_time());
  return teardown(state);
}

static void pass(int64_t ns)
{
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){ns}));
}

static void test_C8_S5_returns_at_once_with_the_reading(void **state)
{
  fixture_t *f = *state;
  tb_clock_reading_t reading = {0}, same = {0};
  assert_ok(tb_clock_wait_for_state(f->clock, BIT(WAITING) | BIT(LOST), NULL, &reading));
  assert_int_equal(reading.state, TB_CLOCK_WAITING);
  assert_int_equal(reading.time.ns, 0);
  assert_ok(tb_manual_source_set(f->source, 7 * S));
  assert_ok(tb_clock_wait_for_state(f->clock, BIT(RUNNING), NULL, &reading));
  assert_ok(tb_clock_read(f->clock, &same));
  assert_int_equal(reading.time.ns, 7 * S);
  assert_int_equal(reading.time.kind, TB_TIME_ROS);
  assert_int_equal(reading.state, TB_CLOCK_RUNNING);
  assert_true(reading.epoch == same.epoch);
  assert_ok(tb_clock_wait_for_state(f->clock, BIT(RUNNING), NULL, NULL));

  tb_wait_options_t flags = {.flags = TB_WAIT_FAIL_ON_ANY}, negative = {.limit = {-1}};
  reading.time.ns = 42;
  assert_status(tb_clock_wait_for_state(NULL, BIT(RUNNING), NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_clock_wait_for_state(f->clock, 0, NULL, &reading), TB_ERR_INVALID);
  assert_status(tb_clock_wait_for_state(f->clock, 1, NULL, &reading), TB_ERR_INVALID);
  assert_status(tb_clock_wait_for_state(f->clock, BIT(CLOSED) << 1, NULL, &reading),
                TB_ERR_INVALID);
  assert_status(tb_clock_wait_for_state(f->clock, BIT(RUNNING), &flags, &reading), TB_ERR_INVALID);
  assert_status(tb_clock_wait_for_state(f->clock, BIT(RUNNING), &negative, &reading),
                TB_ERR_INVALID);
  assert_int_equal(reading.time.ns, 42);
}

static void test_C8_a_clock_of_system_time_is_inactive(void **state)
{
  (void)state;
  tb_clock_t *clock;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_clock_create(&options, &clock));
  tb_clock_reading_t reading = {0};
  assert_ok(tb_clock_wait_for_state(clock, BIT(INACTIVE), NULL, &reading));
  assert_int_equal(reading.time.kind, TB_TIME_SYSTEM);
  assert_true(reading.time.ns > 0);
  tb_wait_options_t wait = {.limit = {1}};
  assert_status(tb_clock_wait_for_state(clock, BIT(RUNNING), &wait, NULL), TB_ERR_TIMEOUT);
  assert_ok(tb_clock_destroy(clock));
}

static void test_C8_what_the_source_says_is_seen_however_short(void **state)
{
  fixture_t *f = *state;
  static const tb_clock_state_t said[] = {TB_CLOCK_NO_PUBLISHER, TB_CLOCK_QOS_MISMATCH,
                                          TB_CLOCK_PAUSED, TB_CLOCK_STALLED, TB_CLOCK_LOST};
  waiting_t w;
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    start(&w, f, TB_CLOCK_STATE_BIT(said[i]));
    tb_timeline_set_state(timeline_of(f), said[i]);
    tb_timeline_set_state(timeline_of(f), TB_CLOCK_WAITING);
    finish(&w, said[i]);
  }
  start(&w, f, BIT(RUNNING) | BIT(PAUSED));
  assert_ok(tb_manual_source_set(f->source, 3 * S));
  tb_timeline_set_state(timeline_of(f), TB_CLOCK_LOST);
  finish(&w, TB_CLOCK_RUNNING);
  assert_int_equal(w.reading.time.ns, 3 * S);
}

static void test_C8_only_a_tick_that_makes_the_state_wakes(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = timeline_of(f);
  waiting_t stalled, running;
  start(&running, f, BIT(RUNNING));
  assert_status(tb_timeline_try_tick(timeline, S), TB_ERR_BUSY);
  assert_ok(tb_manual_source_set(f->source, S));
  finish(&running, TB_CLOCK_RUNNING);
  start(&stalled, f, BIT(STALLED) | BIT(LOST) | BIT(PAUSED));
  for (int i = 1; i < 100; i++)
    assert_ok(tb_timeline_try_tick(timeline, S + i)); /* wakes no waiter */
  tb_timeline_set_state(timeline, TB_CLOCK_NO_PUBLISHER);
  start(&running, f, BIT(RUNNING));
  assert_status(tb_timeline_try_tick(timeline, 2 * S), TB_ERR_BUSY);
  assert_ok(tb_timeline_tick(timeline, 2 * S, TB_JUMP_REASON_NONE));
  finish(&running, TB_CLOCK_RUNNING);
  assert_ok(tb_timeline_tick(timeline, 3 * S, TB_JUMP_REASON_NONE));
  assert_ok(tb_timeline_try_tick(timeline, 4 * S));
  assert_int_equal(waiters_on(f->clock), 1);
  tb_timeline_set_state(timeline, TB_CLOCK_LOST);
  finish(&stalled, TB_CLOCK_LOST);
}

static int reports;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  if (level == TB_LOG_WARN && strstr(message, "time does not advance")) reports++;
}

static void test_C8_silence_is_a_stall_at_its_moment(void **state)
{
  fixture_t *f = *state;
  waiting_t w;
  reports = 0;
  tb_log_set_hook(on_log, NULL);
  start(&w, f, BIT(STALLED));
  pass(10 * S); /* not before the first tick */
  assert_ok(tb_manual_source_set(f->source, S));
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  pass(S);
  assert_ok(tb_timeline_try_tick(timeline_of(f), 2 * S)); /* which moves the moment, unseen */
  pass(S);
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  assert_int_equal(waiters_on(f->clock), 1);
  pass(1);
  finish(&w, TB_CLOCK_STALLED);
  assert_int_equal(w.reading.time.ns, 2 * S);
  assert_int_equal(reports, 1);

  start(&w, f, BIT(RUNNING));
  assert_ok(tb_manual_source_set(f->source, 3 * S));
  finish(&w, TB_CLOCK_RUNNING);
  start(&w, f, BIT(STALLED));
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = S / 2;
  assert_ok(tb_timeline_set_options(timeline_of(f), &options));
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  pass(S / 2 + 1);
  finish(&w, TB_CLOCK_STALLED);
  tb_log_set_hook(NULL, NULL);
}

static tb_clock_state_t state_read(fixture_t *f)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  return reading.state;
}

/* As of a process that was stopped: its ticks are received after its first look. */
static void test_C8_a_stall_that_a_reader_sees_is_reported_once_it_lasts(void **state)
{
  fixture_t *f = *state;
  tb_timeline_stats_t stats;
  reports = 0;
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_manual_source_set(f->source, S));
  for (int i = 0; i < 3; i++) {
    pass(2 * S);
    assert_int_equal(state_read(f), TB_CLOCK_STALLED);
    assert_ok(tb_manual_source_set(f->source, (2 + i) * S));
    assert_int_equal(state_read(f), TB_CLOCK_RUNNING);
  }
  assert_int_equal(reports, 0);
  pass(2 * S);
  assert_int_equal(state_read(f), TB_CLOCK_STALLED);
  pass(S / 10 - 1);
  assert_int_equal(state_read(f), TB_CLOCK_STALLED);
  assert_int_equal(reports, 0);
  pass(1);
  for (int i = 0; i < 3; i++)
    assert_int_equal(state_read(f), TB_CLOCK_STALLED);
  assert_int_equal(reports, 1);
  tb_timeline_stats(timeline_of(f), &stats);
  assert_int_equal(stats.stalls, 4);
  tb_log_set_hook(NULL, NULL);
}

/* A wait that ends in time knows of the silence; one that is woken late was itself stopped. */
static void test_C8_a_wait_that_ends_late_reports_no_stall(void **state)
{
  fixture_t *f = *state;
  waiting_t w;
  reports = 0;
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_manual_source_set(f->source, S));
  start(&w, f, BIT(STALLED));
  pass(2 * S);
  finish(&w, TB_CLOCK_STALLED);
  assert_int_equal(reports, 0);
  tb_log_set_hook(NULL, NULL);
}

static void test_C8_ticks_that_repeat_are_a_pause(void **state)
{
  fixture_t *f = *state;
  waiting_t paused, stalled, running;
  assert_ok(tb_manual_source_set(f->source, S));
  start(&paused, f, BIT(PAUSED));
  start(&stalled, f, BIT(STALLED));
  pass(S / 20);
  assert_ok(tb_timeline_try_tick(timeline_of(f), S));
  assert_int_equal(waiters_on(f->clock), 2);
  pass(S / 20);
  assert_ok(tb_timeline_try_tick(timeline_of(f), S));
  finish(&paused, TB_CLOCK_PAUSED);
  assert_ok(tb_timeline_tick(timeline_of(f), S + 1, TB_JUMP_REASON_NONE));
  start(&paused, f, BIT(PAUSED));
  pass(S / 10);
  assert_ok(tb_timeline_tick(timeline_of(f), S + 1, TB_JUMP_REASON_NONE));
  finish(&paused, TB_CLOCK_PAUSED);
  start(&running, f, BIT(RUNNING));
  assert_ok(tb_timeline_tick(timeline_of(f), S + 2, TB_JUMP_REASON_NONE));
  finish(&running, TB_CLOCK_RUNNING);
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  pass(2 * S);
  finish(&stalled, TB_CLOCK_STALLED);
}

/* The thread that waits may be late: the stall has been. */
static void test_C8_a_stall_that_a_tick_ends_is_not_missed(void **state)
{
  fixture_t *f = *state;
  waiting_t w;
  assert_ok(tb_manual_source_set(f->source, S));
  for (int i = 1; i < 100; i++) {
    start(&w, f, BIT(STALLED));
    pass(S + 1);
    assert_ok(tb_timeline_try_tick(timeline_of(f), S + i));
    finish(&w, TB_CLOCK_STALLED);
  }
}

static void test_C8_changes_of_source(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  waiting_t w, system;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(f->source, S));
  start(&w, f, BIT(INACTIVE));
  start(&system, f, BIT(LOST)); /* goes along everywhere */
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish(&w, TB_CLOCK_INACTIVE);
  assert_true(w.reading.time.ns > 1000 * S);
  start(&w, f, BIT(NO_SOURCE));
  assert_ok(tb_source_set_default(NULL));
  assert_ok(tb_clock_set_source(f->clock, TB_SOURCE_DEFAULT)); /* no clock change */
  finish(&w, TB_CLOCK_NO_SOURCE);
  start(&w, f, BIT(WAITING));
  assert_ok(tb_source_set_default(other));
  finish(&w, TB_CLOCK_WAITING);
  start(&w, f, BIT(RUNNING));
  assert_ok(tb_manual_source_set(other, 5 * S));
  finish(&w, TB_CLOCK_RUNNING);
  start(&w, f, BIT(NO_SOURCE));
  assert_ok(tb_source_destroy(other));
  finish(&w, TB_CLOCK_NO_SOURCE);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  tb_timeline_set_state(timeline_of(f), TB_CLOCK_LOST);
  finish(&system, TB_CLOCK_LOST);
}

static void test_S5_limit_token_and_close_end_it(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  waiting_t w;
  assert_ok(tb_cancel_token_create(&token));
  w = (waiting_t){.clock = f->clock, .states = BIT(LOST), .options = {.token = token}};
  pthread_create(&w.thread, NULL, wait_thread, &w);
  wait_for_waiters(f->clock, 1);
  tb_cancel_token_cancel(token);
  pthread_join(w.thread, NULL);
  assert_status(w.status, TB_ERR_CANCELLED);
  assert_status(tb_clock_wait_for_state(f->clock, BIT(WAITING), &w.options, NULL),
                TB_ERR_CANCELLED);
  assert_ok(tb_cancel_token_destroy(token));

  w = (waiting_t){.clock = f->clock, .states = BIT(LOST), .options = {.limit = {S}}};
  assert_ok(tb_testing_hold_os_time());
  pthread_create(&w.thread, NULL, wait_thread, &w);
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  pass(S);
  pthread_join(w.thread, NULL);
  assert_status(w.status, TB_ERR_TIMEOUT);
  assert_ok(tb_testing_release_os_time());

  tb_clock_t *clock;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &clock));
  w = (waiting_t){.clock = clock, .states = BIT(LOST) | BIT(CLOSED)};
  pthread_create(&w.thread, NULL, wait_thread, &w);
  wait_for_waiters(clock, 1);
  assert_ok(tb_clock_destroy(clock));
  pthread_join(w.thread, NULL);
  assert_status(w.status, TB_ERR_CLOSED);
}

typedef struct jumping {
  fixture_t *f;
  int waiters; /* while "after" was called */
  tb_status_t status;
} jumping_t;

static void after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  jumping_t *jumping = user;
  jumping->waiters = waiters_on(jumping->f->clock);
  jumping->status = tb_clock_wait_for_state(jumping->f->clock, BIT(RUNNING), NULL, NULL);
}

static void test_J3_J5_state_waits_are_notified_when_the_jump_is_over(void **state)
{
  fixture_t *f = *state;
  jumping_t jumping = {f, 0, TB_OK};
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.after = after;
  options.user = &jumping;
  options.threshold.on_clock_change = true;
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  waiting_t w;
  start(&w, f, BIT(RUNNING));
  assert_ok(tb_manual_source_set(f->source, S));
  assert_int_equal(jumping.waiters, 1);
  assert_status(jumping.status, TB_ERR_DEADLOCK);
  finish(&w, TB_CLOCK_RUNNING);
  start(&w, f, BIT(INACTIVE));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_int_equal(jumping.waiters, 1);
  finish(&w, TB_CLOCK_INACTIVE);
  tb_jump_handler_destroy(handler);
}

static void test_X1_C8_time_that_runs_on(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = timeline_of(f);
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  waiting_t w, stalled;
  assert_ok(tb_testing_now(TB_TESTING_STEADY, &anchor.steady.ns));
  anchor.time_ns = S;
  anchor.rate = 1;
  anchor.bound.ns = S / 5;
  start(&w, f, BIT(RUNNING));
  start(&stalled, f, BIT(STALLED));
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  finish(&w, TB_CLOCK_RUNNING);
  start(&w, f, BIT(PAUSED));
  anchor.time_ns = S + 1;
  anchor.state = TB_CLOCK_PAUSED;
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  finish(&w, TB_CLOCK_PAUSED);
  anchor.state = TB_CLOCK_RUNNING;
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
  pass(S + 1);
  finish(&stalled, TB_CLOCK_STALLED);
  assert_int_equal(stalled.reading.time.ns, S + 1 + S / 5);
}

#define ROUNDS 2000

/* Each side waits for what the other does: a wake-up that is lost is never made up for. */
static void *answer(void *argument)
{
  const fixture_t *f = argument;
  tb_wait_options_t options = {.limit = LIMIT};
  for (int i = 1; i <= ROUNDS; i++) {
    if (tb_clock_wait_for_state(f->clock, BIT(RUNNING), &options, NULL)) return argument;
    tb_timeline_set_state(timeline_of(f), i % 2 ? TB_CLOCK_LOST : TB_CLOCK_PAUSED);
    if (tb_clock_wait_for_state(f->clock, BIT(INACTIVE), &options, NULL)) return argument;
    if (tb_clock_set_source(f->clock, f->source)) return argument;
  }
  return NULL;
}

static void test_S5_no_wake_up_is_lost(void **state)
{
  fixture_t *f = *state;
  tb_wait_options_t options = {.limit = LIMIT};
  tb_source_t *source = f->source;
  tb_clock_t *keeper; /* the source runs on */
  tb_clock_options_t clock = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&clock, &keeper));
  pthread_t thread;
  void *failed;
  assert_ok(tb_manual_source_set(source, 1));
  tb_timeline_set_state(timeline_of(f), TB_CLOCK_WAITING);
  pthread_create(&thread, NULL, answer, f);
  for (int i = 1; i <= ROUNDS; i++) {
    assert_ok(tb_timeline_tick(timeline_of(f), 1 + i, TB_JUMP_REASON_NONE));
    assert_ok(tb_clock_wait_for_state(f->clock, BIT(LOST) | BIT(PAUSED), &options, NULL));
    assert_ok(tb_clock_set_source(f->clock, NULL));
    assert_ok(tb_clock_wait_for_state(f->clock, BIT(LOST) | BIT(PAUSED), &options, NULL));
  }
  pthread_join(thread, &failed);
  assert_null(failed);
  assert_ok(tb_clock_destroy(keeper));
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, setup_held, teardown_held)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_C8_S5_returns_at_once_with_the_reading),
      cmocka_unit_test(test_C8_a_clock_of_system_time_is_inactive),
      WITH_CLOCK(test_C8_what_the_source_says_is_seen_however_short),
      WITH_CLOCK(test_C8_only_a_tick_that_makes_the_state_wakes),
      HELD(test_C8_silence_is_a_stall_at_its_moment),
      HELD(test_C8_a_stall_that_a_reader_sees_is_reported_once_it_lasts),
      HELD(test_C8_a_wait_that_ends_late_reports_no_stall),
      HELD(test_C8_ticks_that_repeat_are_a_pause),
      HELD(test_C8_a_stall_that_a_tick_ends_is_not_missed),
      WITH_CLOCK(test_C8_changes_of_source),
      WITH_CLOCK(test_S5_limit_token_and_close_end_it),
      WITH_CLOCK(test_J3_J5_state_waits_are_notified_when_the_jump_is_over),
      HELD(test_X1_C8_time_that_runs_on),
      WITH_CLOCK(test_S5_no_wake_up_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
