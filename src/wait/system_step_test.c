/* What a step of system time does to waits on it. */
#include <timebase/cancel_token.h>
#include <timebase/condition.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>

#include "on_manual_source.h"
#include "waiting.h"
#include "wall_clock.h"

#define HOUR (3600 * S)

/* A clock on system time, with a handler, so that steps are found whatever else waits on it. */
typedef struct stage {
  tb_clock_t *clock;
  tb_jump_handler_t *watch;
  tb_cancel_token_t *token;
  tb_timer_queue_t *queue;
} stage_t;

static void note_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  TRACE("told ");
}

static int stage_setup_without_watch(void **state)
{
  static stage_t stage;
  stage = (stage_t){0};
  trace[0] = '\0';
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_clock_create(&options, &stage.clock));
  assert_ok(tb_cancel_token_create(&stage.token));
  assert_ok(tb_timer_queue_create(&stage.queue));
  *state = &stage;
  return 0;
}

static int stage_setup(void **state)
{
  stage_setup_without_watch(state);
  stage_t *stage = *state;
  tb_jump_handler_options_t options = {.threshold = {{1}, {-1}, false}, .after = note_jump};
  assert_ok(tb_jump_handler_create(stage->clock, &options, &stage->watch));
  return 0;
}

static int stage_teardown(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_destroy(stage->watch);
  assert_ok(tb_timer_queue_destroy(stage->queue));
  assert_ok(tb_cancel_token_destroy(stage->token));
  assert_ok(tb_clock_destroy(stage->clock));
  return 0;
}

static int64_t now_ns(const stage_t *stage)
{
  tb_time_t now;
  assert_ok(tb_clock_now(stage->clock, &now));
  return now.ns;
}

/* One wait on another thread. */
typedef struct nap {
  tb_clock_t *clock;
  tb_wait_options_t options;
  int64_t until_ns; /* or: */
  int64_t for_ns;
  tb_status_t status;
  pthread_t thread;
} nap_t;

static void *nap_run(void *argument)
{
  nap_t *nap = argument;
  if (nap->until_ns)
    nap->status = tb_clock_sleep_until(nap->clock, (tb_time_t){nap->until_ns, nap->clock->kind},
                                       &nap->options);
  else
    nap->status = tb_clock_sleep_for(nap->clock, (tb_duration_t){nap->for_ns}, &nap->options);
  return NULL;
}

static void nap_begin(nap_t *nap)
{
  assert_int_equal(pthread_create(&nap->thread, NULL, nap_run, nap), 0);
  wait_for_waiters(nap->clock, 1);
}

static tb_status_t nap_end(nap_t *nap)
{
  assert_int_equal(pthread_join(nap->thread, NULL), 0);
  return nap->status;
}

static void test_S2_sleep_until_is_due_after_a_forward_step_with_a_limit_too(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.limit.ns = 5 * HOUR;
  nap_begin(&nap);
  wall_step(HOUR - 60 * S);
  assert_int_equal(waiters_on(stage->clock), 1);
  wall_step(60 * S);
  assert_ok(nap_end(&nap));
}

static void test_S2_sleep_until_waits_again_after_a_backward_step(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.limit.ns = 5 * HOUR;
  nap_begin(&nap);
  wall_step(-HOUR);
  wall_step(HOUR);
  wall_step(HOUR - 60 * S);
  assert_int_equal(waiters_on(stage->clock), 1);
  wall_step(60 * S);
  assert_ok(nap_end(&nap));
}

static void test_S2_no_step_moves_sleep_for(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .for_ns = HOUR};
  nap.options.token = stage->token;
  nap.options.limit.ns = 5 * HOUR;
  nap_begin(&nap);
  tb_timeline_t *timeline;
  tb__clock_lock(stage->clock, &timeline);
  uint64_t deadline = stage->clock->waiters->deadline;
  tb__clock_unlock(timeline);
  wall_step(2 * HOUR);
  wall_step(-4 * HOUR);
  tb__clock_lock(stage->clock, &timeline);
  assert_non_null(stage->clock->waiters);
  assert_true(stage->clock->waiters->deadline == deadline);
  tb__clock_unlock(timeline);
  tb_cancel_token_cancel(stage->token);
  assert_status(nap_end(&nap), TB_ERR_CANCELLED);
}

