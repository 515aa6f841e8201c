#include "mcap/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "mcap/scan.h"

#define RUN_SIZE    1048576 /* messages in the data section are read in pieces of this */
#define MAX_DAMAGES 1000    /* reported of one file */

typedef struct builder {
  tb__mcap_index_t *index;
  tb__bag_block_t block; /* of the messages that are seen; length 0: none */
  bool block_has_times;
  unsigned damages;
} builder_t;

void tb__mcap_index_fini(tb__mcap_index_t *index)
{
  tb__mcap_definitions_fini(&index->definitions);
  for (size_t i = 0; i < index->block_count; i++)
    free(index->blocks[i].text);
  free(index->blocks);
  free(index->topics.ids);
  free(index->metadata);
  free(index->ros_distro);
  free(index->oddity);
  *index = (tb__mcap_index_t){0};
}

tb_status_t tb__mcap_index_add(tb__mcap_index_t *index, const tb__bag_block_t *block,
                               tb_error_t *error)
{
  return tb__bag_block_add(&index->blocks, &index->block_count, &index->block_capacity, block,
                           error);
}

static tb_status_t replace_text(char **place, tb__mcap_text_t text, tb_error_t *error)
{
  char *copy = strndup(text.at, text.size);
  if (!copy) return tb__no_memory(error);
  free(*place);
  *place = copy;
  return TB_OK;
}

tb_status_t tb__mcap_index_metadata(tb__mcap_index_t *index, const void *content, size_t size,
                                    tb_error_t *error)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  tb__mcap_text_t key, value;
  tb__mcap_take_text(&cursor); /* its name */
  tb__mcap_cursor_t map = tb__mcap_take_map(&cursor);
  tb_status_t status = TB_OK;
  bool is_ours = tb__mcap_is_named(content, size, TB__MCAP_ROSBAG2);
  while (!status && !cursor.failed && tb__mcap_take_pair(&map, &key, &value)) {
    if (is_ours && tb__mcap_text_equals(key, "serialized_metadata"))
      status = replace_text(&index->metadata, value, error);
    else if (is_ours && tb__mcap_text_equals(key, "ROS_DISTRO"))
      status = replace_text(&index->ros_distro, value, error);
  }
  if (!status && (cursor.failed || map.failed))
    status = tb_error_set(error, TB_ERR_CORRUPT, "a damaged metadata record");
  return status;
}

/* ---- by a scan ---- */

static tb_status_t end_block(builder_t *builder, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  if (builder->block.length > 0 && builder->block_has_times)
    status = tb__mcap_index_add(builder->index, &builder->block, error);
  builder->block = (tb__bag_block_t){0};
  builder->block_has_times = false;
  return status;
}

static void include_time(bool *has_times, uint64_t *start_ns, uint64_t *end_ns, uint64_t time_ns)
{
  if (!*has_times || time_ns < *start_ns) *start_ns = time_ns;
  if (!*has_times || time_ns > *end_ns) *end_ns = time_ns;
  *has_times = true;
}

static tb_status_t on_chunk(void *user, uint64_t offset, const tb__mcap_chunk_t *chunk,
                            tb_error_t *error)
{
  builder_t *builder = user;
  tb_status_t status = end_block(builder, error);
  builder->block =
      (tb__bag_block_t){.kind = TB__BAG_BLOCK_CHUNK,
                        .offset = offset,
                        .length = TB__MCAP_HEAD_SIZE + chunk->head_size + chunk->stored_size,
                        .size = chunk->size};
  return status;
}

/* A run goes from its first message to its last one, whatever small records are between. */
static tb_status_t extend_run(builder_t *builder, const tb__mcap_record_t *record,
                              tb_error_t *error)
{
  tb__bag_block_t *block = &builder->block;
  uint64_t length = TB__MCAP_HEAD_SIZE + record->size;
  uint64_t end = record->offset + length;
  tb_status_t status = TB_OK;
  if (block->length == 0 || block->kind != TB__BAG_BLOCK_RUN || end - block->offset > RUN_SIZE) {
    status = end_block(builder, error);
    *block = (tb__bag_block_t){.kind = TB__BAG_BLOCK_RUN, .offset = record->offset};
  }
  block->length = block->size = end - block->offset;
  return status;
}

