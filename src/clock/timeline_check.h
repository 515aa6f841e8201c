/* Invariants of a timeline. Model and stress tests check them between operations. */
#ifndef TB_CLOCK_TIMELINE_CHECK_H
#define TB_CLOCK_TIMELINE_CHECK_H

#include "clock/timeline.h"

/* NULL: every invariant holds; else the first one that does not. Looks at every waiter and handler:
 * O(n). Allowed whenever the mutex is held by a thread that is not in the middle of a change. */
const char *tb__timeline_check_locked(const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;

/* The same with nothing held, between the operations of other threads. */
static inline const char *tb__timeline_check(tb_timeline_t *timeline)
{
  tb__mutex_lock(&timeline->mutex);
  const char *wrong = tb__timeline_check_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
  return wrong;
}

#endif
