#include "rosbag1/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

#define LOOK 4096 /* enough for the head of nearly any record */

void tb__rosbag1_index_fini(tb__rosbag1_index_t *index)
{
  tb__rosbag1_connections_fini(&index->connections);
  for (size_t i = 0; i < index->block_count; i++)
    free(index->blocks[i].text);
  free(index->blocks);
  free(index->topics.ids);
  free(index->oddity);
  free(index->chunks);
  tb__rosbag1_runs_fini(&index->runs);
  *index = (tb__rosbag1_index_t){0};
}

tb_status_t tb__rosbag1_index_add(tb__rosbag1_index_t *index, const tb__bag_block_t *block,
                                  tb_error_t *error)
{
  tb_status_t status =
      tb__bag_block_add(&index->blocks, &index->block_count, &index->block_capacity, block, error);
  if (status) return status;
  if (block->kind == TB__BAG_BLOCK_DAMAGE) return TB_OK;
  index->message_count += block->message_count;
  if (block->message_count == 0) return TB_OK;
  if (!index->has_times || block->start_ns < index->start_ns) index->start_ns = block->start_ns;
  if (!index->has_times || block->end_ns > index->end_ns) index->end_ns = block->end_ns;
  index->has_times = true;
  return TB_OK;
}

static int compare_blocks(const void *a, const void *b)
{
  const tb__bag_block_t *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Ids of rows: the block, and the offset in it. */
void tb__rosbag1_index_sort(tb__rosbag1_index_t *index)
{
  if (index->block_count > 1)
    qsort(index->blocks, index->block_count, sizeof *index->blocks, compare_blocks);
  for (size_t i = 0; i < index->block_count; i++)
    index->blocks[i].base = (uint64_t)i << 32;
}

tb_status_t tb__rosbag1_index_note(tb__rosbag1_index_t *index, const char *text, tb_error_t *error)
{
  if (index->oddity) return TB_OK;
  index->oddity = strdup(text);
  return index->oddity ? TB_OK : tb__no_memory(error);
}

/* ---- looking at records ---- */

tb_status_t tb__rosbag1_look(tb__bag_input_t *input, uint64_t offset, tb__rosbag1_record_t *out,
                             tb_error_t *error)
{
  const uint8_t *bytes;
  uint64_t left = offset < input->size ? input->size - offset : 0;
  size_t size = left < LOOK ? (size_t)left : LOOK;
  for (;;) {
    size_t need;
    tb_status_t status = tb__bag_input_look(input, offset, size, &bytes, error);
    if (status) return status;
    switch (tb__rosbag1_parse(bytes, size, out, &need)) {
    case TB__ROSBAG1_PARSED:
      return TB_OK;
    case TB__ROSBAG1_BAD:
      return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error, "no record here");
    case TB__ROSBAG1_MORE:
      if (need > left)
        return tb__bag_input_error(input, TB_ERR_END, offset, error,
                                   "the file ends inside a record");
      size = need;
    }
  }
}

tb_status_t tb__rosbag1_look_whole(tb__bag_input_t *input, uint64_t offset,
                                   tb__rosbag1_record_t *out, const uint8_t **data,
                                   tb_error_t *error)
{
  tb_status_t status = tb__rosbag1_look(input, offset, out, error);
  if (status) return status;
  size_t head = out->head_size;
  if (out->data_size > input->size - offset - head)
    return tb__bag_input_error(input, TB_ERR_END, offset, error, "the file ends inside a record");
  if (out->data_size > TB__ROSBAG1_MAX_LOOK)
    return tb__bag_input_error(input, TB_ERR_CORRUPT, offset, error,
                               "a record of %u bytes, more than any of its kind", out->data_size);
  const uint8_t *bytes;
  status = tb__bag_input_look(input, offset, head + out->data_size, &bytes, error);
  if (status) return status;
  out->fields.at = bytes + 4;
  *data = bytes + head;
  return TB_OK;
}

/* ---- the beginning of the file ---- */

