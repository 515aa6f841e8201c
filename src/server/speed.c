#include "server/speed.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide_t;

static int64_t saturate(wide_t value)
{
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

tb_status_t tb__speed_from_double(double value, tb__speed_t *out)
{
  if (!(value >= TB__SPEED_MIN && value <= TB__SPEED_MAX)) return TB_ERR_RANGE;
  int exponent;
  double fraction = frexp(value, &exponent); /* [0.5, 1) */
  out->mantissa = (uint64_t)ldexp(fraction, 53);
  out->shift = 53 - exponent;
  return TB_OK;
}

int64_t tb__speed_advance(tb__speed_t speed, int64_t steady_ns)
{
  return saturate((wide_t)steady_ns * speed.mantissa >> speed.shift);
}

int64_t tb__speed_steady_for(tb__speed_t speed, int64_t time_ns)
{
  wide_t scaled = (wide_t)time_ns << speed.shift;
  return saturate((scaled + speed.mantissa - 1) / speed.mantissa);
}
