/* The line of progress as text. What shows it is in tests/bag/progress_test.py. */
#include "progress.h"

#include "test.h"

#define S TB_NS_PER_S

static void assert_text(progress_facts_t facts, const char *expected)
{
  char text[160];
  progress_text(&facts, text, sizeof text);
  assert_string_equal(text, expected);
}

static void test_what_is_known_is_shown(void **state)
{
  (void)state;
  assert_text((progress_facts_t){-1, -1, 0, 0}, "reading");
  assert_text((progress_facts_t){-1, 312.4e6, 0, 9 * S}, "reading  312 MB/s");
  assert_text((progress_facts_t){0.25, 1.26e6, 1, 10 * S}, "25 %  1.3 MB/s  1 message  0:30 left");
  assert_text((progress_facts_t){0.999, -1, 5, 100 * S}, "99 %  5 messages  0:00 left");
  assert_text((progress_facts_t){0.01, -1, 0, 60 * S}, "1 %  1:39:00 left");
}

static void test_no_time_is_left_as_long_as_it_is_a_guess(void **state)
{
  (void)state;
  assert_text((progress_facts_t){0, -1, 7, 60 * S}, "0 %  7 messages");
  assert_text((progress_facts_t){0.5, -1, 7, S / 2}, "50 %  7 messages");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_known_is_shown),
      cmocka_unit_test(test_no_time_is_left_as_long_as_it_is_a_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
