#include "mcap/chunk.h"

#include <libdeflate.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/no_memory.h"

#define PIECE     262144 /* read and summed up while it is in the cache */
#define HEAD_READ 96

void tb__mcap_codec_fini(tb__mcap_codec_t *codec)
{
  ZSTD_freeDCtx(codec->zstd);
  LZ4F_freeDecompressionContext(codec->lz4);
  tb__bag_buffer_fini(&codec->stored);
  *codec = (tb__mcap_codec_t){0};
}

tb_status_t tb__mcap_chunk_head(const tb__bag_input_t *input, uint64_t offset,
                                tb__mcap_chunk_t *out, uint64_t *length, tb_error_t *error)
{
  uint8_t bytes[HEAD_READ];
  if (offset > input->size || input->size - offset < TB__MCAP_HEAD_SIZE)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error,
                               "the file ends inside a chunk");
  uint64_t left = input->size - offset;
  size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;
  tb_status_t status = tb__bag_input_read(input, offset, bytes, size, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, size - 1);
  *length = tb__mcap_take_u64(&cursor);
  size_t known = cursor.left < *length ? cursor.left : (size_t)*length;
  if (bytes[0] != TB__MCAP_CHUNK)
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error, "no chunk here");
  if (!tb__mcap_parse_chunk(cursor.at, known, *length, out))
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error,
                               "the chunk's header is damaged");
  return TB_OK;
}

/* A block of zstd holds 128 KiB and takes 4 bytes at least; lz4 does not reach 255 to 1. So no
 * more is allocated than the bytes in the file can be good for. */
static bool is_possible(const tb__mcap_chunk_t *chunk)
{
  switch (chunk->compression) {
  case TB__MCAP_NONE:
    return chunk->size == chunk->stored_size;
  case TB__MCAP_ZSTD:
    return chunk->size / 131072 <= chunk->stored_size / 4;
  case TB__MCAP_LZ4:
    return chunk->size / 255 <= chunk->stored_size;
  default:
    return true;
  }
}

static tb_status_t check_head(const tb__bag_input_t *input, uint64_t offset,
                              const tb__mcap_chunk_t *chunk, tb_error_t *error)
{
  if (chunk->compression == TB__MCAP_OTHER)
    return tb__bag_input_error(input, TB_ERR_UNSUPPORTED, offset, error,
                               "the chunk's compression is neither zstd nor lz4");
  if (!is_possible(chunk))
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error,
                               "a chunk of %llu bytes cannot be stored in %llu of the file",
                               (unsigned long long)chunk->size,
                               (unsigned long long)chunk->stored_size);
  if (chunk->size > input->limits.chunk_size)
    return tb__bag_input_error(
        input, TB_ERR_LIMIT, offset, error,
        "a chunk of %llu bytes, more than the limit of %llu (--max-chunk-size)",
        (unsigned long long)chunk->size, (unsigned long long)input->limits.chunk_size);
  return TB_OK;
}

static uint64_t records_offset(uint64_t offset, const tb__mcap_chunk_t *chunk)
{
  return offset + TB__MCAP_HEAD_SIZE + chunk->head_size;
}

static tb_status_t read_raw(const tb__bag_input_t *input, uint64_t offset,
                            const tb__mcap_chunk_t *chunk, uint8_t *out, uint32_t *crc,
                            tb_error_t *error)
{
  uint64_t at = records_offset(offset, chunk);
  size_t done = 0, size = (size_t)chunk->size;
  while (done < size) {
    size_t piece = size - done < PIECE ? size - done : PIECE;
    tb_status_t status = tb__bag_input_read(input, at + done, out + done, piece, error);
    if (status) return status;
    if (chunk->crc) *crc = libdeflate_crc32(*crc, out + done, piece);
    done += piece;
  }
  return TB_OK;
}

static tb_status_t make_contexts(tb__mcap_codec_t *codec, tb__mcap_compression_t compression,
                                 tb_error_t *error)
{
  if (compression == TB__MCAP_ZSTD && !codec->zstd) {
    codec->zstd = ZSTD_createDCtx();
    if (!codec->zstd) return tb__no_memory(error);
  }
  if (compression == TB__MCAP_LZ4 && !codec->lz4) {
    LZ4F_dctx *context = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
      return tb__no_memory(error);
    codec->lz4 = context;
  }
  return TB_OK;
}

/* Each fills `capacity` bytes as far as the input goes; false: the input is damaged. *whole: it
 * ended where it should. */
static bool expand_lz4(LZ4F_dctx *context, const uint8_t *in, size_t size, uint8_t *out,
                       size_t capacity, size_t *done, bool *whole)
{
  LZ4F_resetDecompressionContext(context);
  size_t used = 0, hint = 1;
  *done = 0;
  while (used < size) {
    size_t room = capacity - *done, left = size - used;
    hint = LZ4F_decompress(context, out + *done, &room, in + used, &left, NULL);
    if (LZ4F_isError(hint)) return false;
    *done += room;
    used += left;
    if (room == 0 && left == 0) break;
  }
  *whole = hint == 0 && used == size;
  return true;
}

