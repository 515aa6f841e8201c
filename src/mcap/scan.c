#include "mcap/scan.h"

#include <string.h>

#include "base/no_memory.h"
#include "mcap/crc.h"
#include "mcap/resync.h"

typedef struct scan {
  tb__bag_input_t *input;
  tb__mcap_definitions_t *definitions;
  const tb__mcap_visitor_t *visitor;
  tb__mcap_codec_t codec;
  tb__bag_buffer_t buffer;
  uint64_t offset;
  uint64_t suspect;       /* the previous record, if only its length gave its end; or 0 */
  uint64_t damaged_until; /* up to here the CRC of the data adds nothing */
  bool has_chunks;
  size_t known; /* of the chunks of the summary, those that were passed */
  bool done;
  uint64_t messages;         /* seen in the chunk */
  uint64_t start_ns, end_ns; /* of those */
} scan_t;

static tb_status_t report(scan_t *scan, tb__mcap_damage_t *damage, const tb_error_t *detail,
                          tb_error_t *error)
{
  damage->status = detail->status;
  memcpy(damage->text, detail->text, sizeof damage->text);
  if (damage->harm != TB__MCAP_HARMLESS) scan->damaged_until = damage->offset + damage->size;
  if (!scan->visitor->damage) return TB_OK;
  return scan->visitor->damage(scan->visitor->user, damage, error);
}

static tb_status_t report_at(scan_t *scan, tb_status_t status, uint64_t offset, uint64_t size,
                             const char *what, tb_error_t *error)
{
  tb_error_t detail;
  tb__mcap_damage_t damage = {.offset = offset, .size = size};
  tb__bag_input_error(scan->input, status, offset, &detail, "%s", what);
  return report(scan, &damage, &detail, error);
}

/* Tables contradict each other, but not by what messages need. */
static tb_status_t report_harmless(scan_t *scan, uint64_t offset, const char *what,
                                   tb_error_t *error)
{
  tb_error_t detail;
  tb__mcap_damage_t damage = {.harm = TB__MCAP_HARMLESS, .offset = offset};
  tb__bag_input_error(scan->input, TB_ERR_CORRUPT, offset, &detail, "%s", what);
  return report(scan, &damage, &detail, error);
}

static bool is_damage(tb_status_t status)
{
  return status == TB_ERR_CORRUPT || status == TB_ERR_UNSUPPORTED || status == TB_ERR_LIMIT;
}

static bool is_wanted(uint8_t opcode)
{
  return opcode == TB__MCAP_SCHEMA || opcode == TB__MCAP_CHANNEL || opcode == TB__MCAP_MESSAGE ||
         opcode == TB__MCAP_METADATA;
}

static void note_time(scan_t *scan, const tb__mcap_record_t *record)
{
  tb__mcap_message_t message;
  tb__mcap_parse_message(record->content, record->size, &message);
  uint64_t ns = message.log_time_ns;
  if (scan->messages == 0 || ns < scan->start_ns) scan->start_ns = ns;
  if (scan->messages == 0 || ns > scan->end_ns) scan->end_ns = ns;
  scan->messages++;
}

static tb_status_t see_record(scan_t *scan, const tb__mcap_record_t *record, tb_error_t *error)
{
  if (record->in_chunk && record->opcode == TB__MCAP_CHUNK)
    return report_at(scan, TB_ERR_CORRUPT, record->offset, record->size,
                     "the chunk contains another chunk, which is not read", error);
  if (!is_wanted(record->opcode)) return TB_OK;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  if (record->opcode == TB__MCAP_SCHEMA || record->opcode == TB__MCAP_CHANNEL)
    status = tb__mcap_definitions_add(scan->definitions, record->opcode, record->content,
                                      record->size, &detail);
  if (record->opcode == TB__MCAP_MESSAGE && record->size < TB__MCAP_MESSAGE_SIZE)
    status = tb_error_set(&detail, TB_ERR_CORRUPT, "a message record that is too short");
  if (record->opcode == TB__MCAP_METADATA && !tb__mcap_is_metadata(record->content, record->size))
    status = tb_error_set(&detail, TB_ERR_CORRUPT, "a damaged metadata record");
  if (is_damage(status))
    return report_at(scan, status, record->offset, record->size, detail.text, error);
  if (status) return tb_error_set(error, status, "%s", detail.text);
  if (record->opcode == TB__MCAP_MESSAGE) note_time(scan, record);
  return scan->visitor->record ? scan->visitor->record(scan->visitor->user, record, error) : TB_OK;
}

