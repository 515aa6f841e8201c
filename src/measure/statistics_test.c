/* Statistics of a node, on a manual source and held time. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <timebase/statistics.h>
#include <timebase/testing.h>
#include <timebase/timeline.h>

#include "counted_allocations.h"
#include "measure/statistics.h"
#include "measure/statistics_fixture.h"

/* ---- one message ---- */

static void test_each_latency_has_its_clock(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  pass(f, S, 1);
  const tb_topic_message_t message = {
      .stamp_ns = 100 * S,
      .source_timestamp_ns = now_of(TB_TESTING_SYSTEM) - 12 * MS,
      .receive_timestamp_ns = now_of(TB_TESTING_SYSTEM) - 10 * MS,
      .receive_steady_ns = now_of(TB_TESTING_STEADY) - 10 * MS,
      .has_stamp = true,
  };
  tb_topic_statistics_begin(topic, &message);
  pass(f, 30 * MS, 0.5);
  tb_topic_statistics_end(topic);
  tb_topic_summary_t summary = snapshot();
  assert_one(TB_TOPIC_MESSAGE_AGE, S);
  assert_one(TB_TOPIC_SOURCE_TO_RECEIVE, 2 * MS);
  assert_one(TB_TOPIC_CALLBACK_QUEUE_DELAY, 10 * MS);
  assert_one(TB_TOPIC_SOURCE_TO_CALLBACK, 12 * MS);
  assert_one(TB_TOPIC_PROCESSING, 30 * MS);
  assert_one(TB_TOPIC_PROCESSING_ROS, 15 * MS);
  assert_none(TB_TOPIC_MESSAGE_PERIOD);
  assert_int_equal(summary.interval.messages, 1);
  assert_string_equal(summary.topic, "/ns/image");
  assert_int_equal(summary.level, TB_LEVEL_OK);
}

static void test_what_is_unknown_is_not_recorded(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  const tb_topic_message_t nothing = {0};
  tb_topic_statistics_begin(topic, &nothing);
  tb_topic_statistics_end(topic);
  tb_topic_statistics_end(topic); /* of nothing */
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.interval.messages, 1);
  assert_int_equal(summary.interval.no_stamp, 1); /* and the time of reception is no substitute */
  assert_int_equal(stats_of(TB_TOPIC_PROCESSING).count, 1);
  assert_none(TB_TOPIC_MESSAGE_AGE);
  assert_none(TB_TOPIC_SOURCE_TO_RECEIVE);
  assert_none(TB_TOPIC_CALLBACK_QUEUE_DELAY);
  assert_none(TB_TOPIC_SOURCE_TO_CALLBACK);
}

static void test_stamps_without_an_age_are_counted(void **state)
{
  const fixture_t *f = *state;
  get(5 * S); /* the clock has no time */
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  get(0);
  get(-1);
  get(100 * S + 4 * MS); /* in the future, but not by much */
  get(100 * S + 6 * MS);
  get(100 * S + 6 * MS);
  get(99 * S);
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.interval.no_time, 1);
  assert_int_equal(summary.interval.zero_stamps, 2);
  assert_int_equal(summary.interval.future, 2);
  assert_int_equal(summary.interval.duplicates, 1);
  assert_int_equal(summary.interval.stamps_back, 1);
  assert_int_equal(stats_of(TB_TOPIC_MESSAGE_AGE).count, 4);
  assert_int_equal(stats_of(TB_TOPIC_MESSAGE_AGE).least.ns, -6 * MS);
  assert_int_equal(summary.level, TB_LEVEL_WARN);
  summary = snapshot();
  assert_int_equal(summary.interval.messages, 0);
  assert_int_equal(summary.since_start.messages, 7);
}

static void test_the_largest_and_least_values_are_no_overflow(void **state)
{
  const fixture_t *f = *state;
  static const int64_t values[] = {INT64_MIN, INT64_MAX, INT64_MIN, -1, 1, INT64_MAX};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const tb_topic_message_t message = {.stamp_ns = values[i],
                                        .source_timestamp_ns = values[5 - i],
                                        .receive_timestamp_ns = values[i],
                                        .receive_steady_ns = values[i],
                                        .sequence = (uint64_t)values[i],
                                        .has_stamp = true};
    tb_topic_statistics_begin(topic, &message);
    tb_topic_statistics_end(topic);
    if (i == 2) assert_ok(tb_manual_source_set(f->source, 50 * S)); /* another epoch */
  }
  assert_int_equal(snapshot().interval.messages, 6);
}

