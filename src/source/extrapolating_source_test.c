/* The rules of time that runs between ticks. */
#include <pthread.h>
#include <timebase/jump.h>
#include <timebase/sleep.h>
#include <timebase/source.h>

#include "source/on_extrapolating_source.h"
#include "waiting.h"

static tb_jump_t last_jump;
static int jumps;

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)user;
  last_jump = *jump;
  jumps++;
}

static tb_jump_handler_t *watch_jumps(double forward_ms)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold.min_forward.ns = llround(forward_ms * 1e6);
  options.threshold.min_backward.ns = -1;
  options.after = on_jump;
  jumps = 0;
  assert_ok(tb_jump_handler_create(outer_clock, &options, &handler));
  return handler;
}

static void test_X4_the_first_ticks_are_exact(void **state)
{
  (void)state;
  assert_ms(time_at(50), -TIME_BEGIN / 1e6);
  tick(0, 0);
  assert_ms(time_at(50), 0);
  tick(100, 100);
  assert_ms(time_at(150), 100);
  assert_true(stats().rate == 0);
  tick(200, 200);
  assert_ms(time_at(250), 250);
}

static void test_X4_time_runs_on_at_the_observed_rate(void **state)
{
  (void)state;
  three_ticks();
  assert_true(stats().rate == 1);
  for (int ms = 300; ms < 1000; ms += 100) {
    tick(ms, ms);
    for (int after = 0; after < 100; after += 10)
      assert_ms(time_at(ms + after), ms + after);
  }
  assert_int_equal(counts().ticks, 10);
  assert_int_equal(counts().jumps_forward, 0);
  assert_int_equal(counts().advanced.ns, 900 * MS);
}

static void test_X4_time_never_runs_past_the_bound(void **state)
{
  (void)state;
  three_ticks();
  assert_int_equal(stats().bound.ns, 200 * MS);
  assert_int_equal(stats().reach.ns, 200 * MS);
  assert_ms(time_at(399), 399);
  assert_ms(time_at(401), 400);
  assert_ms(time_at(1e6), 400);
}

/* The bound is steady time: at ten times the speed it is ten times as far. */
static void test_X4_the_bound_is_an_option(void **state)
{
  (void)state;
  tb_extrapolating_options_t options = {{30 * MS}};
  tb_source_t *source, *wrapped;
  assert_ok(tb_manual_source_create(&wrapped));
  assert_ok(tb_extrapolating_source_create(wrapped, &options, &source));
  assert_ok(tb_clock_set_source(outer_clock, source));
  for (int i = 0; i < 3; i++) {
    at(i * 100);
    assert_ok(tb_manual_source_set(wrapped, TIME_BEGIN + i * S));
  }
  assert_ms(time_at(229), 2290);
  assert_ms(time_at(231), 2300);
  assert_ok(tb_clock_set_source(outer_clock, outer));
  assert_ok(tb_source_destroy(source));
}

static void test_X4_ticks_below_the_time_hold_it_until_they_catch_up(void **state)
{
  (void)state;
  three_ticks();
  tb_jump_handler_t *handler = watch_jumps(0);
  uint64_t epoch = tb_clock_epoch(outer_clock);
  tick(300, 350); /* late: the time is 350 */
  assert_ms(time_now(), 350);
  assert_true(stats().rate > 0);
  double rate = stats().rate;
  assert_ms(time_at(350 + 49 / rate), 350);
  assert_ms(time_at(350 + 60 / rate), 360);
  tick(400, 500); /* and once more */
  assert_true(time_now() > 400);
  tick(500, 520); /* caught up */
  assert_ms(time_now(), 500);
  assert_int_equal(tb_clock_epoch(outer_clock), epoch);
  assert_int_equal(jumps, 0);
  assert_int_equal(counts().jumps_backward, 0);
  assert_int_equal(stats().held_ticks, 2);
  assert_int_equal(state_now(), TB_CLOCK_RUNNING);
  tb_jump_handler_destroy(handler);
}

