#include "value/nanoseconds.h"

#include <math.h>

tb_status_t tb__ns_from_double(double ns, int64_t *out_ns)
{
  if (isnan(ns))
    return TB_ERR_INVALID;
  double rounded = round(ns);
  if (rounded < -0x1p63 || rounded >= 0x1p63)
    return TB_ERR_RANGE;
  *out_ns = (int64_t)rounded;
  return TB_OK;
}

tb_status_t tb__ns_from_timespec(struct timespec value, int64_t *out_ns)
{
  int64_t ns;
  if (value.tv_nsec < 0 || value.tv_nsec >= TB_NS_PER_S)
    return TB_ERR_INVALID;
  __int128 sum = (__int128)value.tv_sec * TB_NS_PER_S + value.tv_nsec;
  if (__builtin_add_overflow(sum, 0, &ns))
    return TB_ERR_RANGE;
  *out_ns = ns;
  return TB_OK;
}

struct timespec tb__ns_to_timespec(int64_t ns)
{
  int64_t seconds = ns / TB_NS_PER_S, rest = ns % TB_NS_PER_S;
  if (rest < 0) {
    seconds--;
    rest += TB_NS_PER_S;
  }
  return (struct timespec){.tv_sec = seconds, .tv_nsec = rest};
}

double tb__ns_to_seconds(int64_t ns)
{
  return (double)(ns / TB_NS_PER_S) + (double)(ns % TB_NS_PER_S) / (double)TB_NS_PER_S;
}

tb_status_t tb__ns_from_wire(tb_wire_time_t wire, int64_t *out_ns)
{
  if (wire.nanosec >= TB_NS_PER_S)
    return TB_ERR_INVALID;
  *out_ns = wire.sec * TB_NS_PER_S + wire.nanosec;
  return TB_OK;
}

tb_status_t tb__ns_to_wire(int64_t ns, tb_wire_time_t *out)
{
  struct timespec value = tb__ns_to_timespec(ns);
  if (value.tv_sec < INT32_MIN || value.tv_sec > INT32_MAX)
    return TB_ERR_RANGE;
  *out = (tb_wire_time_t){(int32_t)value.tv_sec, (uint32_t)value.tv_nsec};
  return TB_OK;
}