/* ---- jumps ---- */

static void test_messages_of_the_epoch_before_have_no_age(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  get_received(100 * S, 0);
  pass(f, S, 1);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  pass(f, 100 * MS, 1);
  get_received(101 * S, 200 * MS); /* received before the jump */
  get_received(40 * S, 200 * MS);  /* however old it seems */
  get_received(101 * S, 50 * MS);  /* sent before it */
  get_received(50 * S, 50 * MS);
  get_received(150 * S, 50 * MS); /* never a time of the epoch before */
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.interval.stale_epoch, 3);
  assert_int_equal(summary.interval.future, 1);
  assert_int_equal(summary.interval.stamps_back, 0);
  assert_int_equal(stats_of(TB_TOPIC_MESSAGE_AGE).count, 3);
  pass(f, 2 * S, 1);
  get_received(99 * S, 0); /* too late to be from before */
  summary = snapshot();
  assert_int_equal(summary.interval.stale_epoch, 0);
  assert_int_equal(summary.interval.future, 1);
}

static void test_processing_over_a_jump_has_no_ros_time(void **state)
{
  const fixture_t *f = *state;
  const tb_topic_message_t message = {.stamp_ns = 100 * S, .has_stamp = true};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_topic_statistics_begin(topic, &message);
  assert_ok(tb_manual_source_jump(f->source, 900 * S, TB_JUMP_REASON_SEEK));
  pass(f, 20 * MS, 1);
  tb_topic_statistics_end(topic);
  tb_topic_statistics_begin(topic, &message);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  tb_topic_statistics_end(topic);
  snapshot();
  assert_none(TB_TOPIC_PROCESSING_ROS);
  assert_int_equal(stats_of(TB_TOPIC_PROCESSING).count, 2);
}

typedef struct blocking {
  _Atomic bool entered, may_return;
} blocking_t;

static void block_jump(const tb_jump_t *jump, void *user)
{
  blocking_t *blocking = user;
  if (jump->kind != TB_JUMP_BACKWARD) return;
  blocking->entered = true;
  while (!blocking->may_return)
    sched_yield();
}

static void *jump_back(void *source)
{
  assert_ok(tb_manual_source_set(source, S));
  return NULL;
}

/* A handler after that of the statistics is still busy. */
static void test_a_jump_counts_when_its_last_handler_has_returned(void **state)
{
  const fixture_t *f = *state;
  blocking_t blocking = {0};
  pthread_t thread;
  tb_jump_handler_t *handler;
  const tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}}, .after = block_jump, .user = &blocking};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_jump(f->source, 200 * S, TB_JUMP_REASON_SEEK));
  tb_clock_summary_t summary = clock_summary();
  assert_int_equal(summary.jumps_forward, 1);
  assert_int_equal(summary.jumps_unhandled, 0);
  assert_int_equal(pthread_create(&thread, NULL, jump_back, f->source), 0);
  while (!blocking.entered)
    sched_yield();
  summary = clock_summary();
  assert_int_equal(summary.jumps_backward, 0);
  assert_int_equal(summary.jumps_unhandled, 1);
  get(S);
  assert_int_equal(snapshot().interval.no_time, 1); /* nor is the time known */
  blocking.may_return = true;
  pthread_join(thread, NULL);
  summary = clock_summary();
  assert_int_equal(summary.jumps_backward, 1);
  assert_int_equal(summary.jumps_unhandled, 0);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_int_equal(clock_summary().clock_changes, 1);
}

/* ---- the clock ---- */

static void test_the_clock_has_a_rate_and_a_factor(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_clock_summary_t summary = clock_summary();
  for (int i = 0; i < 25; i++) {
    pass(f, 40 * MS, 0.5);
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){0}));
  }
  summary = clock_summary();
  assert_true(fabs(summary.rate_hz - 25) < 1e-6);
  assert_true(fabs(summary.factor - 0.5) < 1e-6);
  assert_int_equal(summary.ticks_repeated, 25);
  assert_int_equal(summary.to.ns - summary.from.ns, S);
  assert_int_equal(summary.time.ns, 100 * S + 500 * MS);
  assert_int_equal(summary.epochs, 0);
  get(100 * S + 500 * MS + 20 * MS); /* a tick of the clock */
  assert_int_equal(snapshot().interval.future, 0);
  pass(f, 20 * MS, -1);
  summary = clock_summary();
  assert_true(isnan(summary.factor));
  assert_int_equal(summary.epochs, 1);
  assert_int_equal(summary.jumps_backward, 1);
}

