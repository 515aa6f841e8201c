#include "rcl/jump_callback.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/jump.h>

#include "base/fork.h"
#include "platform/mutex.h"
#include "rcl/guarded_call.h"
#include "rcl/librcl.h"
#include "rcl/python.h"
#include "rcl/shared_time.h"
#include "rcl/table.h"
#include "rcl/timer_schedule.h"

#define RECHECK_NS INT64_C(20000000)

typedef struct jump_callback {
  tb__table_node_t node;    /* first */
  _Atomic uint32_t holders; /* the table, and calls in progress */
  const void *clock_data;   /* a clock is its data: an rcl_clock_t may be copied */
  size_t at;                /* in the clock's jump_callbacks */
  rcl_jump_callback_info_t info;
  tb_jump_handler_t *handler;
  tb__rcl_timer_t *timer; /* NULL: a user's */
  bool uses_python;
} jump_callback_t;

/* Guards the table and, of the clocks that follow, the arrays. */
static tb__mutex_t mutex = TB__MUTEX_INIT;
static tb__table_t table;

/* ---- finding ---- */

static uint64_t hash_of(const rcl_clock_t *clock, rcl_jump_callback_t callback,
                        const void *user_data)
{
  void *function;
  memcpy(&function, &callback, sizeof function);
  return tb__table_hash(tb__table_hash(tb__table_hash(0, clock->data), function), user_data);
}

static jump_callback_t *find_locked(const rcl_clock_t *clock, rcl_jump_callback_t callback,
                                    const void *user_data) TB_REQUIRES(mutex)
{
  tb__table_node_t *node = tb__table_first(&table, hash_of(clock, callback, user_data));
  for (; node; node = tb__table_next(node)) {
    jump_callback_t *self = (jump_callback_t *)node;
    if (self->clock_data == clock->data && self->info.callback == callback &&
        self->info.user_data == user_data)
      return self;
  }
  return NULL;
}

static void release(jump_callback_t *self)
{
  if (atomic_fetch_sub(&self->holders, 1) > 1) return;
  tb__rcl_timer_destroy(self->timer);
  free(self);
}

/* ---- calling ---- */

/* rcl reports 0 for a time that is not set, and knows no other source of ROS time: whatever moves
 * the time that it reads is a jump by the difference. */
static rcl_time_jump_t jump_of(const tb_jump_t *jump)
{
  return (rcl_time_jump_t){RCL_ROS_TIME_NO_CHANGE, {jump->after.ns - jump->before.ns}};
}

static bool is_for(const rcl_jump_threshold_t *threshold, int64_t delta_ns)
{
  int64_t forward_ns = threshold->min_forward.nanoseconds;
  int64_t backward_ns = threshold->min_backward.nanoseconds;
  return (forward_ns > 0 && delta_ns >= forward_ns) || (backward_ns < 0 && delta_ns <= backward_ns);
}

static void call_user(const jump_callback_t *self, const rcl_time_jump_t *jump, bool before)
{
  int python;
  if (!self->uses_python) {
    tb__guarded_call(self->info.callback, jump, before, self->info.user_data);
  } else if (tb__python_lock(&python)) {
    tb__guarded_call(self->info.callback, jump, before, self->info.user_data);
    tb__python_unlock(python);
  }
}

static void call(jump_callback_t *self, const tb_jump_t *core_jump, bool before)
{
  rcl_time_jump_t jump = jump_of(core_jump);
  if (self->timer) {
    if (!before) tb__rcl_timer_jumped(self->timer, &jump);
    return;
  }
  if (!is_for(&self->info.threshold, jump.delta.nanoseconds)) return;
  atomic_fetch_add(&self->holders, 1); /* the callback may remove itself */
  call_user(self, &jump, before);
  release(self);
}

static void call_before(const tb_jump_t *jump, void *user)
{
  call(user, jump, true);
}

static void call_after(const tb_jump_t *jump, void *user)
{
  call(user, jump, false);
}

/* ---- adding ---- */

/* In the core a first tick, and a change of the publisher, are no forward or backward jumps: all
 * are taken, and chosen from by rcl's threshold. A timer needs no forward jumps: its schedule
 * knows when it is due. */
static tb_status_t make_handler(jump_callback_t *self, tb_clock_t *shared)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = self->timer ? "rcl timer" : "rcl jump callback";
  options.threshold.min_forward.ns = self->timer ? 0 : self->info.threshold.min_forward.nanoseconds;
  options.threshold.min_backward.ns = self->info.threshold.min_backward.nanoseconds;
  options.threshold.on_clock_change = true;
  options.before = call_before;
  options.after = call_after;
  options.user = self;
  return tb_jump_handler_create(shared, &options, &self->handler);
}

static rcl_ret_t check(const rcl_clock_t *clock, const rcl_jump_threshold_t *threshold,
                       rcl_jump_callback_t callback)
{
  if (!tb__rcl_allocator_is_valid(&clock->allocator))
    return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "the clock's allocator is invalid");
  if (!callback) return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "callback is null");
  if (threshold->min_forward.nanoseconds < 0)
    return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "min_forward must not be negative");
  if (threshold->min_backward.nanoseconds > 0)
    return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "min_backward must not be positive");
  return RCL_RET_OK;
}

