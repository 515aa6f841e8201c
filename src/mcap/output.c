/* What rosbag2 puts into MCAP: topics as channels with their QoS, and its metadata at the end. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "mcap/file_writer_inside.h"
#include "mcap/mcap_format.h"
#include "mcap/record.h"

typedef struct mcap_output {
  tb__bag_output_t base;
  tb__mcap_writer_t *writer;
  char *ros_distro;
  uint16_t schema_count, channel_count;
} mcap_output_t;

static mcap_output_t *mcap_output(tb__bag_output_t *output)
{
  return (mcap_output_t *)output;
}

tb__mcap_writer_t *tb__mcap_output_writer(tb__bag_output_t *output)
{
  return mcap_output(output)->writer;
}

static void destroy(mcap_output_t *output)
{
  free(output->ros_distro);
  free(output);
}

static tb_status_t mcap_create(const tb__bag_output_format_t *format, const char *path,
                               const tb__bag_output_options_t *options, tb__bag_output_t **out,
                               tb_error_t *error)
{
  mcap_output_t *output = calloc(1, sizeof *output);
  if (!output) return tb__no_memory(error);
  output->base.format = format;
  output->ros_distro = strdup(options->ros_distro ? options->ros_distro : "");
  tb_status_t status = output->ros_distro
                           ? tb__mcap_writer_create(path, options, &output->writer, error)
                           : tb__no_memory(error);
  if (status) {
    destroy(output);
    return status;
  }
  *out = &output->base;
  return TB_OK;
}

static bool add_text(tb__mcap_bytes_t *bytes, const char *text)
{
  uint8_t *out = tb__mcap_bytes_add(bytes, 4 + strlen(text));
  if (out) tb__mcap_put_text(&out, tb__mcap_text(text));
  return out != NULL;
}

static bool add_u16(tb__mcap_bytes_t *bytes, uint16_t value)
{
  uint8_t *out = tb__mcap_bytes_add(bytes, 2);
  if (out) tb__mcap_put_u16(&out, value);
  return out != NULL;
}

/* The first `count` keys with their texts. */
static bool add_map(tb__mcap_bytes_t *bytes, size_t count, const char *const *keys,
                    const char *const *texts)
{
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += 8 + strlen(keys[i]) + strlen(texts[i]);
  uint8_t *out = tb__mcap_bytes_add(bytes, 4);
  if (out) tb__mcap_put_u32(&out, (uint32_t)size);
  bool whole = out != NULL;
  for (size_t i = 0; i < count && whole; i++)
    whole = add_text(bytes, keys[i]) && add_text(bytes, texts[i]);
  return whole;
}

/* The id of a schema with this content after its id; 0: none. */
static uint16_t find_schema(const mcap_output_t *output, const tb__mcap_bytes_t *content)
{
  for (uint16_t id = 1; id <= output->schema_count; id++) {
    tb__mcap_definition_t schema = tb__mcap_definition(&output->writer->definitions.schemas, id);
    if (schema.content && schema.size == content->size &&
        memcmp(schema.content + 2, content->at + 2, content->size - 2) == 0)
      return id;
  }
  return 0;
}

static tb_status_t add_schema(mcap_output_t *output, const tb__bag_output_topic_t *topic,
                              uint16_t *out_id, tb_error_t *error)
{
  tb__mcap_bytes_t content = {0};
  uint16_t id = (uint16_t)(output->schema_count + 1);
  bool whole = add_u16(&content, id) && add_text(&content, topic->type) &&
               add_text(&content, *topic->definition ? topic->definition_encoding : "") &&
               add_text(&content, topic->definition);
  tb_status_t status = whole ? TB_OK : tb__no_memory(error);
  *out_id = whole ? find_schema(output, &content) : 0;
  if (!status && *out_id == 0) {
    status =
        tb__mcap_writer_define(output->writer, TB__MCAP_SCHEMA, content.at, content.size, error);
    if (!status) *out_id = ++output->schema_count;
  }
  free(content.at);
  return status;
}

enum { MAP_MAX = 4 };

/* Callers and latching have the names of MCAP's registry for ROS 1. */
static size_t describe_channel(const tb__bag_output_topic_t *topic, const char *keys[MAP_MAX],
                               const char *texts[MAP_MAX])
{
  size_t count = 0;
  keys[count] = "offered_qos_profiles";
  texts[count++] = topic->offers;
  keys[count] = "topic_type_hash";
  texts[count] = topic->type_hash;
  count += *topic->type_hash != '\0';
  keys[count] = "callerid";
  texts[count] = topic->publisher;
  count += topic->publisher && *topic->publisher;
  keys[count] = "latching";
  texts[count] = tb__bag_offers_latch(topic->offers) ? "true" : "false";
  count += strcmp(topic->serialization_format, "ros1") == 0;
  return count;
}

