/* Statistics as OpenMetrics text. A family of metrics is written for all topics before the next
 * one, as the format asks for. Numbers have a point whatever the locale is. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/metric_buckets.h"
#include "base/metric_text.h"
#include "base/null_argument.h"
#include "base/number_text.h"
#include "measure/statistics.h"

/* `size` goes on beyond `room`. */
typedef struct text {
  char *out;
  size_t room, size;
} text_t;

static void put(text_t *text, const char *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++, text->size++)
    if (text->size < text->room) text->out[text->size] = bytes[i];
}

static void TB_PRINTF(2, 3) print(text_t *text, const char *format, ...)
{
  char line[512]; /* names are printed by themselves */
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (size > 0) put(text, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

static void put_to(void *text, const char *bytes, size_t size)
{
  put(text, bytes, size);
}

static tb__metric_sink_t sink_of(text_t *text)
{
  return (tb__metric_sink_t){put_to, text};
}

static void print_number(text_t *text, double value)
{
  char number[TB__NUMBER_TEXT_SIZE];
  tb__number_text(value, number);
  print(text, "%s", number);
}

/* ---- series ---- */

/* Topics, or timers, that are reported as one: usually a single one. */
typedef struct series {
  const char *node, *label, *name;
  const tb_topic_statistics_t *topic, *topic_end;
  const tb_timer_statistics_t *timer, *timer_end;
} series_t;

/* Without the brace at the end: more may follow. */
static void print_labels(text_t *text, const series_t *series)
{
  tb__metric_label(sink_of(text), "{", "node", series->node);
  if (series->label) tb__metric_label(sink_of(text), ",", series->label, series->name);
}

typedef void (*print_series_t)(text_t *text, const series_t *series, const void *of);

static void each_topic(text_t *text, const tb_statistics_t *statistics, print_series_t print_one,
                       const void *of)
{
  uint32_t number = 0;
  series_t series = {.node = statistics->node, .label = "topic"};
  for (series.topic = statistics->topics; series.topic; series.topic = series.topic_end) {
    bool own = number++ < TB__SERIES_MAX;
    series.name = own ? series.topic->topic : TB__OVERFLOW_NAME;
    series.topic_end = own ? series.topic->next : NULL;
    print_one(text, &series, of);
  }
}

static void each_timer(text_t *text, const tb_statistics_t *statistics, print_series_t print_one,
                       const void *of)
{
  uint32_t number = 0;
  series_t series = {.node = statistics->node, .label = "timer"};
  for (series.timer = statistics->timers; series.timer; series.timer = series.timer_end) {
    bool own = number++ < TB__SERIES_MAX;
    series.name = own ? series.timer->name : TB__OVERFLOW_NAME;
    series.timer_end = own ? series.timer->next : NULL;
    print_one(text, &series, of);
  }
}

/* ---- histograms ---- */

/* Which values of a histogram a family has. */
typedef enum part { ALL, NOT_NEGATIVE, NEGATIVE } part_t;

typedef struct family {
  const char *name, *help;
  tb_topic_metric_t metric;
  part_t part;
  bool may_be_negative; /* then there is no sum, as the format asks for */
} family_t;

static const family_t families[] = {
    {"timebase_message_age_seconds", "Time of the clock at the start of a callback minus the stamp",
     TB_TOPIC_MESSAGE_AGE, NOT_NEGATIVE, false},
    {"timebase_message_ahead_seconds", "The same of stamps in the future, without the sign",
     TB_TOPIC_MESSAGE_AGE, NEGATIVE, false},
    {"timebase_source_to_receive_seconds", "System time of reception minus that of publishing",
     TB_TOPIC_SOURCE_TO_RECEIVE, ALL, true},
    {"timebase_source_to_callback_seconds", "The same until the start of the callback",
     TB_TOPIC_SOURCE_TO_CALLBACK, ALL, true},
    {"timebase_callback_queue_delay_seconds", "Steady time from reception to the callback's start",
     TB_TOPIC_CALLBACK_QUEUE_DELAY, ALL, false},
    {"timebase_processing_seconds", "Steady time of callbacks", TB_TOPIC_PROCESSING, ALL, false},
    {"timebase_processing_ros_seconds", "The same on the clock", TB_TOPIC_PROCESSING_ROS, ALL,
     false},
    {"timebase_message_period_seconds", "Steady time between receptions", TB_TOPIC_MESSAGE_PERIOD,
     ALL, false},
};

static const family_t timer_lateness = {"timebase_timer_lateness_seconds",
                                        "Time of the timer's clock by which calls were late",
                                        TB_TOPIC_MESSAGE_AGE, ALL, false};

static const family_t corrected_lateness = {
    "timebase_timer_lateness_corrected_seconds",
    "The same of periodic timers, with the calls that were missed (coordinated omission)",
    TB_TOPIC_MESSAGE_AGE, ALL, false};

/* NULL: none. */
static const tb_histogram_t *lateness_of(const tb_timer_statistics_t *timer, const family_t *family)
{
  return family == &corrected_lateness ? tb_timer_statistics_corrected_lateness(timer)
                                       : timer->lateness;
}

static uint64_t count_at_most(const tb_histogram_t *histogram, int64_t limit_ns)
{
  uint64_t count = 0;
  tb_histogram_count_at_most(histogram, TB_HISTOGRAM_SINCE_START, (tb_duration_t){limit_ns},
                             &count);
  return count;
}

/* How many values of the part are at most `limit_ns`, which is not negative unless all count. */
static uint64_t part_at_most(const tb_histogram_t *histogram, part_t part, int64_t limit_ns)
{
  if (part == ALL) return count_at_most(histogram, limit_ns);
  uint64_t negative = count_at_most(histogram, -1);
  if (part == NOT_NEGATIVE) return count_at_most(histogram, limit_ns) - negative;
  return limit_ns == INT64_MAX ? negative : negative - count_at_most(histogram, -limit_ns - 1);
}

/* Of the values within an hour. */
static double sum_of(const tb_histogram_t *histogram)
{
  tb_histogram_stats_t stats;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_SINCE_START, &stats)) return 0;
  uint64_t count = stats.count - stats.below - stats.above;
  return count ? stats.mean_ns * (double)count : 0;
}

