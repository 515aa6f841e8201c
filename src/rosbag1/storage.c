/* Bags of ROS 1: topics are as ROS 1 names and types them, and serialized as it does ("ros1"). */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "rosbag1/order.h"
#include "rosbag1/rosbag1_format.h"
#include "storage/clean.h"

#define LATCHED                                                                                    \
  "- durability: transient_local\n  reliability: reliable\n  history: keep_last\n  depth: 1\n"
#define OFFERS_MAX 256 /* of a topic that are listed */

typedef struct rosbag1_file {
  tb__bag_file_t base;
  tb__bag_input_t input;
  tb__rosbag1_index_t index;
  tb__rosbag1_order_t order;
  tb__bag_item_t item;       /* the row that step gave */
  tb__rosbag1_found_t found; /* in it, once its topic was read */
  tb_error_t damage;         /* for a row that has no content */
} rosbag1_file_t;

static rosbag1_file_t *rosbag1_file(tb__bag_file_t *file)
{
  return (rosbag1_file_t *)file;
}

static void rosbag1_close(tb__bag_file_t *base)
{
  if (!base) return;
  rosbag1_file_t *file = rosbag1_file(base);
  tb__rosbag1_order_fini(&file->order);
  tb__rosbag1_index_fini(&file->index);
  tb__bag_input_close(&file->input);
  free(file);
}

/* Salvaged, a recording that was not closed is as good as one that was. */
static void drop_unclosed_end(tb__rosbag1_index_t *index)
{
  if (!index->is_unclosed || index->block_count == 0) return;
  tb__bag_block_t *last = &index->blocks[index->block_count - 1];
  if (!last->is_unclosed_end) return;
  free(last->text);
  index->block_count--;
}

static tb_status_t rosbag1_open(const tb__bag_storage_t *storage, const char *path,
                                const char *name, const tb_bag_limits_t *limits,
                                tb__bag_file_t **out, tb_error_t *error)
{
  bool is_salvage = storage == &tb__rosbag1_salvage;
  rosbag1_file_t *file = calloc(1, sizeof *file);
  if (!file) return tb__no_memory(error);
  file->base.storage = storage;
  tb_status_t status = tb__bag_input_open(path, name, &file->input, error);
  file->input.limits = *limits;
  if (!status) status = tb__rosbag1_index_load(&file->input, is_salvage, &file->index, error);
  if (status) {
    rosbag1_close(&file->base);
    return status;
  }
  if (is_salvage) drop_unclosed_end(&file->index);
  tb__rosbag1_order_init(&file->order, &file->input, &file->index);
  *out = &file->base;
  return TB_OK;
}

