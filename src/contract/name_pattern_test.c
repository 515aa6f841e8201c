#include "contract/name_pattern.h"

#include <string.h>

#include "seed.h"
#include "test.h"

static void test_names(void **state)
{
  (void)state;
  static const struct {
    const char *pattern, *name;
    bool matches;
  } cases[] = {
      {"/a", "/a", true},
      {"/a", "/ab", false},
      {"/ab", "/a", false},
      {"/*", "/a", true},
      {"/*", "/a/b", false},
      {"/**", "/a/b", true},
      {"/a*", "/a", true},
      {"/cam_*/image", "/cam_1/image", true},
      {"/cam_*/image", "/cam_1/raw/image", false},
      {"/**/image", "/a/b/image", true},
      {"/**/image", "/image", false},
      {"/*b*", "/abc", true},
      {"/**b", "/ab/cb", true},
      {"/**x*y", "/x/xay", true},
      {"/**x*y", "/xa/b", false},
      {"/a**", "/a", true},
      {"", "", true},
      {"*", "", true},
      {"/***", "/a/b", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (tb__name_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
      fail_msg("%s %s", cases[i].pattern, cases[i].name);
}

/* By trying all. */
static bool matches(const char *pattern, const char *name)
{
  if (!*pattern) return !*name;
  if (strncmp(pattern, "**", 2) == 0)
    return matches(pattern + 2, name) || (*name && matches(pattern, name + 1));
  if (*pattern == '*')
    return matches(pattern + 1, name) || (*name && *name != '/' && matches(pattern, name + 1));
  return *pattern == *name && matches(pattern + 1, name + 1);
}

static void test_random_names_against_trying_all(void **state)
{
  (void)state;
  static const char letters[] = "aab/*";
  uint64_t seed = test_seed();
  for (int round = 0; round < 200000; round++) {
    char pattern[9] = "", name[9] = "";
    for (size_t i = 0; i < 8; i++) {
      pattern[i] = letters[test_random(&seed) % 5];
      name[i] = letters[test_random(&seed) % 4];
    }
    pattern[test_random(&seed) % 9] = '\0';
    name[test_random(&seed) % 9] = '\0';
    if (strstr(pattern, "***")) continue; /* "**" first or last: the same names */
    if (tb__name_matches(pattern, name) != matches(pattern, name)) fail_msg("%s %s", pattern, name);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_random_names_against_trying_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
