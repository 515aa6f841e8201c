/* Testing your own code: no test here waits for real time, and each counts exactly.
 *
 * The module under test is a patrol: a timer on ROS time counts steps, a thread of its own reports
 * every five seconds of ROS time, and a watchdog on steady time notices when ROS time does not
 * advance. Its tests move ROS time by a manual source and steady time by timebase/testing.h. */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <timebase/testing.h>
#include <timebase/timebase.h>

/* ---- the module under test ---- */

typedef struct patrol {
  tb_clock_t *clock;
  tb_timer_queue_t *queue; /* run by the caller's loop */
  tb_timer_t *timer;
  tb_cancel_token_t *stop;
  pthread_t thread;
  int steps;                     /* the loop's */
  _Atomic int reports, warnings; /* the thread's */
} patrol_t;

static void patrol_step(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  patrol_t *patrol = user;
  (void)timer;
  patrol->steps += 1 + (int)info->missed;
}

static void *patrol_report(void *argument)
{
  patrol_t *patrol = argument;
  tb_duration_t period = TB_SECONDS(5);
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.token = patrol->stop;
  options.limit.ns = 60 * TB_NS_PER_S; /* of steady time: does ROS time still advance? */
  for (;;) {
    tb_status_t status = tb_sleep_for(patrol->clock, period, &options);
    if (status == TB_ERR_TIMEOUT)
      atomic_fetch_add(&patrol->warnings, 1);
    else if (status)
      return NULL;
    else
      atomic_fetch_add(&patrol->reports, 1);
  }
}

static void patrol_start(patrol_t *patrol, tb_clock_t *clock)
{
  *patrol = (patrol_t){.clock = clock};
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = TB_NS_PER_S;
  options.callback = patrol_step;
  options.user = patrol;
  assert(!tb_timer_queue_create(&patrol->queue));
  assert(!tb_timer_create(patrol->queue, clock, &options, &patrol->timer));
  assert(!tb_timer_start(patrol->timer));
  assert(!tb_cancel_token_create(&patrol->stop));
  assert(!pthread_create(&patrol->thread, NULL, patrol_report, patrol));
}

static void patrol_end(patrol_t *patrol)
{
  tb_cancel_token_cancel(patrol->stop);
  pthread_join(patrol->thread, NULL);
  tb_cancel_token_destroy(patrol->stop);
  tb_timer_queue_destroy(patrol->queue);
}

/* ---- its tests ---- */

typedef struct world {
  tb_source_t *source;
  tb_clock_t *clock;
  patrol_t patrol;
} world_t;

/* In real time: a test that hangs fails, and reports where. */
static const tb_run_options_t patience = {TB_SECONDS(30), NULL};

static void world_begin(world_t *world)
{
  assert(!tb_manual_source_create(&world->source));
  tb_clock_options_t options = {TB_TIME_ROS, world->source};
  assert(!tb_clock_create(&options, &world->clock));
  assert(!tb_manual_source_set(world->source, 1000 * TB_NS_PER_S));
  assert(!tb_testing_hold_os_time());
  patrol_start(&world->patrol, world->clock);
  /* the thread is counted from its first wait, which has a limit, so it waits on both */
  assert(!tb_manual_source_wait_for_sleepers(world->source, 1, &patience));
  assert(!tb_testing_wait_for_sleepers(1, &patience));
}

static void world_end(world_t *world)
{
  patrol_end(&world->patrol);
  assert(!tb_testing_release_os_time());
  tb_clock_destroy(world->clock);
  tb_source_destroy(world->source);
}

/* This thread has made the queue, so the calls that move time run its timers here. */
static void test_steps_and_reports(void)
{
  world_t world;
  world_begin(&world);
  tb_duration_t minute = TB_SECONDS(60);
  assert(!tb_manual_source_advance_stepped_and_run(world.source, minute, 1000, &patience));
  assert(world.patrol.steps == 60);
  assert(atomic_load(&world.patrol.reports) == 12);
  assert(atomic_load(&world.patrol.warnings) == 0);
  world_end(&world);
}

static void test_a_long_tick_is_one_report(void)
{
  world_t world;
  world_begin(&world);
  tb_duration_t minute = TB_SECONDS(60);
  assert(!tb_manual_source_advance_and_run(world.source, minute, &patience));
  assert(world.patrol.steps == 60); /* one call, which reports the missed ones */
  assert(atomic_load(&world.patrol.reports) == 1);
  world_end(&world);
}

static void test_a_backward_jump_restarts_the_steps(void)
{
  world_t world;
  world_begin(&world);
  tb_duration_t half = TB_MS(500);
  assert(!tb_manual_source_advance_and_run(world.source, half, &patience));
  assert(!tb_manual_source_set_and_run(world.source, 10 * TB_NS_PER_S, &patience));
  assert(!tb_manual_source_advance_and_run(world.source, half, &patience));
  assert(world.patrol.steps == 0);
  assert(!tb_manual_source_advance_and_run(world.source, half, &patience));
  assert(world.patrol.steps == 1);
  world_end(&world);
}

static void test_it_warns_when_ros_time_stops(void)
{
  world_t world;
  world_begin(&world);
  tb_duration_t almost = {60 * TB_NS_PER_S - 1}, hour = TB_SECONDS(3600);
  assert(!tb_testing_advance_and_run(TB_TESTING_STEADY, almost, &patience));
  assert(atomic_load(&world.patrol.warnings) == 0);
  assert(!tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &patience));
  assert(atomic_load(&world.patrol.warnings) == 1);
  assert(!tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, hour, 1000, &patience));
  assert(atomic_load(&world.patrol.warnings) == 61);
  assert(atomic_load(&world.patrol.reports) == 0);
  world_end(&world);
}

int main(void)
{
  test_steps_and_reports();
  test_a_long_tick_is_one_report();
  test_a_backward_jump_restarts_the_steps();
  test_it_warns_when_ros_time_stops();
  puts("test_my_node: all passed");
  return 0;
}
