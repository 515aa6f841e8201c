/* Timelines: flows of time, moved by a source and read by clocks. For writers of sources. */
#ifndef TIMEBASE_TIMELINE_H
#define TIMEBASE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/jump.h>
#include <timebase/status.h>
#include <timebase/steady_time.h>

/** One flow of time. */
typedef struct tb_timeline tb_timeline_t;

/** Counts since the timeline was made. */
typedef struct tb_timeline_stats {
  uint64_t ticks;          /**< every accepted one, also those that repeat the value */
  uint64_t jumps_forward;  /**< steps too large to be the passing of time, see `forward_jump_min` */
  uint64_t jumps_backward; /**< steps back, however small */
  uint64_t dropped;        /**< ticks refused: negative, or reported by the source as invalid */
  tb_duration_t largest_forward;  /**< of the forward jumps; 0 if none */
  tb_duration_t largest_backward; /**< of the backward jumps, negative; 0 if none */
  tb_duration_t advanced;         /**< sum of all forward steps that are no jumps */
  double rate;                    /**< observed: timeline seconds a steady second; 0 until known */
  uint64_t stalls;                /**< times that no tick came for longer than the stall limit */
  tb_duration_t
      longest_handler; /**< steady: the longest call of a jump handler, also in progress */
} tb_timeline_stats_t;

/** What counts as a stall, as a jump forward, as a slow handler. */
typedef struct tb_timeline_options {
  /** Steady time without a tick after which a running timeline is stalled, which is reported once
   * (log.h); 0: never. */
  tb_duration_t stall_limit;
  /** > 0. A forward step without a reason counts as a jump if it exceeds both this and the observed
   * rate times the steady time since the previous tick plus this. */
  tb_duration_t forward_jump_min;
  /** Steady. A call of a jump handler that takes as long is reported, see jump.h; 0: never. */
  tb_duration_t slow_handler_limit;
  /** A caller that a jump has blocked for `slow_handler_limit` gets TB_ERR_BUSY: reading a clock,
   * starting a timer, running due timers, entering a wait. Otherwise it waits for the end. */
  bool readers_give_up;
  /** No caller ever waits for a jump: reading a clock, starting a timer, running due timers and
   * entering a wait go on at the old time, in the old epoch, until the jump is committed, and at
   * the new one from then on, whether handlers have been called or not (rcl; rule J10). For callers
   * that hold a lock of their own, as an interpreter's, while they read. What is given up: a thread
   * may see the new time before "after" has been called, and the old one after "before". */
  bool readers_never_block;
  uint8_t padding[6]; /**< not used */
} tb_timeline_options_t;

/** One second each; readers wait. */
/* clang-format off */
#define TB_TIMELINE_OPTIONS_INIT                                                                   \
  {{INT64_C(1000000000)}, {INT64_C(1000000000)}, {INT64_C(1000000000)}, false, false, {0}}
/* clang-format on */

/** The highest rate of an anchor. */
#define TB_ANCHOR_RATE_MAX 1e6

/** What a source commits. At rate 0 it is a tick: the time stops at `time_ns`. At a rate above it,
 * the time is `time_ns` up to the moment `steady` and runs on from there, until it is `bound` past
 * `time_ns` or the next anchor comes; waits and timers fire by themselves. */
typedef struct tb_anchor {
  int64_t time_ns;         /**< since 1970, >= 0; 0: not started */
  tb_steady_time_t steady; /**< > 0; not looked at when the rate is 0 */
  double rate;             /**< timeline seconds a steady second, 0 to TB_ANCHOR_RATE_MAX */
  tb_duration_t bound;     /**< >= 0; INT64_MAX: none, and no ticks are missed */
  tb_clock_state_t state;  /**< TB_CLOCK_RUNNING, _PAUSED, _STALLED or _LOST */
  uint32_t padding;        /**< not used */
} tb_anchor_t;

/** A plain tick to time zero: set the rest. */
#define TB_ANCHOR_INIT                                                                             \
  {                                                                                                \
    0, {0}, 0, {0}, TB_CLOCK_RUNNING, 0                                                            \
  }

TB_BEGIN_DECLS

