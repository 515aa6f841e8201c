/* What the writer makes is what the reader gives, also of a file that was never closed. */
#include <libdeflate.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <timebase/bag_reader.h>

#include "bag/test_bag.h"
#include "mcap/crc.h"
#include "mcap/index.h"
#include "mcap/mcap_format.h"
#include "seed.h"
#include "storage/output.h"
#include "test.h"

#define MAX_MESSAGES 2000
#define MAX_TOPICS   6

typedef struct written {
  int64_t log_time_ns, publish_time_ns;
  unsigned number;
  uint32_t topic; /* from 0 */
  size_t size;
} written_t;

static char *folder, *path;
static written_t model[MAX_MESSAGES];
static size_t model_count;
static uint32_t topic_ids[MAX_TOPICS];
static uint8_t payload[70000];

static int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "a.mcap");
  model_count = 0;
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  free(path);
  tb__test_folder_remove(folder);
  return 0;
}

static void fill_payload(unsigned number, size_t size)
{
  memset(payload, (int)number, size);
  memcpy(payload, "\0\1\0\0", 4);
  memcpy(payload + 4, &number, sizeof number);
}

static tb__bag_output_t *create(const tb__bag_output_options_t *options, unsigned topics)
{
  tb__bag_output_t *output = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__mcap_output.create(&tb__mcap_output, path, options, &output, &error))
    fail_msg("%s", error.text);
  for (unsigned i = 0; i < topics; i++) {
    char name[32];
    snprintf(name, sizeof name, "/topic_%u", i);
    const tb__bag_output_topic_t topic = {.name = name,
                                          .type = i % 2 ? "std_msgs/msg/String" : "a/msg/B",
                                          .serialization_format = "cdr",
                                          .offers = i % 3 ? "- durability: 1\n" : "",
                                          .type_hash = i % 2 ? "RIHS01_12" : "",
                                          .definition = i % 2 ? "string data\n" : "",
                                          .definition_encoding = i % 2 ? "ros2msg" : ""};
    assert_ok(output->format->add_topic(output, &topic, &topic_ids[i], &error));
  }
  return output;
}

static tb_status_t try_write(tb__bag_output_t *output, uint32_t topic, int64_t log_time_ns,
                             size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  assert_true(model_count < MAX_MESSAGES);
  fill_payload((unsigned)model_count, size);
  int64_t publish_time_ns = model_count % 2 ? -1 : log_time_ns / 2;
  tb_status_t status = output->format->write(output, topic_ids[topic], log_time_ns, publish_time_ns,
                                             payload, size, &error);
  if (status) return status;
  if (publish_time_ns < 0) publish_time_ns = log_time_ns;
  model[model_count] =
      (written_t){log_time_ns, publish_time_ns, (unsigned)model_count, topic, size};
  model_count++;
  return TB_OK;
}

static int compare(const void *a, const void *b)
{
  const written_t *x = a, *y = b;
  if (x->log_time_ns != y->log_time_ns) return x->log_time_ns < y->log_time_ns ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* `expected_end`: what follows the messages. */
static void assert_file_is(written_t *expected, size_t count, tb_status_t expected_end)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  qsort(expected, count, sizeof *expected, compare);
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < count; i++) {
    char name[32];
    const written_t *one = &expected[i];
    snprintf(name, sizeof name, "/topic_%u", one->topic);
    if (tb_bag_reader_next(reader, &message, &error)) fail_msg("message %zu: %s", i, error.text);
    fill_payload(one->number, one->size);
    assert_int_equal(message.log_time_ns, one->log_time_ns);
    assert_int_equal(message.publish_time_ns, one->publish_time_ns);
    assert_string_equal(info->topics[message.topic].name, name);
    assert_int_equal(message.size, one->size);
    assert_memory_equal(message.data, payload, one->size);
  }
  assert_int_equal(tb_bag_reader_next(reader, &message, &error), expected_end);
  if (expected_end != TB_ERR_END)
    assert_int_equal(tb_bag_reader_next(reader, &message, &error), TB_ERR_END);
  tb_bag_reader_close(reader);
}

/* The index must come of the summary, not of a scan. */
static void assert_summary(void)
{
  tb__bag_input_t input;
  tb__mcap_index_t index = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__bag_input_open(path, path, &input, &error));
  if (tb__mcap_summary_load(&input, &index, &error)) fail_msg("%s", error.text);
  assert_int_equal(index.message_count, model_count);
  tb__mcap_index_fini(&index);
  tb__bag_input_close(&input);
}

static void test_round_trips(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int i = 0; i < 30; i++) {
    const tb__bag_output_options_t options = {.chunk_size = 1 + test_random(&random) % 20000,
                                              .compression = (tb__bag_output_compression_t)(i % 3),
                                              .level = (int)(test_random(&random) % 4),
                                              .ros_distro = "jazzy"};
    unsigned topics = 1 + (unsigned)(test_random(&random) % MAX_TOPICS);
    size_t count = test_random(&random) % 300;
    model_count = 0;
    remove(path);
    tb__bag_output_t *output = create(&options, topics);
    for (size_t k = 0; k < count; k++) {
      uint64_t size = 8 + test_random(&random) % (k % 50 == 49 ? 60000 : 200);
      int64_t time_ns = 1000 * (int64_t)k + (int64_t)(test_random(&random) % 5000);
      assert_ok(try_write(output, (uint32_t)(test_random(&random) % topics), time_ns, size));
      if (test_random(&random) % 60 == 0) assert_ok(output->format->flush(output, k % 2, NULL));
    }
    assert_ok(
        output->format->close(output, &(tb__bag_output_metadata_t){.text = "version: 9\n"}, NULL));
    assert_summary();
    assert_file_is(model, model_count, TB_ERR_END);
  }
}

