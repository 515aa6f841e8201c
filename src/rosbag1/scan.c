/* A bag without an index that can be used: every record is read. Also how a bag is verified. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "rosbag1/index.h"
#include "rosbag1/index_check.h"

#define RUN_SIZE     1048576 /* messages outside of chunks are read in pieces of this */
#define MAX_DAMAGES  1000    /* reported of one file */
#define SEARCH_PIECE 1048576
#define SEARCH_SHARE 8192 /* of two pieces: longer than a head that is searched for */

typedef struct scan {
  tb__bag_input_t *input;
  tb__rosbag1_index_t *index;
  tb__bag_finding_fn report;
  void *user;
  tb__rosbag1_codec_t codec;
  tb__bag_buffer_t buffer;
  tb__bag_block_t run; /* length 0: none */
  uint64_t offset;
  uint64_t cut_at; /* where the end of the file is missing; 0: nowhere */
  bool is_open;    /* the last chunk was never ended */
  size_t findings;
  size_t known;                    /* of the chunks that are known, those that were passed */
  tb__rosbag1_index_check_t check; /* while reporting */
} scan_t;

static tb_status_t end_run(scan_t *scan, tb_error_t *error)
{
  tb__bag_block_t run = scan->run;
  scan->run = (tb__bag_block_t){0};
  return run.length > 0 ? tb__rosbag1_index_add(scan->index, &run, error) : TB_OK;
}

TB_PRINTF(5, 6)
static tb_status_t add_damage(scan_t *scan, uint64_t offset, uint64_t end, tb_error_t *error,
                              const char *format, ...)
{
  char what[TB_ERROR_TEXT_SIZE];
  tb_error_t text = TB_ERROR_INIT;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  tb_status_t status = end_run(scan, error);
  if (status) return status;
  tb__bag_input_error(scan->input, TB_ERR_CORRUPT, offset, &text, "%s", what);
  if (scan->report && scan->findings < MAX_DAMAGES) scan->report(scan->user, text.text);
  scan->findings++;
  if (scan->index->damage_count++ >= MAX_DAMAGES) return TB_OK;
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_DAMAGE,
                           .start_ns = scan->index->end_ns,
                           .end_ns = UINT64_MAX,
                           .offset = offset,
                           .length = end - offset,
                           .status = TB_ERR_CORRUPT,
                           .text = strdup(text.text)};
  if (!block.text) return tb__no_memory(error);
  status = tb__rosbag1_index_add(scan->index, &block, error);
  if (status) free(block.text);
  return status;
}

static void count_time(tb__bag_block_t *block, uint64_t time_ns)
{
  if (block->message_count == 0 || time_ns < block->start_ns) block->start_ns = time_ns;
  if (block->message_count == 0 || time_ns > block->end_ns) block->end_ns = time_ns;
  block->message_count++;
}

static tb_status_t define(scan_t *scan, uint64_t offset, const tb__rosbag1_record_t *record,
                          const uint8_t *data, tb_error_t *error)
{
  bool is_other = false;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status =
      record->op == TB__ROSBAG1_CONNECTION
          ? tb__rosbag1_connections_add(&scan->index->connections, record, data, &is_other, &detail)
          : tb__rosbag1_connections_add_topic(&scan->index->connections, record, &detail);
  if (status == TB_ERR_CORRUPT) return add_damage(scan, offset, offset, error, "%s", detail.text);
  if (status && error) *error = detail;
  if (status || !is_other) return status;
  return add_damage(scan, offset, offset, error,
                    "a connection is defined again as another one; the first is used");
}

static bool is_definition(const scan_t *scan, uint8_t op)
{
  return op == (scan->index->version == TB__ROSBAG1_V200 ? TB__ROSBAG1_CONNECTION
                                                         : TB__ROSBAG1_DEFINITION);
}

static tb__rosbag1_connection_t *connection_of(scan_t *scan, const tb__rosbag1_record_t *record,
                                               uint32_t id)
{
  tb__rosbag1_connections_t *all = &scan->index->connections;
  if (scan->index->version == TB__ROSBAG1_V200) return tb__rosbag1_connections_find(all, id);
  return tb__rosbag1_connections_of_topic(all, tb__rosbag1_field(record->fields, "topic"));
}

static void count_message(scan_t *scan, tb__bag_block_t *block, const tb__rosbag1_found_t *found)
{
  tb__rosbag1_connection_t *connection = connection_of(scan, &found->record, found->connection);
  if (connection) connection->message_count++;
  count_time(block, found->time_ns);
}

/* The next chunk after this place that is known; the end of the file if there is none. */
static uint64_t next_known(scan_t *scan, uint64_t offset)
{
  const tb__rosbag1_index_t *index = scan->index;
  while (scan->known < index->known_count && index->chunks[scan->known] <= offset)
    scan->known++;
  return scan->known < index->known_count ? index->chunks[scan->known] : scan->input->size;
}

