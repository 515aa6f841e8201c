/* What keys request, and times that are typed. */
#include "play_control.h"

#include <string.h>

#include "keys.h"
#include "play_time.h"
#include "test.h"

#define S     TB_NS_PER_S
#define START (1000 * S)

typedef struct fixture {
  play_control_t control;
  tb_player_status_t status; /* 110 s of a recording that begins at START */
  int64_t now_ns;
} fixture_t;

static fixture_t fixture(void)
{
  fixture_t f = {.status = {.recording_start_ns = START,
                            .start_ns = START,
                            .end_ns = START + 110 * S,
                            .position_ns = START + 50 * S,
                            .paused = true},
                 .now_ns = 5 * S};
  play_control_init(&f.control, START);
  return f;
}

static play_order_t press(fixture_t *f, int key)
{
  play_order_t order = play_control_take(&f->control, key, &f->status, f->now_ns);
  if (order.kind == PLAY_SEEK) f->status.position_ns = order.time_ns;
  if (order.kind == PLAY_REPEAT) {
    f->status.repeat_from_ns = order.time_ns;
    f->status.repeat_to_ns = order.to_ns;
  }
  if (order.kind == PLAY_END_REPEAT) f->status.repeat_from_ns = f->status.repeat_to_ns = 0;
  for (size_t i = 1; i < f->control.mark_count; i++)
    assert_true(f->control.marks[i - 1] < f->control.marks[i]);
  return order;
}

static play_order_t type(fixture_t *f, const char *text)
{
  play_order_t order = {.kind = PLAY_NOTHING};
  for (; *text; text++)
    order = press(f, *text);
  return order;
}

static void assert_seek(play_order_t order, int64_t seconds)
{
  assert_int_equal(order.kind, PLAY_SEEK);
  assert_int_equal(order.time_ns, START + seconds * S);
}

static void assert_noted(const fixture_t *f, const char *text)
{
  const char *note = play_control_noted(&f->control, f->now_ns);
  if (!strstr(note, text)) fail_msg("'%s' does not say '%s'", note, text);
}

static void test_plain_orders(void **state)
{
  (void)state;
  static const struct {
    int key;
    play_order_kind_t kind;
    double factor;
  } expected[] = {
      {' ', PLAY_TOGGLE_PAUSED, 0},
      {'.', PLAY_NEXT, 0},
      {',', PLAY_PREVIOUS, 0},
      {']', PLAY_SCALE_RATE, 1.1},
      {KEY_UP, PLAY_SCALE_RATE, 1.1},
      {'[', PLAY_SCALE_RATE, 1 / 1.1},
      {KEY_DOWN, PLAY_SCALE_RATE, 1 / 1.1},
      {'}', PLAY_SCALE_RATE, 2},
      {'{', PLAY_SCALE_RATE, 0.5},
      {KEY_BACKSPACE, PLAY_NORMAL_RATE, 0},
      {'q', PLAY_QUIT, 0},
      {'x', PLAY_MUTE, 0},
      {'X', PLAY_UNMUTE, 0},
      {'y', PLAY_NOTHING, 0},
  };
  fixture_t f = fixture();
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    play_order_t order = press(&f, expected[i].key);
    assert_int_equal(order.kind, expected[i].kind);
    assert_true(order.factor == expected[i].factor);
  }
}

static void test_arrows_stay_in_the_recording(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_seek(press(&f, KEY_RIGHT), 55);
  assert_seek(press(&f, KEY_LEFT | KEY_SHIFT), 54);
  assert_seek(press(&f, KEY_LEFT | KEY_ALT), 0);
  assert_seek(press(&f, KEY_RIGHT | KEY_ALT), 60);
  assert_seek(press(&f, KEY_RIGHT | KEY_ALT), 110);
}

static void test_arrows_and_the_mouse_stay_in_time(void **state)
{
  (void)state;
  fixture_t f = fixture();
  f.status.end_ns = f.status.position_ns = INT64_MAX;
  assert_int_equal(press(&f, KEY_RIGHT | KEY_ALT).time_ns, INT64_MAX);
  assert_int_equal(press(&f, KEY_LEFT).time_ns, INT64_MAX - 5 * S);
  assert_int_equal(play_control_seek_part(&f.control, 1, false, &f.status).time_ns, INT64_MAX);
  f.status.recording_start_ns = f.status.start_ns = f.status.position_ns = 0;
  play_control_init(&f.control, 0);
  assert_int_equal(play_control_seek_part(&f.control, 1, false, &f.status).time_ns, INT64_MAX);
  assert_int_equal(press(&f, KEY_LEFT).time_ns, 0);
}

static void test_digits_are_tenths_of_what_is_played(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_seek(press(&f, '0'), 0);
  assert_seek(press(&f, '1'), 11);
  f.status.start_ns = START + 20 * S;
  assert_seek(press(&f, '0'), 20);
  assert_seek(press(&f, '1'), 29);
  assert_seek(press(&f, '9'), 101);
}

