/* The internals of a node. */
#ifndef TB_ROS2_NODE_H
#define TB_ROS2_NODE_H

#include <timebase/ros2_node.h>

#include "ros2/announcer.h"
#include "ros2/arguments.h"
#include "ros2/node_activation.h"
#include "ros2/node_parameters.h"
#include "ros2/node_time.h"
#include "wire/names.h"

struct tb_ros2_node {
  tb_ros2_context_t *context;
  tb__arguments_t *own_arguments;
  const tb__arguments_t *arguments; /* the context's; NULL: ignored */
  char name[TB__DDS_NAME_SIZE];
  char name_space[TB__DDS_NAME_SIZE];
  char full_name[TB__DDS_NAME_SIZE];
  char clock_topic[TB__DDS_NAME_SIZE];
  tb__announced_node_t announced;
  tb_clock_t *clock;
  tb__node_time_t time;
  tb__node_parameters_t parameters;
  tb__node_activation_t activation;
};

#endif
