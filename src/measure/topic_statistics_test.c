/* Losses, history, epochs and timers in the statistics of a node. */
#include <string.h>

#include "measure/statistics_fixture.h"

/* ---- publishers ---- */

static void test_losses_are_those_of_each_publisher(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  static const struct {
    uint8_t writer;
    uint64_t sequence;
  } received[] = {{1, 10}, {2, 500}, {1, 11}, {1, 14}, {2, 501},
                  {1, 12}, {1, 14},  {1, 15}, {2, 512}};
  for (size_t i = 0; i < sizeof received / sizeof *received; i++) {
    const tb_topic_message_t message = {.sequence = received[i].sequence,
                                        .writer_guid = {received[i].writer}};
    tb_topic_statistics_begin(topic, &message);
  }
  for (uint8_t writer = 3; writer < 60; writer++) { /* more than there is room for */
    const tb_topic_message_t message = {.sequence = writer, .writer_guid = {writer}};
    tb_topic_statistics_begin(topic, &message);
  }
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.interval.lost, 2 + 10);
  assert_int_equal(summary.publishers, 59);
}

static void get_number(uint32_t writer, uint64_t sequence)
{
  tb_topic_message_t message = {.sequence = sequence};
  memcpy(message.writer_guid, &writer, sizeof writer);
  tb_topic_statistics_begin(topic, &message);
}

/* Those beyond the first 16 are followed too, as many as there is room for: what comes then takes
 * the place of the one that came first. */
static void test_losses_of_many_publishers(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (uint32_t writer = 1; writer <= 128; writer++)
    get_number(writer, 10);
  for (uint32_t writer = 1; writer <= 128; writer++)
    get_number(writer, 12); /* one lost of each */
  assert_int_equal(snapshot().interval.lost, 128);
  get_number(129, 10);
  get_number(17, 20); /* was forgotten: counts again, in place of the 18th */
  get_number(1, 20);  /* the first ones never are */
  get_number(129, 15);
  get_number(19, 14);
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.interval.lost, 7 + 4 + 1);
  assert_int_equal(summary.publishers, 128);
}

static void test_history_is_no_transport(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  const tb_topic_message_t latched = {
      .source_timestamp_ns = now_of(TB_TESTING_SYSTEM) - 60 * S,
      .receive_timestamp_ns = now_of(TB_TESTING_SYSTEM),
  };
  tb_topic_statistics_begin(topic, &latched);
  assert_int_equal(snapshot().interval.history, 1);
  assert_none(TB_TOPIC_SOURCE_TO_RECEIVE);
}

/* System time was set back by an hour, on both sides: what is sent after that is no history. */
static void test_transport_after_system_time_was_set_back(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  pass(f, S, 1);
  const int64_t now_ns = now_of(TB_TESTING_SYSTEM) - 3600 * S;
  const tb_topic_message_t message = {
      .stamp_ns = 101 * S - 30 * MS,
      .has_stamp = true,
      .source_timestamp_ns = now_ns - 20 * MS,
      .receive_timestamp_ns = now_ns - 5 * MS,
      .receive_steady_ns = now_of(TB_TESTING_STEADY) - 5 * MS,
  };
  tb_topic_statistics_begin(topic, &message);
  assert_int_equal(snapshot().interval.history, 0);
  assert_one(TB_TOPIC_SOURCE_TO_RECEIVE, 15 * MS);
  assert_one(TB_TOPIC_MESSAGE_AGE, 30 * MS);
}

/* ---- epochs ---- */

static tb_histogram_stats_t of_window(tb_topic_metric_t metric, tb_histogram_window_t window)
{
  tb_histogram_stats_t stats;
  assert_ok(tb_histogram_stats(tb_topic_statistics_histogram(topic, metric), window, &stats));
  return stats;
}

/* To the message, also where the jump is in the middle of an interval. */
static void test_statistics_of_the_epoch(void **state)
{
  const fixture_t *f = *state;
  tb_timer_statistics_t *timer;
  assert_ok(tb_timer_statistics_create(statistics, "control", &timer));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (int i = 0; i < 3; i++) {
    get_received(100 * S - 10 * MS, 2 * MS);
    tb_timer_statistics_note_steady(timer, (tb_steady_time_t){S}, (tb_steady_time_t){S + MS}, 0);
  }
  assert_int_equal(snapshot().epoch, tb_clock_epoch(f->clock));
  assert_int_equal(of_window(TB_TOPIC_MESSAGE_AGE, TB_HISTOGRAM_EPOCH).count, 3);
  get_received(100 * S - 10 * MS, 2 * MS);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  pass(f, 10 * MS, 1);
  get_received(50 * S - 20 * MS, 4 * MS);
  tb_timer_statistics_note_steady(timer, (tb_steady_time_t){S}, (tb_steady_time_t){S + 9 * MS}, 0);
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.epoch, tb_clock_epoch(f->clock));
  assert_int_equal(of_window(TB_TOPIC_MESSAGE_AGE, TB_HISTOGRAM_INTERVAL).count, 2);
  assert_int_equal(of_window(TB_TOPIC_MESSAGE_AGE, TB_HISTOGRAM_SINCE_START).count, 5);
  tb_histogram_stats_t age = of_window(TB_TOPIC_MESSAGE_AGE, TB_HISTOGRAM_EPOCH);
  assert_int_equal(age.count, 1);
  assert_int_equal(age.least.ns, 30 * MS);
  assert_int_equal(of_window(TB_TOPIC_CALLBACK_QUEUE_DELAY, TB_HISTOGRAM_EPOCH).greatest.ns,
                   4 * MS);
  tb_histogram_stats_t late;
  assert_ok(tb_histogram_stats(tb_timer_statistics_lateness(timer), TB_HISTOGRAM_EPOCH, &late));
  assert_int_equal(late.count, 1);
  assert_int_equal(late.least.ns, 9 * MS);
}

