/* Watchdogs on held steady time. The thread that checks them handles what is due in order: when a
 * probe with a shorter limit has been called, the others have not been due. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ready.h>
#include <timebase/testing.h>
#include <timebase/timeline.h>
#include <timebase/watchdog.h>

#include "on_manual_source.h"
#include "platform/time.h"

#define MS INT64_C(1000000)

typedef struct called {
  _Atomic int expired, recovered;
  tb_watchdog_info_t info;
  char name[64];
} called_t;

static void on_expired(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog;
  called_t *called = user;
  called->info = *info;
  snprintf(called->name, sizeof called->name, "%s", info->name);
  called->expired++;
}

static void on_recovered(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog;
  called_t *called = user;
  called->info = *info;
  called->recovered++;
}

static tb_watchdog_t *make(called_t *called, int64_t limit_ns, tb_clock_t *clock)
{
  const tb_watchdog_options_t options = {.name = "camera",
                                         .limit = {limit_ns},
                                         .on_expired = on_expired,
                                         .on_recovered = on_recovered,
                                         .user = called,
                                         .clock = clock};
  tb_watchdog_t *watchdog;
  assert_ok(tb_watchdog_create(&options, &watchdog));
  return watchdog;
}

static void wait_for(_Atomic int *calls, int count)
{
  while (*calls < count)
    sched_yield();
  assert_int_equal(*calls, count);
}

static void advance(int64_t step_ns)
{
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){step_ns}));
}

static int hold(void **state)
{
  setup(state);
  return tb_testing_hold_os_time();
}

static int release(void **state)
{
  assert_ok(tb_testing_release_os_time());
  return teardown(state);
}

/* Returns when all that was due before now has been checked. */
static void let_it_check(void)
{
  called_t probed = {0};
  tb_watchdog_t *probe = make(&probed, 1, NULL);
  assert_ok(tb_watchdog_start(probe));
  advance(1);
  wait_for(&probed.expired, 1);
  tb_watchdog_destroy(probe);
}

static void test_it_expires_with_its_limit_and_not_before(void **state)
{
  (void)state;
  called_t called = {0}, early = {0};
  tb_watchdog_t *probe = make(&early, 100 * MS - 1, NULL);
  tb_watchdog_t *watchdog = make(&called, 100 * MS, NULL);
  assert_ok(tb_watchdog_start(watchdog));
  assert_ok(tb_watchdog_start(probe));
  advance(100 * MS - 1);
  wait_for(&early.expired, 1);
  assert_int_equal(called.expired, 0);
  advance(1);
  wait_for(&called.expired, 1);
  assert_string_equal(called.name, "camera");
  assert_int_equal(called.info.silence.ns, 100 * MS);
  assert_int_equal(called.info.expirations, 1);
  assert_int_equal(called.info.expired, 1);
  assert_int_equal(called.info.clock_state, 0);
  advance(3600 * S);
  let_it_check();
  assert_int_equal(called.expired, 1); /* once for each silence */
  tb_watchdog_destroy(probe);
  tb_watchdog_destroy(watchdog);
}

static void test_kicks_keep_it_quiet(void **state)
{
  (void)state;
  called_t called = {0};
  tb_watchdog_t *watchdog = make(&called, 100 * MS, NULL);
  assert_ok(tb_watchdog_start(watchdog));
  for (int i = 0; i < 20; i++) {
    advance(60 * MS);
    tb_watchdog_kick(watchdog);
    let_it_check();
  }
  assert_int_equal(called.expired, 0);
  advance(100 * MS);
  wait_for(&called.expired, 1);
  tb_watchdog_destroy(watchdog);
}

