#include <timebase/bag_writer.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag/offers.h"
#include "bag/reader.h"
#include "bag/writer.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "mcap/mcap_format.h"
#include "rosbag1/rosbag1_format.h"
#include "sqlite/sqlite_format.h"
#include "storage/clean.h"

#define MAX_LEVEL   19
#define MAX_PAYLOAD 1000000000 /* what SQLite takes */

static const tb__bag_output_format_t *const formats[] = {&tb__sqlite_output, &tb__mcap_output,
                                                         &tb__rosbag1_output};

/* ---- beginning ---- */

/* NULL: unknown. */
static const char *find_profile(const char *profile)
{
  static const char *const known[] = {"", "ros1", "ros2"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], profile) == 0) return known[i];
  return NULL;
}

static tb_status_t check_options(const tb_bag_writer_options_t *options, tb_error_t *error)
{
  const char *format = options->compression_format;
  if (!TB__RESERVED_IS_0(options)) return tb__sized_unsupported(error, "tb_bag_writer_options_t");
  if ((unsigned)options->compression_mode > TB_BAG_COMPRESS_FILES)
    return tb_error_set(error, TB_ERR_INVALID, "compression_mode: unknown value %d",
                        (int)options->compression_mode);
  if ((unsigned)options->chunk_compression > TB_BAG_CHUNKS_BZ2)
    return tb_error_set(error, TB_ERR_INVALID, "chunk_compression: unknown value %d",
                        (int)options->chunk_compression);
  if (options->compression_level < 0 || options->compression_level > MAX_LEVEL)
    return tb_error_set(error, TB_ERR_INVALID, "compression_level is %d: must be 0 to %d",
                        options->compression_level, MAX_LEVEL);
  if (options->max_duration.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "max_duration is negative");
  if (options->max_total_duration.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "max_total_duration is negative");
  if (options->ros_distro && !tb__yaml_can_hold(options->ros_distro))
    return tb_error_set(error, TB_ERR_INVALID, "ros_distro is not UTF-8");
  if (options->profile && !find_profile(options->profile))
    return tb_error_set(error, TB_ERR_INVALID,
                        "profile \"%.40s\": must be \"ros2\", \"ros1\" or empty", options->profile);
  if (options->compression_mode != TB_BAG_COMPRESS_NONE && format && strcmp(format, "zstd") != 0)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "compression format \"%.40s\": only zstd is supported", format);
  return TB_OK;
}

static tb_status_t choose_format(const char *id, const tb__bag_output_format_t **out,
                                 tb_error_t *error)
{
  if (!id) id = formats[0]->id;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(formats[i]->id, id) != 0) continue;
    *out = formats[i];
    return TB_OK;
  }
  char known[64] = "";
  size_t used = 0;
  for (size_t i = 0; i < sizeof formats / sizeof *formats && used < sizeof known; i++)
    used +=
        (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", formats[i]->id);
  return tb_error_set(error, TB_ERR_UNSUPPORTED, "unknown storage format \"%.40s\" (supported: %s)",
                      id, known);
}

/* What only some formats have. */
static tb_status_t check_format(const tb__bag_output_format_t *format,
                                const tb_bag_writer_options_t *options, tb_error_t *error)
{
  if (format->is_file && options->compression_mode != TB_BAG_COMPRESS_NONE)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "bags of ROS 1 have no compression of messages or files: their chunks can "
                        "be compressed, by bz2 or lz4");
  if (format->is_file && options->chunk_compression == TB_BAG_CHUNKS_ZSTD)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "bags of ROS 1 have no zstd: their chunks are compressed by bz2 or lz4");
  if (!format->is_file && options->chunk_compression == TB_BAG_CHUNKS_BZ2)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "only bags of ROS 1 have bz2: MCAP has zstd and lz4");
  return TB_OK;
}

/* "folder/name.bag" to the folder and "name". */
static tb_status_t take_file_path(tb_bag_writer_t *writer, tb_error_t *error)
{
  char *name = writer->name, *path = writer->path;
  size_t length = strlen(name), end = strlen(writer->format->extension);
  if (length > end && strcmp(name + length - end, writer->format->extension) == 0)
    name[length - end] = '\0';
  char *slash = strrchr(path, '/');
  writer->path = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
  free(path);
  return writer->path ? TB_OK : tb__no_memory(error);
}

