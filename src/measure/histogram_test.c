/* Histograms against the same values in a sorted array. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/histogram.h>

#include "counted_allocations.h"
#include "measure/bins.h"
#include "seed.h"

#define VALUES 20000

typedef struct values {
  int64_t ns[VALUES];
  size_t count;
} values_t;

static int compare(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int is_in_range(int64_t value_ns)
{
  return value_ns >= -TB_HISTOGRAM_MAX_NS && value_ns <= TB_HISTOGRAM_MAX_NS;
}

/* How far above a value its quantile may be reported. */
static double resolution(int64_t value_ns, uint32_t digits)
{
  double size = fabs((double)value_ns), step = digits == 3 ? 1 : 8;
  double relative = size * (digits == 3 ? 0.001 : 0.01);
  return relative > step ? relative : step;
}

static void assert_moments(const tb_histogram_stats_t *stats, const values_t *values)
{
  long double sum = 0, squares = 0;
  size_t count = 0;
  for (size_t i = 0; i < values->count; i++)
    if (is_in_range(values->ns[i])) sum += (long double)values->ns[i], count++;
  if (!count) {
    assert_true(isnan(stats->mean_ns) && isnan(stats->deviation_ns));
    return;
  }
  long double mean = sum / (long double)count;
  for (size_t i = 0; i < values->count; i++) {
    long double off = (long double)values->ns[i] - mean;
    if (is_in_range(values->ns[i])) squares += off * off;
  }
  double deviation = sqrt((double)(squares / (long double)count));
  double allowed = fabs((double)mean) * 1e-12 + 1e-6;
  assert_true(fabs(stats->mean_ns - (double)mean) <= allowed);
  assert_true(fabs(stats->deviation_ns - deviation) <= deviation * 1e-9 + 1e-3);
}

static void assert_counts(const tb_histogram_stats_t *stats, const values_t *values)
{
  uint64_t zero = 0, below = 0, above = 0;
  for (size_t i = 0; i < values->count; i++) {
    zero += values->ns[i] == 0;
    below += values->ns[i] < -TB_HISTOGRAM_MAX_NS;
    above += values->ns[i] > TB_HISTOGRAM_MAX_NS;
  }
  assert_int_equal(stats->count, values->count);
  assert_int_equal(stats->zero, zero);
  assert_int_equal(stats->below, below);
  assert_int_equal(stats->above, above);
}

static void assert_quantile(const tb_histogram_t *histogram, tb_histogram_window_t window,
                            const values_t *sorted, unsigned permille, uint32_t digits)
{
  tb_duration_t found;
  size_t rank = (permille * sorted->count + 999) / 1000;
  int64_t value_ns = sorted->ns[rank ? rank - 1 : 0];
  int64_t greatest_ns = sorted->ns[sorted->count - 1];
  assert_ok(tb_histogram_quantile(histogram, window, permille / 1000.0, &found));
  if (found.ns < value_ns || found.ns > greatest_ns) fail_msg("%u: out of order", permille);
  if (value_ns > TB_HISTOGRAM_MAX_NS) {
    assert_int_equal(found.ns, greatest_ns);
  } else if (value_ns < -TB_HISTOGRAM_MAX_NS) {
    assert_true(found.ns == -TB_HISTOGRAM_MAX_NS - 1 || found.ns == greatest_ns);
  } else if ((double)(found.ns - value_ns) >= resolution(value_ns, digits)) {
    fail_msg("quantile %u/1000: %lld for %lld", permille, (long long)found.ns, (long long)value_ns);
  }
}

