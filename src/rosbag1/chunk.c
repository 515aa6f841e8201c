#include "rosbag1/chunk.h"

#include <bzlib.h>
#include <lz4.h>
#include <lz4frame.h>
#include <string.h>
#include <xxhash.h>

#include "base/no_memory.h"

#define HEAD_READ   512
#define FOLLOW_READ 65536 /* indexes after a chunk that are read with it */
#define FIRST_PIECE 262144

void tb__rosbag1_codec_fini(tb__rosbag1_codec_t *codec)
{
  LZ4F_freeDecompressionContext(codec->lz4);
  tb__bag_buffer_fini(&codec->stored);
  *codec = (tb__rosbag1_codec_t){0};
}

static tb__rosbag1_compression_t compression_of(tb__rosbag1_text_t text)
{
  if (tb__rosbag1_text_equals(text, "none")) return TB__ROSBAG1_NONE;
  if (tb__rosbag1_text_equals(text, "bz2")) return TB__ROSBAG1_BZ2;
  return tb__rosbag1_text_equals(text, "lz4") ? TB__ROSBAG1_LZ4 : TB__ROSBAG1_OTHER;
}

tb_status_t tb__rosbag1_chunk_head(const tb__bag_input_t *input, uint64_t offset,
                                   const tb__rosbag1_record_t *record, tb__rosbag1_chunk_t *out,
                                   tb_error_t *error)
{
  uint64_t left = input->size - offset - record->head_size;
  tb__rosbag1_text_t compression = tb__rosbag1_field(record->fields, "compression");
  *out = (tb__rosbag1_chunk_t){.compression = compression_of(compression),
                               .head_size = record->head_size};
  if (record->op != TB__ROSBAG1_CHUNK || !compression.at ||
      !tb__rosbag1_field_u32(record->fields, "size", &out->size))
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error, "no chunk here");
  out->is_open = out->size == 0 && record->data_size == 0;
  out->is_cut = record->data_size > left;
  out->stored_size = out->is_cut || out->is_open ? left : record->data_size;
  return TB_OK;
}

void tb__rosbag1_chunk_clamp(tb__rosbag1_chunk_t *chunk, uint64_t room)
{
  if (room < chunk->head_size || chunk->stored_size <= room - chunk->head_size) return;
  chunk->stored_size = room - chunk->head_size;
  chunk->is_cut = chunk->is_open = false;
}

tb_status_t tb__rosbag1_chunk_find(const tb__bag_input_t *input, uint64_t offset,
                                   tb__rosbag1_chunk_t *out, tb_error_t *error)
{
  uint8_t bytes[HEAD_READ];
  tb__rosbag1_record_t record;
  size_t need;
  if (offset >= input->size)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error, "the file ends here");
  uint64_t left = input->size - offset;
  size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;
  tb_status_t status = tb__bag_input_read(input, offset, bytes, size, error);
  if (status) return status;
  if (tb__rosbag1_parse(bytes, size, &record, &need) != TB__ROSBAG1_PARSED)
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error, "no chunk here");
  return tb__rosbag1_chunk_head(input, offset, &record, out, error);
}

/* ---- decompression ---- */

/* What is being decompressed, and where it goes. */
typedef struct expansion {
  const uint8_t *in;
  size_t in_size;
  tb__bag_buffer_t *out;
  size_t used;        /* of `in` */
  size_t done, limit; /* at most so many bytes come out */
  size_t spare;       /* room after the limit, in which a block may be decompressed */
  bool is_whole;      /* the stream has reached its end */
  bool has_checksum; /* of what comes out, at the end of lz4's frame, and it is still to be compared
                      */
  const char *damage; /* NULL: none */
} expansion_t;

/* Room for more, as far as the bytes that came out so far justify it. False with TB_OK: the limit
 * has been reached. */
static tb_status_t make_room(expansion_t *to, bool *has_room, tb_error_t *error)
{
  *has_room = to->done < to->out->capacity && to->done < to->limit;
  if (*has_room || to->done >= to->limit) return TB_OK;
  size_t wanted = to->done < FIRST_PIECE ? FIRST_PIECE : 2 * to->done;
  *has_room = true;
  return tb__bag_buffer_grow(to->out, wanted < to->limit ? wanted : to->limit, error);
}

static size_t room_of(const expansion_t *to)
{
  size_t end = to->limit + to->spare;
  return (to->out->capacity < end ? to->out->capacity : end) - to->done;
}

/* liblz4 as Debian builds it takes longer for a frame's checksum than for all the rest, and
 * libxxhash less than half of that. */
static bool can_skip_checksums(void)
{
#if LZ4_VERSION_NUMBER >= 10904
  return LZ4_versionNumber() >= 10904;
#else
  return false;
#endif
}