static void test_S3_flags_fail_waits_at_steps(void **state)
{
  stage_t *stage = *state;
  nap_t until = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  until.options.flags = TB_WAIT_FAIL_ON_BACKWARD;
  nap_begin(&until);
  wall_step(-60 * S);
  assert_status(nap_end(&until), TB_ERR_JUMP_BACKWARD);

  nap_t relative = {.clock = stage->clock, .for_ns = HOUR};
  relative.options.flags = TB_WAIT_FAIL_ON_ANY;
  relative.options.forward_min.ns = 60 * S;
  nap_begin(&relative);
  wall_step(59 * S);
  assert_int_equal(waiters_on(stage->clock), 1);
  wall_step(61 * S);
  assert_status(nap_end(&relative), TB_ERR_JUMP_FORWARD);
}

static void test_S3_S5_a_flag_comes_before_the_time_that_the_step_made_due(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.flags = TB_WAIT_FAIL_ON_FORWARD;
  nap.options.forward_min.ns = 60 * S;
  nap_begin(&nap);
  wall_step(2 * HOUR);
  assert_status(nap_end(&nap), TB_ERR_JUMP_FORWARD);
}

static void test_J9_a_wait_with_flags_watches_by_itself(void **state)
{
  stage_t *stage = *state;
  while (wall_is_watched())
    sched_yield();
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.flags = TB_WAIT_FAIL_ON_BACKWARD;
  nap_begin(&nap);
  wall_step(-60 * S);
  assert_status(nap_end(&nap), TB_ERR_JUMP_BACKWARD);
}

static void test_J9_a_wait_with_a_limit_watches_by_itself(void **state)
{
  stage_t *stage = *state;
  while (wall_is_watched())
    sched_yield();
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.limit.ns = 5 * HOUR;
  nap_begin(&nap);
  wall_step(HOUR);
  assert_ok(nap_end(&nap));
}

static void test_S5_limit_ends_a_wait_on_a_clock_that_was_set_back(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.limit.ns = 1000000;
  assert_int_equal(pthread_create(&nap.thread, NULL, nap_run, &nap), 0);
  wall_step(-HOUR);
  assert_status(nap_end(&nap), TB_ERR_TIMEOUT);
}

/* A wait that began on a source continues on a clock that steps. */
static void test_S2_J9_a_wait_moved_to_system_time_watches_it(void **state)
{
  stage_t *stage = *state;
  tb_source_t *source;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_set(source, S));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  tb_clock_t *clock;
  assert_ok(tb_clock_create(&options, &clock));
  nap_t nap = {.clock = clock, .until_ns = now_ns(stage) + HOUR};
  nap.options.flags = TB_SLEEP_KEEP_TIME;
  nap.options.limit.ns = 5 * HOUR;
  nap_begin(&nap);
  while (wall_is_watched())
    sched_yield();
  assert_ok(tb_clock_set_source(clock, NULL));
  assert_int_equal(waiters_on(clock), 1);
  wall_step(HOUR);
  assert_ok(nap_end(&nap));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

typedef struct cond_wait {
  tb_cond_t *cond;
  int64_t until_ns;
  tb_wait_options_t options;
  tb_status_t status;
  bool signalled;
  pthread_mutex_t mutex;
} cond_wait_t;

static void *cond_run(void *argument)
{
  cond_wait_t *wait = argument;
  pthread_mutex_lock(&wait->mutex);
  wait->status =
      tb_cond_wait_until(wait->cond, &wait->mutex, (tb_time_t){wait->until_ns, TB_TIME_SYSTEM},
                         &wait->options, &wait->signalled);
  pthread_mutex_unlock(&wait->mutex);
  return NULL;
}

