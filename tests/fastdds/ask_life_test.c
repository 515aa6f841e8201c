/* Services of a node of Fast DDS that appears late, is stopped, killed and restarted; what others
 * see of a client meanwhile, and the commands that ask such nodes. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_service.h>
#include <unistd.h>

#include "fastdds/ask.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN  "88"
#define SERVICE "/fastnode/get_parameters"
#define LIMIT   ((tb_duration_t){60 * TB_NS_PER_S})

static peer_t fast;
static tb_ros2_context_t *context;

static void start(peer_t *peer, const char *node)
{
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", node, NULL});
  peer_expect_line(peer, "ready");
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(atoi(DOMAIN));
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  return 0;
}

static tb_ros2_client_t *client_of(const char *service)
{
  tb_ros2_client_t *client;
  assert_ok(tb_ros2_client_create(context, service, ASK_TYPE, NULL, &client, NULL));
  return client;
}

static tb_status_t ask(tb_ros2_client_t *client)
{
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status =
      tb_ros2_client_call(client, ask_request, sizeof ask_request, WITHIN(LIMIT), &response, NULL);
  tb_ros2_response_release(&response);
  return status;
}

/* A call on a thread of its own. */
typedef struct caller {
  pthread_t thread;
  tb_ros2_client_t *client;
  bool only_waits;
  tb_status_t status;
} caller_t;

static void *caller_run(void *argument)
{
  caller_t *caller = argument;
  caller->status = caller->only_waits
                       ? tb_ros2_client_wait_for_service(caller->client, WITHIN(LIMIT))
                       : ask(caller->client);
  return NULL;
}

static void caller_begin(caller_t *caller, tb_ros2_client_t *client, bool only_waits)
{
  *caller = (caller_t){.client = client, .only_waits = only_waits};
  assert_int_equal(pthread_create(&caller->thread, NULL, caller_run, caller), 0);
}

static void caller_expect(caller_t *caller, tb_status_t expected)
{
  pthread_join(caller->thread, NULL);
  assert_status(caller->status, expected);
}

static void test_a_wait_ends_when_the_server_appears(void **state)
{
  (void)state;
  caller_t waiting, calling;
  tb_ros2_client_t *client = client_of(SERVICE), *other = client_of(SERVICE);
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN(TB_NO_WAIT)), TB_ERR_TIMEOUT);
  caller_begin(&waiting, client, true);
  caller_begin(&calling, other, false);
  start(&fast, "/fastnode");
  caller_expect(&waiting, TB_OK);
  caller_expect(&calling, TB_OK);
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(TB_NO_WAIT)));
  assert_true(tb_ros2_client_is_service_ready(client));
  tb_ros2_client_destroy(client);
  tb_ros2_client_destroy(other);
}

static void mute(peer_t *peer)
{
  peer_say(peer, "mute on");
  peer_expect_line(peer, "ok");
}

/* The same client finds the server again, and keeps its writers. */
static void test_a_call_ends_with_its_server(void **state)
{
  (void)state;
  caller_t caller;
  tb_ros2_client_t *client = client_of(SERVICE);
  assert_ok(ask(client));
  unsigned before = requests_of(&fast);
  mute(&fast);
  caller_begin(&caller, client, false);
  await_requests(&fast, before + 1);
  peer_stop(&fast);
  caller_expect(&caller, TB_ERR_CLOSED);
  assert_false(tb_ros2_client_is_service_ready(client));
  start(&fast, "/fastnode");
  assert_ok(ask(client));
  tb_ros2_client_destroy(client);
}

/* Its participant is gone when the lease ends, after 20 s: the other tests run meanwhile. */
static peer_t mortal;
static caller_t bereaved;

static void test_a_server_is_killed_in_a_call(void **state)
{
  (void)state;
  start(&mortal, "/mortal");
  tb_ros2_client_t *client = client_of("/mortal/get_parameters");
  assert_ok(ask(client));
  mute(&mortal);
  caller_begin(&bereaved, client, false);
  await_requests(&mortal, 2);
  kill(mortal.pid, SIGKILL);
  peer_wait_killed(&mortal);
}

static void test_the_call_has_ended_and_a_new_server_answers(void **state)
{
  (void)state;
  caller_expect(&bereaved, TB_ERR_CLOSED);
  start(&mortal, "/mortal");
  assert_ok(ask(bereaved.client));
  peer_stop(&mortal);
  tb_ros2_client_destroy(bereaved.client);
}

/* ---- what others see ---- */

