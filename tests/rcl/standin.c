#include "standin.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HUMBLE  1
#define JAZZY   2
#define KILTED  3
#define LYRICAL 4

void rcutils_set_error_state(const char *message, const char *file, size_t line);

static rcl_ret_t fail(rcl_ret_t code, const char *message)
{
  rcutils_set_error_state(message, __FILE__, __LINE__);
  return code;
}

static bool allocator_is_valid(const rcl_allocator_t *allocator)
{
  return allocator && allocator->allocate && allocator->deallocate && allocator->reallocate &&
         allocator->zero_allocate;
}

/* ---- clocks ---- */

typedef struct override {
  _Atomic int64_t value;
  _Atomic bool is_enabled;
} override_t;

static rcl_ret_t read_clock(clockid_t id, int64_t *now)
{
  struct timespec time;
  clock_gettime(id, &time);
  *now = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
  return RCL_RET_OK;
}

static rcl_ret_t system_now(void *data, int64_t *now)
{
  (void)data;
  return read_clock(CLOCK_REALTIME, now);
}

static rcl_ret_t steady_now(void *data, int64_t *now)
{
  (void)data;
  return read_clock(CLOCK_MONOTONIC, now);
}

static rcl_ret_t ros_now(void *data, int64_t *now)
{
  override_t *override = data;
  if (!atomic_load(&override->is_enabled)) return system_now(NULL, now);
  *now = atomic_load(&override->value);
  return RCL_RET_OK;
}

static rcl_ret_t init(rcl_clock_type_t type, rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  if (!clock) return fail(RCL_RET_INVALID_ARGUMENT, "clock is null");
  if (!allocator_is_valid(allocator)) return fail(RCL_RET_INVALID_ARGUMENT, "allocator is invalid");
  override_t *override = NULL;
  if (type == RCL_ROS_TIME) {
    override = allocator->zero_allocate(1, sizeof *override, allocator->state);
    if (!override) return fail(RCL_RET_BAD_ALLOC, "no memory");
  }
  *clock = (rcl_clock_t){.type = type,
                         .get_now = type == RCL_ROS_TIME      ? ros_now
                                    : type == RCL_SYSTEM_TIME ? system_now
                                                              : steady_now,
                         .data = override,
                         .allocator = *allocator};
  return RCL_RET_OK;
}

static rcl_ret_t fini(rcl_clock_type_t type, rcl_clock_t *clock)
{
  if (!clock) return fail(RCL_RET_INVALID_ARGUMENT, "clock is null");
  if (clock->type != type) return fail(RCL_RET_ERROR, "another type of clock");
  if (clock->jump_callbacks)
    clock->allocator.deallocate(clock->jump_callbacks, clock->allocator.state);
  clock->jump_callbacks = NULL;
  clock->num_jump_callbacks = 0;
  if (clock->data) clock->allocator.deallocate(clock->data, clock->allocator.state);
  clock->data = NULL;
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_ros_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  return init(RCL_ROS_TIME, clock, allocator);
}

EXPORTED rcl_ret_t rcl_ros_clock_fini(rcl_clock_t *clock)
{
  return fini(RCL_ROS_TIME, clock);
}

EXPORTED rcl_ret_t rcl_system_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  return init(RCL_SYSTEM_TIME, clock, allocator);
}

EXPORTED rcl_ret_t rcl_system_clock_fini(rcl_clock_t *clock)
{
  return fini(RCL_SYSTEM_TIME, clock);
}

EXPORTED rcl_ret_t rcl_steady_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  return init(RCL_STEADY_TIME, clock, allocator);
}

EXPORTED rcl_ret_t rcl_steady_clock_fini(rcl_clock_t *clock)
{
  return fini(RCL_STEADY_TIME, clock);
}

EXPORTED bool rcl_clock_valid(rcl_clock_t *clock)
{
  return clock && clock->type != RCL_CLOCK_UNINITIALIZED && clock->get_now;
}

EXPORTED bool rcl_clock_time_started(rcl_clock_t *clock)
{
  int64_t now;
  return rcl_clock_get_now(clock, &now) == RCL_RET_OK && now > 0;
}

