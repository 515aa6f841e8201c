/* rosbag2_storage_sqlite3, schema version 4, as jazzy's "resilient" preset writes it: with a
 * write-ahead log, so that what is committed stays readable if the process is killed. (rosbag2's
 * own default keeps the journal in memory: a kill in the middle of a commit leaves a broken file.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "sqlite/database.h"
#include "sqlite/sqlite_format.h"
#include "storage/output.h"

#define DEFAULT_TRANSACTION ((size_t)1 << 20)
#define ROW_OVERHEAD        32 /* of a row and its entry in the index, about */

typedef struct sqlite_output {
  tb__bag_output_t base;
  char *path;
  char *log_path;
  tb__bag_output_doubts_t *doubts; /* or NULL */
  sqlite3 *database;
  sqlite3_vfs files; /* SQLite's own, but for paths through descriptors */
  sqlite3_stmt *insert;
  sqlite3_stmt *page_count;
  size_t transaction_size; /* commits when more than this is pending */
  size_t pending;
  uint64_t committed_size;
  uint64_t page_size;
  bool has_log;                /* a write-ahead log, which neither shrinks nor goes by itself */
  int64_t file_size, log_size; /* the largest seen; the file does not shrink either */
  uint64_t row_count;
} sqlite_output_t;

static const char schema[] =
    "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL);"
    "CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,"
    "metadata TEXT NOT NULL);"
    "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,"
    "serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL,"
    "type_description_hash TEXT NOT NULL);"
    "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,"
    "encoding TEXT NOT NULL,encoded_message_definition TEXT NOT NULL,"
    "type_description_hash TEXT NOT NULL);"
    "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,"
    "timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE INDEX timestamp_idx ON messages (timestamp ASC);";

static sqlite_output_t *sqlite_output(tb__bag_output_t *output)
{
  return (sqlite_output_t *)output;
}

static tb_status_t failed(sqlite_output_t *output, tb_error_t *error)
{
  return tb__sqlite_error(output->database, output->path, "", error);
}

static tb_status_t execute(sqlite_output_t *output, const char *sql, tb_error_t *error)
{
  if (sqlite3_exec(output->database, sql, NULL, NULL, NULL) == SQLITE_OK) return TB_OK;
  return failed(output, error);
}

static tb_status_t prepare(sqlite_output_t *output, const char *sql, sqlite3_stmt **out,
                           tb_error_t *error)
{
  if (sqlite3_prepare_v2(output->database, sql, -1, out, NULL) == SQLITE_OK) return TB_OK;
  return failed(output, error);
}

/* One row of texts and numbers: `number` comes first if it is not negative. */
static tb_status_t insert_texts(sqlite_output_t *output, const char *sql, int number,
                                const char *const *texts, int count, tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(output, sql, &statement, error);
  int place = 1;
  if (!status && number >= 0) sqlite3_bind_int(statement, place++, number);
  for (int i = 0; i < count && !status; i++)
    if (sqlite3_bind_text(statement, place++, texts[i], -1, SQLITE_STATIC) != SQLITE_OK)
      status = failed(output, error);
  if (!status && sqlite3_step(statement) != SQLITE_DONE) status = failed(output, error);
  sqlite3_finalize(statement);
  return status;
}

/* Our own file, so that an existing one is never touched. */
static tb_status_t create_file(sqlite_output_t *output, tb_error_t *error)
{
  int fd = open(output->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                              "%s", output->path);
  close(fd);
  return TB_OK;
}

/* SQLite opens what the links of a path lead to at present, by its name. Where the path goes
 * through the descriptor of a folder, another folder could be in the place of that name. */
