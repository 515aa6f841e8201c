/* Follows the graph on a thread: subscribes to what is wanted, and hands samples to the core. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "bag/offers.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "definition/message_definition.h"
#include "platform/time.h"
#include "ros2/graph.h"
#include "rosbag2/graph_recorder.h"
#include "wire/clock_message.h"

#define EXPRESSIONS_WARN_NS (3 * TB_NS_PER_S) /* discovery is over then */
#define SETTLED_NS          (5 * TB_NS_PER_S) /* the same with Fast DDS, which takes up to 4 s */
#define WRITERS_MAX         256               /* of a topic, whose numbers are followed */

/* --- samples --- */

static tb__record_writer_t *writer_add(tb__record_topic_t *topic)
{
  if (topic->writer_count == WRITERS_MAX)
    return &topic->writers[topic->next_writer++ % WRITERS_MAX];
  tb__record_writer_t *writers =
      reallocarray(topic->writers, topic->writer_count + 1, sizeof *writers);
  if (!writers) return NULL;
  topic->writers = writers;
  return &writers[topic->writer_count++];
}

/* The number is higher than the last one. */
static void number_take(const tb__record_topic_t *topic, tb__record_writer_t *writer,
                        uint64_t sequence, uint64_t *out_lost, uint64_t *out_gap)
{
  uint64_t gap = sequence - writer->sequence - 1;
  bool follows_odd = writer->odd_sequence && sequence == writer->odd_sequence + 1;
  if (gap > topic->gap_max && !follows_odd) {
    writer->odd_sequence = sequence;
    *out_gap = gap;
    return;
  }
  if (gap <= topic->gap_max) *out_lost = gap;
  writer->odd_sequence = 0;
  writer->sequence = sequence;
}

bool tb__record_is_new(tb__record_topic_t *topic, const tb_ros2_sample_t *sample,
                       uint64_t *out_lost, uint64_t *out_before, uint64_t *out_gap)
{
  static const tb__guid_t zeros;
  tb__guid_t guid = tb__guid_of(sample->writer_guid);
  *out_lost = *out_before = *out_gap = 0;
  if (sample->sequence == 0 || tb__guid_equal(&guid, &zeros)) return true;
  for (size_t i = 0; i < topic->writer_count; i++) {
    tb__record_writer_t *writer = &topic->writers[i];
    if (!tb__guid_equal(&writer->guid, &guid)) continue;
    if (sample->sequence <= writer->sequence) return false;
    number_take(topic, writer, sample->sequence, out_lost, out_gap);
    return true;
  }
  bool forgets = topic->writer_count == WRITERS_MAX; /* it may have been known */
  tb__record_writer_t *writer = writer_add(topic);
  if (!writer) return true;
  if (!forgets && sample->sequence - 1 <= topic->gap_max) *out_before = sample->sequence - 1;
  writer->guid = guid;
  writer->sequence = sample->sequence;
  writer->odd_sequence = 0;
  return true;
}

static void report_gap(tb__record_topic_t *topic, uint64_t gap)
{
  if (topic->reported_gap) return;
  topic->reported_gap = true;
  tb__log(TB_LOG_WARN,
          "%s: a publisher's sequence numbers jumped by %" PRIu64
          ", more than the largest gap that is "
          "counted; how many messages were lost is unknown (--max-gap, "
          "tb_ros2_recorder_options_t.gap_max)",
          topic->name, gap);
}

/* Whether the publisher may have begun before the recording did. */
static bool is_old(tb_ros2_recorder_t *recorder, const tb__guid_t *writer)
{
  if (tb__steady_now_ns() < recorder->settled_ns) return true;
  tb__mutex_lock(&recorder->mutex);
  size_t i = 0;
  while (i < recorder->old_writer_count && !tb__guid_equal(&recorder->old_writers[i], writer))
    i++;
  bool found = i < recorder->old_writer_count;
  tb__mutex_unlock(&recorder->mutex);
  return found;
}

/* Numbers begin at 1. What is latched was replaced, not lost. */
static void note_before(const tb__record_topic_t *topic, const tb_ros2_sample_t *sample,
                        uint64_t before)
{
  tb__guid_t writer = tb__guid_of(sample->writer_guid);
  if (topic->qos.durability == TB_QOS_TRANSIENT_LOCAL) return;
  if (is_old(topic->recorder, &writer))
    tb_recorder_note_before(topic->recorder->core, topic->index, before);
  else
    tb_recorder_note_lost(topic->recorder->core, topic->index, before);
}

