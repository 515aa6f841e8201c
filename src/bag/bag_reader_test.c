/* Readers over real files: layouts, folders, metadata, and what opening refuses. */
#include <timebase/bag_reader.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_check.h>
#include <timebase/log.h>
#include <unistd.h>

#include "bag/file_fixture.h"
#include "bag/location.h"
#include "test.h"

static void write_text(const char *name, const char *text)
{
  char *path = tb__test_path(folder, name);
  tb__test_write(path, text, strlen(text));
  free(path);
}

static void make_subfolder(const char *name)
{
  char *path = tb__test_path(folder, name);
  assert_int_equal(mkdir(path, 0700), 0);
  free(path);
}

static void write_metadata(const char *version, const char *files, const char *more)
{
  char *text = NULL;
  assert_true(asprintf(&text,
                       "rosbag2_bagfile_information:\n  version: %s\n"
                       "  storage_identifier: sqlite3\n  relative_file_paths: %s\n%s",
                       version, files, more) > 0);
  write_text("metadata.yaml", text);
  free(text);
}

static void write_db(const char *name, int schema, int count, int64_t start_ns, int64_t step_ns)
{
  char *path = tb__test_path(folder, name);
  tb__test_db_simple(path, schema, count, start_ns, step_ns);
  free(path);
}

static void change_db(const char *name, const char *sql)
{
  char *path = tb__test_path(folder, name);
  sqlite3 *database = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  tb__test_db_exec(database, sql);
  sqlite3_close(database);
  free(path);
}

/* `name` NULL: the folder. */
static tb_bag_reader_t *open_bag(const char *name, const tb_bag_reader_options_t *options)
{
  char *path = name ? tb__test_path(folder, name) : strdup(folder);
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, options, &reader, &error)) fail_msg("%s", error.text);
  assert_string_equal(error.text, ""); /* success leaves it alone */
  free(path);
  return reader;
}

static void assert_refused(const char *name, tb_status_t expected, const char *said)
{
  char *path = name ? tb__test_path(folder, name) : strdup(folder);
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_reader_open(path, NULL, &reader, &error), expected);
  assert_null(reader);
  assert_int_equal(error.status, expected);
  if (!strstr(error.text, said)) fail_msg("\"%s\" does not say \"%s\"", error.text, said);
  if (!strstr(error.text, path)) fail_msg("\"%s\" does not name \"%s\"", error.text, path);
  free(path);
}

/* Reads to the end and closes; messages must be in order. */
static size_t count_and_close(tb_bag_reader_t *reader)
{
  size_t count = 0;
  int64_t last_ns = 0;
  tb_bag_message_t message;
  tb_status_t status;
  while ((status = tb_bag_reader_next(reader, &message, NULL)) == TB_OK) {
    assert_true(message.log_time_ns >= last_ns);
    last_ns = message.log_time_ns;
    count++;
  }
  assert_status(status, TB_ERR_END);
  tb_bag_reader_close(reader);
  return count;
}

static void test_every_schema_version(void **state)
{
  (void)state;
  for (int schema = TB__TEST_SCHEMA_CRYSTAL; schema <= 4; schema++) {
    char name[16];
    snprintf(name, sizeof name, "v%d.db3", schema);
    write_db(name, schema, 5, 100, 10);
    tb_bag_reader_t *reader = open_bag(name, NULL);
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    assert_int_equal(info->message_count, 5);
    assert_int_equal(info->start_ns, 100);
    assert_int_equal(info->end_ns, 140);
    assert_int_equal(info->metadata_version, 0);
    assert_int_equal(info->topics[0].message_count, 5);
    assert_string_equal(info->topics[0].name, "/a");
    assert_string_equal(info->topics[0].type_hash, schema == 4 ? "RIHS01_00" : "");
    assert_string_equal(info->ros_distro, schema == 4 ? "jazzy" : schema == 3 ? "iron" : "");
    assert_int_equal(info->topics[0].qos_origin, TB_BAG_QOS_DEFAULT);
    assert_ok(tb_bag_reader_seek(reader, 111));
    assert_int_equal(count_and_close(reader), 3);
  }
}