/* The bound counts from the tick, not from the time that is held. */
static void test_X4_held_time_runs_no_farther_than_the_bound(void **state)
{
  (void)state;
  three_ticks();
  tick(300, 350);
  assert_ms(time_at(1e6), 300 + (double)stats().reach.ns / 1e6);
}

static void test_X4_a_long_silence_restarts_the_rate(void **state)
{
  (void)state;
  three_ticks();
  tick(300, 300); /* runs on to 500 */
  tick(600, 2300);
  assert_true(stats().rate == 0);
  assert_ms(time_at(2350), 600);
  tick(700, 2400);
  tick(800, 2500);
  assert_true(stats().rate == 1);
  tick(810, 9000); /* the time was 1000: held, though the rate is unknown, which is no pause */
  tick(820, 9120);
  assert_ms(time_now(), 1000);
  assert_int_equal(state_now(), TB_CLOCK_RUNNING);
}

static void test_X4_a_tick_below_the_last_is_a_jump_from_the_extrapolated_time(void **state)
{
  (void)state;
  three_ticks();
  tb_jump_handler_t *handler = watch_jumps(0);
  at(250);
  assert_ok(tb_manual_source_jump(inner, TIME_BEGIN + 199 * MS, TB_JUMP_REASON_LOOP));
  assert_int_equal(jumps, 1);
  assert_int_equal(last_jump.kind, TB_JUMP_BACKWARD);
  assert_int_equal(last_jump.reason, TB_JUMP_REASON_LOOP);
  assert_int_equal(last_jump.before.ns, TIME_BEGIN + 250 * MS);
  assert_int_equal(last_jump.after.ns, TIME_BEGIN + 199 * MS);
  assert_int_equal(tb_clock_epoch(outer_clock), last_jump.epoch);
  assert_ms(time_at(300), 199); /* the rate is unknown again */
  tick(300, 350);
  assert_ms(time_at(400), 300);
  tick(400, 450);
  assert_ms(time_at(460), 410);
  assert_int_equal(counts().jumps_backward, 1);
  tb_jump_handler_destroy(handler);
}

static void test_J1_a_forward_step_is_measured_from_the_extrapolated_time(void **state)
{
  (void)state;
  three_ticks();
  tb_jump_handler_t *handler = watch_jumps(70);
  tick(319, 250);
  assert_ms(time_now(), 319);
  assert_int_equal(jumps, 0);
  at(260); /* the time is 329 */
  assert_status(tb_timeline_try_tick(tb_source_timeline(inner), TIME_BEGIN + 399 * MS),
                TB_ERR_BUSY);
  assert_int_equal(stats().errors, 1);
  assert_ms(time_now(), 329); /* it runs on */
  tick(399, 260);
  assert_int_equal(jumps, 1);
  assert_int_equal(stats().errors, 2);
  assert_int_equal(last_jump.delta.ns, 70 * MS);
  assert_int_equal(counts().jumps_forward, 0);
  tick(2000, 280);
  assert_int_equal(counts().jumps_forward, 1);
  tb_jump_handler_destroy(handler);
}

static void test_X4_a_leap_restarts_the_rate(void **state)
{
  (void)state;
  three_ticks();
  tick(10000, 300); /* no reason is given */
  assert_true(stats().rate == 0);
  assert_ms(time_at(350), 10000);
  tick(10100, 400);
  tick(10200, 500);
  assert_true(stats().rate == 1);
  at(600);
  assert_ok(tb_manual_source_jump(inner, TIME_BEGIN + 10300 * MS, TB_JUMP_REASON_SEEK));
  assert_true(stats().rate == 0);
  assert_ms(time_at(650), 10300);
}

