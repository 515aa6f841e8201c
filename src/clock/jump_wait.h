/* Waiting until a jump is over, and reporting a handler that takes too long (J7). */
#ifndef TB_CLOCK_JUMP_WAIT_H
#define TB_CLOCK_JUMP_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <timebase/duration.h>

#include "clock/callback_context.h"
#include "clock/handler.h"
#include "platform/futex.h"

#define TB__SLOW_HANDLER_NS TB_NS_PER_S /* the limit of a handler, unless set */

/* A blocked call: of a reader, of a writer that waits for its turn, or of a thread that removes a
 * handler. */
typedef struct tb__jump_wait {
  int64_t limit_ns; /* the caller's own, steady; INT64_MAX: none */
  int64_t since_ns; /* since when a reader is blocked; 0: it is not */
} tb__jump_wait_t;

#define TB__JUMP_WAIT_INIT(limit)                                                                  \
  {                                                                                                \
    (limit), 0                                                                                     \
  }

/* Waits until a count of users is 0. TB_ERR_TIMEOUT. */
tb_status_t tb__users_wait(_Atomic uint32_t *users, int64_t limit_ns) TB_WARN_UNUSED;

/* Waits until *word is no longer `seen`, and may return earlier. Reports the handler that keeps the
 * turn of `timeline` for too long. With no lock held. TB_ERR_TIMEOUT: the caller's limit has
 * passed. */
tb_status_t tb__jump_wait_for(tb__jump_wait_t *wait, tb_timeline_t *timeline,
                              _Atomic uint32_t *word, uint32_t seen) TB_WARN_UNUSED;

/* The same for the change of source of `clock`; NULL: the clock is not known. */
tb_status_t tb__jump_wait_for_change(tb__jump_wait_t *wait, const tb_clock_t *clock,
                                     _Atomic uint32_t *word, uint32_t seen) TB_WARN_UNUSED;

/* The same for a reader of a blocked timeline, or of a blocked clock. TB_ERR_BUSY: readers give up
 * on this timeline. */
tb_status_t tb__jump_wait_read_timeline(tb__jump_wait_t *wait, tb_timeline_t *timeline,
                                        uint32_t seen) TB_WARN_UNUSED;
tb_status_t tb__jump_wait_read_clock(tb__jump_wait_t *wait, tb_clock_t *clock,
                                     uint32_t seen) TB_WARN_UNUSED;

/* Applies the options that concern handlers; blocked threads act on them at once. */
void tb__jump_wait_set_options_locked(tb_timeline_t *timeline, const tb_timeline_options_t *options)
    TB_REQUIRES(timeline->mutex);

/* Around a call of a handler, on the thread that calls it. */
void tb__handler_call_begin(tb__jump_t *jump, struct tb_jump_handler *handler);
void tb__handler_call_end(tb__jump_t *jump, struct tb_jump_handler *handler);

#endif
