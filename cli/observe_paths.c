/* Paths that are declared, and those that the graph has: through one node. */
#include <stdlib.h>
#include <string.h>

#include "contract/path.h"
#include "definition/definitions.h"
#include "observe.h"

#define TRIED_MAX      4096
#define OUTPUTS_NEEDED 20  /* before a candidate is judged */
#define SHARE_NEEDED   0.9 /* of the outputs with the stamp of an input */
#define SECONDS_LEAST  10
#define SECONDS_MAX    30 /* for a candidate without so many */

typedef struct observe_tried {
  const observe_topic_t *from, *to; /* topics stay */
} observe_tried_t;

/* --- one path --- */

bool observe_is_path(observe_path_t *path)
{
  if (!path->from) return false;
  if (!path->is_candidate) return true;
  pthread_mutex_lock(&path->lock);
  double outputs = (double)(path->is.outputs - path->is.early);
  double matched = (double)path->is.matched;
  pthread_mutex_unlock(&path->lock);
  return outputs >= OUTPUTS_NEEDED && matched >= SHARE_NEEDED * outputs;
}

static void set_bits(observe_t *observe, size_t index, bool is_on)
{
  uint32_t bit = 1u << index;
  const observe_path_t *path = &observe->paths[index];
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    bool is_from = is_on && strcmp(topic->name, path->from) == 0;
    bool is_to = is_on && strcmp(topic->name, path->to) == 0;
    pthread_mutex_lock(&topic->lock);
    topic->from_paths = is_from ? topic->from_paths | bit : topic->from_paths & ~bit;
    topic->to_paths = is_to ? topic->to_paths | bit : topic->to_paths & ~bit;
    pthread_mutex_unlock(&topic->lock);
  }
}

bool observe_add_path(observe_t *observe, char *from, char *to, int64_t budget_ns,
                      bool is_candidate)
{
  size_t index = 0;
  while (index < OBSERVE_PATHS_MAX && observe->paths[index].from)
    index++;
  if (!from || !to || index == OBSERVE_PATHS_MAX) {
    free(from);
    free(to);
    return false;
  }
  observe_path_t *path = &observe->paths[index];
  pthread_mutex_lock(&path->lock);
  tb__path_init(&path->is, budget_ns);
  pthread_mutex_unlock(&path->lock);
  path->from = from;
  path->to = to;
  path->is_candidate = is_candidate;
  set_bits(observe, index, true);
  return true;
}

static void remove_path(observe_t *observe, size_t index)
{
  observe_path_t *path = &observe->paths[index];
  set_bits(observe, index, false);
  free(path->from);
  free(path->to);
  path->from = path->to = NULL;
}

void observe_close_paths(observe_t *observe)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    free(observe->paths[i].from);
    free(observe->paths[i].to);
    pthread_mutex_destroy(&observe->paths[i].lock);
  }
  free(observe->paths);
  free(observe->tried);
}

/* --- candidates --- */

/* Those that are not paths make room. */
static void give_up_candidates(observe_t *observe)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    observe_path_t *path = &observe->paths[i];
    if (!path->from || !path->is_candidate || observe_is_path(path)) continue;
    pthread_mutex_lock(&path->lock);
    bool is_over = path->is.ended_windows >= SECONDS_MAX ||
                   (path->is.outputs - path->is.early >= OUTPUTS_NEEDED &&
                    path->is.ended_windows >= SECONDS_LEAST);
    pthread_mutex_unlock(&path->lock);
    if (is_over) remove_path(observe, i);
  }
}

static observe_topic_t *find_topic(const observe_t *observe, const char *name)
{
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next)
    if (strcmp(topic->name, name) == 0) return topic;
  return NULL;
}

static bool has_stamps(const observe_topic_t *topic)
{
  const tb__known_definition_t *known =
      topic && topic->entry ? tb__definition_entry_known(topic->entry) : NULL;
  return known && known->head.stamp;
}

/* Also notes that it is tried now. */
static bool is_tried(observe_t *observe, const observe_topic_t *from, const observe_topic_t *to)
{
  for (size_t i = 0; i < observe->tried_count; i++)
    if (observe->tried[i].from == from && observe->tried[i].to == to) return true;
  if (observe->tried_count == TRIED_MAX) return true;
  observe_tried_t *grown = reallocarray(observe->tried, observe->tried_count + 1, sizeof *grown);
  if (!grown) return true;
  observe->tried = grown;
  observe->tried[observe->tried_count++] = (observe_tried_t){from, to};
  return false;
}

static bool is_known(const observe_t *observe, const char *from, const char *to)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    if (observe->paths[i].from && strcmp(observe->paths[i].from, from) == 0 &&
        strcmp(observe->paths[i].to, to) == 0)
      return true;
  return false;
}

static bool has_room(const observe_t *observe)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    if (!observe->paths[i].from) return true;
  return false;
}

/* From a topic that it subscribes to, to each of those that it publishes. */
static void try_input(observe_t *observe, const tb_ros2_graph_node_t *node,
                      const observe_topic_t *from)
{
  for (size_t i = 0; i < node->endpoint_count && has_room(observe); i++) {
    const tb_ros2_graph_endpoint_t *output = &observe->snapshot->endpoints[node->endpoints[i]];
    if (!output->is_publisher || output->kind != TB_ROS2_ENDPOINT_TOPIC) continue;
    const observe_topic_t *to = find_topic(observe, output->name);
    if (!has_stamps(to) || to == from || is_known(observe, from->name, to->name) ||
        is_tried(observe, from, to))
      continue;
    observe_add_path(observe, strdup(from->name), strdup(to->name), 0, true);
  }
}

static void try_node(observe_t *observe, const tb_ros2_graph_node_t *node)
{
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *input = &observe->snapshot->endpoints[node->endpoints[i]];
    if (input->is_publisher || input->kind != TB_ROS2_ENDPOINT_TOPIC) continue;
    const observe_topic_t *from = find_topic(observe, input->name);
    if (has_stamps(from)) try_input(observe, node, from);
  }
}

void observe_end_second(observe_t *observe)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    observe_path_t *path = &observe->paths[i];
    if (!path->from) continue;
    observe_time_t now = observe_now(observe, observe_system_now(observe));
    pthread_mutex_lock(&path->lock);
    tb__path_end_window(&path->is, now.steady_ns, now.ros_ns);
    pthread_mutex_unlock(&path->lock);
  }
  if (!observe->finds_paths || !observe->snapshot) return;
  give_up_candidates(observe);
  for (size_t i = 0; i < observe->snapshot->node_count && has_room(observe); i++)
    try_node(observe, &observe->snapshot->nodes[i]);
}
