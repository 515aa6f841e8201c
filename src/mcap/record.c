#include "mcap/record.h"

#include <endian.h>
#include <string.h>

const uint8_t *tb__mcap_take(tb__mcap_cursor_t *cursor, uint64_t size)
{
  if (cursor->failed || size > cursor->left) {
    cursor->failed = true;
    cursor->left = 0;
    return NULL;
  }
  const uint8_t *taken = cursor->at;
  cursor->at += size;
  cursor->left -= (size_t)size;
  return taken;
}

uint16_t tb__mcap_take_u16(tb__mcap_cursor_t *cursor)
{
  uint16_t value = 0;
  const uint8_t *bytes = tb__mcap_take(cursor, sizeof value);
  if (bytes) memcpy(&value, bytes, sizeof value);
  return le16toh(value);
}

uint32_t tb__mcap_take_u32(tb__mcap_cursor_t *cursor)
{
  uint32_t value = 0;
  const uint8_t *bytes = tb__mcap_take(cursor, sizeof value);
  if (bytes) memcpy(&value, bytes, sizeof value);
  return le32toh(value);
}

uint64_t tb__mcap_take_u64(tb__mcap_cursor_t *cursor)
{
  uint64_t value = 0;
  const uint8_t *bytes = tb__mcap_take(cursor, sizeof value);
  if (bytes) memcpy(&value, bytes, sizeof value);
  return le64toh(value);
}

tb__mcap_text_t tb__mcap_take_text(tb__mcap_cursor_t *cursor)
{
  uint32_t size = tb__mcap_take_u32(cursor);
  const uint8_t *bytes = tb__mcap_take(cursor, size);
  return bytes ? (tb__mcap_text_t){(const char *)bytes, size} : (tb__mcap_text_t){"", 0};
}

tb__mcap_cursor_t tb__mcap_take_map(tb__mcap_cursor_t *cursor)
{
  tb__mcap_text_t bytes = tb__mcap_take_text(cursor);
  return tb__mcap_cursor(bytes.at, bytes.size);
}

bool tb__mcap_take_pair(tb__mcap_cursor_t *map, tb__mcap_text_t *key, tb__mcap_text_t *value)
{
  if (map->left == 0) return false;
  *key = tb__mcap_take_text(map);
  *value = tb__mcap_take_text(map);
  return !map->failed;
}

bool tb__mcap_text_equals(tb__mcap_text_t text, const char *other)
{
  return strlen(other) == text.size && memcmp(text.at, other, text.size) == 0;
}

static bool is_map_of_texts(tb__mcap_cursor_t map)
{
  tb__mcap_text_t key, value;
  while (tb__mcap_take_pair(&map, &key, &value))
    ;
  return !map.failed;
}

bool tb__mcap_parse_schema(const void *content, size_t size, tb__mcap_schema_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->id = tb__mcap_take_u16(&cursor);
  out->name = tb__mcap_take_text(&cursor);
  out->encoding = tb__mcap_take_text(&cursor);
  out->data = tb__mcap_take_text(&cursor);
  return !cursor.failed;
}

bool tb__mcap_parse_channel(const void *content, size_t size, tb__mcap_channel_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->id = tb__mcap_take_u16(&cursor);
  out->schema_id = tb__mcap_take_u16(&cursor);
  out->topic = tb__mcap_take_text(&cursor);
  out->encoding = tb__mcap_take_text(&cursor);
  out->metadata = tb__mcap_take_map(&cursor);
  return !cursor.failed && is_map_of_texts(out->metadata);
}

bool tb__mcap_parse_message(const void *content, size_t size, tb__mcap_message_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->channel_id = tb__mcap_take_u16(&cursor);
  out->sequence = tb__mcap_take_u32(&cursor);
  out->log_time_ns = tb__mcap_take_u64(&cursor);
  out->publish_time_ns = tb__mcap_take_u64(&cursor);
  out->data = cursor.at;
  out->size = cursor.left;
  return !cursor.failed;
}

bool tb__mcap_is_metadata(const void *content, size_t size)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  tb__mcap_take_text(&cursor);
  tb__mcap_cursor_t map = tb__mcap_take_map(&cursor);
  return !cursor.failed && is_map_of_texts(map);
}

bool tb__mcap_is_named(const void *content, size_t size, const char *name)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  return tb__mcap_text_equals(tb__mcap_take_text(&cursor), name);
}

bool tb__mcap_is_own_metadata(const void *content, size_t size)
{
  return tb__mcap_is_named(content, size, TB__MCAP_ROSBAG2) ||
         tb__mcap_is_named(content, size, TB__MCAP_NOTES);
}

