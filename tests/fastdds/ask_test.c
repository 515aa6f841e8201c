/* Services of nodes of Fast DDS, asked in their own form, alone and beside those of Cyclone DDS. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_service.h>

#include "fastdds/ask.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN  "92"
#define LIMIT   ((tb_duration_t){60 * TB_NS_PER_S})
#define SHORT   ((tb_duration_t){500000000})
#define SIZE    200000
#define ROUNDS  50
#define NODES   10
#define THREADS 4

static peer_t fast, cyclone;
static tb_ros2_context_t *context;

static const char *const fast_names[NODES] = {"/fast0", "/fast1", "/fast2", "/fast3", "/fast4",
                                              "/fast5", "/fast6", "/fast7", "/fast8", "/fast9"};

static void start_fast(void)
{
  const char *arguments[NODES + 4] = {TB_FASTDDS_PEER, DOMAIN, "lo"};
  for (int i = 0; i < NODES; i++)
    arguments[3 + i] = fast_names[i];
  peer_start(&fast, arguments);
  peer_expect_line(&fast, "ready");
}

static void obey(peer_t *peer, const char *line, const char *answer)
{
  peer_say(peer, "%s", line);
  peer_expect_line(peer, answer);
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(atoi(DOMAIN));
  start_fast();
  peer_start(&cyclone, (const char *const[]){TB_CYCLONE_SERVER, NULL});
  peer_expect_line(&cyclone, "ready");
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  peer_stop(&cyclone);
  peer_stop(&fast);
  return 0;
}

static tb_ros2_client_t *client_of(const char *service)
{
  tb_ros2_client_t *client;
  assert_ok(tb_ros2_client_create(context, service, ASK_TYPE, NULL, &client, NULL));
  return client;
}

static tb_status_t ask(tb_ros2_client_t *client, tb_duration_t limit)
{
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_ros2_client_call(client, ask_request, sizeof ask_request, WITHIN(limit),
                                           &response, &error);
  if (status) return status;
  assert_int_equal(response.size, sizeof ask_request);
  assert_memory_equal(response.cdr, ask_request, sizeof ask_request);
  tb_ros2_response_release(&response);
  return TB_OK;
}

/* ---- parameters ---- */

static void text_fill(char *text, size_t size)
{
  for (size_t i = 0; i < size; i++)
    text[i] = (char)('a' + i % 26);
  text[size] = '\0';
}

static void get_text(tb_ros2_parameter_client_t *client, const char *name, const char *expected)
{
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  size_t count;
  assert_ok(tb_ros2_parameter_client_get(client, &name, 1, WITHIN(LIMIT), &value, &count, NULL));
  assert_int_equal(count, 1);
  assert_int_equal(value.type, TB_ROS2_PARAMETER_STRING);
  assert_string_equal(value.string_value, expected);
  tb_ros2_parameter_value_release(&value);
}

static void set_text(tb_ros2_parameter_client_t *client, const char *name, const char *text)
{
  tb_ros2_parameter_t parameter = {name, tb_ros2_parameter_string(text)};
  tb_ros2_parameter_result_t result;
  assert_ok(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, NULL));
  assert_true(result.successful);
}

static void test_parameters_are_listed_read_and_set(void **state)
{
  (void)state;
  tb_ros2_parameter_client_t *client;
  tb_ros2_parameter_list_t list;
  static char large[SIZE + 1];
  assert_ok(tb_ros2_parameter_client_create(context, "/fast0", &client, NULL));
  obey(&fast, "store /fast0 greeting hello", "ok");
  assert_ok(tb_ros2_parameter_client_list(client, NULL, 0, 0, WITHIN(LIMIT), &list, NULL));
  assert_int_equal(list.name_count, 2);
  assert_string_equal(list.names[0], "greeting");
  assert_string_equal(list.names[1], "use_sim_time");
  tb_ros2_parameter_list_release(&list);
  get_text(client, "greeting", "hello");
  set_text(client, "greeting", "good day");
  obey(&fast, "param /fast0 greeting", "value string good day");
  text_fill(large, SIZE);
  set_text(client, "large", large);
  get_text(client, "large", large);
  tb_ros2_parameter_client_destroy(client);
  requests_of(&fast);
}

