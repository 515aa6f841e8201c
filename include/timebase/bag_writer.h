/* Recordings of rosbag2, written. */
#ifndef TIMEBASE_BAG_WRITER_H
#define TIMEBASE_BAG_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** A recording that is being written. Not thread-safe: one thread at a time may use it, any thread.
 */
typedef struct tb_bag_writer tb_bag_writer_t;

/** What rosbag2's compression is applied to. */
typedef enum tb_bag_compression_mode {
  TB_BAG_COMPRESS_NONE = 0, /**< nothing */
  TB_BAG_COMPRESS_MESSAGES, /**< each message by itself */
  TB_BAG_COMPRESS_FILES,    /**< each file, once it is closed: its writer waits for that */
} tb_bag_compression_mode_t;

/** How the chunks inside of files are compressed: MCAP has no bz2, bags of ROS 1 have no zstd, and
 * sqlite3 has no chunks. */
typedef enum tb_bag_chunk_compression {
  TB_BAG_CHUNKS_PLAIN = 0, /**< not at all */
  TB_BAG_CHUNKS_ZSTD,      /**< with zstd */
  TB_BAG_CHUNKS_LZ4,       /**< with lz4 */
  TB_BAG_CHUNKS_BZ2,       /**< with bz2 */
} tb_bag_chunk_compression_t;

/** Where written data must have arrived. */
typedef enum tb_bag_flush {
  TB_BAG_FLUSH_KERNEL = 0, /**< readable if the process is killed now */
  TB_BAG_FLUSH_DISK,       /**< on the disk: readable after a power failure */
} tb_bag_flush_t;

/** A file was closed, and what follows it opened: paths, valid during the call. `opened` is empty
 * at the last file, as in rosbag2_interfaces/WriteSplitEvent. Called on the thread that writes,
 * splits or closes; it may not use the writer. */
typedef void (*tb_bag_split_fn)(const char *closed, const char *opened, void *user);

/** How a recording is written. */
typedef struct tb_bag_writer_options {
  const char *storage_id;                       /**< "sqlite3", "mcap", "rosbag1" */
  tb_bag_compression_mode_t compression_mode;   /**< rosbag2's compression */
  const char *compression_format;               /**< "zstd", or NULL for it */
  int compression_level;                        /**< 1 (fast) to 19, 0: the default */
  tb_bag_chunk_compression_t chunk_compression; /**< of MCAP and ROS 1; the level is as above */
  size_t chunk_size;          /**< bytes of a chunk or transaction; 0: the format's default */
  uint64_t max_size;          /**< bytes after which the next file is begun; 0: no limit */
  tb_duration_t max_duration; /**< the longest log time of a file; 0: no limit */
  const char *ros_distro;     /**< NULL: unknown */
  tb_bag_split_fn on_split;   /**< may be NULL */
  void *user;                 /**< for on_split */
  const tb_bag_note_t *notes; /**< custom_data of metadata.yaml from its first writing on, UTF-8;
                                 copied. See tb_bag_writer_set_custom_data */
  size_t note_count;          /**< how many `notes` there are */
  const char *profile;        /**< of MCAP: NULL is "ros2"; "ros1" if all topics are serialized as
                                 that, "" if some are */
  /** A ring: when a file begins, the oldest ones are removed until there are no more than this, the
   * one that has begun included; 0: no limit. */
  size_t max_files;
  uint64_t max_total_size; /**< the same: until all files, this one at `max_size`, fit; 0: none */
  tb_duration_t max_total_duration; /**< the same, by log times and `max_duration`; 0: none */
  uint64_t reserved[2];             /**< 0 */
} tb_bag_writer_options_t;

