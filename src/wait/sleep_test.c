#include <pthread.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/manual_source.h>

#include "on_manual_source.h"
#include "platform/time.h"
#include "waiting.h"

typedef struct sleeping {
  tb_clock_t *clock;
  int64_t until_ns, for_ns; /* one of them; neither: until started */
  tb_wait_options_t options;
  pthread_t thread;
  _Atomic bool over;
  tb_status_t status;
  int64_t woke_ns;
} sleeping_t;

static void *sleep_thread(void *argument)
{
  sleeping_t *s = argument;
  tb_time_t now = {-1, 0};
  if (s->until_ns)
    s->status = tb_sleep_until(s->clock, ((tb_time_t){s->until_ns, TB_TIME_ROS}), &s->options);
  else if (s->for_ns)
    s->status = tb_sleep_for(s->clock, (tb_duration_t){s->for_ns}, &s->options);
  else
    s->status = tb_clock_wait_until_started(s->clock, &s->options);
  if (s->status != TB_ERR_CLOSED) tb_clock_now(s->clock, &now);
  s->woke_ns = now.ns;
  atomic_store(&s->over, true);
  return NULL;
}

/* Returns when the thread is asleep. */
static void start(sleeping_t *s)
{
  int before = waiters_on(s->clock);
  pthread_create(&s->thread, NULL, sleep_thread, s);
  wait_for_waiters(s->clock, before + 1);
}

static void finish(sleeping_t *s, tb_status_t expected)
{
  pthread_join(s->thread, NULL);
  assert_status(s->status, expected);
}

static void set(fixture_t *f, int64_t seconds)
{
  assert_ok(tb_manual_source_set(f->source, seconds * S));
}

static void test_S1_until_wakes_at_its_time_and_not_before(void **state)
{
  fixture_t *f = *state;
  set(f, 10);
  sleeping_t s = {.clock = f->clock, .until_ns = 20 * S};
  start(&s);
  assert_ok(tb_manual_source_set(f->source, 20 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 20);
  finish(&s, TB_OK);
  assert_int_equal(s.woke_ns, 20 * S);
  assert_ok(tb_clock_sleep_until(f->clock, (tb_time_t){20 * S, TB_TIME_ROS}, NULL));
  assert_ok(tb_clock_sleep_until(f->clock, (tb_time_t){-5, TB_TIME_ROS}, NULL));
}

static void test_S1_for_wakes_when_the_duration_has_passed(void **state)
{
  fixture_t *f = *state;
  set(f, 10);
  sleeping_t s = {.clock = f->clock, .for_ns = 5 * S};
  start(&s);
  assert_ok(tb_manual_source_set(f->source, 15 * S - 1));
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 15);
  finish(&s, TB_OK);
}

static void test_S1_every_kind_of_clock_sleeps_and_never_early(void **state)
{
  (void)state;
  tb_steady_clock_t *steady;
  tb_clock_t *inactive, *system;
  tb_steady_time_t now, later;
  tb_time_t wall, wall_later;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(NULL, &inactive));
  assert_ok(tb_clock_create(&options, &system));
  assert_ok(tb_now(steady, &now));
  assert_ok(tb_sleep_until(steady, ((tb_steady_time_t){now.ns + 2000000}), NULL));
  assert_ok(tb_now(steady, &later));
  assert_true(later.ns >= now.ns + 2000000);
  assert_ok(tb_sleep_for(steady, (tb_duration_t){1000000}, NULL));
  assert_ok(tb_now(system, &wall));
  assert_ok(tb_sleep_until(system, ((tb_time_t){wall.ns + 2000000, TB_TIME_SYSTEM}), NULL));
  assert_ok(tb_now(system, &wall_later));
  assert_true(wall_later.ns >= wall.ns + 2000000);
  int64_t before = tb__steady_now_ns();
  assert_ok(tb_sleep_for(system, (tb_duration_t){1000000}, NULL));
  assert_ok(tb_sleep_for(inactive, (tb_duration_t){1000000}, NULL));
  assert_true(tb__steady_now_ns() >= before + 2000000);
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_clock_destroy(inactive));
  assert_ok(tb_steady_clock_destroy(steady));
}

