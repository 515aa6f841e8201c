/* Clients and services in several processes: ours on both sides, and against a process that knows
 * Cyclone DDS and types from IDL. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <unistd.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define LIMIT        ((tb_duration_t){120 * TB_NS_PER_S})
#define TYPE         "std_srvs/srv/Trigger"
#define DOMAIN       70 /* of all but one: everything ends with its test */
#define LEASE_DOMAIN 71
#define LEASE                                                                                      \
  "<CycloneDDS><Domain><Discovery><LeaseDuration>5 s</LeaseDuration></Discovery></Domain>"         \
  "</CycloneDDS>"

static tb_ros2_context_t *context;
static tb_ros2_client_t *client;

static int context_setup(void)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 1000;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_client_create(context, "/echo", TYPE, &qos, &client, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  return context_setup();
}

static int setup_apart(void **state)
{
  (void)state;
  loopback_setup(LEASE_DOMAIN);
  return context_setup();
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_client_destroy(client);
  tb_ros2_context_destroy(context);
  client = NULL;
  context = NULL;
  return 0;
}

static void serve(peer_t *peer, const char *mode)
{
  const char *const argv[] = {TB_SERVICE_PEER, mode, NULL};
  peer_start(peer, argv);
  peer_expect_line(peer, "ready");
}

/* Its death is noticed soon, but a slow machine does not make its lease run out. */
static void serve_on_short_lease(peer_t *peer, const char *mode)
{
  char config[2048];
  const char *common = getenv("CYCLONEDDS_URI");
  assert_non_null(common);
  char *kept = strdup(common);
  snprintf(config, sizeof config, "%s," LEASE, kept);
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  serve(peer, mode);
  assert_int_equal(setenv("CYCLONEDDS_URI", kept, 1), 0);
  free(kept);
}

static void message_fill(uint8_t out[16], uint64_t number)
{
  memcpy(out, "\0\1\0\0", 4);
  memcpy(out + 4, &number, 8);
  memset(out + 12, 0x5a, 4);
}

static void assert_echo(uint64_t number)
{
  uint8_t message[16];
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  message_fill(message, number);
  if (tb_ros2_client_call(client, message, sizeof message, WITHIN(LIMIT), &response, &error) !=
      TB_OK)
    fail_msg("call %llu: %s", (unsigned long long)number, error.text);
  assert_int_equal(response.size, sizeof message);
  assert_memory_equal(response.cdr, message, sizeof message);
  tb_ros2_response_release(&response);
  assert_null(response.cdr);
}

static void *echo_often(void *number)
{
  for (uint64_t i = 0; i < 100; i++)
    assert_echo(*(uint64_t *)number * 1000 + i);
  return NULL;
}

static void peer_skip_requests(peer_t *peer, int count)
{
  while (count-- > 0)
    peer_expect_line(peer, "request 16");
}

static void test_calls_of_several_threads_get_their_own_answers(void **state)
{
  (void)state;
  peer_t peer;
  pthread_t threads[4];
  uint64_t numbers[4] = {1, 2, 3, 4};
  serve(&peer, "echo");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  assert_true(tb_ros2_client_is_service_ready(client));
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, echo_often, &numbers[i]), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  peer_skip_requests(&peer, 400);
  peer_stop(&peer);
}

static void never(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status;
  (void)response;
  (void)user;
  abort();
}

static void test_calls_without_a_service_report_it(void **state)
{
  (void)state;
  uint8_t message[16];
  tb_ros2_response_t response;
  tb_error_t error = TB_ERROR_INIT;
  message_fill(message, 1);
  assert_false(tb_ros2_client_is_service_ready(client));
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN(TB_NO_WAIT)), TB_ERR_TIMEOUT);
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN((tb_duration_t){1000000})),
                TB_ERR_TIMEOUT);
  assert_status(
      tb_ros2_client_call(client, message, 16, WITHIN((tb_duration_t){1000000}), &response, &error),
      TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, "/echo"));
  assert_status(tb_ros2_client_call_async(client, message, 16, LIMIT, never, NULL, &error),
                TB_ERR_NOT_FOUND);
}

typedef struct outcome {
  sem_t done;
  tb_status_t status;
  uint64_t number;
  int calls;
} outcome_t;

static void outcome_put(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  outcome_t *outcome = user;
  outcome->status = status;
  outcome->calls++;
  if (response && response->size == 16)
    memcpy(&outcome->number, (const uint8_t *)response->cdr + 4, 8);
  sem_post(&outcome->done);
}

static void call_async(outcome_t *outcome, uint64_t number, tb_duration_t limit)
{
  uint8_t message[16];
  tb_error_t error = TB_ERROR_INIT;
  memset(outcome, 0, sizeof *outcome);
  sem_init(&outcome->done, 0, 0);
  message_fill(message, number);
  if (tb_ros2_client_call_async(client, message, 16, limit, outcome_put, outcome, &error) != TB_OK)
    fail_msg("%s", error.text);
}

