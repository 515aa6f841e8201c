/* Bytes as the messages of a recording, and what is judged of them. Each message is: its topic, how
 * far its times are from those before (a shift, and a byte), its size, and its data. */
#include <stdlib.h>

#include "contract/recording.h"
#include "fuzz.h"

typedef struct input {
  const uint8_t *at;
  size_t left;
} input_t;

static uint8_t next(input_t *input)
{
  if (input->left == 0) return 0;
  input->left--;
  return *input->at++;
}

static int64_t moved(int64_t from, input_t *input)
{
  uint8_t shift = next(input);
  int64_t step = (int64_t)((uint64_t)next(input) << (shift & 0x3f)), result;
  if (shift & 0x80 ? __builtin_sub_overflow(from, step, &result)
                   : __builtin_add_overflow(from, step, &result))
    return INT64_MAX;
  return result;
}

static void add_topics(tb__recording_t *recording)
{
  static const tb__recorded_topic_input_t topics[] = {
      {.name = "/clock", .type = "rosgraph_msgs/msg/Clock", .is_cdr = true, .message_count = 1},
      {.name = "/header", .type = "std_msgs/msg/Header", .is_cdr = true},
      {.name = "/tf", .type = "tf2_msgs/msg/TFMessage", .is_cdr = true},
      {.name = "tf_static", .type = "tf2_msgs/msg/TFMessage", .is_cdr = true, .is_latched = true},
      {.name = "/field", .type = "sensor_msgs/msg/MagneticField", .is_cdr = true, .offer_count = 2},
      {.name = "/odd",
       .type = "a/msg/B",
       .definition = "std_msgs/Header header\nint8[] rest\n"
                     "============================================================================="
                     "===\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
                     "============================================================================="
                     "===\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n",
       .definition_encoding = "ros2msg",
       .is_cdr = true},
      {.name = "", .type = "", .is_cdr = true},
      {.name = "/json", .type = "std_msgs/msg/Header"},
  };
  uint32_t number;
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
    if (tb__recording_add_topic(recording, &topics[i], &number) || number != i) abort();
}

static void take_all(tb__recording_t *recording, input_t *input)
{
  int64_t log_ns = INT64_C(1700000000000000000), publish_ns = log_ns;
  while (input->left) {
    uint8_t topic = next(input);
    if (topic == 0xff) tb__recording_begin_run(recording);
    log_ns = moved(log_ns, input);
    publish_ns = moved(publish_ns, input);
    size_t size = next(input);
    if (size > input->left) size = input->left;
    tb__recorded_message_t message = {topic % 9u, log_ns, publish_ns, (uint64_t)publish_ns % 16u,
                                      input->at,  size};
    tb_status_t status = tb__recording_take(recording, &message);
    if (status && status != TB_ERR_NO_MEMORY && status != TB_ERR_INVALID) abort();
    input->at += size;
    input->left -= size;
    if (log_ns < 0) log_ns = 0;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static tb__recording_t recording;
  input_t input = {data, size};
  tb__findings_t *findings = tb__findings_create();
  if (findings && !tb__recording_init(&recording, NULL, NULL)) {
    add_topics(&recording);
    take_all(&recording, &input);
    tb__recording_finish(&recording);
    if (!tb__recording_judge(&recording, findings) && !tb__findings_finish(findings))
      for (size_t i = 0; i < tb__findings_count(findings); i++) {
        char title[TB__FINDING_TEXT_SIZE];
        tb__finding_title(tb__findings_at(findings, i), title, sizeof title);
      }
    tb__recording_fini(&recording);
  }
  tb__findings_destroy(findings);
  return 0;
}
