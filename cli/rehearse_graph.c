/* What the graph shows of the stack: its nodes, inputs and outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "contract/name_pattern.h"
#include "publishers.h"
#include "rehearse.h"

#define ANSWER_LIMIT_NS (2 * TB_NS_PER_S)
#define SETTLED_NS      (500 * TB_NS_PER_MS)
#define AWAITED_NS      (5 * TB_NS_PER_S) /* for processes to announce their nodes */
#define LOOK_NS         (50 * TB_NS_PER_MS)

/* --- whose it is --- */

bool rehearse_is_of_stack(const rehearse_t *rehearse, const uint8_t participant[16])
{
  const tb_ros2_graph_participant_t *found =
      rehearse->observe.snapshot
          ? tb_ros2_graph_find_participant(rehearse->observe.snapshot, participant)
          : NULL;
  if (!found || found->is_own || strcmp(found->addresses, "localprocess") == 0) return false;
  return !rehearse->before || !tb_ros2_graph_find_participant(rehearse->before, participant);
}

const tb_ros2_graph_endpoint_t *rehearse_stack_publisher(const rehearse_t *rehearse,
                                                         const char *topic)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  if (!rehearse->observe.snapshot) return NULL;
  size_t count = tb_ros2_graph_publishers(rehearse->observe.snapshot, topic, &publishers);
  for (size_t i = 0; i < count; i++)
    if (rehearse_is_of_stack(rehearse, publishers[i].participant_guid)) return &publishers[i];
  return NULL;
}

bool rehearse_stack_subscribes(const rehearse_t *rehearse, const char *topic)
{
  const tb_ros2_graph_endpoint_t *subscriptions = NULL;
  if (!rehearse->observe.snapshot) return false;
  size_t count = tb_ros2_graph_subscriptions(rehearse->observe.snapshot, topic, &subscriptions);
  for (size_t i = 0; i < count; i++)
    if (rehearse_is_of_stack(rehearse, subscriptions[i].participant_guid)) return true;
  return false;
}

bool rehearse_has_other_clock(const rehearse_t *rehearse, char *out, size_t size)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  const tb_ros2_graph_snapshot_t *snapshot = rehearse->observe.snapshot;
  size_t count = snapshot ? tb_ros2_graph_publishers(snapshot, "/clock", &publishers) : 0;
  for (size_t i = 0; i < count; i++) {
    const tb_ros2_graph_participant_t *participant =
        tb_ros2_graph_find_participant(snapshot, publishers[i].participant_guid);
    if (participant && (participant->is_own || strcmp(participant->addresses, "localprocess") == 0))
      continue;
    const char *node = audit_owner_of(snapshot, &publishers[i]);
    snprintf(out, size, "%s", node ? node : "a program without a node");
    return true;
  }
  return false;
}

/* Whether there are processes whose nodes are not known so far. */
static bool has_awaited(const rehearse_t *rehearse)
{
  const tb_ros2_graph_snapshot_t *now = NULL;
  if (tb_ros2_graph_snapshot(rehearse->observe.graph, &now, NULL)) return false;
  bool is_awaited = now->awaited_count > 0;
  tb_ros2_graph_snapshot_release(now);
  return is_awaited;
}

bool rehearse_settle(rehearse_t *rehearse, int64_t limit_ns)
{
  int64_t now_ns = rehearse_now(rehearse), begin_ns = now_ns, changed_ns = now_ns;
  uint32_t changes = tb_ros2_graph_changes(rehearse->observe.graph);
  while (now_ns < begin_ns + limit_ns) {
    if (!rehearse_turn(rehearse)) return false;
    now_ns = rehearse_now(rehearse);
    bool has_changed = tb_ros2_graph_changes(rehearse->observe.graph) != changes;
    changes = tb_ros2_graph_changes(rehearse->observe.graph);
    if (has_changed) changed_ns = now_ns;
    if (now_ns - changed_ns < SETTLED_NS) continue;
    if (now_ns - begin_ns >= AWAITED_NS || !has_awaited(rehearse)) break;
    changed_ns += LOOK_NS; /* and looks again then */
  }
  return true;
}

/* --- inputs --- */

rehearse_name_t rehearse_full_name(const char *recorded)
{
  rehearse_name_t name;
  snprintf(name.text, sizeof name.text, "%s%s", recorded[0] == '/' ? "" : "/", recorded);
  return name;
}

