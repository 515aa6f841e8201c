/* rosbag2_storage_sqlite3, schema versions 1 to 4: which columns exist tells them apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/sqlite_open.h"
#include "bag/storage.h"

#define MAX_TOPICS    65536
#define MAX_BAD_TIMES 1000000 /* without an integer there is no order to check */

typedef struct sqlite_file {
  tb__bag_file_t base;
  char *path;
  sqlite3 *database;
  sqlite3_stmt *rows; /* (id, timestamp) in order: from the index alone, so sorting stays small */
  sqlite3_stmt *topic_of_row;
  sqlite3_stmt *data_of_row;
  unsigned bad_times;
  bool has_row;
  int64_t last_id;
  int64_t last_time_ns;
} sqlite_file_t;

static sqlite_file_t *sqlite_file(tb__bag_file_t *file)
{
  return (sqlite_file_t *)file;
}

static tb_status_t no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

static tb_status_t failed(sqlite_file_t *file, const char *what, tb_error_t *error)
{
  return tb__sqlite_error(file->database, file->path, what, error);
}

static tb_status_t row_failed(sqlite_file_t *file, int64_t id, tb_error_t *error)
{
  char what[40];
  snprintf(what, sizeof what, "row %lld", (long long)id);
  return failed(file, what, error);
}

static tb_status_t prepare(sqlite_file_t *file, const char *sql, sqlite3_stmt **out,
                           tb_error_t *error)
{
  if (sqlite3_prepare_v2(file->database, sql, -1, out, NULL) == SQLITE_OK) return TB_OK;
  return failed(file, "", error);
}

static void sqlite_close(tb__bag_file_t *base)
{
  if (!base) return;
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_finalize(file->rows);
  sqlite3_finalize(file->topic_of_row);
  sqlite3_finalize(file->data_of_row);
  sqlite3_close(file->database);
  free(file->path);
  free(file);
}

/* A view or virtual table named `messages` would run code of whoever made the file. */
static tb_status_t check_tables(sqlite_file_t *file, tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(
      file,
      "SELECT count(*) FROM sqlite_master WHERE rootpage > 0 AND name IN ('topics', 'messages')",
      &statement, error);
  if (status) return status;
  if (sqlite3_step(statement) != SQLITE_ROW)
    status = failed(file, "", error);
  else if (sqlite3_column_int(statement, 0) != 2)
    status = tb_error_set(error, TB_ERR_UNSUPPORTED,
                          "%s: a database, but not of rosbag2: no tables topics and messages",
                          file->path);
  sqlite3_finalize(statement);
  return status;
}

static tb_status_t sqlite_open(const tb__bag_storage_t *storage, const char *path,
                               tb__bag_file_t **out, tb_error_t *error)
{
  sqlite_file_t *file = calloc(1, sizeof *file);
  if (!file) return no_memory(error);
  file->base.storage = storage;
  file->path = strdup(path);
  tb_status_t status =
      file->path ? tb__sqlite_open(path, &file->database, error) : no_memory(error);
  if (!status) status = check_tables(file, error);
  if (!status)
    status =
        prepare(file, "SELECT topic_id FROM messages WHERE id = ?1", &file->topic_of_row, error);
  if (!status)
    status = prepare(file, "SELECT data FROM messages WHERE id = ?1", &file->data_of_row, error);
  if (status) {
    sqlite_close(&file->base);
    return status;
  }
  *out = &file->base;
  return TB_OK;
}

/* NULL, blobs and embedded NUL are refused; `column` -1 gives "". */
static tb_status_t copy_text(sqlite_file_t *file, sqlite3_stmt *statement, int column, char **out,
                             tb_error_t *error)
{
  if (column >= 0 && sqlite3_column_type(statement, column) != SQLITE_TEXT)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: column %s of a table is not a text", file->path,
                        sqlite3_column_name(statement, column));
  const char *text = column < 0 ? "" : (const char *)sqlite3_column_text(statement, column);
  if (!text) return no_memory(error);
  if (column >= 0 && strlen(text) != (size_t)sqlite3_column_bytes(statement, column))
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: column %s of a table has a NUL in a text",
                        file->path, sqlite3_column_name(statement, column));
  *out = strdup(text);
  return *out ? TB_OK : no_memory(error);
}

