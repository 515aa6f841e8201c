#include "manifest_graph.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/timeline.h>

#include "text.h"
#include "unnamed.h"

#define OBSERVED_NS TB_NS_PER_S       /* from the first tick on */
#define SILENCE_NS  (2 * TB_NS_PER_S) /* after which none is awaited any more */
#define SLICE_NS    (20 * TB_NS_PER_MS)

typedef struct ticks {
  tb_source_t *source;
  tb_clock_t *clock;
} ticks_t;

static bool is_of_clock_type(const tb_ros2_graph_endpoint_t *endpoint)
{
  return strcmp(endpoint->type, "rosgraph_msgs/msg/Clock") == 0;
}

/* --- observing the clock --- */

static int ticks_open(const graph_view_t *view, const char *topic, ticks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  options.topic = topic;
  tb_status_t status = tb_ros2_clock_source_create(view->context, &options, &out->source, &error);
  tb_clock_options_t clock = {TB_TIME_ROS, out->source};
  if (!status) status = tb_clock_create(&clock, &out->clock);
  return status ? command_failed(view->command, status, &error) : EXIT_OK;
}

static void ticks_close(ticks_t *ticks)
{
  tb_clock_destroy(ticks->clock);
  tb_source_destroy(ticks->source);
}

static void ticks_measure(const ticks_t *ticks, manifest_graph_t *graph)
{
  tb_timeline_stats_t stats;
  tb_ros2_clock_source_status_t status;
  tb_timeline_stats(tb_source_timeline(ticks->source), &stats);
  tb_ros2_clock_source_status(ticks->source, &status);
  double seconds = (double)(status.last_sample_ns - status.first_sample_ns) / (double)TB_NS_PER_S;
  graph->ticks = stats.ticks;
  graph->jumps_backward = stats.jumps_backward;
  graph->faults = status.faults;
  if (stats.ticks < 3 || seconds <= 0) return;
  graph->rate_hz = (double)(stats.ticks - 1) / seconds;
  graph->factor = (double)stats.advanced.ns / (double)TB_NS_PER_S / seconds;
}

/* Until a second after the first tick, or two without one. */
static int ticks_observe(const ticks_t *ticks, manifest_graph_t *graph)
{
  tb_steady_time_t begin = {0}, now = {0};
  tb_steady_clock_now(graph->view.steady, &begin);
  for (now = begin;; tb_steady_clock_now(graph->view.steady, &now)) {
    tb_ros2_clock_source_status_t status;
    tb_ros2_clock_source_status(ticks->source, &status);
    if (status.first_sample_ns && now.ns - status.first_sample_ns >= OBSERVED_NS) break;
    if (!status.first_sample_ns && now.ns - begin.ns >= SILENCE_NS) break;
    tb_duration_t slice = {SLICE_NS};
    int result = graph_view_settle(&graph->view, slice, NULL, NULL);
    if (result) return result;
  }
  ticks_measure(ticks, graph);
  return EXIT_OK;
}

/* --- nodes --- */

static bool subscribes_to(const tb_ros2_graph_snapshot_t *snapshot,
                          const tb_ros2_graph_node_t *node, const char *topic)
{
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && !endpoint->is_publisher &&
        strcmp(endpoint->name, topic) == 0 && is_of_clock_type(endpoint))
      return true;
  }
  return false;
}

static tb__base_verdict_t judge(const manifest_graph_t *graph, size_t index, const char *topic)
{
  const tb_ros2_graph_snapshot_t *snapshot = graph->view.snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  const node_time_t *time = &graph->times[index];
  tb__base_facts_t facts = {
      .answer = time->sim_time == SIM_TIME_TRUE    ? TB__IS_TRUE
                : time->sim_time == SIM_TIME_FALSE ? TB__IS_FALSE
                                                   : TB__IS_NOT_KNOWN,
      .has_other_source = !node_time_is_default(time->source),
      .follows_clock = subscribes_to(snapshot, node, topic),
      .is_recorder = tb__draft_role(node->full_name) != NULL,
  };
  return tb__base_judge(&facts);
}

static int look(manifest_graph_t *graph, const graph_options_t *options, const char *topic)
{
  int result = node_times_query(&graph->view, options->limit, &graph->times);
  size_t count = graph->view.snapshot->node_count;
  if (result) return result;
  graph->verdicts = calloc(count + 1, sizeof *graph->verdicts);
  if (!graph->verdicts) return command_failed(graph->view.command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < count; i++)
    graph->verdicts[i] = judge(graph, i, topic);
  graph->clock_count = tb_ros2_graph_publishers(graph->view.snapshot, topic, &graph->clocks);
  return EXIT_OK;
}

