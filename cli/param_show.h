/* Parameters of other nodes, as text and as JSON. */
#ifndef TB_CLI_PARAM_SHOW_H
#define TB_CLI_PARAM_SHOW_H

#include <timebase/ros2_parameter_client.h>

#include "json.h"

/* "no answer", "gone before it answered" or what else came of a call. */
const char *param_status_text(tb_status_t status);

/* "timebase NAME: /camera: no answer within 2s" to standard error. */
void param_say_failed(const command_t *command, const char *node, tb_status_t status,
                      const tb_error_t *error, tb_duration_t limit);

/* " ; did you mean gain?", if one of the names is near. */
void param_say_near(const char *wanted, const tb_ros2_parameter_list_t *list);

/* "; write 1.0", where a number or text was read as another type than the parameter has. */
void param_say_how_to_write(const tb_ros2_parameter_value_t *value, tb_ros2_parameter_type_t type);

/* As tb_ros2_parameter_value_parse reads it. */
void param_print_value(FILE *out, const tb_ros2_parameter_value_t *value);
/* "Double value is: 1.5" as `ros2 param get` prints it, or the value alone. */
void param_print_as_ros(const tb_ros2_parameter_value_t *value, bool hide_type);
json_t *param_value_json(const tb_ros2_parameter_value_t *value);

#endif
