/* Time that runs by itself between two anchors. */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/source.h>

#include "on_manual_source.h"
#include "platform/time.h"
#include "running_time.h"
#include "waiting.h"

/* So slow that the time hardly moves, however long a thread is stopped. */
#define CRAWL 1e-9

static tb_anchor_t anchor_at(int64_t time_ns, double rate)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  anchor.steady.ns = tb__steady_now_ns();
  anchor.rate = rate;
  anchor.bound.ns = INT64_MAX;
  return anchor;
}

static void commit(const fixture_t *f, const tb_anchor_t *anchor)
{
  assert_ok(tb_timeline_anchor(tb_source_timeline(f->source), anchor, TB_JUMP_REASON_NONE));
}

static int64_t now_of(const tb_clock_t *clock)
{
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  return now.ns;
}

static void test_X1_now_follows_from_the_anchor(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 2);
  commit(f, &anchor);
  for (int i = 0; i < 1000; i++) {
    int64_t before_ns = tb__steady_now_ns(), now_ns = now_of(f->clock);
    int64_t after_ns = tb__steady_now_ns();
    assert_in_range(now_ns, 100 * S + 2 * (before_ns - anchor.steady.ns),
                    100 * S + 2 * (after_ns - anchor.steady.ns));
  }
  tb_time_t now;
  tb_clock_reading_t reading;
  assert_ok(tb_clock_try_now(f->clock, &now));
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_true(reading.time.ns >= now.ns);
  assert_int_equal(reading.state, TB_CLOCK_RUNNING);
  assert_int_equal(reading.epoch, tb_clock_epoch(f->clock));
}

static void test_X1_time_does_not_run_past_the_bound(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  anchor.steady.ns = 1; /* long ago */
  anchor.bound.ns = 5;
  commit(f, &anchor);
  assert_int_equal(now_of(f->clock), 100 * S + 5);
}

static void test_X1_rate_zero_is_a_tick(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 0);
  commit(f, &anchor);
  assert_int_equal(now_of(f->clock), 100 * S);
  anchor = anchor_at(0, 1);
  commit(f, &anchor);
  assert_int_equal(now_of(f->clock), 0);
}

static void test_X1_wrong_anchors_change_nothing(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb_anchor_t good = anchor_at(100 * S, 0);
  commit(f, &good);
  tb_anchor_t bad[7];
  for (int i = 0; i < 7; i++)
    bad[i] = anchor_at(200 * S, 1);
  bad[0].rate = -1;
  bad[1].rate = 1 / 0.0;
  bad[2].rate = 0 / 0.0;
  bad[3].bound.ns = -1;
  bad[4].steady.ns = 0;
  bad[5].state = TB_CLOCK_INACTIVE;
  bad[6].state = (tb_clock_state_t)99;
  for (int i = 0; i < 7; i++)
    assert_status(tb_timeline_anchor(timeline, &bad[i], TB_JUMP_REASON_NONE), TB_ERR_INVALID);
  bad[0] = anchor_at(-1, 1);
  assert_status(tb_timeline_anchor(timeline, &bad[0], TB_JUMP_REASON_NONE), TB_ERR_RANGE);
  assert_status(tb_timeline_anchor(NULL, &good, TB_JUMP_REASON_NONE), TB_ERR_INVALID);
  assert_status(tb_timeline_anchor(timeline, NULL, TB_JUMP_REASON_NONE), TB_ERR_INVALID);
  assert_int_equal(now_of(f->clock), 100 * S);
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  *(tb_jump_t *)user = *jump;
}

static tb_jump_handler_t *watch_jumps(tb_clock_t *clock, tb_jump_t *out)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold = (tb_jump_threshold_t){{S}, {-1}, true};
  options.after = on_jump;
  options.user = out;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

static void test_J2_an_anchor_below_the_running_time_is_a_backward_jump(void **state)
{
  fixture_t *f = *state;
  tb_jump_t jump = {0};
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  watch_jumps(f->clock, &jump);
  commit(f, &anchor);
  assert_int_equal(jump.kind, TB_JUMP_STARTED);
  int64_t seen_ns = now_of(f->clock);
  anchor = anchor_at(100 * S, 0); /* at the last anchor's time, which has passed */
  commit(f, &anchor);
  assert_int_equal(jump.kind, TB_JUMP_BACKWARD);
  assert_true(jump.before.ns >= seen_ns);
  assert_int_equal(jump.after.ns, 100 * S);
  assert_int_equal(tb_clock_epoch(f->clock), jump.epoch);
  assert_int_equal(now_of(f->clock), 100 * S);
}

static void test_J2_a_tick_stops_the_running_time(void **state)
{
  fixture_t *f = *state;
  tb_jump_t jump = {0};
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  watch_jumps(f->clock, &jump);
  assert_ok(tb_manual_source_set(f->source, 200 * S));
  assert_int_equal(jump.kind, TB_JUMP_FORWARD);
  assert_int_equal(now_of(f->clock), 200 * S);
  assert_int_equal(now_of(f->clock), 200 * S);
}

