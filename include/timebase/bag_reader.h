/* Recordings of rosbag2, and bags of ROS 1, read in the order of time. */
#ifndef TIMEBASE_BAG_READER_H
#define TIMEBASE_BAG_READER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>

/** An open recording. */
typedef struct tb_bag_reader tb_bag_reader_t;

/** Where a topic's QoS comes from. */
typedef enum tb_bag_qos_origin {
  TB_BAG_QOS_DEFAULT = 1, /**< no offer was recorded: reliable, volatile, keep last 10 */
  TB_BAG_QOS_RECORDED,    /**< the recorded offer; its history is replaced by keep last 10 */
  TB_BAG_QOS_MIXED,       /**< the recorded offers disagree: the default */
  TB_BAG_QOS_UNREADABLE,  /**< the recorded text cannot be parsed: the default */
} tb_bag_qos_origin_t;

/** Strings are UTF-8 as recorded, never NULL, and live as long as the reader. Bytes that are no
 * text, control characters among them, are read as "\x1b": a backslash, x and two digits. */
typedef struct tb_bag_topic {
  const char *name; /**< as recorded: may lack the leading '/'; "/unnamed" if it was empty; with
                       "_2" added and so on where the name was there with another type */
  const char *type; /**< "std_msgs/msg/String", in ROS 1 "std_msgs/String"; "unknown" if the
                       recording does not say */
  const char *serialization_format; /**< "cdr" in ROS 2, "ros1" in ROS 1 */
  const char *type_hash; /**< "RIHS01_...", in ROS 1 the MD5 sum; empty if the recording has none
                            (before iron) */
  tb_qos_t qos; /**< what a player should offer: rosbag2's adapt_offer_to_recorded_offers */
  tb_bag_qos_origin_t qos_origin; /**< where `qos` comes from */
  const char *offers; /**< what the publishers offered: YAML, a list of profiles; may be empty */
  const char *definition;          /**< text of the message definition; empty if there is none */
  const char *definition_encoding; /**< "ros2msg", "ros2idl", "ros1msg"; empty if there is none */
  uint64_t message_count;          /**< see tb_bag_counts_t */
  uint64_t latched_depth; /**< its messages that a late subscription gets, 1 to 1000, of all
                             publishers; 0: `qos` is not transient local */
  uint64_t reserved[3];   /**< 0 */
} tb_bag_topic_t;

/** How the messages of a bag are compressed. */
typedef enum tb_bag_compression {
  TB_BAG_COMPRESSION_NONE = 0, /**< not at all */
  TB_BAG_COMPRESSION_MESSAGES, /**< each by itself, by rosbag2 (zstd) */
  TB_BAG_COMPRESSION_FILES,    /**< whole files, by rosbag2 (zstd) */
  TB_BAG_COMPRESSION_CHUNKS,   /**< inside of the files, by MCAP and in ROS 1 */
} tb_bag_compression_t;

/** Something that the recorder noted: an entry of custom_data in metadata.yaml. */
typedef struct tb_bag_note {
  const char *key;   /**< never NULL; text as in topics */
  const char *value; /**< never NULL; text as in topics */
} tb_bag_note_t;

/** A stretch of a recording in which time was not set back. A recorder in ROS time begins one, with
 * a file of its own, at each jump back; that of ROS 1 goes on in the same file, where a connection
 * whose times go back by more than 0.5 s shows it. Runs usually overlap in time. */
typedef struct tb_bag_run {
  size_t first_file;    /**< index into tb_bag_info_t.files */
  size_t file_count;    /**< how many files it has; they follow each other */
  int64_t start_ns;     /**< log time of its first message, 0 without messages */
  int64_t end_ns;       /**< log time of its last message, 0 without messages */
  int64_t first_row;    /**< tb_bag_message_t.row_id of its first message, where several runs are in
                           one    file; else 0 */
  uint64_t reserved[1]; /**< 0 */
} tb_bag_run_t;

/** What numbers of messages rest on, from the weakest to the best for which messages were not read.
 */
typedef enum tb_bag_counted {
  TB_BAG_COUNTED_MESSAGES = 0, /**< the messages themselves: no summary, or one that contradicts
                                    them; the contradiction is one of the oddities */
  TB_BAG_COUNTED_ROWS,         /**< rows of sqlite3, without their payloads */
  TB_BAG_COUNTED_METADATA,     /**< metadata.yaml, which fits the ids of the rows of sqlite3 */
  TB_BAG_COUNTED_SUMMARY, /**< summaries of MCAP that cover their files, and fit metadata.yaml */
} tb_bag_counted_t;