/* To the next record, or to the end of the file. */
static tb_status_t search(scan_t *scan, uint64_t from, uint64_t *out, tb_error_t *error)
{
  const tb__bag_input_t *input = scan->input;
  uint64_t end = next_known(scan, from - 1);
  *out = end;
  tb_status_t status = tb__bag_buffer_reserve(&scan->buffer, SEARCH_PIECE, error);
  for (uint64_t at = from; !status && at < end; at += SEARCH_PIECE - SEARCH_SHARE) {
    uint64_t left = end - at;
    size_t size = left < SEARCH_PIECE ? (size_t)left : SEARCH_PIECE;
    status = tb__bag_input_read(input, at, scan->buffer.bytes, size, error);
    if (status) return status;
    size_t found = tb__rosbag1_resync(scan->buffer.bytes, 0, size, true);
    if (found < size) *out = at + found;
    if (found < size || left <= SEARCH_PIECE) return TB_OK;
  }
  return status;
}

/* A record reaches too far: its length is wrong where another one comes before its end. */
static tb_status_t on_long(scan_t *scan, size_t head_size, tb_error_t *error)
{
  uint64_t begin = scan->offset;
  tb_status_t status = search(scan, begin + head_size, &scan->offset, error);
  if (status) return status;
  if (scan->offset < scan->input->size)
    return add_damage(scan, begin, scan->offset, error, "a record has a length that is wrong");
  scan->cut_at = begin;
  return TB_OK;
}

/* ---- chunks ---- */

/* For runs; the block that the message is in will be the next one. */
static tb_status_t note_time(scan_t *scan, const tb__rosbag1_found_t *found, uint64_t offset,
                             tb_error_t *error)
{
  return tb__rosbag1_runs_add(&scan->index->runs, found->connection, found->time_ns,
                              ((uint64_t)scan->index->block_count << 32) + offset, error);
}

static tb_status_t walk_chunk(scan_t *scan, const tb__rosbag1_content_t *content,
                              tb__bag_block_t *block, tb__rosbag1_walk_t *walk, tb_error_t *error)
{
  tb__rosbag1_found_t found;
  *walk = (tb__rosbag1_walk_t){
      .version = TB__ROSBAG1_V200, .bytes = scan->buffer.bytes, .size = content->size};
  tb_status_t status = TB_OK;
  while (!status && tb__rosbag1_walk_next(walk, &found)) {
    if (found.record.op == TB__ROSBAG1_CONNECTION)
      status = define(scan, block->offset, &found.record, found.data, error);
    if (found.record.op != TB__ROSBAG1_MESSAGE) continue;
    count_message(scan, block, &found);
    if (!scan->report) /* its block will be the next one */
      status =
          tb__rosbag1_runs_add(&scan->index->runs, found.connection, found.time_ns,
                               ((uint64_t)scan->index->block_count << 32) + found.offset, error);
    if (scan->report) status = tb__rosbag1_index_check_add(&scan->check, &found, error);
  }
  return status;
}

/* Damage of a chunk that has messages is reported when it is loaded. */
static tb_status_t add_chunk(scan_t *scan, tb__bag_block_t *block,
                             const tb__rosbag1_content_t *content, const tb__rosbag1_walk_t *walk,
                             tb_error_t *error)
{
  const char *what = content->damage;
  bool is_open = scan->cut_at > 0;
  if (!what && walk->lost_bytes > 0) what = "it has bytes that are no records";
  if (!what && walk->is_cut && !is_open) what = "its last record is not whole";
  if (what && (block->message_count == 0 || scan->report))
    return add_damage(scan, block->offset, block->offset + block->length, error,
                      "a chunk is damaged: %s", what);
  if (what) scan->index->damage_count++;
  return block->message_count > 0 ? tb__rosbag1_index_add(scan->index, block, error) : TB_OK;
}

static tb_status_t on_content(scan_t *scan, const tb__rosbag1_chunk_t *chunk,
                              const tb__rosbag1_content_t *content, tb_error_t *error)
{
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_CHUNK,
                           .offset = scan->offset,
                           .length = chunk->head_size + chunk->stored_size,
                           .size = content->size};
  tb__rosbag1_walk_t walk;
  bool is_short = chunk->is_open || chunk->is_cut;
  bool is_end = is_short && content->is_damage_at_end && content->used == chunk->stored_size;
  if (is_end) scan->cut_at = scan->offset;
  tb_status_t status = walk_chunk(scan, content, &block, &walk, error);
  if (!status) status = add_chunk(scan, &block, content, &walk, error);
  uint64_t begin = scan->offset;
  scan->offset += block.length;
  if (status || !is_short || is_end) return status;
  scan->is_open = false; /* its length is wrong, not the end of the file */
  return search(scan, begin + chunk->head_size, &scan->offset, error);
}

