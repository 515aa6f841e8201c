/* The faults of core_test.c for the ROS 2 part: Cyclone DDS refuses, or we get no memory. */
#include <dds/dds.h>
#include <signal.h>
#include <stdlib.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#include <timebase/sleep.h>
#include <unistd.h>

#include "faults.h"
#include "loopback.h"
#include "params/parameter_requests.h"
#include "ros2/arguments.h"
#include "ros2/context.h"
#include "ros2/graph_snapshot.h"

#define TYPE "std_msgs/msg/String"

static int only_loopback(void **state)
{
  (void)state;
  loopback_setup(90);
  return 0;
}

static tb_status_t joins_a_domain(void)
{
  tb_status_t status;
  tb_ros2_context_t *joined = NULL, *second = NULL;
  TRY_MAKE(joined, tb_ros2_context_create(NULL, &joined, NULL));
  TRY_MAKE(second, tb_ros2_context_create(NULL, &second, NULL));
end:
  tb_ros2_context_destroy(second);
  tb_ros2_context_destroy(joined);
  return status;
}

/* What is there before, and works after. */
typedef struct stage {
  tb_ros2_context_t *context;
  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_ros2_clock_publisher_t *clock_publisher;
} stage_t;

static const uint8_t empty_text[] = {0, 1, 0, 0, 1, 0, 0, 0, 0};

/* Endpoints of a process have met when the second one is made. */
static tb_status_t sends(tb_ros2_publisher_t *publisher, tb_ros2_subscription_t *subscription)
{
  tb_ros2_sample_t sample = {.owner = FAULT_POISON};
  tb_status_t status = tb_ros2_publisher_publish(publisher, empty_text, sizeof empty_text, NULL);
  tb_status_t taken = tb_ros2_subscription_take(subscription, &sample);
  assert_status(taken, status ? TB_ERR_NOT_FOUND : TB_OK);
  if (status)
    assert_ptr_equal(sample.owner, FAULT_POISON);
  else
    tb_ros2_sample_release(&sample);
  return status;
}

static tb_status_t makes_endpoints(stage_t *stage)
{
  tb_status_t status;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_clock_publisher_t *clock_publisher = NULL;
  TRY_MAKE(publisher,
           tb_ros2_publisher_create(stage->context, "/faults", TYPE, NULL, &publisher, NULL));
  TRY_MAKE(subscription, tb_ros2_subscription_create(stage->context, "/faults", TYPE, NULL, NULL,
                                                     &subscription, NULL));
  TRY_MAKE(clock_publisher,
           tb_ros2_clock_publisher_create(stage->context, NULL, NULL, &clock_publisher, NULL));
  TRY(sends(publisher, subscription));
  TRY(tb_ros2_clock_publisher_publish(clock_publisher, 1, NULL));
end:
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  return status;
}

static tb_status_t follows_clock(stage_t *stage)
{
  tb_status_t status;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  TRY_MAKE(source, tb_ros2_clock_source_create(stage->context, NULL, &source, NULL));
  options.source = source;
  TRY_MAKE(clock, tb_clock_create(&options, &clock));
  TRY(tb_ros2_clock_publisher_publish(stage->clock_publisher, 5, NULL));
  TRY(tb_clock_sleep_until(clock, (tb_time_t){5, TB_TIME_ROS}, NULL));
end:
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return status;
}

static void stage_open(stage_t *stage)
{
  assert_ok(tb_ros2_context_create(NULL, &stage->context, NULL));
  assert_ok(
      tb_ros2_publisher_create(stage->context, "/before", TYPE, NULL, &stage->publisher, NULL));
  assert_ok(tb_ros2_subscription_create(stage->context, "/before", TYPE, NULL, NULL,
                                        &stage->subscription, NULL));
  assert_ok(
      tb_ros2_clock_publisher_create(stage->context, NULL, NULL, &stage->clock_publisher, NULL));
  tb_ros2_graph_t *graph; /* the middleware keeps its subscriber of builtin topics from the first */
  assert_ok(tb_ros2_graph_create(stage->context, &graph, NULL));
  tb_ros2_graph_destroy(graph);
}

