/* rosbag2_storage_sqlite3, schema versions 1 to 4: the columns that exist distinguish them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "sqlite/database.h"
#include "sqlite/sqlite_format.h"
#include "sqlite/tables.h"

#define QUERY_SIZE    200
#define MAX_BAD_TIMES 1000000 /* without an integer there is no order to check */

typedef struct sqlite_file {
  tb__sqlite_file_t base;
  sqlite3_stmt *rows; /* in order: id, timestamp, and if `has_content` topic_id and data */
  bool has_content;   /* one statement for all: fast, but it ends at the first bad row */
  int64_t from_ns;
  bool without_index;     /* it is damaged: the rows of the table are sorted */
  tb_error_t index_error; /* reported as a row, after each seek */
  bool is_to_report;
  bool is_reporting; /* step gave that row */
  sqlite3_stmt *topic_of_row;
  sqlite3_stmt *data_of_row;
  unsigned bad_times;
  bool knows_count; /* how many rows there are: */
  uint64_t row_count;
  bool is_full; /* all rows are asked for since the last seek, of which came: */
  uint64_t stepped;
  bool has_row;
  int64_t last_id;
  int64_t last_time_ns;
} sqlite_file_t;

static sqlite_file_t *sqlite_file(tb__bag_file_t *file)
{
  return (sqlite_file_t *)file;
}

static tb_status_t row_failed(sqlite_file_t *file, int64_t id, tb_error_t *error)
{
  char what[40];
  snprintf(what, sizeof what, "row %lld", (long long)id);
  return tb__sqlite_failed(&file->base, what, error);
}

static void sqlite_close(tb__bag_file_t *base)
{
  if (!base) return;
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_finalize(file->rows);
  sqlite3_finalize(file->topic_of_row);
  sqlite3_finalize(file->data_of_row);
  sqlite3_close(file->base.database);
  free(file->base.path);
  free(file);
}

static tb_status_t sqlite_open(const tb__bag_storage_t *storage, const char *path, const char *name,
                               const tb_bag_limits_t *limits, tb__bag_file_t **out,
                               tb_error_t *error)
{
  (void)limits; /* rows are read one by one */
  sqlite_file_t *file = calloc(1, sizeof *file);
  if (!file) return tb__no_memory(error);
  file->base.base.storage = storage;
  file->base.path = strdup(name);
  tb_status_t status = file->base.path ? tb__sqlite_open(path, name, &file->base.database, error)
                                       : tb__no_memory(error);
  if (!status) status = tb__sqlite_check_tables(&file->base, error);
  if (!status)
    status = tb__sqlite_prepare(&file->base, "SELECT topic_id FROM messages WHERE _rowid_ = ?1",
                                &file->topic_of_row, error);
  if (!status)
    status = tb__sqlite_prepare(&file->base, "SELECT data FROM messages WHERE _rowid_ = ?1",
                                &file->data_of_row, error);
  if (status) {
    sqlite_close(&file->base.base);
    return status;
  }
  *out = &file->base.base;
  return TB_OK;
}

/* The first column of the first row; *found: whether there is one. */
static tb_status_t query_integer(sqlite_file_t *file, const char *sql, int64_t *out, bool *found,
                                 tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = tb__sqlite_prepare(&file->base, sql, &statement, error);
  if (status) return status;
  int code = sqlite3_step(statement);
  *found = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    *out = sqlite3_column_int64(statement, 0);
  else if (code != SQLITE_DONE)
    status = tb__sqlite_failed(&file->base, "messages", error);
  sqlite3_finalize(statement);
  return status;
}

/* "SELECT what FROM messages rest", without the index where that is damaged. */
static void make_query(const sqlite_file_t *file, const char *what, const char *rest,
                       char out[QUERY_SIZE])
{
  snprintf(out, QUERY_SIZE, "SELECT %s FROM messages %s%s", what,
           file->without_index ? "NOT INDEXED " : "", rest);
}

