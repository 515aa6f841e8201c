/* Rates: a loop that runs once a period, on every kind of clock. */
#ifndef TIMEBASE_RATE_H
#define TIMEBASE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/sleep.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>

/** Ends of periods on a clock, to wait for in a loop. */
typedef struct tb_rate tb_rate_t;

/** How a wait for the end of a period went. */
typedef struct tb_rate_result {
  bool late;             /**< the call was made after the end of its period */
  bool reanchored;       /**< periods restarted: a backward jump, a clock change, or too late */
  tb_duration_t late_by; /**< at the call: > 0 when late, else 0 */
  uint64_t missed;       /**< ends of later periods that had passed too when the call was made, more
                              than one period late: no call was made for them */
} tb_rate_result_t;

TB_BEGIN_DECLS

/** The first period starts now or, on a clock whose source has not started, at the first tick.
 * Periods on system time count in steady time, so a forward step of the wall clock moves none; a
 * backward one is a jump. When the clock is destroyed, tb_rate_sleep returns TB_ERR_CLOSED, and the
 * rate stays valid. generic.h has tb_rate_create for both.
 * [any thread] [from callbacks] [blocks: during a blocking jump, except from its callbacks]
 * TB_ERR_INVALID: a period <= 0. TB_ERR_NO_MEMORY, TB_ERR_CLOSED; TB_ERR_BUSY as tb_clock_now.
 * (rclcpp::Rate) */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_rate_create(tb_clock_t *clock, tb_duration_t period,
                                                       tb_rate_t **out);
TB_API TB_WARN_UNUSED tb_status_t tb_steady_clock_rate_create(tb_steady_clock_t *clock,
                                                              tb_duration_t period,
                                                              tb_rate_t **out);

/** The same with a frequency: the period is 1 / `hz`, to the nearest nanosecond
 * (tb_duration_from_hz). generic.h has tb_rate_create_hz for both. Thread rule and errors as above,
 * and TB_ERR_INVALID: not above 0, or NaN. TB_ERR_RANGE: above 2e9, or a period beyond int64
 * nanoseconds. [any thread] [from callbacks] [blocks: during a blocking jump, except from its
 * callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_rate_create_hz(tb_clock_t *clock, double hz,
                                                          tb_rate_t **out);
TB_API TB_WARN_UNUSED tb_status_t tb_steady_clock_rate_create_hz(tb_steady_clock_t *clock,
                                                                 double hz, tb_rate_t **out);

/** The period that it was made with. [any thread] [from callbacks] TB_ERR_INVALID: NULL. */
TB_API tb_status_t tb_rate_period(const tb_rate_t *rate, tb_duration_t *out);

/** Returns at once. A thread that is in tb_rate_sleep or tb_rate_reset gets TB_ERR_CLOSED and frees
 * the rate when it leaves; none may begin to use it once this is called. May be called before or
 * after the clock is destroyed. NULL does nothing. [any thread] [from callbacks] */
TB_API void tb_rate_destroy(tb_rate_t *rate);

/** Waits for the end of the period; never early. The next one ends a period later, so that nothing
 * drifts; it ends a period after the current time where a backward jump or a clock change came
 * between, in this call or before it, or where the call came more than one period late. A call that
 * is late returns at once, but never two in a row: the second waits for the clock to move, so a
 * rate faster than the ticks does not spin. `options` and `result` may be NULL.
 * A wait that fails has not used up its period: the next call waits for the same end. What it would
 * have reported (periods start again; it was late for a period that a jump has ended) the next
 * result reports, unless tb_rate_reset comes first. [one thread at a time: a second one gets
 * TB_ERR_BUSY] [blocks] Errors as tb_clock_sleep_for; with the flags of `options` jumps in this
 * call end it (TB_ERR_JUMP_BACKWARD, ...). TB_ERR_CLOSED: also when another thread destroys the
 * rate. `result` is untouched on failure. (rclcpp::Rate::sleep, which returns false when late) */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_rate_sleep(tb_rate_t *rate,
                                                   const tb_wait_options_t *options,
                                                   tb_rate_result_t *result);

/** A new first period starts, as at creation. [one thread at a time: TB_ERR_BUSY] [from callbacks]
 * Otherwise as creation. (rclcpp::Rate::reset) */
TB_API tb_status_t tb_rate_reset(tb_rate_t *rate);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_rate_sleep_sized(tb_rate_t *rate, const tb_wait_options_t *options,
                                       size_t options_size, tb_rate_result_t *result,
                                       size_t result_size);
TB_INLINE tb_status_t tb_rate_sleep(tb_rate_t *rate, const tb_wait_options_t *options,
                                    tb_rate_result_t *result)
{
  return tb_rate_sleep_sized(rate, options, sizeof *options, result, sizeof *result);
}

TB_END_DECLS

#endif
