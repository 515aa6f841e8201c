/* The records of MCAP: what their bytes mean. Nothing here opens a file. */
#ifndef TB_MCAP_RECORD_H
#define TB_MCAP_RECORD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TB__MCAP_MAGIC        "\x89MCAP0\r\n"
#define TB__MCAP_MAGIC_SIZE   8
#define TB__MCAP_HEAD_SIZE    9 /* opcode, length of the content */
#define TB__MCAP_FOOTER_SIZE  20
#define TB__MCAP_MESSAGE_SIZE 22 /* content of a message without data */
#define TB__MCAP_CHUNK_SIZE   40 /* content of a chunk without records and name of compression */
#define TB__MCAP_MAX_RECORD   (UINT64_C(1) << 30) /* more is taken for a bomb */

enum {
  TB__MCAP_HEADER = 0x01,
  TB__MCAP_FOOTER = 0x02,
  TB__MCAP_SCHEMA = 0x03,
  TB__MCAP_CHANNEL = 0x04,
  TB__MCAP_MESSAGE = 0x05,
  TB__MCAP_CHUNK = 0x06,
  TB__MCAP_MESSAGE_INDEX = 0x07,
  TB__MCAP_CHUNK_INDEX = 0x08,
  TB__MCAP_ATTACHMENT = 0x09,
  TB__MCAP_ATTACHMENT_INDEX = 0x0a,
  TB__MCAP_STATISTICS = 0x0b,
  TB__MCAP_METADATA = 0x0c,
  TB__MCAP_METADATA_INDEX = 0x0d,
  TB__MCAP_SUMMARY_OFFSET = 0x0e,
  TB__MCAP_DATA_END = 0x0f,
};

/* Bytes that are taken from the front. One that is not there makes all later ones 0 and empty. */
typedef struct tb__mcap_cursor {
  const uint8_t *at;
  size_t left;
  bool failed;
} tb__mcap_cursor_t;

typedef struct tb__mcap_text {
  const char *at; /* not terminated */
  size_t size;
} tb__mcap_text_t;

typedef enum tb__mcap_compression {
  TB__MCAP_NONE,
  TB__MCAP_ZSTD,
  TB__MCAP_LZ4,
  TB__MCAP_OTHER,
} tb__mcap_compression_t;

typedef struct tb__mcap_schema {
  uint16_t id;
  tb__mcap_text_t name, encoding, data;
} tb__mcap_schema_t;

typedef struct tb__mcap_channel {
  uint16_t id, schema_id;
  tb__mcap_text_t topic, encoding;
  tb__mcap_cursor_t metadata; /* for tb__mcap_take_pair */
} tb__mcap_channel_t;

typedef struct tb__mcap_message {
  uint16_t channel_id;
  uint32_t sequence;
  uint64_t log_time_ns, publish_time_ns;
  const uint8_t *data;
  size_t size;
} tb__mcap_message_t;

typedef struct tb__mcap_chunk {
  uint64_t length; /* of the content, as the record's head has it */
  uint64_t start_ns, end_ns;
  uint64_t size; /* uncompressed */
  uint32_t crc;  /* 0: none */
  tb__mcap_compression_t compression;
  uint64_t stored_size;
  size_t head_size; /* content in front of the records */
  bool is_doubtful; /* its CRC is wrong: set where it was checked */
} tb__mcap_chunk_t;

typedef struct tb__mcap_chunk_index {
  uint64_t start_ns, end_ns;
  uint64_t offset, length; /* of the record */
  uint64_t index_length;
  uint32_t channel_count; /* that have a message index */
  const uint8_t *offsets; /* of those indexes: pairs of uint16 and uint64 */
  uint64_t stored_size, size;
} tb__mcap_chunk_index_t;

typedef struct tb__mcap_statistics {
  uint64_t message_count;
  uint32_t channel_count, attachment_count, metadata_count, chunk_count;
  uint64_t start_ns, end_ns;
  tb__mcap_cursor_t counts; /* pairs of uint16 and uint64 */
} tb__mcap_statistics_t;

typedef struct tb__mcap_attachment {
  uint64_t log_time_ns, create_time_ns;
  tb__mcap_text_t name, media_type;
  uint64_t size;
  size_t head_size; /* content in front of the data */
} tb__mcap_attachment_t;

