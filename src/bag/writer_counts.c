/* How much of the file that is written exists. Three counts: what was written to it, what of that
 * is known to be whole, and what is on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag/storages.h"
#include "bag/writer.h"
#include "base/no_memory.h"
#include "storage/limits.h"
#include "storage/storage.h"

/* SQLite never writes the page at 1 GiB, where its locks are; pages are 64 KiB at most. */
#define LOCK_PAGE     0x40000000
#define LOCK_PAGE_MAX 65536

void tb__writer_reset_counts(tb_bag_writer_t *writer)
{
  writer->state_count = 0;
  writer->whole = writer->synced = (tb__bag_extent_t){0};
  writer->doubts = (tb__bag_output_doubts_t){0};
  for (size_t i = 0; i < writer->topic_count; i++)
    writer->topics[i].in_file = writer->topics[i].whole = writer->topics[i].synced = 0;
}

void tb__writer_note_whole(tb_bag_writer_t *writer)
{
  const tb__bag_extent_t *extent = &tb__writer_file(writer)->extent;
  uint64_t count = writer->output->whole_count;
  if (count == writer->whole.message_count || count != extent->message_count) return;
  writer->whole = *extent;
  for (size_t i = 0; i < writer->topic_count; i++)
    writer->topics[i].whole = writer->topics[i].in_file;
}

void tb__writer_note_synced(tb_bag_writer_t *writer)
{
  writer->synced = writer->whole;
  for (size_t i = 0; i < writer->topic_count; i++)
    writer->topics[i].synced = writer->topics[i].whole;
}

static void set_count(tb__written_topic_t *topic, uint64_t in_file)
{
  topic->count = topic->count - topic->in_file + in_file;
  topic->in_file = in_file;
}

/* To what is known to have been there. */
static void fall_back(tb_bag_writer_t *writer)
{
  bool to_synced = writer->doubts.is_unsynced;
  for (size_t i = 0; i < writer->topic_count; i++) {
    tb__written_topic_t *topic = &writer->topics[i];
    set_count(topic, to_synced ? topic->synced : topic->whole);
  }
  tb__writer_file(writer)->extent = to_synced ? writer->synced : writer->whole;
}

static void forget(tb_bag_writer_t *writer)
{
  for (size_t i = 0; i < writer->topic_count; i++)
    set_count(&writer->topics[i], 0);
  tb__writer_file(writer)->extent = (tb__bag_extent_t){0};
}

static tb__written_topic_t *find_topic(tb_bag_writer_t *writer, const char *name)
{
  for (size_t i = 0; i < writer->topic_count; i++)
    if (strcmp(writer->topics[i].name, name) == 0) return &writer->topics[i];
  return NULL;
}

static void take_counts(tb_bag_writer_t *writer, const tb__bag_file_info_t *info)
{
  tb__bag_extent_t extent = {info->message_count, 0, 0};
  if (info->has_times) {
    extent.start_ns = info->start_ns;
    extent.end_ns = info->end_ns;
  }
  forget(writer);
  for (size_t i = 0; i < info->topic_count; i++) {
    tb__written_topic_t *topic = find_topic(writer, info->topics[i].name);
    if (topic) set_count(topic, topic->in_file + info->topics[i].message_count);
  }
  tb__writer_file(writer)->extent = extent;
}

/* As the format counts. False: the file cannot be read. */
static bool count(tb_bag_writer_t *writer, const char *path)
{
  const tb__bag_storage_t *storage = tb__bag_storage_find(writer->format->id);
  tb__bag_file_t *file = NULL;
  tb__bag_file_info_t info = {0};
  const tb_bag_limits_t limits = tb__bag_limits(NULL);
  if (!storage || storage->open(storage, path, path, &limits, &file, NULL)) return false;
  tb_status_t status = storage->read_info(file, &info, NULL);
  if (!status) status = storage->count_topics(file, &info, NULL);
  if (!status) take_counts(writer, &info);
  tb__bag_file_info_fini(&info);
  storage->close(file);
  return !status;
}

/* A message that is whole. More than were written cannot be ours. */
static void count_message(tb_bag_writer_t *writer, const char *name, int64_t log_time_ns,
                          const uint64_t *limits)
{
  tb__written_topic_t *topic = NULL; /* of one publisher that has sent more */
  for (size_t i = 0; i < writer->topic_count && !topic; i++)
    if (strcmp(writer->topics[i].name, name) == 0 && writer->topics[i].in_file < limits[i])
      topic = &writer->topics[i];
  if (!topic) return;
  tb__bag_extent_t *extent = &tb__writer_file(writer)->extent;
  bool first = extent->message_count++ == 0;
  if (first || log_time_ns < extent->start_ns) extent->start_ns = log_time_ns;
  if (first || log_time_ns > extent->end_ns) extent->end_ns = log_time_ns;
  topic->in_file++;
  topic->count++;
}

