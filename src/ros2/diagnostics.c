#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_diagnostics.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "ros2/diagnostics_report.h"
#include "ros2/node.h"
#include "ros2/publisher.h"

#define HOST_SIZE 256
#define TOPIC     "/diagnostics"

struct tb_ros2_diagnostics {
  tb_ros2_publisher_t *publisher;
  char *node, *hardware_id;
  tb__diagnostics_report_t report; /* NULL in node: nothing so far */
  bool is_misused;                 /* a value before the first status */
};

/* --- making and destroying --- */

void tb_ros2_diagnostics_destroy(tb_ros2_diagnostics_t *diagnostics)
{
  if (!diagnostics) return;
  tb__diagnostics_report_fini(&diagnostics->report);
  tb_ros2_publisher_destroy(diagnostics->publisher);
  free(diagnostics->node);
  free(diagnostics->hardware_id);
  free(diagnostics);
}

tb_status_t tb_ros2_diagnostics_create(tb_ros2_node_t *node, const char *hardware_id,
                                       tb_ros2_diagnostics_t **out, tb_error_t *error)
{
  char host[HOST_SIZE] = "";
  if (!node || !out) return tb__null_argument(error, "tb_ros2_diagnostics_create");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s", tb_status_message(TB_ERR_FORKED));
  tb_ros2_diagnostics_t *diagnostics = calloc(1, sizeof *diagnostics);
  if (!diagnostics) return tb__no_memory_for(error, TOPIC);
  if (gethostname(host, sizeof host - 1)) host[0] = '\0';
  diagnostics->node = strdup(node->full_name);
  diagnostics->hardware_id = strdup(hardware_id ? hardware_id : host);
  tb_status_t status =
      diagnostics->node && diagnostics->hardware_id ? TB_OK : tb__no_memory_for(error, TOPIC);
  if (!status)
    status = tb_ros2_node_create_publisher(node, TOPIC, tb__diagnostic_array_type.name, NULL,
                                           &diagnostics->publisher, error);
  if (status)
    tb_ros2_diagnostics_destroy(diagnostics);
  else
    *out = diagnostics;
  return status;
}

/* --- a report --- */

void tb_ros2_diagnostics_begin(tb_ros2_diagnostics_t *diagnostics, tb_level_t level,
                               const char *task, const char *message)
{
  if (!diagnostics || !task || !message) return;
  tb__diagnostics_report_t *report = &diagnostics->report;
  report->node = diagnostics->node;
  report->hardware_id = diagnostics->hardware_id;
  tb__diagnostics_report_begin(report, level, task,
                               tb__diagnostics_report_text(report, "%s", message));
}

/* NULL: there is nothing to add to. */
static tb__diagnostics_report_t *open_status(tb_ros2_diagnostics_t *diagnostics, const char *key)
{
  if (!diagnostics || !key) return NULL;
  diagnostics->is_misused |= !diagnostics->report.node;
  return diagnostics->report.node ? &diagnostics->report : NULL;
}

void tb_ros2_diagnostics_add_number(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                    double number)
{
  tb__diagnostics_report_t *report = open_status(diagnostics, key);
  if (!report) return;
  tb__diagnostics_report_number(report, tb__diagnostics_report_text(report, "%s", key), number);
}

void tb_ros2_diagnostics_add_count(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                   uint64_t count)
{
  tb__diagnostics_report_t *report = open_status(diagnostics, key);
  if (!report) return;
  tb__diagnostics_report_count(report, tb__diagnostics_report_text(report, "%s", key), count);
}

void tb_ros2_diagnostics_add_text(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                  const char *text)
{
  tb__diagnostics_report_t *report = text ? open_status(diagnostics, key) : NULL;
  if (!report) return;
  tb__diagnostics_report_add(report, tb__diagnostics_report_text(report, "%s", key),
                             tb__diagnostics_report_text(report, "%s", text));
}

static tb_status_t send(tb_ros2_diagnostics_t *diagnostics, tb_time_t stamp, tb_error_t *error)
{
  tb__diagnostics_report_t *report = &diagnostics->report;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s", tb_status_message(TB_ERR_FORKED));
  if (diagnostics->is_misused)
    return tb_error_set(error, TB_ERR_INVALID, "%s: a value before the first status", TOPIC);
  if (report->status) return tb__no_memory_for(error, TOPIC);
  if (stamp.ns <= 0 || stamp.ns / TB_NS_PER_S > INT32_MAX)
    return tb_error_set(
        error, TB_ERR_RANGE,
        "%s: the stamp, %lld ns, is not above 0 and before 2038; wait for the clock", TOPIC,
        (long long)stamp.ns);
  report->array.header =
      (tb__header_message_t){.stamp = tb__diagnostics_report_time(stamp.ns), .frame_id = ""};
  return tb__ros2_publish_message(diagnostics->publisher, &tb__diagnostic_array_type,
                                  &report->array, error);
}

tb_status_t tb_ros2_diagnostics_publish(tb_ros2_diagnostics_t *diagnostics, tb_time_t stamp,
                                        tb_error_t *error)
{
  if (!diagnostics) return tb__null_argument(error, "tb_ros2_diagnostics_publish");
  tb_status_t status = send(diagnostics, stamp, error);
  tb__diagnostics_report_fini(&diagnostics->report);
  diagnostics->report = (tb__diagnostics_report_t){0};
  diagnostics->is_misused = false;
  return status;
}
