/* Statistics of a node, of its topics and of its timers. Counters are written by the owner thread
 * of what they belong to; a snapshot reads them. */
#ifndef TB_MEASURE_STATISTICS_H
#define TB_MEASURE_STATISTICS_H

#include <stdatomic.h>
#include <timebase/jump.h>
#include <timebase/statistics.h>

#include "base/private_api.h"
#include "clock/clock.h"
#include "platform/mutex.h"

#define TB__STATISTICS_NAME_SIZE 256
#define TB__OVERFLOW_NAME        "_other" /* of what has no series of its own */
#define TB__PUBLISHERS           16       /* with series of their own */
#define TB__OTHER_PUBLISHERS     112      /* that share one */
#define TB__SERIES_MAX           64       /* topics, and timers, with series of their own */

/* Which jumps are counted apart. */
typedef enum tb__jump_class {
  TB__BACKWARD,
  TB__FORWARD,
  TB__CHANGE,
  TB__JUMP_CLASSES
} tb__jump_class_t;

/* The last jump that began an epoch. */
typedef struct tb__epoch_begin {
  uint64_t epoch;
  int64_t steady_ns; /* when it began; 0: no jump has been seen */
  int64_t before_ns; /* the last time before */
} tb__epoch_begin_t;

/* A level, and why. */
typedef struct tb__verdict {
  tb_level_t level;
  const char *reason;
} tb__verdict_t;

/* What a level follows from, over the intervals. */
typedef struct tb__level_state {
  tb__verdict_t now;         /* what is reported */
  tb__verdict_t highest;     /* of the good intervals in a row */
  tb__verdict_t rate;        /* as it was judged last; for topics */
  double expected, received; /* messages that the rate has not been judged by */
  uint32_t good;
} tb__level_state_t;

#define TB__LEVEL_INIT                                                                             \
  {                                                                                                \
    .now.reason = "", .highest.reason = "", .rate.reason = ""                                      \
  }

struct tb_statistics {
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  char node[TB__STATISTICS_NAME_SIZE];
  int64_t forward_min_ns;
  bool judges_forward; /* no least step was asked for: the passing of time is no jump */
  uint32_t good_windows;

  _Atomic uint64_t jumps; /* seen, of all classes: raised as one begins */
  _Atomic uint64_t seen[TB__JUMP_CLASSES];
  _Atomic uint32_t last_class;      /* of the last one */
  _Atomic bool may_be_in_jump;      /* it may not be over */
  _Atomic bool is_in_snapshot;      /* of one thread at a time */
  _Atomic int64_t tick_ns;          /* on the clock, as of the last snapshot; 0: unknown */
  _Atomic int64_t clock_publishers; /* -1: not known */
  tb__mutex_t jump_mutex;           /* of the following; no other is taken under it */
  tb__epoch_begin_t epoch_begin;

  tb__mutex_t mutex; /* of the following; the clock is not read under it */
  tb_topic_statistics_t *topics;
  tb_timer_statistics_t *timers;
  tb__tick_counts_t ticks;      /* at the last snapshot */
  tb_timeline_stats_t timeline; /* the same */
  uint64_t jumps_at_snapshot;
  tb__level_state_t level;
  tb_clock_summary_t summary;
};

/* What a message is counted as. In the order of tb_topic_counts_t. */
typedef enum tb__topic_count {
  TB__MESSAGES,
  TB__STALE_EPOCH,
  TB__ZERO_STAMPS,
  TB__NO_STAMP,
  TB__NO_TIME,
  TB__FUTURE,
  TB__DUPLICATES,
  TB__STAMPS_BACK,
  TB__HISTORY,
  TB__LOST,
  TB__TOPIC_COUNTS
} tb__topic_count_t;

/* A publisher is added once, and stays. */
typedef struct tb__seen_publisher {
  uint8_t guid[16];
  uint64_t last; /* of the owner thread */
  _Atomic uint64_t lost;
} tb__seen_publisher_t;

typedef struct tb__other_publisher {
  uint8_t guid[16];
  uint64_t last;
} tb__other_publisher_t;

