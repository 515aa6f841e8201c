/* Names, types and notes that no text can hold, and topics that contradict each other: nothing of
 * the recording is lost by them. */
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_writer.h>

#include "bag/file_fixture.h"
#include "bag/test_mcap.h"
#include "storage/clean.h"
#include "test.h"

static void assert_cleaned(const char *bytes, size_t size, const char *expected)
{
  bool changed = false;
  char *clean = tb__bag_clean(bytes, size, &changed);
  assert_non_null(clean);
  assert_string_equal(clean, expected);
  assert_int_equal(changed, strlen(expected) != size || memcmp(bytes, expected, size) != 0);
  free(clean);
}

static void test_bytes_that_are_not_text_become_digits(void **state)
{
  (void)state;
  assert_cleaned("", 0, "");
  assert_cleaned("/a b\n\t\xc3\xa4", 8, "/a b\n\t\xc3\xa4");
  assert_cleaned("/\x1b[2J", 5, "/\\x1b[2J");
  assert_cleaned("a\0b", 3, "a\\x00b");
  assert_cleaned("\xff\xfe", 2, "\\xff\\xfe");
  assert_cleaned("\xe2\x82", 2, "\\xe2\\x82"); /* cut off in a character */
  assert_cleaned("\x7f\xc2\x85", 3, "\\x7f\\xc2\\x85");
}

/* All messages of the bag at `path` are read, and written to another one. Returns how many; the
 * names of the topics go to `names`, one after the other. */
static uint64_t copy_all(const char *path, char *names, size_t size)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  if (tb_bag_reader_open(path, &options, &reader, &error)) fail_msg("%s", error.text);
  char *copy = tb__test_path(folder, "copy");
  tb_bag_writer_options_t plain = TB_BAG_WRITER_OPTIONS_INIT;
  assert_ok(tb_bag_writer_create(copy, &plain, &writer, NULL));
  free(copy);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  *names = '\0';
  for (size_t i = 0; i < info->topic_count; i++) {
    size_t topic;
    tb_bag_writer_topic_t same = {.name = info->topics[i].name, .type = info->topics[i].type};
    if (tb_bag_writer_add_topic(writer, &same, &topic, &error)) fail_msg("%s", error.text);
    strncat(names, info->topics[i].name, size - strlen(names) - 1);
    strncat(names, " ", size - strlen(names) - 1);
  }
  for (size_t i = 0; i < info->note_count; i++)
    assert_ok(
        tb_bag_writer_set_custom_data(writer, info->notes[i].key, info->notes[i].value, &error));
  uint64_t count = 0;
  tb_bag_message_t message;
  for (; !tb_bag_reader_next(reader, &message, &error); count++)
    assert_ok(tb_bag_writer_write(writer, message.topic, message.log_time_ns, -1, message.data,
                                  message.size, &error));
  assert_int_equal(error.status, TB_ERR_END);
  tb_bag_reader_close(reader);
  assert_ok(tb_bag_writer_close(writer, &error));
  return count;
}

static uint64_t findings(const char *path)
{
  tb_bag_check_result_t result;
  assert_ok(tb_bag_check(path, NULL, NULL, &result, NULL));
  return result.finding_count;
}

static void assert_mcap(const char *const (*topics)[2], uint16_t count, const char *expected,
                        unsigned expected_findings)
{
  tb__test_mcap_t mcap = {0};
  char names[1000];
  tb__test_mcap_begin(&mcap);
  tb__test_mcap_chunk_begin(&mcap, TB__MCAP_ZSTD);
  for (uint16_t i = 0; i < count; i++) {
    tb__test_mcap_channel(&mcap, (uint16_t)(i + 1), topics[i][0], topics[i][1]);
    tb__test_mcap_message(&mcap, (uint16_t)(i + 1), i, "\0\1\0\0", 4);
  }
  tb__test_mcap_chunk_end(&mcap);
  tb__test_mcap_end(&mcap, true);
  char *path = tb__test_path(folder, "odd.mcap");
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
  assert_int_equal(copy_all(path, names, sizeof names), count);
  assert_string_equal(names, expected);
  assert_int_equal(findings(path), expected_findings);
  free(path);
}

