/* The limits for what is read: what exceeds one fails with its name, and is never left out. */
#include "storage/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bag/file_fixture.h"
#include "bag/test_mcap.h"
#include "test.h"

#define MESSAGES 40

static tb_error_t last;

/* How many messages can be read, and the first failure, with its text in `last`. */
static int read_all(const char *path, const tb_bag_limits_t *limits, tb_bag_damage_t damage,
                    tb_status_t *out_status)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  int count = 0;
  options.limits = *limits;
  options.damage = damage;
  last = (tb_error_t)TB_ERROR_INIT;
  *out_status = tb_bag_reader_open(path, &options, &reader, &last);
  if (*out_status) return 0;
  for (tb_status_t status; (status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END;) {
    if (status && !*out_status) last = error;
    if (status && !*out_status) *out_status = status;
    count += !status;
  }
  tb_bag_reader_close(reader);
  return count;
}

static void assert_says(const char *text)
{
  if (!strstr(last.text, text)) fail_msg("'%s' does not say '%s'", last.text, text);
}

/* In both ways of reading, and in a check. */
static void assert_ceiling(const char *path, const tb_bag_limits_t *limits, const char *option)
{
  tb_bag_check_result_t result;
  tb_status_t status;
  read_all(path, limits, TB_BAG_DAMAGE_REFUSE, &status);
  assert_status(status, TB_ERR_LIMIT);
  assert_says(option);
  read_all(path, limits, TB_BAG_DAMAGE_SALVAGE, &status);
  assert_status(status, TB_ERR_LIMIT);
  assert_says(option);
  assert_status(tb_bag_check_within(path, limits, NULL, NULL, &result, &last), TB_ERR_LIMIT);
  assert_says(option);
}

static void assert_readable(const char *path, const tb_bag_limits_t *limits, int count)
{
  tb_status_t status;
  int found = read_all(path, limits, TB_BAG_DAMAGE_REFUSE, &status);
  if (status) fail_msg("%s", last.text);
  assert_int_equal(found, count);
  found = read_all(path, limits, TB_BAG_DAMAGE_SALVAGE, &status);
  if (status) fail_msg("%s", last.text);
  assert_int_equal(found, count);
}

/* `chunks` that all overlap in time, with MESSAGES each. */
static char *make_mcap(const char *name, unsigned chunks, tb__mcap_compression_t compression,
                       bool with_summary)
{
  tb__test_mcap_t mcap = {0};
  static const uint8_t data[100] = {0, 1};
  tb__test_mcap_begin(&mcap);
  for (unsigned chunk = 0; chunk < chunks; chunk++) {
    tb__test_mcap_chunk_begin(&mcap, compression);
    if (chunk == 0) tb__test_mcap_channel(&mcap, 1, "/a", "std_msgs/msg/String");
    for (unsigned i = 0; i < MESSAGES; i++)
      tb__test_mcap_message(&mcap, 1, 1000 + chunk + (uint64_t)i * chunks, data, sizeof data);
    tb__test_mcap_chunk_end(&mcap);
  }
  tb__test_mcap_end(&mcap, with_summary);
  char *path = tb__test_path(folder, name);
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
  return path;
}

static void test_chunks(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++) {
    tb__mcap_compression_t compression = i % 2 ? TB__MCAP_ZSTD : TB__MCAP_NONE;
    char *path = make_mcap("one.mcap", 1, compression, i / 2);
    assert_ceiling(path, &(tb_bag_limits_t){.chunk_size = 5000},
                   "limit of 5000 (--max-chunk-size)");
    assert_readable(path, &(tb_bag_limits_t){.chunk_size = 6000}, MESSAGES);
    assert_readable(path, &(tb_bag_limits_t){0}, MESSAGES);
    unlink(path);
    free(path);
  }
  tb_bag_reader_t *reader = NULL;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.limits.chunk_size = (uint64_t)UINT32_MAX + 1;
  assert_status(tb_bag_reader_open(folder, &options, &reader, &last), TB_ERR_INVALID);
}

