/* Clients of parameter services against servers that answer as they should, and as they should not.
 * Both are in this process, but in separate participants. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_service.h>
#include <unistd.h>

#include "forking.h"
#include "system/loopback.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define LIMIT       ((tb_duration_t){60 * TB_NS_PER_S})
#define SHORT_LIMIT ((tb_duration_t){1000000})
#define DOMAIN      17
#define NODE        "/front/camera"

/* How a service answers. */
typedef enum manner {
  WELL,
  REFUSING,
  UNKNOWING,   /* as nodes do that do not have a parameter */
  TOO_MANY,    /* answers */
  BAD_TYPE,    /* a parameter type that does not exist */
  MALFORMED,   /* a sequence of 4 billion */
  CUT,         /* nothing but the encapsulation */
  LONG_WINDED, /* a reason of 1000 characters */
  TWICE,
  NEVER,
  LATER, /* well, but not the first time */
} manner_t;

typedef struct server {
  tb_ros2_service_t *service;
  _Atomic manner_t manner;
  int kind;
} server_t;

static const char *const kinds[] = {"get_parameters",      "get_parameter_types",
                                    "set_parameters",      "set_parameters_atomically",
                                    "describe_parameters", "list_parameters"};
static const char *const types[] = {
    "rcl_interfaces/srv/GetParameters",      "rcl_interfaces/srv/GetParameterTypes",
    "rcl_interfaces/srv/SetParameters",      "rcl_interfaces/srv/SetParametersAtomically",
    "rcl_interfaces/srv/DescribeParameters", "rcl_interfaces/srv/ListParameters"};
#define KINDS 6

static tb_ros2_context_t *context, *other;
static tb_ros2_parameter_client_t *client;
static server_t servers[KINDS];
static sem_t requested;
static uint8_t last_request[1024];
static size_t last_request_size;

static uint8_t *encode(const tb__cdr_type_t *type, const void *message, size_t *out_size)
{
  uint8_t *bytes;
  if (tb__cdr_encode(type, message, false, &bytes, out_size) != TB_OK) abort();
  return bytes;
}

static uint8_t *answer_get(manner_t manner, size_t *out_size)
{
  static const char *const texts[] = {"x", ""};
  static const int64_t numbers[] = {-1, INT64_MAX};
  tb__parameter_value_t values[3] = {
      {.type = TB__PARAMETER_BOOL, .bool_value = true},
      {.type = TB__PARAMETER_STRING_ARRAY, .string_array_value = {texts, 2}},
      {.type = TB__PARAMETER_INTEGER_ARRAY, .integer_array_value = {numbers, 2}},
  };
  if (manner == BAD_TYPE) values[1].type = 10;
  return encode(&tb__get_parameters_response_type,
                &(tb__get_parameters_response_t){{values, manner == UNKNOWING  ? 0
                                                          : manner == TOO_MANY ? 3
                                                                               : 2}},
                out_size);
}

static uint8_t *answer_types(manner_t manner, size_t *out_size)
{
  static const uint8_t good[] = {1, 9, 7}, bad[] = {1, 10};
  return encode(&tb__get_parameter_types_response_type,
                &(tb__get_parameter_types_response_t){
                    {manner == BAD_TYPE ? bad : good, manner == UNKNOWING  ? 0
                                                      : manner == TOO_MANY ? 3
                                                                           : 2}},
                out_size);
}

static uint8_t *answer_set(manner_t manner, bool atomically, size_t *out_size)
{
  char reason[1001] = "";
  bool refuses = manner == REFUSING || manner == LONG_WINDED;
  if (manner == LONG_WINDED) memset(reason, 'r', 1000);
  if (manner == REFUSING) strcpy(reason, "it is read-only");
  tb__set_parameters_result_t result = {!refuses, reason};
  tb__set_parameters_result_t results[] = {result, {true, ""}, result};
  if (atomically)
    return encode(&tb__set_parameters_atomically_response_type,
                  &(tb__set_parameters_atomically_response_t){result}, out_size);
  tb__parameters_request_t *request;
  if (tb__cdr_decode(&tb__set_parameters_request_type, last_request, last_request_size, &request) !=
      TB_OK)
    abort();
  size_t count = manner == UNKNOWING ? 0 : request->parameters.count + (manner == TOO_MANY);
  free(request);
  return encode(&tb__set_parameters_response_type,
                &(tb__set_parameters_response_t){{results, count}}, out_size);
}

