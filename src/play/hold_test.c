/* Players that their transport holds up: by a limit on time, to the nanosecond. */
#include "play/play_fixture.h"

static const tb__fake_message_t three[] = {AT(1000), ON(1, 1010), AT(1040)};

static void set_limit(fixture_t *f, int64_t limit_ns)
{
  uint32_t events = tb__pacer_events(&f->pacer.base);
  tb__fake_transport_limit(&f->fake, limit_ns);
  assert_int_not_equal(tb__pacer_events(&f->pacer.base), events);
}

static void act_free(void *user)
{
  set_limit(user, TB_PLAY_NO_LIMIT);
}

static void act_raise(void *user)
{
  fixture_t *f = user;
  set_limit(f, f->fake.limit_ns + MS);
}

static void act_seek(void *user)
{
  assert_ok(tb_player_seek(((fixture_t *)user)->player, 1039 * MS, NULL));
}

static void assert_held(const tb__manual_act_t *acts, size_t count, int64_t limit_ns,
                        const char *expected)
{
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, count);
  f.fake.limit_ns = limit_ns;
  assert_plays(&f, expected);
  fixture_fini(&f);
}

static void test_time_stops_at_the_limit_and_catches_nothing_up(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{90 * MS, act_free}};
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  f.fake.limit_ns = 1020 * MS + 1;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /b @25 c1020.000001 @50 c1020.000001 "
                   "@75 c1020.000001 @100 c1030.000001 @109.999999 c1040 /a flush");
  assert_int_equal(fixture_status(&f).late, 0);
  fixture_fini(&f);
}

static void test_the_limit_is_exact(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{50 * MS, act_free}};
  assert_held(acts, COUNT(acts), 1010 * MS, "settle @0 /a @10 /b @80 /a flush");
  assert_held(acts, COUNT(acts), 1010 * MS - 1, "settle @0 /a @50.000001 /b @80.000001 /a flush");
}

static void test_no_message_goes_while_nothing_may(void **state)
{
  (void)state;
  static const tb__fake_message_t same[] = {AT(1000), ON(1, 1000), AT(1040)};
  static const tb__manual_act_t acts[] = {
      {3 * MS, act_free}, {5 * MS, act_free}, {70 * MS, act_free}};
  static const double rates[] = {1, TB_PLAYER_FASTEST};
  static const char *const traces[] = {
      "settle @0 c1000 /a @3 /b @25 c1020 @45 c1040 /a @50 c1040 flush",
      "settle @0 c1000 /a @3 /b @5 c1040 /a @25 c1040 @50 c1040 flush"};
  for (size_t i = 0; i < COUNT(rates); i++) {
    fixture_t f;
    fixture_init(&f, same, COUNT(same));
    fixture_act(&f, acts, COUNT(acts));
    f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
    f.options.rate = rates[i];
    f.fake.limits_messages = true;
    assert_plays(&f, traces[i]);
    fixture_fini(&f);
  }
}

static void test_a_limit_that_is_never_met_changes_nothing(void **state)
{
  (void)state;
  static tb__manual_act_t acts[100];
  fixture_t f;
  for (int64_t i = 0; i < (int64_t)COUNT(acts); i++)
    acts[i] = (tb__manual_act_t){i * 100001, act_raise};
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.options.rate = 0.7;
  f.fake.limit_ns = 1001 * MS;
  assert_plays(&f, "settle @0 /a @14.285715 /b @57.142858 /a flush");
  fixture_fini(&f);
}

static void test_pause_while_held(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {30 * MS, act_pause}, {40 * MS, act_free}, {60 * MS, act_resume}};
  assert_held(acts, COUNT(acts), 1015 * MS, "settle @0 /a @10 /b @85 /a flush");
}

static void test_release_after_a_resume(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {12 * MS, act_pause}, {40 * MS, act_resume}, {60 * MS, act_free}};
  assert_held(acts, COUNT(acts), 1015 * MS, "settle @0 /a @10 /b @85 /a flush");
}

static void test_steps_wait_likewise(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {1 * MS, act_next}, {2 * MS, act_next}, {9 * MS, act_free}, {20 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.options.start_paused = true;
  f.fake.limit_ns = 1009 * MS;
  assert_plays(&f, "settle @1 /a @9 /b flush");
  fixture_fini(&f);
}

static void test_seek_while_held(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{30 * MS, act_seek}, {40 * MS, act_free}};
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 10;
  f.fake.limit_ns = 1005 * MS;
  assert_plays(&f, "settle @0 c1000 /a @30 S1039 @41 c1040 /a flush");
  assert_int_equal(f.fake.jumps, 2);
  assert_int_equal(f.fake.time_ns, 1040 * MS);
  fixture_fini(&f);
}

