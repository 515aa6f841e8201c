#include "play_gap.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define S      TB_NS_PER_S
#define HOUR_S 3600

/* Another message is so far away. */
static tb_player_status_t status_of(int64_t seconds)
{
  return (tb_player_status_t){.recording_start_ns = 5 * S,
                              .position_ns = 10 * S,
                              .next_ns = (10 + seconds) * S,
                              .rate = 1,
                              .next_topic = 1,
                              .next_file = 1};
}

static void assert_text(const tb_player_status_t *status, const char *expected)
{
  char text[PLAY_GAP_TEXT_SIZE];
  assert_string_equal(play_gap_text(status, text), expected);
}

static void test_the_time_to_the_next_message(void **state)
{
  (void)state;
  tb_player_status_t status = status_of(9);
  assert_text(&status, "");
  status = status_of(10);
  assert_text(&status, "next message in 0:00:10");
  status = status_of(47 * HOUR_S + 62);
  assert_text(&status, "next message in 47:01:02");
  status.rate = 47;
  assert_text(&status, "next message in 1:00:01");
  status.rate = TB_PLAYER_FASTEST;
  assert_text(&status, "");
  status = status_of(18262 * INT64_C(86400));
  assert_text(&status, "next message in 18262 days");
}

static void test_nothing_where_it_is_not_waited_for(void **state)
{
  (void)state;
  const tb_player_status_t far = status_of(2 * HOUR_S);
  tb_player_status_t paused = far, halted = far, finished = far, held = far, repeated = far;
  tb_player_status_t unknown = far;
  paused.paused = halted.halted = finished.finished = true;
  strcpy(held.waits_for, "/slow");
  repeated.repeat_to_ns = 11 * S;
  unknown.next_ns = 0;
  const tb_player_status_t *const cases[] = {&paused, &halted,   &finished,
                                             &held,   &repeated, &unknown};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t reported_ns = 0;
    assert_text(cases[i], "");
    assert_null(play_gap_warning(cases[i], NULL, &reported_ns));
  }
}

static void test_a_message_that_is_far_away_is_reported_once(void **state)
{
  (void)state;
  static const char *const files[] = {"/bags/one", "/bags/\033two"};
  static const tb_bag_topic_t topics[] = {{.name = "/a"}, {.name = "/b"}};
  const tb_bag_info_t info = {.topics = topics, .topic_count = 2, .files = files, .file_count = 2};
  int64_t reported_ns = 0;
  tb_player_status_t status = status_of(HOUR_S);
  assert_null(play_gap_warning(&status, &info, &reported_ns));
  status = status_of(HOUR_S + 1);
  char *text = play_gap_warning(&status, &info, &reported_ns);
  assert_string_equal(text, "no message for 1:00:01: the next message, on /b of "
                            "/bags/\\x1btwo, is at 1970-01-01T01:00:11Z. To skip the gap: "
                            "--start-offset 3606s, or on a terminal the keys SPACE . SPACE");
  free(text);
  assert_null(play_gap_warning(&status, &info, &reported_ns));
  status.next_ns += S;
  text = play_gap_warning(&status, &info, &reported_ns);
  assert_non_null(text);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_time_to_the_next_message),
      cmocka_unit_test(test_nothing_where_it_is_not_waited_for),
      cmocka_unit_test(test_a_message_that_is_far_away_is_reported_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
