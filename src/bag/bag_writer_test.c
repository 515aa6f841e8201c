/* Bags that are written, and read back. */
#include <timebase/bag_writer.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timebase/bag_reader.h>

#define FIXTURE_FILE "bag"

#include "bag/file_fixture.h"
#include "bag/metadata.h"
#include "bag/writer.h"
#include "seed.h"
#include "test.h"

#define MAX_SPLITS 16

static const char *storage_id = "sqlite3";
static const char *extension = "db3";

static const tb_bag_writer_topic_t topic_a = {
    .name = "/a",
    .type = "std_msgs/msg/String",
    .offers = "- history: 1\n  depth: 7\n  reliability: 2\n  durability: 1\n  deadline:\n    sec: "
              "2147483647\n    nsec: 4294967295\n  liveliness: 1\n",
    .type_hash = "RIHS01_aa",
    .definition = "string data\n",
    .definition_encoding = "ros2msg"};
static const tb_bag_writer_topic_t topic_b = {.name = "/b", .type = "std_msgs/msg/Header"};

static tb_bag_writer_t *create(const tb_bag_writer_options_t *options)
{
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_options_t chosen = TB_BAG_WRITER_OPTIONS_INIT;
  if (options) chosen = *options;
  chosen.storage_id = storage_id;
  if (tb_bag_writer_create(path, &chosen, &writer, &error)) fail_msg("%s", error.text);
  size_t topic = 99;
  assert_ok(tb_bag_writer_add_topic(writer, &topic_a, &topic, &error));
  assert_int_equal(topic, 0);
  assert_ok(tb_bag_writer_add_topic(writer, &topic_b, &topic, &error));
  assert_int_equal(topic, 1);
  return writer;
}

/* Payloads differ in size and bytes. */
static size_t payload(uint8_t *out, int number)
{
  size_t size = 4 + (size_t)(number * 37 % 300);
  for (size_t i = 0; i < size; i++)
    out[i] = i < 4 ? (uint8_t[]){0, 1, 0, 0}[i] : (uint8_t)(number + (int)(i / 8));
  return size;
}

static void write_numbers(tb_bag_writer_t *writer, int from, int to)
{
  tb_error_t error = TB_ERROR_INIT;
  for (int i = from; i < to; i++) {
    uint8_t data[512];
    size_t size = payload(data, i);
    if (tb_bag_writer_write(writer, (size_t)(i % 2), 1000 + i, -1, data, size, &error))
      fail_msg("%s", error.text);
  }
}

static void close_writer(tb_bag_writer_t *writer)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_writer_close(writer, &error)) fail_msg("%s", error.text);
}

static tb_bag_reader_t *open_reader(const char *at)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(at, NULL, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

static bool unclosed; /* the files that are read may be */

/* Messages from `from` on, byte for byte; returns how many. */
/* MCAP reports a file that is not closed, after everything that it has; at a split there may be
 * two, and one without messages is reported first. */
static tb_status_t next_message(tb_bag_reader_t *reader, int *unclosed_left, tb_bag_message_t *out,
                                tb_error_t *error)
{
  tb_status_t status;
  do
    status = tb_bag_reader_next(reader, out, error);
  while (status == TB_ERR_TRUNCATED && (*unclosed_left)-- > 0);
  return status;
}

static int read_numbers(tb_bag_reader_t *reader, int from)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status;
  int number = from, unclosed_left = unclosed ? 2 : 0;
  for (; !(status = next_message(reader, &unclosed_left, &message, &error)); number++) {
    uint8_t data[512];
    size_t size = payload(data, number);
    assert_int_equal(message.log_time_ns, 1000 + number);
    const char *name = tb_bag_reader_info(reader)->topics[message.topic].name;
    assert_string_equal(name, number % 2 ? "/b" : "/a");
    assert_int_equal(message.size, size);
    assert_memory_equal(message.data, data, size);
  }
  if (status != TB_ERR_END) fail_msg("%s", error.text);
  return number - from;
}

static void assert_bag(int count)
{
  tb_bag_reader_t *reader = open_reader(path);
  assert_int_equal(read_numbers(reader, 0), count);
  tb_bag_reader_close(reader);
}

