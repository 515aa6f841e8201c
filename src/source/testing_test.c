/* Steady and system time held by a test. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <timebase/condition.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/rate.h>
#include <timebase/testing.h>
#include <unistd.h>

#include "held/held_time.h"
#include "held/pacer.h"
#include "held/parking.h"
#include "on_manual_source.h"
#include "platform/time.h"
#include "waiting.h"

#define HOUR_NS INT64_C(3600000000000)

static const tb_run_options_t limited = {{HOUR_NS}, NULL};

typedef struct os_fixture {
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_timer_queue_t *queue;
} os_fixture_t;

static int setup_os(void **state)
{
  static os_fixture_t fixture;
  trace[0] = '\0';
  assert_ok(tb_steady_clock_create(&fixture.steady));
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_clock_create(&options, &fixture.system));
  assert_ok(tb_timer_queue_create(&fixture.queue));
  *state = &fixture;
  return 0;
}

static int teardown_os(void **state)
{
  os_fixture_t *f = *state;
  tb_testing_release_os_time();
  assert_ok(tb_timer_queue_destroy(f->queue));
  assert_ok(tb_clock_destroy(f->system));
  assert_ok(tb_steady_clock_destroy(f->steady));
  return 0;
}

static int64_t steady_now(void)
{
  int64_t ns;
  assert_ok(tb_testing_now(TB_TESTING_STEADY, &ns));
  return ns;
}

static int64_t system_now(void)
{
  int64_t ns;
  assert_ok(tb_testing_now(TB_TESTING_SYSTEM, &ns));
  return ns;
}

static tb_duration_t seconds(int64_t count)
{
  return (tb_duration_t){count * S};
}

static void test_X2_held_time_is_stopped_and_its_clocks_move_separately(void **state)
{
  os_fixture_t *f = *state;
  tb_steady_time_t steady;
  tb_time_t system;
  int64_t ns;
  assert_status(tb_testing_now(TB_TESTING_STEADY, &ns), TB_ERR_DETACHED);
  assert_status(tb_testing_set(TB_TESTING_SYSTEM, 1), TB_ERR_DETACHED);
  assert_status(tb_testing_advance(TB_TESTING_STEADY, seconds(1)), TB_ERR_DETACHED);
  assert_status(tb_testing_wait_for_sleepers(0, NULL), TB_ERR_DETACHED);
  assert_status(tb_testing_release_os_time(), TB_ERR_DETACHED);
  int64_t before_ns = tb__steady_now_ns();
  assert_ok(tb_testing_hold_os_time());
  assert_status(tb_testing_hold_os_time(), TB_ERR_BUSY);
  int64_t steady_ns = steady_now(), system_ns = system_now();
  assert_true(steady_ns >= before_ns);
  while (tb__real_steady_now_ns() <= steady_ns)
    sched_yield();
  assert_ok(tb_now(f->steady, &steady));
  assert_ok(tb_now(f->system, &system));
  assert_int_equal(steady.ns, steady_ns);
  assert_int_equal(system.ns, system_ns);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, seconds(5)));
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1000 * S));
  assert_ok(tb_now(f->steady, &steady));
  assert_ok(tb_now(f->system, &system));
  assert_int_equal(steady.ns, steady_ns + 5 * S);
  assert_int_equal(system.ns, 1000 * S);
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(-1)));
  assert_int_equal(system_now(), 999 * S);
  assert_status(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){-1}), TB_ERR_RANGE);
  assert_status(tb_testing_set(TB_TESTING_STEADY, steady_ns), TB_ERR_RANGE);
  assert_status(tb_testing_advance(TB_TESTING_SYSTEM, seconds(-1000)), TB_ERR_RANGE);
  assert_status(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){INT64_MAX}), TB_ERR_OVERFLOW);
  assert_status(tb_testing_advance_stepped(TB_TESTING_SYSTEM, seconds(-1), 9), TB_ERR_RANGE);
  assert_status(tb_testing_set((tb_testing_clock_t)7, 0), TB_ERR_INVALID);
  assert_int_equal(steady_now(), steady_ns + 5 * S);
  assert_int_equal(system_now(), 999 * S);
}

static void test_X2_steady_time_never_goes_back(void **state)
{
  os_fixture_t *f = *state;
  tb_steady_time_t now, later;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){HOUR_NS}));
  int64_t held_ns = steady_now(), real_ns = tb__real_steady_now_ns();
  assert_ok(tb_testing_release_os_time());
  assert_ok(tb_now(f->steady, &now));
  assert_true(now.ns >= held_ns);
  assert_true(now.ns - tb__real_steady_now_ns() <= held_ns - real_ns);
  do
    assert_ok(tb_now(f->steady, &later));
  while (later.ns == now.ns); /* it runs */
  assert_ok(tb_testing_hold_os_time());
  assert_true(steady_now() >= later.ns);
}