static void test_undo_and_redo(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_int_equal(press(&f, 'u').kind, PLAY_NOTHING);
  assert_noted(&f, "no seek to undo");
  press(&f, '3');
  f.status.position_ns += 2 * S;
  assert_seek(press(&f, 'u'), 50);
  assert_seek(press(&f, 'u'), 35);
  assert_seek(press(&f, 'u'), 50);
}

static void test_arrows_in_a_row_are_undone_together(void **state)
{
  (void)state;
  fixture_t f = fixture();
  press(&f, KEY_RIGHT);
  f.now_ns += S - 1;
  press(&f, KEY_RIGHT);
  assert_seek(press(&f, 'u'), 50);
  press(&f, KEY_RIGHT);
  f.now_ns += S;
  press(&f, KEY_RIGHT);
  assert_seek(press(&f, 'u'), 55);
  f.now_ns += 2 * S;
  press(&f, KEY_RIGHT);
  press(&f, ' '); /* something else in between */
  press(&f, KEY_RIGHT);
  assert_seek(press(&f, 'u'), 60);
}

static void test_a_and_b_in_any_order(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_int_equal(press(&f, 'l').kind, PLAY_NOTHING);
  assert_int_equal(f.control.repeat_from_ns, START + 50 * S);
  assert_int_equal(press(&f, 'l').kind, PLAY_NOTHING);
  assert_noted(&f, "must differ from A");
  press(&f, KEY_LEFT);
  play_order_t order = press(&f, 'l');
  assert_int_equal(order.kind, PLAY_REPEAT);
  assert_int_equal(order.time_ns, START + 45 * S);
  assert_int_equal(order.to_ns, START + 50 * S);
  assert_int_equal(f.control.repeat_from_ns, 0);
  assert_int_equal(press(&f, 'l').kind, PLAY_END_REPEAT);
  assert_int_equal(press(&f, 'l').kind, PLAY_NOTHING);
  assert_noted(&f, "A at 45.00 s");
}

static void test_marks(void **state)
{
  (void)state;
  fixture_t f = fixture();
  press(&f, '\'');
  assert_noted(&f, "no earlier mark");
  press(&f, '"');
  assert_noted(&f, "no later mark");
  press(&f, 'm');
  press(&f, KEY_LEFT);
  press(&f, 'm');
  press(&f, KEY_RIGHT | KEY_ALT);
  press(&f, 'm');
  assert_noted(&f, "mark 3 at 105.00 s");
  assert_int_equal(f.control.mark_count, 3);
  assert_int_equal(f.control.marks[0], START + 45 * S);
  assert_int_equal(f.control.marks[2], START + 105 * S);
  assert_seek(press(&f, '\''), 50);
  assert_seek(press(&f, '\''), 45);
  assert_seek(press(&f, '"'), 50);
  press(&f, 'm');
  assert_noted(&f, "mark at 50.00 s removed");
  assert_int_equal(f.control.mark_count, 2);
  assert_seek(press(&f, '"'), 105);
}

static void test_the_mark_just_passed_is_not_the_one_before(void **state)
{
  (void)state;
  fixture_t f = fixture();
  press(&f, 'm');
  press(&f, '5');
  press(&f, 'm');
  f.status.position_ns += S / 2;
  f.status.paused = false;
  assert_seek(press(&f, '\''), 50);
}

static void test_there_is_an_end_of_marks(void **state)
{
  (void)state;
  fixture_t f = fixture();
  for (int i = 0; i <= PLAY_MARKS_MAX; i++) {
    f.status.position_ns = START + 20 * S + i;
    press(&f, 'm');
  }
  assert_int_equal(f.control.mark_count, PLAY_MARKS_MAX);
  assert_noted(&f, "100 marks already");
}

static void test_typing(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_int_equal(type(&f, ":1qx").kind, PLAY_NOTHING); /* q is a letter now */
  press(&f, KEY_BACKSPACE);
  press(&f, KEY_BACKSPACE);
  assert_string_equal(f.control.typed, "1");
  assert_seek(type(&f, "2s\r"), 12);
  f.status.position_ns = START + 50 * S;
  assert_seek(type(&f, ":+5\n"), 55);
  assert_int_equal(type(&f, ":5m\r").kind, PLAY_NOTHING);
  assert_noted(&f, "goes from 0.00 s to 110.00 s");
  assert_true(f.control.typing);
  press(&f, KEY_ESCAPE);
  assert_false(f.control.typing);
  assert_seek(type(&f, ":5x\02512s\r"), 12);
  assert_int_equal(type(&f, ":zz\r").kind, PLAY_NOTHING);
  assert_noted(&f, "not a time");
  press(&f, KEY_BACKSPACE);
  press(&f, KEY_BACKSPACE);
  assert_true(f.control.typing);
  press(&f, KEY_BACKSPACE);
  assert_false(f.control.typing);
  type(&f, ":11111111111111111111111111111111111111111111111111111111111111111111");
  assert_int_equal(strlen(f.control.typed), sizeof f.control.typed - 1);
  press(&f, KEY_RIGHT); /* has no letter */
  assert_int_equal(press(&f, '\r').kind, PLAY_NOTHING);
}