static void stage_still_works(stage_t *stage)
{
  assert_ok(sends(stage->publisher, stage->subscription));
  assert_ok(makes_endpoints(stage));
  assert_ok(follows_clock(stage));
}

static void stage_close(stage_t *stage)
{
  tb_ros2_clock_publisher_destroy(stage->clock_publisher);
  tb_ros2_subscription_destroy(stage->subscription);
  tb_ros2_publisher_destroy(stage->publisher);
  tb_ros2_context_destroy(stage->context);
}

/* Publishers, subscriptions and topics that the middleware knows of. */
static int entities(const stage_t *stage)
{
  int count = dds_get_children(tb__participant_handle(tb__ros2_context_participant(stage->context)),
                               NULL, 0);
  assert_true(count >= 0);
  return count;
}

/* The middleware frees on its own thread at any time, but everything before the end of its domain:
 * each run has one, and what is left after that is leaked. */
static tb_status_t in_a_domain(tb_status_t (*scenario)(stage_t *))
{
  stage_t stage = {0};
  fault_arm(false);
  stage_open(&stage);
  int entities_before = entities(&stage);
  fault_arm(true);
  tb_status_t status = scenario(&stage);
  fault_arm(false);
  assert_int_equal(entities(&stage), entities_before);
  stage_still_works(&stage);
  stage_close(&stage);
  return status;
}

static tb_status_t makes_endpoints_in_a_domain(void)
{
  return in_a_domain(makes_endpoints);
}

static tb_status_t follows_clock_in_a_domain(void)
{
  return in_a_domain(follows_clock);
}

/* The endpoints of the stage are there from the start. */
static tb_status_t sees_the_graph(stage_t *stage)
{
  tb_status_t status;
  tb_ros2_graph_t *graph = NULL;
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  TRY_MAKE(graph, tb_ros2_graph_create(stage->context, &graph, NULL));
  TRY_MAKE(snapshot, tb_ros2_graph_snapshot(graph, &snapshot, NULL));
  assert_int_equal(tb_ros2_graph_publishers(snapshot, "/before", &publishers), 1);
end:
  tb_ros2_graph_snapshot_release(snapshot);
  tb_ros2_graph_destroy(graph);
  return status;
}

static tb_status_t sees_the_graph_in_a_domain(void)
{
  return in_a_domain(sees_the_graph);
}

/* An older announcement stays in effect when there is no memory for a newer one. */
static tb_status_t announces_nodes(tb__graph_model_t *model)
{
  static const tb__guid_t guid = {{[14] = 1, [15] = 0xc1}}, writer = {{[14] = 4, [15] = 3}};
  tb__node_entities_info_t nodes[] = {{"/", "a", {0}, {0}}, {"/", "b", {0}, {0}}};
  tb__seen_participant_t participant = {.user_data = "enclave=/;"};
  tb_status_t status = TB_OK;
  participant.guid = guid;
  participant.guid.bytes[0] = 'p';
  for (size_t count = 1; count <= 2 && status == TB_OK; count++) {
    uint8_t *cdr;
    tb__guid_t from = writer;
    size_t size;
    tb__participant_entities_info_t info = {.node_entities_info_seq = {nodes, count}};
    tb__guid_copy(&participant.guid, info.gid.data);
    from.bytes[0] = 'p';
    fault_arm(false);
    assert_ok(tb__cdr_encode(&tb__participant_entities_info_type, &info, false, &cdr, &size));
    fault_arm(true);
    status = tb__graph_model_participant(model, &participant);
    if (status == TB_OK) status = tb__graph_model_info(model, &from, cdr, size);
    fault_arm(false);
    free(cdr);
    fault_arm(true);
    assert_true(tb__graph_model_has_node(model, "/a") || (count == 1 && status != TB_OK));
    assert_true(tb__graph_model_has_node(model, "/b") == (count == 2 && status == TB_OK));
  }
  return status;
}