static void test_message_is_what_was_recorded(void **state)
{
  (void)state;
  write_db("a.db3", 4, 0, 0, 0);
  change_db("a.db3", "INSERT INTO messages VALUES (42, 1, 9, x'0001000001020304')");
  tb_bag_reader_t *reader = open_bag("a.db3", NULL);
  tb_bag_message_t message;
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.row_id, 42);
  assert_int_equal(message.log_time_ns, 9);
  assert_int_equal(message.publish_time_ns, -1);
  assert_int_equal(message.topic, 0);
  assert_int_equal(message.file, 0);
  assert_int_equal(message.size, 8);
  assert_memory_equal(message.data, "\0\1\0\0\1\2\3\4", 8);
  assert_int_equal(count_and_close(reader), 0);
}

static void test_rows_out_of_order_come_by_time(void **state)
{
  (void)state;
  static const int64_t expected[] = {2, 4, 1, 3};
  for (int schema = TB__TEST_SCHEMA_CRYSTAL; schema <= 1; schema++) {
    const char *name = schema ? "indexed.db3" : "plain.db3";
    write_db(name, schema, 0, 0, 0);
    change_db(name, "INSERT INTO messages VALUES (1, 1, 9, x'00010000'), (2, 1, 5, x'00010000'),"
                    "(3, 1, 9, x'00010000'), (4, 1, 5, x'00010000')");
    tb_bag_reader_t *reader = open_bag(name, NULL);
    for (size_t i = 0; i < 4; i++) {
      tb_bag_message_t message;
      assert_ok(tb_bag_reader_next(reader, &message, NULL));
      assert_int_equal(message.row_id, expected[i]);
    }
    assert_ok(tb_bag_reader_seek(reader, 0));
    for (size_t i = 0; i < 4; i++) {
      tb_bag_message_t message;
      assert_ok(tb_bag_reader_next(reader, &message, NULL));
      assert_int_equal(message.row_id, expected[i]);
    }
    tb_bag_reader_close(reader);
  }
}

static void test_folder_without_metadata_in_natural_order(void **state)
{
  (void)state;
  write_db("b_10.db3", 4, 1, 5, 1);
  write_db("b_9.db3", 4, 2, 5, 1);
  write_text("notes.txt", "not a bag");
  tb_bag_reader_t *reader = open_bag(NULL, NULL);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 2);
  assert_non_null(strstr(info->files[0], "b_9.db3"));
  assert_non_null(strstr(info->files[1], "b_10.db3"));
  assert_int_equal(count_and_close(reader), 3);
  assert_true(tb__natural_compare("a2", "a10") < 0);
  assert_true(tb__natural_compare("a3x", "a2y") > 0);
  assert_true(tb__natural_compare("a32", "a24") > 0);
  assert_true(tb__natural_compare("a02", "a2") != 0);
  assert_true(tb__natural_compare("a", "a1") < 0);
  assert_true(tb__natural_compare("a10b2", "a10b11") < 0);
  assert_true(tb__natural_compare("a100000000000000000000", "a20000000000000000000") > 0);
}

static void assert_path_of(const char *path, const char *expected)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  assert_string_equal(tb_bag_reader_info(reader)->path, expected);
  assert_int_equal(count_and_close(reader), 5);
}

static void test_the_metadata_opens_its_folder(void **state)
{
  (void)state;
  write_db("bag_0.db3", 4, 2, 0, 1);
  write_db("bag_1.db3", 4, 3, 10, 1);
  write_metadata("9", "[bag_0.db3, bag_1.db3]", "");
  char *path = tb__test_path(folder, "metadata.yaml");
  assert_path_of(path, folder);
  char *before = getcwd(NULL, 0);
  assert_int_equal(chdir(folder), 0);
  assert_path_of("metadata.yaml", ".");
  assert_path_of("./metadata.yaml", ".");
  assert_int_equal(chdir(before), 0);
  free(before);
  unlink(path);
  assert_refused("metadata.yaml", TB_ERR_NOT_FOUND, "No such file");
  free(path);
}

