#include "bridge_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_parameter.h>
#include <unistd.h>

#include "text.h"

#define MASTER_NS  (500 * TB_NS_PER_MS) /* a command ends within a second of a signal */
#define NODE_NS    (200 * TB_NS_PER_MS)
#define SETTLED_NS (500 * TB_NS_PER_MS) /* as long nothing new on the ROS 2 graph */
#define AWAITED_NS (5 * TB_NS_PER_S)    /* for processes of ROS 2 to announce their nodes */
#define CHANGES_NS (10 * TB_NS_PER_S)   /* as long a graph that never settles is waited for */
#define LOOK_NS    TB_NS_PER_S
#define NAMES_MAX  4 /* in a message */

#define PUBLISHERS_MAX 64 /* of a topic, that are looked at */
#define NAME_SIZE      512
#define ROS1_BRIDGE    "/ros_bridge" /* of the package ros1_bridge, on both sides */

/* Whether the master answers in time. */
static tb_status_t probe(const bridge_ends_t *ends, tb_error_t *error)
{
  tb_ros1_parameter_t value = {.type = TB_ROS1_PARAMETER_OTHER};
  tb_status_t status =
      tb_ros1_parameter_get(ends->ros1, "/use_sim_time", (tb_duration_t){MASTER_NS}, &value, error);
  if (!status) tb_ros1_parameter_release(&value);
  return status == TB_ERR_NOT_FOUND ? TB_OK : status;
}

static tb_status_t take(const bridge_ends_t *ends, bridge_view_t *out, tb_error_t *error)
{
  bridge_view_t view = {.ends = ends, .own = tb_ros2_node_fully_qualified_name(ends->node)};
  tb_status_t status = probe(ends, error);
  if (!status) status = tb_ros1_graph_take(ends->ros1, (tb_duration_t){NODE_NS}, &view.ros1, error);
  if (!status) status = tb_ros2_graph_snapshot(ends->graph, &view.ros2, error);
  if (status)
    bridge_view_release(&view);
  else
    *out = view;
  return status;
}

void bridge_look_begin(bridge_look_t *look, const bridge_ends_t *ends)
{
  int64_t now_ns = bridge_now_ns(ends);
  *look = (bridge_look_t){.ends = ends,
                          .begin_ns = now_ns,
                          .changed_ns = now_ns,
                          .quiet_ns = now_ns,
                          .changes = tb_ros2_graph_changes(ends->graph)};
}

static bool is_due(bridge_look_t *look)
{
  int64_t now_ns = bridge_now_ns(look->ends);
  uint32_t changes = tb_ros2_graph_changes(look->ends->graph);
  if (changes != look->changes) look->changed_ns = now_ns;
  look->changes = changes;
  bool is_due =
      !look->taken_ns || now_ns - look->taken_ns >= LOOK_NS || changes != look->taken_changes;
  if (!is_due) return false;
  look->taken_ns = now_ns;
  look->taken_changes = changes;
  return true;
}

bool bridge_look_take(bridge_look_t *look, bridge_view_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!is_due(look)) return false;
  if (!take(look->ends, out, &error)) {
    look->has_reported_master = false;
    return true;
  }
  if (!look->has_reported_master) {
    command_begin_warning(look->ends->command);
    text_err("%s; waiting for it\n", error.text);
  }
  look->has_reported_master = true;
  return false;
}

static bool is_quiet(bridge_look_t *look, int64_t now_ns)
{
  if (now_ns - look->changed_ns >= SETTLED_NS) {
    look->quiet_ns = now_ns;
    return true;
  }
  if (now_ns - look->quiet_ns < CHANGES_NS) return false;
  if (!look->has_reported_changes) {
    command_begin_warning(look->ends->command);
    text_err("the ROS 2 graph has changed all the time for 10 s: nodes of it may not be known "
             "yet\n");
  }
  look->has_reported_changes = true;
  return true;
}

bool bridge_look_is_settled(bridge_look_t *look, const bridge_view_t *view)
{
  int64_t now_ns = bridge_now_ns(look->ends);
  if (!is_quiet(look, now_ns)) return false;
  return !view->ros2->awaited_count || now_ns - look->begin_ns >= AWAITED_NS;
}

void bridge_view_release(bridge_view_t *view)
{
  tb_ros1_graph_snapshot_release(view->ros1);
  tb_ros2_graph_snapshot_release(view->ros2);
  *view = (bridge_view_t){0};
}

/* --- ROS 1 --- */

static bool has_topic(const tb_ros1_graph_snapshot_t *graph, const uint32_t *indices,
                      uint32_t count, const char *topic)
{
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(graph->topics[indices[i]].name, topic) == 0) return true;
  return false;
}

/* Others stay registered after they were killed. */
static bool is_there(const bridge_view_t *view, const tb_ros1_graph_node_t *node)
{
  bool is_gone = node->state == TB_ROS1_NODE_DEAD || node->state == TB_ROS1_NODE_FOREIGN;
  return !is_gone && !bridge_is_own_name(view->own, node->name);
}

static size_t ros1_publishers(const bridge_view_t *view, const char *topic, const char **out,
                              size_t max)
{
  size_t count = 0;
  for (size_t i = 0; i < view->ros1->node_count; i++) {
    const tb_ros1_graph_node_t *node = &view->ros1->nodes[i];
    if (!is_there(view, node) ||
        !has_topic(view->ros1, node->publications, node->publication_count, topic))
      continue;
    if (count < max) out[count] = node->name;
    count++;
  }
  return count;
}

