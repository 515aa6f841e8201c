#include "clock/handler.h"
#include "base/list.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "clock/jump_wait.h"
#include "clock/step.h"
#include "held/parking.h"

static _Atomic uint64_t last_sequence;

/* Handlers of destroyed clocks: each one is valid, and never called, until it is destroyed
 * itself. */
static tb__mutex_t detached_mutex = TB__MUTEX_INIT; /* no other lock is taken under it */
static struct tb_jump_handler *detached;

static tb_status_t options_check(const tb_jump_handler_options_t *options)
{
  const tb_jump_threshold_t *threshold = &options->threshold;
  if (threshold->min_forward.ns < 0 || threshold->min_backward.ns > 0) return TB_ERR_INVALID;
  if (!threshold->min_forward.ns && !threshold->min_backward.ns && !threshold->on_clock_change)
    return TB_ERR_INVALID;
  if (!options->before && !options->after) return TB_ERR_INVALID;
  return TB_OK;
}

static bool concerns_steps(const struct tb_jump_handler *handler)
{
  return handler->threshold.min_forward.ns || handler->threshold.min_backward.ns;
}

/* Keeps the list in order of registration, searching from its end. */
static void handler_link(tb_timeline_t *timeline, struct tb_jump_handler *handler)
    TB_REQUIRES(timeline->mutex)
{
  tb__handlers_t *handlers = &timeline->handlers;
  struct tb_jump_handler *after = handlers->last;
  while (after && after->sequence > handler->sequence)
    after = after->previous;
  handler->previous = after;
  handler->next = after ? after->next : handlers->first;
  *(after ? &after->next : &handlers->first) = handler;
  *(handler->next ? &handler->next->previous : &handlers->last) = handler;
  handler->linked = true;
  int64_t min_forward = handler->threshold.min_forward.ns;
  if (concerns_steps(handler)) tb__steps_need_locked(timeline);
  if (min_forward == 0) return;
  if (min_forward < handlers->min_forward) handlers->min_forward = min_forward;
  handlers->forward++;
  tb__timeline_want_time_locked(timeline, TB__WISH_EACH_TICK);
}

static void handler_unlink(tb_timeline_t *timeline, struct tb_jump_handler *handler)
    TB_REQUIRES(timeline->mutex)
{
  tb__handlers_t *handlers = &timeline->handlers;
  *(handler->previous ? &handler->previous->next : &handlers->first) = handler->next;
  *(handler->next ? &handler->next->previous : &handlers->last) = handler->previous;
  handler->linked = false;
  if (concerns_steps(handler)) tb__steps_release_locked(timeline);
  if (handler->threshold.min_forward.ns > 0) handlers->forward--;
}

tb_status_t tb_jump_handler_create_sized(tb_clock_t *clock,
                                         const tb_jump_handler_options_t *options,
                                         size_t options_size, tb_jump_handler_t **out)
{
  tb_jump_handler_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!clock || !options || !out || options_check(options)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  struct tb_jump_handler *handler = calloc(1, sizeof *handler);
  if (!handler) return TB_ERR_NO_MEMORY;
  handler->clock = clock;
  handler->threshold = options->threshold;
  handler->before = options->before;
  handler->after = options->after;
  handler->user = options->user;
  const char *name = options->name ? options->name : "unnamed";
  memcpy(handler->name, name, strnlen(name, sizeof handler->name - 1)); /* zeros follow */
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  bool closed = clock->closed;
  if (!closed) {
    tb__clock_ref(clock);
    handler->sequence = atomic_fetch_add(&last_sequence, 1) + 1;
    handler_link(timeline, handler);
    *out = handler; /* before it can be called */
  }
  tb__clock_unlock(timeline);
  if (closed) {
    free(handler);
    return TB_ERR_CLOSED;
  }
  tb__steps_watch();
  return TB_OK;
}

tb_status_t tb_steady_clock_jump_handler_create_sized(tb_steady_clock_t *clock,
                                                      const tb_jump_handler_options_t *options,
                                                      size_t options_size, tb_jump_handler_t **out)
{
  tb_jump_handler_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return clock ? tb_jump_handler_create(&clock->core, options, out) : TB_ERR_INVALID;
}

/* Waits until no jump uses the handler. With the timeline of its clock locked. */
static tb_status_t wait_until_released(struct tb_jump_handler *handler, int64_t limit_ns,
                                       tb_timeline_t **timeline) TB_REQUIRES((*timeline)->mutex)
{
  /* J6: "before" is never left without its "after" */
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  tb_status_t status = TB_OK;
  handler->leaving = true;
  while (handler->selected && !status) {
    uint32_t done = atomic_load(&(*timeline)->jumps_done);
    tb__clock_unlock(*timeline);
    status = tb__jump_wait_for(&wait, *timeline, &(*timeline)->jumps_done, done);
    tb__clock_lock(handler->clock, timeline);
  }
  if (!handler->selected) return TB_OK;
  handler->leaving = false;
  return status;
}

