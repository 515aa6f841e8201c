/* Points in system or ROS time. */
#ifndef TIMEBASE_TIME_H
#define TIMEBASE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <timebase/duration.h>
#include <timebase/status.h>

typedef enum tb_time_kind {
  TB_TIME_SYSTEM = 1, /* CLOCK_REALTIME */
  TB_TIME_ROS = 2,    /* told by a ROS clock, whatever moved it */
} tb_time_kind_t;

typedef struct tb_time {
  int64_t ns; /* since the Unix epoch; in ROS time 0 means "not set" (rcl) */
  tb_time_kind_t kind;
} tb_time_t;

/* Enough for any time as text, with the NUL. */
#define TB_TIME_TEXT_SIZE 32

TB_BEGIN_DECLS

/* All of these: [any thread] [from callbacks] [async-signal-safe]. TB_ERR_INVALID for a NULL where a
 * result goes, or a kind that is none of the two. Results are untouched on failure. `_sat` forms give
 * the nearest value instead of TB_ERR_OVERFLOW. */

/* False for ROS time zero, which means "not set" in all of ROS. */
TB_API bool tb_time_is_set(tb_time_t time);

/* TB_ERR_OVERFLOW. */
TB_API tb_status_t tb_time_add(tb_time_t time, tb_duration_t duration, tb_time_t *out);
TB_API tb_status_t tb_time_sub(tb_time_t time, tb_duration_t duration, tb_time_t *out);
TB_API tb_time_t tb_time_add_sat(tb_time_t time, tb_duration_t duration);
TB_API tb_time_t tb_time_sub_sat(tb_time_t time, tb_duration_t duration);

/* later - earlier: positive when `later` is. TB_ERR_CLOCK_MISMATCH: of different kinds (rclcpp throws
 * there); TB_ERR_OVERFLOW. */
TB_API tb_status_t tb_time_diff(tb_time_t later, tb_time_t earlier, tb_duration_t *out);
TB_API tb_status_t tb_time_diff_sat(tb_time_t later, tb_time_t earlier, tb_duration_t *out);

/* *out: -1, 0 or 1 as `a` is before, at or after `b`. TB_ERR_CLOCK_MISMATCH. */
TB_API tb_status_t tb_time_compare(tb_time_t a, tb_time_t b, int *out);

/* builtin_interfaces/Time. TB_ERR_INVALID: nanosec above 999999999. */
TB_API tb_status_t tb_time_from_wire(tb_wire_time_t wire, tb_time_kind_t kind, tb_time_t *out);
/* TB_ERR_RANGE: before 1901 or after 2038-01-19, where the seconds do not fit 32 bits. */
TB_API tb_status_t tb_time_to_wire(tb_time_t time, tb_wire_time_t *out);

/* Exact. TB_ERR_INVALID: tv_nsec not 0 to 999999999; TB_ERR_RANGE: does not fit. */
TB_API tb_status_t tb_time_from_timespec(struct timespec value, tb_time_kind_t kind,
                                         tb_time_t *out);
TB_API struct timespec tb_time_to_timespec(tb_time_t time);

/* Seconds since 1970, to the nearest nanosecond, halves away from zero. A double of today's seconds
 * is good to 0.24 microseconds only. TB_ERR_INVALID: not a number; TB_ERR_RANGE. */
TB_API tb_status_t tb_time_from_seconds(double seconds, tb_time_kind_t kind, tb_time_t *out);
TB_API double tb_time_to_seconds(tb_time_t time);

/* ISO 8601 in UTC: "2023-11-14T22:13:20.5Z", the fraction with 1 to 9 digits or left out; nothing is
 * rounded. TB_ERR_INVALID: anything else, also a day or second that does not exist; TB_ERR_RANGE:
 * before 1677-09-21T00:12:43.145224192Z or after 2262-04-11T23:47:16.854775807Z. */
TB_API tb_status_t tb_time_parse(const char *text, tb_time_kind_t kind, tb_time_t *out);
/* The same form, exact, without zeros at the end. TB_ERR_LIMIT: `size` is too small. */
TB_API tb_status_t tb_time_format(tb_time_t time, char *buffer, size_t size);

TB_END_DECLS

#endif
