/* What the recording says of the publishers of its topics and of /clock: a note for each, numbered
 * as they are met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "play/recorder.h"
#include "rosbag2/graph_recorder.h"
#include "wire/clock_message.h"

#define PUBLISHERS_MAX 1000
#define KEY_SIZE       64

static tb__record_publisher_t *publisher_of(tb_ros2_recorder_t *recorder, tb__guid_t guid)
{
  for (size_t i = 0; i < recorder->publisher_count; i++)
    if (tb__guid_equal(&recorder->publishers[i].guid, &guid)) return &recorder->publishers[i];
  if (recorder->publisher_count == PUBLISHERS_MAX) return NULL;
  tb__record_publisher_t *publishers = reallocarray(
      recorder->publishers, recorder->publisher_count + 1, sizeof *recorder->publishers);
  if (!publishers) return NULL;
  recorder->publishers = publishers;
  publishers[recorder->publisher_count] = (tb__record_publisher_t){.guid = guid};
  return &publishers[recorder->publisher_count++];
}

static void write_note(tb_ros2_recorder_t *recorder, const tb__record_publisher_t *publisher,
                       const tb_ros2_graph_snapshot_t *graph,
                       const tb_ros2_graph_endpoint_t *endpoint)
{
  char key[KEY_SIZE], *text = NULL;
  size_t size = 0;
  const tb_ros2_graph_participant_t *process =
      tb_ros2_graph_find_participant(graph, endpoint->participant_guid);
  const tb_ros2_graph_node_t *node = endpoint->node >= 0 ? &graph->nodes[endpoint->node] : NULL;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  fprintf(out, "topic=%s type=%s", endpoint->name, endpoint->type);
  if (node) fprintf(out, " node=%s", node->full_name);
  if (process && process->host_name) fprintf(out, " host=%s", process->host_name);
  if (process && process->process_id)
    fprintf(out, " pid=%llu", (unsigned long long)process->process_id);
  if (node)
    fprintf(out, " release=%s",
            node->distro == TB_ROS2_DISTRO_HUMBLE ? "humble-or-older" : "iron-or-newer");
  if (process) fprintf(out, " middleware=%s", process->middleware); /* may have spaces: the last */
  if (fclose(out) == 0) {
    snprintf(key, sizeof key, "timebase.publisher.%zu",
             (size_t)(publisher - recorder->publishers) + 1);
    tb__recorder_note(recorder->core, key, text);
  }
  tb__libc_free(text);
}

void tb__record_publishers_note(tb_ros2_recorder_t *recorder, const tb_ros2_graph_snapshot_t *graph,
                                const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    tb__record_publisher_t *known = publisher_of(recorder, tb__guid_of(publishers[i].guid));
    bool is_named = publishers[i].node >= 0;
    if (!known || (known->is_noted && known->is_named >= is_named)) continue;
    known->is_noted = true;
    known->is_named = is_named;
    write_note(recorder, known, graph, &publishers[i]);
  }
}

void tb__record_node_note(tb_ros2_recorder_t *recorder)
{
  tb_ros2_parameter_value_t value = {0};
  if (tb_ros2_node_get_parameter(recorder->node, "use_sim_time", &value)) return;
  tb__recorder_note(recorder->core, "timebase.use_sim_time", value.bool_value ? "true" : "false");
  tb_ros2_parameter_value_release(&value);
}
