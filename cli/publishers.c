#include "publishers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "unnamed.h"

void publishers_find(tb_ros2_graph_t *graph, const char *topic, publishers_t *out)
{
  *out = (publishers_t){0};
  if (!graph || tb_ros2_graph_snapshot(graph, &out->snapshot, NULL)) return;
  out->count = tb_ros2_graph_publishers(out->snapshot, topic, &out->items);
}

void publishers_release(publishers_t *publishers)
{
  tb_ros2_graph_snapshot_release(publishers->snapshot);
  *publishers = (publishers_t){0};
}

bool publishers_is_own(const publishers_t *publishers, size_t index)
{
  const tb_ros2_graph_snapshot_t *snapshot = publishers->snapshot;
  const uint8_t *guid = publishers->items[index].participant_guid;
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (snapshot->nodes[i].is_own && memcmp(snapshot->nodes[i].participant_guid, guid, 16) == 0)
      return true;
  return false;
}

size_t publishers_count_others(const publishers_t *publishers)
{
  size_t count = 0;
  for (size_t i = 0; i < publishers->count; i++)
    count += !publishers_is_own(publishers, i);
  return count;
}

static bool is_printed(const publishers_t *publishers, size_t index)
{
  for (size_t i = 0; i < index; i++)
    if (!publishers_is_own(publishers, i) &&
        publishers->items[i].node == publishers->items[index].node)
      return true;
  return false;
}

void publishers_print_others(FILE *out, const publishers_t *publishers)
{
  size_t count = 0;
  for (size_t i = 0; i < publishers->count; i++) {
    int32_t node = publishers->items[i].node;
    if (publishers_is_own(publishers, i) || is_printed(publishers, i)) continue;
    if (count++) text_to(out, " and ");
    text_to(out, "%s",
            node >= 0 ? publishers->snapshot->nodes[node].full_name
            : unnamed_has(publishers->snapshot, &publishers->items[i])
                ? "a node whose name is not known yet"
                : "a program without a node");
  }
}

/* --- QoS --- */

const char *publishers_policy_value(const tb_ros2_graph_endpoint_t *endpoint,
                                    tb_qos_policy_t policy)
{
  static const char *const durabilities[] = {"volatile", "transient local", "transient",
                                             "persistent"};
  static const char *const kinds[] = {"automatic", "manual by participant", "manual by topic"};
  const tb_ros2_endpoint_dds_qos_t *dds = &endpoint->dds_qos;
  switch (policy) {
  case TB_QOS_POLICY_RELIABILITY:
    return endpoint->qos.reliability == TB_QOS_RELIABLE ? "reliable" : "best effort";
  case TB_QOS_POLICY_DURABILITY:
    return durabilities[dds->durability & 3];
  case TB_QOS_POLICY_LIVELINESS:
    return kinds[dds->liveliness % 3];
  case TB_QOS_POLICY_OWNERSHIP:
    return dds->exclusive_ownership ? "exclusive" : "shared";
  case TB_QOS_POLICY_PARTITION:
    return dds->has_partition ? "another" : "the default";
  default:
    return NULL;
  }
}

void publishers_print_policies(FILE *out, const tb_ros2_graph_endpoint_t *publisher,
                               const tb_ros2_graph_endpoint_t *subscription, uint32_t mismatches)
{
  const char *between = "";
  for (uint32_t bit = 1; bit && bit <= mismatches; bit <<= 1) {
    tb_qos_policy_t policy = (tb_qos_policy_t)bit;
    const char *name = mismatches & bit ? tb_qos_policy_name(policy) : NULL;
    const char *offered = publishers_policy_value(publisher, policy);
    if (!name) continue;
    text_to(out, "%s%s differs", between, name);
    if (offered)
      text_to(out, " (%s offered, %s requested)", offered,
              publishers_policy_value(subscription, policy));
    between = ", ";
  }
}

/* --- a watch --- */

tb_status_t publishers_watch_open(publishers_watch_t *watch, tb_ros2_context_t *context,
                                  const tb_ros2_node_t *node, const char *topic,
                                  const char *elsewhere, tb_error_t *error)
{
  *watch = (publishers_watch_t){.node = node, .topic = topic, .elsewhere = elsewhere};
  return tb_ros2_graph_create(context, &watch->graph, error);
}

void publishers_watch_close(publishers_watch_t *watch)
{
  tb_ros2_graph_destroy(watch->graph);
  *watch = (publishers_watch_t){0};
}

static char *warning_of(const publishers_watch_t *watch, const char *topic,
                        const publishers_t *publishers)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  text_to(stream, "%s is also published by ", topic);
  publishers_print_others(stream, publishers);
  text_to(stream,
          ": time will jump between the two; stop one of them, or give one another %s or "
          "--domain",
          watch->elsewhere);
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}

static char *look_for_others(publishers_watch_t *watch, const char *topic)
{
  publishers_t publishers;
  char *warning = NULL;
  publishers_find(watch->graph, topic, &publishers);
  size_t others = publishers_count_others(&publishers);
  bool is_present = others < publishers.count; /* ours has been discovered */
  if (is_present && others && !watch->has_others) warning = warning_of(watch, topic, &publishers);
  if (is_present) watch->has_others = others > 0;
  publishers_release(&publishers);
  return warning;
}

char *publishers_watch_poll(publishers_watch_t *watch)
{
  char topic[TB_ROS2_NAME_SIZE], *warning = NULL;
  if (!watch->graph) return NULL;
  uint32_t changes = tb_ros2_graph_changes(watch->graph);
  bool is_settled = changes == watch->changes;
  watch->changes = changes;
  if (is_settled && !watch->is_seen &&
      tb_ros2_node_resolve_topic_name(watch->node, watch->topic, topic, NULL) == TB_OK)
    warning = look_for_others(watch, topic);
  watch->is_seen = is_settled;
  return warning;
}
