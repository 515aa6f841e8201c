#include "play/topic_filter.h"

#include <stdio.h>
#include <string.h>
#include <timebase/log.h>

#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const names[] = {
    "/tf",    "/camera/image", "/camera/info",        "/_hidden",           "/a/_b",
    "/clock", "/rosout",       "/add/_service_event", "/sub/_service_event"};
static const char *const action_names[] = {
    "/go/_action/feedback", "/go/_action/status", "/go/_action/get_result/_service_event",
    "/turn/_action/status", "/go/_action/other",  "/_action/status"};
static const char *const types[] = {"tf2_msgs/msg/TFMessage",
                                    "sensor_msgs/msg/Image",
                                    "sensor_msgs/msg/CameraInfo",
                                    "std_msgs/msg/Empty",
                                    "std_msgs/msg/Empty",
                                    "rosgraph_msgs/msg/Clock",
                                    "rcl_interfaces/msg/Log",
                                    "example_interfaces/srv/AddTwoInts_Event",
                                    "example_interfaces/srv/AddTwoInts_Event"};

/* The names that are wanted, each followed by a blank. */
static void assert_wants(const tb__topic_choices_t *options, const char *expected)
{
  char wanted[256] = "";
  tb__topic_filter_t filter;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__topic_filter_init(&filter, options, &error) != TB_OK) fail_msg("%s", error.text);
  for (size_t i = 0; i < COUNT(names); i++) {
    if (!tb__topic_filter_wants(&filter, names[i], types[i])) continue;
    strcat(wanted, names[i]);
    strcat(wanted, " ");
  }
  tb__topic_filter_fini(&filter);
  assert_string_equal(wanted, expected);
}

static void test_lists(void **state)
{
  (void)state;
  static const char *const topics[] = {"tf", "/a/_b", "/nope"}, *const excluded[] = {"rosout",
                                                                                     "/tf"};
  tb__topic_choices_t options = {0};
  options.topics = topics;
  options.topic_count = COUNT(topics);
  assert_wants(&options, "/tf /a/_b ");
  options.exclude_topics = excluded;
  options.exclude_topic_count = COUNT(excluded);
  assert_wants(&options, "/a/_b ");
  options.topic_count = 0;
  options.all = true;
  assert_wants(&options, "/camera/image /camera/info /clock ");
  options.include_hidden = true;
  assert_wants(&options, "/camera/image /camera/info /_hidden /a/_b /clock /add/_service_event "
                         "/sub/_service_event ");
}

static void test_expressions(void **state)
{
  (void)state;
  tb__topic_choices_t options = {0};
  options.regex = "camera/(image|info)$|^/tf";
  assert_wants(&options, "/tf /camera/image /camera/info ");
  options.exclude_regex = "info";
  assert_wants(&options, "/tf /camera/image ");
  options.regex = NULL;
  options.all = true;
  assert_wants(&options, "/tf /camera/image /clock /rosout ");
}

static void test_types(void **state)
{
  (void)state;
  static const char *const wanted[] = {"sensor_msgs/msg/Image", "std_msgs/msg/Empty"};
  static const char *const not_wanted[] = {"rosgraph_msgs/msg/Clock", "sensor_msgs/msg/Image"};
  tb__topic_choices_t options = {.types = wanted, .type_count = COUNT(wanted)};
  assert_wants(&options, "/camera/image /_hidden /a/_b ");
  options.regex = "^/clock";
  assert_wants(&options, "/camera/image /_hidden /a/_b /clock ");
  options.exclude_types = not_wanted;
  options.exclude_type_count = COUNT(not_wanted);
  assert_wants(&options, "/_hidden /a/_b ");
}

static void test_events_of_services(void **state)
{
  (void)state;
  static const char *const services[] = {"add"}, *const excluded[] = {"/sub"};
  static const char *const events[] = {"/sub/_service_event"};
  tb__topic_choices_t options = {.services = services, .service_count = 1};
  assert_wants(&options, "/add/_service_event ");
  options.all_services = true;
  assert_wants(&options, "/add/_service_event /sub/_service_event ");
  options.exclude_services = excluded;
  options.exclude_service_count = 1;
  assert_wants(&options, "/add/_service_event ");
  options.exclude_regex = "^/add$";
  assert_wants(&options, "");
  options = (tb__topic_choices_t){.topics = events, .topic_count = 1};
  assert_wants(&options, "/sub/_service_event ");
  options = (tb__topic_choices_t){.regex = "^/(tf|add)$"};
  assert_wants(&options, "/tf /add/_service_event ");
  options = (tb__topic_choices_t){.all = true, .exclude_regex = "camera"};
  assert_wants(&options, "/tf /clock /rosout ");
  options.include_hidden = true;
  assert_wants(&options, "/tf /_hidden /a/_b /clock /rosout /add/_service_event "
                         "/sub/_service_event ");
}

