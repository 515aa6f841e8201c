#include <timebase/bag_check.h>

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/text.h>

#include "bag/check_metadata.h"
#include "bag/reader.h"
#include "base/no_memory.h"
#include "base/sized.h"
#include "storage/limits.h"

#define REPORTED_MAX 10000 /* findings that are remembered */

static int compare_texts(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* What reading has found, the formats' own checks find again. */
static bool is_reported(tb__check_t *check, const char *text)
{
  if (tfind(text, &check->reported, compare_texts)) return true;
  char *copy = check->result.finding_count < REPORTED_MAX ? strdup(text) : NULL;
  if (copy && !tsearch(copy, &check->reported, compare_texts)) free(copy);
  return false;
}

void tb__check_report(tb__check_t *check, const char *format, ...)
{
  char raw[TB_ERROR_TEXT_SIZE], text[TB_ERROR_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(raw, sizeof raw, format, args);
  va_end(args);
  tb_text_escape(raw, text, sizeof text);
  if (is_reported(check, text)) return;
  check->result.finding_count++;
  if (check->report) check->report(text, check->user);
}

/* A file that metadata.yaml names may be missing; a folder without files is no recording. */
static bool is_about_the_bag(const tb_error_t *error)
{
  tb_status_t status = error->status;
  return status == TB_ERR_CORRUPT || status == TB_ERR_TRUNCATED ||
         (status == TB_ERR_NOT_FOUND && error->os_errno);
}

/* The machine or a limit refused: that is no property of the recording. */
static bool could_not_look(tb_status_t status)
{
  return status == TB_ERR_SYSTEM || status == TB_ERR_NO_MEMORY || status == TB_ERR_BUSY ||
         status == TB_ERR_LIMIT;
}

/* Opens the bag whole, or reports the damage and opens what is left. *out is NULL if nothing is. */
static tb_status_t open_bag(tb__check_t *check, const char *path, const tb_bag_limits_t *limits,
                            tb_bag_reader_t **out, tb_error_t *error)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  if (limits) options.limits = *limits;
  options.counts = TB_BAG_COUNTS_EXACT;
  options.content = TB_BAG_CONTENT_ANY;
  tb_error_t detail = TB_ERROR_INIT;
  struct stat info;
  if (stat(path, &info) != 0)
    return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                              "%s", path);
  tb_status_t status = tb_bag_reader_open(path, &options, out, &detail);
  if (!status && (*out)->damage) tb__check_report(check, "%s", (*out)->damage);
  if (status && is_about_the_bag(&detail)) {
    tb__check_report(check, "%s", detail.text);
    options.damage = TB_BAG_DAMAGE_SALVAGE;
    check->is_salvaging = true;
    status = tb_bag_reader_open(path, &options, out, &detail);
    if (status && !could_not_look(status)) return TB_OK;
  }
  if (status && error) *error = detail;
  return status;
}

static void count_message(tb__check_t *check, tb_bag_reader_t *reader,
                          const tb_bag_message_t *message)
{
  if (message->log_time_ns < check->last_ns && !check->is_salvaging)
    tb__check_report(check, "%s: %s %" PRId64 ": its time is before that of the previous message",
                     reader->sources[message->file].path,
                     reader->sources[message->file].part->storage->item, message->row_id);
  bool first = check->result.message_count++ == 0;
  if (first || message->log_time_ns < check->start_ns) check->start_ns = message->log_time_ns;
  if (first || message->log_time_ns > check->end_ns) check->end_ns = message->log_time_ns;
  check->last_ns = message->log_time_ns;
  check->by_topic[message->topic]++;
  check->by_file[message->file]++;
}

static tb_status_t read_all(tb__check_t *check, tb_bag_reader_t *reader, tb_error_t *error)
{
  tb_bag_message_t message;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status;
  while ((status = tb_bag_reader_next(reader, &message, &detail)) != TB_ERR_END) {
    if (could_not_look(status)) {
      if (error) *error = detail;
      return status;
    }
    if (status)
      tb__check_report(check, "%s", detail.text);
    else
      count_message(check, reader, &message);
  }
  if (check->is_salvaging || check->result.finding_count) return TB_OK;
  if (check->result.message_count != reader->info.message_count)
    tb__check_report(check, "%s: %" PRIu64 " messages could be read, but the files count %" PRIu64,
                     reader->info.path, check->result.message_count, reader->info.message_count);
  return TB_OK;
}

typedef struct file_check {
  tb__check_t *check;
  const char *path;
} file_check_t;

static void report_of_file(void *user, const char *text)
{
  const file_check_t *file = user;
  if (strncmp(text, file->path, strlen(file->path)) == 0)
    tb__check_report(file->check, "%s", text);
  else
    tb__check_report(file->check, "%s: %s", file->path, text);
}

