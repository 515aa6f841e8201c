#include <pthread.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>

#include "test.h"
#include "waiting.h"

#define S TB_NS_PER_S

static const tb_duration_t for_ever = {INT64_MAX};

typedef struct fixture {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_cond_t *cond;
  pthread_mutex_t mutex; /* reports its owner */
} fixture_t;

static int setup(void **state)
{
  static fixture_t fixture;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&fixture.mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  assert_ok(tb_manual_source_create(&fixture.source));
  tb_clock_options_t options = {TB_TIME_ROS, fixture.source};
  assert_ok(tb_clock_create(&options, &fixture.clock));
  assert_ok(tb_manual_source_set(fixture.source, 100 * S));
  assert_ok(tb_cond_create(fixture.clock, &fixture.cond));
  *state = &fixture;
  return 0;
}

static int teardown(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_cond_destroy(f->cond));
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  pthread_mutex_destroy(&f->mutex);
  return 0;
}

typedef struct waiting {
  fixture_t *f;
  int64_t until_ns, for_ns; /* one of them; neither: forever */
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
  bool signalled;
  int unlocked; /* what releasing the mutex returned */
} waiting_t;

static void *wait_thread(void *argument)
{
  waiting_t *w = argument;
  fixture_t *f = w->f;
  tb_time_t target = {w->until_ns, TB_TIME_ROS};
  tb_duration_t duration = w->for_ns ? (tb_duration_t){w->for_ns} : for_ever;
  pthread_mutex_lock(&f->mutex);
  w->status = w->until_ns
                  ? tb_cond_wait_until(f->cond, &f->mutex, target, &w->options, &w->signalled)
                  : tb_cond_wait_for(f->cond, &f->mutex, duration, &w->options, &w->signalled);
  w->unlocked = pthread_mutex_unlock(&f->mutex);
  return NULL;
}

static void start(waiting_t *w)
{
  int before = waiters_on(w->f->clock);
  pthread_create(&w->thread, NULL, wait_thread, w);
  wait_for_waiters(w->f->clock, before + 1);
}

static void finish(waiting_t *w, tb_status_t expected, bool signalled)
{
  pthread_join(w->thread, NULL);
  assert_status(w->status, expected);
  assert_int_equal(w->signalled, signalled);
  assert_int_equal(w->unlocked, 0);
}

static void set(fixture_t *f, int64_t seconds)
{
  assert_ok(tb_manual_source_set(f->source, seconds * S));
}

static void test_S8_signalled_or_time_reached_whichever_is_first(void **state)
{
  fixture_t *f = *state;
  waiting_t signalled = {.f = f, .until_ns = 110 * S}, reached = {.f = f, .until_ns = 110 * S},
            passed = {.f = f, .for_ns = 5 * S};
  start(&signalled);
  start(&reached);
  start(&passed);
  assert_ok(tb_cond_signal(f->cond));
  finish(&signalled, TB_OK, true);
  assert_ok(tb_manual_source_set(f->source, 105 * S - 1));
  assert_int_equal(waiters_on(f->clock), 2);
  set(f, 105);
  finish(&passed, TB_OK, false);
  set(f, 110);
  finish(&reached, TB_OK, false);
  assert_ok(tb_cond_signal(f->cond)); /* no waiter: not kept */
  waiting_t later = {.f = f, .for_ns = S};
  start(&later);
  set(f, 111);
  finish(&later, TB_OK, false);
}

static void test_S8_signal_wakes_the_longest_waiter_and_broadcast_all(void **state)
{
  fixture_t *f = *state;
  waiting_t w[6];
  for (int i = 0; i < 6; i++) {
    w[i] = (waiting_t){.f = f, .until_ns = (200 - i) * S};
    start(&w[i]);
  }
  for (int i = 0; i < 3; i++) {
    assert_ok(tb_cond_signal(f->cond));
    finish(&w[i], TB_OK, true);
    assert_int_equal(waiters_on(f->clock), 5 - i);
  }
  assert_ok(tb_cond_broadcast(f->cond));
  for (int i = 3; i < 6; i++)
    finish(&w[i], TB_OK, true);
}