static void test_the_filter_is_typed(void **state)
{
  (void)state;
  fixture_t f = fixture();
  type(&f, "/cam");
  assert_string_equal(f.control.filter, "cam"); /* while it is typed */
  assert_int_equal(press(&f, '\r').kind, PLAY_NOTHING);
  assert_false(f.control.typing);
  assert_string_equal(f.control.filter, "cam");
  type(&f, "/e");
  assert_string_equal(f.control.filter, "came");
  press(&f, KEY_ESCAPE);
  assert_string_equal(f.control.filter, "");
  assert_false(f.control.typing);
  assert_seek(type(&f, ":12s\r"), 12); /* a time is no filter */
  assert_string_equal(f.control.filter, "");
}

static void test_the_table_of_topics(void **state)
{
  (void)state;
  fixture_t f = fixture();
  assert_int_equal(f.control.cursor, -1);
  type(&f, "jj");
  assert_int_equal(f.control.cursor, 1);
  type(&f, "kkk");
  assert_int_equal(f.control.cursor, 0);
  for (int i = 1; i <= PLAY_SORTS; i++) {
    press(&f, 's');
    assert_int_equal(f.control.sort, i % PLAY_SORTS);
  }
  assert_noted(&f, "topics as recorded");
}

static void test_notes_fade(void **state)
{
  (void)state;
  fixture_t f = fixture();
  press(&f, 'u');
  assert_noted(&f, "no seek");
  f.now_ns += 6 * S;
  assert_string_equal(play_control_noted(&f.control, f.now_ns), "");
}

static void test_help_and_scrolling(void **state)
{
  (void)state;
  fixture_t f = fixture();
  press(&f, KEY_PAGE_DOWN);
  press(&f, KEY_PAGE_DOWN);
  assert_int_equal(f.control.scrolled, 10);
  press(&f, KEY_PAGE_UP);
  assert_int_equal(f.control.scrolled, 5);
  press(&f, '?');
  assert_true(f.control.helps);
  assert_int_equal(f.control.scrolled, 0);
  press(&f, KEY_PAGE_UP);
  assert_int_equal(f.control.scrolled, 0);
  press(&f, '?');
  assert_false(f.control.helps);
}

static void test_forms_of_times(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t expected_ns; /* 0: none */
  } times[] = {
      {"0", 1700000000 * S},
      {"12.5s", 1700000000 * S + 12500 * TB_NS_PER_MS},
      {"12.5", 1700000000 * S + 12500 * TB_NS_PER_MS},
      {"1m3s", 1700000063 * S},
      {"+5s", 1700000105 * S},
      {"-1m", 1700000040 * S},
      {"1700000000.5", 1700000000 * S + S / 2},
      {"2023-11-14T22:13:30Z", 1700000010 * S},
      {"2023-11-14T22:13:30.25Z", 1700000010 * S + S / 4},
      {"", 0},
      {"+", 0},
      {"--5s", 0},
      {"+-5s", 0},
      {"5x", 0},
      {"2023-11-14", 0},
      {"-2m", 0},
      {"201s", 0},
      {"1", 1700000001 * S},
      {"99999999999999999999", 0},
      {"1600000000", 0},
  };
  const play_span_t span = {1700000000 * S, 1700000000 * S, 1700000200 * S, 1700000100 * S};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    int64_t time_ns = 0;
    char reason[PLAY_NOTE_SIZE] = "";
    bool valid = play_time_parse(times[i].text, &span, &time_ns, reason, sizeof reason);
    if (valid != (times[i].expected_ns != 0) || time_ns != times[i].expected_ns)
      fail_msg("'%s': %lld", times[i].text, (long long)time_ns);
    assert_int_equal(!valid, *reason != '\0');
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_orders),
      cmocka_unit_test(test_arrows_stay_in_the_recording),
      cmocka_unit_test(test_arrows_and_the_mouse_stay_in_time),
      cmocka_unit_test(test_digits_are_tenths_of_what_is_played),
      cmocka_unit_test(test_undo_and_redo),
      cmocka_unit_test(test_arrows_in_a_row_are_undone_together),
      cmocka_unit_test(test_a_and_b_in_any_order),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_the_mark_just_passed_is_not_the_one_before),
      cmocka_unit_test(test_there_is_an_end_of_marks),
      cmocka_unit_test(test_typing),
      cmocka_unit_test(test_the_filter_is_typed),
      cmocka_unit_test(test_the_table_of_topics),
      cmocka_unit_test(test_notes_fade),
      cmocka_unit_test(test_help_and_scrolling),
      cmocka_unit_test(test_forms_of_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
