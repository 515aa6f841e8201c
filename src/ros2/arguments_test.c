#include "ros2/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_arguments.h>
#include <unistd.h>

#include "test.h"

#define ARGV(...) ((const char *const[]){"program", __VA_ARGS__, NULL})

static int count_of(const char *const *argv)
{
  int count = 0;
  while (argv[count])
    count++;
  return count;
}

static tb__arguments_t *parsed(const char *const *argv)
{
  tb__arguments_t *arguments = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__arguments_parse(count_of(argv), argv, &arguments, &error)) fail_msg("%s", error.text);
  return arguments;
}

static void assert_refused(const char *const *argv, tb_status_t expected, const char *argument,
                           const char *text)
{
  tb__arguments_t *arguments = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__arguments_parse(count_of(argv), argv, &arguments, &error);
  if (status != expected) fail_msg("%s for '%s'", tb_status_name(status), argument);
  assert_null(arguments);
  if (!strstr(error.text, argument) || !strstr(error.text, text))
    fail_msg("'%s' does not contain '%s' of '%s'", error.text, text, argument);
}

static void assert_node(const tb__arguments_t *local, const tb__arguments_t *global,
                        const char *name, const char *expected_name, const char *expected_namespace)
{
  char out[TB__DDS_NAME_SIZE], ns[TB__DDS_NAME_SIZE];
  assert_ok(tb__arguments_node_name(local, global, name, out));
  assert_string_equal(out, expected_name);
  assert_ok(tb__arguments_node_namespace(local, global, out, "/own", ns));
  assert_string_equal(ns, expected_namespace);
}

static void test_nodes_get_other_names(void **state)
{
  (void)state;
  tb__arguments_t *global =
      parsed(ARGV("--ros-args", "-r", "__node:=other", "--remap", "__ns:=/a/b"));
  assert_node(NULL, global, "node", "other", "/a/b");
  assert_node(NULL, NULL, "node", "node", "/own");
  tb__arguments_t *local = parsed(ARGV("--ros-args", "-r", "__name:=mine"));
  assert_node(local, global, "node", "mine", "/a/b");
  assert_node(local, NULL, "node", "mine", "/own");
  tb__arguments_destroy(local);
  tb__arguments_destroy(global);
  tb__arguments_destroy(NULL);
}

static void test_rules_may_be_for_one_node(void **state)
{
  (void)state;
  tb__arguments_t *global =
      parsed(ARGV("--ros-args", "-r", "a:__node:=x", "-r", "b:__node:=y", "-r", "x:__ns:=/of_x",
                  "-r", "a:__ns:=/of_a", "-r", "__ns:=/"));
  assert_node(NULL, global, "a", "x", "/of_x");
  assert_node(NULL, global, "b", "y", "/");
  assert_node(NULL, global, "c", "c", "/");
  tb__arguments_destroy(global);
}

static void assert_remap(const tb__arguments_t *local, const tb__arguments_t *global,
                         bool is_service, const char *full, const char *expected)
{
  char out[TB__DDS_NAME_SIZE];
  assert_ok(tb__arguments_remap(local, global, "node", "/ns", is_service, full, out, NULL));
  assert_string_equal(out, expected);
}

static void test_topics_and_services_are_remapped(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(ARGV(
      "--ros-args", "-r", "chatter:=talk", "-r", "/abs:=/other/abs", "-r", "~/p:=~/q", "-r",
      "rostopic://t:=topics/t", "-r", "rosservice:///ns/t:=services/t", "-r", "node:own:=/mine",
      "-r", "somebody:own:=/theirs", "-r", "node:rostopic://both:=x", "-r", "{node}/y:={ns}/z"));
  assert_remap(NULL, global, false, "/ns/chatter", "/ns/talk");
  assert_remap(NULL, global, true, "/ns/chatter", "/ns/talk");
  assert_remap(NULL, global, false, "/chatter", "/chatter");
  assert_remap(NULL, global, false, "/abs", "/other/abs");
  assert_remap(NULL, global, false, "/ns/node/p", "/ns/node/q");
  assert_remap(NULL, global, false, "/ns/t", "/ns/topics/t");
  assert_remap(NULL, global, true, "/ns/t", "/ns/services/t");
  assert_remap(NULL, global, false, "/ns/own", "/mine");
  assert_remap(NULL, global, false, "/ns/both", "/ns/x");
  assert_remap(NULL, global, true, "/ns/both", "/ns/both");
  assert_remap(NULL, global, false, "/ns/node/y", "/ns/z");
  assert_remap(NULL, NULL, false, "/ns/chatter", "/ns/chatter");
  tb__arguments_destroy(global);
}

