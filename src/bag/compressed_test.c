/* Bags that are compressed, several at once, damaged ones, and random damage. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "bag/zstd_codec.h"
#include "seed.h"
#include "test.h"

#define MESSAGES 300

static char *folder;
static char *path;
static char *temporary; /* TMPDIR of the test */
static const char *storage_id = "sqlite3";
static const char *first_name = "bag_0.db3";

static int make_folder(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "bag");
  temporary = tb__test_path(folder, "tmp");
  assert_int_equal(mkdir(temporary, 0700), 0);
  setenv("TMPDIR", temporary, 1);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unsetenv("TMPDIR");
  free(path);
  free(temporary);
  tb__test_folder_remove(folder);
  return 0;
}

static size_t payload(uint8_t *out, int number)
{
  size_t size = 4 + (size_t)(number * 53 % 900);
  for (size_t i = 0; i < size; i++)
    out[i] = i < 4 ? (uint8_t[]){0, 1, 0, 0}[i] : (uint8_t)(number + (int)(i / 100));
  return size;
}

/* Messages from `from` on, each `step` ns after the one before. */
static void write_bag(const char *at, const tb_bag_writer_options_t *options, int from, int step)
{
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_options_t chosen = TB_BAG_WRITER_OPTIONS_INIT;
  if (options) chosen = *options;
  chosen.storage_id = storage_id;
  chosen.chunk_size = 4000;
  if (tb_bag_writer_create(at, &chosen, &writer, &error)) fail_msg("%s", error.text);
  const tb_bag_writer_topic_t topic = {
      .name = "/a", .type = "t", .definition = "int8 x", .definition_encoding = "ros2msg"};
  size_t index;
  assert_ok(tb_bag_writer_add_topic(writer, &topic, &index, NULL));
  for (int i = 0; i < MESSAGES; i++) {
    uint8_t data[1024];
    size_t size = payload(data, from + i * step);
    if (tb_bag_writer_write(writer, index, from + i * step, 0, data, size, &error))
      fail_msg("%s", error.text);
  }
  if (tb_bag_writer_close(writer, &error)) fail_msg("%s", error.text);
}

static tb_bag_reader_t *open_with(const char *at, const tb_bag_reader_options_t *options)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(at, options, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

static int read_extra_records(tb_bag_reader_t *reader)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status;
  int count = 0;
  for (; !(status = tb_bag_reader_next(reader, &message, &error)); count++) {
    uint8_t data[1024];
    size_t size = payload(data, (int)message.log_time_ns);
    assert_int_equal(message.size, size);
    assert_memory_equal(message.data, data, size);
  }
  if (status != TB_ERR_END) fail_msg("%s", error.text);
  return count;
}

static int entries(const char *at)
{
  int count = 0;
  DIR *directory = opendir(at);
  assert_non_null(directory);
  for (struct dirent *entry; (entry = readdir(directory));)
    count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

static void assert_file(const char *name, bool expected)
{
  char *at = tb__test_path(path, name);
  if ((access(at, F_OK) == 0) != expected) fail_msg("%s: %s", name, expected ? "missing" : "there");
  free(at);
}

static void test_compressed_messages(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_MESSAGES;
  write_bag(path, &options, 0, 1);
  tb_bag_reader_t *reader = open_with(path, NULL);
  assert_int_equal(tb_bag_reader_info(reader)->compression, TB_BAG_COMPRESSION_MESSAGES);
  assert_string_equal(tb_bag_reader_info(reader)->compression_format, "zstd");
  assert_string_equal(tb_bag_reader_info(reader)->topics[0].definition, "int8 x");
  assert_int_equal(read_extra_records(reader), MESSAGES);
  tb_bag_reader_close(reader);
  char *file = tb__test_path(path, first_name); /* by itself: its own metadata decides */
  reader = open_with(file, NULL);
  assert_int_equal(tb_bag_reader_info(reader)->compression, TB_BAG_COMPRESSION_MESSAGES);
  assert_int_equal(read_extra_records(reader), MESSAGES);
  tb_bag_reader_close(reader);
  free(file);
}

static void write_compressed_files(void)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  options.max_duration.ns = 99;
  write_bag(path, &options, 0, 1);
}

static void test_compressed_files(void **state)
{
  (void)state;
  write_compressed_files();
  assert_file("bag_0.db3.zstd", true);
  assert_file("bag_2.db3.zstd", true);
  assert_file("bag_0.db3", false);
  assert_int_equal(entries(path), 4);
  tb_bag_reader_t *reader = open_with(path, NULL);
  assert_int_equal(tb_bag_reader_info(reader)->compression, TB_BAG_COMPRESSION_FILES);
  assert_int_equal(tb_bag_reader_info(reader)->file_count, 3);
  assert_int_equal(entries(temporary), 0); /* nothing has a name while it is read */
  assert_int_equal(read_extra_records(reader), MESSAGES);
  assert_ok(tb_bag_reader_seek(reader, 150));
  assert_int_equal(read_extra_records(reader), MESSAGES - 150);
  assert_int_equal(entries(temporary), 0);
  tb_bag_reader_close(reader);
}

