/* With TIMEBASE_WALL_TIMERS=1 timers of steady clocks are on the shared time too: what
 * `create_wall_timer` makes. */
#ifndef TB_RCL_WALL_TIMERS_H
#define TB_RCL_WALL_TIMERS_H

#include "rcl/rcl_abi.h"

/* The clock that a timer of `clock` is made on: a ROS clock that follows in place of a steady one,
 * if that is asked for, else `clock`. Counts the timers of each kind. */
rcl_clock_t *tb__wall_timers_clock(rcl_clock_t *clock);

/* How many timers were made of ROS clocks that follow, of steady clocks that are on the shared
 * time, and of clocks that are not. */
typedef struct tb__timer_counts {
  unsigned ros, wall_moved, wall;
} tb__timer_counts_t;
tb__timer_counts_t tb__timer_counts(void);

#endif
