#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_view.h"
#include "json.h"
#include "node_times.h"
#include "nodes_ros1.h"
#include "publishers.h"
#include "ros1_ticks.h"
#include "shared_times.h"
#include "text.h"
#include "unnamed.h"

#define PLAIN_DDS "no node (plain DDS)"
#define CLOCK     "/clock"

enum { OPTION_JSON = 256, OPTION_CHECK };

typedef struct arguments {
  bool json, check;
  graph_options_t graph;
} arguments_t;

typedef struct nodes {
  const graph_view_t *view;
  const node_time_t *times; /* of each node of the snapshot */
  shared_times_t shared;
  /* Of /clock, and of clocks under other names, which nodes may be remapped to. */
  const tb_ros2_graph_endpoint_t **publishers, **subscriptions;
  size_t publisher_count, subscription_count;
} nodes_t;

static const char *distro_name(tb_ros2_distro_t distro)
{
  return distro == TB_ROS2_DISTRO_HUMBLE ? "humble or older" : "iron or newer";
}

static bool is_clock(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_TOPIC &&
         (strcmp(endpoint->name, CLOCK) == 0 || strcmp(endpoint->type, CLOCK_TYPE) == 0);
}

/* /clock first, then by name, as the graph has them. */
static tb_status_t find_clocks(nodes_t *nodes)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  nodes->publishers = calloc(2 * snapshot->endpoint_count + 1, sizeof *nodes->publishers);
  if (!nodes->publishers) return TB_ERR_NO_MEMORY;
  nodes->subscriptions = nodes->publishers + snapshot->endpoint_count;
  for (int others = 0; others < 2; others++)
    for (size_t i = 0; i < snapshot->endpoint_count; i++) {
      const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
      if (!is_clock(endpoint) || (strcmp(endpoint->name, CLOCK) != 0) != others) continue;
      if (endpoint->is_publisher)
        nodes->publishers[nodes->publisher_count++] = endpoint;
      else
        nodes->subscriptions[nodes->subscription_count++] = endpoint;
    }
  return TB_OK;
}

/* 0: they fit, or are of different topics. */
static uint32_t mismatches_of(const tb_ros2_graph_endpoint_t *publisher,
                              const tb_ros2_graph_endpoint_t *subscription)
{
  if (strcmp(publisher->name, subscription->name) != 0) return 0;
  return tb_ros2_graph_mismatches(publisher, subscription);
}

static size_t mismatch_count(const nodes_t *nodes)
{
  size_t count = 0;
  for (size_t i = 0; i < nodes->subscription_count; i++)
    for (size_t j = 0; j < nodes->publisher_count; j++)
      count += mismatches_of(nodes->publishers[j], nodes->subscriptions[i]) != 0;
  return count;
}

static bool is_published(const nodes_t *nodes, const char *topic)
{
  for (size_t i = 0; i < nodes->publisher_count; i++)
    if (strcmp(nodes->publishers[i]->name, topic) == 0) return true;
  return false;
}

/* The topic that a node of the default time source waits for; NULL: one that it subscribes to is
 * published. */
static const char *awaited_clock(const nodes_t *nodes, size_t index)
{
  const char *topic = CLOCK;
  for (size_t i = 0; i < nodes->subscription_count; i++) {
    if (nodes->subscriptions[i]->node != (int32_t)index) continue;
    topic = nodes->subscriptions[i]->name;
    if (is_published(nodes, topic)) return NULL;
  }
  return is_published(nodes, topic) ? NULL : topic;
}

/* --- as text --- */

static void print_duration(const char *name, tb_duration_t duration)
{
  char text[TB_DURATION_TEXT_SIZE];
  if (duration.ns == 0 || duration.ns == INT64_MAX) return;
  if (tb_duration_format(duration, text, sizeof text) == TB_OK) text_out(", %s %s", name, text);
}

static const char *history_name(const tb_qos_t *qos)
{
  return qos->history == TB_QOS_KEEP_ALL          ? "keep all"
         : qos->history == TB_QOS_HISTORY_UNKNOWN ? "history unknown"
                                                  : "keep last";
}