/* At twenty times real time each tick is a step of 2 s. */
static void test_ticks_of_fast_time_are_no_jumps(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (int i = 0; i < 20; i++)
    pass(f, 100 * MS, 20);
  uint64_t jumps = clock_summary().jumps_forward; /* the change of rate */
  for (int i = 0; i < 10; i++) {
    const tb_topic_message_t message = {.has_stamp = false};
    tb_topic_statistics_begin(topic, &message);
    pass(f, 100 * MS, 20);
    tb_topic_statistics_end(topic);
  }
  tb_clock_summary_t summary = clock_summary();
  assert_int_equal(summary.jumps_forward, jumps);
  assert_true(summary.factor > 19.9 && summary.factor < 20.1);
  assert_int_equal(snapshot().since_start.messages, 10);
  assert_int_equal(stats_of(TB_TOPIC_PROCESSING_ROS).count, 10);
  assert_ok(tb_manual_source_jump(f->source, 900 * S, TB_JUMP_REASON_SEEK));
  assert_int_equal(clock_summary().jumps_forward, jumps + 1);
}

static void test_a_clock_that_is_lost_is_an_error(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_int_equal(clock_summary().level, TB_LEVEL_OK);
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_LOST);
  tb_clock_summary_t summary = clock_summary();
  assert_int_equal(summary.level, TB_LEVEL_ERROR);
  assert_string_equal(summary.reason, "its publisher is gone");
  pass(f, 20 * MS, 1);
  assert_int_equal(clock_summary().level, TB_LEVEL_ERROR);
  assert_int_equal(clock_summary().level, TB_LEVEL_ERROR);
  summary = clock_summary();
  assert_int_equal(summary.level, TB_LEVEL_OK);
  assert_string_equal(summary.reason, "");
}

/* ---- levels ---- */

typedef struct judged {
  tb__level_state_t state;
  tb_topic_summary_t summary;
  tb_topic_statistics_options_t options;
} judged_t;

static judged_t judged_of(double rate_hz)
{
  return (judged_t){.state = TB__LEVEL_INIT,
                    .summary = {.reason = ""},
                    .options = {.expected_rate_hz = rate_hz, .min_age = {-S}, .max_age = {5 * S}}};
}

/* One interval, of one second of the clock unless said otherwise. */
static tb_level_t judge(judged_t *judged, uint64_t messages, int64_t age_ns, int64_t clock_ns)
{
  const tb_histogram_stats_t age = {.count = messages, .least = {age_ns}, .greatest = {age_ns}};
  judged->summary.interval = (tb_topic_counts_t){.messages = messages};
  tb__topic_judge(&judged->state, &judged->summary, &judged->options, &age, clock_ns, 3);
  return judged->summary.level;
}

static void test_a_level_rises_at_once_and_falls_after_good_intervals(void **state)
{
  (void)state;
  judged_t judged = judged_of(0);
  assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 10, 6 * S, S), TB_LEVEL_ERROR);
  assert_string_equal(judged.summary.reason, "messages are too old");
  assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_ERROR);
  assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_ERROR);
  assert_int_equal(judge(&judged, 10, -2 * S, S), TB_LEVEL_ERROR); /* from scratch */
  assert_string_equal(judged.summary.reason, "stamps are too far in the future");
  for (int i = 0; i < 2; i++)
    assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_ERROR);
  assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_OK);
  assert_string_equal(judged.summary.reason, "");
}

