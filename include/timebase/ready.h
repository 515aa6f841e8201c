/* Readiness of a clock of ROS time: waiting for it, and a callback.
 *
 * A clock is ready with the first non-zero tick of its source, also if that source is paused. With
 * `running` its time must also be seen to advance for a while, at the rate and factor that are
 * asked for. A clock that nothing moves (no source, or inactive) reports system time and is not
 * ready. */
#ifndef TIMEBASE_READY_H
#define TIMEBASE_READY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/sleep.h>
#include <timebase/status.h>
#include <timebase/time.h>

/** What is asked of a clock. All zero: its first non-zero tick. */
typedef struct tb_ready_options {
  bool running;       /**< time must advance; implied by a rate or a factor */
  uint8_t padding[3]; /**< not used */
  uint32_t ticks;     /**< distinct times to be seen while it is observed, at least 2; 0: 2 */
  /** Ticks that move time, a steady second; 0: any. Where time runs by itself, those of the source
   * that it is made from count; without ticks the rate is 0. */
  double min_rate_hz;
  double max_rate_hz; /**< 0: any */
  double min_factor;  /**< seconds of the clock a steady second (real-time factor); 0: any */
  double max_factor;  /**< 0: any */
  /** Steady time for which it is observed, from the first tick that moves time; it goes on until
   * `ticks` have come. 0: 100 ms, or 1 s if a rate or a factor is asked for. */
  tb_duration_t observe;
} tb_ready_options_t;

