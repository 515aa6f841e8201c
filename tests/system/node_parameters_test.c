/* Parameters of a node, as other processes get and set them and as it does itself. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "system/loopback.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define DOMAIN 12
#define LIMIT  ((tb_duration_t){60 * TB_NS_PER_S})

static tb_ros2_context_t *context, *elsewhere;
static tb_ros2_node_t *node;

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &elsewhere, &error) != TB_OK ||
      tb_ros2_node_create(context, "plain", "", NULL, &node, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(elsewhere);
  return 0;
}

/* A call of one of the services: the decoded response, to be freed. */
static void call(const char *service, const char *type, const tb__cdr_type_t *request_type,
                 const void *request, const tb__cdr_type_t *response_type, void *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *client;
  tb_ros2_response_t response;
  uint8_t *cdr;
  size_t size;
  assert_ok(tb_ros2_client_create(elsewhere, service, type, NULL, &client, NULL));
  assert_ok(tb__cdr_encode(request_type, request, false, &cdr, &size));
  if (tb_ros2_client_call(client, cdr, size, WITHIN(LIMIT), &response, &error) != TB_OK)
    fail_msg("%s: %s", service, error.text);
  assert_ok(tb__cdr_decode(response_type, response.cdr, response.size, out));
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  free(cdr);
}

static tb__set_parameters_response_t *set_elsewhere(const tb__parameter_t *parameters, size_t count)
{
  tb__set_parameters_response_t *response;
  tb__parameters_request_t request = {{parameters, count}};
  call("/plain/set_parameters", "rcl_interfaces/srv/SetParameters",
       &tb__set_parameters_request_type, &request, &tb__set_parameters_response_type, &response);
  assert_int_equal(response->results.count, count);
  return response;
}

static void assert_set_elsewhere(const char *name, tb__parameter_value_t value, bool successful)
{
  tb__parameter_t parameter = {name, value};
  tb__set_parameters_response_t *response = set_elsewhere(&parameter, 1);
  assert_int_equal(response->results.items[0].successful, successful);
  free(response);
}

static tb__parameter_value_t bool_value(bool value)
{
  return (tb__parameter_value_t){.type = TB__PARAMETER_BOOL, .bool_value = value};
}

static tb__parameter_value_t integer_value(int64_t value)
{
  return (tb__parameter_value_t){.type = TB__PARAMETER_INTEGER, .integer_value = value};
}

static int64_t now_ns(void)
{
  tb_time_t now;
  assert_ok(tb_clock_now(tb_ros2_node_clock(node), &now));
  return now.ns;
}

static void test_X7_use_sim_time_set_from_elsewhere_holds_when_the_answer_comes(void **state)
{
  (void)state;
  for (int i = 0; i < 20; i++) {
    assert_set_elsewhere("use_sim_time", bool_value(true), true);
    assert_int_equal(now_ns(), 0);
    assert_set_elsewhere("use_sim_time", bool_value(false), true);
    assert_true(now_ns() > 0);
  }
}

static void test_others_read_describe_and_list(void **state)
{
  (void)state;
  const char *const names[] = {"use_sim_time"};
  tb__names_request_t by_name = {{names, 1}};
  tb__get_parameters_response_t *got;
  tb__describe_parameters_response_t *described;
  tb__list_parameters_response_t *listed;
  call("/plain/get_parameters", "rcl_interfaces/srv/GetParameters",
       &tb__get_parameters_request_type, &by_name, &tb__get_parameters_response_type, &got);
  assert_int_equal(got->values.count, 1);
  assert_int_equal(got->values.items[0].type, TB__PARAMETER_BOOL);
  assert_false(got->values.items[0].bool_value);
  call("/plain/describe_parameters", "rcl_interfaces/srv/DescribeParameters",
       &tb__describe_parameters_request_type, &by_name, &tb__describe_parameters_response_type,
       &described);
  assert_string_equal(described->descriptors.items[0].name, "use_sim_time");
  tb__list_parameters_request_t all = {.depth = 1};
  call("/plain/list_parameters", "rcl_interfaces/srv/ListParameters",
       &tb__list_parameters_request_type, &all, &tb__list_parameters_response_type, &listed);
  assert_int_equal(listed->result.names.count, 2);
  assert_string_equal(listed->result.names.items[0], "time_source");
  assert_string_equal(listed->result.names.items[1], "use_sim_time");
  free(got);
  free(described);
  free(listed);
}