static void test_topics_are_joined_by_name(void **state)
{
  (void)state;
  write_db("f_0.db3", 4, 0, 0, 0);
  write_db("f_1.db3", 2, 0, 0, 0);
  change_db("f_0.db3",
            "INSERT INTO topics VALUES (2, '/b', 't', 'cdr', '', 'h');"
            "INSERT INTO messages VALUES (1, 1, 1, zeroblob(4)), (2, 2, 3, zeroblob(4))");
  change_db("f_1.db3", "UPDATE topics SET id = 7; INSERT INTO topics VALUES (1, '/b', 't', 'cdr', "
                       "'');INSERT INTO messages VALUES (1, 1, 2, zeroblob(4)), (2, 7, 4, "
                       "zeroblob(4))");
  tb_bag_reader_t *reader = open_bag(NULL, NULL);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->topic_count, 2);
  static const size_t expected[] = {0, 1, 1, 0};
  for (size_t i = 0; i < 4; i++) {
    tb_bag_message_t message;
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(message.topic, expected[i]);
  }
  assert_int_equal(info->topics[0].message_count, 2);
  assert_int_equal(count_and_close(reader), 0);
  change_db("f_1.db3", "UPDATE topics SET type = 'other' WHERE id = 1");
  reader = open_bag(NULL, NULL); /* nothing is lost of a topic with two types */
  assert_int_equal(tb_bag_reader_info(reader)->topic_count, 3);
  assert_string_equal(tb_bag_reader_info(reader)->topics[2].name, "/b_2");
  assert_string_equal(tb_bag_reader_info(reader)->topics[2].type, "other");
  assert_int_equal(count_and_close(reader), 4);
}

static void test_times_come_from_the_data(void **state)
{
  (void)state;
  write_db("x_0.db3", 2, 3, 1000, 1);
  write_db("x_1.db3", 2, 3, 2000, 1);
  write_metadata("4", "[x_0.db3, x_1.db3]",
                 "  message_count: 99\n  starting_time: {nanoseconds_since_epoch: 2000}\n"
                 "  duration: {nanoseconds: 1}\n");
  tb_bag_reader_t *reader = open_bag(NULL, NULL);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->start_ns, 1000);
  assert_int_equal(info->end_ns, 2002);
  assert_int_equal(info->message_count, 6);
  assert_int_equal(info->topics[0].message_count, 6);
  assert_int_equal(info->metadata_version, 4);
  assert_int_equal(count_and_close(reader), 6);
}

static void test_counts_of_metadata_only_if_the_total_agrees(void **state)
{
  (void)state;
  write_db("x.db3", 2, 3, 0, 1);
  change_db("x.db3", "INSERT INTO topics VALUES (2, '/b', 't', 'cdr', '')");
  /* A lie that only a look at every row would find shows which way was taken. */
  const char *topics = "  message_count: 3\n  topics_with_message_count:\n"
                       "  - {topic_metadata: {name: /a}, message_count: 1}\n"
                       "  - {topic_metadata: {name: /b}, message_count: 2}\n";
  write_metadata("4", "[x.db3]", topics);
  tb_bag_reader_t *reader = open_bag(NULL, NULL);
  assert_int_equal(tb_bag_reader_info(reader)->topics[1].message_count, 2);
  tb_bag_reader_close(reader);
  static const char *const off[] = {"  message_count: 4\n  topics_with_message_count:\n"
                                    "  - {topic_metadata: {name: /a}, message_count: 1}\n"
                                    "  - {topic_metadata: {name: /b}, message_count: 2}\n",
                                    "  message_count: 3\n  topics_with_message_count:\n"
                                    "  - {topic_metadata: {name: /b}, message_count: 2}\n"};
  for (size_t i = 0; i < 2; i++) {
    write_metadata("4", "[x.db3]", off[i]);
    reader = open_bag(NULL, NULL);
    assert_int_equal(tb_bag_reader_info(reader)->topics[0].message_count, 3);
    tb_bag_reader_close(reader);
  }
  write_metadata("4", "[x.db3]", topics);
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.counts = TB_BAG_COUNTS_EXACT;
  reader = open_bag(NULL, &options);
  assert_int_equal(tb_bag_reader_info(reader)->topics[0].message_count, 3);
  assert_int_equal(tb_bag_reader_info(reader)->topics[1].message_count, 0);
  tb_bag_reader_close(reader);
}

