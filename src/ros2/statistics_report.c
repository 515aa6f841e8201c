#include "ros2/statistics_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "measure/statistics.h"

#define VALUES_MAX 40 /* of one status */
#define CHUNK_SIZE 16384

/* ---- memory ---- */

struct tb__report_chunk {
  tb__report_chunk_t *next;
  size_t used, room;
  _Alignas(16) char bytes[];
};

/* Zeroed. NULL: the report fails. */
static void *take(tb__statistics_report_t *report, size_t size)
{
  size = (size + 15) & ~(size_t)15;
  tb__report_chunk_t *chunk = report->chunks;
  if (!chunk || chunk->room - chunk->used < size) {
    size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    chunk = calloc(1, sizeof *chunk + room);
    if (!chunk) {
      report->status = TB_ERR_NO_MEMORY;
      return NULL;
    }
    chunk->room = room;
    chunk->next = report->chunks;
    report->chunks = chunk;
  }
  void *taken = chunk->bytes + chunk->used;
  chunk->used += size;
  return taken;
}

static const char *TB_PRINTF(2, 3) text(tb__statistics_report_t *report, const char *format, ...)
{
  char room[2 * TB__STATISTICS_NAME_SIZE + 64];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(room, sizeof room, format, arguments);
  va_end(arguments);
  if (size < 0) return "";
  size_t length = (size_t)size < sizeof room ? (size_t)size : sizeof room - 1;
  char *copy = take(report, length + 1);
  if (!copy) return "";
  memcpy(copy, room, length);
  return copy;
}

/* ---- diagnostics ---- */

typedef struct values {
  tb__statistics_report_t *report;
  tb__key_value_t *items;
  size_t count;
} values_t;

static void add_text(values_t *values, const char *key, const char *value)
{
  if (values->items && values->count < VALUES_MAX)
    values->items[values->count++] = (tb__key_value_t){key, value};
}

static void add_count(values_t *values, const char *key, uint64_t count)
{
  add_text(values, key, text(values->report, "%llu", (unsigned long long)count));
}

/* What is not known is left out. */
static void add_number(values_t *values, const char *key, double number)
{
  char room[TB__NUMBER_TEXT_SIZE];
  if (!isfinite(number)) return;
  tb__number_text(number, room);
  add_text(values, key, text(values->report, "%s", room));
}

static values_t values_of(tb__statistics_report_t *report)
{
  return (values_t){.report = report, .items = take(report, VALUES_MAX * sizeof(tb__key_value_t))};
}

static void add_status(const values_t *values, tb_level_t level, const char *task,
                       const char *message)
{
  tb__statistics_report_t *report = values->report;
  size_t count = report->diagnostics.status.count;
  tb__diagnostic_status_t *statuses = (tb__diagnostic_status_t *)report->diagnostics.status.items;
  if (count == report->status_room) {
    size_t room = count ? 2 * count : 16;
    tb__diagnostic_status_t *larger = take(report, room * sizeof *larger);
    if (!larger) return;
    if (count) memcpy(larger, statuses, count * sizeof *larger);
    report->diagnostics.status.items = statuses = larger;
    report->status_room = room;
  }
  statuses[count] = (tb__diagnostic_status_t){
      .level = (uint8_t)level,
      .name = text(report, "%s: %s", report->node, task),
      .message = message,
      .hardware_id = report->hardware_id,
      .values = {values->items, values->count},
  };
  report->diagnostics.status.count = count + 1;
}

/* Of the interval, in ms. */
static void add_duration(values_t *values, const char *name, const tb_histogram_t *histogram,
                         bool in_detail)
{
  tb_histogram_stats_t stats;
  tb_duration_t p99;
  tb__statistics_report_t *report = values->report;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats) || !stats.count) return;
  add_number(values, text(report, "%s_ms", name), stats.mean_ns / 1e6);
  if (!in_detail) return;
  add_number(values, text(report, "%s_min_ms", name), (double)stats.least.ns / 1e6);
  add_number(values, text(report, "%s_max_ms", name), (double)stats.greatest.ns / 1e6);
  if (!tb_histogram_quantile(histogram, TB_HISTOGRAM_INTERVAL, 0.99, &p99))
    add_number(values, text(report, "%s_p99_ms", name), (double)p99.ns / 1e6);
}