static void test_stop_while_held(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{500 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.fake.limit_ns = 0;
  assert_plays(&f, "settle flush");
  assert_int_equal(fixture_status(&f).position_ns, 1000 * MS);
  assert_null(f.fake.wake);
  fixture_fini(&f);
}

static void test_a_round_ends_when_its_last_message_may(void **state)
{
  (void)state;
  static const tb__fake_message_t one[] = {AT(1000)};
  static const tb__manual_act_t acts[] = {
      {200 * MS, act_free}, {300 * MS, act_stop}, {301 * MS, act_free}};
  fixture_t f;
  fixture_init(&f, one, COUNT(one));
  fixture_act(&f, acts, COUNT(acts));
  f.options.loop = true;
  f.fake.limits_messages = true;
  assert_plays(&f, "settle @0 /a @200 /a flush");
  assert_int_equal(f.fake.jumps, 2);
  fixture_fini(&f);
}

static void act_nobody(void *user)
{
  assert_string_equal(fixture_status(user).waits_for, "");
}

static void act_first(void *user)
{
  assert_string_equal(fixture_status(user).waits_for, "name\\x0a1");
}

static void test_the_blocker_is_named(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{1004 * MS, act_nobody},
                                          {1006 * MS, act_first},
                                          {21006 * MS, act_free},
                                          {21007 * MS, act_nobody}};
  warnings_t warnings = {0};
  fixture_t f;
  tb_log_set_hook(note_warning, &warnings);
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.fake.limit_ns = 1005 * MS; /* reached after 5 ms */
  assert_plays(&f, "settle @0 /a @21011 /b @21041 /a flush");
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(f.fake.names, 21);
  assert_int_equal(warnings.count, 3);
  assert_string_equal(warnings.text, "player: waiting for name\\x0a21");
  fixture_fini(&f);
}

static void test_holds_that_come_again_do_not_flood_the_log(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {1500 * MS, act_free}, {3000 * MS, act_free}, {4500 * MS, act_free}};
  warnings_t warnings = {0};
  fixture_t f;
  tb_log_set_hook(note_warning, &warnings);
  fixture_init(&f, three, COUNT(three));
  fixture_act(&f, acts, COUNT(acts));
  f.fake.limits_messages = true;
  assert_plays(&f, "settle @0 /a @1510 /b @3030 /a flush");
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(f.fake.names, 3);
  assert_int_equal(warnings.count, 1);
  fixture_fini(&f);
}

static void test_nothing_is_waited_for_after_the_end(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{1500 * MS, act_first}, {1600 * MS, act_free}};
  fixture_t f;
  fixture_init(&f, three, 1);
  fixture_act(&f, acts, COUNT(acts));
  f.fake.limits_messages = true;
  f.fake.on_flush = act_nobody;
  f.fake.user = &f;
  assert_plays(&f, "settle @0 /a flush");
  fixture_fini(&f);
}

static void test_a_fault_of_the_limit_ends_the_playing(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  f.fake.limit_fault = TB_ERR_INVALID;
  fixture_create(&f);
  assert_status(tb_player_run(f.player, NULL, &error), TB_ERR_INVALID);
  assert_string_equal(error.text, "fault of the fake transport");
  assert_null(f.fake.wake);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_stops_at_the_limit_and_catches_nothing_up),
      cmocka_unit_test(test_the_limit_is_exact),
      cmocka_unit_test(test_no_message_goes_while_nothing_may),
      cmocka_unit_test(test_a_limit_that_is_never_met_changes_nothing),
      cmocka_unit_test(test_pause_while_held),
      cmocka_unit_test(test_release_after_a_resume),
      cmocka_unit_test(test_steps_wait_likewise),
      cmocka_unit_test(test_seek_while_held),
      cmocka_unit_test(test_stop_while_held),
      cmocka_unit_test(test_a_round_ends_when_its_last_message_may),
      cmocka_unit_test(test_the_blocker_is_named),
      cmocka_unit_test(test_holds_that_come_again_do_not_flood_the_log),
      cmocka_unit_test(test_nothing_is_waited_for_after_the_end),
      cmocka_unit_test(test_a_fault_of_the_limit_ends_the_playing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
