#include <timebase/time.h>

#include "test.h"

static void test_T6_iso_8601_goes_both_ways(void **state)
{
  (void)state;
  static const struct {
    int64_t ns;
    const char *text;
  } cases[] = {
      {0, "1970-01-01T00:00:00Z"},
      {-1, "1969-12-31T23:59:59.999999999Z"},
      {1700000000500000000, "2023-11-14T22:13:20.5Z"},
      {951782400000000000, "2000-02-29T00:00:00Z"},
      {951868800000000000, "2000-03-01T00:00:00Z"},
      {1709164800000000000, "2024-02-29T00:00:00Z"},
      {-2203891200000000000, "1900-03-01T00:00:00Z"},
      {-2203891201000000000, "1900-02-28T23:59:59Z"},
      {4107542400000000000, "2100-03-01T00:00:00Z"},
      {4107542399000000000, "2100-02-28T23:59:59Z"},
      {2147483648000000000, "2038-01-19T03:14:08Z"},
      {1735689599000000001, "2024-12-31T23:59:59.000000001Z"},
      {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
      {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TB_TIME_TEXT_SIZE];
    tb_time_t out = {77, TB_TIME_SYSTEM};
    assert_ok(tb_time_format((tb_time_t){cases[i].ns, TB_TIME_ROS}, text, sizeof text));
    assert_string_equal(text, cases[i].text);
    assert_ok(tb_time_parse(text, TB_TIME_ROS, &out));
    assert_int_equal(out.ns, cases[i].ns);
    assert_int_equal(out.kind, TB_TIME_ROS);
  }
}

static void test_T6_iso_8601_rounds_to_the_nearest_nanosecond(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } cases[] = {
      {"1970-01-01T00:00:00.0000000004999Z", 0},
      {"1970-01-01T00:00:00.0000000005Z", 1},
      {"1969-12-31T23:59:59.9999999985Z", -1},
      {"1969-12-31T23:59:59.9999999995Z", 0},
      {"1970-01-01T00:00:00.500000000000000Z", 500000000},
      {"2262-04-11T23:47:16.8547758074Z", INT64_MAX},
      {"1677-09-21T00:12:43.1452241915Z", INT64_MIN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_time_t out = {77, TB_TIME_SYSTEM};
    if (tb_time_parse(cases[i].text, TB_TIME_SYSTEM, &out) != TB_OK || out.ns != cases[i].ns)
      fail_msg("%s: %lld", cases[i].text, (long long)out.ns);
  }
}

static void test_T6_iso_8601_that_is_garbage_or_out_of_range_is_refused(void **state)
{
  (void)state;
  static const char *const garbage[] = {
      "",
      "Z",
      "2023",
      "2023-11-14",
      "2023-11-14T22:13:20",
      "2023-11-14T22:13:20z",
      "2023-11-14t22:13:20Z",
      "2023-11-14 22:13:20Z",
      "2023-11-14T22:13:20+00:00",
      "2023-11-14T22:13:20.Z",
      "2023-11-14T22:13:20,5Z",
      "2023-11-14T22:13:20.5ZZ",
      "2023-11-14T22:13:20Z ",
      " 2023-11-14T22:13:20Z",
      "2023-11-14T22:13Z",
      "2023-00-14T22:13:20Z",
      "2023-13-14T22:13:20Z",
      "2023-11-00T22:13:20Z",
      "2023-11-31T22:13:20Z",
      "2023-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2023-11-14T24:00:00Z",
      "2023-11-14T22:60:00Z",
      "2016-12-31T23:59:60Z",
      "-023-11-14T22:13:20Z",
      "12023-11-14T22:13:20Z",
      "2023-1-14T22:13:20Z",
      "2O23-11-14T22:13:20Z",
  };
  static const char *const far[] = {
      "2262-04-11T23:47:16.854775808Z", "2262-04-11T23:47:16.8547758075Z",
      "1677-09-21T00:12:43.145224191Z", "0000-01-01T00:00:00Z",
      "0000-02-29T00:00:00Z",           "9999-12-31T23:59:59.9999999999Z",
  };
  tb_time_t out = {77, TB_TIME_SYSTEM};
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
    if (tb_time_parse(garbage[i], TB_TIME_ROS, &out) != TB_ERR_INVALID) fail_msg("%s", garbage[i]);
  for (size_t i = 0; i < sizeof far / sizeof *far; i++)
    if (tb_time_parse(far[i], TB_TIME_ROS, &out) != TB_ERR_RANGE) fail_msg("%s", far[i]);
  assert_status(tb_time_parse("1970-01-01T00:00:00Z", (tb_time_kind_t)0, &out), TB_ERR_INVALID);
  assert_status(tb_time_parse(NULL, TB_TIME_ROS, &out), TB_ERR_INVALID);
  assert_int_equal(out.ns, 77);
  assert_int_equal(out.kind, TB_TIME_SYSTEM);
}

static void test_T6_iso_8601_needs_room(void **state)
{
  (void)state;
  char text[21] = "_";
  assert_status(tb_time_format((tb_time_t){0, TB_TIME_ROS}, text, 20), TB_ERR_LIMIT);
  assert_string_equal(text, "_");
  assert_ok(tb_time_format((tb_time_t){0, TB_TIME_ROS}, text, 21));
  assert_string_equal(text, "1970-01-01T00:00:00Z");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T6_iso_8601_goes_both_ways),
      cmocka_unit_test(test_T6_iso_8601_rounds_to_the_nearest_nanosecond),
      cmocka_unit_test(test_T6_iso_8601_that_is_garbage_or_out_of_range_is_refused),
      cmocka_unit_test(test_T6_iso_8601_needs_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
