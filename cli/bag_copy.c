#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag.h"
#include "bag_notes.h"
#include "text.h"

#define ROS1        "rosbag1" /* the storage; only recordings are made of recordings in it */
#define ADDED_LATER (SIZE_MAX - 1)

/* ---- options ---- */

static bool parse_compression(bag_copy_t *copy, int option)
{
  static const char *const modes[] = {"none", "message", "file", NULL};
  static const char *const chunks[] = {"none", "zstd", "lz4", "bz2", NULL};
  int word = 0;
  if (option == BAG_OPTION_MODE) {
    if (!command_parse_word(copy->command, "--compression-mode", optarg, modes, &word))
      return false;
    copy->options.compression_mode = (tb_bag_compression_mode_t)word;
  } else {
    if (!command_parse_word(copy->command, "--chunk-compression", optarg, chunks, &word))
      return false;
    copy->options.chunk_compression = (tb_bag_chunk_compression_t)word;
    copy->has_chunk_compression = true;
  }
  return true;
}

static bool parse_storage(bag_copy_t *copy)
{
  static const char *const storages[] = {"sqlite3", "mcap", ROS1, NULL};
  int storage;
  if (!command_parse_word(copy->command, "--storage", optarg, storages, &storage)) return false;
  copy->storage = storages[storage];
  return true;
}

static bool parse_limit(bag_copy_t *copy, int option)
{
  uint64_t size = 0;
  switch (option) {
  case BAG_OPTION_MAX_SIZE:
    return command_parse_size(copy->command, "--max-bag-size", optarg, SIZE_MAX,
                              &copy->options.max_size);
  case BAG_OPTION_CHUNK_SIZE:
    if (!command_parse_size(copy->command, "--chunk-size", optarg, SIZE_MAX, &size)) return false;
    copy->options.chunk_size = (size_t)size;
    return true;
  default:
    if (!command_parse_duration(copy->command, "--max-bag-duration", optarg,
                                &copy->options.max_duration))
      return false;
    if (copy->options.max_duration.ns >= 0) return true;
    command_usage_error(copy->command, "--max-bag-duration %s: must not be negative", optarg);
    return false;
  }
}

bool bag_output_option(bag_copy_t *copy, int option, int *result)
{
  if (bag_limit_option(copy->command, option, &copy->input.limits, result)) return true;
  *result = EXIT_OK;
  if (progress_option(option)) return true;
  switch (option) {
  case 'o':
    copy->output = optarg;
    return true;
  case 's':
    if (!parse_storage(copy)) *result = EXIT_USAGE;
    return true;
  case BAG_OPTION_FORMAT:
    copy->options.compression_format = optarg;
    return true;
  case BAG_OPTION_LEVEL:
    if (!command_parse_int(copy->command, "--compression-level", optarg, 1, 19,
                           &copy->options.compression_level))
      *result = EXIT_USAGE;
    return true;
  case BAG_OPTION_MODE:
  case BAG_OPTION_CHUNKS:
    if (!parse_compression(copy, option)) *result = EXIT_USAGE;
    return true;
  case BAG_OPTION_SINGLE_FILE:
    copy->is_single_file = true;
    return true;
  case BAG_OPTION_MAX_SIZE:
  case BAG_OPTION_CHUNK_SIZE:
  case BAG_OPTION_MAX_DURATION:
    if (!parse_limit(copy, option)) *result = EXIT_USAGE;
    return true;
  default:
    return false;
  }
}

/* ---- copying ---- */

static tb_status_t add_topic(bag_copy_t *copy, size_t index, const char *publisher, size_t *out,
                             tb_error_t *error)
{
  const tb_bag_topic_t *topic = &tb_bag_reader_info(copy->reader)->topics[index];
  tb_bag_writer_topic_t described = {.name = bag_rename_of(&copy->renames, topic->name),
                                     .type = topic->type,
                                     .serialization_format = topic->serialization_format,
                                     .offers = topic->offers,
                                     .type_hash = topic->type_hash,
                                     .definition = topic->definition,
                                     .definition_encoding = topic->definition_encoding,
                                     .publisher = publisher};
  bag_reencode_describe(&copy->reencode, index, &described);
  return tb_bag_writer_add_topic(copy->writer, &described, out, error);
}

static bool is_storage(const bag_copy_t *copy, const char *storage)
{
  return strcmp(copy->options.storage_id, storage) == 0;
}

