/* Time that runs on by itself between two anchors of its source. While it does, the timeline is
 * `running`: `time_ns` is not the current time, which follows from the linear and steady time, and
 * a thread of the timeline (the pulse) wakes who is due. Every move of the timeline first halts it,
 * and lets it run again, on its new linear, when the move is over. */
#ifndef TB_CLOCK_RUNNING_H
#define TB_CLOCK_RUNNING_H

#include "clock/timeline.h"

/* For readers: the time under `version`, which has TB__VERSION_RUNNING. False: look again. */
bool tb__running_read(const tb_timeline_t *timeline, uint64_t version, int64_t *out_ns);

/* Sets `time_ns` to what the latest reader may have seen at most, and lets it stand. */
void tb__running_halt_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__running_start_locked(tb_timeline_t *timeline, const tb__linear_time_t *linear)
    TB_REQUIRES(timeline->mutex);

int64_t tb__running_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Makes the pulse look when it has to wake somebody. */
void tb__running_deadline_changed_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Starts the pulse if there is none. TB_ERR_SYSTEM. */
tb_status_t tb__running_prepare_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* Halts the timeline and ends its thread. Call with nothing held. */
void tb__running_end(tb_timeline_t *timeline);

#endif
