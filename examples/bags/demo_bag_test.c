/* The demo bag is what its README and the examples rely on. */
#include <string.h>
#include <timebase/bag_reader.h>

#include "test.h"

#define START_NS (1700000000 * TB_NS_PER_S)

static uint32_t u32(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

static void test_topics(void **state)
{
  const tb_bag_info_t *info = tb_bag_reader_info(*state);
  assert_int_equal(info->metadata_version, 9);
  assert_string_equal(info->ros_distro, "jazzy");
  assert_int_equal(info->start_ns, START_NS);
  assert_int_equal(info->end_ns, START_NS + 30 * TB_NS_PER_S);
  assert_int_equal(info->message_count, 363);
  assert_int_equal(info->topic_count, 3);
  assert_string_equal(info->topics[0].name, "/chatter");
  assert_int_equal(info->topics[0].message_count, 61);
  assert_int_equal(info->topics[0].qos.reliability, TB_QOS_RELIABLE);
  assert_string_equal(info->topics[1].type, "std_msgs/msg/Header");
  assert_int_equal(info->topics[1].message_count, 301);
  assert_int_equal(info->topics[1].qos.reliability, TB_QOS_BEST_EFFORT);
  assert_string_equal(info->topics[1].type_hash,
                      "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01");
  assert_int_equal(info->topics[2].message_count, 1);
  assert_int_equal(info->topics[2].qos.durability, TB_QOS_TRANSIENT_LOCAL);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(info->topics[i].qos_origin, TB_BAG_QOS_RECORDED);
}

static void assert_string(const tb_bag_message_t *message, const char *expected)
{
  assert_int_equal(message->size, 8 + strlen(expected) + 1);
  assert_int_equal(u32(message->data + 4), strlen(expected) + 1);
  assert_memory_equal(message->data + 8, expected, strlen(expected) + 1);
}

static void assert_stamp(const tb_bag_message_t *message)
{
  assert_memory_equal(message->data, "\0\1\0\0", 4);
  assert_int_equal(u32(message->data + 4) * TB_NS_PER_S + u32(message->data + 8),
                   message->log_time_ns);
  assert_int_equal(u32(message->data + 12), sizeof "base_link");
  assert_string_equal((const char *)message->data + 16, "base_link");
}

static void test_messages(void **state)
{
  size_t counts[3] = {0};
  tb_bag_message_t message;
  tb_status_t status;
  while ((status = tb_bag_reader_next(*state, &message, NULL)) == TB_OK) {
    char text[32];
    snprintf(text, sizeof text, "hello %zu", counts[0]);
    int64_t since_ns = message.log_time_ns - START_NS;
    size_t n = counts[message.topic]++;
    if (message.topic == 0) {
      assert_string(&message, text);
      assert_int_equal(since_ns, (int64_t)n * 500 * TB_NS_PER_MS);
    } else if (message.topic == 1) {
      assert_stamp(&message);
      assert_int_equal(since_ns, (int64_t)n * 100 * TB_NS_PER_MS);
    } else {
      assert_string(&message, "warehouse");
      assert_int_equal(since_ns, 50 * TB_NS_PER_MS);
    }
  }
  assert_status(status, TB_ERR_END);
  assert_int_equal(counts[0] + counts[1] + counts[2], 363);
}

/* metadata.yaml and the table in the database have the same counts and QoS. */
static void test_file_alone_tells_the_same(void **state)
{
  const tb_bag_info_t *info = tb_bag_reader_info(*state);
  tb_bag_reader_t *alone = NULL;
  assert_ok(tb_bag_reader_open(info->files[0], NULL, &alone, NULL));
  const tb_bag_info_t *other = tb_bag_reader_info(alone);
  assert_int_equal(other->topic_count, info->topic_count);
  for (size_t i = 0; i < info->topic_count; i++) {
    assert_string_equal(other->topics[i].name, info->topics[i].name);
    assert_int_equal(other->topics[i].message_count, info->topics[i].message_count);
    assert_int_equal(other->topics[i].qos.reliability, info->topics[i].qos.reliability);
    assert_int_equal(other->topics[i].qos.durability, info->topics[i].qos.durability);
  }
  tb_bag_reader_close(alone);
}

static int open_demo(void **state)
{
  return tb_bag_reader_open(TB_DEMO_BAG, NULL, (tb_bag_reader_t **)state, NULL);
}

static int close_demo(void **state)
{
  tb_bag_reader_close(*state);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_topics),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_file_alone_tells_the_same),
  };
  return cmocka_run_group_tests(tests, open_demo, close_demo);
}
