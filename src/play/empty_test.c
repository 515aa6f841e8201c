/* Parts of a recording without a message: steps, repeats and rounds in them end, with a word. */
#include "play/play_fixture.h"

#define LATCHED "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

static const tb__fake_topic_t topics[] = {
    {"/a", "std_msgs/msg/String", NULL, NULL},
    {"/map", "std_msgs/msg/String", LATCHED, NULL},
};

static const tb__fake_message_t four[] = {ON(1, 1000), AT(1010), AT(1030), AT(1050)};

static tb_player_t *player_of(void *user)
{
  return ((fixture_t *)user)->player;
}

static void act_repeat_nothing(void *user)
{
  assert_ok(tb_player_repeat(player_of(user), 1032 * MS, 1048 * MS, NULL));
}

static void act_end_repeat(void *user)
{
  tb_player_end_repeat(player_of(user));
}

static void act_seek_1035(void *user)
{
  assert_ok(tb_player_seek(player_of(user), 1035 * MS, NULL));
}

static void act_seek_1010(void *user)
{
  assert_ok(tb_player_seek(player_of(user), 1010 * MS, NULL));
}

static void act_no_next(void *user)
{
  assert_status(tb_player_play_next(player_of(user)), TB_ERR_END);
}

static void act_fastest(void *user)
{
  assert_ok(tb_player_set_rate(player_of(user), TB_PLAYER_FASTEST, NULL));
}

static void act_halt(void *user)
{
  tb_player_halt(player_of(user));
}

static void act_play_nothing(void *user)
{
  tb_player_range_t range = {{32 * MS}, {10 * MS}, -1};
  assert_ok(tb_player_play(player_of(user), &range, NULL));
}

static void act_play_all(void *user)
{
  assert_true(fixture_status(user).halted);
  assert_ok(tb_player_play(player_of(user), NULL, NULL));
}

typedef struct story {
  bool paused, loop, on_demand;
  const char *trace, *warning; /* the warning: once */
  const tb__manual_act_t *acts;
  size_t act_count;
} story_t;

static void assert_story(const story_t *story)
{
  fixture_t f;
  warnings_t warnings = {0};
  tb_log_set_hook(note_warning, &warnings);
  fixture_init(&f, four, COUNT(four));
  tb_bag_reader_close(f.reader);
  f.bag.topics = topics;
  f.bag.topic_count = COUNT(topics);
  assert_ok(tb__fake_bag_open(&f.bag, NULL, &f.reader, NULL));
  fixture_act(&f, story->acts, story->act_count);
  f.options.clock_hz = 1;
  f.options.start_paused = story->paused;
  f.options.loop = story->loop;
  f.options.on_demand = story->on_demand;
  assert_plays(&f, story->trace);
  tb_log_set_hook(NULL, NULL);
  assert_string_equal(warnings.text, story->warning);
  assert_int_equal(warnings.count, *story->warning != 0);
  fixture_fini(&f);
}

#define ACTS(...)                                                                                  \
  .acts = (const tb__manual_act_t[]){__VA_ARGS__},                                                 \
  .act_count = sizeof((const tb__manual_act_t[]){__VA_ARGS__}) / sizeof(tb__manual_act_t)

static void test_a_step_does_not_go_round_for_ever(void **state)
{
  (void)state;
  const story_t story = {
      .paused = true,
      .trace = "settle @0 c1000 @1 S1035 /map @2 L1032 /map @6 c1050 /a flush",
      .warning = "player: no message from 1.032000000 s to 1.048000000 s (times since 1970): "
                 "cannot step: no message in the repeated range",
      ACTS({0, act_repeat_nothing}, {1 * MS, act_seek_1035}, {2 * MS, act_next},
           {3 * MS, act_no_next}, {4 * MS, act_no_next}, {5 * MS, act_end_repeat},
           {6 * MS, act_next}, {7 * MS, act_stop})};
  assert_story(&story);
}

static void test_what_lies_before_it_can_be_stepped_through(void **state)
{
  (void)state;
  const story_t story = {
      .paused = true,
      .trace = "settle @0 c1000 @1 S1010 /map @2 /a @3 c1030 /a @4 L1032 /map @6 S1010 /map "
               "@7 /a flush",
      .warning = "player: no message from 1.032000000 s to 1.048000000 s (times since 1970): "
                 "cannot step: no message in the repeated range",
      ACTS({0, act_repeat_nothing}, {1 * MS, act_seek_1010}, {2 * MS, act_next}, {3 * MS, act_next},
           {4 * MS, act_next}, {5 * MS, act_no_next}, {6 * MS, act_seek_1010}, {7 * MS, act_next},
           {8 * MS, act_stop})};
  assert_story(&story);
}

/* Time runs in it. */
static void test_it_is_repeated_all_the_same(void **state)
{
  (void)state;
  const story_t story = {
      .trace = "settle @0 c1000 /map @5 S1035 /map @18 L1032 /map @34 L1032 /map @52 c1050 /a "
               "flush",
      .warning = "",
      ACTS({0, act_repeat_nothing}, {5 * MS, act_seek_1035}, {35 * MS, act_end_repeat})};
  assert_story(&story);
}

static void test_but_not_as_fast_as_possible(void **state)
{
  (void)state;
  const story_t story = {
      .trace = "settle @0 c1000 /map @1 c1010 /a c1030 /a L1032 /map c1050 /a flush",
      .warning = "player: no message from 1.032000000 s to 1.048000000 s (times since 1970): "
                 "cannot repeat at rate max: no message in the repeated range",
      ACTS({0, act_repeat_nothing}, {1 * MS, act_fastest})};
  assert_story(&story);
}

static void test_no_round_follows_an_empty_one(void **state)
{
  (void)state;
  const story_t story = {
      .loop = true,
      .trace = "settle @0 c1000 /map @5 S1032 /map flush",
      .warning = "player: no message from 1.032000000 s to 1.042000000 s (times since 1970): "
                 "no message in range, nothing to loop",
      ACTS({5 * MS, act_halt}, {5 * MS, act_play_nothing})};
  assert_story(&story);
}

static void test_on_demand_something_else_can_be_played(void **state)
{
  (void)state;
  for (int loop = 0; loop < 2; loop++) {
    story_t story = {
        .loop = loop,
        .on_demand = true,
        .trace = "settle @0 c1000 @5 S1032 /map @6 S1000 /map @16 c1010 /a flush",
        .warning = loop ? "player: no message from 1.032000000 s to 1.042000000 s (times since "
                          "1970): no message in range, nothing to loop"
                        : "player: no message from 1.032000000 s to 1.042000000 s (times since "
                          "1970): no message in range",
        ACTS({5 * MS, act_play_nothing}, {6 * MS, act_play_all}, {17 * MS, act_stop})};
    assert_story(&story);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_step_does_not_go_round_for_ever),
      cmocka_unit_test(test_what_lies_before_it_can_be_stepped_through),
      cmocka_unit_test(test_it_is_repeated_all_the_same),
      cmocka_unit_test(test_but_not_as_fast_as_possible),
      cmocka_unit_test(test_no_round_follows_an_empty_one),
      cmocka_unit_test(test_on_demand_something_else_can_be_played),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
