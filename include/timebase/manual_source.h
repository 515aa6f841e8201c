/* A source that moves only by calls: for tests and simulators. */
#ifndef TIMEBASE_MANUAL_SOURCE_H
#define TIMEBASE_MANUAL_SOURCE_H

#include <stddef.h>
#include <timebase/cancel_token.h>
#include <timebase/duration.h>
#include <timebase/source.h>
#include <timebase/status.h>

/** How a call that moves time waits for what it makes due, and for how long. */
typedef struct tb_run_options {
  tb_duration_t limit;      /**< of the whole call: see TB_NO_LIMIT. In real steady time, also while
                               steady time is held (timebase/testing.h). */
  tb_cancel_token_t *token; /**< or NULL */
} tb_run_options_t;

/** Waits as long as it takes. */
#define TB_RUN_OPTIONS_INIT                                                                        \
  {                                                                                                \
    {0}, NULL                                                                                      \
  }

TB_BEGIN_DECLS

/** Made with tb_manual_source_create; not started. Destroy it with tb_source_destroy. Silence is
 * normal for it: its stall limit is off (tb_timeline_set_options). [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_NO_MEMORY. */
TB_API TB_WARN_UNUSED tb_status_t tb_manual_source_create(tb_source_t **out);

/** One tick to `time_ns`, forward or backward; before any clock uses the source too. Returns when
 * handlers have run and waits that are due have been woken. Errors as tb_timeline_tick;
 * TB_ERR_INVALID: not a manual source.
 * [any thread but from jump callbacks] [blocks: during a jump of its timeline] */
TB_API tb_status_t tb_manual_source_set(tb_source_t *source, int64_t time_ns);

/** The same with a reason for the jump handlers. [any thread] and the rest as above. */
TB_API tb_status_t tb_manual_source_jump(tb_source_t *source, int64_t time_ns,
                                         tb_jump_reason_t reason);

/** One tick by `step` from the current time. TB_ERR_OVERFLOW; TB_ERR_RANGE: below zero.
 * With other threads moving the same source meanwhile, the step is from the time at the call.
 * [any thread] and the rest as tb_manual_source_set. */
TB_API tb_status_t tb_manual_source_advance(tb_source_t *source, tb_duration_t step);

/** Ticks once at every deadline between now and `step` from now, those set on the way included,
 * then at the end: sleepers and timers see each deadline exactly. Timers run on their queue's
 * thread; call tb_timer_queue_run_due between steps yourself when you drive it. TB_ERR_LIMIT: more
 * than `max_ticks` deadlines; time stops at the last one. [any thread] and the rest as
 * tb_manual_source_set. */
TB_API tb_status_t tb_manual_source_advance_stepped(tb_source_t *source, tb_duration_t step,
                                                    uint32_t max_ticks);

/** One tick to the earliest deadline that a waiter has. TB_ERR_NOT_FOUND: nothing waits.
 * [any thread] and the rest as tb_manual_source_set. */
TB_API tb_status_t tb_manual_source_advance_to_next(tb_source_t *source);

