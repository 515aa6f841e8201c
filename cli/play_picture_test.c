/* The full screen as rows of text, and the rates on it. */
#include "play_picture.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <wchar.h>

#include "test.h"

#define S         TB_NS_PER_S
#define START     (1700000000 * S)
#define ROWS_MAX  64
#define WIDE_NAME "/相机/图像/相机/图像/相机/图像/相机/图像/相机/图像/相机/图像/相机/图像/尾"

typedef struct fixture {
  play_picture_t picture;
  play_control_t control;
  play_rates_t rates;
  screen_log_t log;
  play_topic_t topics[100];
  char names[100][160];
  char rows[ROWS_MAX][4200];
  size_t order[100];
  play_density_t density;
  int columns;
} fixture_t;

static fixture_t *fixture(size_t topics)
{
  fixture_t *f = calloc(1, sizeof *f);
  assert_non_null(f);
  assert_true(play_rates_init(&f->rates, topics));
  play_control_init(&f->control, START);
  for (size_t i = 0; i < topics; i++) {
    snprintf(f->names[i], sizeof f->names[i], "/topic_%zu", i);
    f->topics[i] = (play_topic_t){.topic = i,
                                  .name = f->names[i],
                                  .recorded = 100 + i,
                                  .sent = i,
                                  .hz = NAN,
                                  .bytes_per_s = 1000.0 * (double)i,
                                  .subscriptions = -1};
    f->order[i] = i;
  }
  f->picture = (play_picture_t){
      .path = "/bags/one",
      .topics = f->topics,
      .topic_count = topics,
      .order = f->order,
      .shown_count = topics,
      .status = {.position_ns = START + 5 * S, .end_ns = START + 10 * S, .rate = 2, .messages = 7},
      .control = &f->control,
      .rates = &f->rates,
      .log = &f->log,
      .bag_start_ns = START,
      .now_ns = 3725 * S,
  };
  return f;
}

static void fixture_free(fixture_t *f)
{
  play_rates_fini(&f->rates);
  free(f);
}

/* Every row is there once, and not too wide. */
static void take_row(void *user, int row, screen_style_t style, const char *text)
{
  fixture_t *f = user;
  wchar_t wide[2048];
  (void)style;
  assert_in_range(row, 0, ROWS_MAX - 1);
  assert_string_equal(f->rows[row], "");
  size_t length = mbstowcs(wide, text, sizeof wide / sizeof *wide);
  assert_true(length < sizeof wide / sizeof *wide);
  int columns = wcswidth(wide, length);
  if (columns < 0 || columns > f->columns) fail_msg("%d columns: '%s'", columns, text);
  snprintf(f->rows[row], sizeof f->rows[row], "%s", text);
}

static void draw(fixture_t *f, int rows, int columns)
{
  memset(f->rows, 0, sizeof f->rows);
  f->columns = columns;
  play_picture_draw(&f->picture, rows, columns, take_row, f);
  for (int i = rows; i < ROWS_MAX; i++)
    assert_string_equal(f->rows[i], "");
}

/* The first row that contains it, or -1. */
static int find(const fixture_t *f, const char *text)
{
  for (int i = 0; i < ROWS_MAX; i++)
    if (strstr(f->rows[i], text)) return i;
  return -1;
}

static void assert_drawn(const fixture_t *f, int row, const char *text)
{
  if (!strstr(f->rows[row], text)) fail_msg("row %d, '%s', lacks '%s'", row, f->rows[row], text);
}

