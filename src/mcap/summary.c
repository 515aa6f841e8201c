#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "mcap/coverage.h"
#include "mcap/crc.h"

#define MAX_SUMMARY  (UINT64_C(256) << 20)
#define MAX_METADATA (UINT64_C(16) << 20)
#define INDEX_HEAD   UINT64_C(15) /* bytes of a message index before its entries */
#define PLACE_SIZE   10           /* bytes of an entry of the map of offsets */
#define FEW_PLACES   64

/* Of a message index. */
typedef struct place {
  uint64_t offset;
  uint16_t channel;
} place_t;

typedef struct summary {
  tb__bag_input_t *input;
  tb__mcap_index_t *index;
  uint64_t start; /* of the summary */
  uint64_t metadata_offset, metadata_length;
  uint32_t own_records;
  bool has_statistics;
  tb__mcap_statistics_t statistics;
  uint8_t *counts; /* the bytes of its counts */
  uint32_t crc;    /* of what was taken */
  uint64_t indexed_messages;
  bool is_indexed;          /* every chunk has a count of messages */
  uint64_t *channel_counts; /* by channel, of the message indexes; NULL: there are none */
  place_t *places;          /* of the indexes of one chunk */
  size_t place_capacity;
} summary_t;

static tb_status_t corrupt(const summary_t *summary, uint64_t offset, const char *what,
                           tb_error_t *error)
{
  return tb__bag_input_error(summary->input, TB_ERR_CORRUPT, offset, error, "%s", what);
}

/* The bytes are intact, but their content cannot be true. */
static tb_status_t contradicts(const summary_t *summary, const char *what, tb_error_t *error)
{
  return tb__bag_input_error(summary->input, TB_ERR_INVALID, summary->start, error,
                             "the summary contradicts itself: %s; it is not used", what);
}

static tb_status_t read_footer(tb__bag_input_t *input, tb__mcap_footer_t *out, tb_error_t *error)
{
  uint8_t bytes[TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE + TB__MCAP_MAGIC_SIZE];
  if (input->size < sizeof bytes + TB__MCAP_MAGIC_SIZE)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error,
                               "the file has no footer");
  uint64_t at = input->size - sizeof bytes;
  tb_status_t status = tb__bag_input_read(input, at, bytes, sizeof bytes, error);
  if (status) return status;
  const uint8_t *magic = bytes + sizeof bytes - TB__MCAP_MAGIC_SIZE;
  if (memcmp(magic, TB__MCAP_MAGIC, TB__MCAP_MAGIC_SIZE) != 0)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error,
                               "the file does not end with the MCAP magic: cut off, or not closed");
  tb__mcap_cursor_t head = tb__mcap_cursor(bytes + 1, 8);
  if (bytes[0] != TB__MCAP_FOOTER || tb__mcap_take_u64(&head) != TB__MCAP_FOOTER_SIZE ||
      !tb__mcap_parse_footer(bytes + TB__MCAP_HEAD_SIZE, TB__MCAP_FOOTER_SIZE, out) ||
      out->summary_start > at || out->offsets_start > at)
    return tb__bag_input_error(input, TB_ERR_CORRUPT, at, error, "the footer is damaged");
  return TB_OK;
}

static int compare_places(const void *a, const void *b)
{
  uint64_t x = ((const place_t *)a)->offset, y = ((const place_t *)b)->offset;
  return (x > y) - (x < y);
}

/* Writers list them in any order. */
static void sort_places(place_t *places, size_t count)
{
  if (count > FEW_PLACES) {
    qsort(places, count, sizeof *places, compare_places);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    place_t moved = places[i];
    size_t at = i;
    for (; at > 0 && places[at - 1].offset > moved.offset; at--)
      places[at] = places[at - 1];
    places[at] = moved;
  }
}

static uint64_t offset_at(const uint8_t *entry)
{
  uint64_t offset;
  memcpy(&offset, entry + sizeof(uint16_t), sizeof offset);
  return le64toh(offset);
}

static uint16_t channel_at(const uint8_t *entry)
{
  uint16_t channel;
  memcpy(&channel, entry, sizeof channel);
  return le16toh(channel);
}

