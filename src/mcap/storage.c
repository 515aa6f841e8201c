/* MCAP as rosbag2 lays it out: profile "ros2", though any file with channels can be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "mcap/extra_records.h"
#include "mcap/header.h"
#include "mcap/mcap_format.h"
#include "mcap/order.h"
#include "mcap/recover.h"
#include "storage/clean.h"
#include "storage/storage.h"

typedef struct mcap_file {
  tb__bag_file_t base;
  tb__bag_input_t input;
  tb__mcap_index_t index;
  bool is_unpacked; /* its name is that of the packed file */
  tb__mcap_order_t order;
  tb__bag_item_t item;      /* the row that step gave */
  tb_error_t damage;        /* for a row that has no content */
  tb__mcap_losses_t losses; /* when it was recovered */
  char *library;            /* that wrote it, before it was recovered */
  char **callers; /* by channel: the node that sent, "" without one; NULL: not looked up */
  size_t caller_count;
} mcap_file_t;

static mcap_file_t *mcap_file(tb__bag_file_t *file)
{
  return (mcap_file_t *)file;
}

static void mcap_close(tb__bag_file_t *base)
{
  if (!base) return;
  mcap_file_t *file = mcap_file(base);
  tb__mcap_order_fini(&file->order);
  tb__mcap_index_fini(&file->index);
  tb__bag_input_close(&file->input);
  for (size_t i = 0; i < file->caller_count; i++)
    free(file->callers[i]);
  free(file->callers);
  free(file->losses.first);
  free(file->losses.in_all);
  free(file->library);
  free(file);
}

static tb_status_t mcap_open(const tb__bag_storage_t *storage, const char *path, const char *name,
                             const tb_bag_limits_t *limits, tb__bag_file_t **out, tb_error_t *error)
{
  mcap_file_t *file = calloc(1, sizeof *file);
  if (!file) return tb__no_memory(error);
  file->base.storage = storage;
  file->is_unpacked = strcmp(path, name) != 0;
  tb_status_t status = tb__bag_input_open(path, name, &file->input, error);
  file->input.limits = *limits;
  if (!status) status = tb__mcap_header_library(&file->input, &file->library, error);
  if (!status) status = tb__mcap_index_load(&file->input, &file->index, error);
  if (status) {
    mcap_close(&file->base);
    return status;
  }
  tb__mcap_order_init(&file->order, &file->input, &file->index);
  *out = &file->base;
  return TB_OK;
}

tb_status_t tb__mcap_open_recovered(const tb__bag_storage_t *storage, const char *path,
                                    const char *name, const tb_bag_limits_t *limits,
                                    const tb__mcap_losses_t *losses, char *library,
                                    tb__bag_file_t **out, tb_error_t *error)
{
  tb_status_t status = mcap_open(storage, path, name, limits, out, error);
  if (status) return status;
  mcap_file_t *file = mcap_file(*out);
  file->losses = *losses;
  free(file->library);
  file->library = library;
  return TB_OK;
}

/* "" if the key is not there. */
static tb__mcap_text_t value_of(tb__mcap_cursor_t map, const char *wanted)
{
  tb__mcap_text_t key, value;
  while (tb__mcap_take_pair(&map, &key, &value))
    if (tb__mcap_text_equals(key, wanted)) return value;
  return (tb__mcap_text_t){"", 0};
}

static char *copy_text(tb__mcap_text_t text)
{
  return strndup(text.at, text.size);
}

static char *clean(tb__mcap_text_t text, bool *changed)
{
  return tb__bag_clean(text.at, text.size, changed);
}

/* Other programs keep the MD5 sum of ROS 1 as its connection headers have it. */
static tb__mcap_text_t type_hash_of(const tb__mcap_channel_t *channel)
{
  tb__mcap_text_t hash = value_of(channel->metadata, "topic_type_hash");
  bool is_ros1 = tb__mcap_text_equals(channel->encoding, "ros1");
  return hash.size || !is_ros1 ? hash : value_of(channel->metadata, "md5sum");
}

static bool fill_topic(const mcap_file_t *file, const tb__mcap_channel_t *channel,
                       tb__bag_file_topic_t *out)
{
  tb__mcap_schema_t schema = {.name = {"", 0}, .encoding = {"", 0}, .data = {"", 0}};
  if (!tb__mcap_definitions_schema(&file->index.definitions, channel->schema_id, &schema))
    schema.name = schema.encoding = schema.data = (tb__mcap_text_t){"", 0};
  out->id = channel->id;
  out->name = clean(channel->topic, &out->is_cleaned);
  out->type = clean(schema.name, &out->is_cleaned);
  out->serialization_format = clean(channel->encoding, &out->is_cleaned);
  out->offers = clean(value_of(channel->metadata, "offered_qos_profiles"), NULL);
  out->type_hash = clean(type_hash_of(channel), NULL);
  out->definition = copy_text(schema.data);
  out->definition_encoding = clean(schema.encoding, NULL);
  out->message_count = 0;
  return out->name && out->type && out->serialization_format && out->offers && out->type_hash &&
         out->definition && out->definition_encoding;
}

