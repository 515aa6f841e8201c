/* The state of the outputs, without calls to the graph. Static functions need the mutex. */
#include "rosbag2/play_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "value/seconds_text.h"

#define JOIN_NS (500 * TB_NS_PER_MS) /* until a node that was found has discovered us as well */

/* --- what is sent --- */

tb_status_t tb__play_outputs_add_input(tb__play_outputs_t *outputs, const tb__guid_t *guid,
                                       const tb_bag_topic_t *topic, bool is_latched,
                                       size_t *out_input, tb_error_t *error)
{
  tb__stamp_reader_t stamps;
  tb_status_t status = tb__stamp_reader_init(&stamps, topic->type, topic, error);
  if (status) return status;
  status = TB_ERR_NO_MEMORY;
  tb__mutex_lock(&outputs->mutex);
  tb__play_input_t *inputs =
      reallocarray(outputs->inputs, outputs->input_count + 1, sizeof *inputs);
  if (inputs) {
    outputs->inputs = inputs;
    tb__play_input_t *input = &inputs[outputs->input_count];
    *input = (tb__play_input_t){.guid = *guid, .is_latched = is_latched, .stamps = stamps};
    *out_input = outputs->input_count++;
    status = TB_OK;
  }
  tb__mutex_unlock(&outputs->mutex);
  if (!status) return TB_OK;
  tb__stamp_reader_fini(&stamps);
  return tb__no_memory_for(error, "play transport");
}

void tb__play_outputs_time(tb__play_outputs_t *outputs, int64_t time_ns, bool jumps)
{
  tb__mutex_lock(&outputs->mutex);
  for (size_t i = 0; i < outputs->count; i++) {
    tb__play_output_t *output = &outputs->items[i];
    if (!jumps) {
      tb__play_lag_time(&output->lag, time_ns);
      continue;
    }
    tb__play_lag_jump(&output->lag, time_ns);
    for (size_t w = 0; w < output->writer_count; w++)
      output->writers[w].newest_ns = 0;
  }
  tb__mutex_unlock(&outputs->mutex);
}

void tb__play_outputs_sending(tb__play_outputs_t *outputs, size_t input, const void *cdr,
                              size_t size)
{
  int64_t stamp_ns = 0;
  tb__mutex_lock(&outputs->mutex);
  if (!tb__stamp_reader_read(&outputs->inputs[input].stamps, cdr, size, &stamp_ns)) stamp_ns = 0;
  for (size_t i = 0; i < outputs->count; i++)
    if (outputs->inputs[input].feeds >> i & 1) tb__play_lag_sent(&outputs->items[i].lag, stamp_ns);
  tb__mutex_unlock(&outputs->mutex);
}

/* --- what is answered --- */

static tb__play_writer_t *writer_of(tb__play_output_t *output, const tb__guid_t *guid)
{
  for (size_t i = 0; i < output->writer_count; i++)
    if (tb__guid_equal(&output->writers[i].guid, guid)) return &output->writers[i];
  size_t i = output->writer_count < TB__PLAY_WRITERS_MAX ? output->writer_count++ : 0;
  output->writers[i] = (tb__play_writer_t){.guid = *guid};
  return &output->writers[i];
}

tb_status_t tb__play_output_refuse(const tb__play_output_t *output, const char *type,
                                   tb_error_t *error)
{
  if (output->stamps.schema)
    return tb_error_set(error, TB_ERR_INVALID,
                        "output %.120s of %.120s: its type, %.120s, has no std_msgs/Header: wait "
                        "for a topic whose messages have one",
                        output->topic, output->node, type);
  return tb_error_set(error, TB_ERR_INVALID,
                      "output %.120s of %.120s: its type, %.120s, does not begin with a "
                      "std_msgs/Header, and its definition is unknown: wait for a topic whose "
                      "messages do, or set AMENT_PREFIX_PATH",
                      output->topic, output->node, type);
}

void tb__play_output_take(tb__play_output_t *output, const tb__guid_t *guid, const void *cdr,
                          size_t size)
{
  int64_t stamp_ns = 0;
  bool has_stamp = tb__stamp_reader_read(&output->stamps, cdr, size, &stamp_ns);
  tb__mutex_lock(&output->all->mutex);
  tb__play_writer_t *writer = writer_of(output, guid);
  if (!has_stamp && writer->is_awaited) {
    tb__play_output_refuse(output, output->type, &output->all->failure);
  } else if (!writer->is_awaited) {
    if (stamp_ns > writer->newest_ns) writer->newest_ns = stamp_ns;
  } else if (tb__play_lag_output(&output->lag, stamp_ns)) {
    output->newest_ns = stamp_ns;
  }
  tb__mutex_unlock(&output->all->mutex);
}

/* --- the graph --- */

static void set_presence(tb__play_output_t *output, tb__play_presence_t presence, int64_t now_ns)
{
  bool was_there = output->presence >= TB__PLAY_JOINING, is_there = presence >= TB__PLAY_JOINING;
  if (!is_there) {
    output->presence = presence;
  } else if (!was_there) {
    tb__play_lag_join(&output->lag);
    output->presence = TB__PLAY_JOINING;
    output->ready_ns = now_ns + JOIN_NS;
  } else if (now_ns >= output->ready_ns) {
    output->presence = TB__PLAY_READY;
  }
}

static bool is_of(const tb_ros2_graph_snapshot_t *graph, const tb_ros2_graph_endpoint_t *endpoint,
                  const char *node)
{
  return endpoint->node >= 0 && strcmp(graph->nodes[endpoint->node].full_name, node) == 0;
}

