/* A manifest with its defaults, as YAML and as JSON. */
#include <stdio.h>
#include <string.h>
#include <timebase/duration.h>
#include <timebase/text.h>

#include "json.h"
#include "manifest.h"
#include "text.h"

/* --- one table of thresholds --- */

typedef enum limit_kind { LIMIT_DURATION, LIMIT_NUMBER } limit_kind_t;

typedef struct limit_row {
  const char *key;
  limit_kind_t kind;
  size_t offset;
  bool is_of_topics;
} limit_row_t;

#define ROW(key, kind, field, topics)                                                              \
  {                                                                                                \
    key, kind, offsetof(tb__contract_limits_t, field), topics                                      \
  }
static const limit_row_t limit_rows[] = {
    ROW("age_min", LIMIT_DURATION, age_min_ns, true),
    ROW("age_max", LIMIT_DURATION, age_max_ns, true),
    ROW("future", LIMIT_DURATION, future_ns, true),
    ROW("rate_warn", LIMIT_NUMBER, rate_warn, true),
    ROW("rate_error", LIMIT_NUMBER, rate_error, true),
    ROW("stall", LIMIT_DURATION, stall_ns, true),
    ROW("stall_periods", LIMIT_NUMBER, stall_periods, true),
    ROW("other_domain", LIMIT_DURATION, other_domain_ns, true),
    ROW("other_domain_budgets", LIMIT_NUMBER, other_domain_budgets, true),
    ROW("other_domain_sure", LIMIT_DURATION, other_domain_sure_ns, true),
    ROW("repeated", LIMIT_NUMBER, repeated, true),
    ROW("host_offset", LIMIT_DURATION, host_offset_ns, false),
    ROW("system_step", LIMIT_DURATION, system_step_ns, false),
    ROW("silence", LIMIT_DURATION, silence_ns, false),
    ROW("diagnostics_stale", LIMIT_DURATION, diagnostics_stale_ns, false),
};
#define LIMIT_COUNT (sizeof limit_rows / sizeof *limit_rows)

static int64_t limit_ns(const tb__contract_limits_t *limits, const limit_row_t *row)
{
  return *(const int64_t *)((const char *)limits + row->offset);
}

static double limit_number(const tb__contract_limits_t *limits, const limit_row_t *row)
{
  return *(const double *)((const char *)limits + row->offset);
}

static bool is_same(const tb__contract_limits_t *a, const tb__contract_limits_t *b,
                    const limit_row_t *row)
{
  if (row->kind == LIMIT_DURATION) return limit_ns(a, row) == limit_ns(b, row);
  return limit_number(a, row) == limit_number(b, row);
}

/* --- YAML --- */

static void print_duration(int64_t ns)
{
  char text[TB_DURATION_TEXT_SIZE];
  if (tb_duration_format((tb_duration_t){ns}, text, sizeof text) == TB_OK) text_out("%s", text);
}

/* Decimal, without an exponent. */
static void print_number(double value)
{
  char text[64];
  snprintf(text, sizeof text, "%.9f", value);
  for (size_t length = strlen(text); length > 0 && text[length - 1] == '0'; length--)
    text[length - 1] = '\0';
  size_t length = strlen(text);
  if (length > 0 && text[length - 1] == '.') text[length - 1] = '\0';
  text_out("%s", text);
}

/* In double quotes, where the escapes of what a terminal would not show are YAML's too. */
static void print_text(const char *text)
{
  char character[TB_TEXT_CHARACTER_SIZE];
  text_out("\"");
  while (*text) {
    bool is_special = *text == '"' || *text == '\\';
    size_t length = tb_text_escape_character(text, character);
    text_out("%s%s", is_special ? "\\" : "", character);
    text += length;
  }
  text_out("\"");
}

static void print_names(const tb__manifest_names_t *names)
{
  text_out("[");
  for (size_t i = 0; i < names->count; i++)
    text_out("%s%s%s%s", i ? ", " : "", strchr(names->items[i], '*') ? "\"" : "", names->items[i],
             strchr(names->items[i], '*') ? "\"" : "");
  text_out("]\n");
}

