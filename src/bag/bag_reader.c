#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "bag/storages.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "sqlite/sqlite_format.h"
#include "storage/clean.h"
#include "storage/limits.h"

static void free_parts(tb__bag_part_t *parts, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    tb__bag_location_fini(&parts[i].location);
    tb__bag_metadata_fini(&parts[i].own);
  }
  free(parts);
}

static tb_status_t link_topics(tb_bag_reader_t *reader, tb__bag_source_t *source,
                               tb__bag_file_info_t *info, tb_error_t *error)
{
  source->links = calloc(info->topic_count + 1, sizeof *source->links);
  if (!source->links) return tb__no_memory(error);
  for (size_t i = 0; i < info->topic_count; i++) {
    tb__bag_topic_link_t *link = &source->links[i];
    link->id = info->topics[i].id;
    tb__bag_name_as_ros(info->topics[i].name, info->topics[i].type);
    tb_status_t status =
        tb__topic_table_merge(&reader->table, &info->topics[i], source->path, source->part,
                              tb__bag_part_metadata(source->part), &link->topic, error);
    if (status) return status;
    source->link_count = i + 1;
  }
  return TB_OK;
}

static void merge_extent(tb_bag_reader_t *reader, tb__bag_source_t *source,
                         const tb__bag_file_info_t *file)
{
  tb_bag_info_t *info = &reader->info;
  source->has_rows = file->message_count > 0 || file->has_damage_rows;
  source->start_ns = file->has_times ? file->start_ns : 0;
  source->end_ns = file->has_times ? file->end_ns : INT64_MAX;
  source->part->whole_count += file->message_count;
  source->row_count = file->message_count;
  source->is_estimated = file->is_estimate;
  if (file->counted < info->counted) info->counted = file->counted;
  if (source->is_left_out) return;
  info->message_count += file->message_count;
  source->part->message_count += file->message_count;
  if (!file->has_times) return;
  bool first = info->end_ns < 0; /* as open_files left it */
  info->start_ns = first || file->start_ns < info->start_ns ? file->start_ns : info->start_ns;
  info->end_ns = file->end_ns > info->end_ns ? file->end_ns : info->end_ns;
}

/* Without metadata.yaml, the copy in the file shows whether its messages are compressed, and has
 * the notes. */
