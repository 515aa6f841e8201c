#include "ros2/publisher_conflict.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define PATIENCE_NS (1000 * 1000 * 1000)

void tb__publisher_conflict_begin(tb__publisher_conflict_t *conflict, tb_ros2_context_t *context,
                                  const tb__writer_id_t writers[2], int64_t now_ns)
{
  memcpy(conflict->writers, writers, sizeof conflict->writers);
  conflict->names[0][0] = conflict->names[1][0] = '\0';
  conflict->is_pending = true;
  conflict->until_ns = now_ns + PATIENCE_NS;
  conflict->changes = 0;
  if (!conflict->graph && tb_ros2_graph_create(context, &conflict->graph, NULL) != TB_OK)
    conflict->until_ns = now_ns;
}

/* Of ROS's characters alone: others may send any. */
static void take_name(const char *full_name, char out[TB_ROS2_NAME_SIZE])
{
  static const char allowed[] = "/_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (full_name[strspn(full_name, allowed)] == '\0')
    snprintf(out, TB_ROS2_NAME_SIZE, "%s", full_name);
}

static void look_up(tb__publisher_conflict_t *conflict)
{
  const tb_ros2_graph_snapshot_t *snapshot;
  uint32_t changes = tb_ros2_graph_changes(conflict->graph);
  if (changes == conflict->changes ||
      tb_ros2_graph_snapshot(conflict->graph, &snapshot, NULL) != TB_OK)
    return;
  conflict->changes = changes;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    for (int j = 0; j < 2 && endpoint->node >= 0; j++)
      if (memcmp(endpoint->guid, conflict->writers[j].bytes, sizeof endpoint->guid) == 0)
        take_name(snapshot->nodes[endpoint->node].full_name, conflict->names[j]);
  }
  tb_ros2_graph_snapshot_release(snapshot);
}

/* "01.10.ab...", as ROS and Cyclone DDS write a GUID, or "/sim (01.10.ab...)" */
static void describe(const tb__writer_id_t *writer, const char *node, char *out, size_t size)
{
  size_t used = 0;
  if (node[0]) used += (size_t)snprintf(out, size, "%s (", node);
  for (int i = 0; i < writer->size && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, i ? ".%02x" : "%02x", writer->bytes[i]);
  if (node[0] && used < size) snprintf(out + used, size - used, ")");
}

static void say(tb__publisher_conflict_t *conflict, const char *topic, bool hold_to_first)
{
  char there[TB_ROS2_NAME_SIZE + 3 * TB__WRITER_ID_SIZE + 4] = "", came[sizeof there] = "";
  describe(&conflict->writers[0], conflict->names[0], there, sizeof there);
  describe(&conflict->writers[1], conflict->names[1], came, sizeof came);
  conflict->is_pending = false;
  tb__log(TB_LOG_WARN,
          "%s: two publishers tick at a time, %s and %s; %s. Stop one of them, or give them "
          "different topics",
          topic, there, came,
          hold_to_first ? "the first is followed" : "time follows both and may jump between them");
}

static void forget_graph(tb__publisher_conflict_t *conflict)
{
  tb_ros2_graph_destroy(conflict->graph);
  conflict->graph = NULL;
}

bool tb__publisher_conflict_report(tb__publisher_conflict_t *conflict, const char *topic,
                                   bool hold_to_first, int64_t now_ns)
{
  if (conflict->graph) look_up(conflict);
  bool are_known = conflict->names[0][0] && conflict->names[1][0];
  if (!are_known && now_ns < conflict->until_ns) return false;
  say(conflict, topic, hold_to_first);
  forget_graph(conflict);
  return true;
}

void tb__publisher_conflict_fini(tb__publisher_conflict_t *conflict, const char *topic,
                                 bool hold_to_first)
{
  if (conflict->is_pending) say(conflict, topic, hold_to_first);
  forget_graph(conflict);
}
