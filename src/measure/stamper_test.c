/* Stamps of acquisition, on a manual source and held steady and system time. */
#include <pthread.h>
#include <string.h>
#include <timebase/stamper.h>
#include <timebase/testing.h>

#include "on_manual_source.h"
#include "seed.h"

#define MS INT64_C(1000000)

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

static tb_steady_time_t steady_now(void)
{
  int64_t now_ns;
  assert_ok(tb_testing_now(TB_TESTING_STEADY, &now_ns));
  return (tb_steady_time_t){now_ns};
}

static tb_steady_time_t ago(int64_t ns)
{
  return (tb_steady_time_t){steady_now().ns - ns};
}

static tb_time_t system_ago(int64_t ns)
{
  int64_t now_ns;
  assert_ok(tb_testing_now(TB_TESTING_SYSTEM, &now_ns));
  return (tb_time_t){now_ns - ns, TB_TIME_SYSTEM};
}

/* Time passes, and the stamper sees it. */
static void pass(tb_stamper_t *stamper, tb_source_t *source, int64_t steady_ns, int64_t ros_ns)
{
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){steady_ns}));
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, (tb_duration_t){steady_ns}));
  assert_ok(tb_manual_source_advance(source, (tb_duration_t){ros_ns}));
  assert_ok(tb_stamper_note(stamper));
}

static tb_stamper_t *make(const fixture_t *f, bool accepts_stale)
{
  tb_stamper_t *stamper;
  const tb_stamper_options_t options = {.accepts_stale = accepts_stale};
  assert_ok(tb_stamper_create(f->clock, &options, &stamper));
  return stamper;
}

