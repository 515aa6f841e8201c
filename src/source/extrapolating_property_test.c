/* The extrapolating source with ticks drawn at random, while others read and are stopped. */
#include "clock/timeline_check.h"
#include "never_falls.h"
#include "seed.h"
#include "source/on_extrapolating_source.h"
#include "stopping.h"

static uint64_t random_state;

static double draw(double from, double to)
{
  return from + (to - from) * (double)(test_random(&random_state) >> 11) / 9007199254740992.0;
}

static void seed(void)
{
  random_state = test_seed() * UINT64_C(0x9E3779B97F4A7C15);
}

static void check_timelines(void)
{
  const char *wrong = tb__timeline_check(tb_source_timeline(outer));
  if (!wrong) wrong = tb__timeline_check(tb_source_timeline(inner));
  if (wrong) fail_msg("%s", wrong);
}

/* Arrival up to 3 ms late, at 100 Hz and at 1000 Hz in bursts. */
static void jitter(void)
{
  void *unused;
  setup_wrapped(&unused);
  seed();
  for (int i = 0; i < 2000; i++) {
    tick(10 * i, 10 * i + draw(0, 3));
    if (i > 5) /* three ticks at least 10 ms apart, of which jitter may take every other */
      assert_true(stats().rate > 0.7 && stats().rate < 1.3);
  }
  assert_true(stats().mean_error.ns < 2 * MS);
  assert_ok(tb_manual_source_set(inner, TIME_BEGIN));
  for (int i = 1; i < 20000; i++) {
    tick(i, 20000 + i - i % 3 + draw(0, 0.5) + i % 3 * 0.1);
    if (i % 8 == 0) check_timelines();
    if (i > 100) assert_true(stats().rate > 0.5 && stats().rate < 1.5);
  }
  assert_true(stats().mean_error.ns < 3 * MS);
  teardown_wrapped(&unused);
}

static void test_X4_jitter_of_the_arrival_hardly_moves_the_rate(void **state)
{
  (void)state;
  stopping_run(jitter, test_seed());
}

/* Within [last tick, last tick + reach], where held time is not above what was read before; falls
 * only at ticks below the last; at a tick exactly the tick, unless held. */
static void stay_between_ticks_and_bound(void)
{
  static never_falls_reader_t reader;
  never_falls_t seen = NEVER_FALLS_INIT;
  double time_ms = 0, at_ms = 0, last_read = -1e9, highest_end = -1e9, speed = 1;
  void *unused;
  setup_wrapped(&unused);
  seed();
  never_falls_start(&reader, outer_clock);
  for (int i = 0; i < 20000; i++) {
    at_ms += draw(0, 1) < 0.9 ? draw(0, 60) : draw(0, 500);
    double before = time_at(at_ms);
    assert_true(before >= last_read);
    assert_true(i < 1 || before <= highest_end + 1e-5);
    double choice = draw(0, 1);
    if (choice < 0.02) speed = draw(0, 12);
    bool back = choice > 0.99;
    double next_ms = back ? time_ms - draw(0.001, 2000) : time_ms;
    if (!back && choice < 0.9) next_ms += fmax(0, speed * draw(0, 60));
    tick(next_ms, at_ms);
    bool below_last = llround(next_ms * 1e6) < llround(time_ms * 1e6) && i > 0;
    time_ms = next_ms;
    last_read = time_now();
    if (i % 8 == 0) check_timelines();
    assert_true(never_falls_check(&seen, outer_clock));
    bool held = !below_last && i > 0 && time_ms < before;
    assert_true(fabs(last_read - (held ? before : time_ms)) < 1e-5);
    double end_ms = time_ms + (double)stats().reach.ns / 1e6;
    highest_end = last_read > end_ms ? last_read : end_ms;
  }
  never_falls_stop(&reader);
  teardown_wrapped(&unused);
}

static void test_X4_C6_time_stays_between_the_ticks_and_the_bound(void **state)
{
  (void)state;
  stopping_run(stay_between_ticks_and_bound, test_seed());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X4_jitter_of_the_arrival_hardly_moves_the_rate),
      cmocka_unit_test(test_X4_C6_time_stays_between_the_ticks_and_the_bound),
  };
  int failed;
  do
    failed = cmocka_run_group_tests(tests, NULL, NULL);
  while (!failed && test_goes_on());
  return failed;
}
