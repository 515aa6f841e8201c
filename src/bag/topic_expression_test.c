#include <timebase/topic_expression.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef enum answer { NO, YES, REFUSAL } answer_t;

typedef struct row {
  const char *expression, *topic;
  answer_t answer;
  int64_t character; /* at which it is refused; from 1 */
} row_t;

#define BOTH(expression, topic, answer) {expression, topic, answer, 0},
#define ECMA(expression, topic, answer) {expression, topic, answer, 0},
#define STD(expression, topic, answer)  {expression, topic, answer, 0},
#define REFUSED(expression, character)  {expression, "", REFUSAL, character},

static const row_t rows[] = {
#include "expression_table.inc"
};

static bool is_as_refused(const row_t *row, const tb_error_t *error)
{
  char place[300];
  snprintf(place, sizeof place, "expression '%s', character %d: ", row->expression,
           (int)row->character);
  if (error->status == TB_ERR_INVALID && error->offset + 1 == row->character &&
      strncmp(error->text, place, strlen(place)) == 0)
    return true;
  print_error("'%s': expected %s..., not %s\n", row->expression, place, error->text);
  return false;
}

static bool is_as_answered(const row_t *row)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  bool found = false;
  if (tb_topic_expression_create(row->expression, &expression, &error) != TB_OK) {
    if (row->answer == REFUSAL) return is_as_refused(row, &error);
    print_error("'%s': %s\n", row->expression, error.text);
    return false;
  }
  assert_string_equal(tb_topic_expression_text(expression), row->expression);
  assert_status(tb_topic_expression_search(expression, row->topic, &found, &error), TB_OK);
  tb_topic_expression_destroy(expression);
  if (row->answer == (answer_t)found) return true;
  print_error("'%s' in '%s': %s\n", row->expression, row->topic,
              row->answer == REFUSAL ? "not refused"
              : found                ? "found, but is not there"
                                     : "not found");
  return false;
}

static void test_table(void **state)
{
  (void)state;
  size_t failures = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    failures += !is_as_answered(&rows[i]);
  if (failures > 0) fail_msg("%zu rows of expression_table.inc", failures);
}

static void assert_gives_up(const char *text, const char *topic)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  bool found = true;
  assert_status(tb_topic_expression_create(text, &expression, &error), TB_OK);
  assert_status(tb_topic_expression_search(expression, topic, &found, &error), TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, text));
  assert_non_null(strstr(error.text, "too many ways to match"));
  assert_true(found); /* untouched */
  tb_topic_expression_destroy(expression);
}

static void test_a_search_ends(void **state)
{
  (void)state;
  assert_gives_up("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
  assert_gives_up("(.*)(.*)(.*)(.*)(.*)(.*)x\\1y",
                  "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/a/b/c/d/e/f/g/h/y");
  static char long_topic[400 * 1024];
  memset(long_topic, 'a', sizeof long_topic - 1);
  assert_gives_up("^(?:a|b)*$", long_topic); /* of memory */
}

static void assert_too_large(const char *text)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_topic_expression_create(text, &expression, &error), TB_ERR_LIMIT);
  assert_null(expression);
  assert_non_null(strstr(error.text, "expression '"));
}

static void test_sizes(void **state)
{
  (void)state;
  static char text[8194];
  memset(text, 'a', sizeof text - 1);
  assert_too_large(text);
  text[8192] = '\0';
  tb_topic_expression_t *expression = NULL;
  assert_status(tb_topic_expression_create(text, &expression, NULL), TB_OK);
  tb_topic_expression_destroy(expression);
  memset(text, '(', 4096);
  memset(text + 4096, ')', 4096);
  assert_too_large(text);
  assert_too_large("a{99999}");
  assert_too_large("((((a{1,999}){1,999}){1,999}){1,999}){1,999}");
}

static void test_arguments(void **state)
{
  (void)state;
  tb_topic_expression_t *expression = NULL;
  bool found;
  assert_status(tb_topic_expression_create(NULL, &expression, NULL), TB_ERR_INVALID);
  assert_status(tb_topic_expression_create("a", NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_topic_expression_create("(", &expression, NULL), TB_ERR_INVALID);
  assert_status(tb_topic_expression_search(NULL, "a", &found, NULL), TB_ERR_INVALID);
  tb_topic_expression_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_a_search_ends),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
