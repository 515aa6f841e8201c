/* Tables of messages in sqlite3 whose inner pages are damaged. */
#include <timebase/bag_reader.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_FILE "a.db3"

#include "bag/file_fixture.h"
#include "test.h"

#define PAGE 4096

static uint8_t *bytes;
static size_t size;

static void change_db(const char *sql)
{
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, sql);
  sqlite3_close(database);
}

/* A page for each of `count` messages. */
static void make_db(int count)
{
  unlink(path);
  tb__test_db_simple(path, 1, count, 1000, 1);
  change_db("UPDATE messages SET data = zeroblob(3900); VACUUM;");
}

static uint32_t root_of_messages(void)
{
  sqlite3 *database = NULL;
  sqlite3_stmt *statement = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database,
                                      "SELECT rootpage FROM sqlite_master WHERE name = 'messages'",
                                      -1, &statement, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  uint32_t root = (uint32_t)sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return root;
}

static void load(void)
{
  bytes = tb__test_read(path, &size);
}

static void store(void)
{
  tb__test_write(path, bytes, size);
  free(bytes);
}

/* All inner pages of tables. */
static size_t damage_inner_pages(uint8_t with)
{
  size_t count = 0;
  load();
  for (uint8_t *page = bytes + PAGE; page < bytes + size; page += PAGE) {
    if (page[0] != 5) continue;
    memset(page, with, PAGE);
    count++;
  }
  store();
  return count;
}

/* How many messages are recovered, each once and in order; *failures: to read others. */
static int recover(int *failures)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  int count = 0;
  int64_t last_ns = 0;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  *failures = 0;
  assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
  while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END) {
    if (status) {
      ++*failures;
      continue;
    }
    assert_true(message.log_time_ns > last_ns);
    last_ns = message.log_time_ns;
    assert_int_equal(message.size, 3900);
    count++;
  }
  assert_non_null(tb_bag_reader_info(reader)->damage);
  tb_bag_reader_close(reader);
  return count;
}

/* Those numbers around which a page above has room for all but one. */
static void test_every_number_of_pages(void **state)
{
  (void)state;
  static const int counts[] = {2, 3, 100, 523, 524, 525, 526, 527, 528, 529, 530, 531, 1100};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    int failures;
    make_db(counts[i]);
    assert_true(damage_inner_pages(0) > 0);
    assert_int_equal(recover(&failures), counts[i]);
    assert_int_equal(failures, 0);
  }
}

static void test_pages_that_are_lost_too_are_reported_by_their_ids(void **state)
{
  (void)state;
  int failures, leaves = 0;
  make_db(20);
  damage_inner_pages(0xff);
  load();
  for (uint8_t *page = bytes + PAGE; page < bytes + size; page += PAGE)
    if (page[0] == 13 && page[3] == 0 && page[4] == 1 && page[5] < 2 && ++leaves == 7) page[9] ^= 1;
  store();
  assert_true(leaves >= 20);
  assert_int_equal(recover(&failures), 19);
  assert_int_equal(failures, 1);
}

static void test_one_page_is_enough(void **state)
{
  (void)state;
  int failures, kept = 0;
  make_db(20);
  damage_inner_pages(0);
  load();
  for (uint8_t *page = bytes + PAGE; page < bytes + size; page += PAGE)
    if (page[0] == 13 && page[4] == 1 && page[5] < 2 && kept++ > 0) memset(page, 0, PAGE);
  store();
  assert_int_equal(recover(&failures), 1);
}

/* What was deleted is in pages that the file lists as free. */
static void test_free_pages_are_left_out(void **state)
{
  (void)state;
  int failures;
  make_db(40);
  change_db("DELETE FROM messages WHERE id > 30");
  damage_inner_pages(0);
  assert_int_equal(recover(&failures), 30);
}

/* Its first page is written over, so it must not be a page of something else. */
static void test_a_table_that_is_elsewhere_is_left(void **state)
{
  (void)state;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  make_db(20);
  assert_true(root_of_messages() > 1);
  change_db("PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM "
            "sqlite_master WHERE name = 'topics') WHERE name = 'messages'");
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  if (!tb_bag_reader_open(path, &options, &reader, NULL))
    assert_string_equal(tb_bag_reader_info(reader)->topics[0].name, "/a");
  tb_bag_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_every_number_of_pages),
      TEST(test_pages_that_are_lost_too_are_reported_by_their_ids),
      TEST(test_one_page_is_enough),
      TEST(test_free_pages_are_left_out),
      TEST(test_a_table_that_is_elsewhere_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
