/* The memory of a lane's timers: chunks that never move, ids that are used again. */
#include <stdlib.h>

#include "base/memory.h"
#include "wait/timer_queue.h"

static tb_status_t chunk_add(tb__lane_t *lane)
{
  if (lane->chunk_count == TB__TIMER_CHUNKS) return TB_ERR_NO_MEMORY;
  size_t size = (size_t)1 << (TB__TIMERS_BITS + lane->chunk_count);
  tb__timer_chunk_t chunk;
  chunk.timers = tb__memory_alloc(size * sizeof *chunk.timers);
  chunk.rests = malloc(size * sizeof *chunk.rests);
  if (!chunk.timers || !chunk.rests) {
    free(chunk.timers);
    free(chunk.rests);
    return TB_ERR_NO_MEMORY;
  }
  lane->chunks[lane->chunk_count++] = chunk;
  return TB_OK;
}

tb_status_t tb__lane_take_id_locked(tb__lane_t *lane, uint32_t *out)
{
  if (lane->first_free != TB__NO_TIMER) {
    *out = lane->first_free;
    lane->first_free = tb__lane_rest(lane, *out)->next;
    return TB_OK;
  }
  uint32_t id = lane->used_ids;
  tb_status_t status = tb__heap_reserve(&lane->heap, id + 1);
  uint32_t index;
  if (!status && tb__timer_place(id, &index) >= lane->chunk_count) status = chunk_add(lane);
  if (status) return status;
  atomic_store_explicit(&lane->where_hint, lane->heap.where, memory_order_relaxed);
  lane->used_ids++;
  *out = id;
  return TB_OK;
}

void tb__lane_free_id_locked(tb__lane_t *lane, uint32_t id)
{
  if (tb__lane_timer(lane, id)->mode == TB_TIMER_ONE_SHOT_AT) lane->timers_at--;
  tb__lane_rest(lane, id)->next = lane->first_free;
  lane->first_free = id;
}

void tb__lane_free_ids(tb__lane_t *lane)
{
  for (uint32_t i = 0; i < lane->chunk_count; i++) {
    free(lane->chunks[i].timers);
    free(lane->chunks[i].rests);
  }
}

void tb__lane_unpark_locked(tb__lane_t *lane)
{
  uint32_t id = lane->parked;
  lane->parked = TB__NO_TIMER;
  if (id != TB__NO_TIMER) tb__heap_remove(&lane->heap, id);
}

void tb__lane_insert_locked(tb__lane_t *lane, const tb_timer_t *timer, int64_t key)
{
  if (lane->parked == timer->id) lane->parked = TB__NO_TIMER;
  if (tb__heap_contains(&lane->heap, timer->id))
    tb__heap_reinsert(&lane->heap, timer->id, key);
  else
    tb__heap_insert(&lane->heap, timer->id, key);
}

void tb__lane_remove_locked(tb__lane_t *lane, const tb_timer_t *timer)
{
  if (!tb__lane_is_queued(lane, timer)) return;
  tb__lane_unpark_locked(lane);
  lane->parked = timer->id;
}

void tb__lane_add_late_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key)
{
  tb__timer_rest_t *rest = tb__lane_rest(lane, timer->id);
  rest->late_key = key;
  rest->next = TB__NO_TIMER;
  rest->previous = lane->last_late;
  if (lane->last_late != TB__NO_TIMER)
    tb__lane_rest(lane, lane->last_late)->next = timer->id;
  else
    lane->first_late = timer->id;
  lane->last_late = timer->id;
  timer->late = true;
}

void tb__lane_remove_late_locked(tb__lane_t *lane, tb_timer_t *timer)
{
  const tb__timer_rest_t *rest = tb__lane_rest(lane, timer->id);
  if (rest->previous != TB__NO_TIMER)
    tb__lane_rest(lane, rest->previous)->next = rest->next;
  else
    lane->first_late = rest->next;
  if (rest->next != TB__NO_TIMER)
    tb__lane_rest(lane, rest->next)->previous = rest->previous;
  else
    lane->last_late = rest->previous;
  timer->late = false;
}

void tb__lane_admit_late_locked(tb__lane_t *lane)
{
  while (lane->first_late != TB__NO_TIMER) {
    tb_timer_t *timer = tb__lane_timer(lane, lane->first_late);
    tb__lane_remove_late_locked(lane, timer);
    tb__lane_insert_locked(lane, timer, tb__lane_rest(lane, timer->id)->late_key);
  }
}
