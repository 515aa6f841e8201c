#include "params/parameter_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* "nodes: name = value" of all, one to a line. */
static char *described(const tb__parameter_sections_t *sections)
{
  char *text = NULL, *value;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  for (size_t i = 0; i < sections->count; i++) {
    const tb__parameter_section_t *section = &sections->items[i];
    for (size_t k = 0; k < section->count; k++) {
      assert_ok(tb_ros2_parameter_value_format(&section->parameters[k].value, &value));
      fprintf(stream, "%s: %s = %s\n", section->nodes, section->parameters[k].name, value);
      free(value);
    }
  }
  fclose(stream);
  return text;
}

static void assert_file(const char *text, const char *expected)
{
  tb__parameter_sections_t sections = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__parameter_sections_parse(&sections, text, strlen(text), &error))
    fail_msg("%s", error.text);
  char *description = described(&sections);
  assert_string_equal(description, expected);
  free(description);
  tb__parameter_sections_fini(&sections);
}

static void test_values_of_all_types(void **state)
{
  (void)state;
  assert_file("/ns/node:\n"
              "  ros__parameters:\n"
              "    flag: on\n"
              "    count: 0x10\n"
              "    rate: 1.5\n"
              "    name: talker # of the robot\n"
              "    version: '5'\n"
              "    list: [1, 2]\n"
              "    names:\n"
              "      - a\n"
              "      - b c\n"
              "    text: |\n"
              "      two\n"
              "      lines\n",
              "/ns/node: flag = true\n"
              "/ns/node: count = 16\n"
              "/ns/node: rate = 1.5\n"
              "/ns/node: name = talker\n"
              "/ns/node: version = '5'\n"
              "/ns/node: list = [1, 2]\n"
              "/ns/node: names = [a, b c]\n"
              "/ns/node: text = \"two\\nlines\\n\"\n");
}

static void test_names_of_parameters_are_joined(void **state)
{
  (void)state;
  assert_file("node:\n"
              "  ros__parameters:\n"
              "    a:\n"
              "      b: {c: 1, d.e: 2}\n"
              "      f: 3\n"
              "    g: 4\n"
              "    qos_overrides: {/clock: {subscription: {depth: 5}}}\n"
              "    h/: {i: 6}\n"
              "    none: {}\n",
              "node: a.b.c = 1\n"
              "node: a.b.d.e = 2\n"
              "node: a.f = 3\n"
              "node: g = 4\n"
              "node: qos_overrides./clock.subscription.depth = 5\n"
              "node: h/.i = 6\n");
}

static void test_namespaces_may_be_levels(void **state)
{
  (void)state;
  assert_file("/a:\n"
              "  b:\n"
              "    one: {ros__parameters: {x: 1}}\n"
              "    two: {ros__parameters: {x: 2}}\n"
              "  three: {ros__parameters: {x: 3}}\n"
              "/: {four: {ros__parameters: {x: 4}}}\n"
              "/**/five: {ros__parameters: {x: 5}}\n"
              "'/*': {ros__parameters: {x: 6}}\n"
              "a/b/seven: {ros__parameters: {x: 7}}\n"
              "/a/b/: {eight: {ros__parameters: {x: 8}}}\n"
              "/nobody: {ros__parameters: {}}\n",
              "/a/b/one: x = 1\n"
              "/a/b/two: x = 2\n"
              "/a/three: x = 3\n"
              "/four: x = 4\n"
              "/**/five: x = 5\n"
              "/*: x = 6\n"
              "a/b/seven: x = 7\n"
              "/a/b/eight: x = 8\n");
}

static void test_order_is_that_of_the_file(void **state)
{
  (void)state;
  assert_file("/n: {ros__parameters: {x: 1, x: 2}}\n"
              "/**: {ros__parameters: {x: 3}}\n"
              "/n: {ros__parameters: {x: 4}}\n",
              "/n: x = 1\n/n: x = 2\n/**: x = 3\n/n: x = 4\n");
}

