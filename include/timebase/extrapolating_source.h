/* A source that keeps running between the ticks of another one. */
#ifndef TIMEBASE_EXTRAPOLATING_SOURCE_H
#define TIMEBASE_EXTRAPOLATING_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/source.h>
#include <timebase/status.h>

/** How far time runs on. */
typedef struct tb_extrapolating_options {
  /** Steady time for which time runs on after a tick; then it holds. > 0, at most an hour. */
  tb_duration_t bound;
} tb_extrapolating_options_t;

/** 200 ms: two ticks of a clock of 10 Hz. */
#define TB_EXTRAPOLATING_OPTIONS_INIT                                                              \
  {                                                                                                \
    {                                                                                              \
      INT64_C(200000000)                                                                           \
    }                                                                                              \
  }

/** Errors are taken at ticks that come while time runs on and continue those before: no jumps, and
 * none after a long silence. An error is the time of the tick minus the time that clocks reported
 * when it came. Positive: clocks were slow. */
typedef struct tb_extrapolating_stats {
  double rate; /**< in use, timeline seconds a steady second; 0: time is stopped between ticks */
  tb_duration_t bound; /**< the option: steady time */
  tb_duration_t
      reach; /**< how far time runs past a tick at most: rate times bound, timeline time */
  tb_duration_t last_error;    /**< 0: none yet */
  tb_duration_t largest_error; /**< the one of the largest magnitude, with its sign */
  tb_duration_t mean_error;    /**< mean of the magnitudes, >= 0 */
  uint64_t errors;             /**< how many were taken */
  uint64_t held_ticks;         /**< ticks below the reported time, which held it */
} tb_extrapolating_stats_t;

TB_BEGIN_DECLS

/** Makes a source that follows the ticks of `inner` and, once three of them have shown the rate,
 * runs on between them at the rate observed. Waits and timers fire between ticks, too. A tick at or
 * above the reported time becomes the time. One below it, but not below the last tick, holds the
 * time until ticks catch up: no jump. One below the last tick is a backward jump from the reported
 * time. Ticks that repeat the time, and a source that reports that it is paused, hold it. Anchors
 * of `inner` that have a rate are passed on as they are. States, dropped samples and, from now on,
 * statistics and options of the timeline of `inner` are those of the new source's; it begins with
 * the options of `inner` and without its time.
 *
 * `inner` belongs to the new source, which starts, stops and destroys it: giving it to a clock or
 * destroying it returns TB_ERR_BUSY. Its ticks, on its own timeline, return what they return on the
 * timeline that they go to. tb_manual_source_advance and the calls like it start from the reported
 * time.
 *
 * `options` NULL: the defaults. [any thread] TB_ERR_INVALID: `inner` is such a source itself, or
 * the bound; TB_ERR_UNSUPPORTED: it is on shared memory, which runs on by itself (shm_source.h);
 * TB_ERR_NO_MEMORY; TB_ERR_BUSY: `inner` has clocks, or is wrapped already; TB_ERR_DEADLOCK: from a
 * jump callback or the log hook. On failure `inner` stays the caller's. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_extrapolating_source_create(
    tb_source_t *inner, const tb_extrapolating_options_t *options, tb_source_t **out);

/** Since the source was made. [any thread] [from callbacks] TB_ERR_INVALID: not a source of
 * tb_extrapolating_source_create. */
TB_INLINE tb_status_t tb_extrapolating_source_stats(tb_source_t *source,
                                                    tb_extrapolating_stats_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_extrapolating_source_create_sized(tb_source_t *inner,
                                                        const tb_extrapolating_options_t *options,
                                                        size_t options_size, tb_source_t **out);
TB_INLINE tb_status_t tb_extrapolating_source_create(tb_source_t *inner,
                                                     const tb_extrapolating_options_t *options,
                                                     tb_source_t **out)
{
  return tb_extrapolating_source_create_sized(inner, options, sizeof *options, out);
}
TB_API tb_status_t tb_extrapolating_source_stats_sized(tb_source_t *source,
                                                       tb_extrapolating_stats_t *out,
                                                       size_t out_size);
TB_INLINE tb_status_t tb_extrapolating_source_stats(tb_source_t *source,
                                                    tb_extrapolating_stats_t *out)
{
  return tb_extrapolating_source_stats_sized(source, out, sizeof *out);
}

TB_END_DECLS

#endif
