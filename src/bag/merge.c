/* Messages of all files of a bag in the order of time. */
#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "base/null_argument.h"
#include "base/sized.h"

static void close_active(tb_bag_reader_t *reader, size_t place)
{
  tb__bag_source_close(reader, reader->active[place]);
  reader->active_count--;
  memmove(&reader->active[place], &reader->active[place + 1],
          (reader->active_count - place) * sizeof *reader->active);
}

/* A seek passes over files that end before it, so that it costs nothing to have many of them. */
static bool is_passed_over(const tb_bag_reader_t *reader, const tb__bag_source_t *source)
{
  return !source->has_rows || source->end_ns < reader->seek_ns;
}

static bool find_link(const tb__bag_source_t *source, int64_t id, size_t *out)
{
  size_t low = 0;
  size_t high = source->link_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (source->links[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == source->link_count || source->links[low].id != id) return false;
  *out = source->links[low].topic;
  return true;
}

/* An unknown one is reported. */
static bool is_wanted(const void *user, int64_t id)
{
  const tb__bag_source_t *source = user;
  size_t topic;
  return !find_link(source, id, &topic) || source->wanted[topic];
}

/* On failure the file counts as read. */
static tb_status_t open_next_source(tb_bag_reader_t *reader, tb_error_t *error)
{
  size_t index = reader->by_start[reader->opened++];
  tb__bag_source_t *source = &reader->sources[index];
  if (is_passed_over(reader, source)) {
    tb__bag_source_close(reader, index);
    return TB_OK;
  }
  tb_status_t status = TB_OK;
  if (!source->file) status = tb__bag_source_open(reader, index, error);
  if (!status && source->file) {
    source->wanted = reader->wanted;
    source->file->wanted = (tb__bag_wanted_t){is_wanted, source};
    source->file->is_sparse = reader->is_sparse;
    status = source->part->storage->seek(source->file, reader->seek_ns, error);
  }
  if (status) {
    tb__bag_source_close(reader, index);
    return status;
  }
  reader->active[reader->active_count++] = index;
  return TB_OK;
}

/* Every open file gets a head, or is closed. */
static tb_status_t step_sources(tb_bag_reader_t *reader, tb_error_t *error)
{
  for (size_t place = 0; place < reader->active_count;) {
    tb__bag_source_t *source = &reader->sources[reader->active[place]];
    if (!source->has_head) {
      tb_status_t status = source->part->storage->step(source->file, &source->head, error);
      if (status) close_active(reader, place);
      if (status && status != TB_ERR_END) return status;
      if (status) continue;
      source->has_head = true;
    }
    place++;
  }
  return TB_OK;
}

/* Rows without a usable time come at once. */
static int64_t order_of(const tb__bag_source_t *source)
{
  return source->head.time_is_integer ? source->head.log_time_ns : INT64_MIN;
}

/* SIZE_MAX: none. */
static size_t earliest_source(const tb_bag_reader_t *reader)
{
  size_t best = SIZE_MAX;
  for (size_t place = 0; place < reader->active_count; place++) {
    size_t index = reader->active[place];
    if (best == SIZE_MAX) {
      best = index;
      continue;
    }
    int64_t order = order_of(&reader->sources[index]);
    int64_t best_order = order_of(&reader->sources[best]);
    if (order < best_order || (order == best_order && index < best)) best = index;
  }
  return best;
}

static bool next_file_may_come_first(const tb_bag_reader_t *reader, size_t best)
{
  if (reader->opened == reader->source_count) return false;
  const tb__bag_source_t *next = &reader->sources[reader->by_start[reader->opened]];
  return best == SIZE_MAX || next->start_ns <= order_of(&reader->sources[best]);
}

/* The file whose head is next; TB_ERR_END if there is none. */
static tb_status_t choose_source(tb_bag_reader_t *reader, size_t *out, tb_error_t *error)
{
  for (;;) {
    tb_status_t status = step_sources(reader, error);
    if (status) return status;
    size_t best = earliest_source(reader);
    if (!next_file_may_come_first(reader, best)) {
      if (best == SIZE_MAX)
        return tb_error_set(error, TB_ERR_END, "%s: no more messages", reader->info.path);
      *out = best;
      return TB_OK;
    }
    status = open_next_source(reader, error);
    if (status) return status;
  }
}

static tb_status_t row_error(const tb_bag_reader_t *reader, size_t index, tb_status_t status,
                             const char *reason, tb_error_t *error)
{
  const tb__bag_source_t *source = &reader->sources[index];
  return tb_error_set(error, status, "%s: %s %lld: %s", source->path, source->part->storage->item,
                      (long long)source->head.id, reason);
}

static tb_status_t find_topic(tb_bag_reader_t *reader, size_t index, size_t *out, tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  if (!source->head.time_is_integer)
    return row_error(reader, index, TB_ERR_CORRUPT, "its time is not an integer", error);
  if (source->head.log_time_ns < 0)
    return row_error(reader, index, TB_ERR_CORRUPT, "its time is negative", error);
  tb_status_t status = source->part->storage->read_topic(source->file, &source->head, error);
  if (status) return status;
  if (!find_link(source, source->head.topic_id, out))
    return row_error(reader, index, TB_ERR_CORRUPT, "its topic id is not one of the topics", error);
  return TB_OK;
}

/* Frames are known by their first bytes, which are no encapsulation: a bag that was cut off may
 * lack the note that it is compressed. */
static tb_status_t decompress(tb_bag_reader_t *reader, size_t index, size_t topic,
                              tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  tb__bag_row_t *row = &source->head;
  bool is_expected = source->part->is_single_messages;
  if (!is_expected && !reader->is_cdr[topic]) return TB_OK;
  if (!tb__zstd_is_frame(row->data, row->size)) {
    if (!is_expected) return TB_OK;
    return row_error(reader, index, TB_ERR_CORRUPT, "its payload is not compressed", error);
  }
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status =
      tb__zstd_decompress(&reader->zstd, row->data, row->size, &row->data, &row->size, &detail);
  return status ? row_error(reader, index, status, detail.text, error) : TB_OK;
}

static tb_status_t read_payload(tb_bag_reader_t *reader, size_t index, size_t topic,
                                tb_error_t *error)
{
  tb__bag_row_t *row = &reader->sources[index].head;
  bool any = reader->options.content == TB_BAG_CONTENT_ANY;
  tb__bag_source_t *source = &reader->sources[index];
  if (!any && !reader->is_cdr[topic])
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: %s %lld: topic %.80s is serialized as \"%.40s\", not as cdr",
                        source->path, source->part->storage->item, (long long)row->id,
                        reader->table.topics[topic].name,
                        reader->table.topics[topic].serialization_format);
  tb_status_t status = source->part->storage->read_data(source->file, row, error);
  if (status) return status;
  if (!row->data)
    return row_error(reader, index, TB_ERR_CORRUPT, "it has no payload (NULL)", error);
  status = decompress(reader, index, topic, error);
  if (!status && !any && row->size < TB__ENCAPSULATION_SIZE)
    status = row_error(reader, index, TB_ERR_TRUNCATED,
                       "its payload is shorter than the 4 bytes of encapsulation", error);
  return status;
}

