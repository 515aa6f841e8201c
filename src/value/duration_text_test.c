#include <string.h>
#include <timebase/duration.h>

#include "test.h"
#include "value/seconds_text.h"

static void test_T6_duration_text_is_read(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } cases[] = {
      {"12.5s", 12500000000},
      {"1h2m", 3720000000000},
      {"500ms", 500000000},
      {"-3us", -3000},
      {"1m30s", 90000000000},
      {"100ns", 100},
      {"2d", 172800000000000},
      {"1.5", 1500000000},
      {"-2", -2000000000},
      {"+1s", 1000000000},
      {".5s", 500000000},
      {"0", 0},
      {"-0s", 0},
      {"1d1h1m1s1ms1us1ns", 90061001001001},
      {"1m0.5s", 60500000000},
      {"1.5h", 5400000000000},
      {"0.25d", 21600000000000},
      {"000000000000000000000000001s", 1000000000},
      {"9223372036.854775807", INT64_MAX},
      {"-9223372036.854775808", INT64_MIN},
      {"9223372036854775807ns", INT64_MAX},
      {"-9223372036854775808ns", INT64_MIN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_duration_t out = {77};
    if (tb_duration_parse(cases[i].text, &out) != TB_OK || out.ns != cases[i].ns)
      fail_msg("%s: %lld", cases[i].text, (long long)out.ns);
  }
}

static void test_T6_duration_text_rounds_beyond_nanoseconds_away_from_zero(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } cases[] = {
      {"0.0000000004", 0},
      {"0.0000000005", 1},
      {"-0.0000000005", -1},
      {"0.00000000049999999999999999999999999999999999999", 0},
      {"0.00000000050000000000000000000000000000000000001", 1},
      {"0.99999999949999999999999999999999", 999999999},
      {"0.9999999995", 1000000000},
      {"0.0000000000000057870370370370371d", 1}, /* 0.5 ns and a bit */
      {"0.0000000000000057870370370370370d", 0}, /* 0.5 ns but for a bit */
      {"1.5ns", 2},
      {"1.4ns", 1},
      {"0.000000000000001d", 0},
      {"0.00000000000001d", 1},
      {"9223372036.8547758074999", INT64_MAX},
      {"-9223372036.8547758084999", INT64_MIN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_duration_t out = {77};
    if (tb_duration_parse(cases[i].text, &out) != TB_OK || out.ns != cases[i].ns)
      fail_msg("%s: %lld", cases[i].text, (long long)out.ns);
  }
}

static void test_T6_duration_text_that_is_garbage_or_too_large_is_refused(void **state)
{
  (void)state;
  static const char *const garbage[] = {
      "",
      "-",
      "+",
      "s",
      ".",
      ".s",
      "1.",
      "1.s",
      "1x",
      " 1",
      "1 ",
      "1 s",
      "--1",
      "+-1",
      "1e3",
      "nan",
      "inf",
      "0x10",
      "1,5",
      "1hm",
      "1m30",
      "30s1m",
      "1s1s",
      "1.5h30m",
      "1.5.5s",
      "1S",
      "1min",
      "1sec",
      "1h-2m",
      "1n",
      "99999999999999999999x",
      "1h99999999999999999999",
      "1\xc2\xb5s",
      "1ms1m",
      "1s.5",
      "99999999999999999999s1x",
  };
  static const char *const large[] = {
      "9223372036.854775808",
      "-9223372036.854775809",
      "9223372036.8547758075",
      "99999999999999999999",
      "106752d",
      "99999999999999999999999999ns",
      "106751d24h",
      "-106751d24h",
      "18446744073709551615d1s",
      "18446744073s9999999999ms",
  };
  tb_duration_t out = {77};
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
    if (tb_duration_parse(garbage[i], &out) != TB_ERR_INVALID) fail_msg("'%s'", garbage[i]);
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    if (tb_duration_parse(large[i], &out) != TB_ERR_RANGE) fail_msg("'%s'", large[i]);
  assert_status(tb_duration_parse(NULL, &out), TB_ERR_INVALID);
  assert_status(tb_duration_parse("1", NULL), TB_ERR_INVALID);
  assert_int_equal(out.ns, 77);
}

static void test_T6_duration_text_is_short_and_exact(void **state)
{
  (void)state;
  static const struct {
    int64_t ns;
    const char *text;
  } cases[] = {
      {0, "0s"},
      {1, "1ns"},
      {-3000, "-3us"},
      {1500, "1.5us"},
      {999999, "999.999us"},
      {1000000, "1ms"},
      {500000000, "500ms"},
      {999999999, "999.999999ms"},
      {1000000000, "1s"},
      {12500000000, "12.5s"},
      {90000000000, "1m30s"},
      {60500000000, "1m0.5s"},
      {3720000000000, "1h2m"},
      {86400000000001, "1d0.000000001s"},
      {INT64_MAX, "infinite"},
      {INT64_MAX - 1, "106751d23h47m16.854775806s"},
      {INT64_MIN, "-106751d23h47m16.854775808s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TB_DURATION_TEXT_SIZE];
    assert_ok(tb_duration_format((tb_duration_t){cases[i].ns}, text, sizeof text));
    assert_string_equal(text, cases[i].text);
  }
}

static void test_T6_duration_text_needs_room(void **state)
{
  (void)state;
  char text[6] = "_____";
  const tb_duration_t duration = {12500000000};
  assert_status(tb_duration_format(duration, text, 5), TB_ERR_LIMIT);
  assert_status(tb_duration_format(duration, text, 0), TB_ERR_LIMIT);
  assert_status(tb_duration_format(duration, NULL, 32), TB_ERR_INVALID);
  assert_string_equal(text, "_____");
  assert_ok(tb_duration_format(duration, text, 6));
  assert_string_equal(text, "12.5s");
}

static void test_seconds_in_messages_are_exact(void **state)
{
  (void)state;
  assert_string_equal(tb__seconds_text(0).text, "0.000000000");
  assert_string_equal(tb__seconds_text(-1).text, "-0.000000001");
  assert_string_equal(tb__seconds_text(1700000000000000001).text, "1700000000.000000001");
  assert_string_equal(tb__seconds_text(INT64_MIN).text, "-9223372036.854775808");
  assert_string_equal(tb__seconds_text(INT64_MAX).text, "9223372036.854775807");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_T6_duration_text_is_read),
      cmocka_unit_test(test_T6_duration_text_rounds_beyond_nanoseconds_away_from_zero),
      cmocka_unit_test(test_T6_duration_text_that_is_garbage_or_too_large_is_refused),
      cmocka_unit_test(test_T6_duration_text_is_short_and_exact),
      cmocka_unit_test(test_T6_duration_text_needs_room),
      cmocka_unit_test(test_seconds_in_messages_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
