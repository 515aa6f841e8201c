/* What can be read of a damaged sqlite3 file: the table of messages by its ids, without the index.
 * After a bad page the search continues with the next id that can be found. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "sqlite/database.h"
#include "sqlite/leaves.h"
#include "sqlite/sqlite_format.h"
#include "sqlite/tables.h"
#include "storage/temporary.h"

#define MAX_STEP (INT64_C(1) << 40) /* in looking for ids: beyond is nothing */

typedef struct salvage_file {
  tb__sqlite_file_t base;
  sqlite3_stmt *rows;  /* ids from ?1 on */
  sqlite3_stmt *probe; /* the first id from ?1 on */
  sqlite3_stmt *data;
  bool is_running; /* `rows` has a position */
  bool is_over;
  bool has_last; /* a row was seen: last_id means something */
  int64_t last_id;
  int64_t before_last_id;
  int64_t from_ns;
  bool has_next; /* the row after a gap */
  tb__bag_row_t next;
  int64_t gap_first, gap_last; /* of the row that step gave; none: gap_first is 0 */
  const char *unread;          /* what is beside the file and could not be read, or NULL */
  uint64_t indexed;            /* rows that the index of times has, as far as it can be read */
  bool is_rebuilt;             /* a copy, in which rows are only missing where ids are */
  tb__bag_file_t *ordinary;    /* gives more rows than the table by its ids, and is read instead */
} salvage_file_t;

static salvage_file_t *salvage_file(tb__bag_file_t *file)
{
  return (salvage_file_t *)file;
}

static void salvage_close(tb__bag_file_t *base)
{
  if (!base) return;
  salvage_file_t *file = salvage_file(base);
  tb__sqlite_storage.close(file->ordinary);
  sqlite3_finalize(file->rows);
  sqlite3_finalize(file->probe);
  sqlite3_finalize(file->data);
  sqlite3_close(file->base.database);
  free(file->base.path);
  free(file);
}

static tb_status_t salvage_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  salvage_file_t *file = salvage_file(base);
  if (file->ordinary) {
    file->ordinary->is_sparse = base->is_sparse;
    return tb__sqlite_storage.seek(file->ordinary, time_ns, error);
  }
  sqlite3_reset(file->rows);
  file->is_running = file->is_over = file->has_next = file->has_last = false;
  file->last_id = file->before_last_id = INT64_MIN;
  file->from_ns = time_ns;
  file->gap_first = 0;
  return TB_OK;
}

static tb__bag_row_t row_of(sqlite3_stmt *statement)
{
  return (tb__bag_row_t){.id = sqlite3_column_int64(statement, 0),
                         .topic_id = sqlite3_column_int64(statement, 1),
                         .time_is_integer = sqlite3_column_type(statement, 2) == SQLITE_INTEGER,
                         .log_time_ns = sqlite3_column_int64(statement, 2),
                         .publish_time_ns = -1};
}

typedef enum found { FOUND, NOTHING, BAD } found_t;

/* The first row from `id` on, but not the last one again. Pages may form rings: what is found must
 * not lie before. */
static found_t probe(salvage_file_t *file, int64_t id, tb__bag_row_t *out)
{
  sqlite3_reset(file->probe);
  sqlite3_bind_int64(file->probe, 1, id);
  int code = sqlite3_step(file->probe);
  found_t found = code == SQLITE_DONE ? NOTHING : BAD;
  if (code == SQLITE_ROW) {
    *out = row_of(file->probe);
    found = out->id >= id && !(file->has_last && out->id == file->last_id) ? FOUND : BAD;
  }
  sqlite3_reset(file->probe);
  return found;
}

/* Between an id that is bad and one that is good, the first good one. */
static tb__bag_row_t first_good(salvage_file_t *file, int64_t bad, int64_t good, tb__bag_row_t row)
{
  while (good - bad > 1) {
    int64_t middle = bad + (good - bad) / 2;
    tb__bag_row_t found;
    if (probe(file, middle, &found) == FOUND) {
      good = middle;
      row = found;
    } else {
      bad = middle;
    }
  }
  return row;
}

