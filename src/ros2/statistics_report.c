#include "ros2/statistics_report.h"

#include <math.h>
#include <string.h>

#include "measure/statistics.h"

/* ---- diagnostics ---- */

/* Of the interval, in ms. */
static void add_duration(tb__diagnostics_report_t *report, const char *name,
                         const tb_histogram_t *histogram, bool in_detail)
{
  tb_histogram_stats_t stats;
  tb_duration_t p99;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats) || !stats.count) return;
  tb__diagnostics_report_number(report, tb__diagnostics_report_text(report, "%s_ms", name),
                                stats.mean_ns / 1e6);
  if (!in_detail) return;
  tb__diagnostics_report_number(report, tb__diagnostics_report_text(report, "%s_min_ms", name),
                                (double)stats.least.ns / 1e6);
  tb__diagnostics_report_number(report, tb__diagnostics_report_text(report, "%s_max_ms", name),
                                (double)stats.greatest.ns / 1e6);
  if (!tb_histogram_quantile(histogram, TB_HISTOGRAM_INTERVAL, 0.99, &p99))
    tb__diagnostics_report_number(report, tb__diagnostics_report_text(report, "%s_p99_ms", name),
                                  (double)p99.ns / 1e6);
}

/* Steady time as time of the clock: what it would be at the current factor. */
static void add_scaled(tb__statistics_report_t *report, const char *key,
                       const tb_histogram_t *histogram)
{
  tb_histogram_stats_t stats;
  if (tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats) || !stats.count) return;
  tb__diagnostics_report_number(&report->diagnostics, key, stats.mean_ns / 1e6 * report->factor);
}

/* ---- metrics ---- */

static tb__metrics_message_t *add_metrics(tb__statistics_report_t *report)
{
  if (report->metrics_count == report->metrics_room) {
    size_t room = report->metrics_room ? 2 * report->metrics_room : 16;
    tb__metrics_message_t *larger =
        tb__diagnostics_report_take(&report->diagnostics, room * sizeof *larger);
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
  tb__statistic_data_point_t *points =
      tb__diagnostics_report_take(&report->diagnostics, 5 * sizeof *points);
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
      .measurement_source_name = tb__diagnostics_report_text(&report->diagnostics, "%s:%s",
                                                             report->diagnostics.node, task),
      .metrics_source = metric,
      .unit = "ms",
      .window_start = tb__diagnostics_report_time(even ? report->from_ns : report->time_ns),
      .window_stop = tb__diagnostics_report_time(report->time_ns),
      .statistics = {points, 5},
  };
}

/* ---- what is visited ---- */

static void visit_clock(const char *node, const tb_clock_summary_t *clock, void *user)
{
  tb__statistics_report_t *report = user;
  bool paused = clock->state == TB_CLOCK_PAUSED && clock->level == TB_LEVEL_OK;
  tb__diagnostics_report_t *diagnostics = &report->diagnostics;
  diagnostics->node = tb__diagnostics_report_text(diagnostics, "%s", node);
  report->factor = clock->factor;
  report->time_ns = clock->time.ns;
  diagnostics->array.header =
      (tb__header_message_t){.stamp = tb__diagnostics_report_time(clock->time.ns), .frame_id = ""};
  tb__diagnostics_report_begin(diagnostics, clock->level, "clock",
                               paused ? "paused" : clock->reason);
  tb__diagnostics_report_number(diagnostics, "clock_rate_hz", clock->rate_hz);
  tb__diagnostics_report_number(diagnostics, "real_time_factor", clock->factor);
  tb__diagnostics_report_count(diagnostics, "time_jump_count",
                               clock->jumps_backward + clock->jumps_forward + clock->clock_changes);
  tb__diagnostics_report_count(diagnostics, "time_jump_unhandled_count", clock->jumps_unhandled);
  tb__diagnostics_report_count(diagnostics, "time_jump_backward_count", clock->jumps_backward);
  tb__diagnostics_report_count(diagnostics, "time_jump_forward_count", clock->jumps_forward);
  tb__diagnostics_report_count(diagnostics, "clock_change_count", clock->clock_changes);
  tb__diagnostics_report_count(diagnostics, "ticks_dropped_count", clock->ticks_dropped);
  tb__diagnostics_report_count(diagnostics, "ticks_repeated_count", clock->ticks_repeated);
  tb__diagnostics_report_count(diagnostics, "clock_stall_count", clock->stalls);
  tb__diagnostics_report_count(diagnostics, "epoch", clock->epoch);
}

