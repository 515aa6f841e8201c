/* Messages by the time at which they were published: as many as fit are read before the earliest
 * goes out. */
#ifndef TB_PLAY_ORDER_H
#define TB_PLAY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>

typedef struct tb__order_item {
  int64_t time_ns; /* published, or where that is not stored received */
  uint64_t number; /* as read */
  tb_bag_message_t bag;
} tb__order_item_t;

typedef struct tb__order {
  size_t max_messages, max_bytes; /* 0 messages: the messages stay as they are read */
  tb__order_item_t *items;        /* a heap; data is allocated */
  size_t count, capacity, bytes;
  uint64_t numbers;
  void *current; /* data of the message that was taken last */
  bool ended;    /* no more are to be read */
} tb__order_t;

void tb__order_init(tb__order_t *order, size_t max_messages, size_t max_bytes);
void tb__order_fini(tb__order_t *order);
void tb__order_clear(tb__order_t *order);
/* Whether more are to be read before the next is taken. */
bool tb__order_wants_more(const tb__order_t *order);
/* Copies the message. TB_ERR_NO_MEMORY. */
tb_status_t tb__order_put(tb__order_t *order, const tb_bag_message_t *message) TB_WARN_UNUSED;
/* The earliest; its data is valid until the next call. False: there is none. */
bool tb__order_take(tb__order_t *order, tb_bag_message_t *out, int64_t *out_time_ns);

#endif
