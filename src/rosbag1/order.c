#include "rosbag1/order.h"

#include <stdio.h>

/* Between a chunk and the next one that the index of the file has, there may only be indexes. */
static void check_rest(tb__bag_order_t *order, const tb__bag_block_t *block,
                       const tb__rosbag1_chunk_t *chunk, const tb__rosbag1_content_t *content)
{
  uint64_t end = block->offset + chunk->head_size + chunk->stored_size;
  uint64_t next = block->offset + block->length;
  size_t at = 0;
  while (at < content->follow_size) {
    tb__rosbag1_record_t record;
    size_t need;
    tb__rosbag1_parsed_t parsed =
        tb__rosbag1_parse(content->follows + at, content->follow_size - at, &record, &need);
    if (parsed == TB__ROSBAG1_MORE && end + content->follow_size < next) return;
    if (parsed != TB__ROSBAG1_PARSED || record.op != TB__ROSBAG1_INDEX) {
      tb__bag_order_note(order, end + at,
                         "something that the index of the file does not have comes here; "
                         "`timebase bag recover` reads it");
      return;
    }
    at += record.head_size;
    if (record.data_size > content->follow_size - at) return;
    at += record.data_size;
  }
}

static tb_status_t read_chunk(tb__rosbag1_order_t *order, const tb__bag_block_t *block,
                              tb__bag_slot_t *slot, tb__rosbag1_content_t *out, tb_error_t *error)
{
  tb__rosbag1_chunk_t chunk;
  const tb__bag_input_t *input = order->base.input;
  uint64_t next = block->is_counted ? block->offset + block->length : 0;
  tb_status_t status = tb__rosbag1_chunk_find(input, block->offset, &chunk, error);
  bool is_to_end = block->offset + block->length == input->size;
  if (!status && !is_to_end) tb__rosbag1_chunk_clamp(&chunk, block->length);
  if (!status)
    status = tb__rosbag1_chunk_load(input, &order->codec, block->offset, next, &chunk,
                                    &slot->buffer, out, error);
  if (!status && block->is_counted) check_rest(&order->base, block, &chunk, out);
  return status;
}

static tb_status_t read_run(const tb__rosbag1_order_t *order, const tb__bag_block_t *block,
                            tb__bag_slot_t *slot, tb__rosbag1_content_t *out, tb_error_t *error)
{
  *out = (tb__rosbag1_content_t){.size = (size_t)block->length};
  tb_status_t status = tb__bag_buffer_reserve(&slot->buffer, block->length, error);
  if (status) return status;
  return tb__bag_input_read(order->base.input, block->offset, slot->buffer.bytes,
                            (size_t)block->length, error);
}

static void note_damage(tb__rosbag1_order_t *order, const tb__bag_block_t *block,
                        const tb__rosbag1_content_t *content, const tb__rosbag1_walk_t *walk)
{
  char text[TB_ERROR_TEXT_SIZE];
  if (content->damage)
    snprintf(text, sizeof text, "a chunk is damaged: %s; the messages before that are read",
             content->damage);
  else if (walk->lost_bytes > 0)
    snprintf(text, sizeof text, "%llu bytes of a chunk, from %zu on, are no records",
             (unsigned long long)walk->lost_bytes, walk->damaged_at);
  else if (walk->is_cut && !content->is_damage_at_end)
    snprintf(text, sizeof text, "a chunk is damaged: its last record is not whole");
  else
    return;
  tb__bag_order_note(&order->base, block->offset, text);
}

static tb_status_t load(tb__bag_order_t *base, const tb__bag_block_t *block, tb__bag_slot_t *slot,
                        tb_error_t *error)
{
  tb__rosbag1_order_t *order = (tb__rosbag1_order_t *)base;
  tb__rosbag1_content_t content;
  tb__rosbag1_found_t found;
  tb_status_t status = block->kind == TB__BAG_BLOCK_RUN
                           ? read_run(order, block, slot, &content, error)
                           : read_chunk(order, block, slot, &content, error);
  if (status == TB_ERR_TRUNCATED)
    return tb__bag_input_error(base->input, TB_ERR_CORRUPT, block->offset, error,
                               "the file ends in a chunk of its index");
  tb__rosbag1_walk_t walk = {.version = order->index->version,
                             .bytes = slot->buffer.bytes,
                             .size = status ? 0 : content.size};
  while (!status && tb__rosbag1_walk_next(&walk, &found)) {
    const tb__bag_position_t position = {found.time_ns, (uint32_t)found.offset,
                                         (uint32_t)found.size};
    if (found.record.op == TB__ROSBAG1_MESSAGE) status = tb__bag_slot_add(slot, &position, error);
  }
  if (!status) note_damage(order, block, &content, &walk);
  return status;
}

void tb__rosbag1_order_init(tb__rosbag1_order_t *order, const tb__bag_input_t *input,
                            const tb__rosbag1_index_t *index)
{
  *order = (tb__rosbag1_order_t){.index = index};
  tb__bag_order_init(&order->base, input, load, index->blocks, index->block_count, index->end_ns);
  order->base.topics = &index->topics;
}

void tb__rosbag1_order_fini(tb__rosbag1_order_t *order)
{
  tb__bag_order_fini(&order->base);
  tb__rosbag1_codec_fini(&order->codec);
}