/* *used: how far whole records go. */
static tb_status_t walk(scan_t *scan, const uint8_t *bytes, size_t size, size_t *used,
                        tb_error_t *error)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes, size);
  *used = 0;
  while (cursor.left > 0) {
    const uint8_t *opcode = tb__mcap_take(&cursor, 1);
    uint64_t length = tb__mcap_take_u64(&cursor);
    const uint8_t *content = tb__mcap_take(&cursor, length);
    if (!content || *opcode == 0) return TB_OK;
    const tb__mcap_record_t record = {*opcode, true, content, (size_t)length, scan->offset};
    tb_status_t status = see_record(scan, &record, error);
    if (status) return status;
    *used = size - cursor.left;
  }
  return TB_OK;
}

static tb_status_t see_chunk_records(scan_t *scan, const tb__mcap_chunk_t *chunk, size_t size,
                                     tb_error_t *error)
{
  size_t used;
  tb_status_t status = TB_OK;
  scan->has_chunks = true;
  scan->messages = 0;
  if (scan->visitor->chunk)
    status = scan->visitor->chunk(scan->visitor->user, scan->offset, chunk, error);
  if (!status) status = walk(scan, scan->buffer.bytes, size, &used, error);
  if (!status && used < size && size == chunk->size)
    status = report_at(scan, TB_ERR_CORRUPT, scan->offset, size - used,
                       "a record in the chunk cannot be read", error);
  else if (!status && scan->messages > 0 && size == chunk->size && !chunk->is_doubtful &&
           (scan->start_ns != chunk->start_ns || scan->end_ns != chunk->end_ns))
    status = report_harmless(scan, scan->offset,
                             "the chunk has messages outside the times in its header", error);
  return status;
}

static tb_status_t see_doubtful(scan_t *scan, const tb__mcap_chunk_t *chunk,
                                const tb_error_t *detail, tb_error_t *error)
{
  tb__mcap_damage_t damage = {.harm = TB__MCAP_DOUBTFUL,
                              .offset = scan->offset,
                              .has_times = true,
                              .start_ns = chunk->start_ns,
                              .end_ns = chunk->end_ns};
  tb_status_t status = see_chunk_records(scan, chunk, (size_t)chunk->size, error);
  if (status) return status;
  damage.message_count = scan->messages;
  return report(scan, &damage, detail, error);
}

/* Where the summary has the next chunk; UINT64_MAX: nowhere. */
static uint64_t next_known(scan_t *scan, uint64_t offset)
{
  const tb__mcap_visitor_t *visitor = scan->visitor;
  while (scan->known < visitor->chunk_count && visitor->chunks[scan->known] <= offset)
    scan->known++;
  return scan->known < visitor->chunk_count ? visitor->chunks[scan->known] : UINT64_MAX;
}

static uint64_t resync(scan_t *scan, uint64_t offset)
{
  uint64_t known = next_known(scan, offset - 1);
  uint64_t next = tb__mcap_resync(scan->input, scan->definitions, scan->has_chunks, offset);
  return known < next ? known : next;
}

/* The end of the record, from the sizes in it if its length is wrong. */
static uint64_t end_of_record(scan_t *scan, uint64_t own_length, uint64_t length)
{
  uint64_t start = scan->offset + TB__MCAP_HEAD_SIZE;
  uint64_t own = start + own_length;
  return own != start + length && tb__mcap_is_record(scan->input, own) ? own : start + length;
}

/* By the indexes that follow a chunk. */
static uint64_t count_indexed(scan_t *scan, uint64_t at)
{
  uint64_t count = 0, length;
  const uint8_t *bytes;
  while (!tb__bag_input_look(scan->input, at, TB__MCAP_HEAD_SIZE, &bytes, NULL) &&
         bytes[0] == TB__MCAP_MESSAGE_INDEX) {
    tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, 8);
    length = tb__mcap_take_u64(&cursor);
    if (length < 6 || length > scan->input->size - at) break;
    count += (length - 6) / 16;
    at += TB__MCAP_HEAD_SIZE + length;
  }
  return count;
}

