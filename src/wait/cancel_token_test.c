#include <pthread.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>

#include "test.h"
#include "wait/sleeper.h"
#include "waiting.h"

#define S TB_NS_PER_S

typedef struct fixture {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_cancel_token_t *token;
} fixture_t;

static int setup(void **state)
{
  static fixture_t fixture;
  assert_ok(tb_manual_source_create(&fixture.source));
  tb_clock_options_t options = {TB_TIME_ROS, fixture.source};
  assert_ok(tb_clock_create(&options, &fixture.clock));
  assert_ok(tb_manual_source_set(fixture.source, 100 * S));
  assert_ok(tb_cancel_token_create(&fixture.token));
  *state = &fixture;
  return 0;
}

static int teardown(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_cancel_token_destroy(f->token));
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  return 0;
}

typedef struct sleeping {
  tb_clock_t *clock; /* or */
  tb_steady_clock_t *steady;
  int64_t for_ns;
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
} sleeping_t;

static void *sleep_thread(void *argument)
{
  sleeping_t *s = argument;
  tb_duration_t duration = {s->for_ns};
  s->status = s->steady ? tb_sleep_for(s->steady, duration, &s->options)
                        : tb_sleep_for(s->clock, duration, &s->options);
  return NULL;
}

static void start(sleeping_t *s)
{
  const tb_clock_t *clock = s->steady ? &s->steady->core : s->clock;
  int before = waiters_on(clock);
  pthread_create(&s->thread, NULL, sleep_thread, s);
  wait_for_waiters(clock, before + 1);
}

static void finish(sleeping_t *s, tb_status_t expected)
{
  pthread_join(s->thread, NULL);
  assert_status(s->status, expected);
}

static void test_S5_cancel_wakes_all_waits_with_the_token_on_every_clock(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *second, *inactive;
  tb_steady_clock_t *steady;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  tb_clock_options_t options = {TB_TIME_ROS, other}; /* never starts */
  assert_ok(tb_clock_create(&options, &second));
  assert_ok(tb_clock_create(NULL, &inactive));
  assert_ok(tb_steady_clock_create(&steady));
  sleeping_t held[8], apart = {.clock = f->clock, .for_ns = 5 * S};
  for (int i = 0; i < 8; i++) {
    held[i] = (sleeping_t){.for_ns = 3600 * S, .options.token = f->token};
    if (i % 4 == 3) held[i].steady = steady;
    held[i].clock = i % 4 == 0 ? f->clock : i % 4 == 1 ? second : inactive;
    start(&held[i]);
  }
  start(&apart);
  tb_cancel_token_cancel(f->token);
  for (int i = 0; i < 8; i++)
    finish(&held[i], TB_ERR_CANCELLED);
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_manual_source_set(f->source, 105 * S));
  finish(&apart, TB_OK);
  assert_ok(tb_steady_clock_destroy(steady));
  assert_ok(tb_clock_destroy(inactive));
  assert_ok(tb_clock_destroy(second));
  assert_ok(tb_source_destroy(other));
}

static void test_S5_cancelled_later_too_until_it_is_reset(void **state)
{
  fixture_t *f = *state;
  tb_wait_options_t options = {.token = f->token};
  assert_false(tb_cancel_token_is_cancelled(f->token));
  tb_cancel_token_cancel(f->token);
  tb_cancel_token_cancel(f->token);
  assert_true(tb_cancel_token_is_cancelled(f->token));
  assert_status(tb_sleep_for(f->clock, (tb_duration_t){S}, &options), TB_ERR_CANCELLED);
  assert_status(tb_sleep_for(f->clock, (tb_duration_t){0}, &options), TB_ERR_CANCELLED);
  assert_status(tb_clock_wait_until_started(f->clock, &options), TB_ERR_CANCELLED);
  tb_cancel_token_reset(f->token);
  assert_false(tb_cancel_token_is_cancelled(f->token));
  assert_ok(tb_clock_wait_until_started(f->clock, &options));
  sleeping_t s = {.clock = f->clock, .for_ns = S, .options = options};
  start(&s);
  assert_ok(tb_manual_source_set(f->source, 101 * S));
  finish(&s, TB_OK);
}

static void test_S5_reset_does_not_undo_a_cancel_for_waits_in_progress(void **state)
{
  fixture_t *f = *state;
  sleeping_t s[4];
  for (int i = 0; i < 4; i++) {
    s[i] = (sleeping_t){.clock = f->clock, .for_ns = S, .options.token = f->token};
    start(&s[i]);
  }
  /* no thread can check before all is over */
  tb_timeline_t *timeline;
  tb__clock_lock(f->clock, &timeline);
  tb_cancel_token_cancel(f->token);
  tb_cancel_token_reset(f->token);
  tb__clock_unlock(timeline);
  for (int i = 0; i < 4; i++)
    finish(&s[i], TB_ERR_CANCELLED);
}

static void cancel_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  tb_cancel_token_cancel(user);
}

/* The callback cancels at step 2 or 4 of the jump that at step 5 makes due or fails the sleepers.
 */
static void test_S5_cancelled_comes_before_jump_due_and_limit(void **state)
{
  fixture_t *f = *state;
  tb_time_t past = {S, TB_TIME_ROS};
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.name = "cancel",
                                       .threshold = {.min_forward = {1}, .min_backward = {-1}},
                                       .after = cancel_in_jump,
                                       .user = f->token};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  sleeping_t due = {.clock = f->clock, .for_ns = S, .options.token = f->token};
  sleeping_t jump = {
      .clock = f->clock,
      .for_ns = S,
      .options = {.flags = TB_WAIT_FAIL_ON_ANY, .forward_min = {S}, .token = f->token}};
  start(&due);
  start(&jump);
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  finish(&due, TB_ERR_CANCELLED);
  finish(&jump, TB_ERR_CANCELLED);
  tb_wait_options_t all = {.limit = {1}, .token = f->token};
  assert_status(tb_sleep_until(f->clock, past, &all), TB_ERR_CANCELLED);
  assert_status(tb_sleep_for(f->clock, (tb_duration_t){S}, &all), TB_ERR_CANCELLED);
  tb_jump_handler_destroy(handler);
}

