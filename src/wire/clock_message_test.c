#include "wire/clock_message.h"

#include <string.h>

#include "test.h"

#define S INT64_C(1000000000)

/* As published by rclpy of ROS 2 jazzy. */
static const struct {
  int64_t time_ns;
  uint8_t cdr[12];
} vectors[] = {
    {1, {0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}},
    {999999999, {0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xc9, 0x9a, 0x3b}},
    {1 * S, {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
    {10 * S + 500000000, {0, 1, 0, 0, 0x0a, 0, 0, 0, 0, 0x65, 0xcd, 0x1d}},
    {1700000000 * S + 123456789, {0, 1, 0, 0, 0x00, 0xf1, 0x53, 0x65, 0x15, 0xcd, 0x5b, 0x07}},
    {2147483647 * S, {0, 1, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}},
    {2147483647 * S + 999999999, {0, 1, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xc9, 0x9a, 0x3b}},
};

static void test_vectors_both_ways(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    uint8_t out[TB__CLOCK_MESSAGE_SIZE];
    int64_t time_ns = -1;
    assert_ok(tb__clock_message_encode(vectors[i].time_ns, out));
    assert_memory_equal(out, vectors[i].cdr, sizeof out);
    assert_ok(tb__clock_message_decode(vectors[i].cdr, 12, &time_ns));
    assert_true(time_ns == vectors[i].time_ns);
  }
}

static void test_decode_takes_zero_big_endian_options_and_padding(void **state)
{
  (void)state;
  int64_t time_ns = -1;
  assert_ok(tb__clock_message_decode("\0\1\0\0\0\0\0\0\0\0\0\0", 12, &time_ns));
  assert_true(time_ns == 0);
  assert_ok(tb__clock_message_decode("\0\0\0\0\0\0\0\x0a\x1d\xcd\x65\0", 12, &time_ns));
  assert_true(time_ns == 10 * S + 500000000);
  assert_ok(tb__clock_message_decode("\0\1\0\3\2\0\0\0\3\0\0\0\7\7\7", 15, &time_ns));
  assert_true(time_ns == 2 * S + 3);
}

static void test_decode_refuses(void **state)
{
  (void)state;
  static const struct {
    const char *cdr;
    size_t size;
    tb_status_t status;
  } refused[] = {
      {"\0\1\0\0\xff\xff\xff\xff\0\0\0\0", 12, TB_ERR_RANGE}, /* -1 s */
      {"\0\1\0\0\0\0\0\x80\0\0\0\0", 12, TB_ERR_RANGE},       /* INT32_MIN s */
      {"\0\1\0\0\1\0\0\0\0\xca\x9a\x3b", 12, TB_ERR_INVALID}, /* 1000000000 ns */
      {"\0\1\0\0\1\0\0\0\xff\xff\xff\xff", 12, TB_ERR_INVALID},
      {"\0\1\0\0\1\0\0\0\0\0\0", 11, TB_ERR_TRUNCATED},
      {"", 0, TB_ERR_TRUNCATED},
      {"\0\1\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 16, TB_ERR_CORRUPT}, /* another type's */
      {"\0\3\0\0\1\0\0\0\0\0\0\0", 12, TB_ERR_CORRUPT},         /* parameter list */
      {"\0\7\0\0\1\0\0\0\0\0\0\0", 12, TB_ERR_CORRUPT},         /* XCDR2 */
      {"\1\1\0\0\1\0\0\0\0\0\0\0", 12, TB_ERR_CORRUPT},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    int64_t time_ns = -7;
    assert_status(tb__clock_message_decode(refused[i].cdr, refused[i].size, &time_ns),
                  refused[i].status);
    assert_true(time_ns == -7);
  }
}

static void test_encode_refuses(void **state)
{
  (void)state;
  uint8_t out[TB__CLOCK_MESSAGE_SIZE];
  memset(out, 0xaa, sizeof out);
  assert_status(tb__clock_message_encode(0, out), TB_ERR_NOT_SET);
  assert_status(tb__clock_message_encode(-1, out), TB_ERR_RANGE);
  assert_status(tb__clock_message_encode(INT64_MIN, out), TB_ERR_RANGE);
  assert_status(tb__clock_message_encode(2147483648 * S, out), TB_ERR_RANGE);
  assert_status(tb__clock_message_encode(INT64_MAX, out), TB_ERR_RANGE);
  assert_int_equal(out[0], 0xaa);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors_both_ways),
      cmocka_unit_test(test_decode_takes_zero_big_endian_options_and_padding),
      cmocka_unit_test(test_decode_refuses),
      cmocka_unit_test(test_encode_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