/* Steady time as time of the clock: what it would be at the current factor. */
static void add_scaled(values_t *values, const char *key, const tb_histogram_t *histogram)
{
  tb_histogram_stats_t stats;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats) || !stats.count) return;
  add_number(values, key, stats.mean_ns / 1e6 * values->report->factor);
}

/* ---- metrics ---- */

static tb__time_message_t time_message(int64_t ns)
{
  int64_t sec = ns / TB_NS_PER_S;
  if (ns < 0 || sec > INT32_MAX) return (tb__time_message_t){0, 0};
  return (tb__time_message_t){(int32_t)sec, (uint32_t)(ns % TB_NS_PER_S)};
}

static tb__metrics_message_t *add_metrics(tb__statistics_report_t *report)
{
  if (report->metrics_count == report->metrics_room) {
    size_t room = report->metrics_room ? 2 * report->metrics_room : 16;
    tb__metrics_message_t *larger = take(report, room * sizeof *larger);
    if (!larger) return NULL;
    if (report->metrics_count)
      memcpy(larger, report->metrics, report->metrics_count * sizeof *larger);
    report->metrics = larger;
    report->metrics_room = room;
  }
  return &report->metrics[report->metrics_count++];
}

/* The points are in the order of rclcpp. NaN says that there is none. */
static void add_metric(tb__statistics_report_t *report, const char *task, const char *metric,
                       const tb_histogram_t *histogram)
{
  tb_histogram_stats_t stats;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats)) return;
  tb__statistic_data_point_t *points = take(report, 5 * sizeof *points);
  tb__metrics_message_t *message = points ? add_metrics(report) : NULL;
  if (!message) return;
  bool any = stats.count > 0;
  points[0] = (tb__statistic_data_point_t){TB__STATISTIC_AVERAGE, stats.mean_ns / 1e6};
  points[1] = (tb__statistic_data_point_t){TB__STATISTIC_MAXIMUM,
                                           any ? (double)stats.greatest.ns / 1e6 : NAN};
  points[2] =
      (tb__statistic_data_point_t){TB__STATISTIC_MINIMUM, any ? (double)stats.least.ns / 1e6 : NAN};
  points[3] = (tb__statistic_data_point_t){TB__STATISTIC_COUNT, (double)stats.count};
  points[4] = (tb__statistic_data_point_t){TB__STATISTIC_DEVIATION, stats.deviation_ns / 1e6};
  bool even = report->from_ns > 0 && report->from_ns <= report->time_ns;
  *message = (tb__metrics_message_t){
      .measurement_source_name = text(report, "%s:%s", report->node, task),
      .metrics_source = metric,
      .unit = "ms",
      .window_start = time_message(even ? report->from_ns : report->time_ns),
      .window_stop = time_message(report->time_ns),
      .statistics = {points, 5},
  };
}

/* ---- what is visited ---- */

