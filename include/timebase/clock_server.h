/* A clock server, as simulators have one: it makes a time and publishes it. */
#ifndef TIMEBASE_CLOCK_SERVER_H
#define TIMEBASE_CLOCK_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/sleep.h>
#include <timebase/status.h>
#include <timebase/steady_time.h>
#include <timebase/tick_sink.h>

/** Time that moves in ticks.
 *
 * While time runs, a tick goes out every period P of steady time (1 s / hz, to the nearest
 * nanosecond), and its time is factor * P further than that of the one before. This is exact: the
 * k-th tick after the last control is at start + k * P of steady time and carries time +
 * factor * k * P, rounded down once, however late the thread woke. Ticks that were missed, because
 * a sink or the machine took longer, are left out (except for those of a step); the next one is
 * where it would have been.
 *
 * Controls count from the last tick: the current time is that tick's time. A new factor changes the
 * times of later ticks, not their places in steady time. Pausing, resuming, stepping, a new hz and
 * the end of "as fast as possible" begin a new grid of ticks at the call; what had passed of a
 * period is dropped. While paused the same time is sent every P, as a sign of life.
 *
 * As fast as possible: the same ticks, without waiting in between. While paused that changes
 * nothing. */
typedef struct tb_clock_server tb_clock_server_t;

/** Ticks per second, unless the options set it. */
#define TB_CLOCK_SERVER_HZ 100.0

/** What a server is at first. Times in ns of ROS time. */
typedef struct tb_clock_server_options {
  double factor;            /**< seconds of its time per second of steady time, 0.001 to 1000 */
  double hz;                /**< ticks per second of steady time, 0.001 to 10000 */
  int64_t start_ns;         /**< >= 0; 0 counts as 1, as zero means "no time" in ROS */
  int64_t end_ns;           /**< the last tick is this, and serving ends there; 0: never */
  bool start_paused;        /**< the first tick is repeated until it is resumed or stepped */
  bool as_fast_as_possible; /**< without waiting between ticks */
  uint8_t padding[6];       /**< not used */
} tb_clock_server_options_t;