/* Looks for the next row in steps that grow. False: there is none. An id far above the one before
 * may be wrong, and hide all that is below it: so the search begins there. */
static bool pass_gap(salvage_file_t *file, tb__bag_row_t *out)
{
  int64_t bad = file->before_last_id < 0 ? 0 : file->before_last_id;
  for (int64_t step = 1; step <= MAX_STEP; step *= 2) {
    int64_t id;
    if (__builtin_add_overflow(bad, step, &id)) return false;
    found_t found = probe(file, id, out);
    if (found == NOTHING) return false;
    if (found == FOUND) {
      *out = first_good(file, bad, id, *out);
      return true;
    }
    bad = id;
  }
  return false;
}

/* Where ids fall, the higher one was wrong if the other fits after the previous one. False:
 * neither; pages may form rings. */
static bool take_id(salvage_file_t *file, int64_t id)
{
  bool rises = !file->has_last || id > file->last_id;
  if (!rises && id <= file->before_last_id) return false;
  if (rises) file->before_last_id = file->last_id;
  file->last_id = id;
  file->has_last = true;
  return true;
}

static tb_status_t take_next(salvage_file_t *file, tb__bag_row_t *out)
{
  file->has_next = false;
  *out = file->next;
  take_id(file, out->id);
  return TB_OK;
}

/* The rows that pages would have had which were not found. False: there are none. */
static bool misses_ids(salvage_file_t *file, tb__bag_row_t *row)
{
  int64_t expected = file->has_last ? file->last_id + (file->last_id < INT64_MAX) : 1;
  if (!file->is_rebuilt || row->id <= expected) return false;
  file->next = *row;
  file->has_next = true;
  file->gap_first = expected;
  file->gap_last = row->id - 1;
  *row = (tb__bag_row_t){.id = expected, .publish_time_ns = -1, .time_is_integer = true};
  return true;
}

/* The next row of the table, gaps passed over; with a row that reports each. TB_ERR_END. */
static tb_status_t next_row(salvage_file_t *file, tb__bag_row_t *out)
{
  file->gap_first = 0;
  if (file->has_next) return take_next(file, out);
  if (file->is_over) return TB_ERR_END;
  if (!file->is_running && file->has_last && file->last_id == INT64_MAX) return TB_ERR_END;
  if (!file->is_running) sqlite3_bind_int64(file->rows, 1, file->last_id + file->has_last);
  int code = sqlite3_step(file->rows);
  file->is_running = true;
  if (code == SQLITE_ROW) *out = row_of(file->rows);
  if (code == SQLITE_ROW && misses_ids(file, out)) return TB_OK;
  if (code == SQLITE_ROW && take_id(file, out->id)) return TB_OK;
  sqlite3_reset(file->rows);
  file->is_running = false;
  file->is_over = code == SQLITE_DONE;
  if (code == SQLITE_DONE) return TB_ERR_END;
  file->has_next = pass_gap(file, &file->next);
  if (file->has_next && file->next.id < file->last_id) file->last_id = file->before_last_id;
  int64_t first = file->last_id < 0 ? 1 : file->last_id + (file->last_id < INT64_MAX);
  if (file->has_next && file->next.id == first) return take_next(file, out);
  file->gap_first = first;
  file->is_over = !file->has_next;
  file->gap_last = file->has_next ? file->next.id - 1 : INT64_MAX;
  *out = (tb__bag_row_t){.id = file->gap_first, .publish_time_ns = -1, .time_is_integer = true};
  return TB_OK;
}

static tb_status_t salvage_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  salvage_file_t *file = salvage_file(base);
  if (file->ordinary) return tb__sqlite_storage.step(file->ordinary, out, error);
  tb__bag_row_t row;
  tb_status_t status;
  do
    status = next_row(file, &row);
  while (!status && !file->gap_first && row.time_is_integer && row.log_time_ns < file->from_ns);
  if (!status) *out = row;
  return status;
}

