#include "value/ns.h"

#include <stdbool.h>
#include <string.h>
#include <timebase/duration.h>

__extension__ typedef unsigned __int128 wide_t;

#define MANTISSA_BITS 52
#define EXPONENT_MASK 0x7ff
#define EXPONENT_BIAS 1075

void tb__ns_split(int64_t ns, int64_t *out_sec, uint32_t *out_nanosec)
{
  /* T4, T6: rounded down, the remainder is never negative */
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
  /* T4, T6: what does not fit is refused */
  int64_t whole_ns;
  int64_t rest_ns = nanosec;
  if (sec < 0) { /* the smallest time rounded down to seconds is out of range */
    sec++;
    rest_ns -= TB_NS_PER_S;
  }
  if (__builtin_mul_overflow(sec, TB_NS_PER_S, &whole_ns) ||
      __builtin_add_overflow(whole_ns, rest_ns, &whole_ns))
    return TB_ERR_RANGE;
  *out_ns = whole_ns;
  return TB_OK;
}

/* |factor| = mantissa * 2^exponent, for a finite factor. */
static uint64_t double_split(double factor, int *exponent, bool *negative)
{
  uint64_t bits;
  memcpy(&bits, &factor, sizeof bits);
  uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
  int biased = (int)(bits >> MANTISSA_BITS) & EXPONENT_MASK;
  *negative = bits >> 63;
  *exponent = (biased ? biased : 1) - EXPONENT_BIAS;
  return biased ? mantissa | UINT64_C(1) << MANTISSA_BITS : mantissa;
}

tb_status_t tb__ns_scale(int64_t ns, double factor, int64_t *out_ns)
{
  int exponent;
  bool negative;
  wide_t product = double_split(factor, &exponent, &negative);
  uint64_t magnitude_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  product *= magnitude_ns; /* below 2^116 */
  negative = negative != (ns < 0);
  if (exponent < -127) {
    product = 0; /* below 2^-12 */
  } else if (exponent < 0) {
    product = (product + ((wide_t)1 << (-exponent - 1))) >> -exponent;
  } else if (product != 0) {
    /* Such a mantissa is 2^52 or more: shifted further than to 2^63, it is beyond int64. */
    if (exponent > 63 - MANTISSA_BITS) return tb__ns_beyond(negative);
    product <<= exponent;
  }
  if (product > (uint64_t)INT64_MAX + negative) return tb__ns_beyond(negative);
  *out_ns = (int64_t)(negative ? 0 - (uint64_t)product : (uint64_t)product);
  return TB_OK;
}

tb_status_t tb__ns_from_seconds(double seconds, int64_t *out_ns)
{
  if (seconds != seconds) return TB_ERR_INVALID;
  if (!__builtin_isfinite(seconds)) return TB_ERR_RANGE;
  return tb__ns_scale(TB_NS_PER_S, seconds, out_ns) ? TB_ERR_RANGE : TB_OK;
}

double tb__ns_to_seconds(int64_t ns)
{
  int64_t sec = ns / TB_NS_PER_S, rest_ns = ns % TB_NS_PER_S;
  return (double)sec + (double)rest_ns / 1e9;
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
