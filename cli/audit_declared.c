#include "audit_declared.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "contract/name_pattern.h"
#include "json.h"
#include "publishers.h"
#include "text.h"

#define ITEMS_MAX   10000
#define ITEMS_SHOWN 12 /* --json has all */

/* --- items --- */

static void keep(audit_declared_t *declared, audit_item_kind_t kind, const char *what,
                 const char *name, const char *text)
{
  declared->counts[kind]++;
  if (declared->count == ITEMS_MAX) return;
  if (declared->count == declared->capacity) {
    size_t capacity = declared->capacity * 2 + 16;
    audit_item_t *items = realloc(declared->items, capacity * sizeof *items);
    declared->is_lost |= !items;
    if (!items) return;
    declared->items = items;
    declared->capacity = capacity;
  }
  audit_item_t item = {kind, what, strdup(name), strdup(text)};
  if (item.name && item.text) {
    declared->items[declared->count++] = item;
    return;
  }
  declared->is_lost = true;
  free(item.name);
  free(item.text);
}

void audit_declared_release(audit_declared_t *declared)
{
  for (size_t i = 0; i < declared->count; i++) {
    free(declared->items[i].name);
    free(declared->items[i].text);
  }
  free(declared->items);
  *declared = (audit_declared_t){0};
}

void audit_declared_note(audit_t *audit, audit_item_kind_t kind, const char *what, const char *name,
                         const char *format, ...)
{
  char text[TB__FINDING_LINE_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  keep(&audit->declared, kind, what, name, text);
}

/* Unless `is_new`, another part of the audit makes the finding. */
static void differ(audit_t *audit, const tb__finding_input_t *input, bool is_new, const char *what,
                   const char *text)
{
  const char *reason = tb__manifest_off_reason(&audit->manifest, input->rule, input->subject);
  if (is_new) tb__findings_add(audit->findings, input, "%s", text);
  if (reason)
    audit_declared_note(audit, AUDIT_ITEM_NOTE, what, input->subject, "%s; %s is switched off: %s",
                        text, tb__rule(input->rule)->id, reason);
  else
    keep(&audit->declared, AUDIT_ITEM_DIFFERS, what, input->subject, text);
}

void audit_declared_differ(audit_t *audit, const tb__finding_input_t *input, const char *what,
                           const char *format, ...)
{
  char text[TB__FINDING_LINE_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  differ(audit, input, true, what, text);
}

static bool is_pattern(const char *name)
{
  return strchr(name, '*');
}

/* --- what is declared --- */

const tb__manifest_node_t *audit_declared_sim_time(const audit_t *audit, size_t index)
{
  bool is_declared = false;
  if (!audit->has_manifest) return NULL;
  const tb__manifest_node_t *node = tb__manifest_node(
      &audit->manifest, audit->view.snapshot->nodes[index].full_name, &is_declared);
  if (is_declared && node->has_use_sim_time) return node;
  if (!audit_nodes_is_judged(audit, index)) return NULL;
  return is_declared || (audit->manifest.mode == TB__MODE_VEHICLE && !node->use_sim_time) ? node
                                                                                          : NULL;
}

tb__time_kind_t audit_declared_kind(const char *type)
{
  if (strcmp(type, "tf2_msgs/msg/TFMessage") == 0) return TB__KIND_TF;
  if (strncmp(type, "diagnostic_msgs/", strlen("diagnostic_msgs/")) == 0)
    return TB__KIND_DIAGNOSTICS;
  return TB__KIND_HEADERS;
}

tb__time_base_t audit_declared_base(const audit_t *audit, const char *node, const char *type,
                                    tb__time_kind_t *out_kind)
{
  *out_kind = audit_declared_kind(type);
  if (!audit->has_manifest || !node) return (tb__time_base_t)0;
  const tb__manifest_node_t *declared = tb__manifest_node(&audit->manifest, node, NULL);
  return declared->has_base[*out_kind] ? declared->bases[*out_kind] : (tb__time_base_t)0;
}

static bool is_timing_critical(const audit_t *audit, const char *name)
{
  return name && tb__manifest_node(&audit->manifest, name, NULL)->timing_critical;
}

/* Late or wrong data of such a node does harm: a warning about it, or about what it publishes, is
 * an error, and that its time is not known is a warning. */
static const char *severity_of(void *user, const tb__finding_input_t *input,
                               tb__severity_t *severity)
{
  const audit_t *audit = user;
  bool is_critical = is_timing_critical(audit, input->cause) ||
                     (input->kind == TB__SUBJECT_NODE && is_timing_critical(audit, input->subject));
  if (!is_critical || *severity == TB__SEVERITY_ERROR) return NULL;
  *severity = *severity == TB__SEVERITY_WARN ? TB__SEVERITY_ERROR : TB__SEVERITY_WARN;
  return "the manifest declares the node timing-critical";
}

static const char *is_off(void *user, tb__rule_id_t rule, const char *subject)
{
  const audit_t *audit = user;
  return tb__manifest_off_reason(&audit->manifest, rule, subject);
}

/* Rules that are off for some subjects only are asked for each of them. */
tb_status_t audit_declared_begin(audit_t *audit)
{
  const tb__manifest_t *manifest = &audit->manifest;
  tb_status_t status = TB_OK;
  if (!audit->has_manifest) return TB_OK;
  for (size_t i = 0; i < manifest->off_count && !status; i++) {
    const tb__manifest_off_t *off = &manifest->off[i];
    status = off->subjects.count
                 ? tb__findings_switch_off_some(audit->findings, off->rule, off->reason)
                 : tb__findings_switch_off(audit->findings, off->rule, off->reason);
  }
  tb__findings_ask_off(audit->findings, is_off, audit);
  tb__findings_ask_severity(audit->findings, severity_of, audit);
  return status;
}

/* --- nodes --- */

static tb__finding_input_t node_finding(const char *name, tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule, .kind = TB__SUBJECT_NODE, .subject = name};
}

static void judge_sim_time(audit_t *audit, size_t index)
{
  const char *name = audit->view.snapshot->nodes[index].full_name;
  const tb__manifest_node_t *declared = audit_declared_sim_time(audit, index);
  tb__base_verdict_t verdict = audit->nodes[index].verdict;
  bool is_mixed = audit_nodes_is_mixed(audit, index);
  tb__finding_input_t input =
      node_finding(name, is_mixed ? TB__RULE_MIXED_TIME_BASE : TB__RULE_TIME_BASE_DECLARED);
  char text[TB__FINDING_LINE_SIZE];
  if (!declared) return;
  input.detail = declared->use_sim_time ? "true" : "false";
  if (verdict.base == TB__BASE_UNKNOWN)
    audit_declared_note(audit, AUDIT_ITEM_DECLARED, "node", name,
                        "use_sim_time is declared to be %s; its time could not be observed (%s)",
                        input.detail, tb__base_evidence_text(verdict));
  if (verdict.base == TB__BASE_UNKNOWN || (verdict.base != TB__BASE_WALL) == declared->use_sim_time)
    return;
  snprintf(text, sizeof text, "the manifest declares use_sim_time: %s, and %s", input.detail,
           tb__base_evidence_text(verdict));
  differ(audit, &input, !is_mixed, "node", text);
}

/* Whether a stamp of that kind was sampled of the node. */
static bool is_sampled(const audit_t *audit, const char *name, tb__time_kind_t kind)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < audit->topics.count; i++) {
    const audit_topic_t *topic = &audit->topics.list[i];
    if (audit_declared_kind(topic->type) != kind) continue;
    for (size_t j = 0; j < topic->stamped.stream_count; j++) {
      const char *owner = audit_node_of(snapshot, topic->stamped.streams[j]->writer);
      if (owner && strcmp(owner, name) == 0) return true;
    }
  }
  return false;
}

