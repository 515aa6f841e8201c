/* When the timers of ROS clocks are due. rcl has a timer woken through its own jump callback, which
 * triggers its guard condition at every tick at which it is due; here one thread sleeps until the
 * first of all timers is due and calls that callback once. */
#ifndef TB_RCL_TIMER_SCHEDULE_H
#define TB_RCL_TIMER_SCHEDULE_H

#include <timebase/status.h>

#include "rcl/rcl_abi.h"

typedef struct tb__rcl_timer tb__rcl_timer_t;

/* Around librcl's constructor of a timer, which adds its jump callback: up to jazzy before the
 * timer has an implementation, so nothing is called until `end`. */
void tb__rcl_timer_making_begin(const rcl_timer_t *timer);
void tb__rcl_timer_making_end(const rcl_timer_t *timer, bool is_made);
/* Whether this thread makes the timer that is, or whose implementation is, `user_data`. */
bool tb__rcl_timer_is_being_made(const void *user_data);

/* The timer that this thread makes. TB_ERR_NO_MEMORY; TB_ERR_SYSTEM: its thread cannot be started.
 */
tb_status_t tb__rcl_timer_create(rcl_jump_callback_t callback, void *user_data,
                                 tb__rcl_timer_t **out) TB_WARN_UNUSED;
/* Nothing is called after it. NULL does nothing. */
void tb__rcl_timer_end(tb__rcl_timer_t *self);
void tb__rcl_timer_destroy(tb__rcl_timer_t *self);

/* After a jump of the shared time. */
void tb__rcl_timer_jumped(tb__rcl_timer_t *self, const rcl_time_jump_t *jump);

/* After a wait of librcl has found the timer ready: whether it is the first one to do so since the
 * timer was called last. Timers of other clocks are not found. */
bool tb__rcl_timer_is_first_ready(const rcl_timer_t *timer);

/* After a call of librcl that may have moved the timer's next call. Timers of other clocks are not
 * found. */
void tb__rcl_timer_moved(const rcl_timer_t *timer);

#endif
