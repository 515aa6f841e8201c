/* A pacer that runs on a clock: its time is what has passed on it. Forward steps pass. Backward
 * jumps, changes of the clock and the time before the first tick do not move it. */
#ifndef TB_WAIT_CLOCK_PACER_H
#define TB_WAIT_CLOCK_PACER_H

#include <timebase/clock.h>

#include "held/pacer.h"

/* Its first time. */
#define TB__CLOCK_PACER_START INT64_C(1000000000)

/* `clock` must outlive it. A span grows with the rate of the clock, and includes a last step of 100
 * ms or more that is no forward jump (timeline.h). One thread may wait.
 * [blocks: during a jump] Errors of reading the clock and of creating a handler. */
TB_PRIVATE_API tb_status_t tb__clock_pacer_create(tb_clock_t *clock,
                                                  tb__pacer_t **out) TB_WARN_UNUSED;
/* Accepts NULL. No thread may be waiting. [blocks: during a jump] */
TB_PRIVATE_API void tb__clock_pacer_destroy(tb__pacer_t *pacer);

#endif
