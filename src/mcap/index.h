/* Where the messages of a file are, and what they belong to: from its summary, or by a scan. */
#ifndef TB_MCAP_INDEX_H
#define TB_MCAP_INDEX_H

#include "mcap/definitions.h"
#include "storage/block_order.h"

/* The statistics of the summary. */
typedef struct tb__mcap_claims {
  bool are_there;
  uint64_t messages, attachments, metadata;
} tb__mcap_claims_t;

typedef struct tb__mcap_index {
  tb__mcap_definitions_t definitions;
  tb__bag_block_t *blocks; /* by offset */
  size_t block_count, block_capacity;
  tb__bag_topic_lists_t topics; /* channels of the blocks */
  uint64_t message_count;
  bool has_times;
  uint64_t start_ns, end_ns;
  uint64_t extra_count; /* attachments, and metadata records that are not rosbag2's */
  char *metadata;       /* of the record "rosbag2", or NULL */
  char *ros_distro;     /* or NULL */
  char *oddity;         /* a contradiction in the file by which nothing is lost, or NULL */
  bool is_of_summary;   /* it has not been compared with the chunks */
  bool is_indexed;      /* message indexes count its messages as the summary does */
  tb__mcap_claims_t claims;
} tb__mcap_index_t;

/* Free with tb__mcap_index_fini on failure too. What is damaged becomes a block of its own; a
 * failure means that nothing can be read. */
tb_status_t tb__mcap_index_load(tb__bag_input_t *input, tb__mcap_index_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;
void tb__mcap_index_fini(tb__mcap_index_t *index);
/* In the place of what a summary says, what a scan finds; on failure the index stays. */
tb_status_t tb__mcap_index_scan(tb__bag_input_t *input, tb__mcap_index_t *index,
                                tb_error_t *error) TB_WARN_UNUSED;

/* TB_ERR_NOT_FOUND: the file has no summary, or none that covers its messages.
 * TB_ERR_INVALID: it contradicts itself or the data. TB_ERR_TRUNCATED, TB_ERR_CORRUPT: it cannot be
 * used. The index then has what was read of it. */
tb_status_t tb__mcap_summary_load(tb__bag_input_t *input, tb__mcap_index_t *index,
                                  tb_error_t *error);

/* For those two. */
void tb__mcap_index_sort(tb__mcap_index_t *index);
tb_status_t tb__mcap_index_add(tb__mcap_index_t *index, const tb__bag_block_t *block,
                               tb_error_t *error) TB_WARN_UNUSED;
/* Of a metadata record; takes what rosbag2 wrote. TB_ERR_CORRUPT: it cannot be parsed. */
tb_status_t tb__mcap_index_metadata(tb__mcap_index_t *index, const void *content, size_t size,
                                    tb_error_t *error) TB_WARN_UNUSED;

#endif
