/* Messages captured from ROS 2, through structs of idlc of the same types: what is encoded again is
 * what was decoded, byte for byte. */
#include <timebase/ros2_idl.h>

#include "captures.h"
#include "ros2_common.h"

static const struct {
  const char *name; /* on the wire */
  const dds_topic_descriptor_t *type;
} types[] = {
    {"builtin_interfaces::msg::dds_::Time_", &builtin_interfaces_msg_Time_desc},
    {"builtin_interfaces::msg::dds_::Duration_", &builtin_interfaces_msg_Duration_desc},
    {"std_msgs::msg::dds_::Header_", &std_msgs_msg_Header_desc},
    {"std_msgs::msg::dds_::String_", &std_msgs_msg_String_desc},
    {"std_msgs::msg::dds_::Bool_", &std_msgs_msg_Bool_desc},
    {"std_msgs::msg::dds_::Int64_", &std_msgs_msg_Int64_desc},
    {"std_msgs::msg::dds_::Float64_", &std_msgs_msg_Float64_desc},
    {"std_msgs::msg::dds_::Empty_", &std_msgs_msg_Empty_desc},
    {"std_msgs::msg::dds_::Float64MultiArray_", &std_msgs_msg_Float64MultiArray_desc},
    {"geometry_msgs::msg::dds_::PoseStamped_", &geometry_msgs_msg_PoseStamped_desc},
    {"tf2_msgs::msg::dds_::TFMessage_", &tf2_msgs_msg_TFMessage_desc},
    {"diagnostic_msgs::msg::dds_::DiagnosticArray_", &diagnostic_msgs_msg_DiagnosticArray_desc},
    {"statistics_msgs::msg::dds_::MetricsMessage_", &statistics_msgs_msg_MetricsMessage_desc},
};

static const dds_topic_descriptor_t *type_of(const char *name)
{
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    size_t length = strlen(types[i].name);
    if (strncmp(name + 1, types[i].name, length) == 0 && name[1 + length] == '"')
      return types[i].type;
  }
  fail_msg("no type for %.80s", name);
  return NULL;
}

static void check_message(const dds_topic_descriptor_t *type, const uint8_t *bytes, size_t size)
{
  void *sample, *cdr;
  size_t cdr_size;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_idl_decode(type, bytes, size, &sample, &error) != TB_OK) fail_msg("%s", error.text);
  assert_ok(tb_ros2_idl_encode(type, sample, &cdr, &cdr_size, NULL));
  assert_int_equal(cdr_size, size);
  assert_memory_equal(cdr, bytes, size);
  tb_ros2_idl_free(cdr);
  tb_ros2_idl_free(sample);
}

static void test_every_captured_message_goes_out_as_it_came(void **state)
{
  (void)state;
  static uint8_t bytes[1 << 16];
  char *text = captures_read("messages.json");
  const char *end = text;
  int count = 0;
  for (const char *object = text; (object = captures_object(end, &end));) {
    const char *hex = captures_member(object, end, "cdr_hex");
    if (!hex) continue; /* of an endpoint */
    size_t size = captures_hex(hex + 1, bytes, sizeof bytes);
    check_message(type_of(captures_member(object, end, "type")), bytes, size);
    count++;
  }
  assert_int_equal(count, 28);
  free(text);
}

static void test_values_of_a_captured_transform(void **state)
{
  (void)state;
  static uint8_t bytes[1 << 16];
  char *text = captures_read("messages.json");
  const char *end = text, *object, *what;
  do {
    object = captures_object(end, &end);
    assert_non_null(object);
    what = captures_member(object, end, "what");
  } while (strncmp(what, "\"two transforms\"", 16) != 0);
  void *sample;
  size_t size = captures_hex(captures_member(object, end, "cdr_hex") + 1, bytes, sizeof bytes);
  assert_ok(tb_ros2_idl_decode(&tf2_msgs_msg_TFMessage_desc, bytes, size, &sample, NULL));
  const tf2_msgs_msg_TFMessage *message = sample;
  assert_int_equal(message->transforms._length, 2);
  const geometry_msgs_msg_TransformStamped *first = &message->transforms._buffer[0];
  assert_int_equal(first->header.stamp.sec, 100);
  assert_string_equal(first->header.frame_id, "map");
  assert_string_equal(first->child_frame_id, "odom");
  assert_true(first->transform.translation.x == 1.5);
  tb_ros2_idl_free(sample);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_captured_message_goes_out_as_it_came),
      cmocka_unit_test(test_values_of_a_captured_transform),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