static tb_status_t read_version(tb__bag_input_t *input, tb__rosbag1_index_t *out, tb_error_t *error)
{
  char line[TB__ROSBAG1_VERSION_LINE + 1] = "", text[TB_ERROR_TEXT_SIZE];
  size_t size = input->size < sizeof line - 1 ? (size_t)input->size : sizeof line - 1;
  size_t known = strlen(TB__ROSBAG1_MAGIC);
  tb_status_t status = tb__bag_input_read(input, 0, line, size, error);
  if (status) return status;
  if (size < known || memcmp(line, TB__ROSBAG1_MAGIC, known) != 0)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: not a bag of ROS 1: it does not begin with \"#ROSBAG V\"",
                        input->path);
  if (size < sizeof line - 1)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, size, error, "the file ends here");
  line[size - 1] = '\0';
  const char *version = line + known;
  out->version = strcmp(version, "1.2") == 0 ? TB__ROSBAG1_V102 : TB__ROSBAG1_V200;
  if (strcmp(version, "1.2") == 0 || strcmp(version, "2.0") == 0) return TB_OK;
  if (version[0] != '2' || version[1] != '.')
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: version %.8s of the bag format (supported: 2.0, 1.2); "
                        "`rosbag fix` of ROS 1 converts it",
                        input->path, version);
  snprintf(text, sizeof text, "%s: version %.3s of the bag format; it is read as 2.0", input->path,
           version);
  return tb__rosbag1_index_note(out, text, error);
}

static tb_status_t refuse_encrypted(const tb__bag_input_t *input,
                                    const tb__rosbag1_record_t *record, tb_error_t *error)
{
  tb__rosbag1_text_t name = tb__rosbag1_field(record->fields, "encryptor");
  if (name.size == 0 || tb__rosbag1_text_equals(name, "rosbag/NoEncryptor")) return TB_OK;
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "%s: the bag is encrypted (%.*s); decrypt it with `rosbag decrypt` of ROS 1",
                      input->path, name.size < 80 ? (int)name.size : 80, name.at);
}

/* A file header that cannot be read is left to the scan. */
static tb_status_t read_file_header(tb__bag_input_t *input, tb__rosbag1_index_t *out,
                                    tb_error_t *error)
{
  tb__rosbag1_record_t record;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__rosbag1_look(input, TB__ROSBAG1_VERSION_LINE, &record, &detail);
  if (status == TB_ERR_CORRUPT || status == TB_ERR_END) return TB_OK;
  if (status) {
    if (error) *error = detail;
    return status;
  }
  if (record.op != TB__ROSBAG1_FILE_HEADER) return TB_OK;
  status = refuse_encrypted(input, &record, error);
  if (status || !tb__rosbag1_field_u64(record.fields, "index_pos", &out->index_offset))
    return status;
  out->chunks_offset = TB__ROSBAG1_VERSION_LINE + record.head_size + record.data_size;
  if (!tb__rosbag1_field_u32(record.fields, "conn_count", &out->connection_count) ||
      !tb__rosbag1_field_u32(record.fields, "chunk_count", &out->chunk_count))
    out->connection_count = out->chunk_count = 0;
  return TB_OK;
}

tb_status_t tb__rosbag1_index_head(tb__bag_input_t *input, tb__rosbag1_index_t *out,
                                   tb_error_t *error)
{
  tb_status_t status = read_version(input, out, error);
  return status ? status : read_file_header(input, out, error);
}

/* ---- the index at the end ---- */

/* TB_ERR_INVALID: the index contradicts itself or the data. */
static tb_status_t contradiction(const tb__bag_input_t *input, uint64_t offset, tb_error_t *error,
                                 const char *what)
{
  return tb__bag_input_error(input, TB_ERR_INVALID, offset, error, "its index is not used: %s",
                             what);
}

static tb_status_t count_chunk(tb__rosbag1_index_t *out, const tb__rosbag1_record_t *record,
                               const uint8_t *data, tb__bag_block_t *block)
{
  for (size_t at = 0; at < record->data_size; at += 8) {
    uint32_t id = tb__rosbag1_u32(data + at);
    tb__rosbag1_connection_t *connection = tb__rosbag1_connections_find(&out->connections, id);
    if (!connection) return TB_ERR_INVALID;
    uint32_t count = tb__rosbag1_u32(data + at + 4);
    connection->message_count += count;
    block->message_count += count;
    tb_status_t status = tb__bag_topic_list_add(&out->topics, block, id, NULL);
    if (status) return status;
  }
  tb__bag_topic_list_end(&out->topics, block);
  return TB_OK;
}