static void test_S2_backward_jump_until_waits_again_and_for_keeps_the_remainder(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t until = {.clock = f->clock, .until_ns = 110 * S};
  sleeping_t remaining = {.clock = f->clock, .for_ns = 10 * S};
  start(&until);
  start(&remaining);
  set(f, 104); /* 6 s are left */
  set(f, 50);
  assert_ok(tb_manual_source_set(f->source, 56 * S - 1));
  assert_int_equal(waiters_on(f->clock), 2);
  set(f, 56);
  finish(&remaining, TB_OK);
  set(f, 109);
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 110);
  finish(&until, TB_OK);
}

static void test_S2_for_keeps_the_remainder_over_many_jumps_and_a_reset(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t remaining = {.clock = f->clock, .for_ns = 10 * S};
  start(&remaining);
  set(f, 103);
  set(f, 1);
  set(f, 4);
  set(f, 0); /* not started */
  set(f, 1000);
  set(f, 1003);
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 1004);
  finish(&remaining, TB_OK);
}

static void test_S2_clock_change_ends_until_but_not_for(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 500 * S));
  set(f, 100);
  sleeping_t until = {.clock = f->clock, .until_ns = 600 * S};
  sleeping_t kept = {.clock = f->clock, .until_ns = 600 * S, .options.flags = TB_SLEEP_KEEP_TIME};
  sleeping_t remaining = {.clock = f->clock, .for_ns = 10 * S};
  start(&until);
  start(&kept);
  start(&remaining);
  set(f, 104);
  assert_ok(tb_clock_set_source(f->clock, other));
  finish(&until, TB_ERR_CLOCK_CHANGED);
  assert_int_equal(waiters_on(f->clock), 2);
  assert_ok(tb_manual_source_set(other, 506 * S));
  finish(&remaining, TB_OK);
  assert_ok(tb_manual_source_set(other, 600 * S));
  finish(&kept, TB_OK);
  assert_ok(tb_source_destroy(other));
}

static void test_S2_for_goes_on_in_steady_time_when_deactivated(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t remaining = {.clock = f->clock, .for_ns = 10 * TB_NS_PER_MS};
  start(&remaining);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish(&remaining, TB_OK);
}

static void test_S2_for_begun_on_system_time_goes_on_with_a_source(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_clock_t *clock;
  assert_ok(tb_clock_create(NULL, &clock));
  sleeping_t remaining = {.clock = clock, .for_ns = 3600 * S};
  start(&remaining);
  assert_ok(tb_clock_set_source(clock, f->source));
  assert_int_equal(waiters_on(clock), 1);
  set(f, 100 + 3600);
  finish(&remaining, TB_OK);
  assert_ok(tb_clock_destroy(clock));
}

static void test_S3_flags_fail_a_wait(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t backward = {
      .clock = f->clock, .for_ns = 900 * S, .options.flags = TB_WAIT_FAIL_ON_BACKWARD};
  sleeping_t forward = {.clock = f->clock,
                        .for_ns = 900 * S,
                        .options = {.flags = TB_WAIT_FAIL_ON_FORWARD, .forward_min = {10 * S}}};
  sleeping_t change = {
      .clock = f->clock, .for_ns = 900 * S, .options.flags = TB_WAIT_FAIL_ON_CLOCK_CHANGE};
  start(&backward);
  start(&forward);
  start(&change);
  set(f, 109);
  assert_int_equal(waiters_on(f->clock), 3);
  set(f, 119);
  finish(&forward, TB_ERR_JUMP_FORWARD);
  assert_int_equal(waiters_on(f->clock), 2);
  set(f, 118);
  finish(&backward, TB_ERR_JUMP_BACKWARD);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  finish(&change, TB_ERR_CLOCK_CHANGED);
}

static void test_S3_jump_comes_before_due(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t s = {.clock = f->clock,
                  .until_ns = 105 * S,
                  .options = {.flags = TB_WAIT_FAIL_ON_ANY, .forward_min = {10 * S}}};
  start(&s);
  set(f, 120);
  finish(&s, TB_ERR_JUMP_FORWARD);
}

