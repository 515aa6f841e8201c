#include "sqlite/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "sqlite/database.h"
#include "storage/clean.h"

#define MAX_TOPICS 65536
#define ROWID      "_rowid_"

tb_status_t tb__sqlite_failed(tb__sqlite_file_t *file, const char *what, tb_error_t *error)
{
  return tb__sqlite_error(file->database, file->path, what, error);
}

tb_status_t tb__sqlite_prepare(tb__sqlite_file_t *file, const char *sql, sqlite3_stmt **out,
                               tb_error_t *error)
{
  int code = sqlite3_prepare_v2(file->database, sql, -1, out, NULL);
  if (code == SQLITE_OK) return TB_OK;
  tb_status_t status = tb__sqlite_failed(file, "", error);
  const size_t size = sizeof ROWID - 1;
  char *other = code == SQLITE_ERROR && strstr(sql, ROWID) ? strdup(sql) : NULL;
  for (char *found = other; found && (found = strstr(found, ROWID)); found += size)
    memcpy(found, "id     ", size);
  if (other && sqlite3_prepare_v2(file->database, other, -1, out, NULL) == SQLITE_OK)
    status = TB_OK;
  free(other);
  return status;
}

tb_status_t tb__sqlite_check_tables(tb__sqlite_file_t *file, tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = tb__sqlite_prepare(
      file,
      "SELECT count(*) FROM sqlite_master WHERE rootpage > 0 AND name IN ('topics', 'messages')",
      &statement, error);
  if (status) return status;
  if (sqlite3_step(statement) != SQLITE_ROW)
    status = tb__sqlite_failed(file, "", error);
  else if (sqlite3_column_int(statement, 0) != 2)
    status = tb_error_set(
        error, TB_ERR_UNSUPPORTED,
        "%s: a SQLite database, but not of rosbag2: it has no tables topics and messages",
        file->path);
  sqlite3_finalize(statement);
  return status;
}

/* NULL, blobs and embedded NUL are refused. */
static tb_status_t copy_text(tb__sqlite_file_t *file, sqlite3_stmt *statement, int column,
                             char **out, tb_error_t *error)
{
  if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: column %s of a table is not text", file->path,
                        sqlite3_column_name(statement, column));
  const char *text = (const char *)sqlite3_column_text(statement, column);
  if (!text) return tb__no_memory(error);
  if (strlen(text) != (size_t)sqlite3_column_bytes(statement, column))
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: column %s of a table has a NUL in its text",
                        file->path, sqlite3_column_name(statement, column));
  *out = strdup(text);
  return *out ? TB_OK : tb__no_memory(error);
}

/* Whatever the column holds; -1 and NULL give "". */
static tb_status_t clean_text(sqlite3_stmt *statement, int column, bool *changed, char **out,
                              tb_error_t *error)
{
  bool is_there = column >= 0 && sqlite3_column_type(statement, column) != SQLITE_NULL;
  const void *text = is_there ? sqlite3_column_text(statement, column) : NULL;
  size_t size = text ? (size_t)sqlite3_column_bytes(statement, column) : 0;
  if (is_there && !text && sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM)
    return tb__no_memory(error);
  *out = tb__bag_clean(text, size, changed);
  return *out ? TB_OK : tb__no_memory(error);
}

static tb_status_t read_topic_columns(sqlite3_stmt *statement, tb__bag_file_topic_t *topic,
                                      tb_error_t *error)
{
  int columns = sqlite3_column_count(statement);
  bool *changed = &topic->is_cleaned;
  topic->id = sqlite3_column_int64(statement, 0);
  tb_status_t status = clean_text(statement, 1, changed, &topic->name, error);
  if (!status) status = clean_text(statement, 2, changed, &topic->type, error);
  if (!status) status = clean_text(statement, 3, changed, &topic->serialization_format, error);
  if (!status) status = clean_text(statement, columns > 4 ? 4 : -1, NULL, &topic->offers, error);
  if (!status) status = clean_text(statement, columns > 5 ? 5 : -1, NULL, &topic->type_hash, error);
  return status;
}

