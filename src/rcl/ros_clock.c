#include "rcl/ros_clock.h"

#include <stdatomic.h>
#include <stdio.h>

#include "rcl/jump_callback.h"
#include "rcl/report.h"

/* What rcl_clock_t.data points at. Nothing is in it, but a clock of rcl has some, and its memory
 * comes from the clock's allocator. */
typedef struct ros_clock {
  uint64_t unused;
} ros_clock_t;

static _Atomic uint32_t following, made;

uint32_t tb__ros_clocks_following(void)
{
  return atomic_load(&following);
}

uint32_t tb__ros_clocks_made(void)
{
  return atomic_load(&made);
}

rcl_ret_t tb__ros_clock_now(void *data, int64_t *out_ns)
{
  (void)data;
  if (__builtin_expect(tb__shared_time_now(out_ns) == TB_OK, 1)) return RCL_RET_OK;
  return TB__RCL_FAIL(RCL_RET_ERROR, "the shared time could not be read");
}

bool tb__ros_clock_is_ours(tb_status_t *out)
{
  tb_clock_t *shared;
  if (!tb__shared_time_is_followed()) return false;
  *out = tb__shared_time_open(&shared);
  return tb__shared_time_is_followed();
}

rcl_ret_t tb__ros_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator, tb_status_t status)
{
  if (!clock) return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "clock is null");
  if (!tb__rcl_allocator_is_valid(allocator))
    return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "allocator is invalid");
  if (status)
    return TB__RCL_FAIL(status == TB_ERR_NO_MEMORY ? RCL_RET_BAD_ALLOC : RCL_RET_ERROR,
                        tb_status_message(status));
  ros_clock_t *data = allocator->allocate(sizeof *data, allocator->state);
  if (!data) return TB__RCL_FAIL(RCL_RET_BAD_ALLOC, "no memory for a ROS clock");
  data->unused = 0;
  *clock = (rcl_clock_t){
      .type = RCL_ROS_TIME, .get_now = tb__ros_clock_now, .data = data, .allocator = *allocator};
  atomic_fetch_add(&following, 1);
  if (atomic_fetch_add(&made, 1) == 0) tb__report_write("first_clock");
  return RCL_RET_OK;
}

rcl_ret_t tb__ros_clock_fini(rcl_clock_t *clock)
{
  if (!clock->data) return TB__RCL_FAIL(RCL_RET_ERROR, "the clock has no data");
  tb__jump_callback_remove_all(clock);
  clock->allocator.deallocate(clock->data, clock->allocator.state);
  clock->data = NULL; /* the rest stays, as in rcl */
  atomic_fetch_sub(&following, 1);
  return RCL_RET_OK;
}
