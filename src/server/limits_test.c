/* The limits of all calls of clocks, timers, conditions, sources and servers. */
#include <semaphore.h>
#include <timebase/clock_server.h>
#include <timebase/condition.h>
#include <timebase/manual_source.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>
#include <timebase/timer.h>

#include "clock/timeline.h"
#include "limits_table.h"
#include "within.h"

#define S    TB_NS_PER_S
#define HOUR TB_NS(3600 * S)

static tb_source_t *source;
static tb_clock_t *ros;
static tb_steady_clock_t *steady;
static tb_cancel_token_t *token;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t other; /* a thread of the scene */
static sem_t entered, released;

static void source_open(void)
{
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &ros));
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_cancel_token_create(&token));
  sem_init(&entered, 0, 0);
  sem_init(&released, 0, 0);
}

static void open_at_ten(void)
{
  source_open();
  assert_ok(tb_manual_source_set(source, 10 * S));
}

static void source_close(void)
{
  assert_ok(tb_cancel_token_destroy(token));
  assert_ok(tb_clock_destroy(ros));
  assert_ok(tb_source_destroy(source));
  tb_steady_clock_destroy(steady);
  sem_destroy(&entered);
  sem_destroy(&released);
}

static void set_to_20(void)
{
  assert_ok(tb_manual_source_set(source, 20 * S));
}

static void cancel(void)
{
  tb_cancel_token_cancel(token);
}

static tb_wait_options_t within(tb_duration_t limit)
{
  return (tb_wait_options_t){.limit = limit, .token = token};
}

/* --- sleeps --- */

static tb_status_t sleep_until(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_clock_sleep_until(ros, tb_ros_time_ns(20 * S), &options);
}

static tb_status_t sleep_for(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_clock_sleep_for(ros, TB_SECONDS(5), &options);
}

static tb_status_t steady_sleep_until(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_steady_clock_sleep_until(steady, tb_steady_time_ns(INT64_MAX), &options);
}

static tb_status_t steady_sleep_for(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_steady_clock_sleep_for(steady, HOUR, &options);
}

static tb_status_t wait_until_started(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_clock_wait_until_started(ros, &options);
}

static tb_status_t wait_for_state(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_clock_wait_for_state(ros, TB_CLOCK_STATE_BIT(TB_CLOCK_RUNNING), &options, NULL);
}

static tb_rate_t *rate;

static void rate_open(void)
{
  open_at_ten();
  assert_ok(tb_clock_rate_create(ros, TB_SECONDS(5), &rate));
}

static void rate_close(void)
{
  tb_rate_destroy(rate);
  source_close();
}

static tb_status_t rate_sleep(tb_duration_t limit)
{
  tb_wait_options_t options = within(limit);
  return tb_rate_sleep(rate, &options, NULL);
}

/* --- conditions --- */

static tb_cond_t *cond;
static tb_steady_cond_t *steady_cond;

static void cond_open(void)
{
  open_at_ten();
  assert_ok(tb_cond_create(ros, &cond));
  assert_ok(tb_steady_cond_create(steady, &steady_cond));
}

static void cond_close(void)
{
  assert_ok(tb_cond_destroy(cond));
  assert_ok(tb_steady_cond_destroy(steady_cond));
  source_close();
}

static void signal_both(void)
{
  pthread_mutex_lock(&mutex);
  assert_ok(tb_cond_signal(cond));
  assert_ok(tb_steady_cond_signal(steady_cond));
  pthread_mutex_unlock(&mutex);
}

#define COND_CALL(name, wait)                                                                      \
  static tb_status_t name(tb_duration_t limit)                                                     \
  {                                                                                                \
    tb_wait_options_t options = within(limit);                                                     \
    pthread_mutex_lock(&mutex);                                                                    \
    tb_status_t status = wait;                                                                     \
    pthread_mutex_unlock(&mutex);                                                                  \
    return status;                                                                                 \
  }

COND_CALL(cond_until, tb_cond_wait_until(cond, &mutex, tb_ros_time_ns(20 * S), &options, NULL))
COND_CALL(cond_for, tb_cond_wait_for(cond, &mutex, TB_SECONDS(5), &options, NULL))
COND_CALL(steady_cond_until,
          tb_steady_cond_wait_until(steady_cond, &mutex, tb_steady_time_ns(INT64_MAX), &options,
                                    NULL))
