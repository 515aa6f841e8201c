/* Findings about the stamps of sampled topics, and what stamps show of a node's time base. */
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

void audit_topics_find(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    if (topic->is_unknown) find_unknown(audit, topic);
    for (size_t j = 0; j < topic->stamped.stream_count; j++) {
      const stamp_stream_t *stream = topic->stamped.streams[j];
      judged_stamps_t judged = {.findings = audit->findings,
                                .topic = topic->name,
                                .stamps = &stream->stamps,
                                .age_min_ns = topic->stamped.limits.age_min_ns,
                                .owner = audit_node_of(snapshot, stream->writer)};
      tb__time_kind_t kind;
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
