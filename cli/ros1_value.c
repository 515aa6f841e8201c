#include "ros1_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter.h>

#include "json.h"

#define DEPTH_MAX 32 /* what the library takes */

/* --- from text --- */

static void fini(tb_ros1_value_t *value)
{
  union {
    const void *in;
    void *out;
  } memory;
  union {
    const tb_ros1_value_t *in;
    tb_ros1_value_t *out;
  } items = {.in = value->items}; /* memory of this file */
  for (size_t i = 0; i < value->count; i++)
    fini(&items.out[i]);
  free(items.out);
  memory.in = value->text;
  free(memory.out);
  memory.in = value->name;
  free(memory.out);
}

void ros1_value_free(tb_ros1_value_t *value)
{
  if (value) fini(value);
  free(value);
}

static tb_status_t set_text(tb_ros1_value_t *out, const char *text)
{
  out->type = TB_ROS1_PARAMETER_STRING;
  out->text = strdup(text);
  return out->text ? TB_OK : TB_ERR_NO_MEMORY;
}

static tb_status_t set_integer(tb_ros1_value_t *out, int64_t value, tb_error_t *error)
{
  if (value < INT32_MIN || value > INT32_MAX)
    return tb_error_set(
        error, TB_ERR_RANGE,
        "%lld: integers of ROS 1 parameters have 32 bits; write %lld.0 for a double",
        (long long)value, (long long)value);
  out->type = TB_ROS1_PARAMETER_INT;
  out->integer = (int32_t)value;
  return TB_OK;
}

static tb_status_t set_double(tb_ros1_value_t *out, double value, tb_error_t *error)
{
  if (!isfinite(value))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "ROS 1 parameters cannot be infinite or NaN: XML-RPC has no way to write it");
  out->type = TB_ROS1_PARAMETER_DOUBLE;
  out->number = value;
  return TB_OK;
}

static tb_status_t refuse_null(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID, "ROS 1 parameters cannot be null; use delete");
}

/* NULL: no memory. */
static tb_ros1_value_t *set_items(tb_ros1_value_t *out, tb_ros1_parameter_type_t type, size_t count)
{
  tb_ros1_value_t *items = calloc(count + 1, sizeof *items);
  out->type = type;
  out->items = items;
  out->count = items ? count : 0;
  return items;
}

static tb_status_t from_json(json_t *json, int depth, tb_ros1_value_t *out, tb_error_t *error);

static tb_status_t list_from_json(json_t *json, int depth, tb_ros1_value_t *out, tb_error_t *error)
{
  tb_ros1_value_t *items = set_items(out, TB_ROS1_PARAMETER_LIST, json_array_size(json));
  tb_status_t status = items ? TB_OK : TB_ERR_NO_MEMORY;
  for (size_t i = 0; !status && i < out->count; i++)
    status = from_json(json_array_get(json, i), depth, &items[i], error);
  return status;
}

static tb_status_t dictionary_from_json(json_t *json, int depth, tb_ros1_value_t *out,
                                        tb_error_t *error)
{
  tb_ros1_value_t *items = set_items(out, TB_ROS1_PARAMETER_DICTIONARY, json_object_size(json));
  tb_status_t status = items ? TB_OK : TB_ERR_NO_MEMORY;
  const char *key;
  json_t *one;
  size_t i = 0;
  json_object_foreach(json, key, one)
  {
    if (!status && !(items[i].name = strdup(key))) status = TB_ERR_NO_MEMORY;
    if (!status) status = from_json(one, depth, &items[i++], error);
  }
  return status;
}

static tb_status_t from_json(json_t *json, int depth, tb_ros1_value_t *out, tb_error_t *error)
{
  if (depth > DEPTH_MAX)
    return tb_error_set(error, TB_ERR_INVALID, "more than %d lists and dictionaries in each other",
                        DEPTH_MAX);
  switch (json_typeof(json)) {
  case JSON_TRUE:
  case JSON_FALSE:
    out->type = TB_ROS1_PARAMETER_BOOL;
    out->integer = json_is_true(json);
    return TB_OK;
  case JSON_INTEGER:
    return set_integer(out, json_integer_value(json), error);
  case JSON_REAL:
    return set_double(out, json_real_value(json), error);
  case JSON_STRING:
    return set_text(out, json_string_value(json));
  case JSON_ARRAY:
    return list_from_json(json, depth + 1, out, error);
  case JSON_OBJECT:
    return dictionary_from_json(json, depth + 1, out, error);
  default:
    return refuse_null(error);
  }
}