static tb_status_t take_chunk_info(tb__bag_input_t *input, uint64_t offset,
                                   const tb__rosbag1_record_t *record, const uint8_t *data,
                                   tb__rosbag1_index_t *out, tb_error_t *error)
{
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_CHUNK, .is_counted = true};
  uint32_t version, count;
  bool is_whole = tb__rosbag1_field_u32(record->fields, "ver", &version) && version == 1 &&
                  tb__rosbag1_field_u32(record->fields, "count", &count) &&
                  tb__rosbag1_field_u64(record->fields, "chunk_pos", &block.offset) &&
                  tb__rosbag1_field_time(record->fields, "start_time", &block.start_ns) &&
                  tb__rosbag1_field_time(record->fields, "end_time", &block.end_ns);
  if (!is_whole || record->data_size != (uint64_t)count * 8)
    return contradiction(input, offset, error, "an entry of a chunk lacks a field");
  if (block.offset < out->chunks_offset || block.offset >= out->index_offset ||
      block.start_ns > block.end_ns)
    return contradiction(input, offset, error, "an entry of a chunk is out of range");
  tb_status_t status = count_chunk(out, record, data, &block);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  if (status)
    return contradiction(input, offset, error, "it counts messages of an unknown connection");
  return tb__rosbag1_index_add(out, &block, error);
}

static tb_status_t take_record(tb__bag_input_t *input, uint64_t offset,
                               const tb__rosbag1_record_t *record, const uint8_t *data,
                               tb__rosbag1_index_t *out, uint32_t *connections, tb_error_t *error)
{
  bool is_other;
  if (record->op == TB__ROSBAG1_CHUNK_INFO)
    return take_chunk_info(input, offset, record, data, out, error);
  if (record->op != TB__ROSBAG1_CONNECTION)
    return contradiction(input, offset, error, "it has a record that is none of an index");
  ++*connections;
  tb_status_t status =
      tb__rosbag1_connections_add(&out->connections, record, data, &is_other, error);
  if (status == TB_ERR_CORRUPT || (!status && is_other))
    return contradiction(input, offset, error, "a connection cannot be read");
  return status;
}

static tb_status_t read_records(tb__bag_input_t *input, tb__rosbag1_index_t *out, tb_error_t *error)
{
  uint64_t offset = out->index_offset;
  uint32_t connections = 0;
  while (connections < out->connection_count || out->block_count < out->chunk_count) {
    tb__rosbag1_record_t record;
    const uint8_t *data = NULL;
    tb_status_t status = tb__rosbag1_look_whole(input, offset, &record, &data, error);
    if (status == TB_ERR_END)
      return contradiction(input, offset, error, "the file ends inside of it");
    if (status == TB_ERR_CORRUPT)
      return contradiction(input, offset, error, "it has bytes that are no record");
    if (!status) status = take_record(input, offset, &record, data, out, &connections, error);
    if (status) return status;
    offset += record.head_size + record.data_size;
  }
  if (connections != out->connection_count || out->block_count != out->chunk_count)
    return contradiction(input, offset, error, "it has more records than the file header says");
  return TB_OK;
}

static void set_lengths(tb__rosbag1_index_t *out)
{
  for (size_t i = 0; i < out->block_count; i++) {
    tb__bag_block_t *block = &out->blocks[i];
    uint64_t end = i + 1 < out->block_count ? out->blocks[i + 1].offset : out->index_offset;
    block->size = block->length = end - block->offset;
  }
}

/* From the last chunk there are only indexes of its messages up to the index. */
static tb_status_t check_end(tb__bag_input_t *input, const tb__rosbag1_index_t *out,
                             tb_error_t *error)
{
  uint64_t offset = out->blocks[out->block_count - 1].offset;
  tb__rosbag1_chunk_t chunk;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__rosbag1_chunk_find(input, offset, &chunk, &detail);
  if (!status) offset += chunk.head_size + chunk.stored_size;
  while (!status && offset < out->index_offset) {
    tb__rosbag1_record_t record;
    status = tb__rosbag1_look(input, offset, &record, &detail);
    if (!status && record.op != TB__ROSBAG1_INDEX) break;
    if (!status) offset += record.head_size + record.data_size;
  }
  if (status == TB_ERR_SYSTEM || status == TB_ERR_NO_MEMORY) {
    if (error) *error = detail;
    return status;
  }
  if (!status && offset == out->index_offset) return TB_OK;
  return contradiction(input, offset, error, "it does not cover the end of the data");
}