/* Bad times sort outside of this range: NULL and negative before, texts and blobs after. */
#define USABLE_TIMES "WHERE timestamp BETWEEN 0 AND 9223372036854775807 ORDER BY timestamp "

static tb_status_t read_extent(sqlite_file_t *file, tb__bag_file_info_t *out, tb_error_t *error)
{
  char sql[QUERY_SIZE];
  bool found = false;
  int64_t count = 0;
  make_query(file, "count(*)", "", sql);
  tb_status_t status = query_integer(file, sql, &count, &found, error);
  make_query(file, "timestamp", USABLE_TIMES "LIMIT 1", sql);
  if (!status) status = query_integer(file, sql, &out->start_ns, &out->has_times, error);
  make_query(file, "timestamp", USABLE_TIMES "DESC LIMIT 1", sql);
  if (!status) status = query_integer(file, sql, &out->end_ns, &found, error);
  out->message_count = (uint64_t)count;
  return status;
}

static void leave_index(sqlite_file_t *file, const char *why)
{
  tb_error_set(&file->index_error, TB_ERR_CORRUPT,
               "%s: its index of times cannot be read (%s); the rows are sorted instead",
               file->base.path, why);
  file->without_index = true;
}

/* Recorders number their rows without gaps, so the index is known to have all of them without a
 * look at the table. Where ids have gaps, they are counted there. */
static tb_status_t compare_index(sqlite_file_t *file, uint64_t count, tb_error_t *error)
{
  int64_t first = 0, last = 0, rows = 0, span;
  bool found = false;
  tb_status_t status =
      query_integer(file, "SELECT min(_rowid_) FROM messages", &first, &found, error);
  if (!status)
    status = query_integer(file, "SELECT max(_rowid_) FROM messages", &last, &found, error);
  if (status) return status;
  bool has_gaps = count == 0 || last < first || __builtin_sub_overflow(last, first, &span) ||
                  (uint64_t)span + 1 != count;
  if (!has_gaps) return TB_OK;
  status = query_integer(file, "SELECT count(*) FROM messages NOT INDEXED", &rows, &found, error);
  if (!status && (uint64_t)rows != count) leave_index(file, "it does not have all rows");
  return status;
}

/* All messages are in the table too. */
static tb_status_t read_extent_anyway(sqlite_file_t *file, tb__bag_file_info_t *out,
                                      tb_error_t *error)
{
  tb_status_t status = read_extent(file, out, error);
  if (!status && !file->without_index) {
    status = compare_index(file, out->message_count, error);
    if (!status && file->without_index) status = read_extent(file, out, error);
    if (status != TB_ERR_CORRUPT) return status;
    if (!file->without_index) leave_index(file, sqlite3_errmsg(file->base.database));
    out->has_damage_rows = true; /* the table itself: reported as it is read */
    return TB_OK;
  }
  if (status != TB_ERR_CORRUPT || file->without_index) return status;
  leave_index(file, sqlite3_errmsg(file->base.database));
  if (!read_extent(file, out, NULL)) return TB_OK;
  file->without_index = false;
  return status;
}

/* From the ends of the table and of its index, without a walk over them. False: that is not how to
 * find out. */
static bool estimate_extent(sqlite_file_t *file, tb__bag_file_info_t *out)
{
  int64_t first = 0, last = 0, span = -1;
  bool found = false;
  tb_status_t status = query_integer(file, "SELECT _rowid_ FROM messages ORDER BY _rowid_ LIMIT 1",
                                     &first, &found, NULL);
  if (!status)
    status = query_integer(file, "SELECT _rowid_ FROM messages ORDER BY _rowid_ DESC LIMIT 1",
                           &last, &found, NULL);
  if (!status)
    status = query_integer(
        file, "SELECT timestamp FROM messages INDEXED BY timestamp_idx " USABLE_TIMES "LIMIT 1",
        &out->start_ns, &out->has_times, NULL);
  if (!status)
    status = query_integer(file,
                           "SELECT timestamp FROM messages INDEXED BY timestamp_idx " USABLE_TIMES
                           "DESC LIMIT 1",
                           &out->end_ns, &out->has_times, NULL);
  if (status || __builtin_sub_overflow(last, first, &span) || span < 0 || span == INT64_MAX)
    return false;
  out->message_count = found ? (uint64_t)span + 1 : 0;
  out->is_estimate = true;
  out->counted = TB_BAG_COUNTED_METADATA;
  return true;
}

