/* Recording topics of a ROS 1 graph. */
#ifndef TIMEBASE_ROS1_RECORDER_H
#define TIMEBASE_ROS1_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/recorder.h>
#include <timebase/ros1_context.h>

/** A recorder on a graph. */
typedef struct tb_ros1_recorder tb_ros1_recorder_t;

/** What is recorded. A topic is if it is named, matches `regex`, or `all` is set; unless it is
 * excluded. Texts are read only during tb_ros1_recorder_create. */
typedef struct tb_ros1_recorder_options {
  /** How it is written; the storage must be "rosbag1". With TB_RECORDER_TIME_ROS and no clock, one
   * that follows `/clock`, which is recorded too, whatever the other options select. */
  tb_recorder_options_t recorder;
  const char *const *topics;         /**< by name; a missing first '/' is put before it */
  size_t topic_count;                /**< how many */
  const char *regex;                 /**< as tb_topic_expression_create has it; or NULL. One that
                                          cannot decide within its limits is an error in the log, and
                                          such topics are recorded */
  const char *exclude_regex;         /**< in the same way */
  const char *const *exclude_topics; /**< by name */
  size_t exclude_topic_count;        /**< how many */
  uint32_t message_max;              /**< bytes, see tb_ros1_subscription_options_t; 0: 1 GB */
  bool all;                          /**< all topics */
  uint8_t padding[3];                /**< not used */
} tb_ros1_recorder_options_t;

/** Nothing. */
#define TB_ROS1_RECORDER_OPTIONS_INIT                                                              \
  {                                                                                                \
    TB_RECORDER_OPTIONS_INIT, NULL, 0, NULL, NULL, NULL, 0, 0, false,                              \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Makes the bag at `path` and begins to record. The context must outlive the recorder. Topics that
 * are named are subscribed to at once; others when the master is seen to know a publisher of them,
 * which it is asked for each second.
 *
 * Messages are kept as they come, with the type, MD5 sum and definition that their publisher
 * announces. Each publisher of a topic is a connection of the bag, and a topic of the core: with
 * its name (callerid), and whether it latches. A node that publishes the topic again with another
 * type is reported to the log and not recorded. What is lost before it arrives cannot be counted:
 * connections of ROS 1 number nothing.
 *
 *   TB_ERR_INVALID  no topic is asked for, a name or an expression is wrong, another storage
 *   and as tb_recorder_create, tb_ros1_clock_source_create
 *
 * [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_recorder_create(
    tb_ros1_context_t *context, const char *path, const tb_ros1_recorder_options_t *options,
    tb_ros1_recorder_t **out, tb_error_t *error);

/** Accepts NULL. Stops it if that was not done. No other call may be in progress.
 * [any thread] [blocks: file system] Not from a callback of the context, nor from a jump callback
 * or the log hook. */
TB_API void tb_ros1_recorder_destroy(tb_ros1_recorder_t *recorder);

/** The part that pauses, splits and reports its status; valid as long as `recorder`. To stop it,
 * use tb_ros1_recorder_stop. [any thread] */
TB_API tb_recorder_t *tb_ros1_recorder_core(tb_ros1_recorder_t *recorder);

/** Ends the subscriptions, then as tb_recorder_stop. [one thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_recorder_stop(tb_ros1_recorder_t *recorder,
                                                        tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros1_recorder_create_sized(tb_ros1_context_t *context, const char *path,
                                                 const tb_ros1_recorder_options_t *options,
                                                 size_t options_size, tb_ros1_recorder_t **out,
                                                 tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_recorder_create(tb_ros1_context_t *context, const char *path,
                                              const tb_ros1_recorder_options_t *options,
                                              tb_ros1_recorder_t **out, tb_error_t *error)
{
  return tb_ros1_recorder_create_sized(context, path, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
