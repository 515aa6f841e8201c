/* Announcements of others, taken into the graph. The input is a series of steps: a byte for the
 * kind of announcement, a byte for the participant, a byte of length, and that many bytes. Every
 * graph must be shown, and what is shown must be consistent. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ros2/graph_snapshot.h"

#define STEP_HEAD 3

static void guid_fill(uint8_t out[16], unsigned participant, uint8_t entity, uint8_t kind)
{
  memset(out, (int)(participant % 4 + 1), 12);
  memcpy(out + 12, (const uint8_t[]){0, 0, entity, kind}, 4);
}

static void report_participant(tb__graph_model_t *model, unsigned id, const uint8_t *data,
                               size_t size, bool is_gone)
{
  tb__seen_participant_t seen = {.is_gone = is_gone};
  guid_fill(seen.guid.bytes, id, 1, 0xc1);
  memcpy(seen.user_data, data, size);
  if (tb__graph_model_participant(model, &seen) != TB_OK) abort();
}

/* Topic, type and USER_DATA are cut out of the bytes at their NULs. */
static void report_endpoint(tb__graph_model_t *model, unsigned id, const uint8_t *data, size_t size,
                            bool is_gone)
{
  char text[260] = "";
  memcpy(text, data, size);
  const char *topic = text, *type = topic + strlen(topic) + 1;
  if (type > text + size) type = "";
  const char *user_data = *type ? type + strlen(type) + 1 : "";
  tb__seen_endpoint_t seen = {
      .is_gone = is_gone, .is_writer = id & 4, .topic = topic, .type = type};
  if (user_data >= text && user_data < text + size) strcpy(seen.user_data, user_data);
  guid_fill(seen.guid.bytes, id, (uint8_t)(id >> 4), id & 4 ? 3 : 4);
  guid_fill(seen.participant_guid.bytes, id, 1, 0xc1);
  if (tb__graph_model_endpoint(model, &seen) != TB_OK) abort();
}

static void report_info(tb__graph_model_t *model, unsigned id, const uint8_t *data, size_t size)
{
  tb__guid_t writer;
  uint8_t *bytes = malloc(size ? size : 1);
  if (!bytes) return;
  memcpy(bytes, data, size); /* so that a read past the end is detected */
  guid_fill(writer.bytes, id, 4, 3);
  if (tb__graph_model_info(model, &writer, bytes, size) != TB_OK) abort();
  free(bytes);
}

static void check_node(const tb_ros2_graph_snapshot_t *snapshot, size_t at)
{
  const tb_ros2_graph_node_t *node = &snapshot->nodes[at];
  if (node->full_name[0] != '/' || !*node->name || strchr(node->name, '/')) abort();
  if (at > 0 && strcmp(snapshot->nodes[at - 1].full_name, node->full_name) > 0) abort();
  for (size_t i = 0; i < node->endpoint_count; i++) {
    if (node->endpoints[i] >= snapshot->endpoint_count) abort();
    if (i > 0 && node->endpoints[i] <= node->endpoints[i - 1]) abort();
    int32_t first = snapshot->endpoints[node->endpoints[i]].node;
    if (first < 0 || first > (int32_t)at) abort();
  }
}

static size_t check_participant(const tb_ros2_graph_snapshot_t *snapshot, size_t at)
{
  const tb_ros2_graph_participant_t *participant = &snapshot->participants[at];
  if (tb_ros2_graph_find_participant(snapshot, participant->guid) != participant) abort();
  if (!participant->enclave && participant->state != TB_ROS2_PARTICIPANT_NO_NODES) abort();
  if (!*participant->middleware || strlen(participant->addresses) >= TB__SEEN_ADDRESSES_SIZE)
    abort();
  return participant->state == TB_ROS2_PARTICIPANT_AWAITED;
}

static void check_graph(const tb__graph_model_t *model)
{
  static const tb__guid_t own = {{1}};
  tb_ros2_graph_snapshot_t *snapshot;
  size_t owned = 0, listed = 0, awaited = 0;
  if (tb__graph_snapshot_build(model, &own, 0, &snapshot) != TB_OK) abort();
  for (size_t i = 0; i < snapshot->participant_count; i++)
    awaited += check_participant(snapshot, i);
  if (awaited != snapshot->awaited_count) abort();
  for (size_t i = 0; i < snapshot->node_count; i++) {
    check_node(snapshot, i);
    listed += snapshot->nodes[i].endpoint_count;
    if (!tb__graph_model_has_node(model, snapshot->nodes[i].full_name)) abort();
  }
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    owned += snapshot->endpoints[i].node >= 0;
  if (owned > listed) abort();
  free(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__graph_model_t model = {0};
  while (size >= STEP_HEAD) {
    unsigned what = data[0] % 5, id = data[1];
    size_t length = data[2] < size - STEP_HEAD ? data[2] : size - STEP_HEAD;
    const uint8_t *bytes = data + STEP_HEAD;
    if (what == 0 || what == 1)
      report_participant(&model, id, bytes, length, what == 1);
    else if (what == 2 || what == 3)
      report_endpoint(&model, id, bytes, length, what == 3);
    else
      report_info(&model, id, bytes, length);
    data += STEP_HEAD + length;
    size -= STEP_HEAD + length;
  }
  check_graph(&model);
  tb__graph_model_fini(&model);
  return 0;
}
