#include "rosbag2/play_wait_names.h"

#include <string.h>

#include "test.h"

static void assert_names(const char *topic, const char *node, const char *full_topic,
                         const char *full_node)
{
  const tb_ros2_play_wait_t wait = {topic, node, {0}};
  tb__play_wait_names_t names;
  assert_ok(tb_ros2_play_wait_check(&wait, NULL));
  assert_ok(tb__play_wait_names(&wait, &names, NULL));
  assert_string_equal(names.topic, full_topic);
  assert_string_equal(names.node, full_node);
}

static void assert_wrong(const char *topic, const char *node, int64_t lag_ns, const char *text)
{
  const tb_ros2_play_wait_t wait = {topic, node, {lag_ns}};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_ros2_play_wait_check(&wait, &error), TB_ERR_INVALID);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
}

static void test_names_are_made_full(void **state)
{
  (void)state;
  assert_names("odom", "slam", "/odom", "/slam");
  assert_names("/odom", "/slam", "/odom", "/slam");
  assert_names("robot/odom", "robot/arm/slam", "/robot/odom", "/robot/arm/slam");
  char longest[256];
  memset(longest, 'n', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  char full[300] = "/";
  assert_names("/a", longest, "/a", strcat(full, longest));
}

static void test_names_that_break_the_rules_of_ros(void **state)
{
  (void)state;
  assert_status(tb_ros2_play_wait_check(NULL, NULL), TB_ERR_INVALID);
  assert_wrong(NULL, "b", 0, "topic name is NULL");
  assert_wrong("", "b", 0, "topic name '': must not be empty");
  assert_wrong("a b", "c", 0, "topic name 'a b': must have only letters, digits, '_' and '/'");
  assert_wrong("~/a", "c", 0, "must not be private");
  assert_wrong("a", NULL, 0, "node name is NULL");
  assert_wrong("a", "", 0, "node name '': must not be empty");
  assert_wrong("a", "b c", 0, "node name 'b c': must have only letters, digits and '_'");
  assert_wrong("a", "/b//c", 0, "namespace '/b/': must not end with '/'");
  assert_wrong("a", "/b/", 0, "node name '': must not be empty");
  char space[400];
  memset(space, 'n', sizeof space - 1);
  space[sizeof space - 1] = '\0';
  space[300] = '/';
  assert_wrong("a", space, 0, "its namespace is too long");
}

static void test_no_lag_below_zero(void **state)
{
  (void)state;
  assert_wrong("a", "b", -1, "the lag of /a must not be negative");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_are_made_full),
      cmocka_unit_test(test_names_that_break_the_rules_of_ros),
      cmocka_unit_test(test_no_lag_below_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
