/* A source as another one wraps it, and time that runs on between ticks on the real steady clock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/sleep.h>

#include "on_manual_source.h"
#include "platform/time.h"
#include "running_time.h"
#include "waiting.h"

/* ---- ownership ---- */

typedef struct probe {
  tb_timeline_t *timeline;
  tb_status_t start_status;
} probe_t;

static tb_status_t probe_start(void *self, tb_timeline_t *timeline)
{
  probe_t *probe = self;
  probe->timeline = timeline;
  TRACE("start ");
  return probe->start_status;
}

static void probe_stop(void *self)
{
  probe_t *probe = self;
  assert_status(tb_timeline_tick(probe->timeline, S, TB_JUMP_REASON_NONE), TB_ERR_DETACHED);
  TRACE("stop ");
}

static void probe_destroy(void *self)
{
  (void)self;
  TRACE("destroy ");
}

static const tb_source_ops_t probe_ops = {"probe", probe_start, probe_stop, probe_destroy};

typedef struct wrapping {
  probe_t probe;
  tb_source_t *inner, *outer;
  tb_clock_t *clock; /* on no source */
} wrapping_t;

static int setup_probe(void **state)
{
  static wrapping_t wrapping;
  wrapping = (wrapping_t){0};
  trace[0] = '\0';
  assert_ok(tb_source_create(&probe_ops, &wrapping.probe, &wrapping.inner));
  assert_ok(tb_extrapolating_source_create(wrapping.inner, NULL, &wrapping.outer));
  assert_ok(tb_clock_create(NULL, &wrapping.clock));
  *state = &wrapping;
  return 0;
}

static int teardown_probe(void **state)
{
  wrapping_t *w = *state;
  assert_ok(tb_source_destroy(w->outer));
  assert_ok(tb_clock_destroy(w->clock));
  return 0;
}

static int64_t now_of(const tb_clock_t *clock)
{
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  return now.ns;
}

static tb_timeline_stats_t counts_of(tb_source_t *source)
{
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb_source_timeline(source), &stats);
  return stats;
}

static tb_extrapolating_stats_t stats_of(tb_source_t *source)
{
  tb_extrapolating_stats_t stats;
  assert_ok(tb_extrapolating_source_stats(source, &stats));
  return stats;
}

static void test_X1_a_wrapped_source_lives_with_its_wrapper(void **state)
{
  wrapping_t *w = *state;
  assert_string_equal(trace, "");
  assert_ok(tb_clock_set_source(w->clock, w->outer));
  assert_ok(tb_timeline_tick(w->probe.timeline, 5 * S, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(w->clock), 5 * S);
  assert_ok(tb_clock_set_source(w->clock, NULL));
  assert_string_equal(trace, "start stop ");
  assert_ok(tb_clock_set_source(w->clock, w->outer));
  assert_int_equal(now_of(w->clock), 0); /* not started again */
  assert_ok(tb_timeline_tick(w->probe.timeline, 3 * S, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(w->clock), 3 * S);
  assert_ok(tb_source_destroy(w->outer));
  w->outer = NULL;
  assert_string_equal(trace, "start stop start stop destroy ");
}

static void test_X1_a_start_that_fails_is_a_failure_of_the_wrapper(void **state)
{
  wrapping_t *w = *state;
  w->probe.start_status = TB_ERR_SYSTEM;
  assert_status(tb_clock_set_source(w->clock, w->outer), TB_ERR_SYSTEM);
  assert_false(tb_clock_is_active(w->clock));
  w->probe.start_status = TB_OK;
  assert_ok(tb_clock_set_source(w->clock, w->outer));
}

static void test_X1_ticks_are_refused_when_the_last_clock_has_left(void **state)
{
  wrapping_t *w = *state;
  assert_ok(tb_clock_set_source(w->clock, w->outer));
  tb_timeline_t *timeline = w->probe.timeline;
  assert_ptr_equal(timeline, tb_source_timeline(w->inner));
  assert_ok(tb_timeline_try_tick(timeline, 5 * S));
  assert_ok(tb_clock_set_source(w->clock, NULL));
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  assert_status(tb_timeline_tick(timeline, 6 * S, TB_JUMP_REASON_NONE), TB_ERR_DETACHED);
  assert_status(tb_timeline_try_tick(timeline, 6 * S), TB_ERR_DETACHED);
  assert_status(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE), TB_ERR_DETACHED);
}

static void test_X4_a_wrapped_source_cannot_be_used_otherwise(void **state)
{
  wrapping_t *w = *state;
  tb_source_t *another = NULL;
  assert_status(tb_clock_set_source(w->clock, w->inner), TB_ERR_BUSY);
  assert_status(tb_source_destroy(w->inner), TB_ERR_BUSY);
  assert_status(tb_extrapolating_source_create(w->inner, NULL, &another), TB_ERR_BUSY);
  assert_status(tb_extrapolating_source_create(w->outer, NULL, &another), TB_ERR_INVALID);
  assert_null(another);
  assert_string_equal(trace, ""); /* nor did a failure destroy it */
}

static void test_X4_only_a_source_without_clocks_is_wrapped(void **state)
{
  fixture_t *f = *state;
  tb_source_t *source = NULL;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_status(tb_extrapolating_source_create(f->source, NULL, &source), TB_ERR_BUSY);
  assert_int_equal(now_of(f->clock), 5 * S);
  assert_ok(tb_manual_source_set(f->source, 6 * S));
  assert_int_equal(now_of(f->clock), 6 * S);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_extrapolating_source_create(f->source, NULL, &source));
  assert_status(tb_extrapolating_source_stats(f->source, &(tb_extrapolating_stats_t){0}),
                TB_ERR_INVALID);
  f->source = source;
}

