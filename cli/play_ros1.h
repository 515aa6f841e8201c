/* The graph of ROS 1 that is played to. */
#ifndef TB_CLI_PLAY_ROS1_H
#define TB_CLI_PLAY_ROS1_H

#include <timebase/clock.h>
#include <timebase/play_transport.h>

#include "play_arguments.h"

typedef struct play_ros1 {
  void *context;   /* tb_ros1_context_t */
  void *transport; /* tb_ros1_play_transport_t */
  tb_source_t *source;
  tb_clock_t *clock; /* that follows the graph's /clock; NULL: not wanted */
} play_ros1_t;

/* *out_to has no functions unless the transport is there. Close it either way. */
tb_status_t play_ros1_open(const play_arguments_t *arguments, play_ros1_t *out,
                           tb_play_transport_t *out_to, tb_error_t *error) TB_WARN_UNUSED;
void play_ros1_close(play_ros1_t *ros1);

#endif
