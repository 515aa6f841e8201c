/* Whether a clock is ready, from samples: no clock and no thread. */
#include <math.h>
#include <string.h>

#include "measure/readiness.h"
#include "test.h"

#define MS     INT64_C(1000000)
#define SAMPLE (10 * MS)

/* A clock as it is sampled, every 10 ms. */
typedef struct model {
  tb__readiness_t readiness;
  tb__ready_sample_t sample;
} model_t;

static const tb_timeline_t *const a_timeline = (const tb_timeline_t *)(uintptr_t)64;

static model_t model_of(const tb_ready_options_t *options)
{
  model_t model = {0};
  assert_true(tb__readiness_init(&model.readiness, options));
  model.sample.steady_ns = 1000 * MS;
  model.sample.counts.timeline = a_timeline;
  model.sample.reading = (tb_clock_reading_t){{0, TB_TIME_ROS}, TB_CLOCK_WAITING, 1};
  return model;
}

static bool look(model_t *model)
{
  model->sample.steady_ns += SAMPLE;
  return tb__readiness_add(&model->readiness, &model->sample);
}

static bool look_in_state(model_t *model, tb_clock_state_t state)
{
  model->sample.reading.state = state;
  return look(model);
}

static void assert_reason(const model_t *model, tb_ready_reason_t reason)
{
  assert_string_equal(tb_ready_reason_name(model->readiness.result.reason),
                      tb_ready_reason_name(reason));
}

/* `count` ticks of `step_ns` each, and then a sample. */
static bool tick(model_t *model, uint64_t count, int64_t step_ns)
{
  model->sample.counts.ticks += count;
  model->sample.reading.time.ns += (int64_t)count * step_ns;
  return look_in_state(model, TB_CLOCK_RUNNING);
}

static void test_the_first_tick_is_enough(void **state)
{
  (void)state;
  model_t model = model_of(NULL);
  assert_false(look(&model));
  assert_reason(&model, TB_READY_ZERO);
  assert_true(tick(&model, 1, MS));
  assert_reason(&model, TB_READY);
  assert_int_equal(model.readiness.result.time.ns, MS);
}

static void test_a_paused_clock_is_ready_and_reported(void **state)
{
  (void)state;
  model_t model = model_of(NULL);
  assert_false(look_in_state(&model, TB_CLOCK_PAUSED)); /* it has no time */
  assert_reason(&model, TB_READY_ZERO);
  model.sample.reading.time.ns = 5;
  assert_true(look_in_state(&model, TB_CLOCK_PAUSED));
  assert_int_equal(model.readiness.result.state, TB_CLOCK_PAUSED);
}