static tb_status_t list_places(summary_t *summary, const tb__mcap_chunk_index_t *chunk,
                               tb_error_t *error)
{
  size_t count = chunk->channel_count;
  if (count > summary->place_capacity) {
    place_t *grown = reallocarray(summary->places, 2 * count, sizeof *grown);
    if (!grown) return tb__no_memory(error);
    summary->places = grown;
    summary->place_capacity = 2 * count;
  }
  const uint8_t *at = chunk->offsets;
  for (size_t i = 0; i < count; i++, at += PLACE_SIZE) {
    summary->places[i] = (place_t){offset_at(at), channel_at(at)};
  }
  sort_places(summary->places, count);
  return TB_OK;
}

/* Adds `sign` times the messages of the indexes before `last`; the one before it ends at `end`.
 * Returns the first of a size that no index has, where it stops; `last`: there is none. */
static const uint8_t *add_counts(const summary_t *summary, const tb__mcap_chunk_index_t *chunk,
                                 const uint8_t *last, uint64_t end, uint64_t sign)
{
  uint64_t offset = offset_at(chunk->offsets);
  const uint8_t *at = chunk->offsets;
  for (; at < last; at += PLACE_SIZE) {
    uint64_t next = at + PLACE_SIZE < last ? offset_at(at + PLACE_SIZE) : end;
    uint64_t size = next - offset - INDEX_HEAD;
    if (size > chunk->index_length || size % 16 != 0) break;
    summary->channel_counts[channel_at(at)] += sign * (size / 16);
    offset = next;
  }
  return at;
}

/* Whether they are listed in the order of the file, so that they need not be sorted; then they are
 * counted. */
static bool count_in_order(const summary_t *summary, const tb__mcap_chunk_index_t *chunk,
                           uint64_t begin, uint64_t end)
{
  const uint8_t *last = chunk->offsets + PLACE_SIZE * chunk->channel_count;
  if (offset_at(chunk->offsets) < begin) return false;
  const uint8_t *wrong = add_counts(summary, chunk, last, end, 1);
  if (wrong == last) return true;
  add_counts(summary, chunk, wrong, offset_at(wrong), (uint64_t)-1);
  return false;
}

/* The indexes follow the chunk, one after another: where the next one begins is the end of one. */
static tb_status_t count_channels(summary_t *summary, const tb__mcap_chunk_index_t *chunk,
                                  tb_error_t *error)
{
  uint64_t begin = chunk->offset + chunk->length, end = begin + chunk->index_length;
  if (!summary->channel_counts)
    summary->channel_counts = calloc(TB__MCAP_IDS, sizeof *summary->channel_counts);
  if (!summary->channel_counts) return tb__no_memory(error);
  if (count_in_order(summary, chunk, begin, end)) return TB_OK;
  tb_status_t status = list_places(summary, chunk, error);
  for (size_t i = 0; i < chunk->channel_count && !status; i++) {
    const place_t *place = &summary->places[i];
    uint64_t next = i + 1 < chunk->channel_count ? place[1].offset : end;
    uint64_t size = next - place->offset;
    if (place->offset < begin || place->offset > next || next > end || size < INDEX_HEAD ||
        (size - INDEX_HEAD) % 16 != 0)
      return contradicts(summary, "message indexes cannot be where it lists them", error);
    summary->channel_counts[place->channel] += (size - INDEX_HEAD) / 16;
  }
  return status;
}

/* Of most chunks they are those of the one before. */
static tb_status_t list_channels(summary_t *summary, const tb__mcap_chunk_index_t *chunk,
                                 tb__bag_block_t *block, tb_error_t *error)
{
  tb__bag_topic_lists_t *lists = &summary->index->topics;
  const uint8_t *at = chunk->offsets;
  size_t count = chunk->channel_count, same = 0;
  while (same < count && count == lists->last_count &&
         lists->ids[lists->last_at + same] == channel_at(at + same * PLACE_SIZE))
    same++;
  if (same == count) {
    block->topics_at = lists->last_at;
    block->topic_count = lists->last_count;
    return TB_OK;
  }
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = tb__bag_topic_list_add(lists, block, channel_at(at + i * PLACE_SIZE), error);
  tb__bag_topic_list_end(lists, block);
  return status;
}

