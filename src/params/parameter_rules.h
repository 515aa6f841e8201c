/* Which values a parameter takes, as in rclcpp. Pure. */
#ifndef TB_ROS2_PARAMETER_RULES_H
#define TB_ROS2_PARAMETER_RULES_H

#include <timebase/ros2_parameter.h>

/* For "%.*s" in errors: names may have any length, and errors show the beginning. */
#define TB__PARAMETER_NAME_SHOWN 120

/* TB_ERR_INVALID: NULL or empty. */
TB_WARN_UNUSED tb_status_t tb__parameter_name_check(const char *name, tb_error_t *error);

/* TB_ERR_NO_MEMORY and TB_ERR_NOT_FOUND with their texts. */
tb_status_t tb__parameter_no_memory(const char *name, tb_error_t *error);
tb_status_t tb__parameter_not_declared(const char *name, tb_error_t *error);

/* Checks that the ranges are valid. TB_ERR_INVALID. */
TB_WARN_UNUSED tb_status_t tb__parameter_descriptor_check(
    const char *name, const tb_ros2_parameter_descriptor_t *descriptor, tb_error_t *error);

/* Whether a parameter of that type may have the value; with dynamic typing `type` is ignored.
 * TB_ERR_INVALID: another type. TB_ERR_RANGE. */
TB_WARN_UNUSED tb_status_t tb__parameter_value_check(
    const char *name, const tb_ros2_parameter_descriptor_t *descriptor,
    tb_ros2_parameter_type_t type, const tb_ros2_parameter_value_t *value, tb_error_t *error);

#endif
