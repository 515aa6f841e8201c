#include "message_style.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "definition/field_path.h"
#include "json.h"
#include "message_json.h"
#include "text.h"

int message_style_take_form(const command_t *command, message_style_t *style, message_form_t form)
{
  if (style->form != MESSAGE_YAML && style->form != form)
    return command_usage_error(command, "--json and --csv exclude each other");
  style->form = form;
  return EXIT_OK;
}

int message_style_take_field(const command_t *command, message_style_t *style, const char *path)
{
  if (style->field_count == MESSAGE_FIELDS_MAX)
    return command_usage_error(command, "more than %d times --field", MESSAGE_FIELDS_MAX);
  style->fields[style->field_count++] = path;
  return EXIT_OK;
}

tb_status_t message_style_check(const message_style_t *style, const tb__schema_t *schema,
                                tb_error_t *error)
{
  for (size_t i = 0; i < style->field_count; i++) {
    tb__field_path_t *path = NULL;
    tb_status_t status = tb__field_path_create(schema, style->fields[i], &path, error);
    tb__field_path_destroy(path);
    if (status) return status;
  }
  return TB_OK;
}

tb_status_t message_style_decode(const message_style_t *style, const tb__schema_t *schema,
                                 const void *data, size_t size, json_t **out)
{
  const message_fields_t fields = {style->fields, style->field_count, style->items_max};
  tb_status_t status = style->field_count ? message_json_fields(schema, data, size, &fields, out)
                                          : message_json(schema, data, size, style->items_max, out);
  return !status && !*out ? TB_ERR_NO_MEMORY : status;
}

const char *message_style_key(const message_style_t *style)
{
  return style->field_count ? "fields" : "message";
}

void message_style_yaml(const message_style_t *style, const json_t *decoded)
{
  message_print_yaml(style->field_count == 1 ? json_object_get(decoded, style->fields[0])
                                             : decoded);
  text_out("---\n");
}

/* --- CSV --- */

/* Quoted where it has to be. A precision of text_out would be columns, not bytes. */
static void print_cell(const char *text)
{
  bool is_quoted = text[strcspn(text, ",\"\r\n")] != '\0';
  char one[TB_TEXT_CHARACTER_SIZE];
  if (is_quoted) text_out("\"");
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    char bytes[8] = {0};
    memcpy(bytes, text, taken < sizeof bytes ? taken : sizeof bytes - 1);
    text_out(*text == '"' ? "\"%s" : "%s", bytes);
  }
  if (is_quoted) text_out("\"");
}

static void print_number(const json_t *value)
{
  char text[40];
  if (json_is_integer(value)) {
    text_out("%lld", (long long)json_integer_value(value));
    return;
  }
  double real = json_real_value(value);
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, real);
    double again = strtod(text, NULL);
    if (!(again < real) && !(again > real)) break;
  }
  text_out("%s", text);
}

static void print_value(const json_t *value)
{
  const char *text = json_string_value(value);
  if (json_is_number(value)) {
    print_number(value);
  } else if (text) {
    bool is_number = !strcmp(text, ".nan") || !strcmp(text, ".inf") || !strcmp(text, "-.inf");
    print_cell(!is_number ? text : *text == '-' ? "-inf" : text + 1);
  } else if (!json_is_null(value)) {
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    print_cell(dumped ? dumped : "");
    free(dumped);
  }
}

/* Cells of the values, or of their names: a struct has one for each field, an array one. Before all
 * but the first of the line there is a comma. */
static void print_cells(const json_t *object, const char *prefix, bool is_header, bool is_deep,
                        bool *has_cells)
{
  json_t *entries = json_to_iterate(object), *value;
  const char *key;
  json_object_foreach(entries, key, value)
  {
    char name[512];
    snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
    if (is_deep && json_is_object(value)) {
      print_cells(value, name, is_header, is_deep, has_cells);
      continue;
    }
    if (*has_cells) text_out(",");
    *has_cells = true;
    if (is_header)
      print_cell(name);
    else
      print_value(value);
  }
}

static void print_line(const json_t *first, const json_t *decoded, bool is_header, bool is_deep)
{
  bool has_cells = false;
  print_cells(first, "", is_header, is_deep, &has_cells);
  print_cells(decoded, "", is_header, is_deep, &has_cells);
  text_out("\n");
}

void message_style_csv(message_style_t *style, const json_t *first, const json_t *decoded)
{
  bool is_deep = style->field_count == 0;
  if (!style->has_header) print_line(first, decoded, true, is_deep);
  style->has_header = true;
  print_line(first, decoded, false, is_deep);
}
