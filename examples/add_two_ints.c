/* A ROS 2 service and its client, with structs made from idl/AddTwoInts.idl instead of bytes.
 *
 *   add_two_ints        serves /add_two_ints until SIGINT or SIGTERM
 *   add_two_ints A B    calls it and prints the sum
 *
 * The other side may be a ROS demo: `ros2 run demo_nodes_cpp add_two_ints_server`, or
 * `ros2 service call /add_two_ints example_interfaces/srv/AddTwoInts '{a: 1, b: 2}'`. Returns 1 if
 * the call fails, 3 if it cannot start. */
#include <AddTwoInts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_service.h>

#define SERVICE  "/add_two_ints"
#define TYPE     "example_interfaces/srv/AddTwoInts"
#define REQUEST  (&example_interfaces_srv_AddTwoInts_Request_desc)
#define RESPONSE (&example_interfaces_srv_AddTwoInts_Response_desc)
#define LIMIT    TB_SECONDS(10)

typedef example_interfaces_srv_AddTwoInts_Request request_t;
typedef example_interfaces_srv_AddTwoInts_Response response_t;

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *message, void *user)
{
  tb_error_t error = TB_ERROR_INIT;
  void *sample = NULL, *cdr = NULL;
  size_t size;
  (void)user;
  if (tb_ros2_idl_decode(REQUEST, message->cdr, message->size, &sample, &error) == TB_OK) {
    const request_t *request = sample;
    /* Unsigned, as the sum of received values may overflow. */
    response_t response = {.sum = (int64_t)((uint64_t)request->a + (uint64_t)request->b)};
    printf("add_two_ints: %lld + %lld\n", (long long)request->a, (long long)request->b);
    fflush(stdout);
    if (tb_ros2_idl_encode(RESPONSE, &response, &cdr, &size, &error) == TB_OK)
      tb_ros2_service_reply(service, &message->id, cdr, size, &error);
  }
  if (error.status != TB_OK) fprintf(stderr, "add_two_ints: %s\n", error.text);
  tb_ros2_idl_free(sample);
  tb_ros2_idl_free(cdr);
}

static int serve(tb_ros2_context_t *context, const sigset_t *ends, tb_error_t *error)
{
  int number;
  tb_ros2_service_t *service;
  if (tb_ros2_service_create(context, SERVICE, TYPE, NULL, on_request, NULL, &service, error))
    return 3;
  printf("add_two_ints: ready\n");
  fflush(stdout);
  sigwait(ends, &number);
  tb_ros2_service_destroy(service);
  return 0;
}

static int call(tb_ros2_context_t *context, const request_t *request, tb_error_t *error)
{
  int result = 1;
  void *cdr = NULL, *sample = NULL;
  size_t size;
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response = {NULL, 0};
  if (tb_ros2_client_create(context, SERVICE, TYPE, NULL, &client, error)) return 3;
  if (!tb_ros2_idl_encode(REQUEST, request, &cdr, &size, error) &&
      !tb_ros2_client_call(client, cdr, size, &(tb_wait_options_t){.limit = LIMIT}, &response,
                           error) &&
      !tb_ros2_idl_decode(RESPONSE, response.cdr, response.size, &sample, error)) {
    printf("add_two_ints: %lld\n", (long long)((response_t *)sample)->sum);
    result = 0;
  }
  tb_ros2_idl_free(sample);
  tb_ros2_response_release(&response);
  tb_ros2_idl_free(cdr);
  tb_ros2_client_destroy(client);
  return result;
}

int main(int argc, char **argv)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = NULL;
  sigset_t ends;
  int result = 3;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  if (argc == 1) sigprocmask(SIG_BLOCK, &ends, NULL); /* before any thread is started */
  if (tb_ros2_context_create(NULL, &context, &error) == TB_OK) {
    request_t request = {argc > 1 ? atoll(argv[1]) : 0, argc > 2 ? atoll(argv[2]) : 0};
    result = argc > 1 ? call(context, &request, &error) : serve(context, &ends, &error);
  }
  if (error.status != TB_OK) fprintf(stderr, "add_two_ints: %s\n", error.text);
  tb_ros2_context_destroy(context);
  return result;
}