/** The whole bag, or the run that was asked for, whatever the filter. Times and the message count
 * come from the messages, not from metadata.yaml, which may be wrong: a split recording that was
 * cut off describes its last file. */
typedef struct tb_bag_info {
  const char *path;       /**< as given to tb_bag_reader_open; of a metadata.yaml its folder, of
                             several bags the first */
  const char *storage_id; /**< "sqlite3", "mcap", "rosbag1"; "mixed" for several bags that differ */
  const char *ros_distro; /**< empty if the recording does not say (before jazzy) */
  int metadata_version;   /**< of metadata.yaml, 1 to 9; 0 without that file */
  uint64_t message_count; /**< rows, bad ones included */
  int64_t start_ns;       /**< log time of the first message, 0 in an empty bag */
  int64_t end_ns;         /**< log time of the last message, 0 in an empty bag */
  const tb_bag_topic_t *topics;     /**< in the order in which the files list them */
  size_t topic_count;               /**< how many `topics` there are */
  const char *const *files;         /**< paths, in the bag's own order */
  size_t file_count;                /**< how many `files` there are */
  tb_bag_compression_t compression; /**< of the first bag */
  const char *compression_format;   /**< "zstd", "lz4", "bz2"; empty without compression */
  const tb_bag_note_t *notes;       /**< custom_data of metadata.yaml; of several bags one after
                                       the other, so that a key may come again */
  size_t note_count;                /**< how many `notes` there are */
  const tb_bag_run_t *runs; /**< all of them, in the order of recording, as metadata.yaml lists
                               them; for several bags one */
  size_t run_count;         /**< how many `runs` there are, 1 or more */
  const char *damage; /**< the first thing that opening found wrong; NULL: nothing. Reading may find
                           more */
  size_t unclosed_count; /**< files that were not closed, with nothing else that opening found wrong
                            in them: all that was written is there. Reading one, unless salvaged,
                            ends with TB_ERR_TRUNCATED */
  const char *const *oddities; /**< what opening found that cannot be right, though nothing is lost
                                  by it: odd names, a summary of MCAP that was not used */
  size_t oddity_count;         /**< how many `oddities` there are */
  tb_bag_counted_t counted;    /**< what `message_count` and those of topics rest on, with
                                  TB_BAG_COUNTS_SUMMARY; of several files the weakest */
  uint32_t padding;            /**< not used */
} tb_bag_info_t;

/** A recorded message. */
typedef struct tb_bag_message {
  size_t topic;            /**< index into tb_bag_info_t.topics */
  int64_t log_time_ns;     /**< >= 0 */
  int64_t publish_time_ns; /**< -1: the format stores none (sqlite3) */
  const uint8_t *data;     /**< at least the 4 bytes of encapsulation, unless tb_bag_content_t says
                                otherwise; valid until the next call */
  size_t size;             /**< of `data`, in bytes */
  size_t file;             /**< index into tb_bag_info_t.files */
  int64_t row_id;          /**< grows through that file; in sqlite3 the row of its table */
  const char *publisher; /**< the node that sent it (callerid), valid until the next call; NULL: the
                              recording does not say, as in ROS 2 */
} tb_bag_message_t;

/** How the messages of each topic are counted. */
typedef enum tb_bag_counts {
  /** Per-topic counts of metadata.yaml if its totals agree with the files, otherwise as below. */
  TB_BAG_COUNTS_AUTO = 0,
  /** Counted at open: reads every row of the bag, without large payloads. */
  TB_BAG_COUNTS_EXACT,
  /** As the recording itself counts, without reading its messages: summaries of MCAP, or for
   * sqlite3 metadata.yaml, as far as these agree with each other and with what the files show
   * cheaply (the ranges of chunks and their indexes; first and last id and time of rows). Where
   * they do not, or are not there, as TB_BAG_COUNTS_EXACT. tb_bag_info_t.counted reports which. */
  TB_BAG_COUNTS_SUMMARY,
} tb_bag_counts_t;

/** What to do with damaged bags. */
typedef enum tb_bag_damage {
  /** They are not opened if opening finds the damage. */
  TB_BAG_DAMAGE_REFUSE = 0,
  /** What can be read is given, not always in the order of time: without metadata.yaml where that
   * is bad, without files that cannot be read at all, of compressed files what comes before damage,
   * and from sqlite3 with what indexes would hide. They are not opened if no file can be read. */
  TB_BAG_DAMAGE_SALVAGE,
} tb_bag_damage_t;

