#include <timebase/text.h>

#include <stdbool.h>
#include <string.h>
#include <timebase/error.h>
#include <timebase/log.h>

#include "base/log.h"
#include "test.h"

static void assert_escaped(const char *text, const char *expected)
{
  char out[256], again[256];
  assert_int_equal(tb_text_escape(text, out, sizeof out), strlen(expected));
  assert_string_equal(out, expected);
  tb_text_escape(out, again, sizeof again);
  assert_string_equal(again, expected);
}

static void test_what_stays(void **state)
{
  (void)state;
  assert_escaped("", "");
  assert_escaped("/cmd_vel \\ %s \\x1b ~", "/cmd_vel \\ %s \\x1b ~");
  assert_escaped("\u00e9\u4f60\U0001f600\u00a0", "\u00e9\u4f60\U0001f600\u00a0");
}

static void test_what_is_escaped(void **state)
{
  (void)state;
  assert_escaped("a\x1b[2Jb", "a\\x1b[2Jb");
  assert_escaped("\n\r\t\b\a\x7f", "\\x0a\\x0d\\x09\\x08\\x07\\x7f");
  assert_escaped("\xc2\x9b"
                 "2J",
                 "\\u009b2J"); /* CSI as one character */
  assert_escaped("\x9b"
                 "2J",
                 "\\x9b2J"); /* and as one byte */
  assert_escaped("\u202e\u2028\u200b\ufeff", "\\u202e\\u2028\\u200b\\ufeff");
  assert_escaped("\U000e0041", "\\U000e0041");
}

static void test_what_is_no_utf8(void **state)
{
  (void)state;
  assert_escaped("\xff\xfe", "\\xff\\xfe");
  assert_escaped("\xc0\x80", "\\xc0\\x80");
  assert_escaped("\xe4\xbd", "\\xe4\\xbd");
  assert_escaped("\xe4\xbd!", "\\xe4\\xbd!");
  assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");
  assert_escaped("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

static void test_sizes(void **state)
{
  (void)state;
  char out[8] = "#######";
  assert_int_equal(tb_text_escape("a\x1b", NULL, 0), 5);
  assert_int_equal(tb_text_escape("a\x1b"
                                  "b",
                                  out, 5),
                   6);
  assert_string_equal(out, "a"); /* no part of an escape, and nothing after it */
  assert_int_equal(tb_text_escape("a\x1b", out, 6), 5);
  assert_string_equal(out, "a\\x1b");
  assert_int_equal(tb_text_escape("abc", out, 1), 3);
  assert_string_equal(out, "");
}

static void test_errors_are_one_harmless_line(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set(&error, TB_ERR_CORRUPT, "topic '%s'", "\x1b[2J\n\xff");
  assert_string_equal(error.text, "topic '\\x1b[2J\\x0a\\xff'");
  tb_error_set_errno(&error, TB_ERR_SYSTEM, 2, "%s", "a\nb");
  assert_string_equal(error.text, "a\\x0ab: No such file or directory");
  char many[TB_ERROR_TEXT_SIZE];
  memset(many, '\n', sizeof many - 1);
  many[sizeof many - 1] = '\0';
  tb_error_set(&error, TB_ERR_CORRUPT, "%s", many);
  assert_int_equal(strlen(error.text), (TB_ERROR_TEXT_SIZE - 1) / 4 * 4);
}

static void check_line(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  assert_string_equal(message, "topic '\\x1b[2J\\x0a'");
  *(bool *)user = true;
}

static void test_messages_are_one_harmless_line(void **state)
{
  (void)state;
  bool seen = false;
  tb_log_set_hook(check_line, &seen);
  tb__log(TB_LOG_WARN, "topic '%s'", "\x1b[2J\n");
  tb_log_set_hook(NULL, NULL);
  assert_true(seen);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_stays),
      cmocka_unit_test(test_what_is_escaped),
      cmocka_unit_test(test_what_is_no_utf8),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_errors_are_one_harmless_line),
      cmocka_unit_test(test_messages_are_one_harmless_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
