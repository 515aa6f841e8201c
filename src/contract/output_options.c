#include "contract/output_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/no_memory.h"
#include "platform/input_file.h"
#include "yaml/yaml_tree.h"

#define SIZE_MAX_OF_FILE ((size_t)1 << 20)
#define NODES_MAX        100000
#define OUTPUTS_MAX      1000
#define EVENTS           "/_service_event"

typedef enum kind {
  NO_EFFECT,
  TEXT,
  LOWER,    /* text, with a value that is in lower case here */
  NUMBER,   /* above 0 */
  SECONDS,  /* above 0 */
  FROM_NS,  /* 0 and more */
  UNTIL_NS, /* included, 0 and more */
  WORDS,
  SERVICES, /* words */
  FLAG,     /* kept for the choice of topics */
  REGEX,    /* kept for it too */
} kind_t;

/* Flags and expressions of one output. */
enum { ALL, ALL_TOPICS, ALL_SERVICES, REGEX_ONLY, REGEX_EXCLUDED, KEPT };

typedef struct key {
  const char *name;
  kind_t kind;
  const char *option;
  int kept;
} known_key_t;

static const known_key_t keys[] = {
    {"uri", TEXT, "--output", 0},
    {"storage_id", TEXT, "--storage", 0},
    {"max_bagfile_size", NUMBER, "--max-bag-size", 0},
    {"max_bagfile_duration", SECONDS, "--max-bag-duration", 0},
    {"start_time_ns", FROM_NS, "--start", 0},
    {"end_time_ns", UNTIL_NS, "--end", 0},
    {"compression_mode", LOWER, "--compression-mode", 0},
    {"compression_format", TEXT, "--compression-format", 0},
    {"topics", WORDS, "--topics", 0},
    {"topic_types", WORDS, "--topic-types", 0},
    {"services", SERVICES, "--topics", 0},
    {"exclude_topics", WORDS, "--exclude-topics", 0},
    {"exclude_topic_types", WORDS, "--exclude-topic-types", 0},
    {"exclude_services", SERVICES, "--exclude-topics", 0},
    {"exclude_service_events", SERVICES, "--exclude-topics", 0},
    {"all", FLAG, NULL, ALL},
    {"all_topics", FLAG, NULL, ALL_TOPICS},
    {"all_services", FLAG, NULL, ALL_SERVICES},
    {"regex", REGEX, NULL, REGEX_ONLY},
    {"exclude", REGEX, NULL, REGEX_EXCLUDED},
    {"exclude_regex", REGEX, NULL, REGEX_EXCLUDED},
    {"max_cache_size", NO_EFFECT, NULL, 0},
    {"storage_preset_profile", NO_EFFECT, NULL, 0},
    {"storage_config_uri", NO_EFFECT, NULL, 0},
    {"snapshot_mode", NO_EFFECT, NULL, 0},
    {"snapshot_duration", NO_EFFECT, NULL, 0},
    {"custom_data", NO_EFFECT, NULL, 0},
    {"rmw_serialization_format", NO_EFFECT, NULL, 0},
    {"input_serialization_format", NO_EFFECT, NULL, 0},
    {"output_serialization_format", NO_EFFECT, NULL, 0},
    {"compression_queue_size", NO_EFFECT, NULL, 0},
    {"compression_threads", NO_EFFECT, NULL, 0},
    {"compression_threads_priority", NO_EFFECT, NULL, 0},
    {"topic_polling_interval", NO_EFFECT, NULL, 0},
    {"topic_qos_profile_overrides", NO_EFFECT, NULL, 0},
    {"is_discovery_disabled", NO_EFFECT, NULL, 0},
    {"node_prefix", NO_EFFECT, NULL, 0},
    {"include_hidden_topics", NO_EFFECT, NULL, 0},
    {"include_unpublished_topics", NO_EFFECT, NULL, 0},
    {"ignore_leaf_topics", NO_EFFECT, NULL, 0},
    {"start_paused", NO_EFFECT, NULL, 0},
    {"use_sim_time", NO_EFFECT, NULL, 0},
    {"disable_keyboard_controls", NO_EFFECT, NULL, 0},
};

typedef struct output {
  tb__output_words_t *words;
  const char *path;       /* of the file, for errors */
  const char *kept[KEPT]; /* "" for a flag that is set; NULL: none */
  bool has_choice;
  tb_error_t *error;
} output_t;

static tb_status_t wrong(const output_t *output, const tb__yaml_node_t *node, const char *text)
{
  size_t line = node->key ? node->key_line : node->line;
  return tb_error_set(output->error, TB_ERR_CORRUPT, "%s: line %zu: %s%s%s", output->path, line,
                      node->key ? node->key : "", node->key ? ": " : "", text);
}