static tb_status_t fill_topics(const mcap_file_t *file, tb__bag_file_info_t *out, tb_error_t *error)
{
  const tb__mcap_definitions_t *definitions = &file->index.definitions;
  tb__mcap_channel_t channel;
  out->topics = calloc(definitions->channel_count + 1, sizeof *out->topics);
  if (!out->topics) return tb__no_memory(error);
  for (unsigned id = 0; id < TB__MCAP_IDS && out->topic_count < definitions->channel_count; id++) {
    if (!tb__mcap_definitions_channel(definitions, (uint16_t)id, &channel)) continue;
    if (!fill_topic(file, &channel, &out->topics[out->topic_count++])) return tb__no_memory(error);
  }
  return TB_OK;
}

static int64_t clamp(uint64_t time_ns)
{
  return time_ns > INT64_MAX ? INT64_MAX : (int64_t)time_ns;
}

/* Of the first chunk; the others are nearly always alike. A recovered copy is not compressed. */
static tb_status_t find_chunk_format(const mcap_file_t *file, const char **out, tb_error_t *error)
{
  *out = file->losses.chunk_format;
  if (*out) return TB_OK;
  for (size_t i = 0; i < file->index.block_count; i++) {
    const tb__bag_block_t *block = &file->index.blocks[i];
    tb__mcap_chunk_t chunk;
    uint64_t length;
    if (block->kind != TB__BAG_BLOCK_CHUNK) continue;
    tb_status_t status = tb__mcap_chunk_head(&file->input, block->offset, &chunk, &length, error);
    if (!status) *out = tb__mcap_compression_name(chunk.compression);
    return status == TB_ERR_SYSTEM ? status : TB_OK; /* damage is reported when it is read */
  }
  return TB_OK;
}

static bool is_unclosed(const mcap_file_t *file)
{
  const tb__bag_block_t *damage = NULL;
  for (size_t i = 0; i < file->index.block_count; i++) {
    const tb__bag_block_t *block = &file->index.blocks[i];
    if (block->kind != TB__BAG_BLOCK_DAMAGE) continue;
    if (damage || !tb__mcap_is_unclosed(block->status, block->length)) return false;
    damage = block;
  }
  return damage || file->losses.is_unclosed;
}

static bool fill_losses(const mcap_file_t *file, tb__bag_file_info_t *out)
{
  out->is_unclosed = is_unclosed(file);
  if (!file->losses.first) return true;
  out->damage = strdup(file->losses.first);
  out->losses = strdup(file->losses.in_all);
  return out->damage && out->losses;
}

static tb_status_t scan(mcap_file_t *file, tb_error_t *error)
{
  tb__mcap_order_fini(&file->order);
  tb_status_t status = tb__mcap_index_scan(&file->input, &file->index, error);
  tb__mcap_order_init(&file->order, &file->input, &file->index);
  return status;
}

static tb_status_t mcap_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out, tb_error_t *error)
{
  mcap_file_t *file = mcap_file(base);
  const tb__mcap_index_t *index = &file->index;
  tb_status_t status = TB_OK;
  if (base->is_count_needed && index->is_of_summary && !index->is_indexed)
    status = scan(file, error);
  if (!status) status = fill_topics(file, out, error);
  if (!status) status = find_chunk_format(file, &out->chunk_format, error);
  if (status) return status;
  out->message_count = index->message_count;
  if (index->is_of_summary && index->end_ns <= INT64_MAX) out->counted = TB_BAG_COUNTED_SUMMARY;
  out->has_damage_rows = index->block_count > 0;
  out->has_times = index->has_times;
  out->start_ns = clamp(index->start_ns);
  out->end_ns = clamp(index->end_ns);
  out->metadata = index->metadata ? strdup(index->metadata) : NULL;
  out->ros_distro = index->ros_distro ? strdup(index->ros_distro) : NULL;
  out->oddity = index->oddity ? strdup(index->oddity) : NULL;
  out->library = strdup(file->library);
  bool failed = !out->library || (index->metadata && !out->metadata) ||
                (index->oddity && !out->oddity) || (index->ros_distro && !out->ros_distro) ||
                !fill_losses(file, out);
  return failed ? tb__no_memory(error) : TB_OK;
}

static tb_status_t mcap_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                     tb_error_t *error)
{
  (void)error; /* known since the file was opened */
  const tb__mcap_index_t *index = &mcap_file(base)->index;
  for (size_t i = 0; i < info->topic_count; i++)
    info->topics[i].message_count =
        tb__mcap_definition(&index->definitions.channels, (size_t)info->topics[i].id).message_count;
  return TB_OK;
}

