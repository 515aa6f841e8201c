/* How many messages each topic has: from the files, or from what the recording notes of itself. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bag/reader.h"
#include "base/no_memory.h"

static tb_status_t count_file(tb_bag_reader_t *reader, size_t index, tb_error_t *error)
{
  const tb__bag_source_t *source = &reader->sources[index];
  if (!source->has_rows || source->is_left_out) return TB_OK;
  tb__bag_file_topic_t *topics = calloc(source->link_count + 1, sizeof *topics);
  if (!topics) return tb__no_memory(error);
  for (size_t i = 0; i < source->link_count; i++)
    topics[i].id = source->links[i].id;
  tb__bag_file_info_t info = {.topics = topics, .topic_count = source->link_count};
  tb_status_t status = tb__bag_source_open(reader, index, error);
  if (!status) {
    status = source->part->storage->count_topics(source->file, &info, error);
    tb__bag_source_close(reader, index);
  }
  for (size_t i = 0; i < source->link_count && !status; i++)
    reader->table.topics[source->links[i].topic].message_count += topics[i].message_count;
  free(topics);
  return status;
}

static tb_status_t count_files(tb_bag_reader_t *reader, const tb__bag_part_t *part,
                               tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < reader->source_count && !status; i++)
    if (reader->sources[i].part == part) status = count_file(reader, i, error);
  return status;
}

/* ---- by what the recording notes of itself ---- */

/* In the place of the estimate. */
static tb_status_t count_rows(tb_bag_reader_t *reader, tb__bag_source_t *source, tb_error_t *error)
{
  size_t index = (size_t)(source - reader->sources);
  tb__bag_file_info_t info = {0};
  tb_status_t status = tb__bag_source_open(reader, index, error);
  if (status) return status;
  source->file->is_estimate_enough = false;
  status = source->part->storage->read_info(source->file, &info, error);
  tb__bag_source_close(reader, index);
  if (!status) {
    reader->info.message_count += info.message_count - source->row_count;
    source->part->message_count += info.message_count - source->row_count;
    source->part->whole_count += info.message_count - source->row_count;
    if (info.counted < reader->info.counted) reader->info.counted = info.counted;
    source->row_count = info.message_count;
    source->is_estimated = false;
    source->has_rows = info.message_count > 0 || info.has_damage_rows;
  }
  tb__bag_file_info_fini(&info);
  return status;
}

static tb_status_t count_estimated(tb_bag_reader_t *reader, const tb__bag_part_t *part,
                                   tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < reader->source_count && !status; i++) {
    tb__bag_source_t *source = &reader->sources[i];
    if (source->part != part || !source->is_estimated || source->is_left_out) continue;
    status = count_rows(reader, source, error);
  }
  return status;
}

static bool has_estimates(const tb_bag_reader_t *reader, const tb__bag_part_t *part)
{
  for (size_t i = 0; i < reader->source_count; i++)
    if (reader->sources[i].part == part && reader->sources[i].is_estimated) return true;
  return false;
}

static tb_status_t contradict(tb_bag_reader_t *reader, const char *text, tb_error_t *error)
{
  reader->info.counted = TB_BAG_COUNTED_MESSAGES;
  return tb__topic_table_note(&reader->table, text, error);
}

/* What the files list of topics must be all there is, and what metadata.yaml lists. */
static tb_status_t compare(tb_bag_reader_t *reader, const tb__bag_part_t *part, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = tb__bag_part_metadata(part);
  char text[TB_ERROR_TEXT_SIZE];
  const char *path = part->location.path;
  uint64_t sum = 0;
  for (size_t i = 0; i < reader->table.count; i++) {
    const tb_bag_topic_t *topic = &reader->table.topics[i];
    tb__bag_metadata_topic_t listed = {0};
    sum += topic->message_count;
    bool is_listed = metadata && tb__bag_metadata_find_topic(metadata, topic->name, &listed);
    if (!is_listed || listed.message_count == topic->message_count) continue;
    snprintf(text, sizeof text,
             "%.200s/metadata.yaml lists %" PRIu64 " messages of %.80s, but the files %" PRIu64
             "; the messages were read",
             path, listed.message_count, topic->name, topic->message_count);
    return contradict(reader, text, error);
  }
  if (sum != part->message_count) {
    snprintf(text, sizeof text,
             "%.200s: it has %" PRIu64 " messages, but its topics have %" PRIu64
             "; the messages were read",
             path, part->message_count, sum);
    return contradict(reader, text, error);
  }
  if (!metadata || metadata->message_count == sum) return TB_OK;
  snprintf(text, sizeof text,
           "%.200s/metadata.yaml lists %" PRIu64 " messages, but the files have %" PRIu64
           "; the messages were read",
           path, metadata->message_count, sum);
  return contradict(reader, text, error);
}

static tb_status_t use_summary(tb_bag_reader_t *reader, tb__bag_part_t *part, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = tb__bag_part_metadata(part);
  tb_status_t status = TB_OK;
  if (has_estimates(reader, part)) {
    if (tb__topic_table_add_counts(&reader->table, metadata, part->message_count)) return TB_OK;
    status = count_estimated(reader, part, error);
  }
  if (!status) status = count_files(reader, part, error);
  bool is_trusted = reader->info.counted != TB_BAG_COUNTED_MESSAGES;
  return !status && is_trusted && reader->part_count == 1 ? compare(reader, part, error) : status;
}

tb_status_t tb__bag_reader_count(tb_bag_reader_t *reader, tb__bag_part_t *part, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = tb__bag_part_metadata(part);
  if (reader->options.counts == TB_BAG_COUNTS_SUMMARY) return use_summary(reader, part, error);
  if (reader->options.counts == TB_BAG_COUNTS_AUTO && metadata &&
      tb__topic_table_add_counts(&reader->table, metadata, part->message_count))
    return TB_OK;
  return count_files(reader, part, error);
}
