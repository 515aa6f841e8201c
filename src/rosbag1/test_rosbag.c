#include "rosbag1/test_rosbag.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#define NS_PER_S UINT64_C(1000000000)

static void check(bool holds)
{
  assert_true(holds);
}

static void put(tb__test_bytes_t *out, const void *bytes, size_t size)
{
  check(size <= sizeof out->at - out->size);
  if (size > 0) memcpy(out->at + out->size, bytes, size);
  out->size += size;
}

static void put_u32(tb__test_bytes_t *out, size_t value)
{
  uint8_t bytes[4];
  for (int i = 0; i < 4; i++)
    bytes[i] = (uint8_t)(value >> 8 * i);
  put(out, bytes, sizeof bytes);
}

static void put_fields(tb__test_bytes_t *out, const tb__test_field_t *fields)
{
  for (; fields->size > 0; fields++) {
    put_u32(out, strlen(fields->name) + 1 + fields->size);
    put(out, fields->name, strlen(fields->name));
    put(out, "=", 1);
    put(out, fields->at, fields->size);
  }
}

void tb__test_rosbag_record(tb__test_bytes_t *out, const tb__test_field_t *fields, const void *data,
                            size_t size)
{
  size_t begin = out->size;
  put_u32(out, 0);
  put_fields(out, fields);
  tb__test_bytes_t length = {.size = 0};
  put_u32(&length, out->size - begin - 4);
  memcpy(out->at + begin, length.at, 4);
  put_u32(out, size);
  put(out, data, size);
}

#define FIELD_TEXT(name, text)                                                                     \
  {                                                                                                \
    name, text, strlen(text)                                                                       \
  }
#define FIELD(name, value)                                                                         \
  {                                                                                                \
    name, &(value), sizeof(value)                                                                  \
  }
#define FIELDS_END                                                                                 \
  {                                                                                                \
    NULL, NULL, 0                                                                                  \
  }

static void put_time(uint8_t out[8], uint64_t time_ns)
{
  uint32_t parts[2] = {(uint32_t)(time_ns / NS_PER_S), (uint32_t)(time_ns % NS_PER_S)};
  memcpy(out, parts, sizeof parts); /* tests run on little endian */
}

static void file_header(tb__test_rosbag_t *bag, tb__test_bytes_t *out, uint64_t index_pos)
{
  char version[32];
  const uint8_t op = 3;
  uint32_t connections = index_pos ? 3 : 0, chunks = index_pos ? bag->chunk_count : 0;
  chunks += bag->more_chunks;
  const char *encryptor = bag->encryptor ? bag->encryptor : "";
  const tb__test_field_t fields[] = {
      FIELD("chunk_count", chunks),       FIELD("conn_count", connections),
      FIELD("index_pos", index_pos),      FIELD("op", op),
      FIELD_TEXT("encryptor", encryptor), FIELDS_END};
  snprintf(version, sizeof version, "#ROSBAG V%s\n", bag->version ? bag->version : "2.0");
  put(out, version, strlen(version));
  tb__test_rosbag_record(out, fields, "      ", 6);
}

void tb__test_rosbag_begin(tb__test_rosbag_t *bag)
{
  file_header(bag, &bag->file, 0);
}

static void put_connection(tb__test_bytes_t *out, uint32_t id)
{
  static const char definition[] = "string data\n";
  const uint8_t op = 7;
  const char *topic = id == 1 ? "/b" : "/a";
  const char *caller = id == 2 ? "/other" : "/one";
  tb__test_bytes_t described = {.size = 0};
  const tb__test_field_t inner[] = {FIELD_TEXT("callerid", caller),
                                    FIELD_TEXT("latching", id == 1 ? "1" : "0"),
                                    FIELD_TEXT("md5sum", "992ce8a1687cec8c8bd883ec73ca41d1"),
                                    FIELD_TEXT("message_definition", definition),
                                    FIELD_TEXT("topic", topic),
                                    FIELD_TEXT("type", "std_msgs/String"),
                                    FIELDS_END};
  const tb__test_field_t fields[] = {FIELD("conn", id), FIELD("op", op), FIELD_TEXT("topic", topic),
                                     FIELDS_END};
  put_fields(&described, inner);
  tb__test_rosbag_record(out, fields, described.at, described.size);
}

void tb__test_rosbag_chunk(tb__test_rosbag_t *bag, const char *compression)
{
  bag->chunk.size = 0;
  for (int id = 0; id < 3; id++)
    bag->entries[id].size = 0;
  bag->compression = compression;
  memset(bag->chunk_counts, 0, sizeof bag->chunk_counts);
  bag->start_ns = UINT64_MAX;
  bag->end_ns = 0;
}

static void add_entry(tb__test_rosbag_t *bag, uint32_t id, const uint8_t time[8], uint32_t offset)
{
  put(&bag->entries[id], time, 8);
  put_u32(&bag->entries[id], offset + bag->index_error);
}

