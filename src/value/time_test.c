#include <math.h>
#include <timebase/arithmetic.h>
#include <timebase/time.h>

#include "test.h"

#define ROS(ns)     ((tb_time_t){(ns), TB_TIME_ROS})
#define SYSTEM(ns)  ((tb_time_t){(ns), TB_TIME_SYSTEM})
#define NO_KIND(ns) ((tb_time_t){(ns), (tb_time_kind_t)0})

static void assert_time(tb_time_t time, int64_t ns, tb_time_kind_t kind)
{
  assert_int_equal(time.ns, ns);
  assert_int_equal(time.kind, kind);
}

static const tb_time_t constants[] = {tb_ros_time_ns(5), tb_system_time_ns(-1)};

static void test_constructors(void **state)
{
  (void)state;
  int order = 77;
  assert_int_equal(constants[0].ns, 5);
  assert_int_equal(constants[0].kind, TB_TIME_ROS);
  assert_int_equal(constants[1].ns, -1);
  assert_int_equal(constants[1].kind, TB_TIME_SYSTEM);
  assert_ok(tb_compare(tb_ros_time_ns(5), constants[0], &order));
  assert_int_equal(order, 0);
}

static void test_T2_mixing_system_and_ros_time_is_refused(void **state)
{
  (void)state;
  tb_duration_t difference = {77};
  int order = 77;
  assert_status(tb_time_diff(ROS(2), SYSTEM(1), &difference), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_time_diff(SYSTEM(2), ROS(1), &difference), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_time_diff_sat(SYSTEM(2), ROS(1), &difference), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_time_compare(ROS(2), SYSTEM(2), &order), TB_ERR_CLOCK_MISMATCH);
  assert_status(tb_time_compare(SYSTEM(2), ROS(2), &order), TB_ERR_CLOCK_MISMATCH);
  assert_int_equal(difference.ns, 77);
  assert_int_equal(order, 77);
}

static void test_T2_a_kind_that_is_none_is_refused(void **state)
{
  (void)state;
  tb_duration_t difference = {77};
  tb_time_t out = ROS(77);
  int order = 77;
  assert_status(tb_time_diff(NO_KIND(2), NO_KIND(1), &difference), TB_ERR_INVALID);
  assert_status(tb_time_diff_sat(NO_KIND(2), NO_KIND(1), &difference), TB_ERR_INVALID);
  assert_status(tb_time_compare(NO_KIND(2), ROS(1), &order), TB_ERR_INVALID);
  assert_status(tb_time_add(NO_KIND(2), (tb_duration_t){1}, &out), TB_ERR_INVALID);
  assert_status(tb_time_sub(NO_KIND(2), (tb_duration_t){1}, &out), TB_ERR_INVALID);
  assert_status(tb_time_from_wire(1, 0, (tb_time_kind_t)3, &out), TB_ERR_INVALID);
  assert_status(tb_time_from_seconds(1, (tb_time_kind_t)0, &out), TB_ERR_INVALID);
  assert_int_equal(difference.ns, 77);
  assert_int_equal(order, 77);
  assert_time(out, 77, TB_TIME_ROS);
}