static void test_the_head(void **state)
{
  (void)state;
  fixture_t *f = fixture(3);
  draw(f, 24, 80);
  assert_drawn(f, 0, "/bags/one");
  assert_drawn(f, 0, "playing");
  assert_drawn(f, 1, "5.00 s of 10.00 s   50 %   wall 1:02:05   2023-11-14T22:13:25.00Z");
  assert_drawn(f, 3, "rate 2   7 messages");
  f->picture.status.next_ns = START + 125 * S;
  draw(f, 24, 80);
  assert_drawn(f, 0, " playing, next message in 0:01:00");
  f->picture.clock_note = "waiting for /clock";
  draw(f, 24, 80);
  assert_drawn(f, 0, " waiting for /clock");
  f->picture.clock_note = "waiting for /perception/slam, which was sent 10.160000001 s and has "
                          "published no more than 10.140000001 s on /odom";
  draw(f, 24, 80);
  assert_drawn(f, 0,
               "/bags/one  waiting for /perception/slam, which was sent 10.160000001 s and has");
  assert_drawn(f, 0, "…");
  draw(f, 24, 160);
  assert_drawn(f, 0, "10.140000001 s on /odom");
  f->picture.status.paused = true;
  f->picture.status.rate = TB_PLAYER_FASTEST;
  f->picture.status.repeat_from_ns = START + S;
  f->picture.status.repeat_to_ns = START + 2 * S;
  draw(f, 24, 80);
  assert_drawn(f, 0, "paused");
  assert_drawn(f, 3, "rate max   A-B 1.00-2.00 s (0)");
  fixture_free(f);
}

static void test_the_timeline(void **state)
{
  (void)state;
  fixture_t *f = fixture(1);
  char bar[32];
  play_timeline(&f->picture, bar, 11);
  assert_string_equal(bar, "=====|-----");
  f->control.marks[0] = START + 2 * S;
  f->control.marks[1] = START + 10 * S;
  f->control.mark_count = 2;
  f->picture.status.repeat_from_ns = START + 3 * S;
  f->picture.status.repeat_to_ns = START + 7 * S;
  play_timeline(&f->picture, bar, 11);
  assert_string_equal(bar, "==mA=|-B--m");
  f->picture.status.position_ns = START + 10 * S;
  play_timeline(&f->picture, bar, 11);
  assert_string_equal(bar, "==mA===B==|");
  f->picture.status.end_ns = f->picture.status.position_ns = START; /* one moment */
  play_timeline(&f->picture, bar, 1);
  assert_string_equal(bar, "|");
  fixture_free(f);
}

static void test_topics_scroll_where_there_is_no_room(void **state)
{
  (void)state;
  fixture_t *f = fixture(60);
  draw(f, 24, 80);
  assert_int_equal(find(f, "topic 1-16 of 60"), 5);
  assert_drawn(f, 6, "/topic_0");
  assert_drawn(f, 21, "/topic_15");
  f->control.scrolled = 1000;
  draw(f, 24, 80);
  assert_int_equal(f->control.scrolled, 44);
  assert_drawn(f, 21, "/topic_59");
  assert_drawn(f, 21, "59       159");
  fixture_free(f);
}

static void test_long_names_keep_their_end(void **state)
{
  (void)state;
  fixture_t *f = fixture(2);
  strcpy(f->names[0], "/a/very/long/name/of/a/topic/that/needs/more/room/than/there/is/image_raw");
  strcpy(f->names[1], WIDE_NAME);
  draw(f, 24, 80);
  assert_int_equal(find(f, "…"), 6);
  assert_drawn(f, 6, "there/is/image_raw ");
  assert_drawn(f, 7, "图像/尾 ");
  fixture_free(f);
}

static void test_long_names_lose_their_middle(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int columns;
    const char *expected;
  } cuts[] = {
      {"/short", 6, "/short"},
      {"/camera/front/image", 11, "/came…image"},
      {"/camera/front/image", 10, "/cam…image"},
      {"/ab", 2, "…b"},
      {"/ab", 1, "…"},
      {WIDE_NAME, 9, "/相…像/尾"},
  };
  char text[256];
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    screen_fit_middle(cuts[i].text, cuts[i].columns, text, sizeof text);
    assert_string_equal(text, cuts[i].expected);
  }
}

