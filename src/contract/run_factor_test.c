/* The real-time factor of a run, from ticks that come late now and then. */
#include "contract/run_factor.h"

#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

/* 100 ticks a second, at a factor. */
static void feed(tb__run_factor_t *run, int64_t *tick_ns, int64_t *steady_ns, int64_t length_ns,
                 double factor)
{
  for (int64_t end_ns = *steady_ns + length_ns; *steady_ns < end_ns;) {
    tb__run_factor_feed(run, *tick_ns, *steady_ns);
    *steady_ns += 10 * MS;
    *tick_ns += (int64_t)(10e6 * factor);
  }
}

static void test_a_steady_run(void **state)
{
  (void)state;
  tb__run_factor_t run = {0};
  tb__factor_range_t range;
  int64_t tick_ns = 100 * S, steady_ns = 5 * S;
  feed(&run, &tick_ns, &steady_ns, 10 * S, 0.99);
  assert_true(tb__run_factor_range(&run, &range));
  assert_true(range.mean > 0.9899 && range.mean < 0.9901);
  assert_true(range.least > 0.9899 && range.most < 0.9901);
  assert_true(range.measured_ns > 9 * S && range.measured_ns <= 10 * S);
  assert_int_equal(run.ticks, 1000);
}

/* For a second every tenth tick comes 40 ms late: the clock itself does not. */
static void test_late_ticks_do_not_show(void **state)
{
  (void)state;
  tb__run_factor_t run = {0};
  tb__factor_range_t range;
  for (int i = 0; i < 600; i++) {
    bool is_late = i >= 205 && i < 305 && i % 10 == 5;
    tb__run_factor_feed(&run, S + i * 10 * MS, S + i * 10 * MS + (is_late ? 40 * MS : 0));
  }
  assert_true(tb__run_factor_range(&run, &range));
  assert_true(range.least > 0.999 && range.most < 1.001);
}

/* A stop of 100 ms in ten seconds is 1 % of all, and 5 % of two seconds. */
static void test_a_short_stop_shows(void **state)
{
  (void)state;
  tb__run_factor_t run = {0};
  tb__factor_range_t range;
  int64_t tick_ns = 100 * S, steady_ns = 5 * S;
  feed(&run, &tick_ns, &steady_ns, 5 * S, 1);
  steady_ns += 100 * MS;
  feed(&run, &tick_ns, &steady_ns, 5 * S, 1);
  assert_true(tb__run_factor_range(&run, &range));
  assert_true(range.mean > 0.98);
  assert_true(range.least < 0.97 && range.most < 1.001);
}

static void test_a_long_run_has_room(void **state)
{
  (void)state;
  tb__run_factor_t run = {0};
  tb__factor_range_t range;
  int64_t tick_ns = 100 * S, steady_ns = 5 * S;
  feed(&run, &tick_ns, &steady_ns, 3000 * S, 1);
  assert_true(tb__run_factor_range(&run, &range));
  assert_true(range.measured_ns > 2990 * S);
  assert_true(range.least > 0.999 && range.most < 1.001);
}

static void test_too_little_is_not_measured(void **state)
{
  (void)state;
  tb__run_factor_t run = {0};
  tb__factor_range_t range;
  int64_t tick_ns = 100 * S, steady_ns = 5 * S;
  assert_false(tb__run_factor_range(&run, &range));
  feed(&run, &tick_ns, &steady_ns, 900 * MS, 1);
  assert_false(tb__run_factor_range(&run, &range));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_steady_run),
      cmocka_unit_test(test_late_ticks_do_not_show),
      cmocka_unit_test(test_a_short_stop_shows),
      cmocka_unit_test(test_a_long_run_has_room),
      cmocka_unit_test(test_too_little_is_not_measured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
