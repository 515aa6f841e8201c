#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/timer.h>

#include "on_manual_source.h"
#include "platform/time.h"

static tb_timer_options_t options_of(int64_t period_ns, tb_timer_callback_t callback, void *user)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = period_ns;
  options.callback = callback;
  options.user = user;
  return options;
}

static tb_timer_t *timer_on(fixture_t *f, const char *name, int64_t period_s)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = options_of(period_s * S, on_timer, (void *)name);
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  return timer;
}

static bool readable(tb_timer_queue_t *queue)
{
  struct pollfd fd = {.fd = tb_timer_queue_fd(queue), .events = POLLIN};
  return poll(&fd, 1, 0) == 1;
}

static uint32_t run(fixture_t *f)
{
  uint32_t calls = 0;
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  return calls;
}

static void set(fixture_t *f, int64_t seconds)
{
  assert_ok(tb_manual_source_set(f->source, seconds * S));
}

static void test_M1_callback_gets_scheduled_and_actual_time_and_epoch(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 112);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@110/112 ");
}

static void remember_steady(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  *(tb_steady_timer_info_t *)user = *info;
}

static void wait_readable(tb_timer_queue_t *queue)
{
  struct pollfd fd = {.fd = tb_timer_queue_fd(queue), .events = POLLIN};
  assert_int_equal(poll(&fd, 1, 60000), 1);
}

static void test_M1_timers_run_on_steady_and_system_time(void **state)
{
  fixture_t *f = *state;
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_clock_options_t clock_options = {TB_TIME_SYSTEM, NULL};
  tb_steady_timer_info_t info = {0};
  tb_steady_timer_options_t options = TB_STEADY_TIMER_OPTIONS_INIT;
  options.period.ns = TB_NS_PER_MS;
  options.callback = remember_steady;
  options.user = &info;
  tb_timer_t *timer, *wall;
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(&clock_options, &system));
  assert_ok(tb_timer_create(f->queue, steady, &options, &timer));
  int64_t before = tb__steady_now_ns();
  assert_ok(tb_timer_start(timer));
  while (!run(f))
    wait_readable(f->queue);
  assert_true(info.scheduled.ns >= before + TB_NS_PER_MS);
  assert_true(info.actual.ns >= info.scheduled.ns);
  assert_ok(tb_timer_stop(timer));
  tb_timer_options_t wall_options = options_of(TB_NS_PER_MS, on_timer, (char[]){"wall"});
  assert_ok(tb_timer_create(f->queue, system, &wall_options, &wall));
  assert_ok(tb_timer_start(wall));
  while (!run(f))
    wait_readable(f->queue);
  assert_non_null(strstr(trace, "wall@"));
  assert_ok(tb_steady_clock_destroy(steady));
  assert_ok(tb_clock_destroy(system));
  assert_status(tb_timer_start(wall), TB_ERR_CLOSED); /* L1: stopped, its queue stays valid */
}

static void test_M2_deadlines_do_not_drift_and_are_never_early(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  assert_ok(tb_manual_source_set(f->source, 110 * S - 1));
  assert_int_equal(run(f), 0);
  for (int64_t now = 113; now < 150; now += 10) { /* always 3 s late */
    set(f, now);
    assert_int_equal(run(f), 1);
  }
  assert_string_equal(trace, "a@110/113 a@120/123 a@130/133 a@140/143 ");
}

static void test_M2_due_calls_run_by_deadline_then_by_start(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *other; /* a second clock on the same source: its timers are in the same order */
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &other));
  set(f, 100);
  tb_timer_t *late = timer_on(f, "late", 9), *second = timer_on(f, "second", 5),
             *first = timer_on(f, "first", 5);
  tb_timer_options_t middle_options = options_of(7 * S, on_timer, (char[]){"middle"});
  tb_timer_t *middle;
  assert_ok(tb_timer_create(f->queue, other, &middle_options, &middle));
  assert_ok(tb_timer_start(late));
  assert_ok(tb_timer_start(first));
  assert_ok(tb_timer_start(second));
  assert_ok(tb_timer_start(middle));
  set(f, 109);
  assert_int_equal(run(f), 4);
  assert_string_equal(trace, "first@105/109 second@105/109 middle@107/109 late@109/109 ");
  assert_ok(tb_clock_destroy(other));
}

static void test_M2_a_deadline_past_the_end_of_time_never_fires(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_t *timer;
  tb_timer_options_t options = options_of(INT64_MAX, on_timer, (char[]){"never"});
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(f->source, INT64_MAX));
  assert_int_equal(run(f), 0);
  assert_false(readable(f->queue));
}

static void test_M3_missed_periods_are_skipped_and_counted(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 145);
  assert_int_equal(run(f), 1);
  set(f, 150);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@110/145+3 a@150/150 ");
}

static void test_M3_a_period_below_the_tick_makes_one_call_a_tick(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timer;
  tb_timer_options_t options = options_of(1, on_timer, (char[]){"n"});
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  set(f, 1);
  assert_ok(tb_timer_start(timer));
  set(f, 2);
  assert_int_equal(run(f), 1);
  assert_int_equal(run(f), 0);
  assert_false(readable(f->queue));
  options.period.ns = -1;
  assert_status(tb_timer_create(f->queue, f->clock, &options, &timer), TB_ERR_INVALID);
}

