/* A program that takes and gives structs of idlc, through the public calls alone. It prints what
 * it sees, and ends when its stdin does.
 *
 *   serve SERVICE           AddTwoInts: "ready", then "add A B" each, or "refused TEXT"
 *   call SERVICE A B...     the other side, for each pair: "sum S", or "refused TEXT"
 *   publish TOPIC           a Point, once there is a subscription
 *   subscribe TOPIC         "ready", then "point ID X LABEL" each, or "refused TEXT" */
#include <dds/dds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "ros2_types.h"

#define LIMIT ((tb_duration_t){120 * TB_NS_PER_S})
#define ADD   "example_interfaces/srv/AddTwoInts"
#define POINT "timebase_test/msg/Point"

typedef example_interfaces_srv_AddTwoInts_Request add_request_t;
typedef example_interfaces_srv_AddTwoInts_Response add_response_t;
typedef timebase_test_msg_Point point_t;

static tb_error_t error = TB_ERROR_INIT;

static void check(tb_status_t status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "idl_peer: %s: %s\n", tb_status_name(status), error.text);
  exit(1);
}

static void wait_for_end(void)
{
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
}

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  tb_error_t refusal = TB_ERROR_INIT;
  void *sample, *cdr;
  size_t size;
  if (tb_ros2_idl_decode(&example_interfaces_srv_AddTwoInts_Request_desc, request->cdr,
                         request->size, &sample, &refusal) != TB_OK) {
    printf("refused %s\n", refusal.text);
    return;
  }
  const add_request_t *numbers = sample;
  add_response_t response = {.sum = numbers->a + numbers->b};
  printf("add %lld %lld\n", (long long)numbers->a, (long long)numbers->b);
  tb_ros2_idl_free(sample);
  check(tb_ros2_idl_encode(&example_interfaces_srv_AddTwoInts_Response_desc, &response, &cdr, &size,
                           &error));
  check(tb_ros2_service_reply(service, &request->id, cdr, size, &error));
  tb_ros2_idl_free(cdr);
}

static void serve(tb_ros2_context_t *context, const char *name)
{
  tb_ros2_service_t *service;
  check(tb_ros2_service_create(context, name, ADD, NULL, answer, NULL, &service, &error));
  printf("ready\n");
  wait_for_end();
  tb_ros2_service_destroy(service);
}

static void call(tb_ros2_client_t *client, long long a, long long b)
{
  add_request_t request = {.a = a, .b = b};
  tb_ros2_response_t response;
  void *cdr, *sample;
  size_t size;
  check(tb_ros2_idl_encode(&example_interfaces_srv_AddTwoInts_Request_desc, &request, &cdr, &size,
                           &error));
  check(tb_ros2_client_call(client, cdr, size, &(tb_wait_options_t){.limit = LIMIT}, &response,
                            &error));
  tb_ros2_idl_free(cdr);
  if (tb_ros2_idl_decode(&example_interfaces_srv_AddTwoInts_Response_desc, response.cdr,
                         response.size, &sample, &error) == TB_OK) {
    printf("sum %lld\n", (long long)((add_response_t *)sample)->sum);
    tb_ros2_idl_free(sample);
  } else {
    printf("refused %s\n", error.text);
  }
  tb_ros2_response_release(&response);
}

static void publish(tb_ros2_context_t *context, const char *topic)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  point_t point = {.id = 9, .x = 1.5, .label = "ab"};
  tb_ros2_publisher_t *publisher;
  void *cdr;
  size_t size;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  check(tb_ros2_publisher_create(context, topic, POINT, &qos, &publisher, &error));
  check(tb_ros2_publisher_wait_for_matched(publisher, 1, &(tb_wait_options_t){.limit = LIMIT}));
  check(tb_ros2_idl_encode(&timebase_test_msg_Point_desc, &point, &cdr, &size, &error));
  check(tb_ros2_publisher_publish(publisher, cdr, size, &error));
  tb_ros2_idl_free(cdr);
  check(tb_ros2_publisher_wait_for_acks(publisher, &(tb_wait_options_t){.limit = LIMIT}));
  wait_for_end();
  tb_ros2_publisher_destroy(publisher);
}

static void print_point(const tb_ros2_sample_t *message, void *user)
{
  (void)user;
  tb_error_t refusal = TB_ERROR_INIT;
  void *sample;
  if (tb_ros2_idl_decode(&timebase_test_msg_Point_desc, message->cdr, message->size, &sample,
                         &refusal) != TB_OK) {
    printf("refused %s\n", refusal.text);
    return;
  }
  const point_t *point = sample;
  printf("point %u %g %s\n", (unsigned)point->id, point->x, point->label);
  tb_ros2_idl_free(sample);
}

static void subscribe(tb_ros2_context_t *context, const char *topic)
{
  tb_ros2_subscription_t *subscription;
  tb_ros2_subscription_options_t options = {.callback = print_point};
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  check(tb_ros2_subscription_create(context, topic, POINT, &qos, &options, &subscription, &error));
  printf("ready\n");
  wait_for_end();
  tb_ros2_subscription_destroy(subscription);
}

int main(int argc, char **argv)
{
  tb_ros2_context_t *context;
  tb_ros2_client_t *client;
  if (argc < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  check(tb_ros2_context_create(NULL, &context, &error));
  if (strcmp(argv[1], "serve") == 0) {
    serve(context, argv[2]);
  } else if (strcmp(argv[1], "publish") == 0) {
    publish(context, argv[2]);
  } else if (strcmp(argv[1], "subscribe") == 0) {
    subscribe(context, argv[2]);
  } else {
    check(tb_ros2_client_create(context, argv[2], ADD, NULL, &client, &error));
    for (int i = 3; i + 1 < argc; i += 2)
      call(client, atoll(argv[i]), atoll(argv[i + 1]));
    wait_for_end();
    tb_ros2_client_destroy(client);
  }
  tb_ros2_context_destroy(context);
  return 0;
}