static tb_status_t check_own_metadata(tb__bag_source_t *source, const tb__bag_file_info_t *info,
                                      tb_error_t *error)
{
  if (!info->metadata || source->part->location.has_metadata) return TB_OK;
  tb__bag_metadata_t metadata = {0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status =
      tb__bag_metadata_parse(info->metadata, strlen(info->metadata), &metadata, &detail);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  if (status) {
    tb__log(TB_LOG_WARN, "%s: its metadata table is ignored: %s", source->path, detail.text);
    return TB_OK;
  }
  tb__bag_compression_t compression = TB__BAG_PLAIN;
  status = tb__bag_metadata_compression(&metadata, &compression, &detail);
  if (status) tb_error_set(error, status, "%s: %s", source->path, detail.text);
  if (compression == TB__BAG_MESSAGES) source->part->is_single_messages = true;
  tb__bag_metadata_fini(&source->part->own);
  source->part->own = metadata;
  return status;
}

static void take_text(char **to, char **from)
{
  if (*to || !*from || !**from) return;
  *to = *from;
  *from = NULL;
}

static tb_status_t take_info(tb_bag_reader_t *reader, tb__bag_source_t *source,
                             tb__bag_file_info_t *info, tb_error_t *error)
{
  tb_status_t status = check_own_metadata(source, info, error);
  if (!status) status = link_topics(reader, source, info, error);
  if (!status && info->oddity) status = tb__topic_table_note(&reader->table, info->oddity, error);
  if (status) return status;
  merge_extent(reader, source, info);
  take_text(&reader->ros_distro, &info->ros_distro);
  take_text(&reader->library, &info->library);
  take_text(&reader->damage, &info->damage);
  if (info->losses) tb__log(TB_LOG_WARN, "%s: %s", source->path, info->losses);
  if (info->is_unclosed && !source->is_left_out) reader->info.unclosed_count++;
  if (info->chunk_format) reader->chunk_format = info->chunk_format;
  return TB_OK;
}

tb_status_t tb__bag_reader_note_damage(tb_bag_reader_t *reader, const char *text, tb_error_t *error)
{
  if (!reader->damage) reader->damage = strdup(text);
  return reader->damage ? TB_OK : tb__no_memory(error);
}

static tb_status_t survey_file(tb_bag_reader_t *reader, size_t index, tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__bag_source_open(reader, index, &detail);
  if (!status) {
    tb__bag_file_info_t info = {0};
    source->file->is_estimate_enough =
        reader->options.counts == TB_BAG_COUNTS_SUMMARY && tb__bag_part_metadata(source->part);
    source->file->is_count_needed =
        reader->options.counts != TB_BAG_COUNTS_AUTO && !source->file->is_estimate_enough;
    status = source->part->storage->read_info(source->file, &info, &detail);
    if (!status) status = take_info(reader, source, &info, &detail);
    if (!status) status = tb__bag_reader_find_file_runs(reader, source, &detail);
    tb__bag_file_info_fini(&info);
    tb__bag_source_close(reader, index);
  }
  if (status && error) *error = detail;
  return status;
}

/* Descriptors or memory are used up: that will persist, and is no property of the file. */
static bool is_out_of_room(const tb_error_t *error)
{
  return error->status == TB_ERR_NO_MEMORY || error->os_errno == EMFILE ||
         error->os_errno == ENFILE || error->os_errno == ENOSPC;
}

/* A file that cannot be read at all is logged and left out of a damaged bag, unless it is the only
 * one: then the caller reports it. */
static tb_status_t leave_out(tb_bag_reader_t *reader, size_t index, const tb_error_t *why,
                             tb_error_t *error)
{
  reader->sources[index].is_lost = true;
  if (reader->source_count > 1) tb__log(TB_LOG_WARN, "%s", why->text);
  return tb__bag_reader_note_damage(reader, why->text, error);
}

static tb_status_t survey_files(tb_bag_reader_t *reader, tb_error_t *error)
{
  tb_error_t why = TB_ERROR_INIT;
  size_t lost = 0;
  for (size_t i = 0; i < reader->source_count; i++) {
    tb_status_t status = survey_file(reader, i, &why);
    if (!status) continue;
    bool is_fatal = is_out_of_room(&why) || status == TB_ERR_LIMIT ||
                    reader->options.damage != TB_BAG_DAMAGE_SALVAGE;
    if (!is_fatal) status = leave_out(reader, i, &why, &why);
    if (status) {
      if (error) *error = why;
      return status;
    }
    lost++;
  }
  if (lost == 0 || lost < reader->source_count) return TB_OK;
  if (lost > 1)
    return tb_error_set(error, why.status, "%s: none of its %zu files can be read",
                        reader->parts[0].location.path, lost);
  if (error) *error = why;
  return why.status;
}

static tb_status_t apply_filter(tb_bag_reader_t *reader, const tb_bag_reader_options_t *options,
                                tb_error_t *error)
{
  reader->wanted = calloc(reader->table.count + 1, sizeof *reader->wanted);
  reader->is_cdr = calloc(reader->table.count + 1, sizeof *reader->is_cdr);
  if (!reader->wanted || !reader->is_cdr) return tb__no_memory(error);
  for (size_t i = 0; i < reader->table.count; i++) {
    reader->wanted[i] = options->topic_count == 0;
    reader->is_cdr[i] = strcmp(reader->table.topics[i].serialization_format, "cdr") == 0;
  }
  reader->is_sparse = options->topic_count > 0 || options->content == TB_BAG_CONTENT_TIMES;
  for (size_t i = 0; i < options->topic_count; i++) {
    size_t topic = 0;
    if (!tb__topic_table_find(&reader->table, options->topics[i], &topic))
      return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no topic \"%.200s\" in this bag",
                          reader->parts[0].location.path, options->topics[i]);
    reader->wanted[topic] = true;
  }
  return TB_OK;
}

