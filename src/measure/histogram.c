/* Histograms. A writer counts up from zero, and its thread is the only one that changes it; the
 * interval of a snapshot is the difference to the previous one. The bins are counted one by one.
 * The few other numbers of a writer are read together. There are two copies of them, and the writer
 * fills the other one: also one whose thread is stopped in the middle delays no snapshot. */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <timebase/histogram.h>

#include "base/sized.h"
#include "measure/bins.h"
#include "platform/mutex.h"

__extension__ typedef unsigned __int128 wide_t;
__extension__ typedef __int128 signed_wide_t;

typedef _Atomic uint64_t word_t;

#define WINDOWS        3
#define EPOCH_ATTEMPTS 3

/* Of the values in range: their number, sum and sum of squares. Exact, as 2^43 of the largest
 * squares fit. */
typedef struct moments {
  uint64_t count;
  wide_t sum, squares; /* the sum is signed, in two's complement */
} moments_t;

typedef struct extremes {
  int64_t least_ns, greatest_ns;
  bool exist;
} extremes_t;

/* What is read together. */
typedef struct totals {
  word_t count, sum_low, sum_high, squares_low, squares_high;
  word_t recorded; /* 0: nothing ever; the extremes are not set */
  _Atomic int64_t least_ns, greatest_ns;
  word_t period_seen; /* which `period` the next two belong to */
  _Atomic int64_t period_least_ns, period_greatest_ns;
} totals_t;

struct tb_histogram_writer {
  tb_histogram_t *histogram;
  tb_histogram_writer_t *next;      /* of all of the histogram; by its mutex */
  tb_histogram_writer_t *idle_next; /* by the mutex */
  uint32_t bits;
  word_t period; /* raised by a snapshot: the extremes of the interval begin again */

  /* Written by the owner thread only. */
  word_t turn; /* its lowest bit says which copy is current */
  totals_t copies[2];
  _Atomic int64_t epoch_least_ns,
      epoch_greatest_ns; /* of the last epoch; the wrong way round: none */
  word_t mark_turn;      /* odd: `mark` and `marks` are being written */
  totals_t mark;         /* when the last epoch began: no extremes */
  word_t *marks;         /* the same of the bins, after these */
  word_t bins[];
};

/* What has been recorded in a window, as of the last snapshot. */
typedef struct window {
  uint64_t count;
  moments_t moments;
  extremes_t extremes;
  uint64_t *bins;
} window_t;

struct tb_histogram {
  tb__mutex_t mutex;
  uint32_t bits;
  tb_histogram_writer_t *writers; /* the idle ones too: their counts continue */
  tb_histogram_writer_t *idle;
  window_t windows[WINDOWS]; /* by tb_histogram_window_t */
  bool has_epochs;           /* else their window is that since the start */
};

/* Two statistics that are read with a lock are no change of the object for the caller. */
static tb__mutex_t *mutex_of(const tb_histogram_t *histogram)
{
  return (tb__mutex_t *)&histogram->mutex;
}

static uint64_t get(const word_t *word)
{
  return atomic_load_explicit(word, memory_order_acquire);
}

static void put(word_t *word, uint64_t value)
{
  atomic_store_explicit(word, value, memory_order_release);
}

static int64_t get_ns(const _Atomic int64_t *word)
{
  return atomic_load_explicit(word, memory_order_acquire);
}

static void put_ns(_Atomic int64_t *word, int64_t value_ns)
{
  atomic_store_explicit(word, value_ns, memory_order_release);
}

static wide_t wide(uint64_t high, uint64_t low)
{
  return (wide_t)high << 64 | low;
}

/* ---- recording ---- */

