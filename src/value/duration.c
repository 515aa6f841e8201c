#include <timebase/duration.h>

#include "value/ns.h"

tb_status_t tb_duration_add(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  return out ? tb__ns_add(a.ns, b.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_sub(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  return out ? tb__ns_sub(a.ns, b.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_neg(tb_duration_t a, tb_duration_t *out)
{
  return out ? tb__ns_sub(0, a.ns, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_mul(tb_duration_t a, int64_t factor, tb_duration_t *out)
{
  int64_t product_ns;
  if (!out) return TB_ERR_INVALID;
  if (__builtin_mul_overflow(a.ns, factor, &product_ns))
    return tb__ns_beyond((a.ns < 0) != (factor < 0));
  out->ns = product_ns;
  return TB_OK;
}

tb_status_t tb_duration_scale(tb_duration_t a, double factor, tb_duration_t *out)
{
  if (!out || !__builtin_isfinite(factor)) return TB_ERR_INVALID;
  return tb__ns_scale(a.ns, factor, &out->ns);
}

tb_duration_t tb_duration_add_sat(tb_duration_t a, tb_duration_t b)
{
  return (tb_duration_t){tb__add_saturated(a.ns, b.ns)};
}

tb_duration_t tb_duration_sub_sat(tb_duration_t a, tb_duration_t b)
{
  return (tb_duration_t){tb__sub_saturated(a.ns, b.ns)};
}

tb_duration_t tb_duration_neg_sat(tb_duration_t a)
{
  return (tb_duration_t){tb__sub_saturated(0, a.ns)};
}

tb_duration_t tb_duration_mul_sat(tb_duration_t a, int64_t factor)
{
  tb_duration_t product;
  if (tb_duration_mul(a, factor, &product) == TB_OK) return product;
  return (a.ns < 0) == (factor < 0) ? TB_NS(INT64_MAX) : TB_NS(INT64_MIN);
}

tb_duration_t tb_duration_scale_sat(tb_duration_t a, double factor)
{
  if (factor != factor || a.ns == 0) return (tb_duration_t){0};
  tb_duration_t product;
  if (tb_duration_scale(a, factor, &product) == TB_OK) return product;
  return (a.ns < 0) == (factor < 0) ? TB_NS(INT64_MAX) : TB_NS(INT64_MIN);
}

tb_status_t tb_duration_compare(tb_duration_t a, tb_duration_t b, int *out)
{
  if (!out) return TB_ERR_INVALID;
  *out = tb__ns_compare(a.ns, b.ns);
  return TB_OK;
}

tb_status_t tb_duration_from_seconds(double seconds, tb_duration_t *out)
{
  return out ? tb__ns_from_seconds(seconds, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_from_hz(double hz, tb_duration_t *out)
{
  if (!out || !(hz > 0)) return TB_ERR_INVALID;
  double period_ns = (double)TB_NS_PER_S / hz;
  if (!(period_ns >= 0.5 && period_ns < 0x1p63)) return TB_ERR_RANGE;
  out->ns =
      (int64_t)(period_ns < 0x1p52 ? period_ns + 0.5 : period_ns); /* beyond it has no fraction */
  return TB_OK;
}

double tb_duration_to_seconds(tb_duration_t duration)
{
  return tb__ns_to_seconds(duration.ns);
}

tb_status_t tb_duration_from_timespec(struct timespec spec, tb_duration_t *out)
{
  return out ? tb__ns_from_timespec(spec, &out->ns) : TB_ERR_INVALID;
}

tb_status_t tb_duration_to_timespec(tb_duration_t duration, struct timespec *out)
{
  return out ? tb__ns_to_timespec(duration.ns, out) : TB_ERR_INVALID;
}

tb_status_t tb_duration_to_wire(tb_duration_t duration, int32_t *out_sec, uint32_t *out_nanosec)
{
  if (!out_sec || !out_nanosec) return TB_ERR_INVALID;
  return tb__ns_to_wire(duration.ns, out_sec, out_nanosec);
}

tb_status_t tb_duration_from_wire(int32_t sec, uint32_t nanosec, tb_duration_t *out)
{
  return out ? tb__ns_from_wire(sec, nanosec, &out->ns) : TB_ERR_INVALID;
}