/* Bases that only the manifest has. */
static void list_bases(audit_t *audit, const char *name, const tb__manifest_node_t *declared)
{
  for (int i = 0; i < TB__KIND_COUNT; i++) {
    tb__time_kind_t kind = (tb__time_kind_t)i;
    const char *base = tb__time_base_name(declared->bases[i]);
    if (!declared->has_base[i]) continue;
    if (!tb__time_kind_is_observable(kind))
      audit_declared_note(audit, AUDIT_ITEM_DECLARED, "node", name,
                          "%s are declared to be %s, which cannot be observed",
                          tb__time_kind_name(kind), base);
    else if (declared->bases[i] != TB__TIME_NONE && !is_sampled(audit, name, kind))
      audit_declared_note(audit, AUDIT_ITEM_DECLARED, "node", name,
                          "%s are declared to be %s; no stamp of them was sampled",
                          tb__time_kind_name(kind), base);
  }
}

static bool has_node(const audit_t *audit, const char *name)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (tb__name_matches(name, snapshot->nodes[i].full_name)) return true;
  return false;
}

static void judge_missing(audit_t *audit)
{
  for (size_t i = 0; i < audit->manifest.node_count; i++) {
    const char *name = audit->manifest.nodes[i].name;
    const char *role = audit->manifest.nodes[i].role;
    tb__finding_input_t input = node_finding(name, TB__RULE_NODE_MISSING);
    if (has_node(audit, name)) continue;
    if (is_pattern(name))
      audit_declared_note(audit, AUDIT_ITEM_NOTE, "node", name, "no node matches it");
    else
      audit_declared_differ(audit, &input, "node", "it is not on the graph%s%s",
                            role ? "; its role is " : "", role ? role : "");
  }
}