int manifest_graph_open(const command_t *command, const graph_options_t *options,
                        const char *clock_topic, manifest_graph_t *out)
{
  const char *topic = clock_topic ? clock_topic : "/clock";
  const tb_ros2_graph_endpoint_t *first;
  ticks_t ticks = {0};
  *out = (manifest_graph_t){0};
  int result = graph_view_open(command, options->domain, &out->view);
  if (result) return result;
  result = ticks_open(&out->view, topic, &ticks);
  if (!result) result = graph_view_settle(&out->view, options->wait, NULL, NULL);
  if (!result && tb_ros2_graph_publishers(out->view.snapshot, topic, &first))
    result = ticks_observe(&ticks, out);
  ticks_close(&ticks);
  if (!result) result = look(out, options, topic);
  return result;
}

void manifest_graph_close(manifest_graph_t *graph)
{
  if (graph->view.snapshot) node_times_release(&graph->view, graph->times);
  free(graph->verdicts);
  graph_view_close(&graph->view);
}

tb__known_bool_t manifest_graph_sim_time(const manifest_graph_t *graph, size_t node)
{
  tb__base_t base = graph->verdicts[node].base;
  return base == TB__BASE_CLOCK  ? TB__IS_TRUE
         : base == TB__BASE_WALL ? TB__IS_FALSE
                                 : TB__IS_NOT_KNOWN;
}

const char *manifest_graph_owner(const manifest_graph_t *graph,
                                 const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->node < 0 ? NULL : graph->view.snapshot->nodes[endpoint->node].full_name;
}

/* --- facts for a draft --- */

static bool publishes_clock(const manifest_graph_t *graph, size_t node)
{
  for (size_t i = 0; i < graph->clock_count; i++)
    if (graph->clocks[i].node == (int32_t)node) return true;
  return false;
}

static bool fill_nodes(const manifest_graph_t *graph, tb__draft_facts_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = graph->view.snapshot;
  tb__draft_node_t *nodes = calloc(snapshot->node_count + 1, sizeof *nodes);
  for (size_t i = 0; nodes && i < snapshot->node_count; i++)
    nodes[i] = (tb__draft_node_t){
        .name = snapshot->nodes[i].full_name,
        .sim_time = manifest_graph_sim_time(graph, i),
        .evidence = tb__base_evidence_text(graph->verdicts[i]),
        .publishes_clock = publishes_clock(graph, i),
        .is_repeated = snapshot->nodes[i].is_duplicate,
    };
  out->nodes = nodes;
  out->node_count = snapshot->node_count;
  return nodes;
}

/* Each node has these, and tools make the rest. */
static bool is_wanted(const tb_ros2_graph_endpoint_t *endpoint)
{
  static const char *const left_out[] = {"/clock", "/rosout", "/parameter_events",
                                         TB__MANIFEST_TOPIC, TB__POINTS_TOPIC};
  if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || !endpoint->is_publisher) return false;
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
    if (strcmp(endpoint->name, left_out[i]) == 0) return false;
  return !strstr(endpoint->name, "/_");
}

static bool fill_topics(const manifest_graph_t *graph, tb__draft_facts_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = graph->view.snapshot;
  tb__draft_topic_t *topics = calloc(snapshot->endpoint_count + 1, sizeof *topics);
  size_t count = 0;
  for (size_t i = 0; topics && i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (!is_wanted(endpoint)) continue;
    tb__draft_topic_t *last = count ? &topics[count - 1] : NULL;
    if (!last || strcmp(last->name, endpoint->name) != 0)
      topics[count++] = (tb__draft_topic_t){.name = endpoint->name, .type = endpoint->type};
    else if (strcmp(last->type, endpoint->type) != 0)
      last->mark = "its publishers have different types";
  }
  out->topics = topics;
  out->topic_count = count;
  return topics;
}

bool manifest_graph_facts(const manifest_graph_t *graph, tb__draft_facts_t *out)
{
  *out = (tb__draft_facts_t){
      .has_clock = graph->clock_count > 0,
      .clock_publishers = graph->clock_count,
      .clock_rate_hz = graph->rate_hz,
      .clock_factor = graph->factor,
  };
  if (graph->clock_count) {
    out->clock_publisher = manifest_graph_owner(graph, &graph->clocks[0]);
    const char *role = out->clock_publisher ? tb__draft_role(out->clock_publisher) : NULL;
    out->is_replay = role && strcmp(role, "player") == 0;
    if (!graph->ticks) out->clock_mark = "nothing came from its publisher";
    if (graph->jumps_backward) out->clock_mark = "time jumped back while it was observed";
  }
  bool has_nodes = fill_nodes(graph, out);
  return fill_topics(graph, out) && has_nodes;
}
