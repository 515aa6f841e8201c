/* What ticks of /clock are taken for, and what is just not that. */
#include "contract/ticks.h"

#include <math.h>

#include "seed.h"
#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__ticks_t ticks;
static int64_t tick_ns, now_ns; /* of the last tick */

static int start(void **state)
{
  (void)state;
  tb__ticks_init(&ticks, NULL, true);
  tick_ns = 10000 * S;
  now_ns = 5000 * S;
  tb__ticks_feed(&ticks, 0, tick_ns, now_ns);
  return 0;
}

static tb__tick_kind_t step(int64_t tick_step_ns, int64_t wait_ns)
{
  return tb__ticks_feed(&ticks, 0, tick_ns += tick_step_ns, now_ns += wait_ns);
}

/* `count` ticks of 10 ms at half of real time. */
static void run(int count)
{
  for (int i = 0; i < count; i++)
    assert_int_equal(step(10 * MS, 20 * MS), TB__TICK_FORWARD);
}

static uint64_t count_of(tb__tick_kind_t kind)
{
  return ticks.all.kinds[kind];
}

static void test_rate_and_factor(void **state)
{
  (void)state;
  assert_true(tb__tick_stream_rate(&ticks.all) <= 0 && tb__tick_stream_factor(&ticks.all) <= 0);
  run(100);
  assert_true(fabs(tb__tick_stream_rate(&ticks.all) - 50) < 1e-9);
  assert_true(fabs(tb__tick_stream_factor(&ticks.all) - 0.5) < 1e-9);
  assert_int_equal(ticks.all.usual_step_ns, 10 * MS);
  /* Neither a stall nor a jump changes them. */
  step(10 * MS, 3 * S);
  step(-50 * S, 20 * MS);
  step(500 * S, 20 * MS);
  assert_true(fabs(tb__tick_stream_rate(&ticks.all) - 50) < 1e-9);
  assert_true(fabs(tb__tick_stream_factor(&ticks.all) - 0.5) < 1e-9);
}

static void test_the_longest_step_is_of_no_jump(void **state)
{
  (void)state;
  run(40);
  assert_int_equal(ticks.all.longest_step_ns, ticks.all.usual_step_ns);
  step(30 * MS, 60 * MS); /* a tick that came late */
  assert_int_equal(ticks.all.longest_step_ns, 30 * MS);
  step(500 * S, 20 * MS);
  step(-50 * S, 20 * MS);
  run(5);
  assert_int_equal(ticks.all.longest_step_ns, 30 * MS);
}

static void test_zero_is_no_time(void **state)
{
  (void)state;
  run(5);
  assert_int_equal(tb__ticks_feed(&ticks, 0, 0, now_ns), TB__TICK_ZERO);
  assert_int_equal(tb__ticks_feed(&ticks, 0, -1, now_ns), TB__TICK_INVALID);
  assert_int_equal(tb__ticks_feed(&ticks, 0, INT64_MIN, now_ns), TB__TICK_INVALID);
  run(5);
  assert_int_equal(ticks.all.epoch.number, 0);
  assert_int_equal(count_of(TB__TICK_ZERO), 1);
  assert_int_equal(count_of(TB__TICK_INVALID), 2);
  assert_int_equal(ticks.all.invalid_ns, -1);
}

static void test_a_jump_back(void **state)
{
  (void)state;
  run(20);
  int64_t from_ns = tick_ns;
  assert_int_equal(step(-60 * S, 20 * MS), TB__TICK_BACKWARD);
  run(20);
  assert_int_equal(ticks.all.epoch.number, 1);
  assert_int_equal(ticks.all.epoch.from_ns, from_ns);
  assert_int_equal(ticks.all.epoch.to_ns, from_ns - 60 * S);
  assert_int_equal(ticks.all.backward_ns, 60 * S);
  assert_int_equal(ticks.all.backward_at_ns, from_ns);
  assert_false(tb__tick_stream_is_double(&ticks.all));
}

static void test_a_loop_that_reaches_the_same_times_again_is_no_second_stream(void **state)
{
  (void)state;
  for (int i = 0; i < 6; i++) {
    run(30);
    step(-300 * MS, 20 * MS);
  }
  assert_int_equal(count_of(TB__TICK_BACKWARD), 6);
  assert_int_equal(count_of(TB__TICK_SWITCH), 0);
  assert_int_equal(ticks.all.epoch.number, 6);
  assert_false(tb__tick_stream_is_double(&ticks.all));
}

