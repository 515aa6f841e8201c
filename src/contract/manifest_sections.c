#include "contract/manifest_sections.h"

#include <stdlib.h>
#include <string.h>

#include "contract/manifest_rehearsal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const mode_words[] = {"vehicle", "simulation", "replay", NULL};
static const char *const base_words[] = {"ros", "system", "steady", "none", NULL};
static const char *const kind_names[TB__KIND_COUNT] = {
    [TB__KIND_HEADERS] = "headers",
    [TB__KIND_TF] = "tf",
    [TB__KIND_TIMERS] = "timers",
    [TB__KIND_DIAGNOSTICS] = "diagnostics",
    [TB__KIND_HARDWARE_TIMEOUTS] = "hardware_timeouts",
};

const char *tb__manifest_mode_name(tb__manifest_mode_t mode)
{
  return mode >= TB__MODE_VEHICLE && mode <= TB__MODE_REPLAY ? mode_words[mode - 1] : "unknown";
}

const char *tb__time_base_name(tb__time_base_t base)
{
  return base >= TB__TIME_ROS && base <= TB__TIME_NONE ? base_words[base - 1] : "unknown";
}

const char *tb__time_kind_name(tb__time_kind_t kind)
{
  return kind < TB__KIND_COUNT ? kind_names[kind] : "unknown";
}

bool tb__time_kind_is_observable(tb__time_kind_t kind)
{
  return kind != TB__KIND_TIMERS && kind != TB__KIND_HARDWARE_TIMEOUTS;
}

static void read_version(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  int64_t version = 0;
  (void)out;
  if (!tb__yaml_to_int64(node, &version) || version != TB__MANIFEST_VERSION)
    tb__fields_error(reader, node, "this version is not known; write %d", TB__MANIFEST_VERSION);
}

static void read_mode(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  int word = tb__field_word(reader, node, mode_words);
  if (word >= 0) *(tb__manifest_mode_t *)out = (tb__manifest_mode_t)(word + 1);
}

/* --- clock --- */

static void read_factor(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_clock_t *clock = out;
  if (node->kind != TB__YAML_SEQUENCE) {
    tb__field_number(reader, node, &clock->factor_min);
    clock->factor_max = clock->factor_min;
    return;
  }
  size_t errors = reader->problems->error_count;
  double low = 0, high = 0;
  if (node->first && node->first->next && !node->first->next->next) {
    tb__field_number(reader, node->first, &low);
    tb__field_number(reader, node->first->next, &high);
  }
  if (errors != reader->problems->error_count) return;
  if (low <= 0 || low > high) {
    tb__fields_error(reader, node, "a range is two numbers, the lower one first: [0.9, 1.1]");
    return;
  }
  clock->factor_min = low;
  clock->factor_max = high;
}

static void read_reliability(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const char *const words[] = {"reliable", "best_effort", NULL};
  int word = tb__field_word(reader, node, words);
  if (word >= 0) *(tb_qos_reliability_t *)out = word == 0 ? TB_QOS_RELIABLE : TB_QOS_BEST_EFFORT;
}

static void read_durability(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const char *const words[] = {"volatile", "transient_local", NULL};
  int word = tb__field_word(reader, node, words);
  if (word >= 0) *(tb_qos_durability_t *)out = word == 0 ? TB_QOS_VOLATILE : TB_QOS_TRANSIENT_LOCAL;
}

static void read_depth(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  int64_t depth = 0;
  if (tb__yaml_to_int64(node, &depth) && depth >= 1 && depth <= INT32_MAX)
    *(int32_t *)out = (int32_t)depth;
  else
    tb__fields_error(reader, node, "a depth is a whole number from 1 up");
}

static void read_qos(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const tb__field_t fields[] = {
      {"reliability", read_reliability, offsetof(tb__manifest_clock_t, reliability)},
      {"durability", read_durability, offsetof(tb__manifest_clock_t, durability)},
      {"depth", read_depth, offsetof(tb__manifest_clock_t, depth)},
  };
  tb__manifest_clock_t *clock = out;
  clock->has_qos = true;
  clock->reliability = TB_QOS_BEST_EFFORT; /* rclcpp's ClockQoS */
  clock->durability = TB_QOS_VOLATILE;
  tb__fields_read(reader, node, fields, COUNT(fields), clock);
}

