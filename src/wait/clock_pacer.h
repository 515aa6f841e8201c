/* A pacer that runs on a clock: its time is what has passed on it. Forward steps pass. Backward
 * jumps and changes of the clock move it by nothing, nor does the time before the first tick. */
#ifndef TB_WAIT_CLOCK_PACER_H
#define TB_WAIT_CLOCK_PACER_H

#include <timebase/clock.h>

#include "held/pacer.h"

/* Where it begins. */
#define TB__CLOCK_PACER_START INT64_C(1000000000)

/* `clock` must outlive it. A span grows with the rate of the clock, and includes a last step of 100
 * ms or more that is no forward jump (timeline.h). One thread may wait.
 * [blocks: during a jump] What reading the clock and making a handler return. */
TB_PRIVATE_API tb_status_t tb__clock_pacer_create(tb_clock_t *clock, tb__pacer_t **out);
/* Accepts NULL. Nobody waits any more. [blocks: during a jump] */
TB_PRIVATE_API void tb__clock_pacer_destroy(tb__pacer_t *pacer);

#endif
