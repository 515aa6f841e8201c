#include "contract/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINEST_SHIFT 20 /* 1 ms */
#define DAY_NS       (UINT64_C(86400) * 1000000000)
#define FAR_RANGES   100

/* --- the axis --- */

static void begin(tb__axis_t *axis, int64_t time_ns)
{
  axis->outside += axis->inside;
  axis->inside = 0;
  axis->place.round++;
  axis->place.shift = FINEST_SHIFT;
  axis->place.base = time_ns >> FINEST_SHIFT;
  axis->min_ns = axis->max_ns = time_ns;
}

static bool is_far(uint64_t distance, uint64_t range)
{
  return distance > DAY_NS && distance / FAR_RANGES > range;
}

static void widen(tb__axis_t *axis, int64_t time_ns)
{
  if (time_ns < axis->min_ns) axis->min_ns = time_ns;
  if (time_ns > axis->max_ns) axis->max_ns = time_ns;
  int shift = axis->place.shift;
  while ((axis->max_ns >> shift) - (axis->min_ns >> shift) >= TB__AXIS_BINS)
    shift++;
  axis->place.shift = shift;
  axis->place.base = axis->min_ns >> shift;
}

static uint64_t distance_of(const tb__axis_t *axis, int64_t time_ns)
{
  if (time_ns < axis->min_ns) return (uint64_t)(axis->min_ns - time_ns);
  return time_ns > axis->max_ns ? (uint64_t)(time_ns - axis->max_ns) : 0;
}

bool tb__axis_add(tb__axis_t *axis, int64_t time_ns)
{
  if (time_ns <= 0) {
    axis->outside++;
    return false;
  }
  uint64_t range = (uint64_t)(axis->max_ns - axis->min_ns);
  if (axis->inside > 0 && is_far(distance_of(axis, time_ns), range)) {
    bool is_near_last = axis->away > 0 && llabs(time_ns - axis->away_ns) <= (int64_t)DAY_NS;
    axis->away = is_near_last ? axis->away + 1 : 1;
    axis->away_ns = time_ns;
    if (axis->away <= axis->inside) {
      axis->outside++;
      return false;
    }
    begin(axis, time_ns); /* the others have no place any more */
  } else if (axis->inside == 0) {
    begin(axis, time_ns);
  }
  axis->inside++;
  axis->away = 0;
  widen(axis, time_ns);
  return true;
}

bool tb__axis_covers(const tb__axis_t *axis, int64_t time_ns)
{
  return axis->inside > 0 && time_ns >= axis->min_ns && time_ns <= axis->max_ns;
}

size_t tb__axis_count(const tb__axis_t *axis)
{
  if (axis->inside == 0) return 0;
  return (size_t)((axis->max_ns >> axis->place.shift) - axis->place.base + 1);
}

double tb__axis_position(const tb__axis_t *axis, int64_t time_ns)
{
  int64_t from = axis->place.base * ((int64_t)1 << axis->place.shift);
  return (double)(time_ns - from) / (double)((int64_t)1 << axis->place.shift);
}

static bool is_same_place(const tb__axis_place_t *a, const tb__axis_place_t *b)
{
  return a->round == b->round && a->shift == b->shift && a->base == b->base;
}

/* Where bin `index` of the old place is in the new one; `coarser` 1 for bins of two. -1: nowhere.
 */
static int64_t moved(const tb__axis_place_t *from, const tb__axis_place_t *to, int64_t index,
                     int coarser)
{
  if (from->round != to->round) return -1;
  int64_t place = ((from->base >> coarser) + index) >> (to->shift - from->shift);
  return place - (to->base >> coarser);
}

/* --- counts --- */