/* "system" is what mode vehicle has; the manifest's check compares the two. */
static void read_source(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const char *const words[] = {"topic", "system", NULL};
  int word = tb__field_word(reader, node, words);
  (void)out;
  (void)word;
}

static void read_clock(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const tb__field_t fields[] = {
      {"source", read_source, 0},
      {"topic", tb__field_name, offsetof(tb__manifest_clock_t, topic)},
      {"publisher", tb__field_name, offsetof(tb__manifest_clock_t, publisher)},
      {"rate", tb__field_number, offsetof(tb__manifest_clock_t, rate_hz)},
      {"factor", read_factor, 0},
      {"qos", read_qos, 0},
  };
  tb__fields_read(reader, node, fields, COUNT(fields), out);
}

/* --- thresholds --- */

#define LIMIT(name, read, field)                                                                   \
  {                                                                                                \
    name, read, offsetof(tb__contract_limits_t, field)                                             \
  }
#define LIMITS_OF_TOPICS                                                                           \
  LIMIT("age_min", tb__field_signed_duration, age_min_ns),                                         \
      LIMIT("age_max", tb__field_duration, age_max_ns),                                            \
      LIMIT("future", tb__field_duration, future_ns),                                              \
      LIMIT("rate_warn", tb__field_ratio, rate_warn),                                              \
      LIMIT("rate_error", tb__field_ratio, rate_error),                                            \
      LIMIT("stall", tb__field_duration, stall_ns),                                                \
      LIMIT("stall_periods", tb__field_number, stall_periods),                                     \
      LIMIT("other_domain", tb__field_duration, other_domain_ns),                                  \
      LIMIT("other_domain_budgets", tb__field_number, other_domain_budgets),                       \
      LIMIT("other_domain_sure", tb__field_duration, other_domain_sure_ns),                        \
      LIMIT("repeated", tb__field_ratio, repeated)

static void check_limits(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                         const tb__contract_limits_t *limits)
{
  if (limits->rate_warn > limits->rate_error)
    tb__fields_error(reader, node, "rate_warn (%g) is above rate_error (%g); write both",
                     limits->rate_warn, limits->rate_error);
  if (limits->age_min_ns > limits->age_max_ns)
    tb__fields_error(reader, node, "age_min is above age_max; write both");
}

static void read_limits(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const tb__field_t fields[] = {
      LIMITS_OF_TOPICS,
      LIMIT("host_offset", tb__field_duration, host_offset_ns),
      LIMIT("system_step", tb__field_duration, system_step_ns),
      LIMIT("silence", tb__field_duration, silence_ns),
      LIMIT("diagnostics_stale", tb__field_duration, diagnostics_stale_ns),
  };
  tb__fields_read(reader, node, fields, COUNT(fields), out);
  check_limits(reader, node, out);
}

static void read_topic_limits(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const tb__field_t fields[] = {LIMITS_OF_TOPICS};
  tb__fields_read(reader, node, fields, COUNT(fields), out);
  check_limits(reader, node, out);
}

/* --- nodes --- */

static void read_sim_time(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_node_t *target = out;
  size_t errors = reader->problems->error_count;
  tb__field_bool(reader, node, &target->use_sim_time);
  target->has_use_sim_time = errors == reader->problems->error_count;
}

static void read_base(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                      tb__manifest_node_t *out, tb__time_kind_t kind)
{
  int word = tb__field_word(reader, node, base_words);
  if (word < 0) return;
  tb__time_base_t base = (tb__time_base_t)(word + 1);
  if (kind == TB__KIND_HARDWARE_TIMEOUTS && base != TB__TIME_STEADY && base != TB__TIME_NONE) {
    tb__fields_error(reader, node,
                     "'%s': a watchdog on it does not expire while time is paused, and jumps with "
                     "it; hardware timeouts must be steady, or none",
                     base_words[word]);
    return;
  }
  if (kind != TB__KIND_HARDWARE_TIMEOUTS && kind != TB__KIND_TIMERS && base == TB__TIME_STEADY) {
    tb__fields_error(reader, node,
                     "stamps of steady time mean nothing to other processes; write "
                     "ros, system or none");
    return;
  }
  out->bases[kind] = base;
  out->has_base[kind] = true;
}

#define BASE_READER(name, kind)                                                                    \
  static void name(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)            \
  {                                                                                                \
    read_base(reader, node, out, kind);                                                            \
  }
