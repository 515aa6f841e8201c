#include "run_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#ifdef TB_CLI_ROS2
#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>

#include "shared_times.h"
#include "similar.h"

#define NAMES_MAX 5 /* of nodes, in a message */

struct run_nodes {
  const run_arguments_t *arguments;
  tb_ros2_context_t *context;
  tb_ros2_graph_t *graph;
  bool is_seen[RUN_NODES_MAX], is_on_time[RUN_NODES_MAX], is_unknown[RUN_NODES_MAX];
  char other[RUN_NODES_MAX][65]; /* the time that it follows instead */
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

static bool is_similar_node(const tb_ros2_graph_node_t *node, const char *name)
{
  return is_similar(name, node->full_name + (name[0] != '/'));
}

static void look_for(run_nodes_t *nodes, int which, const tb_ros2_graph_snapshot_t *snapshot,
                     const shared_times_t *times, const char *time_name)
{
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    const char *name;
    if (!is_named(node, nodes->arguments->nodes[which])) continue;
    nodes->is_seen[which] = true;
    shared_time_t time = shared_times_of(times, snapshot, node->participant_guid, &name);
    nodes->is_unknown[which] = time == SHARED_TIME_UNKNOWN;
    nodes->is_on_time[which] |= name && strcmp(name, time_name) == 0;
    snprintf(nodes->other[which], sizeof nodes->other[which], "%s",
             name && strcmp(name, time_name) != 0 ? name : "");
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

/* Those that it may be a misspelling of, or else what there is. */
static void print_no_node(const tb_ros2_graph_snapshot_t *snapshot, const char *name)
{
  size_t similar = 0, count = 0;
  for (size_t i = 0; i < snapshot->node_count; i++)
    similar += is_similar_node(&snapshot->nodes[i], name);
  text_err("there is no node %s", name);
  for (size_t i = 0; i < snapshot->node_count && count < NAMES_MAX; i++) {
    const char *found = snapshot->nodes[i].full_name;
    if (similar && !is_similar_node(&snapshot->nodes[i], name)) continue;
    text_err("%s", count++   ? similar ? " or " : ", "
                   : similar ? "; did you mean "
                             : "; there are ");
    text_err("%s", found);
  }
  if (similar)
    text_err("?");
  else if (count < snapshot->node_count)
    text_err(" and %zu more", snapshot->node_count - count);
  else if (!count)
    text_err(", and no other one; check ROS_DOMAIN_ID");
}

/* False: why the process of one does not follow is still to be explained. */
static bool print_node(const run_nodes_t *nodes, int which,
                       const tb_ros2_graph_snapshot_t *snapshot, const char *source,
                       const char *when)
{
  const char *name = nodes->arguments->nodes[which];
  text_err("timebase run: ");
  if (!nodes->is_seen[which]) {
    print_no_node(snapshot, name);
    text_err("\n");
    return true;
  }
  text_err("the process of node %s has not taken the time of %s %s", name, source, when);
  if (nodes->other[which][0]) text_err(": it follows shm:%s", nodes->other[which]);
  if (nodes->is_unknown[which])
    text_err(": which process it is in is not known (another host, container or middleware)");
  text_err("\n");
  return nodes->other[which][0] || nodes->is_unknown[which];
}

bool run_nodes_print_missing(const run_nodes_t *nodes, const char *source, const char *when)
{
  const tb_ros2_graph_snapshot_t *snapshot;
  bool is_explained = true;
  if (tb_ros2_graph_snapshot(nodes->graph, &snapshot, NULL)) return false;
  for (int i = 0; i < nodes->arguments->node_count; i++)
    if (!nodes->is_on_time[i] && !print_node(nodes, i, snapshot, source, when))
      is_explained = false;
  tb_ros2_graph_snapshot_release(snapshot);
  return is_explained;
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

bool run_nodes_print_missing(const run_nodes_t *nodes, const char *source, const char *when)
{
  (void)nodes, (void)source, (void)when;
  return false;
}

#endif
