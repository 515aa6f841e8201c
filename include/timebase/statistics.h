/* Statistics of a node: how old its messages are, how long they wait and are processed, how late
 * its timers are, how its clock runs. Recording takes no lock and allocates nothing. */
#ifndef TIMEBASE_STATISTICS_H
#define TIMEBASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/histogram.h>
#include <timebase/status.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** Of a node. */
typedef struct tb_statistics tb_statistics_t;
/** Of one subscription of it, which one thread at a time records to. */
typedef struct tb_topic_statistics tb_topic_statistics_t;
/** Of one timer of it, the same. */
typedef struct tb_timer_statistics tb_timer_statistics_t;

/** What statistics are made with. */
typedef struct tb_statistics_options {
  const char
      *node; /**< full name, such as "/ns/node": printable ASCII, at most 255 bytes; copied */
  tb_clock_t *clock; /**< of the node; must outlive the statistics */
  /** A step forward as large is a jump. 0: 1 s, if it is not the passing of time at the rate of the
   * clock, see tb_timeline_options_t. */
  tb_duration_t forward_jump_min;
  uint32_t good_windows; /**< a level falls after so many intervals without a reason for it; 0: 3 */
  uint32_t padding;      /**< not used */
} tb_statistics_options_t;

/** A node and a clock have to be set. */
#define TB_STATISTICS_OPTIONS_INIT                                                                 \
  {                                                                                                \
    NULL, NULL, {0}, 0, 0                                                                          \
  }

/** What the statistics of a topic are made with. */
typedef struct tb_topic_statistics_options {
  const char *topic; /**< full name: printable ASCII, at most 255 bytes; copied. Of each name one:
                        of two subscriptions of a topic call one "/topic (2)", say */
  /** Messages a second of the clock, so that a slow or paused simulation is no fault: 10 % off is
   * TB_LEVEL_WARN, 50 % off TB_LEVEL_ERROR. 0: not judged. */
  double expected_rate_hz;
  tb_duration_t min_age;      /**< less is TB_LEVEL_ERROR; 0: -1 s */
  tb_duration_t max_age;      /**< more is TB_LEVEL_ERROR; 0: 5 s */
  tb_duration_t future_limit; /**< a stamp is in the future if it is later by more; 0: the larger of
                                 5 ms and one tick of the clock */
} tb_topic_statistics_options_t;

