#include "clock/linear_time.h"

#include <stdlib.h>

#include "test.h"

#define S INT64_C(1000000000)

static void test_X1_time_runs_from_the_moment_of_the_anchor(void **state)
{
  (void)state;
  tb__linear_time_t linear = {.time_ns = 100, .steady_ns = 1000, .until_ns = INT64_MAX, .rate = 2};
  assert_int_equal(tb__linear_time_at(&linear, 1), 100);
  assert_int_equal(tb__linear_time_at(&linear, 1000), 100);
  assert_int_equal(tb__linear_time_at(&linear, 1001), 102);
  assert_int_equal(tb__linear_time_at(&linear, 1000 + S), 100 + 2 * S);
}

static void test_X1_time_stops_at_the_bound(void **state)
{
  (void)state;
  tb__linear_time_t linear = {.time_ns = 100, .steady_ns = 1000, .until_ns = 105, .rate = 1};
  assert_int_equal(tb__linear_time_at(&linear, 1004), 104);
  assert_int_equal(tb__linear_time_at(&linear, 1005), 105);
  assert_int_equal(tb__linear_time_at(&linear, INT64_MAX), 105);
  assert_true(tb__linear_time_moment(&linear, 106) == INT64_MAX);
  linear.until_ns = INT64_MAX;
  linear.rate = 1e6;
  assert_true(tb__linear_time_at(&linear, INT64_MAX) == INT64_MAX);
}

static uint64_t random_bits(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 20;
}

/* Time never falls, and is reached at the returned moment, within the rounding of a double. */
static void test_X1_moments_and_times_agree(void **state)
{
  (void)state;
  const char *given = getenv("TB_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)seed);
  for (int i = 0; i < 100000; i++) {
    tb__linear_time_t linear = {
        .time_ns = (int64_t)(random_bits(&seed) % (uint64_t)(2000000000 * S)),
        .steady_ns = 1 + (int64_t)(random_bits(&seed) % (uint64_t)(1000000 * S)),
        .until_ns = INT64_MAX,
        .rate = (double)(1 + random_bits(&seed) % 1000000) / 1000,
    };
    int64_t step_ns = (int64_t)(random_bits(&seed) % (uint64_t)(3600 * S));
    int64_t moment_ns = tb__linear_time_moment(&linear, linear.time_ns + step_ns);
    int64_t reached_ns = tb__linear_time_at(&linear, moment_ns);
    int64_t slack_ns = 2 + (int64_t)linear.rate;
    assert_in_range(reached_ns - linear.time_ns + slack_ns, step_ns, step_ns + 2 * slack_ns);
    assert_true(tb__linear_time_at(&linear, moment_ns + 1) >= reached_ns);
    assert_true(tb__linear_time_at(&linear, moment_ns - 1) <= reached_ns);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X1_time_runs_from_the_moment_of_the_anchor),
      cmocka_unit_test(test_X1_time_stops_at_the_bound),
      cmocka_unit_test(test_X1_moments_and_times_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
