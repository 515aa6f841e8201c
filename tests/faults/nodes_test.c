/* The faults of ros2_test.c for nodes: their parameters, endpoints, time and services. */
#include <dds/dds.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/clock_server.h>
#include <timebase/log.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_lifecycle.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_simulation_services.h>

#include "faults.h"
#include "loopback.h"
#include "ros2/context.h"
#include "within.h"

#define TOPIC_TYPE   "std_msgs/msg/String"
#define SERVICE_TYPE "std_srvs/srv/Empty"
#define LIMIT_NS     (60 * TB_NS_PER_S)

typedef struct stage {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *publisher;
} stage_t;

/* Failures that cannot be returned to a caller are logged. */
static _Atomic int warnings;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)level, (void)message, (void)user;
  atomic_fetch_add(&warnings, 1);
}

/* What failed was not essential to the call, or was on another thread: then it is in the log. */
static tb_status_t status_or_logged(tb_status_t status, int warnings_before)
{
  if (status != TB_OK || fault_status() == TB_OK) return status;
  return atomic_load(&warnings) > warnings_before ? fault_status() : TB_OK;
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

static tb_status_t makes_endpoints(tb_ros2_node_t *node)
{
  tb_status_t status;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_clock_publisher_t *clock_publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_client_t *client = NULL;
  tb_ros2_service_t *service = NULL;
  TRY_MAKE(publisher,
           tb_ros2_node_create_publisher(node, "~/x", TOPIC_TYPE, NULL, &publisher, NULL));
  TRY_MAKE(clock_publisher,
           tb_ros2_node_create_clock_publisher(node, "~/clock", NULL, &clock_publisher, NULL));
  TRY_MAKE(subscription, tb_ros2_node_create_subscription(node, "~/x", TOPIC_TYPE, NULL, NULL,
                                                          &subscription, NULL));
  TRY_MAKE(client, tb_ros2_node_create_client(node, "~/do", SERVICE_TYPE, NULL, &client, NULL));
  TRY_MAKE(service, tb_ros2_node_create_service(node, "~/do", SERVICE_TYPE, NULL, on_request, NULL,
                                                &service, NULL));
end:
  tb_ros2_service_destroy(service);
  tb_ros2_client_destroy(client);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_publisher_destroy(publisher);
  return status;
}

static const tb_ros2_parameter_t sim_time[] = {
    {"use_sim_time", {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true}}};

/* Up to here nothing has failed unnoticed. A service that cannot determine the client answers
 * anyway: from here on an answer does not show that nothing has failed. */
static tb_status_t begins_to_ask(int warnings_before)
{
  tb_status_t status = status_or_logged(TB_OK, warnings_before);
  if (status == TB_OK) assert_int_equal(fault_status(), TB_OK);
  return status;
}

static tb_status_t makes_node(stage_t *stage, tb_ros2_clock_activation_t activation, size_t count,
                              tb_ros2_node_t **out)
{
  static const char *const argv[] = {"", "--ros-args", "-p", "own:=1", "-r", "x:=y"};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  options.argc = sizeof argv / sizeof *argv;
  options.argv = argv;
  options.clock_activation = activation;
  options.parameter_overrides = sim_time;
  options.parameter_override_count = count;
  return tb_ros2_node_create(stage->context, "faulty", "/ns", &options, out, NULL);
}

/* A value is what it was, or what it was set to. */
static tb_status_t sets_parameters(tb_ros2_node_t *node)
{
  tb_ros2_parameter_value_t one = tb_ros2_parameter_integer(1), got;
  const tb_ros2_parameter_t batch[] = {
      {"use_sim_time", tb_ros2_parameter_bool(false)},
      {"time_source", tb_ros2_parameter_string("extrapolating")},
      {"own", tb_ros2_parameter_integer(2)},
  };
  tb_status_t status = tb_ros2_node_declare_parameter(node, "own", &one, NULL, NULL);
  if (status != TB_OK) return status;
  status = tb_ros2_node_set_parameters_atomically(node, batch, 3, NULL);
  fault_arm(false);
  assert_ok(tb_ros2_node_get_parameter(node, "own", &got));
  assert_int_equal(got.integer_value, status == TB_OK ? 2 : 1);
  assert_true(tb_clock_is_active(tb_ros2_node_clock(node)) == (status != TB_OK));
  fault_arm(true);
  if (status != TB_OK) return status;
  one = tb_ros2_parameter_bool(true);
  status = tb_ros2_node_set_parameter(node, "use_sim_time", &one, NULL);
  assert_true(tb_clock_is_active(tb_ros2_node_clock(node)) == (status == TB_OK));
  return status;
}

static tb_status_t has_a_node(stage_t *stage)
{
  tb_status_t status;
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  tb_clock_t *clock = NULL;
  tb_clock_options_t inactive = {TB_TIME_ROS, NULL};
  TRY_MAKE(node, makes_node(stage, TB_ROS2_CLOCK_BY_PARAMETER, 1, &node));
  TRY(makes_endpoints(node));
  TRY(sets_parameters(node));
  TRY_MAKE(clock, tb_clock_create(&inactive, &clock));
  TRY(tb_ros2_node_attach_clock(node, clock));
  TRY(tb_ros2_node_detach_clock(node, clock));
end:
  tb_clock_destroy(clock);
  tb_ros2_node_destroy(node);
  return status_or_logged(status, before);
}

/* The limit of an attempt. It is short, as a request that is lost for lack of memory, on either
 * side, has no answer, and there are a thousand runs. Where nothing has failed the machine was too
 * slow: then it is doubled. */
static tb_duration_t try_limit = {25 * TB_NS_PER_MS};

/* Where a fault makes DDS report an endpoint as gone, its client gets no further reports of it: so
 * each try has a new client. One that finds no service has tried too early: what has failed is not
 * what the next one needs. */
static tb_status_t try_again(tb_status_t (*attempt)(tb_ros2_context_t *),
                             tb_ros2_context_t *context)
{
  for (;;) {
    tb_status_t status = attempt(context);
    if (status == TB_OK) return fault_status();
    if (status != TB_ERR_TIMEOUT && status != TB_ERR_NOT_FOUND) return status;
    if (status == TB_ERR_TIMEOUT && fault_status() != TB_OK) return fault_status();
    if (!fault_has_struck() && try_limit.ns < LIMIT_NS) try_limit.ns *= 2;
  }
}

/* An attempt whose answer came too late may have set it, even after its end. */
static bool may_be_set;

static tb_status_t set_and_get(tb_ros2_context_t *context)
{
  static const char *const names[] = {"use_sim_time"};
  tb_ros2_parameter_client_t *client = NULL;
  tb_ros2_parameter_result_t result;
  tb_ros2_parameter_value_t value;
  size_t count;
  tb_status_t status;
  TRY_MAKE(client, tb_ros2_parameter_client_create(context, "/ns/faulty", &client, NULL));
  status = tb_ros2_parameter_client_set(client, sim_time, 1, WITHIN(try_limit), &result, NULL);
  if (status == TB_ERR_TIMEOUT) may_be_set = true;
  TRY(status);
  if (!result.successful) assert_int_not_equal(fault_status(), TB_OK);
  TRY(tb_ros2_parameter_client_get(client, names, 1, WITHIN(try_limit), &value, &count, NULL));
  assert_int_equal(count, 1);
  if (!may_be_set) assert_true(value.bool_value == result.successful);
  if (result.successful) assert_true(value.bool_value);
end:
  tb_ros2_parameter_client_destroy(client);
  return status;
}

static tb_status_t is_set_through_its_services(stage_t *stage)
{
  tb_status_t status;
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  TRY_MAKE(node, makes_node(stage, TB_ROS2_CLOCK_BY_PARAMETER, 0, &node));
  TRY(begins_to_ask(before));
  may_be_set = false;
  status = try_again(set_and_get, stage->context);
end:
  tb_ros2_node_destroy(node);
  return status_or_logged(status, before);
}

/* The stage has a publisher of /clock: the node's clock starts by itself, or the log has the
 * reason why not. */
static tb_status_t is_activated_by_a_publisher(stage_t *stage)
{
  tb_status_t status;
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  TRY_MAKE(node, makes_node(stage, TB_ROS2_CLOCK_BY_PUBLISHER, 0, &node));
  while (!tb_clock_is_active(tb_ros2_node_clock(node)) && atomic_load(&warnings) == before)
    sched_yield();
end:
  tb_ros2_node_destroy(node);
  return status_or_logged(status, before);
}

static tb_status_t tick(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  (void)self, (void)time_ns, (void)reason, (void)error;
  return TB_OK;
}

static tb_status_t pauses_through_a_service(tb_ros2_context_t *context)
{
  static const uint8_t request[] = {0, 1, 0, 0, 2}; /* SetSimulationState: PAUSED */
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response;
  tb_status_t status;
  TRY_MAKE(client, tb_ros2_client_create(context, "/ns/set_simulation_state",
                                         "simulation_interfaces/srv/SetSimulationState", NULL,
                                         &client, NULL));
  TRY(tb_ros2_client_call(client, request, sizeof request, WITHIN(try_limit), &response, NULL));
  tb_ros2_response_release(&response);
end:
  tb_ros2_client_destroy(client);
  return status;
}

static tb_status_t serves_a_simulation(stage_t *stage)
{
  static const tb_tick_sink_t sink = {tick, NULL};
  tb_status_t status;
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  tb_clock_server_t *server = NULL;
  tb_ros2_simulation_services_t *services = NULL;
  TRY_MAKE(node, makes_node(stage, TB_ROS2_CLOCK_BY_PARAMETER, 0, &node));
  TRY_MAKE(server, tb_clock_server_create(NULL, &sink, 1, &server, NULL));
  TRY_MAKE(services, tb_ros2_simulation_services_create(node, server, NULL, &services, NULL));
  TRY(begins_to_ask(before));
  status = try_again(pauses_through_a_service, stage->context);
end:
  tb_ros2_simulation_services_destroy(services);
  tb_clock_server_destroy(server);
  tb_ros2_node_destroy(node);
  return status_or_logged(status, before);
}

static tb_status_t has_a_lifecycle(stage_t *stage)
{
  tb_status_t status;
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  tb_ros2_lifecycle_t *lifecycle = NULL;
  TRY_MAKE(node, makes_node(stage, TB_ROS2_CLOCK_BY_PARAMETER, 0, &node));
  TRY_MAKE(lifecycle, tb_ros2_lifecycle_create(node, NULL, &lifecycle, NULL));
  TRY(tb_ros2_lifecycle_change_state(lifecycle, TB_ROS2_LIFECYCLE_CONFIGURE, NULL));
  while (tb_ros2_lifecycle_state(lifecycle) == TB_ROS2_LIFECYCLE_CONFIGURING)
    sched_yield();
  assert_int_equal(tb_ros2_lifecycle_state(lifecycle), TB_ROS2_LIFECYCLE_INACTIVE);
end:
  tb_ros2_lifecycle_destroy(lifecycle);
  tb_ros2_node_destroy(node);
  return status_or_logged(status, before);
}

/* ---- the stage ---- */

static void stage_open(stage_t *stage)
{
  tb_ros2_node_t *node;
  assert_ok(tb_ros2_context_create(NULL, &stage->context, NULL));
  assert_ok(tb_ros2_clock_publisher_create(stage->context, NULL, NULL, &stage->publisher, NULL));
  /* The context keeps what announces its nodes from the first one on. */
  assert_ok(tb_ros2_node_create(stage->context, "first", "", NULL, &node, NULL));
  tb_ros2_node_destroy(node);
}

static int entities(const stage_t *stage)
{
  int count = dds_get_children(tb__participant_handle(tb__ros2_context_participant(stage->context)),
                               NULL, 0);
  assert_true(count >= 0);
  return count;
}

/* The graph shows nothing of a node that was not created or was destroyed. */
static void assert_no_nodes(const stage_t *stage)
{
  tb_ros2_graph_t *graph;
  const tb_ros2_graph_snapshot_t *snapshot;
  assert_ok(tb_ros2_graph_create(stage->context, &graph, NULL));
  assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
  assert_int_equal(snapshot->node_count, 0);
  tb_ros2_graph_snapshot_release(snapshot);
  tb_ros2_graph_destroy(graph);
}

static void assert_works(stage_t *stage)
{
  tb_ros2_node_t *node;
  assert_ok(makes_node(stage, TB_ROS2_CLOCK_BY_PARAMETER, 1, &node));
  assert_ok(makes_endpoints(node));
  tb_ros2_node_destroy(node);
}

/* As in ros2_test.c: each run has a domain, at the end of which the middleware has freed
 * everything. Without memory to announce that a node was destroyed, which is logged, it is
 * announced with the next change. */
static tb_status_t in_a_domain(tb_status_t (*scenario)(stage_t *))
{
  stage_t stage = {0};
  fault_arm(false);
  stage_open(&stage);
  int entities_before = entities(&stage), before = atomic_load(&warnings);
  fault_arm(true);
  tb_status_t status = scenario(&stage);
  fault_arm(false);
  assert_int_equal(entities(&stage), entities_before);
  if (atomic_load(&warnings) == before) assert_no_nodes(&stage);
  assert_works(&stage);
  assert_no_nodes(&stage);
  tb_ros2_clock_publisher_destroy(stage.publisher);
  tb_ros2_context_destroy(stage.context);
  return status;
}

static tb_status_t has_a_first_node(void)
{
  tb_status_t status;
  stage_t stage = {0};
  int before = atomic_load(&warnings);
  tb_ros2_node_t *node = NULL;
  TRY_MAKE(stage.context, tb_ros2_context_create(NULL, &stage.context, NULL));
  TRY_MAKE(node, makes_node(&stage, TB_ROS2_CLOCK_BY_PARAMETER, 0, &node));
end:
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(stage.context);
  return status_or_logged(status, before);
}

#define SCENARIO(name)                                                                             \
  static tb_status_t name##_in_a_domain(void)                                                      \
  {                                                                                                \
    return in_a_domain(name);                                                                      \
  }                                                                                                \
  static void test_a_node_##name(void **state)                                                     \
  {                                                                                                \
    (void)state;                                                                                   \
    signal(SIGSEGV, SIG_DFL); /* see sweep in ros2_test.c */                                       \
    fault_sweep(name##_in_a_domain, NULL);                                                         \
  }
SCENARIO(has_a_node)
SCENARIO(is_set_through_its_services)
SCENARIO(is_activated_by_a_publisher)
SCENARIO(serves_a_simulation)
SCENARIO(has_a_lifecycle)

static void test_a_context_has_a_first_node(void **state)
{
  (void)state;
  signal(SIGSEGV, SIG_DFL);
  fault_sweep(has_a_first_node, NULL);
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(50);
  unsetenv("TIMEBASE_SOURCE");
  tb_log_set_hook(on_log, NULL);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_context_has_a_first_node),
      cmocka_unit_test(test_a_node_has_a_node),
      cmocka_unit_test(test_a_node_is_set_through_its_services),
      cmocka_unit_test(test_a_node_is_activated_by_a_publisher),
      cmocka_unit_test(test_a_node_serves_a_simulation),
      cmocka_unit_test(test_a_node_has_a_lifecycle),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
