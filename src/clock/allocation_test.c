/* Nothing is allocated or freed once everything has been created. */
#include <pthread.h>
#include <stdlib.h>
#include <timebase/condition.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>

#include "counted_allocations.h"
#include "on_manual_source.h"
#include "waiting.h"

#define TIMES 10

static void the_counter_counts(void **state)
{
  (void)state;
  void *volatile block;
  allocations_begin();
  block = malloc(1);
  free(block);
  assert_int_equal(allocations_end(), 2);
}

static void test_C3_reading_allocates_nothing(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *system;
  tb_steady_clock_t *steady;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  tb_time_t now;
  tb_steady_time_t steady_now;
  tb_clock_reading_t reading;
  assert_ok(tb_clock_create(&options, &system));
  assert_ok(tb_steady_clock_create(&steady));
  allocations_begin();
  for (int i = 0; i < TIMES; i++) {
    assert_ok(tb_manual_source_set(f->source, i * S));
    assert_ok(tb_clock_now(f->clock, &now));
    assert_ok(tb_clock_try_now(f->clock, &now));
    assert_ok(tb_clock_read(f->clock, &reading));
    assert_ok(tb_clock_now(system, &now));
    assert_ok(tb_steady_clock_now(steady, &steady_now));
  }
  assert_int_equal(allocations_end(), 0);
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_steady_clock_destroy(steady));
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  ++*(int *)user;
}

static void test_J3_ticks_and_jumps_allocate_nothing(void **state)
{
  fixture_t *f = *state;
  int calls = 0;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold = {{S}, {-1}, true}, .before = on_jump, .after = on_jump, .user = &calls};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  allocations_begin();
  assert_ok(tb_manual_source_set(f->source, S));         /* started */
  assert_ok(tb_manual_source_set(f->source, S + 1));     /* plain */
  assert_ok(tb_manual_source_set(f->source, 2 * S + 1)); /* forward */
  assert_ok(tb_manual_source_set(f->source, S));         /* backward */
  assert_ok(tb_manual_source_set(f->source, S));         /* repeated */
  assert_int_equal(allocations_end(), 0);
  assert_int_equal(calls, 6);
  tb_jump_handler_destroy(handler);
}

static void count_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  ++*(int *)user;
}

static void test_M6_timers_allocate_nothing_once_created(void **state)
{
  fixture_t *f = *state;
  int calls = 0;
  tb_timer_t *timers[TIMES];
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.callback = count_call;
  options.user = &calls;
  assert_ok(tb_manual_source_set(f->source, S));
  for (int i = 0; i < TIMES; i++) {
    options.period.ns = (i + 1) * S;
    assert_ok(tb_timer_create(f->queue, f->clock, &options, &timers[i]));
  }
  allocations_begin();
  for (int i = 0; i < TIMES; i++) {
    assert_ok(tb_timer_start(timers[i]));
    assert_ok(tb_timer_start(timers[i]));
  }
  for (int i = 2; i <= TIMES; i++) {
    assert_ok(tb_manual_source_set(f->source, i * S));
    assert_ok(tb_timer_queue_run_due(f->queue, NULL));
    assert_ok(tb_timer_stop(timers[TIMES - 1]));
    assert_ok(tb_timer_start(timers[TIMES - 1]));
  }
  assert_ok(tb_manual_source_set(f->source, S));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  assert_int_equal(allocations_end(), 0);
  assert_true(calls > TIMES);
}

/* A thread that waits in every way there is, TIMES times each. */
typedef struct waits {
  tb_clock_t *clock;
  tb_cond_t *cond;
  tb_rate_t *rate;
  tb_cancel_token_t *token;
  _Atomic bool ready, go, over;
  _Atomic int failed;
} waits_t;

static void *wait_in_every_way(void *argument)
{
  waits_t *waits = argument;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tb_wait_options_t options = {.flags = TB_WAIT_FAIL_ON_BACKWARD, .token = waits->token};
  atomic_store(&waits->ready, true);
  while (!atomic_load(&waits->go))
    sched_yield();
  for (int i = 0; i < TIMES; i++) {
    tb_time_t now;
    bool signalled;
    waits->failed += tb_clock_now(waits->clock, &now) != TB_OK;
    tb_time_t until = {now.ns + S, TB_TIME_ROS};
    waits->failed += tb_sleep_until(waits->clock, until, &options) != TB_OK;
    waits->failed += tb_sleep_for(waits->clock, (tb_duration_t){S}, NULL) != TB_OK;
    waits->failed += tb_rate_sleep(waits->rate, NULL, NULL) != TB_OK;
    pthread_mutex_lock(&mutex);
    waits->failed +=
        tb_cond_wait_for(waits->cond, &mutex, (tb_duration_t){S}, &options, &signalled) != TB_OK;
    pthread_mutex_unlock(&mutex);
  }
  atomic_store(&waits->over, true);
  while (atomic_load(&waits->go)) /* the end of a thread frees */
    sched_yield();
  return NULL;
}

static void test_S1_sleeping_allocates_nothing(void **state)
{
  fixture_t *f = *state;
  waits_t waits = {.clock = f->clock};
  pthread_t thread;
  int64_t now_ns = S;
  assert_ok(tb_manual_source_set(f->source, now_ns));
  assert_ok(tb_cond_create(f->clock, &waits.cond));
  assert_ok(tb_rate_create(f->clock, (tb_duration_t){S}, &waits.rate));
  assert_ok(tb_cancel_token_create(&waits.token));
  assert_int_equal(pthread_create(&thread, NULL, wait_in_every_way, &waits), 0);
  while (!atomic_load(&waits.ready))
    sched_yield();
  allocations_begin();
  atomic_store(&waits.go, true);
  while (!atomic_load(&waits.over)) {
    if (waiters_on(f->clock)) assert_ok(tb_manual_source_set(f->source, now_ns += S));
    sched_yield();
  }
  int64_t count = allocations_end();
  atomic_store(&waits.go, false);
  pthread_join(thread, NULL);
  assert_int_equal(count, 0);
  assert_int_equal(waits.failed, 0);
  assert_ok(tb_cond_destroy(waits.cond));
  tb_rate_destroy(waits.rate);
  tb_cancel_token_destroy(waits.token);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      WITH_CLOCK(test_C3_reading_allocates_nothing),
      WITH_CLOCK(test_J3_ticks_and_jumps_allocate_nothing),
      WITH_QUEUE(test_M6_timers_allocate_nothing_once_created),
      WITH_CLOCK(test_S1_sleeping_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
