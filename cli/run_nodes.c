#include "run_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

#ifdef TB_CLI_ROS2
#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>

#include "shared_times.h"

struct run_nodes {
  const run_arguments_t *arguments;
  tb_ros2_context_t *context;
  tb_ros2_graph_t *graph;
  bool is_seen[RUN_NODES_MAX], is_on_time[RUN_NODES_MAX];
};

int run_nodes_open(const command_t *command, const run_arguments_t *arguments, run_nodes_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  run_nodes_t *nodes = calloc(1, sizeof *nodes);
  if (!nodes) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  *out = nodes;
  nodes->arguments = arguments;
  options.has_domain_id = arguments->domain >= 0;
  options.domain_id = arguments->domain >= 0 ? arguments->domain : 0;
  tb_status_t status = tb_ros2_context_create(&options, &nodes->context, &error);
  if (!status) status = tb_ros2_graph_create(nodes->context, &nodes->graph, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void run_nodes_close(run_nodes_t *nodes)
{
  if (!nodes) return;
  tb_ros2_graph_destroy(nodes->graph);
  tb_ros2_context_destroy(nodes->context);
  free(nodes);
}

/* "/front/camera"; the slash may be left out. */
static bool is_named(const tb_ros2_graph_node_t *node, const char *name)
{
  return strcmp(node->full_name + (name[0] != '/'), name) == 0;
}

static void look_for(run_nodes_t *nodes, int which, const tb_ros2_graph_snapshot_t *snapshot,
                     const shared_times_t *times, const char *time_name)
{
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    const char *name;
    if (!is_named(node, nodes->arguments->nodes[which])) continue;
    nodes->is_seen[which] = true;
    shared_times_of(times, snapshot, node->participant_guid, &name);
    nodes->is_on_time[which] |= name && strcmp(name, time_name) == 0;
  }
}

bool run_nodes_have_taken(run_nodes_t *nodes, const char *name)
{
  const tb_ros2_graph_snapshot_t *snapshot;
  shared_times_t times;
  bool all = true;
  if (tb_ros2_graph_snapshot(nodes->graph, &snapshot, NULL)) return false;
  shared_times_read(&times);
  for (int i = 0; i < nodes->arguments->node_count; i++) {
    look_for(nodes, i, snapshot, &times, name);
    all = all && nodes->is_on_time[i];
  }
  shared_times_release(&times);
  tb_ros2_graph_snapshot_release(snapshot);
  return all;
}

void run_nodes_print_missing(const run_nodes_t *nodes)
{
  const char *before = "";
  for (int i = 0; i < nodes->arguments->node_count; i++) {
    if (nodes->is_on_time[i]) continue;
    text_err("%s%s node %s", before, nodes->is_seen[i] ? "the process of" : "no",
             nodes->arguments->nodes[i]);
    before = ", ";
  }
}

#else

int run_nodes_open(const command_t *command, const run_arguments_t *arguments, run_nodes_t **out)
{
  (void)arguments, (void)out;
  text_err("timebase %s: built without ROS 2, so nodes are not seen; leave --node out\n",
           command->name);
  return EXIT_IO;
}

void run_nodes_close(run_nodes_t *nodes)
{
  (void)nodes;
}

bool run_nodes_have_taken(run_nodes_t *nodes, const char *name)
{
  (void)nodes, (void)name;
  return false;
}

void run_nodes_print_missing(const run_nodes_t *nodes)
{
  (void)nodes;
}

#endif
