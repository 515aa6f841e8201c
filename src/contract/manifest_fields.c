#include "contract/manifest_fields.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/duration.h>

#include "contract/manifest_names.h"

/* --- problems --- */

size_t tb__fields_enter(tb__fields_reader_t *reader, const char *key)
{
  size_t length = strlen(reader->path);
  snprintf(reader->path + length, sizeof reader->path - length, "%s%.*s", length ? "." : "",
           TB__MANIFEST_NAME_MAX, key);
  return length;
}

void tb__fields_leave(tb__fields_reader_t *reader, size_t length)
{
  reader->path[length] = '\0';
}

static void add(tb__fields_reader_t *reader, size_t line, size_t column, const char *format,
                va_list arguments)
{
  char text[TB_ERROR_TEXT_SIZE];
  vsnprintf(text, sizeof text, format, arguments);
  tb__problems_add(reader->problems, true, line, column, "%s%s%s", reader->path,
                   reader->path[0] ? ": " : "", text);
}

void tb__fields_error(tb__fields_reader_t *reader, const tb__yaml_node_t *node, const char *format,
                      ...)
{
  va_list arguments;
  va_start(arguments, format);
  add(reader, node->line, node->column, format, arguments);
  va_end(arguments);
}

void tb__fields_key_error(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                          const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  add(reader, node->key_line, node->key_column, format, arguments);
  va_end(arguments);
}

/* --- mappings and lists --- */

static const char *kind_name(tb__yaml_kind_t kind)
{
  return kind == TB__YAML_MAPPING    ? "a mapping (lines of 'key: value')"
         : kind == TB__YAML_SEQUENCE ? "a list (lines that begin with '- ')"
                                     : "a single value";
}

bool tb__fields_is(tb__fields_reader_t *reader, const tb__yaml_node_t *node, tb__yaml_kind_t kind)
{
  if (node->kind == kind) return true;
  tb__fields_error(reader, node, "this is %s; write %s", kind_name(node->kind), kind_name(kind));
  return false;
}

static void check_repeated(tb__fields_reader_t *reader, const tb__yaml_node_t *map)
{
  for (const tb__yaml_node_t *node = map->first; node; node = node->next)
    for (const tb__yaml_node_t *other = map->first; other != node; other = other->next) {
      if (strcmp(node->key, other->key) != 0) continue;
      tb__fields_key_error(reader, node, "the key '%.100s' is in line %zu too; keep one of them",
                           node->key, other->key_line);
      break;
    }
}

size_t tb__fields_count(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                        tb__yaml_kind_t kind)
{
  size_t count = 0;
  if (!tb__fields_is(reader, node, kind)) return 0;
  for (const tb__yaml_node_t *child = node->first; child; child = child->next)
    count++;
  if (count > TB__MANIFEST_ENTRIES_MAX) {
    tb__fields_error(reader, node, "%zu entries; at most %d are read: use patterns such as /ns/*",
                     count, TB__MANIFEST_ENTRIES_MAX);
    return 0;
  }
  if (kind == TB__YAML_MAPPING) check_repeated(reader, node);
  return count;
}

static void report_unknown(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                           const tb__field_t *fields, size_t count)
{
  char known[TB_ERROR_TEXT_SIZE / 2] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof known; i++)
    used +=
        (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", fields[i].key);
  tb__fields_key_error(reader, node, "unknown key '%.100s'; use %s", node->key, known);
}

static bool is_known(const tb__field_t *fields, size_t count, const char *key)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(fields[i].key, key) == 0) return true;
  return false;
}

void tb__fields_read(tb__fields_reader_t *reader, const tb__yaml_node_t *map,
                     const tb__field_t *fields, size_t count, void *out)
{
  if (!tb__fields_count(reader, map, TB__YAML_MAPPING)) return;
  for (size_t i = 0; i < count; i++) {
    const tb__yaml_node_t *node = tb__yaml_find(map, fields[i].key);
    if (!node || tb__yaml_is_null(node)) continue;
    size_t length = tb__fields_enter(reader, fields[i].key);
    fields[i].read(reader, node, (char *)out + fields[i].offset);
    tb__fields_leave(reader, length);
  }
  for (const tb__yaml_node_t *node = map->first; node; node = node->next)
    if (!is_known(fields, count, node->key)) report_unknown(reader, node, fields, count);
}

/* --- values --- */

static const char *scalar(tb__fields_reader_t *reader, const tb__yaml_node_t *node)
{
  return tb__fields_is(reader, node, TB__YAML_SCALAR) ? node->text : NULL;
}

