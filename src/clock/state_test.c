/* States that follow from the signs of life, on a steady clock that the test moves. */
#include <math.h>
#include <stdatomic.h>
#include <timebase/log.h>
#include <timebase/sleep.h>
#include <timebase/source.h>

#include "on_manual_source.h"
#include "platform/time.h"

static int (*real_gettime)(clockid_t id, struct timespec *out);
static _Atomic int64_t steady_ns;
static int reports;
static char last_report[256];

static int fake_gettime(clockid_t id, struct timespec *out)
{
  if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE) return real_gettime(id, out);
  out->tv_sec = atomic_load(&steady_ns) / S;
  out->tv_nsec = atomic_load(&steady_ns) % S;
  return 0;
}

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  assert_int_equal(level, TB_LOG_WARN);
  snprintf(last_report, sizeof last_report, "%s", message);
  reports++;
}

/* With the stall limit of any source but the manual one. */
static int setup_steady(void **state)
{
  setup(state);
  fixture_t *f = *state;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
  real_gettime = tb__clock_gettime;
  atomic_store(&steady_ns, 1000 * S);
  tb__clock_gettime = fake_gettime;
  reports = 0;
  tb_log_set_hook(on_log, NULL);
  return 0;
}

static int teardown_steady(void **state)
{
  tb_log_set_hook(NULL, NULL);
  teardown(state); /* first: it ends the thread that reads the clock */
  tb__clock_gettime = real_gettime;
  return 0;
}

static void pass(int64_t ns)
{
  atomic_fetch_add(&steady_ns, ns);
}

static tb_clock_state_t state_of(const fixture_t *f)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  return reading.state;
}

static uint64_t stalls_of(const fixture_t *f)
{
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  return stats.stalls;
}

static void test_C8_a_silent_source_is_a_stall_reported_once(void **state)
{
  fixture_t *f = *state;
  pass(10 * S);
  assert_int_equal(state_of(f), TB_CLOCK_WAITING);
  assert_ok(tb_manual_source_set(f->source, S));
  pass(S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  pass(1);
  assert_int_equal(reports, 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  assert_int_equal(reports, 0);
  pass(S / 10); /* it lasts: no process that was stopped */
  for (int i = 0; i < 3; i++)
    assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  assert_int_equal(reports, 1);
  assert_non_null(strstr(last_report, "no tick from its source for 1.1 s"));
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  assert_int_equal(stalls_of(f), 1);
  pass(5 * S);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  pass(S / 10);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  assert_int_equal(reports, 2);
  assert_int_equal(stalls_of(f), 2);
}

static void test_C8_an_unobserved_stall_is_counted(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, S));
  pass(2 * S);
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_int_equal(stalls_of(f), 1);
  pass(2 * S);
  assert_ok(tb_manual_source_set(f->source, 2 * S)); /* repeated: a sign of life too */
  assert_int_equal(stalls_of(f), 2);
  assert_int_equal(reports, 0);
}

static void test_C8_a_wait_that_times_out_reports_the_stall(void **state)
{
  fixture_t *f = *state;
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.limit.ns = 1;
  atomic_store(&steady_ns, 1); /* the last tick, seen from the real clock: long ago */
  assert_ok(tb_manual_source_set(f->source, S));
  tb__clock_gettime = real_gettime;
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){S}, &options), TB_ERR_TIMEOUT);
  tb__clock_gettime = fake_gettime;
  assert_int_equal(reports, 1);
}

static void test_C8_no_stall_where_the_limit_is_off_or_longer(void **state)
{
  fixture_t *f = *state;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = 0;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
  assert_ok(tb_manual_source_set(f->source, S));
  pass(1000 * S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  options.stall_limit.ns = 5 * S;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
  pass(5 * S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  pass(1);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  options.stall_limit.ns = -1;
  assert_status(tb_timeline_set_options(tb_source_timeline(f->source), &options), TB_ERR_INVALID);
}

static void test_C8_ticks_that_repeat_the_time_are_a_pause(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, S));
  assert_ok(tb_manual_source_set(f->source, S)); /* two messages of one time */
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  for (int i = 0; i < 50; i++) {
    pass(S / 10);
    assert_ok(tb_manual_source_set(f->source, S));
    assert_int_equal(state_of(f), TB_CLOCK_PAUSED);
  }
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  pass(S + 1);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  assert_int_equal(stalls_of(f), 1);
}

