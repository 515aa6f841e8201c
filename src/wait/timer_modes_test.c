/* One-shot timers, catching up, changes of period, and next deadlines. */
#include <poll.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/manual_source.h>
#include <timebase/timer.h>

#include "on_manual_source.h"

static tb_timer_options_t options_of(tb_timer_mode_t mode, int64_t seconds, const char *name)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.mode = mode;
  if (mode == TB_TIMER_ONE_SHOT_AT)
    options.at.ns = seconds * S;
  else
    options.period.ns = seconds * S;
  options.callback = on_timer;
  options.user = (void *)name;
  return options;
}

static tb_timer_t *timer_of(fixture_t *f, const tb_timer_options_t *options)
{
  tb_timer_t *timer = NULL;
  assert_ok(tb_timer_create(f->queue, f->clock, options, &timer));
  assert_ok(tb_timer_start(timer));
  return timer;
}

static tb_timer_t *started(fixture_t *f, tb_timer_mode_t mode, int64_t seconds, const char *name)
{
  tb_timer_options_t options = options_of(mode, seconds, name);
  return timer_of(f, &options);
}

static uint32_t run(fixture_t *f)
{
  uint32_t calls = 0;
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  return calls;
}

static uint32_t set(fixture_t *f, int64_t seconds)
{
  assert_ok(tb_manual_source_set(f->source, seconds * S));
  return run(f);
}

static bool readable(tb_timer_queue_t *queue)
{
  struct pollfd fd = {.fd = tb_timer_queue_fd(queue), .events = POLLIN};
  return poll(&fd, 1, 0) == 1;
}

static void test_M1_one_shot_is_called_once_for_each_start(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_t *timer = started(f, TB_TIMER_ONE_SHOT, 10, "a");
  assert_int_equal(set(f, 109), 0);
  assert_true(tb_timer_is_running(timer));
  assert_int_equal(set(f, 135), 1);
  assert_false(tb_timer_is_running(timer));
  assert_int_equal(set(f, 200), 0);
  assert_ok(tb_timer_start(timer));
  assert_int_equal(set(f, 210), 1);
  assert_string_equal(trace, "a@110/135 a@210/210 ");
}

static void test_M1_one_shot_at_a_time_and_one_that_has_passed(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  started(f, TB_TIMER_ONE_SHOT_AT, 150, "later");
  started(f, TB_TIMER_ONE_SHOT_AT, 90, "past");
  assert_true(readable(f->queue));
  assert_int_equal(run(f), 1);
  assert_int_equal(set(f, 149), 0);
  assert_int_equal(set(f, 150), 1);
  assert_string_equal(trace, "past@90/100 later@150/150 ");
}

static void test_M1_one_shot_at_a_time_is_checked(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timer;
  tb_timer_options_t options = options_of(TB_TIMER_ONE_SHOT_AT, 0, "a");
  assert_status(tb_timer_create(f->queue, f->clock, &options, &timer), TB_ERR_NOT_SET);
  options.at = (tb_time_t){S, TB_TIME_SYSTEM};
  assert_status(tb_timer_create(f->queue, f->clock, &options, &timer), TB_ERR_CLOCK_MISMATCH);
  options = options_of(TB_TIMER_ONE_SHOT, -1, "a");
  assert_status(tb_timer_create(f->queue, f->clock, &options, &timer), TB_ERR_INVALID);
  options = options_of((tb_timer_mode_t)7, 1, "a");
  assert_status(tb_timer_create(f->queue, f->clock, &options, &timer), TB_ERR_INVALID);
}

static void count_steady(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  assert_int_equal(info->scheduled.ns, 1);
  ++*(int *)user;
}

