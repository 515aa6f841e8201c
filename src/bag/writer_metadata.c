#include <stdlib.h>
#include <string.h>

#include "bag/metadata_file.h"
#include "bag/writer.h"
#include "base/no_memory.h"

tb__bag_extent_t tb__writer_extent(const tb_bag_writer_t *writer)
{
  tb__bag_extent_t whole = {0};
  for (size_t i = 0; i < writer->file_count; i++) {
    const tb__bag_extent_t *file = &writer->files[i].extent;
    if (file->message_count == 0) continue;
    bool first = whole.message_count == 0;
    if (first || file->start_ns < whole.start_ns) whole.start_ns = file->start_ns;
    if (first || file->end_ns > whole.end_ns) whole.end_ns = file->end_ns;
    whole.message_count += file->message_count;
  }
  return whole;
}

/* A topic is one, however many publishers it has. */
static size_t describe_topics(const tb_bag_writer_t *writer, tb__bag_described_topic_t *out)
{
  size_t count = 0;
  for (size_t i = 0; i < writer->topic_count; i++) {
    const tb__written_topic_t *topic = &writer->topics[i];
    size_t same = 0;
    while (same < count && strcmp(out[same].name, topic->name) != 0)
      same++;
    if (same < count)
      out[same].message_count += topic->count;
    else
      out[count++] =
          (tb__bag_described_topic_t){.name = topic->name,
                                      .type = topic->type,
                                      .serialization_format = topic->serialization_format,
                                      .offers = topic->offers,
                                      .type_hash = topic->type_hash,
                                      .message_count = topic->count};
  }
  return count;
}

tb_status_t tb__writer_describe(const tb_bag_writer_t *writer, tb__bag_metadata_form_t form,
                                char **out, tb_error_t *error)
{
  static const char *const modes[] = {
      [TB_BAG_COMPRESS_NONE] = "",
      [TB_BAG_COMPRESS_MESSAGES] = "MESSAGE",
      [TB_BAG_COMPRESS_FILES] = "FILE",
  };
  tb__bag_described_topic_t *topics = calloc(writer->topic_count + 1, sizeof *topics);
  tb__bag_described_file_t *files = calloc(writer->file_count + 1, sizeof *files);
  if (!topics || !files) {
    free(topics);
    free(files);
    return tb__no_memory(error);
  }
  size_t topic_count = describe_topics(writer, topics);
  for (size_t i = 0; i < writer->file_count; i++)
    files[i] = (tb__bag_described_file_t){writer->files[i].name, writer->files[i].extent};
  bool compressed = writer->options.compression_mode != TB_BAG_COMPRESS_NONE;
  tb__bag_description_t bag = {.storage_id = writer->format->id,
                               .compression_mode = modes[writer->options.compression_mode],
                               .compression_format = compressed ? "zstd" : "",
                               .ros_distro = writer->ros_distro,
                               .extent = tb__writer_extent(writer),
                               .topics = topics,
                               .topic_count = topic_count,
                               .files = files,
                               .file_count = writer->file_count,
                               .custom = writer->custom,
                               .custom_count = writer->custom_count};
  tb_status_t status = tb__bag_metadata_write(&bag, form, out, error);
  free(topics);
  free(files);
  return status;
}

tb_status_t tb__writer_sync_folder(const tb_bag_writer_t *writer, tb_error_t *error)
{
  return tb__bag_folder_sync(writer->folder, writer->path, error);
}

tb_status_t tb__writer_save_metadata(const tb_bag_writer_t *writer, tb_error_t *error)
{
  char *text = NULL;
  if (writer->format->is_file) return tb__writer_sync_folder(writer, error);
  tb_status_t status = tb__writer_describe(writer, TB__BAG_METADATA_FILE, &text, error);
  if (!status) status = tb__bag_metadata_replace_in(writer->folder, writer->path, text, error);
  free(text);
  return status;
}