static double part_sum(const series_t *series, const family_t *family)
{
  double sum_ns = 0;
  for (const tb_timer_statistics_t *timer = series->timer; timer != series->timer_end;
       timer = timer->next)
    sum_ns += sum_of(lateness_of(timer, family)); /* 0 without one */
  for (const tb_topic_statistics_t *topic = series->topic; topic != series->topic_end;
       topic = topic->next) {
    double ahead_ns = (double)topic->ahead_sum_at_snapshot;
    if (family->part == NEGATIVE)
      sum_ns += ahead_ns;
    else
      sum_ns +=
          sum_of(topic->histograms[family->metric]) + (family->part == NOT_NEGATIVE ? ahead_ns : 0);
  }
  return sum_ns > 0 ? sum_ns : 0;
}

static uint64_t series_at_most(const series_t *series, const family_t *family, int64_t limit_ns)
{
  uint64_t count = 0;
  for (const tb_timer_statistics_t *timer = series->timer; timer != series->timer_end;
       timer = timer->next)
    count += count_at_most(lateness_of(timer, family), limit_ns);
  for (const tb_topic_statistics_t *topic = series->topic; topic != series->topic_end;
       topic = topic->next)
    count += part_at_most(topic->histograms[family->metric], family->part, limit_ns);
  return count;
}

/* Only timers with a period have corrected values. */
static bool has_values(const series_t *series, const family_t *family)
{
  if (family != &corrected_lateness) return true;
  const tb_timer_statistics_t *timer = series->timer;
  while (timer != series->timer_end && !lateness_of(timer, family))
    timer = timer->next;
  return timer != series->timer_end;
}