static tb_status_t take_chunk(summary_t *summary, uint64_t at, const void *content, size_t size,
                              tb_error_t *error)
{
  tb__mcap_chunk_index_t chunk;
  if (!tb__mcap_parse_chunk_index(content, size, &chunk) || chunk.offset < TB__MCAP_MAGIC_SIZE ||
      chunk.offset > summary->start || chunk.length > summary->start - chunk.offset ||
      chunk.length < TB__MCAP_HEAD_SIZE + TB__MCAP_CHUNK_SIZE || chunk.start_ns > chunk.end_ns ||
      chunk.stored_size > chunk.length || chunk.size > UINT32_MAX)
    return corrupt(summary, at, "an entry of the chunk index is damaged", error);
  uint64_t heads = INDEX_HEAD * chunk.channel_count;
  bool is_indexed = chunk.channel_count > 0 && chunk.index_length >= heads;
  summary->is_indexed = summary->is_indexed && is_indexed;
  uint64_t room = summary->start - chunk.offset - chunk.length;
  if (is_indexed && chunk.index_length > room)
    return contradicts(summary, "message indexes extend past the data", error);
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_CHUNK,
                           .start_ns = chunk.start_ns,
                           .end_ns = chunk.end_ns,
                           .offset = chunk.offset,
                           .length = chunk.length,
                           .size = chunk.size,
                           .index_length = is_indexed ? chunk.index_length : 0,
                           .is_counted = is_indexed};
  if (is_indexed) block.message_count = (chunk.index_length - heads) / 16;
  summary->indexed_messages += block.message_count;
  tb_status_t status = is_indexed ? count_channels(summary, &chunk, error) : TB_OK;
  if (is_indexed && !status) status = list_channels(summary, &chunk, &block, error);
  return status ? status : tb__mcap_index_add(summary->index, &block, error);
}

static tb_status_t take_metadata_index(summary_t *summary, uint64_t at, const void *content,
                                       size_t size, tb_error_t *error)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  uint64_t offset = tb__mcap_take_u64(&cursor), length = tb__mcap_take_u64(&cursor);
  tb__mcap_text_t name = tb__mcap_take_text(&cursor);
  if (cursor.failed || offset > summary->start || length > summary->start - offset ||
      length < TB__MCAP_HEAD_SIZE)
    return corrupt(summary, at, "an entry of the metadata index is damaged", error);
  summary->own_records += tb__mcap_text_equals(name, TB__MCAP_NOTES);
  if (!tb__mcap_text_equals(name, TB__MCAP_ROSBAG2)) return TB_OK;
  summary->own_records++;
  if (offset < summary->metadata_offset) return TB_OK;
  summary->metadata_offset = offset;
  summary->metadata_length = length;
  return TB_OK;
}

static tb_status_t take_statistics(summary_t *summary, uint64_t at, const void *content,
                                   size_t size, tb_error_t *error)
{
  tb__mcap_cursor_t *counts = &summary->statistics.counts;
  summary->has_statistics = true;
  if (!tb__mcap_parse_statistics(content, size, &summary->statistics))
    return corrupt(summary, at, "the statistics are damaged", error);
  uint8_t *copy = malloc(counts->left + 1);
  if (!copy) return tb__no_memory(error);
  if (counts->left > 0) memcpy(copy, counts->at, counts->left);
  free(summary->counts);
  summary->counts = copy;
  *counts = tb__mcap_cursor(copy, counts->left);
  return TB_OK;
}

static tb_status_t take(summary_t *summary, uint64_t at, uint8_t opcode, const void *content,
                        size_t size, tb_error_t *error)
{
  tb_error_t detail;
  switch (opcode) {
  case TB__MCAP_SCHEMA:
  case TB__MCAP_CHANNEL: {
    tb_status_t status =
        tb__mcap_definitions_add(&summary->index->definitions, opcode, content, size, &detail);
    return status ? tb__bag_input_error(summary->input, status, at, error, "%s", detail.text)
                  : TB_OK;
  }
  case TB__MCAP_CHUNK_INDEX:
    return take_chunk(summary, at, content, size, error);
  case TB__MCAP_METADATA_INDEX:
    return take_metadata_index(summary, at, content, size, error);
  case TB__MCAP_STATISTICS:
    return take_statistics(summary, at, content, size, error);
  default:
    return TB_OK;
  }
}

