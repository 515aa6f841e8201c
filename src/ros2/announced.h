/* Lists publishers, subscriptions, clients and services under a node: each once, until it is
 * destroyed. */
#ifndef TB_ROS2_ANNOUNCED_H
#define TB_ROS2_ANNOUNCED_H

#include <timebase/ros2_client.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

#include "ros2/announcer.h"

TB_WARN_UNUSED tb_status_t tb__publisher_announce(tb_ros2_publisher_t *publisher,
                                                  tb__announced_node_t *node, tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__clock_publisher_announce(tb_ros2_clock_publisher_t *publisher,
                                                        tb__announced_node_t *node,
                                                        tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__subscription_announce(tb_ros2_subscription_t *subscription,
                                                     tb__announced_node_t *node, tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__client_announce(tb_ros2_client_t *client, tb__announced_node_t *node,
                                               tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__service_announce(tb_ros2_service_t *service,
                                                tb__announced_node_t *node, tb_error_t *error);

#endif
