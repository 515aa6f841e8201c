/* The way back from DDS's names to ROS's. Pure. */
#ifndef TB_ROS2_DEMANGLE_H
#define TB_ROS2_DEMANGLE_H

#include <timebase/ros2_graph.h>

#include "wire/names.h"

/* "rt/clock" becomes "/clock", "rq/addRequest" and "rr/addReply" become "/add". Any other name, one
 * that no ROS name becomes included, is TB_ROS2_ENDPOINT_DDS, and *out is untouched. */
tb_ros2_endpoint_kind_t tb__topic_name_demangle(const char *topic, char out[TB__DDS_NAME_SIZE]);

/* "std_msgs::msg::dds_::String_" becomes "std_msgs/msg/String". Of a service's endpoints the type
 * is the service's: "_Request" and "_Response" go. False for any other name. */
bool tb__type_name_demangle(const char *type, tb_ros2_endpoint_kind_t kind,
                            char out[TB__DDS_NAME_SIZE]);

#endif