static void test_topics(void **state)
{
  (void)state;
  const tb__bag_output_options_t options = {.ros_distro = "rolling"};
  tb__bag_output_t *output = create(&options, 3);
  assert_ok(try_write(output, 1, 5, 12));
  assert_ok(output->format->close(output, NULL, NULL));
  tb_bag_reader_t *reader = NULL;
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->topic_count, 3);
  assert_string_equal(info->ros_distro, "rolling");
  assert_string_equal(info->topics[1].type, "std_msgs/msg/String");
  assert_string_equal(info->topics[1].type_hash, "RIHS01_12");
  assert_string_equal(info->topics[0].type_hash, "");
  assert_int_equal(info->topics[1].message_count, 1);
  assert_int_equal(info->topics[1].qos.durability, TB_QOS_TRANSIENT_LOCAL);
  tb_bag_reader_close(reader);
  tb__bag_output_t *again = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_int_equal(tb__mcap_output.create(&tb__mcap_output, path, &options, &again, &error),
                   TB_ERR_BUSY);
  assert_non_null(strstr(error.text, path));
}

/* What has been flushed is in the file, whatever becomes of the process; then it ends early. */
static void test_flushed_is_readable(void **state)
{
  (void)state;
  const tb__bag_output_options_t options = {.compression = TB__BAG_OUTPUT_LZ4};
  tb__bag_output_t *output = create(&options, 2);
  for (int i = 0; i < 100; i++)
    assert_ok(try_write(output, (uint32_t)i % 2, i, 100));
  assert_ok(output->format->flush(output, false, NULL));
  size_t flushed = model_count;
  assert_ok(try_write(output, 0, 1000, 100));
  written_t expected[100];
  memcpy(expected, model, flushed * sizeof *model);
  assert_file_is(expected, flushed, TB_ERR_TRUNCATED);
  assert_ok(output->format->close(output, NULL, NULL));
  assert_file_is(model, model_count, TB_ERR_END);
}

static void limit_file_size(rlim_t size)
{
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = size;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A full disk: the file is whole up to the last chunk, and writing continues when there is room
 * again. */
static void test_no_room_left(void **state)
{
  (void)state;
  signal(SIGXFSZ, SIG_IGN);
  const tb__bag_output_options_t options = {.chunk_size = 4000};
  tb__bag_output_t *output = create(&options, 1);
  limit_file_size(20000);
  tb_status_t status = TB_OK;
  while (!status)
    status = try_write(output, 0, (int64_t)model_count, 500);
  assert_int_equal(status, TB_ERR_SYSTEM);
  assert_int_equal(try_write(output, 0, 1, 500), TB_ERR_SYSTEM);
  size_t chunk = 7; /* messages */
  assert_true(model_count % chunk == 0 && model_count > 2 * chunk);
  written_t expected[MAX_MESSAGES];
  memcpy(expected, model, model_count * sizeof *model);
  assert_file_is(expected, model_count - chunk, TB_ERR_TRUNCATED);
  limit_file_size(RLIM_INFINITY);
  assert_ok(try_write(output, 0, 1000, 500));
  assert_ok(output->format->close(output, NULL, NULL));
  assert_summary();
  assert_file_is(model, model_count, TB_ERR_END);
}

static void test_what_is_refused(void **state)
{
  (void)state;
  const tb__bag_output_options_t options = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb__bag_output_t *output = create(&options, 1);
  assert_int_equal(output->format->write(output, 99, 1, 1, payload, 4, &error), TB_ERR_INVALID);
  assert_int_equal(output->format->write(output, topic_ids[0], -1, 1, payload, 4, &error),
                   TB_ERR_INVALID);
  assert_int_equal(
      output->format->write(output, topic_ids[0], 1, 1, payload, (size_t)1 << 31, &error),
      TB_ERR_LIMIT);
  assert_ok(output->format->close(output, NULL, NULL));
  assert_file_is(model, 0, TB_ERR_END);
}

static void test_joined_crc(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (size_t i = 0; i < sizeof payload; i++)
    payload[i] = (uint8_t)test_random(&random);
  for (int i = 0; i < 200; i++) {
    size_t size = test_random(&random) % sizeof payload;
    size_t first = size ? test_random(&random) % size : 0;
    uint32_t a = libdeflate_crc32(0, payload, first);
    uint32_t b = libdeflate_crc32(0, payload + first, size - first);
    assert_int_equal(tb__mcap_crc_join(a, b, size - first), libdeflate_crc32(0, payload, size));
  }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_round_trips),  TEST(test_topics),          TEST(test_flushed_is_readable),
      TEST(test_no_room_left), TEST(test_what_is_refused), cmocka_unit_test(test_joined_crc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
