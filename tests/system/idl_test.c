/* Structs of idlc on one side, plain bytes on the other: services and topics between processes. */
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})
#define DOMAIN 37
#define ADD    "example_interfaces/srv/AddTwoInts"
#define POINT  "timebase_test/msg/Point"

static tb_ros2_context_t *context;
static tb_qos_t latched =
    TB_QOS_INIT_DEFAULT; /* nothing is lost, whichever side is discovered first */

/* 40 and 2 */
static const uint8_t request_little[] = "\0\1\0\0\x28\0\0\0\0\0\0\0\2\0\0\0\0\0\0";
static const uint8_t request_big[] = "\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\0\0\0\0\2";
static const uint8_t response_little[] = "\0\1\0\0\x2a\0\0\0\0\0\0";
static const uint8_t response_big[12] = "\0\0\0\0\0\0\0\0\0\0\0\x2a";
static const uint8_t point_little[] = "\0\1\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\x3f\3\0\0\0ab\0";
static const uint8_t point_big[] = "\0\0\0\0\x09\0\0\0\0\0\0\0\x3f\xf8\0\0\0\0\0\0\0\0\0\3ab\0";

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  latched.durability = TB_QOS_TRANSIENT_LOCAL;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_context_destroy(context);
  return 0;
}

static void assert_sum(tb_ros2_client_t *client, const void *request, size_t size)
{
  tb_ros2_response_t response;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_client_call(client, request, size, WITHIN(LIMIT), &response, &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_int_equal(response.size, sizeof response_little);
  assert_memory_equal(response.cdr, response_little, sizeof response_little);
  tb_ros2_response_release(&response);
}

static void expect_refusal(peer_t *peer, const char *text)
{
  char line[1024];
  peer_read_line(peer, line, sizeof line);
  if (strncmp(line, "refused ", 8) != 0 || !strstr(line, text)) fail_msg("%s", line);
}

static void ignore_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status;
  (void)response;
  (void)user;
}

static void test_a_client_of_bytes_calls_a_service_of_structs(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_client_t *client;
  peer_start(&peer, (const char *const[]){TB_IDL_PEER, "serve", "/add", NULL});
  peer_expect_line(&peer, "ready");
  assert_ok(tb_ros2_client_create(context, "/add", ADD, NULL, &client, NULL));
  assert_sum(client, request_little, sizeof request_little);
  peer_expect_line(&peer, "add 40 2");
  assert_sum(client, request_big, sizeof request_big - 1);
  peer_expect_line(&peer, "add 40 2");
  assert_ok(
      tb_ros2_client_call_async(client, request_little, 16, LIMIT, ignore_response, NULL, NULL));
  expect_refusal(
      &peer, "16 bytes at offset 12 are not a valid example_interfaces::srv::AddTwoInts_Request");
  assert_sum(client, request_little, sizeof request_little); /* it continues */
  peer_expect_line(&peer, "add 40 2");
  tb_ros2_client_destroy(client);
  peer_stop(&peer);
}

/* Answers in turn: little endian, big endian, cut. */
static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  int *count = user;
  if (request->size != sizeof request_little ||
      memcmp(request->cdr, request_little, sizeof request_little) != 0)
    return;
  const uint8_t *response = *count == 1 ? response_big : response_little;
  size_t size = *count == 2 ? 8 : sizeof response_little;
  ++*count;
  tb_ros2_service_reply(service, &request->id, response, size, NULL);
}

static void test_a_client_of_structs_calls_a_service_of_bytes(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_service_t *service;
  int count = 0;
  const char *const argv[] = {TB_IDL_PEER, "call", "/add", "40", "2", "40", "2", "40", "2", NULL};
  assert_ok(tb_ros2_service_create(context, "/add", ADD, NULL, answer, &count, &service, NULL));
  peer_start(&peer, argv);
  peer_expect_line(&peer, "sum 42");
  peer_expect_line(&peer, "sum 42");
  expect_refusal(
      &peer, "8 bytes at offset 4 are not a valid example_interfaces::srv::AddTwoInts_Response");
  peer_stop(&peer);
  tb_ros2_service_destroy(service);
  assert_int_equal(count, 3);
}

static void test_structs_on_both_sides(void **state)
{
  (void)state;
  peer_t server, client;
  const char *const argv[] = {TB_IDL_PEER, "call", "/both", "-5000000000", "1", NULL};
  peer_start(&server, (const char *const[]){TB_IDL_PEER, "serve", "/both", NULL});
  peer_expect_line(&server, "ready");
  peer_start(&client, argv);
  peer_expect_line(&server, "add -5000000000 1");
  peer_expect_line(&client, "sum -4999999999");
  peer_stop(&client);
  peer_stop(&server);
}

