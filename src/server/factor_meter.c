#include "server/factor_meter.h"

void tb__factor_meter_start(tb__factor_meter_t *meter, tb__meter_point_t point)
{
  meter->begin = meter->window = meter->last = point;
}

void tb__factor_meter_add(tb__factor_meter_t *meter, tb__meter_point_t point)
{
  if (point.steady_ns - meter->window.steady_ns >= TB__METER_WINDOW_NS) {
    meter->begin = meter->window;
    meter->window = point;
  }
  meter->last = point;
}

double tb__factor_meter_value(const tb__factor_meter_t *meter)
{
  int64_t steady_ns = meter->last.steady_ns - meter->begin.steady_ns;
  if (steady_ns <= 0) return 0;
  return (double)(meter->last.time_ns - meter->begin.time_ns) / (double)steady_ns;
}
