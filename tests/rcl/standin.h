/* A stand-in for librcl: the functions of clocks and timers with rcl's symbols, layouts and
 * semantics, as plain as rcl is, and a wait on timers. Built once per release that differs. */
#ifndef TB_TEST_RCL_STANDIN_H
#define TB_TEST_RCL_STANDIN_H

#include "rcl/rcl_abi.h"

#define EXPORTED __attribute__((visibility("default")))

/* With rcl it is two pointers. */
struct rcl_node_s {
  char full_name[256];
};

EXPORTED const char *rcl_node_get_fully_qualified_name(const rcl_node_t *node);
EXPORTED rcl_ret_t rcl_system_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator);
EXPORTED rcl_ret_t rcl_system_clock_fini(rcl_clock_t *clock);
EXPORTED rcl_ret_t rcl_steady_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator);
EXPORTED rcl_ret_t rcl_steady_clock_fini(rcl_clock_t *clock);
EXPORTED bool rcl_clock_valid(rcl_clock_t *clock);
EXPORTED rcl_ret_t rcl_timer_fini(rcl_timer_t *timer);
EXPORTED rcl_ret_t rcl_timer_is_canceled(const rcl_timer_t *timer, bool *is_canceled);
EXPORTED rcl_ret_t rcl_timer_get_time_until_next_call(const rcl_timer_t *timer, int64_t *out);
EXPORTED rcl_ret_t rcl_timer_get_next_call_time(const rcl_timer_t *timer, int64_t *out);
EXPORTED rcl_ret_t rcl_timer_get_period(const rcl_timer_t *timer, int64_t *out);
EXPORTED rcl_ret_t rcl_timer_exchange_period(const rcl_timer_t *timer, int64_t period,
                                             int64_t *old);
EXPORTED rcl_guard_condition_t *rcl_timer_get_guard_condition(const rcl_timer_t *timer);
EXPORTED rcl_ret_t rcl_trigger_guard_condition(rcl_guard_condition_t *condition);

/* rcl_wait on timers alone: a timeout of -1 is none. False: the timeout, also where a timer is
 * ready and no guard condition is triggered. */
EXPORTED bool standin_wait(rcl_timer_t **timers, size_t count, int64_t timeout_ns);
/* Makes waits return. */
EXPORTED void standin_interrupt(void);
/* Called while a timer is made: its jump callback is there, and up to jazzy no implementation. */
EXPORTED void standin_while_making(void (*hook)(void));
/* rcl_timer_get_next_call_time, in each version. */
EXPORTED rcl_ret_t standin_next_call(const rcl_timer_t *timer, int64_t *out);
/* How often the timer's guard condition was triggered, except by a wait. */
EXPORTED unsigned standin_triggers(const rcl_timer_t *timer);
/* malloc and its siblings. */
EXPORTED rcl_allocator_t standin_allocator(void);

#endif
