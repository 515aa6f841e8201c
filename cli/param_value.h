/* Values of parameters, as text and as JSON. */
#ifndef TB_CLI_PARAM_VALUE_H
#define TB_CLI_PARAM_VALUE_H

#include <jansson.h>
#include <stdio.h>
#include <timebase/ros2_parameter.h>

/* "; write 1.0" to standard error, where the value was read as a type other than the parameter's.
 */
void param_print_how_to_write(const tb_ros2_parameter_value_t *value,
                              tb_ros2_parameter_type_t type);

/* In the form that tb_ros2_parameter_value_parse reads. */
void param_print_value(FILE *out, const tb_ros2_parameter_value_t *value);
/* "Double value is: 1.5" as `ros2 param get` prints it, or the value alone. */
void param_print_as_ros(const tb_ros2_parameter_value_t *value, bool hide_type);
json_t *param_value_json(const tb_ros2_parameter_value_t *value);

/* No option begins like a number: "-0.5" is a value. */
bool param_is_number(const char *word);

#endif
