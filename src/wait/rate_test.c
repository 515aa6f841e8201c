#include <pthread.h>
#include <timebase/cancel_token.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>

#include "test.h"
#include "waiting.h"

#define S TB_NS_PER_S

typedef struct fixture {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_rate_t *rate; /* 10 s, from 100 s on */
} fixture_t;

static void set(fixture_t *f, int64_t seconds)
{
  assert_ok(tb_manual_source_set(f->source, seconds * S));
}

static int setup(void **state)
{
  static fixture_t fixture;
  assert_ok(tb_manual_source_create(&fixture.source));
  tb_clock_options_t options = {TB_TIME_ROS, fixture.source};
  assert_ok(tb_clock_create(&options, &fixture.clock));
  set(&fixture, 100);
  assert_ok(tb_rate_create(fixture.clock, ((tb_duration_t){10 * S}), &fixture.rate));
  *state = &fixture;
  return 0;
}

static int teardown(void **state)
{
  fixture_t *f = *state;
  tb_rate_destroy(f->rate);
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  return 0;
}

typedef struct pacing {
  tb_rate_t *rate;
  tb_wait_options_t options;
  tb_rate_result_t result;
  pthread_t thread;
  tb_status_t status;
} pacing_t;

static void *pace_thread(void *argument)
{
  pacing_t *p = argument;
  p->status = tb_rate_sleep(p->rate, &p->options, &p->result);
  return NULL;
}

/* Returns when the call waits. */
static pacing_t *start_with(fixture_t *f, tb_wait_options_t options)
{
  static pacing_t p;
  p = (pacing_t){.rate = f->rate, .options = options};
  pthread_create(&p.thread, NULL, pace_thread, &p);
  wait_for_waiters(f->clock, 1);
  return &p;
}

static pacing_t *start(fixture_t *f, uint32_t flags)
{
  return start_with(f, (tb_wait_options_t){.flags = flags});
}

static void finish(pacing_t *p, int64_t late_s, bool reanchored)
{
  pthread_join(p->thread, NULL);
  assert_ok(p->status);
  assert_int_equal(p->result.late_by.ns, late_s * S);
  assert_int_equal(p->result.late, late_s > 0);
  assert_int_equal(p->result.reanchored, reanchored);
}

static void finish_failed(pacing_t *p, tb_status_t expected)
{
  pthread_join(p->thread, NULL);
  assert_status(p->status, expected);
}

