/* The messages of a bag in the order of time. */
#ifndef TB_ROSBAG1_ORDER_H
#define TB_ROSBAG1_ORDER_H

#include "rosbag1/index.h"

typedef struct tb__rosbag1_order {
  tb__bag_order_t base; /* first: it is found from it */
  const tb__rosbag1_index_t *index;
  tb__rosbag1_codec_t codec;
} tb__rosbag1_order_t;

/* What it is given must outlive it. The messages are from tb__bag_order_next: an item's content is
 * its whole record. */
void tb__rosbag1_order_init(tb__rosbag1_order_t *order, const tb__bag_input_t *input,
                            const tb__rosbag1_index_t *index);
void tb__rosbag1_order_fini(tb__rosbag1_order_t *order);

#endif
