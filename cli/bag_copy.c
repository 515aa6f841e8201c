#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "text.h"

/* ---- options ---- */

static bool parse_size(const command_t *command, const char *name, uint64_t *out)
{
  char *end;
  errno = 0;
  unsigned long long value = strtoull(optarg, &end, 10);
  if (end == optarg || *end || errno || *optarg == '-' || value > SIZE_MAX) {
    command_usage_error(command, "%s %s: must be a number of bytes", name, optarg);
    return false;
  }
  *out = value;
  return true;
}

static bool parse_compression(bag_copy_t *copy, int option)
{
  static const char *const modes[] = {"none", "message", "file", NULL};
  static const char *const chunks[] = {"none", "zstd", "lz4", NULL};
  int word = 0;
  if (option == BAG_OPTION_MODE) {
    if (!command_parse_word(copy->command, "--compression-mode", optarg, modes, &word))
      return false;
    copy->options.compression_mode = (tb_bag_compression_mode_t)word;
  } else {
    if (!command_parse_word(copy->command, "--chunk-compression", optarg, chunks, &word))
      return false;
    copy->options.chunk_compression = (tb_bag_chunk_compression_t)word;
  }
  return true;
}

static bool parse_limit(bag_copy_t *copy, int option)
{
  uint64_t size = 0;
  switch (option) {
  case BAG_OPTION_MAX_SIZE:
    return parse_size(copy->command, "--max-bag-size", &copy->options.max_size);
  case BAG_OPTION_CHUNK_SIZE:
    if (!parse_size(copy->command, "--chunk-size", &size)) return false;
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
  switch (option) {
  case 'o':
    copy->output = optarg;
    return true;
  case 's':
    if (!command_parse_storage(copy->command, optarg, &copy->storage)) *result = EXIT_USAGE;
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

/* Under its key, or "KEY (2)" and so on where that is another note's. True in *out_renamed then. */
static tb_status_t copy_note(bag_copy_t *copy, const tb_bag_note_t *note, bool *out_renamed,
                             tb_error_t *error)
{
  char *key = strdup(note->key);
  const char *there = NULL;
  for (unsigned number = 2; key && (there = tb_bag_writer_get_custom_data(copy->writer, key)) &&
                            strcmp(there, note->value) != 0;
       number++) {
    free(key);
    if (asprintf(&key, "%s (%u)", note->key, number) < 0) key = NULL;
  }
  if (!key) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  tb_status_t status = TB_OK;
  *out_renamed = !there && strcmp(key, note->key) != 0;
  if (!there) status = tb_bag_writer_set_custom_data(copy->writer, key, note->value, error);
  free(key);
  return status;
}

static tb_status_t copy_notes(bag_copy_t *copy, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  const char *first = NULL; /* that was there already, with another value */
  size_t count = 0;
  for (size_t i = 0; i < info->note_count; i++) {
    bool renamed = false;
    tb_status_t status = copy_note(copy, &info->notes[i], &renamed, error);
    if (status) return status;
    if (renamed && count++ == 0) first = info->notes[i].key;
  }
  if (count > 0)
    text_err("timebase %s: %zu note%s (%s%s) differ%s from another recording's: kept as well, as "
             "'%s (2)'\n",
             copy->command->name, count, bag_plural(count), first, count > 1 ? ", ..." : "",
             count > 1 ? "" : "s", first);
  return TB_OK;
}

/* A topic that cannot be written is reported and left out. */
static tb_status_t copy_topic(bag_copy_t *copy, size_t index, tb_error_t *error)
{
  const tb_bag_topic_t *topic = &tb_bag_reader_info(copy->reader)->topics[index];
  tb_bag_writer_topic_t same = {.name = topic->name,
                                .type = topic->type,
                                .serialization_format = topic->serialization_format,
                                .offers = topic->offers,
                                .type_hash = topic->type_hash,
                                .definition = topic->definition,
                                .definition_encoding = topic->definition_encoding};
  copy->topics[index] = SIZE_MAX;
  tb_status_t status = tb_bag_writer_add_topic(copy->writer, &same, &copy->topics[index], error);
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
  return ends_with(path, length, ".db3") ? "sqlite3" : NULL;
}

static tb_status_t open_output(bag_copy_t *copy, const bool *wanted, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  if (!copy->storage) copy->storage = storage_of_name(copy->output);
  if (!copy->storage) copy->storage = copy->default_storage;
  copy->options.storage_id = copy->storage ? copy->storage : info->storage_id;
  copy->options.ros_distro = info->ros_distro;
  tb_status_t status = tb_bag_writer_create(copy->output, &copy->options, &copy->writer, error);
  if (status) return status;
  copy->topics = calloc(info->topic_count + 1, sizeof *copy->topics);
  if (!copy->topics) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  status = copy_notes(copy, error);
  for (size_t i = 0; i < info->topic_count && !status; i++) {
    copy->topics[i] = SIZE_MAX;
    if (!wanted || wanted[i]) status = copy_topic(copy, i, error);
  }
  return status;
}

static bool is_wanted(const bag_copy_t *copy, const tb_bag_message_t *message)
{
  return message->log_time_ns >= copy->start_ns &&
         (message->log_time_ns < copy->end_ns || copy->end_ns == INT64_MAX) &&
         copy->topics[message->topic] != SIZE_MAX;
}

/* A part that could not be copied. */
static void report_failure(bag_copy_t *copy, const tb_error_t *error)
{
  command_failed(copy->command, error->status, error);
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

/* Until the end of the bag, or a signal. */
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
    if (!is_wanted(copy, &message)) continue;
    status = tb_bag_writer_write(copy->writer, copy->topics[message.topic], message.log_time_ns,
                                 message.publish_time_ns, message.data, message.size, error);
    if (status) return status;
    copy->copied++;
  }
  return tb_error_set(error, TB_ERR_CANCELLED, "stopped by a signal; %s holds what was copied",
                      copy->output);
}

/* The other records of a damaged file are copied as far as they can be read. */
static tb_status_t copy_run(bag_copy_t *copy, tb_error_t *error)
{
  tb_bag_extra_records_t left = {0};
  tb_status_t status = tb_bag_writer_copy_extra_records(copy->writer, copy->reader, copy->start_ns,
                                                        copy->end_ns, &left, error);
  if (status && ends_recovery(copy, error)) return status;
  if (status) report_failure(copy, error);
  copy->left.attachments += left.attachments;
  copy->left.records += left.records;
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

static tb_status_t copy_runs(bag_copy_t *copy, tb_error_t *error)
{
  tb_status_t status = copy_run(copy, error);
  while (!status && open_next_run(copy, &status, error)) {
    if (!status) status = tb_bag_writer_begin_run(copy->writer, error);
    if (!status) status = copy_run(copy, error);
  }
  return status;
}

/* So that the copy itself notes that it is incomplete or doubtful. */
static tb_status_t note_losses(bag_copy_t *copy, tb_error_t *error)
{
  bool renamed;
  const tb_bag_note_t note = {"recovered", *copy->damage ? copy->damage : copy->failure};
  const tb_bag_note_t other = {"recovered", "from a damaged recording"};
  if (!copy->notes_losses || !*note.value) return TB_OK;
  tb_status_t status = copy_note(copy, &note, &renamed, error);
  return status == TB_ERR_INVALID ? copy_note(copy, &other, &renamed, error) : status;
}

int bag_copy_run(bag_copy_t *copy, const bool *wanted)
{
  tb_error_t error = TB_ERROR_INIT, at_end = TB_ERROR_INIT;
  tb_status_t status = open_output(copy, wanted, &error);
  if (!status) status = copy_runs(copy, &error);
  if (!status) status = note_losses(copy, &error);
  tb_status_t closed = tb_bag_writer_close(copy->writer, &at_end);
  copy->writer = NULL;
  if (status) return command_failed(copy->command, status, &error);
  if (closed) return command_failed(copy->command, closed, &at_end);
  report_left(copy);
  text_out("%s: %" PRIu64 " message%s\n", copy->output, copy->copied, bag_plural(copy->copied));
  return EXIT_OK;
}

void bag_copy_end(bag_copy_t *copy)
{
  tb_bag_reader_close(copy->reader);
  free(copy->topics);
}
