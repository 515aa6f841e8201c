#include "publishers.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

void publishers_look(tb_ros2_graph_t *graph, const char *topic, publishers_t *out)
{
  *out = (publishers_t){0};
  if (!graph || tb_ros2_graph_snapshot(graph, &out->snapshot, NULL)) return;
  out->count = tb_ros2_graph_publishers(out->snapshot, topic, &out->items);
}

void publishers_forget(publishers_t *publishers)
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

static bool is_said(const publishers_t *publishers, size_t index)
{
  for (size_t i = 0; i < index; i++)
    if (!publishers_is_own(publishers, i) &&
        publishers->items[i].node == publishers->items[index].node)
      return true;
  return false;
}

void publishers_say_others(const publishers_t *publishers)
{
  size_t count = 0;
  for (size_t i = 0; i < publishers->count; i++) {
    int32_t node = publishers->items[i].node;
    if (publishers_is_own(publishers, i) || is_said(publishers, i)) continue;
    if (count++) fputs(" and ", stderr);
    text_print(stderr,
               node < 0 ? "a program without a node" : publishers->snapshot->nodes[node].full_name);
  }
}
