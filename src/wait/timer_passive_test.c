/* Passive timers (M7): no callback, a hook that is called once when they become ready. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/steady_clock.h>
#include <timebase/timer.h>

#include "clock/source.h"
#include "on_manual_source.h"
#include "wait/lane_check.h"

static void on_wake(tb_timer_t *timer, void *user)
{
  (void)timer;
  TRACE("%s ", (const char *)user);
}

static tb_timer_t *make(fixture_t *f, const char *name, int64_t period_ns, tb_timer_wake_t wake)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = period_ns;
  options.passive = true;
  options.wake = wake;
  options.user = (void *)name;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  return timer;
}

static void run(fixture_t *f, const char *expected)
{
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  assert_null(tb__timer_queue_check(f->queue));
  assert_string_equal(trace, expected);
  trace[0] = '\0';
}

static int64_t until_next(const tb_timer_t *timer)
{
  tb_duration_t until = {INT64_MIN};
  assert_ok(tb_timer_time_until_next(timer, &until));
  return until.ns;
}

static void advance(tb_timer_t *timer, int64_t scheduled_s, int64_t actual_s, uint64_t missed)
{
  tb_timer_info_t info;
  assert_ok(tb_timer_advance(timer, &info));
  assert_int_equal(info.scheduled.ns, scheduled_s * S);
  assert_int_equal(info.actual.ns, actual_s * S);
  assert_int_equal(info.missed, missed);
}

static void test_M7_a_passive_timer_is_ready_until_it_is_advanced(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, on_wake), *b = make(f, "b", 10 * S, on_wake);
  assert_status(tb_timer_call(a), TB_ERR_NOT_FOUND); /* not started */
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(b));
  assert_false(tb_timer_is_ready(a));
  run(f, "");
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  assert_true(tb_timer_is_ready(a)); /* before the run too */
  run(f, "a b ");
  run(f, ""); /* once */
  assert_true(tb_timer_is_ready(a));
  assert_int_equal(until_next(a), 0);
  advance(a, 110, 110, 0);
  assert_false(tb_timer_is_ready(a));
  assert_int_equal(until_next(a), 10 * S);
  assert_ok(tb_manual_source_set(f->source, 145 * S)); /* b was never advanced */
  run(f, "a ");
  assert_int_equal(until_next(a), -25 * S);
  advance(a, 120, 145, 2);
  advance(b, 110, 145, 3);
  assert_int_equal(until_next(a), 5 * S);
  assert_int_equal(until_next(b), 5 * S);
  assert_ok(tb_manual_source_set(f->source, 150 * S));
  run(f, "a b ");
}

static void test_M7_advancing_before_the_deadline_counts_from_it(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, on_wake);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_manual_source_set(f->source, 104 * S));
  assert_ok(tb_timer_call(a));
  assert_int_equal(until_next(a), 16 * S);
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  run(f, "");
  assert_ok(tb_manual_source_set(f->source, 120 * S));
  run(f, "a ");
}

static void advance_in_hook(tb_timer_t *timer, void *user)
{
  on_wake(timer, user);
  assert_ok(tb_timer_call(timer));
}

/* More than are woken under one lock, also where they are advanced at once. */
static void test_M7_many_are_woken_once_each_time(void **state)
{
  fixture_t *f = *state;
  enum { COUNT = 100 };
  tb_timer_t *timers[COUNT];
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (int i = 0; i < COUNT; i++) {
    timers[i] = make(f, "x", 10 * S, i % 2 ? advance_in_hook : on_wake);
    assert_ok(tb_timer_start(timers[i]));
  }
  for (int round = 1; round <= 3; round++) {
    uint32_t calls = 0;
    assert_ok(tb_manual_source_set(f->source, (100 + 10 * round) * S));
    assert_ok(tb_timer_queue_run_due(f->queue, &calls));
    assert_null(tb__timer_queue_check(f->queue));
    assert_int_equal(calls, COUNT);
    assert_int_equal(strlen(trace), 2 * COUNT);
    trace[0] = '\0';
    for (int i = 0; i < COUNT; i++)
      assert_int_equal(tb_timer_is_ready(timers[i]), !(i % 2));
    for (int i = 0; i < COUNT; i += 2)
      assert_ok(tb_timer_call(timers[i]));
  }
}