static void test_files_of_nothing(void **state)
{
  (void)state;
  assert_file("", "");
  assert_file("# nothing\n", "");
  assert_file("---\n", "");
  assert_file("{}\n", "");
  assert_file("/n: {}\n", "");
  assert_file("---\n/n: {ros__parameters: {x: &anchor 1}}\n---\n/m: {ros__parameters: {x: 2}}\n",
              "/n: x = 1\n/m: x = 2\n");
}

static void assert_wrong(const void *bytes, size_t size, tb_status_t expected, const char *text)
{
  tb__parameter_sections_t sections = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__parameter_sections_parse(&sections, bytes, size, &error);
  tb__parameter_sections_fini(&sections);
  if (status != expected) fail_msg("%s instead of '%s'", tb_status_name(status), text);
  if (!strstr(error.text, text)) fail_msg("'%s' does not contain '%s'", error.text, text);
}

static void test_mistakes_are_reported_with_their_line(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"5\n", "line 1: a parameter file must be a mapping"},
      {"- a\n", "line 1: a parameter file must be a mapping"},
      {"\nros__parameters: {x: 1}\n", "line 2: ros__parameters without"},
      {"/n:\n  x: 1\n", "line 2: '/n/x' is the name of a node or namespace"},
      {"/n:\n", "'/n' is the name of a node or namespace"},
      {"/n:\n  - 1\n", "line 2: '/n' is the name"},
      {"/n:\n  ros__parameters:\n", "ros__parameters of '/n' must be a mapping"},
      {"/n:\n  ros__parameters: 5\n", "line 2: ros__parameters of '/n' must be a mapping"},
      {"/n:\n  ros__parameters: [x]\n", "line 2: ros__parameters of '/n' must be a mapping"},
      {"/n:\n  ros__parameters:\n    x:\n", "no value"},
      {"/n:\n  ros__parameters:\n    x: [1,\n     a]\n", "line 4: item 2 of a list"},
      {"/n:\n  ros__parameters:\n    x: [[1]]\n", "line 3: a list or mapping in a list"},
      {"/n:\n  ros__parameters:\n    ? [a]\n    : 1\n",
       "line 3: a list or mapping in place of a name"},
      {"/n:\n  ros__parameters:\n    '': 1\n", "line 3: an empty name"},
      {"/n:\n  ros__parameters:\n    \"a\\0b\": 1\n", "line 3: a NUL"},
      {"/n:\n  ros__parameters:\n    a: \"a\\0b\"\n", "line 3: a NUL"},
      {"/n:\n  ros__parameters:\n    a: &a [1]\n    b: *a\n", "line 4: an alias ('*a')"},
      {"a: &a {ros__parameters: {x: 1}}\nb:\n  <<: *a\n", "line 3: an alias"},
      {"/n n:\n  ros__parameters: {}\n", "line 2: node '/n n'"},
      {"/a//n:\n  ros__parameters: {}\n", "line 2: node '/a//n'"},
      {"/n:\n  ros__parameters:\n    a: !foo 1\n",
       "line 3: a value that does not match its tag <!foo>"},
      {"/n:\n  ros__parameters:\n    a: [1\n", "line "},
      {"/n:\n  ros__parameters:\n\ta: 1\n", "line 3: "},
      {"/n:\n  ros__parameters:\n   a: 1\n  b: 2\n c: 3\n", "line 4: '/n/b'"},
      {"/n:\n  ros__parameters:\n    a: 1\n   b: 2\n", "line 4: "},
      {"/n:\n  ros__parameters:\n    a: \x01\n", "line 3: control characters"},
      {"/n:\n  ros__parameters:\n    a: \xff\n", "line 3: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_wrong(cases[i][0], strlen(cases[i][0]), TB_ERR_INVALID, cases[i][1]);
  assert_wrong("a: {\0}", 6, TB_ERR_INVALID, "line 1: control characters");
  assert_wrong("\x7f"
               "ELF\x02\x01\x01\0",
               8, TB_ERR_INVALID, "line 1: control characters");
}