static void test_a_kick_after_it_has_expired_recovers(void **state)
{
  (void)state;
  called_t called = {0};
  tb_watchdog_t *watchdog = make(&called, 100 * MS, NULL);
  assert_ok(tb_watchdog_start(watchdog));
  for (int round = 1; round <= 3; round++) {
    advance(100 * MS);
    wait_for(&called.expired, round);
    advance(150 * MS);
    assert_int_equal(called.recovered, round - 1);
    tb_watchdog_kick(watchdog);
    wait_for(&called.recovered, round);
    assert_int_equal(called.info.silence.ns, 250 * MS);
    assert_int_equal(called.info.expired, 0);
    assert_int_equal(called.info.expirations, round);
  }
  tb_watchdog_destroy(watchdog);
}

static void test_it_expires_while_ros_time_is_paused(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_PAUSED);
  tb_watchdog_t *watchdog = make(&called, 100 * MS, f->clock);
  assert_ok(tb_watchdog_start(watchdog));
  advance(100 * MS);
  wait_for(&called.expired, 1);
  assert_int_equal(called.info.time.ns, 5 * S);
  assert_int_equal(called.info.time.kind, TB_TIME_ROS);
  assert_int_equal(called.info.clock_state, TB_CLOCK_PAUSED);
  assert_int_equal(called.info.epoch, tb_clock_epoch(f->clock));
  tb_watchdog_destroy(watchdog);
}

static void test_a_clock_that_does_not_move_expires(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  tb_watchdog_t *watchdog;
  const tb_watchdog_options_t options = {.limit = {80 * MS},
                                         .on_expired = on_expired,
                                         .on_recovered = on_recovered,
                                         .user = &called,
                                         .clock = f->clock,
                                         .watch_clock = true};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  let_it_check();
  for (int i = 0; i < 20; i++) { /* also backward */
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){i & 1 ? -MS : MS}));
    advance(20 * MS);
    let_it_check();
  }
  assert_int_equal(called.expired, 0);
  for (int i = 0; !called.expired && i < 20; i++) { /* repeated ticks are no sign of life */
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){0}));
    advance(10 * MS);
    let_it_check();
  }
  wait_for(&called.expired, 1);
  assert_string_equal(called.name, "unnamed");
  assert_in_range(called.info.silence.ns, 80 * MS, 100 * MS);
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){MS}));
  advance(10 * MS);
  wait_for(&called.recovered, 1);
  tb_watchdog_destroy(watchdog);
}

static void test_a_stopped_one_expects_nothing(void **state)
{
  (void)state;
  called_t called = {0};
  tb_watchdog_t *watchdog = make(&called, 100 * MS, NULL);
  tb_watchdog_info_t info;
  advance(S); /* it begins stopped */
  let_it_check();
  assert_ok(tb_watchdog_start(watchdog));
  advance(99 * MS);
  assert_ok(tb_watchdog_read(watchdog, &info));
  assert_int_equal(info.silence.ns, 99 * MS);
  assert_ok(tb_watchdog_stop(watchdog));
  tb_watchdog_kick(watchdog);
  advance(S);
  let_it_check();
  assert_int_equal(called.expired, 0);
  assert_ok(tb_watchdog_start(watchdog));
  advance(99 * MS);
  let_it_check();
  assert_int_equal(called.expired, 0);
  advance(MS);
  wait_for(&called.expired, 1);
  assert_ok(tb_watchdog_stop(watchdog));
  tb_watchdog_kick(watchdog);
  let_it_check();
  assert_int_equal(called.recovered, 0);
  assert_ok(tb_watchdog_read(watchdog, &info));
  assert_int_equal(info.expirations, 1);
  assert_int_equal(info.expired, 0);
  tb_watchdog_destroy(watchdog);
}