static void print_qos(const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_qos_t *qos = &endpoint->qos;
  text_out("%s, %s, ", publishers_policy_value(endpoint, TB_QOS_POLICY_RELIABILITY),
           publishers_policy_value(endpoint, TB_QOS_POLICY_DURABILITY));
  if (qos->history == TB_QOS_KEEP_LAST)
    text_out("keep last %d", qos->depth);
  else
    text_out("%s", history_name(qos));
  print_duration("deadline", qos->deadline);
  print_duration("lifespan", qos->lifespan);
  if (endpoint->dds_qos.liveliness)
    text_out(", liveliness %s", publishers_policy_value(endpoint, TB_QOS_POLICY_LIVELINESS));
  print_duration("liveliness lease", qos->liveliness_lease);
  if (endpoint->dds_qos.has_partition) text_out(", in a partition");
}

static const char *owner_name(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  if (endpoint->node >= 0) return snapshot->nodes[endpoint->node].full_name;
  return unnamed_has(snapshot, endpoint) ? UNNAMED_NODE : PLAIN_DDS;
}

static void print_mismatches(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *subscription)
{
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    const tb_ros2_graph_endpoint_t *publisher = nodes->publishers[i];
    uint32_t mismatches = mismatches_of(publisher, subscription);
    if (!mismatches) continue;
    text_out("  ! receives nothing from ");
    text_out("%s", publisher->node >= 0 ? owner_name(nodes, publisher)
                   : unnamed_has(nodes->view->snapshot, publisher)
                       ? "a publisher whose node is not known yet"
                       : "a publisher without a node");
    text_out(": ");
    publishers_print_policies(stdout, publisher, subscription, mismatches);
    text_out("\n");
  }
}

static void print_time_source(const char *source)
{
  if (node_time_is_default(source)) return;
  text_out("  time_source ");
  text_out("%s", source);
  text_out("\n");
}

static const char *shared_time_of(const nodes_t *nodes, const tb_ros2_graph_node_t *node)
{
  const char *name;
  shared_times_of(&nodes->shared, nodes->view->snapshot, node->participant_guid, &name);
  return name;
}

static void print_shared_time(const nodes_t *nodes, const tb_ros2_graph_node_t *node)
{
  const char *name = shared_time_of(nodes, node);
  if (!name) return;
  text_out("  follows shm:%s, whatever use_sim_time is\n", name);
  if (!shared_time_has_publisher(name)) text_out("  ! shm:%s has no publisher\n", name);
}

#define MIDDLEWARE_COLUMNS 13
#define DISTRO_COLUMNS     17
#define SIM_TIME_COLUMNS   15

static void print_columns(int columns, const char *name, const char *distro, const char *middleware,
                          const char *sim_time)
{
  text_out("%-*s", columns, name);
  text_out("%-*s%-*s%-*s", DISTRO_COLUMNS, distro, MIDDLEWARE_COLUMNS, middleware, SIM_TIME_COLUMNS,
           sim_time);
}

static void print_subscription(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *endpoint,
                               int columns, size_t count)
{
  if (count) print_columns(columns, "", "", "", "");
  if (strcmp(endpoint->name, CLOCK) != 0) text_out("%s: ", endpoint->name);
  print_qos(endpoint);
  text_out("\n");
  print_mismatches(nodes, endpoint);
}

static void print_node(const nodes_t *nodes, size_t index, int columns)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  size_t count = 0;
  print_columns(columns, node->full_name, distro_name(node->distro), node->middleware,
                node_time_name(nodes->times[index].sim_time));
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (endpoint->is_publisher || !is_clock(endpoint)) continue;
    print_subscription(nodes, endpoint, columns, count++);
  }
  if (!count) text_out("-\n");
  print_time_source(nodes->times[index].source);
  print_shared_time(nodes, node);
  if (node->is_duplicate) text_out("  ! another node has the same name\n");
}

static void print_unnamed(const nodes_t *nodes, int columns)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  for (size_t i = 0; i < snapshot->participant_count; i++) {
    const tb_ros2_graph_participant_t *participant = &snapshot->participants[i];
    size_t count = 0;
    if (!unnamed_is(participant)) continue;
    print_columns(columns, UNNAMED_NODE, "-", participant->middleware, "-");
    for (size_t j = 0; j < nodes->subscription_count; j++)
      if (memcmp(nodes->subscriptions[j]->participant_guid, participant->guid, 16) == 0)
        print_subscription(nodes, nodes->subscriptions[j], columns, count++);
    if (!count) text_out("-\n");
    text_out("  ! a participant ");
    unnamed_describe(stdout, snapshot, participant);
    text_out("\n");
  }
}

/* A topic that nodes wait for, which nothing publishes; NULL: there is none. */
static const char *waited_for(const nodes_t *nodes)
{
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++) {
    const node_time_t *time = &nodes->times[i];
    if (time->sim_time == SIM_TIME_TRUE && node_time_is_default(time->source) &&
        !shared_time_of(nodes, &nodes->view->snapshot->nodes[i]) && awaited_clock(nodes, i))
      return awaited_clock(nodes, i);
  }
  return NULL;
}

