/* Records of a ROS 1 bag as they are written. */
#ifndef TB_ROSBAG1_BYTES_H
#define TB_ROSBAG1_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/buffer.h"

/* What is put into it is at its end. After a failure nothing more is, and `failed` is set. */
typedef struct tb__rosbag1_bytes {
  tb__bag_buffer_t buffer;
  size_t size;
  bool failed; /* out of memory */
} tb__rosbag1_bytes_t;

void tb__rosbag1_put(tb__rosbag1_bytes_t *out, const void *bytes, size_t size);
void tb__rosbag1_put_u32(tb__rosbag1_bytes_t *out, uint32_t value);
/* Seconds and nanoseconds; `time_ns` is at most 2^32 s. */
void tb__rosbag1_put_time(tb__rosbag1_bytes_t *out, uint64_t time_ns);

/* A record: begin, the fields of its header, end_header, its data, end. At most one at a time. */
void tb__rosbag1_begin_header(tb__rosbag1_bytes_t *out, size_t *begin);
void tb__rosbag1_end_header(tb__rosbag1_bytes_t *out, size_t begin, uint32_t data_size);
void tb__rosbag1_field_put(tb__rosbag1_bytes_t *out, const char *name, const void *value,
                           size_t size);
void tb__rosbag1_field_put_text(tb__rosbag1_bytes_t *out, const char *name, const char *value);
void tb__rosbag1_field_put_u8(tb__rosbag1_bytes_t *out, const char *name, uint8_t value);
void tb__rosbag1_field_put_u32(tb__rosbag1_bytes_t *out, const char *name, uint32_t value);
void tb__rosbag1_field_put_u64(tb__rosbag1_bytes_t *out, const char *name, uint64_t value);
void tb__rosbag1_field_put_time(tb__rosbag1_bytes_t *out, const char *name, uint64_t time_ns);

void tb__rosbag1_bytes_fini(tb__rosbag1_bytes_t *bytes);

#endif
