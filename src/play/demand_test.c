/* Halts, and playing on demand. */
#include "play/play_fixture.h"

static const tb__fake_message_t four[] = {AT(1000), AT(1010), AT(1040), ON(1, 1070)};

static fixture_t *fixture_of(void *user)
{
  return user;
}

static void act_halt(void *user)
{
  tb_player_halt(fixture_of(user)->player);
  assert_true(fixture_status(user).halted);
}

static void play(void *user, int64_t offset_ms, int64_t duration_ms, int64_t until_ms)
{
  tb_player_range_t range = {{offset_ms * MS}, {duration_ms * MS}, until_ms * MS};
  assert_ok(tb_player_play(fixture_of(user)->player, &range, NULL));
}

static void act_play_all(void *user)
{
  assert_ok(tb_player_play(fixture_of(user)->player, NULL, NULL));
}

static void act_play_middle(void *user)
{
  play(user, 5, 35, -1);
}

static void act_play_until(void *user)
{
  play(user, 0, -1, 1010);
}

static void act_refused(void *user)
{
  static const tb_player_range_t bad[] = {{{-1}, {-1}, -1},
                                          {{71 * MS}, {-1}, -1},
                                          {{INT64_MAX}, {-1}, -1},
                                          {{20 * MS}, {-1}, 1010 * MS}};
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_status(tb_player_play(fixture_of(user)->player, &bad[i], NULL), TB_ERR_RANGE);
  assert_true(fixture_status(user).halted);
  assert_status(tb_player_seek(fixture_of(user)->player, 1010 * MS, NULL), TB_ERR_END);
}

static void act_busy(void *user)
{
  assert_status(tb_player_play(fixture_of(user)->player, NULL, NULL), TB_ERR_BUSY);
}

static void act_play_and_step(void *user)
{
  tb_player_t *player = fixture_of(user)->player;
  tb_player_pause(player);
  assert_status(tb_player_play_next(player), TB_ERR_END);
  assert_ok(tb_player_play(player, NULL, NULL));
  assert_ok(tb_player_play_next(player)); /* of what will be played */
  assert_ok(tb_player_play_next(player));
}

static void act_play_and_seek(void *user)
{
  act_play_all(user);
  assert_false(fixture_status(user).halted);
  assert_ok(tb_player_seek(fixture_of(user)->player, 1030 * MS, NULL)); /* before it has begun */
  assert_int_equal(fixture_status(user).position_ns, 1030 * MS);
}

static void assert_demand(bool on_demand, const tb__manual_act_t *acts, size_t count,
                          const char *expected)
{
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, count);
  f.options.clock_hz = 10;
  f.options.on_demand = on_demand;
  assert_plays(&f, expected);
  assert_status(tb_player_play(f.player, NULL, NULL), TB_ERR_END);
  fixture_fini(&f);
}

#define ASSERT_DEMAND(on_demand, expected, ...)                                                    \
  do {                                                                                             \
    static const tb__manual_act_t acts[] = {__VA_ARGS__};                                          \
    assert_demand(on_demand, acts, COUNT(acts), expected);                                         \
  } while (0)

static void test_a_halt_lasts_until_it_plays_again(void **state)
{
  (void)state;
  ASSERT_DEMAND(false,
                "settle @0 c1000 /a @10 c1010 /a @100 c1015 @200 c1015 @205 S1005 @210 c1010 /a "
                "@240 c1040 /a flush",
                {5 * MS, act_busy}, {15 * MS, act_halt}, {30 * MS, act_halt},
                {120 * MS, act_refused}, {205 * MS, act_play_middle});
  ASSERT_DEMAND(false, "settle @0 c1000 /a @10 c1010 /a flush", {15 * MS, act_halt},
                {20 * MS, act_stop});
}

static void test_on_demand_the_end_is_a_halt(void **state)
{
  (void)state;
  ASSERT_DEMAND(true,
                "settle @0 c1000 @50 S1000 /a @60 c1010 /a @150 c1010 @160 S1000 /a @170 c1010 /a "
                "@200 c1040 /a @230 c1070 /b flush",
                {50 * MS, act_play_until}, {55 * MS, act_busy}, {160 * MS, act_play_all},
                {240 * MS, act_stop});
}

