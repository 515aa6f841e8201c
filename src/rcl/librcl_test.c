#include "rcl/librcl.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void expect_version(const char *text, const char *expected)
{
  char version[8] = "";
  assert_int_equal(tb__librcl_parse_version(text, version, sizeof version), expected != NULL);
  if (expected) assert_string_equal(version, expected);
}

static void test_version_of_a_package(void **state)
{
  (void)state;
  expect_version("<?xml version=\"1.0\"?>\n<name>rcl</name><version>9.2.11</version>", "9.2.11");
  expect_version("<version compatibility=\"9.0.0\">10.1.4</version>", "10.1.4");
  expect_version("<version>123.456.789</version>", NULL);
  expect_version("<version>x</version>", NULL);
  expect_version("<version", NULL);
  expect_version("", NULL);
}

/* ---- a librcl of no release ---- */

static rcl_ret_t now(void *data, int64_t *now_ns)
{
  (void)data;
  *now_ns = 1;
  return RCL_RET_OK;
}

static rcl_ret_t clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  *clock = (rcl_clock_t){.type = RCL_SYSTEM_TIME, .get_now = now, .allocator = *allocator};
  return RCL_RET_OK;
}

/* Of a release with a field more, after all others. */
static rcl_ret_t longer_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  memset((char *)clock + sizeof *clock, 0, sizeof(void *));
  return clock_init(clock, allocator);
}

/* Of one with a field more before the allocator. */
static rcl_ret_t shifted_clock_init(rcl_clock_t *clock, rcl_allocator_t *allocator)
{
  rcl_ret_t code = clock_init(clock, allocator);
  memset(&clock->allocator, 0, sizeof(void *));
  return code;
}

static rcl_ret_t clock_fini(rcl_clock_t *clock)
{
  (void)clock;
  return RCL_RET_OK;
}

/* All functions there; what is not called is this one. */
static tb__librcl_t with_all_functions(void)
{
  tb__librcl_t rcl;
  void (*function)(void) = abort;
  for (size_t at = 0; at < sizeof rcl; at += sizeof function)
    memcpy((char *)&rcl + at, &function, sizeof function);
  rcl.system_clock_init = clock_init;
  rcl.system_clock_fini = clock_fini;
  return rcl;
}

static tb__librcl_t rolling(void)
{
  tb__librcl_t rcl = with_all_functions();
  rcl.timer_init = NULL;
  return rcl;
}

static void expect_unknown(const tb__librcl_t *rcl, const char *reason)
{
  tb__librcl_release_t release;
  tb__librcl_recognise(rcl, &release);
  assert_null(release.name);
  assert_non_null(strstr(release.reason, reason));
}

static void test_release_with_other_functions_is_unknown(void **state)
{
  (void)state;
  tb__librcl_t rcl = with_all_functions();
  expect_unknown(&rcl, "of no release that is known");
  rcl = rolling();
  rcl.timer_get_period = NULL;
  expect_unknown(&rcl, "of no release that is known");
  rcl = rolling();
  tb__librcl_release_t release;
  tb__librcl_recognise(&rcl, &release);
  assert_non_null(release.name);
  rcl.timer_get_next_call_time = NULL; /* an early version */
  tb__librcl_recognise(&rcl, &release);
  assert_non_null(release.name);
}

static void test_release_with_other_clocks_is_unknown(void **state)
{
  (void)state;
  tb__librcl_t rcl = rolling();
  rcl.system_clock_init = longer_clock_init;
  expect_unknown(&rcl, "another layout");
  rcl.system_clock_init = shifted_clock_init;
  expect_unknown(&rcl, "another layout");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version_of_a_package),
      cmocka_unit_test(test_release_with_other_functions_is_unknown),
      cmocka_unit_test(test_release_with_other_clocks_is_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
