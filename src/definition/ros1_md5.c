/* ROS 1's md5sum of a type, from the texts of its definition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/msg_line.h"
#include "definition/ros1_text.h"
#include "definition/schema_builder.h"

typedef enum section_state {
  SECTION_NEW,
  SECTION_BUSY,
  SECTION_DONE,
} section_state_t;

/* The text of one type. */
typedef struct section {
  tb__span_t name; /* "package/Name" */
  size_t begin, end;
  section_state_t state;
  char sum[TB__MD5_TEXT_SIZE];
} section_t;

typedef struct summing {
  const char *text;
  section_t *sections;
  size_t count;
  tb_error_t *error;
} summing_t;

static tb_status_t sum_section(summing_t *summing, section_t *section);

static tb_status_t find_sections(summing_t *summing, const char *type)
{
  tb__msg_line_t line;
  size_t at = 0, begin = 0;
  summing->sections[summing->count++] =
      (section_t){.name = {type, strlen(type)}, .begin = 0, .end = strlen(summing->text)};
  for (; tb__msg_line_next(summing->text, &at, &line); begin = at) {
    if (line.kind != TB__MSG_LINE_HEADING) continue;
    summing->sections[summing->count - 1].end = begin;
    if (summing->count == TB__SCHEMA_TYPES_MAX)
      return tb_error_set(summing->error, TB_ERR_LIMIT, "definition of %.150s: above %d types",
                          type, TB__SCHEMA_TYPES_MAX);
    summing->sections[summing->count++] =
        (section_t){.name = line.name, .begin = at, .end = strlen(summing->text)};
  }
  return TB_OK;
}

static bool is_built_in(tb__span_t type)
{
  static const char *const names[] = {"bool",   "byte",  "char",   "float32", "float64", "int8",
                                      "uint8",  "int16", "uint16", "int32",   "uint32",  "int64",
                                      "uint64", "time",  "string", "duration"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tb__span_is(type, names[i])) return true;
  return false;
}

/* A header has one definition, whatever package it is said to be of. */
static section_t *find_section(summing_t *summing, const section_t *user, tb__span_t type)
{
  char name[2 * TB__DEFINITION_NAME_SIZE];
  tb__span_t package = tb__span_before(user->name, "/");
  bool is_header = tb__span_is(type, "Header") || tb__span_is(type, "std_msgs/Header") ||
                   tb__span_is(type, "roslib/Header");
  if (type.size + package.size + 2 > sizeof name) return NULL;
  if (memchr(type.at, '/', type.size))
    snprintf(name, sizeof name, "%.*s", (int)type.size, type.at);
  else
    snprintf(name, sizeof name, "%.*s/%.*s", (int)package.size, package.at, (int)type.size,
             type.at);
  section_t *found = NULL;
  for (size_t i = 0; i < summing->count; i++) {
    section_t *section = &summing->sections[i];
    if (tb__span_is(section->name, name) && !found) found = section;
    if (is_header && tb__span_is(section->name, "std_msgs/Header")) return section;
    if (is_header && tb__span_is(section->name, "roslib/Header")) found = section;
  }
  return found;
}

static tb_status_t put_field(summing_t *summing, const section_t *section,
                             const tb__msg_line_t *line, FILE *out)
{
  tb__span_t bare = tb__span_before(line->type, "[");
  if (is_built_in(bare)) {
    fprintf(out, "%.*s %.*s\n", (int)line->type.size, line->type.at, (int)line->name.size,
            line->name.at);
    return TB_OK;
  }
  section_t *inner = find_section(summing, section, bare);
  if (!inner)
    return tb_error_set(summing->error, TB_ERR_NOT_FOUND,
                        "definition of %.*s: %.*s, which is in it, is missing",
                        (int)section->name.size, section->name.at, (int)bare.size, bare.at);
  tb_status_t status = sum_section(summing, inner);
  if (!status) fprintf(out, "%s %.*s\n", inner->sum, (int)line->name.size, line->name.at);
  return status;
}

static void put_constant(const tb__msg_line_t *line, FILE *out)
{
  bool is_text = tb__span_is(line->type, "string"); /* no comment follows it */
  tb__span_t value = is_text ? line->rest : tb__span_trimmed(tb__span_before(line->rest, "#"));
  fprintf(out, "%.*s %.*s=%.*s\n", (int)line->type.size, line->type.at, (int)line->name.size,
          line->name.at, (int)value.size, value.at);
}

static tb_status_t put_lines(summing_t *summing, const section_t *section, tb__msg_line_kind_t kind,
                             FILE *out)
{
  tb__msg_line_t line;
  tb_status_t status = TB_OK;
  for (size_t at = section->begin;
       at < section->end && !status && tb__msg_line_next(summing->text, &at, &line);) {
    if (line.kind != kind) continue;
    if (kind == TB__MSG_LINE_CONSTANT)
      put_constant(&line, out);
    else
      status = put_field(summing, section, &line, out);
  }
  return status;
}

static tb_status_t sum_section(summing_t *summing, section_t *section)
{
  char *text = NULL;
  size_t size = 0;
  if (section->state == SECTION_DONE) return TB_OK;
  if (section->state == SECTION_BUSY)
    return tb_error_set(summing->error, TB_ERR_CORRUPT, "definition of %.*s: it contains itself",
                        (int)section->name.size, section->name.at);
  section->state = SECTION_BUSY;
  FILE *out = open_memstream(&text, &size);
  if (!out) return tb__no_memory_for(summing->error, "message definition");
  tb_status_t status = put_lines(summing, section, TB__MSG_LINE_CONSTANT, out);
  if (!status) status = put_lines(summing, section, TB__MSG_LINE_FIELD, out);
  bool is_whole = fclose(out) == 0;
  if (!status && !is_whole) status = tb__no_memory_for(summing->error, "message definition");
  if (!status) {
    tb__span_t summed = tb__span_trimmed((tb__span_t){text, size});
    tb__md5_text(summed.at, summed.size, section->sum);
    section->state = SECTION_DONE;
  }
  free(text);
  return status;
}

tb_status_t tb__ros1_md5sum(const char *type, const char *text, char out[TB__MD5_TEXT_SIZE],
                            tb_error_t *error)
{
  summing_t summing = {.text = text, .error = error};
  summing.sections = calloc(TB__SCHEMA_TYPES_MAX, sizeof *summing.sections);
  if (!summing.sections) return tb__no_memory_for(error, "message definition");
  tb_status_t status = find_sections(&summing, type);
  if (!status) status = sum_section(&summing, &summing.sections[0]);
  if (!status) memcpy(out, summing.sections[0].sum, TB__MD5_TEXT_SIZE);
  free(summing.sections);
  return status;
}