static uint8_t *answer_describe(manner_t manner, size_t *out_size)
{
  static const tb__floating_point_range_t doubles = {0.5, 2.5, 0.25};
  static const tb__integer_range_t integers = {-3, 3, 2};
  tb__parameter_descriptor_t items[3] = {
      {.name = "speed",
       .type = TB__PARAMETER_DOUBLE,
       .description = "how fast",
       .floating_point_range = {&doubles, 1}},
      {.name = "n",
       .type = TB__PARAMETER_INTEGER,
       .additional_constraints = "odd",
       .read_only = true,
       .dynamic_typing = true,
       .integer_range = {&integers, 1}},
  };
  if (manner == BAD_TYPE) items[1].type = 200;
  return encode(&tb__describe_parameters_response_type,
                &(tb__describe_parameters_response_t){{items, manner == UNKNOWING  ? 0
                                                              : manner == TOO_MANY ? 3
                                                                                   : 2}},
                out_size);
}

static uint8_t *answer_list(size_t *out_size)
{
  static const char *const names[] = {"a.b", "use_sim_time"}, *const prefixes[] = {"a"};
  return encode(&tb__list_parameters_response_type,
                &(tb__list_parameters_response_t){{{names, 2}, {prefixes, 1}}}, out_size);
}

static uint8_t *answer_of(int kind, manner_t manner, size_t *out_size)
{
  static const uint8_t malformed[] = {0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff};
  if (manner == MALFORMED || manner == CUT) {
    *out_size = manner == CUT ? 4 : sizeof malformed;
    return memcpy(malloc(sizeof malformed), malformed, sizeof malformed);
  }
  switch (kind) {
  case 0:
    return answer_get(manner, out_size);
  case 1:
    return answer_types(manner, out_size);
  case 4:
    return answer_describe(manner, out_size);
  case 5:
    return answer_list(out_size);
  default:
    return answer_set(manner, kind == 3, out_size);
  }
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  server_t *server = user;
  size_t size;
  manner_t manner = atomic_load(&server->manner);
  last_request_size = request->size;
  if (request->size > sizeof last_request) abort();
  memcpy(last_request, request->cdr, request->size);
  if (manner == LATER) {
    atomic_store(&server->manner, WELL);
  } else if (manner != NEVER) {
    uint8_t *answer = answer_of(server->kind, manner, &size);
    tb_ros2_service_reply(service, &request->id, answer, size, NULL);
    if (manner == TWICE) tb_ros2_service_reply(service, &request->id, answer, size, NULL);
    free(answer);
  }
  sem_post(&requested);
}

static void serve(server_t *server, const char *node, int kind, manner_t manner)
{
  char name[128];
  tb_error_t error = TB_ERROR_INIT;
  snprintf(name, sizeof name, "%s/%s", node, kinds[kind]);
  server->kind = kind;
  atomic_store(&server->manner, manner);
  if (tb_ros2_service_create(other, name, types[kind], NULL, on_request, server, &server->service,
                             &error) != TB_OK) {
    fprintf(stderr, "%s\n", error.text);
    abort();
  }
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  sem_init(&requested, 0, 0);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &other, &error) != TB_OK ||
      tb_ros2_parameter_client_create(context, NODE, &client, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_parameter_client_destroy(client);
  for (int i = 0; i < KINDS; i++)
    tb_ros2_service_destroy(servers[i].service);
  memset(servers, 0, sizeof servers);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(other);
  sem_destroy(&requested);
  return 0;
}

