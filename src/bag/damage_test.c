/* Files as crashes, bad disks and other programs leave them: errors, never a crash or a hang. */
#include <timebase/bag_reader.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIXTURE_FILE "a.db3"

#include "bag/file_fixture.h"
#include "seed.h"
#include "test.h"

#define ROWS 200

static void change_db(const char *sql)
{
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, sql);
  sqlite3_close(database);
}

typedef struct outcome {
  size_t good;
  size_t bad;
} outcome_t;

/* Reads every byte; a failure has a text and leaves the message alone. */
static outcome_t read_all(tb_bag_reader_t *reader)
{
  outcome_t outcome = {0, 0};
  unsigned sum = 0;
  for (size_t calls = 0;; calls++) {
    assert_true(calls < 10 * ROWS);
    tb_bag_message_t message = {.row_id = -77};
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) break;
    if (status) {
      assert_int_equal(message.row_id, -77);
      assert_non_null(strstr(error.text, "a.db3"));
      outcome.bad++;
      continue;
    }
    for (size_t i = 0; i < message.size; i++)
      sum += message.data[i];
    outcome.good++;
  }
  assert_true(sum < UINT32_MAX);
  return outcome;
}

static void assert_survives(void)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.counts = TB_BAG_COUNTS_EXACT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, &options, &reader, &error)) {
    assert_null(reader);
    assert_true(error.text[0]);
    return;
  }
  read_all(reader);
  assert_ok(tb_bag_reader_seek(reader, 50));
  read_all(reader);
  tb_bag_reader_close(reader);
}

static void test_truncated_at_many_sizes(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, ROWS, 0, 1);
  size_t size = 0;
  uint8_t *bytes = tb__test_read(path, &size);
  for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 509) {
    tb__test_write(path, bytes, cut);
    tb_bag_reader_t *reader = NULL;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_bag_reader_open(path, NULL, &reader, &error), TB_ERR_TRUNCATED);
    assert_non_null(strstr(error.text, path));
  }
  free(bytes);
}

static void test_random_flips(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  tb__test_db_simple(path, 4, ROWS, 0, 1);
  size_t size = 0;
  uint8_t *bytes = tb__test_read(path, &size);
  for (int round = 0; round < 300; round++) {
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    size_t flips = 1 + test_random(&seed) % 16;
    for (size_t i = 0; i < flips; i++) {
      uint64_t random = test_random(&seed);
      copy[random % size] ^= (uint8_t)(1 + (random >> 32) % 255);
    }
    tb__test_write(path, copy, size);
    free(copy);
    assert_survives();
  }
  free(bytes);
}

static void test_bad_rows_do_not_lose_the_others(void **state)
{
  (void)state;
  tb__test_db_simple(path, 1, 10, 100, 1);
  /* Constraints as an older or foreign writer may have left them out. */
  change_db(
      "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp,"
      "data); CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
      "INSERT INTO messages VALUES (1, 1, 10, x'00010000'), (2, 1, 11, NULL),"
      "(3, 1, 12, x''), (4, 1, 13, x'000100'), (5, 1, 14, 'text'), (6, 99, 15, x'00010000'),"
      "(7, NULL, 16, x'00010000'), (8, 1, NULL, x'00010000'), (9, 1, 'x', x'00010000'),"
      "(10, 1, -3, x'00010000'), (11, 1, 17.5, x'00010000'), (12, 1, 18, x'00010000')");
  static const struct {
    tb_status_t status;
    const char *text;
  } expected[] = {{TB_ERR_CORRUPT, "row 8: its time is not"},
                  {TB_ERR_CORRUPT, "row 10: its time is negative"},
                  {TB_OK, ""},
                  {TB_ERR_CORRUPT, "row 2: it has no payload"},
                  {TB_ERR_TRUNCATED, "row 3: "},
                  {TB_ERR_TRUNCATED, "row 4: "},
                  {TB_ERR_CORRUPT, "row 5: payload is not a blob"},
                  {TB_ERR_CORRUPT, "row 6: its topic id"},
                  {TB_ERR_CORRUPT, "row 7: topic id is not"},
                  {TB_ERR_CORRUPT, "row 11: its time is not"},
                  {TB_OK, ""},
                  {TB_ERR_CORRUPT, "row 9: its time is not"},
                  {TB_ERR_END, ""}};
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 12);
  assert_int_equal(tb_bag_reader_info(reader)->start_ns, 10);
  assert_int_equal(tb_bag_reader_info(reader)->end_ns, 18);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    tb_bag_message_t message;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_bag_reader_next(reader, &message, &error), expected[i].status);
    if (!strstr(error.text, expected[i].text))
      fail_msg("\"%s\" does not say \"%s\"", error.text, expected[i].text);
  }
  tb_bag_reader_close(reader);
}

