/* Seeks, the state of latched topics, steps while time is stopped: to the nanosecond. */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/cancel_token.h>
#include <timebase/manual_source.h>

#include "limits_table.h"
#include "play/play_fixture.h"
#include "within.h"

#define LATCHED "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

static const tb__fake_topic_t topics[] = {
    {"/a", "std_msgs/msg/String", NULL, NULL},
    {"/map", "std_msgs/msg/String", LATCHED, NULL},
    {"/static", "std_msgs/msg/String", LATCHED, NULL},
};

#define MAP    1
#define STATIC 2

static const tb__fake_message_t latched[] = {
    ON(STATIC, 1000), ON(MAP, 1001), AT(1010),      ON(MAP, 1020),
    AT(1030),         AT(1040),      ON(MAP, 1050), AT(1060),
};

static void act_no_next(void *user)
{
  assert_status(tb_player_play_next(((fixture_t *)user)->player), TB_ERR_END);
}

static void act_busy(void *user)
{
  fixture_t *f = user;
  assert_status(tb_player_play_next(f->player), TB_ERR_BUSY);
  assert_status(tb_player_burst(f->player, 1, WITHIN((tb_duration_t){1}), NULL), TB_ERR_DEADLOCK);
}

static void seek_to(void *user, int64_t ms)
{
  fixture_t *f = user;
  assert_ok(tb_player_seek(f->player, ms * MS, NULL));
  assert_int_equal(fixture_status(f).position_ns, ms * MS);
}

static void act_seek_1000(void *user)
{
  seek_to(user, 1000);
}

static void act_seek_1035(void *user)
{
  seek_to(user, 1035);
}

static void act_seek_1040(void *user)
{
  seek_to(user, 1040);
}

static void act_seek_1060(void *user)
{
  seek_to(user, 1060);
}

static void act_seek_twice(void *user)
{
  seek_to(user, 1060);
  seek_to(user, 1040);
}

static void act_seek_away(void *user)
{
  fixture_t *f = user;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_seek(f->player, 1000 * MS - 1, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "from 1.000000000 s to 1.060000000 s"));
  assert_status(tb_player_seek(f->player, 1060 * MS + 1, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "seek to 1.060000001 s"));
  assert_status(tb_player_seek(f->player, -1, NULL), TB_ERR_RANGE);
}

static void fixture_latched(fixture_t *f, const tb__manual_act_t *acts, size_t count)
{
  fixture_init(f, latched, COUNT(latched));
  tb_bag_reader_close(f->reader);
  f->bag.topics = topics;
  assert_ok(tb__fake_bag_open(&f->bag, NULL, &f->reader, NULL));
  fixture_act(f, acts, count);
  f->options.clock_hz = 1;
}

static void assert_acts(const tb__manual_act_t *acts, size_t count, bool paused,
                        const char *expected)
{
  fixture_t f;
  fixture_latched(&f, acts, count);
  f.options.start_paused = paused;
  assert_plays(&f, expected);
  fixture_fini(&f);
}

#define ASSERT_ACTS(paused, expected, ...)                                                         \
  do {                                                                                             \
    static const tb__manual_act_t acts[] = {__VA_ARGS__};                                          \
    assert_acts(acts, COUNT(acts), paused, expected);                                              \
  } while (0)

static void test_a_seek_is_one_jump_with_the_state_after_it(void **state)
{
  (void)state;
  ASSERT_ACTS(false,
              "settle @0 c1000 /static @1 c1001 /map @5 S1040 /static /map /a @15 c1050 /map "
              "@25 c1060 /a flush",
              {5 * MS, act_seek_1040});
  ASSERT_ACTS(false,
              "settle @0 c1000 /static @1 c1001 /map @10 c1010 /a @20 c1020 /map @25 S1000 "
              "/static @26 c1001 /map @35 c1010 /a @45 c1020 /map @48 S1060 /static /map /a flush",
              {25 * MS, act_seek_1000}, {48 * MS, act_seek_1060});
  ASSERT_ACTS(false,
              "settle @0 c1000 /static @1 c1001 /map @5 S1040 /static /map /a @15 c1050 /map "
              "@25 c1060 /a flush",
              {5 * MS, act_seek_twice});
}