/* Left by a recorder that was killed: listed as compressed, and not yet; and without metadata. */
static void test_files_that_were_not_yet_compressed(void **state)
{
  (void)state;
  write_compressed_files();
  char *packed = tb__test_path(path, "bag_2.db3.zstd");
  char *plain = tb__test_path(path, "bag_2.db3");
  FILE *out = fopen(plain, "wb");
  assert_non_null(out);
  assert_ok(tb__zstd_decompress_file(packed, fileno(out), plain, UINT64_MAX, NULL));
  fclose(out);
  char *metadata = tb__test_path(path, "metadata.yaml");
  unlink(metadata); /* both twins are there */
  tb_bag_reader_t *reader = open_with(path, NULL);
  assert_int_equal(read_extra_records(reader), MESSAGES);
  tb_bag_reader_close(reader);
  static const char text[] = "version: 9\nstorage_identifier: sqlite3\ncompression_mode: FILE\n"
                             "compression_format: zstd\n"
                             "relative_file_paths: [bag_0.db3, bag_1.db3.zstd, bag_2.db3.zstd]\n";
  tb__test_write(metadata, text, strlen(text));
  unlink(packed);
  reader = open_with(path, NULL);
  assert_int_equal(read_extra_records(reader), MESSAGES);
  tb_bag_reader_close(reader);
  free(metadata);
  free(packed);
  free(plain);
}

static void test_several_bags_at_once(void **state)
{
  (void)state;
  char *paths[] = {tb__test_path(folder, "even"), tb__test_path(folder, "odd")};
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  write_bag(paths[0], &options, 1000, 2);
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  write_bag(paths[1], &options, 1001, 2);
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open_many((const char *const *)paths, 2, NULL, &reader, NULL));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->message_count, 2 * MESSAGES);
  assert_int_equal(info->topic_count, 1);
  assert_int_equal(info->topics[0].message_count, 2 * MESSAGES);
  assert_int_equal(info->file_count, 2);
  assert_int_equal(info->start_ns, 1000);
  assert_int_equal(info->end_ns, 1001 + 2 * (MESSAGES - 1));
  tb_bag_message_t message;
  for (int i = 0; i < 2 * MESSAGES; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(message.log_time_ns, 1000 + i);
  }
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
  assert_status(tb_bag_reader_open_many(NULL, 0, NULL, &reader, NULL), TB_ERR_INVALID);
  free(paths[0]);
  free(paths[1]);
}

static void test_times_alone(void **state)
{
  (void)state;
  write_bag(path, NULL, 0, 1);
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_TIMES;
  tb_bag_reader_t *reader = open_with(path, &options);
  tb_bag_message_t message;
  for (int i = 0; i < MESSAGES; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(message.log_time_ns, i);
    assert_null(message.data);
    assert_int_equal(message.size, 0);
  }
  tb_bag_reader_close(reader);
}

/* ---- damage ---- */

typedef struct outcome {
  int good, bad;
  bool damage;
} outcome_t;

/* Good messages are what was written. */
static outcome_t salvage(const char *at)
{
  outcome_t outcome = {0};
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(at, &options, &reader, &error)) {
    assert_true(error.text[0]);
    outcome.damage = true;
    return outcome;
  }
  outcome.damage = tb_bag_reader_info(reader)->damage != NULL;
  tb_bag_message_t message;
  tb_status_t status;
  while ((status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END) {
    outcome.good += !status;
    outcome.bad += status != 0;
    assert_true(outcome.good + outcome.bad < 100 * MESSAGES);
  }
  tb_bag_reader_close(reader);
  return outcome;
}

static char *first_file(void)
{
  return tb__test_path(path, first_name);
}

static void test_a_truncated_file_is_salvaged(void **state)
{
  (void)state;
  write_bag(path, NULL, 0, 1);
  char *file = first_file();
  struct stat info;
  assert_int_equal(stat(file, &info), 0);
  outcome_t whole = salvage(path);
  assert_int_equal(whole.good, MESSAGES);
  assert_int_equal(whole.bad, 0);
  assert_false(whole.damage);
  assert_int_equal(truncate(file, info.st_size * 2 / 3), 0);
  tb_bag_reader_t *reader = NULL;
  assert_status(tb_bag_reader_open(path, NULL, &reader, NULL), TB_ERR_TRUNCATED);
  outcome_t outcome = salvage(path);
  assert_in_range(outcome.good, MESSAGES / 2, MESSAGES - 1);
  assert_true(outcome.bad > 0 && outcome.damage);
  free(file);
}

/* Zeros in the middle: what follows them is found again, and the gap reported. */
static void test_a_hole_is_passed_over(void **state)
{
  (void)state;
  write_bag(path, NULL, 0, 1);
  char *file = first_file();
  size_t size = 0;
  char *bytes = tb__test_read(file, &size);
  memset(bytes + size / 2 / 4096 * 4096, 0, 3 * 4096);
  tb__test_write(file, bytes, size);
  free(bytes);
  outcome_t outcome = salvage(path);
  assert_in_range(outcome.good, MESSAGES * 3 / 4, MESSAGES - 1);
  assert_true(outcome.bad > 0 || outcome.damage);
  free(file);
}