static void test_a_late_tick_is_no_jump(void **state)
{
  (void)state;
  run(20);
  int64_t last_ns = tick_ns;
  assert_int_equal(step(-30 * MS, 20 * MS), TB__TICK_REORDERED);
  assert_int_equal(ticks.all.last_ns, last_ns); /* time is not set back */
  assert_int_equal(step(40 * MS, 20 * MS), TB__TICK_FORWARD);
  run(20);
  assert_int_equal(count_of(TB__TICK_REORDERED), 1);
  assert_int_equal(ticks.all.epoch.number, 0);
  assert_int_equal(ticks.all.reordered_ns, 30 * MS);
}

static void test_a_small_jump_back_is_found_with_the_next_tick(void **state)
{
  (void)state;
  run(20);
  int64_t from_ns = tick_ns;
  assert_int_equal(step(-30 * MS, 20 * MS), TB__TICK_REORDERED);
  assert_int_equal(step(10 * MS, 20 * MS), TB__TICK_BACKWARD);
  assert_int_equal(ticks.all.epoch.number, 1);
  assert_int_equal(ticks.all.epoch.from_ns, from_ns);
  assert_int_equal(count_of(TB__TICK_REORDERED), 0);
  run(20);
  assert_int_equal(ticks.all.epoch.number, 1);
}

static void test_gaps(void **state)
{
  (void)state;
  run(20);
  assert_int_equal(step(S, 2 * S), TB__TICK_FORWARD); /* as long as the limit */
  run(5);
  int64_t from_ns = tick_ns;
  assert_int_equal(step(S + 1, 2 * S), TB__TICK_GAP);
  assert_int_equal(ticks.all.gap_ns, S + 1);
  assert_int_equal(ticks.all.gap_at_ns, from_ns);
  assert_int_equal(ticks.all.epoch.number, 0);
}

static void test_slow_clocks_have_longer_gaps(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++)
    step(S, S);
  assert_int_equal(step(5 * S, 5 * S), TB__TICK_FORWARD);
  assert_int_equal(ticks.all.stalls, 0);
  assert_int_equal(step(5 * S + 1, 5 * S + 1), TB__TICK_GAP);
}

static void test_a_jump_forward_is_no_gap(void **state)
{
  (void)state;
  run(20);
  assert_int_equal(step(30 * S, 20 * MS), TB__TICK_SKIP);
  assert_int_equal(count_of(TB__TICK_GAP), 0);
  assert_int_equal(ticks.all.skip_ns, 30 * S);
  /* Without steady time there is no difference. */
  tb__ticks_init(&ticks, NULL, false);
  for (int i = 1; i <= 20; i++)
    tb__ticks_feed(&ticks, 0, i * S, i * S);
  assert_int_equal(tb__ticks_feed(&ticks, 0, 60 * S, 21 * S), TB__TICK_GAP);
}

static void test_stalls(void **state)
{
  (void)state;
  run(20);
  assert_int_equal(step(10 * MS, S), TB__TICK_FORWARD);
  assert_int_equal(ticks.all.stalls, 0);
  int64_t from_ns = tick_ns;
  assert_int_equal(step(10 * MS, S + 1), TB__TICK_FORWARD);
  assert_int_equal(ticks.all.stalls, 1);
  assert_int_equal(ticks.all.stall_ns, S + 1);
  assert_int_equal(ticks.all.stall_at_ns, from_ns);
  tb__ticks_end(&ticks, now_ns + S);
  assert_int_equal(ticks.all.stalls, 1);
  tb__ticks_end(&ticks, now_ns + 8 * S);
  assert_int_equal(ticks.all.stalls, 2);
  assert_int_equal(ticks.all.stall_ns, 8 * S);
}

static void test_a_slow_clock_does_not_stall(void **state)
{
  (void)state;
  for (int i = 0; i < 3; i++)
    assert_int_not_equal(step(3 * S, 3 * S), TB__TICK_GAP);
  tb__ticks_t few = ticks;
  tb__ticks_end(&few, now_ns + 3 * S);
  assert_int_equal(few.all.stalls, 0);
  for (int i = 0; i < 17; i++)
    assert_int_not_equal(step(3 * S, 3 * S), TB__TICK_GAP);
  assert_int_equal(ticks.all.usual_wait_ns, 3 * S);
  assert_int_equal(ticks.all.stalls, 0);
}

static void test_a_stall_before_it_is_known_what_is_usual(void **state)
{
  (void)state;
  run(2);
  int64_t from_ns = tick_ns;
  step(10 * MS, 3 * S);
  run(20);
  assert_int_equal(ticks.all.stalls, 1);
  assert_int_equal(ticks.all.stall_ns, 3 * S);
  assert_int_equal(ticks.all.stall_at_ns, from_ns);
}