static tb_status_t find_chunk_format(const tb__bag_input_t *input, tb__rosbag1_index_t *out,
                                     tb_error_t *error)
{
  static const char *const names[] = {[TB__ROSBAG1_BZ2] = "bz2", [TB__ROSBAG1_LZ4] = "lz4"};
  tb__rosbag1_chunk_t chunk;
  tb_error_t detail = TB_ERROR_INIT;
  for (size_t i = 0; i < out->block_count; i++) {
    if (out->blocks[i].kind != TB__BAG_BLOCK_CHUNK) continue;
    tb_status_t status = tb__rosbag1_chunk_find(input, out->blocks[i].offset, &chunk, &detail);
    if (!status && chunk.compression < sizeof names / sizeof *names)
      out->chunk_format = names[chunk.compression];
    if (status == TB_ERR_SYSTEM && error) *error = detail;
    return status == TB_ERR_SYSTEM ? status : TB_OK;
  }
  return TB_OK;
}

/* TB_ERR_NOT_FOUND: there is none. */
static tb_status_t read_index(tb__bag_input_t *input, tb__rosbag1_index_t *out, tb_error_t *error)
{
  if (out->version != TB__ROSBAG1_V200 || out->index_offset == 0) return TB_ERR_NOT_FOUND;
  if (out->index_offset < out->chunks_offset || out->index_offset > input->size)
    return contradiction(input, TB__ROSBAG1_VERSION_LINE, error, "it is not in the file");
  tb_status_t status = read_records(input, out, error);
  if (status) return status;
  tb__rosbag1_index_sort(out);
  set_lengths(out);
  for (size_t i = 0; i + 1 < out->block_count; i++)
    if (out->blocks[i].length == 0)
      return contradiction(input, out->index_offset, error, "it has a chunk twice");
  uint64_t first = out->block_count > 0 ? out->blocks[0].offset : out->index_offset;
  if (first != out->chunks_offset)
    return contradiction(input, first, error, "it does not cover the beginning of the data");
  return out->block_count > 0 ? check_end(input, out, error) : TB_OK;
}

tb_status_t tb__rosbag1_index_keep_chunks(const tb__rosbag1_index_t *index,
                                          tb__rosbag1_index_t *out, tb_error_t *error)
{
  if (!index->is_sound) return TB_OK;
  uint64_t *chunks = calloc(index->block_count + 1, sizeof *chunks);
  if (!chunks) return tb__no_memory(error);
  for (size_t i = 0; i < index->block_count; i++)
    chunks[i] = index->blocks[i].offset;
  out->chunks = chunks;
  out->known_count = index->block_count;
  return TB_OK;
}

/* What an index that is not used has left; its connections may be needed. */
static void forget_blocks(tb__rosbag1_index_t *index)
{
  for (size_t i = 0; i < index->connections.count; i++)
    index->connections.items[i].message_count = 0;
  index->block_count = 0;
  index->topics.count = index->topics.last_count = 0;
  index->message_count = 0;
  index->has_times = false;
  index->start_ns = index->end_ns = 0;
}

tb_status_t tb__rosbag1_index_load(tb__bag_input_t *input, bool scan_all, tb__rosbag1_index_t *out,
                                   tb_error_t *error)
{
  tb_error_t reason = TB_ERROR_INIT;
  *out = (tb__rosbag1_index_t){0};
  tb_status_t status = tb__rosbag1_index_head(input, out, error);
  if (status) return status;
  tb_status_t why = read_index(input, out, &reason);
  bool is_usable = why == TB_OK || why == TB_ERR_NOT_FOUND || why == TB_ERR_INVALID;
  if (!is_usable && error) *error = reason;
  if (!is_usable) return why;
  if (why == TB_ERR_INVALID) status = tb__rosbag1_index_note(out, reason.text, error);
  out->is_sound = !why;
  if (!status && (why || scan_all)) {
    status = tb__rosbag1_index_keep_chunks(out, out, error);
    forget_blocks(out);
    if (!status) status = tb__rosbag1_scan(input, out, NULL, NULL, error);
  } else if (!status) {
    status = tb__rosbag1_index_find_runs(input, out, error);
  }
  return status ? status : find_chunk_format(input, out, error);
}
