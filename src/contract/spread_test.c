/* Quantiles of distributions, against sorted values. */
#include "contract/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "seed.h"
#include "test.h"

static void test_empty(void **state)
{
  (void)state;
  tb__spread_t spread = {0};
  assert_int_equal(tb__spread_quantile(&spread, 0.5), 0);
  assert_true(tb__moments_deviation(&spread.moments) <= 0);
}

static void test_extremes_of_the_type(void **state)
{
  (void)state;
  tb__spread_t spread = {0};
  tb__spread_add(&spread, INT64_MAX);
  tb__spread_add(&spread, INT64_MIN);
  tb__spread_add(&spread, 0);
  assert_true(spread.moments.min_ns == INT64_MIN && spread.moments.max_ns == INT64_MAX);
  assert_true(tb__spread_quantile(&spread, 0.0) == INT64_MIN);
  assert_true(tb__spread_quantile(&spread, 1.0) == INT64_MAX);
  assert_true(tb__spread_quantile(&spread, NAN) == INT64_MIN);
  assert_in_range(tb__spread_quantile(&spread, 0.5), 0, 1000);
}

static int compare(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void test_quantiles_are_near_those_of_sorted_values(void **state)
{
  (void)state;
  enum { COUNT = 5000 };
  static int64_t values[COUNT];
  static const double shares[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
  uint64_t seed = test_seed();
  for (int round = 0; round < 20; round++) {
    tb__spread_t spread = {0};
    for (int i = 0; i < COUNT; i++) {
      /* From 1 us to an hour, evenly by octave, a third of them below 0. */
      double exponent = 3 + 9.5 * (double)(test_random(&seed) % 1000000) / 1e6;
      values[i] = (int64_t)pow(10, exponent);
      if (test_random(&seed) % 3 == 0) values[i] = -values[i];
      tb__spread_add(&spread, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
      int64_t want = values[(size_t)ceil(shares[i] * COUNT) - 1];
      int64_t got = tb__spread_quantile(&spread, shares[i]);
      double off = fabs((double)(got - want));
      if (off > 1000 && off > 0.016 * fabs((double)want))
        fail_msg("share %g: %lld, want %lld", shares[i], (long long)got, (long long)want);
    }
  }
}

static void test_moments(void **state)
{
  (void)state;
  tb__moments_t moments = {0};
  static const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
  for (size_t i = 0; i < 8; i++)
    tb__moments_add(&moments, values[i]);
  assert_int_equal(moments.min_ns, 2);
  assert_int_equal(moments.max_ns, 9);
  assert_true(fabs(moments.mean_ns - 5) < 1e-9);
  assert_true(fabs(tb__moments_deviation(&moments) - 2) < 1e-9);
}

static void test_merged_and_counted_as_if_added(void **state)
{
  (void)state;
  tb__spread_t a = {0}, b = {0}, both = {0};
  static const int64_t values[] = {0,        500,       40000,      1000000,   70000000,
                                   -3000000, -70000000, 2000000000, -12345678, 900};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    tb__spread_add(i % 3 ? &a : &b, values[i]);
    tb__spread_add(&both, values[i]);
  }
  tb__spread_merge(&a, &b);
  tb__spread_merge(&a, &(tb__spread_t){0});
  assert_memory_equal(a.above, both.above, sizeof a.above);
  assert_memory_equal(a.below, both.below, sizeof a.below);
  assert_int_equal(a.moments.count, both.moments.count);
  assert_int_equal(a.moments.min_ns, both.moments.min_ns);
  assert_int_equal(a.moments.max_ns, both.moments.max_ns);
  assert_true(fabs(a.moments.mean_ns - both.moments.mean_ns) < 1);
  assert_true(fabs(tb__moments_deviation(&a.moments) - tb__moments_deviation(&both.moments)) < 1);
  assert_int_equal(tb__spread_at_most(&a, INT64_MAX), 10);
  assert_int_equal(tb__spread_at_most(&a, 0), 3);
  assert_int_equal(tb__spread_at_most(&a, -10000000), 2);
  assert_int_equal(tb__spread_at_most(&a, 2000000), 8);
  assert_int_equal(tb__spread_at_most(&a, INT64_MIN), 0);
  assert_true(fabs(tb__spread_sum_below(&a) - 85345678) < 0.016 * 85345678);
  memset(&a.above[5], 0xff, sizeof a.above[5]);
  tb__spread_merge(&a, &a);
  assert_int_equal(a.above[5], UINT32_MAX); /* a bin that is full stays full */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_extremes_of_the_type),
      cmocka_unit_test(test_quantiles_are_near_those_of_sorted_values),
      cmocka_unit_test(test_moments),
      cmocka_unit_test(test_merged_and_counted_as_if_added),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
