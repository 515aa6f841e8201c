#include "nodes_show.h"

#include <string.h>

#include "json.h"
#include "publishers.h"
#include "text.h"

#define PLAIN_DDS "no node (plain DDS)"

const char *const nodes_sim_time_names[SIM_TIME_COUNT] = {
    [SIM_TIME_NO_PARAMETERS] = "no parameters",
    [SIM_TIME_NO_ANSWER] = "no answer",
    [SIM_TIME_AMBIGUOUS] = "ambiguous",
    [SIM_TIME_UNSET] = "unset",
    [SIM_TIME_FALSE] = "false",
    [SIM_TIME_TRUE] = "true",
};

static const char *distro_name(tb_ros2_distro_t distro)
{
  return distro == TB_ROS2_DISTRO_HUMBLE ? "humble or older" : "iron or newer";
}

static bool is_clock_subscription(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint >= nodes->subscriptions &&
         endpoint < nodes->subscriptions + nodes->subscription_count;
}

size_t nodes_mismatch_count(const nodes_t *nodes)
{
  size_t count = 0;
  for (size_t i = 0; i < nodes->subscription_count; i++)
    for (size_t j = 0; j < nodes->publisher_count; j++)
      count += tb_ros2_graph_mismatches(&nodes->publishers[j], &nodes->subscriptions[i]) != 0;
  return count;
}

/* --- text --- */

static void print_duration(const char *name, tb_duration_t duration)
{
  char text[TB_DURATION_TEXT_SIZE];
  if (duration.ns == 0 || duration.ns == INT64_MAX) return;
  if (tb_duration_format(duration, text, sizeof text) == TB_OK) text_out(", %s %s", name, text);
}

static const char *durability_name(const tb_ros2_graph_endpoint_t *endpoint)
{
  static const char *const names[] = {"volatile", "transient local", "transient", "persistent"};
  return names[endpoint->dds_qos.durability & 3];
}

static const char *liveliness_name(const tb_ros2_graph_endpoint_t *endpoint)
{
  static const char *const names[] = {"automatic", "manual by participant", "manual by topic"};
  return names[endpoint->dds_qos.liveliness % 3];
}

static void print_qos(const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_qos_t *qos = &endpoint->qos;
  text_out("%s, %s, ", qos->reliability == TB_QOS_RELIABLE ? "reliable" : "best effort",
           durability_name(endpoint));
  if (qos->history == TB_QOS_KEEP_ALL)
    text_out("keep all");
  else
    text_out("keep last %d", qos->depth);
  print_duration("deadline", qos->deadline);
  print_duration("lifespan", qos->lifespan);
  if (endpoint->dds_qos.liveliness) text_out(", liveliness %s", liveliness_name(endpoint));
  print_duration("liveliness lease", qos->liveliness_lease);
  if (endpoint->dds_qos.has_partition) text_out(", in a partition");
}

static const char *owner_name(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->node < 0 ? PLAIN_DDS : nodes->view->snapshot->nodes[endpoint->node].full_name;
}

static void print_policies(uint32_t mismatches)
{
  const char *between = "";
  for (uint32_t bit = 1; bit && bit <= mismatches; bit <<= 1) {
    const char *name = mismatches & bit ? tb_qos_policy_name((tb_qos_policy_t)bit) : NULL;
    if (!name) continue;
    text_out("%s%s", between, name);
    between = ", ";
  }
}

static void print_mismatches(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *subscription)
{
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    const tb_ros2_graph_endpoint_t *publisher = &nodes->publishers[i];
    uint32_t mismatches = tb_ros2_graph_mismatches(publisher, subscription);
    if (!mismatches) continue;
    text_out("  ! nothing comes from ");
    text_out("%s",
             publisher->node < 0 ? "a publisher without a node" : owner_name(nodes, publisher));
    text_out(": ");
    print_policies(mismatches);
    text_out("\n");
  }
}

/* Of ROS's own nodes it is no parameter. */
static bool is_default(const char *time_source)
{
  return !time_source || strcmp(time_source, "clock_topic") == 0;
}

static void print_time_source(const char *source)
{
  if (is_default(source)) return;
  text_out("  time_source ");
  text_out("%s", source);
  text_out("\n");
}

#define DISTRO_COLUMNS   17
#define SIM_TIME_COLUMNS 15

static void print_node(const nodes_t *nodes, size_t index, int columns)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  size_t count = 0;
  text_out("%-*s", columns, node->full_name);
  text_out("%-*s%-*s", DISTRO_COLUMNS, distro_name(node->distro), SIM_TIME_COLUMNS,
           nodes_sim_time_names[nodes->times[index].sim_time]);
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (!is_clock_subscription(nodes, endpoint)) continue;
    if (count++) text_out("%*s", columns + DISTRO_COLUMNS + SIM_TIME_COLUMNS, "");
    print_qos(endpoint);
    text_out("\n");
    print_mismatches(nodes, endpoint);
  }
  if (!count) text_out("-\n");
  print_time_source(nodes->times[index].source);
  if (node->is_duplicate) text_out("  ! another node has the same name\n");
}

