/* The time base of each node, by evidence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "publishers.h"
#include "shared_times.h"
#include "text.h"
#include "unnamed.h"

static bool has_prefix(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *audit_owner_of(const tb_ros2_graph_snapshot_t *snapshot,
                           const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->node >= 0 ? snapshot->nodes[endpoint->node].full_name : NULL;
}

const char *audit_node_of(const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16])
{
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    if (memcmp(snapshot->endpoints[i].guid, guid, 16) == 0)
      return audit_owner_of(snapshot, &snapshot->endpoints[i]);
  return NULL;
}

bool audit_is_clock(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && strcmp(endpoint->type, CLOCK_TYPE) == 0;
}

/* --- what its endpoints show --- */

static bool is_service(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher;
}

/* Of rclcpp::ClockQoS, or with another reliability (qos_overrides): keep last 1. Where the
 * middleware does not announce the history, what is announced must be as there. */
static bool is_time_source(const tb_ros2_graph_endpoint_t *subscription)
{
  const tb_qos_t *qos = &subscription->qos;
  if (qos->history == TB_QOS_KEEP_LAST) return qos->depth == 1;
  return qos->history == TB_QOS_HISTORY_UNKNOWN && qos->reliability == TB_QOS_BEST_EFFORT &&
         qos->durability == TB_QOS_VOLATILE;
}

/* Topics that each node has, or that are not its work. */
static bool is_output(const tb_ros2_graph_endpoint_t *endpoint)
{
  static const char *const others[] = {"/rosout", "/parameter_events"};
  const char *slash = strrchr(endpoint->name, '/');
  if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || !endpoint->is_publisher ||
      audit_is_clock(endpoint))
    return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(endpoint->name, others[i]) == 0) return false;
  return slash && slash[1] != '_' && strcmp(slash, "/transition_event") != 0;
}

/* What the endpoints of a node show. */
typedef struct shown {
  bool publishes_clock, has_output, is_simulator, is_player, has_recording_services;
  bool has_clock, has_other_clock; /* subscriptions of /clock: as a time source, and others */
  bool has_renamed_clock;          /* as a time source, of a clock under another name */
  bool has_parameters;
} shown_t;

static void show_endpoint(const audit_t *audit, const tb_ros2_graph_endpoint_t *endpoint,
                          shown_t *out)
{
  bool is_clock = audit_is_clock(endpoint);
  bool is_of_graph = is_clock && strcmp(endpoint->name, audit->clock_topic) == 0;
  const char *slash = strrchr(endpoint->name, '/');
  if (is_clock && endpoint->is_publisher)
    out->publishes_clock = true;
  else if (is_of_graph && is_time_source(endpoint))
    out->has_clock = true;
  else if (is_of_graph)
    out->has_other_clock = true;
  else if (is_clock && is_time_source(endpoint))
    out->has_renamed_clock = true;
  out->has_output |= is_output(endpoint);
  out->has_parameters |= endpoint->is_publisher && strcmp(endpoint->name, "/parameter_events") == 0;
  if (!is_service(endpoint)) return;
  out->is_simulator |= has_prefix(endpoint->type, "simulation_interfaces/");
  out->is_player |= strcmp(endpoint->type, "rosbag2_interfaces/srv/SetRate") == 0;
  out->has_recording_services |= has_prefix(endpoint->type, "rosbag2_interfaces/");
  out->has_parameters |= slash && strcmp(slash, "/get_parameters") == 0;
}

static audit_role_t role_of(const tb_ros2_graph_node_t *node, const shown_t *shown)
{
  if (shown->publishes_clock || shown->is_simulator) return AUDIT_ROLE_CLOCK;
  if (tb__base_is_tool(node->full_name)) return AUDIT_ROLE_TOOL;
  if (shown->is_player) return AUDIT_ROLE_PLAYER;
  if (shown->has_recording_services) return AUDIT_ROLE_RECORDER;
  return shown->has_output ? AUDIT_ROLE_NODE : AUDIT_ROLE_QUIET;
}

static tb__known_bool_t answer_of(sim_time_t sim_time)
{
  return sim_time == SIM_TIME_TRUE    ? TB__IS_TRUE
         : sim_time == SIM_TIME_FALSE ? TB__IS_FALSE
                                      : TB__IS_NOT_KNOWN;
}

/* What has been discovered of the node since it was asked: a subscription may come after its
 * publishers, and of a node that has ended none will. */