/** The first non-zero tick. */
#define TB_READY_OPTIONS_INIT                                                                      \
  {                                                                                                \
    false, {0}, 0, 0, 0, 0, 0,                                                                     \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** Why a clock is not ready. More may be added: treat one that you do not know as "not ready". */
typedef enum tb_ready_reason {
  TB_READY = 0,           /**< it is */
  TB_READY_NO_SOURCE = 1, /**< inactive, or no default source to follow: it reports system time */
  TB_READY_NO_PUBLISHER = 2, /**< nothing publishes the time */
  TB_READY_QOS = 3,          /**< a publisher is there, but its QoS does not match */
  TB_READY_ZERO = 4,         /**< a publisher is there, but no tick, or only zero */
  TB_READY_LOST = 5,         /**< the publisher is gone */
  TB_READY_STALLED = 6,      /**< no tick for the stall limit (timeline.h) */
  TB_READY_PAUSED = 7,       /**< time must advance, and is paused */
  TB_READY_OBSERVING = 8,    /**< the time that it has to be observed is not over */
  TB_READY_SLOW = 9,         /**< too few ticks, or a rate or factor below what is asked for */
  TB_READY_FAST = 10,        /**< a rate or factor above what is asked for */
  TB_READY_BACKWARDS = 11,   /**< time went back while it was observed */
} tb_ready_reason_t;

/** What was measured, and what was asked for. */
typedef struct tb_ready_result {
  tb_ready_reason_t reason; /**< TB_READY: it is ready */
  tb_clock_state_t state;   /**< of the clock; TB_CLOCK_PAUSED also where it is ready */
  tb_time_t time;           /**< of the clock */
  uint64_t epoch;           /**< of the clock */
  uint64_t ticks;           /**< distinct times that were seen while it was observed */
  uint64_t jumps_backward;  /**< steps back that were seen */
  tb_duration_t observed;   /**< steady time of the last observation; 0: none */
  double rate_hz;           /**< measured; 0: not */
  double factor;            /**< measured; 0: not */
  double min_rate_hz;       /**< asked for, as are the next three; 0: any */
  double max_rate_hz;       /**< see above */
  double min_factor;        /**< see above */
  double max_factor;        /**< see above */
} tb_ready_result_t;

/** A callback that waits for a clock. */
typedef struct tb_ready tb_ready_t;

/** Called once, when the clock is ready, on a thread of the library ("tb-monitor") that other
 * callbacks of its kind and watchdogs wait for: return soon. Destroying `ready` in it is allowed.
 */
typedef void (*tb_ready_callback_t)(tb_ready_t *ready, const tb_ready_result_t *result, void *user);

TB_BEGIN_DECLS

/** Returns TB_OK when the clock is ready, at once if it is. `options` may be NULL: the first
 * non-zero tick. `wait` may be NULL: no limit. `out` (may be NULL) is filled with TB_OK, and with
 * TB_ERR_TIMEOUT, when it has the reason and what was measured; *error (may be NULL) has them as
 * text. Calls nothing that moves time: in a callback of the library it would delay that. [any
 * thread] [blocks] TB_ERR_CLOCK_MISMATCH: a clock of system time. TB_ERR_INVALID: also an unknown
 * flag, a limit of rate or factor that is negative or not a number, a least above the greatest.
 * TB_ERR_DEADLOCK: in a callback of jumps, timers, watchdogs, readiness, subscriptions,
 * services or clients, or the log hook.
 * TB_ERR_TIMEOUT, TB_ERR_CANCELLED, TB_ERR_CLOSED (the clock or the token was destroyed), the
 * flags' jumps of the clock, TB_ERR_FORKED, TB_ERR_NO_MEMORY. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ready_wait(tb_clock_t *clock,
                                                   const tb_ready_options_t *options,
                                                   const tb_wait_options_t *wait,
                                                   tb_ready_result_t *out, tb_error_t *error);

/** Has `callback` called once, when the clock is ready; soon after this call if it is. Never
 * blocks. `options` may be NULL, as above. `*out` is set before the callback can be called. If the
 * clock is destroyed first, it is not called; a call that has begun continues. [any thread] [from
 * callbacks] TB_ERR_CLOCK_MISMATCH, TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_SYSTEM: no thread
 * could be started, TB_ERR_CLOSED, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ready_on(tb_clock_t *clock,
                                                 const tb_ready_options_t *options,
                                                 tb_ready_callback_t callback, void *user,
                                                 tb_ready_t **out);

/** Removes the callback and frees `ready`, before its call or after it, before the clock or after
 * it. Returns when a call that is running and a jump of the clock that is in progress have ended,
 * except in callbacks of readiness, watchdogs and jumps and in the log hook: there it returns at
 * once. NULL does nothing. [any thread] [from callbacks] [blocks]
 */
TB_API void tb_ready_destroy(tb_ready_t *ready);

/** What has been seen of the clock so far, and why it is not ready. [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE tb_status_t tb_ready_read(const tb_ready_t *ready, tb_ready_result_t *out);

/** "ready", "no-source", "no-publisher", "qos", "zero", "lost", "stalled", "paused", "observing",
 * "slow", "fast", "backwards"; "unknown" for others. Static text. [any thread] [from callbacks] */
TB_API const char *tb_ready_reason_name(tb_ready_reason_t reason);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ready_wait_sized(tb_clock_t *clock, const tb_ready_options_t *options,
                                       size_t options_size, const tb_wait_options_t *wait,
                                       size_t wait_size, tb_ready_result_t *out, size_t out_size,
                                       tb_error_t *error);
TB_INLINE tb_status_t tb_ready_wait(tb_clock_t *clock, const tb_ready_options_t *options,
                                    const tb_wait_options_t *wait, tb_ready_result_t *out,
                                    tb_error_t *error)
{
  return tb_ready_wait_sized(clock, options, sizeof *options, wait, sizeof *wait, out, sizeof *out,
                             error);
}
TB_API tb_status_t tb_ready_on_sized(tb_clock_t *clock, const tb_ready_options_t *options,
                                     size_t options_size, tb_ready_callback_t callback, void *user,
                                     tb_ready_t **out);
TB_INLINE tb_status_t tb_ready_on(tb_clock_t *clock, const tb_ready_options_t *options,
                                  tb_ready_callback_t callback, void *user, tb_ready_t **out)
{
  return tb_ready_on_sized(clock, options, sizeof *options, callback, user, out);
}
TB_API tb_status_t tb_ready_read_sized(const tb_ready_t *ready, tb_ready_result_t *out,
                                       size_t out_size);
TB_INLINE tb_status_t tb_ready_read(const tb_ready_t *ready, tb_ready_result_t *out)
{
  return tb_ready_read_sized(ready, out, sizeof *out);
}

TB_END_DECLS

#endif