static void test_repeats_are_a_pause(void **state)
{
  (void)state;
  run(20);
  for (int i = 0; i < 100; i++)
    assert_int_equal(step(0, 50 * MS), TB__TICK_REPEAT);
  run(1);
  assert_int_equal(ticks.all.pauses, 1);
  assert_int_equal(ticks.all.stalls, 0);
  assert_int_equal(ticks.all.pause_ns, 5 * S + 20 * MS);
  /* Repeats with a silence among them: it stalled. */
  run(5);
  step(0, 50 * MS);
  step(0, 2 * S);
  step(0, 50 * MS);
  run(1);
  assert_int_equal(ticks.all.stalls, 1);
  assert_int_equal(ticks.all.stall_ns, 2 * S);
}

static void test_two_streams_of_one_publisher(void **state)
{
  (void)state;
  run(10);
  for (int i = 0; i < 50; i++) {
    step(-1500 * S, 10 * MS);
    step(1500 * S + 10 * MS, 10 * MS);
  }
  assert_true(tb__tick_stream_is_double(&ticks.all));
  assert_int_equal(count_of(TB__TICK_BACKWARD), 0); /* the first one was none either */
  assert_true(count_of(TB__TICK_SWITCH) > 90);
  assert_in_range(ticks.all.apart_ns, 1500 * S - MS, 1500 * S + 20 * MS);
}

static void test_there_and_back_once_is_no_second_stream(void **state)
{
  (void)state;
  run(10);
  step(-50 * S, 20 * MS);
  run(3);
  step(50 * S, 20 * MS); /* a seek to where it was */
  run(10);
  assert_false(tb__tick_stream_is_double(&ticks.all));
}

static void test_seeks_far_apart_in_time_are_no_second_stream(void **state)
{
  (void)state;
  for (int i = 0; i < 5; i++) {
    run(100); /* 2 s of steady time between them */
    step(-50 * S, 20 * MS);
    run(100);
    step(50 * S, 20 * MS);
  }
  assert_int_equal(count_of(TB__TICK_SWITCH), 0);
  assert_false(tb__tick_stream_is_double(&ticks.all));
  assert_int_equal(count_of(TB__TICK_BACKWARD), 5);
  assert_int_equal(count_of(TB__TICK_SKIP), 5);
}

static void test_two_streams_a_few_ticks_apart(void **state)
{
  (void)state;
  run(10);
  for (int i = 0; i < 30; i++) {
    step(-25 * MS, 10 * MS);
    step(35 * MS, 10 * MS);
  }
  assert_true(tb__tick_stream_is_double(&ticks.all));
}

static void test_publishers(void **state)
{
  (void)state;
  tb__ticks_init(&ticks, NULL, true);
  for (int i = 1; i < 20; i++)
    tb__ticks_feed(&ticks, 11, i * S, i * S);
  assert_int_equal(tb__ticks_simultaneous(&ticks), 1);
  for (int i = 1; i < 20; i++) /* it was started again: another one, at the beginning */
    tb__ticks_feed(&ticks, 12, i * S, (20 + i) * S);
  assert_int_equal(tb__ticks_simultaneous(&ticks), 1);
  assert_int_equal(ticks.all.epoch.number, 1);
  for (int i = 1; i < 20; i++)
    tb__ticks_feed(&ticks, 11 + (uint64_t)i % 2, (20 + i) * S, (40 + i) * S);
  assert_int_equal(tb__ticks_simultaneous(&ticks), 2);
}

static void test_a_next_round_goes_on_from_the_last_tick(void **state)
{
  (void)state;
  tb__ticks_t next;
  for (int i = 0; i < 40; i++)
    tb__ticks_feed(&ticks, 1 + (uint64_t)i % 2, tick_ns += 10 * MS, now_ns += 20 * MS);
  tb__ticks_feed(&ticks, 2, tick_ns -= 60 * S, now_ns += 20 * MS);
  tb__ticks_init_after(&next, &ticks);
  assert_int_equal(next.publisher_count, 1);
  assert_int_equal(next.publishers[0].id, 2);
  assert_int_equal(next.all.last_ns, tick_ns);
  assert_int_equal(next.all.kinds[TB__TICK_BACKWARD], 0);
  assert_int_equal(next.all.epoch.number, 1);
  assert_int_equal(tb__ticks_feed(&next, 2, tick_ns -= 60 * S, now_ns += 20 * MS),
                   TB__TICK_BACKWARD);
  assert_int_equal(next.all.epoch.number, 2);
  tb__ticks_init(&ticks, NULL, true);
  tb__ticks_init_after(&next, &ticks); /* nothing has ticked */
  assert_int_equal(next.all.ticks, 0);
}

