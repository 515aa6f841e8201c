/* Playing on a ROS 2 graph: the transport for tb_player_t. */
#ifndef TIMEBASE_ROS2_PLAY_TRANSPORT_H
#define TIMEBASE_ROS2_PLAY_TRANSPORT_H

#include <stdbool.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/play_transport.h>
#include <timebase/qos_overrides.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>

/** Publishers for what is played. */
typedef struct tb_ros2_play_transport tb_ros2_play_transport_t;

/** What is published beside the messages, and how. */
typedef struct tb_ros2_play_transport_options {
  bool clock; /**< make a publisher of `clock_topic` (TB_QOS_INIT_CLOCK) */
  /** The publishers are this node's, with names that it resolves: its remappings count. It also
   * publishes events/read_split (rosbag2_interfaces/msg/ReadSplitEvent). NULL: of no node. It must
   * be one of the context and outlive the transport. */
  tb_ros2_node_t *node;
  const tb_qos_overrides_t *qos_overrides; /**< read while topics are added; may be NULL */
  const char *clock_topic; /**< NULL: "/clock"; read while the transport is created */
} tb_ros2_play_transport_options_t;

/** No clock, no node, QoS as recorded. */
#define TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT                                                        \
  {                                                                                                \
    false, NULL, NULL, NULL                                                                        \
  }

TB_BEGIN_DECLS

/** `options` may be NULL. Destroy it after its player and before its context.
 *
 * Each topic gets a publisher with the QoS that the recording asks for. Before the first message
 * the player waits until no subscription has come or gone for 200 ms, at most 1 s, so that volatile
 * subscriptions that are up get it; behind the last one, until reliable subscriptions have
 * acknowledged, at most as long as the player's options say.
 *
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT
 *
 * [any thread] */
TB_API tb_status_t tb_ros2_play_transport_create(tb_ros2_context_t *context,
                                                 const tb_ros2_play_transport_options_t *options,
                                                 tb_ros2_play_transport_t **out, tb_error_t *error);

/** Accepts NULL. [any thread] [blocks: for a short while] */
TB_API void tb_ros2_play_transport_destroy(tb_ros2_play_transport_t *transport);

/** What to hand to tb_player_create; valid as long as `transport`. [any thread] */
TB_API tb_play_transport_t tb_ros2_play_transport_interface(tb_ros2_play_transport_t *transport);

TB_END_DECLS

#endif
