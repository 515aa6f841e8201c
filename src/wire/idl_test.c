#include <timebase/ros2_idl.h>

#include <dds/ddsi/ddsi_cdrstream.h>
#include <stdlib.h>
#include <string.h>

#include "ros2_types.h"
#include "test.h"

typedef example_interfaces_srv_AddTwoInts_Request add_request_t;
typedef timebase_test_msg_Point point_t;
typedef timebase_test_msg_Everything everything_t;

#define ADD_REQUEST (&example_interfaces_srv_AddTwoInts_Request_desc)
#define POINT       (&timebase_test_msg_Point_desc)
#define EVERYTHING  (&timebase_test_msg_Everything_desc)

static const uint8_t add_little[] =
    "\0\1\0\0\x15\xcd\x5b\x07\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff";
static const uint8_t add_big[] = "\0\0\0\0\0\0\0\0\x07\x5b\xcd\x15\xff\xff\xff\xff\xff\xff\xff\xfe";
static const uint8_t point_little[] = "\0\1\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\x3f\3\0\0\0ab\0";
static const uint8_t point_big[] = "\0\0\0\0\x09\0\0\0\0\0\0\0\x3f\xf8\0\0\0\0\0\0\0\0\0\3ab\0";

/* From memory of the exact size, so that sanitizers see a read past the end. */
static tb_status_t decode(const dds_topic_descriptor_t *type, const void *bytes, size_t size,
                          void *out_sample, tb_error_t *error)
{
  uint8_t *copy = malloc(size ? size : 1);
  void *sample = copy;
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  tb_status_t status = tb_ros2_idl_decode(type, copy, size, &sample, error);
  if (status != TB_OK) {
    assert_ptr_equal(sample, copy); /* untouched */
    sample = NULL;
  }
  memset(copy, 0xee, size);
  free(copy);
  memcpy(out_sample, &sample, sizeof sample);
  return status;
}

