/* ROS clocks that follow the shared time: an rcl_clock_t with a `get_now` of ours. */
#ifndef TB_RCL_ROS_CLOCK_H
#define TB_RCL_ROS_CLOCK_H

#include "rcl/rcl_abi.h"
#include "rcl/shared_time.h"

/* rcl_clock_t.get_now */
rcl_ret_t tb__ros_clock_now(void *data, int64_t *out_ns);

/* Whether it is one of them; NULL is not. */
static inline bool tb__ros_clock_follows(const rcl_clock_t *clock)
{
  return tb__shared_time_is_followed() && clock && clock->get_now == tb__ros_clock_now &&
         clock->type == RCL_ROS_TIME;
}

/* Whether a clock that is made now follows. Opens the time: *out is for tb__ros_clock_init. */
bool tb__ros_clock_is_ours(tb_status_t *out) TB_WARN_UNUSED;
rcl_ret_t tb__ros_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator, tb_status_t status);
/* Removes what callbacks it still has. */
rcl_ret_t tb__ros_clock_fini(rcl_clock_t *clock);

/* Of those that follow now, and since the process started. */
uint32_t tb__ros_clocks_following(void);
uint32_t tb__ros_clocks_made(void);

#endif