static void test_a_seek_while_paused_restores_the_state_and_stays_paused(void **state)
{
  (void)state;
  ASSERT_ACTS(true,
              "settle @0 c1000 @3 S1035 /static /map @4 S1000 @5 S1035 /static /map @1005 c1035 "
              "@1105 c1040 /a @1115 c1050 /map @1125 c1060 /a flush",
              {3 * MS, act_seek_1035}, {4 * MS, act_seek_1000}, {5 * MS, act_seek_1035},
              {1100 * MS, act_resume});
}

/* In rosbag2 it is accepted, and playing ends: rosbag2_transport test_play_seek.cpp:
 * seek_with_timestamp_later_than_in_last_message. */
static void test_a_seek_out_of_range_changes_nothing(void **state)
{
  (void)state;
  ASSERT_ACTS(false,
              "settle @0 c1000 /static @1 c1001 /map @10 c1010 /a @20 c1020 /map @30 c1030 /a "
              "@40 c1040 /a @50 c1050 /map @60 c1060 /a flush",
              {5 * MS, act_seek_away});
}

static void test_seeks_end_with_the_playing(void **state)
{
  (void)state;
  fixture_t f;
  fixture_latched(&f, NULL, 0);
  fixture_create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_seek(f.player, 1040 * MS, &error), TB_ERR_END);
  assert_status(tb_player_play_next(f.player), TB_ERR_BUSY);
  fixture_fini(&f);
}

static void test_an_hour_to_the_next_message_is_no_wait(void **state)
{
  (void)state;
  static const tb__fake_message_t far[] = {AT(1000), AT(3601000), AT(3601010)};
  static const tb__manual_act_t acts[] = {
      {7 * MS, act_pause}, {9 * MS, act_next}, {11 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, far, COUNT(far));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = 0.001;
  assert_plays(&f, "settle @0 c1000 /a @9 c3601000 /a @21 c3601010 /a flush");
  fixture_fini(&f);
}

/* /map was sent three times before 1055 ms. */
static void test_the_state_is_what_all_publishers_kept(void **state)
{
  (void)state;
  static const struct {
    const char *offers, *trace;
  } cases[] = {
      {LATCHED LATCHED, "settle @0 c1055 /static /map /map @5 c1060 /a flush"},
      {"- history: 1\n  depth: 5\n  reliability: 1\n  durability: 1\n",
       "settle @0 c1055 /static /map /map /map @5 c1060 /a flush"},
      {"- history: 2\n  depth: 0\n  reliability: 1\n  durability: 1\n",
       "settle @0 c1055 /static /map /map /map @5 c1060 /a flush"},
      {"- history: 3\n  depth: 0\n  reliability: 1\n  durability: 1\n",
       "settle @0 c1055 /static /map @5 c1060 /a flush"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const tb__fake_topic_t kept[] = {
        topics[0], {"/map", "std_msgs/msg/String", cases[i].offers, NULL}, topics[STATIC]};
    fixture_t f;
    fixture_latched(&f, NULL, 0);
    tb_bag_reader_close(f.reader);
    f.bag.topics = kept;
    assert_ok(tb__fake_bag_open(&f.bag, NULL, &f.reader, NULL));
    f.options.start_offset.ns = 55 * MS;
    assert_plays(&f, cases[i].trace);
    fixture_fini(&f);
  }
}

static void test_an_offset_restores_the_state_in_each_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{60 * MS, act_stop}};
  fixture_t f;
  fixture_latched(&f, acts, COUNT(acts));
  f.options.start_offset.ns = 25 * MS;
  f.options.loop = true;
  assert_plays(&f, "settle @0 c1025 /static /map @5 c1030 /a @15 c1040 /a @25 c1050 /map "
                   "@35 c1060 /a L1025 /static /map @40 c1030 /a @50 c1040 /a flush");
  assert_int_equal(fixture_status(&f).recording_start_ns, 1000 * MS);
  assert_int_equal(fixture_status(&f).start_ns, 1025 * MS);
  fixture_fini(&f);
}