static uint32_t add_counts(uint32_t a, uint32_t b)
{
  return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void tb__counts_follow(tb__counts_t *counts, const tb__axis_t *axis)
{
  tb__counts_t old = *counts;
  if (is_same_place(&old.place, &axis->place)) return;
  *counts = (tb__counts_t){.place = axis->place};
  for (int64_t i = 0; i < TB__AXIS_BINS; i++) {
    int64_t to = moved(&old.place, &axis->place, i, 0);
    if (old.bins[i] && to >= 0 && to < TB__AXIS_BINS)
      counts->bins[to] = add_counts(counts->bins[to], old.bins[i]);
  }
}

static size_t bin_of(const tb__axis_t *axis, int64_t time_ns, int coarser)
{
  int64_t bin = (time_ns >> axis->place.shift >> coarser) - (axis->place.base >> coarser);
  int64_t last = coarser ? TB__BAND_BINS - 1 : TB__AXIS_BINS - 1;
  return (size_t)(bin < 0 ? 0 : bin > last ? last : bin);
}

void tb__counts_add(tb__counts_t *counts, const tb__axis_t *axis, int64_t time_ns)
{
  tb__counts_follow(counts, axis);
  uint32_t *bin = &counts->bins[bin_of(axis, time_ns, 0)];
  *bin = add_counts(*bin, 1);
}

/* --- bands --- */

static uint32_t draw(tb__bands_t *bands)
{
  uint32_t number = bands->random ? bands->random : UINT32_C(2463534242); /* xorshift */
  number ^= number << 13;
  number ^= number >> 17;
  number ^= number << 5;
  return bands->random = number;
}

static int by_value(const void *a, const void *b)
{
  float left = *(const float *)a, right = *(const float *)b;
  return (left > right) - (left < right);
}

static size_t kept_of(const tb__band_t *band)
{
  return band->count < TB__BAND_KEPT ? band->count : TB__BAND_KEPT;
}

/* `take` of the values, spread evenly over them. */
static size_t take_evenly(tb__band_t *band, size_t take, float *out)
{
  size_t kept = kept_of(band);
  qsort(band->kept, kept, sizeof(float), by_value);
  for (size_t i = 0; i < take; i++)
    out[i] = band->kept[(2 * i + 1) * kept / (2 * take)];
  return take;
}

static void merge_band(tb__band_t *into, tb__band_t *other)
{
  if (other->count == 0) return;
  if (into->count == 0) {
    *into = *other;
    return;
  }
  tb__band_t sum = {.count = add_counts(into->count, other->count),
                    .min = fminf(into->min, other->min),
                    .max = fmaxf(into->max, other->max)};
  size_t mine = kept_of(into), theirs = kept_of(other), room = kept_of(&sum);
  if (mine + theirs > room) {
    double share = (double)into->count / ((double)into->count + (double)other->count);
    size_t wanted = (size_t)lround((double)room * share);
    mine = wanted > mine ? mine : wanted;
    if (room - mine > theirs) mine = room - theirs;
    theirs = room - mine;
  }
  size_t used = mine ? take_evenly(into, mine, sum.kept) : 0;
  if (theirs) take_evenly(other, theirs, sum.kept + used);
  *into = sum;
}

void tb__bands_follow(tb__bands_t *bands, const tb__axis_t *axis)
{
  if (is_same_place(&bands->place, &axis->place)) return;
  tb__bands_t old = *bands;
  memset(bands->bins, 0, sizeof bands->bins);
  bands->place = axis->place;
  for (int64_t i = 0; i < TB__BAND_BINS; i++) {
    int64_t to = moved(&old.place, &axis->place, i, 1);
    if (to >= 0 && to < TB__BAND_BINS) merge_band(&bands->bins[to], &old.bins[i]);
  }
}

void tb__bands_add(tb__bands_t *bands, const tb__axis_t *axis, int64_t time_ns, double value)
{
  tb__bands_follow(bands, axis);
  tb__band_t *band = &bands->bins[bin_of(axis, time_ns, 1)];
  float number = (float)value;
  if (band->count == 0 || number < band->min) band->min = number;
  if (band->count == 0 || number > band->max) band->max = number;
  size_t place = band->count < TB__BAND_KEPT ? band->count : draw(bands) % (band->count + 1u);
  if (band->count < UINT32_MAX - 1) band->count++;
  if (place < TB__BAND_KEPT) band->kept[place] = number;
}

typedef struct weighted {
  float value;
  double weight;
} weighted_t;

static int by_weighted_value(const void *a, const void *b)
{
  return by_value(&((const weighted_t *)a)->value, &((const weighted_t *)b)->value);
}

static double quantile(const weighted_t *values, size_t count, double rank)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i].weight;
    if (sum >= rank) return (double)values[i].value;
  }
  return (double)values[count - 1].value;
}