static void test_the_first_rule_counts_and_local_ones_before(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(ARGV("--ros-args", "-r", "a:=first", "-r", "a:=second", "-r",
                                        "b:=/of_global", "-r", "first:=third"));
  tb__arguments_t *local = parsed(ARGV("--ros-args", "-r", "b:=/of_local", "-r", "c:=d"));
  assert_remap(NULL, global, false, "/ns/a", "/ns/first"); /* and not on to "third" */
  assert_remap(local, global, false, "/ns/a", "/ns/first");
  assert_remap(local, global, false, "/ns/b", "/of_local");
  assert_remap(local, NULL, false, "/ns/c", "/ns/d");
  tb__arguments_destroy(local);
  tb__arguments_destroy(global);
}

static void test_a_rule_that_gives_no_valid_name_is_reported(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(ARGV("--ros-args", "-r", "/a:={ns}/a"));
  char out[TB__DDS_NAME_SIZE] = "untouched";
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__arguments_remap(NULL, global, "node", "/", false, "/a", out, &error),
                TB_ERR_INVALID);
  assert_string_equal(out, "untouched");
  assert_non_null(strstr(error.text, "//a"));
  tb__arguments_destroy(global);
}

typedef struct overrides {
  char text[2048];
  size_t left; /* calls until it fails */
} overrides_t;

static tb_status_t note_override(const char *name, const tb_ros2_parameter_value_t *value,
                                 void *user)
{
  overrides_t *overrides = user;
  if (overrides->left-- == 0) return TB_ERR_RANGE;
  char *text;
  assert_ok(tb_ros2_parameter_value_format(value, &text));
  size_t used = strlen(overrides->text);
  snprintf(overrides->text + used, sizeof overrides->text - used, "%s=%s;", name, text);
  free(text);
  return TB_OK;
}

static void assert_overrides(const tb__arguments_t *local, const tb__arguments_t *global,
                             const char *node, const char *expected)
{
  overrides_t overrides = {.left = 1000};
  assert_ok(tb__arguments_overrides(local, global, node, note_override, &overrides, NULL));
  assert_string_equal(overrides.text, expected);
}

static void test_parameters(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(
      ARGV("--ros-args", "-p", "rate:=5", "--param", "node:name:='5'", "-p", "a.b:=[1.0, 2.0]",
           "-p", "qos_overrides./clock.subscription.depth:=1", "-p", "text:=a:=b"));
  assert_overrides(NULL, global, "/node",
                   "rate=5;name='5';a.b=[1.0, 2.0];qos_overrides./clock.subscription.depth=1;"
                   "text='a:=b';");
  assert_overrides(NULL, global, "/ns/other",
                   "rate=5;a.b=[1.0, 2.0];qos_overrides./clock.subscription.depth=1;text='a:=b';");
  tb__arguments_t *local = parsed(ARGV("--ros-args", "-p", "rate:=6"));
  assert_overrides(local, NULL, "/node", "rate=6;");
  tb__arguments_t *more = parsed(ARGV("--ros-args", "-p", "rate:=7", "-p", "rate:=8"));
  assert_overrides(local, more, "/node", "rate=7;rate=8;rate=6;");
  assert_overrides(NULL, NULL, "/node", "");
  tb__arguments_destroy(more);
  tb__arguments_destroy(local);
  tb__arguments_destroy(global);
}

static void test_the_callback_may_end_it(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(ARGV("--ros-args", "-p", "a:=1", "-p", "b:=2"));
  overrides_t overrides = {.left = 1};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__arguments_overrides(global, global, "/node", note_override, &overrides, &error),
                TB_ERR_RANGE);
  assert_string_equal(overrides.text, "a=1;");
  assert_non_null(strstr(error.text, "'b'"));
  tb__arguments_destroy(global);
}

