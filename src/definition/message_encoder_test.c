/* Messages made of YAML: their bytes, defaults, times, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "definition/message.h"
#include "definition/message_encoder.h"
#include "definition/parse.h"
#include "test.h"

#define RULE   "================================================================================\n"
#define TIME   RULE "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
#define HEADER RULE "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" TIME

typedef struct encoded {
  tb__schema_t *schema;
  tb__message_encoder_t *encoder;
  const uint8_t *data;
  size_t size;
} encoded_t;

static tb_status_t try(encoded_t *out, const char *encoding, const char *definition,
                       const char *yaml, tb_error_t *error)
{
  *out = (encoded_t){0};
  tb_status_t status =
      tb__schema_parse("p/msg/T", encoding, definition, strlen(definition), &out->schema, error);
  if (!status)
    status = tb__message_encoder_create(out->schema, yaml, strlen(yaml), &out->encoder, error);
  if (status == TB_ERR_UNSUPPORTED) skip(); /* built without YAML */
  if (!status)
    status =
        tb__message_encoder_run(out->encoder, INT64_C(5000000007), &out->data, &out->size, error);
  return status;
}

static void end(encoded_t *encoded)
{
  tb__message_encoder_destroy(encoded->encoder);
  tb__schema_destroy(encoded->schema);
}

static void assert_bytes(const char *encoding, const char *definition, const char *yaml,
                         const void *expected, size_t size)
{
  encoded_t encoded;
  tb_error_t error = TB_ERROR_INIT;
  tb__message_t message;
  if (try(&encoded, encoding, definition, yaml, &error)) fail_msg("%s: %s", yaml, error.text);
  assert_int_equal(encoded.size, size);
  assert_memory_equal(encoded.data, expected, size);
  assert_status(tb__message_open(&message, encoded.schema, encoded.data, encoded.size), TB_OK);
  assert_status(tb__message_walk(&message, NULL, NULL, &error), TB_OK);
  end(&encoded);
}

#define assert_message(definition, yaml, ...)                                                      \
  do {                                                                                             \
    static const uint8_t bytes_[] = {0, 1, 0, 0, __VA_ARGS__};                                     \
    assert_bytes("ros2msg", definition, yaml, bytes_, sizeof bytes_);                              \
  } while (0)

static void assert_refused(const char *definition, const char *yaml, tb_status_t status,
                           const char *text)
{
  encoded_t encoded;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(try(&encoded, "ros2msg", definition, yaml, &error), status);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
  end(&encoded);
}

