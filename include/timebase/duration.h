/* Durations: signed nanoseconds, no clock attached. */
#ifndef TIMEBASE_DURATION_H
#define TIMEBASE_DURATION_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <timebase/status.h>

#define TB_NS_PER_US INT64_C(1000)
#define TB_NS_PER_MS INT64_C(1000000)
#define TB_NS_PER_S  INT64_C(1000000000)

typedef struct tb_duration {
  int64_t ns; /* negative: towards the past; the full int64 range is valid */
} tb_duration_t;

/* The form on the wire of builtin_interfaces/Duration and builtin_interfaces/Time: sec + nanosec,
 * where nanosec is 0 to 999999999 and sec is rounded down: -0.25 s is {-1, 750000000}. */
typedef struct tb_wire_time {
  int32_t sec;
  uint32_t nanosec;
} tb_wire_time_t;

/* Enough for any duration as text, with the NUL. */
#define TB_DURATION_TEXT_SIZE 32

TB_BEGIN_DECLS

/* All of these: [any thread] [from callbacks] [async-signal-safe]. TB_ERR_INVALID for a NULL where a
 * result goes. Results are untouched on failure. `_sat` forms give the nearest value instead of
 * TB_ERR_OVERFLOW. */

TB_API tb_status_t tb_duration_add(tb_duration_t a, tb_duration_t b, tb_duration_t *out);
TB_API tb_status_t tb_duration_sub(tb_duration_t a, tb_duration_t b, tb_duration_t *out);
TB_API tb_status_t tb_duration_negate(tb_duration_t a, tb_duration_t *out);
TB_API tb_status_t tb_duration_multiply(tb_duration_t a, int64_t factor, tb_duration_t *out);
/* Rounds to the nearest nanosecond, halves away from zero. TB_ERR_INVALID: factor not a number. */
TB_API tb_status_t tb_duration_scale(tb_duration_t a, double factor, tb_duration_t *out);
TB_API tb_duration_t tb_duration_add_sat(tb_duration_t a, tb_duration_t b);
TB_API tb_duration_t tb_duration_sub_sat(tb_duration_t a, tb_duration_t b);
TB_API tb_duration_t tb_duration_negate_sat(tb_duration_t a);
TB_API tb_duration_t tb_duration_multiply_sat(tb_duration_t a, int64_t factor);

/* *out: -1, 0 or 1 as `a` is shorter than, equal to or longer than `b` (signed). */
TB_API tb_status_t tb_duration_compare(tb_duration_t a, tb_duration_t b, int *out);

/* Rounds to the nearest nanosecond, halves away from zero. TB_ERR_INVALID: not a number;
 * TB_ERR_RANGE: beyond +-9223372036.85 s. */
TB_API tb_status_t tb_duration_from_seconds(double seconds, tb_duration_t *out);
/* The nearest double: exact to the nanosecond below about 52 days. */
TB_API double tb_duration_to_seconds(tb_duration_t duration);

/* Exact. TB_ERR_INVALID: tv_nsec not 0 to 999999999; TB_ERR_RANGE: does not fit. */
TB_API tb_status_t tb_duration_from_timespec(struct timespec value, tb_duration_t *out);
/* Exact, rounded down: tv_nsec is 0 to 999999999. */
TB_API struct timespec tb_duration_to_timespec(tb_duration_t duration);

/* TB_ERR_INVALID: nanosec above 999999999. */
TB_API tb_status_t tb_duration_from_wire(tb_wire_time_t wire, tb_duration_t *out);
/* TB_ERR_RANGE: the seconds do not fit 32 bits; never wrapped, never saturated. */
TB_API tb_status_t tb_duration_to_wire(tb_duration_t duration, tb_wire_time_t *out);

/* Reads "12.5s", "1h2m", "500ms", "-3us", "2d", or a bare number of seconds: an optional sign, then
 * numbers with the units d, h, m, s, ms, us or ns, which are added up. Digits below a nanosecond are
 * cut off. TB_ERR_INVALID: anything else; TB_ERR_RANGE: does not fit. */
TB_API tb_status_t tb_duration_parse(const char *text, tb_duration_t *out);

/* Writes the exact value as tb_duration_parse reads it, in the largest of s, ms, us and ns that is
 * not above it: "62.5s", "1.5ms", "0s". TB_ERR_LIMIT: `size` is too small. */
TB_API tb_status_t tb_duration_format(tb_duration_t duration, char *buffer, size_t size);

TB_END_DECLS

#endif