/* By reading all of it, as a reader does. */
static void count_readable(tb_bag_writer_t *writer, const char *path, const uint64_t *limits)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  options.content = TB_BAG_CONTENT_ANY;
  forget(writer);
  if (tb_bag_reader_open(path, &options, &reader, NULL)) return;
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END)
    if (!status)
      count_message(writer, info->topics[message.topic].name, message.log_time_ns, limits);
  tb_bag_reader_close(reader);
}

static void read_again(tb_bag_writer_t *writer, const char *path)
{
  uint64_t *limits = calloc(writer->topic_count + 1, sizeof *limits);
  for (size_t i = 0; limits && i < writer->topic_count; i++)
    limits[i] = writer->topics[i].in_file;
  if (limits)
    count_readable(writer, path, limits);
  else
    forget(writer);
  free(limits);
}

/* Bytes that were never written: the file was cut, and has grown again. */
static tb_status_t look_for_hole(const char *path, bool *out, tb_error_t *error)
{
  struct stat info;
  tb_status_t status = TB_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &info) != 0)
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
  off_t hole = status ? -1 : lseek(fd, 0, SEEK_HOLE);
  if (hole >= LOCK_PAGE && hole < LOCK_PAGE + LOCK_PAGE_MAX)
    hole = lseek(fd, LOCK_PAGE + LOCK_PAGE_MAX, SEEK_HOLE);
  *out = !status && hole >= 0 && hole < info.st_size;
  if (fd >= 0) close(fd);
  return status;
}

void tb__writer_recount(tb_bag_writer_t *writer, const char *path, bool may_be_cut)
{
  bool is_missing = !path || access(path, F_OK) != 0;
  if (is_missing) {
    forget(writer);
    return;
  }
  if (writer->doubts.is_unsynced) fall_back(writer);
  bool has_hole = false;
  look_for_hole(path, &has_hole, NULL);
  if (may_be_cut || has_hole)
    read_again(writer, path);
  else if (writer->doubts.is_unsynced || !count(writer, path))
    fall_back(writer);
}

tb_status_t tb__writer_verify(tb_bag_writer_t *writer, const char *path, tb_error_t *error)
{
  bool has_hole = false;
  tb_status_t status = look_for_hole(path, &has_hole, error);
  if (status || !(writer->doubts.may_be_cut || has_hole)) return status;
  uint64_t written = tb__writer_file(writer)->extent.message_count;
  read_again(writer, path);
  uint64_t found = tb__writer_file(writer)->extent.message_count;
  if (found == written) return TB_OK;
  return tb_error_set(error, TB_ERR_TRUNCATED,
                      "%s was truncated while it was being written: %llu messages of %llu are left",
                      path, (unsigned long long)found, (unsigned long long)written);
}

/* A file that is closed, as its summary counts. */
static void add_counts(tb_bag_writer_t *writer, const char *path)
{
  tb_bag_reader_t *reader = NULL;
  if (tb_bag_reader_open(path, NULL, &reader, NULL)) return;
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < info->topic_count; i++) {
    tb__written_topic_t *topic = find_topic(writer, info->topics[i].name);
    if (topic) topic->count += info->topics[i].message_count;
  }
  tb_bag_reader_close(reader);
}

/* Of the files whose counts are not known by topic any more: all but the last. */
static void count_again(tb_bag_writer_t *writer)
{
  for (size_t i = 0; i < writer->topic_count; i++)
    writer->topics[i].count = writer->topics[i].in_file;
  for (size_t i = 0; i + 1 < writer->file_count; i++) {
    char *path = tb__writer_path(writer, writer->files[i].name);
    if (path) add_counts(writer, path);
    free(path);
  }
}

/* False: it cannot be known, for want of memory. */
static bool find_missing(const tb_bag_writer_t *writer, const tb__written_file_t *file,
                         bool *out_is_missing, tb_error_t *error)
{
  struct stat there;
  char *path = tb__writer_path(writer, file->name);
  if (!path) return false;
  *out_is_missing = lstat(path, &there) != 0 && errno == ENOENT;
  if (*out_is_missing)
    tb_error_set(error, TB_ERR_NOT_FOUND,
                 "%s was removed while the recording was being written: its %llu messages do not "
                 "count",
                 path, (unsigned long long)file->extent.message_count);
  free(path);
  return true;
}

/* The last one has just been closed, and those without messages have been reported. */
tb_status_t tb__writer_drop_missing(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  size_t kept = 0;
  for (size_t i = 0; i < writer->file_count; i++) {
    tb__written_file_t *file = &writer->files[i];
    bool is_missing = false, counts = i + 1 < writer->file_count && file->extent.message_count > 0;
    if (counts && !find_missing(writer, file, &is_missing, status ? NULL : error) && !status)
      status = tb__no_memory(error);
    if (is_missing) {
      status = TB_ERR_NOT_FOUND;
      free(file->name);
      free(file->counts);
      tb_error_t detail = TB_ERROR_INIT;
      if (tb__writer_renumber_runs(writer, kept, &detail)) status = detail.status;
    } else {
      writer->files[kept++] = *file;
    }
  }
  if (kept < writer->file_count) {
    writer->file_count = kept;
    count_again(writer);
  }
  return status;
}