static void test_M1_one_shots_on_steady_and_system_time(void **state)
{
  fixture_t *f = *state;
  int calls = 0;
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_clock_options_t system_options = {TB_TIME_SYSTEM, NULL};
  tb_timer_t *timer, *wall;
  tb_steady_time_t steady_deadline;
  tb_time_t deadline;
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(&system_options, &system));
  tb_steady_timer_options_t options = TB_STEADY_TIMER_OPTIONS_INIT;
  options.mode = TB_TIMER_ONE_SHOT_AT;
  options.at.ns = 1;
  options.callback = count_steady;
  options.user = &calls;
  assert_ok(tb_timer_create(f->queue, steady, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_timer_next_deadline(timer, &steady_deadline));
  assert_int_equal(steady_deadline.ns, 1);
  assert_ok(tb_timer_queue_next_deadline(f->queue, steady, &steady_deadline));
  assert_status(tb_timer_next_deadline(timer, &deadline), TB_ERR_CLOCK_MISMATCH);
  tb_timer_options_t wall_options = options_of(TB_TIMER_ONE_SHOT_AT, 1, "wall");
  wall_options.at.kind = TB_TIME_SYSTEM;
  assert_ok(tb_timer_create(f->queue, system, &wall_options, &wall));
  assert_ok(tb_timer_start(wall));
  assert_int_equal(run(f), 2);
  assert_int_equal(calls, 1);
  assert_non_null(strstr(trace, "wall@1/"));
  assert_ok(tb_steady_clock_destroy(steady));
  assert_ok(tb_clock_destroy(system));
}

static void test_M2_equal_deadlines_of_two_clocks_run_by_start(void **state)
{
  fixture_t *f = *state;
  fixture_t other = *f;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &other.clock));
  set(f, 100);
  started(f, TB_TIMER_PERIODIC, 10, "a");
  started(&other, TB_TIMER_PERIODIC, 10, "b");
  started(f, TB_TIMER_PERIODIC, 10, "c");
  started(&other, TB_TIMER_PERIODIC, 10, "d");
  assert_int_equal(set(f, 110), 4);
  assert_string_equal(trace, "a@110/110 b@110/110 c@110/110 d@110/110 ");
  assert_ok(tb_clock_destroy(other.clock));
}

static void test_M3_catch_up_calls_once_for_each_period_in_order(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_options_t options = options_of(TB_TIMER_PERIODIC, 10, "a");
  options.missed_policy = TB_TIMER_CATCH_UP;
  timer_of(f, &options);
  started(f, TB_TIMER_PERIODIC, 25, "b");
  assert_int_equal(set(f, 135), 4);
  assert_string_equal(trace, "a@110/135 a@120/135 b@125/135 a@130/135 ");
  assert_false(readable(f->queue));
  assert_int_equal(set(f, 140), 1);
}

static void test_M3_catch_up_counts_what_is_over_its_share(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_options_t options = options_of(TB_TIMER_PERIODIC, 1, "a");
  options.missed_policy = TB_TIMER_CATCH_UP;
  options.catch_up_max = 2;
  timer_of(f, &options);
  assert_int_equal(set(f, 105), 2);
  assert_int_equal(run(f), 0); /* not a share for each run of one tick */
  assert_int_equal(set(f, 107), 2);
  assert_string_equal(trace, "a@101/105 a@102/105+3 a@106/107 a@107/107 ");
  trace[0] = '\0';
  options.catch_up_max = 0;
  options.period.ns = 1; /* a period far below the tick: never a spin */
  timer_of(f, &options);
  assert_int_equal(set(f, 108), 1 + TB_TIMER_CATCH_UP_MAX);
}

static void test_M4_backward_jump_one_shot_waits_its_delay_again(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  started(f, TB_TIMER_ONE_SHOT, 10, "a");
  assert_int_equal(set(f, 50), 0);
  assert_int_equal(set(f, 59), 0);
  assert_int_equal(set(f, 60), 1);
  assert_string_equal(trace, "a@60/60 ");
}