/** The same five, which return when what they made due has run. That is: a thread that was woken
 * (sleep, condition, rate) waits on the source's timeline again, by any clock, or in another wait
 * that only moving time can end (on another source, or on steady or system time while that is
 * held), or it has ended. Callbacks of timers that were due have returned, or wait in the same way,
 * and so have those of timers that they started and that were due at once. Threads that are woken
 * on the way, by signals to conditions on the timeline, count too.
 *
 * advance_stepped waits so at each stop and, as advance_to_next does, before the first one, so that
 * all deadlines are seen: a loop of `tb_sleep_for(clock, one second)` makes exactly ten rounds in
 * ten seconds.
 *
 * A timer queue without a thread of its own is driven by the thread that last called
 * tb_timer_queue_run_due, at first by the one that made it. On that thread these calls run the
 * queue themselves; only a callback may destroy it meanwhile. If a thread waits for anything else
 * after it was woken (a lock, a file, a clock that runs), these calls wait until it is back: give a
 * limit (which does not end a callback that runs here). `options` may be NULL. A thread that has
 * not begun its first wait is not counted yet: see tb_manual_source_wait_for_sleepers.
 *
 * [any thread] [blocks] Errors as above. TB_ERR_DEADLOCK: in a jump callback, or in a callback of a
 * queue that has timers on the timeline; nothing has moved. TB_ERR_TIMEOUT, TB_ERR_CANCELLED,
 * TB_ERR_CLOSED (the token was destroyed): time has moved, advance_stepped as far as to the stop
 * that did not end, advance_to_next perhaps not at all. TB_ERR_NO_MEMORY. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_manual_source_set_and_run(tb_source_t *source,
                                                                  int64_t time_ns,
                                                                  const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_manual_source_jump_and_run(tb_source_t *source,
                                                                   int64_t time_ns,
                                                                   tb_jump_reason_t reason,
                                                                   const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_manual_source_advance_and_run(
    tb_source_t *source, tb_duration_t step, const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_manual_source_advance_stepped_and_run(
    tb_source_t *source, tb_duration_t step, uint32_t max_ticks, const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_manual_source_advance_to_next_and_run(tb_source_t *source, const tb_run_options_t *options);

/** Returns when at least `count` threads wait on the source's timeline: a test begins with it, so
 * that no step comes before the threads wait for it. Errors as above; nothing moves. [any thread]
 * [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_manual_source_wait_for_sleepers(
    tb_source_t *source, uint32_t count, const tb_run_options_t *options);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_manual_source_set_and_run_sized(tb_source_t *source, int64_t time_ns,
                                                      const tb_run_options_t *options,
                                                      size_t options_size);
TB_INLINE tb_status_t tb_manual_source_set_and_run(tb_source_t *source, int64_t time_ns,
                                                   const tb_run_options_t *options)
{
  return tb_manual_source_set_and_run_sized(source, time_ns, options, sizeof *options);
}
TB_API tb_status_t tb_manual_source_jump_and_run_sized(tb_source_t *source, int64_t time_ns,
                                                       tb_jump_reason_t reason,
                                                       const tb_run_options_t *options,
                                                       size_t options_size);
TB_INLINE tb_status_t tb_manual_source_jump_and_run(tb_source_t *source, int64_t time_ns,
                                                    tb_jump_reason_t reason,
                                                    const tb_run_options_t *options)
{
  return tb_manual_source_jump_and_run_sized(source, time_ns, reason, options, sizeof *options);
}
TB_API tb_status_t tb_manual_source_advance_and_run_sized(tb_source_t *source, tb_duration_t step,
                                                          const tb_run_options_t *options,
                                                          size_t options_size);
TB_INLINE tb_status_t tb_manual_source_advance_and_run(tb_source_t *source, tb_duration_t step,
                                                       const tb_run_options_t *options)
{
  return tb_manual_source_advance_and_run_sized(source, step, options, sizeof *options);
}
TB_API tb_status_t tb_manual_source_advance_stepped_and_run_sized(tb_source_t *source,
                                                                  tb_duration_t step,
                                                                  uint32_t max_ticks,
                                                                  const tb_run_options_t *options,
                                                                  size_t options_size);
TB_INLINE tb_status_t tb_manual_source_advance_stepped_and_run(tb_source_t *source,
                                                               tb_duration_t step,
                                                               uint32_t max_ticks,
                                                               const tb_run_options_t *options)
{
  return tb_manual_source_advance_stepped_and_run_sized(source, step, max_ticks, options,
                                                        sizeof *options);
}
TB_API tb_status_t tb_manual_source_advance_to_next_and_run_sized(tb_source_t *source,
                                                                  const tb_run_options_t *options,
                                                                  size_t options_size);
TB_INLINE tb_status_t tb_manual_source_advance_to_next_and_run(tb_source_t *source,
                                                               const tb_run_options_t *options)
{
  return tb_manual_source_advance_to_next_and_run_sized(source, options, sizeof *options);
}
TB_API tb_status_t tb_manual_source_wait_for_sleepers_sized(tb_source_t *source, uint32_t count,
                                                            const tb_run_options_t *options,
                                                            size_t options_size);
TB_INLINE tb_status_t tb_manual_source_wait_for_sleepers(tb_source_t *source, uint32_t count,
                                                         const tb_run_options_t *options)
{
  return tb_manual_source_wait_for_sleepers_sized(source, count, options, sizeof *options);
}

TB_END_DECLS

#endif
