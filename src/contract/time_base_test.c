/* Which time a node follows, by each kind of evidence and in their order. */
#include "contract/time_base.h"

#include <stddef.h>

#include "test.h"

static void assert_verdict(tb__base_facts_t facts, tb__base_t base, tb__base_evidence_t by)
{
  tb__base_verdict_t verdict = tb__base_judge(&facts);
  assert_string_equal(tb__base_name(verdict.base), tb__base_name(base));
  assert_string_equal(tb__base_evidence_name(verdict.by), tb__base_evidence_name(by));
}

#define ASSERT_VERDICT(base, by, ...) assert_verdict((tb__base_facts_t){__VA_ARGS__}, base, by)

static void test_silence_is_not_wall_time(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING, .answer = TB__IS_NOT_KNOWN);
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING, .stamps_of_wall = 2);
}

static void test_the_answer_comes_first(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_ANSWER, .answer = TB__IS_FALSE, .follows_clock = true,
                 .event = TB__IS_TRUE, .stamps_of_clock = 9);
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_ANSWER, .answer = TB__IS_TRUE, .is_rcl = true,
                 .stamps_of_wall = 9);
  ASSERT_VERDICT(TB__BASE_OTHER, TB__BASE_BY_ANSWER, .answer = TB__IS_TRUE,
                 .has_other_source = true);
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_ANSWER, .answer = TB__IS_FALSE,
                 .has_other_source = true);
}

static void test_a_process_on_shared_memory(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_OTHER, TB__BASE_BY_SHARED_MEMORY, .answer = TB__IS_FALSE,
                 .is_on_shared_time = true);
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_SHARED_MEMORY, .answer = TB__IS_FALSE,
                 .may_be_on_shared_time = true);
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_ANSWER, .answer = TB__IS_TRUE,
                 .may_be_on_shared_time = true);
}

static void test_an_event_after_the_answer(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_EVENT, .answer = TB__IS_FALSE, .event = TB__IS_TRUE,
                 .is_event_newer = true);
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_EVENT, .answer = TB__IS_TRUE, .event = TB__IS_FALSE,
                 .is_event_newer = true);
}

static void test_silent_nodes_by_their_subscription(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_SUBSCRIPTION, .follows_clock = true, .is_rcl = true);
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_SUBSCRIPTION, .follows_clock = true);
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_NO_SUBSCRIPTION, .is_rcl = true);
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING, .is_rcl = true, .has_unseen = true);
}

/* It subscribes to /clock to record it: that shows neither the one nor the other. */
static void test_recorders_are_not_judged_by_it(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING, .follows_clock = true, .is_recorder = true,
                 .is_rcl = true);
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_ANSWER, .follows_clock = true, .is_recorder = true,
                 .answer = TB__IS_FALSE);
}

static void test_silent_nodes_by_their_events(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_EVENT, .event = TB__IS_FALSE);
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_EVENT, .event = TB__IS_TRUE, .is_rcl = true);
}

static void test_silent_nodes_by_their_stamps(void **state)
{
  (void)state;
  ASSERT_VERDICT(TB__BASE_WALL, TB__BASE_BY_STAMPS, .stamps_of_wall = 3);
  ASSERT_VERDICT(TB__BASE_CLOCK, TB__BASE_BY_STAMPS, .stamps_of_clock = 3);
  /* it passes on messages of others */
  ASSERT_VERDICT(TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING, .stamps_of_clock = 9, .stamps_of_wall = 3);
}

static void test_tools(void **state)
{
  (void)state;
  assert_true(tb__base_is_tool("/_ros2cli_daemon_0_abc"));
  assert_true(tb__base_is_tool("/launch_ros_4711"));
  assert_true(tb__base_is_tool("/nav/transform_listener_impl_5581f0"));
  assert_false(tb__base_is_tool("/_ns/camera"));
  assert_false(tb__base_is_tool("/ekf"));
  assert_false(tb__base_is_tool(""));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_silence_is_not_wall_time),
      cmocka_unit_test(test_the_answer_comes_first),
      cmocka_unit_test(test_an_event_after_the_answer),
      cmocka_unit_test(test_a_process_on_shared_memory),
      cmocka_unit_test(test_silent_nodes_by_their_subscription),
      cmocka_unit_test(test_recorders_are_not_judged_by_it),
      cmocka_unit_test(test_silent_nodes_by_their_events),
      cmocka_unit_test(test_silent_nodes_by_their_stamps),
      cmocka_unit_test(test_tools),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