static void print_other_type(const tb_ros2_graph_endpoint_t *publisher)
{
  if (strcmp(publisher->type, CLOCK_TYPE) == 0) return;
  text_out(", type ");
  text_out("%s", publisher->type);
}

static void print_publishers(const nodes_t *nodes)
{
  int columns = 0;
  const char *topic = "", *awaited = waited_for(nodes);
  if (awaited || !nodes->publisher_count)
    text_out("no publisher of %s%s\n", awaited ? awaited : CLOCK,
             awaited ? ", and nodes wait for it; start a simulator or 'timebase serve'" : "");
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    int used = text_columns(owner_name(nodes, nodes->publishers[i])) + 2;
    if (used > columns) columns = used;
  }
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    const tb_ros2_graph_endpoint_t *publisher = nodes->publishers[i];
    if (strcmp(publisher->name, topic) != 0) text_out("publishers of %s:\n", publisher->name);
    topic = publisher->name;
    text_out("  %-*s", columns, owner_name(nodes, publisher));
    print_qos(publisher);
    print_other_type(publisher);
    text_out("\n");
  }
}

/* Subscriptions without a node, such as that of `timebase watch`. */
static void print_other_subscriptions(const nodes_t *nodes)
{
  bool is_first = true;
  for (size_t i = 0; i < nodes->subscription_count; i++) {
    const tb_ros2_graph_endpoint_t *subscription = nodes->subscriptions[i];
    if (subscription->node >= 0 || unnamed_has(nodes->view->snapshot, subscription)) continue;
    if (is_first) text_out("subscriptions of /clock without a node:\n");
    is_first = false;
    text_out("  %s  ", PLAIN_DDS);
    print_subscription(nodes, subscription, 0, 0);
  }
}

static void print_nodes(const nodes_t *nodes)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  int columns = 6;
  for (size_t i = 0; i < snapshot->node_count; i++) {
    int used = text_columns(snapshot->nodes[i].full_name) + 2;
    if (used > columns) columns = used;
  }
  size_t unnamed = unnamed_count(snapshot);
  if (unnamed && columns < text_columns(UNNAMED_NODE) + 2) columns = text_columns(UNNAMED_NODE) + 2;
  if (snapshot->node_count + unnamed) {
    print_columns(columns, "NODE", "ROS 2", "middleware", "use_sim_time");
    text_out("/clock\n");
  }
  for (size_t i = 0; i < snapshot->node_count; i++)
    print_node(nodes, i, columns);
  print_unnamed(nodes, columns);
  if (snapshot->node_count + unnamed) text_out("\n");
  print_publishers(nodes);
  print_other_subscriptions(nodes);
}

/* --- as JSON --- */

static json_t *duration_json(tb_duration_t duration)
{
  return duration.ns == 0 || duration.ns == INT64_MAX ? json_null() : json_integer(duration.ns);
}

static void put_qos(json_t *object, const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_qos_t *qos = &endpoint->qos;
  bool is_unknown = qos->history == TB_QOS_HISTORY_UNKNOWN;
  json_t *out = json_object();
  json_put(out, "reliability",
           json_string(publishers_policy_value(endpoint, TB_QOS_POLICY_RELIABILITY)));
  json_put(out, "durability",
           json_string(publishers_policy_value(endpoint, TB_QOS_POLICY_DURABILITY)));
  json_put(out, "history", json_string(is_unknown ? "unknown" : history_name(qos)));
  json_put(out, "depth", qos->history == TB_QOS_KEEP_LAST ? json_integer(qos->depth) : json_null());
  json_put(out, "deadline_ns", duration_json(qos->deadline));
  json_put(out, "lifespan_ns", duration_json(qos->lifespan));
  json_put(out, "liveliness",
           json_string(publishers_policy_value(endpoint, TB_QOS_POLICY_LIVELINESS)));
  json_put(out, "liveliness_lease_ns", duration_json(qos->liveliness_lease));
  json_put(out, "partition", json_boolean(endpoint->dds_qos.has_partition));
  json_put(object, "qos", out);
}

static json_t *policies_json(uint32_t mismatches)
{
  json_t *out = json_array();
  for (uint32_t bit = 1; bit && bit <= mismatches; bit <<= 1) {
    const char *name = mismatches & bit ? tb_qos_policy_name((tb_qos_policy_t)bit) : NULL;
    if (name) json_push(out, json_string(name));
  }
  return out;
}

