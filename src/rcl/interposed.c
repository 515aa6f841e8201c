/* librcl's functions, as programs and librcl itself find them: what is for a ROS clock that
 * follows is done here, all else goes on to librcl. */
#include "rcl/interposed.h"

#include <stdatomic.h>

#include "rcl/jump_callback.h"
#include "rcl/librcl.h"
#include "rcl/node_names.h"
#include "rcl/note.h"
#include "rcl/ros_clock.h"
#include "rcl/timer_schedule.h"
#include "rcl/wall_timers.h"

#define EXPORTED __attribute__((visibility("default")))

const char *const tb__interposed_names[TB__INTERPOSED_COUNT] = {
    "rcl_clock_time_started",
    "rcl_clock_init",
    "rcl_clock_fini",
    "rcl_ros_clock_init",
    "rcl_ros_clock_fini",
    "rcl_clock_get_now",
    "rcl_enable_ros_time_override",
    "rcl_disable_ros_time_override",
    "rcl_is_enabled_ros_time_override",
    "rcl_set_ros_time_override",
    "rcl_clock_add_jump_callback",
    "rcl_clock_remove_jump_callback",
    "rcl_timer_init",
    "rcl_timer_init2",
    "rcl_timer_call",
    "rcl_timer_call_with_info",
    "rcl_timer_reset",
    "rcl_timer_cancel",
    "rcl_timer_is_ready",
    "rcl_node_init",
    "rcl_node_fini",
};

/* Hands a call on, also one of a function that this release does not have. */
#define HAND_ON(function, ...)                                                                     \
  do {                                                                                             \
    const tb__librcl_t *rcl_ = tb__librcl();                                                       \
    if (rcl_ && rcl_->function) return rcl_->function(__VA_ARGS__);                                \
    return TB__RCL_FAIL(RCL_RET_ERROR, "this librcl has no rcl_" #function);                       \
  } while (0)

/* ---- clocks ---- */

/* Some nodes read the time for each message. Only a clock that follows has this `get_now`. */
static rcl_ret_t now_of_other(rcl_clock_t *clock, int64_t *now) __attribute__((noinline));

static rcl_ret_t now_of_other(rcl_clock_t *clock, int64_t *now)
{
  if (!tb__ros_clock_follows(clock)) HAND_ON(clock_get_now, clock, now);
  if (!now) return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "time point is null");
  return tb__ros_clock_now(NULL, now);
}

EXPORTED rcl_ret_t rcl_clock_get_now(rcl_clock_t *clock, int64_t *now)
{
  if (__builtin_expect(
          clock && now && clock->get_now == tb__ros_clock_now && tb__shared_time_at_rest(now), 1))
    return RCL_RET_OK;
  return now_of_other(clock, now);
}

EXPORTED bool rcl_clock_time_started(rcl_clock_t *clock)
{
  int64_t now_ns = 0;
  if (tb__ros_clock_follows(clock))
    return rcl_clock_get_now(clock, &now_ns) == RCL_RET_OK && now_ns > 0;
  const tb__librcl_t *rcl = tb__librcl();
  return rcl && rcl->clock_time_started && rcl->clock_time_started(clock);
}

EXPORTED rcl_ret_t rcl_clock_init(rcl_clock_type_t type, rcl_clock_t *clock,
                                  rcl_allocator_t *allocator)
{
  tb_status_t status;
  if (type == RCL_ROS_TIME && tb__ros_clock_is_ours(&status))
    return tb__ros_clock_init(clock, allocator, status);
  HAND_ON(clock_init, type, clock, allocator);
}

EXPORTED rcl_ret_t rcl_ros_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  tb_status_t status;
  if (tb__ros_clock_is_ours(&status)) return tb__ros_clock_init(clock, allocator, status);
  HAND_ON(ros_clock_init, clock, allocator);
}

EXPORTED rcl_ret_t rcl_clock_fini(rcl_clock_t *clock)
{
  if (tb__ros_clock_follows(clock) && tb__rcl_allocator_is_valid(&clock->allocator))
    return tb__ros_clock_fini(clock);
  HAND_ON(clock_fini, clock);
}

EXPORTED rcl_ret_t rcl_ros_clock_fini(rcl_clock_t *clock)
{
  if (tb__ros_clock_follows(clock)) return tb__ros_clock_fini(clock);
  HAND_ON(ros_clock_fini, clock);
}

/* ---- overrides: accepted and ignored ---- */

