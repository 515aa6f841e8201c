/* `timebase param --ros1`: parameters of the master. */
#ifndef TB_CLI_PARAM_ROS1_H
#define TB_CLI_PARAM_ROS1_H

#include "command.h"

int param_ros1_run(const command_t *command, int argc, char **argv);

#endif
