/* Nodes that follow /clock: whether it reaches them, and if not, why. */
#include <stdio.h>
#include <string.h>
#include <timebase/ros2_client.h>

#include "audit.h"

#define GET_STATE "lifecycle_msgs/srv/GetState"

enum { LIFECYCLE_ACTIVE = 3 };

#define ASK_NS (500 * TB_NS_PER_MS) /* one after the other */

static const char *reliability_text(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->qos.reliability == TB_QOS_RELIABLE ? "reliable" : "best effort";
}

static const char *durability_text(const tb_ros2_graph_endpoint_t *endpoint)
{
  static const char *const names[] = {"volatile", "transient local", "transient", "persistent"};
  return names[endpoint->dds_qos.durability & 3];
}

static double seconds(tb_duration_t duration)
{
  return (double)duration.ns / (double)TB_NS_PER_S;
}

/* Both sides' values of one policy. */
static void add_policy(audit_t *audit, const tb__finding_input_t *input, const char *owner,
                       const tb_ros2_graph_endpoint_t *publisher,
                       const tb_ros2_graph_endpoint_t *subscription, tb_qos_policy_t policy)
{
  tb__findings_t *findings = audit->findings;
  switch (policy) {
  case TB_QOS_POLICY_RELIABILITY:
    tb__findings_add(findings, input, "reliability: %s offers %s, it requests %s", owner,
                     reliability_text(publisher), reliability_text(subscription));
    break;
  case TB_QOS_POLICY_DURABILITY:
    tb__findings_add(findings, input, "durability: %s offers %s, it requests %s", owner,
                     durability_text(publisher), durability_text(subscription));
    break;
  case TB_QOS_POLICY_DEADLINE:
    tb__findings_add(findings, input, "deadline: %s offers %.3f s, it requests %.3f s", owner,
                     seconds(publisher->qos.deadline), seconds(subscription->qos.deadline));
    break;
  case TB_QOS_POLICY_TYPE:
    tb__findings_add(findings, input, "type: %s publishes %s, it expects %s", owner,
                     publisher->type, subscription->type);
    break;
  default:
    tb__findings_add(findings, input, "%s: what %s offers is not what it requests",
                     tb_qos_policy_name(policy), owner);
  }
}

static void find_mismatch(audit_t *audit, const tb__finding_input_t *input,
                          const tb_ros2_graph_endpoint_t *publisher,
                          const tb_ros2_graph_endpoint_t *subscription)
{
  const char *owner = audit_owner_of(audit->view.snapshot, publisher);
  uint32_t mismatches = tb_ros2_graph_mismatches(publisher, subscription);
  for (uint32_t bit = 1; bit && bit <= mismatches; bit <<= 1)
    if (mismatches & bit)
      add_policy(audit, input, owner ? owner : "a program without a node", publisher, subscription,
                 (tb_qos_policy_t)bit);
}

static tb__finding_input_t finding_of(const audit_t *audit, size_t index, tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule,
                               .kind = TB__SUBJECT_NODE,
                               .subject = audit->view.snapshot->nodes[index].full_name};
}

static void find_of_subscription(audit_t *audit, size_t index,
                                 const tb_ros2_graph_endpoint_t *subscription)
{
  const tb_ros2_graph_endpoint_t *publishers;
  size_t count = tb_ros2_graph_publishers(audit->view.snapshot, subscription->name, &publishers);
  tb__finding_input_t none = finding_of(audit, index, TB__RULE_NO_CLOCK_RECEIVED);
  tb__finding_input_t qos = finding_of(audit, index, TB__RULE_CLOCK_QOS);
  for (size_t i = 0; i < count; i++)
    if (!tb_ros2_graph_mismatches(&publishers[i], subscription)) return;
  if (!count)
    tb__findings_add(audit->findings, &none, "it subscribes to %s, which has no publisher",
                     subscription->name);
  for (size_t i = 0; i < count; i++)
    find_mismatch(audit, &qos, &publishers[i], subscription);
}

/* Of a node that follows /clock. */
static void find_of_node(audit_t *audit, size_t index)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  tb__finding_input_t none = finding_of(audit, index, TB__RULE_NO_CLOCK_RECEIVED);
  size_t subscriptions = 0;
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (!audit_is_clock(endpoint) || endpoint->is_publisher) continue;
    find_of_subscription(audit, index, endpoint);
    subscriptions++;
  }
  if (!subscriptions && node->endpoint_count)
    tb__findings_add(audit->findings, &none, "%s, and it has no subscription of /clock",
                     tb__base_evidence_text(audit->nodes[index].verdict));
}

/* --- lifecycle --- */

static bool is_state_service(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher &&
         strcmp(endpoint->type, GET_STATE) == 0;
}

static void find_active(audit_t *audit, size_t index)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  const tb_ros2_graph_node_t *node = &snapshot->nodes[index];
  tb__finding_input_t input = finding_of(audit, index, TB__RULE_ACTIVE_BEFORE_CLOCK);
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    uint8_t state;
    if (!is_state_service(endpoint) ||
        !audit_ask(audit, endpoint->name, GET_STATE, (tb_duration_t){ASK_NS}, &state) ||
        state != LIFECYCLE_ACTIVE)
      continue;
    tb__findings_add(audit->findings, &input,
                     "its state is active, and no tick of /clock other than 0 was seen");
  }
}

void audit_receivers_find(audit_t *audit)
{
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    audit_role_t role = audit->nodes[i].role;
    if (audit->nodes[i].verdict.base != TB__BASE_CLOCK || role == AUDIT_ROLE_TOOL) continue;
    find_of_node(audit, i);
    if (!audit->clock.cut.ticks.all.first_ns) find_active(audit, i);
  }
}

bool audit_ask(const audit_t *audit, const char *service, const char *type, tb_duration_t limit,
               uint8_t *out)
{
  static const uint8_t empty[8] = {0, 1, 0, 0};
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response = {0};
  graph_view_register_hashes(&audit->view, service);
  tb_status_t status =
      tb_ros2_client_create(audit->view.context, service, type, NULL, &client, NULL);
  if (!status)
    status = tb_ros2_client_call(client, empty, sizeof empty, &(tb_wait_options_t){.limit = limit},
                                 &response, NULL);
  if (!status && response.size < 5) status = TB_ERR_TRUNCATED;
  if (!status) *out = ((const uint8_t *)response.cdr)[4];
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  return !status;
}