static void test_M4_backward_jump_before_the_last_call_restarts(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 110);
  assert_int_equal(run(f), 1);
  set(f, 50);
  set(f, 59);
  assert_int_equal(run(f), 0);
  set(f, 60);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@110/110 a@60/60 ");
}

static void test_M4_backward_jump_after_the_last_call_keeps_the_deadline(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 109);
  set(f, 101);
  set(f, 109);
  assert_int_equal(run(f), 0);
  set(f, 110);
  assert_int_equal(run(f), 1);
}

static void test_M4_a_call_due_but_not_begun_is_not_made_after_a_jump_back(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 110);
  assert_true(readable(f->queue));
  set(f, 90);
  assert_int_equal(run(f), 0);
  set(f, 100);
  assert_int_equal(run(f), 1);
}

static void test_M4_clock_change_keeps_the_part_still_to_wait(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 500 * S));
  set(f, 100);
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 104);
  assert_ok(tb_clock_set_source(f->clock, other)); /* 6 s are left */
  assert_ok(tb_manual_source_set(other, 505 * S));
  assert_int_equal(run(f), 0);
  assert_ok(tb_manual_source_set(other, 506 * S));
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@506/506 ");
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_source_destroy(other));
}

static void test_M4_before_the_first_tick_it_counts_from_there(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_timer_start(timer_on(f, "a", 10)));
  set(f, 1000);
  assert_int_equal(run(f), 0); /* rclcpp fires here, a thousand seconds of periods late */
  set(f, 1010);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@1010/1010 ");
}

static void start_timer(const tb_jump_t *jump, void *user)
{
  if (jump->kind == TB_JUMP_STARTED) assert_ok(tb_timer_start(user));
}

static void test_J5_a_timer_started_after_the_first_tick_counts_from_it(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.on_clock_change = true;
  options.after = start_timer;
  options.user = timer_on(f, "a", 10);
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  set(f, 1000);
  set(f, 1010);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@1010/1010 ");
  tb_jump_handler_destroy(handler);
}

static void test_M4_deadlines_survive_sources_at_the_ends_of_time(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  tb_timer_t *timer = timer_on(f, "a", 10);
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 1000 * S));
  set(f, 1);
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(f->source, INT64_MAX - 1));
  assert_int_equal(run(f), 1);
  assert_ok(tb_clock_set_source(f->clock, other));
  trace[0] = '\0';
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_set(other, 1010 * S));
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "a@1010/1010 ");
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_source_destroy(other));
}

static int descriptors(void)
{
  int count = 0;
  for (int fd = 0; fd < 1024; fd++)
    count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void test_L1_timers_of_destroyed_clocks_keep_no_descriptor(void **state)
{
  fixture_t *f = *state;
  int before = descriptors();
  for (int i = 0; i < 20; i++) {
    tb_clock_t *clock;
    tb_timer_t *timer;
    tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
    options.period.ns = S;
    options.callback = on_timer;
    options.user = (char[]){"gone"};
    assert_ok(tb_clock_create(NULL, &clock));
    assert_ok(tb_timer_create(f->queue, clock, &options, &timer));
    assert_ok(tb_timer_start(timer));
    assert_ok(tb_clock_destroy(clock));
  }
  assert_true(descriptors() <= before + 2); /* two are of the watch for steps of system time */
  assert_int_equal(run(f), 0);
}

/* ---- from inside the own callback ---- */

static void stop_self(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  assert_ok(tb_timer_stop(timer));
}

static void restart_self(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  assert_ok(tb_timer_start(timer));
}

static void destroy_self(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  on_timer(timer, info, user);
  tb_timer_destroy(timer);
}

static void test_M5_stop_restart_and_destroy_from_the_own_callback(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *a, *b, *c;
  tb_timer_options_t options = options_of(10 * S, stop_self, (char[]){"stop"});
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &a));
  options = options_of(10 * S, restart_self, (char[]){"restart"});
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &b));
  options = options_of(10 * S, destroy_self, (char[]){"destroy"});
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &c));
  set(f, 100);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(b));
  assert_ok(tb_timer_start(c));
  set(f, 114);
  assert_int_equal(run(f), 3);
  set(f, 124); /* restarted at 114, so due again only now */
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "stop@110/114 restart@110/114 destroy@110/114 restart@124/124 ");
}

typedef struct crossing {
  tb_timer_t *victim;
  fixture_t *f;
  tb_status_t run, destroy_queue;
} crossing_t;

static void destroy_other(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  crossing_t *crossing = user;
  tb_timer_destroy(crossing->victim);
  crossing->victim = NULL;
  crossing->run = tb_timer_queue_run_due(crossing->f->queue, NULL);
  crossing->destroy_queue = tb_timer_queue_destroy(crossing->f->queue);
}

