/* How fast time runs: a factor that is applied exactly, in 128-bit integers. */
#ifndef TB_SERVER_SPEED_H
#define TB_SERVER_SPEED_H

#include <stdint.h>
#include <timebase/status.h>

#define TB__SPEED_MIN 1e-3
#define TB__SPEED_MAX 1e3

/* Every finite double is mantissa * 2^-shift: no rounding, hence no drift. */
typedef struct tb__speed {
  uint64_t mantissa; /* below 2^53 */
  int shift;         /* 43 to 62 within the bounds */
} tb__speed_t;

#define TB__SPEED_ONE ((tb__speed_t){UINT64_C(1) << 52, 52})

/* TB_ERR_RANGE: not finite, or outside of the bounds. */
tb_status_t tb__speed_from_double(double value, tb__speed_t *out) TB_WARN_UNUSED;

/* How far time advances in `steady_ns` >= 0, rounded down; saturates. */
int64_t tb__speed_advance(tb__speed_t speed, int64_t steady_ns);

/* The shortest steady duration in which time advances by at least `time_ns` >= 0; saturates. */
int64_t tb__speed_steady_for(tb__speed_t speed, int64_t time_ns);

#endif
