#include "contract/points.h"

#include <string.h>

#include "test.h"

static void check_round_trip(tb__point_t point)
{
  char text[TB__POINT_TEXT_SIZE], again[TB__POINT_TEXT_SIZE];
  tb__point_t parsed;
  tb__point_format(&point, text);
  assert_true(strlen(text) < TB__POINT_TEXT_SIZE - 1);
  if (!tb__point_parse(text, strlen(text), &parsed)) fail_msg("%s", text);
  tb__point_format(&parsed, again);
  assert_string_equal(again, text);
}

static void test_a_point_is_read_as_it_was_written(void **state)
{
  (void)state;
  check_round_trip((tb__point_t){TB__POINT_START, false, 0, 1, 2, 3, -1, false, 0});
  check_round_trip((tb__point_t){TB__POINT_JUMP, true, 0, 1, 2, 0, 0, true, 7});
  check_round_trip((tb__point_t){TB__POINT_MINUTE, true, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN,
                                 INT64_MAX, true, INT64_MAX});
}

static void test_the_documented_text(void **state)
{
  (void)state;
  static const char text[] = "reason=start ros_ns=12500000000 system_ns=1700000000000000000 "
                             "steady_ns=81000000 spread_ns=900 max_error_ns=16000000 "
                             "synchronized=yes jumps=0 later_key=x";
  tb__point_t point;
  assert_true(tb__point_parse(text, strlen(text), &point));
  assert_int_equal(point.reason, TB__POINT_START);
  assert_true(point.has_ros && point.is_synchronized);
  assert_int_equal(point.ros_ns, 12500000000);
  assert_int_equal(point.system_ns, 1700000000000000000);
  assert_int_equal(point.steady_ns, 81000000);
  assert_int_equal(point.spread_ns, 900);
  assert_int_equal(point.max_error_ns, 16000000);
}

static void test_other_texts_are_refused(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "",
      "reason=start",
      "reason=other system_ns=1 steady_ns=1",
      "reason=start system_ns= steady_ns=1",
      "reason=start system_ns=1x steady_ns=1",
      "reason=start system_ns=99999999999999999999 steady_ns=1",
      "reason=start system_ns=1 steady_ns=1 synchronized=perhaps",
      "reason=start system_ns=1 steady_ns=1 max_error_ns=-5",
      "reason=start system_ns=1 steady_ns=1 jumps=-1",
      "reason=start system_ns=1 steady_ns=1 word",
  };
  tb__point_t point;
  char large[1000];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (tb__point_parse(texts[i], strlen(texts[i]), &point)) fail_msg("%s", texts[i]);
  memset(large, ' ', sizeof large);
  assert_false(tb__point_parse(large, sizeof large, &point));
  assert_false(tb__point_parse("reason=start\0system_ns=1 steady_ns=1", 36, &point));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_point_is_read_as_it_was_written),
      cmocka_unit_test(test_the_documented_text),
      cmocka_unit_test(test_other_texts_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