static void test_a_stamp_is_the_time_of_the_acquisition(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  for (int i = 0; i < 10; i++)
    pass(stamper, f->source, 20 * MS, 10 * MS); /* factor 0.5 */
  assert_ok(tb_stamp_from_steady(stamper, ago(50 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 75 * MS);
  assert_int_equal(stamp.stamp.kind, TB_TIME_ROS);
  assert_int_equal(stamp.received.ns, 100 * S + 100 * MS);
  assert_int_equal(stamp.acquired_steady.ns, ago(50 * MS).ns);
  assert_int_equal(stamp.received_steady.ns, steady_now().ns);
  assert_int_equal(stamp.bound.ns, 5 * MS); /* half way between two points */
  assert_int_equal(stamp.epoch, tb_clock_epoch(f->clock));
  assert_int_equal(stamp.stale, 0);
  assert_ok(tb_stamp_from_steady(stamper, ago(40 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 80 * MS);
  assert_ok(tb_stamp_from_steady(stamper, ago(0), &stamp));
  assert_int_equal(stamp.stamp.ns, stamp.received.ns);
  assert_int_equal(stamp.bound.ns, 0);
  tb_stamper_destroy(stamper);
}

static void test_system_times_are_stamped_as_steady_ones(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t from_steady, from_system;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  for (int i = 0; i < 10; i++)
    pass(stamper, f->source, 20 * MS, 60 * MS); /* factor 3 */
  for (int64_t age_ns = 0; age_ns < 200 * MS; age_ns += 7 * MS) {
    assert_ok(tb_stamp_from_steady(stamper, ago(age_ns), &from_steady));
    assert_ok(tb_stamp_from_system(stamper, system_ago(age_ns), &from_system));
    assert_int_equal(from_system.stamp.ns, from_steady.stamp.ns);
    assert_int_equal(from_system.bound.ns, from_steady.bound.ns);
    assert_int_equal(from_system.acquired_steady.ns, from_steady.acquired_steady.ns);
    assert_int_equal(from_steady.stamp.ns, 100 * S + 600 * MS - 3 * age_ns);
  }
  assert_status(tb_stamp_from_system(stamper, (tb_time_t){5 * S, TB_TIME_ROS}, &from_system),
                TB_ERR_CLOCK_MISMATCH);
  tb_stamper_destroy(stamper);
}

static void test_nothing_passes_while_time_is_paused(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  pass(stamper, f->source, 20 * MS, 20 * MS);
  for (int i = 0; i < 20; i++)
    pass(stamper, f->source, 100 * MS, 0);
  for (int64_t age_ns = 0; age_ns < 2000 * MS; age_ns += 33 * MS) {
    assert_ok(tb_stamp_from_steady(stamper, ago(age_ns), &stamp));
    assert_int_equal(stamp.stamp.ns, 100 * S + 20 * MS);
    assert_int_equal(stamp.bound.ns, 0);
  }
  tb_stamper_destroy(stamper);
}

/* ---- jumps ---- */

static void test_a_sample_from_before_a_jump_back_is_refused(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp = {.stale = 77};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false), *with_stale = make(f, true);
  uint64_t old_epoch = tb_clock_epoch(f->clock);
  for (int i = 0; i < 10; i++) {
    pass(stamper, f->source, 20 * MS, 20 * MS);
    assert_ok(tb_stamper_note(with_stale));
  }
  tb_steady_time_t before = ago(10 * MS), at_jump = ago(0);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  pass(stamper, f->source, 20 * MS, 20 * MS);
  tb_steady_time_t after = ago(5 * MS);
  assert_status(tb_stamp_from_steady(stamper, before, &stamp), TB_ERR_JUMP_BACKWARD);
  assert_int_equal(stamp.stale, 77); /* untouched */
  assert_ok(tb_stamp_from_steady(stamper, at_jump, &stamp));
  assert_int_equal(stamp.stamp.ns, 50 * S);
  assert_ok(tb_stamp_from_steady(stamper, after, &stamp));
  assert_int_equal(stamp.stamp.ns, 50 * S + 15 * MS);
  assert_true(stamp.epoch > old_epoch);
  assert_int_equal(stamp.epoch, tb_clock_epoch(f->clock));
  assert_ok(tb_stamp_from_steady(with_stale, before, &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 190 * MS);
  assert_int_equal(stamp.epoch, old_epoch);
  assert_int_equal(stamp.stale, 1);
  assert_int_equal(stamp.received.ns, 50 * S + 20 * MS);
  assert_int_equal(stamp.received_epoch, tb_clock_epoch(f->clock));
  tb_stamper_destroy(stamper);
  tb_stamper_destroy(with_stale);
}

static void test_a_sample_from_before_a_clock_change_is_refused(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){20 * MS}));
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, (tb_duration_t){20 * MS}));
  assert_status(tb_stamp_from_steady(stamper, ago(30 * MS), &stamp), TB_ERR_CLOCK_CHANGED);
  assert_ok(tb_stamp_from_steady(stamper, ago(10 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, system_ago(10 * MS).ns);
  tb_stamper_destroy(stamper);
}

/* Between the two times of a seek there is no time. */
static void test_a_seek_forward_is_not_spread_out(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){20 * MS}));
  assert_ok(tb_manual_source_jump(f->source, 900 * S, TB_JUMP_REASON_SEEK));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){20 * MS}));
  assert_ok(tb_stamp_from_steady(stamper, ago(30 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 20 * MS);
  assert_ok(tb_stamp_from_steady(stamper, ago(10 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 900 * S);
  tb_stamper_destroy(stamper);
}

static void test_before_the_first_tick_there_is_no_stamp(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  tb_stamper_t *stamper = make(f, false);
  pass(stamper, f->source, 20 * MS, 0);
  assert_status(tb_stamp_from_steady(stamper, ago(0), &stamp), TB_ERR_NOT_SET);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_status(tb_stamp_from_steady(stamper, ago(30 * MS), &stamp), TB_ERR_NOT_SET);
  assert_ok(tb_stamp_from_steady(stamper, ago(10 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 10 * MS);
  tb_stamper_destroy(stamper);
}

static tb_status_t status_in_before;

static void stamp_in_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  tb_stamp_t stamp;
  status_in_before = tb_stamp_from_steady(user, ago(0), &stamp);
}

static void test_a_jump_callback_may_stamp(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  const tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}}, .before = stamp_in_jump, .user = stamper};
  status_in_before = TB_ERR_END;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(status_in_before);
  tb_jump_handler_destroy(handler);
  tb_stamper_destroy(stamper);
}

typedef struct noting {
  tb_stamper_t *stamper;
  tb_status_t in_before, in_after;
} noting_t;

static void note_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  noting_t *noting = user;
  noting->in_before = tb_stamper_note(noting->stamper);
}

static void note_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  noting_t *noting = user;
  noting->in_after = tb_stamper_note(noting->stamper);
}

/* Of a handler that runs before the stamper's. */
static tb_jump_handler_t *note_first(tb_clock_t *clock, noting_t *noting)
{
  tb_jump_handler_t *handler;
  const tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}, .min_forward = {S}, .on_clock_change = true},
      .before = note_before,
      .after = note_after,
      .user = noting};
  noting->in_before = noting->in_after = TB_ERR_END;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

