/* Publishing time on `/clock` (rosgraph_msgs/msg/Clock). */
#ifndef TIMEBASE_ROS2_CLOCK_PUBLISHER_H
#define TIMEBASE_ROS2_CLOCK_PUBLISHER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/sleep.h>
#include <timebase/tick_sink.h>

/** A publisher of `/clock`. */
typedef struct tb_ros2_clock_publisher tb_ros2_clock_publisher_t;

TB_BEGIN_DECLS

/** `topic` may be NULL for "/clock". `qos` may be NULL for TB_QOS_INIT_CLOCK, what rosbag2 sends:
 * reliable subscriptions do not match it; a reliable publisher matches all. Errors as in
 * tb_ros2_publisher_create.
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_clock_publisher_create(tb_ros2_context_t *context,
                                                                 const char *topic,
                                                                 const tb_qos_t *qos,
                                                                 tb_ros2_clock_publisher_t **out,
                                                                 tb_error_t *error);

/** Accepts NULL. [any thread] [blocks: for a short while] */
TB_API void tb_ros2_clock_publisher_destroy(tb_ros2_clock_publisher_t *publisher);

/** Sends ROS time `time_ns`.
 *
 *   TB_ERR_NOT_SET    0, which ROS takes for "no time yet"
 *   TB_ERR_RANGE      negative, or above 2147483647.999999999 s: the message cannot hold it
 *   others            as in tb_ros2_publisher_publish
 *
 * [any thread] [from callbacks] [blocks: only with a reliable QoS] */
TB_API tb_status_t tb_ros2_clock_publisher_publish(tb_ros2_clock_publisher_t *publisher,
                                                   int64_t time_ns, tb_error_t *error);

/** The publisher as a sink of a clock server; it must outlive it. [any thread] */
TB_API tb_tick_sink_t tb_ros2_clock_publisher_sink(tb_ros2_clock_publisher_t *publisher);

/** How many subscriptions are matched now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_clock_publisher_matched(const tb_ros2_clock_publisher_t *publisher);

/** As tb_ros2_publisher_wait_for_matched. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_clock_publisher_wait_for_matched(
    tb_ros2_clock_publisher_t *publisher, uint32_t count, const tb_wait_options_t *options);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_clock_publisher_wait_for_matched_sized(
    tb_ros2_clock_publisher_t *publisher, uint32_t count, const tb_wait_options_t *options,
    size_t options_size);
TB_INLINE tb_status_t tb_ros2_clock_publisher_wait_for_matched(tb_ros2_clock_publisher_t *publisher,
                                                               uint32_t count,
                                                               const tb_wait_options_t *options)
{
  return tb_ros2_clock_publisher_wait_for_matched_sized(publisher, count, options, sizeof *options);
}

TB_END_DECLS

#endif
