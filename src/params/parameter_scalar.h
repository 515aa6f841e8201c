/* What one YAML scalar means as a value of a parameter, and how numbers are written. Pure. */
#ifndef TB_ROS2_PARAMETER_SCALAR_H
#define TB_ROS2_PARAMETER_SCALAR_H

#include <timebase/ros2_parameter.h>

#define TB__DOUBLE_TEXT_SIZE 40

/* What `text` is when it is not quoted, as rcl_yaml_param_parser takes it: bool, integer, double or
 * string. A string in *out points to `text`. */
void tb__parameter_scalar_resolve(const char *text, tb_ros2_parameter_value_t *out);

/* The shortest text that is this double again, and no integer. */
void tb__double_format(double value, char out[TB__DOUBLE_TEXT_SIZE]);

#endif
