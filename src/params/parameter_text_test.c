#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter.h>

#include "test.h"

static tb_ros2_parameter_value_t parsed(const char *text)
{
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_parameter_value_parse(text, &value, &error)) fail_msg("%s", error.text);
  return value;
}

static void assert_parses(const char *text, const tb_ros2_parameter_value_t *expected)
{
  tb_ros2_parameter_value_t value = parsed(text);
  if (!tb_ros2_parameter_value_equal(&value, expected))
    fail_msg("'%s' is another %s", text, tb_ros2_parameter_type_name(value.type));
  tb_ros2_parameter_value_release(&value);
}

static void test_words_that_are_bools(void **state)
{
  (void)state;
  static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                    "on",   "On",   "ON",   "y",   "Y"};
  static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
                                   "off",   "Off",   "OFF",   "n",  "N"};
  tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true};
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
    assert_parses(yes[i], &value);
  value.bool_value = false;
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
    assert_parses(no[i], &value);
}

static void test_integers(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"0", 0},         {"5", 5},       {"-5", -5},
      {"+5", 5},        {"0x1F", 31},   {"-0Xff", -255},
      {"017", 15},      {" 7 ", 7},     {"9223372036854775807", INT64_MAX},
      {"5 # five", 5},  {"!!int 5", 5}, {"-9223372036854775808", INT64_MIN},
      {"!!int '5'", 5}, {"|-\n 5", 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_INTEGER,
                                       .integer_value = cases[i].value};
    assert_parses(cases[i].text, &value);
  }
}

static void test_doubles(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1.5", 1.5},
      {"-1.5e3", -1500.0},
      {"1e3", 1000.0},
      {".5", 0.5},
      {"5.", 5.0},
      {".nan", NAN},
      {".NaN", NAN},
      {".inf", INFINITY},
      {"+.Inf", INFINITY},
      {"-.INF", -INFINITY},
      {"08", 8.0},
      {"5e-324", 5e-324},
      {"!!float 5", 5.0},
      {"!!float 5.5", 5.5},
      {"inf", INFINITY},
      {"nan", NAN},
      {"0x1p-3", 0.125},
      {"1e-400", 0.0},
      {"9223372036854775808", 9223372036854775808.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_DOUBLE,
                                       .double_value = cases[i].value};
    assert_parses(cases[i].text, &value);
  }
}

static void test_strings(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"hello", "hello"},
      {"'5'", "5"},
      {"\"5\"", "5"},
      {"!!str 5", "5"},
      {"''", ""},
      {"!!str ''", ""},
      {"'true'", "true"},
      {"null", "null"},
      {"~", "~"},
      {"hello world", "hello world"},
      {"5 apples", "5 apples"},
      {"1.2.3", "1.2.3"},
      {"1_000", "1_000"},
      {"0b101", "0b101"},
      {"0x", "0x"},
      {"1e400", "1e400"},
      {"2024-01-02", "2024-01-02"},
      {"tRue", "tRue"},
      {"/a/b", "/a/b"},
      {"\"a\\nb\"", "a\nb"},
      {"'it''s'", "it's"},
      {"caf\xc3\xa9", "caf\xc3\xa9"},
      {"a:=b", "a:=b"},
      {"!!str true", "true"},
      {"|1-\n  5", " 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_STRING,
                                       .string_value = cases[i][1]};
    assert_parses(cases[i][0], &value);
  }
}

#define ARRAY(TYPE, FIELD, COUNT, ...)                                                             \
  &(tb_ros2_parameter_value_t)                                                                     \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_##TYPE##_ARRAY, .items.FIELD = __VA_ARGS__, .count = COUNT           \
  }

static void test_arrays(void **state)
{
  (void)state;
  assert_parses("[1, 2]", ARRAY(INTEGER, integers, 2, (const int64_t[]){1, 2}));
  assert_parses("[1]", ARRAY(INTEGER, integers, 1, (const int64_t[]){1}));
  assert_parses("[1.0, .inf]", ARRAY(DOUBLE, doubles, 2, (const double[]){1, INFINITY}));
  assert_parses("[yes, no]", ARRAY(BOOL, bools, 2, (const bool[]){true, false}));
  assert_parses("[a, '5', '']", ARRAY(STRING, strings, 3, (const char *const[]){"a", "5", ""}));
  assert_parses("- 1\n- 2", ARRAY(INTEGER, integers, 2, (const int64_t[]){1, 2}));
  assert_parses("[]", ARRAY(BOOL, bools, 0, NULL));
  assert_parses("!integer_array []", ARRAY(INTEGER, integers, 0, NULL));
  assert_parses("!string_array []", ARRAY(STRING, strings, 0, NULL));
  assert_parses("!double_array [1, 2.5]", ARRAY(DOUBLE, doubles, 2, (const double[]){1, 2.5}));
  assert_parses("!byte_array [0, 255]", ARRAY(BYTE, bytes, 2, (const uint8_t[]){0, 255}));
  assert_parses("!!null null", &(tb_ros2_parameter_value_t)TB_ROS2_PARAMETER_VALUE_INIT);
}

