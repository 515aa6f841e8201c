#include <timebase/steady_time.h>

#include "test.h"

static void test_T3_steady_arithmetic_is_checked(void **state)
{
  (void)state;
  const tb_steady_time_t last = {INT64_MAX}, first = {INT64_MIN};
  const tb_duration_t one = {1};
  tb_steady_time_t out = {77};
  tb_duration_t difference = {77};
  assert_status(tb_steady_time_add(last, one, &out), TB_ERR_OVERFLOW);
  assert_status(tb_steady_time_sub(first, one, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_steady_time_diff(last, first, &difference), TB_ERR_OVERFLOW);
  assert_int_equal(out.ns, 77);
  assert_int_equal(difference.ns, 77);
  assert_ok(tb_steady_time_add((tb_steady_time_t){5}, one, &out));
  assert_int_equal(out.ns, 6);
  assert_ok(tb_steady_time_sub((tb_steady_time_t){5}, one, &out));
  assert_int_equal(out.ns, 4);
  assert_ok(tb_steady_time_diff(out, (tb_steady_time_t){7}, &difference));
  assert_int_equal(difference.ns, -3);
}

static void test_T3_steady_saturating_forms_stop_at_the_ends(void **state)
{
  (void)state;
  const tb_steady_time_t last = {INT64_MAX}, first = {INT64_MIN};
  tb_duration_t difference;
  assert_int_equal(tb_steady_time_add_sat(last, (tb_duration_t){1}).ns, INT64_MAX);
  assert_int_equal(tb_steady_time_sub_sat(first, (tb_duration_t){1}).ns, INT64_MIN);
  assert_int_equal(tb_steady_time_add_sat(last, (tb_duration_t){-1}).ns, INT64_MAX - 1);
  assert_ok(tb_steady_time_diff_sat(first, last, &difference));
  assert_int_equal(difference.ns, INT64_MIN);
  assert_ok(tb_steady_time_diff_sat(last, first, &difference));
  assert_int_equal(difference.ns, INT64_MAX);
}

static void test_T6_steady_seconds_timespec_and_order(void **state)
{
  (void)state;
  tb_steady_time_t out = {77};
  struct timespec spec;
  int order;
  assert_status(tb_steady_time_from_seconds(1e11, &out), TB_ERR_RANGE);
  assert_status(tb_steady_time_from_timespec((struct timespec){0, -1}, &out), TB_ERR_INVALID);
  assert_int_equal(out.ns, 77);
  assert_ok(tb_steady_time_from_seconds(1.25, &out));
  assert_int_equal(out.ns, 1250000000);
  assert_ok(tb_steady_time_to_timespec(out, &spec));
  assert_int_equal(spec.tv_sec, 1);
  assert_int_equal(spec.tv_nsec, 250000000);
  assert_ok(tb_steady_time_from_timespec(spec, &out));
  assert_true(tb_steady_time_to_seconds(out) == 1.25);
  assert_ok(tb_steady_time_compare(out, (tb_steady_time_t){1}, &order));
  assert_int_equal(order, 1);
  assert_ok(tb_steady_time_compare((tb_steady_time_t){1}, out, &order));
  assert_int_equal(order, -1);
  assert_ok(tb_steady_time_compare(out, out, &order));
  assert_int_equal(order, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T3_steady_arithmetic_is_checked),
      cmocka_unit_test(test_T3_steady_saturating_forms_stop_at_the_ends),
      cmocka_unit_test(test_T6_steady_seconds_timespec_and_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