static void on_sample(const tb_ros2_sample_t *sample, void *user)
{
  tb__record_topic_t *topic = user;
  tb_recorder_t *core = topic->recorder->core;
  uint64_t lost, before, gap;
  if (!tb__record_is_new(topic, sample, &lost, &before, &gap) && topic->is_renewed) return;
  if (gap > 0) report_gap(topic, gap);
  if (before > 0 && !tb_recorder_is_paused(core)) note_before(topic, sample, before);
  if (lost > 0 && !tb_recorder_is_paused(core)) tb_recorder_note_lost(core, topic->index, lost);
  tb_recorder_message_t message = {.data = sample->cdr,
                                   .size = sample->size,
                                   .receive_ns = sample->receive_timestamp_ns,
                                   .source_ns = sample->source_timestamp_ns,
                                   .latched = topic->is_latched};
  if (topic->is_clock &&
      tb__clock_message_decode(sample->cdr, sample->size, &message.clock_ns) != TB_OK)
    message.clock_ns = 0;
  tb_recorder_take(core, topic->index, &message); /* which counts what it does not keep */
}

/* --- topics --- */

tb_qos_t tb__record_qos(const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.history = TB_QOS_KEEP_ALL; /* samples are taken as they come: nothing piles up */
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  for (size_t i = 0; i < count; i++) {
    if (publishers[i].qos.reliability != TB_QOS_RELIABLE) qos.reliability = TB_QOS_BEST_EFFORT;
    if (publishers[i].qos.durability != TB_QOS_TRANSIENT_LOCAL) qos.durability = TB_QOS_VOLATILE;
  }
  return qos;
}

/* Unlike /rosout, whose messages last for seconds. */
static bool is_latched(const tb_qos_t *qos, const tb_ros2_graph_endpoint_t *publishers,
                       size_t count)
{
  bool lasts = qos->durability == TB_QOS_TRANSIENT_LOCAL;
  for (size_t i = 0; i < count; i++)
    lasts = lasts && publishers[i].qos.lifespan.ns == TB_QOS_INFINITE.ns;
  return lasts;
}

static tb__qos_offer_t offer_of(const tb_qos_t *qos)
{
  return (tb__qos_offer_t){
      .history = qos->history,
      .depth = qos->depth,
      .reliability = qos->reliability,
      .durability = qos->durability,
      .liveliness = qos->liveliness,
      .deadline_ns = qos->deadline.ns,
      .lifespan_ns = qos->lifespan.ns,
      .lease_ns = qos->liveliness_lease.ns,
      .avoid_ros_namespace_conventions = qos->avoid_ros_namespace_conventions,
  };
}

/* What the publishers offer, as the bag keeps it; NULL: out of memory. */
static char *offers_text(const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  char *text = NULL;
  tb__qos_offers_t offers = {calloc(count + 1, sizeof *offers.items), count};
  if (!offers.items) return NULL;
  for (size_t i = 0; i < count; i++)
    offers.items[i] = offer_of(&publishers[i].qos);
  if (tb__qos_offers_text(&offers, &text, NULL) != TB_OK) text = NULL;
  free(offers.items);
  return text;
}

static void topic_destroy(tb__record_topic_t *topic)
{
  tb_ros2_subscription_destroy(topic->subscription);
  free(topic->writers);
  free(topic->name);
  free(topic->type);
  free(topic);
}

static tb__record_topic_t *topic_create(tb_ros2_recorder_t *recorder,
                                        const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  tb__record_topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return NULL;
  topic->recorder = recorder;
  topic->gap_max = recorder->gap_max;
  topic->name = strdup(publishers[0].name);
  topic->type = strdup(publishers[0].type);
  topic->is_clock = strcmp(publishers[0].name, TB__CLOCK_TOPIC) == 0;
  topic->qos = (tb_qos_t)TB_QOS_INIT_DEFAULT;
  topic->is_overridden =
      tb_qos_overrides_apply(recorder->overrides, publishers[0].name, &topic->qos);
  if (!topic->is_overridden) topic->qos = tb__record_qos(publishers, count);
  topic->qos.has_key = publishers[0].qos.has_key;
  topic->is_latched = is_latched(&topic->qos, publishers, count);
  if (topic->name && topic->type) return topic;
  topic_destroy(topic);
  return NULL;
}