static void test_steps_move_time_to_the_message(void **state)
{
  (void)state;
  ASSERT_ACTS(true,
              "settle @0 c1000 @1 /static @2 c1001 /map c1010 /a @13 c1020 /map @23 c1030 /a "
              "@33 c1040 /a @43 c1050 /map @53 c1060 /a flush",
              {1 * MS, act_next}, {2 * MS, act_next}, {2 * MS, act_next}, {3 * MS, act_resume},
              {4 * MS, act_busy});
}

static void test_the_end_while_paused_waits_for_a_seek(void **state)
{
  (void)state;
  ASSERT_ACTS(true,
              "settle @0 c1000 @1 S1060 /static /map @2 /a @4 S1040 /static /map @5 /a "
              "@16 c1050 /map @26 c1060 /a flush",
              {1 * MS, act_seek_1060}, {2 * MS, act_next}, {3 * MS, act_no_next},
              {4 * MS, act_seek_1040}, {5 * MS, act_next}, {6 * MS, act_resume});
  ASSERT_ACTS(true, "settle @0 c1000 @1 S1060 /static /map @2 /a flush", {1 * MS, act_seek_1060},
              {2 * MS, act_next}, {3 * MS, act_resume});
}

/* --- bursts, from another thread --- */

typedef struct burster {
  tb_player_t *player;
  uint64_t wanted, sent;
  tb_status_t status;
  atomic_bool done;
} burster_t;

static void *burst_thread(void *user)
{
  burster_t *burster = user;
  burster->status = tb_player_burst(burster->player, burster->wanted,
                                    WITHIN((tb_duration_t){60 * TB_NS_PER_S}), &burster->sent);
  atomic_store(&burster->done, true);
  return NULL;
}

/* The first tick begins the burst on a thread, its end ends the pause. */
typedef struct bursting {
  burster_t burster;
  void *(*run)(void *burster);
  pthread_t thread;
  bool begun;
} bursting_t;

static void burst_then_resume(void *user, int64_t steady_ns, int64_t time_ns,
                              tb_jump_reason_t reason)
{
  (void)steady_ns;
  (void)time_ns;
  (void)reason;
  bursting_t *bursting = user;
  if (!bursting->begun)
    assert_int_equal(pthread_create(&bursting->thread, NULL, bursting->run, &bursting->burster), 0);
  bursting->begun = true;
  if (atomic_load(&bursting->burster.done)) tb_player_resume(bursting->burster.player);
}

static void play_with_burst(uint64_t wanted, uint64_t expected)
{
  fixture_t f;
  fixture_latched(&f, NULL, 0);
  f.options.start_paused = true;
  fixture_create(&f);
  bursting_t bursting = {.burster = {.player = f.player, .wanted = wanted}, .run = burst_thread};
  f.fake.user = &bursting;
  f.fake.on_tick = burst_then_resume;
  assert_ok(tb_player_run(f.player, NULL, NULL));
  pthread_join(bursting.thread, NULL);
  assert_status(bursting.burster.status, TB_OK);
  assert_int_equal(bursting.burster.sent, expected);
  assert_int_equal(f.fake.messages, COUNT(latched));
  fixture_fini(&f);
}

static void test_bursts_say_how_many(void **state)
{
  (void)state;
  play_with_burst(3, 3);
  play_with_burst(COUNT(latched) + 5, COUNT(latched));
  play_with_burst(0, COUNT(latched));
}

/* Two messages are to be sent, of which the transport takes one. */
static void *burst_with_limit(void *user)
{
  burster_t *burster = user;
  burster->sent = 77;
  burster->status =
      tb_player_burst(burster->player, 2, WITHIN((tb_duration_t){MS}), &burster->sent);
  tb_player_stop(burster->player);
  return NULL;
}

static fixture_t paused;
static atomic_bool may_continue;

