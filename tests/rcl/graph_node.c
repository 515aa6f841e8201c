/* graph_node NAME: a node on the graph whose only ROS clock is one of librcl. Prints "ready", and
 * ends when its input does. */
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "standin.h"

static int run(const char *name, rcl_clock_t *clock)
{
  tb_ros2_context_t *context = NULL;
  tb_ros2_node_t *node = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char byte;
  int64_t now_ns = 0;
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  if (!status) status = tb_ros2_node_create(context, name, "/", NULL, &node, &error);
  if (status) fprintf(stderr, "graph_node: %s\n", error.text);
  if (!status) puts("ready");
  fflush(stdout);
  while (!status && read(STDIN_FILENO, &byte, 1) > 0) {
  }
  rcl_clock_get_now(clock, &now_ns);
  printf("now %lld\n", (long long)now_ns);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return status ? 1 : 0;
}

int main(int argc, char **argv)
{
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t clock;
  if (argc != 2 || rcl_clock_init(RCL_ROS_TIME, &clock, &allocator)) return 2;
  unsetenv("TIMEBASE_SOURCE"); /* what is linked here, of timebase, follows nothing */
  int result = run(argv[1], &clock);
  return rcl_clock_fini(&clock) ? 1 : result;
}
