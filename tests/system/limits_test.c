/* The limits of all calls of the graph: of clients, publishers, subscriptions and parameters. What
 * they wait for is made in a participant of its own. */
#include <semaphore.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

#include "limits_table.h"
#include "system/loopback.h"
#include "within.h"

#define DOMAIN 91
#define TOPIC  "std_msgs/msg/Bool"
#define TYPE   "std_srvs/srv/Trigger"

static const uint8_t message[] = {0, 1, 0, 0, 0, 0, 0, 0};

static tb_ros2_context_t *context, *elsewhere;
static tb_ros2_graph_t *graph;
static char name[32]; /* new in each row */

static void new_name(void)
{
  static int count;
  snprintf(name, sizeof name, "/late_%d", ++count);
}

/* --- clients --- */

static tb_ros2_client_t *client;
static tb_ros2_service_t *service;
static tb_ros2_request_id_t request_id; /* the last one */
static sem_t requested, responded;
static tb_status_t response_status;

static void note_request(tb_ros2_service_t *of, const tb_ros2_request_t *request, void *user)
{
  (void)of;
  (void)user;
  request_id = request->id;
  sem_post(&requested);
}

static void client_open(void)
{
  new_name();
  sem_init(&requested, 0, 0);
  sem_init(&responded, 0, 0);
  assert_ok(tb_ros2_client_create(context, name, TYPE, NULL, &client, NULL));
}

static void service_open(void)
{
  assert_ok(
      tb_ros2_service_create(elsewhere, name, TYPE, NULL, note_request, NULL, &service, NULL));
}

static void both_open(void)
{
  client_open();
  service_open();
  assert_ok(tb_ros2_client_wait_for_service(client, NULL));
}

static void both_close(void)
{
  tb_ros2_client_destroy(client);
  tb_ros2_service_destroy(service);
  sem_destroy(&requested);
  sem_destroy(&responded);
}

static void answer(void)
{
  sem_wait(&requested);
  assert_ok(tb_ros2_service_reply(service, &request_id, message, sizeof message, NULL));
}

static void service_answers(void)
{
  service_open();
  answer();
}

/* The one that TB_NO_WAIT has sent is not answered. */
static void answer_the_second(void)
{
  sem_wait(&requested);
  answer();
}

static tb_status_t wait_for_service(tb_duration_t limit)
{
  return tb_ros2_client_wait_for_service(client, WITHIN(limit));
}

static tb_status_t call(tb_duration_t limit)
{
  tb_ros2_response_t response;
  tb_status_t status =
      tb_ros2_client_call(client, message, sizeof message, WITHIN(limit), &response, NULL);
  if (!status) tb_ros2_response_release(&response);
  return status;
}

static void note_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  (void)user;
  response_status = status;
  sem_post(&responded);
}

static tb_status_t call_async(tb_duration_t limit)
{
  tb_status_t status =
      tb_ros2_client_call_async(client, message, sizeof message, limit, note_response, NULL, NULL);
  if (status) return status;
  sem_wait(&responded);
  return response_status;
}

/* --- publishers and subscriptions --- */

static tb_ros2_publisher_t *publisher;
static tb_ros2_subscription_t *subscription;
static tb_ros2_clock_publisher_t *clock_publisher;

static void publisher_open_in(tb_ros2_context_t *of)
{
  assert_ok(tb_ros2_publisher_create(of, name, TOPIC, NULL, &publisher, NULL));
}

static void subscription_open_in(tb_ros2_context_t *of)
{
  assert_ok(tb_ros2_subscription_create(of, name, TOPIC, NULL, NULL, &subscription, NULL));
}

static void publisher_open(void)
{
  new_name();
  publisher_open_in(context);
}

static void subscription_open(void)
{
  new_name();
  subscription_open_in(context);
}

static void clock_publisher_open(void)
{
  new_name();
  assert_ok(tb_ros2_clock_publisher_create(context, name, NULL, &clock_publisher, NULL));
}