/* A sleeper that a tick has taken, but that has not left yet. */
static void test_S5_cancelled_after_due_but_before_it_left(void **state)
{
  fixture_t *f = *state;
  sleeping_t s = {.clock = f->clock, .for_ns = S, .options.token = f->token};
  start(&s);
  tb__waiter_t *to_wake = NULL;
  tb_timeline_t *timeline;
  tb__clock_lock(f->clock, &timeline);
  timeline->time_ns = 101 * S;
  tb__waiters_collect_due_locked(timeline, &to_wake);
  tb__clock_unlock(timeline);
  assert_non_null(to_wake);
  tb_cancel_token_cancel(f->token);
  tb__waiters_wake(to_wake);
  finish(&s, TB_ERR_CANCELLED);
}

static _Atomic bool destroyed;

static void *destroy_token(void *token)
{
  assert_ok(tb_cancel_token_destroy(token));
  atomic_store(&destroyed, true);
  return NULL;
}

static void test_L1_destroying_a_token_ends_its_waits_and_waits_for_them(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  pthread_t destroyer;
  assert_ok(tb_cancel_token_create(&token));
  sleeping_t s[4];
  for (int i = 0; i < 4; i++) {
    s[i] = (sleeping_t){.clock = f->clock, .for_ns = S, .options.token = token};
    start(&s[i]);
  }
  tb_timeline_t *timeline;
  tb__clock_lock(f->clock, &timeline); /* they cannot leave */
  pthread_create(&destroyer, NULL, destroy_token, token);
  for (const tb__waiter_t *w = f->clock->waiters; w; w = w->clock_next)
    while (!atomic_load(&((const tb__sleeper_t *)w)->marks))
      sched_yield();
  for (int i = 0; i < 100; i++)
    sched_yield();
  assert_false(atomic_load(&destroyed));
  tb__clock_unlock(timeline);
  pthread_join(destroyer, NULL);
  assert_int_equal(waiters_on(f->clock), 0);
  for (int i = 0; i < 4; i++)
    finish(&s[i], TB_ERR_CLOSED);
  assert_ok(tb_cancel_token_destroy(NULL));
  tb_cancel_token_cancel(NULL);
  tb_cancel_token_reset(NULL);
  assert_false(tb_cancel_token_is_cancelled(NULL));
  assert_status(tb_cancel_token_create(NULL), TB_ERR_INVALID);
}

static void destroy_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  assert_status(tb_cancel_token_destroy(user), TB_ERR_DEADLOCK);
}

static void test_J5_destroying_a_token_in_a_jump_callback_is_refused(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.name = "destroy",
                                       .threshold = {.min_forward = {1}},
                                       .before = destroy_in_jump,
                                       .user = f->token};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  tb_jump_handler_destroy(handler);
}

typedef struct runner {
  fixture_t *f;
  _Atomic bool stop;
  _Atomic uint64_t cancelled, other;
} runner_t;

static void *sleep_again_and_again(void *argument)
{
  runner_t *runner = argument;
  tb_wait_options_t options = {.token = runner->f->token};
  while (!atomic_load(&runner->stop)) {
    tb_status_t status = tb_sleep_for(runner->f->clock, (tb_duration_t){3}, &options);
    atomic_fetch_add(status == TB_ERR_CANCELLED ? &runner->cancelled : &runner->other, 1);
  }
  return NULL;
}

/* Cancels, resets and ticks race against going to sleep: every waiter continues by either. */
static void test_S5_no_cancel_is_lost(void **state)
{
  fixture_t *f = *state;
  runner_t runners[3];
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    runners[i] = (runner_t){.f = f};
    pthread_create(&threads[i], NULL, sleep_again_and_again, &runners[i]);
  }
  int64_t now = 100 * S;
  for (int i = 0; i < 3; i++)
    for (int k = 0; atomic_load(&runners[i].cancelled) < 100; k++) {
      if (k % 2) assert_ok(tb_manual_source_set(f->source, ++now));
      tb_cancel_token_cancel(f->token);
      tb_cancel_token_reset(f->token);
      sched_yield();
    }
  for (int i = 0; i < 3; i++)
    for (int k = 0; atomic_load(&runners[i].other) < 100; k++) {
      assert_ok(tb_manual_source_set(f->source, ++now));
      if (k % 8 == 0) tb_cancel_token_cancel(f->token);
      if (k % 8 == 0) tb_cancel_token_reset(f->token);
      sched_yield();
    }
  for (int i = 0; i < 3; i++)
    atomic_store(&runners[i].stop, true);
  tb_cancel_token_cancel(f->token);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
}

#define WITH_TOKEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_TOKEN(test_S5_cancel_wakes_all_waits_with_the_token_on_every_clock),
      WITH_TOKEN(test_S5_cancelled_later_too_until_it_is_reset),
      WITH_TOKEN(test_S5_reset_does_not_undo_a_cancel_for_waits_in_progress),
      WITH_TOKEN(test_S5_cancelled_comes_before_jump_due_and_limit),
      WITH_TOKEN(test_S5_cancelled_after_due_but_before_it_left),
      WITH_TOKEN(test_L1_destroying_a_token_ends_its_waits_and_waits_for_them),
      WITH_TOKEN(test_J5_destroying_a_token_in_a_jump_callback_is_refused),
      WITH_TOKEN(test_S5_no_cancel_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
