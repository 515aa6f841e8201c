/* For threads that follow a graph. */
#ifndef TB_ROS2_GRAPH_H
#define TB_ROS2_GRAPH_H

#include <timebase/ros2_graph.h>

#include "base/private_api.h"

/* Makes tb_ros2_graph_wait_for_change return as if something had changed. */
TB_PRIVATE_API void tb__ros2_graph_wake(tb_ros2_graph_t *graph);

#endif
