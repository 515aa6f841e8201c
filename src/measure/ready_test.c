/* Waiting for a clock to be ready, on a manual source and held steady time. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ready.h>
#include <timebase/testing.h>
#include <timebase/timeline.h>
#include <timebase/watchdog.h>

#include "base/callback_depth.h"
#include "base/log.h"
#include "on_manual_source.h"
#include "waiting.h"

#define MS INT64_C(1000000)

static const tb_ready_options_t running = {.running = true};

/* ---- with a thread ---- */

typedef struct waiting {
  tb_clock_t *clock;
  const tb_ready_options_t *options;
  tb_wait_options_t wait;
  tb_ready_result_t result;
  tb_error_t error;
  tb_status_t status;
  _Atomic bool ended;
  pthread_t thread;
} waiting_t;

static void *wait_in_thread(void *argument)
{
  waiting_t *self = argument;
  self->status =
      tb_ready_wait(self->clock, self->options, &self->wait, &self->result, &self->error);
  self->ended = true;
  return NULL;
}

static void begin(waiting_t *self, tb_clock_t *clock, const tb_ready_options_t *options)
{
  self->clock = clock;
  self->options = options;
  assert_int_equal(pthread_create(&self->thread, NULL, wait_in_thread, self), 0);
  while (waiters_on(clock) < 1)
    sched_yield();
}

static tb_status_t end(waiting_t *self)
{
  pthread_join(self->thread, NULL);
  return self->status;
}

static void test_the_first_tick_ends_the_wait(void **state)
{
  fixture_t *f = *state;
  waiting_t waiting = {0};
  begin(&waiting, f->clock, NULL);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(end(&waiting));
  assert_int_equal(waiting.result.reason, TB_READY);
  assert_int_equal(waiting.result.time.ns, 5 * S);
  assert_int_equal(waiting.result.state, TB_CLOCK_RUNNING);
}

static void test_a_paused_clock_is_ready(void **state)
{
  fixture_t *f = *state;
  tb_ready_result_t result;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_PAUSED);
  assert_ok(tb_ready_wait(f->clock, NULL, NULL, &result, NULL));
  assert_int_equal(result.state, TB_CLOCK_PAUSED);
}

/* The steady time of the wait is the test's: it is moved until the wait has ended. */
static void test_a_clock_that_runs_is_ready_with_its_rate(void **state)
{
  fixture_t *f = *state;
  waiting_t waiting = {0};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_testing_hold_os_time());
  begin(&waiting, f->clock, &running);
  while (!waiting.ended) {
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){5 * MS}));
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){10 * MS}));
    sched_yield();
  }
  assert_ok(tb_testing_release_os_time());
  assert_ok(end(&waiting));
  assert_in_range(waiting.result.observed.ns, 100 * MS, INT64_MAX);
  assert_true(waiting.result.ticks >= 2);
  assert_true(waiting.result.factor > 0.4 && waiting.result.factor < 0.6);
}

/* Steady time is not moved, so nothing here is found by looking at intervals. */
static void test_changes_end_the_wait_at_once(void **state)
{
  fixture_t *f = *state;
  waiting_t waiting = {0};
  assert_ok(tb_testing_hold_os_time());
  begin(&waiting, f->clock, NULL);                /* it has not started */
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* system time is not what is waited for */
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(end(&waiting));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  begin(&waiting, f->clock, NULL);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(end(&waiting));
  assert_int_equal(waiting.result.time.ns, 5 * S);
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_LOST);
  begin(&waiting, f->clock, NULL);
  assert_ok(tb_manual_source_set(f->source, 6 * S));
  assert_ok(end(&waiting));
  assert_int_equal(waiting.result.time.ns, 6 * S);
  assert_ok(tb_testing_release_os_time());
}