static void test_M4_backward_jump_one_shot_at_a_time_keeps_it(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  started(f, TB_TIMER_ONE_SHOT_AT, 110, "a");
  assert_int_equal(set(f, 50), 0);
  assert_int_equal(set(f, 0), 0); /* reset, and started again */
  assert_int_equal(set(f, 20), 0);
  assert_int_equal(set(f, 109), 0);
  assert_int_equal(set(f, 110), 1);
}

static void test_M4_one_shot_at_a_time_before_the_first_tick_keeps_it(void **state)
{
  fixture_t *f = *state;
  tb_time_t deadline;
  tb_timer_t *timer = started(f, TB_TIMER_ONE_SHOT_AT, 110, "a");
  started(f, TB_TIMER_ONE_SHOT_AT, 90, "past");
  started(f, TB_TIMER_ONE_SHOT, 10, "b");
  assert_int_equal(set(f, 101), 1);
  assert_ok(tb_timer_next_deadline(timer, &deadline));
  assert_int_equal(deadline.ns, 110 * S);
  assert_int_equal(set(f, 111), 2);
  assert_string_equal(trace, "past@90/101 a@110/111 b@111/111 ");
}

static void test_M4_clock_change_keeps_the_wait_for_a_time(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other, *third;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_create(&third));
  assert_ok(tb_manual_source_set(other, 500 * S));
  set(f, 100);
  started(f, TB_TIMER_ONE_SHOT_AT, 110, "a");
  assert_ok(tb_clock_set_source(f->clock, other)); /* 10 s are left */
  assert_ok(tb_manual_source_set(other, 505 * S)); /* 5 s */
  assert_int_equal(run(f), 0);
  assert_ok(tb_clock_set_source(f->clock, third)); /* not started: counts from its first tick */
  assert_ok(tb_manual_source_set(third, 1000 * S));
  assert_ok(tb_manual_source_set(third, 1005 * S - 1));
  assert_int_equal(run(f), 0);
  assert_ok(tb_manual_source_set(third, 1005 * S));
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@1005/1005 ");
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_source_destroy(other));
  assert_ok(tb_source_destroy(third));
}

static void jump_back(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, (char[]){"jump"});
  assert_ok(tb_manual_source_set(user, 95 * S));
}

static void test_M4_a_jump_back_in_a_run_prevents_the_calls_not_begun(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_options_t options = options_of(TB_TIMER_ONE_SHOT, 5, "");
  options.callback = jump_back;
  options.user = f->source;
  timer_of(f, &options);
  started(f, TB_TIMER_PERIODIC, 6, "a");
  started(f, TB_TIMER_ONE_SHOT, 7, "b");
  assert_int_equal(set(f, 120), 1);
  assert_int_equal(set(f, 101), 1);
  assert_int_equal(set(f, 102), 1);
  assert_string_equal(trace, "jump@105/120 a@101/101 b@102/102 ");
}

static void test_M5_set_period_takes_effect_with_the_next_deadline(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_t *timer = started(f, TB_TIMER_PERIODIC, 10, "a");
  assert_ok(tb_timer_set_period(timer, (tb_duration_t){3 * S}));
  assert_int_equal(set(f, 109), 0);
  assert_int_equal(set(f, 110), 1);
  assert_int_equal(set(f, 113), 1);
  assert_ok(tb_timer_set_period(timer, (tb_duration_t){S}));
  assert_ok(tb_timer_start(timer)); /* at once */
  assert_int_equal(set(f, 114), 1);
  assert_string_equal(trace, "a@110/110 a@113/113 a@114/114 ");
  assert_status(tb_timer_set_period(timer, (tb_duration_t){-1}), TB_ERR_INVALID);
  timer = started(f, TB_TIMER_ONE_SHOT_AT, 500, "at");
  assert_status(tb_timer_set_period(timer, (tb_duration_t){S}), TB_ERR_INVALID);
}

static void restart_with_period(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  assert_status(tb_timer_stop_wait(timer, TB_NO_LIMIT), TB_ERR_DEADLOCK);
  assert_ok(tb_timer_set_period(timer, (tb_duration_t){2 * S}));
  assert_ok(tb_timer_start(timer));
}

