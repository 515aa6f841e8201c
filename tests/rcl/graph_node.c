/* graph_node NAME: a node on the graph whose only ROS clock is one of librcl. Prints "ready", "jump
 * FROM DELTA" after each jump of that clock (2 s forward or more), and "now TIME" for each line of
 * its input, with which it ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_node.h>

#include "standin.h"

static rcl_clock_t clock_of_node;

static void print_now(void)
{
  int64_t now_ns = 0;
  rcl_clock_get_now(&clock_of_node, &now_ns);
  printf("now %" PRId64 "\n", now_ns);
}

static void on_jump(const rcl_time_jump_t *jump, bool before_jump, void *user_data)
{
  int64_t *before_ns = user_data;
  if (before_jump)
    rcl_clock_get_now(&clock_of_node, before_ns);
  else
    printf("jump %" PRId64 " %" PRId64 "\n", *before_ns, jump->delta.nanoseconds);
}

static int run(const char *name)
{
  tb_ros2_context_t *context = NULL;
  tb_ros2_node_t *node = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char line[16];
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  if (!status) status = tb_ros2_node_create(context, name, "/", NULL, &node, &error);
  if (status) fprintf(stderr, "graph_node: %s\n", error.text);
  if (!status) puts("ready");
  while (!status && fgets(line, sizeof line, stdin))
    print_now();
  print_now();
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return status ? 1 : 0;
}

int main(int argc, char **argv)
{
  static int64_t before_ns;
  rcl_allocator_t allocator = standin_allocator();
  rcl_jump_threshold_t threshold = {true, {INT64_C(2000000000)}, {-1}};
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc != 2 || rcl_clock_init(RCL_ROS_TIME, &clock_of_node, &allocator) ||
      rcl_clock_add_jump_callback(&clock_of_node, threshold, on_jump, &before_ns))
    return 2;
  unsetenv("TIMEBASE_SOURCE"); /* what is linked here, of timebase, follows nothing */
  int result = run(argv[1]);
  int removed = rcl_clock_remove_jump_callback(&clock_of_node, on_jump, &before_ns);
  return rcl_clock_fini(&clock_of_node) || removed ? 1 : result;
}