/* Values in a bin of a limit count as the limit does. */
static void assert_at_most(const tb_histogram_t *histogram, tb_histogram_window_t window,
                           const values_t *sorted, int64_t limit_ns, uint32_t digits)
{
  uint64_t found, least = 0, most = 0;
  assert_ok(tb_histogram_count_at_most(histogram, window, (tb_duration_t){limit_ns}, &found));
  for (size_t i = 0; i < sorted->count; i++) {
    double off = (double)sorted->ns[i] - (double)limit_ns;
    bool same_kind = is_in_range(limit_ns) && is_in_range(sorted->ns[i]);
    least += sorted->ns[i] <= limit_ns;
    most += sorted->ns[i] <= limit_ns || (same_kind && off < resolution(sorted->ns[i], digits)) ||
            (!is_in_range(limit_ns) && !is_in_range(sorted->ns[i]) &&
             (limit_ns > 0) == (sorted->ns[i] > 0));
  }
  assert_in_range(found, least, most);
}

/* `values` is sorted by this. */
static void assert_window(const tb_histogram_t *histogram, tb_histogram_window_t window,
                          values_t *values, uint32_t digits)
{
  tb_histogram_stats_t stats;
  tb_duration_t none;
  assert_ok(tb_histogram_stats(histogram, window, &stats));
  assert_counts(&stats, values);
  assert_moments(&stats, values);
  if (!values->count) {
    assert_int_equal(stats.least.ns, 0);
    assert_int_equal(stats.greatest.ns, 0);
    assert_status(tb_histogram_quantile(histogram, window, 0.5, &none), TB_ERR_NOT_FOUND);
    return;
  }
  qsort(values->ns, values->count, sizeof *values->ns, compare);
  assert_int_equal(stats.least.ns, values->ns[0]);
  assert_int_equal(stats.greatest.ns, values->ns[values->count - 1]);
  for (unsigned permille = 0; permille <= 1000; permille += 1 + permille / 50)
    assert_quantile(histogram, window, values, permille, digits);
  static const int64_t limits[] = {INT64_MIN, -TB_HISTOGRAM_MAX_NS, -1000000, -1, 0, 1, 1000,
                                   1000000,   TB_HISTOGRAM_MAX_NS,  INT64_MAX};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    assert_at_most(histogram, window, values, limits[i], digits);
}

static void test_bins_are_in_order_without_gaps(void **state)
{
  (void)state;
  for (uint32_t digits = 2; digits <= 3; digits++) {
    uint32_t bits = tb__bins_bits(digits), count = tb__bins_count(bits);
    assert_int_equal(tb__bins_least(0, bits), INT64_MIN);
    assert_int_equal(tb__bins_greatest(count - 1, bits), INT64_MAX);
    uint32_t bin = 0, used = 0;
    for (int64_t value = INT64_MIN;; value = tb__bins_greatest(bin, bits) + 1, used++) {
      assert_true(used == 0 || tb__bins_find(value, bits) > bin);
      bin = tb__bins_find(value, bits);
      assert_true(bin < count);
      assert_int_equal(tb__bins_least(bin, bits), value);
      assert_int_equal(tb__bins_find(tb__bins_greatest(bin, bits), bits), bin);
      if (tb__bins_greatest(bin, bits) == INT64_MAX) break;
    }
    assert_true(used > count / 2);
  }
}

/* One of many shapes: small and large, of both signs, the edges of bins, beyond the range. */
static int64_t random_value(uint64_t *random)
{
  uint64_t choice = test_random(random) % 16, bits = test_random(random) % 43;
  int64_t size = (int64_t)(test_random(random) & ((UINT64_C(2) << bits) - 1));
  int64_t edge = INT64_C(1) << bits;
  switch (choice) {
  case 0:
    return 0;
  case 1:
    return edge;
  case 2:
    return edge - 1;
  case 3:
    return -edge;
  case 4:
    return TB_HISTOGRAM_MAX_NS + (int64_t)(test_random(random) % 3) - 1;
  case 5:
    return -TB_HISTOGRAM_MAX_NS + (int64_t)(test_random(random) % 3) - 1;
  case 6:
    return test_random(random) % 64 ? size : INT64_MAX;
  case 7:
    return test_random(random) % 64 ? size : INT64_MIN;
  case 8:
    return -size;
  default:
    return (int64_t)(20000000 + test_random(random) % 5000000);
  }
}