static void test_a_limit_has_the_reason_and_both_values(void **state)
{
  fixture_t *f = *state;
  const tb_wait_options_t look_once = {.limit = TB_NO_WAIT};
  const tb_ready_options_t fast = {.min_rate_hz = 50, .max_rate_hz = 200};
  tb_ready_result_t result;
  tb_error_t error;
  assert_status(tb_ready_wait(f->clock, NULL, &look_once, &result, &error), TB_ERR_TIMEOUT);
  assert_int_equal(result.reason, TB_READY_ZERO);
  assert_non_null(strstr(error.text, "(zero): "));
  assert_null(strstr(error.text, "asked for"));
  assert_null(strstr(error.text, "Measured"));
  assert_ok(tb_manual_source_set(f->source, S));
  assert_status(tb_ready_wait(f->clock, &fast, &look_once, &result, &error), TB_ERR_TIMEOUT);
  assert_int_equal(result.reason, TB_READY_OBSERVING);
  assert_true(result.min_rate_hz > 49 && result.max_rate_hz < 201);
  assert_non_null(strstr(error.text, "; asked for: rate 50 to 200 Hz"));
  assert_null(strstr(error.text, "factor"));
  const tb_ready_options_t bounds = {.max_rate_hz = 9, .min_factor = 0.5};
  assert_status(tb_ready_wait(f->clock, &bounds, &look_once, &result, &error), TB_ERR_TIMEOUT);
  assert_non_null(strstr(error.text, "; asked for: rate at most 9 Hz, factor at least 0.5"));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_status(tb_ready_wait(f->clock, NULL, &look_once, &result, NULL), TB_ERR_TIMEOUT);
  assert_int_equal(result.reason, TB_READY_NO_SOURCE);
  assert_int_equal(result.state, TB_CLOCK_INACTIVE);
}

static void test_a_limit_passes_in_steady_time(void **state)
{
  fixture_t *f = *state;
  waiting_t waiting = {.wait = {.limit = {30 * S}}};
  assert_ok(tb_testing_hold_os_time());
  begin(&waiting, f->clock, NULL);
  while (!waiting.ended) {
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
    sched_yield();
  }
  assert_ok(tb_testing_release_os_time());
  assert_status(end(&waiting), TB_ERR_TIMEOUT);
}

/* A handler of the first tick that takes its time. */
typedef struct blocking {
  _Atomic bool entered, may_return;
  tb_jump_handler_t *handler;
  pthread_t thread; /* that moves the clock */
  tb_clock_t *clock;
  tb_source_t *source;
} blocking_t;

static void block_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  blocking_t *blocking = user;
  blocking->entered = true;
  while (!blocking->may_return)
    sched_yield();
}

static void block_begin(blocking_t *blocking, tb_clock_t *clock, tb_source_t *source)
{
  *blocking = (blocking_t){.clock = clock, .source = source};
  const tb_jump_handler_options_t options = {
      .threshold = {.on_clock_change = true}, .before = block_jump, .user = blocking};
  assert_ok(tb_jump_handler_create(clock, &options, &blocking->handler));
}

static void *first_tick(void *user)
{
  assert_ok(tb_manual_source_set(((blocking_t *)user)->source, S));
  return NULL;
}

static void *leave_source(void *user)
{
  assert_ok(tb_clock_set_source(((blocking_t *)user)->clock, NULL));
  return NULL;
}

static void block(blocking_t *blocking, void *(*move)(void *user))
{
  assert_int_equal(pthread_create(&blocking->thread, NULL, move, blocking), 0);
  while (!blocking->entered)
    sched_yield();
}

static void block_end(blocking_t *blocking)
{
  blocking->may_return = true;
  pthread_join(blocking->thread, NULL);
  tb_jump_handler_destroy(blocking->handler);
}

static void test_a_limit_passes_while_a_handler_of_the_first_tick_runs(void **state)
{
  fixture_t *f = *state;
  blocking_t blocking;
  waiting_t waiting = {.wait = {.limit = {S}}};
  block_begin(&blocking, f->clock, f->source);
  assert_ok(tb_testing_hold_os_time());
  begin(&waiting, f->clock, NULL);
  block(&blocking, first_tick);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
  assert_status(end(&waiting), TB_ERR_TIMEOUT);
  block_end(&blocking);
  assert_ok(tb_testing_release_os_time());
}