static void test_C8_a_state_that_the_source_sets_stays(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, S));
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_PAUSED);
  pass(100 * S);
  assert_int_equal(state_of(f), TB_CLOCK_PAUSED);
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_LOST);
  assert_int_equal(state_of(f), TB_CLOCK_LOST);
  assert_int_equal(reports, 0);
}

static void test_C8_time_that_runs_without_bound_needs_no_ticks(void **state)
{
  fixture_t *f = *state;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = S;
  anchor.steady.ns = atomic_load(&steady_ns);
  anchor.rate = 1;
  anchor.bound.ns = INT64_MAX;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  pass(100 * S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  anchor.time_ns = 101 * S;
  anchor.steady.ns = atomic_load(&steady_ns);
  anchor.bound.ns = S; /* from here on they are */
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  pass(S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  pass(S);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  assert_int_equal(now.ns, 102 * S);
}

static void test_C8_what_counts_as_a_forward_jump_can_be_set(void **state)
{
  fixture_t *f = *state;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  tb_timeline_stats_t stats;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  options.forward_jump_min.ns = 10 * S;
  assert_ok(tb_timeline_set_options(timeline, &options));
  assert_ok(tb_manual_source_set(f->source, S));
  assert_ok(tb_manual_source_set(f->source, 11 * S));
  tb_timeline_stats(timeline, &stats);
  assert_int_equal(stats.jumps_forward, 0);
  assert_ok(tb_manual_source_set(f->source, 21 * S + 1));
  tb_timeline_stats(timeline, &stats);
  assert_int_equal(stats.jumps_forward, 1);
  options.forward_jump_min.ns = 0;
  assert_status(tb_timeline_set_options(timeline, &options), TB_ERR_INVALID);
}

static void test_C8_forward_steps_are_distinguished_from_jumps(void **state)
{
  fixture_t *f = *state;
  tb_timeline_stats_t stats;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  assert_ok(tb_manual_source_set(f->source, 1 * S));
  assert_ok(tb_manual_source_set(f->source, 2 * S));  /* 1 s exactly is no jump */
  assert_ok(tb_manual_source_set(f->source, 60 * S)); /* a jump */
  assert_ok(
      tb_manual_source_advance(f->source, (tb_duration_t){90 * S})); /* declared as passing time */
  assert_ok(tb_manual_source_jump(f->source, 150 * S + 1, TB_JUMP_REASON_SEEK));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  tb_timeline_stats(timeline, &stats);
  assert_int_equal(stats.jumps_forward, 2);
  assert_int_equal(stats.largest_forward.ns, 58 * S);
  assert_int_equal(stats.jumps_backward, 1);
  assert_int_equal(stats.largest_backward.ns, -(100 * S + 1));
  assert_int_equal(stats.advanced.ns, 91 * S);
  assert_int_equal(stats.ticks, 6);
}

static tb_timeline_stats_t stats_of(const fixture_t *f)
{
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  return stats;
}

/* Ticks of a publisher at `hz`, each a step of `step_ns`. */
static void tick_on(const fixture_t *f, int count, int64_t hz, int64_t step_ns)
{
  for (int i = 0; i < count; i++) {
    tb_time_t now;
    pass(S / hz);
    assert_ok(tb_clock_now(f->clock, &now));
    assert_ok(tb_manual_source_set(f->source, now.ns + step_ns));
  }
}

static void expect_jumps(const fixture_t *f, uint64_t jumps)
{
  assert_int_equal(stats_of(f).jumps_forward, jumps);
}

/* Its first two steps cannot be distinguished from jumps. */
static void test_C8_a_new_rate_of_slow_ticks_is_not_counted_as_jumps(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 5, 1, S);
  tick_on(f, 2, 1, 10 * S);
  expect_jumps(f, 2);
  tick_on(f, 50, 1, 10 * S);
  expect_jumps(f, 2);
  assert_true(stats_of(f).rate == 10);
  tick_on(f, 5, 1, S);
  assert_true(stats_of(f).rate == 1);
  tick_on(f, 50, 1, 10 * S);
  expect_jumps(f, 4);
  tick_on(f, 50, 1, 1000 * S);
  expect_jumps(f, 6);
  assert_true(stats_of(f).rate == 1000);
  assert_int_equal(stats_of(f).largest_forward.ns, 1000 * S);
}

/* A rate is measured over 0.1 s. */
static void test_C8_a_new_rate_of_fast_ticks_is_not_counted_as_jumps(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 100, 100, S / 100);
  expect_jumps(f, 0);
  tick_on(f, 1000, 100, 10 * S);
  expect_jumps(f, 11);
  assert_true(fabs(stats_of(f).rate - 1000) < 1e-6);
}

