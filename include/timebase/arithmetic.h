/* One name for each operation on durations, times and steady times. What does not belong together
 * does not compile: tb_diff of a time and a steady time, tb_add of two times.
 *
 *   tb_add(a, duration, &out)      tb_add_sat(a, duration)      a: any of the three
 *   tb_sub(a, duration, &out)      tb_sub_sat(a, duration)      a: any of the three
 *   tb_diff(later, earlier, &out)  tb_diff_sat(..., &out)       two times, or two steady times
 *   tb_compare(a, b, &out)                                      two of any one type
 *
 * Each is the function of the type by that name (tb_time_add, ...), with its rules and errors. */
#ifndef TIMEBASE_ARITHMETIC_H
#define TIMEBASE_ARITHMETIC_H

#include <timebase/duration.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

#ifndef __cplusplus

/* clang-format off */

/** `function` if `pointer` points to a `type` or is NULL. Else something that cannot be called: a
 * pointer to a wrong type alone would only be a warning. Types take no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define TB_GENERIC_IF(pointer, type, function)                                                     \
  _Generic((pointer),                                                                              \
      type *: function,                                                                            \
      const type *: function,                                                                      \
      void *: function,                                                                            \
      default: (void)0)
/* NOLINTEND(bugprone-macro-parentheses) */

/** Internal: 1 if TB_GENERIC_IF gives the function. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define TB_GENERIC_IS(pointer, type)                                                               \
  _Generic((pointer),                                                                              \
      type *: 1,                                                                                   \
      const type *: 1,                                                                             \
      void *: 1,                                                                                   \
      default: 0)
/* NOLINTEND(bugprone-macro-parentheses) */

/** Internal: an expression that fails to compile with `message` unless `condition`, a constant. In a
 * block, where clang takes compound literals in the condition that are no constants. */
#define TB_GENERIC_REQUIRE(condition, message)                                                     \
  ((void)__extension__({                                                                           \
    _Static_assert(condition, message);                                                            \
    0;                                                                                             \
  }))

/** Internal: whether `a` is of one of the three types, and `out` points to the same. */
#define TB_GENERIC_SAME(a, out)                                                                    \
  _Generic((a),                                                                                    \
      tb_duration_t: TB_GENERIC_IS(out, tb_duration_t),                                            \
      tb_time_t: TB_GENERIC_IS(out, tb_time_t),                                                    \
      tb_steady_time_t: TB_GENERIC_IS(out, tb_steady_time_t),                                      \
      default: 0)

/** Internal: 1 for one of the three types. */
#define TB_GENERIC_IS_VALUE(a)                                                                     \
  _Generic((a), tb_duration_t: 1, tb_time_t: 1, tb_steady_time_t: 1, default: 0)

/** Internal: whether `a` and `b` are of one type, of those that `operation` takes. */
#define TB_GENERIC_ALIKE(a, b, if_duration)                                                        \
  _Generic((a),                                                                                    \
      tb_duration_t: _Generic((b), tb_duration_t: (if_duration), default: 0),                      \
      tb_time_t: _Generic((b), tb_time_t: 1, default: 0),                                          \
      tb_steady_time_t: _Generic((b), tb_steady_time_t: 1, default: 0),                            \
      default: 0)

