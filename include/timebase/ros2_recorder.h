/* Recording topics of a ROS 2 graph: which ones, with which QoS, and the services of rosbag2's
 * recorder. */
#ifndef TIMEBASE_ROS2_RECORDER_H
#define TIMEBASE_ROS2_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/recorder.h>
#include <timebase/ros2_node.h>

/** A recorder on a graph. */
typedef struct tb_ros2_recorder tb_ros2_recorder_t;

/** What is recorded. A topic is if it has a publisher and is named, or is of a type that is named,
 * matches `regex`, or `all` is set; unless it is excluded or hidden. Service events, the topics
 * SERVICE/_service_event that services with introspection publish, are selected by their service
 * alone. Texts are read only during tb_ros2_recorder_create. */
typedef struct tb_ros2_recorder_options {
  /** How it is written. With TB_RECORDER_TIME_ROS and no clock, that of the node; `/clock` is
   * recorded too, whatever the other options select. */
  tb_recorder_options_t recorder;
  bool all;                  /**< all topics */
  const char *const *topics; /**< by name; a missing first '/' is put before it */
  size_t topic_count;        /**< how many */
  /** As tb_topic_expression_create has it; or NULL. One that cannot decide within its limits is an
   * error in the log, and such topics are recorded. One that matches no topic is warned of there,
   * after 3 s and at the end. */
  const char *regex;
  const char *exclude_regex;         /**< in the same way */
  const char *const *exclude_topics; /**< by name */
  size_t exclude_topic_count;        /**< how many */
  bool include_hidden;               /**< also those with a part that begins with '_' */
  const char *qos_overrides_path;    /**< YAML: QoS by topic, in rosbag2's form; or NULL */
  bool no_services;                  /**< no services, and no events/write_split */
  int32_t qos_depth_max; /**< of the overrides, see tb_qos_overrides_set_depth_max; 0: as there */
  uint64_t gap_max;      /**< a larger gap in a publisher's numbers is not believed; 0: 1000000 */
  const char *const *types;            /**< topics of these types: "sensor_msgs/msg/Imu" */
  size_t type_count;                   /**< how many */
  const char *const *exclude_types;    /**< none of these types */
  size_t exclude_type_count;           /**< how many */
  bool all_services;                   /**< the events of all services */
  const char *const *services;         /**< those of these, by name */
  size_t service_count;                /**< how many */
  const char *const *exclude_services; /**< by name */
  size_t exclude_service_count;        /**< how many */
  bool include_unpublished;   /**< also topics that have a subscription and no publisher so far */
  bool ignore_leaf_topics;    /**< only topics to which something else is subscribed too */
  bool no_discovery;          /**< only topics that are there within 1 s after the recorder */
  bool all_actions;           /**< feedback, status and events of services of all actions */
  uint8_t padding[4];         /**< not used */
  const char *const *actions; /**< those of these, by name */
  size_t action_count;        /**< how many */
  const char *const *exclude_actions; /**< by name */
  size_t exclude_action_count;        /**< how many */
} tb_ros2_recorder_options_t;

/** Nothing. */
#define TB_ROS2_RECORDER_OPTIONS_INIT                                                              \
  {                                                                                                \
    TB_RECORDER_OPTIONS_INIT, false, NULL, 0, NULL, NULL, NULL, 0, false, NULL, false, 0, 0, NULL, \
        0, NULL, 0, false, NULL, 0, NULL, 0, false, false, false, false, {0}, NULL, 0, NULL, 0     \
  }

TB_BEGIN_DECLS

/** Makes the bag at `path` and begins to record on `node`, which must outlive the recorder. Topics
 * that appear later are taken up as they do.
 *
 * A subscription is reliable if all publishers that are known when it is made are, and transient
 * local by the same rule. When a publisher comes later that does not match, another subscription
 * takes its place. Where the overrides give the QoS, such a publisher is reported to the log and
 * not recorded, as is always one of another type. Gaps in what publishers number are counted as
 * lost on the way (tb_recorder_topic_status_t); one that is larger than `gap_max` is not, as the
 * numbers may be forged, and is reported to the log once for each topic. What a publisher sent
 * before its first message that came is lost too if the publisher appeared 5 s after the start or
 * later, so that it is younger than the recording; of others it is `sent_before`. The last messages
 * of a topic, after which no number comes, cannot be counted.
 *
 * Definitions of message types are taken from the share folders of AMENT_PREFIX_PATH, if they are
 * there with all that they name; those of the time contract are built in. Otherwise the bag has the
 * type's name and hash alone.
 *
 * Services under the node's name: pause, resume, is_paused, split_bagfile and, in snapshot mode,
 * snapshot; the topic events/write_split reports each file that is closed. Requests of resume and
 * split_bagfile are read with and without the fields of rolling, and answered in the same form. A
 * resume_time or split_time that is to come on the node's clock is answered at once, and carried
 * out then unless a later request takes its place; with a mode of other times than the node's (1,
 * 2) return_code is RESUME_FAILED or SPLIT_FAILED, and nothing has changed. The type hashes
 * announced are those of jazzy.
 *
 *   TB_ERR_INVALID  no topic is asked for, a name or an expression is wrong
 *   TB_ERR_CORRUPT, TB_ERR_NOT_FOUND  the file of overrides
 *   and as tb_recorder_create, tb_ros2_graph_create, tb_ros2_service_create
 *
 * [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_recorder_create(
    tb_ros2_node_t *node, const char *path, const tb_ros2_recorder_options_t *options,
    tb_ros2_recorder_t **out, tb_error_t *error);

/** Accepts NULL. Stops it if that was not done. No other call may be in progress.
 * [any thread] [blocks: file system] Not from a callback of the node, nor from a jump callback or
 * the log hook. */
TB_API void tb_ros2_recorder_destroy(tb_ros2_recorder_t *recorder);

/** The part that pauses, splits and reports its status; valid as long as `recorder`. To stop it,
 * use tb_ros2_recorder_stop. [any thread] */
TB_API tb_recorder_t *tb_ros2_recorder_core(tb_ros2_recorder_t *recorder);

/** Ends the subscriptions, then as tb_recorder_stop. [one thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_recorder_stop(tb_ros2_recorder_t *recorder,
                                                        tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_recorder_create_sized(tb_ros2_node_t *node, const char *path,
                                                 const tb_ros2_recorder_options_t *options,
                                                 size_t options_size, tb_ros2_recorder_t **out,
                                                 tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_recorder_create(tb_ros2_node_t *node, const char *path,
                                              const tb_ros2_recorder_options_t *options,
                                              tb_ros2_recorder_t **out, tb_error_t *error)
{
  return tb_ros2_recorder_create_sized(node, path, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