/** From 1 ns on at real time, without end, at TB_CLOCK_SERVER_HZ. */
#define TB_CLOCK_SERVER_OPTIONS_INIT                                                               \
  {                                                                                                \
    1.0, TB_CLOCK_SERVER_HZ, 1, 0, false, false,                                                   \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** What a server is now. */
typedef struct tb_clock_server_status {
  int64_t time_ns;          /**< of the last tick or, after a jump, of the next; at least 1 */
  int64_t start_ns;         /**< where a reset goes */
  int64_t end_ns;           /**< as in the options */
  double factor;            /**< wanted */
  double factor_reached;    /**< measured since the last control, but over 2 s at most; 0: paused */
  double hz;                /**< wanted */
  bool paused;              /**< whether time is stopped; false during a step */
  bool stepping;            /**< a step has begun, and not all of its ticks are out */
  bool as_fast_as_possible; /**< as wanted, also while paused */
  bool serving;   /**< a thread is in tb_clock_server_run, or the server's own thread runs */
  bool ended;     /**< end_ns was reached */
  uint64_t ticks; /**< that all sinks have taken */
} tb_clock_server_status_t;

TB_BEGIN_DECLS

/** `options` may be NULL. `sinks`, `sink_count` >= 1, are copied: each tick goes to one after the
 * other. Nothing is published until the server is run.
 *
 *   TB_ERR_RANGE    factor, hz, start_ns, or an end_ns below start_ns
 *   TB_ERR_INVALID  no sinks, or one without `tick`
 *   TB_ERR_NO_MEMORY, TB_ERR_FORKED
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_clock_server_create(const tb_clock_server_options_t *options, const tb_tick_sink_t *sinks,
                       size_t sink_count, tb_clock_server_t **out, tb_error_t *error);

/** Stops its thread and waits for it. Accepts NULL. No other thread may use the server now, and it
 * must not be called from a sink. [any thread] [blocks: the tick that is going out] */
TB_API void tb_clock_server_destroy(tb_clock_server_t *server);

/** Serves on a thread of the server, "tb-server"; the first tick goes out at once. It may be
 * started again when it has ended: time continues from where it stopped. [any thread] TB_ERR_BUSY:
 * it is already being run. TB_ERR_SYSTEM: no thread. TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_server_start(tb_clock_server_t *server);

/** Serves on this thread, until tb_clock_server_stop or the end: TB_OK. An error of a sink ends it
 * too, and is returned. A step that has not come to its end then is cancelled.
 * [any thread] [blocks] TB_ERR_BUSY: it is already being run. TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_server_run(tb_clock_server_t *server, tb_error_t *error);

/** For the caller's own loop: sends what is due, at most `max_ticks` >= 1, without waiting, and
 * returns when to call it again (now, if there is more to send). The first call sends the first
 * tick; call it also after each control. The out-parameters may be NULL and are written on success.
 * [any thread] TB_ERR_END: end_ns was reached, or the server stopped. TB_ERR_BUSY: it is already
 * being run. TB_ERR_INVALID, TB_ERR_FORKED, and errors of sinks. */
TB_API tb_status_t tb_clock_server_run_due(tb_clock_server_t *server, uint64_t max_ticks,
                                           uint64_t *out_ticks, tb_steady_time_t *out_next,
                                           tb_error_t *error);

/** Ends serving soon, now or when it begins next. Does not wait for it.
 * [any thread] [from callbacks] [async-signal-safe] */
TB_API void tb_clock_server_stop(tb_clock_server_t *server);

/** Waits until the server's thread has ended, and returns what it ended with, as
 * tb_clock_server_run does, or what has ended the wait as `options` ask (tb_wait_options_t; NULL:
 * nothing ends it). [any thread] [blocks] TB_ERR_DEADLOCK: on that thread. TB_ERR_INVALID: the
 * options, or there was no thread. TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_server_wait(tb_clock_server_t *server,
                                                          const tb_wait_options_t *options,
                                                          tb_error_t *error);

/** Stops time and cancels a step. A tick that repeats the time goes out at once.
 * [any thread] [from callbacks] */
TB_API void tb_clock_server_pause(tb_clock_server_t *server);
/** Time runs again: the next tick is a period from now. A step is cancelled, and time runs on.
 * [any thread] [from callbacks] */
TB_API void tb_clock_server_resume(tb_clock_server_t *server);
/** Resumes if time is stopped, pauses otherwise. [any thread] [from callbacks] */
TB_API void tb_clock_server_toggle_paused(tb_clock_server_t *server);

/** [any thread] [from callbacks] TB_ERR_RANGE, TB_ERR_FORKED: nothing has changed. */
TB_API tb_status_t tb_clock_server_set_factor(tb_clock_server_t *server, double factor);
/** [any thread] [from callbacks] TB_ERR_RANGE, TB_ERR_FORKED: nothing has changed. */
TB_API tb_status_t tb_clock_server_set_hz(tb_clock_server_t *server, double hz);
/** [any thread] [from callbacks] TB_ERR_FORKED. */
TB_API tb_status_t tb_clock_server_set_as_fast_as_possible(tb_clock_server_t *server, bool wanted);

/** Jumps to `time_ns` (0 counts as 1) with TB_JUMP_REASON_SEEK; a tick goes out at once. Paused or
 * running stays as it is; a step is cancelled, and time stays stopped. [any thread] [from
 * callbacks] TB_ERR_RANGE: negative, or beyond end_ns. TB_ERR_FORKED. */
TB_API tb_status_t tb_clock_server_set_time(tb_clock_server_t *server, int64_t time_ns);
/** The same to start_ns, with TB_JUMP_REASON_RESET. [any thread] [from callbacks] TB_ERR_FORKED. */
TB_API tb_status_t tb_clock_server_reset(tb_clock_server_t *server);

/** Lets time run for `duration` > 0 from the last tick and then stops it: a tick every period, none
 * is left out, the last one exactly at the end. It takes duration / factor of steady time, none
 * when running as fast as possible. Another step, pause, resume, reset and a jump cancel it. Does
 * not wait. [any thread] [from callbacks] TB_ERR_RANGE: not above 0. TB_ERR_END: there is an
 * end_ns, and the step goes beyond it: nothing is done. TB_ERR_OVERFLOW, TB_ERR_FORKED. */
TB_API tb_status_t tb_clock_server_begin_step(tb_clock_server_t *server, tb_duration_t duration);
/** The same to `time_ns`. [any thread] [from callbacks] TB_ERR_RANGE: time is there, or beyond.
 * Others as tb_clock_server_begin_step. */
TB_API tb_status_t tb_clock_server_begin_step_to(tb_clock_server_t *server, int64_t time_ns);

/** As tb_clock_server_begin_step, and waits until all sinks have taken the last tick. `limit`: see
 * TB_NO_LIMIT. Another thread must run the server. [any thread] [blocks] TB_ERR_TIMEOUT: the step
 * continues. TB_ERR_CANCELLED: by another control, or because serving ended. TB_ERR_DEADLOCK: on
 * the thread that serves. */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_server_step(tb_clock_server_t *server,
                                                       tb_duration_t duration, tb_duration_t limit);
/** The same to `time_ns`, see tb_clock_server_begin_step_to. [any thread] [blocks] */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_server_step_to(tb_clock_server_t *server,
                                                          int64_t time_ns, tb_duration_t limit);

/** All fields are of one moment. [any thread] [from callbacks] */
TB_INLINE void tb_clock_server_status(tb_clock_server_t *server, tb_clock_server_status_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_clock_server_create_sized(const tb_clock_server_options_t *options,
                                                size_t options_size, const tb_tick_sink_t *sinks,
                                                size_t sink_count, tb_clock_server_t **out,
                                                tb_error_t *error);
TB_INLINE tb_status_t tb_clock_server_create(const tb_clock_server_options_t *options,
                                             const tb_tick_sink_t *sinks, size_t sink_count,
                                             tb_clock_server_t **out, tb_error_t *error)
{
  return tb_clock_server_create_sized(options, sizeof *options, sinks, sink_count, out, error);
}
TB_API void tb_clock_server_status_sized(tb_clock_server_t *server, tb_clock_server_status_t *out,
                                         size_t out_size);
TB_INLINE void tb_clock_server_status(tb_clock_server_t *server, tb_clock_server_status_t *out)
{
  tb_clock_server_status_sized(server, out, sizeof *out);
}
TB_API TB_WARN_UNUSED tb_status_t tb_clock_server_wait_sized(tb_clock_server_t *server,
                                                             const tb_wait_options_t *options,
                                                             size_t options_size,
                                                             tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_server_wait(tb_clock_server_t *server,
                                                          const tb_wait_options_t *options,
                                                          tb_error_t *error)
{
  return tb_clock_server_wait_sized(server, options, sizeof *options, error);
}

TB_END_DECLS

#endif
