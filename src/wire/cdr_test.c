#include "wire/cdr.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* In memory of the exact size, so that sanitizers see a read past the end. */
static tb__cdr_reader_t reader_on(const void *bytes, size_t size, void **out_copy)
{
  tb__cdr_reader_t reader;
  *out_copy = malloc(size ? size : 1);
  assert_non_null(*out_copy);
  memcpy(*out_copy, bytes, size);
  tb__cdr_reader_init(&reader, *out_copy, size);
  return reader;
}

static void test_numbers_are_aligned_to_their_size_from_the_body(void **state)
{
  (void)state;
  static const char little[] = "\0\1\0\0\1\xee\x34\x12\x78\x56\x34\x12\x07\xee\xee\xee\xee\xee\xee"
                               "\xee\xf0\xde\xbc\x9a\x78\x56\x34\x12";
  static const char big[] = "\0\0\0\0\1\xee\x12\x34\x12\x34\x56\x78\x07\xee\xee\xee\xee\xee\xee"
                            "\xee\x12\x34\x56\x78\x9a\xbc\xde\xf0";
  for (int i = 0; i < 2; i++) {
    void *copy;
    tb__cdr_reader_t reader = reader_on(i ? big : little, sizeof little - 1, &copy);
    assert_true(tb__cdr_read_number(&reader, 1) == 1);
    assert_true(tb__cdr_read_number(&reader, 2) == 0x1234);
    assert_true(tb__cdr_read_number(&reader, 4) == 0x12345678);
    assert_true(tb__cdr_read_number(&reader, 1) == 7);
    assert_true(tb__cdr_read_number(&reader, 8) == UINT64_C(0x123456789abcdef0));
    assert_int_equal(tb__cdr_reader_left(&reader), 0);
    assert_ok(reader.status);
    assert_true(tb__cdr_read_number(&reader, 1) == 0);
    assert_status(reader.status, TB_ERR_TRUNCATED);
    free(copy);
  }
}

static void test_reader_refuses_what_is_not_plain_cdr(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    tb_status_t status;
  } cases[] = {
      {"", 0, TB_ERR_TRUNCATED},         {"\0\1\0", 3, TB_ERR_TRUNCATED},
      {"\0\2\0\0\0", 5, TB_ERR_CORRUPT}, {"\0\3\0\0\0", 5, TB_ERR_CORRUPT},
      {"\0\7\0\0\0", 5, TB_ERR_CORRUPT}, {"\1\1\0\0\0", 5, TB_ERR_CORRUPT},
      {"\0\1\0\0", 4, TB_ERR_TRUNCATED}, /* by the read */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    void *copy;
    tb__cdr_reader_t reader = reader_on(cases[i].bytes, cases[i].size, &copy);
    assert_true(tb__cdr_read_number(&reader, 1) == 0);
    assert_status(reader.status, cases[i].status);
    assert_null(tb__cdr_read_octets(&reader, 0));
    free(copy);
  }
}

static void test_a_failed_read_is_the_last(void **state)
{
  (void)state;
  void *copy;
  tb__cdr_reader_t reader = reader_on("\0\1\0\0\5\6", 6, &copy);
  assert_true(tb__cdr_read_number(&reader, 4) == 0);
  assert_true(tb__cdr_read_number(&reader, 1) == 0); /* although a byte is there */
  assert_status(reader.status, TB_ERR_TRUNCATED);
  free(copy);
}

static void assert_string(const char *bytes, size_t size, const char *expected, tb_status_t status)
{
  void *copy;
  size_t length = 99;
  tb__cdr_reader_t reader = reader_on(bytes, size, &copy);
  const char *text = tb__cdr_read_string(&reader, &length);
  assert_status(reader.status, status);
  if (expected) {
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
  } else {
    assert_null(text);
    assert_int_equal(length, 99);
  }
  free(copy);
}