/* The new time is noted before the stamper's own handler has been called. */
static void test_the_new_time_may_be_noted_by_earlier_handlers(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  noting_t noting = {0};
  tb_jump_handler_t *handler = note_first(f->clock, &noting);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = noting.stamper = make(f, true), *strict = make(f, false);
  pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_ok(tb_stamper_note(strict));
  uint64_t old_epoch = tb_clock_epoch(f->clock);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){20 * MS}));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(noting.in_before);
  assert_ok(noting.in_after);
  pass(stamper, f->source, 20 * MS, 10 * MS); /* once without end */
  assert_ok(tb_stamp_from_steady(stamper, ago(10 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 50 * S + 5 * MS);
  assert_int_equal(stamp.stale, 0);
  assert_ok(tb_stamp_from_steady(stamper, ago(50 * MS), &stamp));
  assert_int_equal(stamp.stamp.ns, 100 * S + 10 * MS);
  assert_int_equal(stamp.epoch, old_epoch);
  assert_int_equal(stamp.stale, 1);
  noting.stamper = strict;
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* the reason is kept too */
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){20 * MS}));
  assert_status(tb_stamp_from_steady(strict, ago(30 * MS), &stamp), TB_ERR_CLOCK_CHANGED);
  tb_jump_handler_destroy(handler);
  tb_stamper_destroy(stamper);
  tb_stamper_destroy(strict);
}

/* The epoch rises after "before": until then system time is lower in the same epoch. */
static void test_a_step_of_system_time_is_a_jump_of_a_clock_of_it(void **state)
{
  (void)state;
  tb_clock_t *clock;
  noting_t noting = {0};
  tb_stamp_t stamp;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &clock));
  tb_jump_handler_t *handler = note_first(clock, &noting);
  assert_ok(tb_stamper_create(clock, NULL, &noting.stamper));
  assert_ok(tb_stamper_note(noting.stamper));
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, system_ago(100 * S).ns));
  assert_status(noting.in_before, TB_ERR_BUSY);
  assert_ok(noting.in_after);
  assert_ok(tb_stamp_from_steady(noting.stamper, ago(0), &stamp));
  assert_int_equal(stamp.stamp.ns, system_ago(0).ns);
  tb_jump_handler_destroy(handler);
  tb_stamper_destroy(noting.stamper);
  assert_ok(tb_clock_destroy(clock));
}

/* ---- what cannot be stamped ---- */

static void test_the_future_and_what_is_forgotten_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_stamp_t stamp;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  assert_status(tb_stamp_from_steady(stamper, ago(1), &stamp), TB_ERR_RANGE);
  assert_status(tb_stamp_from_steady(stamper, ago(-1), &stamp), TB_ERR_RANGE);
  for (int i = 0; i < 3000; i++)
    pass(stamper, f->source, 5 * MS, 5 * MS);
  assert_ok(tb_stamp_from_steady(stamper, ago(5 * S), &stamp));
  assert_int_equal(stamp.stamp.ns, 110 * S);
  assert_status(tb_stamp_from_steady(stamper, ago(14 * S), &stamp), TB_ERR_RANGE);
  assert_status(tb_stamp_from_steady(stamper, (tb_steady_time_t){INT64_MIN}, &stamp), TB_ERR_RANGE);
  assert_status(tb_stamp_from_steady(stamper, (tb_steady_time_t){INT64_MAX}, &stamp), TB_ERR_RANGE);
  assert_status(tb_stamp_from_system(stamper, (tb_time_t){INT64_MIN, TB_TIME_SYSTEM}, &stamp),
                TB_ERR_RANGE);
  tb_stamper_destroy(stamper);
  const tb_stamper_options_t wrong = {.history = {-1}};
  assert_status(tb_stamper_create(f->clock, &wrong, &stamper), TB_ERR_INVALID);
}

/* A step by `step_ns` between samples of 20 ms: what was acquired before it has a system time that
 * may look like one after it. */
static void assert_step_is_seen(const fixture_t *f, int64_t step_ns)
{
  tb_stamp_t stamp;
  tb_stamper_t *stamper = make(f, false);
  for (int i = 0; i < 20; i++)
    pass(stamper, f->source, 20 * MS, 20 * MS);
  tb_time_t before = system_ago(10 * MS);
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, system_ago(-step_ns).ns));
  pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_status(tb_stamp_from_system(stamper, before, &stamp), TB_ERR_CLOCK_CHANGED);
  for (int i = 0; i < 5; i++)
    pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_status(tb_stamp_from_system(stamper, before, &stamp), TB_ERR_CLOCK_CHANGED);
  for (int i = 0; i < 20; i++)
    pass(stamper, f->source, 20 * MS, 20 * MS);
  assert_ok(tb_stamp_from_system(stamper, system_ago(10 * MS), &stamp));
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  assert_int_equal(stamp.stamp.ns, now.ns - 10 * MS);
  tb_stamper_destroy(stamper);
}