/* System time runs on, but it is not the clock that lives. */
static void test_a_clock_without_a_source_expires(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  tb_watchdog_t *watchdog;
  const tb_watchdog_options_t options = {.limit = {80 * MS},
                                         .on_expired = on_expired,
                                         .on_recovered = on_recovered,
                                         .user = &called,
                                         .clock = f->clock,
                                         .watch_clock = true};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  let_it_check();
  assert_ok(tb_clock_set_source(f->clock, NULL));
  for (int i = 0; !called.expired && i < 100; i++) {
    assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, (tb_duration_t){10 * MS}));
    advance(10 * MS);
    let_it_check();
  }
  wait_for(&called.expired, 1);
  assert_int_equal(called.info.clock_state, TB_CLOCK_INACTIVE);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  advance(10 * MS);
  wait_for(&called.recovered, 1);
  assert_ok(tb_manual_source_set(f->source, 0)); /* nor is it alive when it is reset */
  advance(80 * MS);
  wait_for(&called.expired, 2);
  tb_watchdog_destroy(watchdog);
}

/* ---- kicks and the thread ---- */

typedef struct slow {
  _Atomic bool entered, may_return;
} slow_t;

static void be_slow(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog, (void)info;
  slow_t *slow = user;
  slow->entered = true;
  while (!slow->may_return)
    sched_yield();
}

static tb_watchdog_t *make_slow(slow_t *slow)
{
  tb_watchdog_t *watchdog;
  *slow = (slow_t){0};
  const tb_watchdog_options_t options = {.limit = {MS}, .on_expired = be_slow, .user = slow};
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  advance(MS);
  while (!slow->entered)
    sched_yield();
  return watchdog;
}

static tb_steady_time_t at_expiry;

static void note_expiry(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  at_expiry.ns = info->silence.ns;
  assert_int_equal(info->expired, 1);
  on_expired(watchdog, info, user);
}

/* The thread is in another callback while the limit passes and the silence ends. */
static void test_a_silence_that_the_thread_misses_is_reported(void **state)
{
  (void)state;
  slow_t slow;
  called_t called = {0};
  tb_watchdog_t *watchdog, *late = make_slow(&slow);
  const tb_watchdog_options_t options = {.limit = {100 * MS},
                                         .on_expired = note_expiry,
                                         .on_recovered = on_recovered,
                                         .user = &called};
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  advance(130 * MS);
  tb_watchdog_kick(watchdog);
  advance(50 * MS);
  tb_watchdog_kick(watchdog);
  slow.may_return = true;
  wait_for(&called.recovered, 1);
  assert_int_equal(called.expired, 1);
  assert_int_equal(at_expiry.ns, 130 * MS);
  assert_int_equal(called.info.expirations, 1);
  assert_int_equal(called.info.expired, 0);
  advance(100 * MS);
  wait_for(&called.expired, 2);
  tb_watchdog_destroy(watchdog);
  tb_watchdog_destroy(late);
}

/* One thread has read the time, and is overtaken by a kick before it stores it. */
static int (*real_gettime)(clockid_t id, struct timespec *out);
static tb_watchdog_t *overtaken;
static _Thread_local bool is_overtaken;

static int gettime_and_wait(clockid_t id, struct timespec *out)
{
  int result = real_gettime(id, out);
  if (!is_overtaken) return result;
  is_overtaken = false;
  advance(50 * MS);
  tb_watchdog_kick(overtaken);
  return result;
}

static void test_a_kick_does_not_undo_a_later_one(void **state)
{
  (void)state;
  called_t called = {0};
  tb_watchdog_info_t info;
  overtaken = make(&called, 100 * MS, NULL);
  assert_ok(tb_watchdog_start(overtaken));
  advance(60 * MS);
  real_gettime = tb__clock_gettime;
  tb__clock_gettime = gettime_and_wait;
  is_overtaken = true;
  tb_watchdog_kick(overtaken);
  tb__clock_gettime = real_gettime;
  assert_ok(tb_watchdog_read(overtaken, &info));
  assert_int_equal(info.silence.ns, 0);
  tb_watchdog_destroy(overtaken);
}

/* ---- jumps ---- */

static void wait_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  called_t *called = user;
  wait_for(&called->expired, 1);
}

static void *jump_back(void *source)
{
  assert_ok(tb_manual_source_set(source, S));
  return NULL;
}