static void test_S8_returns_at_once_when_the_time_has_come(void **state)
{
  fixture_t *f = *state;
  bool signalled = true;
  pthread_mutex_lock(&f->mutex);
  assert_ok(tb_cond_wait_until(f->cond, &f->mutex, ((tb_time_t){100 * S, TB_TIME_ROS}), NULL,
                               &signalled));
  assert_false(signalled);
  signalled = true;
  assert_ok(tb_cond_wait_for(f->cond, &f->mutex, ((tb_duration_t){0}), NULL, &signalled));
  assert_false(signalled);
  assert_ok(tb_cond_wait_for(f->cond, &f->mutex, ((tb_duration_t){-1}), NULL, NULL));
  assert_int_equal(pthread_mutex_unlock(&f->mutex), 0);
}

static void test_S8_bad_calls_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_wait_options_t bad = {.limit = {-1}};
  tb_time_t wall = {200 * S, TB_TIME_SYSTEM}, zero = {0, TB_TIME_ROS};
  bool signalled = true;
  pthread_mutex_t *mutex = &f->mutex;
#ifndef __SANITIZE_THREAD__ /* which reports the mistake itself */
  assert_status(tb_cond_wait_for(f->cond, mutex, for_ever, NULL, &signalled), TB_ERR_INVALID);
  assert_int_equal(waiters_on(f->clock), 0); /* the mutex was not held */
#endif
  pthread_mutex_lock(mutex);
  assert_status(tb_cond_wait_until(f->cond, mutex, wall, NULL, &signalled), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_cond_wait_until(f->cond, mutex, zero, NULL, &signalled), TB_ERR_NOT_SET);
  assert_status(tb_cond_wait_for(f->cond, mutex, for_ever, &bad, &signalled), TB_ERR_INVALID);
  assert_status(tb_cond_wait_for(f->cond, NULL, for_ever, NULL, &signalled), TB_ERR_INVALID);
  assert_int_equal(pthread_mutex_unlock(mutex), 0);
  assert_true(signalled); /* untouched */
  assert_status(tb_cond_signal((tb_cond_t *)NULL), TB_ERR_INVALID);
  assert_status(tb_cond_create((tb_clock_t *)NULL, &f->cond), TB_ERR_INVALID);
}

static void test_S2_S3_jumps_do_to_a_condition_what_they_do_to_a_sleep(void **state)
{
  fixture_t *f = *state;
  waiting_t until = {.f = f, .until_ns = 110 * S}, remaining = {.f = f, .for_ns = 10 * S},
            fails = {.f = f, .for_ns = 10 * S, .options.flags = TB_WAIT_FAIL_ON_BACKWARD};
  start(&until);
  start(&remaining);
  start(&fails);
  set(f, 104);
  set(f, 50);
  finish(&fails, TB_ERR_JUMP_BACKWARD, false);
  set(f, 56);
  finish(&remaining, TB_OK, false);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish(&until, TB_ERR_CLOCK_CHANGED, false);
}

static void test_S8_signal_after_a_clock_change(void **state)
{
  fixture_t *f = *state;
  waiting_t w = {.f = f, .for_ns = 3600 * S}, next = {.f = f, .for_ns = 3600 * S};
  start(&w);
  start(&next);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_cond_signal(f->cond));
  finish(&w, TB_OK, true);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_cond_signal(f->cond));
  finish(&next, TB_OK, true);
}

