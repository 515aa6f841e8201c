/* A node and a participant that sends garbage on every topic that the node reads, each in a
 * separate process, while good requests are answered. The seed is printed; TB_TEST_SEED sets it. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <unistd.h>

#include "ros2/simulation_control.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN  47
#define S       TB_NS_PER_S
#define LIMIT   ((tb_duration_t){5 * S})
#define TRIES   12
#define ROUNDS  8
#define GARBAGE 400 /* samples a round */
#define NOW     "now 5000000000"
#define SERVED  "time 1000000000"
#define ROOM_MAX                                                                                   \
  (64L << 20) /* what a process may grow by: a queue of a service is not all of it                 \
               */

static tb_ros2_context_t *context;
static tb_ros2_node_t *other;
static tb_ros2_parameter_client_t *client;
static tb_ros2_client_t *simulation;
static tb_ros2_clock_publisher_t *publisher;
static peer_t victim, garbage;
static char seed[16];

static void peers_start(void)
{
  const char *const victim_argv[] = {TB_NODE_PEER, "victim", "true", NULL};
  const char *const garbage_argv[] = {TB_GARBAGE_PEER, seed, "victim", "other", NULL};
  peer_start(&victim, victim_argv);
  peer_expect_line(&victim, "ready");
  peer_say(&victim, "graph");
  peer_expect_line(&victim, "graph");
  peer_say(&victim, "simulation");
  peer_expect_line(&victim, "simulation");
  peer_start(&garbage, garbage_argv);
  peer_expect_line(&garbage, "ready");
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t level = tb_ros2_parameter_integer(77);
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_node_create(context, "other", "", NULL, &other, &error) != TB_OK ||
      tb_ros2_node_declare_parameter(other, "level", &level, NULL, &error) != TB_OK ||
      tb_ros2_parameter_client_create(context, "/victim", &client, &error) != TB_OK ||
      tb_ros2_client_create(context, "/get_simulation_state",
                            tb__simulation_services[TB__GET_SIMULATION_STATE].type, NULL,
                            &simulation, &error) != TB_OK ||
      tb_ros2_clock_publisher_create(context, NULL, NULL, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
  peers_start();
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_client_destroy(simulation);
  tb_ros2_parameter_client_destroy(client);
  tb_ros2_node_destroy(other);
  tb_ros2_context_destroy(context);
  return 0;
}

/* Asks again, since a request may be dropped from a queue that is full of garbage. */
#define ASK(call)                                                                                  \
  do {                                                                                             \
    tb_status_t status = TB_ERR_TIMEOUT;                                                           \
    for (int i = 0; i < TRIES && status == TB_ERR_TIMEOUT; i++)                                    \
      status = (call);                                                                             \
    if (status != TB_OK) fail_msg("seed %s: %s", seed, error.text);                                \
  } while (0)

/* Sets and reads what it has set. */
static void assert_answers(int64_t level)
{
  static const char *const names[] = {"level", "use_sim_time"};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_result_t result;
  tb_ros2_parameter_value_t values[2];
  tb_ros2_parameter_list_t list;
  size_t count = 0;
  const tb_ros2_parameter_t parameter = {"level", tb_ros2_parameter_integer(level)};
  ASK(tb_ros2_parameter_client_set(client, &parameter, 1, WITHIN(LIMIT), &result, &error));
  ASK(tb_ros2_parameter_client_get(client, names, 2, WITHIN(LIMIT), values, &count, &error));
  ASK(tb_ros2_parameter_client_list(client, NULL, 0, 1, WITHIN(LIMIT), &list, &error));
  assert_true(result.successful);
  assert_int_equal(count, 2);
  assert_int_equal(values[0].integer_value, level);
  assert_true(values[1].bool_value);
  assert_int_equal(list.name_count, 4); /* and "stuck", "time_source": none came by garbage */
  tb_ros2_parameter_list_release(&list);
}

static void assert_simulation_answers(void)
{
  static const tb__simulation_service_t *const service =
      &tb__simulation_services[TB__GET_SIMULATION_STATE];
  tb_error_t error = TB_ERROR_INIT;
  tb__empty_message_t request = {0};
  tb__get_simulation_state_response_t *answer;
  tb_ros2_response_t response;
  uint8_t *cdr;
  size_t size;
  assert_ok(tb__cdr_encode(service->request, &request, false, &cdr, &size));
  ASK(tb_ros2_client_call(simulation, cdr, size, WITHIN(LIMIT), &response, &error));
  assert_ok(tb__cdr_decode(service->response, response.cdr, response.size, &answer));
  assert_int_equal(answer->state.state, TB__SIMULATION_STOPPED);
  tb_ros2_response_release(&response);
  free(answer);
  free(cdr);
}

static void victim_expect(const char *question, const char *answer)
{
  peer_say(&victim, "%s", question);
  peer_expect_line(&victim, answer);
}

/* /clock is best effort: until it has arrived. */
static void tick_once(void)
{
  char line[64];
  do {
    assert_ok(tb_ros2_clock_publisher_publish(publisher, 5 * S, NULL));
    peer_say(&victim, "now");
    peer_read_line(&victim, line, sizeof line);
  } while (strcmp(line, NOW) != 0);
}

static void assert_unmoved(void)
{
  victim_expect("now", NOW);
  victim_expect("time", SERVED);
  victim_expect("get /other level", "value 77"); /* with forged answers among the good */
}

/* "victim" and "other"; nothing that garbage announces is a node. */
static void assert_graph(void)
{
  char line[64];
  unsigned nodes;
  unsigned long long malformed, foreign;
  do {
    peer_say(&victim, "seen");
    peer_read_line(&victim, line, sizeof line);
    assert_int_equal(sscanf(line, "seen %u %llu %llu", &nodes, &malformed, &foreign), 3);
    sched_yield();
  } while (malformed == 0);
  assert_int_equal(nodes, 2);
}

static void assert_counted(void)
{
  char line[64];
  unsigned matched;
  unsigned long long invalid;
  peer_say(&victim, "clock");
  peer_read_line(&victim, line, sizeof line);
  assert_int_equal(sscanf(line, "clock %u %llu", &matched, &invalid), 2);
  assert_int_equal(matched, 2);
  assert_true(invalid > 0);
}

/* Bytes in memory; 0 with a sanitizer, which keeps what was freed. */
static long victim_room(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  char path[64];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)victim.pid);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
#endif
}

