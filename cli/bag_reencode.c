#include "bag_reencode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/ros1_text.h"
#include "text.h"

static bool is_ros1(const char *serialization_format)
{
  return strcmp(serialization_format, "ros1") == 0;
}

bool bag_reencode_fits(const char *serialization_format, const char *storage_id)
{
  bool is_bag = strcmp(storage_id, "rosbag1") == 0, is_mcap = strcmp(storage_id, "mcap") == 0;
  return is_ros1(serialization_format) ? is_bag || is_mcap : !is_bag;
}

tb_status_t bag_reencode_check(const tb_bag_topic_t *topic, tb_error_t *error)
{
  const char *format = topic->serialization_format, *encoding = topic->definition_encoding;
  bool is_known = is_ros1(format) || strcmp(format, "cdr") == 0;
  if (!is_known)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "it is serialized as \"%.40s\", which is neither ROS 1 nor ROS 2", format);
  if (!*encoding || is_ros1(format) == (strcmp(encoding, "ros1msg") == 0)) return TB_OK;
  return tb_error_set(error, TB_ERR_CORRUPT,
                      "its messages are serialized as \"%.40s\", but their definition is "
                      "\"%.40s\": one of them is wrong",
                      format, encoding);
}

/* --- topics --- */

tb_reencoder_type_t bag_reencode_type(const tb_bag_topic_t *topic)
{
  const char *encoding = is_ros1(topic->serialization_format) ? "ros1msg"
                         : *topic->definition_encoding        ? topic->definition_encoding
                                                              : "ros2msg";
  return (tb_reencoder_type_t){.name = topic->type,
                               .encoding = encoding,
                               .definition = topic->definition,
                               .md5sum =
                                   is_ros1(topic->serialization_format) ? topic->type_hash : NULL};
}

static tb_status_t find(const bag_reencode_t *reencode, const tb_bag_topic_t *topic,
                        tb_reencoder_t **out, tb_error_t *error)
{
  const tb_reencoder_type_t type = bag_reencode_type(topic);
  tb_status_t status = bag_reencode_check(topic, error);
  if (status) return status;
  return tb_reencoder_find(&type, reencode->folders, reencode->folder_count, out, error);
}

static void report_unmatched(const bag_reencode_t *reencode, const tb_bag_topic_t *topic,
                             bool is_kept, const tb_error_t *error)
{
  command_begin_warning(reencode->command);
  text_err("topic %s (%s) %s: %s\n", topic->name, topic->type,
           is_kept ? "stays as it is in ROS 1" : "is not converted", error->text);
}

static void report_derived(const bag_reencode_t *reencode, const tb_bag_topic_t *topic,
                           const tb_reencoder_t *reencoder)
{
  if (!tb_reencoder_is_derived(reencoder)) return;
  command_begin_warning(reencode->command);
  text_err("topic %s: ROS 2's definition of %s was found nowhere, and is made of that of ROS 1; "
           "--definitions DIR names one\n",
           topic->name, tb_reencoder_ros2(reencoder)->name);
}

static tb_status_t prepare_topic(bag_reencode_t *reencode, const tb_bag_topic_t *topic,
                                 const char *storage_id, bag_reencoded_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  bool to_ros1 = strcmp(storage_id, "rosbag1") == 0;
  if (!reencode->is_on || is_ros1(topic->serialization_format) == to_ros1) return TB_OK;
  if (!to_ros1 && !is_ros1(topic->serialization_format)) return TB_OK;
  tb_status_t status = find(reencode, topic, &out->reencoder, &error);
  if (status == TB_ERR_NO_MEMORY) return status;
  if (!status) {
    report_derived(reencode, topic, out->reencoder);
    return TB_OK;
  }
  out->is_left_out =
      !reencode->keeps_ros1 || !bag_reencode_fits(topic->serialization_format, storage_id);
  report_unmatched(reencode, topic, !out->is_left_out, &error);
  if (out->is_left_out) reencode->left_out++;
  return TB_OK;
}

