#include <stdlib.h>

#include "wait/timer_queue.h"

#define FIRST_TIMERS 16

/* Finds a free id, or makes room for more. */
static tb_status_t id_reserve(tb__lane_t *lane, uint32_t *out)
{
  for (uint32_t id = lane->lowest_free; id < lane->timers_size; id++) {
    if (!lane->timers[id]) {
      *out = lane->lowest_free = id;
      return TB_OK;
    }
  }
  uint32_t size = lane->timers_size ? lane->timers_size * 2 : FIRST_TIMERS;
  tb_status_t status = tb__heap_reserve(&lane->heap, size);
  if (status) return status;
  tb_timer_t **timers = realloc(lane->timers, size * sizeof *timers);
  if (!timers) return TB_ERR_NO_MEMORY;
  for (uint32_t id = lane->timers_size; id < size; id++)
    timers[id] = NULL;
  *out = lane->lowest_free = lane->timers_size;
  lane->timers = timers;
  lane->timers_size = size;
  return TB_OK;
}

TB_NO_THREAD_ANALYSIS
static tb_status_t timer_create_on(tb_timer_queue_t *queue, tb_clock_t *clock,
                                   const tb_timer_t *model, tb_timer_t **out)
{
  tb__lane_t *lane;
  tb_status_t status = tb__lane_get(queue, clock, &lane);
  if (status) return status;
  tb_timer_t *timer = malloc(sizeof *timer);
  if (!timer) return TB_ERR_NO_MEMORY;
  *timer = *model;
  timer->lane = lane;
  tb_timeline_t *timeline = tb__clock_lock(clock);
  status = id_reserve(lane, &timer->id);
  if (!status) lane->timers[timer->id] = timer;
  tb__clock_unlock(timeline);
  if (status)
    free(timer);
  else
    *out = timer;
  return status;
}

tb_status_t tb_clock_timer_create(tb_timer_queue_t *queue, tb_clock_t *clock,
                                  const tb_timer_options_t *options, tb_timer_t **out)
{
  if (!queue || !clock || !options || !out || options->period.ns <= 0 || !options->callback)
    return TB_ERR_INVALID;
  tb_timer_t model = {
      .period_ns = options->period.ns, .callback = options->callback, .user = options->user};
  return timer_create_on(queue, clock, &model, out);
}

tb_status_t tb_steady_clock_timer_create(tb_timer_queue_t *queue, tb_steady_clock_t *clock,
                                         const tb_steady_timer_options_t *options, tb_timer_t **out)
{
  if (!queue || !clock || !options || !out || options->period.ns <= 0 || !options->callback)
    return TB_ERR_INVALID;
  tb_timer_t model = {
      .period_ns = options->period.ns, .steady_callback = options->callback, .user = options->user};
  return timer_create_on(queue, &clock->core, &model, out);
}

TB_NO_THREAD_ANALYSIS
tb_status_t tb_timer_start(tb_timer_t *timer)
{
  if (!timer) return TB_ERR_INVALID;
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb_status_t status = tb__clock_lock_settled(lane->clock, &timeline);
  if (status) return status;
  if (lane->closed) {
    status = TB_ERR_CLOSED;
  } else {
    int64_t now_ns, deadline_key;
    tb__lane_now_key_locked(lane, timeline, &timer->last_key, &now_ns);
    if (__builtin_add_overflow(timer->last_key, timer->period_ns, &deadline_key))
      deadline_key = INT64_MAX;
    if (tb__heap_contains(&lane->heap, timer->id)) tb__heap_remove(&lane->heap, timer->id);
    uint64_t order = atomic_fetch_add(&lane->queue->last_order, 1) + 1;
    tb__heap_insert(&lane->heap, timer->id, deadline_key, order);
    tb__lane_rearm_locked(lane, timeline);
  }
  tb__clock_unlock(timeline);
  return status;
}

TB_NO_THREAD_ANALYSIS
tb_status_t tb_timer_stop(tb_timer_t *timer)
{
  if (!timer) return TB_ERR_INVALID;
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline = tb__clock_lock(lane->clock);
  if (tb__heap_contains(&lane->heap, timer->id)) {
    tb__heap_remove(&lane->heap, timer->id);
    tb__lane_rearm_locked(lane, timeline);
  }
  tb__clock_unlock(timeline);
  return TB_OK;
}

TB_NO_THREAD_ANALYSIS
void tb_timer_destroy(tb_timer_t *timer)
{
  if (!timer) return;
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline = tb__clock_lock(lane->clock);
  if (tb__heap_contains(&lane->heap, timer->id)) {
    tb__heap_remove(&lane->heap, timer->id);
    tb__lane_rearm_locked(lane, timeline);
  }
  bool executing = timer->executing;
  timer->destroyed = true;
  if (!executing) tb__lane_free_id_locked(lane, timer->id);
  tb__clock_unlock(timeline);
  if (!executing) free(timer);
}