COND_CALL(steady_cond_for, tb_steady_cond_wait_for(steady_cond, &mutex, HOUR, &options, NULL))

/* --- what waits for a jump: one is in progress until the event --- */

static tb_jump_handler_t *handler;
static tb_source_t *second_source;

static void stay(const tb_jump_t *jump, void *user)
{
  (void)jump;
  (void)user;
  sem_post(&entered);
  sem_wait(&released);
}

static void *jump_back(void *argument)
{
  assert_ok(tb_manual_source_set(source, 5 * S));
  return argument;
}

static void jump_begin(void)
{
  open_at_ten();
  assert_ok(tb_manual_source_create(&second_source));
  tb_jump_handler_options_t options = {
      .threshold = {.min_backward = {-1}}, .before = stay, .name = "stays"};
  assert_ok(tb_jump_handler_create(ros, &options, &handler));
  pthread_create(&other, NULL, jump_back, NULL);
  sem_wait(&entered);
}

static void jump_end(void)
{
  sem_post(&released);
  pthread_join(other, NULL);
}

static void jump_close(void)
{
  tb_jump_handler_destroy(handler);
  assert_ok(tb_source_destroy(second_source));
  source_close();
}

static tb_status_t set_source(tb_duration_t limit)
{
  return tb_clock_set_source_within(ros, second_source, limit);
}

static tb_status_t clock_destroy(tb_duration_t limit)
{
  tb_status_t status = tb_clock_destroy_within(ros, limit);
  if (!status) ros = NULL;
  return status;
}

static tb_status_t source_destroy(tb_duration_t limit)
{
  tb_status_t status = tb_source_destroy_within(source, limit);
  if (!status) source = NULL;
  return status;
}

static tb_status_t handler_destroy(tb_duration_t limit)
{
  tb_status_t status = tb_jump_handler_destroy_within(handler, limit);
  if (!status) handler = NULL;
  return status;
}

/* Waits that begin during the jump leave their condition and their token after it. */
static pthread_t waiter;

static void *begin_wait(void *argument)
{
  tb_wait_options_t options = {.token = token};
  pthread_mutex_lock(&mutex);
  assert_status(tb_cond_wait_for(cond, &mutex, TB_SECONDS(5), &options, NULL), TB_ERR_CLOSED);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void jump_begin_with_waiter(void)
{
  jump_begin();
  assert_ok(tb_cond_create(ros, &cond));
  pthread_mutex_lock(&mutex);
  pthread_create(&waiter, NULL, begin_wait, NULL);
  pthread_mutex_unlock(&mutex);
  while (atomic_load(&tb_source_timeline(source)->readers) == 0) /* it waits for the jump */
    sched_yield();
}

static void jump_end_and_join(void)
{
  jump_end();
  pthread_join(waiter, NULL);
}

static tb_status_t cond_destroy(tb_duration_t limit)
{
  return tb_cond_destroy_within(cond, limit);
}

static tb_status_t token_destroy(tb_duration_t limit)
{
  tb_status_t status = tb_cancel_token_destroy_within(token, limit);
  if (!status) token = NULL;
  return status;
}

static void token_close(void)
{
  assert_ok(tb_cond_destroy(cond));
  jump_close();
}

/* --- timers: a call is in progress until the event --- */

static tb_timer_queue_t *queue;
static tb_timer_t *timer;

static void stay_in_call(tb_timer_t *called, const tb_timer_info_t *info, void *user)
{
  (void)called;
  (void)info;
  stay(NULL, user);
}

static void call_begin(void)
{
  open_at_ten();
  tb_timer_options_t options = {.period = TB_SECONDS(5), .callback = stay_in_call};
  assert_ok(tb_timer_queue_create(&queue));
  assert_ok(tb_timer_queue_start_thread(queue));
  assert_ok(tb_clock_timer_create(queue, ros, &options, &timer));
  assert_ok(tb_timer_start(timer));
  set_to_20();
  sem_wait(&entered);
}

static void release(void)
{
  sem_post(&released);
}

static void call_close(void)
{
  assert_ok(tb_timer_queue_destroy(queue));
  source_close();
}

static tb_status_t stop_wait(tb_duration_t limit)
{
  return tb_timer_stop_wait(timer, limit);
}

static tb_status_t stop_thread(tb_duration_t limit)
{
  return tb_timer_queue_stop_thread(queue, limit);
}

static tb_status_t queue_destroy(tb_duration_t limit)
{
  tb_status_t status = tb_timer_queue_destroy_within(queue, limit);
  if (!status) queue = NULL;
  return status;
}

/* --- calls that move time and wait for what they wake: a thread that does not come back --- */

static int64_t held_ns; /* steady time at first */

static void *sleep_then_stay(void *argument)
{
  assert_ok(tb_clock_sleep_until(ros, tb_ros_time_ns(20 * S), NULL));
  sem_wait(&released);
  return argument;
}

static void *steady_sleep_then_stay(void *argument)
{
  assert_ok(tb_steady_clock_sleep_until(steady, tb_steady_time_ns(held_ns + 10 * S), NULL));
  sem_wait(&released);
  return argument;
}

static void sleeper_start(void)
{
  pthread_create(&other, NULL, sleep_then_stay, NULL);
}

static void steady_sleeper_start(void)
{
  pthread_create(&other, NULL, steady_sleep_then_stay, NULL);
}

static void sleeper_open(void)
{
  open_at_ten();
  sleeper_start();
  assert_ok(tb_manual_source_wait_for_sleepers(source, 1, NULL));
}

static void sleeper_close(void)
{
  set_to_20();
  release();
  pthread_join(other, NULL);
  source_close();
}

static void held_open(void)
{
  source_open();
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_now(TB_TESTING_STEADY, &held_ns));
}