static tb_status_t read_topic_columns(sqlite_file_t *file, sqlite3_stmt *statement,
                                      tb__bag_file_topic_t *topic, tb_error_t *error)
{
  int columns = sqlite3_column_count(statement);
  topic->id = sqlite3_column_int64(statement, 0);
  tb_status_t status = copy_text(file, statement, 1, &topic->name, error);
  if (!status) status = copy_text(file, statement, 2, &topic->type, error);
  if (!status) status = copy_text(file, statement, 3, &topic->serialization_format, error);
  if (!status) status = copy_text(file, statement, columns > 4 ? 4 : -1, &topic->offers, error);
  if (!status) status = copy_text(file, statement, columns > 5 ? 5 : -1, &topic->type_hash, error);
  return status;
}

static tb_status_t append_topic(sqlite_file_t *file, sqlite3_stmt *statement,
                                tb__bag_file_info_t *out, tb_error_t *error)
{
  if (out->topic_count == MAX_TOPICS)
    return tb_error_set(error, TB_ERR_LIMIT, "%s: more than %d topics", file->path, MAX_TOPICS);
  tb__bag_file_topic_t *topics = reallocarray(out->topics, out->topic_count + 1, sizeof *topics);
  if (!topics) return no_memory(error);
  out->topics = topics;
  tb__bag_file_topic_t *topic = &topics[out->topic_count++];
  *topic = (tb__bag_file_topic_t){0};
  return read_topic_columns(file, statement, topic, error);
}

/* Newest layout first; a column that is missing makes SQLITE_ERROR. */
static tb_status_t prepare_topics(sqlite_file_t *file, sqlite3_stmt **out, tb_error_t *error)
{
#define BASIC_COLUMNS "SELECT id, name, type, serialization_format"
#define IN_ORDER      " FROM topics ORDER BY id"
  static const char *const layouts[] = {
      (BASIC_COLUMNS ", offered_qos_profiles, type_description_hash" IN_ORDER),
      (BASIC_COLUMNS ", offered_qos_profiles" IN_ORDER),
      (BASIC_COLUMNS IN_ORDER),
  };
  const size_t oldest = sizeof layouts / sizeof *layouts - 1;
  tb_error_t detail;
  tb_status_t status = TB_ERR_UNSUPPORTED;
  for (size_t i = 0; i <= oldest && status == TB_ERR_UNSUPPORTED; i++)
    status = prepare(file, layouts[i], out, &detail);
  if (status && error) *error = detail;
  return status;
}

static tb_status_t read_topics(sqlite_file_t *file, tb__bag_file_info_t *out, tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare_topics(file, &statement, error);
  int code = SQLITE_ROW;
  while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
    status = append_topic(file, statement, out, error);
  if (!status && code != SQLITE_DONE) status = failed(file, "topics", error);
  sqlite3_finalize(statement);
  return status;
}

/* The first column of the first row; *found tells whether there is one. */
static tb_status_t query_integer(sqlite_file_t *file, const char *sql, int64_t *out, bool *found,
                                 tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(file, sql, &statement, error);
  if (status) return status;
  int code = sqlite3_step(statement);
  *found = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    *out = sqlite3_column_int64(statement, 0);
  else if (code != SQLITE_DONE)
    status = failed(file, "messages", error);
  sqlite3_finalize(statement);
  return status;
}

/* Bad times sort outside of this range: NULL and negative before, texts and blobs behind. */
#define USABLE_TIMES "FROM messages WHERE timestamp BETWEEN 0 AND 9223372036854775807 "

static tb_status_t read_extent(sqlite_file_t *file, tb__bag_file_info_t *out, tb_error_t *error)
{
  bool found = false;
  int64_t count = 0;
  tb_status_t status = query_integer(file, "SELECT count(*) FROM messages", &count, &found, error);
  if (!status)
    status = query_integer(file, "SELECT timestamp " USABLE_TIMES "ORDER BY timestamp LIMIT 1",
                           &out->start_ns, &out->has_times, error);
  if (!status)
    status = query_integer(file, "SELECT timestamp " USABLE_TIMES "ORDER BY timestamp DESC LIMIT 1",
                           &out->end_ns, &found, error);
  out->message_count = (uint64_t)count;
  return status;
}

/* Tables of schema 3 and 4; that they are missing is no error. */
static tb_status_t read_optional_text(sqlite_file_t *file, const char *sql, char **out,
                                      tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = TB_OK;
  int code = sqlite3_prepare_v2(file->database, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) status = copy_text(file, statement, 0, out, NULL);
  sqlite3_finalize(statement);
  if ((code & 0xff) == SQLITE_NOMEM) status = TB_ERR_NO_MEMORY;
  return status == TB_ERR_NO_MEMORY ? no_memory(error) : TB_OK;
}