static bool show_latest(const audit_t *audit, const tb_ros2_graph_snapshot_t *latest,
                        const tb_ros2_graph_node_t *node, shown_t *out)
{
  for (size_t i = 0; i < latest->node_count; i++) {
    const tb_ros2_graph_node_t *now = &latest->nodes[i];
    if (strcmp(now->full_name, node->full_name) != 0 ||
        memcmp(now->participant_guid, node->participant_guid, sizeof now->participant_guid) != 0)
      continue;
    for (size_t k = 0; k < now->endpoint_count; k++)
      show_endpoint(audit, &latest->endpoints[now->endpoints[k]], out);
    return now->unseen_count == 0;
  }
  return false;
}

static void judge_node(audit_t *audit, const tb_ros2_graph_snapshot_t *latest,
                       const shared_times_t *shared, size_t index)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  audit_node_t *out = &audit->nodes[index];
  shown_t shown = {0};
  int64_t event_ns = 0;
  const char *name;
  shared_time_t shared_time = shared_times_of(shared, snapshot, node->participant_guid, &name);
  snprintf(out->shared_time, sizeof out->shared_time, "%s", name ? name : "");
  for (size_t i = 0; i < node->endpoint_count; i++)
    show_endpoint(audit, &snapshot->endpoints[node->endpoints[i]], &shown);
  bool is_wholly_seen = show_latest(audit, latest, node, &shown);
  out->has_other_clock = shown.has_renamed_clock && !shown.has_clock;
  out->role = role_of(node, &shown);
  out->facts = (tb__base_facts_t){
      .answer = answer_of(audit->times[index].sim_time),
      .has_other_source = !node_time_is_default(audit->times[index].source),
      .follows_clock = shown.has_clock || shown.has_renamed_clock || shown.has_other_clock,
      .is_recorder = (!shown.has_clock && !shown.has_renamed_clock) || shown.has_recording_services,
      .is_rcl = shown.has_parameters,
      .has_unseen = !is_wholly_seen,
      .is_on_shared_time = shared_time == SHARED_TIME_FOLLOWED,
      .may_be_on_shared_time = shared_time == SHARED_TIME_UNKNOWN,
      .event = audit_events_of(&audit->events, node->full_name, &event_ns),
  };
  audit_topics_base(audit, node->full_name, &out->facts.stamps_of_clock,
                    &out->facts.stamps_of_wall);
  out->facts.is_event_newer = event_ns > audit->answered_ns;
  out->verdict = tb__base_judge(&out->facts);
}

int audit_nodes_judge(audit_t *audit)
{
  size_t count = audit->view.snapshot->node_count;
  const tb_ros2_graph_snapshot_t *latest;
  tb_error_t error = TB_ERROR_INIT;
  audit->nodes = calloc(count + 1, sizeof *audit->nodes);
  if (!audit->nodes) return command_failed(audit->command, TB_ERR_NO_MEMORY, NULL);
  tb_status_t status = tb_ros2_graph_snapshot(audit->view.graph, &latest, &error);
  if (status) return command_failed(audit->command, status, &error);
  shared_times_t shared;
  shared_times_read(&shared);
  for (size_t i = 0; i < count; i++)
    judge_node(audit, latest, &shared, i);
  shared_times_release(&shared);
  tb_ros2_graph_snapshot_release(latest);
  return EXIT_OK;
}

/* --- findings --- */

static tb__finding_input_t finding_of(const audit_t *audit, size_t index, tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule,
                               .kind = TB__SUBJECT_NODE,
                               .subject = audit->view.snapshot->nodes[index].full_name};
}

static bool is_judged(audit_role_t role)
{
  return role == AUDIT_ROLE_NODE || role == AUDIT_ROLE_QUIET || role == AUDIT_ROLE_RECORDER;
}

static size_t count_on_clock(const audit_t *audit)
{
  size_t count = 0;
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++)
    count += audit->nodes[i].verdict.base == TB__BASE_CLOCK;
  return count;
}

static void find_wall(audit_t *audit, size_t index, const tb_ros2_graph_endpoint_t *publisher)
{
  const audit_node_t *node = &audit->nodes[index];
  const char *owner = audit_owner_of(audit->view.snapshot, publisher);
  size_t on_clock = count_on_clock(audit);
  tb__finding_input_t input = finding_of(audit, index, TB__RULE_MIXED_TIME_BASE);
  if (node->role != AUDIT_ROLE_NODE) input.severity = TB__SEVERITY_WARN;
  tb__findings_add(audit->findings, &input, "%s", tb__base_evidence_text(node->verdict));
  tb__findings_add_evidence(audit->findings, "%s is published by %s; %zu node%s",
                            audit->clock_topic, owner ? owner : "a program without a node",
                            on_clock, on_clock == 1 ? " follows it" : "s follow it");
  if (node->role == AUDIT_ROLE_RECORDER)
    tb__findings_add_evidence(audit->findings,
                              "it records: the times in its recording are of the wall clock");
  if (node->role == AUDIT_ROLE_QUIET)
    tb__findings_add_evidence(audit->findings, "it publishes nothing with a time of its own");
}