/* Insertion sort: the files of a bag are nearly always in order already. */
static void sort_by_start(tb_bag_reader_t *reader)
{
  for (size_t i = 0; i < reader->source_count; i++) {
    size_t place = i;
    while (place > 0 &&
           reader->sources[reader->by_start[place - 1]].start_ns > reader->sources[i].start_ns) {
      reader->by_start[place] = reader->by_start[place - 1];
      place--;
    }
    reader->by_start[place] = i;
  }
}

static void fill_compression(tb_bag_reader_t *reader)
{
  static const tb_bag_compression_t public_names[] = {
      [TB__BAG_PLAIN] = TB_BAG_COMPRESSION_NONE,
      [TB__BAG_MESSAGES] = TB_BAG_COMPRESSION_MESSAGES,
      [TB__BAG_FILES] = TB_BAG_COMPRESSION_FILES,
  };
  const tb__bag_part_t *part = &reader->parts[0];
  tb__bag_compression_t compression = part->location.compression;
  if (part->is_single_messages)
    compression = TB__BAG_MESSAGES;
  else if (part->location.file_count > 0 && tb__bag_file_is_packed(part->location.files[0]))
    compression = TB__BAG_FILES;
  reader->info.compression = public_names[compression];
  reader->info.compression_format = compression == TB__BAG_PLAIN ? "" : "zstd";
  if (compression != TB__BAG_PLAIN || !reader->chunk_format) return;
  reader->info.compression = TB_BAG_COMPRESSION_CHUNKS;
  reader->info.compression_format = reader->chunk_format;
}

static const char *common_storage_id(const tb_bag_reader_t *reader)
{
  const char *id = reader->parts[0].storage->id;
  for (size_t i = 1; i < reader->part_count; i++)
    if (strcmp(reader->parts[i].storage->id, id) != 0) return "mixed";
  return id;
}

/* A file that was cut off between two records looks as if it had not been closed, and one without
 * its log as if it were whole, but metadata.yaml may know of more. */
static tb_status_t check_listed(tb_bag_reader_t *reader, tb_error_t *error)
{
  bool is_salvaging = reader->options.damage == TB_BAG_DAMAGE_SALVAGE;
  for (size_t i = 0; i < reader->part_count; i++) {
    if (!is_salvaging && reader->info.unclosed_count == 0) return TB_OK;
    const tb__bag_part_t *part = &reader->parts[i];
    const tb__bag_metadata_t *metadata = tb__bag_part_metadata(part);
    if (!metadata || metadata->message_count <= part->whole_count) continue;
    char text[TB_ERROR_TEXT_SIZE];
    snprintf(text, sizeof text,
             "%s: its files end too early: they have %llu messages, metadata.yaml lists %llu",
             part->location.path, (unsigned long long)part->whole_count,
             (unsigned long long)metadata->message_count);
    reader->info.unclosed_count = 0;
    if (!is_salvaging) return TB_OK;
    return tb__bag_reader_note_damage(reader, text, error);
  }
  return TB_OK;
}

static tb_status_t fill_info(tb_bag_reader_t *reader, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = tb__bag_part_metadata(&reader->parts[0]);
  tb_bag_info_t *info = &reader->info;
  tb_status_t status = check_listed(reader, error);
  if (!status) status = tb__bag_reader_fill_texts(reader, error);
  if (status) return status;
  for (size_t i = 0; i < reader->part_count; i++)
    take_text(&reader->damage, &reader->parts[i].location.damage);
  info->path = reader->parts[0].location.path;
  info->storage_id = common_storage_id(reader);
  info->metadata_version = metadata ? metadata->version : 0;
  info->topics = reader->table.topics;
  info->topic_count = reader->table.count;
  info->files = reader->files;
  info->file_count = reader->source_count;
  info->damage = reader->damage;
  if (info->end_ns < 0) info->end_ns = 0;
  fill_compression(reader);
  return TB_OK;
}