static tb_status_t sqlite_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out,
                                    tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  tb_status_t status = tb__sqlite_read_topics(&file->base, out, error);
  bool is_estimated = !status && base->is_estimate_enough && estimate_extent(file, out);
  if (!status && !is_estimated) {
    status = read_extent_anyway(file, out, error);
    if (!file->without_index && !out->has_damage_rows) out->counted = TB_BAG_COUNTED_ROWS;
  }
  file->knows_count = !status && !is_estimated;
  file->row_count = out->message_count;
  if (!status) status = tb__sqlite_read_extras(&file->base, out, error);
  return status;
}

static tb_status_t sqlite_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                       tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_stmt *statement = NULL;
  tb_status_t status =
      tb__sqlite_prepare(&file->base, "SELECT topic_id FROM messages", &statement, error);
  if (status) return status;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    tb__sqlite_count_row(info, sqlite3_column_int64(statement, 0));
  if (code != SQLITE_DONE) status = tb__sqlite_failed(&file->base, "messages", error);
  sqlite3_finalize(statement);
  return status;
}

/* False: there is no such index, or it cannot be used. */
static bool start_whole(sqlite_file_t *file)
{
  static const char all[] = "SELECT _rowid_, timestamp, topic_id, data FROM messages INDEXED BY "
                            "timestamp_idx ORDER BY timestamp, _rowid_";
  static const char some[] = "SELECT _rowid_, timestamp, topic_id, data FROM messages INDEXED BY "
                             "timestamp_idx WHERE timestamp >= ?1 ORDER BY timestamp, _rowid_";
  const char *sql = file->from_ns == INT64_MIN ? all : some;
  if (sqlite3_prepare_v2(file->base.database, sql, -1, &file->rows, NULL) != SQLITE_OK)
    return false;
  if (sql == some) sqlite3_bind_int64(file->rows, 1, file->from_ns);
  return true;
}

/* From the index alone, so sorting stays small where there is none. */
static tb_status_t start_narrow(sqlite_file_t *file, tb_error_t *error)
{
  char sql[QUERY_SIZE];
  bool is_all = file->from_ns == INT64_MIN;
  make_query(file, "_rowid_, timestamp",
             is_all ? "ORDER BY timestamp, _rowid_"
                    : "WHERE timestamp >= ?1 ORDER BY timestamp, _rowid_",
             sql);
  tb_status_t status = tb__sqlite_prepare(&file->base, sql, &file->rows, error);
  if (!status && !is_all) sqlite3_bind_int64(file->rows, 1, file->from_ns);
  return status;
}

static tb_status_t sqlite_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_finalize(file->rows);
  file->rows = NULL;
  file->has_row = false;
  file->is_to_report = file->without_index;
  file->bad_times = 0;
  file->stepped = 0;
  file->is_full = time_ns == INT64_MIN;
  file->from_ns = time_ns;
  file->has_content = !base->is_sparse && !file->without_index && start_whole(file);
  return file->has_content ? TB_OK : start_narrow(file, error);
}