/* Of "none" that has no end: its records are read as if there were no chunk. */
static tb_status_t on_chunk(scan_t *scan, const tb__rosbag1_record_t *record, tb_error_t *error)
{
  tb__rosbag1_chunk_t chunk;
  tb__rosbag1_content_t content;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = end_run(scan, error);
  if (status) return status;
  tb__rosbag1_index_check_begin(&scan->check);
  status = tb__rosbag1_chunk_head(scan->input, scan->offset, record, &chunk, &detail);
  uint64_t next = next_known(scan, scan->offset);
  if (!status && next < scan->input->size) tb__rosbag1_chunk_clamp(&chunk, next - scan->offset);
  scan->is_open = !status && (chunk.is_open || chunk.is_cut);
  if (scan->is_open && chunk.compression == TB__ROSBAG1_NONE) {
    scan->offset += chunk.head_size;
    return TB_OK;
  }
  uint64_t end = scan->offset + record->head_size + record->data_size;
  if (end > next) end = next;
  if (!status)
    status = tb__rosbag1_chunk_load(scan->input, &scan->codec, scan->offset, 0, &chunk,
                                    &scan->buffer, &content, &detail);
  if (!status) return on_content(scan, &chunk, &content, error);
  if (status == TB_ERR_SYSTEM || status == TB_ERR_NO_MEMORY) {
    if (error) *error = detail;
    return status;
  }
  uint64_t begin = scan->offset;
  scan->offset = end < scan->input->size ? end : scan->input->size;
  return add_damage(scan, begin, scan->offset, error, "%s", detail.text);
}

/* ---- other records ---- */

static tb_status_t on_message(scan_t *scan, const tb__rosbag1_record_t *record, uint64_t size,
                              tb_error_t *error)
{
  tb__rosbag1_found_t found = {.record = *record};
  bool is_whole;
  if (scan->index->version == TB__ROSBAG1_V200) {
    is_whole = tb__rosbag1_field_u32(record->fields, "conn", &found.connection) &&
               tb__rosbag1_field_time(record->fields, "time", &found.time_ns);
  } else {
    uint32_t seconds = 0, nanoseconds = 0;
    is_whole = tb__rosbag1_field_u32(record->fields, "sec", &seconds) &&
               tb__rosbag1_field_u32(record->fields, "nsec", &nanoseconds);
    found.time_ns = seconds * UINT64_C(1000000000) + nanoseconds;
  }
  if (!is_whole)
    return add_damage(scan, scan->offset, scan->offset + size, error, "a message without %s",
                      scan->index->version == TB__ROSBAG1_V200 ? "connection or time" : "time");
  if (size > scan->input->limits.chunk_size)
    return add_damage(scan, scan->offset, scan->offset + size, error,
                      "a message of %llu bytes, more than the limit of %llu (--max-chunk-size)",
                      (unsigned long long)size, (unsigned long long)scan->input->limits.chunk_size);
  bool fits =
      scan->run.offset + scan->run.length == scan->offset && scan->run.length + size <= RUN_SIZE;
  tb_status_t status = fits ? TB_OK : end_run(scan, error);
  if (status) return status;
  if (scan->run.length == 0)
    scan->run = (tb__bag_block_t){.kind = TB__BAG_BLOCK_RUN, .offset = scan->offset};
  count_message(scan, &scan->run, &found);
  if (!scan->report && scan->index->version == TB__ROSBAG1_V200)
    status = note_time(scan, &found, scan->run.length, error);
  scan->run.size = scan->run.length = scan->run.length + size;
  return status;
}

static tb_status_t on_definition(scan_t *scan, tb_error_t *error)
{
  tb__rosbag1_record_t record;
  const uint8_t *data = NULL;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__rosbag1_look_whole(scan->input, scan->offset, &record, &data, &detail);
  if (status == TB_ERR_CORRUPT)
    return add_damage(scan, scan->offset, scan->offset, error, "%s", detail.text);
  if (status && error) *error = detail;
  return status ? status : define(scan, scan->offset, &record, data, error);
}

static tb_status_t on_index(scan_t *scan, tb_error_t *error)
{
  tb__rosbag1_record_t record;
  const uint8_t *data = NULL;
  char what[128] = "";
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__rosbag1_look_whole(scan->input, scan->offset, &record, &data, &detail);
  if (status == TB_ERR_SYSTEM || status == TB_ERR_NO_MEMORY) {
    if (error) *error = detail;
    return status;
  }
  if (!status) tb__rosbag1_index_check(&scan->check, &record, data, what, sizeof what);
  if (status) snprintf(what, sizeof what, "an index cannot be read");
  if (!what[0]) return TB_OK;
  tb__bag_input_error(scan->input, TB_ERR_CORRUPT, scan->offset, &detail, "%s", what);
  if (scan->findings++ < MAX_DAMAGES) scan->report(scan->user, detail.text);
  return TB_OK;
}

