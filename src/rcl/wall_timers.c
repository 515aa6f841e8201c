#include "rcl/wall_timers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "rcl/ros_clock.h"

#define VARIABLE "TIMEBASE_WALL_TIMERS"

static _Atomic unsigned ros, wall_moved, wall;

/* One for all of them: what changes in it is the array of jump callbacks, by the mutex of
 * jump_callback.c. It lives as long as the process, as timers may end at its exit. */
static rcl_clock_t *clock_of_wall_timers(void)
{
  static char data;
  static rcl_clock_t clock = {
      .type = RCL_ROS_TIME,
      .get_now = tb__ros_clock_now,
      .data = &data,
      .allocator = TB__RCL_ALLOCATOR,
  };
  return &clock;
}

static bool is_asked_for(void)
{
  static _Atomic int known; /* 1: no, 2: yes */
  int answer = atomic_load(&known);
  if (!answer) {
    const char *value = getenv(VARIABLE);
    answer = value && strcmp(value, "1") == 0 ? 2 : 1;
    atomic_store(&known, answer);
  }
  return answer == 2;
}

rcl_clock_t *tb__wall_timers_clock(rcl_clock_t *clock)
{
  tb_status_t status;
  if (!clock) return clock;
  if (tb__ros_clock_follows(clock)) {
    atomic_fetch_add(&ros, 1);
    return clock;
  }
  bool is_moved =
      clock->type == RCL_STEADY_TIME && is_asked_for() && tb__ros_clock_is_ours(&status) && !status;
  atomic_fetch_add(is_moved ? &wall_moved : &wall, 1);
  return is_moved ? clock_of_wall_timers() : clock;
}

tb__timer_counts_t tb__timer_counts(void)
{
  return (tb__timer_counts_t){atomic_load(&ros), atomic_load(&wall_moved), atomic_load(&wall)};
}
