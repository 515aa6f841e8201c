#include "rosbag2/play_lag.h"

#include <timebase/play_transport.h>

#include "test.h"

static void send_at(tb__play_lag_t *lag, int64_t time_ns)
{
  tb__play_lag_time(lag, time_ns);
  tb__play_lag_sent(lag, 0);
}

static void test_in_lockstep(void **state)
{
  (void)state;
  tb__play_lag_t lag = {0};
  tb__play_lag_jump(&lag, 1000);
  for (int64_t time_ns = 1000; time_ns < 1050; time_ns += 10) {
    assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
    send_at(&lag, time_ns);
    assert_in_range(tb__play_lag_limit(&lag), 1000, time_ns);
    assert_true(tb__play_lag_output(&lag, time_ns - 1));
    assert_in_range(tb__play_lag_limit(&lag), 1000, time_ns);
    assert_true(tb__play_lag_output(&lag, time_ns));
  }
}

static void test_ahead_by_the_lag(void **state)
{
  (void)state;
  tb__play_lag_t lag = {.lag_ns = 25};
  tb__play_lag_jump(&lag, 900);
  send_at(&lag, 1000);
  assert_int_equal(tb__play_lag_limit(&lag), 1025); /* from what it was sent first */
  send_at(&lag, 1020);
  assert_true(tb__play_lag_output(&lag, 1000));
  assert_int_equal(tb__play_lag_limit(&lag), 1025);
  assert_true(tb__play_lag_output(&lag, 1010));
  assert_int_equal(tb__play_lag_limit(&lag), 1035);
  assert_true(tb__play_lag_output(&lag, 1005)); /* older */
  assert_int_equal(tb__play_lag_limit(&lag), 1035);
  assert_true(tb__play_lag_output(&lag, 1020));
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  lag.lag_ns = INT64_MAX;
  send_at(&lag, 1030);
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
}

static void test_answers_with_the_stamps_of_what_was_sent(void **state)
{
  (void)state;
  tb__play_lag_t lag = {0};
  tb__play_lag_jump(&lag, 1000);
  tb__play_lag_time(&lag, 1000);
  tb__play_lag_sent(&lag, 990);
  assert_int_equal(tb__play_lag_limit(&lag), 1000);
  assert_true(tb__play_lag_output(&lag, 990));
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  tb__play_lag_time(&lag, 1010);
  tb__play_lag_sent(&lag, 1020); /* ahead of time: a node that answers by the clock is late */
  assert_true(tb__play_lag_output(&lag, 1010));
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
}

static void test_after_a_jump_older_stamps_count_again(void **state)
{
  (void)state;
  tb__play_lag_t lag = {0};
  tb__play_lag_jump(&lag, 1000);
  send_at(&lag, 1000);
  send_at(&lag, 1050);
  tb__play_lag_jump(&lag, 1000);
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  assert_false(tb__play_lag_output(&lag, 1000)); /* nothing was sent yet */
  send_at(&lag, 1000);
  assert_false(tb__play_lag_output(&lag, 1050)); /* of before the jump */
  assert_int_equal(tb__play_lag_limit(&lag), 1000);
  assert_true(tb__play_lag_output(&lag, 1000));
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  tb__play_lag_jump(&lag, 2000);
  send_at(&lag, 2000);
  assert_true(tb__play_lag_output(&lag, 1050));
  assert_int_equal(tb__play_lag_limit(&lag), 2000);
}

static void test_stamps_may_be_ahead_of_time_by_the_lag(void **state)
{
  (void)state;
  tb__play_lag_t lag = {.lag_ns = 100};
  tb__play_lag_jump(&lag, 1000);
  send_at(&lag, 1000);
  assert_false(tb__play_lag_output(&lag, 1101));
  assert_int_equal(tb__play_lag_limit(&lag), 1100);
  tb__play_lag_time(&lag, 1001);
  assert_true(tb__play_lag_output(&lag, 1101));
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  send_at(&lag, 1102);
  assert_int_equal(tb__play_lag_limit(&lag), 1201);
  lag.lag_ns = INT64_MAX;
  assert_true(tb__play_lag_output(&lag, INT64_MAX));
}

static void test_a_node_that_restarts_has_been_sent_nothing(void **state)
{
  (void)state;
  tb__play_lag_t lag = {0};
  tb__play_lag_jump(&lag, 1000);
  send_at(&lag, 1000);
  tb__play_lag_join(&lag);
  assert_int_equal(tb__play_lag_limit(&lag), TB_PLAY_NO_LIMIT);
  send_at(&lag, 1010);
  assert_int_equal(tb__play_lag_limit(&lag), 1010);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_lockstep),
      cmocka_unit_test(test_ahead_by_the_lag),
      cmocka_unit_test(test_answers_with_the_stamps_of_what_was_sent),
      cmocka_unit_test(test_after_a_jump_older_stamps_count_again),
      cmocka_unit_test(test_stamps_may_be_ahead_of_time_by_the_lag),
      cmocka_unit_test(test_a_node_that_restarts_has_been_sent_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