/* A call that waits, to be woken at `seconds` and not a nanosecond before. */
static void expect_end_at(fixture_t *f, int64_t seconds, int64_t late_s, bool reanchored)
{
  pacing_t *p = start(f, 0);
  assert_ok(tb_manual_source_set(f->source, seconds * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, seconds);
  finish(p, late_s, reanchored);
}

static void expect_at_once(fixture_t *f, int64_t late_s, bool reanchored)
{
  tb_rate_result_t result;
  tb_wait_options_t options = {.limit = {S}};
  assert_ok(tb_rate_sleep(f->rate, &options, &result));
  assert_int_equal(result.late_by.ns, late_s * S);
  assert_int_equal(result.late, late_s > 0);
  assert_int_equal(result.reanchored, reanchored);
  assert_int_equal(result.missed, late_s > 10 ? late_s / 10 : 0); /* of 10 s each */
}

static void test_S9_next_is_previous_plus_period(void **state)
{
  fixture_t *f = *state;
  expect_end_at(f, 110, 0, false);
  set(f, 113);
  expect_end_at(f, 120, 0, false);
  pacing_t *p = start(f, 0);
  set(f, 134); /* a coarse tick: over 130, but the call was in time */
  finish(p, 0, false);
  expect_end_at(f, 140, 0, false);
}

static void test_S9_first_period_starts_at_the_first_tick(void **state)
{
  fixture_t *f = *state;
  set(f, 0);
  tb_rate_destroy(f->rate);
  assert_ok(tb_rate_create(f->clock, ((tb_duration_t){10 * S}), &f->rate));
  pacing_t *p = start(f, 0);
  set(f, 500);
  assert_ok(tb_manual_source_set(f->source, 510 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 510);
  finish(p, 0, false);
  expect_end_at(f, 520, 0, false);
}

static void test_S9_says_when_late_and_by_how_much(void **state)
{
  fixture_t *f = *state;
  set(f, 113);
  expect_at_once(f, 3, false);
  expect_end_at(f, 120, 0, false);
  set(f, 130);
  expect_at_once(f, 0, false);
}

static void test_S9_more_than_one_period_late_counts_from_now(void **state)
{
  fixture_t *f = *state;
  set(f, 121);
  expect_at_once(f, 11, true);
  expect_end_at(f, 131, 0, false);
  set(f, 180); /* the call for 141 missed those for 151, 161 and 171 */
  expect_at_once(f, 39, true);
}

static void test_S9_one_period_late_is_not_more_than_one(void **state)
{
  fixture_t *f = *state;
  set(f, 120);
  expect_at_once(f, 10, false);
  pacing_t *p = start(f, 0); /* due at 120, but it would be the second return at once */
  set(f, 121);
  finish(p, 0, false);
  expect_end_at(f, 130, 0, false);
}

static void test_S9_backward_jump_counts_from_the_new_time(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, 0);
  set(f, 50);
  assert_ok(tb_manual_source_set(f->source, 60 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 60);
  finish(p, 0, true);
  set(f, 63);
  expect_end_at(f, 70, 0, false); /* the jump counts once */
  set(f, 20);                     /* between two calls */
  set(f, 23);
  expect_end_at(f, 33, 0, true);
  set(f, 42);
  set(f, 34); /* back, but not to before the last end */
  expect_end_at(f, 44, 0, true);
  expect_end_at(f, 54, 0, false);
}

static void test_S9_reset_of_time_counts_from_the_next_start(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, 0);
  set(f, 0);
  set(f, 1000);
  assert_ok(tb_manual_source_set(f->source, 1010 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 1010);
  finish(p, 0, true);
}

static void test_S9_clock_change_counts_from_the_new_time(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 7000 * S));
  set(f, 105);
  pacing_t *p = start(f, 0);
  assert_ok(tb_clock_set_source(f->clock, other));
  assert_ok(tb_manual_source_set(other, 7010 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_manual_source_set(other, 7010 * S));
  finish(p, 0, true);
  assert_ok(tb_clock_set_source(f->clock, f->source)); /* between two calls */
  expect_end_at(f, 115, 0, true);
  p = start(f, 0);
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* to system time, and back */
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  set(f, 125);
  finish(p, 0, true);
  assert_ok(tb_source_destroy(other));
}

static void test_S3_flags_fail_a_rate(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, TB_WAIT_FAIL_ON_BACKWARD);
  p->result.late_by.ns = 77;
  set(f, 90);
  finish_failed(p, TB_ERR_JUMP_BACKWARD);
  assert_int_equal(p->result.late_by.ns, 77); /* untouched */
  expect_end_at(f, 100, 0, true);
  tb_wait_options_t forward = {.flags = TB_WAIT_FAIL_ON_FORWARD};
  assert_status(tb_rate_sleep(f->rate, &forward, NULL), TB_ERR_INVALID);
  p = start(f, TB_WAIT_FAIL_ON_CLOCK_CHANGE);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish_failed(p, TB_ERR_CLOCK_CHANGED);
}

static void test_S5_a_wait_that_fails_keeps_its_period(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  tb_wait_options_t options = {.limit = {1000}, .token = token};
  assert_status(tb_rate_sleep(f->rate, &options, NULL), TB_ERR_TIMEOUT);
  tb_cancel_token_cancel(token);
  assert_status(tb_rate_sleep(f->rate, &options, NULL), TB_ERR_CANCELLED);
  set(f, 120);
  assert_status(tb_rate_sleep(f->rate, &options, NULL), TB_ERR_CANCELLED);
  set(f, 108);
  expect_end_at(f, 118, 0, true);
  assert_status(tb_rate_sleep(f->rate, &options, NULL), TB_ERR_CANCELLED);
  expect_end_at(f, 128, 0, false);
  assert_ok(tb_cancel_token_destroy(token));
}

static void expect_timeout(fixture_t *f)
{
  tb_wait_options_t options = {.limit = {1}};
  tb_rate_result_t result = {.late_by = {-1}};
  assert_status(tb_rate_sleep(f->rate, &options, &result), TB_ERR_TIMEOUT);
  assert_int_equal(result.late_by.ns, -1); /* untouched */
}