static void test_token_and_clock_end_the_wait(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  waiting_t waiting = {.wait = {.token = token}};
  begin(&waiting, f->clock, NULL);
  tb_cancel_token_cancel(token);
  assert_status(end(&waiting), TB_ERR_CANCELLED);
  assert_ok(tb_manual_source_set(f->source, S));
  tb_ready_result_t result = {.ticks = 77};
  assert_status(tb_ready_wait(f->clock, NULL, &waiting.wait, &result, NULL), TB_ERR_CANCELLED);
  assert_int_equal(result.ticks, 77); /* S5: cancelled comes first, and nothing is filled */
  assert_ok(tb_cancel_token_destroy(token));

  tb_clock_t *clock;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, f->source}, &clock));
  waiting_t closed = {0};
  begin(&closed, clock, &running);
  assert_ok(tb_clock_destroy(clock));
  assert_status(end(&closed), TB_ERR_CLOSED);
}

static void test_flags_fail_the_wait(void **state)
{
  fixture_t *f = *state;
  waiting_t waiting = {.wait = {.flags = TB_WAIT_FAIL_ON_BACKWARD}};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  begin(&waiting, f->clock, &running);
  assert_ok(tb_manual_source_set(f->source, S));
  assert_status(end(&waiting), TB_ERR_JUMP_BACKWARD);
}

static void test_wrong_calls_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *other;
  tb_ready_t *ready = NULL;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &other));
  assert_status(tb_ready_wait(other, NULL, NULL, NULL, NULL), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_ready_on(other, NULL, (tb_ready_callback_t)abort, NULL, &ready),
                TB_ERR_CLOCK_MISMATCH);
  const tb_wait_options_t on_other = {.clock = other};
  const tb_ready_options_t wrong = {.min_factor = -1};
  assert_status(tb_ready_wait(f->clock, NULL, &on_other, NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_ready_wait(f->clock, &wrong, NULL, NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_ready_on(f->clock, &wrong, (tb_ready_callback_t)abort, NULL, &ready),
                TB_ERR_INVALID);
  assert_null(ready);
  assert_ok(tb_clock_destroy(other));
}

/* ---- in callbacks ---- */

static void wait_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  assert_status(tb_ready_wait(user, NULL, NULL, NULL, NULL), TB_ERR_DEADLOCK);
  TRACE("jump ");
}

static void wait_in_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  assert_status(tb_ready_wait(user, NULL, NULL, NULL, NULL), TB_ERR_DEADLOCK);
  TRACE("timer ");
}

static void test_waiting_is_refused_in_callbacks(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  tb_timer_t *timer;
  const tb_jump_handler_options_t on_jump = {
      .threshold = {.on_clock_change = true}, .after = wait_in_jump, .user = f->clock};
  const tb_timer_options_t options = {.period = {S}, .callback = wait_in_timer, .user = f->clock};
  assert_ok(tb_jump_handler_create(f->clock, &on_jump, &handler));
  assert_ok(tb_manual_source_set(f->source, S));
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){S}));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  assert_string_equal(trace, "jump timer ");
}

static void test_waiting_is_refused_where_time_may_arrive(void **state)
{
  fixture_t *f = *state;
  const tb_wait_options_t look_once = {.limit = TB_NO_WAIT};
  tb__callback_begin(); /* as those of subscriptions, services and clients */
  assert_status(tb_ready_wait(f->clock, NULL, &look_once, NULL, NULL), TB_ERR_DEADLOCK);
  tb__callback_end();
  assert_status(tb_ready_wait(f->clock, NULL, &look_once, NULL, NULL), TB_ERR_TIMEOUT);
}

/* ---- with a callback ---- */

typedef struct called {
  _Atomic int calls;
  tb_ready_result_t result;
  tb_clock_t *clock;
  bool destroys;
  tb_status_t wait_status;
} called_t;

static void on_ready(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  called_t *called = user;
  called->result = *result;
  called->wait_status = tb_ready_wait(called->clock, NULL, NULL, NULL, NULL);
  if (called->destroys) tb_ready_destroy(ready);
  called->calls++;
}

static void wait_for_call(called_t *called)
{
  while (!called->calls)
    sched_yield();
}