static void print_histogram(text_t *text, const series_t *series, const void *of)
{
  const family_t *family = of;
  uint64_t count = 0;
  if (!has_values(series, family)) return;
  size_t first = family->may_be_negative ? 0 : TB__FIRST_POSITIVE_BUCKET;
  for (size_t i = first; i < TB__METRIC_BUCKET_COUNT; i++) {
    count = series_at_most(series, family, tb__metric_buckets[i].ns);
    print(text, "%s_bucket", family->name);
    print_labels(text, series);
    tb__metric_label(sink_of(text), ",", "le", tb__metric_buckets[i].text);
    print(text, "} %llu\n", (unsigned long long)count);
  }
  if (family->may_be_negative) return;
  print(text, "%s_count", family->name);
  print_labels(text, series);
  print(text, "} %llu\n%s_sum", (unsigned long long)count, family->name);
  print_labels(text, series);
  print(text, "} ");
  print_number(text, part_sum(series, family) / 1e9);
  print(text, "\n");
}

static void print_head(text_t *text, const char *name, const char *type, const char *unit,
                       const char *help)
{
  tb__metric_head(sink_of(text), name, type, unit, help);
}

/* ---- counters ---- */

typedef struct counter {
  const char *name, *help, *extra; /* one more label, or NULL */
  size_t offset;                   /* in tb_topic_counts_t */
} counter_t;

#define COUNT_OF(member) offsetof(tb_topic_counts_t, member)

static const counter_t counters[] = {
    {"timebase_messages", "Messages", NULL, COUNT_OF(messages)},
    {"timebase_messages_unaged", "Messages without an age", "stale_epoch", COUNT_OF(stale_epoch)},
    {"timebase_messages_unaged", NULL, "zero_stamp", COUNT_OF(zero_stamps)},
    {"timebase_messages_unaged", NULL, "no_stamp", COUNT_OF(no_stamp)},
    {"timebase_messages_unaged", NULL, "no_time", COUNT_OF(no_time)},
    {"timebase_messages_future", "Stamps later than the limit allows", NULL, COUNT_OF(future)},
};

static void print_counter(text_t *text, const series_t *series, const void *of)
{
  const counter_t *counter = of;
  uint64_t sum = 0;
  for (const tb_topic_statistics_t *topic = series->topic; topic != series->topic_end;
       topic = topic->next)
    sum += *(const uint64_t *)(const void *)((const char *)&topic->summary.since_start +
                                             counter->offset);
  print(text, "%s_total", counter->name);
  print_labels(text, series);
  if (counter->extra) tb__metric_label(sink_of(text), ",", "reason", counter->extra);
  print(text, "} %llu\n", (unsigned long long)sum);
}

static void print_lost_of(text_t *text, const series_t *series, const char *publisher,
                          uint64_t lost)
{
  print(text, "timebase_messages_lost_total");
  print_labels(text, series);
  tb__metric_label(sink_of(text), ",", "publisher", publisher);
  print(text, "} %llu\n", (unsigned long long)lost);
}

/* Of each publisher; of topics that share a series, all together. */
static void print_lost(text_t *text, const series_t *series, const void *of)
{
  (void)of;
  uint64_t sum = 0;
  bool own =
      series->topic_end == series->topic->next && strcmp(series->name, TB__OVERFLOW_NAME) != 0;
  for (const tb_topic_statistics_t *topic = series->topic; topic != series->topic_end;
       topic = topic->next) {
    sum += topic->summary.since_start.lost;
    uint32_t publishers = topic->summary.publishers, own_series = TB__PUBLISHERS;
    if (publishers < own_series) own_series = publishers;
    for (uint32_t i = 0; i < own_series && own; i++) {
      const tb__seen_publisher_t *publisher = &topic->publishers[i];
      char name[2 * sizeof publisher->guid + 1];
      for (size_t byte = 0; byte < sizeof publisher->guid; byte++)
        snprintf(name + 2 * byte, 3, "%02x", publisher->guid[byte]);
      print_lost_of(text, series, name, tb__count_of(&publisher->lost));
    }
    if (own && publishers > own_series)
      print_lost_of(text, series, TB__OVERFLOW_NAME, tb__count_of(&topic->other_lost));
  }
  if (!own) print_lost_of(text, series, TB__OVERFLOW_NAME, sum);
}

