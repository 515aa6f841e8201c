/* All queues of the process, and who drives them. */
#include "base/list.h"
#include "wait/timer_queue.h"

_Thread_local tb_timer_queue_t *tb__queue_of_thread;

static tb__mutex_t list_mutex = TB__MUTEX_INIT; /* nothing is locked under it */
static tb_timer_queue_t *queues;                /* the latest first */
static uint64_t last_id;

uint64_t tb__thread_number(void)
{
  static _Atomic uint64_t last;
  static _Thread_local uint64_t mine;
  if (!mine) mine = atomic_fetch_add(&last, 1) + 1;
  return mine;
}

void tb__timer_queue_list(tb_timer_queue_t *queue)
{
  atomic_store(&queue->driver, tb__thread_number());
  tb__mutex_lock(&list_mutex);
  queue->id = ++last_id;
  TB__LIST_PUSH(queues, queue);
  tb__mutex_unlock(&list_mutex);
}

void tb__timer_queue_unlist(tb_timer_queue_t *queue)
{
  tb__mutex_lock(&list_mutex);
  TB__LIST_REMOVE(queues, queue);
  tb__mutex_unlock(&list_mutex);
}

void tb__timer_queue_callback_blocks(tb_timer_queue_t *queue)
{
  for (; queue; queue = queue->outer) {
    for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
      tb_timeline_t *timeline;
      tb__clock_lock(lane->clock, &timeline);
      tb__lane_inflight_end_locked(lane);
      tb__poll_alarm_quiesce(&lane->alarm);
      tb__clock_unlock(timeline);
    }
  }
}

static bool has_timers_on(tb_timer_queue_t *queue, const tb_timeline_t *wanted)
{
  for (const tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    const tb_timeline_t *timeline = tb__clock_timeline(lane->clock);
    if (wanted ? timeline == wanted : timeline->kind != TB__TIMELINE_ROS) return true;
  }
  return false;
}

/* The oldest one younger than `id` that this thread drives. Nobody else may destroy it. */
static tb_timer_queue_t *next_own(uint64_t id, const tb_timeline_t *timeline)
{
  tb_timer_queue_t *found = NULL;
  tb__mutex_lock(&list_mutex);
  for (tb_timer_queue_t *queue = queues; queue && queue->id > id; queue = queue->next)
    if (atomic_load(&queue->driver) == tb__thread_number() && !atomic_load(&queue->thread_active) &&
        has_timers_on(queue, timeline))
      found = queue;
  tb__mutex_unlock(&list_mutex);
  return found;
}

void tb__timer_queues_run_own(const tb_timeline_t *timeline)
{
  uint64_t id = 0;
  tb_timer_queue_t *queue;
  while ((queue = next_own(id, timeline))) {
    id = queue->id;
    tb_timer_queue_run_due(queue, NULL); /* busy: somebody else has come to drive it */
  }
}

bool tb__timer_queues_call_here(const tb_timeline_t *timeline)
{
  for (tb_timer_queue_t *queue = tb__queue_of_thread; queue; queue = queue->outer)
    if (has_timers_on(queue, timeline)) return true;
  return false;
}
