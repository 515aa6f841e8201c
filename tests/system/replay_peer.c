/* The nodes of the test that records a running system and replays it. All of them follow /clock,
 * and end with their stdin.
 *
 *   replay_peer robot TOPIC PERIOD_NS [map]
 *
 * On a timer of ROS time it publishes std_msgs/msg/Header: the stamp is its clock's time, the frame
 * its number; with "map" on /map too, which is latched, at the first tick and after each jump back.
 * It prints "matched" when all of that has subscriptions, "sent N" as it continues, and at its end
 * "total N M" (TOPIC and /map), when all is acknowledged.
 *
 *   replay_peer operator
 *
 * Lines on stdin call the simulator's services: "state N", "step COUNT", "reset", each with a line
 * in return: "done RESULT", 1 for success.
 *
 *   replay_peer consumer TOPIC...
 *
 * It prints "watching" when it sees each jump, "matched" when all topics and /clock have
 * publishers, then "got TOPIC NUMBER STAMP_NS NOW_NS" for each message, with its clock's time at
 * receipt, and "jump KIND BEFORE_NS AFTER_NS DELTA_NS" for each jump. The lines "seek NS" and
 * "resume" on stdin go to the player ("done 1" for success). */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/jump.h>
#include <timebase/ros2_node.h>
#include <timebase/timer.h>
#include <unistd.h>

#include "wire/clock_message.h"

#define LIMIT       ((tb_duration_t){120 * TB_NS_PER_S})
#define HEADER_TYPE "std_msgs/msg/Header"
#define TOPICS      8
#define STAMP_SIZE  12 /* encapsulation, and the stamp: as rosgraph_msgs/msg/Clock */
#define LATCHED     "/map"
#define ACK_EVERY   8 /* fewer than the depth: none is overwritten */

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static tb_clock_t *node_clock;

static void check(tb_status_t status, const tb_error_t *error)
{
  if (status == TB_OK) return;
  fprintf(stderr, "replay_peer: %s\n", error->text[0] ? error->text : tb_status_message(status));
  exit(1);
}

static void open_node(const char *name)
{
  static const char *const argv[] = {"replay_peer", "--ros-args", "-p", "use_sim_time:=true"};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_error_t error = TB_ERROR_INIT;
  options.argc = 4;
  options.argv = argv;
  check(tb_ros2_context_create(NULL, &context, &error), &error);
  check(tb_ros2_node_create(context, name, "", &options, &node, &error), &error);
  node_clock = tb_ros2_node_clock(node);
}

static void wait_for_clock(void)
{
  tb_ros2_clock_source_status_t status = {0};
  while (tb_ros2_node_clock_source_status(node, &status) != TB_OK || status.matched == 0)
    usleep(1000);
}

static void watch_jumps(tb_jump_callback_t after)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = "replay_peer";
  options.threshold =
      (tb_jump_threshold_t){.min_forward = {TB_NS_PER_S}, .min_backward = {-1}, true};
  options.after = after;
  check(tb_jump_handler_create(node_clock, &options, &handler), &error);
}

/* --- robot --- */

typedef struct series {
  tb_ros2_publisher_t *publisher;
  atomic_long sent;
} series_t;

static series_t series, map;

static void publish(series_t *to)
{
  uint8_t message[STAMP_SIZE + 4 + 16] = {0, 1};
  char *frame = (char *)message + STAMP_SIZE + 4;
  tb_time_t now = {0};
  tb_error_t error = TB_ERROR_INIT;
  check(tb_clock_now(node_clock, &now), &error);
  uint32_t length = (uint32_t)snprintf(frame, 16, "%ld", atomic_fetch_add(&to->sent, 1)) + 1;
  int32_t sec = (int32_t)(now.ns / TB_NS_PER_S);
  uint32_t nanosec = (uint32_t)(now.ns % TB_NS_PER_S);
  memcpy(message + 4, &sec, sizeof sec);
  memcpy(message + 8, &nanosec, sizeof nanosec);
  memcpy(message + STAMP_SIZE, &length, sizeof length);
  check(tb_ros2_publisher_publish(to->publisher, message, STAMP_SIZE + 4 + length, &error), &error);
}