static void test_a_set_reaches_ten_nodes_of_each_kind(void **state)
{
  (void)state;
  char own_names[NODES][16];
  const char *names[2 * NODES];
  tb_ros2_node_t *nodes[NODES];
  tb_ros2_parameter_outcome_t outcomes[2 * NODES];
  tb_ros2_parameter_t parameter = {"use_sim_time", tb_ros2_parameter_bool(false)};
  unsigned before = requests_of(&fast);
  for (int i = 0; i < NODES; i++) {
    snprintf(own_names[i], sizeof own_names[i], "own%d", i);
    assert_ok(tb_ros2_node_create(context, own_names[i], "/", NULL, &nodes[i], NULL));
    names[i] = tb_ros2_node_fully_qualified_name(nodes[i]);
    names[NODES + i] = fast_names[i];
  }
  assert_ok(tb_ros2_parameter_set_on_nodes(context, names, 2 * NODES, &parameter, WITHIN(LIMIT),
                                           outcomes, NULL));
  for (int i = 0; i < 2 * NODES; i++) {
    assert_ok(outcomes[i].status);
    assert_true(outcomes[i].result.successful);
  }
  assert_int_equal(requests_of(&fast), before + NODES);
  for (int i = 0; i < NODES; i++)
    tb_ros2_node_destroy(nodes[i]);
}

/* ---- two kinds under one name ---- */

static _Atomic unsigned own_requests, own_malformed;

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  own_requests++;
  if (request->size != sizeof ask_request ||
      memcmp(request->cdr, ask_request, sizeof ask_request) != 0)
    own_malformed++;
  tb_ros2_service_reply(service, &request->id, ask_request, sizeof ask_request, NULL);
}

static void open_fast(const char *service)
{
  char line[256];
  int used = snprintf(line, sizeof line, "echo %s %s ", service, ASK_TYPE);
  for (size_t i = 0; i < sizeof ask_request; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, "%02x", ask_request[i]);
  obey(&fast, line, "ok");
}

/* Until each has had a request. */
static void ask_all(tb_ros2_client_t *client)
{
  unsigned fast_before = requests_of(&fast), cyclone_before = requests_of(&cyclone);
  unsigned own_before = own_requests;
  do
    assert_ok(ask(client, LIMIT));
  while (requests_of(&fast) == fast_before || requests_of(&cyclone) == cyclone_before ||
         own_requests == own_before);
}

static void test_each_kind_is_asked_in_its_own_form(void **state)
{
  (void)state;
  const unsigned calls = 100;
  tb_ros2_service_t *own;
  tb_ros2_client_t *client = client_of("/twin");
  open_fast("/twin");
  obey(&cyclone, "open /twin", "ok");
  assert_ok(tb_ros2_service_create(context, "/twin", ASK_TYPE, NULL, answer, NULL, &own, NULL));
  ask_all(client);
  unsigned fast_before = requests_of(&fast), cyclone_before = requests_of(&cyclone);
  unsigned own_before = own_requests;
  for (unsigned i = 1; i <= calls; i++) {
    assert_ok(ask(client, LIMIT)); /* by one of them; a writer keeps ten requests for the others */
    await_requests(&fast, fast_before + i);
    await_requests(&cyclone, cyclone_before + i);
    while (own_requests < own_before + i)
      sched_yield();
  }
  tb_ros2_client_destroy(client);
  tb_ros2_service_destroy(own);
  obey(&fast, "close /twin", "ok");
  obey(&cyclone, "close /twin", "ok");
  assert_int_equal(own_malformed, 0);
  requests_of(&fast);
  requests_of(&cyclone);
}

/* The partition "*" of the writer includes that of the server, which would get the header: nothing
 * is sent while it is there. */
