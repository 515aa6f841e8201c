/* Steady and system time held by a test: both are stopped, and move only when the test moves them.
 *
 * Everything reads the time through tb__clock_gettime, which is another function then. Waits with a
 * deadline are on lists (parking.h), and so are alarms (alarm.h), so that they are found when time
 * is held, moved and released. */
#ifndef TB_HELD_HELD_TIME_H
#define TB_HELD_HELD_TIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/status.h>

#include "platform/futex.h"

/* Whether time is held. Exact only under the mutex of a list of waits or of the alarms. */
extern _Atomic bool tb__time_held;

static inline bool tb__time_is_held(void)
{
  return atomic_load(&tb__time_held);
}

/* Of TB__DEADLINE_STEADY or TB__DEADLINE_SYSTEM, while held. */
int64_t tb__held_time_now(tb__deadline_clock_t clock);
/* How far steady time is ahead of CLOCK_MONOTONIC while it is not held. */
int64_t tb__steady_ahead_ns(void);

/* Stop both clocks, and let both run again. One thread at a time. TB_ERR_BUSY: time is held.
 * TB_ERR_DETACHED: it is not. */
tb_status_t tb__held_time_take(void) TB_WARN_UNUSED;
tb_status_t tb__held_time_give_back(void) TB_WARN_UNUSED;

/* `is_step`: system time is set, instead of passing. TB_ERR_DETACHED: time is not held.
 * TB_ERR_RANGE: steady time would go back. */
tb_status_t tb__held_time_set(tb__deadline_clock_t clock, int64_t ns, bool is_step) TB_WARN_UNUSED;
/* What tb__wall_offset_ns is while time is held: it changes only by such steps. */
int64_t tb__held_wall_offset_ns(void);
/* How much more than that system time differed from steady time when time was released, because
 * time had passed on one of them only. Giving time back is a step by what system time loses or
 * gains against steady time. */
int64_t tb__moved_apart_ns(void);
tb_status_t tb__held_time_get(tb__deadline_clock_t clock, int64_t *out_ns) TB_WARN_UNUSED;

/* The earliest deadline of a wait or alarm after now. False: there is none. */
bool tb__held_time_next(tb__deadline_clock_t clock, int64_t *out_ns);

#endif
