/* The time source of a loop that has to be punctual: how it reads steady time, and how it waits. An
 * interface, so that such a loop can run on a clock (wait/clock_pacer.h), and in tests on a manual
 * one. */
#ifndef TB_HELD_PACER_H
#define TB_HELD_PACER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__pacer tb__pacer_t;

struct tb__pacer {
  int64_t (*now_ns)(tb__pacer_t *pacer);
  int64_t (*steady_ns)(tb__pacer_t *pacer); /* NULL: now_ns is */
  /* Returns when `deadline_ns` or, in steady time, `limit_ns` (INT64_MAX: never) is reached, or
   * when tb__pacer_nudge has been called since `events` was read. May return earlier. */
  void (*wait)(tb__pacer_t *pacer, uint32_t events, int64_t deadline_ns, int64_t limit_ns);
  void (*wake)(tb__pacer_t *pacer); /* wakes the loop; NULL: `events` is a futex */
  /* How much may pass in `steady_ns` of steady time, including the last step. NULL: the same. */
  int64_t (*span_ns)(tb__pacer_t *pacer, int64_t steady_ns);
  _Atomic uint32_t events;
  atomic_bool waits; /* time has not started */
};

/* On CLOCK_MONOTONIC. */
TB_PRIVATE_API void tb__pacer_init(tb__pacer_t *pacer);

/* Read it before looking at what a nudge announces. */
static inline uint32_t tb__pacer_events(tb__pacer_t *pacer)
{
  return atomic_load(&pacer->events);
}

static inline int64_t tb__pacer_span_ns(tb__pacer_t *pacer, int64_t steady_ns)
{
  return pacer->span_ns ? pacer->span_ns(pacer, steady_ns) : steady_ns;
}

/* Steady time, when the pacer's is `now_ns`. */
static inline int64_t tb__pacer_steady_ns(tb__pacer_t *pacer, int64_t now_ns)
{
  return pacer->steady_ns ? pacer->steady_ns(pacer) : now_ns;
}

/* Wakes the loop at once. [any thread] [async-signal-safe] */
TB_PRIVATE_API void tb__pacer_nudge(tb__pacer_t *pacer);

#endif