static json_t *owner_json(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->node < 0 ? json_null() : text_json(owner_name(nodes, endpoint));
}

static json_t *subscription_json(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *subscription)
{
  json_t *out = json_object();
  json_t *list = json_array();
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    uint32_t mismatches = mismatches_of(nodes->publishers[i], subscription);
    if (!mismatches) continue;
    json_t *mismatch = json_object();
    json_put(mismatch, "publisher", json_integer((json_int_t)i));
    json_put(mismatch, "node", owner_json(nodes, nodes->publishers[i]));
    json_put(mismatch, "policies", policies_json(mismatches));
    json_push(list, mismatch);
  }
  json_put(out, "topic", text_json(subscription->name));
  put_qos(out, subscription);
  json_put(out, "mismatches", list);
  return out;
}

static json_t *node_json(const nodes_t *nodes, size_t index)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  const node_time_t *time = &nodes->times[index];
  sim_time_t sim_time = time->sim_time;
  json_t *out = json_object();
  json_t *list = json_array();
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (!endpoint->is_publisher && is_clock(endpoint))
      json_push(list, subscription_json(nodes, endpoint));
  }
  json_put(out, "name", text_json(node->full_name));
  json_put(out, "distro", json_string(distro_name(node->distro)));
  json_put(out, "middleware", text_json(node->middleware));
  json_put(out, "enclave", text_json(node->enclave));
  json_put(out, "duplicate", json_boolean(node->is_duplicate));
  json_put(out, "use_sim_time",
           sim_time >= SIM_TIME_FALSE ? json_boolean(sim_time == SIM_TIME_TRUE) : json_null());
  json_put(out, "use_sim_time_state", json_string(node_time_name(sim_time)));
  json_put(out, "time_source", time->source ? text_json(time->source) : json_null());
  const char *shared = shared_time_of(nodes, node);
  json_put(out, "shared_time", shared ? text_json(shared) : json_null());
  json_put(out, "clock_subscriptions", list);
  return out;
}

static json_t *publisher_json(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *publisher)
{
  json_t *out = json_object();
  json_put(out, "node", owner_json(nodes, publisher));
  json_put(out, "topic", text_json(publisher->name));
  json_put(out, "type", text_json(publisher->type));
  put_qos(out, publisher);
  return out;
}

static int print_nodes_json(const command_t *command, const nodes_t *nodes, int status)
{
  json_t *root = json_object();
  json_t *list = json_array(), *publishers = json_array(), *others = json_array();
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++)
    json_push(list, node_json(nodes, i));
  for (size_t i = 0; i < nodes->publisher_count; i++)
    if (nodes->publishers[i]) json_push(publishers, publisher_json(nodes, nodes->publishers[i]));
  for (size_t i = 0; i < nodes->subscription_count; i++)
    if (nodes->subscriptions[i]->node < 0)
      json_push(others, subscription_json(nodes, nodes->subscriptions[i]));
  json_put(root, "domain", json_integer(tb_ros2_context_domain_id(nodes->view->context)));
  json_put(root, "nodes", list);
  json_put(root, "unnamed_nodes", unnamed_json(nodes->view->snapshot));
  json_put(root, "clock_publishers", publishers);
  json_put(root, "other_clock_subscriptions", others);
  return json_finish(command, root, status);
}

/* --- checking --- */

/* A publisher of /clock need not follow it. */
static bool publishes_clock(const nodes_t *nodes, size_t index)
{
  for (size_t i = 0; i < nodes->publisher_count; i++)
    if (nodes->publishers[i]->node == (int32_t)index) return true;
  return false;
}

static int check_failed(const command_t *command, const char *what)
{
  text_err("timebase %s: check failed: %s\n", command->name, what);
  return EXIT_CHECK;
}

static int check_failed_count(const command_t *command, size_t count, const char *one,
                              const char *several)
{
  text_err("timebase %s: check failed: %zu %s\n", command->name, count, count == 1 ? one : several);
  return EXIT_CHECK;
}

/* Nodes by the time that they follow. */
typedef struct time_counts {
  size_t states[SIM_TIME_COUNT];
  size_t shared, without_publisher; /* on a time in shared memory */
  size_t on_clock, on_wall;         /* of the others that have answered */
  const char *awaited;              /* a clock without a publisher that one waits for */
} time_counts_t;

