/* Whether the indexes after a chunk are those of its messages: rosbag of C++ crashes where they are
 * not. */
#ifndef TB_ROSBAG1_INDEX_CHECK_H
#define TB_ROSBAG1_INDEX_CHECK_H

#include <timebase/error.h>

#include "rosbag1/walk.h"

typedef struct tb__rosbag1_seen {
  uint64_t time_ns;
  size_t offset; /* in the chunk */
  uint32_t connection;
} tb__rosbag1_seen_t;

/* The messages of the last chunk. */
typedef struct tb__rosbag1_index_check {
  tb__rosbag1_seen_t *seen; /* by offset */
  uint32_t *connections;    /* of each; in order once an index was checked */
  bool is_ordered;
  size_t count, capacity;
} tb__rosbag1_index_check_t;

void tb__rosbag1_index_check_begin(tb__rosbag1_index_check_t *check);
tb_status_t tb__rosbag1_index_check_add(tb__rosbag1_index_check_t *check,
                                        const tb__rosbag1_found_t *message,
                                        tb_error_t *error) TB_WARN_UNUSED;
/* Of an index record; `what` becomes "" or what is wrong. */
void tb__rosbag1_index_check(tb__rosbag1_index_check_t *check, const tb__rosbag1_record_t *record,
                             const uint8_t *data, char *what, size_t what_size);
void tb__rosbag1_index_check_fini(tb__rosbag1_index_check_t *check);

#endif