static tb__bag_metadata_t read_metadata(void)
{
  size_t size = 0;
  char *name = tb__test_path(path, "metadata.yaml");
  char *text = tb__test_read(name, &size);
  tb__bag_metadata_t metadata = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__bag_metadata_parse(text, size, &metadata, &error)) fail_msg("%s", error.text);
  free(text);
  free(name);
  return metadata;
}

static bool exists(const char *name)
{
  char *at = tb__test_path(path, name);
  bool result = access(at, F_OK) == 0;
  free(at);
  return result;
}

/* "bag_2.mcap" and so on; valid until the fourth call after it. */
static const char *file_name(int number)
{
  static char names[4][24];
  static int next;
  next = (next + 1) % 4;
  snprintf(names[next], sizeof names[next], "bag_%d.%s", number, extension);
  return names[next];
}

static void test_round_trip(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.ros_distro = "jazzy";
  tb_bag_writer_t *writer = create(&options);
  write_numbers(writer, 0, 1000);
  tb_bag_writer_info_t info;
  tb_bag_writer_get_info(writer, &info);
  assert_int_equal(info.message_count, 1000);
  assert_int_equal(info.start_ns, 1000);
  assert_int_equal(info.end_ns, 1999);
  assert_int_equal(info.topic_count, 2);
  assert_int_equal(info.file_count, 1);
  assert_true(info.file_size > 100000);
  assert_string_equal(info.path, path);
  assert_int_equal(tb_bag_writer_topic_count(writer, 1), 500);
  assert_int_equal(tb_bag_writer_topic_count(writer, 2), 0);
  close_writer(writer);
  assert_true(exists(file_name(0)));
  assert_false(exists("bag_0.db3-wal") || exists("bag_0.db3-shm") || exists("metadata.yaml.new"));
  tb_bag_reader_t *reader = open_reader(path);
  const tb_bag_info_t *read = tb_bag_reader_info(reader);
  assert_int_equal(read->metadata_version, 9);
  assert_string_equal(read->ros_distro, "jazzy");
  assert_string_equal(read->topics[0].type_hash, "RIHS01_aa");
  assert_int_equal(read->topics[0].qos_origin, TB_BAG_QOS_RECORDED);
  assert_int_equal(read->topics[0].qos.reliability, TB_QOS_BEST_EFFORT);
  assert_int_equal(read->topics[0].qos.durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(read->topics[1].qos_origin, TB_BAG_QOS_DEFAULT);
  assert_int_equal(read->topics[0].message_count, 500);
  assert_int_equal(read_numbers(reader, 0), 1000);
  tb_bag_reader_close(reader);
}

static char *query(const char *sql)
{
  char *file = tb__test_path(path, "bag_0.db3");
  sqlite3 *database = NULL;
  sqlite3_stmt *statement = NULL;
  assert_int_equal(sqlite3_open(file, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  char *text = strdup((const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  free(file);
  return text;
}

static void assert_query(const char *sql, const char *expected)
{
  char *text = query(sql);
  assert_string_equal(text, expected);
  free(text);
}

/* The tables that rosbag2 of jazzy makes, and what it finds in them. */
static void test_schema_of_jazzy(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.ros_distro = "jazzy";
  tb_bag_writer_t *writer = create(&options);
  write_numbers(writer, 0, 3);
  close_writer(writer);
  assert_query("SELECT schema_version || ros_distro FROM schema", "4jazzy");
  assert_query("SELECT group_concat(name, ' ') FROM pragma_table_info('topics')",
               "id name type serialization_format offered_qos_profiles type_description_hash");
  assert_query("SELECT group_concat(name, ' ') FROM pragma_table_info('messages')",
               "id topic_id timestamp data");
  assert_query("SELECT group_concat(name, ' ') FROM pragma_table_info('message_definitions')",
               "id topic_type encoding encoded_message_definition type_description_hash");
  assert_query("SELECT sql FROM sqlite_master WHERE name = 'timestamp_idx'",
               "CREATE INDEX timestamp_idx ON messages (timestamp ASC)");
  assert_query("SELECT encoding || ' ' || encoded_message_definition FROM message_definitions "
               "WHERE topic_type = 'std_msgs/msg/String'",
               "ros2msg string data\n");
  assert_query("SELECT offered_qos_profiles FROM topics WHERE name = '/a'",
               "- history: keep_last\n  depth: 7\n  reliability: best_effort\n"
               "  durability: transient_local\n"
               "  deadline:\n    sec: 9223372036\n    nsec: 854775807\n"
               "  lifespan:\n    sec: 0\n    nsec: 0\n  liveliness: automatic\n"
               "  liveliness_lease_duration:\n    sec: 0\n    nsec: 0\n"
               "  avoid_ros_namespace_conventions: false\n");
  assert_query("SELECT metadata_version FROM metadata ORDER BY id DESC LIMIT 1", "9");
  assert_query("SELECT substr(metadata, 1, 11) FROM metadata ORDER BY id DESC LIMIT 1",
               "version: 9\n");
  assert_query("PRAGMA journal_mode", "delete");
}

/* A recording that is never closed has them too. */
static void test_notes_are_there_from_the_first_metadata_on(void **state)
{
  (void)state;
  char key[] = "manifest", value[] = "mode: replay\nname: \"x\"\n";
  tb_bag_note_t notes[] = {{key, value}, {"b", ""}};
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.notes = notes;
  options.note_count = 2;
  tb_bag_writer_t *writer = create(&options);
  memset(key, 'x', sizeof key - 1); /* copied */
  memset(value, 'x', sizeof value - 1);
  size_t size = 0;
  char *name = tb__test_path(path, "metadata.yaml");
  char *text = tb__test_read(name, &size);
  text[size] = '\0';
  assert_non_null(strstr(text, "    manifest: \"mode: replay\\nname: \\\"x\\\"\\n\"\n"));
  free(text);
  free(name);
  close_writer(writer);

  tb_error_t error = TB_ERROR_INIT;
  tb_bag_note_t bad = {"a", "\xff"};
  options.notes = &bad;
  options.note_count = 1;
  assert_status(tb_bag_writer_create("/tmp/notes_test_none", &options, &writer, &error),
                TB_ERR_INVALID);
  options.notes = NULL;
  assert_status(tb_bag_writer_create("/tmp/notes_test_none", &options, &writer, &error),
                TB_ERR_INVALID);
}

/* Field by field what rosbag2 writes. */
static void test_metadata_text(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = create(NULL);
  write_numbers(writer, 5, 8);
  assert_ok(tb_bag_writer_set_custom_data(writer, "jump 1", "old", NULL));
  assert_ok(tb_bag_writer_set_custom_data(writer, "jump 1", "back: \"2 s\"", NULL));
  assert_status(tb_bag_writer_set_custom_data(writer, "\xff", "", NULL), TB_ERR_INVALID);
  assert_string_equal(tb_bag_writer_get_custom_data(writer, "jump 1"), "back: \"2 s\"");
  assert_null(tb_bag_writer_get_custom_data(writer, "jump"));
  close_writer(writer);
  size_t size = 0;
  char *name = tb__test_path(path, "metadata.yaml");
  char *text = tb__test_read(name, &size);
  text[size] = '\0';
  static const char expected[] =
      "rosbag2_bagfile_information:\n"
      "  version: 9\n"
      "  storage_identifier: sqlite3\n"
      "  duration:\n    nanoseconds: 2\n"
      "  starting_time:\n    nanoseconds_since_epoch: 1005\n"
      "  message_count: 3\n"
      "  topics_with_message_count:\n"
      "  - topic_metadata:\n"
      "      name: /a\n"
      "      type: std_msgs/msg/String\n"
      "      serialization_format: cdr\n"
      "      offered_qos_profiles:\n"
      "      - history: keep_last\n"
      "        depth: 7\n"
      "        reliability: best_effort\n"
      "        durability: transient_local\n"
      "        deadline:\n          sec: 9223372036\n          nsec: 854775807\n"
      "        lifespan:\n          sec: 0\n          nsec: 0\n"
      "        liveliness: automatic\n"
      "        liveliness_lease_duration:\n          sec: 0\n          nsec: 0\n"
      "        avoid_ros_namespace_conventions: false\n"
      "      type_description_hash: RIHS01_aa\n"
      "    message_count: 1\n"
      "  - topic_metadata:\n"
      "      name: /b\n"
      "      type: std_msgs/msg/Header\n"
      "      serialization_format: cdr\n"
      "      offered_qos_profiles: []\n"
      "      type_description_hash: \"\"\n"
      "    message_count: 2\n"
      "  compression_format: \"\"\n"
      "  compression_mode: \"\"\n"
      "  relative_file_paths:\n"
      "  - bag_0.db3\n"
      "  files:\n"
      "  - path: bag_0.db3\n"
      "    duration:\n      nanoseconds: 2\n"
      "    starting_time:\n      nanoseconds_since_epoch: 1005\n"
      "    message_count: 3\n"
      "  custom_data:\n"
      "    \"jump 1\": \"back: \\\"2 s\\\"\"\n"
      "  ros_distro: \"\"\n";
  assert_string_equal(text, expected);
  free(text);
  free(name);
}

static struct {
  int count;
  char closed[MAX_SPLITS][40], opened[MAX_SPLITS][40];
} splits;

static void on_split(const char *closed, const char *opened, void *user)
{
  assert_ptr_equal(user, &splits);
  assert_true(splits.count < MAX_SPLITS);
  assert_int_equal(access(closed, F_OK), 0);
  const char *names[] = {strrchr(closed, '/'), *opened ? strrchr(opened, '/') : "/"};
  snprintf(splits.closed[splits.count], 40, "%s", names[0] + 1);
  snprintf(splits.opened[splits.count++], 40, "%s", names[1] + 1);
}

static tb_bag_writer_options_t splitting(void)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  memset(&splits, 0, sizeof splits);
  options.on_split = on_split;
  options.user = &splits;
  return options;
}

static void test_splitting_by_duration(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = splitting();
  options.max_duration.ns = 9;
  tb_bag_writer_t *writer = create(&options);
  write_numbers(writer, 0, 25); /* 0 to 9, 10 to 19, 20 to 24 */
  tb__bag_metadata_t metadata = read_metadata();
  assert_string_equal(metadata.paths->last->text,
                      file_name(2)); /* the one in the making is there */
  assert_int_equal(metadata.message_count, 20);
  tb__bag_metadata_fini(&metadata);
  close_writer(writer);
  assert_int_equal(splits.count, 3);
  assert_string_equal(splits.closed[0], file_name(0));
  assert_string_equal(splits.opened[0], file_name(1));
  assert_string_equal(splits.closed[2], file_name(2));
  assert_string_equal(splits.opened[2], "");
  char *second = tb__test_path(path, file_name(1));
  tb_bag_reader_t *reader = open_reader(second);
  assert_int_equal(read_numbers(reader, 10), 10);
  tb_bag_reader_close(reader);
  free(second);
  assert_bag(25);
}

static void test_splitting_by_size(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = splitting();
  options.max_size = 100000;
  tb_bag_writer_t *writer = create(&options);
  write_numbers(writer, 0, 2000);
  close_writer(writer);
  assert_in_range(splits.count, 3, 6);
  assert_bag(2000);
}

static void test_splitting_on_demand(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = splitting();
  tb_bag_writer_t *writer = create(&options);
  write_numbers(writer, 0, 5);
  assert_ok(tb_bag_writer_split(writer, NULL));
  assert_ok(tb_bag_writer_split(writer, NULL)); /* an empty one */
  write_numbers(writer, 5, 7);
  close_writer(writer);
  assert_int_equal(splits.count, 3);
  assert_bag(7);
}

static void test_refusals(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.storage_id = "paper";
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "paper"));
  options.storage_id = "sqlite3";
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  options.compression_format = "rar";
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_UNSUPPORTED);
  options.compression_format = NULL;
  options.compression_level = 23;
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_INVALID);
  assert_status(tb_bag_writer_create("", NULL, &writer, &error), TB_ERR_INVALID);
  assert_status(tb_bag_writer_create(folder, NULL, &writer, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "exists"));
  assert_int_not_equal(access(path, F_OK), 0);
  writer = create(NULL);
  size_t topic = 77;
  assert_status(tb_bag_writer_add_topic(writer, &topic_a, &topic, &error), TB_ERR_INVALID);
  tb_bag_writer_topic_t bad = {.name = "/\xff", .type = "x"};
  assert_status(tb_bag_writer_add_topic(writer, &bad, &topic, &error), TB_ERR_INVALID);
  assert_int_equal(topic, 77);
  assert_status(tb_bag_writer_write(writer, 2, 1, 1, "", 0, &error), TB_ERR_INVALID);
  assert_status(tb_bag_writer_write(writer, 0, -1, 1, "", 0, &error), TB_ERR_INVALID);
  assert_status(tb_bag_writer_write(writer, 0, 1, 1, NULL, 0, &error), TB_ERR_INVALID);
  write_numbers(writer, 0, 4); /* no harm done */
  close_writer(writer);
  assert_ok(tb_bag_writer_close(NULL, NULL));
  assert_bag(4);
}

