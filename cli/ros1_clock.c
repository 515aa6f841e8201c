#include "ros1_clock.h"

#include <stdio.h>
#include <string.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_context.h>

#include "findings.h"
#include "ros1_findings.h"
#include "text.h"

#define LIMIT ((tb_duration_t){300 * TB_NS_PER_MS}) /* for the answers of nodes */

_Static_assert(TB__RULE_COUNT <= 64, "a bit for each rule");

int ros1_refuse_options(const command_t *command, int domain, int64_t max_error_ns)
{
  if (domain >= 0)
    return command_usage_error(command, "--domain is of DDS; a graph of ROS 1 is that of "
                                        "ROS_MASTER_URI");
  if (max_error_ns)
    return command_usage_error(command, "--max-error cannot be measured on ROS 1, whose messages "
                                        "do not carry when they were sent");
  return EXIT_OK;
}

/* --- why there is no time --- */

static clock_reason_t reason_of(const tb_ros1_graph_snapshot_t *graph,
                                const tb_ros1_graph_node_t **out_node)
{
  clock_reason_t reason = REASON_NO_PUBLISHER;
  for (size_t i = 0; i < graph->node_count; i++) {
    const tb_ros1_graph_node_t *node = &graph->nodes[i];
    if (!node->publishes_clock || node->is_own) continue;
    *out_node = node;
    if (node->state == TB_ROS1_NODE_ALIVE) return REASON_SILENT;
    reason = REASON_DEAD;
  }
  return reason;
}

static void print_reason(const ros_clock_t *clock, const tb_ros1_graph_node_t *node)
{
  switch (clock->explained) {
  case REASON_SILENT:
    text_err("%s is published by ", clock->topic);
    text_err("%s, but no tick was received\n", node->name);
    break;
  case REASON_DEAD:
    text_err("%s is registered for ", clock->topic);
    text_err("%s, which does not answer", node->name);
    text_err(" (%s)\n", node->problem);
    break;
  default:
    text_err("no publisher of %s on the ROS 1 graph; start a simulator, 'rosbag play --clock' or "
             "'timebase serve --ros1', or check ROS_MASTER_URI\n",
             clock->topic);
  }
}

static void explain(const command_t *command, ros_clock_t *clock)
{
  tb_ros1_graph_snapshot_t *graph = NULL;
  const tb_ros1_graph_node_t *node = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_ros1_graph_take(clock->ros1, LIMIT, &graph, &error);
  clock_reason_t reason = status ? REASON_MASTER : reason_of(graph, &node);
  if (reason != clock->explained) {
    clock->explained = reason;
    text_err("timebase %s: ", command->name);
    if (reason == REASON_MASTER)
      text_err("%s\n", error.text);
    else
      print_reason(clock, node);
  }
  tb_ros1_graph_snapshot_release(graph);
}

/* --- the clock --- */

static void read_facts(const ros_clock_t *clock, ros_clock_facts_t *out)
{
  tb_ros1_clock_source_status_t status = {0};
  tb_ros1_clock_source_status(clock->source, &status);
  *out = (ros_clock_facts_t){status.connected, status.first_sample_ns, status.last_sample_ns};
}

static void leave(ros_clock_t *clock)
{
  ros1_leave(clock->ros1);
}

size_t ros1_clock_servers(const ros_clock_t *clock)
{
  tb_ros1_graph_snapshot_t *graph = NULL;
  size_t count = 0;
  if (tb_ros1_graph_take(clock->ros1, LIMIT, &graph, NULL)) return 0;
  for (size_t i = 0; i < graph->node_count; i++)
    count += graph->nodes[i].state == TB_ROS1_NODE_ALIVE && graph->nodes[i].publishes_clock;
  tb_ros1_graph_snapshot_release(graph);
  return count;
}

int ros1_clock_open(const command_t *command, const char *topic, clock_gauge_t *gauge,
                    ros_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_t *context = NULL;
  tb_ros1_clock_source_options_t options = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  *out = (ros_clock_t){.explain = explain, .read_facts = read_facts, .leave = leave};
  snprintf(out->topic, sizeof out->topic, "%s%s", topic[0] == '/' ? "" : "/", topic);
  int result = ros1_join(command, &context);
  out->ros1 = context;
  if (result) return result;
  gauge->is_fed = true;
  options.topic = out->topic;
  options.observer = ros1_gauge_feed;
  options.observer_user = gauge;
  options.sim_time = TB_ROS1_SIM_TIME_ALWAYS;
  tb_status_t status = tb_ros1_clock_source_create(context, &options, &out->source, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  tb_clock_options_t clock = {TB_TIME_ROS, out->source};
  if (!status) status = tb_clock_create(&clock, &out->clock);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

/* --- what is wrong --- */

static void print_line(const command_t *command, const tb__finding_t *finding)
{
  text_err("timebase %s: ", command->name);
  findings_print_line(stderr, finding);
}

int ros1_clock_judge(const command_t *command, ros_clock_t *clock, clock_gauge_t *gauge,
                     uint64_t *rules, bool is_quiet)
{
  static ros1_look_t look; /* large */
  uint64_t now = 0;
  look = (ros1_look_t){
      .command = command, .context = clock->ros1, .gauge = gauge, .limit = LIMIT, .is_brief = true};
  int result = ros1_look_take(&look);
  for (size_t i = 0; !result && i < tb__findings_count(look.findings); i++) {
    const tb__finding_t *finding = tb__findings_at(look.findings, i);
    uint64_t bit = UINT64_C(1) << finding->id;
    if (finding->id == TB__RULE_NODE_UNREACHABLE) continue;
    now |= bit;
    if (!finding->below && !(*rules & bit) && !is_quiet) print_line(command, finding);
  }
  ros1_look_release(&look);
  if (!result) *rules = now;
  return result;
}

void ros1_clock_print_publishers(clock_gauge_t *gauge)
{
  pthread_mutex_lock(&gauge->mutex);
  for (uint32_t i = 0; i < gauge->ticks.publisher_count; i++) {
    const clock_gauge_name_t *name = &gauge->names[i];
    bool is_known = name->id == gauge->ticks.publishers[i].id && name->name[0];
    text_err("%s", i ? " and " : "");
    text_err("%s", is_known ? name->name : "a publisher without a name");
  }
  pthread_mutex_unlock(&gauge->mutex);
}
