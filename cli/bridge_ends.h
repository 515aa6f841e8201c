/* The two nodes of a bridge, which have one name: that of ROS 1 and that of ROS 2. */
#ifndef TB_CLI_BRIDGE_ENDS_H
#define TB_CLI_BRIDGE_ENDS_H

#include <timebase/ros1_context.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/steady_clock.h>

#include "command.h"

typedef enum bridge_side { BRIDGE_ROS1 = 0, BRIDGE_ROS2 = 1, BRIDGE_UNDECIDED = 2 } bridge_side_t;

/* "ROS 1", "ROS 2"; "ros1", "ros2". */
const char *bridge_side_name(bridge_side_t side);
const char *bridge_side_word(bridge_side_t side);
bridge_side_t bridge_other_side(bridge_side_t side);

typedef struct bridge_ends {
  const command_t *command;
  tb_ros1_context_t *ros1;
  tb_ros2_context_t *ros2;
  tb_ros2_node_t *node; /* of ROS 2 */
  tb_ros2_graph_t *graph;
  tb_steady_clock_t *steady;
  int64_t end_ns; /* until when the master is waited for at the end; 0: the end has not begun */
} bridge_ends_t;

typedef struct bridge_place {
  const char *node, *name_space; /* NULL: a name that no other bridge has, in the root */
  int domain;                    /* -1: ROS_DOMAIN_ID */
} bridge_place_t;

/* EXIT_OK, or a message has been printed. Close it either way. */
int bridge_ends_open(const command_t *command, const bridge_place_t *place, bridge_ends_t *out);
void bridge_ends_close(bridge_ends_t *ends);

/* Another node of ROS 1, "NAME_latched_2" and so on. Not from the threads of the graphs; destroy it
 * before the bridge's. */
tb_status_t bridge_ends_open_extra(const bridge_ends_t *ends, tb_ros1_context_t **out,
                                   tb_error_t *error);
/* Once, before nodes are closed: a master that does not answer delays the end of all of them
 * together by a few seconds, not that of each. */
void bridge_ends_begin_end(bridge_ends_t *ends);
/* NULL: does nothing. */
void bridge_ends_close_ros1(const bridge_ends_t *ends, tb_ros1_context_t *context);
/* Whether `name` is `own` or that of such a node. */
bool bridge_is_own_name(const char *own, const char *name);

/* Steady time. */
int64_t bridge_now_ns(const bridge_ends_t *ends);

/* EXIT_USAGE for what the library calls invalid, else EXIT_IO; prints the message. */
int bridge_refused(const command_t *command, tb_status_t status, const tb_error_t *error);

#endif
