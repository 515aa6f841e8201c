/* What all value types share: arithmetic and conversions of int64 nanoseconds. */
#ifndef TB_VALUE_NS_H
#define TB_VALUE_NS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <timebase/status.h>

#include "base/saturate.h"

/* Of an operation whose exact result is not in the range of int64. */
static inline tb_status_t tb__ns_beyond(bool is_negative)
{
  return is_negative ? TB_ERR_UNDERFLOW : TB_ERR_OVERFLOW;
}

static inline tb_status_t tb__ns_add(int64_t a_ns, int64_t b_ns, int64_t *out_ns)
{
  /* T3: checked; the _sat forms of the types saturate */
  int64_t sum_ns;
  if (__builtin_add_overflow(a_ns, b_ns, &sum_ns)) return tb__ns_beyond(b_ns < 0);
  *out_ns = sum_ns;
  return TB_OK;
}

static inline tb_status_t tb__ns_sub(int64_t a_ns, int64_t b_ns, int64_t *out_ns)
{
  int64_t difference_ns;
  if (__builtin_sub_overflow(a_ns, b_ns, &difference_ns)) return tb__ns_beyond(b_ns > 0);
  *out_ns = difference_ns;
  return TB_OK;
}

static inline int tb__ns_compare(int64_t a_ns, int64_t b_ns)
{
  return (a_ns > b_ns) - (a_ns < b_ns);
}

/* Seconds rounded down, and the remainder, 0..999999999. */
void tb__ns_split(int64_t ns, int64_t *out_sec, uint32_t *out_nanosec);
/* nanosec: up to a whole second. TB_ERR_RANGE. */
tb_status_t tb__ns_join(int64_t sec, uint32_t nanosec, int64_t *out_ns) TB_WARN_UNUSED;

/* ns * factor, which is finite: the exact product, rounded to the nearest, ties away from zero; the
 * same on every machine. TB_ERR_OVERFLOW, TB_ERR_UNDERFLOW. */
tb_status_t tb__ns_scale(int64_t ns, double factor, int64_t *out_ns) TB_WARN_UNUSED;

/* As the public functions of these names; out-parameters are not NULL. */
tb_status_t tb__ns_from_seconds(double seconds, int64_t *out_ns) TB_WARN_UNUSED;
double tb__ns_to_seconds(int64_t ns);
tb_status_t tb__ns_from_timespec(struct timespec spec, int64_t *out_ns) TB_WARN_UNUSED;
tb_status_t tb__ns_to_timespec(int64_t ns, struct timespec *out) TB_WARN_UNUSED;
tb_status_t tb__ns_from_wire(int32_t sec, uint32_t nanosec, int64_t *out_ns) TB_WARN_UNUSED;
tb_status_t tb__ns_to_wire(int64_t ns, int32_t *out_sec, uint32_t *out_nanosec) TB_WARN_UNUSED;

#endif