/* Only a node with use_sim_time enables, or sets a time from /clock. */
static void note_sim_time(void)
{
  static _Atomic bool is_noted;
  if (!atomic_exchange(&is_noted, true))
    tb__rcl_note("this process also has nodes with use_sim_time: their clocks follow %s and "
                 "ignore /clock",
                 tb__shared_time_name());
}

EXPORTED rcl_ret_t rcl_enable_ros_time_override(rcl_clock_t *clock)
{
  if (!tb__ros_clock_follows(clock)) HAND_ON(enable_ros_time_override, clock);
  note_sim_time();
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_disable_ros_time_override(rcl_clock_t *clock)
{
  if (!tb__ros_clock_follows(clock)) HAND_ON(disable_ros_time_override, clock);
  return RCL_RET_OK;
}

/* Whether this thread has just asked for the override of a clock that follows: librcl's wait does
 * before it asks whether a timer of that clock is ready. */
static _Thread_local bool may_wait __attribute__((tls_model("initial-exec")));

/* librcl's wait leaves timers to their guard conditions only while this is true. */
EXPORTED rcl_ret_t rcl_is_enabled_ros_time_override(rcl_clock_t *clock, bool *is_enabled)
{
  if (!tb__ros_clock_follows(clock)) HAND_ON(is_enabled_ros_time_override, clock, is_enabled);
  if (!is_enabled) return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "is_enabled is null");
  *is_enabled = may_wait = true;
  return RCL_RET_OK;
}

/* rclpy and rclcpp set zero when they attach a clock, also without use_sim_time. */
EXPORTED rcl_ret_t rcl_set_ros_time_override(rcl_clock_t *clock, int64_t time_value)
{
  if (!tb__ros_clock_follows(clock)) HAND_ON(set_ros_time_override, clock, time_value);
  if (time_value != 0) note_sim_time();
  return RCL_RET_OK;
}

/* ---- jump callbacks ---- */

EXPORTED rcl_ret_t rcl_clock_add_jump_callback(rcl_clock_t *clock, rcl_jump_threshold_t threshold,
                                               rcl_jump_callback_t callback, void *user_data)
{
  if (tb__ros_clock_follows(clock))
    return tb__jump_callback_add(clock, threshold, callback, user_data);
  HAND_ON(clock_add_jump_callback, clock, threshold, callback, user_data);
}

EXPORTED rcl_ret_t rcl_clock_remove_jump_callback(rcl_clock_t *clock, rcl_jump_callback_t callback,
                                                  void *user_data)
{
  if (tb__ros_clock_follows(clock)) return tb__jump_callback_remove(clock, callback, user_data);
  HAND_ON(clock_remove_jump_callback, clock, callback, user_data);
}

/* ---- timers ---- */

static rcl_ret_t hand_on_init(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                              int64_t period, rcl_timer_callback_t callback,
                              rcl_allocator_t allocator)
{
  HAND_ON(timer_init, timer, clock, context, period, callback, allocator);
}

static rcl_ret_t hand_on_init2(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                               int64_t period, rcl_timer_callback_t callback,
                               rcl_allocator_t allocator, bool autostart)
{
  HAND_ON(timer_init2, timer, clock, context, period, callback, allocator, autostart);
}

/* In releases with both, librcl's own rcl_timer_init calls rcl_timer_init2. */
static bool begins_timer(const rcl_timer_t *timer, const rcl_clock_t *clock)
{
  if (!timer || !tb__ros_clock_follows(clock) || tb__rcl_timer_is_being_made(timer)) return false;
  tb__rcl_timer_making_begin(timer);
  return true;
}

static _Thread_local bool is_in_init __attribute__((tls_model("initial-exec")));

/* False: this is librcl's own call inside of one. */
static bool enter_init(rcl_clock_t **clock)
{
  if (is_in_init) return false;
  is_in_init = true;
  *clock = tb__wall_timers_clock(*clock);
  return true;
}

EXPORTED rcl_ret_t rcl_timer_init(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                                  int64_t period, rcl_timer_callback_t callback,
                                  rcl_allocator_t allocator)
{
  bool is_outer = enter_init(&clock);
  bool begins = begins_timer(timer, clock);
  rcl_ret_t code = hand_on_init(timer, clock, context, period, callback, allocator);
  is_in_init = !is_outer;
  if (begins) tb__rcl_timer_making_end(timer, code == RCL_RET_OK);
  return code;
}