static void serve_all(manner_t manner)
{
  for (int i = 0; i < KINDS; i++) {
    if (servers[i].service)
      atomic_store(&servers[i].manner, manner);
    else
      serve(&servers[i], NODE, i, manner);
  }
}

/* Until a service has seen the next request, and answered it or not. */
static void request_wait(void)
{
  while (sem_wait(&requested) != 0)
    ;
}

static const char *const two_names[] = {"one", "two"};
static const tb_ros2_parameter_t two_parameters[] = {
    {"use_sim_time", {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true}},
    {"frame", {.type = TB_ROS2_PARAMETER_STRING, .string_value = "map"}},
};

typedef struct answers {
  tb_ros2_parameter_value_t values[2];
  tb_ros2_parameter_type_t types[2];
  tb_ros2_parameter_result_t results[2], result;
  tb_ros2_parameter_descriptions_t descriptions;
  tb_ros2_parameter_list_t list;
  size_t value_count, type_count;
} answers_t;

/* What each of the six calls returns. */
static tb_status_t call(int kind, tb_duration_t limit, answers_t *out, tb_error_t *error)
{
  switch (kind) {
  case 0:
    return tb_ros2_parameter_client_get(client, two_names, 2, WITHIN(limit), out->values,
                                        &out->value_count, error);
  case 1:
    return tb_ros2_parameter_client_get_types(client, two_names, 2, WITHIN(limit), out->types,
                                              &out->type_count, error);
  case 2:
    return tb_ros2_parameter_client_set(client, two_parameters, 2, WITHIN(limit), out->results,
                                        error);
  case 3:
    return tb_ros2_parameter_client_set_atomically(client, two_parameters, 2, WITHIN(limit),
                                                   &out->result, error);
  case 4:
    return tb_ros2_parameter_client_describe(client, two_names, 2, WITHIN(limit),
                                             &out->descriptions, error);
  default:
    return tb_ros2_parameter_client_list(client, two_names, 2, 3, WITHIN(limit), &out->list, error);
  }
}

static void answers_release(answers_t *answers)
{
  tb_ros2_parameter_value_release(&answers->values[0]);
  tb_ros2_parameter_value_release(&answers->values[1]);
  tb_ros2_parameter_descriptions_release(&answers->descriptions);
  tb_ros2_parameter_list_release(&answers->list);
}

static answers_t call_all(void)
{
  answers_t answers = {0};
  tb_error_t error = TB_ERROR_INIT;
  for (int i = 0; i < KINDS; i++) {
    if (call(i, LIMIT, &answers, &error) != TB_OK) fail_msg("%s: %s", kinds[i], error.text);
  }
  return answers;
}

/* The call fails with nothing of *out touched, and its text names the service. */
static void assert_fails(int kind, tb_duration_t limit, tb_status_t expected)
{
  answers_t untouched = {0}, answers = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(call(kind, limit, &answers, &error), expected);
  assert_memory_equal(&answers, &untouched, sizeof answers);
  if (!strstr(error.text, NODE))
    fail_msg("%s: no word of the node in: %s", kinds[kind], error.text);
}

static void assert_described(const tb_ros2_parameter_descriptions_t *described)
{
  assert_int_equal(described->count, 2);
  assert_string_equal(described->items[0].name, "speed");
  assert_int_equal(described->items[0].type, TB_ROS2_PARAMETER_DOUBLE);
  const tb_ros2_parameter_descriptor_t *speed = &described->items[0].descriptor;
  assert_string_equal(speed->description, "how fast");
  assert_true(speed->has_double_range && !speed->has_integer_range && !speed->read_only);
  assert_true(speed->double_from == 0.5 && speed->double_to == 2.5 && speed->double_step == 0.25);
  const tb_ros2_parameter_descriptor_t *n = &described->items[1].descriptor;
  assert_string_equal(n->additional_constraints, "odd");
  assert_true(n->has_integer_range && !n->has_double_range && n->read_only && n->dynamic_typing);
  assert_true(n->integer_from == -3 && n->integer_to == 3 && n->integer_step == 2);
}

