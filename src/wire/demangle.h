/* Converts DDS names back to ROS names. Pure. */
#ifndef TB_ROS2_DEMANGLE_H
#define TB_ROS2_DEMANGLE_H

#include <timebase/ros2_graph.h>

#include "wire/names.h"

/* "rt/clock" becomes "/clock", "rq/addRequest" and "rr/addReply" become "/add". Any other name,
 * also one that no ROS name is converted to, is TB_ROS2_ENDPOINT_DDS, and *out is untouched. */
tb_ros2_endpoint_kind_t tb__topic_name_demangle(const char *topic, char out[TB__DDS_NAME_SIZE]);

/* "std_msgs::msg::dds_::String_" becomes "std_msgs/msg/String". For an endpoint of a service
 * this is the type of the service, without "_Request" or "_Response". False for any other name. */
bool tb__type_name_demangle(const char *type, tb_ros2_endpoint_kind_t kind,
                            char out[TB__DDS_NAME_SIZE]);

#endif
