/* The messages of a file in the order of time, then of place, from as few chunks as that needs. */
#ifndef TB_MCAP_ORDER_H
#define TB_MCAP_ORDER_H

#include "mcap/chunk.h"
#include "mcap/index.h"

/* Decompressed chunks are kept while chunks overlap, up to a limit. A chunk that does not fit is
 * dropped and loaded again when its turn comes; after a seek all may be loaded this many times. */
#define TB__MCAP_LOADS_MAX 16

typedef struct tb__mcap_slot tb__mcap_slot_t;

/* A block in which there is something left to read. */
typedef struct tb__mcap_head {
  uint64_t time_ns; /* of its next message; until it has been loaded, not after it */
  uint64_t id;
  size_t block;
  tb__mcap_slot_t *slot; /* NULL: not loaded */
} tb__mcap_head_t;

typedef struct tb__mcap_order {
  const tb__mcap_input_t *input;
  const tb__mcap_index_t *index;
  tb__mcap_codec_t codec;
  tb__mcap_head_t *heap;
  size_t count;
  uint64_t seek_ns;
  tb__mcap_slot_t *loaded, *spare; /* lists; the one used last is the first */
  tb__mcap_slot_t *used_up;        /* whose last message was given, and may still be read */
  size_t cache_size, cached;
  uint64_t loaded_bytes,
      all_bytes;      /* loaded since the seek; total that was left to load at the seek */
  tb_error_t pending; /* to be reported before the next message; no status: nothing */
  bool has_reported_definitions;
} tb__mcap_order_t;

typedef struct tb__mcap_item {
  uint64_t time_ns, id;
  const uint8_t *content; /* of the message record, valid until the next call; NULL: damage */
  size_t size;
  bool is_unclosed_end; /* the damage is an end of the file that is missing */
} tb__mcap_item_t;

void tb__mcap_order_init(tb__mcap_order_t *order, const tb__mcap_input_t *input,
                         const tb__mcap_index_t *index);
void tb__mcap_order_fini(tb__mcap_order_t *order);

/* To the first message at `time_ns` or later. */
tb_status_t tb__mcap_order_seek(tb__mcap_order_t *order, uint64_t time_ns,
                                tb_error_t *error) TB_WARN_UNUSED;
/* TB_OK; TB_ERR_END. With an item without content, *damage describes what is damaged there, and
 * reading continues after it: also where a chunk differs from its entry in the summary. Other
 * failures are final. */
tb_status_t tb__mcap_order_next(tb__mcap_order_t *order, tb__mcap_item_t *out, tb_error_t *damage,
                                tb_error_t *error) TB_WARN_UNUSED;

#endif
