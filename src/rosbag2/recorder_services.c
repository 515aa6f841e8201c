/* The services of rosbag2's recorder, and the event that a file has been closed. */
#include <stdio.h>
#include <stdlib.h>

#include "ros2/cdr.h"
#include "rosbag2/recorder.h"

#define ACKS_LIMIT ((tb_duration_t){TB_NS_PER_S / 5})

typedef struct kind {
  const char *name, *type;
  bool (*carry_out)(tb_recorder_t *core);
  bool only_snapshots;
} kind_t;

static bool pause_it(tb_recorder_t *core)
{
  tb_recorder_pause(core);
  return false;
}

static bool resume(tb_recorder_t *core)
{
  tb_recorder_resume(core);
  return false;
}

static bool split(tb_recorder_t *core)
{
  tb_recorder_split(core);
  return false;
}

static bool snapshot(tb_recorder_t *core)
{
  return tb_recorder_snapshot(core) == TB_OK;
}

static const kind_t kinds[TB__RECORDER_SERVICES] = {
    {"~/pause", "rosbag2_interfaces/srv/Pause", pause_it, false},
    {"~/resume", "rosbag2_interfaces/srv/Resume", resume, false},
    {"~/is_paused", "rosbag2_interfaces/srv/IsPaused", NULL, false},
    {"~/split_bagfile", "rosbag2_interfaces/srv/SplitBagfile", split, false},
    {"~/snapshot", "rosbag2_interfaces/srv/Snapshot", snapshot, true},
};

/* A bool and a message without fields, which has one byte too, look the same. */
static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  const tb__recorder_service_t *entry = user;
  tb_recorder_t *core = entry->recorder->core;
  bool answer = entry->carry_out ? entry->carry_out(core) : tb_recorder_is_paused(core);
  uint8_t reply[8] = {0, 1, 0, 0, answer};
  tb_ros2_service_reply(service, &request->id, reply, sizeof reply, NULL); /* or it is gone */
}

tb_status_t tb__recorder_services_create(tb_ros2_recorder_t *recorder, bool snapshot_mode,
                                         tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < TB__RECORDER_SERVICES && status == TB_OK; i++) {
    tb__recorder_service_t *entry = &recorder->services[i];
    if (kinds[i].only_snapshots && !snapshot_mode) continue;
    *entry = (tb__recorder_service_t){.recorder = recorder, .carry_out = kinds[i].carry_out};
    status = tb_ros2_node_create_service(recorder->node, kinds[i].name, kinds[i].type, NULL,
                                         on_request, entry, &entry->service, error);
  }
  return status;
}

void tb__recorder_services_destroy(tb_ros2_recorder_t *recorder)
{
  for (size_t i = 0; i < TB__RECORDER_SERVICES; i++)
    tb_ros2_service_destroy(recorder->services[i].service);
}

tb_status_t tb__recorder_events_create(tb_ros2_recorder_t *recorder, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 1;
  return tb_ros2_node_create_publisher(recorder->node, "events/write_split",
                                       "rosbag2_interfaces/msg/WriteSplitEvent", &qos,
                                       &recorder->events, error);
}

static size_t encode(const char *closed, const char *opened, const char *node, uint8_t *out,
                     size_t room)
{
  size_t size = 0;
  tb__cdr_writer_t writer;
  tb__cdr_writer_init(&writer, false, out, room);
  tb__cdr_write_string(&writer, closed);
  tb__cdr_write_string(&writer, opened);
  tb__cdr_write_string(&writer, node);
  return tb__cdr_writer_finish(&writer, &size) == TB_OK ? size : 0;
}

static void publish_split(tb_ros2_recorder_t *recorder, const char *closed, const char *opened)
{
  const char *node = tb_ros2_node_fully_qualified_name(recorder->node);
  size_t size = encode(closed, opened, node, NULL, 0);
  uint8_t *message = size > 0 ? malloc(size) : NULL;
  if (!message) return;
  encode(closed, opened, node, message, size);
  tb_ros2_publisher_publish(recorder->events, message, size, NULL);
  if (!*opened) tb_ros2_publisher_wait_for_acks(recorder->events, ACKS_LIMIT); /* it goes soon */
  free(message);
}

void tb__recorder_events_split(const char *closed, const char *opened, void *user)
{
  tb_ros2_recorder_t *recorder = user;
  if (recorder->events) publish_split(recorder, closed, opened);
  if (recorder->on_split) recorder->on_split(closed, opened, recorder->on_split_user);
}
