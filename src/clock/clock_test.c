#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/clock.h>
#include <timebase/generic.h>
#include <timebase/manual_source.h>

#include "clock/clock.h"
#include "on_manual_source.h"
#include "platform/time.h"

static int64_t now_ns(const tb_clock_t *clock)
{
  tb_time_t now = {-1, 0};
  assert_ok(tb_now(clock, &now));
  return now.ns;
}

static void test_C1_each_kind_returns_its_time(void **state)
{
  (void)state;
  tb_clock_t *system;
  tb_steady_clock_t *steady;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_clock_create(&options, &system));
  assert_ok(tb_steady_clock_create(&steady));
  tb_time_t time;
  tb_steady_time_t steady_time;
  int64_t before = tb__system_now_ns(), steady_before = tb__steady_now_ns();
  assert_ok(tb_now(system, &time));
  assert_ok(tb_now(steady, &steady_time));
  assert_int_equal(time.kind, TB_TIME_SYSTEM);
  assert_in_range(time.ns, before, tb__system_now_ns());
  assert_in_range(steady_time.ns, steady_before, tb__steady_now_ns());
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_steady_clock_destroy(steady));
}

static void test_C1_bad_arguments_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *clock = NULL;
  tb_clock_options_t options = {TB_TIME_SYSTEM, f->source};
  assert_status(tb_clock_create(&options, &clock), TB_ERR_INVALID);
  options = (tb_clock_options_t){(tb_time_kind_t)7, NULL};
  assert_status(tb_clock_create(&options, &clock), TB_ERR_INVALID);
  assert_null(clock);
  assert_status(tb_clock_now(NULL, &(tb_time_t){0}), TB_ERR_INVALID);
  assert_status(tb_clock_now(f->clock, NULL), TB_ERR_INVALID);
  assert_ok(tb_clock_destroy(NULL));
}

static void test_C2_inactive_clock_returns_system_time(void **state)
{
  (void)state;
  tb_clock_t *clock;
  assert_ok(tb_clock_create(NULL, &clock));
  tb_time_t time;
  int64_t before = tb__system_now_ns();
  assert_ok(tb_clock_now(clock, &time));
  assert_int_equal(time.kind, TB_TIME_ROS);
  assert_in_range(time.ns, before, tb__system_now_ns());
  assert_false(tb_clock_is_active(clock));
  assert_ok(tb_clock_destroy(clock));
}

static void test_C2_active_clock_returns_zero_then_the_latest_tick(void **state)
{
  fixture_t *f = *state;
  assert_true(tb_clock_is_active(f->clock));
  assert_int_equal(now_ns(f->clock), 0);
  assert_ok(tb_manual_source_set(f->source, 0)); /* ignored before the start */
  assert_int_equal(now_ns(f->clock), 0);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_int_equal(now_ns(f->clock), 5 * S);
  assert_ok(tb_manual_source_set(f->source, 3 * S));
  assert_int_equal(now_ns(f->clock), 3 * S);
}

static void test_C2_zero_after_the_start_is_a_reset(void **state)
{
  fixture_t *f = *state;
  tb_clock_reading_t reading;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  uint64_t epoch = tb_clock_epoch(f->clock);
  assert_ok(tb_manual_source_set(f->source, 0));
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.time.ns, 0);
  assert_int_equal(reading.state, TB_CLOCK_WAITING);
  assert_true(reading.epoch > epoch);
  assert_ok(tb_manual_source_set(f->source, 1));
  assert_int_equal(now_ns(f->clock), 1);
}

static void test_C2_negative_tick_is_refused_and_counted(void **state)
{
  fixture_t *f = *state;
  tb_timeline_stats_t stats;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_status(tb_manual_source_set(f->source, -1), TB_ERR_RANGE);
  assert_int_equal(now_ns(f->clock), 5 * S);
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  assert_int_equal(stats.dropped, 1);
  assert_int_equal(stats.ticks, 1);
}

static void test_C2_equal_tick_is_a_sign_of_life_and_no_jump(void **state)
{
  fixture_t *f = *state;
  tb_timeline_stats_t stats;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  uint64_t epoch = tb_clock_epoch(f->clock);
  tb_timeline_set_state(tb_source_timeline(f->source), TB_CLOCK_STALLED);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_RUNNING);
  assert_int_equal(reading.epoch, epoch);
  tb_timeline_stats(tb_source_timeline(f->source), &stats);
  assert_int_equal(stats.ticks, 2);
  assert_int_equal(stats.jumps_backward + stats.jumps_forward, 0);
}

/* C3: a writer that is stopped in the middle of a tick blocks no reader. */
static void test_C3_reader_does_not_wait_for_a_stopped_writer(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  uint64_t next = (atomic_load(&timeline->version) ^ TB__VERSION_SLOT) + TB__VERSION_STEP;
  tb__mutex_lock(&timeline->mutex); /* and here the writer stops for good */
  atomic_store(&timeline->slots[tb__version_slot(next)].time_ns, 99 * S);
  assert_int_equal(now_ns(f->clock), 5 * S);
  assert_int_equal(tb_clock_epoch(f->clock), 0 + tb_clock_epoch(f->clock));
  tb__mutex_unlock(&timeline->mutex);
}

