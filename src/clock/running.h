/* Time that runs by itself between two anchors of its source. Meanwhile the timeline is `running`:
 * the current time is not `time_ns` but follows from `linear` and steady time, and the wake-up
 * thread of the timeline wakes the waiters that are due. Every move of the timeline first halts it,
 * and starts it again with its new linear time when the move is over. */
#ifndef TB_CLOCK_RUNNING_H
#define TB_CLOCK_RUNNING_H

#include "clock/timeline.h"

/* For readers: the time under `version`, which has TB__VERSION_RUNNING. False: read again. */
bool tb__running_read(const tb_timeline_t *timeline, uint64_t version, int64_t *out_ns);

/* Stops the time at the latest one that a reader may have seen, which becomes `time_ns`. */
void tb__running_halt_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__running_start_locked(tb_timeline_t *timeline, const tb__linear_time_t *linear)
    TB_REQUIRES(timeline->mutex);

int64_t tb__running_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Makes the wake-up thread look at the deadlines again, if it would wake up too late. */
void tb__running_deadline_changed_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Starts the wake-up thread if there is none. TB_ERR_SYSTEM. */
tb_status_t tb__running_prepare_locked(tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;
/* Halts the timeline and ends its thread. Call with no lock held. */
void tb__running_end(tb_timeline_t *timeline);

#endif