static void test_nothing_is_sent_where_the_kinds_cannot_be_kept_apart(void **state)
{
  (void)state;
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  obey(&fast, "partition apart", "ok");
  open_fast("/mixed");
  obey(&fast, "partition -", "ok");
  open_fast("/marker");
  tb_ros2_client_t *marker = client_of("/marker"), *client = client_of("/mixed");
  assert_ok(ask(marker, LIMIT)); /* now all that the peer has made before is known */
  assert_status(ask(client, SHORT), TB_ERR_NOT_FOUND);
  unsigned before = requests_of(&fast), cyclone_before = requests_of(&cyclone);
  obey(&cyclone, "open /mixed", "ok");
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)), TB_ERR_UNSUPPORTED);
  assert_status(tb_ros2_client_call(client, ask_request, sizeof ask_request, WITHIN(LIMIT),
                                    &response, &error),
                TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "service /mixed is offered by nodes of Fast DDS"));
  assert_int_equal(requests_of(&fast), before);
  assert_int_equal(requests_of(&cyclone), cyclone_before);
  obey(&fast, "close /mixed", "ok");
  while (tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)) == TB_ERR_UNSUPPORTED)
    sched_yield();
  assert_ok(ask(client, LIMIT));
  obey(&fast, "close /marker", "ok");
  obey(&cyclone, "close /mixed", "ok");
  tb_ros2_client_destroy(client);
  tb_ros2_client_destroy(marker);
}

static void *ask_some(void *client)
{
  for (int i = 0; i < 5; i++)
    assert_ok(ask(client, LIMIT));
  return NULL;
}

/* The writer of such requests is made by the first of several threads that see the server. */
static void test_threads_call_a_client_at_once(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  open_fast("/shared");
  for (int round = 0; round < 10; round++) {
    tb_ros2_client_t *client = client_of("/shared");
    unsigned before = requests_of(&fast);
    for (int i = 0; i < THREADS; i++)
      pthread_create(&threads[i], NULL, ask_some, client);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
    assert_int_equal(requests_of(&fast), before + 5 * THREADS);
    tb_ros2_client_destroy(client);
  }
  obey(&fast, "close /shared", "ok");
}

/* ---- servers that come and go ---- */

typedef struct hammer {
  const char *service;
  _Atomic bool stop;
  _Atomic unsigned answered;
  tb_ros2_client_t *client;
} hammer_t;

static void *hammer_run(void *argument)
{
  hammer_t *hammer = argument;
  while (!hammer->stop) {
    tb_status_t status = ask(hammer->client, (tb_duration_t){20000000});
    if (status == TB_OK)
      hammer->answered++;
    else if (status != TB_ERR_TIMEOUT && status != TB_ERR_NOT_FOUND && status != TB_ERR_CLOSED)
      fail_msg("%s", tb_status_name(status));
  }
  return NULL;
}

static void await_answer(hammer_t *hammer)
{
  unsigned before = hammer->answered;
  while (hammer->answered == before)
    sched_yield();
}

/* Servers of both kinds appear and disappear, in either order, under one name, while threads ask.
 */
static void test_no_server_ever_gets_a_request_of_the_other_kind(void **state)
{
  (void)state;
  hammer_t hammer = {.service = "/comes"};
  pthread_t threads[THREADS];
  hammer.client = client_of("/comes");
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, hammer_run, &hammer);
  for (int round = 0; round < ROUNDS; round++) {
    bool fast_first = round % 2;
    if (fast_first) open_fast("/comes");
    obey(&cyclone, "open /comes", "ok");
    if (!fast_first) open_fast("/comes");
    if (round % 4 < 2) await_answer(&hammer);
    if (round % 8 < 4) {
      obey(&cyclone, "close /comes", "ok");
      await_answer(&hammer);
      obey(&fast, "close /comes", "ok");
    } else {
      obey(&fast, "close /comes", "ok");
      await_answer(&hammer);
      obey(&cyclone, "close /comes", "ok");
    }
    if (round == ROUNDS / 2) {
      requests_of(&fast);
      peer_stop(&fast);
      start_fast();
    }
  }
  hammer.stop = true;
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  tb_ros2_client_destroy(hammer.client);
  assert_true(requests_of(&fast) > 0);
  assert_true(requests_of(&cyclone) > 0);
}

/* ---- replies ---- */

/* In a process of its own: the exit status. */
static int ask_large(const char *service)
{
  static unsigned char request[SIZE] = {0, 1, 0, 0};
  tb_ros2_client_t *client;
  tb_ros2_response_t response = {NULL, 0};
  memset(request + 4, 7, SIZE - 4);
  if (tb_ros2_context_create(NULL, &context, NULL) ||
      tb_ros2_client_create(context, service, ASK_TYPE, NULL, &client, NULL))
    return 1;
  tb_status_t status = tb_ros2_client_call(client, request, SIZE, WITHIN(LIMIT), &response, NULL);
  bool is_same = response.size == SIZE && memcmp(response.cdr, request, SIZE) == 0;
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  tb_ros2_context_destroy(context);
  return status || !is_same;
}

