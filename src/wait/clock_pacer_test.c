/* The pacer that runs on a clock: what passes, and what ends its waits. */
#include "wait/clock_pacer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <timebase/jump.h>
#include <timebase/testing.h>

#include "on_manual_source.h"
#include "waiting.h"

#define MS     TB_NS_PER_MS
#define ROUNDS 2000

static tb__pacer_t *pacer;

static int setup_pacer(void **state)
{
  setup(state);
  assert_ok(tb_testing_hold_os_time()); /* for the rates that are observed */
  assert_ok(tb__clock_pacer_create(((fixture_t *)*state)->clock, &pacer));
  return 0;
}

static int teardown_pacer(void **state)
{
  tb__clock_pacer_destroy(pacer);
  assert_ok(tb_testing_release_os_time());
  return teardown(state);
}

static int64_t passed_ns(void)
{
  return pacer->now_ns(pacer) - TB__CLOCK_PACER_START;
}

static void test_forward_steps_pass(void **state)
{
  fixture_t *f = *state;
  assert_true(atomic_load(&pacer->waits));
  assert_int_equal(passed_ns(), 0);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_false(atomic_load(&pacer->waits));
  assert_int_equal(passed_ns(), 0);
  assert_ok(tb_manual_source_set(f->source, 5 * S + 1));
  assert_int_equal(passed_ns(), 1);
  assert_ok(tb_manual_source_set(f->source, 9 * S));
  assert_int_equal(passed_ns(), 4 * S);
}

static void test_jumps_back_and_changes_of_the_clock_pass_nothing(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_manual_source_set(f->source, 6 * S)); /* passes, though nothing read it */
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_int_equal(passed_ns(), 1 * S);
  assert_ok(tb_manual_source_set(f->source, 3 * S));
  assert_int_equal(passed_ns(), 2 * S);
  assert_ok(tb_clock_set_source(f->clock, other)); /* not started */
  assert_true(atomic_load(&pacer->waits));
  assert_int_equal(passed_ns(), 2 * S);
  assert_ok(tb_manual_source_set(other, 900 * S));
  assert_int_equal(passed_ns(), 2 * S);
  assert_ok(tb_manual_source_set(other, 901 * S));
  assert_int_equal(passed_ns(), 3 * S);
  assert_ok(tb_manual_source_set(other, 0)); /* reset */
  assert_true(atomic_load(&pacer->waits));
  assert_int_equal(passed_ns(), 3 * S);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_false(atomic_load(&pacer->waits));
  assert_int_equal(passed_ns(), 3 * S);
  assert_ok(tb_source_destroy(other));
}

static void test_a_span_includes_the_last_step_if_that_was_no_jump(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_manual_source_set(f->source, 5 * S + 99 * MS));
  assert_int_equal(pacer->span_ns(pacer, 0), 0);
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){250 * MS}));
  assert_int_equal(pacer->span_ns(pacer, 0), 250 * MS);
  assert_ok(tb_manual_source_set(f->source, 105 * S));
  assert_int_equal(pacer->span_ns(pacer, 0), 0);
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){300 * MS}));
  assert_int_equal(pacer->span_ns(pacer, 0), 300 * MS);
  assert_ok(tb_manual_source_jump(f->source, 200 * S, TB_JUMP_REASON_SEEK));
  assert_int_equal(pacer->span_ns(pacer, 0), 0);
}

static void test_a_span_is_that_of_the_rate(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_int_equal(pacer->span_ns(pacer, 100 * MS), 100 * MS);
  for (int64_t i = 1; i <= 20; i++) {
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){10 * MS}));
    assert_ok(tb_manual_source_set(f->source, 5 * S + i * 40 * MS));
  }
  assert_int_equal(pacer->span_ns(pacer, 100 * MS), 400 * MS);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){1 * S}));
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){10 * MS}));
  assert_int_equal(pacer->span_ns(pacer, 100 * MS), 100 * MS); /* not below */
}