static void judge_nodes(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  judge_missing(audit);
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const char *name = snapshot->nodes[i].full_name;
    bool is_declared = false;
    const tb__manifest_node_t *declared = tb__manifest_node(&audit->manifest, name, &is_declared);
    tb__finding_input_t shared = node_finding(name, TB__RULE_NODE_NAME_SHARED);
    if (graph_view_is_repeated(&audit->view, i)) continue;
    if (!is_declared) {
      if (!tb__base_is_tool(name))
        audit_declared_note(audit, AUDIT_ITEM_NOTE, "node", name, "the manifest does not name it");
    } else {
      list_bases(audit, name, declared);
      if (snapshot->nodes[i].is_duplicate)
        differ(audit, &shared, false, "node", "several nodes have this name");
    }
    judge_sim_time(audit, i);
  }
}

/* --- the clock --- */

static tb__finding_input_t clock_finding(const audit_t *audit, tb__rule_id_t rule,
                                         tb__severity_t severity)
{
  return (tb__finding_input_t){
      .rule = rule, .severity = severity, .kind = TB__SUBJECT_CLOCK, .subject = audit->clock_topic};
}

static void judge_qos(audit_t *audit, const tb_ros2_graph_endpoint_t *publisher, const char *owner)
{
  const tb__manifest_clock_t *declared = &audit->manifest.clock;
  const tb_qos_t *qos = &publisher->qos;
  tb__finding_input_t input = clock_finding(audit, TB__RULE_CLOCK_DECLARED, TB__SEVERITY_WARN);
  if (!declared->has_qos) return;
  if (qos->reliability != declared->reliability)
    audit_declared_differ(audit, &input, "clock", "%s offers %s, declared is %s", owner,
                          qos->reliability == TB_QOS_RELIABLE ? "reliable" : "best effort",
                          declared->reliability == TB_QOS_RELIABLE ? "reliable" : "best effort");
  if (qos->durability != declared->durability)
    audit_declared_differ(audit, &input, "clock", "%s offers %s, declared is %s", owner,
                          qos->durability == TB_QOS_VOLATILE ? "volatile" : "transient local",
                          declared->durability == TB_QOS_VOLATILE ? "volatile" : "transient local");
  if (declared->depth && qos->history == TB_QOS_KEEP_LAST && qos->depth != declared->depth)
    audit_declared_differ(audit, &input, "clock", "%s offers it with depth %d, declared is %d",
                          owner, (int)qos->depth, (int)declared->depth);
}

/* A publisher that is not the declared one counts whether it ticks or not: it may at any time. */
static void judge_publishers(audit_t *audit, const tb_ros2_graph_endpoint_t *publishers,
                             size_t count)
{
  const char *declared = audit->manifest.clock.publisher;
  tb__finding_input_t input = clock_finding(audit, TB__RULE_CLOCK_DECLARED, 0);
  for (size_t i = 0; i < count; i++) {
    const char *owner = audit_owner_of(audit->view.snapshot, &publishers[i]);
    bool is_declared = !declared || (owner && strcmp(owner, declared) == 0);
    if (!owner) owner = "a program without a node";
    if (!is_declared)
      audit_declared_differ(audit, &input, "clock", "its publisher is %s, declared is %s", owner,
                            declared);
    if (is_declared || count == 1) judge_qos(audit, &publishers[i], owner);
  }
}