static void test_bombs_are_refused(void **state)
{
  (void)state;
  size_t size = (size_t)4 << 20;
  char *text = malloc(size + 1);
  assert_non_null(text);
  memset(text, ' ', size + 1);
  assert_wrong(text, size + 1, TB_ERR_LIMIT, "at most");

  size_t used = 0;
  for (int i = 0; i < 40; i++)
    used += (size_t)sprintf(text + used, "{a: ");
  assert_wrong(text, used, TB_ERR_LIMIT, "levels");
  used = (size_t)sprintf(text, "a: {ros__parameters: ");
  for (int i = 0; i < 40; i++)
    used += (size_t)sprintf(text + used, "{a: ");
  assert_wrong(text, used, TB_ERR_LIMIT, "levels");

  used = (size_t)sprintf(text, "a: {ros__parameters: {%01020d: {", 1);
  while (used < size - 10)
    used += (size_t)sprintf(text + used, "a: 1,");
  used += (size_t)sprintf(text + used, "}}}");
  assert_wrong(text, used, TB_ERR_LIMIT, "names of parameters of more than");

  used = (size_t)sprintf(text, "a: {ros__parameters: {%01100d: 1}}", 1);
  assert_wrong(text, used, TB_ERR_LIMIT, "a name of more than");
  used = (size_t)sprintf(text, "a: {ros__parameters: {%0700d: {%0700d: 1}}}", 1, 1);
  assert_wrong(text, used, TB_ERR_LIMIT, "a name of more than");
  used = (size_t)sprintf(text, "a%0700d: {a%0700d: {ros__parameters: {}}}", 1, 1);
  assert_wrong(text, used, TB_ERR_LIMIT, "a name of more than");
  free(text);
}

static void test_long_lists_are_read(void **state)
{
  (void)state;
  size_t size = (size_t)1 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  size_t used = (size_t)sprintf(text, "a: {ros__parameters: {b: [");
  size_t count = 0;
  for (; used < size - 10; count++)
    used += (size_t)sprintf(text + used, "s,");
  used += (size_t)sprintf(text + used, "]}}");
  tb__parameter_sections_t sections = {0};
  assert_ok(tb__parameter_sections_parse(&sections, text, used, NULL));
  const tb_ros2_parameter_value_t *value = &sections.items[0].parameters[0].value;
  assert_int_equal(value->count, count);
  assert_string_equal(value->items.strings[count - 1], "s");
  tb__parameter_sections_fini(&sections);
  free(text);
}

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void assert_unreadable(const char *path, tb_status_t expected, const char *text)
{
  tb__parameter_sections_t sections = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__parameter_sections_read(&sections, path, &error), expected);
  tb__parameter_sections_fini(&sections);
  if (!strstr(error.text, path) || !strstr(error.text, text))
    fail_msg("'%s' does not contain '%s'", error.text, text);
}

static void test_files_are_named_in_errors(void **state)
{
  (void)state;
  char path[] = "/tmp/timebase_parameters_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  write_file(path, "/n:\n  ros__parameters:\n    a: [1, b]\n");
  assert_unreadable(path, TB_ERR_INVALID, ": line 3: item 2");
  write_file(path, "/n: {ros__parameters: {a: 1}}\n");
  tb__parameter_sections_t sections = {0};
  assert_ok(tb__parameter_sections_read(&sections, path, NULL));
  assert_int_equal(sections.count, 1);
  tb__parameter_sections_fini(&sections);
  unlink(path);
  assert_unreadable(path, TB_ERR_NOT_FOUND, "No such file");
  assert_unreadable("/tmp", TB_ERR_INVALID, "not a regular file but a folder");
  assert_unreadable("/dev/zero", TB_ERR_INVALID, "not a regular file but a device");
  assert_int_equal(mkfifo(path, 0600), 0); /* without a writer */
  assert_unreadable(path, TB_ERR_INVALID, "not a regular file but a pipe");
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_of_all_types),
      cmocka_unit_test(test_names_of_parameters_are_joined),
      cmocka_unit_test(test_namespaces_may_be_levels),
      cmocka_unit_test(test_order_is_that_of_the_file),
      cmocka_unit_test(test_files_of_nothing),
      cmocka_unit_test(test_mistakes_are_reported_with_their_line),
      cmocka_unit_test(test_bombs_are_refused),
      cmocka_unit_test(test_long_lists_are_read),
      cmocka_unit_test(test_files_are_named_in_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
