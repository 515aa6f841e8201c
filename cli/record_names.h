/* The names in the arguments of `timebase record`. */
#ifndef TB_CLI_RECORD_NAMES_H
#define TB_CLI_RECORD_NAMES_H

#include "record_arguments.h"

/* EXIT_OK, or a message was printed: ROS 2 does not allow one of the names. */
int record_names_check(const command_t *command, const record_arguments_t *arguments);

#endif