/* Each message is in another chunk than the one before. */
static void test_overlapping_chunks(void **state)
{
  (void)state;
  char *path = make_mcap("two.mcap", 30, TB__MCAP_ZSTD, true);
  tb_status_t status;
  const tb_bag_limits_t small = {.overlap_size = 20000};
  int count = read_all(path, &small, TB_BAG_DAMAGE_REFUSE, &status);
  assert_status(status, TB_ERR_LIMIT);
  assert_says("bytes overlap in time, more than the limit of 20000 (--max-overlap-size)");
  assert_true(count < 30 * MESSAGES);
  assert_readable(path, &(tb_bag_limits_t){.overlap_size = 500000}, 30 * MESSAGES);
  free(path);
}

static char *make_packed(const char *name)
{
  char *path = tb__test_path(folder, name);
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  const tb_bag_writer_topic_t topic = {.name = "/a", .type = "t"};
  static const uint8_t data[100] = {0, 1};
  size_t index;
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  assert_ok(tb_bag_writer_create(path, &options, &writer, NULL));
  assert_ok(tb_bag_writer_add_topic(writer, &topic, &index, NULL));
  for (int i = 0; i < MESSAGES; i++)
    assert_ok(tb_bag_writer_write(writer, index, 1000 + i, 1, data, sizeof data, NULL));
  assert_ok(tb_bag_writer_close(writer, NULL));
  return path;
}

static void test_unpacked_files(void **state)
{
  (void)state;
  char *path = make_packed("packed");
  assert_ceiling(path, &(tb_bag_limits_t){.unpacked_size = 10000},
                 "over the limit of 10000 (--max-unpacked-size)");
  assert_readable(path, &(tb_bag_limits_t){.unpacked_size = 100000}, MESSAGES);
  assert_readable(path, &(tb_bag_limits_t){0}, MESSAGES);
  free(path);
}

/* What is recovered of a damaged file is unpacked, too. */
static void test_recovered_files(void **state)
{
  (void)state;
  tb_status_t status;
  char *path = make_mcap("three.mcap", 3, TB__MCAP_ZSTD, false);
  read_all(path, &(tb_bag_limits_t){.unpacked_size = 5000}, TB_BAG_DAMAGE_SALVAGE, &status);
  assert_status(status, TB_ERR_LIMIT);
  assert_says("limit of 5000 bytes for unpacked files (--max-unpacked-size)");
  free(path);
}

static void write_metadata(int count, const char *const *names, int name_count)
{
  char *path = tb__test_path(folder, "metadata.yaml");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n"
        "  relative_file_paths:\n",
        file);
  for (int i = 0; i < count; i++)
    fprintf(file, "    - %s\n", names[i % name_count]);
  fclose(file);
  free(path);
}

static void test_listed_files(void **state)
{
  (void)state;
  static const char *const names[] = {"one.db3", "two.db3", "three.db3"};
  for (int i = 0; i < 3; i++) {
    char *path = tb__test_path(folder, names[i]);
    tb__test_db_simple(path, 4, 5, 1000 + i, 10);
    free(path);
  }
  write_metadata(3, names, 3);
  assert_ceiling(folder, &(tb_bag_limits_t){.file_count = 2},
                 "3 files, more than the limit of 2 (--max-files)");
  assert_readable(folder, &(tb_bag_limits_t){.file_count = 3}, 15);
}

/* Opening costs as much as there are files, and nothing is read twice. */
static void test_files_that_are_listed_again(void **state)
{
  (void)state;
  static const char *const names[] = {"one.db3", "link.db3", "./one.db3"};
  char *path = tb__test_path(folder, "one.db3"), *other = tb__test_path(folder, "link.db3");
  tb__test_db_simple(path, 4, 5, 1000, 10);
  assert_int_equal(link(path, other), 0);
  write_metadata(9000, names, 3);
  assert_readable(folder, &(tb_bag_limits_t){0}, 5);
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(folder, NULL, &reader, NULL));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 1);
  assert_string_equal(info->files[0], path);
  assert_non_null(info->damage);
  assert_non_null(strstr(info->damage, "lists 8999 files more than once"));
  tb_bag_reader_close(reader);
  write_metadata(10001, names, 1);
  tb_status_t status;
  read_all(folder, &(tb_bag_limits_t){0}, TB_BAG_DAMAGE_SALVAGE, &status);
  assert_status(status, TB_ERR_LIMIT);
  free(path);
  free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_chunks),         TEST(test_overlapping_chunks),
      TEST(test_unpacked_files), TEST(test_recovered_files),
      TEST(test_listed_files),   TEST(test_files_that_are_listed_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
