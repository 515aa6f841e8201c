/* Which clocks something moves: two nodes would move a clock in turn, each at a change of its own
 * `use_sim_time`. */
#ifndef TB_CLOCK_CLAIM_H
#define TB_CLOCK_CLAIM_H

#include <stdbool.h>
#include <timebase/clock.h>

#include "base/private_api.h"

/* False: it is claimed already. */
TB_PRIVATE_API bool tb__clock_claim(tb_clock_t *clock) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__clock_unclaim(tb_clock_t *clock);

#endif