static void judge_rate(audit_t *audit)
{
  const tb__manifest_clock_t *declared = &audit->manifest.clock;
  const tb__contract_limits_t *limits = &audit->limits;
  const tb__tick_stream_t *all = &audit->clock.cut.ticks.all;
  double rate = tb__tick_stream_rate(all), factor = tb__tick_stream_factor(all);
  tb__finding_input_t input = clock_finding(audit, TB__RULE_CLOCK_RATE, 0);
  if (rate <= 0) {
    if (declared->rate_hz > 0 || declared->factor_max > 0)
      audit_declared_note(audit, AUDIT_ITEM_DECLARED, "clock", audit->clock_topic,
                          "its rate and its factor could not be measured: %s",
                          all->ticks ? "too few ticks came" : "no tick came");
    return;
  }
  const audit_needed_rate_t needed = audit_clock_needed_rate(audit);
  input.detail = needed.text;
  double off = tb__manifest_rate_off(&audit->manifest, rate);
  if (off > limits->rate_error) input.severity = TB__SEVERITY_ERROR;
  if (off > limits->rate_warn)
    audit_declared_differ(audit, &input, "clock", "it ticks at %.1f Hz, declared are %.1f Hz", rate,
                          declared->rate_hz);
  input.severity = (tb__severity_t)0;
  if (!tb__manifest_factor_fits(declared, limits, factor))
    audit_declared_differ(audit, &input, "clock", "its factor is %.3f, declared are %.3f to %.3f",
                          factor, declared->factor_min, declared->factor_max);
}

/* What other parts of the audit have found of what is declared. */
static void repeat_findings(audit_t *audit)
{
  const clock_error_t error = audit_clock_error(audit);
  tb__finding_input_t several = clock_finding(audit, TB__RULE_CLOCK_TWO_PUBLISHERS, 0);
  tb__finding_input_t inexact = clock_finding(audit, TB__RULE_CLOCK_ERROR, 0);
  char text[TB__FINDING_LINE_SIZE];
  int64_t allowed_ns = audit->manifest.max_error_ns;
  if (tb__ticks_simultaneous(&audit->clock.cut.ticks) > 1)
    differ(audit, &several, false, "clock", "several publishers tick");
  if (allowed_ns && error.error_ns > allowed_ns) {
    snprintf(text, sizeof text, "its time is wrong by up to %.1f ms, declared are %.1f ms",
             1e-6 * (double)error.error_ns, 1e-6 * (double)allowed_ns);
    differ(audit, &inexact, false, "clock", text);
  } else if (allowed_ns && !error.error_ns) {
    audit_declared_note(
        audit, AUDIT_ITEM_DECLARED, "clock", audit->clock_topic,
        "max_error is declared to be %.1f ms; the error of its time could not be measured",
        1e-6 * (double)allowed_ns);
  }
}

static void judge_clock(audit_t *audit)
{
  const tb_ros2_graph_endpoint_t *publishers;
  size_t count = tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &publishers);
  bool is_vehicle = audit->manifest.mode == TB__MODE_VEHICLE;
  tb__finding_input_t input = clock_finding(audit, TB__RULE_CLOCK_DECLARED, 0);
  if (is_vehicle) {
    const char *owner = count ? audit_owner_of(audit->view.snapshot, &publishers[0]) : NULL;
    input.severity = TB__SEVERITY_WARN;
    if (count)
      audit_declared_differ(audit, &input, "clock",
                            "it has a publisher, %s, and mode vehicle declares none",
                            owner ? owner : "a program without a node");
    return;
  }
  if (!count) {
    audit_declared_differ(audit, &input, "clock", "nothing publishes it%s%s",
                          audit->manifest.clock.publisher ? "; declared is " : "",
                          audit->manifest.clock.publisher ? audit->manifest.clock.publisher : "");
    return;
  }
  judge_publishers(audit, publishers, count);
  judge_rate(audit);
  repeat_findings(audit);
}

/* --- topics --- */

static bool is_publisher_of(const tb_ros2_graph_endpoint_t *endpoint, const char *pattern)
{
  return endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && endpoint->is_publisher &&
         tb__name_matches(pattern, endpoint->name);
}

static bool is_published(const audit_t *audit, const char *pattern)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    if (is_publisher_of(&snapshot->endpoints[i], pattern)) return true;
  return false;
}

