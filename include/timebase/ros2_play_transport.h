/* Playing on a ROS 2 graph: the transport for tb_player_t. */
#ifndef TIMEBASE_ROS2_PLAY_TRANSPORT_H
#define TIMEBASE_ROS2_PLAY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/play_transport.h>
#include <timebase/qos_overrides.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>

/** Publishers for what is played. */
typedef struct tb_ros2_play_transport tb_ros2_play_transport_t;

/** How far the player may run ahead of the newest stamp, unless the user sets a lag. */
#define TB_ROS2_PLAY_LAG_DEFAULT ((tb_duration_t){200000000})

/** The output of a node that the player waits for. */
typedef struct tb_ros2_play_wait {
  const char *topic; /**< whose messages have a std_msgs/Header: "/odom" or "odom" */
  const char *node;  /**< who publishes it, full name: "/slam" or "slam" */
  tb_duration_t lag; /**< >= 0 */
} tb_ros2_play_wait_t;

/** What is published besides the messages, and how. */
typedef struct tb_ros2_play_transport_options {
  bool clock; /**< make a publisher of `clock_topic` (TB_QOS_INIT_CLOCK) */
  /** The publishers are this node's, with names that it resolves: its remappings count. It also
   * publishes events/read_split (rosbag2_interfaces/msg/ReadSplitEvent). NULL: of no node. It must
   * be one of the context and outlive the transport. */
  tb_ros2_node_t *node;
  const tb_qos_overrides_t *qos_overrides; /**< read while topics are added; may be NULL */
  const char *clock_topic; /**< NULL: "/clock"; read while the transport is created */

  /** After each message nothing moves until all reliable subscriptions that are matched have
   * acknowledged it: DDS has received it there, which does not mean that it was processed. A seek
   * ends the wait, so the message after it goes out. The context should be one with prompt_acks, or
   * each takes up to 200 ms. */
  bool wait_for_acks;

  /** Neither messages nor time go further than `lag` beyond the newest header stamp that the node
   * has published on the topic, except for what follows; of several the last one decides. Stamps
   * are compared with recorded time as they are.
   *
   * A node that has answered all that it was sent is not waited for: the next message that it
   * subscribes to goes out, even if it is further away than `lag`. So with a lag of 0 each message
   * waits until the one before it was answered, with its header stamp or its recorded time or a
   * later one. What counts as sent to it is each message on a topic that it subscribes to (all of
   * them, where it subscribes to none that is played) but those of transient-local topics. Until
   * its first answer, the first of them takes the place of the newest stamp.
   *
   * After a jump all of this restarts, and what is received before something was sent to the node
   * does not count. Nor do stamps that are more than `lag` ahead of time: they may answer what was
   * sent before a jump back, or by another publisher. It also restarts when the node has gone and
   * comes again. While it is not there, or does not publish the topic, nothing moves.
   *
   * A topic whose messages have no header ends playback with TB_ERR_INVALID. Read only while the
   * transport is created; copied. At most 64. */
  const tb_ros2_play_wait_t *waits;
  size_t wait_count; /**< how many there are */

  /** How long messages are kept to go out together, in as few packets as they fit into: 1 ms is
   * right for playing as fast as possible. The clock and events overtake none of them, and a player
   * sends what there is before it waits. 0: each goes out at once. Without effect with
   * `wait_for_acks` or `waits`. Cyclone DDS has one setting for all writers that are being created
   * in the process: one that a program creates itself at the moment in which a publisher is created
   * would have to be flushed, and a setting of its own (dds_write_set_batch) is off after it. */
  tb_duration_t batch;

  /** Reliable topics, unless the overrides give their QoS, keep every message until all reliable
   * subscriptions that are matched have acknowledged it, and the player waits while that is more
   * than so many bytes, or more than a writer of Cyclone DDS takes (WhcHigh in CYCLONEDDS_URI): for
   * playing as fast as possible, which loses none then. Late subscriptions of transient-local
   * topics get what was recorded. 0: publishers keep what was recorded; a subscription that is
   * too slow loses messages, and is named in the log at the end. */
  uint64_t backlog_max;
} tb_ros2_play_transport_options_t;

/** No clock, no node, QoS as recorded; no waiting. */
#define TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT                                                        \
  {                                                                                                \
    false, NULL, NULL, NULL, false, NULL, 0, {0}, 0                                                \
  }

TB_BEGIN_DECLS

/** TB_ERR_INVALID, with the rule in the text: topic or node has no name that ROS allows, or the lag
 * is negative. [any thread] */
TB_API tb_status_t tb_ros2_play_wait_check(const tb_ros2_play_wait_t *wait, tb_error_t *error);

/** `options` may be NULL. Destroy it after its player and before its context. Players may use it
 * one after the other: topics of one name and type keep their publisher.
 *
 * Each topic gets a publisher with the QoS that the recording asks for. Before the first message
 * the player waits until no subscription has come or gone for 200 ms, at most 1 s, so that volatile
 * subscriptions that are up get it; after the last one, until reliable subscriptions have
 * acknowledged, at most as long as the player's options allow.
 *
 *   TB_ERR_INVALID  tb_ros2_play_wait_check does not accept one of `waits`, or `batch` is negative
 *   TB_ERR_LIMIT    too many of them
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_SYSTEM
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_play_transport_create(
    tb_ros2_context_t *context, const tb_ros2_play_transport_options_t *options,
    tb_ros2_play_transport_t **out, tb_error_t *error);

/** Accepts NULL. [any thread] [blocks: for a short while] */
TB_API void tb_ros2_play_transport_destroy(tb_ros2_play_transport_t *transport);

/** What to hand to tb_player_create; valid as long as `transport`. [any thread] */
TB_API tb_play_transport_t tb_ros2_play_transport_interface(tb_ros2_play_transport_t *transport);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_play_transport_create_sized(
    tb_ros2_context_t *context, const tb_ros2_play_transport_options_t *options,
    size_t options_size, tb_ros2_play_transport_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_play_transport_create(tb_ros2_context_t *context,
                                                    const tb_ros2_play_transport_options_t *options,
                                                    tb_ros2_play_transport_t **out,
                                                    tb_error_t *error)
{
  return tb_ros2_play_transport_create_sized(context, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
