/* Publishing on topics of a ROS 1 graph, of any type, with messages that are serialized already. */
#ifndef TIMEBASE_ROS1_PUBLISHER_H
#define TIMEBASE_ROS1_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>

/** A publisher of one topic. */
typedef struct tb_ros1_publisher tb_ros1_publisher_t;

/** A type of messages, as connections name it. */
typedef struct tb_ros1_message_type {
  const char *name;       /**< "std_msgs/String" */
  const char *md5sum;     /**< 32 hexadecimal digits: subscribers with another one are refused */
  const char *definition; /**< the text of the .msg file, with the types that it uses; may be "" */
} tb_ros1_message_type_t;

/** What a publisher is made with. */
typedef struct tb_ros1_publisher_options {
  uint32_t queue_size; /**< messages that wait for each subscriber, 1 to 100000; then the oldest is
                            dropped; 0: 100 */
  bool latched;        /**< new subscribers get the last message */
  uint8_t padding[3];  /**< not used */
} tb_ros1_publisher_options_t;

/** 100 messages for each subscriber, not latched. */
#define TB_ROS1_PUBLISHER_OPTIONS_INIT                                                             \
  {                                                                                                \
    0, false,                                                                                      \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Registers with the master as soon as that answers. `topic` is an absolute name; texts are
 * copied. `options` may be NULL. A node publishes each topic once.
 *
 *   TB_ERR_INVALID    the topic's name, the type or an option is not valid, or the context
 * publishes the topic already: see the text TB_ERR_SYSTEM     no port to listen on TB_ERR_FORKED
 * this is a forked child TB_ERR_NO_MEMORY
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_publisher_create(
    tb_ros1_context_t *context, const char *topic, const tb_ros1_message_type_t *type,
    const tb_ros1_publisher_options_t *options, tb_ros1_publisher_t **out, tb_error_t *error);

/** Unregisters and closes the connections; what still waits in their queues is lost. Accepts NULL.
 * [any thread but callbacks] */
TB_API void tb_ros1_publisher_destroy(tb_ros1_publisher_t *publisher);

/** Sends a message as ROS 1 serializes it, at most 1 GB. It is sent on this thread to each
 * subscriber whose connection takes it at once; for the others it waits in their queues. A
 * subscriber that takes nothing loses its oldest messages, and costs the others nothing.
 *
 *   TB_ERR_LIMIT      more than 1,000,000,000 bytes, which subscribers refuse
 *   TB_ERR_NO_MEMORY  a subscriber did not get it, and is disconnected
 *   TB_ERR_FORKED     this is a forked child
 *   TB_ERR_INVALID
 *
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_ros1_publisher_publish(tb_ros1_publisher_t *publisher, const void *message,
                                             size_t size, tb_error_t *error);

/** The same on behalf of others, as a player does: a topic that is latched keeps the last message
 * of each `origin`, any text that names one, and new subscribers get all of them, the latest last.
 * At most 256; then the oldest is forgotten. [any thread] [from callbacks] */
TB_API tb_status_t tb_ros1_publisher_publish_as(tb_ros1_publisher_t *publisher, const char *origin,
                                                const void *message, size_t size,
                                                tb_error_t *error);

/** How many subscribers are connected now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_publisher_matched(const tb_ros1_publisher_t *publisher);

/** Messages that queues of subscribers had no room for. [any thread] [from callbacks] */
TB_API uint64_t tb_ros1_publisher_dropped(const tb_ros1_publisher_t *publisher);

/** How many subscribers the master has named that have not connected; UINT32_MAX: it has not
 * answered yet. Nodes that have died may be among them. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_publisher_awaited(const tb_ros1_publisher_t *publisher);

/** Messages that wait for the subscriber that has the most waiting, the one that is being sent
 * included; at most queue_size + 1. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_publisher_waiting(tb_ros1_publisher_t *publisher);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros1_publisher_create_sized(tb_ros1_context_t *context, const char *topic,
                                                  const tb_ros1_message_type_t *type,
                                                  const tb_ros1_publisher_options_t *options,
                                                  size_t options_size, tb_ros1_publisher_t **out,
                                                  tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_publisher_create(tb_ros1_context_t *context, const char *topic,
                                               const tb_ros1_message_type_t *type,
                                               const tb_ros1_publisher_options_t *options,
                                               tb_ros1_publisher_t **out, tb_error_t *error)
{
  return tb_ros1_publisher_create_sized(context, topic, type, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
