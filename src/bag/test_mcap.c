#include "bag/test_mcap.h"

#include <libdeflate.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "bag/test_bag.h"
#include "test.h"

static uint8_t *extend(tb__test_bytes_t *bytes, size_t size)
{
  if (bytes->size + size > bytes->capacity) {
    bytes->capacity = 2 * (bytes->size + size);
    bytes->bytes = realloc(bytes->bytes, bytes->capacity);
    assert_non_null(bytes->bytes);
  }
  bytes->size += size;
  return bytes->bytes + bytes->size - size;
}

static void add_record(tb__test_bytes_t *to, uint8_t opcode, const void *content, size_t size)
{
  uint8_t *out = extend(to, TB__MCAP_HEAD_SIZE + size);
  tb__mcap_put_head(&out, opcode, size);
  if (size) memcpy(out, content, size);
}

static tb__test_bytes_t *place(tb__test_mcap_t *mcap)
{
  return mcap->in_chunk ? &mcap->chunk : &mcap->file;
}

void tb__test_mcap_begin(tb__test_mcap_t *mcap)
{
  uint8_t content[64], *out = content;
  uint8_t *magic = extend(&mcap->file, TB__MCAP_MAGIC_SIZE);
  tb__mcap_put_magic(&magic);
  tb__mcap_put_text(&out, tb__mcap_text("ros2"));
  tb__mcap_put_text(&out, tb__mcap_text("test"));
  add_record(&mcap->file, TB__MCAP_HEADER, content, (size_t)(out - content));
}

void tb__test_mcap_channel(tb__test_mcap_t *mcap, uint16_t id, const char *topic, const char *type)
{
  uint8_t content[512], *out = content;
  tb__mcap_put_u16(&out, id);
  tb__mcap_put_text(&out, tb__mcap_text(type));
  tb__mcap_put_text(&out, tb__mcap_text("ros2msg"));
  tb__mcap_put_text(&out, tb__mcap_text("string data\n"));
  add_record(place(mcap), TB__MCAP_SCHEMA, content, (size_t)(out - content));
  add_record(&mcap->definitions, TB__MCAP_SCHEMA, content, (size_t)(out - content));
  out = content;
  tb__mcap_put_u16(&out, id);
  tb__mcap_put_u16(&out, id);
  tb__mcap_put_text(&out, tb__mcap_text(topic));
  tb__mcap_put_text(&out, tb__mcap_text("cdr"));
  uint8_t map[256], *end = map;
  tb__mcap_put_text(&end, tb__mcap_text("topic_type_hash"));
  tb__mcap_put_text(&end, tb__mcap_text("RIHS01_00"));
  tb__mcap_put_text(&end, tb__mcap_text("offered_qos_profiles"));
  tb__mcap_put_text(&end, tb__mcap_text("- durability: 1\n  reliability: 1\n"));
  tb__mcap_put_text(&out, (tb__mcap_text_t){(const char *)map, (size_t)(end - map)});
  add_record(place(mcap), TB__MCAP_CHANNEL, content, (size_t)(out - content));
  add_record(&mcap->definitions, TB__MCAP_CHANNEL, content, (size_t)(out - content));
  mcap->channels++;
}

static uint64_t sum_of(const uint64_t *counts)
{
  uint64_t sum = 0;
  for (int i = 0; i < 16; i++)
    sum += counts[i];
  return sum;
}

void tb__test_mcap_message(tb__test_mcap_t *mcap, uint16_t channel, uint64_t log_time_ns,
                           const void *data, size_t size)
{
  bool first = sum_of(mcap->counts) == 0, first_here = sum_of(mcap->chunk_counts) == 0;
  uint8_t *out = extend(place(mcap), TB__MCAP_HEAD_SIZE + TB__MCAP_MESSAGE_SIZE + size);
  tb__mcap_put_head(&out, TB__MCAP_MESSAGE, TB__MCAP_MESSAGE_SIZE + size);
  tb__mcap_put_u16(&out, channel);
  tb__mcap_put_u32(&out, 7);
  tb__mcap_put_u64(&out, log_time_ns);
  tb__mcap_put_u64(&out, log_time_ns + 5);
  memcpy(out, data, size);
  if (first || log_time_ns < mcap->start_ns) mcap->start_ns = log_time_ns;
  if (first || log_time_ns > mcap->end_ns) mcap->end_ns = log_time_ns;
  if (first_here || log_time_ns < mcap->chunk_start_ns) mcap->chunk_start_ns = log_time_ns;
  if (first_here || log_time_ns > mcap->chunk_end_ns) mcap->chunk_end_ns = log_time_ns;
  mcap->counts[channel]++;
  if (mcap->in_chunk) mcap->chunk_counts[channel]++;
}

