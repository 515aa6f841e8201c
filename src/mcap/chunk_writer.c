/* A chunk and its indexes as the bytes that go into the file. */
#include <libdeflate.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/no_memory.h"
#include "mcap/crc.h"
#include "mcap/file_writer_inside.h"

#define ENTRY_SIZE 16

uint8_t *tb__mcap_bytes_add(tb__mcap_bytes_t *bytes, size_t size)
{
  size_t needed;
  if (__builtin_add_overflow(bytes->size, size, &needed)) return NULL;
  if (needed > bytes->capacity) {
    size_t capacity = needed + needed / 2 + 64;
    uint8_t *at = realloc(bytes->at, capacity);
    if (!at) return NULL;
    bytes->at = at;
    bytes->capacity = capacity;
  }
  uint8_t *added = bytes->at + bytes->size;
  bytes->size = needed;
  return added;
}

void tb__mcap_sum_chunk(tb__mcap_writer_t *writer)
{
  tb__mcap_bytes_t *chunk = &writer->chunk;
  writer->chunk_crc =
      libdeflate_crc32(writer->chunk_crc, chunk->at + writer->summed, chunk->size - writer->summed);
  writer->summed = chunk->size;
}

static const char *compression_name(tb__bag_output_compression_t compression)
{
  switch (compression) {
  case TB__BAG_OUTPUT_ZSTD:
    return "zstd";
  case TB__BAG_OUTPUT_LZ4:
    return "lz4";
  default:
    return "";
  }
}

static tb_status_t compress(tb__mcap_writer_t *writer, tb_error_t *error)
{
  const uint8_t *records = writer->chunk.at + TB__MCAP_ROOM;
  size_t size = writer->chunk.size - TB__MCAP_ROOM, bound, done;
  LZ4F_preferences_t lz4 = LZ4F_INIT_PREFERENCES;
  lz4.compressionLevel = writer->level;
  lz4.frameInfo.contentSize = size;
  lz4.frameInfo.blockSizeID = LZ4F_max4MB;
  bool is_zstd = writer->compression == TB__BAG_OUTPUT_ZSTD;
  bound = is_zstd ? ZSTD_compressBound(size) : LZ4F_compressFrameBound(size, &lz4);
  if (is_zstd && !writer->zstd) writer->zstd = ZSTD_createCCtx();
  writer->packed.size = 0;
  if ((is_zstd && !writer->zstd) || !tb__mcap_bytes_add(&writer->packed, TB__MCAP_ROOM + bound))
    return tb__no_memory(error);
  uint8_t *out = writer->packed.at + TB__MCAP_ROOM;
  if (is_zstd)
    done = ZSTD_compressCCtx(writer->zstd, out, bound, records, size, writer->level);
  else
    done = LZ4F_compressFrame(out, bound, records, size, &lz4);
  if (is_zstd ? ZSTD_isError(done) : LZ4F_isError(done)) /* there is nothing else that can fail */
    return tb__no_memory(error);
  writer->packed.size = TB__MCAP_ROOM + done;
  return TB_OK;
}