static void test_C3_timeline_outlives_its_source(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_clock_set_source(f->clock, other));
  const tb_timeline_t *timeline = tb_source_timeline(other);
  assert_ok(tb_source_destroy(other));
  assert_int_equal(atomic_load(&timeline->references), 1); /* the clock's */
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_NO_SOURCE);
  assert_true(reading.time.ns > 1000000 * S);
}

static void test_C4_clocks_on_one_source_share_its_timeline(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *clocks[100];
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  for (int i = 0; i < 100; i++)
    assert_ok(tb_clock_create(&options, &clocks[i]));
  assert_ok(tb_manual_source_set(f->source, 7 * S));
  for (int i = 0; i < 100; i++) {
    assert_int_equal(now_ns(clocks[i]), 7 * S);
    assert_ptr_equal(tb__clock_timeline(clocks[i]), tb_source_timeline(f->source));
    assert_ok(tb_clock_destroy(clocks[i]));
  }
}

typedef struct torn {
  tb_clock_t *clock;
  _Atomic bool stop, bad;
  _Atomic uint64_t readings;
} torn_t;

/* The writer keeps time_ns = 10 + its place in the epoch, starting each epoch at 10. */
static void *read_sets(void *argument)
{
  torn_t *torn = argument;
  tb_clock_reading_t last = {0};
  while (!atomic_load(&torn->stop)) {
    tb_clock_reading_t now;
    tb_clock_read(torn->clock, &now);
    bool back = now.time.ns < last.time.ns;
    if (now.epoch < last.epoch || (back && now.epoch == last.epoch)) atomic_store(&torn->bad, true);
    last = now;
    atomic_fetch_add(&torn->readings, 1);
  }
  return NULL;
}

static void test_C5_time_and_epoch_are_one_consistent_set(void **state)
{
  fixture_t *f = *state;
  torn_t torn = {.clock = f->clock};
  pthread_t readers[2];
  assert_ok(tb_manual_source_set(f->source, 10));
  for (int i = 0; i < 2; i++)
    pthread_create(&readers[i], NULL, read_sets, &torn);
  for (int64_t i = 0; i < 20000 || atomic_load(&torn.readings) < 1000; i++)
    assert_ok(tb_manual_source_set(f->source, 10 + i % 7));
  atomic_store(&torn.stop, true);
  for (int i = 0; i < 2; i++)
    pthread_join(readers[i], NULL);
  assert_false(torn.bad);
}

static void test_C6_epoch_rises_at_moves_and_backward_jumps_only(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *other;
  assert_ok(tb_clock_create(NULL, &other));
  uint64_t created = tb_clock_epoch(f->clock);
  assert_true(created > 0); /* it was moved to its source */
  assert_int_equal(tb_clock_epoch(other), 0);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_manual_source_set(f->source, 500 * S));
  assert_int_equal(tb_clock_epoch(f->clock), created);
  assert_ok(tb_manual_source_set(f->source, 4 * S));
  uint64_t jumped = tb_clock_epoch(f->clock);
  assert_true(jumped > created);
  assert_ok(tb_clock_set_source(other, f->source));
  uint64_t moved = tb_clock_epoch(other);
  assert_true(moved > jumped); /* one counter of the process */
  assert_int_equal(tb_clock_epoch(f->clock), jumped);
  assert_ok(tb_clock_set_source(other, NULL));
  assert_true(tb_clock_epoch(other) > moved); /* never falls, though system time has no epoch */
  assert_ok(tb_clock_destroy(other));
}

typedef struct probe_source {
  tb_source_t *source;
  int starts, stops, destroys;
  tb_status_t start_status, tick_in_stop;
  tb_timeline_t *timeline;
} probe_source_t;

static tb_status_t probe_start(void *self, tb_timeline_t *timeline)
{
  probe_source_t *probe = self;
  probe->starts++;
  probe->timeline = timeline;
  return probe->start_status ? probe->start_status : tb_timeline_tick(timeline, 8 * S, 0);
}

static void probe_stop(void *self)
{
  probe_source_t *probe = self;
  probe->stops++;
  probe->tick_in_stop = tb_timeline_tick(probe->timeline, 9 * S, 0);
}

static void probe_destroy(void *self)
{
  ((probe_source_t *)self)->destroys++;
}

static const tb_source_ops_t probe_ops = {"probe", probe_start, probe_stop, probe_destroy};