static int compare_texts(tb__rosbag1_text_t a, tb__rosbag1_text_t b)
{
  size_t shared = a.size < b.size ? a.size : b.size;
  int order = memcmp(a.at, b.at, shared);
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* By topic and type, which may have several names. */
static int compare_topics(const void *a, const void *b)
{
  const tb__rosbag1_connection_t *const *x = a, *const *y = b;
  int order = compare_texts((*x)->topic, (*y)->topic);
  return order ? order : compare_texts((*x)->md5sum, (*y)->md5sum);
}

/* All publishers of a topic are one topic of a recording: latched, if one of them is. */
typedef struct latching {
  const tb__rosbag1_connection_t **items;
  size_t count;
} latching_t;

static bool find_latching(const tb__rosbag1_connections_t *all, latching_t *out)
{
  *out = (latching_t){.items = calloc(all->count + 1, sizeof(tb__rosbag1_connection_t *))};
  if (!out->items) return false;
  for (size_t i = 0; i < all->count; i++)
    if (all->items[i].is_latching) out->items[out->count++] = &all->items[i];
  qsort(out->items, out->count, sizeof *out->items, compare_topics);
  return true;
}

/* A profile for each publisher of the topic that latches. To be freed; NULL: out of memory. */
static char *offers_of(const latching_t *latching, const tb__rosbag1_connection_t *one)
{
  const tb__rosbag1_connection_t **end = latching->items + latching->count;
  const tb__rosbag1_connection_t **first =
      bsearch(&one, latching->items, latching->count, sizeof *latching->items, compare_topics);
  size_t count = 0, size = strlen(LATCHED);
  while (first && first > latching->items && compare_topics(first - 1, &one) == 0)
    first--;
  while (first && first + count < end && count < OFFERS_MAX &&
         compare_topics(first + count, &one) == 0)
    count++;
  char *offers = calloc(count * size + 1, 1);
  for (size_t i = 0; i < count && offers; i++)
    memcpy(offers + i * size, LATCHED, size + 1);
  return offers;
}

static char *clean(tb__rosbag1_text_t text, bool *changed)
{
  return tb__bag_clean(text.at, text.size, changed);
}

static bool fill_topic(const tb__rosbag1_connection_t *connection, const latching_t *latching,
                       tb__bag_file_topic_t *out)
{
  out->id = connection->id;
  out->name = clean(connection->topic, &out->is_cleaned);
  out->type = clean(connection->type, &out->is_cleaned);
  out->serialization_format = strdup("ros1");
  out->offers = offers_of(latching, connection);
  out->type_hash = clean(connection->md5sum, NULL);
  out->definition = strndup(connection->definition.at, connection->definition.size);
  out->definition_encoding = strdup(connection->definition.size > 0 ? "ros1msg" : "");
  return out->name && out->type && out->serialization_format && out->offers && out->type_hash &&
         out->definition && out->definition_encoding;
}

static char *copy(const char *text, bool *failed)
{
  char *made = text ? strdup(text) : NULL;
  if (text && !made) *failed = true;
  return made;
}

static tb_status_t rosbag1_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out,
                                     tb_error_t *error)
{
  const rosbag1_file_t *file = rosbag1_file(base);
  const tb__rosbag1_index_t *index = &file->index;
  bool failed = false;
  out->topics = calloc(index->connections.count + 1, sizeof *out->topics);
  if (!out->topics) return tb__no_memory(error);
  latching_t latching;
  if (!find_latching(&index->connections, &latching)) return tb__no_memory(error);
  for (size_t i = 0; i < index->connections.count && !failed; i++) {
    const tb__rosbag1_connection_t *one = &index->connections.items[i];
    failed = !fill_topic(one, &latching, &out->topics[out->topic_count++]);
  }
  free(latching.items);
  if (failed) return tb__no_memory(error);
  out->message_count = index->message_count;
  out->has_damage_rows = index->block_count > 0;
  out->has_times = index->has_times;
  out->start_ns = (int64_t)index->start_ns;
  out->end_ns = (int64_t)index->end_ns;
  out->chunk_format = index->chunk_format;
  out->oddity = copy(index->oddity, &failed);
  out->is_unclosed = index->is_unclosed;
  return failed ? tb__no_memory(error) : TB_OK;
}

static tb_status_t rosbag1_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                        tb_error_t *error)
{
  (void)error; /* known since the file was opened */
  tb__rosbag1_connections_t *all = &rosbag1_file(base)->index.connections;
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb__rosbag1_connection_t *connection =
        tb__rosbag1_connections_find(all, (uint32_t)info->topics[i].id);
    if (connection) info->topics[i].message_count = connection->message_count;
  }
  return TB_OK;
}

static tb_status_t copy_run(const tb__rosbag1_connections_t *all, const tb__rosbag1_run_t *from,
                            tb__bag_file_run_t *out, tb_error_t *error)
{
  *out = (tb__bag_file_run_t){.first_id = (int64_t)from->first_id,
                              .start_ns = (int64_t)from->start_ns,
                              .end_ns = (int64_t)from->end_ns,
                              .message_count = from->message_count,
                              .topic_counts = calloc(all->count + 1, sizeof *out->topic_counts)};
  if (!out->topic_counts) return tb__no_memory(error);
  for (size_t i = 0, j = 0; i < all->count && j < from->count_count; i++) {
    while (j < from->count_count && from->counts[j].connection < all->items[i].id)
      j++;
    if (j < from->count_count && from->counts[j].connection == all->items[i].id)
      out->topic_counts[i] = from->counts[j].count;
  }
  return TB_OK;
}

