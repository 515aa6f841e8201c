/* What keys request in `timebase top`, which rows are shown, and what the screen looks like. */
#include "top_picture.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "keys.h"
#include "test.h"
#include "top_rows.h"

#define ROWS_MAX 64

typedef struct fixture {
  top_table_t table;
  top_findings_t findings;
  top_control_t control;
  screen_log_t log;
  const top_row_t *shown[100];
  top_row_t rows[100];
  char names[100][32], words[100][32];
  char screen[ROWS_MAX][2048];
  screen_style_t styles[ROWS_MAX];
  int columns;
} fixture_t;

static fixture_t *fixture(size_t count)
{
  static char type[] = "std_msgs/msg/Header", odd[] = "/odd", none[] = "",
              clock_line[] = "/clock: 1 s";
  fixture_t *f = calloc(1, sizeof *f);
  assert_non_null(f);
  for (size_t i = 0; i < count; i++) {
    snprintf(f->names[i], sizeof f->names[i], "/topic_%02zu", i);
    f->rows[i] = (top_row_t){.topic = f->names[i],
                             .type = type,
                             .node = i % 2 ? odd : none,
                             .words = f->words[i],
                             .definition = "built in",
                             .guid = {(uint8_t)(i + 1)},
                             .has_age = true,
                             .rate_hz = (double)i,
                             .age_ms = (double)(count - i),
                             .messages = 100};
  }
  f->table = (top_table_t){.rows = f->rows, .count = count, .topics = count, .clock = clock_line};
  return f;
}

/* Every row is there once, and not too wide. */
static void take_row(void *user, int row, screen_style_t style, const char *text)
{
  fixture_t *f = user;
  wchar_t wide[2048];
  assert_in_range(row, 0, ROWS_MAX - 1);
  assert_string_equal(f->screen[row], "");
  size_t length = mbstowcs(wide, text, sizeof wide / sizeof *wide);
  assert_true(length < sizeof wide / sizeof *wide);
  int columns = wcswidth(wide, length);
  if (columns < 0 || columns > f->columns) fail_msg("%d columns: '%s'", columns, text);
  snprintf(f->screen[row], sizeof f->screen[row], "%s", text);
  f->styles[row] = style;
}

static void draw(fixture_t *f, int rows, int columns)
{
  const top_picture_t picture = {.table = &f->table,
                                 .findings = &f->findings,
                                 .control = &f->control,
                                 .log = &f->log,
                                 .shown = f->shown,
                                 .seconds = 61};
  memset(f->screen, 0, sizeof f->screen);
  f->columns = columns;
  top_picture_draw(&picture, rows, columns, take_row, f);
  for (int i = rows; i < ROWS_MAX; i++)
    assert_string_equal(f->screen[i], "");
}

/* The row of the screen that has it, or -1. */
static int find(const fixture_t *f, const char *text)
{
  for (int i = 0; i < ROWS_MAX; i++)
    if (strstr(f->screen[i], text)) return i;
  return -1;
}

static void press(fixture_t *f, const int *keys, size_t count)
{
  for (size_t i = 0; i < count; i++)
    assert_int_equal(top_control_take(&f->control, keys[i]), TOP_NOTHING);
}

#define PRESS(f, ...)                                                                              \
  do {                                                                                             \
    const int pressed[] = {__VA_ARGS__};                                                           \
    press(f, pressed, sizeof pressed / sizeof *pressed);                                           \
  } while (0)

static void test_every_size(void **state)
{
  (void)state;
  fixture_t *f = fixture(40);
  snprintf(f->words[3], sizeof f->words[3], "zero 3");
  f->rows[3].wrong = 3;
  snprintf(f->names[5], sizeof f->names[5], "/相机/图像/相机");
  for (int helps = 0; helps < 2; helps++) {
    for (int rows = 1; rows <= ROWS_MAX; rows++)
      for (int columns = 1; columns <= 220; columns += 3)
        draw(f, rows, columns);
    PRESS(f, '?');
  }
  free(f);
}

static void test_what_is_wrong_stands_out(void **state)
{
  (void)state;
  fixture_t *f = fixture(10);
  snprintf(f->words[3], sizeof f->words[3], "zero 3");
  f->rows[3].wrong = 3;
  f->rows[4].is_undefined = true;
  f->rows[4].has_age = false;
  f->rows[5].messages = 0;
  draw(f, 24, 120);
  int row = find(f, "!/topic_03");
  assert_true(row > 0);
  assert_int_equal(f->styles[row], SCREEN_LOUD);
  assert_non_null(strstr(f->screen[row], "zero 3"));
  assert_non_null(strstr(f->screen[find(f, "/topic_04")], "      ? "));
  assert_int_equal(f->styles[find(f, " /topic_05")], SCREEN_QUIET);
  assert_int_equal(f->styles[find(f, " /topic_00")], SCREEN_CURSOR);
  assert_int_equal(find(f, "? help"), 23);
  assert_int_equal(find(f, "0:01:01"), 0);
  free(f);
}