static void test_the_density_of_a_topic(void **state)
{
  (void)state;
  const uint32_t bins[8] = {8, 1, 0, 0, 4, 2, 0, 0};
  char text[64];
  play_density_text(bins, 8, 6, 8, -1, text, sizeof text);
  assert_string_equal(text, "█▁··▄▂  "); /* the last two are not known yet */
  play_density_text(bins, 8, 8, 4, 1, text, sizeof text);
  assert_string_equal(text, "█|▆·");
  play_density_text(bins, 8, 8, 3, -1, text,
                    sizeof text); /* of two or three parts each: averages */
  assert_string_equal(text, "█▃▂");
  play_density_text(bins, 8, 8, 16, -1, text, sizeof text);
  assert_string_equal(text, "██▁▁····▄▄▂▂····");
  play_density_text(bins, 8, 8, 8, -1, text, 7); /* whole characters only */
  assert_string_equal(text, "█▁");
}

static _Atomic uint32_t counts[3 * PLAY_DENSITY_BINS];

static void test_time_lines_are_where_there_is_room(void **state)
{
  (void)state;
  fixture_t *f = fixture(3);
  f->density = (play_density_t){.is_open = true, .topic_count = 3, .counts = counts};
  for (size_t i = 0; i < PLAY_DENSITY_BINS; i++)
    atomic_store(&counts[PLAY_DENSITY_BINS + i], i < PLAY_DENSITY_BINS / 4 ? 1 : 0);
  atomic_store(&f->density.known, PLAY_DENSITY_BINS);
  f->picture.density = &f->density;
  draw(f, 24, 80);
  assert_drawn(f, 6, "/topic_0 ");
  assert_drawn(f, 7, " ·········");
  assert_drawn(f, 8, "/topic_1 ");
  assert_drawn(f, 9, " ████");
  assert_drawn(f, 9, "▆···");
  assert_drawn(f, 9, "··|··");
  f->picture.shown_count = f->picture.topic_count = 3;
  draw(f, 12, 120); /* two rows for each have no room: after the numbers */
  assert_drawn(f, find(f, "/topic_1 "), "1.0k    -  ████");
  draw(f, 10, 80); /* nor has this */
  assert_int_equal(find(f, "█"), -1);
  fixture_free(f);
}

static void test_topics_are_sorted_and_filtered(void **state)
{
  (void)state;
  fixture_t *f = fixture(4);
  size_t order[4];
  strcpy(f->names[0], "/zebra");
  f->topics[1].hz = 10;
  f->topics[2].hz = 100;
  f->topics[3].hz = 104; /* about the same: rows keep their places */
  assert_int_equal(play_table_order(f->topics, 4, PLAY_SORT_RECORDED, "", order), 4);
  assert_int_equal(order[0], 0);
  assert_int_equal(play_table_order(f->topics, 4, PLAY_SORT_NAME, "", order), 4);
  assert_int_equal(order[3], 0);
  assert_int_equal(play_table_order(f->topics, 4, PLAY_SORT_HZ, "", order), 4);
  assert_int_equal(order[0], 2);
  assert_int_equal(order[1], 3);
  assert_int_equal(order[3], 0);
  assert_int_equal(play_table_order(f->topics, 4, PLAY_SORT_BYTES, "TOPIC_", order), 3);
  assert_int_equal(order[0], 3);
  assert_int_equal(order[2], 1);
  assert_int_equal(play_table_order(f->topics, 4, PLAY_SORT_NAME, "nothing", order), 0);
  fixture_free(f);
}

static void test_bytes_are_short(void **state)
{
  (void)state;
  static const struct {
    double bytes;
    const char *text;
  } rows[] = {{0, "0"},         {999, "999"},     {1000, "1.0k"}, {9949, "9.9k"},
              {123456, "123k"}, {999600, "1.0M"}, {5e12, "5.0T"}, {NAN, "-"}};
  char text[16];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    play_table_bytes(rows[i].bytes, text, sizeof text);
    assert_string_equal(text, rows[i].text);
  }
}