static void test_a_pause_over_two_rounds_is_no_stall(void **state)
{
  (void)state;
  tb__ticks_t next;
  tb__ticks_init(&ticks, NULL, true);
  for (int i = 0; i < 100; i++)
    tb__ticks_feed(&ticks, 1, tick_ns += 10 * MS, now_ns += 20 * MS);
  for (int i = 0; i < 600; i++)
    tb__ticks_feed(&ticks, 1, tick_ns, now_ns += 100 * MS);
  tb__ticks_init_after(&next, &ticks);
  for (int i = 0; i < 600; i++)
    tb__ticks_feed(&next, 1, tick_ns, now_ns += 100 * MS);
  for (int i = 0; i < 100; i++)
    tb__ticks_feed(&next, 1, tick_ns += 10 * MS, now_ns += 20 * MS);
  assert_int_equal(next.all.stalls, 0);
  assert_int_equal(next.publishers[0].stream.stalls, 0);
}

static void test_more_publishers_than_there_is_room_for(void **state)
{
  (void)state;
  tb__ticks_init(&ticks, NULL, true);
  for (uint64_t i = 0; i < 100; i++)
    tb__ticks_feed(&ticks, 1 + i % 10, (int64_t)(1 + i) * MS, (int64_t)i * MS);
  assert_int_equal(ticks.publisher_count, TB__TICK_PUBLISHERS);
  assert_int_equal(ticks.unattributed, 20);
  assert_int_equal(ticks.all.ticks, 100);
}

static void test_any_ticks(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  for (int round = 0; round < 200; round++) {
    tb__ticks_init(&ticks, NULL, round % 2);
    for (int i = 0; i < 500; i++) {
      int64_t tick = (int64_t)test_random(&seed) >> (test_random(&seed) % 64);
      int64_t arrival = (int64_t)test_random(&seed) >> (test_random(&seed) % 64);
      tb__ticks_feed(&ticks, test_random(&seed) % 12, tick, arrival);
    }
    tb__ticks_end(&ticks, INT64_MAX);
    uint64_t sum = 0;
    for (int kind = 0; kind < TB__TICK_KIND_COUNT; kind++)
      sum += ticks.all.kinds[kind];
    assert_true(sum <= ticks.all.ticks); /* small jumps back are taken from late ticks */
    assert_true(sum + ticks.all.epoch.number * 3 >= ticks.all.ticks);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_rate_and_factor, start),
      cmocka_unit_test_setup(test_the_longest_step_is_of_no_jump, start),
      cmocka_unit_test_setup(test_zero_is_no_time, start),
      cmocka_unit_test_setup(test_a_jump_back, start),
      cmocka_unit_test_setup(test_a_loop_that_reaches_the_same_times_again_is_no_second_stream,
                             start),
      cmocka_unit_test_setup(test_a_late_tick_is_no_jump, start),
      cmocka_unit_test_setup(test_a_small_jump_back_is_found_with_the_next_tick, start),
      cmocka_unit_test_setup(test_gaps, start),
      cmocka_unit_test_setup(test_slow_clocks_have_longer_gaps, start),
      cmocka_unit_test_setup(test_a_jump_forward_is_no_gap, start),
      cmocka_unit_test_setup(test_stalls, start),
      cmocka_unit_test_setup(test_a_slow_clock_does_not_stall, start),
      cmocka_unit_test_setup(test_a_stall_before_it_is_known_what_is_usual, start),
      cmocka_unit_test_setup(test_repeats_are_a_pause, start),
      cmocka_unit_test_setup(test_two_streams_of_one_publisher, start),
      cmocka_unit_test_setup(test_there_and_back_once_is_no_second_stream, start),
      cmocka_unit_test_setup(test_seeks_far_apart_in_time_are_no_second_stream, start),
      cmocka_unit_test_setup(test_two_streams_a_few_ticks_apart, start),
      cmocka_unit_test_setup(test_publishers, start),
      cmocka_unit_test_setup(test_more_publishers_than_there_is_room_for, start),
      cmocka_unit_test_setup(test_a_next_round_goes_on_from_the_last_tick, start),
      cmocka_unit_test_setup(test_a_pause_over_two_rounds_is_no_stall, start),
      cmocka_unit_test_setup(test_any_ticks, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