static void test_steps_of_system_time_are_seen(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_step_is_seen(f, 100 * MS);
  assert_step_is_seen(f, -25 * MS);
  assert_step_is_seen(f, -100 * MS);
}

/* ---- against a model ---- */

#define MOMENTS 1500 /* of 1 ms */

/* The clock at each moment; in the order of time, one epoch after the other. */
typedef struct moment {
  int64_t steady_ns, time_ns;
  uint64_t epoch;
} moment_t;

static void test_stamps_are_within_their_bounds(void **state)
{
  fixture_t *f = *state;
  static moment_t moments[MOMENTS];
  do {
    uint64_t random = test_seed();
    assert_ok(tb_manual_source_set(f->source, 100 * S));
    tb_stamper_t *stamper = make(f, true);
    int64_t step_ns = MS;
    for (int i = 0; i < MOMENTS; i++) {
      uint64_t choice = test_random(&random) % 200;
      if (choice < 4) step_ns = (int64_t)choice * MS * 3 / 2; /* another factor, or a pause */
      assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){1000})); /* before a jump */
      if (choice == 4) assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){-2 * S}));
      if (choice == 5) assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){3 * S}));
      assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){MS}));
      assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){step_ns}));
      if (test_random(&random) % 8 == 0) assert_ok(tb_stamper_note(stamper));
      tb_clock_reading_t reading;
      assert_ok(tb_clock_read(f->clock, &reading));
      moments[i] = (moment_t){steady_now().ns, reading.time.ns, reading.epoch};
      const moment_t *moment = &moments[i - (int)(test_random(&random) % (uint64_t)(i + 1))];
      tb_stamp_t stamp;
      assert_ok(tb_stamp_from_steady(stamper, (tb_steady_time_t){moment->steady_ns}, &stamp));
      int64_t off_ns = stamp.stamp.ns - moment->time_ns;
      assert_int_equal(stamp.epoch, moment->epoch);
      if (off_ns > stamp.bound.ns || off_ns < -stamp.bound.ns)
        fail_msg("off by %lld, bound %lld", (long long)off_ns, (long long)stamp.bound.ns);
      assert_int_equal(stamp.stale, stamp.epoch != reading.epoch);
    }
    tb_stamper_destroy(stamper);
  } while (test_goes_on());
}

/* ---- many threads, in running time ---- */

#define THREADS 2
#define ROUNDS  3000

static void *stamp_along(void *stamper)
{
  tb_steady_clock_t *clock;
  tb_steady_time_t acquired;
  tb_stamp_t stamp;
  assert_ok(tb_steady_clock_create(&clock));
  for (int i = 0; i < ROUNDS; i++) {
    assert_ok(tb_steady_clock_now(clock, &acquired));
    acquired.ns -= i % 7 * 1000;
    tb_status_t status = tb_stamp_from_steady(stamper, acquired, &stamp);
    if (status == TB_ERR_BUSY || status == TB_ERR_JUMP_BACKWARD || status == TB_ERR_RANGE) continue;
    assert_ok(status);
    assert_int_equal(stamp.epoch, stamp.received_epoch);
    assert_true(stamp.stamp.ns <= stamp.received.ns); /* C6: in one epoch time never falls */
  }
  assert_ok(tb_steady_clock_destroy(clock));
  return NULL;
}

static void test_stamps_of_many_threads_while_time_jumps(void **state)
{
  fixture_t *f = *state;
  pthread_t threads[THREADS];
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_stamper_t *stamper = make(f, false);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, stamp_along, stamper), 0);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t step_ns = i % 10 == 9 ? -S : i % 10 == 5 ? 2 * S : 1000;
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){step_ns}));
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  tb_stamper_destroy(stamper);
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, hold, release)

int main(void)
{
  const struct CMUnitTest tests[] = {
      HELD(test_a_stamp_is_the_time_of_the_acquisition),
      HELD(test_system_times_are_stamped_as_steady_ones),
      HELD(test_nothing_passes_while_time_is_paused),
      HELD(test_a_sample_from_before_a_jump_back_is_refused),
      HELD(test_a_sample_from_before_a_clock_change_is_refused),
      HELD(test_a_seek_forward_is_not_spread_out),
      HELD(test_before_the_first_tick_there_is_no_stamp),
      HELD(test_a_jump_callback_may_stamp),
      HELD(test_the_new_time_may_be_noted_by_earlier_handlers),
      HELD(test_a_step_of_system_time_is_a_jump_of_a_clock_of_it),
      HELD(test_the_future_and_what_is_forgotten_are_refused),
      HELD(test_steps_of_system_time_are_seen),
      HELD(test_stamps_are_within_their_bounds),
      WITH_CLOCK(test_stamps_of_many_threads_while_time_jumps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