static void stop_and_destroy(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  assert_ok(tb_timer_stop(timer));
  tb_timer_destroy(timer);
}

static void test_M5_one_shots_change_in_their_own_callback(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_options_t options = options_of(TB_TIMER_ONE_SHOT, 10, "again");
  options.callback = restart_with_period;
  timer_of(f, &options);
  options = options_of(TB_TIMER_ONE_SHOT_AT, 110, "gone");
  options.callback = stop_and_destroy;
  timer_of(f, &options);
  assert_int_equal(set(f, 110), 2);
  assert_int_equal(set(f, 112), 1);
  assert_int_equal(set(f, 114), 1);
  assert_string_equal(trace, "again@110/110 gone@110/110 again@112/112 again@114/114 ");
}

static void restart_self(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  assert_ok(tb_timer_start(timer));
  assert_true(tb_timer_is_running(timer));
}

static void test_M5_what_is_started_due_in_a_run_waits_for_the_next(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_options_t options = options_of(TB_TIMER_ONE_SHOT_AT, 90, "again");
  options.callback = restart_self;
  tb_timer_t *again = timer_of(f, &options);
  started(f, TB_TIMER_ONE_SHOT_AT, 95, "a");
  assert_int_equal(run(f), 2);
  assert_true(readable(f->queue));
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "again@90/100 a@95/100 again@90/100 ");
  tb_timer_destroy(again);
  assert_int_equal(run(f), 0);
}

static void test_M6_next_deadline_of_a_timer_and_of_a_clock(void **state)
{
  fixture_t *f = *state;
  tb_time_t deadline;
  assert_status(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline), TB_ERR_NOT_FOUND);
  tb_timer_t *slow = started(f, TB_TIMER_PERIODIC, 30, "slow");
  assert_status(tb_timer_next_deadline(slow, &deadline), TB_ERR_NOT_SET);
  assert_status(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline), TB_ERR_NOT_SET);
  set(f, 100);
  tb_timer_t *fast = started(f, TB_TIMER_PERIODIC, 10, "fast");
  assert_ok(tb_timer_next_deadline(slow, &deadline));
  assert_int_equal(deadline.ns, 130 * S);
  assert_ok(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline));
  assert_int_equal(deadline.ns, 110 * S);
  assert_int_equal(deadline.kind, TB_TIME_ROS);
  assert_ok(tb_timer_stop_wait(fast, TB_NO_LIMIT)); /* no call runs: at once */
  assert_status(tb_timer_next_deadline(fast, &deadline), TB_ERR_NOT_FOUND);
  assert_ok(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline));
  assert_int_equal(deadline.ns, 130 * S);
}

#define MANY 60

/* Their places in the heap are repositioned later: when the first is stale, all are. */
static void test_M6_next_deadline_where_many_were_stopped_and_started_again(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timers[MANY];
  tb_time_t deadline;
  set(f, 1);
  for (int i = 0; i < MANY; i++)
    timers[i] = started(f, TB_TIMER_ONE_SHOT, 10, "early");
  for (int i = MANY; i-- > 0;) {
    assert_ok(tb_timer_stop(timers[i]));
    if (i % 4 == 0) continue;
    assert_ok(tb_timer_set_period(timers[i], (tb_duration_t){(100 - i) * S}));
    assert_ok(tb_timer_start(timers[i]));
  }
  assert_ok(tb_manual_source_advance_to_next(f->source));
  assert_ok(tb_now(f->clock, &deadline));
  assert_int_equal(deadline.ns, (1 + 100 - 59) * S);
  assert_int_equal(run(f), 1);
  for (int i = 0; i < MANY; i++)
    assert_ok(tb_timer_stop(timers[i]));
  assert_status(tb_manual_source_advance_to_next(f->source), TB_ERR_NOT_FOUND);
}

