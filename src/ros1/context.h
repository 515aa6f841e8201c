/* What the parts of a ROS 1 context share. */
#ifndef TB_ROS1_CONTEXT_H
#define TB_ROS1_CONTEXT_H

#include <timebase/ros1_context.h>

#include "ros1/node.h"
#include "ros1/slave_server.h"

struct tb_ros1_context {
  tb__ros1_loop_t loop;
  tb__ros1_node_t node;
  tb__slave_server_t server;
};

#endif
