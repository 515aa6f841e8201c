/* Publishers, for those who look more closely at what becomes of messages. */
#ifndef TB_ROS2_PUBLISHER_H
#define TB_ROS2_PUBLISHER_H

#include <timebase/ros2_publisher.h>

#include "base/private_api.h"

/* DDS GUID, network order. */
TB_PRIVATE_API void tb__ros2_publisher_guid(const tb_ros2_publisher_t *publisher, uint8_t out[16]);

/* The subscriptions (DDS GUIDs, network order) that have not acknowledged everything, at most
 * `room`; how many were filled in. Not from a callback of DDS. */
TB_PRIVATE_API size_t tb__ros2_publisher_unacked(const tb_ros2_publisher_t *publisher,
                                                 uint8_t (*out)[16], size_t room);

#endif
