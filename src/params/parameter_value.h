/* Values of parameters: their memory, and their form on the wire. */
#ifndef TB_ROS2_PARAMETER_VALUE_H
#define TB_ROS2_PARAMETER_VALUE_H

#include <timebase/ros2_parameter.h>

#include "wire/messages.h"

/* A view: *out points into `value`. */
void tb__parameter_value_to_message(const tb_ros2_parameter_value_t *value,
                                    tb__parameter_value_t *out);

/* The reverse, also a view. TB_ERR_INVALID: no such type. */
tb_status_t tb__parameter_value_of_message(const tb__parameter_value_t *message,
                                           tb_ros2_parameter_value_t *out);

#endif
