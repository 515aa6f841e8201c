#include "mcap/order.h"

#include <string.h>

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
  tb__bag_order_note(
      &order->base, offset,
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
    tb__bag_order_note(&order->base, offset, "the chunk contains another chunk, which is not read");
}

static tb_status_t find_messages(tb__mcap_order_t *order, uint64_t offset, tb__bag_slot_t *slot,
                                 size_t size, bool *damaged, tb_error_t *error)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(slot->buffer.bytes, size);
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
    const tb__bag_position_t position = {
        tb__mcap_take_u64(&time), (uint32_t)(content - slot->buffer.bytes), (uint32_t)length};
    tb_status_t status = tb__bag_slot_add(slot, &position, error);
    if (status) return status;
  }
  return TB_OK;
}

static tb_status_t read_records(tb__mcap_order_t *order, const tb__bag_block_t *block,
                                tb__bag_slot_t *slot, size_t *size, tb_error_t *error)
{
  *size = (size_t)block->size;
  if (block->kind == TB__BAG_BLOCK_RUN) {
    tb_status_t status = tb__bag_buffer_reserve(&slot->buffer, block->size, error);
    if (status) return status;
    return tb__bag_input_read(order->base.input, block->offset, slot->buffer.bytes, *size, error);
  }
  tb__mcap_chunk_t chunk;
  tb_status_t status = tb__mcap_chunk_load(order->base.input, &order->codec, block->offset,
                                           &slot->buffer, &chunk, error);
  if (!status && chunk.size != block->size)
    status = tb__bag_input_error(order->base.input, TB_ERR_CORRUPT, block->offset, error,
                                 "the chunk's size differs from the one in the index");
  bool is_as_long = chunk.length == block->length - TB__MCAP_HEAD_SIZE &&
                    chunk.length == chunk.head_size + chunk.stored_size;
  if (!status && order->index->is_of_summary && !is_as_long)
    tb__bag_order_note(&order->base, block->offset,
                       "the chunk's length differs from the one in the summary");
  return status;
}

static tb_status_t load(tb__bag_order_t *base, const tb__bag_block_t *block, tb__bag_slot_t *slot,
                        tb_error_t *error)
{
  tb__mcap_order_t *order = (tb__mcap_order_t *)base;
  size_t size = 0;
  bool damaged = false;
  tb_status_t status = read_records(order, block, slot, &size, error);
  if (!status) status = find_messages(order, block->offset, slot, size, &damaged, error);
  if (!status && damaged)
    status = tb__bag_input_error(base->input, TB_ERR_CORRUPT, block->offset, error,
                                 "a record in this part cannot be read");
  return status;
}

void tb__mcap_order_init(tb__mcap_order_t *order, const tb__bag_input_t *input,
                         const tb__mcap_index_t *index)
{
  *order = (tb__mcap_order_t){.index = index};
  tb__bag_order_init(&order->base, input, load, index->blocks, index->block_count, index->end_ns);
  order->base.topics = &index->topics;
}

void tb__mcap_order_fini(tb__mcap_order_t *order)
{
  tb__bag_order_fini(&order->base);
  tb__mcap_codec_fini(&order->codec);
}

tb_status_t tb__mcap_order_seek(tb__mcap_order_t *order, const tb__bag_wanted_t *wanted,
                                uint64_t time_ns, tb_error_t *error)
{
  order->has_reported_definitions = false;
  return tb__bag_order_seek(&order->base, wanted, time_ns, error);
}