static void note_extremes(const tb_histogram_writer_t *writer, const totals_t *old, totals_t *new,
                          int64_t value_ns)
{
  bool first = !get(&old->recorded);
  uint64_t period = get(&writer->period);
  bool begins = first || period != get(&old->period_seen);
  int64_t least_ns = get_ns(&old->least_ns), greatest_ns = get_ns(&old->greatest_ns);
  int64_t low_ns = get_ns(&old->period_least_ns), high_ns = get_ns(&old->period_greatest_ns);
  put(&new->recorded, 1);
  put_ns(&new->least_ns, first || value_ns < least_ns ? value_ns : least_ns);
  put_ns(&new->greatest_ns, first || value_ns > greatest_ns ? value_ns : greatest_ns);
  put(&new->period_seen, period);
  put_ns(&new->period_least_ns, begins || value_ns < low_ns ? value_ns : low_ns);
  put_ns(&new->period_greatest_ns, begins || value_ns > high_ns ? value_ns : high_ns);
}

/* Rarely written. A snapshot may see them before the values are in the bins. */
static void note_epoch_extremes(tb_histogram_writer_t *writer, int64_t value_ns)
{
  if (value_ns < get_ns(&writer->epoch_least_ns)) put_ns(&writer->epoch_least_ns, value_ns);
  if (value_ns > get_ns(&writer->epoch_greatest_ns)) put_ns(&writer->epoch_greatest_ns, value_ns);
}

static void add_to_moments(const totals_t *old, totals_t *new, int64_t value_ns)
{
  bool in_range = value_ns >= -TB_HISTOGRAM_MAX_NS && value_ns <= TB_HISTOGRAM_MAX_NS;
  int64_t added_ns = in_range ? value_ns : 0;
  wide_t sum = wide(get(&old->sum_high), get(&old->sum_low));
  wide_t squares = wide(get(&old->squares_high), get(&old->squares_low));
  sum = (wide_t)((signed_wide_t)sum + added_ns);
  squares = squares + (wide_t)((signed_wide_t)added_ns * added_ns);
  put(&new->count, get(&old->count) + in_range);
  put(&new->sum_low, (uint64_t)sum);
  put(&new->sum_high, (uint64_t)(sum >> 64));
  put(&new->squares_low, (uint64_t)squares);
  put(&new->squares_high, (uint64_t)(squares >> 64));
}

void tb_histogram_record(tb_histogram_writer_t *writer, tb_duration_t value)
{
  if (!writer) return;
  uint32_t bin = tb__bins_find(value.ns, writer->bits);
  uint64_t turn = get(&writer->turn);
  const totals_t *old = &writer->copies[turn & 1];
  totals_t *new = &writer->copies[(turn + 1) & 1];
  put(&writer->bins[bin], get(&writer->bins[bin]) + 1);
  note_extremes(writer, old, new, value.ns);
  note_epoch_extremes(writer, value.ns);
  add_to_moments(old, new, value.ns);
  put(&writer->turn, turn + 1);
}

void tb_histogram_writer_begin_epoch(tb_histogram_writer_t *writer)
{
  if (!writer) return;
  const totals_t *now = &writer->copies[get(&writer->turn) & 1];
  uint64_t turn = get(&writer->mark_turn);
  put(&writer->mark_turn, turn + 1);
  put(&writer->mark.count, get(&now->count));
  put(&writer->mark.sum_low, get(&now->sum_low));
  put(&writer->mark.sum_high, get(&now->sum_high));
  put(&writer->mark.squares_low, get(&now->squares_low));
  put(&writer->mark.squares_high, get(&now->squares_high));
  if (get(&now->recorded)) {
    uint32_t last = tb__bins_find(get_ns(&now->greatest_ns), writer->bits);
    for (uint32_t bin = tb__bins_find(get_ns(&now->least_ns), writer->bits); bin <= last; bin++)
      if (get(&writer->marks[bin]) != get(&writer->bins[bin]))
        put(&writer->marks[bin], get(&writer->bins[bin]));
  }
  put_ns(&writer->epoch_least_ns, INT64_MAX);
  put_ns(&writer->epoch_greatest_ns, INT64_MIN);
  put(&writer->mark_turn, turn + 2);
}

/* ---- snapshots ---- */

static void widen(extremes_t *extremes, int64_t least_ns, int64_t greatest_ns)
{
  if (!extremes->exist || least_ns < extremes->least_ns) extremes->least_ns = least_ns;
  if (!extremes->exist || greatest_ns > extremes->greatest_ns) extremes->greatest_ns = greatest_ns;
  extremes->exist = true;
}