/* Publishers of a topic have a channel each, which is one topic to readers. */
static void test_publishers_in_mcap(void **state)
{
  (void)state;
  static const char *const publishers[] = {"/left", "/right", NULL};
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_topic_t topic = topic_b;
  tb_bag_writer_t *writer = NULL;
  tb_bag_message_t message;
  size_t ids[3], same;
  options.storage_id = "mcap";
  options.profile = "ros3";
  assert_status(tb_bag_writer_create(path, &options, &writer, NULL), TB_ERR_INVALID);
  options.profile = "";
  assert_ok(tb_bag_writer_create(path, &options, &writer, NULL));
  for (size_t i = 0; i < 3; i++) {
    topic.publisher = publishers[i];
    assert_ok(tb_bag_writer_add_topic(writer, &topic, &ids[i], NULL));
    assert_status(tb_bag_writer_add_topic(writer, &topic, &same, NULL), TB_ERR_INVALID);
  }
  for (int64_t i = 0; i < 6; i++)
    assert_ok(tb_bag_writer_write(writer, ids[i % 3], i, -1, "\0\1\0\0", 4, NULL));
  close_writer(writer);
  tb_bag_reader_t *reader = open_reader(path);
  assert_int_equal(tb_bag_reader_info(reader)->topic_count, 1);
  assert_int_equal(tb_bag_reader_info(reader)->topics[0].message_count, 6);
  assert_int_equal(tb_bag_reader_info(reader)->oddity_count, 0);
  for (size_t i = 0; i < 6; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    if (publishers[i % 3])
      assert_string_equal(message.publisher, publishers[i % 3]);
    else
      assert_null(message.publisher);
  }
  tb_bag_reader_close(reader);
  tb__bag_metadata_t metadata = read_metadata();
  assert_non_null(metadata.topics);
  assert_ptr_equal(metadata.topics->first, metadata.topics->last);
  tb__bag_metadata_fini(&metadata);
}

