#include "ros2/node.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fork.h"
#include "ros2/context.h"

static tb_status_t names_choose(tb_ros2_node_t *node, const char *name, const char *name_space,
                                tb_error_t *error)
{
  tb_status_t status = tb__node_name_check(name, error);
  if (status == TB_OK) status = tb__namespace_normalize(name_space, node->name_space, error);
  if (status != TB_OK) return status;
  snprintf(node->name, sizeof node->name, "%s", name);
  const char *between = node->name_space[1] ? "/" : "";
  int length = snprintf(node->full_name, sizeof node->full_name, "%s%s%s", node->name_space,
                        between, node->name);
  if (length >= (int)sizeof node->full_name)
    return tb_error_set(error, TB_ERR_INVALID,
                        "node '%s' in namespace '%s': together they must not be longer than %d "
                        "characters",
                        node->name, node->name_space, TB__DDS_NAME_SIZE - 1);
  return TB_OK;
}

tb_status_t tb_ros2_node_create(tb_ros2_context_t *context, const char *name,
                                const char *name_space, const tb_ros2_node_options_t *options,
                                tb_ros2_node_t **out, tb_error_t *error)
{
  static const tb_ros2_node_options_t defaults = TB_ROS2_NODE_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!context || !out) return tb_error_set(error, TB_ERR_INVALID, "node: no context");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "node: %s", tb_status_message(TB_ERR_FORKED));
  tb_ros2_node_t *node = calloc(1, sizeof *node);
  if (!node) return tb_error_set(error, TB_ERR_NO_MEMORY, "node: out of memory");
  node->context = context;
  tb_status_t status = names_choose(node, name, name_space, error);
  if (status != TB_OK) goto fail;
  tb__announced_node_init(&node->announced, tb__ros2_context_announcer(context), node->name,
                          node->name_space);
  status = tb__announced_node_tell(&node->announced, error);
  if (status != TB_OK) goto fail;
  *out = node;
  return TB_OK;
fail:
  tb_ros2_node_destroy(node);
  return status;
}

void tb_ros2_node_destroy(tb_ros2_node_t *node)
{
  if (!node) return;
  tb__announced_node_take_back(&node->announced);
  tb__announced_node_fini(&node->announced);
  free(node);
}

const char *tb_ros2_node_name(const tb_ros2_node_t *node)
{
  return node->name;
}

const char *tb_ros2_node_namespace(const tb_ros2_node_t *node)
{
  return node->name_space;
}

const char *tb_ros2_node_fully_qualified_name(const tb_ros2_node_t *node)
{
  return node->full_name;
}

tb_ros2_context_t *tb_ros2_node_context(const tb_ros2_node_t *node)
{
  return node->context;
}