struct tb_topic_statistics {
  tb_statistics_t *statistics;
  tb_topic_statistics_t *next;           /* by the mutex of the statistics */
  tb_topic_statistics_options_t options; /* with defaults, but for the name */
  char topic[TB__STATISTICS_NAME_SIZE];
  tb_histogram_t *histograms[TB_TOPIC_METRICS];
  tb_histogram_writer_t *writers[TB_TOPIC_METRICS];
  int64_t made_steady_ns;

  /* Of the owner thread. */
  tb__epoch_begin_t epoch;
  bool has_epoch, has_last_stamp, is_begun, has_begin_time;
  int64_t last_stamp_ns, last_received_ns;
  int64_t begin_steady_ns, begin_time_ns;
  uint64_t begin_jumps;
  uint32_t other_next; /* where the next one is put, in place of the one that came first */
  tb__other_publisher_t others[TB__OTHER_PUBLISHERS];

  /* Written by the owner thread. */
  _Atomic uint64_t counts[TB__TOPIC_COUNTS];
  _Atomic uint64_t ahead_sum_ns; /* of the ages below zero and within an hour, without sign */
  _Atomic uint32_t publisher_count;
  tb__seen_publisher_t publishers[TB__PUBLISHERS];
  _Atomic uint64_t epoch_number; /* of the last message */
  _Atomic uint32_t other_count;
  _Atomic uint64_t other_lost;

  /* By the mutex of the statistics. */
  tb_topic_summary_t summary;
  uint64_t ahead_sum_at_snapshot;
  tb__level_state_t level;
};

struct tb_timer_statistics {
  tb_statistics_t *statistics;
  tb_timer_statistics_t *next; /* by the mutex of the statistics */
  char name[TB__STATISTICS_NAME_SIZE];
  tb_histogram_t *lateness;
  tb_histogram_writer_t *writer;
  _Atomic(tb_histogram_t *) corrected; /* NULL: it has no period */
  tb_histogram_writer_t *corrected_writer;
  int64_t period_ns; /* of the owner thread, as the next */
  uint64_t epochs;   /* that were seen */
  _Atomic uint64_t missed;
};

/* Raises a counter that only this thread writes. */
static inline void tb__count(_Atomic uint64_t *counter, uint64_t added)
{
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + added,
                        memory_order_relaxed);
}

static inline uint64_t tb__count_of(const _Atomic uint64_t *counter)
{
  return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Copies a name. False: empty, too long, not printable ASCII, or TB__OVERFLOW_NAME. */
bool tb__statistics_name(const char *name, char out[TB__STATISTICS_NAME_SIZE]);

/* A histogram with a writer. On failure both are NULL. */
tb_status_t tb__statistics_histogram(tb_histogram_t **out,
                                     tb_histogram_writer_t **out_writer) TB_WARN_UNUSED;

/* Ends the interval of the topic: its histograms have been read. `clock_ns`: how far the clock has
 * advanced in it; negative: it has jumped. With the mutex of the statistics. */
void tb__topic_statistics_snapshot(tb_topic_statistics_t *topic, int64_t steady_ns,
                                   int64_t clock_ns);

/* `verdict` is of the last interval: the level rises at once, and falls after `good_windows`. Pure.
 */
void tb__level_settle(tb__level_state_t *state, tb__verdict_t verdict, uint32_t good_windows);

/* Judges the interval that `summary` has the counts of. Pure. */
void tb__topic_judge(tb__level_state_t *state, tb_topic_summary_t *summary,
                     const tb_topic_statistics_options_t *options, const tb_histogram_stats_t *age,
                     int64_t clock_ns, uint32_t good_windows);

/* What the last snapshot has, for what reports it. The functions are called with the mutex of the
 * statistics held: they only copy. */
typedef struct tb__statistics_visitor {
  void (*clock)(const char *node, const tb_clock_summary_t *summary, void *user);
  void (*topic)(const tb_topic_statistics_t *topic, const tb_topic_summary_t *summary, void *user);
  void (*timer)(const tb_timer_statistics_t *timer, const char *name, void *user);
} tb__statistics_visitor_t;

TB_PRIVATE_API void tb__statistics_visit(const tb_statistics_t *statistics,
                                         const tb__statistics_visitor_t *visitor, void *user);

void tb__topic_statistics_free(tb_topic_statistics_t *topic);
void tb__timer_statistics_snapshot(tb_timer_statistics_t *timer);
void tb__timer_statistics_free(tb_timer_statistics_t *timer);

#endif
