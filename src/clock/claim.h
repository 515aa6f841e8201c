/* Clocks that a node moves, at each change of its `use_sim_time`. Programs can neither move nor
 * destroy them meanwhile: TB_ERR_BUSY. */
#ifndef TB_CLOCK_CLAIM_H
#define TB_CLOCK_CLAIM_H

#include <stdbool.h>
#include <timebase/clock.h>

#include "base/private_api.h"

/* False: it is claimed already. */
TB_PRIVATE_API bool tb__clock_claim(tb_clock_t *clock) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__clock_unclaim(tb_clock_t *clock);
/* False for NULL, and in a forked child, where no node moves anything. */
bool tb__clock_is_claimed(const tb_clock_t *clock) TB_WARN_UNUSED;

/* As tb_clock_set_source, for the one that has claimed it. */
TB_PRIVATE_API tb_status_t tb__clock_set_claimed(tb_clock_t *clock, tb_source_t *source);

#endif
