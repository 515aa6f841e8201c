#include "clock/waiter.h"

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
