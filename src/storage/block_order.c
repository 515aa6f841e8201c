#include "storage/block_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/no_memory.h"

tb_status_t tb__bag_block_add(tb__bag_block_t **blocks, size_t *count, size_t *capacity,
                              const tb__bag_block_t *block, tb_error_t *error)
{
  if (*count == *capacity) {
    size_t wanted = *capacity ? 2 * *capacity : 64;
    tb__bag_block_t *grown = reallocarray(*blocks, wanted, sizeof *grown);
    if (!grown) return tb__no_memory(error);
    *blocks = grown;
    *capacity = wanted;
  }
  (*blocks)[(*count)++] = *block;
  return TB_OK;
}

#define LISTED_MAX (1U << 24) /* ids in memory; of further blocks the topics are not known */

tb_status_t tb__bag_topic_list_add(tb__bag_topic_lists_t *lists, tb__bag_block_t *block,
                                   uint32_t id, tb_error_t *error)
{
  if (lists->count == lists->capacity) {
    uint32_t capacity = lists->capacity ? 2 * lists->capacity : 64;
    uint32_t *ids = reallocarray(lists->ids, capacity, sizeof *ids);
    if (!ids) return tb__no_memory(error);
    lists->ids = ids;
    lists->capacity = capacity;
  }
  if (block->topic_count++ == 0) block->topics_at = lists->count;
  lists->ids[lists->count++] = id;
  return TB_OK;
}

void tb__bag_topic_list_end(tb__bag_topic_lists_t *lists, tb__bag_block_t *block)
{
  uint32_t count = block->topic_count;
  if (count == 0) return;
  const uint32_t *list = lists->ids + block->topics_at;
  if (count == lists->last_count &&
      memcmp(list, lists->ids + lists->last_at, count * sizeof *list) == 0) {
    lists->count = block->topics_at;
    block->topics_at = lists->last_at;
  } else if (lists->count > LISTED_MAX) {
    lists->count = block->topics_at;
    block->topic_count = 0;
  } else {
    lists->last_at = block->topics_at;
    lists->last_count = count;
  }
}

void tb__bag_order_init(tb__bag_order_t *order, const tb__bag_input_t *input, tb__bag_load_fn load,
                        const tb__bag_block_t *blocks, size_t block_count, uint64_t end_ns)
{
  *order = (tb__bag_order_t){.input = input,
                             .load = load,
                             .blocks = blocks,
                             .block_count = block_count,
                             .end_ns = end_ns,
                             .cache_size = (size_t)input->limits.overlap_size};
}

static void free_slots(tb__bag_slot_t *slot)
{
  while (slot) {
    tb__bag_slot_t *next = slot->next;
    tb__bag_buffer_fini(&slot->buffer);
    free(slot->positions);
    free(slot);
    slot = next;
  }
}

void tb__bag_order_fini(tb__bag_order_t *order)
{
  free_slots(order->loaded);
  free_slots(order->spare);
  free(order->heap);
  *order = (tb__bag_order_t){0};
}

/* ---- heap ---- */

static bool comes_before(const tb__bag_head_t *a, const tb__bag_head_t *b)
{
  return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->id < b->id);
}

static void sift_down(tb__bag_order_t *order, size_t place)
{
  tb__bag_head_t head = order->heap[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= order->count) break;
    if (child + 1 < order->count && comes_before(&order->heap[child + 1], &order->heap[child]))
      child++;
    if (!comes_before(&order->heap[child], &head)) break;
    order->heap[place] = order->heap[child];
    place = child;
  }
  order->heap[place] = head;
}

static void remove_top(tb__bag_order_t *order)
{
  order->heap[0] = order->heap[--order->count];
  if (order->count > 0) sift_down(order, 0);
}

/* ---- slots ---- */

/* From the list of the loaded ones to the spare ones, of which one is kept. */
static void release(tb__bag_order_t *order, tb__bag_slot_t *slot)
{
  TB__CHAIN_REMOVE(order->loaded, slot);
  order->cached -= slot->charged;
  slot->charged = 0;
  slot->next = NULL;
  free_slots(order->spare);
  order->spare = slot;
}

static void release_all(tb__bag_order_t *order)
{
  while (order->loaded)
    release(order, order->loaded);
}

static void forget(tb__bag_order_t *order, const tb__bag_slot_t *slot)
{
  for (size_t i = 0; i < order->count; i++)
    if (order->heap[i].slot == slot) order->heap[i].slot = NULL;
}

/* Drops the loaded blocks whose next message is the farthest, until `wanted` bytes fit. */
static void make_room(tb__bag_order_t *order, size_t wanted)
{
  while (order->loaded && order->cached + wanted > order->cache_size) {
    tb__bag_slot_t *farthest = order->loaded;
    for (tb__bag_slot_t *slot = order->loaded; slot; slot = slot->next)
      if (slot->positions[slot->at].time_ns > farthest->positions[farthest->at].time_ns)
        farthest = slot;
    forget(order, farthest);
    release(order, farthest);
  }
}