/* The handler blocks all readers of the clock until the watchdog has expired. */
static void test_it_expires_while_a_jump_blocks_readers(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  pthread_t thread;
  tb_time_t now;
  tb_jump_handler_t *handler;
  const tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}}, .before = wait_in_jump, .user = &called};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  tb_watchdog_t *watchdog = make(&called, 100 * MS, f->clock);
  assert_ok(tb_watchdog_start(watchdog));
  let_it_check();
  assert_int_equal(pthread_create(&thread, NULL, jump_back, f->source), 0);
  while (tb_clock_try_now(f->clock, &now) != TB_ERR_BUSY)
    sched_yield();
  advance(100 * MS);
  wait_for(&called.expired, 1);
  assert_int_equal(called.info.time.ns, 5 * S); /* the last that could be read */
  pthread_join(thread, NULL);
  tb_watchdog_destroy(watchdog);
  tb_jump_handler_destroy(handler);
}

static void on_ready(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  (void)ready, (void)result, (void)user;
}

/* While time jumps readiness is looked at again and again; held time does not pass meanwhile. */
static void test_what_waits_for_a_jump_does_not_delay_it(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  pthread_t thread;
  tb_time_t now;
  tb_jump_handler_t *handler;
  tb_ready_t *ready;
  const tb_ready_options_t running = {.running = true};
  const tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}}, .before = wait_in_jump, .user = &called};
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  tb_watchdog_t *watchdog = make(&called, 100 * MS, f->clock);
  assert_ok(tb_watchdog_start(watchdog));
  assert_ok(tb_ready_on(f->clock, &running, on_ready, NULL, &ready));
  let_it_check();
  assert_int_equal(pthread_create(&thread, NULL, jump_back, f->source), 0);
  while (tb_clock_try_now(f->clock, &now) != TB_ERR_BUSY)
    sched_yield();
  advance(100 * MS - 1); /* since it was started */
  wait_for(&called.expired, 1);
  pthread_join(thread, NULL);
  tb_ready_destroy(ready);
  tb_watchdog_destroy(watchdog);
  tb_jump_handler_destroy(handler);
}

/* ---- lifetimes ---- */

static void destroy_in_callback(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  tb_watchdog_destroy(watchdog);
  on_expired(NULL, info, user);
}

static void test_it_is_destroyed_in_its_callback(void **state)
{
  (void)state;
  for (int i = 0; i < 20; i++) { /* the thread ends and is started again */
    called_t called = {0};
    tb_watchdog_t *watchdog;
    const tb_watchdog_options_t options = {
        .limit = {MS}, .on_expired = destroy_in_callback, .user = &called};
    assert_ok(tb_watchdog_create(&options, &watchdog));
    assert_ok(tb_watchdog_start(watchdog));
    advance(MS);
    wait_for(&called.expired, 1);
  }
}

typedef struct chain {
  tb_watchdog_t *made;
  called_t called;
} chain_t;

static void make_in_callback(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)info;
  chain_t *chain = user;
  tb_watchdog_destroy(watchdog);
  chain->made = make(&chain->called, MS, NULL);
  assert_ok(tb_watchdog_start(chain->made));
  chain->called.recovered++;
}

static void test_another_one_is_made_in_a_callback(void **state)
{
  (void)state;
  chain_t chain = {0};
  tb_watchdog_t *watchdog;
  const tb_watchdog_options_t options = {
      .limit = {MS}, .on_expired = make_in_callback, .user = &chain};
  assert_ok(tb_watchdog_create(&options, &watchdog));
  assert_ok(tb_watchdog_start(watchdog));
  advance(MS);
  wait_for(&chain.called.recovered, 1);
  advance(MS);
  wait_for(&chain.called.expired, 1);
  tb_watchdog_destroy(chain.made);
}

static void *destroy_it(void *watchdog)
{
  tb_watchdog_destroy(watchdog);
  return NULL;
}

