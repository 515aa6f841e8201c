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
  chunk.cold = malloc(size * sizeof *chunk.cold);
  if (!chunk.timers || !chunk.cold) {
    free(chunk.timers);
    free(chunk.cold);
    return TB_ERR_NO_MEMORY;
  }
  lane->chunks[lane->chunk_count++] = chunk;
  return TB_OK;
}

/* So that waking needs no memory. */
static tb_status_t wake_reserve(tb__lane_t *lane)
{
  if (lane->wake_room >= lane->heap.ids) return TB_OK;
  uint32_t *larger = realloc(lane->to_wake, lane->heap.ids * sizeof *larger);
  if (!larger) return TB_ERR_NO_MEMORY;
  lane->to_wake = larger;
  lane->wake_room = lane->heap.ids;
  return TB_OK;
}

tb_status_t tb__lane_take_id_locked(tb__lane_t *lane, bool passive, uint32_t *out)
{
  if (passive && !lane->to_wake && lane->heap.ids) {
    tb_status_t status = wake_reserve(lane);
    if (status) return status;
  }
  if (lane->first_free != TB__NO_TIMER) {
    *out = lane->first_free;
    lane->first_free = tb__lane_cold(lane, *out)->next;
    return TB_OK;
  }
  uint32_t id = lane->used_ids;
  tb_status_t status = tb__heap_reserve(&lane->heap, id + 1);
  if (!status && (passive || lane->to_wake)) status = wake_reserve(lane);
  uint32_t index;
  if (!status && tb__timer_place(id, &index) >= lane->chunk_count) status = chunk_add(lane);
  if (status) return status;
  lane->used_ids++;
  *out = id;
  return TB_OK;
}

void tb__lane_free_id_locked(tb__lane_t *lane, uint32_t id)
{
  tb_timer_t *timer = tb__lane_timer(lane, id);
  if (timer->mode == TB_TIMER_ONE_SHOT_AT) lane->timers_at--;
  if (timer->in_heap) tb__lane_reposition_locked(lane, timer);
  tb__lane_cold(lane, id)->next = lane->first_free;
  lane->first_free = id;
}

void tb__lane_free_ids(tb__lane_t *lane)
{
  for (uint32_t i = 0; i < lane->chunk_count; i++) {
    free(lane->chunks[i].timers);
    free(lane->chunks[i].cold);
  }
}

static tb__heap_entry_t entry_of(const tb_timer_t *timer)
{
  return (tb__heap_entry_t){timer->key, timer->rank};
}

void tb__lane_reposition_locked(tb__lane_t *lane, tb_timer_t *timer)
{
  if (!tb__timer_is_stale(timer)) return;
  lane->stale--;
  if (timer->stopped_in_heap) {
    tb__heap_remove(&lane->heap, tb__timer_id(timer));
    timer->in_heap = timer->stopped_in_heap = false;
  } else {
    tb__heap_replace(&lane->heap, entry_of(timer));
  }
  timer->due_later = false;
}

/* Also called once in 2^40 starts, before ranks are numbered from the start again: no stale rank is
 * left then. */
static void reposition_all_locked(tb__lane_t *lane)
{
  tb__heap_t *heap = &lane->heap;
  for (uint32_t i = heap->size; i-- > 0;) {
    uint32_t id = tb__heap_id(&heap->entries[i]);
    tb_timer_t *timer = tb__lane_timer(lane, id);
    if (timer->stopped_in_heap) {
      heap->where[id] = TB__HEAP_ABSENT;
      heap->entries[i] = heap->entries[--heap->size];
      timer->in_heap = timer->stopped_in_heap = false;
    } else if (timer->due_later) {
      heap->entries[i] = entry_of(timer);
    }
    timer->due_later = false;
  }
  lane->stale = 0;
  tb__heap_rebuild(heap);
}

#define ONE_BY_ONE 32

/* If more than a quarter is stale, one pass over all costs less than the stops and starts that led
 * there.
 */
const tb__heap_entry_t *tb__lane_reposition_first_locked(tb__lane_t *lane)
{
  for (uint32_t count = 0;; count++) {
    const tb__heap_entry_t *first = tb__heap_min(&lane->heap);
    if (!first) return NULL;
    tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(first));
    if (!tb__timer_is_stale(timer)) return first;
    if (count >= ONE_BY_ONE && lane->stale > lane->heap.size / 4)
      reposition_all_locked(lane);
    else
      tb__lane_reposition_locked(lane, timer);
  }
}

static void make_rank(tb__lane_t *lane, tb_timer_t *timer)
{
  if (tb__heap_is_rank_exhausted(&lane->heap)) reposition_all_locked(lane);
  timer->rank = tb__heap_make_rank(&lane->heap, tb__timer_id(timer));
}

