/* Waits for something else than a clock: what ends them. */
#include <pthread.h>
#include <timebase/cancel_token.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>

#include "held/parking.h"
#include "test.h"
#include "wait/call_wait.h"
#include "waiting.h"

#define S TB_NS_PER_S

typedef struct stage {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_cancel_token_t *token;
  pthread_t thread;
  tb_wait_options_t options;
  _Atomic uint32_t word;
  _Atomic bool due;
  tb_status_t status;
} stage_t;

static void stage_open(stage_t *stage)
{
  *stage = (stage_t){0};
  assert_ok(tb_manual_source_create(&stage->source));
  tb_clock_options_t options = {TB_TIME_ROS, stage->source};
  assert_ok(tb_clock_create(&options, &stage->clock));
  assert_ok(tb_manual_source_set(stage->source, 100 * S));
  assert_ok(tb_cancel_token_create(&stage->token));
}

static void stage_close(stage_t *stage)
{
  assert_ok(tb_cancel_token_destroy(stage->token));
  assert_ok(tb_clock_destroy(stage->clock));
  assert_ok(tb_source_destroy(stage->source));
}

static tb_status_t look(void *user)
{
  const stage_t *stage = user;
  return atomic_load(&stage->due) ? TB_OK : TB_ERR_TIMEOUT;
}

static void *wait_thread(void *user)
{
  stage_t *stage = user;
  stage->status = tb__call_wait(&stage->options, &stage->word, look, stage);
  return NULL;
}

/* On the clock. */
static void begin(stage_t *stage, tb_wait_options_t options)
{
  options.clock = stage->clock;
  stage->options = options;
  assert_int_equal(pthread_create(&stage->thread, NULL, wait_thread, stage), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(stage->source, 1, NULL));
}

static void expect(stage_t *stage, tb_status_t status)
{
  assert_int_equal(pthread_join(stage->thread, NULL), 0);
  assert_status(stage->status, status);
  if (stage->clock) wait_for_waiters(stage->clock, 0);
}

static void test_S5_a_token_ends_it(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  begin(&stage, (tb_wait_options_t){.token = stage.token});
  tb_cancel_token_cancel(stage.token);
  expect(&stage, TB_ERR_CANCELLED);
  /* also one that is cancelled already, where nothing has to be waited for */
  atomic_store(&stage.due, true);
  stage.options.clock = NULL;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_CANCELLED);
  tb_cancel_token_reset(stage.token);
  wait_thread(&stage);
  assert_ok(stage.status);
  atomic_store(&stage.due, false);
  begin(&stage, (tb_wait_options_t){.token = stage.token});
  assert_ok(tb_cancel_token_destroy(stage.token));
  stage.token = NULL;
  expect(&stage, TB_ERR_CLOSED);
  stage_close(&stage);
}

static void test_S3_jumps_end_it_that_a_flag_names(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  begin(&stage, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_BACKWARD});
  assert_ok(tb_manual_source_set(stage.source, 200 * S));
  assert_ok(tb_manual_source_set(stage.source, 100 * S));
  expect(&stage, TB_ERR_JUMP_BACKWARD);
  begin(&stage, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_FORWARD, .forward_min = {S}});
  assert_ok(tb_manual_source_set(stage.source, 100 * S + S / 2));
  assert_ok(tb_manual_source_set(stage.source, 90 * S)); /* no flag */
  assert_ok(tb_manual_source_set(stage.source, 91 * S));
  expect(&stage, TB_ERR_JUMP_FORWARD);
  begin(&stage, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_CLOCK_CHANGE});
  assert_ok(tb_manual_source_set(stage.source, 80 * S));
  assert_ok(tb_clock_set_source(stage.clock, NULL));
  expect(&stage, TB_ERR_CLOCK_CHANGED);
  stage_close(&stage);
}

static void test_without_flags_nothing_of_its_clock_ends_it_but_its_end(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  begin(&stage, (tb_wait_options_t){0});
  assert_ok(tb_manual_source_set(stage.source, 200 * S));
  assert_ok(tb_manual_source_set(stage.source, 100 * S));
  assert_ok(tb_clock_set_source(stage.clock, NULL));
  assert_ok(tb_clock_set_source(stage.clock, stage.source));
  assert_ok(tb_manual_source_wait_for_sleepers(stage.source, 1, NULL));
  atomic_store(&stage.due, true);
  atomic_fetch_add(&stage.word, 1);
  tb__futex_wake_all(&stage.word);
  expect(&stage, TB_OK);
  atomic_store(&stage.due, false);
  begin(&stage, (tb_wait_options_t){0});
  assert_ok(tb_clock_destroy(stage.clock)); /* waits for the call */
  stage.clock = NULL;
  expect(&stage, TB_ERR_CLOSED);
  stage_close(&stage);
}