static void test_each_call_reads_its_answer(void **state)
{
  (void)state;
  serve_all(WELL);
  answers_t answers = call_all();
  assert_int_equal(answers.value_count, 2);
  assert_int_equal(answers.values[0].type, TB_ROS2_PARAMETER_BOOL);
  assert_true(answers.values[0].bool_value);
  assert_int_equal(answers.values[1].type, TB_ROS2_PARAMETER_STRING_ARRAY);
  assert_int_equal(answers.values[1].count, 2);
  assert_string_equal(answers.values[1].items.strings[0], "x");
  assert_int_equal(answers.type_count, 2);
  assert_int_equal(answers.types[1], TB_ROS2_PARAMETER_STRING_ARRAY);
  assert_true(answers.results[0].successful && answers.results[1].successful);
  assert_true(answers.result.successful);
  assert_string_equal(answers.result.reason, "");
  assert_described(&answers.descriptions);
  assert_int_equal(answers.list.name_count, 2);
  assert_string_equal(answers.list.names[1], "use_sim_time");
  assert_int_equal(answers.list.prefix_count, 1);
  assert_string_equal(answers.list.prefixes[0], "a");
  answers_release(&answers);
  assert_null(answers.list.names);
  assert_null(answers.descriptions.items);
}

static void test_requests_are_what_was_asked_for(void **state)
{
  (void)state;
  answers_t answers = {0};
  tb__parameters_request_t *set;
  tb__list_parameters_request_t *list;
  serve_all(WELL);
  assert_ok(call(2, LIMIT, &answers, NULL));
  assert_ok(
      tb__cdr_decode(&tb__set_parameters_request_type, last_request, last_request_size, &set));
  assert_int_equal(set->parameters.count, 2);
  assert_string_equal(set->parameters.items[0].name, "use_sim_time");
  assert_int_equal(set->parameters.items[0].value.type, TB__PARAMETER_BOOL);
  assert_true(set->parameters.items[0].value.bool_value);
  assert_string_equal(set->parameters.items[1].value.string_value, "map");
  free(set);
  assert_ok(call(5, LIMIT, &answers, NULL));
  request_wait();
  assert_ok(
      tb__cdr_decode(&tb__list_parameters_request_type, last_request, last_request_size, &list));
  assert_int_equal(list->depth, 3);
  assert_int_equal(list->prefixes.count, 2);
  assert_string_equal(list->prefixes.items[1], "two");
  free(list);
  answers_release(&answers);
}

static void test_what_is_refused_or_not_there_is_an_answer(void **state)
{
  (void)state;
  serve_all(REFUSING);
  answers_t answers = call_all();
  assert_false(answers.results[0].successful);
  assert_string_equal(answers.results[0].reason, "it is read-only");
  assert_true(answers.results[1].successful);
  assert_false(answers.result.successful);
  answers_release(&answers);

  serve_all(UNKNOWING);
  answers = (answers_t){.value_count = 9, .type_count = 9};
  assert_ok(call(0, LIMIT, &answers, NULL));
  assert_ok(call(1, LIMIT, &answers, NULL));
  assert_ok(call(4, LIMIT, &answers, NULL));
  assert_int_equal(answers.value_count, 0);
  assert_int_equal(answers.type_count, 0);
  assert_int_equal(answers.descriptions.count, 0);
  answers_release(&answers);
  assert_fails(2, LIMIT, TB_ERR_CORRUPT); /* of a set each must have its answer */

  serve_all(LONG_WINDED);
  answers = (answers_t){0};
  assert_ok(call(3, LIMIT, &answers, NULL));
  assert_int_equal(strlen(answers.result.reason), TB_ROS2_PARAMETER_REASON_SIZE - 1);
}

