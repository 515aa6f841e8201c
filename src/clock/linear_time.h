/* Time that runs linearly from an anchor: pure functions. */
#ifndef TB_CLOCK_LINEAR_TIME_H
#define TB_CLOCK_LINEAR_TIME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb__linear_time {
  int64_t time_ns, steady_ns; /* the time is `time_ns` until `steady_ns`, and runs from there */
  int64_t until_ns;           /* where it stops; >= time_ns */
  double rate;                /* > 0 */
} tb__linear_time_t;

/* The time at a moment of steady time; never falls as that rises. */
int64_t tb__linear_time_at(const tb__linear_time_t *linear, int64_t steady_ns);

/* The steady time at which the time is `time_ns`, within the rounding of a double; INT64_MAX:
 * never. */
int64_t tb__linear_time_moment(const tb__linear_time_t *linear, int64_t time_ns);

#endif
