/* Waiting for a word in memory to change, with an absolute deadline. Words are private to the
 * process, but for the shared ones: those lie in memory that other processes have mapped too, and
 * may be mapped read-only. */
#ifndef TB_PLATFORM_FUTEX_H
#define TB_PLATFORM_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"

typedef enum tb__deadline_clock {
  TB__DEADLINE_NONE,
  TB__DEADLINE_STEADY, /* CLOCK_MONOTONIC */
  TB__DEADLINE_SYSTEM, /* CLOCK_REALTIME: follows steps of the wall clock */
} tb__deadline_clock_t;

typedef struct tb__deadline {
  tb__deadline_clock_t clock;
  int64_t ns; /* of that clock; negative counts as 0 */
} tb__deadline_t;

#define TB__NO_DEADLINE ((tb__deadline_t){TB__DEADLINE_NONE, 0})

/* Blocks while *word == expected. True when it did not (woken, changed, interrupted: look again);
 * false when the deadline has passed. */
TB_PRIVATE_API bool tb__futex_wait(_Atomic uint32_t *word, uint32_t expected,
                                   tb__deadline_t deadline);

/* A wait of a kind that knows of time in a test's hand (held_time.h). */
typedef struct tb__asleep {
  tb__deadline_t deadline;
  int64_t
      system_ns; /* another deadline, on the system clock, while time is held; INT64_MAX: none */
  bool held;     /* whether time was held when the deadlines were worked out */
  bool looks;    /* "passed" also when time has been taken or given back since then */
  bool rests;    /* the thread has nothing to do until it is woken (activity.h) */
  bool hidden;   /* a thread of the library's, which nobody counts */
} tb__asleep_t;

bool tb__futex_wait_asleep(_Atomic uint32_t *word, uint32_t expected, const tb__asleep_t *asleep);

TB_PRIVATE_API void tb__futex_wake_one(_Atomic uint32_t *word);
bool tb__futex_wait_shared(const _Atomic uint32_t *word, uint32_t expected,
                           tb__deadline_t deadline);
void tb__futex_wake_shared(const _Atomic uint32_t *word); /* all */
TB_PRIVATE_API void tb__futex_wake_all(_Atomic uint32_t *word);

/* The kernel's own: deadlines are those of its clocks, whoever holds time. */
TB_PRIVATE_API bool tb__futex_wait_kernel(_Atomic uint32_t *word, uint32_t expected,
                                          tb__deadline_t deadline);
void tb__futex_wake_kernel(_Atomic uint32_t *word, int count);

#endif