static void test_M5_destroying_another_due_timer_prevents_its_call(void **state)
{
  fixture_t *f = *state;
  crossing_t crossing = {.f = f};
  tb_timer_t *killer;
  tb_timer_options_t options = options_of(10 * S, destroy_other, &crossing);
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &killer));
  crossing.victim = timer_on(f, "victim", 10);
  set(f, 100);
  assert_ok(tb_timer_start(killer));
  assert_ok(tb_timer_start(crossing.victim));
  set(f, 110);
  assert_int_equal(run(f), 1);
  assert_string_equal(trace, "");
  assert_status(crossing.run, TB_ERR_DEADLOCK);
  assert_status(crossing.destroy_queue, TB_ERR_DEADLOCK);
}

static void test_M6_descriptor_is_readable_when_something_is_due(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_t *timer = timer_on(f, "a", 10);
  assert_ok(tb_timer_start(timer));
  assert_false(readable(f->queue));
  set(f, 109);
  assert_false(readable(f->queue));
  set(f, 110);
  assert_true(readable(f->queue));
  assert_int_equal(run(f), 1);
  assert_false(readable(f->queue));
  set(f, 120);
  assert_true(readable(f->queue));
  assert_ok(tb_timer_stop(timer));
  assert_int_equal(run(f), 0); /* readable with nothing due does nothing */
  assert_false(readable(f->queue));
}

static void test_M6_starting_an_earlier_timer_moves_the_alarm(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_timer_t *slow = timer_on(f, "slow", 100), *fast = timer_on(f, "fast", 1);
  assert_ok(tb_timer_start(slow));
  assert_ok(tb_timer_start(fast));
  set(f, 101);
  assert_true(readable(f->queue));
  assert_int_equal(run(f), 1);
  tb_timer_destroy(fast);
  set(f, 110);
  assert_false(readable(f->queue));
}

typedef struct churn {
  fixture_t *f;
  tb_timer_t *timer;
  _Atomic bool stop;
} churn_t;

static void *churn_thread(void *argument)
{
  churn_t *churn = argument;
  while (!atomic_load(&churn->stop)) {
    tb_timer_start(churn->timer);
    tb_timer_stop(churn->timer);
  }
  return NULL;
}

static void count_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  if (info->actual.ns < info->scheduled.ns) fail();
  ++*(uint64_t *)user;
}

static void test_M6_ticks_starts_and_runs_race_without_harm(void **state)
{
  fixture_t *f = *state;
  uint64_t calls = 0, other_calls = 0;
  tb_timer_options_t options = options_of(3, count_call, &calls);
  tb_timer_options_t other = options_of(2, count_call, &other_calls);
  churn_t churn = {.f = f};
  tb_timer_t *timer;
  pthread_t thread;
  assert_ok(tb_manual_source_set(f->source, 1));
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_create(f->queue, f->clock, &other, &churn.timer));
  assert_ok(tb_timer_start(timer));
  pthread_create(&thread, NULL, churn_thread, &churn);
  for (int64_t now = 2; now < 3000; now++) {
    assert_ok(tb_manual_source_set(f->source, now % 100 ? now : 1));
    if (readable(f->queue)) run(f);
  }
  atomic_store(&churn.stop, true);
  pthread_join(thread, NULL);
  assert_true(calls > 500);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_M1_callback_gets_scheduled_and_actual_time_and_epoch),
      WITH_QUEUE(test_M1_timers_run_on_steady_and_system_time),
      WITH_QUEUE(test_M2_deadlines_do_not_drift_and_are_never_early),
      WITH_QUEUE(test_M2_due_calls_run_by_deadline_then_by_start),
      WITH_QUEUE(test_M2_a_deadline_past_the_end_of_time_never_fires),
      WITH_QUEUE(test_M3_missed_periods_are_skipped_and_counted),
      WITH_QUEUE(test_M3_a_period_below_the_tick_makes_one_call_a_tick),
      WITH_QUEUE(test_M4_backward_jump_before_the_last_call_restarts),
      WITH_QUEUE(test_M4_backward_jump_after_the_last_call_keeps_the_deadline),
      WITH_QUEUE(test_M4_a_call_due_but_not_begun_is_not_made_after_a_jump_back),
      WITH_QUEUE(test_M4_clock_change_keeps_the_part_still_to_wait),
      WITH_QUEUE(test_M4_before_the_first_tick_it_counts_from_there),
      WITH_QUEUE(test_J5_a_timer_started_after_the_first_tick_counts_from_it),
      WITH_QUEUE(test_M4_deadlines_survive_sources_at_the_ends_of_time),
      WITH_QUEUE(test_L1_timers_of_destroyed_clocks_keep_no_descriptor),
      WITH_QUEUE(test_M5_stop_restart_and_destroy_from_the_own_callback),
      WITH_QUEUE(test_M5_destroying_another_due_timer_prevents_its_call),
      WITH_QUEUE(test_M6_descriptor_is_readable_when_something_is_due),
      WITH_QUEUE(test_M6_starting_an_earlier_timer_moves_the_alarm),
      WITH_QUEUE(test_M6_ticks_starts_and_runs_race_without_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