void tb__test_mcap_chunk_begin(tb__test_mcap_t *mcap, tb__mcap_compression_t compression)
{
  mcap->in_chunk = true;
  mcap->compression = compression;
  mcap->chunk.size = 0;
  mcap->chunk_start_ns = mcap->chunk_end_ns = 0;
  memset(mcap->chunk_counts, 0, sizeof mcap->chunk_counts);
}

static size_t compress_chunk(const tb__test_mcap_t *mcap, uint8_t **out)
{
  size_t size = mcap->chunk.size, bound = ZSTD_compressBound(size);
  if (LZ4F_compressFrameBound(size, NULL) > bound) bound = LZ4F_compressFrameBound(size, NULL);
  *out = malloc(bound);
  assert_non_null(*out);
  if (mcap->compression == TB__MCAP_ZSTD)
    return ZSTD_compress(*out, bound, mcap->chunk.bytes, size, 1);
  if (mcap->compression == TB__MCAP_LZ4)
    return LZ4F_compressFrame(*out, bound, mcap->chunk.bytes, size, NULL);
  if (size) memcpy(*out, mcap->chunk.bytes, size);
  return size;
}

static bool has_index(const tb__test_mcap_t *mcap, uint16_t id)
{
  return mcap->chunk_counts[id] > 0 && !mcap->has_no_indexes;
}

/* Its times and offsets are not looked at by the reader. */
static void add_message_indexes(tb__test_mcap_t *mcap)
{
  for (uint16_t id = 0; id < 16; id++) {
    if (!has_index(mcap, id)) continue;
    size_t size = 16 * (size_t)mcap->chunk_counts[id];
    uint8_t *out = extend(&mcap->file, TB__MCAP_HEAD_SIZE + 6 + size);
    tb__mcap_put_head(&out, TB__MCAP_MESSAGE_INDEX, 6 + size);
    tb__mcap_put_u16(&out, id);
    tb__mcap_put_u32(&out, (uint32_t)size);
    memset(out, 0, size);
  }
}

static void add_chunk_index(tb__test_mcap_t *mcap, size_t chunk, size_t indexes, size_t stored)
{
  uint8_t content[1024], *out = content;
  unsigned channels = 0;
  uint64_t place = indexes;
  tb__mcap_put_u64(&out, mcap->chunk_start_ns);
  tb__mcap_put_u64(&out, mcap->chunk_end_ns);
  tb__mcap_put_u64(&out, chunk);
  tb__mcap_put_u64(&out, indexes - chunk);
  for (uint16_t id = 0; id < 16; id++)
    channels += has_index(mcap, id);
  tb__mcap_put_u32(&out, 10 * channels);
  for (uint16_t id = 0; id < 16; id++) {
    if (!has_index(mcap, id)) continue;
    tb__mcap_put_u16(&out, id);
    tb__mcap_put_u64(&out, place);
    place += TB__MCAP_HEAD_SIZE + 6 + 16 * mcap->chunk_counts[id];
  }
  tb__mcap_put_u64(&out, mcap->file.size - indexes);
  tb__mcap_put_text(&out, tb__mcap_text(""));
  tb__mcap_put_u64(&out, stored);
  tb__mcap_put_u64(&out, mcap->chunk.size);
  add_record(&mcap->chunk_index, TB__MCAP_CHUNK_INDEX, content, (size_t)(out - content));
}

void tb__test_mcap_chunk_end(tb__test_mcap_t *mcap)
{
  static const char *const names[] = {"", "zstd", "lz4", "other"};
  uint8_t *stored, *out;
  size_t size = compress_chunk(mcap, &stored), start = mcap->file.size;
  const char *name = names[mcap->compression];
  size_t length = TB__MCAP_CHUNK_SIZE + strlen(name) + size;
  if (mcap->lies_about_times) mcap->chunk_start_ns++;
  mcap->lies_about_times = false;
  out = extend(&mcap->file, TB__MCAP_HEAD_SIZE + length);
  tb__mcap_put_head(&out, TB__MCAP_CHUNK, length);
  tb__mcap_put_u64(&out, mcap->chunk_start_ns);
  tb__mcap_put_u64(&out, mcap->chunk_end_ns);
  tb__mcap_put_u64(&out, mcap->chunk.size);
  tb__mcap_put_u32(&out, libdeflate_crc32(0, mcap->chunk.bytes, mcap->chunk.size));
  tb__mcap_put_text(&out, tb__mcap_text(name));
  tb__mcap_put_u64(&out, size);
  if (size) memcpy(out, stored, size);
  free(stored);
  size_t indexes = mcap->file.size;
  add_message_indexes(mcap);
  add_chunk_index(mcap, start, indexes, size);
  mcap->chunks++;
  mcap->in_chunk = false;
}

