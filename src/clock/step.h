/* Steps of system time. Nobody of ours makes them: a thread ("tb-steps") finds them after the fact,
 * and exists while somebody on the system timeline needs it. */
#ifndef TB_CLOCK_STEP_H
#define TB_CLOCK_STEP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "clock/timeline.h"

/* Somebody on the timeline is concerned by steps, or no longer. Only the system timeline steps: on
 * others these do nothing. */
void tb__steps_need_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__steps_release_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Clocks on their way from or to the system timeline hold steps off; any number at a time. With the
 * turn, so that a step in progress ends first. */
void tb__steps_hold_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__steps_unblock_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Whoever has set system time itself (testing.h): the jump is over when it returns. */
void tb__steps_follow(void);

extern _Atomic bool tb__steps_unserved; /* a need, and no thread */
void tb__steps_start(void);

/* To follow whatever may have made a need, with nothing held: starts the thread. A step in between
 * is not lost. */
static inline void tb__steps_watch(void)
{
  if (__builtin_expect(atomic_load_explicit(&tb__steps_unserved, memory_order_relaxed), 0))
    tb__steps_start();
}

#endif