static void test_S5_limit_and_cancel_end_a_wait_on_a_condition(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  waiting_t limited = {.f = f, .options.limit = {1000}};
  pthread_create(&limited.thread, NULL, wait_thread, &limited);
  finish(&limited, TB_ERR_TIMEOUT, false);
  waiting_t held = {.f = f, .options.token = token};
  start(&held);
  tb_cancel_token_cancel(token);
  finish(&held, TB_ERR_CANCELLED, false);
  assert_int_equal(waiters_on(f->clock), 0);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_S8_a_cancelled_wait_takes_no_signal_from_another(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  waiting_t cancelled = {.f = f, .options.token = token}, next = {.f = f};
  start(&cancelled);
  start(&next);
  pthread_mutex_lock(&f->mutex);
  tb_cancel_token_cancel(token);
  assert_ok(tb_cond_signal(f->cond));
  pthread_mutex_unlock(&f->mutex);
  finish(&cancelled, TB_ERR_CANCELLED, false);
  finish(&next, TB_OK, true);
  tb_cancel_token_reset(token);
  waiting_t signalled = {.f = f, .options.token = token};
  start(&signalled);
  pthread_mutex_lock(&f->mutex); /* it cannot return before it was cancelled too */
  assert_ok(tb_cond_signal(f->cond));
  tb_cancel_token_cancel(token);
  pthread_mutex_unlock(&f->mutex);
  finish(&signalled, TB_OK, true);
  assert_ok(tb_cancel_token_destroy(token));
}

typedef struct steady_fixture {
  tb_steady_clock_t *clock;
  tb_steady_cond_t *cond;
  pthread_mutex_t mutex;
  bool signalled;
} steady_fixture_t;

static void *steady_wait_thread(void *argument)
{
  steady_fixture_t *f = argument;
  pthread_mutex_lock(&f->mutex);
  assert_ok(tb_cond_wait_for(f->cond, &f->mutex, for_ever, NULL, &f->signalled));
  pthread_mutex_unlock(&f->mutex);
  return NULL;
}

static void test_S8_every_kind_of_clock_has_conditions(void **state)
{
  (void)state;
  steady_fixture_t f = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  bool signalled = true;
  tb_steady_time_t now, later;
  assert_ok(tb_steady_clock_create(&f.clock));
  assert_ok(tb_cond_create(f.clock, &f.cond));
  pthread_t thread;
  for (int i = 0; i < 2; i++) {
    f.signalled = false;
    pthread_create(&thread, NULL, steady_wait_thread, &f);
    wait_for_waiters(&f.clock->core, 1);
    assert_ok(i ? tb_cond_signal(f.cond) : tb_cond_broadcast(f.cond));
    pthread_join(thread, NULL);
    assert_true(f.signalled);
  }
  pthread_mutex_lock(&f.mutex);
  assert_ok(tb_now(f.clock, &now));
  tb_steady_time_t target = {now.ns + 1000000};
  assert_ok(tb_cond_wait_until(f.cond, &f.mutex, target, NULL, &signalled));
  assert_false(signalled);
  assert_ok(tb_now(f.clock, &later));
  assert_true(later.ns >= target.ns);
  tb_clock_t *system;
  tb_cond_t *cond;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_clock_create(&options, &system));
  assert_ok(tb_cond_create(system, &cond));
  assert_ok(tb_cond_wait_for(cond, &f.mutex, ((tb_duration_t){1000}), NULL, &signalled));
  assert_false(signalled);
  pthread_mutex_unlock(&f.mutex);
  assert_ok(tb_cond_destroy(cond));
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_cond_destroy(f.cond));
  assert_ok(tb_steady_clock_destroy(f.clock));
}

/* A ball between two threads: each waits for its turn with no time, so a lost signal hangs. */
#define ROUNDS 2000

typedef struct player {
  fixture_t *f;
  int *turn;
  int mine;
} player_t;

static void *play(void *argument)
{
  player_t *player = argument;
  fixture_t *f = player->f;
  pthread_mutex_lock(&f->mutex);
  for (int i = 0; i < ROUNDS; i++) {
    while (*player->turn % 2 != player->mine)
      assert_ok(tb_cond_wait_for(f->cond, &f->mutex, for_ever, NULL, NULL));
    ++*player->turn;
    if (i % 2) assert_ok(tb_cond_signal(f->cond));
    pthread_mutex_unlock(&f->mutex);
    if (i % 2 == 0) assert_ok(tb_cond_signal(f->cond));
    pthread_mutex_lock(&f->mutex);
  }
  pthread_mutex_unlock(&f->mutex);
  return NULL;
}

static void test_S8_no_signal_is_lost(void **state)
{
  fixture_t *f = *state;
  int turn = 0;
  tb_clock_t *keeper; /* of the source */
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &keeper));
  player_t players[2] = {{f, &turn, 0}, {f, &turn, 1}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, play, &players[i]);
  for (int i = 0; i < 200; i++) { /* while time and source move */
    set(f, i % 10 + 1);
    if (i % 20 == 0) assert_ok(tb_clock_set_source(f->clock, i % 40 ? f->source : NULL));
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(turn, 2 * ROUNDS);
  assert_ok(tb_clock_destroy(keeper));
}

typedef struct entering {
  fixture_t *f;
  _Atomic int step; /* 1: in the jump, 2: the waiter has the mutex */
  tb_status_t status;
  bool signalled;
} entering_t;