void tb__test_mcap_attachment(tb__test_mcap_t *mcap, const char *name, const char *data)
{
  size_t size = strlen(data), length = 16 + 4 + strlen(name) + 4 + 8 + size + 4;
  uint8_t *out = extend(&mcap->file, TB__MCAP_HEAD_SIZE + length);
  tb__mcap_put_head(&out, TB__MCAP_ATTACHMENT, length);
  const uint8_t *content = out;
  tb__mcap_put_u64(&out, 1);
  tb__mcap_put_u64(&out, 2);
  tb__mcap_put_text(&out, tb__mcap_text(name));
  tb__mcap_put_text(&out, tb__mcap_text(""));
  tb__mcap_put_u64(&out, size);
  for (size_t i = 0; i < size; i++)
    tb__mcap_put_u8(&out, (uint8_t)data[i]);
  tb__mcap_put_u32(&out, libdeflate_crc32(0, content, length - 4));
  mcap->attachments++;
}

void tb__test_mcap_metadata(tb__test_mcap_t *mcap, const char *name, const char *key,
                            const char *value)
{
  uint8_t content[1024], map[900], *out = content, *end = map;
  size_t start = mcap->file.size;
  tb__mcap_put_text(&end, tb__mcap_text(key));
  tb__mcap_put_text(&end, tb__mcap_text(value));
  tb__mcap_put_text(&out, tb__mcap_text(name));
  tb__mcap_put_text(&out, (tb__mcap_text_t){(const char *)map, (size_t)(end - map)});
  add_record(&mcap->file, TB__MCAP_METADATA, content, (size_t)(out - content));
  out = content;
  tb__mcap_put_u64(&out, start);
  tb__mcap_put_u64(&out, mcap->file.size - start);
  tb__mcap_put_text(&out, tb__mcap_text(name));
  add_record(&mcap->metadata_index, TB__MCAP_METADATA_INDEX, content, (size_t)(out - content));
  mcap->metadata++;
}

static void add_statistics(tb__test_mcap_t *mcap)
{
  uint8_t content[512], *out = content;
  tb__mcap_put_u64(&out, sum_of(mcap->counts));
  tb__mcap_put_u16(&out, (uint16_t)mcap->channels);
  tb__mcap_put_u32(&out, mcap->channels);
  tb__mcap_put_u32(&out, mcap->attachments);
  tb__mcap_put_u32(&out, mcap->metadata);
  tb__mcap_put_u32(&out, mcap->chunks);
  tb__mcap_put_u64(&out, mcap->claims_start_0 ? 0 : mcap->start_ns);
  tb__mcap_put_u64(&out, mcap->end_ns);
  uint16_t ids = mcap->counts_no_channels ? 0 : 16;
  tb__mcap_put_u32(&out, 10 * (uint32_t)ids);
  for (uint16_t id = 0; id < ids; id++) {
    tb__mcap_put_u16(&out, id);
    tb__mcap_put_u64(&out, mcap->counts[id]);
  }
  add_record(&mcap->file, TB__MCAP_STATISTICS, content, (size_t)(out - content));
}

static void append(tb__test_bytes_t *to, const tb__test_bytes_t *from)
{
  if (from->size) memcpy(extend(to, from->size), from->bytes, from->size);
}

void tb__test_mcap_end(tb__test_mcap_t *mcap, bool with_summary)
{
  uint8_t content[16], *out = content;
  tb__mcap_put_u32(&out, libdeflate_crc32(0, mcap->file.bytes, mcap->file.size));
  add_record(&mcap->file, TB__MCAP_DATA_END, content, 4);
  size_t start = mcap->file.size;
  if (with_summary) {
    append(&mcap->file, &mcap->definitions);
    add_statistics(mcap);
    append(&mcap->file, &mcap->chunk_index);
    append(&mcap->file, &mcap->metadata_index);
  }
  out = extend(&mcap->file, TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE + TB__MCAP_MAGIC_SIZE);
  tb__mcap_put_head(&out, TB__MCAP_FOOTER, TB__MCAP_FOOTER_SIZE);
  tb__mcap_put_u64(&out, with_summary ? start : 0);
  tb__mcap_put_u64(&out, 0);
  size_t summed = (size_t)(out - mcap->file.bytes) - start;
  tb__mcap_put_u32(&out, libdeflate_crc32(0, mcap->file.bytes + start, summed));
  tb__mcap_put_magic(&out);
}

void tb__test_mcap_save(const tb__test_mcap_t *mcap, const char *path)
{
  tb__test_write(path, mcap->file.bytes, mcap->file.size);
}

void tb__test_mcap_fini(tb__test_mcap_t *mcap)
{
  free(mcap->file.bytes);
  free(mcap->chunk.bytes);
  free(mcap->definitions.bytes);
  free(mcap->chunk_index.bytes);
  free(mcap->metadata_index.bytes);
  *mcap = (tb__test_mcap_t){0};
}
