#include "contract/run_factor.h"

#define WINDOW_NS   INT64_C(500000000)
#define STRETCH     4 /* windows */
#define MEASURED_NS INT64_C(1000000000)

/* Of two neighbours the one with less delay stays. */
static void halve(tb__run_factor_t *run)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < run->count; i += 2) {
    const tb__factor_point_t *a = &run->points[i];
    const tb__factor_point_t *b = i + 1 < run->count ? &run->points[i + 1] : a;
    run->points[count++] = a->steady_ns - a->tick_ns <= b->steady_ns - b->tick_ns ? *a : *b;
  }
  run->count = count;
  run->window_ns *= 2;
}

void tb__run_factor_feed(tb__run_factor_t *run, int64_t tick_ns, int64_t steady_ns)
{
  tb__factor_point_t point = {steady_ns, tick_ns};
  run->ticks++;
  if (run->count && steady_ns < run->window_end_ns) {
    tb__factor_point_t *best = &run->points[run->count - 1];
    if (steady_ns - tick_ns < best->steady_ns - best->tick_ns) *best = point;
    return;
  }
  if (!run->window_ns) run->window_ns = WINDOW_NS;
  if (run->count == TB__FACTOR_POINTS) halve(run);
  run->points[run->count++] = point;
  run->window_end_ns = steady_ns + run->window_ns;
}

static double factor_between(const tb__factor_point_t *from, const tb__factor_point_t *to)
{
  double steady = (double)(to->steady_ns - from->steady_ns);
  return steady > 0 ? (double)(to->tick_ns - from->tick_ns) / steady : 0;
}

bool tb__run_factor_range(const tb__run_factor_t *run, tb__factor_range_t *out)
{
  if (run->count < 2) return false;
  const tb__factor_point_t *first = &run->points[0], *last = &run->points[run->count - 1];
  tb__factor_range_t range = {.measured_ns = last->steady_ns - first->steady_ns};
  if (range.measured_ns < MEASURED_NS) return false;
  range.mean = range.least = range.most = factor_between(first, last);
  for (uint32_t i = 0; i + STRETCH < run->count; i++) {
    double factor = factor_between(&run->points[i], &run->points[i + STRETCH]);
    if (factor < range.least) range.least = factor;
    if (factor > range.most) range.most = factor;
  }
  *out = range;
  return true;
}
