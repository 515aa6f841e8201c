#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "base/log.h"

static const tb__bag_storage_t *const storages[] = {&tb__sqlite_storage, &tb__mcap_storage};

static tb_status_t no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

static const tb__bag_metadata_t *metadata_of(const tb_bag_reader_t *reader)
{
  return reader->location.has_metadata ? &reader->location.metadata : NULL;
}

static tb_status_t link_topics(tb_bag_reader_t *reader, size_t index, tb__bag_file_info_t *info,
                               tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  source->links = calloc(info->topic_count + 1, sizeof *source->links);
  if (!source->links) return no_memory(error);
  for (size_t i = 0; i < info->topic_count; i++) {
    tb__bag_topic_link_t *link = &source->links[i];
    link->id = info->topics[i].id;
    tb_status_t status =
        tb__topic_table_merge(&reader->table, &info->topics[i], reader->location.files[index],
                              metadata_of(reader), &link->topic, error);
    if (status) return status;
  }
  source->link_count = info->topic_count;
  return TB_OK;
}

static void merge_extent(tb_bag_reader_t *reader, tb__bag_source_t *source,
                         const tb__bag_file_info_t *file)
{
  tb_bag_info_t *info = &reader->info;
  source->has_rows = file->message_count > 0;
  source->start_ns = file->has_times ? file->start_ns : 0;
  source->end_ns = file->has_times ? file->end_ns : INT64_MAX;
  info->message_count += file->message_count;
  if (!file->has_times) return;
  bool first = info->end_ns < 0; /* as open_files left it */
  info->start_ns = first || file->start_ns < info->start_ns ? file->start_ns : info->start_ns;
  info->end_ns = file->end_ns > info->end_ns ? file->end_ns : info->end_ns;
}

/* Without metadata.yaml, a file's own copy tells whether its messages are compressed. */
static tb_status_t check_own_metadata(tb_bag_reader_t *reader, size_t index,
                                      const tb__bag_file_info_t *info, tb_error_t *error)
{
  if (!info->metadata || reader->location.has_metadata) return TB_OK;
  const char *path = reader->location.files[index];
  tb__bag_metadata_t metadata = {0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status =
      tb__bag_metadata_parse(info->metadata, strlen(info->metadata), &metadata, &detail);
  if (status == TB_ERR_NO_MEMORY) return no_memory(error);
  if (status) {
    tb__log(TB_LOG_WARN, "%s: its metadata table is ignored: %s", path, detail.text);
    return TB_OK;
  }
  if (tb__bag_metadata_is_compressed(&metadata))
    status = tb__bag_compressed_error(error, path, metadata.compression_mode,
                                      metadata.compression_format);
  tb__bag_metadata_fini(&metadata);
  return status;
}

static tb_status_t take_info(tb_bag_reader_t *reader, size_t index, tb__bag_file_info_t *info,
                             tb_error_t *error)
{
  tb_status_t status = check_own_metadata(reader, index, info, error);
  if (!status) status = link_topics(reader, index, info, error);
  if (status) return status;
  merge_extent(reader, &reader->sources[index], info);
  if (!reader->ros_distro && info->ros_distro && *info->ros_distro) {
    reader->ros_distro = info->ros_distro;
    info->ros_distro = NULL;
  }
  return TB_OK;
}

static tb_status_t survey_file(tb_bag_reader_t *reader, size_t index, tb_error_t *error)
{
  const tb__bag_storage_t *storage = reader->storage;
  tb__bag_file_t *file = NULL;
  tb_status_t status = storage->open(storage, reader->location.files[index], &file, error);
  if (status) return status;
  tb__bag_file_info_t info = {0};
  status = storage->read_info(file, &info, error);
  if (!status) status = take_info(reader, index, &info, error);
  tb__bag_file_info_fini(&info);
  /* A bag of one file is looked into only once: without a summary that would be the whole of it. */
  if (!status && reader->location.file_count == 1)
    reader->sources[index].file = file;
  else
    storage->close(file);
  return status;
}

static tb_status_t count_file(tb_bag_reader_t *reader, size_t index, tb_error_t *error)
{
  const tb__bag_storage_t *storage = reader->storage;
  const tb__bag_source_t *source = &reader->sources[index];
  tb__bag_file_topic_t *topics = calloc(source->link_count + 1, sizeof *topics);
  if (!topics) return no_memory(error);
  for (size_t i = 0; i < source->link_count; i++)
    topics[i].id = source->links[i].id;
  tb__bag_file_info_t info = {.topics = topics, .topic_count = source->link_count};
  tb__bag_file_t *file = source->file;
  tb_status_t status = TB_OK;
  if (!file) status = storage->open(storage, reader->location.files[index], &file, error);
  if (!status) status = storage->count_topics(file, &info, error);
  for (size_t i = 0; i < source->link_count && !status; i++)
    reader->table.topics[source->links[i].topic].message_count += topics[i].message_count;
  if (file && !source->file) storage->close(file);
  free(topics);
  return status;
}

static tb_status_t fill_counts(tb_bag_reader_t *reader, tb_bag_counts_t counts, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = metadata_of(reader);
  if (counts == TB_BAG_COUNTS_AUTO && metadata &&
      tb__topic_table_use_counts(&reader->table, metadata, reader->info.message_count))
    return TB_OK;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < reader->location.file_count && !status; i++)
    status = count_file(reader, i, error);
  return status;
}

