#include "ros2/publisher_conflict.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define NAMES_LIMIT_NS (1000 * 1000 * 1000)

void tb__publisher_conflict_begin(tb__publisher_conflict_t *conflict, tb_ros2_context_t *context,
                                  const tb__guid_t writers[2], int64_t now_ns)
{
  memcpy(conflict->writers, writers, sizeof conflict->writers);
  conflict->names[0][0] = conflict->names[1][0] = '\0';
  conflict->is_pending = true;
  conflict->until_ns = now_ns + NAMES_LIMIT_NS;
  conflict->changes = 0;
  if (!conflict->graph && tb_ros2_graph_create(context, &conflict->graph, NULL) != TB_OK)
    conflict->until_ns = now_ns;
}

/* Accepts only characters of ROS names: others may send any. */
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
      if (tb__guid_is(&conflict->writers[j], endpoint->guid))
        take_name(snapshot->nodes[endpoint->node].full_name, conflict->names[j]);
  }
  tb_ros2_graph_snapshot_release(snapshot);
}

#define WRITER_TEXT_SIZE (TB_ROS2_NAME_SIZE + TB__GUID_TEXT_SIZE + 3)

/* "01.10.ab..." or "/sim (01.10.ab...)" */
static void describe(const tb__guid_t *writer, const char *node, char out[WRITER_TEXT_SIZE])
{
  char guid[TB__GUID_TEXT_SIZE];
  tb__guid_format(writer, guid);
  snprintf(out, WRITER_TEXT_SIZE, node[0] ? "%s (%s)" : "%s%s", node, guid);
}

static void log_conflict(tb__publisher_conflict_t *conflict, const char *topic, bool hold_to_first)
{
  char present[WRITER_TEXT_SIZE], added[WRITER_TEXT_SIZE];
  describe(&conflict->writers[0], conflict->names[0], present);
  describe(&conflict->writers[1], conflict->names[1], added);
  conflict->is_pending = false;
  tb__log(TB_LOG_WARN,
          "%s: two publishers tick at the same time, %s and %s; %s; stop one of them, or give them "
          "different topics",
          topic, present, added,
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
  log_conflict(conflict, topic, hold_to_first);
  forget_graph(conflict);
  return true;
}

void tb__publisher_conflict_fini(tb__publisher_conflict_t *conflict, const char *topic,
                                 bool hold_to_first)
{
  if (conflict->is_pending) log_conflict(conflict, topic, hold_to_first);
  forget_graph(conflict);
}
