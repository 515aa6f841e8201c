#include "bag/check_metadata.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bag/reader.h"
#include "bag/storages.h"

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_a_file_of(const tb_bag_reader_t *reader, const char *name)
{
  for (size_t i = 0; i < reader->source_count; i++)
    if (strcmp(base_name(reader->sources[i].path), name) == 0) return true;
  return false;
}

/* A recorder that was cut off may have left files that metadata.yaml does not name. */
static tb_status_t check_folder(tb__check_t *check, const tb_bag_reader_t *reader,
                                tb_error_t *error)
{
  const char *path = reader->parts[0].location.path;
  DIR *directory = opendir(path);
  if (!directory) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
  for (struct dirent *entry; (entry = readdir(directory));)
    if (tb__bag_storage_of_file(entry->d_name) && !is_a_file_of(reader, entry->d_name))
      tb__check_report(check, "%s/%s: not listed in metadata.yaml", path, entry->d_name);
  closedir(directory);
  return TB_OK;
}

static void check_topics(tb__check_t *check, const tb_bag_reader_t *reader)
{
  const tb__bag_location_t *location = &reader->parts[0].location;
  for (size_t i = 0; i < reader->table.count; i++) {
    const char *name = reader->table.topics[i].name;
    tb__bag_metadata_topic_t listed = {0};
    bool is_listed = tb__bag_metadata_find_topic(&location->metadata, name, &listed);
    if (is_listed && listed.message_count != check->by_topic[i])
      tb__check_report(check,
                       "%s/metadata.yaml: %" PRIu64 " messages of %s, but the files have %" PRIu64,
                       location->path, listed.message_count, name, check->by_topic[i]);
    if (!is_listed && check->by_topic[i] > 0)
      tb__check_report(check, "%s/metadata.yaml does not list the topic %s", location->path, name);
  }
  const tb__yaml_node_t *item = location->metadata.topics ? location->metadata.topics->first : NULL;
  for (; item; item = item->next) {
    const char *name = tb__yaml_text(tb__yaml_find(tb__yaml_find(item, "topic_metadata"), "name"));
    size_t index;
    if (name && !tb__topic_table_find(&reader->table, name, &index))
      tb__check_report(check, "%s/metadata.yaml lists the topic %s, but no file has it",
                       location->path, name);
  }
}

static const tb__yaml_node_t *body_of(const tb__bag_metadata_t *metadata)
{
  const tb__yaml_node_t *inner = tb__yaml_find(metadata->yaml.root, "rosbag2_bagfile_information");
  return inner ? inner : metadata->yaml.root;
}

/* Before humble, rosbag2 wrote the times of the last file for the whole of a split recording. */
#define VERSION_OF_HUMBLE 5

static void check_times(tb__check_t *check, const tb__bag_location_t *location)
{
  if (location->metadata.version < VERSION_OF_HUMBLE) return;
  const tb__yaml_node_t *body = body_of(&location->metadata);
  int64_t start_ns = check->start_ns;
  int64_t duration_ns = check->end_ns - check->start_ns;
  tb__yaml_to_int64(tb__yaml_find(tb__yaml_find(body, "starting_time"), "nanoseconds_since_epoch"),
                    &start_ns);
  tb__yaml_to_int64(tb__yaml_find(tb__yaml_find(body, "duration"), "nanoseconds"), &duration_ns);
  if (start_ns != check->start_ns)
    tb__check_report(check,
                     "%s/metadata.yaml: starts at %" PRId64 " ns, but the files start at %" PRId64,
                     location->path, start_ns, check->start_ns);
  if (duration_ns != check->end_ns - check->start_ns)
    tb__check_report(check, "%s/metadata.yaml: lasts %" PRId64 " ns, but the files last %" PRId64,
                     location->path, duration_ns, check->end_ns - check->start_ns);
}

static void check_files(tb__check_t *check, const tb_bag_reader_t *reader)
{
  const tb__bag_location_t *location = &reader->parts[0].location;
  const tb__yaml_node_t *files = tb__yaml_find(body_of(&location->metadata), "files");
  const tb__yaml_node_t *item = files && files->kind == TB__YAML_SEQUENCE ? files->first : NULL;
  for (size_t i = 0; item && i < reader->source_count; i++, item = item->next) {
    uint64_t count = check->by_file[i];
    tb__yaml_to_uint64(tb__yaml_find(item, "message_count"), &count);
    if (count != check->by_file[i])
      tb__check_report(check, "%s/metadata.yaml: %" PRIu64 " messages in %s, but it has %" PRIu64,
                       location->path, count, base_name(reader->sources[i].path),
                       check->by_file[i]);
  }
}

/* Whether it is as the recorder left it when it began the last file, which it did not close. */
static bool is_of_before_the_end(const tb__check_t *check, const tb_bag_reader_t *reader)
{
  const tb__bag_metadata_t *metadata = &reader->parts[0].location.metadata;
  const tb__yaml_node_t *files = tb__yaml_find(body_of(metadata), "files"), *last = NULL;
  const tb__yaml_node_t *item = files && files->kind == TB__YAML_SEQUENCE ? files->first : NULL;
  size_t count = 0;
  for (; item; item = item->next, count++)
    last = item;
  uint64_t listed = 1;
  if (count == 0 || count != reader->source_count) return false;
  tb__yaml_to_uint64(tb__yaml_find(last, "message_count"), &listed);
  uint64_t found = check->by_file[count - 1];
  return listed == 0 && found > 0 && metadata->message_count == check->result.message_count - found;
}

tb_status_t tb__check_metadata(tb__check_t *check, const tb_bag_reader_t *reader, tb_error_t *error)
{
  const tb__bag_location_t *location = &reader->parts[0].location;
  struct stat info;
  if (stat(location->path, &info) != 0 || !S_ISDIR(info.st_mode)) return TB_OK;
  if (!location->has_metadata) {
    if (check->is_salvaging) return TB_OK;
    tb__check_report(check, "%s: no metadata.yaml: the recording was not closed", location->path);
    check->result.unclosed_count++;
    return TB_OK;
  }
  tb_status_t status = check_folder(check, reader, error);
  if (status) return status;
  if (!check->is_salvaging && is_of_before_the_end(check, reader)) {
    tb__check_report(check,
                     "%s/metadata.yaml: written before the messages of %s: the recording was not "
                     "closed",
                     location->path, base_name(reader->sources[reader->source_count - 1].path));
    check->result.unclosed_count++;
    return TB_OK;
  }
  if (location->metadata.message_count != check->result.message_count)
    tb__check_report(check, "%s/metadata.yaml: %" PRIu64 " messages, but the files have %" PRIu64,
                     location->path, location->metadata.message_count, check->result.message_count);
  check_topics(check, reader);
  if (check->result.message_count > 0) check_times(check, location);
  if (!check->is_salvaging) check_files(check, reader);
  return TB_OK;
}
