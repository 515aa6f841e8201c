/* rosbag of C++ (librosbag-dev). */
#ifndef TB_BENCH_ROS1_VIEW_H
#define TB_BENCH_ROS1_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads every byte, eight at a time, so that this is little of what is measured. */
static inline uint64_t bench_touch(const uint8_t *bytes, size_t size)
{
  uint64_t sum = 0, word = 0;
  size_t at = 0;
  for (; at + sizeof word <= size; at += sizeof word) {
    memcpy(&word, bytes + at, sizeof word);
    sum += word;
  }
  for (; at < size; at++)
    sum += bytes[at];
  return sum;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Reads all messages of a bag, and adds up their bytes. The number of messages; -1: it failed. */
int64_t bench_ros1_view(const char *path, uint64_t *out_sum);

#ifdef __cplusplus
}
#endif

#endif
