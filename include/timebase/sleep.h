/* Sleeping until a time or for a duration, on every kind of clock. */
#ifndef TIMEBASE_SLEEP_H
#define TIMEBASE_SLEEP_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** Flags of a wait. Without them a forward step is time passing, a backward jump makes sleep_until
 * wait for its time again, and sleep_for keeps the part that had not passed. */
#define TB_WAIT_FAIL_ON_BACKWARD     UINT32_C(1) /* a backward jump: TB_ERR_JUMP_BACKWARD */
#define TB_WAIT_FAIL_ON_FORWARD      UINT32_C(2) /* >= forward_min: TB_ERR_JUMP_FORWARD */
#define TB_WAIT_FAIL_ON_CLOCK_CHANGE UINT32_C(4) /* TB_ERR_CLOCK_CHANGED */
#define TB_WAIT_FAIL_ON_ANY          UINT32_C(7)
#define TB_SLEEP_KEEP_TIME           UINT32_C(8) /* sleep_until continues after a clock change */

/** A state among those that are waited for: TB_CLOCK_STATE_BIT(TB_CLOCK_LOST) | ... */
#define TB_CLOCK_STATE_BIT(state) (UINT32_C(1) << (state))

/** What ends a wait early. All zero: nothing does. Calls that wait for something else than time
 * take the same (timebase/ros2_client.h and others): what ends them early is TB_ERR_CANCELLED,
 * TB_ERR_CLOSED, TB_ERR_TIMEOUT, TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD, TB_ERR_CLOCK_CHANGED,
 * and TB_ERR_DEADLOCK with a clock from a jump callback. */
typedef struct tb_wait_options {
  uint32_t flags;            /**< TB_WAIT_FAIL_ON_..., TB_SLEEP_KEEP_TIME; 0: none */
  tb_duration_t forward_min; /**< with TB_WAIT_FAIL_ON_FORWARD, > 0 */
  tb_duration_t limit;       /**< see TB_NO_LIMIT: TB_ERR_TIMEOUT when it has passed */
  tb_cancel_token_t *token;  /**< cancelled: TB_ERR_CANCELLED, destroyed: TB_ERR_CLOSED; or NULL */
  tb_clock_t *clock;         /**< in calls that do not wait on a clock: whose jumps the flags mean;
                                destroyed: TB_ERR_CLOSED. NULL: none, and TB_ERR_INVALID with flags.
                                In calls on a clock: NULL or that clock; on steady time NULL */
} tb_wait_options_t;

/** Nothing ends the wait early. */
#define TB_WAIT_OPTIONS_INIT                                                                       \
  {                                                                                                \
    0, {0}, {0}, NULL, NULL                                                                        \
  }

TB_BEGIN_DECLS

/* Several reasons to return at once: cancelled, closed, jump, due, limit, the first of these. */

/* On system time these hold for steps of the wall clock. A wait there with fail flags, or until a
 * time and with a limit in steady time, needs a thread of the library ("tb-steps"), which ends soon
 * after. */

/** Returns TB_OK once the clock has reached `target`; never early. `options` may be NULL. On an
 * active clock whose source has not started it waits for the first tick, then compares. A clock
 * change ends it with TB_ERR_CLOCK_CHANGED unless TB_SLEEP_KEEP_TIME is given. [any thread]
 * [blocks] TB_ERR_CLOCK_MISMATCH: a target of the other kind. TB_ERR_NOT_SET: a ROS target of zero.
 * TB_ERR_DEADLOCK: from a jump callback. TB_ERR_CLOSED: the clock or the token was destroyed.
 * TB_ERR_CANCELLED, TB_ERR_TIMEOUT, TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD as the options ask.
 * TB_ERR_INVALID. (rclcpp::Clock::sleep_until) */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_sleep_until(tb_clock_t *clock, tb_time_t target,
                                                          const tb_wait_options_t *options);

/** Returns TB_OK once `duration` has passed on the clock; at once if <= 0. Backward jumps and clock
 * changes keep the part that had not passed. On system time it counts in steady time. On an active
 * clock whose source has not started it counts from the first tick. A duration too long for the
 * clock waits forever. [any thread] [blocks] Errors as tb_clock_sleep_until.
 * (rclcpp::Clock::sleep_for) */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_sleep_for(tb_clock_t *clock, tb_duration_t duration,
                                                        const tb_wait_options_t *options);