static tb_status_t models_a_graph(void)
{
  static const tb__guid_t own;
  tb__graph_model_t model = {0};
  tb_ros2_graph_snapshot_t *snapshot = NULL;
  tb__seen_endpoint_t endpoint = {.guid = {"p1"}, .topic = "rt/x", .type = "T"};
  tb_status_t status;
  TRY(announces_nodes(&model));
  endpoint.participant_guid = model.participants[0].guid;
  TRY(tb__graph_model_endpoint(&model, &endpoint));
  TRY(tb__graph_model_endpoint(&model, &endpoint));
  TRY_MAKE(snapshot, tb__graph_snapshot_build(&model, &own, 0, &snapshot));
  assert_int_equal(snapshot->endpoint_count, 1);
end:
  free(snapshot);
  tb__graph_model_fini(&model);
  return status;
}

static char parameters_path[] = "/tmp/timebase_faults_XXXXXX";

static tb_status_t reads_arguments(void)
{
  const char *argv[] = {
      "program",      "--ros-args", "-r",   "a:=b", "-r",   "n:c:=d", "-r",
      "e:=f",         "-r",         "g:=h", "-r",   "i:=j", "-p",     "n:x:='5'",
      "-p",           "y:=[a, b]",  "-e",   "/one", "-e",   "/two",   "--params-file",
      parameters_path};
  tb_status_t status;
  tb__arguments_t *arguments = NULL;
  TRY_MAKE(arguments, tb__arguments_parse(sizeof argv / sizeof argv[0], argv, &arguments, NULL));
end:
  tb__arguments_destroy(arguments);
  return status;
}

static tb_status_t reads_and_writes_values(void)
{
  tb_status_t status;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  char *text = NULL;
  TRY(tb_ros2_parameter_value_parse("[a, 'b\n', \"c\\n\"]", &value, NULL));
  TRY_MAKE(text, tb_ros2_parameter_value_format(&value, &text));
end:
  free(text);
  tb_ros2_parameter_value_release(&value);
  return status;
}

static tb_ros2_parameter_value_t text(const char *string)
{
  return (tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_STRING, .string_value = string};
}

/* That a failed call has left the store as it was. */
static void assert_parameter(tb__parameter_store_t *store, const char *name, const char *expected)
{
  tb_ros2_parameter_value_t value;
  fault_arm(false);
  if (expected) {
    assert_ok(tb__parameter_store_get(store, name, &value, NULL));
    assert_string_equal(value.string_value, expected);
    tb_ros2_parameter_value_release(&value);
  } else {
    assert_status(tb__parameter_store_get(store, name, &value, NULL), TB_ERR_NOT_FOUND);
  }
  fault_arm(true);
}

static tb_status_t declares_parameters(tb__parameter_store_t *store)
{
  tb_ros2_parameter_value_t first = text("first"), over = text("over"), out;
  tb_ros2_parameter_descriptor_t dynamic = {.dynamic_typing = true};
  tb_status_t status = tb__parameter_store_override(store, "b", &over, NULL);
  if (status == TB_OK) status = tb__parameter_store_override(store, "b", &over, NULL);
  if (status != TB_OK) return status;
  status = tb__parameter_store_declare(store, "n.a", &first, NULL, &out, NULL);
  assert_parameter(store, "n.a", status ? NULL : "first");
  if (status != TB_OK) return status;
  tb_ros2_parameter_value_release(&out);
  status = tb__parameter_store_declare(store, "b", &first, &dynamic, NULL, NULL);
  assert_parameter(store, "b", status ? NULL : "over");
  return status;
}

static tb_status_t changes_parameters(tb__parameter_store_t *store)
{
  tb_ros2_parameter_t batch[] = {{"n.a", text("second")}, {"b", TB_ROS2_PARAMETER_VALUE_INIT}};
  tb_status_t status = tb__parameter_store_set(store, batch, 2, NULL);
  assert_parameter(store, "n.a", status ? "first" : "second");
  assert_parameter(store, "b", status ? "over" : NULL);
  return status;
}