static void on_publish_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  tb_error_t error = TB_ERROR_INIT;
  (void)timer;
  (void)info;
  (void)user;
  publish(&series);
  if (atomic_load(&series.sent) % ACK_EVERY == 0)
    check(tb_ros2_publisher_wait_for_acks(series.publisher, &(tb_wait_options_t){.limit = LIMIT}),
          &error);
  printf("sent %ld\n", atomic_load(&series.sent));
}

static void on_robot_jump(const tb_jump_t *jump, void *user)
{
  (void)user;
  if (jump->kind == TB_JUMP_STARTED || jump->kind == TB_JUMP_BACKWARD) publish(&map);
}

static tb_timer_queue_t *start_timer(tb_timer_callback_t callback, int64_t period_ns)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = period_ns;
  options.callback = callback;
  check(tb_timer_queue_create(&queue), &error);
  check(tb_clock_timer_create(queue, node_clock, &options, &timer), &error);
  check(tb_timer_start(timer), &error);
  check(tb_timer_queue_start_thread(queue), &error);
  return queue;
}

static void make_publisher(series_t *to, const char *topic, bool is_latched)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  if (is_latched) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = 2 * ACK_EVERY;
  check(tb_ros2_node_create_publisher(node, topic, HEADER_TYPE, &qos, &to->publisher, &error),
        &error);
  check(tb_ros2_publisher_wait_for_matched(to->publisher, 1, &(tb_wait_options_t){.limit = LIMIT}),
        &error);
}

static void be_robot(const char *topic, int64_t period_ns, bool has_map)
{
  tb_error_t error = TB_ERROR_INIT;
  open_node(topic + 1);
  make_publisher(&series, topic, false);
  if (has_map) make_publisher(&map, LATCHED, true);
  puts("matched");
  if (has_map) watch_jumps(on_robot_jump);
  tb_timer_queue_t *queue = start_timer(on_publish_timer, period_ns);
  getchar();
  tb_timer_queue_destroy(queue);
  check(tb_ros2_publisher_wait_for_acks(series.publisher, &(tb_wait_options_t){.limit = LIMIT}),
        &error);
  if (has_map)
    check(tb_ros2_publisher_wait_for_acks(map.publisher, &(tb_wait_options_t){.limit = LIMIT}),
          &error);
  printf("total %ld %ld\n", atomic_load(&series.sent), atomic_load(&map.sent));
}

/* --- consumer --- */

static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  int64_t stamp_ns = -1;
  tb_time_t now = {0};
  tb_error_t error = TB_ERROR_INIT;
  check(tb_clock_now(node_clock, &now), &error);
  size_t size = sample->size < STAMP_SIZE ? sample->size : STAMP_SIZE;
  if (tb__clock_message_decode(sample->cdr, size, &stamp_ns)) stamp_ns = -1;
  printf("got %s %s %" PRId64 " %" PRId64 "\n", (const char *)user,
         (const char *)sample->cdr + STAMP_SIZE + 4, stamp_ns, now.ns);
}

static void on_consumer_jump(const tb_jump_t *jump, void *user)
{
  static const char *const kinds[] = {"", "forward", "backward", "change", "started"};
  (void)user;
  printf("jump %s %" PRId64 " %" PRId64 " %" PRId64 "\n", kinds[jump->kind], jump->before.ns,
         jump->after.ns, jump->delta.ns);
}

static tb_ros2_subscription_t *subscriptions[TOPICS];

static void subscribe(const char **topics, size_t count)
{
  tb_error_t error = TB_ERROR_INIT;
  for (size_t i = 0; i < count && i < TOPICS; i++) {
    tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
    tb_qos_t qos = TB_QOS_INIT_DEFAULT;
    qos.history = TB_QOS_KEEP_ALL;
    options.callback = on_message;
    options.user = (void *)(uintptr_t)topics[i];
    check(tb_ros2_node_create_subscription(node, topics[i], HEADER_TYPE, &qos, &options,
                                           &subscriptions[i], &error),
          &error);
  }
  for (size_t i = 0; i < count && i < TOPICS; i++)
    check(tb_ros2_subscription_wait_for_matched(subscriptions[i], 1,
                                                &(tb_wait_options_t){.limit = LIMIT}),
          &error);
}