static void test_S9_a_limit_that_passes_after_a_jump_keeps_that_periods_restarted(void **state)
{
  fixture_t *f = *state;
  set(f, 50);
  expect_timeout(f);
  expect_timeout(f);
  expect_end_at(f, 60, 0, true);
  expect_end_at(f, 70, 0, false);
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 1000 * S));
  assert_ok(tb_clock_set_source(f->clock, other));
  expect_timeout(f);
  assert_ok(tb_clock_set_source(f->clock, f->source)); /* 70 */
  expect_timeout(f);
  expect_end_at(f, 80, 0, true);
  expect_end_at(f, 90, 0, false);
  assert_ok(tb_source_destroy(other));
}

static void test_S9_a_cancelled_wait_keeps_a_jump_that_came_in_it(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  pacing_t *p = start_with(f, (tb_wait_options_t){.token = token});
  set(f, 20);
  tb_cancel_token_cancel(token);
  finish_failed(p, TB_ERR_CANCELLED);
  expect_end_at(f, 30, 0, true);
  expect_end_at(f, 40, 0, false);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_S3_a_wait_that_a_flag_fails_keeps_the_jump_before_it(void **state)
{
  fixture_t *f = *state;
  set(f, 50);
  pacing_t *p = start(f, TB_WAIT_FAIL_ON_ANY & ~TB_WAIT_FAIL_ON_FORWARD);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish_failed(p, TB_ERR_CLOCK_CHANGED);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  expect_end_at(f, 60, 0, true);
  set(f, 50);
  p = start_with(f, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_FORWARD, .forward_min = {S}});
  set(f, 55);
  finish_failed(p, TB_ERR_JUMP_FORWARD);
  expect_end_at(f, 60, 0, true);
  expect_end_at(f, 70, 0, false);
}

static void test_S9_a_wait_that_fails_keeps_how_late_it_was(void **state)
{
  fixture_t *f = *state;
  set(f, 113);
  expect_at_once(f, 3, false);
  set(f, 124);
  expect_timeout(f); /* 4 s late, but not at once again */
  pacing_t *p = start(f, 0);
  set(f, 125);
  finish(p, 4, false);
  set(f, 133);
  expect_at_once(f, 3, false);
  set(f, 144);
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  p = start_with(f, (tb_wait_options_t){.token = token});
  set(f, 50); /* the period that it was late for is no more */
  tb_cancel_token_cancel(token);
  finish_failed(p, TB_ERR_CANCELLED);
  expect_end_at(f, 60, 4, true);
  expect_end_at(f, 70, 0, false);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_S9_reset_has_nothing_left_to_report(void **state)
{
  fixture_t *f = *state;
  set(f, 50);
  expect_timeout(f);
  assert_ok(tb_rate_reset(f->rate));
  expect_end_at(f, 60, 0, false);
}

/* rclpy test_rate.py: test_destroy_wakes_rate. */
static void test_L1_destroying_a_rate_ends_the_wait_of_another_thread(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, 0);
  tb_rate_destroy(f->rate); /* returns at once: it may be a jump callback that calls it */
  finish_failed(p, TB_ERR_CLOSED);
  assert_ok(tb_rate_create(f->clock, ((tb_duration_t){10 * S}), &f->rate));
  expect_end_at(f, 110, 0, false);
}

static void expect_closed_when_destroyed(tb_clock_t *clock)
{
  pacing_t p = {0};
  assert_ok(tb_clock_rate_create(clock, ((tb_duration_t){INT64_C(1000000) * S}), &p.rate));
  pthread_create(&p.thread, NULL, pace_thread, &p);
  wait_for_waiters(clock, 1);
  tb_rate_destroy(p.rate);
  finish_failed(&p, TB_ERR_CLOSED);
  assert_int_equal(waiters_on(clock), 0);
}

static void test_L1_destroying_a_rate_ends_its_wait_on_every_kind_of_clock(void **state)
{
  fixture_t *f = *state;
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(&options, &system));
  expect_closed_when_destroyed(system);
  expect_closed_when_destroyed(&steady->core);
  expect_closed_when_destroyed(f->clock);
  set(f, 0); /* not started */
  expect_closed_when_destroyed(f->clock);
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_steady_clock_destroy(steady));
}

