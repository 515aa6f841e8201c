/* Periodic timers on every kind of clock, in a queue that the user drives. */
#ifndef TIMEBASE_TIMER_H
#define TIMEBASE_TIMER_H

#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

typedef struct tb_timer_queue tb_timer_queue_t;
typedef struct tb_timer tb_timer_t;

/* What a call of a timer on system or ROS time gets. */
typedef struct tb_timer_info {
  tb_time_t scheduled; /* when it was due */
  tb_time_t actual;    /* when the call was made; never before `scheduled` */
  uint64_t epoch;      /* of the clock, with `actual` */
  uint64_t missed;     /* periods after `scheduled` that had passed too and get no call */
} tb_timer_info_t;

typedef struct tb_steady_timer_info {
  tb_steady_time_t scheduled;
  tb_steady_time_t actual;
  uint64_t missed;
} tb_steady_timer_info_t;

/* Runs on the thread that calls tb_timer_queue_run_due. It may start, stop and destroy any timer,
 * itself included, and everything else but destroying the queue that runs it. */
typedef void (*tb_timer_callback_t)(tb_timer_t *timer, const tb_timer_info_t *info, void *user);
typedef void (*tb_steady_timer_callback_t)(tb_timer_t *timer, const tb_steady_timer_info_t *info,
                                           void *user);

typedef struct tb_timer_options {
  tb_duration_t period; /* > 0 */
  tb_timer_callback_t callback;
  void *user;
} tb_timer_options_t;

typedef struct tb_steady_timer_options {
  tb_duration_t period; /* > 0 */
  tb_steady_timer_callback_t callback;
  void *user;
} tb_steady_timer_options_t;

TB_BEGIN_DECLS

/* [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_SYSTEM (descriptors). */
TB_API tb_status_t tb_timer_queue_create(tb_timer_queue_t **out);

/* Destroys its timers too. No other thread may use the queue or its timers. NULL does nothing.
 * [any thread] TB_ERR_DEADLOCK from a jump callback or a callback of this queue: nothing is
 * destroyed then. */
TB_API tb_status_t tb_timer_queue_destroy(tb_timer_queue_t *queue);

/* A descriptor for poll, epoll or libuv: readable when something may be due, and then until
 * tb_timer_queue_run_due. It belongs to the queue: do not read or close it.
 * [any thread] [from callbacks] */
TB_API int tb_timer_queue_fd(const tb_timer_queue_t *queue);

/* Calls every timer that is due now, each once, by deadline and then in the order in which they
 * were started. Reads each clock once at the start: what becomes due meanwhile makes the descriptor
 * readable again. `out_calls` (may be NULL) gets the number of calls made.
 * [one thread at a time: a second one gets TB_ERR_BUSY] [blocks: during a blocking jump]
 * TB_ERR_DEADLOCK: from a jump callback, or from a callback of this queue. */
TB_API tb_status_t tb_timer_queue_run_due(tb_timer_queue_t *queue, uint32_t *out_calls);

/* A timer on `clock`, stopped. It is stopped when its clock is destroyed.
 * [any thread] [from callbacks] TB_ERR_INVALID: a period <= 0, no callback. TB_ERR_NO_MEMORY. */
TB_API tb_status_t tb_clock_timer_create(tb_timer_queue_t *queue, tb_clock_t *clock,
                                         const tb_timer_options_t *options, tb_timer_t **out);
TB_API tb_status_t tb_steady_clock_timer_create(tb_timer_queue_t *queue, tb_steady_clock_t *clock,
                                                const tb_steady_timer_options_t *options,
                                                tb_timer_t **out);

/* First call one period from now, then every period: deadlines never drift. Periods that passed
 * unused are skipped and counted. A started timer starts anew. At a backward jump to before its
 * last call (or its start) the next call is one period after the new time; at a change of its
 * clock's source the part still to wait is kept. A deadline too late for the clock never comes.
 * [any thread] [from callbacks] [blocks: during a blocking jump, except from its callbacks]
 * TB_ERR_CLOSED: the clock was destroyed. */
TB_API tb_status_t tb_timer_start(tb_timer_t *timer);

/* No call starts after it returns; one that has begun on another thread may still be running.
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_timer_stop(tb_timer_t *timer);

/* Stops it; memory goes when a running call has ended. NULL does nothing.
 * [any thread] [from callbacks] */
TB_API void tb_timer_destroy(tb_timer_t *timer);

TB_END_DECLS

#endif
