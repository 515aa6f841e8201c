/* Publishing serialized messages of any type on a ROS 2 topic; timebase/ros2_idl.h makes those from
 * structs of IDL types. */
#ifndef TIMEBASE_ROS2_PUBLISHER_H
#define TIMEBASE_ROS2_PUBLISHER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/sleep.h>

/** A publisher of one topic. Others see it as that of a program without a node, unless
 * tb_ros2_node_create_publisher (timebase/ros2_node.h) made it. */
typedef struct tb_ros2_publisher tb_ros2_publisher_t;

TB_BEGIN_DECLS

/** `topic`: a ROS name; a relative one ("chatter") is taken from the root ("/chatter"). With
 * qos->avoid_ros_namespace_conventions it is a DDS topic name as it is. `type`: "package/msg/Name",
 * or the old "package/Name". `qos` may be NULL for TB_QOS_INIT_DEFAULT. Destroy the publisher
 * before its context.
 *
 *   TB_ERR_INVALID    a name breaks ROS's rules, or a QoS policy has no valid value: see the text
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_publisher_create(tb_ros2_context_t *context,
                                                           const char *topic, const char *type,
                                                           const tb_qos_t *qos,
                                                           tb_ros2_publisher_t **out,
                                                           tb_error_t *error);

/** Accepts NULL. Samples that reliable subscriptions have not acknowledged yet may be lost: see
 * tb_ros2_publisher_wait_for_acks.
 * [any thread] [blocks: for a short while] */
TB_API void tb_ros2_publisher_destroy(tb_ros2_publisher_t *publisher);

/** Sends a serialized message: 4 bytes of encapsulation and the body, with or without zeros up to a
 * multiple of 4. The bytes are copied. Its source timestamp is the system time now.
 *
 *   TB_ERR_INVALID    not plain CDR (00 00 or 00 01 at the start), or larger than DDS can carry
 *   TB_ERR_CLOSED     the context was destroyed
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT
 *
 * [any thread] [from callbacks] [blocks: when reliable, while the history is full of samples that
 * subscriptions have not acknowledged] */
TB_API tb_status_t tb_ros2_publisher_publish(tb_ros2_publisher_t *publisher, const void *cdr,
                                             size_t size, tb_error_t *error);

/** How many subscriptions are matched now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_publisher_matched(const tb_ros2_publisher_t *publisher);

/** Waits until at least `count` subscriptions are matched, or the wait ends as `options` ask
 * (tb_wait_options_t; NULL: nothing ends it). [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_publisher_wait_for_matched(
    tb_ros2_publisher_t *publisher, uint32_t count, const tb_wait_options_t *options);

/** Waits until all reliable subscriptions that are matched have acknowledged every message.
 * `options` as above; a token or a jump ends it within 20 ms. TB_ERR_CLOSED: also, the context was
 * destroyed. TB_ERR_TRANSPORT. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_publisher_wait_for_acks(tb_ros2_publisher_t *publisher, const tb_wait_options_t *options);

/** How often a subscription of this topic and type was not matched because of QoS. When there was
 * one, *out_policy (may be NULL) becomes the name of the last mismatched policy, such as
 * "reliability" (static storage). [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_publisher_incompatible(const tb_ros2_publisher_t *publisher,
                                               const char **out_policy);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_publisher_wait_for_matched_sized(tb_ros2_publisher_t *publisher,
                                                            uint32_t count,
                                                            const tb_wait_options_t *options,
                                                            size_t options_size);
TB_INLINE tb_status_t tb_ros2_publisher_wait_for_matched(tb_ros2_publisher_t *publisher,
                                                         uint32_t count,
                                                         const tb_wait_options_t *options)
{
  return tb_ros2_publisher_wait_for_matched_sized(publisher, count, options, sizeof *options);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_publisher_wait_for_acks_sized(
    tb_ros2_publisher_t *publisher, const tb_wait_options_t *options, size_t options_size);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_publisher_wait_for_acks(tb_ros2_publisher_t *publisher, const tb_wait_options_t *options)
{
  return tb_ros2_publisher_wait_for_acks_sized(publisher, options, sizeof *options);
}

TB_END_DECLS

#endif