static void test_M7_a_backward_jump_makes_a_ready_timer_wait_again(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, on_wake), *b = make(f, "b", 10 * S, on_wake);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(b));
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  run(f, "a b ");
  advance(b, 110, 110, 0);
  assert_ok(tb_manual_source_set(f->source, 105 * S)); /* not before the start of a */
  assert_false(tb_timer_is_ready(a));
  assert_int_equal(until_next(a), 5 * S);
  assert_int_equal(until_next(b), 10 * S); /* its last call is in the future */
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  run(f, "a "); /* again */
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_int_equal(until_next(a), 10 * S);
  assert_ok(tb_manual_source_set(f->source, 60 * S));
  run(f, "a b ");
}

static void test_M7_a_clock_change_keeps_a_timer_ready(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other = NULL;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_manual_source_set(other, 1000 * S));
  tb_timer_t *a = make(f, "a", 10 * S, on_wake), *b = make(f, "b", 30 * S, on_wake);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(b));
  assert_ok(tb_manual_source_set(f->source, 112 * S));
  run(f, "a ");
  assert_ok(tb_clock_set_source(f->clock, other));
  assert_int_equal(until_next(a), -2 * S);
  assert_int_equal(until_next(b), 18 * S);
  advance(a, 998, 1000, 0);
  assert_int_equal(until_next(a), 8 * S);
  assert_ok(tb_manual_source_set(other, 1018 * S));
  run(f, "a b ");
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_source_destroy(other));
}

static tb_timer_t *victims[2];

static void stop_the_others(tb_timer_t *timer, void *user)
{
  on_wake(timer, user);
  assert_ok(tb_timer_stop_wait(victims[0], TB_MS(60000)));
  tb_timer_destroy(victims[1]);
  assert_status(tb_timer_stop_wait(timer, TB_NO_LIMIT), TB_ERR_DEADLOCK);
}

static void test_M5_a_stopped_timer_is_not_woken(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, stop_the_others);
  victims[0] = make(f, "b", 10 * S, on_wake);
  victims[1] = make(f, "c", 10 * S, on_wake);
  tb_timer_t *d = make(f, "d", 10 * S, on_wake);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(victims[0]));
  assert_ok(tb_timer_start(victims[1]));
  assert_ok(tb_timer_start(d));
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  run(f, "a d ");
  assert_status(tb_timer_call(victims[0]), TB_ERR_NOT_FOUND);
  assert_ok(tb_timer_start(victims[0])); /* and it may be started again */
  assert_ok(tb_manual_source_set(f->source, 120 * S));
  run(f, "b ");
}

static void test_M7_one_shots_and_deadlines_that_are_given(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.mode = TB_TIMER_ONE_SHOT_AT;
  options.at.ns = 110 * S;
  options.passive = true;
  options.wake = on_wake;
  options.user = (void *)"at";
  tb_timer_t *timer = NULL;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  run(f, "at ");
  assert_ok(tb_timer_start_at(timer, ((tb_time_t){130 * S, TB_TIME_ROS}))); /* without advancing */
  assert_false(tb_timer_is_ready(timer));
  assert_ok(tb_manual_source_set(f->source, 130 * S));
  run(f, "at ");
  advance(timer, 130, 130, 0);
  assert_false(tb_timer_is_running(timer));
  assert_ok(tb_timer_start_at(timer, ((tb_time_t){120 * S, TB_TIME_ROS}))); /* has passed */
  run(f, "at ");
  assert_ok(tb_manual_source_set(f->source, 90 * S)); /* keeps its time */
  assert_int_equal(until_next(timer), 30 * S);
  assert_ok(tb_manual_source_set(f->source, 120 * S));
  run(f, "at ");
  assert_status(tb_timer_start_at(timer, ((tb_time_t){0, TB_TIME_ROS})), TB_ERR_NOT_SET);
  assert_status(tb_timer_start_at(timer, ((tb_time_t){1, TB_TIME_SYSTEM})), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_timer_start_at(timer, ((tb_steady_time_t){1})), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_timer_start_at(make(f, "p", S, NULL), ((tb_time_t){1, TB_TIME_ROS})),
                TB_ERR_INVALID);
}