/* "OPTION=BEFORE VALUE AFTER" as one word: a value may begin with a dash. */
static tb_status_t add(output_t *output, const char *option, const char *before, const char *value,
                       const char *after)
{
  tb__output_words_t *words = output->words;
  char **items = reallocarray(words->items, words->count + 2, sizeof *items);
  if (!items) return tb__no_memory(output->error);
  words->items = items;
  if (asprintf(&items[words->count], "%s=%s%s%s", option, before, value, after) < 0)
    return tb__no_memory(output->error);
  items[++words->count] = NULL;
  return TB_OK;
}

static tb_status_t add_text(output_t *output, const known_key_t *key, const char *text)
{
  char lower[64];
  size_t length = strlen(text);
  if (length == 0) return TB_OK;
  if (key->kind != LOWER || length >= sizeof lower) return add(output, key->option, "", text, "");
  for (size_t i = 0; i <= length; i++)
    lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
  return add(output, key->option, "", lower, "");
}

static tb_status_t add_number(output_t *output, const known_key_t *key, const tb__yaml_node_t *node)
{
  char text[32];
  int64_t value;
  if (!tb__yaml_to_int64(node, &value)) return wrong(output, node, "must be a whole number");
  if (value < 0 || (value == 0 && key->kind != FROM_NS && key->kind != UNTIL_NS)) return TB_OK;
  if (key->kind == UNTIL_NS && value == INT64_MAX) return TB_OK;
  snprintf(text, sizeof text, "%" PRId64, value + (key->kind == UNTIL_NS));
  return add(output, key->option, "", text,
             key->kind == NUMBER    ? ""
             : key->kind == SECONDS ? "s"
                                    : "ns");
}

static tb_status_t add_words(output_t *output, const known_key_t *key, const tb__yaml_node_t *node)
{
  if (node->kind != TB__YAML_SEQUENCE) return wrong(output, node, "must be a list");
  tb_status_t status = TB_OK;
  for (const tb__yaml_node_t *word = node->first; word && !status; word = word->next) {
    if (!tb__yaml_text(word)) return wrong(output, node, "must be a list of texts");
    status = add(output, key->option, "", word->text, key->kind == SERVICES ? EVENTS : "");
    output->has_choice |= strncmp(key->name, "exclude", strlen("exclude")) != 0;
  }
  return status;
}

static tb_status_t keep_flag(output_t *output, const known_key_t *key, const tb__yaml_node_t *node)
{
  const char *text = node->text;
  if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
    return wrong(output, node, "must be true or false");
  if (strcasecmp(text, "true") == 0) output->kept[key->kept] = "";
  return TB_OK;
}

static tb_status_t read_key(output_t *output, const tb__yaml_node_t *node)
{
  const known_key_t *key = NULL;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && !key; i++)
    if (strcmp(keys[i].name, node->key) == 0) key = &keys[i];
  if (!key) return wrong(output, node, "unknown key");
  if (key->kind == NO_EFFECT || tb__yaml_is_null(node)) return TB_OK;
  if (key->kind == WORDS || key->kind == SERVICES) return add_words(output, key, node);
  if (!tb__yaml_text(node)) return wrong(output, node, "must be a single value");
  switch (key->kind) {
  case FLAG:
    return keep_flag(output, key, node);
  case REGEX:
    if (*node->text) output->kept[key->kept] = node->text;
    return TB_OK;
  case TEXT:
  case LOWER:
    return add_text(output, key, node->text);
  default:
    return add_number(output, key, node);
  }
}

/* `all_topics` is all but the events of services, `all_services` these alone, `all` both. */
static tb_status_t add_choice(output_t *output, const tb__yaml_node_t *map)
{
  const char *const *kept = output->kept;
  const char *regex = kept[REGEX_ONLY], *excluded = kept[REGEX_EXCLUDED];
  bool all = kept[ALL] || (kept[ALL_TOPICS] && kept[ALL_SERVICES]);
  bool has_choice = output->has_choice || regex;
  tb_status_t status = TB_OK;
  if (!all && !kept[ALL_TOPICS] && !kept[ALL_SERVICES] && !has_choice)
    return wrong(output, map, "nothing is chosen; write 'all: true', or topics, types or a regex");
  if (all || kept[ALL_TOPICS])
    status = add(output, "--regex", "", ".", ""); /* no other choice adds to all */
  else if (kept[ALL_SERVICES] && regex)
    status = add(output, "--regex", "(?:", regex, ")|" EVENTS "$");
  else if (kept[ALL_SERVICES] || regex)
    status = add(output, "--regex", "", regex ? regex : EVENTS "$", "");
  if (status) return status;
  if (kept[ALL_TOPICS] && !all && excluded)
    return add(output, "--exclude-regex", "(?:", excluded, ")|" EVENTS "$");
  if (kept[ALL_TOPICS] && !all) return add(output, "--exclude-regex", "", EVENTS, "$");
  return excluded ? add(output, "--exclude-regex", "", excluded, "") : TB_OK;
}