static void publisher_comes(void)
{
  publisher_open_in(elsewhere);
}

static void subscription_comes(void)
{
  subscription_open_in(elsewhere);
}

static void clock_subscription_comes(void)
{
  const char *type = "rosgraph_msgs/msg/Clock";
  const tb_qos_t qos = TB_QOS_INIT_CLOCK;
  assert_ok(tb_ros2_subscription_create(elsewhere, name, type, &qos, NULL, &subscription, NULL));
}

static void topic_close(void)
{
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_subscription_destroy(subscription);
  publisher = NULL;
  clock_publisher = NULL;
}

static tb_status_t publisher_matched(tb_duration_t limit)
{
  return tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(limit));
}

static tb_status_t subscription_matched(tb_duration_t limit)
{
  return tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(limit));
}

static tb_status_t clock_publisher_matched(tb_duration_t limit)
{
  return tb_ros2_clock_publisher_wait_for_matched(clock_publisher, 1, WITHIN(limit));
}

/* --- nodes and their parameters --- */

static tb_ros2_node_t *node;
static tb_ros2_parameter_client_t *parameters;
static const char *const names[] = {"use_sim_time"};
static const tb_ros2_parameter_t off = {.name = "use_sim_time",
                                        .value = {.type = TB_ROS2_PARAMETER_BOOL}};

static void parameters_open(void)
{
  new_name();
  assert_ok(tb_ros2_parameter_client_create(context, name, &parameters, NULL));
}

static void node_comes(void)
{
  assert_ok(tb_ros2_node_create(elsewhere, name + 1, "", NULL, &node, NULL));
}

static void node_close(void)
{
  tb_ros2_parameter_client_destroy(parameters);
  parameters = NULL;
  tb_ros2_node_destroy(node);
}

static tb_status_t graph_node(tb_duration_t limit)
{
  return tb_ros2_graph_wait_for_node(graph, name, WITHIN(limit));
}

/* The graph may also change for other reasons. */
static tb_status_t graph_change(tb_duration_t limit)
{
  for (;;) {
    uint32_t seen = tb_ros2_graph_changes(graph);
    if (tb_ros2_graph_wait_for_node(graph, name, WITHIN(TB_NO_WAIT)) == TB_OK) return TB_OK;
    tb_status_t status = tb_ros2_graph_wait_for_change(graph, seen, WITHIN(limit));
    if (status) return status;
  }
}

static tb_status_t get(tb_duration_t limit)
{
  tb_ros2_parameter_value_t value;
  size_t count;
  tb_status_t status =
      tb_ros2_parameter_client_get(parameters, names, 1, WITHIN(limit), &value, &count, NULL);
  if (!status && count) tb_ros2_parameter_value_release(&value);
  return status;
}

static tb_status_t get_types(tb_duration_t limit)
{
  tb_ros2_parameter_type_t type;
  size_t count;
  return tb_ros2_parameter_client_get_types(parameters, names, 1, WITHIN(limit), &type, &count,
                                            NULL);
}

static tb_status_t set(tb_duration_t limit)
{
  tb_ros2_parameter_result_t result;
  return tb_ros2_parameter_client_set(parameters, &off, 1, WITHIN(limit), &result, NULL);
}

static tb_status_t set_atomically(tb_duration_t limit)
{
  tb_ros2_parameter_result_t result;
  return tb_ros2_parameter_client_set_atomically(parameters, &off, 1, WITHIN(limit), &result, NULL);
}

static tb_status_t list(tb_duration_t limit)
{
  tb_ros2_parameter_list_t out = {0};
  tb_status_t status =
      tb_ros2_parameter_client_list(parameters, NULL, 0, 0, WITHIN(limit), &out, NULL);
  tb_ros2_parameter_list_release(&out);
  return status;
}

static tb_status_t describe(tb_duration_t limit)
{
  tb_ros2_parameter_descriptions_t out = {0};
  tb_status_t status =
      tb_ros2_parameter_client_describe(parameters, names, 1, WITHIN(limit), &out, NULL);
  tb_ros2_parameter_descriptions_release(&out);
  return status;
}

