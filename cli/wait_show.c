#include <stdio.h>
#include <string.h>

#include "contract/rules.h"
#include "json.h"
#include "publishers.h"
#include "ros1_clock.h"
#include "text.h"
#include "wait.h"

#define MS(ns) ((double)(ns) / (double)TB_NS_PER_MS)

static bool is_reason(const wait_t *wait, const char *reason)
{
  return strcmp(wait->reason, reason) == 0;
}

/* --- as JSON --- */

static void put_number(json_t *object, const char *key, double value, bool is_known)
{
  json_put(object, key, is_known ? json_real(value) : json_null());
}

static void put_asked(json_t *object, const tb_ready_result_t *result)
{
  put_number(object, "min_rate_hz", result->min_rate_hz, result->min_rate_hz > 0);
  put_number(object, "max_rate_hz", result->max_rate_hz, result->max_rate_hz > 0);
  put_number(object, "min_rtf", result->min_factor, result->min_factor > 0);
  put_number(object, "max_rtf", result->max_factor, result->max_factor > 0);
}

static json_t *qos_json(const wait_t *wait)
{
  publishers_t publishers;
  json_t *list = json_array();
  publishers_find(wait->ros.graph, wait->ros.topic, &publishers);
  for (size_t i = 0; i < publishers.count; i++) {
    const tb_ros2_graph_endpoint_t ours = PUBLISHERS_CLOCK_READER;
    const tb_ros2_graph_endpoint_t *publisher = &publishers.items[i];
    uint32_t mismatches = tb_ros2_graph_mismatches(publisher, &ours);
    for (uint32_t bit = 1; bit && bit <= mismatches; bit <<= 1) {
      tb_qos_policy_t policy = (tb_qos_policy_t)bit;
      if (!(mismatches & bit)) continue;
      json_t *item = json_object();
      const char *offered = publishers_policy_value(publisher, policy);
      json_put(item, "publisher",
               publisher->node < 0
                   ? json_null()
                   : text_json(publishers.snapshot->nodes[publisher->node].full_name));
      json_put(item, "policy", text_json(tb_qos_policy_name(policy)));
      json_put(item, "offered", offered ? json_string(offered) : json_null());
      json_put(item, "requested",
               offered ? json_string(publishers_policy_value(&ours, policy)) : json_null());
      json_push(list, item);
    }
  }
  publishers_release(&publishers);
  return list;
}

static json_t *nodes_json(const wait_t *wait)
{
  static const char *const names[] = {"not-asked", "activated", "was-active", "failed"};
  json_t *list = json_array();
  for (size_t i = 0; i < wait->node_count; i++) {
    const wait_node_t *node = &wait->nodes[i];
    json_t *item = json_object();
    json_put(item, "node", text_json(node->name));
    json_put(item, "outcome", json_string(names[node->outcome]));
    json_put(item, "state", node->state ? json_string(wait_state_name(node->state)) : json_null());
    json_put(item, "problem", node->problem[0] ? text_json(node->problem) : json_null());
    json_push(list, item);
  }
  return list;
}

static json_t *rules_json(const wait_t *wait)
{
  json_t *list = json_array();
  for (int i = 0; i < TB__RULE_COUNT; i++)
    if (wait->rules & UINT64_C(1) << i)
      json_push(list, json_string(tb__rule((tb__rule_id_t)i)->id));
  return list;
}

