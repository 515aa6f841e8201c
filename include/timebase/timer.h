/* Timers on every kind of clock, in a queue that the user drives or that has a thread. */
#ifndef TIMEBASE_TIMER_H
#define TIMEBASE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** A set of timers that are run together. */
typedef struct tb_timer_queue tb_timer_queue_t;
/** Calls at a time, or once a period. */
typedef struct tb_timer tb_timer_t;

/** What a call of a timer on system or ROS time gets. */
typedef struct tb_timer_info {
  tb_time_t scheduled; /**< when it was due */
  tb_time_t actual;    /**< when the call was made; never before `scheduled` */
  uint64_t epoch;      /**< of the clock, with `actual` */
  uint64_t missed;     /**< periods after `scheduled` that had passed too and get no call */
} tb_timer_info_t;

/** What a call of a timer on steady time gets. */
typedef struct tb_steady_timer_info {
  tb_steady_time_t scheduled; /**< when it was due */
  tb_steady_time_t actual;    /**< when the call was made */
  uint64_t missed;            /**< as in tb_timer_info_t */
} tb_steady_timer_info_t;

/** Runs on the thread that calls tb_timer_queue_run_due, or on the queue's own. It may start, stop,
 * change and destroy any timer, itself included, and everything else but destroying the queue that
 * runs it, stopping its thread or waiting for its own callback. */
typedef void (*tb_timer_callback_t)(tb_timer_t *timer, const tb_timer_info_t *info, void *user);
typedef void (*tb_steady_timer_callback_t)(tb_timer_t *timer, const tb_steady_timer_info_t *info,
                                           void *user);

/** What a passive timer calls when it becomes ready, once until it is advanced or started again: to
 * wake whoever dispatches it. Runs where callbacks do, on the thread that runs the queue, and may
 * do what they may. The hooks of timers that are due in one run are called in no order. It may also
 * come for a timer that was advanced a moment before, on another thread. */
typedef void (*tb_timer_wake_t)(tb_timer_t *timer, void *user);

/** What a timer calls when it has been started, also when it was running. Runs on the thread that
 * started it, which holds no lock of timebase. */
typedef void (*tb_timer_reset_t)(tb_timer_t *timer, void *user);

/** When a timer is called. */
typedef enum tb_timer_mode {
  TB_TIMER_PERIODIC = 0,    /**< every `period`; of 0: in each run of its queue */
  TB_TIMER_ONE_SHOT = 1,    /**< once for each start, `period` after it */
  TB_TIMER_ONE_SHOT_AT = 2, /**< once for each start, at the time `at`; at once if it has passed */
} tb_timer_mode_t;

/** What becomes of the periods that passed without a call, of a periodic timer. */
typedef enum tb_timer_missed {
  TB_TIMER_SKIP = 0,     /**< one call, the others are counted (rcl, rclcpp) */
  TB_TIMER_CATCH_UP = 1, /**< a call for each, up to `catch_up_max`; the last counts the others */
} tb_timer_missed_t;

/** Calls a run of a timer that catches up, unless its options set another number. */
#define TB_TIMER_CATCH_UP_MAX UINT32_C(100)

/** A timer on system or ROS time. */
typedef struct tb_timer_options {
  tb_duration_t period;         /**< >= 0; of a one-shot timer: the delay; not used with `at` */
  tb_timer_callback_t callback; /**< required, unless it is passive */
  void *user;                   /**< handed to the callback, or to `wake` */
  tb_timer_mode_t mode;         /**< when it is called */
  tb_time_t at; /**< with TB_TIMER_ONE_SHOT_AT: of the clock's kind; on a ROS clock not zero */
  tb_timer_missed_t missed_policy; /**< of a periodic timer */
  uint32_t catch_up_max;           /**< calls a run of the queue; 0: TB_TIMER_CATCH_UP_MAX */
  /** It has no callback: it becomes ready at its deadline, and remains so until it is advanced
   * (tb_timer_call). For programs with a dispatch of their own, as other client libraries have. One
   * that catches up advances by one period at a time. */
  bool passive;
  uint8_t padding[7];   /**< not used */
  tb_timer_wake_t wake; /**< of a passive timer; may be NULL */
} tb_timer_options_t;

