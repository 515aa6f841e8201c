/* What ends the calls of the graph early (S3, S5): a token, jumps of a clock, the limit. What they
 * wait for never comes. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <timebase/cancel_token.h>
#include <timebase/manual_source.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

#include "ros2/client.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN 93
#define S      TB_NS_PER_S
#define TOPIC  "std_msgs/msg/Bool"
#define TYPE   "std_srvs/srv/Trigger"

static const uint8_t message[] = {0, 1, 0, 0, 0, 0, 0};

static tb_ros2_context_t *context, *elsewhere;
static tb_ros2_graph_t *graph;
static tb_ros2_client_t *lonely, *client;
static tb_ros2_service_t *service;
static tb_ros2_publisher_t *publisher;
static tb_ros2_subscription_t *subscription;
static tb_ros2_clock_publisher_t *clock_publisher;
static tb_ros2_parameter_client_t *parameters;
static tb_source_t *source;
static tb_clock_t *ros_clock;

/* --- the calls --- */

static _Atomic bool answers;
static _Atomic uint32_t requests;
static tb_ros2_request_id_t first_id;
static sem_t requested;

static void on_request(tb_ros2_service_t *of, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  if (atomic_fetch_add(&requests, 1) == 0) first_id = request->id;
  if (atomic_load(&answers))
    assert_ok(tb_ros2_service_reply(of, &request->id, message, sizeof message, NULL));
  sem_post(&requested);
}

static tb_status_t wait_for_service(const tb_wait_options_t *options)
{
  return tb_ros2_client_wait_for_service(lonely, options);
}

static tb_status_t call_of(tb_ros2_client_t *of, const tb_wait_options_t *options)
{
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_ros2_client_call(of, message, sizeof message, options, &response, &error);
  if (status && !error.text[0]) fail_msg("no text");
  tb_ros2_response_release(&response);
  assert_null(of->pending);
  return status;
}

static tb_status_t call_without_service(const tb_wait_options_t *options)
{
  return call_of(lonely, options);
}

static tb_status_t call_without_answer(const tb_wait_options_t *options)
{
  return call_of(client, options);
}

static tb_status_t publisher_matched(const tb_wait_options_t *options)
{
  return tb_ros2_publisher_wait_for_matched(publisher, 1, options);
}

static tb_status_t subscription_matched(const tb_wait_options_t *options)
{
  return tb_ros2_subscription_wait_for_matched(subscription, 1, options);
}

static tb_status_t clock_publisher_matched(const tb_wait_options_t *options)
{
  return tb_ros2_clock_publisher_wait_for_matched(clock_publisher, 1, options);
}

static tb_status_t graph_node(const tb_wait_options_t *options)
{
  return tb_ros2_graph_wait_for_node(graph, "/nobody", options);
}

/* What ends a wait is no change. */
static tb_status_t graph_change(const tb_wait_options_t *options)
{
  for (;;) {
    uint32_t seen = tb_ros2_graph_changes(graph);
    tb_status_t status = tb_ros2_graph_wait_for_change(graph, seen, options);
    if (status) return status;
    assert_true(tb_ros2_graph_changes(graph) != seen);
  }
}

static const char *const names[] = {"use_sim_time"};
static const tb_ros2_parameter_t off = {.name = "use_sim_time",
                                        .value = {.type = TB_ROS2_PARAMETER_BOOL}};

static tb_status_t get(const tb_wait_options_t *options)
{
  tb_ros2_parameter_value_t value;
  size_t count;
  return tb_ros2_parameter_client_get(parameters, names, 1, options, &value, &count, NULL);
}

static tb_status_t get_types(const tb_wait_options_t *options)
{
  tb_ros2_parameter_type_t type;
  size_t count;
  return tb_ros2_parameter_client_get_types(parameters, names, 1, options, &type, &count, NULL);
}

static tb_status_t set(const tb_wait_options_t *options)
{
  tb_ros2_parameter_result_t result;
  return tb_ros2_parameter_client_set(parameters, &off, 1, options, &result, NULL);
}

