/* Publishing time on `/clock` (rosgraph_msgs/Clock) of a ROS 1 graph. */
#ifndef TIMEBASE_ROS1_CLOCK_PUBLISHER_H
#define TIMEBASE_ROS1_CLOCK_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>
#include <timebase/tick_sink.h>

/** A publisher of `/clock`. */
typedef struct tb_ros1_clock_publisher tb_ros1_clock_publisher_t;

/** What a clock publisher is made with. */
typedef struct tb_ros1_clock_publisher_options {
  const char *topic;      /**< an absolute name; NULL: "/clock"; copied */
  bool sets_use_sim_time; /**< sets `/use_sim_time` to the boolean true, at once and at each master
                               that is started later; at the end it is as it was */
  uint8_t padding[7];     /**< not used */
} tb_ros1_clock_publisher_options_t;

/** `/clock`; and `/use_sim_time` is set, as nodes read it only when they start. */
#define TB_ROS1_CLOCK_PUBLISHER_OPTIONS_INIT                                                       \
  {                                                                                                \
    NULL, true,                                                                                    \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** A subscriber that does not keep up gets the newest tick: its queue holds one. Another node that
 * publishes the topic is reported to the log hook. `options` may be NULL for the defaults. Errors
 * as in tb_ros1_publisher_create. [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_clock_publisher_create(
    tb_ros1_context_t *context, const tb_ros1_clock_publisher_options_t *options,
    tb_ros1_clock_publisher_t **out, tb_error_t *error);

/** Accepts NULL. [any thread but callbacks] */
TB_API void tb_ros1_clock_publisher_destroy(tb_ros1_clock_publisher_t *publisher);

/** Sends ROS time `time_ns`. It never blocks.
 *
 *   TB_ERR_NOT_SET    0, which stops the time of nodes of ROS 1
 *   TB_ERR_RANGE      negative, or above 4294967295.999999999 s: the message cannot hold it
 *   TB_ERR_CLOSED     another node has taken the name of this one
 *   others            as in tb_ros1_publisher_publish
 *
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_ros1_clock_publisher_publish(tb_ros1_clock_publisher_t *publisher,
                                                   int64_t time_ns, tb_error_t *error);

/** The publisher as a sink of a clock server; it must outlive it. [any thread] */
TB_API tb_tick_sink_t tb_ros1_clock_publisher_sink(tb_ros1_clock_publisher_t *publisher);

/** How many subscribers are connected now. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_clock_publisher_matched(const tb_ros1_clock_publisher_t *publisher);

/** As tb_ros1_publisher_awaited. [any thread] [from callbacks] */
TB_API uint32_t tb_ros1_clock_publisher_awaited(const tb_ros1_clock_publisher_t *publisher);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros1_clock_publisher_create_sized(
    tb_ros1_context_t *context, const tb_ros1_clock_publisher_options_t *options,
    size_t options_size, tb_ros1_clock_publisher_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_clock_publisher_create(
    tb_ros1_context_t *context, const tb_ros1_clock_publisher_options_t *options,
    tb_ros1_clock_publisher_t **out, tb_error_t *error)
{
  return tb_ros1_clock_publisher_create_sized(context, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