static tb_status_t append_locked(rcl_clock_t *clock, jump_callback_t *self) TB_REQUIRES(mutex)
{
  const rcl_jump_callback_info_t *info = &self->info;
  if (find_locked(clock, info->callback, info->user_data)) return TB_ERR_BUSY;
  size_t count = clock->num_jump_callbacks;
  rcl_jump_callback_info_t *entries = clock->allocator.reallocate(
      clock->jump_callbacks, (count + 1) * sizeof *entries, clock->allocator.state);
  if (entries) clock->jump_callbacks = entries;
  if (!entries || !tb__table_reserve(&table)) return TB_ERR_NO_MEMORY;
  entries[count] = *info;
  clock->num_jump_callbacks++;
  self->at = count;
  tb__table_insert(&table, &self->node, hash_of(clock, info->callback, info->user_data));
  return TB_OK;
}

/* The last one takes its place in the array. */
static void take_out_locked(rcl_clock_t *clock, jump_callback_t *self) TB_REQUIRES(mutex)
{
  tb__table_remove(&table, &self->node);
  rcl_jump_callback_info_t *entries = clock->jump_callbacks;
  size_t last = --clock->num_jump_callbacks;
  if (self->at != last) {
    jump_callback_t *moved = find_locked(clock, entries[last].callback, entries[last].user_data);
    entries[self->at] = entries[last];
    if (moved) moved->at = self->at;
  }
  if (last == 0) {
    clock->allocator.deallocate(entries, clock->allocator.state);
    clock->jump_callbacks = NULL;
    return;
  }
  entries = clock->allocator.reallocate(entries, last * sizeof *entries, clock->allocator.state);
  if (entries) clock->jump_callbacks = entries; /* else the larger one stays */
}

/* As one step: a callback that is found has its handler, whose first call may come before this
 * returns and remove it. Making a handler waits for no callback. */
static tb_status_t add(rcl_clock_t *clock, jump_callback_t *self)
{
  tb_clock_t *shared;
  tb_status_t status = tb__shared_time_open(&shared);
  if (status) return status;
  tb__mutex_lock(&mutex);
  status = append_locked(clock, self);
  if (!status && (status = make_handler(self, shared))) take_out_locked(clock, self);
  tb__mutex_unlock(&mutex);
  return status;
}

rcl_ret_t tb__jump_callback_add(rcl_clock_t *clock, rcl_jump_threshold_t threshold,
                                rcl_jump_callback_t callback, void *user_data)
{
  rcl_ret_t code = check(clock, &threshold, callback);
  if (code) return code;
  if (tb__is_forked()) return TB__RCL_FAIL(RCL_RET_ERROR, tb_status_message(TB_ERR_FORKED));
  jump_callback_t *self = calloc(1, sizeof *self);
  if (!self) return TB__RCL_FAIL(RCL_RET_BAD_ALLOC, "no memory for a jump callback");
  atomic_store(&self->holders, 1);
  self->clock_data = clock->data;
  self->info = (rcl_jump_callback_info_t){callback, threshold, user_data};
  tb_status_t status = TB_OK;
  if (tb__rcl_timer_is_being_made(user_data))
    status = tb__rcl_timer_create(callback, user_data, &self->timer);
  else
    self->uses_python = tb__python_is_used_by((void (*)(void))callback);
  if (!status) status = add(clock, self);
  if (!status) return RCL_RET_OK;
  release(self);
  if (status == TB_ERR_BUSY)
    return TB__RCL_FAIL(RCL_RET_ERROR, "the callback is there already, with this user_data");
  return TB__RCL_FAIL(status == TB_ERR_NO_MEMORY ? RCL_RET_BAD_ALLOC : RCL_RET_ERROR,
                      tb_status_message(status));
}

/* ---- removing ---- */

/* False: a call of it never ends, because its thread waits for the lock of a Python that has
 * ended. */
static bool end_calls(jump_callback_t *self)
{
  if (tb_jump_handler_destroy_within(self->handler, TB_NO_WAIT) != TB_ERR_TIMEOUT) return true;
  void *python = tb__python_suspend();
  tb_status_t status;
  do
    status = tb_jump_handler_destroy_within(self->handler, (tb_duration_t){RECHECK_NS});
  while (status == TB_ERR_TIMEOUT && !(self->uses_python && tb__python_has_ended()));
  tb__python_resume(python);
  return status != TB_ERR_TIMEOUT;
}

rcl_ret_t tb__jump_callback_remove(rcl_clock_t *clock, rcl_jump_callback_t callback,
                                   void *user_data)
{
  if (!tb__rcl_allocator_is_valid(&clock->allocator))
    return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "the clock's allocator is invalid");
  if (!callback) return TB__RCL_FAIL(RCL_RET_INVALID_ARGUMENT, "callback is null");
  tb__mutex_lock(&mutex);
  jump_callback_t *self = find_locked(clock, callback, user_data);
  if (self) take_out_locked(clock, self);
  tb__mutex_unlock(&mutex);
  if (!self) return TB__RCL_FAIL(RCL_RET_ERROR, "there is no such jump callback");
  if (end_calls(self)) {
    tb__rcl_timer_end(self->timer);
    release(self);
  }
  return RCL_RET_OK;
}

void tb__jump_callback_remove_all(rcl_clock_t *clock)
{
  while (clock->num_jump_callbacks > 0) {
    const rcl_jump_callback_info_t *last = &clock->jump_callbacks[clock->num_jump_callbacks - 1];
    if (tb__jump_callback_remove(clock, last->callback, last->user_data)) return;
  }
}
