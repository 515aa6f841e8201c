/* A node in a separate process: NAME in the root, of the distro that ROS_DISTRO names, with a
 * publisher of /clock. It prints "ready", and ends when its stdin does. */
#include <stdio.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_publisher_t *publisher;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  if (argc != 2) return 2;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_node_create(context, argv[1], "/", NULL, &node, &error) != TB_OK ||
      tb_ros2_node_create_publisher(node, "/clock", "rosgraph_msgs/msg/Clock", &qos, &publisher,
                                    &error) != TB_OK) {
    fprintf(stderr, "graph_peer: %s\n", error.text);
    return 1;
  }
  printf("ready\n");
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}