/** How much of each message is read. */
typedef enum tb_bag_content {
  TB_BAG_CONTENT_ALL = 0, /**< all, as a player needs it: "cdr" with its encapsulation */
  TB_BAG_CONTENT_ANY,     /**< all, in whatever serialization format, of whatever size */
  TB_BAG_CONTENT_TIMES,   /**< topic and times: `data` is NULL, and bad payloads are not seen */
} tb_bag_content_t;

/** Limits that protect against bags made to exhaust a machine; 0: the default. Exceeding one fails
 * with TB_ERR_LIMIT, with the value, what the bag wants and the option of `timebase` that raises it
 * in the error's text (docs/limits.md). */
typedef struct tb_bag_limits {
  uint64_t chunk_size;    /**< bytes of a chunk in memory; 1 GiB, at most 4 GiB - 1 */
  uint64_t overlap_size;  /**< bytes of chunks of one file that overlap in time, in memory; 256 MiB.
                             What does not fit is read again, at most 16 times the file */
  uint64_t unpacked_size; /**< bytes of one file that is unpacked, or recovered, into TMPDIR; 64 GiB
                           */
  uint64_t file_count;    /**< files of a bag; 10,000 */
  uint64_t reserved[4];   /**< 0 */
} tb_bag_limits_t;

/** What is read, and how it is counted. */
typedef struct tb_bag_reader_options {
  const char *const *topics; /**< names to read, as tb_bag_topic_t has them; read during open */
  size_t topic_count;        /**< 0: all topics */
  tb_bag_counts_t counts;    /**< how messages per topic are counted */
  tb_bag_damage_t damage;    /**< what to do with damaged bags */
  tb_bag_content_t content;  /**< how much of each message is read */
  size_t run; /**< which of the runs is read, from 1 on; 0: all, with their messages merged by time,
                 which the log warns of where there are several. TB_ERR_RANGE: there is no such */
  tb_bag_limits_t limits; /**< ceilings */
  size_t
      read_ahead_size; /**< about how many bytes of messages a thread of the reader reads ahead of
                          tb_bag_reader_next, which copies them; 0: there is no such thread. For
                          programs that have as much to do with a message as reading it costs */
} tb_bag_reader_options_t;

/** All topics. */
#define TB_BAG_READER_OPTIONS_INIT                                                                 \
  {                                                                                                \
    NULL, 0, TB_BAG_COUNTS_AUTO, TB_BAG_DAMAGE_REFUSE, TB_BAG_CONTENT_ALL, 0, {0}, 0               \
  }

TB_BEGIN_DECLS

/** Opens a bag for reading: a directory with metadata.yaml, which may be named instead, a directory
 * with storage files only (taken in natural order of their names), or one storage file: *.db3,
 * *.mcap, or
 * *.bag of ROS 1 (format 2.0 or 1.2, also .bag.active). `options` may be NULL. The bag is not
 * changed and may be on a read-only medium.
 *
 * Cost: per file, one look-up each for the first and the last time, and a walk over the index of
 * times for the number of messages (about 2 % of a bag of 1 KiB messages); a file without that
 * index (rosbag2 crystal) is read whole. Of MCAP the summary is read; without one that covers the
 * messages, the whole file, once at open and once more when reading comes to it in a bag of several
 * files. Per-topic counts: tb_bag_counts_t. Memory does not grow with the messages; of MCAP, chunks
 * that overlap in time are kept up to a limit (tb_bag_limits_t). Files are opened when reading
 * comes to them. Bags that rosbag2 has compressed are read as if they were not; files that are
 * compressed as a whole (*.zstd) are unpacked for that into TMPDIR (/tmp without it), each for as
 * long as it is read, as an unnamed file.
 *
 * [any thread] [blocks: file system] Errors, with file and reason in *error:
 *   TB_ERR_NOT_FOUND    the path, a file named by metadata.yaml, or a topic of the filter
 *   TB_ERR_CORRUPT      not of the format, bad metadata.yaml or tables, paths outside of the bag
 *   TB_ERR_TRUNCATED    a file is shorter than its header says
 *   TB_ERR_UNSUPPORTED  compressed by other means than zstd, of another storage format, not laid
 *                       out as rosbag2 does, or left by a crash in a state that only a writer can
 *                       recover
 *   TB_ERR_BUSY         locked by a recorder
 *   TB_ERR_LIMIT        metadata.yaml above 16 MiB, 32 levels or a million values; too many topics;
 *                       a limit of tb_bag_limits_t. Also for damaged bags: nothing is
 *                       left out because of a limit
 *   TB_ERR_SYSTEM, TB_ERR_NO_MEMORY, TB_ERR_INVALID */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_reader_open(const char *path,
                                                        const tb_bag_reader_options_t *options,
                                                        tb_bag_reader_t **out, tb_error_t *error);

