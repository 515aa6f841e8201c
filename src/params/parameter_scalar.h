/* Converts a YAML scalar to a value of a parameter, and numbers to text. Pure. */
#ifndef TB_ROS2_PARAMETER_SCALAR_H
#define TB_ROS2_PARAMETER_SCALAR_H

#include <timebase/ros2_parameter.h>

#define TB__DOUBLE_TEXT_SIZE 40

/* The value of an unquoted `text`, as in rcl_yaml_param_parser: bool, integer, double or string. A
 * string in *out points to `text`. */
void tb__parameter_scalar_resolve(const char *text, tb_ros2_parameter_value_t *out);

/* The shortest text that reads back as this double, and not as an integer. */
void tb__double_format(double value, char out[TB__DOUBLE_TEXT_SIZE]);

#endif