static tb_status_t add_publisher(bag_copy_t *copy, const tb_bag_message_t *message,
                                 const bag_publisher_t **out, tb_error_t *error)
{
  bag_publishers_t *all = &copy->publishers;
  bag_publisher_t *items = reallocarray(all->items, all->count + 1, sizeof *items);
  if (items) all->items = items;
  bag_publisher_t added = {.topic = message->topic,
                           .name = items ? strdup(message->publisher) : NULL};
  if (!added.name) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  tb_status_t status = TB_OK;
  if (is_storage(copy, ROS1))
    status = bag_reencode_for_publisher(&copy->reencode, message->topic, &added.reencoder, error);
  if (!status) status = add_topic(copy, message->topic, added.name, &added.target, error);
  if (status) {
    tb_reencoder_destroy(added.reencoder);
    free(added.name);
    return status;
  }
  all->last = all->count;
  items[all->count] = added;
  *out = &items[all->count++];
  return TB_OK;
}

/* In a bag of ROS 1 and in MCAP, each publisher has a topic of its own. NULL: it is not known. */
static tb_status_t find_publisher(bag_copy_t *copy, const tb_bag_message_t *message,
                                  const bag_publisher_t **out, tb_error_t *error)
{
  bag_publishers_t *all = &copy->publishers;
  *out = NULL;
  if (!message->publisher || (!is_storage(copy, ROS1) && !is_storage(copy, "mcap"))) return TB_OK;
  for (size_t i = 0; i < all->count; i++) {
    const bag_publisher_t *known = &all->items[(all->last + i) % all->count];
    if (known->topic != message->topic || strcmp(known->name, message->publisher) != 0) continue;
    all->last = (size_t)(known - all->items);
    *out = known;
    return TB_OK;
  }
  return add_publisher(copy, message, out, error);
}

/* A topic that cannot be written is reported and left out. */
static tb_status_t copy_topic(bag_copy_t *copy, size_t index, tb_error_t *error)
{
  copy->topics[index] = SIZE_MAX;
  tb_status_t status = add_topic(copy, index, NULL, &copy->topics[index], error);
  if (status != TB_ERR_INVALID) return status;
  command_failed(copy->command, status, error);
  copy->failures++;
  return TB_OK;
}

static bool ends_with(const char *path, size_t length, const char *ending)
{
  size_t size = strlen(ending);
  return length > size && memcmp(path + length - size, ending, size) == 0;
}

/* NULL: the name has no known extension. */
static const char *storage_of_name(const char *path)
{
  size_t length = strlen(path);
  while (length > 0 && path[length - 1] == '/')
    length--;
  if (ends_with(path, length, ".mcap")) return "mcap";
  if (ends_with(path, length, ".bag")) return ROS1;
  return ends_with(path, length, ".db3") ? "sqlite3" : NULL;
}

const char *bag_output_storage(const bag_copy_t *copy)
{
  const char *storage = copy->storage ? copy->storage : storage_of_name(copy->output);
  return storage ? storage : copy->default_storage;
}

/* As the chunks of the recording are, unless anything about compression was requested. MCAP has no
 * bz2, and bags of ROS 1 no zstd: then it is what packs as well as that, or is nearest to it. */
static void choose_compression(bag_copy_t *copy)
{
  static const struct {
    const char *name;
    tb_bag_chunk_compression_t mcap, ros1;
  } formats[] = {{"lz4", TB_BAG_CHUNKS_LZ4, TB_BAG_CHUNKS_LZ4},
                 {"zstd", TB_BAG_CHUNKS_ZSTD, TB_BAG_CHUNKS_LZ4},
                 {"bz2", TB_BAG_CHUNKS_ZSTD, TB_BAG_CHUNKS_BZ2}};
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  bool to_ros1 = is_storage(copy, ROS1), is_ros1 = strcmp(info->storage_id, ROS1) == 0;
  if (copy->has_chunk_compression || copy->options.compression_mode != TB_BAG_COMPRESS_NONE ||
      (!to_ros1 && !is_storage(copy, "mcap")) ||
      (!is_ros1 && info->compression != TB_BAG_COMPRESSION_CHUNKS))
    return;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(info->compression_format, formats[i].name) == 0)
      copy->options.chunk_compression = to_ros1 ? formats[i].ros1 : formats[i].mcap;
}

