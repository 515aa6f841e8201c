/* A part that is played again and again; counts, and the time that has been played. */
#include "play/play_fixture.h"

static const tb__fake_message_t five[] = {AT(1000), ON(1, 1010), AT(1020), ON(1, 1030), AT(1050)};

static void repeat(void *user, int64_t from_ms, int64_t to_ms)
{
  fixture_t *f = user;
  assert_ok(tb_player_repeat(f->player, from_ms * MS, to_ms * MS, NULL));
  assert_int_equal(fixture_status(f).repeat_from_ns, from_ms * MS);
  assert_int_equal(fixture_status(f).repeat_to_ns, to_ms * MS);
}

static void act_repeat_1005_1025(void *user)
{
  repeat(user, 1005, 1025);
}

static void act_repeat_1005_1011(void *user)
{
  repeat(user, 1005, 1011);
}

static void act_repeat_1000_1010(void *user)
{
  repeat(user, 1000, 1010);
}

static void act_repeat_1032_1050(void *user)
{
  repeat(user, 1032, 1050);
}

static void act_repeat_1020_1021(void *user)
{
  repeat(user, 1020, 1021);
}

static void act_end_repeat(void *user)
{
  fixture_t *f = user;
  tb_player_end_repeat(f->player);
  assert_int_equal(fixture_status(f).repeat_from_ns, 0);
}

static void act_wrong(void *user)
{
  tb_player_t *player = ((fixture_t *)user)->player;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_repeat(player, 1020 * MS, 1010 * MS, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "between 1.000000000 s and 1.050000000 s"));
  assert_status(tb_player_repeat(player, 999 * MS, 1010 * MS, NULL), TB_ERR_RANGE);
  assert_status(tb_player_repeat(player, 1000 * MS, 1051 * MS, NULL), TB_ERR_RANGE);
}

static void act_seek_1030(void *user)
{
  assert_ok(tb_player_seek(((fixture_t *)user)->player, 1030 * MS, NULL));
}

static void act_seek_1000(void *user)
{
  assert_ok(tb_player_seek(((fixture_t *)user)->player, 1000 * MS, NULL));
}

static void act_fastest(void *user)
{
  assert_ok(tb_player_set_rate(((fixture_t *)user)->player, TB_PLAYER_FASTEST, NULL));
}

static tb_player_status_t play_acts(const tb__manual_act_t *acts, size_t count, bool paused,
                                    const char *expected)
{
  fixture_t f;
  fixture_init(&f, five, COUNT(five));
  fixture_act(&f, acts, count);
  f.options.clock_hz = 1;
  f.options.start_paused = paused;
  assert_plays(&f, expected);
  tb_player_status_t status = fixture_status(&f);
  fixture_fini(&f);
  return status;
}

static void test_at_the_end_time_jumps_back_once_a_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_repeat_1005_1025},
                                          {47 * MS, act_end_repeat}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b @20 c1020 /a @25 L1005 @30 c1010 /b @40 c1020 /a "
                "@45 L1005 @50 c1010 /b @60 c1020 /a @70 c1030 /b @90 c1050 /a flush");
  assert_int_equal(status.repeats, 2);
  assert_int_equal(status.loops, 0);
  assert_int_equal(status.played_ns, 90 * MS);
}

static void test_the_last_moment_is_played(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{5 * MS, act_repeat_1000_1010},
                                          {15 * MS, act_end_repeat}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b L1000 /a @20 c1010 /b @30 c1020 /a @40 c1030 /b "
                "@60 c1050 /a flush");
  assert_int_equal(status.repeats, 1);
}

static void test_the_end_of_the_round_is_an_end_too(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_repeat_1032_1050},
                                          {69 * MS, act_end_repeat}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b @20 c1020 /a @30 c1030 /b @50 c1050 /a L1032 "
                "@68 c1050 /a L1032 @86 c1050 /a flush");
  assert_int_equal(status.repeats, 2);
}

