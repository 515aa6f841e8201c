#include <stdlib.h>

#include "clock/step.h"
#include "platform/poll_set.h"
#include "wait/timer_queue.h"

/* Counts the lane's due calls as in flight until they have been made, for calls that move time and
 * wait for what they made due (X2). */
static void lane_inflight_begin(tb__lane_t *lane, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  tb__inflight_t *inflight = tb__timeline_inflight_locked(timeline);
  if (lane->inflight) {
    tb__inflight_notify(lane->inflight); /* for the next run, when this one ends */
  } else if (inflight) {
    lane->inflight = inflight;
    tb__inflight_begin(lane->inflight);
  }
}

void tb__lane_inflight_end_locked(tb__lane_t *lane)
{
  if (lane->inflight) tb__inflight_end(lane->inflight);
  lane->inflight = NULL;
}

static void alarm_set(tb__lane_t *lane, int64_t when_ns)
{
  if (lane->alarm_ns == when_ns) return;
  lane->alarm_ns = when_ns;
  tb__poll_alarm_set(&lane->alarm, when_ns);
}

void tb__lane_rearm_locked(tb__lane_t *lane, tb_timeline_t *timeline)
{
  if (lane->closed || lane->in_run) return;
  const tb__heap_entry_t *first = tb__lane_first_locked(lane);
  int64_t deadline_ns =
      first && first->key != INT64_MAX ? tb__add_saturated(first->key, lane->offset_ns) : INT64_MAX;
  if (timeline->kind != TB__TIMELINE_ROS) {
    alarm_set(lane, deadline_ns);
    tb__lane_inflight_end_locked(lane);
    return;
  }
  alarm_set(lane, INT64_MAX);
  uint64_t deadline = deadline_ns > 0 ? (uint64_t)deadline_ns : 0;
  if (lane->waiter.queued && lane->waiter.deadline == deadline) return;
  tb__waiter_unqueue_locked(timeline, &lane->waiter);
  lane->waiter.deadline = deadline;
  bool never = deadline_ns == INT64_MAX;
  if (!never && timeline->time_ns != 0 && deadline_ns <= tb__timeline_time_locked(timeline)) {
    /* one without a period is due after each run: no caller can wait for that */
    const tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(first));
    if (timer->period_ns || timer->mode != TB_TIMER_PERIODIC) lane_inflight_begin(lane, timeline);
    tb__timer_queue_signal(lane->queue);
    return;
  }
  if (!never) tb__waiter_queue_locked(timeline, &lane->waiter);
  tb__lane_inflight_end_locked(lane);
}

/* The waiter stays out of the heap until run_due, which sets the next deadline when it ends. */
static bool lane_due(tb__waiter_t *waiter)
{
  tb__lane_t *lane = (tb__lane_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  lane_inflight_begin(lane, timeline);
  tb__timer_queue_signal(lane->queue);
  return false;
}

#define OFFSET_MAX (INT64_C(1) << 61) /* so that a time minus the offset never overflows */

static int64_t key_fold(int64_t key, __int128 by)
{
  if (key == INT64_MAX) return key; /* never */
  __int128 sum = key + by;
  return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* M4, a clock change between two started sources: shifts all deadlines, so that the part still to
 * wait is kept. By the offset or, when that becomes too large, one by one. */
static void lane_shift(tb__lane_t *lane, int64_t by_ns)
{
  __int128 offset = (__int128)lane->offset_ns + by_ns;
  if (offset <= OFFSET_MAX && offset >= -OFFSET_MAX) {
    lane->offset_ns = (int64_t)offset;
    return;
  }
  for (uint32_t i = 0; i < lane->heap.size; i++) {
    tb__heap_entry_t *entry = &lane->heap.entries[i];
    tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(entry));
    entry->key = key_fold(timer->woken ? entry->key : timer->key, offset);
    timer->key = key_fold(timer->key, offset);
    timer->last_key = key_fold(timer->last_key, offset);
  }
  lane->horizon_key = key_fold(lane->horizon_key, offset);
  lane->offset_ns = 0;
  tb__heap_rebuild(&lane->heap);
}

/* S2, M4, a backward jump of the timeline: timers whose last call is now in the future start again
 * from the new time; those with a given time keep it. */
static void lane_time_set_back(tb__lane_t *lane, int64_t now_ns)
{
  int64_t now_key = tb__add_saturated(now_ns, -lane->offset_ns);
  for (uint32_t i = 0; i < lane->heap.size; i++) {
    tb__heap_entry_t *entry = &lane->heap.entries[i];
    tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(entry));
    bool starts_again = timer->mode != TB_TIMER_ONE_SHOT_AT && now_key < timer->last_key;
    if (starts_again) timer->last_key = now_key;
    if (starts_again) timer->key = tb__add_saturated(now_key, timer->period_ns);
    bool still_due = timer->woken && timer->key <= now_key;
    if (!still_due && (starts_again || timer->woken)) {
      timer->woken = timer->wakes = false; /* it is woken again */
      entry->key = timer->key;
    }
  }
  tb__heap_rebuild(&lane->heap);
}

/* M4, the first tick, or a clock change away from a source that has not started: the timers have
 * waited for a start. Delays and periods count from here, by the offset; given times stay as they
 * are. */
