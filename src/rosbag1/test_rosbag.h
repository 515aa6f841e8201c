/* Bags of ROS 1 made by hand, whole and wrong, for tests. */
#ifndef TB_ROSBAG1_TEST_ROSBAG_H
#define TB_ROSBAG1_TEST_ROSBAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tb__test_bytes {
  uint8_t at[16384];
  size_t size;
} tb__test_bytes_t;

typedef struct tb__test_rosbag {
  tb__test_bytes_t file, chunk, entries[3], infos;
  const char *compression; /* of the chunk that is open */
  uint32_t chunk_count, counts[4], chunk_counts[4];
  uint64_t start_ns, end_ns; /* of the chunk that is open */
  /* To be wrong with. */
  const char *version, *encryptor; /* NULL: 2.0, none */
  uint32_t more_chunks;            /* that the file header has too many */
  uint32_t index_error;            /* added to the offsets of the indexes */
} tb__test_rosbag_t;

/* `fields`: pairs of a name and bytes, of which a length of 0 ends the list. */
typedef struct tb__test_field {
  const char *name;
  const void *at;
  size_t size;
} tb__test_field_t;
void tb__test_rosbag_record(tb__test_bytes_t *out, const tb__test_field_t *fields, const void *data,
                            size_t size);

/* Topics: 0 "/a" and 1 "/b" std_msgs/String, which is latched; 2 is "/a" of another publisher. */
void tb__test_rosbag_begin(tb__test_rosbag_t *bag);
void tb__test_rosbag_chunk(tb__test_rosbag_t *bag, const char *compression);
void tb__test_rosbag_message(tb__test_rosbag_t *bag, uint32_t topic, uint64_t time_ns,
                             const char *text);
void tb__test_rosbag_end_chunk(tb__test_rosbag_t *bag);
/* The chunk that is open stays so, its records at the end of the file. */
void tb__test_rosbag_leave(tb__test_rosbag_t *bag);
void tb__test_rosbag_close(tb__test_rosbag_t *bag);

#endif