EXPORTED rcl_ret_t rcl_timer_init2(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                                   int64_t period, rcl_timer_callback_t callback,
                                   rcl_allocator_t allocator, bool autostart)
{
  bool is_outer = enter_init(&clock);
  bool begins = begins_timer(timer, clock);
  rcl_ret_t code = hand_on_init2(timer, clock, context, period, callback, allocator, autostart);
  is_in_init = !is_outer;
  if (begins) tb__rcl_timer_making_end(timer, code == RCL_RET_OK);
  return code;
}

/* librcl's functions call one another through these symbols, so some moves are looked at twice. */
static rcl_ret_t after_call(const rcl_timer_t *timer, rcl_ret_t code)
{
  if (code == RCL_RET_OK && tb__shared_time_is_followed()) tb__rcl_timer_moved(timer);
  return code;
}

static rcl_ret_t hand_on_call(rcl_timer_t *timer)
{
  HAND_ON(timer_call, timer);
}

static rcl_ret_t hand_on_call_with_info(rcl_timer_t *timer, rcl_timer_call_info_t *call_info)
{
  HAND_ON(timer_call_with_info, timer, call_info);
}

static rcl_ret_t hand_on_reset(rcl_timer_t *timer)
{
  HAND_ON(timer_reset, timer);
}

static rcl_ret_t hand_on_cancel(rcl_timer_t *timer)
{
  HAND_ON(timer_cancel, timer);
}

static rcl_ret_t hand_on_is_ready(const rcl_timer_t *timer, bool *is_ready)
{
  HAND_ON(timer_is_ready, timer, is_ready);
}

EXPORTED rcl_ret_t rcl_timer_call(rcl_timer_t *timer)
{
  return after_call(timer, hand_on_call(timer));
}

EXPORTED rcl_ret_t rcl_timer_call_with_info(rcl_timer_t *timer, rcl_timer_call_info_t *call_info)
{
  return after_call(timer, hand_on_call_with_info(timer, call_info));
}

EXPORTED rcl_ret_t rcl_timer_reset(rcl_timer_t *timer)
{
  return after_call(timer, hand_on_reset(timer));
}

EXPORTED rcl_ret_t rcl_timer_cancel(rcl_timer_t *timer)
{
  return after_call(timer, hand_on_cancel(timer));
}

/* Where a timer is ready, librcl's wait takes a timeout of zero. For a middleware that sleeps then,
 * by the slack of the system's timers (50 us), this triggers the timer's guard condition first: an
 * executor that waits before each call would sleep once per timer that is due. Not twice before the
 * timer is called: an executor with several threads waits again and again while it may not call it
 * yet, and is slowed by that sleep. */
EXPORTED rcl_ret_t rcl_timer_is_ready(const rcl_timer_t *timer, bool *is_ready)
{
  bool waits = may_wait;
  may_wait = false;
  rcl_ret_t code = hand_on_is_ready(timer, is_ready);
  if (!waits || code != RCL_RET_OK || !*is_ready || !tb__rcl_timer_is_first_ready(timer))
    return code;
  const tb__librcl_t *rcl = tb__librcl();
  rcl_guard_condition_t *condition = rcl->timer_get_guard_condition(timer);
  if (condition) (void)rcl->trigger_guard_condition(condition);
  return code;
}

/* ---- nodes ---- */

static rcl_ret_t hand_on_node_init(rcl_node_t *node, const char *name, const char *name_space,
                                   rcl_context_t *context, const rcl_node_options_t *options)
{
  HAND_ON(node_init, node, name, name_space, context, options);
}

static rcl_ret_t hand_on_node_fini(rcl_node_t *node)
{
  HAND_ON(node_fini, node);
}

/* As remapped; NULL: it is no node, or this process follows nothing. */
static const char *name_of(const rcl_node_t *node)
{
  if (!node || !tb__shared_time_is_followed()) return NULL;
  const tb__librcl_t *rcl = tb__librcl();
  return rcl->node_get_fully_qualified_name ? rcl->node_get_fully_qualified_name(node) : NULL;
}

EXPORTED rcl_ret_t rcl_node_init(rcl_node_t *node, const char *name, const char *name_space,
                                 rcl_context_t *context, const rcl_node_options_t *options)
{
  rcl_ret_t code = hand_on_node_init(node, name, name_space, context, options);
  const char *full_name = code == RCL_RET_OK ? name_of(node) : NULL;
  if (full_name) tb__node_names_add(full_name);
  return code;
}

EXPORTED rcl_ret_t rcl_node_fini(rcl_node_t *node)
{
  const char *full_name = name_of(node);
  if (full_name) tb__node_names_remove(full_name);
  return hand_on_node_fini(node);
}