static size_t writers_of(const tb_ros2_graph_snapshot_t *snapshot, const char *service,
                         const char *node)
{
  size_t count = 0;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind != TB_ROS2_ENDPOINT_SERVICE_REQUEST || !endpoint->is_publisher ||
        strcmp(endpoint->name, service) != 0)
      continue;
    assert_int_not_equal(endpoint->node, -1);
    assert_string_equal(snapshot->nodes[endpoint->node].full_name, node);
    assert_false(endpoint->dds_qos.has_partition);
    count++;
  }
  return count;
}

static void expect_writers(const char *service, const char *node, size_t expected)
{
  tb_ros2_graph_t *graph;
  const tb_ros2_graph_snapshot_t *snapshot;
  assert_ok(tb_ros2_graph_create(context, &graph, NULL));
  assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
  assert_int_equal(writers_of(snapshot, service, node), expected);
  tb_ros2_graph_snapshot_release(snapshot);
  tb_ros2_graph_destroy(graph);
}

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  tb_ros2_service_reply(service, &request->id, ask_request, sizeof ask_request, NULL);
}

/* On a graph with nodes of Fast DDS, too, a client of another server has no more than one. */
static void test_the_second_writer_is_there_only_for_such_a_server(void **state)
{
  (void)state;
  tb_ros2_node_t *node;
  tb_ros2_service_t *service;
  tb_ros2_client_t *to_fast, *to_own;
  assert_ok(tb_ros2_node_create(context, "asker", "/", NULL, &node, NULL));
  assert_ok(tb_ros2_service_create(context, "/own", ASK_TYPE, NULL, answer, NULL, &service, NULL));
  assert_ok(tb_ros2_node_create_client(node, SERVICE, ASK_TYPE, NULL, &to_fast, NULL));
  assert_ok(tb_ros2_node_create_client(node, "/own", ASK_TYPE, NULL, &to_own, NULL));
  assert_ok(ask(to_fast));
  assert_ok(ask(to_own));
  expect_writers(SERVICE, "/asker", 2);
  expect_writers("/own", "/asker", 1);
  tb_ros2_client_destroy(to_fast);
  tb_ros2_client_destroy(to_own);
  tb_ros2_service_destroy(service);
  tb_ros2_node_destroy(node);
}

static void test_a_forked_child_destroys_its_copy(void **state)
{
  (void)state;
  tb_ros2_client_t *client = client_of(SERVICE);
  assert_ok(ask(client));
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    bool refused = ask(client) == TB_ERR_FORKED && !tb_ros2_client_is_service_ready(client);
    tb_ros2_client_destroy(client);
    _exit(refused ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_ok(ask(client));
  tb_ros2_client_destroy(client);
}

/* ---- commands ---- */

/* Whether it ends well, with `text` in its output. */
static bool command_prints(const char *arguments, const char *text)
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
  return found && WEXITSTATUS(status) == 0;
}

static void test_the_commands_ask_such_nodes(void **state)
{
  (void)state;
  assert_true(command_prints("param set --wait 30 /fastnode greeting hello", "greeting set to"));
  assert_true(command_prints("param get --wait 30 /fastnode greeting", "hello"));
  peer_say(&fast, "param /fastnode greeting");
  peer_expect_line(&fast, "value string hello");
}

/* On a busy machine the command may not wait for long enough. */
static void sim_time(const char *arguments, const char *value)
{
  int tries = 0;
  while (!command_prints(arguments, "/fastnode  ok"))
    assert_true(++tries < 10);
  peer_say(&fast, "param /fastnode use_sim_time");
  peer_expect_line(&fast, value);
}

/* After the killed node is gone, which would be waited for. */
static void test_the_commands_reach_all_nodes(void **state)
{
  (void)state;
  tb_ros2_node_t *node;
  assert_ok(tb_ros2_node_create(context, "ours", "/", NULL, &node, NULL));
  sim_time("sim-time on --all", "value bool true");
  sim_time("sim-time off --all", "value bool false");
  requests_of(&fast);
  peer_stop(&fast);
  tb_ros2_node_destroy(node);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_server_is_killed_in_a_call),
      cmocka_unit_test(test_a_wait_ends_when_the_server_appears),
      cmocka_unit_test(test_a_call_ends_with_its_server),
      cmocka_unit_test(test_the_second_writer_is_there_only_for_such_a_server),
      cmocka_unit_test(test_a_forked_child_destroys_its_copy),
      cmocka_unit_test(test_the_commands_ask_such_nodes),
      cmocka_unit_test(test_the_call_has_ended_and_a_new_server_answers),
      cmocka_unit_test(test_the_commands_reach_all_nodes),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
