/* Timelines: flows of time, moved by a source and told by clocks. For writers of sources. */
#ifndef TIMEBASE_TIMELINE_H
#define TIMEBASE_TIMELINE_H

#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/status.h>

typedef struct tb_timeline tb_timeline_t;

/* Counts since the timeline was made. */
typedef struct tb_timeline_stats {
  uint64_t ticks;         /* every accepted one, also those that repeat the value */
  uint64_t jumps_forward; /* steps too large to be the passing of time, see `forward_jump_min` */
  uint64_t jumps_backward;
  uint64_t dropped;              /* ticks refused: negative, or reported by the source as invalid */
  tb_duration_t largest_forward; /* of the forward jumps; 0 if none */
  tb_duration_t largest_backward; /* of the backward jumps, negative; 0 if none */
  tb_duration_t advanced;         /* sum of all forward steps that are no jumps */
  double rate;                    /* observed: timeline seconds a steady second; 0 until known */
} tb_timeline_stats_t;

TB_BEGIN_DECLS

/* Moves the timeline to `time_ns` (nanoseconds since 1970). Zero before the start is ignored; after
 * it, it takes the timeline back to "not started" with reason reset. The same time again is a sign
 * of life and wakes nobody. Returns when the handlers have run and those due have been woken.
 * [any thread but from jump callbacks; ticks of several threads are put in order]
 * [blocks: during a jump of this timeline] TB_ERR_RANGE: negative (counted as dropped).
 * TB_ERR_DETACHED: the source was taken from its last clock. TB_ERR_DEADLOCK: from a jump callback.
 */
TB_API tb_status_t tb_timeline_tick(tb_timeline_t *timeline, int64_t time_ns,
                                    tb_jump_reason_t reason);

/* The same, but only if that needs nobody's code and nobody's waking: no jump is in progress, no
 * handler matches and nothing is due. Otherwise TB_ERR_BUSY, and the time is unchanged; call
 * tb_timeline_tick from a thread that may run callbacks. Never blocks for long.
 * TB_ERR_DEADLOCK: from a jump callback. */
TB_API tb_status_t tb_timeline_try_tick(tb_timeline_t *timeline, int64_t time_ns);

/* What `tb_clock_read` reports beside the time: no publisher, QoS mismatch, waiting, paused,
 * stalled, lost. The next tick makes it running. [any thread] [from callbacks] */
TB_API void tb_timeline_set_state(tb_timeline_t *timeline, tb_clock_state_t state);

/* Counts a sample that the source refused. [any thread] [from callbacks] */
TB_API void tb_timeline_count_dropped(tb_timeline_t *timeline);

/* Takes no lock; fields may be of neighbouring ticks. [any thread] [from callbacks] */
TB_API void tb_timeline_stats(const tb_timeline_t *timeline, tb_timeline_stats_t *out);

TB_END_DECLS

#endif
