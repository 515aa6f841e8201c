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

/* --- fields --- */

static json_t *find(const json_t *value, const char *path);

static json_t *find_in_list(const json_t *list, const char *path)
{
  char *end;
  if (*path == ']') {
    json_t *all = json_array();
    for (size_t i = 0; i < json_array_size(list); i++)
      json_push(all, find(json_array_get(list, i), path + 1));
    return all;
  }
  size_t index = strtoul(path, &end, 10);
  return index < json_array_size(list) ? find(json_array_get(list, index), end + 1) : json_null();
}

/* What a path leads to that fits the type; null: a sequence has not so many elements. */
static json_t *find(const json_t *value, const char *path)
{
  if (*path == '.') path++;
  if (!*path) return json_deep_copy(value);
  if (*path == '[') return find_in_list(value, path + 1);
  char name[TB__PATH_NAME_SIZE];
  size_t length = strcspn(path, ".[");
  snprintf(name, sizeof name, "%.*s", (int)length, path);
  const json_t *member = json_object_get(value, name);
  return member ? find(member, path + length) : json_null();
}

/* The elements after the first `max`, also of arrays inside, are left out. */
static void shorten(json_t *value, size_t max)
{
  const char *key;
  json_t *member;
  if (json_is_object(value)) {
    json_object_foreach(value, key, member) shorten(member, max);
    return;
  }
  if (!json_is_array(value)) return;
  bool is_longer = json_array_size(value) > max;
  while (json_array_size(value) > max)
    json_array_remove(value, json_array_size(value) - 1);
  for (size_t i = 0; i < json_array_size(value); i++)
    shorten(json_array_get(value, i), max);
  if (is_longer) json_push(value, json_string("..."));
}

static json_t *choose_fields(const bag_cat_style_t *style, const json_t *decoded)
{
  json_t *chosen = json_object();
  for (size_t i = 0; i < style->field_count; i++)
    json_put(chosen, style->fields[i], find(decoded, style->fields[i]));
  if (style->items_max) shorten(chosen, style->items_max);
  return chosen;
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
  size_t items_max = style->field_count ? 0 : style->items_max;
  tb_status_t status = message_json(schema, message->data, message->size, items_max, &shown);
  if (status) return status;
  if (style->field_count) {
    json_t *chosen = choose_fields(style, shown);
    json_decref(shown);
    shown = chosen;
  }
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