static tb__mcap_compression_t compression_of(tb__mcap_text_t name)
{
  if (name.size == 0) return TB__MCAP_NONE;
  if (tb__mcap_text_equals(name, "zstd")) return TB__MCAP_ZSTD;
  if (tb__mcap_text_equals(name, "lz4")) return TB__MCAP_LZ4;
  return TB__MCAP_OTHER;
}

bool tb__mcap_parse_chunk(const void *content, size_t size, uint64_t length, tb__mcap_chunk_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->start_ns = tb__mcap_take_u64(&cursor);
  out->end_ns = tb__mcap_take_u64(&cursor);
  out->size = tb__mcap_take_u64(&cursor);
  out->crc = tb__mcap_take_u32(&cursor);
  tb__mcap_text_t name = tb__mcap_take_text(&cursor);
  out->compression = compression_of(name);
  out->stored_size = tb__mcap_take_u64(&cursor);
  out->head_size = TB__MCAP_CHUNK_SIZE + name.size;
  out->length = length;
  out->is_doubtful = false;
  return !cursor.failed && out->head_size <= length && out->stored_size <= length - out->head_size;
}

bool tb__mcap_parse_attachment(const void *content, size_t size, uint64_t length,
                               tb__mcap_attachment_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->log_time_ns = tb__mcap_take_u64(&cursor);
  out->create_time_ns = tb__mcap_take_u64(&cursor);
  out->name = tb__mcap_take_text(&cursor);
  out->media_type = tb__mcap_take_text(&cursor);
  out->size = tb__mcap_take_u64(&cursor);
  out->head_size = size - cursor.left;
  return !cursor.failed && out->head_size + 4 <= length && out->size <= length - out->head_size - 4;
}

bool tb__mcap_parse_chunk_index(const void *content, size_t size, tb__mcap_chunk_index_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->start_ns = tb__mcap_take_u64(&cursor);
  out->end_ns = tb__mcap_take_u64(&cursor);
  out->offset = tb__mcap_take_u64(&cursor);
  out->length = tb__mcap_take_u64(&cursor);
  tb__mcap_cursor_t map = tb__mcap_take_map(&cursor);
  size_t map_size = map.left;
  out->offsets = map.at;
  out->channel_count = (uint32_t)(map_size / 10);
  out->index_length = tb__mcap_take_u64(&cursor);
  tb__mcap_take_text(&cursor);
  out->stored_size = tb__mcap_take_u64(&cursor);
  out->size = tb__mcap_take_u64(&cursor);
  return !cursor.failed && map_size % 10 == 0;
}

const char *tb__mcap_compression_name(tb__mcap_compression_t compression)
{
  static const char *const names[] = {[TB__MCAP_NONE] = NULL,
                                      [TB__MCAP_ZSTD] = "zstd",
                                      [TB__MCAP_LZ4] = "lz4",
                                      [TB__MCAP_OTHER] = NULL};
  return names[compression];
}

bool tb__mcap_parse_statistics(const void *content, size_t size, tb__mcap_statistics_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->message_count = tb__mcap_take_u64(&cursor);
  tb__mcap_take_u16(&cursor);
  out->channel_count = tb__mcap_take_u32(&cursor);
  out->attachment_count = tb__mcap_take_u32(&cursor);
  out->metadata_count = tb__mcap_take_u32(&cursor);
  out->chunk_count = tb__mcap_take_u32(&cursor);
  out->start_ns = tb__mcap_take_u64(&cursor);
  out->end_ns = tb__mcap_take_u64(&cursor);
  out->counts = tb__mcap_take_map(&cursor);
  return !cursor.failed && out->counts.left % 10 == 0;
}

bool tb__mcap_parse_footer(const void *content, size_t size, tb__mcap_footer_t *out)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  out->summary_start = tb__mcap_take_u64(&cursor);
  out->offsets_start = tb__mcap_take_u64(&cursor);
  out->crc = tb__mcap_take_u32(&cursor);
  return !cursor.failed && cursor.left == 0;
}

void tb__mcap_put_text(uint8_t **out, tb__mcap_text_t text)
{
  tb__mcap_put_u32(out, (uint32_t)text.size);
  if (text.size) memcpy(*out, text.at, text.size);
  *out += text.size;
}

void tb__mcap_put_magic(uint8_t **out)
{
  for (size_t i = 0; i < TB__MCAP_MAGIC_SIZE; i++)
    tb__mcap_put_u8(out, (uint8_t)TB__MCAP_MAGIC[i]);
}

tb__mcap_text_t tb__mcap_text(const char *text)
{
  return (tb__mcap_text_t){text, strlen(text)};
}