/* The last part of the path, to be freed; NULL with *status set. */
static tb_status_t take_path(tb_bag_writer_t *writer, const char *path, tb_error_t *error)
{
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  writer->path = strndup(path, length);
  if (!writer->path) return tb__no_memory(error);
  const char *slash = strrchr(writer->path, '/');
  const char *name = slash ? slash + 1 : writer->path;
  if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !tb__yaml_can_hold(name))
    return tb_error_set(error, TB_ERR_INVALID, "\"%s\" cannot be the name of a bag", path);
  writer->name = strdup(name);
  if (!writer->name) return tb__no_memory(error);
  return writer->format->is_file ? take_file_path(writer, error) : TB_OK;
}

/* The folders above too, as rosbag2 does. */
static tb_status_t make_folder(const char *path, bool may_exist, tb_error_t *error)
{
  char *part = strdup(path);
  if (!part) return tb__no_memory(error);
  for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(part, 0777); /* if it fails, so does the last one */
    *slash = '/';
  }
  free(part);
  if (mkdir(path, 0777) == 0) return TB_OK;
  if (errno == EEXIST && may_exist) return TB_OK;
  if (errno == EEXIST)
    return tb_error_set(error, TB_ERR_INVALID,
                        "%s already exists; choose another name (nothing was changed)", path);
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
}

static void free_topic(tb__written_topic_t *topic)
{
  free(topic->name);
  free(topic->type);
  free(topic->serialization_format);
  free(topic->offers);
  free(topic->type_hash);
  free(topic->definition);
  free(topic->definition_encoding);
  free(topic->publisher);
}

static void destroy(tb_bag_writer_t *writer)
{
  for (size_t i = 0; i < writer->topic_count; i++)
    free_topic(&writer->topics[i]);
  for (size_t i = 0; i < writer->file_count; i++) {
    free(writer->files[i].name);
    free(writer->files[i].counts);
  }
  for (size_t i = 0; i < writer->custom_count; i++) {
    free(writer->custom[i].key);
    free(writer->custom[i].value);
  }
  free(writer->topics);
  free(writer->files);
  free(writer->custom);
  free(writer->path);
  free(writer->name);
  free(writer->ros_distro);
  tb__zstd_fini(&writer->zstd);
  if (writer->folder >= 0) close(writer->folder);
  free(writer);
}

/* Removes what was created before a failure. */
static void undo(tb_bag_writer_t *writer)
{
  if (writer->output) {
    writer->format->close(writer->output, NULL, NULL);
    unlinkat(writer->folder, tb__writer_file(writer)->name, 0);
  }
  if (writer->format->is_file) return;
  unlinkat(writer->folder, "metadata.yaml", 0);
  rmdir(writer->path);
}

static tb_status_t copy_notes(tb_bag_writer_t *writer, tb_error_t *error)
{
  const tb_bag_note_t *notes = writer->options.notes;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < writer->options.note_count && !status; i++)
    status = tb_bag_writer_set_custom_data(writer, notes[i].key, notes[i].value, error);
  writer->options.notes = NULL;
  return status;
}