/* Messages that are copied as they are must be of the generation that the format is for. */
static tb_status_t check_generation(const bag_copy_t *copy, const bool *wanted, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  bool to_ros1 = is_storage(copy, ROS1);
  bool has_both = is_storage(copy, "mcap") && strcmp(info->storage_id, ROS1) != 0;
  for (size_t i = 0; i < info->topic_count; i++) {
    const char *format = info->topics[i].serialization_format;
    bool is_ros1 = strcmp(format, "ros1") == 0;
    if ((wanted && !wanted[i]) || is_ros1 == to_ros1 || (is_ros1 && has_both)) continue;
    if (is_ros1)
      return tb_error_set(error, TB_ERR_UNSUPPORTED,
                          "%s: topic %.80s is of ROS 1: its messages cannot be written to %s as "
                          "they are; write a .bag (-o NAME.bag), or run timebase bag convert",
                          info->path, info->topics[i].name, copy->options.storage_id);
    return tb_error_set(
        error, TB_ERR_UNSUPPORTED,
        "%s: topic %.80s is serialized as \"%.20s\": a .bag holds messages of ROS 1 "
        "only; write .mcap or .db3, or run timebase bag convert",
        info->path, info->topics[i].name, format);
  }
  return TB_OK;
}

/* Where each message may name its publisher, topics are added as these are seen. */
static tb_status_t add_topics(bag_copy_t *copy, const bool *wanted, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  bool is_later = is_storage(copy, "mcap") && strcmp(info->storage_id, ROS1) == 0;
  tb_status_t status = TB_OK;
  copy->topics = calloc(info->topic_count + 1, sizeof *copy->topics);
  if (!copy->topics) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < info->topic_count && !status; i++) {
    copy->topics[i] = SIZE_MAX;
    if ((wanted && !wanted[i]) || copy->reencode.topics[i].is_left_out) continue;
    if (is_later)
      copy->topics[i] = ADDED_LATER;
    else
      status = copy_topic(copy, i, error);
  }
  return status;
}

/* Topics without messages. */
static tb_status_t add_other_topics(bag_copy_t *copy, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < copy->publishers.count; i++)
    if (copy->topics[copy->publishers.items[i].topic] == ADDED_LATER)
      copy->topics[copy->publishers.items[i].topic] = copy->publishers.items[i].target;
  for (size_t i = 0; i < info->topic_count && !status; i++)
    if (copy->topics[i] == ADDED_LATER) status = copy_topic(copy, i, error);
  return status;
}

static void choose_storage(bag_copy_t *copy)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  bool is_mixed = strcmp(info->storage_id, "mixed") == 0;
  copy->storage = bag_output_storage(copy);
  copy->options.storage_id = copy->storage ? copy->storage : is_mixed ? "mcap" : info->storage_id;
}

/* NAME.mcap and NAME.db3 are files, as NAME.bag is; NAME.mcap/ is a folder, and so is what may
 * become several files. */
static void choose_form(bag_copy_t *copy)
{
  const tb_bag_writer_options_t *options = &copy->options;
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  const char *storage = storage_of_name(copy->output);
  bool is_split = options->max_size > 0 || options->max_duration.ns > 0 ||
                  options->compression_mode == TB_BAG_COMPRESS_FILES ||
                  (copy->path && info->run_count > 1);
  size_t length = strlen(copy->output);
  if (copy->may_be_file && storage && is_storage(copy, storage) && !is_storage(copy, ROS1) &&
      !is_split && copy->output[length - 1] != '/')
    copy->is_single_file = true;
}

static const char *extension_of(const bag_copy_t *copy)
{
  return is_storage(copy, ROS1) ? ".bag" : NULL;
}

static tb_status_t open_output(bag_copy_t *copy, const bool *wanted, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  choose_storage(copy);
  choose_form(copy);
  copy->options.ros_distro = info->ros_distro;
  choose_compression(copy);
  tb_status_t status = copy->reencode.is_on ? TB_OK : check_generation(copy, wanted, error);
  if (!status)
    status = bag_reencode_prepare(&copy->reencode, info, copy->options.storage_id, wanted, error);
  if (status) return status;
  copy->options.profile = bag_reencode_profile(&copy->reencode, info, wanted);
  status = bag_staging_begin(&copy->staging, copy->output, extension_of(copy), error);
  if (!status)
    status = tb_bag_writer_create(copy->staging.path, &copy->options, &copy->writer, error);
  if (!status) status = bag_notes_copy(copy, error);
  return status ? status : add_topics(copy, wanted, error);
}

static bool is_wanted(const bag_copy_t *copy, const tb_bag_message_t *message)
{
  return message->log_time_ns >= copy->start_ns && copy->topics[message->topic] != SIZE_MAX;
}