/* ---- threads ---- */

typedef enum way { ON_STEADY, ON_SYSTEM, ON_SYSTEM_UNTIL, RATE_ON_SYSTEM, ON_ROS } way_t;

typedef struct sleeping {
  os_fixture_t *f;
  way_t way;
  tb_clock_t *ros;
  int64_t duration_ns; /* or the target */
  tb_wait_options_t options;
  int rounds;
  _Atomic int count;
  tb_status_t status;
  pthread_t thread;
} sleeping_t;

static tb_status_t sleep_once(sleeping_t *s)
{
  tb_duration_t duration = {s->duration_ns};
  switch (s->way) {
  case ON_STEADY:
    return tb_sleep_for(s->f->steady, duration, &s->options);
  case ON_SYSTEM:
    return tb_sleep_for(s->f->system, duration, &s->options);
  case ON_SYSTEM_UNTIL:
    return tb_sleep_until(s->f->system, ((tb_time_t){s->duration_ns, TB_TIME_SYSTEM}), &s->options);
  default:
    return tb_sleep_for(s->ros, duration, &s->options);
  }
}

static void *sleep_thread(void *argument)
{
  sleeping_t *s = argument;
  tb_rate_t *rate = NULL;
  if (s->way == RATE_ON_SYSTEM)
    assert_ok(tb_rate_create(s->f->system, TB_NS(s->duration_ns), &rate));
  for (int i = 0; i < s->rounds && !s->status; i++) {
    s->status = rate ? tb_rate_sleep(rate, &s->options, NULL) : sleep_once(s);
    for (int j = 0; j < 100; j++)
      sched_yield();
    if (!s->status) atomic_fetch_add(&s->count, 1);
  }
  tb_rate_destroy(rate);
  return NULL;
}

static void begin(os_fixture_t *f, sleeping_t *s)
{
  s->f = f;
  if (!s->rounds) s->rounds = 1;
  pthread_create(&s->thread, NULL, sleep_thread, s);
}

static void finish(sleeping_t *s, tb_status_t expected)
{
  pthread_join(s->thread, NULL);
  assert_status(s->status, expected);
}

static void test_X2_loops_on_steady_and_system_time_follow_steps(void **state)
{
  os_fixture_t *f = *state;
  assert_ok(tb_testing_hold_os_time());
  sleeping_t steady = {.way = ON_STEADY, .duration_ns = S, .rounds = 25};
  sleeping_t system = {.way = ON_SYSTEM, .duration_ns = 2 * S, .rounds = 15};
  sleeping_t rate = {.way = RATE_ON_SYSTEM, .duration_ns = 5 * S, .rounds = 6};
  begin(f, &steady);
  begin(f, &system);
  begin(f, &rate);
  assert_ok(tb_testing_wait_for_sleepers(3, &limited));
  for (int i = 1; i <= 2; i++) {
    assert_ok(tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, seconds(10), 100, &limited));
    assert_int_equal(atomic_load(&steady.count), 10 * i);
    assert_int_equal(atomic_load(&system.count), 5 * i);
    assert_int_equal(atomic_load(&rate.count), 2 * i);
  }
  assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &limited));
  assert_int_equal(atomic_load(&steady.count), 21);
  assert_status(tb_testing_advance_to_next(TB_TESTING_SYSTEM), TB_ERR_NOT_FOUND);
  assert_status(tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, seconds(9), 2, &limited),
                TB_ERR_LIMIT);
  assert_ok(tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, seconds(20), 99, &limited));
  finish(&steady, TB_OK);
  finish(&system, TB_OK);
  finish(&rate, TB_OK);
  assert_status(tb_testing_advance_to_next(TB_TESTING_STEADY), TB_ERR_NOT_FOUND);
}

static void trace_step(const tb_jump_t *jump, void *user)
{
  (void)user;
  assert_int_equal(jump->reason, TB_JUMP_REASON_SYSTEM_STEPPED);
  int64_t half_ns = jump->delta.ns < 0 ? -S / 2 : S / 2; /* clocks are not read at once */
  TRACE("%+lld ", (long long)((jump->delta.ns + half_ns) / S));
}

