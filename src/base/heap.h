/* A heap of small integers (ids) by a 64-bit key, ties in the order of insertion. The entries are
 * contiguous and contain all that is compared; the position of each id is kept in a second array,
 * so that any id can be removed. */
#ifndef TB_BASE_HEAP_H
#define TB_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#define TB__HEAP_ID_BITS  24
#define TB__HEAP_IDS      (UINT32_C(1) << TB__HEAP_ID_BITS)
#define TB__HEAP_LAST_SEQ ((UINT64_C(1) << (64 - TB__HEAP_ID_BITS)) - 1)
#define TB__HEAP_ABSENT   UINT32_MAX

typedef struct tb__heap_entry {
  int64_t key;
  uint64_t rank; /* number of the insertion, in the bits above the id */
} tb__heap_entry_t;

typedef struct tb__heap {
  tb__heap_entry_t *entries; /* the children of an entry share a cache line */
  uint32_t *where;           /* by id: index into entries, or TB__HEAP_ABSENT */
  void *memory;              /* which contains `entries` */
  uint64_t last_seq;         /* of the last insertion; when used up, the entries are renumbered */
  uint32_t size;
  uint32_t ids; /* ids below this may be used */
} tb__heap_t;

/* Makes room for ids below `ids`; then insertions never fail. TB_ERR_NO_MEMORY: unchanged. */
tb_status_t tb__heap_reserve(tb__heap_t *heap, uint32_t ids) TB_WARN_UNUSED;
void tb__heap_fini(tb__heap_t *heap);

static inline uint32_t tb__heap_rank_id(uint64_t rank)
{
  return (uint32_t)rank & (TB__HEAP_IDS - 1);
}

static inline uint32_t tb__heap_id(const tb__heap_entry_t *entry)
{
  return tb__heap_rank_id(entry->rank);
}

static inline bool tb__heap_contains(const tb__heap_t *heap, uint32_t id)
{
  return heap->where[id] != TB__HEAP_ABSENT;
}

/* The second entry in order is among the TB__HEAP_SECONDS entries after the first one. */
#define TB__HEAP_SECONDS 4

/* NULL if empty. */
static inline const tb__heap_entry_t *tb__heap_min(const tb__heap_t *heap)
{
  return heap->size ? heap->entries : NULL;
}

/* Whether making the next rank renumbers the entries. */
static inline bool tb__heap_is_rank_exhausted(const tb__heap_t *heap)
{
  return heap->last_seq == TB__HEAP_LAST_SEQ;
}

/* The rank of an insertion that is made now: above all ranks in the heap. */
uint64_t tb__heap_make_rank(tb__heap_t *heap, uint32_t id);
/* The id, which the rank holds, must not be in the heap. */
void tb__heap_insert(tb__heap_t *heap, tb__heap_entry_t entry);
/* The id must be in the heap; `change` keeps its place among equal keys. */
void tb__heap_remove(tb__heap_t *heap, uint32_t id);
void tb__heap_change(tb__heap_t *heap, uint32_t id, int64_t key);
void tb__heap_replace(tb__heap_t *heap, tb__heap_entry_t entry);
/* Gives the entry at `index` a key that is not less. The entries below it must be in order. */
void tb__heap_sink(tb__heap_t *heap, uint32_t index, int64_t key);
/* Call after entries were changed, or some at the end dropped. */
void tb__heap_rebuild(tb__heap_t *heap);

#endif
