#include "wire/demangle.h"

#include <string.h>

#include "test.h"

static void assert_topic(const char *topic, tb_ros2_endpoint_kind_t kind, const char *expected)
{
  char name[TB__DDS_NAME_SIZE] = "untouched";
  if (tb__topic_name_demangle(topic, name) != kind) fail_msg("%s is of another kind", topic);
  assert_string_equal(name, expected);
}

static void assert_no_ros_name(const char *topic)
{
  assert_topic(topic, TB_ROS2_ENDPOINT_DDS, "untouched");
}

static void test_names_of_topics_and_services(void **state)
{
  (void)state;
  assert_topic("rt/clock", TB_ROS2_ENDPOINT_TOPIC, "/clock");
  assert_topic("rt/a/b_2/c", TB_ROS2_ENDPOINT_TOPIC, "/a/b_2/c");
  assert_topic("rq/addRequest", TB_ROS2_ENDPOINT_SERVICE_REQUEST, "/add");
  assert_topic("rr/n/addReply", TB_ROS2_ENDPOINT_SERVICE_REPLY, "/n/add");
  assert_topic("rq/fib/_action/send_goalRequest", TB_ROS2_ENDPOINT_SERVICE_REQUEST,
               "/fib/_action/send_goal");
  assert_topic("rt/addRequest", TB_ROS2_ENDPOINT_TOPIC, "/addRequest");
}

static void test_names_that_are_not_ros_s(void **state)
{
  (void)state;
  static const char *const names[] = {
      "",           "ros_discovery_info", "clock",         "rt",         "rt/",      "rt//clock",
      "rt/clock/",  "rt/1clock",          "rt/a b",        "rt/\033[2J", "rt/\xff",  "rq/add",
      "rq/Request", "rr/Reply",           "rr/addRequest", "rs/x",       "RT/clock", "rt/~x",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_no_ros_name(names[i]);
  char name[400] = "rt/";
  memset(name + 3, 'x', 246);
  assert_topic(name, TB_ROS2_ENDPOINT_TOPIC, name + 2);
  memset(name + 3, 'x', 300);
  assert_no_ros_name(name);
  memset(name, 'r', sizeof name - 1);
  assert_no_ros_name(name);
}

static void assert_type(const char *type, tb_ros2_endpoint_kind_t kind, const char *expected)
{
  char name[TB__DDS_NAME_SIZE] = "untouched";
  assert_true(tb__type_name_demangle(type, kind, name));
  assert_string_equal(name, expected);
}

static void test_types(void **state)
{
  (void)state;
  assert_type("rosgraph_msgs::msg::dds_::Clock_", TB_ROS2_ENDPOINT_TOPIC,
              "rosgraph_msgs/msg/Clock");
  assert_type("a::srv::dds_::Add_Request_", TB_ROS2_ENDPOINT_SERVICE_REQUEST, "a/srv/Add");
  assert_type("a::srv::dds_::Add_Response_", TB_ROS2_ENDPOINT_SERVICE_REPLY, "a/srv/Add");
  assert_type("a::action::dds_::F_SendGoal_Request_", TB_ROS2_ENDPOINT_SERVICE_REQUEST,
              "a/action/F_SendGoal");
  assert_type("a::srv::dds_::Add_Request_", TB_ROS2_ENDPOINT_TOPIC, "a/srv/Add_Request");
  assert_type("a::srv::dds_::Add_Response_", TB_ROS2_ENDPOINT_SERVICE_REQUEST,
              "a/srv/Add_Response");
}

static void test_types_that_are_not_ros_s(void **state)
{
  (void)state;
  static const char *const types[] = {
      "",
      "Clock",
      "a::b",
      "a::msg::Clock_",
      "a::msg::dds_::Clock",
      "a::msg::dds_::_",
      "a::msg::dds_::",
      "a::xyz::dds_::Clock_",
      "::msg::dds_::Clock_",
      "a::msg::dds_::B::C_",
      "a::dds_::Clock_",
      "::dds_::_",
      "a::msg::dds_::\033_",
  };
  char name[400] = "untouched";
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    assert_false(tb__type_name_demangle(types[i], TB_ROS2_ENDPOINT_TOPIC, name));
  char type[600] = "a::msg::dds_::";
  memset(type + strlen(type), 'x', 500);
  strcat(type, "_");
  assert_false(tb__type_name_demangle(type, TB_ROS2_ENDPOINT_TOPIC, name));
  assert_string_equal(name, "untouched");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_of_topics_and_services),
      cmocka_unit_test(test_names_that_are_not_ros_s),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_types_that_are_not_ros_s),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
