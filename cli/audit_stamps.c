/* Findings about topics: their types, the stamps of sampled ones, and what stamps show of a node's
 * time base. */
#include <string.h>

#include "audit.h"
#include "stamp_findings.h"

static void find_unknown(audit_t *audit, const audit_topic_t *topic)
{
  tb__finding_input_t input = {
      .rule = TB__RULE_DEFINITION_UNKNOWN, .kind = TB__SUBJECT_TOPIC, .subject = topic->name};
  const char *note = tb__definition_entry_note(topic->entry);
  tb__findings_add(audit->findings, &input, "%s%s%s", topic->type, *note ? ": " : "", note);
}

static bool is_topic(const tb_ros2_graph_endpoint_t *endpoint, const char *name)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && strcmp(endpoint->name, name) == 0;
}

/* Of the `count` endpoints of a topic. What is wrong with the type of /clock is clock-qos. */
static void find_types(audit_t *audit, const tb_ros2_graph_endpoint_t *endpoints, size_t count)
{
  const char *name = endpoints[0].name;
  tb__finding_input_t input = {
      .rule = TB__RULE_TOPIC_TWO_TYPES, .kind = TB__SUBJECT_TOPIC, .subject = name};
  size_t other = 1;
  while (other < count && strcmp(endpoints[other].type, endpoints[0].type) == 0)
    other++;
  if (other == count || strcmp(name, audit->clock_topic) == 0) return;
  for (size_t i = 0; i < count; i++) {
    const char *owner = audit_owner_of(audit->view.snapshot, &endpoints[i]);
    tb__findings_add(audit->findings, &input, "%s by %s: %s",
                     endpoints[i].is_publisher ? "published" : "subscribed to",
                     owner ? owner : "a program without a node", endpoints[i].type);
  }
}

static void find_two_types(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0, count; i < snapshot->endpoint_count; i += count) {
    const tb_ros2_graph_endpoint_t *first = &snapshot->endpoints[i];
    for (count = 1; i + count < snapshot->endpoint_count; count++)
      if (!is_topic(&snapshot->endpoints[i + count], first->name)) break;
    if (first->kind == TB_ROS2_ENDPOINT_TOPIC) find_types(audit, first, count);
  }
}

static bool has_other_clock(const audit_t *audit, const char *node)
{
  for (size_t i = 0; node && i < audit->view.snapshot->node_count; i++)
    if (strcmp(audit->view.snapshot->nodes[i].full_name, node) == 0)
      return audit->nodes[i].has_other_clock;
  return false;
}

void audit_topics_find(audit_t *audit)
{
  find_two_types(audit);
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    if (topic->is_unknown) find_unknown(audit, topic);
    for (size_t j = 0; j < topic->stamped.stream_count; j++) {
      const stamp_stream_t *stream = topic->stamped.streams[j];
      judged_stamps_t judged = {.findings = audit->findings,
                                .topic = topic->name,
                                .stamps = &stream->stamps,
                                .limits = &topic->stamped.limits,
                                .owner = audit_node_of(snapshot, stream->writer)};
      tb__time_kind_t kind;
      judged.has_other_clock = has_other_clock(audit, judged.owner);
      judged.base = audit_declared_base(audit, judged.owner, topic->type, &kind);
      stamp_findings_add(&judged);
    }
  }
}

void audit_topics_base(const audit_t *audit, const char *node, uint64_t *of_clock,
                       uint64_t *of_wall)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    for (size_t j = 0; j < topic->stamped.stream_count; j++) {
      const char *owner = audit_node_of(snapshot, topic->stamped.streams[j]->writer);
      if (!owner || strcmp(owner, node) != 0) continue;
      *of_clock += topic->stamped.streams[j]->of_clock;
      *of_wall += topic->stamped.streams[j]->of_wall;
    }
  }
}

size_t audit_topics_sampled(const audit_topics_t *topics)
{
  size_t count = 0;
  for (size_t i = 0; i < topics->count; i++)
    count += topics->list[i].stamped.stream_count > 0;
  return count;
}
