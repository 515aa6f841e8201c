/* The jump callbacks of ROS clocks that follow the shared time. The array in each rcl_clock_t is
 * kept as rcl keeps it, but for the order after a removal; each callback is a jump handler of the
 * one clock of the core, so they are called in the order in which they were added. */
#ifndef TB_RCL_JUMP_CALLBACK_H
#define TB_RCL_JUMP_CALLBACK_H

#include "rcl/rcl_abi.h"

/* As the functions of rcl, for a valid clock that follows. [any thread] [from callbacks] */
rcl_ret_t tb__jump_callback_add(rcl_clock_t *clock, rcl_jump_threshold_t threshold,
                                rcl_jump_callback_t callback, void *user_data);
/* Returns when a jump in which the callback takes part is over, but not in a jump callback: there
 * it returns at once. Without Python's lock while it waits. */
rcl_ret_t tb__jump_callback_remove(rcl_clock_t *clock, rcl_jump_callback_t callback,
                                   void *user_data);
/* All of a clock, which ends. */
void tb__jump_callback_remove_all(rcl_clock_t *clock);

#endif