static void test_X1_source_starts_with_its_first_clock_and_stops_after_its_last(void **state)
{
  (void)state;
  probe_source_t probe = {0};
  tb_clock_t *a, *b;
  assert_ok(tb_source_create(&probe_ops, &probe, &probe.source));
  tb_clock_options_t options = {TB_TIME_ROS, probe.source};
  assert_ok(tb_clock_create(&options, &a));
  assert_int_equal(now_ns(a), 8 * S); /* started before create returned */
  assert_ok(tb_clock_create(&options, &b));
  assert_int_equal(probe.starts, 1);
  assert_ok(tb_clock_set_source(a, NULL));
  assert_int_equal(probe.stops, 0);
  assert_ok(tb_clock_destroy(b));
  assert_int_equal(probe.stops, 1);
  assert_status(probe.tick_in_stop, TB_ERR_DETACHED);
  assert_ok(tb_clock_set_source(a, probe.source));
  assert_int_equal(probe.starts, 2);
  assert_int_equal(now_ns(a), 8 * S);
  assert_ok(tb_source_destroy(probe.source));
  assert_int_equal(probe.stops, 2);
  assert_int_equal(probe.destroys, 1);
  assert_false(tb_clock_is_active(a));
  assert_ok(tb_clock_destroy(a));
}

static void test_X1_source_that_cannot_start_changes_nothing(void **state)
{
  fixture_t *f = *state;
  probe_source_t probe = {.start_status = TB_ERR_TRANSPORT};
  assert_ok(tb_source_create(&probe_ops, &probe, &probe.source));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  uint64_t epoch = tb_clock_epoch(f->clock);
  assert_status(tb_clock_set_source(f->clock, probe.source), TB_ERR_TRANSPORT);
  assert_int_equal(now_ns(f->clock), 5 * S);
  assert_int_equal(tb_clock_epoch(f->clock), epoch);
  tb_clock_t *clock = NULL;
  tb_clock_options_t options = {TB_TIME_ROS, probe.source};
  assert_status(tb_clock_create(&options, &clock), TB_ERR_TRANSPORT);
  assert_null(clock);
  assert_ok(tb_source_destroy(probe.source));
}

static void test_X2_manual_source_after_its_last_clock_is_detached(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_status(tb_manual_source_set(f->source, 6 * S), TB_ERR_DETACHED);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_int_equal(now_ns(f->clock), 5 * S);
  assert_ok(tb_manual_source_set(f->source, 6 * S));
}

static void test_X2_manual_source_moves_before_any_clock_uses_it(void **state)
{
  (void)state;
  tb_source_t *source;
  tb_clock_t *clock;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_status(tb_manual_source_advance(source, (tb_duration_t){-6 * S}), TB_ERR_RANGE);
  assert_status(tb_manual_source_advance(source, (tb_duration_t){INT64_MAX}), TB_ERR_OVERFLOW);
  assert_status(tb_manual_source_advance_to_next(source), TB_ERR_NOT_FOUND);
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_int_equal(now_ns(clock), 5 * S);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

static void test_X5_try_tick_commits_only_what_has_no_consequence(void **state)
{
  fixture_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  assert_ok(tb_timeline_try_tick(timeline, 5 * S));
  assert_ok(tb_timeline_try_tick(timeline, 6 * S));
  assert_int_equal(now_ns(f->clock), 6 * S);
  tb__waiter_t waiter = {.deadline = (uint64_t)(8 * S), .clock = f->clock};
  tb__mutex_lock(&timeline->mutex);
  tb__waiter_queue_locked(timeline, &waiter);
  tb__mutex_unlock(&timeline->mutex);
  assert_ok(tb_timeline_try_tick(timeline, 8 * S - 1));
  assert_status(tb_timeline_try_tick(timeline, 8 * S), TB_ERR_BUSY);
  assert_status(tb_timeline_try_tick(timeline, 1 * S), TB_ERR_BUSY);
  assert_int_equal(now_ns(f->clock), 8 * S - 1);
  tb__mutex_lock(&timeline->mutex);
  tb__waiter_unqueue_locked(timeline, &waiter);
  tb__mutex_unlock(&timeline->mutex);
  assert_status(tb_timeline_try_tick(timeline, -1), TB_ERR_RANGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C1_each_kind_returns_its_time),
      WITH_CLOCK(test_C1_bad_arguments_are_refused),
      cmocka_unit_test(test_C2_inactive_clock_returns_system_time),
      WITH_CLOCK(test_C2_active_clock_returns_zero_then_the_latest_tick),
      WITH_CLOCK(test_C2_zero_after_the_start_is_a_reset),
      WITH_CLOCK(test_C2_negative_tick_is_refused_and_counted),
      WITH_CLOCK(test_C2_equal_tick_is_a_sign_of_life_and_no_jump),
      WITH_CLOCK(test_C3_reader_does_not_wait_for_a_stopped_writer),
      WITH_CLOCK(test_C3_timeline_outlives_its_source),
      WITH_CLOCK(test_C4_clocks_on_one_source_share_its_timeline),
      WITH_CLOCK(test_C5_time_and_epoch_are_one_consistent_set),
      WITH_CLOCK(test_C6_epoch_rises_at_moves_and_backward_jumps_only),
      cmocka_unit_test(test_X1_source_starts_with_its_first_clock_and_stops_after_its_last),
      WITH_CLOCK(test_X1_source_that_cannot_start_changes_nothing),
      WITH_CLOCK(test_X2_manual_source_after_its_last_clock_is_detached),
      cmocka_unit_test(test_X2_manual_source_moves_before_any_clock_uses_it),
      WITH_CLOCK(test_X5_try_tick_commits_only_what_has_no_consequence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
