/* The binary interface of librcl that is used here, as far as it is the same in all releases from
 * humble to rolling. Declared here because nothing of ROS is needed at build time; what a process
 * has is looked up while it runs (librcl.h). */
#ifndef TB_RCL_RCL_ABI_H
#define TB_RCL_RCL_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t rcl_ret_t;

#define RCL_RET_OK               0
#define RCL_RET_ERROR            1
#define RCL_RET_BAD_ALLOC        10
#define RCL_RET_INVALID_ARGUMENT 11
#define RCL_RET_TIMER_CANCELED   801

typedef enum rcl_clock_type_e {
  RCL_CLOCK_UNINITIALIZED = 0,
  RCL_ROS_TIME = 1,
  RCL_SYSTEM_TIME = 2,
  RCL_STEADY_TIME = 3,
} rcl_clock_type_t;

typedef enum rcl_clock_change_e {
  RCL_ROS_TIME_NO_CHANGE = 1,
  RCL_ROS_TIME_ACTIVATED = 2,
  RCL_ROS_TIME_DEACTIVATED = 3,
  RCL_SYSTEM_TIME_NO_CHANGE = 4,
} rcl_clock_change_t;

typedef struct rcl_duration_s {
  int64_t nanoseconds;
} rcl_duration_t;

typedef struct rcl_time_jump_s {
  rcl_clock_change_t clock_change;
  rcl_duration_t delta;
} rcl_time_jump_t;

typedef struct rcl_jump_threshold_s {
  bool on_clock_change;
  rcl_duration_t min_forward;
  rcl_duration_t min_backward;
} rcl_jump_threshold_t;

typedef void (*rcl_jump_callback_t)(const rcl_time_jump_t *jump, bool before_jump, void *user_data);

typedef struct rcl_jump_callback_info_s {
  rcl_jump_callback_t callback;
  rcl_jump_threshold_t threshold;
  void *user_data;
} rcl_jump_callback_info_t;

typedef struct rcutils_allocator_s {
  void *(*allocate)(size_t size, void *state);
  void (*deallocate)(void *pointer, void *state);
  void *(*reallocate)(void *pointer, size_t size, void *state);
  void *(*zero_allocate)(size_t count, size_t size, void *state);
  void *state;
} rcl_allocator_t;

typedef struct rcl_clock_s {
  rcl_clock_type_t type;
  rcl_jump_callback_info_t *jump_callbacks;
  size_t num_jump_callbacks;
  rcl_ret_t (*get_now)(void *data, int64_t *now);
  void *data;
  rcl_allocator_t allocator;
} rcl_clock_t;

/* What `impl` points at is private and differs between releases: it is never read. */
typedef struct rcl_timer_s {
  void *impl;
} rcl_timer_t;

typedef struct rcl_timer_call_info_s {
  int64_t expected_call_time;
  int64_t actual_call_time;
} rcl_timer_call_info_t;

typedef struct rcl_context_s rcl_context_t;
typedef struct rcl_guard_condition_s rcl_guard_condition_t;
typedef struct rcl_node_s rcl_node_t;
typedef struct rcl_node_options_s rcl_node_options_t;

/* Its arguments differ between releases: it is only handed on. */
typedef void (*rcl_timer_callback_t)(void);

#if !defined(__LP64__)
#error "the layouts of rcl are known where long and pointers have 64 bits"
#endif

#ifdef __cplusplus /* tests */
#define TB__STATIC_ASSERT static_assert
#else
#define TB__STATIC_ASSERT _Static_assert
#endif