/* The payload's overflow page is gone, the index is whole. */
static void test_a_damaged_payload_page_costs_its_row(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 0, 0, 0);
  change_db("INSERT INTO messages VALUES (1, 1, 1, x'00010000'), (2, 1, 2, zeroblob(20000)),"
            "(3, 1, 3, x'00010000')");
  size_t size = 0;
  uint8_t *bytes = tb__test_read(path, &size);
  /* The last pages are the overflow chain; each begins with the number of the next one. */
  for (size_t at = size - 4 * 4096; at < size; at += 4096)
    memset(bytes + at, 0xff, 4);
  tb__test_write(path, bytes, size);
  free(bytes);
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_status(tb_bag_reader_next(reader, &message, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "row 2"));
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.row_id, 3);
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

/* An index page that two parents' cells lead to would give its rows again and again. */
static void test_an_index_that_gives_rows_twice_is_left(void **state)
{
  (void)state;
  tb__test_db_simple(path, 1, 3000, 0, 1);
  size_t size = 0;
  uint8_t *bytes = tb__test_read(path, &size);
  size_t interiors = 0;
  for (uint8_t *page = bytes + 4096; page < bytes + size; page += 4096) {
    if (page[0] != 2 || page[4] < 2) continue; /* interior page of an index, two cells or more */
    uint8_t *first = page + (page[12] << 8 | page[13]);
    uint8_t *second = page + (page[14] << 8 | page[15]);
    memcpy(second, first, 4); /* the child of the second cell is that of the first */
    interiors++;
  }
  assert_true(interiors > 0);
  tb__test_write(path, bytes, size);
  free(bytes);
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  size_t count = 0;
  assert_status(tb_bag_reader_next(reader, &message, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "index of times cannot be read (it does not have all rows)"));
  while (tb_bag_reader_next(reader, &message, &error) == TB_OK)
    count++;
  assert_int_equal(count, 3000);
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

/* The index has one row less than the table, and nothing in either shows it. */
static void test_rows_that_the_index_lacks_are_read(void **state)
{
  (void)state;
  tb__test_db_simple(path, 1, 50, 1000, 1);
  change_db("PRAGMA writable_schema = 1;"
            "UPDATE sqlite_master SET sql = 'CREATE INDEX timestamp_idx ON messages (timestamp ASC)"
            " WHERE id < 40' WHERE name = 'timestamp_idx'");
  change_db("INSERT INTO messages VALUES (51, 1, 1050, x'00010000')");
  change_db("PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = "
            "'CREATE INDEX timestamp_idx ON messages (timestamp ASC)' WHERE name = "
            "'timestamp_idx'");
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 51);
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_reader_next(reader, &message, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "it does not have all rows"));
  for (int i = 0; i < 51; i++)
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