static void destroy_rate(const tb_jump_t *jump, void *user)
{
  (void)jump;
  tb_rate_destroy(user);
}

static void test_L1_a_jump_callback_destroys_a_rate_that_a_thread_waits_for(void **state)
{
  fixture_t *f = *state;
  for (int in_after = 0; in_after < 2; in_after++) {
    pacing_t p = {0};
    tb_jump_handler_t *handler;
    set(f, 100);
    assert_ok(tb_rate_create(f->clock, ((tb_duration_t){10 * S}), &p.rate));
    tb_jump_handler_options_t options = {.threshold = {.min_backward = {-1}}, .user = p.rate};
    *(in_after ? &options.after : &options.before) = destroy_rate;
    assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
    pthread_create(&p.thread, NULL, pace_thread, &p);
    wait_for_waiters(f->clock, 1);
    set(f, 50);
    finish_failed(&p, TB_ERR_CLOSED);
    tb_jump_handler_destroy(handler);
  }
}

/* However the late ends fall: never two returns at once on one time. */
static void test_S9_a_rate_faster_than_the_clock_blocks_until_the_next_tick(void **state)
{
  fixture_t *f = *state;
  int64_t periods_ns[] = {1, S - 1, S, S + 1, S / 2, S / 3};
  for (size_t i = 0; i < sizeof periods_ns / sizeof *periods_ns; i++) {
    tb_wait_options_t options = {.limit = {TB_NS_PER_MS}};
    tb_rate_t *rate;
    assert_ok(tb_rate_create(f->clock, ((tb_duration_t){periods_ns[i]}), &rate));
    tb_time_t now;
    assert_ok(tb_now(f->clock, &now));
    for (int tick = 1; tick <= 5; tick++) {
      assert_ok(tb_manual_source_set(f->source, now.ns + tick * S));
      int at_once = 0;
      while (at_once < 3 && tb_rate_sleep(rate, &options, NULL) == TB_OK)
        at_once++;
      assert_true(at_once <= 1);
    }
    tb_rate_destroy(rate);
  }
}

static void test_S9_reset_starts_a_new_first_period(void **state)
{
  fixture_t *f = *state;
  set(f, 117);
  assert_ok(tb_rate_reset(f->rate));
  expect_end_at(f, 127, 0, false);
}

static void test_S9_every_kind_of_clock_and_never_early(void **state)
{
  (void)state;
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_rate_t *rate;
  tb_steady_time_t begin, end;
  tb_duration_t period = {TB_NS_PER_MS};
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(&options, &system));
  for (int i = 0; i < 2; i++) {
    assert_ok(tb_now(steady, &begin));
    assert_ok(i ? tb_rate_create(steady, period, &rate) : tb_rate_create(system, period, &rate));
    for (int k = 0; k < 3; k++)
      assert_ok(tb_rate_sleep(rate, NULL, NULL));
    assert_ok(tb_now(steady, &end));
    assert_true(end.ns - begin.ns >= 3 * period.ns);
    tb_rate_destroy(rate);
  }
  tb_rate_result_t result = {0};
  tb_wait_options_t limited = {.limit = {1000}};
  assert_ok(tb_rate_create(steady, ((tb_duration_t){INT64_MAX}), &rate));
  assert_status(tb_rate_sleep(rate, &limited, &result), TB_ERR_TIMEOUT);
  tb_rate_destroy(rate);
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_steady_clock_destroy(steady));
}

static void test_S9_bad_calls_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_rate_t *rate = NULL;
  assert_status(tb_rate_create(f->clock, ((tb_duration_t){0}), &rate), TB_ERR_INVALID);
  assert_status(tb_rate_create((tb_clock_t *)NULL, ((tb_duration_t){1}), &rate), TB_ERR_INVALID);
  assert_null(rate);
  assert_status(tb_rate_sleep(NULL, NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_rate_reset(NULL), TB_ERR_INVALID);
  tb_rate_destroy(NULL);
  pacing_t *p = start(f, 0);
  assert_status(tb_rate_sleep(f->rate, NULL, NULL), TB_ERR_BUSY);
  assert_status(tb_rate_reset(f->rate), TB_ERR_BUSY);
  set(f, 110);
  finish(p, 0, false);
}