static void test_flushed_is_readable_at_once(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = create(NULL);
  write_numbers(writer, 0, 10);
  assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL));
  unclosed = true;
  assert_bag(10);
  write_numbers(writer, 10, 20);
  assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_DISK, NULL));
  assert_bag(20);
  unclosed = false;
  close_writer(writer);
  assert_bag(20);
}

/* What rosbag2 does not see: a folder that is gone takes rows as before. */
static void test_a_folder_that_is_removed(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = create(NULL);
  write_numbers(writer, 0, 10);
  char *moved = tb__test_path(folder, "moved");
  assert_int_equal(rename(path, moved), 0);
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, &error), TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, "removed"));
  assert_int_equal(tb_bag_writer_topic_count(writer, 0), 0);
  uint8_t data[4] = {0, 1};
  assert_status(tb_bag_writer_write(writer, 0, 1, 1, data, 4, &error), TB_ERR_NOT_FOUND);
  assert_int_not_equal(tb_bag_writer_split(writer, &error), TB_OK);
  assert_non_null(strstr(error.text, "No such file"));
  assert_int_not_equal(tb_bag_writer_close(writer, &error), TB_OK);
  free(moved);
}

static void test_a_closed_file_that_is_removed(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_t *writer = create(NULL);
  for (int i = 0; i < 3; i++) {
    if (i > 0) assert_ok(tb_bag_writer_split(writer, NULL));
    write_numbers(writer, 10 * i, 10 * i + 10);
  }
  char *file = tb__test_path(path, file_name(1));
  assert_int_equal(unlink(file), 0);
  assert_status(tb__bag_writer_finish(writer, &error), TB_ERR_NOT_FOUND);
  assert_ptr_equal(strstr(error.text, file), error.text);
  assert_int_equal(tb_bag_writer_topic_count(writer, 0) + tb_bag_writer_topic_count(writer, 1), 20);
  tb__bag_writer_free(writer);
  tb_bag_reader_t *reader = open_reader(path);
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 20);
  assert_int_equal(tb_bag_reader_info(reader)->file_count, 2);
  tb_bag_reader_close(reader);
  free(file);
}