static void test_J9_setting_the_wall_clock_is_a_step_and_passing_is_none(void **state)
{
  os_fixture_t *f = *state;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold = (tb_jump_threshold_t){{1}, {-1}, false};
  options.after = trace_step;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1000 * S));
  assert_ok(tb_jump_handler_create(f->system, &options, &handler));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, seconds(100)));
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(10)));
  assert_string_equal(trace, "");
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1500 * S));
  assert_string_equal(trace, "+490 ");
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(-7)));
  assert_string_equal(trace, "+490 -7 ");
  tb_jump_handler_destroy(handler);
}

static void test_J9_giving_time_back_is_a_step_by_what_system_time_loses(void **state)
{
  os_fixture_t *f = *state;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold = (tb_jump_threshold_t){{S}, {-S}, false};
  options.after = trace_step;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_jump_handler_create(f->system, &options, &handler));
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(3600)));
  uint64_t epoch = tb_clock_epoch(f->system);
  assert_ok(tb_testing_release_os_time());
  assert_string_equal(trace, "-3600 ");
  assert_true(tb_clock_epoch(f->system) > epoch);
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, seconds(1000)));
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, system_now())); /* no step either */
  assert_ok(tb_testing_release_os_time());
  assert_string_equal(trace, "-3600 "); /* system time continues from where it was */
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(-60)));
  assert_ok(tb_testing_release_os_time());
  assert_string_equal(trace, "-3600 -60 +60 ");
  tb_jump_handler_destroy(handler);
}

static _Atomic bool inside_step, let_go_of_step;
static _Atomic int slow_reports;

static void stay_in_step(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  atomic_store(&inside_step, true);
  while (!atomic_load(&let_go_of_step))
    sched_yield();
}

static void count_slow(tb_log_level_t level, const char *message, void *user)
{
  (void)level, (void)user;
  if (strstr(message, "\"stays\" has been running for")) atomic_fetch_add(&slow_reports, 1);
}

static void *step_back(void *argument)
{
  (void)argument;
  assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, seconds(-1)));
  return NULL;
}

static void *remove_handler(void *handler)
{
  tb_jump_handler_destroy(handler);
  return NULL;
}

/* Steady time runs during a step that hangs, so the limit of its handler passes. */
static void test_J7_J9_a_thread_blocked_by_a_step_reports_its_handler(void **state)
{
  os_fixture_t *f = *state;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  pthread_t stepping, removing;
  options.name = "stays";
  options.threshold = (tb_jump_threshold_t){{1}, {-1}, false};
  options.before = stay_in_step;
  tb_log_set_hook(count_slow, NULL);
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_jump_handler_create(f->system, &options, &handler));
  pthread_create(&stepping, NULL, step_back, NULL);
  while (!atomic_load(&inside_step))
    sched_yield();
  pthread_create(&removing, NULL, remove_handler, handler);
  while (atomic_load(&slow_reports) == 0) {
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, seconds(2)));
    sched_yield();
  }
  atomic_store(&let_go_of_step, true);
  pthread_join(stepping, NULL);
  pthread_join(removing, NULL);
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(atomic_load(&slow_reports), 1);
}

static void test_X2_system_sleeps_follow_a_wall_clock_that_is_set(void **state)
{
  os_fixture_t *f = *state;
  for (int with_limit = 0; with_limit < 2; with_limit++) {
    sleeping_t s = {.way = ON_SYSTEM_UNTIL, .duration_ns = 5000 * S};
    if (with_limit) s.options.limit.ns = HOUR_NS;
    assert_ok(tb_testing_hold_os_time());
    assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1000 * S));
    begin(f, &s);
    assert_ok(tb_testing_wait_for_sleepers(1, &limited));
    assert_ok(tb_testing_set_and_run(TB_TESTING_SYSTEM, 5000 * S - 1, &limited));
    assert_ok(tb_testing_set_and_run(TB_TESTING_SYSTEM, 10 * S, &limited));
    assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, seconds(1), &limited));
    assert_ok(tb_testing_advance_and_run(TB_TESTING_SYSTEM, seconds(4989), &limited));
    assert_int_equal(atomic_load(&s.count), 0);
    assert_int_equal(waiters_on(f->system), 1);
    assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_SYSTEM, &limited));
    assert_int_equal(system_now(), 5000 * S);
    assert_int_equal(atomic_load(&s.count), 1);
    finish(&s, TB_OK);
    assert_ok(tb_testing_release_os_time());
  }
}

