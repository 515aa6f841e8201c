#include "server/clock_server.h"

#include <stdlib.h>

#include "test.h"

#define S TB_NS_PER_S

/* Time 100 s at steady 5 s, running at `rate`. */
static tb__clock_server_t running(double rate)
{
  tb__clock_server_t server;
  tb__clock_server_init(&server, 100 * S, 5 * S);
  assert_ok(tb__clock_server_set_rate(&server, rate, 5 * S));
  tb__clock_server_resume(&server, 5 * S);
  return server;
}

static void test_time_follows_the_rate(void **state)
{
  (void)state;
  tb__clock_server_t server = running(2);
  assert_int_equal(tb__clock_server_time(&server, 5 * S), 100 * S);
  assert_int_equal(tb__clock_server_time(&server, 6 * S + 1), 102 * S + 2);
  assert_int_equal(tb__clock_server_time(&server, 4 * S), 100 * S);
  assert_int_equal(tb__clock_server_reach(&server, 102 * S), 6 * S);
  assert_int_equal(tb__clock_server_reach(&server, 102 * S + 1), 6 * S + 1);
  assert_int_equal(tb__clock_server_reach(&server, 99 * S), 5 * S);
  assert_ok(tb__clock_server_set_rate(&server, 0.5, 6 * S));
  assert_int_equal(tb__clock_server_time(&server, 8 * S), 103 * S);
}

static void test_a_bad_rate_changes_nothing(void **state)
{
  (void)state;
  tb__clock_server_t server = running(2);
  assert_status(tb__clock_server_set_rate(&server, 0, 6 * S), TB_ERR_RANGE);
  assert_status(tb__clock_server_set_rate(&server, 1e9, 6 * S), TB_ERR_RANGE);
  assert_int_equal(tb__clock_server_time(&server, 7 * S), 104 * S);
}

static void test_pause_stands_and_nothing_is_caught_up(void **state)
{
  (void)state;
  tb__clock_server_t server = running(1);
  tb__clock_server_pause(&server, 6 * S);
  tb__clock_server_pause(&server, 7 * S);
  assert_int_equal(tb__clock_server_time(&server, 50 * S), 101 * S);
  assert_int_equal(tb__clock_server_reach(&server, 102 * S), TB__STEADY_NEVER);
  tb__clock_server_resume(&server, 50 * S);
  tb__clock_server_resume(&server, 51 * S);
  assert_int_equal(tb__clock_server_time(&server, 50 * S), 101 * S);
  assert_int_equal(tb__clock_server_reach(&server, 102 * S), 51 * S);
}

static void test_horizon_stops_time(void **state)
{
  (void)state;
  tb__clock_server_t server = running(1);
  tb__clock_server_set_horizon(&server, 101 * S, 5 * S);
  assert_int_equal(tb__clock_server_reach(&server, 101 * S), 6 * S);
  assert_int_equal(tb__clock_server_reach(&server, 101 * S + 1), TB__STEADY_NEVER);
  assert_int_equal(tb__clock_server_time(&server, 9 * S), 101 * S);
  tb__clock_server_t caught_up = server;
  tb__clock_server_set_horizon(&caught_up, 110 * S, 9 * S);
  assert_int_equal(tb__clock_server_time(&caught_up, 9 * S), 104 * S);
  tb__clock_server_hold(&server, 9 * S);
  tb__clock_server_set_horizon(&server, 110 * S, 9 * S);
  assert_int_equal(tb__clock_server_time(&server, 9 * S), 101 * S);
  assert_int_equal(tb__clock_server_time(&server, 10 * S), 102 * S);
  tb__clock_server_set_horizon(&server, 1, 10 * S);
  assert_int_equal(tb__clock_server_time(&server, 20 * S), 102 * S);
}

static void test_jump_gives_its_reason_to_one_tick(void **state)
{
  (void)state;
  tb__clock_server_t server = running(1);
  assert_int_equal(tb__clock_server_tick(&server, 6 * S).reason, TB_JUMP_REASON_TICK);
  assert_false(tb__clock_server_is_behind(&server, 6 * S));
  assert_true(tb__clock_server_is_behind(&server, 6 * S + 1));
  tb__clock_server_jump(&server, 50 * S, TB_JUMP_REASON_SEEK, 7 * S);
  assert_true(tb__clock_server_is_behind(&server, 7 * S));
  tb__tick_t tick = tb__clock_server_tick(&server, 7 * S);
  assert_int_equal(tick.time_ns, 50 * S);
  assert_int_equal(tick.reason, TB_JUMP_REASON_SEEK);
  assert_false(tb__clock_server_is_behind(&server, 7 * S));
  tick = tb__clock_server_tick(&server, 8 * S);
  assert_int_equal(tick.time_ns, 51 * S);
  assert_int_equal(tick.reason, TB_JUMP_REASON_TICK);
}