static tb_status_t set_atomically(const tb_wait_options_t *options)
{
  tb_ros2_parameter_result_t result;
  return tb_ros2_parameter_client_set_atomically(parameters, &off, 1, options, &result, NULL);
}

static tb_status_t list(const tb_wait_options_t *options)
{
  tb_ros2_parameter_list_t out;
  return tb_ros2_parameter_client_list(parameters, NULL, 0, 0, options, &out, NULL);
}

static tb_status_t describe(const tb_wait_options_t *options)
{
  tb_ros2_parameter_descriptions_t out;
  return tb_ros2_parameter_client_describe(parameters, names, 1, options, &out, NULL);
}

static tb_status_t set_on_nodes_of(const char *const *nodes, const tb_wait_options_t *options)
{
  tb_ros2_parameter_outcome_t outcomes[2];
  tb_status_t status =
      tb_ros2_parameter_set_on_nodes(context, nodes, 2, &off, options, outcomes, NULL);
  if (status == TB_ERR_INVALID) return status;
  for (int i = 0; i < 2 && status; i++)
    assert_int_equal(outcomes[i].status, status);
  return outcomes[0].status;
}

static tb_status_t set_on_nodes(const tb_wait_options_t *options)
{
  return set_on_nodes_of((const char *const[]){"/nobody", "/nobody_else"}, options);
}

/* Their service has the name and the type, and never answers. */
static tb_ros2_service_t *mute[2];

static tb_status_t set_on_mute_nodes(const tb_wait_options_t *options)
{
  tb_status_t status = set_on_nodes_of((const char *const[]){"/mute_0", "/mute_1"}, options);
  return status == TB_ERR_NOT_FOUND ? TB_ERR_TIMEOUT : status; /* not discovered yet */
}

typedef struct row {
  const char *name;
  tb_status_t (*call)(const tb_wait_options_t *options);
  tb_status_t timed; /* at the limit; 0: TB_ERR_TIMEOUT */
} row_t;

static const row_t table[] = {
    {"client_wait_for_service", wait_for_service, 0},
    {"client_call without a service", call_without_service, TB_ERR_NOT_FOUND},
    {"client_call without an answer", call_without_answer, 0},
    {"publisher_wait_for_matched", publisher_matched, 0},
    {"subscription_wait_for_matched", subscription_matched, 0},
    {"clock_publisher_wait_for_matched", clock_publisher_matched, 0},
    {"graph_wait_for_node", graph_node, 0},
    {"graph_wait_for_change", graph_change, 0},
    {"parameter_client_get", get, TB_ERR_NOT_FOUND},
    {"parameter_client_get_types", get_types, TB_ERR_NOT_FOUND},
    {"parameter_client_set", set, TB_ERR_NOT_FOUND},
    {"parameter_client_set_atomically", set_atomically, TB_ERR_NOT_FOUND},
    {"parameter_client_list", list, TB_ERR_NOT_FOUND},
    {"parameter_client_describe", describe, TB_ERR_NOT_FOUND},
    {"parameter_set_on_nodes", set_on_nodes, TB_ERR_NOT_FOUND},
    {"parameter_set_on_nodes without an answer", set_on_mute_nodes, 0},
};

/* --- what ends them --- */

typedef struct waiting {
  const row_t *row;
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
} waiting_t;

static void *run(void *user)
{
  waiting_t *waiting = user;
  waiting->status = waiting->row->call(&waiting->options);
  return NULL;
}

static void begin(waiting_t *waiting, const row_t *row, tb_wait_options_t options)
{
  options.clock = ros_clock;
  *waiting = (waiting_t){.row = row, .options = options};
  assert_int_equal(pthread_create(&waiting->thread, NULL, run, waiting), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(source, 1, NULL));
}

static void expect_status(const row_t *row, const char *how, tb_status_t status,
                          tb_status_t expected)
{
  if (status != expected)
    fail_msg("%s, %s: %s, expected %s", row->name, how, tb_status_name(status),
             tb_status_name(expected));
}