static void test_X2_limits_come_without_waiting(void **state)
{
  os_fixture_t *f = *state;
  tb_source_t *source;
  sleeping_t s = {.way = ON_ROS, .duration_ns = 10 * S, .options = {.limit = {HOUR_NS}}};
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &s.ros));
  assert_ok(tb_manual_source_set(source, 100 * S));
  assert_ok(tb_testing_hold_os_time());
  begin(f, &s);
  assert_ok(tb_testing_wait_for_sleepers(1, &limited));
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){HOUR_NS - 1}, &limited));
  assert_int_equal(waiters_on(s.ros), 1);
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){1}, &limited));
  assert_int_equal(waiters_on(s.ros), 0);
  finish(&s, TB_ERR_TIMEOUT);
  /* by the manual source it ends in the same way, whatever its limit */
  sleeping_t due = {
      .way = ON_ROS, .ros = s.ros, .duration_ns = S, .rounds = 10, .options = {.limit = {HOUR_NS}}};
  begin(f, &due);
  assert_ok(tb_testing_wait_for_sleepers(1, &limited));
  assert_ok(tb_manual_source_advance_stepped_and_run(source, seconds(10), 100, &limited));
  assert_int_equal(atomic_load(&due.count), 10);
  finish(&due, TB_OK);
  assert_ok(tb_clock_destroy(s.ros));
  assert_ok(tb_source_destroy(source));
}

typedef struct stop {
  tb_status_t status;
  tb_timer_queue_t *queue;
} stop_t;

static void *stop_queue(void *argument)
{
  stop_t *stop = argument;
  stop->status = tb_timer_queue_stop_thread(stop->queue, (tb_duration_t){HOUR_NS});
  return NULL;
}

static _Atomic uint32_t callback_in, callback_go; /* futexes */

static void wait_word(_Atomic uint32_t *word)
{
  while (!atomic_load(word))
    tb__futex_wait(word, 0, TB__NO_DEADLINE);
}

static void stay(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
  atomic_store(&callback_in, 1);
  tb__futex_wake_all(&callback_in);
  wait_word(&callback_go);
}

static tb_timer_t *steady_timer(os_fixture_t *f, int64_t period_s,
                                tb_steady_timer_callback_t callback, void *user)
{
  tb_timer_t *timer = NULL;
  tb_steady_timer_options_t options = TB_STEADY_TIMER_OPTIONS_INIT;
  options.period = seconds(period_s);
  options.callback = callback;
  options.user = user;
  assert_ok(tb_timer_create(f->queue, f->steady, &options, &timer));
  assert_ok(tb_timer_start(timer));
  return timer;
}

/* A limit on something else than time: the end of a thread. */
static void test_X2_other_limits_come_without_waiting(void **state)
{
  os_fixture_t *f = *state;
  stop_t stop = {.queue = f->queue};
  pthread_t stopper;
  tb_run_options_t brief = {{1}, NULL};
  atomic_store(&callback_in, 0);
  atomic_store(&callback_go, 0);
  assert_ok(tb_testing_hold_os_time());
  steady_timer(f, 1, stay, NULL);
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_status(tb_testing_advance_and_run(TB_TESTING_STEADY, seconds(1), &brief), TB_ERR_TIMEOUT);
  wait_word(&callback_in);
  pthread_create(&stopper, NULL, stop_queue, &stop);
  int64_t next_ns;
  while (!tb__held_time_next(TB__DEADLINE_STEADY, &next_ns) || next_ns < steady_now() + 2 * S)
    sched_yield();
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){2 * HOUR_NS}));
  pthread_join(stopper, NULL);
  assert_status(stop.status, TB_ERR_TIMEOUT);
  atomic_store(&callback_go, 1);
  tb__futex_wake_all(&callback_go);
}

/* ---- conditions ---- */

typedef struct signalled {
  tb_steady_cond_t *cond;
  pthread_mutex_t mutex;
  bool was;
  tb_status_t status;
} signalled_t;

static void *wait_on_cond(void *argument)
{
  signalled_t *s = argument;
  pthread_mutex_lock(&s->mutex);
  s->status = tb_cond_wait_for(s->cond, &s->mutex, seconds(10), NULL, &s->was);
  pthread_mutex_unlock(&s->mutex);
  return NULL;
}

