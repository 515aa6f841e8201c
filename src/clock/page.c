#include "clock/page.h"

#include <timebase/timeline.h>

#include "platform/time.h"

static bool copy_is_sound(const tb__page_copy_t *copy, uint32_t state)
{
  const tb__linear_time_t *linear = &copy->linear;
  if (linear->time_ns < 0 || copy->before_ns < 0 || state < TB_CLOCK_WAITING ||
      state > TB_CLOCK_LOST || copy->epoch == 0 || copy->epoch == TB__PAGE_NO_EPOCH)
    return false;
  if (!(linear->rate >= 0 && linear->rate <= TB_ANCHOR_RATE_MAX)) return false;
  return linear->rate == 0 || (linear->steady_ns > 0 && linear->until_ns >= linear->time_ns);
}

bool tb__page_load(const tb__page_t *page, tb__page_copy_t *out)
{
  /* X3: one moment of the page without a lock; one that is not sound is refused */
  if (atomic_load_explicit(&page->magic, memory_order_acquire) != TB__PAGE_MAGIC ||
      atomic_load_explicit(&page->format, memory_order_relaxed) != TB__PAGE_FORMAT)
    return false;
  for (;;) {
    uint64_t version = atomic_load_explicit(&page->version, memory_order_acquire);
    const tb__page_slot_t *slot = &page->slots[version & 1];
    tb__linear_time_t linear = {
        .time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire),
        .steady_ns = atomic_load_explicit(&slot->steady_ns, memory_order_acquire),
        .until_ns = atomic_load_explicit(&slot->until_ns, memory_order_acquire),
        .rate = atomic_load_explicit(&slot->rate, memory_order_acquire),
    };
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    tb__page_copy_t copy = {
        .linear = linear,
        .epoch = atomic_load_explicit(&slot->epoch, memory_order_acquire),
        .before_ns = atomic_load_explicit(&slot->before_ns, memory_order_acquire),
        .publishers = atomic_load_explicit(&slot->publishers, memory_order_acquire),
        .state = (tb_clock_state_t)state,
        .reason = atomic_load_explicit(&slot->reason, memory_order_acquire),
        .jump_reason = atomic_load_explicit(&slot->jump_reason, memory_order_acquire),
        .version = version,
    };
    if (atomic_load_explicit(&page->version, memory_order_acquire) != version) continue;
    if (!copy_is_sound(&copy, state)) return false;
    *out = copy;
    return true;
  }
}

/* ---- the ends of epochs ---- */

void tb__page_end_epoch(tb__page_t *page, uint64_t epoch, int64_t end_ns)
{
  atomic_store(&page->ended_epoch, epoch); /* first: from here on an older value is not used */
  atomic_store(&page->end_ns[epoch % TB__PAGE_ENDS], end_ns);
}

static int64_t unkeyed(uint64_t epoch, uint64_t keyed)
{
  return (int64_t)(keyed - tb__page_keyed(epoch, 0));
}

/* NULL: the epoch is neither dispatched nor prepared. */
static tb__page_mark_t *mark_of(const tb__page_view_t *view, uint64_t epoch)
{
  uint32_t first = atomic_load(&view->mark);
  for (uint32_t i = 0; i < 2; i++) {
    const tb__page_mark_t *mark = &view->marks[(first + i) % TB__PAGE_MARKS];
    if (atomic_load(&mark->epoch) == epoch) return (tb__page_mark_t *)mark;
  }
  return NULL;
}

static int64_t seen_in(const tb__page_view_t *view, uint64_t epoch)
{
  const tb__page_mark_t *mark = mark_of(view, epoch);
  if (!mark || epoch == TB__PAGE_NO_EPOCH) return 0;
  uint64_t keyed = atomic_load(&mark->keyed_ns);
  return atomic_load(&mark->epoch) == epoch ? unkeyed(epoch, keyed) : 0;
}

int64_t tb__page_epoch_end(const tb__page_view_t *view, const tb__page_t *page, uint64_t epoch)
{
  int64_t end_ns = atomic_load(&page->end_ns[epoch % TB__PAGE_ENDS]);
  uint64_t since = atomic_load(&page->ended_epoch) - epoch;
  int64_t seen_ns = seen_in(view, epoch);
  return since < TB__PAGE_ENDS && end_ns > seen_ns ? end_ns : seen_ns;
}

int64_t tb__page_time_known(const tb__page_view_t *view)
{
  return seen_in(view, atomic_load(&view->epoch));
}

/* ---- what has been read ---- */

/* False: the epoch is over. Marks are kept per epoch: a thread that was stopped with a time of an
 * old epoch does not find its mark. */
static bool not_below_mark(tb__page_view_t *view, uint64_t epoch, int64_t *time_ns)
{
  tb__page_mark_t *mark = mark_of(view, epoch);
  if (!mark) return false;
  uint64_t keyed = atomic_load(&mark->keyed_ns);
  while (atomic_load(&mark->epoch) == epoch) {
    uint64_t next = tb__page_keyed(epoch, *time_ns);
    if (unkeyed(epoch, keyed) < *time_ns) {
      if (!atomic_compare_exchange_weak(&mark->keyed_ns, &keyed, next)) continue;
      keyed = next;
    }
    *time_ns = unkeyed(epoch, keyed);
    if (atomic_load(&view->seen) != keyed) atomic_store(&view->seen, keyed);
    return true;
  }
  return false;
}

int64_t tb__page_time_after(tb__page_view_t *view, uint64_t epoch, int64_t time_ns)
{
  if (epoch != TB__PAGE_NO_EPOCH) not_below_mark(view, epoch, &time_ns);
  return time_ns;
}

void tb__page_mark_prepare(tb__page_view_t *view, uint64_t epoch)
{
  tb__page_mark_t *mark = &view->marks[(atomic_load(&view->mark) + 1) % TB__PAGE_MARKS];
  atomic_store(&mark->epoch, TB__PAGE_NO_EPOCH);
  atomic_store(&mark->keyed_ns, tb__page_keyed(epoch, 0));
  atomic_store(&mark->epoch, epoch);
}

void tb__page_settle(tb__page_view_t *view, uint64_t epoch)
{
  /* Not by the dispatched epoch: there may be none, and the page may be in the same epoch again. */
  uint32_t mark = atomic_load(&view->mark);
  if (atomic_load(&view->marks[mark % TB__PAGE_MARKS].epoch) != epoch)
    atomic_store(&view->mark, mark + 1);
  atomic_store(&view->epoch, epoch);
  atomic_store(&view->settled_epoch, epoch);
}

/* A thread that was stopped between the copy and reading steady time would return, and mark, a time
 * that the publisher has withdrawn meanwhile. So the version is checked again. */
bool tb__page_time(tb__page_view_t *view, const tb__page_t *page, const tb__page_copy_t *copy,
                   int64_t *out_ns)
{
  int64_t time_ns = copy->linear.time_ns;
  if (copy->linear.rate > 0 && !atomic_load_explicit(&view->foreign, memory_order_relaxed)) {
    time_ns = tb__linear_time_at(&copy->linear, tb__steady_now_ordered_ns());
    if (atomic_load(&page->version) != copy->version) return false;
  }
  if (!not_below_mark(view, copy->epoch, &time_ns)) return false;
  *out_ns = time_ns;
  return true;
}