static void print_limits(const tb__contract_limits_t *limits, const tb__contract_limits_t *others,
                         const char *indent)
{
  for (size_t i = 0; i < LIMIT_COUNT; i++) {
    const limit_row_t *row = &limit_rows[i];
    if (others && (!row->is_of_topics || is_same(limits, others, row))) continue;
    text_out("%s%s: ", indent, row->key);
    if (row->kind == LIMIT_DURATION)
      print_duration(limit_ns(limits, row));
    else
      print_number(limit_number(limits, row));
    text_out("\n");
  }
}

static const char *reliability_name(const tb__manifest_clock_t *clock)
{
  return clock->reliability == TB_QOS_RELIABLE ? "reliable" : "best_effort";
}

static const char *durability_name(const tb__manifest_clock_t *clock)
{
  return clock->durability == TB_QOS_TRANSIENT_LOCAL ? "transient_local" : "volatile";
}

static void print_clock(const tb__manifest_clock_t *clock)
{
  text_out("clock:\n  source: %s\n", clock->topic ? "topic" : "system");
  if (!clock->topic) return;
  text_out("  topic: %s\n", clock->topic);
  if (clock->publisher) text_out("  publisher: %s\n", clock->publisher);
  if (clock->rate_hz > 0) {
    text_out("  rate: ");
    print_number(clock->rate_hz);
    text_out("\n");
  }
  if (clock->factor_min > 0) {
    text_out("  factor: [");
    print_number(clock->factor_min);
    text_out(", ");
    print_number(clock->factor_max);
    text_out("]\n");
  }
  if (!clock->has_qos) return;
  text_out("  qos:\n    reliability: %s\n    durability: %s\n", reliability_name(clock),
           durability_name(clock));
  if (clock->depth) text_out("    depth: %d\n", (int)clock->depth);
}

/* "default" and "declared", where nothing observes it. */
static void print_node(const tb__manifest_node_t *node)
{
  text_out("  \"%s\":\n", node->name);
  if (node->role) {
    text_out("    role: ");
    print_text(node->role);
    text_out("\n");
  }
  text_out("    timing_critical: %s\n", node->timing_critical ? "true" : "false");
  text_out("    use_sim_time: %s%s\n", node->use_sim_time ? "true" : "false",
           node->has_use_sim_time ? "" : "  # by the mode");
  for (int i = 0; i < TB__KIND_COUNT; i++) {
    tb__time_kind_t kind = (tb__time_kind_t)i;
    text_out("    %s: %s%s\n", tb__time_kind_name(kind), tb__time_base_name(node->bases[i]),
             !node->has_base[i]                   ? "  # default"
             : !tb__time_kind_is_observable(kind) ? "  # declared; cannot be observed"
                                                  : "");
  }
}

static void print_topic(const tb__manifest_t *manifest, const tb__manifest_topic_t *topic)
{
  text_out("  \"%s\":\n", topic->name);
  if (topic->type) {
    text_out("    type: ");
    print_text(topic->type);
    text_out("\n");
  }
  if (topic->rate_hz > 0) {
    text_out("    rate: ");
    print_number(topic->rate_hz);
    text_out("\n");
  }
  if (topic->budget_ns > 0) {
    text_out("    budget: ");
    print_duration(topic->budget_ns);
    text_out("\n");
  }
  for (size_t i = 0; i < LIMIT_COUNT; i++) {
    if (is_same(&topic->limits, &manifest->limits, &limit_rows[i])) continue;
    text_out("    thresholds:\n");
    print_limits(&topic->limits, &manifest->limits, "      ");
    return;
  }
}

static void print_path(const tb__manifest_path_t *path)
{
  text_out("  - from: %s\n    to: %s\n    budget: ", path->from, path->to);
  print_duration(path->budget_ns);
  if (path->name) {
    text_out("\n    name: ");
    print_text(path->name);
  }
  text_out("\n");
}

static void print_off(const tb__manifest_off_t *off)
{
  text_out("  %s:\n    reason: ", tb__rule(off->rule)->id);
  print_text(off->reason);
  text_out("\n");
  if (!off->subjects.count) return;
  text_out("    subjects: ");
  print_names(&off->subjects);
}

static void print_list(const char *key, const tb__manifest_names_t *names)
{
  if (!names->count) return;
  text_out("  %s: ", key);
  print_names(names);
}

static void print_limit(const char *key, int64_t ns)
{
  if (!ns) return;
  text_out("%s: ", key);
  print_duration(ns);
  text_out("\n");
}

