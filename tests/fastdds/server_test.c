/* Services of this library, called by clients on Fast DDS. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_node.h>

#include "dds/raw_writer.h"
#include "held/parking.h"
#include "ros2/context.h"
#include "ros2/simulation_control.h"
#include "rosbag2/player_requests.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN "162"
#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})

static tb_ros2_context_t *context;

static int setup(void **state)
{
  tb_error_t error = TB_ERROR_INIT;
  (void)state;
  loopback_setup(atoi(DOMAIN));
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  context = NULL;
  return 0;
}

static void start(peer_t *peer, const char *node)
{
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", node, NULL});
  peer_expect_line(peer, "ready");
}

static void ask(peer_t *peer, const char *command, char *out, size_t size)
{
  peer_say(peer, "%s", command);
  peer_read_line(peer, out, size);
}

static void expect_answer(peer_t *peer, const char *command, const char *expected)
{
  char line[512];
  ask(peer, command, line, sizeof line);
  assert_string_equal(line, expected);
}

/* As the peer's "--size N": "0 1 2 3 ..." */
static char *pattern_create(size_t size)
{
  char *text = malloc(size + 32);
  size_t length = 0;
  assert_non_null(text);
  for (int i = 0; length < size; i++)
    length += (size_t)sprintf(text + length, "%d ", i);
  text[size] = '\0';
  return text;
}

static void declare_text(tb_ros2_node_t *node, const char *name, size_t size)
{
  char *text = pattern_create(size);
  tb_ros2_parameter_value_t value = tb_ros2_parameter_string(text);
  assert_ok(tb_ros2_node_declare_parameter(node, name, &value, NULL, NULL));
  free(text);
}

static void assert_text(tb_ros2_node_t *node, const char *name, size_t size)
{
  char *expected = pattern_create(size);
  tb_ros2_parameter_value_t value;
  assert_ok(tb_ros2_node_get_parameter(node, name, &value));
  assert_string_equal(value.string_value, expected);
  tb_ros2_parameter_value_release(&value);
  free(expected);
}

static void test_parameters_of_a_node(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_node_t *node;
  start(&peer, "/asker");
  assert_ok(tb_ros2_node_create(context, "server", "/", NULL, &node, NULL));
  declare_text(node, "small", 1);
  declare_text(node, "middle", 5000);
  declare_text(node, "large", 20000);
  declare_text(node, "huge", 200000);
  expect_answer(&peer, "list /server",
                "names huge large middle qos_overrides./clock.subscription.depth "
                "qos_overrides./clock.subscription.durability "
                "qos_overrides./clock.subscription.history "
                "qos_overrides./clock.subscription.reliability small time_source use_sim_time");
  expect_answer(&peer, "get /server use_sim_time small", "value bool false string 0");
  expect_answer(&peer, "get /server middle", "value string pattern 5000");
  expect_answer(&peer, "get /server large", "value string pattern 20000");
  expect_answer(&peer, "get /server huge", "value string pattern 200000");
  expect_answer(&peer, "types /server small use_sim_time", "types 4 1");
  expect_answer(&peer, "set /server small 12",
                "set refused parameter small has type string and cannot be set to a value of type "
                "integer");
  expect_answer(&peer, "set /server small --size 200000", "set ok");
  assert_text(node, "small", 200000);
  expect_answer(&peer, "set /server huge abc", "set ok");
  expect_answer(&peer, "get --asker writer /server huge", "value string abc");
  expect_answer(&peer, "get --asker none /server huge", "value string abc");
  peer_stop(&peer);
  tb_ros2_node_destroy(node);
}

/* Each client is new: its first request may be large, and is not sent twice. */
static void test_the_first_request_arrives(void **state)
{
  (void)state;
  tb_ros2_node_t *node;
  assert_ok(tb_ros2_node_create(context, "server", "/", NULL, &node, NULL));
  declare_text(node, "text", 1);
  for (int i = 0; i < 6; i++) {
    peer_t peer;
    start(&peer, "/asker");
    expect_answer(&peer, i % 2 ? "set /server text --size 200000" : "set /server text --size 100",
                  "set ok");
    assert_text(node, "text", i % 2 ? 200000 : 100);
    peer_stop(&peer);
  }
  tb_ros2_node_destroy(node);
}

static void serve_echo(peer_t *server)
{
  peer_start(server, (const char *const[]){TB_SERVICE_PEER, "echo", NULL});
  peer_expect_line(server, "ready");
}

#define ECHO "call /echo std_srvs/srv/Trigger "

static void assert_echo(tb_ros2_client_t *client, uint32_t number)
{
  uint8_t message[16] = "\0\1\0\0abcdefghijk";
  tb_ros2_response_t response = {NULL, 0};
  memcpy(message + 4, &number, sizeof number);
  assert_ok(tb_ros2_client_call(client, message, sizeof message, WITHIN(LIMIT), &response, NULL));
  assert_int_equal(response.size, sizeof message);
  assert_memory_equal(response.cdr, message, sizeof message);
  tb_ros2_response_release(&response);
}

