/* C7: a child forked from a process whose nodes have parameters, services and clocks on /clock. It
 * reads, is refused the rest, and destroys everything; the parent continues. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/jump.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_simulation_services.h>
#include <unistd.h>

#include "forking.h"
#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define DOMAIN 49
#define S      TB_NS_PER_S
#define LIMIT  ((tb_duration_t){60 * S})
#define NODES  3
#define FORKS  30

typedef struct world {
  tb_ros2_context_t *context;
  tb_ros2_node_t *nodes[NODES];
  tb_ros2_clock_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  tb_ros2_graph_t *graph;
  tb_ros2_parameter_client_t *parameters;
  tb_jump_handler_t *handler;
  tb_clock_server_t *server;
  tb_ros2_simulation_services_t *simulation;
  tb_clock_t *attached;
} world_t;

static world_t world;
static atomic_bool done;

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
}

static tb_status_t tick(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  (void)self, (void)time_ns, (void)reason, (void)error;
  return TB_OK;
}

static void nodes_create(void)
{
  const tb_ros2_parameter_t overrides[] = {
      {"use_sim_time", tb_ros2_parameter_bool(true)},
      {"time_source", tb_ros2_parameter_string("extrapolating")}};
  tb_ros2_parameter_value_t text = tb_ros2_parameter_string("text");
  for (int i = 0; i < NODES; i++) {
    tb_error_t error = TB_ERROR_INIT;
    tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    options.parameter_overrides = overrides;
    options.parameter_override_count = i == 1 ? 2 : 1;
    if (i == 2) options.clock_activation = TB_ROS2_CLOCK_BY_PUBLISHER;
    if (tb_ros2_node_create(world.context, name, "", &options, &world.nodes[i], &error) != TB_OK)
      fail_msg("%s", error.text);
    assert_ok(tb_ros2_node_declare_parameter(world.nodes[i], "own", &text, NULL, NULL));
  }
}

static int setup(void **state)
{
  (void)state;
  static const tb_tick_sink_t sink = {tick, NULL};
  const tb_clock_options_t inactive = {TB_TIME_ROS, NULL};
  tb_jump_handler_options_t handler = {
      .name = "fork", .threshold = {{S}, {-1}, true}, .after = on_jump};
  loopback_setup(DOMAIN);
  assert_ok(tb_ros2_context_create(NULL, &world.context, NULL));
  nodes_create();
  tb_ros2_node_t *node = world.nodes[0];
  assert_ok(tb_ros2_node_create_clock_publisher(node, NULL, NULL, &world.publisher, NULL));
  assert_ok(tb_ros2_node_create_subscription(node, "x", "std_msgs/msg/String", NULL, NULL,
                                             &world.subscription, NULL));
  assert_ok(
      tb_ros2_node_create_client(node, "do", "std_srvs/srv/Empty", NULL, &world.client, NULL));
  assert_ok(tb_ros2_node_create_service(node, "do", "std_srvs/srv/Empty", NULL, on_request, NULL,
                                        &world.service, NULL));
  assert_ok(tb_ros2_graph_create(world.context, &world.graph, NULL));
  assert_ok(tb_ros2_parameter_client_create(world.context, "/n1", &world.parameters, NULL));
  assert_ok(tb_jump_handler_create(tb_ros2_node_clock(node), &handler, &world.handler));
  assert_ok(tb_clock_server_create(NULL, &sink, 1, &world.server, NULL));
  assert_ok(tb_clock_server_start(world.server));
  assert_ok(tb_ros2_simulation_services_create(node, world.server, NULL, &world.simulation, NULL));
  assert_ok(tb_clock_create(&inactive, &world.attached));
  assert_ok(tb_ros2_node_attach_clock(node, world.attached));
  return 0;
}

static void world_destroy(void)
{
  tb_ros2_simulation_services_destroy(world.simulation);
  tb_clock_server_destroy(world.server);
  tb_jump_handler_destroy(world.handler);
  tb_ros2_parameter_client_destroy(world.parameters);
  tb_ros2_graph_destroy(world.graph);
  tb_ros2_service_destroy(world.service);
  tb_ros2_client_destroy(world.client);
  tb_ros2_subscription_destroy(world.subscription);
  tb_ros2_clock_publisher_destroy(world.publisher);
  for (int i = 0; i < NODES; i++)
    tb_ros2_node_destroy(world.nodes[i]);
  tb_clock_destroy(world.attached);
  tb_ros2_context_destroy(world.context);
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  world_destroy();
  return 0;
}

/* What can be read without waiting. */
static int child_reads(void)
{
  for (int i = 0; i < NODES; i++) {
    tb_ros2_parameter_value_t value;
    tb_time_t now;
    if (tb_clock_now(tb_ros2_node_clock(world.nodes[i]), &now) != TB_OK) return __LINE__;
    if (now.ns < 5 * S || now.ns > 1000000 * S) return __LINE__; /* simulated */
    tb_status_t status = tb_ros2_node_get_parameter(world.nodes[i], "own", &value);
    if (status == TB_OK && strcmp(value.string_value, "text") != 0) return __LINE__;
    if (status == TB_OK) tb_ros2_parameter_value_release(&value);
    if (status != TB_OK && status != TB_ERR_FORKED) return __LINE__;
    if (tb_ros2_node_fully_qualified_name(world.nodes[i])[1] != 'n') return __LINE__;
  }
  return 0;
}

