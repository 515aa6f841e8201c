#include "params/parameter_reader.h"
#include "base/no_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/parameter_scalar.h"

#define YAML_PREFIX "tag:yaml.org,2002:"

static tb_status_t fail_at(tb__parameter_reader_t *reader, tb_status_t status, size_t line,
                           const char *text)
{
  if (!reader->has_lines) return tb_error_set(reader->error, status, "%s", text);
  return tb_error_set(reader->error, status, "line %zu: %s", line, text);
}

tb_status_t tb__parameter_reader_fail(tb__parameter_reader_t *reader, tb_status_t status,
                                      const char *format, ...)
{
  char text[TB_ERROR_TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fail_at(reader, status, reader->event.start_mark.line + 1, text);
}

static tb_status_t no_memory(tb__parameter_reader_t *reader)
{
  return tb__no_memory(reader->error);
}

tb_status_t tb__parameter_reader_init(tb__parameter_reader_t *reader, const void *bytes,
                                      size_t size, bool has_lines, tb_error_t *error)
{
  *reader = (tb__parameter_reader_t){
      .bytes = bytes, .size = size, .has_lines = has_lines, .error = error};
  if (size > TB__PARAMETER_YAML_SIZE_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "%zu bytes of YAML: at most %zu", size,
                        TB__PARAMETER_YAML_SIZE_MAX);
  if (!yaml_parser_initialize(&reader->parser)) return no_memory(reader);
  yaml_parser_set_input_string(&reader->parser, bytes, size);
  return TB_OK;
}

void tb__parameter_reader_fini(tb__parameter_reader_t *reader)
{
  yaml_event_delete(&reader->event);
  yaml_parser_delete(&reader->parser);
}

static size_t line_of_offset(const tb__parameter_reader_t *reader, size_t offset)
{
  size_t line = 1;
  for (size_t i = 0; i < offset && i < reader->size; i++)
    line += reader->bytes[i] == '\n';
  return line;
}

static tb_status_t parser_failed(tb__parameter_reader_t *reader)
{
  const yaml_parser_t *parser = &reader->parser;
  if (parser->error == YAML_MEMORY_ERROR) return no_memory(reader);
  size_t line = parser->error == YAML_READER_ERROR ? line_of_offset(reader, parser->problem_offset)
                                                   : parser->problem_mark.line + 1;
  return fail_at(reader, TB_ERR_INVALID, line, parser->problem ? parser->problem : "not YAML");
}

tb_status_t tb__parameter_reader_next(tb__parameter_reader_t *reader)
{
  yaml_event_delete(&reader->event);
  if (!yaml_parser_parse(&reader->parser, &reader->event)) return parser_failed(reader);
  if (reader->event.type == YAML_ALIAS_EVENT)
    return tb__parameter_reader_fail(
        reader, TB_ERR_INVALID,
        "an alias ('*%.40s'): parameters have none, write the value; a string that "
        "begins with '*' needs quotes",
        (const char *)reader->event.data.alias.anchor);
  return TB_OK;
}

const char *tb__parameter_reader_text(tb__parameter_reader_t *reader)
{
  const char *text = (const char *)reader->event.data.scalar.value;
  if (!memchr(text, '\0', reader->event.data.scalar.length)) return text;
  tb__parameter_reader_fail(reader, TB_ERR_INVALID, "a NUL in a string");
  return NULL;
}

static bool is_tag(const char *tag, const char *name)
{
  size_t length = strlen(YAML_PREFIX);
  return tag && strncmp(tag, YAML_PREFIX, length) == 0 && strcmp(tag + length, name) == 0;
}

/* A tag that asks for another type than the text has. */
static tb_status_t apply_tag(tb__parameter_reader_t *reader, const char *tag,
                             tb_ros2_parameter_value_t *value)
{
  tb_ros2_parameter_type_t type = value->type;
  if (is_tag(tag, "float") && type == TB_ROS2_PARAMETER_INTEGER) {
    value->double_value = (double)value->integer_value;
    value->type = TB_ROS2_PARAMETER_DOUBLE;
    return TB_OK;
  }
  if ((is_tag(tag, "bool") && type == TB_ROS2_PARAMETER_BOOL) ||
      (is_tag(tag, "int") && type == TB_ROS2_PARAMETER_INTEGER) ||
      (is_tag(tag, "float") && type == TB_ROS2_PARAMETER_DOUBLE))
    return TB_OK;
  return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                   "a value that does not match its tag <%.60s>", tag);
}