int wait_show_json(wait_t *wait, int status)
{
  const tb_ready_result_t *result = &wait->result;
  bool measured = result->observed.ns > 0;
  json_t *object = json_object();
  json_put(object, "ready", json_boolean(status == EXIT_OK));
  json_put(object, "reason", json_string(wait->reason));
  json_put(object, "time_ns", json_integer(result->time.ns));
  json_put(object, "paused", json_boolean(result->state == TB_CLOCK_PAUSED));
  json_put(object, "ticks", json_integer((json_int_t)result->ticks));
  json_put(object, "jumps_backward", json_integer((json_int_t)result->jumps_backward));
  json_put(object, "observed_ns", json_integer(result->observed.ns));
  put_number(object, "rate_hz", result->rate_hz, measured);
  put_number(object, "rtf", result->factor, measured);
  put_asked(object, result);
  clock_error_put(object, &wait->facts.error, wait->max_error_ns);
  json_put(object, "publishers", json_integer(wait->facts.publishers));
  if (wait->ros1) json_put(object, "rules", rules_json(wait));
  if (is_reason(wait, WAIT_TWO_STREAMS))
    json_put(object, "apart_ns", json_integer(wait->facts.apart_ns));
  if (is_reason(wait, "qos")) json_put(object, "qos", qos_json(wait));
  if (wait->node_count) json_put(object, "nodes", nodes_json(wait));
  return json_finish(wait->command, object, status);
}

/* --- as text --- */

void wait_show_ready(const wait_t *wait)
{
  const tb_ready_result_t *result = &wait->result;
  text_out("%s: time %lld.%09lld", result->state == TB_CLOCK_PAUSED ? "paused" : "ready",
           (long long)(result->time.ns / TB_NS_PER_S), (long long)(result->time.ns % TB_NS_PER_S));
  if (result->observed.ns) text_out("  %.1f Hz  rtf %.3f", result->rate_hz, result->factor);
  if (wait->facts.error.error_ns) text_out("  ");
  clock_error_print(&wait->facts.error, wait->max_error_ns);
  text_out("\n");
}

void wait_show_node(const wait_node_t *node)
{
  text_out("%s: %s\n", node->name,
           node->outcome == WAIT_NODE_ACTIVATED
               ? "activated"
               : "was active already, perhaps before the first tick");
  command_flush();
}

static void print_inexact(const wait_t *wait)
{
  const clock_error_t *error = &wait->facts.error;
  double rate_hz = clock_error_rate(error, wait->max_error_ns);
  if (!error->error_ns) {
    text_err("the error of its time is not known after so few ticks; raise the limit\n");
    return;
  }
  text_err("its time is wrong by up to %.1f ms (factor %.3f x latency %.1f ms + one tick of "
           "%.1f ms); allowed are %.1f ms. Enough is ",
           MS(error->error_ns), error->factor, MS(error->latency_ns), MS(error->step_ns),
           MS(wait->max_error_ns));
  if (rate_hz > 0) text_err("a rate of %.0f Hz at this factor, or ", rate_hz);
  text_err("a factor of %.3f at this rate\n", clock_error_factor(error, wait->max_error_ns));
}

static void print_publishers(wait_t *wait)
{
  publishers_t publishers;
  publishers_find(wait->ros.graph, wait->ros.topic, &publishers);
  text_err("%u publishers of %s tick by turns", wait->facts.publishers, wait->ros.topic);
  if (wait->ros1) text_err(": ");
  if (wait->ros1) ros1_clock_print_publishers(&wait->gauge);
  if (publishers.count) {
    text_err(": ");
    publishers_print_others(stderr, &publishers);
  }
  text_err("; stop all but one\n");
  publishers_release(&publishers);
}

int wait_show_failure(wait_t *wait, const tb_error_t *error)
{
  const command_t *command = wait->command;
  if (!wait->result.time.ns) return ros_clock_timed_out(command, &wait->ros, wait->limit);
  if (is_reason(wait, tb_ready_reason_name(wait->result.reason))) {
    text_err("timebase %s: %s\n", command->name, error->text);
    return EXIT_CHECK;
  }
  text_err("timebase %s: the clock is not ready (%s): ", command->name, wait->reason);
  if (is_reason(wait, WAIT_TWO_PUBLISHERS)) print_publishers(wait);
  if (is_reason(wait, WAIT_TWO_STREAMS))
    text_err("one publisher of %s sends two times that are %.3f s apart; stop one of the two that "
             "it plays or simulates\n",
             wait->ros.topic, MS(wait->facts.apart_ns) / 1e3);
  if (is_reason(wait, WAIT_INEXACT)) print_inexact(wait);
  return EXIT_CHECK;
}