tb_status_t tb__bag_reader_read(tb_bag_reader_t *reader, tb_bag_message_t *out, tb_error_t *error)
{
  for (;;) {
    size_t index = 0;
    size_t topic = 0;
    reader->is_at_unclosed_end = false;
    tb_status_t status = choose_source(reader, &index, error);
    if (status) return status;
    tb__bag_source_t *source = &reader->sources[index];
    source->has_head = false; /* used up, whatever comes of it */
    if (source->head.id < reader->first_row || source->head.id > reader->last_row) continue;
    status = find_topic(reader, index, &topic, error);
    if (!status && !reader->wanted[topic]) continue;
    source->head.data = NULL;
    source->head.size = 0;
    if (!status && reader->options.content != TB_BAG_CONTENT_TIMES)
      status = read_payload(reader, index, topic, error);
    reader->is_at_unclosed_end =
        status && source->head.is_unclosed_end && reader->info.unclosed_count > 0;
    if (status) return status;
    const tb__bag_row_t *row = &source->head;
    *out = (tb_bag_message_t){.topic = topic,
                              .log_time_ns = row->log_time_ns,
                              .publish_time_ns = row->publish_time_ns,
                              .data = row->data,
                              .size = row->size,
                              .file = index,
                              .row_id = row->id,
                              .publisher = row->publisher};
    return TB_OK;
  }
}

tb_status_t tb_bag_reader_next_sized(tb_bag_reader_t *reader, tb_bag_message_t *out,
                                     size_t out_size, tb_error_t *error)
{
  if (!reader || !out) return tb__null_argument(error, __func__);
  tb_bag_message_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = reader->ahead ? tb__read_ahead_next(reader->ahead, full, error)
                                     : tb__bag_reader_read(reader, full, error);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb_bag_reader_seek(tb_bag_reader_t *reader, int64_t time_ns)
{
  if (!reader) return TB_ERR_INVALID;
  if (tb__read_ahead_is_lost(reader->ahead)) return TB_ERR_FORKED;
  if (reader->ahead) tb__read_ahead_drop(reader->ahead);
  /* Open files stay so: they are a few, and opening one again may cost a scan. */
  for (size_t place = 0; place < reader->active_count; place++)
    reader->sources[reader->active[place]].has_head = false;
  reader->active_count = 0;
  reader->opened = 0;
  reader->seek_ns = time_ns < 0 ? INT64_MIN : time_ns;
  return TB_OK;
}
