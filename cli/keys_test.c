#include "keys.h"

#include <string.h>

#include "test.h"

static void assert_keys(const char *bytes, const int *expected, size_t count)
{
  keys_t keys = {0};
  size_t found = 0;
  for (const char *byte = bytes; *byte; byte++) {
    int key = keys_take(&keys, *byte);
    if (key == KEY_NONE) continue;
    assert_true(found < count);
    assert_int_equal(key, expected[found]);
    found++;
  }
  assert_int_equal(found, count);
}

#define ASSERT_KEYS(bytes, ...)                                                                    \
  do {                                                                                             \
    const int expected[] = {__VA_ARGS__};                                                          \
    assert_keys(bytes, expected, sizeof expected / sizeof *expected);                              \
  } while (0)

static void test_plain_keys(void **state)
{
  (void)state;
  ASSERT_KEYS(" .q[", ' ', '.', 'q', '[');
  ASSERT_KEYS("\b\177", KEY_BACKSPACE, KEY_BACKSPACE);
}

static void test_arrows_with_and_without_others(void **state)
{
  (void)state;
  ASSERT_KEYS("\033[A\033[B\033[C\033[D", KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT);
  ASSERT_KEYS("\033OC\033OD", KEY_RIGHT, KEY_LEFT);
  ASSERT_KEYS("\033[1;2C\033[1;3D", KEY_RIGHT | KEY_SHIFT, KEY_LEFT | KEY_ALT);
  ASSERT_KEYS("\033[1;4C", KEY_RIGHT | KEY_SHIFT | KEY_ALT);
}

static void test_pages_and_escape(void **state)
{
  (void)state;
  ASSERT_KEYS("\033[5~\033[6~\033[5;2~", KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_PAGE_UP);
  keys_t keys = {0};
  assert_int_equal(keys_pause(&keys), KEY_NONE);
  assert_int_equal(keys_take(&keys, '\033'), KEY_NONE);
  assert_int_equal(keys_pause(&keys), KEY_ESCAPE);
  assert_int_equal(keys_take(&keys, '['), '[');
  assert_int_equal(keys_take(&keys, '\033'), KEY_NONE);
  assert_int_equal(keys_take(&keys, '['), KEY_NONE);
  assert_int_equal(keys_pause(&keys), KEY_NONE);
}

static void test_the_mouse(void **state)
{
  (void)state;
  keys_t keys = {0};
  int key = KEY_NONE;
  for (const char *byte = "\033[<32;117;3M"; *byte; byte++)
    key = keys_take(&keys, *byte);
  assert_int_equal(key, KEY_MOUSE);
  assert_int_equal(keys.first, 32);
  assert_int_equal(keys.column, 117);
  assert_int_equal(keys.row, 3);
  ASSERT_KEYS("\033[<0;1;1m\033[<2;5;5M\033[<64;5;5Mq", 'q'); /* released, right button, wheel */
  ASSERT_KEYS("\033[<0;1;1M\033[A", KEY_MOUSE, KEY_UP);
}

static void test_sequences_without_meaning_leave_no_keys(void **state)
{
  (void)state;
  ASSERT_KEYS("\033[3~q", 'q');
  ASSERT_KEYS("\033[15;5~q", 'q');
  ASSERT_KEYS("\033[200;99999999999999999999999C ", KEY_RIGHT, ' ');
  ASSERT_KEYS("\033x\033\033[C", KEY_RIGHT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_keys),
      cmocka_unit_test(test_arrows_with_and_without_others),
      cmocka_unit_test(test_pages_and_escape),
      cmocka_unit_test(test_the_mouse),
      cmocka_unit_test(test_sequences_without_meaning_leave_no_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
