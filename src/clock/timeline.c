#include "clock/timeline.h"

#include <stdlib.h>

#include "base/assert.h"
#include "clock/jump_wait.h"
#include "clock/running.h"
#include "clock/try_tick.h"
#include "held/held_time.h"
#include "held/inflight.h"
#include "held/parking.h"
#include "platform/time.h"

#define STALL_LIMIT_NS      INT64_C(1000000000)
#define FORWARD_JUMP_MIN_NS INT64_C(1000000000)

static _Atomic uint64_t last_epoch;
static _Atomic uint64_t last_id = 2;

static tb_timeline_t system_timeline = {
    .mutex = TB__MUTEX_INIT,
    .kind = TB__TIMELINE_SYSTEM,
    .id = 1,
    .handlers.min_forward = INT64_MAX,
    .waiters.watch_min_forward = INT64_MAX,
    .state = TB_CLOCK_INACTIVE,
};

static tb_timeline_t steady_timeline = {
    .mutex = TB__MUTEX_INIT,
    .kind = TB__TIMELINE_STEADY,
    .id = 2,
    .handlers.min_forward = INT64_MAX,
    .waiters.watch_min_forward = INT64_MAX,
    .state = TB_CLOCK_INACTIVE,
};

tb_timeline_t *tb__timeline_system(void)
{
  return &system_timeline;
}

tb_timeline_t *tb__timeline_steady(void)
{
  return &steady_timeline;
}

uint64_t tb__epoch_take(void)
{
  return atomic_fetch_add(&last_epoch, 1) + 1;
}

tb_status_t tb__timeline_create(tb_timeline_t **out)
{
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_timeline_t *timeline = aligned_alloc(_Alignof(tb_timeline_t), sizeof *timeline);
  if (!timeline) return TB_ERR_NO_MEMORY;
  *timeline = (tb_timeline_t){
      .kind = TB__TIMELINE_ROS,
      .id = atomic_fetch_add(&last_id, 1) + 1,
      .references = 1,
      .state = TB_CLOCK_WAITING,
      .slow_handler_ns = TB__SLOW_HANDLER_NS,
      .handlers.min_forward = INT64_MAX,
      .waiters.watch_min_forward = INT64_MAX,
      .liveness.stall_limit_ns = STALL_LIMIT_NS,
      .forward_jump_min_ns = FORWARD_JUMP_MIN_NS,
  };
  tb__mutex_init(&timeline->mutex);
  tb__mutex_lock(&timeline->mutex);
  tb__timeline_publish_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
  *out = timeline;
  return TB_OK;
}

void tb__timeline_ref(tb_timeline_t *timeline)
{
  if (timeline->kind == TB__TIMELINE_ROS) atomic_fetch_add(&timeline->references, 1);
}

void tb__timeline_unref(tb_timeline_t *timeline)
{
  if (!timeline || timeline->kind != TB__TIMELINE_ROS) return;
  if (atomic_fetch_sub(&timeline->references, 1) != 1) return;
  TB__ASSERT(tb__is_forked() || (!timeline->handlers.first && !timeline->waiters.watchers));
  tb__inflight_unref(timeline->inflight);
  if (timeline->view) timeline->view->free(timeline->view);
  tb__mutex_fini(&timeline->mutex);
  free(timeline);
}

static void linear_store(tb__linear_slot_t *slot, const tb__linear_time_t *linear)
{
  atomic_store_explicit(&slot->time_ns, linear->time_ns, memory_order_release);
  atomic_store_explicit(&slot->steady_ns, linear->steady_ns, memory_order_release);
  atomic_store_explicit(&slot->until_ns, linear->until_ns, memory_order_release);
  atomic_store_explicit(&slot->rate, linear->rate, memory_order_release);
}

/* A reader that has the version with the old slot bit reads the other copy, and a reader that was
 * overtaken twice sees another version: a writer that is stopped anywhere in here blocks no
 * reader. */