static void held_open_with_sleeper(void)
{
  held_open();
  steady_sleeper_start();
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
}

static void held_close(void)
{
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, TB_SECONDS(10)));
  release();
  pthread_join(other, NULL);
  assert_ok(tb_testing_release_os_time());
  source_close();
}

#define RUN_CALL(name, ...)                                                                        \
  static tb_status_t name(tb_duration_t limit)                                                     \
  {                                                                                                \
    tb_run_options_t options = {.limit = limit, .token = token};                                   \
    return __VA_ARGS__;                                                                            \
  }

RUN_CALL(manual_wait, tb_manual_source_wait_for_sleepers(source, 1, &options))
RUN_CALL(manual_set, tb_manual_source_set_and_run(source, 20 * S, &options))
RUN_CALL(manual_jump, tb_manual_source_jump_and_run(source, 20 * S, TB_JUMP_REASON_SEEK, &options))
RUN_CALL(manual_advance, tb_manual_source_advance_and_run(source, TB_SECONDS(10), &options))
RUN_CALL(manual_stepped,
         tb_manual_source_advance_stepped_and_run(source, TB_SECONDS(10), 9, &options))
RUN_CALL(manual_next, tb_manual_source_advance_to_next_and_run(source, &options))
RUN_CALL(testing_wait, tb_testing_wait_for_sleepers(1, &options))
RUN_CALL(testing_set, tb_testing_set_and_run(TB_TESTING_STEADY, held_ns + 10 * S, &options))
RUN_CALL(testing_advance, tb_testing_advance_and_run(TB_TESTING_STEADY, TB_SECONDS(10), &options))
RUN_CALL(testing_stepped,
         tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, TB_SECONDS(10), 9, &options))
RUN_CALL(testing_next, tb_testing_advance_to_next_and_run(TB_TESTING_STEADY, &options))

/* --- servers --- */

static tb_clock_server_t *server;

static tb_status_t take_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  (void)self;
  (void)time_ns;
  (void)reason;
  (void)error;
  return TB_OK;
}

static void server_open(void)
{
  static const tb_tick_sink_t sink = {.tick = take_tick};
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.start_paused = true;
  assert_ok(tb_clock_server_create(&options, &sink, 1, &server, NULL));
  assert_ok(tb_clock_server_start(server));
}

static void server_close(void)
{
  tb_clock_server_destroy(server);
}

static void server_stop(void)
{
  tb_clock_server_stop(server);
}

static void server_hurry(void)
{
  assert_ok(tb_clock_server_set_as_fast_as_possible(server, true));
}

static tb_status_t server_wait(tb_duration_t limit)
{
  return tb_clock_server_wait(server, WITHIN(limit), NULL);
}

static tb_status_t server_step(tb_duration_t limit)
{
  return tb_clock_server_step(server, HOUR, limit);
}

