/* A ROS 2 node that publishes a std_msgs/msg/String on /chatter once a second of its time.
 *
 *   talker [--ros-args ARGUMENT...]
 *
 *   talker --ros-args -r chatter:=words -p use_sim_time:=true    # and `timebase serve` beside it
 *
 * listener.c prints the messages, as does `ros2 topic echo /chatter`. Ends with SIGINT or SIGTERM;
 * returns 3 if it cannot start. */
#include <StringMessage.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_node.h>
#include <timebase/timebase.h>

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
  (void)number;
  ended = 1;
}

/* The text has the scheduled time of the call: it advances by whole periods, as a stamp in a header
 * should, however late the call is. */
static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  static int count;
  tb_error_t error = TB_ERROR_INIT;
  void *cdr = NULL;
  size_t size;
  char text[64];
  std_msgs_msg_String message = {.data = text};
  (void)timer;
  snprintf(text, sizeof text, "hello %d of %.3f", ++count, tb_time_to_seconds(info->scheduled));
  if (tb_ros2_idl_encode(&std_msgs_msg_String_desc, &message, &cdr, &size, &error) ||
      tb_ros2_publisher_publish(user, cdr, size, &error))
    fprintf(stderr, "talker: %s\n", error.text);
  tb_ros2_idl_free(cdr);
}

static int run(tb_ros2_node_t *node, tb_ros2_publisher_t *publisher)
{
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period = TB_SECONDS(1);
  options.callback = on_timer;
  options.user = publisher;
  if (tb_timer_queue_create(&queue) ||
      tb_timer_create(queue, tb_ros2_node_clock(node), &options, &timer) || tb_timer_start(timer)) {
    fprintf(stderr, "talker: no timer\n");
    tb_timer_queue_destroy(queue);
    return 3;
  }
  printf("talker: %s runs\n", tb_ros2_node_fully_qualified_name(node));
  fflush(stdout);
  struct pollfd fd = {tb_timer_queue_fd(queue), POLLIN, 0};
  while (!ended && (poll(&fd, 1, -1) >= 0 || errno == EINTR))
    tb_timer_queue_run_due(queue, NULL);
  tb_timer_queue_destroy(queue);
  return 0;
}

int main(int argc, char **argv)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = NULL;
  tb_ros2_node_t *node = NULL;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  struct sigaction action = {.sa_handler = on_signal};
  int result = 3;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  options.argc = argc;
  options.argv = (const char *const *)argv;
  if (tb_ros2_context_create(&options, &context, &error) ||
      tb_ros2_node_create(context, "talker", "", NULL, &node, &error) ||
      tb_ros2_node_create_publisher(node, "chatter", "std_msgs/msg/String", NULL, &publisher,
                                    &error))
    fprintf(stderr, "talker: %s\n", error.text);
  else
    result = run(node, publisher);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return result;
}