static tb_status_t sqlite_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out,
                                    tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  tb_status_t status = read_topics(file, out, error);
  if (!status) status = read_extent(file, out, error);
  if (!status)
    status = read_optional_text(file, "SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1",
                                &out->metadata, error);
  if (!status)
    status =
        read_optional_text(file, "SELECT ros_distro FROM schema LIMIT 1", &out->ros_distro, error);
  return status;
}

/* Topics are in the order of their ids. */
static void count_row(tb__bag_file_info_t *info, int64_t topic_id)
{
  size_t low = 0;
  size_t high = info->topic_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (info->topics[middle].id < topic_id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < info->topic_count && info->topics[low].id == topic_id)
    info->topics[low].message_count++;
}

static tb_status_t sqlite_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                       tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(file, "SELECT topic_id FROM messages", &statement, error);
  if (status) return status;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    count_row(info, sqlite3_column_int64(statement, 0));
  if (code != SQLITE_DONE) status = failed(file, "messages", error);
  sqlite3_finalize(statement);
  return status;
}

static tb_status_t sqlite_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_finalize(file->rows);
  file->rows = NULL;
  file->has_row = false;
  file->bad_times = 0;
  if (time_ns == INT64_MIN)
    return prepare(file, "SELECT id, timestamp FROM messages ORDER BY timestamp, id", &file->rows,
                   error);
  tb_status_t status = prepare(
      file, "SELECT id, timestamp FROM messages WHERE timestamp >= ?1 ORDER BY timestamp, id",
      &file->rows, error);
  if (!status) sqlite3_bind_int64(file->rows, 1, time_ns);
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

static tb_status_t sqlite_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  if (!file->rows) return TB_ERR_END;
  int code = sqlite3_step(file->rows);
  if (code == SQLITE_DONE) return TB_ERR_END;
  if (code != SQLITE_ROW) return failed(file, "the rest of the file cannot be read", error);
  tb__bag_row_t row = {.id = sqlite3_column_int64(file->rows, 0),
                       .time_is_integer = sqlite3_column_type(file->rows, 1) == SQLITE_INTEGER,
                       .log_time_ns = sqlite3_column_int64(file->rows, 1),
                       .publish_time_ns = -1};
  if (!advances(file, &row))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: row %lld comes twice or out of order; the rest of the file cannot be "
                        "read",
                        file->path, (long long)row.id);
  if (row.time_is_integer) {
    file->has_row = true;
    file->last_id = row.id;
    file->last_time_ns = row.log_time_ns;
  } else {
    file->bad_times++;
  }
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
                      file->path, (long long)id);
}

static tb_status_t sqlite_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  sqlite3_reset(file->data_of_row); /* lets go of the previous payload */
  tb_status_t status = fetch(file, file->topic_of_row, row->id, error);
  if (!status && sqlite3_column_type(file->topic_of_row, 0) != SQLITE_INTEGER)
    status = tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld: topic id is not an integer",
                          file->path, (long long)row->id);
  if (!status) row->topic_id = sqlite3_column_int64(file->topic_of_row, 0);
  sqlite3_reset(file->topic_of_row);
  return status;
}

static tb_status_t sqlite_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  sqlite_file_t *file = sqlite_file(base);
  tb_status_t status = fetch(file, file->data_of_row, row->id, error);
  if (status) return status;
  int type = sqlite3_column_type(file->data_of_row, 0);
  if (type != SQLITE_BLOB && type != SQLITE_NULL)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: row %lld: payload is not a blob", file->path,
                        (long long)row->id);
  const void *data = sqlite3_column_blob(file->data_of_row, 0);
  if (!data && sqlite3_errcode(file->database) == SQLITE_NOMEM) return no_memory(error);
  row->size = (size_t)sqlite3_column_bytes(file->data_of_row, 0);
  row->data = type == SQLITE_BLOB && !data ? (const uint8_t *)"" : data;
  return TB_OK;
}

const tb__bag_storage_t tb__sqlite_storage = {
    .id = "sqlite3",
    .open = sqlite_open,
    .close = sqlite_close,
    .read_info = sqlite_read_info,
    .count_topics = sqlite_count_topics,
    .seek = sqlite_seek,
    .step = sqlite_step,
    .read_topic = sqlite_read_topic,
    .read_data = sqlite_read_data,
};