static tb_status_t read_output(output_t *output, const tb__yaml_node_t *map)
{
  tb_status_t status = TB_OK;
  const char *uri = tb__yaml_text(tb__yaml_find(map, "uri"));
  if (map->kind != TB__YAML_MAPPING || !uri || !*uri)
    return wrong(output, map, "an output needs a uri: the folder to write");
  for (const tb__yaml_node_t *node = map->first; node && !status; node = node->next)
    status = read_key(output, node);
  return status ? status : add_choice(output, map);
}

/* But for slashes after it. */
static bool is_same_uri(const tb__yaml_node_t *a, const tb__yaml_node_t *b)
{
  const char *texts[2] = {tb__yaml_text(tb__yaml_find(a, "uri")),
                          tb__yaml_text(tb__yaml_find(b, "uri"))};
  size_t lengths[2];
  for (int i = 0; i < 2; i++) {
    if (!texts[i]) return false;
    lengths[i] = strlen(texts[i]);
    while (lengths[i] > 1 && texts[i][lengths[i] - 1] == '/')
      lengths[i]--;
  }
  return lengths[0] == lengths[1] && memcmp(texts[0], texts[1], lengths[0]) == 0;
}

/* That no two outputs are one recording. */
static tb_status_t check_uris(const char *path, const tb__yaml_node_t *list, tb_error_t *error)
{
  const output_t output = {.path = path, .error = error};
  for (const tb__yaml_node_t *node = list->first; node; node = node->next)
    for (const tb__yaml_node_t *other = list->first; other != node; other = other->next)
      if (is_same_uri(other, node)) return wrong(&output, node, "another output has the same uri");
  return TB_OK;
}

static tb_status_t read_outputs(const char *path, const tb__yaml_t *yaml, tb__output_options_t *out,
                                tb_error_t *error)
{
  const tb__yaml_node_t *list = tb__yaml_find(yaml->root, "output_bags");
  size_t count = 0;
  if (!list || list->kind != TB__YAML_SEQUENCE || !list->first)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: no list 'output_bags'; write 'output_bags:' and below it "
                        "'- uri: OUT', 'all: true'",
                        path);
  for (const tb__yaml_node_t *node = list->first; node; node = node->next)
    count++;
  if (count > OUTPUTS_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "%s: more than %d outputs", path, OUTPUTS_MAX);
  out->outputs = calloc(count, sizeof *out->outputs);
  if (!out->outputs) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  for (const tb__yaml_node_t *node = list->first; node && !status; node = node->next) {
    output_t output = {.words = &out->outputs[out->count++], .path = path, .error = error};
    status = read_output(&output, node);
  }
  return status ? status : check_uris(path, list, error);
}

tb_status_t tb__output_options_parse(const char *path, const char *text, size_t size,
                                     tb__output_options_t *out, tb_error_t *error)
{
  const tb__yaml_limits_t limits = {
      .size = SIZE_MAX_OF_FILE, .nodes = NODES_MAX, .has_columns = true};
  tb_error_t detail = TB_ERROR_INIT;
  tb__yaml_t yaml = {0};
  tb_status_t status = tb__yaml_parse(text, size, &limits, &yaml, &detail);
  if (status)
    tb_error_set(error, status, "%s: %s", path, detail.text);
  else
    status = read_outputs(path, &yaml, out, error);
  tb__yaml_fini(&yaml);
  if (status) tb__output_options_fini(out);
  return status;
}

tb_status_t tb__output_options_load(const char *path, tb__output_options_t *out, tb_error_t *error)
{
  char *text = NULL;
  size_t size = 0;
  tb_status_t status = tb__input_file_read(path, SIZE_MAX_OF_FILE, &text, &size, error);
  if (!status) status = tb__output_options_parse(path, text, size, out, error);
  free(text);
  return status;
}

void tb__output_options_fini(tb__output_options_t *options)
{
  for (size_t i = 0; i < options->count; i++) {
    for (size_t j = 0; j < options->outputs[i].count; j++)
      free(options->outputs[i].items[j]);
    free(options->outputs[i].items);
  }
  free(options->outputs);
  *options = (tb__output_options_t){0};
}
