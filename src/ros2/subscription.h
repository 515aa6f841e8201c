/* Subscriptions whose owner is notified of changes of their publishers. */
#ifndef TB_ROS2_SUBSCRIPTION_H
#define TB_ROS2_SUBSCRIPTION_H

#include <timebase/ros2_subscription.h>

#include "dds/endpoint.h"
#include "dds/guid.h"

/* tb_ros2_subscription_create with `on_writers` of dds/endpoint.h; its user is that of `options`.
 */
TB_WARN_UNUSED tb_status_t tb__subscription_create_watched(
    tb_ros2_context_t *context, const char *topic, const char *type, const tb_qos_t *qos,
    const tb_ros2_subscription_options_t *options, tb__writers_callback_t on_writers,
    tb_ros2_subscription_t **out, tb_error_t *error);

tb__guid_t tb__subscription_guid(const tb_ros2_subscription_t *subscription);

#endif
