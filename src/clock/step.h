/* Steps of system time. They are made outside the library: a thread ("tb-steps") finds them after
 * the fact. It exists while the system timeline has a handler or waiter that needs it. */
#ifndef TB_CLOCK_STEP_H
#define TB_CLOCK_STEP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "clock/timeline.h"

/* Count a handler or waiter that steps concern in and out. Only the system timeline steps: on
 * others these do nothing. */
void tb__steps_need_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__steps_release_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Clocks that move from or to the system timeline block steps meanwhile; any number at a time. Call
 * the first with the turn, so that a step in progress ends before. */
void tb__steps_hold_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__steps_unblock_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Call after setting system time (testing.h): the jump is over when it returns. */
void tb__steps_follow(void);

extern _Atomic bool tb__steps_unserved; /* the thread is needed and does not exist */
void tb__steps_start(void);

/* Call after whatever may have made the thread necessary, with no lock held: starts it. A step in
 * between is not lost. */
static inline void tb__steps_watch(void)
{
  if (__builtin_expect(atomic_load_explicit(&tb__steps_unserved, memory_order_relaxed), 0))
    tb__steps_start();
}

#endif