static void test_X4_ticks_that_repeat_hold_time(void **state)
{
  (void)state;
  three_ticks();
  for (int ms = 300; ms <= 1000; ms += 100) {
    tick(200, ms);
    assert_true(stats().rate == 0);
    assert_ms(time_at(ms + 50), 300); /* the time at the first that repeats */
  }
  assert_int_equal(state_now(), TB_CLOCK_PAUSED);
  assert_int_equal(counts().stalls, 0);
  tick(250, 1100); /* continues: some ticks until the rate is known, and has caught up */
  assert_ms(time_at(1150), 300);
  tick(350, 1200);
  assert_ms(time_at(1250), 350);
  assert_int_equal(state_now(), TB_CLOCK_RUNNING);
  tick(450, 1300);
  assert_ms(time_at(1350), 500);
}

static void test_X4_a_tick_sent_twice_does_not_lose_the_rate(void **state)
{
  (void)state;
  three_ticks();
  tick(300, 300);
  tick(300, 301);
  assert_ms(time_at(350), 301);
  tick(400, 400);
  assert_ms(time_at(450), 450);
}

static void expect_rate(double rate)
{
  assert_true(fabs(stats().rate - rate) < 1e-9);
}

static void test_X4_a_change_of_rate_is_followed_within_three_ticks(void **state)
{
  (void)state;
  double time_ms = 0, at_ms = 0;
  const double rates[] = {1, 0.5, 10, 1, 2};
  for (int i = 0; i < 5; i++) {
    double highest = -1e9;
    for (int k = 0; k < 40; k++) {
      tick(time_ms, at_ms);
      double now = time_now();
      assert_true(now >= highest && now >= time_ms);
      if (k >= 3) expect_rate(rates[i]);
      if (k >= 3 && now == time_ms) assert_ms(time_at(at_ms + 70), time_ms + 70 * rates[i]);
      highest = time_now();
      time_ms += 100 * rates[i];
      at_ms += 100;
    }
    assert_true(highest <= time_ms); /* caught up */
  }
  assert_int_equal(counts().jumps_backward, 0);
}

static void test_X4_the_rate_is_never_above_what_an_anchor_may_have(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++)
    tick(2e8 * i, 100 * i);
  assert_true(stats().rate == TB_ANCHOR_RATE_MAX);
}

static void test_X4_one_late_tick_does_not_move_the_rate(void **state)
{
  (void)state;
  for (int ms = 0; ms <= 1000; ms += 100) {
    tick(ms, ms == 600 ? 680 : ms);
    if (ms >= 400) expect_rate(1);
  }
}

static void test_C2_zero_restarts(void **state)
{
  (void)state;
  three_ticks();
  at(250);
  assert_ok(tb_manual_source_set(inner, 0));
  tb_time_t now;
  assert_ok(tb_clock_now(outer_clock, &now));
  assert_int_equal(now.ns, 0);
  assert_int_equal(state_now(), TB_CLOCK_WAITING);
  assert_true(stats().rate == 0);
  assert_ok(tb_manual_source_set(inner, 0));
  for (int ms = 0; ms <= 200; ms += 100) {
    tick(ms - 5000, 1000 + ms);
    assert_ms(time_at(1000 + ms + 50), ms - 5000 + (ms == 200 ? 50 : 0));
  }
}

static void test_X4_errors_are_the_tick_minus_the_extrapolated_time(void **state)
{
  (void)state;
  three_ticks();
  assert_int_equal(stats().errors, 0);
  tick(310, 300); /* clocks were at an earlier time */
  assert_int_equal(stats().last_error.ns, 10 * MS);
  assert_int_equal(stats().errors, 1);
  double ahead = time_at(400) - 390;
  tick(390, 400);
  assert_true(llabs(stats().last_error.ns + llround(ahead * 1e6)) <= 1);
  assert_int_equal(stats().largest_error.ns, stats().last_error.ns);
  assert_true(llabs(2 * stats().mean_error.ns - 10 * MS - llround(ahead * 1e6)) <= 2);
  assert_int_equal(stats().held_ticks, 1);
  at(450);
  assert_ok(tb_manual_source_jump(inner, TIME_BEGIN, TB_JUMP_REASON_LOOP)); /* no error */
  assert_int_equal(stats().errors, 2);
}

