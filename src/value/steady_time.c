#include <timebase/steady_time.h>

#include "base/saturate.h"
#include "value/nanoseconds.h"

tb_status_t tb_steady_time_add(tb_steady_time_t time, tb_duration_t duration,
                               tb_steady_time_t *out)
{
  int64_t sum;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_add_overflow(time.ns, duration.ns, &sum))
    return TB_ERR_OVERFLOW;
  out->ns = sum;
  return TB_OK;
}

tb_status_t tb_steady_time_sub(tb_steady_time_t time, tb_duration_t duration,
                               tb_steady_time_t *out)
{
  int64_t difference;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_sub_overflow(time.ns, duration.ns, &difference))
    return TB_ERR_OVERFLOW;
  out->ns = difference;
  return TB_OK;
}

tb_steady_time_t tb_steady_time_add_sat(tb_steady_time_t time, tb_duration_t duration)
{
  return (tb_steady_time_t){tb__add_sat(time.ns, duration.ns)};
}

tb_steady_time_t tb_steady_time_sub_sat(tb_steady_time_t time, tb_duration_t duration)
{
  return (tb_steady_time_t){tb__sub_sat(time.ns, duration.ns)};
}

tb_status_t tb_steady_time_diff(tb_steady_time_t later, tb_steady_time_t earlier,
                                tb_duration_t *out)
{
  int64_t difference;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_sub_overflow(later.ns, earlier.ns, &difference))
    return TB_ERR_OVERFLOW;
  out->ns = difference;
  return TB_OK;
}

tb_status_t tb_steady_time_diff_sat(tb_steady_time_t later, tb_steady_time_t earlier,
                                    tb_duration_t *out)
{
  if (!out)
    return TB_ERR_INVALID;
  out->ns = tb__sub_sat(later.ns, earlier.ns);
  return TB_OK;
}

tb_status_t tb_steady_time_compare(tb_steady_time_t a, tb_steady_time_t b, int *out)
{
  if (!out)
    return TB_ERR_INVALID;
  *out = (a.ns > b.ns) - (a.ns < b.ns);
  return TB_OK;
}

tb_status_t tb_steady_time_from_timespec(struct timespec value, tb_steady_time_t *out)
{
  return out ? tb__ns_from_timespec(value, &out->ns) : TB_ERR_INVALID;
}

struct timespec tb_steady_time_to_timespec(tb_steady_time_t time)
{
  return tb__ns_to_timespec(time.ns);
}

tb_status_t tb_steady_time_from_seconds(double seconds, tb_steady_time_t *out)
{
  return out ? tb__ns_from_double(seconds * (double)TB_NS_PER_S, &out->ns) : TB_ERR_INVALID;
}

double tb_steady_time_to_seconds(tb_steady_time_t time)
{
  return tb__ns_to_seconds(time.ns);
}