static tb_status_t refuse_odd(tb_ros2_node_t *of, const tb_ros2_parameter_t *parameters,
                              size_t count, void *user, tb_error_t *error)
{
  tb_ros2_parameter_value_t value = tb_ros2_parameter_integer(0);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(parameters[i].name, "even") != 0) continue;
    *(tb_status_t *)user = tb_ros2_node_set_parameter(of, "even", &value, NULL);
    if (parameters[i].value.integer_value % 2 != 0)
      return tb_error_set(error, TB_ERR_INVALID, "must be even");
  }
  return TB_OK;
}

static void test_own_parameters_have_ranges_types_and_a_callback(void **state)
{
  (void)state;
  tb_ros2_parameter_descriptor_t descriptor = TB_ROS2_PARAMETER_DESCRIPTOR_INIT;
  tb_ros2_parameter_value_t value = tb_ros2_parameter_integer(2), got;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t within = TB_OK;
  descriptor.has_integer_range = true;
  descriptor.integer_to = 10;
  assert_ok(tb_ros2_node_set_parameters_callback(node, refuse_odd, &within));
  assert_ok(tb_ros2_node_declare_parameter(node, "even", &value, &descriptor, NULL));
  assert_int_equal(within, TB_ERR_DEADLOCK);
  value.integer_value = 3;
  assert_status(tb_ros2_node_set_parameter(node, "even", &value, &error), TB_ERR_INVALID);
  assert_string_equal(error.text, "must be even");
  assert_set_elsewhere("even", integer_value(5), false);
  assert_set_elsewhere("even", integer_value(12), false);
  assert_set_elsewhere("even", bool_value(true), false);
  assert_set_elsewhere("even", integer_value(8), true);
  assert_set_elsewhere("not_declared", integer_value(8), false);
  assert_ok(tb_ros2_node_get_parameter(node, "even", &got));
  assert_int_equal(got.integer_value, 8);
  assert_ok(tb_ros2_node_set_parameters_callback(node, NULL, NULL));
  assert_set_elsewhere("even", integer_value(5), true);
  assert_status(tb_ros2_node_get_parameter(node, "odd", &got), TB_ERR_NOT_FOUND);
}

/* Whether there is an event at all by now; it is dropped. */
static bool event_came(tb_ros2_subscription_t *events)
{
  tb_ros2_sample_t sample;
  if (tb_ros2_subscription_take(events, &sample) != TB_OK) return false;
  tb_ros2_sample_release(&sample);
  return true;
}

/* The first event of `name`, to be freed. */
static tb__parameter_event_t *event_of(tb_ros2_subscription_t *events, const char *name)
{
  tb_ros2_sample_t sample;
  for (;;) {
    tb__parameter_event_t *event;
    if (tb_ros2_subscription_take(events, &sample) != TB_OK) {
      sched_yield();
      continue;
    }
    assert_ok(tb__cdr_decode(&tb__parameter_event_type, sample.cdr, sample.size, &event));
    tb_ros2_sample_release(&sample);
    assert_string_equal(event->node, "/plain");
    if ((event->new_parameters.count && !strcmp(event->new_parameters.items[0].name, name)) ||
        (event->changed_parameters.count && !strcmp(event->changed_parameters.items[0].name, name)))
      return event;
    free(event);
  }
}

/* A file that sets the parameters `names`, one letter each, to `value`, for any node. */
static void write_parameter_file(char path[], const char *names, int value)
{
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  dprintf(fd, "/**:\n  ros__parameters:\n");
  for (; *names; names++)
    dprintf(fd, "    %c: %d\n", *names, value);
  close(fd);
}

/* Declares the parameters "a", "b" ... of a new node, with 0, and compares what they got. */
static void assert_first_values(tb_ros2_context_t *of, const tb_ros2_node_options_t *options,
                                const int64_t *expected)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_t *made;
  if (tb_ros2_node_create(of, "overridden", "", options, &made, &error) != TB_OK)
    fail_msg("%s", error.text);
  for (char name[] = "a"; expected[name[0] - 'a'] >= 0; name[0]++) {
    tb_ros2_parameter_value_t value = tb_ros2_parameter_integer(0);
    assert_ok(tb_ros2_node_declare_parameter(made, name, &value, NULL, NULL));
    assert_ok(tb_ros2_node_get_parameter(made, name, &value));
    assert_int_equal(value.integer_value, expected[name[0] - 'a']);
  }
  tb_ros2_node_destroy(made);
}

