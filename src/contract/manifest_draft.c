#include "contract/manifest_draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "contract/manifest_names.h"

typedef struct draft {
  const tb__draft_facts_t *facts;
  FILE *out;
  size_t marks;
  tb__manifest_mode_t mode;
  bool expects_sim_time;
} draft_t;

/* --- what is expected --- */

const char *tb__draft_role(const char *node_name)
{
  static const struct {
    const char *part, *role;
  } known[] = {
      {"rosbag2_recorder", "recorder"},
      {"rosbag2_player", "player"},
      {"recorder", "recorder"},
      {"rviz", "viewer"},
      {"rqt", "viewer"},
      {"foxglove", "viewer"},
      {"plotjuggler", "viewer"},
  };
  const char *base = strrchr(node_name, '/');
  base = base ? base + 1 : node_name;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(base, known[i].part, strlen(known[i].part)) == 0) return known[i].role;
  return NULL;
}

static bool is_counted(const tb__draft_node_t *node)
{
  return !node->publishes_clock && !tb__draft_role(node->name) && !tb__base_is_tool(node->name);
}

bool tb__draft_expects_sim_time(const tb__draft_facts_t *facts)
{
  size_t on_clock = 0, on_wall = 0;
  for (size_t i = 0; i < facts->node_count; i++) {
    if (!is_counted(&facts->nodes[i])) continue;
    on_clock += facts->nodes[i].sim_time == TB__IS_TRUE;
    on_wall += facts->nodes[i].sim_time == TB__IS_FALSE;
  }
  return on_clock == on_wall ? facts->has_clock : on_clock > on_wall;
}

static tb__manifest_mode_t mode_of(const tb__draft_facts_t *facts)
{
  if (facts->has_clock && facts->is_replay) return TB__MODE_REPLAY;
  return facts->has_clock || tb__draft_expects_sim_time(facts) ? TB__MODE_SIMULATION
                                                               : TB__MODE_VEHICLE;
}

/* --- text --- */

static void put(draft_t *draft, const char *format, ...) TB_PRINTF(2, 3);

static void put(draft_t *draft, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(draft->out, format, arguments);
  va_end(arguments);
}

/* Text of others in a comment: printable, and without a line feed. */
static void put_harmless(draft_t *draft, const char *text)
{
  char character[TB_TEXT_CHARACTER_SIZE];
  for (size_t length = 0; text && *text; text += length) {
    length = tb_text_escape_character(text, character);
    if (!length) return;
    put(draft, "%s", character);
  }
}

