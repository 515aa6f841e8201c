/* Messages of the library to the user's hook. */
#ifndef TB_BASE_LOG_H
#define TB_BASE_LOG_H

#include <timebase/log.h>

#include "base/private_api.h"

/* Formats at most 1 KiB. Call with no lock held: the hook may call back into the library. */
TB_PRIVATE_API void tb__log(tb_log_level_t level, const char *format, ...) TB_PRINTF(2, 3);

#endif