/* Record by record, so that many entries of chunks need no memory twice. */
static tb_status_t take_all(summary_t *summary, uint64_t end, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  uint64_t length = 0;
  for (uint64_t at = summary->start; !status && at < end; at += TB__MCAP_HEAD_SIZE + length) {
    const uint8_t *bytes = NULL;
    if (end - at < TB__MCAP_HEAD_SIZE) return corrupt(summary, at, "the summary is damaged", error);
    status = tb__bag_input_look(summary->input, at, TB__MCAP_HEAD_SIZE, &bytes, error);
    if (status) return status;
    tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, 8);
    length = tb__mcap_take_u64(&cursor);
    if (bytes[0] == 0 || length > end - at - TB__MCAP_HEAD_SIZE)
      return corrupt(summary, at, "the summary is damaged", error);
    size_t size = (size_t)length;
    status = tb__bag_input_look(summary->input, at, TB__MCAP_HEAD_SIZE + size, &bytes, error);
    if (status) return status;
    summary->crc = libdeflate_crc32(summary->crc, bytes, TB__MCAP_HEAD_SIZE + size);
    status = take(summary, at, bytes[0], bytes + TB__MCAP_HEAD_SIZE, size, error);
  }
  return status;
}

/* Statistics need not count channels. */
static tb_status_t use_counts_of_index(summary_t *summary, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t id = 0; id < TB__MCAP_IDS && !status; id++)
    if (summary->channel_counts[id] > 0)
      status = tb__mcap_definitions_count(&summary->index->definitions, (uint16_t)id,
                                          summary->channel_counts[id], error);
  return status;
}

/* A channel without a definition has messages, or one's schema is missing: the data has them. */
static bool lacks_definitions(const summary_t *summary)
{
  const tb__mcap_definitions_t *all = &summary->index->definitions;
  for (size_t id = 0; id < all->channels.count; id++) {
    tb__mcap_channel_t channel;
    bool is_there = tb__mcap_definitions_channel(all, (uint16_t)id, &channel);
    if (is_there && channel.schema_id &&
        !tb__mcap_definition(&all->schemas, channel.schema_id).content)
      return true;
    if (!is_there && all->channels.at[id].message_count > 0) return true;
  }
  return false;
}

static tb_status_t take_counts(summary_t *summary, tb_error_t *error)
{
  uint64_t sum = 0;
  bool has_counts = summary->is_indexed && summary->channel_counts;
  tb__mcap_cursor_t counts = summary->statistics.counts;
  if (counts.left == 0 && has_counts) return use_counts_of_index(summary, error);
  while (counts.left > 0) {
    uint16_t id = tb__mcap_take_u16(&counts);
    uint64_t count = tb__mcap_take_u64(&counts);
    tb_status_t status = tb__mcap_definitions_count(&summary->index->definitions, id, count, error);
    if (status) return status;
    if (__builtin_add_overflow(sum, count, &sum)) sum = UINT64_MAX;
    if (has_counts && summary->channel_counts[id] != count)
      return contradicts(summary, "its statistics and its index count a channel differently",
                         error);
  }
  return sum == summary->statistics.message_count
             ? TB_OK
             : contradicts(summary, "its counts do not add up", error);
}

/* Fills the counts from the statistics, which must agree with the rest. */
static tb_status_t use_statistics(summary_t *summary, tb_error_t *error)
{
  const tb__mcap_statistics_t *statistics = &summary->statistics;
  tb__mcap_index_t *index = summary->index;
  bool has_none = statistics->channel_count > 0 || statistics->message_count > 0;
  bool has_content = statistics->message_count > 0 || statistics->chunk_count > 0;
  if (!summary->has_statistics || (index->block_count == 0 && has_content) ||
      (index->block_count > 0 && statistics->message_count == 0) ||
      (index->definitions.channel_count == 0 && has_none))
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: its summary does not cover its messages",
                        summary->input->path);
  if (statistics->chunk_count != index->block_count)
    return contradicts(summary, "its statistics and its index count chunks differently", error);
  if (statistics->channel_count != index->definitions.channel_count)
    return contradicts(summary, "its statistics give a wrong number of channels", error);
  if (summary->is_indexed ? summary->indexed_messages != statistics->message_count
                          : summary->indexed_messages > statistics->message_count)
    return contradicts(summary, "its statistics and its index count messages differently", error);
  if (statistics->start_ns > statistics->end_ns)
    return contradicts(summary, "its times are reversed", error);
  index->message_count = statistics->message_count;
  index->has_times = statistics->message_count > 0;
  index->start_ns = statistics->start_ns;
  index->end_ns = statistics->end_ns;
  index->extra_count = statistics->attachment_count;
  if (statistics->metadata_count > summary->own_records)
    index->extra_count += statistics->metadata_count - summary->own_records;
  tb_status_t status = take_counts(summary, error);
  return !status && lacks_definitions(summary)
             ? contradicts(summary, "it does not list all channels and schemas of its messages",
                           error)
             : status;
}

