/* The runs of a bag whose index is used: from the indexes after its chunks, without the chunks. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "rosbag1/index.h"

#define ENTRY_SIZE 12

typedef struct entry {
  uint64_t time_ns;
  uint32_t offset, connection;
} entry_t;

/* Of one chunk. */
typedef struct entries {
  entry_t *items;
  size_t count, capacity;
} entries_t;

static int compare(const void *a, const void *b)
{
  const entry_t *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static tb_status_t take(entries_t *entries, const tb__rosbag1_record_t *record, const uint8_t *data,
                        tb_error_t *error)
{
  uint32_t connection;
  size_t count = record->data_size / ENTRY_SIZE;
  if (!tb__rosbag1_field_u32(record->fields, "conn", &connection)) return TB_OK;
  if (entries->count + count > entries->capacity) {
    size_t capacity = 2 * (entries->count + count);
    entry_t *items = reallocarray(entries->items, capacity, sizeof *items);
    if (!items) return tb__no_memory(error);
    entries->items = items;
    entries->capacity = capacity;
  }
  for (size_t i = 0; i < count; i++, data += ENTRY_SIZE)
    entries->items[entries->count++] =
        (entry_t){tb__rosbag1_time(data), tb__rosbag1_u32(data + 8), connection};
  return TB_OK;
}

/* What cannot be read is met again when the chunk is loaded. */
static bool is_fatal(tb_status_t status)
{
  return status == TB_ERR_SYSTEM || status == TB_ERR_NO_MEMORY;
}

static tb_status_t read_entries(tb__bag_input_t *input, const tb__bag_block_t *block,
                                entries_t *entries, tb_error_t *error)
{
  tb__rosbag1_chunk_t chunk;
  tb_error_t detail = TB_ERROR_INIT;
  uint64_t offset = block->offset, end = block->offset + block->length;
  entries->count = 0;
  tb_status_t status = tb__rosbag1_chunk_find(input, offset, &chunk, &detail);
  if (!status) offset += chunk.head_size + chunk.stored_size;
  while (!status && offset < end) {
    tb__rosbag1_record_t record;
    const uint8_t *data = NULL;
    status = tb__rosbag1_look_whole(input, offset, &record, &data, &detail);
    if (status || record.op != TB__ROSBAG1_INDEX) break;
    status = take(entries, &record, data, &detail);
    offset += (uint64_t)record.head_size + record.data_size;
  }
  if (!is_fatal(status)) return TB_OK;
  if (error) *error = detail;
  return status;
}

/* A chunk shorter than the usual disorder, after those before it, has no jump in it or before it.
 */
static bool may_jump(const tb__rosbag1_index_t *index)
{
  uint64_t end_ns = 0;
  for (size_t i = 0; i < index->block_count; i++) {
    const tb__bag_block_t *block = &index->blocks[i];
    if (block->end_ns - block->start_ns > TB__ROSBAG1_DISORDER_NS ||
        block->start_ns + TB__ROSBAG1_DISORDER_NS < end_ns)
      return true;
    if (block->end_ns > end_ns) end_ns = block->end_ns;
  }
  return false;
}

tb_status_t tb__rosbag1_index_find_runs(tb__bag_input_t *input, tb__rosbag1_index_t *index,
                                        tb_error_t *error)
{
  entries_t entries = {0};
  tb_status_t status = TB_OK;
  if (!may_jump(index)) return TB_OK;
  for (size_t i = 0; i < index->block_count && !status; i++) {
    status = read_entries(input, &index->blocks[i], &entries, error);
    if (entries.count > 1) qsort(entries.items, entries.count, sizeof *entries.items, compare);
    for (size_t j = 0; j < entries.count && !status; j++)
      status =
          tb__rosbag1_runs_add(&index->runs, entries.items[j].connection, entries.items[j].time_ns,
                               index->blocks[i].base + entries.items[j].offset, error);
  }
  free(entries.items);
  return status ? status : tb__rosbag1_runs_end(&index->runs, error);
}
