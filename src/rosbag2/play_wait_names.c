#include "rosbag2/play_wait_names.h"

#include <stdio.h>
#include <string.h>

static tb_status_t name_topic(const char *topic, char out[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  char dds[TB__DDS_NAME_SIZE];
  tb_status_t status = tb__topic_name_to_dds(topic, false, dds, error);
  if (!status) snprintf(out, TB__DDS_NAME_SIZE, "%s", dds + strlen("rt"));
  return status;
}

static tb_status_t name_node(const char *node, char out[TB__NODE_FULL_NAME_SIZE], tb_error_t *error)
{
  char space[TB__DDS_NAME_SIZE], full_space[TB__DDS_NAME_SIZE];
  if (!node) return tb__node_name_check(node, error);
  const char *slash = strrchr(node, '/');
  size_t length = slash ? (size_t)(slash - node) : 0;
  if (length >= sizeof space)
    return tb_error_set(error, TB_ERR_INVALID, "node '%.100s...': its namespace is too long", node);
  memcpy(space, node, length);
  space[length] = '\0';
  tb_status_t status = tb__namespace_normalize(space, full_space, error);
  if (!status) status = tb__node_name_check(slash ? slash + 1 : node, error);
  if (status) return status;
  snprintf(out, TB__NODE_FULL_NAME_SIZE, "%s%s%s", full_space, full_space[1] ? "/" : "",
           slash ? slash + 1 : node);
  return TB_OK;
}

tb_status_t tb__play_wait_names(const tb_ros2_play_wait_t *wait, tb__play_wait_names_t *out,
                                tb_error_t *error)
{
  tb_status_t status = name_topic(wait->topic, out->topic, error);
  if (!status) status = name_node(wait->node, out->node, error);
  if (!status && wait->lag.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "the lag of %s must not be negative", out->topic);
  return status;
}

tb_status_t tb_ros2_play_wait_check(const tb_ros2_play_wait_t *wait, tb_error_t *error)
{
  tb__play_wait_names_t names;
  if (!wait) return tb_error_set(error, TB_ERR_INVALID, "wait is NULL");
  return tb__play_wait_names(wait, &names, error);
}