void tb__timeline_publish_locked(tb_timeline_t *timeline)
{
  uint64_t version = atomic_load_explicit(&timeline->version, memory_order_relaxed);
  uint64_t next = (version ^ TB__VERSION_SLOT) + TB__VERSION_STEP;
  next &= ~(TB__VERSION_RUNNING | TB__VERSION_HALTING);
  if (timeline->running) {
    next |= TB__VERSION_RUNNING;
    linear_store(&timeline->linear_slots[tb__version_slot(next)], &timeline->linear);
  }
  tb__slot_t *slot = &timeline->slots[tb__version_slot(next)];
  atomic_store_explicit(&slot->time_ns, timeline->time_ns, memory_order_release);
  atomic_store_explicit(&slot->epoch, timeline->epoch, memory_order_release);
  atomic_store_explicit(&slot->state, (uint32_t)timeline->state, memory_order_release);
  atomic_store_explicit(&timeline->version, next, memory_order_release);
}

void tb__timeline_overtake_readers_locked(tb_timeline_t *timeline)
{
  atomic_fetch_add(&timeline->version, TB__VERSION_STEP);
}

void tb__timeline_block_locked(tb_timeline_t *timeline)
{
  if (atomic_load_explicit(&timeline->readers_never_block, memory_order_relaxed)) return; /* J10 */
  uint64_t version = atomic_load_explicit(&timeline->version, memory_order_relaxed);
  atomic_store(&timeline->version, (version | TB__VERSION_BLOCKED) + TB__VERSION_STEP);
}

void tb__timeline_unblock_locked(tb_timeline_t *timeline)
{
  uint64_t version = atomic_load_explicit(&timeline->version, memory_order_relaxed);
  atomic_store(&timeline->version, (version & ~TB__VERSION_BLOCKED) + TB__VERSION_STEP);
  atomic_fetch_add(&timeline->gate, 1);
  tb__futex_wake_all(&timeline->gate);
}

