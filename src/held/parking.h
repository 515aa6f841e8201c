/* The waits with a deadline that are in progress, so that a test that takes hold of time finds
 * them. While time is held they are parked: no kernel deadline wakes them, but tb__parking_call_due
 * and tb__futex_wake_one do. */
#ifndef TB_HELD_PARKING_H
#define TB_HELD_PARKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/futex.h"

/* tb__futex_wait_kernel on steady and system time as a test may hold them. */
TB_PRIVATE_API bool tb__futex_wait(_Atomic uint32_t *word, uint32_t expected,
                                   tb__deadline_t deadline);

/* A wait of a kind that knows of time in a test's hand (held_time.h). */
typedef struct tb__wait_spec {
  tb__deadline_t deadline;
  int64_t
      system_ns; /* another deadline, on the system clock, while time is held; INT64_MAX: none */
  bool held;     /* whether time was held when the deadlines were worked out */
  bool rechecks; /* "passed" also when time has been taken or given back since then */
  bool counts_as_idle; /* the thread has nothing to do until it is woken (inflight.h) */
  bool uncounted;      /* a thread of the library's, which nobody counts */
} tb__wait_spec_t;

bool tb__futex_wait_spec(_Atomic uint32_t *word, uint32_t expected, const tb__wait_spec_t *spec);

TB_PRIVATE_API void tb__futex_wake_one(_Atomic uint32_t *word);
TB_PRIVATE_API void tb__futex_wake_all(_Atomic uint32_t *word);

/* Time has been taken: returns when no wait of before is on a deadline of the kernel any more. */
void tb__parking_take_over(void);
void tb__parking_give_back(void);
/* Wakes those whose deadline has come. */
void tb__parking_call_due(void);

/* INT64_MAX: none. */
int64_t tb__parking_next(tb__deadline_clock_t clock, int64_t after_ns);
/* How many threads are parked that rest. */
uint32_t tb__parking_count_idle(void);

#endif
