/* /clock of a ROS 1 graph, for `timebase serve --ros1`. */
#ifndef TB_CLI_SERVE_ROS1_H
#define TB_CLI_SERVE_ROS1_H

#include <timebase/tick_sink.h>

#include "command.h"

typedef struct serve_ros1 {
  void *context;   /* tb_ros1_context_t */
  void *publisher; /* tb_ros1_clock_publisher_t */
} serve_ros1_t;

/* The node is "/clock_server", or NAME_SPACE/NODE. EXIT_OK, or a message has been printed. Close it
 * either way. */
int serve_ros1_open(const command_t *command, const char *node, const char *name_space,
                    const char *topic, serve_ros1_t *out, tb_tick_sink_t *out_sink);
void serve_ros1_close(serve_ros1_t *ros1);

#endif
