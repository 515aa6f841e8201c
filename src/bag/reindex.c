/* metadata.yaml made again from the files of a folder. */
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_writer.h>

#include "bag/check_metadata.h"
#include "bag/metadata_file.h"
#include "bag/metadata_write.h"
#include "bag/reader.h"
#include "bag/storages.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "storage/limits.h"

/* All files are of it. */
static tb_status_t find_storage(const tb__bag_location_t *location, const char *storage_id,
                                const tb__bag_storage_t **out, tb_error_t *error)
{
  const tb__bag_storage_t *first = tb__bag_storage_of_file(location->files[0]);
  for (size_t i = 1; i < location->file_count; i++)
    if (tb__bag_storage_of_file(location->files[i]) != first)
      return tb_error_set(error, TB_ERR_UNSUPPORTED,
                          "%s: files of different formats, such as %s and %s, are no recording",
                          location->path, location->files[0], location->files[i]);
  if (storage_id && *storage_id && strcmp(storage_id, first->id) != 0)
    return tb_error_set(error, TB_ERR_INVALID, "%s: its files are of %s, not of %s", location->path,
                        first->id, storage_id);
  if (strcmp(first->id, "rosbag1") == 0)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: bags of ROS 1 have no metadata.yaml",
                        location->path);
  *out = first;
  return TB_OK;
}

/* The notes of the old metadata.yaml, but those of runs only if it listed as many files. */
static size_t take_notes(const tb__bag_metadata_t *old, size_t file_count, tb__bag_custom_t *out)
{
  size_t listed = 0, count = 0;
  for (const tb__yaml_node_t *path = old->paths ? old->paths->first : NULL; path; path = path->next)
    listed++;
  for (const tb__yaml_node_t *note = old->custom ? old->custom->first : NULL; note;
       note = note->next) {
    if (!tb__yaml_text(note) || (tb__bag_is_run_note(note->key) && listed != file_count)) continue;
    if (out) out[count] = (tb__bag_custom_t){(char *)note->key, (char *)note->text};
    count++;
  }
  return count;
}

static tb__bag_extent_t extent_of(const tb__bag_source_t *source)
{
  tb__bag_extent_t extent = {.message_count = source->row_count};
  if (source->row_count == 0 || source->end_ns == INT64_MAX) return extent;
  extent.start_ns = source->start_ns;
  extent.end_ns = source->end_ns;
  return extent;
}

static void fill_lists(const tb_bag_reader_t *reader, tb__bag_described_topic_t *topics,
                       tb__bag_described_file_t *files)
{
  for (size_t i = 0; i < reader->info.topic_count; i++) {
    const tb_bag_topic_t *topic = &reader->info.topics[i];
    topics[i] = (tb__bag_described_topic_t){.name = topic->name,
                                            .type = topic->type,
                                            .serialization_format = topic->serialization_format,
                                            .offers = topic->offers,
                                            .type_hash = topic->type_hash,
                                            .message_count = topic->message_count};
  }
  for (size_t i = 0; i < reader->source_count; i++)
    files[i] = (tb__bag_described_file_t){strrchr(reader->files[i], '/') + 1,
                                          extent_of(&reader->sources[i])};
}

/* Nothing in a file of sqlite3 need say that its messages are compressed. */
static const char *compression_mode(const tb_bag_info_t *info, const tb__bag_metadata_t *old)
{
  tb__bag_compression_t before = TB__BAG_PLAIN;
  if (info->compression == TB_BAG_COMPRESSION_FILES) return "FILE";
  if (info->compression == TB_BAG_COMPRESSION_MESSAGES) return "MESSAGE";
  if (old->compression_mode && !tb__bag_metadata_compression(old, &before, NULL) &&
      before == TB__BAG_MESSAGES)
    return "MESSAGE";
  return "";
}

static tb_status_t describe(const tb_bag_reader_t *reader, const tb__bag_metadata_t *old,
                            char **out, tb_error_t *error)
{
  const tb_bag_info_t *info = &reader->info;
  const char *mode = compression_mode(info, old);
  if (!old->custom) old = &reader->parts[0].own; /* as the files have it */
  size_t custom_count = take_notes(old, reader->source_count, NULL);
  tb__bag_described_topic_t *topics = calloc(info->topic_count + 1, sizeof *topics);
  tb__bag_described_file_t *files = calloc(reader->source_count + 1, sizeof *files);
  tb__bag_custom_t *custom = calloc(custom_count + 1, sizeof *custom);
  tb_status_t status = topics && files && custom ? TB_OK : tb__no_memory(error);
  if (!status) {
    fill_lists(reader, topics, files);
    take_notes(old, reader->source_count, custom);
    tb__bag_description_t bag = {.storage_id = info->storage_id,
                                 .compression_mode = mode,
                                 .compression_format = *mode ? "zstd" : "",
                                 .ros_distro = *info->ros_distro ? info->ros_distro
                                               : old->ros_distro ? old->ros_distro
                                                                 : "",
                                 .extent = {info->message_count, info->start_ns, info->end_ns},
                                 .topics = topics,
                                 .topic_count = info->topic_count,
                                 .files = files,
                                 .file_count = reader->source_count,
                                 .custom = custom,
                                 .custom_count = custom_count};
    status = tb__bag_metadata_write(&bag, TB__BAG_METADATA_FILE, out, error);
  }
  free(topics);
  free(files);
  free(custom);
  return status;
}

/* Takes *location over. */
static tb_status_t read_files(tb__bag_location_t *location, const char *storage_id,
                              tb_bag_reader_t **out, tb_error_t *error)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  const tb__bag_storage_t *storage = NULL;
  options.counts = TB_BAG_COUNTS_SUMMARY;
  options.content = TB_BAG_CONTENT_ANY;
  tb_status_t status = find_storage(location, storage_id, &storage, error);
  if (!status) return tb__bag_reader_open_files(storage, location, &options, out, error);
  tb__bag_location_fini(location);
  return status;
}

static tb_status_t refuse_damage(tb_bag_reader_t *reader, tb_error_t *error)
{
  char first[TB_ERROR_TEXT_SIZE];
  uint64_t count = 0;
  tb_status_t status = tb__check_files(reader, &count, first, error);
  return status || count == 0 ? status : tb_error_set(error, TB_ERR_CORRUPT, "%s", first);
}

tb_status_t tb_bag_reindex(const char *path, const char *storage_id, tb_error_t *error)
{
  const tb_bag_limits_t defaults = {0};
  tb__bag_location_t location = {0};
  tb_bag_reader_t *reader = NULL;
  char *text = NULL;
  if (!path) return tb__null_argument(error, __func__);
  tb_status_t status =
      tb__bag_locate_files(path, tb__bag_limits(&defaults).file_count, &location, error);
  if (status) return status;
  tb__bag_metadata_t old = location.metadata;
  location.metadata = (tb__bag_metadata_t){0};
  status = read_files(&location, storage_id, &reader, error);
  if (!status) status = refuse_damage(reader, error);
  if (!status) status = describe(reader, &old, &text, error);
  if (!status) status = tb__bag_metadata_replace(reader->info.path, text, error);
  free(text);
  tb_bag_reader_close(reader);
  tb__bag_metadata_fini(&old);
  return status;
}
