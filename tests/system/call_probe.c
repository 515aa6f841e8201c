/* Calls "/echo" of service_peer.c, for network_test.py:
 *
 *   ready                 there is a service
 *   called N STATUS       the answer to "call N LIMIT_NS" on standard input, which waits for the
 *                         response, and to "send N LIMIT_NS", which does not; calls overlap
 *
 * TB_OK only where the response is the request. Ends at the end of standard input, which must not
 * come while a "call" waits. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/timebase.h>

#define MESSAGE_SIZE 16

static tb_ros2_client_t *client;

typedef struct call {
  pthread_t thread;
  uint64_t number;
  int64_t limit_ns;
  uint8_t message[MESSAGE_SIZE];
} call_t;

static void call_end(call_t *call, tb_status_t status, const tb_ros2_response_t *response)
{
  bool wrong = status == TB_OK && (response->size != MESSAGE_SIZE ||
                                   memcmp(response->cdr, call->message, MESSAGE_SIZE) != 0);
  printf("called %" PRIu64 " %s\n", call->number, wrong ? "wrong" : tb_status_name(status));
  free(call);
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  call_end(user, status, response);
}

static void *call_run(void *argument)
{
  call_t *call = argument;
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status =
      tb_ros2_client_call(client, call->message, MESSAGE_SIZE,
                          &(tb_wait_options_t){.limit = {call->limit_ns}}, &response, NULL);
  call_end(call, status, &response);
  tb_ros2_response_release(&response);
  return NULL;
}

static void call_start(const char *arguments, bool waits)
{
  call_t *call = calloc(1, sizeof *call);
  char *end;
  if (!call) exit(3);
  call->number = strtoull(arguments, &end, 10);
  call->limit_ns = strtoll(end, NULL, 10);
  call->message[1] = 1; /* little endian */
  memcpy(call->message + 4, &call->number, sizeof call->number);
  if (!waits) {
    tb_status_t status =
        tb_ros2_client_call_async(client, call->message, MESSAGE_SIZE,
                                  (tb_duration_t){call->limit_ns}, on_response, call, NULL);
    if (status != TB_OK) call_end(call, status, NULL);
    return;
  }
  if (pthread_create(&call->thread, NULL, call_run, call)) exit(3);
  pthread_detach(call->thread);
}

int main(void)
{
  tb_ros2_context_t *context;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  char line[128];
  qos.depth = 1000;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_client_create(context, "/echo", "std_srvs/srv/Trigger", &qos, &client, &error) ||
      tb_ros2_client_wait_for_service(client, &(tb_wait_options_t){.limit = {60 * TB_NS_PER_S}})) {
    fprintf(stderr, "call_probe: no service: %s\n", error.text);
    return 3;
  }
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "call ", 5))
      call_start(line + 5, true);
    else if (!strncmp(line, "send ", 5))
      call_start(line + 5, false);
  }
  tb_ros2_client_destroy(client);
  tb_ros2_context_destroy(context);
  return 0;
}