static void test_a_rate_is_judged_in_time_of_the_clock(void **state)
{
  (void)state;
  judged_t judged = judged_of(10);
  assert_int_equal(judge(&judged, 10, 0, S), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 9, 0, S), TB_LEVEL_OK); /* one is no fault */
  assert_int_equal(judge(&judged, 0, 0, 0), TB_LEVEL_OK); /* paused */
  judged.options.expected_rate_hz = 6;
  assert_int_equal(judge(&judged, 5, 0, S), TB_LEVEL_OK);
  judged.options.expected_rate_hz = 10;
  for (int i = 0; i < 20; i++) /* at a tenth of real time */
    assert_int_equal(judge(&judged, 1, 0, S / 10), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 12, 0, S), TB_LEVEL_WARN);
  assert_string_equal(judged.summary.reason, "the rate is too high");
  assert_int_equal(judge(&judged, 4, 0, S), TB_LEVEL_ERROR);
  assert_string_equal(judged.summary.reason, "the rate is too low");
  assert_int_equal(judge(&judged, 0, 0, S), TB_LEVEL_ERROR);
  assert_string_equal(judged.summary.reason, "no messages");
}

static void test_a_slow_topic_is_judged_over_several_intervals(void **state)
{
  (void)state;
  judged_t judged = judged_of(0.5);
  for (int i = 0; i < 40; i++)
    assert_int_equal(judge(&judged, (uint64_t)i % 2, 0, S), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 0, 0, 5 * S), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 0, 0, -1), TB_LEVEL_OK); /* a jump: it begins from scratch */
  assert_int_equal(judge(&judged, 0, 0, 9 * S), TB_LEVEL_OK);
  assert_int_equal(judge(&judged, 0, 0, S), TB_LEVEL_ERROR);
}

/* ---- the rest ---- */

static void test_recording_allocates_nothing(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  const tb_topic_message_t message = {.stamp_ns = 99 * S,
                                      .source_timestamp_ns = now_of(TB_TESTING_SYSTEM),
                                      .receive_timestamp_ns = now_of(TB_TESTING_SYSTEM),
                                      .receive_steady_ns = now_of(TB_TESTING_STEADY),
                                      .sequence = 1,
                                      .has_stamp = true};
  allocations_begin();
  for (int i = 0; i < 100; i++) {
    tb_topic_statistics_begin(topic, &message);
    tb_topic_statistics_end(topic);
  }
  assert_ok(tb_statistics_snapshot(statistics));
  assert_int_equal(allocations_end(), 0);
}