/* A part that could not be copied. */
static void report_failure(bag_copy_t *copy, const tb_error_t *error)
{
  command_part_failed(copy->command, error);
  if (error->status == TB_ERR_LIMIT) copy->is_at_limit = true;
  if (copy->failures++ == 0) memcpy(copy->failure, error->text, sizeof copy->failure);
}

/* What is only refused for now must not be noted as lost. */
static bool ends_recovery(bag_copy_t *copy, const tb_error_t *error)
{
  copy->is_out_of_room = copy->notes_losses && bag_is_out_of_room(error);
  return copy->is_out_of_room;
}

/* Everything written so far is in the copy. */
static void report_unclosed(const bag_copy_t *copy, const tb_error_t *error)
{
  text_err("timebase %s: %s: everything before was copied\n", copy->command->name, error->text);
}

static tb_status_t copy_message(bag_copy_t *copy, tb_bag_message_t *message, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  const bag_publisher_t *publisher = NULL;
  tb_status_t status = find_publisher(copy, message, &publisher, error);
  if (!status && !publisher && copy->topics[message->topic] == ADDED_LATER)
    status = copy_topic(copy, message->topic, error);
  if (status || (!publisher && copy->topics[message->topic] == SIZE_MAX)) return status;
  if (!bag_reencode_message(&copy->reencode, info, publisher ? publisher->reencoder : NULL,
                            message))
    return TB_OK;
  status = tb_bag_writer_write(
      copy->writer, publisher ? publisher->target : copy->topics[message->topic],
      message->log_time_ns, message->publish_time_ns, message->data, message->size, error);
  if (!status) copy->copied++;
  return status;
}

/* Until the end of the bag or of the part, or a signal. */
static tb_status_t copy_messages(bag_copy_t *copy, tb_error_t *error)
{
  const atomic_int *signalled = command_catch_signals();
  size_t unclosed = tb_bag_reader_info(copy->reader)->unclosed_count;
  tb_bag_message_t message;
  while (!*signalled) {
    tb_status_t status = tb_bag_reader_next(copy->reader, &message, error);
    if (status == TB_ERR_END) return TB_OK;
    if (status == TB_ERR_TRUNCATED && unclosed > 0) {
      report_unclosed(copy, error);
      unclosed--;
      continue;
    }
    if (status && ends_recovery(copy, error)) return status;
    if (status) {
      report_failure(copy, error);
      continue;
    }
    if (message.log_time_ns >= copy->end_ns && copy->end_ns != INT64_MAX) return TB_OK;
    progress_at(message.log_time_ns);
    if (!is_wanted(copy, &message)) continue;
    status = copy_message(copy, &message, error);
    if (status) return status;
  }
  return tb_error_set(error, TB_ERR_CANCELLED, "stopped by a signal; %s %s", copy->output,
                      copy->keeps_part ? "holds what was copied" : "was not written");
}

static void on_latched_failure(void *user, const tb_error_t *error)
{
  report_failure(user, error);
}

/* What late subscriptions would have at the start, with the start as log time. They were published
 * when they were; sqlite3 has the log time alone. */
static tb_status_t copy_latched(bag_copy_t *copy, tb_error_t *error)
{
  bag_latched_from_t from = {.paths = copy->latched_paths,
                             .path_count = copy->latched_path_count,
                             .options = &copy->input,
                             .info = tb_bag_reader_info(copy->reader),
                             .before_ns = copy->start_ns,
                             .signalled = command_catch_signals(),
                             .on_failure = on_latched_failure,
                             .user = copy};
  bool *wanted = calloc(from.info->topic_count + 1, sizeof *wanted);
  bag_latched_t *latched = NULL;
  tb_bag_message_t message;
  if (!wanted) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < from.info->topic_count; i++)
    wanted[i] = copy->topics[i] != SIZE_MAX;
  from.wanted = wanted;
  tb_status_t status = bag_latched_find(&from, &latched, error);
  free(wanted);
  while (!status && !*from.signalled) {
    status = bag_latched_next(latched, &message, error);
    if (status == TB_ERR_END) break;
    uint64_t copied = copy->copied;
    if (status) {
      report_failure(copy, error);
      status = TB_OK;
      continue;
    }
    if (message.publish_time_ns < 0) message.publish_time_ns = message.log_time_ns;
    message.log_time_ns = copy->start_ns;
    status = copy_message(copy, &message, error);
    copy->latched += copy->copied - copied;
  }
  bag_latched_close(latched);
  return status == TB_ERR_END ? TB_OK : status;
}

