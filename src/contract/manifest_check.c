#include "contract/manifest_check.h"

#include <string.h>
#include <timebase/duration.h>

typedef struct check {
  const tb__manifest_t *manifest;
  const tb__yaml_node_t *root;
  tb__problems_t *problems;
} check_t;

/* The place of `key` in `map`, of the map's own key without it. */
static void place_of(const tb__yaml_node_t *map, const char *key, size_t *line, size_t *column)
{
  const tb__yaml_node_t *node = key ? tb__yaml_find(map, key) : NULL;
  if (!node) node = map;
  *line = !node ? 0 : node->key_line ? node->key_line : node->line;
  *column = !node ? 0 : node->key_line ? node->key_column : node->column;
}

#define REPORT(check, is_error, map, key, ...)                                                     \
  do {                                                                                             \
    size_t line_, column_;                                                                         \
    place_of(map, key, &line_, &column_);                                                          \
    tb__problems_add((check)->problems, is_error, line_, column_, __VA_ARGS__);                    \
  } while (0)

static void check_clock(const check_t *check)
{
  static const char *const of_topic[] = {"topic", "publisher", "rate", "factor", "qos"};
  const tb__yaml_node_t *clock = tb__yaml_find(check->root, "clock");
  const char *source = tb__yaml_text(tb__yaml_find(clock, "source"));
  bool is_vehicle = check->manifest->mode == TB__MODE_VEHICLE;
  if (source && is_vehicle == (strcmp(source, "topic") == 0))
    REPORT(check, true, clock, "source", "clock.source: '%s' does not go with mode %s; write %s",
           source, tb__manifest_mode_name(check->manifest->mode), is_vehicle ? "system" : "topic");
  for (size_t i = 0; is_vehicle && i < sizeof of_topic / sizeof *of_topic; i++)
    if (tb__yaml_find(clock, of_topic[i]))
      REPORT(check, true, clock, of_topic[i],
             "clock.%s: mode vehicle has no clock topic; remove the line, or write mode simulation "
             "or replay",
             of_topic[i]);
}

/* Time moves in steps of factor / rate. */
static void check_max_error(const check_t *check)
{
  const tb__manifest_t *manifest = check->manifest;
  double factor = manifest->clock.factor_max > 0 ? manifest->clock.factor_max : 1;
  char text[TB_DURATION_TEXT_SIZE] = "";
  if (!manifest->max_error_ns || manifest->clock.rate_hz <= 0) return;
  double tick_ns = 1e9 * factor / manifest->clock.rate_hz;
  if (tick_ns <= (double)manifest->max_error_ns) return;
  tb_duration_format((tb_duration_t){manifest->max_error_ns}, text, sizeof text);
  REPORT(check, false, check->root, "max_error",
         "max_error: %s is less than one tick of the clock (%g ms); a rate above %g, or a lower "
         "factor, would meet it",
         text, tick_ns / 1e6, 1e9 * factor / (double)manifest->max_error_ns);
}

static void check_node(const check_t *check, const tb__manifest_node_t *node,
                       const tb__yaml_node_t *map)
{
  bool is_vehicle = check->manifest->mode == TB__MODE_VEHICLE;
  const char *mode = tb__manifest_mode_name(check->manifest->mode);
  if (is_vehicle && node->use_sim_time)
    REPORT(check, true, map, "use_sim_time",
           "nodes.%s.use_sim_time: mode vehicle has no clock topic, and the node would wait for it "
           "forever; write false",
           node->name);
  if (is_vehicle) return;
  if (node->timing_critical && !node->use_sim_time)
    REPORT(check, false, map, "use_sim_time",
           "nodes.%s: timing-critical, but on wall time in mode %s; write use_sim_time: true, or "
           "timing_critical: false",
           node->name, mode);
  for (int kind = TB__KIND_HEADERS; kind <= TB__KIND_TF; kind++) {
    const char *name = tb__time_kind_name((tb__time_kind_t)kind);
    if (node->bases[kind] == TB__TIME_SYSTEM)
      REPORT(check, false, map, name,
             "nodes.%s.%s: stamps of system time do not fit the others' in mode %s; write ros "
             "unless the node cannot do otherwise",
             node->name, name, mode);
  }
}

static void check_topic(const check_t *check, const tb__manifest_topic_t *topic,
                        const tb__yaml_node_t *map)
{
  if (topic->budget_ns > topic->limits.age_max_ns)
    REPORT(check, false, map, "budget",
           "topics.%s.budget: it is above age_max, from which on the age is an error; raise "
           "age_max in the topic's thresholds",
           topic->name);
}

static bool has_name(const tb__manifest_names_t *names, const char *name)
{
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->items[i], name) == 0) return true;
  return false;
}

static void check_evidence(const check_t *check)
{
  const tb__manifest_t *manifest = check->manifest;
  bool is_vehicle = manifest->mode == TB__MODE_VEHICLE;
  const char *needed = is_vehicle ? TB__POINTS_TOPIC : manifest->clock.topic;
  if (!manifest->has_evidence) return;
  if (!has_name(&manifest->evidence, needed))
    REPORT(check, false, check->root, "evidence",
           "evidence: %s is not in it, without which no time of a recording can be explained; add "
           "it",
           needed);
  if (is_vehicle && has_name(&manifest->evidence, "/clock"))
    REPORT(check, false, check->root, "evidence",
           "evidence: mode vehicle has no /clock; remove it");
}

static void check_rehearsal(const check_t *check)
{
  const tb__manifest_rehearsal_t *rehearsal = &check->manifest->rehearsal;
  const tb__yaml_node_t *map = tb__yaml_find(check->root, "rehearsal");
  if (!rehearsal->is_declared) return;
  if (check->manifest->mode == TB__MODE_VEHICLE)
    REPORT(check, true, check->root, "rehearsal",
           "rehearsal: it plays a recording with /clock, which mode vehicle has not; declare it in "
           "a manifest of mode replay");
  if (rehearsal->withhold.count && !rehearsal->safety.topic)
    REPORT(
        check, false, map, "withhold",
        "rehearsal.withhold: nothing shows that the loss of an input is noticed; declare safety, "
        "the output that trips");
  if (rehearsal->safety.topic && has_name(&rehearsal->inputs, rehearsal->safety.topic))
    REPORT(check, true, map, "inputs",
           "rehearsal.inputs: %s is the safety output, which must not be played; remove it",
           rehearsal->safety.topic);
}

void tb__manifest_check(const tb__manifest_t *manifest, const tb__yaml_node_t *root,
                        tb__problems_t *problems)
{
  check_t check = {manifest, root, problems};
  const tb__yaml_node_t *nodes = tb__yaml_find(root, "nodes");
  const tb__yaml_node_t *topics = tb__yaml_find(root, "topics");
  check_clock(&check);
  check_max_error(&check);
  for (size_t i = 0; i < manifest->node_count; i++)
    check_node(&check, &manifest->nodes[i], tb__yaml_find(nodes, manifest->nodes[i].name));
  for (size_t i = 0; i < manifest->topic_count; i++)
    check_topic(&check, &manifest->topics[i], tb__yaml_find(topics, manifest->topics[i].name));
  check_evidence(&check);
  check_rehearsal(&check);
}