/* rclcpp test_time.cpp: overflows, test_overflow_underflow_throws. */
static void test_T3_arithmetic_keeps_the_kind_and_is_checked(void **state)
{
  (void)state;
  tb_time_t out = ROS(77);
  tb_duration_t difference = {77};
  assert_status(tb_time_add(SYSTEM(INT64_MAX), (tb_duration_t){1}, &out), TB_ERR_OVERFLOW);
  assert_status(tb_time_sub(SYSTEM(INT64_MIN), (tb_duration_t){1}, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_time_sub(SYSTEM(0), (tb_duration_t){INT64_MIN}, &out), TB_ERR_OVERFLOW);
  assert_time(out, 77, TB_TIME_ROS);
  assert_status(tb_time_diff(ROS(INT64_MAX), ROS(-1), &difference), TB_ERR_OVERFLOW);
  assert_int_equal(difference.ns, 77);
  assert_ok(tb_time_diff_sat(ROS(INT64_MAX), ROS(-1), &difference));
  assert_int_equal(difference.ns, INT64_MAX);
  assert_ok(tb_time_diff_sat(ROS(INT64_MIN), ROS(1), &difference));
  assert_int_equal(difference.ns, INT64_MIN);
  assert_ok(tb_time_diff(ROS(3), ROS(5), &difference));
  assert_int_equal(difference.ns, -2);
  assert_ok(tb_time_add(SYSTEM(5), (tb_duration_t){-7}, &out));
  assert_time(out, -2, TB_TIME_SYSTEM);
  assert_ok(tb_time_sub(ROS(5), (tb_duration_t){-7}, &out));
  assert_time(out, 12, TB_TIME_ROS);
  assert_time(tb_time_add_sat(ROS(INT64_MAX), (tb_duration_t){1}), INT64_MAX, TB_TIME_ROS);
  assert_time(tb_time_sub_sat(SYSTEM(-2), (tb_duration_t){INT64_MAX}), INT64_MIN, TB_TIME_SYSTEM);
}

static void test_T3_compare_gives_the_order(void **state)
{
  (void)state;
  int order;
  assert_ok(tb_time_compare(ROS(INT64_MIN), ROS(INT64_MAX), &order));
  assert_int_equal(order, -1);
  assert_ok(tb_time_compare(SYSTEM(1), SYSTEM(-1), &order));
  assert_int_equal(order, 1);
  assert_ok(tb_time_compare(ROS(0), ROS(0), &order));
  assert_int_equal(order, 0);
}

static void test_T4_wire_form_floors_negative_times(void **state)
{
  (void)state;
  int32_t sec;
  uint32_t nanosec;
  tb_time_t out;
  assert_ok(tb_time_to_wire(SYSTEM(-1), &sec, &nanosec));
  assert_int_equal(sec, -1);
  assert_int_equal(nanosec, 999999999);
  assert_ok(tb_time_from_wire(sec, nanosec, TB_TIME_ROS, &out));
  assert_time(out, -1, TB_TIME_ROS);
  assert_ok(tb_time_to_wire(SYSTEM(INT32_MIN * TB_NS_PER_S), &sec, &nanosec));
  assert_int_equal(sec, INT32_MIN);
  assert_int_equal(nanosec, 0);
}

static void test_T4_wire_form_refuses_2038_and_bad_nanoseconds(void **state)
{
  (void)state;
  int32_t sec = 77;
  uint32_t nanosec = 77;
  tb_time_t out = ROS(77);
  const int64_t last_ns = INT32_MAX * TB_NS_PER_S + 999999999;
  assert_status(tb_time_to_wire(ROS(last_ns + 1), &sec, &nanosec), TB_ERR_RANGE);
  assert_status(tb_time_to_wire(ROS(INT32_MIN * TB_NS_PER_S - 1), &sec, &nanosec), TB_ERR_RANGE);
  assert_int_equal(sec, 77);
  assert_int_equal(nanosec, 77);
  assert_ok(tb_time_to_wire(ROS(last_ns), &sec, &nanosec));
  assert_int_equal(sec, INT32_MAX);
  assert_int_equal(nanosec, 999999999);
  assert_status(tb_time_from_wire(1, 1000000000, TB_TIME_SYSTEM, &out), TB_ERR_INVALID);
  assert_time(out, 77, TB_TIME_ROS);
}

static void test_T5_ros_time_zero_is_not_set_and_system_time_zero_is(void **state)
{
  (void)state;
  assert_false(tb_time_is_set(ROS(0)));
  assert_true(tb_time_is_set(ROS(1)));
  assert_true(tb_time_is_set(ROS(-1)));
  assert_true(tb_time_is_set(SYSTEM(0)));
}

static void test_T6_seconds_and_timespec(void **state)
{
  (void)state;
  tb_time_t out = ROS(77);
  struct timespec spec;
  assert_status(tb_time_from_seconds((double)NAN, TB_TIME_SYSTEM, &out), TB_ERR_INVALID);
  assert_status(tb_time_from_seconds(1e10, TB_TIME_SYSTEM, &out), TB_ERR_RANGE);
  assert_status(tb_time_from_timespec((struct timespec){1, 1000000000}, TB_TIME_SYSTEM, &out),
                TB_ERR_INVALID);
  assert_time(out, 77, TB_TIME_ROS);
  assert_ok(tb_time_from_seconds(-0.25, TB_TIME_SYSTEM, &out));
  assert_time(out, -250000000, TB_TIME_SYSTEM);
  assert_ok(tb_time_to_timespec(out, &spec));
  assert_int_equal(spec.tv_sec, -1);
  assert_int_equal(spec.tv_nsec, 750000000);
  assert_ok(tb_time_from_timespec(spec, TB_TIME_ROS, &out));
  assert_time(out, -250000000, TB_TIME_ROS);
  assert_true(tb_time_to_seconds(out) == -0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constructors),
      cmocka_unit_test(test_T2_mixing_system_and_ros_time_is_refused),
      cmocka_unit_test(test_T2_a_kind_that_is_none_is_refused),
      cmocka_unit_test(test_T3_arithmetic_keeps_the_kind_and_is_checked),
      cmocka_unit_test(test_T3_compare_gives_the_order),
      cmocka_unit_test(test_T4_wire_form_floors_negative_times),
      cmocka_unit_test(test_T4_wire_form_refuses_2038_and_bad_nanoseconds),
      cmocka_unit_test(test_T5_ros_time_zero_is_not_set_and_system_time_zero_is),
      cmocka_unit_test(test_T6_seconds_and_timespec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
