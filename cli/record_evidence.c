#include "record_evidence.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_source.h>
#include <unistd.h>

#include "manifest.h"
#include "text.h"

#define MINUTE_NS      (60 * TB_NS_PER_S)
#define POINTS_LATCHED 1000

static const char *const topic_names[2] = {TB__MANIFEST_TOPIC, TB__POINTS_TOPIC};

/* --- reading --- */

/* Recordings hold no carriage returns, which are white space at the end of a line. */
static void remove_returns(char *text)
{
  char *out = text;
  for (const char *at = text; *at; at++)
    if (*at != '\r') *out++ = *at;
  *out = '\0';
}

int record_evidence_load(const command_t *command, const char *path, record_evidence_t *out)
{
  *out = (record_evidence_t){.command = command, .jump_pipe = {-1, -1}};
  if (!path) return EXIT_OK;
  int result = manifest_load(command, path, &out->manifest, &out->text);
  if (result) return result;
  remove_returns(out->text);
  out->note = (tb_bag_note_t){TB__MANIFEST_CUSTOM_DATA, out->text};
  return EXIT_OK;
}

/* --- messages --- */

/* std_msgs/msg/String, to be freed. */
static uint8_t *make_message(const char *text, size_t *out_size)
{
  size_t length = strlen(text) + 1;
  uint8_t *message = calloc(1, 8 + length);
  if (!message) return NULL;
  message[1] = 1; /* CDR, little endian */
  for (int i = 0; i < 4; i++)
    message[4 + i] = (uint8_t)(length >> 8 * i);
  memcpy(message + 8, text, length);
  *out_size = 8 + length;
  return message;
}

/* What is lost is counted and reported by the recorder. */
static void send_text(record_evidence_t *evidence, size_t topic, const char *text)
{
  size_t size = 0;
  uint8_t *message = make_message(text, &size);
  tb_time_t now = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (!message) return;
  tb_clock_now(evidence->system, &now);
  tb_recorder_message_t taken = {
      .data = message, .size = size, .receive_ns = now.ns, .latched = true};
  tb_recorder_take(evidence->recorder, evidence->topics[topic], &taken);
  if (tb_ros2_publisher_publish(evidence->publishers[topic], message, size, &error)) {
    command_begin_warning(evidence->command);
    text_err("%s: %s\n", topic_names[topic], error.text);
  }
  free(message);
}

/* --- points --- */

static void take_point(record_evidence_t *evidence, tb__point_reason_t reason)
{
  tb_steady_time_t before = {0}, after = {0};
  tb_time_t ros = {0}, system = {0};
  tb__point_t point = {.reason = reason, .jumps = atomic_load(&evidence->jumps)};
  char text[TB__POINT_TEXT_SIZE];
  tb__system_sync_t sync = tb__system_sync_read();
  point.max_error_ns = sync.max_error_ns;
  point.is_synchronized = sync.is_synchronized;
  tb_steady_clock_now(evidence->steady, &before);
  tb_status_t status = tb_clock_now(evidence->ros, &ros);
  tb_clock_now(evidence->system, &system);
  tb_steady_clock_now(evidence->steady, &after);
  point.has_ros = !status && ros.ns != 0;
  point.ros_ns = point.has_ros ? ros.ns : 0;
  point.system_ns = system.ns;
  point.steady_ns = before.ns + (after.ns - before.ns) / 2;
  point.spread_ns = after.ns - before.ns;
  evidence->next_ns = after.ns + MINUTE_NS;
  tb__point_format(&point, text);
  send_text(evidence, 1, text);
}

/* On the thread that moves time. The command's thread takes the point. */
static void on_jump(const tb_jump_t *jump, void *user)
{
  record_evidence_t *evidence = user;
  if (jump->kind == TB_JUMP_STARTED)
    atomic_store(&evidence->has_started, true);
  else
    atomic_fetch_add(&evidence->jumps, 1);
  ssize_t written = write(evidence->jump_pipe[1], "", 1);
  (void)written; /* full: the reader has been woken */
}

static tb_status_t open_clocks(record_evidence_t *evidence, tb_ros2_context_t *context,
                               tb_error_t *error)
{
  tb_clock_options_t system = {TB_TIME_SYSTEM, NULL};
  tb_clock_options_t ros = {TB_TIME_ROS, NULL};
  tb_ros2_clock_source_options_t source = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  source.topic = evidence->manifest.clock.topic;
  tb_status_t status = tb_steady_clock_create(&evidence->steady);
  if (!status) status = tb_clock_create(&system, &evidence->system);
  if (!status && source.topic)
    status = tb_ros2_clock_source_create(context, &source, &evidence->source, error);
  ros.source = evidence->source;
  if (!status) status = tb_clock_create(source.topic ? &ros : &system, &evidence->ros);
  return status;
}

