#include "ros1bag/remapping.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void assert_remapped(const tb__ros1_remappings_t *remappings, const char *topic,
                            const char *to)
{
  char *name = tb__ros1_remap(remappings, topic);
  assert_string_equal(name, to);
  free(name);
}

static void test_names_are_absolute(void **state)
{
  (void)state;
  static const char *const texts[] = {"/a:=/b", "c:=d", "/b:=/z"};
  tb__ros1_remappings_t remappings;
  assert_int_equal(tb__ros1_remappings_init(&remappings, texts, 3, NULL), TB_OK);
  assert_remapped(&remappings, "/a", "/b"); /* once: not on to /z */
  assert_remapped(&remappings, "a", "/b");
  assert_remapped(&remappings, "/c", "/d");
  assert_remapped(&remappings, "/cc", "/cc");
  assert_remapped(&remappings, "x", "/x");
  tb__ros1_remappings_fini(&remappings);
}

static void test_what_is_no_remapping(void **state)
{
  (void)state;
  static const char *const texts[] = {"/a", "/a:=", ":=/b", "", NULL};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb__ros1_remappings_t remappings;
    tb_error_t error = TB_ERROR_INIT;
    assert_int_equal(tb__ros1_remappings_init(&remappings, &texts[i], 1, &error), TB_ERR_INVALID);
    assert_non_null(strstr(error.text, "/from:=/to"));
    tb__ros1_remappings_fini(&remappings);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_are_absolute),
      cmocka_unit_test(test_what_is_no_remapping),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