static tb_status_t subscribe(tb__record_topic_t *topic, tb_error_t *error)
{
  tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  options.callback = on_sample;
  options.user = topic;
  return tb_ros2_node_create_subscription(topic->recorder->node, topic->name, topic->type,
                                          &topic->qos, &options, &topic->subscription, error);
}

/* Without a text if there is none that a recording can have. */
static tb__found_definition_t find_definition(const char *type)
{
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  tb__found_definition_t found = {.text = NULL};
  if (tb__message_definition_find(type, TB__DEFINITION_UNKNOWN, &places, &found))
    return (tb__found_definition_t){.text = NULL};
  if (strcmp(found.encoding, TB__MESSAGE_MIXED_ENCODING) != 0) return found;
  free(found.text);
  return (tb__found_definition_t){.text = NULL};
}

static tb_status_t topic_open(tb__record_topic_t *topic, const tb_ros2_graph_endpoint_t *publishers,
                              size_t count, tb_error_t *error)
{
  tb_ros2_recorder_t *recorder = topic->recorder;
  char *offers = offers_text(publishers, count);
  if (publishers[0].type_hash) /* the subscription announces it too, as that of ros2 bag record */
    tb_ros2_type_hash_register(topic->type, publishers[0].type_hash, NULL);
  tb__found_definition_t definition = find_definition(topic->type);
  tb_bag_writer_topic_t info = {.name = topic->name,
                                .type = topic->type,
                                .offers = offers,
                                .type_hash = publishers[0].type_hash,
                                .definition = definition.text,
                                .definition_encoding = definition.encoding};
  tb_status_t status = offers ? tb_recorder_add_topic(recorder->core, &info, &topic->index, error)
                              : tb__no_memory(error);
  free(offers);
  free(definition.text);
  return !status ? subscribe(topic, error) : status;
}

/* A topic that fails stays on the list, so that it is reported once. */
static void topic_begin(tb_ros2_recorder_t *recorder, const tb_ros2_graph_endpoint_t *publishers,
                        size_t count)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__record_topic_t *topic = topic_create(recorder, publishers, count);
  if (!topic) {
    tb__log(TB_LOG_ERROR, "recorder: %s is not recorded: out of memory", publishers[0].name);
    return;
  }
  topic->next = recorder->topics;
  recorder->topics = topic;
  if (topic_open(topic, publishers, count, &error) != TB_OK)
    tb__log(TB_LOG_ERROR, "recorder: %s is not recorded: %s", topic->name, error.text);
  else
    tb__log(TB_LOG_INFO, "recorder: %s (%s)", topic->name, topic->type);
}

static tb__record_topic_t *topic_find(const tb_ros2_recorder_t *recorder, const char *name)
{
  tb__record_topic_t *topic = recorder->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  return topic;
}

/* --- the graph --- */

/* Of one type: the first. */
static size_t of_one_type(const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  size_t same = count > 0;
  while (same < count && strcmp(publishers[same].type, publishers[0].type) == 0)
    same++;
  return same;
}

static bool all_match(const tb__record_topic_t *topic, const tb_ros2_graph_endpoint_t *publishers,
                      size_t count, uint32_t *out_mismatches)
{
  *out_mismatches = 0;
  for (size_t i = 0; i < count && *out_mismatches == 0; i++)
    *out_mismatches = tb_qos_mismatches(&publishers[i].qos, &topic->qos);
  return *out_mismatches == 0;
}

/* A publisher has come that the subscription is too demanding for: another takes its place. What is
 * lost in between shows in the numbers. */
static void renew(tb__record_topic_t *topic, const tb_ros2_graph_endpoint_t *publishers,
                  size_t count, uint32_t mismatches)
{
  tb_error_t error = TB_ERROR_INIT;
  const char *policy = tb_qos_policy_name((tb_qos_policy_t)(mismatches & (0u - mismatches)));
  if (topic->is_overridden) {
    if (!topic->reported_qos)
      tb__log(TB_LOG_WARN,
              "recorder: %s: a publisher is not recorded, its %s does not match the overrides",
              topic->name, policy);
    topic->reported_qos = true;
    return;
  }
  tb_ros2_subscription_destroy(topic->subscription);
  topic->subscription = NULL;
  topic->is_renewed = true;
  bool has_key = topic->qos.has_key;
  topic->qos = tb__record_qos(publishers, count);
  topic->qos.has_key = has_key;
  topic->is_latched = is_latched(&topic->qos, publishers, count);
  if (subscribe(topic, &error) != TB_OK)
    tb__log(TB_LOG_ERROR, "recorder: %s is not recorded any more: %s", topic->name, error.text);
  else
    tb__log(TB_LOG_INFO, "recorder: %s: subscribed again, as publishers differ in %s", topic->name,
            policy);
}