static void test_invalid_values_are_explained(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"", "no value"},
      {" # comment", "no value"},
      {"[1, 2.0]", "item 2 of a list is a value of type double in a list of type integer_array"},
      {"[1.0, 2]", "1.0"},
      {"[1, a]", "item 2"},
      {"[a, 5]", "type integer"},
      {"[true, 5]", "item 2"},
      {"[[1]]", "list or mapping in a list"},
      {"[{a: 1}]", "list or mapping in a list"},
      {"[1, ~, !!null null]", "item 2"},
      {"[!!null null]", "no value"},
      {"[,]", ""},
      {"[1", ""},
      {"'a", ""},
      {"a: b", "mapping"},
      {"{}", "mapping"},
      {"*a", "alias"},
      {"&a [*a]", "alias"},
      {"--- 1\n--- 2", "more than one value"},
      {"!byte_array [256]", "0 to 255"},
      {"!byte_array [-1]", "0 to 255"},
      {"!byte_array [a]", "0 to 255"},
      {"!string_array [5]", "item 1"},
      {"!foo [5]", "<!foo>"},
      {"!foo 5", "<!foo>"},
      {"!!bool 5", "does not match its tag <tag:yaml.org,2002:bool>"},
      {"!!int 5.5", "does not match its tag <tag:yaml.org,2002:int>"},
      {"!!float x", "does not match its tag <tag:yaml.org,2002:float>"},
      {"!!null x", "does not match its tag <tag:yaml.org,2002:null>"},
      {"\"a\\0b\"", "NUL"},
      {"\xff\xfe\x01", ""},
      {"a\x01", "control"},
      {"a\xff", "UTF-8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_INTEGER, .integer_value = 77};
    tb_error_t error = TB_ERROR_INIT;
    if (tb_ros2_parameter_value_parse(cases[i][0], &value, &error) != TB_ERR_INVALID)
      fail_msg("'%s' is taken", cases[i][0]);
    if (!strstr(error.text, cases[i][1]))
      fail_msg("'%s' does not contain '%s'", error.text, cases[i][1]);
    assert_int_equal(value.integer_value, 77);
  }
  assert_status(tb_ros2_parameter_value_parse(NULL, NULL, NULL), TB_ERR_INVALID);
}

static void test_deep_and_large_texts_are_refused(void **state)
{
  (void)state;
  tb_ros2_parameter_value_t value;
  size_t size = (size_t)5 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, '[', size);
  text[size - 1] = '\0';
  assert_status(tb_ros2_parameter_value_parse(text, &value, NULL), TB_ERR_LIMIT);
  text[100000] = '\0';
  assert_status(tb_ros2_parameter_value_parse(text, &value, NULL), TB_ERR_INVALID);
  memset(text, '{', 100000);
  assert_status(tb_ros2_parameter_value_parse(text, &value, NULL), TB_ERR_INVALID);
  free(text);
}

static void assert_formats(const tb_ros2_parameter_value_t *value, const char *expected)
{
  char *text = NULL;
  assert_ok(tb_ros2_parameter_value_format(value, &text));
  assert_string_equal(text, expected);
  assert_parses(text, value);
  free(text);
}

static void assert_string_formats(const char *string, const char *expected)
{
  tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_STRING, .string_value = string};
  assert_formats(&value, expected);
}

