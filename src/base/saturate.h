/* Sums of int64 that stop at the ends of the range. */
#ifndef TB_BASE_SATURATE_H
#define TB_BASE_SATURATE_H

#include <stdint.h>

static inline int64_t tb__add_saturated(int64_t a, int64_t b)
{
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

static inline int64_t tb__sub_saturated(int64_t a, int64_t b)
{
  int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? INT64_MAX : INT64_MIN;
  return difference;
}

#endif
