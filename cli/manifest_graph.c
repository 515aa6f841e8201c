#include "manifest_graph.h"

#include <stdlib.h>
#include <string.h>

#include "contract/manifest_draft.h"

#define OBSERVED_NS (3 * TB_NS_PER_S / 2)

int manifest_graph_open(const command_t *command, const graph_options_t *options, audit_t *out)
{
  int result = audit_open(command, options, NULL, out);
  return result ? result : audit_look(out, options->wait, (tb_duration_t){OBSERVED_NS});
}

bool manifest_graph_has_any(const audit_t *audit)
{
  const tb_ros2_graph_endpoint_t *clocks;
  return audit->view.snapshot->node_count ||
         tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &clocks);
}

/* Whether the node uses simulated time, as far as that was observed. */
static tb__known_bool_t sim_time_of(const audit_t *audit, size_t node)
{
  tb__base_t base = audit->nodes[node].verdict.base;
  return base == TB__BASE_CLOCK  ? TB__IS_TRUE
         : base == TB__BASE_WALL ? TB__IS_FALSE
                                 : TB__IS_NOT_KNOWN;
}

/* --- facts for a draft --- */

static bool publishes_clock(const audit_t *audit, size_t node)
{
  const tb_ros2_graph_endpoint_t *clocks;
  size_t count = tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &clocks);
  for (size_t i = 0; i < count; i++)
    if (clocks[i].node == (int32_t)node) return true;
  return false;
}

static bool fill_nodes(const audit_t *audit, tb__draft_facts_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  tb__draft_node_t *nodes = calloc(snapshot->node_count + 1, sizeof *nodes);
  for (size_t i = 0; nodes && i < snapshot->node_count; i++)
    nodes[i] = (tb__draft_node_t){
        .name = snapshot->nodes[i].full_name,
        .sim_time = sim_time_of(audit, i),
        .evidence = tb__base_evidence_text(audit->nodes[i].verdict),
        .publishes_clock = publishes_clock(audit, i),
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

static bool fill_topics(const audit_t *audit, tb__draft_facts_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
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

bool manifest_graph_facts(const audit_t *audit, tb__draft_facts_t *out)
{
  const tb__tick_stream_t *ticks = &audit->clock.cut.ticks.all;
  const tb_ros2_graph_endpoint_t *clocks;
  size_t count = tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &clocks);
  *out = (tb__draft_facts_t){
      .has_clock = count > 0,
      .clock_publishers = count,
      .clock_rate_hz = tb__tick_stream_rate(ticks),
      .clock_factor = tb__tick_stream_factor(ticks),
  };
  if (count) {
    out->clock_publisher = audit_owner_of(audit->view.snapshot, &clocks[0]);
    const char *role = out->clock_publisher ? tb__draft_role(out->clock_publisher) : NULL;
    out->is_replay = role && strcmp(role, "player") == 0;
    if (!ticks->ticks) out->clock_mark = "nothing came from its publisher";
    if (ticks->kinds[TB__TICK_BACKWARD]) out->clock_mark = "time jumped back while it was observed";
  }
  bool has_nodes = fill_nodes(audit, out);
  return fill_topics(audit, out) && has_nodes;
}
