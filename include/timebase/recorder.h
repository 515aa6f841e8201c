/* Recording messages to a bag while they come: a bounded queue, a thread that writes, and counts of
 * what was lost. What takes the messages from a graph is in timebase/ros2_recorder.h. */
#ifndef TIMEBASE_RECORDER_H
#define TIMEBASE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_writer.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** A recording that is being made. */
typedef struct tb_recorder tb_recorder_t;

/** The storage of a recording unless the options set another. */
#define TB_RECORDER_STORAGE "mcap"

/** Bytes of messages that may wait to be written, unless the options set another number; as
 * rosbag2. */
#define TB_RECORDER_CACHE_SIZE (UINT64_C(100) << 20)

/** The topic of the bag on which jumps of the clock and changes of its source are recorded. */
#define TB_RECORDER_JUMPS_TOPIC "/timebase/jumps"

/** The longest time from receipt until a message is readable in the file, while the disk keeps up.
 */
#define TB_RECORDER_FLUSH_LIMIT ((tb_duration_t){TB_NS_PER_S})

/** What the log time of a message is. */
typedef enum tb_recorder_time {
  TB_RECORDER_TIME_RECEIVE = 0, /**< system time at which the middleware had it */
  TB_RECORDER_TIME_SOURCE,      /**< system time at which its publisher sent it */
  TB_RECORDER_TIME_ROS,         /**< what a clock reported when it came */
} tb_recorder_time_t;

/** How a recording is made. */
typedef struct tb_recorder_options {
  tb_bag_writer_options_t bag; /**< storage, compression, limits of a file; on_split is called on
                                  the recorder's thread, at the last file by tb_recorder_stop */
  tb_recorder_time_t log_time; /**< what the log times are */
  tb_clock_t *clock;   /**< of TB_RECORDER_TIME_ROS; outlives the recorder; with others NULL */
  uint64_t cache_size; /**< bytes that may wait to be written, 0: TB_RECORDER_CACHE_SIZE */
  tb_duration_t fsync_interval; /**< the most that a power failure loses; 0: left to the system */
  bool start_paused;            /**< as if tb_recorder_pause came first */
  bool snapshot_mode; /**< keep the newest messages in memory, write at tb_recorder_snapshot */
  /** In snapshot mode: those whose log time is within this of the newest one, as far as the cache
   * has room; what is from before a jump back is kept for so long in steady time. 0: as many as
   * there is room for; negative, and without snapshot mode: TB_ERR_INVALID. */
  tb_duration_t snapshot_duration;
  /** Nothing of how the recording was made. Otherwise it is in the custom data
   * (docs/provenance.md): the host, its clock's discipline, the recorder's release and events,
   * losses by topic. */
  bool no_provenance;
  /** Each file but the first begins with the state of latched topics, as a snapshot does: what a
   * late subscription would get, at the log time of the file's first message. A recording read from
   * all its files then has these messages more than once, and so do the counts. */
  bool repeat_latched;
  uint8_t padding[6]; /**< not used */
  /** Bytes that stay free on the disk: with less, the oldest files of a ring (the bag's limits of
   * files) are removed, and where there is none recording ends: what comes is lost, and counted.
   * 0: no limit. */
  uint64_t min_space;
  uint64_t reserved[5]; /**< 0 */
} tb_recorder_options_t;

