/* Bags that rosbag2 itself wrote; TB_REAL_BAGS is the folder of those of TB_REAL_FORMAT. The same
 * messages are in both formats. */
#include <string.h>
#include <timebase/bag_reader.h>

#include "test.h"

static tb_bag_reader_t *open_bag(const char *path)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

/* Reads to the end, in order and within the extent reported before. */
static size_t read_extra_records(tb_bag_reader_t *reader, size_t *counts)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  size_t count = 0;
  int64_t last_ns = 0;
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status;
  while ((status = tb_bag_reader_next(reader, &message, &error)) == TB_OK) {
    assert_true(message.log_time_ns >= last_ns);
    assert_true(message.log_time_ns >= info->start_ns && message.log_time_ns <= info->end_ns);
    assert_true(message.topic < info->topic_count && message.file < info->file_count);
    last_ns = message.log_time_ns;
    counts[message.topic]++;
    count++;
  }
  if (status != TB_ERR_END) fail_msg("%s", error.text);
  return count;
}

static void assert_whole(tb_bag_reader_t *reader, size_t expected)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  size_t counts[16] = {0};
  assert_true(info->topic_count <= 16);
  assert_int_equal(read_extra_records(reader, counts), expected);
  assert_int_equal(info->message_count, expected);
  for (size_t i = 0; i < info->topic_count; i++)
    assert_int_equal(info->topics[i].message_count, counts[i]);
}

static void test_talker(void **state)
{
  (void)state;
  tb_bag_reader_t *reader = open_bag(TB_REAL_BAGS "/talker");
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_string_equal(info->storage_id, TB_REAL_FORMAT);
  assert_int_equal(info->start_ns, 1585866235112411371);
  assert_int_equal(info->end_ns, 1585866239643508139);
  assert_int_equal(info->topic_count, 3);
  assert_string_equal(info->topics[0].name, "/rosout");
  assert_int_equal(info->topics[0].qos_origin, TB_BAG_QOS_RECORDED);
  assert_int_equal(info->topics[0].qos.durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(info->topics[0].qos.lifespan.ns, 10 * TB_NS_PER_S);
  assert_int_equal(info->topics[0].qos.deadline.ns, INT64_MAX);
  assert_int_equal(info->topics[2].qos.durability, TB_QOS_VOLATILE);
  assert_whole(reader, 20);
  tb_bag_reader_close(reader);
}

static void test_wbag_spans_five_files(void **state)
{
  (void)state;
  tb_bag_reader_t *reader = open_bag(TB_REAL_BAGS "/wbag");
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->file_count, 5);
  assert_int_equal(info->start_ns, 1000); /* metadata.yaml says 2623 */
  assert_int_equal(info->end_ns, 2998);
  assert_int_equal(info->topic_count, 8);
  assert_string_equal(info->topics[0].name, "AAA");
  assert_whole(reader, 6074);
  tb_bag_message_t message;
  assert_ok(tb_bag_reader_seek(reader, 1821)); /* in two files */
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.log_time_ns, 1821);
  assert_int_equal(message.file, 1);
  assert_ok(tb_bag_reader_seek(reader, 0));
  assert_whole(reader, 6074);
  tb_bag_reader_close(reader);
}

static void test_seek(void **state)
{
  (void)state;
  tb_bag_reader_t *reader = open_bag(TB_REAL_BAGS "/seek");
  tb_bag_message_t message;
  assert_whole(reader, 5);
  assert_ok(tb_bag_reader_seek(reader, 1100000001));
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.log_time_ns, 1200000000);
  tb_bag_reader_close(reader);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_talker),
      cmocka_unit_test(test_wbag_spans_five_files),
      cmocka_unit_test(test_seek),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