/* One that knows Cyclone DDS and its own types from IDL, and nothing of ours. */
static void test_structs_against_a_plain_cyclone_server(void **state)
{
  (void)state;
  peer_t server, client;
  peer_start(&client, (const char *const[]){TB_IDL_PEER, "call", "/plain", "20", "3", NULL});
  peer_start(&server, (const char *const[]){TB_ROS2_PEER, "serve-add", "plain", "1", NULL});
  peer_expect_line(&server, "ready");
  peer_expect_line(&server, "add 20 3");
  peer_expect_line(&client, "sum 23");
  peer_stop(&client);
  peer_stop(&server);
}

typedef struct arrived {
  sem_t done;
  uint8_t bytes[64];
  size_t size;
} arrived_t;

static void arrive(const tb_ros2_sample_t *sample, void *user)
{
  arrived_t *arrived = user;
  arrived->size = sample->size;
  if (sample->size <= sizeof arrived->bytes) memcpy(arrived->bytes, sample->cdr, sample->size);
  sem_post(&arrived->done);
}

static void test_a_published_struct_arrives_as_bytes(void **state)
{
  (void)state;
  peer_t peer;
  arrived_t arrived = {.size = 0};
  tb_ros2_subscription_t *subscription;
  tb_ros2_subscription_options_t options = {arrive, &arrived};
  sem_init(&arrived.done, 0, 0);
  assert_ok(tb_ros2_subscription_create(context, "/point", POINT, &latched, &options, &subscription,
                                        NULL));
  peer_start(&peer, (const char *const[]){TB_IDL_PEER, "publish", "/point", NULL});
  while (sem_wait(&arrived.done) != 0)
    ;
  assert_int_equal(arrived.size, sizeof point_little);
  assert_memory_equal(arrived.bytes, point_little, sizeof point_little);
  peer_stop(&peer);
  tb_ros2_subscription_destroy(subscription);
}

static void test_published_bytes_arrive_as_a_struct(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_publisher_t *publisher;
  peer_start(&peer, (const char *const[]){TB_IDL_PEER, "subscribe", "/point", NULL});
  peer_expect_line(&peer, "ready");
  assert_ok(tb_ros2_publisher_create(context, "/point", POINT, &latched, &publisher, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_publisher_publish(publisher, point_little, sizeof point_little, NULL));
  peer_expect_line(&peer, "point 9 1.5 ab");
  assert_ok(tb_ros2_publisher_publish(publisher, point_big, sizeof point_big - 1, NULL));
  peer_expect_line(&peer, "point 9 1.5 ab");
  assert_ok(tb_ros2_publisher_publish(publisher, point_little, 20, NULL));
  expect_refusal(&peer, "20 bytes at offset 20 are not a valid timebase_test::msg::Point");
  assert_ok(tb_ros2_publisher_publish(publisher, point_little, sizeof point_little, NULL));
  peer_expect_line(&peer, "point 9 1.5 ab");
  tb_ros2_publisher_destroy(publisher);
  peer_stop(&peer);
}

#ifdef TB_EXAMPLE
static void test_the_example(void **state)
{
  (void)state;
  int status;
  peer_t server, client;
  peer_start(&server, (const char *const[]){TB_EXAMPLE, NULL});
  peer_expect_line(&server, "add_two_ints: ready");
  peer_start(&client, (const char *const[]){TB_EXAMPLE, "40", "2", NULL});
  peer_expect_line(&server, "add_two_ints: 40 + 2");
  peer_expect_line(&client, "add_two_ints: 42");
  peer_stop(&client);
  assert_int_equal(kill(server.pid, SIGTERM), 0);
  assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(test_a_client_of_bytes_calls_a_service_of_structs),
      IN_CONTEXT(test_a_client_of_structs_calls_a_service_of_bytes),
      IN_CONTEXT(test_structs_on_both_sides),
      IN_CONTEXT(test_structs_against_a_plain_cyclone_server),
      IN_CONTEXT(test_a_published_struct_arrives_as_bytes),
      IN_CONTEXT(test_published_bytes_arrive_as_a_struct),
#ifdef TB_EXAMPLE
      IN_CONTEXT(test_the_example),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
