/* Histograms of durations: latencies, ages, lateness. Log-linear, from 1 us to 1 h, and the same
 * for negative values.
 *
 * One thread records with a writer of its own, which takes a few nanoseconds: no lock, no atomic
 * read-modify-write, no allocation. A snapshot merges the writers. Statistics are of the snapshot:
 * since the start, and of the interval between the last two snapshots. */
#ifndef TIMEBASE_HISTOGRAM_H
#define TIMEBASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/status.h>

/** What has been measured, by any number of threads. */
typedef struct tb_histogram tb_histogram_t;
/** The part of a histogram that one thread writes. */
typedef struct tb_histogram_writer tb_histogram_writer_t;

/** The largest value that has a place of its own, and with a minus sign the smallest: 1 h. Values
 * beyond it are counted as `above` and `below`. */
#define TB_HISTOGRAM_MAX_NS INT64_C(3600000000000)

/** What a histogram is made with. */
typedef struct tb_histogram_options {
  uint32_t digits;  /**< significant digits, 2 or 3; 0: 2. A writer has 134 KiB with 2 digits, 1.1
                       MiB  with 3, of which only what was recorded to is touched */
  uint32_t padding; /**< not used */
} tb_histogram_options_t;

/** Two significant digits. */
#define TB_HISTOGRAM_OPTIONS_INIT                                                                  \
  {                                                                                                \
    0, 0                                                                                           \
  }

/** Which values a snapshot is asked for. */
typedef enum tb_histogram_window {
  TB_HISTOGRAM_SINCE_START = 0, /**< all that were recorded */
  TB_HISTOGRAM_INTERVAL = 1,    /**< those between the last two snapshots; before the second one,
                                   since the start */
  TB_HISTOGRAM_EPOCH = 2,       /**< those since each writer began its last epoch
                                   (tb_histogram_writer_begin_epoch); without one, all */
} tb_histogram_window_t;

/** What a snapshot holds. */
typedef struct tb_histogram_stats {
  uint64_t count;         /**< all values, with the following three */
  uint64_t zero;          /**< exactly 0 */
  uint64_t below;         /**< less than -TB_HISTOGRAM_MAX_NS */
  uint64_t above;         /**< more than TB_HISTOGRAM_MAX_NS */
  tb_duration_t least;    /**< exact, of all values; 0 without values */
  tb_duration_t greatest; /**< exact, of all values; 0 without values */
  double mean_ns;         /**< exact, of the values in range; NaN without any */
  double deviation_ns;    /**< of the population: divided by the number of values, not one less;
                             of the values in range; NaN without any */
} tb_histogram_stats_t;

TB_BEGIN_DECLS

/** `options` may be NULL. [any thread] [from callbacks] TB_ERR_INVALID: digits other than 0, 2 or
 * 3; TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_histogram_create(const tb_histogram_options_t *options,
                                                         tb_histogram_t **out);

/** Frees its writers too: no thread may record any more. NULL does nothing. [any thread] [from
 * callbacks] */
TB_API void tb_histogram_destroy(tb_histogram_t *histogram);

/** A writer for the thread that will record. It may be handed from one thread to another, as any
 * object. [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_histogram_writer_create(tb_histogram_t *histogram,
                                                             tb_histogram_writer_t **out);

/** Gives the writer back when its thread ends: what it recorded stays in the histogram, and the
 * next writer takes over the memory. NULL does nothing. [any thread] [from callbacks] */
TB_API void tb_histogram_writer_destroy(tb_histogram_writer_t *writer);

/** Counts one value. Never waits, whatever other threads do. NULL does nothing. [owner thread]
 * [from callbacks] */
TB_HOT_API void tb_histogram_record(tb_histogram_writer_t *writer, tb_duration_t value);

/** What is recorded from now on is of another epoch, such as that of a clock after a jump: the
 * window TB_HISTOGRAM_EPOCH has these values only, from the next snapshot on. Takes about as long
 * as recording a thousand values. NULL does nothing. [owner thread] [from callbacks] */
TB_API void tb_histogram_writer_begin_epoch(tb_histogram_writer_t *writer);

/** Merges what all threads have recorded, ends the interval and begins the next one: there is one
 * sequence of intervals, so two that report at different times have a histogram each. Recording
 * continues meanwhile, and a thread that is stopped while it records delays nothing: a value that
 * comes in during the call is in this interval or in the next one, in one of them once; of such
 * values `mean_ns` and `deviation_ns` may count some in the other one, and `least` and `greatest`
 * of the interval may be off by the resolution. [any thread] [from callbacks] TB_ERR_INVALID,
 * TB_ERR_FORKED. */
TB_API tb_status_t tb_histogram_snapshot(tb_histogram_t *histogram);

/** Statistics of the last snapshot; without one, of no values. [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE tb_status_t tb_histogram_stats(const tb_histogram_t *histogram,
                                         tb_histogram_window_t window, tb_histogram_stats_t *out);

/** The least value of the last snapshot that is not below a share `quantile` (0 to 1) of all: 0.5
 * is the median, 0.99 the 99th percentile. It is never below that value, and above it by less than
 * 1 % of it with two digits, 0.1 % with three (nearer to zero than 1 us: 8 ns and 1 ns). Beyond
 * TB_HISTOGRAM_MAX_NS it is the greatest value, below -TB_HISTOGRAM_MAX_NS that limit or the
 * greatest value. [any thread] [from callbacks] TB_ERR_INVALID: NaN, or not in 0 to 1;
 * TB_ERR_FORKED. TB_ERR_NOT_FOUND: there are no values. */
TB_API TB_WARN_UNUSED tb_status_t tb_histogram_quantile(const tb_histogram_t *histogram,
                                                        tb_histogram_window_t window,
                                                        double quantile, tb_duration_t *out);

/** How many values of the last snapshot are at most `limit`, to the resolution: values that differ
 * from it by less count as it does. The counts of rising limits never fall, and for INT64_MAX it is
 * the count of all: these are the buckets of OpenMetrics. [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_API tb_status_t tb_histogram_count_at_most(const tb_histogram_t *histogram,
                                              tb_histogram_window_t window, tb_duration_t limit,
                                              uint64_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_histogram_create_sized(const tb_histogram_options_t *options,
                                             size_t options_size, tb_histogram_t **out);
TB_INLINE tb_status_t tb_histogram_create(const tb_histogram_options_t *options,
                                          tb_histogram_t **out)
{
  return tb_histogram_create_sized(options, sizeof *options, out);
}
TB_API tb_status_t tb_histogram_stats_sized(const tb_histogram_t *histogram,
                                            tb_histogram_window_t window, tb_histogram_stats_t *out,
                                            size_t out_size);
TB_INLINE tb_status_t tb_histogram_stats(const tb_histogram_t *histogram,
                                         tb_histogram_window_t window, tb_histogram_stats_t *out)
{
  return tb_histogram_stats_sized(histogram, window, out, sizeof *out);
}

TB_END_DECLS

#endif