static void test_it_begins_on_a_clock_that_runs(void **state)
{
  fixture_t *f = *state;
  tb__pacer_t *late;
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb__clock_pacer_create(f->clock, &late));
  assert_false(atomic_load(&late->waits));
  assert_ok(tb_manual_source_set(f->source, 6 * S));
  assert_int_equal(late->now_ns(late), TB__CLOCK_PACER_START + S);
  tb__clock_pacer_destroy(late);
  tb__clock_pacer_destroy(NULL);
}

/* --- waits --- */

/* Waits again and again until `until_ns` has passed, or a wake-up has asked it to end. */
typedef struct loop {
  int64_t until_ns;
  atomic_bool ends;
  int64_t ended_ns;
  pthread_t thread;
} loop_t;

static void *run_loop(void *user)
{
  loop_t *loop = user;
  int64_t deadline_ns =
      loop->until_ns == INT64_MAX ? INT64_MAX : TB__CLOCK_PACER_START + loop->until_ns;
  for (;;) {
    uint32_t events = tb__pacer_events(pacer);
    if (atomic_load(&loop->ends) || pacer->now_ns(pacer) >= deadline_ns) break;
    pacer->wait(pacer, events, deadline_ns, INT64_MAX);
  }
  loop->ended_ns = passed_ns();
  return NULL;
}

static void start_loop(fixture_t *f, loop_t *loop, int64_t until_ns)
{
  loop->until_ns = until_ns;
  atomic_init(&loop->ends, false);
  assert_int_equal(pthread_create(&loop->thread, NULL, run_loop, loop), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(f->source, 1, NULL));
}

static void assert_ends_at(loop_t *loop, int64_t ended_ns)
{
  assert_int_equal(pthread_join(loop->thread, NULL), 0);
  assert_int_equal(loop->ended_ns, ended_ns);
}

static void test_waits_end_when_the_time_has_passed(void **state)
{
  fixture_t *f = *state;
  loop_t loop;
  start_loop(f, &loop, 7 * S);
  assert_ok(tb_manual_source_set_and_run(f->source, 100 * S, NULL));
  assert_ok(tb_manual_source_set_and_run(f->source, 104 * S, NULL));
  assert_ok(tb_manual_source_set_and_run(f->source, 50 * S, NULL)); /* 3 s are left */
  assert_ok(tb_manual_source_set_and_run(f->source, 53 * S - 1, NULL));
  assert_int_equal(waiters_on(f->clock), 1);
  assert_ok(tb_manual_source_set(f->source, 53 * S));
  assert_ends_at(&loop, 7 * S);
}

static void test_a_nudge_ends_a_wait_whatever_the_clock_does(void **state)
{
  fixture_t *f = *state;
  for (int started = 0; started < 2; started++) {
    loop_t loop;
    start_loop(f, &loop, INT64_MAX);
    atomic_store(&loop.ends, true);
    tb__pacer_nudge(pacer);
    assert_ends_at(&loop, 0);
    assert_ok(tb_manual_source_set(f->source, 5 * S));
  }
}

static void *wait_5_s(void *user)
{
  (void)user;
  int64_t limit_ns = pacer->steady_ns(pacer) + 5 * S;
  while (pacer->steady_ns(pacer) < limit_ns)
    pacer->wait(pacer, tb__pacer_events(pacer), INT64_MAX, limit_ns);
  return NULL;
}

static void test_a_limit_in_steady_time_ends_a_wait_while_the_clock_is_stopped(void **state)
{
  fixture_t *f = *state;
  for (int started = 0; started < 2; started++) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_5_s, NULL), 0);
    assert_ok(tb_testing_wait_for_sleepers(1, NULL));
    assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){5 * S - 1}, NULL));
    assert_int_equal(waiters_on(f->clock), 1);
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){1}));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(passed_ns(), 0);
    assert_ok(tb_manual_source_set(f->source, 5 * S));
  }
}

