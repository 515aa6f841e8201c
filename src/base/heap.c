#include "base/heap.h"

#include <stdlib.h>

#define ARITY 4

static bool entry_before(const tb__heap_t *heap, tb__heap_entry_t a, tb__heap_entry_t b)
{
  if (a.key != b.key) return a.key < b.key;
  return heap->orders[a.id] < heap->orders[b.id];
}

static void entry_place(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  heap->entries[index] = entry;
  heap->where[entry.id] = index;
}

static void sift_up(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  while (index > 0) {
    uint32_t parent = (index - 1) / ARITY;
    if (!entry_before(heap, entry, heap->entries[parent])) break;
    entry_place(heap, index, heap->entries[parent]);
    index = parent;
  }
  entry_place(heap, index, entry);
}

static void sift_down(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  for (;;) {
    uint64_t first = (uint64_t)index * ARITY + 1;
    if (first >= heap->size) break;
    uint64_t end = first + ARITY < heap->size ? first + ARITY : heap->size;
    uint32_t best = (uint32_t)first;
    for (uint64_t child = first + 1; child < end; child++)
      if (entry_before(heap, heap->entries[child], heap->entries[best])) best = (uint32_t)child;
    if (!entry_before(heap, heap->entries[best], entry)) break;
    entry_place(heap, index, heap->entries[best]);
    index = best;
  }
  entry_place(heap, index, entry);
}

tb_status_t tb__heap_reserve(tb__heap_t *heap, uint32_t ids)
{
  if (ids <= heap->ids) return TB_OK;
  uint64_t wanted = heap->ids ? (uint64_t)heap->ids * 2 : 16;
  if (wanted < ids) wanted = ids;
  if (wanted > TB__HEAP_ABSENT) return TB_ERR_NO_MEMORY;
  void *entries = realloc(heap->entries, wanted * sizeof *heap->entries);
  if (entries) heap->entries = entries;
  void *where = realloc(heap->where, wanted * sizeof *heap->where);
  if (where) heap->where = where;
  void *orders = realloc(heap->orders, wanted * sizeof *heap->orders);
  if (orders) heap->orders = orders;
  if (!entries || !where || !orders) return TB_ERR_NO_MEMORY;
  for (uint64_t id = heap->ids; id < wanted; id++)
    heap->where[id] = TB__HEAP_ABSENT;
  heap->ids = (uint32_t)wanted;
  return TB_OK;
}

void tb__heap_fini(tb__heap_t *heap)
{
  free(heap->entries);
  free(heap->where);
  free(heap->orders);
  *heap = (tb__heap_t){0};
}

void tb__heap_insert(tb__heap_t *heap, uint32_t id, int64_t key, uint64_t order)
{
  heap->orders[id] = order;
  sift_up(heap, heap->size++, (tb__heap_entry_t){key, id});
}

static void entry_move(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  if (index > 0 && entry_before(heap, entry, heap->entries[(index - 1) / ARITY]))
    sift_up(heap, index, entry);
  else
    sift_down(heap, index, entry);
}

void tb__heap_remove(tb__heap_t *heap, uint32_t id)
{
  uint32_t index = heap->where[id];
  heap->where[id] = TB__HEAP_ABSENT;
  tb__heap_entry_t last = heap->entries[--heap->size];
  if (index < heap->size) entry_move(heap, index, last);
}

void tb__heap_change(tb__heap_t *heap, uint32_t id, int64_t key)
{
  entry_move(heap, heap->where[id], (tb__heap_entry_t){key, id});
}