static void test_the_cursor_is_kept_on_the_screen(void **state)
{
  (void)state;
  fixture_t *f = fixture(60);
  f->control.cursor = 30;
  draw(f, 24, 80);
  assert_drawn(f, 5, "topic 16-31 of 60 ↑↓");
  f->control.cursor = 500;
  draw(f, 24, 80);
  assert_int_equal(f->control.cursor, 59);
  assert_drawn(f, 5, "topic 45-60 of 60 ↑ ");
  f->control.scrolled = 0; /* PGUP: it does not jump back */
  draw(f, 24, 80);
  assert_drawn(f, 5, "topic 1-16 of 60 ↓");
  fixture_free(f);
}

static void test_where_the_mouse_is(void **state)
{
  (void)state;
  assert_float_equal(play_picture_part_at(3, 2, 80), 0, 1e-9);
  assert_float_equal(play_picture_part_at(3, 79, 80), 1, 1e-9);
  assert_true(play_picture_part_at(3, 1, 80) < 0);
  assert_true(play_picture_part_at(3, 80, 80) < 0);
  assert_true(play_picture_part_at(2, 10, 80) < 0);
  assert_true(play_picture_part_at(3, 2, 3) < 0);
}

static void test_text_is_cut_by_columns(void **state)
{
  (void)state;
  static const struct {
    int columns;
    bool keeps_end;
    const char *expected;
  } cuts[] = {
      {100, false, WIDE_NAME}, {10, false, "/相机/图…"}, {9, false, "/相机/图…"},
      {8, false, "/相机/…"},   {10, true, "…/图像/尾"},  {9, true, "…/图像/尾"},
      {8, true, "…图像/尾"},   {1, true, "…"},           {0, true, ""},
  };
  char text[256];
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    screen_fit(WIDE_NAME, cuts[i].columns, cuts[i].keeps_end, text, sizeof text);
    assert_string_equal(text, cuts[i].expected);
  }
}

static void test_every_size_has_its_picture(void **state)
{
  (void)state;
  fixture_t *f = fixture(60);
  strcpy(f->names[3], WIDE_NAME);
  f->control.mark_count = 1;
  f->control.marks[0] = START + S;
  for (int help = 0; help < 2; help++)
    for (int rows = 0; rows <= 60; rows++)
      for (int columns = 0; columns < 220; columns += columns < 40 ? 1 : 20) {
        f->control.helps = help;
        play_control_note(&f->control, f->picture.now_ns, "a note that is long enough to be cut");
        draw(f, rows, columns);
      }
  f->control.helps = false;
  draw(f, 10, 40);
  assert_drawn(f, 1, "5.00 s of 10.00 s   50 %");
  assert_drawn(f, 4, "topic 1-3");
  assert_drawn(f, 8, "a note");
  assert_drawn(f, 9, "? help  q quit");
  fixture_free(f);
}

static void test_the_prompt_shows_the_forms(void **state)
{
  (void)state;
  fixture_t *f = fixture(1);
  f->control.typing = true;
  strcpy(f->control.typed, "12x");
  play_control_note(&f->control, f->picture.now_ns, "not a time");
  draw(f, 24, 80);
  assert_drawn(f, 22, ":12x_  not a time");
  assert_drawn(f, 23, "1m3s from the start, +5s");
  fixture_free(f);
}

static void test_help_is_in_the_place_of_topics(void **state)
{
  (void)state;
  fixture_t *f = fixture(3);
  f->control.helps = true;
  draw(f, 24, 80);
  assert_true(find(f, "q             quit") > 0);
  assert_int_equal(find(f, "/topic_0"), -1);
  fixture_free(f);
}

static void test_rates_are_those_of_two_seconds(void **state)
{
  (void)state;
  play_rates_t rates;
  assert_true(play_rates_init(&rates, 2));
  assert_true(isnan(play_rates_achieved(&rates)));
  assert_true(isnan(play_rates_topic(&rates, 1)));
  for (int i = 0; i <= 50; i++) {
    bool fast = i > 40; /* the last second: at rate 3, 20 messages a second */
    uint64_t *sent =
        play_rates_sample(&rates, 7 * S + i * S / 10, i * S / 10 + (fast ? (i - 40) * S / 5 : 0));
    assert_non_null(sent);
    sent[0] = 0;
    sent[1] = (uint64_t)(fast ? 2 * (i - 40) : 0);
    assert_null(play_rates_sample(&rates, 7 * S + i * S / 10 + 1, 0));
  }
  assert_float_equal(play_rates_achieved(&rates), 2, 1e-9);
  assert_float_equal(play_rates_topic(&rates, 0), 0, 1e-9);
  assert_float_equal(play_rates_topic(&rates, 1), 10, 1e-9);
  play_rates_fini(&rates);
}

