#include "param_show.h"

#include <math.h>
#include <stdlib.h>

#include "near.h"

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
  fprintf(stderr, "timebase %s: ", command->name);
  text_print(stderr, node);
  fputs(": ", stderr);
  text_print(stderr, is_told ? error->text : param_status_text(status));
  fprintf(stderr, "%s%s\n", is_late ? " within " : "", text);
}

void param_say_near(const char *wanted, const tb_ros2_parameter_list_t *list)
{
  int count = 0;
  for (size_t i = 0; i < list->name_count && count < 3; i++) {
    if (!is_near(wanted, list->names[i])) continue;
    fputs(count++ ? " or " : "; did you mean ", stderr);
    text_print(stderr, list->names[i]);
  }
  if (count) fputc('?', stderr);
}

void param_print_value(FILE *out, const tb_ros2_parameter_value_t *value)
{
  char *text = NULL;
  if (value->type == TB_ROS2_PARAMETER_NOT_SET)
    fputs("not set", out);
  else if (tb_ros2_parameter_value_format(value, &text) == TB_OK)
    text_print(out, text);
  else if (value->type == TB_ROS2_PARAMETER_STRING)
    text_print(out, value->string_value); /* no UTF-8 */
  else
    fputs("(strings that are not UTF-8)", out);
  free(text);
}

void param_say_how_to_write(const tb_ros2_parameter_value_t *value, tb_ros2_parameter_type_t type)
{
  bool is_whole = value->type == TB_ROS2_PARAMETER_INTEGER;
  if (type == TB_ROS2_PARAMETER_DOUBLE && is_whole)
    fprintf(stderr, "; write %lld.0", (long long)value->integer_value);
  else if (type == TB_ROS2_PARAMETER_BOOL && is_whole)
    fputs("; write true or false", stderr);
  else if (type == TB_ROS2_PARAMETER_STRING && value->type <= TB_ROS2_PARAMETER_DOUBLE) {
    fputs("; write \"'", stderr);
    param_print_value(stderr, value);
    fputs("'\"", stderr);
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
    fputs("Parameter not set.", stdout);
    return;
  }
  if (!hide_type) fputs(label_of(value->type), stdout);
  if (value->type == TB_ROS2_PARAMETER_BOOL)
    fputs(value->bool_value ? "True" : "False", stdout);
  else if (value->type == TB_ROS2_PARAMETER_STRING)
    text_print(stdout, value->string_value);
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
