/* Invariants of a lane. Model and stress tests check them between operations. */
#ifndef TB_WAIT_LANE_CHECK_H
#define TB_WAIT_LANE_CHECK_H

#include "wait/timer_queue.h"

/* NULL: every invariant holds; else the first one that does not. Looks at every timer: O(n).
 * Allowed whenever the mutex is held by a thread that is not in the middle of a change. */
const char *tb__lane_check_locked(const tb__lane_t *lane, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;

/* The same of all lanes of a queue, with nothing held, between the operations of other threads. */
const char *tb__timer_queue_check(const tb_timer_queue_t *queue) TB_WARN_UNUSED;

#endif
