/* The measured speed of time, over the last one to two seconds of steady time. Not thread-safe. */
#ifndef TB_SERVER_FACTOR_METER_H
#define TB_SERVER_FACTOR_METER_H

#include <stdint.h>

#define TB__METER_WINDOW_NS INT64_C(1000000000)

typedef struct tb__meter_point {
  int64_t steady_ns, time_ns;
} tb__meter_point_t;

typedef struct tb__factor_meter {
  tb__meter_point_t begin, window, last; /* of the measurement, and of the window that follows */
} tb__factor_meter_t;

void tb__factor_meter_start(tb__factor_meter_t *meter, tb__meter_point_t point);
void tb__factor_meter_add(tb__factor_meter_t *meter, tb__meter_point_t point);
/* 0 until there are two points. */
double tb__factor_meter_value(const tb__factor_meter_t *meter);

#endif