static void test_random_values_are_those_of_a_sorted_array(void **state)
{
  (void)state;
  static values_t all, interval;
  do {
    uint64_t random = test_seed();
    uint32_t digits = 2 + (uint32_t)(test_random(&random) & 1);
    tb_histogram_t *histogram;
    tb_histogram_writer_t *writers[3];
    assert_ok(tb_histogram_create(&(tb_histogram_options_t){.digits = digits}, &histogram));
    for (int i = 0; i < 3; i++)
      assert_ok(tb_histogram_writer_create(histogram, &writers[i]));
    bool typical = test_random(&random) & 1;
    all.count = 0;
    while (all.count < VALUES - 2000) {
      interval.count = test_random(&random) % 2000;
      for (size_t i = 0; i < interval.count; i++) {
        int64_t value_ns = random_value(&random);
        if (typical && !is_in_range(value_ns)) value_ns = 1500000;
        interval.ns[i] = all.ns[all.count++] = value_ns;
        tb_histogram_record(writers[test_random(&random) % 3], (tb_duration_t){value_ns});
      }
      assert_ok(tb_histogram_snapshot(histogram));
      assert_window(histogram, TB_HISTOGRAM_INTERVAL, &interval, digits);
      assert_window(histogram, TB_HISTOGRAM_SINCE_START, &all, digits);
    }
    tb_histogram_destroy(histogram);
  } while (test_goes_on());
}

/* An hour and a microsecond of scatter: sums of squares as doubles would lose it. */
static void test_a_small_deviation_around_a_large_mean_is_kept(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  tb_histogram_stats_t stats;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &writer));
  for (int i = 0; i < 100000; i++)
    tb_histogram_record(writer, (tb_duration_t){-TB_HISTOGRAM_MAX_NS + (i & 1 ? 10 : 8)});
  assert_ok(tb_histogram_snapshot(histogram));
  assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats));
  assert_true(fabs(stats.deviation_ns - 1) < 1e-6);
  assert_int_equal((int64_t)stats.mean_ns, -TB_HISTOGRAM_MAX_NS + 9);
  tb_histogram_destroy(histogram);
}

static void test_a_writer_that_was_given_back_keeps_its_counts(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *first, *second;
  tb_histogram_stats_t stats;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &first));
  tb_histogram_record(first, (tb_duration_t){-5});
  tb_histogram_writer_destroy(first);
  assert_ok(tb_histogram_writer_create(histogram, &second));
  assert_ptr_equal(first, second);
  tb_histogram_record(second, (tb_duration_t){7});
  tb_histogram_writer_destroy(second);
  assert_ok(tb_histogram_snapshot(histogram));
  for (int window = 0; window < 2; window++) {
    assert_ok(tb_histogram_stats(histogram, (tb_histogram_window_t)window, &stats));
    assert_int_equal(stats.count, 2);
    assert_int_equal(stats.least.ns, -5);
    assert_int_equal(stats.greatest.ns, 7);
  }
  tb_histogram_destroy(histogram);
}

static void test_what_was_not_snapshot_is_not_there(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  static values_t values;
  values.count = 0;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_window(histogram, TB_HISTOGRAM_SINCE_START, &values, 2);
  assert_ok(tb_histogram_writer_create(histogram, &writer));
  tb_histogram_record(writer, (tb_duration_t){1000});
  assert_window(histogram, TB_HISTOGRAM_SINCE_START, &values, 2);
  assert_ok(tb_histogram_snapshot(histogram));
  tb_histogram_record(writer, (tb_duration_t){2000});
  values = (values_t){{1000}, 1};
  assert_window(histogram, TB_HISTOGRAM_INTERVAL, &values, 2);
  assert_ok(tb_histogram_snapshot(histogram));
  values.ns[0] = 2000;
  assert_window(histogram, TB_HISTOGRAM_INTERVAL, &values, 2);
  assert_ok(tb_histogram_snapshot(histogram));
  values.count = 0;
  assert_window(histogram, TB_HISTOGRAM_INTERVAL, &values, 2);
  tb_histogram_destroy(histogram);
}