static void test_C8_a_jump_between_slow_ticks_is_counted_once(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 5, 1, S);
  for (uint64_t jumps = 1; jumps <= 3; jumps++) {
    tick_on(f, 1, 1, 3600 * S);
    expect_jumps(f, jumps);
    tick_on(f, jumps == 2 ? 1 : 5, 1, S);
    expect_jumps(f, jumps);
    assert_true(stats_of(f).rate == 1);
  }
  assert_int_equal(stats_of(f).largest_forward.ns, 3600 * S);
}

static void test_C8_two_jumps_in_a_row_are_two_and_leave_no_rate(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 5, 1, S);
  tick_on(f, 2, 1, 3600 * S);
  expect_jumps(f, 2);
  tick_on(f, 1, 1, S);
  assert_true(stats_of(f).rate == 1);
  tick_on(f, 1, 1, 60 * S);
  expect_jumps(f, 3);
}

static void test_C8_steps_declared_as_jumps_are_no_rate(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 5, 1, S);
  tick_on(f, 1, 1, 60 * S);
  for (int i = 1; i <= 5; i++) {
    pass(S);
    assert_ok(tb_manual_source_jump(f->source, i * 3600 * S, TB_JUMP_REASON_SEEK));
    expect_jumps(f, 1 + (uint64_t)i);
    assert_true(stats_of(f).rate == 1);
  }
  tick_on(f, 1, 1, 60 * S);
  expect_jumps(f, 7);
}

static void test_C8_after_a_pause_time_continues_at_its_rate(void **state)
{
  fixture_t *f = *state;
  tick_on(f, 10, 1, 10 * S);
  uint64_t jumps = stats_of(f).jumps_forward;
  assert_true(stats_of(f).rate == 10);
  tick_on(f, 10, 1, 0);
  assert_true(stats_of(f).rate == 0);
  tick_on(f, 10, 1, 10 * S);
  expect_jumps(f, jumps);
  assert_true(stats_of(f).rate == 10);
}

#define ON_STEADY(test) cmocka_unit_test_setup_teardown(test, setup_steady, teardown_steady)

static void test_C8_each_state_has_a_name(void **state)
{
  (void)state;
  assert_string_equal(tb_clock_state_name(TB_CLOCK_INACTIVE), "inactive");
  assert_string_equal(tb_clock_state_name(TB_CLOCK_CLOSED), "closed");
  for (int one = TB_CLOCK_INACTIVE; one <= TB_CLOCK_CLOSED; one++)
    assert_string_not_equal(tb_clock_state_name((tb_clock_state_t)one), "unknown");
  assert_string_equal(tb_clock_state_name((tb_clock_state_t)0), "unknown");
  assert_string_equal(tb_clock_state_name((tb_clock_state_t)(TB_CLOCK_CLOSED + 1)), "unknown");
  assert_string_equal(tb_clock_state_name((tb_clock_state_t)-1), "unknown");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_STEADY(test_C8_a_silent_source_is_a_stall_reported_once),
      ON_STEADY(test_C8_an_unobserved_stall_is_counted),
      ON_STEADY(test_C8_a_wait_that_times_out_reports_the_stall),
      ON_STEADY(test_C8_no_stall_where_the_limit_is_off_or_longer),
      ON_STEADY(test_C8_ticks_that_repeat_the_time_are_a_pause),
      ON_STEADY(test_C8_a_state_that_the_source_sets_stays),
      ON_STEADY(test_C8_time_that_runs_without_bound_needs_no_ticks),
      ON_STEADY(test_C8_what_counts_as_a_forward_jump_can_be_set),
      ON_STEADY(test_C8_forward_steps_are_distinguished_from_jumps),
      ON_STEADY(test_C8_a_new_rate_of_slow_ticks_is_not_counted_as_jumps),
      ON_STEADY(test_C8_a_new_rate_of_fast_ticks_is_not_counted_as_jumps),
      ON_STEADY(test_C8_a_jump_between_slow_ticks_is_counted_once),
      ON_STEADY(test_C8_two_jumps_in_a_row_are_two_and_leave_no_rate),
      ON_STEADY(test_C8_steps_declared_as_jumps_are_no_rate),
      ON_STEADY(test_C8_after_a_pause_time_continues_at_its_rate),
      cmocka_unit_test(test_C8_each_state_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
