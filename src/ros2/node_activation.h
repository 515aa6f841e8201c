/* `use_sim_time` set by the presence of a publisher of /clock (X7, TB_ROS2_CLOCK_BY_PUBLISHER). */
#ifndef TB_ROS2_NODE_ACTIVATION_H
#define TB_ROS2_NODE_ACTIVATION_H

#include <timebase/ros2_node.h>

#include "platform/deadline.h"
#include "ros2/dispatch.h"
#include "ros2/shared_sources.h"

typedef struct tb__node_activation {
  tb_ros2_node_t *node; /* NULL: not in use */
  tb__shared_source_t *source;
  tb_clock_t *clock; /* keeps the subscription alive, whatever the node's clocks follow */
  tb__source_watcher_t watcher;
  tb__dispatch_member_t member;
  bool is_member;

  /* On the dispatch thread. */
  tb_duration_t limit;
  tb__deadline_t off; /* once vanished: when it is switched off unless a publisher appears */
  bool present, vanished;
  uint32_t appearance; /* the appearance that last switched it on */
} tb__node_activation_t;

/* Starts watching. `limit`: deactivation_limit of tb_ros2_node_options_t. */
TB_WARN_UNUSED tb_status_t tb__node_activation_open(tb_ros2_node_t *node, tb_duration_t limit,
                                                    tb_error_t *error);
/* Does nothing if it was not opened. */
void tb__node_activation_close(tb_ros2_node_t *node);

#endif