static tb_status_t make_sources(tb_bag_reader_t *reader, tb_error_t *error)
{
  size_t count = 0;
  for (size_t i = 0; i < reader->part_count; i++)
    count += reader->parts[i].location.file_count;
  reader->sources = calloc(count + 1, sizeof *reader->sources);
  reader->by_start = calloc(count + 1, sizeof *reader->by_start);
  reader->active = calloc(count + 1, sizeof *reader->active);
  reader->files = calloc(count + 1, sizeof *reader->files);
  if (!reader->sources || !reader->by_start || !reader->active || !reader->files)
    return tb__no_memory(error);
  for (size_t i = 0; i < reader->part_count; i++) {
    tb__bag_part_t *part = &reader->parts[i];
    part->is_single_messages = part->location.compression == TB__BAG_MESSAGES;
    for (size_t j = 0; j < part->location.file_count; j++) {
      reader->files[reader->source_count] = part->location.files[j];
      reader->sources[reader->source_count++] =
          (tb__bag_source_t){.part = part, .path = part->location.files[j]};
    }
  }
  return TB_OK;
}

static tb_status_t survey(tb_bag_reader_t *reader, const tb_bag_reader_options_t *options,
                          tb_error_t *error)
{
  tb_status_t status = make_sources(reader, error);
  if (!status) status = tb__bag_reader_find_runs(reader, error);
  if (!status) status = survey_files(reader, error);
  for (size_t i = 0; i < reader->part_count && !status; i++)
    status = tb__bag_reader_count(reader, &reader->parts[i], error);
  if (!status) status = apply_filter(reader, options, error);
  if (status) return status;
  tb__bag_reader_time_runs(reader);
  sort_by_start(reader);
  return fill_info(reader, error);
}

/* Takes `parts` over, on failure too. */
static tb_status_t open_parts(tb__bag_part_t *parts, size_t count,
                              const tb_bag_reader_options_t *options, tb_bag_reader_t **out,
                              tb_error_t *error)
{
  const tb_bag_reader_options_t defaults = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = calloc(1, sizeof *reader);
  if (!reader) {
    free_parts(parts, count);
    return tb__no_memory(error);
  }
  reader->parts = parts;
  reader->part_count = count;
  reader->options = options ? *options : defaults;
  reader->options.limits = tb__bag_limits(&reader->options.limits);
  reader->seek_ns = INT64_MIN;
  reader->info.end_ns = -1;
  reader->info.counted = TB_BAG_COUNTED_SUMMARY; /* until a file weakens it */
  tb_status_t status = survey(reader, &reader->options, error);
  if (!status && reader->options.read_ahead_size > 0) {
    reader->ahead = tb__read_ahead_create(reader, reader->options.read_ahead_size);
    if (!reader->ahead) status = tb__no_memory(error);
  }
  if (status) {
    tb_bag_reader_close(reader);
    return status;
  }
  *out = reader;
  return TB_OK;
}

tb_status_t tb__bag_reader_open_files(const tb__bag_storage_t *storage,
                                      tb__bag_location_t *location,
                                      const tb_bag_reader_options_t *options, tb_bag_reader_t **out,
                                      tb_error_t *error)
{
  tb__bag_part_t *part = calloc(1, sizeof *part);
  if (!part) {
    tb__bag_location_fini(location);
    return tb__no_memory(error);
  }
  part->storage = storage;
  part->location = *location;
  *location = (tb__bag_location_t){0};
  return open_parts(part, 1, options, out, error);
}

/* By metadata.yaml, otherwise by the name of the first file. */
static tb_status_t choose_storage(const tb__bag_location_t *location, const tb__bag_storage_t **out,
                                  tb_error_t *error)
{
  const char *id = location->has_metadata ? location->metadata.storage_id : "";
  const tb__bag_storage_t *storage =
      *id ? tb__bag_storage_find(id) : tb__bag_storage_of_file(location->files[0]);
  if (!*id && !storage) storage = &tb__sqlite_storage;
  if (!storage)
    return tb_error_set(
        error, TB_ERR_UNSUPPORTED,
        "%s: unknown storage format \"%.40s\" (supported: %s); convert it with `ros2 bag convert`",
        location->path, id, tb__bag_storage_names());
  *out = storage;
  return TB_OK;
}

static tb_status_t find_part(const char *path, const tb_bag_reader_options_t *options,
                             tb__bag_part_t *out, tb_error_t *error)
{
  bool salvage = options->damage == TB_BAG_DAMAGE_SALVAGE;
  uint64_t max_files = tb__bag_limits(&options->limits).file_count;
  tb_status_t status = salvage ? tb__bag_locate_damaged(path, max_files, &out->location, error)
                               : tb__bag_locate(path, max_files, &out->location, error);
  if (!status) status = choose_storage(&out->location, &out->storage, error);
  if (!status && salvage && out->storage->salvage) out->storage = out->storage->salvage;
  return status;
}

