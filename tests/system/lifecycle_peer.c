/* A lifecycle node, or a client of one, for lifecycle_test.py. On standard input:
 *
 *   node NAME ARGUMENT...        makes a node, with arguments of ROS
 *   lifecycle LIMIT_NS RUNNING   gives it a lifecycle; 0: no limit, -1: TB_NO_WAIT
 *   returns CALLBACK NUMBER      what on_configure and so on return from now on
 *   change NUMBER                asks for a transition here: "changed STATUS"
 *   then NUMBER                  the same in on_changed, once
 *   state                        "state NAME"
 *   destroy                      the lifecycle
 *   call TAG SERVICE TYPE HEX    calls a service without waiting for it: "answer TAG HEX", or a
 *                                status in place of the answer
 *   gone SERVICE TYPE            waits until it is not there any more, as seen from here
 *   events NODE                  prints "event HEX" for each message of its topic
 *   hash TOPIC                   "hash TYPE HASH RELIABILITY DURABILITY DEPTH" of its publisher
 *
 * Each line is answered with "ok". Callbacks print "on_configure STATE_BEFORE" and so on,
 * on_changed "now STATE", and what the library logs is "log TEXT". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/log.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_lifecycle.h>
#include <timebase/ros2_subscription.h>

#include "first_endpoint.h"

#define WORDS_MAX 16

enum { CONFIGURE, ACTIVATE, DEACTIVATE, CLEANUP, SHUTDOWN, ERROR, CALLBACKS };
static const char *const names[CALLBACKS] = {"on_configure", "on_activate", "on_deactivate",
                                             "on_cleanup",   "on_shutdown", "on_error"};

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static tb_ros2_lifecycle_t *lifecycle;
static _Atomic int results[CALLBACKS];
static _Atomic int then;

static void check(tb_status_t status, const tb_error_t *error)
{
  if (!status) return;
  fprintf(stderr, "lifecycle_peer: %s\n", error->text);
  exit(1);
}

static tb_ros2_lifecycle_return_t called(int callback, tb_ros2_lifecycle_state_t previous)
{
  printf("%s %s\n", names[callback], tb_ros2_lifecycle_state_name(previous));
  return (tb_ros2_lifecycle_return_t)results[callback];
}

#define CALLBACK(name, number)                                                                     \
  static tb_ros2_lifecycle_return_t name(tb_ros2_lifecycle_t *self,                                \
                                         tb_ros2_lifecycle_state_t previous, void *user)           \
  {                                                                                                \
    (void)self, (void)user;                                                                        \
    return called(number, previous);                                                               \
  }
CALLBACK(on_configure, CONFIGURE)
CALLBACK(on_activate, ACTIVATE)
CALLBACK(on_deactivate, DEACTIVATE)
CALLBACK(on_cleanup, CLEANUP)
CALLBACK(on_shutdown, SHUTDOWN)
CALLBACK(on_error, ERROR)

static void change(tb_ros2_lifecycle_t *self, int transition)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      tb_ros2_lifecycle_change_state(self, (tb_ros2_lifecycle_transition_t)transition, &error);
  printf("changed %s %s\n", tb_status_name(status), error.text);
}

static void on_changed(tb_ros2_lifecycle_t *self, tb_ros2_lifecycle_state_t state, void *user)
{
  (void)user;
  printf("now %s\n", tb_ros2_lifecycle_state_name(state));
  int next = then;
  then = 0;
  if (next) change(self, next);
}

static void make_lifecycle(char **words)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_lifecycle_options_t options = TB_ROS2_LIFECYCLE_OPTIONS_INIT;
  options.on_configure = on_configure;
  options.on_activate = on_activate;
  options.on_deactivate = on_deactivate;
  options.on_cleanup = on_cleanup;
  options.on_shutdown = on_shutdown;
  options.on_error = on_error;
  options.on_changed = on_changed;
  options.activation_limit.ns = atoll(words[1]);
  if (options.activation_limit.ns < 0) options.activation_limit = TB_NO_WAIT;
  options.waits_for_running = atoi(words[2]) != 0;
  for (int i = 0; i < CALLBACKS; i++)
    results[i] = TB_ROS2_LIFECYCLE_SUCCESS;
  check(tb_ros2_lifecycle_create(node, &options, &lifecycle, &error), &error);
}

static void make_node(char **words, size_t count)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  const char *argv[WORDS_MAX + 2] = {"peer", "--ros-args"};
  for (size_t i = 2; i < count; i++)
    argv[i] = words[i];
  options.argc = count > 2 ? (int)count : 0;
  options.argv = argv;
  check(tb_ros2_node_create(context, words[1], "/", &options, &node, &error), &error);
}

static void returns(char **words)
{
  for (int i = 0; i < CALLBACKS; i++)
    if (strcmp(words[1], names[i]) == 0) results[i] = atoi(words[2]);
}

/* ---- as a client ---- */

