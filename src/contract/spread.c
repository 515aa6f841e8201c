#include "contract/spread.h"

#include <math.h>
#include <stddef.h>

#define NS_PER_US 1000

void tb__moments_add(tb__moments_t *moments, int64_t value_ns)
{
  if (moments->count == 0 || value_ns < moments->min_ns) moments->min_ns = value_ns;
  if (moments->count == 0 || value_ns > moments->max_ns) moments->max_ns = value_ns;
  moments->count++;
  double off = (double)value_ns - moments->mean_ns;
  moments->mean_ns += off / (double)moments->count;
  moments->square_sum += off * ((double)value_ns - moments->mean_ns);
}

double tb__moments_deviation(const tb__moments_t *moments)
{
  return moments->count ? sqrt(moments->square_sum / (double)moments->count) : 0.0;
}

static unsigned highest_bit(uint64_t value)
{
  return 63u - (unsigned)__builtin_clzll(value);
}

static size_t bin_of(uint64_t us)
{
  if (us < 2 * TB__SPREAD_STEPS) return (size_t)us;
  unsigned octave = highest_bit(us) - 5; /* the six highest bits: TB__SPREAD_STEPS to twice that */
  size_t bin = (size_t)octave * TB__SPREAD_STEPS + (size_t)(us >> octave);
  return bin < TB__SPREAD_BINS ? bin : TB__SPREAD_BINS - 1;
}

/* The middle of a bin. */
static int64_t value_of(size_t bin)
{
  if (bin < 2 * TB__SPREAD_STEPS) return (int64_t)bin * NS_PER_US + NS_PER_US / 2;
  unsigned octave = (unsigned)(bin / TB__SPREAD_STEPS) - 1;
  uint64_t least = (uint64_t)(bin % TB__SPREAD_STEPS + TB__SPREAD_STEPS) << octave;
  return (int64_t)(least * NS_PER_US + ((uint64_t)NS_PER_US << octave) / 2);
}

static void count_in(uint32_t *bin)
{
  if (*bin < UINT32_MAX) ++*bin;
}

void tb__spread_add(tb__spread_t *spread, int64_t value_ns)
{
  tb__moments_add(&spread->moments, value_ns);
  if (value_ns >= 0)
    count_in(&spread->above[bin_of((uint64_t)value_ns / NS_PER_US)]);
  else
    count_in(&spread->below[bin_of((0 - (uint64_t)value_ns) / NS_PER_US)]);
}

static int64_t within(const tb__moments_t *moments, int64_t value_ns)
{
  if (value_ns < moments->min_ns) return moments->min_ns;
  return value_ns > moments->max_ns ? moments->max_ns : value_ns;
}

int64_t tb__spread_quantile(const tb__spread_t *spread, double share)
{
  const tb__moments_t *moments = &spread->moments;
  if (moments->count == 0) return 0;
  uint64_t total = 0;
  for (size_t i = 0; i < TB__SPREAD_BINS; i++)
    total += (uint64_t)spread->below[i] + spread->above[i];
  if (share >= 1.0) return moments->max_ns;
  if (!(share > 0.0)) return moments->min_ns;
  uint64_t wanted = (uint64_t)ceil(share * (double)total), seen = 0;
  for (size_t i = TB__SPREAD_BINS; i-- > 0;) {
    seen += spread->below[i];
    if (seen >= wanted) return within(moments, -value_of(i));
  }
  for (size_t i = 0; i < TB__SPREAD_BINS; i++) {
    seen += spread->above[i];
    if (seen >= wanted) return within(moments, value_of(i));
  }
  return moments->max_ns;
}

uint64_t tb__spread_at_most(const tb__spread_t *spread, int64_t limit_ns)
{
  uint64_t count = 0;
  for (size_t i = 0; i < TB__SPREAD_BINS; i++) {
    if (-value_of(i) <= limit_ns) count += spread->below[i];
    if (value_of(i) <= limit_ns) count += spread->above[i];
  }
  return count;
}

double tb__spread_sum_below(const tb__spread_t *spread)
{
  double sum_ns = 0;
  for (size_t i = 0; i < TB__SPREAD_BINS; i++)
    sum_ns += (double)spread->below[i] * (double)value_of(i);
  return sum_ns;
}

static void merge_moments(tb__moments_t *into, const tb__moments_t *from)
{
  if (from->count == 0) return;
  if (into->count == 0) {
    *into = *from;
    return;
  }
  double count = (double)into->count + (double)from->count;
  double off = from->mean_ns - into->mean_ns;
  into->square_sum +=
      from->square_sum + off * off * (double)into->count * (double)from->count / count;
  into->mean_ns += off * (double)from->count / count;
  into->count += from->count;
  if (from->min_ns < into->min_ns) into->min_ns = from->min_ns;
  if (from->max_ns > into->max_ns) into->max_ns = from->max_ns;
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
  return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void tb__spread_merge(tb__spread_t *into, const tb__spread_t *from)
{
  merge_moments(&into->moments, &from->moments);
  for (size_t i = 0; i < TB__SPREAD_BINS; i++) {
    into->above[i] = sum_of(into->above[i], from->above[i]);
    into->below[i] = sum_of(into->below[i], from->below[i]);
  }
}