/* The same as a value. */
static void put_quoted(draft_t *draft, const char *text)
{
  char character[TB_TEXT_CHARACTER_SIZE];
  put(draft, "\"");
  for (size_t length = 0; text && *text; text += length) {
    length = tb_text_escape_character(text, character);
    if (!length) break;
    for (const char *at = character; *at; at++)
      put(draft, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
  }
  put(draft, "\"");
}

static void put_value(draft_t *draft, const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
  if (*text && text[strspn(text, plain)] == '\0' && (*text < '0' || *text > '9'))
    put(draft, "%s", text);
  else
    put_quoted(draft, text);
}

/* Ends the line with the mark. */
static void put_mark(draft_t *draft, const char *text)
{
  draft->marks++;
  put(draft, "  # CHECK: ");
  put_harmless(draft, text);
  put(draft, "\n");
}

/* Without an exponent, in three digits or a whole number. */
static void put_rate(draft_t *draft, double hz)
{
  char text[64];
  snprintf(text, sizeof text, "%.*f", hz >= 100 ? 0 : hz >= 10 ? 1 : hz >= 1 ? 2 : 3, hz);
  for (char *at = text; *at; at++)
    if (*at == ',') *at = '.';
  if (strchr(text, '.')) {
    for (size_t end = strlen(text); end > 0 && text[end - 1] == '0'; end--)
      text[end - 1] = '\0';
    size_t length = strlen(text);
    if (text[length - 1] == '.') text[length - 1] = '\0';
  }
  put(draft, "%s", text);
}

static bool is_rate(double hz)
{
  return hz >= 0.01 && hz <= 1e6;
}

/* --- sections --- */

static void put_head(draft_t *draft)
{
  const tb__draft_facts_t *facts = draft->facts;
  put(draft, "# Made from ");
  put_harmless(draft, facts->source);
  put(draft, ". Read it and correct it: it has what was seen, and that\n"
             "# may be wrong. Lines with CHECK look so. docs/manifest.md explains the keys.\n");
  put(draft, "timebase_manifest: %d\n", TB__MANIFEST_VERSION);
  put(draft, "mode: %s", tb__manifest_mode_name(draft->mode));
  if (facts->has_clock)
    put(draft, "  # because there is /clock%s\n",
        draft->mode == TB__MODE_REPLAY ? ", of a player" : "");
  else if (draft->mode == TB__MODE_SIMULATION)
    put_mark(draft, "most nodes wait for /clock, and nothing publishes it");
  else
    put(draft, "  # because there is no /clock\n");
  put(draft, "# max_error: 20ms  # how far a node's time may be off: fill this in\n");
}

static void put_clock(draft_t *draft)
{
  const tb__draft_facts_t *facts = draft->facts;
  char text[80];
  if (draft->mode == TB__MODE_VEHICLE) {
    put(draft, "\nclock:\n  source: system\n");
    return;
  }
  put(draft, "\nclock:\n  topic: /clock");
  snprintf(text, sizeof text, "%zu publishers, where one is right", facts->clock_publishers);
  if (facts->clock_publishers > 1)
    put_mark(draft, text);
  else if (facts->clock_mark)
    put_mark(draft, facts->clock_mark);
  else
    put(draft, "\n");
  if (facts->clock_publisher && facts->clock_publishers == 1 &&
      tb__manifest_name_is_valid(facts->clock_publisher)) {
    put(draft, "  publisher: %s\n", facts->clock_publisher);
  }
  if (is_rate(facts->clock_rate_hz)) {
    put(draft, "  rate: ");
    put_rate(draft, facts->clock_rate_hz);
    put(draft, "  # measured\n");
  }
  if (is_rate(facts->clock_factor)) {
    put(draft, "  factor: ");
    put_rate(draft, facts->clock_factor);
    put(draft, "  # measured\n");
  }
}

/* The expected value, with a mark at a node that does otherwise. */
static void put_sim_time(draft_t *draft, const tb__draft_node_t *node)
{
  bool expected = draft->expects_sim_time && draft->mode != TB__MODE_VEHICLE;
  bool is_observed =
      !is_counted(node) && node->sim_time != TB__IS_NOT_KNOWN && draft->mode != TB__MODE_VEHICLE;
  if (is_observed) expected = node->sim_time == TB__IS_TRUE;
  put(draft, "    use_sim_time: %s", expected ? "true" : "false");
  if (node->sim_time == TB__IS_NOT_KNOWN) {
    put(draft, "  # not observed\n");
    return;
  }
  if (is_observed || expected == (node->sim_time == TB__IS_TRUE)) {
    put(draft, "\n");
    return;
  }
  char text[400];
  snprintf(text, sizeof text, "it is on %s, unlike most nodes (%s)",
           expected ? "wall time" : "simulated time", node->evidence ? node->evidence : "");
  put_mark(draft, text);
}

/* Not one that is not a name of ROS: the text would not be a manifest. */
static void put_skipped(draft_t *draft, const char *name)
{
  put(draft, "  # ");
  put_harmless(draft, name);
  put(draft, ":");
  put_mark(draft, "not a name of ROS, left out");
}

static void put_node(draft_t *draft, const tb__draft_node_t *node)
{
  const char *role = node->publishes_clock ? "clock" : tb__draft_role(node->name);
  if (!tb__manifest_name_is_valid(node->name)) {
    put_skipped(draft, node->name);
    return;
  }
  put(draft, "  %s:", node->name);
  if (node->is_repeated)
    put_mark(draft, "several nodes have this name");
  else
    put(draft, "\n");
  if (role) put(draft, "    role: %s\n", role);
  put_sim_time(draft, node);
}

/* Nodes are in order of their names. */
static bool is_listed(const draft_t *draft, size_t index)
{
  const tb__draft_node_t *nodes = draft->facts->nodes;
  if (tb__base_is_tool(nodes[index].name)) return false;
  return index == 0 || strcmp(nodes[index].name, nodes[index - 1].name) != 0;
}

static void put_nodes(draft_t *draft)
{
  const tb__draft_facts_t *facts = draft->facts;
  size_t listed = 0;
  if (facts->is_recording) {
    put(draft, "\n# A recording does not have the names of nodes: list them here.\n"
               "# nodes:\n#   /ekf: {role: estimator, timing_critical: true}\n");
    return;
  }
  put(draft, "\n# What cannot be seen, such as timing_critical, timers and hardware_timeouts, is\n"
             "# for you to declare; hardware_timeouts are steady unless declared as none.\n"
             "nodes:\n");
  for (size_t i = 0; i < facts->node_count && listed < TB__MANIFEST_ENTRIES_MAX; i++) {
    if (!is_listed(draft, i)) continue;
    put_node(draft, &facts->nodes[i]);
    listed++;
  }
}

static void put_topic(draft_t *draft, const tb__draft_topic_t *topic)
{
  if (!tb__manifest_name_is_valid(topic->name)) {
    put_skipped(draft, topic->name);
    return;
  }
  put(draft, "  %s:", topic->name);
  if (topic->mark)
    put_mark(draft, topic->mark);
  else
    put(draft, "\n");
  if (topic->type && *topic->type) {
    put(draft, "    type: ");
    put_value(draft, topic->type);
    put(draft, "\n");
  }
  if (is_rate(topic->rate_hz)) {
    put(draft, "    rate: ");
    put_rate(draft, topic->rate_hz);
    put(draft, "  # measured\n");
  }
}

static void put_topics(draft_t *draft)
{
  const tb__draft_facts_t *facts = draft->facts;
  put(draft, "\n# Add a budget to topics whose age matters, as in budget: 100ms.\ntopics:\n");
  for (size_t i = 0; i < facts->topic_count && i < TB__MANIFEST_ENTRIES_MAX; i++)
    put_topic(draft, &facts->topics[i]);
}

static bool has_topic(const tb__draft_facts_t *facts, const char *name)
{
  for (size_t i = 0; i < facts->topic_count; i++)
    if (strcmp(facts->topics[i].name, name) == 0) return true;
  return false;
}

/* Those that there are; the others are named, for when something publishes them. */
static void put_evidence(draft_t *draft)
{
  static const char *const wanted[] = {"/tf", "/tf_static", "/diagnostics"};
  bool is_vehicle = draft->mode == TB__MODE_VEHICLE, lacks_any = false;
  put(draft, "\n# What a recording of an incident must hold:\nevidence: [");
  if (!is_vehicle) put(draft, "/clock, ");
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (has_topic(draft->facts, wanted[i])) put(draft, "%s, ", wanted[i]);
  put(draft, "%s%s]\n", TB__MANIFEST_TOPIC, is_vehicle ? ", " TB__POINTS_TOPIC : "");
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    if (has_topic(draft->facts, wanted[i])) continue;
    put(draft, "%s%s",
        lacks_any ? ", " : "# Not seen, and evidence where there is any: ", wanted[i]);
    lacks_any = true;
  }
  if (lacks_any) put(draft, "\n");
}

static void put_tail(draft_t *draft)
{
  put(draft, "\n# From an input to what is made of it, by the same header.stamp:\n"
             "# paths:\n#   - {from: /points, to: /odom, budget: 100ms}\n");
  put_evidence(draft);
}

tb_status_t tb__manifest_draft(const tb__draft_facts_t *facts, char **out, size_t *out_marks)
{
  draft_t draft = {.facts = facts,
                   .mode = mode_of(facts),
                   .expects_sim_time = tb__draft_expects_sim_time(facts)};
  char *text = NULL;
  size_t size = 0;
  draft.out = open_memstream(&text, &size);
  if (!draft.out) return TB_ERR_NO_MEMORY;
  put_head(&draft);
  put_clock(&draft);
  put_nodes(&draft);
  put_topics(&draft);
  put_tail(&draft);
  bool is_whole = !ferror(draft.out);
  is_whole = fclose(draft.out) == 0 && is_whole;
  text = tb__libc_adopt(text, size);
  if (!is_whole || !text) {
    free(text);
    return TB_ERR_NO_MEMORY;
  }
  *out = text;
  *out_marks = draft.marks;
  return TB_OK;
}
