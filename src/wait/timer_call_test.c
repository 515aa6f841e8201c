/* Calls that the program makes, and what it can ask of a timer. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/timer.h>

#include "on_manual_source.h"
#include "wait/lane_check.h"

static tb_timer_t *make(fixture_t *f, const char *name, int64_t period_ns, tb_timer_mode_t mode)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = period_ns;
  options.mode = mode;
  options.callback = on_timer;
  options.user = (void *)name;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  return timer;
}

static void expect(fixture_t *f, const char *expected)
{
  assert_null(tb__timer_queue_check(f->queue));
  assert_string_equal(trace, expected);
  trace[0] = '\0';
}

static void test_M7_a_call_before_the_deadline(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  tb_timer_t *once = make(f, "once", 10 * S, TB_TIMER_ONE_SHOT);
  assert_status(tb_timer_call(a), TB_ERR_NOT_FOUND);
  assert_ok(tb_timer_start(a));
  assert_status(tb_timer_call(a), TB_ERR_NOT_SET);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_timer_start(once));
  assert_ok(tb_manual_source_set(f->source, 104 * S));
  assert_ok(tb_timer_call(a));
  assert_ok(tb_timer_call(once));
  expect(f, "a@110/104 once@110/104 ");
  assert_false(tb_timer_is_running(once));
  tb_duration_t duration;
  assert_ok(tb_timer_time_until_next(a, &duration));
  assert_int_equal(duration.ns, 16 * S);
  assert_ok(tb_manual_source_set(f->source, 107 * S));
  assert_ok(tb_timer_time_since_last_call(a, &duration));
  assert_int_equal(duration.ns, 3 * S);
  assert_ok(tb_manual_source_set(f->source, 145 * S));
  assert_ok(tb_timer_call(a)); /* late */
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  expect(f, "a@120/145+2 ");
}

static void destroy_itself(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)info;
  (void)user;
  tb_timer_destroy(timer);
  assert_status(tb_timer_call(timer), TB_ERR_DEADLOCK);
  assert_status(tb_timer_start(timer), TB_ERR_CLOSED);
}

static void test_M7_the_rules_of_calls_hold(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  assert_ok(tb_clock_timer_exchange_callback(a, destroy_itself, NULL, NULL, NULL));
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_call(a)); /* the memory is free, and is used again: */
  assert_ptr_equal(make(f, "b", 10 * S, TB_TIMER_PERIODIC), a);
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_ok(tb_timer_start(a));
  assert_status(tb_timer_call(a), TB_ERR_BUSY);
}

static void other_callback(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  TRACE("other %s@%lld ", (const char *)user, (long long)(info->scheduled.ns / S));
}

static void steady_callback(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
}

static void test_M7_the_callback_is_exchanged(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  assert_ok(tb_timer_start(a));
  tb_timer_callback_t old = NULL;
  void *old_user = NULL;
  assert_ok(tb_timer_exchange_callback(a, other_callback, (void *)"b", &old, &old_user));
  assert_true(old == on_timer);
  assert_string_equal(old_user, "a");
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  expect(f, "other b@110 ");
  assert_status(tb_clock_timer_exchange_callback(a, NULL, NULL, NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_steady_clock_timer_exchange_callback(a, steady_callback, NULL, NULL, NULL),
                TB_ERR_CLOCK_MISMATCH);
}

static void test_M7_period_clock_and_what_is_not_known(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  tb_duration_t duration = {7};
  assert_ok(tb_timer_period(a, &duration));
  assert_int_equal(duration.ns, 10 * S);
  assert_ok(tb_timer_set_period(a, TB_SECONDS(3)));
  assert_ok(tb_timer_period(a, &duration));
  assert_int_equal(duration.ns, 3 * S);
  assert_ptr_equal(tb_timer_clock(a), f->clock);
  assert_null(tb_timer_steady_clock(a));
  assert_status(tb_timer_time_until_next(a, &duration), TB_ERR_NOT_FOUND);
  assert_status(tb_timer_time_since_last_call(a, &duration), TB_ERR_NOT_FOUND);
  assert_ok(tb_timer_start(a));
  assert_status(tb_timer_time_until_next(a, &duration), TB_ERR_NOT_SET);
  assert_status(tb_timer_time_since_last_call(a, &duration), TB_ERR_NOT_SET);
  assert_int_equal(duration.ns, 3 * S);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_timer_time_since_last_call(a, &duration));
  assert_int_equal(duration.ns, 0);
  assert_ok(tb_timer_time_until_next(a, &duration));
  assert_int_equal(duration.ns, 3 * S);
}

static void on_reset(tb_timer_t *timer, void *user)
{
  TRACE("%s ", (const char *)user);
  tb_duration_t until;
  assert_ok(tb_timer_time_until_next(timer, &until)); /* nothing is held */
}

