/* Statistics of a node on the graph: on /diagnostics and /statistics. */
#ifndef TIMEBASE_ROS2_STATISTICS_H
#define TIMEBASE_ROS2_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_sample.h>
#include <timebase/statistics.h>

/** Reports the statistics of a node. */
typedef struct tb_ros2_statistics_publisher tb_ros2_statistics_publisher_t;

/** What a publisher of statistics is made with. */
typedef struct tb_ros2_statistics_options {
  tb_duration_t period;         /**< steady; 0: 1 s */
  const char *hardware_id;      /**< of the diagnostics; NULL: the name of the host. Copied */
  const char *openmetrics_path; /**< each report also replaces this file; NULL: none. Copied */
  bool no_diagnostics;          /**< nothing on /diagnostics */
  bool no_statistics;           /**< nothing on /statistics */
  uint8_t padding[6];           /**< not used */
} tb_ros2_statistics_options_t;

/** Once a second, both topics, no file. */
#define TB_ROS2_STATISTICS_OPTIONS_INIT                                                            \
  {                                                                                                \
    {0}, NULL, NULL, false, false,                                                                 \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Takes snapshots of `statistics` from now on, and publishes what they have, on a thread of the
 * library ("tb-statistics"): in steady time, so also while the clock is paused, but not before it
 * has a time, as reports carry it. `options` may be NULL. Destroy it before both.
 *
 *   TB_ERR_INVALID    a period < 0, a path of more than 4000 bytes
 *   TB_ERR_DEADLOCK, TB_ERR_NO_MEMORY, TB_ERR_SYSTEM, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_statistics_publisher_create(
    tb_ros2_node_t *node, tb_statistics_t *statistics, const tb_ros2_statistics_options_t *options,
    tb_ros2_statistics_publisher_t **out, tb_error_t *error);

/** Ends after the report in progress. Accepts NULL. [any thread, not from callbacks] [blocks] */
TB_API void tb_ros2_statistics_publisher_destroy(tb_ros2_statistics_publisher_t *publisher);

/** tb_topic_statistics_begin with what a sample has, at the start of the callback that gets it.
 * `has_header`: the type begins with a std_msgs/msg/Header, whose stamp is read. NULL does nothing.
 * [owner thread] [from callbacks] */
TB_INLINE void tb_ros2_topic_statistics_begin(tb_topic_statistics_t *topic,
                                              const tb_ros2_sample_t *sample, bool has_header);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_statistics_publisher_create_sized(
    tb_ros2_node_t *node, tb_statistics_t *statistics, const tb_ros2_statistics_options_t *options,
    size_t options_size, tb_ros2_statistics_publisher_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_statistics_publisher_create(
    tb_ros2_node_t *node, tb_statistics_t *statistics, const tb_ros2_statistics_options_t *options,
    tb_ros2_statistics_publisher_t **out, tb_error_t *error)
{
  return tb_ros2_statistics_publisher_create_sized(node, statistics, options, sizeof *options, out,
                                                   error);
}
TB_API void tb_ros2_topic_statistics_begin_sized(tb_topic_statistics_t *topic,
                                                 const tb_ros2_sample_t *sample, size_t sample_size,
                                                 bool has_header);
TB_INLINE void tb_ros2_topic_statistics_begin(tb_topic_statistics_t *topic,
                                              const tb_ros2_sample_t *sample, bool has_header)
{
  tb_ros2_topic_statistics_begin_sized(topic, sample, sizeof *sample, has_header);
}

TB_END_DECLS

#endif
