/* Subscribing to topics of a ROS 1 graph, of any type, to serialized messages. */
#ifndef TIMEBASE_ROS1_SUBSCRIPTION_H
#define TIMEBASE_ROS1_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>
#include <timebase/ros1_publisher.h>

/** A subscription to one topic. */
typedef struct tb_ros1_subscription tb_ros1_subscription_t;

/** A message, valid during the callback. */
typedef struct tb_ros1_sample {
  const void *message;         /**< as ROS 1 serializes it */
  size_t size;                 /**< bytes of `message` */
  int64_t received_ns;         /**< system time when it was taken in */
  int64_t steady_ns;           /**< steady time then */
  uint64_t connection;         /**< a number for each connection to a publisher, never used again */
  const char *publisher;       /**< the name that its node gave; "" if that is none */
  tb_ros1_message_type_t type; /**< what the publisher announced */
  uint64_t latched; /**< 1: the publisher keeps its last message for new subscribers; else 0 */
} tb_ros1_sample_t;

/** Called on the context's thread, one message at a time, and in the order of each connection. It
 * must not block: no other message of the context is taken in meanwhile. */
typedef void (*tb_ros1_sample_callback_t)(const tb_ros1_sample_t *sample, void *user);

/** What a subscription is made with. */
typedef struct tb_ros1_subscription_options {
  tb_ros1_sample_callback_t callback; /**< for each message; not NULL */
  void *user;                         /**< handed to `callback` */
  uint32_t message_max; /**< bytes; a publisher that announces a longer message is disconnected; 0:
                             64 MiB. Memory grows with what has come, not with what is announced */
  uint8_t padding[4];   /**< not used */
} tb_ros1_subscription_options_t;

TB_BEGIN_DECLS

/** Registers with the master as soon as that answers, and connects to each publisher. Have one for
 * a topic in a context: publishers of rospy keep one connection for each node, and close the
 * others, which are made again, and so on. `topic` is an absolute name. `type` (its definition is
 * not looked at) may be NULL: messages of any type are taken; else publishers of another md5sum are
 * refused, and reported. Texts are copied.
 *
 *   TB_ERR_INVALID    the topic's name, the type or an option is not valid: see the text
 *   TB_ERR_FORKED     this is a forked child
 *   TB_ERR_NO_MEMORY
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_subscription_create(
    tb_ros1_context_t *context, const char *topic, const tb_ros1_message_type_t *type,
    const tb_ros1_subscription_options_t *options, tb_ros1_subscription_t **out, tb_error_t *error);

/** Unregisters and closes the connections; no callback comes after it. Accepts NULL. [any thread
 * but callbacks] */
TB_API void tb_ros1_subscription_destroy(tb_ros1_subscription_t *subscription);

/** How many publishers it is connected to now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_subscription_matched(const tb_ros1_subscription_t *subscription);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros1_subscription_create_sized(tb_ros1_context_t *context, const char *topic,
                                                     const tb_ros1_message_type_t *type,
                                                     const tb_ros1_subscription_options_t *options,
                                                     size_t options_size,
                                                     tb_ros1_subscription_t **out,
                                                     tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_subscription_create(tb_ros1_context_t *context, const char *topic,
                                                  const tb_ros1_message_type_t *type,
                                                  const tb_ros1_subscription_options_t *options,
                                                  tb_ros1_subscription_t **out, tb_error_t *error)
{
  return tb_ros1_subscription_create_sized(context, topic, type, options, sizeof *options, out,
                                           error);
}

TB_END_DECLS

#endif
