#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ARITY TB__HEAP_SECONDS
/* As many entries stay in the second-level cache without prefetching. */
#define CACHED 32768
/* Places before the first entry, so that the entries 1 to 4, 5 to 8 and so on are cache lines. */
#define LEAD (ARITY - 1)

/* As one number, so that comparing takes no branch, which would be mispredicted half of the
 * time. */
static __int128 entry_value(tb__heap_entry_t entry)
{
  return (__int128)((unsigned __int128)(uint64_t)entry.key << 64 | entry.rank);
}

static bool entry_before(tb__heap_entry_t a, tb__heap_entry_t b)
{
  return entry_value(a) < entry_value(b);
}

static void entry_place(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  heap->entries[index] = entry;
  heap->where[tb__heap_id(&entry)] = index;
}

static void sift_up(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  while (index > 0) {
    uint32_t parent = (index - 1) / ARITY;
    if (!entry_before(entry, heap->entries[parent])) break;
    entry_place(heap, index, heap->entries[parent]);
    index = parent;
  }
  entry_place(heap, index, entry);
}

/* The cache lines that the next step may read. */
static void prefetch_grandchildren(const tb__heap_t *heap, uint64_t first)
{
  uint64_t grandchild = first * ARITY + 1;
  for (int i = 0; i < ARITY && grandchild < heap->size; i++, grandchild += ARITY)
    __builtin_prefetch(&heap->entries[grandchild]);
}

static uint32_t least_child(const tb__heap_t *heap, uint64_t first)
{
  const tb__heap_entry_t *entries = heap->entries + first;
  uint64_t count = heap->size - first;
  uint32_t best = 0;
  if (count >= ARITY) {
    uint32_t left = entry_before(entries[1], entries[0]);
    uint32_t right = 2 + (uint32_t)entry_before(entries[3], entries[2]);
    best = left + (right - left) * (uint32_t)entry_before(entries[right], entries[left]);
  } else {
    for (uint32_t child = 1; child < count; child++)
      if (entry_before(entries[child], entries[best])) best = child;
  }
  return (uint32_t)first + best;
}

static void sift_down(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  for (;;) {
    uint64_t first = (uint64_t)index * ARITY + 1;
    if (first >= heap->size) break;
    if (heap->size > CACHED) prefetch_grandchildren(heap, first);
    uint32_t best = least_child(heap, first);
    if (!entry_before(heap->entries[best], entry)) break;
    entry_place(heap, index, heap->entries[best]);
    index = best;
  }
  entry_place(heap, index, entry);
}

tb_status_t tb__heap_reserve(tb__heap_t *heap, uint32_t ids)
{
  if (ids <= heap->ids) return TB_OK;
  if (ids > TB__HEAP_IDS) return TB_ERR_NO_MEMORY;
  uint32_t wanted = heap->ids ? heap->ids * 2 : 16;
  if (wanted < ids) wanted = ids;
  if (wanted > TB__HEAP_IDS) wanted = TB__HEAP_IDS;
  size_t bytes = (wanted + (size_t)LEAD) * sizeof *heap->entries;
  void *memory = tb__memory_alloc(bytes);
  uint32_t *where = tb__memory_alloc(wanted * sizeof *where);
  if (!memory || !where) {
    free(memory);
    free(where);
    return TB_ERR_NO_MEMORY;
  }
  if (heap->ids) memcpy(where, heap->where, heap->ids * sizeof *where);
  free(heap->where);
  heap->where = where;
  tb__heap_entry_t *entries = (tb__heap_entry_t *)memory + LEAD;
  if (heap->size) memcpy(entries, heap->entries, heap->size * sizeof *entries);
  free(heap->memory);
  heap->memory = memory;
  heap->entries = entries;
  for (uint32_t id = heap->ids; id < wanted; id++)
    heap->where[id] = TB__HEAP_ABSENT;
  heap->ids = wanted;
  return TB_OK;
}

void tb__heap_fini(tb__heap_t *heap)
{
  free(heap->memory);
  free(heap->where);
  *heap = (tb__heap_t){0};
}

static int compare_ranks(const void *a, const void *b)
{
  uint64_t x = ((const tb__heap_entry_t *)a)->rank, y = ((const tb__heap_entry_t *)b)->rank;
  return (x > y) - (x < y);
}

/* Numbers the entries from 1, keeping their order. Once in 2^40 insertions. */
static void renumber(tb__heap_t *heap)
{
  if (heap->size) qsort(heap->entries, heap->size, sizeof *heap->entries, compare_ranks);
  heap->last_seq = 0;
  for (uint32_t i = 0; i < heap->size; i++)
    heap->entries[i].rank = ++heap->last_seq << TB__HEAP_ID_BITS | tb__heap_id(&heap->entries[i]);
  tb__heap_rebuild(heap);
}

uint64_t tb__heap_make_rank(tb__heap_t *heap, uint32_t id)
{
  if (tb__heap_is_rank_exhausted(heap)) renumber(heap);
  return ++heap->last_seq << TB__HEAP_ID_BITS | id;
}

void tb__heap_insert(tb__heap_t *heap, tb__heap_entry_t entry)
{
  sift_up(heap, heap->size++, entry);
}

static void entry_move(tb__heap_t *heap, uint32_t index, tb__heap_entry_t entry)
{
  if (index > 0 && entry_before(entry, heap->entries[(index - 1) / ARITY]))
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
  uint32_t index = heap->where[id];
  entry_move(heap, index, (tb__heap_entry_t){key, heap->entries[index].rank});
}

void tb__heap_sink(tb__heap_t *heap, uint32_t index, int64_t key)
{
  sift_down(heap, index, (tb__heap_entry_t){key, heap->entries[index].rank});
}

void tb__heap_replace(tb__heap_t *heap, tb__heap_entry_t entry)
{
  entry_move(heap, heap->where[tb__heap_id(&entry)], entry);
}

void tb__heap_rebuild(tb__heap_t *heap)
{
  for (uint32_t i = 0; i < heap->size; i++)
    heap->where[tb__heap_id(&heap->entries[i])] = i;
  for (uint32_t i = heap->size; i-- > 0;)
    sift_down(heap, i, heap->entries[i]);
}