static bool expand_zstd(ZSTD_DCtx *context, const uint8_t *in, size_t size, uint8_t *out,
                        size_t capacity, size_t *done)
{
  ZSTD_inBuffer from = {in, size, 0};
  ZSTD_outBuffer to = {out, capacity, 0};
  size_t hint = 1;
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  while (from.pos < from.size && to.pos < to.size && !ZSTD_isError(hint)) {
    size_t before = from.pos + to.pos;
    hint = ZSTD_decompressStream(context, &to, &from);
    if (from.pos + to.pos == before) break;
  }
  *done = to.pos;
  return !ZSTD_isError(hint);
}

static bool expand(tb__mcap_codec_t *codec, const tb__mcap_chunk_t *chunk, uint8_t *out)
{
  const uint8_t *in = codec->stored.bytes;
  size_t in_size = (size_t)chunk->stored_size, size = (size_t)chunk->size, done = 0;
  if (chunk->compression == TB__MCAP_ZSTD)
    return ZSTD_decompressDCtx(codec->zstd, out, size, in, in_size) == size;
  bool whole = false;
  return expand_lz4(codec->lz4, in, in_size, out, size, &done, &whole) && whole && done == size;
}

static tb_status_t read_compressed(const tb__bag_input_t *input, tb__mcap_codec_t *codec,
                                   uint64_t offset, const tb__mcap_chunk_t *chunk, uint8_t *out,
                                   uint32_t *crc, tb_error_t *error)
{
  tb_status_t status = make_contexts(codec, chunk->compression, error);
  if (!status) status = tb__bag_buffer_reserve(&codec->stored, chunk->stored_size, error);
  if (!status)
    status = tb__bag_input_read(input, records_offset(offset, chunk), codec->stored.bytes,
                                (size_t)chunk->stored_size, error);
  if (status) return status;
  if (!expand(codec, chunk, out))
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error,
                               "the chunk cannot be decompressed to %llu bytes",
                               (unsigned long long)chunk->size);
  if (chunk->crc) *crc = libdeflate_crc32(0, out, (size_t)chunk->size);
  return TB_OK;
}

tb_status_t tb__mcap_chunk_load(const tb__bag_input_t *input, tb__mcap_codec_t *codec,
                                uint64_t offset, tb__bag_buffer_t *buffer, tb__mcap_chunk_t *out,
                                tb_error_t *error)
{
  uint64_t length = 0;
  uint32_t crc = 0;
  tb_status_t status = tb__mcap_chunk_head(input, offset, out, &length, error);
  if (!status) status = check_head(input, offset, out, error);
  if (status) return status;
  if (out->stored_size > input->size - records_offset(offset, out))
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error,
                               "the file ends inside a chunk");
  status = tb__bag_buffer_reserve(buffer, out->size, error);
  if (!status && out->compression == TB__MCAP_NONE)
    status = read_raw(input, offset, out, buffer->bytes, &crc, error);
  else if (!status)
    status = read_compressed(input, codec, offset, out, buffer->bytes, &crc, error);
  out->is_doubtful = !status && out->crc && crc != out->crc;
  if (out->is_doubtful)
    status =
        tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error,
                            "the chunk's CRC is %08x, but its records have %08x", out->crc, crc);
  return status;
}

tb_status_t tb__mcap_chunk_salvage(const tb__bag_input_t *input, tb__mcap_codec_t *codec,
                                   uint64_t offset, tb__bag_buffer_t *buffer, tb__mcap_chunk_t *out,
                                   size_t *size, tb_error_t *error)
{
  uint64_t length = 0;
  tb_status_t status = tb__mcap_chunk_head(input, offset, out, &length, error);
  if (!status) status = check_head(input, offset, out, error);
  if (status) return status;
  uint64_t at = records_offset(offset, out);
  uint64_t left = at < input->size ? input->size - at : 0;
  size_t stored = (size_t)(left < out->stored_size ? left : out->stored_size);
  bool raw = out->compression == TB__MCAP_NONE;
  tb__bag_buffer_t *to = raw ? buffer : &codec->stored;
  status = make_contexts(codec, out->compression, error);
  if (!status) status = tb__bag_buffer_reserve(buffer, raw ? stored : out->size, error);
  if (!status) status = tb__bag_buffer_reserve(to, stored, error);
  if (!status) status = tb__bag_input_read(input, at, to->bytes, stored, error);
  if (status) return status;
  bool whole;
  *size = stored;
  if (out->compression == TB__MCAP_ZSTD)
    expand_zstd(codec->zstd, to->bytes, stored, buffer->bytes, (size_t)out->size, size);
  else if (out->compression == TB__MCAP_LZ4)
    expand_lz4(codec->lz4, to->bytes, stored, buffer->bytes, (size_t)out->size, size, &whole);
  return TB_OK;
}