static void test_M6_queue_next_deadline_where_many_were_started_again(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timers[MANY];
  tb_time_t deadline;
  set(f, 1);
  for (int i = 0; i < MANY; i++)
    timers[i] = started(f, TB_TIMER_ONE_SHOT, 10, "a");
  for (int i = MANY; i-- > 0;) {
    assert_ok(tb_timer_set_period(timers[i], (tb_duration_t){(100 - i) * S}));
    assert_ok(tb_timer_start(timers[i]));
  }
  assert_ok(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline));
  assert_int_equal(deadline.ns, (1 + 100 - 59) * S);
  for (int i = 0; i < MANY; i++)
    assert_ok(tb_timer_stop(timers[i]));
  assert_status(tb_timer_queue_next_deadline(f->queue, f->clock, &deadline), TB_ERR_NOT_FOUND);
}

/* All of them are wrong at the front when the run begins. */
static void test_M2_a_run_finds_what_is_due_after_many_restarts(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timers[MANY];
  set(f, 1);
  for (int i = 0; i < MANY; i++)
    timers[i] = started(f, TB_TIMER_ONE_SHOT, 10, "late");
  started(f, TB_TIMER_ONE_SHOT, 20, "due");
  for (int i = MANY; i-- > 0;) {
    assert_ok(tb_timer_set_period(timers[i], (tb_duration_t){100 * S}));
    assert_ok(tb_timer_start(timers[i]));
  }
  assert_int_equal(set(f, 20), 0);
  assert_int_equal(set(f, 21), 1);
  assert_string_equal(trace, "due@21/21 ");
}

static void test_M6_storage_is_used_again(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timers[1000];
  set(f, 100);
  for (int i = 0; i < 1000; i++)
    timers[i] = started(f, TB_TIMER_PERIODIC, 10 + i % 7, "");
  tb_timer_t *last = timers[999];
  for (int i = 0; i < 1000; i++)
    tb_timer_destroy(timers[i]);
  assert_ptr_equal(started(f, TB_TIMER_PERIODIC, 10, "a"), last);
  assert_int_equal(set(f, 110), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_M1_one_shot_is_called_once_for_each_start),
      WITH_QUEUE(test_M1_one_shot_at_a_time_and_one_that_has_passed),
      WITH_QUEUE(test_M1_one_shot_at_a_time_is_checked),
      WITH_QUEUE(test_M1_one_shots_on_steady_and_system_time),
      WITH_QUEUE(test_M2_equal_deadlines_of_two_clocks_run_by_start),
      WITH_QUEUE(test_M3_catch_up_calls_once_for_each_period_in_order),
      WITH_QUEUE(test_M3_catch_up_counts_what_is_over_its_share),
      WITH_QUEUE(test_M4_backward_jump_one_shot_waits_its_delay_again),
      WITH_QUEUE(test_M4_backward_jump_one_shot_at_a_time_keeps_it),
      WITH_QUEUE(test_M4_one_shot_at_a_time_before_the_first_tick_keeps_it),
      WITH_QUEUE(test_M4_clock_change_keeps_the_wait_for_a_time),
      WITH_QUEUE(test_M4_a_jump_back_in_a_run_prevents_the_calls_not_begun),
      WITH_QUEUE(test_M5_set_period_takes_effect_with_the_next_deadline),
      WITH_QUEUE(test_M5_one_shots_change_in_their_own_callback),
      WITH_QUEUE(test_M5_what_is_started_due_in_a_run_waits_for_the_next),
      WITH_QUEUE(test_M6_next_deadline_of_a_timer_and_of_a_clock),
      WITH_QUEUE(test_M6_next_deadline_where_many_were_stopped_and_started_again),
      WITH_QUEUE(test_M6_queue_next_deadline_where_many_were_started_again),
      WITH_QUEUE(test_M2_a_run_finds_what_is_due_after_many_restarts),
      WITH_QUEUE(test_M6_storage_is_used_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
