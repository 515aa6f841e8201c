/* The recorder's full screen as rows of text. */
#include "record_picture.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define S        TB_NS_PER_S
#define ROWS_MAX 64

typedef struct fixture {
  record_picture_t picture;
  screen_log_t log;
  record_topic_t topics[50];
  char names[50][120];
  char rows[ROWS_MAX][SCREEN_TEXT_SIZE];
  int columns, scrolled;
} fixture_t;

static fixture_t *fixture(size_t topics)
{
  fixture_t *f = calloc(1, sizeof *f);
  assert_non_null(f);
  for (size_t i = 0; i < topics; i++) {
    snprintf(f->names[i], sizeof f->names[i], "/topic_%zu", i);
    f->topics[i] = (record_topic_t){.name = f->names[i],
                                    .status = {.written = 100 + i, .waiting = 7},
                                    .hz = 25,
                                    .bytes_per_s = 1.5e6};
  }
  f->picture = (record_picture_t){.path = "/bags/one",
                                  .topics = f->topics,
                                  .topic_count = topics,
                                  .status = {.written = 4000,
                                             .file_count = 2,
                                             .file_size = 12300000,
                                             .waiting_bytes = 45600000,
                                             .held_ns = 23 * S},
                                  .cache_size = 100000000,
                                  .growth = 2e6,
                                  .disk_left = 24000000000,
                                  .elapsed_ns = 3725 * S,
                                  .scrolled = &f->scrolled,
                                  .note = "",
                                  .log = &f->log};
  return f;
}

/* Every row is there once, and not too wide. */
static void take_row(void *user, int row, screen_style_t style, const char *text)
{
  fixture_t *f = user;
  (void)style;
  assert_in_range(row, 0, ROWS_MAX - 1);
  assert_string_equal(f->rows[row], "");
  assert_true(screen_columns(text) <= f->columns);
  snprintf(f->rows[row], sizeof f->rows[row], "%s", text);
}

static void draw(fixture_t *f, int rows, int columns)
{
  memset(f->rows, 0, sizeof f->rows);
  f->columns = columns;
  record_picture_draw(&f->picture, rows, columns, take_row, f);
  for (int i = rows; i < ROWS_MAX; i++)
    assert_string_equal(f->rows[i], "");
}

static void assert_drawn(const fixture_t *f, int row, const char *text)
{
  if (!strstr(f->rows[row], text)) fail_msg("row %d, '%s', lacks '%s'", row, f->rows[row], text);
}

static void test_the_picture(void **state)
{
  (void)state;
  fixture_t *f = fixture(2);
  f->topics[1].status.lost_in_queue = 3;
  draw(f, 24, 80);
  assert_drawn(f, 0, "/bags/one");
  assert_drawn(f, 0, "  recording");
  assert_drawn(f, 1, "1:02:05   4000 messages   0 lost   3.0MB/s   file 2: 12MB");
  assert_drawn(f, 2, "disk: 24GB left, full in 3:20:00   46MB wait for it");
  assert_drawn(f, 4, "  written    lost      Hz    B/s");
  assert_drawn(f, 5, "/topic_0 ");
  assert_drawn(f, 5, "      100       0    25.0   1.5M");
  assert_drawn(f, 6, "      101       3    25.0   1.5M");
  assert_drawn(f, 23, "q end  SPACE pause  PGUP");
  f->picture.note = "a note";
  f->picture.status.paused = true;
  draw(f, 24, 80);
  assert_drawn(f, 0, "paused (SPACE resumes)");
  assert_drawn(f, 22, "a note");
  free(f);
}

static void test_what_a_snapshot_holds(void **state)
{
  (void)state;
  fixture_t *f = fixture(3);
  f->picture.snapshot_mode = true;
  draw(f, 24, 100);
  assert_drawn(f, 0, "snapshot mode (s writes)");
  assert_drawn(f, 2, "held: 23.0 s, 46MB of 100MB, 21 messages   disk: 24GB left");
  assert_drawn(f, 4, "  written    held    lost      Hz    B/s");
  assert_drawn(f, 5, "      100       7       0    25.0   1.5M");
  assert_drawn(f, 23, "s write what is held");
  free(f);
}

static void test_when_the_disk_is_full(void **state)
{
  (void)state;
  char text[80];
  record_disk_text(1000000, 1000, text, sizeof text);
  assert_string_equal(text, "disk: 1.0MB left, full in 0:16:40");
  record_disk_text(1000000, 0, text, sizeof text);
  assert_string_equal(text, "disk: 1.0MB left");
  record_disk_text(1000000, NAN, text, sizeof text);
  assert_string_equal(text, "disk: 1.0MB left");
  record_disk_text(UINT64_C(1) << 60, 1, text, sizeof text); /* in an age */
  assert_null(strstr(text, "full"));
  record_disk_text(UINT64_MAX, 1, text, sizeof text);
  assert_string_equal(text, "");
}

static void test_every_size_has_its_picture(void **state)
{
  (void)state;
  fixture_t *f = fixture(50);
  strcpy(f->names[3], "/a/very/long/name/of/a/topic/that/needs/more/room/than/there/is/image_raw");
  for (int snapshot = 0; snapshot < 2; snapshot++)
    for (int rows = 0; rows <= 60; rows++)
      for (int columns = 0; columns < 200; columns += columns < 40 ? 1 : 20) {
        f->picture.snapshot_mode = snapshot;
        f->picture.note = rows % 2 ? "a note that is long enough to be cut" : "";
        draw(f, rows, columns);
      }
  f->scrolled = 1000;
  draw(f, 24, 80);
  assert_drawn(f, 4, "topic 34-50 of 50 ↑ ");
  assert_drawn(f, 21, "/topic_49");
  f->scrolled = 0;
  draw(f, 10, 40);
  assert_drawn(f, 4, "topic 1-3 of 50 ↓");
  assert_drawn(f, 9, "q end  SPACE pause");
  free(f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_picture),
      cmocka_unit_test(test_what_a_snapshot_holds),
      cmocka_unit_test(test_when_the_disk_is_full),
      cmocka_unit_test(test_every_size_has_its_picture),
  };
  if (!setlocale(LC_CTYPE, "C.UTF-8")) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
