/* Findings about the stamps of sampled topics, and what stamps show of a node's time base. */
#include <inttypes.h>
#include <string.h>

#include "audit.h"

#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

/* A stream, and the node that publishes it. */
typedef struct judged {
  audit_t *audit;
  const audit_topic_t *topic;
  const tb__stamps_t *stamps;
  const char *owner;    /* NULL: none is known */
  tb__time_base_t base; /* that the manifest declares; 0: none */
} judged_t;

static tb__finding_input_t finding_of(const judged_t *judged, tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = judged->topic->name,
                               .cause = judged->owner};
}

static void find_zero(const judged_t *judged)
{
  tb__finding_input_t input = finding_of(judged, TB__RULE_STAMP_ZERO);
  uint64_t count = judged->stamps->kinds[TB__STAMP_ZERO];
  if (!count || judged->base == TB__TIME_NONE) return;
  tb__findings_add(judged->audit->findings, &input, "%" PRIu64 " of %" PRIu64 " stamps are 0",
                   count, judged->stamps->arrivals);
}

static void find_other(const judged_t *judged)
{
  tb__finding_input_t input = finding_of(judged, TB__RULE_STAMP_OTHER_DOMAIN);
  const tb__stamps_t *stamps = judged->stamps;
  const tb__stamp_excess_t *system = &stamps->excess[TB__STAMP_SYSTEM];
  const tb__stamp_excess_t *far = &stamps->excess[TB__STAMP_FAR];
  if (stamps->kinds[TB__STAMP_SYSTEM] && judged->base != TB__TIME_SYSTEM)
    tb__findings_add(judged->audit->findings, &input,
                     "%" PRIu64 " of %" PRIu64 " stamps are of system time (%.3f s at %.3f s of "
                     "/clock)",
                     stamps->kinds[TB__STAMP_SYSTEM], stamps->arrivals, SECONDS(system->stamp_ns),
                     SECONDS(system->at_ns));
  if (stamps->kinds[TB__STAMP_FAR])
    tb__findings_add(judged->audit->findings, &input,
                     "%" PRIu64 " of %" PRIu64 " stamps are more than a year off (%.3f s at "
                     "%.3f s)",
                     stamps->kinds[TB__STAMP_FAR], stamps->arrivals, SECONDS(far->stamp_ns),
                     SECONDS(far->at_ns));
}

static void find_off(const judged_t *judged)
{
  const tb__stamps_t *stamps = judged->stamps;
  tb__finding_input_t future = finding_of(judged, TB__RULE_STAMP_FUTURE);
  tb__finding_input_t old = finding_of(judged, TB__RULE_STAMP_OLD);
  int64_t ahead_ns = stamps->excess[TB__STAMP_FUTURE].greatest_ns;
  if (ahead_ns > -judged->topic->limits.age_min_ns) future.severity = TB__SEVERITY_ERROR;
  if (stamps->kinds[TB__STAMP_FUTURE])
    tb__findings_add(judged->audit->findings, &future,
                     "%" PRIu64 " of %" PRIu64 " stamps are in the future, by up to %.3f s",
                     stamps->kinds[TB__STAMP_FUTURE], stamps->arrivals, SECONDS(ahead_ns));
  if (stamps->kinds[TB__STAMP_OLD])
    tb__findings_add(judged->audit->findings, &old,
                     "%" PRIu64 " of %" PRIu64 " stamps are old, by up to %.3f s",
                     stamps->kinds[TB__STAMP_OLD], stamps->arrivals,
                     SECONDS(stamps->excess[TB__STAMP_OLD].greatest_ns));
}

static void find_order(const judged_t *judged)
{
  const tb__stamps_t *stamps = judged->stamps;
  tb__finding_input_t backward = finding_of(judged, TB__RULE_STAMP_BACKWARD);
  tb__finding_input_t stale = finding_of(judged, TB__RULE_STALE_EPOCH);
  if (stamps->backward)
    tb__findings_add(judged->audit->findings, &backward,
                     "%" PRIu64 " of %" PRIu64 " stamps are before the one before, by up to %.3f s",
                     stamps->backward, stamps->arrivals, SECONDS(stamps->backward_ns));
  if (stamps->kinds[TB__STAMP_STALE_EPOCH] && strcmp(judged->topic->name, "/tf") != 0)
    tb__findings_add(judged->audit->findings, &stale,
                     "%" PRIu64 " of %" PRIu64 " stamps are of the time before the jump of /clock",
                     stamps->kinds[TB__STAMP_STALE_EPOCH], stamps->arrivals);
}

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
    for (size_t j = 0; j < topic->stream_count; j++) {
      const audit_stream_t *stream = topic->streams[j];
      judged_t judged = {.audit = audit,
                         .topic = topic,
                         .stamps = &stream->stamps,
                         .owner = audit_node_of(snapshot, stream->writer)};
      tb__time_kind_t kind;
      judged.base = audit_declared_base(audit, judged.owner, topic->type, &kind);
      find_zero(&judged);
      find_other(&judged);
      find_off(&judged);
      find_order(&judged);
    }
  }
}

void audit_topics_base(const audit_t *audit, const char *node, uint64_t *of_clock,
                       uint64_t *of_wall)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    for (size_t j = 0; j < topic->stream_count; j++) {
      const char *owner = audit_node_of(snapshot, topic->streams[j]->writer);
      if (!owner || strcmp(owner, node) != 0) continue;
      *of_clock += topic->streams[j]->of_clock;
      *of_wall += topic->streams[j]->of_wall;
    }
  }
}

size_t audit_topics_sampled(const audit_topics_t *topics)
{
  size_t count = 0;
  for (size_t i = 0; i < topics->count; i++)
    count += topics->list[i].stream_count > 0;
  return count;
}