static void test_strings(void **state)
{
  (void)state;
  assert_string("\0\1\0\0\3\0\0\0ab\0", 11, "ab", TB_OK);
  assert_string("\0\0\0\0\0\0\0\3ab\0", 11, "ab", TB_OK);
  assert_string("\0\1\0\0\1\0\0\0\0", 9, "", TB_OK);
  assert_string("\0\1\0\0\0\0\0\0", 8, "", TB_OK); /* no NUL at all: as ROS reads it */
  assert_string("\0\1\0\0\3\0\0\0abc", 11, NULL, TB_ERR_CORRUPT);
  assert_string("\0\1\0\0\3\0\0\0a\0\0", 11, NULL, TB_ERR_INVALID);
  assert_string("\0\1\0\0\4\0\0\0ab\0", 11, NULL, TB_ERR_TRUNCATED);
  assert_string("\0\1\0\0\xff\xff\xff\xff"
                "ab\0",
                11, NULL, TB_ERR_TRUNCATED);
  assert_string("\0\1\0\0\3\0\0", 7, NULL, TB_ERR_TRUNCATED);
}

static void assert_count(const char *bytes, size_t size, size_t element_min, size_t expected,
                         tb_status_t status)
{
  void *copy;
  tb__cdr_reader_t reader = reader_on(bytes, size, &copy);
  assert_int_equal(tb__cdr_read_count(&reader, element_min), expected);
  assert_status(reader.status, status);
  free(copy);
}

static void test_counts_are_checked_against_the_size(void **state)
{
  (void)state;
  assert_count("\0\1\0\0\2\0\0\0abcdefgh", 16, 4, 2, TB_OK);
  assert_count("\0\1\0\0\2\0\0\0abcdefg", 15, 4, 0, TB_ERR_TRUNCATED);
  assert_count("\0\1\0\0\xff\xff\xff\xff", 8, 1, 0, TB_ERR_TRUNCATED);
  assert_count("\0\1\0\0\xff\xff\xff\xff", 8, 100, 0, TB_ERR_TRUNCATED);
  assert_count("\0\1\0\0\0\0\0\0", 8, 100, 0, TB_OK);
}

static void write_all(tb__cdr_writer_t *writer)
{
  tb__cdr_write_number(writer, 1, 1);
  tb__cdr_write_number(writer, 2, 0x1234);
  tb__cdr_write_string(writer, "a");
  tb__cdr_write_number(writer, 8, UINT64_C(0x123456789abcdef0));
  tb__cdr_write_count(writer, 1);
  tb__cdr_write_octets(writer, "\x55", 1);
  tb__cdr_write_string(writer, NULL);
  tb__cdr_write_octets(writer, NULL, 0);
}

static const char written_little[] = "\0\1\0\0\1\0\x34\x12\2\0\0\0a\0\0\0\0\0\0\0\xf0\xde\xbc\x9a"
                                     "\x78\x56\x34\x12\1\0\0\0\x55\0\0\0\1\0\0\0\0\0\0\0";
static const char written_big[] = "\0\0\0\0\1\0\x12\x34\0\0\0\2a\0\0\0\0\0\0\0\x12\x34\x56\x78\x9a"
                                  "\xbc\xde\xf0\0\0\0\1\x55\0\0\0\0\0\0\1\0\0\0\0";

static void test_writer_counts_and_writes_the_same(void **state)
{
  (void)state;
  for (int big = 0; big < 2; big++) {
    tb__cdr_writer_t writer;
    uint8_t out[sizeof written_little - 1];
    size_t counted = 0, size = 0;
    tb__cdr_writer_init(&writer, big, NULL, 0);
    write_all(&writer);
    assert_ok(tb__cdr_writer_finish(&writer, &counted));
    assert_int_equal(counted, sizeof out);
    memset(out, 0xaa, sizeof out);
    tb__cdr_writer_init(&writer, big, out, sizeof out);
    write_all(&writer);
    assert_ok(tb__cdr_writer_finish(&writer, &size));
    assert_int_equal(size, sizeof out);
    assert_memory_equal(out, big ? written_big : written_little, sizeof out);
  }
}

static void test_writer_does_not_exceed_its_room(void **state)
{
  (void)state;
  for (size_t room = 0; room < sizeof written_little - 1; room++) {
    tb__cdr_writer_t writer;
    size_t size = 77;
    uint8_t *out = malloc(room ? room : 1);
    assert_non_null(out);
    tb__cdr_writer_init(&writer, false, out, room);
    write_all(&writer);
    assert_status(tb__cdr_writer_finish(&writer, &size), TB_ERR_LIMIT);
    assert_int_equal(size, 77);
    free(out);
  }
}

