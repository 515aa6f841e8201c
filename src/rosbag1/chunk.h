/* Chunks of a ROS 1 bag: reading and decompressing them. */
#ifndef TB_ROSBAG1_CHUNK_H
#define TB_ROSBAG1_CHUNK_H

#include "rosbag1/record.h"
#include "storage/buffer.h"
#include "storage/input.h"

typedef enum tb__rosbag1_compression {
  TB__ROSBAG1_NONE,
  TB__ROSBAG1_BZ2,
  TB__ROSBAG1_LZ4,
  TB__ROSBAG1_OTHER,
} tb__rosbag1_compression_t;

typedef struct tb__rosbag1_codec {
  void *lz4;               /* a context, made when the first chunk needs it */
  tb__bag_buffer_t stored; /* a chunk as it is in the file, with what follows it */
} tb__rosbag1_codec_t;

typedef struct tb__rosbag1_chunk {
  tb__rosbag1_compression_t compression;
  size_t head_size;     /* of the record, before the data */
  uint64_t stored_size; /* of the data in the file, as far as the file has it */
  uint32_t size;        /* uncompressed; 0: not known, it was never ended */
  bool is_open;         /* never ended: up to the end of the file */
  bool is_cut;          /* the file ends in it */
} tb__rosbag1_chunk_t;

/* The records of a chunk in memory. */
typedef struct tb__rosbag1_content {
  size_t begin, size;     /* in the buffer */
  size_t used;            /* of the stored bytes, those that its compressed stream has */
  const char *damage;     /* what is wrong with it, though there are records; NULL: nothing */
  bool is_damage_at_end;  /* that is: the end of the file is missing */
  const uint8_t *follows; /* bytes after the chunk, as far as they were read too */
  size_t follow_size;
} tb__rosbag1_content_t;

void tb__rosbag1_codec_fini(tb__rosbag1_codec_t *codec);

/* Of a record with op 5 at `offset`. TB_ERR_CORRUPT: its fields are not those of a chunk. */
tb_status_t tb__rosbag1_chunk_head(const tb__bag_input_t *input, uint64_t offset,
                                   const tb__rosbag1_record_t *record, tb__rosbag1_chunk_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;
/* What follows it begins `room` bytes after the record, whatever its length says. */
void tb__rosbag1_chunk_clamp(tb__rosbag1_chunk_t *chunk, uint64_t room);
/* As tb__rosbag1_chunk_head, from the file. */
tb_status_t tb__rosbag1_chunk_find(const tb__bag_input_t *input, uint64_t offset,
                                   tb__rosbag1_chunk_t *out, tb_error_t *error) TB_WARN_UNUSED;

/* What can be had of it, into `buffer`: of a damaged one what comes before the damage. Bytes up to
 * `follow_end` are read along with it, if there are few. TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED,
 * TB_ERR_LIMIT: nothing. */
tb_status_t tb__rosbag1_chunk_load(const tb__bag_input_t *input, tb__rosbag1_codec_t *codec,
                                   uint64_t offset, uint64_t follow_end,
                                   const tb__rosbag1_chunk_t *chunk, tb__bag_buffer_t *buffer,
                                   tb__rosbag1_content_t *out, tb_error_t *error) TB_WARN_UNUSED;

#endif