BASE_READER(read_headers, TB__KIND_HEADERS)
BASE_READER(read_tf, TB__KIND_TF)
BASE_READER(read_timers, TB__KIND_TIMERS)
BASE_READER(read_diagnostics, TB__KIND_DIAGNOSTICS)
BASE_READER(read_hardware_timeouts, TB__KIND_HARDWARE_TIMEOUTS)

static void read_node(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                      tb__manifest_node_t *out)
{
  static const tb__field_t fields[] = {
      {"role", tb__field_text, offsetof(tb__manifest_node_t, role)},
      {"timing_critical", tb__field_bool, offsetof(tb__manifest_node_t, timing_critical)},
      {"use_sim_time", read_sim_time, 0},
      {"headers", read_headers, 0},
      {"tf", read_tf, 0},
      {"timers", read_timers, 0},
      {"diagnostics", read_diagnostics, 0},
      {"hardware_timeouts", read_hardware_timeouts, 0},
  };
  if (!tb__yaml_is_null(node)) tb__fields_read(reader, node, fields, COUNT(fields), out);
}

static tb__manifest_node_t default_node(void)
{
  return (tb__manifest_node_t){
      .name = "",
      .bases = {TB__TIME_ROS, TB__TIME_ROS, TB__TIME_ROS, TB__TIME_ROS, TB__TIME_STEADY}};
}

/* An array for the entries of a section; NULL: there are none, or no memory. */
static void *entries_create(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                            tb__yaml_kind_t kind, size_t size)
{
  size_t count = tb__fields_count(reader, node, kind);
  void *entries = count ? calloc(count, size) : NULL;
  if (count && !entries) reader->no_memory = true;
  return entries;
}

static void read_nodes(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_t *manifest = out;
  manifest->nodes = entries_create(reader, node, TB__YAML_MAPPING, sizeof *manifest->nodes);
  if (!manifest->nodes) return;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next) {
    tb__manifest_node_t *entry = &manifest->nodes[manifest->node_count];
    if (!tb__field_check_name(reader, item, item->key, true, true)) continue;
    size_t length = tb__fields_enter(reader, item->key);
    *entry = default_node();
    entry->name = item->key;
    entry->line = item->key_line;
    read_node(reader, item, entry);
    manifest->node_count++;
    tb__fields_leave(reader, length);
  }
}

/* --- topics and paths --- */

static void read_topic(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                       tb__manifest_topic_t *out)
{
  static const tb__field_t fields[] = {
      {"type", tb__field_text, offsetof(tb__manifest_topic_t, type)},
      {"rate", tb__field_number, offsetof(tb__manifest_topic_t, rate_hz)},
      {"budget", tb__field_duration, offsetof(tb__manifest_topic_t, budget_ns)},
      {"thresholds", read_topic_limits, offsetof(tb__manifest_topic_t, limits)},
  };
  if (!tb__yaml_is_null(node)) tb__fields_read(reader, node, fields, COUNT(fields), out);
}

static void read_topics(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_t *manifest = out;
  manifest->topics = entries_create(reader, node, TB__YAML_MAPPING, sizeof *manifest->topics);
  if (!manifest->topics) return;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next) {
    tb__manifest_topic_t *entry = &manifest->topics[manifest->topic_count];
    if (!tb__field_check_name(reader, item, item->key, true, true)) continue;
    size_t length = tb__fields_enter(reader, item->key);
    *entry = (tb__manifest_topic_t){
        .name = item->key, .limits = manifest->limits, .line = item->key_line};
    read_topic(reader, item, entry);
    manifest->topic_count++;
    tb__fields_leave(reader, length);
  }
}

static void read_path(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                      tb__manifest_path_t *out)
{
  static const tb__field_t fields[] = {
      {"name", tb__field_text, offsetof(tb__manifest_path_t, name)},
      {"from", tb__field_name, offsetof(tb__manifest_path_t, from)},
      {"to", tb__field_name, offsetof(tb__manifest_path_t, to)},
      {"budget", tb__field_duration, offsetof(tb__manifest_path_t, budget_ns)},
  };
  size_t errors = reader->problems->error_count;
  tb__fields_read(reader, node, fields, COUNT(fields), out);
  if (errors != reader->problems->error_count) return;
  if (!out->from || !out->to || !out->budget_ns)
    tb__fields_error(reader, node, "%s is missing; a path has from, to and budget",
                     !out->from ? "from"
                     : !out->to ? "to"
                                : "budget");
  else if (strcmp(out->from, out->to) == 0)
    tb__fields_error(reader, node, "it leads from '%.100s' to itself; name two topics", out->from);
}