static void test_writer_counts_no_more_than_dds_carries(void **state)
{
  (void)state;
  tb__cdr_writer_t writer;
  size_t size = 77;
  tb__cdr_writer_init(&writer, false, NULL, 0);
  tb__cdr_write_octets(&writer, NULL, TB__CDR_MESSAGE_MAX - 4);
  assert_ok(writer.status);
  tb__cdr_write_octets(&writer, NULL, 1);
  assert_status(tb__cdr_writer_finish(&writer, &size), TB_ERR_LIMIT);
  tb__cdr_writer_init(&writer, false, NULL, 0);
  tb__cdr_write_octets(&writer, NULL, SIZE_MAX);
  assert_status(writer.status, TB_ERR_LIMIT);
  tb__cdr_writer_init(&writer, false, NULL, 0);
  tb__cdr_write_count(&writer, (size_t)UINT32_MAX + 1);
  assert_status(writer.status, TB_ERR_LIMIT);
}

static void test_many_numbers_at_once(void **state)
{
  (void)state;
  static const char little[] = "\0\1\0\0\1\0\xfe\xff\3\0";
  static const char big[] = "\0\0\0\0\0\1\xff\xfe\0\3";
  static const uint16_t numbers[3] = {1, 0xfffe, 3};
  for (int i = 0; i < 2; i++) {
    void *copy;
    uint16_t read[3];
    uint8_t written[12];
    size_t size;
    tb__cdr_reader_t reader = reader_on(i ? big : little, sizeof little - 1, &copy);
    assert_true(tb__cdr_read_numbers(&reader, 2, 3, read));
    assert_memory_equal(read, numbers, sizeof numbers);
    assert_int_equal(tb__cdr_reader_left(&reader), 0);
    tb__cdr_writer_t writer;
    tb__cdr_writer_init(&writer, i, written, sizeof written);
    tb__cdr_write_numbers(&writer, 2, 3, numbers);
    assert_ok(tb__cdr_writer_finish(&writer, &size));
    assert_memory_equal(written, i ? big : little, sizeof little - 1);
    free(copy);
  }
}

static void test_a_count_of_zero_does_not_align(void **state)
{
  (void)state;
  void *copy;
  size_t size;
  tb__cdr_writer_t writer;
  tb__cdr_reader_t reader = reader_on("\0\1\0\0\1\2\3\4", 8, &copy);
  tb__cdr_read_number(&reader, 4);
  assert_true(tb__cdr_read_numbers(&reader, 8, 0, NULL));
  assert_ok(reader.status);
  tb__cdr_writer_init(&writer, false, NULL, 0);
  tb__cdr_write_number(&writer, 4, 1);
  tb__cdr_write_numbers(&writer, 8, 0, NULL);
  assert_ok(tb__cdr_writer_finish(&writer, &size));
  assert_int_equal(size, 8);
  free(copy);
}

static void test_more_numbers_than_there_are(void **state)
{
  (void)state;
  static const size_t counts[] = {3, SIZE_MAX / 8, SIZE_MAX / 8 + 2, SIZE_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    void *copy;
    uint64_t read[2] = {0};
    tb__cdr_reader_t reader = reader_on("\0\1\0\0abcdefghijklmnop", 20, &copy);
    assert_false(tb__cdr_read_numbers(&reader, 8, counts[i], read));
    assert_status(reader.status, TB_ERR_TRUNCATED);
    assert_true(read[0] == 0);
    free(copy);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_are_aligned_to_their_size_from_the_body),
      cmocka_unit_test(test_reader_refuses_what_is_not_plain_cdr),
      cmocka_unit_test(test_a_failed_read_is_the_last),
      cmocka_unit_test(test_strings),
      cmocka_unit_test(test_counts_are_checked_against_the_size),
      cmocka_unit_test(test_writer_counts_and_writes_the_same),
      cmocka_unit_test(test_writer_does_not_exceed_its_room),
      cmocka_unit_test(test_writer_counts_no_more_than_dds_carries),
      cmocka_unit_test(test_many_numbers_at_once),
      cmocka_unit_test(test_a_count_of_zero_does_not_align),
      cmocka_unit_test(test_more_numbers_than_there_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