tb_status_t bag_reencode_prepare(bag_reencode_t *reencode, const tb_bag_info_t *info,
                                 const char *storage_id, const bool *wanted, tb_error_t *error)
{
  reencode->topics = calloc(info->topic_count + 1, sizeof *reencode->topics);
  if (!reencode->topics) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  reencode->topic_count = info->topic_count;
  for (size_t i = 0; i < info->topic_count; i++) {
    if (wanted && !wanted[i]) continue;
    if (prepare_topic(reencode, &info->topics[i], storage_id, &reencode->topics[i]))
      return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  }
  return TB_OK;
}

void bag_reencode_end(bag_reencode_t *reencode)
{
  for (size_t i = 0; i < reencode->topic_count; i++)
    tb_reencoder_destroy(reencode->topics[i].reencoder);
  free(reencode->topics);
}

const char *bag_reencode_profile(const bag_reencode_t *reencode, const tb_bag_info_t *info,
                                 const bool *wanted)
{
  bool has_ros1 = false, has_other = false;
  for (size_t i = 0; i < info->topic_count; i++) {
    const bag_reencoded_t *topic = &reencode->topics[i];
    if ((wanted && !wanted[i]) || topic->is_left_out) continue;
    if (is_ros1(info->topics[i].serialization_format) && !topic->reencoder)
      has_ros1 = true;
    else
      has_other = true;
  }
  return has_ros1 ? (has_other ? "" : "ros1") : NULL;
}

/* A file of MCAP need not have it. */
static void add_md5sum(bag_reencode_t *reencode, tb_bag_writer_topic_t *topic)
{
  bool has_sum = topic->type_hash && strlen(topic->type_hash) == 32;
  if (has_sum || !topic->definition || !*topic->definition ||
      tb__ros1_md5sum(topic->type, topic->definition, reencode->md5sum, NULL))
    return;
  topic->type_hash = reencode->md5sum;
}

void bag_reencode_describe(bag_reencode_t *reencode, size_t index, tb_bag_writer_topic_t *topic)
{
  const tb_reencoder_t *reencoder = reencode->topics[index].reencoder;
  bool to_ros1 = reencoder && !is_ros1(topic->serialization_format);
  if (!reencoder) {
    if (is_ros1(topic->serialization_format)) add_md5sum(reencode, topic);
    return;
  }
  const tb_reencoder_type_t *type =
      to_ros1 ? tb_reencoder_ros1(reencoder) : tb_reencoder_ros2(reencoder);
  bool is_one_text = strchr(type->encoding, ' ') == NULL; /* no recording has a mixed one */
  topic->type = type->name;
  topic->serialization_format = to_ros1 ? "ros1" : "cdr";
  topic->definition = is_one_text ? type->definition : "";
  topic->definition_encoding = is_one_text ? type->encoding : "";
  topic->type_hash = to_ros1 ? tb_reencoder_md5sum(reencoder) : NULL;
}

/* --- messages --- */

tb_status_t bag_reencode_for_publisher(const bag_reencode_t *reencode, size_t index,
                                       tb_reencoder_t **out, tb_error_t *error)
{
  const tb_reencoder_t *first = reencode->topics[index].reencoder;
  *out = NULL;
  return first ? tb_reencoder_create(tb_reencoder_ros2(first), tb_reencoder_ros1(first), out, error)
               : TB_OK;
}

bool bag_reencode_message(bag_reencode_t *reencode, const tb_bag_info_t *info, tb_reencoder_t *own,
                          tb_bag_message_t *message)
{
  bag_reencoded_t *topic = &reencode->topics[message->topic];
  tb_reencoder_t *reencoder = own ? own : topic->reencoder;
  const void *bytes = message->data;
  if (!reencoder || !tb_reencoder_run(reencoder, bytes, message->size, &bytes, &message->size,
                                      &reencode->error)) {
    message->data = bytes;
    return true;
  }
  reencode->failures++;
  if (topic->failures++ > 0) return false;
  command_begin_warning(reencode->command);
  text_err("topic %s: a message at %" PRIi64 " ns is not converted, nor are others like it: %s\n",
           info->topics[message->topic].name, message->log_time_ns, reencode->error.text);
  return false;
}