static void test_extreme_ids_are_recovered(void **state)
{
  (void)state;
  tb__test_db_simple(path, 1, 3, 1000, 1);
  change_db("INSERT INTO messages SELECT column1, 1, 5, x'00010000' FROM "
            "(VALUES (-9223372036854775808), (9223372036854775807), (0), (-7))");
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
  tb_bag_message_t message;
  for (int i = 0; i < 7; i++)
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

/* Reads what comes at `time_ns` and later; in order. */
static outcome_t read_from(tb_bag_reader_t *reader, int64_t time_ns)
{
  outcome_t outcome = {0, 0};
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status;
  assert_ok(tb_bag_reader_seek(reader, time_ns));
  for (; (status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END; time_ns++) {
    if (status == TB_OK) {
      assert_int_equal(message.log_time_ns, time_ns);
      outcome.good++;
      continue;
    }
    assert_status(status, TB_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "index of times"));
    outcome.bad++;
    time_ns--;
  }
  return outcome;
}

/* Each page of the index in turn: the messages are in the table, and all of them are read. */
static void test_a_damaged_index_costs_nothing(void **state)
{
  (void)state;
  tb__test_db_simple(path, 1, 3000, 0, 1);
  size_t size = 0, pages = 0;
  uint8_t *bytes = tb__test_read(path, &size);
  for (size_t at = 4096; at < size; at += 4096) {
    uint8_t kept[4096];
    if (bytes[at] != 2 && bytes[at] != 10) continue; /* no page of an index */
    pages++;
    memcpy(kept, bytes + at, sizeof kept);
    memset(bytes + at, 0xff, sizeof kept);
    tb__test_write(path, bytes, size);
    memcpy(bytes + at, kept, sizeof kept);
    for (int content = TB_BAG_CONTENT_ALL; content <= TB_BAG_CONTENT_TIMES; content++) {
      tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
      options.content = (tb_bag_content_t)content;
      tb_bag_reader_t *reader = NULL;
      assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
      assert_int_equal(tb_bag_reader_info(reader)->message_count, 3000);
      for (int64_t from_ns = 0; from_ns < 3000; from_ns += 999) {
        outcome_t outcome = read_from(reader, from_ns);
        assert_int_equal(outcome.good, 3000 - from_ns);
        assert_int_equal(outcome.bad, 1);
      }
      tb_bag_reader_close(reader);
    }
  }
  assert_true(pages > 3);
  free(bytes);
}

static size_t open_and_count(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  outcome_t outcome = read_all(reader);
  tb_bag_reader_close(reader);
  assert_int_equal(outcome.bad, 0);
  return outcome.good;
}

static bool exists_beside(const char *suffix)
{
  char *name = NULL;
  assert_true(asprintf(&name, "%s%s", path, suffix) > 0);
  bool exists = access(name, F_OK) == 0;
  free(name);
  return exists;
}

static void copy_beside(const char *suffix, const char *target)
{
  char *from = NULL;
  char *to = NULL;
  assert_true(asprintf(&from, "%s%s", path, suffix) > 0);
  assert_true(asprintf(&to, "%s%s", target, suffix) > 0);
  size_t size = 0;
  void *bytes = tb__test_read(from, &size);
  tb__test_write(to, bytes, size);
  free(bytes);
  free(from);
  free(to);
}

/* What a recorder that died leaves: messages that are in the log only. `path` becomes the copy. */
static void leave_with_log(void)
{
  tb__test_db_simple(path, 4, 3, 0, 1);
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                             "INSERT INTO messages VALUES (50, 1, 9, x'00010000')");
  char *copy = tb__test_path(folder, "copy-a.db3");
  copy_beside("", copy);
  copy_beside("-wal", copy);
  sqlite3_close(database);
  free(path);
  path = copy;
}

static void make_numbered(void)
{
  tb__test_db_simple(path, 4, 0, 0, 0);
  change_db("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT "
            "INTO messages SELECT i, 1, i, CAST(x'00010000' || printf('%04d', i) AS BLOB) FROM n");
}

/* Row `id`, of two bytes, is called `other` in the table, and is said to be of `size` bytes. */
static void change_row(int id, int other, uint8_t size)
{
  const uint8_t cell[] = {(uint8_t)(0x80 | id >> 7), (uint8_t)(id & 0x7f), 5, 0};
  size_t file_size = 0;
  uint8_t *bytes = tb__test_read(path, &file_size);
  uint8_t *found = memmem(bytes, file_size, cell, sizeof cell);
  assert_non_null(found);
  found[0] = (uint8_t)(0x80 | other >> 7);
  found[1] = (uint8_t)(other & 0x7f);
  if (size) found[-1] = size;
  tb__test_write(path, bytes, file_size);
  free(bytes);
}

/* Each good one has its own payload. */
static outcome_t salvage_numbered(void)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  outcome_t outcome = {0, 0};
  assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
  while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END) {
    char number[8] = "";
    if (status == TB_OK) memcpy(number, message.data + 4, 4);
    if (status == TB_OK) assert_int_equal(strtol(number, NULL, 10), message.log_time_ns);
    outcome.good += status == TB_OK;
    outcome.bad += status != TB_OK;
  }
  tb_bag_reader_close(reader);
  return outcome;
}

/* One bit of a row's id costs that row and few beside it, and gives it no other row's payload. */
static void test_an_id_that_is_too_large_hides_no_rows(void **state)
{
  (void)state;
  make_numbered();
  change_row(300, 300 + 512, 0);
  outcome_t outcome = salvage_numbered();
  assert_in_range(outcome.good, 990, 999);
  assert_int_equal(outcome.good + outcome.bad, 1000);
}