static tb_status_t apply_filter(tb_bag_reader_t *reader, const tb_bag_reader_options_t *options,
                                tb_error_t *error)
{
  reader->wanted = calloc(reader->table.count + 1, sizeof *reader->wanted);
  if (!reader->wanted) return no_memory(error);
  for (size_t i = 0; i < reader->table.count; i++)
    reader->wanted[i] = options->topic_count == 0;
  for (size_t i = 0; i < options->topic_count; i++) {
    size_t topic = 0;
    if (!tb__topic_table_find(&reader->table, options->topics[i], &topic))
      return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no topic \"%.200s\" in this bag",
                          reader->location.path, options->topics[i]);
    reader->wanted[topic] = true;
  }
  return TB_OK;
}

/* Insertion sort: the files of a bag are nearly always in order already. */
static void sort_by_start(tb_bag_reader_t *reader)
{
  for (size_t i = 0; i < reader->location.file_count; i++) {
    size_t place = i;
    while (place > 0 &&
           reader->sources[reader->by_start[place - 1]].start_ns > reader->sources[i].start_ns) {
      reader->by_start[place] = reader->by_start[place - 1];
      place--;
    }
    reader->by_start[place] = i;
  }
}

static void fill_info(tb_bag_reader_t *reader)
{
  const tb__bag_metadata_t *metadata = metadata_of(reader);
  tb_bag_info_t *info = &reader->info;
  info->path = reader->location.path;
  info->storage_id = reader->storage->id;
  info->ros_distro = reader->ros_distro ? reader->ros_distro : metadata ? metadata->ros_distro : "";
  info->metadata_version = metadata ? metadata->version : 0;
  info->topics = reader->table.topics;
  info->topic_count = reader->table.count;
  info->files = (const char *const *)reader->location.files;
  info->file_count = reader->location.file_count;
  if (info->end_ns < 0) info->end_ns = 0;
}

static tb_status_t survey(tb_bag_reader_t *reader, const tb_bag_reader_options_t *options,
                          tb_error_t *error)
{
  size_t count = reader->location.file_count;
  reader->sources = calloc(count + 1, sizeof *reader->sources);
  reader->by_start = calloc(count + 1, sizeof *reader->by_start);
  reader->active = calloc(count + 1, sizeof *reader->active);
  if (!reader->sources || !reader->by_start || !reader->active) return no_memory(error);
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = survey_file(reader, i, error);
  if (!status) status = fill_counts(reader, options->counts, error);
  if (!status) status = apply_filter(reader, options, error);
  if (status) return status;
  sort_by_start(reader);
  fill_info(reader);
  return TB_OK;
}