static tb_status_t on_record(void *user, const tb__mcap_record_t *record, tb_error_t *error)
{
  builder_t *builder = user;
  tb__mcap_index_t *index = builder->index;
  tb_status_t status = TB_OK;
  if (record->opcode == TB__MCAP_METADATA) {
    index->extra_count += !tb__mcap_is_own_metadata(record->content, record->size);
    status = tb__mcap_index_metadata(index, record->content, record->size, error);
    return status == TB_ERR_CORRUPT ? TB_OK : status; /* nothing that messages need */
  }
  tb__mcap_message_t message;
  if (record->opcode != TB__MCAP_MESSAGE ||
      !tb__mcap_parse_message(record->content, record->size, &message))
    return TB_OK;
  if (!record->in_chunk) status = extend_run(builder, record, error);
  if (status) return status;
  uint64_t time_ns = message.log_time_ns;
  include_time(&builder->block_has_times, &builder->block.start_ns, &builder->block.end_ns,
               time_ns);
  include_time(&index->has_times, &index->start_ns, &index->end_ns, time_ns);
  index->message_count++;
  return tb__mcap_definitions_count(&index->definitions, message.channel_id, 1, error);
}

static tb_status_t on_attachment(void *user, uint64_t offset,
                                 const tb__mcap_attachment_t *attachment, tb_error_t *error)
{
  (void)offset, (void)attachment, (void)error; /* it is only counted */
  builder_t *builder = user;
  builder->index->extra_count++;
  return TB_OK;
}

static tb_status_t add_damage(tb__mcap_index_t *index, const tb__mcap_damage_t *damage,
                              tb_error_t *error)
{
  tb__bag_block_t block = {.kind = TB__BAG_BLOCK_DAMAGE,
                           .start_ns = damage->has_times ? damage->start_ns : index->end_ns,
                           .end_ns = damage->has_times ? damage->end_ns : UINT64_MAX,
                           .offset = damage->offset,
                           .length = damage->size,
                           .is_unclosed_end = tb__mcap_is_unclosed(damage->status, damage->size),
                           .status = damage->status,
                           .text = strdup(damage->text)};
  tb_status_t status = block.text ? tb__mcap_index_add(index, &block, error) : tb__no_memory(error);
  if (status) free(block.text);
  return status;
}

/* The first is enough. */
static tb_status_t note_oddity(tb__mcap_index_t *index, const char *text, tb_error_t *error)
{
  if (!index->oddity) index->oddity = strdup(text);
  return index->oddity ? TB_OK : tb__no_memory(error);
}

static tb_status_t on_damage(void *user, const tb__mcap_damage_t *damage, tb_error_t *error)
{
  builder_t *builder = user;
  if (damage->harm == TB__MCAP_HARMLESS) return note_oddity(builder->index, damage->text, error);
  tb_status_t status = end_block(builder, error);
  if (status || ++builder->damages > MAX_DAMAGES) return status;
  return add_damage(builder->index, damage, error);
}

static tb_status_t scan(tb__bag_input_t *input, tb__mcap_index_t *index, tb_error_t *error)
{
  builder_t builder = {.index = index};
  const tb__mcap_visitor_t visitor = {.user = &builder,
                                      .chunk = on_chunk,
                                      .record = on_record,
                                      .attachment = on_attachment,
                                      .damage = on_damage};
  tb_status_t status = tb__mcap_scan(input, &index->definitions, &visitor, error);
  if (!status) status = end_block(&builder, error);
  return status;
}

/* ---- either ---- */

static int compare_offsets(const void *a, const void *b)
{
  uint64_t x = ((const tb__bag_block_t *)a)->offset, y = ((const tb__bag_block_t *)b)->offset;
  return (x > y) - (x < y);
}

