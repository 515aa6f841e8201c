/* Rates, ends, delays, and as fast as possible. */
#include "play/play_fixture.h"

static const tb__fake_message_t four[] = {AT(1000), AT(1010), AT(1040), ON(1, 1070)};

static void act_fastest(void *user)
{
  assert_ok(tb_player_set_rate(((fixture_t *)user)->player, TB_PLAYER_FASTEST, NULL));
}

static void act_double(void *user)
{
  assert_ok(tb_player_scale_rate(((fixture_t *)user)->player, 2));
}

static void test_a_new_rate_counts_from_now(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{20 * MS, act_double}, {25 * MS, act_double}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /a @27.500000 c1040 /a @35 c1070 /b flush");
  assert_true(fixture_status(&f).rate == 4);
  fixture_fini(&f);
}

static void test_rates_stay_within_their_bounds(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.rate_min = 0.25;
  f.options.rate_max = 8;
  fixture_create(&f);
  for (int i = 0; i < 5000; i++)
    assert_ok(tb_player_scale_rate(f.player, 0.5));
  assert_true(fixture_status(&f).rate == 0.25);
  for (int i = 0; i < 5000; i++)
    assert_ok(tb_player_scale_rate(f.player, 1.1));
  assert_true(fixture_status(&f).rate == 8);
  assert_ok(tb_player_set_rate(f.player, 1, NULL));
  for (int i = 0; i < 10; i++)
    assert_ok(tb_player_scale_rate(f.player, 1.1));
  for (int i = 0; i < 10; i++)
    assert_ok(tb_player_scale_rate(f.player, 1 / 1.1));
  assert_true(fixture_status(&f).rate == 1);
  static const double bad[] = {0, -1, 0.2, 8.1, -HUGE_VAL, NAN};
  for (size_t i = 0; i < COUNT(bad); i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_player_set_rate(f.player, bad[i], &error), TB_ERR_RANGE);
    assert_non_null(strstr(error.text, "must be 0.25 to 8"));
  }
  assert_status(tb_player_scale_rate(f.player, 0), TB_ERR_RANGE);
  assert_status(tb_player_scale_rate(f.player, NAN), TB_ERR_RANGE);
  assert_status(tb_player_scale_rate(f.player, HUGE_VAL), TB_ERR_RANGE);
  assert_true(fixture_status(&f).rate == 1);
  assert_ok(tb_player_set_rate(f.player, TB_PLAYER_FASTEST, NULL));
  assert_ok(tb_player_scale_rate(f.player, 0.5));
  assert_true(fixture_status(&f).rate == TB_PLAYER_FASTEST);
  fixture_fini(&f);
}

static void test_as_fast_as_possible_waits_for_nothing(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.clock_hz = 1;
  f.options.rate = TB_PLAYER_FASTEST;
  assert_plays(&f, "settle @0 c1000 /a c1010 /a c1040 /a c1070 /b flush");
  assert_int_equal(fixture_status(&f).late, 0);
  fixture_fini(&f);
}

static void test_fast_and_back_again(void **state)
{
  (void)state;
  static const tb__fake_message_t many[] = {AT(1000), AT(2000), AT(9000), AT(9010)};
  static const tb__manual_act_t acts[] = {
      {100 * MS, act_pause}, {200 * MS, act_fastest}, {300 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, many, COUNT(many));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 0.001;
  assert_plays(&f, "settle @0 c1000 /a @300 c2000 /a c9000 /a c9010 /a flush");
  fixture_fini(&f);
}

/* As fast as possible: time is that of the last message; then it runs on from there. */
static void test_a_rate_after_as_fast_as_possible(void **state)
{
  (void)state;
  fixture_t f;
  static const tb__manual_act_t acts[] = {{5 * MS, act_resume}};
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.rate = TB_PLAYER_FASTEST;
  f.options.start_paused = true;
  fixture_create(&f);
  assert_int_equal(fixture_status(&f).position_ns, 1000 * MS);
  assert_ok(tb_player_set_rate(f.player, 2, NULL));
  assert_plays(&f, "settle @0 c1000 @5 /a @10 c1010 /a @25 c1040 /a @40 c1070 /b flush");
  fixture_fini(&f);
}

static void assert_ends(int64_t offset_ms, int64_t duration_ms, int64_t until_ms,
                        const char *expected)
{
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.start_offset.ns = offset_ms * MS;
  f.options.playback_duration.ns = duration_ms * MS;
  f.options.playback_until_ns = until_ms * MS;
  assert_plays(&f, expected);
  fixture_fini(&f);
}

static void test_ends_are_inclusive_and_the_later_one_counts(void **state)
{
  (void)state;
  assert_ends(0, 40, -1, "settle @0 /a @10 /a @40 /a flush");
  assert_ends(0, 39, -1, "settle @0 /a @10 /a flush");
  assert_ends(0, 1, -1, "settle @0 /a flush");
  assert_ends(0, -1, 1000, "settle @0 /a flush");
  assert_ends(10, 30, -1, "settle @0 /a @30 /a flush");
  assert_ends(0, -1, 1010, "settle @0 /a @10 /a flush");
  assert_ends(0, 0, 1010, "settle @0 /a @10 /a flush");
  assert_ends(0, 40, 1010, "settle @0 /a @10 /a @40 /a flush");
  assert_ends(0, INT64_MAX / MS, -1, "settle @0 /a @10 /a @40 /a @70 /b flush");
}

static void assert_range(fixture_t *f, const char *text)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_player_t *player = NULL;
  assert_status(tb_player_create(f->reader, &f->transport, &f->options, &player, &error),
                TB_ERR_RANGE);
  if (!strstr(error.text, text)) fail_msg("'%s' does not say '%s'", error.text, text);
}

