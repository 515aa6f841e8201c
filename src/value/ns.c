#include "value/ns.h"

#include <timebase/duration.h>

void tb__ns_split(int64_t ns, int64_t *out_sec, uint32_t *out_nanosec)
{
  int64_t sec = ns / TB_NS_PER_S;
  int64_t rest_ns = ns % TB_NS_PER_S;
  if (rest_ns < 0) {
    sec--;
    rest_ns += TB_NS_PER_S;
  }
  *out_sec = sec;
  *out_nanosec = (uint32_t)rest_ns;
}

tb_status_t tb__ns_join(int64_t sec, uint32_t nanosec, int64_t *out_ns)
{
  int64_t whole_ns;
  int64_t rest_ns = nanosec;
  if (sec < 0) { /* the floor of the smallest time is itself out of range */
    sec++;
    rest_ns -= TB_NS_PER_S;
  }
  if (__builtin_mul_overflow(sec, TB_NS_PER_S, &whole_ns) ||
      __builtin_add_overflow(whole_ns, rest_ns, &whole_ns))
    return TB_ERR_RANGE;
  *out_ns = whole_ns;
  return TB_OK;
}

tb_status_t tb__ns_from_seconds(double seconds, int64_t *out_ns)
{
  if (seconds != seconds) return TB_ERR_INVALID;
  if (seconds <= -1e10 || seconds >= 1e10) return TB_ERR_RANGE;
  int64_t whole = (int64_t)seconds;
  double fraction_ns = (seconds - (double)whole) * 1e9; /* the subtraction is exact */
  int64_t ns, rest_ns = (int64_t)fraction_ns;
  double below_ns = fraction_ns - (double)rest_ns;
  rest_ns += (below_ns >= 0.5) - (below_ns <= -0.5);
  if (__builtin_mul_overflow(whole, TB_NS_PER_S, &ns) || __builtin_add_overflow(ns, rest_ns, &ns))
    return TB_ERR_RANGE;
  *out_ns = ns;
  return TB_OK;
}

double tb__ns_to_seconds(int64_t ns)
{
  return (double)(ns / TB_NS_PER_S) + (double)(ns % TB_NS_PER_S) / 1e9;
}

tb_status_t tb__ns_from_timespec(struct timespec spec, int64_t *out_ns)
{
  if (spec.tv_nsec < 0 || spec.tv_nsec >= TB_NS_PER_S) return TB_ERR_INVALID;
  return tb__ns_join(spec.tv_sec, (uint32_t)spec.tv_nsec, out_ns);
}

tb_status_t tb__ns_to_timespec(int64_t ns, struct timespec *out)
{
  int64_t sec;
  uint32_t nanosec;
  tb__ns_split(ns, &sec, &nanosec);
  if ((time_t)sec != sec) return TB_ERR_RANGE;
  out->tv_sec = (time_t)sec;
  out->tv_nsec = (long)nanosec;
  return TB_OK;
}

tb_status_t tb__ns_from_wire(int32_t sec, uint32_t nanosec, int64_t *out_ns)
{
  if (nanosec >= TB_NS_PER_S) return TB_ERR_INVALID;
  *out_ns = sec * TB_NS_PER_S + nanosec;
  return TB_OK;
}

tb_status_t tb__ns_to_wire(int64_t ns, int32_t *out_sec, uint32_t *out_nanosec)
{
  int64_t sec;
  uint32_t nanosec;
  tb__ns_split(ns, &sec, &nanosec);
  if (sec < INT32_MIN || sec > INT32_MAX) return TB_ERR_RANGE;
  *out_sec = (int32_t)sec;
  *out_nanosec = nanosec;
  return TB_OK;
}