typedef struct call {
  char tag[32];
  tb_ros2_client_t *client;
  size_t size;
  uint8_t request[512];
} call_t;

static void print_hex(const char *begin, const void *bytes, size_t size)
{
  flockfile(stdout);
  printf("%s ", begin);
  for (size_t i = 0; i < size; i++)
    printf("%02x", ((const uint8_t *)bytes)[i]);
  printf("\n");
  funlockfile(stdout);
}

static void *ask(void *argument)
{
  call_t *call = argument;
  char begin[64];
  tb_ros2_response_t response = {0};
  const tb_wait_options_t options = {.limit = {100 * TB_NS_PER_S}};
  tb_status_t status =
      tb_ros2_client_call(call->client, call->request, call->size, &options, &response, NULL);
  snprintf(begin, sizeof begin, "answer %s", call->tag);
  if (status)
    printf("%s %s\n", begin, tb_status_name(status));
  else
    print_hex(begin, response.cdr, response.size);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(call->client);
  free(call);
  return NULL;
}

static void start_call(char **words)
{
  tb_error_t error = TB_ERROR_INIT;
  pthread_t thread;
  call_t *call = calloc(1, sizeof *call);
  if (!call) exit(1);
  snprintf(call->tag, sizeof call->tag, "%s", words[1]);
  for (const char *hex = words[4]; hex[0] && hex[1]; hex += 2) {
    unsigned byte = 0;
    sscanf(hex, "%2x", &byte);
    call->request[call->size++] = (uint8_t)byte;
  }
  check(tb_ros2_client_create(context, words[2], words[3], NULL, &call->client, &error), &error);
  if (pthread_create(&thread, NULL, ask, call)) exit(1);
  pthread_detach(thread);
}

static void wait_until_gone(char **words)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *client = NULL;
  check(tb_ros2_client_create(context, words[1], words[2], NULL, &client, &error), &error);
  while (tb_ros2_client_is_service_ready(client))
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  tb_ros2_client_destroy(client);
}

static void on_event(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  print_hex("event", sample->cdr, sample->size);
}

static void watch(const char *name)
{
  static tb_ros2_subscription_t *events;
  tb_error_t error = TB_ERROR_INIT;
  char topic[300];
  const tb_ros2_subscription_options_t options = {on_event, NULL};
  snprintf(topic, sizeof topic, "%s/transition_event", name);
  check(tb_ros2_subscription_create(context, topic, "lifecycle_msgs/msg/TransitionEvent", NULL,
                                    &options, &events, &error),
        &error);
  check(tb_ros2_subscription_wait_for_matched(events, 1, NULL), &error);
}

static void print_hash(const tb_ros2_graph_endpoint_t *writer)
{
  printf("hash %s %s %s %s %u\n", writer->type, writer->type_hash ? writer->type_hash : "none",
         writer->qos.reliability == TB_QOS_RELIABLE ? "reliable" : "best-effort",
         writer->qos.durability == TB_QOS_VOLATILE ? "volatile" : "latched", writer->qos.depth);
}

static void obey(char *line)
{
  char *words[WORDS_MAX] = {0}, *rest = NULL;
  size_t count = 0;
  for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS_MAX;
       word = strtok_r(NULL, " \n", &rest))
    words[count++] = word;
  if (!count) return;
  if (strcmp(words[0], "node") == 0)
    make_node(words, count);
  else if (strcmp(words[0], "lifecycle") == 0)
    make_lifecycle(words);
  else if (strcmp(words[0], "returns") == 0)
    returns(words);
  else if (strcmp(words[0], "change") == 0)
    change(lifecycle, atoi(words[1]));
  else if (strcmp(words[0], "then") == 0)
    then = atoi(words[1]);
  else if (strcmp(words[0], "state") == 0)
    printf("state %s\n", tb_ros2_lifecycle_state_name(tb_ros2_lifecycle_state(lifecycle)));
  else if (strcmp(words[0], "destroy") == 0) {
    tb_ros2_lifecycle_destroy(lifecycle);
    lifecycle = NULL;
  } else if (strcmp(words[0], "call") == 0)
    start_call(words);
  else if (strcmp(words[0], "gone") == 0)
    wait_until_gone(words);
  else if (strcmp(words[0], "events") == 0)
    watch(words[1]);
  else if (strcmp(words[0], "hash") == 0)
    with_first_endpoint(context, words[1], tb_ros2_graph_publishers, print_hash);
  else
    exit(2);
  printf("ok\n");
}

static void print_log(tb_log_level_t level, const char *text, void *user)
{
  (void)level, (void)user;
  printf("log %s\n", text);
}

int main(void)
{
  char line[2048];
  tb_error_t error = TB_ERROR_INIT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_log_set_hook(print_log, NULL);
  check(tb_ros2_context_create(NULL, &context, &error), &error);
  printf("ready\n");
  while (fgets(line, sizeof line, stdin))
    obey(line);
  _Exit(0); /* calls may be waiting */
}