static void report_type(tb__record_topic_t *topic, const char *type)
{
  if (!topic->reported_type)
    tb__log(TB_LOG_WARN, "recorder: %s: a publisher of type %s is not recorded, only %s",
            topic->name, type, topic->type);
  topic->reported_type = true;
}

/* DDS matches endpoints of one kind. */
static void check_kinds(tb__record_topic_t *topic, const tb_ros2_graph_endpoint_t *publishers,
                        size_t count)
{
  for (size_t i = 0; i < count && !topic->reported_kind; i++) {
    topic->reported_kind = publishers[i].qos.has_key != topic->qos.has_key;
    if (topic->reported_kind)
      tb__log(TB_LOG_WARN,
              "recorder: %s: a publisher is not recorded: its type has %s, that of the first one "
              "has %s (@key in the definition)",
              topic->name, topic->qos.has_key ? "no key" : "a key",
              topic->qos.has_key ? "one" : "none");
  }
}

/* Publishers of one type are adjacent, too. */
static void check_publishers(tb__record_topic_t *topic, const tb_ros2_graph_endpoint_t *publishers,
                             size_t count)
{
  uint32_t mismatches;
  for (size_t i = 0, same; i < count; i += same) {
    same = of_one_type(&publishers[i], count - i);
    if (strcmp(publishers[i].type, topic->type) == 0) check_kinds(topic, &publishers[i], same);
    if (strcmp(publishers[i].type, topic->type) != 0)
      report_type(topic, publishers[i].type);
    else if (topic->subscription && !all_match(topic, &publishers[i], same, &mismatches))
      renew(topic, &publishers[i], same, mismatches);
  }
}

/* Endpoints of one topic are adjacent, publishers first. */
typedef struct topic_view {
  const tb_ros2_graph_endpoint_t *first;
  size_t publishers, all;
} topic_view_t;

static topic_view_t topic_at(const tb_ros2_graph_snapshot_t *graph, size_t first)
{
  topic_view_t topic = {&graph->endpoints[first], 0, 1};
  size_t left = graph->endpoint_count - first;
  while (topic.all < left && topic.first[topic.all].kind == topic.first->kind &&
         strcmp(topic.first[topic.all].name, topic.first->name) == 0)
    topic.all++;
  while (topic.publishers < topic.all && topic.first[topic.publishers].is_publisher)
    topic.publishers++;
  return topic;
}

static bool has_other_subscriber(const tb_ros2_graph_snapshot_t *graph, const topic_view_t *topic)
{
  for (size_t i = topic->publishers; i < topic->all; i++) {
    const tb_ros2_graph_participant_t *participant =
        tb_ros2_graph_find_participant(graph, topic->first[i].participant_guid);
    if (!participant || !participant->is_own) return true;
  }
  return false;
}

/* Whether a topic that is selected is to be recorded from now on. */
static bool begins(const tb_ros2_recorder_t *recorder, const tb_ros2_graph_snapshot_t *graph,
                   const topic_view_t *topic)
{
  if (tb__steady_now_ns() > recorder->no_new_after_ns) return false;
  if (topic->publishers > 0 && !recorder->ignore_leaf_topics) return true;
  if (topic->publishers == 0 && !recorder->include_unpublished) return false;
  return has_other_subscriber(graph, topic);
}

/* All that are there while discovery is not over; with ignore_leaf_topics topics begin later than
 * their publishers. */
static void note_old_writers(tb_ros2_recorder_t *recorder, const tb_ros2_graph_snapshot_t *graph)
{
  if (tb__steady_now_ns() >= recorder->settled_ns && !recorder->ignore_leaf_topics) return;
  tb__mutex_lock(&recorder->mutex);
  tb__guid_t *old = reallocarray(recorder->old_writers, graph->endpoint_count + 1, sizeof *old);
  if (old) {
    recorder->old_writers = old;
    recorder->old_writer_count = 0;
    for (size_t i = 0; i < graph->endpoint_count; i++)
      if (graph->endpoints[i].is_publisher)
        old[recorder->old_writer_count++] = tb__guid_of(graph->endpoints[i].guid);
  }
  tb__mutex_unlock(&recorder->mutex);
}