static tb_status_t see_chunk(scan_t *scan, uint64_t length, tb_error_t *error)
{
  tb__mcap_chunk_t chunk = {0};
  tb_error_t detail = TB_ERROR_INIT;
  uint64_t known_length;
  tb_status_t status =
      tb__mcap_chunk_head(scan->input, scan->offset, &chunk, &known_length, &detail);
  if (status == TB_ERR_CORRUPT) { /* its length is not to be trusted */
    uint64_t next = resync(scan, scan->offset + 1);
    tb__mcap_damage_t damage = {.offset = scan->offset, .size = next - scan->offset};
    scan->offset = next;
    return report(scan, &damage, &detail, error);
  }
  uint64_t end = status ? 0 : end_of_record(scan, chunk.head_size + chunk.stored_size, length);
  if (!status)
    status = tb__mcap_chunk_load(scan->input, &scan->codec, scan->offset, &scan->buffer, &chunk,
                                 &detail);
  if (chunk.is_doubtful && scan->visitor->salvages) {
    status = see_doubtful(scan, &chunk, &detail, error);
  } else if (is_damage(status) && status != TB_ERR_LIMIT) { /* what a ceiling hides is no damage */
    tb__mcap_damage_t damage = {.offset = scan->offset,
                                .size = end - scan->offset,
                                .has_times = true,
                                .start_ns = chunk.start_ns,
                                .end_ns = chunk.end_ns,
                                .message_count = count_indexed(scan, end)};
    scan->has_chunks = true;
    status = report(scan, &damage, &detail, error);
  } else if (status) {
    if (error) *error = detail;
  } else {
    status = see_chunk_records(scan, &chunk, (size_t)chunk.size, error);
  }
  scan->offset = end;
  return status;
}

static tb_status_t see_attachment(scan_t *scan, uint64_t length, uint64_t *end, tb_error_t *error)
{
  const uint8_t *content;
  size_t size = length < 65536 ? (size_t)length : 65536;
  uint64_t at = scan->offset + TB__MCAP_HEAD_SIZE;
  tb__mcap_attachment_t attachment;
  tb_status_t status = tb__bag_input_look(scan->input, at, size, &content, error);
  if (status) return status;
  if (!tb__mcap_parse_attachment(content, size, length, &attachment))
    return report_at(scan, TB_ERR_CORRUPT, scan->offset, length, "a damaged attachment", error);
  *end = end_of_record(scan, attachment.head_size + attachment.size + 4, length);
  uint32_t crc = 0, stored = 0;
  uint64_t crc_at = at + attachment.head_size + attachment.size;
  status = tb__mcap_input_crc(scan->input, at, crc_at, &crc, error);
  if (!status) status = tb__bag_input_look(scan->input, crc_at, sizeof stored, &content, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, sizeof stored);
  stored = tb__mcap_take_u32(&cursor);
  if (stored && stored != crc)
    return report_at(scan, TB_ERR_CORRUPT, scan->offset, length,
                     "the CRC of an attachment is wrong", error);
  if (!scan->visitor->attachment) return TB_OK;
  return scan->visitor->attachment(scan->visitor->user, scan->offset, &attachment, error);
}

/* The sizes in a chunk fit, though the length of its record does not. */
static bool is_whole(const scan_t *scan, const tb__mcap_chunk_t *chunk)
{
  uint64_t room = scan->input->size - scan->offset - TB__MCAP_HEAD_SIZE;
  return chunk->stored_size <= room && chunk->head_size <= room - chunk->stored_size &&
         tb__mcap_is_record(scan->input, scan->offset + TB__MCAP_HEAD_SIZE + chunk->head_size +
                                             chunk->stored_size);
}

