/* The thread that follows the graph for awaited outputs. */
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "platform/time.h"
#include "ros2/graph.h"
#include "rosbag2/play_outputs.h"
#include "rosbag2/play_wait_names.h"

#define DEPTH 1000 /* samples are taken as they come */

static void on_output(const tb_ros2_sample_t *sample, void *user)
{
  tb__play_output_t *output = user;
  tb__guid_t writer = tb__guid_of(sample->writer_guid);
  tb__play_output_take(output, &writer, sample->cdr, sample->size);
  tb__play_wake_call(output->all->wake);
}

static tb_status_t check_type(tb__play_output_t *output, const char *type, tb_error_t *error)
{
  tb__stamp_reader_fini(&output->stamps);
  tb_status_t status = tb__stamp_reader_init(&output->stamps, type, NULL, error);
  if (status) return status;
  return tb__stamp_reader_may_find(&output->stamps) ? TB_OK
                                                    : tb__play_output_refuse(output, type, error);
}

static tb_status_t subscribe(tb__play_output_t *output, const char *type, const tb_qos_t *qos,
                             tb_error_t *error)
{
  tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  options.callback = on_output;
  options.user = output;
  tb_status_t status = check_type(output, type, error);
  if (status) return status;
  return tb_ros2_subscription_create(output->all->context, output->topic, type, qos, &options,
                                     &output->subscription, error);
}

static void fail(tb__play_outputs_t *outputs, const tb_error_t *error)
{
  tb__mutex_lock(&outputs->mutex);
  outputs->failure = *error;
  tb__mutex_unlock(&outputs->mutex);
}

static void subscribe_to_what_was_found(tb__play_outputs_t *outputs)
{
  for (size_t i = 0; i < outputs->count; i++) {
    tb__play_output_t *output = &outputs->items[i];
    char type[sizeof output->type];
    tb_qos_t qos = TB_QOS_INIT_DEFAULT;
    qos.depth = DEPTH;
    tb_error_t error = TB_ERROR_INIT;
    tb__mutex_lock(&outputs->mutex);
    memcpy(type, output->type, sizeof type);
    qos.has_key = output->has_key;
    qos.reliability = output->is_best_effort ? TB_QOS_BEST_EFFORT : TB_QOS_RELIABLE;
    tb__mutex_unlock(&outputs->mutex);
    if (output->subscription || !type[0]) continue;
    if (subscribe(output, type, &qos, &error) != TB_OK) fail(outputs, &error);
  }
}

/* How long until the next node that has come is ready: a limit. */
static tb_duration_t next_ready(tb__play_outputs_t *outputs, int64_t now_ns)
{
  int64_t until_ns = INT64_MAX;
  tb__mutex_lock(&outputs->mutex);
  for (size_t i = 0; i < outputs->count; i++) {
    const tb__play_output_t *output = &outputs->items[i];
    if (output->presence == TB__PLAY_JOINING && output->ready_ns < until_ns)
      until_ns = output->ready_ns;
  }
  tb__mutex_unlock(&outputs->mutex);
  if (until_ns == INT64_MAX) return TB_NO_LIMIT;
  return until_ns > now_ns ? (tb_duration_t){until_ns - now_ns} : TB_NO_WAIT;
}

static void *follow(void *user)
{
  tb__play_outputs_t *outputs = user;
  while (!atomic_load(&outputs->stopping)) {
    uint32_t seen = tb_ros2_graph_changes(outputs->graph);
    const tb_ros2_graph_snapshot_t *graph = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (tb_ros2_graph_snapshot(outputs->graph, &graph, &error) == TB_OK) {
      tb__play_outputs_look(outputs, graph, tb__steady_now_ns());
      tb_ros2_graph_snapshot_release(graph);
      subscribe_to_what_was_found(outputs);
    } else {
      fail(outputs, &error);
    }
    tb__play_wake_call(outputs->wake);
    if (!atomic_load(&outputs->stopping))
      (void)!tb_ros2_graph_wait_for_change(
          outputs->graph, seen,
          &(tb_wait_options_t){.limit = next_ready(outputs, tb__steady_now_ns())});
  }
  return NULL;
}

static tb_status_t take_item(tb__play_outputs_t *outputs, const tb_ros2_play_wait_t *wait,
                             tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb__play_wait_names_t names;
  tb_status_t status = tb__play_wait_names(wait, &names, &detail);
  if (status) return tb_error_set(error, status, "play transport: to wait for: %s", detail.text);
  tb__play_output_t *output = &outputs->items[outputs->count++];
  output->all = outputs;
  output->lag.lag_ns = wait->lag.ns;
  output->topic = strdup(names.topic);
  output->node = strdup(names.node);
  return output->topic && output->node ? TB_OK : tb__no_memory_for(error, "play transport");
}

tb_status_t tb__play_outputs_start(tb__play_outputs_t *outputs, tb_ros2_context_t *context,
                                   tb_ros2_graph_t *graph,
                                   const tb_ros2_play_transport_options_t *options,
                                   tb__play_wake_t *wake, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  outputs->context = context;
  outputs->graph = graph;
  outputs->wake = wake;
  if (options->wait_count > TB__PLAY_OUTPUTS_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "play transport: at most %d outputs to wait for",
                        TB__PLAY_OUTPUTS_MAX);
  outputs->items = calloc(options->wait_count, sizeof *outputs->items);
  if (!outputs->items) return tb__no_memory_for(error, "play transport");
  for (size_t i = 0; i < options->wait_count && !status; i++)
    status = take_item(outputs, &options->waits[i], error);
  if (status) return status;
  status = tb__thread_start(&outputs->thread, "tb-outputs", follow, outputs);
  if (status)
    return tb_error_set(error, status, "play transport: cannot create a thread for outputs");
  outputs->has_thread = true;
  return TB_OK;
}

void tb__play_outputs_stop(tb__play_outputs_t *outputs)
{
  if (outputs->has_thread && !tb__is_forked()) {
    atomic_store(&outputs->stopping, true);
    tb__ros2_graph_wake(outputs->graph);
    tb__thread_join(&outputs->thread);
  }
  outputs->has_thread = false;
  for (size_t i = 0; i < outputs->count; i++) {
    tb_ros2_subscription_destroy(outputs->items[i].subscription);
    tb__stamp_reader_fini(&outputs->items[i].stamps);
    free(outputs->items[i].topic);
    free(outputs->items[i].node);
  }
  for (size_t i = 0; i < outputs->input_count; i++)
    tb__stamp_reader_fini(&outputs->inputs[i].stamps);
  free(outputs->items);
  free(outputs->inputs);
  *outputs = (tb__play_outputs_t){.count = 0};
}