static void await_step(entering_t *e, int step)
{
  while (atomic_load(&e->step) != step)
    sched_yield();
}

static void *enter_in_jump(void *argument)
{
  entering_t *e = argument;
  await_step(e, 1);
  pthread_mutex_lock(&e->f->mutex);
  atomic_store(&e->step, 2);
  e->status = tb_cond_wait_for(e->f->cond, &e->f->mutex, for_ever, NULL, &e->signalled);
  pthread_mutex_unlock(&e->f->mutex);
  return NULL;
}

static void signal_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  entering_t *e = user;
  bool signalled;
  atomic_store(&e->step, 1);
  await_step(e, 2);
  pthread_mutex_lock(&e->f->mutex); /* released although the clock cannot be read */
  assert_status(tb_cond_wait_for(e->f->cond, &e->f->mutex, for_ever, NULL, &signalled),
                TB_ERR_DEADLOCK);
  assert_ok(tb_cond_signal(e->f->cond));
  pthread_mutex_unlock(&e->f->mutex);
  assert_status(tb_cond_destroy(e->f->cond), TB_ERR_DEADLOCK);
}

static void test_S8_a_signal_from_a_jump_reaches_a_wait_that_enters_during_it(void **state)
{
  fixture_t *f = *state;
  entering_t e = {.f = f};
  pthread_t thread;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .name = "signal", .threshold = {.min_backward = {-1}}, .before = signal_in_jump, .user = &e};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  pthread_create(&thread, NULL, enter_in_jump, &e);
  set(f, 50);
  pthread_join(thread, NULL);
  assert_ok(e.status);
  assert_true(e.signalled);
  assert_int_equal(waiters_on(f->clock), 0);
  tb_jump_handler_destroy(handler);
}

static void test_L1_destroying_a_condition_ends_its_waits(void **state)
{
  fixture_t *f = *state;
  waiting_t w[3];
  for (int i = 0; i < 3; i++) {
    w[i] = (waiting_t){.f = f, .for_ns = S};
    start(&w[i]);
  }
  pthread_mutex_lock(&f->mutex); /* may be held */
  assert_ok(tb_cond_destroy(f->cond));
  pthread_mutex_unlock(&f->mutex);
  assert_int_equal(waiters_on(f->clock), 0);
  for (int i = 0; i < 3; i++)
    finish(&w[i], TB_ERR_CLOSED, false);
  assert_ok(tb_cond_destroy((tb_cond_t *)NULL));
  assert_ok(tb_cond_create(f->clock, &f->cond));
}

static void test_L1_destroying_its_clock_ends_the_waits_on_a_condition(void **state)
{
  fixture_t *f = *state;
  waiting_t w = {.f = f};
  start(&w);
  assert_ok(tb_clock_destroy(f->clock));
  finish(&w, TB_ERR_CLOSED, false);
  assert_ok(tb_cond_signal(f->cond)); /* it stays valid */
  pthread_mutex_lock(&f->mutex);
  assert_status(tb_cond_wait_for(f->cond, &f->mutex, for_ever, NULL, NULL), TB_ERR_CLOSED);
  pthread_mutex_unlock(&f->mutex);
  assert_ok(tb_clock_create(NULL, &f->clock));
}

#define WITH_COND(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_COND(test_S8_signalled_or_time_reached_whichever_is_first),
      WITH_COND(test_S8_signal_wakes_the_longest_waiter_and_broadcast_all),
      WITH_COND(test_S8_returns_at_once_when_the_time_has_come),
      WITH_COND(test_S8_bad_calls_are_refused),
      WITH_COND(test_S2_S3_jumps_do_to_a_condition_what_they_do_to_a_sleep),
      WITH_COND(test_S8_signal_after_a_clock_change),
      WITH_COND(test_S5_limit_and_cancel_end_a_wait_on_a_condition),
      WITH_COND(test_S8_a_cancelled_wait_takes_no_signal_from_another),
      cmocka_unit_test(test_S8_every_kind_of_clock_has_conditions),
      WITH_COND(test_S8_no_signal_is_lost),
      WITH_COND(test_S8_a_signal_from_a_jump_reaches_a_wait_that_enters_during_it),
      WITH_COND(test_L1_destroying_a_condition_ends_its_waits),
      WITH_COND(test_L1_destroying_its_clock_ends_the_waits_on_a_condition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
