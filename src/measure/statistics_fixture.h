/* What tests of statistics begin with: a node with a topic, on a manual source and held time. */
#ifndef TB_MEASURE_STATISTICS_FIXTURE_H
#define TB_MEASURE_STATISTICS_FIXTURE_H

#include <timebase/statistics.h>
#include <timebase/testing.h>

#include "on_manual_source.h"

#define MS INT64_C(1000000)

static tb_statistics_t *statistics;
static tb_topic_statistics_t *topic;

static inline int64_t now_of(tb_testing_clock_t clock)
{
  int64_t now_ns;
  assert_ok(tb_testing_now(clock, &now_ns));
  return now_ns;
}

static inline int hold(void **state)
{
  setup(state);
  const fixture_t *f = *state;
  assert_ok(tb_testing_hold_os_time());
  const tb_statistics_options_t options = {.node = "/ns/camera", .clock = f->clock};
  assert_ok(tb_statistics_create(&options, &statistics));
  const tb_topic_statistics_options_t of_topic = {.topic = "/ns/image"};
  assert_ok(tb_topic_statistics_create(statistics, &of_topic, &topic));
  return 0;
}

static inline int release(void **state)
{
  tb_statistics_destroy(statistics);
  assert_ok(tb_testing_release_os_time());
  return teardown(state);
}

/* All clocks advance, the manual one by `factor`. */
static inline void pass(const fixture_t *f, int64_t steady_ns, double factor)
{
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){steady_ns}));
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, (tb_duration_t){steady_ns}));
  assert_ok(
      tb_manual_source_advance(f->source, (tb_duration_t){(int64_t)(factor * (double)steady_ns)}));
}

static inline tb_topic_summary_t snapshot(void)
{
  tb_topic_summary_t summary;
  assert_ok(tb_statistics_snapshot(statistics));
  assert_ok(tb_topic_statistics_summary(topic, &summary));
  return summary;
}

static inline tb_clock_summary_t clock_summary(void)
{
  tb_clock_summary_t summary;
  assert_ok(tb_statistics_snapshot(statistics));
  assert_ok(tb_statistics_clock(statistics, &summary));
  return summary;
}

static inline tb_histogram_stats_t stats_of(tb_topic_metric_t metric)
{
  tb_histogram_stats_t stats;
  assert_ok(tb_histogram_stats(tb_topic_statistics_histogram(topic, metric),
                               TB_HISTOGRAM_SINCE_START, &stats));
  return stats;
}

static inline void assert_one(tb_topic_metric_t metric, int64_t value_ns)
{
  tb_histogram_stats_t stats = stats_of(metric);
  assert_int_equal(stats.count, 1);
  assert_int_equal(stats.least.ns, value_ns);
  assert_int_equal(stats.greatest.ns, value_ns);
}

static inline void assert_none(tb_topic_metric_t metric)
{
  assert_int_equal(stats_of(metric).count, 0);
}

/* A message with only a stamp. */
static inline void get(int64_t stamp_ns)
{
  const tb_topic_message_t message = {.stamp_ns = stamp_ns, .has_stamp = true};
  tb_topic_statistics_begin(topic, &message);
  tb_topic_statistics_end(topic);
}

static inline void get_received(int64_t stamp_ns, int64_t ago_ns)
{
  const tb_topic_message_t message = {.stamp_ns = stamp_ns,
                                      .receive_steady_ns = now_of(TB_TESTING_STEADY) - ago_ns,
                                      .has_stamp = true};
  tb_topic_statistics_begin(topic, &message);
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, hold, release)

#endif