static void visit_clock(const char *node, const tb_clock_summary_t *clock, void *user)
{
  tb__statistics_report_t *report = user;
  bool paused = clock->state == TB_CLOCK_PAUSED && clock->level == TB_LEVEL_OK;
  report->node = text(report, "%s", node);
  report->factor = clock->factor;
  report->time_ns = clock->time.ns;
  report->diagnostics.header =
      (tb__header_message_t){.stamp = time_message(clock->time.ns), .frame_id = ""};
  values_t values = values_of(report);
  add_number(&values, "clock_rate_hz", clock->rate_hz);
  add_number(&values, "real_time_factor", clock->factor);
  add_count(&values, "time_jump_count",
            clock->jumps_backward + clock->jumps_forward + clock->clock_changes);
  add_count(&values, "time_jump_unhandled_count", clock->jumps_unhandled);
  add_count(&values, "time_jump_backward_count", clock->jumps_backward);
  add_count(&values, "time_jump_forward_count", clock->jumps_forward);
  add_count(&values, "clock_change_count", clock->clock_changes);
  add_count(&values, "ticks_dropped_count", clock->ticks_dropped);
  add_count(&values, "ticks_repeated_count", clock->ticks_repeated);
  add_count(&values, "clock_stall_count", clock->stalls);
  add_count(&values, "epoch", clock->epoch);
  add_status(&values, clock->level, "clock", paused ? "paused" : clock->reason);
}

static void add_topic_counts(values_t *values, const tb_topic_counts_t *counts)
{
  add_count(values, "message_count", counts->messages);
  add_count(values, "stale_epoch_count", counts->stale_epoch);
  add_count(values, "zero_stamp_count", counts->zero_stamps);
  add_count(values, "no_stamp_count", counts->no_stamp);
  add_count(values, "no_time_count", counts->no_time);
  add_count(values, "future_count", counts->future);
  add_count(values, "duplicate_count", counts->duplicates);
  add_count(values, "stamp_back_count", counts->stamps_back);
  add_count(values, "lost_count", counts->lost);
}

static void visit_topic(const tb_topic_statistics_t *topic, const tb_topic_summary_t *summary,
                        void *user)
{
  tb__statistics_report_t *report = user;
  const char *name = text(report, "%s", summary->topic);
  values_t values = values_of(report);
  for (int i = 0; i < TB_TOPIC_METRICS; i++) {
    tb_topic_metric_t metric = (tb_topic_metric_t)i;
    const tb_histogram_t *histogram = tb_topic_statistics_histogram(topic, metric);
    add_duration(&values, tb_topic_metric_name(metric), histogram, metric == TB_TOPIC_MESSAGE_AGE);
    add_metric(report, name, tb_topic_metric_name(metric), histogram);
  }
  add_scaled(&values, "callback_queue_delay_scaled_ms",
             tb_topic_statistics_histogram(topic, TB_TOPIC_CALLBACK_QUEUE_DELAY));
  add_scaled(&values, "processing_scaled_ms",
             tb_topic_statistics_histogram(topic, TB_TOPIC_PROCESSING));
  add_number(&values, "message_rate_hz", summary->rate_hz);
  add_topic_counts(&values, &summary->since_start);
  add_status(&values, summary->level, name, summary->reason);
}

static void visit_timer(const tb_timer_statistics_t *timer, const char *name, void *user)
{
  tb__statistics_report_t *report = user;
  const char *task = text(report, "timer %s", name);
  values_t values = values_of(report);
  add_duration(&values, "timer_lateness", tb_timer_statistics_lateness(timer), true);
  add_count(&values, "missed_period_count", tb_timer_statistics_missed(timer));
  add_metric(report, task, "timer_lateness", tb_timer_statistics_lateness(timer));
  add_status(&values, TB_LEVEL_OK, task, "");
}

tb_status_t tb__statistics_report_init(tb__statistics_report_t *report,
                                       const tb_statistics_t *statistics, const char *hardware_id,
                                       int64_t from_ns)
{
  static const tb__statistics_visitor_t visitor = {visit_clock, visit_topic, visit_timer};
  *report = (tb__statistics_report_t){.hardware_id = hardware_id, .from_ns = from_ns};
  tb__statistics_visit(statistics, &visitor, report);
  tb_status_t status = report->status;
  if (status) tb__statistics_report_fini(report);
  return status;
}

void tb__statistics_report_fini(tb__statistics_report_t *report)
{
  for (tb__report_chunk_t *chunk = report->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  report->chunks = NULL;
}