static void begin_progress(const bag_copy_t *copy)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  const tb_bag_run_t *run = copy->input.run > 0 ? &info->runs[copy->input.run - 1] : NULL;
  int64_t start_ns = run ? run->start_ns : info->start_ns;
  int64_t end_ns = run ? run->end_ns : info->end_ns;
  size_t count = copy->path ? info->run_count : 1;
  progress_span(start_ns > copy->start_ns ? start_ns : copy->start_ns,
                end_ns < copy->end_ns ? end_ns : copy->end_ns,
                copy->path && run ? copy->input.run - 1 : 0, count);
}

/* The other records of a damaged file are copied as far as they can be read. */
static tb_status_t copy_run(bag_copy_t *copy, tb_error_t *error)
{
  tb_bag_extra_records_t left = {0};
  tb_bag_writer_info_t before, after;
  tb_bag_writer_get_info(copy->writer, &before);
  tb_status_t status = tb_bag_writer_copy_extra_records(copy->writer, copy->reader, copy->start_ns,
                                                        copy->end_ns, &left, error);
  tb_bag_writer_get_info(copy->writer, &after);
  if (after.file_size > before.file_size) copy->has_extra_records = true;
  if (status && ends_recovery(copy, error)) return status;
  if (status) report_failure(copy, error);
  begin_progress(copy);
  copy->left.attachments += left.attachments;
  copy->left.records += left.records;
  if (copy->latched_paths && copy->start_ns > 0) {
    status = copy_latched(copy, error);
    if (status) return status;
  }
  return copy_messages(copy, error);
}

static void report_left(const bag_copy_t *copy)
{
  const tb_bag_extra_records_t *left = &copy->left;
  if (left->attachments + left->records == 0) return;
  text_err("timebase %s: %" PRIu64 " attachment%s and %" PRIu64
           " metadata record%s are not kept: %s has no place for them\n",
           copy->command->name, left->attachments, bag_plural(left->attachments), left->records,
           bag_plural(left->records), copy->options.storage_id);
}

/* False: there was none. */
static bool open_next_run(bag_copy_t *copy, tb_status_t *out_status, tb_error_t *error)
{
  if (!copy->path || copy->input.run == tb_bag_reader_info(copy->reader)->run_count) return false;
  tb_bag_reader_close(copy->reader);
  copy->reader = NULL;
  copy->input.run++;
  *out_status = tb_bag_reader_open(copy->path, &copy->input, &copy->reader, error);
  return true;
}

uint64_t bag_file_size(const tb_bag_info_t *info)
{
  uint64_t size = 0;
  for (size_t i = 0; i < info->file_count; i++) {
    struct stat file;
    if (stat(info->files[i], &file) == 0) size += (uint64_t)file.st_size;
  }
  return size;
}

uint64_t bag_size_of_path(const char *path)
{
  struct stat single;
  uint64_t size =
      stat(path, &single) == 0 && S_ISREG(single.st_mode) ? (uint64_t)single.st_size : 0;
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    struct stat file;
    if (fstatat(dirfd(folder), entry->d_name, &file, 0) == 0 && S_ISREG(file.st_mode) &&
        strcmp(entry->d_name, "metadata.yaml") != 0)
      size += (uint64_t)file.st_size;
  }
  if (folder) closedir(folder);
  return size;
}

typedef struct size_text {
  char text[32];
} size_text_t;

/* With three digits or more, in the units of 1000. */
static size_text_t size_text(uint64_t size)
{
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  size_text_t out;
  double value = (double)size / 1000;
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
    value /= 1000;
  if (size < 1000)
    snprintf(out.text, sizeof out.text, "%" PRIu64 " bytes", size);
  else
    snprintf(out.text, sizeof out.text, "%.*f %s", value < 100 ? 2 : 0, value, units[unit]);
  return out;
}

static tb_status_t copy_runs(bag_copy_t *copy, tb_error_t *error)
{
  tb_status_t status = copy_run(copy, error);
  while (!status && open_next_run(copy, &status, error)) {
    if (!status) status = tb_bag_writer_begin_run(copy->writer, error);
    if (!status) status = copy_run(copy, error);
  }
  return status;
}

bool bag_copy_is_vain(const bag_copy_t *copy)
{
  bool has_losses = *copy->damage || copy->failures > 0;
  return copy->notes_losses && has_losses && copy->copied == 0 && !copy->has_extra_records;
}

/* Closes the writer, and moves what it has written to its place if all went well, or if a part is
 * kept. The size of it is in *out_size. */