static tb_status_t item_from_yaml(const tb_ros2_parameter_value_t *value, size_t i,
                                  tb_ros1_value_t *out, tb_error_t *error)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    out->type = TB_ROS1_PARAMETER_BOOL;
    out->integer = value->items.bools[i];
    return TB_OK;
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    return set_integer(out, value->items.integers[i], error);
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    return set_double(out, value->items.doubles[i], error);
  case TB_ROS2_PARAMETER_STRING_ARRAY:
    return set_text(out, value->items.strings[i]);
  default:
    return tb_error_set(error, TB_ERR_INVALID, "bytes cannot be set; give a list of integers");
  }
}

static tb_status_t from_yaml(const tb_ros2_parameter_value_t *value, tb_ros1_value_t *out,
                             tb_error_t *error)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_BOOL:
    out->type = TB_ROS1_PARAMETER_BOOL;
    out->integer = value->bool_value;
    return TB_OK;
  case TB_ROS2_PARAMETER_INTEGER:
    return set_integer(out, value->integer_value, error);
  case TB_ROS2_PARAMETER_DOUBLE:
    return set_double(out, value->double_value, error);
  case TB_ROS2_PARAMETER_STRING:
    return set_text(out, value->string_value);
  case TB_ROS2_PARAMETER_NOT_SET:
    return refuse_null(error);
  default:
    break;
  }
  tb_ros1_value_t *items = set_items(out, TB_ROS1_PARAMETER_LIST, value->count);
  tb_status_t status = items ? TB_OK : TB_ERR_NO_MEMORY;
  for (size_t i = 0; !status && i < out->count; i++)
    status = item_from_yaml(value, i, &items[i], error);
  return status;
}

/* A plain word that rosparam computes a number from. */
static bool is_angle(const char *text)
{
  return !strncmp(text, "deg(", 4) || !strncmp(text, "rad(", 4);
}

/* Of YAML; the parameters of ROS 2 have it as a text. */
static bool is_null(const char *text)
{
  return !strcmp(text, "null") || !strcmp(text, "~");
}

static tb_status_t parse(const char *text, tb_ros1_value_t *out, tb_error_t *error)
{
  const char *begin = text + strspn(text, " \t\n");
  bool may_be_json = *begin == '[' || *begin == '{';
  json_error_t problem = {.line = 0};
  json_t *json = may_be_json ? json_loads(text, JSON_REJECT_DUPLICATES, &problem) : NULL;
  if (json) {
    tb_status_t status = from_json(json, 0, out, error);
    json_decref(json);
    return status;
  }
  if (*begin == '{')
    return tb_error_set(error, TB_ERR_INVALID,
                        "a dictionary must be JSON, like {\"a\": 1}: %s at column %d", problem.text,
                        problem.column);
  if (is_null(begin)) return refuse_null(error);
  if (is_angle(begin))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "%s: only rosparam computes angles; give the number of radians, or quote it", text);
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_status_t status = tb_ros2_parameter_value_parse(text, &value, error);
  if (!status) status = from_yaml(&value, out, error);
  tb_ros2_parameter_value_release(&value);
  return status;
}

tb_status_t ros1_value_parse(const char *text, tb_ros1_value_t **out, tb_error_t *error)
{
  tb_ros1_value_t *value = calloc(1, sizeof *value);
  tb_status_t status = value ? parse(text, value, error) : TB_ERR_NO_MEMORY;
  if (status == TB_ERR_NO_MEMORY) tb_error_set(error, status, "out of memory");
  if (status)
    ros1_value_free(value);
  else
    *out = value;
  return status;
}

/* --- to JSON --- */

json_t *ros1_value_json(const tb_ros1_value_t *value)
{
  json_t *out = NULL;
  switch (value->type) {
  case TB_ROS1_PARAMETER_BOOL:
    return json_boolean(value->integer);
  case TB_ROS1_PARAMETER_INT:
    return json_integer(value->integer);
  case TB_ROS1_PARAMETER_DOUBLE:
    return isfinite(value->number) ? json_real(value->number) : json_null();
  case TB_ROS1_PARAMETER_LIST:
    out = json_array();
    for (size_t i = 0; i < value->count; i++)
      json_push(out, ros1_value_json(&value->items[i]));
    return out;
  case TB_ROS1_PARAMETER_DICTIONARY:
    out = json_object();
    for (size_t i = 0; i < value->count; i++)
      json_put(out, value->items[i].name ? value->items[i].name : "",
               ros1_value_json(&value->items[i]));
    return out;
  default:
    return text_json(value->text ? value->text : "");
  }
}

const char *ros1_value_type(const tb_ros1_value_t *value)
{
  static const char *const names[] = {"other",  "boolean", "integer",   "double",
                                      "string", "list",    "dictionary"};
  return (unsigned)value->type < sizeof names / sizeof *names ? names[value->type] : names[0];
}