/* As another user can do who may write to the folder above: that one's metadata.yaml stays. */
static void test_another_folder_in_its_place_is_not_changed(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = create(NULL);
  write_numbers(writer, 0, 10);
  char *moved = tb__test_path(folder, "moved"), *theirs = tb__test_path(path, "metadata.yaml");
  assert_int_equal(rename(path, moved), 0);
  assert_int_equal(mkdir(path, 0777), 0);
  int fd = open(theirs, O_WRONLY | O_CREAT | O_EXCL, 0666);
  assert_int_equal(close(fd), 0);
  assert_status(tb_bag_writer_close(writer, NULL), TB_ERR_NOT_FOUND);
  struct stat is;
  assert_int_equal(stat(theirs, &is), 0);
  assert_int_equal(is.st_size, 0);
  free(moved);
  free(theirs);
}

/* After a failure the counts are those of the file, and recording continues in the next file. */
static void test_going_on_after_a_failure(void **state)
{
  (void)state;
  tb_bag_writer_t *writer = create(NULL);
  write_numbers(writer, 0, 10);
  assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL));
  write_numbers(writer, 10, 20);
  char *file = tb__test_path(path, file_name(0));
  char *moved = tb__test_path(path, "moved");
  assert_int_equal(rename(file, moved), 0);
  assert_status(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL), TB_ERR_NOT_FOUND);
  assert_int_equal(tb_bag_writer_topic_count(writer, 0), 0);
  assert_ok(tb_bag_writer_split(writer, NULL));
  write_numbers(writer, 20, 30);
  assert_int_equal(tb_bag_writer_topic_count(writer, 0), 5);
  close_writer(writer);
  *strrchr(file, '.') = '\0';
  file[strlen(file) - 1] = '1';
  strcat(file, strrchr(file_name(1), '.'));
  tb_bag_reader_t *reader = open_reader(file);
  assert_int_equal(read_numbers(reader, 20), 10);
  tb_bag_reader_close(reader);
  free(file);
  free(moved);
}