static int keep_path(sqlite3_vfs *files, const char *path, int size, char *out)
{
  static const char descriptors[] = "/proc/self/fd/";
  sqlite3_vfs *own = sqlite3_vfs_find(NULL);
  if (strncmp(path, descriptors, sizeof descriptors - 1) != 0)
    return own ? own->xFullPathname(files, path, size, out) : SQLITE_CANTOPEN;
  return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* Known by its name only while the database is being opened. */
static int open_as_named(sqlite_output_t *output)
{
  char name[32];
  sqlite3_vfs *own = sqlite3_vfs_find(NULL);
  if (!own) return SQLITE_ERROR;
  snprintf(name, sizeof name, "timebase-%p", (void *)output);
  output->files = *own;
  output->files.pNext = NULL;
  output->files.zName = name;
  output->files.xFullPathname = keep_path;
  int code = sqlite3_vfs_register(&output->files, 0);
  if (code == SQLITE_OK)
    code = sqlite3_open_v2(output->path, &output->database,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, name);
  sqlite3_vfs_unregister(&output->files);
  output->files.zName = own->zName;
  return code;
}

static tb_status_t open_database(sqlite_output_t *output, tb_error_t *error)
{
  if (open_as_named(output) != SQLITE_OK)
    return output->database ? failed(output, error) : tb__no_memory(error);
  sqlite3_extended_result_codes(output->database, 1);
  sqlite3_busy_timeout(output->database, TB__SQLITE_BUSY_LIMIT_MS);
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(output, "PRAGMA journal_mode = WAL", &statement, error);
  if (!status && sqlite3_step(statement) != SQLITE_ROW) status = failed(output, error);
  if (!status) {
    const char *mode = (const char *)sqlite3_column_text(statement, 0);
    output->has_log = mode && strcmp(mode, "wal") == 0;
  }
  sqlite3_finalize(statement);
  return status ? status : execute(output, "PRAGMA synchronous = NORMAL", error);
}

/* ---- what other processes do to the file ---- */

/* Through SQLite: to open and close its files would drop the locks that it holds on them. */
static int64_t size_of(sqlite_output_t *output, int which)
{
  sqlite3_file *file = NULL;
  sqlite3_int64 size = 0;
  if (sqlite3_file_control(output->database, "main", which, &file) != SQLITE_OK || !file ||
      !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
    return -1;
  return size;
}

/* As large as it has been, and under its name. */
static bool is_log_there(sqlite_output_t *output)
{
  struct stat info;
  int64_t size = output->has_log ? size_of(output, SQLITE_FCNTL_JOURNAL_POINTER) : -1;
  if (size > output->log_size) output->log_size = size;
  if (output->log_size == 0) return true;
  bool is_there = stat(output->log_path, &info) == 0 && info.st_size >= output->log_size;
  if (!is_there) output->log_size = size > 0 ? size : 0; /* reported once */
  return is_there;
}

static tb_status_t sqlite_check(tb__bag_output_t *base, tb_error_t *error)
{
  sqlite_output_t *output = sqlite_output(base);
  int64_t size = size_of(output, SQLITE_FCNTL_FILE_POINTER);
  if (size < 0) return TB_OK;
  if (size > output->file_size) output->file_size = size;
  if (size < output->file_size) {
    if (output->doubts) output->doubts->may_be_cut = true;
    return tb_error_set(error, TB_ERR_TRUNCATED,
                        "%s was truncated while it was being written: %lld bytes of %lld",
                        output->path, (long long)size, (long long)output->file_size);
  }
  if (is_log_there(output)) return TB_OK;
  /* Or another process has moved all of it to the file, which only reading shows. */
  if (output->doubts) output->doubts->may_be_cut = true;
  if ((uint64_t)size >= output->committed_size) return TB_OK;
  return tb_error_set(error, TB_ERR_TRUNCATED,
                      "%s was truncated or removed while it was being written", output->log_path);
}

/* ---- beginning ---- */

static tb_status_t measure(sqlite_output_t *output, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  if (sqlite3_step(output->page_count) != SQLITE_ROW)
    status = failed(output, error);
  else
    output->committed_size =
        (uint64_t)sqlite3_column_int64(output->page_count, 0) * output->page_size;
  sqlite3_reset(output->page_count);
  return status;
}

static tb_status_t read_page_size(sqlite_output_t *output, tb_error_t *error)
{
  sqlite3_stmt *statement = NULL;
  tb_status_t status = prepare(output, "PRAGMA page_size", &statement, error);
  if (!status && sqlite3_step(statement) != SQLITE_ROW) status = failed(output, error);
  if (!status) output->page_size = (uint64_t)sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return status;
}

static tb_status_t make_tables(sqlite_output_t *output, const char *ros_distro, tb_error_t *error)
{
  const char *texts[] = {ros_distro ? ros_distro : ""};
  tb_status_t status = execute(output, "BEGIN", error);
  if (!status) status = execute(output, schema, error);
  if (!status) status = insert_texts(output, "INSERT INTO schema VALUES(?,?)", 4, texts, 1, error);
  if (!status) status = execute(output, "COMMIT", error);
  if (!status)
    status = prepare(output, "INSERT INTO messages(topic_id,timestamp,data) VALUES(?,?,?)",
                     &output->insert, error);
  if (!status) status = prepare(output, "PRAGMA page_count", &output->page_count, error);
  if (!status) status = read_page_size(output, error);
  return status ? status : measure(output, error);
}

static void destroy(sqlite_output_t *output)
{
  sqlite3_finalize(output->insert);
  sqlite3_finalize(output->page_count);
  sqlite3_close(output->database);
  free(output->log_path);
  free(output->path);
  free(output);
}

static tb_status_t sqlite_create(const tb__bag_output_format_t *format, const char *path,
                                 const tb__bag_output_options_t *options, tb__bag_output_t **out,
                                 tb_error_t *error)
{
  sqlite_output_t *output = calloc(1, sizeof *output);
  if (!output) return tb__no_memory(error);
  output->base.format = format;
  output->transaction_size = options->chunk_size ? options->chunk_size : DEFAULT_TRANSACTION;
  output->doubts = options->doubts;
  output->path = strdup(path);
  if (asprintf(&output->log_path, "%s-wal", path) < 0) output->log_path = NULL;
  bool created = false;
  tb_status_t status =
      output->path && output->log_path ? create_file(output, error) : tb__no_memory(error);
  created = !status;
  if (!status) status = open_database(output, error);
  if (!status) status = make_tables(output, options->ros_distro, error);
  if (status) {
    destroy(output);
    if (created) unlink(path);
    return status;
  }
  *out = &output->base;
  return TB_OK;
}

static tb_status_t begin(sqlite_output_t *output, tb_error_t *error)
{
  if (!sqlite3_get_autocommit(output->database)) return TB_OK;
  tb_status_t status = sqlite_check(&output->base, error); /* before it grows over a cut */
  return status ? status : execute(output, "BEGIN", error);
}

static tb_status_t sqlite_add_topic(tb__bag_output_t *base, const tb__bag_output_topic_t *topic,
                                    uint32_t *out_id, tb_error_t *error)
{
  sqlite_output_t *output = sqlite_output(base);
  tb_status_t status = begin(output, error);
  const char *texts[] = {topic->name, topic->type, topic->serialization_format, topic->offers,
                         topic->type_hash};
  if (!status)
    status = insert_texts(output,
                          "INSERT INTO topics(name,type,serialization_format,offered_qos_profiles,"
                          "type_description_hash) VALUES(?,?,?,?,?)",
                          -1, texts, 5, error);
  if (status) return status;
  int64_t id = sqlite3_last_insert_rowid(output->database);
  const char *definition[] = {topic->type, topic->definition_encoding, topic->definition,
                              topic->type_hash};
  status =
      insert_texts(output,
                   "INSERT INTO message_definitions(topic_type,encoding,"
                   "encoded_message_definition,type_description_hash) SELECT ?1,?2,?3,?4 WHERE "
                   "NOT EXISTS (SELECT 1 FROM message_definitions WHERE topic_type = ?1)",
                   -1, definition, 4, error);
  if (!status) *out_id = (uint32_t)id;
  return status;
}

static tb_status_t commit(sqlite_output_t *output, tb_error_t *error)
{
  if (sqlite3_get_autocommit(output->database)) return TB_OK;
  tb_status_t status = sqlite_check(&output->base, error);
  if (!status) status = execute(output, "COMMIT", error);
  if (status) return status;
  output->pending = 0;
  output->base.whole_count = output->row_count;
  status = measure(output, error);
  return status ? status : sqlite_check(&output->base, error);
}

static tb_status_t sqlite_write(tb__bag_output_t *base, uint32_t topic, int64_t log_time_ns,
                                int64_t publish_time_ns, const void *data, size_t size,
                                tb_error_t *error)
{
  (void)publish_time_ns; /* the table has no column for it */
  sqlite_output_t *output = sqlite_output(base);
  tb_status_t status = begin(output, error);
  if (status) return status;
  sqlite3_bind_int64(output->insert, 1, topic);
  sqlite3_bind_int64(output->insert, 2, log_time_ns);
  bool bound =
      sqlite3_bind_blob64(output->insert, 3, data ? data : "", size, SQLITE_STATIC) == SQLITE_OK;
  if (!bound || sqlite3_step(output->insert) != SQLITE_DONE) status = failed(output, error);
  sqlite3_reset(output->insert);
  sqlite3_clear_bindings(output->insert); /* `data` is the caller's */
  if (status) return status;
  output->row_count++;
  output->pending += size + ROW_OVERHEAD;
  return output->pending > output->transaction_size ? commit(output, error) : TB_OK;
}

/* The log holds all that has not moved to the file yet; what has moved was synced then. */
static tb_status_t sync_log(sqlite_output_t *output, tb_error_t *error)
{
  sqlite3_file *log = NULL;
  if (sqlite3_file_control(output->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) !=
          SQLITE_OK ||
      !log || !log->pMethods)
    return TB_OK; /* no log yet, or none on this file system: every commit is synced then */
  if (log->pMethods->xSync(log, SQLITE_SYNC_FULL) == SQLITE_OK) return TB_OK;
  if (output->doubts) output->doubts->is_unsynced = true;
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s-wal: sync", output->path);
}

static tb_status_t sqlite_flush(tb__bag_output_t *base, bool sync, tb_error_t *error)
{
  sqlite_output_t *output = sqlite_output(base);
  tb_status_t status = commit(output, error);
  return status || !sync ? status : sync_log(output, error);
}

static uint64_t sqlite_size(const tb__bag_output_t *base)
{
  const sqlite_output_t *output = (const sqlite_output_t *)base;
  return output->committed_size + output->pending;
}

/* So that the file is complete by itself, on read-only media too. A reader may hold the log: then
 * it stays, and everything is still readable. */
static void leave_log(sqlite_output_t *output)
{
  sqlite3_busy_timeout(output->database, 0);
  sqlite3_exec(output->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

/* Apart from the messages, which stay if there is no room for this. */
static tb_status_t insert_metadata(sqlite_output_t *output, const char *metadata, tb_error_t *error)
{
  const char *texts[] = {metadata};
  tb_status_t status = begin(output, error);
  if (!status)
    status = insert_texts(output, "INSERT INTO metadata(metadata_version,metadata) VALUES(?,?)", 9,
                          texts, 1, error);
  return status ? status : commit(output, error);
}

static tb_status_t sqlite_close(tb__bag_output_t *base, const tb__bag_output_metadata_t *metadata,
                                tb_error_t *error)
{
  sqlite_output_t *output = sqlite_output(base);
  tb_status_t status = commit(output, error);
  if (!status && metadata) status = insert_metadata(output, metadata->text, error);
  if (status) sqlite3_exec(output->database, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_finalize(output->insert);
  sqlite3_finalize(output->page_count);
  output->insert = output->page_count = NULL;
  leave_log(output);
  destroy(output);
  return status;
}

const tb__bag_output_format_t tb__sqlite_output = {
    .id = "sqlite3",
    .extension = ".db3",
    .create = sqlite_create,
    .add_topic = sqlite_add_topic,
    .write = sqlite_write,
    .flush = sqlite_flush,
    .size = sqlite_size,
    .check = sqlite_check,
    .close = sqlite_close,
};