static void lane_source_started(tb__lane_t *lane, int64_t now_ns)
{
  lane_shift(lane, now_ns);
  if (!lane->timers_at) return;
  for (uint32_t i = 0; i < lane->heap.size; i++) {
    tb__heap_entry_t *entry = &lane->heap.entries[i];
    tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(entry));
    if (timer->mode != TB_TIMER_ONE_SHOT_AT) continue;
    if (!timer->awaits_start && !timer->woken && timer->key != INT64_MAX)
      entry->key = timer->key = tb__add_saturated(timer->key, -now_ns);
    timer->awaits_start = false;
  }
  tb__heap_rebuild(&lane->heap);
}

/* M4, a clock change to a source that has not started: what is left of a wait for a given time
 * counts from the first tick too. */
static void lane_source_ended(tb__lane_t *lane)
{
  for (uint32_t i = 0; lane->timers_at && i < lane->heap.size; i++)
    tb__lane_timer(lane, tb__heap_id(&lane->heap.entries[i]))->awaits_start = true;
}

static bool lane_jumped(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  tb__lane_t *lane = (tb__lane_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  if (jump->kind != TB_JUMP_STARTED && jump->kind != TB_JUMP_BACKWARD) return false;
  tb__lane_admit_deferred_locked(lane);
  if (jump->kind == TB_JUMP_STARTED)
    lane_source_started(lane, jump->after.ns);
  else
    lane_time_set_back(lane, jump->after.ns);
  tb__lane_rearm_locked(lane, timeline);
  return false;
}

static bool lane_moved(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  tb__lane_t *lane = (tb__lane_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  tb__lane_admit_deferred_locked(lane);
  if (jump->before.ns == 0) {
    if (jump->after.ns != 0) lane_source_started(lane, jump->after.ns);
  } else {
    lane_shift(lane, jump->after.ns - jump->before.ns);
    if (jump->after.ns == 0) lane_source_ended(lane);
  }
  tb__lane_rearm_locked(lane, timeline);
  return false;
}

static bool lane_closed(tb__waiter_t *waiter)
{
  tb__lane_t *lane = (tb__lane_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  tb__lane_admit_deferred_locked(lane);
  while (lane->heap.size) {
    tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(&lane->heap.entries[lane->heap.size - 1]));
    tb__timer_leave_in_heap_locked(timer);
    tb__lane_reposition_locked(lane, timer);
  }
  lane->alarm_ns = INT64_MAX;
  tb__poll_alarm_fini(&lane->alarm);
  tb__lane_inflight_end_locked(lane);
  atomic_store(&lane->closed, true);
  tb__clock_remove_waiter_locked(waiter->clock, timeline, waiter);
  return false;
}

static const tb__waiter_ops_t lane_ops = {
    .due = lane_due,
    .jumped = lane_jumped,
    .moved = lane_moved,
    .closed = lane_closed,
};

static tb_status_t lane_create(tb_timer_queue_t *queue, tb_clock_t *clock, tb__lane_t **out)
{
  tb__lane_t *lane = calloc(1, sizeof *lane);
  if (!lane) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__poll_alarm_init(&lane->alarm, &queue->poll, clock->kind != 0);
  if (status) {
    free(lane);
    return status;
  }
  lane->waiter.ops = &lane_ops;
  lane->waiter.axis = TB__AXIS_TIME;
  lane->waiter.forward_min = INT64_MAX;
  lane->queue = queue;
  lane->clock = clock;
  lane->alarm_ns = INT64_MAX;
  lane->first_free = lane->first_deferred = lane->last_deferred = TB__NO_TIMER;
  tb__clock_ref(clock);
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  bool closed = clock->closed;
  atomic_init(&lane->closed, closed);
  if (!closed) {
    tb__clock_add_waiter_locked(clock, &lane->waiter);
    tb__waiter_watch_locked(timeline, &lane->waiter);
  }
  tb__clock_unlock(timeline);
  *out = lane;
  return TB_OK;
}

tb__lane_t *tb__lane_find(tb_timer_queue_t *queue, const tb_clock_t *clock)
{
  tb__lane_t *lane = atomic_load(&queue->lanes);
  while (lane && lane->clock != clock)
    lane = lane->next;
  return lane;
}

tb_status_t tb__lane_get(tb_timer_queue_t *queue, tb_clock_t *clock, tb__lane_t **out)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&queue->mutex);
  tb__lane_t *lane = tb__lane_find(queue, clock);
  if (!lane) {
    status = lane_create(queue, clock, &lane);
    if (!status) {
      lane->next = atomic_load(&queue->lanes);
      atomic_store(&queue->lanes, lane);
    }
  }
  tb__mutex_unlock(&queue->mutex);
  tb__steps_watch();
  if (!status) *out = lane;
  return status;
}

void tb__lane_destroy(tb__lane_t *lane)
{
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  if (!lane->closed && !tb__is_forked())
    tb__clock_remove_waiter_locked(lane->clock, timeline, &lane->waiter);
  tb__lane_inflight_end_locked(lane);
  tb__clock_unlock(timeline);
  tb__lane_free_ids(lane);
  free(lane->to_wake);
  tb__heap_fini(&lane->heap);
  tb__poll_alarm_fini(&lane->alarm);
  tb__clock_unref(lane->clock);
  free(lane);
}