/* What is read of a writer at one moment. */
typedef struct reading {
  moments_t moments;
  extremes_t all, period;
} reading_t;

static moments_t moments_of(const totals_t *totals)
{
  return (moments_t){get(&totals->count), wide(get(&totals->sum_high), get(&totals->sum_low)),
                     wide(get(&totals->squares_high), get(&totals->squares_low))};
}

static reading_t read_copy(const totals_t *totals, uint64_t period)
{
  reading_t reading = {0};
  if (!get(&totals->recorded)) return reading;
  widen(&reading.all, get_ns(&totals->least_ns), get_ns(&totals->greatest_ns));
  if (get(&totals->period_seen) == period)
    widen(&reading.period, get_ns(&totals->period_least_ns), get_ns(&totals->period_greatest_ns));
  reading.moments = moments_of(totals);
  return reading;
}

/* The writer's thread never waits for this one, which reads again if it was overtaken. */
static reading_t read_writer(const tb_histogram_writer_t *writer)
{
  uint64_t period = get(&writer->period);
  for (;;) {
    uint64_t turn = get(&writer->turn);
    reading_t reading = read_copy(&writer->copies[turn & 1], period);
    if (get(&writer->turn) == turn) return reading;
  }
}

static uint64_t bin_total(const tb_histogram_t *histogram, uint32_t bin)
{
  uint64_t total = 0;
  for (const tb_histogram_writer_t *writer = histogram->writers; writer; writer = writer->next)
    total += get(&writer->bins[bin]);
  return total;
}

/* Counts the bins in which there may be values. Returns those of the interval that are not empty:
 * the lowest and the highest. */
static bool count_bins(tb_histogram_t *histogram, uint32_t *out_lowest, uint32_t *out_highest)
{
  window_t *all = &histogram->windows[TB_HISTOGRAM_SINCE_START];
  window_t *interval = &histogram->windows[TB_HISTOGRAM_INTERVAL];
  uint64_t before = all->count;
  all->count = interval->count = 0;
  uint32_t last = tb__bins_find(all->extremes.greatest_ns, histogram->bits);
  for (uint32_t bin = tb__bins_find(all->extremes.least_ns, histogram->bits); bin <= last; bin++) {
    uint64_t total = bin_total(histogram, bin);
    uint64_t added = total - all->bins[bin];
    if (added || interval->bins[bin])
      interval->bins[bin] = added; /* memory that is 0 stays clean */
    if (added) all->bins[bin] = total;
    all->count += total;
    if (added && !interval->count) *out_lowest = bin;
    if (added) *out_highest = bin;
    interval->count += added;
  }
  return all->count != before;
}

static int64_t clamp(int64_t value, int64_t least, int64_t greatest)
{
  if (value < least) return least;
  return value > greatest ? greatest : value;
}

/* A value that came in between the reading of the other numbers and of the bins is in the bins
 * only. */
static void fit_extremes(tb_histogram_t *histogram, tb_histogram_window_t window, uint32_t lowest,
                         uint32_t highest)
{
  extremes_t all = histogram->windows[TB_HISTOGRAM_SINCE_START].extremes;
  extremes_t *fitted = &histogram->windows[window].extremes;
  uint32_t bits = histogram->bits;
  if (!fitted->exist) *fitted = all;
  fitted->least_ns =
      clamp(fitted->least_ns, tb__bins_least(lowest, bits), tb__bins_greatest(lowest, bits));
  fitted->greatest_ns =
      clamp(fitted->greatest_ns, tb__bins_least(highest, bits), tb__bins_greatest(highest, bits));
}

static moments_t moments_between(moments_t from, moments_t to)
{
  return (moments_t){to.count - from.count, to.sum - from.sum, to.squares - from.squares};
}

/* ---- of an epoch ---- */

static uint64_t marks_of(const tb_histogram_t *histogram)
{
  uint64_t sum = 0;
  for (const tb_histogram_writer_t *writer = histogram->writers; writer; writer = writer->next)
    sum += get(&writer->mark_turn);
  return sum;
}