static void add_topic_counts(tb__diagnostics_report_t *report, const tb_topic_counts_t *counts)
{
  tb__diagnostics_report_count(report, "message_count", counts->messages);
  tb__diagnostics_report_count(report, "stale_epoch_count", counts->stale_epoch);
  tb__diagnostics_report_count(report, "zero_stamp_count", counts->zero_stamps);
  tb__diagnostics_report_count(report, "no_stamp_count", counts->no_stamp);
  tb__diagnostics_report_count(report, "no_time_count", counts->no_time);
  tb__diagnostics_report_count(report, "future_count", counts->future);
  tb__diagnostics_report_count(report, "duplicate_count", counts->duplicates);
  tb__diagnostics_report_count(report, "stamp_back_count", counts->stamps_back);
  tb__diagnostics_report_count(report, "lost_count", counts->lost);
}

static void visit_topic(const tb_topic_statistics_t *topic, const tb_topic_summary_t *summary,
                        void *user)
{
  tb__statistics_report_t *report = user;
  tb__diagnostics_report_t *diagnostics = &report->diagnostics;
  const char *name = tb__diagnostics_report_text(diagnostics, "%s", summary->topic);
  tb__diagnostics_report_begin(diagnostics, summary->level, name, summary->reason);
  for (int i = 0; i < TB_TOPIC_METRICS; i++) {
    tb_topic_metric_t metric = (tb_topic_metric_t)i;
    const tb_histogram_t *histogram = tb_topic_statistics_histogram(topic, metric);
    add_duration(diagnostics, tb_topic_metric_name(metric), histogram,
                 metric == TB_TOPIC_MESSAGE_AGE);
    add_metric(report, name, tb_topic_metric_name(metric), histogram);
  }
  add_scaled(report, "callback_queue_delay_scaled_ms",
             tb_topic_statistics_histogram(topic, TB_TOPIC_CALLBACK_QUEUE_DELAY));
  add_scaled(report, "processing_scaled_ms",
             tb_topic_statistics_histogram(topic, TB_TOPIC_PROCESSING));
  tb__diagnostics_report_number(diagnostics, "message_rate_hz", summary->rate_hz);
  add_topic_counts(diagnostics, &summary->since_start);
}

static void visit_timer(const tb_timer_statistics_t *timer, const char *name, void *user)
{
  tb__statistics_report_t *report = user;
  tb__diagnostics_report_t *diagnostics = &report->diagnostics;
  const char *task = tb__diagnostics_report_text(diagnostics, "timer %s", name);
  tb__diagnostics_report_begin(diagnostics, TB_LEVEL_OK, task, "");
  add_duration(diagnostics, "timer_lateness", tb_timer_statistics_lateness(timer), true);
  tb__diagnostics_report_count(diagnostics, "missed_period_count",
                               tb_timer_statistics_missed(timer));
  add_metric(report, task, "timer_lateness", tb_timer_statistics_lateness(timer));
}

tb_status_t tb__statistics_report_init(tb__statistics_report_t *report,
                                       const tb_statistics_t *statistics, const char *hardware_id,
                                       int64_t from_ns)
{
  static const tb__statistics_visitor_t visitor = {visit_clock, visit_topic, visit_timer};
  *report = (tb__statistics_report_t){.diagnostics.hardware_id = hardware_id, .from_ns = from_ns};
  tb__statistics_visit(statistics, &visitor, report);
  tb_status_t status = report->diagnostics.status;
  if (status) tb__statistics_report_fini(report);
  return status;
}

void tb__statistics_report_fini(tb__statistics_report_t *report)
{
  tb__diagnostics_report_fini(&report->diagnostics);
}