static void test_each_state_has_its_reason(void **state)
{
  (void)state;
  static const struct {
    tb_clock_state_t state;
    tb_ready_reason_t reason;
  } cases[] = {
      {TB_CLOCK_INACTIVE, TB_READY_NO_SOURCE},
      {TB_CLOCK_NO_SOURCE, TB_READY_NO_SOURCE},
      {TB_CLOCK_NO_PUBLISHER, TB_READY_NO_PUBLISHER},
      {TB_CLOCK_QOS_MISMATCH, TB_READY_QOS},
      {TB_CLOCK_WAITING, TB_READY_ZERO},
      {TB_CLOCK_STALLED, TB_READY_STALLED},
      {TB_CLOCK_LOST, TB_READY_LOST},
      {(tb_clock_state_t)77, TB_READY_NO_SOURCE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model_t model = model_of(NULL);
    model.sample.reading.time.ns = cases[i].state == TB_CLOCK_WAITING ? 0 : 5;
    assert_false(look_in_state(&model, cases[i].state));
    assert_reason(&model, cases[i].reason);
  }
}

static const tb_ready_options_t running = {.running = true};

/* 100 Hz: the first tick, then 100 ms from the one that moves time. */
static void test_a_clock_that_runs_is_observed_for_its_time(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  int looks = 1;
  while (!tick(&model, 1, SAMPLE) && looks < 99) {
    assert_reason(&model, TB_READY_OBSERVING);
    looks++;
  }
  assert_int_equal(looks, 12);
  const tb_ready_result_t *result = &model.readiness.result;
  assert_int_equal(result->observed.ns, 100 * MS);
  assert_int_equal(result->ticks, 11);
  assert_true(fabs(result->rate_hz - 100) < 1e-6);
  assert_true(fabs(result->factor - 1) < 1e-6);
}

/* One tick a second: it is not ready before the second one that is seen. */
static void test_a_slow_clock_needs_two_ticks(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  assert_false(tick(&model, 1, 1000 * MS));
  for (int i = 0; i < 50; i++)
    assert_false(look(&model));
  assert_reason(&model, TB_READY_SLOW); /* one message is not enough */
  assert_false(tick(&model, 1, 1000 * MS));
  for (int i = 0; i < 98; i++)
    assert_false(look(&model));
  assert_false(look_in_state(&model, TB_CLOCK_STALLED));
  assert_reason(&model, TB_READY_STALLED);
  assert_true(tick(&model, 1, 1000 * MS));
  assert_int_equal(model.readiness.result.ticks, 2);
  assert_true(fabs(model.readiness.result.factor - 1) < 0.02);
}

/* 20 Hz, five times to be seen: 100 ms are over long before. */
static void test_as_many_ticks_as_asked_for_are_seen(void **state)
{
  (void)state;
  model_t model = model_of(&(tb_ready_options_t){.ticks = 5});
  int ticks = 1;
  while (!tick(&model, 1, 5 * SAMPLE) && ticks < 99) {
    ticks++;
    for (int i = 0; i < 4; i++)
      assert_false(look(&model));
  }
  assert_int_equal(ticks, 6); /* the first of them is where the observation begins */
  assert_int_equal(model.readiness.result.ticks, 5);
  assert_true(fabs(model.readiness.result.rate_hz - 20) < 1e-6);
}

static void test_repeated_ticks_are_not_enough(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  assert_false(tick(&model, 1, MS));
  for (int i = 0; i < 30; i++) { /* repeats that are not recognized, as on a page */
    model.sample.counts.ticks += 5;
    assert_false(look(&model));
  }
  assert_reason(&model, TB_READY_SLOW);
  for (int i = 0; i < 30; i++) {
    model.sample.counts.ticks++;
    model.sample.counts.repeats++;
    assert_false(look_in_state(&model, TB_CLOCK_PAUSED));
    assert_reason(&model, TB_READY_PAUSED);
  }
  int looks = 1; /* the pause does not count as slow */
  while (!tick(&model, 1, SAMPLE) && looks < 99)
    looks++;
  assert_int_equal(looks, 11);
  assert_true(fabs(model.readiness.result.rate_hz - 100) < 1e-6);
}

static void test_time_that_runs_by_itself_is_running(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  assert_false(tick(&model, 1, MS));
  int looks = 0;
  model.sample.counts.runs = true;
  do {
    model.sample.reading.time.ns += SAMPLE / 2;
    looks++;
  } while (!look(&model) && looks < 99);
  assert_int_equal(looks, 11);
  assert_int_equal(model.readiness.result.ticks, 11);
  assert_true(fabs(model.readiness.result.factor - 0.5) < 1e-6);
  assert_true(model.readiness.result.rate_hz < 1e-6); /* it has no ticks */
}

/* Ticks of 20 Hz in between, each of which sets the time again: to that which it has reached. */
static void test_the_rate_of_time_that_runs_by_itself_is_that_of_its_ticks(void **state)
{
  (void)state;
  model_t model = model_of(&(tb_ready_options_t){.min_rate_hz = 15, .max_rate_hz = 25});
  assert_false(tick(&model, 1, MS));
  model.sample.counts.runs = true;
  int looks = 0;
  do {
    model.sample.reading.time.ns += SAMPLE;
    if (looks % 5 == 0) model.sample.counts.ticks++;
    if (looks % 10 == 0) model.sample.counts.repeats++;
    looks++;
  } while (!look(&model) && looks < 999);
  assert_int_equal(looks, 101);
  assert_true(fabs(model.readiness.result.rate_hz - 20) < 1.001);
}

/* 40 samples of 2 ticks each: 200 Hz, factor 0.5. */
static tb_ready_reason_t reason_with(tb_ready_options_t options)
{
  options.observe.ns = 200 * MS;
  model_t model = model_of(&options);
  for (int i = 0; i < 40; i++)
    if (tick(&model, 2, SAMPLE / 4)) break;
  assert_true(fabs(model.readiness.result.rate_hz - 200) < 1e-6);
  assert_true(fabs(model.readiness.result.factor - 0.5) < 1e-6);
  return model.readiness.result.reason;
}

static void test_rates_and_factors_outside_are_refused(void **state)
{
  (void)state;
  assert_int_equal(reason_with((tb_ready_options_t){.min_rate_hz = 199, .max_rate_hz = 201}),
                   TB_READY);
  assert_int_equal(reason_with((tb_ready_options_t){.min_rate_hz = 201}), TB_READY_SLOW);
  assert_int_equal(reason_with((tb_ready_options_t){.max_rate_hz = 199}), TB_READY_FAST);
  assert_int_equal(reason_with((tb_ready_options_t){.min_factor = 0.49, .max_factor = 0.51}),
                   TB_READY);
  assert_int_equal(reason_with((tb_ready_options_t){.min_factor = 0.51}), TB_READY_SLOW);
  assert_int_equal(reason_with((tb_ready_options_t){.max_factor = 0.49}), TB_READY_FAST);
}

static void test_a_clock_that_becomes_fast_enough_is_ready(void **state)
{
  (void)state;
  model_t model = model_of(&(tb_ready_options_t){.min_factor = 0.9, .observe = {100 * MS}});
  for (int i = 0; i < 30; i++)
    assert_false(tick(&model, 1, SAMPLE / 2));
  assert_reason(&model, TB_READY_SLOW);
  assert_true(fabs(model.readiness.result.factor - 0.5) < 1e-6);
  int looks = 1;
  while (!tick(&model, 1, SAMPLE) && looks < 99)
    looks++;
  assert_in_range(looks, 10, 20);
}

static void test_a_step_back_begins_again(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  for (int i = 0; i < 5; i++)
    assert_false(tick(&model, 1, SAMPLE));
  model.sample.reading.time.ns -= 3 * SAMPLE;
  model.sample.reading.epoch++;
  model.sample.counts.jumps_backward++;
  assert_false(tick(&model, 1, SAMPLE));
  assert_reason(&model, TB_READY_BACKWARDS);
  int looks = 1;
  while (!tick(&model, 1, SAMPLE) && looks < 99) {
    assert_reason(&model, TB_READY_BACKWARDS);
    looks++;
  }
  assert_int_equal(looks, 11);
  assert_int_equal(model.readiness.result.jumps_backward, 1);
  assert_reason(&model, TB_READY);
}

/* Back and forth between two samples: the time alone would not show it. */
static void test_two_streams_of_time_are_never_ready(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  for (int i = 0; i < 100; i++) {
    model.sample.counts.jumps_backward++;
    model.sample.reading.epoch++;
    assert_false(tick(&model, 3, SAMPLE / 3));
  }
  assert_reason(&model, TB_READY_BACKWARDS);
}

static void test_another_source_begins_again(void **state)
{
  (void)state;
  model_t model = model_of(&running);
  for (int i = 0; i < 8; i++)
    assert_false(tick(&model, 1, SAMPLE));
  model.sample.counts = (tb__tick_counts_t){(const tb_timeline_t *)(uintptr_t)128, 3, 0, 9, false};
  model.sample.reading.time.ns = 7;
  model.sample.reading.epoch++;
  int looks = 1;
  while (!tick(&model, 1, SAMPLE) && looks < 99)
    looks++;
  assert_int_equal(looks, 12);
  assert_int_equal(model.readiness.result.jumps_backward, 0);
}

static void test_wrong_options_are_refused(void **state)
{
  (void)state;
  static const tb_ready_options_t wrong[] = {
      {.ticks = 1},
      {.min_rate_hz = -1},
      {.max_rate_hz = NAN},
      {.min_factor = INFINITY},
      {.max_factor = -0.001},
      {.observe = {-1}},
      {.min_rate_hz = 2, .max_rate_hz = 1},
      {.min_factor = 2, .max_factor = 1},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tb__readiness_t readiness;
    assert_false(tb__readiness_init(&readiness, &wrong[i]));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_first_tick_is_enough),
      cmocka_unit_test(test_a_paused_clock_is_ready_and_reported),
      cmocka_unit_test(test_each_state_has_its_reason),
      cmocka_unit_test(test_a_clock_that_runs_is_observed_for_its_time),
      cmocka_unit_test(test_a_slow_clock_needs_two_ticks),
      cmocka_unit_test(test_as_many_ticks_as_asked_for_are_seen),
      cmocka_unit_test(test_repeated_ticks_are_not_enough),
      cmocka_unit_test(test_time_that_runs_by_itself_is_running),
      cmocka_unit_test(test_the_rate_of_time_that_runs_by_itself_is_that_of_its_ticks),
      cmocka_unit_test(test_rates_and_factors_outside_are_refused),
      cmocka_unit_test(test_a_clock_that_becomes_fast_enough_is_ready),
      cmocka_unit_test(test_a_step_back_begins_again),
      cmocka_unit_test(test_two_streams_of_time_are_never_ready),
      cmocka_unit_test(test_another_source_begins_again),
      cmocka_unit_test(test_wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
