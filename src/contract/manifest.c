#include "contract/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "contract/manifest_check.h"
#include "contract/manifest_sections.h"
#include "contract/name_pattern.h"
#include "platform/input_file.h"
#include "yaml/yaml_tree.h"

struct tb__manifest_memory {
  tb__yaml_t yaml; /* the texts of the manifest */
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const evidence_of_clock[] = {"/clock", "/tf", "/tf_static", "/diagnostics",
                                                TB__MANIFEST_TOPIC};
static const char *const evidence_of_vehicle[] = {"/tf", "/tf_static", "/diagnostics",
                                                  TB__MANIFEST_TOPIC, TB__POINTS_TOPIC};

static tb_status_t set_default_evidence(tb__manifest_t *manifest)
{
  bool is_vehicle = manifest->mode == TB__MODE_VEHICLE;
  const char *const *names = is_vehicle ? evidence_of_vehicle : evidence_of_clock;
  size_t count = COUNT(evidence_of_clock);
  manifest->evidence.items = calloc(count, sizeof *manifest->evidence.items);
  if (!manifest->evidence.items) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    manifest->evidence.items[manifest->evidence.count++] = names[i];
  if (!is_vehicle && manifest->clock.topic) manifest->evidence.items[0] = manifest->clock.topic;
  return TB_OK;
}

/* What depends on the mode, where the text declares nothing. */
static tb_status_t set_defaults(tb__manifest_t *manifest)
{
  bool has_clock = manifest->mode != TB__MODE_VEHICLE;
  if (has_clock && !manifest->clock.topic) manifest->clock.topic = "/clock";
  manifest->node_defaults.use_sim_time = has_clock;
  for (size_t i = 0; i < manifest->node_count; i++)
    if (!manifest->nodes[i].has_use_sim_time) manifest->nodes[i].use_sim_time = has_clock;
  return manifest->has_evidence ? TB_OK : set_default_evidence(manifest);
}

static tb_status_t read_document(tb__manifest_t *manifest, const tb__yaml_t *yaml,
                                 tb__problems_t *problems)
{
  tb__fields_reader_t reader = {.problems = problems};
  if (!yaml->root) {
    tb__problems_add(problems, true, 1, 1,
                     "there is nothing in it; 'timebase manifest init' writes one to begin with");
    return TB_OK;
  }
  tb__manifest_read_sections(&reader, yaml->root, manifest);
  if (reader.no_memory) return TB_ERR_NO_MEMORY;
  tb_status_t status = set_defaults(manifest);
  if (!status && manifest->mode) tb__manifest_check(manifest, yaml->root, problems);
  return status;
}

/* The number after `word`; *text goes on after the two characters that follow it. */
static size_t take_number(const char **text, const char *word)
{
  size_t length = strlen(word);
  char *end = NULL;
  if (strncmp(*text, word, length) != 0) return 0;
  size_t number = strtoul(*text + length, &end, 10);
  *text = strlen(end) >= 2 ? end + 2 : end;
  return number;
}

/* "line 3, column 5: TEXT" as a problem at that place. */
static void add_yaml_problem(tb__problems_t *problems, const tb_error_t *error)
{
  const char *text = error->text;
  size_t line = take_number(&text, "line ");
  size_t column = take_number(&text, "column ");
  tb__problems_add(problems, true, line, column, "%s", text);
}

tb_status_t tb__manifest_parse(const char *text, size_t size, tb__problems_t *problems,
                               tb__manifest_t *out)
{
  tb__yaml_limits_t limits = {
      .size = TB__MANIFEST_SIZE_MAX, .nodes = TB__MANIFEST_VALUES_MAX, .has_columns = true};
  tb__manifest_t manifest = {.memory = calloc(1, sizeof *manifest.memory)};
  tb_error_t error = TB_ERROR_INIT;
  if (!manifest.memory) return TB_ERR_NO_MEMORY;
  size_t errors = problems->error_count;
  if (memchr(text, '\0', size)) {
    tb__problems_add(problems, true, 1, 1, "it has a byte that is 0; save it as UTF-8");
    tb__manifest_fini(&manifest);
    return TB_ERR_CORRUPT;
  }
  tb_status_t status = tb__yaml_parse(text, size, &limits, &manifest.memory->yaml, &error);
  if (status && status != TB_ERR_NO_MEMORY) {
    add_yaml_problem(problems, &error);
    status = TB_ERR_CORRUPT;
  }
  if (!status) status = read_document(&manifest, &manifest.memory->yaml, problems);
  if (!status && problems->error_count > errors) status = TB_ERR_CORRUPT;
  tb__problems_sort(problems);
  if (status)
    tb__manifest_fini(&manifest);
  else
    *out = manifest;
  return status;
}

tb_status_t tb__manifest_load(const char *path, tb__problems_t *problems, tb__manifest_t *out,
                              char **out_text, tb_error_t *error)
{
  char *text = NULL;
  size_t size = 0;
  tb_status_t status = tb__input_file_read(path, TB__MANIFEST_SIZE_MAX, &text, &size, error);
  if (status) return status;
  status = tb__manifest_parse(text, size, problems, out);
  if (status == TB_ERR_NO_MEMORY) tb__no_memory_for(error, path);
  if (status == TB_ERR_CORRUPT) tb__problems_status(problems, path, error);
  if (status || !out_text)
    free(text);
  else
    *out_text = text;
  return status;
}

void tb__manifest_fini(tb__manifest_t *manifest)
{
  for (size_t i = 0; i < manifest->off_count; i++)
    free(manifest->off[i].subjects.items);
  free(manifest->nodes);
  free(manifest->topics);
  free(manifest->paths);
  free(manifest->off);
  free(manifest->evidence.items);
  free(manifest->rehearsal.inputs.items);
  free(manifest->rehearsal.outputs.items);
  free(manifest->rehearsal.withhold.items);
  if (manifest->memory) tb__yaml_fini(&manifest->memory->yaml);
  free(manifest->memory);
  *manifest = (tb__manifest_t){0};
}

/* --- what holds for a name --- */

const tb__manifest_node_t *tb__manifest_node(const tb__manifest_t *manifest, const char *name,
                                             bool *out_declared)
{
  const tb__manifest_node_t *found = NULL;
  for (size_t i = 0; i < manifest->node_count; i++) {
    const tb__manifest_node_t *node = &manifest->nodes[i];
    bool is_own = strcmp(node->name, name) == 0;
    if (is_own || (!found && tb__name_matches(node->name, name))) found = node;
    if (is_own) break;
  }
  if (out_declared) *out_declared = found;
  return found ? found : &manifest->node_defaults;
}

const tb__manifest_topic_t *tb__manifest_topic(const tb__manifest_t *manifest, const char *name,
                                               bool *out_declared)
{
  const tb__manifest_topic_t *found = NULL;
  for (size_t i = 0; i < manifest->topic_count; i++) {
    const tb__manifest_topic_t *topic = &manifest->topics[i];
    bool is_own = strcmp(topic->name, name) == 0;
    if (is_own || (!found && tb__name_matches(topic->name, name))) found = topic;
    if (is_own) break;
  }
  if (out_declared) *out_declared = found;
  return found ? found : &manifest->topic_defaults;
}

static bool concerns(const tb__manifest_off_t *off, const char *subject)
{
  if (!off->subjects.count) return true;
  for (size_t i = 0; subject && i < off->subjects.count; i++)
    if (tb__name_matches(off->subjects.items[i], subject)) return true;
  return false;
}

const char *tb__manifest_off_reason(const tb__manifest_t *manifest, tb__rule_id_t rule,
                                    const char *subject)
{
  for (size_t i = 0; i < manifest->off_count; i++)
    if (manifest->off[i].rule == rule && concerns(&manifest->off[i], subject))
      return manifest->off[i].reason;
  return NULL;
}

double tb__manifest_rate_off(const tb__manifest_t *manifest, double rate_hz)
{
  if (manifest->clock.rate_hz <= 0) return 0;
  double off = rate_hz / manifest->clock.rate_hz - 1;
  if (off > 0 && manifest->mode == TB__MODE_REPLAY) return 0;
  return off < 0 ? -off : off;
}

bool tb__manifest_factor_fits(const tb__manifest_clock_t *declared,
                              const tb__contract_limits_t *limits, double factor)
{
  bool is_number = declared->factor_min == declared->factor_max;
  double part = is_number ? limits->rate_warn : 0;
  if (declared->factor_min > 0 && factor < declared->factor_min * (1 - part)) return false;
  return declared->factor_max <= 0 || factor <= declared->factor_max * (1 + part);
}