/** A timer on steady time. */
typedef struct tb_steady_timer_options {
  tb_duration_t period; /**< >= 0; of a one-shot timer: the delay; not used with `at` */
  tb_steady_timer_callback_t callback; /**< required, unless it is passive */
  void *user;                          /**< handed to the callback, or to `wake` */
  tb_timer_mode_t mode;                /**< when it is called */
  tb_steady_time_t at;                 /**< with TB_TIMER_ONE_SHOT_AT */
  tb_timer_missed_t missed_policy;     /**< of a periodic timer */
  uint32_t catch_up_max;               /**< calls a run of the queue; 0: TB_TIMER_CATCH_UP_MAX */
  bool passive;                        /**< as in tb_timer_options_t */
  uint8_t padding[7];                  /**< not used */
  tb_timer_wake_t wake;                /**< as in tb_timer_options_t */
} tb_steady_timer_options_t;

/** Periodic, skipping what it missed: a period and a callback have to be set. */
/* clang-format off */
#define TB_TIMER_OPTIONS_INIT                                                                      \
  {{0}, NULL, NULL, TB_TIMER_PERIODIC, {0, TB_TIME_ROS}, TB_TIMER_SKIP, TB_TIMER_CATCH_UP_MAX,     \
   false, {0}, NULL}
#define TB_STEADY_TIMER_OPTIONS_INIT                                                               \
  {{0}, NULL, NULL, TB_TIMER_PERIODIC, {0}, TB_TIMER_SKIP, TB_TIMER_CATCH_UP_MAX, false, {0}, NULL}
/* clang-format on */

TB_BEGIN_DECLS

/** [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_SYSTEM (descriptors). */
TB_API TB_WARN_UNUSED tb_status_t tb_timer_queue_create(tb_timer_queue_t **out);

/** Stops its thread and destroys its timers too: their memory is the queue's, so do not use or
 * destroy them after it. No other thread may use the queue or its timers. NULL does nothing. [any
 * thread] [blocks: until its thread has ended] TB_ERR_DEADLOCK from a jump callback, or a callback
 * or reset hook of this queue: nothing is destroyed then. */
TB_API tb_status_t tb_timer_queue_destroy(tb_timer_queue_t *queue);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT). TB_ERR_TIMEOUT: its thread ends as
 * soon as it can, nothing is destroyed, and the queue is valid. */
TB_API TB_WARN_UNUSED tb_status_t tb_timer_queue_destroy_within(tb_timer_queue_t *queue,
                                                                tb_duration_t limit);

/** A descriptor for poll, epoll or libuv: readable when something may be due, and then until
 * tb_timer_queue_run_due. It belongs to the queue: do not read or close it. -1 for NULL.
 * [any thread] [from callbacks] */
TB_API int tb_timer_queue_fd(const tb_timer_queue_t *queue);

/** Calls every timer that is due now, each once (for those that catch up: see the options), by
 * deadline and then in the order in which they were started. Reads each clock once at the start:
 * what becomes due meanwhile, or is started meanwhile, makes the descriptor readable again.
 * `out_calls` (may be NULL) gets the number of calls and of hooks of passive timers.
 * [one thread at a time: a second one gets TB_ERR_BUSY, and all do while the queue has a thread]
 * [blocks: during a blocking jump] TB_ERR_DEADLOCK: from a jump callback, or from a callback of
 * this queue. */
TB_API tb_status_t tb_timer_queue_run_due(tb_timer_queue_t *queue, uint32_t *out_calls);

/** Gives the queue a thread ("tb-timers") that makes its calls, with all signals blocked.
 * [any thread] [from callbacks] TB_ERR_BUSY: it has one, or tb_timer_queue_run_due is in progress.
 * TB_ERR_SYSTEM: no thread could be started. */
TB_API TB_WARN_UNUSED tb_status_t tb_timer_queue_start_thread(tb_timer_queue_t *queue);