/* The response's bool, or the byte of one without fields. */
static int call(const char *name, const char *type, const uint8_t *request, size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response;
  check(tb_ros2_client_create(context, name, type, NULL, &client, &error), &error);
  check(tb_ros2_client_wait_for_service(client, &(tb_wait_options_t){.limit = LIMIT}), &error);
  check(tb_ros2_client_call(client, request, size, &(tb_wait_options_t){.limit = LIMIT}, &response,
                            &error),
        &error);
  int answer = ((const uint8_t *)response.cdr)[4];
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  return answer;
}

static void carry_out(const char *line)
{
  uint8_t request[STAMP_SIZE] = {0, 1};
  if (strncmp(line, "seek ", 5) == 0) {
    int64_t time_ns = atoll(line + 5);
    int32_t sec = (int32_t)(time_ns / TB_NS_PER_S);
    uint32_t nanosec = (uint32_t)(time_ns % TB_NS_PER_S);
    memcpy(request + 4, &sec, sizeof sec);
    memcpy(request + 8, &nanosec, sizeof nanosec);
    printf("done %d\n",
           call("/rosbag2_player/seek", "rosbag2_interfaces/srv/Seek", request, sizeof request));
  } else {
    call("/rosbag2_player/resume", "rosbag2_interfaces/srv/Resume", request, 8);
    puts("done 1");
  }
}

static int simulate(const char *what, const char *name, const char *type, uint8_t argument)
{
  uint8_t request[STAMP_SIZE] = {0, 1, 0, 0, argument};
  size_t size = strcmp(what, "step") == 0 ? sizeof request : 8;
  return call(name, type, request, size);
}

/* Of the clock server: 1 is success. */
static void operate(const char *line)
{
  char what[16] = "";
  unsigned argument = 0;
  int result = -1;
  sscanf(line, "%15s %u", what, &argument);
  if (strcmp(what, "state") == 0)
    result = simulate(what, "/set_simulation_state", "simulation_interfaces/srv/SetSimulationState",
                      (uint8_t)argument);
  else if (strcmp(what, "step") == 0)
    result = simulate(what, "/step_simulation", "simulation_interfaces/srv/StepSimulation",
                      (uint8_t)argument);
  else if (strcmp(what, "reset") == 0)
    result = simulate(what, "/reset_simulation", "simulation_interfaces/srv/ResetSimulation", 0);
  printf("done %d\n", result);
}

static void be_operator(void)
{
  char line[64];
  open_node("operator");
  puts("ready");
  while (fgets(line, sizeof line, stdin))
    operate(line);
}

static void on_idle_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
}

/* With a timer, as nodes have them: most ticks make it due. */
static void be_consumer(const char **topics, size_t count)
{
  char line[64];
  open_node("consumer");
  watch_jumps(on_consumer_jump);
  puts("watching");
  start_timer(on_idle_timer, TB_NS_PER_S / 100);
  subscribe(topics, count);
  wait_for_clock();
  puts("matched");
  while (fgets(line, sizeof line, stdin))
    carry_out(line);
  for (size_t i = 0; i < TOPICS; i++)
    tb_ros2_subscription_destroy(subscriptions[i]);
}

int main(int argc, char **argv)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  if ((argc == 4 || argc == 5) && strcmp(argv[1], "robot") == 0)
    be_robot(argv[2], atoll(argv[3]), argc == 5);
  else if (argc == 2 && strcmp(argv[1], "operator") == 0)
    be_operator();
  else if (argc > 2 && strcmp(argv[1], "consumer") == 0)
    be_consumer((const char **)argv + 2, (size_t)argc - 2);
  else
    return 2;
  return 0;
}
