/* The graph of ROS 1 that is recorded. */
#ifndef TB_CLI_RECORD_ROS1_H
#define TB_CLI_RECORD_ROS1_H

#include <timebase/ros2_recorder.h>

#define RECORD_ROS1_STORAGE "rosbag1"

typedef struct record_ros1 {
  void *context;  /* tb_ros1_context_t */
  void *recorder; /* tb_ros1_recorder_t */
} record_ros1_t;

/* What the options select, as far as a graph of ROS 1 has it. `node` NULL: a name that no other
 * has. TB_ERR_INVALID without a context: the node's name. Close it either way. */
tb_status_t record_ros1_open(const char *path, const char *node,
                             const tb_ros2_recorder_options_t *options, record_ros1_t *out,
                             tb_recorder_t **out_core, tb_error_t *error) TB_WARN_UNUSED;
tb_status_t record_ros1_stop(const record_ros1_t *ros1, tb_error_t *error) TB_WARN_UNUSED;
void record_ros1_close(record_ros1_t *ros1);

#endif
