/* Inside of the writer: file_writer.c writes the file, chunk_writer.c makes the bytes of
 * a chunk, summary_writer.c those of the summary. */
#ifndef TB_MCAP_FILE_WRITER_INSIDE_H
#define TB_MCAP_FILE_WRITER_INSIDE_H

#include "mcap/definitions.h"
#include "mcap/file_writer.h"

#define TB__MCAP_TAIL 64 /* bytes by which a file is known that was cut and has grown again */
#define TB__MCAP_ROOM 64 /* in front of the records of a chunk, for its head */

/* Grows and keeps its content. */
typedef struct tb__mcap_bytes {
  uint8_t *at;
  size_t size, capacity;
} tb__mcap_bytes_t;

typedef struct tb__mcap_entry {
  uint64_t time_ns, offset; /* in the records of the chunk */
} tb__mcap_entry_t;

/* What the writer knows of a channel that has messages. */
typedef struct tb__mcap_track {
  uint64_t count;
  uint64_t defined_at;       /* place in the file of its last definition; 0: none yet */
  tb__mcap_entry_t *entries; /* of the open chunk */
  size_t entry_count, entry_capacity;
} tb__mcap_track_t;

struct tb__mcap_writer {
  int fd;
  tb__bag_output_doubts_t *doubts; /* or NULL */
  char *path;
  uint64_t position;           /* end of what is whole in the file */
  uint8_t tail[TB__MCAP_TAIL]; /* its last bytes */
  size_t tail_size;
  uint32_t crc; /* of all of it */
  size_t chunk_size;
  tb__bag_output_compression_t compression;
  int level;
  void *zstd; /* context */
  tb__mcap_definitions_t definitions;
  tb__mcap_track_t **tracks; /* by channel id; NULL: no messages yet */
  tb__mcap_bytes_t chunk;    /* TB__MCAP_ROOM, records, and at its end the indexes */
  tb__mcap_bytes_t packed;   /* the same, compressed */
  size_t summed;             /* of the chunk, how far chunk_crc goes */
  uint32_t chunk_crc;
  uint64_t chunk_messages, chunk_start_ns, chunk_end_ns;
  uint64_t whole_count;     /* messages in chunks that are in the file */
  uint16_t *chunk_channels; /* TB__MCAP_IDS */
  size_t chunk_channel_count;
  tb__mcap_bytes_t chunk_index, attachment_index, metadata_index; /* for the summary */
  uint64_t message_count, start_ns, end_ns;
  uint32_t chunk_count, attachment_count, metadata_count;
};

/* `size` more bytes, to be filled; NULL: no memory, and nothing has changed. */
uint8_t *tb__mcap_bytes_add(tb__mcap_bytes_t *bytes, size_t size);

/* Sums up what the chunk has so far. */
void tb__mcap_sum_chunk(tb__mcap_writer_t *writer);

/* The open chunk as it goes into the file, with the indexes of its messages: *out and *size; the
 * CRC of the file after it; and its entry of the summary, to be added once it is written. */
typedef struct tb__mcap_packed {
  const uint8_t *bytes;
  size_t size;
  uint32_t crc;
  size_t index_size; /* of the entry added to chunk_index */
} tb__mcap_packed_t;

tb_status_t tb__mcap_pack_chunk(tb__mcap_writer_t *writer, tb__mcap_packed_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;
/* Takes back what packing added, so that the chunk is open again. */
void tb__mcap_unpack_chunk(tb__mcap_writer_t *writer, const tb__mcap_packed_t *packed);

#endif
