#include "play/order.h"

#include <stdlib.h>
#include <string.h>

void tb__order_init(tb__order_t *order, size_t max_messages, size_t max_bytes)
{
  *order = (tb__order_t){.max_messages = max_messages, .max_bytes = max_bytes};
}

void tb__order_clear(tb__order_t *order)
{
  for (size_t i = 0; i < order->count; i++)
    free((void *)order->items[i].bag.data);
  order->count = order->bytes = 0;
  order->ended = false;
}

void tb__order_fini(tb__order_t *order)
{
  tb__order_clear(order);
  free(order->items);
  free(order->current);
}

bool tb__order_wants_more(const tb__order_t *order)
{
  bool is_full =
      order->count >= order->max_messages || (order->count > 0 && order->bytes >= order->max_bytes);
  return !order->ended && !is_full;
}

static bool precedes(const tb__order_item_t *a, const tb__order_item_t *b)
{
  return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->number < b->number);
}

static bool grow(tb__order_t *order)
{
  if (order->count < order->capacity) return true;
  size_t capacity = order->capacity ? order->capacity * 2 : 64;
  tb__order_item_t *items = reallocarray(order->items, capacity, sizeof *items);
  if (!items) return false;
  order->items = items;
  order->capacity = capacity;
  return true;
}

tb_status_t tb__order_put(tb__order_t *order, const tb_bag_message_t *message)
{
  void *data = malloc(message->size ? message->size : 1);
  if (!data || !grow(order)) {
    free(data);
    return TB_ERR_NO_MEMORY;
  }
  if (message->size) memcpy(data, message->data, message->size);
  tb__order_item_t item = {message->publish_time_ns >= 0 ? message->publish_time_ns
                                                         : message->log_time_ns,
                           order->numbers++, *message};
  item.bag.data = data;
  size_t at = order->count++;
  for (; at > 0 && precedes(&item, &order->items[(at - 1) / 2]); at = (at - 1) / 2)
    order->items[at] = order->items[(at - 1) / 2];
  order->items[at] = item;
  order->bytes += message->size;
  return TB_OK;
}

static void remove_first(tb__order_t *order)
{
  tb__order_item_t last = order->items[--order->count];
  size_t at = 0, child;
  while ((child = 2 * at + 1) < order->count) {
    if (child + 1 < order->count && precedes(&order->items[child + 1], &order->items[child]))
      child++;
    if (!precedes(&order->items[child], &last)) break;
    order->items[at] = order->items[child];
    at = child;
  }
  if (order->count) order->items[at] = last;
}

bool tb__order_take(tb__order_t *order, tb_bag_message_t *out, int64_t *out_time_ns)
{
  free(order->current);
  order->current = NULL;
  if (order->count == 0) return false;
  *out = order->items[0].bag;
  *out_time_ns = order->items[0].time_ns;
  order->current = (void *)out->data;
  order->bytes -= out->size;
  remove_first(order);
  return true;
}
