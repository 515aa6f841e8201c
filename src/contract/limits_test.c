#include "contract/limits.h"

#include "test.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

static void test_defaults(void **state)
{
  (void)state;
  tb__contract_limits_t limits = tb__contract_limits_default();
  assert_int_equal(limits.age_min_ns, -S);
  assert_int_equal(limits.age_max_ns, 5 * S);
  assert_int_equal(limits.future_ns, 5 * MS);
  assert_true(limits.rate_warn == 0.1 && limits.rate_error == 0.5);
  assert_int_equal(limits.other_domain_sure_ns, 31536000 * S);
  assert_true(limits.repeated == 0.1);
  assert_int_equal(limits.host_offset_ns, 5 * MS);
  assert_int_equal(limits.system_step_ns, 100 * MS);
  assert_int_equal(limits.silence_ns, S);
  assert_int_equal(limits.diagnostics_stale_ns, 5 * S);
}

static void test_stall_is_the_larger_of_a_second_and_five_periods(void **state)
{
  (void)state;
  tb__contract_limits_t limits = tb__contract_limits_default();
  assert_int_equal(tb__contract_stall_ns(&limits, 0), S);
  assert_int_equal(tb__contract_stall_ns(&limits, 10 * MS), S);
  assert_int_equal(tb__contract_stall_ns(&limits, S), 5 * S);
  assert_int_equal(tb__contract_stall_ns(&limits, INT64_MAX), INT64_MAX);
}

static void test_other_domain_is_the_larger_of_two_seconds_and_four_budgets(void **state)
{
  (void)state;
  tb__contract_limits_t limits = tb__contract_limits_default();
  assert_int_equal(tb__contract_other_domain_ns(&limits, 0), 2 * S);
  assert_int_equal(tb__contract_other_domain_ns(&limits, 100 * MS), 2 * S);
  assert_int_equal(tb__contract_other_domain_ns(&limits, S), 4 * S);
}

static void test_future_is_the_larger_of_a_tick_and_five_ms(void **state)
{
  (void)state;
  tb__contract_limits_t limits = tb__contract_limits_default();
  assert_int_equal(tb__contract_future_ns(&limits, 0), 5 * MS);
  assert_int_equal(tb__contract_future_ns(&limits, MS), 5 * MS);
  assert_int_equal(tb__contract_future_ns(&limits, 10 * MS), 10 * MS);
}

static void test_a_rate_that_is_not_coarse(void **state)
{
  (void)state;
  assert_true(tb__contract_clock_rate(0, 0) == 100);
  assert_true(tb__contract_clock_rate(1, 0) == 100);
  assert_true(tb__contract_clock_rate(10, 0) == 100);
  assert_true(tb__contract_clock_rate(10.1, 0) == 110);
  assert_true(tb__contract_clock_rate(20, 0) == 200);
  assert_true(tb__contract_clock_rate(20, 50) == 200);
  assert_true(tb__contract_clock_rate(20, 1000) == 1000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_stall_is_the_larger_of_a_second_and_five_periods),
      cmocka_unit_test(test_other_domain_is_the_larger_of_two_seconds_and_four_budgets),
      cmocka_unit_test(test_a_rate_that_is_not_coarse),
      cmocka_unit_test(test_future_is_the_larger_of_a_tick_and_five_ms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
