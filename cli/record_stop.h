/* The service ~/stop of `timebase record`, which ends the recording as SIGINT does. */
#ifndef TB_CLI_RECORD_STOP_H
#define TB_CLI_RECORD_STOP_H

#include <stdatomic.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_service.h>

#include "command.h"

typedef struct record_stop {
  tb_ros2_service_t *service; /* NULL: none */
  int pipe[2];
  atomic_bool is_asked;
} record_stop_t;

/* EXIT_OK, or a message was printed; close it either way, before the node. */
int record_stop_begin(record_stop_t *stop, const command_t *command, tb_ros2_node_t *node);
/* Accepts zeros. */
void record_stop_close(record_stop_t *stop);

/* Readable once the service was called; -1: there is none. */
int record_stop_fd(const record_stop_t *stop);

#endif
