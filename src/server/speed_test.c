#include "server/speed.h"

#include <math.h>
#include <stdlib.h>
#include <timebase/duration.h>

#include "test.h"

#define HOUR_NS (3600 * TB_NS_PER_S)

static tb__speed_t speed_of(double value)
{
  tb__speed_t speed;
  assert_ok(tb__speed_from_double(value, &speed));
  return speed;
}

static void test_bounds(void **state)
{
  (void)state;
  static const double bad[] = {0, -1, 0.000999, 1000.001, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tb__speed_t speed = {7, 7};
    assert_status(tb__speed_from_double(bad[i], &speed), TB_ERR_RANGE);
    assert_int_equal(speed.mantissa, 7);
  }
  speed_of(TB__SPEED_MIN);
  speed_of(TB__SPEED_MAX);
}

static void test_no_drift_over_days(void **state)
{
  (void)state;
  static const struct {
    double rate;
    int64_t steady_ns, time_ns;
  } cases[] = {{1, 240 * HOUR_NS, 240 * HOUR_NS},
               {0.5, 240 * HOUR_NS + 1, 120 * HOUR_NS},
               {10, 240 * HOUR_NS, 2400 * HOUR_NS},
               {0.1, 240 * HOUR_NS, 24 * HOUR_NS},
               {1000, 1, 1000},
               {0.001, 1000, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb__speed_t speed = speed_of(cases[i].rate);
    assert_int_equal(tb__speed_advance(speed, cases[i].steady_ns), cases[i].time_ns);
    int64_t steady_ns = tb__speed_steady_for(speed, cases[i].time_ns);
    assert_true(steady_ns <= cases[i].steady_ns);
    assert_int_equal(tb__speed_advance(speed, steady_ns), cases[i].time_ns);
  }
}

static void test_saturates(void **state)
{
  (void)state;
  assert_int_equal(tb__speed_advance(speed_of(1000), INT64_MAX), INT64_MAX);
  assert_int_equal(tb__speed_steady_for(speed_of(0.001), INT64_MAX), INT64_MAX);
  assert_int_equal(tb__speed_advance(speed_of(1), INT64_MAX), INT64_MAX);
  assert_int_equal(tb__speed_steady_for(speed_of(1), INT64_MAX), INT64_MAX);
}

static unsigned seed_of_run(void)
{
  const char *text = getenv("TB_TEST_SEED");
  unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 20240601;
  print_message("TB_TEST_SEED=%u\n", seed);
  return seed;
}

static int64_t random_below(int64_t limit)
{
  uint64_t value = (uint64_t)lrand48() << 31 ^ (uint64_t)lrand48();
  return (int64_t)(value % (uint64_t)limit);
}

/* The instant found is the first one: time is there, and a nanosecond before it is not. */
static void test_steady_for_is_the_first_instant(void **state)
{
  (void)state;
  static const double decades[] = {1e-3, 1e-2, 1e-1, 1, 10, 100};
  srand48(seed_of_run());
  for (int i = 0; i < 200000; i++) {
    tb__speed_t speed = speed_of((1 + 9 * drand48()) * decades[random_below(6)]);
    int64_t time_ns = random_below(i % 2 ? 1000 * HOUR_NS : 1000);
    int64_t steady_ns = tb__speed_steady_for(speed, time_ns);
    assert_true(tb__speed_advance(speed, steady_ns) >= time_ns);
    assert_true(steady_ns == 0 || tb__speed_advance(speed, steady_ns - 1) < time_ns);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_no_drift_over_days),
      cmocka_unit_test(test_saturates),
      cmocka_unit_test(test_steady_for_is_the_first_instant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