static void outcome_wait(outcome_t *outcome, tb_status_t expected)
{
  while (sem_wait(&outcome->done) != 0)
    ;
  assert_status(outcome->status, expected);
  assert_int_equal(outcome->calls, 1);
  sem_destroy(&outcome->done);
}

/* As many at once as a service keeps, of which a busy one loses none. */
static void test_calls_without_waiting(void **state)
{
  (void)state;
  peer_t peer;
  outcome_t outcomes[10];
  serve(&peer, "echo");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  for (uint64_t number = 100; number < 150; number += 10) {
    for (uint64_t i = 0; i < 10; i++)
      call_async(&outcomes[i], number + i, LIMIT);
    for (uint64_t i = 0; i < 10; i++) {
      outcome_wait(&outcomes[i], TB_OK);
      assert_true(outcomes[i].number == number + i);
    }
  }
  peer_skip_requests(&peer, 50);
  peer_stop(&peer);
}

static void test_a_service_that_does_not_answer_runs_into_the_limit(void **state)
{
  (void)state;
  peer_t peer;
  outcome_t outcome, open;
  uint8_t message[16];
  tb_ros2_response_t response;
  serve(&peer, "silent");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  message_fill(message, 1);
  assert_status(
      tb_ros2_client_call(client, message, 16, WITHIN((tb_duration_t){50000000}), &response, NULL),
      TB_ERR_TIMEOUT);
  peer_skip_requests(&peer, 1);
  call_async(&open, 2, LIMIT);
  call_async(&outcome, 3, (tb_duration_t){50000000});
  outcome_wait(&outcome, TB_ERR_TIMEOUT);
  peer_skip_requests(&peer, 2);
  tb_ros2_client_destroy(client); /* with a request open */
  client = NULL;
  outcome_wait(&open, TB_ERR_CLOSED);
  peer_stop(&peer);
}

static void test_answers_in_any_order(void **state)
{
  (void)state;
  peer_t peer;
  outcome_t outcomes[3];
  serve(&peer, "late");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  for (uint64_t i = 0; i < 3; i++)
    call_async(&outcomes[i], i, LIMIT);
  for (uint64_t i = 0; i < 2; i++) {
    outcome_wait(&outcomes[i], TB_OK);
    assert_true(outcomes[i].number == i);
  }
  peer_skip_requests(&peer, 3);
  peer_stop(&peer); /* with one that it never answers */
  outcome_wait(&outcomes[2], TB_ERR_CLOSED);
}

