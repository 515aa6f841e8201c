#include "ros2/graph.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "dds/raw_reader.h"
#include "held/parking.h"
#include "platform/mutex.h"
#include "ros2/context.h"
#include "ros2/graph_snapshot.h"
#include "ros2/topic_endpoint.h"
#include "wait/call_wait.h"

struct tb_ros2_graph {
  tb__builtin_topics_t *topics;
  tb__raw_reader_t *infos;
  bool is_secured;
  tb__guid_t own_guid;
  _Atomic uint32_t changes;
  _Atomic uint32_t events; /* futex: a change, or a wait may have to end */

  tb__mutex_t mutex; /* taken by threads of DDS that may hold its locks: do not call DDS under it */
  tb__graph_model_t model;
  bool is_incomplete; /* something was lost: out of memory */
};

static void changed(tb_ros2_graph_t *graph)
{
  atomic_fetch_add(&graph->changes, 1);
  atomic_fetch_add(&graph->events, 1);
  tb__futex_wake_all(&graph->events);
}

void tb__ros2_graph_wake(tb_ros2_graph_t *graph)
{
  changed(graph);
}

static void on_participant(const tb__seen_participant_t *seen, void *user)
{
  tb_ros2_graph_t *graph = user;
  tb__mutex_lock(&graph->mutex);
  if (tb__graph_model_participant(&graph->model, seen) != TB_OK) graph->is_incomplete = true;
  tb__mutex_unlock(&graph->mutex);
  changed(graph);
}

static void on_endpoint(const tb__seen_endpoint_t *seen, void *user)
{
  tb_ros2_graph_t *graph = user;
  tb__mutex_lock(&graph->mutex);
  if (tb__graph_model_endpoint(&graph->model, seen) != TB_OK) graph->is_incomplete = true;
  tb__mutex_unlock(&graph->mutex);
  changed(graph);
}

static void on_info(const tb_ros2_sample_t *sample, void *user)
{
  tb_ros2_graph_t *graph = user;
  tb__guid_t writer = tb__guid_of(sample->writer_guid);
  tb__mutex_lock(&graph->mutex);
  if (tb__graph_model_info(&graph->model, &writer, sample->cdr, sample->size) != TB_OK)
    graph->is_incomplete = true;
  tb__mutex_unlock(&graph->mutex);
  changed(graph);
}

static void interfaces_note(tb_ros2_graph_t *graph)
{
  char interfaces[sizeof graph->model.interfaces];
  tb__raw_reader_interfaces(graph->infos, interfaces, sizeof interfaces);
  tb__mutex_lock(&graph->mutex);
  memcpy(graph->model.interfaces, interfaces, sizeof interfaces);
  tb__mutex_unlock(&graph->mutex);
}

/* DDS reports a participant before it delivers samples of that participant. */
static tb_status_t graph_open(tb_ros2_graph_t *graph, tb_ros2_context_t *context, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.history = TB_QOS_KEEP_ALL;
  qos.avoid_ros_namespace_conventions = true;
  tb__participant_t *participant = tb__ros2_context_participant(context);
  tb__builtin_callbacks_t callbacks = {on_participant, on_endpoint, graph};
  tb__topic_endpoint_t endpoint;
  graph->own_guid = tb__participant_guid(participant);
  graph->is_secured = tb__participant_is_secured(participant);
  tb_status_t status =
      tb__topic_endpoint_init(&endpoint, context, "ros_discovery_info",
                              "rmw_dds_common/msg/ParticipantEntitiesInfo", &qos, error);
  if (!status) status = tb__builtin_topics_create(participant, &callbacks, &graph->topics, error);
  if (!status)
    status =
        tb__raw_reader_create(participant, &endpoint.options, on_info, graph, &graph->infos, error);
  if (!status) interfaces_note(graph);
  return status;
}