static void test_steps_are_taken_once_it_plays(void **state)
{
  (void)state;
  ASSERT_DEMAND(true, "settle @0 c1000 @50 S1000 /a c1010 /a flush", {50 * MS, act_play_and_step},
                {60 * MS, act_stop});
}

static void test_a_seek_right_after_playing_was_requested(void **state)
{
  (void)state;
  ASSERT_DEMAND(true, "settle @0 c1000 @50 S1000 S1030 @60 c1040 /a @90 c1070 /b flush",
                {50 * MS, act_play_and_seek}, {100 * MS, act_stop});
}

static void act_play_again(void *user)
{
  assert_true(fixture_status(user).halted);
  assert_false(fixture_status(user).finished);
  act_play_all(user);
}

/* The publishers stay until it is stopped. */
static void test_kept_alive_the_end_is_a_halt(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{150 * MS, act_play_again}, {300 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 10;
  f.options.keep_alive = true;
  assert_plays(&f,
               "settle @0 c1000 /a @10 c1010 /a @40 c1040 /a @70 c1070 /b @100 c1070 @150 S1000 /a "
               "@160 c1010 /a @190 c1040 /a @220 c1070 /b @250 c1070 flush");
  fixture_fini(&f);
}

static void act_no_steps(void *user)
{
  tb_player_t *player = fixture_of(user)->player;
  tb_player_pause(player);
  assert_status(tb_player_play_next(player), TB_ERR_END);
}

static void halt_on_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                            size_t size)
{
  (void)steady_ns, (void)topic, (void)data, (void)size;
  act_halt(user);
}

/* What was read after the message that is being sent is not played. */
static void test_a_halt_while_a_message_is_sent_leaves_no_steps(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{5 * MS, act_no_steps}, {20 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.fake.on_message = halt_on_message;
  f.fake.user = &f;
  assert_plays(&f, "settle @0 /a flush");
  fixture_fini(&f);
}

static void stop_on_tick(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason)
{
  (void)steady_ns, (void)time_ns, (void)reason;
  act_no_steps(user);
  act_stop(user);
}

/* On the system's steady clock: threads cannot share the manual one. */
static void test_what_is_read_ahead_before_it_plays_leaves_no_steps(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.clock_hz = 10;
  f.options.on_demand = true;
  f.options.read_ahead_messages = 10;
  f.fake.on_tick = stop_on_tick;
  f.fake.user = &f;
  assert_ok(tb_player_create(f.reader, &f.transport, &f.options, &f.player, NULL));
  assert_ok(tb_player_run(f.player, NULL, NULL));
  fixture_fini(&f);
}

static void act_play_end(void *user)
{
  play(user, 65, -1, -1);
}

static void test_what_passes_while_halted_is_not_played(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{20 * MS, act_halt}, {80 * MS, act_play_end}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  assert_plays(&f, "settle @0 /a @10 /a @85 /b flush");
  assert_int_equal(fixture_status(&f).played_ns, 25 * MS);
  fixture_fini(&f);
}

static void test_what_passes_before_the_start_is_not_played(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.start_offset.ns = 15 * MS;
  fixture_create(&f);
  f.pacer.steady_ns += 100 * MS;
  assert_ok(tb_player_set_rate(f.player, 1, NULL));
  f.pacer.steady_ns += 100 * MS;
  assert_plays(&f, "settle @225 /a @255 /b flush");
  assert_int_equal(fixture_status(&f).played_ns, 55 * MS);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_halt_lasts_until_it_plays_again),
      cmocka_unit_test(test_on_demand_the_end_is_a_halt),
      cmocka_unit_test(test_kept_alive_the_end_is_a_halt),
      cmocka_unit_test(test_steps_are_taken_once_it_plays),
      cmocka_unit_test(test_a_seek_right_after_playing_was_requested),
      cmocka_unit_test(test_a_halt_while_a_message_is_sent_leaves_no_steps),
      cmocka_unit_test(test_what_is_read_ahead_before_it_plays_leaves_no_steps),
      cmocka_unit_test(test_what_passes_while_halted_is_not_played),
      cmocka_unit_test(test_what_passes_before_the_start_is_not_played),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