tb__band_summary_t tb__bands_summary(const tb__bands_t *bands, size_t first, size_t count)
{
  weighted_t values[TB__BAND_BINS * TB__BAND_KEPT];
  tb__band_summary_t out = {0};
  size_t used = 0;
  for (size_t i = first; i < first + count && i < TB__BAND_BINS; i++) {
    const tb__band_t *band = &bands->bins[i];
    size_t kept = kept_of(band);
    if (kept == 0) continue;
    if (out.count == 0 || (double)band->min < out.min) out.min = (double)band->min;
    if (out.count == 0 || (double)band->max > out.max) out.max = (double)band->max;
    out.count += band->count;
    for (size_t k = 0; k < kept; k++)
      values[used++] = (weighted_t){band->kept[k], (double)band->count / (double)kept};
  }
  if (used == 0) return out;
  qsort(values, used, sizeof *values, by_weighted_value);
  double total = (double)out.count;
  out.low = quantile(values, used, 0.05 * total);
  out.median = quantile(values, used, 0.5 * total);
  out.high = quantile(values, used, 0.95 * total);
  return out;
}

/* --- beats --- */

static int64_t add_sums(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

static void merge_beat(tb__beat_t *into, const tb__beat_t *other)
{
  if (other->count == 0) return;
  if (into->count == 0) {
    *into = *other;
    return;
  }
  into->count = add_counts(into->count, other->count);
  into->steps = add_counts(into->steps, other->steps);
  into->step_ns = add_sums(into->step_ns, other->step_ns);
  into->arrival_ns = add_sums(into->arrival_ns, other->arrival_ns);
  into->last_ns = other->last_ns;
}

void tb__beats_follow(tb__beats_t *beats, const tb__axis_t *axis)
{
  if (is_same_place(&beats->place, &axis->place)) return;
  tb__beats_t old = *beats;
  *beats = (tb__beats_t){.place = axis->place};
  for (int64_t i = 0; i < TB__AXIS_BINS; i++) {
    int64_t to = moved(&old.place, &axis->place, i, 0);
    if (to >= 0 && to < TB__AXIS_BINS) merge_beat(&beats->bins[to], &old.bins[i]);
  }
}

void tb__beats_add(tb__beats_t *beats, const tb__axis_t *axis, int64_t time_ns, int64_t tick_ns,
                   int64_t step_ns, int64_t took_ns)
{
  tb__beats_follow(beats, axis);
  bool is_step = step_ns > 0 && took_ns > 0;
  tb__beat_t one = {.count = 1,
                    .steps = is_step,
                    .step_ns = is_step ? step_ns : 0,
                    .arrival_ns = is_step ? took_ns : 0,
                    .first_ns = tick_ns,
                    .last_ns = tick_ns};
  merge_beat(&beats->bins[bin_of(axis, time_ns, 0)], &one);
}

tb__beat_t tb__beats_sum(const tb__beats_t *beats, size_t first, size_t count)
{
  tb__beat_t sum = {0};
  for (size_t i = first; i < first + count && i < TB__AXIS_BINS; i++)
    merge_beat(&sum, &beats->bins[i]);
  return sum;
}
