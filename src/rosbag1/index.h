/* Where the messages of a ROS 1 bag are, and what they belong to: from its index, or by a scan. */
#ifndef TB_ROSBAG1_INDEX_H
#define TB_ROSBAG1_INDEX_H

#include "rosbag1/chunk.h"
#include "rosbag1/connections.h"
#include "rosbag1/runs.h"
#include "rosbag1/walk.h"
#include "storage/block_order.h"
#include "storage/storage.h"

typedef struct tb__rosbag1_index {
  tb__rosbag1_version_t version;
  uint64_t index_offset;  /* as the file header has it; 0: it was not closed */
  uint64_t chunks_offset; /* the end of the file header's record; 0: it cannot be read */
  uint32_t connection_count, chunk_count; /* as the file header has them */
  tb__rosbag1_connections_t connections;
  tb__bag_block_t *blocks; /* by offset */
  size_t block_count, block_capacity;
  tb__bag_topic_lists_t topics; /* connections of the blocks */
  uint64_t message_count;
  bool has_times;
  uint64_t start_ns, end_ns;
  const char *chunk_format; /* "bz2", "lz4"; NULL: none */
  char *oddity;             /* a contradiction in the file by which nothing is lost, or NULL */
  size_t damage_count;
  bool is_unclosed; /* it was not closed, and nothing else is wrong */
  bool is_sound;    /* there is an index at the end of the file, with nothing wrong in it */
  uint64_t *chunks; /* where chunks begin, of a sound one */
  size_t known_count;
  tb__rosbag1_runs_t runs; /* where time was set back; none: it was not */
} tb__rosbag1_index_t;

/* Free with tb__rosbag1_index_fini on failure too. What is damaged becomes a block of its own; a
 * failure means that nothing can be read. `scan_all`: the index in the file is not used. */
tb_status_t tb__rosbag1_index_load(tb__bag_input_t *input, bool scan_all, tb__rosbag1_index_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;
void tb__rosbag1_index_fini(tb__rosbag1_index_t *index);

/* The record at `offset`, through the input's window: valid until that is used again. TB_ERR_END:
 * the file ends in its head; TB_ERR_CORRUPT: it is no record. */
tb_status_t tb__rosbag1_look(tb__bag_input_t *input, uint64_t offset, tb__rosbag1_record_t *out,
                             tb_error_t *error) TB_WARN_UNUSED;
/* The same with its data, of at most TB__ROSBAG1_MAX_LOOK bytes; TB_ERR_END also where the file
 * ends in those. */
#define TB__ROSBAG1_MAX_LOOK (UINT32_C(64) << 20)
tb_status_t tb__rosbag1_look_whole(tb__bag_input_t *input, uint64_t offset,
                                   tb__rosbag1_record_t *out, const uint8_t **data,
                                   tb_error_t *error) TB_WARN_UNUSED;

/* Of a sound one. */
tb_status_t tb__rosbag1_index_find_runs(tb__bag_input_t *input, tb__rosbag1_index_t *index,
                                        tb_error_t *error) TB_WARN_UNUSED;

/* For the scan. */
tb_status_t tb__rosbag1_index_add(tb__rosbag1_index_t *index, const tb__bag_block_t *block,
                                  tb_error_t *error) TB_WARN_UNUSED;
void tb__rosbag1_index_sort(tb__rosbag1_index_t *index);
/* The first is kept. */
tb_status_t tb__rosbag1_index_note(tb__rosbag1_index_t *index, const char *text,
                                   tb_error_t *error) TB_WARN_UNUSED;

/* Reads the file from end to end into `index`, whose head is filled, and its known chunks if there
 * are any: no damage before them hides those. `report` may be NULL: then
 * what is wrong becomes blocks; otherwise it is reported, and so is what reading would not need. */
tb_status_t tb__rosbag1_scan(tb__bag_input_t *input, tb__rosbag1_index_t *index,
                             tb__bag_finding_fn report, void *user,
                             tb_error_t *error) TB_WARN_UNUSED;
/* For a scan: where the chunks of a sound index begin. */
tb_status_t tb__rosbag1_index_keep_chunks(const tb__rosbag1_index_t *index,
                                          tb__rosbag1_index_t *out,
                                          tb_error_t *error) TB_WARN_UNUSED;
/* The version and the file header. */
tb_status_t tb__rosbag1_index_head(tb__bag_input_t *input, tb__rosbag1_index_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;

#endif
