/* A ROS 2 node that prints each std_msgs/msg/String on /chatter, and the node's time.
 *
 *   listener [--ros-args ARGUMENT...]
 *
 *   listener --ros-args -r chatter:=words -p use_sim_time:=true    # and `timebase serve` beside it
 *
 * talker.c publishes to it, as does `ros2 topic pub /chatter std_msgs/msg/String 'data: hello'`.
 * Ends with SIGINT or SIGTERM; returns 3 if it cannot start. */
#include <StringMessage.h>
#include <signal.h>
#include <stdio.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_node.h>
#include <timebase/timebase.h>

/* On a receive thread: move long work to your own thread. Without a callback, messages wait for
 * tb_ros2_subscription_take. */
static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  tb_error_t error = TB_ERROR_INIT;
  void *message = NULL;
  tb_time_t now;
  if (tb_ros2_idl_decode(&std_msgs_msg_String_desc, sample->cdr, sample->size, &message, &error))
    fprintf(stderr, "listener: %s\n", error.text); /* invalid bytes from a publisher */
  else if (tb_now(tb_ros2_node_clock(user), &now) == TB_OK) {
    char text[256]; /* may be any bytes, which must not harm a terminal */
    tb_text_escape(((std_msgs_msg_String *)message)->data, text, sizeof text);
    printf("listener: '%s' at %.3f\n", text, tb_time_to_seconds(now));
  }
  fflush(stdout);
  tb_ros2_idl_free(message);
}

static tb_status_t listen_to(tb_ros2_node_t *node, tb_ros2_subscription_t **out, tb_error_t *error)
{
  const tb_ros2_subscription_options_t options = {on_message, node};
  return tb_ros2_node_create_subscription(node, "chatter", "std_msgs/msg/String", NULL, &options,
                                          out, error);
}

int main(int argc, char **argv)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = NULL;
  tb_ros2_node_t *node = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  sigset_t ends;
  int number, result = 3;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL); /* before any thread is started */
  options.argc = argc;
  options.argv = (const char *const *)argv;
  if (tb_ros2_context_create(&options, &context, &error) ||
      tb_ros2_node_create(context, "listener", "", NULL, &node, &error) ||
      listen_to(node, &subscription, &error)) {
    fprintf(stderr, "listener: %s\n", error.text);
  } else {
    printf("listener: %s runs\n", tb_ros2_node_fully_qualified_name(node));
    fflush(stdout);
    sigwait(&ends, &number);
    result = 0;
  }
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return result;
}
