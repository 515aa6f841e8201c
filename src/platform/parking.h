/* The waits with a deadline that are in progress, so that a test that takes hold of time finds
 * them. While time is held they are parked: no kernel deadline wakes them, but tb__parking_call_due
 * and tb__parking_wake do. */
#ifndef TB_PLATFORM_PARKING_H
#define TB_PLATFORM_PARKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/futex.h"

/* tb__futex_wait with a deadline. */
bool tb__parking_wait(_Atomic uint32_t *word, uint32_t expected, const tb__asleep_t *asleep);

/* Those parked on the word look again; after a wake-up of the kernel, in held time only. */
void tb__parking_wake(_Atomic uint32_t *word);

/* Time has been taken: returns when no wait of before is on a deadline of the kernel any more. */
void tb__parking_take_over(void);
void tb__parking_give_back(void);
/* Wakes those whose deadline has come. */
void tb__parking_call_due(void);

/* INT64_MAX: none. */
int64_t tb__parking_next(tb__deadline_clock_t clock, int64_t after_ns);
/* How many threads are parked that rest. */
uint32_t tb__parking_count_resting(void);

#endif
