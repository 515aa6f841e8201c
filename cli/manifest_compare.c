#include "manifest_compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/name_pattern.h"
#include "json.h"
#include "manifest_graph.h"
#include "text.h"

typedef struct comparison {
  const tb__manifest_t *manifest;
  manifest_graph_t graph;
  json_t *differences, *notes; /* NULL: printed */
  size_t count;                /* of differences */
} comparison_t;

static void report(comparison_t *comparison, bool is_difference, const char *kind, const char *name,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

static void report(comparison_t *comparison, bool is_difference, const char *kind, const char *name,
                   const char *format, ...)
{
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  comparison->count += is_difference;
  if (length < 0) return;
  if (!comparison->differences) {
    text_out("%s: %s %s: %s\n", is_difference ? "differs" : "note", kind, name, text);
  } else {
    json_t *item = json_object();
    json_put(item, "kind", json_string(kind));
    json_put(item, "name", text_json(name));
    json_put(item, "text", text_json(text));
    json_push(is_difference ? comparison->differences : comparison->notes, item);
  }
  free(text);
}

static bool is_pattern(const char *name)
{
  return strchr(name, '*');
}

/* --- nodes --- */

static void compare_sim_time(comparison_t *comparison, size_t index)
{
  const char *name = comparison->graph.view.snapshot->nodes[index].full_name;
  tb__known_bool_t observed = manifest_graph_sim_time(&comparison->graph, index);
  const tb__manifest_node_t *node = tb__manifest_node(comparison->manifest, name, NULL);
  tb__base_verdict_t verdict = comparison->graph.verdicts[index];
  if (observed == TB__IS_NOT_KNOWN)
    report(comparison, false, "node", name, "its time could not be observed (%s); declared: %s",
           node_time_name(comparison->graph.times[index].sim_time),
           node->use_sim_time ? "simulated time" : "wall time");
  else if ((observed == TB__IS_TRUE) != node->use_sim_time)
    report(comparison, true, "node", name, "it is on %s (%s), declared is %s",
           observed == TB__IS_TRUE ? "simulated time" : "wall time",
           tb__base_evidence_text(verdict), node->use_sim_time ? "simulated time" : "wall time");
}

/* What only the manifest knows, of a node that is there. */
static void list_declared(comparison_t *comparison, const char *name,
                          const tb__manifest_node_t *node)
{
  for (int i = 0; i < TB__KIND_COUNT; i++) {
    tb__time_kind_t kind = (tb__time_kind_t)i;
    if (node->has_base[i] && !tb__time_kind_is_observable(kind))
      report(comparison, false, "node", name, "%s are declared to be %s, which cannot be observed",
             tb__time_kind_name(kind), tb__time_base_name(node->bases[i]));
  }
}

static bool has_node(const comparison_t *comparison, const char *name)
{
  const tb_ros2_graph_snapshot_t *snapshot = comparison->graph.view.snapshot;
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (tb__name_matches(name, snapshot->nodes[i].full_name)) return true;
  return false;
}

static void compare_nodes(comparison_t *comparison)
{
  const tb_ros2_graph_snapshot_t *snapshot = comparison->graph.view.snapshot;
  for (size_t i = 0; i < comparison->manifest->node_count; i++) {
    const tb__manifest_node_t *node = &comparison->manifest->nodes[i];
    if (!has_node(comparison, node->name))
      report(comparison, !is_pattern(node->name), "node", node->name, "%s",
             is_pattern(node->name) ? "no node matches it" : "it is not on the graph");
  }
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const char *name = snapshot->nodes[i].full_name;
    bool is_declared = false;
    const tb__manifest_node_t *node = tb__manifest_node(comparison->manifest, name, &is_declared);
    if (tb__base_is_tool(name) || graph_view_is_repeated(&comparison->graph.view, i)) continue;
    if (snapshot->nodes[i].is_duplicate)
      report(comparison, true, "node", name, "several nodes have this name");
    if (!is_declared) {
      report(comparison, false, "node", name, "the manifest does not name it");
      continue;
    }
    compare_sim_time(comparison, i);
    list_declared(comparison, name, node);
  }
}

/* --- the clock --- */

static void compare_publisher(comparison_t *comparison, const char *topic)
{
  const manifest_graph_t *graph = &comparison->graph;
  const tb__manifest_clock_t *clock = &comparison->manifest->clock;
  const tb_ros2_graph_endpoint_t *first = &graph->clocks[0];
  const char *owner = manifest_graph_owner(graph, first);
  if (graph->clock_count > 1)
    report(comparison, true, "clock", topic, "it has %zu publishers, where one is right",
           graph->clock_count);
  if (clock->publisher && (!owner || strcmp(owner, clock->publisher) != 0))
    report(comparison, true, "clock", topic, "its publisher is %s, declared is %s",
           owner ? owner : "not a node", clock->publisher);
  if (!clock->has_qos) return;
  if (first->qos.reliability != clock->reliability)
    report(comparison, true, "clock", topic, "it is offered %s, declared is %s",
           first->qos.reliability == TB_QOS_RELIABLE ? "reliable" : "best effort",
           clock->reliability == TB_QOS_RELIABLE ? "reliable" : "best effort");
  if (first->qos.durability != clock->durability)
    report(comparison, true, "clock", topic, "it is offered %s, declared is %s",
           first->qos.durability == TB_QOS_VOLATILE ? "volatile" : "transient local",
           clock->durability == TB_QOS_VOLATILE ? "volatile" : "transient local");
  if (clock->depth && first->qos.history == TB_QOS_KEEP_LAST && first->qos.depth != clock->depth)
    report(comparison, true, "clock", topic, "it is offered with depth %d, declared is %d",
           (int)first->qos.depth, (int)clock->depth);
}