static tb_status_t create(tb_bag_writer_t *writer, const char *path, tb_error_t *error)
{
  tb_status_t status = take_path(writer, path, error);
  writer->profile = writer->options.profile ? find_profile(writer->options.profile) : NULL;
  if (!status) {
    writer->ros_distro = strdup(writer->options.ros_distro ? writer->options.ros_distro : "");
    if (!writer->ros_distro) status = tb__no_memory(error);
  }
  if (!status) status = copy_notes(writer, error);
  if (!status) status = make_folder(writer->path, writer->format->is_file, error);
  if (status) return status;
  writer->folder = open(writer->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (writer->folder < 0)
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", writer->path);
  if (!status) status = tb__writer_begin_file(writer, error);
  if (!status) status = tb__writer_save_metadata(writer, error);
  if (status) undo(writer);
  return status;
}

/* The format of checked options. */
static tb_status_t take_options(const tb_bag_writer_options_t *options,
                                const tb__bag_output_format_t **out, tb_error_t *error)
{
  tb_status_t status = check_options(options, error);
  if (!status && options->note_count && !options->notes)
    status =
        tb_error_set(error, TB_ERR_INVALID, "%zu notes, and no array of them", options->note_count);
  if (!status) status = choose_format(options->storage_id, out, error);
  return status ? status : check_format(*out, options, error);
}

tb_status_t tb_bag_writer_check_options_sized(const tb_bag_writer_options_t *options,
                                              size_t options_size, tb_error_t *error)
{
  tb_bag_writer_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_bag_writer_options_t");
  const tb__bag_output_format_t *format = NULL;
  return options ? take_options(options, &format, error) : TB_OK;
}

tb_status_t tb_bag_writer_create_sized(const char *path, const tb_bag_writer_options_t *options,
                                       size_t options_size, tb_bag_writer_t **out,
                                       tb_error_t *error)
{
  if (!path || !out) return tb__null_argument(error, __func__);
  tb_bag_writer_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_bag_writer_options_t");
  const tb_bag_writer_options_t defaults = TB_BAG_WRITER_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!path || !*path) return tb_error_set(error, TB_ERR_INVALID, "path is NULL or empty");
  const tb__bag_output_format_t *format = NULL;
  tb_status_t status = take_options(options, &format, error);
  if (status) return status;
  tb_bag_writer_t *writer = calloc(1, sizeof *writer);
  if (!writer) return tb__no_memory(error);
  writer->options = *options;
  writer->format = format;
  writer->folder = -1;
  status = create(writer, path, error);
  if (status)
    destroy(writer);
  else
    *out = writer;
  return status;
}

/* ---- topics ---- */

static const char *or_empty(const char *text)
{
  return text ? text : "";
}

/* Where publishers are told apart, so are the definitions of what one has published, by their
 * hashes. */
static bool is_same(const tb_bag_writer_t *writer, const tb__written_topic_t *known,
                    const tb_bag_writer_topic_t *topic)
{
  if (strcmp(known->name, topic->name) != 0) return false;
  if (!writer->format->has_publishers) return true;
  if (strcmp(known->publisher, or_empty(topic->publisher)) != 0) return false;
  const char *hash = or_empty(topic->type_hash);
  bool is_other = *known->type_hash && *hash && strcmp(known->type_hash, hash) != 0;
  return !topic->publisher || (strcmp(known->type, topic->type) == 0 && !is_other);
}

static tb_status_t check_topic(const tb_bag_writer_t *writer, const tb_bag_writer_topic_t *topic,
                               tb_error_t *error)
{
  if (!topic->name || !*topic->name || !topic->type || !*topic->type)
    return tb_error_set(error, TB_ERR_INVALID, "a topic has no name or no type");
  for (size_t i = 0; i < writer->topic_count; i++)
    if (is_same(writer, &writer->topics[i], topic))
      return tb_error_set(error, TB_ERR_INVALID, "topic %.200s already exists", topic->name);
  const char *texts[] = {topic->name, topic->type, topic->serialization_format, topic->type_hash,
                         topic->publisher};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!tb__yaml_can_hold(or_empty(texts[i])))
      return tb_error_set(error, TB_ERR_INVALID,
                          "topic %zu: a name, type, format or hash is not UTF-8",
                          writer->topic_count);
  return TB_OK;
}

/* In the words of version 9, whatever they were; a text that cannot be read stays as it is. */
static tb_status_t copy_offers(const char *text, char **out, tb_error_t *error)
{
  tb__qos_offers_t offers = {0};
  tb_status_t status = tb__qos_offers_parse(text, &offers, NULL);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  if (status) {
    *out = strdup(text);
    return *out ? TB_OK : tb__no_memory(error);
  }
  status = tb__qos_offers_text(&offers, out, error);
  tb__qos_offers_fini(&offers);
  return status;
}