static LZ4F_decompressOptions_t options_of(const expansion_t *to)
{
  LZ4F_decompressOptions_t options = {0};
#if LZ4_VERSION_NUMBER >= 10904
  options.skipChecksums = to->has_checksum;
#else
  (void)to;
#endif
  return options;
}

/* It is what the frame ends with. */
static void compare_checksum(expansion_t *to)
{
  if (!to->has_checksum || !to->is_whole || to->damage) return;
  if (tb__rosbag1_u32(to->in + to->used - 4) == XXH32(to->out->bytes, to->done, 0)) return;
  to->damage = "its checksum is wrong";
}

/* Reads the frame's header; one that is bad or cut is left to the decompression. */
static size_t block_size_of(LZ4F_dctx *context, expansion_t *to)
{
  static const size_t sizes[] = {[LZ4F_default] = 65536,
                                 [LZ4F_max64KB] = 65536,
                                 [LZ4F_max256KB] = 262144,
                                 [LZ4F_max1MB] = 1048576,
                                 [LZ4F_max4MB] = 4194304};
  LZ4F_frameInfo_t info = LZ4F_INIT_FRAMEINFO;
  size_t used = to->in_size;
  if (LZ4F_isError(LZ4F_getFrameInfo(context, &info, to->in, &used))) {
    LZ4F_resetDecompressionContext(context);
    return 0;
  }
  to->used = used;
  to->has_checksum = info.contentChecksumFlag == LZ4F_contentChecksumEnabled &&
                     info.blockChecksumFlag == LZ4F_noBlockChecksum && can_skip_checksums();
  return sizes[info.blockSizeID];
}

/* The size in the header is kept in one piece if that is no bomb: lz4 does not reach 255 to 1. With
 * room for a whole block after it the last block is decompressed in its place, and not copied
 * there. */
static tb_status_t reserve_lz4(LZ4F_dctx *context, expansion_t *to, tb_error_t *error)
{
  size_t block_size = block_size_of(context, to);
  if (to->limit / 255 > to->in_size) return TB_OK;
  if (block_size <= to->limit) to->spare = block_size;
  return tb__bag_buffer_reserve(to->out, (uint64_t)to->limit + to->spare, error);
}

static void clamp(expansion_t *to)
{
  if (to->done <= to->limit) return;
  to->done = to->limit;
  to->damage = "it has more bytes than its header says";
}

/* `to->out` may move, so the library must not look back into it. */
static tb_status_t expand_lz4(LZ4F_dctx *context, expansion_t *to, tb_error_t *error)
{
  LZ4F_resetDecompressionContext(context);
  tb_status_t reserved = reserve_lz4(context, to, error);
  if (reserved) return reserved;
  const LZ4F_decompressOptions_t options = options_of(to);
  for (;;) {
    bool has_room;
    uint8_t spare;
    tb_status_t status = make_room(to, &has_room, error);
    if (status) return status;
    size_t room = has_room ? room_of(to) : sizeof spare, left = to->in_size - to->used;
    uint8_t *at = has_room ? to->out->bytes + to->done : &spare;
    size_t hint = LZ4F_decompress(context, at, &room, to->in + to->used, &left, &options);
    if (LZ4F_isError(hint)) {
      to->damage = LZ4F_getErrorName(hint);
      return TB_OK;
    }
    to->used += left;
    if (has_room) to->done += room;
    to->is_whole = hint == 0;
    if (!has_room && room > 0) to->damage = "it has more bytes than its header says";
    clamp(to);
    compare_checksum(to);
    if (to->is_whole || to->damage || (room == 0 && left == 0)) return TB_OK;
  }
}

static tb_status_t expand_bz2(expansion_t *to, tb_error_t *error)
{
  bz_stream stream = {.next_in = (char *)(uintptr_t)to->in, .avail_in = (unsigned)to->in_size};
  tb_status_t status = TB_OK;
  int result = BZ2_bzDecompressInit(&stream, 0, 0);
  if (result != BZ_OK) return tb__no_memory(error);
  while (result == BZ_OK) {
    bool has_room;
    char spare;
    status = make_room(to, &has_room, error);
    if (status) break;
    unsigned room = has_room ? (unsigned)room_of(to) : 1, before = stream.avail_in;
    stream.next_out = has_room ? (char *)to->out->bytes + to->done : &spare;
    stream.avail_out = room;
    result = BZ2_bzDecompress(&stream);
    size_t came = room - stream.avail_out;
    if (has_room) to->done += came;
    if (!has_room && came > 0) to->damage = "it has more bytes than its header says";
    if (to->damage || (came == 0 && stream.avail_in == before)) break;
  }
  to->used = to->in_size - stream.avail_in;
  BZ2_bzDecompressEnd(&stream);
  if (status) return status;
  if (result == BZ_MEM_ERROR) return tb__no_memory(error);
  to->is_whole = result == BZ_STREAM_END;
  if (result != BZ_OK && !to->is_whole) to->damage = "its bz2 stream is damaged";
  return TB_OK;
}