static void test_M7_passive_and_other_timers_share_a_queue(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = 10 * S;
  options.callback = on_timer;
  options.user = (void *)"call";
  tb_timer_t *calls = NULL, *silent = make(f, "silent", 5 * S, NULL);
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &calls));
  assert_ok(tb_timer_start(calls));
  assert_ok(tb_timer_start(make(f, "early", 7 * S, on_wake)));
  assert_ok(tb_timer_start(make(f, "late", 30 * S, on_wake)));
  assert_ok(tb_timer_start(silent));
  assert_ok(tb_manual_source_set(f->source, 112 * S));
  run(f, "early call@110/112 ");
  assert_true(tb_timer_is_ready(silent));
  options.passive = true; /* and a callback */
  assert_status(tb_timer_create(f->queue, f->clock, &options, &calls), TB_ERR_INVALID);
}

/* One that catches up has each of its periods, one at a time; none within one run. */
static void test_M7_one_that_catches_up_advances_by_one_period(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = 10 * S;
  options.missed_policy = TB_TIMER_CATCH_UP;
  options.passive = true;
  options.wake = advance_in_hook;
  options.user = (void *)"a";
  tb_timer_t *timer = NULL;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(f->source, 130 * S));
  run(f, "a ");
  run(f, "a ");
  run(f, "a ");
  run(f, "");
  assert_int_equal(until_next(timer), 10 * S);
}

static void on_steady_wake(tb_timer_t *timer, void *user)
{
  tb_steady_timer_info_t info;
  assert_ok(tb_timer_advance(timer, &info));
  assert_true(info.actual.ns >= info.scheduled.ns);
  atomic_fetch_add((_Atomic int *)user, 1);
}

static void test_M7_on_steady_time_with_a_thread(void **state)
{
  (void)state;
  tb_steady_clock_t *clock = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer = NULL;
  _Atomic int woken = 0;
  assert_ok(tb_steady_clock_create(&clock));
  assert_ok(tb_timer_queue_create(&queue));
  tb_steady_timer_options_t options = TB_STEADY_TIMER_OPTIONS_INIT;
  options.period = TB_MS(1);
  options.passive = true;
  options.wake = on_steady_wake;
  options.user = &woken;
  assert_ok(tb_timer_create(queue, clock, &options, &timer));
  assert_ok(tb_timer_queue_start_thread(queue));
  assert_ok(tb_timer_start(timer));
  while (atomic_load(&woken) < 5)
    sched_yield();
  assert_null(tb_timer_clock(timer));
  assert_ptr_equal(tb_timer_steady_clock(timer), clock);
  assert_ok(tb_timer_queue_destroy(queue));
  assert_ok(tb_steady_clock_destroy(clock));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_M7_a_passive_timer_is_ready_until_it_is_advanced),
      WITH_QUEUE(test_M7_advancing_before_the_deadline_counts_from_it),
      WITH_QUEUE(test_M7_many_are_woken_once_each_time),
      WITH_QUEUE(test_M7_a_backward_jump_makes_a_ready_timer_wait_again),
      WITH_QUEUE(test_M7_a_clock_change_keeps_a_timer_ready),
      WITH_QUEUE(test_M5_a_stopped_timer_is_not_woken),
      WITH_QUEUE(test_M7_one_shots_and_deadlines_that_are_given),
      WITH_QUEUE(test_M7_passive_and_other_timers_share_a_queue),
      WITH_QUEUE(test_M7_one_that_catches_up_advances_by_one_period),
      cmocka_unit_test(test_M7_on_steady_time_with_a_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