static void test_destroying_waits_for_the_callback(void **state)
{
  (void)state;
  static slow_t slow;
  pthread_t thread;
  tb_watchdog_t *watchdog = make_slow(&slow);
  assert_int_equal(pthread_create(&thread, NULL, destroy_it, watchdog), 0);
  for (int i = 0; i < 100; i++)
    sched_yield();
  assert_int_equal(pthread_tryjoin_np(thread, NULL), EBUSY);
  slow.may_return = true;
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_it_survives_its_clock(void **state)
{
  fixture_t *f = *state;
  called_t called = {0};
  tb_clock_t *clock;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, f->source}, &clock));
  tb_watchdog_t *watchdog = make(&called, MS, clock);
  assert_ok(tb_watchdog_start(watchdog));
  assert_ok(tb_clock_destroy(clock));
  advance(MS);
  wait_for(&called.expired, 1);
  tb_watchdog_destroy(watchdog);
}

static void test_wrong_options_are_refused(void **state)
{
  (void)state;
  tb_watchdog_t *watchdog = NULL;
  tb_clock_t *system;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &system));
  tb_watchdog_options_t options = {.on_expired = on_expired};
  assert_status(tb_watchdog_create(&options, &watchdog), TB_ERR_INVALID);
  options.limit.ns = -1;
  assert_status(tb_watchdog_create(&options, &watchdog), TB_ERR_INVALID);
  options.limit.ns = 1;
  options.watch_clock = true;
  assert_status(tb_watchdog_create(&options, &watchdog), TB_ERR_INVALID);
  options.clock = system;
  assert_status(tb_watchdog_create(&options, &watchdog), TB_ERR_CLOCK_MISMATCH);
  options = (tb_watchdog_options_t){.limit = {1}};
  assert_status(tb_watchdog_create(&options, &watchdog), TB_ERR_INVALID);
  assert_null(watchdog);
  assert_ok(tb_clock_destroy(system));
}

/* ---- many threads, in running time ---- */

#define THREADS 3
#define ROUNDS  2000

static void *kick_and_restart(void *watchdog)
{
  for (int i = 0; i < ROUNDS; i++) {
    tb_watchdog_kick(watchdog);
    if (i % 100 == 99) assert_ok(tb_watchdog_start(watchdog));
    if (i % 10 == 9) sched_yield();
  }
  return NULL;
}

static void test_kicks_of_many_threads(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  called_t called = {0};
  tb_watchdog_t *watchdog = make(&called, 1000, NULL);
  assert_ok(tb_watchdog_start(watchdog));
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, kick_and_restart, watchdog), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  tb_watchdog_info_t info;
  do
    assert_ok(tb_watchdog_read(watchdog, &info));
  while (!info.expired); /* nobody kicks any more */
  tb_watchdog_kick(watchdog);
  tb_watchdog_destroy(watchdog);
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, hold, release)

int main(void)
{
  const struct CMUnitTest tests[] = {
      HELD(test_it_expires_with_its_limit_and_not_before),
      HELD(test_kicks_keep_it_quiet),
      HELD(test_a_kick_after_it_has_expired_recovers),
      HELD(test_it_expires_while_ros_time_is_paused),
      HELD(test_a_clock_that_does_not_move_expires),
      HELD(test_a_clock_without_a_source_expires),
      HELD(test_a_silence_that_the_thread_misses_is_reported),
      HELD(test_a_kick_does_not_undo_a_later_one),
      HELD(test_a_stopped_one_expects_nothing),
      HELD(test_it_expires_while_a_jump_blocks_readers),
      HELD(test_what_waits_for_a_jump_does_not_delay_it),
      HELD(test_it_is_destroyed_in_its_callback),
      HELD(test_another_one_is_made_in_a_callback),
      HELD(test_destroying_waits_for_the_callback),
      HELD(test_it_survives_its_clock),
      cmocka_unit_test(test_wrong_options_are_refused),
      cmocka_unit_test(test_kicks_of_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