/* After the last row that could be read, so that one bad row costs only itself. */
static tb_status_t go_on_narrow(sqlite_file_t *file, tb_error_t *error)
{
  sqlite3_finalize(file->rows);
  file->rows = NULL;
  file->has_content = false;
  if (file->has_row) {
    char sql[QUERY_SIZE];
    make_query(file, "_rowid_, timestamp",
               "WHERE (timestamp, _rowid_) > (?1, ?2) ORDER BY timestamp, _rowid_", sql);
    tb_status_t status = tb__sqlite_prepare(&file->base, sql, &file->rows, error);
    if (status) return status;
    sqlite3_bind_int64(file->rows, 1, file->last_time_ns);
    sqlite3_bind_int64(file->rows, 2, file->last_id);
    return TB_OK;
  }
  tb_status_t status = start_narrow(file, error);
  for (unsigned i = 0; i < file->bad_times && !status; i++)
    if (sqlite3_step(file->rows) != SQLITE_ROW) break; /* reported already */
  return status;
}

/* Pages of a damaged index may form a ring: rows must advance. */
static bool advances(const sqlite_file_t *file, const tb__bag_row_t *row)
{
  if (!row->time_is_integer) return file->bad_times < MAX_BAD_TIMES;
  if (!file->has_row) return true;
  return row->log_time_ns > file->last_time_ns ||
         (row->log_time_ns == file->last_time_ns && row->id > file->last_id);
}

/* A row that reports the index, in the place of the next one. */
static tb_status_t report_index(sqlite_file_t *file, tb__bag_row_t *out)
{
  file->is_reporting = true;
  file->is_to_report = false;
  *out = (tb__bag_row_t){.time_is_integer = true, .publish_time_ns = -1};
  if (file->from_ns > 0) out->log_time_ns = file->from_ns;
  if (file->has_row) out->log_time_ns = file->last_time_ns;
  return TB_OK;
}

/* Damaged pages may lead past rows without a word. */
static tb_status_t end_rows(sqlite_file_t *file, tb__bag_row_t *out)
{
  sqlite3_finalize(file->rows);
  file->rows = NULL;
  if (!file->is_full || !file->knows_count || file->stepped >= file->row_count) return TB_ERR_END;
  tb_error_set(&file->index_error, TB_ERR_CORRUPT, "%s: %llu rows were found of %llu",
               file->base.path, (unsigned long long)file->stepped,
               (unsigned long long)file->row_count);
  return report_index(file, out);
}

static tb_status_t sqlite_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  file->is_reporting = false;
  if (!file->rows) return TB_ERR_END;
  if (file->is_to_report) return report_index(file, out);
  int code = sqlite3_step(file->rows);
  if (code != SQLITE_ROW && code != SQLITE_DONE && file->has_content) {
    tb_status_t status = go_on_narrow(file, error);
    if (status) return status;
    code = sqlite3_step(file->rows);
  }
  if (code == SQLITE_DONE) return end_rows(file, out);
  if (code != SQLITE_ROW && (code & 0xff) == SQLITE_CORRUPT && !file->without_index) {
    leave_index(file, sqlite3_errmsg(file->base.database));
    tb_status_t status = go_on_narrow(file, error);
    return status ? status : report_index(file, out);
  }
  if (code != SQLITE_ROW)
    return tb__sqlite_failed(&file->base, "the rest of the file cannot be read", error);
  tb__bag_row_t row = {.id = sqlite3_column_int64(file->rows, 0),
                       .time_is_integer = sqlite3_column_type(file->rows, 1) == SQLITE_INTEGER,
                       .log_time_ns = sqlite3_column_int64(file->rows, 1),
                       .publish_time_ns = -1};
  if (!advances(file, &row))
    return tb_error_set(
        error, TB_ERR_CORRUPT,
        "%s: row %lld appears twice or out of order; the rest of the file cannot be "
        "read",
        file->base.path, (long long)row.id);
  if (row.time_is_integer) {
    file->has_row = true;
    file->last_id = row.id;
    file->last_time_ns = row.log_time_ns;
  } else {
    file->bad_times++;
  }
  file->stepped++;
  *out = row;
  return TB_OK;
}

