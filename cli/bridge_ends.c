#include "bridge_ends.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <timebase/generic.h>
#include <unistd.h>

#define NAME_SIZE 512
#define EXTRA     "_latched_"
#define END_NS    (5 * TB_NS_PER_S)

const char *bridge_side_name(bridge_side_t side)
{
  return side == BRIDGE_ROS1 ? "ROS 1" : "ROS 2";
}

const char *bridge_side_word(bridge_side_t side)
{
  return side == BRIDGE_ROS1 ? "ros1" : "ros2";
}

bridge_side_t bridge_other_side(bridge_side_t side)
{
  return side == BRIDGE_ROS1 ? BRIDGE_ROS2 : BRIDGE_ROS1;
}

int bridge_refused(const command_t *command, tb_status_t status, const tb_error_t *error)
{
  return status == TB_ERR_INVALID ? command_usage_error(command, "%s", error->text)
                                  : command_failed(command, status, error);
}

int64_t bridge_now_ns(const bridge_ends_t *ends)
{
  tb_steady_time_t now = {0};
  tb_now(ends->steady, &now);
  return now.ns;
}

/* "bridge_PID_TIME": a second node of a name would displace the first on ROS 1. */
static void make_name(const bridge_ends_t *ends, char *out, size_t size)
{
  snprintf(out, size, "bridge_%ld_%llx", (long)getpid(),
           (unsigned long long)bridge_now_ns(ends) & 0xffffffffffU);
}

static tb_status_t open_ros2(bridge_ends_t *ends, const bridge_place_t *place, const char *name,
                             tb_error_t *error)
{
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.has_domain_id = place->domain >= 0;
  options.domain_id = place->domain >= 0 ? place->domain : 0;
  tb_status_t status = tb_ros2_context_create(&options, &ends->ros2, error);
  if (!status)
    status = tb_ros2_node_create(ends->ros2, name, place->name_space ? place->name_space : "/",
                                 NULL, &ends->node, error);
  if (!status) status = tb_ros2_graph_create(ends->ros2, &ends->graph, error);
  return status;
}

int bridge_ends_open(const command_t *command, const bridge_place_t *place, bridge_ends_t *out)
{
  char name[NAME_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  *out = (bridge_ends_t){.command = command};
  tb_status_t status = tb_steady_clock_create(&out->steady);
  if (status) return command_failed(command, status, NULL);
  make_name(out, name, sizeof name);
  status = open_ros2(out, place, place->node ? place->node : name, &error);
  if (status) return bridge_refused(command, status, &error);
  options.node_name = tb_ros2_node_fully_qualified_name(out->node);
  status = tb_ros1_context_create(&options, &out->ros1, &error);
  return status ? bridge_refused(command, status, &error) : EXIT_OK;
}

tb_status_t bridge_ends_open_extra(const bridge_ends_t *ends, tb_ros1_context_t **out,
                                   tb_error_t *error)
{
  static atomic_uint count = 1;
  char name[NAME_SIZE];
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  snprintf(name, sizeof name, "%s" EXTRA "%u", tb_ros1_context_node_name(ends->ros1),
           atomic_fetch_add(&count, 1) + 1);
  options.node_name = name;
  return tb_ros1_context_create(&options, out, error);
}

bool bridge_is_own_name(const char *own, const char *name)
{
  size_t length = strlen(own);
  if (strncmp(own, name, length) != 0) return false;
  return !name[length] || strncmp(name + length, EXTRA, sizeof EXTRA - 1) == 0;
}

void bridge_ends_begin_end(bridge_ends_t *ends)
{
  ends->end_ns = bridge_now_ns(ends) + END_NS;
}

void bridge_ends_close_ros1(const bridge_ends_t *ends, tb_ros1_context_t *context)
{
  int64_t left_ns = ends->end_ns ? ends->end_ns - bridge_now_ns(ends) : END_NS;
  tb_ros1_context_destroy_telling(context, (tb_duration_t){left_ns});
}

void bridge_ends_close(bridge_ends_t *ends)
{
  bridge_ends_close_ros1(ends, ends->ros1);
  tb_ros2_graph_destroy(ends->graph);
  tb_ros2_node_destroy(ends->node);
  tb_ros2_context_destroy(ends->ros2);
  tb_steady_clock_destroy(ends->steady);
  *ends = (bridge_ends_t){.command = ends->command};
}
