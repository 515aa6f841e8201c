#include "mcap/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/no_memory.h"
#include "mcap/scan.h"

typedef struct position {
  uint64_t time_ns;
  uint32_t offset; /* of the content in the records */
  uint32_t size;
} position_t;

struct tb__mcap_slot {
  tb__mcap_slot_t *next;
  size_t block;
  tb__mcap_buffer_t buffer;
  position_t *positions; /* sorted */
  size_t count, capacity;
  size_t at; /* of the next message */
  size_t charged;
};

void tb__mcap_order_init(tb__mcap_order_t *order, const tb__mcap_input_t *input,
                         const tb__mcap_index_t *index)
{
  *order = (tb__mcap_order_t){
      .input = input, .index = index, .cache_size = (size_t)input->limits.overlap_size};
}

static void free_slots(tb__mcap_slot_t *slot)
{
  while (slot) {
    tb__mcap_slot_t *next = slot->next;
    tb__mcap_buffer_fini(&slot->buffer);
    free(slot->positions);
    free(slot);
    slot = next;
  }
}

void tb__mcap_order_fini(tb__mcap_order_t *order)
{
  free_slots(order->loaded);
  free_slots(order->spare);
  tb__mcap_codec_fini(&order->codec);
  free(order->heap);
  *order = (tb__mcap_order_t){0};
}

/* ---- heap ---- */

static bool comes_before(const tb__mcap_head_t *a, const tb__mcap_head_t *b)
{
  return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->id < b->id);
}

