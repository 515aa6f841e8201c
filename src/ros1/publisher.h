/* What publishers of topics share. */
#ifndef TB_ROS1_PUBLISHER_H
#define TB_ROS1_PUBLISHER_H

#include <timebase/ros1_publisher.h>

#include "ros1/context.h"

struct tb_ros1_publisher {
  tb_ros1_context_t *context;
  tb__ros1_publication_t publication;
};

#endif