static void test_sorting(void **state)
{
  (void)state;
  fixture_t *f = fixture(10);
  PRESS(f, 's', 's', 's');
  assert_int_equal(f->control.sort, TOP_HZ);
  assert_int_equal(top_rows_select(&f->table, &f->control, f->shown), 10);
  assert_ptr_equal(f->shown[0], &f->rows[9]);
  PRESS(f, 'r');
  top_rows_select(&f->table, &f->control, f->shown);
  assert_ptr_equal(f->shown[0], &f->rows[0]);
  PRESS(f, KEY_RIGHT, KEY_RIGHT);
  assert_int_equal(f->control.sort, TOP_AGE);
  assert_false(f->control.is_reversed);
  f->rows[0].has_age = false; /* none comes last */
  top_rows_select(&f->table, &f->control, f->shown);
  assert_ptr_equal(f->shown[0], &f->rows[1]);
  assert_ptr_equal(f->shown[9], &f->rows[0]);
  PRESS(f, 'S', 'S', 'S', 'S', 'S', KEY_LEFT);
  assert_int_equal(f->control.sort, TOP_STAMPS);
  free(f);
}

static void test_filter(void **state)
{
  (void)state;
  fixture_t *f = fixture(20);
  PRESS(f, '/', '_', '1');
  assert_true(f->control.is_typing);
  draw(f, 24, 80);
  assert_int_equal(find(f, "/_1_  ENTER keeps it"), 23);
  assert_true(find(f, "10 rows with _1") == 0);
  PRESS(f, 'q', KEY_BACKSPACE, '\r'); /* q is text while it is typed */
  assert_false(f->control.is_typing);
  assert_string_equal(f->control.filter, "_1");
  PRESS(f, '/', 21, 'O', 'D', 'D', '\n'); /* of the publisher; case does not matter */
  assert_int_equal(top_rows_select(&f->table, &f->control, f->shown), 10);
  for (int i = 0; i < 200; i++)
    PRESS(f, '/', 'x');
  assert_int_equal(strlen(f->control.filter), sizeof f->control.filter - 1);
  PRESS(f, KEY_ESCAPE);
  assert_string_equal(f->control.filter, "");
  f->rows[7].gaps = 1;
  PRESS(f, 'w');
  assert_int_equal(top_rows_select(&f->table, &f->control, f->shown), 1);
  PRESS(f, 'w');
  free(f);
}

static void test_the_cursor_stays_at_its_row(void **state)
{
  (void)state;
  fixture_t *f = fixture(50);
  draw(f, 24, 80);
  PRESS(f, KEY_DOWN, KEY_DOWN);
  draw(f, 24, 80);
  assert_int_equal(f->styles[find(f, "/topic_02 ")], SCREEN_CURSOR);
  PRESS(f, 'r'); /* it is the third from below now */
  draw(f, 24, 80);
  assert_int_equal(f->styles[find(f, "/topic_02 ")], SCREEN_CURSOR);
  assert_int_equal(find(f, "/topic_49 "), -1);
  PRESS(f, 'G');
  draw(f, 24, 80);
  assert_int_equal(f->styles[find(f, "/topic_00 ")], SCREEN_CURSOR);
  PRESS(f, 'g', KEY_UP, KEY_PAGE_UP);
  draw(f, 24, 80);
  assert_int_equal(f->styles[find(f, "/topic_49 ")], SCREEN_CURSOR);
  PRESS(f, KEY_PAGE_DOWN, KEY_PAGE_DOWN, KEY_PAGE_DOWN, KEY_PAGE_DOWN, KEY_PAGE_DOWN, KEY_DOWN);
  draw(f, 24, 80);
  assert_int_equal(f->styles[find(f, "/topic_00 ")], SCREEN_CURSOR);
  f->table.count = 0; /* all have gone */
  draw(f, 24, 80);
  assert_int_equal(f->control.cursor, 0);
  free(f);
}

static void test_orders(void **state)
{
  (void)state;
  fixture_t *f = fixture(1);
  assert_int_equal(top_control_take(&f->control, 'q'), TOP_QUIT);
  assert_int_equal(top_control_take(&f->control, 'z'), TOP_RESTART);
  PRESS(f, ' ');
  draw(f, 24, 80);
  assert_int_equal(find(f, "paused "), 0);
  PRESS(f, ' ', KEY_NONE, 300, 'X');
  assert_false(f->control.is_paused);
  free(f);
}

static void test_findings(void **state)
{
  (void)state;
  fixture_t *f = fixture(3);
  char id[] = "stamp-zero", subject[] = "/a of /b", texts[5][32];
  for (size_t i = 0; i < 5; i++) {
    snprintf(texts[i], sizeof texts[i], "finding %zu", i);
    f->findings.list[i] = (top_finding_t){.id = id, .subject = subject, .text = texts[i]};
  }
  f->findings.count = 5;
  draw(f, 24, 80); /* has room for three of them, latest first */
  int head = find(f, "latest findings");
  assert_true(head > 0);
  assert_non_null(strstr(f->screen[head + 1], "stamp-zero /a of /b: finding 4"));
  assert_int_equal(find(f, "finding 2"), head + 3);
  assert_int_equal(find(f, "finding 1"), -1);
  free(f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_what_is_wrong_stands_out),
      cmocka_unit_test(test_sorting),
      cmocka_unit_test(test_filter),
      cmocka_unit_test(test_the_cursor_stays_at_its_row),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_findings),
  };
  setlocale(LC_CTYPE, "C.UTF-8");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