void tb__field_text(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  if (!text) return;
  if (text[strspn(text, " \t\r\n")] == '\0')
    tb__fields_error(reader, node, "the text is empty; write one, or remove the line");
  else
    *(const char **)out = text;
}

void tb__field_bool(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  if (!text) return;
  bool is_true = strcmp(text, "true") == 0;
  if (node->plain && (is_true || strcmp(text, "false") == 0))
    *(bool *)out = is_true;
  else
    tb__fields_error(reader, node, "'%.60s' is no boolean; write true or false", text);
}

void tb__field_signed_duration(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  tb_duration_t duration;
  if (!text) return;
  bool has_unit = *text && strchr("dhms", text[strlen(text) - 1]);
  if ((has_unit || strcmp(text, "0") == 0) && tb_duration_parse(text, &duration) == TB_OK)
    *(int64_t *)out = duration.ns;
  else
    tb__fields_error(reader, node,
                     "'%.60s' is no duration; write a number with its unit: 100ms, "
                     "1.5s, 1m30s",
                     text);
}

void tb__field_duration(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  size_t before = reader->problems->error_count;
  int64_t ns = 0;
  tb__field_signed_duration(reader, node, &ns);
  if (ns > 0)
    *(int64_t *)out = ns;
  else if (reader->problems->error_count == before)
    tb__fields_error(reader, node, "'%.60s' must be above 0", node->text);
}

/* Decimal, in the C locale's form whatever the locale is; above 0. */
static bool parse_number(const char *text, double *out)
{
  double value = 0, place = 1;
  bool has_digit = false, has_point = false;
  if (strlen(text) > 40) return false;
  for (; *text; text++) {
    if (*text == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (*text < '0' || *text > '9') return false;
    has_digit = true;
    if (has_point) place *= 10;
    value = 10 * value + (*text - '0');
  }
  *out = value / place;
  return has_digit && *out > 0;
}

void tb__field_number(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  double value;
  if (!text) return;
  if (parse_number(text, &value))
    *(double *)out = value;
  else
    tb__fields_error(reader, node, "'%.60s' is no number above 0; write one such as 10 or 0.5",
                     text);
}

void tb__field_ratio(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  char number[48];
  double value;
  if (!text) return;
  size_t length = strlen(text);
  bool is_percent = length > 0 && text[length - 1] == '%';
  snprintf(number, sizeof number, "%.*s", (int)(length < 47 ? length - is_percent : 47), text);
  if (parse_number(number, &value))
    *(double *)out = is_percent ? value / 100 : value;
  else
    tb__fields_error(reader, node, "'%.60s' is no part; write one such as 0.1 or 10%%", text);
}

int tb__field_word(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                   const char *const *words)
{
  const char *text = scalar(reader, node);
  char known[200] = "";
  size_t used = 0;
  if (!text) return -1;
  for (int i = 0; words[i]; i++) {
    if (strcmp(text, words[i]) == 0) return i;
    if (used < sizeof known)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                               i ? words[i + 1] ? ", " : " or " : "", words[i]);
  }
  tb__fields_error(reader, node, "'%.60s' is unknown; write %s", text, known);
  return -1;
}

/* --- names --- */

bool tb__field_check_name(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                          const char *name, bool wildcards, bool is_key)
{
  const char *fault = tb__manifest_name_fault(name, wildcards);
  if (!fault) return true;
  if (is_key)
    tb__fields_key_error(reader, node, "'%.100s' %s", name, fault);
  else
    tb__fields_error(reader, node, "'%.100s' %s", name, fault);
  return false;
}

void tb__field_name(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  const char *text = scalar(reader, node);
  if (text && tb__field_check_name(reader, node, text, false, false)) *(const char **)out = text;
}

void tb__field_names(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  tb__manifest_names_t *names = out;
  size_t count = tb__fields_count(reader, node, TB__YAML_SEQUENCE);
  if (node->kind != TB__YAML_SEQUENCE) return;
  names->items = calloc(count + 1, sizeof *names->items);
  if (!names->items) {
    reader->no_memory = true;
    return;
  }
  if (!count) return;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next) {
    const char *text = scalar(reader, item);
    if (!text || !tb__field_check_name(reader, item, text, true, false)) continue;
    for (size_t i = 0; text && i < names->count; i++)
      if (strcmp(names->items[i], text) == 0) {
        tb__fields_error(reader, item, "'%.100s' is there twice; keep one of them", text);
        text = NULL;
      }
    if (text) names->items[names->count++] = text;
  }
}
