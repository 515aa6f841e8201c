/* A source that moves when it is told to: for tests and simulators. */
#ifndef TIMEBASE_MANUAL_SOURCE_H
#define TIMEBASE_MANUAL_SOURCE_H

#include <timebase/duration.h>
#include <timebase/source.h>
#include <timebase/status.h>

TB_BEGIN_DECLS

/* Made with tb_manual_source_create; not started. Destroy it with tb_source_destroy. Whoever moves
 * it knows when it stands still: its stall limit is off (tb_timeline_set_options). [any thread]
 * [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY. */
TB_API tb_status_t tb_manual_source_create(tb_source_t **out);

/* One tick to `time_ns`, forward or backward; before any clock uses the source too. Returns when
 * handlers have run and waits that are due have been woken. Errors as tb_timeline_tick;
 * TB_ERR_INVALID: not a manual source. */
TB_API tb_status_t tb_manual_source_set(tb_source_t *source, int64_t time_ns);

/* The same with a reason for the jump handlers. */
TB_API tb_status_t tb_manual_source_jump(tb_source_t *source, int64_t time_ns,
                                         tb_jump_reason_t reason);

/* One tick by `step` from the current time. TB_ERR_OVERFLOW; TB_ERR_RANGE: below zero.
 * With other threads moving the same source meanwhile, the step is from the time at the call. */
TB_API tb_status_t tb_manual_source_advance(tb_source_t *source, tb_duration_t step);

/* Ticks once at every deadline between now and `step` from now, those set on the way included, then
 * at the end: sleepers and timers see each deadline exactly. Timers run on their queue's thread;
 * call tb_timer_queue_run_due between steps yourself when you drive it.
 * TB_ERR_LIMIT: more than `max_ticks` deadlines; time stands at the last one. */
TB_API tb_status_t tb_manual_source_advance_stepped(tb_source_t *source, tb_duration_t step,
                                                    uint32_t max_ticks);

/* One tick to the earliest deadline that anyone waits for. TB_ERR_NOT_FOUND: nobody waits. */
TB_API tb_status_t tb_manual_source_advance_to_next(tb_source_t *source);

TB_END_DECLS

#endif
