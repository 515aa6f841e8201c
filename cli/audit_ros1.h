/* `timebase audit --ros1`. */
#ifndef TB_CLI_AUDIT_ROS1_H
#define TB_CLI_AUDIT_ROS1_H

#include "command.h"

int audit_ros1_run(const command_t *command, int argc, char **argv);

#endif