static void test_wrong_arguments_are_refused(void **state)
{
  const fixture_t *f = *state;
  tb_statistics_t *made = NULL;
  tb_topic_statistics_t *of_topic = NULL;
  tb_timer_statistics_t *timer = NULL;
  char longest[257];
  memset(longest, 'a', 256);
  longest[256] = '\0';
  static const char *const names[] = {NULL, "", "/a\n", "/\xc3\xa4"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_status(tb_statistics_create(
                      &(tb_statistics_options_t){.node = names[i], .clock = f->clock}, &made),
                  TB_ERR_INVALID);
    assert_status(tb_topic_statistics_create(
                      statistics, &(tb_topic_statistics_options_t){.topic = names[i]}, &of_topic),
                  TB_ERR_INVALID);
    assert_status(tb_timer_statistics_create(statistics, names[i], &timer), TB_ERR_INVALID);
  }
  assert_status(tb_timer_statistics_create(statistics, longest, &timer), TB_ERR_INVALID);
  assert_ok(tb_timer_statistics_create(statistics, longest + 1, &timer));
  static const tb_topic_statistics_options_t wrong[] = {
      {.topic = "/a", .expected_rate_hz = -1},
      {.topic = "/a", .expected_rate_hz = NAN},
      {.topic = "/a", .min_age = {6 * S}},
      {.topic = "/a", .future_limit = {-1}},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_status(tb_topic_statistics_create(statistics, &wrong[i], &of_topic), TB_ERR_INVALID);
  /* two series of one name make a text that no reader of OpenMetrics takes */
  static const tb_topic_statistics_options_t taken[] = {{.topic = "/ns/image"},
                                                        {.topic = "_other"}};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    assert_status(tb_topic_statistics_create(statistics, &taken[i], &of_topic), TB_ERR_INVALID);
  assert_status(tb_timer_statistics_create(statistics, longest + 1, &timer), TB_ERR_INVALID);
  assert_status(tb_timer_statistics_create(statistics, "_other", &timer), TB_ERR_INVALID);
  assert_null(tb_topic_statistics_histogram(topic, (tb_topic_metric_t)7));
  assert_null(tb_topic_statistics_histogram(topic, (tb_topic_metric_t)-1));
  assert_string_equal(tb_topic_metric_name(TB_TOPIC_MESSAGE_AGE), "message_age");
  assert_string_equal(tb_topic_metric_name((tb_topic_metric_t)7), "unknown");
  assert_null(made);
  assert_null(of_topic);
}

static void *take_in_thread(void *unused)
{
  assert_ok(tb_statistics_snapshot(statistics));
  return unused;
}

/* While the mutex is held: another thread is in a snapshot, and waits for it. */
static void take_meanwhile(const char *node, const tb_clock_summary_t *summary, void *user)
{
  (void)summary;
  pthread_t *thread = user;
  assert_string_equal(node, "/ns/camera");
  assert_int_equal(pthread_create(thread, NULL, take_in_thread, NULL), 0);
  while (!statistics->is_in_snapshot)
    sched_yield();
  assert_status(tb_statistics_snapshot(statistics), TB_ERR_BUSY);
}

static void visit_topic(const tb_topic_statistics_t *visited, const tb_topic_summary_t *summary,
                        void *user)
{
  (void)user;
  assert_ptr_equal(visited, topic);
  assert_string_equal(summary->topic, "/ns/image");
}

static void test_one_snapshot_is_taken_at_a_time(void **state)
{
  (void)state;
  pthread_t thread;
  const tb__statistics_visitor_t visitor = {.clock = take_meanwhile, .topic = visit_topic};
  tb__statistics_visit(statistics, &visitor, &thread);
  pthread_join(thread, NULL);
  assert_ok(tb_statistics_snapshot(statistics));
}

static _Atomic bool ends;

static void *receive(void *unused)
{
  for (uint64_t i = 1; !ends; i++) {
    const tb_topic_message_t message = {.stamp_ns = S, .sequence = i, .has_stamp = true};
    tb_topic_statistics_begin(topic, &message);
    tb_topic_statistics_end(topic);
  }
  return unused;
}

/* Messages, jumps, snapshots and topics that come and go, each on a thread of its own. */
static void test_threads_do_not_meet(void **state)
{
  const fixture_t *f = *state;
  pthread_t thread;
  ends = false;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_int_equal(pthread_create(&thread, NULL, receive, NULL), 0);
  uint64_t messages = 0;
  for (int i = 0; i < 300; i++) {
    tb_topic_statistics_t *other;
    assert_ok(tb_topic_statistics_create(
        statistics, &(tb_topic_statistics_options_t){.topic = "/other"}, &other));
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){i % 3 ? S / 4 : -S / 2}));
    messages += snapshot().interval.messages;
    tb_topic_statistics_destroy(other);
  }
  ends = true;
  pthread_join(thread, NULL);
  tb_topic_summary_t summary = snapshot();
  assert_int_equal(summary.since_start.messages, messages + summary.interval.messages);
  assert_int_equal(summary.since_start.lost, 0);
  assert_int_equal(stats_of(TB_TOPIC_PROCESSING).count, summary.since_start.messages);
  assert_int_equal(stats_of(TB_TOPIC_MESSAGE_AGE).count + summary.since_start.stale_epoch +
                       summary.since_start.no_time,
                   summary.since_start.messages);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      HELD(test_each_latency_has_its_clock),
      HELD(test_what_is_unknown_is_not_recorded),
      HELD(test_stamps_without_an_age_are_counted),
      HELD(test_the_largest_and_least_values_are_no_overflow),
      HELD(test_messages_of_the_epoch_before_have_no_age),
      HELD(test_processing_over_a_jump_has_no_ros_time),
      HELD(test_a_jump_counts_when_its_last_handler_has_returned),
      HELD(test_the_clock_has_a_rate_and_a_factor),
      HELD(test_ticks_of_fast_time_are_no_jumps),
      HELD(test_a_clock_that_is_lost_is_an_error),
      cmocka_unit_test(test_a_level_rises_at_once_and_falls_after_good_intervals),
      cmocka_unit_test(test_a_rate_is_judged_in_time_of_the_clock),
      cmocka_unit_test(test_a_slow_topic_is_judged_over_several_intervals),
      HELD(test_recording_allocates_nothing),
      HELD(test_wrong_arguments_are_refused),
      HELD(test_one_snapshot_is_taken_at_a_time),
      HELD(test_threads_do_not_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