static void note_claims(summary_t *summary)
{
  const tb__mcap_statistics_t *statistics = &summary->statistics;
  summary->index->claims = (tb__mcap_claims_t){.are_there = summary->has_statistics,
                                               .messages = statistics->message_count,
                                               .attachments = statistics->attachment_count,
                                               .metadata = statistics->metadata_count};
}

/* Where all messages are in blocks, one of them begins when the file does: a start that is too
 * early would let a player wait for years. */
static bool has_start_of_a_block(const tb__mcap_index_t *index)
{
  for (size_t i = 0; i < index->block_count; i++)
    if (index->blocks[i].message_count > 0 && index->blocks[i].start_ns <= index->start_ns)
      return true;
  return false;
}

static bool is_sound(const summary_t *summary)
{
  tb__mcap_index_t *index = summary->index;
  tb__mcap_index_sort(index);
  if (summary->is_indexed && index->has_times && !has_start_of_a_block(index)) return false;
  for (size_t i = 0; i < index->block_count; i++) {
    const tb__bag_block_t *block = &index->blocks[i];
    if (block->end_ns > index->end_ns) return false;
    if (block->message_count > 0 && block->start_ns < index->start_ns) return false;
    if (i > 0 && block->offset < block[-1].offset + block[-1].length) return false;
  }
  return true;
}

static tb_status_t read_metadata(summary_t *summary, tb_error_t *error)
{
  const uint8_t *bytes;
  if (summary->metadata_offset == 0 || summary->metadata_length > MAX_METADATA) return TB_OK;
  size_t size = (size_t)summary->metadata_length;
  tb_status_t status =
      tb__bag_input_look(summary->input, summary->metadata_offset, size, &bytes, error);
  if (status) return status;
  if (bytes[0] != TB__MCAP_METADATA)
    return corrupt(summary, summary->metadata_offset, "no metadata record here", error);
  tb_error_t detail;
  status = tb__mcap_index_metadata(summary->index, bytes + TB__MCAP_HEAD_SIZE,
                                   size - TB__MCAP_HEAD_SIZE, &detail);
  return status ? tb__bag_input_error(summary->input, status, summary->metadata_offset, error, "%s",
                                      detail.text)
                : TB_OK;
}

/* Of bytes with a wrong CRC nothing else is reported. */
static tb_status_t take_checked(summary_t *summary, const tb__mcap_footer_t *footer,
                                tb_error_t *error)
{
  uint64_t crc_at = summary->input->size - TB__MCAP_MAGIC_SIZE - 4; /* it ends before its CRC */
  uint64_t end = crc_at - (TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE - 4), rest = end;
  tb_error_t detail = TB_ERROR_INIT;
  if (crc_at - summary->start > MAX_SUMMARY)
    return tb__bag_input_error(summary->input, TB_ERR_LIMIT, summary->start, error,
                               "a summary larger than 256 MiB");
  tb_status_t taken = take_all(summary, end, &detail), status = TB_OK;
  if (taken) { /* not to its end */
    summary->crc = 0;
    rest = summary->start;
  }
  if (footer->crc) status = tb__mcap_input_crc(summary->input, rest, crc_at, &summary->crc, error);
  if (status) return status;
  if (footer->crc && summary->crc != footer->crc)
    return corrupt(summary, summary->start, "the CRC of the summary is wrong", error);
  if (taken && error) *error = detail;
  return taken;
}

tb_status_t tb__mcap_summary_load(tb__bag_input_t *input, tb__mcap_index_t *index,
                                  tb_error_t *error)
{
  tb__mcap_footer_t footer = {0};
  tb_status_t status = read_footer(input, &footer, error);
  if (status) return status;
  summary_t summary = {
      .input = input, .index = index, .start = footer.summary_start, .is_indexed = true};
  if (footer.summary_start == 0)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no summary", input->path);
  status = take_checked(&summary, &footer, error);
  if (!status) note_claims(&summary);
  if (!status) status = use_statistics(&summary, error);
  if (!status && !is_sound(&summary))
    status = corrupt(&summary, summary.start, "the chunk index contradicts itself", error);
  if (!status) status = tb__mcap_check_coverage(input, index, summary.start, error);
  if (!status) status = read_metadata(&summary, error);
  free(summary.counts);
  free(summary.channel_counts);
  free(summary.places);
  index->is_indexed = summary.is_indexed;
  index->is_of_summary = !status;
  return status;
}
