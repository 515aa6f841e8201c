#include "clock/deadline_heap.h"

#include <stddef.h>

static tb__waiter_t *heap_merge(tb__waiter_t *a, tb__waiter_t *b)
{
  if (!a) return b;
  if (!b) return a;
  if (tb__deadline_before(b->deadline, a->deadline)) {
    tb__waiter_t *swap = a;
    a = b;
    b = swap;
  }
  if (!a->child || tb__deadline_before(b->deadline, a->child_min)) a->child_min = b->deadline;
  b->parent = a;
  b->sibling = a->child;
  if (a->child) a->child->parent = b;
  a->child = b;
  return a;
}

/* Merges a list of siblings pairwise from the left, then the pairs from the right. */
static tb__waiter_t *heap_merge_siblings(tb__waiter_t *first)
{
  tb__waiter_t *pairs = NULL;
  while (first) {
    tb__waiter_t *a = first, *b = a->sibling;
    first = b ? b->sibling : NULL;
    a->sibling = a->parent = NULL;
    if (b) b->sibling = b->parent = NULL;
    tb__waiter_t *pair = heap_merge(a, b);
    pair->sibling = pairs;
    pairs = pair;
  }
  tb__waiter_t *root = NULL;
  while (pairs) {
    tb__waiter_t *next = pairs->sibling;
    pairs->sibling = NULL;
    root = heap_merge(root, pairs);
    pairs = next;
  }
  return root;
}

void tb__deadline_heap_settle(tb__deadline_heap_t *heap)
{
  if (!heap->loose) return;
  heap->root = heap_merge(heap->root, heap_merge_siblings(heap->loose));
  heap->loose = NULL;
}

tb__waiter_t *tb__deadline_heap_first(tb__deadline_heap_t *heap)
{
  tb__deadline_heap_settle(heap);
  return heap->root;
}

void tb__deadline_heap_take_first(tb__deadline_heap_t *heap)
{
  tb__waiter_t *first = heap->root;
  heap->loose = first->child;
  heap->loose_min = first->child_min;
  heap->root = NULL;
  first->child = first->sibling = first->parent = NULL;
}

void tb__deadline_heap_insert(tb__deadline_heap_t *heap, tb__waiter_t *waiter)
{
  waiter->child = waiter->sibling = waiter->parent = NULL;
  heap->root = heap_merge(heap->root, waiter);
}

void tb__deadline_heap_remove(tb__deadline_heap_t *heap, tb__waiter_t *waiter)
{
  tb__deadline_heap_settle(heap);
  tb__waiter_t *orphans = heap_merge_siblings(waiter->child);
  if (heap->root == waiter) {
    heap->root = orphans;
  } else {
    if (waiter->parent->child == waiter)
      waiter->parent->child = waiter->sibling;
    else
      waiter->parent->sibling = waiter->sibling;
    if (waiter->sibling) waiter->sibling->parent = waiter->parent;
    heap->root = heap_merge(heap->root, orphans);
  }
  waiter->child = waiter->sibling = waiter->parent = NULL;
}

/* ---- checking ---- */

static const char *check_waiter(const tb__waiter_t *waiter)
{
  if (waiter->sibling && waiter->sibling->parent != waiter)
    return "deadline heap: a sibling does not link back";
  if (waiter->child && waiter->child->parent != waiter)
    return "deadline heap: a first child does not link back";
  for (const tb__waiter_t *child = waiter->child; child; child = child->sibling) {
    if (tb__deadline_before(child->deadline, waiter->deadline))
      return "deadline heap: a child has an earlier deadline than its parent";
    if (tb__deadline_before(child->deadline, waiter->child_min))
      return "deadline heap: child_min is later than the deadline of a child";
  }
  return NULL;
}

/* The waiter after `waiter`, in preorder, among `first`, its right siblings and all that is below
 * them. */
static const tb__waiter_t *next_in_preorder(const tb__waiter_t *first, const tb__waiter_t *waiter)
{
  if (waiter->child) return waiter->child;
  for (;;) {
    if (waiter->sibling) return waiter->sibling;
    while (waiter != first && waiter->parent->child != waiter) /* to the leftmost sibling */
      waiter = waiter->parent;
    if (waiter == first) return NULL;
    waiter = waiter->parent;
  }
}

static const char *check_trees(const tb__waiter_t *first, tb__waiter_check_t visit,
                               const void *user)
{
  for (const tb__waiter_t *waiter = first; waiter; waiter = next_in_preorder(first, waiter)) {
    const char *wrong = check_waiter(waiter);
    if (!wrong && visit) wrong = visit(waiter, user);
    if (wrong) return wrong;
  }
  return NULL;
}

const char *tb__deadline_heap_check(const tb__deadline_heap_t *heap, tb__waiter_check_t visit,
                                    const void *user)
{
  if (heap->root && (heap->root->parent || heap->root->sibling))
    return "deadline heap: the root has a parent or a sibling";
  for (const tb__waiter_t *loose = heap->loose; loose; loose = loose->sibling)
    if (tb__deadline_before(loose->deadline, heap->loose_min))
      return "deadline heap: loose_min is later than the deadline of a loose waiter";
  const char *wrong = check_trees(heap->root, visit, user);
  return wrong ? wrong : check_trees(heap->loose, visit, user);
}