static tb_status_t append_topic(tb__sqlite_file_t *file, sqlite3_stmt *statement,
                                tb__bag_file_info_t *out, tb_error_t *error)
{
  if (out->topic_count == MAX_TOPICS)
    return tb_error_set(error, TB_ERR_LIMIT, "%s: more than %d topics", file->path, MAX_TOPICS);
  tb__bag_file_topic_t *topics = reallocarray(out->topics, out->topic_count + 1, sizeof *topics);
  if (!topics) return tb__no_memory(error);
  out->topics = topics;
  tb__bag_file_topic_t *topic = &topics[out->topic_count++];
  *topic = (tb__bag_file_topic_t){0};
  return read_topic_columns(statement, topic, error);
}

/* Newest layout first; a column that is missing makes SQLITE_ERROR. */
static tb_status_t prepare_topics(tb__sqlite_file_t *file, sqlite3_stmt **out, tb_error_t *error)
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
    status = tb__sqlite_prepare(file, layouts[i], out, &detail);
  if (status && error) *error = detail;
  return status;
}

tb_status_t tb__sqlite_read_topics(tb__sqlite_file_t *file, tb__bag_file_info_t *out,
                                   tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare_topics(file, &statement, error);
  int code = SQLITE_ROW;
  while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
    status = append_topic(file, statement, out, error);
  if (!status && code != SQLITE_DONE) status = tb__sqlite_failed(file, "topics", error);
  sqlite3_finalize(statement);
  return status;
}

/* Tables of schema 3 and 4; that they are missing is no error. */
static tb_status_t read_optional_text(tb__sqlite_file_t *file, const char *sql, char **out,
                                      tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = TB_OK;
  int code = sqlite3_prepare_v2(file->database, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) status = copy_text(file, statement, 0, out, NULL);
  sqlite3_finalize(statement);
  if ((code & 0xff) == SQLITE_NOMEM) status = TB_ERR_NO_MEMORY;
  return status == TB_ERR_NO_MEMORY ? tb__no_memory(error) : TB_OK;
}

/* Recorders name the definition of a service's events by the service, and that of what belongs to
 * an action by the action. */
static bool is_defined_by(const char *topic_type, const char *type)
{
  size_t length = strlen(type);
  if (strncmp(topic_type, type, length) != 0) return false;
  const char *end = topic_type + length;
  if (!*end) return true;
  if (strstr(type, "/srv/")) return strcmp(end, "_Event") == 0;
  return strstr(type, "/action/") &&
         (strcmp(end, "_SendGoal_Event") == 0 || strcmp(end, "_GetResult_Event") == 0 ||
          strcmp(end, "_FeedbackMessage") == 0);
}

/* Each type has one definition for all topics. */
static tb_status_t take_definition(tb__sqlite_file_t *file, sqlite3_stmt *statement,
                                   tb__bag_file_info_t *out, tb_error_t *error)
{
  char *type = NULL;
  tb_status_t status = clean_text(statement, 0, NULL, &type, error);
  for (size_t i = 0; i < out->topic_count && !status; i++) {
    tb__bag_file_topic_t *topic = &out->topics[i];
    if (topic->definition || !is_defined_by(topic->type, type)) continue;
    status = copy_text(file, statement, 1, &topic->definition_encoding, error);
    if (!status) status = copy_text(file, statement, 2, &topic->definition, error);
  }
  free(type);
  return status;
}

static tb_status_t read_definitions(tb__sqlite_file_t *file, tb__bag_file_info_t *out,
                                    tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(file->database,
                                "SELECT topic_type, encoding, encoded_message_definition FROM "
                                "message_definitions ORDER BY id",
                                -1, &statement, NULL);
  tb_status_t status = TB_OK;
  if (code == SQLITE_OK)
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
      status = take_definition(file, statement, out, NULL);
  sqlite3_finalize(statement);
  if ((code & 0xff) == SQLITE_NOMEM) status = TB_ERR_NO_MEMORY;
  return status == TB_ERR_NO_MEMORY ? tb__no_memory(error) : TB_OK;
}

tb_status_t tb__sqlite_read_extras(tb__sqlite_file_t *file, tb__bag_file_info_t *out,
                                   tb_error_t *error)
{
  tb_status_t status = read_definitions(file, out, error);
  if (!status)
    status = read_optional_text(file, "SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1",
                                &out->metadata, error);
  if (!status)
    status =
        read_optional_text(file, "SELECT ros_distro FROM schema LIMIT 1", &out->ros_distro, error);
  return status;
}

void tb__sqlite_count_row(tb__bag_file_info_t *info, int64_t topic_id)
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
