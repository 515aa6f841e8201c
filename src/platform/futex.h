/* Waiting for a word in memory to change, with an absolute deadline. Words are private to the
 * process. */
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

TB_PRIVATE_API void tb__futex_wake_one(_Atomic uint32_t *word);
TB_PRIVATE_API void tb__futex_wake_all(_Atomic uint32_t *word);

#endif
