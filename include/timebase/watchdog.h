/* Watchdogs on steady time: for loops, topics and clocks. A watchdog expires when it has not been
 * kicked for its limit, also while ROS time is paused, jumps or is gone. */
#ifndef TIMEBASE_WATCHDOG_H
#define TIMEBASE_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** Expects to be kicked. */
typedef struct tb_watchdog tb_watchdog_t;

/** What a watchdog has seen. */
typedef struct tb_watchdog_info {
  const char *name;        /**< of the options; as long as the watchdog lives */
  tb_duration_t limit;     /**< of the options */
  tb_steady_time_t kicked; /**< the last kick; before the first one, the start */
  tb_steady_time_t now;    /**< when this was noted */
  /** Steady time without a kick: until now; to on_recovered, from the last kick before to the one
   * that has ended it. */
  tb_duration_t silence;
  uint64_t expirations; /**< since it was made */
  tb_time_t time;       /**< context: what the clock of the options reported last; 0: none */
  uint64_t epoch;       /**< of that */
  tb_clock_state_t clock_state; /**< of that, such as TB_CLOCK_PAUSED; 0: no clock, or never read */
  uint32_t expired;             /**< 1: it has expired, and has not been kicked since; else 0 */
} tb_watchdog_info_t;

/** Runs on a thread of the library ("tb-monitor"), one callback at a time: other watchdogs are late
 * by as long as it takes. It may do everything with `watchdog`, destroying it included. Reading a
 * clock here waits during a blocking jump: `info` has its last time. */
typedef void (*tb_watchdog_callback_t)(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info,
                                       void *user);

/** What a watchdog is made with. */
typedef struct tb_watchdog_options {
  const char *name;                    /**< copied, at most 47 bytes are kept; NULL: "unnamed" */
  tb_duration_t limit;                 /**< > 0, in steady time */
  tb_watchdog_callback_t on_expired;   /**< required: once for each silence, also for one that a
                                          kick has ended before the thread could report it */
  tb_watchdog_callback_t on_recovered; /**< after the kick that ends a silence; may be NULL */
  void *user;                          /**< handed to both */
  tb_clock_t *clock;                   /**< for context, or watched; NULL: none */
  /** The clock, of ROS time, kicks: whenever its time is found to be another one, eight times in
   * `limit` and at most once a millisecond. A paused clock does not kick, nor does one without a
   * source, which reports system time, nor one that is reset. */
  bool watch_clock;
  uint8_t padding[7]; /**< not used */
} tb_watchdog_options_t;

/** A limit and on_expired have to be set. */
#define TB_WATCHDOG_OPTIONS_INIT                                                                   \
  {                                                                                                \
    NULL, {0}, NULL, NULL, NULL, NULL, false,                                                      \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** A watchdog, stopped. It may outlive its clock. [any thread] [from callbacks] TB_ERR_INVALID: no
 * limit, no on_expired, watch_clock without a clock; TB_ERR_CLOCK_MISMATCH: watch_clock with a
 * clock of system time; TB_ERR_NO_MEMORY, TB_ERR_SYSTEM: no thread could be started, TB_ERR_FORKED.
 */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_watchdog_create(const tb_watchdog_options_t *options,
                                                        tb_watchdog_t **out);

/** Stops and frees it. Returns when a callback that is running has ended, except in that callback,
 * in a jump callback and in the log hook: there it returns at once. No other thread may use it any
 * more. NULL does nothing. [any thread] [from callbacks] [blocks] */
TB_API void tb_watchdog_destroy(tb_watchdog_t *watchdog);

/** Expects kicks from now on, also if it is running or has expired: the limit begins now.
 * [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_FORKED. */
TB_API tb_status_t tb_watchdog_start(tb_watchdog_t *watchdog);

/** Expects no kicks until it is started again. No callback begins after it returns; one that has
 * begun on another thread may still be running. [any thread] [from callbacks] TB_ERR_INVALID,
 * TB_ERR_FORKED. */
TB_API tb_status_t tb_watchdog_stop(tb_watchdog_t *watchdog);

/** A sign of life: about as fast as reading steady time. If it has expired, on_recovered is called
 * soon. Does nothing while it is stopped; NULL does nothing. [any thread] [from callbacks] */
TB_HOT_API void tb_watchdog_kick(tb_watchdog_t *watchdog);

/** What it has seen. The clock is that of the last check. [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE tb_status_t tb_watchdog_read(const tb_watchdog_t *watchdog, tb_watchdog_info_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_watchdog_create_sized(const tb_watchdog_options_t *options,
                                            size_t options_size, tb_watchdog_t **out);
TB_INLINE tb_status_t tb_watchdog_create(const tb_watchdog_options_t *options, tb_watchdog_t **out)
{
  return tb_watchdog_create_sized(options, sizeof *options, out);
}
TB_API tb_status_t tb_watchdog_read_sized(const tb_watchdog_t *watchdog, tb_watchdog_info_t *out,
                                          size_t out_size);
TB_INLINE tb_status_t tb_watchdog_read(const tb_watchdog_t *watchdog, tb_watchdog_info_t *out)
{
  return tb_watchdog_read_sized(watchdog, out, sizeof *out);
}

TB_END_DECLS

#endif