/* The first answer to a process is sent in fragments, with a heartbeat after each. */
static void test_the_first_answer_may_be_large(void **state)
{
  (void)state;
  peer_t asker[4];
  obey(&fast, "echo /large " ASK_TYPE, "ok");
  for (int i = 0; i < 4; i++) {
    peer_start(&asker[i], (const char *const[]){"/proc/self/exe", "/large", NULL});
    peer_stop(&asker[i]);
  }
  obey(&fast, "close /large", "ok");
}

static void test_forged_replies_are_ignored(void **state)
{
  (void)state;
  tb_ros2_client_t *client = client_of("/forged");
  open_fast("/forged");
  static const char *const forgeries[] = {"other", "sequence", "unnamed"};
  for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
    char line[64];
    snprintf(line, sizeof line, "forge %s", forgeries[i]);
    obey(&fast, line, "ok");
    for (int k = 0; k < 20; k++)
      assert_ok(ask(client, LIMIT));
    snprintf(line, sizeof line, "forge %s only", forgeries[i]);
    obey(&fast, line, "ok");
    assert_status(ask(client, SHORT), TB_ERR_TIMEOUT);
  }
  obey(&fast, "forge off", "ok");
  assert_ok(ask(client, LIMIT));
  tb_ros2_client_destroy(client);
  obey(&fast, "close /forged", "ok");
}

typedef struct outcome {
  _Atomic int calls;
  tb_status_t status;
  tb_ros2_client_t *destroy;
} outcome_t;

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  outcome_t *outcome = user;
  outcome->status = status;
  if (!status) assert_int_equal(response->size, sizeof ask_request);
  tb_ros2_client_destroy(outcome->destroy);
  outcome->calls++;
}

static void await_outcome(outcome_t *outcome)
{
  while (outcome->calls == 0)
    sched_yield();
  assert_int_equal(outcome->calls, 1);
}

static void test_calls_without_waiting(void **state)
{
  (void)state;
  tb_ros2_client_t *client = client_of("/async");
  outcome_t answered = {0}, late = {0}, last = {.destroy = client};
  assert_status(tb_ros2_client_call_async(client, ask_request, sizeof ask_request, LIMIT,
                                          on_response, &answered, NULL),
                TB_ERR_NOT_FOUND);
  open_fast("/async");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  assert_true(tb_ros2_client_is_service_ready(client));
  assert_ok(tb_ros2_client_call_async(client, ask_request, sizeof ask_request, LIMIT, on_response,
                                      &answered, NULL));
  await_outcome(&answered);
  assert_ok(answered.status);
  obey(&fast, "mute on", "ok");
  assert_ok(tb_ros2_client_call_async(client, ask_request, sizeof ask_request,
                                      (tb_duration_t){50000000}, on_response, &late, NULL));
  await_outcome(&late);
  assert_status(late.status, TB_ERR_TIMEOUT);
  obey(&fast, "mute off", "ok");
  assert_ok(tb_ros2_client_call_async(client, ask_request, sizeof ask_request, LIMIT, on_response,
                                      &last, NULL));
  await_outcome(&last);
  assert_ok(last.status);
  obey(&fast, "close /async", "ok");
}

int main(int argc, char **argv)
{
  if (argc == 2) return ask_large(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parameters_are_listed_read_and_set),
      cmocka_unit_test(test_a_set_reaches_ten_nodes_of_each_kind),
      cmocka_unit_test(test_each_kind_is_asked_in_its_own_form),
      cmocka_unit_test(test_nothing_is_sent_where_the_kinds_cannot_be_kept_apart),
      cmocka_unit_test(test_threads_call_a_client_at_once),
      cmocka_unit_test(test_no_server_ever_gets_a_request_of_the_other_kind),
      cmocka_unit_test(test_the_first_answer_may_be_large),
      cmocka_unit_test(test_forged_replies_are_ignored),
      cmocka_unit_test(test_calls_without_waiting),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
