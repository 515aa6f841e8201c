/* The clocks of this process that follow a node. A clock follows one node at a time: two nodes
 * would move it in turn, each at a change of its own `use_sim_time`.
 */
#ifndef TB_ROS2_CLOCK_CLAIMS_H
#define TB_ROS2_CLOCK_CLAIMS_H

#include <stddef.h>
#include <timebase/clock.h>

/* TB_ERR_BUSY: the clock is claimed already. TB_ERR_NO_MEMORY. Takes a lock under which nothing
 * else is locked. */
TB_WARN_UNUSED tb_status_t tb__clock_claim(const tb_clock_t *clock);

/* Ends the claims on these clocks. */
void tb__clock_claims_end(tb_clock_t *const *clocks, size_t count);

#endif