static bool is_in(const tb__manifest_names_t *names, const char *name)
{
  for (size_t i = 0; i < names->count; i++)
    if (tb__name_matches(names->items[i], name)) return true;
  return false;
}

static void note_missing_inputs(rehearse_t *rehearse, const char *const *names, size_t count)
{
  const tb__manifest_names_t *declared = &rehearse->manifest.rehearsal.inputs;
  for (size_t i = 0; i < declared->count; i++) {
    size_t k = 0;
    while (k < count && !tb__name_matches(declared->items[i], rehearse_full_name(names[k]).text))
      k++;
    if (k == count)
      tb__rehearsal_note(&rehearse->result, TB__STEP_RUN, TB__PROOF_NONE,
                         "rehearsal.inputs: %s is not played: the recording does not have it, or "
                         "the stack publishes it",
                         declared->items[i]);
  }
}

const char **rehearse_choose_inputs(rehearse_t *rehearse, const tb_bag_info_t *info,
                                    size_t *out_count)
{
  const tb__manifest_names_t *declared = &rehearse->manifest.rehearsal.inputs;
  const char **names = calloc(info->topic_count + 1, sizeof *names);
  *out_count = 0;
  for (size_t i = 0; names && i < info->topic_count; i++) {
    rehearse_name_t name = rehearse_full_name(info->topics[i].name);
    if (strcmp(name.text, "/clock") == 0 || rehearse_stack_publisher(rehearse, name.text)) continue;
    if (declared->count ? is_in(declared, name.text)
                        : rehearse_stack_subscribes(rehearse, name.text))
      names[(*out_count)++] = info->topics[i].name;
  }
  if (names) note_missing_inputs(rehearse, names, *out_count);
  return names;
}

/* --- use_sim_time --- */

static bool is_judged(audit_role_t role)
{
  return role != AUDIT_ROLE_TOOL && role != AUDIT_ROLE_CLOCK && role != AUDIT_ROLE_PLAYER;
}

static void judge_bases(rehearse_t *rehearse, const audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    if (!rehearse_is_of_stack(rehearse, node->participant_guid) || !is_judged(audit->nodes[i].role))
      continue;
    tb__rehearsal_judge_base(
        &rehearse->result, node->full_name,
        tb__manifest_node(&rehearse->manifest, node->full_name, NULL)->use_sim_time,
        audit->nodes[i].verdict);
  }
  for (size_t i = 0; i < rehearse->manifest.node_count; i++) {
    const char *name = rehearse->manifest.nodes[i].name;
    if (!strchr(name, '*') && !tb_ros2_graph_find_node(snapshot, name))
      tb__rehearsal_note(&rehearse->result, TB__STEP_TIME_BASE, TB__PROOF_NONE,
                         "%s: the manifest declares it, and it is not on the graph", name);
  }
}

int rehearse_judge_bases(rehearse_t *rehearse)
{
  audit_t *audit = calloc(1, sizeof *audit);
  if (!audit) return command_failed(rehearse->command, TB_ERR_NO_MEMORY, NULL);
  audit->command = rehearse->command;
  audit->clock_topic = "/clock";
  audit->view = (graph_view_t){.command = rehearse->command,
                               .context = rehearse->observe.context,
                               .graph = rehearse->observe.graph,
                               .steady = rehearse->observe.steady,
                               .snapshot = rehearse->observe.snapshot,
                               .defers_signals = true};
  int result = node_times_query(&audit->view, (tb_duration_t){ANSWER_LIMIT_NS}, &audit->times);
  if (!result) result = audit_nodes_judge(audit);
  if (!result) judge_bases(rehearse, audit);
  node_times_release(&audit->view, audit->times);
  free(audit->nodes);
  free(audit);
  return result;
}

/* --- before the first tick --- */

void rehearse_end_quiet(rehearse_t *rehearse)
{
  for (observe_topic_t *topic = rehearse->observe.topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
      stream->quiet_messages = stream->is.stamps.arrivals;
    pthread_mutex_unlock(&topic->lock);
  }
  if (tb_ros2_graph_snapshot(rehearse->observe.graph, &rehearse->quiet, NULL))
    rehearse->quiet = NULL; /* then it is not proven */
}