/* One row of `statement` for `id`, ready for its columns. */
static tb_status_t fetch(sqlite_file_t *file, sqlite3_stmt *statement, int64_t id,
                         tb_error_t *error)
{
  sqlite3_reset(statement);
  sqlite3_bind_int64(statement, 1, id);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return TB_OK;
  if (code != SQLITE_DONE) return row_failed(file, id, error);
  return tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld is in the index but not in the table",
                      file->base.path, (long long)id);
}

static tb_status_t take_topic(sqlite_file_t *file, sqlite3_stmt *statement, int column,
                              tb__bag_row_t *row, tb_error_t *error)
{
  if (sqlite3_column_type(statement, column) != SQLITE_INTEGER)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld: topic id is not an integer",
                        file->base.path, (long long)row->id);
  row->topic_id = sqlite3_column_int64(statement, column);
  return TB_OK;
}

static tb_status_t sqlite_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  if (file->is_reporting) {
    if (error) *error = file->index_error;
    return TB_ERR_CORRUPT;
  }
  if (file->has_content) return take_topic(file, file->rows, 2, row, error);
  sqlite3_reset(file->data_of_row); /* releases the previous payload */
  tb_status_t status = fetch(file, file->topic_of_row, row->id, error);
  if (!status) status = take_topic(file, file->topic_of_row, 0, row, error);
  sqlite3_reset(file->topic_of_row);
  return status;
}

static tb_status_t take_data(sqlite_file_t *file, sqlite3_stmt *statement, int column,
                             tb__bag_row_t *row, tb_error_t *error)
{
  int type = sqlite3_column_type(statement, column);
  if (type != SQLITE_BLOB && type != SQLITE_NULL)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld: payload is not a blob",
                        file->base.path, (long long)row->id);
  const void *data = sqlite3_column_blob(statement, column);
  if (!data && sqlite3_errcode(file->base.database) == SQLITE_NOMEM) return tb__no_memory(error);
  row->size = (size_t)sqlite3_column_bytes(statement, column);
  row->data = type == SQLITE_BLOB && !data ? (const uint8_t *)"" : data;
  return TB_OK;
}

static tb_status_t sqlite_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  if (file->has_content) return take_data(file, file->rows, 3, row, error);
  tb_status_t status = fetch(file, file->data_of_row, row->id, error);
  return status ? status : take_data(file, file->data_of_row, 0, row, error);
}

/* One finding per line; a line with asterisks only names the database. */
static void report_lines(const char *text, tb__bag_finding_fn report, void *user)
{
  while (*text) {
    char line[256];
    size_t length = strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    if (length > 0 && strncmp(line, "***", 3) != 0) report(user, line);
    text += length + (text[length] == '\n');
  }
}

/* Rows that are in the table and not in the index, and pages that no row leads to. */
static tb_status_t sqlite_verify(tb__bag_file_t *base, tb__bag_finding_fn report, void *user,
                                 tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_stmt *statement = NULL;
  tb_status_t status = tb__sqlite_prepare(&file->base, "PRAGMA integrity_check", &statement, error);
  if (status) return status;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (text && strcmp(text, "ok") != 0) report_lines(text, report, user);
  }
  if (code != SQLITE_DONE) status = tb__sqlite_failed(&file->base, "integrity check", error);
  sqlite3_finalize(statement);
  return status;
}

const tb__bag_storage_t tb__sqlite_storage = {
    .id = "sqlite3",
    .extension = ".db3",
    .item = "row",
    .open = sqlite_open,
    .close = sqlite_close,
    .read_info = sqlite_read_info,
    .count_topics = sqlite_count_topics,
    .seek = sqlite_seek,
    .step = sqlite_step,
    .read_topic = sqlite_read_topic,
    .read_data = sqlite_read_data,
    .verify = sqlite_verify,
    .salvage = &tb__sqlite_salvage,
};
