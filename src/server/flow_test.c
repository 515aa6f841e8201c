#include "server/flow.h"

#include <stdlib.h>

#include "test.h"

#define S TB_NS_PER_S

/* Time 100 s at steady 5 s, running at `rate`. */
static tb__flow_t running(double rate)
{
  tb__flow_t flow;
  tb__flow_init(&flow, 100 * S, 5 * S);
  assert_ok(tb__flow_set_rate(&flow, rate, 5 * S));
  tb__flow_resume(&flow, 5 * S);
  return flow;
}

static void test_time_follows_the_rate(void **state)
{
  (void)state;
  tb__flow_t flow = running(2);
  assert_int_equal(tb__flow_time(&flow, 5 * S), 100 * S);
  assert_int_equal(tb__flow_time(&flow, 6 * S + 1), 102 * S + 2);
  assert_int_equal(tb__flow_time(&flow, 4 * S), 100 * S);
  assert_int_equal(tb__flow_reach(&flow, 102 * S), 6 * S);
  assert_int_equal(tb__flow_reach(&flow, 102 * S + 1), 6 * S + 1);
  assert_int_equal(tb__flow_reach(&flow, 99 * S), 5 * S);
  assert_ok(tb__flow_set_rate(&flow, 0.5, 6 * S));
  assert_int_equal(tb__flow_time(&flow, 8 * S), 103 * S);
}

static void test_a_bad_rate_changes_nothing(void **state)
{
  (void)state;
  tb__flow_t flow = running(2);
  assert_status(tb__flow_set_rate(&flow, 0, 6 * S), TB_ERR_RANGE);
  assert_status(tb__flow_set_rate(&flow, 1e9, 6 * S), TB_ERR_RANGE);
  assert_int_equal(tb__flow_time(&flow, 7 * S), 104 * S);
}

static void test_paused_time_is_stopped_and_not_caught_up(void **state)
{
  (void)state;
  tb__flow_t flow = running(1);
  tb__flow_pause(&flow, 6 * S);
  tb__flow_pause(&flow, 7 * S);
  assert_int_equal(tb__flow_time(&flow, 50 * S), 101 * S);
  assert_int_equal(tb__flow_reach(&flow, 102 * S), TB__STEADY_NEVER);
  tb__flow_resume(&flow, 50 * S);
  tb__flow_resume(&flow, 51 * S);
  assert_int_equal(tb__flow_time(&flow, 50 * S), 101 * S);
  assert_int_equal(tb__flow_reach(&flow, 102 * S), 51 * S);
}

static void test_horizon_stops_time(void **state)
{
  (void)state;
  tb__flow_t flow = running(1);
  tb__flow_set_horizon(&flow, 101 * S, 5 * S);
  assert_int_equal(tb__flow_reach(&flow, 101 * S), 6 * S);
  assert_int_equal(tb__flow_reach(&flow, 101 * S + 1), TB__STEADY_NEVER);
  assert_int_equal(tb__flow_time(&flow, 9 * S), 101 * S);
  tb__flow_t caught_up = flow;
  tb__flow_set_horizon(&caught_up, 110 * S, 9 * S);
  assert_int_equal(tb__flow_time(&caught_up, 9 * S), 104 * S);
  tb__flow_t late = caught_up; /* by 3 s at the time 104 */
  tb__flow_set_horizon(&late, 104 * S, 9 * S);
  tb__flow_hold_since(&late, 12 * S, 30 * S);
  tb__flow_set_horizon(&late, 110 * S, 30 * S);
  assert_int_equal(tb__flow_time(&late, 30 * S), 107 * S);
  tb__flow_hold_since(&late, 40 * S, 31 * S); /* nothing came since */
  assert_int_equal(tb__flow_time(&late, 31 * S), 108 * S);
  tb__flow_hold(&flow, 9 * S);
  tb__flow_set_horizon(&flow, 110 * S, 9 * S);
  assert_int_equal(tb__flow_time(&flow, 9 * S), 101 * S);
  assert_int_equal(tb__flow_time(&flow, 10 * S), 102 * S);
  tb__flow_set_horizon(&flow, 1, 10 * S);
  assert_int_equal(tb__flow_time(&flow, 20 * S), 102 * S);
}

static void test_jump_gives_its_reason_to_one_tick(void **state)
{
  (void)state;
  tb__flow_t flow = running(1);
  assert_int_equal(tb__flow_tick(&flow, 6 * S).reason, TB_JUMP_REASON_TICK);
  assert_false(tb__flow_is_behind(&flow, 6 * S));
  assert_true(tb__flow_is_behind(&flow, 6 * S + 1));
  tb__flow_jump(&flow, 50 * S, TB_JUMP_REASON_SEEK, 7 * S);
  assert_true(tb__flow_is_behind(&flow, 7 * S));
  tb__tick_t tick = tb__flow_tick(&flow, 7 * S);
  assert_int_equal(tick.time_ns, 50 * S);
  assert_int_equal(tick.reason, TB_JUMP_REASON_SEEK);
  assert_false(tb__flow_is_behind(&flow, 7 * S));
  tick = tb__flow_tick(&flow, 8 * S);
  assert_int_equal(tick.time_ns, 51 * S);
  assert_int_equal(tick.reason, TB_JUMP_REASON_TICK);
}