/* The names of topics of actions that are wanted, each followed by a blank. */
static void assert_wants_of_actions(const tb__topic_choices_t *options, const char *expected)
{
  char wanted[256] = "";
  tb__topic_filter_t filter;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__topic_filter_init(&filter, options, &error) != TB_OK) fail_msg("%s", error.text);
  for (size_t i = 0; i < COUNT(action_names); i++) {
    if (!tb__topic_filter_wants(&filter, action_names[i], "p/msg/T")) continue;
    strcat(wanted, action_names[i]);
    strcat(wanted, " ");
  }
  assert_string_equal(wanted, expected);
  tb__topic_filter_fini(&filter);
}

#define OF_GO "/go/_action/feedback /go/_action/status /go/_action/get_result/_service_event "

static void test_actions(void **state)
{
  (void)state;
  static const char *const actions[] = {"go"}, *const excluded[] = {"/turn"};
  static const char *const topics[] = {"/turn/_action/status"};
  tb__topic_choices_t options = {.actions = actions, .action_count = 1};
  assert_wants_of_actions(&options, OF_GO);
  options.all_actions = true;
  assert_wants_of_actions(&options, OF_GO "/turn/_action/status ");
  options.exclude_actions = excluded;
  options.exclude_action_count = 1;
  assert_wants_of_actions(&options, OF_GO);
  options = (tb__topic_choices_t){.regex = "^/(tf|go)$"};
  assert_wants_of_actions(&options, OF_GO);
  options = (tb__topic_choices_t){.all = true, .all_services = true};
  assert_wants_of_actions(&options, "");
  options = (tb__topic_choices_t){.topics = topics, .topic_count = 1};
  assert_wants_of_actions(&options, "/turn/_action/status ");
}

static void test_the_clock_comes_with_ros_time(void **state)
{
  (void)state;
  tb__topic_choices_t options = {0};
  options.regex = "/tf";
  options.exclude_regex = "clock";
  options.clock = true;
  assert_wants(&options, "/tf /clock ");
}

static void assert_refused(const tb__topic_choices_t *options, const char *why)
{
  tb__topic_filter_t filter;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__topic_filter_init(&filter, options, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, why));
}

static void test_what_is_refused(void **state)
{
  (void)state;
  tb__topic_choices_t options = {0};
  assert_refused(&options, "no topic");
  options.regex = "(";
  assert_refused(&options, "regex: expression '(', character 1");
  options.regex = "a";
  options.exclude_regex = "a[";
  assert_refused(&options, "exclude_regex: expression 'a[', character 2");
}

static char logged[1024];

static void note(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  size_t used = strlen(logged);
  snprintf(logged + used, sizeof logged - used, "%d %s\n", (int)level, message);
}

static void test_what_cannot_be_decided_is_recorded(void **state)
{
  (void)state;
  static const char topic[] = "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_";
  tb__topic_choices_t options = {0};
  tb__topic_filter_t filter;
  options.regex = "^/(a+)+$";
  options.exclude_regex = "^/(a|a)+$";
  assert_status(tb__topic_filter_init(&filter, &options, NULL), TB_OK);
  logged[0] = '\0';
  tb_log_set_hook(note, NULL);
  for (int i = 0; i < 3; i++)
    assert_true(tb__topic_filter_wants(&filter, topic, ""));
  tb_log_set_hook(NULL, NULL);
  const char *first = strstr(logged, "40 recorder: regex: expression '^/(a+)+$'");
  const char *second = strstr(logged, "40 recorder: exclude_regex: expression '^/(a|a)+$'");
  assert_non_null(first);
  assert_non_null(second);
  assert_null(strstr(second + 1, "40 recorder")); /* once for each */
  tb__topic_filter_fini(&filter);
}

static void test_no_match_is_reported(void **state)
{
  (void)state;
  tb__topic_choices_t options = {0};
  tb__topic_filter_t filter;
  options.regex = "cmd_vel";
  options.exclude_regex = "cmd_vel\\d";
  assert_status(tb__topic_filter_init(&filter, &options, NULL), TB_OK);
  assert_true(tb__topic_filter_wants(&filter, "/cmd_vel", ""));
  logged[0] = '\0';
  tb_log_set_hook(note, NULL);
  tb__topic_filter_report(&filter, " so far");
  assert_false(tb__topic_filter_wants(&filter, "/cmd_vel2", ""));
  tb__topic_filter_report(&filter, "");
  tb_log_set_hook(NULL, NULL);
  assert_string_equal(
      logged, "30 recorder: exclude_regex: expression 'cmd_vel\\d' has matched no topic so far\n");
  tb__topic_filter_fini(&filter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_events_of_services),
      cmocka_unit_test(test_actions),
      cmocka_unit_test(test_the_clock_comes_with_ros_time),
      cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_what_cannot_be_decided_is_recorded),
      cmocka_unit_test(test_no_match_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