static void print_missed(text_t *text, const series_t *series, const void *of)
{
  (void)of;
  uint64_t sum = 0;
  for (const tb_timer_statistics_t *timer = series->timer; timer != series->timer_end;
       timer = timer->next)
    sum += tb__count_of(&timer->missed);
  print(text, "timebase_missed_periods_total");
  print_labels(text, series);
  print(text, "} %llu\n", (unsigned long long)sum);
}

/* Of the node, with one more label or none. */
static void print_of_node(text_t *text, const tb_statistics_t *statistics, const char *name,
                          const char *labels, uint64_t value)
{
  const series_t series = {.node = statistics->node};
  print(text, "%s_total", name);
  print_labels(text, &series);
  print(text, "%s} %llu\n", labels, (unsigned long long)value);
}

static void print_gauge(text_t *text, const tb_statistics_t *statistics, const char *name,
                        double value)
{
  const series_t series = {.node = statistics->node};
  print(text, "%s", name);
  print_labels(text, &series);
  print(text, "} ");
  print_number(text, value);
  print(text, "\n");
}

static void print_clock(text_t *text, const tb_statistics_t *statistics)
{
  const tb_clock_summary_t *clock = &statistics->summary;
  const char *jumps = "timebase_time_jumps", *ticks = "timebase_ticks_dropped";
  print_head(text, jumps, "counter", NULL, "Jumps whose handlers have all returned");
  print_of_node(text, statistics, jumps, ",direction=\"backward\"", clock->jumps_backward);
  print_of_node(text, statistics, jumps, ",direction=\"forward\"", clock->jumps_forward);
  print_of_node(text, statistics, jumps, ",direction=\"source\"", clock->clock_changes);
  print_head(text, "timebase_time_jumps_unhandled", "gauge", NULL, "Jumps that are in progress");
  print_gauge(text, statistics, "timebase_time_jumps_unhandled", (double)clock->jumps_unhandled);
  print_head(text, ticks, "counter", NULL, "Ticks that moved nothing");
  print_of_node(text, statistics, ticks, ",reason=\"invalid\"", clock->ticks_dropped);
  print_of_node(text, statistics, ticks, ",reason=\"repeated\"", clock->ticks_repeated);
  print_head(text, "timebase_clock_stalls", "counter", NULL, "Times that ticks stopped");
  print_of_node(text, statistics, "timebase_clock_stalls", "", clock->stalls);
  print_head(text, "timebase_clock_rate_hertz", "gauge", "hertz", "Ticks that moved time");
  print_gauge(text, statistics, "timebase_clock_rate_hertz", clock->rate_hz);
  print_head(text, "timebase_real_time_factor", "gauge", NULL,
             "Seconds of the clock a steady second");
  print_gauge(text, statistics, "timebase_real_time_factor", clock->factor);
  int64_t publishers = atomic_load(&statistics->clock_publishers);
  if (publishers < 0) return;
  print_head(text, "timebase_clock_publishers", "gauge", NULL, "Publishers of the clock");
  print_gauge(text, statistics, "timebase_clock_publishers", (double)publishers);
}

/* ---- all of it ---- */