/** One sqlite3 file without compression. */
#define TB_BAG_WRITER_OPTIONS_INIT                                                                 \
  {                                                                                                \
    "sqlite3", TB_BAG_COMPRESS_NONE, NULL, 0, TB_BAG_CHUNKS_PLAIN, 0, 0, {0}, NULL, NULL, NULL,    \
        NULL, 0, NULL, 0, 0, {0},                                                                  \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** Texts are UTF-8 and read during the call only; NULL is taken as empty unless said otherwise. */
typedef struct tb_bag_writer_topic {
  const char *name;                 /**< "/imu"; not NULL, not empty */
  const char *type;                 /**< "sensor_msgs/msg/Imu"; not NULL, not empty */
  const char *serialization_format; /**< NULL: "cdr" */
  const char *offers;     /**< QoS of the publishers: YAML, a list as tb_bag_topic_t has it */
  const char *type_hash;  /**< "RIHS01_..." */
  const char *definition; /**< the text of the message definition */
  const char *definition_encoding; /**< "ros2msg" if there is one */
  const char *publisher; /**< the node that sends it: its callerid in bags of ROS 1 and in MCAP,
                            where a topic may be added for each of its publishers; sqlite3 has no
                            place for it */
} tb_bag_writer_topic_t;

/** What has been written so far, without what was lost by a failure: of a file that has failed,
 * what is known to be there. */
typedef struct tb_bag_writer_info {
  uint64_t message_count; /**< in all files */
  int64_t start_ns;       /**< the earliest log time, 0 without messages */
  int64_t end_ns;         /**< the latest log time, 0 without messages */
  size_t topic_count;     /**< how many topics were added */
  size_t file_count;      /**< how many files were begun */
  size_t run_count;       /**< how many runs were begun, see tb_bag_writer_begin_run */
  uint64_t file_size;     /**< bytes of the file being written */
  const char *path;       /**< of the bag's folder */
} tb_bag_writer_info_t;

/** What a recording has besides messages. */
typedef struct tb_bag_extra_records {
  uint64_t attachments; /**< of MCAP */
  uint64_t records;     /**< metadata records of MCAP, without rosbag2's own */
} tb_bag_extra_records_t;

TB_BEGIN_DECLS

/** Makes the folder `path` (and those above it) with its first file, named as rosbag2 does:
 * path/NAME_0.mcap, where NAME is the last part of `path`; and metadata.yaml, version 9, which is
 * replaced at once at each split, at tb_bag_writer_close, and never seen half written. `options`
 * may be NULL.
 *
 * "rosbag1" is format 2.0 of ROS 1: the file `path`, with ".bag" added if it does not end in that,
 * and NAME_0.bag, NAME_1.bag and so on where the options limit its size or duration. It has topics
 * of the serialization format "ros1" only, times of 1970 to 2106, and no place for notes and
 * publish times. A message at log time 0, which rosbag of C++ leaves out, is written at 1 ns.
 *
 * Messages are gathered in a transaction or chunk. What is complete, and all that was there at
 * tb_bag_writer_flush, stays readable however the process ends.
 *
 * [any thread] [blocks: file system] Errors:
 *   TB_ERR_INVALID      options out of range, or `path` exists: nothing is ever overwritten
 *   TB_ERR_UNSUPPORTED  an unknown storage or compression format
 *   TB_ERR_SYSTEM, TB_ERR_NO_MEMORY */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_writer_create(const char *path,
                                                          const tb_bag_writer_options_t *options,
                                                          tb_bag_writer_t **out, tb_error_t *error);

/** Whether tb_bag_writer_create takes the options, without making anything: TB_ERR_INVALID and
 * TB_ERR_UNSUPPORTED as there, with the reason. `options` may be NULL. [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_bag_writer_check_options(const tb_bag_writer_options_t *options, tb_error_t *error);

/** Adds a topic, to all files that follow too. *out_topic counts from 0. TB_ERR_INVALID for a name
 * that is there already (but for sqlite3: of that publisher), or texts that are not UTF-8;
 * otherwise as tb_bag_writer_write. [owner thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_writer_add_topic(tb_bag_writer_t *writer,
                                                             const tb_bag_writer_topic_t *topic,
                                                             size_t *out_topic, tb_error_t *error);

/** Writes a message; begins the next file before it if the limits of the options ask for that.
 * Times are ns since 1970, log times not negative; `publish_time_ns` is not kept by sqlite3.
 *
 * A failure of the file system ends the file: what had been committed to it stays, the counts are
 * of that, and further writes fail with the same text until tb_bag_writer_split begins another.
 *
 * [owner thread] [blocks: file system] Errors:
 *   TB_ERR_INVALID    no such topic, a negative time, or `data` is NULL
 *   TB_ERR_LIMIT      more than 1,000,000,000 bytes
 *   TB_ERR_NOT_FOUND  the folder or the file has been taken away
 *   TB_ERR_TRUNCATED  another program has truncated the file
 *   TB_ERR_SYSTEM     the disk is full, or failed
 *   TB_ERR_NO_MEMORY */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_writer_write(tb_bag_writer_t *writer, size_t topic,
                                                      int64_t log_time_ns, int64_t publish_time_ns,
                                                      const void *data, size_t size,
                                                      tb_error_t *error);

/** Returns when everything written has arrived there. Errors as tb_bag_writer_write.
 * [owner thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_writer_flush(tb_bag_writer_t *writer, tb_bag_flush_t how,
                                                      tb_error_t *error);

/** Copies what the files of `reader` (but of runs that it does not read) hold besides messages to
 * the file being written: of MCAP, attachments with log times from `start_ns` on and before
 * `end_ns` (INT64_MAX: all later ones), and metadata records. What the writer's format has no place
 * for is counted in *out_left, which may be NULL. Files that have any are read from end to end.
 * Before the first message is read. [owner thread] [blocks: file system] Errors of either side;
 * what was copied before the failure stays. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_writer_copy_extra_records(
    tb_bag_writer_t *writer, tb_bag_reader_t *reader, int64_t start_ns, int64_t end_ns,
    tb_bag_extra_records_t *out_left, tb_error_t *error);

/** Closes the file and begins the next one, even if it is empty. After a failure of writing, too:
 * TB_OK means that there is a file again. Errors as tb_bag_writer_write.
 * [owner thread] [blocks: file system] */
TB_API tb_status_t tb_bag_writer_split(tb_bag_writer_t *writer, tb_error_t *error);

/** The log times that follow start again, before those that were written: ends the file, unless it
 * is empty, and notes in metadata.yaml that a run of the recording (tb_bag_run_t) begins with the
 * next one. A bag of ROS 1 goes on in the same file, where readers see it. Does nothing before the
 * first message. Errors as tb_bag_writer_split. [owner thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_writer_begin_run(tb_bag_writer_t *writer,
                                                          tb_error_t *error);

/** Puts `value` under `key` into the custom_data of metadata.yaml, at its next writing; replaces an
 * earlier one. TB_ERR_INVALID if a text is NULL or not UTF-8. [owner thread] */
TB_API tb_status_t tb_bag_writer_set_custom_data(tb_bag_writer_t *writer, const char *key,
                                                 const char *value, tb_error_t *error);

/** The value of `key`, valid until it is replaced; NULL: there is none. [owner thread] */
TB_API const char *tb_bag_writer_get_custom_data(const tb_bag_writer_t *writer, const char *key);

/** [owner thread] */
TB_INLINE void tb_bag_writer_get_info(const tb_bag_writer_t *writer, tb_bag_writer_info_t *out);

/** Messages of one topic in all files, also in those that a ring has removed, without what was lost
 * by a failure; 0 if there is no such topic. [owner thread] */
TB_API uint64_t tb_bag_writer_topic_count(const tb_bag_writer_t *writer, size_t topic);

/** Closes the file and writes metadata.yaml. The writer is freed in any case. The first failure is
 * returned, also one of an earlier write that was not followed by a split. NULL is accepted. [owner
 * thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_writer_close(tb_bag_writer_t *writer, tb_error_t *error);

/** Makes metadata.yaml in the folder `path` again, from the files in it (in natural order of their
 * names): their topics, times and numbers of messages. The files are not changed. Notes are kept,
 * of a metadata.yaml that is there and can be read, otherwise of the copy that files have inside;
 * it is replaced at once, and stays if anything fails. `storage_id` may be NULL; "mcap" or
 * "sqlite3" refuses files of another format. All of the files is read, as tb_bag_check does.
 *
 * [any thread] [blocks: file system] Errors as tb_bag_reader_open and:
 *   TB_ERR_CORRUPT      a file is damaged, and not only not closed: what is wrong is in the text
 *   TB_ERR_INVALID      files of another storage
 *   TB_ERR_UNSUPPORTED  files of several formats, or of ROS 1, whose bags have no metadata.yaml */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_reindex(const char *path, const char *storage_id,
                                                 tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_bag_writer_create_sized(const char *path,
                                              const tb_bag_writer_options_t *options,
                                              size_t options_size, tb_bag_writer_t **out,
                                              tb_error_t *error);
TB_INLINE tb_status_t tb_bag_writer_create(const char *path, const tb_bag_writer_options_t *options,
                                           tb_bag_writer_t **out, tb_error_t *error)
{
  return tb_bag_writer_create_sized(path, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_bag_writer_check_options_sized(const tb_bag_writer_options_t *options,
                                                     size_t options_size, tb_error_t *error);
TB_INLINE tb_status_t tb_bag_writer_check_options(const tb_bag_writer_options_t *options,
                                                  tb_error_t *error)
{
  return tb_bag_writer_check_options_sized(options, sizeof *options, error);
}
TB_API tb_status_t tb_bag_writer_add_topic_sized(tb_bag_writer_t *writer,
                                                 const tb_bag_writer_topic_t *topic,
                                                 size_t topic_size, size_t *out_topic,
                                                 tb_error_t *error);
TB_INLINE tb_status_t tb_bag_writer_add_topic(tb_bag_writer_t *writer,
                                              const tb_bag_writer_topic_t *topic, size_t *out_topic,
                                              tb_error_t *error)
{
  return tb_bag_writer_add_topic_sized(writer, topic, sizeof *topic, out_topic, error);
}
TB_API tb_status_t tb_bag_writer_copy_extra_records_sized(tb_bag_writer_t *writer,
                                                          tb_bag_reader_t *reader, int64_t start_ns,
                                                          int64_t end_ns,
                                                          tb_bag_extra_records_t *out_left,
                                                          size_t out_left_size, tb_error_t *error);
TB_INLINE tb_status_t tb_bag_writer_copy_extra_records(tb_bag_writer_t *writer,
                                                       tb_bag_reader_t *reader, int64_t start_ns,
                                                       int64_t end_ns,
                                                       tb_bag_extra_records_t *out_left,
                                                       tb_error_t *error)
{
  return tb_bag_writer_copy_extra_records_sized(writer, reader, start_ns, end_ns, out_left,
                                                sizeof *out_left, error);
}
TB_API void tb_bag_writer_get_info_sized(const tb_bag_writer_t *writer, tb_bag_writer_info_t *out,
                                         size_t out_size);
TB_INLINE void tb_bag_writer_get_info(const tb_bag_writer_t *writer, tb_bag_writer_info_t *out)
{
  tb_bag_writer_get_info_sized(writer, out, sizeof *out);
}

TB_END_DECLS

#endif
