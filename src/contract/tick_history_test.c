#include "contract/tick_history.h"

#include <timebase/duration.h>

#include "test.h"

#define MS TB_NS_PER_MS

/* A message that was sent at 5000 ms of its host and arrived at 100 ms, stamped 30 ms. */
static const tb__ahead_t message = {30 * MS, 5000 * MS, 100 * MS};

static void test_it_waits_for_its_tick(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  assert_int_equal(tb__tick_history_settle(&history, &message, 100 * MS), TB__AHEAD_WAITS);
  tb__tick_history_add(&history, 20 * MS, 0, 99 * MS);
  tb__tick_history_add(&history, 29 * MS, 0, 110 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 600 * MS), TB__AHEAD_WAITS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 601 * MS), TB__AHEAD_SURE);
}

static void test_a_tick_soon_after_it(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  tb__tick_history_add(&history, 30 * MS, 0, 149 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 149 * MS), TB__AHEAD_RACE);
  tb__tick_history_add(&history, 40 * MS, 0, 300 * MS); /* the first one counts */
  assert_int_equal(tb__tick_history_settle(&history, &message, 300 * MS), TB__AHEAD_RACE);
}

static void test_a_tick_long_after_it(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  tb__tick_history_add(&history, 30 * MS, 5001 * MS, 150 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 150 * MS), TB__AHEAD_SURE);
}

/* As on a busy machine. */
static void test_a_tick_that_was_sent_before_it_and_came_long_after_it(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  tb__tick_history_add(&history, 30 * MS, 4999 * MS, 400 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 400 * MS), TB__AHEAD_RACE);
}

/* Time was there and has gone back since. */
static void test_ticks_that_came_before_it_do_not_count(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  tb__tick_history_add(&history, 50 * MS, 4000 * MS, 90 * MS);
  tb__tick_history_add(&history, 10 * MS, 4100 * MS, 95 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 100 * MS), TB__AHEAD_WAITS);
}

static void test_old_ticks_make_room(void **state)
{
  (void)state;
  tb__tick_history_t history = {0};
  for (int64_t i = 0; i < 3 * TB__TICK_HISTORY; i++)
    tb__tick_history_add(&history, i, 0, 101 * MS + i);
  tb__tick_history_add(&history, 30 * MS, 0, 102 * MS);
  assert_int_equal(tb__tick_history_settle(&history, &message, 102 * MS), TB__AHEAD_RACE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_waits_for_its_tick),
      cmocka_unit_test(test_a_tick_soon_after_it),
      cmocka_unit_test(test_a_tick_long_after_it),
      cmocka_unit_test(test_a_tick_that_was_sent_before_it_and_came_long_after_it),
      cmocka_unit_test(test_ticks_that_came_before_it_do_not_count),
      cmocka_unit_test(test_old_ticks_make_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
