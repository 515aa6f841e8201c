/* The queue object, the list of all queues of the process, and which thread drives each. */
#include "wait/timer_queue.h"

#include <stdlib.h>

#include "base/list.h"

static tb__mutex_t list_mutex = TB__MUTEX_INIT; /* nothing is locked under it */
static tb_timer_queue_t *queues;                /* the newest first */
static uint64_t last_id;

uint64_t tb__thread_number(void)
{
  static _Atomic uint64_t last;
  static _Thread_local uint64_t mine;
  if (!mine) mine = atomic_fetch_add(&last, 1) + 1;
  return mine;
}

static void list_add(tb_timer_queue_t *queue)
{
  atomic_store(&queue->driver, tb__thread_number());
  tb__mutex_lock(&list_mutex);
  queue->id = ++last_id;
  TB__LIST_PUSH(queues, queue);
  tb__mutex_unlock(&list_mutex);
}

static void list_remove(tb_timer_queue_t *queue)
{
  tb__mutex_lock(&list_mutex);
  TB__LIST_REMOVE(queues, queue);
  tb__mutex_unlock(&list_mutex);
}

tb_status_t tb_timer_queue_create(tb_timer_queue_t **out)
{
  if (!out) return TB_ERR_INVALID;
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_timer_queue_t *queue = calloc(1, sizeof *queue);
  if (!queue) return TB_ERR_NO_MEMORY;
  status = tb__poll_set_init(&queue->poll);
  if (status) {
    free(queue);
    return status;
  }
  tb__mutex_init(&queue->mutex);
  list_add(queue);
  *out = queue;
  return TB_OK;
}

tb_status_t tb_timer_queue_destroy(tb_timer_queue_t *queue)
{
  return tb_timer_queue_destroy_within(queue, TB_NO_LIMIT);
}

tb_status_t tb_timer_queue_destroy_within(tb_timer_queue_t *queue, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  if (status || !queue) return status;
  if (tb__timer_queue_hook_is_here(queue)) return TB_ERR_DEADLOCK;
  status = tb__timer_queue_stop_thread(queue, deadline);
  if (status && status != TB_ERR_FORKED) return status; /* in a child there is no thread */
  list_remove(queue);
  for (tb__lane_t *lane = atomic_load(&queue->lanes), *next; lane; lane = next) {
    next = lane->next;
    tb__lane_destroy(lane);
  }
  tb__poll_set_fini(&queue->poll);
  tb__mutex_fini(&queue->mutex);
  free(queue);
  return TB_OK;
}

int tb_timer_queue_fd(const tb_timer_queue_t *queue)
{
  return queue ? queue->poll.epoll_fd : -1;
}

void tb__timer_queue_signal(tb_timer_queue_t *queue)
{
  if (!atomic_exchange(&queue->signalled, true)) tb__poll_set_raise(&queue->poll);
}

static bool has_timers_on(tb_timer_queue_t *queue, const tb_timeline_t *wanted)
{
  for (const tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    const tb_timeline_t *timeline = tb__clock_timeline(lane->clock);
    if (wanted ? timeline == wanted : timeline->kind != TB__TIMELINE_ROS) return true;
  }
  return false;
}

/* The oldest queue made after `id` that this thread drives. No other thread may destroy it. */
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
    tb_timer_queue_run_due(queue, NULL); /* TB_ERR_BUSY: another thread drives it now */
  }
}

bool tb__timer_queues_call_here(const tb_timeline_t *timeline)
{
  for (tb_timer_queue_t *queue = tb__queue_of_thread; queue; queue = queue->outer)
    if (has_timers_on(queue, timeline)) return true;
  return false;
}