/* A view of the current event's scalar. */
static tb_status_t scalar(tb__parameter_reader_t *reader, tb_ros2_parameter_value_t *out)
{
  const char *text = tb__parameter_reader_text(reader);
  if (!text) return TB_ERR_INVALID;
  const char *tag = (const char *)reader->event.data.scalar.tag;
  yaml_scalar_style_t style = reader->event.data.scalar.style;
  bool quoted =
      style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  *out = (tb_ros2_parameter_value_t)TB_ROS2_PARAMETER_VALUE_INIT;
  if (is_tag(tag, "null") && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) return TB_OK;
  if (is_tag(tag, "str") || (quoted && !tag)) {
    out->type = TB_ROS2_PARAMETER_STRING;
    out->string_value = text;
    return TB_OK;
  }
  if (*text == '\0')
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                     "no value: write '' for an empty string");
  tb__parameter_scalar_resolve(text, out);
  return tag ? apply_tag(reader, tag, out) : TB_OK;
}

/* Items in order: numbers, or texts with their NULs. */
typedef struct list {
  tb_ros2_parameter_type_t type; /* of an array, NOT_SET until the first item */
  bool by_tag;
  uint8_t *bytes;
  size_t size, capacity, count;
} list_t;

static tb_status_t list_append(tb__parameter_reader_t *reader, list_t *list, const void *item,
                               size_t size)
{
  if (size > list->capacity - list->size) {
    size_t capacity = 2 * list->capacity + size + 64;
    uint8_t *bytes = realloc(list->bytes, capacity);
    if (!bytes) return no_memory(reader);
    list->bytes = bytes;
    list->capacity = capacity;
  }
  memcpy(list->bytes + list->size, item, size);
  list->size += size;
  list->count++;
  return TB_OK;
}

static const tb_ros2_parameter_type_t array_types[] = {
    [TB_ROS2_PARAMETER_BOOL] = TB_ROS2_PARAMETER_BOOL_ARRAY,
    [TB_ROS2_PARAMETER_INTEGER] = TB_ROS2_PARAMETER_INTEGER_ARRAY,
    [TB_ROS2_PARAMETER_DOUBLE] = TB_ROS2_PARAMETER_DOUBLE_ARRAY,
    [TB_ROS2_PARAMETER_STRING] = TB_ROS2_PARAMETER_STRING_ARRAY,
};

static tb_status_t wrong_item(tb__parameter_reader_t *reader, const list_t *list,
                              tb_ros2_parameter_type_t type)
{
  const char *hint = "";
  if (list->type == TB_ROS2_PARAMETER_BYTE_ARRAY)
    hint = " (bytes are integers from 0 to 255)";
  else if ((type == TB_ROS2_PARAMETER_INTEGER && list->type == TB_ROS2_PARAMETER_DOUBLE_ARRAY) ||
           (type == TB_ROS2_PARAMETER_DOUBLE && list->type == TB_ROS2_PARAMETER_INTEGER_ARRAY))
    hint = " (for doubles write all with a point, as in 1.0)";
  return tb__parameter_reader_fail(
      reader, TB_ERR_INVALID,
      "item %zu of a list is a value of type %s in a list of type %s: all must "
      "be of one type%s",
      list->count + 1, tb_ros2_parameter_type_name(type), tb_ros2_parameter_type_name(list->type),
      hint);
}

static tb_status_t list_add(tb__parameter_reader_t *reader, list_t *list,
                            tb_ros2_parameter_value_t *item)
{
  if (item->type == TB_ROS2_PARAMETER_NOT_SET)
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID, "an item of a list has no value");
  if (list->type == TB_ROS2_PARAMETER_NOT_SET) list->type = array_types[item->type];
  if (list->type == TB_ROS2_PARAMETER_BYTE_ARRAY) {
    uint8_t byte = (uint8_t)item->integer_value;
    if (item->type != TB_ROS2_PARAMETER_INTEGER || byte != item->integer_value)
      return wrong_item(reader, list, item->type);
    return list_append(reader, list, &byte, sizeof byte);
  }
  if (list->by_tag && list->type == TB_ROS2_PARAMETER_DOUBLE_ARRAY &&
      item->type == TB_ROS2_PARAMETER_INTEGER) {
    item->type = TB_ROS2_PARAMETER_DOUBLE;
    item->double_value = (double)item->integer_value;
  }
  if (array_types[item->type] != list->type) return wrong_item(reader, list, item->type);
  switch (item->type) {
  case TB_ROS2_PARAMETER_BOOL:
    return list_append(reader, list, &item->bool_value, sizeof item->bool_value);
  case TB_ROS2_PARAMETER_INTEGER:
    return list_append(reader, list, &item->integer_value, sizeof item->integer_value);
  case TB_ROS2_PARAMETER_DOUBLE:
    return list_append(reader, list, &item->double_value, sizeof item->double_value);
  default:
    return list_append(reader, list, item->string_value, strlen(item->string_value) + 1);
  }
}