static void *sleep_a_while(void *argument)
{
  tb_clock_t *clock = argument;
  int64_t before_ns = now_of(clock);
  assert_ok(tb_clock_sleep_for(clock, (tb_duration_t){5 * S}, NULL));
  assert_true(now_of(clock) >= before_ns + 5 * S);
  return NULL;
}

static void test_S1_a_sleep_ends_without_a_tick_and_never_early(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1000);
  commit(f, &anchor);
  for (int i = 0; i < 3; i++)
    sleep_a_while(f->clock);
  tb_time_t target = {now_of(f->clock) + S, TB_TIME_ROS};
  assert_ok(tb_clock_sleep_until(f->clock, target, NULL));
  assert_true(now_of(f->clock) >= target.ns);
}

static void test_S7_a_new_rate_brings_the_deadline_nearer(void **state)
{
  fixture_t *f = *state;
  pthread_t sleeper;
  tb_anchor_t anchor = anchor_at(100 * S, CRAWL);
  commit(f, &anchor);
  pthread_create(&sleeper, NULL, sleep_a_while, f->clock);
  wait_for_waiters(f->clock, 1);
  anchor = anchor_at(now_of(f->clock) + 1000, 10000); /* not back, or its rest would be kept */
  commit(f, &anchor);
  pthread_join(sleeper, NULL);
}

static void test_S2_a_sleep_continues_when_time_runs_again(void **state)
{
  fixture_t *f = *state;
  pthread_t sleeper;
  tb_anchor_t anchor = anchor_at(100 * S, CRAWL);
  commit(f, &anchor);
  pthread_create(&sleeper, NULL, sleep_a_while, f->clock);
  wait_for_waiters(f->clock, 1);
  anchor = anchor_at(now_of(f->clock) + 1000, 0);
  anchor.state = TB_CLOCK_PAUSED;
  commit(f, &anchor);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_PAUSED);
  int64_t stood_ns = now_of(f->clock);
  assert_int_equal(now_of(f->clock), stood_ns);
  assert_int_equal(waiters_on(f->clock), 1);
  anchor = anchor_at(stood_ns, 5000);
  commit(f, &anchor);
  pthread_join(sleeper, NULL);
}

static void test_C8_a_state_set_while_time_runs_does_not_change_it(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  int64_t before_ns = now_of(f->clock);
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_LOST);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_LOST);
  int64_t latest_ns = 100 * S + tb__steady_now_ns() - anchor.steady.ns;
  assert_in_range(reading.time.ns, before_ns, latest_ns);
}

/* A sleeper that gives up when its limit has passed: nothing is due in paused time. */
static void test_S5_a_limit_ends_a_wait_while_time_is_stopped(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  anchor.bound.ns = 10;
  commit(f, &anchor);
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.limit.ns = 1;
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){S}, &options), TB_ERR_TIMEOUT);
}

static void test_M2_timers_fire_without_a_tick(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1000);
  commit(f, &anchor);
  expect_timer_calls(f);
}

static void test_S9_rates_keep_their_pace_without_ticks(void **state)
{
  fixture_t *f = *state;
  tb_rate_t *rate;
  tb_anchor_t anchor = anchor_at(100 * S, 1000);
  commit(f, &anchor);
  int64_t start_ns = now_of(f->clock);
  assert_ok(tb_rate_create(f->clock, (tb_duration_t){10 * S}, &rate));
  for (int i = 0; i < 3; i++)
    assert_ok(tb_rate_sleep(rate, NULL, NULL));
  assert_true(now_of(f->clock) >= start_ns + 30 * S);
  tb_rate_destroy(rate);
}

/* Leaving the source ends its thread; for a clock that comes back, time starts again. */
static void test_X1_time_stops_when_the_last_clock_has_left(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_status(tb_timeline_anchor(tb_source_timeline(f->source), &anchor, TB_JUMP_REASON_NONE),
                TB_ERR_DETACHED);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  int64_t now_ns = now_of(f->clock);
  assert_int_equal(now_of(f->clock), now_ns);
  anchor = anchor_at(now_ns + S, 1);
  commit(f, &anchor);
  assert_true(now_of(f->clock) >= now_ns + S);
}

typedef struct reader {
  const tb_clock_t *clock;
  _Atomic bool *stop;
  pthread_t thread;
  uint64_t reads;
} reader_t;

static void *read_on(void *argument)
{
  reader_t *reader = argument;
  int64_t last_ns = 0;
  while (!atomic_load(reader->stop)) {
    int64_t now_ns = now_of(reader->clock);
    assert_true(now_ns >= last_ns);
    last_ns = now_ns;
    reader->reads++;
  }
  return NULL;
}

