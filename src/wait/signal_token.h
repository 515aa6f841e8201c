/* Tokens that SIGINT and SIGTERM cancel. */
#ifndef TB_WAIT_SIGNAL_TOKEN_H
#define TB_WAIT_SIGNAL_TOKEN_H

#include <timebase/cancel_token.h>

/* Cancels the token when a signal comes. TB_ERR_NO_MEMORY, TB_ERR_SYSTEM. */
tb_status_t tb__signals_watch(tb_cancel_token_t *token) TB_WARN_UNUSED;
/* Ends that. Must come before the token is freed. */
void tb__signals_unwatch(tb_cancel_token_t *token);
/* The next signal cancels again, instead of doing what it did before. */
void tb__signals_expect_again(void);

#endif
