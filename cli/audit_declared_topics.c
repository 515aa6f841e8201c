/* What a manifest declares of topics that were sampled: rates, budgets, and of which time the
 * stamps of a node are. */
#include <inttypes.h>
#include <string.h>

#include "audit.h"
#include "contract/durations.h"

#define RATE_AT_LEAST   10 /* messages, as in a recording */
#define STAMPS_AT_LEAST TB__BASE_STAMPS_MIN
#define GET_STATE       "lifecycle_msgs/srv/GetState"

/* --- rates --- */

void audit_declared_take(audit_topic_t *topic, const tb_ros2_sample_t *sample)
{
  struct audit_arrivals *arrivals = NULL;
  for (size_t i = 0; i < topic->arrivals_count && !arrivals; i++)
    if (memcmp(topic->arrivals[i].writer, sample->writer_guid, 16) == 0)
      arrivals = &topic->arrivals[i];
  if (!arrivals) {
    if (topic->arrivals_count == AUDIT_WRITERS_MAX) return;
    arrivals = &topic->arrivals[topic->arrivals_count++];
    memcpy(arrivals->writer, sample->writer_guid, 16);
    arrivals->first_ns = sample->receive_steady_ns;
    arrivals->first_sequence = sample->sequence;
  }
  arrivals->samples++;
  arrivals->last_sequence = sample->sequence;
  arrivals->last_ns = sample->receive_steady_ns;
}

/* Messages that were sent between the first and the last that came: what a best-effort reader lost
 * on a busy machine was sent all the same. */
static uint64_t steps_of(const struct audit_arrivals *arrivals)
{
  uint64_t samples = arrivals->samples - 1;
  if (!arrivals->first_sequence || arrivals->last_sequence <= arrivals->first_sequence)
    return samples;
  uint64_t sent = arrivals->last_sequence - arrivals->first_sequence;
  return sent > samples ? sent : samples;
}

/* Per second of steady time, of all publishers. *out_messages: as many came. */
static double rate_of(const audit_topic_t *topic, uint64_t *out_messages)
{
  double rate_hz = 0;
  *out_messages = 0;
  for (size_t i = 0; i < topic->arrivals_count; i++) {
    const struct audit_arrivals *arrivals = &topic->arrivals[i];
    double span_ns = (double)(arrivals->last_ns - arrivals->first_ns);
    *out_messages += arrivals->samples;
    if (span_ns > 0) rate_hz += (double)steps_of(arrivals) * 1e9 / span_ns;
  }
  return rate_hz;
}

/* A publisher of a lifecycle node is silent while it is inactive. */
static bool has_lifecycle(const audit_t *audit, const char *topic)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  const tb_ros2_graph_endpoint_t *publishers;
  size_t count = tb_ros2_graph_publishers(snapshot, topic, &publishers);
  for (size_t i = 0; i < count; i++) {
    if (publishers[i].node < 0) return true; /* it is not known */
    const tb_ros2_graph_node_t *node = &snapshot->nodes[publishers[i].node];
    for (size_t j = 0; j < node->endpoint_count; j++)
      if (strcmp(snapshot->endpoints[node->endpoints[j]].type, GET_STATE) == 0) return true;
  }
  return false;
}

/* The one publisher; NULL: there are several, or its node is not known. */
static const char *only_owner(const audit_t *audit, const char *topic)
{
  const tb_ros2_graph_endpoint_t *publishers;
  size_t count = tb_ros2_graph_publishers(audit->view.snapshot, topic, &publishers);
  return count == 1 ? audit_owner_of(audit->view.snapshot, &publishers[0]) : NULL;
}

