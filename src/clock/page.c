#include "clock/page.h"

#include <timebase/timeline.h>

#include "platform/time.h"

static bool copy_is_sound(const tb__page_copy_t *copy, uint32_t state)
{
  const tb__course_t *course = &copy->course;
  if (course->time_ns < 0 || copy->before_ns < 0 || state < TB_CLOCK_WAITING ||
      state > TB_CLOCK_LOST || copy->epoch == 0 || copy->epoch == TB__PAGE_NO_EPOCH)
    return false;
  if (!(course->rate >= 0 && course->rate <= TB_ANCHOR_RATE_MAX)) return false;
  return course->rate == 0 || (course->steady_ns > 0 && course->until_ns >= course->time_ns);
}

bool tb__page_load(const tb__page_t *page, tb__page_copy_t *out)
{
  if (atomic_load_explicit(&page->magic, memory_order_acquire) != TB__PAGE_MAGIC ||
      atomic_load_explicit(&page->format, memory_order_relaxed) != TB__PAGE_FORMAT)
    return false;
  for (;;) {
    uint64_t version = atomic_load_explicit(&page->version, memory_order_acquire);
    const tb__page_slot_t *slot = &page->slots[version & 1];
    tb__course_t course = {
        .time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire),
        .steady_ns = atomic_load_explicit(&slot->steady_ns, memory_order_acquire),
        .until_ns = atomic_load_explicit(&slot->until_ns, memory_order_acquire),
        .rate = atomic_load_explicit(&slot->rate, memory_order_acquire),
    };
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    tb__page_copy_t copy = {
        .course = course,
        .epoch = atomic_load_explicit(&slot->epoch, memory_order_acquire),
        .before_ns = atomic_load_explicit(&slot->before_ns, memory_order_acquire),
        .publishers = atomic_load_explicit(&slot->publishers, memory_order_acquire),
        .state = (tb_clock_state_t)state,
        .reason = atomic_load_explicit(&slot->reason, memory_order_acquire),
        .version = version,
    };
    if (atomic_load_explicit(&page->version, memory_order_acquire) != version) continue;
    if (!copy_is_sound(&copy, state)) return false;
    *out = copy;
    return true;
  }
}

static int64_t no_mark(uint64_t epoch)
{
  return INT64_MIN + (int64_t)(epoch & INT64_MAX);
}

/* Marks are kept per epoch: one who comes late with a time of an old epoch finds another mark. */
static int64_t not_below_mark(tb__page_view_t *view, uint64_t epoch, int64_t time_ns)
{
  tb__page_mark_t *mark = &view->marks[epoch % TB__PAGE_MARKS];
  int64_t seen_ns = atomic_load(&mark->time_ns);
  while (atomic_load(&mark->epoch) == epoch) {
    if (seen_ns < time_ns && !atomic_compare_exchange_weak(&mark->time_ns, &seen_ns, time_ns))
      continue;
    int64_t told_ns = seen_ns < time_ns ? time_ns : seen_ns;
    if (atomic_load(&view->seen_ns) != told_ns) atomic_store(&view->seen_ns, told_ns);
    return told_ns;
  }
  return time_ns;
}

void tb__page_mark_reset(tb__page_view_t *view, uint64_t epoch)
{
  tb__page_mark_t *mark = &view->marks[epoch % TB__PAGE_MARKS];
  atomic_store(&mark->epoch, TB__PAGE_NO_EPOCH);
  atomic_store(&mark->time_ns, no_mark(epoch));
  atomic_store(&mark->epoch, epoch);
  atomic_store(&view->seen_ns, no_mark(epoch));
}

int64_t tb__page_mark_of(const tb__page_view_t *view, uint64_t epoch)
{
  const tb__page_mark_t *mark = &view->marks[epoch % TB__PAGE_MARKS];
  int64_t time_ns = atomic_load(&mark->time_ns);
  return atomic_load(&mark->epoch) == epoch && time_ns > 0 ? time_ns : 0;
}

int64_t tb__page_time_known(const tb__page_view_t *view)
{
  return tb__page_mark_of(view, atomic_load(&view->epoch));
}

int64_t tb__page_time_left(const tb__page_view_t *view, const tb__page_copy_t *copy)
{
  int64_t seen_ns = tb__page_time_known(view);
  return copy->before_ns > seen_ns ? copy->before_ns : seen_ns;
}

/* Whoever was held up between the copy and the look at steady time would tell, and mark, a time
 * that its publisher has called off meanwhile. */
bool tb__page_time(tb__page_view_t *view, const tb__page_t *page, const tb__page_copy_t *copy,
                   int64_t *out_ns)
{
  int64_t time_ns = copy->course.time_ns;
  if (copy->course.rate > 0 && !atomic_load_explicit(&view->foreign, memory_order_relaxed)) {
    time_ns = tb__course_time(&copy->course, tb__steady_now_ordered_ns());
    if (atomic_load(&page->version) != copy->version) return false;
  }
  *out_ns = not_below_mark(view, copy->epoch, time_ns);
  return true;
}
