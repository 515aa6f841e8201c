/* `timebase serve`, controlled through the services of simulation_interfaces by other processes;
 * and the services of the library in this one. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_simulation_services.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "forking.h"
#include "ros2/simulation_control.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/clock_message.h"
#include "within.h"

#define DOMAIN   30
#define LIMIT    ((tb_duration_t){60 * TB_NS_PER_S})
#define START_NS (1000 * TB_NS_PER_S)
#define TICK_NS  (10 * TB_NS_PER_MS)
#define ARGUMENTS(...)                                                                             \
  ((const char *const[]){TB_COMMAND, "serve", "--start", "1000", __VA_ARGS__, NULL})

typedef struct station {
  tb_ros2_context_t *context;
  tb_ros2_client_t *clients[TB__SIMULATION_SERVICE_COUNT];
} station_t;

static station_t here;
static tb_ros2_subscription_t *ticks;

/* ---- a client of all five ---- */

static void station_open(station_t *station, const char *name_space)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(NULL, &station->context, &error) != TB_OK) fail_msg("%s", error.text);
  for (int i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++) {
    char name[100];
    snprintf(name, sizeof name, "%s/%s", name_space, tb__simulation_services[i].name);
    if (tb_ros2_client_create(station->context, name, tb__simulation_services[i].type, NULL,
                              &station->clients[i], &error) != TB_OK)
      fail_msg("%s", error.text);
  }
}

static void station_close(station_t *station)
{
  for (int i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++)
    tb_ros2_client_destroy(station->clients[i]);
  tb_ros2_context_destroy(station->context);
  memset(station, 0, sizeof *station);
}

/* Free what it returns. */
static void *call(const station_t *station, int service, const void *request)
{
  const tb__simulation_service_t *kind = &tb__simulation_services[service];
  tb_ros2_response_t response;
  tb_error_t error = TB_ERROR_INIT;
  uint8_t *cdr;
  size_t size;
  void *decoded;
  assert_ok(tb__cdr_encode(kind->request, request, false, &cdr, &size));
  if (tb_ros2_client_call(station->clients[service], cdr, size, WITHIN(LIMIT), &response, &error) !=
      TB_OK)
    fail_msg("%s: %s", kind->name, error.text);
  assert_ok(tb__cdr_decode(kind->response, response.cdr, response.size, &decoded));
  tb_ros2_response_release(&response);
  free(cdr);
  return decoded;
}

static uint8_t call_for_result(const station_t *station, int service, const void *request)
{
  tb__simulation_response_t *response = call(station, service, request);
  uint8_t result = response->result.result;
  assert_true((result == TB__RESULT_OK) == (response->result.error_message[0] == '\0'));
  free(response);
  return result;
}

static uint8_t get_state(const station_t *station)
{
  tb__get_simulation_state_response_t *response =
      call(station, TB__GET_SIMULATION_STATE, &(tb__empty_message_t){0});
  assert_int_equal(response->result.result, TB__RESULT_OK);
  uint8_t state = response->state.state;
  free(response);
  return state;
}

static uint8_t set_state(const station_t *station, uint8_t state)
{
  return call_for_result(station, TB__SET_SIMULATION_STATE,
                         &(tb__set_simulation_state_request_t){{state}});
}

static uint8_t step(const station_t *station, uint64_t steps)
{
  return call_for_result(station, TB__STEP_SIMULATION, &(tb__step_simulation_request_t){steps});
}

static uint8_t reset(const station_t *station, uint8_t scope)
{
  return call_for_result(station, TB__RESET_SIMULATION, &(tb__reset_simulation_request_t){scope});
}

/* ---- a call without waiting ---- */

typedef struct outcome {
  sem_t done;
  tb_status_t status;
  uint8_t result;
} outcome_t;

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  outcome_t *outcome = user;
  tb__simulation_response_t *decoded;
  outcome->status = status;
  if (response && tb__cdr_decode(&tb__step_simulation_response_type, response->cdr, response->size,
                                 &decoded) == TB_OK) {
    outcome->result = decoded->result.result;
    free(decoded);
  }
  sem_post(&outcome->done);
}

