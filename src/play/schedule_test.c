/* When messages and ticks go out, to the nanosecond. */
#include "play/play_fixture.h"

static const tb__fake_message_t three[] = {AT(1000), ON(1, 1010), AT(1040)};

static void test_messages_keep_their_spacing(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  assert_plays(&f, "settle @0 /a @10 /b @40 /a flush");
  tb_player_status_t status = fixture_status(&f);
  assert_int_equal(status.start_ns, 1000 * MS);
  assert_int_equal(status.end_ns, 1040 * MS);
  assert_int_equal(status.position_ns, 1040 * MS);
  assert_int_equal(status.messages, 3);
  assert_true(status.finished);
  fixture_fini(&f);
}

static void test_rates(void **state)
{
  (void)state;
  static const struct {
    double rate;
    const char *trace;
  } cases[] = {
      {0.5, "settle @0 c1000 /a @20 c1010 /b @25 c1012.500000 @50 c1025 @75 c1037.500000 @80 c1040 "
            "/a flush"},
      {1, "settle @0 c1000 /a @10 c1010 /b @25 c1025 @40 c1040 /a flush"},
      {10, "settle @0 c1000 /a @1 c1010 /b @4 c1040 /a flush"},
      {3, "settle @0 c1000 /a @3.333334 c1010 /b @13.333334 c1040 /a flush"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture_t f;
    fixture_init(&f, three, COUNT(three));
    f.options.rate = cases[i].rate;
    f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
    assert_plays(&f, cases[i].trace);
    fixture_fini(&f);
  }
}

static void test_long_silences_are_skipped(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(1000), AT(1010), AT(6000), AT(6100), AT(9000)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.skip_silence.ns = 100 * MS;
  assert_plays(&f, "settle @0 /a @10 /a /a @110 /a /a flush");
  fixture_fini(&f);
  fixture_init(&f, messages, COUNT(messages));
  f.options.skip_silence.ns = 100 * MS;
  f.options.clock_hz = 10;
  assert_plays(&f,
               "settle @0 c1000 /a @10 c1010 /a c6000 /a @100 c6090 @110 c6100 /a c9000 /a flush");
  fixture_fini(&f);
}

static void test_a_message_has_its_tick_before_it(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(7), AT(7), ON(1, 7), AT(8), AT(32), AT(32)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @0 c7 /a /a /b @1 c8 /a @25 c32 /a /a flush");
  fixture_fini(&f);
}

/* A transport may keep messages until the player has something else to do: a tick, a pause, an end.
 */
static void nothing_is_kept(const tb_bag_message_t *message, void *user)
{
  const fixture_t *f = user;
  (void)message;
  assert_int_equal(f->fake.kept, 0);
}

static void test_kept_messages_are_sent(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(7), ON(1, 7), AT(8), AT(32), AT(32)};
  static const tb__manual_act_t acts[] = {{10 * MS, act_pause}, {100 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.fake.keeps = true;
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @0 c7 /a /b send @1 c8 /a send @25 c32 /a /a send flush");
  fixture_fini(&f);
  fixture_init(&f, messages, COUNT(messages));
  f.fake.keeps = true;
  f.options.rate = TB_PLAYER_FASTEST;
  assert_plays(&f, "settle @0 /a /b /a /a /a send flush");
  fixture_fini(&f);
  fixture_init(&f, messages, COUNT(messages));
  f.fake.keeps = true;
  fixture_act(&f, acts, COUNT(acts));
  assert_plays(&f, "settle @0 /a /b send @1 /a send @115 /a /a send flush");
  fixture_fini(&f);
  fixture_init(&f, messages, COUNT(messages));
  f.fake.keeps = true;
  f.options.rate = TB_PLAYER_FASTEST;
  f.options.before_message = f.options.after_message = nothing_is_kept;
  f.options.message_user = &f;
  assert_plays(&f, "settle @0 /a send /b send /a send /a send /a send flush");
  fixture_fini(&f);
}

static void test_time_zero_is_never_published(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {{.log_time_ns = 0}, {.log_time_ns = 1}, AT(1)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  fixture_create(&f);
  assert_int_equal(fixture_status(&f).position_ns, 1);
  assert_int_equal(fixture_status(&f).start_ns, 1);
  assert_plays(&f, "settle @0 c0.000001 /a /a @0.999999 c1 /a flush");
  fixture_fini(&f);
}

/* rosbag2_transport test_play_timing.cpp: play_respects_start_offset. */
static void test_start_offset(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  f.options.start_offset.ns = 5 * MS;
  f.options.clock_hz = 500;
  assert_plays(&f, "settle @0 c1005 @2 c1007 @4 c1009 @5 c1010 /b @6 c1011 @8 c1013 @10 c1015 @12 "
                   "c1017 @14 c1019 @16 c1021 @18 c1023 @20 c1025 @22 c1027 @24 c1029 @26 c1031 "
                   "@28 c1033 @30 c1035 @32 c1037 @34 c1039 @35 c1040 /a flush");
  assert_int_equal(fixture_status(&f).start_ns, 1005 * MS);
  fixture_fini(&f);
}

static void test_an_offset_to_the_last_message_plays_it(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  f.options.start_offset.ns = 40 * MS;
  assert_plays(&f, "settle @0 /a flush");
  fixture_fini(&f);
}

static void test_files_are_reported_as_they_are_reached(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {
      {.log_time_ns = 1 * MS},
      {.log_time_ns = 2 * MS, .file = 1},
      {.log_time_ns = 3 * MS, .file = 0},
      {.log_time_ns = 4 * MS, .file = 2},
  };
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  tb_bag_reader_close(f.reader);
  f.bag.file_count = 3;
  assert_ok(tb__fake_bag_open(&f.bag, NULL, &f.reader, NULL));
  assert_plays(&f, "settle @0 /a fake/0 fake/1 @1 /a @2 /a fake/1 fake/2 @3 /a flush");
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_keep_their_spacing),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_long_silences_are_skipped),
      cmocka_unit_test(test_a_message_has_its_tick_before_it),
      cmocka_unit_test(test_kept_messages_are_sent),
      cmocka_unit_test(test_time_zero_is_never_published),
      cmocka_unit_test(test_start_offset),
      cmocka_unit_test(test_files_are_reported_as_they_are_reached),
      cmocka_unit_test(test_an_offset_to_the_last_message_plays_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
