/* The names in the arguments of `timebase record`. */
#ifndef TB_CLI_RECORD_NAMES_H
#define TB_CLI_RECORD_NAMES_H

#include "record_arguments.h"

/* EXIT_OK, or a message was printed: one of the types is none. */
int record_names_check_types(const command_t *command, const record_arguments_t *arguments);

/* Makes full names of topics, services and actions, as the node means them. EXIT_OK, or a message
 * was printed: ROS 2 does not allow one of the names. */
int record_names_resolve(const command_t *command, record_arguments_t *arguments,
                         const tb_ros2_node_t *node);

#endif
