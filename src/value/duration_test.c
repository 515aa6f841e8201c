#include <math.h>
#include <timebase/duration.h>

#include "test.h"

static const tb_duration_t min = {INT64_MIN}, max = {INT64_MAX}, one = {1}, minus_one = {-1};

/* Static: they are constants. */
static const tb_duration_t constants[] = {
    TB_NS(-1),         TB_US(3),         TB_MS(5),
    TB_SECONDS(2.5),   TB_SECONDS(-3),   TB_SECONDS(0.0000000016),
    TB_SECONDS(-1e-9), TB_SECONDS(1e12), TB_SECONDS(-1e12),
};

/* rclcpp test_duration.cpp: std_chrono_constructors; rclpy test_time.py:
 * test_duration_construction. */
static void test_constructors(void **state)
{
  (void)state;
  static const int64_t expected[] = {
      -1, 3000, 5000000, 2500000000, -3000000000, 2, -1, INT64_MAX, -INT64_MAX,
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(constants[i].ns, expected[i]);
  int8_t narrow = 100;
  assert_int_equal(TB_MS(narrow).ns, 100000000);
  assert_int_equal(TB_SECONDS(narrow).ns, 100000000000);
}

/* rclcpp test_duration.cpp: overflows, test_some_exceptions. */
static void test_T3_overflow_is_refused_and_leaves_the_output(void **state)
{
  (void)state;
  tb_duration_t out = {77};
  assert_status(tb_duration_add(max, one, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_add(min, minus_one, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_duration_sub(min, one, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_duration_neg(min, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_mul(min, -1, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_mul(max, 2, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_mul(max, -2, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_duration_mul(min, 2, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_duration_scale(min, 1.5, &out), TB_ERR_UNDERFLOW);
  assert_status(tb_duration_scale(max, 1.5, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_scale(min, -1.0, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_scale(one, (double)NAN, &out), TB_ERR_INVALID);
  assert_status(tb_duration_scale(one, (double)INFINITY, &out), TB_ERR_INVALID);
  assert_int_equal(out.ns, 77);
  assert_ok(tb_duration_add(max, min, &out));
  assert_int_equal(out.ns, -1);
  assert_ok(tb_duration_sub(minus_one, min, &out));
  assert_int_equal(out.ns, INT64_MAX);
}

static void test_T3_saturating_forms_stop_at_the_ends(void **state)
{
  (void)state;
  assert_int_equal(tb_duration_add_sat(max, one).ns, INT64_MAX);
  assert_int_equal(tb_duration_add_sat(min, minus_one).ns, INT64_MIN);
  assert_int_equal(tb_duration_add_sat(max, minus_one).ns, INT64_MAX - 1);
  assert_int_equal(tb_duration_sub_sat(min, one).ns, INT64_MIN);
  assert_int_equal(tb_duration_sub_sat(one, min).ns, INT64_MAX);
  assert_int_equal(tb_duration_neg_sat(min).ns, INT64_MAX);
  assert_int_equal(tb_duration_mul_sat(max, -2).ns, INT64_MIN);
  assert_int_equal(tb_duration_mul_sat(min, -1).ns, INT64_MAX);
  assert_int_equal(tb_duration_mul_sat(one, -3).ns, -3);
  assert_int_equal(tb_duration_scale_sat(min, 2.0).ns, INT64_MIN);
  assert_int_equal(tb_duration_scale_sat(minus_one, (double)-INFINITY).ns, INT64_MAX);
  assert_int_equal(tb_duration_scale_sat(one, (double)-INFINITY).ns, INT64_MIN);
  assert_int_equal(tb_duration_scale_sat((tb_duration_t){0}, (double)INFINITY).ns, 0);
  assert_int_equal(tb_duration_scale_sat(max, (double)NAN).ns, 0);
}

static void test_T3_scale_rounds_the_exact_product(void **state)
{
  (void)state;
  static const struct {
    int64_t ns;
    double factor;
    int64_t scaled;
  } cases[] = {
      {1816236927417508393, 2.8021332832791224, 5089337944637207854},
      {-20008038007838, 103110.23055927806, -2063033412026974689},
      {16279, 3578683082346.481, 58257381897518363},
      {1, 0.49999999999999994, 0}, /* the double below 0.5 */
      {-1, 0x1p63, INT64_MIN},
      {INT64_MAX, 0x1p-63, 1},
      {INT64_MAX, 0x1p-65, 0},
      {INT64_MAX, 0x1p-1074, 0}, /* the smallest double */
      {0, 1e308, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_duration_t out = {77};
    assert_ok(tb_duration_scale((tb_duration_t){cases[i].ns}, cases[i].factor, &out));
    assert_int_equal(out.ns, cases[i].scaled);
  }
  tb_duration_t out = {77};
  assert_status(tb_duration_scale((tb_duration_t){1}, 0x1p63, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_scale((tb_duration_t){1}, 1e308, &out), TB_ERR_OVERFLOW);
  assert_status(tb_duration_scale((tb_duration_t){-1}, 1e308, &out), TB_ERR_UNDERFLOW);
  assert_int_equal(out.ns, 77);
}

static void test_T6_seconds_round_the_exact_value(void **state)
{
  (void)state;
  static const struct {
    double seconds;
    int64_t ns;
  } cases[] = {
      {0x1p-10, 976563}, /* 976562.5 ns */
      {-0x1p-10, -976563},
      {0.3558670764999999902578054, 355867076},
      {-0.4984043384999999881657118, -498404338},
      {-0.0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_duration_t out = {77};
    assert_ok(tb_duration_from_seconds(cases[i].seconds, &out));
    assert_int_equal(out.ns, cases[i].ns);
  }
}

static void test_T3_scale_rounds_ties_away_from_zero(void **state)
{
  (void)state;
  tb_duration_t out;
  assert_ok(tb_duration_scale((tb_duration_t){5}, 0.5, &out));
  assert_int_equal(out.ns, 3);
  assert_ok(tb_duration_scale((tb_duration_t){-5}, 0.5, &out));
  assert_int_equal(out.ns, -3);
  assert_ok(tb_duration_scale((tb_duration_t){9}, 0.25, &out));
  assert_int_equal(out.ns, 2);
  assert_ok(tb_duration_scale(max, 1.0, &out));
  assert_int_equal(out.ns, INT64_MAX);
  assert_ok(tb_duration_scale(min, 1.0, &out));
  assert_int_equal(out.ns, INT64_MIN);
}

static void test_T6_seconds_round_to_the_nearest_nanosecond(void **state)
{
  (void)state;
  static const struct {
    double seconds;
    int64_t ns;
  } cases[] = {
      {0.0, 0},
      {-0.0, 0},
      {0.1, 100000000},
      {-0.1, -100000000},
      {0.3, 300000000},
      {1e-9, 1},
      {0.6e-9, 1},
      {-0.6e-9, -1},
      {0.4e-9, 0},
      {0x1p-10, 976563},
      {-0x1p-10, -976563},
      {1.999999999, 1999999999},
      {4.35, 4350000000},
      {0.9999999999, TB_NS_PER_S},
      {0x1.fffffffffffffp-2 * 1e-9, 0},
  }; /* 2^-10 s is 976562.5 ns */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_duration_t out = {77};
    assert_ok(tb_duration_from_seconds(cases[i].seconds, &out));
    assert_int_equal(out.ns, cases[i].ns);
  }
  assert_true(tb_duration_to_seconds((tb_duration_t){-1500000000}) == -1.5);
}

static void test_T6_seconds_beyond_the_range_are_refused(void **state)
{
  (void)state;
  tb_duration_t out = {77};
  assert_status(tb_duration_from_seconds((double)NAN, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_seconds((double)INFINITY, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds((double)-INFINITY, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds(1e300, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds(9223372036.86, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds(-9223372036.86, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds(-9223372037.0, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_seconds(1.0, NULL), TB_ERR_INVALID);
  assert_int_equal(out.ns, 77);
  assert_ok(tb_duration_from_seconds(-9223372036.5, &out));
  assert_int_equal(out.ns, INT64_C(-9223372036500000000));
}

static void test_T4_wire_form_floors_negative_durations(void **state)
{
  (void)state;
  static const struct {
    int64_t ns;
    int32_t sec;
    uint32_t nanosec;
  } cases[] = {
      {0, 0, 0},
      {-1, -1, 999999999},
      {-TB_NS_PER_S, -1, 0},
      {-TB_NS_PER_S - 1, -2, 999999999},
      {1500000000, 1, 500000000},
      {INT32_MAX * TB_NS_PER_S + 999999999, INT32_MAX, 999999999},
      {INT32_MIN * TB_NS_PER_S, INT32_MIN, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t sec = 77;
    uint32_t nanosec = 77;
    tb_duration_t back = {77};
    assert_ok(tb_duration_to_wire((tb_duration_t){cases[i].ns}, &sec, &nanosec));
    assert_int_equal(sec, cases[i].sec);
    assert_int_equal(nanosec, cases[i].nanosec);
    assert_ok(tb_duration_from_wire(sec, nanosec, &back));
    assert_int_equal(back.ns, cases[i].ns);
  }
}

static void test_T4_wire_form_refuses_what_does_not_fit(void **state)
{
  (void)state;
  int32_t sec = 77;
  uint32_t nanosec = 77;
  tb_duration_t out = {77};
  tb_duration_t above = {(INT32_MAX + INT64_C(1)) * TB_NS_PER_S};
  tb_duration_t below = {INT32_MIN * TB_NS_PER_S - 1};
  assert_status(tb_duration_to_wire(above, &sec, &nanosec), TB_ERR_RANGE);
  assert_status(tb_duration_to_wire(below, &sec, &nanosec), TB_ERR_RANGE);
  assert_status(tb_duration_to_wire(one, NULL, &nanosec), TB_ERR_INVALID);
  assert_status(tb_duration_to_wire(one, &sec, NULL), TB_ERR_INVALID);
  assert_status(tb_duration_from_wire(0, 1000000000, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_wire(0, UINT32_MAX, &out), TB_ERR_INVALID);
  assert_int_equal(sec, 77);
  assert_int_equal(nanosec, 77);
  assert_int_equal(out.ns, 77);
}

static void test_T6_timespec_is_exact_over_the_whole_range(void **state)
{
  (void)state;
  const tb_duration_t cases[] = {min, max, {0}, one, minus_one, {-1000000000}, {-1500000000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct timespec spec;
    tb_duration_t back = {77};
    assert_ok(tb_duration_to_timespec(cases[i], &spec));
    assert_in_range(spec.tv_nsec, 0, 999999999);
    assert_ok(tb_duration_from_timespec(spec, &back));
    assert_int_equal(back.ns, cases[i].ns);
  }
  tb_duration_t out = {77};
  assert_status(tb_duration_from_timespec((struct timespec){0, 1000000000}, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_timespec((struct timespec){0, -1}, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_timespec((struct timespec){9223372036, 854775808}, &out),
                TB_ERR_RANGE);
  assert_status(tb_duration_from_timespec((struct timespec){-9223372037, 145224191}, &out),
                TB_ERR_RANGE);
  assert_status(tb_duration_from_timespec((struct timespec){INT64_MIN, 0}, &out), TB_ERR_RANGE);
  assert_int_equal(out.ns, 77);
}

static void test_compare_gives_the_order(void **state)
{
  (void)state;
  int order = 77;
  assert_ok(tb_duration_compare(min, max, &order));
  assert_int_equal(order, -1);
  assert_ok(tb_duration_compare(max, min, &order));
  assert_int_equal(order, 1);
  assert_ok(tb_duration_compare(one, one, &order));
  assert_int_equal(order, 0);
  assert_status(tb_duration_compare(one, one, NULL), TB_ERR_INVALID);
}

static void test_T6_the_period_of_a_frequency(void **state)
{
  (void)state;
  static const struct {
    double hz;
    int64_t ns;
  } cases[] = {{10, 100000000}, {3, 333333333}, {1.5, 666666667},
               {1e9, 1},        {2e9, 1},       {1e-9, 1000000000000000000}};
  tb_duration_t out = {77};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_ok(tb_duration_from_hz(cases[i].hz, &out));
    assert_int_equal(out.ns, cases[i].ns);
  }
  out.ns = 77;
  assert_status(tb_duration_from_hz(0, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_hz(-1, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_hz((double)NAN, &out), TB_ERR_INVALID);
  assert_status(tb_duration_from_hz((double)INFINITY, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_hz(2.1e9, &out), TB_ERR_RANGE);
  assert_status(tb_duration_from_hz(1e-10, &out), TB_ERR_RANGE);
  assert_int_equal(out.ns, 77);
}

static void test_named_durations(void **state)
{
  (void)state;
  static const tb_duration_t hour = TB_DURATION_HOUR; /* also in static initialisers */
  assert_int_equal(hour.ns, 3600000000000);
  assert_int_equal(TB_DURATION_SECOND.ns, 1000000000);
  assert_int_equal(TB_DURATION_MINUTE.ns, 60000000000);
  assert_int_equal(TB_DURATION_DAY.ns, 86400000000000);
  assert_true(TB_DURATION_LEAST.ns == INT64_MIN && TB_DURATION_GREATEST.ns == INT64_MAX);
  tb_duration_t parsed;
  assert_ok(tb_duration_parse("infinite", &parsed));
  assert_true(parsed.ns == TB_DURATION_INFINITE.ns);
  assert_status(tb_duration_parse("-infinite", &parsed), TB_ERR_INVALID);
  assert_status(tb_duration_parse("infinite ", &parsed), TB_ERR_INVALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T3_overflow_is_refused_and_leaves_the_output),
      cmocka_unit_test(test_T3_saturating_forms_stop_at_the_ends),
      cmocka_unit_test(test_T3_scale_rounds_the_exact_product),
      cmocka_unit_test(test_T3_scale_rounds_ties_away_from_zero),
      cmocka_unit_test(test_T6_seconds_round_the_exact_value),
      cmocka_unit_test(test_T6_seconds_round_to_the_nearest_nanosecond),
      cmocka_unit_test(test_T6_seconds_beyond_the_range_are_refused),
      cmocka_unit_test(test_T4_wire_form_floors_negative_durations),
      cmocka_unit_test(test_T4_wire_form_refuses_what_does_not_fit),
      cmocka_unit_test(test_T6_timespec_is_exact_over_the_whole_range),
      cmocka_unit_test(test_compare_gives_the_order),
      cmocka_unit_test(test_constructors),
      cmocka_unit_test(test_T6_the_period_of_a_frequency),
      cmocka_unit_test(test_named_durations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
