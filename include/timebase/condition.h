/* Conditions on a clock: wait until signalled or until a time, whichever is first. As
 * pthread_cond_t, with the caller's own mutex, but the time is that of any clock.
 *
 * A tb_cond_t belongs to a tb_clock_t, a tb_steady_cond_t to a tb_steady_clock_t. generic.h makes
 * the tb_cond_* names work for both. */
#ifndef TIMEBASE_CONDITION_H
#define TIMEBASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/sleep.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** A condition on a clock of system or ROS time, and one on a steady clock. */
typedef struct tb_cond tb_cond_t;
typedef struct tb_steady_cond tb_steady_cond_t;

TB_BEGIN_DECLS

/** When the clock is destroyed, waits return TB_ERR_CLOSED, and the condition stays valid.
 * [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY.
 * (rclcpp::ClockConditionalVariable) */
TB_API TB_WARN_UNUSED tb_status_t tb_cond_create(tb_clock_t *clock, tb_cond_t **out);

/** Makes all waits return TB_ERR_CLOSED and returns when they have left the condition; they take
 * the caller's mutex again after that, so it may be held here. No other thread may start using the
 * condition once this is called. NULL does nothing (TB_OK). [any thread] [blocks] TB_ERR_DEADLOCK
 * from a jump callback: nothing is destroyed then. */
TB_API tb_status_t tb_cond_destroy(tb_cond_t *cond);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT). TB_ERR_TIMEOUT: waits on the
 * condition, also future ones, return TB_ERR_CLOSED, but it must be destroyed by another call: a
 * wait that begins during a blocking jump leaves after it. (Waits leave a tb_steady_cond_t without
 * delay.) */
TB_API TB_WARN_UNUSED tb_status_t tb_cond_destroy_within(tb_cond_t *cond, tb_duration_t limit);

/** Releases `mutex`, which the calling thread holds (locked once, not a robust one), waits, and
 * takes it again before it returns, whatever it returns. A signal given after the mutex was
 * released, or by a thread that took it since, is never missed. Returns TB_OK when signalled
 * (`*out_signalled` true) or when the clock has reached `target` (false); never for another reason.
 * `out_signalled` may be NULL. Signalled and due together: whichever came first counts. When the
 * time has come at the call, or the limit is TB_NO_WAIT, the mutex is not released unless a jump is
 * in progress. As with pthreads, another thread may be first to the mutex: test in a loop what was
 * waited for.
 *
 * Jumps, clock changes, limit and token: as tb_clock_sleep_until, with its errors; TB_ERR_TIMEOUT
 * is the limit in steady time, not `target`. A signal is not given to a wait that was cancelled.
 * [any thread] [blocks] TB_ERR_CLOSED: the condition, its clock or the token was destroyed.
 * TB_ERR_INVALID: also a mutex that cannot be released (it is not taken then).
 * (rclcpp::ClockConditionalVariable::wait_until) */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_cond_wait_until(tb_cond_t *cond, pthread_mutex_t *mutex,
                                                        tb_time_t target,
                                                        const tb_wait_options_t *options,
                                                        bool *out_signalled);

/** The same until `duration` has passed, as tb_clock_sleep_for counts it; at once if <= 0, and
 * INT64_MAX: until signalled. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_cond_wait_for(tb_cond_t *cond, pthread_mutex_t *mutex,
                                                      tb_duration_t duration,
                                                      const tb_wait_options_t *options,
                                                      bool *out_signalled);

/** Wakes the waiter that has waited longest; without waiters does nothing. The mutex may be held or
 * not. [any thread] [from callbacks] TB_ERR_INVALID for NULL. */
TB_API tb_status_t tb_cond_signal(tb_cond_t *cond);

/** Wakes all current waiters. [any thread] [from callbacks] TB_ERR_INVALID for NULL. */
TB_API tb_status_t tb_cond_broadcast(tb_cond_t *cond);

/** The same on steady time, where nothing jumps; such a wait is allowed in a jump callback too, and
 * delays the jump. [any thread] [from callbacks, but destroying from a jump callback is
 * TB_ERR_DEADLOCK] [blocks: destroying and waiting] */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_cond_create(tb_steady_clock_t *clock,
                                                        tb_steady_cond_t **out);
TB_API tb_status_t tb_steady_cond_destroy(tb_steady_cond_t *cond);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_steady_cond_wait_until(tb_steady_cond_t *cond,
                                                               pthread_mutex_t *mutex,
                                                               tb_steady_time_t target,
                                                               const tb_wait_options_t *options,
                                                               bool *out_signalled);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_steady_cond_wait_for(tb_steady_cond_t *cond,
                                                             pthread_mutex_t *mutex,
                                                             tb_duration_t duration,
                                                             const tb_wait_options_t *options,
                                                             bool *out_signalled);
TB_API tb_status_t tb_steady_cond_signal(tb_steady_cond_t *cond);
TB_API tb_status_t tb_steady_cond_broadcast(tb_steady_cond_t *cond);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_cond_wait_until_sized(tb_cond_t *cond, pthread_mutex_t *mutex,
                                            tb_time_t target, const tb_wait_options_t *options,
                                            size_t options_size, bool *out_signalled);
TB_INLINE tb_status_t tb_cond_wait_until(tb_cond_t *cond, pthread_mutex_t *mutex, tb_time_t target,
                                         const tb_wait_options_t *options, bool *out_signalled)
{
  return tb_cond_wait_until_sized(cond, mutex, target, options, sizeof *options, out_signalled);
}
TB_API tb_status_t tb_cond_wait_for_sized(tb_cond_t *cond, pthread_mutex_t *mutex,
                                          tb_duration_t duration, const tb_wait_options_t *options,
                                          size_t options_size, bool *out_signalled);
TB_INLINE tb_status_t tb_cond_wait_for(tb_cond_t *cond, pthread_mutex_t *mutex,
                                       tb_duration_t duration, const tb_wait_options_t *options,
                                       bool *out_signalled)
{
  return tb_cond_wait_for_sized(cond, mutex, duration, options, sizeof *options, out_signalled);
}
TB_API tb_status_t tb_steady_cond_wait_until_sized(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                                   tb_steady_time_t target,
                                                   const tb_wait_options_t *options,
                                                   size_t options_size, bool *out_signalled);
TB_INLINE tb_status_t tb_steady_cond_wait_until(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                                tb_steady_time_t target,
                                                const tb_wait_options_t *options,
                                                bool *out_signalled)
{
  return tb_steady_cond_wait_until_sized(cond, mutex, target, options, sizeof *options,
                                         out_signalled);
}
TB_API tb_status_t tb_steady_cond_wait_for_sized(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                                 tb_duration_t duration,
                                                 const tb_wait_options_t *options,
                                                 size_t options_size, bool *out_signalled);
TB_INLINE tb_status_t tb_steady_cond_wait_for(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                              tb_duration_t duration,
                                              const tb_wait_options_t *options, bool *out_signalled)
{
  return tb_steady_cond_wait_for_sized(cond, mutex, duration, options, sizeof *options,
                                       out_signalled);
}

TB_END_DECLS

#endif