static bool somebody_waits(const nodes_t *nodes)
{
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++) {
    const node_time_t *time = &nodes->times[i];
    if (time->sim_time == SIM_TIME_TRUE && is_default(time->source)) return true;
  }
  return false;
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
  if (!nodes->publisher_count) {
    text_out("nobody publishes /clock");
    text_out("%s\n", somebody_waits(nodes)
                         ? ", and nodes wait for it: start a simulator or 'timebase serve'"
                         : "");
    return;
  }
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    int used = text_columns(owner_name(nodes, &nodes->publishers[i])) + 2;
    if (used > columns) columns = used;
  }
  text_out("publishers of /clock:\n");
  for (size_t i = 0; i < nodes->publisher_count; i++) {
    text_out("  ");
    text_out("%-*s", columns, owner_name(nodes, &nodes->publishers[i]));
    print_qos(&nodes->publishers[i]);
    print_other_type(&nodes->publishers[i]);
    text_out("\n");
  }
}

/* Such as `timebase watch`. */
static void print_other_subscriptions(const nodes_t *nodes)
{
  bool is_first = true;
  for (size_t i = 0; i < nodes->subscription_count; i++) {
    if (nodes->subscriptions[i].node >= 0) continue;
    if (is_first) text_out("subscriptions of /clock without a node:\n");
    is_first = false;
    text_out("  %s  ", PLAIN_DDS);
    print_qos(&nodes->subscriptions[i]);
    text_out("\n");
    print_mismatches(nodes, &nodes->subscriptions[i]);
  }
}

void nodes_print(const nodes_t *nodes)
{
  const tb_ros2_graph_snapshot_t *snapshot = nodes->view->snapshot;
  int columns = 6;
  for (size_t i = 0; i < snapshot->node_count; i++) {
    int used = text_columns(snapshot->nodes[i].full_name) + 2;
    if (used > columns) columns = used;
  }
  if (snapshot->node_count)
    text_out("%-*s%-*s%-*s%s\n", columns, "NODE", DISTRO_COLUMNS, "ROS 2", SIM_TIME_COLUMNS,
             "use_sim_time", "/clock");
  for (size_t i = 0; i < snapshot->node_count; i++)
    print_node(nodes, i, columns);
  if (snapshot->node_count) text_out("\n");
  print_publishers(nodes);
  print_other_subscriptions(nodes);
}

/* --- JSON --- */

static json_t *duration_json(tb_duration_t duration)
{
  return duration.ns == 0 || duration.ns == INT64_MAX ? json_null() : json_integer(duration.ns);
}

static void put_qos(json_t *object, const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_qos_t *qos = &endpoint->qos;
  bool keep_all = qos->history == TB_QOS_KEEP_ALL;
  json_t *out = json_object();
  json_put(out, "reliability",
           json_string(qos->reliability == TB_QOS_RELIABLE ? "reliable" : "best effort"));
  json_put(out, "durability", json_string(durability_name(endpoint)));
  json_put(out, "history", json_string(keep_all ? "keep all" : "keep last"));
  json_put(out, "depth", keep_all ? json_null() : json_integer(qos->depth));
  json_put(out, "deadline_ns", duration_json(qos->deadline));
  json_put(out, "lifespan_ns", duration_json(qos->lifespan));
  json_put(out, "liveliness", json_string(liveliness_name(endpoint)));
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
    uint32_t mismatches = tb_ros2_graph_mismatches(&nodes->publishers[i], subscription);
    if (!mismatches) continue;
    json_t *mismatch = json_object();
    json_put(mismatch, "publisher", json_integer((json_int_t)i));
    json_put(mismatch, "node", owner_json(nodes, &nodes->publishers[i]));
    json_put(mismatch, "policies", policies_json(mismatches));
    json_push(list, mismatch);
  }
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
    if (is_clock_subscription(nodes, endpoint)) json_push(list, subscription_json(nodes, endpoint));
  }
  json_put(out, "name", text_json(node->full_name));
  json_put(out, "distro", json_string(distro_name(node->distro)));
  json_put(out, "enclave", text_json(node->enclave));
  json_put(out, "duplicate", json_boolean(node->is_duplicate));
  json_put(out, "use_sim_time",
           sim_time >= SIM_TIME_FALSE ? json_boolean(sim_time == SIM_TIME_TRUE) : json_null());
  json_put(out, "use_sim_time_state", json_string(nodes_sim_time_names[sim_time]));
  json_put(out, "time_source", time->source ? text_json(time->source) : json_null());
  json_put(out, "clock_subscriptions", list);
  return out;
}

static json_t *publisher_json(const nodes_t *nodes, const tb_ros2_graph_endpoint_t *publisher)
{
  json_t *out = json_object();
  json_put(out, "node", owner_json(nodes, publisher));
  json_put(out, "type", text_json(publisher->type));
  put_qos(out, publisher);
  return out;
}

int nodes_print_json(const command_t *command, const nodes_t *nodes, int status)
{
  json_t *root = json_object();
  json_t *list = json_array(), *publishers = json_array(), *others = json_array();
  for (size_t i = 0; i < nodes->view->snapshot->node_count; i++)
    json_push(list, node_json(nodes, i));
  for (size_t i = 0; i < nodes->publisher_count; i++)
    json_push(publishers, publisher_json(nodes, &nodes->publishers[i]));
  for (size_t i = 0; i < nodes->subscription_count; i++)
    if (nodes->subscriptions[i].node < 0)
      json_push(others, subscription_json(nodes, &nodes->subscriptions[i]));
  json_put(root, "domain", json_integer(tb_ros2_context_domain_id(nodes->view->context)));
  json_put(root, "nodes", list);
  json_put(root, "clock_publishers", publishers);
  json_put(root, "other_clock_subscriptions", others);
  return json_finish(command, root, status);
}
