/* One name for each operation on every kind of clock: tb_now(clock, &t) takes a tb_clock_t and a
 * tb_time_t, or a tb_steady_clock_t and a tb_steady_time_t. Mixing them does not compile. */
#ifndef TIMEBASE_GENERIC_H
#define TIMEBASE_GENERIC_H

#include <timebase/arithmetic.h>
#include <timebase/clock.h>
#include <timebase/sleep.h>
#include <timebase/steady_clock.h>
#include <timebase/timer.h>

#ifndef __cplusplus

#define TB_GENERIC_CLOCK(clock, ros, steady)                                                       \
  _Generic((clock),                                                                                \
      tb_clock_t *: ros,                                                                           \
      const tb_clock_t *: ros,                                                                     \
      tb_steady_clock_t *: steady,                                                                 \
      const tb_steady_clock_t *: steady)

#define tb_now(clock, out)                                                                         \
  TB_GENERIC_CLOCK(clock, TB_GENERIC_IF(out, tb_time_t, tb_clock_now),                             \
                   TB_GENERIC_IF(out, tb_steady_time_t, tb_steady_clock_now))                      \
  (clock, out)
#define tb_sleep_until(clock, target, options)                                                     \
  TB_GENERIC_CLOCK(clock, tb_clock_sleep_until, tb_steady_clock_sleep_until)                       \
  (clock, target, options)
#define tb_sleep_for(clock, duration, options)                                                     \
  TB_GENERIC_CLOCK(clock, tb_clock_sleep_for, tb_steady_clock_sleep_for)(clock, duration, options)
#define tb_timer_create(queue, clock, options, out)                                                \
  TB_GENERIC_CLOCK(                                                                                \
      clock, TB_GENERIC_IF(options, tb_timer_options_t, tb_clock_timer_create),                    \
      TB_GENERIC_IF(options, tb_steady_timer_options_t, tb_steady_clock_timer_create))             \
  (queue, clock, options, out)
#define tb_timer_queue_next_deadline(queue, clock, out)                                            \
  TB_GENERIC_CLOCK(                                                                                \
      clock, TB_GENERIC_IF(out, tb_time_t, tb_clock_timer_queue_next_deadline),                    \
      TB_GENERIC_IF(out, tb_steady_time_t, tb_steady_clock_timer_queue_next_deadline))             \
  (queue, clock, out)
/* By the type of `out`: a timer on the other type of clock is TB_ERR_CLOCK_MISMATCH. */
#define tb_timer_next_deadline(timer, out)                                                         \
  _Generic((out), tb_time_t *                                                                      \
           : tb_clock_timer_next_deadline, tb_steady_time_t *                                      \
           : tb_steady_clock_timer_next_deadline)(timer, out)

#else

inline tb_status_t tb_now(const tb_clock_t *clock, tb_time_t *out)
{
  return tb_clock_now(clock, out);
}
inline tb_status_t tb_now(const tb_steady_clock_t *clock, tb_steady_time_t *out)
{
  return tb_steady_clock_now(clock, out);
}
inline tb_status_t tb_sleep_until(tb_clock_t *clock, tb_time_t target,
                                  const tb_wait_options_t *options)
{
  return tb_clock_sleep_until(clock, target, options);
}
inline tb_status_t tb_sleep_until(tb_steady_clock_t *clock, tb_steady_time_t target,
                                  const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_until(clock, target, options);
}
inline tb_status_t tb_sleep_for(tb_clock_t *clock, tb_duration_t duration,
                                const tb_wait_options_t *options)
{
  return tb_clock_sleep_for(clock, duration, options);
}
inline tb_status_t tb_sleep_for(tb_steady_clock_t *clock, tb_duration_t duration,
                                const tb_wait_options_t *options)
{
  return tb_steady_clock_sleep_for(clock, duration, options);
}
inline tb_status_t tb_timer_create(tb_timer_queue_t *queue, tb_clock_t *clock,
                                   const tb_timer_options_t *options, tb_timer_t **out)
{
  return tb_clock_timer_create(queue, clock, options, out);
}
inline tb_status_t tb_timer_create(tb_timer_queue_t *queue, tb_steady_clock_t *clock,
                                   const tb_steady_timer_options_t *options, tb_timer_t **out)
{
  return tb_steady_clock_timer_create(queue, clock, options, out);
}
inline tb_status_t tb_timer_queue_next_deadline(tb_timer_queue_t *queue, const tb_clock_t *clock,
                                                tb_time_t *out)
{
  return tb_clock_timer_queue_next_deadline(queue, clock, out);
}
inline tb_status_t tb_timer_queue_next_deadline(tb_timer_queue_t *queue,
                                                const tb_steady_clock_t *clock,
                                                tb_steady_time_t *out)
{
  return tb_steady_clock_timer_queue_next_deadline(queue, clock, out);
}
inline tb_status_t tb_timer_next_deadline(const tb_timer_t *timer, tb_time_t *out)
{
  return tb_clock_timer_next_deadline(timer, out);
}
inline tb_status_t tb_timer_next_deadline(const tb_timer_t *timer, tb_steady_time_t *out)
{
  return tb_steady_clock_timer_next_deadline(timer, out);
}

#endif

#endif
