/* For unit tests: waits until threads are asleep on a clock, by their state, never by time. */
#ifndef TB_TEST_WAITING_H
#define TB_TEST_WAITING_H

#include <pthread.h>
#include <sched.h>

#include "clock/clock.h"

static inline int waiters_on(const tb_clock_t *clock)
{
  int count = 0;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  for (const tb__waiter_t *waiter = clock->waiters; waiter; waiter = waiter->clock_next)
    count++;
  tb__clock_unlock(timeline);
  return count;
}

static inline void wait_for_waiters(const tb_clock_t *clock, int count)
{
  while (waiters_on(clock) != count)
    sched_yield();
}

#endif
