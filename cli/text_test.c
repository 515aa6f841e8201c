#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static void assert_prints(const char *expected, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void assert_prints(const char *expected, const char *format, ...)
{
  char *text = NULL;
  size_t size;
  va_list args;
  FILE *out = open_memstream(&text, &size);
  va_start(args, format);
  text_to_v(out, format, args);
  va_end(args);
  fclose(out);
  assert_string_equal(text, expected);
  free(text);
}

static void test_text_is_escaped(void **state)
{
  (void)state;
  assert_prints("\x1b[K\\x1b[2J\\x0a\n", "\x1b[K%s\n", "\x1b[2J\n");
  assert_prints("a%sb \\xff", "%s %s", "a%sb", "\xff");
  assert_prints("unknown option -\\x07", "unknown option -%c", '\a');
  assert_prints("100 %", "100 %%");
}

static void test_columns(void **state)
{
  (void)state;
  assert_prints("\\x1b  |", "%-6s|", "\x1b");
  assert_prints("  \u00e9\u00e9|", "%4s|", "\u00e9\u00e9");
  assert_prints("\u00e9\u00e9  |", "%-*s|", 4, "\u00e9\u00e9");
  assert_prints("\u00e9\u00e9  |", "%*s|", -4, "\u00e9\u00e9");
  assert_prints("long|", "%2s|", "long");
  assert_prints("\u00e9\u00e9|", "%.*s|", 2, "\u00e9\u00e9\u00e9");
  assert_prints("a|", "%.3s|", "a\x1b"); /* escapes are not cut */
  assert_prints("   |", "%*s|", 3, "");
  assert_int_equal(text_columns("\u00e9\x1b"), 5);
}

/* The fifth of a kind is the last one that is shown. */
static void test_reports_that_differ_in_numbers_are_folded(void **state)
{
  (void)state;
  for (int i = 0; i < 9; i++) {
    char report[60];
    snprintf(report, sizeof report, "a_%d.db3: rows %d to %d: CRC %x", i, 1 << i, 2 << i,
             0x1be + i);
    const char *after = text_fold(report);
    assert_int_equal(after != NULL, i < 5);
    if (after) assert_int_equal(*after != '\0', i == 4);
  }
  assert_string_equal(text_fold("a_0.db3: row 1 cannot be read"), "");
  text_fold_reset();
  assert_string_equal(text_fold("a_9.db3: rows 1 to 2: CRC 1be"), "");
}

static void test_numbers(void **state)
{
  (void)state;
  assert_prints("-1 4294967295 ff 0X1F 017", "%d %u %x %#X %#o", -1, 4294967295U, 255, 31, 15);
  assert_prints("-9223372036854775808 18446744073709551615", "%" PRId64 " %" PRIu64, INT64_MIN,
                UINT64_MAX);
  assert_prints("-1 18446744073709551615", "%lld %llu", -1LL, ~0ULL);
  assert_prints("18446744073709551615 -5 7", "%zu %td %jd", SIZE_MAX, (ptrdiff_t)-5, (intmax_t)7);
  assert_prints("-2 18446744073709551615", "%ld %lu", -2L, ~0UL);
  assert_prints("   42|42   |00042|+42", "%5d|%-5d|%0*d|%+d", 42, 42, 5, 42, 42);
  assert_prints("1.50 +0.250 1e+10  2.5", "%.2f %+.3f %.4g %4.1f", 1.5, 0.25, 1e10, 2.5);
  assert_prints("1.000000 2", "%f %.*f", 1.0, 0, 2.0);
}

static void test_into_memory(void **state)
{
  (void)state;
  char *text = text_harmless("\x1b\n\u00e9");
  assert_string_equal(text, "\\x1b\\x0a\u00e9");
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_escaped),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_reports_that_differ_in_numbers_are_folded),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_into_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
