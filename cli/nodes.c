#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter_client.h>

#include "nodes_show.h"
#include "text.h"

enum { OPTION_JSON = 256, OPTION_CHECK };

typedef struct arguments {
  bool json, check;
  graph_options_t graph;
} arguments_t;

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

/* Each for itself: a node that lacks one of several does not say which. */
static tb_status_t get(const query_t *query, tb_ros2_parameter_client_t *client, const char *name,
                       tb_ros2_parameter_value_t *out)
{
  size_t count = 0;
  tb_steady_time_t now = {0};
  tb_steady_clock_now(query->view->steady, &now);
  tb_duration_t limit = {query->until_ns > now.ns ? query->until_ns - now.ns : 1};
  tb_ros2_parameter_value_release(out);
  return tb_ros2_parameter_client_get(client, &name, 1, limit, out, &count, NULL);
}

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
  if (!status) status = get(query, client, "time_source", &value);
  if (!status && value.type == TB_ROS2_PARAMETER_STRING) time->source = strdup(value.string_value);
  tb_ros2_parameter_value_release(&value);
  tb_ros2_parameter_client_destroy(client);
}

static int ask_all(const graph_view_t *view, tb_duration_t limit, node_time_t *times)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(view->steady, &now);
  int64_t until_ns = limit.ns < INT64_MAX - now.ns ? now.ns + limit.ns : INT64_MAX;
  query_t query = {view, until_ns, times};
  size_t count = view->snapshot->node_count;
  for (size_t i = 0; i < count; i++) {
    bool has = graph_view_has_service(view, view->snapshot->nodes[i].full_name, "get_parameters");
    times[i].sim_time = has ? SIM_TIME_NO_ANSWER : SIM_TIME_NO_PARAMETERS;
    if (has && view->snapshot->nodes[i].is_duplicate) times[i].sim_time = SIM_TIME_AMBIGUOUS;
  }
  return graph_view_each(view, count, query_nodes, &query);
}

/* Who makes the time need not follow it. */
static bool publishes_clock(const nodes_t *nodes, size_t index)
{
  for (size_t i = 0; i < nodes->publisher_count; i++)
    if (nodes->publishers[i].node == (int32_t)index) return true;
  return false;
}

static int check_failed(const command_t *command, size_t count, const char *what)
{
  text_err("timebase %s: check failed: %s: %zu\n", command->name, what, count);
  return EXIT_CHECK;
}

static int check(const command_t *command, const nodes_t *nodes)
{
  size_t counts[SIM_TIME_COUNT] = {0};
  size_t others = 0;
  int result = EXIT_OK;
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++) {
    sim_time_t sim_time = nodes->times[i].sim_time;
    counts[sim_time]++;
    others +=
        (sim_time == SIM_TIME_FALSE || sim_time == SIM_TIME_UNSET) && !publishes_clock(nodes, i);
  }
  if (!nodes->view->snapshot->node_count) result = check_failed(command, 0, "nodes");
  if (counts[SIM_TIME_TRUE] && others)
    result = check_failed(command, others, "nodes on which use_sim_time is not true, as on others");
  if (counts[SIM_TIME_AMBIGUOUS])
    result = check_failed(command, counts[SIM_TIME_AMBIGUOUS], "nodes that share their name");
  if (counts[SIM_TIME_TRUE] && !nodes->publisher_count)
    result = check_failed(command, 0, "use_sim_time is true on nodes; publishers of /clock");
  if (nodes->publisher_count > 1)
    result =
        check_failed(command, nodes->publisher_count, "publishers of /clock, where one is right");
  if (counts[SIM_TIME_NO_ANSWER])
    result = check_failed(command, counts[SIM_TIME_NO_ANSWER], "nodes that do not answer");
  size_t mismatches = nodes_mismatch_count(nodes);
  if (mismatches)
    result = check_failed(command, mismatches,
                          "subscriptions of /clock that get nothing from a publisher");
  return result;
}

