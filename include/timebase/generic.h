/* One name for each operation on every kind of clock: tb_now(clock, &t) takes a tb_clock_t and a
 * tb_time_t, or a tb_steady_clock_t and a tb_steady_time_t. Mixing them does not compile. The names
 * tb_cond_* of condition.h become such names, and take a tb_steady_cond_t too. In C they are
 * macros of whole calls, not for file scope. A compound literal with a comma in it wants
 * parentheses there: tb_timer_create(queue, clock, (&(tb_timer_options_t){...}), &timer).
 * tb_ros_time_ns(5) has them. */
#ifndef TIMEBASE_GENERIC_H
#define TIMEBASE_GENERIC_H

#include <timebase/arithmetic.h>
#include <timebase/clock.h>
#include <timebase/condition.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/steady_clock.h>
#include <timebase/timer.h>

#ifndef __cplusplus

/** Internal: one of two functions, by the type of a clock. */
#define TB_GENERIC_CLOCK(clock, ros, steady)                                                       \
  _Generic((clock),                                                                                \
      tb_clock_t *: (ros),                                                                         \
      const tb_clock_t *: (ros),                                                                   \
      tb_steady_clock_t *: (steady),                                                               \
      const tb_steady_clock_t *: (steady))

/** Internal: one of the arguments of a macro that takes `...`. */
#define TB_GENERIC_FIRST(...)              TB_GENERIC_FIRST_(__VA_ARGS__, 0)
#define TB_GENERIC_FIRST_(first, ...)      first
#define TB_GENERIC_SECOND(...)             TB_GENERIC_SECOND_(__VA_ARGS__, 0, 0)
#define TB_GENERIC_SECOND_(_, second, ...) second

/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/** Internal: whether a clock is of one of the two types, and the other argument belongs to it. */
#define TB_GENERIC_BELONGS(clock, ros, steady)                                                     \
  _Generic((clock),                                                                                \
      tb_clock_t *: (ros),                                                                         \
      const tb_clock_t *: (ros),                                                                   \
      tb_steady_clock_t *: (steady),                                                               \
      const tb_steady_clock_t *: (steady),                                                         \
      default: 0)

/** Internal: 1 if `value` is of `type`. */
#define TB_GENERIC_IS_A(value, type) _Generic((value), type: 1, default: 0)
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

/** The functions of the type by these names, with their rules and errors: tb_clock_now or
 * tb_steady_clock_now, and so on. */
#define tb_now(clock, out)                                                                         \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, TB_GENERIC_IS(out, tb_time_t),                     \
                                         TB_GENERIC_IS(out, tb_steady_time_t)),                    \
                      "tb_now: takes a tb_clock_t and a tb_time_t, or a tb_steady_clock_t and a "  \
                      "tb_steady_time_t"),                                                         \
   TB_GENERIC_CLOCK(clock, TB_GENERIC_IF(out, tb_time_t, tb_clock_now),                            \
                    TB_GENERIC_IF(out, tb_steady_time_t, tb_steady_clock_now))(clock, out))
#define tb_sleep_until(clock, ...)                                                                 \
  (TB_GENERIC_REQUIRE(                                                                             \
       TB_GENERIC_BELONGS(clock, TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_time_t),        \
                          TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_steady_time_t)),       \
       "tb_sleep_until: takes a tb_clock_t and a tb_time_t, or a "                                 \
       "tb_steady_clock_t and a tb_steady_time_t"),                                                \
   TB_GENERIC_CLOCK(clock, tb_clock_sleep_until, tb_steady_clock_sleep_until)(clock, __VA_ARGS__))
#define tb_sleep_for(clock, ...)                                                                   \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, 1, 1) &&                                           \
                          TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_duration_t),           \
                      "tb_sleep_for: takes a tb_clock_t or a tb_steady_clock_t, and a "            \
                      "tb_duration_t"),                                                            \
   TB_GENERIC_CLOCK(clock, tb_clock_sleep_for, tb_steady_clock_sleep_for)(clock, __VA_ARGS__))
#define tb_timer_create(queue, clock, options, out)                                                \
  (TB_GENERIC_REQUIRE(                                                                             \
       TB_GENERIC_BELONGS(clock, TB_GENERIC_IS(options, tb_timer_options_t),                       \
                          TB_GENERIC_IS(options, tb_steady_timer_options_t)),                      \
       "tb_timer_create: takes a tb_clock_t and tb_timer_options_t, or a tb_steady_clock_t and "   \
       "tb_steady_timer_options_t"),                                                               \
   TB_GENERIC_CLOCK(clock, TB_GENERIC_IF(options, tb_timer_options_t, tb_clock_timer_create),      \
                    TB_GENERIC_IF(options, tb_steady_timer_options_t,                              \
                                  tb_steady_clock_timer_create))(queue, clock, options, out))