/* Nor where nothing can be read after it. */
static void test_an_id_before_a_gap_hides_no_rows(void **state)
{
  (void)state;
  make_numbered();
  change_row(300, 0x3fff, 0);
  change_row(301, 301, 0xff);
  outcome_t outcome = salvage_numbered();
  assert_in_range(outcome.good, 850, 999); /* all but one page */
  assert_true(outcome.bad > 0);
}

static void test_a_write_ahead_log_is_read(void **state)
{
  (void)state;
  leave_with_log();
  assert_true(exists_beside("-wal"));
  assert_int_equal(open_and_count(), 4);
  assert_int_equal(open_and_count(), 4);
}

/* *out_damage is to be freed. */
static outcome_t salvage_all(char **out_damage)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
  const char *damage = tb_bag_reader_info(reader)->damage;
  *out_damage = damage ? strdup(damage) : NULL;
  outcome_t outcome = read_all(reader);
  tb_bag_reader_close(reader);
  return outcome;
}

/* All are recovered, and nothing is reported. */
static void assert_salvaged(size_t count)
{
  char *damage;
  outcome_t outcome = salvage_all(&damage);
  assert_null(damage);
  assert_int_equal(outcome.good, count);
  assert_int_equal(outcome.bad, 0);
}

/* A link in its place keeps SQLite from making -shm, as a read-only medium does. */
static void test_a_log_is_read_where_nothing_can_be_made_beside_it(void **state)
{
  (void)state;
  leave_with_log();
  char *shm = NULL;
  assert_true(asprintf(&shm, "%s-shm", path) > 0);
  assert_int_equal(symlink("nowhere", shm), 0);
  assert_int_equal(open_and_count(), 4);
  assert_salvaged(4);
  assert_true(exists_beside("-wal"));
  free(shm);
}

/* Something has that -shm, so it may be a writer. */
static void test_a_log_that_cannot_be_read_is_not_passed_over(void **state)
{
  (void)state;
  leave_with_log();
  char *shm = NULL;
  assert_true(asprintf(&shm, "%s-shm", path) > 0);
  assert_int_equal(mknod(shm, S_IFSOCK | 0600, 0), 0); /* cannot be opened */
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_reader_open(path, NULL, &reader, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "(-wal)"));
  char *damage;
  assert_int_equal(salvage_all(&damage).good, 3);
  assert_non_null(damage);
  assert_non_null(strstr(damage, "(-wal)"));
  free(damage);
  free(shm);
}

/* Tables as no recorder makes them, but other programs do: all of it is read and recovered. */
static void test_ids_that_are_no_numbers_of_rows(void **state)
{
  (void)state;
  static const char *const columns[] = {"id INTEGER", "id TEXT PRIMARY KEY",
                                        "id INTEGER PRIMARY KEY DESC", "id INT UNIQUE"};
  static const char *const ids[] = {"NULL", "'m' || i", "i", "-i"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    for (int indexed = 0; indexed < 2; indexed++) {
      char sql[600];
      unlink(path);
      tb__test_db_simple(path, 4, 0, 0, 0);
      snprintf(sql, sizeof sql,
               "DROP TABLE messages; CREATE TABLE messages(%s, topic_id INTEGER, timestamp "
               "INTEGER, data BLOB); %s WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
               "FROM n WHERE i < 100) INSERT INTO messages SELECT %s, 1, 1 + i / 2, "
               "CAST(x'00010000' || 'a' AS BLOB) FROM n",
               columns[i], indexed ? "CREATE INDEX timestamp_idx ON messages (timestamp);" : "",
               ids[i]);
      change_db(sql);
      assert_int_equal(open_and_count(), 100);
      assert_salvaged(100);
    }
}

/* A table that has lost its pages, of which its index knows. */
static void test_rows_that_only_the_index_has_are_lost(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 30, 0, 1);
  change_db("PRAGMA writable_schema = ON; CREATE TABLE empty(a); UPDATE sqlite_master SET rootpage "
            "= (SELECT rootpage FROM sqlite_master WHERE name = 'empty') WHERE name = 'messages'");
  char *damage;
  assert_int_equal(salvage_all(&damage).good, 0);
  assert_non_null(damage);
  assert_non_null(strstr(damage, "30 of 30 rows"));
  free(damage);
}

