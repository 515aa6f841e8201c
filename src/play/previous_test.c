/* Back by one message while time is stopped: to the nanosecond. */
#include <stdlib.h>

#include "play/play_fixture.h"

#define LATCHED "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

static void act_previous(void *user)
{
  assert_ok(tb_player_play_previous(((fixture_t *)user)->player));
}

static void act_two_previous(void *user)
{
  act_previous(user);
  act_previous(user);
}

static void act_next_and_previous(void *user)
{
  act_next(user);
  act_previous(user);
}

static void act_previous_and_next(void *user)
{
  act_previous(user);
  act_next(user);
}

static void seek_to(void *user, int64_t ms)
{
  assert_ok(tb_player_seek(((fixture_t *)user)->player, ms * MS, NULL));
}

static void act_previous_and_seek(void *user)
{
  act_previous(user);
  seek_to(user, 1040);
}

static void act_seek_1035(void *user)
{
  seek_to(user, 1035);
}

static void act_seek_1070(void *user)
{
  seek_to(user, 1070);
}

static void act_no_previous(void *user)
{
  assert_status(tb_player_play_previous(((fixture_t *)user)->player), TB_ERR_END);
}

static void act_busy(void *user)
{
  assert_status(tb_player_play_previous(((fixture_t *)user)->player), TB_ERR_BUSY);
}

static void assert_acts(const tb__fake_message_t *messages, size_t message_count,
                        const tb__manual_act_t *acts, size_t count, const char *expected)
{
  fixture_t f;
  fixture_init(&f, messages, message_count);
  fixture_act(&f, acts, count);
  f.options.clock_hz = 1;
  f.options.start_paused = true;
  assert_plays(&f, expected);
  fixture_fini(&f);
}

#define ASSERT_ACTS(messages, expected, ...)                                                       \
  do {                                                                                             \
    static const tb__manual_act_t acts[] = {__VA_ARGS__};                                          \
    assert_acts(messages, COUNT(messages), acts, COUNT(acts), expected);                           \
  } while (0)

static const tb__fake_message_t four[] = {AT(1000), ON(1, 1010), AT(1040), ON(1, 1070)};

static void test_back_is_one_jump_and_the_message(void **state)
{
  (void)state;
  ASSERT_ACTS(four,
              "settle @0 c1000 @1 /a c1010 /b c1040 /a @2 S1010 /b @3 S1000 /a @5 c1010 /b "
              "@6 c1040 /a @37 c1070 /b flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {1 * MS, act_next}, {2 * MS, act_previous},
              {3 * MS, act_previous}, {4 * MS, act_no_previous}, {5 * MS, act_next},
              {6 * MS, act_next}, {7 * MS, act_resume});
}

static void test_several_are_done_one_by_one(void **state)
{
  (void)state;
  ASSERT_ACTS(four,
              "settle @0 c1000 @1 /a c1010 /b c1040 /a @2 S1010 /b S1000 /a "
              "@14 c1010 /b @44 c1040 /a @74 c1070 /b flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {1 * MS, act_next},
              {2 * MS, act_two_previous}, {4 * MS, act_resume});
}

static void test_no_more_are_done_than_there_are(void **state)
{
  (void)state;
  ASSERT_ACTS(four,
              "settle @0 c1000 @1 /a c1010 /b @2 S1000 /a @13 c1010 /b @43 c1040 /a @73 "
              "c1070 /b flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {2 * MS, act_two_previous},
              {3 * MS, act_resume});
}

static void test_a_step_before_it_is_taken_first(void **state)
{
  (void)state;
  ASSERT_ACTS(four,
              "settle @0 c1000 @1 /a @2 c1010 /b S1000 /a @14 c1010 /b @44 c1040 /a @74 c1070 /b "
              "flush",
              {1 * MS, act_next}, {2 * MS, act_next_and_previous}, {4 * MS, act_resume});
}

static void test_after_a_seek_it_is_the_one_before(void **state)
{
  (void)state;
  ASSERT_ACTS(four, "settle @0 c1000 @1 S1035 @2 S1010 /b @33 c1040 /a @63 c1070 /b flush",
              {1 * MS, act_seek_1035}, {2 * MS, act_previous}, {3 * MS, act_resume});
}

static void test_a_seek_takes_its_place(void **state)
{
  (void)state;
  ASSERT_ACTS(four, "settle @0 c1000 @1 /a c1010 /b @2 S1040 @3 /a @33 c1070 /b flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {2 * MS, act_previous_and_seek},
              {3 * MS, act_resume});
}

static void test_it_leads_back_from_the_end(void **state)
{
  (void)state;
  ASSERT_ACTS(four, "settle @0 c1000 @1 S1070 /b @2 S1040 /a @33 c1070 /b flush",
              {1 * MS, act_seek_1070}, {1 * MS, act_next}, {2 * MS, act_previous},
              {3 * MS, act_resume});
}

static void test_not_at_the_first_and_not_while_time_runs(void **state)
{
  (void)state;
  ASSERT_ACTS(four, "settle @0 c1000 @2 /a @12 c1010 /b @42 c1040 /a @72 c1070 /b flush",
              {1 * MS, act_no_previous}, {2 * MS, act_resume}, {3 * MS, act_busy});
}

