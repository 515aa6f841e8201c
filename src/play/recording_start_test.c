/* Time starts with the recording, whichever topics are played. */
#include "play/play_fixture.h"

#define LATCHED "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

static const tb__fake_topic_t topics[] = {
    {"/a", "std_msgs/msg/String", NULL, NULL},
    {"/b", "std_msgs/msg/String", NULL, NULL},
    {"/map", "std_msgs/msg/String", LATCHED, NULL},
};

/* /b begins 100 ms after /a, which is where the recording does. */
static const tb__fake_message_t messages[] = {AT(900),     ON(2, 910),  AT(950),     ON(1, 1000),
                                              ON(1, 1020), ON(1, 1040), ON(2, 1050), AT(1100)};

static void fixture_of_topic(fixture_t *f, const char *topic)
{
  const tb_bag_reader_options_t filter = {.topics = &topic, .topic_count = 1};
  fixture_init(f, messages, COUNT(messages));
  tb_bag_reader_close(f->reader);
  f->bag.topics = topics;
  f->bag.topic_count = COUNT(topics);
  assert_ok(tb__fake_bag_open(&f->bag, &filter, &f->reader, NULL));
  f->options.clock_hz = TB_PLAYER_CLOCK_HZ;
}

static void assert_topic(const char *topic, int64_t offset_ms, int64_t duration_ms,
                         const char *expected)
{
  fixture_t f;
  fixture_of_topic(&f, topic);
  f.options.start_offset.ns = offset_ms * MS;
  f.options.playback_duration.ns = duration_ms * MS;
  assert_plays(&f, expected);
  assert_int_equal(fixture_status(&f).recording_start_ns, 900 * MS);
  assert_int_equal(fixture_status(&f).start_ns, (900 + offset_ms) * MS);
  fixture_fini(&f);
}

static void test_time_runs_from_the_start_of_the_recording(void **state)
{
  (void)state;
  assert_topic("/b", 0, -1,
               "settle @0 c900 @25 c925 @50 c950 @75 c975 @100 c1000 /b @120 c1020 /b @125 c1025 "
               "@140 c1040 /b flush");
}

/* Players of different topics have the same time, and the same part of the recording.
 * rosbag2_transport test_play_timing.cpp: play_respects_start_offset; test_play_duration.cpp:
 * play_for_intermediate_duration_recorded_messages_with_filtered_topics. */
static void test_offset_and_duration_count_from_there(void **state)
{
  (void)state;
  assert_topic("/a", 50, 70, "settle @0 c950 /a flush");
  assert_topic("/b", 50, 70, "settle @0 c950 @25 c975 @50 c1000 /b @70 c1020 /b flush");
  assert_topic("/b", 110, -1, "settle @0 c1010 @10 c1020 /b @25 c1035 @30 c1040 /b flush");
  assert_topic("/map", 50, -1,
               "settle @0 c950 /map @25 c975 @50 c1000 @75 c1025 @100 c1050 /map flush");
  assert_topic("/map", 5, -1,
               "settle @0 c905 @5 c910 /map @25 c930 @50 c955 @75 c980 @100 c1005 @125 c1030 "
               "@145 c1050 /map flush");
}

static void test_as_fast_as_possible_it_is_skipped(void **state)
{
  (void)state;
  fixture_t f;
  fixture_of_topic(&f, "/b");
  f.options.rate = TB_PLAYER_FASTEST;
  assert_plays(&f, "settle @0 c900 c1000 /b c1020 /b c1040 /b flush");
  fixture_fini(&f);
}

static void test_each_round_starts_there(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{250 * MS, act_stop}};
  fixture_t f;
  fixture_of_topic(&f, "/b");
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.loop = true;
  assert_plays(&f, "settle @0 c900 @100 c1000 /b @120 c1020 /b @140 c1040 /b L900 @240 c1000 /b "
                   "flush");
  fixture_fini(&f);
}

static void act_seek_900(void *user)
{
  tb_player_t *player = ((fixture_t *)user)->player;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_seek(player, 900 * MS - 1, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "from 0.900000000 s to "));
  assert_status(tb_player_repeat(player, 900 * MS - 1, 1000 * MS, NULL), TB_ERR_RANGE);
  assert_ok(tb_player_seek(player, 900 * MS, NULL));
}

static void act_no_previous(void *user)
{
  assert_status(tb_player_play_previous(((fixture_t *)user)->player), TB_ERR_END);
}

static void test_seeks_lead_to_the_start_of_the_recording(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{105 * MS, act_seek_900}};
  fixture_t f;
  fixture_of_topic(&f, "/b");
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c900 @100 c1000 /b @105 S900 @205 c1000 /b @225 c1020 /b @245 c1040 "
                   "/b flush");
  fixture_fini(&f);
}

static void test_steps_go_from_there_to_the_first_message(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {1 * MS, act_no_previous}, {2 * MS, act_next}, {3 * MS, act_no_previous}, {4 * MS, act_stop}};
  fixture_t f;
  fixture_of_topic(&f, "/b");
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.start_paused = true;
  assert_plays(&f, "settle @0 c900 @2 c1000 /b flush");
  fixture_fini(&f);
}

static void act_play_95_to_125(void *user)
{
  const tb_player_range_t range = {{95 * MS}, {30 * MS}, -1};
  assert_ok(tb_player_play(((fixture_t *)user)->player, &range, NULL));
}