static void test_C8_silence_is_a_stall_where_the_inner_source_has_a_limit(void **state)
{
  (void)state;
  three_ticks();
  at(1e6);
  assert_int_equal(state_now(), TB_CLOCK_RUNNING); /* a manual source has none */
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  assert_ok(tb_timeline_set_options(tb_source_timeline(inner), &options));
  for (int ms = 0; ms <= 300; ms += 100)
    tick(ms + 1000, 2e6 + ms);
  uint64_t stalls = counts().stalls;
  at(2e6 + 1299);
  assert_int_equal(state_now(), TB_CLOCK_RUNNING);
  at(2e6 + 1302);
  assert_int_equal(state_now(), TB_CLOCK_STALLED);
  assert_int_equal(counts().stalls, stalls + 1);
}

static void *sleep_until_270(void *argument)
{
  (void)argument;
  tb_time_t target = {TIME_BEGIN + 270 * MS, TB_TIME_ROS};
  assert_ok(tb_clock_sleep_until(outer_clock, target, NULL));
  assert_true(time_now() >= 270);
  return NULL;
}

/* Time that has run on to a deadline and is held then: the real clock wakes no waiter here. */
static void test_S7_held_time_wakes_due_waiters(void **state)
{
  (void)state;
  pthread_t sleeper;
  three_ticks();
  pthread_create(&sleeper, NULL, sleep_until_270, NULL);
  wait_for_waiters(outer_clock, 1);
  tick(210, 280);
  pthread_join(sleeper, NULL);
}

static void test_S7_a_pause_wakes_due_waiters(void **state)
{
  (void)state;
  pthread_t sleeper;
  three_ticks();
  pthread_create(&sleeper, NULL, sleep_until_270, NULL);
  wait_for_waiters(outer_clock, 1);
  at(280);
  tb_timeline_set_state(tb_source_timeline(inner), TB_CLOCK_PAUSED);
  pthread_join(sleeper, NULL);
  assert_ms(time_at(300), 280);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WRAPPED(test_X4_the_first_ticks_are_exact),
      WRAPPED(test_X4_time_runs_on_at_the_observed_rate),
      WRAPPED(test_X4_time_never_runs_past_the_bound),
      WRAPPED(test_X4_the_bound_is_an_option),
      WRAPPED(test_X4_ticks_below_the_time_hold_it_until_they_catch_up),
      WRAPPED(test_X4_held_time_runs_no_farther_than_the_bound),
      WRAPPED(test_X4_a_long_silence_restarts_the_rate),
      WRAPPED(test_X4_a_tick_below_the_last_is_a_jump_from_the_extrapolated_time),
      WRAPPED(test_J1_a_forward_step_is_measured_from_the_extrapolated_time),
      WRAPPED(test_X4_a_leap_restarts_the_rate),
      WRAPPED(test_X4_ticks_that_repeat_hold_time),
      WRAPPED(test_X4_a_tick_sent_twice_does_not_lose_the_rate),
      WRAPPED(test_X4_a_change_of_rate_is_followed_within_three_ticks),
      WRAPPED(test_X4_the_rate_is_never_above_what_an_anchor_may_have),
      WRAPPED(test_X4_one_late_tick_does_not_move_the_rate),
      WRAPPED(test_C2_zero_restarts),
      WRAPPED(test_X4_errors_are_the_tick_minus_the_extrapolated_time),
      WRAPPED(test_C8_silence_is_a_stall_where_the_inner_source_has_a_limit),
      WRAPPED(test_S7_held_time_wakes_due_waiters),
      WRAPPED(test_S7_a_pause_wakes_due_waiters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
