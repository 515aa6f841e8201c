/* Waits in the middle of a jump: between the commit and its end. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>

#include "test.h"
#include "waiting.h"

#define S TB_NS_PER_S

/* A jump whose "after" waits until it is released. */
typedef struct stage {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  _Atomic bool in_after, let_go;
} stage_t;

static void hold_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stage_t *stage = user;
  atomic_store(&stage->in_after, true);
  while (!atomic_load(&stage->let_go))
    sched_yield();
}

static int setup(void **state)
{
  static stage_t stage;
  stage = (stage_t){0};
  assert_ok(tb_manual_source_create(&stage.source));
  tb_clock_options_t options = {TB_TIME_ROS, stage.source};
  assert_ok(tb_clock_create(&options, &stage.clock));
  assert_ok(tb_manual_source_set(stage.source, S));
  *state = &stage;
  return 0;
}

static int teardown(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_destroy(stage->handler);
  assert_ok(tb_clock_destroy(stage->clock));
  assert_ok(tb_source_destroy(stage->source));
  return 0;
}

static void hold_on(stage_t *stage, tb_jump_threshold_t threshold)
{
  tb_jump_handler_options_t options = {.threshold = threshold, .after = hold_after, .user = stage};
  assert_ok(tb_jump_handler_create(stage->clock, &options, &stage->handler));
}

static void *step_forward(void *argument)
{
  assert_ok(tb_manual_source_set(((stage_t *)argument)->source, 20 * S));
  return NULL;
}

static void *deactivate(void *argument)
{
  assert_ok(tb_clock_set_source(((stage_t *)argument)->clock, NULL));
  return NULL;
}

typedef struct nap {
  tb_clock_t *clock;
  int64_t until_ns, for_ns;
  tb_wait_options_t options;
  _Atomic bool over;
  tb_status_t status;
  pthread_t thread;
} nap_t;

static void *nap_run(void *argument)
{
  nap_t *nap = argument;
  if (nap->until_ns)
    nap->status =
        tb_clock_sleep_until(nap->clock, (tb_time_t){nap->until_ns, TB_TIME_ROS}, &nap->options);
  else
    nap->status = tb_clock_sleep_for(nap->clock, (tb_duration_t){nap->for_ns}, &nap->options);
  atomic_store(&nap->over, true);
  return NULL;
}

static void begin_jump(stage_t *stage, pthread_t *thread, void *(*jump)(void *))
{
  pthread_create(thread, NULL, jump, stage);
  while (!atomic_load(&stage->in_after))
    sched_yield();
}

static void test_S3_a_sleep_begun_after_a_forward_jump_does_not_fail_by_it(void **state)
{
  stage_t *stage = *state;
  pthread_t jumper;
  hold_on(stage, (tb_jump_threshold_t){.min_forward = {S}});
  begin_jump(stage, &jumper, step_forward);
  nap_t nap = {.clock = stage->clock, .for_ns = 5 * S};
  nap.options.flags = TB_WAIT_FAIL_ON_FORWARD;
  nap.options.forward_min.ns = 10 * S;
  pthread_create(&nap.thread, NULL, nap_run, &nap);
  wait_for_waiters(stage->clock, 1);
  atomic_store(&stage->let_go, true);
  pthread_join(jumper, NULL);
  assert_int_equal(waiters_on(stage->clock), 1);
  assert_ok(tb_manual_source_advance_to_next(stage->source));
  pthread_join(nap.thread, NULL);
  assert_ok(nap.status);
}

static void test_S5_a_limit_in_the_middle_of_a_jump_does_not_make_it_due(void **state)
{
  stage_t *stage = *state;
  pthread_t jumper;
  nap_t nap = {.clock = stage->clock, .until_ns = 10 * S};
  nap.options.limit.ns = S;
  assert_ok(tb_testing_hold_os_time());
  hold_on(stage, (tb_jump_threshold_t){.min_forward = {S}});
  pthread_create(&nap.thread, NULL, nap_run, &nap);
  wait_for_waiters(stage->clock, 1);
  begin_jump(stage, &jumper, step_forward);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
  pthread_join(nap.thread, NULL); /* by its limit: the jump is still on */
  assert_status(nap.status, TB_ERR_TIMEOUT);
  assert_ok(tb_testing_release_os_time());
  atomic_store(&stage->let_go, true);
  pthread_join(jumper, NULL);
}

static void test_J3_waits_that_a_clock_change_ends_well_end_after_the_after_callbacks(void **state)
{
  stage_t *stage = *state;
  pthread_t changer;
  nap_t nap = {.clock = stage->clock, .until_ns = 100 * S};
  nap.options.flags = TB_SLEEP_KEEP_TIME;
  hold_on(stage, (tb_jump_threshold_t){.on_clock_change = true});
  pthread_create(&nap.thread, NULL, nap_run, &nap);
  wait_for_waiters(stage->clock, 1);
  begin_jump(stage, &changer, deactivate); /* to system time, long past the target */
  assert_int_equal(waiters_on(stage->clock), 1);
  assert_false(atomic_load(&nap.over));
  atomic_store(&stage->let_go, true);
  pthread_join(changer, NULL);
  pthread_join(nap.thread, NULL);
  assert_ok(nap.status);
}

static void test_S1_until_the_end_of_time_is_reached(void **state)
{
  stage_t *stage = *state;
  nap_t nap = {.clock = stage->clock, .until_ns = INT64_MAX};
  pthread_create(&nap.thread, NULL, nap_run, &nap);
  wait_for_waiters(stage->clock, 1);
  assert_ok(tb_manual_source_set(stage->source, INT64_MAX));
  pthread_join(nap.thread, NULL);
  assert_ok(nap.status);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_STAGE(test_S3_a_sleep_begun_after_a_forward_jump_does_not_fail_by_it),
      ON_STAGE(test_S5_a_limit_in_the_middle_of_a_jump_does_not_make_it_due),
      ON_STAGE(test_J3_waits_that_a_clock_change_ends_well_end_after_the_after_callbacks),
      ON_STAGE(test_S1_until_the_end_of_time_is_reached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