static void print_rehearsal(const tb__manifest_rehearsal_t *rehearsal)
{
  const tb__manifest_safety_t *safety = &rehearsal->safety;
  if (!rehearsal->is_declared) return;
  text_out("rehearsal:\n");
  print_list("inputs", &rehearsal->inputs);
  print_list("outputs", &rehearsal->outputs);
  print_limit("  quiet", rehearsal->quiet_ns);
  print_limit("  run", rehearsal->run_ns);
  print_limit("  resume", rehearsal->resume_ns);
  print_list("withhold", &rehearsal->withhold);
  if (!safety->topic) return;
  text_out("  safety:\n    topic: %s\n    field: ", safety->topic);
  print_text(safety->field);
  text_out("\n    trips: ");
  print_text(safety->trips);
  text_out("\n");
  print_limit("    within", safety->within_ns);
}

void manifest_print(const tb__manifest_t *manifest)
{
  text_out("timebase_manifest: %d\n", TB__MANIFEST_VERSION);
  if (manifest->name) {
    text_out("name: ");
    print_text(manifest->name);
    text_out("\n");
  }
  text_out("mode: %s\n", tb__manifest_mode_name(manifest->mode));
  if (manifest->max_error_ns > 0) {
    text_out("max_error: ");
    print_duration(manifest->max_error_ns);
    text_out("\n");
  }
  print_clock(&manifest->clock);
  text_out("thresholds:\n");
  print_limits(&manifest->limits, NULL, "  ");
  if (manifest->node_count) text_out("nodes:\n");
  for (size_t i = 0; i < manifest->node_count; i++)
    print_node(&manifest->nodes[i]);
  if (manifest->topic_count) text_out("topics:\n");
  for (size_t i = 0; i < manifest->topic_count; i++)
    print_topic(manifest, &manifest->topics[i]);
  if (manifest->path_count) text_out("paths:\n");
  for (size_t i = 0; i < manifest->path_count; i++)
    print_path(&manifest->paths[i]);
  text_out("evidence: ");
  print_names(&manifest->evidence);
  if (manifest->off_count) text_out("rules_off:\n");
  for (size_t i = 0; i < manifest->off_count; i++)
    print_off(&manifest->off[i]);
  print_rehearsal(&manifest->rehearsal);
}

/* --- JSON --- */

static json_t *text_or_null(const char *text)
{
  return text ? text_json(text) : json_null();
}

static json_t *number_or_null(double value)
{
  return value > 0 ? json_real(value) : json_null();
}

static json_t *ns_or_null(int64_t ns)
{
  return ns > 0 ? json_integer(ns) : json_null();
}

static json_t *names_json(const tb__manifest_names_t *names)
{
  json_t *out = json_array();
  for (size_t i = 0; i < names->count; i++)
    json_push(out, text_json(names->items[i]));
  return out;
}

static json_t *limits_json(const tb__contract_limits_t *limits, bool is_of_topic)
{
  json_t *out = json_object();
  for (size_t i = 0; i < LIMIT_COUNT; i++) {
    const limit_row_t *row = &limit_rows[i];
    char key[64];
    if (is_of_topic && !row->is_of_topics) continue;
    snprintf(key, sizeof key, "%s%s", row->key, row->kind == LIMIT_DURATION ? "_ns" : "");
    json_put(out, key,
             row->kind == LIMIT_DURATION ? json_integer(limit_ns(limits, row))
                                         : json_real(limit_number(limits, row)));
  }
  return out;
}

static json_t *clock_json(const tb__manifest_clock_t *clock)
{
  json_t *out = json_object(), *qos = clock->has_qos ? json_object() : json_null();
  json_put(out, "source", json_string(clock->topic ? "topic" : "system"));
  json_put(out, "topic", text_or_null(clock->topic));
  json_put(out, "publisher", text_or_null(clock->publisher));
  json_put(out, "rate_hz", number_or_null(clock->rate_hz));
  json_put(out, "factor_min", number_or_null(clock->factor_min));
  json_put(out, "factor_max", number_or_null(clock->factor_max));
  if (clock->has_qos) {
    json_put(qos, "reliability", json_string(reliability_name(clock)));
    json_put(qos, "durability", json_string(durability_name(clock)));
    json_put(qos, "depth", clock->depth ? json_integer(clock->depth) : json_null());
  }
  json_put(out, "qos", qos);
  return out;
}

