/* Receiving serialized messages of any type from a ROS 2 topic; timebase/ros2_idl.h makes structs
 * of IDL types from those. */
#ifndef TIMEBASE_ROS2_SUBSCRIPTION_H
#define TIMEBASE_ROS2_SUBSCRIPTION_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_sample.h>
#include <timebase/sleep.h>

/** A subscription to one topic. Others see it as that of a program without a node, unless
 * tb_ros2_node_create_subscription (timebase/ros2_node.h) made it. */
typedef struct tb_ros2_subscription tb_ros2_subscription_t;

/** Called with each message on a receive thread of DDS (or on the thread of a publisher in the same
 * process), one call at a time for a subscription. `sample` ends with the call. Be quick: other
 * topics wait for it. It may destroy the subscription, but not its context. */
typedef void (*tb_ros2_subscription_callback_t)(const tb_ros2_sample_t *sample, void *user);

/** How messages are handed over. */
typedef struct tb_ros2_subscription_options {
  tb_ros2_subscription_callback_t callback; /**< NULL: messages wait for take, as many as depth */
  void *user;                               /**< handed to the callback */
} tb_ros2_subscription_options_t;

/** No callback: messages wait to be taken. */
#define TB_ROS2_SUBSCRIPTION_OPTIONS_INIT                                                          \
  {                                                                                                \
    NULL, NULL                                                                                     \
  }

TB_BEGIN_DECLS

/** Names, QoS and errors as in tb_ros2_publisher_create; `options` may be NULL. The callback may
 * run before this returns. Destroy the subscription before its context. [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_subscription_create(
    tb_ros2_context_t *context, const char *topic, const char *type, const tb_qos_t *qos,
    const tb_ros2_subscription_options_t *options, tb_ros2_subscription_t **out, tb_error_t *error);

/** Accepts NULL. After it no callback runs any more. No other thread may be in a call, except for
 * the callback: in that, until it has returned, calls return TB_ERR_CLOSED and destroying it again
 * does nothing. In its own callback it returns at once, and no further callback begins; what is
 * left is done on the context's thread, or when the context is destroyed. [any thread] [blocks:
 * until a running callback has returned, except in that callback] */
TB_API void tb_ros2_subscription_destroy(tb_ros2_subscription_t *subscription);

/** Takes the oldest waiting message, without copying it: give it back with tb_ros2_sample_release.
 * Only for a subscription without callback.
 *
 *   TB_ERR_NOT_FOUND  no message is waiting
 *   TB_ERR_INVALID    the subscription has a callback
 *   TB_ERR_CLOSED     the context was destroyed or, in its callback, the subscription is
 *
 * [one thread at a time] */
TB_INLINE tb_status_t tb_ros2_subscription_take(tb_ros2_subscription_t *subscription,
                                                tb_ros2_sample_t *out);

/** How many publishers are matched now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_subscription_matched(const tb_ros2_subscription_t *subscription);

/** Waits until at least `count` publishers are matched, or the wait ends as `options` ask
 * (tb_wait_options_t; NULL: nothing ends it). TB_ERR_CLOSED: also, in its callback, the
 * subscription is being destroyed. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_subscription_wait_for_matched(
    tb_ros2_subscription_t *subscription, uint32_t count, const tb_wait_options_t *options);

/** How often a publisher of this topic and type was not matched because of QoS: for example a
 * best-effort publisher and a reliable subscription. When there was one, *out_policy (may be NULL)
 * becomes the name of the last mismatched policy, such as "reliability" (static storage). [any
 * thread] [from callbacks] */
TB_API uint32_t tb_ros2_subscription_incompatible(const tb_ros2_subscription_t *subscription,
                                                  const char **out_policy);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_subscription_create_sized(tb_ros2_context_t *context, const char *topic,
                                                     const char *type, const tb_qos_t *qos,
                                                     const tb_ros2_subscription_options_t *options,
                                                     size_t options_size,
                                                     tb_ros2_subscription_t **out,
                                                     tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_subscription_create(tb_ros2_context_t *context, const char *topic,
                                                  const char *type, const tb_qos_t *qos,
                                                  const tb_ros2_subscription_options_t *options,
                                                  tb_ros2_subscription_t **out, tb_error_t *error)
{
  return tb_ros2_subscription_create_sized(context, topic, type, qos, options, sizeof *options, out,
                                           error);
}
TB_API tb_status_t tb_ros2_subscription_take_sized(tb_ros2_subscription_t *subscription,
                                                   tb_ros2_sample_t *out, size_t out_size);
TB_INLINE tb_status_t tb_ros2_subscription_take(tb_ros2_subscription_t *subscription,
                                                tb_ros2_sample_t *out)
{
  return tb_ros2_subscription_take_sized(subscription, out, sizeof *out);
}
TB_API tb_status_t tb_ros2_subscription_wait_for_matched_sized(tb_ros2_subscription_t *subscription,
                                                               uint32_t count,
                                                               const tb_wait_options_t *options,
                                                               size_t options_size);
TB_INLINE tb_status_t tb_ros2_subscription_wait_for_matched(tb_ros2_subscription_t *subscription,
                                                            uint32_t count,
                                                            const tb_wait_options_t *options)
{
  return tb_ros2_subscription_wait_for_matched_sized(subscription, count, options, sizeof *options);
}

TB_END_DECLS

#endif