#define tb_rate_create(clock, ...)                                                                 \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, 1, 1) &&                                           \
                          TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_duration_t),           \
                      "tb_rate_create: takes a tb_clock_t or a tb_steady_clock_t, and a "          \
                      "tb_duration_t"),                                                            \
   TB_GENERIC_CLOCK(clock, tb_clock_rate_create, tb_steady_clock_rate_create)(clock, __VA_ARGS__))

/** A rate by its frequency, for both types of clock. */
#define tb_rate_create_hz(clock, hz, out)                                                          \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, 1, 1),                                             \
                      "tb_rate_create_hz: takes a tb_clock_t or a tb_steady_clock_t"),             \
   TB_GENERIC_CLOCK(clock, tb_clock_rate_create_hz, tb_steady_clock_rate_create_hz)(clock, hz,     \
                                                                                    out))

/** Internal: one of two functions, by the type of a condition. */
#define TB_GENERIC_COND(cond, ros, steady)                                                         \
  _Generic((cond), tb_cond_t * : (ros), tb_steady_cond_t * : (steady))

/** Internal: whether a condition is of one of the two types, and the other argument belongs. */
/* clang-format off */
#define TB_GENERIC_REQUIRE_COND(name, cond, ros, steady, takes)                                    \
  TB_GENERIC_REQUIRE(_Generic((cond), tb_cond_t *: (ros), tb_steady_cond_t *: (steady), default: 0), \
                     name ": takes " takes)
/* clang-format on */

/** The functions of condition.h for both types, and the next deadline for both types of clock. */
#define tb_cond_create(clock, out)                                                                 \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, TB_GENERIC_IS(out, tb_cond_t *),                   \
                                         TB_GENERIC_IS(out, tb_steady_cond_t *)),                  \
                      "tb_cond_create: takes a tb_clock_t and a tb_cond_t, or a "                  \
                      "tb_steady_clock_t and a tb_steady_cond_t"),                                 \
   TB_GENERIC_CLOCK(clock, TB_GENERIC_IF(out, tb_cond_t *, tb_cond_create),                        \
                    TB_GENERIC_IF(out, tb_steady_cond_t *, tb_steady_cond_create))(clock, out))
#define tb_cond_destroy(cond)                                                                      \
  (TB_GENERIC_REQUIRE_COND("tb_cond_destroy", cond, 1, 1, "a tb_cond_t or a tb_steady_cond_t"),    \
   TB_GENERIC_COND(cond, tb_cond_destroy, tb_steady_cond_destroy)(cond))
#define tb_cond_wait_until(cond, ...)                                                              \
  (TB_GENERIC_REQUIRE_COND("tb_cond_wait_until", cond,                                             \
                           TB_GENERIC_IS_A(TB_GENERIC_SECOND(__VA_ARGS__), tb_time_t),             \
                           TB_GENERIC_IS_A(TB_GENERIC_SECOND(__VA_ARGS__), tb_steady_time_t),      \
                           "a tb_cond_t and a tb_time_t, or a tb_steady_cond_t and a "             \
                           "tb_steady_time_t"),                                                    \
   TB_GENERIC_COND(cond, tb_cond_wait_until, tb_steady_cond_wait_until)(cond, __VA_ARGS__))
#define tb_cond_wait_for(cond, ...)                                                                \
  (TB_GENERIC_REQUIRE_COND("tb_cond_wait_for", cond,                                               \
                           TB_GENERIC_IS_A(TB_GENERIC_SECOND(__VA_ARGS__), tb_duration_t),         \
                           TB_GENERIC_IS_A(TB_GENERIC_SECOND(__VA_ARGS__), tb_duration_t),         \
                           "a tb_cond_t or a tb_steady_cond_t, and a tb_duration_t"),              \
   TB_GENERIC_COND(cond, tb_cond_wait_for, tb_steady_cond_wait_for)(cond, __VA_ARGS__))
#define tb_cond_signal(cond)                                                                       \
  (TB_GENERIC_REQUIRE_COND("tb_cond_signal", cond, 1, 1, "a tb_cond_t or a tb_steady_cond_t"),     \
   TB_GENERIC_COND(cond, tb_cond_signal, tb_steady_cond_signal)(cond))
#define tb_cond_broadcast(cond)                                                                    \
  (TB_GENERIC_REQUIRE_COND("tb_cond_broadcast", cond, 1, 1, "a tb_cond_t or a tb_steady_cond_t"),  \
   TB_GENERIC_COND(cond, tb_cond_broadcast, tb_steady_cond_broadcast)(cond))