static int compare_entries(const void *a, const void *b)
{
  const tb__mcap_entry_t *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static void sort_entries(tb__mcap_track_t *track)
{
  for (size_t i = 1; i < track->entry_count; i++) {
    if (track->entries[i].time_ns >= track->entries[i - 1].time_ns) continue;
    qsort(track->entries, track->entry_count, sizeof *track->entries, compare_entries);
    return;
  }
}

static void put_message_index(uint8_t **out, uint16_t channel, tb__mcap_track_t *track)
{
  size_t size = ENTRY_SIZE * track->entry_count;
  sort_entries(track);
  tb__mcap_put_head(out, TB__MCAP_MESSAGE_INDEX, 6 + size);
  tb__mcap_put_u16(out, channel);
  tb__mcap_put_u32(out, (uint32_t)size);
  for (size_t i = 0; i < track->entry_count; i++) {
    tb__mcap_put_u64(out, track->entries[i].time_ns);
    tb__mcap_put_u64(out, track->entries[i].offset);
  }
}

static size_t index_size(const tb__mcap_writer_t *writer)
{
  size_t size = 0;
  for (size_t i = 0; i < writer->chunk_channel_count; i++)
    size += TB__MCAP_HEAD_SIZE + 6 +
            ENTRY_SIZE * writer->tracks[writer->chunk_channels[i]]->entry_count;
  return size;
}

/* In the room in front of the records; returns how much of it is used. */
static size_t put_chunk_head(const tb__mcap_writer_t *writer, uint8_t *records, size_t stored)
{
  const char *name = compression_name(writer->compression);
  size_t head = TB__MCAP_HEAD_SIZE + TB__MCAP_CHUNK_SIZE + strlen(name);
  uint8_t *out = records - head;
  tb__mcap_put_head(&out, TB__MCAP_CHUNK, head - TB__MCAP_HEAD_SIZE + stored);
  tb__mcap_put_u64(&out, writer->chunk_start_ns);
  tb__mcap_put_u64(&out, writer->chunk_end_ns);
  tb__mcap_put_u64(&out, writer->summed - TB__MCAP_ROOM);
  tb__mcap_put_u32(&out, writer->chunk_crc);
  tb__mcap_put_text(&out, tb__mcap_text(name));
  tb__mcap_put_u64(&out, stored);
  return head;
}

static void put_chunk_index(const tb__mcap_writer_t *writer, uint8_t *out, size_t length,
                            size_t head, size_t stored, size_t indexes)
{
  const char *name = compression_name(writer->compression);
  uint64_t at = writer->position + head + stored;
  tb__mcap_put_head(&out, TB__MCAP_CHUNK_INDEX, length - TB__MCAP_HEAD_SIZE);
  tb__mcap_put_u64(&out, writer->chunk_start_ns);
  tb__mcap_put_u64(&out, writer->chunk_end_ns);
  tb__mcap_put_u64(&out, writer->position);
  tb__mcap_put_u64(&out, head + stored);
  tb__mcap_put_u32(&out, (uint32_t)(10 * writer->chunk_channel_count));
  for (size_t i = 0; i < writer->chunk_channel_count; i++) {
    uint16_t channel = writer->chunk_channels[i];
    tb__mcap_put_u16(&out, channel);
    tb__mcap_put_u64(&out, at);
    at += TB__MCAP_HEAD_SIZE + 6 + ENTRY_SIZE * writer->tracks[channel]->entry_count;
  }
  tb__mcap_put_u64(&out, indexes);
  tb__mcap_put_text(&out, tb__mcap_text(name));
  tb__mcap_put_u64(&out, stored);
  tb__mcap_put_u64(&out, writer->summed - TB__MCAP_ROOM);
}

tb_status_t tb__mcap_pack_chunk(tb__mcap_writer_t *writer, tb__mcap_packed_t *out,
                                tb_error_t *error)
{
  bool raw = writer->compression == TB__BAG_OUTPUT_NONE;
  tb__mcap_bytes_t *bytes = raw ? &writer->chunk : &writer->packed;
  tb__mcap_sum_chunk(writer);
  tb_status_t status = raw ? TB_OK : compress(writer, error);
  if (status) return status;
  size_t stored = bytes->size - TB__MCAP_ROOM, indexes = index_size(writer);
  size_t name = strlen(compression_name(writer->compression));
  size_t entry = TB__MCAP_HEAD_SIZE + 64 + name + 10 * writer->chunk_channel_count;
  uint8_t *index = tb__mcap_bytes_add(&writer->chunk_index, entry);
  uint8_t *end = index ? tb__mcap_bytes_add(bytes, indexes) : NULL;
  if (index && !end) writer->chunk_index.size -= entry;
  if (!end) return tb__no_memory(error);
  for (size_t i = 0; i < writer->chunk_channel_count; i++)
    put_message_index(&end, writer->chunk_channels[i], writer->tracks[writer->chunk_channels[i]]);
  uint8_t *records = bytes->at + TB__MCAP_ROOM;
  size_t head = put_chunk_head(writer, records, stored);
  put_chunk_index(writer, index, entry, head, stored, indexes);
  uint32_t crc = libdeflate_crc32(writer->crc, records - head, head);
  crc = raw ? tb__mcap_crc_join(crc, writer->chunk_crc, stored)
            : libdeflate_crc32(crc, records, stored);
  *out = (tb__mcap_packed_t){.bytes = records - head,
                             .size = head + stored + indexes,
                             .crc = libdeflate_crc32(crc, records + stored, indexes),
                             .index_size = entry};
  return TB_OK;
}

void tb__mcap_unpack_chunk(tb__mcap_writer_t *writer, const tb__mcap_packed_t *packed)
{
  writer->chunk_index.size -= packed->index_size;
  writer->chunk.size = writer->summed;
}