static void test_S4_before_the_first_tick(void **state)
{
  fixture_t *f = *state;
  assert_status(tb_clock_sleep_until(f->clock, (tb_time_t){0, TB_TIME_ROS}, NULL), TB_ERR_NOT_SET);
  sleeping_t remaining = {
      .clock = f->clock, .for_ns = 5 * S, .options.flags = TB_WAIT_FAIL_ON_BACKWARD};
  sleeping_t until = {.clock = f->clock, .until_ns = 50 * S};
  sleeping_t started = {.clock = f->clock};
  start(&remaining);
  start(&until);
  start(&started);
  set(f, 100);
  finish(&until, TB_OK);
  finish(&started, TB_OK);
  set(f, 104);
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 105);
  finish(&remaining, TB_OK);
}

static void test_S5_limit_ends_a_wait_on_a_paused_source(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  tb_wait_options_t options = {.limit = {2 * TB_NS_PER_MS}};
  int64_t before = tb__steady_now_ns();
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){S}, &options), TB_ERR_TIMEOUT);
  assert_true(tb__steady_now_ns() - before >= 2 * TB_NS_PER_MS);
  assert_int_equal(waiters_on(f->clock), 0);
  tb_clock_t *inactive;
  assert_ok(tb_clock_create(NULL, &inactive));
  tb_time_t now;
  assert_ok(tb_clock_now(inactive, &now));
  assert_status(
      tb_clock_sleep_until(inactive, (tb_time_t){now.ns + 3600 * S, TB_TIME_ROS}, &options),
      TB_ERR_TIMEOUT);
  assert_ok(tb_clock_sleep_for(inactive, (tb_duration_t){1000}, &options));
  assert_ok(tb_clock_destroy(inactive));
}

static void test_S5_zero_returns_at_once_and_too_long_waits_for_ever(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_clock_sleep_for(f->clock, (tb_duration_t){0}, NULL));
  assert_ok(tb_clock_sleep_for(f->clock, (tb_duration_t){INT64_MIN}, NULL));
  set(f, 100);
  sleeping_t s = {.clock = f->clock, .for_ns = INT64_MAX};
  start(&s);
  assert_ok(tb_manual_source_set(f->source, INT64_MAX));
  set(f, 1);
  assert_ok(tb_manual_source_set(f->source, INT64_MAX));
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_clock_destroy(f->clock));
  finish(&s, TB_ERR_CLOSED);
  assert_ok(tb_clock_create(NULL, &f->clock));
}

static void test_S5_bad_options_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_wait_options_t options = {.flags = 1U << 30};
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){1}, &options), TB_ERR_INVALID);
  options = (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_FORWARD};
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){1}, &options), TB_ERR_INVALID);
  options = (tb_wait_options_t){.limit = {-1}};
  assert_status(tb_clock_sleep_for(f->clock, (tb_duration_t){1}, &options), TB_ERR_INVALID);
  assert_status(tb_clock_sleep_until(f->clock, (tb_time_t){5, TB_TIME_SYSTEM}, NULL),
                TB_ERR_CLOCK_MISMATCH);
}

/* S7: a thousand sleepers, each woken by its own tick and no other. */
#define SLEEPERS 200

static void test_S6_started_returns_at_the_first_time_that_is_not_zero(void **state)
{
  fixture_t *f = *state;
  sleeping_t started = {.clock = f->clock}, again = {.clock = f->clock};
  start(&started);
  set(f, 0);
  assert_int_equal(waiters_on(f->clock), 1);
  set(f, 7);
  finish(&started, TB_OK);
  assert_int_equal(started.woke_ns, 7 * S);
  sleep_thread(&again); /* at once, now that time has started */
  assert_status(again.status, TB_OK);
  set(f, 0);
  tb_wait_options_t look = {.limit = TB_NO_WAIT};
  assert_status(tb_clock_wait_until_started(f->clock, &look), TB_ERR_TIMEOUT);
}

static void test_S7_a_tick_wakes_those_due_and_no_others(void **state)
{
  fixture_t *f = *state;
  static sleeping_t sleeping[SLEEPERS];
  set(f, 1);
  for (int i = 0; i < SLEEPERS; i++) {
    int place = i * 77 % SLEEPERS; /* not in order */
    sleeping[place] = (sleeping_t){.clock = f->clock, .until_ns = (10 + place) * S};
    start(&sleeping[place]);
  }
  for (int i = 0; i < SLEEPERS; i++) {
    set(f, 10 + i);
    finish(&sleeping[i], TB_OK);
    assert_int_equal(waiters_on(f->clock), SLEEPERS - 1 - i);
  }
}

