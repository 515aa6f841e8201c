/* Records in memory, one after the other, also after damage. */
#ifndef TB_ROSBAG1_WALK_H
#define TB_ROSBAG1_WALK_H

#include "rosbag1/record.h"

typedef enum tb__rosbag1_version {
  TB__ROSBAG1_V102 = 102, /* "1.2" */
  TB__ROSBAG1_V200 = 200,
} tb__rosbag1_version_t;

typedef struct tb__rosbag1_walk {
  tb__rosbag1_version_t version;
  const uint8_t *bytes;
  size_t at, size;
  bool is_cut;         /* the bytes end in a record */
  size_t damaged_at;   /* the first place with bytes that are no record */
  uint64_t lost_bytes; /* such ones; 0: there are none */
} tb__rosbag1_walk_t;

typedef struct tb__rosbag1_found {
  tb__rosbag1_record_t record;
  size_t offset, size; /* of the whole record */
  const uint8_t *data;
  uint64_t time_ns;    /* of a message */
  uint32_t connection; /* of a message in 2.0 */
} tb__rosbag1_found_t;

/* False at the end. Bytes that are no records are skipped and counted. */
bool tb__rosbag1_walk_next(tb__rosbag1_walk_t *walk, tb__rosbag1_found_t *out);

/* A message record of either version, whole in memory. */
bool tb__rosbag1_find_message(tb__rosbag1_version_t version, const uint8_t *at, size_t size,
                              tb__rosbag1_found_t *out);

#endif