/* In ROS time, as in a recording. */
static void find_rate(audit_t *audit, const audit_topic_t *topic)
{
  uint64_t messages;
  double rate_hz = rate_of(topic, &messages), factor = 1;
  tb__finding_input_t input = {.rule = TB__RULE_TOPIC_RATE,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = topic->name,
                               .cause = only_owner(audit, topic->name)};
  if (topic->rate_hz <= 0) return;
  if (audit->topics.intake.has_clock) factor = tb__tick_stream_factor(&audit->clock.cut.ticks.all);
  double seconds = topic->begin_ns ? 1e-9 * (double)(audit->clock.cut.end_ns - topic->begin_ns) : 0;
  double expected = topic->rate_hz * factor * seconds;
  bool is_silent = messages == 0 && expected >= RATE_AT_LEAST && !has_lifecycle(audit, topic->name);
  if (is_silent) {
    input.severity = TB__SEVERITY_ERROR;
    audit_declared_differ(audit, &input, "topic", "no message in %.1f s, declared are %.4g Hz",
                          seconds, topic->rate_hz);
  } else if (messages < RATE_AT_LEAST || factor <= 0) {
    audit_declared_note(audit, AUDIT_ITEM_DECLARED, "topic", topic->name,
                        "its rate is declared to be %.4g Hz; %s", topic->rate_hz,
                        factor > 0 ? "too few messages came to measure it"
                                   : "the factor of /clock is not known");
  } else {
    double off = rate_hz / factor / topic->rate_hz - 1;
    if (off < 0) off = -off;
    if (off > topic->stamped.limits.rate_error) input.severity = TB__SEVERITY_ERROR;
    if (off > topic->stamped.limits.rate_warn)
      audit_declared_differ(audit, &input, "topic", "%.4g Hz, declared are %.4g Hz",
                            rate_hz / factor, topic->rate_hz);
  }
}

/* --- budgets --- */

/* All but one of a hundred messages are to be within it, as in a recording. */
static void find_budget(audit_t *audit, const audit_topic_t *topic, const stamp_stream_t *stream)
{
  const tb__spread_t *age = &stream->stamps.age;
  int64_t most_ns = tb__spread_quantile(age, 0.99);
  tb__finding_input_t input = {.rule = TB__RULE_STAMP_OLD,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = topic->name,
                               .cause = audit_node_of(audit->view.snapshot, stream->writer)};
  if (topic->stamped.budget_ns && most_ns > topic->stamped.budget_ns)
    audit_declared_differ(audit, &input, "topic",
                          "ages are up to %s (99 %% of %" PRIu64 "), the budget is %s",
                          tb__duration_text(most_ns).text, age->moments.count,
                          tb__duration_text(topic->stamped.budget_ns).text);
}

/* --- bases --- */

static void find_base(audit_t *audit, const audit_topic_t *topic, const stamp_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  const char *owner = audit_node_of(audit->view.snapshot, stream->writer);
  uint64_t stamped = stamps->arrivals - stamps->kinds[TB__STAMP_ZERO];
  tb__time_kind_t kind;
  tb__time_base_t base = audit_declared_base(audit, owner, topic->type, &kind);
  tb__finding_input_t input = {.rule = TB__RULE_STAMP_DECLARED,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = topic->name,
                               .cause = owner};
  if (base == TB__TIME_NONE && stamped)
    audit_declared_differ(audit, &input, "topic",
                          "%" PRIu64 " stamps; the manifest declares %s: none", stamped,
                          tb__time_kind_name(kind));
  if (base == TB__TIME_SYSTEM && stream->of_clock >= STAMPS_AT_LEAST && !stream->of_wall)
    audit_declared_differ(audit, &input, "topic",
                          "%" PRIu64 " of %" PRIu64 " stamps are of %s; the manifest declares %s: "
                          "system",
                          stream->of_clock, stamps->arrivals, audit->clock_topic,
                          tb__time_kind_name(kind));
  if (base == TB__TIME_ROS && stamps->kinds[TB__STAMP_SYSTEM]) {
    input.rule = TB__RULE_STAMP_OTHER_DOMAIN;
    audit_declared_repeat(audit, &input, "topic", "its stamps are of system time, declared is ros");
  }
}

void audit_declared_find_streams(audit_t *audit)
{
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    find_rate(audit, topic);
    for (size_t j = 0; j < topic->stamped.stream_count; j++) {
      find_budget(audit, topic, topic->stamped.streams[j]);
      find_base(audit, topic, topic->stamped.streams[j]);
    }
  }
}