static void write_file(char path[], const char *text)
{
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *file = fdopen(fd, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_files_and_values_count_in_their_order(void **state)
{
  (void)state;
  char one[] = "/tmp/timebase_arguments_XXXXXX", two[] = "/tmp/timebase_arguments_XXXXXX";
  write_file(one, "/**: {ros__parameters: {a: 1, b: 1}}\n/ns/node: {ros__parameters: {a: 2}}\n");
  write_file(two, "/*/node: {ros__parameters: {b: 3}}\nnode: {ros__parameters: {c: 3}}\n");
  tb__arguments_t *global = parsed(
      ARGV("--ros-args", "--params-file", one, "-p", "a:=4", "--params-file", two, "-p", "b:=5"));
  assert_overrides(NULL, global, "/ns/node", "a=1;b=1;a=2;a=4;b=3;b=5;");
  assert_overrides(NULL, global, "/node", "a=1;b=1;a=4;c=3;b=5;");
  tb__arguments_destroy(global);
  FILE *file = fopen(two, "w");
  assert_non_null(file);
  fputs("/n:\n  ros__parameters:\n    a: [1, x]\n", file);
  fclose(file);
  assert_refused(ARGV("--ros-args", "--params-file", two), TB_ERR_INVALID, two, "line 3: item 2");
  unlink(one);
  unlink(two);
  assert_refused(ARGV("--ros-args", "--params-file", one), TB_ERR_NOT_FOUND, one, "No such file");
}

static void test_ros_arguments_are_between_their_marks(void **state)
{
  (void)state;
  tb__arguments_t *global =
      parsed(ARGV("-r", "x", "a:=b", "--", "--ros-args", "-p", "a:=1", "--", "-p", "b:=2",
                  "--ros-args", "--ros-args", "-p", "c:=3", "--ros-args"));
  assert_overrides(NULL, global, "/node", "a=1;c=3;");
  assert_remap(NULL, global, false, "/ns/a", "/ns/a");
  tb__arguments_destroy(global);
  tb__arguments_destroy(parsed(ARGV("--ros-args")));
  tb__arguments_destroy(parsed((const char *const[]){"--ros-args", "--unknown", NULL}));
  tb__arguments_destroy(parsed((const char *const[]){NULL}));
}

static void test_enclaves(void **state)
{
  (void)state;
  tb__arguments_t *global = parsed(ARGV("--ros-args", "-e", "/a", "--enclave", "/b/c"));
  assert_string_equal(tb__arguments_enclave(global), "/b/c");
  tb__arguments_destroy(global);
  global = parsed(ARGV("--ros-args", "-e", "/"));
  assert_string_equal(tb__arguments_enclave(global), "/");
  tb__arguments_destroy(global);
  global = parsed(ARGV("x"));
  assert_null(tb__arguments_enclave(global));
  tb__arguments_destroy(global);
  assert_null(tb__arguments_enclave(NULL));
}

static void test_arguments_of_logs_are_taken(void **state)
{
  (void)state;
  tb__arguments_destroy(
      parsed(ARGV("--ros-args", "--log-level", "debug", "--log-level", "rcl:=WARN",
                  "--log-config-file", "file", "--log-file-name", "name", "--enable-rosout-logs",
                  "--disable-rosout-logs", "--enable-stdout-logs", "--disable-stdout-logs",
                  "--enable-external-lib-logs", "--disable-external-lib-logs")));
}

static void test_mistakes_name_the_argument(void **state)
{
  (void)state;
  static const struct {
    const char *option, *value, *text;
  } cases[] = {
      {"--unknown", NULL, "unknown ROS argument"},
      {"value", NULL, "unknown ROS argument"},
      {"-x", "5", "unknown ROS argument"},
      {"--enable-nothing", NULL, "unknown ROS argument"},
      {"-r", NULL, "needs a value"},
      {"-p", "--", "needs a value"},
      {"--params-file", "--ros-args", "needs a value"},
      {"-e", NULL, "needs a value"},
      {"-r", "a", "from:=to"},
      {"-r", "a:b", "from:=to"},
      {"-r", ":=b", "must not be empty"},
      {"-r", "a:=", "must not be empty"},
      {"-r", "a b:=c", "letters"},
      {"-r", "a:=b/", "end with"},
      {"-r", "a:=b:=c", "letters"},
      {"-r", "a:=1b", "digit"},
      {"-r", "/*/a:=b", "wildcards"},
      {"-r", "a:=b/\\1", "back references"},
      {"-r", "n:m:a:=b", "letters"},
      {"-r", ":a:=b", "node name"},
      {"-r", "/n:a:=b", "node name"},
      {"-r", "rosbag://a:=b", "letters"},
      {"-r", "__node:=a/b", "letters"},
      {"-r", "__node:=", "empty"},
      {"-r", "__ns:=a", "begin with '/'"},
      {"-r", "__ns:=/a/", "end with"},
      {"-r", "__ns:=", "begin with '/'"},
      {"-p", "a", "name:=value"},
      {"-p", "a=5", "name:=value"},
      {"-p", ":=5", "name"},
      {"-p", "a:=", "no value"},
      {"-p", "a:=[1, b]", "item 2"},
      {"-p", "a:=[", "value '['"},
      {"-p", "a-b:=5", "letters"},
      {"-p", ".a:=5", "letters"},
      {"-p", "a.:=5", "letters"},
      {"-p", "a..b:=5", "letters"},
      {"-p", "/n:a:=5", "node name"},
      {"-p", "n:m:a:=5", "letters"},
      {"-e", "a", "begin with '/'"},
      {"-e", "/a b", "letters"},
      {"--log-level", "loud", "a level"},
      {"--log-level", "a:=loud", "a level"},
      {"--log-level", ":=info", "a level"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_refused(ARGV("--ros-args", cases[i].option, cases[i].value), TB_ERR_INVALID,
                   cases[i].option, cases[i].text);
  assert_status(tb__arguments_parse(1, NULL, NULL, NULL), TB_ERR_INVALID);
}

static void assert_removed(const char *const *given, const char *const *expected)
{
  char *argv[32];
  int argc = count_of(given);
  memcpy(argv, given, ((size_t)argc + 1) * sizeof *argv);
  assert_int_equal(tb_ros2_remove_ros_arguments(argc, argv), count_of(expected));
  for (int i = 0; i <= count_of(expected); i++)
    assert_ptr_equal(argv[i] != NULL, expected[i] != NULL);
  for (int i = 0; expected[i]; i++)
    assert_string_equal(argv[i], expected[i]);
}

static void test_ros_arguments_are_removed(void **state)
{
  (void)state;
  assert_removed(ARGV("a", "--", "b"), ARGV("a", "--", "b"));
  assert_removed(ARGV("a", "--ros-args", "-r", "x:=y"), ARGV("a"));
  assert_removed(
      ARGV("--ros-args", "-r", "x:=y", "--", "b", "--ros-args", "--ros-args", "--", "--", "c"),
      ARGV("b", "--", "c"));
  assert_removed(ARGV("--ros-args"), (const char *const[]){"program", NULL});
  assert_removed((const char *const[]){"--ros-args", "x", NULL},
                 (const char *const[]){"--ros-args", "x", NULL});
  char *none[] = {NULL};
  assert_int_equal(tb_ros2_remove_ros_arguments(0, none), 0);
  assert_int_equal(tb_ros2_remove_ros_arguments(0, NULL), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nodes_get_other_names),
      cmocka_unit_test(test_rules_may_be_for_one_node),
      cmocka_unit_test(test_topics_and_services_are_remapped),
      cmocka_unit_test(test_the_first_rule_counts_and_local_ones_before),
      cmocka_unit_test(test_a_rule_that_gives_no_valid_name_is_reported),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_the_callback_may_end_it),
      cmocka_unit_test(test_files_and_values_count_in_their_order),
      cmocka_unit_test(test_ros_arguments_are_between_their_marks),
      cmocka_unit_test(test_enclaves),
      cmocka_unit_test(test_arguments_of_logs_are_taken),
      cmocka_unit_test(test_mistakes_name_the_argument),
      cmocka_unit_test(test_ros_arguments_are_removed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
