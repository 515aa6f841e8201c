/* Chunks: reading, checking and decompressing them. */
#ifndef TB_MCAP_CHUNK_H
#define TB_MCAP_CHUNK_H

#include "mcap/record.h"
#include "storage/buffer.h"
#include "storage/input.h"

typedef struct tb__mcap_codec {
  void *zstd, *lz4;        /* contexts, made when the first chunk needs them */
  tb__bag_buffer_t stored; /* a chunk as it is in the file */
} tb__mcap_codec_t;

void tb__mcap_codec_fini(tb__mcap_codec_t *codec);

/* The head of the chunk whose record begins at `offset`, and the length of its content, which the
 * file need not hold. */
tb_status_t tb__mcap_chunk_head(const tb__bag_input_t *input, uint64_t offset,
                                tb__mcap_chunk_t *out, uint64_t *length,
                                tb_error_t *error) TB_WARN_UNUSED;

/* The records in it: out->size bytes in `buffer`, with their CRC checked. Where that alone is
 * wrong, out->is_doubtful is set and the bytes are still returned. TB_ERR_CORRUPT,
 * TB_ERR_UNSUPPORTED and TB_ERR_LIMIT are about this chunk alone. */
tb_status_t tb__mcap_chunk_load(const tb__bag_input_t *input, tb__mcap_codec_t *codec,
                                uint64_t offset, tb__bag_buffer_t *buffer, tb__mcap_chunk_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;

/* What can be read of a chunk that is cut off by the end of the file: *size bytes in `buffer`, not
 * checked by a CRC, the last record perhaps not whole. */
tb_status_t tb__mcap_chunk_salvage(const tb__bag_input_t *input, tb__mcap_codec_t *codec,
                                   uint64_t offset, tb__bag_buffer_t *buffer, tb__mcap_chunk_t *out,
                                   size_t *size, tb_error_t *error) TB_WARN_UNUSED;

#endif
