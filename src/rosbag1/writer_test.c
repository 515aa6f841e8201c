/* Writing bags of ROS 1: what is read back, and what is left of one that was not closed. */
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#define FIXTURE_FILE "a.bag"

#include "bag/file_fixture.h"
#include "test.h"

#define S TB_NS_PER_S

static tb_bag_writer_options_t options_of(tb_bag_chunk_compression_t compression)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.storage_id = "rosbag1";
  options.chunk_compression = compression;
  options.chunk_size = 256; /* several chunks */
  return options;
}

static size_t add(tb_bag_writer_t *writer, const char *name, const char *publisher,
                  const char *offers)
{
  tb_error_t error = TB_ERROR_INIT;
  size_t id = SIZE_MAX;
  const tb_bag_writer_topic_t topic = {.name = name,
                                       .type = "std_msgs/String",
                                       .serialization_format = "ros1",
                                       .offers = offers,
                                       .type_hash = "992ce8a1687cec8c8bd883ec73ca41d1",
                                       .definition = "string data\n",
                                       .definition_encoding = "ros1msg",
                                       .publisher = publisher};
  if (tb_bag_writer_add_topic(writer, &topic, &id, &error)) fail_msg("%s", error.text);
  return id;
}

static tb_bag_writer_t *begin(const tb_bag_writer_options_t *options)
{
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_writer_create(path, options, &writer, &error)) fail_msg("%s", error.text);
  return writer;
}

/* 50 messages, by turns of two publishers, each pair of them in the wrong order. */
static void write_all(tb_bag_writer_t *writer)
{
  tb_error_t error = TB_ERROR_INIT;
  size_t topics[] = {add(writer, "/a", "/one", ""), add(writer, "/a", "/two", ""),
                     add(writer, "/unused", "/one", "")};
  for (uint32_t i = 0; i < 50; i++)
    assert_ok(
        tb_bag_writer_write(writer, topics[i % 2], (100 + (i ^ 1)) * S, -1, &i, sizeof i, &error));
}