static void test_M7_a_hook_is_called_at_each_start(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  assert_ok(tb_timer_set_reset_hook(a, on_reset, (void *)"early"));
  expect(f, "");
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(a));
  expect(f, "early early ");
  assert_ok(tb_timer_set_reset_hook(a, NULL, NULL));
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(a));
  expect(f, "");
  assert_ok(tb_timer_set_reset_hook(a, on_reset, (void *)"late"));
  expect(f, "");
  assert_ok(tb_timer_start(a));
  expect(f, "late ");
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL)); /* a call is no start */
  expect(f, "a@110/110 ");
}

/* A hook that has begun, on another thread, has a valid handle, which is not that of the timer that
 * is made next. */
typedef struct slow_hook {
  tb_timer_t *timer;
  _Atomic bool is_begun, may_end;
  tb_status_t status; /* of a call on the destroyed timer */
} slow_hook_t;

static void wait_in_hook(tb_timer_t *timer, void *user)
{
  slow_hook_t *self = user;
  tb_duration_t until;
  atomic_store(&self->is_begun, true);
  while (!atomic_load(&self->may_end))
    sched_yield();
  self->status = tb_timer_time_until_next(timer, &until);
  tb_timer_destroy(timer);
}

static void *start_it(void *user)
{
  slow_hook_t *self = user;
  assert_ok(tb_timer_start(self->timer));
  return NULL;
}

static void test_M5_a_timer_may_be_destroyed_while_its_reset_hook_runs(void **state)
{
  fixture_t *f = *state;
  pthread_t thread;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  slow_hook_t hook = {.timer = make(f, "a", 10 * S, TB_TIMER_PERIODIC)};
  assert_ok(tb_timer_set_reset_hook(hook.timer, wait_in_hook, &hook));
  assert_int_equal(pthread_create(&thread, NULL, start_it, &hook), 0);
  while (!atomic_load(&hook.is_begun))
    sched_yield();
  tb_timer_destroy(hook.timer);
  tb_timer_t *next = make(f, "b", 10 * S, TB_TIMER_PERIODIC);
  assert_ptr_not_equal(next, hook.timer);
  assert_ok(tb_timer_start(next));
  atomic_store(&hook.may_end, true);
  pthread_join(thread, NULL);
  assert_status(hook.status, TB_ERR_CLOSED);
  assert_true(tb_timer_is_running(next));
  assert_ptr_equal(make(f, "c", 10 * S, TB_TIMER_PERIODIC), hook.timer); /* used again after it */
  assert_ok(tb_timer_start(next));                                       /* no hook came along */
}

static void destroy_queue(tb_timer_t *timer, void *user)
{
  (void)timer;
  assert_status(tb_timer_queue_destroy(user), TB_ERR_DEADLOCK);
}

/* The start goes on after the hook. */
static void test_M5_a_reset_hook_may_not_destroy_its_queue(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *a = make(f, "a", 10 * S, TB_TIMER_PERIODIC);
  assert_ok(tb_timer_set_reset_hook(a, destroy_queue, f->queue));
  assert_ok(tb_timer_start(a));
  assert_true(tb_timer_is_running(a));
}

/* One call in each run, whether time moves or not; also when it is given the period later. */
static void test_M3_without_a_period_a_timer_is_due_in_each_run(void **state)
{
  fixture_t *f = *state;
  uint32_t calls;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *a = make(f, "a", 0, TB_TIMER_PERIODIC), *b = make(f, "b", 10 * S, TB_TIMER_PERIODIC);
  tb_timer_t *once = make(f, "once", 0, TB_TIMER_ONE_SHOT);
  assert_ok(tb_timer_start(a));
  assert_ok(tb_timer_start(once));
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  expect(f, "a@100/100 once@100/100 a@100/100 ");
  assert_ok(tb_timer_set_period(b, TB_NS(0)));
  assert_ok(tb_timer_start(b));
  assert_ok(tb_manual_source_set_and_run(f->source, 105 * S, NULL)); /* it returns */
  trace[0] = '\0';
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  expect(f, "a@105/105 b@105/105 ");
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  expect(f, "a@50/50 b@50/50 ");
  assert_ok(tb_timer_set_period(a, TB_SECONDS(10)));
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  assert_status(tb_timer_set_period(a, TB_NS(-1)), TB_ERR_INVALID);
  expect(f, "a@50/50 b@50/50 b@50/50 ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_M7_a_call_before_the_deadline),
      WITH_QUEUE(test_M7_the_rules_of_calls_hold),
      WITH_QUEUE(test_M7_the_callback_is_exchanged),
      WITH_QUEUE(test_M7_period_clock_and_what_is_not_known),
      WITH_QUEUE(test_M7_a_hook_is_called_at_each_start),
      WITH_QUEUE(test_M5_a_timer_may_be_destroyed_while_its_reset_hook_runs),
      WITH_QUEUE(test_M5_a_reset_hook_may_not_destroy_its_queue),
      WITH_QUEUE(test_M3_without_a_period_a_timer_is_due_in_each_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