static tb_status_t check_options(const tb_bag_reader_options_t *options, tb_error_t *error)
{
  if (!options) return TB_OK;
  if ((unsigned)options->counts > TB_BAG_COUNTS_SUMMARY)
    return tb_error_set(error, TB_ERR_INVALID, "counts: unknown value %d", (int)options->counts);
  if ((unsigned)options->damage > TB_BAG_DAMAGE_SALVAGE)
    return tb_error_set(error, TB_ERR_INVALID, "damage: unknown value %d", (int)options->damage);
  if ((unsigned)options->content > TB_BAG_CONTENT_TIMES)
    return tb_error_set(error, TB_ERR_INVALID, "content: unknown value %d", (int)options->content);
  tb_status_t status = tb__bag_limits_check(&options->limits, error);
  if (status) return status;
  if (options->topic_count > 0 && !options->topics)
    return tb_error_set(error, TB_ERR_INVALID, "topics is NULL");
  for (size_t i = 0; i < options->topic_count; i++)
    if (!options->topics[i]) return tb_error_set(error, TB_ERR_INVALID, "topics[%zu] is NULL", i);
  return TB_OK;
}

tb_status_t tb_bag_reader_open_many_sized(const char *const *paths, size_t count,
                                          const tb_bag_reader_options_t *options,
                                          size_t options_size, tb_bag_reader_t **out,
                                          tb_error_t *error)
{
  if (!paths || !out) return tb__null_argument(error, __func__);
  tb_bag_reader_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_bag_reader_options_t");
  if (!paths || count == 0) return tb_error_set(error, TB_ERR_INVALID, "no paths given");
  for (size_t i = 0; i < count; i++)
    if (!paths[i] || !*paths[i])
      return tb_error_set(error, TB_ERR_INVALID, "a path is NULL or empty");
  tb_status_t status = check_options(options, error);
  if (status) return status;
  tb__bag_part_t *parts = calloc(count, sizeof *parts);
  if (!parts) return tb__no_memory(error);
  const tb_bag_reader_options_t defaults = TB_BAG_READER_OPTIONS_INIT;
  for (size_t i = 0; i < count && !status; i++)
    status = find_part(paths[i], options ? options : &defaults, &parts[i], error);
  if (status) {
    free_parts(parts, count);
    return status;
  }
  return open_parts(parts, count, options, out, error);
}

tb_status_t tb_bag_reader_open_sized(const char *path, const tb_bag_reader_options_t *options,
                                     size_t options_size, tb_bag_reader_t **out, tb_error_t *error)
{
  if (!path || !out) return tb__null_argument(error, __func__);
  tb_bag_reader_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_bag_reader_options_t");
  return tb_bag_reader_open_many(&path, 1, options, out, error);
}

void tb_bag_reader_close(tb_bag_reader_t *reader)
{
  if (!reader || tb__read_ahead_is_lost(reader->ahead)) return;
  tb__read_ahead_destroy(reader->ahead);
  for (size_t i = 0; i < reader->source_count; i++) {
    tb__bag_source_close(reader, i);
    free(reader->sources[i].links);
  }
  tb__bag_reader_close_idle(reader);
  free(reader->sources);
  free(reader->by_start);
  free(reader->active);
  free(reader->files);
  tb__bag_reader_free_texts(reader);
  free(reader->runs);
  free(reader->run_counts);
  free(reader->wanted);
  free(reader->is_cdr);
  free(reader->damage);
  tb__zstd_fini(&reader->zstd);
  tb__topic_table_fini(&reader->table);
  free_parts(reader->parts, reader->part_count);
  free(reader);
}

const tb_bag_info_t *tb_bag_reader_info(const tb_bag_reader_t *reader)
{
  if (!reader) return NULL;
  return &reader->info;
}

const char *tb_bag_reader_library(const tb_bag_reader_t *reader)
{
  if (!reader) return NULL;
  return reader->library ? reader->library : "";
}
