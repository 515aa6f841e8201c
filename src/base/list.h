/* Intrusive lists. The macros take typed pointers to items, so there is nothing to cast; `first` is
 * an lvalue that may be evaluated more than once, like `item`.
 *
 * A chain is linked one way, by `next`; appending and removing walk it, so it is for a few items.
 * A list is linked both ways, by `next` and `previous`, which are NULL at its ends. */
#ifndef TB_BASE_LIST_H
#define TB_BASE_LIST_H

#include <stddef.h>

#define TB__CHAIN_APPEND(first, item)                                                              \
  do {                                                                                             \
    __typeof__(first) *link_ = &(first);                                                           \
    while (*link_)                                                                                 \
      link_ = &(*link_)->next;                                                                     \
    (item)->next = NULL;                                                                           \
    *link_ = (item);                                                                               \
  } while (0)

/* Nothing happens if the item is not in the chain. */
#define TB__CHAIN_REMOVE(first, item)                                                              \
  do {                                                                                             \
    __typeof__(first) *link_ = &(first);                                                           \
    while (*link_ && *link_ != (item))                                                             \
      link_ = &(*link_)->next;                                                                     \
    if (*link_) *link_ = (item)->next;                                                             \
  } while (0)

#define TB__LIST_PUSH(first, item) TB__LIST_PUSH_BY(first, item, next, previous)
/* The item must be in the list. */
#define TB__LIST_REMOVE(first, item) TB__LIST_REMOVE_BY(first, item, next, previous)

/* The same by members of other names, for an item that is in several lists. */
#define TB__LIST_PUSH_BY(first, item, next_, previous_)                                            \
  do {                                                                                             \
    (item)->previous_ = NULL;                                                                      \
    (item)->next_ = (first);                                                                       \
    if (first) (first)->previous_ = (item);                                                        \
    (first) = (item);                                                                              \
  } while (0)

#define TB__LIST_REMOVE_BY(first, item, next_, previous_)                                          \
  do {                                                                                             \
    if ((item)->previous_)                                                                         \
      (item)->previous_->next_ = (item)->next_;                                                    \
    else                                                                                           \
      (first) = (item)->next_;                                                                     \
    if ((item)->next_) (item)->next_->previous_ = (item)->previous_;                               \
  } while (0)

#endif