static void print_all_locked(text_t *text, const tb_statistics_t *statistics)
{
  print_head(text, "timebase_node", "info", NULL, "The node that was measured");
  print(text, "timebase_node_info");
  print_labels(text, &(series_t){.node = statistics->node});
  print(text, "} 1\n");
  print_clock(text, statistics);
  for (size_t i = 0; i < sizeof families / sizeof *families && statistics->topics; i++) {
    print_head(text, families[i].name, "histogram", "seconds", families[i].help);
    each_topic(text, statistics, print_histogram, &families[i]);
  }
  for (size_t i = 0; i < sizeof counters / sizeof *counters && statistics->topics; i++) {
    if (counters[i].help) print_head(text, counters[i].name, "counter", NULL, counters[i].help);
    each_topic(text, statistics, print_counter, &counters[i]);
  }
  if (statistics->topics) {
    print_head(text, "timebase_messages_lost", "counter", NULL, "Gaps in a publisher's numbers");
    each_topic(text, statistics, print_lost, NULL);
  }
  if (statistics->timers) {
    print_head(text, timer_lateness.name, "histogram", "seconds", timer_lateness.help);
    each_timer(text, statistics, print_histogram, &timer_lateness);
    print_head(text, corrected_lateness.name, "histogram", "seconds", corrected_lateness.help);
    each_timer(text, statistics, print_histogram, &corrected_lateness);
    print_head(text, "timebase_missed_periods", "counter", NULL, "Periods without a call");
    each_timer(text, statistics, print_missed, NULL);
  }
  print(text, "# EOF\n");
}

tb_status_t tb_statistics_openmetrics(const tb_statistics_t *statistics, size_t room, char *out,
                                      size_t *out_size)
{
  if (!statistics || !out_size || (!out && room)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  text_t text = {.out = out, .room = room};
  tb__mutex_t *mutex = (tb__mutex_t *)&statistics->mutex;
  tb__mutex_lock(mutex);
  print_all_locked(&text, statistics);
  tb__mutex_unlock(mutex);
  *out_size = text.size;
  return text.size <= room ? TB_OK : TB_ERR_LIMIT;
}

/* ---- in a file ---- */

/* To be freed. */
static tb_status_t text_of(const tb_statistics_t *statistics, char **out, size_t *out_size)
{
  size_t room = 0;
  *out = NULL;
  for (;;) { /* it may have grown since it was measured */
    tb_status_t status = tb_statistics_openmetrics(statistics, room, *out, out_size);
    if (status != TB_ERR_LIMIT) return status;
    room = *out_size;
    char *larger = realloc(*out, room);
    if (!larger) return TB_ERR_NO_MEMORY;
    *out = larger;
  }
}

/* False: see errno. */
static bool write_all(int fd, const char *text, size_t size)
{
  while (size) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    size -= (size_t)written;
  }
  return true;
}

/* Beside the file, with a name that no other process or thread uses; one that has been left by a
 * process that was killed is written over. */
static char *name_beside(const char *path)
{
  static _Atomic uint32_t number;
  size_t size = strlen(path) + 40;
  char *name = malloc(size);
  if (name)
    snprintf(name, size, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&number, 1));
  return name;
}

static tb_status_t write_file(const char *path, const char *beside, const char *text, size_t size,
                              tb_error_t *error)
{
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  bool written = fd >= 0 && write_all(fd, text, size);
  int reason = errno;
  if (fd >= 0 && close(fd) && written) {
    written = false;
    reason = errno;
  }
  if (written && !rename(beside, path)) return TB_OK;
  if (written) reason = errno;
  if (fd >= 0) unlink(beside);
  return tb_error_set(error, TB_ERR_SYSTEM,
                      "cannot write metrics to %.200s: %s; check that its folder exists and can be "
                      "written to",
                      path, strerror(reason));
}

tb_status_t tb_statistics_save_openmetrics(const tb_statistics_t *statistics, const char *path,
                                           tb_error_t *error)
{
  if (!statistics || !path) return tb__null_argument(error, "tb_statistics_save_openmetrics");
  char *text = NULL, *beside = name_beside(path);
  size_t size = 0;
  tb_status_t status = beside ? text_of(statistics, &text, &size) : TB_ERR_NO_MEMORY;
  if (status)
    tb_error_set(error, status, "metrics for %.200s: %s", path, tb_status_message(status));
  else
    status = write_file(path, beside, text, size, error);
  free(text);
  free(beside);
  return status;
}
