#include "bag/metadata_write.h"

#include <stdlib.h>

#include "bag/offers.h"
#include "bag/yaml_writer.h"

#define VERSION 9

static void put_extent(tb__yaml_writer_t *writer, const tb__bag_extent_t *extent)
{
  int64_t duration_ns = 0;
  if (__builtin_sub_overflow(extent->end_ns, extent->start_ns, &duration_ns))
    duration_ns = INT64_MAX;
  tb__yaml_put_text(writer, "duration");
  tb__yaml_open_map(writer);
  tb__yaml_pair_int(writer, "nanoseconds", duration_ns);
  tb__yaml_close_map(writer);
  tb__yaml_put_text(writer, "starting_time");
  tb__yaml_open_map(writer);
  tb__yaml_pair_int(writer, "nanoseconds_since_epoch", extent->start_ns);
  tb__yaml_close_map(writer);
  tb__yaml_pair_uint(writer, "message_count", extent->message_count);
}

static tb_status_t put_topic(tb__yaml_writer_t *writer, const tb__bag_described_topic_t *topic)
{
  tb__qos_offers_t offers = {0};
  if (tb__qos_offers_parse(topic->offers, &offers, NULL) == TB_ERR_NO_MEMORY)
    return TB_ERR_NO_MEMORY;
  tb__yaml_open_map(writer);
  tb__yaml_put_text(writer, "topic_metadata");
  tb__yaml_open_map(writer);
  tb__yaml_pair(writer, "name", topic->name);
  tb__yaml_pair(writer, "type", topic->type);
  tb__yaml_pair(writer, "serialization_format", topic->serialization_format);
  tb__yaml_put_text(writer, "offered_qos_profiles");
  tb__qos_offers_put(&offers, writer);
  tb__yaml_pair(writer, "type_description_hash", topic->type_hash);
  tb__yaml_close_map(writer);
  tb__yaml_pair_uint(writer, "message_count", topic->message_count);
  tb__yaml_close_map(writer);
  tb__qos_offers_fini(&offers);
  return TB_OK;
}

static void put_files(tb__yaml_writer_t *writer, const tb__bag_description_t *bag)
{
  tb__yaml_put_text(writer, "relative_file_paths");
  tb__yaml_open_list(writer);
  for (size_t i = 0; i < bag->file_count; i++)
    tb__yaml_put_text(writer, bag->files[i].name);
  tb__yaml_close_list(writer);
  tb__yaml_put_text(writer, "files");
  tb__yaml_open_list(writer);
  for (size_t i = 0; i < bag->file_count; i++) {
    tb__yaml_open_map(writer);
    tb__yaml_pair(writer, "path", bag->files[i].name);
    put_extent(writer, &bag->files[i].extent);
    tb__yaml_close_map(writer);
  }
  tb__yaml_close_list(writer);
}

static void put_custom(tb__yaml_writer_t *writer, const tb__bag_description_t *bag)
{
  tb__yaml_put_text(writer, "custom_data");
  if (bag->custom_count == 0) {
    tb__yaml_put_null(writer);
    return;
  }
  tb__yaml_open_map(writer);
  for (size_t i = 0; i < bag->custom_count; i++)
    tb__yaml_pair(writer, bag->custom[i].key, bag->custom[i].value);
  tb__yaml_close_map(writer);
}

static tb_status_t put_bag(tb__yaml_writer_t *writer, const tb__bag_description_t *bag)
{
  tb_status_t status = TB_OK;
  tb__yaml_open_map(writer);
  tb__yaml_pair_int(writer, "version", VERSION);
  tb__yaml_pair(writer, "storage_identifier", bag->storage_id);
  put_extent(writer, &bag->extent);
  tb__yaml_put_text(writer, "topics_with_message_count");
  tb__yaml_open_list(writer);
  for (size_t i = 0; i < bag->topic_count && !status; i++)
    status = put_topic(writer, &bag->topics[i]);
  tb__yaml_close_list(writer);
  tb__yaml_pair(writer, "compression_format", bag->compression_format);
  tb__yaml_pair(writer, "compression_mode", bag->compression_mode);
  put_files(writer, bag);
  put_custom(writer, bag);
  tb__yaml_pair(writer, "ros_distro", bag->ros_distro);
  tb__yaml_close_map(writer);
  return status;
}

tb_status_t tb__bag_metadata_write(const tb__bag_description_t *bag, tb__bag_metadata_form_t form,
                                   char **out, tb_error_t *error)
{
  tb__yaml_writer_t *writer = NULL;
  tb_status_t status = tb__yaml_writer_create(&writer, error);
  if (status) return status;
  if (form == TB__BAG_METADATA_FILE) {
    tb__yaml_open_map(writer);
    tb__yaml_put_text(writer, "rosbag2_bagfile_information");
  }
  status = put_bag(writer, bag);
  if (form == TB__BAG_METADATA_FILE) tb__yaml_close_map(writer);
  char *text = NULL;
  tb_status_t finished = tb__yaml_writer_finish(writer, &text, error);
  if (!finished && status) {
    free(text);
    return tb_error_set(error, status, "out of memory");
  }
  if (!finished) *out = text;
  return finished;
}
