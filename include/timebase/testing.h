/* For tests: steady and system time under the program's control, as ROS time is with a manual
 * source.
 *
 * While time is held, neither advances until it is moved, each separately, and everything in
 * timebase that waits for them waits for that: sleeps, conditions, rates and timers on steady and
 * system clocks, and every limit in steady time. So a test of a limit of an hour takes no time. It
 * is the time of the whole process as timebase reports it; code that reads the kernel's clocks
 * directly sees those. The calls are meant for one thread, the test's; other threads may keep
 * running meanwhile. */
#ifndef TIMEBASE_TESTING_H
#define TIMEBASE_TESTING_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/manual_source.h>
#include <timebase/status.h>

/** Which of the two. */
typedef enum tb_testing_clock {
  TB_TESTING_STEADY = 0, /**< never goes back */
  TB_TESTING_SYSTEM = 1, /**< nanoseconds since 1970; set back, it is a wall clock that was set */
} tb_testing_clock_t;

TB_BEGIN_DECLS

/* All of these: [any thread], though meant for one at a time, the test's. TB_ERR_DEADLOCK from a
 * jump callback and the log hook, TB_ERR_FORKED. Those that end in _and_run, and the wait for
 * sleepers, block. */

/** Both stop at their present values. Waits in progress change over. A reading that another thread
 * has begun before may still be of the running clock. [any thread] [blocks: until they have]
 * TB_ERR_BUSY: time is held already. TB_ERR_DEADLOCK: from a jump callback, as all calls here. */
TB_API tb_status_t tb_testing_hold_os_time(void);

/** Both run by themselves again, and waits in progress change over. System time is that of the
 * machine. So is steady time, unless it was moved further than that: it never goes back, and runs
 * on from where it is, ahead of CLOCK_MONOTONIC by as much for the rest of the process. What system
 * time loses or gains by it against steady time is a step, as with tb_testing_set. TB_ERR_DETACHED:
 * time is not held. */
TB_API tb_status_t tb_testing_release_os_time(void);

/** TB_ERR_DETACHED: time is not held. TB_ERR_INVALID: an unknown clock. */
TB_API tb_status_t tb_testing_now(tb_testing_clock_t which, int64_t *out_ns);

/** Moves one of the two to `time_ns`; waiters whose deadline has come are woken. For system time
 * that is a wall clock being set: handlers on its clocks are called, on this thread, before the
 * call returns; waits with flags fail (J9 in docs/time-model.md). TB_ERR_RANGE: below zero, or
 * steady time back; nothing has moved. TB_ERR_DETACHED, TB_ERR_INVALID as above. */
TB_API tb_status_t tb_testing_set(tb_testing_clock_t which, int64_t time_ns);

/** By `step`: time passes, and that is no step of the wall clock, even if the other one is stopped.
 * A negative one, of system time, is. TB_ERR_OVERFLOW. */
TB_API tb_status_t tb_testing_advance(tb_testing_clock_t which, tb_duration_t step);

/** Stops at every deadline on the way, those set on the way included. TB_ERR_RANGE: step < 0.
 * TB_ERR_LIMIT: more than `max_stops`; time stops at the last one. */
TB_API tb_status_t tb_testing_advance_stepped(tb_testing_clock_t which, tb_duration_t step,
                                              uint32_t max_stops);

/** To the earliest deadline that a waiter has on the clock. TB_ERR_NOT_FOUND: nothing waits. */
TB_API tb_status_t tb_testing_advance_to_next(tb_testing_clock_t which);

/** The same four, which return when what they made due has run: see manual_source.h, where "the
 * timeline" is steady and system time together. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_testing_set_and_run(tb_testing_clock_t which,
                                                            int64_t time_ns,
                                                            const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_testing_advance_and_run(tb_testing_clock_t which,
                                                                tb_duration_t step,
                                                                const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_testing_advance_stepped_and_run(tb_testing_clock_t which, tb_duration_t step, uint32_t max_stops,
                                   const tb_run_options_t *options);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_testing_advance_to_next_and_run(tb_testing_clock_t which, const tb_run_options_t *options);

/** Returns when at least `count` threads are in a wait that held time can end: on a steady or
 * system clock, or on any with a limit. Errors as tb_manual_source_wait_for_sleepers;
 * TB_ERR_DETACHED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_testing_wait_for_sleepers(uint32_t count,
                                                                  const tb_run_options_t *options);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_testing_set_and_run_sized(tb_testing_clock_t which, int64_t time_ns,
                                                const tb_run_options_t *options,
                                                size_t options_size);
TB_INLINE tb_status_t tb_testing_set_and_run(tb_testing_clock_t which, int64_t time_ns,
                                             const tb_run_options_t *options)
{
  return tb_testing_set_and_run_sized(which, time_ns, options, sizeof *options);
}
TB_API tb_status_t tb_testing_advance_and_run_sized(tb_testing_clock_t which, tb_duration_t step,
                                                    const tb_run_options_t *options,
                                                    size_t options_size);
TB_INLINE tb_status_t tb_testing_advance_and_run(tb_testing_clock_t which, tb_duration_t step,
                                                 const tb_run_options_t *options)
{
  return tb_testing_advance_and_run_sized(which, step, options, sizeof *options);
}
TB_API tb_status_t tb_testing_advance_stepped_and_run_sized(tb_testing_clock_t which,
                                                            tb_duration_t step, uint32_t max_stops,
                                                            const tb_run_options_t *options,
                                                            size_t options_size);
TB_INLINE tb_status_t tb_testing_advance_stepped_and_run(tb_testing_clock_t which,
                                                         tb_duration_t step, uint32_t max_stops,
                                                         const tb_run_options_t *options)
{
  return tb_testing_advance_stepped_and_run_sized(which, step, max_stops, options, sizeof *options);
}
TB_API tb_status_t tb_testing_advance_to_next_and_run_sized(tb_testing_clock_t which,
                                                            const tb_run_options_t *options,
                                                            size_t options_size);
TB_INLINE tb_status_t tb_testing_advance_to_next_and_run(tb_testing_clock_t which,
                                                         const tb_run_options_t *options)
{
  return tb_testing_advance_to_next_and_run_sized(which, options, sizeof *options);
}
TB_API tb_status_t tb_testing_wait_for_sleepers_sized(uint32_t count,
                                                      const tb_run_options_t *options,
                                                      size_t options_size);
TB_INLINE tb_status_t tb_testing_wait_for_sleepers(uint32_t count, const tb_run_options_t *options)
{
  return tb_testing_wait_for_sleepers_sized(count, options, sizeof *options);
}

TB_END_DECLS

#endif