/** The same on steady time, where nothing jumps: the fail flags are accepted and never apply.
 * [any thread] [from callbacks: whatever waits for the callback keeps waiting] [blocks] */
TB_INLINE tb_status_t tb_steady_clock_sleep_until(tb_steady_clock_t *clock, tb_steady_time_t target,
                                                  const tb_wait_options_t *options);
TB_INLINE tb_status_t tb_steady_clock_sleep_for(tb_steady_clock_t *clock, tb_duration_t duration,
                                                const tb_wait_options_t *options);

/** Returns TB_OK at the first non-zero time of the clock: at once when inactive or started.
 * [any thread] [blocks] Errors as tb_clock_sleep_until. (rclcpp::Clock::wait_until_started) */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_wait_until_started(tb_clock_t *clock,
                                                                 const tb_wait_options_t *options);

/** Returns TB_OK once the state of the clock is one of `states`, at once if it is already; `out`,
 * which may be NULL, is then the clock's reading at that moment. The state may have changed again
 * when the call returns, but one that the wait ends with has been. Whatever makes a state is seen:
 * ticks, states set by the source, changes of source, and silence. It ends with a state however
 * short that was, and does not wake for a tick that makes none. A state that a jump makes counts
 * when its handlers have run. Flags are not accepted: they concern time. A clock of kind
 * TB_TIME_SYSTEM is always inactive. [any thread] [blocks] TB_ERR_INVALID: no state, an unknown
 * one, or a flag. Errors as tb_clock_sleep_until; TB_ERR_CLOSED also where TB_CLOCK_CLOSED is
 * waited for. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_wait_for_state(tb_clock_t *clock, uint32_t states,
                                                             const tb_wait_options_t *options,
                                                             tb_clock_reading_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_clock_sleep_until_sized(tb_clock_t *clock, tb_time_t target,
                                              const tb_wait_options_t *options,
                                              size_t options_size);
TB_INLINE tb_status_t tb_clock_sleep_until(tb_clock_t *clock, tb_time_t target,
                                           const tb_wait_options_t *options)
{
  return tb_clock_sleep_until_sized(clock, target, options, sizeof *options);
}
TB_API tb_status_t tb_clock_sleep_for_sized(tb_clock_t *clock, tb_duration_t duration,
                                            const tb_wait_options_t *options, size_t options_size);
TB_INLINE tb_status_t tb_clock_sleep_for(tb_clock_t *clock, tb_duration_t duration,
                                         const tb_wait_options_t *options)
{
  return tb_clock_sleep_for_sized(clock, duration, options, sizeof *options);
}
TB_API tb_status_t tb_steady_clock_sleep_until_sized(tb_steady_clock_t *clock,
                                                     tb_steady_time_t target,
                                                     const tb_wait_options_t *options,
                                                     size_t options_size);
TB_INLINE tb_status_t tb_steady_clock_sleep_until(tb_steady_clock_t *clock, tb_steady_time_t target,
                                                  const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_until_sized(clock, target, options, sizeof *options);
}
TB_API tb_status_t tb_steady_clock_sleep_for_sized(tb_steady_clock_t *clock, tb_duration_t duration,
                                                   const tb_wait_options_t *options,
                                                   size_t options_size);
TB_INLINE tb_status_t tb_steady_clock_sleep_for(tb_steady_clock_t *clock, tb_duration_t duration,
                                                const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_for_sized(clock, duration, options, sizeof *options);
}
TB_API tb_status_t tb_clock_wait_until_started_sized(tb_clock_t *clock,
                                                     const tb_wait_options_t *options,
                                                     size_t options_size);
TB_INLINE tb_status_t tb_clock_wait_until_started(tb_clock_t *clock,
                                                  const tb_wait_options_t *options)
{
  return tb_clock_wait_until_started_sized(clock, options, sizeof *options);
}
TB_API tb_status_t tb_clock_wait_for_state_sized(tb_clock_t *clock, uint32_t states,
                                                 const tb_wait_options_t *options,
                                                 size_t options_size, tb_clock_reading_t *out,
                                                 size_t out_size);
TB_INLINE tb_status_t tb_clock_wait_for_state(tb_clock_t *clock, uint32_t states,
                                              const tb_wait_options_t *options,
                                              tb_clock_reading_t *out)
{
  return tb_clock_wait_for_state_sized(clock, states, options, sizeof *options, out, sizeof *out);
}

TB_END_DECLS

#endif
