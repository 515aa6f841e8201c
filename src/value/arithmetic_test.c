#include <timebase/arithmetic.h>

#include "test.h"

static void test_T1_generic_names_are_those_of_each_type(void **state)
{
  (void)state;
  const tb_duration_t two = {2}, max = {INT64_MAX};
  const tb_steady_time_t steady = {5};
  tb_duration_t duration = {40};
  tb_time_t time = {5, TB_TIME_ROS};
  tb_steady_time_t steady_out;
  int order;
  assert_ok(tb_add(two, two, &duration));
  assert_int_equal(duration.ns, 4);
  assert_ok(tb_add(time, two, &time));
  assert_int_equal(time.ns, 7);
  assert_ok(tb_add(steady, two, &steady_out));
  assert_int_equal(steady_out.ns, 7);
  assert_ok(tb_sub(two, two, &duration));
  assert_int_equal(duration.ns, 0);
  assert_ok(tb_sub(time, two, &time));
  assert_int_equal(time.ns, 5);
  assert_ok(tb_sub(steady, two, &steady_out));
  assert_int_equal(steady_out.ns, 3);
  assert_ok(tb_diff(time, time, &duration));
  assert_ok(tb_diff(steady, steady_out, &duration));
  assert_int_equal(duration.ns, 2);
  assert_ok(tb_diff_sat(time, time, &duration));
  assert_int_equal(duration.ns, 0);
  assert_ok(tb_diff_sat(steady_out, steady, &duration));
  assert_int_equal(duration.ns, -2);
  assert_int_equal(tb_add_sat(max, two).ns, INT64_MAX);
  assert_int_equal(tb_add_sat(time, max).ns, INT64_MAX);
  assert_int_equal(tb_sub_sat(steady, two).ns, 3);
  assert_ok(tb_compare(two, max, &order));
  assert_int_equal(order, -1);
  assert_ok(tb_compare(steady, steady_out, &order));
  assert_int_equal(order, 1);
  assert_ok(tb_compare(time, time, &order));
  assert_int_equal(order, 0);
}

static void test_T2_generic_names_check_kinds_and_null(void **state)
{
  (void)state;
  const tb_time_t ros = {5, TB_TIME_ROS}, wall = {5, TB_TIME_SYSTEM};
  tb_duration_t duration = {77};
  int order = 77;
  assert_status(tb_diff(ros, wall, &duration), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_compare(ros, wall, &order), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_add(ros, duration, NULL), TB_ERR_INVALID);
  assert_status(tb_diff(ros, ros, NULL), TB_ERR_INVALID);
  assert_status(tb_compare(ros, ros, NULL), TB_ERR_INVALID);
  assert_int_equal(duration.ns, 77);
  assert_int_equal(order, 77);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T1_generic_names_are_those_of_each_type),
      cmocka_unit_test(test_T2_generic_names_check_kinds_and_null),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