static void assert_counted(const char *name, tb_bag_counted_t counted, uint64_t messages)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.counts = TB_BAG_COUNTS_SUMMARY;
  tb_bag_reader_t *reader = open_bag(name, &options);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->counted, counted);
  assert_int_equal(info->message_count, messages);
  assert_int_equal(info->topics[0].message_count, messages);
  assert_int_equal(info->oddity_count, counted == TB_BAG_COUNTED_MESSAGES);
  tb_bag_reader_close(reader);
}

/* Only where its number is that of the ids of the rows. */
static void test_counts_of_the_summary(void **state)
{
  (void)state;
  write_db("x.db3", 1, 5, 10, 1);
  assert_counted(NULL, TB_BAG_COUNTED_ROWS, 5);
  static const char list[] = "  message_count: 5\n  topics_with_message_count:\n"
                             "  - {topic_metadata: {name: /a}, message_count: 5}\n";
  write_metadata("4", "[x.db3]", list);
  assert_counted(NULL, TB_BAG_COUNTED_METADATA, 5);
  assert_counted("x.db3", TB_BAG_COUNTED_ROWS, 5);
  change_db("x.db3", "DELETE FROM messages WHERE id = 5");
  assert_counted(NULL, TB_BAG_COUNTED_MESSAGES, 4);
  change_db("x.db3", "INSERT INTO messages VALUES(7, 1, 20, x'00010000')");
  assert_counted(NULL, TB_BAG_COUNTED_ROWS, 5);
  change_db("x.db3", "DELETE FROM messages");
  assert_counted(NULL, TB_BAG_COUNTED_MESSAGES, 0);
}

static void record_line(tb_log_level_t level, const char *message, void *user)
{
  if (level == TB_LOG_WARN) snprintf(user, 512, "%s", message);
}

static void test_qos_of_metadata_goes_first(void **state)
{
  (void)state;
  write_db("x.db3", 2, 1, 0, 1);
  change_db("x.db3", "UPDATE topics SET offered_qos_profiles = '- reliability: 2'");
  tb_bag_reader_t *reader = open_bag("x.db3", NULL);
  assert_int_equal(tb_bag_reader_info(reader)->topics[0].qos.reliability, TB_QOS_BEST_EFFORT);
  tb_bag_reader_close(reader);
  write_metadata("9", "[x.db3]",
                 "  topics_with_message_count:\n  - topic_metadata: {name: /a, "
                 "offered_qos_profiles: [{durability: transient_local}]}\n");
  reader = open_bag(NULL, NULL);
  const tb_bag_topic_t *topic = &tb_bag_reader_info(reader)->topics[0];
  assert_int_equal(topic->qos.durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(topic->qos.reliability, TB_QOS_RELIABLE);
  tb_bag_reader_close(reader);
}

static void test_doubtful_qos_is_default_with_a_warning(void **state)
{
  (void)state;
  static const struct {
    const char *sql;
    tb_bag_qos_origin_t origin;
  } cases[] = {
      {"UPDATE topics SET offered_qos_profiles = '- {reliability: 1}' || char(10) || '- "
       "{reliability: 2}'",
       TB_BAG_QOS_MIXED},
      {"UPDATE topics SET offered_qos_profiles = '- {reliability: [}'", TB_BAG_QOS_UNREADABLE}};
  for (size_t i = 0; i < 2; i++) {
    char line[512] = "";
    char name[16];
    snprintf(name, sizeof name, "%zu.db3", i);
    write_db(name, 2, 1, 0, 1);
    change_db(name, cases[i].sql);
    tb_log_set_hook(record_line, line);
    tb_bag_reader_t *reader = open_bag(name, NULL);
    tb_log_set_hook(NULL, NULL);
    assert_int_equal(tb_bag_reader_info(reader)->topics[0].qos_origin, cases[i].origin);
    assert_int_equal(tb_bag_reader_info(reader)->topics[0].qos.reliability, TB_QOS_RELIABLE);
    assert_non_null(strstr(line, "/a"));
    assert_int_equal(count_and_close(reader), 1);
  }
}

static void append_line(tb_log_level_t level, const char *text, void *user)
{
  (void)level;
  char *lines = user;
  size_t length = strlen(lines);
  snprintf(lines + length, 2000 - length, "%s\n", text);
}

static void assert_notice(const char *const *names, size_t count, const char *said)
{
  char lines[2000] = "";
  make_subfolder("loose");
  for (size_t i = 0; i < count; i++) {
    char name[100];
    snprintf(name, sizeof name, "loose/%s", names[i]);
    write_db(name, 4, 1, (int64_t)i, 1);
  }
  tb_log_set_hook(append_line, lines);
  char *path = tb__test_path(folder, "loose");
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_check_names(path, &error), said ? TB_ERR_RANGE : TB_OK);
  if (said && !strstr(error.text, said)) fail_msg("\"%s\" does not say \"%s\"", error.text, said);
  tb_bag_reader_t *reader = open_bag("loose", NULL);
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(count_and_close(reader), count);
  if (said && !strstr(lines, said)) fail_msg("\"%s\" does not say \"%s\"", lines, said);
  if (!said || strchr(lines, '\n')[1]) assert_string_equal(lines, "");
  for (size_t i = 0; i < count; i++) {
    char name[100];
    snprintf(name, sizeof name, "loose/%s", names[i]);
    char *file = tb__test_path(folder, name);
    unlink(file);
    free(file);
  }
  assert_int_equal(rmdir(path), 0);
  free(path);
}

