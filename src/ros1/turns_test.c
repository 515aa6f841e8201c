#include "ros1/turns.h"

#include "test.h"

#define COUNT 7

static const tb__ros1_uri_t here = {"127.0.0.1", 1}, there = {"127.0.0.1", 2};
static tb__ros1_turns_t turns;
static tb__ros1_turn_t all[COUNT];
static unsigned ran;

static void count_one(tb__ros1_turn_t *turn)
{
  (void)turn;
  ran++;
}

static int begin(void **state)
{
  (void)state;
  ran = 0;
  turns = (tb__ros1_turns_t){.taken = NULL};
  for (unsigned i = 0; i < COUNT; i++) {
    all[i] = (tb__ros1_turn_t){.next = NULL};
    tb__ros1_turn_take(&turns, &all[i], &here, count_one);
  }
  return 0;
}

static void test_some_at_a_time_and_in_order(void **state)
{
  (void)state;
  assert_int_equal(ran, TB__TURNS_MAX);
  for (unsigned i = 0; i < COUNT; i++)
    assert_int_equal(all[i].state, i < TB__TURNS_MAX ? TB__TURN_TAKEN : TB__TURN_WAITING);
  tb__ros1_turn_give(&turns, &all[2]);
  assert_int_equal(ran, TB__TURNS_MAX + 1);
  assert_int_equal(all[2].state, TB__TURN_NONE);
  assert_int_equal(all[TB__TURNS_MAX].state, TB__TURN_TAKEN);
  assert_int_equal(all[TB__TURNS_MAX + 1].state, TB__TURN_WAITING);
}

static void test_each_peer_has_its_own(void **state)
{
  tb__ros1_turn_t other = {.next = NULL};
  (void)state;
  tb__ros1_turn_take(&turns, &other, &there, count_one);
  assert_int_equal(other.state, TB__TURN_TAKEN);
  tb__ros1_turn_give(&turns, &other); /* no turn of the first peer */
  assert_int_equal(ran, TB__TURNS_MAX + 1);
}

static void test_one_that_waits_leaves(void **state)
{
  (void)state;
  tb__ros1_turn_give(&turns, &all[TB__TURNS_MAX]);
  tb__ros1_turn_give(&turns, &all[TB__TURNS_MAX]);
  assert_int_equal(ran, TB__TURNS_MAX);
  tb__ros1_turn_give(&turns, &all[0]);
  assert_int_equal(all[TB__TURNS_MAX].state, TB__TURN_NONE);
  assert_int_equal(all[TB__TURNS_MAX + 1].state, TB__TURN_TAKEN);
}

static void test_all_have_their_turn(void **state)
{
  (void)state;
  for (unsigned i = 0; i < COUNT; i++)
    tb__ros1_turn_give(&turns, &all[i]);
  assert_int_equal(ran, COUNT);
  assert_null(turns.taken);
  assert_null(turns.waiting);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_some_at_a_time_and_in_order, begin),
      cmocka_unit_test_setup(test_each_peer_has_its_own, begin),
      cmocka_unit_test_setup(test_one_that_waits_leaves, begin),
      cmocka_unit_test_setup(test_all_have_their_turn, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