/* A process that is killed at any moment leaves a prefix, with all that it had flushed. */
static void write_until_killed(int out)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.chunk_size = 2000;
  options.max_size = 200000;
  tb_bag_writer_t *writer = create(&options);
  for (int32_t i = 0;; i++) {
    write_numbers(writer, i, i + 1);
    if (i % 50) continue;
    assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL));
    if (write(out, &i, sizeof i) != sizeof i) _exit(1);
  }
}

static int32_t kill_a_writer(uint64_t *random)
{
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) write_until_killed(ends[1]);
  close(ends[1]);
  int32_t flushed = -1;
  int reports = 1 + (int)(test_random(random) % 60);
  for (int i = 0; i < reports; i++)
    assert_int_equal(read(ends[0], &flushed, sizeof flushed), sizeof flushed);
  for (uint64_t i = test_random(random) % 200000; i > 0; i--) /* somewhere in between */
    __asm__ volatile("");
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  while (read(ends[0], &flushed, sizeof flushed) == sizeof flushed)
    ;
  close(ends[0]);
  return flushed;
}

static void test_killed_writers(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int round = 0; round < 12; round++) {
    int32_t flushed = kill_a_writer(&random);
    tb_bag_reader_t *reader = open_reader(path);
    unclosed = true;
    assert_true(read_numbers(reader, 0) > flushed); /* a prefix: read_numbers checks each */
    unclosed = false;
    tb_bag_reader_close(reader);
    char *old = path;
    char name[16];
    snprintf(name, sizeof name, "bag%d", round);
    path = tb__test_path(folder, name);
    free(old);
  }
}

