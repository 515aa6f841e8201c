/* One name for each calculation on durations, times and steady times:
 *
 *   tb_add(t, d, &out)      a time or duration `d` later
 *   tb_sub(t, d, &out)      ... earlier
 *   tb_diff(a, b, &d)       a - b, positive when `a` is later
 *   tb_compare(a, b, &i)    -1, 0 or 1
 *   tb_add_sat(t, d), tb_sub_sat(t, d), tb_diff_sat(a, b, &d)
 *
 * They return what the functions that they stand for return. Mixing steady times with others does
 * not compile. */
#ifndef TIMEBASE_ARITHMETIC_H
#define TIMEBASE_ARITHMETIC_H

#include <timebase/duration.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

#ifndef __cplusplus

#define TB_GENERIC_VALUE(value, name)                                                              \
  _Generic((value),                                                                                \
      tb_duration_t: tb_duration_##name,                                                           \
      tb_time_t: tb_time_##name,                                                                   \
      tb_steady_time_t: tb_steady_time_##name)
#define TB_GENERIC_POINT(value, name)                                                              \
  _Generic((value), tb_time_t: tb_time_##name, tb_steady_time_t: tb_steady_time_##name)

#define tb_add(a, b, out)      TB_GENERIC_VALUE(a, add)(a, b, out)
#define tb_sub(a, b, out)      TB_GENERIC_VALUE(a, sub)(a, b, out)
#define tb_add_sat(a, b)       TB_GENERIC_VALUE(a, add_sat)(a, b)
#define tb_sub_sat(a, b)       TB_GENERIC_VALUE(a, sub_sat)(a, b)
#define tb_compare(a, b, out)  TB_GENERIC_VALUE(a, compare)(a, b, out)
#define tb_diff(a, b, out)     TB_GENERIC_POINT(a, diff)(a, b, out)
#define tb_diff_sat(a, b, out) TB_GENERIC_POINT(a, diff_sat)(a, b, out)

#else

#define TB_OVERLOAD_VALUE(type, prefix)                                                            \
  inline tb_status_t tb_add(type a, tb_duration_t b, type *out)                                    \
  {                                                                                                \
    return prefix##_add(a, b, out);                                                                \
  }                                                                                                \
  inline tb_status_t tb_sub(type a, tb_duration_t b, type *out)                                    \
  {                                                                                                \
    return prefix##_sub(a, b, out);                                                                \
  }                                                                                                \
  inline type tb_add_sat(type a, tb_duration_t b)                                                  \
  {                                                                                                \
    return prefix##_add_sat(a, b);                                                                 \
  }                                                                                                \
  inline type tb_sub_sat(type a, tb_duration_t b)                                                  \
  {                                                                                                \
    return prefix##_sub_sat(a, b);                                                                 \
  }                                                                                                \
  inline tb_status_t tb_compare(type a, type b, int *out)                                          \
  {                                                                                                \
    return prefix##_compare(a, b, out);                                                            \
  }
#define TB_OVERLOAD_POINT(type, prefix)                                                            \
  inline tb_status_t tb_diff(type a, type b, tb_duration_t *out)                                   \
  {                                                                                                \
    return prefix##_diff(a, b, out);                                                               \
  }                                                                                                \
  inline tb_status_t tb_diff_sat(type a, type b, tb_duration_t *out)                               \
  {                                                                                                \
    return prefix##_diff_sat(a, b, out);                                                           \
  }

TB_OVERLOAD_VALUE(tb_duration_t, tb_duration)
TB_OVERLOAD_VALUE(tb_time_t, tb_time)
TB_OVERLOAD_VALUE(tb_steady_time_t, tb_steady_time)
TB_OVERLOAD_POINT(tb_time_t, tb_time)
TB_OVERLOAD_POINT(tb_steady_time_t, tb_steady_time)

#undef TB_OVERLOAD_VALUE
#undef TB_OVERLOAD_POINT

#endif

#endif
