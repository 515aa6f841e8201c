#include "source/wake_link.h"

#define MAX_MISSES 2

/* What the current publisher reads wishes from. */
static tb__wake_offer_t offer_of(const tb__page_t *page)
{
  tb__page_copy_t copy;
  if (!tb__page_load(page, &copy) || atomic_load(&page->wake_publisher) != copy.publishers ||
      atomic_load(&page->wake_format) != TB__WAKE_AREA_FORMAT)
    return (tb__wake_offer_t){0};
  return (tb__wake_offer_t){copy.publishers, atomic_load(&page->wake_inode)};
}

static bool is_same(const tb__wake_offer_t *a, const tb__wake_offer_t *b)
{
  return a->publisher == b->publisher && a->inode == b->inode;
}

bool tb__wake_link_needs_change(tb__wake_link_t *link, const tb__page_t *page, tb__wake_link_t *out)
{
  tb__wake_offer_t offer = offer_of(page);
  if (link->slot.is_taken && !tb__wake_slot_is_sound(&link->slot)) link->refused = link->offer;
  if (is_same(&offer, &link->refused)) offer = (tb__wake_offer_t){0};
  if (is_same(&offer, &link->offer)) return false;
  *out =
      (tb__wake_link_t){.slot = TB__WAKE_SLOT_NONE, .refused = link->refused, .path = link->path};
  if (offer.publisher && tb__wake_slot_take(&out->slot, link->path, offer.inode))
    out->offer = offer;
  else if (offer.publisher)
    out->refused = offer;
  return true;
}

bool tb__wake_link_is_current(const tb__wake_link_t *link, const tb__page_t *page)
{
  tb__wake_offer_t offer = offer_of(page);
  return !link->slot.is_taken || is_same(&offer, &link->offer);
}

void tb__wake_link_note_miss(tb__wake_link_t *link)
{
  if (++link->misses >= MAX_MISSES) link->refused = link->offer;
}