static void assert_encodes_to(const dds_topic_descriptor_t *type, const void *sample,
                              const void *expected, size_t size)
{
  void *cdr;
  size_t cdr_size;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_idl_encode(type, sample, &cdr, &cdr_size, &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_int_equal(cdr_size, size);
  assert_memory_equal(cdr, expected, size);
  tb_ros2_idl_free(cdr);
}

static void test_a_request_in_both_byte_orders(void **state)
{
  (void)state;
  add_request_t *sample, request = {.a = 123456789, .b = -2};
  const uint8_t *messages[] = {add_little, add_big};
  assert_encodes_to(ADD_REQUEST, &request, add_little, sizeof add_little - 1);
  for (int i = 0; i < 2; i++) {
    assert_ok(decode(ADD_REQUEST, messages[i], sizeof add_little - 1, &sample, NULL));
    assert_true(sample->a == 123456789);
    assert_true(sample->b == -2);
    tb_ros2_idl_free(sample);
  }
}

static void test_alignment_and_padding(void **state)
{
  (void)state;
  point_t *sample, point = {.id = 9, .x = 1.5, .label = "ab"};
  const uint8_t *messages[] = {point_little, point_big};
  assert_encodes_to(POINT, &point, point_little, sizeof point_little);
  for (int i = 0; i < 2; i++) {
    for (size_t padding = 0; padding <= 1; padding++) {
      assert_ok(decode(POINT, messages[i], sizeof point_little - 1 + padding, &sample, NULL));
      assert_int_equal(sample->id, 9);
      assert_true(sample->x == 1.5);
      assert_string_equal(sample->label, "ab");
      tb_ros2_idl_free(sample);
    }
  }
}

/* ---- against Cyclone's own way ---- */

#define SEQUENCE(items)                                                                            \
  {                                                                                                \
    ._length = sizeof(items) / sizeof(items)[0], ._buffer = (items)                                \
  }

static uint16_t words[] = {1, 0xfffe, 3};
static uint16_t more_words[] = {0x1234};
static dds_sequence_uint16 matrix[] = {SEQUENCE(words), {0}, SEQUENCE(more_words)};
static double few[] = {0.5, -1e300};
static char one[] = "one", nothing[] = "", three[] = "three", some_text[] = "some text";
static char *texts[] = {one, nothing, three};
static char short_texts[][6] = {"five5", ""};
static uint8_t data[] = {0, 255, 7, 8, 9};
static bool bits[] = {true, false, true};
static point_t points[] = {{1, 0.25, "seven_7"}, {2, -0.25, ""}, {3, 4, "x"}};
static double rows[][3] = {{1, 2, 3}, {4, 5, 6}};

static const everything_t everything = {
    .flag = true,
    .byte_value = 200,
    .char_value = 'c',
    .int8_value = -8,
    .int16_value = -1616,
    .uint32_value = 0xfedcba98,
    .int64_value = INT64_MIN + 1,
    .float_value = 1.5f,
    .double_value = -2.25,
    .text = some_text,
    .short_text = "five5",
    .position = {1, -2, 3},
    .corners = {{4, 4.5, "four"}, {5, 5.5, "five"}},
    .flags = {false, true, true},
    .names = {nothing, three},
    .codes = {"a", "bcdef"},
    .origin = {6, 7, "origin"},
    .data = SEQUENCE(data),
    .bits = SEQUENCE(bits),
    .words = SEQUENCE(words),
    .few = SEQUENCE(few),
    .texts = SEQUENCE(texts),
    .short_texts = SEQUENCE(short_texts),
    .points = SEQUENCE(points),
    .two_points = {._length = 2, ._buffer = points},
    .rows = SEQUENCE(rows),
    .matrix = SEQUENCE(matrix),
    .last = 77,
};

typedef struct message {
  uint8_t *bytes;
  size_t size; /* without padding */
} message_t;

static message_t by_cyclone(const dds_topic_descriptor_t *type, const void *sample, bool big_endian)
{
  dds_ostream_t stream;
  dds_ostream_init(&stream, 64, CDR_ENC_VERSION_1);
  assert_non_null(dds_stream_write_with_byte_order(&stream, sample, type->m_ops,
                                                   big_endian ? DDSRT_BOSEL_BE : DDSRT_BOSEL_LE));
  message_t message = {calloc(1, stream.m_index + 8), 4 + stream.m_index};
  assert_non_null(message.bytes);
  message.bytes[1] = !big_endian;
  memcpy(message.bytes + 4, stream.m_buffer, stream.m_index);
  dds_ostream_fini(&stream);
  return message;
}

static void check_as_cyclone(const dds_topic_descriptor_t *type, const void *sample)
{
  message_t little = by_cyclone(type, sample, false);
  size_t padded = (little.size + 3) & ~(size_t)3;
  assert_encodes_to(type, sample, little.bytes, padded);
  for (int big_endian = 0; big_endian < 2; big_endian++) {
    void *decoded;
    tb_error_t error = TB_ERROR_INIT;
    message_t message = by_cyclone(type, sample, big_endian);
    if (decode(type, message.bytes, message.size, &decoded, &error) != TB_OK)
      fail_msg("%s", error.text);
    assert_encodes_to(type, decoded, little.bytes, padded);
    tb_ros2_idl_free(decoded);
    free(message.bytes);
  }
  free(little.bytes);
}

static void test_every_kind_of_member_is_written_and_read_as_by_cyclone(void **state)
{
  (void)state;
  static const everything_t zeros = {0};
  static const timebase_test_msg_Based based = {{1, 2, "three"}, -4};
  static const timebase_test_msg_Keyed keyed = {-5, one};
  check_as_cyclone(EVERYTHING, &everything);
  check_as_cyclone(EVERYTHING, &zeros);
  check_as_cyclone(&timebase_test_msg_Based_desc, &based);
  check_as_cyclone(&timebase_test_msg_Keyed_desc, &keyed);
}

static void test_a_decoded_sample_is_c(void **state)
{
  (void)state;
  everything_t *sample;
  message_t message = by_cyclone(EVERYTHING, &everything, true);
  assert_ok(decode(EVERYTHING, message.bytes, message.size, &sample, NULL));
  assert_true(sample->flag);
  assert_int_equal(sample->int16_value, -1616);
  assert_true(sample->int64_value == INT64_MIN + 1);
  assert_true(sample->float_value == 1.5f);
  assert_string_equal(sample->text, "some text");
  assert_string_equal(sample->corners[1].label, "five");
  assert_string_equal(sample->names[1], "three");
  assert_string_equal(sample->codes[1], "bcdef");
  assert_int_equal(sample->data._length, 5);
  assert_memory_equal(sample->data._buffer, data, 5);
  assert_false(sample->data._release);
  assert_string_equal(sample->texts._buffer[2], "three");
  assert_string_equal(sample->points._buffer[0].label, "seven_7");
  assert_true(sample->rows._buffer[1][2] == 6);
  assert_int_equal(sample->matrix._buffer[0]._buffer[1], 0xfffe);
  assert_null(sample->matrix._buffer[1]._buffer);
  assert_int_equal(sample->last, 77);
  tb_ros2_idl_free(sample);
  free(message.bytes);
}

static void test_booleans_of_others_may_be_any_byte(void **state)
{
  (void)state;
  everything_t *sample;
  message_t message = by_cyclone(EVERYTHING, &everything, false);
  message.bytes[4] = 0x80;
  assert_ok(decode(EVERYTHING, message.bytes, message.size, &sample, NULL));
  uint8_t byte;
  memcpy(&byte, &sample->flag, 1);
  assert_int_equal(byte, 1);
  tb_ros2_idl_free(sample);
  free(message.bytes);
}

/* ---- what is refused ---- */

static void test_every_message_that_ends_too_early_is_refused(void **state)
{
  (void)state;
  for (int big_endian = 0; big_endian < 2; big_endian++) {
    void *sample;
    message_t message = by_cyclone(EVERYTHING, &everything, big_endian);
    for (size_t size = 0; size < message.size; size++) {
      tb_error_t error = TB_ERROR_INIT;
      assert_status(decode(EVERYTHING, message.bytes, size, &sample, &error), TB_ERR_TRUNCATED);
      assert_true(error.offset >= 0 && (size_t)error.offset <= size);
    }
    free(message.bytes);
  }
}

static void test_invalid_messages_are_refused(void **state)
{
  (void)state;
  static const struct {
    const dds_topic_descriptor_t *type;
    const char *bytes;
    size_t size;
    tb_status_t status;
    int64_t offset;
    const char *text;
  } cases[] = {
      {ADD_REQUEST, "", 0, TB_ERR_TRUNCATED, 0, "example_interfaces::srv::AddTwoInts_Request"},
      {ADD_REQUEST, "\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, TB_ERR_CORRUPT, 0, "plain CDR"},
      {ADD_REQUEST, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, TB_ERR_CORRUPT, 20,
       "24 bytes at offset 20"},
      {POINT, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0abc", 27, TB_ERR_CORRUPT, 27,
       "without end"},
      {POINT, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0a\0", 27, TB_ERR_INVALID, 27,
       "a NUL in it"},
      {POINT, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff", 24, TB_ERR_TRUNCATED, 24,
       "too large"},
      {POINT, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0eight__8", 33, TB_ERR_LIMIT, 33,
       "bound"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    void *sample;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(decode(cases[i].type, cases[i].bytes, cases[i].size, &sample, &error),
                  cases[i].status);
    assert_int_equal(error.offset, cases[i].offset);
    if (!strstr(error.text, cases[i].text)) fail_msg("%s", error.text);
  }
}

/* The first place that has `count` as a number of elements becomes `forged`. */
static void assert_forged(size_t at, uint32_t count, uint32_t forged, tb_status_t expected)
{
  void *sample;
  message_t message = by_cyclone(EVERYTHING, &everything, false);
  uint32_t there;
  memcpy(&there, message.bytes + at, sizeof there);
  assert_int_equal(there, count);
  memcpy(message.bytes + at, &forged, sizeof forged);
  assert_status(decode(EVERYTHING, message.bytes, message.size, &sample, NULL), expected);
  free(message.bytes);
}

static size_t place_of(const void *bytes, size_t size)
{
  message_t message = by_cyclone(EVERYTHING, &everything, false);
  uint8_t *found = memmem(message.bytes, message.size, bytes, size);
  assert_non_null(found);
  size_t at = (size_t)(found - message.bytes);
  free(message.bytes);
  return at;
}

static void test_counts_are_checked_before_they_count(void **state)
{
  (void)state;
  size_t octets = place_of("\5\0\0\0\0\xff\7\10\11", 9);
  size_t numbers = place_of("\3\0\0\0\1\0\xfe\xff", 8);
  size_t strings = place_of("\3\0\0\0\4\0\0\0one", 11);
  assert_forged(octets, 5, UINT32_MAX, TB_ERR_TRUNCATED);
  assert_forged(numbers, 3, 0x80000001, TB_ERR_TRUNCATED);
  assert_forged(strings, 3, UINT32_MAX / 8, TB_ERR_TRUNCATED);
}

static void test_bounds_of_sequences_hold_both_ways(void **state)
{
  (void)state;
  void *cdr;
  size_t size;
  tb_error_t error = TB_ERROR_INIT;
  everything_t sample = everything;
  static double four[] = {1, 2, 3, 4};
  sample.few._buffer = four;
  sample.few._length = 3;
  assert_ok(tb_ros2_idl_encode(EVERYTHING, &sample, &cdr, &size, NULL));
  tb_ros2_idl_free(cdr);
  sample.few._length = 4;
  assert_status(tb_ros2_idl_encode(EVERYTHING, &sample, &cdr, &size, &error), TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, "timebase_test::msg::Everything"));
  size_t bounded = place_of("\2\0\0\0\0\0\0\0\0\0\xe0\x3f", 12); /* 2, and 0.5 */
  assert_forged(bounded, 2, 4, TB_ERR_LIMIT);
}

static void test_samples_with_invalid_pointers_are_refused(void **state)
{
  (void)state;
  void *cdr = &cdr;
  size_t size = 12345;
  tb_error_t error = TB_ERROR_INIT;
  everything_t sample = everything;
  sample.words._buffer = NULL;
  assert_status(tb_ros2_idl_encode(EVERYTHING, &sample, &cdr, &size, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "_buffer"));
  sample = everything;
  memset(sample.short_text, 'x', sizeof sample.short_text);
  assert_status(tb_ros2_idl_encode(EVERYTHING, &sample, &cdr, &size, NULL), TB_ERR_INVALID);
  assert_status(tb_ros2_idl_encode(EVERYTHING, NULL, &cdr, &size, NULL), TB_ERR_INVALID);
  assert_status(tb_ros2_idl_encode(NULL, &sample, &cdr, &size, NULL), TB_ERR_INVALID);
  assert_status(tb_ros2_idl_decode(NULL, add_little, 20, &cdr, NULL), TB_ERR_INVALID);
  assert_ptr_equal(cdr, &cdr);
  assert_int_equal(size, 12345);
  tb_ros2_idl_free(NULL);
}

static void test_types_that_ros_2_cannot_carry_are_refused(void **state)
{
  (void)state;
  static const struct {
    const dds_topic_descriptor_t *type;
    const char *text;
  } cases[] = {
      {&timebase_test_msg_WithEnum_desc, "WithEnum: ROS 2 cannot carry an enum"},
      {&timebase_test_msg_WithMask_desc, "a bitmask"},
      {&timebase_test_msg_WithUnion_desc, "a union"},
      {&timebase_test_msg_WithOptional_desc, "@optional"},
      {&timebase_test_msg_WithExternal_desc, "@external"},
      {&timebase_test_msg_Appendable_desc, "idlc -x final"},
      {&timebase_test_msg_WithAppendable_desc, "idlc -x final"},
      {&timebase_test_msg_Mutable_desc, "@final"},
  };
  static const uint8_t zeros[64] = {0, 1};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    void *out;
    size_t size;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_ros2_idl_encode(cases[i].type, zeros, &out, &size, &error),
                  TB_ERR_UNSUPPORTED);
    if (!strstr(error.text, cases[i].text)) fail_msg("%s", error.text);
    assert_status(tb_ros2_idl_decode(cases[i].type, zeros, sizeof zeros, &out, NULL),
                  TB_ERR_UNSUPPORTED);
  }
}

