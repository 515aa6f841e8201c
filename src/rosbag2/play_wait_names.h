/* The names of what a player waits for. */
#ifndef TB_ROSBAG2_PLAY_WAIT_NAMES_H
#define TB_ROSBAG2_PLAY_WAIT_NAMES_H

#include <timebase/ros2_play_transport.h>

#include "wire/names.h"

/* A node's full name has 245 characters of a namespace, a '/' and up to 255 of its own. */
#define TB__NODE_FULL_NAME_SIZE 512

typedef struct tb__play_wait_names {
  char topic[TB__DDS_NAME_SIZE], node[TB__NODE_FULL_NAME_SIZE]; /* full: "odom" is "/odom" */
} tb__play_wait_names_t;

/* TB_ERR_INVALID with what is wrong. */
tb_status_t tb__play_wait_names(const tb_ros2_play_wait_t *wait, tb__play_wait_names_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;

#endif