static tb__finding_input_t topic_finding(const char *name, tb__severity_t severity)
{
  return (tb__finding_input_t){.rule = TB__RULE_TOPIC_DECLARED,
                               .severity = severity,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = name};
}

static void judge_types(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    bool is_topic = endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && endpoint->is_publisher;
    const tb__manifest_topic_t *declared =
        is_topic ? tb__manifest_topic(&audit->manifest, endpoint->name, NULL) : NULL;
    tb__finding_input_t input = topic_finding(endpoint->name, TB__SEVERITY_ERROR);
    input.cause = audit_owner_of(snapshot, endpoint);
    if (declared && declared->type && strcmp(declared->type, endpoint->type) != 0)
      audit_declared_differ(audit, &input, "topic", "its type is %s, declared is %s",
                            endpoint->type, declared->type);
  }
}

static void judge_topics(audit_t *audit)
{
  const tb__manifest_t *manifest = &audit->manifest;
  for (size_t i = 0; i < manifest->topic_count; i++) {
    const char *name = manifest->topics[i].name;
    tb__finding_input_t input = topic_finding(name, 0);
    if (is_published(audit, name)) continue;
    if (is_pattern(name))
      audit_declared_note(audit, AUDIT_ITEM_NOTE, "topic", name, "no published topic matches it");
    else
      audit_declared_differ(audit, &input, "topic", "nothing publishes it");
  }
  judge_types(audit);
  for (size_t i = 0; i < manifest->path_count; i++) {
    const char *ends[] = {manifest->paths[i].from, manifest->paths[i].to};
    for (size_t j = 0; j < 2; j++) {
      tb__finding_input_t input = topic_finding(ends[j], 0);
      if (!is_published(audit, ends[j]))
        audit_declared_differ(audit, &input, "path", "nothing publishes it");
    }
  }
}

static void judge_evidence(audit_t *audit)
{
  const tb__manifest_t *manifest = &audit->manifest;
  for (size_t i = 0; i < manifest->evidence.count; i++) {
    const char *name = manifest->evidence.items[i];
    bool is_own = strncmp(name, "/timebase/", strlen("/timebase/")) == 0; /* the recorder's */
    bool is_clock = manifest->clock.topic && strcmp(name, manifest->clock.topic) == 0;
    tb__finding_input_t input = {
        .rule = TB__RULE_MISSING_EVIDENCE, .kind = TB__SUBJECT_TOPIC, .subject = name};
    if (is_own || is_clock || is_published(audit, name)) continue;
    if (manifest->has_evidence)
      audit_declared_differ(audit, &input, "evidence", "nothing publishes it");
    else
      audit_declared_note(audit, AUDIT_ITEM_NOTE, "evidence", name, "nothing publishes it");
  }
}

void audit_declared_repeat(audit_t *audit, const tb__finding_input_t *input, const char *what,
                           const char *text)
{
  differ(audit, input, false, what, text);
}

void audit_declared_find(audit_t *audit)
{
  if (!audit->has_manifest) return;
  judge_clock(audit);
  judge_nodes(audit);
  judge_topics(audit);
  audit_declared_find_streams(audit);
  judge_evidence(audit);
}

/* --- the report --- */

void audit_declared_print(const audit_t *audit)
{
  const audit_declared_t *declared = &audit->declared;
  size_t shown = 0, count = declared->counts[AUDIT_ITEM_DECLARED];
  for (size_t i = 0; i < declared->count && shown < ITEMS_SHOWN; i++) {
    const audit_item_t *item = &declared->items[i];
    if (item->kind != AUDIT_ITEM_DECLARED) continue;
    text_out("declared %s %s: ", item->what, item->name);
    text_out("%s\n", item->text);
    shown++;
  }
  if (count > shown)
    text_out("and %zu more that are only declared; --json has all of them\n", count - shown);
}

json_t *audit_declared_json(const audit_t *audit, audit_item_kind_t kind)
{
  json_t *list = json_array();
  for (size_t i = 0; i < audit->declared.count; i++) {
    const audit_item_t *item = &audit->declared.items[i];
    if (item->kind != kind) continue;
    json_t *object = json_object();
    json_put(object, "kind", json_string(item->what));
    json_put(object, "name", text_json(item->name));
    json_put(object, "text", text_json(item->text));
    json_push(list, object);
  }
  return list;
}
