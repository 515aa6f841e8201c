/* The server's own thread, on the system's steady clock. Waits for ticks and states, never for
 * time. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <unistd.h>

#include "forking.h"
#include "server/clock_server.h"
#include "test.h"
#include "within.h"

#define S  TB_NS_PER_S
#define MS TB_NS_PER_MS

typedef struct counter {
  _Atomic uint64_t ticks, moves, falls;
  _Atomic int64_t time_ns;
  _Atomic int fails;
} counter_t;

static tb_status_t count(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  counter_t *counter = self;
  int64_t before_ns = atomic_exchange(&counter->time_ns, time_ns);
  atomic_fetch_add(&counter->moves, time_ns > before_ns);
  atomic_fetch_add(&counter->falls, time_ns < before_ns && reason == TB_JUMP_REASON_TICK);
  atomic_fetch_add(&counter->ticks, 1);
  if (!atomic_load(&counter->fails)) return TB_OK;
  return tb_error_set(error, TB_ERR_TRANSPORT, "no way out");
}

static tb_clock_server_t *create(counter_t *counter, tb_clock_server_options_t options)
{
  tb_clock_server_t *server;
  assert_ok(tb_clock_server_create(&options, &(tb_tick_sink_t){count, counter}, 1, &server, NULL));
  return server;
}

static tb_clock_server_status_t status_of(tb_clock_server_t *server)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(server, &status);
  return status;
}

static tb_clock_server_options_t fast_and_paused(void)
{
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.start_ns = S;
  options.start_paused = options.as_fast_as_possible = true;
  return options;
}

static void test_X9_a_step_returns_when_its_ticks_have_been_sent(void **state)
{
  (void)state;
  counter_t counter = {0};
  tb_clock_server_t *server = create(&counter, fast_and_paused());
  assert_ok(tb_clock_server_start(server));
  for (int i = 1; i <= 20; i++) {
    assert_ok(tb_clock_server_step(server, (tb_duration_t){S}, TB_NO_LIMIT));
    assert_int_equal(counter.time_ns, (1 + i) * S);
    assert_int_equal(counter.moves, 1 + i * 100);
    assert_false(status_of(server).stepping);
  }
  assert_ok(tb_clock_server_step_to(server, 100 * S, TB_NO_LIMIT));
  assert_int_equal(counter.time_ns, 100 * S);
  assert_int_equal(counter.falls, 0);
  tb_clock_server_destroy(server);
}

static void test_S5_a_step_has_a_limit_and_continues_after_it(void **state)
{
  (void)state;
  counter_t counter = {0};
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.start_paused = true;
  tb_clock_server_t *server = create(&counter, options);
  assert_ok(tb_clock_server_start(server));
  assert_status(tb_clock_server_step(server, (tb_duration_t){1000 * S}, (tb_duration_t){1}),
                TB_ERR_TIMEOUT);
  assert_true(status_of(server).stepping);
  assert_status(tb_clock_server_step(server, (tb_duration_t){S}, (tb_duration_t){-1}),
                TB_ERR_INVALID);
  tb_clock_server_destroy(server);
}

typedef struct stepper {
  pthread_t thread;
  tb_clock_server_t *server;
  tb_status_t status;
} stepper_t;

static void *step_thread(void *argument)
{
  stepper_t *stepper = argument;
  stepper->status = tb_clock_server_step(stepper->server, (tb_duration_t){1000 * S}, TB_NO_LIMIT);
  return NULL;
}

static void pause_it(tb_clock_server_t *server)
{
  tb_clock_server_pause(server);
}

static void resume_it(tb_clock_server_t *server)
{
  tb_clock_server_resume(server);
}

static void reset_it(tb_clock_server_t *server)
{
  assert_ok(tb_clock_server_reset(server));
}

static void step_it(tb_clock_server_t *server)
{
  assert_ok(tb_clock_server_begin_step(server, (tb_duration_t){S}));
}

static void stop_it(tb_clock_server_t *server)
{
  tb_clock_server_stop(server);
}

static void test_S5_a_step_is_cancelled_by_other_controls(void **state)
{
  (void)state;
  void (*const controls[])(tb_clock_server_t *) = {pause_it, resume_it, reset_it, step_it, stop_it};
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
    counter_t counter = {0};
    tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
    options.start_paused = true;
    stepper_t stepper = {.server = create(&counter, options)};
    assert_ok(tb_clock_server_start(stepper.server));
    pthread_create(&stepper.thread, NULL, step_thread, &stepper);
    while (!status_of(stepper.server).stepping)
      sched_yield();
    controls[i](stepper.server);
    pthread_join(stepper.thread, NULL);
    assert_status(stepper.status, TB_ERR_CANCELLED);
    tb_clock_server_destroy(stepper.server);
  }
}

typedef struct waiting {
  tb_clock_server_t *server;
  tb_wait_options_t options;
  pthread_t thread;
  tb_status_t status;
} waiting_t;

static void *wait_thread(void *user)
{
  waiting_t *waiting = user;
  waiting->status = tb_clock_server_wait(waiting->server, &waiting->options, NULL);
  return NULL;
}

static void waiting_start(waiting_t *waiting, tb_source_t *source)
{
  assert_int_equal(pthread_create(&waiting->thread, NULL, wait_thread, waiting), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(source, 1, NULL));
}

static void waiting_end(waiting_t *waiting, tb_status_t expected)
{
  assert_int_equal(pthread_join(waiting->thread, NULL), 0);
  assert_status(waiting->status, expected);
}

static void test_S3_S5_what_ends_the_wait_for_its_thread(void **state)
{
  (void)state;
  counter_t counter = {0};
  tb_source_t *source;
  tb_clock_t *clock;
  tb_cancel_token_t *token;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock));
  assert_ok(tb_manual_source_set(source, 100 * TB_NS_PER_S));
  assert_ok(tb_cancel_token_create(&token));
  waiting_t waiting = {create(&counter, fast_and_paused()), {.token = token, .clock = clock}, 0, 0};
  assert_ok(tb_clock_server_start(waiting.server));
  waiting_start(&waiting, source);
  tb_cancel_token_cancel(token);
  waiting_end(&waiting, TB_ERR_CANCELLED);
  tb_cancel_token_reset(token);
  waiting.options.flags = TB_WAIT_FAIL_ON_BACKWARD;
  waiting_start(&waiting, source);
  assert_ok(tb_manual_source_set(source, TB_NS_PER_S));
  waiting_end(&waiting, TB_ERR_JUMP_BACKWARD);
  waiting_start(&waiting, source);
  tb_clock_server_stop(waiting.server);
  waiting_end(&waiting, TB_OK);
  tb_clock_server_destroy(waiting.server);
  assert_ok(tb_cancel_token_destroy(token));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

static void test_X9_a_thread_is_stopped_and_started_again(void **state)
{
  (void)state;
  counter_t counter = {0};
  tb_clock_server_t *server = create(&counter, fast_and_paused());
  assert_status(tb_clock_server_wait(server, NULL, NULL), TB_ERR_INVALID);
  for (int i = 0; i < 20; i++) {
    assert_ok(tb_clock_server_start(server));
    assert_status(tb_clock_server_start(server), TB_ERR_BUSY);
    assert_status(tb_clock_server_run_due(server, 1, NULL, NULL, NULL), TB_ERR_BUSY);
    assert_status(tb_clock_server_wait(server, WITHIN((tb_duration_t){1}), NULL), TB_ERR_TIMEOUT);
    tb_clock_server_stop(server);
    assert_ok(tb_clock_server_wait(server, NULL, NULL));
    assert_false(status_of(server).serving);
  }
  tb_clock_server_destroy(server);
}

static void test_X9_the_thread_reports_why_it_ended(void **state)
{
  (void)state;
  counter_t counter = {.fails = 1};
  tb_error_t error = TB_ERROR_INIT;
  tb_clock_server_t *server = create(&counter, fast_and_paused());
  assert_ok(tb_clock_server_start(server));
  assert_status(tb_clock_server_wait(server, NULL, &error), TB_ERR_TRANSPORT);
  assert_string_equal(error.text, "no way out");
  atomic_store(&counter.fails, 0);
  assert_ok(tb_clock_server_start(server));
  assert_ok(tb_clock_server_step(server, (tb_duration_t){S}, TB_NO_LIMIT));
  tb_clock_server_destroy(server);
}

/* Controls wake the thread: at one tick in 1000 s nothing comes by itself. */
static void test_X9_controls_wake_the_thread(void **state)
{
  (void)state;
  counter_t counter = {0};
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.hz = 0.001;
  tb_clock_server_t *server = create(&counter, options);
  assert_ok(tb_clock_server_start(server));
  for (int64_t i = 1; i <= 100; i++) {
    assert_ok(tb_clock_server_set_time(server, i));
    while (counter.time_ns != i)
      sched_yield();
  }
  uint64_t ticks = counter.ticks;
  tb_clock_server_pause(server);
  while (counter.ticks == ticks)
    sched_yield();
  tb_clock_server_destroy(server);
}

