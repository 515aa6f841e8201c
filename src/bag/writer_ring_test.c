/* Recordings that keep their newest files. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#define FIXTURE_FILE "bag"

#include "bag/file_fixture.h"
#include "test.h"

#define S TB_NS_PER_S

static tb_bag_writer_options_t options_of(const char *storage)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.storage_id = storage;
  return options;
}

static tb_bag_writer_t *create(const tb_bag_writer_options_t *options)
{
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  size_t topic;
  const tb_bag_writer_topic_t info = {.name = "/a", .type = "std_msgs/msg/String"};
  if (tb_bag_writer_create(path, options, &writer, &error)) fail_msg("%s", error.text);
  assert_ok(tb_bag_writer_add_topic(writer, &info, &topic, &error));
  return writer;
}

static void put(tb_bag_writer_t *writer, int64_t log_ns)
{
  static const uint8_t data[1000] = {0, 1};
  assert_ok(tb_bag_writer_write(writer, 0, log_ns, -1, data, sizeof data, NULL));
}

static tb_bag_reader_t *read_back(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

/* Files of the folder, without metadata.yaml; bytes of them in *out_size. */
static size_t count_files(uint64_t *out_size)
{
  size_t count = 0;
  DIR *entries = opendir(path);
  assert_non_null(entries);
  *out_size = 0;
  for (struct dirent *entry; (entry = readdir(entries));) {
    struct stat info;
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, "metadata.yaml") == 0) continue;
    assert_int_equal(fstatat(dirfd(entries), entry->d_name, &info, 0), 0);
    *out_size += (uint64_t)info.st_size;
    count++;
  }
  closedir(entries);
  return count;
}

static void keep_two_files(const char *storage)
{
  uint64_t size;
  tb_bag_writer_options_t options = options_of(storage);
  options.max_files = 2;
  tb_bag_writer_t *writer = create(&options);
  for (int i = 0; i < 4; i++) {
    if (i > 0) assert_ok(tb_bag_writer_split(writer, NULL));
    for (int k = 0; k <= i; k++)
      put(writer, 1000 * S + 10 * i + k);
  }
  assert_int_equal(tb_bag_writer_topic_count(writer, 0), 1 + 2 + 3 + 4);
  assert_ok(tb_bag_writer_close(writer, NULL));
  assert_int_equal(count_files(&size), 2);
  tb_bag_reader_t *reader = read_back();
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 2);
  assert_int_equal(info->message_count, 3 + 4);
  assert_int_equal(info->oddity_count, 0);
  assert_int_equal(info->topics[0].message_count, 3 + 4);
  assert_int_equal(info->start_ns, 1000 * S + 20);
  tb_bag_reader_close(reader);
}

static void test_a_number_of_files_of_sqlite3(void **state)
{
  (void)state;
  keep_two_files("sqlite3");
}

static void test_a_number_of_files_of_mcap(void **state)
{
  (void)state;
  keep_two_files("mcap");
}

static void on_split(const char *closed, const char *opened, void *user)
{
  (void)opened;
  *(int *)user += strstr(closed, "/bag_") != NULL;
}

static void test_one_file_alone(void **state)
{
  (void)state;
  uint64_t size;
  int splits = 0;
  tb_bag_writer_options_t options = options_of("mcap");
  options.max_files = 1;
  options.on_split = on_split;
  options.user = &splits;
  tb_bag_writer_t *writer = create(&options);
  for (int i = 0; i < 3; i++) {
    put(writer, 1000 * S + i);
    assert_ok(tb_bag_writer_split(writer, NULL));
    assert_int_equal(count_files(&size), 1);
  }
  assert_int_equal(splits, 3);
  assert_ok(tb_bag_writer_close(writer, NULL));
}

static void test_a_total_size(void **state)
{
  (void)state;
  uint64_t size;
  tb_bag_writer_options_t options = options_of("mcap");
  options.chunk_size = 1000;
  options.max_size = 20000;
  options.max_total_size = 100000;
  tb_bag_writer_t *writer = create(&options);
  for (int i = 0; i < 500; i++) {
    put(writer, 1000 * S + i);
    count_files(&size);
    assert_true(size <= 110000); /* the file that is written ends after its last chunk */
  }
  assert_ok(tb_bag_writer_close(writer, NULL));
  count_files(&size);
  assert_in_range(size, 60000, 110000);
  tb_bag_reader_t *reader = read_back();
  assert_int_equal(tb_bag_reader_info(reader)->end_ns, 1000 * S + 499);
  tb_bag_reader_close(reader);
}