static tb_status_t set_on_nodes(tb_duration_t limit)
{
  const char *const nodes[] = {name};
  tb_ros2_parameter_outcome_t outcome;
  tb_status_t status =
      tb_ros2_parameter_set_on_nodes(context, nodes, 1, &off, WITHIN(limit), &outcome, NULL);
  return status ? status : outcome.status;
}

static const limited_t table[] = {
    {"client_wait_for_service", wait_for_service, client_open, service_open, both_close, 0, 0},
    {"client_call without a service", call, client_open, service_answers, both_close,
     TB_ERR_NOT_FOUND, 0},
    {"client_call", call, both_open, answer_the_second, both_close, 0, 0},
    {"client_call_async", call_async, both_open, answer_the_second, both_close, 0, 0},
    {"publisher_wait_for_matched", publisher_matched, publisher_open, subscription_comes,
     topic_close, 0, 0},
    {"subscription_wait_for_matched", subscription_matched, subscription_open, publisher_comes,
     topic_close, 0, 0},
    {"clock_publisher_wait_for_matched", clock_publisher_matched, clock_publisher_open,
     clock_subscription_comes, topic_close, 0, 0},
    {"graph_wait_for_node", graph_node, new_name, node_comes, node_close, 0, 0},
    {"graph_wait_for_change", graph_change, new_name, node_comes, node_close, 0, 0},
    {"parameter_client_get", get, parameters_open, node_comes, node_close, TB_ERR_NOT_FOUND, 0},
    {"parameter_client_get_types", get_types, parameters_open, node_comes, node_close,
     TB_ERR_NOT_FOUND, 0},
    {"parameter_client_set", set, parameters_open, node_comes, node_close, TB_ERR_NOT_FOUND, 0},
    {"parameter_client_set_atomically", set_atomically, parameters_open, node_comes, node_close,
     TB_ERR_NOT_FOUND, 0},
    {"parameter_client_list", list, parameters_open, node_comes, node_close, TB_ERR_NOT_FOUND, 0},
    {"parameter_client_describe", describe, parameters_open, node_comes, node_close,
     TB_ERR_NOT_FOUND, 0},
    {"parameter_set_on_nodes", set_on_nodes, new_name, node_comes, node_close, TB_ERR_NOT_FOUND, 0},
};

/* In ROS 2 a limit of 0 looks once and a negative one is no limit. rclcpp test_client.cpp:
 * wait_for_service; rclpy test_client.py: test_wait_for_service_nowait; rcl test_graph.cpp:
 * test_rcl_wait_for_publishers, test_rcl_wait_for_subscribers. */
static void test_S5_a_limit_means_one_thing_in_every_call(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    limited_check(&table[i]);
}

/* A reader in this process acknowledges at once. rclcpp test_publisher.cpp:
 * check_wait_for_all_acked_with_QosPolicy; rclpy test_publisher.py: test_wait_for_all_acked. */
static void test_S5_the_limit_of_the_wait_for_acknowledgements(void **state)
{
  (void)state;
  publisher_open();
  subscription_open_in(elsewhere);
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, NULL));
  assert_ok(tb_ros2_publisher_publish(publisher, message, sizeof message, NULL));
  assert_ok(tb_ros2_publisher_wait_for_acks(publisher, NULL));
  assert_ok(tb_ros2_publisher_wait_for_acks(publisher, WITHIN(TB_NO_WAIT)));
  assert_status(tb_ros2_publisher_wait_for_acks(publisher, WITHIN(TB_NS(-5))), TB_ERR_INVALID);
  topic_close();
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &elsewhere, &error) != TB_OK ||
      tb_ros2_graph_create(context, &graph, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_graph_destroy(graph);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(elsewhere);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S5_a_limit_means_one_thing_in_every_call),
      cmocka_unit_test(test_S5_the_limit_of_the_wait_for_acknowledgements),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