static void test_warnings_have_rows_of_their_own(void **state)
{
  (void)state;
  static const command_t command = {.name = "play"};
  fixture_t *f = fixture(60);
  char line[SCREEN_LOG_SIZE];
  f->log = (screen_log_t){.command = &command, .open = true};
  pthread_mutex_init(&f->log.mutex, NULL);
  f->log.lines = calloc(SCREEN_LOG_LINES, sizeof *f->log.lines);
  f->log.times_ns = calloc(SCREEN_LOG_LINES, sizeof *f->log.times_ns);
  assert_non_null(f->log.lines);
  assert_non_null(f->log.times_ns);
  for (size_t i = 0; i < 4; i++)
    f->log.times_ns[i] = f->picture.now_ns;
  assert_false(screen_log_line(&f->log, 0, 0, NULL, line, sizeof line));
  snprintf(f->log.lines[0], SCREEN_LOG_SIZE, "warning: one");
  snprintf(f->log.lines[1], SCREEN_LOG_SIZE, "warning: \033[2J two");
  f->log.count = 2;
  draw(f, 24, 80);
  assert_drawn(f, 20, "warning: one");
  assert_drawn(f, 21, "warning: \\x1b[2J two");
  assert_drawn(f, 5, "topic 1-14 of 60");
  snprintf(f->log.lines[2], SCREEN_LOG_SIZE, "warning: player: waiting for /slow");
  snprintf(f->log.lines[3], SCREEN_LOG_SIZE, "warning: four");
  f->log.count = 4;
  strcpy(f->picture.status.waits_for, "/slow");
  draw(f, 24, 80);
  assert_drawn(f, 20, "warning: player: waiting for /slow");
  assert_drawn(f, 21, "warning: four");
  f->picture.status.waits_for[0] = '\0';
  draw(f, 24, 80);
  assert_int_equal(find(f, "waiting for"), -1);
  assert_drawn(f, 19, "warning: one");
  assert_drawn(f, 21, "warning: four");
  f->picture.now_ns += 25 * S; /* it is over */
  f->log.times_ns[3] += 10 * S;
  draw(f, 24, 80);
  assert_drawn(f, 21, "warning: four");
  assert_int_equal(find(f, "warning: one"), -1);
  free(f->log.lines);
  free(f->log.times_ns);
  pthread_mutex_destroy(&f->log.mutex);
  fixture_free(f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_head),
      cmocka_unit_test(test_the_timeline),
      cmocka_unit_test(test_topics_scroll_where_there_is_no_room),
      cmocka_unit_test(test_long_names_keep_their_end),
      cmocka_unit_test(test_long_names_lose_their_middle),
      cmocka_unit_test(test_the_density_of_a_topic),
      cmocka_unit_test(test_time_lines_are_where_there_is_room),
      cmocka_unit_test(test_topics_are_sorted_and_filtered),
      cmocka_unit_test(test_bytes_are_short),
      cmocka_unit_test(test_the_cursor_is_kept_on_the_screen),
      cmocka_unit_test(test_where_the_mouse_is),
      cmocka_unit_test(test_text_is_cut_by_columns),
      cmocka_unit_test(test_every_size_has_its_picture),
      cmocka_unit_test(test_the_prompt_shows_the_forms),
      cmocka_unit_test(test_help_is_in_the_place_of_topics),
      cmocka_unit_test(test_rates_are_those_of_two_seconds),
      cmocka_unit_test(test_warnings_have_rows_of_their_own),
  };
  if (!setlocale(LC_CTYPE, "C.UTF-8")) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
