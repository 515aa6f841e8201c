#include "clock/course.h"

#include <math.h>

int64_t tb__course_time(const tb__course_t *course, int64_t steady_ns)
{
  if (steady_ns <= course->steady_ns) return course->time_ns;
  int64_t room_ns = course->until_ns - course->time_ns;
  double run_ns = course->rate * (double)(steady_ns - course->steady_ns);
  if (!(run_ns < (double)room_ns)) return course->until_ns;
  int64_t whole_ns = (int64_t)run_ns;
  return course->time_ns + (whole_ns < room_ns ? whole_ns : room_ns);
}

int64_t tb__course_moment(const tb__course_t *course, int64_t time_ns)
{
  if (time_ns <= course->time_ns) return course->steady_ns;
  if (time_ns > course->until_ns) return INT64_MAX;
  double run_ns = ceil((double)(time_ns - course->time_ns) / course->rate);
  if (!(run_ns < (double)(INT64_MAX - course->steady_ns) / 2)) return INT64_MAX;
  return course->steady_ns + (int64_t)run_ns;
}
