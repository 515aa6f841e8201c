/* A guard before publishing: nothing with a time in it is sent before the clock has started, nor
 * while its time jumps back. */
#ifndef TIMEBASE_PUBLISH_GUARD_H
#define TIMEBASE_PUBLISH_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/sleep.h>
#include <timebase/status.h>

/** Lets messages pass once a clock is ready for them. */
typedef struct tb_publish_guard tb_publish_guard_t;

/** Counts since the guard was made. */
typedef struct tb_publish_guard_stats {
  uint64_t passed;            /**< calls of both kinds that returned TB_OK */
  uint64_t refused_not_set;   /**< checks before the first tick */
  uint64_t refused_jump;      /**< checks while time jumped */
  uint64_t held;              /**< waits that had to wait, also those that failed */
  tb_duration_t longest_hold; /**< the longest of those that have ended, steady; 0: none */
} tb_publish_guard_stats_t;

TB_BEGIN_DECLS

/** `clock` must outlive the guard. An inactive one reports system time and passes everything; one
 * that follows a default which is not there (TB_CLOCK_NO_SOURCE) passes nothing. [any thread] [from
 * callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_publish_guard_create(tb_clock_t *clock,
                                                          tb_publish_guard_t **out);

/** No thread may use it any more. NULL does nothing. [any thread] [from callbacks] */
TB_API void tb_publish_guard_destroy(tb_publish_guard_t *guard);

/** Whether a message may be published now. Never blocks. `out` (may be NULL) is the clock's reading
 * at that moment: stamp with its time, and the epoch tells what was stamped before a later jump.
 * [any thread] [from callbacks] TB_ERR_NOT_SET: the clock has not started, or was reset: the stamp
 * would be zero; or it has no source, and the stamp would be system time. TB_ERR_BUSY: a backward
 * jump, a first tick or a change of source is in progress, also in a jump callback of that jump,
 * where other handlers may not have dropped old data yet. TB_ERR_INVALID. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_publish_guard_check(tb_publish_guard_t *guard,
                                                            tb_clock_reading_t *out);

/** The same, but waits until a message may be published. `options` may be NULL: no limit; their
 * `clock` must be NULL or the guard's. [any thread] [blocks] TB_ERR_DEADLOCK: in a jump callback or
 * the log hook. TB_ERR_INVALID, TB_ERR_TIMEOUT, TB_ERR_CANCELLED, TB_ERR_CLOSED, the flags' jumps
 * of the clock, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_publish_guard_wait(tb_publish_guard_t *guard,
                                                           const tb_wait_options_t *options,
                                                           tb_clock_reading_t *out);

/** Takes no lock; fields may be of neighbouring calls. [any thread] [from callbacks]
 * TB_ERR_INVALID. */
TB_INLINE tb_status_t tb_publish_guard_stats(const tb_publish_guard_t *guard,
                                             tb_publish_guard_stats_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_publish_guard_check_sized(tb_publish_guard_t *guard, tb_clock_reading_t *out,
                                                size_t out_size);
TB_INLINE tb_status_t tb_publish_guard_check(tb_publish_guard_t *guard, tb_clock_reading_t *out)
{
  return tb_publish_guard_check_sized(guard, out, sizeof *out);
}
TB_API tb_status_t tb_publish_guard_wait_sized(tb_publish_guard_t *guard,
                                               const tb_wait_options_t *options,
                                               size_t options_size, tb_clock_reading_t *out,
                                               size_t out_size);
TB_INLINE tb_status_t tb_publish_guard_wait(tb_publish_guard_t *guard,
                                            const tb_wait_options_t *options,
                                            tb_clock_reading_t *out)
{
  return tb_publish_guard_wait_sized(guard, options, sizeof *options, out, sizeof *out);
}
TB_API tb_status_t tb_publish_guard_stats_sized(const tb_publish_guard_t *guard,
                                                tb_publish_guard_stats_t *out, size_t out_size);
TB_INLINE tb_status_t tb_publish_guard_stats(const tb_publish_guard_t *guard,
                                             tb_publish_guard_stats_t *out)
{
  return tb_publish_guard_stats_sized(guard, out, sizeof *out);
}

TB_END_DECLS

#endif
