/* Durations: signed nanoseconds, no clock attached. */
#ifndef TIMEBASE_DURATION_H
#define TIMEBASE_DURATION_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** Nanoseconds in a micro-, a milli- and a second. */
#define TB_NS_PER_US INT64_C(1000)
#define TB_NS_PER_MS INT64_C(1000000)
#define TB_NS_PER_S  INT64_C(1000000000)

/** Durations with a name: the least and the greatest one, and one of each unit from seconds up. The
 * greatest one also stands for infinite, as in DDS and ROS, and its text is "infinite". */
#define TB_DURATION_LEAST    TB_NS(INT64_MIN)
#define TB_DURATION_GREATEST TB_NS(INT64_MAX)
#define TB_DURATION_INFINITE TB_NS(INT64_MAX)
#define TB_DURATION_SECOND   TB_NS(TB_NS_PER_S)
#define TB_DURATION_MINUTE   TB_NS(60 * TB_NS_PER_S)
#define TB_DURATION_HOUR     TB_NS(3600 * TB_NS_PER_S)
#define TB_DURATION_DAY      TB_NS(86400 * TB_NS_PER_S)

/** Room for every text that tb_duration_format makes, with its NUL. */
#define TB_DURATION_TEXT_SIZE 32

/** A length of time. */
typedef struct tb_duration {
  int64_t ns; /**< negative: towards the past; the full int64 range is valid */
} tb_duration_t;

/** A duration of `n` nanoseconds, microseconds or milliseconds, an integer (a floating-point number
 * fails to compile): TB_MS(5). Also in static initialisers, in C and C++ (gcc -pedantic warns
 * there, in C: write {5 * TB_NS_PER_MS}). The product must fit int64; the compiler warns where it
 * sees that it does not. */
#define TB_NS(n) TB_VALUE(tb_duration_t, TB_INTEGER(n))
#define TB_US(n) TB_VALUE(tb_duration_t, TB_INTEGER(n) * TB_NS_PER_US)
#define TB_MS(n) TB_VALUE(tb_duration_t, TB_INTEGER(n) * TB_NS_PER_MS)
/** Internal: `n` as int64. */
#define TB_INTEGER(n) TB_CAST(int64_t, 1 ? (n) : (n) % 1)
/** A duration of `s` seconds, an integer or a floating-point constant, to the nearest nanosecond up
 * to 52 days, beyond it to the precision of a double, and at most INT64_MAX ns, 292 years, in
 * either direction: TB_SECONDS(2.5). Also in static initialisers. The argument is evaluated
 * repeatedly; tb_duration_from_seconds takes a number that is computed. */
#define TB_SECONDS(s)                                                                              \
  TB_VALUE(tb_duration_t, (s)*1e9 >= 9223372036854775807.0    ? INT64_MAX                          \
                          : (s)*1e9 <= -9223372036854775807.0 ? -INT64_MAX                         \
                                                              : TB_SECONDS_NS(s))
/** Internal. */
#define TB_SECONDS_NS(s) TB_CAST(int64_t, (s)*1e9 + ((s) < 0 ? -0.5 : 0.5))

/** The limits of calls that wait, also where they are fields of options: how long the call may take
 * in steady time, > 0. TB_NO_LIMIT, which is 0 as in a zeroed struct: as long as it takes.
 * TB_NO_WAIT: it looks once, does not block, and returns TB_ERR_TIMEOUT if what it waits for is not
 * so. Other negative limits are TB_ERR_INVALID. */
#define TB_NO_LIMIT TB_NS(0)
#define TB_NO_WAIT  TB_NS(INT64_MIN)

TB_BEGIN_DECLS

/* All of these: [any thread] [from callbacks] [async-signal-safe], and no state is kept.
 * A NULL out-parameter or text is TB_ERR_INVALID. Out-parameters are untouched on failure. */

/** a + b. TB_ERR_OVERFLOW: the result is above INT64_MAX nanoseconds, TB_ERR_UNDERFLOW: below
 * INT64_MIN. (rclcpp::Duration throws std::overflow_error, std::underflow_error) */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_add(tb_duration_t a, tb_duration_t b,
                                                  tb_duration_t *out);