static void test_S8_condition_follows_steps(void **state)
{
  stage_t *stage = *state;
  cond_wait_t wait = {.until_ns = now_ns(stage) + HOUR, .mutex = PTHREAD_MUTEX_INITIALIZER};
  wait.options.limit.ns = 5 * HOUR;
  wait.signalled = true;
  assert_ok(tb_cond_create(stage->clock, &wait.cond));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, cond_run, &wait), 0);
  wait_for_waiters(stage->clock, 1);
  wall_step(-HOUR);
  wall_step(HOUR);
  assert_int_equal(waiters_on(stage->clock), 1);
  wall_step(HOUR);
  pthread_join(thread, NULL);
  assert_ok(wait.status);
  assert_false(wait.signalled);
  tb_cond_destroy(wait.cond);
}

typedef struct pace_thread {
  tb_rate_t *rate;
  tb_wait_options_t options;
  tb_status_t status;
} pace_thread_t;

static void *pace_run(void *argument)
{
  pace_thread_t *pace = argument;
  pace->status = tb_rate_sleep(pace->rate, &pace->options, NULL);
  return NULL;
}

static uint64_t first_deadline(const tb_clock_t *clock)
{
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  uint64_t deadline = clock->waiters->deadline;
  tb__clock_unlock(timeline);
  return deadline;
}

static void test_S9_rate_restarts_after_a_backward_step_in_its_wait(void **state)
{
  stage_t *stage = *state;
  pace_thread_t pace = {.options.token = stage->token};
  assert_ok(tb_clock_rate_create(stage->clock, (tb_duration_t){HOUR}, &pace.rate));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, pace_run, &pace), 0);
  wait_for_waiters(stage->clock, 1);
  uint64_t first = first_deadline(stage->clock);
  wall_step(HOUR);
  assert_true(first_deadline(stage->clock) == first);
  wall_step(-HOUR);
  assert_true(first_deadline(stage->clock) > first);
  tb_cancel_token_cancel(stage->token);
  pthread_join(thread, NULL);
  assert_status(pace.status, TB_ERR_CANCELLED);
  tb_rate_destroy(pace.rate);
}

static void test_S9_rate_restarts_after_a_backward_step_between_two_calls(void **state)
{
  stage_t *stage = *state;
  tb_rate_t *rate;
  tb_rate_result_t result;
  assert_ok(tb_clock_rate_create(stage->clock, (tb_duration_t){1000000}, &rate));
  wall_step(-HOUR);
  assert_ok(tb_rate_sleep(rate, NULL, &result));
  assert_true(result.reanchored);
  assert_false(result.late);
  tb_rate_destroy(rate);
}

static tb_timer_t *timer(const stage_t *stage, tb_timer_mode_t mode, int64_t ns)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.mode = mode;
  options.callback = on_timer;
  options.user = (void *)(uintptr_t) "timer";
  options.period.ns = mode == TB_TIMER_ONE_SHOT_AT ? 0 : ns;
  options.at = (tb_time_t){mode == TB_TIMER_ONE_SHOT_AT ? ns : 0, TB_TIME_SYSTEM};
  tb_timer_t *created;
  assert_ok(tb_clock_timer_create(stage->queue, stage->clock, &options, &created));
  assert_ok(tb_timer_start(created));
  return created;
}

static int64_t deadline_of(const tb_timer_t *of)
{
  tb_time_t deadline;
  assert_ok(tb_clock_timer_next_deadline(of, &deadline));
  return deadline.ns;
}

static uint32_t run_due(const stage_t *stage)
{
  uint32_t calls;
  assert_ok(tb_timer_queue_run_due(stage->queue, &calls));
  return calls;
}