static void test_files_that_may_not_belong_together(void **state)
{
  (void)state;
  assert_notice((const char *[]){"b_0.db3", "b_1.db3", "b_10.db3"}, 3, NULL);
  assert_notice((const char *[]){"b.db3", "b1.db3"}, 2, NULL);
  assert_notice((const char *[]){"2.db3", "10.db3"}, 2, NULL);
  assert_notice((const char *[]){"b10_0.db3", "b9_0.db3"}, 2,
                "/loose: its 2 files are read as one recording, though their names differ: "
                "b9_0.db3, b10_0.db3; name one to read it alone");
  assert_notice((const char *[]){"b_0.db3", "b_1.db3", "c_0.db3"}, 3, "b_0.db3, b_1.db3, c_0.db3;");
}

static void test_odd_file_names(void **state)
{
  (void)state;
  static const char *const names[] = {"a?b.db3", "100%.db3",      "a#b.db3",        "a b.db3",
                                      "%41.db3", "?mode=rwc.db3", "\xc3\xa4+&=.db3"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    write_db(names[i], 4, (int)i + 1, 0, 1);
    assert_int_equal(count_and_close(open_bag(names[i], NULL)), i + 1);
  }
  assert_int_equal(count_and_close(open_bag(NULL, NULL)), 28);
  char *before = getcwd(NULL, 0);
  assert_int_equal(chdir(folder), 0);
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open("a b.db3", NULL, &reader, NULL));
  assert_int_equal(count_and_close(reader), 4);
  assert_int_equal(chdir(before), 0);
  free(before);
}

static void test_paths_with_the_folder_before_them(void **state)
{
  (void)state;
  write_db("bag_0.db3", 1, 2, 0, 1);
  write_metadata("2", "[was_named_so/bag_0.db3]", "");
  assert_int_equal(count_and_close(open_bag(NULL, NULL)), 2);
  make_subfolder("sub");
  write_db("sub/c.db3", 1, 3, 0, 1);
  write_metadata("9", "[sub/c.db3, ./bag_0.db3]", "");
  assert_int_equal(count_and_close(open_bag(NULL, NULL)), 5);
}

static void test_paths_outside_are_refused(void **state)
{
  (void)state;
  static const char *const files[] = {"[/etc/passwd]", "[../x.db3]", "[a/../../x.db3]", "[a/..]",
                                      "['']"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_metadata("9", files[i], "");
    assert_refused(NULL, TB_ERR_CORRUPT, "is not inside the bag");
  }
  write_db("a..b.db3", 1, 1, 0, 1);
  write_metadata("9", "[a..b.db3]", "");
  assert_int_equal(count_and_close(open_bag(NULL, NULL)), 1);
}