static void test_invalid_answers_are_refused(void **state)
{
  (void)state;
  serve_all(MALFORMED);
  for (int i = 0; i < KINDS; i++)
    assert_fails(i, LIMIT, TB_ERR_CORRUPT);
  serve_all(CUT);
  for (int i = 0; i < KINDS; i++)
    assert_fails(i, LIMIT, TB_ERR_CORRUPT);
  serve_all(TOO_MANY);
  assert_fails(0, LIMIT, TB_ERR_CORRUPT);
  assert_fails(1, LIMIT, TB_ERR_CORRUPT);
  assert_fails(2, LIMIT, TB_ERR_CORRUPT);
  assert_fails(4, LIMIT, TB_ERR_CORRUPT);
  serve_all(BAD_TYPE);
  assert_fails(0, LIMIT, TB_ERR_CORRUPT);
  assert_fails(1, LIMIT, TB_ERR_CORRUPT);
  assert_fails(4, LIMIT, TB_ERR_CORRUPT);
  serve_all(WELL);
  answers_t answers = call_all(); /* as if nothing had been */
  answers_release(&answers);
}

static void test_a_second_answer_is_ignored(void **state)
{
  (void)state;
  serve_all(TWICE);
  for (int i = 0; i < 5; i++) {
    answers_t answers = call_all();
    assert_int_equal(answers.value_count, 2);
    answers_release(&answers);
  }
}

static void test_a_node_that_does_not_answer(void **state)
{
  (void)state;
  for (int i = 0; i < KINDS; i++)
    assert_fails(i, SHORT_LIMIT, TB_ERR_NOT_FOUND);
  serve_all(WELL);
  answers_t answers = call_all();
  answers_release(&answers);
  serve_all(NEVER);
  for (int i = 0; i < KINDS; i++)
    assert_fails(i, SHORT_LIMIT, TB_ERR_TIMEOUT);
}

static void *leave(void *ignored)
{
  (void)ignored;
  request_wait();
  tb_ros2_service_destroy(servers[2].service);
  servers[2].service = NULL;
  return NULL;
}

static void test_a_node_that_goes_before_it_answers(void **state)
{
  (void)state;
  pthread_t thread;
  serve_all(NEVER);
  assert_int_equal(pthread_create(&thread, NULL, leave, NULL), 0);
  assert_fails(2, LIMIT, TB_ERR_CLOSED);
  pthread_join(thread, NULL);
}

static void test_arguments_are_checked(void **state)
{
  (void)state;
  static const char *const bad[] = {"", "camera", "/", "/a/", "/a b", "/1a", "~/a"};
  tb_ros2_parameter_client_t *made = NULL;
  tb_error_t error = TB_ERROR_INIT;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_status(tb_ros2_parameter_client_create(context, bad[i], &made, &error), TB_ERR_INVALID);
  assert_status(tb_ros2_parameter_client_create(context, NULL, &made, NULL), TB_ERR_INVALID);
  assert_null(made);
  static const char *const null_name[] = {NULL};
  tb_ros2_parameter_t parameter = {"x", {.type = (tb_ros2_parameter_type_t)77}};
  tb_ros2_parameter_value_t value;
  tb_ros2_parameter_result_t result;
  tb_ros2_parameter_outcome_t outcome;
  const char *const nodes[] = {NODE};
  size_t count;
  assert_status(
      tb_ros2_parameter_client_get(client, null_name, 1, WITHIN(LIMIT), &value, &count, NULL),
      TB_ERR_INVALID);
  assert_status(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, NULL),
                TB_ERR_INVALID);
  assert_status(tb_ros2_parameter_set_on_nodes(context, nodes, 1, &parameter, WITHIN(LIMIT),
                                               &outcome, &error),
                TB_ERR_INVALID);
  parameter.value.type = TB_ROS2_PARAMETER_STRING;
  assert_status(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, NULL),
                TB_ERR_INVALID);
  parameter.value.type = TB_ROS2_PARAMETER_BYTE_ARRAY;
  parameter.value.count = 2;
  assert_status(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, NULL),
                TB_ERR_INVALID);
}