/** Opens `count` bags as one, with their messages merged by time; equal times keep the order of the
 * bags. Topics of one name and type are one topic, with the offers of all bags. Otherwise as
 * tb_bag_reader_open. [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_reader_open_many(const char *const *paths, size_t count,
                                                             const tb_bag_reader_options_t *options,
                                                             tb_bag_reader_t **out,
                                                             tb_error_t *error);

/** Invalidates every pointer that the reader gave out. NULL is accepted. [owner thread] */
TB_API void tb_bag_reader_close(tb_bag_reader_t *reader);

/** NULL only for NULL; constant while the reader is open. [any thread] */
TB_API const tb_bag_info_t *tb_bag_reader_info(const tb_bag_reader_t *reader);

/** What wrote the files, as the header of the first MCAP file that names it has it, such as
 * "timebase 0.1.0"; empty if none does, as in other formats. NULL only for NULL; constant while the
 * reader is open. [any thread] */
TB_API const char *tb_bag_reader_library(const tb_bag_reader_t *reader);

/** The next message by log time, over all files; equal times keep the order of files, then of rows.
 * TB_ERR_END after the last one, again at each call. Any other error is about one row or one file,
 * which *error names; the next call continues after it, so a loop until TB_ERR_END always ends:
 *   TB_ERR_CORRUPT      row without payload, of an unknown topic, or with a time that is negative
 *                       or no integer; or compressed and damaged; or a damaged file, of which the
 *                       rest is skipped (sqlite3) or only the damaged chunk (MCAP, whose CRCs are
 *                       checked); or an index, without which all was read as well
 *   TB_ERR_TRUNCATED    payload shorter than its encapsulation, or a file that was cut off, after
 *                       all that it still has
 *   TB_ERR_LIMIT        compressed payload of more than 1 GiB; a ceiling (tb_bag_limits_t)
 *   TB_ERR_UNSUPPORTED  serialization format other than "cdr"
 * [owner thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_reader_next(tb_bag_reader_t *reader,
                                                        tb_bag_message_t *out, tb_error_t *error);

/** Makes the next message the first one with log time >= `time_ns` (any value; below 0 is the
 * start). Works in both directions and after TB_ERR_END; files that failed are tried again.
 * Bad times before `time_ns` are not reported again. Cheap: files are looked into by the next call.
 * [owner thread] */
TB_API tb_status_t tb_bag_reader_seek(tb_bag_reader_t *reader, int64_t time_ns);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_bag_reader_open_sized(const char *path,
                                            const tb_bag_reader_options_t *options,
                                            size_t options_size, tb_bag_reader_t **out,
                                            tb_error_t *error);
TB_INLINE tb_status_t tb_bag_reader_open(const char *path, const tb_bag_reader_options_t *options,
                                         tb_bag_reader_t **out, tb_error_t *error)
{
  return tb_bag_reader_open_sized(path, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_bag_reader_open_many_sized(const char *const *paths, size_t count,
                                                 const tb_bag_reader_options_t *options,
                                                 size_t options_size, tb_bag_reader_t **out,
                                                 tb_error_t *error);
TB_INLINE tb_status_t tb_bag_reader_open_many(const char *const *paths, size_t count,
                                              const tb_bag_reader_options_t *options,
                                              tb_bag_reader_t **out, tb_error_t *error)
{
  return tb_bag_reader_open_many_sized(paths, count, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_bag_reader_next_sized(tb_bag_reader_t *reader, tb_bag_message_t *out,
                                            size_t out_size, tb_error_t *error);
TB_INLINE tb_status_t tb_bag_reader_next(tb_bag_reader_t *reader, tb_bag_message_t *out,
                                         tb_error_t *error)
{
  return tb_bag_reader_next_sized(reader, out, sizeof *out, error);
}

TB_END_DECLS

#endif