/* The file ends in the record, or its head is nonsense. */
static tb_status_t see_broken(scan_t *scan, uint8_t opcode, tb_error_t *error)
{
  uint64_t start = scan->offset, size = scan->input->size, length;
  tb__mcap_chunk_t chunk;
  if (opcode == TB__MCAP_CHUNK && !tb__mcap_chunk_head(scan->input, start, &chunk, &length, NULL)) {
    scan->has_chunks = true; /* the messages in it are not those of the file itself */
    if (is_whole(scan, &chunk)) {
      tb_status_t status = report_harmless(scan, start, "the length of the chunk is wrong", error);
      return status ? status : see_chunk(scan, chunk.head_size + chunk.stored_size, error);
    }
  }
  if (scan->suspect) start = scan->suspect;
  uint64_t next = resync(scan, start + 1);
  if (scan->suspect && next == size) start = scan->offset;
  scan->suspect = 0;
  scan->offset = next;
  scan->done = next == size;
  if (next < size || opcode == 0 || opcode > TB__MCAP_DATA_END)
    return report_at(scan, TB_ERR_CORRUPT, start, next - start, "no record can be read here",
                     error);
  if (opcode == TB__MCAP_CHUNK && scan->visitor->salvages) {
    size_t salvaged = 0;
    tb_status_t status = tb__mcap_chunk_salvage(scan->input, &scan->codec, start, &scan->buffer,
                                                &chunk, &salvaged, NULL);
    scan->offset = start;
    if (!status) status = see_chunk_records(scan, &chunk, salvaged, error);
    scan->offset = size;
    if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  }
  return report_at(scan, TB_ERR_TRUNCATED, start, size - start, "the file ends inside a record",
                   error);
}

static bool is_of_data(uint8_t opcode)
{
  return opcode == TB__MCAP_HEADER || opcode == TB__MCAP_MESSAGE || opcode == TB__MCAP_CHUNK ||
         opcode == TB__MCAP_MESSAGE_INDEX || opcode == TB__MCAP_ATTACHMENT ||
         opcode == TB__MCAP_METADATA;
}

/* Where the data seems to end: whether records follow that only the data has; after a footer any.
 * Then the scan continues there. */
static tb_status_t go_on(scan_t *scan, uint64_t length, bool *goes_on, tb_error_t *error)
{
  const uint8_t *bytes;
  uint64_t next = scan->offset + TB__MCAP_HEAD_SIZE + length, size = scan->input->size;
  *goes_on = false;
  if (next > size || size - next < TB__MCAP_HEAD_SIZE) return TB_OK;
  tb_status_t status = tb__bag_input_look(scan->input, next, TB__MCAP_HEAD_SIZE, &bytes, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, 8);
  bool fits = tb__mcap_take_u64(&cursor) <= size - next - TB__MCAP_HEAD_SIZE;
  bool is_known = length == TB__MCAP_FOOTER_SIZE
                      ? bytes[0] >= TB__MCAP_HEADER && bytes[0] <= TB__MCAP_DATA_END
                      : is_of_data(bytes[0]);
  *goes_on = fits && is_known;
  if (!*goes_on) return TB_OK;
  status = report_harmless(scan, scan->offset, "records follow the end of the data", error);
  scan->offset = next;
  return status;
}

static tb_status_t see_end(scan_t *scan, uint64_t length, tb_error_t *error)
{
  const uint8_t *content;
  bool goes_on;
  if (length != 4) return see_broken(scan, 0, error); /* another record, whose opcode was hit */
  tb_status_t status = go_on(scan, length, &goes_on, error);
  if (status || goes_on) return status;
  scan->done = true;
  if (scan->damaged_until > 0) return TB_OK;
  uint32_t crc = 0;
  status = tb__bag_input_look(scan->input, scan->offset + TB__MCAP_HEAD_SIZE, 4, &content, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, 4);
  uint32_t stored = tb__mcap_take_u32(&cursor);
  if (stored == 0) return TB_OK;
  status = tb__mcap_input_crc(scan->input, 0, scan->offset, &crc, error);
  if (!status && crc != stored)
    status =
        report_at(scan, TB_ERR_CORRUPT, scan->offset, 0, "the CRC of the data is wrong", error);
  return status;
}

/* Without an end of the data. */
static tb_status_t see_footer(scan_t *scan, uint64_t length, tb_error_t *error)
{
  bool goes_on;
  if (length != TB__MCAP_FOOTER_SIZE) return see_broken(scan, 0, error);
  tb_status_t status = go_on(scan, length, &goes_on, error);
  if (status || goes_on) return status;
  scan->done = true;
  return report_at(scan, TB_ERR_CORRUPT, scan->offset, 0, "the data has no end record", error);
}