static void test_numbers(void **state)
{
  (void)state;
  assert_message("bool a\nint8 b\nuint16 c\nint64 d\n", "{a: true, b: -128, c: 0xffff, d: -2}", 1,
                 0x80, 0xff, 0xff, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
  assert_message("uint64 a\n", "a: 18446744073709551615", 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff);
  assert_message("float32 a\nfloat64 b\n", "{a: 1, b: -2.5e0}", 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0,
                 0, 0, 0, 0, 0x04, 0xc0);
  assert_message("float32 a\nfloat32 b\n", "{a: .inf, b: -.inf}", 0, 0, 0x80, 0x7f, 0, 0, 0x80,
                 0xff);
  assert_message("uint8 a\nuint16 b\n", "", 0, 0, 0, 0);
}

static void test_texts_and_lists(void **state)
{
  (void)state;
  assert_message("string a\nint16[] b\nuint8[3] c\nstring[<=2] d\n",
                 "{a: hi, b: [1, -1], d: ['', x], c: [1, 2, 3]}", 3, 0, 0, 0, 'h', 'i', 0, 0, 2, 0,
                 0, 0, 1, 0, 0xff, 0xff, 1, 2, 3, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
                 'x', 0);
  /* Outside of the basic plane: two units. */
  assert_message("wstring a\n", "a: \"\xC3\xA9\xF0\x9F\x98\x80\"", 3, 0, 0, 0, 0xe9, 0, 0, 0, 0x3d,
                 0xd8, 0, 0, 0, 0xde, 0, 0);
  assert_message("In[] a\nEmpty b\n" RULE "MSG: p/In\nint8 x\nint32 y\n" RULE "MSG: p/Empty\n",
                 "a: [{x: 1}, {y: 2}]", 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
                 0);
}

static void test_defaults(void **state)
{
  (void)state;
  assert_message("int8 a 5\nint8[] b [1, 2] # two\nstring c \"d: #\"\nint8[2] e [3, 4]\nIn f\n" //
                 RULE "MSG: p/In\nuint8 x 9\n",
                 "{}", 5, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0, 5, 0, 0, 0, 'd', ':', ' ', '#', 0, 3, 4,
                 9);
  assert_message("int8 a 5\nint8[] b [1, 2]\n", "{a: 1, b: []}", 1, 0, 0, 0, 0, 0, 0, 0);
  assert_message("int8 a # 5\nint8 b x\n", "", 0, 0); /* neither is a default of the type */
}

static void test_null_is_the_default(void **state)
{
  (void)state;
  assert_message("int8 a 7\nint8 b\nint8[2] c\n", "{a: ~, b: null, c: [~, 5]}", 7, 0, 0, 5);
  assert_message("string a\n", "a:", 1, 0, 0, 0, 0);
  assert_message("string a\n", "a: '~'", 2, 0, 0, 0, '~', 0);
}

static void test_time(void **state)
{
  (void)state;
  encoded_t encoded;
  tb_error_t error = TB_ERROR_INIT;
  assert_message("std_msgs/Header header\nint8 x\n" HEADER, "{header: auto, x: 1}", 5, 0, 0, 0, 7,
                 0, 0, 0, 1, 0, 0, 0, 0, 1);
  assert_message("std_msgs/Header header\n" HEADER, "header: {stamp: now, frame_id: m}", 5, 0, 0, 0,
                 7, 0, 0, 0, 2, 0, 0, 0, 'm', 0);
  assert_message("std_msgs/Header header\n" HEADER, "header: {stamp: {sec: 1}}", 1, 0, 0, 0, 0, 0,
                 0, 0, 1, 0, 0, 0, 0);
  assert_status(try(&encoded, "ros2msg", "builtin_interfaces/Time t\n" TIME, "t: now", &error),
                TB_OK);
  assert_true(tb__message_encoder_needs_time(encoded.encoder));
  assert_status(
      tb__message_encoder_run(encoded.encoder, INT64_MAX, &encoded.data, &encoded.size, &error),
      TB_ERR_RANGE);
  end(&encoded);
  assert_status(try(&encoded, "ros2msg", "string t\n", "t: now", &error), TB_OK);
  assert_false(tb__message_encoder_needs_time(encoded.encoder));
  end(&encoded);
}

/* Types of these names that are other types. */
static void test_times_that_are_none(void **state)
{
  (void)state;
  assert_message("std_msgs/Header header\n" RULE "MSG: std_msgs/Header\n"
                 "builtin_interfaces/Time[2] stamp\n" TIME,
                 "header: auto", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  assert_message("std_msgs/Header header\n" RULE "MSG: std_msgs/Header\n"
                 "builtin_interfaces/Time stamp\n" RULE
                 "MSG: builtin_interfaces/Time\nint8 sec\nuint32 nanosec\n",
                 "header: auto", 0, 0, 0, 0, 0, 0, 0, 0);
  assert_refused("builtin_interfaces/Time t\n" RULE "MSG: builtin_interfaces/Time\nint8 x\n",
                 "t: now", TB_ERR_INVALID, "is no mapping");
}

static void test_ros1(void **state)
{
  (void)state;
  static const uint8_t bytes[] = {1, 2, 0, 0, 0, 'h', 'i', 5, 0, 0, 0, 7, 0, 0, 0};
  assert_bytes("ros1msg", "", "", "", 0);
  assert_bytes("ros1msg", "uint8 a\nstring b\ntime c\n", "{a: 1, b: hi, c: now}", bytes,
               sizeof bytes);
}

static void test_refused(void **state)
{
  (void)state;
  assert_refused("int8 a\nint8 b\n", "a: 1\nc: 2\n", TB_ERR_INVALID,
                 "line 2, column 1: p/msg/T has no field 'c'; it has a, b");
  assert_refused("int8 a\n", "a: 128", TB_ERR_INVALID, "line 1, column 4: '128' is no int8");
  assert_refused("uint8 a\n", "a: -1", TB_ERR_INVALID, "is no uint8");
  assert_refused("uint8 a\n", "a: 1.5", TB_ERR_INVALID, "is no uint8");
  assert_refused("float32 a\n", "a: 1e300", TB_ERR_INVALID, "is no float32");
  assert_refused("bool a\n", "a: 2", TB_ERR_INVALID, "is no bool");
  assert_refused("float64 a\n", "a: [1]", TB_ERR_INVALID, "and not a float64");
  assert_refused("int8[] a\n", "a: 1", TB_ERR_INVALID, "is no list of int8");
  assert_refused("int8[2] a\n", "a: [1]", TB_ERR_INVALID, "a has 1 elements, and not 2");
  assert_refused("int8[<=2] a\n", "a: [1, 2, 3]", TB_ERR_INVALID, "a has 3 elements, at most 2");
  assert_refused("string<=2 a\n", "a: abc", TB_ERR_INVALID, "longer than the bound");
  assert_refused("int8 a\n", "5", TB_ERR_INVALID, "is no mapping of the fields of p/msg/T");
  assert_refused("int8 a\n", "{a: 1, a: 2}", TB_ERR_INVALID, "a second 'a'");
  assert_refused("int8 a\n", "{a: 1", TB_ERR_INVALID, "line ");
  assert_refused("uint8[4000000000] a\n", "", TB_ERR_LIMIT, "more than 64 MiB");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),  cmocka_unit_test(test_texts_and_lists),
      cmocka_unit_test(test_defaults), cmocka_unit_test(test_null_is_the_default),
      cmocka_unit_test(test_time),     cmocka_unit_test(test_times_that_are_none),
      cmocka_unit_test(test_ros1),     cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