static void test_a_folder_of_bags_is_named_with_what_it_holds(void **state)
{
  (void)state;
  make_subfolder("runs");
  make_subfolder("runs/notes");
  make_subfolder("runs/first");
  write_text("runs/first/metadata.yaml", "");
  make_subfolder("runs/second");
  write_text("runs/second/b_0.db3", "");
  assert_refused("runs", TB_ERR_NOT_FOUND, "a folder with 2 of them: ");
  assert_refused("runs", TB_ERR_NOT_FOUND, "first");
  assert_refused("runs", TB_ERR_NOT_FOUND, "; name one");
  make_subfolder("days");
  static const char *const days[] = {"d10", "d9", "d100", "d1", "d30", "d20", "d2"};
  for (size_t i = 0; i < 7; i++) {
    char name[40];
    snprintf(name, sizeof name, "days/%s", days[i]);
    make_subfolder(name);
    snprintf(name, sizeof name, "days/%s/metadata.yaml", days[i]);
    write_text(name, "");
  }
  assert_refused("days", TB_ERR_NOT_FOUND, "with 7 of them: d1, d2, d9, d10, d20, ...; name one");
}

static void test_what_opening_refuses(void **state)
{
  (void)state;
  assert_refused(NULL, TB_ERR_NOT_FOUND, "not a bag");
  assert_refused("missing", TB_ERR_NOT_FOUND, "No such file");
  write_text("text.db3", "this is no database, but it is long enough to hold a header of one "
                         "hundred bytes, and then some more of them");
  assert_refused("text.db3", TB_ERR_CORRUPT, "not a SQLite database");
  write_text("short.db3", "SQLite format 3");
  assert_refused("short.db3", TB_ERR_TRUNCATED, "header");
  write_text("empty.db3", "");
  assert_refused("empty.db3", TB_ERR_TRUNCATED, "0 bytes");
  write_text("bag.db3.zstd", "");
  assert_refused("bag.db3.zstd", TB_ERR_TRUNCATED, "ends too early");
  write_metadata("9", "[gone.db3]", "");
  assert_refused(NULL, TB_ERR_NOT_FOUND, "gone.db3, named by metadata.yaml");
  write_metadata("9", "[]", "");
  assert_refused(NULL, TB_ERR_CORRUPT, "lists no files");
  write_metadata("9", "[", "");
  assert_refused(NULL, TB_ERR_CORRUPT, "metadata.yaml: line");
  write_metadata("9", "[x.db3.zstd]", "  compression_mode: FILE\n  compression_format: zstd\n");
  assert_refused(NULL, TB_ERR_NOT_FOUND, "x.db3.zstd, named by metadata.yaml");
  write_metadata("9", "[x.db3.rar]", "  compression_mode: FILE\n  compression_format: rar\n");
  assert_refused(NULL, TB_ERR_UNSUPPORTED, "mode FILE, format rar");
  write_text("metadata.yaml", "version: 9\nstorage_identifier: other\nrelative_file_paths: "
                              "[text.db3]\n");
  assert_refused(NULL, TB_ERR_UNSUPPORTED, "\"other\"");
}

static void make_pipe(const char *name)
{
  char *path = tb__test_path(folder, name);
  assert_int_equal(mkfifo(path, 0600), 0);
  free(path);
}

/* Opening a pipe waits for a writer. */
static void test_pipes_are_refused(void **state)
{
  (void)state;
  make_pipe("pipe.db3");
  assert_refused(NULL, TB_ERR_INVALID, "pipe.db3: not a regular file");
  write_metadata("9", "[pipe.mcap.zstd]", "");
  make_pipe("pipe.mcap.zstd");
  assert_refused(NULL, TB_ERR_INVALID, "pipe.mcap.zstd: not a regular file");
  write_metadata("9", "[pipe.mcap]", "");
  make_pipe("pipe.mcap");
  assert_refused(NULL, TB_ERR_INVALID, "pipe.mcap: not a regular file");
  char *metadata = tb__test_path(folder, "metadata.yaml");
  assert_int_equal(unlink(metadata), 0);
  free(metadata);
  make_pipe("metadata.yaml");
  assert_refused(NULL, TB_ERR_INVALID, "metadata.yaml: not a regular file");
}