static void begin_call(const station_t *station, int service, const void *cdr, size_t size,
                       outcome_t *outcome)
{
  *outcome = (outcome_t){.result = 99};
  sem_init(&outcome->done, 0, 0);
  assert_ok(tb_ros2_client_wait_for_service(station->clients[service], WITHIN(LIMIT)));
  assert_ok(tb_ros2_client_call_async(station->clients[service], cdr, size, LIMIT, on_response,
                                      outcome, NULL));
}

static void begin_step(const station_t *station, uint64_t steps, outcome_t *outcome)
{
  uint8_t *cdr;
  size_t size;
  assert_ok(tb__cdr_encode(&tb__step_simulation_request_type,
                           &(tb__step_simulation_request_t){steps}, false, &cdr, &size));
  begin_call(station, TB__STEP_SIMULATION, cdr, size, outcome);
  free(cdr);
}

static void outcome_wait(outcome_t *outcome, tb_status_t status)
{
  while (sem_wait(&outcome->done) != 0)
    ;
  sem_destroy(&outcome->done);
  assert_status(outcome->status, status);
}

/* ---- the server ---- */

static pid_t serving; /* 0: none */

static void serve(peer_t *peer, const char *const arguments[])
{
  peer_start(peer, arguments);
  serving = peer->pid;
}

static void server_wait(peer_t *peer)
{
  int status;
  assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
  serving = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("serve: status 0x%x", status);
  close(peer->in);
  close(peer->out);
}

static void server_end(peer_t *peer)
{
  loopback_check(peer->pid);
  assert_int_equal(kill(peer->pid, SIGTERM), 0);
  server_wait(peer);
}

/* ---- /clock ---- */

static int64_t next_tick(void)
{
  tb_ros2_sample_t sample;
  int64_t time_ns;
  while (tb_ros2_subscription_take(ticks, &sample) != TB_OK)
    sched_yield();
  assert_ok(tb__clock_message_decode(sample.cdr, sample.size, &time_ns));
  tb_ros2_sample_release(&sample);
  return time_ns;
}

static void wait_for_tick_of(int64_t time_ns)
{
  while (next_tick() != time_ns)
    ;
}

static void wait_for_tick_after(int64_t time_ns)
{
  while (next_tick() <= time_ns)
    ;
}

/* After what was in flight. */
static int64_t stopped_time(void)
{
  int64_t time_ns = next_tick();
  for (int same = 0; same < 5; same++) {
    int64_t next_ns = next_tick();
    if (next_ns != time_ns) same = 0;
    time_ns = next_ns;
  }
  return time_ns;
}