static void put_indexes(tb__test_rosbag_t *bag)
{
  const uint8_t op = 4;
  const uint32_t version = 1;
  for (uint32_t id = 0; id < 3; id++) {
    const tb__test_bytes_t *entries = &bag->entries[id];
    const uint32_t count = bag->chunk_counts[id];
    const tb__test_field_t fields[] = {FIELD("conn", id), FIELD("count", count), FIELD("op", op),
                                       FIELD("ver", version), FIELDS_END};
    if (count > 0) tb__test_rosbag_record(&bag->file, fields, entries->at, entries->size);
  }
}

void tb__test_rosbag_message(tb__test_rosbag_t *bag, uint32_t topic, uint64_t time_ns,
                             const char *text)
{
  const uint8_t op = 2;
  uint8_t time[8];
  tb__test_bytes_t payload = {.size = 0};
  if (bag->counts[topic]++ == 0) put_connection(&bag->chunk, topic);
  put_time(time, time_ns);
  add_entry(bag, topic, time, (uint32_t)bag->chunk.size);
  const tb__test_field_t fields[] = {FIELD("conn", topic), FIELD("op", op), FIELD("time", time),
                                     FIELDS_END};
  put_u32(&payload, strlen(text));
  put(&payload, text, strlen(text));
  tb__test_rosbag_record(&bag->chunk, fields, payload.at, payload.size);
  bag->chunk_counts[topic]++;
  if (time_ns < bag->start_ns) bag->start_ns = time_ns;
  if (time_ns > bag->end_ns) bag->end_ns = time_ns;
}

static void compress(const tb__test_rosbag_t *bag, tb__test_bytes_t *out)
{
  const tb__test_bytes_t *in = &bag->chunk;
  if (strcmp(bag->compression, "bz2") == 0) {
    unsigned size = sizeof out->at;
    check(BZ2_bzBuffToBuffCompress((char *)out->at, &size, (char *)(uintptr_t)in->at,
                                   (unsigned)in->size, 9, 0, 0) == BZ_OK);
    out->size = size;
  } else if (strcmp(bag->compression, "lz4") == 0) {
    const LZ4F_preferences_t as_roslz4 = {
        .frameInfo = {.blockSizeID = LZ4F_max4MB,
                      .blockMode = LZ4F_blockIndependent,
                      .contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    out->size = LZ4F_compressFrame(out->at, sizeof out->at, in->at, in->size, &as_roslz4);
    check(!LZ4F_isError(out->size));
  } else {
    put(out, in->at, in->size);
  }
}

static void put_chunk(tb__test_rosbag_t *bag, uint32_t size, const void *data, size_t data_size)
{
  const uint8_t op = 5;
  const tb__test_field_t fields[] = {FIELD_TEXT("compression", bag->compression), FIELD("op", op),
                                     FIELD("size", size), FIELDS_END};
  tb__test_rosbag_record(&bag->file, fields, data, data_size);
}

void tb__test_rosbag_end_chunk(tb__test_rosbag_t *bag)
{
  const uint8_t op = 6;
  const uint32_t version = 1;
  uint32_t counts[6], count = 0;
  uint64_t at = bag->file.size;
  uint8_t start[8], end[8];
  tb__test_bytes_t stored = {.size = 0};
  compress(bag, &stored);
  put_chunk(bag, (uint32_t)bag->chunk.size, stored.at, stored.size);
  put_indexes(bag);
  put_time(start, bag->start_ns);
  put_time(end, bag->end_ns);
  for (uint32_t id = 0; id < 3; id++) {
    if (bag->chunk_counts[id] == 0) continue;
    counts[2 * count] = id;
    counts[2 * count++ + 1] = bag->chunk_counts[id];
  }
  const tb__test_field_t fields[] = {FIELD("chunk_pos", at),
                                     FIELD("count", count),
                                     FIELD("end_time", end),
                                     FIELD("op", op),
                                     FIELD("start_time", start),
                                     FIELD("ver", version),
                                     FIELDS_END};
  tb__test_rosbag_record(&bag->infos, fields, counts, count * 8);
  bag->chunk_count++;
}

void tb__test_rosbag_leave(tb__test_rosbag_t *bag)
{
  tb__test_bytes_t stored = {.size = 0};
  compress(bag, &stored);
  put_chunk(bag, 0, NULL, 0);
  put(&bag->file, stored.at, stored.size);
}

void tb__test_rosbag_close(tb__test_rosbag_t *bag)
{
  tb__test_bytes_t head = {.size = 0};
  file_header(bag, &head, bag->file.size);
  memcpy(bag->file.at, head.at, head.size);
  for (uint32_t id = 0; id < 3; id++)
    put_connection(&bag->file, id);
  put(&bag->file, bag->infos.at, bag->infos.size);
}