#define tb_timer_queue_next_deadline(queue, clock, out)                                            \
  (TB_GENERIC_REQUIRE(TB_GENERIC_BELONGS(clock, TB_GENERIC_IS(out, tb_time_t),                     \
                                         TB_GENERIC_IS(out, tb_steady_time_t)),                    \
                      "tb_timer_queue_next_deadline: takes a tb_clock_t and a tb_time_t, or a "    \
                      "tb_steady_clock_t and a tb_steady_time_t"),                                 \
   TB_GENERIC_CLOCK(clock, TB_GENERIC_IF(out, tb_time_t, tb_clock_timer_queue_next_deadline),      \
                    TB_GENERIC_IF(out, tb_steady_time_t,                                           \
                                  tb_steady_clock_timer_queue_next_deadline))(queue, clock, out))
/** By the type of `out`: a timer on the other type of clock is TB_ERR_CLOCK_MISMATCH. */
#define tb_timer_next_deadline(timer, out)                                                         \
  (TB_GENERIC_REQUIRE(TB_GENERIC_IS_A(out, tb_time_t *) ||                                         \
                          TB_GENERIC_IS_A(out, tb_steady_time_t *),                                \
                      "tb_timer_next_deadline: out must point to a tb_time_t or a "                \
                      "tb_steady_time_t"),                                                         \
   _Generic((out), tb_time_t *                                                                     \
            : tb_clock_timer_next_deadline, tb_steady_time_t *                                     \
            : tb_steady_clock_timer_next_deadline)(timer, out))
#define tb_timer_advance(timer, out)                                                               \
  (TB_GENERIC_REQUIRE(TB_GENERIC_IS_A(out, tb_timer_info_t *) ||                                   \
                          TB_GENERIC_IS_A(out, tb_steady_timer_info_t *),                          \
                      "tb_timer_advance: out must point to a tb_timer_info_t or a "                \
                      "tb_steady_timer_info_t"),                                                   \
   _Generic((out), tb_timer_info_t *                                                               \
            : tb_clock_timer_advance, tb_steady_timer_info_t *                                     \
            : tb_steady_clock_timer_advance)(timer, out))
#define tb_timer_start_at(timer, ...)                                                              \
  (TB_GENERIC_REQUIRE(TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_time_t) ||                 \
                          TB_GENERIC_IS_A(TB_GENERIC_FIRST(__VA_ARGS__), tb_steady_time_t),        \
                      "tb_timer_start_at: at must be a tb_time_t or a tb_steady_time_t"),          \
   _Generic((TB_GENERIC_FIRST(__VA_ARGS__)), tb_time_t                                             \
            : tb_clock_timer_start_at, tb_steady_time_t                                            \
            : tb_steady_clock_timer_start_at)(timer, __VA_ARGS__))
#define tb_timer_exchange_callback(timer, callback, user, old_callback, old_user)                  \
  (TB_GENERIC_REQUIRE(TB_GENERIC_IS_A(callback, tb_timer_callback_t) ||                            \
                          TB_GENERIC_IS_A(callback, tb_steady_timer_callback_t),                   \
                      "tb_timer_exchange_callback: callback must be a tb_timer_callback_t or a "   \
                      "tb_steady_timer_callback_t"),                                               \
   _Generic((callback), tb_timer_callback_t                                                        \
            : tb_clock_timer_exchange_callback, tb_steady_timer_callback_t                         \
            : tb_steady_clock_timer_exchange_callback)(timer, callback, user, old_callback,        \
                                                       old_user))

#else