static tb_status_t copy_topic(const tb_bag_writer_topic_t *topic, tb__written_topic_t *out,
                              tb_error_t *error)
{
  out->name = strdup(topic->name);
  out->type = strdup(topic->type);
  out->serialization_format =
      strdup(topic->serialization_format ? topic->serialization_format : "cdr");
  out->type_hash = strdup(or_empty(topic->type_hash));
  out->definition = strdup(or_empty(topic->definition));
  out->definition_encoding = strdup(or_empty(topic->definition_encoding));
  out->publisher = strdup(or_empty(topic->publisher));
  if (!out->publisher || !out->name || !out->type || !out->serialization_format ||
      !out->type_hash || !out->definition || !out->definition_encoding)
    return tb__no_memory(error);
  return copy_offers(or_empty(topic->offers), &out->offers, error);
}

/* A failure that ended the file before. */
static tb_status_t check_output(const tb_bag_writer_t *writer, tb_error_t *error)
{
  if (writer->output) return TB_OK;
  if (error) *error = writer->failure;
  return writer->failure.status;
}

static tb_status_t failed(tb_bag_writer_t *writer, const tb_error_t *detail, tb_error_t *error)
{
  tb_error_t why = *detail, place = TB_ERROR_INIT;
  if (why.status == TB_ERR_TRUNCATED && tb__writer_check_place(writer, &place)) why = place;
  tb__writer_abandon_file(writer, &why);
  if (error) *error = why;
  return why.status;
}

static tb_status_t register_topic(tb_bag_writer_t *writer, tb__written_topic_t *topic,
                                  tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb__bag_output_topic_t description = {
      topic->name,      topic->type,       topic->serialization_format, topic->offers,
      topic->type_hash, topic->definition, topic->definition_encoding,  topic->publisher};
  if (!writer->format->add_topic(writer->output, &description, &topic->id, &detail)) return TB_OK;
  return failed(writer, &detail, error);
}

tb_status_t tb_bag_writer_add_topic_sized(tb_bag_writer_t *writer,
                                          const tb_bag_writer_topic_t *topic, size_t topic_size,
                                          size_t *out_topic, tb_error_t *error)
{
  if (!writer || !topic || !out_topic) return tb__null_argument(error, __func__);
  tb_bag_writer_topic_t known;
  if (!TB__SIZED_IN(topic, topic_size, known))
    return tb__sized_unsupported(error, "tb_bag_writer_topic_t");
  tb_status_t status = check_topic(writer, topic, error);
  if (!status) status = check_output(writer, error);
  if (status) return status;
  tb__written_topic_t *topics =
      reallocarray(writer->topics, writer->topic_count + 1, sizeof *topics);
  if (!topics) return tb__no_memory(error);
  writer->topics = topics;
  tb__written_topic_t *added = &topics[writer->topic_count];
  *added = (tb__written_topic_t){0};
  status = copy_topic(topic, added, error);
  if (!status) status = register_topic(writer, added, error);
  if (status) {
    free_topic(added);
    return status;
  }
  *out_topic = writer->topic_count++;
  return TB_OK;
}

/* ---- messages ---- */

bool tb__writer_is_full(const tb_bag_writer_t *writer, int64_t log_time_ns)
{
  const tb_bag_writer_options_t *options = &writer->options;
  const tb__bag_extent_t *extent = &writer->files[writer->file_count - 1].extent;
  if (extent->message_count <= writer->state_count) return false;
  if (options->max_size && writer->format->size(writer->output) >= options->max_size) return true;
  int64_t age_ns = 0;
  return options->max_duration.ns &&
         !__builtin_sub_overflow(log_time_ns, extent->start_ns, &age_ns) &&
         age_ns > options->max_duration.ns;
}

static void count(tb_bag_writer_t *writer, size_t topic, int64_t log_time_ns)
{
  tb__bag_extent_t *extent = &tb__writer_file(writer)->extent;
  bool first = extent->message_count++ == 0;
  if (first || log_time_ns < extent->start_ns) extent->start_ns = log_time_ns;
  if (first || log_time_ns > extent->end_ns) extent->end_ns = log_time_ns;
  writer->topics[topic].count++;
  writer->topics[topic].in_file++;
}