static void read_paths(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_t *manifest = out;
  manifest->paths = entries_create(reader, node, TB__YAML_SEQUENCE, sizeof *manifest->paths);
  if (!manifest->paths) return;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next) {
    tb__manifest_path_t *entry = &manifest->paths[manifest->path_count++];
    entry->line = item->line;
    read_path(reader, item, entry);
  }
}

/* --- rules that are off --- */

static void read_off(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                     tb__manifest_off_t *out)
{
  static const tb__field_t fields[] = {
      {"reason", tb__field_text, offsetof(tb__manifest_off_t, reason)},
      {"subjects", tb__field_names, offsetof(tb__manifest_off_t, subjects)},
  };
  size_t errors = reader->problems->error_count;
  if (node->kind == TB__YAML_SCALAR && !tb__yaml_is_null(node))
    tb__field_text(reader, node, &out->reason);
  else if (node->kind == TB__YAML_MAPPING)
    tb__fields_read(reader, node, fields, COUNT(fields), out);
  if (!out->reason && errors == reader->problems->error_count)
    tb__fields_key_error(reader, node,
                         "no reason is given; write why the rule is off: a text, or "
                         "'reason:' and 'subjects:'");
}

static void read_rules_off(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_t *manifest = out;
  manifest->off = entries_create(reader, node, TB__YAML_MAPPING, sizeof *manifest->off);
  if (!manifest->off) return;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next) {
    tb__manifest_off_t *entry = &manifest->off[manifest->off_count];
    if (!tb__rule_find(item->key, &entry->rule)) {
      tb__fields_key_error(reader, item, "no rule is called '%.60s'; docs/contract.md lists them",
                           item->key);
      continue;
    }
    size_t length = tb__fields_enter(reader, item->key);
    entry->line = item->key_line;
    manifest->off_count++;
    read_off(reader, item, entry);
    tb__fields_leave(reader, length);
  }
}

static void read_evidence(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_t *manifest = out;
  manifest->has_evidence = node->kind == TB__YAML_SEQUENCE;
  tb__field_names(reader, node, &manifest->evidence);
}

/* --- all --- */

void tb__manifest_read_sections(tb__fields_reader_t *reader, const tb__yaml_node_t *root,
                                tb__manifest_t *out)
{
  static const tb__field_t fields[] = {
      {"timebase_manifest", read_version, 0},
      {"name", tb__field_text, offsetof(tb__manifest_t, name)},
      {"mode", read_mode, offsetof(tb__manifest_t, mode)},
      {"max_error", tb__field_duration, offsetof(tb__manifest_t, max_error_ns)},
      {"clock", read_clock, offsetof(tb__manifest_t, clock)},
      {"thresholds", read_limits, offsetof(tb__manifest_t, limits)},
      {"nodes", read_nodes, 0},
      {"topics", read_topics, 0}, /* after the thresholds */
      {"paths", read_paths, 0},
      {"evidence", read_evidence, 0},
      {"rules_off", read_rules_off, 0},
      {"rehearsal", tb__manifest_read_rehearsal, offsetof(tb__manifest_t, rehearsal)},
  };
  out->rehearsal.quiet_ns = TB__REHEARSAL_QUIET_NS;
  out->limits = tb__contract_limits_default();
  out->node_defaults = default_node();
  tb__fields_read(reader, root, fields, COUNT(fields), out);
  out->topic_defaults = (tb__manifest_topic_t){.name = "", .limits = out->limits};
  if (root->kind != TB__YAML_MAPPING) return;
  if (tb__yaml_is_null(tb__yaml_find(root, "timebase_manifest")))
    tb__fields_error(reader, root, "'timebase_manifest: %d' is missing; begin the file with it",
                     TB__MANIFEST_VERSION);
  if (tb__yaml_is_null(tb__yaml_find(root, "mode")))
    tb__fields_error(reader, root, "'mode' is missing; write mode: vehicle, simulation or replay");
}
