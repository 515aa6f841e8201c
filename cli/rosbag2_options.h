/* Options of `ros2 bag` that launch files use and that have no effect here, and --log-level. */
#ifndef TB_CLI_ROSBAG2_OPTIONS_H
#define TB_CLI_ROSBAG2_OPTIONS_H

#include "command.h"

/* The value, for getopt_long, of options that have no effect here. */
#define ROSBAG2_NO_EFFECT 0x1000
/* Of --log-level. */
#define ROSBAG2_LOG_LEVEL 0x1001

/* One of these two was found: a note that it has no effect, or messages below the level are not
 * shown from now on. EXIT_OK or EXIT_USAGE. */
int rosbag2_option(const command_t *command, int option);
bool is_rosbag2_option(int option);

#endif