/** Ends the thread, with the run that it is in: what is due in that run is still called. Timers go
 * on. Without a thread it does nothing. `limit`: see TB_NO_LIMIT. [any thread] [blocks]
 * TB_ERR_TIMEOUT: the limit has passed; the thread ends as soon as it can, and another call waits
 * for that. TB_ERR_DEADLOCK: from a jump callback, or from a callback of this queue. */
TB_API tb_status_t tb_timer_queue_stop_thread(tb_timer_queue_t *queue, tb_duration_t limit);

/** The earliest deadline of the running timers on `clock`; it may have passed. Generic name:
 * tb_timer_queue_next_deadline. [any thread] [from callbacks] [blocks: during a blocking jump,
 * except from its callbacks] TB_ERR_NOT_FOUND: there is none. TB_ERR_NOT_SET: the clock's source
 * has not started, so that it is not known yet. */
TB_API tb_status_t tb_clock_timer_queue_next_deadline(tb_timer_queue_t *queue,
                                                      const tb_clock_t *clock, tb_time_t *out);
TB_API tb_status_t tb_steady_clock_timer_queue_next_deadline(tb_timer_queue_t *queue,
                                                             const tb_steady_clock_t *clock,
                                                             tb_steady_time_t *out);

/** A timer on `clock`, stopped. It lives until it or its queue is destroyed; when its clock is, it
 * is stopped, and starting it is TB_ERR_CLOSED. At most 2^24 on one clock in one queue. Generic
 * name: tb_timer_create. [any thread] [from callbacks] TB_ERR_INVALID: a period < 0, no callback
 * or, of a passive one, a callback, an unknown mode or policy. TB_ERR_CLOCK_MISMATCH: `at` of the
 * other kind. TB_ERR_NOT_SET: `at` is zero on a ROS clock. TB_ERR_NO_MEMORY. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_timer_create(tb_timer_queue_t *queue,
                                                           tb_clock_t *clock,
                                                           const tb_timer_options_t *options,
                                                           tb_timer_t **out);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_steady_clock_timer_create(tb_timer_queue_t *queue, tb_steady_clock_t *clock,
                             const tb_steady_timer_options_t *options, tb_timer_t **out);

/** First call one period from now, then every period: deadlines never drift. A timer that is
 * running starts again. Nothing is allocated. At a backward jump to before its last call (or its
 * start) the next call is one period after the new time, a one-shot's its delay; one that was given
 * a time keeps it. At a change of its clock's source the part still to wait is kept. While the
 * source has not started, periods and delays count from its first tick. A deadline too late for the
 * clock never comes. [any thread] [from callbacks] [blocks: during a blocking jump, except from its
 * callbacks] TB_ERR_CLOSED: the clock or, while its call runs, the timer was destroyed.
 * TB_ERR_BUSY: from a callback of another jump. */
TB_API tb_status_t tb_timer_start(tb_timer_t *timer);

/** No call starts after it returns; one that has begun on another thread may still be running.
 * [any thread] [from callbacks] TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API tb_status_t tb_timer_stop(tb_timer_t *timer);

/** The same, and waits for a call that is running. That call may start the timer again. `limit`:
 * see TB_NO_LIMIT. [any thread] [from callbacks] [blocks] TB_ERR_TIMEOUT: stopped, and the call
 * still runs. TB_ERR_DEADLOCK: from the own callback or a jump callback: not stopped.
 * TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API TB_WARN_UNUSED tb_status_t tb_timer_stop_wait(tb_timer_t *timer, tb_duration_t limit);

/** Takes effect with the next deadline that is set: the one that a running timer waits for stays,
 * and those after it are a new period apart (rcl_timer_exchange_period). To have the new period at
 * once, start the timer again. In the own callback the next deadline has been set already. [any
 * thread] [from callbacks] TB_ERR_INVALID: a period < 0, a timer that is given a time.
 * TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API tb_status_t tb_timer_set_period(tb_timer_t *timer, tb_duration_t period);

/** Whether a call is to come: false after a stop, and for a one-shot from the start of its call.
 * [any thread] [from callbacks] */
TB_API bool tb_timer_is_running(const tb_timer_t *timer);