/* What comes before the end of the compressed data. */
static void test_a_truncated_compressed_file_is_salvaged(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  write_bag(path, &options, 0, 1);
  char *file = NULL;
  assert_true(asprintf(&file, "%s/%s.zstd", path, first_name) > 0);
  struct stat info;
  assert_int_equal(stat(file, &info), 0);
  assert_int_equal(truncate(file, info.st_size - 100), 0);
  tb_bag_reader_t *reader = NULL;
  assert_status(tb_bag_reader_open(path, NULL, &reader, NULL), TB_ERR_TRUNCATED);
  outcome_t outcome = salvage(path);
  assert_in_range(outcome.good, MESSAGES / 3, MESSAGES);
  assert_true(outcome.damage);
  free(file);
}

static void test_a_bag_without_some_of_its_files(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.max_duration.ns = 99;
  write_bag(path, &options, 0, 1);
  char *file = first_file();
  tb__test_write(file, "nothing", 7);
  outcome_t outcome = salvage(path);
  assert_int_equal(outcome.good, MESSAGES - 100);
  assert_true(outcome.damage);
  unlink(file);
  outcome = salvage(path);
  assert_int_equal(outcome.good, MESSAGES - 100);
  assert_true(outcome.damage);
  char *metadata = tb__test_path(path, "metadata.yaml");
  tb__test_write(metadata, "][", 2);
  outcome = salvage(path);
  assert_int_equal(outcome.good, MESSAGES - 100);
  assert_true(outcome.damage);
  free(metadata);
  free(file);
}

static void read_everything(tb_bag_damage_t damage)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.damage = damage;
  options.counts = TB_BAG_COUNTS_EXACT;
  tb_bag_reader_t *reader = NULL;
  if (tb_bag_reader_open(path, &options, &reader, NULL)) return;
  tb_bag_message_t message;
  unsigned sum = 0;
  tb_status_t status;
  for (int calls = 0; (status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END;
       calls++) {
    assert_true(calls < 100 * MESSAGES);
    for (size_t i = 0; !status && i < message.size; i++)
      sum += message.data[i];
  }
  assert_true(sum < UINT32_MAX);
  tb_bag_reader_close(reader);
}

static void damage_at_random(const char *name, uint64_t *random)
{
  char *file = tb__test_path(path, name);
  size_t size = 0;
  uint8_t *whole = tb__test_read(file, &size);
  uint8_t *bytes = malloc(size);
  assert_non_null(bytes);
  for (int round = 0; round < 60; round++) {
    memcpy(bytes, whole, size);
    size_t left = round % 4 ? size : (size_t)(test_random(random) % size);
    for (uint64_t i = test_random(random) % 20; i > 0; i--)
      bytes[test_random(random) % size] = (uint8_t)test_random(random);
    tb__test_write(file, bytes, left);
    read_everything(TB_BAG_DAMAGE_REFUSE);
    read_everything(TB_BAG_DAMAGE_SALVAGE);
  }
  assert_int_equal(entries(temporary), 0);
  free(bytes);
  free(whole);
  free(file);
}

static void test_random_damage(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  write_bag(path, NULL, 0, 1);
  damage_at_random(first_name, &random);
}

static void test_random_damage_of_compressed_chunks(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.chunk_compression = TB_BAG_CHUNKS_LZ4;
  write_bag(path, &options, 0, 1);
  damage_at_random(first_name, &random);
}

static void test_random_damage_of_compressed_messages(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_MESSAGES;
  write_bag(path, &options, 0, 1);
  damage_at_random(first_name, &random);
}

static void test_random_damage_of_compressed_files(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  write_bag(path, &options, 0, 1);
  char packed[24];
  snprintf(packed, sizeof packed, "%s.zstd", first_name);
  damage_at_random(packed, &random);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_compressed_messages),
      TEST(test_compressed_files),
      TEST(test_files_that_were_not_yet_compressed),
      TEST(test_several_bags_at_once),
      TEST(test_times_alone),
      TEST(test_a_truncated_file_is_salvaged),
      TEST(test_a_truncated_compressed_file_is_salvaged),
      TEST(test_a_hole_is_passed_over),
      TEST(test_a_bag_without_some_of_its_files),
      TEST(test_random_damage),
      TEST(test_random_damage_of_compressed_messages),
      TEST(test_random_damage_of_compressed_files),
  };
  const struct CMUnitTest tests_of_mcap[] = {
      TEST(test_compressed_messages),
      TEST(test_several_bags_at_once),
      TEST(test_times_alone),
      TEST(test_a_truncated_compressed_file_is_salvaged),
      TEST(test_a_hole_is_passed_over),
      TEST(test_random_damage),
      TEST(test_random_damage_of_compressed_chunks),
      TEST(test_random_damage_of_compressed_messages),
      TEST(test_random_damage_of_compressed_files),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  storage_id = "mcap";
  first_name = "bag_0.mcap";
  return failed + cmocka_run_group_tests(tests_of_mcap, NULL, NULL);
}