static void find_unnamed(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->participant_count; i++) {
    const tb_ros2_graph_participant_t *participant = &snapshot->participants[i];
    char name[512], *text = NULL;
    size_t size;
    if (!unnamed_is(participant)) continue;
    snprintf(name, sizeof name, "%s at %s", participant->middleware, participant->addresses);
    FILE *stream = open_memstream(&text, &size);
    if (!stream) continue;
    text_to(stream, "a participant ");
    unnamed_describe(stream, snapshot, participant);
    fclose(stream);
    tb__finding_input_t input = {
        .rule = TB__RULE_NODE_UNANNOUNCED, .kind = TB__SUBJECT_PROCESS, .subject = name};
    tb__findings_add(audit->findings, &input, "%s", text ? text : "");
    free(text);
  }
}

static void find_shared_name(audit_t *audit, size_t index)
{
  const tb_ros2_graph_node_t *nodes = audit->view.snapshot->nodes;
  size_t count = 1;
  if (!nodes[index].is_duplicate || graph_view_is_repeated(&audit->view, index)) return;
  while (index + count < audit->view.snapshot->node_count &&
         graph_view_is_repeated(&audit->view, index + count))
    count++;
  tb__finding_input_t input = finding_of(audit, index, TB__RULE_NODE_NAME_SHARED);
  tb__findings_add(audit->findings, &input, "%zu nodes have this name", count);
}

bool audit_nodes_is_judged(const audit_t *audit, size_t index)
{
  return is_judged(audit->nodes[index].role);
}

/* A node that should follow what others do, and is on wall time. */
static bool is_on_wall(const audit_t *audit, size_t index)
{
  const tb__manifest_node_t *declared = audit_declared_sim_time(audit, index);
  if (declared && !declared->use_sim_time) return false;
  return is_judged(audit->nodes[index].role) && audit->nodes[index].verdict.base == TB__BASE_WALL;
}

bool audit_nodes_is_mixed(const audit_t *audit, size_t index)
{
  const tb_ros2_graph_endpoint_t *publishers;
  return is_on_wall(audit, index) &&
         tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &publishers) > 0;
}

/* The first node on a time in shared memory; NULL: there is none. */
static const audit_node_t *first_on_shared_time(const audit_t *audit, size_t *out_count)
{
  const audit_node_t *first = NULL;
  *out_count = 0;
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    if (!audit->nodes[i].shared_time[0]) continue;
    if (!first) first = &audit->nodes[i];
    ++*out_count;
  }
  return first;
}

/* Where nothing publishes /clock: there it is mixed-time-base. */
static void find_beside_shared_time(audit_t *audit)
{
  size_t count;
  const audit_node_t *first = first_on_shared_time(audit, &count);
  for (size_t i = 0; first && i < audit->view.snapshot->node_count; i++) {
    if (!is_on_wall(audit, i)) continue;
    tb__finding_input_t input = finding_of(audit, i, TB__RULE_MIXED_SHARED_TIME);
    input.detail = first->shared_time;
    if (audit->nodes[i].role != AUDIT_ROLE_NODE) input.severity = TB__SEVERITY_WARN;
    tb__findings_add(audit->findings, &input, "%s",
                     tb__base_evidence_text(audit->nodes[i].verdict));
    tb__findings_add_evidence(audit->findings, "%zu node%s shm:%s", count,
                              count == 1 ? " follows" : "s follow", first->shared_time);
  }
}

static void find_stopped_shared_time(audit_t *audit)
{
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    const char *name = audit->nodes[i].shared_time;
    if (!name[0] || shared_time_has_publisher(name)) continue;
    tb__finding_input_t input = finding_of(audit, i, TB__RULE_SHARED_TIME_STOPPED);
    input.detail = name;
    tb__findings_add(audit->findings, &input, "it follows shm:%s, which nothing publishes now",
                     name);
  }
}

void audit_nodes_find(audit_t *audit)
{
  const tb_ros2_graph_endpoint_t *publishers;
  size_t publisher_count =
      tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &publishers);
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    const audit_node_t *node = &audit->nodes[i];
    find_shared_name(audit, i);
    if (audit_nodes_is_mixed(audit, i)) find_wall(audit, i, &publishers[0]);
    if (!publisher_count || node->verdict.base != TB__BASE_UNKNOWN || node->role != AUDIT_ROLE_NODE)
      continue;
    tb__finding_input_t input = finding_of(audit, i, TB__RULE_TIME_BASE_UNKNOWN);
    tb__findings_add(audit->findings, &input, "%s", tb__base_evidence_text(node->verdict));
  }
  if (!publisher_count) find_beside_shared_time(audit);
  find_stopped_shared_time(audit);
  find_unnamed(audit);
}