static void *control_thread(void *argument)
{
  tb_clock_server_t *server = argument;
  for (int i = 0; i < 300; i++) {
    tb_clock_server_toggle_paused(server);
    assert_ok(tb_clock_server_set_factor(server, 1 + i % 3));
    assert_ok(tb_clock_server_set_as_fast_as_possible(server, i % 2));
    assert_ok(tb_clock_server_set_hz(server, 1000 + i));
    tb_status_t status = tb_clock_server_step(server, (tb_duration_t){MS}, TB_NO_LIMIT);
    assert_true(status == TB_OK || status == TB_ERR_CANCELLED);
    if (i % 16 == 0) assert_ok(tb_clock_server_reset(server));
    assert_true(status_of(server).time_ns >= 1);
  }
  return NULL;
}

static void test_X9_controls_of_many_threads(void **state)
{
  (void)state;
  counter_t counter = {0};
  pthread_t threads[4];
  tb_clock_server_t *server = create(&counter, fast_and_paused());
  assert_ok(tb_clock_server_start(server));
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, control_thread, server);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(counter.falls, 0);
  tb_clock_server_destroy(server);
}

static int misbehaves_in_child(tb_clock_server_t *server)
{
  const tb_duration_t second = {S};
  tb_clock_server_pause(server);
  tb_clock_server_stop(server);
  if (status_of(server).time_ns != 5 * S) return 1;
  if (tb_clock_server_start(server) != TB_ERR_FORKED) return 2;
  if (tb_clock_server_run(server, NULL) != TB_ERR_FORKED) return 3;
  if (tb_clock_server_run_due(server, 1, NULL, NULL, NULL) != TB_ERR_FORKED) return 4;
  if (tb_clock_server_wait(server, WITHIN(second), NULL) != TB_ERR_FORKED) return 5;
  if (tb_clock_server_set_factor(server, 2) != TB_ERR_FORKED) return 6;
  if (tb_clock_server_set_hz(server, 2) != TB_ERR_FORKED) return 7;
  if (tb_clock_server_set_as_fast_as_possible(server, false) != TB_ERR_FORKED) return 8;
  if (tb_clock_server_reset(server) != TB_ERR_FORKED) return 9;
  if (tb_clock_server_step(server, second, TB_NO_LIMIT) != TB_ERR_FORKED) return 10;
  tb_clock_server_destroy(server);
  return 0;
}

static void test_C7_a_forked_child_leaves_the_server_alone(void **state)
{
  (void)state;
  counter_t counter = {0};
  int ended = 0;
  tb_clock_server_t *server = create(&counter, fast_and_paused());
  assert_ok(tb_clock_server_start(server));
  assert_ok(tb_clock_server_step_to(server, 5 * S, TB_NO_LIMIT));
  pid_t child = fork();
  if (child == 0) _exit(misbehaves_in_child(server));
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_int_equal(ended, 0);
  assert_ok(tb_clock_server_step_to(server, 6 * S, TB_NO_LIMIT));
  tb_clock_server_destroy(server);
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(X9_a_step_returns_when_its_ticks_have_been_sent),
      TEST(S5_a_step_has_a_limit_and_continues_after_it),
      TEST(S5_a_step_is_cancelled_by_other_controls),
      TEST(S3_S5_what_ends_the_wait_for_its_thread),
      TEST(X9_a_thread_is_stopped_and_started_again),
      TEST(X9_the_thread_reports_why_it_ended),
      TEST(X9_controls_wake_the_thread),
      TEST(X9_controls_of_many_threads),
      TEST(C7_a_forked_child_leaves_the_server_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
