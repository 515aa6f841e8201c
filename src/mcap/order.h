/* The messages of a file in the order of time. */
#ifndef TB_MCAP_ORDER_H
#define TB_MCAP_ORDER_H

#include "mcap/chunk.h"
#include "mcap/index.h"
#include "storage/block_order.h"

typedef struct tb__mcap_order {
  tb__bag_order_t base; /* first: it is found from it */
  const tb__mcap_index_t *index;
  tb__mcap_codec_t codec;
  bool has_reported_definitions;
} tb__mcap_order_t;

void tb__mcap_order_init(tb__mcap_order_t *order, const tb__bag_input_t *input,
                         const tb__mcap_index_t *index);
void tb__mcap_order_fini(tb__mcap_order_t *order);

/* As tb__bag_order_seek; the messages are from tb__bag_order_next(&order->base, ...). */
tb_status_t tb__mcap_order_seek(tb__mcap_order_t *order, const tb__bag_wanted_t *wanted,
                                uint64_t time_ns, tb_error_t *error) TB_WARN_UNUSED;

#endif
