/* The services of rosbag2's recorder, and the event that a file has been closed. */
#include <stdio.h>
#include <stdlib.h>

#include "rosbag2/graph_recorder.h"
#include "rosbag2/player_messages.h"
#include "wire/cdr.h"

#define ACKS_LIMIT ((tb_duration_t){TB_NS_PER_S / 5})

/* One that answers at once, or one that answers when its order has been carried out. */
typedef struct tb__recorder_service_kind {
  const char *name, *type;
  bool (*now)(tb_recorder_t *core); /* false where there is no answer to give */
  tb_status_t (*order)(tb_recorder_t *core, tb_recorder_done_fn done, void *user);
  tb_recorder_done_fn on_done;
  bool only_snapshots;
  const tb__service_form_t *forms; /* NULL: a request has no fields */
  int32_t invalid_mode, failed;    /* with `forms`: codes of the result */
} kind_t;

/* A request that waits for that. */
typedef struct pending {
  tb_ros2_service_t *service;
  tb_ros2_request_id_t id;
  bool wants_result; /* a tb__result_response_t */
} pending_t;

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

static bool is_paused(tb_recorder_t *core)
{
  return tb_recorder_is_paused(core);
}

/* A bool and a message without fields, which has one byte too, look the same. */
static void reply(tb_ros2_service_t *service, const tb_ros2_request_id_t *id, bool answer)
{
  uint8_t cdr[8] = {0, 1, 0, 0, answer};
  tb_ros2_service_reply(service, id, cdr, sizeof cdr, NULL); /* or it is gone */
}

static void reply_result(tb_ros2_service_t *service, const tb_ros2_request_id_t *id, int32_t code,
                         const char *text)
{
  const tb__result_response_t result = {code, text};
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (tb__cdr_encode(&tb__result_response_type, &result, false, &cdr, &size) == TB_OK)
    tb_ros2_service_reply(service, id, cdr, size, NULL);
  free(cdr);
}

/* On the recorder's thread, or when the order was refused. */
static void on_snapshot_done(tb_status_t status, void *user)
{
  pending_t *pending = user;
  reply(pending->service, &pending->id, !status);
  free(pending);
}

/* The older form of the answer has no field for a failure; it is logged. */
static void on_split_done(tb_status_t status, void *user)
{
  pending_t *pending = user;
  int32_t code = status == TB_ERR_CLOSED ? TB__SPLIT_NOT_RECORDING : status ? TB__SPLIT_FAILED : 0;
  if (pending->wants_result)
    reply_result(pending->service, &pending->id, code, status ? tb_status_message(status) : "");
  else
    reply(pending->service, &pending->id, false);
  free(pending);
}

static int64_t time_of(const tb__timed_request_t *request)
{
  return request->time.sec * TB_NS_PER_S + request->time.nanosec;
}

static bool is_later(const tb__recorder_service_t *entry, const tb__timed_request_t *request)
{
  return tb__later_is_due_later(entry->recorder->node, time_of(request));
}

/* What rolling can ask for and this recorder does not do: NULL, or the reason. */
static const char *why_refused(const tb__recorder_service_t *entry,
                               const tb__timed_request_t *request, int32_t *out_code)
{
  *out_code = entry->kind->invalid_mode;
  if (request->mode < 0 || request->mode >= TB__TIMED_REQUEST_MODES)
    return "the mode must be 0, 1 or 2";
  *out_code = entry->kind->failed;
  if (is_later(entry, request) && request->mode != 0)
    return "a later time is one of the node's clock: the mode must be 0";
  return NULL;
}

static void on_time(void *user)
{
  const tb__recorder_service_t *entry = user;
  tb_recorder_t *core = entry->recorder->core;
  if (entry->kind->now)
    entry->kind->now(core);
  else
    entry->kind->order(core, NULL, NULL); /* what fails is logged */
}

static const char *defer(tb__recorder_service_t *entry, const tb__timed_request_t *request)
{
  tb_status_t status =
      tb__later_set(&entry->later, entry->recorder->node, time_of(request), on_time, entry);
  return status ? tb_status_message(status) : NULL;
}