static int child_is_refused(void)
{
  static const char *const names[] = {"own"};
  tb_ros2_parameter_value_t off = tb_ros2_parameter_bool(false);
  tb_ros2_parameter_t parameter = {"use_sim_time", off};
  tb_ros2_parameter_outcome_t outcome;
  const char *const nodes[] = {"/n1"};
  tb_ros2_clock_source_status_t status;
  tb_ros2_node_t *node = world.nodes[0], *another;
  size_t count;
  if (tb_ros2_node_create(world.context, "x", "", NULL, &another, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_set_parameter(node, "use_sim_time", &off, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_set_parameters_atomically(node, &parameter, 1, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_declare_parameter(node, "new", &off, NULL, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_undeclare_parameter(node, "own", NULL) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_node_set_parameters_callback(node, NULL, NULL) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_node_clock_source_status(node, &status) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_node_attach_clock(node, world.attached) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_node_detach_clock(node, world.attached) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_parameter_client_get(world.parameters, names, 1, WITHIN(LIMIT), &off, &count, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_parameter_set_on_nodes(world.context, nodes, 1, &parameter, WITHIN(LIMIT), &outcome,
                                     NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_client_wait_for_service(world.client, WITHIN(LIMIT)) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_clock_publisher_publish(world.publisher, S, NULL) != TB_ERR_FORKED) return __LINE__;
  return 0;
}

/* Locks may be held by threads that the child does not have. */
static void *keep_busy(void *user)
{
  int64_t time_ns = 10 * S;
  (void)user;
  while (!atomic_load(&done)) {
    tb_ros2_parameter_value_t value = tb_ros2_parameter_bool(true);
    tb_ros2_clock_publisher_publish(world.publisher, time_ns += TB_NS_PER_MS, NULL);
    tb_ros2_node_set_parameter(world.nodes[1], "use_sim_time", &value, NULL);
  }
  return NULL;
}

/* So that the context's thread is running. */
static void *keep_asking(void *user)
{
  static const char *const names[] = {"own"};
  (void)user;
  while (!atomic_load(&done)) {
    tb_ros2_parameter_value_t value;
    size_t count = 0;
    (void)!tb_ros2_parameter_client_get(world.parameters, names, 1, WITHIN(LIMIT), &value, &count,
                                        NULL);
    if (count > 0) tb_ros2_parameter_value_release(&value);
  }
  return NULL;
}

static void fork_once(bool while_busy)
{
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60); /* a hang is a signal */
    int line = while_busy ? 0 : child_reads();
    if (!line) line = child_is_refused();
    if (!line) world_destroy();
    if (line) fprintf(stderr, "child: line %d\n", line);
    _exit(line ? 1 : 0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("child: 0x%x", (unsigned)status);
}

static void wait_until_all_read(int64_t time_ns)
{
  for (int i = 0; i < NODES; i++) {
    tb_time_t now = {0, TB_TIME_ROS};
    while (now.ns < time_ns) {
      assert_ok(tb_ros2_clock_publisher_publish(world.publisher, time_ns, NULL));
      sched_yield();
      assert_ok(tb_clock_now(tb_ros2_node_clock(world.nodes[i]), &now));
    }
  }
}

static void test_C7_a_child_of_a_program_at_rest(void **state)
{
  (void)state;
  wait_until_all_read(5 * S);
  fork_once(false);
  wait_until_all_read(6 * S);
}

static void test_C7_children_of_a_busy_program(void **state)
{
  (void)state;
  pthread_t threads[2];
  wait_until_all_read(5 * S);
  atomic_store(&done, false);
  assert_int_equal(pthread_create(&threads[0], NULL, keep_busy, NULL), 0);
  assert_int_equal(pthread_create(&threads[1], NULL, keep_asking, NULL), 0);
  for (int i = 0; i < FORKS; i++)
    fork_once(true);
  atomic_store(&done, true);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  wait_until_all_read(100000 * S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_C7_a_child_of_a_program_at_rest),
      TEST(test_C7_children_of_a_busy_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
