#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag_cat.h"
#include "definition/field_path.h"
#include "json.h"
#include "message_json.h"
#include "text.h"

tb_status_t bag_cat_check_fields(const bag_cat_style_t *style, const tb__schema_t *schema,
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

/* --- CSV --- */

/* Quoted where it has to be. */
static void print_cell(const char *text)
{
  if (!text[strcspn(text, ",\"\r\n")]) {
    text_out("%s", text);
    return;
  }
  text_out("\"");
  for (const char *quote; (quote = strchr(text, '"')); text = quote + 1)
    text_out("%.*s\"\"", (int)(quote - text), text);
  text_out("%s\"", text);
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

/* Cells of the values, or of their names: a struct has one for each field, an array one. */
static void print_cells(const json_t *object, const char *prefix, bool is_header, bool is_deep)
{
  union {
    const json_t *in;
    json_t *out;
  } of = {.in = object}; /* jansson's iterators take it so */
  const char *key;
  json_t *value;
  json_object_foreach(of.out, key, value)
  {
    char name[512];
    snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
    if (is_deep && json_is_object(value)) {
      print_cells(value, name, is_header, is_deep);
      continue;
    }
    text_out(",");
    if (is_header)
      print_cell(name);
    else
      print_value(value);
  }
}

static void print_csv(bag_cat_style_t *style, const tb_bag_topic_t *topic,
                      const tb_bag_message_t *message, const json_t *shown)
{
  bool is_deep = style->field_count == 0;
  if (!style->has_header) {
    text_out("log_time_ns,topic");
    print_cells(shown, "", true, is_deep);
    text_out("\n");
    style->has_header = true;
  }
  text_out("%" PRId64 ",", message->log_time_ns);
  print_cell(topic->name);
  print_cells(shown, "", false, is_deep);
  text_out("\n");
}

/* --- the others --- */

/* False: out of memory. */
static bool print_json(const bag_cat_style_t *style, const tb_bag_topic_t *topic,
                       const tb_bag_message_t *message, json_t *shown)
{
  json_t *out = json_object();
  int64_t publish_ns = message->publish_time_ns;
  json_put(out, "topic", text_json(topic->name));
  json_put(out, "type", text_json(topic->type));
  json_put(out, "log_time_ns", json_integer(message->log_time_ns));
  json_put(out, "publish_time_ns", publish_ns < 0 ? json_null() : json_integer(publish_ns));
  if (message->publisher) json_put(out, "publisher", text_json(message->publisher));
  json_put(out, style->field_count ? "fields" : "message", json_incref(shown));
  return json_print(out, JSON_COMPACT);
}

static void print_yaml(const bag_cat_style_t *style, const tb_bag_topic_t *topic,
                       const tb_bag_message_t *message, const json_t *shown)
{
  const int64_t second = INT64_C(1000000000);
  text_out("# %s %s %" PRId64 ".%09" PRId64 "\n", topic->name, topic->type,
           message->log_time_ns / second, message->log_time_ns % second);
  message_print_yaml(style->field_count == 1 ? json_object_get(shown, style->fields[0]) : shown);
  text_out("---\n");
}

tb_status_t bag_cat_show(bag_cat_style_t *style, const tb_bag_topic_t *topic,
                         const tb_bag_message_t *message, const tb__schema_t *schema)
{
  json_t *shown = NULL;
  bool is_printed = true;
  const message_fields_t fields = {style->fields, style->field_count, style->items_max};
  tb_status_t status =
      style->field_count
          ? message_json_fields(schema, message->data, message->size, &fields, &shown)
          : message_json(schema, message->data, message->size, style->items_max, &shown);
  if (status) return status;
  if (!shown) return TB_ERR_NO_MEMORY;
  if (style->form == BAG_CAT_JSON)
    is_printed = print_json(style, topic, message, shown);
  else if (style->form == BAG_CAT_CSV)
    print_csv(style, topic, message, shown);
  else
    print_yaml(style, topic, message, shown);
  json_decref(shown);
  return is_printed ? TB_OK : TB_ERR_NO_MEMORY;
}