/* Here both hosts are one. */
static void test_when_a_call_was(void **state)
{
  (void)state;
  peer_t peer;
  uint8_t message[16];
  tb_ros2_response_t response = {0};
  tb_ros2_call_times_t times = {0};
  tb_time_t before = {0}, after = {0};
  tb_clock_t *system;
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  tb_error_t error = TB_ERROR_INIT;
  options.kind = TB_TIME_SYSTEM;
  assert_ok(tb_clock_create(&options, &system));
  serve(&peer, "echo");
  message_fill(message, 5);
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  assert_ok(tb_clock_now(system, &before));
  if (tb_ros2_client_call_timed(client, message, sizeof message, WITHIN(LIMIT), &response, &times,
                                &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_ok(tb_clock_now(system, &after));
  assert_true(before.ns <= times.asked_ns);
  assert_true(times.asked_ns <= times.replied_ns);
  assert_true(times.replied_ns <= times.received_ns);
  assert_true(times.received_ns <= after.ns);
  tb_ros2_response_release(&response);
  tb_clock_destroy(system);
  peer_stop(&peer);
}

static void *call_until_closed(void *out_status)
{
  uint8_t message[16];
  tb_ros2_response_t response;
  message_fill(message, 7);
  *(tb_status_t *)out_status =
      tb_ros2_client_call(client, message, sizeof message, WITHIN(LIMIT), &response, NULL);
  return NULL;
}

/* The old one is killed: it stays matched until its lease, which is short here, and the new one is
 * there before that. */
static void test_requests_in_flight_end_when_a_service_is_restarted(void **state)
{
  (void)state;
  peer_t old, new;
  pthread_t thread;
  tb_status_t status = TB_OK;
  outcome_t outcome;
  serve_on_short_lease(&old, "silent");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  assert_int_equal(pthread_create(&thread, NULL, call_until_closed, &status), 0);
  peer_skip_requests(&old, 1);
  call_async(&outcome, 8, LIMIT);
  peer_skip_requests(&old, 1);
  assert_int_equal(kill(old.pid, SIGKILL), 0);
  assert_int_equal(waitpid(old.pid, NULL, 0), old.pid);
  close(old.in);
  close(old.out);
  serve(&new, "echo");
  pthread_join(thread, NULL);
  assert_status(status, TB_ERR_CLOSED);
  outcome_wait(&outcome, TB_ERR_CLOSED);
  assert_echo(9);
  peer_skip_requests(&new, 1);
  peer_stop(&new);
}

static void send_garbage(const char *topic, const char *type)
{
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  uint8_t bytes[64];
  qos.avoid_ros_namespace_conventions = true;
  qos.depth = 1000;
  srand(4);
  assert_ok(tb_ros2_publisher_create(context, topic, type, &qos, &publisher, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  for (size_t size = 4; size < sizeof bytes; size++) {
    for (size_t i = 0; i < size; i++)
      bytes[i] = (uint8_t)rand();
    memcpy(bytes, "\0\1\0\0", 4);
    assert_ok(tb_ros2_publisher_publish(publisher, bytes, size, NULL));
  }
  assert_ok(tb_ros2_publisher_wait_for_acks(publisher, WITHIN(LIMIT)));
  tb_ros2_publisher_destroy(publisher);
}

static void test_garbage_on_both_topics_is_harmless(void **state)
{
  (void)state;
  peer_t peer;
  serve(&peer, "echo");
  assert_echo(1);
  send_garbage("rq/echoRequest", TYPE "_Request");
  send_garbage("rr/echoReply", TYPE "_Response");
  assert_echo(2);
  peer_stop(&peer);
}

/* Sequence numbers are counted per process, so others use the same ones. */
static void test_answers_to_other_clients_are_ignored(void **state)
{
  (void)state;
  peer_t peer;
  outcome_t outcome;
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  uint8_t reply[24] = {0, 1, 0, 0, 77};
  qos.avoid_ros_namespace_conventions = true;
  serve(&peer, "silent");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  call_async(&outcome, 1, LIMIT);
  peer_skip_requests(&peer, 1);
  assert_ok(
      tb_ros2_publisher_create(context, "rr/echoReply", TYPE "_Response", &qos, &publisher, NULL));
  for (int64_t sequence = 1; sequence < 2000; sequence++) {
    memcpy(reply + 12, &sequence, sizeof sequence);
    assert_ok(tb_ros2_publisher_publish(publisher, reply, sizeof reply, NULL));
  }
  tb_ros2_publisher_destroy(publisher);
  peer_stop(&peer);
  outcome_wait(&outcome, TB_ERR_CLOSED);
}

/* Without serviceid and clientid, and with types from IDL. */
static void test_a_plain_cyclone_server_is_called(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_client_t *add;
  tb_ros2_response_t response;
  const char *const argv[] = {TB_ROS2_PEER, "serve-add", "add", "1", NULL};
  assert_ok(
      tb_ros2_client_create(context, "add", "example_interfaces/srv/AddTwoInts", NULL, &add, NULL));
  peer_start(&peer, argv);
  peer_expect_line(&peer, "ready");
  int64_t numbers[2] = {40, 2}, sum = 0;
  uint8_t request[20] = {0, 1, 0, 0};
  memcpy(request + 4, numbers, 16);
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_client_call(add, request, sizeof request, WITHIN(LIMIT), &response, &error) != TB_OK)
    fail_msg("%s", error.text);
  peer_expect_line(&peer, "add 40 2");
  assert_int_equal(response.size, 12);
  memcpy(&sum, (uint8_t *)response.cdr + 4, 8);
  assert_true(sum == 42);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(add);
  peer_stop(&peer);
}

static void answer_add(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  int64_t numbers[2], sum;
  uint8_t reply[12] = {0, 1, 0, 0};
  *(int64_t *)user = request->id.sequence;
  if (request->size != 20) return;
  memcpy(numbers, (const uint8_t *)request->cdr + 4, sizeof numbers);
  sum = numbers[0] + numbers[1];
  memcpy(reply + 4, &sum, sizeof sum);
  tb_ros2_service_reply(service, &request->id, reply, sizeof reply, NULL);
}

static void test_a_plain_cyclone_client_is_answered(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_service_t *service;
  int64_t sequence = 0;
  const char *const argv[] = {TB_ROS2_PEER, "call-add", "add", "20", "3", NULL};
  assert_ok(tb_ros2_service_create(context, "/add", "example_interfaces/srv/AddTwoInts", NULL,
                                   answer_add, &sequence, &service, NULL));
  peer_start(&peer, argv);
  peer_expect_line(&peer, "matched");
  peer_go_on(&peer);
  peer_expect_line(&peer, "sum 23");
  tb_ros2_service_destroy(service);
  assert_true(sequence == 5);
  peer_stop(&peer);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_calls_of_several_threads_get_their_own_answers, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_calls_without_a_service_report_it, setup, teardown),
      cmocka_unit_test_setup_teardown(test_when_a_call_was, setup, teardown),
      cmocka_unit_test_setup_teardown(test_when_a_call_was, setup, teardown),
      cmocka_unit_test_setup_teardown(test_calls_without_waiting, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_service_that_does_not_answer_runs_into_the_limit,
                                      setup, teardown),
      cmocka_unit_test_setup_teardown(test_answers_in_any_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_requests_in_flight_end_when_a_service_is_restarted,
                                      setup_apart, teardown),
      cmocka_unit_test_setup_teardown(test_garbage_on_both_topics_is_harmless, setup, teardown),
      cmocka_unit_test_setup_teardown(test_answers_to_other_clients_are_ignored, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_plain_cyclone_server_is_called, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_plain_cyclone_client_is_answered, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