static void expect(waiting_t *waiting, const char *how, tb_status_t expected)
{
  assert_int_equal(pthread_join(waiting->thread, NULL), 0);
  expect_status(waiting->row, how, waiting->status, expected);
}

static void check_token(const row_t *row)
{
  waiting_t waiting;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  begin(&waiting, row, (tb_wait_options_t){.token = token});
  tb_cancel_token_cancel(token);
  expect(&waiting, "cancelled", TB_ERR_CANCELLED);
  expect_status(row, "cancelled before", row->call(&(tb_wait_options_t){.token = token}),
                TB_ERR_CANCELLED);
  tb_cancel_token_reset(token);
  begin(&waiting, row, (tb_wait_options_t){.token = token});
  assert_ok(tb_cancel_token_destroy(token));
  expect(&waiting, "token destroyed", TB_ERR_CLOSED);
}

static void check_jumps(const row_t *row)
{
  waiting_t waiting;
  assert_ok(tb_manual_source_set(source, 100 * S));
  begin(&waiting, row, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_BACKWARD});
  assert_ok(tb_manual_source_set(source, 200 * S));
  assert_ok(tb_manual_source_set(source, 50 * S));
  expect(&waiting, "backward jump", TB_ERR_JUMP_BACKWARD);
  begin(&waiting, row,
        (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_FORWARD, .forward_min = TB_SECONDS(10)});
  assert_ok(tb_manual_source_set(source, 40 * S));
  assert_ok(tb_manual_source_set(source, 60 * S));
  expect(&waiting, "forward jump", TB_ERR_JUMP_FORWARD);
  begin(&waiting, row, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_CLOCK_CHANGE});
  assert_ok(tb_clock_set_source(ros_clock, NULL));
  expect(&waiting, "clock change", TB_ERR_CLOCK_CHANGED);
  assert_ok(tb_clock_set_source(ros_clock, source));
  begin(&waiting, row, (tb_wait_options_t){0});
  assert_ok(tb_clock_destroy(ros_clock));
  expect(&waiting, "clock destroyed", TB_ERR_CLOSED);
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &ros_clock));
}

static void check_limit(const row_t *row)
{
  tb_status_t timed = row->timed ? row->timed : TB_ERR_TIMEOUT;
  expect_status(row, "TB_NO_WAIT", row->call(WITHIN(TB_NO_WAIT)), timed);
  expect_status(row, "limit", row->call(WITHIN(TB_MS(20))), timed);
  expect_status(row, "negative limit", row->call(WITHIN(TB_NS(-5))), TB_ERR_INVALID);
  const tb_wait_options_t no_clock = {.flags = TB_WAIT_FAIL_ON_ANY, .forward_min = {1}};
  expect_status(row, "flags without a clock", row->call(&no_clock), TB_ERR_INVALID);
}

/* In ROS 2 this ends sleeps only. rclcpp test_clock.cpp: wakeup_sleep (a token), test_time.cpp:
 * sleep_until_ros_time_enable_interrupt, sleep_until_shutdown_interrupt; rclpy test_clock.py:
 * test_sleep_until_ros_time_toggled. */
static void test_S3_S5_what_ends_each_call(void **state)
{
  (void)state;
  assert_ok(tb_ros2_client_wait_for_service(client, NULL));
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    check_token(&table[i]);
    check_jumps(&table[i]);
    check_limit(&table[i]);
  }
}

/* A late answer to a request whose call has ended belongs to no other call. */
static void test_a_late_answer_is_dropped(void **state)
{
  (void)state;
  assert_ok(tb_ros2_client_wait_for_service(client, NULL));
  uint32_t before = atomic_load(&requests);
  assert_status(call_without_answer(WITHIN(TB_MS(1))), TB_ERR_TIMEOUT);
  while (atomic_load(&requests) == before)
    assert_int_equal(sem_wait(&requested), 0);
  assert_ok(tb_ros2_service_reply(service, &first_id, message, sizeof message, NULL));
  atomic_store(&answers, true);
  const tb_wait_options_t options = {
      .flags = TB_WAIT_FAIL_ON_BACKWARD, .limit = TB_SECONDS(60), .clock = ros_clock};
  assert_ok(call_without_answer(&options));
  atomic_store(&answers, false);
}