EXPORTED rcl_ret_t rcl_clock_init(rcl_clock_type_t type, rcl_clock_t *clock,
                                  rcl_allocator_t *allocator)
{
  switch (type) {
  case RCL_ROS_TIME:
    return rcl_ros_clock_init(clock, allocator);
  case RCL_SYSTEM_TIME:
    return rcl_system_clock_init(clock, allocator);
  case RCL_STEADY_TIME:
    return rcl_steady_clock_init(clock, allocator);
  default:
    return fail(RCL_RET_INVALID_ARGUMENT, "no type of clock");
  }
}

EXPORTED rcl_ret_t rcl_clock_fini(rcl_clock_t *clock)
{
  if (!clock) return fail(RCL_RET_INVALID_ARGUMENT, "clock is null");
  if (!allocator_is_valid(&clock->allocator)) return fail(RCL_RET_ERROR, "allocator is invalid");
  return fini(clock->type, clock);
}

EXPORTED rcl_ret_t rcl_clock_get_now(rcl_clock_t *clock, int64_t *now)
{
  if (!clock || !now) return fail(RCL_RET_INVALID_ARGUMENT, "null");
  if (!clock->type || !clock->get_now) return fail(RCL_RET_ERROR, "the clock is not initialized");
  return clock->get_now(clock->data, now);
}

/* ---- overrides and jumps ---- */

static void tell(rcl_clock_t *clock, const rcl_time_jump_t *jump, bool before)
{
  for (size_t i = 0; i < clock->num_jump_callbacks; i++) {
    const rcl_jump_callback_info_t *info = &clock->jump_callbacks[i];
    int64_t delta = jump->delta.nanoseconds, forward = info->threshold.min_forward.nanoseconds,
            backward = info->threshold.min_backward.nanoseconds;
    bool is_change = jump->clock_change == RCL_ROS_TIME_ACTIVATED ||
                     jump->clock_change == RCL_ROS_TIME_DEACTIVATED;
    if ((is_change && info->threshold.on_clock_change) || (backward < 0 && delta <= backward) ||
        (forward > 0 && delta >= forward))
      info->callback(jump, before, info->user_data);
  }
}

static override_t *override_of(rcl_clock_t *clock, rcl_ret_t *code)
{
  if (!clock)
    *code = fail(RCL_RET_INVALID_ARGUMENT, "clock is null");
  else if (clock->type != RCL_ROS_TIME || !clock->data)
    *code = fail(RCL_RET_ERROR, "not a ROS clock");
  else
    *code = RCL_RET_OK;
  return *code ? NULL : clock->data;
}