static tb_status_t check_message(const tb_bag_writer_t *writer, size_t topic, int64_t log_time_ns,
                                 const void *data, size_t size, tb_error_t *error)
{
  if (topic >= writer->topic_count)
    return tb_error_set(error, TB_ERR_INVALID, "topic %zu is out of range: there are %zu", topic,
                        writer->topic_count);
  if (log_time_ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "topic %.200s: the time is negative",
                        writer->topics[topic].name);
  if (!data) return tb_error_set(error, TB_ERR_INVALID, "data is NULL");
  if (size > MAX_PAYLOAD)
    return tb_error_set(error, TB_ERR_LIMIT, "topic %.200s: a message of %zu bytes is too large",
                        writer->topics[topic].name, size);
  return TB_OK;
}

tb_status_t tb_bag_writer_write(tb_bag_writer_t *writer, size_t topic, int64_t log_time_ns,
                                int64_t publish_time_ns, const void *data, size_t size,
                                tb_error_t *error)
{
  if (!writer || (!data && size > 0)) return tb__null_argument(error, __func__);
  tb_status_t status = check_message(writer, topic, log_time_ns, data, size, error);
  if (!status) status = check_output(writer, error);
  if (!status && tb__writer_is_full(writer, log_time_ns))
    status = tb_bag_writer_split(writer, error);
  if (status) return status;
  const uint8_t *bytes = data;
  if (writer->options.compression_mode == TB_BAG_COMPRESS_MESSAGES)
    status = tb__zstd_compress(&writer->zstd, data, size, writer->options.compression_level, &bytes,
                               &size, error);
  if (status) return status;
  if (writer->format->write(writer->output, writer->topics[topic].id, log_time_ns, publish_time_ns,
                            bytes, size, &writer->detail))
    return failed(writer, &writer->detail, error);
  tb__writer_note_whole(writer);
  count(writer, topic, log_time_ns);
  tb__writer_note_whole(writer);
  return TB_OK;
}

tb_status_t tb_bag_writer_flush(tb_bag_writer_t *writer, tb_bag_flush_t how, tb_error_t *error)
{
  if (!writer) return tb__null_argument(error, __func__);
  tb_status_t status = check_output(writer, error);
  if (status) return status;
  tb_error_t detail = TB_ERROR_INIT;
  status = writer->format->flush(writer->output, how == TB_BAG_FLUSH_DISK, &detail);
  tb__writer_note_whole(writer);
  if (!status) status = tb__writer_check_place(writer, &detail);
  if (!status) status = writer->format->check(writer->output, &detail);
  if (status) return failed(writer, &detail, error);
  if (how == TB_BAG_FLUSH_DISK) tb__writer_note_synced(writer);
  return TB_OK;
}

static tb_status_t copy_extra_records(tb_bag_writer_t *writer, tb_bag_reader_t *reader,
                                      size_t index, tb__bag_span_t span,
                                      tb_bag_extra_records_t *left, tb_error_t *error)
{
  tb_bag_extra_records_t count = {0};
  const tb__bag_source_t *source = &reader->sources[index];
  const tb__bag_storage_t *storage = source->part->storage;
  if (source->is_left_out || source->is_lost || !storage->copy_extra_records) return TB_OK;
  bool is_kept = strcmp(storage->id, writer->format->id) == 0;
  tb_status_t status = tb__bag_source_open(reader, index, error);
  if (status) return status;
  status = storage->copy_extra_records(source->file, is_kept ? writer->output : NULL, span, &count,
                                       error);
  tb__bag_source_close(reader, index);
  if (is_kept) return status;
  left->attachments += count.attachments;
  left->records += count.records;
  return status;
}

static tb_status_t bag_writer_copy_extra_records(tb_bag_writer_t *writer, tb_bag_reader_t *reader,
                                                 int64_t start_ns, int64_t end_ns,
                                                 tb_bag_extra_records_t *out_left,
                                                 tb_error_t *error)
{
  tb_bag_extra_records_t left = {0};
  tb_status_t status = check_output(writer, error);
  for (size_t i = 0; i < reader->source_count && !status; i++)
    status =
        copy_extra_records(writer, reader, i, (tb__bag_span_t){start_ns, end_ns}, &left, error);
  if (!status && out_left) *out_left = left;
  return status;
}

