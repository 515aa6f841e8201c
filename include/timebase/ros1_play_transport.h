/* Playing on a ROS 1 graph: the transport for tb_player_t. */
#ifndef TIMEBASE_ROS1_PLAY_TRANSPORT_H
#define TIMEBASE_ROS1_PLAY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/play_transport.h>
#include <timebase/ros1_context.h>

/** Publishers for what is played. */
typedef struct tb_ros1_play_transport tb_ros1_play_transport_t;

/** What is published besides the messages, and how. */
typedef struct tb_ros1_play_transport_options {
  const char *clock_topic;       /**< NULL: "/clock"; remappings count; read during creation */
  const char *const *remappings; /**< "FROM:=TO", names of topics; a missing first '/' is put before
                                      each. Read during creation; copied */
  size_t remapping_count;        /**< how many there are */
  uint32_t queue_size;           /**< messages that wait for each subscriber, 1 to 100000; 0: 100 */
  bool clock;                    /**< make a publisher of `clock_topic`; where that is "/clock",
                                      `/use_sim_time` is true as long as the transport exists */
  /** Where a subscriber's queue is full, the player waits up to a second for it before the oldest
   * message is dropped; after that it no longer waits for that topic until its queues are empty.
   * For playing as fast as possible. */
  bool waits_for_room;
  uint8_t padding[2]; /**< not used */
} tb_ros1_play_transport_options_t;

/** No clock, names as recorded, 100 messages for each subscriber. */
#define TB_ROS1_PLAY_TRANSPORT_OPTIONS_INIT                                                        \
  {                                                                                                \
    NULL, NULL, 0, 0, false, false,                                                                \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** `options` may be NULL. Destroy it after its player and before its context. Open the reader of
 * the player with TB_BAG_CONTENT_ANY. Players may use it one after the other: topics of one name
 * keep their publisher.
 *
 * Topics that are serialized as "ros1" are played; each gets a publisher with the type, MD5 sum and
 * definition that were recorded, latched if one of its publishers was: then
 * new subscribers get the last message of each recorded publisher. The node's name is that of
 * the context. A topic whose name, type or MD5 sum no graph has, and one that is remapped to the
 * name of another type, is left out, which is reported to the log.
 *
 * Before the first message the player waits, at most 1 s, until the subscribers that the master
 * knows have connected; after the last one, until each connection has taken what waits for it, at
 * most as long as the player's ack_limit allows, and 200 ms more for it to arrive. What was
 * dropped because subscribers were too slow is reported to the log then.
 *
 *   TB_ERR_INVALID  a remapping or a name is not valid; queue_size
 *   and as tb_ros1_clock_publisher_create
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_play_transport_create(
    tb_ros1_context_t *context, const tb_ros1_play_transport_options_t *options,
    tb_ros1_play_transport_t **out, tb_error_t *error);

/** Accepts NULL. [any thread but callbacks] */
TB_API void tb_ros1_play_transport_destroy(tb_ros1_play_transport_t *transport);

/** What to hand to tb_player_create; valid as long as `transport`. [any thread] */
TB_API tb_play_transport_t tb_ros1_play_transport_interface(tb_ros1_play_transport_t *transport);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros1_play_transport_create_sized(
    tb_ros1_context_t *context, const tb_ros1_play_transport_options_t *options,
    size_t options_size, tb_ros1_play_transport_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_play_transport_create(tb_ros1_context_t *context,
                                                    const tb_ros1_play_transport_options_t *options,
                                                    tb_ros1_play_transport_t **out,
                                                    tb_error_t *error)
{
  return tb_ros1_play_transport_create_sized(context, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