static void test_mcap_names_that_are_no_text(void **state)
{
  (void)state;
  const char *const topics[][2] = {{"/a\x1b", "std_msgs/msg/String"},
                                   {"/b", "std_msgs/\xff"},
                                   {"/a\\x1b", "std_msgs/msg/String"}};
  assert_mcap(topics, 3, "/a\\x1b /b ", 2);
}

static void test_mcap_topics_without_name_or_type(void **state)
{
  (void)state;
  const char *const topics[][2] = {
      {"", "std_msgs/msg/String"}, {"", "std_msgs/msg/Header"}, {"/c", ""}};
  assert_mcap(topics, 3, "/unnamed /unnamed_2 /c ", 3);
}

static void test_mcap_topic_with_two_types(void **state)
{
  (void)state;
  const char *const topics[][2] = {{"/a", "x/msg/A"},   {"/a", "x/msg/B"}, {"/a_2", "x/msg/B"},
                                   {"/a_3", "x/msg/A"}, {"/a", "x/msg/B"}, {"/a", "x/msg/C"}};
  assert_mcap(topics, 6, "/a /a_2 /a_2_2 /a_3 /a_4 ", 3);
}

static char *write_database(const char *sql)
{
  char *path = tb__test_path(folder, "odd.db3");
  tb__test_db_simple(path, 2, 3, 1000, 1);
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, sql);
  sqlite3_close(database);
  return path;
}

static void test_sqlite_names_that_are_no_text(void **state)
{
  (void)state;
  static const struct {
    const char *sql, *name;
  } cases[] = {{"UPDATE topics SET name = x'00'", "\\x00 "},
               {"UPDATE topics SET name = 'a' || char(0) || 'b'", "a\\x00b "},
               {"UPDATE topics SET name = 7, type = x'ff'", "7 "},
               {"UPDATE topics SET name = ''", "/unnamed "},
               {"UPDATE topics SET name = '/' || char(27) || ']0;x'", "/\\x1b]0;x "}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char names[200];
    char *path = write_database(cases[i].sql);
    assert_int_equal(copy_all(path, names, sizeof names), 3);
    assert_string_equal(names, cases[i].name);
    assert_int_equal(findings(path), 1);
    remove_folder(NULL);
    make_folder(NULL);
    free(path);
  }
}

/* As escapes of YAML, and as bytes that YAML does not allow. */
static void test_notes_that_are_no_text(void **state)
{
  (void)state;
  static const char *const notes[] = {"\"a\\eb\": \"c\\0d\"", "\"a\x1b\x62\": 'c\x01'",
                                      "a\x1b: c\xff"};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    char text[500], names[200];
    free(write_database("SELECT 1"));
    snprintf(text, sizeof text,
             "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: sqlite3\n"
             "  message_count: 3\n  relative_file_paths: [odd.db3]\n  ros_distro: \"\\e\"\n"
             "  custom_data:\n    %s\n",
             notes[i]);
    char *path = tb__test_path(folder, "metadata.yaml");
    tb__test_write(path, text, strlen(text));
    free(path);
    tb_bag_reader_t *reader = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (tb_bag_reader_open(folder, NULL, &reader, &error)) fail_msg("%s", error.text);
    assert_string_equal(tb_bag_reader_info(reader)->ros_distro, "\\x1b");
    tb_bag_reader_close(reader);
    assert_int_equal(copy_all(folder, names, sizeof names), 3);
    remove_folder(NULL);
    make_folder(NULL);
  }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes_that_are_not_text_become_digits),
      TEST(test_mcap_names_that_are_no_text),
      TEST(test_mcap_topics_without_name_or_type),
      TEST(test_mcap_topic_with_two_types),
      TEST(test_sqlite_names_that_are_no_text),
      TEST(test_notes_that_are_no_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
