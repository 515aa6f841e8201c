/* Recordings of a few topics, made message by message, for tests and fuzz targets. */
#ifndef TB_CONTRACT_TEST_RECORDING_H
#define TB_CONTRACT_TEST_RECORDING_H

#include <string.h>

#include "contract/recording.h"

#define TB__TEST_MS INT64_C(1000000)
#define TB__TEST_S  INT64_C(1000000000)

typedef struct tb__test_cdr {
  uint8_t bytes[1024];
  size_t size;
} tb__test_cdr_t;

static inline void tb__test_cdr_begin(tb__test_cdr_t *cdr)
{
  memcpy(cdr->bytes, "\0\1\0\0", 4);
  cdr->size = 4;
}

static inline void tb__test_cdr_align(tb__test_cdr_t *cdr, size_t width)
{
  while ((cdr->size - 4) % width)
    cdr->bytes[cdr->size++] = 0;
}

static inline void tb__test_cdr_u32(tb__test_cdr_t *cdr, uint32_t value)
{
  tb__test_cdr_align(cdr, 4);
  for (int i = 0; i < 4; i++)
    cdr->bytes[cdr->size++] = (uint8_t)(value >> (8 * i));
}

static inline void tb__test_cdr_text(tb__test_cdr_t *cdr, const char *text)
{
  size_t size = strlen(text) + 1;
  tb__test_cdr_u32(cdr, (uint32_t)size);
  memcpy(cdr->bytes + cdr->size, text, size);
  cdr->size += size;
}

static inline void tb__test_cdr_zeros(tb__test_cdr_t *cdr, size_t width, size_t count)
{
  tb__test_cdr_align(cdr, width);
  memset(cdr->bytes + cdr->size, 0, width * count);
  cdr->size += width * count;
}

static inline void tb__test_cdr_time(tb__test_cdr_t *cdr, int64_t ns)
{
  tb__test_cdr_u32(cdr, (uint32_t)(ns / TB__TEST_S));
  tb__test_cdr_u32(cdr, (uint32_t)(ns % TB__TEST_S));
}

static inline void tb__test_cdr_header(tb__test_cdr_t *cdr, int64_t stamp_ns, const char *frame)
{
  tb__test_cdr_begin(cdr);
  tb__test_cdr_time(cdr, stamp_ns);
  tb__test_cdr_text(cdr, frame);
}

/* A geometry_msgs/PointStamped. */
static inline void tb__test_cdr_point(tb__test_cdr_t *cdr, int64_t stamp_ns, const char *frame)
{
  tb__test_cdr_header(cdr, stamp_ns, frame);
  tb__test_cdr_zeros(cdr, 8, 3);
}

/* A sensor_msgs/MagneticField. */
static inline void tb__test_cdr_sensor(tb__test_cdr_t *cdr, int64_t stamp_ns, const char *frame)
{
  tb__test_cdr_header(cdr, stamp_ns, frame);
  tb__test_cdr_zeros(cdr, 8, 12);
}

/* A tf2_msgs/TFMessage of one transform. */
static inline void tb__test_cdr_edge(tb__test_cdr_t *cdr, int64_t stamp_ns, const char *parent,
                                     const char *child)
{
  tb__test_cdr_begin(cdr);
  tb__test_cdr_u32(cdr, 1);
  tb__test_cdr_time(cdr, stamp_ns);
  tb__test_cdr_text(cdr, parent);
  tb__test_cdr_text(cdr, child);
  tb__test_cdr_zeros(cdr, 8, 7);
}

#endif
