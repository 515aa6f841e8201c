#include "source/clock_presence.h"

#include "test.h"

static void expect(tb__clock_presence_t *p, tb_clock_state_t first, tb_clock_state_t second)
{
  tb_clock_state_t states[TB__CLOCK_PRESENCE_STATES] = {(tb_clock_state_t)0, (tb_clock_state_t)0};
  size_t count = tb__clock_presence_take(p, states);
  assert_int_equal(count, (first != 0) + (second != 0));
  assert_int_equal(states[0], first);
  assert_int_equal(states[1], second);
}

#define EXPECT(p, state)          expect(p, TB_CLOCK_##state, (tb_clock_state_t)0)
#define EXPECT_TWO(p, one, other) expect(p, TB_CLOCK_##one, TB_CLOCK_##other)
#define EXPECT_NOTHING(p)         expect(p, (tb_clock_state_t)0, (tb_clock_state_t)0)

static void test_C8_publishers_come_tick_go_and_come_back(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  EXPECT(&p, NO_PUBLISHER);
  EXPECT_NOTHING(&p);
  tb__clock_presence_matched(&p, 1);
  EXPECT(&p, WAITING);
  assert_false(tb__clock_presence_tick(&p, 5));
  EXPECT_NOTHING(&p); /* the tick itself makes it running */
  tb__clock_presence_matched(&p, 2);
  tb__clock_presence_matched(&p, 1);
  EXPECT_NOTHING(&p);
  assert_int_equal(p.appearances, 1);
  tb__clock_presence_matched(&p, 0);
  EXPECT(&p, LOST);
  tb__clock_presence_matched(&p, 1);
  EXPECT(&p, STALLED);
  assert_int_equal(p.appearances, 2);
  assert_false(tb__clock_presence_tick(&p, 6));
  EXPECT_NOTHING(&p);
}

static void test_C8_a_publisher_that_never_ticked_is_not_lost(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  tb__clock_presence_matched(&p, 1);
  EXPECT(&p, WAITING);
  tb__clock_presence_matched(&p, 0);
  EXPECT(&p, NO_PUBLISHER);
  tb__clock_presence_matched(&p, 1);
  assert_false(tb__clock_presence_tick(&p, 0)); /* "not set" is no time */
  EXPECT(&p, WAITING);
}

static void test_C8_a_mismatch_ends_with_a_match_or_its_publisher(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  tb__clock_presence_incompatible(&p, 1);
  EXPECT(&p, QOS_MISMATCH);
  tb__clock_presence_matched(&p, 1);
  EXPECT(&p, WAITING);
  assert_false(tb__clock_presence_tick(&p, 5));
  tb__clock_presence_matched(&p, 0);
  EXPECT_TWO(&p, LOST, QOS_MISMATCH);
  p.unmatched = false;
  EXPECT(&p, LOST);
  tb__clock_presence_incompatible(&p, 2);
  EXPECT(&p, QOS_MISMATCH);
}

static void test_C8_nothing_is_lost_between_two_looks(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  tb__clock_presence_matched(&p, 1);
  tb__clock_presence_tick(&p, 5);
  tb__clock_presence_matched(&p, 0);
  tb__clock_presence_matched(&p, 1);
  EXPECT_TWO(&p, LOST, STALLED);
  tb__clock_presence_matched(&p, 0);
  tb__clock_presence_matched(&p, 1);
  tb__clock_presence_tick(&p, 6);
  EXPECT_NOTHING(&p); /* running again already */
}

/* The state that was reported last is reported again after another one. */
static void test_C8_the_last_state_reported_is_the_current_one(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  tb__clock_presence_matched(&p, 1);
  tb__clock_presence_tick(&p, 5);
  tb__clock_presence_matched(&p, 0);
  tb__clock_presence_matched(&p, 1);
  EXPECT_TWO(&p, LOST, STALLED);
  tb__clock_presence_matched(&p, 0);
  tb__clock_presence_matched(&p, 1);
  EXPECT_TWO(&p, LOST, STALLED);
  EXPECT_NOTHING(&p);
}

/* A sample may be handed over when its publisher is gone, or before it counts as matched. */
static void test_C8_a_tick_of_an_unmatched_publisher(void **state)
{
  (void)state;
  tb__clock_presence_t p = {0};
  assert_true(tb__clock_presence_tick(&p, 5));
  EXPECT(&p, LOST);
  tb__clock_presence_matched(&p, 1);
  EXPECT(&p, RUNNING);
  EXPECT_NOTHING(&p);
  tb__clock_presence_matched(&p, 0);
  EXPECT(&p, LOST);
  assert_true(tb__clock_presence_tick(&p, 6));
  EXPECT(&p, LOST);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C8_publishers_come_tick_go_and_come_back),
      cmocka_unit_test(test_C8_a_publisher_that_never_ticked_is_not_lost),
      cmocka_unit_test(test_C8_a_mismatch_ends_with_a_match_or_its_publisher),
      cmocka_unit_test(test_C8_nothing_is_lost_between_two_looks),
      cmocka_unit_test(test_C8_the_last_state_reported_is_the_current_one),
      cmocka_unit_test(test_C8_a_tick_of_an_unmatched_publisher),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
