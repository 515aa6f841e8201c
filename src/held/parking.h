/* The waits with a deadline that are in progress, so that they are found when a test takes hold of
 * time. While time is held they are parked: they are woken by tb__parking_wake_due and
 * tb__futex_wake_*, not by a deadline of the kernel. */
#ifndef TB_HELD_PARKING_H
#define TB_HELD_PARKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/futex.h"

/* tb__futex_wait_kernel on steady and system time, also while a test holds them. */
TB_PRIVATE_API bool tb__futex_wait(_Atomic uint32_t *word, uint32_t expected,
                                   tb__deadline_t deadline);

/* A wait that takes account of held time (held_time.h). */
typedef struct tb__wait_spec {
  tb__deadline_t deadline;
  int64_t
      system_ns; /* another deadline, on the system clock, while time is held; INT64_MAX: none */
  bool held;     /* whether time was held when the deadlines were computed */
  bool rechecks; /* returns as after the deadline if time has been held or released since then */
  bool counts_as_idle; /* the thread is idle until it is woken (inflight.h) */
  bool uncounted;      /* a thread of the library, left out of tb__parking_count_idle */
} tb__wait_spec_t;

bool tb__futex_wait_spec(_Atomic uint32_t *word, uint32_t expected, const tb__wait_spec_t *spec);

TB_PRIVATE_API void tb__futex_wake_one(_Atomic uint32_t *word);
TB_PRIVATE_API void tb__futex_wake_all(_Atomic uint32_t *word);

/* Call after time has been held: returns when no earlier wait is on a deadline of the kernel any
 * more. */
void tb__parking_take_over(void);
void tb__parking_give_back(void);
/* Wakes the waits whose deadline has passed. */
void tb__parking_wake_due(void);

/* INT64_MAX: none. */
int64_t tb__parking_next(tb__deadline_clock_t clock, int64_t after_ns);
/* How many parked threads are idle. */
uint32_t tb__parking_count_idle(void);

#endif
