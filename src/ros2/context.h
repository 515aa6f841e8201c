/* The inside of a context, for what is made from it. */
#ifndef TB_ROS2_CONTEXT_H
#define TB_ROS2_CONTEXT_H

#include <timebase/ros2_context.h>

#include "dds/participant.h"

tb__participant_t *tb__ros2_context_participant(const tb_ros2_context_t *context);

#endif
