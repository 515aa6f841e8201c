/* Steady time for a loop that has to be punctual: what it reads, and how it waits. An interface, so
 * that such a loop can run on a clock (wait/clock_pacer.h), and in tests on one of their own. */
#ifndef TB_PLATFORM_PACER_H
#define TB_PLATFORM_PACER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__pacer tb__pacer_t;

struct tb__pacer {
  int64_t (*now_ns)(tb__pacer_t *pacer);
  /* Returns when `deadline_ns` (INT64_MAX: never) is reached, or when tb__pacer_nudge has been
   * called since `events` was read; at times earlier. */
  void (*wait)(tb__pacer_t *pacer, uint32_t events, int64_t deadline_ns);
  void (*wake)(tb__pacer_t *pacer); /* who waits; NULL: `events` is a futex */
  _Atomic uint32_t events;
  atomic_bool waits;         /* time stands, as it has not started */
  _Atomic int64_t stride_ns; /* its last step, if it goes in large ones: what is due within one
                               cannot be done before its end */
};

/* On CLOCK_MONOTONIC. */
TB_PRIVATE_API void tb__pacer_init(tb__pacer_t *pacer);

/* Read it before looking at what a nudge announces. */
static inline uint32_t tb__pacer_events(tb__pacer_t *pacer)
{
  return atomic_load(&pacer->events);
}

/* Wakes who waits, at once. [any thread] [async-signal-safe] */
TB_PRIVATE_API void tb__pacer_nudge(tb__pacer_t *pacer);

#endif