typedef struct changing_policy {
  tb__anchor_policy_t policy;
  double rate;
} changing_policy_t;

static tb_anchor_t continue_at_rate(tb__anchor_policy_t *policy, int64_t time_ns, int64_t steady_ns)
{
  tb_anchor_t anchor = anchor_at(time_ns, ((changing_policy_t *)policy)->rate);
  anchor.steady.ns = steady_ns;
  return anchor;
}

static tb_anchor_t go_back(tb__anchor_policy_t *policy, int64_t time_ns, int64_t steady_ns)
{
  return continue_at_rate(policy, time_ns - S, steady_ns);
}

/* Anchors that continue exactly from the current time, at any rate, never make a step back. */
static void test_C3_no_reader_sees_running_time_step_back(void **state)
{
  fixture_t *f = *state;
  const double rates[] = {0, 1, 0.5, 100, 0, 2};
  _Atomic bool stop = false;
  reader_t readers[2];
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  uint64_t epoch = tb_clock_epoch(f->clock);
  for (int i = 0; i < 2; i++) {
    readers[i] = (reader_t){.clock = f->clock, .stop = &stop};
    pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
  }
  for (int i = 0; i < 20000; i++) {
    changing_policy_t change = {{.next_anchor = continue_at_rate, .may_wait = true}, rates[i % 6]};
    assert_ok(tb__timeline_apply_policy(tb_source_timeline(f->source), &change.policy));
  }
  atomic_store(&stop, true);
  for (int i = 0; i < 2; i++)
    pthread_join(readers[i].thread, NULL);
  assert_int_equal(tb_clock_epoch(f->clock), epoch);
}

/* A writer that is stopped in the middle of a halt: all readers see the time at which it stops. */
static void test_C3_readers_agree_on_the_moment_of_a_halt(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  int64_t before_ns = now_of(f->clock);
  uint64_t version = atomic_load(&timeline->version);
  uint64_t halting = (version | TB__VERSION_HALTING) + TB__VERSION_STEP;
  atomic_store(&timeline->halt_steady_ns, -(int64_t)halting);
  atomic_store(&timeline->version, halting);
  int64_t halted_ns = now_of(f->clock);
  assert_true(halted_ns >= before_ns);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(now_of(f->clock), halted_ns);
  atomic_store(&timeline->version, version + 2 * TB__VERSION_STEP);
}

/* If a callback would have to run, nothing changes and time continues as before. */
static void test_X5_what_may_not_wait_makes_no_jump(void **state)
{
  fixture_t *f = *state;
  tb_jump_t jump = {0};
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb_anchor_t anchor = anchor_at(100 * S, 1);
  commit(f, &anchor);
  watch_jumps(f->clock, &jump);
  changing_policy_t change = {{.next_anchor = continue_at_rate}, 2};
  assert_ok(tb__timeline_apply_policy(timeline, &change.policy));
  int64_t before_ns = now_of(f->clock);
  change.policy.next_anchor = go_back;
  assert_status(tb__timeline_apply_policy(timeline, &change.policy), TB_ERR_BUSY);
  assert_int_equal(jump.kind, 0);
  assert_true(now_of(f->clock) >= before_ns);
  change.policy.may_wait = true;
  assert_ok(tb__timeline_apply_policy(timeline, &change.policy));
  assert_int_equal(jump.kind, TB_JUMP_BACKWARD);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_X1_now_follows_from_the_anchor),
      WITH_CLOCK(test_X1_time_does_not_run_past_the_bound),
      WITH_CLOCK(test_X1_rate_zero_is_a_tick),
      WITH_CLOCK(test_X1_wrong_anchors_change_nothing),
      WITH_CLOCK(test_J2_an_anchor_below_the_running_time_is_a_backward_jump),
      WITH_CLOCK(test_J2_a_tick_stops_the_running_time),
      WITH_CLOCK(test_S1_a_sleep_ends_without_a_tick_and_never_early),
      WITH_CLOCK(test_S7_a_new_rate_brings_the_deadline_nearer),
      WITH_CLOCK(test_S2_a_sleep_continues_when_time_runs_again),
      WITH_CLOCK(test_C8_a_state_set_while_time_runs_does_not_change_it),
      WITH_CLOCK(test_S5_a_limit_ends_a_wait_while_time_is_stopped),
      WITH_QUEUE(test_M2_timers_fire_without_a_tick),
      WITH_CLOCK(test_S9_rates_keep_their_pace_without_ticks),
      WITH_CLOCK(test_X1_time_stops_when_the_last_clock_has_left),
      WITH_CLOCK(test_C3_readers_agree_on_the_moment_of_a_halt),
      WITH_CLOCK(test_X5_what_may_not_wait_makes_no_jump),
      WITH_CLOCK(test_C3_no_reader_sees_running_time_step_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