static void test_what_came_before_a_wait_ends_it(void **state)
{
  fixture_t *f = *state;
  uint32_t events = tb__pacer_events(pacer);
  tb__pacer_nudge(pacer);
  pacer->wait(pacer, events, INT64_MAX, INT64_MAX);
  static const int64_t times_s[] = {5, 4, 0};
  for (size_t i = 0; i < 3; i++) {
    events = tb__pacer_events(pacer);
    assert_ok(tb_manual_source_set(f->source, times_s[i] * S));
    pacer->wait(pacer, events, INT64_MAX, INT64_MAX);
  }
  assert_int_equal(waiters_on(f->clock), 0);
}

static void on_signal(int number)
{
  (void)number;
  tb__pacer_nudge(pacer);
}

static void test_a_nudge_may_come_from_a_signal_handler(void **state)
{
  fixture_t *f = *state;
  loop_t loop;
  struct sigaction action = {.sa_handler = on_signal}, before;
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  start_loop(f, &loop, INT64_MAX);
  atomic_store(&loop.ends, true);
  assert_int_equal(pthread_kill(loop.thread, SIGUSR1), 0);
  assert_ends_at(&loop, 0);
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* As calls on a player do, under a lock that others hold while they read the time. */
static void nudge_in_a_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  (void)user;
  passed_ns();
  tb__pacer_nudge(pacer);
}

static void test_jump_handlers_may_read_and_wake(void **state)
{
  fixture_t *f = *state;
  loop_t loop;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold = (tb_jump_threshold_t){{1}, {-1}, true};
  options.before = nudge_in_a_jump;
  options.after = nudge_in_a_jump;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  start_loop(f, &loop, 3 * S);
  for (int64_t i = 10; i > 5; i--) {
    assert_ok(tb_manual_source_set_and_run(f->source, i * S, NULL));
    assert_int_equal(passed_ns(), 0);
  }
  assert_ok(tb_manual_source_set(f->source, 9 * S));
  assert_ends_at(&loop, 3 * S);
  tb_jump_handler_destroy(handler);
}

/* --- no wake-up is lost --- */

static _Atomic uint32_t asked, answered;

static void *answer(void *user)
{
  (void)user;
  uint32_t done = 0;
  while (done < ROUNDS) {
    uint32_t events = tb__pacer_events(pacer);
    uint32_t now = atomic_load(&asked);
    if (now == done) pacer->wait(pacer, events, INT64_MAX, INT64_MAX);
    done = now;
    atomic_store(&answered, done);
  }
  return NULL;
}

static void test_no_nudge_is_lost_while_time_moves(void **state)
{
  fixture_t *f = *state;
  pthread_t thread;
  atomic_store(&asked, 0);
  atomic_store(&answered, 0);
  assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
  for (uint32_t i = 1; i <= ROUNDS; i++) {
    assert_ok(tb_manual_source_set(f->source, (i % 7 + 1) * S));
    atomic_store(&asked, i);
    tb__pacer_nudge(pacer);
    while (atomic_load(&answered) != i)
      sched_yield();
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
}

#define WITH_PACER(test) cmocka_unit_test_setup_teardown(test, setup_pacer, teardown_pacer)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_PACER(test_forward_steps_pass),
      WITH_PACER(test_jumps_back_and_changes_of_the_clock_pass_nothing),
      WITH_PACER(test_a_span_includes_the_last_step_if_that_was_no_jump),
      WITH_PACER(test_a_span_is_that_of_the_rate),
      WITH_PACER(test_it_begins_on_a_clock_that_runs),
      WITH_PACER(test_waits_end_when_the_time_has_passed),
      WITH_PACER(test_a_nudge_ends_a_wait_whatever_the_clock_does),
      WITH_PACER(test_a_limit_in_steady_time_ends_a_wait_while_the_clock_is_stopped),
      WITH_PACER(test_what_came_before_a_wait_ends_it),
      WITH_PACER(test_a_nudge_may_come_from_a_signal_handler),
      WITH_PACER(test_jump_handlers_may_read_and_wake),
      WITH_PACER(test_no_nudge_is_lost_while_time_moves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
