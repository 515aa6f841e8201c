/* What nodes report about types, as definitions. */
#include "definition/type_description.h"

#include <stdlib.h>

#include "definition/parse.h"
#include "described_type.h"
#include "test.h"

#define RULE "================================================================================\n"

static void test_types_within_types(void **state)
{
  (void)state;
  description_t scan;
  char *text = NULL;
  tb__schema_t *schema = NULL;
  description_of_scan(&scan);
  assert_ok(tb__type_description_text("my_msgs/msg/Scan", scan.bytes, scan.size, &text, NULL));
  assert_string_equal(text, "float32[] ranges\nstd_msgs/msg/Header header\n" RULE
                            "MSG: builtin_interfaces/msg/Time\nint32 sec\nuint32 nanosec\n" RULE
                            "MSG: std_msgs/msg/Header\nbuiltin_interfaces/msg/Time stamp\n"
                            "string frame_id\n");
  assert_ok(tb__schema_parse("my_msgs/msg/Scan", "ros2msg", text, strlen(text), &schema, NULL));
  tb__schema_destroy(schema);
  free(text);
}

static void test_every_kind_of_field(void **state)
{
  (void)state;
  static const uint8_t ids[] = {2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  13,  15,  16,
                                17, 18, 21, 22, 49, 50, 69, 97, 113, 118, 145, 161, 166};
  description_t all;
  char *text = NULL;
  description_begin(&all, 1, "");
  description_type(&all, "a/msg/B", sizeof ids);
  for (size_t i = 0; i < sizeof ids; i++) {
    char name[8];
    snprintf(name, sizeof name, "f%u", ids[i]);
    description_field(&all, name, ids[i], 3, 5, "c/msg/D");
  }
  description_put(&all, 0, 4);
  description_end(&all, "a/msg/B");
  assert_ok(tb__type_description_text("a/msg/B", all.bytes, all.size, &text, NULL));
  assert_string_equal(
      text, "int8 f2\nuint8 f3\nint16 f4\nuint16 f5\nint32 f6\nuint32 f7\nint64 f8\nuint64 f9\n"
            "float32 f10\nfloat64 f11\nchar f13\nbool f15\nbyte f16\nstring f17\nwstring f18\n"
            "string<=5 f21\nwstring<=5 f22\nc/msg/D[3] f49\nint8[3] f50\nstring<=5[3] f69\n"
            "c/msg/D[<=3] f97\nstring[<=3] f113\nwstring<=5[<=3] f118\nc/msg/D[] f145\n"
            "string[] f161\nwstring<=5[] f166\n");
  free(text);
}

static void assert_refused(const description_t *of, tb_status_t status, const char *expected)
{
  char *text = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__type_description_text("a/msg/B", of->bytes, of->size, &text, &error), status);
  assert_string_equal(error.text, expected);
}

static void test_what_is_no_description(void **state)
{
  (void)state;
  description_t one;
  description_begin(&one, 0, "unknown type");
  description_type(&one, "", 0);
  description_put(&one, 0, 4);
  description_end(&one, "");
  assert_refused(&one, TB_ERR_NOT_FOUND, "the node has no description of the type: unknown type");
  static const uint8_t ids[] = {0, 12, 14, 19, 20, 23, 48, 200, 255};
  for (size_t i = 0; i <= sizeof ids; i++) {
    bool is_name = i == sizeof ids;
    description_begin(&one, 1, "");
    description_type(&one, "a/msg/B", 1);
    description_field(&one, is_name ? "x\nint8 y" : "x", is_name ? 2 : ids[i], 1, 1, "");
    description_put(&one, 0, 4);
    description_end(&one, "a/msg/B");
    assert_refused(&one, TB_ERR_UNSUPPORTED,
                   "the node's description of the type has a field that ROS 2 does not make");
  }
  description_of_scan(&one);
  assert_refused(&one, TB_ERR_CORRUPT, "the node describes another type than a/msg/B");
  one.size = 3;
  assert_refused(&one, TB_ERR_TRUNCATED, "a type's description: not plain CDR");
}

static void test_descriptions_that_are_cut(void **state)
{
  (void)state;
  description_t scan;
  description_of_scan(&scan);
  for (size_t size = 4; size < scan.size; size++) {
    char *text = NULL;
    assert_status(tb__type_description_text("my_msgs/msg/Scan", scan.bytes, size, &text, NULL),
                  TB_ERR_TRUNCATED);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types_within_types),
      cmocka_unit_test(test_every_kind_of_field),
      cmocka_unit_test(test_what_is_no_description),
      cmocka_unit_test(test_descriptions_that_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
