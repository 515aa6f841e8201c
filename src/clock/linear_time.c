#include "clock/linear_time.h"

#include <math.h>

int64_t tb__linear_time_at(const tb__linear_time_t *linear, int64_t steady_ns)
{
  if (steady_ns <= linear->steady_ns) return linear->time_ns;
  int64_t room_ns = linear->until_ns - linear->time_ns;
  double run_ns = linear->rate * (double)(steady_ns - linear->steady_ns);
  if (!(run_ns < (double)room_ns)) return linear->until_ns;
  int64_t whole_ns = (int64_t)run_ns;
  return linear->time_ns + (whole_ns < room_ns ? whole_ns : room_ns);
}

int64_t tb__linear_time_moment(const tb__linear_time_t *linear, int64_t time_ns)
{
  if (time_ns <= linear->time_ns) return linear->steady_ns;
  if (time_ns > linear->until_ns) return INT64_MAX;
  double run_ns = ceil((double)(time_ns - linear->time_ns) / linear->rate);
  if (!(run_ns < (double)(INT64_MAX - linear->steady_ns) / 2)) return INT64_MAX;
  return linear->steady_ns + (int64_t)run_ns;
}
