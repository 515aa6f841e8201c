/* Points in steady time (CLOCK_MONOTONIC). A type of its own: it never mixes with tb_time_t. */
#ifndef TIMEBASE_STEADY_TIME_H
#define TIMEBASE_STEADY_TIME_H

#include <stdint.h>
#include <time.h>
#include <timebase/duration.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** A point in steady time. */
typedef struct tb_steady_time {
  int64_t ns; /**< since an arbitrary point (boot), not counted while the machine is suspended */
} tb_steady_time_t;

/** A steady time of `n` nanoseconds. Also in static initialisers, in C and C++. */
#define tb_steady_time_ns(n) TB_VALUE(tb_steady_time_t, TB_INTEGER(n))

TB_BEGIN_DECLS

/* All of these: [any thread] [from callbacks] [async-signal-safe], and no state is kept.
 * A NULL out-parameter is TB_ERR_INVALID. Out-parameters are untouched on failure. Steady times
 * have no calendar and no wire form: they mean nothing on another machine. */

/** time + duration. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_add(tb_steady_time_t time, tb_duration_t duration,
                                                     tb_steady_time_t *out);
/** time - duration. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_sub(tb_steady_time_t time, tb_duration_t duration,
                                                     tb_steady_time_t *out);
/** later - earlier, negative if `later` is before `earlier`. TB_ERR_OVERFLOW,
 * TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_diff(tb_steady_time_t later,
                                                      tb_steady_time_t earlier, tb_duration_t *out);
/** *out: -1 when a is before b, 0 when equal, 1 when after. Fails only for NULL. */
TB_API tb_status_t tb_steady_time_compare(tb_steady_time_t a, tb_steady_time_t b, int *out);

/** The same, with INT64_MAX or INT64_MIN nanoseconds where the result does not fit. The difference
 * returns a status only so that tb_diff_sat has one form for all types. */
TB_API tb_steady_time_t tb_steady_time_add_sat(tb_steady_time_t time, tb_duration_t duration);
TB_API tb_steady_time_t tb_steady_time_sub_sat(tb_steady_time_t time, tb_duration_t duration);
TB_API tb_status_t tb_steady_time_diff_sat(tb_steady_time_t later, tb_steady_time_t earlier,
                                           tb_duration_t *out);

/** To the nearest nanosecond, ties away from zero. TB_ERR_INVALID: NaN. TB_ERR_RANGE: infinite, or
 * beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_from_seconds(double seconds,
                                                              tb_steady_time_t *out);
/** Within one unit in the last place of the double. */
TB_API double tb_steady_time_to_seconds(tb_steady_time_t time);

/** Exact. TB_ERR_INVALID: tv_nsec not in 0..999999999. TB_ERR_RANGE: beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_from_timespec(struct timespec spec,
                                                               tb_steady_time_t *out);
/** Exact: tv_sec is the floor, tv_nsec 0..999999999 also when negative. TB_ERR_RANGE: only where
 * time_t has 32 bits. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_time_to_timespec(tb_steady_time_t time,
                                                             struct timespec *out);

TB_END_DECLS

#endif
