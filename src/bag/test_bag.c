#include "bag/test_bag.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

char *tb__test_folder_make(void)
{
  const char *base = getenv("TMPDIR");
  char *folder = NULL;
  assert_true(asprintf(&folder, "%s/timebase-bag-XXXXXX", base ? base : "/tmp") > 0);
  assert_non_null(mkdtemp(folder));
  return folder;
}

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
  (void)info;
  (void)flag;
  (void)walk;
  return remove(path);
}

void tb__test_folder_remove(char *folder)
{
  nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

char *tb__test_path(const char *folder, const char *name)
{
  char *path = NULL;
  assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
  return path;
}

void tb__test_write(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void *tb__test_read(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

void tb__test_db_exec(sqlite3 *database, const char *sql)
{
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", sql, message);
}

sqlite3 *tb__test_db_create(const char *path, int schema)
{
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  if (schema >= 3)
    tb__test_db_exec(database,
                     "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT "
                     "NULL);"
                     "CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT "
                     "NULL, metadata TEXT NOT NULL);");
  if (schema >= 3)
    tb__test_db_exec(database, schema == 3 ? "INSERT INTO schema VALUES (3, 'iron')"
                                           : "INSERT INTO schema VALUES (4, 'jazzy')");
  tb__test_db_exec(database,
                   "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT "
                   "NULL, serialization_format TEXT NOT NULL);"
                   "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
                   "timestamp INTEGER NOT NULL, data BLOB NOT NULL);");
  if (schema >= 2)
    tb__test_db_exec(database,
                     "ALTER TABLE topics ADD offered_qos_profiles TEXT NOT NULL DEFAULT ''");
  if (schema >= 4)
    tb__test_db_exec(database, "ALTER TABLE topics ADD type_description_hash TEXT NOT NULL DEFAULT "
                               "'RIHS01_00';"
                               "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, "
                               "topic_type TEXT NOT NULL, encoding TEXT NOT NULL, "
                               "encoded_message_definition TEXT NOT NULL, type_description_hash "
                               "TEXT NOT NULL)");
  if (schema >= 1)
    tb__test_db_exec(database, "CREATE INDEX timestamp_idx ON messages (timestamp ASC)");
  return database;
}

void tb__test_db_topic(sqlite3 *database, int64_t id, const char *name, const char *type,
                       const char *offers)
{
  char *sql = offers ? sqlite3_mprintf("INSERT INTO topics(id, name, type, serialization_format, "
                                       "offered_qos_profiles) VALUES (%lld, %Q, %Q, 'cdr', %Q)",
                                       (long long)id, name, type, offers)
                     : sqlite3_mprintf("INSERT INTO topics(id, name, type, serialization_format) "
                                       "VALUES (%lld, %Q, %Q, 'cdr')",
                                       (long long)id, name, type);
  tb__test_db_exec(database, sql);
  sqlite3_free(sql);
}

void tb__test_db_message(sqlite3 *database, int64_t topic_id, int64_t time_ns, size_t size)
{
  char *sql = sqlite3_mprintf("INSERT INTO messages(topic_id, timestamp, data) VALUES (%lld, %lld, "
                              "CAST(x'00010000' || zeroblob(%lld) AS BLOB))",
                              (long long)topic_id, (long long)time_ns, (long long)size - 4);
  tb__test_db_exec(database, sql);
  sqlite3_free(sql);
}

void tb__test_db_simple(const char *path, int schema, int count, int64_t start_ns, int64_t step_ns)
{
  sqlite3 *database = tb__test_db_create(path, schema);
  tb__test_db_exec(database, "BEGIN");
  tb__test_db_topic(database, 1, "/a", "std_msgs/msg/String", NULL);
  for (int i = 0; i < count; i++)
    tb__test_db_message(database, 1, start_ns + i * step_ns, 12);
  tb__test_db_exec(database, "COMMIT");
  assert_int_equal(sqlite3_close(database), SQLITE_OK);
}