static void carry_out(const tb__recorder_service_t *entry, tb_ros2_service_t *service,
                      const tb_ros2_request_id_t *id, bool wants_result)
{
  const kind_t *kind = entry->kind;
  tb_recorder_t *core = entry->recorder->core;
  if (kind->now) {
    bool answer = kind->now(core);
    if (wants_result)
      reply_result(service, id, 0, "");
    else
      reply(service, id, answer);
    return;
  }
  pending_t *pending = malloc(sizeof *pending);
  if (!pending) return;
  *pending = (pending_t){service, *id, wants_result};
  tb_status_t status = kind->order(core, kind->on_done, pending);
  if (status) kind->on_done(status, pending);
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  tb__recorder_service_t *entry = user;
  const tb__cdr_type_t *response = NULL;
  tb__timed_request_t *timed;
  int32_t code;
  if (!entry->kind->forms) {
    carry_out(entry, service, &request->id, false);
    return;
  }
  if (tb__service_form_decode(entry->kind->forms, request, &timed, &response)) return;
  const char *reason = why_refused(entry, timed, &code);
  bool later = !reason && is_later(entry, timed);
  if (later) reason = defer(entry, timed);
  if (reason || later)
    reply_result(service, &request->id, reason ? code : 0, reason ? reason : "");
  else
    carry_out(entry, service, &request->id, response == &tb__result_response_type);
  free(timed);
}

static const kind_t kinds[TB__RECORDER_SERVICES] = {
    {"~/pause", "rosbag2_interfaces/srv/Pause", .now = pause_it},
    {"~/resume", "rosbag2_interfaces/srv/Resume", .now = resume, .forms = tb__timed_forms,
     .invalid_mode = TB__RESUME_INVALID_MODE, .failed = TB__RESUME_FAILED},
    {"~/is_paused", "rosbag2_interfaces/srv/IsPaused", .now = is_paused},
    {"~/split_bagfile", "rosbag2_interfaces/srv/SplitBagfile", .order = tb_recorder_split,
     .on_done = on_split_done, .forms = tb__timed_forms, .invalid_mode = TB__SPLIT_INVALID_MODE,
     .failed = TB__SPLIT_FAILED},
    {"~/snapshot", "rosbag2_interfaces/srv/Snapshot", .order = tb_recorder_snapshot,
     .on_done = on_snapshot_done, .only_snapshots = true},
};

tb_status_t tb__recorder_services_create(tb_ros2_recorder_t *recorder, bool snapshot_mode,
                                         tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < TB__RECORDER_SERVICES && !status; i++) {
    tb__recorder_service_t *entry = &recorder->services[i];
    if (kinds[i].only_snapshots && !snapshot_mode) continue;
    *entry = (tb__recorder_service_t){.recorder = recorder, .kind = &kinds[i]};
    status = tb_ros2_node_create_service(recorder->node, kinds[i].name, kinds[i].type, NULL,
                                         on_request, entry, &entry->service, error);
  }
  return status;
}

void tb__recorder_services_destroy(tb_ros2_recorder_t *recorder)
{
  for (size_t i = 0; i < TB__RECORDER_SERVICES; i++)
    tb_ros2_service_destroy(recorder->services[i].service);
  for (size_t i = 0; i < TB__RECORDER_SERVICES; i++)
    tb__later_fini(&recorder->services[i].later);
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
  if (!*opened)
    (void)!tb_ros2_publisher_wait_for_acks(
        recorder->events, &(tb_wait_options_t){.limit = ACKS_LIMIT}); /* it goes soon */
  free(message);
}

void tb__recorder_events_split(const char *closed, const char *opened, void *user)
{
  tb_ros2_recorder_t *recorder = user;
  if (recorder->events) publish_split(recorder, closed, opened);
  if (recorder->on_split) recorder->on_split(closed, opened, recorder->on_split_user);
}