static rcl_ret_t enable(rcl_clock_t *clock, bool is_enabled)
{
  rcl_ret_t code;
  override_t *override = override_of(clock, &code);
  if (code || atomic_load(&override->is_enabled) == is_enabled) return code;
  rcl_time_jump_t jump = {is_enabled ? RCL_ROS_TIME_ACTIVATED : RCL_ROS_TIME_DEACTIVATED, {0}};
  tell(clock, &jump, true);
  atomic_store(&override->is_enabled, is_enabled);
  tell(clock, &jump, false);
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_enable_ros_time_override(rcl_clock_t *clock)
{
  return enable(clock, true);
}

EXPORTED rcl_ret_t rcl_disable_ros_time_override(rcl_clock_t *clock)
{
  return enable(clock, false);
}

EXPORTED rcl_ret_t rcl_is_enabled_ros_time_override(rcl_clock_t *clock, bool *is_enabled)
{
  rcl_ret_t code;
  override_t *override = override_of(clock, &code);
  if (!code) *is_enabled = atomic_load(&override->is_enabled);
  return code;
}

EXPORTED rcl_ret_t rcl_set_ros_time_override(rcl_clock_t *clock, int64_t value)
{
  rcl_ret_t code;
  override_t *override = override_of(clock, &code);
  if (code) return code;
  rcl_time_jump_t jump = {RCL_ROS_TIME_NO_CHANGE, {value - atomic_load(&override->value)}};
  bool is_enabled = atomic_load(&override->is_enabled);
  if (is_enabled) tell(clock, &jump, true);
  atomic_store(&override->value, value);
  if (is_enabled) tell(clock, &jump, false);
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_clock_add_jump_callback(rcl_clock_t *clock, rcl_jump_threshold_t threshold,
                                               rcl_jump_callback_t callback, void *user_data)
{
  if (!clock || !callback) return fail(RCL_RET_INVALID_ARGUMENT, "null");
  size_t count = clock->num_jump_callbacks;
  rcl_jump_callback_info_t *entries = clock->allocator.reallocate(
      clock->jump_callbacks, (count + 1) * sizeof *entries, clock->allocator.state);
  if (!entries) return fail(RCL_RET_BAD_ALLOC, "no memory");
  entries[count] = (rcl_jump_callback_info_t){callback, threshold, user_data};
  clock->jump_callbacks = entries;
  clock->num_jump_callbacks++;
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_clock_remove_jump_callback(rcl_clock_t *clock, rcl_jump_callback_t callback,
                                                  void *user_data)
{
  rcl_jump_callback_info_t *entries = clock->jump_callbacks;
  for (size_t i = 0; i < clock->num_jump_callbacks; i++)
    if (entries[i].callback == callback && entries[i].user_data == user_data) {
      size_t left = --clock->num_jump_callbacks - i;
      memmove(&entries[i], &entries[i + 1], left * sizeof *entries);
      return RCL_RET_OK;
    }
  return fail(RCL_RET_ERROR, "no such callback");
}

/* ---- guard conditions ---- */

struct rcl_guard_condition_s {
  bool is_triggered; /* by the mutex */
  unsigned count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t triggered = PTHREAD_COND_INITIALIZER;
static bool is_interrupted;
static _Thread_local bool is_in_wait; /* triggers by the wait itself are not counted */

/* As with the middleware's, a use after its end is a crash. With STANDIN_LINGER in the environment
 * it gives others time for one. */
static _Atomic bool has_ended;

__attribute__((destructor)) static void end(void)
{
  int64_t begin_ns, now_ns;
  if (!getenv("STANDIN_LINGER")) return;
  atomic_store(&has_ended, true);
  steady_now(NULL, &begin_ns);
  do
    steady_now(NULL, &now_ns);
  while (now_ns - begin_ns < 50000000);
}

EXPORTED rcl_ret_t rcl_trigger_guard_condition(rcl_guard_condition_t *condition)
{
  if (atomic_load(&has_ended)) abort();
  pthread_mutex_lock(&mutex);
  condition->is_triggered = true;
  if (!is_in_wait) condition->count++;
  pthread_cond_broadcast(&triggered);
  pthread_mutex_unlock(&mutex);
  return RCL_RET_OK;
}

EXPORTED void standin_interrupt(void)
{
  pthread_mutex_lock(&mutex);
  is_interrupted = true;
  pthread_cond_broadcast(&triggered);
  pthread_mutex_unlock(&mutex);
}

/* ---- timers ---- */

typedef struct impl {
  rcl_clock_t *clock;
  void *callback_owner;
  rcl_guard_condition_t condition;
  _Atomic int64_t period, last, next;
  int64_t saved; /* next - now, over a clock change */
  _Atomic bool is_canceled;
  rcl_allocator_t allocator;
} impl_t;

/* The layout of the implementation differs from release to release, as in rcl. */
typedef struct padded_impl {
  unsigned char padding[16 * STANDIN_RELEASE];
  impl_t impl;
} padded_impl_t;

static impl_t *impl_of(const rcl_timer_t *timer)
{
  return timer && timer->impl ? &((padded_impl_t *)timer->impl)->impl : NULL;
}

static void on_jump(impl_t *impl, const rcl_time_jump_t *jump, bool before)
{
  int64_t now;
  if (rcl_clock_get_now(impl->clock, &now) != RCL_RET_OK) return;
  bool is_change = jump->clock_change != RCL_ROS_TIME_NO_CHANGE;
  if (before) {
    if (is_change) impl->saved = impl->next - now;
  } else if (is_change) {
    if (now != 0) impl->next = now + impl->saved;
  } else if (impl->next <= now) {
    rcl_trigger_guard_condition(&impl->condition);
  } else if (now < impl->last) {
    impl->next = now + impl->period;
  }
}

static void timer_jumped(const rcl_time_jump_t *jump, bool before, void *user_data)
{
#if STANDIN_RELEASE <= JAZZY
  on_jump(&((padded_impl_t *)((rcl_timer_t *)user_data)->impl)->impl, jump, before);
#else
  on_jump(&((padded_impl_t *)user_data)->impl, jump, before);
#endif
}

static void (*making_hook)(void);

EXPORTED void standin_while_making(void (*hook)(void))
{
  making_hook = hook;
}

static rcl_ret_t make(rcl_timer_t *timer, rcl_clock_t *clock, int64_t period,
                      rcl_allocator_t allocator, bool autostart)
{
  if (!timer || !clock) return fail(RCL_RET_INVALID_ARGUMENT, "null");
  if (period < 0) return fail(RCL_RET_INVALID_ARGUMENT, "the period is negative");
  if (timer->impl) return fail(100, "the timer is initialized already");
  rcl_jump_threshold_t threshold = {true, {1}, {-1}};
  padded_impl_t *impl = allocator.zero_allocate(1, sizeof *impl, allocator.state);
  if (!impl) return fail(RCL_RET_BAD_ALLOC, "no memory");
  int64_t now;
  rcl_ret_t code = rcl_clock_get_now(clock, &now);
  impl->impl.clock = clock;
  impl->impl.period = period;
  impl->impl.last = now;
  impl->impl.next = now + period;
  impl->impl.is_canceled = !autostart;
  impl->impl.allocator = allocator;
#if STANDIN_RELEASE <= JAZZY
  if (!code && clock->type == RCL_ROS_TIME)
    code = rcl_clock_add_jump_callback(clock, threshold, timer_jumped, timer);
  if (making_hook) making_hook();
  if (!code) timer->impl = impl;
#else
  timer->impl = impl;
  if (!code && clock->type == RCL_ROS_TIME)
    code = rcl_clock_add_jump_callback(clock, threshold, timer_jumped, impl);
  if (making_hook) making_hook();
  if (code) timer->impl = NULL;
#endif
  if (code) allocator.deallocate(impl, allocator.state);
  return code;
}

#if STANDIN_RELEASE == HUMBLE
EXPORTED rcl_ret_t rcl_timer_init(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                                  int64_t period, rcl_timer_callback_t callback,
                                  rcl_allocator_t allocator)
{
  (void)context;
  (void)callback;
  return make(timer, clock, period, allocator, true);
}
#else
EXPORTED rcl_ret_t rcl_timer_init2(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                                   int64_t period, rcl_timer_callback_t callback,
                                   rcl_allocator_t allocator, bool autostart)
{
  (void)context;
  (void)callback;
  return make(timer, clock, period, allocator, autostart);
}
#endif

#if STANDIN_RELEASE == JAZZY
EXPORTED rcl_ret_t rcl_timer_init(rcl_timer_t *timer, rcl_clock_t *clock, rcl_context_t *context,
                                  int64_t period, rcl_timer_callback_t callback,
                                  rcl_allocator_t allocator)
{
  return rcl_timer_init2(timer, clock, context, period, callback, allocator, true);
}
#endif

EXPORTED rcl_ret_t rcl_timer_cancel(rcl_timer_t *timer)
{
  impl_t *impl = impl_of(timer);
  if (!impl) return fail(800, "the timer is invalid");
  impl->is_canceled = true;
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_timer_fini(rcl_timer_t *timer)
{
  impl_t *impl = impl_of(timer);
  if (!impl) return RCL_RET_OK;
  rcl_timer_cancel(timer);
  if (impl->clock->type == RCL_ROS_TIME)
    rcl_clock_remove_jump_callback(impl->clock, timer_jumped,
                                   STANDIN_RELEASE <= JAZZY ? (void *)timer : timer->impl);
  rcl_allocator_t allocator = impl->allocator;
  memset(timer->impl, 0x5a, sizeof(padded_impl_t));
  allocator.deallocate(timer->impl, allocator.state);
  timer->impl = NULL;
  return RCL_RET_OK;
}

static rcl_ret_t call(rcl_timer_t *timer, rcl_timer_call_info_t *info)
{
  impl_t *impl = impl_of(timer);
  int64_t now;
  if (!impl) return fail(800, "the timer is invalid");
  if (impl->is_canceled) return fail(RCL_RET_TIMER_CANCELED, "the timer is canceled");
  rcl_ret_t code = rcl_clock_get_now(impl->clock, &now);
  if (code) return code;
  if (info) *info = (rcl_timer_call_info_t){impl->next, now};
  impl->last = now;
  int64_t next = impl->next + impl->period;
  if (next < now && impl->period == 0) next = now;
  if (next < now) next += (now - next - 1) / impl->period * impl->period + impl->period;
  impl->next = next;
  return RCL_RET_OK;
}

#if STANDIN_RELEASE == HUMBLE
EXPORTED rcl_ret_t rcl_timer_call(rcl_timer_t *timer)
{
  return call(timer, NULL);
}
#else
EXPORTED rcl_ret_t rcl_timer_call_with_info(rcl_timer_t *timer, rcl_timer_call_info_t *info)
{
  return call(timer, info);
}

EXPORTED rcl_ret_t rcl_timer_call(rcl_timer_t *timer)
{
  rcl_timer_call_info_t info;
  return rcl_timer_call_with_info(timer, &info);
}
#endif

EXPORTED rcl_ret_t rcl_timer_reset(rcl_timer_t *timer)
{
  impl_t *impl = impl_of(timer);
  int64_t now;
  if (!impl) return fail(800, "the timer is invalid");
  rcl_ret_t code = rcl_clock_get_now(impl->clock, &now);
  if (code) return code;
  impl->next = now + impl->period;
  impl->is_canceled = false;
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_timer_is_canceled(const rcl_timer_t *timer, bool *is_canceled)
{
  const impl_t *impl = impl_of(timer);
  if (!impl) return fail(800, "the timer is invalid");
  *is_canceled = impl->is_canceled;
  return RCL_RET_OK;
}

static rcl_ret_t get_next_call_time(const rcl_timer_t *timer, int64_t *out)
{
  const impl_t *impl = impl_of(timer);
  if (!impl) return fail(800, "the timer is invalid");
  if (impl->is_canceled) return RCL_RET_TIMER_CANCELED;
  *out = impl->next;
  return RCL_RET_OK;
}

/* Not in the first versions of humble and jazzy. */
#ifndef STANDIN_IS_EARLY
EXPORTED rcl_ret_t rcl_timer_get_next_call_time(const rcl_timer_t *timer, int64_t *out)
{
  return get_next_call_time(timer, out);
}
#endif

EXPORTED rcl_ret_t standin_next_call(const rcl_timer_t *timer, int64_t *out)
{
  return get_next_call_time(timer, out);
}

EXPORTED rcl_ret_t rcl_timer_get_time_until_next_call(const rcl_timer_t *timer, int64_t *out)
{
  int64_t now, next;
  rcl_ret_t code = get_next_call_time(timer, &next);
  if (!code) code = rcl_clock_get_now(impl_of(timer)->clock, &now);
  if (!code) *out = next - now;
  return code;
}

EXPORTED rcl_ret_t rcl_timer_is_ready(const rcl_timer_t *timer, bool *is_ready)
{
  int64_t left;
  rcl_ret_t code = rcl_timer_get_time_until_next_call(timer, &left);
  *is_ready = code == RCL_RET_OK && left <= 0;
  return code == RCL_RET_TIMER_CANCELED ? RCL_RET_OK : code;
}

EXPORTED rcl_ret_t rcl_timer_get_period(const rcl_timer_t *timer, int64_t *out)
{
  const impl_t *impl = impl_of(timer);
  if (!impl) return fail(800, "the timer is invalid");
  *out = impl->period;
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_timer_exchange_period(const rcl_timer_t *timer, int64_t period, int64_t *old)
{
  impl_t *impl = impl_of(timer);
  if (!impl) return fail(800, "the timer is invalid");
  *old = atomic_exchange(&impl->period, period);
  return RCL_RET_OK;
}

#if STANDIN_RELEASE >= LYRICAL
EXPORTED uintptr_t rcl_timer_get_callback_data(const rcl_timer_t *timer);
EXPORTED uintptr_t rcl_timer_get_callback_data(const rcl_timer_t *timer)
{
  (void)timer;
  return 0;
}
#endif

EXPORTED rcl_guard_condition_t *rcl_timer_get_guard_condition(const rcl_timer_t *timer)
{
  impl_t *impl = impl_of(timer);
  return impl ? &impl->condition : NULL;
}

EXPORTED unsigned standin_triggers(const rcl_timer_t *timer)
{
  pthread_mutex_lock(&mutex);
  unsigned count = impl_of(timer)->condition.count;
  pthread_mutex_unlock(&mutex);
  return count;
}

/* ---- waiting ---- */

/* The timeout that the timers give, as rcl_wait takes it. */
static int64_t shortest(rcl_timer_t **timers, size_t count, int64_t timeout_ns)
{
  for (size_t i = 0; i < count; i++) {
    const impl_t *impl = impl_of(timers[i]);
    bool is_ready = false, is_enabled = false;
    int64_t left;
    if (impl->clock->type == RCL_ROS_TIME)
      rcl_is_enabled_ros_time_override(impl->clock, &is_enabled);
    if (is_enabled && STANDIN_RELEASE != HUMBLE) {
      rcl_timer_is_ready(timers[i], &is_ready);
      if (is_ready) return 0;
      continue;
    }
    if (rcl_timer_get_time_until_next_call(timers[i], &left) != RCL_RET_OK) continue;
    if (left < 0) left = 0;
    if (timeout_ns < 0 || left < timeout_ns) timeout_ns = left;
  }
  return timeout_ns;
}

static bool take_triggers(rcl_timer_t **timers, size_t count)
{
  bool any = is_interrupted;
  is_interrupted = false;
  for (size_t i = 0; i < count; i++) {
    rcl_guard_condition_t *condition = &impl_of(timers[i])->condition;
    any = condition->is_triggered || any;
    condition->is_triggered = false;
  }
  return any;
}

EXPORTED bool standin_wait(rcl_timer_t **timers, size_t count, int64_t timeout_ns)
{
  is_in_wait = true;
  timeout_ns = shortest(timers, count, timeout_ns);
  is_in_wait = false;
  int64_t until_ns;
  system_now(NULL, &until_ns);
  until_ns += timeout_ns;
  struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
  bool any;
  int failed = 0;
  pthread_mutex_lock(&mutex);
  while (!(any = take_triggers(timers, count)) && failed != ETIMEDOUT && timeout_ns != 0)
    failed = timeout_ns < 0 ? pthread_cond_wait(&triggered, &mutex)
                            : pthread_cond_timedwait(&triggered, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  return any;
}

/* ---- nodes ---- */

EXPORTED rcl_ret_t rcl_node_init(rcl_node_t *node, const char *name, const char *name_space,
                                 rcl_context_t *context, const rcl_node_options_t *options)
{
  (void)context;
  (void)options;
  if (!node || !name || !*name) return fail(RCL_RET_INVALID_ARGUMENT, "null");
  snprintf(node->full_name, sizeof node->full_name, "%s%s%s", name_space,
           strcmp(name_space, "/") == 0 ? "" : "/", name);
  return RCL_RET_OK;
}

EXPORTED rcl_ret_t rcl_node_fini(rcl_node_t *node)
{
  node->full_name[0] = '\0';
  return RCL_RET_OK;
}

EXPORTED const char *rcl_node_get_fully_qualified_name(const rcl_node_t *node)
{
  return node->full_name[0] ? node->full_name : NULL;
}

/* ---- memory ---- */

static void *allocate(size_t size, void *state)
{
  (void)state;
  return malloc(size);
}

static void deallocate(void *pointer, void *state)
{
  (void)state;
  free(pointer);
}

static void *reallocate(void *pointer, size_t size, void *state)
{
  (void)state;
  return realloc(pointer, size);
}

static void *zero_allocate(size_t count, size_t size, void *state)
{
  (void)state;
  return calloc(count, size);
}

EXPORTED rcl_allocator_t standin_allocator(void)
{
  return (rcl_allocator_t){allocate, deallocate, reallocate, zero_allocate, NULL};
}