void tb__mcap_index_sort(tb__mcap_index_t *index)
{
  size_t sorted = index->block_count > 0;
  while (sorted < index->block_count &&
         index->blocks[sorted - 1].offset <= index->blocks[sorted].offset)
    sorted++;
  if (sorted < index->block_count) /* rarely: entries are in the order of the file */
    qsort(index->blocks, index->block_count, sizeof *index->blocks, compare_offsets);
}

static tb_status_t number_rows(tb__bag_input_t *input, tb__mcap_index_t *index, tb_error_t *error)
{
  uint64_t base = 0;
  tb__mcap_index_sort(index);
  for (size_t i = 0; i < index->block_count; i++) {
    tb__bag_block_t *block = &index->blocks[i];
    block->base = block->offset > base ? block->offset : base;
    if (__builtin_add_overflow(block->base, block->size + 1, &base) || base > INT64_MAX)
      return tb__bag_input_error(input, TB_ERR_LIMIT, block->offset, error, "too much in one file");
  }
  return TB_OK;
}

static tb_status_t scan_instead(tb__bag_input_t *input, tb__mcap_index_t *out, tb_status_t why,
                                const tb_error_t *reason, tb_error_t *error)
{
  tb__mcap_index_fini(out);
  tb_status_t status = scan(input, out, error);
  if (status || why == TB_ERR_NOT_FOUND) return status;
  if (why == TB_ERR_INVALID) return note_oddity(out, reason->text, error);
  for (size_t i = 0; i < out->block_count; i++)
    if (out->blocks[i].kind == TB__BAG_BLOCK_DAMAGE) return TB_OK;
  /* All messages exist, but part of the file is missing. */
  tb__log(TB_LOG_WARN, "%s; its index was rebuilt", reason->text);
  tb__mcap_damage_t damage = {.status = why, .offset = input->size};
  memcpy(damage.text, reason->text, sizeof damage.text);
  return add_damage(out, &damage, error);
}

tb_status_t tb__mcap_index_load(tb__bag_input_t *input, tb__mcap_index_t *out, tb_error_t *error)
{
  tb_error_t reason = TB_ERROR_INIT;
  *out = (tb__mcap_index_t){0};
  tb_status_t status = tb__mcap_summary_load(input, out, &reason);
  if (status == TB_ERR_NOT_FOUND || status == TB_ERR_INVALID || status == TB_ERR_TRUNCATED ||
      status == TB_ERR_CORRUPT || status == TB_ERR_LIMIT)
    status = scan_instead(input, out, status, &reason, error);
  else if (status && error)
    *error = reason;
  return status ? status : number_rows(input, out, error);
}

static tb_status_t compare_claims(const tb__bag_input_t *input, tb__mcap_index_t *index,
                                  const tb__mcap_claims_t *claims, tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  for (size_t i = 0; i < index->block_count; i++)
    if (index->blocks[i].kind == TB__BAG_BLOCK_DAMAGE) return TB_OK;
  if (claims->messages == index->message_count) return TB_OK;
  tb__bag_input_error(input, TB_ERR_INVALID, input->size, &detail,
                      "the summary's count of messages is wrong: %llu, and there are %llu; it is "
                      "not used",
                      (unsigned long long)claims->messages,
                      (unsigned long long)index->message_count);
  return note_oddity(index, detail.text, error);
}

tb_status_t tb__mcap_index_scan(tb__bag_input_t *input, tb__mcap_index_t *index, tb_error_t *error)
{
  tb__mcap_index_t scanned = {0};
  tb_status_t status = scan(input, &scanned, error);
  if (!status) status = number_rows(input, &scanned, error);
  if (!status) status = compare_claims(input, &scanned, &index->claims, error);
  if (status) {
    tb__mcap_index_fini(&scanned);
    return status;
  }
  tb__mcap_index_fini(index);
  *index = scanned;
  return TB_OK;
}