static tb_status_t on_record(scan_t *scan, const tb__rosbag1_record_t *record, tb_error_t *error)
{
  if (record->op == TB__ROSBAG1_CHUNK && scan->index->version == TB__ROSBAG1_V200)
    return on_chunk(scan, record, error);
  uint64_t size = (uint64_t)record->head_size + record->data_size;
  tb_status_t status = TB_OK;
  if (size > next_known(scan, scan->offset) - scan->offset)
    return on_long(scan, record->head_size, error);
  if (record->op == TB__ROSBAG1_MESSAGE)
    status = on_message(scan, record, size, error);
  else if (is_definition(scan, record->op))
    status = on_definition(scan, error);
  else if (record->op == TB__ROSBAG1_INDEX && scan->report &&
           scan->index->version == TB__ROSBAG1_V200)
    status = on_index(scan, error);
  scan->offset += size;
  return status;
}

static tb_status_t on_damage(scan_t *scan, tb_error_t *error)
{
  uint64_t begin = scan->offset;
  tb_status_t status = search(scan, begin + 1, &scan->offset, error);
  if (status) return status;
  if (scan->offset == scan->input->size && scan->input->size - begin < 4) {
    scan->cut_at = begin;
    return TB_OK;
  }
  return add_damage(scan, begin, scan->offset, error, "%llu bytes are no records",
                    (unsigned long long)(scan->offset - begin));
}

/* ---- the end ---- */

/* What the file header says of the end, and what there is. */
static tb_status_t judge_end(scan_t *scan, tb_error_t *error)
{
  tb__rosbag1_index_t *index = scan->index;
  bool never_closed = index->index_offset == 0 && index->version == TB__ROSBAG1_V200;
  bool is_missing = scan->cut_at > 0 || scan->is_open;
  if (!never_closed && index->version == TB__ROSBAG1_V200 &&
      scan->input->size < index->index_offset)
    is_missing = true;
  if (!never_closed && !is_missing) return TB_OK;
  uint64_t at = scan->cut_at > 0 ? scan->cut_at : scan->input->size;
  if (!never_closed && index->index_offset > 0 && at >= index->index_offset) return TB_OK;
  tb_error_t text = TB_ERROR_INIT;
  index->is_unclosed = never_closed && index->damage_count == 0;
  tb__bag_input_error(scan->input, TB_ERR_TRUNCATED, scan->input->size, &text,
                      never_closed ? "the recording was not closed: it ends here"
                                   : "the file ends here, before the end of its data");
  if (scan->report) scan->report(scan->user, text.text);
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_DAMAGE,
                           .start_ns = index->end_ns,
                           .end_ns = UINT64_MAX,
                           .offset = scan->input->size,
                           .status = TB_ERR_TRUNCATED,
                           .is_unclosed_end = index->is_unclosed,
                           .text = strdup(text.text)};
  if (!block.text) return tb__no_memory(error);
  tb_status_t status = tb__rosbag1_index_add(index, &block, error);
  if (status) free(block.text);
  return status;
}

static tb_status_t read_all(scan_t *scan, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  while (!status && scan->offset < scan->input->size) {
    tb__rosbag1_record_t record;
    tb_error_t detail = TB_ERROR_INIT;
    status = tb__rosbag1_look(scan->input, scan->offset, &record, &detail);
    if (!status)
      status = on_record(scan, &record, error);
    else if (status == TB_ERR_CORRUPT || status == TB_ERR_END)
      status = on_damage(scan, error);
    else if (error)
      *error = detail;
  }
  if (!status) status = end_run(scan, error);
  return status ? status : judge_end(scan, error);
}

tb_status_t tb__rosbag1_scan(tb__bag_input_t *input, tb__rosbag1_index_t *index,
                             tb__bag_finding_fn report, void *user, tb_error_t *error)
{
  scan_t scan = {.input = input,
                 .index = index,
                 .report = report,
                 .user = user,
                 .offset = TB__ROSBAG1_VERSION_LINE};
  tb_status_t status = read_all(&scan, error);
  tb__rosbag1_codec_fini(&scan.codec);
  tb__bag_buffer_fini(&scan.buffer);
  tb__rosbag1_index_check_fini(&scan.check);
  for (size_t i = 1; i < index->block_count; i++) /* else ids are others */
    if (index->blocks[i].offset < index->blocks[i - 1].offset) index->runs.gave_up = true;
  if (!status) tb__rosbag1_index_sort(index);
  return status || report ? status : tb__rosbag1_runs_end(&index->runs, error);
}