/* ---- timers ---- */

/* A call that was due at 1 s and made at 1.35 s, with a period of 0.1 s, keeps three others away,
 * which would have been late by 0.25 s, 0.15 s and 0.05 s. */
static void test_lateness_of_periodic_timers_is_corrected(void **state)
{
  (void)state;
  tb_histogram_stats_t stats;
  uint64_t count;
  tb_timer_statistics_t *timer;
  const tb_steady_time_t due = {S}, late = {S + 350 * MS};
  assert_ok(tb_timer_statistics_create(statistics, "control", &timer));
  assert_status(tb_timer_statistics_set_period(timer, (tb_duration_t){0}), TB_ERR_INVALID);
  assert_ok(tb_timer_statistics_set_period(timer, (tb_duration_t){100 * MS}));
  tb_timer_statistics_note_steady(timer, due, due, 0);
  tb_timer_statistics_note_steady(timer, due, late, 3);
  snapshot();
  const tb_histogram_t *corrected = tb_timer_statistics_corrected_lateness(timer);
  assert_ok(tb_histogram_stats(corrected, TB_HISTOGRAM_SINCE_START, &stats));
  assert_int_equal(stats.count, 5);
  assert_true(stats.mean_ns == 160. * MS);
  assert_int_equal(stats.greatest.ns, 350 * MS);
  static const int64_t limits_ms[] = {40, 60, 160, 260, 360};
  for (uint64_t i = 0; i < 5; i++) {
    const tb_duration_t limit = {limits_ms[i] * MS};
    assert_ok(tb_histogram_count_at_most(corrected, TB_HISTOGRAM_SINCE_START, limit, &count));
    assert_int_equal(count, i + 1);
  }
  const tb_histogram_t *plain = tb_timer_statistics_lateness(timer);
  assert_ok(tb_histogram_stats(plain, TB_HISTOGRAM_SINCE_START, &stats));
  assert_int_equal(stats.count, 2);
  /* bounded, and never below zero whatever is noted */
  tb_timer_statistics_note_steady(timer, due, (tb_steady_time_t){1000 * S}, UINT64_MAX);
  tb_timer_statistics_note_steady(timer, due, (tb_steady_time_t){S + 10}, UINT64_MAX);
  snapshot();
  assert_ok(tb_histogram_stats(corrected, TB_HISTOGRAM_INTERVAL, &stats));
  assert_int_equal(stats.count, 1001 + 1);
  assert_true(stats.least.ns >= 0);
  tb_timer_statistics_destroy(timer);
}

static void test_timers_have_lateness_and_missed_periods(void **state)
{
  (void)state;
  tb_timer_statistics_t *timer;
  tb_histogram_stats_t stats;
  assert_ok(tb_timer_statistics_create(statistics, "control", &timer));
  tb_timer_statistics_note(timer, (tb_time_t){S, TB_TIME_ROS}, (tb_time_t){S + 3 * MS, TB_TIME_ROS},
                           2);
  tb_timer_statistics_note_steady(timer, (tb_steady_time_t){S}, (tb_steady_time_t){S + 5 * MS}, 1);
  assert_ok(tb_statistics_snapshot(statistics));
  assert_ok(tb_histogram_stats(tb_timer_statistics_lateness(timer), TB_HISTOGRAM_INTERVAL, &stats));
  assert_int_equal(stats.count, 2);
  assert_int_equal(stats.least.ns, 3 * MS);
  assert_int_equal(stats.greatest.ns, 5 * MS);
  assert_int_equal(tb_timer_statistics_missed(timer), 3);
  assert_null(tb_timer_statistics_corrected_lateness(timer)); /* not known to be periodic */
  tb_timer_statistics_destroy(timer);
  assert_ok(tb_statistics_snapshot(statistics));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      HELD(test_losses_are_those_of_each_publisher),
      HELD(test_losses_of_many_publishers),
      HELD(test_history_is_no_transport),
      HELD(test_transport_after_system_time_was_set_back),
      HELD(test_statistics_of_the_epoch),
      HELD(test_timers_have_lateness_and_missed_periods),
      HELD(test_lateness_of_periodic_timers_is_corrected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