void rehearse_begin_run(rehearse_t *rehearse)
{
  for (observe_topic_t *topic = rehearse->observe.topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
      tb__topic_stream_init(&stream->is, NULL);
    pthread_mutex_unlock(&topic->lock);
  }
}

static void judge_quiet_publisher(rehearse_t *rehearse, observe_topic_t *topic,
                                  const tb_ros2_graph_endpoint_t *publisher)
{
  tb__quiet_facts_t facts = {.topic = topic->name,
                             .node = audit_owner_of(rehearse->quiet, publisher),
                             .is_latched = publisher->qos.durability == TB_QOS_TRANSIENT_LOCAL};
  pthread_mutex_lock(&topic->lock);
  facts.is_known = topic->known;
  facts.has_stamp = topic->known && (topic->known->head.stamp || topic->known->edges.all);
  for (observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
    if (memcmp(stream->guid, publisher->guid, 16) != 0) continue;
    facts.messages = stream->quiet_messages;
    facts.unseen = stream->first_sequence > 1 ? stream->first_sequence - 1 : 0;
  }
  pthread_mutex_unlock(&topic->lock);
  tb__rehearsal_judge_quiet(&rehearse->result, &facts);
}

void rehearse_judge_quiet(rehearse_t *rehearse)
{
  const tb_ros2_graph_snapshot_t *quiet = rehearse->quiet; /* later publishers are not judged */
  for (observe_topic_t *topic = rehearse->observe.topics; topic && quiet; topic = topic->next) {
    const tb_ros2_graph_endpoint_t *publishers = NULL;
    size_t count = tb_ros2_graph_publishers(quiet, topic->name, &publishers);
    for (size_t i = 0; i < count; i++)
      if (rehearse_is_of_stack(rehearse, publishers[i].participant_guid))
        judge_quiet_publisher(rehearse, topic, &publishers[i]);
  }
  if (!rehearse->result.steps[TB__STEP_QUIET].count)
    tb__rehearsal_note(&rehearse->result, TB__STEP_QUIET, TB__PROOF_NONE,
                       "the stack had no publisher of messages with a stamp");
}

/* --- the run --- */

static void judge_ages(rehearse_t *rehearse)
{
  for (observe_topic_t *topic = rehearse->observe.topics; topic; topic = topic->next) {
    const tb__manifest_topic_t *declared =
        tb__manifest_topic(&rehearse->manifest, topic->name, NULL);
    if (!declared->budget_ns || !rehearse_stack_publisher(rehearse, topic->name)) continue;
    pthread_mutex_lock(&topic->lock);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
      tb__rehearsal_judge_age(&rehearse->result, topic->name, declared->budget_ns,
                              &stream->is.stamps);
    bool is_silent = !topic->streams;
    pthread_mutex_unlock(&topic->lock);
    if (is_silent)
      tb__rehearsal_note(&rehearse->result, TB__STEP_RUN, TB__PROOF_NONE,
                         "%s: no message came; its budget is not proven", topic->name);
  }
}

static void judge_paths(rehearse_t *rehearse)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    observe_path_t *path = &rehearse->observe.paths[i];
    if (!path->from) continue;
    pthread_mutex_lock(&path->lock);
    tb__rehearsal_judge_path(&rehearse->result, path->from, path->to, &path->is);
    pthread_mutex_unlock(&path->lock);
  }
  if (rehearse->manifest.path_count > OBSERVE_PATHS_MAX)
    tb__rehearsal_note(&rehearse->result, TB__STEP_RUN, TB__PROOF_NONE,
                       "%zu paths are declared, and %d were measured; split the manifest",
                       rehearse->manifest.path_count, OBSERVE_PATHS_MAX);
}

void rehearse_judge_run(rehearse_t *rehearse)
{
  pthread_mutex_lock(&rehearse->tick_lock);
  tb__rehearsal_judge_factor(&rehearse->result, &rehearse->factor);
  pthread_mutex_unlock(&rehearse->tick_lock);
  size_t before = rehearse->result.steps[TB__STEP_RUN].count;
  judge_ages(rehearse);
  judge_paths(rehearse);
  if (rehearse->result.steps[TB__STEP_RUN].count > before) return;
  tb__rehearsal_note(&rehearse->result, TB__STEP_RUN, TB__PROOF_NONE,
                     "nothing limits ages and latencies: declare budgets of topics that the stack "
                     "publishes, or paths");
}
