/* A pairing heap of waiters by deadline. Deadlines of one heap are within 2^63 of each other, so
 * they may wrap. When the first waiter has been taken, its children are loose: merging them, which
 * touches the stacks of many threads, can wait until the first one has been woken. */
#ifndef TB_CLOCK_DEADLINE_HEAP_H
#define TB_CLOCK_DEADLINE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/waiter.h"

typedef struct tb__deadline_heap {
  tb__waiter_t *root;
  tb__waiter_t *loose; /* siblings beside the root */
  uint64_t loose_min;  /* not after any of their deadlines */
} tb__deadline_heap_t;

static inline bool tb__deadline_before(uint64_t a, uint64_t b)
{
  return (int64_t)(a - b) < 0;
}

static inline bool tb__deadline_heap_is_empty(const tb__deadline_heap_t *heap)
{
  return !heap->root && !heap->loose;
}

/* False: no waiter is due at `now`. True: perhaps. */
static inline bool tb__deadline_heap_may_be_due(const tb__deadline_heap_t *heap, uint64_t now)
{
  return (heap->root && !tb__deadline_before(now, heap->root->deadline)) ||
         (heap->loose && !tb__deadline_before(now, heap->loose_min));
}

void tb__deadline_heap_insert(tb__deadline_heap_t *heap, tb__waiter_t *waiter);
void tb__deadline_heap_remove(tb__deadline_heap_t *heap, tb__waiter_t *waiter);
/* Merges the loose waiters. */
void tb__deadline_heap_settle(tb__deadline_heap_t *heap);
/* The waiter with the earliest deadline; NULL: the heap is empty. */
tb__waiter_t *tb__deadline_heap_first(tb__deadline_heap_t *heap);
/* Removes the waiter that tb__deadline_heap_first has just returned. */
void tb__deadline_heap_take_first(tb__deadline_heap_t *heap);

/* For tests: looks at every waiter. NULL: the order of the deadlines, the links and the cached
 * minima are right; else which of them is not. `visit` (NULL: none) is called for each waiter, and
 * reports what is wrong with it in the same way. */
typedef const char *(*tb__waiter_check_t)(const tb__waiter_t *waiter, const void *user);
const char *tb__deadline_heap_check(const tb__deadline_heap_t *heap, tb__waiter_check_t visit,
                                    const void *user);

#endif