static int setup(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  loopback_setup(DOMAIN);
  station_open(&here, "");
  qos.reliability = TB_QOS_BEST_EFFORT;
  qos.depth = 1000;
  assert_ok(tb_ros2_subscription_create(here.context, "/clock", "rosgraph_msgs/msg/Clock", &qos,
                                        NULL, &ticks, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_subscription_destroy(ticks);
  station_close(&here);
  if (serving) { /* of a test that has failed: others would meet it */
    kill(serving, SIGKILL);
    waitpid(serving, NULL, 0);
    serving = 0;
  }
  return 0;
}

static void test_each_service_works(void **state)
{
  (void)state;
  peer_t server;
  serve(&server, ARGUMENTS("--paused"));
  tb__get_simulator_features_response_t *features =
      call(&here, TB__GET_SIMULATOR_FEATURES, &(tb__empty_message_t){0});
  assert_int_equal(features->features.features.count, 7);
  free(features);
  assert_int_equal(get_state(&here), TB__SIMULATION_STOPPED);
  wait_for_tick_of(START_NS);
  assert_int_equal(step(&here, 1), TB__RESULT_OK);
  wait_for_tick_of(START_NS + TICK_NS);
  assert_int_equal(step(&here, 7), TB__RESULT_OK);
  wait_for_tick_of(START_NS + 8 * TICK_NS);
  assert_int_equal(stopped_time(), START_NS + 8 * TICK_NS);
  assert_int_equal(get_state(&here), TB__SIMULATION_PAUSED);
  assert_int_equal(set_state(&here, TB__SIMULATION_PAUSED), TB__RESULT_ALREADY_IN_TARGET_STATE);
  assert_int_equal(set_state(&here, TB__SIMULATION_PLAYING), TB__RESULT_OK);
  wait_for_tick_after(START_NS + 20 * TICK_NS);
  assert_int_equal(get_state(&here), TB__SIMULATION_PLAYING);
  assert_int_equal(step(&here, 1), TB__RESULT_OPERATION_FAILED);
  assert_int_equal(set_state(&here, TB__SIMULATION_PAUSED), TB__RESULT_OK);
  int64_t stood_ns = stopped_time();
  assert_true(stood_ns > START_NS + 20 * TICK_NS);
  assert_int_equal(reset(&here, 4), TB__RESULT_FEATURE_UNSUPPORTED);
  assert_int_equal(stopped_time(), stood_ns);
  assert_int_equal(reset(&here, 0), TB__RESULT_OK);
  wait_for_tick_of(START_NS);
  assert_int_equal(set_state(&here, TB__SIMULATION_PLAYING), TB__RESULT_OK);
  wait_for_tick_after(START_NS);
  assert_int_equal(set_state(&here, TB__SIMULATION_STOPPED), TB__RESULT_OK);
  assert_int_equal(get_state(&here), TB__SIMULATION_STOPPED);
  assert_int_equal(stopped_time(), START_NS);
  server_end(&server);
}

static void test_quitting_is_answered_and_ends_it(void **state)
{
  (void)state;
  peer_t server;
  outcome_t outcome;
  serve(&server, ARGUMENTS("--paused"));
  begin_step(&here, 1000000, &outcome);
  while (get_state(&here) != TB__SIMULATION_PLAYING)
    sched_yield();
  assert_int_equal(set_state(&here, TB__SIMULATION_QUITTING), TB__RESULT_OK);
  server_wait(&server);
  outcome_wait(&outcome, TB_OK);
  assert_int_equal(outcome.result, TB__RESULT_OPERATION_FAILED);
}

/* ---- several clients ---- */

typedef struct caller {
  pthread_t thread;
  station_t station;
  int made;
} caller_t;

static void *call_often(void *argument)
{
  caller_t *caller = argument;
  for (int i = 0; i < 50; i++) {
    uint8_t result = step(&caller->station, 2);
    assert_true(result == TB__RESULT_OK || result == TB__RESULT_OPERATION_FAILED);
    caller->made += result == TB__RESULT_OK;
    get_state(&caller->station);
  }
  return NULL;
}

static void test_two_clients_at_once(void **state)
{
  (void)state;
  peer_t server;
  caller_t callers[2] = {0};
  serve(&server, ARGUMENTS("--paused", "--as-fast-as-possible"));
  for (int i = 0; i < 2; i++)
    station_open(&callers[i].station, "");
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
  for (int i = 0; i < 2; i++)
    pthread_join(callers[i].thread, NULL);
  int made = callers[0].made + callers[1].made;
  assert_true(made >= 1); /* whoever comes first can step */
  wait_for_tick_of(START_NS + 2 * made * TICK_NS);
  assert_int_equal(stopped_time(), START_NS + 2 * made * TICK_NS);
  for (int i = 0; i < 2; i++)
    station_close(&callers[i].station);
  server_end(&server);
}

/* ---- what no client should do ---- */

static const uint8_t encapsulation[4] = {0, 1, 0, 0};

static void test_garbage_is_not_answered_and_is_harmless(void **state)
{
  (void)state;
  peer_t server;
  enum { PER_SERVICE = 5, COUNT = PER_SERVICE * TB__SIMULATION_SERVICE_COUNT };
  outcome_t outcomes[COUNT];
  uint8_t bytes[256];
  unsigned seed = 4711;
  station_t other;
  serve(&server, ARGUMENTS("--paused"));
  station_open(&other, "");
  for (int i = 0; i < COUNT; i++) {
    size_t size = i % PER_SERVICE ? 16 + (size_t)rand_r(&seed) % (sizeof bytes - 16) : 4;
    for (size_t k = 0; k < size; k++)
      bytes[k] = (uint8_t)rand_r(&seed);
    memcpy(bytes, encapsulation, sizeof encapsulation);
    if (i % PER_SERVICE == 1) memset(bytes + 4, 0xff, size - 4);
    begin_call(&other, i / PER_SERVICE, bytes, size, &outcomes[i]);
  }
  /* Each of them comes after the garbage, which is of another writer: one answer is not enough. */
  for (int i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++)
    free(call(&other, i,
              i == TB__SET_SIMULATION_STATE
                  ? (const void *)&(tb__set_simulation_state_request_t){{TB__SIMULATION_NO_WORLD}}
                  : (const void *)&(tb__step_simulation_request_t){0}));
  station_close(&other);
  for (int i = 0; i < COUNT; i++)
    outcome_wait(&outcomes[i], TB_ERR_CLOSED);
  assert_int_equal(stopped_time(), START_NS);
  assert_int_equal(step(&here, 3), TB__RESULT_OK);
  wait_for_tick_of(START_NS + 3 * TICK_NS);
  server_end(&server);
}

static void test_requests_without_a_header_are_harmless(void **state)
{
  (void)state;
  peer_t server;
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  uint8_t bytes[64];
  unsigned seed = 42;
  qos.avoid_ros_namespace_conventions = true;
  serve(&server, ARGUMENTS("--paused"));
  assert_ok(tb_ros2_publisher_create(here.context, "rq/step_simulationRequest",
                                     "simulation_interfaces/srv/StepSimulation_Request", &qos,
                                     &publisher, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  for (int i = 0; i < 200; i++) {
    size_t size = 4 + (size_t)rand_r(&seed) % 17; /* at times too short for the header */
    for (size_t k = 0; k < size; k++)
      bytes[k] = (uint8_t)rand_r(&seed);
    memcpy(bytes, encapsulation, sizeof encapsulation);
    tb_ros2_publisher_publish(publisher, bytes, size, NULL);
  }
  assert_ok(tb_ros2_publisher_wait_for_acks(publisher, WITHIN(LIMIT)));
  tb_ros2_publisher_destroy(publisher);
  assert_int_equal(step(&here, 1), TB__RESULT_OK);
  wait_for_tick_of(START_NS + TICK_NS);
  server_end(&server);
}

/* The child: requests a long step and waits for its answer until it is killed. */
static int request_and_wait(void)
{
  station_t station;
  outcome_t outcome;
  station_open(&station, "");
  begin_step(&station, 1000000, &outcome);
  printf("asked\n");
  fflush(stdout);
  outcome_wait(&outcome, TB_OK);
  return 0;
}

static void test_a_client_that_is_killed_while_it_waits(void **state)
{
  (void)state;
  peer_t server, client;
  const char *const arguments[] = {"/proc/self/exe", "simulation_test", "ask", NULL};
  serve(&server, ARGUMENTS("--paused"));
  peer_start(&client, arguments);
  peer_expect_line(&client, "asked");
  while (get_state(&here) != TB__SIMULATION_PLAYING)
    sched_yield();
  assert_int_equal(kill(client.pid, SIGKILL), 0);
  peer_wait_killed(&client);
  wait_for_tick_after(START_NS + 2 * TICK_NS); /* the step continues */
  assert_int_equal(step(&here, 1), TB__RESULT_OPERATION_FAILED);
  assert_int_equal(set_state(&here, TB__SIMULATION_STOPPED), TB__RESULT_OK);
  assert_int_equal(step(&here, 1), TB__RESULT_OK);
  wait_for_tick_of(START_NS + TICK_NS);
  server_end(&server);
}

/* ---- many steps ---- */

static void test_a_million_steps_are_answered_at_their_end(void **state)
{
  (void)state;
  peer_t server;
  serve(&server, ARGUMENTS("--paused", "--as-fast-as-possible", "--step", "10us"));
  assert_int_equal(step(&here, 1000000), TB__RESULT_OK);
  wait_for_tick_of(START_NS + 10 * TB_NS_PER_S);
  assert_int_equal(step(&here, UINT64_MAX), TB__RESULT_OPERATION_FAILED);
  assert_int_equal(step(&here, 0), TB__RESULT_OPERATION_FAILED);
  assert_int_equal(step(&here, 1), TB__RESULT_OK);
  wait_for_tick_of(START_NS + 10 * TB_NS_PER_S + 10 * TB_NS_PER_US);
  server_end(&server);
}

static void test_steps_that_take_too_long_can_be_cancelled(void **state)
{
  (void)state;
  peer_t server;
  outcome_t outcome;
  serve(&server, ARGUMENTS("--paused"));
  begin_step(&here, 1000000, &outcome); /* hours */
  while (get_state(&here) != TB__SIMULATION_PLAYING)
    sched_yield();
  assert_int_equal(set_state(&here, TB__SIMULATION_PAUSED), TB__RESULT_OK);
  outcome_wait(&outcome, TB_OK);
  assert_int_equal(outcome.result, TB__RESULT_OPERATION_FAILED);
  assert_true(stopped_time() < START_NS + 1000000 * TICK_NS);
  server_end(&server);
}

/* ---- options of the command ---- */

static void wait_for_node(tb_ros2_subscription_t *infos, const char *name_space, const char *name,
                          size_t readers, size_t writers)
{
  for (bool seen = false; !seen; sched_yield()) {
    tb_ros2_sample_t sample;
    tb__participant_entities_info_t *info;
    bool humble;
    if (tb_ros2_subscription_take(infos, &sample) != TB_OK) continue;
    assert_ok(tb__participant_entities_info_decode(sample.cdr, sample.size, &info, &humble));
    if (info->node_entities_info_seq.count == 1) {
      const tb__node_entities_info_t *node = info->node_entities_info_seq.items;
      seen = strcmp(node->node_name, name) == 0 && strcmp(node->node_namespace, name_space) == 0 &&
             node->reader_gid_seq.count == readers && node->writer_gid_seq.count == writers;
    }
    free(info);
    tb_ros2_sample_release(&sample);
  }
}

/* Six services and /parameter_events are there in any case. */
static void test_the_node_and_where_it_is(void **state)
{
  enum { OWN = 6 };
  (void)state;
  peer_t server;
  station_t elsewhere;
  tb_ros2_subscription_t *infos;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.history = TB_QOS_KEEP_ALL;
  qos.avoid_ros_namespace_conventions = true;
  assert_ok(tb_ros2_subscription_create(here.context, "ros_discovery_info",
                                        "rmw_dds_common/msg/ParticipantEntitiesInfo", &qos, NULL,
                                        &infos, NULL));
  serve(&server, ARGUMENTS("--paused"));
  wait_for_node(infos, "/", "clock_server", OWN + 5, OWN + 5 + 2); /* /clock among them */
  server_end(&server);
  serve(&server, ARGUMENTS("--paused", "--node", "clock", "--namespace", "/sim"));
  wait_for_node(infos, "/sim", "clock", OWN + 5, OWN + 5 + 2);
  station_open(&elsewhere, "/sim");
  assert_int_equal(step(&elsewhere, 1), TB__RESULT_OK);
  wait_for_tick_of(START_NS + TICK_NS); /* on /clock anyway */
  station_close(&elsewhere);
  server_end(&server);
  tb_ros2_subscription_t *on_clock = ticks;
  tb_qos_t best_effort = TB_QOS_INIT_CLOCK;
  assert_ok(tb_ros2_subscription_create(here.context, "/sim/time", "rosgraph_msgs/msg/Clock",
                                        &best_effort, NULL, &ticks, NULL));
  serve(&server, ARGUMENTS("--topic", "time", "--namespace", "sim"));
  wait_for_tick_after(START_NS);
  server_end(&server);
  tb_ros2_subscription_destroy(ticks);
  ticks = on_clock;
  serve(&server, ARGUMENTS("--paused", "--no-services", "--node", "alone"));
  wait_for_node(infos, "/", "alone", OWN, OWN + 2);
  assert_false(tb_ros2_client_is_service_ready(here.clients[TB__STEP_SIMULATION]));
  server_end(&server);
  tb_ros2_subscription_destroy(infos);
}

/* ---- in this process ---- */

static tb_status_t take_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  (void)self, (void)time_ns, (void)reason, (void)error;
  return TB_OK;
}

typedef struct hall {
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_clock_server_t *server;
  tb_ros2_simulation_services_t *services;
} hall_t;

static void hall_open(hall_t *hall, const tb_ros2_simulation_services_options_t *options)
{
  tb_clock_server_options_t paused = TB_CLOCK_SERVER_OPTIONS_INIT;
  tb_tick_sink_t sink = {take_tick, NULL};
  paused.start_paused = true;
  assert_ok(tb_ros2_context_create(NULL, &hall->context, NULL));
  assert_ok(tb_ros2_node_create(hall->context, "hall", "", NULL, &hall->node, NULL));
  assert_ok(tb_clock_server_create(&paused, &sink, 1, &hall->server, NULL));
  assert_ok(
      tb_ros2_simulation_services_create(hall->node, hall->server, options, &hall->services, NULL));
}

static void hall_close(hall_t *hall)
{
  tb_ros2_simulation_services_destroy(hall->services);
  tb_clock_server_destroy(hall->server);
  tb_ros2_node_destroy(hall->node);
  tb_ros2_context_destroy(hall->context);
}

static bool is_stepping(const hall_t *hall)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(hall->server, &status);
  return status.stepping;
}

static void test_a_step_is_answered_when_the_services_go(void **state)
{
  (void)state;
  hall_t hall;
  outcome_t outcome;
  hall_open(&hall, NULL);
  assert_ok(tb_clock_server_start(hall.server));
  assert_int_equal(set_state(&here, TB__SIMULATION_QUITTING), TB__RESULT_FEATURE_UNSUPPORTED);
  begin_step(&here, 1000000, &outcome);
  while (!is_stepping(&hall))
    sched_yield();
  tb_ros2_simulation_services_destroy(hall.services);
  hall.services = NULL;
  outcome_wait(&outcome, TB_OK);
  assert_int_equal(outcome.result, TB__RESULT_OPERATION_FAILED);
  assert_true(is_stepping(&hall)); /* it continues */
  hall_close(&hall);
}

static void test_services_come_and_go_while_steps_end(void **state)
{
  (void)state;
  hall_t hall;
  const tb_ros2_simulation_services_options_t options = {{1}, NULL, NULL};
  hall_open(&hall, &options);
  assert_ok(tb_clock_server_start(hall.server));
  assert_ok(tb_clock_server_set_as_fast_as_possible(hall.server, true));
  for (int i = 0; i < 20; i++) {
    outcome_t outcome;
    begin_step(&here, 1, &outcome);
    while (i % 2 && !is_stepping(&hall) && sem_trywait(&outcome.done) != 0)
      sched_yield();
    tb_ros2_simulation_services_destroy(hall.services);
    assert_ok(
        tb_ros2_simulation_services_create(hall.node, hall.server, &options, &hall.services, NULL));
    sem_post(&outcome.done);
    /* answered, or ended because the service was destroyed */
    tb_ros2_client_destroy(here.clients[TB__STEP_SIMULATION]);
    sem_destroy(&outcome.done);
    assert_ok(tb_ros2_client_create(here.context, "step_simulation",
                                    "simulation_interfaces/srv/StepSimulation", NULL,
                                    &here.clients[TB__STEP_SIMULATION], NULL));
  }
  while (is_stepping(&hall)) /* what the last services have left */
    sched_yield();
  assert_int_equal(step(&here, 1), TB__RESULT_OK);
  hall_close(&hall);
}

static void test_what_is_refused(void **state)
{
  (void)state;
  hall_t hall;
  tb_ros2_simulation_services_t *services = NULL;
  const tb_ros2_simulation_services_options_t negative = {{-1}, NULL, NULL};
  hall_open(&hall, NULL);
  assert_status(
      tb_ros2_simulation_services_create(hall.node, hall.server, &negative, &services, NULL),
      TB_ERR_RANGE);
  assert_status(tb_ros2_simulation_services_create(NULL, hall.server, NULL, &services, NULL),
                TB_ERR_INVALID);
  assert_status(tb_ros2_simulation_services_create(hall.node, NULL, NULL, &services, NULL),
                TB_ERR_INVALID);
  pid_t child = fork();
  if (child == 0) {
    bool refused = tb_ros2_simulation_services_create(hall.node, hall.server, NULL, &services,
                                                      NULL) == TB_ERR_FORKED;
    tb_ros2_simulation_services_destroy(hall.services);
    _exit(refused ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_null(services);
  tb_ros2_simulation_services_destroy(NULL);
  hall_close(&hall);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "ask") == 0) return request_and_wait();
  const struct CMUnitTest tests[] = {
      TEST(each_service_works),
      TEST(quitting_is_answered_and_ends_it),
      TEST(two_clients_at_once),
      TEST(garbage_is_not_answered_and_is_harmless),
      TEST(requests_without_a_header_are_harmless),
      TEST(a_client_that_is_killed_while_it_waits),
      TEST(a_million_steps_are_answered_at_their_end),
      TEST(steps_that_take_too_long_can_be_cancelled),
      TEST(the_node_and_where_it_is),
      TEST(a_step_is_answered_when_the_services_go),
      TEST(services_come_and_go_while_steps_end),
      TEST(what_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
