/* Reading ahead on a thread: the same messages and failures, in the same order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "seed.h"
#include "test.h"

#define MESSAGES 3000
#define LARGE    1000000 /* more than a block of the queue */

static char *folder, *path;

static int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "a.bag");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  free(path);
  tb__test_folder_remove(folder);
  return 0;
}

/* In a bag of ROS 1, messages name their publishers. */
static void write_bag(void)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  size_t topics[3];
  uint8_t *payload = calloc(1, LARGE);
  assert_non_null(payload);
  options.storage_id = "rosbag1";
  options.chunk_size = 20000;
  assert_ok(tb_bag_writer_create(path, &options, &writer, NULL));
  for (int i = 0; i < 3; i++) {
    char name[16], publisher[16];
    snprintf(name, sizeof name, "/topic%d", i);
    snprintf(publisher, sizeof publisher, "/node%d", i);
    const tb_bag_writer_topic_t topic = {.name = name,
                                         .type = "std_msgs/String",
                                         .serialization_format = "ros1",
                                         .type_hash = "992ce8a1687cec8c8bd883ec73ca41d1",
                                         .definition = "string data\n",
                                         .definition_encoding = "ros1msg",
                                         .publisher = publisher};
    assert_ok(tb_bag_writer_add_topic(writer, &topic, &topics[i], NULL));
  }
  for (int i = 0; i < MESSAGES; i++) {
    uint32_t size = i % 1000 == 500 ? LARGE : 8 + (uint32_t)(i * 37 % 900), length = size - 4;
    memset(payload, i & 0xff, size);
    memcpy(payload, &length, sizeof length);
    assert_ok(tb_bag_writer_write(writer, topics[i % 3], INT64_C(1000) * (i + 1), -1, payload, size,
                                  NULL));
  }
  assert_ok(tb_bag_writer_close(writer, NULL));
  free(payload);
}

static void overwrite(long offset, size_t size)
{
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, offset, SEEK_SET), 0);
  for (size_t i = 0; i < size; i++)
    assert_int_equal(fputc('x', file), 'x');
  assert_int_equal(fclose(file), 0);
}

static tb_bag_reader_t *open_bag(size_t read_ahead_size)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.read_ahead_size = read_ahead_size;
  if (tb_bag_reader_open(path, &options, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

/* The next one of both is the same. False: both are at their end. */
static bool compare_next(tb_bag_reader_t *one, tb_bag_reader_t *other)
{
  tb_bag_message_t a, b;
  tb_error_t why_a = TB_ERROR_INIT, why_b = TB_ERROR_INIT;
  tb_status_t status = tb_bag_reader_next(one, &a, &why_a);
  assert_status(tb_bag_reader_next(other, &b, &why_b), status);
  if (status) {
    assert_string_equal(why_a.text, why_b.text);
    assert_int_equal(why_a.offset, why_b.offset);
    return status != TB_ERR_END;
  }
  assert_int_equal(a.topic, b.topic);
  assert_int_equal(a.log_time_ns, b.log_time_ns);
  assert_int_equal(a.publish_time_ns, b.publish_time_ns);
  assert_int_equal(a.row_id, b.row_id);
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.data, b.data, a.size);
  assert_string_equal(a.publisher, b.publisher);
  return true;
}

static size_t compare_rest(tb_bag_reader_t *one, tb_bag_reader_t *other)
{
  size_t count = 0;
  while (compare_next(one, other))
    count++;
  return count;
}

static void test_same(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 300000, 100000000};
  write_bag();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tb_bag_reader_t *plain = open_bag(0), *ahead = open_bag(sizes[i]);
    assert_int_equal(compare_rest(plain, ahead), MESSAGES);
    assert_int_equal(compare_rest(plain, ahead), 0); /* the end stays */
    tb_bag_reader_close(plain);
    tb_bag_reader_close(ahead);
  }
}

/* A chunk that is damaged is reported where it comes, and reading goes on after it. */
static void test_failures(void **state)
{
  (void)state;
  write_bag();
  for (long offset = 100000; offset < 1500000; offset += 400000)
    overwrite(offset, 1200);
  tb_bag_reader_t *plain = open_bag(0), *ahead = open_bag(5000000);
  size_t count = compare_rest(plain, ahead);
  assert_true(count > MESSAGES / 2);
  tb_bag_message_t message;
  assert_ok(tb_bag_reader_seek(plain, 0));
  size_t failures = 0;
  for (size_t i = 0; i < count; i++)
    failures += tb_bag_reader_next(plain, &message, NULL) != TB_OK;
  assert_true(failures > 0);
  tb_bag_reader_close(plain);
  tb_bag_reader_close(ahead);
}

/* Seeks, and the end of the reader, at any moment of the thread. */
static void test_seek(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  write_bag();
  tb_bag_reader_t *plain = open_bag(0), *ahead = open_bag(600000);
  for (int round = 0; round < 100; round++) {
    int64_t time_ns = (int64_t)(test_random(&random) % (1000 * MESSAGES));
    uint64_t count = test_random(&random) % 50;
    assert_ok(tb_bag_reader_seek(plain, time_ns));
    assert_ok(tb_bag_reader_seek(ahead, time_ns));
    for (; count > 0; count--)
      compare_next(plain, ahead);
  }
  tb_bag_reader_close(plain);
  tb_bag_reader_close(ahead);
}

/* C7: the thread is the parent's. */
static void test_fork(void **state)
{
  (void)state;
  tb_bag_message_t message;
  write_bag();
  tb_bag_reader_t *reader = open_bag(100000);
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  pid_t child = fork();
  if (child == 0) {
    bool is_refused = tb_bag_reader_next(reader, &message, NULL) == TB_ERR_FORKED &&
                      tb_bag_reader_seek(reader, 0) == TB_ERR_FORKED;
    tb_bag_reader_close(reader);
    _exit(is_refused ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  tb_bag_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {TEST(test_same), TEST(test_failures), TEST(test_seek),
                                     TEST(test_fork)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
