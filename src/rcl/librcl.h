/* The librcl of this process: its functions, looked up when one of them is first called, and its
 * release. */
#ifndef TB_RCL_LIBRCL_H
#define TB_RCL_LIBRCL_H

#include <timebase/export.h>

#include "rcl/rcl_abi.h"

/* NULL: this release has no function of that name. */
typedef struct tb__librcl {
  bool (*clock_time_started)(rcl_clock_t *);
  rcl_ret_t (*clock_init)(rcl_clock_type_t, rcl_clock_t *, rcl_allocator_t *);
  rcl_ret_t (*clock_fini)(rcl_clock_t *);
  rcl_ret_t (*ros_clock_init)(rcl_clock_t *, rcl_allocator_t *);
  rcl_ret_t (*ros_clock_fini)(rcl_clock_t *);
  rcl_ret_t (*system_clock_init)(rcl_clock_t *, rcl_allocator_t *);
  rcl_ret_t (*system_clock_fini)(rcl_clock_t *);
  rcl_ret_t (*clock_get_now)(rcl_clock_t *, int64_t *);
  rcl_ret_t (*enable_ros_time_override)(rcl_clock_t *);
  rcl_ret_t (*disable_ros_time_override)(rcl_clock_t *);
  rcl_ret_t (*is_enabled_ros_time_override)(rcl_clock_t *, bool *);
  rcl_ret_t (*set_ros_time_override)(rcl_clock_t *, int64_t);
  rcl_ret_t (*clock_add_jump_callback)(rcl_clock_t *, rcl_jump_threshold_t, rcl_jump_callback_t,
                                       void *);
  rcl_ret_t (*clock_remove_jump_callback)(rcl_clock_t *, rcl_jump_callback_t, void *);
  rcl_ret_t (*timer_init)(rcl_timer_t *, rcl_clock_t *, rcl_context_t *, int64_t,
                          rcl_timer_callback_t, rcl_allocator_t);
  rcl_ret_t (*timer_init2)(rcl_timer_t *, rcl_clock_t *, rcl_context_t *, int64_t,
                           rcl_timer_callback_t, rcl_allocator_t, bool);
  rcl_ret_t (*timer_call)(rcl_timer_t *);
  rcl_ret_t (*timer_call_with_info)(rcl_timer_t *, rcl_timer_call_info_t *);
  rcl_ret_t (*timer_reset)(rcl_timer_t *);
  rcl_ret_t (*timer_cancel)(rcl_timer_t *);
  rcl_ret_t (*timer_is_ready)(const rcl_timer_t *, bool *);
  rcl_ret_t (*timer_is_canceled)(const rcl_timer_t *, bool *);
  rcl_ret_t (*timer_get_next_call_time)(const rcl_timer_t *, int64_t *); /* or NULL: */
  rcl_ret_t (*timer_get_time_until_next_call)(const rcl_timer_t *, int64_t *);
  rcl_ret_t (*timer_get_period)(const rcl_timer_t *, int64_t *);
  rcl_guard_condition_t *(*timer_get_guard_condition)(const rcl_timer_t *);
  rcl_ret_t (*trigger_guard_condition)(rcl_guard_condition_t *);
  void (*timer_get_callback_data)(void); /* only whether it is there: lyrical on */
  /* Only names of nodes depend on these. */
  rcl_ret_t (*node_init)(rcl_node_t *, const char *, const char *, rcl_context_t *,
                         const rcl_node_options_t *);
  rcl_ret_t (*node_fini)(rcl_node_t *);
  const char *(*node_get_fully_qualified_name)(const rcl_node_t *);
  void (*set_error_state)(const char *message, const char *file, size_t line); /* of rcutils */
} tb__librcl_t;

typedef struct tb__librcl_release {
  const char *name; /* "jazzy"; NULL: unknown, it is left alone */
  char version[32]; /* "9.2.11", from its package.xml; "" where there is none */
  char reason[160]; /* why it is unknown */
} tb__librcl_release_t;

/* NULL: the process has no librcl (yet). [any thread] */
const tb__librcl_t *tb__librcl(void);

/* What release `rcl` is, by its symbols, its layouts and its package.xml. Calls the loader. */
void tb__librcl_recognise(const tb__librcl_t *rcl, tb__librcl_release_t *out);

/* Of the text of a package.xml: "9.2.11" of <version>9.2.11</version>. False: it has none, or one
 * that does not fit. */
bool tb__librcl_parse_version(const char *text, char *out, size_t size) TB_WARN_UNUSED;

/* Sets the calling thread's error of rcutils and returns `code`: rclcpp throws something else for
 * a code without an error. `text` has static storage. Once there is a librcl the loader is not
 * called: it may be used under a lock. */
rcl_ret_t tb__rcl_fail(rcl_ret_t code, const char *text, const char *file, size_t line);
#define TB__RCL_FAIL(code, text) tb__rcl_fail(code, text, __FILE__, __LINE__)

/* Memory of the process. */
void *tb__rcl_allocate(size_t size, void *state);
void tb__rcl_deallocate(void *pointer, void *state);
void *tb__rcl_reallocate(void *pointer, size_t size, void *state);
void *tb__rcl_zero_allocate(size_t count, size_t size, void *state);
#define TB__RCL_ALLOCATOR                                                                          \
  {                                                                                                \
    tb__rcl_allocate, tb__rcl_deallocate, tb__rcl_reallocate, tb__rcl_zero_allocate, NULL          \
  }

/* rcutils_allocator_is_valid */
static inline bool tb__rcl_allocator_is_valid(const rcl_allocator_t *allocator)
{
  return allocator && allocator->allocate && allocator->deallocate && allocator->reallocate &&
         allocator->zero_allocate;
}

#endif
