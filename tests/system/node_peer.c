/* A node in a separate process, which takes a command per line and ends with its stdin:
 *
 *   node_peer NAME USE_SIM_TIME     "ready"; parameters "level" (an integer) and "stuck", which
 *                                   prints "stuck" and never returns when it is set
 *
 *   now                "now NANOSECONDS"
 *   clock              "clock MATCHED INVALID", of what it follows
 *   get NODE NAME      another node's integer or bool: "value N", or the name of the status
 *   graph              follows the graph from here on: "graph"
 *   seen               "seen NODES MALFORMED FOREIGN"
 *   simulation         serves simulation_interfaces, paused at 1 s: "simulation"
 *   time               of the server: "time NANOSECONDS" */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <timebase/clock_server.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_simulation_services.h>
#include <unistd.h>

#define LIMIT ((tb_duration_t){60 * TB_NS_PER_S})

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static tb_ros2_graph_t *graph;
static tb_clock_server_t *server;
static tb_ros2_simulation_services_t *services;

static tb_status_t on_set(tb_ros2_node_t *of, const tb_ros2_parameter_t *parameters, size_t count,
                          void *user, tb_error_t *error)
{
  (void)of, (void)user, (void)error;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(parameters[i].name, "stuck") != 0 || !parameters[i].value.bool_value) continue;
    printf("stuck\n");
    for (;;)
      pause();
  }
  return TB_OK;
}

static tb_status_t node_open(const char *name, bool use_sim_time, tb_error_t *error)
{
  const tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(use_sim_time)};
  tb_ros2_parameter_value_t zero = tb_ros2_parameter_integer(0),
                            off = tb_ros2_parameter_bool(false);
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  options.parameter_overrides = &sim_time;
  options.parameter_override_count = 1;
  tb_status_t status = tb_ros2_context_create(NULL, &context, error);
  if (status == TB_OK) status = tb_ros2_node_create(context, name, "/", &options, &node, error);
  if (status == TB_OK) status = tb_ros2_node_declare_parameter(node, "level", &zero, NULL, error);
  if (status == TB_OK) status = tb_ros2_node_declare_parameter(node, "stuck", &off, NULL, error);
  if (status == TB_OK) status = tb_ros2_node_set_parameters_callback(node, on_set, NULL);
  return status;
}

static tb_status_t print_clock(void)
{
  tb_ros2_clock_source_status_t of = {0};
  tb_status_t status = tb_ros2_node_clock_source_status(node, &of);
  if (status == TB_OK) printf("clock %u %" PRIu64 "\n", (unsigned)of.matched, of.invalid);
  return status;
}

static tb_status_t print_value(const char *of, const char *name)
{
  tb_ros2_parameter_client_t *client;
  tb_ros2_parameter_value_t value;
  size_t count = 0;
  tb_status_t status = tb_ros2_parameter_client_create(context, of, &client, NULL);
  if (status != TB_OK) return status;
  status = tb_ros2_parameter_client_get(client, &name, 1, &(tb_wait_options_t){.limit = LIMIT},
                                        &value, &count, NULL);
  tb_ros2_parameter_client_destroy(client);
  if (status != TB_OK) {
    printf("%s\n", tb_status_name(status));
    return TB_OK;
  }
  printf("value %" PRId64 "\n", count == 0                             ? -1
                                : value.type == TB_ROS2_PARAMETER_BOOL ? (int64_t)value.bool_value
                                                                       : value.integer_value);
  if (count > 0) tb_ros2_parameter_value_release(&value);
  return TB_OK;
}

static tb_status_t print_seen(void)
{
  const tb_ros2_graph_snapshot_t *snapshot;
  tb_status_t status = tb_ros2_graph_snapshot(graph, &snapshot, NULL);
  if (status != TB_OK) return status;
  printf("seen %zu %" PRIu64 " %" PRIu64 "\n", snapshot->node_count, snapshot->malformed,
         snapshot->foreign);
  tb_ros2_graph_snapshot_release(snapshot);
  return TB_OK;
}

static tb_status_t tick(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  (void)self, (void)time_ns, (void)reason, (void)error;
  return TB_OK;
}

static tb_status_t simulation_open(tb_error_t *error)
{
  static const tb_tick_sink_t sink = {tick, NULL};
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.start_ns = TB_NS_PER_S;
  options.start_paused = true;
  tb_status_t status = tb_clock_server_create(&options, &sink, 1, &server, error);
  if (status == TB_OK) status = tb_clock_server_start(server);
  if (status == TB_OK)
    status = tb_ros2_simulation_services_create(node, server, NULL, &services, error);
  if (status == TB_OK) printf("simulation\n");
  return status;
}

static tb_status_t handle_line(const char *line, tb_error_t *error)
{
  char of[256], name[256];
  tb_time_t now;
  tb_status_t status = TB_ERR_INVALID;
  if (strcmp(line, "now") == 0) {
    status = tb_clock_now(tb_ros2_node_clock(node), &now);
    if (status == TB_OK) printf("now %" PRId64 "\n", now.ns);
  } else if (strcmp(line, "clock") == 0) {
    status = print_clock();
  } else if (sscanf(line, "get %255s %255s", of, name) == 2) {
    status = print_value(of, name);
  } else if (strcmp(line, "graph") == 0) {
    status = tb_ros2_graph_create(context, &graph, error);
    if (status == TB_OK) printf("graph\n");
  } else if (strcmp(line, "seen") == 0) {
    status = print_seen();
  } else if (strcmp(line, "simulation") == 0) {
    status = simulation_open(error);
  } else if (strcmp(line, "time") == 0) {
    tb_clock_server_status_t of_server;
    tb_clock_server_status(server, &of_server);
    printf("time %" PRId64 "\n", of_server.time_ns);
    status = TB_OK;
  }
  return status;
}

int main(int argc, char **argv)
{
  char line[600];
  tb_error_t error = TB_ERROR_INIT;
  if (argc != 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_status_t status = node_open(argv[1], strcmp(argv[2], "true") == 0, &error);
  if (status == TB_OK) printf("ready\n");
  while (status == TB_OK && fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    status = handle_line(line, &error);
  }
  if (status != TB_OK) fprintf(stderr, "node_peer: %s %s\n", tb_status_name(status), error.text);
  tb_ros2_simulation_services_destroy(services);
  tb_clock_server_destroy(server);
  tb_ros2_graph_destroy(graph);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return status == TB_OK ? 0 : 1;
}
