/* The inside of a node. */
#ifndef TB_ROS2_NODE_H
#define TB_ROS2_NODE_H

#include <timebase/ros2_node.h>

#include "ros2/announcer.h"
#include "ros2/names.h"

struct tb_ros2_node {
  tb_ros2_context_t *context;
  char name[TB__DDS_NAME_SIZE];
  char name_space[TB__DDS_NAME_SIZE];
  char full_name[TB__DDS_NAME_SIZE];
  tb__announced_node_t announced;
};

#endif