static tb_status_t verify_file(tb__check_t *check, tb_bag_reader_t *reader, size_t index,
                               tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  const tb__bag_storage_t *storage = source->part->storage;
  if (!storage->verify) return TB_OK;
  file_check_t file = {check, source->path};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__bag_source_open(reader, index, &detail);
  if (!status) status = storage->verify(source->file, report_of_file, &file, &detail);
  tb__bag_source_close(reader, index);
  if (!status) return TB_OK;
  if (!could_not_look(status)) {
    tb__check_report(check, "%s", detail.text);
    return TB_OK;
  }
  if (error) *error = detail;
  return status;
}

/* They are read nevertheless. */
static void report_oddities(tb__check_t *check, const tb_bag_reader_t *reader)
{
  for (size_t i = 0; i < reader->table.oddity_count; i++)
    tb__check_report(check, "%s", reader->table.oddities[i]);
}

static tb_status_t check_files(tb__check_t *check, tb_bag_reader_t *reader, tb_error_t *error)
{
  check->by_topic = calloc(reader->table.count + 1, sizeof *check->by_topic);
  check->by_file = calloc(reader->source_count + 1, sizeof *check->by_file);
  if (!check->by_topic || !check->by_file) return tb__no_memory(error);
  tb_status_t status = read_all(check, reader, error);
  for (size_t i = 0; i < reader->source_count && !status; i++)
    status = verify_file(check, reader, i, error);
  return status;
}

static void check_fini(tb__check_t *check)
{
  tdestroy(check->reported, free);
  free(check->by_topic);
  free(check->by_file);
}

static void keep_first(const char *text, void *user)
{
  char *first = user;
  if (!*first) snprintf(first, TB_ERROR_TEXT_SIZE, "%s", text);
}

tb_status_t tb__check_files(tb_bag_reader_t *reader, uint64_t *out_count,
                            char out_first[TB_ERROR_TEXT_SIZE], tb_error_t *error)
{
  tb__check_t check = {.report = keep_first, .user = out_first};
  out_first[0] = '\0';
  tb_status_t status = check_files(&check, reader, error);
  uint64_t found = check.result.finding_count, unclosed = reader->info.unclosed_count;
  *out_count = found > unclosed ? found - unclosed : 0;
  check_fini(&check);
  return status;
}

static tb_status_t check_reader(tb__check_t *check, tb_bag_reader_t *reader, tb_error_t *error)
{
  tb_status_t status = check_files(check, reader, error);
  if (status) return status;
  report_oddities(check, reader);
  check->result.unclosed_count = check->is_salvaging ? 0 : reader->info.unclosed_count;
  return tb__check_metadata(check, reader, error);
}

static tb_status_t bag_check(const char *path, tb_bag_finding_fn report, void *user,
                             tb_bag_check_result_t *out, tb_error_t *error)
{
  return tb_bag_check_within(path, NULL, report, user, out, error);
}

tb_status_t tb_bag_check_sized(const char *path, tb_bag_finding_fn report, void *user,
                               tb_bag_check_result_t *out, size_t out_size, tb_error_t *error)
{
  tb_bag_check_result_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = bag_check(path, report, user, full, error);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

static tb_status_t bag_check_within(const char *path, const tb_bag_limits_t *limits,
                                    tb_bag_finding_fn report, void *user,
                                    tb_bag_check_result_t *out, tb_error_t *error)
{
  if (!path || !*path || !out)
    return tb_error_set(error, TB_ERR_INVALID, "path is NULL or empty, or out is NULL");
  tb__check_t check = {.report = report, .user = user};
  tb_bag_reader_t *reader = NULL;
  tb_status_t status = open_bag(&check, path, limits, &reader, error);
  if (!status && reader) status = check_reader(&check, reader, error);
  tb_bag_reader_close(reader);
  check_fini(&check);
  if (!status) *out = check.result;
  return status;
}

tb_status_t tb_bag_check_within_sized(const char *path, const tb_bag_limits_t *limits,
                                      size_t limits_size, tb_bag_finding_fn report, void *user,
                                      tb_bag_check_result_t *out, size_t out_size,
                                      tb_error_t *error)
{
  tb_bag_limits_t known;
  if (!TB__SIZED_IN(limits, limits_size, known))
    return tb__sized_unsupported(error, "tb_bag_limits_t");
  tb_bag_check_result_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = bag_check_within(path, limits, report, user, full, error);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb_bag_check_names(const char *path, tb_error_t *error)
{
  if (!path || !*path) return tb_error_set(error, TB_ERR_INVALID, "path is NULL or empty");
  tb__bag_location_t location = {0};
  tb_status_t status = tb__bag_locate(path, tb__bag_limits(NULL).file_count, &location, error);
  if (!status && location.notice) status = tb_error_set(error, TB_ERR_RANGE, "%s", location.notice);
  tb__bag_location_fini(&location);
  return status;
}