/* The target is fixed while the source runs. */
void tb__timeline_announce(tb_timeline_t *timeline)
{
  timeline = tb__timeline_target(timeline);
  tb__mutex_lock(&timeline->mutex);
  timeline->announced = true;
  tb__timeline_block_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

void tb__timeline_end_announced(tb_timeline_t *timeline)
{
  timeline = tb__timeline_target(timeline);
  tb__mutex_lock(&timeline->mutex);
  timeline->announced = false;
  tb__timeline_unblock_locked(timeline);
  tb__waiters_report_state_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

void tb__timeline_take_turn_locked(tb_timeline_t *timeline)
{
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(INT64_MAX);
  uint32_t mine = timeline->turn_next++;
  for (;;) {
    uint32_t serving = atomic_load(&timeline->turn_serving);
    if (serving == mine) return;
    tb__mutex_unlock(&timeline->mutex);
    tb_status_t status = tb__jump_wait_for(&wait, timeline, &timeline->turn_serving, serving);
    TB__ASSERT(!status); /* there is no limit */
    tb__mutex_lock(&timeline->mutex);
  }
}

/* A place in the order of arrival could not be given up again, so it is not taken before the turn
 * is free. */
tb_status_t tb__timeline_take_turn_within_locked(tb_timeline_t *timeline, int64_t limit_ns)
{
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  for (;;) {
    uint32_t serving = atomic_load(&timeline->turn_serving);
    if (serving == timeline->turn_next) break;
    timeline->turn_limited++;
    tb__mutex_unlock(&timeline->mutex);
    tb_status_t status = tb__jump_wait_for(&wait, timeline, &timeline->turn_serving, serving);
    tb__mutex_lock(&timeline->mutex);
    timeline->turn_limited--;
    if (status) return status;
  }
  timeline->turn_next++;
  return TB_OK;
}

void tb__timeline_end_turn_locked(tb_timeline_t *timeline)
{
  TB__ASSERT(timeline->turn_next != atomic_load(&timeline->turn_serving));
  TB__ASSERT(!timeline->jump);
  uint32_t serving = atomic_fetch_add(&timeline->turn_serving, 1) + 1;
  if (serving != timeline->turn_next || timeline->turn_limited)
    tb__futex_wake_all(&timeline->turn_serving);
  tb__running_deadline_changed_locked(timeline);
}

tb_status_t tb__timeline_track(tb_timeline_t *timeline)
{
  bool os = timeline->kind != TB__TIMELINE_ROS;
  tb__mutex_lock(&timeline->mutex);
  if (!timeline->inflight) timeline->inflight = os ? tb__inflight_of_os() : tb__inflight_create();
  bool tracked = timeline->inflight;
  tb__mutex_unlock(&timeline->mutex);
  return tracked ? TB_OK : TB_ERR_NO_MEMORY;
}

tb__inflight_t *tb__timeline_inflight_locked(const tb_timeline_t *timeline)
{
  return timeline->running && tb__time_is_held() ? tb__inflight_of_os() : timeline->inflight;
}

uint64_t tb__timeline_elapsed_locked(const tb_timeline_t *timeline)
{
  if (timeline->kind != TB__TIMELINE_ROS) return (uint64_t)tb__steady_now_ns();
  if (timeline->time_ns == 0) return timeline->elapsed_frozen;
  return (uint64_t)tb__timeline_time_locked(timeline) - timeline->elapsed_offset;
}

static int64_t own_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  return timeline->running ? tb__running_time_locked(timeline) : timeline->time_ns;
}

/* In the middle of a blocking jump: what has been committed here. Before a jump that the page has
 * made already: the last time that can have been read. Else, as a forward step blocks no reader:
 * what readers see. */
static int64_t view_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  tb__page_copy_t copy;
  int64_t time_ns;
  tb__page_view_t *view = timeline->view;
  const tb__page_t *page = atomic_load(&view->page);
  uint64_t epoch = atomic_load(&view->epoch);
  bool is_sound;
  while ((is_sound = page && tb__page_load(page, &copy)) && copy.epoch == epoch)
    if (tb__page_time(view, page, &copy, &time_ns)) return time_ns;
  if (is_sound && epoch != TB__PAGE_NO_EPOCH && timeline->time_ns) {
    time_ns = tb__page_epoch_end(view, page, epoch);
    if (time_ns) return time_ns;
  }
  time_ns = own_time_locked(timeline);
  return page && !is_sound ? tb__page_time_after(view, epoch, time_ns) : time_ns;
}

int64_t tb__timeline_any_time_locked(const tb_timeline_t *timeline)
{
  switch (timeline->kind) {
  case TB__TIMELINE_SYSTEM:
    return tb__system_now_ns();
  case TB__TIMELINE_STEADY:
    return tb__steady_now_ns();
  case TB__TIMELINE_ROS:
    break;
  }
  return timeline->view ? view_time_locked(timeline) : own_time_locked(timeline);
}

/* A jump that the publisher has made counts from its commit, also while this process has not
 * dispatched it. */
bool tb__timeline_is_behind_page(const tb_timeline_t *timeline)
{
  tb__page_copy_t copy;
  const tb__page_t *page = timeline->view ? atomic_load(&timeline->view->page) : NULL;
  return page && tb__page_load(page, &copy) && copy.epoch != atomic_load(&timeline->view->epoch);
}

bool tb__timeline_is_blocked(const tb_timeline_t *timeline)
{
  if (atomic_load(&timeline->version) & TB__VERSION_BLOCKED) return true;
  return !atomic_load_explicit(&timeline->readers_never_block, memory_order_relaxed) &&
         tb__timeline_is_behind_page(timeline);
}

/* The dispatch starts from the time that the page has kept for the epoch or, where it has not, from
 * the mark: so what is returned here is marked. In the middle of a dispatch there is no dispatched
 * epoch, and the time is what has been committed. */