tb_status_t tb_ros2_graph_create(tb_ros2_context_t *context, tb_ros2_graph_t **out,
                                 tb_error_t *error)
{
  if (!context || !out) return tb__null_argument(error, __func__);
  tb_ros2_graph_t *graph = calloc(1, sizeof *graph);
  if (!graph) return tb__no_memory_for(error, "graph");
  tb__mutex_init(&graph->mutex);
  tb_status_t status = graph_open(graph, context, error);
  if (status) {
    tb_ros2_graph_destroy(graph);
    return status;
  }
  *out = graph;
  return TB_OK;
}

void tb_ros2_graph_destroy(tb_ros2_graph_t *graph)
{
  if (!graph) return;
  tb__raw_reader_destroy(graph->infos);
  tb__builtin_topics_destroy(graph->topics);
  tb__mutex_lock(&graph->mutex);
  if (!tb__is_forked()) tb__graph_model_fini(&graph->model); /* else a change may be half done */
  tb__mutex_unlock(&graph->mutex);
  tb__mutex_fini(&graph->mutex);
  free(graph);
}

static bool next_undiscovered(tb_ros2_graph_t *graph, size_t *at, tb__guid_t *out)
{
  tb__mutex_lock(&graph->mutex);
  bool found = tb__graph_model_next_undiscovered(&graph->model, at, out);
  tb__mutex_unlock(&graph->mutex);
  return found;
}

/* DDS does not report when all endpoints of a participant have arrived. */
static void discovered_note(tb_ros2_graph_t *graph)
{
  tb__guid_t guid;
  for (size_t at = 0; !graph->is_secured && next_undiscovered(graph, &at, &guid);) {
    if (!tb__raw_reader_has_all_writers_of(graph->infos, &guid)) continue;
    tb__mutex_lock(&graph->mutex);
    tb__graph_model_discovered(&graph->model, &guid);
    tb__mutex_unlock(&graph->mutex);
  }
}

static tb_status_t snapshot_take(tb_ros2_graph_t *graph, tb_ros2_graph_snapshot_t **out)
{
  discovered_note(graph);
  tb__mutex_lock(&graph->mutex);
  uint32_t change = atomic_load(&graph->changes);
  tb_status_t status = graph->is_incomplete
                           ? TB_ERR_NO_MEMORY
                           : tb__graph_snapshot_build(&graph->model, &graph->own_guid, change, out);
  tb__mutex_unlock(&graph->mutex);
  return status;
}

tb_status_t tb_ros2_graph_snapshot(tb_ros2_graph_t *graph, const tb_ros2_graph_snapshot_t **out,
                                   tb_error_t *error)
{
  if (!graph || !out) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "graph: %s", tb_status_message(TB_ERR_FORKED));
  tb_ros2_graph_snapshot_t *snapshot;
  tb_status_t status = snapshot_take(graph, &snapshot);
  if (status) return tb_error_set(error, status, "graph: %s", tb_status_message(status));
  *out = snapshot;
  return TB_OK;
}

void tb_ros2_graph_snapshot_release(const tb_ros2_graph_snapshot_t *snapshot)
{
  free((void *)(uintptr_t)snapshot);
}

uint32_t tb_ros2_graph_changes(const tb_ros2_graph_t *graph)
{
  if (!graph) return 0;
  return atomic_load(&graph->changes);
}

typedef struct awaited {
  tb_ros2_graph_t *graph;
  uint32_t seen;
  const char *full_name;
} awaited_t;