/** The deadline of a running timer; it may have passed. Generic name: tb_timer_next_deadline.
 * [any thread] [from callbacks] [blocks: during a blocking jump, except from its callbacks]
 * TB_ERR_NOT_FOUND: it is not running, or never fires. TB_ERR_NOT_SET: its clock's source has not
 * started. TB_ERR_CLOCK_MISMATCH: its clock is of the other type. TB_ERR_CLOSED: destroyed, while
 * its call runs. */
TB_API tb_status_t tb_clock_timer_next_deadline(const tb_timer_t *timer, tb_time_t *out);
TB_API tb_status_t tb_steady_clock_timer_next_deadline(const tb_timer_t *timer,
                                                       tb_steady_time_t *out);

/** Starts a timer of the mode TB_TIMER_ONE_SHOT_AT at another time than before, which it keeps.
 * Generic name: tb_timer_start_at. Errors of tb_timer_start, and TB_ERR_INVALID: of
 * another mode. TB_ERR_CLOCK_MISMATCH: its clock is of the other type, or `at` of the other kind.
 * TB_ERR_NOT_SET: `at` is zero on a ROS clock. [any thread] [from callbacks] [blocks: during a
 * blocking jump, except from its callbacks] */
TB_API tb_status_t tb_clock_timer_start_at(tb_timer_t *timer, tb_time_t at);
TB_API tb_status_t tb_steady_clock_timer_start_at(tb_timer_t *timer, tb_steady_time_t at);

/** Makes one call of the timer now, due or not (rcl_timer_call): the callback runs on this thread,
 * and the next deadline is the present one plus whole periods, as after any call; a one-shot has
 * had its call. Of a passive timer it only sets the next deadline, so that it is no longer ready
 * (tb_timer_advance). [one thread at a time with tb_timer_queue_run_due: a second one gets
 * TB_ERR_BUSY, and all do while the queue has a thread; for passive timers any thread, and from
 * callbacks] [blocks: during a blocking jump] TB_ERR_NOT_FOUND: it is not running. TB_ERR_NOT_SET:
 * its clock's source has not started. TB_ERR_DEADLOCK: not passive, from a jump callback or a
 * callback of this queue. TB_ERR_CLOSED: as tb_timer_start. */
TB_API tb_status_t tb_timer_call(tb_timer_t *timer);

/** tb_timer_call for passive timers. `out` (may be NULL) gets what a callback would: the deadline
 * that was, the time, the periods missed. Generic name: tb_timer_advance. [any thread] [from
 * callbacks] [blocks: during a blocking jump, except from its callbacks] Errors as tb_timer_call,
 * TB_ERR_INVALID: not passive, and TB_ERR_CLOCK_MISMATCH: its clock is of the other type. */
TB_INLINE tb_status_t tb_clock_timer_advance(tb_timer_t *timer, tb_timer_info_t *out);
TB_INLINE tb_status_t tb_steady_clock_timer_advance(tb_timer_t *timer, tb_steady_timer_info_t *out);

/** Whether it is running and its deadline has come: of a passive timer, until it is advanced. The
 * queue need not have been run. False also where reading the clock would fail. [any thread] [from
 * callbacks] [blocks: during a blocking jump, except from its callbacks] */
TB_API bool tb_timer_is_ready(const tb_timer_t *timer);

/** From the clock's time to the deadline, both of one moment; 0 or negative: due. [any thread]
 * [from callbacks] [blocks: during a blocking jump, except from its callbacks] TB_ERR_NOT_FOUND: it
 * is not running, or never fires. TB_ERR_NOT_SET: its clock's source has not started.
 * TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API tb_status_t tb_timer_time_until_next(const tb_timer_t *timer, tb_duration_t *out);

/** From the last call, or the last start if that was later, to the clock's time; of one moment.
 * [any thread] [from callbacks] [blocks: during a blocking jump, except from its callbacks]
 * TB_ERR_NOT_FOUND: it has never been started. TB_ERR_NOT_SET, TB_ERR_CLOSED as above. */
TB_API tb_status_t tb_timer_time_since_last_call(const tb_timer_t *timer, tb_duration_t *out);

