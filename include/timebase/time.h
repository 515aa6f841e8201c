/* Points in system or ROS time. */
#ifndef TIMEBASE_TIME_H
#define TIMEBASE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <timebase/duration.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** Room for every text that tb_time_format makes, with its NUL. */
#define TB_TIME_TEXT_SIZE 32

/** Which kind of clock a time is of. */
typedef enum tb_time_kind {
  TB_TIME_SYSTEM = 1, /**< CLOCK_REALTIME */
  TB_TIME_ROS = 2,    /**< of a ROS clock, whatever moved it */
} tb_time_kind_t;

/** A point in time. */
typedef struct tb_time {
  int64_t ns;          /**< since the Unix epoch; in ROS time 0 means "not set" (rcl) */
  tb_time_kind_t kind; /**< which kind of clock it is of */
} tb_time_t;

/** A ROS time or a system time of `n` nanoseconds since the Unix epoch. Also in static
 * initialisers, in C and C++. */
#define tb_ros_time_ns(n)    TB_VALUE(tb_time_t, TB_INTEGER(n), TB_TIME_ROS)
#define tb_system_time_ns(n) TB_VALUE(tb_time_t, TB_INTEGER(n), TB_TIME_SYSTEM)

TB_BEGIN_DECLS

/* All of these: [any thread] [from callbacks] [async-signal-safe], and no state is kept.
 * A NULL out-parameter or text, or a kind that is neither of the two, is TB_ERR_INVALID.
 * Out-parameters are untouched on failure. Negative times (before 1970) are values like others,
 * and so is a ROS time of zero in arithmetic: ask tb_time_is_set where it matters. */

/** False for a ROS time of zero: there is no time yet (rcl_clock_time_started). A system time of
 * zero is a time. */
TB_API bool tb_time_is_set(tb_time_t time);

/** time + duration, of the kind of `time`. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW.
 * (rclcpp::Time::operator+) */
TB_API TB_WARN_UNUSED tb_status_t tb_time_add(tb_time_t time, tb_duration_t duration,
                                              tb_time_t *out);
/** time - duration, of the kind of `time`. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_sub(tb_time_t time, tb_duration_t duration,
                                              tb_time_t *out);
/** later - earlier, negative if `later` is before `earlier`. TB_ERR_CLOCK_MISMATCH: system and ROS
 * time were mixed (rclcpp::Time throws, rcl_difference_times fails). TB_ERR_OVERFLOW,
 * TB_ERR_UNDERFLOW. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_diff(tb_time_t later, tb_time_t earlier,
                                               tb_duration_t *out);
/** *out: -1 when a is before b, 0 when equal, 1 when after. TB_ERR_CLOCK_MISMATCH. */
TB_API tb_status_t tb_time_compare(tb_time_t a, tb_time_t b, int *out);

/** The same, with INT64_MAX or INT64_MIN nanoseconds where the result does not fit. The kind goes
 * through unchecked; a difference still has to check it. */
TB_API tb_time_t tb_time_add_sat(tb_time_t time, tb_duration_t duration);
TB_API tb_time_t tb_time_sub_sat(tb_time_t time, tb_duration_t duration);
TB_API tb_status_t tb_time_diff_sat(tb_time_t later, tb_time_t earlier, tb_duration_t *out);

/** Seconds since the epoch, to the nearest nanosecond, ties away from zero. TB_ERR_INVALID: NaN.
 * TB_ERR_RANGE: infinite, or beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_from_seconds(double seconds, tb_time_kind_t kind,
                                                       tb_time_t *out);
/** Within one unit in the last place of the double, which is 0.24 us for the times of today. */
TB_API double tb_time_to_seconds(tb_time_t time);

/** Exact. TB_ERR_INVALID: tv_nsec not in 0..999999999. TB_ERR_RANGE: beyond int64 nanoseconds. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_from_timespec(struct timespec spec, tb_time_kind_t kind,
                                                        tb_time_t *out);
/** Exact: tv_sec is the floor, tv_nsec 0..999999999 also before 1970. TB_ERR_RANGE: only where
 * time_t has 32 bits. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_to_timespec(tb_time_t time, struct timespec *out);

/** The form of builtin_interfaces/msg/Time. Exact: sec is the floor, nanosec 0..999999999 also
 * before 1970. TB_ERR_RANGE: sec does not fit int32 (1901..2038); never wrapped. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_to_wire(tb_time_t time, int32_t *out_sec,
                                                  uint32_t *out_nanosec);
/** TB_ERR_INVALID: nanosec of a second or more. Times in messages are ROS time (rclcpp). */
TB_API TB_WARN_UNUSED tb_status_t tb_time_from_wire(int32_t sec, uint32_t nanosec,
                                                    tb_time_kind_t kind, tb_time_t *out);

/** ISO 8601 in UTC, in this one form: "2023-11-14T22:13:20Z", with a fraction of a second if any
 * ("20.5Z"). Digits beyond the nanosecond are rounded to the nearest, ties towards the future.
 * Days of the Gregorian calendar; there are no leap seconds.
 * TB_ERR_INVALID: anything else. TB_ERR_RANGE: a date outside of int64 nanoseconds, which are
 * 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z. */
TB_API TB_WARN_UNUSED tb_status_t tb_time_parse(const char *text, tb_time_kind_t kind,
                                                tb_time_t *out);
/** The same form, exact, without trailing zeros in the fraction; tb_time_parse gives the same time
 * back. `size` counts the NUL; TB_TIME_TEXT_SIZE is always enough. TB_ERR_LIMIT: it does not fit;
 * the buffer is untouched. The kind is not in the text. */
TB_API tb_status_t tb_time_format(tb_time_t time, char *buffer, size_t size);

TB_END_DECLS

#endif