static void expect_echo(peer_t *peer, unsigned size)
{
  char line[64];
  snprintf(line, sizeof line, "reply %u same", size);
  peer_expect_line(peer, line);
}

/* One server; each client gets its own answers, in the form that it understands. */
static void test_clients_of_both_kinds_at_one_server(void **state)
{
  (void)state;
  peer_t server, peers[2];
  tb_ros2_client_t *client;
  serve_echo(&server);
  start(&peers[0], "/one");
  start(&peers[1], "/two");
  assert_ok(tb_ros2_client_create(context, "/echo", "std_srvs/srv/Trigger", NULL, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  expect_answer(&peers[0], ECHO "--size 16", "reply 16 same");
  expect_answer(&peers[1], ECHO "--size 16", "reply 16 same");
  for (unsigned i = 0; i < 20; i++) {
    peer_say(&peers[0], ECHO "--size %u", 20 + i * 4);
    peer_say(&peers[1], ECHO "--size %u", 2000 + i * 4000);
    assert_echo(client, i);
    expect_echo(&peers[0], 20 + i * 4);
    expect_echo(&peers[1], 2000 + i * 4000);
  }
  peer_say(&peers[0], "strays /echo"); /* those of the others were there */
  char line[64];
  peer_read_line(&peers[0], line, sizeof line);
  assert_true(strcmp(line, "strays 0") != 0);
  tb_ros2_client_destroy(client);
  peer_stop(&peers[0]);
  peer_stop(&peers[1]);
  peer_stop(&server);
}

static tb__raw_writer_t *request_writer_open(void)
{
  tb__raw_writer_t *writer;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb__endpoint_options_t options = {
      .topic = "rq/echoRequest", .type = "std_srvs::srv::dds_::Trigger_Request_", .qos = &qos};
  assert_ok(tb__raw_writer_create(tb__ros2_context_participant(context), &options, &writer, NULL));
  while (tb__raw_writer_matched(writer) == 0) {
    uint32_t seen = tb__raw_writer_match_events(writer);
    if (tb__raw_writer_matched(writer) == 0)
      tb__futex_wait(tb__raw_writer_match_word(writer), seen, TB__NO_DEADLINE);
  }
  return writer;
}

/* From a writer of Cyclone DDS, and identities that name what is not the client's own. */
static void test_garbage_and_forged_identities_harm_nobody_else(void **state)
{
  (void)state;
  static const uint16_t rows[][16] = {
      {0x800f, 0, 0x0083, 0},                                     /* no value */
      {0x0083, 8, 1, 2, 3, 4},                                    /* a short one */
      {0x0083, 24, 0x1001, 2, 3, 4, 5, 6, 0, 0x0400, 0, 0, 9, 0}, /* some other reader's */
      {0x800f, 24, 0x1001, 2, 3, 4, 5, 6, 0, 0x0400, 0, 0, 9, 0},
      {0x7fff & ~0x4000, 28}, /* something unknown */
      {0, 28},                /* padding */
  };
  peer_t server, peers[2];
  tb_ros2_client_t *client;
  char line[128], asker[64];
  serve_echo(&server);
  start(&peers[0], "/victim");
  start(&peers[1], "/forger");
  assert_ok(tb_ros2_client_create(context, "/echo", "std_srvs/srv/Trigger", NULL, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  expect_answer(&peers[0], ECHO "--size 16", "reply 16 same");
  tb__raw_writer_t *writer = request_writer_open();
  for (size_t i = 0; i < 60; i++) {
    uint8_t cdr[40] = "\0\1\0\0";
    tb_status_t status = tb__raw_writer_write_with(writer, cdr, i % 2 ? sizeof cdr : 8, rows[i % 6],
                                                   sizeof rows[0], NULL, NULL);
    if (status != TB_ERR_TIMEOUT) assert_ok(status);
  }
  assert_ok(tb__raw_writer_wait_for_acks(writer, LIMIT));
  /* "reader GUID writer GUID": the forger names the victim's reader. */
  expect_answer(&peers[0], ECHO "--size 16", "reply 16 same");
  peer_say(&peers[0], "client /echo std_srvs/srv/Trigger");
  peer_read_line(&peers[0], line, sizeof line);
  assert_int_equal(sscanf(line, "reader %63s", asker), 1);
  snprintf(line, sizeof line, ECHO "--asker %s --size 24", asker);
  ask(&peers[1], "call /echo std_srvs/srv/Trigger --size 16", line, sizeof line);
  peer_say(&peers[1], "call --asker %s /echo std_srvs/srv/Trigger --size 24", asker);
  expect_echo(&peers[1], 24); /* it gets its own answer, named by its writer */
  expect_answer(&peers[0], ECHO "--size 32", "reply 32 same");
  assert_echo(client, 5);
  tb__raw_writer_destroy(writer);
  tb_ros2_client_destroy(client);
  peer_stop(&peers[0]);
  peer_stop(&peers[1]);
  peer_stop(&server);
}

/* The reply, decoded; to be freed. */
static void *call(peer_t *peer, const char *name, const char *type, const char *request,
                  const tb__cdr_type_t *response_type)
{
  char command[256], line[1024];
  uint8_t bytes[512];
  size_t size = 0;
  int at = 0;
  void *decoded;
  snprintf(command, sizeof command, "call %s %s %s", name, type, request);
  ask(peer, command, line, sizeof line);
  if (sscanf(line, "reply %*u %n", &at) < 0 || at == 0) fail_msg("%s: %s", command, line);
  for (unsigned byte; sscanf(line + at + 2 * size, "%2x", &byte) == 1; size++)
    bytes[size] = (uint8_t)byte;
  if (tb__cdr_decode(response_type, bytes, size, &decoded)) fail_msg("%s: %s", command, line);
  return decoded;
}

static void test_services_of_serve(void **state)
{
  (void)state;
  peer_t server, peer;
  char line[512];
  peer_start(&server, (const char *const[]){TB_COMMAND, "serve", "-p", "--start", "100", NULL});
  start(&peer, "/asker");
  tb__simulation_response_t *response =
      call(&peer, "/set_simulation_state", "simulation_interfaces/srv/SetSimulationState",
           "0001000002000000", &tb__set_simulation_state_response_type);
  assert_int_equal(response->result.result, 1);
  free(response);
  response = call(&peer, "/step_simulation", "simulation_interfaces/srv/StepSimulation",
                  "000100000500000000000000", &tb__step_simulation_response_type);
  assert_int_equal(response->result.result, 1);
  free(response);
  tb__get_simulation_state_response_t *got =
      call(&peer, "/get_simulation_state", "simulation_interfaces/srv/GetSimulationState",
           "0001000000000000", &tb__get_simulation_state_response_type);
  assert_int_equal(got->state.state, 2); /* paused */
  free(got);
  ask(&peer, "get /clock_server use_sim_time", line, sizeof line);
  assert_string_equal(line, "value bool false");
  peer_stop(&peer);
  kill(server.pid, SIGINT);
  peer_stop(&server);
}

/* The request is a byte of any value, here one that no answer has. */
static bool is_paused(peer_t *peer, const char *node)
{
  char name[64];
  snprintf(name, sizeof name, "%s/is_paused", node);
  tb__is_paused_response_t *response = call(peer, name, "rosbag2_interfaces/srv/IsPaused",
                                            "0001000007000000", &tb__is_paused_response_type);
  bool paused = response->paused;
  free(response);
  return paused;
}

static void test_services_of_play(void **state)
{
  (void)state;
  peer_t player, peer;
  peer_start(&player, (const char *const[]){TB_COMMAND, "play", TB_DEMO_BAG, "-p", "--loop", NULL});
  start(&peer, "/asker");
  assert_true(is_paused(&peer, "/rosbag2_player"));
  char line[512];
  ask(&peer, "call /rosbag2_player/resume rosbag2_interfaces/srv/Resume 0001000000000000", line,
      sizeof line);
  assert_false(is_paused(&peer, "/rosbag2_player"));
  peer_stop(&peer);
  kill(player.pid, SIGINT);
  peer_stop(&player);
}

static void test_services_of_record(void **state)
{
  (void)state;
  peer_t recorder, peer;
  char folder[] = "/tmp/timebase-server-test-XXXXXX", bag[64];
  assert_non_null(mkdtemp(folder));
  snprintf(bag, sizeof bag, "%s/bag", folder);
  peer_start(&recorder, (const char *const[]){TB_COMMAND, "record", "/none", "-o", bag,
                                              "--start-paused", NULL});
  start(&peer, "/asker");
  assert_true(is_paused(&peer, "/rosbag2_recorder"));
  peer_stop(&peer);
  kill(recorder.pid, SIGINT);
  peer_stop(&recorder);
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

static void test_services_of_idl_types(void **state)
{
  (void)state;
  peer_t server, peer;
  char line[512];
  peer_start(&server, (const char *const[]){TB_ADD_TWO_INTS, NULL});
  peer_expect_line(&server, "add_two_ints: ready");
  start(&peer, "/asker");
  ask(&peer,
      "call /add_two_ints example_interfaces/srv/AddTwoInts "
      "0001000003000000000000000400000000000000",
      line, sizeof line);
  assert_string_equal(line, "reply 12 000100000700000000000000");
  peer_stop(&peer);
  kill(server.pid, SIGINT);
  peer_stop(&server);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_parameters_of_a_node, setup, teardown),
      cmocka_unit_test_setup_teardown(test_the_first_request_arrives, setup, teardown),
      cmocka_unit_test_setup_teardown(test_clients_of_both_kinds_at_one_server, setup, teardown),
      cmocka_unit_test_setup_teardown(test_garbage_and_forged_identities_harm_nobody_else, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_services_of_serve, setup, teardown),
      cmocka_unit_test_setup_teardown(test_services_of_play, setup, teardown),
      cmocka_unit_test_setup_teardown(test_services_of_record, setup, teardown),
      cmocka_unit_test_setup_teardown(test_services_of_idl_types, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