/** The period, of a one-shot timer the delay. [any thread] [from callbacks] TB_ERR_INVALID: it is
 * given a time. TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API tb_status_t tb_timer_period(const tb_timer_t *timer, tb_duration_t *out);

/** The clock that it was made on; NULL for NULL, if that is of the other type, and when it has been
 * destroyed. [any thread] [from callbacks] */
TB_API tb_clock_t *tb_timer_clock(const tb_timer_t *timer);
TB_API tb_steady_clock_t *tb_timer_steady_clock(const tb_timer_t *timer);

/** Gives the timer another callback, for calls that have not begun. `old_callback` and `old_user`
 * (each may be NULL) get the one before it. Generic name: tb_timer_exchange_callback. [any thread]
 * [from callbacks] TB_ERR_INVALID: no callback, a passive timer. TB_ERR_CLOCK_MISMATCH: its clock
 * is of the other type. TB_ERR_CLOSED: destroyed, while its call runs. */
TB_API tb_status_t tb_clock_timer_exchange_callback(tb_timer_t *timer, tb_timer_callback_t callback,
                                                    void *user, tb_timer_callback_t *old_callback,
                                                    void **old_user);
TB_API tb_status_t tb_steady_clock_timer_exchange_callback(tb_timer_t *timer,
                                                           tb_steady_timer_callback_t callback,
                                                           void *user,
                                                           tb_steady_timer_callback_t *old_callback,
                                                           void **old_user);

/** What the timer calls at each start from now on; NULL: nothing (rcl_timer_set_on_reset_callback,
 * which also reports earlier ones). It is called on the thread that starts the timer; one that has
 * begun goes on when another thread exchanges it, or stops or destroys the timer. [any thread]
 * [from callbacks] TB_ERR_CLOSED: destroyed, while its call or a hook runs. */
TB_API tb_status_t tb_timer_set_reset_hook(tb_timer_t *timer, tb_timer_reset_t hook, void *user);

/** Stops it; memory goes when a running call, and reset hooks, have ended. Until then the handle is
 * valid and inert: in the callback calls on it return TB_ERR_CLOSED and change nothing, destroying
 * it again does nothing, whether the callback or another thread has destroyed it. NULL does
 * nothing. [any thread] [from callbacks] */
TB_API void tb_timer_destroy(tb_timer_t *timer);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_clock_timer_create_sized(tb_timer_queue_t *queue, tb_clock_t *clock,
                                               const tb_timer_options_t *options,
                                               size_t options_size, tb_timer_t **out);
TB_INLINE tb_status_t tb_clock_timer_create(tb_timer_queue_t *queue, tb_clock_t *clock,
                                            const tb_timer_options_t *options, tb_timer_t **out)
{
  return tb_clock_timer_create_sized(queue, clock, options, sizeof *options, out);
}
TB_API tb_status_t tb_steady_clock_timer_create_sized(tb_timer_queue_t *queue,
                                                      tb_steady_clock_t *clock,
                                                      const tb_steady_timer_options_t *options,
                                                      size_t options_size, tb_timer_t **out);
TB_INLINE tb_status_t tb_steady_clock_timer_create(tb_timer_queue_t *queue,
                                                   tb_steady_clock_t *clock,
                                                   const tb_steady_timer_options_t *options,
                                                   tb_timer_t **out)
{
  return tb_steady_clock_timer_create_sized(queue, clock, options, sizeof *options, out);
}
TB_API tb_status_t tb_clock_timer_advance_sized(tb_timer_t *timer, tb_timer_info_t *out,
                                                size_t out_size);
TB_INLINE tb_status_t tb_clock_timer_advance(tb_timer_t *timer, tb_timer_info_t *out)
{
  return tb_clock_timer_advance_sized(timer, out, sizeof *out);
}
TB_API tb_status_t tb_steady_clock_timer_advance_sized(tb_timer_t *timer,
                                                       tb_steady_timer_info_t *out,
                                                       size_t out_size);
TB_INLINE tb_status_t tb_steady_clock_timer_advance(tb_timer_t *timer, tb_steady_timer_info_t *out)
{
  return tb_steady_clock_timer_advance_sized(timer, out, sizeof *out);
}

TB_END_DECLS

#endif