static void test_X4_options_are_checked(void **state)
{
  (void)state;
  tb_source_t *manual, *source = NULL;
  assert_ok(tb_manual_source_create(&manual));
  const int64_t bounds[] = {0, -1, INT64_MIN, INT64_MAX, 3600 * S + 1};
  for (int i = 0; i < 5; i++) {
    tb_extrapolating_options_t options = {{bounds[i]}};
    assert_status(tb_extrapolating_source_create(manual, &options, &source), TB_ERR_INVALID);
  }
  assert_status(tb_extrapolating_source_create(NULL, NULL, &source), TB_ERR_INVALID);
  assert_status(tb_extrapolating_source_create(manual, NULL, NULL), TB_ERR_INVALID);
  assert_status(tb_extrapolating_source_stats(NULL, &(tb_extrapolating_stats_t){0}),
                TB_ERR_INVALID);
  assert_null(source);
  assert_ok(tb_source_destroy(manual)); /* it stayed the caller's */
}

/* ---- what reaches the timeline ---- */

/* The manual source of the fixture wrapped, and the clock on the wrapper, which takes its place. */
static tb_source_t *wrap(fixture_t *f, int64_t bound_ns)
{
  tb_extrapolating_options_t options = {{bound_ns}};
  tb_source_t *manual = f->source, *outer;
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_extrapolating_source_create(manual, &options, &outer));
  assert_ok(tb_clock_set_source(f->clock, outer));
  f->source = outer;
  return manual;
}

static void test_X4_a_source_moved_before_its_first_clock_keeps_the_time(void **state)
{
  fixture_t *f = *state;
  tb_source_t *manual = wrap(f, S);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_status(tb_manual_source_set(manual, 60 * S), TB_ERR_DETACHED);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_ok(tb_manual_source_set(manual, 60 * S));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_int_equal(now_of(f->clock), 60 * S);
}

static void *sleep_until_7(void *argument)
{
  tb_clock_t *clock = argument;
  assert_ok(tb_clock_sleep_until(clock, (tb_time_t){7 * S, TB_TIME_ROS}, NULL));
  return NULL;
}

static void test_X2_a_wrapped_manual_source_advances_from_the_extrapolated_time(void **state)
{
  fixture_t *f = *state;
  pthread_t sleeper;
  tb_source_t *manual = wrap(f, S);
  assert_ok(tb_manual_source_set(manual, 5 * S));
  assert_ok(tb_manual_source_advance(manual, (tb_duration_t){S}));
  assert_int_equal(now_of(f->clock), 6 * S);
  assert_status(tb_manual_source_advance_to_next(manual), TB_ERR_NOT_FOUND);
  pthread_create(&sleeper, NULL, sleep_until_7, f->clock);
  wait_for_waiters(f->clock, 1);
  assert_ok(tb_manual_source_advance_to_next(manual));
  pthread_join(sleeper, NULL);
}

static void test_X4_ticks_from_before_do_not_count(void **state)
{
  wrapping_t *w = *state;
  tb_source_t *manual, *outer;
  assert_ok(tb_manual_source_create(&manual));
  assert_ok(tb_manual_source_set(manual, 50 * S));
  assert_ok(tb_extrapolating_source_create(manual, NULL, &outer));
  assert_ok(tb_clock_set_source(w->clock, outer));
  assert_int_equal(now_of(w->clock), 0);
  assert_ok(tb_manual_source_set(manual, 60 * S));
  assert_int_equal(now_of(w->clock), 60 * S);
  assert_ok(tb_source_destroy(outer));
}