/** Internal: tb_<type of a>_<operation>, for an `out` of the same type. */
#define TB_GENERIC_SUM(a, operation, out)                                                          \
  _Generic((a),                                                                                    \
      tb_duration_t: TB_GENERIC_IF(out, tb_duration_t, tb_duration_##operation),                   \
      tb_time_t: TB_GENERIC_IF(out, tb_time_t, tb_time_##operation),                               \
      tb_steady_time_t: TB_GENERIC_IF(out, tb_steady_time_t, tb_steady_time_##operation))

/** Internal: tb_<type of a>_<operation>. */
#define TB_GENERIC_VALUE(a, operation)                                                             \
  _Generic((a),                                                                                    \
      tb_duration_t: tb_duration_##operation,                                                      \
      tb_time_t: tb_time_##operation,                                                              \
      tb_steady_time_t: tb_steady_time_##operation)

/** Internal: the same for two points in time, for an `out` that is a duration. */
#define TB_GENERIC_POINT(a, operation, out)                                                        \
  TB_GENERIC_IF(out, tb_duration_t,                                                                \
    _Generic((a),                                                                                  \
        tb_time_t: tb_time_##operation,                                                            \
        tb_steady_time_t: tb_steady_time_##operation))

/* clang-format on */

/** Internal: the checks of the operations below. */
#define TB_GENERIC_REQUIRE_SUM(name, a, duration, out)                                             \
  (TB_GENERIC_REQUIRE(TB_GENERIC_ALIKE(duration, (tb_duration_t){0}, 1),                           \
                      name ": the second argument must be a tb_duration_t"),                       \
   TB_GENERIC_REQUIRE(TB_GENERIC_SAME(a, out),                                                     \
                      name ": the first argument must be a tb_duration_t, tb_time_t or "           \
                           "tb_steady_time_t, and out point to the same type"))
#define TB_GENERIC_REQUIRE_SUM_SAT(name, a, duration)                                              \
  (TB_GENERIC_REQUIRE(TB_GENERIC_ALIKE(duration, (tb_duration_t){0}, 1),                           \
                      name ": the second argument must be a tb_duration_t"),                       \
   TB_GENERIC_REQUIRE(TB_GENERIC_IS_VALUE(a), name ": the first argument must be a "               \
                                                   "tb_duration_t, tb_time_t or "                  \
                                                   "tb_steady_time_t"))
#define TB_GENERIC_REQUIRE_DIFF(name, later, earlier, out)                                         \
  (TB_GENERIC_REQUIRE(TB_GENERIC_ALIKE(later, earlier, 0),                                         \
                      name ": the times must be two tb_time_t or two tb_steady_time_t"),           \
   TB_GENERIC_REQUIRE(TB_GENERIC_IS(out, tb_duration_t),                                           \
                      name ": out must point to a tb_duration_t"))

/** See the top of this header: the functions of the type, with their rules and errors. */
#define tb_add(a, duration, out)                                                                   \
  (TB_GENERIC_REQUIRE_SUM("tb_add", a, duration, out),                                             \
   TB_GENERIC_SUM(a, add, out)(a, duration, out))
#define tb_add_sat(a, duration)                                                                    \
  (TB_GENERIC_REQUIRE_SUM_SAT("tb_add_sat", a, duration), TB_GENERIC_VALUE(a, add_sat)(a, duration))
#define tb_sub(a, duration, out)                                                                   \
  (TB_GENERIC_REQUIRE_SUM("tb_sub", a, duration, out),                                             \
   TB_GENERIC_SUM(a, sub, out)(a, duration, out))
#define tb_sub_sat(a, duration)                                                                    \
  (TB_GENERIC_REQUIRE_SUM_SAT("tb_sub_sat", a, duration), TB_GENERIC_VALUE(a, sub_sat)(a, duration))
#define tb_diff(later, earlier, out)                                                               \
  (TB_GENERIC_REQUIRE_DIFF("tb_diff", later, earlier, out),                                        \
   TB_GENERIC_POINT(later, diff, out)(later, earlier, out))
#define tb_diff_sat(later, earlier, out)                                                           \
  (TB_GENERIC_REQUIRE_DIFF("tb_diff_sat", later, earlier, out),                                    \
   TB_GENERIC_POINT(later, diff_sat, out)(later, earlier, out))
#define tb_compare(a, b, out)                                                                      \
  (TB_GENERIC_REQUIRE(TB_GENERIC_ALIKE(a, b, 1),                                                   \
                      "tb_compare: both must be of one type, tb_duration_t, tb_time_t or "         \
                      "tb_steady_time_t"),                                                         \
   TB_GENERIC_VALUE(a, compare)(a, b, out))

#else

TB_INLINE TB_WARN_UNUSED tb_status_t tb_add(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  return tb_duration_add(a, b, out);
}
TB_INLINE tb_duration_t tb_add_sat(tb_duration_t a, tb_duration_t b)
{
  return tb_duration_add_sat(a, b);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_sub(tb_duration_t a, tb_duration_t b, tb_duration_t *out)
{
  return tb_duration_sub(a, b, out);
}
TB_INLINE tb_duration_t tb_sub_sat(tb_duration_t a, tb_duration_t b)
{
  return tb_duration_sub_sat(a, b);
}
TB_INLINE tb_status_t tb_compare(tb_duration_t a, tb_duration_t b, int *out)
{
  return tb_duration_compare(a, b, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_add(tb_time_t a, tb_duration_t b, tb_time_t *out)
{
  return tb_time_add(a, b, out);
}
TB_INLINE tb_time_t tb_add_sat(tb_time_t a, tb_duration_t b)
{
  return tb_time_add_sat(a, b);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_sub(tb_time_t a, tb_duration_t b, tb_time_t *out)
{
  return tb_time_sub(a, b, out);
}
TB_INLINE tb_time_t tb_sub_sat(tb_time_t a, tb_duration_t b)
{
  return tb_time_sub_sat(a, b);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_diff(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  return tb_time_diff(later, earlier, out);
}
TB_INLINE tb_status_t tb_diff_sat(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  return tb_time_diff_sat(later, earlier, out);
}
TB_INLINE tb_status_t tb_compare(tb_time_t a, tb_time_t b, int *out)
{
  return tb_time_compare(a, b, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_add(tb_steady_time_t a, tb_duration_t b,
                                            tb_steady_time_t *out)
{
  return tb_steady_time_add(a, b, out);
}
TB_INLINE tb_steady_time_t tb_add_sat(tb_steady_time_t a, tb_duration_t b)
{
  return tb_steady_time_add_sat(a, b);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_sub(tb_steady_time_t a, tb_duration_t b,
                                            tb_steady_time_t *out)
{
  return tb_steady_time_sub(a, b, out);
}
TB_INLINE tb_steady_time_t tb_sub_sat(tb_steady_time_t a, tb_duration_t b)
{
  return tb_steady_time_sub_sat(a, b);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_diff(tb_steady_time_t later, tb_steady_time_t earlier,
                                             tb_duration_t *out)
{
  return tb_steady_time_diff(later, earlier, out);
}
TB_INLINE tb_status_t tb_diff_sat(tb_steady_time_t later, tb_steady_time_t earlier,
                                  tb_duration_t *out)
{
  return tb_steady_time_diff_sat(later, earlier, out);
}
TB_INLINE tb_status_t tb_compare(tb_steady_time_t a, tb_steady_time_t b, int *out)
{
  return tb_steady_time_compare(a, b, out);
}

#endif

#endif
