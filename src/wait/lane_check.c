#include "wait/lane_check.h"

#define ARITY TB__HEAP_SECONDS /* the children of the first entry are its seconds */

static bool entry_precedes(const tb__heap_entry_t *a, const tb__heap_entry_t *b)
{
  return a->key < b->key || (a->key == b->key && a->rank < b->rank);
}

static const char *check_entry(const tb__lane_t *lane, uint32_t index)
{
  const tb__heap_entry_t *entry = &lane->heap.entries[index];
  uint32_t id = tb__heap_id(entry);
  if (id >= lane->used_ids) return "lane: the heap has an id that was never used";
  const tb_timer_t *timer = tb__lane_timer(lane, id);
  if (lane->heap.where[id] != index) return "lane: a timer does not know its place in the heap";
  if (index > 0 && entry_precedes(entry, &lane->heap.entries[(index - 1) / ARITY]))
    return "lane: an entry of the heap precedes its parent";
  if (timer->lane != lane) return "lane: the heap has a timer of another lane";
  if (!timer->in_heap) return "lane: a timer has a place in the heap and is marked as without";
  if (timer->due_later && entry->key > timer->key)
    return "lane: a stale place is later than the deadline of its timer";
  if (timer->woken && (tb__timer_is_stale(timer) || !timer->passive || entry->key < timer->key))
    return "lane: a woken timer is stale, not passive, or has a place before its deadline";
  if (!tb__timer_is_stale(timer) && !timer->woken && entry->key != timer->key)
    return "lane: a place that is not stale is not that of the deadline";
  return NULL;
}

/* Also gives the earliest deadline of a timer that is queued, as a key. */
static const char *check_heap(const tb__lane_t *lane, int64_t *out_first_key)
{
  uint32_t stale = 0;
  *out_first_key = INT64_MAX;
  for (uint32_t i = 0; i < lane->heap.size; i++) {
    const char *wrong = check_entry(lane, i);
    if (wrong) return wrong;
    const tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(&lane->heap.entries[i]));
    stale += tb__timer_is_stale(timer);
    int64_t key = timer->woken ? lane->heap.entries[i].key : timer->key;
    if (!timer->stopped_in_heap && key < *out_first_key) *out_first_key = key;
  }
  return stale == lane->stale ? NULL : "lane: the count of stale places is wrong";
}

static const char *check_deferred(const tb__lane_t *lane)
{
  uint32_t previous = TB__NO_TIMER, count = 0;
  for (uint32_t id = lane->first_deferred; id != TB__NO_TIMER;) {
    const tb__timer_cold_t *cold = tb__lane_cold(lane, id);
    const tb_timer_t *timer = tb__lane_timer(lane, id);
    if (++count > lane->used_ids) return "lane: the list of deferred timers is a circle";
    if (cold->previous != previous) return "lane: the list of deferred timers is broken";
    if (!timer->deferred) return "lane: a timer on the list of deferred ones is not marked so";
    if (tb__timer_is_queued(timer)) return "lane: a deferred timer is queued, too";
    if (cold->deferred_key > lane->horizon_key)
      return "lane: a timer is deferred that is not due in this run";
    previous = id;
    id = cold->next;
  }
  if (lane->last_deferred != previous) return "lane: the list of deferred timers is broken";
  return count && !lane->in_run ? "lane: a timer is deferred without a run" : NULL;
}

static const char *check_alarm(const tb__lane_t *lane, const tb_timeline_t *timeline,
                               int64_t deadline_ns)
{
  if (timeline->kind == TB__TIMELINE_ROS)
    return lane->alarm_ns == INT64_MAX ? NULL : "lane: an alarm is set on a timeline with a source";
  if (lane->waiter.queued) return "lane: it waits on a timeline that no source moves";
  return lane->alarm_ns == deadline_ns ? NULL : "lane: the alarm is not at the earliest deadline";
}

/* A lane that is not queued has been found due, or has nothing to wait for. */
static const char *check_waiter(const tb__lane_t *lane, const tb_timeline_t *timeline,
                                int64_t first_key) TB_REQUIRES(timeline->mutex)
{
  if (lane->in_run || timeline->unsettled) return NULL;
  int64_t deadline_ns =
      first_key == INT64_MAX ? INT64_MAX : tb__add_saturated(first_key, lane->offset_ns);
  const char *wrong = check_alarm(lane, timeline, deadline_ns);
  if (wrong || timeline->kind != TB__TIMELINE_ROS) return wrong;
  if (lane->waiter.queued)
    return lane->waiter.deadline == (deadline_ns > 0 ? (uint64_t)deadline_ns : 0)
               ? NULL
               : "lane: it waits for another time than its earliest deadline";
  if (deadline_ns == INT64_MAX) return NULL;
  return timeline->time_ns != 0 && deadline_ns <= tb__timeline_time_locked(timeline)
             ? NULL
             : "lane: it has a deadline that is not due and does not wait for it";
}

const char *tb__lane_check_locked(const tb__lane_t *lane, const tb_timeline_t *timeline)
{
  int64_t first_key;
  const char *wrong = check_heap(lane, &first_key);
  if (!wrong) wrong = check_deferred(lane);
  if (wrong) return wrong;
  if (lane->closed) return lane->heap.size ? "lane: its clock was destroyed, and timers run" : NULL;
  return check_waiter(lane, timeline, first_key);
}

const char *tb__timer_queue_check(const tb_timer_queue_t *queue)
{
  const char *wrong = NULL;
  for (const tb__lane_t *lane = atomic_load(&queue->lanes); lane && !wrong; lane = lane->next) {
    tb_timeline_t *timeline;
    tb__clock_lock(lane->clock, &timeline);
    wrong = tb__lane_check_locked(lane, timeline);
    tb__clock_unlock(timeline);
  }
  return wrong;
}