static void test_L1_destroying_its_clock_ends_a_rate(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, 0);
  assert_ok(tb_clock_destroy(f->clock));
  finish_failed(p, TB_ERR_CLOSED);
  assert_status(tb_rate_sleep(f->rate, NULL, NULL), TB_ERR_CLOSED);
  assert_status(tb_rate_reset(f->rate), TB_ERR_CLOSED);
  assert_ok(tb_clock_create(NULL, &f->clock));
}

static void test_X2_advance_to_next_stops_at_the_end_of_a_period(void **state)
{
  fixture_t *f = *state;
  pacing_t *p = start(f, 0);
  assert_ok(tb_manual_source_advance_to_next(f->source));
  finish(p, 0, false);
  tb_time_t now;
  assert_ok(tb_now(f->clock, &now));
  assert_int_equal(now.ns, 110 * S);
}

#define WITH_RATE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void test_S9_a_rate_of_a_frequency(void **state)
{
  fixture_t *f = *state;
  tb_rate_t *rate = NULL;
  tb_duration_t period = {7};
  tb_steady_clock_t *steady = NULL;
  assert_ok(tb_rate_period(f->rate, &period));
  assert_int_equal(period.ns, 10 * S);
  assert_ok(tb_rate_create_hz(f->clock, 3, &rate));
  assert_ok(tb_rate_period(rate, &period));
  assert_int_equal(period.ns, 333333333);
  tb_rate_destroy(rate);
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_rate_create_hz(steady, 1000, &rate));
  assert_ok(tb_rate_sleep(rate, NULL, NULL));
  tb_rate_destroy(rate);
  assert_status(tb_rate_create_hz(steady, 0, &rate), TB_ERR_INVALID);
  assert_status(tb_rate_create_hz(f->clock, 1e12, &rate), TB_ERR_RANGE);
  assert_int_equal(tb_clock_kind(f->clock), TB_TIME_ROS);
  assert_ok(tb_steady_clock_destroy(steady));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_RATE(test_S9_a_rate_of_a_frequency),
      WITH_RATE(test_S9_next_is_previous_plus_period),
      WITH_RATE(test_S9_first_period_starts_at_the_first_tick),
      WITH_RATE(test_S9_says_when_late_and_by_how_much),
      WITH_RATE(test_S9_more_than_one_period_late_counts_from_now),
      WITH_RATE(test_S9_one_period_late_is_not_more_than_one),
      WITH_RATE(test_S9_backward_jump_counts_from_the_new_time),
      WITH_RATE(test_S9_reset_of_time_counts_from_the_next_start),
      WITH_RATE(test_S9_clock_change_counts_from_the_new_time),
      WITH_RATE(test_S3_flags_fail_a_rate),
      WITH_RATE(test_S5_a_wait_that_fails_keeps_its_period),
      WITH_RATE(test_S9_a_limit_that_passes_after_a_jump_keeps_that_periods_restarted),
      WITH_RATE(test_S9_a_cancelled_wait_keeps_a_jump_that_came_in_it),
      WITH_RATE(test_S3_a_wait_that_a_flag_fails_keeps_the_jump_before_it),
      WITH_RATE(test_S9_a_wait_that_fails_keeps_how_late_it_was),
      WITH_RATE(test_S9_reset_has_nothing_left_to_report),
      WITH_RATE(test_L1_destroying_a_rate_ends_the_wait_of_another_thread),
      WITH_RATE(test_L1_destroying_a_rate_ends_its_wait_on_every_kind_of_clock),
      WITH_RATE(test_L1_a_jump_callback_destroys_a_rate_that_a_thread_waits_for),
      WITH_RATE(test_S9_a_rate_faster_than_the_clock_blocks_until_the_next_tick),
      WITH_RATE(test_S9_reset_starts_a_new_first_period),
      cmocka_unit_test(test_S9_every_kind_of_clock_and_never_early),
      WITH_RATE(test_S9_bad_calls_are_refused),
      WITH_RATE(test_L1_destroying_its_clock_ends_a_rate),
      WITH_RATE(test_X2_advance_to_next_stops_at_the_end_of_a_period),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