static void test_a_total_duration(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = options_of("sqlite3");
  options.max_duration = (tb_duration_t){10 * S};
  options.max_total_duration = (tb_duration_t){40 * S};
  tb_bag_writer_t *writer = create(&options);
  for (int i = 0; i <= 200; i++)
    put(writer, (1000 + i) * S);
  assert_ok(tb_bag_writer_close(writer, NULL));
  tb_bag_reader_t *reader = read_back();
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->end_ns, 1200 * S);
  assert_true(info->end_ns - info->start_ns >= 30 * S);
  assert_true(info->end_ns - info->start_ns <= 44 * S); /* with the steps between files */
  tb_bag_reader_close(reader);
}

/* Their notes are indexes of files. */
static void test_runs_that_are_removed(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = options_of("sqlite3");
  options.max_files = 3;
  tb_bag_writer_t *writer = create(&options);
  for (int run = 0; run < 5; run++) {
    if (run > 0) assert_ok(tb_bag_writer_begin_run(writer, NULL));
    put(writer, 1000 * S + run);
  }
  assert_ok(tb_bag_writer_split(writer, NULL)); /* the last run has two files */
  put(writer, 2000 * S);
  assert_ok(tb_bag_writer_close(writer, NULL));
  tb_bag_reader_t *reader = read_back();
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 3);
  assert_int_equal(info->run_count, 2);
  assert_int_equal(info->runs[0].file_count, 1);
  assert_int_equal(info->runs[1].file_count, 2);
  tb_bag_reader_close(reader);
}

/* Two runs of two files each, of which others remove the first `removed`. */
static void lose_first_files(size_t removed, const size_t *counts, size_t runs)
{
  tb_bag_writer_options_t options = options_of("sqlite3");
  tb_error_t error = TB_ERROR_INIT;
  options.max_files = 9;
  tb_bag_writer_t *writer = create(&options);
  for (int i = 0; i < 4; i++) {
    if (i == 2) assert_ok(tb_bag_writer_begin_run(writer, NULL));
    if (i % 2 == 1) assert_ok(tb_bag_writer_split(writer, NULL));
    put(writer, 1000 * S + i);
  }
  for (size_t i = 0; i < removed; i++) {
    char *file = NULL;
    assert_true(asprintf(&file, "%s/bag_%zu.db3", path, i) > 0);
    assert_int_equal(unlink(file), 0);
    free(file);
  }
  assert_status(tb_bag_writer_close(writer, &error), TB_ERR_NOT_FOUND);
  tb_bag_reader_t *reader = read_back();
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 4 - removed);
  assert_int_equal(info->message_count, 4 - removed);
  assert_int_equal(info->run_count, runs);
  for (size_t i = 0; i < runs; i++)
    assert_int_equal(info->runs[i].file_count, counts[i]);
  tb_bag_reader_close(reader);
}

static void test_a_file_that_others_removed(void **state)
{
  (void)state;
  lose_first_files(1, (const size_t[]){1, 2}, 2);
}

static void test_a_run_that_others_removed(void **state)
{
  (void)state;
  lose_first_files(2, (const size_t[]){2}, 1);
}

/* Its files are beside it. */
static void test_files_of_ros1(void **state)
{
  (void)state;
  const tb_bag_writer_topic_t info = {
      .name = "/a", .type = "std_msgs/String", .serialization_format = "ros1"};
  static const uint8_t data[8];
  tb_bag_writer_options_t options = options_of("rosbag1");
  tb_bag_writer_t *writer = NULL;
  size_t topic;
  options.max_files = 2;
  options.max_size = 1000000; /* so that files are numbered */
  assert_ok(tb_bag_writer_create(path, &options, &writer, NULL));
  assert_ok(tb_bag_writer_add_topic(writer, &info, &topic, NULL));
  for (int i = 0; i < 4; i++) {
    if (i > 0) assert_ok(tb_bag_writer_split(writer, NULL));
    assert_ok(tb_bag_writer_write(writer, topic, 1000 * S + i, -1, data, sizeof data, NULL));
  }
  assert_ok(tb_bag_writer_close(writer, NULL));
  for (int i = 0; i < 4; i++) {
    char *file = NULL;
    assert_true(asprintf(&file, "%s_%d.bag", path, i) > 0);
    assert_int_equal(access(file, F_OK), i < 2 ? -1 : 0);
    free(file);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_number_of_files_of_sqlite3, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(test_a_number_of_files_of_mcap, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_one_file_alone, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_total_size, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_total_duration, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_runs_that_are_removed, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_file_that_others_removed, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_run_that_others_removed, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_files_of_ros1, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
