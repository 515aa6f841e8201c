/* The messages of a file in the order of time, then of place, from as few of its blocks as that
 * needs. What is in a block, only its format knows. */
#ifndef TB_STORAGE_BLOCK_ORDER_H
#define TB_STORAGE_BLOCK_ORDER_H

#include <stdbool.h>

#include "storage/buffer.h"
#include "storage/input.h"

/* Decompressed chunks are kept while chunks overlap, up to a limit. A chunk that does not fit is
 * dropped and loaded again when its turn comes; after a seek all may be loaded this many times. */
#define TB__BAG_LOADS_MAX 16

typedef enum tb__bag_block_kind {
  TB__BAG_BLOCK_CHUNK,
  TB__BAG_BLOCK_RUN,    /* records outside of chunks, a few among which are messages */
  TB__BAG_BLOCK_DAMAGE, /* something to be reported at this place */
} tb__bag_block_kind_t;

typedef struct tb__bag_block {
  tb__bag_block_kind_t kind;
  uint64_t start_ns,
      end_ns; /* log times of the messages in it; UINT64_MAX: reported after any seek */
  uint64_t offset, length; /* in the file */
  uint64_t size;           /* of the records, uncompressed, as far as known */
  uint64_t index_length;   /* of the message indexes after a chunk, as the summary has it; or 0 */
  bool is_counted;         /* an index counts its messages: */
  bool is_unclosed_end;    /* the damage is an end of the file that is missing */
  uint64_t message_count;
  uint32_t topics_at;   /* in the lists of topics: those of its messages, as an index has them, */
  uint32_t topic_count; /* as many; 0: not known */
  uint64_t base;        /* what ids of its rows begin at, so that they grow through the file */
  tb_status_t status;   /* of damage */
  char *text;
} tb__bag_block_t;

/* Of many blocks, one after another; a list that is like the one before is kept once. */
typedef struct tb__bag_topic_lists {
  uint32_t *ids; /* the file's own */
  uint32_t count, capacity;
  uint32_t last_at, last_count;
} tb__bag_topic_lists_t;

/* Adds to the list of the block, which none may follow until it is ended. */
tb_status_t tb__bag_topic_list_add(tb__bag_topic_lists_t *lists, tb__bag_block_t *block,
                                   uint32_t id, tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_topic_list_end(tb__bag_topic_lists_t *lists, tb__bag_block_t *block);

/* Which topics of a file are asked for. */
typedef struct tb__bag_wanted {
  bool (*has)(const void *user, int64_t topic_id); /* NULL: all */
  const void *user;
} tb__bag_wanted_t;

/* Adds to an array that grows. */
tb_status_t tb__bag_block_add(tb__bag_block_t **blocks, size_t *count, size_t *capacity,
                              const tb__bag_block_t *block, tb_error_t *error) TB_WARN_UNUSED;

typedef struct tb__bag_position {
  uint64_t time_ns;
  uint32_t offset; /* of the content in the buffer */
  uint32_t size;
} tb__bag_position_t;

/* A block in memory. */
typedef struct tb__bag_slot {
  struct tb__bag_slot *next;
  size_t block;
  tb__bag_buffer_t buffer;
  tb__bag_position_t *positions; /* sorted, once it is loaded */
  size_t count, capacity;
  bool is_unsorted;
  size_t at; /* of the next message */
  size_t charged;
} tb__bag_slot_t;

/* A block in which there is something left to read. */
typedef struct tb__bag_head {
  uint64_t time_ns; /* of its next message; until it has been loaded, not after it */
  uint64_t id;
  size_t block;
  tb__bag_slot_t *slot; /* NULL: not loaded */
} tb__bag_head_t;

typedef struct tb__bag_order tb__bag_order_t;

/* Fills the slot's buffer and adds its messages in the order of place. TB_ERR_CORRUPT,
 * TB_ERR_UNSUPPORTED and TB_ERR_LIMIT are about this block alone. */
typedef tb_status_t (*tb__bag_load_fn)(tb__bag_order_t *order, const tb__bag_block_t *block,
                                       tb__bag_slot_t *slot, tb_error_t *error);

/* First member of what a format keeps for it. */
struct tb__bag_order {
  const tb__bag_input_t *input;
  tb__bag_load_fn load;
  const tb__bag_block_t *blocks; /* by offset */
  size_t block_count;
  const tb__bag_topic_lists_t *topics; /* of the blocks, or NULL */
  uint64_t end_ns;                     /* of the last message */
  tb__bag_head_t *heap;
  size_t count;
  uint64_t seek_ns;
  tb__bag_slot_t *loaded, *spare; /* lists; the one used last is the first */
  tb__bag_slot_t *used_up;        /* whose last message was given, and may still be read */
  size_t cache_size, cached;
  uint64_t loaded_bytes,
      all_bytes;      /* loaded since the seek; total that was left to load at the seek */
  tb_error_t pending; /* to be reported before the next message; no status: nothing */
};

typedef struct tb__bag_item {
  uint64_t time_ns, id;
  const uint8_t *content; /* of the message record, valid until the next call; NULL: damage */
  size_t size;
  bool is_unclosed_end; /* the damage is an end of the file that is missing */
} tb__bag_item_t;

/* All that it is given must outlive it. */
void tb__bag_order_init(tb__bag_order_t *order, const tb__bag_input_t *input, tb__bag_load_fn load,
                        const tb__bag_block_t *blocks, size_t block_count, uint64_t end_ns);
void tb__bag_order_fini(tb__bag_order_t *order);

/* While loading: a message of the block. */
tb_status_t tb__bag_slot_add(tb__bag_slot_t *slot, const tb__bag_position_t *position,
                             tb_error_t *error) TB_WARN_UNUSED;
/* While loading: reported before the block's messages, unless something else is already. */
void tb__bag_order_note(tb__bag_order_t *order, uint64_t offset, const char *what);

/* To the first message at `time_ns` or later. Blocks that have none of the wanted topics are passed
 * over. */
tb_status_t tb__bag_order_seek(tb__bag_order_t *order, const tb__bag_wanted_t *wanted,
                               uint64_t time_ns, tb_error_t *error) TB_WARN_UNUSED;
/* TB_OK; TB_ERR_END. With an item without content, *damage describes what is damaged there, and
 * reading continues after it: also where a chunk differs from its entry in an index. Other
 * failures are final. */
tb_status_t tb__bag_order_next(tb__bag_order_t *order, tb__bag_item_t *out, tb_error_t *damage,
                               tb_error_t *error) TB_WARN_UNUSED;

#endif
