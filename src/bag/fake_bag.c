#include "bag/fake_bag.h"
#include "base/no_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"

typedef struct fake_file {
  tb__bag_file_t base;
  tb__fake_bag_t *bag;
  size_t *order; /* messages of this file by time */
  size_t count;
  size_t next;
} fake_file_t;

static tb__fake_bag_t *bag_of(const tb__bag_storage_t *storage)
{
  return (tb__fake_bag_t *)storage;
}

static void fake_close(tb__bag_file_t *base)
{
  fake_file_t *file = (fake_file_t *)base;
  free(file->order);
  free(file);
}

static void insert_in_order(fake_file_t *file, size_t message)
{
  const tb__fake_message_t *messages = file->bag->messages;
  size_t place = file->count++;
  while (place > 0 &&
         messages[file->order[place - 1]].log_time_ns > messages[message].log_time_ns) {
    file->order[place] = file->order[place - 1];
    place--;
  }
  file->order[place] = message;
}

static tb_status_t fake_open(const tb__bag_storage_t *storage, const char *path, const char *name,
                             const tb_bag_limits_t *limits, tb__bag_file_t **out, tb_error_t *error)
{
  (void)name; /* its errors name no file */
  (void)limits;
  tb__fake_bag_t *bag = bag_of(storage);
  size_t index = (size_t)strtoul(strrchr(path, '/') + 1, NULL, 10);
  fake_file_t *file = calloc(1, sizeof *file);
  size_t *order = calloc(bag->message_count + 1, sizeof *order);
  if (!file || !order) {
    free(file);
    free(order);
    return tb__no_memory(error);
  }
  bag->opens++;
  *file = (fake_file_t){.base.storage = storage, .bag = bag, .order = order};
  for (size_t i = 0; i < bag->message_count; i++)
    if (bag->messages[i].file == index) insert_in_order(file, i);
  *out = &file->base;
  return TB_OK;
}

static tb_status_t copy_topic(const tb__fake_topic_t *topic, size_t id, tb__bag_file_topic_t *out,
                              tb_error_t *error)
{
  const char *format = topic->serialization_format ? topic->serialization_format : "cdr";
  *out = (tb__bag_file_topic_t){.id = (int64_t)id,
                                .name = strdup(topic->name),
                                .type = strdup(topic->type),
                                .serialization_format = strdup(format),
                                .offers = strdup(topic->offers ? topic->offers : ""),
                                .type_hash = strdup("")};
  bool complete =
      out->name && out->type && out->serialization_format && out->offers && out->type_hash;
  return complete ? TB_OK : tb__no_memory(error);
}

static tb_status_t fake_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out, tb_error_t *error)
{
  fake_file_t *file = (fake_file_t *)base;
  const tb__fake_bag_t *bag = file->bag;
  out->topics = calloc(bag->topic_count + 1, sizeof *out->topics);
  if (!out->topics) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < bag->topic_count && !status; i++)
    status = copy_topic(&bag->topics[i], i, &out->topics[out->topic_count++], error);
  out->message_count = file->count;
  for (size_t i = 0; i < file->count; i++) {
    int64_t time_ns = bag->messages[file->order[i]].log_time_ns;
    if (time_ns < 0) continue;
    if (!out->has_times) out->start_ns = time_ns;
    out->end_ns = time_ns;
    out->has_times = true;
  }
  return status;
}

static tb_status_t fake_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                     tb_error_t *error)
{
  (void)error;
  fake_file_t *file = (fake_file_t *)base;
  for (size_t i = 0; i < file->count; i++)
    for (size_t j = 0; j < info->topic_count; j++)
      if (info->topics[j].id == (int64_t)file->bag->messages[file->order[i]].topic)
        info->topics[j].message_count++;
  return TB_OK;
}

static tb_status_t fake_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  fake_file_t *file = (fake_file_t *)base;
  if (file->bag->open_fault)
    return tb_error_set(error, file->bag->open_fault, "fault of the fake bag");
  file->next = 0;
  while (file->next < file->count &&
         file->bag->messages[file->order[file->next]].log_time_ns < time_ns)
    file->next++;
  return TB_OK;
}

static tb_status_t fake_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  (void)error;
  fake_file_t *file = (fake_file_t *)base;
  if (file->next == file->count) return TB_ERR_END;
  size_t index = file->order[file->next++];
  const tb__fake_message_t *message = &file->bag->messages[index];
  *out =
      (tb__bag_row_t){.id = (int64_t)index + 1,
                      .time_is_integer = true,
                      .log_time_ns = message->log_time_ns,
                      .publish_time_ns = message->publish_time_ns ? message->publish_time_ns : -1};
  return TB_OK;
}

static tb_status_t fake_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  (void)error;
  fake_file_t *file = (fake_file_t *)base;
  row->topic_id = (int64_t)file->bag->messages[row->id - 1].topic;
  return TB_OK;
}

static tb_status_t fake_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  static const uint8_t encapsulation_only[4] = {0, 1, 0, 0};
  const tb__fake_message_t *message = &((fake_file_t *)base)->bag->messages[row->id - 1];
  if (message->fault) return tb_error_set(error, message->fault, "fault of the fake bag");
  row->data = message->data ? message->data : encapsulation_only;
  row->size = message->data ? message->size : sizeof encapsulation_only;
  return TB_OK;
}

static const tb__bag_storage_t fake_storage = {
    .id = "fake",
    .item = "row",
    .open = fake_open,
    .close = fake_close,
    .read_info = fake_read_info,
    .count_topics = fake_count_topics,
    .seek = fake_seek,
    .step = fake_step,
    .read_topic = fake_read_topic,
    .read_data = fake_read_data,
};

tb__fake_header_t tb__fake_header(int64_t time_ns)
{
  return (tb__fake_header_t){
      .encapsulation = {0, 1},
      .sec = (int32_t)(time_ns / TB_NS_PER_S),
      .nanosec = (uint32_t)(time_ns % TB_NS_PER_S),
      .length = 1,
  };
}

tb_status_t tb__fake_bag_open(tb__fake_bag_t *bag, const tb_bag_reader_options_t *options,
                              tb_bag_reader_t **out, tb_error_t *error)
{
  size_t files = bag->file_count ? bag->file_count : 1;
  tb__bag_location_t location = {.path = strdup("fake"), .files = calloc(files, sizeof(char *))};
  bool complete = location.path && location.files;
  for (size_t i = 0; i < files && complete; i++) {
    complete = asprintf(&location.files[i], "fake/%zu", i) >= 0;
    location.file_count += complete;
  }
  if (!complete) {
    tb__bag_location_fini(&location);
    return tb__no_memory(error);
  }
  bag->storage = fake_storage;
  return tb__bag_reader_open_files(&bag->storage, &location, options, out, error);
}
