#include "ros2/node.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "clock/jump_wait.h"
#include "ros2/clock_source.h"
#include "ros2/context.h"
#include "wire/clock_message.h"

static tb_status_t names_choose(tb_ros2_node_t *node, const char *name, const char *name_space,
                                tb_error_t *error)
{
  char normal[TB__DDS_NAME_SIZE];
  tb_status_t status = tb__node_name_check(name, error);
  if (!status) status = tb__namespace_normalize(name_space, normal, error);
  if (!status)
    status = tb__arguments_node_name(node->own_arguments, node->arguments, name, node->name);
  if (!status)
    status = tb__arguments_node_namespace(node->own_arguments, node->arguments, node->name, normal,
                                          node->name_space);
  if (status) return status;
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

/* The node's clock reads system time until its parameters are applied. */
static tb_status_t time_open(tb_ros2_node_t *node, tb_error_t *error)
{
  static const tb_clock_options_t options = {TB_TIME_ROS, NULL};
  tb_status_t status =
      tb_ros2_node_resolve_topic_name(node, TB__CLOCK_TOPIC, node->clock_topic, error);
  if (status) return status;
  tb__node_time_init(&node->time, tb__ros2_context_sources(node->context), &node->announced,
                     node->clock_topic);
  status = tb_clock_create(&options, &node->clock);
  if (!status) status = tb__node_time_add(&node->time, node->clock);
  if (status)
    return tb_error_set(error, status, "clock of node '%s': %s", node->full_name,
                        tb_status_message(status));
  return TB_OK;
}

/* In a jump callback a clock can be created, but not destroyed if a later step fails. */
static tb_status_t may_create(const char *name, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  if (tb__is_forked())
    status = TB_ERR_FORKED;
  else if (tb__thread_may_not_wait())
    status = TB_ERR_DEADLOCK;
  if (!status) return TB_OK;
  return tb_error_set(error, status, "node '%s': %s", name ? name : "(null)",
                      tb_status_message(status));
}

tb_status_t tb_ros2_node_create_sized(tb_ros2_context_t *context, const char *name,
                                      const char *name_space, const tb_ros2_node_options_t *options,
                                      size_t options_size, tb_ros2_node_t **out, tb_error_t *error)
{
  if (!context || !name || !name_space || !out) return tb__null_argument(error, __func__);
  tb_ros2_node_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_node_options_t");
  static const tb_ros2_node_options_t defaults = TB_ROS2_NODE_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!context || !out) return tb_error_set(error, TB_ERR_INVALID, "node: context or out is NULL");
  tb_status_t status = may_create(name, error);
  if (status) return status;
  tb_ros2_node_t *node = calloc(1, sizeof *node);
  if (!node) return tb__no_memory_for(error, "node");
  node->context = context;
  if (!options->ignore_global_arguments) node->arguments = tb__ros2_context_arguments(context);
  status = tb__arguments_parse(options->argc, options->argv, &node->own_arguments, error);
  if (!status) status = names_choose(node, name, name_space, error);
  if (status) goto fail;
  tb__announced_node_init(&node->announced, tb__ros2_context_announcer(context), node->name,
                          node->name_space);
  status = time_open(node, error);
  if (!status) status = tb__node_parameters_open(node, options, error);
  if (!status && options->clock_activation == TB_ROS2_CLOCK_BY_PUBLISHER)
    status = tb__node_activation_open(node, options->deactivation_limit, error);
  if (!status) status = tb__announced_node_report(&node->announced, error);
  if (status) goto fail;
  *out = node;
  return TB_OK;
fail:
  tb_ros2_node_destroy(node);
  return status;
}

void tb_ros2_node_destroy(tb_ros2_node_t *node)
{
  if (!node) return;
  tb__announced_node_withdraw(&node->announced);
  tb__node_activation_close(node);
  tb__node_parameters_close(node);
  tb__node_time_fini(&node->time);
  tb_clock_destroy(node->clock);
  tb__announced_node_fini(&node->announced);
  tb__arguments_destroy(node->own_arguments);
  free(node);
}

const char *tb_ros2_node_name(const tb_ros2_node_t *node)
{
  if (!node) return NULL;
  return node->name;
}

const char *tb_ros2_node_namespace(const tb_ros2_node_t *node)
{
  if (!node) return NULL;
  return node->name_space;
}

const char *tb_ros2_node_fully_qualified_name(const tb_ros2_node_t *node)
{
  if (!node) return NULL;
  return node->full_name;
}

tb_ros2_context_t *tb_ros2_node_context(const tb_ros2_node_t *node)
{
  if (!node) return NULL;
  return node->context;
}

tb_clock_t *tb_ros2_node_clock(const tb_ros2_node_t *node)
{
  if (!node) return NULL;
  return node->clock;
}

tb_status_t tb_ros2_node_attach_clock(tb_ros2_node_t *node, tb_clock_t *clock)
{
  if (!node || !clock) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  return clock ? tb__node_time_add(&node->time, clock) : TB_ERR_INVALID;
}

tb_status_t tb_ros2_node_detach_clock(tb_ros2_node_t *node, tb_clock_t *clock)
{
  if (!node || !clock) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  if (!clock || clock == node->clock) return TB_ERR_INVALID;
  return tb__node_time_remove(&node->time, clock);
}

static tb_status_t ros2_node_clock_source_status(tb_ros2_node_t *node,
                                                 tb_ros2_clock_source_status_t *out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  return tb__node_time_status(&node->time, out);
}

tb_status_t tb_ros2_node_clock_source_status_sized(tb_ros2_node_t *node,
                                                   tb_ros2_clock_source_status_t *out,
                                                   size_t out_size)
{
  if (!node || !out) return TB_ERR_INVALID;
  tb_ros2_clock_source_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ros2_node_clock_source_status(node, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}