/* A node whose time is not known (SHARED_TIME_UNKNOWN) is counted by its state alone. */
static void count_node(const nodes_t *nodes, size_t index, time_counts_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  const char *name;
  sim_time_t sim_time = nodes->times[index].sim_time;
  shared_time_t shared =
      shared_times_of(&nodes->shared, snapshot, snapshot->nodes[index].participant_guid, &name);
  bool is_wall = sim_time == SIM_TIME_FALSE || sim_time == SIM_TIME_UNSET;
  out->states[sim_time]++;
  out->shared += shared == SHARED_TIME_FOLLOWED;
  out->without_publisher += name && !shared_time_has_publisher(name);
  if (shared == SHARED_TIME_FOLLOWED) return;
  out->on_clock += sim_time == SIM_TIME_TRUE;
  if (sim_time == SIM_TIME_TRUE && !out->awaited) out->awaited = awaited_clock(nodes, index);
  out->on_wall += shared == SHARED_TIME_NONE && is_wall && !publishes_clock(nodes, index);
}

/* What is wrong with the times of the nodes, together. */
static int check_times(const command_t *command, const time_counts_t *counts)
{
  int result = EXIT_OK;
  if ((counts->on_clock || counts->shared) && counts->on_wall)
    result = check_failed_count(command, counts->on_wall,
                                "node does not use simulated time, but others do",
                                "nodes do not use simulated time, but others do");
  if (counts->without_publisher)
    result = check_failed_count(command, counts->without_publisher,
                                "node follows a shared time that has no publisher",
                                "nodes follow a shared time that has no publisher");
  if (counts->states[SIM_TIME_AMBIGUOUS])
    result = check_failed_count(command, counts->states[SIM_TIME_AMBIGUOUS], "node shares its name",
                                "nodes share their name");
  if (counts->awaited) {
    text_err("timebase %s: check failed: no publisher of %s, and nodes wait for it\n",
             command->name, counts->awaited);
    result = EXIT_CHECK;
  }
  return result;
}

static int check(const command_t *command, const nodes_t *nodes)
{
  time_counts_t counts = {0};
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++)
    count_node(nodes, i, &counts);
  int result = check_times(command, &counts);
  size_t unnamed = unnamed_count(nodes->view->snapshot);
  if (!nodes->view->snapshot->node_count && !unnamed) result = check_failed(command, "no nodes");
  if (unnamed)
    result = check_failed_count(command, unnamed, "participant has not announced its nodes",
                                "participants have not announced their nodes");
  for (size_t i = 0, count = 1; i < nodes->publisher_count; i++, count++) {
    const char *topic = nodes->publishers[i]->name;
    if (i + 1 < nodes->publisher_count && strcmp(nodes->publishers[i + 1]->name, topic) == 0)
      continue;
    if (count > 1) {
      text_err("timebase %s: check failed: %zu publishers of %s, expected 1\n", command->name,
               count, topic);
      result = EXIT_CHECK;
    }
    count = 0;
  }
  if (counts.states[SIM_TIME_NO_ANSWER])
    result = check_failed_count(command, counts.states[SIM_TIME_NO_ANSWER], "node does not answer",
                                "nodes do not answer");
  size_t mismatches = mismatch_count(nodes);
  if (mismatches)
    result = check_failed_count(command, mismatches,
                                "subscription of /clock receives nothing from a publisher",
                                "subscriptions of /clock receive nothing from a publisher");
  return result;
}

static int show(const command_t *command, const arguments_t *arguments, const graph_view_t *view,
                const node_time_t *times)
{
  nodes_t nodes = {.view = view, .times = times};
  int result = EXIT_OK;
  shared_times_read(&nodes.shared);
  tb_status_t status = find_clocks(&nodes);
  if (status)
    result = command_failed(command, status, NULL);
  else if (arguments->json)
    result = print_nodes_json(command, &nodes, EXIT_OK);
  else
    print_nodes(&nodes);
  command_flush();
  if (!arguments->json && !view->snapshot->node_count && !unnamed_count(view->snapshot))
    graph_view_print_empty(view);
  if (!result && arguments->check) result = check(command, &nodes);
  shared_times_release(&nodes.shared);
  free(nodes.publishers);
  return result;
}

static int list_seen(const command_t *command, const arguments_t *arguments,
                     const graph_view_t *view)
{
  node_time_t *times;
  int result = node_times_query(view, arguments->graph.limit, &times);
  if (!result) result = show(command, arguments, view, times);
  node_times_release(view, times);
  return result;
}