static void test_S5_limits(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  stage.options.limit = TB_NO_WAIT;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_TIMEOUT);
  stage.options.clock = stage.clock;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_TIMEOUT);
  stage.options.limit.ns = 1;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_TIMEOUT);
  stage.options.limit.ns = -5;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_INVALID);
  atomic_store(&stage.due, true);
  stage.options.limit = TB_NO_WAIT;
  wait_thread(&stage);
  assert_ok(stage.status);
  assert_ok(tb__call_wait(NULL, &stage.word, look, &stage));
  assert_int_equal(waiters_on(stage.clock), 0);
  stage_close(&stage);
}

static void test_flags_need_a_clock_and_sleeps_their_own(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  atomic_store(&stage.due, true);
  stage.options.flags = TB_WAIT_FAIL_ON_BACKWARD;
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_INVALID);
  stage.options.clock = stage.clock;
  wait_thread(&stage);
  assert_ok(stage.status);
  stage.options.flags = TB_WAIT_FAIL_ON_FORWARD; /* without forward_min */
  wait_thread(&stage);
  assert_status(stage.status, TB_ERR_INVALID);

  tb_clock_t *other;
  tb_steady_clock_t *steady;
  assert_ok(tb_clock_create(NULL, &other));
  assert_ok(tb_steady_clock_create(&steady));
  const tb_wait_options_t of_other = {.clock = other}, of_own = {.clock = stage.clock};
  assert_status(tb_clock_wait_until_started(stage.clock, &of_other), TB_ERR_INVALID);
  assert_status(tb_clock_sleep_for(stage.clock, TB_NS(0), &of_other), TB_ERR_INVALID);
  assert_status(tb_steady_clock_sleep_for(steady, TB_NS(0), &of_other), TB_ERR_INVALID);
  assert_ok(tb_clock_wait_until_started(stage.clock, &of_own));
  tb_steady_clock_destroy(steady);
  assert_ok(tb_clock_destroy(other));
  stage_close(&stage);
}

static void wait_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stage_t *stage = user;
  wait_thread(stage);
}

static void test_J5_with_a_clock_it_is_refused_in_a_jump_callback(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  stage.options.clock = stage.clock;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold.min_backward = TB_NS(-1);
  options.after = wait_in_jump;
  options.user = &stage;
  assert_ok(tb_jump_handler_create(stage.clock, &options, &handler));
  assert_ok(tb_manual_source_set(stage.source, 50 * S));
  assert_status(stage.status, TB_ERR_DEADLOCK);
  tb_jump_handler_destroy(handler);
  stage_close(&stage);
}

/* Many waits on one word, all ended by jumps, tokens or the condition. */
#define ROUNDS 200

static void *end_thread(void *user)
{
  stage_t *stage = user;
  for (int i = 0; i < ROUNDS; i++) {
    assert_ok(tb_manual_source_set(stage->source, (i % 2 ? 100 : 200) * S));
    tb_cancel_token_cancel(stage->token);
    tb_cancel_token_reset(stage->token);
  }
  atomic_store(&stage->due, true);
  atomic_fetch_add(&stage->word, 1);
  tb__futex_wake_all(&stage->word);
  return NULL;
}

static void *wait_until_due_thread(void *user)
{
  stage_t *stage = user;
  const tb_wait_options_t options = {
      .flags = TB_WAIT_FAIL_ON_BACKWARD, .token = stage->token, .clock = stage->clock};
  while (tb__call_wait(&options, &stage->word, look, stage) != TB_OK)
    ;
  return NULL;
}

static void test_stress(void **state)
{
  (void)state;
  stage_t stage;
  pthread_t waiters[3];
  stage_open(&stage);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&waiters[i], NULL, wait_until_due_thread, &stage), 0);
  assert_int_equal(pthread_create(&stage.thread, NULL, end_thread, &stage), 0);
  assert_int_equal(pthread_join(stage.thread, NULL), 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_join(waiters[i], NULL), 0);
  assert_int_equal(waiters_on(stage.clock), 0);
  stage_close(&stage);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S5_a_token_ends_it),
      cmocka_unit_test(test_S3_jumps_end_it_that_a_flag_names),
      cmocka_unit_test(test_without_flags_nothing_of_its_clock_ends_it_but_its_end),
      cmocka_unit_test(test_S5_limits),
      cmocka_unit_test(test_flags_need_a_clock_and_sleeps_their_own),
      cmocka_unit_test(test_J5_with_a_clock_it_is_refused_in_a_jump_callback),
      cmocka_unit_test(test_stress),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
