#include "source/rate_estimate.h"

#include <stdbool.h>
#include <string.h>
#include <timebase/timeline.h>

#define PAIRS     (TB__RATE_SAMPLES * (TB__RATE_SAMPLES - 1) / 2)
#define GAP       10 /* mean intervals */
#define LEAP      4  /* mean steps */
#define LEAP_MIN  1e8
#define RATE_FROM 3 /* samples */

static double slope(const tb__rate_sample_t *from, const tb__rate_sample_t *to)
{
  return (double)(to->time_ns - from->time_ns) / (double)(to->steady_ns - from->steady_ns);
}

/* Whether `next` does not continue the samples, which are useless then. */
static bool is_break(const tb__rate_estimate_t *estimate, const tb__rate_sample_t *next)
{
  if (estimate->count < 2) return false;
  const tb__rate_sample_t *first = estimate->samples;
  const tb__rate_sample_t *last = &estimate->samples[estimate->count - 1];
  double intervals = (double)(estimate->count - 1);
  double interval_ns = (double)(last->steady_ns - first->steady_ns) / intervals;
  double step_ns = (double)(last->time_ns - first->time_ns) / intervals;
  double silent_ns = (double)(next->steady_ns - last->steady_ns);
  double ahead_ns = (double)(next->time_ns - last->time_ns) - slope(first, last) * silent_ns;
  double leap_ns = LEAP * step_ns > LEAP_MIN ? LEAP * step_ns : LEAP_MIN;
  return silent_ns > GAP * interval_ns || ahead_ns > leap_ns;
}

static void insert(double *sorted, uint32_t count, double value)
{
  uint32_t place = count;
  for (; place > 0 && sorted[place - 1] > value; place--)
    sorted[place] = sorted[place - 1];
  sorted[place] = value;
}

/* The median; of three samples the least, as one of the two steps may have been a leap. */
static double typical_slope(const tb__rate_estimate_t *estimate)
{
  double slopes[PAIRS];
  uint32_t count = 0;
  for (uint32_t to = 1; to < estimate->count; to++)
    for (uint32_t from = 0; from < to; from++)
      insert(slopes, count++, slope(&estimate->samples[from], &estimate->samples[to]));
  return slopes[estimate->count == RATE_FROM ? 0 : (count - 1) / 2];
}

void tb__rate_estimate_add(tb__rate_estimate_t *estimate, int64_t time_ns, int64_t steady_ns)
{
  tb__rate_sample_t next = {time_ns, steady_ns};
  if (estimate->count) {
    const tb__rate_sample_t *last = &estimate->samples[estimate->count - 1];
    if (steady_ns - last->steady_ns < TB__RATE_SPACING_NS) return;
    if (time_ns < last->time_ns || is_break(estimate, &next)) *estimate = (tb__rate_estimate_t){0};
  }
  if (estimate->count == TB__RATE_SAMPLES)
    memmove(estimate->samples, estimate->samples + 1, sizeof next * --estimate->count);
  estimate->samples[estimate->count++] = next;
  if (estimate->count < RATE_FROM) return;
  double rate = typical_slope(estimate);
  estimate->rate = rate < TB_ANCHOR_RATE_MAX ? rate : TB_ANCHOR_RATE_MAX;
}