static bool is_marking(const tb_histogram_t *histogram)
{
  const tb_histogram_writer_t *writer = histogram->writers;
  while (writer && get(&writer->mark_turn) % 2 == 0)
    writer = writer->next;
  return writer != NULL;
}

static void count_epoch(tb_histogram_t *histogram)
{
  const extremes_t *range = &histogram->windows[TB_HISTOGRAM_SINCE_START].extremes;
  window_t *epoch = &histogram->windows[TB_HISTOGRAM_EPOCH];
  uint32_t last = tb__bins_find(range->greatest_ns, histogram->bits), lowest = 0, highest = 0;
  epoch->count = 0;
  epoch->moments = (moments_t){0};
  epoch->extremes = (extremes_t){0};
  for (const tb_histogram_writer_t *writer = histogram->writers; writer; writer = writer->next) {
    reading_t reading = read_writer(writer);
    moments_t added = moments_between(moments_of(&writer->mark), reading.moments);
    epoch->moments.count += added.count;
    epoch->moments.sum += added.sum;
    epoch->moments.squares += added.squares;
    int64_t least_ns = get_ns(&writer->epoch_least_ns);
    int64_t greatest_ns = get_ns(&writer->epoch_greatest_ns);
    if (least_ns <= greatest_ns) widen(&epoch->extremes, least_ns, greatest_ns);
  }
  for (uint32_t bin = tb__bins_find(range->least_ns, histogram->bits); bin <= last; bin++) {
    uint64_t total = 0;
    for (const tb_histogram_writer_t *writer = histogram->writers; writer; writer = writer->next)
      total += get(&writer->bins[bin]) - get(&writer->marks[bin]);
    if (total || epoch->bins[bin]) epoch->bins[bin] = total; /* memory that is 0 stays clean */
    if (total && !epoch->count) lowest = bin;
    if (total) highest = bin;
    epoch->count += total;
  }
  if (epoch->count)
    fit_extremes(histogram, TB_HISTOGRAM_EPOCH, lowest, highest);
  else
    epoch->extremes = (extremes_t){0};
}

/* An epoch that begins meanwhile is counted again. Where its thread is stopped in the middle of
 * that, the window is empty: what it has belongs to no epoch yet. */
static void snapshot_epoch(tb_histogram_t *histogram)
{
  window_t *epoch = &histogram->windows[TB_HISTOGRAM_EPOCH];
  uint64_t marks = marks_of(histogram);
  histogram->has_epochs = marks != 0;
  if (!marks || !histogram->windows[TB_HISTOGRAM_SINCE_START].extremes.exist) return;
  for (int i = 0; i < EPOCH_ATTEMPTS; i++, marks = marks_of(histogram)) {
    bool is_still = !is_marking(histogram);
    count_epoch(histogram);
    if (is_still && marks == marks_of(histogram)) return;
  }
  size_t count = tb__bins_count(histogram->bits);
  for (size_t i = 0; i < count; i++)
    if (epoch->bins[i]) epoch->bins[i] = 0;
  *epoch = (window_t){.bins = epoch->bins};
}

static const window_t *window_of(const tb_histogram_t *histogram, tb_histogram_window_t which)
{
  bool has_own = which != TB_HISTOGRAM_EPOCH || histogram->has_epochs;
  return &histogram->windows[has_own ? which : TB_HISTOGRAM_SINCE_START];
}

tb_status_t tb_histogram_snapshot(tb_histogram_t *histogram)
{
  if (!histogram) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&histogram->mutex);
  window_t *all = &histogram->windows[TB_HISTOGRAM_SINCE_START];
  window_t *interval = &histogram->windows[TB_HISTOGRAM_INTERVAL];
  moments_t moments = {0};
  interval->extremes = (extremes_t){0};
  for (tb_histogram_writer_t *writer = histogram->writers; writer; writer = writer->next) {
    reading_t reading = read_writer(writer);
    put(&writer->period, get(&writer->period) + 1);
    moments.count += reading.moments.count;
    moments.sum += reading.moments.sum;
    moments.squares += reading.moments.squares;
    if (reading.all.exist) widen(&all->extremes, reading.all.least_ns, reading.all.greatest_ns);
    if (reading.period.exist)
      widen(&interval->extremes, reading.period.least_ns, reading.period.greatest_ns);
  }
  interval->moments = moments_between(all->moments, moments);
  all->moments = moments;
  uint32_t lowest = 0, highest = 0;
  if (all->extremes.exist && count_bins(histogram, &lowest, &highest))
    fit_extremes(histogram, TB_HISTOGRAM_INTERVAL, lowest, highest);
  else
    interval->extremes = (extremes_t){0};
  snapshot_epoch(histogram);
  tb__mutex_unlock(&histogram->mutex);
  return TB_OK;
}