static void test_X2_held_waits_are_signalled_and_cancelled(void **state)
{
  os_fixture_t *f = *state;
  tb_cancel_token_t *token;
  signalled_t by_signal = {.mutex = PTHREAD_MUTEX_INITIALIZER}, by_time = by_signal;
  pthread_t one, two;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_cond_create(f->steady, &by_signal.cond));
  by_time.cond = by_signal.cond;
  assert_ok(tb_testing_hold_os_time());
  sleeping_t cancelled = {.way = ON_STEADY, .duration_ns = HOUR_NS, .options = {.token = token}};
  begin(f, &cancelled);
  pthread_create(&one, NULL, wait_on_cond, &by_signal);
  assert_ok(tb_testing_wait_for_sleepers(2, &limited));
  pthread_create(&two, NULL, wait_on_cond, &by_time);
  assert_ok(tb_testing_wait_for_sleepers(3, &limited));
  assert_ok(tb_cond_signal(by_signal.cond));
  pthread_join(one, NULL);
  assert_true(by_signal.was);
  assert_ok(by_signal.status);
  tb_cancel_token_cancel(token);
  finish(&cancelled, TB_ERR_CANCELLED);
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, seconds(10), &limited));
  pthread_join(two, NULL);
  assert_ok(by_time.status);
  assert_false(by_time.was);
  assert_ok(tb_cond_destroy(by_signal.cond));
  assert_ok(tb_cancel_token_destroy(token));
}

/* ---- timers ---- */

static void on_steady_timer(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  for (int i = 0; i < 100; i++)
    sched_yield();
  TRACE("steady@%lld ", (long long)((info->actual.ns - *(int64_t *)user) / S));
}

static void dawdle(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  for (int i = 0; i < 100; i++)
    sched_yield();
  on_timer(timer, info, user);
}

static void start_timers(os_fixture_t *f, int64_t *start_ns)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period = seconds(10);
  options.callback = dawdle;
  steady_timer(f, 3, on_steady_timer, start_ns);
  static char name[] = "system";
  options.user = name;
  assert_ok(tb_timer_create(f->queue, f->system, &options, &timer));
  assert_ok(tb_timer_start(timer));
}

static void move_timers(void)
{
  assert_ok(tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, seconds(7), 100, &limited));
  assert_string_equal(trace, "steady@3 steady@6 ");
  assert_ok(tb_testing_advance_and_run(TB_TESTING_SYSTEM, seconds(10), &limited));
  assert_string_equal(trace, "steady@3 steady@6 system@1010/1010 ");
  assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_SYSTEM, &limited));
  assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &limited));
  assert_string_equal(trace, "steady@3 steady@6 system@1010/1010 system@1020/1020 steady@9 ");
}

static void test_X2_timers_on_held_time_run_on_their_thread(void **state)
{
  os_fixture_t *f = *state;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1000 * S));
  int64_t start_ns = steady_now();
  assert_ok(tb_timer_queue_start_thread(f->queue));
  start_timers(f, &start_ns);
  move_timers();
  assert_ok(tb_timer_queue_stop_thread(f->queue, TB_NO_LIMIT));
}

static void test_X2_timers_on_held_time_run_on_the_callers_thread(void **state)
{
  os_fixture_t *f = *state;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, 1000 * S));
  int64_t start_ns = steady_now();
  start_timers(f, &start_ns);
  move_timers();
}

/* Timers that were started in running time are held with it. */
static void test_X2_alarms_in_progress_are_held(void **state)
{
  os_fixture_t *f = *state;
  tb_steady_time_t deadline;
  int64_t start_ns;
  tb_timer_t *timer = steady_timer(f, 3600, on_steady_timer, &start_ns);
  assert_ok(tb_timer_next_deadline(timer, &deadline));
  start_ns = deadline.ns - HOUR_NS;
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_set_and_run(TB_TESTING_STEADY, deadline.ns - 1, &limited));
  assert_string_equal(trace, "");
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, seconds(2), &limited));
  assert_string_equal(trace, "steady@3601 ");
}

typedef struct inside {
  tb_status_t waits, moves;
} inside_t;

static void move_in_callback(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  inside_t *inside = user;
  inside->waits = tb_testing_advance_and_run(TB_TESTING_SYSTEM, seconds(1), &limited);
  inside->moves = tb_testing_advance(TB_TESTING_SYSTEM, seconds(1));
}

static void move_in_handler(const tb_jump_t *jump, void *user)
{
  (void)jump;
  inside_t *inside = user;
  inside->waits = tb_testing_advance_and_run(TB_TESTING_SYSTEM, seconds(1), &limited);
  inside->moves = tb_testing_advance(TB_TESTING_SYSTEM, seconds(1));
}

