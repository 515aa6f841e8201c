#include <timebase/duration.h>

#include "base/saturate.h"
#include "value/nanoseconds.h"

tb_status_t tb_duration_add(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  int64_t sum;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_add_overflow(a.ns, b.ns, &sum))
    return TB_ERR_OVERFLOW;
  out->ns = sum;
  return TB_OK;
}

tb_status_t tb_duration_sub(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  int64_t difference;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_sub_overflow(a.ns, b.ns, &difference))
    return TB_ERR_OVERFLOW;
  out->ns = difference;
  return TB_OK;
}

tb_status_t tb_duration_negate(tb_duration_t a, tb_duration_t *out)
{
  return tb_duration_sub((tb_duration_t){0}, a, out);
}

tb_status_t tb_duration_multiply(tb_duration_t a, int64_t factor, tb_duration_t *out)
{
  int64_t product;
  if (!out)
    return TB_ERR_INVALID;
  if (__builtin_mul_overflow(a.ns, factor, &product))
    return TB_ERR_OVERFLOW;
  out->ns = product;
  return TB_OK;
}

tb_status_t tb_duration_scale(tb_duration_t a, double factor, tb_duration_t *out)
{
  int64_t product;
  if (!out)
    return TB_ERR_INVALID;
  tb_status_t status = tb__ns_from_double((double)a.ns * factor, &product);
  if (status)
    return status == TB_ERR_RANGE ? TB_ERR_OVERFLOW : status;
  out->ns = product;
  return TB_OK;
}

tb_duration_t tb_duration_add_sat(tb_duration_t a, tb_duration_t b)
{
  return (tb_duration_t){tb__add_sat(a.ns, b.ns)};
}

tb_duration_t tb_duration_sub_sat(tb_duration_t a, tb_duration_t b)
{
  return (tb_duration_t){tb__sub_sat(a.ns, b.ns)};
}

tb_duration_t tb_duration_negate_sat(tb_duration_t a)
{
  return (tb_duration_t){tb__sub_sat(0, a.ns)};
}

tb_duration_t tb_duration_multiply_sat(tb_duration_t a, int64_t factor)
{
  int64_t product;
  if (__builtin_mul_overflow(a.ns, factor, &product))
    product = (a.ns < 0) == (factor < 0) ? INT64_MAX : INT64_MIN;
  return (tb_duration_t){product};
}

tb_status_t tb_duration_compare(tb_duration_t a, tb_duration_t b, int *out)
{
  if (!out)
    return TB_ERR_INVALID;
  *out = (a.ns > b.ns) - (a.ns < b.ns);
  return TB_OK;
}

tb_status_t tb_duration_from_seconds(double seconds, tb_duration_t *out)
{
  return out ? tb__ns_from_double(seconds * (double)TB_NS_PER_S, &out->ns) : TB_ERR_INVALID;
}

double tb_duration_to_seconds(tb_duration_t duration)
{
  return tb__ns_to_seconds(duration.ns);
}

tb_status_t tb_duration_from_timespec(struct timespec value, tb_duration_t *out)
{
  return out ? tb__ns_from_timespec(value, &out->ns) : TB_ERR_INVALID;
}

struct timespec tb_duration_to_timespec(tb_duration_t duration)
{
  return tb__ns_to_timespec(duration.ns);
}

tb_status_t tb_duration_from_wire(tb_wire_time_t wire, tb_duration_t *out)
{
  return out ? tb__ns_from_wire(wire, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_to_wire(tb_duration_t duration, tb_wire_time_t *out)
{
  return out ? tb__ns_to_wire(duration.ns, out) : TB_ERR_INVALID;
}