/* idlc makes no such types by itself. */
static void test_nested_types_without_end_and_types_without_members(void **state)
{
  (void)state;
  typedef struct list {
    dds_sequence_t items;
  } list_t;
  static const uint32_t tree_code[] = {DDS_OP_ADR | DDS_OP_TYPE_SEQ | DDS_OP_SUBTYPE_STU, 0,
                                       sizeof(list_t), 4u << 16, DDS_OP_RTS};
  static const uint32_t empty_code[] = {DDS_OP_ADR | DDS_OP_TYPE_SEQ | DDS_OP_SUBTYPE_STU, 0, 0,
                                        (4u << 16) + 4, DDS_OP_RTS};
  static const dds_topic_descriptor_t tree = {
      .m_size = sizeof(list_t), .m_typename = "Tree", .m_ops = tree_code};
  static const dds_topic_descriptor_t empty = {
      .m_size = sizeof(list_t), .m_typename = "Empty", .m_ops = empty_code};
  list_t *sample;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(decode(&tree, "\0\1\0\0\0\0\0\0", 8, &sample, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "deep"));
  assert_status(decode(&empty, "\0\1\0\0\xff\xff\xff\xff", 8, &sample, NULL), TB_ERR_TRUNCATED);
  assert_ok(decode(&empty, "\0\1\0\0\2\0\0\0\0\0", 10, &sample, NULL));
  assert_int_equal(sample->items._length, 2);
  tb_ros2_idl_free(sample);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_request_in_both_byte_orders),
      cmocka_unit_test(test_alignment_and_padding),
      cmocka_unit_test(test_every_kind_of_member_is_written_and_read_as_by_cyclone),
      cmocka_unit_test(test_a_decoded_sample_is_c),
      cmocka_unit_test(test_booleans_of_others_may_be_any_byte),
      cmocka_unit_test(test_every_message_that_ends_too_early_is_refused),
      cmocka_unit_test(test_invalid_messages_are_refused),
      cmocka_unit_test(test_counts_are_checked_before_they_count),
      cmocka_unit_test(test_bounds_of_sequences_hold_both_ways),
      cmocka_unit_test(test_samples_with_invalid_pointers_are_refused),
      cmocka_unit_test(test_types_that_ros_2_cannot_carry_are_refused),
      cmocka_unit_test(test_nested_types_without_end_and_types_without_members),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
