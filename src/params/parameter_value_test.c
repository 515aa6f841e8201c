#include "params/parameter_value.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

#define ARRAY(TYPE, FIELD, ...)                                                                    \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_##TYPE##_ARRAY, .items.FIELD = __VA_ARGS__, .count = 2               \
  }

static const tb_ros2_parameter_value_t values[] = {
    {.type = TB_ROS2_PARAMETER_NOT_SET},
    {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true},
    {.type = TB_ROS2_PARAMETER_INTEGER, .integer_value = INT64_MIN},
    {.type = TB_ROS2_PARAMETER_DOUBLE, .double_value = NAN},
    {.type = TB_ROS2_PARAMETER_STRING, .string_value = "caf\xc3\xa9"},
    ARRAY(BYTE, bytes, (const uint8_t[]){0, 255}),
    ARRAY(BOOL, bools, (const bool[]){true, false}),
    ARRAY(INTEGER, integers, (const int64_t[]){INT64_MAX, -1}),
    ARRAY(DOUBLE, doubles, (const double[]){-0.5, INFINITY}),
    ARRAY(STRING, strings, (const char *const[]){"", "b"}),
};
#define COUNT (sizeof values / sizeof values[0])

static void test_copies_equal_and_are_of_their_own(void **state)
{
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    tb_ros2_parameter_value_t copy;
    assert_ok(tb_ros2_parameter_value_copy(&values[i], &copy));
    for (size_t j = 0; j < COUNT; j++)
      assert_int_equal(tb_ros2_parameter_value_equal(&copy, &values[j]), i == j);
    if (values[i].items.any) assert_ptr_not_equal(copy.items.any, values[i].items.any);
    tb_ros2_parameter_value_release(&copy);
    assert_int_equal(copy.type, TB_ROS2_PARAMETER_NOT_SET);
    tb_ros2_parameter_value_release(&copy);
  }
  tb_ros2_parameter_value_release(NULL);
}

static void test_the_wire_holds_what_the_value_does(void **state)
{
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    tb__parameter_value_t message, *decoded;
    tb_ros2_parameter_value_t back;
    uint8_t *cdr;
    size_t size;
    tb__parameter_value_to_message(&values[i], &message);
    assert_ok(tb__cdr_encode(&tb__parameter_value_type, &message, false, &cdr, &size));
    assert_ok(tb__cdr_decode(&tb__parameter_value_type, cdr, size, &decoded));
    assert_ok(tb__parameter_value_of_message(decoded, &back));
    assert_true(tb_ros2_parameter_value_equal(&back, &values[i]));
    free(decoded);
    free(cdr);
  }
}

static void test_bad_values_are_refused(void **state)
{
  (void)state;
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  const tb_ros2_parameter_value_t bad[] = {
      {.type = (tb_ros2_parameter_type_t)10},
      {.type = TB_ROS2_PARAMETER_STRING},
      {.type = TB_ROS2_PARAMETER_BYTE_ARRAY, .count = 1},
      ARRAY(STRING, strings, (const char *const[]){"a", NULL}),
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_status(tb_ros2_parameter_value_copy(&bad[i], &out), TB_ERR_INVALID);
  tb__parameter_value_t message = {.type = 10};
  assert_status(tb__parameter_value_of_message(&message, &out), TB_ERR_INVALID);
  assert_int_equal(out.type, TB_ROS2_PARAMETER_NOT_SET);
}

static void test_arrays_of_nothing_need_no_memory(void **state)
{
  (void)state;
  tb_ros2_parameter_value_t empty = {.type = TB_ROS2_PARAMETER_STRING_ARRAY}, copy;
  assert_ok(tb_ros2_parameter_value_copy(&empty, &copy));
  assert_true(tb_ros2_parameter_value_equal(&empty, &copy));
  assert_null(copy.items.any);
}

static void test_types_have_names(void **state)
{
  (void)state;
  assert_string_equal(tb_ros2_parameter_type_name(TB_ROS2_PARAMETER_STRING_ARRAY), "string_array");
  assert_null(tb_ros2_parameter_type_name((tb_ros2_parameter_type_t)10));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copies_equal_and_are_of_their_own),
      cmocka_unit_test(test_the_wire_holds_what_the_value_does),
      cmocka_unit_test(test_bad_values_are_refused),
      cmocka_unit_test(test_arrays_of_nothing_need_no_memory),
      cmocka_unit_test(test_types_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