static tb_clock_state_t state_of(const tb_clock_t *clock)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(clock, &reading));
  return reading.state;
}

static void test_C8_states_and_refused_samples_reach_the_wrapper(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(wrap(f, S));
  const tb_clock_state_t states[] = {TB_CLOCK_NO_PUBLISHER, TB_CLOCK_PAUSED, TB_CLOCK_LOST};
  for (int i = 0; i < 3; i++) {
    tb_timeline_set_state(timeline, states[i]);
    assert_int_equal(state_of(f->clock), states[i]);
  }
  assert_ok(tb_timeline_tick(timeline, S, TB_JUMP_REASON_NONE));
  assert_int_equal(state_of(f->clock), TB_CLOCK_RUNNING);
  tb_timeline_count_dropped(timeline);
  assert_status(tb_timeline_tick(timeline, -1, TB_JUMP_REASON_NONE), TB_ERR_RANGE);
  assert_int_equal(counts_of(f->source).dropped, 2);
  tb_timeline_stats_t inner;
  tb_timeline_stats(timeline, &inner);
  assert_int_equal(inner.ticks, 1);
}

static void test_C8_a_tick_in_state_paused_holds_time(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(wrap(f, S));
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 5 * S;
  anchor.state = TB_CLOCK_PAUSED;
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(state_of(f->clock), TB_CLOCK_PAUSED);
  assert_int_equal(now_of(f->clock), 5 * S);
  anchor.bound.ns = -1;
  assert_status(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE), TB_ERR_INVALID);
}

static void test_X4_anchors_that_have_a_rate_pass_as_they_are(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(wrap(f, 1));
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 5 * S;
  anchor.rate = 1e6;
  anchor.steady.ns = 1; /* long ago */
  anchor.bound.ns = 7 * S;
  assert_ok(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(f->clock), 12 * S);
  anchor.rate = -1;
  assert_status(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE), TB_ERR_INVALID);
}

typedef struct in_jump {
  tb_source_t *manual;
  tb_status_t tick, try_tick, create;
  int calls;
} in_jump_t;

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  in_jump_t *in = user;
  tb_timeline_t *timeline = tb_source_timeline(in->manual);
  tb_source_t *source;
  in->tick = tb_timeline_tick(timeline, 9 * S, TB_JUMP_REASON_NONE);
  in->try_tick = tb_timeline_try_tick(timeline, 9 * S);
  in->create = tb_extrapolating_source_create(in->manual, NULL, &source);
  in->calls++;
}

/* What may not wait is refused where handlers have to run, and the repetition is the one counted.
 */
static void test_X5_a_tick_that_has_to_be_repeated_counts_once(void **state)
{
  fixture_t *f = *state;
  in_jump_t in = {.manual = wrap(f, S)};
  tb_timeline_t *timeline = tb_source_timeline(in.manual);
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold.min_backward.ns = -1;
  options.after = on_jump;
  options.user = &in;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_timeline_tick(timeline, 5 * S, TB_JUMP_REASON_NONE));
  assert_ok(tb_timeline_try_tick(timeline, 6 * S));
  assert_status(tb_timeline_try_tick(timeline, 4 * S), TB_ERR_BUSY);
  assert_int_equal(now_of(f->clock), 6 * S);
  assert_int_equal(in.calls, 0);
  assert_int_equal(counts_of(f->source).ticks, 2);
  assert_ok(tb_timeline_tick(timeline, 4 * S, TB_JUMP_REASON_NONE));
  assert_int_equal(in.calls, 1);
  assert_int_equal(counts_of(f->source).ticks, 3);
  assert_int_equal(counts_of(f->source).jumps_backward, 1);
  assert_status(in.tick, TB_ERR_DEADLOCK);
  assert_status(in.try_tick, TB_ERR_DEADLOCK);
  assert_status(in.create, TB_ERR_DEADLOCK);
}

/* ---- on the real clock ---- */

#define RATE 1000

static void tick_real_time(tb_source_t *manual, int64_t begin_ns)
{
  int64_t time_ns = 100 * S + RATE * (tb__steady_now_ns() - begin_ns);
  assert_ok(tb_manual_source_set(manual, time_ns));
}

/* Ticks until the rate is known. */
static void run_on(const fixture_t *f, tb_source_t *manual)
{
  int64_t begin_ns = tb__steady_now_ns();
  while (stats_of(f->source).rate == 0)
    tick_real_time(manual, begin_ns);
}

