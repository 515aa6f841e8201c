#include "params/node_pattern.h"

#include <string.h>

#include "test.h"

static void test_patterns_match_as_in_rclcpp(void **state)
{
  (void)state;
  static const struct {
    const char *pattern, *name;
    bool matches;
  } cases[] = {
      {"/node", "/node", true},
      {"node", "/node", true},
      {"node", "/ns/node", false},
      {"/node", "/ns/node", false},
      {"ns/node", "/ns/node", true},
      {"/ns/node", "/ns/node2", false},
      {"/ns/node2", "/ns/node", false},
      {"/ns", "/ns/node", false},
      {"/ns/node/x", "/ns/node", false},
      {"/**", "/node", true},
      {"/**", "/a/b/c", true},
      {"**", "/a/b", true},
      {"/*", "/node", true},
      {"/*", "/ns/node", false},
      {"/*/node", "/ns/node", true},
      {"/*/node", "/node", false},
      {"/*/node", "/a/b/node", false},
      {"/**/node", "/node", true},
      {"/**/node", "/a/b/node", true},
      {"/**/node", "/a/node/b", false},
      {"/ns/**", "/ns", true},
      {"/ns/**", "/ns/a/b", true},
      {"/ns/**", "/nsx/a", false},
      {"/a/**/b/*", "/a/b/c/b/d", true},
      {"/a/**/b/*", "/a/b/c", true},
      {"/a/**/b/*", "/a/c/b", false},
      {"/**/*", "/node", true},
      {"/**/**/x/**", "/a/x", true},
      {"/**/a/**/b", "/a/a/c/b", true},
      {"/**/a/**/b", "/b/c/a", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (tb__node_pattern_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
      fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    assert_ok(tb__node_pattern_check(cases[i].pattern, NULL));
  }
}

static void test_many_wildcards_are_matched_quickly(void **state)
{
  (void)state;
  char pattern[8192] = "", name[2048] = "";
  for (int i = 0; i < 500; i++) {
    strcat(pattern, "/**/a");
    strcat(name, "/a");
  }
  strcat(pattern, "/b");
  assert_false(tb__node_pattern_matches(pattern, name));
}

static void test_broken_patterns_name_their_rule(void **state)
{
  (void)state;
  char big[400] = "/";
  memset(big + 1, 'a', 300);
  static const char *const broken[] = {"",    "/",    "//a",  "/a//b", "/a/",      "/a/***",
                                       "/1a", "/a-b", "/a b", "/a*",   "/\xc3\xa4"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    if (tb__node_pattern_check(broken[i], &error) != TB_ERR_INVALID) fail_msg("%s", broken[i]);
    assert_non_null(strstr(error.text, broken[i]));
  }
  assert_status(tb__node_pattern_check(big, NULL), TB_ERR_INVALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_patterns_match_as_in_rclcpp),
      cmocka_unit_test(test_many_wildcards_are_matched_quickly),
      cmocka_unit_test(test_broken_patterns_name_their_rule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