/* ---- reading a snapshot ---- */

static double mean_of(const moments_t *moments)
{
  if (!moments->count) return NAN;
  signed_wide_t sum = (signed_wide_t)moments->sum, count = (signed_wide_t)moments->count;
  signed_wide_t whole = sum / count, rest = sum % count;
  return (double)whole + (double)rest / (double)count;
}

/* Of the differences to a whole number near the mean, in integers: nothing is lost where the mean
 * is large and the deviation small. */
static double deviation_of(const moments_t *moments)
{
  if (!moments->count) return NAN;
  wide_t count = moments->count;
  wide_t mean = (wide_t)((signed_wide_t)moments->sum / (signed_wide_t)count);
  wide_t squares = moments->squares - 2 * mean * moments->sum + count * mean * mean;
  double rest = (double)(signed_wide_t)(moments->sum - count * mean) / (double)count;
  double variance = (double)squares / (double)count - rest * rest;
  return variance > 0 ? sqrt(variance) : 0;
}

static bool is_window(tb_histogram_window_t window)
{
  return (unsigned)window < WINDOWS;
}

static tb_status_t histogram_stats(const tb_histogram_t *histogram, tb_histogram_window_t which,
                                   tb_histogram_stats_t *out)
{
  if (!histogram || !out || !is_window(which)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  uint32_t bits = histogram->bits;
  tb__mutex_lock(mutex_of(histogram));
  const window_t *window = window_of(histogram, which);
  *out = (tb_histogram_stats_t){
      .count = window->count,
      .zero = window->bins[tb__bins_zero(bits)],
      .below = window->bins[0],
      .above = window->bins[tb__bins_count(bits) - 1],
      .least = {window->extremes.least_ns},
      .greatest = {window->extremes.greatest_ns},
      .mean_ns = mean_of(&window->moments),
      .deviation_ns = deviation_of(&window->moments),
  };
  tb__mutex_unlock(mutex_of(histogram));
  return TB_OK;
}

tb_status_t tb_histogram_stats_sized(const tb_histogram_t *histogram, tb_histogram_window_t window,
                                     tb_histogram_stats_t *out, size_t out_size)
{
  tb_histogram_stats_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = histogram_stats(histogram, window, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

/* How many values are not above it. 0.07 of 100 is 7, although 0.07 is a little more as a double.
 */
static uint64_t rank_of(double quantile, uint64_t count)
{
  double rank = ceil(quantile * (double)count * (1 - 1e-15));
  if (rank < 1) return 1;
  return rank >= (double)count ? count : (uint64_t)rank;
}

static int64_t window_quantile(const window_t *window, uint32_t bits, double quantile)
{
  const extremes_t *extremes = &window->extremes;
  uint64_t rank = rank_of(quantile, window->count), passed = 0;
  uint32_t bin = tb__bins_find(extremes->least_ns, bits);
  uint32_t last = tb__bins_find(extremes->greatest_ns, bits);
  for (; bin < last; bin++) {
    passed += window->bins[bin];
    if (passed >= rank) break;
  }
  return clamp(tb__bins_greatest(bin, bits), extremes->least_ns, extremes->greatest_ns);
}

tb_status_t tb_histogram_quantile(const tb_histogram_t *histogram, tb_histogram_window_t window,
                                  double quantile, tb_duration_t *out)
{
  if (!histogram || !out || !is_window(window) || !(quantile >= 0 && quantile <= 1))
    return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_status_t status = TB_ERR_NOT_FOUND;
  tb__mutex_lock(mutex_of(histogram));
  const window_t *asked = window_of(histogram, window);
  if (asked->count) {
    out->ns = window_quantile(asked, histogram->bits, quantile);
    status = TB_OK;
  }
  tb__mutex_unlock(mutex_of(histogram));
  return status;
}

tb_status_t tb_histogram_count_at_most(const tb_histogram_t *histogram,
                                       tb_histogram_window_t window, tb_duration_t limit,
                                       uint64_t *out)
{
  if (!histogram || !out || !is_window(window)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(mutex_of(histogram));
  const window_t *asked = window_of(histogram, window);
  uint32_t last = tb__bins_find(limit.ns, histogram->bits);
  uint64_t sum = 0;
  for (uint32_t bin = tb__bins_find(asked->extremes.least_ns, histogram->bits); bin <= last; bin++)
    sum += asked->bins[bin];
  tb__mutex_unlock(mutex_of(histogram));
  *out = sum;
  return TB_OK;
}

/* ---- making and destroying ---- */

static tb_status_t histogram_create(const tb_histogram_options_t *options, tb_histogram_t **out)
{
  uint32_t digits = options && options->digits ? options->digits : 2;
  if (!out || digits < 2 || digits > 3) return TB_ERR_INVALID;
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_histogram_t *histogram = calloc(1, sizeof *histogram);
  if (!histogram) return TB_ERR_NO_MEMORY;
  tb__mutex_init(&histogram->mutex);
  histogram->bits = tb__bins_bits(digits);
  bool complete = true;
  for (int i = 0; i < WINDOWS; i++) {
    uint64_t *bins = calloc(tb__bins_count(histogram->bits), sizeof *bins);
    histogram->windows[i].bins = bins;
    complete = complete && bins;
  }
  if (!complete) {
    tb_histogram_destroy(histogram);
    return TB_ERR_NO_MEMORY;
  }
  *out = histogram;
  return TB_OK;
}

tb_status_t tb_histogram_create_sized(const tb_histogram_options_t *options, size_t options_size,
                                      tb_histogram_t **out)
{
  tb_histogram_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return histogram_create(options, out);
}

void tb_histogram_destroy(tb_histogram_t *histogram)
{
  if (!histogram) return;
  for (tb_histogram_writer_t *writer = histogram->writers, *next; writer; writer = next) {
    next = writer->next;
    free(writer);
  }
  for (int i = 0; i < WINDOWS; i++)
    free(histogram->windows[i].bins);
  tb__mutex_fini(&histogram->mutex);
  free(histogram);
}

static tb_histogram_writer_t *writer_alloc(tb_histogram_t *histogram)
{
  size_t bins = tb__bins_count(histogram->bits);
  tb_histogram_writer_t *writer = calloc(1, sizeof *writer + 2 * bins * sizeof(word_t));
  if (!writer) return NULL;
  writer->marks = &writer->bins[bins];
  writer->epoch_least_ns = INT64_MAX;
  writer->epoch_greatest_ns = INT64_MIN;
  writer->histogram = histogram;
  writer->bits = histogram->bits;
  writer->next = histogram->writers;
  histogram->writers = writer;
  return writer;
}

tb_status_t tb_histogram_writer_create(tb_histogram_t *histogram, tb_histogram_writer_t **out)
{
  if (!histogram || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&histogram->mutex);
  tb_histogram_writer_t *writer = histogram->idle;
  if (writer)
    histogram->idle = writer->idle_next;
  else
    writer = writer_alloc(histogram);
  tb__mutex_unlock(&histogram->mutex);
  if (!writer) return TB_ERR_NO_MEMORY;
  *out = writer;
  return TB_OK;
}

void tb_histogram_writer_destroy(tb_histogram_writer_t *writer)
{
  if (!writer || tb__is_forked()) return;
  tb_histogram_t *histogram = writer->histogram;
  tb__mutex_lock(&histogram->mutex);
  writer->idle_next = histogram->idle;
  histogram->idle = writer;
  tb__mutex_unlock(&histogram->mutex);
}