static void test_wal_mode_without_log_leaves_nothing_behind(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 3, 0, 1);
  change_db("PRAGMA journal_mode = WAL");
  assert_false(exists_beside("-wal"));
  assert_int_equal(open_and_count(), 3);
  assert_false(exists_beside("-wal"));
  assert_false(exists_beside("-shm"));
}

static void test_a_hot_journal_is_refused(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 3, 0, 1);
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, "PRAGMA cache_size = 1; BEGIN; UPDATE messages SET timestamp = 7;"
                             "INSERT INTO messages VALUES (50, 1, 9, zeroblob(100000))");
  char *copy = tb__test_path(folder, "copy-a.db3");
  copy_beside("", copy);
  copy_beside("-journal", copy);
  sqlite3_close(database);
  free(path);
  path = copy;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_reader_open(path, NULL, &reader, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "(-journal)"));
}

static void test_a_bag_that_may_not_be_written(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 3, 0, 1);
  assert_int_equal(chmod(path, 0400), 0);
  assert_int_equal(chmod(folder, 0500), 0);
  size_t count = open_and_count();
  chmod(folder, 0700);
  assert_int_equal(count, 3);
}

/* In place of time that passes while SQLite waits for a lock. */
static struct {
  sqlite3 *writer;
  unsigned naps, naps_of_writer;
} held;

static int nap(sqlite3_vfs *vfs, int microseconds)
{
  (void)vfs;
  if (++held.naps == held.naps_of_writer) tb__test_db_exec(held.writer, "COMMIT");
  return microseconds;
}

/* Opens the bag while a writer has it locked, for so many naps. */
static tb_status_t open_locked(unsigned naps_of_writer, tb_bag_reader_t **reader, tb_error_t *error)
{
  static sqlite3_vfs held_time; /* the reader keeps it */
  sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
  held_time = *usual;
  held_time.zName = "held-time";
  held_time.xSleep = nap;
  assert_int_equal(sqlite3_open(path, &held.writer), SQLITE_OK);
  tb__test_db_exec(held.writer, "BEGIN EXCLUSIVE");
  held.naps = 0;
  held.naps_of_writer = naps_of_writer;
  sqlite3_vfs_register(&held_time, 1);
  tb_status_t status = tb_bag_reader_open(path, NULL, reader, error);
  sqlite3_vfs_register(usual, 1);
  sqlite3_vfs_unregister(&held_time);
  sqlite3_close(held.writer);
  return status;
}

static void test_locked_by_a_writer(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 3, 0, 1);
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(open_locked(UINT_MAX, &reader, &error), TB_ERR_BUSY);
  assert_non_null(strstr(error.text, "locked by another program; try again"));
  assert_true(held.naps > 10);
  assert_int_equal(open_and_count(), 3);
}

static void test_a_writer_that_commits_is_waited_for(void **state)
{
  (void)state;
  tb__test_db_simple(path, 4, 3, 0, 1);
  tb_bag_reader_t *reader = NULL;
  assert_status(open_locked(5, &reader, NULL), TB_OK);
  assert_int_equal(held.naps, 5);
  tb_bag_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_truncated_at_many_sizes),
      TEST(test_random_flips),
      TEST(test_bad_rows_do_not_lose_the_others),
      TEST(test_a_damaged_payload_page_costs_its_row),
      TEST(test_an_index_that_gives_rows_twice_is_left),
      TEST(test_rows_that_the_index_lacks_are_read),
      TEST(test_extreme_ids_are_recovered),
      TEST(test_a_damaged_index_costs_nothing),
      TEST(test_an_id_that_is_too_large_hides_no_rows),
      TEST(test_an_id_before_a_gap_hides_no_rows),
      TEST(test_a_write_ahead_log_is_read),
      TEST(test_a_log_is_read_where_nothing_can_be_made_beside_it),
      TEST(test_a_log_that_cannot_be_read_is_not_passed_over),
      TEST(test_ids_that_are_no_numbers_of_rows),
      TEST(test_rows_that_only_the_index_has_are_lost),
      TEST(test_wal_mode_without_log_leaves_nothing_behind),
      TEST(test_a_hot_journal_is_refused),
      TEST(test_a_bag_that_may_not_be_written),
      TEST(test_locked_by_a_writer),
      TEST(test_a_writer_that_commits_is_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
