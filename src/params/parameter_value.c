#include "params/parameter_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    "not_set",    "bool",       "integer",       "double",       "string",
    "byte_array", "bool_array", "integer_array", "double_array", "string_array",
};

const char *tb_ros2_parameter_type_name(tb_ros2_parameter_type_t type)
{
  return (unsigned)type < sizeof type_names / sizeof type_names[0] ? type_names[type] : NULL;
}

/* 0: not an array. */
static size_t item_size(tb_ros2_parameter_type_t type)
{
  switch (type) {
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    return sizeof(uint8_t);
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    return sizeof(bool);
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    return sizeof(int64_t);
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    return sizeof(double);
  case TB_ROS2_PARAMETER_STRING_ARRAY:
    return sizeof(const char *);
  default:
    return 0;
  }
}

static bool value_is_valid(const tb_ros2_parameter_value_t *value)
{
  if (!tb_ros2_parameter_type_name(value->type)) return false;
  if (value->type == TB_ROS2_PARAMETER_STRING) return value->string_value != NULL;
  if (item_size(value->type) == 0 || value->count == 0) return true;
  if (!value->items.any) return false;
  if (value->type != TB_ROS2_PARAMETER_STRING_ARRAY) return true;
  for (size_t i = 0; i < value->count; i++) {
    if (!value->items.strings[i]) return false;
  }
  return true;
}

/* The array and its strings are one block. */
static const char **strings_copy(const char *const *strings, size_t count)
{
  size_t size = count * sizeof *strings;
  for (size_t i = 0; i < count; i++)
    size += strlen(strings[i]) + 1;
  const char **copy = malloc(size);
  if (!copy) return NULL;
  char *text = (char *)(copy + count);
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(strings[i]) + 1;
    copy[i] = memcpy(text, strings[i], length);
    text += length;
  }
  return copy;
}

static const void *items_copy(const tb_ros2_parameter_value_t *value)
{
  if (value->type == TB_ROS2_PARAMETER_STRING_ARRAY)
    return strings_copy(value->items.strings, value->count);
  size_t size = value->count * item_size(value->type);
  void *copy = malloc(size);
  return copy ? memcpy(copy, value->items.any, size) : NULL;
}

tb_status_t tb_ros2_parameter_value_copy(const tb_ros2_parameter_value_t *value,
                                         tb_ros2_parameter_value_t *out)
{
  if (!value || !out || !value_is_valid(value)) return TB_ERR_INVALID;
  tb_ros2_parameter_value_t copy = {.type = value->type,
                                    .bool_value = value->bool_value,
                                    .integer_value = value->integer_value,
                                    .double_value = value->double_value};
  if (value->type == TB_ROS2_PARAMETER_STRING) {
    copy.string_value = strdup(value->string_value);
    if (!copy.string_value) return TB_ERR_NO_MEMORY;
  }
  if (item_size(value->type) > 0 && value->count > 0) {
    copy.items.any = items_copy(value);
    copy.count = value->count;
    if (!copy.items.any) return TB_ERR_NO_MEMORY;
  }
  *out = copy;
  return TB_OK;
}

void tb_ros2_parameter_value_release(tb_ros2_parameter_value_t *value)
{
  if (!value) return;
  if (value->type == TB_ROS2_PARAMETER_STRING) free((void *)(uintptr_t)value->string_value);
  if (item_size(value->type) > 0) free((void *)(uintptr_t)value->items.any);
  *value = (tb_ros2_parameter_value_t)TB_ROS2_PARAMETER_VALUE_INIT;
}

static bool double_equal(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static bool item_equal(const tb_ros2_parameter_value_t *a, const tb_ros2_parameter_value_t *b,
                       size_t i)
{
  switch (a->type) {
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    return a->items.bytes[i] == b->items.bytes[i];
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    return a->items.bools[i] == b->items.bools[i];
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    return a->items.integers[i] == b->items.integers[i];
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    return double_equal(a->items.doubles[i], b->items.doubles[i]);
  default:
    return strcmp(a->items.strings[i], b->items.strings[i]) == 0;
  }
}

bool tb_ros2_parameter_value_equal(const tb_ros2_parameter_value_t *a,
                                   const tb_ros2_parameter_value_t *b)
{
  if (!a || !b) return a == b;
  if (a->type != b->type) return false;
  switch (a->type) {
  case TB_ROS2_PARAMETER_NOT_SET:
    return true;
  case TB_ROS2_PARAMETER_BOOL:
    return a->bool_value == b->bool_value;
  case TB_ROS2_PARAMETER_INTEGER:
    return a->integer_value == b->integer_value;
  case TB_ROS2_PARAMETER_DOUBLE:
    return double_equal(a->double_value, b->double_value);
  case TB_ROS2_PARAMETER_STRING:
    return strcmp(a->string_value, b->string_value) == 0;
  default:
    break;
  }
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!item_equal(a, b, i)) return false;
  }
  return true;
}

void tb__parameter_value_to_message(const tb_ros2_parameter_value_t *value,
                                    tb__parameter_value_t *out)
{
  *out = (tb__parameter_value_t){.type = (uint8_t)value->type};
  switch (value->type) {
  case TB_ROS2_PARAMETER_BOOL:
    out->bool_value = value->bool_value;
    break;
  case TB_ROS2_PARAMETER_INTEGER:
    out->integer_value = value->integer_value;
    break;
  case TB_ROS2_PARAMETER_DOUBLE:
    out->double_value = value->double_value;
    break;
  case TB_ROS2_PARAMETER_STRING:
    out->string_value = value->string_value;
    break;
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    out->byte_array_value = (tb__octets_t){value->items.bytes, value->count};
    break;
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    out->bool_array_value = (tb__bools_t){value->items.bools, value->count};
    break;
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    out->integer_array_value = (tb__int64s_t){value->items.integers, value->count};
    break;
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    out->double_array_value = (tb__doubles_t){value->items.doubles, value->count};
    break;
  case TB_ROS2_PARAMETER_STRING_ARRAY:
    out->string_array_value = (tb__strings_t){value->items.strings, value->count};
    break;
  default:
    break;
  }
}

tb_status_t tb__parameter_value_of_message(const tb__parameter_value_t *message,
                                           tb_ros2_parameter_value_t *out)
{
  if (message->type > TB_ROS2_PARAMETER_STRING_ARRAY) return TB_ERR_INVALID;
  tb_ros2_parameter_value_t value = {
      .type = (tb_ros2_parameter_type_t)message->type,
      .bool_value = message->bool_value,
      .integer_value = message->integer_value,
      .double_value = message->double_value,
      .string_value = message->string_value,
  };
  switch (value.type) {
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    value.items.bytes = message->byte_array_value.items;
    value.count = message->byte_array_value.count;
    break;
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    value.items.bools = message->bool_array_value.items;
    value.count = message->bool_array_value.count;
    break;
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    value.items.integers = message->integer_array_value.items;
    value.count = message->integer_array_value.count;
    break;
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    value.items.doubles = message->double_array_value.items;
    value.count = message->double_array_value.count;
    break;
  case TB_ROS2_PARAMETER_STRING_ARRAY:
    value.items.strings = message->string_array_value.items;
    value.count = message->string_array_value.count;
    break;
  default:
    break;
  }
  *out = value;
  return TB_OK;
}
