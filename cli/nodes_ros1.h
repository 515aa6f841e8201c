/* `timebase nodes --ros1`, and parts of its JSON. */
#ifndef TB_CLI_NODES_ROS1_H
#define TB_CLI_NODES_ROS1_H

#include <jansson.h>

#include "command.h"

struct ros1_look;

int nodes_ros1_run(const command_t *command, int argc, char **argv);

/* Of a graph: an array, without the command's own node. */
json_t *nodes_ros1_json(const struct ros1_look *look);
/* "state" (unset, false, true, odd) and "value", as text. */
json_t *sim_time_ros1_json(const struct ros1_look *look);
/* What /clock was like. */
json_t *clock_ros1_json(const struct ros1_look *look);

#endif
