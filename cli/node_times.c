#include "node_times.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter_client.h>

static const char *const sim_time_names[SIM_TIME_COUNT] = {
    [SIM_TIME_NO_PARAMETERS] = "no parameters",
    [SIM_TIME_NO_ANSWER] = "no answer",
    [SIM_TIME_AMBIGUOUS] = "ambiguous",
    [SIM_TIME_UNSET] = "unset",
    [SIM_TIME_FALSE] = "false",
    [SIM_TIME_TRUE] = "true",
};

typedef struct query {
  const graph_view_t *view;
  int64_t until_ns;   /* steady */
  node_time_t *times; /* of each node */
} query_t;

static sim_time_t sim_time_of(const tb_ros2_parameter_value_t *value)
{
  if (value->type != TB_ROS2_PARAMETER_BOOL) return SIM_TIME_UNSET;
  return value->bool_value ? SIM_TIME_TRUE : SIM_TIME_FALSE;
}

/* What is left of the limit. */
static tb_duration_t limit_of(const query_t *query)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(query->view->steady, &now);
  return (tb_duration_t){query->until_ns > now.ns ? query->until_ns - now.ns : 1};
}

static tb_status_t get(const query_t *query, tb_ros2_parameter_client_t *client, const char *name,
                       tb_ros2_parameter_value_t *out)
{
  size_t count = 0;
  return tb_ros2_parameter_client_get(
      client, &name, 1, &(tb_wait_options_t){.limit = limit_of(query)}, out, &count, NULL);
}

static bool has_parameter(const query_t *query, tb_ros2_parameter_client_t *client,
                          const char *name)
{
  tb_ros2_parameter_list_t list = {0};
  bool found = false;
  tb_status_t status = tb_ros2_parameter_client_list(
      client, &name, 1, 1, &(tb_wait_options_t){.limit = limit_of(query)}, &list, NULL);
  for (size_t i = 0; !status && i < list.name_count && !found; i++)
    found = strcmp(list.names[i], name) == 0;
  tb_ros2_parameter_list_release(&list);
  return found;
}

static char *time_source_of(const query_t *query, tb_ros2_parameter_client_t *client)
{
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  char *source = NULL;
  if (!has_parameter(query, client, "time_source")) return NULL;
  if (get(query, client, "time_source", &value) == TB_OK && value.type == TB_ROS2_PARAMETER_STRING)
    source = strdup(value.string_value);
  tb_ros2_parameter_value_release(&value);
  return source;
}

/* A node of rclpy logs a warning when it is asked for a parameter that it has not declared. Every
 * node of rclcpp and rclpy has use_sim_time, but time_source is one of ours. */
static void query_nodes(size_t index, void *user)
{
  const query_t *query = user;
  const char *node = query->view->snapshot->nodes[index].full_name;
  node_time_t *time = &query->times[index];
  tb_ros2_parameter_client_t *client = NULL;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  if (time->sim_time != SIM_TIME_NO_ANSWER) return;
  tb_status_t status = tb_ros2_parameter_client_create(query->view->context, node, &client, NULL);
  if (!status) status = get(query, client, "use_sim_time", &value);
  if (!status) time->sim_time = sim_time_of(&value);
  if (!status && graph_view_has_service(query->view, node, "list_parameters"))
    time->source = time_source_of(query, client);
  tb_ros2_parameter_value_release(&value);
  tb_ros2_parameter_client_destroy(client);
}

int node_times_query(const graph_view_t *view, tb_duration_t limit, node_time_t **out_times)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(view->steady, &now);
  int64_t until_ns = limit.ns < INT64_MAX - now.ns ? now.ns + limit.ns : INT64_MAX;
  size_t count = view->snapshot->node_count;
  node_time_t *times = calloc(count + 1, sizeof *times);
  query_t query = {view, until_ns, times};
  *out_times = times;
  if (!times) return command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < count; i++) {
    bool has = graph_view_has_service(view, view->snapshot->nodes[i].full_name, "get_parameters");
    times[i].sim_time = has ? SIM_TIME_NO_ANSWER : SIM_TIME_NO_PARAMETERS;
    if (has && view->snapshot->nodes[i].is_duplicate) times[i].sim_time = SIM_TIME_AMBIGUOUS;
  }
  return graph_view_each(view, count, query_nodes, &query);
}

void node_times_release(const graph_view_t *view, node_time_t *times)
{
  for (size_t i = 0; times && i < view->snapshot->node_count; i++)
    free(times[i].source);
  free(times);
}

const char *node_time_name(sim_time_t sim_time)
{
  return sim_time_names[sim_time];
}

bool node_time_is_default(const char *time_source)
{
  return !time_source || strcmp(time_source, "clock_topic") == 0;
}