static tb_status_t salvage_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  const salvage_file_t *file = salvage_file(base);
  if (file->ordinary) return tb__sqlite_storage.read_topic(file->ordinary, row, error);
  if (!file->gap_first) return TB_OK;
  if (file->gap_last == INT64_MAX)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: the rows from %lld on cannot be read",
                        file->base.path, (long long)file->gap_first);
  return tb_error_set(error, TB_ERR_CORRUPT, "%s: rows %lld to %lld cannot be read",
                      file->base.path, (long long)file->gap_first, (long long)file->gap_last);
}

/* Where ids are wrong, another row may be found by them. */
static bool is_same(sqlite3_stmt *data, const tb__bag_row_t *row)
{
  return sqlite3_column_int64(data, 1) == row->topic_id &&
         sqlite3_column_int64(data, 2) == row->log_time_ns &&
         sqlite3_column_type(data, 0) == SQLITE_BLOB;
}

static tb_status_t salvage_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  salvage_file_t *file = salvage_file(base);
  if (file->ordinary) return tb__sqlite_storage.read_data(file->ordinary, row, error);
  sqlite3_reset(file->data);
  sqlite3_bind_int64(file->data, 1, row->id);
  int code = sqlite3_step(file->data);
  if ((code & 0xff) == SQLITE_NOMEM)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "%s: row %lld: out of memory", file->base.path,
                        (long long)row->id);
  if (code != SQLITE_ROW || !is_same(file->data, row))
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld: its payload cannot be read",
                        file->base.path, (long long)row->id);
  const void *data = sqlite3_column_blob(file->data, 0);
  if (!data && sqlite3_errcode(file->base.database) == SQLITE_NOMEM) return tb__no_memory(error);
  row->size = (size_t)sqlite3_column_bytes(file->data, 0);
  row->data = data ? data : (const uint8_t *)"";
  return TB_OK;
}

static void widen(tb__bag_file_info_t *info, const tb__bag_row_t *row)
{
  info->message_count++;
  if (!row->time_is_integer || row->log_time_ns < 0) return;
  if (!info->has_times || row->log_time_ns < info->start_ns) info->start_ns = row->log_time_ns;
  if (!info->has_times || row->log_time_ns > info->end_ns) info->end_ns = row->log_time_ns;
  info->has_times = true;
}

/* The first thing that is wrong is kept. */
__attribute__((format(printf, 4, 5))) static tb_status_t note_damage(const salvage_file_t *file,
                                                                     tb__bag_file_info_t *out,
                                                                     tb_error_t *error,
                                                                     const char *format, ...)
{
  tb_error_t detail = TB_ERROR_INIT;
  char text[160];
  va_list arguments;
  if (out->damage) return TB_OK;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tb_error_set(&detail, TB_ERR_CORRUPT, "%s: %s", file->base.path, text);
  out->damage = strdup(detail.text);
  return out->damage ? TB_OK : tb__no_memory(error);
}

static tb_status_t salvage_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out,
                                     tb_error_t *error)
{
  salvage_file_t *file = salvage_file(base);
  if (file->ordinary) return tb__sqlite_storage.read_info(file->ordinary, out, error);
  tb_status_t status = tb__sqlite_read_topics(&file->base, out, error);
  if (!status) status = tb__sqlite_read_extras(&file->base, out, error);
  if (status) return status;
  if (file->unread)
    status = note_damage(file, out, error,
                         "its %s cannot be read; messages that are only there are missing",
                         file->unread);
  if (!status && file->is_rebuilt)
    status = note_damage(file, out, error,
                         "inner pages of its table of messages are damaged; rows were looked for "
                         "in all pages of the file");
  tb__bag_row_t row;
  salvage_seek(base, INT64_MIN, NULL);
  while (!status && !next_row(file, &row)) {
    if (!file->gap_first) {
      widen(out, &row);
      continue;
    }
    tb_error_t detail = TB_ERROR_INIT;
    salvage_read_topic(base, &row, &detail);
    if (!out->damage) out->damage = strdup(detail.text);
    if (!out->damage) return tb__no_memory(error);
  }
  if (!status && out->message_count < file->indexed)
    status = note_damage(file, out, error, "%llu of %llu rows of its index are not in its table",
                         (unsigned long long)(file->indexed - out->message_count),
                         (unsigned long long)file->indexed);
  return status;
}

