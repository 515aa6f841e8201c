/* The sleepers' side of a cancel token. */
#ifndef TB_WAIT_CANCEL_TOKEN_H
#define TB_WAIT_CANCEL_TOKEN_H

#include <timebase/cancel_token.h>

#include "wait/sleeper.h"

/* Makes the sleeper a member, which is marked when the token is cancelled or destroyed; at once if
 * it is already. */
void tb__cancel_token_join(tb_cancel_token_t *token, tb__sleeper_t *sleeper);

/* No mark follows. The token may be gone when it returns. */
void tb__cancel_token_leave(tb_cancel_token_t *token, tb__sleeper_t *sleeper);

#endif
