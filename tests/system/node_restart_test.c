/* Nodes in several processes: parameters set across them, and one that is killed and started again
 * under the same name. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define DOMAIN 46
#define S      TB_NS_PER_S
#define LIMIT  ((tb_duration_t){60 * S})
#define COUNT  3 /* nodes in as many processes */

static tb_ros2_context_t *context;
static tb_ros2_graph_t *graph;
static tb_ros2_parameter_client_t *client;
static tb_ros2_clock_publisher_t *publisher;

/* The lease of a killed process runs out after a second. */
static int setup(void **state)
{
  (void)state;
  char config[2048];
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  snprintf(config, sizeof config,
           "%s,<CycloneDDS><Domain><Discovery><LeaseDuration>1 s</LeaseDuration></Discovery>"
           "</Domain></CycloneDDS>",
           getenv("CYCLONEDDS_URI"));
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_graph_create(context, &graph, &error) != TB_OK ||
      tb_ros2_parameter_client_create(context, "/victim", &client, &error) != TB_OK ||
      tb_ros2_clock_publisher_create(context, NULL, NULL, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_parameter_client_destroy(client);
  tb_ros2_graph_destroy(graph);
  tb_ros2_context_destroy(context);
  return 0;
}

static void node_start(peer_t *peer, const char *name)
{
  const char *const argv[] = {TB_NODE_PEER, name, "true", NULL};
  peer_start(peer, argv);
  peer_expect_line(peer, "ready");
}

static void node_kill(peer_t *peer)
{
  kill(peer->pid, SIGKILL);
  peer_wait_killed(peer);
}

static bool graph_has(const char *name)
{
  return tb_ros2_graph_wait_for_node(graph, name, WITHIN(TB_NO_WAIT)) == TB_OK;
}

static void wait_until_gone(const char *name)
{
  for (;;) {
    uint32_t change = tb_ros2_graph_changes(graph);
    if (!graph_has(name)) return;
    assert_ok(tb_ros2_graph_wait_for_change(graph, change, WITHIN(LIMIT)));
  }
}

static void set_level(tb_ros2_parameter_client_t *of, int64_t level)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_result_t result;
  const tb_ros2_parameter_t parameter = {"level", tb_ros2_parameter_integer(level)};
  if (tb_ros2_parameter_client_set(of, &parameter, 1, WITHIN(LIMIT), &result, &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_true(result.successful);
}

static int64_t get_level(tb_ros2_parameter_client_t *of)
{
  static const char *const names[] = {"level"};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value;
  size_t count;
  if (tb_ros2_parameter_client_get(of, names, 1, WITHIN(LIMIT), &value, &count, &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_int_equal(count, 1);
  return value.integer_value;
}

/* /clock is best effort: until it has arrived. */
static void tick_until(peer_t *peer, int64_t time_ns)
{
  char line[64], expected[64];
  snprintf(expected, sizeof expected, "now %lld", (long long)time_ns);
  do {
    assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
    peer_say(peer, "now");
    peer_read_line(peer, line, sizeof line);
  } while (strcmp(line, expected) != 0);
}

static void test_parameters_across_processes(void **state)
{
  (void)state;
  static const char *const names[COUNT] = {"one", "two", "three"};
  tb_ros2_parameter_client_t *clients[COUNT];
  peer_t peers[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char full[16];
    node_start(&peers[i], names[i]);
    snprintf(full, sizeof full, "/%s", names[i]);
    assert_ok(tb_ros2_parameter_client_create(context, full, &clients[i], NULL));
  }
  for (int i = 0; i < COUNT; i++)
    set_level(clients[i], 10 * i);
  for (int i = 0; i < COUNT; i++) { /* each asks the next one, across processes */
    char expected[32];
    snprintf(expected, sizeof expected, "value %d", 10 * ((i + 1) % COUNT));
    peer_say(&peers[i], "get /%s level", names[(i + 1) % COUNT]);
    peer_expect_line(&peers[i], expected);
    assert_int_equal(get_level(clients[i]), 10 * i);
  }
  for (int i = 0; i < COUNT; i++) {
    tick_until(&peers[i], (i + 5) * S);
    tb_ros2_parameter_client_destroy(clients[i]);
    peer_stop(&peers[i]);
  }
}

typedef struct outcome {
  sem_t done;
  tb_status_t status;
} outcome_t;

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  outcome_t *outcome = user;
  outcome->status = status;
  sem_post(&outcome->done);
}

/* A request that the node takes and never answers: it has it when it prints "stuck". */
static tb_ros2_client_t *request_without_limit(outcome_t *outcome)
{
  static const tb__parameter_t stuck = {"stuck", {.type = TB__PARAMETER_BOOL, .bool_value = true}};
  static const tb__parameters_request_t request = {{&stuck, 1}};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *raw;
  uint8_t *cdr;
  size_t size;
  assert_int_equal(sem_init(&outcome->done, 0, 0), 0);
  assert_ok(tb__cdr_encode(&tb__set_parameters_request_type, &request, false, &cdr, &size));
  assert_ok(tb_ros2_client_create(context, "/victim/set_parameters",
                                  "rcl_interfaces/srv/SetParameters", NULL, &raw, NULL));
  assert_ok(tb_ros2_client_wait_for_service(raw, WITHIN(LIMIT)));
  if (tb_ros2_client_call_async(raw, cdr, size, LIMIT, on_response, outcome, &error) != TB_OK)
    fail_msg("%s", error.text);
  free(cdr);
  return raw;
}

static void outcome_expect(outcome_t *outcome, tb_status_t expected)
{
  while (sem_wait(&outcome->done) != 0)
    ;
  assert_status(outcome->status, expected);
  sem_destroy(&outcome->done);
}

static void *set_stuck(void *user)
{
  static const tb_ros2_parameter_t parameter = {
      "stuck", {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true}};
  tb_ros2_parameter_result_t result;
  *(tb_status_t *)user =
      tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, NULL);
  return NULL;
}

static void test_a_node_that_is_killed_and_started_again(void **state)
{
  (void)state;
  peer_t peer;
  for (int life = 1; life <= 2; life++) {
    outcome_t outcome;
    pthread_t thread;
    tb_status_t status = TB_OK;
    node_start(&peer, "victim");
    assert_ok(tb_ros2_graph_wait_for_node(graph, "/victim", WITHIN(LIMIT)));
    assert_int_equal(get_level(client), 0); /* of the new one */
    set_level(client, 7);
    tick_until(&peer, life * 100 * S);
    tb_ros2_client_t *raw = life == 1 ? request_without_limit(&outcome) : NULL;
    if (!raw) assert_int_equal(pthread_create(&thread, NULL, set_stuck, &status), 0);
    peer_expect_line(&peer, "stuck");
    node_kill(&peer);
    if (raw) {
      outcome_expect(&outcome, TB_ERR_CLOSED);
      tb_ros2_client_destroy(raw);
    } else {
      pthread_join(thread, NULL);
      assert_status(status, TB_ERR_CLOSED);
    }
    wait_until_gone("/victim");
  }
  node_start(&peer, "victim");
  assert_ok(tb_ros2_graph_wait_for_node(graph, "/victim", WITHIN(LIMIT)));
  assert_int_equal(get_level(client), 0);
  tick_until(&peer, 300 * S);
  peer_stop(&peer);
  wait_until_gone("/victim");
}

/* The new one is there before the lease of the old one has run out. */
static void test_a_node_that_is_replaced_at_once(void **state)
{
  (void)state;
  outcome_t outcome;
  peer_t old, next;
  node_start(&old, "victim");
  tb_ros2_client_t *raw = request_without_limit(&outcome);
  peer_expect_line(&old, "stuck");
  node_kill(&old);
  node_start(&next, "victim");
  tick_until(&next, 5 * S);
  outcome_expect(&outcome, TB_ERR_CLOSED); /* though it is served again */
  assert_int_equal(get_level(client), 0);
  set_level(client, 3);
  assert_int_equal(get_level(client), 3);
  tb_ros2_client_destroy(raw);
  peer_stop(&next);
  wait_until_gone("/victim");
}

/* Until its lease has run out a request waits in vain for the answer, or ends with it; then there
 * is no service. None of it takes longer than the limit. */
static void test_a_killed_participant_is_gone_after_its_lease(void **state)
{
  (void)state;
  static const char *const names[] = {"level"};
  static const tb_duration_t short_limit = {S / 10};
  tb_ros2_parameter_value_t value;
  tb_status_t status;
  size_t count;
  peer_t peer;
  node_start(&peer, "victim");
  assert_int_equal(get_level(client), 0);
  node_kill(&peer);
  do
    status =
        tb_ros2_parameter_client_get(client, names, 1, WITHIN(short_limit), &value, &count, NULL);
  while (status == TB_ERR_TIMEOUT || status == TB_ERR_CLOSED);
  assert_status(status, TB_ERR_NOT_FOUND);
  wait_until_gone("/victim");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_parameters_across_processes),
      TEST(test_a_node_that_is_killed_and_started_again),
      TEST(test_a_node_that_is_replaced_at_once),
      TEST(test_a_killed_participant_is_gone_after_its_lease),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