static void test_text_of_strings(void **state)
{
  (void)state;
  assert_string_formats("hello", "hello");
  assert_string_formats("hello world", "hello world");
  assert_string_formats("/ns/node", "/ns/node");
  assert_string_formats("", "''");
  assert_string_formats("5", "'5'");
  assert_string_formats("yes", "'yes'");
  assert_string_formats("nan", "'nan'");
  assert_string_formats("infinity", "'infinity'");
  assert_string_formats("null", "'null'");
  assert_string_formats("it's", "'it''s'");
  assert_string_formats(" a", "' a'");
  assert_string_formats("a ", "'a '");
  assert_string_formats("a: b", "'a: b'");
  assert_string_formats("a #b", "'a #b'");
  assert_string_formats("[1]", "'[1]'");
  assert_string_formats("a\\b", "'a\\b'");
  assert_string_formats("a\nb\t\"\\", "\"a\\nb\\t\\\"\\\\\"");
  assert_string_formats("caf\xc3\xa9", "\"caf\xc3\xa9\"");
  assert_string_formats("\x01\x7f\xc2\x85", "\"\\x01\\x7f\\x85\"");
  assert_string_formats("\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf", "\"\\u2028\\ufeff\\uffff\"");
  assert_string_formats("\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"");
}

static void assert_double_formats(double number, const char *expected)
{
  tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_DOUBLE, .double_value = number};
  assert_formats(&value, expected);
}

static void test_text_of_numbers(void **state)
{
  (void)state;
  assert_formats(
      &(tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_INTEGER, .integer_value = INT64_MIN},
      "-9223372036854775808");
  assert_double_formats(5.0, "5.0");
  assert_double_formats(-0.0, "-0.0");
  assert_double_formats(0.1, "0.1");
  assert_double_formats(1e20, "1.0e+20");
  assert_double_formats(1.0 / 3, "0.3333333333333333");
  assert_double_formats(DBL_MAX, "1.7976931348623157e+308");
  assert_double_formats(5e-324, "4.94065645841247e-324");
  assert_double_formats(NAN, ".nan");
  assert_double_formats(INFINITY, ".inf");
  assert_double_formats(-INFINITY, "-.inf");
}

static void test_text_of_the_rest(void **state)
{
  (void)state;
  assert_formats(&(tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_NOT_SET}, "!!null null");
  assert_formats(&(tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true},
                 "true");
  assert_formats(ARRAY(BYTE, bytes, 2, (const uint8_t[]){0, 255}), "!byte_array [0, 255]");
  assert_formats(ARRAY(BYTE, bytes, 0, NULL), "!byte_array []");
  assert_formats(ARRAY(BOOL, bools, 2, (const bool[]){true, false}), "[true, false]");
  assert_formats(ARRAY(BOOL, bools, 0, NULL), "[]");
  assert_formats(ARRAY(DOUBLE, doubles, 2, (const double[]){1, NAN}), "[1.0, .nan]");
  assert_formats(ARRAY(STRING, strings, 3, (const char *const[]){"a", "b, c", "5"}),
                 "[a, 'b, c', '5']");
  assert_formats(ARRAY(STRING, strings, 0, NULL), "!string_array []");
}