static tb_status_t salvage_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                        tb_error_t *error)
{
  (void)error;
  tb__bag_row_t row;
  salvage_seek(base, INT64_MIN, NULL);
  while (!salvage_step(base, &row, NULL))
    if (!salvage_read_topic(base, &row, NULL)) tb__sqlite_count_row(info, row.topic_id);
  return TB_OK;
}

/* ---- opening ---- */

/* 0: that cannot be found out. */
static int64_t query_number(const salvage_file_t *file, const char *sql)
{
  sqlite3_stmt *statement = NULL;
  int64_t number = 0;
  if (sqlite3_prepare_v2(file->base.database, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number > 0 ? number : 0;
}

static tb_status_t open_table(const tb__bag_storage_t *storage, const char *path, const char *name,
                              salvage_file_t **out, tb_error_t *error)
{
  salvage_file_t *file = calloc(1, sizeof *file);
  if (!file) return tb__no_memory(error);
  file->base.base.storage = storage;
  file->base.path = strdup(name);
  tb_status_t status = file->base.path ? tb__sqlite_open_damaged(path, name, &file->base.database,
                                                                 &file->unread, error)
                                       : tb__no_memory(error);
  if (!status) status = tb__sqlite_check_tables(&file->base, error);
  if (!status)
    status = tb__sqlite_prepare(
        &file->base,
        "SELECT _rowid_, topic_id, timestamp FROM messages NOT INDEXED WHERE _rowid_ "
        ">= ?1 ORDER BY _rowid_",
        &file->rows, error);
  if (!status)
    status = tb__sqlite_prepare(
        &file->base,
        "SELECT _rowid_, topic_id, timestamp FROM messages NOT INDEXED WHERE _rowid_ "
        ">= ?1 ORDER BY _rowid_ LIMIT 1",
        &file->probe, error);
  if (!status)
    status = tb__sqlite_prepare(&file->base,
                                "SELECT data, topic_id, timestamp FROM messages WHERE _rowid_ = ?1",
                                &file->data, error);
  if (status) {
    salvage_close(&file->base.base);
    return status;
  }
  file->indexed = (uint64_t)query_number(
      file, "SELECT count(*) FROM messages INDEXED BY timestamp_idx WHERE timestamp >= 0");
  *out = file;
  return TB_OK;
}

/* Whether the row is found by its id, which its payload is read by. */
static bool is_found(salvage_file_t *file, const tb__bag_row_t *row)
{
  sqlite3_reset(file->data);
  sqlite3_bind_int64(file->data, 1, row->id);
  bool found = sqlite3_step(file->data) == SQLITE_ROW && is_same(file->data, row);
  sqlite3_reset(file->data);
  return found;
}

/* Gaps, rows that are of no use as the table has them, or rows that only the index has. */
static bool has_faults(salvage_file_t *file)
{
  tb__bag_row_t row;
  uint64_t count = 0;
  salvage_seek(&file->base.base, INT64_MIN, NULL);
  for (; !next_row(file, &row); count++)
    if (file->gap_first || !row.time_is_integer || row.log_time_ns < 0 || !is_found(file, &row))
      return true;
  return count < file->indexed;
}

static uint64_t count_readable(const tb__bag_storage_t *storage, tb__bag_file_t *file)
{
  uint64_t count = 0;
  tb__bag_row_t row;
  if (storage->seek(file, INT64_MIN, NULL)) return 0;
  while (!storage->step(file, &row, NULL))
    if (row.time_is_integer && row.log_time_ns >= 0 && !storage->read_topic(file, &row, NULL) &&
        !storage->read_data(file, &row, NULL) && row.data)
      count++;
  return count;
}

static uint32_t root_of_messages(const salvage_file_t *file)
{
  int64_t root = query_number(file, "SELECT rootpage FROM sqlite_master WHERE name = 'messages'");
  return root <= UINT32_MAX ? (uint32_t)root : 0;
}

/* Under the name that it is opened by. Nothing of it is left if the process is killed, unless the
 * file system has no files without names. */
static tb_status_t write_rebuilt(const char *path, const char *name, uint32_t root,
                                 const tb_bag_limits_t *limits, tb__temporary_t *out,
                                 tb_error_t *error)
{
  tb__sqlite_leaves_t found;
  int fd = -1;
  tb_status_t status = tb__temporary_open_nameless(name, &fd, error);
  bool is_nameless = fd >= 0;
  if (!status) status = tb__temporary_make(name, "", out, error);
  if (!status && !is_nameless) fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (!status && fd < 0) status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", out->path);
  if (!status) status = tb__sqlite_rebuild(path, name, root, limits, fd, &found, error);
  if (!status && is_nameless) status = tb__temporary_name(out, fd, error);
  if (fd >= 0) close(fd);
  return status;
}

/* NULL: there is nothing that could be made readable. */
static salvage_file_t *rebuild(const salvage_file_t *file, const char *path, const char *name,
                               const tb_bag_limits_t *limits)
{
  tb__temporary_t copy = {0};
  tb_error_t error = TB_ERROR_INIT;
  salvage_file_t *out = NULL;
  tb_status_t status = write_rebuilt(path, name, root_of_messages(file), limits, &copy, &error);
  if (!status) status = open_table(file->base.base.storage, copy.path, name, &out, &error);
  if (status && status != TB_ERR_NOT_FOUND) tb__log(TB_LOG_WARN, "%s", error.text);
  tb__temporary_forget(&copy);
  if (status) return NULL;
  out->is_rebuilt = true;
  return out;
}

/* Rows are found by the index that no search of their ids finds, as those before them are damaged:
 * nothing may be recovered less than is read. */
static uint64_t try_ordinary(salvage_file_t *file, const char *path, const char *name,
                             const tb_bag_limits_t *limits, uint64_t count)
{
  tb__bag_file_info_t info = {0};
  tb__bag_file_t *ordinary = NULL;
  const tb__bag_storage_t *storage = &tb__sqlite_storage;
  if (storage->open(storage, path, name, limits, &ordinary, NULL)) return count;
  uint64_t other =
      storage->read_info(ordinary, &info, NULL) ? 0 : count_readable(storage, ordinary);
  tb__bag_file_info_fini(&info);
  if (other <= count) {
    storage->close(ordinary);
    return count;
  }
  file->ordinary = ordinary;
  return other;
}

/* The way that gives the most rows. Another file may take the place of *file. */
static void choose_way(salvage_file_t **file, const char *path, const char *name,
                       const tb_bag_limits_t *limits)
{
  const tb__bag_storage_t *storage = &tb__sqlite_salvage;
  if (!has_faults(*file)) return;
  uint64_t count = count_readable(storage, &(*file)->base.base);
  count = try_ordinary(*file, path, name, limits, count);
  salvage_file_t *rebuilt = rebuild(*file, path, name, limits);
  if (!rebuilt) return;
  bool is_better = count_readable(storage, &rebuilt->base.base) > count;
  salvage_close(is_better ? &(*file)->base.base : &rebuilt->base.base);
  if (is_better) *file = rebuilt;
}

static tb_status_t salvage_open(const tb__bag_storage_t *storage, const char *path,
                                const char *name, const tb_bag_limits_t *limits,
                                tb__bag_file_t **out, tb_error_t *error)
{
  salvage_file_t *file = NULL;
  tb_status_t status = open_table(storage, path, name, &file, error);
  if (status) return status;
  choose_way(&file, path, name, limits);
  *out = &file->base.base;
  return TB_OK;
}

const tb__bag_storage_t tb__sqlite_salvage = {
    .id = "sqlite3",
    .extension = ".db3",
    .item = "row",
    .open = salvage_open,
    .close = salvage_close,
    .read_info = salvage_read_info,
    .count_topics = salvage_count_topics,
    .seek = salvage_seek,
    .step = salvage_step,
    .read_topic = salvage_read_topic,
    .read_data = salvage_read_data,
};
