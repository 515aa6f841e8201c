/* A bag of format 2.0 that is written. What is complete stays readable however the process ends. */
#ifndef TB_ROSBAG1_FILE_WRITER_H
#define TB_ROSBAG1_FILE_WRITER_H

#include "rosbag1/bytes.h"
#include "rosbag1/chunk.h"
#include "storage/output.h"

typedef struct tb__rosbag1_entry {
  uint64_t time_ns;
  uint32_t offset; /* in the chunk */
} tb__rosbag1_entry_t;

typedef struct tb__rosbag1_written {
  tb__rosbag1_bytes_t record;   /* of the connection; its id is its place */
  bool is_used;                 /* it has messages in this file */
  tb__rosbag1_entry_t *entries; /* of the chunk that is open */
  size_t count, capacity;
} tb__rosbag1_written_t;

typedef struct tb__rosbag1_writer {
  int fd;
  char *path;
  tb__rosbag1_compression_t compression;
  int level;
  size_t chunk_size; /* a chunk is ended beyond this */
  uint64_t offset;   /* the end of the last chunk with its indexes */
  tb__rosbag1_written_t *connections;
  size_t connection_count;
  tb__rosbag1_bytes_t chunk, stored, infos;
  uint64_t start_ns, end_ns; /* of the chunk that is open */
  uint64_t message_count, whole_count, chunk_count;
  tb__bag_output_doubts_t *doubts; /* may be NULL */
} tb__rosbag1_writer_t;

tb_status_t tb__rosbag1_writer_create(const char *path, const tb__bag_output_options_t *options,
                                      tb__rosbag1_writer_t **out, tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__rosbag1_writer_connect(tb__rosbag1_writer_t *writer,
                                       const tb__bag_output_topic_t *topic, uint32_t *out_id,
                                       tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__rosbag1_writer_message(tb__rosbag1_writer_t *writer, uint32_t connection,
                                       uint64_t time_ns, const void *data, size_t size,
                                       tb_error_t *error) TB_WARN_UNUSED;
/* Ends the chunk. */
tb_status_t tb__rosbag1_writer_flush(tb__rosbag1_writer_t *writer, bool sync,
                                     tb_error_t *error) TB_WARN_UNUSED;
uint64_t tb__rosbag1_writer_size(const tb__rosbag1_writer_t *writer);
/* TB_ERR_TRUNCATED: the file is shorter than what was written to it. */
tb_status_t tb__rosbag1_writer_check(tb__rosbag1_writer_t *writer,
                                     tb_error_t *error) TB_WARN_UNUSED;
/* Writes the index, and frees on failure too. */
tb_status_t tb__rosbag1_writer_close(tb__rosbag1_writer_t *writer, tb_error_t *error);

#endif
