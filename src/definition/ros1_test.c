/* Messages of ROS 1: not aligned, without an encapsulation and NULs, with a Header that has seq. */
#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>

#include "definition/message_encoder.h"
#include "definition/message_head.h"
#include "definition/parse.h"
#include "test.h"

#define RULE   "================================================================================\n"
#define HEADER RULE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"

static tb__schema_t *parse(const char *text)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__schema_parse("p/T", "ros1msg", text, strlen(text), &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

static tb_status_t walk(const char *text, const void *bytes, size_t size)
{
  tb__message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb__schema_t *schema = parse(text);
  assert_ok(tb__message_open(&message, schema, bytes, size));
  tb_status_t status = tb__message_walk(&message, NULL, NULL, &error);
  size_t at = 0;
  const tb__schema_type_t *root = &schema->types[schema->root];
  tb_status_t skipped =
      tb__message_skip(&message, &schema->skips[root->first_skip], root->skip_count, &at);
  if (!status) assert_ok(skipped);
  if (!status) assert_int_equal(at, size);
  tb__schema_destroy(schema);
  return status;
}

static void test_header_stamp(void **state)
{
  (void)state;
  static const uint8_t bytes[] = {9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 5,   0,
                                  0, 0, 3, 0, 0,    0,    'm',  'a',  'p', 7};
  const char *text = "Header header\nuint8 after\n" HEADER, *frame = NULL;
  tb__schema_t *schema = parse(text);
  tb__message_t message;
  tb__message_head_t head;
  int64_t stamp_ns = 0;
  size_t length = 0;
  assert_ok(tb__message_head_init(&head, schema, NULL));
  assert_ok(tb__message_open(&message, schema, bytes, sizeof bytes));
  assert_ok(tb__message_head_stamp(&head, &message, &stamp_ns));
  assert_int_equal(stamp_ns, 4294967295 * INT64_C(1000000000) + 5); /* seconds have no sign */
  assert_ok(tb__message_head_frame(&head, &message, &frame, &length));
  assert_int_equal(length, 3);
  assert_memory_equal(frame, "map", 3);
  tb__message_head_fini(&head);
  tb__schema_destroy(schema);
  assert_ok(walk(text, bytes, sizeof bytes));
  assert_status(walk(text, bytes, sizeof bytes - 1), TB_ERR_TRUNCATED);
}

/* A byte before a float64, and an array of such: no padding anywhere, and none at the end. */
static void test_not_aligned(void **state)
{
  (void)state;
  uint8_t bytes[64] = {0};
  const char *text =
      "bool a\nfloat64 b\nP[2] c\nstring[] d\n" RULE "MSG: p/P\nint16 x\nuint8 n\nint64 y\n";
  size_t size = 1 + 8 + 2 * 11 + 4 + 4 + 1;
  bytes[31] = 1;
  bytes[35] = 1;
  assert_ok(walk(text, bytes, size));
  assert_status(walk(text, bytes, size + 1), TB_ERR_CORRUPT);
  assert_status(walk(text, bytes, size - 1), TB_ERR_TRUNCATED);
}

/* byte is signed and char is not, the other way round than names say; durations are signed. */
static void test_old_names(void **state)
{
  (void)state;
  static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0};
  const char *text = "byte a\nchar b\nduration d\nint8 C=1\nstring S=a # b\n";
  tb_message_definition_t *definition = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_message_definition_parse("p/T", "ros1msg", text, &definition, &error));
  static const struct {
    const char *name;
    double value;
  } fields[] = {{"a", -1}, {"b", 255}, {"d.sec", -1}, {"d.nanosec", 1}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    tb_message_field_t *field = NULL;
    double value = 0;
    assert_ok(tb_message_field_create(definition, fields[i].name, &field, &error));
    assert_ok(tb_message_field_number(field, bytes, sizeof bytes, &value));
    assert_true(value == fields[i].value);
    tb_message_field_destroy(field);
  }
  tb_message_definition_destroy(definition);
}

/* No bytes at all. Many of those would be work without bytes. */
static void test_empty(void **state)
{
  (void)state;
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  const char *many = "E[4000000000] e\n" RULE "MSG: p/E\nF f\n" RULE "MSG: p/F\nint8 C=1\n";
  assert_ok(walk("", "", 0));
  assert_ok(walk("E e\nuint8 a\n" RULE "MSG: p/E\n", "x", 1));
  assert_status(tb__schema_parse("p/T", "ros1msg", many, strlen(many), &schema, &error),
                TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "without") ? error.text : strstr(error.text, "no fields"));
}

/* Twenty of twenty of twenty ... of nothing: work without bytes, too. */
static void test_empty_within_empty(void **state)
{
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  for (int level = 0; level <= 25; level++) {
    if (level > 0) fprintf(out, RULE "MSG: p/L%d\n", level);
    for (int i = 0; level < 25 && i < 20; i++)
      fprintf(out, "L%d f%d\n", level + 1, i);
  }
  assert_int_equal(fclose(out), 0);
  assert_ok(walk(text, "", 0));
  assert_status(walk(text, "x", 1), TB_ERR_CORRUPT);
  tb__schema_t *schema = parse(text);
  tb__message_encoder_t *encoder = NULL;
  const uint8_t *bytes = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__message_encoder_create(schema, "{}", 2, &encoder, &error));
  assert_ok(tb__message_encoder_run(encoder, 0, &bytes, &size, &error));
  assert_int_equal(size, 0);
  tb__message_encoder_destroy(encoder);
  tb__schema_destroy(schema);
  free(text);
}

/* Each element has one byte, and 4000 fields that have none. */
static void test_far_more_fields_than_bytes(void **state)
{
  (void)state;
  static uint8_t bytes[4 + 100000] = {0xa0, 0x86, 1, 0};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fputs("E[] e\n" RULE "MSG: p/E\nuint8 data\n", out);
  for (int i = 0; i < 4000; i++)
    fprintf(out, "N n%d\n", i);
  fputs(RULE "MSG: p/N\n", out);
  assert_int_equal(fclose(out), 0);
  assert_status(walk(text, bytes, sizeof bytes), TB_ERR_LIMIT);
  bytes[0] = 4; /* as one that means well could have */
  bytes[1] = bytes[2] = 0;
  assert_ok(walk(text, bytes, 8));
  free(text);
}

/* What ROS 2 has and ROS 1 has not, and the other way round. */
static void test_other_generation(void **state)
{
  (void)state;
  tb__schema_t *schema = NULL;
  assert_status(tb__schema_parse("p/T", "ros1msg", "wstring a\n", 10, &schema, NULL),
                TB_ERR_CORRUPT);
  assert_status(tb__schema_parse("p/T", "ros2msg", "time a\n", 7, &schema, NULL),
                TB_ERR_UNSUPPORTED);
  assert_true(tb__definition_is_of("tf2_msgs/TFMessage", "tf2_msgs/msg/TFMessage"));
  assert_true(tb__definition_is_of("tf2_msgs/msg/TFMessage", "tf2_msgs/msg/TFMessage"));
  assert_false(tb__definition_is_of("tf/tfMessage", "tf2_msgs/msg/TFMessage"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_header_stamp),       cmocka_unit_test(test_not_aligned),
      cmocka_unit_test(test_old_names),          cmocka_unit_test(test_empty),
      cmocka_unit_test(test_empty_within_empty), cmocka_unit_test(test_far_more_fields_than_bytes),
      cmocka_unit_test(test_other_generation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