static tb_status_t rosbag1_find_runs(tb__bag_file_t *base, tb__bag_file_run_t **out,
                                     size_t *out_count, tb_error_t *error)
{
  const tb__rosbag1_index_t *index = &rosbag1_file(base)->index;
  tb__bag_file_run_t *runs = calloc(index->runs.count + 1, sizeof *runs);
  if (!runs) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < index->runs.count && !status; i++)
    status = copy_run(&index->connections, &index->runs.items[i], &runs[i], error);
  if (status) {
    tb__bag_file_runs_free(runs, index->runs.count);
    return status;
  }
  *out = runs;
  *out_count = index->runs.count;
  return TB_OK;
}

static tb_status_t rosbag1_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  return tb__bag_order_seek(&rosbag1_file(base)->order.base, &base->wanted,
                            time_ns < 0 ? 0 : (uint64_t)time_ns, error);
}

static tb_status_t rosbag1_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  rosbag1_file_t *file = rosbag1_file(base);
  tb_status_t status = tb__bag_order_next(&file->order.base, &file->item, &file->damage, error);
  if (status) return status;
  *out = (tb__bag_row_t){.id = (int64_t)file->item.id,
                         .time_is_integer = true,
                         .log_time_ns = (int64_t)file->item.time_ns,
                         .publish_time_ns = -1,
                         .is_unclosed_end = file->item.is_unclosed_end};
  return TB_OK;
}

static tb_status_t rosbag1_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  rosbag1_file_t *file = rosbag1_file(base);
  if (!file->item.content) {
    if (error) *error = file->damage;
    return file->damage.status;
  }
  tb__rosbag1_find_message(file->index.version, file->item.content, file->item.size, &file->found);
  tb__rosbag1_connections_t *all = &file->index.connections;
  const tb__rosbag1_connection_t *connection =
      file->index.version == TB__ROSBAG1_V200
          ? tb__rosbag1_connections_find(all, file->found.connection)
          : tb__rosbag1_connections_of_topic(all,
                                             tb__rosbag1_field(file->found.record.fields, "topic"));
  row->topic_id = connection ? (int64_t)connection->id : -1;
  row->publisher = connection ? connection->caller : NULL;
  return TB_OK;
}

static tb_status_t rosbag1_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  (void)error; /* it is in memory */
  const rosbag1_file_t *file = rosbag1_file(base);
  row->data = file->found.data;
  row->size = file->found.record.data_size;
  return TB_OK;
}

static tb_status_t rosbag1_verify(tb__bag_file_t *base, tb__bag_finding_fn report, void *user,
                                  tb_error_t *error)
{
  tb__rosbag1_index_t index = {0};
  tb__bag_input_t *input = &rosbag1_file(base)->input;
  tb_status_t status = tb__rosbag1_index_head(input, &index, error);
  if (!status) status = tb__rosbag1_index_keep_chunks(&rosbag1_file(base)->index, &index, error);
  if (!status) status = tb__rosbag1_scan(input, &index, report, user, error);
  tb__rosbag1_index_fini(&index);
  return status;
}

#define READS_ROSBAG1                                                                              \
  .id = "rosbag1", .extension = ".bag", .item = "message", .open = rosbag1_open,                   \
  .close = rosbag1_close, .read_info = rosbag1_read_info, .count_topics = rosbag1_count_topics,    \
  .find_runs = rosbag1_find_runs, .seek = rosbag1_seek, .step = rosbag1_step,                      \
  .read_topic = rosbag1_read_topic, .read_data = rosbag1_read_data

const tb__bag_storage_t tb__rosbag1_storage = {
    READS_ROSBAG1,
    .verify = rosbag1_verify,
    .salvage = &tb__rosbag1_salvage,
};

/* The same without the index in the file. */
const tb__bag_storage_t tb__rosbag1_salvage = {READS_ROSBAG1};
