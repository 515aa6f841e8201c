/* Random values against other ways to the same answer: wider integers, and the C library. */
#include <stdlib.h>
#include <time.h>
#include <timebase/arithmetic.h>
#include <timebase/duration.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

#include "test.h"

#define ROUNDS 20000

__extension__ typedef __int128 wide_t;

static uint64_t random_state;

static uint64_t random_next(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* All sizes are equally likely, and the ends and zero are often near. */
static int64_t random_ns(void)
{
  int64_t value = (int64_t)(random_next() >> random_next() % 64);
  switch (random_next() % 4) {
  case 0:
    return value;
  case 1:
    return -(value >> 1);
  case 2:
    return INT64_MAX - (int64_t)(random_next() % 4);
  default:
    return INT64_MIN + (int64_t)(random_next() % 4) + (value & 1 ? value & INT32_MAX : 0);
  }
}

static void random_seed(void)
{
  const char *seed = getenv("TB_TEST_SEED");
  random_state = seed ? strtoull(seed, NULL, 10) : 20240607;
  if (random_state == 0) random_state = 1;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

static void check_exact(tb_status_t status, tb_duration_t out, tb_duration_t saturated,
                        wide_t exact)
{
  bool fits = exact >= INT64_MIN && exact <= INT64_MAX;
  assert_int_equal(status, fits ? TB_OK : exact < 0 ? TB_ERR_UNDERFLOW : TB_ERR_OVERFLOW);
  assert_int_equal(out.ns, fits ? (int64_t)exact : 77);
  assert_int_equal(saturated.ns, fits ? (int64_t)exact : exact < 0 ? INT64_MIN : INT64_MAX);
}

/* The same of both types of time, through the generic names. */
static void check_times(int64_t ns, tb_duration_t b)
{
  const tb_time_t time = {ns, TB_TIME_SYSTEM}, other = {b.ns, TB_TIME_SYSTEM};
  const tb_steady_time_t steady = {ns}, steady_other = {b.ns};
  tb_time_t out = {77, TB_TIME_ROS};
  tb_steady_time_t steady_out = {77};
  tb_duration_t difference = {77}, difference_sat = {0};
  tb_status_t status = tb_add(time, b, &out);
  check_exact(status, TB_NS(out.ns), TB_NS(tb_add_sat(time, b).ns), (wide_t)ns + b.ns);
  status = tb_add(steady, b, &steady_out);
  check_exact(status, TB_NS(steady_out.ns), TB_NS(tb_add_sat(steady, b).ns), (wide_t)ns + b.ns);
  out.ns = steady_out.ns = 77;
  status = tb_sub(time, b, &out);
  check_exact(status, TB_NS(out.ns), TB_NS(tb_sub_sat(time, b).ns), (wide_t)ns - b.ns);
  status = tb_sub(steady, b, &steady_out);
  check_exact(status, TB_NS(steady_out.ns), TB_NS(tb_sub_sat(steady, b).ns), (wide_t)ns - b.ns);
  assert_ok(tb_diff_sat(time, other, &difference_sat));
  status = tb_diff(time, other, &difference);
  check_exact(status, difference, difference_sat, (wide_t)ns - b.ns);
  difference.ns = 77;
  assert_ok(tb_diff_sat(steady, steady_other, &difference_sat));
  status = tb_diff(steady, steady_other, &difference);
  check_exact(status, difference, difference_sat, (wide_t)ns - b.ns);
}

static void test_T3_arithmetic_agrees_with_wider_integers(void **state)
{
  (void)state;
  random_seed();
  for (int i = 0; i < ROUNDS; i++) {
    tb_duration_t a = {random_ns()}, b = {random_ns()}, out = {77};
    tb_status_t status = tb_duration_add(a, b, &out);
    check_exact(status, out, tb_duration_add_sat(a, b), (wide_t)a.ns + b.ns);
    out.ns = 77;
    status = tb_duration_sub(a, b, &out);
    check_exact(status, out, tb_duration_sub_sat(a, b), (wide_t)a.ns - b.ns);
    out.ns = 77;
    status = tb_duration_mul(a, b.ns, &out);
    check_exact(status, out, tb_duration_mul_sat(a, b.ns), (wide_t)a.ns * b.ns);
    out.ns = 77;
    status = tb_duration_neg(a, &out);
    check_exact(status, out, tb_duration_neg_sat(a), -(wide_t)a.ns);
    check_times(a.ns, b);
  }
}

static void test_T3_scale_agrees_with_wider_integers(void **state)
{
  (void)state;
  random_seed();
  for (int i = 0; i < ROUNDS; i++) {
    tb_duration_t a = {random_ns()}, out = {77};
    int64_t numerator = (int64_t)(random_next() >> 11); /* what a double holds exactly */
    if (i % 2) numerator = -numerator;
    int shift = (int)(random_next() % 60);
    wide_t product = (wide_t)a.ns * numerator, unit = (wide_t)1 << shift;
    wide_t exact = (product * 2 + (product < 0 ? -unit : unit)) / (unit * 2);
    double factor = (double)numerator / (double)(INT64_C(1) << shift);
    tb_status_t status = tb_duration_scale(a, factor, &out);
    check_exact(status, out, tb_duration_scale_sat(a, factor), exact);
  }
}

static void test_T4_wire_and_timespec_give_the_same_back(void **state)
{
  (void)state;
  random_seed();
  for (int i = 0; i < ROUNDS; i++) {
    tb_time_t time = {random_ns(), TB_TIME_ROS}, back = {77, TB_TIME_SYSTEM};
    struct timespec spec;
    int32_t sec;
    uint32_t nanosec;
    assert_ok(tb_time_to_timespec(time, &spec));
    assert_true((wide_t)spec.tv_sec * TB_NS_PER_S + spec.tv_nsec == time.ns);
    assert_in_range(spec.tv_nsec, 0, 999999999);
    assert_ok(tb_time_from_timespec(spec, TB_TIME_ROS, &back));
    assert_int_equal(back.ns, time.ns);
    tb_status_t status = tb_time_to_wire(time, &sec, &nanosec);
    bool fits = spec.tv_sec >= INT32_MIN && spec.tv_sec <= INT32_MAX;
    assert_int_equal(status, fits ? TB_OK : TB_ERR_RANGE);
    if (!fits) continue;
    assert_int_equal(sec, spec.tv_sec);
    assert_int_equal(nanosec, spec.tv_nsec);
  }
}

static void test_T6_texts_give_the_same_back(void **state)
{
  (void)state;
  random_seed();
  for (int i = 0; i < ROUNDS; i++) {
    tb_duration_t duration = {random_ns()}, duration_back = {77};
    tb_time_t time = {random_ns(), TB_TIME_SYSTEM}, time_back = {77, TB_TIME_ROS};
    char
        text[TB_DURATION_TEXT_SIZE > TB_TIME_TEXT_SIZE ? TB_DURATION_TEXT_SIZE : TB_TIME_TEXT_SIZE];
    assert_ok(tb_duration_format(duration, text, sizeof text));
    assert_ok(tb_duration_parse(text, &duration_back));
    assert_int_equal(duration_back.ns, duration.ns);
    assert_ok(tb_time_format(time, text, sizeof text));
    assert_ok(tb_time_parse(text, TB_TIME_SYSTEM, &time_back));
    assert_int_equal(time_back.ns, time.ns);
  }
}

static void test_T6_iso_8601_agrees_with_the_calendar_of_the_c_library(void **state)
{
  (void)state;
  random_seed();
  for (int i = 0; i < ROUNDS; i++) {
    tb_time_t time = {random_ns() / TB_NS_PER_S * TB_NS_PER_S, TB_TIME_SYSTEM};
    time_t sec = (time_t)(time.ns / TB_NS_PER_S);
    struct tm parts;
    char text[TB_TIME_TEXT_SIZE], expected[TB_TIME_TEXT_SIZE];
    assert_non_null(gmtime_r(&sec, &parts));
    strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &parts);
    assert_ok(tb_time_format(time, text, sizeof text));
    assert_string_equal(text, expected);
  }
}

static void test_T6_seconds_give_the_same_back_up_to_48_days(void **state)
{
  (void)state;
  random_seed();
  const int64_t limit_ns = 48 * 86400 * TB_NS_PER_S;
  for (int i = 0; i < ROUNDS; i++) {
    tb_duration_t duration = {random_ns() % limit_ns}, back = {77};
    assert_ok(tb_duration_from_seconds(tb_duration_to_seconds(duration), &back));
    assert_int_equal(back.ns, duration.ns);
    duration.ns = random_ns();
    long double exact = (long double)duration.ns / 1e9L;
    long double error = (long double)tb_duration_to_seconds(duration) - exact;
    assert_true((error < 0 ? -error : error) <= (exact < 0 ? -exact : exact) * 0x1p-52L);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T3_arithmetic_agrees_with_wider_integers),
      cmocka_unit_test(test_T3_scale_agrees_with_wider_integers),
      cmocka_unit_test(test_T4_wire_and_timespec_give_the_same_back),
      cmocka_unit_test(test_T6_texts_give_the_same_back),
      cmocka_unit_test(test_T6_iso_8601_agrees_with_the_calendar_of_the_c_library),
      cmocka_unit_test(test_T6_seconds_give_the_same_back_up_to_48_days),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