static void look(tb_ros2_recorder_t *recorder, const tb_ros2_graph_snapshot_t *graph)
{
  topic_view_t view;
  note_old_writers(recorder, graph);
  for (size_t i = 0; i < graph->endpoint_count; i += view.all) {
    view = topic_at(graph, i);
    if (view.first->kind == TB_ROS2_ENDPOINT_TOPIC &&
        strcmp(view.first->name, TB__CLOCK_TOPIC) == 0)
      tb__record_publishers_note(recorder, graph, view.first, view.publishers);
    if (view.first->kind != TB_ROS2_ENDPOINT_TOPIC ||
        !tb__topic_filter_wants(&recorder->filter, view.first->name, view.first->type))
      continue;
    tb__record_topic_t *topic = topic_find(recorder, view.first->name);
    if (!topic && begins(recorder, graph, &view)) {
      topic_begin(recorder, view.first, of_one_type(view.first, view.publishers));
      topic = topic_find(recorder, view.first->name);
    }
    if (!topic) continue;
    check_publishers(topic, view.first, view.publishers);
    tb__record_publishers_note(recorder, graph, view.first, view.publishers);
  }
}

/* Warns, once it is time to, of expressions that match nothing. Returns how long to wait for it. */
static tb_duration_t check_expressions(tb_ros2_recorder_t *recorder, int64_t *warn_at_ns)
{
  int64_t left_ns = *warn_at_ns - tb__steady_now_ns();
  if (*warn_at_ns == INT64_MAX) return TB_NO_LIMIT;
  if (left_ns > 0) return (tb_duration_t){left_ns};
  *warn_at_ns = INT64_MAX;
  tb__topic_filter_report(&recorder->filter, " so far");
  return TB_NO_LIMIT;
}

static void *follow(void *user)
{
  tb_ros2_recorder_t *recorder = user;
  int64_t warn_at_ns = tb__steady_now_ns() + EXPRESSIONS_WARN_NS;
  while (!atomic_load(&recorder->stopping)) {
    uint32_t seen = tb_ros2_graph_changes(recorder->graph);
    const tb_ros2_graph_snapshot_t *graph = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (tb_ros2_graph_snapshot(recorder->graph, &graph, &error) == TB_OK) {
      look(recorder, graph);
      tb_ros2_graph_snapshot_release(graph);
    } else {
      tb__log(TB_LOG_ERROR, "recorder: topics may be missed: %s", error.text);
    }
    tb_duration_t limit = check_expressions(recorder, &warn_at_ns);
    if (!atomic_load(&recorder->stopping))
      (void)!tb_ros2_graph_wait_for_change(recorder->graph, seen,
                                           &(tb_wait_options_t){.limit = limit});
  }
  return NULL;
}

tb_status_t tb__record_transport_start(tb_ros2_recorder_t *recorder, tb_error_t *error)
{
  tb_status_t status =
      tb_ros2_graph_create(tb_ros2_node_context(recorder->node), &recorder->graph, error);
  if (status) return status;
  recorder->settled_ns = tb__steady_now_ns() + SETTLED_NS;
  status = tb__thread_start(&recorder->thread, "tb-record", follow, recorder);
  if (status) return tb_error_set(error, status, "recorder: cannot create a thread");
  recorder->has_thread = true;
  return TB_OK;
}

void tb__record_transport_stop(tb_ros2_recorder_t *recorder)
{
  if (recorder->has_thread && !tb__is_forked()) {
    atomic_store(&recorder->stopping, true);
    tb__ros2_graph_wake(recorder->graph);
    tb__thread_join(&recorder->thread);
    tb__topic_filter_report(&recorder->filter, "");
  }
  recorder->has_thread = false;
  while (recorder->topics) {
    tb__record_topic_t *topic = recorder->topics;
    recorder->topics = topic->next;
    topic_destroy(topic);
  }
  tb_ros2_graph_destroy(recorder->graph);
  recorder->graph = NULL;
  free(recorder->old_writers);
  recorder->old_writers = NULL;
  recorder->old_writer_count = 0;
}
