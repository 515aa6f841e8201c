#include "clock/timeline_check.h"

#include "clock/clock.h"
#include "clock/handler.h"

/* What readers see is what has been committed. */
static const char *check_slot(const tb_timeline_t *timeline, uint64_t version)
{
  const tb__slot_t *slot = &timeline->slots[tb__version_slot(version)];
  if (timeline->kind != TB__TIMELINE_ROS) return NULL; /* read elsewhere */
  if (atomic_load(&slot->time_ns) != timeline->time_ns)
    return "timeline: the current slot has another time than the committed one";
  if (atomic_load(&slot->epoch) != timeline->epoch)
    return "timeline: the current slot has another epoch than the committed one";
  if (atomic_load(&slot->state) != (uint32_t)timeline->state)
    return "timeline: the current slot has another state than the committed one";
  return NULL;
}

static const char *check_running(const tb_timeline_t *timeline, uint64_t version)
{
  const tb__linear_slot_t *slot = &timeline->linear_slots[tb__version_slot(version)];
  const tb__linear_time_t *linear = &timeline->linear;
  if (!(version & TB__VERSION_RUNNING) != !timeline->running)
    return "timeline: the version and `running` disagree";
  if (version & TB__VERSION_HALTING) return "timeline: a halt was not finished";
  if (!timeline->running) return NULL;
  if (atomic_load(&slot->time_ns) != linear->time_ns ||
      atomic_load(&slot->steady_ns) != linear->steady_ns ||
      atomic_load(&slot->until_ns) != linear->until_ns || atomic_load(&slot->rate) != linear->rate)
    return "timeline: the current slot has another linear time than the committed one";
  if (!(linear->rate > 0) || linear->until_ns < linear->time_ns)
    return "timeline: it runs on a linear time that is not valid";
  if (!timeline->wakeup_thread.exists) return "timeline: it runs without a wake-up thread";
  return NULL;
}

static const char *check_turn(const tb_timeline_t *timeline, uint64_t version)
{
  uint32_t waiting = timeline->turn_next - atomic_load(&timeline->turn_serving);
  if (waiting > UINT32_MAX / 2) return "timeline: a turn has ended without being taken";
  if (timeline->jump && waiting == 0) return "timeline: a jump is in progress without the turn";
  if (timeline->unsettled && !timeline->jump) return "timeline: it is unsettled without a jump";
  if (timeline->announced && !(version & TB__VERSION_BLOCKED) &&
      !atomic_load(&timeline->readers_never_block))
    return "timeline: a tick is announced, and readers are not blocked";
  if ((version & TB__VERSION_BLOCKED) && !timeline->announced && !timeline->jump)
    return "timeline: readers are blocked without a jump";
  return NULL;
}

static const char *check_clock(const tb_timeline_t *timeline, const tb_clock_t *clock)
{
  return tb__clock_timeline(clock) == timeline
             ? NULL
             : "timeline: a waiter or handler belongs to a clock on another timeline";
}

typedef struct place {
  const tb_timeline_t *timeline;
  tb__wait_axis_t axis;
} place_t;

static const char *check_queued(const tb__waiter_t *waiter, const void *user)
{
  const place_t *place = user;
  if (!waiter->queued) return "timeline: a waiter in a heap is not marked as queued";
  if (waiter->axis != place->axis) return "timeline: a waiter is in the heap of the other axis";
  return check_clock(place->timeline, waiter->clock);
}

static const char *check_watchers(const tb_timeline_t *timeline, const tb__waiter_t *first,
                                  bool for_states)
{
  const tb__waiter_t *previous = NULL;
  for (const tb__waiter_t *waiter = first; waiter; waiter = waiter->watch_next) {
    if (waiter->watch_previous != previous) return "timeline: the list of watchers is broken";
    if (!waiter->watching) return "timeline: a listed watcher is not marked as watching";
    if (!waiter->ops->visible_changed == for_states)
      return "timeline: a watcher is on the wrong one of the two lists";
    if (waiter->forward_min < timeline->waiters.watch_min_forward)
      return "timeline: watch_min_forward is above that of a watcher";
    const char *wrong = check_clock(timeline, waiter->clock);
    if (wrong) return wrong;
    previous = waiter;
  }
  return NULL;
}

static const char *check_waiters(const tb_timeline_t *timeline)
{
  const char *wrong = NULL;
  for (tb__wait_axis_t axis = 0; axis < TB__AXES && !wrong; axis++) {
    place_t place = {timeline, axis};
    wrong = tb__deadline_heap_check(&timeline->waiters.heaps[axis], check_queued, &place);
  }
  if (!wrong) wrong = check_watchers(timeline, timeline->waiters.watchers, false);
  return wrong ? wrong : check_watchers(timeline, timeline->waiters.states, true);
}

static const char *check_handlers(const tb_timeline_t *timeline)
{
  const tb__handlers_t *handlers = &timeline->handlers;
  const struct tb_jump_handler *previous = NULL;
  uint32_t forward = 0;
  for (const struct tb_jump_handler *handler = handlers->first; handler; handler = handler->next) {
    int64_t min_forward = handler->threshold.min_forward.ns;
    if (handler->previous != previous || !handler->linked || handler->detached)
      return "timeline: the list of handlers is broken";
    if (previous && previous->sequence >= handler->sequence)
      return "timeline: handlers are not in order of registration";
    if (min_forward > 0) forward++;
    if (min_forward > 0 && min_forward < handlers->min_forward)
      return "timeline: min_forward is above that of a handler";
    const char *wrong = check_clock(timeline, handler->clock);
    if (wrong) return wrong;
    previous = handler;
  }
  if (handlers->last != previous) return "timeline: the list of handlers ends elsewhere";
  return forward == handlers->forward ? NULL
                                      : "timeline: the count of handlers with a forward threshold "
                                        "is wrong";
}

const char *tb__timeline_check_locked(const tb_timeline_t *timeline)
{
  uint64_t version = atomic_load(&timeline->version);
  const char *wrong = check_slot(timeline, version);
  if (!wrong) wrong = check_running(timeline, version);
  if (!wrong) wrong = check_turn(timeline, version);
  if (!wrong) wrong = check_waiters(timeline);
  return wrong ? wrong : check_handlers(timeline);
}