static void test_S1_a_sleep_ends_between_ticks_and_never_early(void **state)
{
  fixture_t *f = *state;
  run_on(f, wrap(f, 3600 * S));
  for (int i = 0; i < 3; i++) {
    int64_t before_ns = now_of(f->clock);
    assert_ok(tb_clock_sleep_for(f->clock, (tb_duration_t){5 * S}, NULL));
    assert_true(now_of(f->clock) >= before_ns + 5 * S);
  }
}

static void test_M2_timers_fire_between_ticks(void **state)
{
  fixture_t *f = *state;
  run_on(f, wrap(f, 3600 * S));
  expect_timer_calls(f);
}

typedef struct reader {
  tb_clock_t *clock;
  _Atomic bool *stop;
  _Atomic bool done;
  pthread_t thread;
} reader_t;

static void *read_on(void *argument)
{
  reader_t *reader = argument;
  int64_t last_ns = 0;
  while (!atomic_load(reader->stop)) {
    int64_t now_ns = now_of(reader->clock);
    assert_true(now_ns >= last_ns);
    last_ns = now_ns;
  }
  return NULL;
}

static void *sleep_on(void *argument)
{
  reader_t *reader = argument;
  while (!atomic_load(reader->stop)) {
    int64_t before_ns = now_of(reader->clock);
    assert_ok(tb_clock_sleep_for(reader->clock, (tb_duration_t){S / 10}, NULL));
    assert_true(now_of(reader->clock) >= before_ns + S / 10);
  }
  atomic_store(&reader->done, true);
  return NULL;
}

/* Ticks as they fall, early, late and twice, never below the last: no reader sees time fall. */
static void test_C3_no_reader_sees_time_fall_between_ticks(void **state)
{
  fixture_t *f = *state;
  _Atomic bool stop = false;
  reader_t actors[3];
  tb_source_t *manual = wrap(f, 10 * S);
  run_on(f, manual);
  for (int i = 0; i < 3; i++) {
    actors[i] = (reader_t){.clock = f->clock, .stop = &stop};
    pthread_create(&actors[i].thread, NULL, i < 2 ? read_on : sleep_on, &actors[i]);
  }
  int64_t time_ns = now_of(f->clock);
  for (int i = 0; i < 20000; i++) {
    int64_t reported_ns = now_of(f->clock);
    if (i % 4 == 0) time_ns = reported_ns + 1000;
    if (i % 4 == 1) time_ns += 10;
    assert_ok(i % 2 ? tb_manual_source_set(manual, time_ns)
                    : tb_timeline_try_tick(tb_source_timeline(manual), time_ns));
  }
  atomic_store(&stop, true);
  while (!atomic_load(&actors[2].done))
    assert_ok(tb_manual_source_set(manual, time_ns += S));
  for (int i = 0; i < 3; i++)
    pthread_join(actors[i].thread, NULL);
  assert_int_equal(counts_of(f->source).jumps_backward, 0);
  assert_true(stats_of(f->source).held_ticks > 0);
}

#define WITH_PROBE(test) cmocka_unit_test_setup_teardown(test, setup_probe, teardown_probe)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_PROBE(test_X1_a_wrapped_source_lives_with_its_wrapper),
      WITH_PROBE(test_X1_a_start_that_fails_is_a_failure_of_the_wrapper),
      WITH_PROBE(test_X1_ticks_are_refused_when_the_last_clock_has_left),
      WITH_PROBE(test_X4_a_wrapped_source_cannot_be_used_otherwise),
      WITH_CLOCK(test_X4_only_a_source_without_clocks_is_wrapped),
      cmocka_unit_test(test_X4_options_are_checked),
      WITH_CLOCK(test_X4_a_source_moved_before_its_first_clock_keeps_the_time),
      WITH_CLOCK(test_X2_a_wrapped_manual_source_advances_from_the_extrapolated_time),
      WITH_PROBE(test_X4_ticks_from_before_do_not_count),
      WITH_CLOCK(test_C8_states_and_refused_samples_reach_the_wrapper),
      WITH_CLOCK(test_C8_a_tick_in_state_paused_holds_time),
      WITH_CLOCK(test_X4_anchors_that_have_a_rate_pass_as_they_are),
      WITH_CLOCK(test_X5_a_tick_that_has_to_be_repeated_counts_once),
      WITH_CLOCK(test_S1_a_sleep_ends_between_ticks_and_never_early),
      WITH_QUEUE(test_M2_timers_fire_between_ticks),
      WITH_CLOCK(test_C3_no_reader_sees_time_fall_between_ticks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