static void test_bad_ranges_are_refused(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.playback_until_ns = 999 * MS;
  assert_range(&f, "playback ends at 0.999000000 s, before it starts at 1.000000000 s");
  f.options.playback_until_ns = -1;
  f.options.delay.ns = -1;
  assert_range(&f, "delay");
  f.options.delay.ns = 0;
  f.options.rate_min = 0;
  assert_range(&f, "bounds of the rate");
  f.options.rate_min = 2;
  assert_range(&f, "rate 1: must be 2 to 1000");
  f.options.rate_max = 1;
  assert_range(&f, "bounds of the rate");
  fixture_fini(&f);
}

static void test_an_end_limits_seeks(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.playback_until_ns = 1030 * MS;
  fixture_create(&f);
  assert_int_equal(fixture_status(&f).end_ns, 1030 * MS);
  assert_status(tb_player_seek(f.player, 1031 * MS, NULL), TB_ERR_RANGE);
  assert_ok(tb_player_seek(f.player, 1010 * MS, NULL));
  assert_plays(&f, "settle @0 /a flush");
  fixture_fini(&f);
}

static void test_the_clock_is_stopped_during_a_delay(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{300 * MS, act_pause}, {301 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 10;
  f.options.delay.ns = 250 * MS;
  assert_plays(&f, "settle @0 c1000 @100 c1000 @200 c1000 @250 /a @260 c1010 /a @290 c1040 /a @300 "
                   "c1050 @321 c1070 /b flush");
  fixture_fini(&f);
  fixture_init(&f, four, COUNT(four));
  f.options.delay.ns = 250 * MS;
  f.options.rate = TB_PLAYER_FASTEST;
  assert_plays(&f, "settle @250 /a /a /a /b flush");
  fixture_fini(&f);
}

static void test_a_delay_beyond_the_end_of_time_does_not_end(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{150 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 10;
  f.options.delay.ns = INT64_MAX;
  assert_plays(&f, "settle @0 c1000 @100 c1000 flush");
  fixture_fini(&f);
}

static void test_ticks_before_the_messages_of_some_topics(void **state)
{
  (void)state;
  static const char *const names[] = {"b"};
  static const tb__fake_message_t messages[] = {AT(1000), ON(1, 1010), ON(1, 1010), ON(2, 1020),
                                                AT(1040)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.clock_topics = names;
  f.options.clock_topic_count = 1;
  assert_plays(&f, "settle @0 /a @10 c1010 /b /b @40 /a flush");
  fixture_fini(&f);
  fixture_init(&f, messages, COUNT(messages));
  f.options.clock_topics_all = true;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /b /b @40 c1040 /a flush");
  fixture_fini(&f);
}

static void test_a_clock_needs_topics_that_are_played(void **state)
{
  (void)state;
  static const char *const names[] = {"/clock"};
  fixture_t f;
  tb_error_t error = TB_ERROR_INIT;
  fixture_init(&f, four, COUNT(four));
  f.options.clock_topics = names;
  f.options.clock_topic_count = 1;
  assert_status(tb_player_create(f.reader, &f.transport, &f.options, &f.player, &error),
                TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, "topic /clock, for the clock, is not played"));
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_new_rate_counts_from_now),
      cmocka_unit_test(test_rates_stay_within_their_bounds),
      cmocka_unit_test(test_as_fast_as_possible_waits_for_nothing),
      cmocka_unit_test(test_fast_and_back_again),
      cmocka_unit_test(test_a_rate_after_as_fast_as_possible),
      cmocka_unit_test(test_ends_are_inclusive_and_the_later_one_counts),
      cmocka_unit_test(test_bad_ranges_are_refused),
      cmocka_unit_test(test_an_end_limits_seeks),
      cmocka_unit_test(test_the_clock_is_stopped_during_a_delay),
      cmocka_unit_test(test_a_delay_beyond_the_end_of_time_does_not_end),
      cmocka_unit_test(test_ticks_before_the_messages_of_some_topics),
      cmocka_unit_test(test_a_clock_needs_topics_that_are_played),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