/* ---- a disk that is full: a file system of 1 MiB, in a process that may make one ---- */

#define REQUIRE(condition)                                                                         \
  if (!(condition)) _exit(__LINE__ % 200 + 1)

static uint64_t count_messages(void)
{
  tb_bag_reader_t *reader = NULL;
  REQUIRE(!tb_bag_reader_open(path, NULL, &reader, NULL));
  tb_bag_message_t message;
  uint64_t count = 0;
  for (; !tb_bag_reader_next(reader, &message, NULL); count++)
    ;
  REQUIRE(count == tb_bag_reader_info(reader)->message_count);
  tb_bag_reader_close(reader);
  return count;
}

static void fill_the_disk(void)
{
  char *ballast = tb__test_path(folder, "ballast");
  static const char bytes[300000];
  tb__test_write(ballast, bytes, sizeof bytes);
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.chunk_size = 20000;
  tb_bag_writer_t *writer = create(&options);
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  uint64_t written = 0;
  for (; !status; written++) {
    static const uint8_t data[1000] = {0, 1};
    status = tb_bag_writer_write(writer, 0, (int64_t)written, 0, data, sizeof data, &error);
  }
  tb_bag_writer_info_t info;
  tb_bag_writer_get_info(writer, &info);
  REQUIRE(status == TB_ERR_SYSTEM && strstr(error.text, file_name(0)));
  REQUIRE(info.message_count > 100 && info.message_count < written);
  REQUIRE(written - info.message_count <= 25); /* of the open transaction alone */
  REQUIRE(count_messages() == info.message_count);
  REQUIRE(unlink(ballast) == 0);
  REQUIRE(!tb_bag_writer_split(writer, &error)); /* there is room again */
  REQUIRE(!tb_bag_writer_write(writer, 0, 1, 0, "\0\1\0", 4, &error));
  REQUIRE(!tb_bag_writer_close(writer, &error));
  REQUIRE(count_messages() == info.message_count + 1);
  _exit(0);
}

static void test_a_full_disk(void **state)
{
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) _exit(255);
    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=1m") != 0) _exit(255);
    fill_the_disk();
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == 255) skip(); /* no right to mount */
  assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip),
      TEST(test_schema_of_jazzy),
      TEST(test_notes_are_there_from_the_first_metadata_on),
      TEST(test_metadata_text),
      TEST(test_splitting_by_duration),
      TEST(test_splitting_by_size),
      TEST(test_splitting_on_demand),
      TEST(test_refusals),
      TEST(test_flushed_is_readable_at_once),
      TEST(test_a_folder_that_is_removed),
      TEST(test_a_closed_file_that_is_removed),
      TEST(test_another_folder_in_its_place_is_not_changed),
      TEST(test_going_on_after_a_failure),
      TEST(test_a_full_disk),
      TEST(test_killed_writers),
  };
  const struct CMUnitTest tests_of_mcap[] = {
      TEST(test_publishers_in_mcap),       TEST(test_round_trip),
      TEST(test_splitting_by_duration),    TEST(test_splitting_by_size),
      TEST(test_splitting_on_demand),      TEST(test_flushed_is_readable_at_once),
      TEST(test_a_folder_that_is_removed), TEST(test_a_closed_file_that_is_removed),
      TEST(test_going_on_after_a_failure), TEST(test_a_full_disk),
      TEST(test_killed_writers),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  storage_id = "mcap";
  extension = "mcap";
  return failed + cmocka_run_group_tests(tests_of_mcap, NULL, NULL);
}