static tb_status_t server_step_to(tb_duration_t limit)
{
  return tb_clock_server_step_to(server, limit.ns ? HOUR.ns : 2 * HOUR.ns, limit);
}

static const limited_t table[] = {
    {"sleep_until", sleep_until, open_at_ten, set_to_20, source_close, 0, 0},
    {"sleep_for", sleep_for, open_at_ten, set_to_20, source_close, 0, 0},
    {"steady sleep_until", steady_sleep_until, source_open, cancel, source_close, 0,
     TB_ERR_CANCELLED},
    {"steady sleep_for", steady_sleep_for, source_open, cancel, source_close, 0, TB_ERR_CANCELLED},
    {"wait_until_started", wait_until_started, source_open, set_to_20, source_close, 0, 0},
    {"wait_for_state", wait_for_state, source_open, set_to_20, source_close, 0, 0},
    {"rate_sleep", rate_sleep, rate_open, set_to_20, rate_close, 0, 0},
    {"cond_wait_until", cond_until, cond_open, signal_both, cond_close, 0, 0},
    {"cond_wait_for", cond_for, cond_open, signal_both, cond_close, 0, 0},
    {"steady cond_wait_until", steady_cond_until, cond_open, signal_both, cond_close, 0, 0},
    {"steady cond_wait_for", steady_cond_for, cond_open, signal_both, cond_close, 0, 0},
    {"clock_set_source_within", set_source, jump_begin, jump_end, jump_close, 0, 0},
    {"clock_destroy_within", clock_destroy, jump_begin, jump_end, jump_close, 0, 0},
    {"source_destroy_within", source_destroy, jump_begin, jump_end, jump_close, 0, 0},
    {"jump_handler_destroy_within", handler_destroy, jump_begin, jump_end, jump_close, 0, 0},
    {"cond_destroy_within", cond_destroy, jump_begin_with_waiter, jump_end_and_join, jump_close, 0,
     0},
    {"cancel_token_destroy_within", token_destroy, jump_begin_with_waiter, jump_end_and_join,
     token_close, 0, 0},
    {"timer_stop_wait", stop_wait, call_begin, release, call_close, 0, 0},
    {"timer_queue_stop_thread", stop_thread, call_begin, release, call_close, 0, 0},
    {"timer_queue_destroy_within", queue_destroy, call_begin, release, call_close, 0, 0},
    {"manual wait_for_sleepers", manual_wait, open_at_ten, sleeper_start, sleeper_close, 0, 0},
    {"manual set_and_run", manual_set, sleeper_open, release, sleeper_close, 0, 0},
    {"manual jump_and_run", manual_jump, sleeper_open, release, sleeper_close, 0, 0},
    {"manual advance_and_run", manual_advance, sleeper_open, release, sleeper_close, 0, 0},
    {"manual advance_stepped_and_run", manual_stepped, sleeper_open, release, sleeper_close, 0, 0},
    {"manual advance_to_next_and_run", manual_next, sleeper_open, release, sleeper_close, 0,
     TB_ERR_NOT_FOUND},
    {"testing wait_for_sleepers", testing_wait, held_open, steady_sleeper_start, held_close, 0, 0},
    {"testing set_and_run", testing_set, held_open_with_sleeper, release, held_close, 0, 0},
    {"testing advance_and_run", testing_advance, held_open_with_sleeper, release, held_close, 0, 0},
    {"testing advance_stepped_and_run", testing_stepped, held_open_with_sleeper, release,
     held_close, 0, 0},
    {"testing advance_to_next_and_run", testing_next, held_open_with_sleeper, release, held_close,
     0, TB_ERR_NOT_FOUND},
    {"clock_server_wait", server_wait, server_open, server_stop, server_close, 0, 0},
    {"clock_server_step", server_step, server_open, server_hurry, server_close, 0, 0},
    {"clock_server_step_to", server_step_to, server_open, server_hurry, server_close, 0, 0},
};

/* In ROS 2 a limit of 0 looks once and a negative one is no limit. rcl test_wait.cpp:
 * finite_timeout, negative_timeout, zero_timeout; rclcpp test_time.cpp: started_timeout. */
static void test_S5_a_limit_means_one_thing_in_every_call(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    limited_check(&table[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S5_a_limit_means_one_thing_in_every_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
