/* Calls that wait for something else than a clock, with wait options: what ends the wait early
 * raises the futex on which the call blocks. */
#ifndef TB_WAIT_CALL_WAIT_H
#define TB_WAIT_CALL_WAIT_H

#include <timebase/sleep.h>

#include "base/private_api.h"
#include "wait/sleeper.h"

typedef struct tb__call_wait {
  tb__sleeper_t sleeper;
  _Atomic uint32_t *word;
  tb__deadline_t deadline; /* of the limit */
} tb__call_wait_t;

/* `options` may be NULL. Whatever makes the caller look again raises *word by 1 and wakes its
 * waiters. An error of the options, or TB_ERR_CANCELLED, TB_ERR_CLOSED: it has not begun. */
TB_PRIVATE_API tb_status_t tb__call_wait_begin(tb__call_wait_t *wait,
                                               const tb_wait_options_t *options,
                                               _Atomic uint32_t *word) TB_WARN_UNUSED;
/* What has ended the wait, except the limit; TB_OK: nothing yet. */
TB_PRIVATE_API tb_status_t tb__call_wait_ended(tb__call_wait_t *wait) TB_WARN_UNUSED;
/* Blocks until `look` returns another status than TB_ERR_TIMEOUT, and returns that, or what has
 * ended the wait; TB_ERR_TIMEOUT: the limit. */
TB_PRIVATE_API tb_status_t tb__call_wait_for(tb__call_wait_t *wait, tb_status_t (*look)(void *user),
                                             void *user) TB_WARN_UNUSED;
/* Whether something else than the limit can end it. */
static inline bool tb__call_wait_can_end(const tb__call_wait_t *wait)
{
  return wait->sleeper.token || wait->sleeper.clock;
}
/* [blocks: until a jump that has ended the wait is over] */
TB_PRIVATE_API void tb__call_wait_end(tb__call_wait_t *wait);

/* All of it. */
TB_PRIVATE_API tb_status_t tb__call_wait(const tb_wait_options_t *options, _Atomic uint32_t *word,
                                         tb_status_t (*look)(void *user),
                                         void *user) TB_WARN_UNUSED;

#endif
