#include <timebase/time.h>

#include "base/saturate.h"
#include "value/nanoseconds.h"

static bool kind_is_valid(tb_time_kind_t kind)
{
  return kind == TB_TIME_SYSTEM || kind == TB_TIME_ROS;
}

bool tb_time_is_set(tb_time_t time)
{
  return time.kind != TB_TIME_ROS || time.ns != 0;
}

tb_status_t tb_time_add(tb_time_t time, tb_duration_t duration, tb_time_t *out)
{
  int64_t sum;
  if (!out || !kind_is_valid(time.kind))
    return TB_ERR_INVALID;
  if (__builtin_add_overflow(time.ns, duration.ns, &sum))
    return TB_ERR_OVERFLOW;
  *out = (tb_time_t){sum, time.kind};
  return TB_OK;
}

tb_status_t tb_time_sub(tb_time_t time, tb_duration_t duration, tb_time_t *out)
{
  int64_t difference;
  if (!out || !kind_is_valid(time.kind))
    return TB_ERR_INVALID;
  if (__builtin_sub_overflow(time.ns, duration.ns, &difference))
    return TB_ERR_OVERFLOW;
  *out = (tb_time_t){difference, time.kind};
  return TB_OK;
}

tb_time_t tb_time_add_sat(tb_time_t time, tb_duration_t duration)
{
  return (tb_time_t){tb__add_sat(time.ns, duration.ns), time.kind};
}

tb_time_t tb_time_sub_sat(tb_time_t time, tb_duration_t duration)
{
  return (tb_time_t){tb__sub_sat(time.ns, duration.ns), time.kind};
}

static tb_status_t pair_check(tb_time_t a, tb_time_t b, const void *out)
{
  if (!out || !kind_is_valid(a.kind) || !kind_is_valid(b.kind))
    return TB_ERR_INVALID;
  return a.kind == b.kind ? TB_OK : TB_ERR_CLOCK_MISMATCH;
}

tb_status_t tb_time_diff(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  int64_t difference;
  tb_status_t status = pair_check(later, earlier, out);
  if (status)
    return status;
  if (__builtin_sub_overflow(later.ns, earlier.ns, &difference))
    return TB_ERR_OVERFLOW;
  out->ns = difference;
  return TB_OK;
}

tb_status_t tb_time_diff_sat(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  tb_status_t status = pair_check(later, earlier, out);
  if (!status)
    out->ns = tb__sub_sat(later.ns, earlier.ns);
  return status;
}

tb_status_t tb_time_compare(tb_time_t a, tb_time_t b, int *out)
{
  tb_status_t status = pair_check(a, b, out);
  if (!status)
    *out = (a.ns > b.ns) - (a.ns < b.ns);
  return status;
}

static tb_status_t time_make(tb_status_t status, int64_t ns, tb_time_kind_t kind, tb_time_t *out)
{
  if (!out || !kind_is_valid(kind))
    return TB_ERR_INVALID;
  if (!status)
    *out = (tb_time_t){ns, kind};
  return status;
}

tb_status_t tb_time_from_wire(tb_wire_time_t wire, tb_time_kind_t kind, tb_time_t *out)
{
  int64_t ns = 0;
  tb_status_t status = tb__ns_from_wire(wire, &ns);
  return time_make(status, ns, kind, out);
}

tb_status_t tb_time_to_wire(tb_time_t time, tb_wire_time_t *out)
{
  return out ? tb__ns_to_wire(time.ns, out) : TB_ERR_INVALID;
}

tb_status_t tb_time_from_timespec(struct timespec value, tb_time_kind_t kind, tb_time_t *out)
{
  int64_t ns = 0;
  tb_status_t status = tb__ns_from_timespec(value, &ns);
  return time_make(status, ns, kind, out);
}

struct timespec tb_time_to_timespec(tb_time_t time)
{
  return tb__ns_to_timespec(time.ns);
}

tb_status_t tb_time_from_seconds(double seconds, tb_time_kind_t kind, tb_time_t *out)
{
  int64_t ns = 0;
  tb_status_t status = tb__ns_from_double(seconds * (double)TB_NS_PER_S, &ns);
  return time_make(status, ns, kind, out);
}

double tb_time_to_seconds(tb_time_t time)
{
  return tb__ns_to_seconds(time.ns);
}
