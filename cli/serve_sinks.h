/* Where `timebase serve` publishes. */
#ifndef TB_CLI_SERVE_SINKS_H
#define TB_CLI_SERVE_SINKS_H

#include <timebase/shm_publisher.h>
#include <timebase/tick_sink.h>

#include "command.h"

typedef struct serve_sinks {
  void *context;   /* tb_ros2_context_t */
  void *publisher; /* tb_ros2_clock_publisher_t */
  tb_shm_publisher_t *shm;
  tb_tick_sink_t sinks[2];
  size_t count;
} serve_sinks_t;

/* `topic`, `shm` may be NULL for none; `domain` -1: ROS_DOMAIN_ID. False: a message has been
 * printed. Close them either way. */
bool serve_sinks_open(const command_t *command, const char *topic, int domain, const char *shm,
                      serve_sinks_t *out);
void serve_sinks_close(serve_sinks_t *sinks);

#endif
