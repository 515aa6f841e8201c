/* Real children: what they may not do would hang them, and with them the test. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/condition.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>
#include <timebase/timer.h>
#include <unistd.h>

#include "base/log.h"
#include "clock/clock.h"
#include "forking.h"
#include "on_manual_source.h"
#include "wait/timer_queue.h"
#include "waiting.h"

#define ONE ((tb_duration_t){1})

/* In a child: prints where it failed, and ends it. */
#define CHECK(expression)                                                                          \
  do {                                                                                             \
    if (!(expression)) {                                                                           \
      fprintf(stderr, "child: line %d: %s\n", __LINE__, #expression);                              \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)
#define CHECK_STATUS(expression, expected) CHECK((expression) == (expected))
#define CHECK_FORKED(expression)           CHECK_STATUS(expression, TB_ERR_FORKED)

/* Runs `child(argument)` in a child, which has to get through it. */
static void in_child(void (*child)(void *), void *argument)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    child(argument);
    _exit(0);
  }
  assert_true(pid > 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- a process that forks before it uses the library: has to be the first test ---- */

static void child_reads(void *argument)
{
  tb_clock_t *clock = argument, *another = NULL;
  tb_clock_reading_t reading;
  CHECK(!tb_clock_read(clock, &reading) && reading.time.ns == 5 * S);
  CHECK(reading.state == TB_CLOCK_STALLED);
  CHECK_FORKED(tb_clock_create(NULL, &another));
}

static void child_works_normally(void *argument)
{
  (void)argument;
  tb_source_t *source;
  tb_clock_t *clock;
  tb_clock_reading_t reading;
  tb_timer_queue_t *queue;
  CHECK(!tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  CHECK(!tb_clock_create(&options, &clock));
  CHECK(!tb_manual_source_set(source, 5 * S));
  CHECK(!tb_clock_read(clock, &reading) && reading.state == TB_CLOCK_RUNNING);
  CHECK(!tb_clock_wait_until_started(clock, NULL));
  CHECK(!tb_timer_queue_create(&queue));
  CHECK(!tb_timer_queue_run_due(queue, NULL));
  int status;
  pid_t pid = fork(); /* this child has used it */
  if (pid == 0) {
    child_reads(clock);
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
  CHECK(!tb_timer_queue_destroy(queue));
  CHECK(!tb_clock_destroy(clock));
  CHECK(!tb_source_destroy(source));
}

static void test_C7_a_program_that_forks_first_uses_both_processes(void **state)
{
  (void)state;
  in_child(child_works_normally, NULL);
  in_child(child_works_normally, NULL);
  tb_clock_t *clock;
  assert_ok(tb_clock_create(NULL, &clock));
  assert_ok(tb_clock_destroy(clock));
}

/* ---- everything there is, to be used and destroyed in a child ---- */

typedef struct things {
  fixture_t *f;
  tb_jump_handler_t *handler, *other_handler;
  tb_timer_queue_t *queue; /* with a thread, perhaps */
  tb_timer_t *timer, *steady_timer;
  tb_steady_clock_t *steady;
  tb_cond_t *cond;
  tb_cancel_token_t *token;
  tb_rate_t *rate;
  _Atomic bool in_before, in_after, go_on, stop, fired;
  _Atomic bool stays; /* in the callbacks of the handlers */
} things_t;

static void stay(things_t *things, _Atomic bool *entered)
{
  atomic_store(entered, true);
  while (atomic_load(&things->stays) && !atomic_load(&things->go_on))
    sched_yield();
  atomic_store(&things->go_on, false);
}

static void before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stay(user, &((things_t *)user)->in_before);
}

static void after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stay(user, &((things_t *)user)->in_after);
}

static void on_fire(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  atomic_store(&((things_t *)user)->fired, true);
}

static void on_steady(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
}

static void things_create(things_t *things, fixture_t *f)
{
  *things = (things_t){.f = f};
  tb_jump_handler_options_t options = {.name = "handler",
                                       .threshold = {{0}, {-1}, true},
                                       .before = before,
                                       .after = after,
                                       .user = things};
  tb_timer_options_t timer = {.period = {S}, .callback = on_fire, .user = things};
  tb_steady_timer_options_t steady = {.period = {3600 * S}, .callback = on_steady};
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &things->handler));
  assert_ok(tb_jump_handler_create(f->clock, &options, &things->other_handler));
  assert_ok(tb_timer_queue_create(&things->queue));
  assert_ok(tb_clock_timer_create(things->queue, f->clock, &timer, &things->timer));
  assert_ok(tb_timer_start(things->timer));
  assert_ok(tb_steady_clock_create(&things->steady));
  assert_ok(
      tb_steady_clock_timer_create(things->queue, things->steady, &steady, &things->steady_timer));
  assert_ok(tb_timer_start(things->steady_timer));
  assert_ok(tb_cond_create(f->clock, &things->cond));
  assert_ok(tb_cancel_token_create(&things->token));
  assert_ok(tb_clock_rate_create(f->clock, (tb_duration_t){S}, &things->rate));
}

/* All but the fixture's clock and source. In a child as in the parent. */
static bool things_destroy(things_t *things)
{
  tb_jump_handler_destroy(things->handler);
  tb_timer_destroy(things->timer);
  tb_timer_destroy(things->steady_timer);
  tb_rate_destroy(things->rate);
  return !tb_timer_queue_destroy(things->queue) && !tb_cond_destroy(things->cond) &&
         !tb_cancel_token_destroy(things->token) && !tb_steady_clock_destroy(things->steady);
}

static void check_waits_are_refused(const things_t *things)
{
  tb_clock_t *clock = things->f->clock;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tb_time_t target = {60 * S, TB_TIME_ROS};
  CHECK_FORKED(tb_clock_sleep_for(clock, ONE, NULL));
  CHECK_FORKED(tb_clock_sleep_until(clock, target, NULL));
  CHECK_FORKED(tb_clock_wait_until_started(clock, NULL));
  CHECK_FORKED(tb_steady_clock_sleep_for(things->steady, ONE, NULL));
  CHECK_FORKED(tb_rate_sleep(things->rate, NULL, NULL));
  CHECK_FORKED(tb_rate_reset(things->rate));
  pthread_mutex_lock(&mutex);
  CHECK_FORKED(tb_cond_wait_for(things->cond, &mutex, ONE, NULL, NULL));
  CHECK(pthread_mutex_trylock(&mutex)); /* still taken */
  CHECK_FORKED(tb_cond_signal(things->cond));
  CHECK_FORKED(tb_cond_broadcast(things->cond));
}

static void check_changes_are_refused(const things_t *things)
{
  tb_clock_t *clock = things->f->clock;
  tb_source_t *source = things->f->source;
  tb_timeline_t *timeline = tb_source_timeline(source);
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 60 * S;
  CHECK_FORKED(tb_manual_source_set(source, 60 * S));
  CHECK_FORKED(tb_testing_hold_os_time());
  CHECK_FORKED(tb_testing_set(TB_TESTING_SYSTEM, 60 * S));
  CHECK_FORKED(tb_manual_source_advance(source, ONE));
  CHECK_FORKED(tb_manual_source_advance_to_next(source));
  CHECK_FORKED(tb_timeline_try_tick(timeline, 60 * S));
  CHECK_FORKED(tb_timeline_anchor(timeline, &anchor, TB_JUMP_REASON_NONE));
  CHECK_FORKED(tb_timeline_set_options(timeline, &options));
  tb_timeline_set_state(timeline, TB_CLOCK_PAUSED);
  CHECK_FORKED(tb_clock_set_source(clock, NULL));
  CHECK_FORKED(tb_clock_set_source(clock, source));
  CHECK_FORKED(tb_timer_start(things->timer));
  CHECK_FORKED(tb_timer_stop(things->timer));
  CHECK_FORKED(tb_timer_stop_wait(things->timer, ONE));
  CHECK_FORKED(tb_timer_set_period(things->timer, ONE));
  CHECK(!tb_timer_is_running(things->timer));
  CHECK_FORKED(tb_timer_queue_run_due(things->queue, NULL));
  CHECK_FORKED(tb_timer_queue_start_thread(things->queue));
  CHECK_FORKED(tb_timer_queue_stop_thread(things->queue, ONE));
  tb_cancel_token_cancel(things->token);
  tb_cancel_token_reset(things->token);
}

static void check_creation_is_refused(const things_t *things)
{
  tb_clock_t *clock = things->f->clock;
  union {
    tb_clock_t *clock;
    tb_steady_clock_t *steady;
    tb_source_t *source;
    tb_jump_handler_t *handler;
    tb_timer_queue_t *queue;
    tb_timer_t *timer;
    tb_cond_t *cond;
    tb_cancel_token_t *token;
    tb_rate_t *rate;
  } out;
  tb_jump_handler_options_t handler = {.threshold = {{0}, {-1}, true}, .before = before};
  tb_timer_options_t timer = {.period = {S}, .callback = on_fire};
  CHECK_FORKED(tb_clock_create(NULL, &out.clock));
  CHECK_FORKED(tb_steady_clock_create(&out.steady));
  CHECK_FORKED(tb_manual_source_create(&out.source));
  CHECK_FORKED(tb_jump_handler_create(clock, &handler, &out.handler));
  CHECK_FORKED(tb_timer_queue_create(&out.queue));
  CHECK_FORKED(tb_clock_timer_create(things->queue, clock, &timer, &out.timer));
  CHECK_FORKED(tb_cond_create(clock, &out.cond));
  CHECK_FORKED(tb_cancel_token_create(&out.token));
  CHECK_FORKED(tb_clock_rate_create(clock, ONE, &out.rate));
}

static void check_time(const tb_clock_t *clock, int64_t expected_ns)
{
  tb_time_t now;
  tb_clock_reading_t reading;
  CHECK(!tb_clock_now(clock, &now) && now.ns == expected_ns);
  CHECK(!tb_clock_try_now(clock, &now) && now.ns == expected_ns);
  CHECK(!tb_clock_read(clock, &reading) && reading.time.ns == expected_ns);
  CHECK(reading.state == TB_CLOCK_STALLED);
  CHECK(tb_clock_epoch(clock) == reading.epoch);
}

static void check_all(things_t *things, int64_t expected_ns)
{
  check_time(things->f->clock, expected_ns);
  check_waits_are_refused(things);
  check_changes_are_refused(things);
  check_creation_is_refused(things);
  check_time(things->f->clock, expected_ns);
  tb_log_set_hook(NULL, NULL);
}

static void destroy_all(things_t *things)
{
  CHECK(things_destroy(things));
  CHECK(!tb_source_destroy(things->f->source));
  CHECK(!tb_clock_destroy(things->f->clock));
  tb_jump_handler_destroy(things->other_handler); /* after its clock */
}

static void child_at_50(void *argument)
{
  check_all(argument, 50 * S);
  destroy_all(argument);
}

static void child_at_20(void *argument)
{
  check_all(argument, 20 * S);
  destroy_all(argument);
}

static void test_C7_a_child_reads_and_destroys_and_is_refused_the_rest(void **state)
{
  things_t things;
  things_create(&things, *state);
  in_child(child_at_50, &things);
  assert_true(things_destroy(&things));
}

/* ---- what other threads were about ---- */

static void *jump_back(void *argument)
{
  assert_ok(tb_manual_source_set(((things_t *)argument)->f->source, 20 * S));
  return NULL;
}

static void wait_for(_Atomic bool *flag)
{
  while (!atomic_load(flag))
    sched_yield();
}

static void test_C7_in_the_middle_of_a_jump(void **state)
{
  things_t things;
  pthread_t jumper;
  things_create(&things, *state);
  things.stays = true;
  pthread_create(&jumper, NULL, jump_back, &things);
  wait_for(&things.in_before);
  in_child(child_at_50, &things);
  atomic_store(&things.go_on, true);
  while (!atomic_load(&things.in_after)) /* both handlers stay */
    atomic_store(&things.go_on, true);
  in_child(child_at_20, &things);
  things.stays = false;
  atomic_store(&things.go_on, true);
  pthread_join(jumper, NULL);
  assert_true(things_destroy(&things));
}

static void *deactivate(void *argument)
{
  assert_ok(tb_clock_set_source(((things_t *)argument)->f->clock, NULL));
  return NULL;
}

static void child_in_change(void *argument)
{
  check_time(((things_t *)argument)->f->clock, 50 * S);
  destroy_all(argument);
}

static void child_after_change(void *argument)
{
  tb_time_t now;
  const things_t *things = argument;
  CHECK(!tb_clock_now(things->f->clock, &now) && now.ns > 1000000 * S); /* system time continues */
  CHECK(!tb_clock_try_now(things->f->clock, &now));
  destroy_all(argument);
}

static void test_C7_in_the_middle_of_a_change_of_source(void **state)
{
  things_t things;
  pthread_t changer;
  things_create(&things, *state);
  things.stays = true;
  pthread_create(&changer, NULL, deactivate, &things);
  wait_for(&things.in_before);
  in_child(child_in_change, &things);
  while (!atomic_load(&things.in_after))
    atomic_store(&things.go_on, true);
  in_child(child_after_change, &things);
  things.stays = false;
  atomic_store(&things.go_on, true);
  pthread_join(changer, NULL);
  assert_true(things_destroy(&things));
}

static void *hold_locks(void *argument)
{
  things_t *things = argument;
  tb_timeline_t *timeline = tb_source_timeline(things->f->source);
  tb__mutex_lock(&timeline->mutex);
  atomic_store(&things->in_before, true);
  wait_for(&things->stop);
  tb__mutex_unlock(&timeline->mutex);
  return NULL;
}

static void test_C7_while_a_thread_holds_the_mutex_of_a_timeline(void **state)
{
  things_t things;
  pthread_t holder;
  things_create(&things, *state);
  pthread_create(&holder, NULL, hold_locks, &things);
  wait_for(&things.in_before);
  in_child(child_at_50, &things);
  atomic_store(&things.stop, true);
  pthread_join(holder, NULL);
  assert_true(things_destroy(&things));
}

static void hook_stays(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  (void)message;
  things_t *things = user;
  atomic_store(&things->in_before, true);
  wait_for(&things->stop);
}

static void *log_something(void *argument)
{
  (void)argument;
  tb__log(TB_LOG_INFO, "something");
  return NULL;
}

static void test_C7_while_a_thread_is_in_the_log_hook(void **state)
{
  things_t things;
  pthread_t logger;
  things_create(&things, *state);
  tb_log_set_hook(hook_stays, &things);
  pthread_create(&logger, NULL, log_something, NULL);
  wait_for(&things.in_before);
  in_child(child_at_50, &things); /* which removes the hook for itself */
  atomic_store(&things.stop, true);
  pthread_join(logger, NULL);
  tb_log_set_hook(NULL, NULL);
  assert_true(things_destroy(&things));
}

/* ---- what the parent shares is left alone ---- */

static void *sleep_long(void *argument)
{
  things_t *things = argument;
  tb_wait_options_t options = {.token = things->token};
  assert_ok(tb_clock_sleep_for(things->f->clock, (tb_duration_t){S}, &options));
  return NULL;
}

static void *wait_long(void *argument)
{
  things_t *things = argument;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  assert_ok(tb_cond_wait_for(things->cond, &mutex, (tb_duration_t){S}, NULL, NULL));
  pthread_mutex_unlock(&mutex);
  return NULL;
}

/* What the kernel knows of the descriptor: members of a poll set, time of an alarm. */
static void describe_fd(int fd, char *out, size_t size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t length = fread(out, 1, size - 1, file);
  out[length] = '\0';
  char *remaining = strstr(out, "it_value"); /* counts down */
  if (remaining) {
    assert_null(strstr(remaining, "it_value: (0, 0)"));
    *remaining = '\0';
  }
  fclose(file);
}

static int alarm_of(const things_t *things)
{
  return ((tb_timer_t *)things->steady_timer)->lane->alarm.fd;
}

static void test_C7_sleepers_and_queues_of_the_parent_continue(void **state)
{
  things_t things;
  pthread_t sleeper, waiter;
  char poll_before[1024], poll_after[1024], alarm_before[1024], alarm_after[1024];
  things_create(&things, *state);
  tb_clock_t *clock = things.f->clock;
  int lanes = waiters_on(clock);
  assert_ok(tb_timer_queue_start_thread(things.queue));
  pthread_create(&sleeper, NULL, sleep_long, &things);
  pthread_create(&waiter, NULL, wait_long, &things);
  wait_for_waiters(clock, lanes + 2);
  describe_fd(tb_timer_queue_fd(things.queue), poll_before, sizeof poll_before);
  describe_fd(alarm_of(&things), alarm_before, sizeof alarm_before);
  in_child(child_at_50, &things);
  describe_fd(tb_timer_queue_fd(things.queue), poll_after, sizeof poll_after);
  describe_fd(alarm_of(&things), alarm_after, sizeof alarm_after);
  assert_string_equal(poll_before, poll_after);
  assert_string_equal(alarm_before, alarm_after);
  assert_ok(tb_manual_source_set(things.f->source, 51 * S));
  pthread_join(sleeper, NULL);
  pthread_join(waiter, NULL);
  wait_for(&things.fired);
  assert_true(things_destroy(&things));
}

static int steps;

static tb_status_t step_start(void *self, tb_timeline_t *timeline)
{
  (void)self;
  return tb_timeline_tick(timeline, 50 * S, TB_JUMP_REASON_NONE);
}

static void step_count(void *self)
{
  (void)self;
  steps++;
}

static void child_of_own_source(void *argument)
{
  tb_clock_t *clock = argument;
  tb_source_t *source = clock->source;
  check_time(clock, 50 * S);
  CHECK(!tb_clock_destroy(clock));
  CHECK(!tb_source_destroy(source));
  CHECK(steps == 0);
}

static void test_C7_custom_sources_are_not_called(void **state)
{
  static const tb_source_ops_t ops = {
      .name = "own", .start = step_start, .stop = step_count, .destroy = step_count};
  (void)state;
  tb_source_t *source;
  tb_clock_t *clock;
  steps = 0;
  assert_ok(tb_source_create(&ops, NULL, &source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  in_child(child_of_own_source, clock);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
  assert_int_equal(steps, 2);
}

static void child_of_running_time(void *argument)
{
  things_t *things = argument;
  tb_clock_reading_t first, second;
  CHECK(!tb_clock_read(things->f->clock, &first) && first.state == TB_CLOCK_STALLED);
  do {
    CHECK(!tb_clock_read(things->f->clock, &second));
  } while (second.time.ns <= first.time.ns);
  CHECK(first.time.ns > 60 * S && second.state == TB_CLOCK_STALLED);
  check_changes_are_refused(things);
  destroy_all(things);
}

static void test_C7_time_of_an_anchor_runs_on(void **state)
{
  fixture_t *f = *state;
  things_t things;
  tb_anchor_t anchor = {60 * S, {1}, 1, {INT64_MAX}, TB_CLOCK_RUNNING, 0};
  things_create(&things, f);
  tb_jump_handler_destroy(things.other_handler);
  things.other_handler = NULL;
  assert_ok(tb_timeline_anchor(tb_source_timeline(f->source), &anchor, TB_JUMP_REASON_NONE));
  in_child(child_of_running_time, &things);
  assert_true(things_destroy(&things));
}

/* ---- memory ---- */

static void child_frees(void *argument)
{
  const void **arguments = argument;
  things_t *things = (things_t *)arguments[0];
  destroy_all(things);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(mallinfo2().uordblks <= *(const size_t *)arguments[1]);
#endif
}

/* The rounds before fill the caches of the allocator. */
static void test_C7_destroying_in_a_child_frees_memory(void **state)
{
  static fixture_t fixture;
  static things_t things;
  (void)state;
  for (int round = 0; round < 50; round++) {
    size_t used = mallinfo2().uordblks;
    assert_ok(tb_manual_source_create(&fixture.source));
    tb_clock_options_t options = {TB_TIME_ROS, fixture.source};
    assert_ok(tb_clock_create(&options, &fixture.clock));
    things_create(&things, &fixture);
    const void *arguments[] = {&things, &used};
    if (round == 49) in_child(child_frees, arguments);
    assert_true(things_destroy(&things));
    assert_ok(tb_clock_destroy(fixture.clock));
    tb_jump_handler_destroy(things.other_handler);
    assert_ok(tb_source_destroy(fixture.source));
  }
}

/* ---- forks in callbacks: the child returns from the callback ---- */

static bool is_child;

static void forks(void)
{
  int status;
  pid_t pid = fork();
  is_child = pid == 0;
  if (is_child) return;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
    fail_msg("the child of a callback failed");
}

static void jump_forks(const tb_jump_t *jump, void *user)
{
  (void)jump;
  CHECK(!is_child); /* nothing is called in the child any more */
  TRACE("%s ", (const char *)user);
  if (!strcmp(user, "forks")) forks();
}

static void timer_forks(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  (void)user;
  CHECK(!is_child);
  TRACE("timer ");
  forks();
}

static tb_jump_handler_t *add(fixture_t *f, const char *name, tb_jump_callback_t in_before,
                              tb_jump_callback_t in_after)
{
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold = {{0}, {-1}, true},
                                       .before = in_before,
                                       .after = in_after,
                                       .user = (void *)(uintptr_t)name};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  return handler;
}

static void test_C7_a_fork_in_a_jump_callback(void **state)
{
  fixture_t *f = *state;
  for (int in_after = 0; in_after < 2; in_after++) {
    trace[0] = '\0';
    assert_ok(tb_manual_source_set(f->source, 50 * S));
    tb_jump_handler_t *one =
        add(f, "forks", in_after ? NULL : jump_forks, in_after ? jump_forks : NULL);
    tb_jump_handler_t *two = add(f, "next", in_after ? NULL : jump_forks, jump_forks);
    tb_status_t status = tb_manual_source_set(f->source, 20 * S);
    if (is_child) {
      CHECK_FORKED(status);
      check_time(f->clock, in_after ? 20 * S : 50 * S);
      _exit(0);
    }
    assert_ok(status);
    assert_string_equal(trace, in_after ? "forks next " : "forks next next ");
    trace[0] = '\0';
    status = tb_clock_set_source(f->clock, NULL);
    if (is_child) {
      CHECK_FORKED(status);
      if (!in_after) check_time(f->clock, 20 * S);
      _exit(0);
    }
    assert_ok(status);
    assert_string_equal(trace, in_after ? "forks next " : "forks next next ");
    tb_jump_handler_destroy(one);
    tb_jump_handler_destroy(two);
    assert_ok(tb_clock_set_source(f->clock, f->source));
  }
}

static void test_C7_a_fork_in_a_callback_stops_no_source(void **state)
{
  static const tb_source_ops_t ops = {.name = "own", .start = step_start, .stop = step_count};
  fixture_t f = {0};
  (void)state;
  trace[0] = '\0';
  steps = 0;
  assert_ok(tb_source_create(&ops, NULL, &f.source));
  tb_clock_options_t options = {TB_TIME_ROS, f.source};
  assert_ok(tb_clock_create(&options, &f.clock));
  add(&f, "forks", NULL, jump_forks);
  tb_status_t status = tb_clock_set_source(f.clock, NULL);
  if (is_child) {
    CHECK_FORKED(status);
    CHECK(steps == 0);
    _exit(0);
  }
  assert_ok(status);
  assert_int_equal(steps, 1);
  assert_ok(tb_clock_destroy(f.clock));
  assert_ok(tb_source_destroy(f.source));
}

static tb_clock_t *in_change; /* in the child, its change belongs to a thread that does not exist */

static void jump_forks_beside(const tb_jump_t *jump, void *user)
{
  atomic_store(&in_change->moving, 1);
  jump_forks(jump, user);
  if (!is_child) atomic_store(&in_change->moving, 0);
}

/* Two clocks are moved, the last one made first, or one of them on its own. */
static void test_C7_a_fork_in_a_change_of_several_clocks(void **state)
{
  enum { SET_DEFAULT, DESTROY_DEFAULT, DESTROY_OWN, DESTROY_LAST, WAYS };
  fixture_t *f = *state;
  for (int way = 0; way < WAYS; way++) {
    tb_source_t *source;
    fixture_t moved[2];
    int count = way == DESTROY_LAST ? 1 : 2;
    trace[0] = '\0';
    assert_ok(tb_manual_source_create(&source));
    assert_ok(tb_source_set_default(way == DESTROY_DEFAULT ? source : NULL));
    tb_clock_options_t options = {TB_TIME_ROS, way >= DESTROY_OWN ? source : TB_SOURCE_DEFAULT};
    for (int i = 0; i < count; i++)
      assert_ok(tb_clock_create(&options, &moved[i].clock));
    in_change = count == 2 ? moved[0].clock : f->clock;
    add(&moved[count - 1], "forks", NULL, jump_forks_beside);
    tb_status_t status =
        way == SET_DEFAULT ? tb_source_set_default(source) : tb_source_destroy(source);
    if (is_child) {
      CHECK_FORKED(status);
      _exit(0);
    }
    assert_ok(status);
    assert_string_equal(trace, "forks ");
    for (int i = 0; i < count; i++)
      assert_ok(tb_clock_destroy(moved[i].clock));
    if (way == SET_DEFAULT) assert_ok(tb_source_destroy(source));
  }
}

static void test_C7_a_fork_in_a_timer_callback(void **state)
{
  fixture_t *f = *state;
  tb_timer_t *timers[2];
  tb_timer_options_t options = {.period = {S}, .callback = timer_forks};
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  for (int i = 0; i < 2; i++) {
    assert_ok(tb_clock_timer_create(f->queue, f->clock, &options, &timers[i]));
    assert_ok(tb_timer_start(timers[i]));
  }
  assert_ok(tb_manual_source_set(f->source, 51 * S));
  tb_status_t status = tb_timer_queue_run_due(f->queue, NULL);
  if (is_child) {
    CHECK_FORKED(status);
    CHECK(!tb_timer_queue_destroy(f->queue));
    _exit(0);
  }
  assert_ok(status);
  assert_string_equal(trace, "timer timer ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C7_a_program_that_forks_first_uses_both_processes),
      cmocka_unit_test(test_C7_destroying_in_a_child_frees_memory),
      WITH_CLOCK(test_C7_a_child_reads_and_destroys_and_is_refused_the_rest),
      WITH_CLOCK(test_C7_in_the_middle_of_a_jump),
      WITH_CLOCK(test_C7_in_the_middle_of_a_change_of_source),
      WITH_CLOCK(test_C7_while_a_thread_holds_the_mutex_of_a_timeline),
      WITH_CLOCK(test_C7_while_a_thread_is_in_the_log_hook),
      WITH_CLOCK(test_C7_sleepers_and_queues_of_the_parent_continue),
      WITH_CLOCK(test_C7_time_of_an_anchor_runs_on),
      cmocka_unit_test(test_C7_custom_sources_are_not_called),
      WITH_CLOCK(test_C7_a_fork_in_a_jump_callback),
      cmocka_unit_test(test_C7_a_fork_in_a_callback_stops_no_source),
      WITH_CLOCK(test_C7_a_fork_in_a_change_of_several_clocks),
      WITH_QUEUE(test_C7_a_fork_in_a_timer_callback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
