/* A ROS 2 node that works once a second of its time, with its own parameter.
 *
 *   node [--ros-args ARGUMENT...]
 *
 *   node --ros-args -r __node:=lidar -r __ns:=/front -p use_sim_time:=true -p gain:=0.5
 *
 * `ros2 node list`, `ros2 node info` and `ros2 param` see it, and so do `timebase nodes` and
 * `timebase param`. Set `use_sim_time` while it runs: the timer continues in the new time. Ends
 * with SIGINT or SIGTERM; returns 3 if it cannot start. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <timebase/ros2_node.h>
#include <timebase/timebase.h>

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
  (void)number;
  ended = 1;
}

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)level, (void)user;
  fprintf(stderr, "node: %s\n", message);
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  tb_ros2_parameter_value_t gain;
  (void)timer;
  if (tb_ros2_node_get_parameter(user, "gain", &gain)) return;
  printf("node: %.3f gain %.2f\n", tb_time_to_seconds(info->actual), gain.double_value);
  fflush(stdout);
  tb_ros2_parameter_value_release(&gain);
}

/* Refuses negative values. A batch is set as a whole or not at all. */
static tb_status_t on_set(tb_ros2_node_t *node, const tb_ros2_parameter_t *parameters, size_t count,
                          void *user, tb_error_t *error)
{
  (void)node, (void)user;
  for (size_t i = 0; i < count; i++)
    if (parameters[i].value.type == TB_ROS2_PARAMETER_DOUBLE &&
        !(parameters[i].value.double_value >= 0))
      return tb_error_set(error, TB_ERR_INVALID, "%s must not be negative", parameters[i].name);
  return TB_OK;
}

static int run(tb_ros2_node_t *node)
{
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period = TB_SECONDS(1);
  options.callback = on_timer;
  options.user = node;
  if (tb_timer_queue_create(&queue) ||
      tb_timer_create(queue, tb_ros2_node_clock(node), &options, &timer) || tb_timer_start(timer)) {
    fprintf(stderr, "node: no timer\n");
    tb_timer_queue_destroy(queue);
    return 3;
  }
  printf("node: %s runs\n", tb_ros2_node_fully_qualified_name(node));
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
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_parameter_value_t gain = tb_ros2_parameter_double(1.0);
  struct sigaction action = {.sa_handler = on_signal};
  int result = 3;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  tb_log_set_hook(on_log, NULL);
  options.argc = argc;
  options.argv = (const char *const *)argv;
  if (tb_ros2_context_create(&options, &context, &error) ||
      tb_ros2_node_create(context, "example", "", NULL, &node, &error) ||
      tb_ros2_node_set_parameters_callback(node, on_set, NULL) ||
      tb_ros2_node_declare_parameter(node, "gain", &gain, NULL, &error))
    fprintf(stderr, "node: %s\n", error.text);
  else
    result = run(node);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return result;
}