static tb_status_t expand(tb__rosbag1_codec_t *codec, tb__rosbag1_compression_t compression,
                          expansion_t *to, tb_error_t *error)
{
  if (compression == TB__ROSBAG1_BZ2) return expand_bz2(to, error);
  if (!codec->lz4) {
    LZ4F_dctx *context = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
      return tb__no_memory(error);
    codec->lz4 = context;
  }
  return expand_lz4(codec->lz4, to, error);
}

/* ---- loading ---- */

static tb_status_t check_limits(const tb__bag_input_t *input, uint64_t offset,
                                const tb__rosbag1_chunk_t *chunk, tb_error_t *error)
{
  uint64_t limit = input->limits.chunk_size;
  uint64_t size = chunk->size > chunk->stored_size ? chunk->size : chunk->stored_size;
  if (chunk->compression == TB__ROSBAG1_OTHER)
    return tb__bag_input_error(input, TB_ERR_UNSUPPORTED, offset, error,
                               "the chunk's compression is none of none, bz2 and lz4");
  if (size <= limit) return TB_OK;
  return tb__bag_input_error(input, TB_ERR_LIMIT, offset, error,
                             "a chunk of %llu bytes, more than the limit of %llu "
                             "(--max-chunk-size)",
                             (unsigned long long)size, (unsigned long long)limit);
}

/* The chunk's data, and what follows it. */
static tb_status_t read_stored(const tb__bag_input_t *input, uint64_t offset, uint64_t follow_end,
                               const tb__rosbag1_chunk_t *chunk, tb__bag_buffer_t *buffer,
                               tb__rosbag1_content_t *out, tb_error_t *error)
{
  uint64_t at = offset + chunk->head_size, end = at + chunk->stored_size;
  uint64_t more = follow_end > end ? follow_end - end : 0;
  if (more > FOLLOW_READ) more = FOLLOW_READ;
  size_t size = (size_t)(chunk->stored_size + more);
  tb_status_t status = tb__bag_buffer_reserve(buffer, size, error);
  if (!status) status = tb__bag_input_read(input, at, buffer->bytes, size, error);
  out->follows = buffer->bytes + chunk->stored_size;
  out->follow_size = (size_t)more;
  return status;
}

static void judge(const tb__rosbag1_chunk_t *chunk, const expansion_t *done,
                  tb__rosbag1_content_t *out)
{
  bool is_short = chunk->is_cut || chunk->is_open;
  out->size = done->done;
  out->used = done->used;
  out->damage = done->damage;
  if (!out->damage && !done->is_whole) out->damage = "its compressed data ends too early";
  if (!out->damage && !is_short && done->done != chunk->size)
    out->damage = "it does not have the size that its header says";
  if (!is_short) return;
  out->is_damage_at_end = !done->damage;
  if (out->is_damage_at_end) out->damage = NULL; /* the end of the file is reported by itself */
}

tb_status_t tb__rosbag1_chunk_load(const tb__bag_input_t *input, tb__rosbag1_codec_t *codec,
                                   uint64_t offset, uint64_t follow_end,
                                   const tb__rosbag1_chunk_t *chunk, tb__bag_buffer_t *buffer,
                                   tb__rosbag1_content_t *out, tb_error_t *error)
{
  *out = (tb__rosbag1_content_t){0};
  tb_status_t status = check_limits(input, offset, chunk, error);
  if (status) return status;
  bool is_raw = chunk->compression == TB__ROSBAG1_NONE;
  status =
      read_stored(input, offset, follow_end, chunk, is_raw ? buffer : &codec->stored, out, error);
  if (status) return status;
  if (is_raw) {
    out->size = (size_t)chunk->stored_size;
    if (!chunk->is_cut && !chunk->is_open && chunk->size != chunk->stored_size)
      out->damage = "it does not have the size that its header says";
    return TB_OK;
  }
  uint64_t limit = chunk->is_open ? input->limits.chunk_size : chunk->size;
  expansion_t to = {.in = codec->stored.bytes,
                    .in_size = (size_t)chunk->stored_size,
                    .out = buffer,
                    .limit = (size_t)limit};
  status = expand(codec, chunk->compression, &to, error);
  if (!status) judge(chunk, &to, out);
  return status;
}