static void test_arguments(void **state)
{
  (void)state;
  tb_bag_reader_t *reader = NULL;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  assert_status(tb_bag_reader_open(NULL, NULL, &reader, NULL), TB_ERR_INVALID);
  assert_status(tb_bag_reader_open("", NULL, &reader, NULL), TB_ERR_INVALID);
  options.topic_count = 1;
  assert_status(tb_bag_reader_open(folder, &options, &reader, NULL), TB_ERR_INVALID);
  const char *none[] = {NULL};
  options.topics = none;
  assert_status(tb_bag_reader_open(folder, &options, &reader, NULL), TB_ERR_INVALID);
  options = (tb_bag_reader_options_t){.counts = (tb_bag_counts_t)9};
  assert_status(tb_bag_reader_open(folder, &options, &reader, NULL), TB_ERR_INVALID);
  assert_status(tb_bag_reader_open("/dev/null", NULL, &reader, NULL), TB_ERR_INVALID);
}

static void test_databases_of_others(void **state)
{
  (void)state;
  static const struct {
    const char *sql;
    tb_status_t status;
    const char *said;
  } cases[] = {
      {"DROP TABLE messages", TB_ERR_UNSUPPORTED, "not of rosbag2"},
      {"DROP TABLE topics", TB_ERR_UNSUPPORTED, "not of rosbag2"},
      {"DROP TABLE messages; CREATE VIEW messages AS SELECT 1 AS id, 1 AS topic_id, 1 AS "
       "timestamp, "
       "x'00010000' AS data",
       TB_ERR_UNSUPPORTED, "not of rosbag2"},
      {"DROP TABLE messages; CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, "
       "data)",
       TB_ERR_UNSUPPORTED, "not of rosbag2"},
      {"ALTER TABLE messages RENAME data TO payload", TB_ERR_UNSUPPORTED, "no such column: data"},
      {"ALTER TABLE topics RENAME type TO kind", TB_ERR_UNSUPPORTED, "no such column: type"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[16];
    snprintf(name, sizeof name, "%zu.db3", i);
    write_db(name, 1, 1, 0, 1);
    change_db(name, cases[i].sql);
    assert_refused(name, cases[i].status, cases[i].said);
  }
}

static void test_own_metadata_decides_compression(void **state)
{
  (void)state;
  write_db("a.db3", 4, 1, 0, 1);
  change_db("a.db3", "INSERT INTO metadata VALUES (1, 9, 'version: 9'),"
                     "(2, 9, 'version: 9' || char(10) || 'compression_mode: MESSAGE')");
  tb_bag_reader_t *reader = open_bag("a.db3", NULL);
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  assert_int_equal(tb_bag_reader_info(reader)->compression, TB_BAG_COMPRESSION_MESSAGES);
  assert_status(tb_bag_reader_next(reader, &message, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "row 1: its payload is not compressed"));
  tb_bag_reader_close(reader);
  change_db("a.db3", "UPDATE metadata SET metadata = '['");
  assert_int_equal(count_and_close(open_bag("a.db3", NULL)), 1);
  change_db("a.db3", "UPDATE metadata SET metadata = x'00'");
  assert_int_equal(count_and_close(open_bag("a.db3", NULL)), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_every_schema_version),
      TEST(test_message_is_what_was_recorded),
      TEST(test_rows_out_of_order_come_by_time),
      TEST(test_folder_without_metadata_in_natural_order),
      TEST(test_the_metadata_opens_its_folder),
      TEST(test_topics_are_joined_by_name),
      TEST(test_times_come_from_the_data),
      TEST(test_counts_of_metadata_only_if_the_total_agrees),
      TEST(test_counts_of_the_summary),
      TEST(test_qos_of_metadata_goes_first),
      TEST(test_doubtful_qos_is_default_with_a_warning),
      TEST(test_files_that_may_not_belong_together),
      TEST(test_odd_file_names),
      TEST(test_paths_with_the_folder_before_them),
      TEST(test_paths_outside_are_refused),
      TEST(test_a_folder_of_bags_is_named_with_what_it_holds),
      TEST(test_what_opening_refuses),
      TEST(test_pipes_are_refused),
      TEST(test_arguments),
      TEST(test_databases_of_others),
      TEST(test_own_metadata_decides_compression),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