TB_INLINE tb_status_t tb_now(const tb_clock_t *clock, tb_time_t *out)
{
  return tb_clock_now(clock, out);
}
TB_INLINE tb_status_t tb_now(const tb_steady_clock_t *clock, tb_steady_time_t *out)
{
  return tb_steady_clock_now(clock, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_sleep_until(tb_clock_t *clock, tb_time_t target,
                                                    const tb_wait_options_t *options)
{
  return tb_clock_sleep_until(clock, target, options);
}
TB_INLINE tb_status_t tb_sleep_until(tb_steady_clock_t *clock, tb_steady_time_t target,
                                     const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_until(clock, target, options);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_sleep_for(tb_clock_t *clock, tb_duration_t duration,
                                                  const tb_wait_options_t *options)
{
  return tb_clock_sleep_for(clock, duration, options);
}
TB_INLINE tb_status_t tb_sleep_for(tb_steady_clock_t *clock, tb_duration_t duration,
                                   const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_for(clock, duration, options);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_timer_create(tb_timer_queue_t *queue, tb_clock_t *clock,
                                                     const tb_timer_options_t *options,
                                                     tb_timer_t **out)
{
  return tb_clock_timer_create(queue, clock, options, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_timer_create(tb_timer_queue_t *queue,
                                                     tb_steady_clock_t *clock,
                                                     const tb_steady_timer_options_t *options,
                                                     tb_timer_t **out)
{
  return tb_steady_clock_timer_create(queue, clock, options, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_rate_create(tb_clock_t *clock, tb_duration_t period,
                                                    tb_rate_t **out)
{
  return tb_clock_rate_create(clock, period, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_rate_create(tb_steady_clock_t *clock, tb_duration_t period,
                                                    tb_rate_t **out)
{
  return tb_steady_clock_rate_create(clock, period, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_cond_create(tb_steady_clock_t *clock,
                                                    tb_steady_cond_t **out)
{
  return tb_steady_cond_create(clock, out);
}
TB_INLINE tb_status_t tb_cond_destroy(tb_steady_cond_t *cond)
{
  return tb_steady_cond_destroy(cond);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_cond_wait_until(tb_steady_cond_t *cond,
                                                        pthread_mutex_t *mutex,
                                                        tb_steady_time_t target,
                                                        const tb_wait_options_t *options,
                                                        bool *out_signalled)
{
  return tb_steady_cond_wait_until(cond, mutex, target, options, out_signalled);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_cond_wait_for(tb_steady_cond_t *cond,
                                                      pthread_mutex_t *mutex,
                                                      tb_duration_t duration,
                                                      const tb_wait_options_t *options,
                                                      bool *out_signalled)
{
  return tb_steady_cond_wait_for(cond, mutex, duration, options, out_signalled);
}
TB_INLINE tb_status_t tb_cond_signal(tb_steady_cond_t *cond)
{
  return tb_steady_cond_signal(cond);
}
TB_INLINE tb_status_t tb_cond_broadcast(tb_steady_cond_t *cond)
{
  return tb_steady_cond_broadcast(cond);
}
TB_INLINE tb_status_t tb_timer_queue_next_deadline(tb_timer_queue_t *queue, const tb_clock_t *clock,
                                                   tb_time_t *out)
{
  return tb_clock_timer_queue_next_deadline(queue, clock, out);
}
TB_INLINE tb_status_t tb_timer_queue_next_deadline(tb_timer_queue_t *queue,
                                                   const tb_steady_clock_t *clock,
                                                   tb_steady_time_t *out)
{
  return tb_steady_clock_timer_queue_next_deadline(queue, clock, out);
}
TB_INLINE tb_status_t tb_timer_next_deadline(const tb_timer_t *timer, tb_time_t *out)
{
  return tb_clock_timer_next_deadline(timer, out);
}
TB_INLINE tb_status_t tb_timer_next_deadline(const tb_timer_t *timer, tb_steady_time_t *out)
{
  return tb_steady_clock_timer_next_deadline(timer, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_rate_create_hz(tb_clock_t *clock, double hz,
                                                       tb_rate_t **out)
{
  return tb_clock_rate_create_hz(clock, hz, out);
}
TB_INLINE TB_WARN_UNUSED tb_status_t tb_rate_create_hz(tb_steady_clock_t *clock, double hz,
                                                       tb_rate_t **out)
{
  return tb_steady_clock_rate_create_hz(clock, hz, out);
}
TB_INLINE tb_status_t tb_timer_advance(tb_timer_t *timer, tb_timer_info_t *out)
{
  return tb_clock_timer_advance(timer, out);
}
TB_INLINE tb_status_t tb_timer_advance(tb_timer_t *timer, tb_steady_timer_info_t *out)
{
  return tb_steady_clock_timer_advance(timer, out);
}
TB_INLINE tb_status_t tb_timer_start_at(tb_timer_t *timer, tb_time_t at)
{
  return tb_clock_timer_start_at(timer, at);
}
TB_INLINE tb_status_t tb_timer_start_at(tb_timer_t *timer, tb_steady_time_t at)
{
  return tb_steady_clock_timer_start_at(timer, at);
}
TB_INLINE tb_status_t tb_timer_exchange_callback(tb_timer_t *timer, tb_timer_callback_t callback,
                                                 void *user, tb_timer_callback_t *old_callback,
                                                 void **old_user)
{
  return tb_clock_timer_exchange_callback(timer, callback, user, old_callback, old_user);
}
TB_INLINE tb_status_t tb_timer_exchange_callback(tb_timer_t *timer,
                                                 tb_steady_timer_callback_t callback, void *user,
                                                 tb_steady_timer_callback_t *old_callback,
                                                 void **old_user)
{
  return tb_steady_clock_timer_exchange_callback(timer, callback, user, old_callback, old_user);
}

#endif

#endif
