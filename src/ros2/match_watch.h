/* Waiting for the subscriptions of several publishers at once. */
#ifndef TB_ROS2_MATCH_WATCH_H
#define TB_ROS2_MATCH_WATCH_H

#include <stdatomic.h>
#include <stdint.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_publisher.h>

#include "base/private_api.h"

/* Afterwards each change of the matched subscriptions raises *events by 1 and wakes its waiters
 * (platform/futex.h). *events must outlive the publisher. */
TB_PRIVATE_API void tb__ros2_publisher_watch_matched(tb_ros2_publisher_t *publisher,
                                                     _Atomic uint32_t *events);
TB_PRIVATE_API void tb__ros2_clock_publisher_watch_matched(tb_ros2_clock_publisher_t *publisher,
                                                           _Atomic uint32_t *events);

#endif