static void test_many_nodes_are_set_at_once(void **state)
{
  (void)state;
  static const char *const nodes[] = {"/well", "/refusing", "/malformed", "/twice", "no/name"};
  static const manner_t manners[] = {WELL, REFUSING, MALFORMED, TWICE};
  static const tb_status_t expected[] = {TB_OK, TB_OK, TB_ERR_CORRUPT, TB_OK, TB_ERR_INVALID};
  tb_ros2_parameter_outcome_t outcomes[5];
  tb_error_t error = TB_ERROR_INIT;
  for (int i = 0; i < 4; i++)
    serve(&servers[i], nodes[i], 2, manners[i]);
  if (tb_ros2_parameter_set_on_nodes(context, nodes, 5, two_parameters, WITHIN(LIMIT), outcomes,
                                     &error) != TB_OK)
    fail_msg("%s", error.text);
  for (int i = 0; i < 5; i++)
    assert_status(outcomes[i].status, expected[i]);
  assert_true(outcomes[0].result.successful && outcomes[3].result.successful);
  assert_false(outcomes[1].result.successful);
  assert_string_equal(outcomes[1].result.reason, "it is read-only");
  assert_ok(
      tb_ros2_parameter_set_on_nodes(context, NULL, 0, two_parameters, WITHIN(LIMIT), NULL, NULL));
}

static bool is_wanted(const tb_ros2_graph_snapshot_t *snapshot, const char *service)
{
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && endpoint->is_publisher &&
        strcmp(endpoint->name, service) == 0)
      return true;
  }
  return false;
}

/* Serves when a client asks for it. */
static void *come_late(void *ignored)
{
  (void)ignored;
  tb_ros2_graph_t *graph;
  assert_ok(tb_ros2_graph_create(other, &graph, NULL));
  for (bool wanted = false; !wanted;) {
    const tb_ros2_graph_snapshot_t *snapshot;
    assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
    wanted = is_wanted(snapshot, "/late/set_parameters");
    uint32_t change = snapshot->change;
    tb_ros2_graph_snapshot_release(snapshot);
    if (!wanted) assert_ok(tb_ros2_graph_wait_for_change(graph, change, WITHIN(LIMIT)));
  }
  serve(&servers[0], "/late", 2, WELL);
  tb_ros2_graph_destroy(graph);
  return NULL;
}

static void test_a_node_that_comes_while_it_is_waited_for(void **state)
{
  (void)state;
  static const char *const nodes[] = {"/late"};
  tb_ros2_parameter_outcome_t outcome;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, come_late, NULL), 0);
  assert_ok(tb_ros2_parameter_set_on_nodes(context, nodes, 1, two_parameters, WITHIN(LIMIT),
                                           &outcome, NULL));
  pthread_join(thread, NULL);
  assert_status(outcome.status, TB_OK);
  assert_true(outcome.result.successful);
}

static void test_nodes_of_ours_are_read_and_set(void **state)
{
  (void)state;
  static const char *const names[] = {NODE, "/second", "/third"};
  static const char *const wanted[] = {"use_sim_time"};
  static const char *const unknown[] = {"use_sim_time", "nothing"};
  tb_ros2_parameter_outcome_t outcomes[3];
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_ros2_parameter_list_t list;
  tb_ros2_node_t *nodes[3];
  tb_error_t error = TB_ERROR_INIT;
  size_t count = 9;
  bool listed = false;
  for (int i = 0; i < 3; i++) {
    const char *name = strrchr(names[i], '/') + 1;
    if (tb_ros2_node_create(other, name, i ? "/" : "/front", NULL, &nodes[i], &error) != TB_OK)
      fail_msg("%s", error.text);
  }
  assert_ok(tb_ros2_parameter_set_on_nodes(context, names, 3, two_parameters, WITHIN(LIMIT),
                                           outcomes, NULL));
  for (int i = 0; i < 3; i++) {
    assert_status(outcomes[i].status, TB_OK);
    assert_true(outcomes[i].result.successful);
  }
  assert_ok(tb_ros2_parameter_client_get(client, wanted, 1, WITHIN(LIMIT), &value, &count, NULL));
  assert_int_equal(count, 1);
  assert_true(value.type == TB_ROS2_PARAMETER_BOOL && value.bool_value);
  assert_ok(tb_ros2_parameter_client_get(client, unknown, 2, WITHIN(LIMIT), &value, &count, NULL));
  assert_int_equal(count, 0);
  assert_ok(tb_ros2_parameter_client_list(client, NULL, 0, 0, WITHIN(LIMIT), &list, NULL));
  for (size_t i = 0; i < list.name_count; i++)
    listed |= strcmp(list.names[i], "use_sim_time") == 0;
  assert_true(listed);
  tb_ros2_parameter_list_release(&list);
  for (int i = 0; i < 3; i++)
    tb_ros2_node_destroy(nodes[i]);
}