#define TB__LAYOUT(type, field, offset, bytes)                                                     \
  TB__STATIC_ASSERT(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (bytes),    \
                    #type "." #field)

TB__STATIC_ASSERT(sizeof(rcl_clock_type_t) == 4 && sizeof(rcl_clock_change_t) == 4, "enums of rcl");
TB__STATIC_ASSERT(sizeof(bool) == 1, "bool");
TB__STATIC_ASSERT(sizeof(rcl_duration_t) == 8, "rcl_duration_t");
TB__STATIC_ASSERT(sizeof(rcl_time_jump_t) == 16, "rcl_time_jump_t");
TB__LAYOUT(rcl_time_jump_t, clock_change, 0, 4);
TB__LAYOUT(rcl_time_jump_t, delta, 8, 8);
TB__STATIC_ASSERT(sizeof(rcl_jump_threshold_t) == 24, "rcl_jump_threshold_t");
TB__LAYOUT(rcl_jump_threshold_t, on_clock_change, 0, 1);
TB__LAYOUT(rcl_jump_threshold_t, min_forward, 8, 8);
TB__LAYOUT(rcl_jump_threshold_t, min_backward, 16, 8);
TB__STATIC_ASSERT(sizeof(rcl_jump_callback_info_t) == 40, "rcl_jump_callback_info_t");
TB__LAYOUT(rcl_jump_callback_info_t, callback, 0, 8);
TB__LAYOUT(rcl_jump_callback_info_t, threshold, 8, 24);
TB__LAYOUT(rcl_jump_callback_info_t, user_data, 32, 8);
TB__STATIC_ASSERT(sizeof(rcl_allocator_t) == 40, "rcl_allocator_t");
TB__LAYOUT(rcl_allocator_t, allocate, 0, 8);
TB__LAYOUT(rcl_allocator_t, deallocate, 8, 8);
TB__LAYOUT(rcl_allocator_t, reallocate, 16, 8);
TB__LAYOUT(rcl_allocator_t, zero_allocate, 24, 8);
TB__LAYOUT(rcl_allocator_t, state, 32, 8);
TB__STATIC_ASSERT(sizeof(rcl_clock_t) == 80, "rcl_clock_t");
TB__LAYOUT(rcl_clock_t, type, 0, 4);
TB__LAYOUT(rcl_clock_t, jump_callbacks, 8, 8);
TB__LAYOUT(rcl_clock_t, num_jump_callbacks, 16, 8);
TB__LAYOUT(rcl_clock_t, get_now, 24, 8);
TB__LAYOUT(rcl_clock_t, data, 32, 8);
TB__LAYOUT(rcl_clock_t, allocator, 40, 40);
TB__STATIC_ASSERT(sizeof(rcl_timer_t) == 8, "rcl_timer_t");
TB__STATIC_ASSERT(sizeof(rcl_timer_call_info_t) == 16, "rcl_timer_call_info_t");
TB__LAYOUT(rcl_timer_call_info_t, expected_call_time, 0, 8);
TB__LAYOUT(rcl_timer_call_info_t, actual_call_time, 8, 8);

#undef TB__LAYOUT

/* What is interposed (interposed.c), with librcl's prototypes. */
bool rcl_clock_time_started(rcl_clock_t *clock);
rcl_ret_t rcl_clock_init(rcl_clock_type_t type, rcl_clock_t *clock, rcl_allocator_t *allocator);
rcl_ret_t rcl_clock_fini(rcl_clock_t *clock);
rcl_ret_t rcl_ros_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator);
rcl_ret_t rcl_ros_clock_fini(rcl_clock_t *clock);
rcl_ret_t rcl_clock_get_now(rcl_clock_t *clock, int64_t *now);
rcl_ret_t rcl_enable_ros_time_override(rcl_clock_t *clock);
rcl_ret_t rcl_disable_ros_time_override(rcl_clock_t *clock);
rcl_ret_t rcl_is_enabled_ros_time_override(rcl_clock_t *clock, bool *is_enabled);
rcl_ret_t rcl_set_ros_time_override(rcl_clock_t *clock, int64_t time_value);
rcl_ret_t rcl_clock_add_jump_callback(rcl_clock_t *clock, rcl_jump_threshold_t threshold,
                                      rcl_jump_callback_t callback, void *user_data);
rcl_ret_t rcl_clock_remove_jump_callback(rcl_clock_t *clock, rcl_jump_callback_t callback,
                                         void *user_data);
rcl_ret_t rcl_timer_init(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                         int64_t period, rcl_timer_callback_t callback, rcl_allocator_t allocator);
rcl_ret_t rcl_timer_init2(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                          int64_t period, rcl_timer_callback_t callback, rcl_allocator_t allocator,
                          bool autostart);
rcl_ret_t rcl_timer_call(rcl_timer_t *timer);
rcl_ret_t rcl_timer_call_with_info(rcl_timer_t *timer, rcl_timer_call_info_t *call_info);
rcl_ret_t rcl_timer_reset(rcl_timer_t *timer);
rcl_ret_t rcl_timer_cancel(rcl_timer_t *timer);
rcl_ret_t rcl_timer_is_ready(const rcl_timer_t *timer, bool *is_ready);
rcl_ret_t rcl_node_init(rcl_node_t *node, const char *name, const char *name_space,
                        rcl_context_t *context, const rcl_node_options_t *options);
rcl_ret_t rcl_node_fini(rcl_node_t *node);

#endif
