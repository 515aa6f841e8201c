#include "param_value.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "text.h"

void param_print_value(FILE *out, const tb_ros2_parameter_value_t *value)
{
  char *text = NULL;
  if (value->type == TB_ROS2_PARAMETER_NOT_SET)
    text_to(out, "not set");
  else if (tb_ros2_parameter_value_format(value, &text) == TB_OK)
    text_to(out, "%s", text);
  else if (value->type == TB_ROS2_PARAMETER_STRING)
    text_to(out, "%s", value->string_value); /* not UTF-8 */
  else
    text_to(out, "(strings that are not UTF-8)");
  free(text);
}

void param_print_how_to_write(const tb_ros2_parameter_value_t *value, tb_ros2_parameter_type_t type)
{
  bool is_whole = value->type == TB_ROS2_PARAMETER_INTEGER;
  if (type == TB_ROS2_PARAMETER_DOUBLE && is_whole)
    text_err("; write %lld.0", (long long)value->integer_value);
  else if (type == TB_ROS2_PARAMETER_BOOL && is_whole)
    text_err("; write true or false");
  else if (type == TB_ROS2_PARAMETER_STRING && value->type <= TB_ROS2_PARAMETER_DOUBLE) {
    text_err("; write \"'");
    param_print_value(stderr, value);
    text_err("'\"");
  }
}

static const char *label_of(tb_ros2_parameter_type_t type)
{
  static const char *const labels[] = {
      [TB_ROS2_PARAMETER_BOOL] = "Boolean value is: ",
      [TB_ROS2_PARAMETER_INTEGER] = "Integer value is: ",
      [TB_ROS2_PARAMETER_DOUBLE] = "Double value is: ",
      [TB_ROS2_PARAMETER_STRING] = "String value is: ",
      [TB_ROS2_PARAMETER_BYTE_ARRAY] = "Byte values are: ",
      [TB_ROS2_PARAMETER_BOOL_ARRAY] = "Boolean values are: ",
      [TB_ROS2_PARAMETER_INTEGER_ARRAY] = "Integer values are: ",
      [TB_ROS2_PARAMETER_DOUBLE_ARRAY] = "Double values are: ",
      [TB_ROS2_PARAMETER_STRING_ARRAY] = "String values are: ",
  };
  const char *label = (unsigned)type < sizeof labels / sizeof *labels ? labels[type] : NULL;
  return label ? label : "";
}

void param_print_as_ros(const tb_ros2_parameter_value_t *value, bool hide_type)
{
  if (value->type == TB_ROS2_PARAMETER_NOT_SET) {
    text_out("Parameter not set.");
    return;
  }
  if (!hide_type) text_out("%s", label_of(value->type));
  if (value->type == TB_ROS2_PARAMETER_BOOL)
    text_out("%s", value->bool_value ? "True" : "False");
  else if (value->type == TB_ROS2_PARAMETER_STRING)
    text_out("%s", value->string_value);
  else
    param_print_value(stdout, value);
}

/* JSON has no infinities and no NaN: ".inf", "-.inf", ".nan". */
static json_t *double_json(double value)
{
  if (isfinite(value)) return json_real(value);
  return json_string(isnan(value) ? ".nan" : value > 0 ? ".inf" : "-.inf");
}

static json_t *item_json(const tb_ros2_parameter_value_t *value, size_t index)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    return json_integer(value->items.bytes[index]);
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    return json_boolean(value->items.bools[index]);
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    return json_integer(value->items.integers[index]);
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    return double_json(value->items.doubles[index]);
  default:
    return text_json(value->items.strings[index]);
  }
}

json_t *param_value_json(const tb_ros2_parameter_value_t *value)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_NOT_SET:
    return json_null();
  case TB_ROS2_PARAMETER_BOOL:
    return json_boolean(value->bool_value);
  case TB_ROS2_PARAMETER_INTEGER:
    return json_integer(value->integer_value);
  case TB_ROS2_PARAMETER_DOUBLE:
    return double_json(value->double_value);
  case TB_ROS2_PARAMETER_STRING:
    return text_json(value->string_value);
  default:
    break;
  }
  json_t *list = json_array();
  for (size_t i = 0; i < value->count; i++)
    json_push(list, item_json(value, i));
  return list;
}

bool param_is_number(const char *word)
{
  return word[0] == '-' && (isdigit((unsigned char)word[1]) || word[1] == '.');
}