tb_status_t tb__bag_reader_open_files(const tb__bag_storage_t *storage,
                                      tb__bag_location_t *location,
                                      const tb_bag_reader_options_t *options, tb_bag_reader_t **out,
                                      tb_error_t *error)
{
  tb_bag_reader_options_t defaults = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = calloc(1, sizeof *reader);
  if (!reader) {
    tb__bag_location_fini(location);
    return no_memory(error);
  }
  reader->storage = storage;
  reader->location = *location;
  *location = (tb__bag_location_t){0};
  reader->seek_ns = INT64_MIN;
  reader->info.end_ns = -1;
  tb_status_t status = survey(reader, options ? options : &defaults, error);
  if (status) {
    tb_bag_reader_close(reader);
    return status;
  }
  *out = reader;
  return TB_OK;
}

/* Without metadata.yaml, by the name of the files, which are all of one kind. */
static const char *storage_of_files(const tb__bag_location_t *location)
{
  const char *end = strrchr(location->files[0], '.');
  return end && strcmp(end, ".mcap") == 0 ? "mcap" : "sqlite3";
}

static tb_status_t choose_storage(const tb__bag_location_t *location, const tb__bag_storage_t **out,
                                  tb_error_t *error)
{
  const char *id = location->has_metadata ? location->metadata.storage_id : "";
  const char *wanted = *id == '\0' ? storage_of_files(location) : id;
  for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
    if (strcmp(storages[i]->id, wanted) == 0) {
      *out = storages[i];
      return TB_OK;
    }
  }
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "%s: storage format \"%.40s\" (known: sqlite3, mcap); `ros2 bag convert` can "
                      "change it",
                      location->path, id);
}

static tb_status_t check_arguments(const char *path, const tb_bag_reader_options_t *options,
                                   tb_error_t *error)
{
  if (!path || !*path) return tb_error_set(error, TB_ERR_INVALID, "no path of a bag");
  if (!options) return TB_OK;
  if (options->counts != TB_BAG_COUNTS_AUTO && options->counts != TB_BAG_COUNTS_EXACT)
    return tb_error_set(error, TB_ERR_INVALID, "counts is %d", (int)options->counts);
  if (options->topic_count > 0 && !options->topics)
    return tb_error_set(error, TB_ERR_INVALID, "topics is NULL");
  for (size_t i = 0; i < options->topic_count; i++)
    if (!options->topics[i]) return tb_error_set(error, TB_ERR_INVALID, "topics[%zu] is NULL", i);
  return TB_OK;
}

tb_status_t tb_bag_reader_open(const char *path, const tb_bag_reader_options_t *options,
                               tb_bag_reader_t **out, tb_error_t *error)
{
  tb_status_t status = check_arguments(path, options, error);
  if (status) return status;
  tb__bag_location_t location = {0};
  status = tb__bag_locate(path, &location, error);
  if (status) return status;
  const tb__bag_storage_t *storage = NULL;
  status = choose_storage(&location, &storage, error);
  if (status) {
    tb__bag_location_fini(&location);
    return status;
  }
  return tb__bag_reader_open_files(storage, &location, options, out, error);
}

void tb_bag_reader_close(tb_bag_reader_t *reader)
{
  if (!reader) return;
  for (size_t i = 0; reader->sources && i < reader->location.file_count; i++) {
    if (reader->sources[i].file) reader->storage->close(reader->sources[i].file);
    free(reader->sources[i].links);
  }
  free(reader->sources);
  free(reader->by_start);
  free(reader->active);
  free(reader->wanted);
  free(reader->ros_distro);
  tb__topic_table_fini(&reader->table);
  tb__bag_location_fini(&reader->location);
  free(reader);
}

const tb_bag_info_t *tb_bag_reader_info(const tb_bag_reader_t *reader)
{
  return &reader->info;
}