static void test_a_short_one_does_not_spin(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_repeat_1020_1021},
                                          {45 * MS, act_end_repeat}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b @20 c1020 /a @21 L1020 /a @31 L1020 /a @41 L1020 "
                "/a @54 c1030 /b @74 c1050 /a flush");
  assert_int_equal(status.repeats, 3);
}

static void test_after_a_seek_beyond_the_end_it_continues(void **state)
{
  (void)state;
  static const tb__manual_act_t there_and_back[] = {{5 * MS, act_repeat_1000_1010},
                                                    {7 * MS, act_seek_1030},
                                                    {17 * MS, act_seek_1000},
                                                    {28 * MS, act_stop}};
  play_acts(there_and_back, COUNT(there_and_back), false,
            "settle @0 c1000 /a @7 S1030 /b @17 S1000 /a @27 c1010 /b L1000 /a flush");
}

static void test_time_after_the_end_jumps_at_once(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_repeat_1000_1010},
                                          {30 * MS, act_end_repeat}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b @15 L1000 /a @25 c1010 /b L1000 /a @35 c1010 /b "
                "@45 c1020 /a @55 c1030 /b @75 c1050 /a flush");
  assert_int_equal(status.repeats, 2);
}

static void test_steps_go_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {1 * MS, act_repeat_1005_1011}, {1 * MS, act_next},   {2 * MS, act_next}, {13 * MS, act_next},
      {14 * MS, act_end_repeat},      {15 * MS, act_resume}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), true,
                "settle @0 c1000 @1 /a @2 c1010 /b @13 L1005 c1010 /b @25 c1020 /a @35 c1030 /b "
                "@55 c1050 /a flush");
  assert_int_equal(status.repeats, 1);
}

static tb__burst_t burst;

static void begin_burst(void *user, uint64_t count)
{
  assert_ok(tb__player_begin_burst(((fixture_t *)user)->player, count, &burst));
}

static void act_burst_all(void *user)
{
  begin_burst(user, 0);
}

static void act_burst_5(void *user)
{
  begin_burst(user, 5);
}

static void act_burst_has_ended(void *user)
{
  (void)user;
  assert_true(burst.done);
}

static void test_a_burst_of_all_ends_with_each_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{0, act_repeat_1000_1010},      {1 * MS, act_burst_all},
                                          {12 * MS, act_burst_has_ended}, {13 * MS, act_burst_all},
                                          {30 * MS, act_burst_has_ended}, {30 * MS, act_stop}};
  play_acts(acts, COUNT(acts), true, "settle @0 c1000 @1 /a c1010 /b @13 L1000 /a c1010 /b flush");
  assert_int_equal(burst.sent, 2);
}

static void test_a_burst_goes_round_at_the_end_of_the_recording_too(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{0, act_repeat_1032_1050},
                                          {0, act_seek_1030},
                                          {1 * MS, act_burst_5},
                                          {100 * MS, act_burst_has_ended},
                                          {100 * MS, act_stop}};
  play_acts(acts, COUNT(acts), true,
            "settle @0 c1000 S1030 @1 /b c1050 /a L1032 c1050 /a @11 L1032 c1050 /a @21 L1032 "
            "c1050 /a flush");
  assert_int_equal(burst.sent, 5);
}

/* Refused, or with nothing to be sent for it: the burst counts those that went out, and ends where
 * there is none in what is repeated. */