static void test_what_has_no_text(void **state)
{
  (void)state;
  char *text = NULL;
  const tb_ros2_parameter_value_t bad[] = {
      {.type = (tb_ros2_parameter_type_t)10},
      {.type = TB_ROS2_PARAMETER_STRING},
      {.type = TB_ROS2_PARAMETER_STRING, .string_value = "a\xff"},
      {.type = TB_ROS2_PARAMETER_STRING, .string_value = "\xc0\x80"},
      {.type = TB_ROS2_PARAMETER_STRING, .string_value = "\xed\xa0\x80"},
      {.type = TB_ROS2_PARAMETER_STRING, .string_value = "\xf4\x90\x80\x80"},
      {.type = TB_ROS2_PARAMETER_STRING, .string_value = "\xe2\x80"},
      {.type = TB_ROS2_PARAMETER_INTEGER_ARRAY, .count = 1},
      *ARRAY(STRING, strings, 1, (const char *const[]){NULL}),
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_status(tb_ros2_parameter_value_format(&bad[i], &text), TB_ERR_INVALID);
  assert_null(text);
  assert_status(tb_ros2_parameter_value_format(NULL, &text), TB_ERR_INVALID);
}

static uint64_t seed;

static uint64_t random_bits(void)
{
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return seed >> 20 ^ seed << 44;
}

static void random_string(char out[64])
{
  static const char *const pieces[] = {
      "a",
      "true",
      "no",
      "5",
      ".",
      "-",
      "0x",
      "e",
      " ",
      ": ",
      " #",
      "'",
      "\"",
      "\\",
      "\n",
      "\t",
      "[",
      "]",
      "{",
      "}",
      ",",
      "&",
      "*",
      "!",
      "|",
      ">",
      "%",
      "@",
      "`",
      "?",
      "~",
      "---",
      "...",
      "\x01",
      "\x7f",
      "\xc2\x80",
      "\xc2\x85",
      "\xc3\xa9",
      "\xe2\x80\xa8",
      "\xef\xbb\xbf",
      "inf",
      "\xef\xbf\xbe",
      "\xf0\x9f\x98\x80",
      "\r",
      "nan",
      "/",
      "_",
      "null",
      "=",
      "<<",
      "\x1b",
  };
  out[0] = '\0';
  for (uint64_t count = random_bits() % 8; count > 0; count--)
    strcat(out, pieces[random_bits() % (sizeof pieces / sizeof pieces[0])]);
}

static double random_double(void)
{
  uint64_t bits = random_bits();
  double value;
  if (bits % 3 == 0) return (double)(int64_t)(bits >> 40) / 8;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define ITEMS_MAX 5

/* What a random value points into. */
static struct {
  uint8_t bytes[ITEMS_MAX];
  bool bools[ITEMS_MAX];
  int64_t integers[ITEMS_MAX];
  double doubles[ITEMS_MAX];
  char texts[ITEMS_MAX][64];
  const char *strings[ITEMS_MAX];
} items;

static tb_ros2_parameter_value_t random_value(void)
{
  for (size_t i = 0; i < ITEMS_MAX; i++) {
    items.bytes[i] = (uint8_t)random_bits();
    items.bools[i] = random_bits() % 2;
    items.integers[i] = (int64_t)(random_bits() << 20 ^ random_bits()) >> random_bits() % 64;
    items.doubles[i] = random_double();
    random_string(items.texts[i]);
    items.strings[i] = items.texts[i];
  }
  tb_ros2_parameter_value_t value = {
      .type = (tb_ros2_parameter_type_t)(random_bits() % 10),
      .bool_value = items.bools[0],
      .integer_value = items.integers[0],
      .double_value = items.doubles[0],
      .string_value = items.strings[0],
      .count = random_bits() % (ITEMS_MAX + 1),
  };
  const void *const arrays[] = {items.bytes, items.bools, items.integers, items.doubles,
                                items.strings};
  if (value.type >= TB_ROS2_PARAMETER_BYTE_ARRAY)
    value.items.any = arrays[value.type - TB_ROS2_PARAMETER_BYTE_ARRAY];
  return value;
}

static void check_round_trips(int count)
{
  const char *given = getenv("TB_TEST_SEED");
  seed = given ? strtoull(given, NULL, 10) : 1;
  print_message("TB_TEST_SEED=%" PRIu64 "\n", seed);
  for (int i = 0; i < count; i++) {
    tb_ros2_parameter_value_t value = random_value(), back = TB_ROS2_PARAMETER_VALUE_INIT;
    tb_error_t error = TB_ERROR_INIT;
    char *text = NULL;
    assert_ok(tb_ros2_parameter_value_format(&value, &text));
    if (tb_ros2_parameter_value_parse(text, &back, &error)) fail_msg("%d: %s", i, error.text);
    if (!tb_ros2_parameter_value_equal(&value, &back)) fail_msg("%d: %s", i, text);
    if (strchr(text, '\n')) fail_msg("%d: more than a line", i);
    tb_ros2_parameter_value_release(&back);
    free(text);
  }
}

static void test_any_value_comes_back_from_its_text(void **state)
{
  (void)state;
  check_round_trips(20000);
}

/* One with a decimal comma, made if the system has none. */
static bool use_comma(char folder[])
{
  char command[256];
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command,
           "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
  if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
  if (system(command) != 0) return false;
  setenv("LOCPATH", folder, 1);
  return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void test_the_locale_does_not_matter(void **state)
{
  (void)state;
  char folder[] = "/tmp/timebase_locale_XXXXXX", command[64];
  bool has_comma = use_comma(folder);
  if (has_comma) {
    snprintf(command, sizeof command, "%g", 1.5);
    assert_string_equal(command, "1,5");
    assert_double_formats(1.5, "1.5");
    check_round_trips(1000);
  }
  setlocale(LC_ALL, "C");
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
  if (!has_comma) skip();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_that_are_bools),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_doubles),
      cmocka_unit_test(test_strings),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_invalid_values_are_explained),
      cmocka_unit_test(test_deep_and_large_texts_are_refused),
      cmocka_unit_test(test_text_of_strings),
      cmocka_unit_test(test_text_of_numbers),
      cmocka_unit_test(test_text_of_the_rest),
      cmocka_unit_test(test_what_has_no_text),
      cmocka_unit_test(test_any_value_comes_back_from_its_text),
      cmocka_unit_test(test_the_locale_does_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
