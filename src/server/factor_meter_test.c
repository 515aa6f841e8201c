#include "server/factor_meter.h"

#include "test.h"

#define S INT64_C(1000000000)

static void test_X9_the_factor_is_that_of_the_last_seconds(void **state)
{
  (void)state;
  tb__factor_meter_t meter;
  tb__meter_point_t point = {5 * S, 100 * S};
  tb__factor_meter_start(&meter, point);
  assert_true(tb__factor_meter_value(&meter) == 0);
  for (int i = 0; i < 100; i++) {
    point.steady_ns += S / 10;
    point.time_ns += 3 * S / 10;
    tb__factor_meter_add(&meter, point);
    assert_true(tb__factor_meter_value(&meter) == 3);
  }
  for (int i = 0; i < 30; i++) { /* what is older than two seconds does not count */
    point.steady_ns += S / 10;
    tb__factor_meter_add(&meter, point);
    double value = tb__factor_meter_value(&meter);
    assert_true(i < 20 ? value < 3 : value == 0);
  }
  tb__factor_meter_start(&meter, point);
  assert_true(tb__factor_meter_value(&meter) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X9_the_factor_is_that_of_the_last_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
