/* Services of a node of Fast DDS, which would take our requests for something else: nothing is sent
 * to it, and the caller gets the reason. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN "92"
#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})

static peer_t peer;
static tb_ros2_context_t *context;

static void start_peer(void)
{
  peer_start(&peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/fastnode", NULL});
  peer_expect_line(&peer, "ready");
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(atoi(DOMAIN));
  start_peer();
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  return 0;
}

static void expect_no_request(void)
{
  peer_say(&peer, "count");
  peer_expect_line(&peer, "requests 0 malformed 0");
}

static void assert_told(const tb_error_t *error)
{
  assert_int_equal(error->status, TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error->text, "another middleware (Fast DDS)"));
  assert_non_null(strstr(error->text, "/fastnode/"));
}

static void test_parameter_clients_send_nothing(void **state)
{
  (void)state;
  tb_ros2_parameter_client_t *client;
  tb_ros2_parameter_t parameter = {"use_sim_time", tb_ros2_parameter_bool(true)};
  tb_ros2_parameter_result_t result;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_ros2_parameter_list_t list;
  size_t count;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_ros2_parameter_client_create(context, "/fastnode", &client, NULL));
  assert_status(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, &error),
                TB_ERR_UNSUPPORTED);
  assert_told(&error);
  assert_status(tb_ros2_parameter_client_get(client, &parameter.name, 1, WITHIN(LIMIT), &value,
                                             &count, &error),
                TB_ERR_UNSUPPORTED);
  assert_told(&error);
  assert_status(tb_ros2_parameter_client_list(client, NULL, 0, 0, WITHIN(LIMIT), &list, &error),
                TB_ERR_UNSUPPORTED);
  assert_told(&error);
  tb_ros2_parameter_client_destroy(client);
  expect_no_request();
}

static void test_a_set_on_many_nodes_leaves_it_out(void **state)
{
  (void)state;
  const char *names[] = {"/fastnode", "/ours"};
  tb_ros2_node_t *node;
  tb_ros2_parameter_outcome_t outcomes[2];
  tb_ros2_parameter_t parameter = {"use_sim_time", tb_ros2_parameter_bool(false)};
  assert_ok(tb_ros2_node_create(context, "ours", "/", NULL, &node, NULL));
  assert_ok(
      tb_ros2_parameter_set_on_nodes(context, names, 2, &parameter, WITHIN(LIMIT), outcomes, NULL));
  assert_status(outcomes[0].status, TB_ERR_UNSUPPORTED);
  assert_ok(outcomes[1].status);
  tb_ros2_node_destroy(node);
  expect_no_request();
}

static void no_callback(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response, (void)user;
  fail_msg("%s", tb_status_name(status));
}

/* A server of ours beside it: a writer sends to all that it is matched with, so neither gets any
 * until the other one has ended. */
static void test_nothing_is_sent_while_it_is_matched_beside_another(void **state)
{
  (void)state;
  static const uint8_t request[] = {0, 1, 0, 0, 0, 0, 0, 0};
  tb_ros2_client_t *client;
  tb_ros2_node_t *node;
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_ros2_client_create(context, "/fastnode/get_parameters",
                                  "rcl_interfaces/srv/GetParameters", NULL, &client, NULL));
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)), TB_ERR_UNSUPPORTED);
  assert_ok(tb_ros2_node_create(context, "fastnode", "/", NULL, &node, NULL));
  for (int i = 0; i < 100; i++) {
    assert_false(tb_ros2_client_is_service_ready(client));
    assert_status(
        tb_ros2_client_call(client, request, sizeof request, WITHIN(LIMIT), &response, &error),
        TB_ERR_UNSUPPORTED);
    assert_told(&error);
    assert_status(tb_ros2_client_call_async(client, request, sizeof request, LIMIT, no_callback,
                                            NULL, &error),
                  TB_ERR_UNSUPPORTED);
  }
  expect_no_request();
  peer_stop(&peer);
  tb_status_t status;
  do
    status = tb_ros2_client_wait_for_service(client, WITHIN(LIMIT));
  while (status == TB_ERR_UNSUPPORTED);
  assert_ok(status);
  assert_ok(tb_ros2_client_call(client, request, sizeof request, WITHIN(LIMIT), &response, &error));
  tb_ros2_response_release(&response);
  tb_ros2_node_destroy(node);
  tb_ros2_client_destroy(client);
  start_peer();
}

/* The exit status, and whether `text` was printed. */
static int run_command(const char *arguments, const char *text)
{
  char line[512];
  bool found = false;
  snprintf(line, sizeof line, "%s %s 2>&1", TB_COMMAND, arguments);
  FILE *output = popen(line, "r");
  assert_non_null(output);
  while (fgets(line, sizeof line, output)) {
    print_message("%s: %s", arguments, line);
    found = found || strstr(line, text);
  }
  int status = pclose(output);
  assert_true(found);
  return WEXITSTATUS(status);
}

static void test_the_commands_report_another_middleware(void **state)
{
  (void)state;
  const char *reason = "another middleware (Fast DDS)";
  assert_int_equal(run_command("param set --wait 30 /fastnode a 1", reason), 1);
  assert_int_equal(run_command("param get --wait 30 /fastnode a", reason), 1);
  assert_int_equal(run_command("param list --wait 30 /fastnode", reason), 1);
  assert_int_equal(run_command("sim-time --wait 30 on /fastnode", reason), 1);
  expect_no_request();
  peer_stop(&peer);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parameter_clients_send_nothing),
      cmocka_unit_test(test_a_set_on_many_nodes_leaves_it_out),
      cmocka_unit_test(test_nothing_is_sent_while_it_is_matched_beside_another),
      cmocka_unit_test(test_the_commands_report_another_middleware),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