static void compare_rate(comparison_t *comparison, const char *topic)
{
  const manifest_graph_t *graph = &comparison->graph;
  const tb__manifest_clock_t *clock = &comparison->manifest->clock;
  double part = comparison->manifest->limits.rate_warn;
  if (clock->rate_hz > 0 && graph->rate_hz > 0 &&
      fabs(graph->rate_hz - clock->rate_hz) > part * clock->rate_hz)
    report(comparison, true, "clock", topic,
           "its rate is %.3g Hz, declared is %.3g Hz (within %.3g %%)", graph->rate_hz,
           clock->rate_hz, 100 * part);
  if (clock->factor_min > 0 && graph->factor > 0 &&
      (graph->factor < clock->factor_min * (1 - part) ||
       graph->factor > clock->factor_max * (1 + part)))
    report(comparison, true, "clock", topic,
           "its factor is %.3g, declared is %.3g to %.3g (within %.3g %%)", graph->factor,
           clock->factor_min, clock->factor_max, 100 * part);
  if (clock->rate_hz > 0 && graph->rate_hz <= 0)
    report(comparison, false, "clock", topic, "its rate could not be measured: %s",
           graph->ticks ? "too few ticks came" : "no tick came");
}

static void compare_clock(comparison_t *comparison)
{
  const char *topic = comparison->manifest->clock.topic;
  const manifest_graph_t *graph = &comparison->graph;
  if (!topic) {
    if (graph->clock_count)
      report(comparison, true, "clock", "/clock",
             "it has a publisher, and mode vehicle declares none");
    return;
  }
  if (!graph->clock_count) {
    report(comparison, true, "clock", topic, "nothing publishes it");
    return;
  }
  compare_publisher(comparison, topic);
  compare_rate(comparison, topic);
}

/* --- topics --- */

/* A type that is published there; NULL: nothing is. */
static const char *published_type(const comparison_t *comparison, const char *name)
{
  const tb_ros2_graph_endpoint_t *first = NULL;
  return tb_ros2_graph_publishers(comparison->graph.view.snapshot, name, &first) ? first->type
                                                                                 : NULL;
}

static bool is_any_published(const comparison_t *comparison, const char *pattern)
{
  const tb_ros2_graph_snapshot_t *snapshot = comparison->graph.view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    if (snapshot->endpoints[i].kind == TB_ROS2_ENDPOINT_TOPIC &&
        snapshot->endpoints[i].is_publisher &&
        tb__name_matches(pattern, snapshot->endpoints[i].name))
      return true;
  return false;
}

static void compare_topics(comparison_t *comparison)
{
  const tb__manifest_t *manifest = comparison->manifest;
  for (size_t i = 0; i < manifest->topic_count; i++) {
    const tb__manifest_topic_t *topic = &manifest->topics[i];
    const char *type = published_type(comparison, topic->name);
    if (is_pattern(topic->name)) {
      if (!is_any_published(comparison, topic->name))
        report(comparison, false, "topic", topic->name, "no published topic matches it");
    } else if (!type) {
      report(comparison, true, "topic", topic->name, "nothing publishes it");
    } else if (topic->type && strcmp(topic->type, type) != 0) {
      report(comparison, true, "topic", topic->name, "its type is %s, declared is %s", type,
             topic->type);
    }
  }
  for (size_t i = 0; i < manifest->path_count; i++) {
    const char *ends[] = {manifest->paths[i].from, manifest->paths[i].to};
    for (size_t j = 0; j < 2; j++)
      if (!published_type(comparison, ends[j]))
        report(comparison, true, "path", ends[j], "nothing publishes it");
  }
  for (size_t i = 0; i < manifest->evidence.count; i++) {
    const char *name = manifest->evidence.items[i];
    bool is_own = strncmp(name, "/timebase/", strlen("/timebase/")) == 0;
    bool is_clock = manifest->clock.topic && strcmp(name, manifest->clock.topic) == 0;
    if (is_own || is_clock || is_any_published(comparison, name)) continue;
    report(comparison, manifest->has_evidence, "evidence", name, "nothing publishes it");
  }
}

int manifest_compare(const command_t *command, const graph_options_t *options,
                     const tb__manifest_t *manifest, json_t *root)
{
  comparison_t comparison = {.manifest = manifest};
  if (root) {
    comparison.differences = json_array();
    comparison.notes = json_array();
    json_put(root, "differences", comparison.differences);
    json_put(root, "notes", comparison.notes);
  }
  int result = manifest_graph_open(command, options, manifest->clock.topic, &comparison.graph);
  if (!result) {
    compare_clock(&comparison);
    compare_nodes(&comparison);
    compare_topics(&comparison);
    if (comparison.count) result = EXIT_CHECK;
  }
  manifest_graph_close(&comparison.graph);
  return result;
}