void tb__timeline_read_behind_page_locked(tb_timeline_t *timeline, int64_t *out_ns)
{
  *out_ns = view_time_locked(timeline);
  if (*out_ns)
    *out_ns = tb__page_time_after(timeline->view, atomic_load(&timeline->view->epoch), *out_ns);
}

void tb__timeline_want_time_locked(tb_timeline_t *timeline, int64_t time_ns)
{
  tb__page_view_t *view = timeline->view;
  if (!view || (view->wants_ticks && view->wish_ns <= time_ns)) return;
  bool was_idle = !view->wants_ticks;
  view->wants_ticks = true;
  view->wish_ns = view->has_wish ? time_ns : TB__WISH_EACH_TICK;
  bool is_each = view->wish_ns == TB__WISH_EACH_TICK;
  bool knows = (was_idle || is_each) && !timeline->running && !tb__timeline_is_blocked(timeline) &&
               !tb__timeline_is_behind_page(timeline);
  if (knows) { /* else the thread that follows has to read the page first */
    int64_t now_ns = view_time_locked(timeline);
    view->following = is_each;
    /* no waiter was due in between; if this one is now, the step to it has to be followed */
    if (timeline->time_ns && now_ns != timeline->time_ns && (is_each || now_ns < time_ns)) {
      timeline->time_ns = now_ns;
      tb__timeline_publish_locked(timeline);
    }
  }
  view->wish(view);
}

void tb__timeline_reset(tb_timeline_t *timeline)
{
  tb__mutex_lock(&timeline->mutex);
  if (timeline->running) tb__running_halt_locked(timeline);
  timeline->elapsed_frozen = tb__timeline_elapsed_locked(timeline);
  timeline->time_ns = 0;
  timeline->state = TB_CLOCK_WAITING;
  timeline->meter = (tb__rate_meter_t){.moving_rate = timeline->meter.moving_rate};
  atomic_store_explicit(&timeline->liveness.moved_ns, 0, memory_order_relaxed);
  atomic_store_explicit(&timeline->liveness.repeated_ns, 0, memory_order_relaxed);
  tb__timeline_publish_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

void tb__timeline_set_detached(tb_timeline_t *timeline, bool detached)
{
  tb__mutex_lock(&timeline->mutex);
  timeline->detached = detached;
  tb__mutex_unlock(&timeline->mutex);
}

bool tb__timeline_first_deadline_locked(tb_timeline_t *timeline, int64_t *out_ns)
{
  bool found = false;
  int64_t earliest = INT64_MAX;
  tb__deadline_heap_t *heaps = timeline->waiters.heaps;
  const tb__waiter_t *by_time = tb__deadline_heap_first(&heaps[TB__AXIS_TIME]);
  const tb__waiter_t *by_elapsed = tb__deadline_heap_first(&heaps[TB__AXIS_ELAPSED]);
  if (by_time) {
    earliest = (int64_t)by_time->deadline;
    found = true;
  }
  if (by_elapsed) {
    uint64_t remaining = by_elapsed->deadline - tb__timeline_elapsed_locked(timeline);
    int64_t when, now_ns = tb__timeline_time_locked(timeline);
    if (!__builtin_add_overflow(now_ns, (int64_t)remaining, &when) && when <= earliest) {
      earliest = when;
      found = true;
    }
  }
  if (found) *out_ns = earliest;
  return found;
}

bool tb__timeline_next_deadline_locked(tb_timeline_t *timeline, int64_t *out_ns)
{
  if (!tb__timeline_first_deadline_locked(timeline, out_ns)) return false;
  int64_t now_ns = tb__timeline_time_locked(timeline);
  if (*out_ns <= now_ns) *out_ns = now_ns + 1; /* due at the first tick */
  return true;
}

bool tb__timeline_next_deadline(tb_timeline_t *timeline, int64_t *out_ns)
{
  timeline = tb__timeline_target(timeline);
  tb__mutex_lock(&timeline->mutex);
  bool found = tb__timeline_next_deadline_locked(timeline, out_ns);
  tb__mutex_unlock(&timeline->mutex);
  return found;
}