static void test_X2_callbacks_on_held_time_may_not_wait(void **state)
{
  os_fixture_t *f = *state;
  inside_t inside = {TB_OK, TB_ERR_INVALID}, in_jump = {TB_OK, TB_OK};
  assert_ok(tb_testing_hold_os_time());
  int64_t system_ns = system_now();
  steady_timer(f, 1, move_in_callback, &inside);
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, seconds(1), &limited));
  assert_status(inside.waits, TB_ERR_DEADLOCK);
  assert_ok(inside.moves);
  assert_int_equal(system_now(), system_ns + S);
  fixture_t *ros;
  setup((void **)&ros);
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.on_clock_change = true;
  options.after = move_in_handler;
  options.user = &in_jump;
  options.name = "mover";
  assert_ok(tb_jump_handler_create(ros->clock, &options, &handler));
  assert_ok(tb_manual_source_set(ros->source, S));
  assert_status(in_jump.waits, TB_ERR_DEADLOCK);
  assert_status(in_jump.moves, TB_ERR_DEADLOCK);
  assert_int_equal(system_now(), system_ns + S);
  tb_jump_handler_destroy(handler);
  teardown((void **)&ros);
}

/* ---- taken and given back while others wait ---- */

static void test_X2_sleepers_in_progress_are_held(void **state)
{
  os_fixture_t *f = *state;
  sleeping_t steady = {.way = ON_STEADY, .duration_ns = HOUR_NS};
  sleeping_t until = {.way = ON_SYSTEM_UNTIL, .options = {.limit = {2 * HOUR_NS}}};
  until.duration_ns = tb__system_now_ns() + HOUR_NS;
  begin(f, &steady);
  begin(f, &until);
  wait_for_waiters(f->system, 1);
  wait_for_waiters(&f->steady->core, 1);
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_wait_for_sleepers(2, &limited));
  assert_ok(tb_testing_advance_and_run(TB_TESTING_SYSTEM, (tb_duration_t){HOUR_NS}, &limited));
  assert_int_equal(atomic_load(&until.count), 1);
  assert_int_equal(atomic_load(&steady.count), 0);
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){HOUR_NS}, &limited));
  assert_int_equal(atomic_load(&steady.count), 1);
  finish(&until, TB_OK);
  finish(&steady, TB_OK);
}

/* The thread that runs the queue may come late. */
static void on_scheduled(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  assert_true(info->actual.ns >= info->scheduled.ns);
  TRACE("due@%lld ", (long long)((info->scheduled.ns - *(int64_t *)user) / S));
}

/* Held shortly before their deadline, which then passes by itself. */
static void test_X2_sleepers_continue_when_time_is_given_back(void **state)
{
  os_fixture_t *f = *state;
  sleeping_t steady = {.way = ON_STEADY, .duration_ns = HOUR_NS};
  sleeping_t until = {.way = ON_SYSTEM_UNTIL, .duration_ns = tb__system_now_ns() + 1};
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_set(TB_TESTING_SYSTEM, S));
  begin(f, &steady);
  begin(f, &until);
  int64_t start_ns = steady_now();
  steady_timer(f, 3600, on_scheduled, &start_ns);
  assert_ok(tb_testing_wait_for_sleepers(2, &limited));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){HOUR_NS - 1000000}));
  assert_int_equal(atomic_load(&steady.count), 0);
  assert_ok(tb_testing_release_os_time());
  finish(&steady, TB_OK);
  finish(&until, TB_OK);
  assert_true(tb__steady_now_ns() >= start_ns + HOUR_NS);
  struct pollfd readable = {.fd = tb_timer_queue_fd(f->queue), .events = POLLIN};
  while (!trace[0]) {
    assert_int_equal(poll(&readable, 1, -1), 1); /* the alarm comes by itself */
    assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  }
  assert_string_equal(trace, "due@3600 ");
}

static void *pace(void *argument)
{
  tb__pacer_t *pacer = argument;
  int64_t until_ns = pacer->now_ns(pacer) + HOUR_NS;
  while (pacer->now_ns(pacer) < until_ns)
    pacer->wait(pacer, tb__pacer_events(pacer), until_ns, INT64_MAX);
  return NULL;
}

static void test_X2_punctual_loops_follow_held_time(void **state)
{
  (void)state;
  tb__pacer_t pacer;
  pthread_t thread;
  tb__pacer_init(&pacer);
  assert_ok(tb_testing_hold_os_time());
  pthread_create(&thread, NULL, pace, &pacer);
  assert_ok(tb_testing_wait_for_sleepers(1, &limited));
  assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &limited));
  pthread_join(thread, NULL);
}

