/* A reader's connection to the area from which the publisher of its page reads wishes. Changed by
 * one thread only, with the mutex that guards it. */
#ifndef TB_SOURCE_WAKE_LINK_H
#define TB_SOURCE_WAKE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/page.h"
#include "source/wake_area.h"

/* The area of a publisher. Inodes alone are used again. */
typedef struct tb__wake_offer {
  uint64_t publisher; /* its number on the page; 0: no area */
  uint64_t inode;
} tb__wake_offer_t;

typedef struct tb__wake_link {
  tb__wake_slot_t slot;
  tb__wake_offer_t offer;   /* whose area it is in; no slot: none */
  tb__wake_offer_t refused; /* that is not used: there is no free slot, or it is not reliable */
  int misses;               /* wishes in a row that were not met */
  char *path;               /* of the area */
} tb__wake_link_t;

/* Whether another slot is needed: the page has another publisher, or the area is broken. *out: that
 * slot, or none if there is none to have. Without the mutex. */
bool tb__wake_link_needs_change(tb__wake_link_t *link, const tb__page_t *page,
                                tb__wake_link_t *out) TB_WARN_UNUSED;

/* Whether the publisher still reads wishes from its area, if it has a slot. To be checked after the
 * word of the slot has been read: a publisher that gives the area up notes that on the page before
 * it raises the words. */
bool tb__wake_link_is_current(const tb__wake_link_t *link, const tb__page_t *page);

/* The wish was not met, or has been changed by another process. After some the area is not used any
 * more. */
void tb__wake_link_note_miss(tb__wake_link_t *link);

#endif
