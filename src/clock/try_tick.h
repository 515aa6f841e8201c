/* Ticks in two steps, from a thread that must not wait and not wake many waiters. */
#ifndef TB_CLOCK_TRY_TICK_H
#define TB_CLOCK_TRY_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/timeline.h>

#include "base/private_api.h"

/* As tb_timeline_try_tick. A step forward that makes waiters due, and has no other consequence, is
 * committed as well: then *out_due becomes true, and tb__timeline_wake_due must follow. */
TB_PRIVATE_API tb_status_t tb__timeline_try_tick(tb_timeline_t *timeline, int64_t time_ns,
                                                 bool *out_due) TB_WARN_UNUSED;
/* [any thread but in a callback of a jump] */
TB_PRIVATE_API void tb__timeline_wake_due(tb_timeline_t *timeline);

/* Announces a tick that another thread will commit. From here on readers wait as in a blocking jump
 * (J3). One thread at a time. */
TB_PRIVATE_API void tb__timeline_announce(tb_timeline_t *timeline);
/* The tick has been committed, or will not be. */
TB_PRIVATE_API void tb__timeline_end_announced(tb_timeline_t *timeline);

#endif