static json_t *node_json(const tb__manifest_node_t *node)
{
  json_t *out = json_object(), *declared = json_array();
  json_put(out, "name", text_json(node->name));
  json_put(out, "role", text_or_null(node->role));
  json_put(out, "timing_critical", json_boolean(node->timing_critical));
  json_put(out, "use_sim_time", json_boolean(node->use_sim_time));
  if (node->has_use_sim_time) json_push(declared, json_string("use_sim_time"));
  for (int i = 0; i < TB__KIND_COUNT; i++) {
    const char *key = tb__time_kind_name((tb__time_kind_t)i);
    json_put(out, key, json_string(tb__time_base_name(node->bases[i])));
    if (node->has_base[i]) json_push(declared, json_string(key));
  }
  json_put(out, "declared", declared);
  return out;
}

static json_t *topic_json(const tb__manifest_topic_t *topic)
{
  json_t *out = json_object();
  json_put(out, "name", text_json(topic->name));
  json_put(out, "type", text_or_null(topic->type));
  json_put(out, "rate_hz", number_or_null(topic->rate_hz));
  json_put(out, "budget_ns", ns_or_null(topic->budget_ns));
  json_put(out, "thresholds", limits_json(&topic->limits, true));
  return out;
}

static json_t *path_json(const tb__manifest_path_t *path)
{
  json_t *out = json_object();
  json_put(out, "name", text_or_null(path->name));
  json_put(out, "from", text_json(path->from));
  json_put(out, "to", text_json(path->to));
  json_put(out, "budget_ns", json_integer(path->budget_ns));
  return out;
}

static json_t *off_json(const tb__manifest_off_t *off)
{
  json_t *out = json_object();
  json_put(out, "rule", json_string(tb__rule(off->rule)->id));
  json_put(out, "reason", text_json(off->reason));
  json_put(out, "subjects", names_json(&off->subjects));
  return out;
}

static json_t *rehearsal_json(const tb__manifest_rehearsal_t *rehearsal)
{
  const tb__manifest_safety_t *safety = &rehearsal->safety;
  json_t *out = json_object(), *trip = safety->topic ? json_object() : json_null();
  if (safety->topic) {
    json_put(trip, "topic", text_json(safety->topic));
    json_put(trip, "field", text_json(safety->field));
    json_put(trip, "trips", text_json(safety->trips));
    json_put(trip, "within_ns", json_integer(safety->within_ns));
  }
  json_put(out, "inputs", names_json(&rehearsal->inputs));
  json_put(out, "outputs", names_json(&rehearsal->outputs));
  json_put(out, "quiet_ns", json_integer(rehearsal->quiet_ns));
  json_put(out, "run_ns", ns_or_null(rehearsal->run_ns));
  json_put(out, "resume_ns", ns_or_null(rehearsal->resume_ns));
  json_put(out, "withhold", names_json(&rehearsal->withhold));
  json_put(out, "safety", trip);
  return out;
}

json_t *manifest_json(const tb__manifest_t *manifest)
{
  json_t *out = json_object(), *nodes = json_array(), *topics = json_array();
  json_t *paths = json_array(), *off = json_array();
  for (size_t i = 0; i < manifest->node_count; i++)
    json_push(nodes, node_json(&manifest->nodes[i]));
  for (size_t i = 0; i < manifest->topic_count; i++)
    json_push(topics, topic_json(&manifest->topics[i]));
  for (size_t i = 0; i < manifest->path_count; i++)
    json_push(paths, path_json(&manifest->paths[i]));
  for (size_t i = 0; i < manifest->off_count; i++)
    json_push(off, off_json(&manifest->off[i]));
  json_put(out, "timebase_manifest", json_integer(TB__MANIFEST_VERSION));
  json_put(out, "name", text_or_null(manifest->name));
  json_put(out, "mode", json_string(tb__manifest_mode_name(manifest->mode)));
  json_put(out, "max_error_ns", ns_or_null(manifest->max_error_ns));
  json_put(out, "clock", clock_json(&manifest->clock));
  json_put(out, "thresholds", limits_json(&manifest->limits, false));
  json_put(out, "nodes", nodes);
  json_put(out, "topics", topics);
  json_put(out, "paths", paths);
  json_put(out, "evidence", names_json(&manifest->evidence));
  json_put(out, "rules_off", off);
  json_put(out, "rehearsal",
           manifest->rehearsal.is_declared ? rehearsal_json(&manifest->rehearsal) : json_null());
  return out;
}