/* With the timeline of its clock locked too: `detached` may be read under either mutex. */
static void detached_add(struct tb_jump_handler *handler)
{
  bool broken =
      tb__is_forked() && !tb__mutex_was_free(&detached_mutex); /* the list is not used again */
  tb__mutex_lock(&detached_mutex);
  handler->detached = true;
  handler->previous = NULL;
  handler->next = broken ? NULL : detached;
  if (handler->next) detached->previous = handler;
  if (!broken) detached = handler;
  tb__mutex_unlock(&detached_mutex);
}

static void detached_remove(struct tb_jump_handler *handler)
{
  if (tb__is_forked() && !tb__mutex_was_free(&detached_mutex)) return;
  tb__mutex_lock(&detached_mutex);
  TB__LIST_REMOVE(detached, handler);
  tb__mutex_unlock(&detached_mutex);
}

/* At exit: frees the handlers that were not destroyed. If another thread has the lock, they
 * stay. */
__attribute__((destructor)) static void free_detached(void)
{
  if (!tb__mutex_try_lock(&detached_mutex)) return;
  while (detached) {
    struct tb_jump_handler *handler = detached;
    detached = handler->next;
    free(handler);
  }
  tb__mutex_unlock(&detached_mutex);
}

/* The clock of the handler, which cannot be destroyed until tb__clock_leave; NULL: it was
 * destroyed. */
static tb_clock_t *enter_clock_of(const struct tb_jump_handler *handler)
{
  tb__mutex_lock(&detached_mutex);
  tb_clock_t *clock = handler->detached ? NULL : handler->clock;
  if (clock) tb__clock_enter(clock);
  tb__mutex_unlock(&detached_mutex);
  return clock;
}

/* In a forked child: the handler is removed from its list if no thread was changing that at the
 * fork; else the list is not used again. A callback that has forked continues in the child and uses
 * its handler. */
static void handler_abandon(struct tb_jump_handler *handler)
{
  if (handler->selected && tb__in_jump_callback()) return;
  if (handler->detached) {
    detached_remove(handler);
  } else {
    tb_clock_t *clock = handler->clock;
    tb_timeline_t *timeline;
    tb__clock_timeline_locked(clock, &timeline); /* there is no other thread */
    if (handler->linked && tb__mutex_was_free(&timeline->mutex)) handler_unlink(timeline, handler);
    tb__clock_unref(clock);
  }
  free(handler);
}

/* The jump in progress frees the handler. The callback may continue to use the clock, which cannot
 * be destroyed until then. */
static void hand_to_jump(struct tb_jump_handler *handler, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  atomic_store(&handler->removed, true);
  handler->orphan = true;
  tb__clock_enter(handler->clock);
  handler_unlink(timeline, handler);
  tb__clock_unref(handler->clock);
}

/* *out_gone false: a jump frees the handler, or it is not destroyed at all. */
static tb_status_t handler_take_out(struct tb_jump_handler *handler, int64_t limit_ns,
                                    bool *out_gone)
{
  tb_clock_t *clock = handler->clock;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  tb_status_t status = handler->leaving || handler->orphan ? TB_ERR_CLOSED : TB_OK;
  /* J6: waits until the jump is over, unless this thread must not wait: then the jump removes it */
  bool to_jump = !status && handler->selected && tb__may_not_wait();
  if (status)
    handler->given_up = true;
  else if (!to_jump)
    status = wait_until_released(handler, limit_ns, &timeline);
  if (status == TB_ERR_TIMEOUT &&
      handler->given_up) { /* the thread that gave it up will not try again */
    status = TB_OK;
    to_jump = true;
  }
  if (to_jump) hand_to_jump(handler, timeline);
  *out_gone = !to_jump && !status;
  if (*out_gone && handler->linked) {
    handler_unlink(timeline, handler);
    tb__clock_unref(clock);
  } else if (*out_gone) {
    detached_remove(handler); /* the clock was destroyed meanwhile */
  }
  tb__clock_unlock(timeline);
  return status;
}

static tb_status_t handler_destroy(struct tb_jump_handler *handler, int64_t limit_ns)
{
  bool gone = true;
  tb_status_t status = TB_OK;
  if (tb__is_forked()) {
    handler_abandon(handler);
    return TB_OK;
  }
  tb_clock_t *clock = enter_clock_of(handler);
  if (clock)
    status = handler_take_out(handler, limit_ns, &gone);
  else
    detached_remove(handler);
  if (gone) free(handler);
  if (clock) tb__clock_leave(clock);
  return status;
}

void tb_jump_handler_destroy(tb_jump_handler_t *handler)
{
  if (handler) handler_destroy(handler, INT64_MAX);
}

tb_status_t tb_jump_handler_destroy_within(tb_jump_handler_t *handler, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  return status || !handler ? status : handler_destroy(handler, deadline.ns);
}