static bool ros1_subscribes(const bridge_view_t *view, const char *topic, const char *name)
{
  for (size_t i = 0; i < view->ros1->node_count; i++) {
    const tb_ros1_graph_node_t *node = &view->ros1->nodes[i];
    if (is_there(view, node) && strcmp(node->name, name) == 0)
      return has_topic(view->ros1, node->subscriptions, node->subscription_count, topic);
  }
  return false;
}

/* --- ROS 2 --- */

static const char *owner_of(const bridge_view_t *view, const tb_ros2_graph_endpoint_t *endpoint)
{
  if (endpoint->node >= 0) return view->ros2->nodes[endpoint->node].full_name;
  return "a program without a node";
}

bool bridge_view_is_own(const bridge_view_t *view, const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_ros2_graph_participant_t *participant =
      tb_ros2_graph_find_participant(view->ros2, endpoint->participant_guid);
  return participant && participant->is_own;
}

static size_t ros2_publishers(const bridge_view_t *view, const char *topic, const char **out,
                              size_t max)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = 0, all = tb_ros2_graph_publishers(view->ros2, topic, &publishers);
  for (size_t i = 0; i < all; i++) {
    if (bridge_view_is_own(view, &publishers[i])) continue;
    if (count < max) out[count] = owner_of(view, &publishers[i]);
    count++;
  }
  return count;
}

static bool ros2_subscribes(const bridge_view_t *view, const char *topic, const char *name)
{
  const tb_ros2_graph_endpoint_t *subscriptions = NULL;
  size_t count = tb_ros2_graph_subscriptions(view->ros2, topic, &subscriptions);
  for (size_t i = 0; i < count; i++)
    if (!bridge_view_is_own(view, &subscriptions[i]) &&
        strcmp(owner_of(view, &subscriptions[i]), name) == 0)
      return true;
  return false;
}

/* --- both --- */

size_t bridge_view_publishers(const bridge_view_t *view, bridge_side_t side, const char *topic,
                              const char **out, size_t max)
{
  return side == BRIDGE_ROS1 ? ros1_publishers(view, topic, out, max)
                             : ros2_publishers(view, topic, out, max);
}

bool bridge_view_subscribes(const bridge_view_t *view, bridge_side_t side, const char *topic,
                            const char *node)
{
  return side == BRIDGE_ROS1 ? ros1_subscribes(view, topic, node)
                             : ros2_subscribes(view, topic, node);
}

/* "/bridge_1/timebase_bridge". False: the name is too long for one. */
static bool name_mark(const char *node, char *out, size_t size)
{
  return (size_t)snprintf(out, size, "%s/timebase_bridge", node) < size;
}

static bool is_marked(const bridge_view_t *view, const char *node)
{
  char name[NAME_SIZE];
  tb_ros1_parameter_t value = {.type = TB_ROS1_PARAMETER_OTHER};
  if (strcmp(node, ROS1_BRIDGE) == 0) return true;
  if (!name_mark(node, name, sizeof name)) return false;
  tb_status_t status =
      tb_ros1_parameter_get(view->ends->ros1, name, (tb_duration_t){MASTER_NS}, &value, NULL);
  if (!status) tb_ros1_parameter_release(&value);
  return !status;
}

const char *bridge_view_bridge(const bridge_view_t *view, bridge_side_t from, const char *topic)
{
  const char *names[PUBLISHERS_MAX];
  size_t count =
      bridge_view_publishers(view, bridge_other_side(from), topic, names, PUBLISHERS_MAX);
  for (size_t i = 0; i < count && i < PUBLISHERS_MAX; i++)
    if (bridge_view_subscribes(view, from, topic, names[i]) && is_marked(view, names[i]))
      return names[i];
  return NULL;
}

const tb_ros1_graph_node_t *bridge_view_namesake(const bridge_view_t *view)
{
  const char *uri = tb_ros1_context_node_uri(view->ends->ros1);
  for (size_t i = 0; i < view->ros1->node_count; i++) {
    const tb_ros1_graph_node_t *node = &view->ros1->nodes[i];
    if (node->state != TB_ROS1_NODE_ALIVE || strcmp(node->name, view->own) != 0) continue;
    /* Processes of two containers may have one id, and both be at a port of their localhost. */
    bool is_ours = strcmp(node->uri, uri) == 0 && node->pid == (int32_t)getpid();
    if (node->pid && !is_ours) return node;
  }
  return NULL;
}

tb_status_t bridge_view_mark(const bridge_ends_t *ends)
{
  char name[NAME_SIZE];
  const tb_ros1_parameter_t value = {.type = TB_ROS1_PARAMETER_BOOL, .integer = 1};
  if (!name_mark(tb_ros2_node_fully_qualified_name(ends->node), name, sizeof name))
    return TB_ERR_LIMIT;
  return tb_ros1_parameter_set(ends->ros1, name, &value, (tb_duration_t){MASTER_NS}, NULL);
}

void bridge_view_unmark(const bridge_ends_t *ends)
{
  char name[NAME_SIZE];
  if (ends->ros1 && name_mark(tb_ros2_node_fully_qualified_name(ends->node), name, sizeof name))
    tb_ros1_parameter_delete(ends->ros1, name, (tb_duration_t){MASTER_NS}, NULL);
}

char *bridge_view_names(const bridge_view_t *view, bridge_side_t side, const char *topic)
{
  const char *names[NAMES_MAX];
  size_t count = bridge_view_publishers(view, side, topic, names, NAMES_MAX), size;
  size_t shown = count < NAMES_MAX ? count : NAMES_MAX;
  char *text = NULL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  for (size_t i = 0; i < shown; i++)
    text_to(stream, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
  if (count > shown) text_to(stream, " and %zu more", count - shown);
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}