/* Time that runs on by itself does so on held steady time. */
static void test_X2_running_timelines_follow_held_time(void **state)
{
  os_fixture_t *f = *state;
  fixture_t *ros;
  setup_with_queue((void **)&ros);
  assert_ok(tb_testing_hold_os_time());
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 100 * S;
  anchor.steady.ns = steady_now();
  anchor.rate = 2;
  anchor.bound.ns = INT64_MAX;
  assert_ok(tb_timeline_anchor(tb_source_timeline(ros->source), &anchor, TB_JUMP_REASON_NONE));
  sleeping_t s = {.way = ON_ROS, .ros = ros->clock, .duration_ns = S, .rounds = 20};
  begin(f, &s);
  assert_ok(tb_manual_source_wait_for_sleepers(ros->source, 1, &limited));
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period = seconds(8);
  options.mode = TB_TIMER_ONE_SHOT;
  options.callback = dawdle;
  static char name[] = "running";
  options.user = name;
  assert_ok(tb_timer_create(ros->queue, ros->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_timer_queue_start_thread(ros->queue));
  assert_ok(tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, seconds(10), 100, &limited));
  assert_int_equal(atomic_load(&s.count), 20);
  assert_string_equal(trace, "running@108/108 ");
  finish(&s, TB_OK);
  for (int i = 0; i < 300; i++) { /* a deadline that has just been set is seen */
    int64_t before_ns = steady_now();
    assert_ok(tb_timer_start(timer));
    assert_ok(tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &limited));
    assert_int_equal(steady_now(), before_ns + 4 * S);
    trace[0] = '\0';
  }
  teardown_with_queue((void **)&ros);
}

/* ---- stress ---- */

typedef struct stress {
  os_fixture_t *f;
  tb_clock_t *ros;
  tb_cancel_token_t *token;
  unsigned seed;
  _Atomic uint64_t rounds;
  _Atomic int *failures;
  pthread_t thread;
} stress_t;

static void *stress_thread(void *argument)
{
  stress_t *stress = argument;
  tb_wait_options_t options = {.token = stress->token};
  while (!tb_cancel_token_is_cancelled(stress->token)) {
    tb_steady_time_t from, to;
    int64_t duration_ns = rand_r(&stress->seed) % 3000000 + 1;
    int way = rand_r(&stress->seed) % 4;
    tb_now(stress->f->steady, &from);
    options.limit.ns = way == 2 ? duration_ns : 0;
    tb_status_t status;
    if (way == 2)
      status = tb_sleep_for(stress->ros, seconds(1000), &options);
    else if (way == 1)
      status = tb_sleep_for(stress->f->system, (tb_duration_t){duration_ns}, &options);
    else
      status = tb_sleep_for(stress->f->steady, (tb_duration_t){duration_ns}, &options);
    tb_now(stress->f->steady, &to);
    bool over = status == TB_OK || status == TB_ERR_TIMEOUT;
    if ((over && to.ns - from.ns < duration_ns) || (!over && status != TB_ERR_CANCELLED))
      atomic_fetch_add(stress->failures, 1);
    atomic_fetch_add(&stress->rounds, 1);
  }
  return NULL;
}

static void count_call(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  atomic_fetch_add((_Atomic uint64_t *)user, 1);
}

#define SLEEPERS 4