static tb_status_t see_next(scan_t *scan, tb_error_t *error)
{
  const uint8_t *bytes;
  uint64_t left = scan->input->size - scan->offset;
  if (left < TB__MCAP_HEAD_SIZE) {
    scan->done = true;
    return report_at(scan, TB_ERR_TRUNCATED, scan->offset, left,
                     "the data has no end record: cut off, or not closed", error);
  }
  tb_status_t status =
      tb__bag_input_look(scan->input, scan->offset, TB__MCAP_HEAD_SIZE, &bytes, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, 8);
  uint8_t opcode = bytes[0];
  uint64_t length = tb__mcap_take_u64(&cursor);
  if (opcode == 0 || length > left - TB__MCAP_HEAD_SIZE) return see_broken(scan, opcode, error);
  if (opcode == TB__MCAP_CHUNK) {
    scan->suspect = 0;
    return see_chunk(scan, length, error);
  }
  if (opcode == TB__MCAP_DATA_END) return see_end(scan, length, error);
  if (opcode == TB__MCAP_FOOTER) return see_footer(scan, length, error);
  uint64_t end = scan->offset + TB__MCAP_HEAD_SIZE + length;
  bool knows_its_size = opcode == TB__MCAP_MESSAGE || opcode == TB__MCAP_ATTACHMENT;
  scan->suspect = knows_its_size ? 0 : scan->offset;
  if (opcode == TB__MCAP_ATTACHMENT) {
    status = see_attachment(scan, length, &end, error);
  } else if (is_wanted(opcode) && length > TB__MCAP_MAX_RECORD) {
    status =
        report_at(scan, TB_ERR_LIMIT, scan->offset, length, "a record larger than 1 GiB", error);
  } else if (is_wanted(opcode)) {
    uint64_t at = scan->offset + TB__MCAP_HEAD_SIZE;
    status = tb__bag_input_look(scan->input, at, (size_t)length, &bytes, error);
    const tb__mcap_record_t record = {opcode, false, bytes, (size_t)length, scan->offset};
    if (!status) status = see_record(scan, &record, error);
  }
  scan->offset = end;
  return status;
}

static tb_status_t step(scan_t *scan, tb_error_t *error)
{
  uint64_t start = scan->offset, known = next_known(scan, start);
  tb_status_t status = see_next(scan, error);
  if (status || (scan->offset <= known && !(scan->done && known < scan->input->size)))
    return status;
  scan->offset = known;
  scan->done = false;
  return report_at(scan, TB_ERR_CORRUPT, start, known - start,
                   "a record extends past the next chunk", error);
}

static tb_status_t check_magic(scan_t *scan, tb_error_t *error)
{
  const uint8_t *bytes;
  uint64_t size = scan->input->size;
  size_t there = size < TB__MCAP_MAGIC_SIZE ? (size_t)size : TB__MCAP_MAGIC_SIZE;
  tb_status_t status = tb__bag_input_look(scan->input, 0, there, &bytes, error);
  if (status) return status;
  if (there > 0 && memcmp(bytes, TB__MCAP_MAGIC, there) != 0) {
    scan->offset = scan->visitor->salvages
                       ? tb__mcap_resync(scan->input, scan->definitions, scan->has_chunks, 0)
                       : size;
    if (scan->offset == size)
      return tb__bag_input_error(scan->input, TB_ERR_CORRUPT, 0, error, "not an MCAP file");
    return report_at(scan, TB_ERR_CORRUPT, 0, scan->offset,
                     "the file does not begin with the MCAP magic", error);
  }
  if (there < TB__MCAP_MAGIC_SIZE)
    return tb__bag_input_error(scan->input, TB_ERR_TRUNCATED, size, error,
                               "the file ends inside its first 8 bytes (the magic)");
  scan->offset = TB__MCAP_MAGIC_SIZE;
  return TB_OK;
}

tb_status_t tb__mcap_scan(tb__bag_input_t *input, tb__mcap_definitions_t *definitions,
                          const tb__mcap_visitor_t *visitor, tb_error_t *error)
{
  scan_t scan = {.input = input, .definitions = definitions, .visitor = visitor};
  tb_status_t status = check_magic(&scan, error);
  while (!status && !scan.done)
    status = step(&scan, error);
  tb__mcap_codec_fini(&scan.codec);
  tb__bag_buffer_fini(&scan.buffer);
  return status;
}