static void sift_down(tb__mcap_order_t *order, size_t place)
{
  tb__mcap_head_t head = order->heap[place];
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

static void remove_top(tb__mcap_order_t *order)
{
  order->heap[0] = order->heap[--order->count];
  if (order->count > 0) sift_down(order, 0);
}

/* ---- slots ---- */

/* From the list of the loaded ones to the spare ones, of which one is kept. */
static void release(tb__mcap_order_t *order, tb__mcap_slot_t *slot)
{
  TB__CHAIN_REMOVE(order->loaded, slot);
  order->cached -= slot->charged;
  slot->charged = 0;
  slot->next = NULL;
  free_slots(order->spare);
  order->spare = slot;
}

static void release_all(tb__mcap_order_t *order)
{
  while (order->loaded)
    release(order, order->loaded);
}

static void forget(tb__mcap_order_t *order, const tb__mcap_slot_t *slot)
{
  for (size_t i = 0; i < order->count; i++)
    if (order->heap[i].slot == slot) order->heap[i].slot = NULL;
}

/* Drops the loaded blocks whose next message is the farthest, until `wanted` bytes fit. */
static void make_room(tb__mcap_order_t *order, size_t wanted)
{
  while (order->loaded && order->cached + wanted > order->cache_size) {
    tb__mcap_slot_t *farthest = order->loaded;
    for (tb__mcap_slot_t *slot = order->loaded; slot; slot = slot->next)
      if (slot->positions[slot->at].time_ns > farthest->positions[farthest->at].time_ns)
        farthest = slot;
    forget(order, farthest);
    release(order, farthest);
  }
}

static tb_status_t get_slot(tb__mcap_order_t *order, size_t block, tb__mcap_slot_t **out,
                            tb_error_t *error)
{
  make_room(order, (size_t)order->index->blocks[block].size);
  tb__mcap_slot_t *slot = order->spare;
  if (!slot) slot = calloc(1, sizeof *slot);
  if (!slot) return tb__no_memory(error);
  order->spare = NULL;
  slot->block = block;
  slot->count = slot->at = 0;
  slot->next = order->loaded;
  order->loaded = slot;
  *out = slot;
  return TB_OK;
}

static tb_status_t add_position(tb__mcap_slot_t *slot, const position_t *position,
                                tb_error_t *error)
{
  if (slot->count == slot->capacity) {
    size_t capacity = slot->capacity ? 2 * slot->capacity : 256;
    position_t *positions = reallocarray(slot->positions, capacity, sizeof *positions);
    if (!positions) return tb__no_memory(error);
    slot->positions = positions;
    slot->capacity = capacity;
  }
  slot->positions[slot->count++] = *position;
  return TB_OK;
}

static int compare_positions(const void *a, const void *b)
{
  const position_t *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static void be_pending(tb__mcap_order_t *order, uint64_t offset, const char *what)
{
  if (order->pending.status) return;
  tb__mcap_error(order->input, TB_ERR_CORRUPT, offset, &order->pending, "%s", what);
}

/* Topics were made of the definitions in the summary, if the index is from there. */
static void compare_definition(tb__mcap_order_t *order, uint64_t offset, uint8_t opcode,
                               const uint8_t *content, size_t size)
{
  if (!order->index->is_of_summary || order->has_reported_definitions || size < 2) return;
  const tb__mcap_definitions_t *all = &order->index->definitions;
  const tb__mcap_table_t *table = opcode == TB__MCAP_SCHEMA ? &all->schemas : &all->channels;
  tb__mcap_cursor_t id = tb__mcap_cursor(content, 2);
  const tb__mcap_definition_t known = tb__mcap_definition(table, tb__mcap_take_u16(&id));
  if (!known.content || (known.size == size && memcmp(known.content, content, size) == 0)) return;
  be_pending(order, offset,
             "the summary defines a channel or schema differently; its messages are read as "
             "the summary defines them");
  order->has_reported_definitions = true;
}

static void look_beside(tb__mcap_order_t *order, uint64_t offset, uint8_t opcode,
                        const uint8_t *content, size_t size)
{
  if (opcode == TB__MCAP_SCHEMA || opcode == TB__MCAP_CHANNEL)
    compare_definition(order, offset, opcode, content, size);
  if (opcode == TB__MCAP_CHUNK && order->index->is_of_summary)
    be_pending(order, offset, "the chunk contains another chunk, which is not read");
}

static tb_status_t find_messages(tb__mcap_order_t *order, tb__mcap_slot_t *slot, size_t size,
                                 bool *damaged, tb_error_t *error)
{
  uint64_t offset = order->index->blocks[slot->block].offset;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(slot->buffer.bytes, size);
  bool is_sorted = true;
  while (cursor.left > 0) {
    const uint8_t *opcode = tb__mcap_take(&cursor, 1);
    uint64_t length = tb__mcap_take_u64(&cursor);
    const uint8_t *content = tb__mcap_take(&cursor, length);
    *damaged =
        !content || *opcode == 0 || (*opcode == TB__MCAP_MESSAGE && length < TB__MCAP_MESSAGE_SIZE);
    if (*damaged) break;
    if (*opcode != TB__MCAP_MESSAGE) {
      look_beside(order, offset, *opcode, content, (size_t)length);
      continue;
    }
    tb__mcap_cursor_t time = tb__mcap_cursor(content + 6, 8);
    const position_t position = {tb__mcap_take_u64(&time), (uint32_t)(content - slot->buffer.bytes),
                                 (uint32_t)length};
    if (slot->count > 0 && position.time_ns < slot->positions[slot->count - 1].time_ns)
      is_sorted = false;
    tb_status_t status = add_position(slot, &position, error);
    if (status) return status;
  }
  if (!is_sorted) qsort(slot->positions, slot->count, sizeof *slot->positions, compare_positions);
  return TB_OK;
}

/* ---- loading ---- */

static tb_status_t read_records(tb__mcap_order_t *order, tb__mcap_slot_t *slot, size_t *size,
                                tb_error_t *error)
{
  const tb__mcap_block_t *block = &order->index->blocks[slot->block];
  *size = (size_t)block->size;
  if (block->kind == TB__MCAP_BLOCK_RUN) {
    tb_status_t status = tb__mcap_buffer_reserve(&slot->buffer, block->size, error);
    if (status) return status;
    return tb__mcap_input_read(order->input, block->offset, slot->buffer.bytes, *size, error);
  }
  tb__mcap_chunk_t chunk;
  tb_status_t status =
      tb__mcap_chunk_load(order->input, &order->codec, block->offset, &slot->buffer, &chunk, error);
  if (!status && chunk.size != block->size)
    status = tb__mcap_error(order->input, TB_ERR_CORRUPT, block->offset, error,
                            "the chunk's size differs from the one in the index");
  bool is_as_long = chunk.length == block->length - TB__MCAP_HEAD_SIZE &&
                    chunk.length == chunk.head_size + chunk.stored_size;
  if (!status && order->index->is_of_summary && !is_as_long)
    be_pending(order, block->offset, "the chunk's length differs from the one in the summary");
  return status;
}

static void compare_count(tb__mcap_order_t *order, const tb__mcap_slot_t *slot)
{
  const tb__mcap_block_t *block = &order->index->blocks[slot->block];
  if (block->is_counted && block->message_count != slot->count)
    be_pending(order, block->offset, "the chunk does not have the messages that its indexes list");
}

/* The index decided when this block is read: a message outside of its times would come too late,
 * or not at all after a seek. */
static bool is_as_indexed(const tb__mcap_slot_t *slot, const tb__mcap_block_t *block)
{
  return slot->count == 0 || (slot->positions[0].time_ns >= block->start_ns &&
                              slot->positions[slot->count - 1].time_ns <= block->end_ns);
}

static tb_status_t load(tb__mcap_order_t *order, size_t block_index, tb__mcap_slot_t **out,
                        tb_error_t *error)
{
  const tb__mcap_block_t *block = &order->index->blocks[block_index];
  tb__mcap_slot_t *slot = NULL;
  size_t size = 0;
  bool damaged = false;
  tb_status_t status = get_slot(order, block_index, &slot, error);
  if (status) return status;
  status = read_records(order, slot, &size, error);
  if (!status) status = find_messages(order, slot, size, &damaged, error);
  if (!status && damaged)
    status = tb__mcap_error(order->input, TB_ERR_CORRUPT, block->offset, error,
                            "a record in this part cannot be read");
  else if (!status && !is_as_indexed(slot, block))
    status = tb__mcap_error(order->input, TB_ERR_CORRUPT, block->offset, error,
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

static uint64_t id_of(const tb__mcap_order_t *order, const tb__mcap_slot_t *slot)
{
  return order->index->blocks[slot->block].base + slot->positions[slot->at].offset;
}

/* To the first message not before the seek, or before what was already given. */
static bool find_place(const tb__mcap_order_t *order, tb__mcap_slot_t *slot,
                       const tb__mcap_head_t *head)
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

static void show_head(tb__mcap_order_t *order)
{
  tb__mcap_head_t *top = &order->heap[0];
  top->time_ns = top->slot->positions[top->slot->at].time_ns;
  top->id = id_of(order, top->slot);
}

/* False with TB_OK: nothing is left in it. A damaged block is removed. */
static tb_status_t load_top(tb__mcap_order_t *order, tb_error_t *error)
{
  tb__mcap_head_t *top = &order->heap[0];
  tb__mcap_slot_t *slot = NULL;
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

static tb_status_t give_damage(tb__mcap_order_t *order, tb__mcap_item_t *out)
{
  *out = (tb__mcap_item_t){.time_ns = order->heap[0].time_ns, .id = order->heap[0].id};
  remove_top(order);
  return TB_OK;
}

/* All that have something at the time of the next message, which memory would have to hold. */
static uint64_t overlap_of(const tb__mcap_order_t *order)
{
  uint64_t size = 0, now_ns = order->heap[0].time_ns;
  for (size_t i = 0; i < order->count; i++) {
    const tb__mcap_block_t *block = &order->index->blocks[order->heap[i].block];
    if (block->start_ns <= now_ns) size += block->size;
  }
  return size;
}

/* Chunks are loaded again and again, as too many overlap. */
static tb_status_t check_loads(const tb__mcap_order_t *order, tb_error_t *error)
{
  if (order->loaded_bytes / TB__MCAP_LOADS_MAX <= order->all_bytes) return TB_OK;
  return tb__mcap_error(
      order->input, TB_ERR_LIMIT, order->index->blocks[order->heap[0].block].offset, error,
      "chunks of %llu bytes overlap in time, more than the limit of %llu "
      "(--max-overlap-size)",
      (unsigned long long)overlap_of(order), (unsigned long long)order->cache_size);
}

/* At the place of the message that comes next, or of the last one. */
static tb_status_t give_pending(tb__mcap_order_t *order, tb__mcap_item_t *out, tb_error_t *damage)
{
  *damage = order->pending;
  order->pending.status = TB_OK;
  *out = (tb__mcap_item_t){.time_ns = order->index->end_ns};
  if (order->count > 0)
    *out = (tb__mcap_item_t){.time_ns = order->heap[0].time_ns, .id = order->heap[0].id};
  return TB_OK;
}

static void report_damage(const tb__mcap_block_t *block, tb_error_t *damage)
{
  tb_error_set(damage, block->status, "%s", block->text);
  damage->offset = (int64_t)block->offset;
}

static void give_message(tb__mcap_order_t *order, tb__mcap_item_t *out)
{
  tb__mcap_head_t *top = &order->heap[0];
  tb__mcap_slot_t *slot = top->slot;
  const position_t *position = &slot->positions[slot->at++];
  *out = (tb__mcap_item_t){.time_ns = top->time_ns,
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

tb_status_t tb__mcap_order_next(tb__mcap_order_t *order, tb__mcap_item_t *out, tb_error_t *damage,
                                tb_error_t *error)
{
  if (order->used_up) release(order, order->used_up);
  order->used_up = NULL;
  while (order->count > 0) {
    tb__mcap_head_t *top = &order->heap[0];
    const tb__mcap_block_t *block = &order->index->blocks[top->block];
    if (block->kind == TB__MCAP_BLOCK_DAMAGE) {
      report_damage(block, damage);
      give_damage(order, out);
      out->is_unclosed_end = tb__mcap_is_unclosed(block->status, block->length);
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

tb_status_t tb__mcap_order_seek(tb__mcap_order_t *order, uint64_t time_ns, tb_error_t *error)
{
  const tb__mcap_index_t *index = order->index;
  release_all(order);
  order->used_up = NULL;
  order->count = 0;
  order->loaded_bytes = order->all_bytes = 0;
  order->seek_ns = time_ns;
  order->pending.status = TB_OK;
  order->has_reported_definitions = false;
  if (!order->heap) order->heap = calloc(index->block_count + 1, sizeof *order->heap);
  if (!order->heap) return tb__no_memory(error);
  for (size_t i = 0; i < index->block_count; i++) {
    const tb__mcap_block_t *block = &index->blocks[i];
    if (block->end_ns < time_ns) continue;
    order->all_bytes += block->size;
    order->heap[order->count++] = (tb__mcap_head_t){block->start_ns, block->base, i, NULL};
  }
  for (size_t place = order->count / 2; place-- > 0;)
    sift_down(order, place);
  return TB_OK;
}