static void test_X2_holding_and_giving_back_lose_no_waiter(void **state)
{
  os_fixture_t *f = *state;
  fixture_t *ros;
  setup((void **)&ros);
  assert_ok(tb_manual_source_set(ros->source, S));
  const char *given = getenv("TB_TEST_SEED");
  unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)tb__real_steady_now_ns();
  print_message("TB_TEST_SEED=%u\n", seed);
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  _Atomic int failures = 0;
  _Atomic uint64_t calls = 0;
  stress_t stress[SLEEPERS];
  tb_timer_t *timer = steady_timer(f, 1, count_call, &calls);
  assert_ok(tb_timer_set_period(timer, (tb_duration_t){1000000}));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_timer_queue_start_thread(f->queue));
  for (int i = 0; i < SLEEPERS; i++) {
    stress[i] = (stress_t){.f = f, .ros = ros->clock, .token = token, .failures = &failures};
    stress[i].seed = seed + (unsigned)i;
    pthread_create(&stress[i].thread, NULL, stress_thread, &stress[i]);
  }
  for (int round = 0; round < 300; round++) {
    assert_ok(tb_testing_hold_os_time());
    assert_ok(tb_testing_wait_for_sleepers(SLEEPERS, &limited));
    uint64_t calls_before = atomic_load(&calls);
    uint64_t before[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++)
      before[i] = atomic_load(&stress[i].rounds);
    for (int step = rand_r(&seed) % 4; step >= 0; step--)
      assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){rand_r(&seed) % 1000000}));
    assert_ok(tb_testing_advance_and_run(TB_TESTING_SYSTEM, seconds(-1), &limited));
    /* longer than any sleep: every thread continues, and the timer is called */
    assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){3000001}, &limited));
    assert_true(atomic_load(&calls) > calls_before);
    for (int i = 0; i < SLEEPERS; i++)
      assert_true(atomic_load(&stress[i].rounds) > before[i]);
    assert_ok(tb_testing_release_os_time());
  }
  tb_cancel_token_cancel(token);
  for (int i = 0; i < SLEEPERS; i++)
    pthread_join(stress[i].thread, NULL);
  assert_int_equal(atomic_load(&failures), 0);
  assert_ok(tb_timer_queue_stop_thread(f->queue, TB_NO_LIMIT));
  assert_ok(tb_cancel_token_destroy(token));
  teardown((void **)&ros);
}

#define ON_OS(test) cmocka_unit_test_setup_teardown(test, setup_os, teardown_os)

/* ---- forks ---- */

static os_fixture_t *forking;
static pid_t forked;
static int (*usual_gettime)(clockid_t id, struct timespec *out);

/* Steady time is read in the middle of taking it. */
static int forking_gettime(clockid_t id, struct timespec *out)
{
  bool is_taking = atomic_load(&tb__clock_gettime) != forking_gettime;
  os_fixture_t *f = is_taking ? forking : NULL;
  if (!f) return usual_gettime(id, out);
  forking = NULL;
  forked = fork();
  if (forked == 0) {
    tb_time_t now;
    tb_steady_time_t steady;
    alarm(30); /* ends one that would spin */
    bool failed =
        tb_clock_now(f->system, &now) || now.ns == 0 || tb_steady_clock_now(f->steady, &steady);
    /* not _exit, where thread sanitizer misses the threads of the parent */
    syscall(SYS_exit_group, failed);
  }
  return usual_gettime(id, out);
}

static void test_C7_a_child_of_the_moment_at_which_time_is_taken_reads_clocks(void **state)
{
  int status = -1;
  forking = *state;
  usual_gettime = atomic_load(&tb__clock_gettime);
  atomic_store(&tb__clock_gettime, forking_gettime);
  assert_ok(tb_testing_hold_os_time());
  tb_testing_release_os_time();
  assert_true(forked > 0);
  assert_int_equal(waitpid(forked, &status, 0), forked);
  assert_int_equal(status, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_OS(test_X2_held_time_is_stopped_and_its_clocks_move_separately),
      ON_OS(test_X2_steady_time_never_goes_back),
      ON_OS(test_X2_loops_on_steady_and_system_time_follow_steps),
      ON_OS(test_J9_setting_the_wall_clock_is_a_step_and_passing_is_none),
      ON_OS(test_J9_giving_time_back_is_a_step_by_what_system_time_loses),
      ON_OS(test_J7_J9_a_thread_blocked_by_a_step_reports_its_handler),
      ON_OS(test_X2_system_sleeps_follow_a_wall_clock_that_is_set),
      ON_OS(test_X2_limits_come_without_waiting),
      ON_OS(test_X2_other_limits_come_without_waiting),
      ON_OS(test_X2_held_waits_are_signalled_and_cancelled),
      ON_OS(test_X2_timers_on_held_time_run_on_their_thread),
      ON_OS(test_X2_timers_on_held_time_run_on_the_callers_thread),
      ON_OS(test_X2_alarms_in_progress_are_held),
      ON_OS(test_X2_callbacks_on_held_time_may_not_wait),
      ON_OS(test_X2_sleepers_in_progress_are_held),
      ON_OS(test_X2_sleepers_continue_when_time_is_given_back),
      ON_OS(test_X2_punctual_loops_follow_held_time),
      ON_OS(test_X2_running_timelines_follow_held_time),
      ON_OS(test_X2_holding_and_giving_back_lose_no_waiter),
      ON_OS(test_C7_a_child_of_the_moment_at_which_time_is_taken_reads_clocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
