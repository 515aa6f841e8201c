/* Text of others in markup, and numbers without the locale. */
#include "contract/markup.h"

#include <string.h>

#include "test.h"

static void assert_text(const char *text, size_t most, const char *expected)
{
  tb__markup_t markup = {0};
  tb__markup_text(&markup, text, most);
  assert_string_equal(markup.text ? markup.text : "", expected);
  assert_false(markup.is_lost);
  tb__markup_fini(&markup);
}

static void test_text_is_escaped(void **state)
{
  (void)state;
  assert_text("", 9, "");
  assert_text("/points", 9, "/points");
  assert_text("<a href=\"x\">&'</a>", 99, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
  assert_text("a\x1b[1m\n\x7f", 99, "a\\x1b[1m\\x0a\\x7f");
  assert_text("\xff\xc3\xa9\xe2\x80\xae", 99, "\\xff\xc3\xa9\\u202e");
  assert_text("\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80", 99, "\\ufffe\\uffff\\xed\\xa0\\x80");
}

static void test_long_text_is_cut_between_characters(void **state)
{
  (void)state;
  assert_text("<<<<", 2, "&lt;&lt;...");
  assert_text("\xc3\xa9\xc3\xa9", 1, "\xc3\xa9...");
  assert_text("ab", 2, "ab");
}

static void test_names_may_break_after_a_slash(void **state)
{
  (void)state;
  tb__markup_t markup = {0};
  tb__markup_name(&markup, "/a/<b", 9);
  assert_string_equal(markup.text, "/a/<wbr/>&lt;b");
  tb__markup_fini(&markup);
}

static void assert_number(double value, int decimals, const char *expected)
{
  char text[TB__NUMBER_TEXT_SIZE];
  tb__number_text(value, decimals, text);
  assert_string_equal(text, expected);
}

static void test_numbers(void **state)
{
  (void)state;
  assert_number(0, 2, "0.00");
  assert_number(-0.25, 2, "-0.25");
  assert_number(-1.005, 1, "-1.0");
  assert_number(99.999, 2, "100.00");
  assert_number(3, 0, "3");
  assert_number(1.0 / 0.0, 2, "-");
  assert_number(1e30, 2, "-");
}

static void assert_instant(int64_t ns, const char *expected)
{
  char text[TB__INSTANT_TEXT_SIZE];
  tb__instant_text(ns, text);
  assert_string_equal(text, expected);
}

static void test_instants_are_in_utc(void **state)
{
  (void)state;
  assert_instant(INT64_C(1714564800250000000), "2024-05-01 12:00:00.250 UTC");
  assert_instant(INT64_MAX, "2262-04-11 23:47:16.854 UTC");
  assert_instant(12345000000, "12.345 s");
  assert_instant(0, "0.000 s");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_escaped),
      cmocka_unit_test(test_long_text_is_cut_between_characters),
      cmocka_unit_test(test_names_may_break_after_a_slash),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_instants_are_in_utc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