static tb_status_t finish(bag_copy_t *copy, tb_status_t status, uint64_t *out_size,
                          tb_error_t *error)
{
  tb_error_t at_end = TB_ERROR_INIT;
  tb_status_t closed = tb_bag_writer_close(copy->writer, &at_end);
  progress_end();
  copy->writer = NULL;
  if (!status && closed) {
    *error = at_end;
    status = closed;
  }
  if (!copy->staging.folder) return status; /* nothing was begun */
  *out_size = bag_size_of_path(copy->staging.path);
  if (*out_size == 0) /* files of ROS 1 are in no folder of their own */
    *out_size = bag_size_of_path(copy->staging.place);
  if (status ? copy->keeps_part && copy->copied > 0 : !bag_copy_is_vain(copy)) {
    tb_status_t placed = bag_staging_publish(&copy->staging, copy->is_single_file, &at_end);
    if (placed && !status) *error = at_end;
    if (!status) status = placed;
  }
  if (status) bag_staging_name_output(&copy->staging, copy->output, error);
  bag_staging_end(&copy->staging);
  return status;
}

/* Files of ROS 1 get their extension from the writer: OUT is OUT.bag, or several OUT_0.bag. */
static void report_written(const bag_copy_t *copy, uint64_t size)
{
  struct stat there;
  const char *extension = stat(copy->output, &there) == 0 ? NULL : extension_of(copy);
  text_out("%s%s: %" PRIu64 " message%s", copy->output, extension ? extension : "", copy->copied,
           bag_plural(copy->copied));
  if (copy->latched > 0) text_out(" (%" PRIu64 " latched, from before the start)", copy->latched);
  text_out(", %s (before: %s)\n", size_text(size).text, size_text(copy->size_before).text);
}

static int check_single_file(const bag_copy_t *copy)
{
  const tb_bag_writer_options_t *options = &copy->options;
  if (copy->is_single_file && (options->max_size > 0 || options->max_duration.ns > 0 ||
                               options->compression_mode == TB_BAG_COMPRESS_FILES))
    return command_usage_error(copy->command,
                               "--single-file: leave out --max-bag-size, --max-bag-duration and "
                               "--compression-mode file, which need a folder");
  return EXIT_OK;
}

int bag_copy_check(bag_copy_t *copy, const bool *wanted)
{
  tb_error_t error = TB_ERROR_INIT;
  int result = check_single_file(copy);
  if (result) return result;
  choose_storage(copy);
  choose_compression(copy);
  tb_status_t status = tb_bag_writer_check_options(&copy->options, &error);
  if (!status && !copy->reencode.is_on) status = check_generation(copy, wanted, &error);
  if (!status) status = bag_staging_check(copy->output, extension_of(copy), &error);
  return status ? command_failed(copy->command, status, &error) : EXIT_OK;
}

char *bag_copy_place(const bag_copy_t *copy)
{
  return bag_staging_place(copy->output, extension_of(copy));
}

int bag_copy_run(bag_copy_t *copy, const bool *wanted)
{
  tb_error_t error = TB_ERROR_INIT;
  uint64_t size = 0;
  int result = check_single_file(copy);
  if (result) return result;
  copy->size_before = bag_file_size(tb_bag_reader_info(copy->reader));
  tb_status_t status = open_output(copy, wanted, &error);
  progress_begin(copy->command);
  if (!status) status = copy_runs(copy, &error);
  if (!status) status = add_other_topics(copy, &error);
  if (!status) status = bag_notes_add(copy, &error);
  status = finish(copy, status, &size, &error);
  if (status) return command_failed(copy->command, status, &error);
  report_left(copy);
  if (!bag_copy_is_vain(copy)) report_written(copy, size);
  return EXIT_OK;
}

int bag_copy_result(const bag_copy_t *copy, int result)
{
  if ((result && result != EXIT_CHECK) || copy->failures == 0) return result;
  text_err("timebase %s: %" PRIu64 " part%s could not be copied\n", copy->command->name,
           copy->failures, bag_plural(copy->failures));
  return EXIT_IO;
}

void bag_copy_end(bag_copy_t *copy)
{
  progress_end();
  tb_bag_reader_close(copy->reader);
  free(copy->topics);
  for (size_t i = 0; i < copy->publishers.count; i++) {
    tb_reencoder_destroy(copy->publishers.items[i].reencoder);
    free(copy->publishers.items[i].name);
  }
  free(copy->publishers.items);
  bag_reencode_end(&copy->reencode);
}
