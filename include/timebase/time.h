/* Points in system or ROS time. */
#ifndef TIMEBASE_TIME_H
#define TIMEBASE_TIME_H

#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/status.h>

typedef enum tb_time_kind {
  TB_TIME_SYSTEM = 1, /* CLOCK_REALTIME */
  TB_TIME_ROS = 2,    /* told by a ROS clock, whatever moved it */
} tb_time_kind_t;

typedef struct tb_time {
  int64_t ns; /* since the Unix epoch; in ROS time 0 means "not set" (rcl) */
  tb_time_kind_t kind;
} tb_time_t;

#endif
