/* What may end a long call early: wait options, as of any wait. A thread waits with them and calls
 * back when something ends the wait. */
#ifndef TB_WAIT_END_WATCH_H
#define TB_WAIT_END_WATCH_H

#include <timebase/sleep.h>

#include "base/private_api.h"

typedef struct tb__end_watch tb__end_watch_t;

/* On `clock`, which must outlive it, or on steady time (NULL), where nothing jumps. `on_end` is
 * called at most once, on the thread. *out becomes NULL where nothing can end the wait. TB_ERR_...
 * of the options; TB_ERR_CANCELLED, TB_ERR_TIMEOUT: the token is cancelled already, the limit is
 * TB_NO_WAIT; TB_ERR_NO_MEMORY, TB_ERR_SYSTEM. */
TB_PRIVATE_API tb_status_t tb__end_watch_start(tb_clock_t *clock, const tb_wait_options_t *options,
                                               void (*on_end)(void *user), void *user,
                                               tb__end_watch_t **out) TB_WARN_UNUSED;
/* What has ended the wait; TB_OK: nothing, or `watch` is NULL. [blocks: during a jump] */
TB_PRIVATE_API tb_status_t tb__end_watch_stop(tb__end_watch_t *watch) TB_WARN_UNUSED;

#endif