static void resume_when_done(void *user, int64_t steady_ns, int64_t time_ns,
                             tb_jump_reason_t reason)
{
  (void)steady_ns;
  (void)time_ns;
  (void)reason;
  burster_t *burster = user;
  if (atomic_load(&may_continue)) tb__fake_transport_limit(&paused.fake, TB_PLAY_NO_LIMIT);
  if (atomic_load(&burster->done)) tb_player_resume(burster->player);
}

static pthread_t player_thread;
static burster_t limited_burster;

static void *play(void *argument)
{
  assert_ok(tb_player_run(paused.player, NULL, NULL));
  return argument;
}

static void paused_open(void)
{
  fixture_latched(&paused, NULL, 0);
  paused.options.start_paused = true;
  paused.options.ack_limit = TB_NO_WAIT;
  fixture_create(&paused);
  limited_burster.player = paused.player;
  paused.fake.user = &limited_burster;
  paused.fake.on_tick = resume_when_done;
  paused.fake.limit_ns = 1000 * MS; /* the transport takes one message of a burst */
  assert_int_equal(pthread_create(&player_thread, NULL, play, NULL), 0);
  while (!fixture_status(&paused).running)
    sched_yield();
}

static void paused_continue(void)
{
  atomic_store(&may_continue, true);
}

static void paused_close(void)
{
  pthread_join(player_thread, NULL);
  assert_int_equal(paused.fake.messages, COUNT(latched)); /* none twice */
  assert_int_equal(paused.fake.flush_limit.ns, TB_NO_WAIT.ns);
  fixture_fini(&paused);
}

static tb_status_t burst_within(tb_duration_t limit)
{
  tb_status_t status = tb_player_burst(paused.player, 3, WITHIN(limit), NULL);
  if (!status) atomic_store(&limited_burster.done, true);
  return status;
}

static void test_S5_the_limit_of_a_burst(void **state)
{
  (void)state;
  const limited_t row = {
      "player_burst", burst_within, paused_open, paused_continue, paused_close, 0, 0};
  limited_check(&row);
}

typedef struct ended_burst {
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
} ended_burst_t;

static void *ended_burst_thread(void *user)
{
  ended_burst_t *burst = user;
  burst->status = tb_player_burst(paused.player, 3, &burst->options, NULL);
  return NULL;
}

static void burst_start(ended_burst_t *burst, tb_source_t *source)
{
  assert_int_equal(pthread_create(&burst->thread, NULL, ended_burst_thread, burst), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(source, 1, NULL));
}

static void burst_end(ended_burst_t *burst, tb_status_t expected)
{
  assert_int_equal(pthread_join(burst->thread, NULL), 0);
  assert_status(burst->status, expected);
}

static void test_S3_S5_what_ends_a_burst(void **state)
{
  (void)state;
  tb_source_t *source;
  tb_clock_t *clock;
  tb_cancel_token_t *token;
  atomic_store(&may_continue, false);
  atomic_store(&limited_burster.done, false);
  paused_open();
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock));
  assert_ok(tb_manual_source_set(source, 100 * TB_NS_PER_S));
  assert_ok(tb_cancel_token_create(&token));
  ended_burst_t burst = {.options = {.token = token, .clock = clock}};
  burst_start(&burst, source);
  tb_cancel_token_cancel(token);
  burst_end(&burst, TB_ERR_CANCELLED);
  tb_cancel_token_reset(token);
  burst.options.flags = TB_WAIT_FAIL_ON_BACKWARD;
  burst_start(&burst, source);
  assert_ok(tb_manual_source_set(source, TB_NS_PER_S));
  burst_end(&burst, TB_ERR_JUMP_BACKWARD);
  paused_continue();
  assert_ok(burst_within(TB_NO_LIMIT));
  paused_close();
  assert_ok(tb_cancel_token_destroy(token));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