/** A topic has to be set. */
#define TB_TOPIC_STATISTICS_OPTIONS_INIT                                                           \
  {                                                                                                \
    NULL, 0, {0}, {0},                                                                             \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** A message when its callback starts. What is 0 is unknown. */
typedef struct tb_topic_message {
  int64_t stamp_ns;             /**< header.stamp */
  int64_t source_timestamp_ns;  /**< of the middleware, system time of the publisher's host */
  int64_t receive_timestamp_ns; /**< of the middleware, system time here */
  int64_t receive_steady_ns;    /**< the same moment in steady time */
  uint64_t sequence;            /**< the publisher's number of the message */
  uint8_t writer_guid[16];      /**< which publisher */
  bool has_stamp;               /**< false: the type has no header */
  uint8_t padding[7];           /**< not used */
} tb_topic_message_t;

/** What is measured of each message. */
typedef enum tb_topic_metric {
  TB_TOPIC_MESSAGE_AGE = 0, /**< time of the clock when the callback starts, minus the stamp */
  TB_TOPIC_SOURCE_TO_RECEIVE = 1,    /**< of two hosts' system clocks: may be negative */
  TB_TOPIC_CALLBACK_QUEUE_DELAY = 2, /**< steady: from the reception to the callback's start */
  TB_TOPIC_PROCESSING = 3,           /**< steady: from the callback's start to its end */
  TB_TOPIC_PROCESSING_ROS = 4,       /**< the same on the clock, unless it jumps meanwhile */
  TB_TOPIC_SOURCE_TO_CALLBACK = 5,   /**< what topic statistics of rclcpp call message_age */
  TB_TOPIC_MESSAGE_PERIOD = 6,       /**< steady: from the reception before to this one */
} tb_topic_metric_t;

/** How many there are. */
#define TB_TOPIC_METRICS 7

/** Messages, since the start or of an interval. */
typedef struct tb_topic_counts {
  uint64_t messages;    /**< all */
  uint64_t stale_epoch; /**< from before a backward jump or a change of source: has no age */
  uint64_t zero_stamps; /**< the stamp is zero: has no age */
  uint64_t no_stamp;    /**< no header: has no age */
  uint64_t no_time;     /**< the clock had no time, or was in a jump: has no age */
  uint64_t future;      /**< the stamp is later than the future limit allows */
  uint64_t duplicates;  /**< the stamp is that of the message before */
  uint64_t stamps_back; /**< the stamp is earlier than that of the message before */
  uint64_t history;     /**< published before the statistics were made, as by transient local
                           publishers: not counted in TB_TOPIC_SOURCE_TO_RECEIVE */
  uint64_t lost;        /**< gaps in the numbers of publishers; 128 are followed at a time */
  uint64_t reserved[6]; /**< 0 */
} tb_topic_counts_t;

/** As in diagnostic_msgs/msg/DiagnosticStatus. */
typedef enum tb_level {
  TB_LEVEL_OK = 0,    /**< nothing is wrong */
  TB_LEVEL_WARN = 1,  /**< something is not as it should be */
  TB_LEVEL_ERROR = 2, /**< something is wrong */
} tb_level_t;

/** The topic in the last interval. */
typedef struct tb_topic_summary {
  const char *topic;             /**< of the options; as long as the statistics of the topic live */
  tb_topic_counts_t interval;    /**< of the last interval */
  tb_topic_counts_t since_start; /**< of all */
  double rate_hz;                /**< messages a steady second; 0: none */
  double clock_rate_hz;          /**< messages a second of the clock; NaN: it did not advance */
  const char *reason;            /**< for the level; "" with TB_LEVEL_OK. Static text */
  tb_level_t level;              /**< rises at once, falls after `good_windows` */
  uint32_t publishers;           /**< that are followed, 128 at most */
  uint64_t epoch;                /**< of the clock, at the last message: that of what the window
                                    TB_HISTOGRAM_EPOCH of the histograms has */
} tb_topic_summary_t;

/** The clock in the last interval. Counts are since the start. Its level is TB_LEVEL_ERROR while
 * its ticks have stopped, its publisher is gone, or it follows a default that is not there. */
typedef struct tb_clock_summary {
  tb_time_t time;           /**< at the end of the interval, or the last that could be read */
  uint64_t epoch;           /**< of that */
  double rate_hz;           /**< ticks that moved time, a steady second */
  double factor;            /**< real-time factor; NaN: time jumped */
  uint64_t jumps_backward;  /**< handled: the last "after" of the jump has returned */
  uint64_t jumps_forward;   /**< the same */
  uint64_t clock_changes;   /**< the same */
  uint64_t jumps_unhandled; /**< seen, of all kinds, and not handled yet */
  uint64_t ticks_dropped;   /**< refused as invalid */
  uint64_t ticks_repeated;  /**< that moved nothing */
  uint64_t stalls;          /**< see timeline.h */
  tb_steady_time_t from;    /**< when the interval began */
  tb_steady_time_t to;      /**< when it ended */
  uint64_t epochs;          /**< how many began in the interval, at least */
  const char *reason;       /**< for the level; "" with TB_LEVEL_OK. Static text */
  tb_clock_state_t state;   /**< of the clock */
  tb_level_t level;         /**< rises at once, falls after `good_windows` */
} tb_clock_summary_t;

TB_BEGIN_DECLS

/** Has a jump handler on the clock. [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_CLOSED,
 * TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_statistics_create(const tb_statistics_options_t *options,
                                                          tb_statistics_t **out);

/** Destroys its topics and timers too: no thread may record any more. Waits for a jump in progress.
 * NULL does nothing. [any thread, not from jump callbacks] [blocks] */
TB_API void tb_statistics_destroy(tb_statistics_t *statistics);

/** [any thread] [from callbacks] TB_ERR_INVALID: also if there is one of this name, or for
 * "_other". TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_topic_statistics_create(
    tb_statistics_t *statistics, const tb_topic_statistics_options_t *options,
    tb_topic_statistics_t **out);

/** Its values are gone. No thread may record to it any more. NULL does nothing. [any thread] [from
 * callbacks] */
TB_API void tb_topic_statistics_destroy(tb_topic_statistics_t *topic);

/** At the start of a callback. Never waits. NULL does nothing. [owner thread] [from callbacks] */
TB_INLINE void tb_topic_statistics_begin(tb_topic_statistics_t *topic,
                                         const tb_topic_message_t *message);

/** At its end. NULL does nothing. [owner thread] [from callbacks] */
TB_HOT_API void tb_topic_statistics_end(tb_topic_statistics_t *topic);

/** `name`: printable ASCII, at most 255 bytes; copied; not that of another, nor "_other". [any
 * thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_timer_statistics_create(tb_statistics_t *statistics,
                                                             const char *name,
                                                             tb_timer_statistics_t **out);

/** Its values are gone. No thread may record to it any more. NULL does nothing. [any thread] [from
 * callbacks] */
TB_API void tb_timer_statistics_destroy(tb_timer_statistics_t *timer);

/** In a call of a timer, with what its info has: the lateness, on the clock of the timer, and the
 * periods that were missed. NULL does nothing. [owner thread] [from callbacks] */
TB_API void tb_timer_statistics_note(tb_timer_statistics_t *timer, tb_time_t scheduled,
                                     tb_time_t actual, uint64_t missed);
TB_API void tb_timer_statistics_note_steady(tb_timer_statistics_t *timer,
                                            tb_steady_time_t scheduled, tb_steady_time_t actual,
                                            uint64_t missed);

/** The period of a periodic timer, > 0, from now on: a call that comes late stands for the calls
 * that it kept from being made, so for each missed period there is a lateness too, shorter by one
 * period each (correction for coordinated omission; at most 1000 for a call). They are in a
 * histogram of its own. Without a period, and for what is not periodic, there is none. NULL does
 * nothing. [owner thread] [from callbacks] TB_ERR_INVALID: <= 0. TB_ERR_NO_MEMORY, TB_ERR_FORKED.
 */
TB_API tb_status_t tb_timer_statistics_set_period(tb_timer_statistics_t *timer,
                                                  tb_duration_t period);

/** Ends the interval of everything and begins the next one. What reports calls it, such as once a
 * steady second. [one thread at a time] [from callbacks] TB_ERR_BUSY: another thread is in it.
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_API tb_status_t tb_statistics_snapshot(tb_statistics_t *statistics);

/** How many publishers the clock has now, which only its source knows, for the gauge of
 * tb_statistics_openmetrics. What reports statistics on a graph calls it. NULL does nothing. [any
 * thread] [from callbacks] */
TB_API void tb_statistics_set_clock_publishers(tb_statistics_t *statistics, uint32_t count);

/** Of the last snapshot. [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE tb_status_t tb_statistics_clock(const tb_statistics_t *statistics,
                                          tb_clock_summary_t *out);
TB_INLINE tb_status_t tb_topic_statistics_summary(const tb_topic_statistics_t *topic,
                                                  tb_topic_summary_t *out);

/** The histogram of one metric, as of the last snapshot; its window TB_HISTOGRAM_EPOCH has what was
 * recorded since the clock last jumped back or got another source. Its owner is the topic, so do
 * not take snapshots of it or destroy it. Ages below zero are in it as all others. NULL: not a
 * metric. [any thread] [from callbacks] */
TB_API const tb_histogram_t *tb_topic_statistics_histogram(const tb_topic_statistics_t *topic,
                                                           tb_topic_metric_t metric);

/** How late the calls of the timer were. [any thread] [from callbacks] */
TB_API const tb_histogram_t *tb_timer_statistics_lateness(const tb_timer_statistics_t *timer);

/** The same with those of the calls that were missed. NULL: the timer has no period. [any thread]
 * [from callbacks] */
TB_API const tb_histogram_t *
tb_timer_statistics_corrected_lateness(const tb_timer_statistics_t *timer);

/** Periods that were missed, since the start. [any thread] [from callbacks] */
TB_API uint64_t tb_timer_statistics_missed(const tb_timer_statistics_t *timer);

/** "message_age", "source_to_receive", "callback_queue_delay", "processing", "processing_ros",
 * "source_to_callback", "message_period"; "unknown" for others. Static text. [any thread] [from
 * callbacks] */
TB_API const char *tb_topic_metric_name(tb_topic_metric_t metric);

/** All of it since the start, as of the last snapshot, as OpenMetrics text (version 1.0.0). Times
 * are in seconds; ages in the future are a metric of their own. The first 64 topics have series of
 * their own, the others one together, and so have the timers. `out` may be NULL if `room` is 0.
 * *out_size becomes the size of the text without a NUL, which is not written. [any thread] [from
 * callbacks] TB_ERR_LIMIT: there is not enough room, and *out_size is how much is needed.
 * TB_ERR_INVALID, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_statistics_openmetrics(const tb_statistics_t *statistics,
                                                            size_t room, char *out,
                                                            size_t *out_size);

/** Writes that text to a file, such as one that node_exporter collects: to a new file beside `path`
 * first, which is renamed, so that no reader sees a part of it. [any thread] [blocks: on the file
 * system] TB_ERR_SYSTEM: see *error (may be NULL). TB_ERR_NO_MEMORY, TB_ERR_INVALID, TB_ERR_FORKED.
 */
TB_API TB_WARN_UNUSED tb_status_t tb_statistics_save_openmetrics(const tb_statistics_t *statistics,
                                                                 const char *path,
                                                                 tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_statistics_create_sized(const tb_statistics_options_t *options,
                                              size_t options_size, tb_statistics_t **out);
TB_INLINE tb_status_t tb_statistics_create(const tb_statistics_options_t *options,
                                           tb_statistics_t **out)
{
  return tb_statistics_create_sized(options, sizeof *options, out);
}
TB_API tb_status_t tb_topic_statistics_create_sized(tb_statistics_t *statistics,
                                                    const tb_topic_statistics_options_t *options,
                                                    size_t options_size,
                                                    tb_topic_statistics_t **out);
TB_INLINE tb_status_t tb_topic_statistics_create(tb_statistics_t *statistics,
                                                 const tb_topic_statistics_options_t *options,
                                                 tb_topic_statistics_t **out)
{
  return tb_topic_statistics_create_sized(statistics, options, sizeof *options, out);
}
TB_HOT_API void tb_topic_statistics_begin_sized(tb_topic_statistics_t *topic,
                                                const tb_topic_message_t *message,
                                                size_t message_size);
TB_INLINE void tb_topic_statistics_begin(tb_topic_statistics_t *topic,
                                         const tb_topic_message_t *message)
{
  tb_topic_statistics_begin_sized(topic, message, sizeof *message);
}
TB_API tb_status_t tb_statistics_clock_sized(const tb_statistics_t *statistics,
                                             tb_clock_summary_t *out, size_t out_size);
TB_INLINE tb_status_t tb_statistics_clock(const tb_statistics_t *statistics,
                                          tb_clock_summary_t *out)
{
  return tb_statistics_clock_sized(statistics, out, sizeof *out);
}
TB_API tb_status_t tb_topic_statistics_summary_sized(const tb_topic_statistics_t *topic,
                                                     tb_topic_summary_t *out, size_t out_size);
TB_INLINE tb_status_t tb_topic_statistics_summary(const tb_topic_statistics_t *topic,
                                                  tb_topic_summary_t *out)
{
  return tb_topic_statistics_summary_sized(topic, out, sizeof *out);
}

TB_END_DECLS

#endif
