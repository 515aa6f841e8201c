/* What one file of MCAP holds beside its messages: chunks, attachments, metadata records. */
#ifndef TIMEBASE_MCAP_FILE_H
#define TIMEBASE_MCAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** What a record is. */
typedef enum tb_mcap_part_kind {
  TB_MCAP_PART_CHUNK = 1,  /**< compressed messages */
  TB_MCAP_PART_ATTACHMENT, /**< a file */
  TB_MCAP_PART_METADATA,   /**< pairs of texts */
} tb_mcap_part_kind_t;

/** One record. Valid during the call that it is given to; texts are not escaped. */
typedef struct tb_mcap_part {
  tb_mcap_part_kind_t kind;  /**< which of the following counts */
  uint32_t pair_count;       /**< of METADATA: how many `keys` and `values` there are */
  uint64_t offset;           /**< of the record in the file */
  uint64_t length;           /**< bytes of the record */
  uint64_t size;             /**< bytes of the data, of a chunk uncompressed */
  uint64_t stored_size;      /**< of CHUNK: compressed */
  uint64_t message_count;    /**< of CHUNK, by the indexes after it; 0: there are none */
  int64_t start_ns;          /**< of CHUNK: the first log time, in ns since 1970 */
  int64_t end_ns;            /**< of CHUNK: the last log time, in ns since 1970 */
  int64_t log_time_ns;       /**< of ATTACHMENT, in ns since 1970 */
  int64_t create_time_ns;    /**< of ATTACHMENT, in ns since 1970; 0: not known */
  const char *compression;   /**< of CHUNK: "none", "zstd", "lz4", "other" */
  const char *name;          /**< of ATTACHMENT and METADATA */
  const char *media_type;    /**< of ATTACHMENT: "text/plain", or "" */
  const char *const *keys;   /**< of METADATA */
  const char *const *values; /**< of METADATA */
} tb_mcap_part_t;

/** False: no more of them. */
typedef bool (*tb_mcap_part_fn)(const tb_mcap_part_t *part, void *user);

/** Takes the next bytes of an attachment. An error ends the reading, and is returned. */
typedef tb_status_t (*tb_mcap_write_fn)(const void *data, size_t size, void *user,
                                        tb_error_t *error);

TB_BEGIN_DECLS

/** Finds the records of a file in their order. Heads are read, not the messages, so it costs a
 * small read for each record.
 *
 *   TB_ERR_UNSUPPORTED  the file is not MCAP
 *   TB_ERR_TRUNCATED    it ends without its end: what came before was found
 *   TB_ERR_CORRUPT      a record is damaged: the same
 *   TB_ERR_NOT_FOUND, TB_ERR_SYSTEM, TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_mcap_file_list(const char *path, tb_mcap_part_fn found,
                                                    void *user, tb_error_t *error);

/** The data of the attachment whose record is at `offset`, in pieces, once its checksum has been
 * found right. TB_ERR_CORRUPT: it is wrong, or there is no attachment. Errors as those of
 * tb_mcap_file_list. [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_mcap_file_read_attachment(const char *path, uint64_t offset,
                                                               tb_mcap_write_fn write, void *user,
                                                               tb_error_t *error);

/** Adds the file `data_path` as an attachment. Times are in ns since 1970, >= 0; `media_type` may
 * be NULL. The file is replaced by a whole new one, so it needs as much room again; if this fails
 * or the process is killed, it is as it was.
 *
 *   TB_ERR_TRUNCATED    it was not closed
 *   TB_ERR_UNSUPPORTED  the file is not MCAP, or has no summary
 *   TB_ERR_CORRUPT      its summary or its end is damaged
 *   TB_ERR_NOT_FOUND, TB_ERR_SYSTEM, TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_mcap_file_add_attachment(
    const char *path, const char *data_path, const char *name, const char *media_type,
    int64_t log_time_ns, int64_t create_time_ns, tb_error_t *error);

/** Adds a metadata record of `count` pairs; not with the name "rosbag2" or "timebase", which
 * describe the file itself (TB_ERR_INVALID). Otherwise as tb_mcap_file_add_attachment.
 * [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_mcap_file_add_metadata(const char *path, const char *name,
                                                            const char *const *keys,
                                                            const char *const *values, size_t count,
                                                            tb_error_t *error);

TB_END_DECLS

#endif