/* "!byte_array" and so on: types that the text cannot express, such as that of an empty list. */
static tb_status_t list_begin(tb__parameter_reader_t *reader, list_t *list)
{
  const char *tag = (const char *)reader->event.data.sequence_start.tag;
  if (!tag || is_tag(tag, "seq")) return TB_OK;
  for (int type = TB_ROS2_PARAMETER_BYTE_ARRAY; type <= TB_ROS2_PARAMETER_STRING_ARRAY; type++) {
    const char *name = tb_ros2_parameter_type_name((tb_ros2_parameter_type_t)type);
    if (tag[0] != '!' || strcmp(tag + 1, name) != 0) continue;
    list->type = (tb_ros2_parameter_type_t)type;
    list->by_tag = true;
    return TB_OK;
  }
  return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                   "a list with the tag <%.60s>, which is unknown", tag);
}

static tb_status_t list_read(tb__parameter_reader_t *reader, list_t *list)
{
  tb_status_t status = list_begin(reader, list);
  while (!status) {
    tb_ros2_parameter_value_t item;
    status = tb__parameter_reader_next(reader);
    if (status || reader->event.type == YAML_SEQUENCE_END_EVENT) break;
    if (reader->event.type != YAML_SCALAR_EVENT)
      return tb__parameter_reader_fail(
          reader, TB_ERR_INVALID,
          "a list or mapping in a list: parameters have lists of bools, "
          "integers, doubles or strings");
    status = scalar(reader, &item);
    if (!status) status = list_add(reader, list, &item);
  }
  return status;
}

/* The pointers and their texts in one block, which tb_ros2_parameter_value_release frees. */
static const char **join_strings(const list_t *list)
{
  size_t pointers = list->count * sizeof(char *);
  const char **strings = malloc(pointers + list->size);
  if (!strings) return NULL;
  char *text = memcpy((char *)strings + pointers, list->bytes, list->size);
  for (size_t i = 0; i < list->count; i++) {
    strings[i] = text;
    text += strlen(text) + 1;
  }
  return strings;
}

static tb_status_t list_value(tb__parameter_reader_t *reader, tb_ros2_parameter_value_t *out)
{
  list_t list = {.type = TB_ROS2_PARAMETER_NOT_SET};
  tb_status_t status = list_read(reader, &list);
  tb_ros2_parameter_value_t value = {.type = list.type, .count = list.count};
  if (list.type == TB_ROS2_PARAMETER_NOT_SET) value.type = TB_ROS2_PARAMETER_BOOL_ARRAY;
  if (!status && list.count > 0) {
    if (list.type == TB_ROS2_PARAMETER_STRING_ARRAY) {
      value.items.strings = join_strings(&list);
      if (!value.items.any) status = no_memory(reader);
    } else {
      value.items.any = list.bytes;
      list.bytes = NULL;
    }
  }
  free(list.bytes);
  if (!status) *out = value;
  return status;
}

tb_status_t tb__parameter_reader_value(tb__parameter_reader_t *reader,
                                       tb_ros2_parameter_value_t *out)
{
  if (reader->event.type == YAML_SEQUENCE_START_EVENT) return list_value(reader, out);
  if (reader->event.type != YAML_SCALAR_EVENT)
    return tb__parameter_reader_fail(
        reader, TB_ERR_INVALID,
        "a mapping: a value is a scalar or a list; a string with ': ' needs quotes");
  tb_ros2_parameter_value_t view;
  tb_status_t status = scalar(reader, &view);
  if (status) return status;
  return tb_ros2_parameter_value_copy(&view, out) ? no_memory(reader) : TB_OK;
}
