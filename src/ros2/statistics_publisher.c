/* Reports of statistics, on a thread of its own: callbacks of the node may take their time. */
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_statistics.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/saturate.h"
#include "base/sized.h"
#include "clock/callback_context.h"
#include "held/parking.h"
#include "platform/thread.h"
#include "platform/time.h"
#include "ros2/publisher.h"
#include "ros2/statistics_report.h"
#include "wire/cdr.h"

#define PERIOD_NS     TB_NS_PER_S
#define HOST_SIZE     256
#define PATH_SIZE_MAX 4000

struct tb_ros2_statistics_publisher {
  tb_ros2_node_t *node;
  tb_statistics_t *statistics;
  tb_ros2_publisher_t *diagnostics, *metrics; /* NULL: not wanted */
  char *hardware_id, *path;
  int64_t period_ns;
  int64_t last_time_ns; /* on the clock, of the last report */
  bool has_failed;      /* and that was logged */
  bool is_started;
  tb__thread_t thread;
  _Atomic uint32_t stop; /* futex */
};

/* ---- reports ---- */

static tb_status_t publish_report(tb_ros2_statistics_publisher_t *self, tb_error_t *error)
{
  tb__statistics_report_t report;
  tb_status_t status =
      tb__statistics_report_init(&report, self->statistics, self->hardware_id, self->last_time_ns);
  if (status) return tb_error_set(error, status, "%s", tb_status_message(status));
  if (report.time_ns / TB_NS_PER_S > INT32_MAX)
    status =
        tb_error_set(error, TB_ERR_RANGE,
                     "the time of the clock, %lld s, does not fit a stamp, which ends in 2038; "
                     "check the source of the clock",
                     (long long)(report.time_ns / TB_NS_PER_S));
  if (report.time_ns > 0 && self->diagnostics && !status)
    status = tb__ros2_publish_message(self->diagnostics, &tb__diagnostic_array_type,
                                      &report.diagnostics.array, error);
  for (size_t i = 0; report.time_ns > 0 && self->metrics && i < report.metrics_count && !status;
       i++)
    status = tb__ros2_publish_message(self->metrics, &tb__metrics_message_type, &report.metrics[i],
                                      error);
  self->last_time_ns = report.time_ns;
  tb__statistics_report_fini(&report);
  return status;
}

/* None while the node follows no /clock. */
static void note_clock_publishers(const tb_ros2_statistics_publisher_t *self)
{
  tb_ros2_clock_source_status_t status = {0};
  if (tb_ros2_node_clock_source_status(self->node, &status)) status.matched = 0;
  tb_statistics_set_clock_publishers(self->statistics, status.matched);
}

/* A failure is logged once until it has been over. */
static void report_once(tb_ros2_statistics_publisher_t *self)
{
  tb_error_t error = TB_ERROR_INIT;
  note_clock_publishers(self);
  tb_status_t status = tb_statistics_snapshot(self->statistics);
  if (!status || status == TB_ERR_BUSY) status = publish_report(self, &error);
  tb_error_t file_error = TB_ERROR_INIT;
  tb_status_t saved =
      self->path ? tb_statistics_save_openmetrics(self->statistics, self->path, &file_error)
                 : TB_OK;
  if (!status && saved) {
    status = saved;
    error = file_error;
  }
  if (status && !self->has_failed)
    tb__log(TB_LOG_WARN, "statistics are not reported: %s",
            error.text[0] ? error.text : tb_status_message(status));
  self->has_failed = status != TB_OK;
}

static void *run(void *argument)
{
  tb_ros2_statistics_publisher_t *self = argument;
  int64_t next_ns = tb__add_saturated(tb__steady_now_ns(), self->period_ns);
  while (!atomic_load(&self->stop)) {
    int64_t now_ns = tb__steady_now_ns();
    if (now_ns < next_ns) {
      tb__futex_wait(&self->stop, 0, tb__deadline_at(next_ns));
      continue;
    }
    report_once(self);
    now_ns = tb__steady_now_ns();
    next_ns = tb__add_saturated(next_ns, self->period_ns);
    if (next_ns <= now_ns) next_ns = tb__add_saturated(now_ns, self->period_ns); /* some missed */
  }
  return NULL;
}

/* ---- making and destroying ---- */

void tb_ros2_statistics_publisher_destroy(tb_ros2_statistics_publisher_t *publisher)
{
  if (!publisher) return;
  if (publisher->is_started && !tb__is_forked()) {
    atomic_store(&publisher->stop, 1);
    tb__futex_wake_all(&publisher->stop);
    tb__thread_join(&publisher->thread);
  }
  tb_ros2_publisher_destroy(publisher->diagnostics);
  tb_ros2_publisher_destroy(publisher->metrics);
  free(publisher->hardware_id);
  free(publisher->path);
  free(publisher);
}