static void test_a_callback_comes_with_the_first_tick(void **state)
{
  fixture_t *f = *state;
  called_t called = {.clock = f->clock};
  tb_ready_t *ready;
  tb_ready_result_t result;
  assert_ok(tb_testing_hold_os_time()); /* it is the tick that makes it look, not time */
  assert_ok(tb_ready_on(f->clock, NULL, on_ready, &called, &ready));
  do
    assert_ok(tb_ready_read(ready, &result));
  while (result.reason == TB_READY_OBSERVING);
  assert_int_equal(result.reason, TB_READY_ZERO);
  assert_ok(tb_manual_source_set(f->source, 7 * S));
  wait_for_call(&called);
  assert_ok(tb_testing_release_os_time());
  assert_int_equal(called.result.time.ns, 7 * S);
  assert_int_equal(called.wait_status, TB_ERR_DEADLOCK);
  assert_ok(tb_manual_source_set(f->source, 0)); /* "not started" again, and a new start */
  assert_ok(tb_manual_source_set(f->source, 8 * S));
  do
    assert_ok(tb_ready_read(ready, &result));
  while (result.time.ns != 8 * S);
  tb_ready_destroy(ready);
  assert_int_equal(called.calls, 1);
}

static void test_a_callback_may_destroy_its_handle(void **state)
{
  fixture_t *f = *state;
  tb_ready_t *ready;
  for (int i = 0; i < 20; i++) {
    called_t called = {.clock = f->clock, .destroys = true};
    assert_ok(tb_manual_source_set(f->source, i & 1 ? S : 0));
    assert_ok(tb_ready_on(f->clock, NULL, on_ready, &called, &ready));
    assert_ok(tb_manual_source_set(f->source, S));
    wait_for_call(&called);
    assert_int_equal(called.result.reason, TB_READY);
  }
}

static void on_ready_in_jump(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  (void)result;
  blocking_t *blocking = user;
  block(blocking, leave_source);
  tb_ready_destroy(ready);
}

static void on_expired(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog, (void)info;
  *(_Atomic bool *)user = true;
}

/* The jump goes on for long: the thread of all watchdogs does not wait for it. */
static void test_a_callback_may_destroy_its_handle_in_a_jump(void **state)
{
  fixture_t *f = *state;
  blocking_t blocking;
  tb_ready_t *ready;
  tb_watchdog_t *watchdog;
  _Atomic bool expired = false;
  assert_ok(tb_manual_source_set(f->source, S));
  block_begin(&blocking, f->clock, f->source);
  assert_ok(tb_ready_on(f->clock, NULL, on_ready_in_jump, &blocking, &ready));
  const tb_watchdog_options_t options = {
      .limit = {1}, .on_expired = on_expired, .user = (void *)&expired};
  while (!blocking.entered)
    sched_yield();
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  while (!expired)
    sched_yield();
  block_end(&blocking);
  tb_watchdog_destroy(watchdog);
}

/* As in the log hook, on a thread that the jump may be waiting for. */
static void test_a_handle_is_destroyed_in_the_log_hook_in_a_jump(void **state)
{
  fixture_t *f = *state;
  blocking_t blocking;
  called_t called = {.clock = f->clock};
  tb_ready_t *ready;
  for (int i = 0; i < 100; i++) {
    assert_ok(tb_manual_source_set(f->source, 0));
    block_begin(&blocking, f->clock, f->source);
    assert_ok(tb_ready_on(f->clock, NULL, on_ready, &called, &ready));
    block(&blocking, first_tick);
    if (i & 1) blocking.may_return = true; /* its own handler may be running by now */
    tb__log_depth++;
    tb_ready_destroy(ready);
    tb__log_depth--;
    block_end(&blocking);
    if (i == 0) assert_int_equal(called.calls, 0);
  }
}

/* Its source moves on. */
static void test_a_clock_that_is_destroyed_is_not_ready(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  tb_clock_t *clock;
  tb_ready_t *ready;
  tb_ready_result_t result;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, f->source}, &clock));
  assert_ok(tb_ready_on(clock, &running, on_ready, &called, &ready));
  assert_ok(tb_manual_source_set(f->source, S));
  do
    assert_ok(tb_ready_read(ready, &result));
  while (!result.time.ns);
  assert_ok(tb_clock_destroy(clock));
  for (int i = 0; i < 50; i++) {
    _Atomic bool expired = false;
    tb_watchdog_t *watchdog; /* expires when all that was due before has been checked */
    const tb_watchdog_options_t options = {
        .limit = {10 * MS}, .on_expired = on_expired, .user = (void *)&expired};
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){10 * MS}));
    assert_ok(tb_watchdog_create(&options, &watchdog));
    assert_ok(tb_watchdog_start(watchdog));
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){10 * MS}));
    while (!expired)
      sched_yield();
    tb_watchdog_destroy(watchdog);
  }
  assert_int_equal(called.calls, 0);
  tb_ready_destroy(ready);
  assert_ok(tb_testing_release_os_time());
}

