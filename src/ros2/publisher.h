/* Publishers, for callers that follow the delivery of messages, and for messages of ours. */
#ifndef TB_ROS2_PUBLISHER_H
#define TB_ROS2_PUBLISHER_H

#include <timebase/ros2_publisher.h>

#include "base/private_api.h"
#include "dds/guid.h"
#include "wire/cdr_type.h"

TB_PRIVATE_API tb__guid_t tb__ros2_publisher_guid(const tb_ros2_publisher_t *publisher);

/* The subscriptions that have not acknowledged everything, at most `room`. Returns how many were
 * written. Not from a callback of DDS. */
TB_PRIVATE_API size_t tb__ros2_publisher_unacked(const tb_ros2_publisher_t *publisher,
                                                 tb__guid_t *out, size_t room);

/* Whether publishers that this thread creates from now on collect messages until they are flushed.
 */
TB_PRIVATE_API void tb__ros2_publishers_batch(bool on);
TB_PRIVATE_API void tb__ros2_publisher_flush(const tb_ros2_publisher_t *publisher);

/* The same with reliable ones that keep all messages until subscriptions have acknowledged them;
 * publishing then returns TB_ERR_TIMEOUT where it would block for longer than 50 ms. */
TB_PRIVATE_API void tb__ros2_publishers_keep_all(bool on);
/* What is kept for that, in bytes. *out_high: with more than that, publishing blocks. */
TB_PRIVATE_API size_t tb__ros2_publisher_unacked_bytes(const tb_ros2_publisher_t *publisher,
                                                       size_t *out_high);
/* How often subscriptions have asked again for messages that were no longer kept, and which,
 * *count of at most that many. */
TB_PRIVATE_API size_t tb__ros2_publisher_unkept(const tb_ros2_publisher_t *publisher,
                                                tb__guid_t *out, size_t *count);

/* Encodes a message of the type, and publishes it. */
tb_status_t tb__ros2_publish_message(tb_ros2_publisher_t *publisher, const tb__cdr_type_t *type,
                                     const void *message, tb_error_t *error);

#endif
