/* The process that measures a promise of the player: at the receipt of each message `now` of a node
 * that follows /clock is at least the message's log time, which is its stamp. It has a jump
 * handler, like a filter that resets itself.
 *
 *   now_peer COUNT
 *
 * It prints "ready" and "matched"; when COUNT messages have come on /reliable: "reliable N",
 * "best_effort N", "lost N" (ticks that DDS lost on the way), "violations N", "worst NS", and ends
 * with its stdin. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/jump.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "wire/clock_message.h"

#define LIMIT ((tb_duration_t){120 * TB_NS_PER_S})

static tb_clock_t *node_clock;
static long wanted;
static atomic_long reliable, best_effort, violations;
static _Atomic int64_t worst_ns;
static uint64_t ticks_seen; /* the number of the last one */
static atomic_long ticks_lost;
static sem_t complete;

static void on_tick(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  if (sample->sequence > ticks_seen) /* the first one has 1 */
    atomic_fetch_add(&ticks_lost, (long)(sample->sequence - ticks_seen - 1));
  ticks_seen = sample->sequence;
}

static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  int64_t stamp_ns = INT64_MAX;
  tb_time_t now = {0};
  if (tb_clock_now(node_clock, &now) != TB_OK) now.ns = 0;
  /* std_msgs/Header begins like rosgraph_msgs/Clock. */
  size_t size = sample->size < TB__CLOCK_MESSAGE_SIZE ? sample->size : TB__CLOCK_MESSAGE_SIZE;
  if (tb__clock_message_decode(sample->cdr, size, &stamp_ns)) stamp_ns = INT64_MAX;
  int64_t behind_ns = stamp_ns - now.ns;
  if (behind_ns > 0) {
    atomic_fetch_add(&violations, 1);
    int64_t worst = atomic_load(&worst_ns);
    while (behind_ns > worst && !atomic_compare_exchange_weak(&worst_ns, &worst, behind_ns))
      ;
  }
  long count = atomic_fetch_add((atomic_long *)user, 1) + 1;
  if (user == &reliable && count == wanted) sem_post(&complete);
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
}

static tb_jump_handler_t *watch_jumps(void)
{
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold = (tb_jump_threshold_t){{TB_NS_PER_S}, {-1}, true};
  options.after = on_jump;
  if (tb_jump_handler_create(node_clock, &options, &handler) != TB_OK) exit(1);
  return handler;
}

static void fail(const tb_error_t *error)
{
  fprintf(stderr, "now_peer: %s\n", error->text);
  exit(1);
}

static tb_ros2_node_t *open_node(tb_ros2_context_t *context)
{
  static const char *const argv[] = {"now_peer", "--ros-args", "-p", "use_sim_time:=true"};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_node_t *node = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.argc = 4;
  options.argv = argv;
  if (tb_ros2_node_create(context, "now_peer", "", &options, &node, &error) != TB_OK) fail(&error);
  return node;
}

static tb_ros2_subscription_t *subscribe(tb_ros2_node_t *node, const char *topic, const char *type,
                                         tb_qos_t qos, tb_ros2_subscription_callback_t callback,
                                         atomic_long *count)
{
  tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  tb_ros2_subscription_t *out = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.callback = callback;
  options.user = count;
  qos.depth = 1000;
  if (tb_ros2_node_create_subscription(node, topic, type, &qos, &options, &out, &error) != TB_OK)
    fail(&error);
  return out;
}

static void wait_for_clock(tb_ros2_node_t *node)
{
  tb_ros2_clock_source_status_t status = {0};
  while (tb_ros2_node_clock_source_status(node, &status) != TB_OK || status.matched == 0)
    usleep(1000);
}

int main(int argc, char **argv)
{
  if (argc != 2) return 2;
  wanted = atol(argv[1]);
  sem_init(&complete, 0, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail(&error);
  tb_ros2_node_t *node = open_node(context);
  node_clock = tb_ros2_node_clock(node);
  tb_jump_handler_t *handler = watch_jumps();
  const tb_qos_t reliable_qos = TB_QOS_INIT_DEFAULT, best_effort_qos = TB_QOS_INIT_CLOCK;
  static const char header[] = "std_msgs/msg/Header", tick[] = "rosgraph_msgs/msg/Clock";
  tb_ros2_subscription_t *all[] = {
      subscribe(node, "/reliable", header, reliable_qos, on_message, &reliable),
      subscribe(node, "/best_effort", header, best_effort_qos, on_message, &best_effort),
      subscribe(node, "/clock", tick, best_effort_qos, on_tick, NULL),
  };
  puts("ready");
  for (size_t i = 0; i < 3; i++)
    if (tb_ros2_subscription_wait_for_matched(all[i], 1, &(tb_wait_options_t){.limit = LIMIT}))
      return 1;
  wait_for_clock(node);
  puts("matched");
  while (sem_wait(&complete) != 0)
    ;
  printf("reliable %ld\nbest_effort %ld\nlost %ld\nviolations %ld\nworst %lld\n",
         atomic_load(&reliable), atomic_load(&best_effort), atomic_load(&ticks_lost),
         atomic_load(&violations), (long long)atomic_load(&worst_ns));
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  for (size_t i = 0; i < 3; i++)
    tb_ros2_subscription_destroy(all[i]);
  tb_jump_handler_destroy(handler);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}