/* As where the request, or its answer, was lost on the way. */
static void test_a_silent_node_gets_the_request_again(void **state)
{
  (void)state;
  static const char *const nodes[] = {"/later", "/well"};
  tb_ros2_parameter_outcome_t outcomes[2];
  serve(&servers[0], nodes[0], 2, LATER);
  serve(&servers[1], nodes[1], 2, WELL);
  assert_ok(tb_ros2_parameter_set_on_nodes(context, nodes, 2, two_parameters, WITHIN(LIMIT),
                                           outcomes, NULL));
  assert_status(outcomes[0].status, TB_OK);
  assert_true(outcomes[0].result.successful);
  assert_status(outcomes[1].status, TB_OK);
}

static void test_of_many_nodes_some_do_not_answer(void **state)
{
  (void)state;
  static const char *const nodes[] = {"/never", "/absent"};
  tb_ros2_parameter_outcome_t outcomes[2] = {{.status = TB_ERR_NOT_FOUND}};
  serve(&servers[0], nodes[0], 2, NEVER);
  /* Within a limit that is too short the silent one is not found either. */
  for (tb_duration_t limit = {10000000};
       outcomes[0].status == TB_ERR_NOT_FOUND && limit.ns < LIMIT.ns; limit.ns *= 2) {
    assert_ok(tb_ros2_parameter_set_on_nodes(context, nodes, 2, two_parameters, WITHIN(limit),
                                             outcomes, NULL));
    assert_status(outcomes[1].status, TB_ERR_NOT_FOUND);
  }
  assert_status(outcomes[0].status, TB_ERR_TIMEOUT);
}

static void test_a_forked_child_is_refused(void **state)
{
  (void)state;
  serve_all(WELL);
  answers_t answers = call_all();
  answers_release(&answers);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    static const char *const nodes[] = {NODE};
    tb_ros2_parameter_outcome_t outcome;
    tb_ros2_parameter_client_t *made = NULL;
    bool ok = tb_ros2_parameter_client_create(context, NODE, &made, NULL) == TB_ERR_FORKED &&
              tb_ros2_parameter_set_on_nodes(context, nodes, 1, two_parameters, WITHIN(LIMIT),
                                             &outcome, NULL) == TB_ERR_FORKED;
    for (int i = 0; i < KINDS; i++)
      ok = ok && call(i, LIMIT, &answers, NULL) == TB_ERR_FORKED;
    tb_ros2_parameter_client_destroy(client);
    _exit(ok ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_each_call_reads_its_answer),
      TEST(test_requests_are_what_was_asked_for),
      TEST(test_what_is_refused_or_not_there_is_an_answer),
      TEST(test_invalid_answers_are_refused),
      TEST(test_a_second_answer_is_ignored),
      TEST(test_a_node_that_does_not_answer),
      TEST(test_a_node_that_goes_before_it_answers),
      TEST(test_arguments_are_checked),
      TEST(test_many_nodes_are_set_at_once),
      TEST(test_a_node_that_comes_while_it_is_waited_for),
      TEST(test_nodes_of_ours_are_read_and_set),
      TEST(test_a_silent_node_gets_the_request_again),
      TEST(test_of_many_nodes_some_do_not_answer),
      TEST(test_a_forked_child_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