static bool copy_texts(tb_ros2_statistics_publisher_t *self,
                       const tb_ros2_statistics_options_t *options)
{
  char host[HOST_SIZE] = "";
  if (gethostname(host, sizeof host - 1)) host[0] = '\0';
  self->hardware_id = strdup(options->hardware_id ? options->hardware_id : host);
  self->path = options->openmetrics_path ? strdup(options->openmetrics_path) : NULL;
  return self->hardware_id && (self->path || !options->openmetrics_path);
}

static tb_status_t endpoints_open(tb_ros2_statistics_publisher_t *self, tb_ros2_node_t *node,
                                  const tb_ros2_statistics_options_t *options, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  if (!options->no_diagnostics)
    status = tb_ros2_node_create_publisher(node, "/diagnostics", tb__diagnostic_array_type.name,
                                           NULL, &self->diagnostics, error);
  if (!status && !options->no_statistics)
    status = tb_ros2_node_create_publisher(node, "/statistics", tb__metrics_message_type.name, NULL,
                                           &self->metrics, error);
  return status;
}

static tb_status_t publisher_create(tb_ros2_node_t *node, tb_statistics_t *statistics,
                                    const tb_ros2_statistics_options_t *options,
                                    tb_ros2_statistics_publisher_t **out, tb_error_t *error)
{
  static const tb_ros2_statistics_options_t defaults = TB_ROS2_STATISTICS_OPTIONS_INIT;
  if (!node || !statistics || !out)
    return tb__null_argument(error, "tb_ros2_statistics_publisher_create");
  if (!options) options = &defaults;
  const char *path = options->openmetrics_path;
  if (options->period.ns < 0 || (path && strnlen(path, PATH_SIZE_MAX + 1) > PATH_SIZE_MAX))
    return tb_error_set(error, TB_ERR_INVALID,
                        "publisher of statistics: the period must not be negative, and a path has "
                        "at most 4000 bytes");
  if (tb__is_forked() || tb__thread_may_not_wait()) {
    tb_status_t status = tb__is_forked() ? TB_ERR_FORKED : TB_ERR_DEADLOCK;
    return tb_error_set(error, status, "publisher of statistics: %s", tb_status_message(status));
  }
  tb_ros2_statistics_publisher_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory_for(error, "publisher of statistics");
  self->node = node;
  self->statistics = statistics;
  self->period_ns = options->period.ns ? options->period.ns : PERIOD_NS;
  tb_status_t status =
      copy_texts(self, options) ? TB_OK : tb__no_memory_for(error, "publisher of statistics");
  if (!status) status = endpoints_open(self, node, options, error);
  if (!status) {
    status = tb__thread_start(&self->thread, "tb-statistics", run, self);
    self->is_started = !status;
    if (status) tb_error_set(error, status, "publisher of statistics: no thread can be started");
  }
  if (status)
    tb_ros2_statistics_publisher_destroy(self);
  else
    *out = self;
  return status;
}

tb_status_t tb_ros2_statistics_publisher_create_sized(
    tb_ros2_node_t *node, tb_statistics_t *statistics, const tb_ros2_statistics_options_t *options,
    size_t options_size, tb_ros2_statistics_publisher_t **out, tb_error_t *error)
{
  tb_ros2_statistics_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_statistics_options_t");
  return publisher_create(node, statistics, options, out, error);
}

/* ---- samples ---- */

/* The first fields of a message with a header: sec and nanosec of its stamp. 0: it has none. */
static int64_t stamp_of(const tb_ros2_sample_t *sample)
{
  tb__cdr_reader_t reader;
  if (!sample->cdr) return 0;
  tb__cdr_reader_init(&reader, sample->cdr, sample->size);
  int64_t sec = (int32_t)(uint32_t)tb__cdr_read_number(&reader, 4);
  int64_t nanosec = (int64_t)tb__cdr_read_number(&reader, 4);
  return reader.status ? 0 : sec * TB_NS_PER_S + nanosec;
}

void tb_ros2_topic_statistics_begin_sized(tb_topic_statistics_t *topic,
                                          const tb_ros2_sample_t *sample, size_t sample_size,
                                          bool has_header)
{
  tb_ros2_sample_t known;
  if (!topic || !sample || !TB__SIZED_IN(sample, sample_size, known)) return;
  tb_topic_message_t message = {
      .stamp_ns = has_header ? stamp_of(sample) : 0,
      .source_timestamp_ns = sample->source_timestamp_ns,
      .receive_timestamp_ns = sample->receive_timestamp_ns,
      .receive_steady_ns = sample->receive_steady_ns,
      .sequence = sample->sequence,
      .has_stamp = has_header,
  };
  memcpy(message.writer_guid, sample->writer_guid, sizeof message.writer_guid);
  tb_topic_statistics_begin(topic, &message);
}
