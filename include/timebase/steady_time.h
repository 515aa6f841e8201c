/* Points in steady time (CLOCK_MONOTONIC). A type of its own: it never mixes with tb_time_t. */
#ifndef TIMEBASE_STEADY_TIME_H
#define TIMEBASE_STEADY_TIME_H

#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/status.h>

typedef struct tb_steady_time {
  int64_t ns; /* since an arbitrary point (boot), not counted while the machine is suspended */
} tb_steady_time_t;

#endif