/* As in rclcpp and rclpy: the context's arguments, then the node's, then the options.
 * rclcpp test_node.cpp: declare_parameter_with_overrides, declare_parameter_with_cli_overrides;
 * rclpy test_node.py: test_use_sim_time. */
static void test_options_override_arguments_of_node_and_context_and_files(void **state)
{
  (void)state;
  char global_file[] = "/tmp/tb-global-XXXXXX", own_file[] = "/tmp/tb-own-XXXXXX";
  const char *const global[] = {
      "",     "--ros-args", "-p",   "a:=1",          "-p",       "b:=1", "-p",
      "c:=1", "-p",         "d:=1", "--params-file", global_file};
  const char *const own[] = {"",     "--ros-args",    "-p",    "b:=2", "-p",
                             "c:=2", "--params-file", own_file};
  const tb_ros2_parameter_t overrides[] = {{"c", tb_ros2_parameter_integer(3)},
                                           {"d", tb_ros2_parameter_integer(3)},
                                           {"f", tb_ros2_parameter_integer(3)},
                                           {"g", tb_ros2_parameter_integer(3)}};
  tb_ros2_context_options_t context_options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_context_t *with_arguments;
  write_parameter_file(global_file, "efg", 1);
  write_parameter_file(own_file, "eg", 2);
  context_options.argc = sizeof global / sizeof global[0];
  context_options.argv = global;
  assert_ok(tb_ros2_context_create(&context_options, &with_arguments, NULL));
  options.argc = sizeof own / sizeof own[0];
  options.argv = own;
  options.parameter_overrides = overrides;
  options.parameter_override_count = sizeof overrides / sizeof overrides[0];
  assert_first_values(with_arguments, &options, (const int64_t[]){1, 2, 3, 3, 2, 3, 3, -1});
  options.ignore_global_arguments = true;
  assert_first_values(with_arguments, &options, (const int64_t[]){0, 2, 3, 3, 2, 3, 3, -1});
  tb_ros2_context_destroy(with_arguments);
  unlink(global_file);
  unlink(own_file);
}

static void test_options_decide_on_simulated_time(void **state)
{
  (void)state;
  const char *const argv[] = {"", "--ros-args", "-p", "use_sim_time:=true"};
  const tb_ros2_parameter_t off = {"use_sim_time", tb_ros2_parameter_bool(false)};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_node_destroy(node);
  options.argc = 4;
  options.argv = argv;
  assert_ok(tb_ros2_node_create(context, "plain", "", &options, &node, NULL));
  assert_int_equal(now_ns(), 0);
  tb_ros2_node_destroy(node);
  options.parameter_overrides = &off;
  options.parameter_override_count = 1;
  assert_ok(tb_ros2_node_create(context, "plain", "", &options, &node, NULL));
  assert_true(now_ns() > 0);
}

static void test_each_change_is_an_event(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_t *events;
  tb_ros2_parameter_value_t value = tb_ros2_parameter_double(0.5);
  qos.depth = 1000;
  assert_ok(tb_ros2_subscription_create(elsewhere, "/parameter_events",
                                        "rcl_interfaces/msg/ParameterEvent", &qos, NULL, &events,
                                        NULL));
  do /* until the publisher knows the subscription */
    assert_set_elsewhere("use_sim_time", bool_value(false), true);
  while (!event_came(events));
  assert_ok(tb_ros2_node_declare_parameter(node, "gain", &value, NULL, NULL));
  tb__parameter_event_t *event = event_of(events, "gain");
  assert_int_equal(event->new_parameters.count, 1);
  assert_true(event->new_parameters.items[0].value.double_value >= 0.5);
  assert_true(event->stamp.sec > 0);
  free(event);
  value.double_value = 0.25;
  assert_ok(tb_ros2_node_set_parameter(node, "gain", &value, NULL));
  event = event_of(events, "gain");
  assert_int_equal(event->changed_parameters.count, 1);
  assert_int_equal(event->new_parameters.count, 0);
  free(event);
  tb_ros2_subscription_destroy(events);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_X7_use_sim_time_set_from_elsewhere_holds_when_the_answer_comes),
      TEST(test_others_read_describe_and_list),
      TEST(test_own_parameters_have_ranges_types_and_a_callback),
      TEST(test_options_override_arguments_of_node_and_context_and_files),
      TEST(test_options_decide_on_simulated_time),
      TEST(test_each_change_is_an_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
