/* Jumps of time, and the handlers that are called for them. */
#ifndef TIMEBASE_JUMP_H
#define TIMEBASE_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/time.h>

/** What a jump is: each has one kind. */
typedef enum tb_jump_kind {
  TB_JUMP_FORWARD = 1,      /**< a step forward, at least as long as the threshold */
  TB_JUMP_BACKWARD = 2,     /**< a step back */
  TB_JUMP_CLOCK_CHANGE = 3, /**< activated, deactivated or moved to another source */
  TB_JUMP_STARTED = 4,      /**< the first tick of a source */
} tb_jump_kind_t;

/** Why time jumped, if the source gives a reason. */
typedef enum tb_jump_reason {
  TB_JUMP_REASON_NONE = 0,            /**< the source gave no reason */
  TB_JUMP_REASON_TICK = 1,            /**< time passed */
  TB_JUMP_REASON_SEEK = 2,            /**< the source was asked to go there */
  TB_JUMP_REASON_LOOP = 3,            /**< a player starts its recording again */
  TB_JUMP_REASON_RESET = 4,           /**< the source restarts */
  TB_JUMP_REASON_SOURCE_ON = 5,       /**< from system time to a source */
  TB_JUMP_REASON_SOURCE_OFF = 6,      /**< from a source to system time */
  TB_JUMP_REASON_SOURCE_REPLACED = 7, /**< from one source to another */
  TB_JUMP_REASON_SYSTEM_STEPPED = 8,  /**< the wall clock was set */
} tb_jump_reason_t;

/** What a handler gets. */
typedef struct tb_jump {
  tb_jump_kind_t kind;     /**< what happened */
  tb_jump_reason_t reason; /**< why, where it is known */
  tb_time_t before;        /**< not set (0): the clock had no time yet */
  tb_time_t after;         /**< not set (0): the new source has not started, or was reset */
  /** after - before, negative: backward; also at a reset, to zero. 0 where there was no time
   * before, and at a change to a source that has not started. */
  tb_duration_t delta;
  uint64_t epoch; /**< of the clock after the jump */
} tb_jump_t;

/** When a handler is called. Comparisons are inclusive (rcl_jump_threshold_t). */
typedef struct tb_jump_threshold {
  tb_duration_t min_forward;  /**< > 0: forward steps of at least this; 0: never */
  tb_duration_t min_backward; /**< < 0: backward steps of at least this size; 0: never */
  bool on_clock_change;       /**< clock changes, whatever their delta, and the first tick */
} tb_jump_threshold_t;

/** Runs on the thread that moves the time. `now` of the clock reports the old time in "before" and
 * the new time in "after". Allowed: handlers, timers, reading and creating clocks. Moving any time,
 * changing a source, destroying a clock and waiting on ROS or system time return TB_ERR_DEADLOCK.
 *
 * Other threads block in `now` meanwhile, so a callback must never wait for a thread that may read
 * the time. The usual trap is a mutex that the callback takes and another thread holds while it
 * calls `now`: each waits for the other. The way out: that thread reads the time before it takes
 * the mutex, or copies what it needs and reads the time after releasing it, or asks with
 * tb_clock_try_now; or the callback only notes the jump and lets another thread do the work after
 * it.
 *
 * A call that takes longer than the timeline's limit (tb_timeline_options_t, 1 s of steady time) is
 * reported once through the log hook, by the handler's name and with the number of readers that it
 * blocks: by the first thread that it blocks, or by its own thread when it returns.
 *
 * Steps of system time are found after they were made, for handlers on clocks of system time: both
 * callbacks run on a thread of the library ("tb-steps"), "before" right before "after". `now`
 * returns the new time in both and no thread blocks in it. The jump's `before` is the time that it
 * would be now without the step. When the machine resumes from suspension that is a forward step,
 * as steady time did not advance. */
typedef void (*tb_jump_callback_t)(const tb_jump_t *jump, void *user);

/** What a handler calls, and when. */
typedef struct tb_jump_handler_options {
  const char *name; /**< for reports; copied, at most 47 bytes are kept; NULL: "unnamed" */
  tb_jump_threshold_t threshold; /**< which jumps it is called for */
  tb_jump_callback_t before;     /**< may be NULL */
  tb_jump_callback_t after;      /**< may be NULL */
  void *user;                    /**< handed to both callbacks */
} tb_jump_handler_options_t;

/** No threshold set: choose at least one. */
#define TB_JUMP_HANDLER_OPTIONS_INIT                                                               \
  {                                                                                                \
    NULL, {{0}, {0}, false}, NULL, NULL, NULL                                                      \
  }

/** Callbacks for the jumps of a clock. */
typedef struct tb_jump_handler tb_jump_handler_t;

TB_BEGIN_DECLS

/** Handlers of one timeline are called in the order in which they were created, all "before", then
 * all "after". One created during a jump waits for the next. It follows its clock to other sources.
 * When the clock is destroyed it is never called again; the handle is valid until it is destroyed
 * itself, before the clock or after it. One that never is keeps about 200 bytes until the library
 * is unloaded.
 * [any thread] [from callbacks] TB_ERR_INVALID: a threshold of the wrong sign or none at all, or no
 * callback. TB_ERR_CLOSED: the clock is being destroyed. TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_jump_handler_create(
    tb_clock_t *clock, const tb_jump_handler_options_t *options, tb_jump_handler_t **out);

/** The same for a clock that never jumps: the handler is never called.
 * [any thread] [from callbacks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_steady_clock_jump_handler_create(
    tb_steady_clock_t *clock, const tb_jump_handler_options_t *options, tb_jump_handler_t **out);

/** Returns when a jump that the handler takes part in is over, so that "before" is never left
 * without its "after"; from a jump callback and the log hook it returns at once and no new call
 * starts. Until that jump is over the handle is valid and inert: in its callbacks this does nothing
 * after the first time, nor while another thread waits in it. NULL does nothing.
 * [any thread] [from callbacks] [blocks, except from a jump callback and the log hook] */
TB_API void tb_jump_handler_destroy(tb_jump_handler_t *handler);

/** [any thread] [from callbacks] [blocks, except from a jump callback and the log hook] The same
 * with a limit (TB_NO_LIMIT). TB_ERR_TIMEOUT: the jump is still in progress; the handler is not
 * destroyed and will be called as before, unless it was destroyed elsewhere meanwhile (TB_OK then).
 * TB_ERR_CLOSED: it is destroyed already, or another thread waits to do it, while the jump is in
 * progress. */
TB_API TB_WARN_UNUSED tb_status_t tb_jump_handler_destroy_within(tb_jump_handler_t *handler,
                                                                 tb_duration_t limit);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_jump_handler_create_sized(tb_clock_t *clock,
                                                const tb_jump_handler_options_t *options,
                                                size_t options_size, tb_jump_handler_t **out);
TB_INLINE tb_status_t tb_jump_handler_create(tb_clock_t *clock,
                                             const tb_jump_handler_options_t *options,
                                             tb_jump_handler_t **out)
{
  return tb_jump_handler_create_sized(clock, options, sizeof *options, out);
}
TB_API tb_status_t tb_steady_clock_jump_handler_create_sized(
    tb_steady_clock_t *clock, const tb_jump_handler_options_t *options, size_t options_size,
    tb_jump_handler_t **out);
TB_INLINE tb_status_t tb_steady_clock_jump_handler_create(tb_steady_clock_t *clock,
                                                          const tb_jump_handler_options_t *options,
                                                          tb_jump_handler_t **out)
{
  return tb_steady_clock_jump_handler_create_sized(clock, options, sizeof *options, out);
}

TB_END_DECLS

#endif
