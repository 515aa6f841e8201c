/* The flow of a time: it runs at a rate, pauses and jumps, as one state machine.
 *
 * It reads no clock and sends nothing. `now_ns` is steady time, given by the caller, never falling
 * from call to call; earlier values count as the latest anchor. Times are ns of ROS time, at least
 * TB__TIME_MIN: zero means "no time" in ROS. Not thread-safe. */
#ifndef TB_SERVER_FLOW_H
#define TB_SERVER_FLOW_H

#include <stdbool.h>
#include <timebase/jump.h>

#include "base/private_api.h"
#include "server/speed.h"

#define TB__TIME_MIN     INT64_C(1)
#define TB__STEADY_NEVER INT64_MAX
#define TB__TIME_NO_END  INT64_MAX
#define TB__TICK_HZ_MIN  1e-3
#define TB__TICK_HZ_MAX  1e4

/* time = min(horizon, anchor_time + speed * (now - anchor_steady)), or anchor_time while paused */
typedef struct tb__flow {
  int64_t anchor_time_ns, anchor_steady_ns;
  tb__speed_t speed;
  bool paused;
  int64_t horizon_ns; /* time stops there: what comes after it is not known yet */

  int64_t tick_period_ns; /* steady; 0: ticks only on request */
  int64_t next_tick_ns;   /* steady */
  int64_t last_tick_ns;   /* time; 0: none yet */
  tb_jump_reason_t next_reason;
} tb__flow_t;

typedef struct tb__tick {
  int64_t time_ns;
  tb_jump_reason_t reason;
} tb__tick_t;

/* Paused at `time_ns`, at speed 1, without ticks of its own and without horizon. */
TB_PRIVATE_API void tb__flow_init(tb__flow_t *flow, int64_t time_ns, int64_t now_ns);

/* TB_ERR_RANGE: see TB__SPEED_MIN. Time is continuous, within a nanosecond. */
TB_PRIVATE_API tb_status_t tb__flow_set_rate(tb__flow_t *flow, double rate, int64_t now_ns);
TB_PRIVATE_API void tb__flow_pause(tb__flow_t *flow, int64_t now_ns);
TB_PRIVATE_API void tb__flow_resume(tb__flow_t *flow, int64_t now_ns);

/* Time continues from `time_ns`; the next tick is due at once and has `reason`. Removes the
 * horizon. */
TB_PRIVATE_API void tb__flow_jump(tb__flow_t *flow, int64_t time_ns, tb_jump_reason_t reason,
                                  int64_t now_ns);

/* Time continues from where it is at `from_ns`, which may be after now. The next tick is due at
 * `next_tick_ns`; TB__STEADY_NEVER: none. */
TB_PRIVATE_API void tb__flow_restart(tb__flow_t *flow, int64_t from_ns, int64_t now_ns,
                                     int64_t next_tick_ns);

/* Never lowers time. With a higher horizon, time is where it would be had it never stopped: call
 * tb__flow_hold before, to continue from where it is. */
TB_PRIVATE_API void tb__flow_set_horizon(tb__flow_t *flow, int64_t time_ns, int64_t now_ns);
/* Discards the time for which the flow has been stopped at the horizon. */
TB_PRIVATE_API void tb__flow_hold(tb__flow_t *flow, int64_t now_ns);
/* The same, but discards only the time since `from_ns`, when the flow was stopped there already. */
TB_PRIVATE_API void tb__flow_hold_since(tb__flow_t *flow, int64_t from_ns, int64_t now_ns);

/* Moves time forward to `time_ns` at once, without a jump; it stops there until the horizon is
 * set. */
TB_PRIVATE_API void tb__flow_skip_to(tb__flow_t *flow, int64_t time_ns, int64_t now_ns);

TB_PRIVATE_API int64_t tb__flow_time(const tb__flow_t *flow, int64_t now_ns);

/* The first steady instant at which time is `time_ns` or more: the anchor's for a time that has
 * passed, TB__STEADY_NEVER for a time that is not reached because of the horizon or a pause. */
TB_PRIVATE_API int64_t tb__flow_reach(const tb__flow_t *flow, int64_t time_ns);

/* `hz`: 0 or TB__TICK_HZ_MIN to _MAX, to the next nanosecond of period (TB_ERR_RANGE). The first
 * tick is due now. */
TB_PRIVATE_API tb_status_t tb__flow_set_tick_rate(tb__flow_t *flow, double hz, int64_t now_ns);

/* The next periodic tick, in steady time; TB__STEADY_NEVER: none. */
TB_PRIVATE_API int64_t tb__flow_next_tick(const tb__flow_t *flow);

/* True if the time of `now_ns`, or a jump, has not been sent to the sink. */
TB_PRIVATE_API bool tb__flow_is_behind(const tb__flow_t *flow, int64_t now_ns);

/* The tick to send now, which also counts as any periodic tick that was due. */
TB_PRIVATE_API tb__tick_t tb__flow_tick(tb__flow_t *flow, int64_t now_ns);

/* For tests. NULL: every invariant holds; else the first one that does not. A flow that is shared
 * between threads is checked under the lock that guards it. */
const char *tb__flow_check_locked(const tb__flow_t *flow) TB_WARN_UNUSED;

#endif
