#include "dds/log_limit.h"

#include "test.h"

#define S INT64_C(1000000000)

static const char here[] = "here.c", there[] = "there.c";

static void test_a_flood_is_passed_on_in_part_and_counted(void **state)
{
  (void)state;
  static tb__log_limit_t limit;
  uint64_t left_out = 99;
  for (int i = 0; i < 10; i++) {
    assert_true(tb__log_limit_take(&limit, here, 5, 10, i, &left_out));
    assert_int_equal(left_out, 0);
  }
  for (int i = 0; i < 100000; i++)
    assert_false(tb__log_limit_take(&limit, here, 5, 10, S + i, &left_out));
  assert_true(tb__log_limit_take(&limit, here, 6, 10, S, &left_out)); /* another place */
  assert_true(tb__log_limit_take(&limit, there, 5, 10, S, &left_out));
  assert_int_equal(left_out, 0);
  assert_true(tb__log_limit_take(&limit, here, 5, 10, 10 * S, &left_out));
  assert_int_equal(left_out, 100000);
  assert_true(tb__log_limit_take(&limit, here, 5, 10, 10 * S, &left_out));
  assert_int_equal(left_out, 0);
}

static void test_messages_left_out_at_the_end_are_counted(void **state)
{
  (void)state;
  static tb__log_limit_t limit;
  uint64_t left_out;
  for (int i = 0; i < 5; i++)
    tb__log_limit_take(&limit, here, 1, 2, 0, &left_out);
  assert_int_equal(tb__log_limit_end(&limit), 3);
  assert_int_equal(tb__log_limit_end(&limit), 0);
}

static void test_any_number_of_causes_takes_bounded_memory_and_loses_no_count(void **state)
{
  (void)state;
  static tb__log_limit_t limit;
  uint64_t left_out, reported = 0, refused = 0;
  for (uint32_t line = 0; line < 1000; line++) {
    for (int i = 0; i < 3; i++) {
      refused += !tb__log_limit_take(&limit, here, line, 1, line, &left_out);
      reported += left_out;
    }
  }
  assert_int_equal(refused, 2000);
  assert_int_equal(reported + tb__log_limit_end(&limit), refused);
}

static void test_without_a_limit_all_are_passed_on(void **state)
{
  (void)state;
  static tb__log_limit_t limit;
  uint64_t left_out;
  for (int i = 0; i < 1000; i++)
    assert_true(tb__log_limit_take(&limit, here, 1, 0, 0, &left_out));
  assert_int_equal(tb__log_limit_end(&limit), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_flood_is_passed_on_in_part_and_counted),
      cmocka_unit_test(test_messages_left_out_at_the_end_are_counted),
      cmocka_unit_test(test_any_number_of_causes_takes_bounded_memory_and_loses_no_count),
      cmocka_unit_test(test_without_a_limit_all_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
