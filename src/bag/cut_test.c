/* Files that another process cuts or removes while they are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "bag/writer.h"
#include "seed.h"
#include "test.h"

#define ROUNDS   60
#define MESSAGES 700

typedef enum harm {
  CUT_FILE,
  CUT_LOG,
  REMOVE_LOG,
  CUT_AND_GROW, /* as if it had been written to before the check */
  CUT_AT_THE_END,
  REPLACE,
  HARMS
} harm_t;

static const char *const harm_names[] = {
    "cut", "log cut", "log removed", "cut and grown", "cut at the end", "replaced",
};

static char *folder, *bag;
static const char *storage_id;
static uint64_t random_state;

static int make_folder(void **state)
{
  storage_id = *state;
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  folder = tb__test_folder_make();
  unsetenv("TMPDIR");
  bag = tb__test_path(folder, "bag");
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  free(bag);
  tb__test_folder_remove(folder);
  return 0;
}

static uint64_t count_messages(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  uint64_t count = 0;
  const tb_bag_reader_options_t options = {.damage = TB_BAG_DAMAGE_SALVAGE};
  if (tb_bag_reader_open(bag, &options, &reader, NULL)) return 0;
  while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END)
    if (!status) count++;
  tb_bag_reader_close(reader);
  return count;
}

static off_t size_of(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 ? info.st_size : 0;
}

static void copy_over(const char *path)
{
  size_t size = 0;
  char copy[310];
  void *bytes = tb__test_read(path, &size);
  snprintf(copy, sizeof copy, "%s.copy", path);
  tb__test_write(copy, bytes, size / 2);
  assert_int_equal(rename(copy, path), 0);
  free(bytes);
}

static bool harm_file(harm_t harm, int file_number)
{
  char path[300], log[310];
  bool is_mcap = strcmp(storage_id, "mcap") == 0;
  snprintf(path, sizeof path, "%s/bag_%d.%s", bag, file_number, is_mcap ? "mcap" : "db3");
  snprintf(log, sizeof log, "%s-wal", path);
  bool is_of_log = harm == CUT_LOG || harm == REMOVE_LOG;
  const char *victim = is_of_log ? log : path;
  off_t size = size_of(victim);
  if (size == 0) return false;
  off_t left = (off_t)(test_random(&random_state) % (uint64_t)size);
  if (harm == REMOVE_LOG)
    assert_int_equal(unlink(log), 0);
  else if (harm == REPLACE)
    copy_over(path);
  else
    assert_int_equal(truncate(victim, left), 0);
  if (harm == CUT_AND_GROW) assert_int_equal(truncate(victim, size), 0);
  return true;
}

static tb_bag_writer_t *create(void)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  const tb_bag_writer_topic_t topics[] = {{.name = "/a", .type = "t"}, {.name = "/b", .type = "u"}};
  options.storage_id = storage_id;
  options.chunk_size = 30000;
  assert_ok(tb_bag_writer_create(bag, &options, &writer, NULL));
  for (size_t i = 0, index; i < 2; i++)
    assert_ok(tb_bag_writer_add_topic(writer, &topics[i], &index, NULL));
  return writer;
}

/* With another file where one has failed, as the recorder. Returns the first failure. */
static tb_status_t write_one(tb_bag_writer_t *writer, int number)
{
  static uint8_t data[12000] = {0, 1};
  tb_status_t status = tb_bag_writer_write(writer, (size_t)number % 2, TB_NS_PER_S + number, 1,
                                           data, (size_t)(number % 7) * 1900 + 20, NULL);
  if (!status && number % 40 == 39) status = tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL);
  if (status) tb_bag_writer_split(writer, NULL);
  return status;
}

typedef struct outcome {
  uint64_t recorded;
  tb_status_t status;
  bool was_harmed;
} outcome_t;

static outcome_t run(harm_t harm)
{
  outcome_t outcome = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_info_t info;
  tb_bag_writer_t *writer = create();
  int when = (int)(test_random(&random_state) % MESSAGES);
  for (int i = 0; i < MESSAGES; i++) {
    if (i == when && harm != CUT_AT_THE_END && harm != HARMS)
      outcome.was_harmed = harm_file(harm, 0);
    tb_status_t status = write_one(writer, i);
    if (!outcome.status) outcome.status = status;
  }
  if (harm == CUT_AT_THE_END) outcome.was_harmed = harm_file(harm, 0);
  tb_status_t status = tb__bag_writer_finish(writer, &error);
  if (!outcome.status) outcome.status = status;
  tb_bag_writer_get_info(writer, &info);
  outcome.recorded = info.message_count;
  assert_int_equal(tb_bag_writer_topic_count(writer, 0) + tb_bag_writer_topic_count(writer, 1),
                   info.message_count);
  tb__bag_writer_free(writer);
  return outcome;
}

static void check_round(harm_t harm)
{
  outcome_t outcome = run(harm);
  uint64_t found = count_messages();
  if (outcome.recorded > found)
    fail_msg("%s: %llu recorded, but %llu are there", harm_names[harm],
             (unsigned long long)outcome.recorded, (unsigned long long)found);
  if (outcome.recorded < MESSAGES && outcome.status == TB_OK)
    fail_msg("%s: %llu recorded of %d, and no failure", harm_names[harm],
             (unsigned long long)outcome.recorded, MESSAGES);
  if (found < outcome.recorded || (!outcome.was_harmed && outcome.recorded != MESSAGES))
    fail_msg("%s: nothing was done, and %llu are recorded", harm_names[harm],
             (unsigned long long)outcome.recorded);
  char *path = strdup(bag);
  tb__test_folder_remove(path);
}

static void test_what_was_cut_is_lost_and_reported(void **state)
{
  (void)state;
  random_state = test_seed();
  for (int round = 0; round < ROUNDS; round++)
    check_round((harm_t)(round % HARMS));
}

/* A reader that moves the log into the file removes nothing. */
static void test_a_checkpoint_by_another_is_no_loss(void **state)
{
  (void)state;
  char path[300];
  sqlite3 *other = NULL;
  tb_bag_writer_t *writer = create();
  for (int i = 0; i < 400; i++)
    assert_ok(write_one(writer, i));
  assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL));
  snprintf(path, sizeof path, "%s/bag_0.db3", bag);
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  tb__test_db_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_close(other);
  for (int i = 400; i < MESSAGES; i++)
    assert_ok(write_one(writer, i));
  assert_ok(tb_bag_writer_close(writer, NULL));
  assert_int_equal(count_messages(), MESSAGES);
}

static char mcap[] = "mcap", sqlite[] = "sqlite3";
#define TEST(name, storage)                                                                        \
  cmocka_unit_test_prestate_setup_teardown(name, make_folder, remove_folder, storage)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_what_was_cut_is_lost_and_reported, mcap),
      TEST(test_what_was_cut_is_lost_and_reported, sqlite),
      TEST(test_a_checkpoint_by_another_is_no_loss, sqlite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
