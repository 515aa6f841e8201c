#include "play_time.h"

#include <stdio.h>
#include <string.h>
#include <timebase/duration.h>
#include <timebase/time.h>

#define DATE_MIN_S 100000000 /* a bare number from here on is a date: no recording is that long */

double play_time_in_bag(const play_span_t *span, int64_t time_ns)
{
  return time_ns < span->bag_start_ns ? 0 : (double)(time_ns - span->bag_start_ns) / 1e9;
}

static bool add(int64_t a_ns, int64_t b_ns, int64_t *out_ns)
{
  return !__builtin_add_overflow(a_ns, b_ns, out_ns);
}

static bool is_bare(const char *text)
{
  return text[strspn(text, "0123456789.")] == '\0';
}

static bool parse(const char *text, const play_span_t *span, int64_t *out_ns)
{
  tb_time_t date;
  tb_duration_t duration;
  bool relative = *text == '+' || *text == '-';
  if (tb_time_parse(text, TB_TIME_ROS, &date) == TB_OK) {
    *out_ns = date.ns;
    return true;
  }
  if (tb_duration_parse(text + relative, &duration) != TB_OK || duration.ns < 0) return false;
  if (*text == '-') return add(span->position_ns, -duration.ns, out_ns);
  if (*text == '+') return add(span->position_ns, duration.ns, out_ns);
  if (is_bare(text) && duration.ns >= DATE_MIN_S * TB_NS_PER_S) {
    *out_ns = duration.ns;
    return true;
  }
  return add(span->bag_start_ns, duration.ns, out_ns);
}

bool play_time_parse(const char *text, const play_span_t *span, int64_t *out_ns, char *reason,
                     size_t size)
{
  int64_t time_ns = 0;
  if (!parse(text, span, &time_ns)) {
    snprintf(reason, size, "not a time");
    return false;
  }
  if (time_ns < span->first_ns || time_ns > span->end_ns) {
    snprintf(reason, size, "not in the recording, which goes from %.2f s to %.2f s",
             play_time_in_bag(span, span->first_ns), play_time_in_bag(span, span->end_ns));
    return false;
  }
  *out_ns = time_ns;
  return true;
}