static void test_wrong_arguments_are_refused(void **state)
{
  (void)state;
  tb_histogram_t *histogram = NULL;
  tb_duration_t value = {42};
  uint64_t count;
  assert_status(tb_histogram_create(&(tb_histogram_options_t){.digits = 1}, &histogram),
                TB_ERR_INVALID);
  assert_status(tb_histogram_create(&(tb_histogram_options_t){.digits = 4}, &histogram),
                TB_ERR_INVALID);
  assert_null(histogram);
  assert_ok(tb_histogram_create(NULL, &histogram));
  static const double wrong[] = {-0.1, 1.1, NAN, INFINITY};
  for (int i = 0; i < 4; i++)
    assert_status(tb_histogram_quantile(histogram, TB_HISTOGRAM_INTERVAL, wrong[i], &value),
                  TB_ERR_INVALID);
  assert_status(tb_histogram_quantile(histogram, (tb_histogram_window_t)3, 0.5, &value),
                TB_ERR_INVALID);
  assert_status(tb_histogram_count_at_most(histogram, (tb_histogram_window_t)3, value, &count),
                TB_ERR_INVALID);
  assert_int_equal(value.ns, 42);
  tb_histogram_destroy(histogram);
}

static void test_recording_allocates_nothing(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &writer));
  allocations_begin();
  for (int64_t value_ns = -1000; value_ns < 1000; value_ns++)
    tb_histogram_record(writer, (tb_duration_t){value_ns * value_ns * value_ns});
  assert_ok(tb_histogram_snapshot(histogram));
  assert_int_equal(allocations_end(), 0);
  tb_histogram_destroy(histogram);
}

#define THREADS   4
#define RECORDS   200000
#define THREAD_NS (INT64_C(1000000)) /* the values of a thread begin here, times its number */

typedef struct recorder {
  tb_histogram_t *histogram;
  int64_t number;
  _Atomic int *ended;
} recorder_t;

static void *record(void *argument)
{
  recorder_t *recorder = argument;
  tb_histogram_writer_t *writer = NULL;
  for (int64_t i = 0; i < RECORDS; i++) {
    if (!writer && tb_histogram_writer_create(recorder->histogram, &writer)) abort();
    tb_histogram_record(writer, (tb_duration_t){recorder->number * THREAD_NS + i});
    if (i % 5000 == 4999) {
      tb_histogram_writer_destroy(writer);
      writer = NULL;
    }
  }
  (*recorder->ended)++;
  return NULL;
}

/* The intervals add up to all that was recorded, whatever comes in while snapshots are taken. */
static void test_snapshots_of_threads_that_record_lose_nothing(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  pthread_t threads[THREADS];
  recorder_t recorders[THREADS];
  _Atomic int ended = 0;
  assert_ok(tb_histogram_create(NULL, &histogram));
  for (int i = 0; i < THREADS; i++) {
    recorders[i] = (recorder_t){histogram, i + 1, &ended};
    assert_int_equal(pthread_create(&threads[i], NULL, record, &recorders[i]), 0);
  }
  tb_histogram_stats_t stats, all;
  uint64_t sum = 0;
  bool last;
  do {
    last = ended == THREADS;
    assert_ok(tb_histogram_snapshot(histogram));
    assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats));
    assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_SINCE_START, &all));
    sum += stats.count;
    assert_int_equal(all.count, sum);
    if (!stats.count) continue;
    tb_duration_t median;
    assert_ok(tb_histogram_quantile(histogram, TB_HISTOGRAM_INTERVAL, 0.5, &median));
    assert_true(stats.least.ns >= THREAD_NS && stats.least.ns <= stats.greatest.ns);
    assert_true(stats.greatest.ns < THREADS * THREAD_NS + RECORDS);
    assert_true(median.ns >= stats.least.ns && median.ns <= stats.greatest.ns);
  } while (!last);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  double expected_ns = 0;
  for (int i = 1; i <= THREADS; i++)
    expected_ns += RECORDS * (double)(i * THREAD_NS) + RECORDS * (RECORDS - 1.0) / 2;
  assert_int_equal(sum, THREADS * RECORDS);
  assert_int_equal(all.least.ns, THREAD_NS);
  assert_int_equal(all.greatest.ns, THREADS * THREAD_NS + RECORDS - 1);
  assert_true(fabs(all.mean_ns * THREADS * RECORDS / expected_ns - 1) < 1e-9);
  tb_histogram_destroy(histogram);
}