/** a - b. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_sub(tb_duration_t a, tb_duration_t b,
                                                  tb_duration_t *out);
/** -a. TB_ERR_OVERFLOW for the most negative duration. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_neg(tb_duration_t a, tb_duration_t *out);
/** a * factor, exact. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_mul(tb_duration_t a, int64_t factor,
                                                  tb_duration_t *out);
/** a * factor: the exact product, to the nearest nanosecond, ties away from zero (rclcpp::Duration
 * truncates a long double). TB_ERR_INVALID: factor is not finite. TB_ERR_OVERFLOW,
 * TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_scale(tb_duration_t a, double factor,
                                                    tb_duration_t *out);

/** The same, with INT64_MAX or INT64_MIN nanoseconds where the result does not fit. */
TB_API tb_duration_t tb_duration_add_sat(tb_duration_t a, tb_duration_t b);
TB_API tb_duration_t tb_duration_sub_sat(tb_duration_t a, tb_duration_t b);
TB_API tb_duration_t tb_duration_neg_sat(tb_duration_t a);
TB_API tb_duration_t tb_duration_mul_sat(tb_duration_t a, int64_t factor);
/** An infinite factor saturates by its sign and a's; NaN, and infinite times zero, give zero. */
TB_API tb_duration_t tb_duration_scale_sat(tb_duration_t a, double factor);

/** *out: -1 when a < b, 0 when equal, 1 when a > b. Fails only for NULL; it returns a status so
 * that tb_compare has one form for all types. */
TB_API tb_status_t tb_duration_compare(tb_duration_t a, tb_duration_t b, int *out);

/** The double's exact value to the nearest nanosecond, ties away from zero
 * (rclcpp::Duration::from_seconds truncates). TB_ERR_INVALID: NaN. TB_ERR_RANGE: infinite, or
 * beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_from_seconds(double seconds, tb_duration_t *out);
/** Within one unit in the last place of the double; up to 48 days, tb_duration_from_seconds gives
 * the same duration back. */
TB_API double tb_duration_to_seconds(tb_duration_t duration);

/** The period of a frequency, 1 / hz, to the nearest nanosecond. TB_ERR_INVALID: not above 0, or
 * NaN. TB_ERR_RANGE: a period below 1 ns, or beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_from_hz(double hz, tb_duration_t *out);

/** Exact. TB_ERR_INVALID: tv_nsec not in 0..999999999. TB_ERR_RANGE: beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_from_timespec(struct timespec spec,
                                                            tb_duration_t *out);
/** Exact: tv_sec is the floor, tv_nsec 0..999999999 also when negative (-0.1 s: -1, 900000000).
 * TB_ERR_RANGE: only where time_t has 32 bits. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_to_timespec(tb_duration_t duration,
                                                          struct timespec *out);

/** The form of builtin_interfaces/msg/Duration. Exact: sec is the floor, nanosec 0..999999999 also
 * when negative. TB_ERR_RANGE: sec does not fit int32 (68 years); never wrapped or saturated. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_to_wire(tb_duration_t duration, int32_t *out_sec,
                                                      uint32_t *out_nanosec);
/** TB_ERR_INVALID: nanosec of a second or more. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_from_wire(int32_t sec, uint32_t nanosec,
                                                        tb_duration_t *out);

/** A sign, if any, then numbers with units in falling order: d, h, m, s, ms, us, ns ("1h2m",
 * "500ms", "-3us", "1m30.5s"). Only the last number may have a fraction. One number alone is in
 * seconds ("1.5"). No spaces, no exponents. Digits beyond the nanosecond are rounded to the
 * nearest, ties away from zero. "infinite" is TB_DURATION_INFINITE. TB_ERR_INVALID: anything else,
 * or empty. TB_ERR_RANGE: beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_duration_parse(const char *text, tb_duration_t *out);
/** The exact duration, without a part or digit that is not needed: from a second up in days, hours,
 * minutes and seconds ("1m30.5s"), below it in ms, us or ns ("1.5ms"); zero is "0s", and
 * TB_DURATION_INFINITE "infinite".
 * tb_duration_parse gives the same duration back. `size` counts the NUL; TB_DURATION_TEXT_SIZE is
 * always enough. TB_ERR_LIMIT: it does not fit; the buffer is untouched. */
TB_API tb_status_t tb_duration_format(tb_duration_t duration, char *buffer, size_t size);

TB_END_DECLS

#endif
