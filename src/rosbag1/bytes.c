#include "rosbag1/bytes.h"

#include <endian.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define FIRST    4096

void tb__rosbag1_bytes_fini(tb__rosbag1_bytes_t *bytes)
{
  tb__bag_buffer_fini(&bytes->buffer);
  *bytes = (tb__rosbag1_bytes_t){0};
}

void tb__rosbag1_put(tb__rosbag1_bytes_t *out, const void *bytes, size_t size)
{
  size_t wanted = out->size + size;
  if (!out->failed && wanted > out->buffer.capacity) {
    size_t more = 2 * out->buffer.capacity > wanted ? 2 * out->buffer.capacity : wanted;
    out->failed = tb__bag_buffer_grow(&out->buffer, more < FIRST ? FIRST : more, NULL) != TB_OK;
  }
  if (out->failed || size == 0) return;
  memcpy(out->buffer.bytes + out->size, bytes, size);
  out->size = wanted;
}

void tb__rosbag1_put_u32(tb__rosbag1_bytes_t *out, uint32_t value)
{
  uint32_t little = htole32(value);
  tb__rosbag1_put(out, &little, sizeof little);
}

void tb__rosbag1_put_time(tb__rosbag1_bytes_t *out, uint64_t time_ns)
{
  tb__rosbag1_put_u32(out, (uint32_t)(time_ns / NS_PER_S));
  tb__rosbag1_put_u32(out, (uint32_t)(time_ns % NS_PER_S));
}

void tb__rosbag1_begin_header(tb__rosbag1_bytes_t *out, size_t *begin)
{
  *begin = out->size;
  tb__rosbag1_put_u32(out, 0);
}

void tb__rosbag1_end_header(tb__rosbag1_bytes_t *out, size_t begin, uint32_t data_size)
{
  if (out->failed) return;
  uint32_t size = htole32((uint32_t)(out->size - begin - 4));
  memcpy(out->buffer.bytes + begin, &size, sizeof size);
  tb__rosbag1_put_u32(out, data_size);
}

void tb__rosbag1_field_put(tb__rosbag1_bytes_t *out, const char *name, const void *value,
                           size_t size)
{
  size_t length = strlen(name);
  tb__rosbag1_put_u32(out, (uint32_t)(length + 1 + size));
  tb__rosbag1_put(out, name, length);
  tb__rosbag1_put(out, "=", 1);
  tb__rosbag1_put(out, value, size);
}

void tb__rosbag1_field_put_text(tb__rosbag1_bytes_t *out, const char *name, const char *value)
{
  tb__rosbag1_field_put(out, name, value, strlen(value));
}

void tb__rosbag1_field_put_u8(tb__rosbag1_bytes_t *out, const char *name, uint8_t value)
{
  tb__rosbag1_field_put(out, name, &value, sizeof value);
}

void tb__rosbag1_field_put_u32(tb__rosbag1_bytes_t *out, const char *name, uint32_t value)
{
  uint32_t little = htole32(value);
  tb__rosbag1_field_put(out, name, &little, sizeof little);
}

void tb__rosbag1_field_put_u64(tb__rosbag1_bytes_t *out, const char *name, uint64_t value)
{
  uint64_t little = htole64(value);
  tb__rosbag1_field_put(out, name, &little, sizeof little);
}

void tb__rosbag1_field_put_time(tb__rosbag1_bytes_t *out, const char *name, uint64_t time_ns)
{
  uint32_t parts[2] = {htole32((uint32_t)(time_ns / NS_PER_S)),
                       htole32((uint32_t)(time_ns % NS_PER_S))};
  tb__rosbag1_field_put(out, name, parts, sizeof parts);
}