/** Moves the timeline to `time_ns` (nanoseconds since 1970). Zero before the start is ignored;
 * after it, it takes the timeline back to "not started" with reason reset. The same time again is a
 * sign of life and wakes no waiter. Returns when the handlers have run and due waiters have been
 * woken. [any thread but from jump callbacks; ticks of several threads are put in order] [blocks:
 * during a jump of this timeline] TB_ERR_RANGE: negative (counted as dropped). TB_ERR_DETACHED: the
 * source was taken from its last clock. TB_ERR_DEADLOCK: from a jump callback, or from the log hook
 * while a jump is in progress. TB_ERR_FORKED. */
TB_API tb_status_t tb_timeline_tick(tb_timeline_t *timeline, int64_t time_ns,
                                    tb_jump_reason_t reason);

/** Moves the timeline to the time that `anchor` gives for now, by the rules of tb_timeline_tick:
 * less than the time that it has run on to is a backward jump. While handlers are called for the
 * move the time is stopped. The first anchor with a rate starts a thread ("tb-wakeup") that wakes
 * due waiters; it ends when the source stops. [any thread] and the rest as tb_timeline_tick, and
 * TB_ERR_INVALID, TB_ERR_SYSTEM: no thread could be started. Nothing has changed then. */
TB_INLINE tb_status_t tb_timeline_anchor(tb_timeline_t *timeline, const tb_anchor_t *anchor,
                                         tb_jump_reason_t reason);

/** tb_timeline_tick, but only if that calls no handler and wakes no waiter: no jump is in progress,
 * no handler matches and nothing is due, except waits for the state paused. Otherwise TB_ERR_BUSY,
 * and the time is unchanged; call tb_timeline_tick from a thread that may run callbacks. Never
 * blocks for long. [any thread] TB_ERR_DEADLOCK: from a jump callback. */
TB_API tb_status_t tb_timeline_try_tick(tb_timeline_t *timeline, int64_t time_ns);

/** What `tb_clock_read` reports besides the time: no publisher, QoS mismatch, waiting, paused,
 * stalled, lost. The next tick makes it running. Waits for it are woken. [any thread] [from
 * callbacks] */
TB_API void tb_timeline_set_state(tb_timeline_t *timeline, tb_clock_state_t state);

/** Applies at once, also to threads that a jump blocks now. For a change of source it is the
 * shorter handler limit of the two timelines, and readers give up, or never block, if they do on
 * either. A jump in progress does not begin to block readers that it did not block. [any thread]
 * [from callbacks] TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE tb_status_t tb_timeline_set_options(tb_timeline_t *timeline,
                                              const tb_timeline_options_t *options);

/** Counts a sample that the source refused. [any thread] [from callbacks] */
TB_API void tb_timeline_count_dropped(tb_timeline_t *timeline);

/** Takes no lock; fields may be of neighbouring ticks. [any thread] [from callbacks] */
TB_INLINE void tb_timeline_stats(const tb_timeline_t *timeline, tb_timeline_stats_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_timeline_anchor_sized(tb_timeline_t *timeline, const tb_anchor_t *anchor,
                                            size_t anchor_size, tb_jump_reason_t reason);
TB_INLINE tb_status_t tb_timeline_anchor(tb_timeline_t *timeline, const tb_anchor_t *anchor,
                                         tb_jump_reason_t reason)
{
  return tb_timeline_anchor_sized(timeline, anchor, sizeof *anchor, reason);
}
TB_API tb_status_t tb_timeline_set_options_sized(tb_timeline_t *timeline,
                                                 const tb_timeline_options_t *options,
                                                 size_t options_size);
TB_INLINE tb_status_t tb_timeline_set_options(tb_timeline_t *timeline,
                                              const tb_timeline_options_t *options)
{
  return tb_timeline_set_options_sized(timeline, options, sizeof *options);
}
TB_API void tb_timeline_stats_sized(const tb_timeline_t *timeline, tb_timeline_stats_t *out,
                                    size_t out_size);
TB_INLINE void tb_timeline_stats(const tb_timeline_t *timeline, tb_timeline_stats_t *out)
{
  tb_timeline_stats_sized(timeline, out, sizeof *out);
}

TB_END_DECLS

#endif