static tb_ros2_publisher_t *unacked;

static tb_status_t acks(const tb_wait_options_t *options)
{
  return tb_ros2_publisher_wait_for_acks(unacked, options);
}

/* A stopped process acknowledges nothing. */
static void test_S3_S5_what_ends_the_wait_for_acknowledgements(void **state)
{
  (void)state;
  static const uint8_t text[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  static const row_t row = {"publisher_wait_for_acks", acks, 0};
  const char *const argv[] = {TB_ROS2_PEER, "read", "rt/unacked", "rel", "1", NULL};
  peer_t peer;
  int status;
  const char *type = "std_msgs/msg/String";
  assert_ok(tb_ros2_publisher_create(context, "unacked", type, NULL, &unacked, NULL));
  peer_start(&peer, argv);
  assert_ok(tb_ros2_publisher_wait_for_matched(unacked, 1, NULL));
  assert_int_equal(kill(peer.pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer.pid, &status, WUNTRACED), peer.pid);
  assert_true(WIFSTOPPED(status));
  assert_ok(tb_ros2_publisher_publish(unacked, text, sizeof text, NULL));
  check_token(&row);
  check_jumps(&row);
  check_limit(&row);
  assert_int_equal(kill(peer.pid, SIGKILL), 0);
  peer_wait_killed(&peer);
  tb_ros2_publisher_destroy(unacked);
}

static void open_or_fail(void)
{
  const char *set_type = "rcl_interfaces/srv/SetParameters";
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  assert_ok(tb_ros2_client_create(context, "/lonely", TYPE, NULL, &lonely, NULL));
  assert_ok(tb_ros2_client_create(context, "/silent", TYPE, NULL, &client, NULL));
  assert_ok(
      tb_ros2_service_create(elsewhere, "/silent", TYPE, NULL, on_request, NULL, &service, NULL));
  assert_ok(tb_ros2_service_create(elsewhere, "/mute_0/set_parameters", set_type, &qos, on_request,
                                   NULL, &mute[0], NULL));
  assert_ok(tb_ros2_service_create(elsewhere, "/mute_1/set_parameters", set_type, &qos, on_request,
                                   NULL, &mute[1], NULL));
  assert_ok(tb_ros2_publisher_create(context, "/a", TOPIC, NULL, &publisher, NULL));
  assert_ok(tb_ros2_subscription_create(context, "/b", TOPIC, NULL, NULL, &subscription, NULL));
  assert_ok(tb_ros2_clock_publisher_create(context, "/c", NULL, &clock_publisher, NULL));
  assert_ok(tb_ros2_parameter_client_create(context, "/nobody", &parameters, NULL));
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &ros_clock));
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  assert_int_equal(sem_init(&requested, 0, 0), 0);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &elsewhere, &error) != TB_OK ||
      tb_ros2_graph_create(context, &graph, &error) != TB_OK)
    fail_msg("%s", error.text);
  open_or_fail();
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_parameter_client_destroy(parameters);
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_client_destroy(client);
  tb_ros2_client_destroy(lonely);
  tb_ros2_service_destroy(service);
  tb_ros2_service_destroy(mute[0]);
  tb_ros2_service_destroy(mute[1]);
  tb_ros2_graph_destroy(graph);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(elsewhere);
  assert_ok(tb_clock_destroy(ros_clock));
  assert_ok(tb_source_destroy(source));
  return sem_destroy(&requested);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S3_S5_what_ends_each_call),
      cmocka_unit_test(test_a_late_answer_is_dropped),
      cmocka_unit_test(test_S3_S5_what_ends_the_wait_for_acknowledgements),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
