/* Messages of the library to the user's hook. */
#ifndef TB_BASE_LOG_H
#define TB_BASE_LOG_H

#include <timebase/log.h>

#include "base/private_api.h"

/* > 0 while the user's hook runs on this thread, which must not wait for a jump there. */
extern _Thread_local int tb__log_depth __attribute__((tls_model("initial-exec")));

/* See tb_log_set_limit. */
TB_PRIVATE_API uint32_t tb__log_limit(void);

/* Formats at most 1 KiB, and escapes it (tb_text_escape). Call with no lock held: the hook may call
 * back into the library. */
TB_PRIVATE_API void tb__log(tb_log_level_t level, const char *format, ...) TB_PRINTF(2, 3);

#endif