static tb_bag_reader_t *open_bag(const char *where, tb_bag_damage_t damage)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.damage = damage;
  if (tb_bag_reader_open(where, &options, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

static void expect_all(const char *where, tb_bag_damage_t damage)
{
  tb_bag_message_t message;
  tb_bag_reader_t *reader = open_bag(where, damage);
  for (uint32_t i = 0; i < 50; i++) {
    uint32_t number = i ^ 1;
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(message.log_time_ns, (100 + i) * S);
    assert_int_equal(message.size, 4);
    assert_memory_equal(message.data, &number, 4);
    assert_string_equal(message.publisher, number % 2 ? "/two" : "/one");
  }
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

static void on_finding(const char *text, void *user)
{
  (void)user;
  fail_msg("%s", text);
}

static void test_read_back(void **state)
{
  (void)state;
  for (int i = 0; i < 3; i++) {
    static const tb_bag_chunk_compression_t all[] = {TB_BAG_CHUNKS_PLAIN, TB_BAG_CHUNKS_BZ2,
                                                     TB_BAG_CHUNKS_LZ4};
    static const char *const formats[] = {"", "bz2", "lz4"};
    tb_bag_writer_options_t options = options_of(all[i]);
    tb_error_t error = TB_ERROR_INIT;
    tb_bag_check_result_t result;
    tb_bag_writer_t *writer = begin(&options);
    write_all(writer);
    assert_ok(tb_bag_writer_close(writer, &error));
    expect_all(path, TB_BAG_DAMAGE_REFUSE);
    expect_all(path, TB_BAG_DAMAGE_SALVAGE);
    assert_ok(tb_bag_check(path, on_finding, NULL, &result, &error));
    tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    assert_string_equal(info->compression_format, formats[i]);
    assert_int_equal(info->topic_count, 1); /* the one without messages is left out */
    assert_int_equal(info->topics[0].message_count, 50);
    tb_bag_reader_close(reader);
    unlink(path);
  }
}

/* A process that is killed loses no more than the chunk that it had not flushed. */
static void test_unclosed(void **state)
{
  (void)state;
  size_t size = 0;
  tb_bag_writer_options_t options = options_of(TB_BAG_CHUNKS_LZ4);
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_t *writer = begin(&options);
  write_all(writer);
  assert_ok(tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, &error));
  void *bytes = tb__test_read(path, &size);
  assert_ok(tb_bag_writer_close(writer, &error));
  char *copy = tb__test_path(folder, "killed.bag.active");
  tb__test_write(copy, bytes, size);
  tb_bag_reader_t *reader = open_bag(copy, TB_BAG_DAMAGE_REFUSE);
  assert_int_equal(tb_bag_reader_info(reader)->unclosed_count, 1);
  tb_bag_reader_close(reader);
  expect_all(copy, TB_BAG_DAMAGE_SALVAGE);
  free(copy);
  free(bytes);
}

static void test_latched(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = options_of(TB_BAG_CHUNKS_PLAIN);
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_t *writer = begin(&options);
  size_t topic = add(writer, "/map", "/server", "- durability: transient_local\n");
  assert_ok(tb_bag_writer_write(writer, topic, S, -1, "\0\0\0\0", 4, &error));
  assert_ok(tb_bag_writer_close(writer, &error));
  tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
  assert_int_equal(tb_bag_reader_info(reader)->topics[0].qos.durability, TB_QOS_TRANSIENT_LOCAL);
  tb_bag_reader_close(reader);
}

static void test_split(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = options_of(TB_BAG_CHUNKS_PLAIN);
  tb_error_t error = TB_ERROR_INIT;
  options.max_duration.ns = 25 * S;
  tb_bag_writer_t *writer = begin(&options);
  write_all(writer);
  assert_ok(tb_bag_writer_close(writer, &error));
  char *first = tb__test_path(folder, "a_0.bag"), *second = tb__test_path(folder, "a_1.bag");
  assert_int_equal(access(first, F_OK), 0);
  assert_int_equal(access(second, F_OK), 0);
  assert_int_equal(access(path, F_OK), -1);
  expect_all(folder, TB_BAG_DAMAGE_REFUSE);
  free(first);
  free(second);
}

static void test_refused(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = options_of(TB_BAG_CHUNKS_ZSTD);
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_t *writer = NULL, *other = NULL;
  size_t id;
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_UNSUPPORTED);
  options = options_of(TB_BAG_CHUNKS_BZ2);
  options.storage_id = "mcap";
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_UNSUPPORTED);
  options = options_of(TB_BAG_CHUNKS_PLAIN);
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  assert_status(tb_bag_writer_create(path, &options, &writer, &error), TB_ERR_UNSUPPORTED);
  options.compression_mode = TB_BAG_COMPRESS_NONE;
  writer = begin(&options);
  assert_status(tb_bag_writer_create(path, &options, &other, &error), TB_ERR_INVALID);
  size_t topic = add(writer, "/a", "/one", "");
  tb_bag_writer_topic_t again = {
      .name = "/a", .type = "std_msgs/String", .serialization_format = "ros1", .publisher = "/one"};
  assert_status(tb_bag_writer_add_topic(writer, &again, &id, &error), TB_ERR_INVALID);
  again.type_hash = "0123456789abcdef0123456789abcdef"; /* it was changed meanwhile */
  assert_ok(tb_bag_writer_add_topic(writer, &again, &id, &error));
  assert_status(tb_bag_writer_add_topic(writer, &again, &id, &error), TB_ERR_INVALID);
  assert_status(
      tb_bag_writer_write(writer, topic, INT64_C(4294967296) * S, -1, "\0\0\0\0", 4, &error),
      TB_ERR_INVALID);
  assert_status(tb_bag_writer_close(writer, &error), TB_ERR_INVALID); /* that ended the file */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_read_back), TEST(test_unclosed), TEST(test_latched),
      TEST(test_split),     TEST(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