static void found_writer(tb__play_output_t *output, const tb_ros2_graph_endpoint_t *endpoint)
{
  if (!output->type[0]) snprintf(output->type, sizeof output->type, "%s", endpoint->type);
  output->has_key = endpoint->qos.has_key;
  if (endpoint->qos.reliability != TB_QOS_RELIABLE) output->is_best_effort = true;
  tb__guid_t guid = tb__guid_of(endpoint->guid);
  tb__play_writer_t *writer = writer_of(output, &guid);
  writer->is_awaited = true;
  if (writer->newest_ns > 0 && tb__play_lag_output(&output->lag, writer->newest_ns))
    output->newest_ns = writer->newest_ns;
  writer->newest_ns = 0;
}

static void look_for_writers(tb__play_output_t *output, const tb_ros2_graph_snapshot_t *graph,
                             int64_t now_ns)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = tb_ros2_graph_publishers(graph, output->topic, &publishers);
  tb__play_presence_t presence =
      tb_ros2_graph_find_node(graph, output->node) ? TB__PLAY_NO_OUTPUT : TB__PLAY_NO_NODE;
  for (size_t i = 0; i < count; i++) {
    if (!is_of(graph, &publishers[i], output->node)) continue;
    presence = TB__PLAY_JOINING;
    found_writer(output, &publishers[i]);
  }
  set_presence(output, presence, now_ns);
}

static const char *topic_of(const tb_ros2_graph_snapshot_t *graph, const tb__guid_t *guid)
{
  for (size_t i = 0; i < graph->endpoint_count; i++)
    if (tb__guid_is(guid, graph->endpoints[i].guid)) return graph->endpoints[i].name;
  return NULL;
}

static bool subscribes(const tb_ros2_graph_snapshot_t *graph, const char *node, const char *topic)
{
  const tb_ros2_graph_endpoint_t *subscriptions = NULL;
  size_t count = topic ? tb_ros2_graph_subscriptions(graph, topic, &subscriptions) : 0;
  for (size_t i = 0; i < count; i++)
    if (is_of(graph, &subscriptions[i], node)) return true;
  return false;
}

/* A node that subscribes to nothing that is played gets it through others: then all of it counts.
 */
static void look_for_inputs(tb__play_outputs_t *outputs, const tb_ros2_graph_snapshot_t *graph,
                            size_t index)
{
  uint64_t bit = UINT64_C(1) << index, fed = 0;
  for (size_t i = 0; i < outputs->input_count; i++) {
    tb__play_input_t *input = &outputs->inputs[i];
    bool feeds = !input->is_latched &&
                 subscribes(graph, outputs->items[index].node, topic_of(graph, &input->guid));
    input->feeds = feeds ? input->feeds | bit : input->feeds & ~bit;
    fed |= input->feeds & bit;
  }
  for (size_t i = 0; !fed && i < outputs->input_count; i++)
    if (!outputs->inputs[i].is_latched) outputs->inputs[i].feeds |= bit;
}

void tb__play_outputs_look(tb__play_outputs_t *outputs, const tb_ros2_graph_snapshot_t *graph,
                           int64_t now_ns)
{
  tb__mutex_lock(&outputs->mutex);
  for (size_t i = 0; i < outputs->count; i++) {
    look_for_writers(&outputs->items[i], graph, now_ns);
    look_for_inputs(outputs, graph, i);
  }
  tb__mutex_unlock(&outputs->mutex);
}

/* --- the limit --- */

static int64_t limit_of(const tb__play_output_t *output)
{
  return output->presence == TB__PLAY_READY ? tb__play_lag_limit(&output->lag) : 0;
}

static const tb__play_output_t *slowest(const tb__play_outputs_t *outputs)
{
  const tb__play_output_t *slowest = &outputs->items[0];
  for (size_t i = 1; i < outputs->count; i++)
    if (limit_of(&outputs->items[i]) < limit_of(slowest)) slowest = &outputs->items[i];
  return slowest;
}

tb_status_t tb__play_outputs_limit(tb__play_outputs_t *outputs, int64_t *out_ns, tb_error_t *error)
{
  tb__mutex_lock(&outputs->mutex);
  tb_status_t status = outputs->failure.status;
  if (status) tb_error_set(error, status, "%s", outputs->failure.text);
  *out_ns = limit_of(slowest(outputs));
  tb__mutex_unlock(&outputs->mutex);
  return status;
}

static void write_ready(const tb__play_output_t *output, char *out, size_t size)
{
  tb__seconds_text_t sent = tb__seconds_text(output->lag.sent_ns);
  if (output->newest_ns == 0)
    snprintf(out, size, "%s, which was sent %s s and has published nothing on %s", output->node,
             sent.text, output->topic);
  else
    snprintf(out, size, "%s, which was sent %s s and has published no more than %s s on %s",
             output->node, sent.text, tb__seconds_text(output->newest_ns).text, output->topic);
}

void tb__play_outputs_name(tb__play_outputs_t *outputs, char *out, size_t size)
{
  tb__mutex_lock(&outputs->mutex);
  const tb__play_output_t *output = slowest(outputs);
  switch (output->presence) {
  case TB__PLAY_NO_NODE:
    snprintf(out, size, "%s, to publish %s: no such node", output->node, output->topic);
    break;
  case TB__PLAY_NO_OUTPUT:
    snprintf(out, size, "%s, which does not publish %s", output->node, output->topic);
    break;
  case TB__PLAY_JOINING:
    snprintf(out, size, "%s, which has just appeared", output->node);
    break;
  case TB__PLAY_READY:
    write_ready(output, out, size);
  }
  tb__mutex_unlock(&outputs->mutex);
}