/* ---- a thread that is stopped while it records ---- */

#define STOPS 100

static struct stopped {
  tb_histogram_writer_t *writer;
  _Atomic bool is_stopped, may_go_on, ends;
} stopped;

static void stay(int signal)
{
  (void)signal;
  stopped.is_stopped = true;
  while (!stopped.may_go_on)
    sched_yield();
  stopped.is_stopped = false;
}

static void *record_on(void *unused)
{
  while (!stopped.ends)
    tb_histogram_record(stopped.writer, (tb_duration_t){5000});
  return unused;
}

static void test_a_thread_that_is_stopped_while_it_records_delays_no_snapshot(void **state)
{
  (void)state;
  pthread_t thread;
  tb_histogram_t *histogram;
  tb_histogram_stats_t stats;
  const struct sigaction action = {.sa_handler = stay};
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &stopped.writer));
  assert_int_equal(pthread_create(&thread, NULL, record_on, NULL), 0);
  for (int i = 0; i < STOPS; i++) {
    stopped.may_go_on = false;
    assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
    while (!stopped.is_stopped)
      sched_yield();
    assert_ok(tb_histogram_snapshot(histogram));
    assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_SINCE_START, &stats));
    if (stats.count) assert_true(fabs(stats.mean_ns - 5000) < 1e-6);
    stopped.may_go_on = true;
    while (stopped.is_stopped)
      sched_yield();
  }
  stopped.ends = true;
  pthread_join(thread, NULL);
  tb_histogram_destroy(histogram);
}

/* ---- epochs ---- */

static tb_histogram_stats_t stats_of_epoch(tb_histogram_t *histogram)
{
  tb_histogram_stats_t stats;
  assert_ok(tb_histogram_snapshot(histogram));
  assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_EPOCH, &stats));
  return stats;
}

/* Of two writers, each with epochs of its own, against the values themselves. */
static void test_an_epoch_has_what_was_recorded_since_it_began(void **state)
{
  (void)state;
  enum { STEPS = 4000 };
  static int64_t values[2][STEPS];
  size_t begin[2] = {0}, count[2] = {0};
  uint64_t seed = test_seed();
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writers[2];
  assert_ok(tb_histogram_create(NULL, &histogram));
  for (int i = 0; i < 2; i++)
    assert_ok(tb_histogram_writer_create(histogram, &writers[i]));
  for (int step = 0; step < STEPS; step++) {
    int i = (int)(test_random(&seed) % 2);
    if (test_random(&seed) % 50 == 0) {
      tb_histogram_writer_begin_epoch(writers[i]);
      begin[i] = count[i];
    }
    int64_t value_ns = (int64_t)(test_random(&seed) % 2000000) - 1000000;
    values[i][count[i]++] = value_ns;
    tb_histogram_record(writers[i], (tb_duration_t){value_ns});
    if (test_random(&seed) % 20) continue;
    double sum = 0;
    int64_t least_ns = INT64_MAX, greatest_ns = INT64_MIN;
    for (int k = 0; k < 2; k++)
      for (size_t at = begin[k]; at < count[k]; at++) {
        sum += (double)values[k][at];
        if (values[k][at] < least_ns) least_ns = values[k][at];
        if (values[k][at] > greatest_ns) greatest_ns = values[k][at];
      }
    size_t expected = count[0] - begin[0] + count[1] - begin[1];
    tb_histogram_stats_t stats = stats_of_epoch(histogram);
    assert_int_equal(stats.count, expected);
    assert_int_equal(stats.least.ns, least_ns);
    assert_int_equal(stats.greatest.ns, greatest_ns);
    assert_true(fabs(stats.mean_ns - sum / (double)expected) < 1e-3);
    assert_ok(tb_histogram_stats(histogram, TB_HISTOGRAM_SINCE_START, &stats));
    assert_int_equal(stats.count, count[0] + count[1]);
  }
  tb_histogram_destroy(histogram);
}