/** One file in TB_RECORDER_STORAGE, log times of receipt. */
#define TB_RECORDER_OPTIONS_INIT                                                                   \
  {                                                                                                \
    {TB_RECORDER_STORAGE,                                                                          \
     TB_BAG_COMPRESS_NONE,                                                                         \
     NULL,                                                                                         \
     0,                                                                                            \
     TB_BAG_CHUNKS_PLAIN,                                                                          \
     0,                                                                                            \
     0,                                                                                            \
     {0},                                                                                          \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     {0},                                                                                          \
     {0}},                                                                                         \
        TB_RECORDER_TIME_RECEIVE, NULL, 0, {0}, false, false, {0}, false, false, {0}, 0,           \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** A message as it came. */
typedef struct tb_recorder_message {
  const void *data;   /**< serialized; copied */
  size_t size;        /**< of it, in bytes */
  int64_t receive_ns; /**< system time at receipt */
  int64_t source_ns;  /**< system time at sending; 0: unknown, then that of receipt is taken */
  int64_t clock_ns;   /**< of a message that is itself the clock's time: that time; otherwise 0. It
                         is the log time if the clock has not started yet, or will be there next */
  bool latched; /**< it stays valid (transient-local): while paused, and where log times are ROS
                   time and the clock has not started, it waits and gets the time at which recording
                   resumes, or of the first tick; of each topic the newest 1000 */
  uint8_t padding[7]; /**< not used */
} tb_recorder_message_t;

/** What has become of the messages of one topic. Each that was taken is counted in one of the
 * fields below but the first loss, which is of messages that never came here. */
typedef struct tb_recorder_topic_status {
  const char *name; /**< valid as long as the recorder */
  const char *type; /**< the same */
  uint64_t written; /**< in the files, or with the next flush; once writing has failed, and after
                       tb_recorder_stop, in the files: what is not known to be there is lost */
  uint64_t waiting; /**< in the queue, or latched, for the first tick or resume */
  uint64_t lost_on_the_way; /**< as reported by tb_recorder_note_lost */
  uint64_t lost_in_queue;   /**< because the queue was full */
  uint64_t lost_in_file;    /**< because the file system failed, or another program truncated or
                               removed the file */
  uint64_t skipped_paused;  /**< came while paused, and were not recorded later */
  uint64_t skipped_early;   /**< came before the clock's first tick */
  uint64_t pushed_out;      /**< of a snapshot's memory, by newer ones */
  uint64_t bytes;           /**< of all messages that were taken, whatever became of them later */
  uint64_t sent_before; /**< as reported by tb_recorder_note_before: at most so many were sent and
                           not received before the first ones that came. No losses: the recording
                           may have begun later */
} tb_recorder_topic_status_t;

/** The progress of a recording. */
typedef struct tb_recorder_status {
  uint64_t written;        /**< messages of all topics */
  uint64_t lost;           /**< messages of all topics, in any of the three ways */
  uint64_t skipped_paused; /**< messages of all topics */
  uint64_t skipped_early;  /**< messages of all topics */
  uint64_t waiting_bytes;  /**< in the queue, or latched, for the first tick or resume */
  uint64_t file_size;      /**< bytes of the file being written */
  size_t file_count;       /**< how many were begun */
  size_t topic_count;      /**< how many there are */
  uint64_t jumps;          /**< back, of the clock: each began a file */
  bool paused;             /**< whether messages are skipped now */
  bool waits_for_clock;    /**< the clock has not started yet */
  bool failing;       /**< nothing can be written now; another file is tried every now and then */
  tb_error_t failure; /**< the first failure of the file system; TB_OK: none */
  int64_t held_ns;    /**< in snapshot mode: steady time since the oldest message in memory came; 0:
                         there is none */
  bool out_of_space;  /**< recording has ended: less than min_space is free */
  uint8_t padding[7]; /**< not used */
} tb_recorder_status_t;

/** Called when a request has been carried out: TB_OK, or why not. Runs on the recorder's thread,
 * which writes nothing meanwhile. */
typedef void (*tb_recorder_done_fn)(tb_status_t status, void *user);

TB_BEGIN_DECLS

/** Makes the bag at `path` (tb_bag_writer_create) and starts the thread that writes to it.
 * `options` may be NULL.
 *
 * With TB_RECORDER_TIME_ROS messages are skipped until the clock has started, except for latched
 * ones, which wait for that; those are skipped if it does not come. Each jump back of the clock
 * begins a file, and a run (tb_bag_writer_begin_run). Jumps, the first tick and changes of source
 * are recorded as messages of TB_RECORDER_JUMPS_TOPIC (std_msgs/msg/String: "kind=backward
 * reason=loop before_ns=... after_ns=... run=2"), at the time that they led to, and the first 1000
 * are noted in the bag's custom data too, as "timebase_jump_N". A step forward is a jump if it is
 * of more than a second and too long to be the passing of time (tb_timeline_stats_t).
 *
 *   TB_ERR_INVALID  options: TB_RECORDER_TIME_ROS without clock, a negative interval
 *   and as tb_bag_writer_create, TB_ERR_SYSTEM (no thread), TB_ERR_FORKED
 *
 * [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_recorder_create(const char *path,
                                                        const tb_recorder_options_t *options,
                                                        tb_recorder_t **out, tb_error_t *error);

/** Stops it if that was not done, and frees it. Accepts NULL. No other call may be in progress.
 * [any thread] [blocks: file system] Not from a jump callback or the log hook. */
TB_API void tb_recorder_destroy(tb_recorder_t *recorder);

/** Adds a topic; *out_topic counts from 0. TB_ERR_INVALID: a topic of this name is there
 * (and of this publisher, where it has one). TB_ERR_NO_MEMORY, TB_ERR_FORKED. [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_recorder_add_topic(tb_recorder_t *recorder,
                                                           const tb_bag_writer_topic_t *topic,
                                                           size_t *out_topic, tb_error_t *error);

/** Takes a message in. Never waits for the file system: one for which there is no room is counted
 * as lost. For each thread the order is kept.
 *
 *   TB_ERR_LIMIT     no room: lost, and counted
 *   TB_ERR_NOT_SET   skipped, as it is not latched: paused, or the clock has not started
 *   TB_ERR_CLOSED    stopped
 *   TB_ERR_INVALID   no such topic
 *   TB_ERR_NO_MEMORY lost, and counted
 *   TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_INLINE tb_status_t tb_recorder_take(tb_recorder_t *recorder, size_t topic,
                                       const tb_recorder_message_t *message);

/** Counts messages of a topic that are known to have been lost before they arrived here.
 * [any thread] [from callbacks] */
TB_API void tb_recorder_note_lost(tb_recorder_t *recorder, size_t topic, uint64_t count);
/** Counts messages of a topic that may have been sent before the first one that came of their
 * publisher, where it is not known when that began. [any thread] [from callbacks] */
TB_API void tb_recorder_note_before(tb_recorder_t *recorder, size_t topic, uint64_t count);

/** Messages that come between the two are skipped, except for latched ones. [any thread] [from
 * callbacks] */
TB_API void tb_recorder_pause(tb_recorder_t *recorder);
TB_API void tb_recorder_resume(tb_recorder_t *recorder);
TB_API bool tb_recorder_is_paused(const tb_recorder_t *recorder);

/** Makes later messages go to another file; in snapshot mode, also those in memory. `done` (may be
 * NULL) is called once that file is there, unless this fails. [any thread] [from callbacks]
 * TB_ERR_CLOSED, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API tb_status_t tb_recorder_split(tb_recorder_t *recorder, tb_recorder_done_fn done, void *user);

/** In snapshot mode: writes the messages in memory; `done` (may be NULL) is called once it is
 * readable in the file, unless this fails. [any thread] [from callbacks] TB_ERR_INVALID: not in
 * snapshot mode. TB_ERR_CLOSED, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API tb_status_t tb_recorder_snapshot(tb_recorder_t *recorder, tb_recorder_done_fn done,
                                        void *user);

/** Stops taking messages, writes the queued ones and closes the bag. A file that another program
 * has truncated, replaced or removed is noticed here at the latest. The first failure of the whole
 * recording is returned; a second call returns it again. [one thread] [blocks: file system]
 * TB_ERR_DEADLOCK from a jump callback or the log hook, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_recorder_stop(tb_recorder_t *recorder, tb_error_t *error);

/** Also after tb_recorder_stop. [any thread] [from callbacks] */
TB_INLINE void tb_recorder_status(tb_recorder_t *recorder, tb_recorder_status_t *out);

/** TB_ERR_NOT_FOUND: no such topic. [any thread] [from callbacks] */
TB_INLINE tb_status_t tb_recorder_topic_status(tb_recorder_t *recorder, size_t topic,
                                               tb_recorder_topic_status_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_recorder_create_sized(const char *path, const tb_recorder_options_t *options,
                                            size_t options_size, tb_recorder_t **out,
                                            tb_error_t *error);
TB_INLINE tb_status_t tb_recorder_create(const char *path, const tb_recorder_options_t *options,
                                         tb_recorder_t **out, tb_error_t *error)
{
  return tb_recorder_create_sized(path, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_recorder_add_topic_sized(tb_recorder_t *recorder,
                                               const tb_bag_writer_topic_t *topic,
                                               size_t topic_size, size_t *out_topic,
                                               tb_error_t *error);
TB_INLINE tb_status_t tb_recorder_add_topic(tb_recorder_t *recorder,
                                            const tb_bag_writer_topic_t *topic, size_t *out_topic,
                                            tb_error_t *error)
{
  return tb_recorder_add_topic_sized(recorder, topic, sizeof *topic, out_topic, error);
}
TB_API tb_status_t tb_recorder_take_sized(tb_recorder_t *recorder, size_t topic,
                                          const tb_recorder_message_t *message,
                                          size_t message_size);
TB_INLINE tb_status_t tb_recorder_take(tb_recorder_t *recorder, size_t topic,
                                       const tb_recorder_message_t *message)
{
  return tb_recorder_take_sized(recorder, topic, message, sizeof *message);
}
TB_API void tb_recorder_status_sized(tb_recorder_t *recorder, tb_recorder_status_t *out,
                                     size_t out_size);
TB_INLINE void tb_recorder_status(tb_recorder_t *recorder, tb_recorder_status_t *out)
{
  tb_recorder_status_sized(recorder, out, sizeof *out);
}
TB_API tb_status_t tb_recorder_topic_status_sized(tb_recorder_t *recorder, size_t topic,
                                                  tb_recorder_topic_status_t *out, size_t out_size);
TB_INLINE tb_status_t tb_recorder_topic_status(tb_recorder_t *recorder, size_t topic,
                                               tb_recorder_topic_status_t *out)
{
  return tb_recorder_topic_status_sized(recorder, topic, out, sizeof *out);
}

TB_END_DECLS

#endif