typedef struct tb__mcap_footer {
  uint64_t summary_start, offsets_start;
  uint32_t crc;
} tb__mcap_footer_t;

static inline tb__mcap_cursor_t tb__mcap_cursor(const void *bytes, size_t size)
{
  return (tb__mcap_cursor_t){bytes, size, false};
}

const uint8_t *tb__mcap_take(tb__mcap_cursor_t *cursor, uint64_t size); /* NULL: not there */
uint16_t tb__mcap_take_u16(tb__mcap_cursor_t *cursor);
uint32_t tb__mcap_take_u32(tb__mcap_cursor_t *cursor);
uint64_t tb__mcap_take_u64(tb__mcap_cursor_t *cursor);
tb__mcap_text_t tb__mcap_take_text(tb__mcap_cursor_t *cursor);
/* A map, by its length in bytes. */
tb__mcap_cursor_t tb__mcap_take_map(tb__mcap_cursor_t *cursor);
/* Of a map of texts; false after the last pair, and with map->failed when there is no whole one.
 */
bool tb__mcap_take_pair(tb__mcap_cursor_t *map, tb__mcap_text_t *key, tb__mcap_text_t *value);

/* As the format has it, static; NULL: none, or an unknown one. */
const char *tb__mcap_compression_name(tb__mcap_compression_t compression);
bool tb__mcap_text_equals(tb__mcap_text_t text, const char *other);

/* False: the content is not what the record must be. Bytes after the known fields are allowed,
 * where the format allows them. */
bool tb__mcap_parse_schema(const void *content, size_t size, tb__mcap_schema_t *out);
bool tb__mcap_parse_channel(const void *content, size_t size, tb__mcap_channel_t *out);
bool tb__mcap_parse_message(const void *content, size_t size, tb__mcap_message_t *out);
bool tb__mcap_is_metadata(const void *content, size_t size);
/* The names of records that the writer of a file makes itself: rosbag2's, with metadata.yaml, and
 * what a recording says of how it was made. */
#define TB__MCAP_ROSBAG2 "rosbag2"
#define TB__MCAP_NOTES   "timebase"
bool tb__mcap_is_named(const void *content, size_t size, const char *name);
/* One of the two. */
bool tb__mcap_is_own_metadata(const void *content, size_t size);
bool tb__mcap_parse_statistics(const void *content, size_t size, tb__mcap_statistics_t *out);
bool tb__mcap_parse_chunk_index(const void *content, size_t size, tb__mcap_chunk_index_t *out);
bool tb__mcap_parse_footer(const void *content, size_t size, tb__mcap_footer_t *out);

/* `size` bytes of a content that has `length`; what follows the head may be missing. */
bool tb__mcap_parse_chunk(const void *content, size_t size, uint64_t length, tb__mcap_chunk_t *out);
bool tb__mcap_parse_attachment(const void *content, size_t size, uint64_t length,
                               tb__mcap_attachment_t *out);

/* Little-endian at `out`, which moves past them. Here, as each message has eight. */
static inline void tb__mcap_put_u8(uint8_t **out, uint8_t value)
{
  *(*out)++ = value;
}

static inline void tb__mcap_put_u16(uint8_t **out, uint16_t value)
{
  value = htole16(value);
  memcpy(*out, &value, sizeof value);
  *out += sizeof value;
}

static inline void tb__mcap_put_u32(uint8_t **out, uint32_t value)
{
  value = htole32(value);
  memcpy(*out, &value, sizeof value);
  *out += sizeof value;
}

static inline void tb__mcap_put_u64(uint8_t **out, uint64_t value)
{
  value = htole64(value);
  memcpy(*out, &value, sizeof value);
  *out += sizeof value;
}

static inline void tb__mcap_put_head(uint8_t **out, uint8_t opcode, uint64_t length)
{
  tb__mcap_put_u8(out, opcode);
  tb__mcap_put_u64(out, length);
}

void tb__mcap_put_text(uint8_t **out, tb__mcap_text_t text);
void tb__mcap_put_magic(uint8_t **out);

tb__mcap_text_t tb__mcap_text(const char *text);

#endif