static void act_play_too_late(void *user)
{
  const tb_player_range_t range = {{200 * MS + 1}, {-1}, -1};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_play(((fixture_t *)user)->player, &range, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "beyond the end of the recording, at most 0.200000000 s"));
}

static void test_playing_on_demand_counts_from_there(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {5 * MS, act_play_too_late}, {6 * MS, act_play_95_to_125}, {50 * MS, act_stop}};
  fixture_t f;
  fixture_of_topic(&f, "/b");
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.on_demand = true;
  assert_plays(&f, "settle @0 c900 @6 S995 @11 c1000 /b @31 c1020 /b flush");
  fixture_fini(&f);
}

/* --- nothing is played --- */

typedef struct nothing {
  const char *topic;
  int64_t offset_ms, duration_ms, until_ms;
  bool loop, warns;
  size_t ahead;
  const char *trace;
} nothing_t;

static void assert_nothing(const nothing_t *nothing)
{
  fixture_t f;
  warnings_t warnings = {0};
  fixture_of_topic(&f, nothing->topic);
  f.options.start_offset.ns = nothing->offset_ms * MS;
  f.options.playback_duration.ns = nothing->duration_ms * MS;
  f.options.playback_until_ns = nothing->until_ms * MS;
  f.options.loop = nothing->loop;
  tb_log_set_hook(note_warning, &warnings);
  assert_plays(&f, nothing->trace);
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(warnings.count, nothing->warns);
  assert_true(fixture_status(&f).finished);
  assert_int_equal(fixture_status(&f).loops, 0);
  fixture_check(&f);
  fixture_fini(&f);
}

/* rosbag2_transport test_play_duration.cpp: play_for_none_are_played_due_to_duration. */
static void test_a_duration_of_zero_plays_nothing(void **state)
{
  (void)state;
  static const nothing_t cases[] = {
      {.topic = "/a", .duration_ms = 0, .until_ms = -1, .trace = "settle @0 c900 flush"},
      {.topic = "/a", .loop = true, .until_ms = -1, .trace = "settle @0 c900 flush"},
      {.topic = "/a", .offset_ms = 50, .until_ms = -1, .trace = "settle @0 c950 flush"},
      {.topic = "/map", .offset_ms = 50, .until_ms = -1, .trace = "settle @0 c950 flush"},
      {.topic = "/a", .offset_ms = 50, .until_ms = 949, .trace = "settle @0 c950 flush"},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_nothing(&cases[i]);
}

/* rosbag2_transport test_play_until.cpp: play_until_none_are_played_due_to_timestamp. */
static void test_limits_between_two_messages_play_nothing(void **state)
{
  (void)state;
  static const nothing_t cases[] = {
      {.topic = "/b", .duration_ms = 99, .until_ms = -1, .trace = "settle @0 c900 flush"},
      {.topic = "/b",
       .duration_ms = 99,
       .until_ms = -1,
       .loop = true,
       .trace = "settle @0 c900 flush"},
      {.topic = "/b", .duration_ms = -1, .until_ms = 999, .trace = "settle @0 c900 flush"},
      {.topic = "/b", .duration_ms = 0, .until_ms = 950, .trace = "settle @0 c900 flush"},
      {.topic = "/b",
       .offset_ms = 141,
       .duration_ms = -1,
       .until_ms = -1,
       .trace = "settle @0 c1041 flush"},
      {.topic = "/map",
       .offset_ms = 20,
       .duration_ms = 10,
       .until_ms = -1,
       .trace = "settle @0 c920 /map flush"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    nothing_t warns = cases[i];
    warns.warns = true;
    assert_nothing(&warns);
  }
}

/* With a thread that reads ahead, on the system's steady clock. */
static void test_nothing_is_read_ahead_of_it(void **state)
{
  (void)state;
  for (int64_t duration_ms = 0; duration_ms < 100; duration_ms += 99) {
    fixture_t f;
    fixture_of_topic(&f, "/b");
    f.options.read_ahead_messages = 10;
    f.options.playback_duration.ns = duration_ms * MS;
    assert_ok(tb_player_create(f.reader, &f.transport, &f.options, &f.player, NULL));
    assert_ok(tb_player_run(f.player, NULL, NULL));
    assert_int_equal(f.fake.messages, 0);
    fixture_fini(&f);
  }
}

static void act_play_nothing(void *user)
{
  const tb_player_range_t range = {{0}, {0}, -1};
  assert_ok(tb_player_play(((fixture_t *)user)->player, &range, NULL));
}

static void test_a_duration_of_zero_on_demand(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{5 * MS, act_play_nothing}, {9 * MS, act_stop}};
  fixture_t f;
  fixture_of_topic(&f, "/a");
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.on_demand = true;
  assert_plays(&f, "settle @0 c900 @5 S900 flush");
  assert_true(fixture_status(&f).halted);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_runs_from_the_start_of_the_recording),
      cmocka_unit_test(test_offset_and_duration_count_from_there),
      cmocka_unit_test(test_as_fast_as_possible_it_is_skipped),
      cmocka_unit_test(test_each_round_starts_there),
      cmocka_unit_test(test_seeks_lead_to_the_start_of_the_recording),
      cmocka_unit_test(test_steps_go_from_there_to_the_first_message),
      cmocka_unit_test(test_playing_on_demand_counts_from_there),
      cmocka_unit_test(test_a_duration_of_zero_plays_nothing),
      cmocka_unit_test(test_limits_between_two_messages_play_nothing),
      cmocka_unit_test(test_nothing_is_read_ahead_of_it),
      cmocka_unit_test(test_a_duration_of_zero_on_demand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
