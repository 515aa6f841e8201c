/* Tokens that end waits from outside: one token serves any number of waits on any number of clocks.
 */
#ifndef TIMEBASE_CANCEL_TOKEN_H
#define TIMEBASE_CANCEL_TOKEN_H

#include <stdbool.h>
#include <timebase/duration.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** Ends the waits that it was given to. */
typedef struct tb_cancel_token tb_cancel_token_t;

TB_BEGIN_DECLS

/** A token that is not cancelled. It is given to a wait in tb_wait_options_t.
 * [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY. */
TB_API TB_WARN_UNUSED tb_status_t tb_cancel_token_create(tb_cancel_token_t **out);

/** A token that the first SIGINT or SIGTERM cancels, for programs that end their waits on Ctrl-C.
 * Any number may be made; while there is one, the process has a handler for both signals and a
 * thread
 * ("tb-signals"). A handler that the program installed before is called too. A second signal does
 * what it did before there was a token, by default it ends the process, so that one that does not
 * end by itself can be stopped; after tb_cancel_token_reset of such a token the next one cancels
 * again. Destroying the last one restores what was there; a handler that the program installed
 * meanwhile stays. [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_SYSTEM
 * (thread, descriptors), TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_cancel_token_create_on_signals(tb_cancel_token_t **out);

/** Makes all waits with the token return TB_ERR_CLOSED and waits until they have left the token. A
 * wait on a condition leaves it before it takes the caller's mutex again, so that mutex may be held
 * here. No other thread may start using the token once this is called. NULL does nothing (TB_OK).
 * [any thread] [blocks] TB_ERR_DEADLOCK from a jump callback: nothing is destroyed then. */
TB_API tb_status_t tb_cancel_token_destroy(tb_cancel_token_t *token);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT). TB_ERR_TIMEOUT: waits with the token,
 * also future ones, return TB_ERR_CLOSED, but it must be destroyed by another call: a wait that
 * begins during a blocking jump leaves after it. */
TB_API TB_WARN_UNUSED tb_status_t tb_cancel_token_destroy_within(tb_cancel_token_t *token,
                                                                 tb_duration_t limit);

/** Ends every wait with the token, those in progress and future ones, with TB_ERR_CANCELLED. Only a
 * wait on a condition that has been signalled before stays signalled. Cancelling again does
 * nothing; NULL does nothing. Never blocks. [any thread] [from callbacks] */
TB_API void tb_cancel_token_cancel(tb_cancel_token_t *token);

/** Lets future waits proceed. Waits that were in progress when the token was cancelled still return
 * TB_ERR_CANCELLED. [any thread] [from callbacks] NULL does nothing. */
TB_API void tb_cancel_token_reset(tb_cancel_token_t *token);

/** Whether a wait that begins now would be cancelled; false for NULL. Takes no lock.
 * [any thread] [from callbacks] */
TB_API bool tb_cancel_token_is_cancelled(const tb_cancel_token_t *token);

TB_END_DECLS

#endif
