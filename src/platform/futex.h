/* Waiting for a word in memory to change, with an absolute deadline. Words are private to the
 * process, except shared ones, which are in memory that other processes have mapped too. A shared
 * word may be mapped read-only. */
#ifndef TB_PLATFORM_FUTEX_H
#define TB_PLATFORM_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"
#include "platform/deadline.h"

/* Blocks while *word == expected. True when it ends otherwise (woken, changed, interrupted: check
 * again); false when the deadline has passed. Deadlines are those of the kernel's clocks, also
 * while a test holds time (held/parking.h). */
TB_PRIVATE_API bool tb__futex_wait_kernel(_Atomic uint32_t *word, uint32_t expected,
                                          tb__deadline_t deadline);
TB_PRIVATE_API void tb__futex_wake_kernel(_Atomic uint32_t *word, int count);

/* For shared words. Wakes all waiters. */
bool tb__futex_wait_shared(const _Atomic uint32_t *word, uint32_t expected,
                           tb__deadline_t deadline);
void tb__futex_wake_shared(const _Atomic uint32_t *word);

#endif
