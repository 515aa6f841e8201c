#include "wait/timer_queue.h"

#include <pthread.h>
#include <stdlib.h>

static uintptr_t this_thread(void)
{
  return (uintptr_t)pthread_self();
}

tb_status_t tb_timer_queue_create(tb_timer_queue_t **out)
{
  if (!out) return TB_ERR_INVALID;
  tb_timer_queue_t *queue = calloc(1, sizeof *queue);
  if (!queue) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__poll_set_init(&queue->poll);
  if (status) {
    free(queue);
    return status;
  }
  tb__mutex_init(&queue->mutex);
  *out = queue;
  return TB_OK;
}

static bool runs_here(const tb_timer_queue_t *queue)
{
  return atomic_load(&queue->running) && atomic_load(&queue->runner) == this_thread();
}

tb_status_t tb_timer_queue_destroy(tb_timer_queue_t *queue)
{
  if (!queue) return TB_OK;
  if (tb__jump_of_thread || runs_here(queue)) return TB_ERR_DEADLOCK;
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

/* What a call of a timer needs once the lock is gone. */
typedef struct call {
  tb_timer_t *timer;
  int64_t scheduled_ns, actual_ns;
  uint64_t missed, epoch;
} call_t;

/* The earliest deadline that is due now and was due when run_due began. */
static bool lane_due_key(const tb__lane_t *lane, const tb_timeline_t *timeline, int64_t *out_key)
    TB_REQUIRES(timeline->mutex);
static bool lane_due_key(const tb__lane_t *lane, const tb_timeline_t *timeline, int64_t *out_key)
{
  int64_t now_key, now_ns;
  const tb__heap_entry_t *first = tb__heap_min(&lane->heap);
  if (!first || first->key == INT64_MAX || first->key > lane->horizon_key) return false;
  if (!tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns) || first->key > now_key)
    return false;
  *out_key = first->key;
  return true;
}

/* Takes the first due timer and sets its next deadline: the first one after now. */
static void call_take(tb__lane_t *lane, const tb_timeline_t *timeline, call_t *call)
    TB_REQUIRES(timeline->mutex);
static void call_take(tb__lane_t *lane, const tb_timeline_t *timeline, call_t *call)
{
  int64_t now_key, now_ns, next_key, passed;
  tb__heap_entry_t first = *tb__heap_min(&lane->heap);
  tb_timer_t *timer = lane->timers[first.id];
  tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns);
  call->timer = timer;
  call->scheduled_ns = first.key + lane->offset_ns;
  call->actual_ns = now_ns;
  call->missed = (uint64_t)(now_key - first.key) / (uint64_t)timer->period_ns;
  call->epoch = tb_clock_epoch(lane->clock);
  if (__builtin_mul_overflow((int64_t)call->missed + 1, timer->period_ns, &passed) ||
      __builtin_add_overflow(first.key, passed, &next_key))
    next_key = INT64_MAX;
  timer->last_key = now_key;
  timer->executing = true;
  tb__heap_change(&lane->heap, first.id, next_key);
}

static void call_make(const call_t *call)
{
  const tb_timer_t *timer = call->timer;
  if (timer->callback) {
    tb_time_kind_t kind = timer->lane->clock->kind;
    tb_timer_info_t info = {
        {call->scheduled_ns, kind}, {call->actual_ns, kind}, call->epoch, call->missed};
    timer->callback(call->timer, &info, timer->user);
  } else {
    tb_steady_timer_info_t info = {{call->scheduled_ns}, {call->actual_ns}, call->missed};
    timer->steady_callback(call->timer, &info, timer->user);
  }
}

TB_NO_THREAD_ANALYSIS
static void call_end(tb__lane_t *lane, tb_timer_t *timer)
{
  tb_timeline_t *timeline = tb__clock_lock(lane->clock);
  timer->executing = false;
  bool destroyed = timer->destroyed;
  if (destroyed) tb__lane_free_id_locked(lane, timer->id);
  tb__clock_unlock(timeline);
  if (destroyed) free(timer);
}

/* Sets how far this run goes on each lane: what is due now. */
TB_NO_THREAD_ANALYSIS
static tb_status_t lanes_open(tb_timer_queue_t *queue)
{
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    tb_timeline_t *timeline;
    int64_t now_ns;
    tb_status_t status = tb__clock_lock_settled(lane->clock, &timeline);
    if (status) return status;
    if (!tb__lane_now_key_locked(lane, timeline, &lane->horizon_key, &now_ns))
      lane->horizon_key = INT64_MIN;
    if (lane->alarm_ns != INT64_MAX) tb__poll_alarm_clear(&lane->alarm);
    tb__clock_unlock(timeline);
  }
  return TB_OK;
}

TB_NO_THREAD_ANALYSIS
static void lanes_close(tb_timer_queue_t *queue)
{
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    tb_timeline_t *timeline = tb__clock_lock(lane->clock);
    if (lane->alarm_ns != INT64_MAX) lane->alarm_ns = INT64_MIN; /* gone off or not: set it again */
    tb__lane_rearm_locked(lane, timeline);
    tb__clock_unlock(timeline);
  }
}

/* Deadlines on different flows of time have no order; those on one do. */
static bool deadline_precedes(const tb__lane_t *a, int64_t a_ns, const tb__lane_t *b, int64_t b_ns)
{
  if (!b) return true;
  return a_ns < b_ns && tb__clock_timeline(a->clock) == tb__clock_timeline(b->clock);
}

/* The lane whose earliest due deadline comes first; NULL if none is due. */
TB_NO_THREAD_ANALYSIS
static tb__lane_t *lane_next(tb_timer_queue_t *queue, call_t *out)
{
  tb__lane_t *best = NULL;
  int64_t best_ns = 0;
  tb_timeline_t *timeline;
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    int64_t key;
    if (tb__clock_lock_settled(lane->clock, &timeline)) return NULL;
    bool due = lane_due_key(lane, timeline, &key);
    int64_t deadline_ns = due ? key + lane->offset_ns : 0;
    tb__clock_unlock(timeline);
    if (due && deadline_precedes(lane, deadline_ns, best, best_ns)) {
      best = lane;
      best_ns = deadline_ns;
    }
  }
  if (!best || tb__clock_lock_settled(best->clock, &timeline)) return NULL;
  int64_t key;
  bool due = lane_due_key(best, timeline, &key); /* time may have gone back meanwhile */
  if (due)
    call_take(best, timeline, out);
  else
    out->timer = NULL;
  tb__clock_unlock(timeline);
  return best;
}

tb_status_t tb_timer_queue_run_due(tb_timer_queue_t *queue, uint32_t *out_calls)
{
  if (!queue) return TB_ERR_INVALID;
  if (tb__jump_of_thread || runs_here(queue)) return TB_ERR_DEADLOCK;
  if (atomic_exchange(&queue->running, true)) return TB_ERR_BUSY;
  atomic_store(&queue->runner, this_thread());
  tb__poll_set_clear(&queue->poll);
  atomic_store(&queue->signalled, false); /* whoever signals from here on raises the event anew */
  tb_status_t status = lanes_open(queue);
  uint32_t calls = 0;
  call_t call;
  tb__lane_t *lane;
  while (!status && (lane = lane_next(queue, &call))) {
    if (!call.timer) continue;
    call_make(&call);
    call_end(lane, call.timer);
    calls++;
  }
  lanes_close(queue);
  atomic_store(&queue->runner, 0);
  atomic_store(&queue->running, false);
  if (!status && out_calls) *out_calls = calls;
  return status;
}