void tb__lane_insert_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key)
{
  tb__timer_unwake_locked(timer);
  make_rank(lane, timer);
  bool keeps_place = timer->in_heap && key >= timer->key;
  lane->stale += (uint32_t)keeps_place - (uint32_t)tb__timer_is_stale(timer);
  timer->key = key;
  timer->stopped_in_heap = false;
  timer->due_later = keeps_place;
  if (keeps_place) return;
  if (timer->in_heap)
    tb__heap_replace(&lane->heap, entry_of(timer));
  else
    tb__heap_insert(&lane->heap, entry_of(timer));
  timer->in_heap = true;
}

/* M2: its place among timers with the same deadline is kept. */
bool tb__lane_postpone_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key)
{
  int64_t place_key = timer->key; /* or before it, if it is stale already */
  if (timer->woken) {
    place_key = lane->heap.entries[lane->heap.where[tb__timer_id(timer)]].key;
    timer->woken = timer->wakes = false;
  }
  timer->key = key;
  if (key == place_key) return false;
  if (key < place_key) {
    lane->stale -= tb__timer_is_stale(timer);
    timer->due_later = false;
    tb__heap_replace(&lane->heap, entry_of(timer));
  } else if (!timer->due_later) {
    timer->due_later = true;
    lane->stale++;
  }
  return true;
}

#define ARITY TB__HEAP_SECONDS

/* The indices of the entries that are due, in ascending order. */
static uint32_t find_due(const tb__heap_t *heap, int64_t until_key, uint32_t *out)
{
  uint32_t count = 0;
  if (heap->size && heap->entries[0].key <= until_key) out[count++] = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t child = (uint64_t)out[i] * ARITY + 1;
    for (int n = 0; n < ARITY && child < heap->size; n++, child++)
      if (heap->entries[child].key <= until_key) out[count++] = (uint32_t)child;
  }
  return count;
}

/* The place of one that is woken is that of the deadline that it gets if it is advanced soon. One
 * that has not been advanced by then waits for nothing. */
static int64_t next_place(const tb_timer_t *timer)
{
  int64_t key;
  if (timer->woken || timer->mode != TB_TIMER_PERIODIC ||
      __builtin_add_overflow(timer->key, timer->period_ns, &key))
    return INT64_MAX;
  return key;
}

/* From the last entry to the first, so that those below each one are in order: all that are due at
 * once cost as much as putting the heap in order once. Stale places and those of other timers stay;
 * they become the first ones. */
void tb__lane_collect_passive_locked(tb__lane_t *lane, int64_t until_key)
{
  uint32_t count = find_due(&lane->heap, until_key, lane->to_wake);
  for (uint32_t i = count; i-- > 0;) {
    uint32_t index = lane->to_wake[i], id = tb__heap_id(&lane->heap.entries[index]);
    tb_timer_t *timer = tb__lane_timer(lane, id);
    lane->to_wake[i] = TB__NO_TIMER;
    if (!timer->passive || tb__timer_is_stale(timer)) continue;
    tb__heap_sink(&lane->heap, index, next_place(timer));
    if (!timer->woken && timer->callback.wake) lane->to_wake[i] = id;
    timer->wakes = lane->to_wake[i] == id;
    timer->woken = true;
  }
  lane->wake_next = 0;
  lane->wake_end = count;
}

void tb__lane_defer_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key)
{
  tb__timer_cold_t *cold = tb__lane_cold(lane, tb__timer_id(timer));
  cold->deferred_key = key;
  cold->next = TB__NO_TIMER;
  cold->previous = lane->last_deferred;
  if (lane->last_deferred != TB__NO_TIMER)
    tb__lane_cold(lane, lane->last_deferred)->next = tb__timer_id(timer);
  else
    lane->first_deferred = tb__timer_id(timer);
  lane->last_deferred = tb__timer_id(timer);
  timer->deferred = true;
}

void tb__lane_undefer_locked(tb__lane_t *lane, tb_timer_t *timer)
{
  const tb__timer_cold_t *cold = tb__lane_cold(lane, tb__timer_id(timer));
  if (cold->previous != TB__NO_TIMER)
    tb__lane_cold(lane, cold->previous)->next = cold->next;
  else
    lane->first_deferred = cold->next;
  if (cold->next != TB__NO_TIMER)
    tb__lane_cold(lane, cold->next)->previous = cold->previous;
  else
    lane->last_deferred = cold->previous;
  timer->deferred = false;
}

void tb__lane_admit_deferred_locked(tb__lane_t *lane)
{
  while (lane->first_deferred != TB__NO_TIMER) {
    tb_timer_t *timer = tb__lane_timer(lane, lane->first_deferred);
    tb__lane_undefer_locked(lane, timer);
    tb__lane_insert_locked(lane, timer, tb__lane_cold(lane, tb__timer_id(timer))->deferred_key);
  }
}