/* What is refused for lack of memory is a result. */
static tb_status_t requests_parameters(tb__parameter_store_t *store)
{
  static const tb__parameter_t wanted = {"n.a", {.type = 4, .string_value = "third"}};
  tb__parameters_request_t request = {{&wanted, 1}};
  tb__set_parameters_atomically_response_t *response;
  uint8_t *cdr, *answer = NULL;
  size_t size, answer_size;
  fault_arm(false);
  assert_ok(tb__cdr_encode(tb__parameter_services[3].request, &request, false, &cdr, &size));
  fault_arm(true);
  tb_status_t status = tb__parameter_request_handle(&tb__parameter_services[3], store, cdr, size,
                                                    &answer, &answer_size, NULL);
  fault_arm(false);
  free(cdr);
  if (status == TB_OK) {
    assert_ok(tb__cdr_decode(&tb__set_parameters_atomically_response_type, answer, answer_size,
                             &response));
    status = response->result.successful ? TB_OK : TB_ERR_NO_MEMORY;
    free(response);
  }
  free(answer);
  assert_parameter(store, "n.a", status ? "second" : "third");
  return status;
}

static tb_status_t reads_parameters(tb__parameter_store_t *store)
{
  static const char *const names[] = {"n", "n.a"};
  static const tb__list_parameters_request_t list = {{names, 2}, 0};
  static const tb__names_request_t named = {{names + 1, 1}};
  tb_ros2_parameter_value_t value;
  tb_status_t status = tb__parameter_store_get(store, "n.a", &value, NULL);
  if (status != TB_OK) return status;
  tb_ros2_parameter_value_release(&value);
  for (size_t i = 0; i < TB__PARAMETER_SERVICE_COUNT && status == TB_OK; i++) {
    const tb__parameter_service_t *service = &tb__parameter_services[i];
    uint8_t *answer = FAULT_POISON;
    size_t size;
    if (strncmp(service->name, "set", 3) == 0) continue;
    const void *request = strncmp(service->name, "list", 4) == 0 ? (const void *)&list : &named;
    status = service->answer(store, request, &answer, &size);
    if (status == TB_OK)
      free(answer);
    else
      assert_ptr_equal(answer, FAULT_POISON);
  }
  return status;
}

static tb_status_t keeps_parameters(void)
{
  tb_status_t status;
  tb__parameter_store_t *store = NULL;
  TRY_MAKE(store, tb__parameter_store_create(NULL, NULL, &store));
  TRY(declares_parameters(store));
  TRY(changes_parameters(store));
  TRY(requests_parameters(store));
  TRY(reads_parameters(store));
end:
  tb__parameter_store_destroy(store);
  return status;
}

static void sweep(fault_scenario_t scenario)
{
  signal(SIGSEGV,
         SIG_DFL); /* a crash inside the middleware leaves it locked: nothing can continue */
  fault_sweep(scenario, NULL);
}

static void test_faults_of_joining_a_domain(void **state)
{
  (void)state;
  sweep(joins_a_domain);
}

static void test_faults_of_endpoints(void **state)
{
  (void)state;
  sweep(makes_endpoints_in_a_domain);
}

static void test_faults_of_following_clock(void **state)
{
  (void)state;
  sweep(follows_clock_in_a_domain);
}

static void test_faults_of_a_graph_s_model(void **state)
{
  (void)state;
  fault_sweep(models_a_graph, NULL);
}

static void test_faults_of_seeing_the_graph(void **state)
{
  (void)state;
  sweep(sees_the_graph_in_a_domain);
}

static void test_faults_of_arguments(void **state)
{
  (void)state;
  int fd = mkstemp(parameters_path);
  assert_true(fd >= 0);
  assert_true(dprintf(fd, "/a: {b: {ros__parameters: {c: {d: 1}, e: [1.5], f: x}}}\n") > 0);
  close(fd);
  sweep(reads_arguments);
  sweep(reads_and_writes_values);
  unlink(parameters_path);
}

static void test_faults_of_parameters(void **state)
{
  (void)state;
  fault_sweep(keeps_parameters, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_of_arguments),
      cmocka_unit_test(test_faults_of_parameters),
      cmocka_unit_test(test_faults_of_a_graph_s_model),
      cmocka_unit_test_setup(test_faults_of_joining_a_domain, only_loopback),
      cmocka_unit_test_setup(test_faults_of_endpoints, only_loopback),
      cmocka_unit_test_setup(test_faults_of_following_clock, only_loopback),
      cmocka_unit_test_setup(test_faults_of_seeing_the_graph, only_loopback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