static bool handler_matches(const struct tb_jump_handler *handler, const tb_jump_t *jump)
{
  /* J1: by kind; thresholds are inclusive */
  const tb_jump_threshold_t *threshold = &handler->threshold;
  switch (jump->kind) {
  case TB_JUMP_CLOCK_CHANGE:
  case TB_JUMP_STARTED:
    return threshold->on_clock_change;
  case TB_JUMP_FORWARD:
    return threshold->min_forward.ns > 0 && jump->delta.ns >= threshold->min_forward.ns;
  case TB_JUMP_BACKWARD:
    return threshold->min_backward.ns < 0 && jump->delta.ns <= threshold->min_backward.ns;
  }
  return false;
}

void tb__jump_select_locked(tb__jump_t *jump, tb_timeline_t *timeline)
{
  struct tb_jump_handler **end = &jump->selected;
  int64_t min_forward = INT64_MAX;
  for (struct tb_jump_handler *handler = timeline->handlers.first; handler;
       handler = handler->next) {
    int64_t wanted = handler->threshold.min_forward.ns;
    if (wanted > 0 && wanted < min_forward) min_forward = wanted;
    if (handler->leaving || handler->clock->closed ||
        (jump->moved && handler->clock != jump->moved) || !handler_matches(handler, &jump->info))
      continue;
    handler->selected = true;
    *end = handler;
    end = &handler->selected_next;
  }
  *end = NULL;
  timeline->handlers.min_forward = min_forward;
}

/* The kind of time, and the epoch of a step that raises none, are those of the handler's own
 * clock. */
static tb_jump_t info_for(const tb__jump_t *jump, const struct tb_jump_handler *handler)
{
  /* J2: the epoch after the jump */
  tb_jump_t info = jump->info;
  if (info.epoch == 0) info.epoch = tb_clock_epoch(handler->clock);
  info.before.kind = info.after.kind = handler->clock->kind;
  return info;
}

static void handler_call(tb__jump_t *jump, struct tb_jump_handler *handler,
                         tb_jump_callback_t callback)
{
  if (!callback || atomic_load(&handler->removed)) return;
  tb_jump_t info = info_for(jump, handler);
  tb__handler_call_begin(jump, handler);
  callback(&info, handler->user);
  tb__handler_call_end(jump, handler);
}

void tb__jump_call_before(tb__jump_t *jump)
{
  tb__jump_of_thread = jump;
  for (struct tb_jump_handler *handler = jump->selected; handler && !tb__is_forked();
       handler = handler->selected_next)
    handler_call(jump, handler, handler->before);
  tb__jump_of_thread = NULL;
}

void tb__jump_call_after(tb__jump_t *jump)
{
  tb__jump_of_thread = jump;
  for (struct tb_jump_handler *handler = jump->selected; handler && !tb__is_forked();
       handler = handler->selected_next)
    handler_call(jump, handler, handler->after);
  tb__jump_of_thread = NULL;
}

void tb__jump_release_locked(tb__jump_t *jump, tb_timeline_t *timeline)
{
  struct tb_jump_handler *handler = jump->selected;
  while (handler) {
    struct tb_jump_handler *next = handler->selected_next;
    handler->selected = false;
    if (handler->orphan) {
      tb__clock_leave(handler->clock);
      free(handler);
    }
    handler = next;
  }
  jump->selected = NULL;
  atomic_fetch_add(&timeline->jumps_done, 1);
  tb__futex_wake_all(&timeline->jumps_done);
}

void tb__handlers_move(tb_clock_t *clock, tb_timeline_t *from, tb_timeline_t *to)
{
  for (struct tb_jump_handler *handler = from->handlers.first, *next; handler; handler = next) {
    next = handler->next;
    if (handler->clock != clock) continue;
    handler_unlink(from, handler);
    handler_link(to, handler);
  }
}

/* False: a jump in progress uses some, which stay. */
static bool unlink_all_of(tb_clock_t *clock, tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  bool done = true;
  for (struct tb_jump_handler *handler = timeline->handlers.first, *next; handler; handler = next) {
    next = handler->next;
    if (handler->clock != clock) continue;
    if (handler->selected && !tb__is_forked()) {
      done = false;
      continue;
    }
    handler_unlink(timeline, handler);
    detached_add(handler);
    tb__clock_unref(clock); /* its owner has another reference */
  }
  return done;
}

tb_status_t tb__handlers_remove_of(tb_clock_t *clock, int64_t limit_ns)
{
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  tb_status_t status = TB_OK;
  if (tb__is_forked() && !tb__mutex_was_free(&tb__clock_timeline(clock)->mutex)) return TB_OK;
  for (;;) {
    tb_timeline_t *timeline;
    tb__clock_lock(clock, &timeline);
    bool done = unlink_all_of(clock, timeline);
    uint32_t jumps = atomic_load(&timeline->jumps_done);
    tb__clock_unlock(timeline);
    if (done) return TB_OK;
    if (status) return status;
    status = tb__jump_wait_for(&wait, timeline, &timeline->jumps_done, jumps);
  }
}

uint64_t tb__clock_forward_jumps(const tb_clock_t *clock)
{
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb__clock_timeline(clock), &stats);
  return stats.jumps_forward;
}