typedef struct runner {
  tb_clock_t *clock;
  _Atomic bool stop;
  _Atomic uint64_t sleeps;
} runner_t;

static void *sleep_again_and_again(void *argument)
{
  runner_t *runner = argument;
  while (!atomic_load(&runner->stop)) {
    tb_status_t status = tb_clock_sleep_for(runner->clock, (tb_duration_t){3}, NULL);
    (void)status; /* any */
    atomic_fetch_add(&runner->sleeps, 1);
  }
  return NULL;
}

/* S7: no wake-up is lost: with ticks racing against going to sleep, every waiter continues. */
static void test_S7_no_wakeup_is_lost(void **state)
{
  fixture_t *f = *state;
  runner_t runners[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    runners[i] = (runner_t){.clock = f->clock};
    pthread_create(&threads[i], NULL, sleep_again_and_again, &runners[i]);
  }
  int64_t now = 0;
  for (int i = 0; i < 4; i++)
    while (atomic_load(&runners[i].sleeps) < 500)
      assert_ok(tb_manual_source_set(f->source, ++now));
  for (int i = 0; i < 4; i++)
    atomic_store(&runners[i].stop, true);
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* the last sleeps end in steady time */
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

static void test_L1_destroying_a_clock_ends_its_sleeps(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *clock;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&options, &clock));
  sleeping_t s = {.clock = clock, .for_ns = 5 * S};
  start(&s);
  assert_ok(tb_clock_destroy(clock));
  finish(&s, TB_ERR_CLOSED);
}

static void *advance_thread(void *argument)
{
  fixture_t *f = argument;
  assert_ok(tb_manual_source_advance_to_next(f->source));
  return NULL;
}

static void test_X2_advance_to_next_and_stepped_stop_at_deadlines(void **state)
{
  fixture_t *f = *state;
  set(f, 100);
  sleeping_t a = {.clock = f->clock, .until_ns = 105 * S}, b = {.clock = f->clock, .for_ns = 7 * S},
             c = {.clock = f->clock, .for_ns = 9 * S};
  start(&a);
  start(&b);
  start(&c);
  advance_thread(f);
  finish(&a, TB_OK);
  assert_int_equal(a.woke_ns, 105 * S);
  assert_status(tb_manual_source_advance_stepped(f->source, (tb_duration_t){10 * S}, 1),
                TB_ERR_LIMIT);
  finish(&b, TB_OK);
  assert_int_equal(b.woke_ns, 107 * S);
  assert_ok(tb_manual_source_advance_stepped(f->source, (tb_duration_t){10 * S}, 5));
  finish(&c, TB_OK);
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  assert_int_equal(now.ns, 117 * S);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_S1_until_wakes_at_its_time_and_not_before),
      WITH_CLOCK(test_S1_for_wakes_when_the_duration_has_passed),
      cmocka_unit_test(test_S1_every_kind_of_clock_sleeps_and_never_early),
      WITH_CLOCK(test_S2_backward_jump_until_waits_again_and_for_keeps_the_remainder),
      WITH_CLOCK(test_S2_for_keeps_the_remainder_over_many_jumps_and_a_reset),
      WITH_CLOCK(test_S2_clock_change_ends_until_but_not_for),
      WITH_CLOCK(test_S2_for_goes_on_in_steady_time_when_deactivated),
      WITH_CLOCK(test_S2_for_begun_on_system_time_goes_on_with_a_source),
      WITH_CLOCK(test_S3_flags_fail_a_wait),
      WITH_CLOCK(test_S3_jump_comes_before_due),
      WITH_CLOCK(test_S4_before_the_first_tick),
      WITH_CLOCK(test_S5_limit_ends_a_wait_on_a_paused_source),
      WITH_CLOCK(test_S5_zero_returns_at_once_and_too_long_waits_for_ever),
      WITH_CLOCK(test_S5_bad_options_are_refused),
      WITH_CLOCK(test_S6_started_returns_at_the_first_time_that_is_not_zero),
      WITH_CLOCK(test_S7_a_tick_wakes_those_due_and_no_others),
      WITH_CLOCK(test_S7_no_wakeup_is_lost),
      WITH_CLOCK(test_L1_destroying_a_clock_ends_its_sleeps),
      WITH_CLOCK(test_X2_advance_to_next_and_stepped_stop_at_deadlines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