static void test_equal_times_are_stepped_one_by_one(void **state)
{
  (void)state;
  static const tb__fake_message_t equal[] = {AT(1000), ON(1, 1010), AT(1010), ON(1, 1010),
                                             AT(1020)};
  ASSERT_ACTS(equal,
              "settle @0 c1000 @1 /a c1010 /b /a /b @2 S1010 /a @3 S1010 /b @4 S1000 /a "
              "@5 c1010 /b @6 /a /b @16 c1020 /a flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {1 * MS, act_next}, {1 * MS, act_next},
              {2 * MS, act_previous}, {3 * MS, act_previous}, {4 * MS, act_previous},
              {5 * MS, act_next}, {6 * MS, act_resume});
}

static void test_an_hour_back_is_found(void **state)
{
  (void)state;
  static const tb__fake_message_t far[] = {AT(1000), AT(3601000), AT(3601010)};
  ASSERT_ACTS(far,
              "settle @0 c1000 @1 /a @2 c3601000 /a @3 S1000 /a @4 c3601000 /a @15 c3601010 /a "
              "flush",
              {1 * MS, act_next}, {2 * MS, act_next}, {3 * MS, act_previous}, {4 * MS, act_next},
              {5 * MS, act_resume});
}

static void test_what_is_not_played_or_bad_is_passed_over(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {
      AT(1000), {.log_time_ns = 1005 * MS, .fault = TB_ERR_CORRUPT}, ON(2, 1007), AT(1010)};
  ASSERT_ACTS(messages, "settle @0 c1000 @1 /a c1010 /a @2 S1000 /a @13 c1010 /a flush",
              {1 * MS, act_next}, {1 * MS, act_next}, {2 * MS, act_previous}, {3 * MS, act_resume});
}

static void test_the_state_of_latched_topics_comes_first(void **state)
{
  (void)state;
  static const tb__fake_topic_t topics[] = {
      {"/a", "std_msgs/msg/String", NULL, NULL},
      {"/map", "std_msgs/msg/String", LATCHED, NULL},
  };
  static const tb__fake_message_t messages[] = {ON(1, 1000), AT(1010), ON(1, 1020), AT(1030)};
  static const tb__manual_act_t acts[] = {
      {1 * MS, act_next},     {1 * MS, act_next},     {1 * MS, act_next},  {1 * MS, act_next},
      {2 * MS, act_previous}, {3 * MS, act_previous}, {4 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  tb_bag_reader_close(f.reader);
  f.bag.topics = topics;
  f.bag.topic_count = COUNT(topics);
  assert_ok(tb__fake_bag_open(&f.bag, NULL, &f.reader, NULL));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 1;
  f.options.start_paused = true;
  assert_plays(&f, "settle @0 c1000 @1 /map c1010 /a c1020 /map c1030 /a @2 S1020 /map /map "
                   "@3 S1010 /map /a @14 c1020 /map @24 c1030 /a flush");
  fixture_fini(&f);
}

/* --- the cost --- */

static size_t reads;
static tb_status_t (*quick_read)(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error);

static tb_status_t counted_read(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error)
{
  reads++;
  return quick_read(file, row, error);
}

static void act_count(void *user)
{
  reads = 0;
  act_previous(user);
}

static void act_counted(void *user)
{
  (void)user;
  assert_in_range(reads, 1, 100);
}

static void act_seek_9000(void *user)
{
  seek_to(user, 9000);
}

static void test_the_search_reads_little_of_a_long_recording(void **state)
{
  (void)state;
  enum { MESSAGES = 10000 };
  static const tb__manual_act_t acts[] = {
      {1 * MS, act_seek_9000}, {2 * MS, act_count}, {3 * MS, act_counted}, {3 * MS, act_resume}};
  tb__fake_message_t *messages = calloc(MESSAGES, sizeof *messages);
  assert_non_null(messages);
  for (int i = 0; i < MESSAGES; i++)
    messages[i].log_time_ns = (i + 1) * MS;
  fixture_t f;
  fixture_init(&f, messages, MESSAGES);
  fixture_act(&f, acts, COUNT(acts));
  quick_read = f.bag.storage.read_data;
  f.bag.storage.read_data = counted_read;
  f.options.start_paused = true;
  fixture_create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(f.fake.messages, 1002); /* 8.999 to 10 s */
  fixture_fini(&f);
  free(messages);
}

static void test_a_step_at_the_end_follows_one_back(void **state)
{
  (void)state;
  ASSERT_ACTS(four,
              "settle @0 c1000 @1 S1070 /b @3 S1040 /a c1070 /b @4 S1040 /a @35 c1070 /b flush",
              {1 * MS, act_seek_1070}, {1 * MS, act_next}, {3 * MS, act_previous_and_next},
              {4 * MS, act_previous}, {5 * MS, act_resume});
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_back_is_one_jump_and_the_message),
      cmocka_unit_test(test_several_are_done_one_by_one),
      cmocka_unit_test(test_no_more_are_done_than_there_are),
      cmocka_unit_test(test_a_step_before_it_is_taken_first),
      cmocka_unit_test(test_after_a_seek_it_is_the_one_before),
      cmocka_unit_test(test_a_seek_takes_its_place),
      cmocka_unit_test(test_it_leads_back_from_the_end),
      cmocka_unit_test(test_not_at_the_first_and_not_while_time_runs),
      cmocka_unit_test(test_equal_times_are_stepped_one_by_one),
      cmocka_unit_test(test_an_hour_back_is_found),
      cmocka_unit_test(test_what_is_not_played_or_bad_is_passed_over),
      cmocka_unit_test(test_the_state_of_latched_topics_comes_first),
      cmocka_unit_test(test_the_search_reads_little_of_a_long_recording),
      cmocka_unit_test(test_a_step_at_the_end_follows_one_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