static void test_C2_time_is_never_zero(void **state)
{
  (void)state;
  tb__flow_t flow;
  tb__flow_init(&flow, 0, 5 * S);
  assert_int_equal(tb__flow_time(&flow, 5 * S), 1);
  tb__flow_jump(&flow, -3, TB_JUMP_REASON_SEEK, 6 * S);
  assert_int_equal(tb__flow_tick(&flow, 6 * S).time_ns, 1);
}

static void test_ticks_keep_their_grid(void **state)
{
  (void)state;
  tb__flow_t flow = running(1);
  assert_int_equal(tb__flow_next_tick(&flow), TB__STEADY_NEVER);
  assert_status(tb__flow_set_tick_rate(&flow, -1, 5 * S), TB_ERR_RANGE);
  assert_status(tb__flow_set_tick_rate(&flow, 1e5, 5 * S), TB_ERR_RANGE);
  assert_ok(tb__flow_set_tick_rate(&flow, 10, 5 * S));
  assert_int_equal(tb__flow_next_tick(&flow), 5 * S);
  tb__flow_tick(&flow, 5 * S + 7);
  assert_int_equal(tb__flow_next_tick(&flow), 5 * S + S / 10);
  tb__flow_tick(&flow, 5 * S + 8); /* one in between moves nothing */
  assert_int_equal(tb__flow_next_tick(&flow), 5 * S + S / 10);
  tb__flow_tick(&flow, 5 * S + S / 2); /* four were missed */
  assert_int_equal(tb__flow_next_tick(&flow), 5 * S + S * 6 / 10);
  assert_ok(tb__flow_set_tick_rate(&flow, 0, 6 * S));
  assert_int_equal(tb__flow_next_tick(&flow), TB__STEADY_NEVER);
}

static void test_far_ends_saturate(void **state)
{
  (void)state;
  tb__flow_t flow = running(1000);
  assert_int_equal(tb__flow_time(&flow, INT64_MAX - 1), INT64_MAX);
  flow = running(0.001);
  assert_int_equal(tb__flow_reach(&flow, INT64_MAX - 1), INT64_MAX);
}

static int64_t random_below(int64_t limit)
{
  return (int64_t)(((uint64_t)lrand48() << 31 ^ (uint64_t)lrand48()) % (uint64_t)limit);
}

/* Any mix of controls: time falls only by a jump, never passes the horizon, and is reached when
 * `reach` predicts. */
static void test_random_controls(void **state)
{
  (void)state;
  const char *text = getenv("TB_TEST_SEED");
  unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 7;
  print_message("TB_TEST_SEED=%u\n", seed);
  srand48(seed);
  tb__flow_t flow = running(1);
  int64_t now_ns = 5 * S, time_ns = 100 * S;
  for (int i = 0; i < 200000; i++) {
    now_ns += random_below(i % 7 ? 1000 : S);
    assert_true(tb__flow_time(&flow, now_ns) >= time_ns);
    switch (random_below(6)) {
    case 0:
      assert_ok(tb__flow_set_rate(&flow, 0.001 + drand48() * 20, now_ns));
      break;
    case 1:
      tb__flow_pause(&flow, now_ns);
      break;
    case 2:
      tb__flow_resume(&flow, now_ns);
      break;
    case 3:
      if (i % 50 == 0) tb__flow_jump(&flow, 1 + random_below(S), TB_JUMP_REASON_SEEK, now_ns);
      break;
    case 4:
      tb__flow_set_horizon(&flow, tb__flow_time(&flow, now_ns) + random_below(S), now_ns);
      break;
    default:
      tb__flow_hold(&flow, now_ns);
    }
    const char *wrong = tb__flow_check_locked(&flow);
    if (wrong) fail_msg("control %d: %s", i, wrong);
    time_ns = tb__flow_time(&flow, now_ns);
    assert_true(time_ns >= TB__TIME_MIN && time_ns <= flow.horizon_ns);
    int64_t target_ns = time_ns + 1 + random_below(S), reach_ns;
    reach_ns = tb__flow_reach(&flow, target_ns);
    if (reach_ns == TB__STEADY_NEVER) continue;
    assert_true(tb__flow_time(&flow, reach_ns) >= target_ns);
    assert_true(tb__flow_time(&flow, reach_ns - 1) < target_ns);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_follows_the_rate),
      cmocka_unit_test(test_a_bad_rate_changes_nothing),
      cmocka_unit_test(test_paused_time_is_stopped_and_not_caught_up),
      cmocka_unit_test(test_horizon_stops_time),
      cmocka_unit_test(test_jump_gives_its_reason_to_one_tick),
      cmocka_unit_test(test_C2_time_is_never_zero),
      cmocka_unit_test(test_ticks_keep_their_grid),
      cmocka_unit_test(test_far_ends_saturate),
      cmocka_unit_test(test_random_controls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