static void test_a_burst_counts_what_was_sent(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{0, act_repeat_1005_1025},
                                          {1 * MS, act_burst_5},
                                          {100 * MS, act_burst_has_ended},
                                          {100 * MS, act_stop}};
  static const tb_status_t faults[] = {TB_ERR_INVALID, TB_ERR_NOT_FOUND};
  static const tb__fake_message_t refused[] = {AT(1000), ON(1, 1010), ON(1, 1020), AT(1050)};
  for (size_t i = 0; i < 4; i++) {
    bool is_empty = i >= 2;
    fixture_t f;
    fixture_init(&f, is_empty ? refused : five, is_empty ? COUNT(refused) : COUNT(five));
    fixture_act(&f, acts, COUNT(acts));
    f.options.start_paused = true;
    f.fake.fault_topic = "/b";
    f.fake.fault = faults[i % 2];
    assert_plays(&f, is_empty ? "settle @1 /a flush" : "settle @1 /a /a /a @11 /a @21 /a flush");
    assert_int_equal(burst.sent, is_empty ? 1 : 5);
    assert_int_equal(fixture_status(&f).messages, burst.sent);
    assert_int_equal(fixture_status(&f).bad_rows > 0, i % 2 == 0);
    fixture_fini(&f);
  }
}

static void test_the_fastest_rate_goes_round_every_10_ms(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {5 * MS, act_repeat_1000_1010}, {5 * MS, act_fastest}, {20 * MS, act_stop}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @5 c1010 /b L1000 /a c1010 /b @15 L1000 /a c1010 /b flush");
  assert_int_equal(status.repeats, 2);
}

static void test_wrong_ranges_change_nothing(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_wrong}};
  tb_player_status_t status =
      play_acts(acts, COUNT(acts), false,
                "settle @0 c1000 /a @10 c1010 /b @20 c1020 /a @30 c1030 /b @50 c1050 /a flush");
  assert_int_equal(status.repeat_from_ns, 0);
}

static void test_it_ends_with_the_playing(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, five, COUNT(five));
  fixture_create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_status(tb_player_repeat(f.player, 1000 * MS, 1010 * MS, NULL), TB_ERR_END);
  tb_player_end_repeat(f.player);
  fixture_fini(&f);
}

static void test_counts_by_topic_and_the_time_that_passed(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{25 * MS, act_seek_1000}};
  static const struct {
    const char *name;
    bool plays;
    uint64_t messages;
  } expected[] = {{"/a", true, 5}, {"/b", true, 3}, {"/clock", false, 0}};
  fixture_t f;
  fixture_init(&f, five, COUNT(five));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /b @20 c1020 /a @25 S1000 /a @35 c1010 /b "
                   "@45 c1020 /a @55 c1030 /b @75 c1050 /a flush");
  tb_player_topic_status_t topic;
  for (size_t i = 0; i < COUNT(expected); i++) {
    assert_ok(tb_player_topic_status(f.player, i, &topic));
    assert_string_equal(topic.name, expected[i].name);
    assert_int_equal(topic.plays, expected[i].plays);
    assert_int_equal(topic.messages, expected[i].messages);
  }
  assert_status(tb_player_topic_status(f.player, COUNT(expected), &topic), TB_ERR_NOT_FOUND);
  assert_int_equal(fixture_status(&f).played_ns, 75 * MS);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_at_the_end_time_jumps_back_once_a_round),
      cmocka_unit_test(test_the_last_moment_is_played),
      cmocka_unit_test(test_the_end_of_the_round_is_an_end_too),
      cmocka_unit_test(test_a_short_one_does_not_spin),
      cmocka_unit_test(test_after_a_seek_beyond_the_end_it_continues),
      cmocka_unit_test(test_time_after_the_end_jumps_at_once),
      cmocka_unit_test(test_steps_go_round),
      cmocka_unit_test(test_a_burst_of_all_ends_with_each_round),
      cmocka_unit_test(test_a_burst_goes_round_at_the_end_of_the_recording_too),
      cmocka_unit_test(test_a_burst_counts_what_was_sent),
      cmocka_unit_test(test_the_fastest_rate_goes_round_every_10_ms),
      cmocka_unit_test(test_wrong_ranges_change_nothing),
      cmocka_unit_test(test_it_ends_with_the_playing),
      cmocka_unit_test(test_counts_by_topic_and_the_time_that_passed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