static int list(const command_t *command, const arguments_t *arguments)
{
  graph_view_t view;
  graph_view_limit_answers();
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = graph_view_settle(&view, arguments->graph.wait, NULL, NULL);
  if (!result) result = list_seen(command, arguments, &view);
  graph_view_close(&view);
  return command_finish(command, result);
}

static int run(const command_t *command, int argc, char **argv)
{
  if (ros1_is_asked(argc, argv)) return nodes_ros1_run(command, argc, argv);
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"check", no_argument, NULL, OPTION_CHECK},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.graph = {.domain = -1, .limit = {2 * TB_NS_PER_S}}};
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, ":h", options)) != -1) {
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
    .usage = "timebase nodes [--json] [--check] [--wait D] [--limit D] [--domain N] | --ros1",
    .help =
        "Lists the nodes of a ROS 2 graph: name, release of ROS 2, middleware, use_sim_time, and\n"
        "the QoS of their subscriptions of /clock; then the publishers of /clock. Lines with ! "
        "report\n"
        "problems: a publisher from which a subscription receives nothing, with the QoS policies\n"
        "that differ, and nodes that share a name. A time_source other than clock_topic is\n"
        "printed below its node, and so is the time in shared memory that its process follows.\n"
        "All nodes are asked at once, and for time_source only those that list it.\n\n"
        "  --json      one object: \"domain\", \"nodes\", \"unnamed_nodes\", \"clock_publishers\"\n"
        "              and \"other_clock_subscriptions\" (of programs without a known node)\n"
        "  --check     status 1 if some nodes use simulated time (use_sim_time is true, or they "
        "are\n"
        "              on a time in shared memory) and others do not (except publishers of "
        "/clock),\n"
        "              if a shared time has no publisher, if nodes share a name, if a node does "
        "not\n"
        "              answer, if a subscription receives nothing from a publisher, if /clock has\n"
        "              several publishers, or none while nodes wait for it, if a participant has "
        "not\n"
        "              announced its nodes, or if there are no nodes\n"
        "  --wait D    follow discovery for D (2, 1.5s); default: until nothing new was found for\n"
        "              0.5 s (1 s while there are no nodes) and all participants have announced\n"
        "              their nodes, at most 5 s\n"
        "  --limit D   wait at most D for the answers (default 2s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --ros1      the nodes of the ROS 1 master of ROS_MASTER_URI, with --json, --check and\n"
        "              --limit (for each node; default 1s): whether each is alive, dead (it ended\n"
        "              without unregistering), silent (no answer) or foreign (another program has\n"
        "              its port), its pid and host, its time base and how /clock reaches it; then\n"
        "              what is wrong with the graph's time, as timebase audit --ros1 has it, in a\n"
        "              line each. JSON has \"master\", \"use_sim_time\", \"clock\", \"nodes\" "
        "(also what\n"
        "              they publish and subscribe to) and \"findings\"; --check: status 1 if one "
        "is\n"
        "              an error\n"
        "  -h, --help  this text\n\n"
        "A node is known by name when its participant has announced it (ros_discovery_info): with\n"
        "Fast DDS up to 4 s after the command has started. One that has not is listed as\n"
        "\"" UNNAMED_NODE "\" with what else is known of it.\n\n"
        "use_sim_time is true, false, unset (the node has no such parameter), \"no answer\",\n"
        "\"ambiguous\" where nodes share a name, or \"no parameters\" where a node has no\n"
        "parameter services, as some tools do not, or is neither of Cyclone DDS nor of Fast\n"
        "DDS. In JSON it is true, false or null, and \"use_sim_time_state\" has the word. Each\n"
        "of \"nodes\" has "
        "\"name\", \"distro\", \"middleware\", \"enclave\", \"duplicate\", \"time_source\" (null: "
        "no\n"
        "such parameter), \"shared_time\" (the NAME of shm:NAME that its process follows,\n"
        "whatever use_sim_time is; null: none) and \"clock_subscriptions\" (of /clock, and of\n"
        "clocks under other names): \"topic\", \"qos\" (\"history\" is \"unknown\" where the\n"
        "middleware does not announce it), and \"mismatches\", each with\n"
        "\"publisher\" (index in \"clock_publishers\"), its \"node\" (null: plain DDS) and "
        "\"policies\". Each of\n"
        "\"unnamed_nodes\" has \"middleware\", \"enclave\", \"state\", \"addresses\" and "
        "\"endpoints\",\n"
        "each with \"kind\", \"name\" and \"type\".\n",
    .run = run,
};