tb_status_t tb_bag_writer_copy_extra_records_sized(tb_bag_writer_t *writer, tb_bag_reader_t *reader,
                                                   int64_t start_ns, int64_t end_ns,
                                                   tb_bag_extra_records_t *out_left,
                                                   size_t out_left_size, tb_error_t *error)
{
  if (!writer || !reader) return tb__null_argument(error, __func__);
  if (tb__read_ahead_is_lost(reader->ahead))
    return tb_error_set(error, TB_ERR_FORKED, "%s", tb_status_message(TB_ERR_FORKED));
  if (reader->ahead) tb__read_ahead_pause(reader->ahead);
  tb_bag_extra_records_t filled, *full = TB__SIZED_OUT(out_left, out_left_size, filled);
  tb_status_t status = bag_writer_copy_extra_records(writer, reader, start_ns, end_ns, full, error);
  TB__SIZED_END(status, out_left, out_left_size, full);
  return status;
}

/* ---- ending ---- */

static tb_status_t report_split(tb_bag_writer_t *writer, const char *closed, const char *opened,
                                tb_error_t *error)
{
  if (!writer->options.on_split) return TB_OK;
  char *closed_path = tb__writer_path(writer, closed);
  char *opened_path = opened ? tb__writer_path(writer, opened) : strdup("");
  tb_status_t status = closed_path && opened_path ? TB_OK : tb__no_memory(error);
  if (!status) writer->options.on_split(closed_path, opened_path, writer->options.user);
  free(closed_path);
  free(opened_path);
  return status;
}

tb_status_t tb_bag_writer_split(tb_bag_writer_t *writer, tb_error_t *error)
{
  if (!writer) return tb__null_argument(error, __func__);
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = writer->output ? tb__writer_end_file(writer, &detail) : TB_OK;
  if (!status) status = tb__writer_begin_file(writer, &detail);
  if (status) {
    writer->failure = detail;
    if (error) *error = detail;
    return status;
  }
  writer->failure.status = TB_OK;
  status = tb__writer_save_metadata(writer, error);
  const tb__written_file_t *opened = tb__writer_file(writer);
  tb_status_t reported = report_split(writer, opened[-1].name, opened->name, status ? NULL : error);
  if (!status) status = reported;
  return status ? status : tb__writer_make_room(writer, error);
}

tb_status_t tb__bag_writer_finish(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb_error_t first = writer->failure, detail = TB_ERROR_INIT;
  if (writer->output && tb__writer_end_file(writer, &detail) && !first.status) first = detail;
  if (tb__writer_drop_missing(writer, &detail) && !first.status) first = detail;
  if (tb__writer_save_metadata(writer, &detail) && !first.status) first = detail;
  if (report_split(writer, tb__writer_file(writer)->name, NULL, &detail) && !first.status)
    first = detail;
  if (first.status && error) *error = first;
  return first.status;
}

void tb__bag_writer_free(tb_bag_writer_t *writer)
{
  destroy(writer);
}

tb_status_t tb_bag_writer_close(tb_bag_writer_t *writer, tb_error_t *error)
{
  if (!writer) return TB_OK;
  tb_status_t status = tb__bag_writer_finish(writer, error);
  destroy(writer);
  return status;
}

/* ---- what is known ---- */

static void bag_writer_get_info(const tb_bag_writer_t *writer, tb_bag_writer_info_t *out)
{
  tb__bag_extent_t extent = tb__writer_extent(writer);
  *out =
      (tb_bag_writer_info_t){.message_count = extent.message_count,
                             .start_ns = extent.start_ns,
                             .end_ns = extent.end_ns,
                             .topic_count = writer->topic_count,
                             .file_count = writer->file_count,
                             .run_count = writer->run_count + 1,
                             .file_size = writer->output ? writer->format->size(writer->output) : 0,
                             .path = writer->path};
}

void tb_bag_writer_get_info_sized(const tb_bag_writer_t *writer, tb_bag_writer_info_t *out,
                                  size_t out_size)
{
  if (!writer || !out) return;
  tb_bag_writer_info_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  bag_writer_get_info(writer, full);
  TB__SIZED_END(TB_OK, out, out_size, full);
}

uint64_t tb_bag_writer_topic_count(const tb_bag_writer_t *writer, size_t topic)
{
  if (!writer) return 0;
  if (topic >= writer->topic_count) return 0;
  return writer->topics[topic].count + writer->topics[topic].removed;
}