static void test_garbage_of_every_kind(void **state)
{
  (void)state;
  long room = 0;
  tick_once();
  assert_answers(-1);
  peer_say(&garbage, "match");
  peer_expect_line(&garbage, "matched");
  loopback_check(garbage.pid);
  for (int round = 0; round < ROUNDS; round++) {
    peer_say(&garbage, "garbage %d", GARBAGE);
    for (int i = 0; i < 10; i++) { /* at the same time */
      assert_answers(round * 100 + i);
      assert_simulation_answers();
      assert_unmoved();
    }
    peer_expect_line(&garbage, "sent");
    if (round == 0) room = victim_room();
  }
  assert_counted();
  assert_graph();
  assert_true(victim_room() - room < ROOM_MAX);
}

/* Until they have been processed good requests wait after them, or are dropped from a full queue;
 * afterwards everything works as before. */
static void test_huge_requests_and_floods(void **state)
{
  (void)state;
  static const char *const many[] = {"huge 40", "flood 20000", "huge 40"};
  tick_once();
  peer_say(&garbage, "match");
  peer_expect_line(&garbage, "matched");
  long room = victim_room();
  for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
    peer_say(&garbage, "%s", many[i]);
    peer_expect_line(&garbage, "sent");
    assert_answers((int64_t)i);
    assert_simulation_answers();
    assert_unmoved();
  }
  assert_true(victim_room() - room < ROOM_MAX + (80L << 20));
}

static void test_forged_answers(void **state)
{
  (void)state;
  tick_once();
  peer_say(&garbage, "match");
  peer_expect_line(&garbage, "matched");
  for (int i = 0; i < 8; i++) {
    peer_say(&garbage, "forge 10000");
    for (int k = 0; k < 30; k++)
      assert_unmoved();
    peer_expect_line(&garbage, "sent");
  }
}

/* In between they end, so that leaks are found. */
static void peers_stop(void)
{
  peer_stop(&garbage);
  peer_stop(&victim);
}

static void test_everything(void **state)
{
  test_garbage_of_every_kind(state);
  peers_stop();
  peers_start();
  test_forged_answers(state);
  peers_stop();
  peers_start();
  test_huge_requests_and_floods(state);
  peers_stop();
}

int main(void)
{
  const char *given = getenv("TB_TEST_SEED");
  unsetenv("TIMEBASE_SOURCE");
  snprintf(seed, sizeof seed, "%u",
           given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL));
  print_message("seed %s\n", seed);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_everything, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
