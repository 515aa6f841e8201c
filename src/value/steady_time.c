#include <timebase/steady_time.h>

#include "value/ns.h"

tb_status_t tb_steady_time_add(tb_steady_time_t time, tb_duration_t duration, tb_steady_time_t *out)
{
  return out ? tb__ns_add(time.ns, duration.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_steady_time_sub(tb_steady_time_t time, tb_duration_t duration, tb_steady_time_t *out)
{
  return out ? tb__ns_sub(time.ns, duration.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_steady_time_diff(tb_steady_time_t later, tb_steady_time_t earlier,
                                tb_duration_t *out)
{
  return out ? tb__ns_sub(later.ns, earlier.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_steady_time_compare(tb_steady_time_t a, tb_steady_time_t b, int *out)
{
  /* T1: only two steady times; no function takes both kinds of time */
  if (!out) return TB_ERR_INVALID;
  *out = tb__ns_compare(a.ns, b.ns);
  return TB_OK;
}

tb_steady_time_t tb_steady_time_add_sat(tb_steady_time_t time, tb_duration_t duration)
{
  return (tb_steady_time_t){tb__add_saturated(time.ns, duration.ns)};
}

tb_steady_time_t tb_steady_time_sub_sat(tb_steady_time_t time, tb_duration_t duration)
{
  return (tb_steady_time_t){tb__sub_saturated(time.ns, duration.ns)};
}

tb_status_t tb_steady_time_diff_sat(tb_steady_time_t later, tb_steady_time_t earlier,
                                    tb_duration_t *out)
{
  if (!out) return TB_ERR_INVALID;
  out->ns = tb__sub_saturated(later.ns, earlier.ns);
  return TB_OK;
}

tb_status_t tb_steady_time_from_seconds(double seconds, tb_steady_time_t *out)
{
  return out ? tb__ns_from_seconds(seconds, &out->ns) : TB_ERR_INVALID;
}

double tb_steady_time_to_seconds(tb_steady_time_t time)
{
  return tb__ns_to_seconds(time.ns);
}

tb_status_t tb_steady_time_from_timespec(struct timespec spec, tb_steady_time_t *out)
{
  return out ? tb__ns_from_timespec(spec, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_steady_time_to_timespec(tb_steady_time_t time, struct timespec *out)
{
  return out ? tb__ns_to_timespec(time.ns, out) : TB_ERR_INVALID;
}
