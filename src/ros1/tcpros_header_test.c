/* Headers of TCPROS, and what a publisher's must have. */
#include <stdlib.h>
#include <string.h>

#include "ros1/publisher_link.h"
#include "ros1/tcpros_header.h"

#include "test.h"

#define MD5 "a9c97c1d230cfc112e270351a944ee47"

static const tb__ros1_topic_t clock_topic = {"/clock", "rosgraph_msgs/Clock", MD5, "roslib/Clock",
                                             64};

/* Without the length of the whole. */
static uint8_t *write_pairs(const tb__tcpros_pair_t *pairs, size_t count, size_t *out_size)
{
  uint8_t *bytes = tb__tcpros_header_write(pairs, count, out_size);
  assert_non_null(bytes);
  assert_int_equal(tb__tcpros_read_u32(bytes), *out_size - 4);
  *out_size -= 4;
  memmove(bytes, bytes + 4, *out_size);
  return bytes;
}

static void test_what_is_written_is_read(void **state)
{
  (void)state;
  const tb__tcpros_pair_t pairs[] = {{"callerid", "/a"}, {"md5sum", "*"}, {"x", "a=b"}, {"x", ""}};
  size_t size;
  uint8_t *bytes = write_pairs(pairs, 4, &size);
  tb__tcpros_header_t header;
  char text[8];
  assert_ok(tb__tcpros_header_parse(bytes, size, &header, NULL));
  assert_int_equal(header.count, 4);
  assert_true(tb__tcpros_header_get(&header, "callerid", text, sizeof text));
  assert_string_equal(text, "/a");
  assert_true(tb__tcpros_header_get(&header, "x", text, sizeof text));
  assert_string_equal(text, ""); /* the last one */
  assert_false(tb__tcpros_header_get(&header, "call", text, sizeof text));
  assert_true(tb__tcpros_header_get(&header, "callerid", text, 2));
  assert_string_equal(text, "/");
  free(bytes);
}

static void test_malformed_headers_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
  } wrong[] = {
      {"\1", 1},
      {"\0\0\0", 3},
      {"\0\0\0\0", 4},   /* an empty field */
      {"\3\0\0\0a=", 6}, /* longer than what follows */
      {"\xff\xff\xff\xff"
       "a=b",
       7},                         /* 4 GB */
      {"\3\0\0\0abc", 7},          /* no = */
      {"\3\0\0\0=bc", 7},          /* no name */
      {"\3\0\0\0a=b\1\0\0\0", 11}, /* the second ends too early */
  };
  tb__tcpros_header_t header;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_status(
        tb__tcpros_header_parse((const uint8_t *)wrong[i].bytes, wrong[i].size, &header, NULL),
        TB_ERR_CORRUPT);
  assert_ok(tb__tcpros_header_parse((const uint8_t *)"", 0, &header, NULL));
  assert_int_equal(header.count, 0);
}

static void test_number_of_fields_has_a_limit(void **state)
{
  (void)state;
  tb__tcpros_pair_t pairs[TB__TCPROS_FIELDS_MAX + 1];
  for (size_t i = 0; i < TB__TCPROS_FIELDS_MAX + 1; i++)
    pairs[i] = (tb__tcpros_pair_t){"a", "b"};
  tb__tcpros_header_t header;
  size_t size;
  uint8_t *bytes = write_pairs(pairs, TB__TCPROS_FIELDS_MAX, &size);
  assert_ok(tb__tcpros_header_parse(bytes, size, &header, NULL));
  free(bytes);
  bytes = write_pairs(pairs, TB__TCPROS_FIELDS_MAX + 1, &size);
  assert_status(tb__tcpros_header_parse(bytes, size, &header, NULL), TB_ERR_LIMIT);
  free(bytes);
}

static tb_status_t check(const tb__tcpros_pair_t *pairs, size_t count, char *out_name,
                         tb_error_t *error)
{
  size_t size;
  uint8_t *bytes = write_pairs(pairs, count, &size);
  tb_status_t status = tb__publisher_header_check(&clock_topic, bytes, size, out_name, error);
  free(bytes);
  return status;
}

static void test_headers_of_publishers(void **state)
{
  (void)state;
  char name[TB__ROS1_NAME_SIZE] = "";
  tb_error_t error = TB_ERROR_INIT;
  const tb__tcpros_pair_t full[] = {{"callerid", "/play_123"}, {"latching", "0"},
                                    {"md5sum", MD5},           {"message_definition", "x\n"},
                                    {"topic", "/clock"},       {"type", "rosgraph_msgs/Clock"}};
  assert_ok(check(full, 6, name, NULL));
  assert_string_equal(name, "/play_123");
  const tb__tcpros_pair_t least[] = {{"type", "rosgraph_msgs/Clock"}, {"md5sum", MD5}};
  assert_ok(check(least, 2, name, NULL));
  assert_string_equal(name, "");
  const tb__tcpros_pair_t former[] = {{"type", "roslib/Clock"}, {"md5sum", MD5}};
  assert_ok(check(former, 2, name, NULL));
  const tb__tcpros_pair_t odd_name[] = {
      {"type", "roslib/Clock"}, {"md5sum", MD5}, {"callerid", "/a\x1b[31m"}};
  assert_ok(check(odd_name, 3, name, NULL));
  assert_string_equal(name, "");
  const tb__tcpros_pair_t other_type[] = {{"type", "std_msgs/Time"}, {"md5sum", MD5}};
  assert_status(check(other_type, 2, name, &error), TB_ERR_VERSION);
  assert_non_null(strstr(error.text, "std_msgs/Time"));
  const tb__tcpros_pair_t other_md5[] = {{"type", "rosgraph_msgs/Clock"}, {"md5sum", "000"}};
  assert_status(check(other_md5, 2, name, &error), TB_ERR_VERSION);
  const tb__tcpros_pair_t any[] = {{"type", "rosgraph_msgs/Clock"}, {"md5sum", "*"}};
  assert_status(check(any, 2, name, &error), TB_ERR_VERSION);
  assert_status(check(least, 1, name, &error), TB_ERR_VERSION);
  const tb__tcpros_pair_t refusal[] = {{"error", "no \x1b topic"}};
  assert_status(check(refusal, 1, name, &error), TB_ERR_TRANSPORT);
  assert_non_null(strstr(error.text, "it refuses: no "));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_written_is_read),
      cmocka_unit_test(test_malformed_headers_are_refused),
      cmocka_unit_test(test_number_of_fields_has_a_limit),
      cmocka_unit_test(test_headers_of_publishers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