static void test_M4_backward_step_to_before_the_start_counts_again(void **state)
{
  stage_t *stage = *state;
  tb_timer_t *periodic = timer(stage, TB_TIMER_PERIODIC, HOUR);
  tb_timer_t *one_shot = timer(stage, TB_TIMER_ONE_SHOT, 2 * HOUR);
  int64_t at_ns = now_ns(stage) + 3 * HOUR;
  tb_timer_t *at = timer(stage, TB_TIMER_ONE_SHOT_AT, at_ns);
  wall_step(-10 * HOUR);
  int64_t now = now_ns(stage);
  assert_true(deadline_of(periodic) <= now + HOUR && deadline_of(periodic) > now + HOUR - 600 * S);
  assert_true(deadline_of(one_shot) <= now + 2 * HOUR && deadline_of(one_shot) > now + HOUR);
  assert_true(deadline_of(at) == at_ns);
  assert_int_equal(run_due(stage), 0);
}

static void test_M4_backward_step_to_after_the_last_call_keeps_the_deadline(void **state)
{
  stage_t *stage = *state;
  tb_timer_t *periodic = timer(stage, TB_TIMER_PERIODIC, 10 * HOUR);
  int64_t deadline = deadline_of(periodic);
  wall_step(5 * HOUR);
  wall_step(-HOUR);
  assert_true(deadline_of(periodic) == deadline);
}

static void test_M3_M4_forward_step_is_time_passed(void **state)
{
  stage_t *stage = *state;
  tb_timer_t *periodic = timer(stage, TB_TIMER_PERIODIC, HOUR);
  int64_t deadline = deadline_of(periodic);
  wall_step(2 * HOUR + HOUR / 2);
  trace[0] = '\0';
  assert_int_equal(run_due(stage), 1);
  assert_non_null(strstr(trace, "+1 "));
  assert_true(deadline_of(periodic) == deadline + 2 * HOUR);
}

static void test_M4_call_due_but_not_begun_at_a_backward_step_is_not_made(void **state)
{
  stage_t *stage = *state;
  tb_timer_t *periodic = timer(stage, TB_TIMER_PERIODIC, HOUR);
  wall_step(HOUR + S);
  wall_step(-2 * HOUR);
  assert_int_equal(run_due(stage), 0);
  assert_true(deadline_of(periodic) <= now_ns(stage) + HOUR);
}

static void test_J9_timers_watch_by_themselves(void **state)
{
  stage_t *stage = *state;
  while (wall_is_watched())
    sched_yield();
  tb_timer_t *periodic = timer(stage, TB_TIMER_PERIODIC, HOUR);
  wall_step(-10 * HOUR);
  assert_true(deadline_of(periodic) <= now_ns(stage) + HOUR);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_setup, stage_teardown)
#define UNWATCHED(test)                                                                            \
  cmocka_unit_test_setup_teardown(test, stage_setup_without_watch, stage_teardown)

int main(void)
{
  wall_begin();
  const struct CMUnitTest tests[] = {
      ON_STAGE(test_S2_sleep_until_is_due_after_a_forward_step_with_a_limit_too),
      ON_STAGE(test_S2_sleep_until_waits_again_after_a_backward_step),
      ON_STAGE(test_S2_no_step_moves_sleep_for),
      ON_STAGE(test_S3_flags_fail_waits_at_steps),
      ON_STAGE(test_S3_S5_a_flag_comes_before_the_time_that_the_step_made_due),
      UNWATCHED(test_J9_a_wait_with_flags_watches_by_itself),
      UNWATCHED(test_J9_a_wait_with_a_limit_watches_by_itself),
      ON_STAGE(test_S5_limit_ends_a_wait_on_a_clock_that_was_set_back),
      UNWATCHED(test_S2_J9_a_wait_moved_to_system_time_watches_it),
      ON_STAGE(test_S8_condition_follows_steps),
      ON_STAGE(test_S9_rate_restarts_after_a_backward_step_in_its_wait),
      ON_STAGE(test_S9_rate_restarts_after_a_backward_step_between_two_calls),
      ON_STAGE(test_M4_backward_step_to_before_the_start_counts_again),
      ON_STAGE(test_M4_backward_step_to_after_the_last_call_keeps_the_deadline),
      ON_STAGE(test_M3_M4_forward_step_is_time_passed),
      ON_STAGE(test_M4_call_due_but_not_begun_at_a_backward_step_is_not_made),
      UNWATCHED(test_J9_timers_watch_by_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