static tb_status_t mcap_add_topic(tb__bag_output_t *base, const tb__bag_output_topic_t *topic,
                                  uint32_t *out_id, tb_error_t *error)
{
  const char *keys[MAP_MAX], *texts[MAP_MAX];
  size_t count = describe_channel(topic, keys, texts);
  mcap_output_t *output = mcap_output(base);
  tb__mcap_bytes_t content = {0};
  uint16_t schema = 0, id = (uint16_t)(output->channel_count + 1);
  if (id == 0)
    return tb_error_set(error, TB_ERR_LIMIT, "%s: more than 65535 topics", output->writer->path);
  tb_status_t status = add_schema(output, topic, &schema, error);
  if (status) return status;
  bool whole = add_u16(&content, id) && add_u16(&content, schema) &&
               add_text(&content, topic->name) && add_text(&content, topic->serialization_format) &&
               add_map(&content, count, keys, texts);
  status = whole ? tb__mcap_writer_define(output->writer, TB__MCAP_CHANNEL, content.at,
                                          content.size, error)
                 : tb__no_memory(error);
  free(content.at);
  if (status) return status;
  *out_id = output->channel_count = id;
  return TB_OK;
}

static tb_status_t mcap_write(tb__bag_output_t *base, uint32_t topic, int64_t log_time_ns,
                              int64_t publish_time_ns, const void *data, size_t size,
                              tb_error_t *error)
{
  tb__mcap_writer_t *writer = mcap_output(base)->writer;
  if (log_time_ns < 0 || topic > UINT16_MAX)
    return tb_error_set(error, TB_ERR_INVALID, "%s: a message of topic %u at time %lld",
                        writer->path, topic, (long long)log_time_ns);
  const tb__mcap_message_t message = {
      .channel_id = (uint16_t)topic,
      .log_time_ns = (uint64_t)log_time_ns,
      .publish_time_ns = (uint64_t)(publish_time_ns < 0 ? log_time_ns : publish_time_ns),
      .data = data,
      .size = size};
  tb_status_t status = tb__mcap_writer_message(writer, &message, error);
  base->whole_count = writer->whole_count;
  return status;
}

static tb_status_t mcap_flush(tb__bag_output_t *base, bool sync, tb_error_t *error)
{
  tb__mcap_writer_t *writer = mcap_output(base)->writer;
  tb_status_t status = tb__mcap_writer_flush(writer, sync, error);
  base->whole_count = writer->whole_count;
  return status;
}

static uint64_t mcap_size(const tb__bag_output_t *base)
{
  return tb__mcap_writer_size(((const mcap_output_t *)base)->writer);
}

static tb_status_t mcap_check(tb__bag_output_t *base, tb_error_t *error)
{
  return tb__mcap_writer_check(mcap_output(base)->writer, error);
}

static tb_status_t add_record(mcap_output_t *output, const char *name, size_t count,
                              const char *const *keys, const char *const *texts, tb_error_t *error)
{
  tb__mcap_bytes_t content = {0};
  bool whole = add_text(&content, name) && add_map(&content, count, keys, texts);
  tb_status_t status =
      whole ? tb__mcap_writer_metadata(output->writer, content.at, content.size, error)
            : tb__no_memory(error);
  free(content.at);
  return status;
}

static tb_status_t add_metadata(mcap_output_t *output, const tb__bag_output_metadata_t *metadata,
                                tb_error_t *error)
{
  static const char *const keys[] = {"serialized_metadata", "ROS_DISTRO"};
  const char *const texts[] = {metadata ? metadata->text : "", output->ros_distro};
  size_t first = metadata ? 0 : 1;
  tb_status_t status = TB_OK;
  if (metadata && metadata->count > 0)
    status = add_record(output, TB__MCAP_NOTES, metadata->count, metadata->keys, metadata->values,
                        error);
  if (!status && (metadata || *output->ros_distro))
    status = add_record(output, TB__MCAP_ROSBAG2, 2 - first, keys + first, texts + first, error);
  return status;
}

static tb_status_t mcap_close(tb__bag_output_t *base, const tb__bag_output_metadata_t *metadata,
                              tb_error_t *error)
{
  mcap_output_t *output = mcap_output(base);
  tb_status_t status = add_metadata(output, metadata, error);
  tb_status_t closed = tb__mcap_writer_close(output->writer, status ? NULL : error);
  destroy(output);
  return status ? status : closed;
}

const tb__bag_output_format_t tb__mcap_output = {
    .id = "mcap",
    .extension = ".mcap",
    .has_publishers = true,
    .create = mcap_create,
    .add_topic = mcap_add_topic,
    .write = mcap_write,
    .flush = mcap_flush,
    .size = mcap_size,
    .check = mcap_check,
    .close = mcap_close,
};