static tb_status_t wait_for(awaited_t *awaited, const tb_wait_options_t *options,
                            tb_status_t (*condition)(void *user))
{
  if (options && !tb__limit_is_valid(options->limit)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  return tb__call_wait(options, &awaited->graph->events, condition, awaited);
}

static tb_status_t has_changed(void *user)
{
  const awaited_t *awaited = user;
  return atomic_load(&awaited->graph->changes) != awaited->seen ? TB_OK : TB_ERR_TIMEOUT;
}

tb_status_t tb_ros2_graph_wait_for_change_sized(tb_ros2_graph_t *graph, uint32_t seen,
                                                const tb_wait_options_t *options,
                                                size_t options_size)
{
  tb_wait_options_t known;
  if (!graph) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  awaited_t awaited = {.graph = graph, .seen = seen};
  return wait_for(&awaited, options, has_changed);
}

static tb_status_t has_node(void *user)
{
  const awaited_t *awaited = user;
  tb_ros2_graph_t *graph = awaited->graph;
  tb__mutex_lock(&graph->mutex);
  bool has = tb__graph_model_has_node(&graph->model, awaited->full_name);
  tb__mutex_unlock(&graph->mutex);
  return has ? TB_OK : TB_ERR_TIMEOUT;
}

tb_status_t tb_ros2_graph_wait_for_node_sized(tb_ros2_graph_t *graph, const char *full_name,
                                              const tb_wait_options_t *options, size_t options_size)
{
  tb_wait_options_t known;
  if (!graph || !full_name) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  awaited_t awaited = {.graph = graph, .full_name = full_name};
  return wait_for(&awaited, options, has_node);
}

const tb_ros2_graph_node_t *tb_ros2_graph_find_node(const tb_ros2_graph_snapshot_t *snapshot,
                                                    const char *full_name)
{
  if (!snapshot || !full_name) return NULL;
  for (size_t i = 0; i < snapshot->node_count; i++) {
    if (strcmp(snapshot->nodes[i].full_name, full_name) == 0) return &snapshot->nodes[i];
  }
  return NULL;
}

const tb_ros2_graph_participant_t *
tb_ros2_graph_find_participant(const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16])
{
  if (!snapshot || !guid) return NULL;
  for (size_t low = 0, high = snapshot->participant_count; low < high;) {
    size_t middle = low + (high - low) / 2;
    int order = memcmp(snapshot->participants[middle].guid, guid, TB__GUID_SIZE);
    if (order == 0) return &snapshot->participants[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static size_t topic_find(const tb_ros2_graph_snapshot_t *snapshot, const char *topic,
                         bool is_publisher, const tb_ros2_graph_endpoint_t **out_first)
{
  size_t count = 0;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || endpoint->is_publisher != is_publisher ||
        strcmp(endpoint->name, topic) != 0)
      continue;
    if (count++ == 0) *out_first = endpoint;
  }
  return count;
}

size_t tb_ros2_graph_publishers(const tb_ros2_graph_snapshot_t *snapshot, const char *topic,
                                const tb_ros2_graph_endpoint_t **out_first)
{
  if (!snapshot || !topic || !out_first) return 0;
  return topic_find(snapshot, topic, true, out_first);
}

size_t tb_ros2_graph_subscriptions(const tb_ros2_graph_snapshot_t *snapshot, const char *topic,
                                   const tb_ros2_graph_endpoint_t **out_first)
{
  if (!snapshot || !topic || !out_first) return 0;
  return topic_find(snapshot, topic, false, out_first);
}

uint32_t tb_ros2_graph_mismatches(const tb_ros2_graph_endpoint_t *publisher,
                                  const tb_ros2_graph_endpoint_t *subscription)
{
  if (!publisher || !subscription) return 0;
  const tb_ros2_endpoint_dds_qos_t *offered = &publisher->dds_qos;
  const tb_ros2_endpoint_dds_qos_t *requested = &subscription->dds_qos;
  uint32_t mismatches = tb_qos_mismatches(&publisher->qos, &subscription->qos);
  if (offered->durability < requested->durability) mismatches |= TB_QOS_POLICY_DURABILITY;
  if (offered->liveliness < requested->liveliness) mismatches |= TB_QOS_POLICY_LIVELINESS;
  if (offered->exclusive_ownership != requested->exclusive_ownership)
    mismatches |= TB_QOS_POLICY_OWNERSHIP;
  if (offered->has_partition != requested->has_partition) mismatches |= TB_QOS_POLICY_PARTITION;
  if ((offered->representations & requested->representations) == 0)
    mismatches |= TB_QOS_POLICY_DATA_REPRESENTATION;
  if (strcmp(publisher->type, subscription->type) != 0) mismatches |= TB_QOS_POLICY_TYPE;
  return mismatches;
}