static void test_a_callback_that_is_removed_is_not_called(void **state)
{
  fixture_t *f = *state;
  called_t called[3] = {{.clock = f->clock}, {.clock = f->clock}, {.clock = f->clock}};
  tb_ready_t *ready[3];
  for (int i = 0; i < 3; i++)
    assert_ok(tb_ready_on(f->clock, NULL, on_ready, &called[i], &ready[i]));
  tb_ready_destroy(ready[1]);
  assert_ok(tb_manual_source_set(f->source, S));
  wait_for_call(&called[0]);
  wait_for_call(&called[2]);
  tb_ready_destroy(ready[0]);
  tb_ready_destroy(ready[2]);
  assert_int_equal(called[1].calls, 0);
}

static void test_a_callback_survives_its_clock(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  tb_clock_t *clock;
  tb_ready_t *ready;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, f->source}, &clock));
  assert_ok(tb_ready_on(clock, NULL, on_ready, &called, &ready));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_manual_source_set(f->source, S));
  tb_ready_result_t result;
  assert_ok(tb_ready_read(ready, &result));
  tb_ready_destroy(ready);
  assert_int_equal(called.calls, 0);
}

static void ready_in_jump(const tb_jump_t *jump, void *user)
{
  called_t *called = user;
  tb_ready_t *ready;
  if (jump->kind != TB_JUMP_STARTED) return;
  called->destroys = true;
  assert_ok(tb_ready_on(called->clock, NULL, on_ready, called, &ready));
}

static void test_a_callback_can_be_asked_for_in_a_jump(void **state)
{
  fixture_t *f = *state;
  called_t called = {.clock = f->clock};
  tb_jump_handler_t *handler;
  const tb_jump_handler_options_t options = {
      .threshold = {.on_clock_change = true}, .before = ready_in_jump, .user = &called};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, S));
  wait_for_call(&called);
  assert_int_equal(called.result.time.ns, S);
  tb_jump_handler_destroy(handler);
}

static void test_reasons_have_names(void **state)
{
  (void)state;
  assert_string_equal(tb_ready_reason_name(TB_READY), "ready");
  assert_string_equal(tb_ready_reason_name(TB_READY_BACKWARDS), "backwards");
  assert_string_equal(tb_ready_reason_name((tb_ready_reason_t)99), "unknown");
  assert_string_equal(tb_ready_reason_name((tb_ready_reason_t)-1), "unknown");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_the_first_tick_ends_the_wait),
      WITH_CLOCK(test_a_paused_clock_is_ready),
      WITH_CLOCK(test_a_clock_that_runs_is_ready_with_its_rate),
      WITH_CLOCK(test_changes_end_the_wait_at_once),
      WITH_CLOCK(test_a_limit_has_the_reason_and_both_values),
      WITH_CLOCK(test_a_limit_passes_in_steady_time),
      WITH_CLOCK(test_a_limit_passes_while_a_handler_of_the_first_tick_runs),
      WITH_CLOCK(test_token_and_clock_end_the_wait),
      WITH_CLOCK(test_flags_fail_the_wait),
      WITH_CLOCK(test_wrong_calls_are_refused),
      WITH_QUEUE(test_waiting_is_refused_in_callbacks),
      WITH_CLOCK(test_waiting_is_refused_where_time_may_arrive),
      WITH_CLOCK(test_a_callback_comes_with_the_first_tick),
      WITH_CLOCK(test_a_callback_may_destroy_its_handle),
      WITH_CLOCK(test_a_callback_may_destroy_its_handle_in_a_jump),
      WITH_CLOCK(test_a_handle_is_destroyed_in_the_log_hook_in_a_jump),
      WITH_CLOCK(test_a_clock_that_is_destroyed_is_not_ready),
      WITH_CLOCK(test_a_callback_that_is_removed_is_not_called),
      WITH_CLOCK(test_a_callback_survives_its_clock),
      WITH_CLOCK(test_a_callback_can_be_asked_for_in_a_jump),
      cmocka_unit_test(test_reasons_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