static void test_S5_the_limit_of_acknowledgements_is_checked(void **state)
{
  (void)state;
  fixture_t f;
  tb_player_t *player;
  fixture_latched(&f, NULL, 0);
  f.options.ack_limit = TB_NS(-5);
  assert_status(tb__player_create(f.reader, &f.transport, &f.options, &f.pacer.base, &player, NULL),
                TB_ERR_INVALID);
  f.options.ack_limit = TB_NO_LIMIT;
  fixture_create(&f);
  fixture_fini(&f);
}

static void test_a_burst_has_a_limit_and_its_rest_is_dropped(void **state)
{
  (void)state;
  fixture_t f;
  fixture_latched(&f, NULL, 0);
  f.options.start_paused = true;
  f.fake.limit_ns = 1000 * MS;
  fixture_create(&f);
  bursting_t bursting = {.burster = {.player = f.player}, .run = burst_with_limit};
  f.fake.user = &bursting;
  f.fake.on_tick = burst_then_resume;
  assert_ok(tb_player_run(f.player, NULL, NULL));
  pthread_join(bursting.thread, NULL);
  assert_status(bursting.burster.status, TB_ERR_TIMEOUT);
  assert_int_equal(bursting.burster.sent, 77);
  assert_in_range(f.fake.messages, 0, 1);
  fixture_fini(&f);
}

/* rosbag2_transport test_play_next.cpp: play_next_with_false_preconditions; test_burst.cpp:
 * burst_with_false_preconditions. */
static void test_steps_before_it_runs_are_refused(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{1 * MS, act_stop}};
  fixture_t f;
  uint64_t sent = 77;
  fixture_latched(&f, acts, COUNT(acts));
  f.options.start_paused = true;
  fixture_create(&f);
  assert_false(fixture_status(&f).running);
  assert_status(tb_player_play_next(f.player), TB_ERR_INVALID);
  assert_status(tb_player_play_previous(f.player), TB_ERR_INVALID);
  assert_status(tb_player_burst(f.player, 2, WITHIN((tb_duration_t){0}), &sent), TB_ERR_INVALID);
  assert_int_equal(sent, 77);
  assert_plays(&f, "settle @0 c1000 flush");
  assert_false(fixture_status(&f).running);
  assert_status(tb_player_play_next(f.player), TB_ERR_END);
  fixture_fini(&f);
}

static void test_rows_that_cannot_be_read_are_left_out_of_the_state(void **state)
{
  (void)state;
  tb__fake_message_t messages[COUNT(latched)];
  memcpy(messages, latched, sizeof latched);
  messages[0].fault = TB_ERR_CORRUPT;
  fixture_t f;
  fixture_latched(&f, NULL, 0);
  f.bag.messages = messages;
  f.options.start_offset.ns = 40 * MS;
  assert_plays(&f, "settle @0 c1040 /map /a @10 c1050 /map @20 c1060 /a flush");
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_seek_is_one_jump_with_the_state_after_it),
      cmocka_unit_test(test_a_seek_while_paused_restores_the_state_and_stays_paused),
      cmocka_unit_test(test_a_seek_out_of_range_changes_nothing),
      cmocka_unit_test(test_seeks_end_with_the_playing),
      cmocka_unit_test(test_an_hour_to_the_next_message_is_no_wait),
      cmocka_unit_test(test_the_state_is_what_all_publishers_kept),
      cmocka_unit_test(test_an_offset_restores_the_state_in_each_round),
      cmocka_unit_test(test_steps_move_time_to_the_message),
      cmocka_unit_test(test_the_end_while_paused_waits_for_a_seek),
      cmocka_unit_test(test_bursts_say_how_many),
      cmocka_unit_test(test_S5_the_limit_of_a_burst),
      cmocka_unit_test(test_S3_S5_what_ends_a_burst),
      cmocka_unit_test(test_S5_the_limit_of_acknowledgements_is_checked),
      cmocka_unit_test(test_a_burst_has_a_limit_and_its_rest_is_dropped),
      cmocka_unit_test(test_steps_before_it_runs_are_refused),
      cmocka_unit_test(test_rows_that_cannot_be_read_are_left_out_of_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