static tb_status_t get_slot(tb__bag_order_t *order, size_t block, tb__bag_slot_t **out,
                            tb_error_t *error)
{
  make_room(order, (size_t)order->blocks[block].size);
  tb__bag_slot_t *slot = order->spare;
  if (!slot) slot = calloc(1, sizeof *slot);
  if (!slot) return tb__no_memory(error);
  order->spare = NULL;
  slot->block = block;
  slot->count = slot->at = 0;
  slot->is_unsorted = false;
  slot->next = order->loaded;
  order->loaded = slot;
  *out = slot;
  return TB_OK;
}

tb_status_t tb__bag_slot_add(tb__bag_slot_t *slot, const tb__bag_position_t *position,
                             tb_error_t *error)
{
  if (slot->count == slot->capacity) {
    size_t capacity = slot->capacity ? 2 * slot->capacity : 256;
    tb__bag_position_t *positions = reallocarray(slot->positions, capacity, sizeof *positions);
    if (!positions) return tb__no_memory(error);
    slot->positions = positions;
    slot->capacity = capacity;
  }
  if (slot->count > 0 && position->time_ns < slot->positions[slot->count - 1].time_ns)
    slot->is_unsorted = true;
  slot->positions[slot->count++] = *position;
  return TB_OK;
}

static int compare_positions(const void *a, const void *b)
{
  const tb__bag_position_t *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

void tb__bag_order_note(tb__bag_order_t *order, uint64_t offset, const char *what)
{
  if (order->pending.status) return;
  tb__bag_input_error(order->input, TB_ERR_CORRUPT, offset, &order->pending, "%s", what);
}

/* ---- loading ---- */

static void compare_count(tb__bag_order_t *order, const tb__bag_slot_t *slot)
{
  const tb__bag_block_t *block = &order->blocks[slot->block];
  if (block->is_counted && block->message_count != slot->count)
    tb__bag_order_note(order, block->offset,
                       "the chunk does not have the messages that its indexes list");
}

/* The index decided when this block is read: a message outside of its times would come too late,
 * or not at all after a seek. */
static bool is_as_indexed(const tb__bag_slot_t *slot, const tb__bag_block_t *block)
{
  return slot->count == 0 || (slot->positions[0].time_ns >= block->start_ns &&
                              slot->positions[slot->count - 1].time_ns <= block->end_ns);
}

static tb_status_t load(tb__bag_order_t *order, size_t block_index, tb__bag_slot_t **out,
                        tb_error_t *error)
{
  const tb__bag_block_t *block = &order->blocks[block_index];
  tb__bag_slot_t *slot = NULL;
  tb_status_t status = get_slot(order, block_index, &slot, error);
  if (status) return status;
  status = order->load(order, block, slot, error);
  if (slot->is_unsorted)
    qsort(slot->positions, slot->count, sizeof *slot->positions, compare_positions);
  if (!status && !is_as_indexed(slot, block))
    status = tb__bag_input_error(order->input, TB_ERR_CORRUPT, block->offset, error,
                                 "the chunk has messages outside the times in its index");
  if (status) {
    release(order, slot);
    return status;
  }
  compare_count(order, slot);
  order->loaded_bytes += block->size;
  slot->charged = slot->buffer.capacity + slot->capacity * sizeof *slot->positions;
  order->cached += slot->charged;
  *out = slot;
  return TB_OK;
}

static uint64_t id_of(const tb__bag_order_t *order, const tb__bag_slot_t *slot)
{
  return order->blocks[slot->block].base + slot->positions[slot->at].offset;
}

/* To the first message not before the seek, or before what was already given. */
static bool find_place(const tb__bag_order_t *order, tb__bag_slot_t *slot,
                       const tb__bag_head_t *head)
{
  size_t low = 0, high = slot->count;
  uint64_t time_ns = head->time_ns > order->seek_ns ? head->time_ns : order->seek_ns;
  while (low < high) {
    slot->at = low + (high - low) / 2;
    uint64_t at_ns = slot->positions[slot->at].time_ns;
    if (at_ns < time_ns || (at_ns == head->time_ns && id_of(order, slot) < head->id))
      low = slot->at + 1;
    else
      high = slot->at;
  }
  slot->at = low;
  return low < slot->count;
}

static void show_head(tb__bag_order_t *order)
{
  tb__bag_head_t *top = &order->heap[0];
  top->time_ns = top->slot->positions[top->slot->at].time_ns;
  top->id = id_of(order, top->slot);
}

/* False with TB_OK: nothing is left in it. A damaged block is removed. */
static tb_status_t load_top(tb__bag_order_t *order, tb_error_t *error)
{
  tb__bag_head_t *top = &order->heap[0];
  tb__bag_slot_t *slot = NULL;
  tb_status_t status = load(order, top->block, &slot, error);
  if (status) return status;
  if (!find_place(order, slot, top)) {
    release(order, slot);
    remove_top(order);
    return TB_OK;
  }
  top->slot = slot;
  show_head(order);
  sift_down(order, 0);
  return TB_OK;
}

static bool is_about_one_block(tb_status_t status)
{
  return status == TB_ERR_CORRUPT || status == TB_ERR_UNSUPPORTED || status == TB_ERR_LIMIT;
}

static tb_status_t give_damage(tb__bag_order_t *order, tb__bag_item_t *out)
{
  *out = (tb__bag_item_t){.time_ns = order->heap[0].time_ns, .id = order->heap[0].id};
  remove_top(order);
  return TB_OK;
}

/* All that have something at the time of the next message, which memory would have to hold. */
static uint64_t overlap_of(const tb__bag_order_t *order)
{
  uint64_t size = 0, now_ns = order->heap[0].time_ns;
  for (size_t i = 0; i < order->count; i++) {
    const tb__bag_block_t *block = &order->blocks[order->heap[i].block];
    if (block->start_ns <= now_ns) size += block->size;
  }
  return size;
}

/* Chunks are loaded again and again, as too many overlap. */
static tb_status_t check_loads(const tb__bag_order_t *order, tb_error_t *error)
{
  if (order->loaded_bytes / TB__BAG_LOADS_MAX <= order->all_bytes) return TB_OK;
  return tb__bag_input_error(
      order->input, TB_ERR_LIMIT, order->blocks[order->heap[0].block].offset, error,
      "chunks of %llu bytes overlap in time, more than the limit of %llu "
      "(--max-overlap-size)",
      (unsigned long long)overlap_of(order), (unsigned long long)order->cache_size);
}

/* At the place of the message that comes next, or of the last one. */
static tb_status_t give_pending(tb__bag_order_t *order, tb__bag_item_t *out, tb_error_t *damage)
{
  *damage = order->pending;
  order->pending.status = TB_OK;
  *out = (tb__bag_item_t){.time_ns = order->end_ns};
  if (order->count > 0)
    *out = (tb__bag_item_t){.time_ns = order->heap[0].time_ns, .id = order->heap[0].id};
  return TB_OK;
}

static void report_damage(const tb__bag_block_t *block, tb_error_t *damage)
{
  tb_error_set(damage, block->status, "%s", block->text);
  damage->offset = (int64_t)block->offset;
}

static void give_message(tb__bag_order_t *order, tb__bag_item_t *out)
{
  tb__bag_head_t *top = &order->heap[0];
  tb__bag_slot_t *slot = top->slot;
  const tb__bag_position_t *position = &slot->positions[slot->at++];
  *out = (tb__bag_item_t){.time_ns = top->time_ns,
                          .id = top->id,
                          .content = slot->buffer.bytes + position->offset,
                          .size = position->size};
  if (slot->at == slot->count) {
    order->used_up = slot;
    remove_top(order);
    return;
  }
  show_head(order);
  sift_down(order, 0);
}

tb_status_t tb__bag_order_next(tb__bag_order_t *order, tb__bag_item_t *out, tb_error_t *damage,
                               tb_error_t *error)
{
  if (order->used_up) release(order, order->used_up);
  order->used_up = NULL;
  while (order->count > 0) {
    tb__bag_head_t *top = &order->heap[0];
    const tb__bag_block_t *block = &order->blocks[top->block];
    if (block->kind == TB__BAG_BLOCK_DAMAGE) {
      report_damage(block, damage);
      give_damage(order, out);
      out->is_unclosed_end = block->is_unclosed_end;
      return TB_OK;
    }
    if (top->slot) {
      give_message(order, out);
      return TB_OK;
    }
    tb_status_t status = check_loads(order, error);
    if (status) return status;
    status = load_top(order, damage);
    if (!status && order->pending.status) return give_pending(order, out, damage);
    if (is_about_one_block(status)) return give_damage(order, out);
    if (status && error) *error = *damage;
    if (status) return status;
  }
  return order->pending.status ? give_pending(order, out, damage) : TB_ERR_END;
}

static bool has_wanted(const tb__bag_order_t *order, const tb__bag_wanted_t *wanted,
                       const tb__bag_block_t *block)
{
  if (!order->topics || !wanted->has || block->topic_count == 0) return true;
  for (uint32_t i = 0; i < block->topic_count; i++)
    if (wanted->has(wanted->user, order->topics->ids[block->topics_at + i])) return true;
  return false;
}

tb_status_t tb__bag_order_seek(tb__bag_order_t *order, const tb__bag_wanted_t *wanted,
                               uint64_t time_ns, tb_error_t *error)
{
  release_all(order);
  order->used_up = NULL;
  order->count = 0;
  order->loaded_bytes = order->all_bytes = 0;
  order->seek_ns = time_ns;
  order->pending.status = TB_OK;
  if (!order->heap) order->heap = calloc(order->block_count + 1, sizeof *order->heap);
  if (!order->heap) return tb__no_memory(error);
  for (size_t i = 0; i < order->block_count; i++) {
    const tb__bag_block_t *block = &order->blocks[i];
    if (block->end_ns < time_ns || !has_wanted(order, wanted, block)) continue;
    order->all_bytes += block->size;
    order->heap[order->count++] = (tb__bag_head_t){block->start_ns, block->base, i, NULL};
  }
  for (size_t place = order->count / 2; place-- > 0;)
    sift_down(order, place);
  return TB_OK;
}