static void test_an_epoch_without_values_is_empty(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  tb_duration_t value;
  uint64_t count = 77;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &writer));
  tb_histogram_writer_begin_epoch(writer);
  tb_histogram_writer_begin_epoch(NULL);
  assert_int_equal(stats_of_epoch(histogram).count, 0);
  tb_histogram_record(writer, (tb_duration_t){5000});
  assert_int_equal(stats_of_epoch(histogram).count, 1);
  tb_histogram_writer_begin_epoch(writer);
  tb_histogram_stats_t stats = stats_of_epoch(histogram);
  assert_int_equal(stats.count, 0);
  assert_int_equal(stats.least.ns, 0);
  assert_true(isnan(stats.mean_ns));
  assert_status(tb_histogram_quantile(histogram, TB_HISTOGRAM_EPOCH, 0.5, &value),
                TB_ERR_NOT_FOUND);
  assert_ok(tb_histogram_count_at_most(histogram, TB_HISTOGRAM_EPOCH, (tb_duration_t){INT64_MAX},
                                       &count));
  assert_int_equal(count, 0);
  tb_histogram_record(writer, (tb_duration_t){7000});
  assert_int_equal(stats_of_epoch(histogram).least.ns, 7000);
  tb_histogram_destroy(histogram);
}

#define EPOCHS 30000

/* In each epoch another value is recorded, so that none of another may be seen with it. */
static void *record_epochs(void *writer)
{
  for (int64_t epoch = 1; epoch <= EPOCHS; epoch++) {
    for (int i = 0; i < 10; i++)
      tb_histogram_record(writer, (tb_duration_t){(1 + epoch % 1000) * 100000});
    tb_histogram_writer_begin_epoch(writer);
  }
  tb_histogram_record(writer, (tb_duration_t){1}); /* the last */
  return NULL;
}

static void test_epochs_are_not_mixed_while_they_begin(void **state)
{
  (void)state;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  tb_histogram_stats_t stats;
  pthread_t thread;
  assert_ok(tb_histogram_create(NULL, &histogram));
  assert_ok(tb_histogram_writer_create(histogram, &writer));
  assert_int_equal(pthread_create(&thread, NULL, record_epochs, writer), 0);
  do {
    stats = stats_of_epoch(histogram);
    assert_true(stats.count <= 10);
    /* as in an interval, of what comes in during the call they may be off by the resolution */
    assert_true(stats.greatest.ns - stats.least.ns <= 8 + stats.greatest.ns / 100);
  } while (stats.least.ns != 1);
  pthread_join(thread, NULL);
  assert_int_equal(stats.count, 1);
  tb_histogram_destroy(histogram);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bins_are_in_order_without_gaps),
      cmocka_unit_test(test_random_values_are_those_of_a_sorted_array),
      cmocka_unit_test(test_a_small_deviation_around_a_large_mean_is_kept),
      cmocka_unit_test(test_a_writer_that_was_given_back_keeps_its_counts),
      cmocka_unit_test(test_what_was_not_snapshot_is_not_there),
      cmocka_unit_test(test_wrong_arguments_are_refused),
      cmocka_unit_test(test_recording_allocates_nothing),
      cmocka_unit_test(test_snapshots_of_threads_that_record_lose_nothing),
      cmocka_unit_test(test_a_thread_that_is_stopped_while_it_records_delays_no_snapshot),
      cmocka_unit_test(test_an_epoch_has_what_was_recorded_since_it_began),
      cmocka_unit_test(test_an_epoch_without_values_is_empty),
      cmocka_unit_test(test_epochs_are_not_mixed_while_they_begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