static tb_status_t mcap_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  uint64_t target_ns = time_ns < 0 ? 0 : (uint64_t)time_ns;
  return tb__mcap_order_seek(&mcap_file(base)->order, &base->wanted, target_ns, error);
}

static tb_status_t mcap_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  mcap_file_t *file = mcap_file(base);
  tb_status_t status = tb__bag_order_next(&file->order.base, &file->item, &file->damage, error);
  if (status) return status;
  *out = (tb__bag_row_t){.id = (int64_t)file->item.id,
                         .time_is_integer = true,
                         .log_time_ns = clamp(file->item.time_ns),
                         .publish_time_ns = -1,
                         .is_unclosed_end = file->item.is_unclosed_end && is_unclosed(file)};
  return TB_OK;
}

/* The node that sent a channel's messages, looked up once. NULL: it is not known. */
static tb_status_t find_caller(mcap_file_t *file, uint16_t id, const char **out, tb_error_t *error)
{
  tb__mcap_channel_t channel;
  if (id >= file->caller_count) {
    char **callers = reallocarray(file->callers, (size_t)id + 1, sizeof *callers);
    if (!callers) return tb__no_memory(error);
    for (size_t i = file->caller_count; i <= id; i++)
      callers[i] = NULL;
    file->callers = callers;
    file->caller_count = (size_t)id + 1;
  }
  if (!file->callers[id] && tb__mcap_definitions_channel(&file->index.definitions, id, &channel)) {
    file->callers[id] = clean(value_of(channel.metadata, "callerid"), NULL);
    if (!file->callers[id]) return tb__no_memory(error);
  }
  *out = file->callers[id] && *file->callers[id] ? file->callers[id] : NULL;
  return TB_OK;
}

static tb_status_t mcap_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  mcap_file_t *file = mcap_file(base);
  tb__mcap_message_t message;
  if (!file->item.content) {
    if (error) *error = file->damage;
    return file->damage.status;
  }
  tb__mcap_parse_message(file->item.content, file->item.size, &message);
  if (message.log_time_ns > INT64_MAX)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: message %lld: its time is %llu ns, after 2262",
                        file->input.path, (long long)row->id,
                        (unsigned long long)message.log_time_ns);
  row->topic_id = message.channel_id;
  row->publish_time_ns = clamp(message.publish_time_ns);
  return find_caller(file, message.channel_id, &row->publisher, error);
}

static tb_status_t mcap_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  (void)error; /* it is in memory */
  const tb__bag_item_t *item = &mcap_file(base)->item;
  row->data = item->content + TB__MCAP_MESSAGE_SIZE;
  row->size = item->size - TB__MCAP_MESSAGE_SIZE;
  return TB_OK;
}

typedef struct finding {
  tb__bag_finding_fn report;
  void *user;
} finding_t;

static void report_loss(void *user, const tb__mcap_damage_t *loss)
{
  const finding_t *finding = user;
  finding->report(finding->user, loss->text);
}

static tb_status_t mcap_verify(tb__bag_file_t *base, tb__bag_finding_fn report, void *user,
                               tb_error_t *error)
{
  finding_t finding = {report, user};
  tb__mcap_recovery_t all;
  const tb__bag_input_t *input = &mcap_file(base)->input;
  char unnamed[40]; /* what was unpacked for reading has no name any more */
  snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", input->fd);
  const char *path = mcap_file(base)->is_unpacked ? unnamed : input->path;
  return tb__mcap_recover_within(&input->limits, path, input->path, NULL, NULL, report_loss,
                                 &finding, &all, error);
}

static tb_status_t mcap_copy_extra_records(tb__bag_file_t *base, tb__bag_output_t *to,
                                           tb__bag_span_t span, tb_bag_extra_records_t *count,
                                           tb_error_t *error)
{
  mcap_file_t *file = mcap_file(base);
  tb__mcap_writer_t *writer = to ? tb__mcap_output_writer(to) : NULL;
  return tb__mcap_copy_extra_records(&file->input, &file->index, writer, span, count, error);
}

#define READS_MCAP                                                                                 \
  .id = "mcap", .extension = ".mcap", .item = "message", .close = mcap_close,                      \
  .read_info = mcap_read_info, .count_topics = mcap_count_topics, .seek = mcap_seek,               \
  .step = mcap_step, .read_topic = mcap_read_topic, .read_data = mcap_read_data,                   \
  .copy_extra_records = mcap_copy_extra_records

const tb__bag_storage_t tb__mcap_storage = {
    READS_MCAP,
    .open = mcap_open,
    .verify = mcap_verify,
    .salvage = &tb__mcap_salvage,
};

/* The same on the copy that was recovered. */
const tb__bag_storage_t tb__mcap_salvage = {READS_MCAP, .open = tb__mcap_salvage_open};
