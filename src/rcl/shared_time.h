/* The time that the ROS clocks of this process follow. One clock of the core serves them all; it
 * lives as long as the process. */
#ifndef TB_RCL_SHARED_TIME_H
#define TB_RCL_SHARED_TIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/clock.h>

#include "clock/page.h"
#include "rcl/librcl.h"

/* Whether this process's ROS clocks follow: TIMEBASE_SOURCE names a shared time, its librcl is of a
 * known release, and the time could be opened, if that was tried. Decided at the first call; why
 * not is noted once. [any thread] */
bool tb__shared_time_is_followed(void);

/* What its librcl is; NULL until that is decided, and where no shared time is named. */
const tb__librcl_release_t *tb__shared_time_release(void);

/* Why it is left alone; "": it is not, or no shared time is named. */
const char *tb__shared_time_refusal(void);

/* What TIMEBASE_SOURCE was when it was decided. */
const char *tb__shared_time_name(void);

/* Makes the clock, if it is not made yet. An error is also noted; after one other than
 * TB_ERR_NO_MEMORY the process does not follow any more. [any thread] */
tb_status_t tb__shared_time_open(tb_clock_t **out) TB_WARN_UNUSED;

/* NULL: it is not made yet. Its source, and with that its page, never changes: so the page is read
 * without looking for it first. */
extern tb_clock_t *_Atomic tb__shared_time_clock;
extern const tb__page_view_t *_Atomic tb__shared_time_page; /* before the clock */

/* After tb__shared_time_open only. False: the clock has to be asked. */
static inline bool tb__shared_time_at_rest(int64_t *out_ns)
{
  return tb__page_time_at_rest(atomic_load_explicit(&tb__shared_time_page, memory_order_acquire),
                               out_ns);
}

/* Never blocks: until a jump is committed it is the time before (J10). [any thread] [from
 * callbacks] After tb__shared_time_open only. */
static inline tb_status_t tb__shared_time_now(int64_t *out_ns)
{
  tb_time_t time;
  if (__builtin_expect(tb__shared_time_at_rest(out_ns), 1)) return TB_OK;
  tb_status_t status =
      tb_clock_now(atomic_load_explicit(&tb__shared_time_clock, memory_order_acquire), &time);
  if (!status) *out_ns = time.ns;
  return status;
}

#endif
