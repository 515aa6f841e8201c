/* Bins over time: merged as it grows, bounded, and not ruined by one wrong time. */
#include "contract/series.h"

#include <stdlib.h>

#include "seed.h"
#include "test.h"

#define NS_PER_S INT64_C(1000000000)
#define START_NS (INT64_C(1714564800) * NS_PER_S)

static uint64_t total(const tb__counts_t *counts)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < TB__AXIS_BINS; i++)
    sum += counts->bins[i];
  return sum;
}

static void test_empty(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__bands_t bands = {0};
  assert_int_equal(tb__axis_count(&axis), 0);
  assert_false(tb__axis_add(&axis, 0));
  assert_false(tb__axis_add(&axis, -1));
  assert_false(tb__axis_add(&axis, INT64_MIN));
  assert_int_equal(axis.outside, 3);
  assert_int_equal(tb__axis_count(&axis), 0);
  assert_int_equal(tb__bands_summary(&bands, 0, TB__BAND_BINS).count, 0);
}

/* From a millisecond to years, and to the left too: no sample is lost, and each stays where it
 * was. */
static void test_bins_are_merged_as_time_grows(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__counts_t counts = {0};
  uint64_t added = 0;
  for (int64_t step = 1000; step < INT64_C(1) << 58; step += step / 3) {
    for (int side = -1; side <= 1; side += 2) {
      if (START_NS + side * step <= 0 || !tb__axis_add(&axis, START_NS + side * step)) continue;
      tb__counts_add(&counts, &axis, START_NS + side * step);
      added++;
    }
    size_t used = tb__axis_count(&axis);
    assert_in_range(used, 1, TB__AXIS_BINS);
    assert_int_equal(total(&counts), added);
    assert_int_not_equal(counts.bins[used - 1], 0);
    assert_int_not_equal(counts.bins[0], 0);
  }
  assert_true(added > 100);
}

/* A series that was not used while the axis grew follows later. */
static void test_series_follow_when_they_are_used(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__counts_t first = {0}, other = {0};
  assert_true(tb__axis_add(&axis, START_NS));
  tb__counts_add(&first, &axis, START_NS);
  for (int i = 0; i < 5000; i++) {
    assert_true(tb__axis_add(&axis, START_NS + i * NS_PER_S));
    tb__counts_add(&other, &axis, START_NS + i * NS_PER_S);
  }
  tb__counts_follow(&first, &axis);
  assert_int_equal(first.bins[0], 1);
  assert_int_equal(total(&first), 1);
  assert_int_equal(total(&other), 5000);
  assert_true(tb__axis_count(&axis) > TB__AXIS_BINS / 2 - 1);
}

static void test_one_wrong_time_hides_nothing(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  assert_true(tb__axis_add(&axis, 5)); /* at first nothing else is known */
  assert_false(tb__axis_add(&axis, START_NS));
  assert_true(tb__axis_add(&axis, START_NS + NS_PER_S)); /* the many are there */
  for (int i = 2; i < 100; i++)
    assert_true(tb__axis_add(&axis, START_NS + i * NS_PER_S));
  assert_false(tb__axis_add(&axis, INT64_MAX));
  assert_false(tb__axis_add(&axis, 7));
  assert_int_equal(axis.min_ns, START_NS + NS_PER_S);
  assert_int_equal(axis.max_ns, START_NS + 99 * NS_PER_S);
  assert_int_equal(axis.inside, 99);
  assert_int_equal(axis.outside, 4);
}

/* A pause of the recorder for hours is no wrong time. */
static void test_a_pause_is_on_the_axis(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  assert_true(tb__axis_add(&axis, START_NS));
  assert_true(tb__axis_add(&axis, START_NS + 20 * 3600 * NS_PER_S));
}

static void test_quantiles_of_merged_bins(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__bands_t bands = {0};
  uint64_t random = test_seed();
  for (int i = 0; i < 100000; i++) {
    int64_t time_ns = START_NS + i * (NS_PER_S / 100);
    assert_true(tb__axis_add(&axis, time_ns));
    tb__bands_add(&bands, &axis, time_ns, (double)(test_random(&random) % 1000));
  }
  tb__bands_follow(&bands, &axis);
  tb__band_summary_t all = tb__bands_summary(&bands, 0, TB__BAND_BINS);
  assert_int_equal(all.count, 100000);
  assert_true(all.min <= 5 && all.max >= 994);
  assert_true(all.low > 20 && all.low < 90);
  assert_true(all.median > 430 && all.median < 570);
  assert_true(all.high > 910 && all.high < 980);
}

/* A value that is rare stays rare, and the extremes stay. */
static void test_weights_of_merged_bins(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__bands_t bands = {0};
  for (int i = 0; i < 20000; i++) {
    int64_t time_ns = START_NS + i * (NS_PER_S / 1000);
    assert_true(tb__axis_add(&axis, time_ns));
    tb__bands_add(&bands, &axis, time_ns, i % 500 == 0 ? 1e9 : 5);
  }
  tb__band_summary_t all = tb__bands_summary(&bands, 0, TB__BAND_BINS);
  assert_true(all.high < 6 && all.max > 9e8);
}

static void test_beats_are_summed(void **state)
{
  (void)state;
  tb__axis_t axis = {0};
  tb__beats_t beats = {0};
  for (int i = 0; i < 1000; i++) {
    int64_t time_ns = START_NS + i * NS_PER_S;
    assert_true(tb__axis_add(&axis, time_ns));
    tb__beats_add(&beats, &axis, time_ns, 1 + i * 2, i ? 2 : 0, i ? 1 : 0);
  }
  tb__beats_follow(&beats, &axis);
  tb__beat_t all = tb__beats_sum(&beats, 0, TB__AXIS_BINS);
  assert_int_equal(all.count, 1000);
  assert_int_equal(all.steps, 999);
  assert_int_equal(all.step_ns, 2 * 999);
  assert_int_equal(all.arrival_ns, 999);
  assert_int_equal(all.first_ns, 1);
  assert_int_equal(all.last_ns, 1999);
}

/* Any times in any order. */
static void test_random_times(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int round = 0; round < 50; round++) {
    tb__axis_t axis = {0};
    tb__counts_t counts = {0};
    uint64_t samples = 0;
    for (int i = 0; i < 300; i++) {
      int64_t time_ns = (int64_t)(test_random(&random) >> (test_random(&random) % 64));
      samples++;
      if (!tb__axis_add(&axis, time_ns)) continue;
      tb__counts_add(&counts, &axis, time_ns);
      assert_in_range(tb__axis_count(&axis), 1, TB__AXIS_BINS);
      double place = tb__axis_position(&axis, time_ns);
      assert_true(place >= 0 && place <= (double)TB__AXIS_BINS);
    }
    assert_int_equal(axis.inside + axis.outside, samples);
    assert_int_equal(total(&counts), axis.inside);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_bins_are_merged_as_time_grows),
      cmocka_unit_test(test_series_follow_when_they_are_used),
      cmocka_unit_test(test_one_wrong_time_hides_nothing),
      cmocka_unit_test(test_a_pause_is_on_the_axis),
      cmocka_unit_test(test_quantiles_of_merged_bins),
      cmocka_unit_test(test_weights_of_merged_bins),
      cmocka_unit_test(test_beats_are_summed),
      cmocka_unit_test(test_random_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