static void test_C2_time_is_never_zero(void **state)
{
  (void)state;
  tb__clock_server_t server;
  tb__clock_server_init(&server, 0, 5 * S);
  assert_int_equal(tb__clock_server_time(&server, 5 * S), 1);
  tb__clock_server_jump(&server, -3, TB_JUMP_REASON_SEEK, 6 * S);
  assert_int_equal(tb__clock_server_tick(&server, 6 * S).time_ns, 1);
}

static void test_ticks_keep_their_grid(void **state)
{
  (void)state;
  tb__clock_server_t server = running(1);
  assert_int_equal(tb__clock_server_next_tick(&server), TB__STEADY_NEVER);
  assert_status(tb__clock_server_set_tick_rate(&server, -1, 5 * S), TB_ERR_RANGE);
  assert_status(tb__clock_server_set_tick_rate(&server, 1e5, 5 * S), TB_ERR_RANGE);
  assert_ok(tb__clock_server_set_tick_rate(&server, 10, 5 * S));
  assert_int_equal(tb__clock_server_next_tick(&server), 5 * S);
  tb__clock_server_tick(&server, 5 * S + 7);
  assert_int_equal(tb__clock_server_next_tick(&server), 5 * S + S / 10);
  tb__clock_server_tick(&server, 5 * S + 8); /* one in between moves nothing */
  assert_int_equal(tb__clock_server_next_tick(&server), 5 * S + S / 10);
  tb__clock_server_tick(&server, 5 * S + S / 2); /* four were missed */
  assert_int_equal(tb__clock_server_next_tick(&server), 5 * S + S * 6 / 10);
  assert_ok(tb__clock_server_set_tick_rate(&server, 0, 6 * S));
  assert_int_equal(tb__clock_server_next_tick(&server), TB__STEADY_NEVER);
}

static void test_far_ends_saturate(void **state)
{
  (void)state;
  tb__clock_server_t server = running(1000);
  assert_int_equal(tb__clock_server_time(&server, INT64_MAX - 1), INT64_MAX);
  server = running(0.001);
  assert_int_equal(tb__clock_server_reach(&server, INT64_MAX - 1), INT64_MAX);
}

static int64_t random_below(int64_t limit)
{
  return (int64_t)(((uint64_t)lrand48() << 31 ^ (uint64_t)lrand48()) % (uint64_t)limit);
}

/* Any mix of controls: time never falls but by a jump, never passes the horizon, never stands
 * behind what `reach` promised. */
static void test_random_controls(void **state)
{
  (void)state;
  const char *text = getenv("TB_TEST_SEED");
  unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 7;
  print_message("TB_TEST_SEED=%u\n", seed);
  srand48(seed);
  tb__clock_server_t server = running(1);
  int64_t now_ns = 5 * S, time_ns = 100 * S;
  for (int i = 0; i < 200000; i++) {
    now_ns += random_below(i % 7 ? 1000 : S);
    assert_true(tb__clock_server_time(&server, now_ns) >= time_ns);
    switch (random_below(6)) {
    case 0:
      assert_ok(tb__clock_server_set_rate(&server, 0.001 + drand48() * 20, now_ns));
      break;
    case 1:
      tb__clock_server_pause(&server, now_ns);
      break;
    case 2:
      tb__clock_server_resume(&server, now_ns);
      break;
    case 3:
      if (i % 50 == 0)
        tb__clock_server_jump(&server, 1 + random_below(S), TB_JUMP_REASON_SEEK, now_ns);
      break;
    case 4:
      tb__clock_server_set_horizon(
          &server, tb__clock_server_time(&server, now_ns) + random_below(S), now_ns);
      break;
    default:
      tb__clock_server_hold(&server, now_ns);
    }
    time_ns = tb__clock_server_time(&server, now_ns);
    assert_true(time_ns >= TB__TIME_MIN && time_ns <= server.horizon_ns);
    int64_t target_ns = time_ns + 1 + random_below(S), reach_ns;
    reach_ns = tb__clock_server_reach(&server, target_ns);
    if (reach_ns == TB__STEADY_NEVER) continue;
    assert_true(tb__clock_server_time(&server, reach_ns) >= target_ns);
    assert_true(tb__clock_server_time(&server, reach_ns - 1) < target_ns);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_follows_the_rate),
      cmocka_unit_test(test_a_bad_rate_changes_nothing),
      cmocka_unit_test(test_pause_stands_and_nothing_is_caught_up),
      cmocka_unit_test(test_horizon_stops_time),
      cmocka_unit_test(test_jump_gives_its_reason_to_one_tick),
      cmocka_unit_test(test_C2_time_is_never_zero),
      cmocka_unit_test(test_ticks_keep_their_grid),
      cmocka_unit_test(test_far_ends_saturate),
      cmocka_unit_test(test_random_controls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