static int show(const command_t *command, const arguments_t *arguments, const graph_view_t *view,
                const node_time_t *times)
{
  nodes_t nodes = {.view = view, .times = times};
  int result = EXIT_OK;
  nodes.publisher_count = tb_ros2_graph_publishers(view->snapshot, "/clock", &nodes.publishers);
  nodes.subscription_count =
      tb_ros2_graph_subscriptions(view->snapshot, "/clock", &nodes.subscriptions);
  if (arguments->json)
    result = nodes_print_json(command, &nodes, EXIT_OK);
  else
    nodes_print(&nodes);
  command_flush();
  if (!arguments->json && !view->snapshot->node_count) graph_view_say_empty(view);
  if (!result && arguments->check) result = check(command, &nodes);
  return result;
}

static int list_seen(const command_t *command, const arguments_t *arguments,
                     const graph_view_t *view)
{
  size_t count = view->snapshot->node_count;
  node_time_t *times = calloc(count + 1, sizeof *times);
  if (!times) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = ask_all(view, arguments->graph.limit, times);
  if (!result) result = show(command, arguments, view, times);
  for (size_t i = 0; i < count; i++)
    free(times[i].source);
  free(times);
  return result;
}

static int list(const command_t *command, const arguments_t *arguments)
{
  graph_view_t view;
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = graph_view_look(&view, arguments->graph.wait, NULL, NULL);
  if (!result) result = list_seen(command, arguments, &view);
  graph_view_close(&view);
  return command_finish(command, result);
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"check", no_argument, NULL, OPTION_CHECK},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.graph = {.domain = -1, .limit = {2 * TB_NS_PER_S}}};
  int option, result = EXIT_OK;
  while (!result && (option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    switch (option) {
    case OPTION_JSON:
      arguments.json = true;
      break;
    case OPTION_CHECK:
      arguments.check = true;
      break;
    case 'h':
      return command_help(command);
    default:
      result = graph_options_take(command, option, argv, &arguments.graph);
    }
  }
  if (result) return result;
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  return list(command, &arguments);
}

const command_t command_nodes = {
    .name = "nodes",
    .summary = "list nodes, their use_sim_time and how /clock reaches them",
    .usage = "timebase nodes [--json] [--check] [--wait D] [--limit D] [--domain N]",
    .help =
        "Lists the nodes of a ROS 2 graph: name, the form of ROS 2 that they speak, use_sim_time,\n"
        "and the QoS of their subscriptions of /clock; then the publishers of /clock. Lines with "
        "!\n"
        "tell what is wrong: a publisher that a subscription gets nothing from, by the QoS "
        "policies\n"
        "that keep them apart, and nodes of one name. A time_source other than clock_topic is "
        "told\n"
        "below its node. All nodes are asked at once.\n\n"
        "  --json      one object: \"domain\", \"nodes\", \"clock_publishers\" and\n"
        "              \"other_clock_subscriptions\" (of programs without a node)\n"
        "  --check     status 1 if use_sim_time is true on some nodes and not on others (whoever\n"
        "              publishes /clock need not follow it), if nodes share a name, if a node "
        "does\n"
        "              not answer, if a subscription gets nothing from a publisher, if /clock has\n"
        "              several publishers, or none while use_sim_time is true; or without any "
        "node\n"
        "  --wait D    look at the graph for D (2, 1.5s); otherwise until nothing new has come\n"
        "              for 0.5 s (1 s while there are no nodes), at most 5 s\n"
        "  --limit D   wait at most D for the answers (default 2s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "use_sim_time is true, false, unset (the node has no such parameter), \"no answer\",\n"
        "\"ambiguous\" where nodes share a name, or \"no parameters\" where a node has no "
        "services\n"
        "for them, as some tools, or those of another middleware. In JSON it is true, false or\n"
        "null, and \"use_sim_time_state\" has the word. Each of \"nodes\" has \"name\", "
        "\"distro\",\n"
        "\"enclave\", \"duplicate\", \"time_source\" (null: no such parameter) and\n"
        "\"clock_subscriptions\": \"qos\", and \"mismatches\", each with \"publisher\" (index in\n"
        "\"clock_publishers\"), its \"node\" (null: plain DDS) and \"policies\".\n",
    .run = run,
};
