#include "param_show.h"

#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "similar.h"
#include "text.h"

const char *param_status_text(tb_status_t status)
{
  switch (status) {
  case TB_OK:
    return "ok";
  case TB_ERR_TIMEOUT:
  case TB_ERR_NOT_FOUND:
    return "no answer";
  case TB_ERR_CLOSED:
    return "gone before it answered";
  case TB_ERR_CORRUPT:
    return "an answer that cannot be read";
  case TB_ERR_UNSUPPORTED:
    return "another middleware (Fast DDS): nothing was sent";
  default:
    return tb_status_message(status);
  }
}

void param_say_failed(const command_t *command, const char *node, tb_status_t status,
                      const tb_error_t *error, tb_duration_t limit)
{
  char text[TB_DURATION_TEXT_SIZE] = "";
  bool is_late = status == TB_ERR_TIMEOUT || status == TB_ERR_NOT_FOUND;
  bool is_told = !is_late && status != TB_ERR_CLOSED && error->text[0];
  if (is_late) tb_duration_format(limit, text, sizeof text);
  text_err("timebase %s: ", command->name);
  text_err("%s", node);
  text_err(": ");
  text_err("%s", is_told ? error->text : param_status_text(status));
  text_err("%s%s\n", is_late ? " within " : "", text);
}

void param_say_near(const char *wanted, const tb_ros2_parameter_list_t *list)
{
  int count = 0;
  for (size_t i = 0; i < list->name_count && count < 3; i++) {
    if (!is_similar(wanted, list->names[i])) continue;
    text_err("%s", count++ ? " or " : "; did you mean ");
    text_err("%s", list->names[i]);
  }
  if (count) text_err("?");
}

void param_print_value(FILE *out, const tb_ros2_parameter_value_t *value)
{
  char *text = NULL;
  if (value->type == TB_ROS2_PARAMETER_NOT_SET)
    text_to(out, "not set");
  else if (tb_ros2_parameter_value_format(value, &text) == TB_OK)
    text_to(out, "%s", text);
  else if (value->type == TB_ROS2_PARAMETER_STRING)
    text_to(out, "%s", value->string_value); /* no UTF-8 */
  else
    text_to(out, "(strings that are not UTF-8)");
  free(text);
}

void param_say_how_to_write(const tb_ros2_parameter_value_t *value, tb_ros2_parameter_type_t type)
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

/* JSON has no infinity, and nothing that is no number: ".inf", "-.inf", ".nan". */
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
