/* The waiters of a timeline, and those that a move of it concerns. */
#include "base/assert.h"
#include "base/fork.h"
#include "base/list.h"
#include "clock/running.h"
#include "clock/step.h"
#include "clock/timeline.h"
#include "clock/try_tick.h"

static void list_wake(tb__waiter_t *waiter, tb__waiter_t **to_wake)
{
  waiter->wake_next = *to_wake;
  *to_wake = waiter;
}

/* The time at which the waiter is due. While the timeline has not started nothing is: the start is
 * a jump. */
static int64_t due_time_locked(const tb_timeline_t *timeline, const tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex)
{
  if (waiter->axis == TB__AXIS_TIME) return (int64_t)waiter->deadline;
  if (timeline->time_ns == 0) return TB__WISH_NONE;
  int64_t now_ns = tb__timeline_time_locked(timeline), due_ns;
  uint64_t elapsed = (uint64_t)now_ns - timeline->elapsed_offset;
  int64_t remaining_ns = (int64_t)(waiter->deadline - elapsed);
  return __builtin_add_overflow(now_ns, remaining_ns, &due_ns) ? TB__WISH_NONE : due_ns;
}

void tb__waiter_queue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
{
  tb__deadline_heap_t *heap = &timeline->waiters.heaps[waiter->axis];
  TB__ASSERT(!waiter->queued);
  tb__deadline_heap_insert(heap, waiter);
  waiter->queued = true;
  if (timeline->running && heap->root == waiter) tb__running_deadline_changed_locked(timeline);
  if (timeline->view) tb__timeline_want_time_locked(timeline, due_time_locked(timeline, waiter));
}

void tb__waiter_unqueue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
{
  if (!waiter->queued) return;
  tb__deadline_heap_remove(&timeline->waiters.heaps[waiter->axis], waiter);
  waiter->queued = false;
}

static tb__waiter_t **watch_list(tb_timeline_t *timeline, const tb__waiter_t *waiter)
{
  return waiter->ops->visible_changed ? &timeline->waiters.states : &timeline->waiters.watchers;
}

void tb__waiter_watch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
{
  tb__waiters_t *waiters = &timeline->waiters;
  tb__waiter_t **list = watch_list(timeline, waiter);
  TB__ASSERT(!waiter->watching);
  TB__LIST_PUSH_BY(*list, waiter, watch_next, watch_previous);
  waiter->watching = true;
  if (waiter->forward_min != INT64_MAX) tb__timeline_want_time_locked(timeline, TB__WISH_EACH_TICK);
  if (waiter->forward_min < waiters->watch_min_forward)
    waiters->watch_min_forward = waiter->forward_min;
  tb__steps_need_locked(timeline);
}

void tb__waiter_unwatch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
{
  if (!waiter->watching) return;
  TB__LIST_REMOVE_BY(*watch_list(timeline, waiter), waiter, watch_next, watch_previous);
  waiter->watching = false;
  if (!timeline->waiters.watchers && !timeline->waiters.states)
    timeline->waiters.watch_min_forward = INT64_MAX;
  tb__steps_release_locked(timeline);
}

static void collect_due_on_axis(tb_timeline_t *timeline, tb__wait_axis_t axis, uint64_t now,
                                tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex)
{
  /* S7: the due waiters and no others */
  tb__deadline_heap_t *heap = &timeline->waiters.heaps[axis];
  while (tb__deadline_heap_may_be_due(heap, now)) {
    tb__waiter_t *first = tb__deadline_heap_first(heap);
    if (tb__deadline_before(now, first->deadline)) break;
    tb__deadline_heap_take_first(heap);
    first->queued = false;
    if (first->ops->due(first)) list_wake(first, to_wake);
  }
}

void tb__waiters_collect_due_locked(tb_timeline_t *timeline, tb__waiter_t **to_wake)
{
  if (timeline->kind != TB__TIMELINE_ROS || timeline->time_ns == 0) return;
  uint64_t now = (uint64_t)tb__timeline_time_locked(timeline);
  collect_due_on_axis(timeline, TB__AXIS_TIME, now, to_wake);
  collect_due_on_axis(timeline, TB__AXIS_ELAPSED, now - timeline->elapsed_offset, to_wake);
}

void tb__waiters_collect_jumped_locked(tb_timeline_t *timeline, const tb_jump_t *jump,
                                       tb__waiter_t **to_wake)
{
  int64_t min_forward = INT64_MAX;
  for (tb__waiter_t *waiter = timeline->waiters.watchers, *next; waiter; waiter = next) {
    next = waiter->watch_next;
    if (waiter->ops->jumped(waiter, jump))
      list_wake(waiter, to_wake);
    else if (waiter->forward_min < min_forward)
      min_forward = waiter->forward_min;
  }
  for (const tb__waiter_t *waiter = timeline->waiters.states; waiter; waiter = waiter->watch_next)
    if (waiter->forward_min < min_forward) min_forward = waiter->forward_min;
  timeline->waiters.watch_min_forward = min_forward;
}

void tb__waiters_report_state_locked(tb_timeline_t *timeline)
{
  tb__visible_state_t visible;
  tb__waiter_t *waiter = timeline->waiters.states;
  if (!waiter || !tb__timeline_visible_state_locked(timeline, &visible)) return;
  for (tb__waiter_t *next; waiter; waiter = next) {
    next = waiter->watch_next;
    if (waiter->ops->visible_changed(waiter, &visible)) waiter->ops->wake(waiter);
  }
}

void tb__waiters_wake(tb__waiter_t *to_wake)
{
  while (to_wake && !tb__is_forked()) {
    tb__waiter_t *next = to_wake->wake_next;
    to_wake->ops->wake(to_wake);
    to_wake = next;
  }
}

void tb__waiters_wake_and_settle(tb_timeline_t *timeline, tb__waiter_t *to_wake)
{
  tb__waiters_wake(to_wake);
  tb__mutex_lock(&timeline->mutex);
  for (int axis = 0; axis < TB__AXES && !tb__is_forked(); axis++)
    tb__deadline_heap_settle(&timeline->waiters.heaps[axis]);
  tb__mutex_unlock(&timeline->mutex);
  tb__timeline_unref(timeline);
}

/* While the turn is taken, the thread that has it does this: every move wakes all waiters that are
 * due. */
void tb__timeline_wake_due(tb_timeline_t *timeline)
{
  tb__waiter_t *to_wake = NULL;
  if (tb__is_forked()) return;
  tb__mutex_lock(&timeline->mutex);
  if (timeline->turn_next == atomic_load(&timeline->turn_serving))
    tb__waiters_collect_due_locked(timeline, &to_wake);
  if (to_wake) tb__timeline_ref(timeline);
  tb__mutex_unlock(&timeline->mutex);
  if (to_wake) tb__waiters_wake_and_settle(timeline, to_wake);
}