static tb_status_t watch_jumps(record_evidence_t *evidence)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = "points of the recording";
  options.threshold.min_forward = (tb_duration_t){TB_NS_PER_S};
  options.threshold.min_backward = (tb_duration_t){-1};
  options.threshold.on_clock_change = true;
  options.after = on_jump;
  options.user = evidence;
  if (pipe2(evidence->jump_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return TB_ERR_SYSTEM;
  return tb_jump_handler_create(evidence->ros, &options, &evidence->handler);
}

/* --- topics --- */

static tb_status_t add_topic(record_evidence_t *evidence, tb_ros2_node_t *node, size_t index,
                             tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_bag_writer_topic_t topic = {
      .name = topic_names[index],
      .type = "std_msgs/msg/String",
      .type_hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
      .offers = "- history: keep_last\n  depth: 1000\n  reliability: reliable\n"
                "  durability: transient_local\n",
      .definition = "string data\n",
      .definition_encoding = "ros2msg",
  };
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = index == 0 ? 1 : POINTS_LATCHED;
  tb_status_t status =
      tb_recorder_add_topic(evidence->recorder, &topic, &evidence->topics[index], error);
  return status ? status
                : tb_ros2_node_create_publisher(node, topic.name, topic.type, &qos,
                                                &evidence->publishers[index], error);
}

int record_evidence_begin(record_evidence_t *evidence, tb_recorder_t *recorder,
                          tb_ros2_context_t *context, tb_ros2_node_t *node)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!evidence->text) return EXIT_OK;
  evidence->recorder = recorder;
  tb_status_t status = open_clocks(evidence, context, &error);
  for (size_t i = 0; i < 2 && !status; i++)
    status = add_topic(evidence, node, i, &error);
  if (!status) status = watch_jumps(evidence);
  if (status) return command_failed(evidence->command, status, &error);
  send_text(evidence, 0, evidence->text);
  take_point(evidence, TB__POINT_START);
  return EXIT_OK;
}

/* --- while it records --- */

int record_evidence_fd(const record_evidence_t *evidence)
{
  return evidence->handler ? evidence->jump_pipe[0] : -1;
}

int record_evidence_timeout_ms(const record_evidence_t *evidence, int timeout_ms)
{
  tb_steady_time_t now = {0};
  if (!evidence->handler) return timeout_ms;
  tb_steady_clock_now(evidence->steady, &now);
  int64_t left_ms = (evidence->next_ns - now.ns) / TB_NS_PER_MS + 1;
  if (left_ms < 0) left_ms = 0;
  return timeout_ms >= 0 && timeout_ms < left_ms ? timeout_ms : (int)left_ms;
}

void record_evidence_poll(record_evidence_t *evidence)
{
  char bytes[64];
  tb_steady_time_t now = {0};
  bool has_jumped = false;
  if (!evidence->handler) return;
  while (read(evidence->jump_pipe[0], bytes, sizeof bytes) > 0)
    has_jumped = true;
  tb_steady_clock_now(evidence->steady, &now);
  if (has_jumped)
    take_point(evidence,
               atomic_exchange(&evidence->has_started, false) ? TB__POINT_CLOCK : TB__POINT_JUMP);
  else if (now.ns >= evidence->next_ns)
    take_point(evidence, TB__POINT_MINUTE);
}

void record_evidence_end(record_evidence_t *evidence)
{
  if (!evidence->handler) return;
  record_evidence_poll(evidence);
  take_point(evidence, TB__POINT_END);
}

void record_evidence_close(record_evidence_t *evidence)
{
  tb_jump_handler_destroy(evidence->handler);
  tb_clock_destroy(evidence->ros);
  tb_source_destroy(evidence->source);
  tb_clock_destroy(evidence->system);
  tb_steady_clock_destroy(evidence->steady);
  for (size_t i = 0; i < 2; i++)
    tb_ros2_publisher_destroy(evidence->publishers[i]);
  for (size_t i = 0; i < 2; i++)
    if (evidence->jump_pipe[i] >= 0) close(evidence->jump_pipe[i]);
  tb__manifest_fini(&evidence->manifest);
  free(evidence->text);
  *evidence = (record_evidence_t){.jump_pipe = {-1, -1}};
}
