/* Forms of the manual source that return when what they made due has run. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/condition.h>
#include <timebase/generic.h>
#include <timebase/rate.h>

#include "held/parking.h"
#include "on_manual_source.h"
#include "wait/settle.h"

#define FOREVER_NS INT64_C(3600000000000)

static const tb_run_options_t limited = {{FOREVER_NS}, NULL};

/* A thread that counts its wake-ups; only the calls under test order its steps, so that the count
 * may be read without a lock. */
typedef struct looper {
  tb_clock_t *clock, *second; /* waits on them in turn; `second` may be NULL */
  tb_wait_options_t options;
  int64_t period_ns;
  int rounds; /* then it ends; 0: never */
  _Atomic int count;
  int64_t last_ns;
  tb_status_t status;
  pthread_t thread;
} looper_t;

static void note(looper_t *looper)
{
  tb_time_t now = {-1, 0};
  tb_clock_now(looper->clock, &now);
  for (int i = 0; i < 100; i++)
    sched_yield(); /* so that a call that does not wait is found out */
  looper->last_ns = now.ns;
  atomic_fetch_add(&looper->count, 1);
}

static void *loop_thread(void *argument)
{
  looper_t *looper = argument;
  tb_clock_t *clock = looper->clock;
  while (!(looper->status =
               tb_sleep_for(clock, (tb_duration_t){looper->period_ns}, &looper->options))) {
    note(looper);
    if (looper->second) clock = clock == looper->clock ? looper->second : looper->clock;
    if (looper->rounds && atomic_load(&looper->count) == looper->rounds) break;
  }
  return NULL;
}

static void looper_start(fixture_t *f, looper_t *looper, uint32_t sleepers)
{
  if (!looper->clock) looper->clock = f->clock;
  if (!looper->period_ns) looper->period_ns = S;
  pthread_create(&looper->thread, NULL, loop_thread, looper);
  assert_ok(tb_manual_source_wait_for_sleepers(f->source, sleepers, &limited));
}

static void looper_end(looper_t *looper, tb_cancel_token_t *token)
{
  tb_cancel_token_cancel(token);
  pthread_join(looper->thread, NULL);
  assert_status(looper->status, TB_ERR_CANCELLED);
}

static tb_duration_t seconds(int64_t count)
{
  return (tb_duration_t){count * S};
}

static void test_X2_a_periodic_thread_makes_a_round_at_every_stop(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  looper_t looper = {.options = {.token = token}};
  looper_start(f, &looper, 1);
  for (int i = 1; i <= 50; i++) {
    assert_ok(tb_manual_source_advance_stepped_and_run(f->source, seconds(10), 100, &limited));
    assert_int_equal(atomic_load(&looper.count), 10 * i);
    assert_int_equal(looper.last_ns, (100 + 10 * i) * S);
  }
  looper_end(&looper, token);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_X2_each_form_waits_for_the_thread_that_it_wakes(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  looper_t looper = {.options = {.token = token}};
  looper_start(f, &looper, 1);
  assert_ok(tb_manual_source_set_and_run(f->source, 101 * S, &limited));
  assert_int_equal(atomic_load(&looper.count), 1);
  assert_ok(tb_manual_source_jump_and_run(f->source, 102 * S, TB_JUMP_REASON_SEEK, &limited));
  assert_int_equal(atomic_load(&looper.count), 2);
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
  assert_int_equal(atomic_load(&looper.count), 3);
  assert_ok(tb_manual_source_advance_to_next_and_run(f->source, &limited));
  assert_int_equal(atomic_load(&looper.count), 4);
  assert_int_equal(looper.last_ns, 104 * S);
  assert_ok(tb_manual_source_advance_and_run(f->source, (tb_duration_t){S - 1}, &limited));
  assert_int_equal(atomic_load(&looper.count), 4);
  assert_status(tb_manual_source_advance_stepped_and_run(f->source, seconds(10), 3, &limited),
                TB_ERR_LIMIT);
  assert_int_equal(atomic_load(&looper.count), 7);
  looper_end(&looper, token);
  assert_status(tb_manual_source_advance_to_next_and_run(f->source, NULL), TB_ERR_NOT_FOUND);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_X2_a_woken_thread_may_end(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  looper_t looper = {.rounds = 3};
  looper_start(f, &looper, 1);
  assert_ok(tb_manual_source_advance_stepped_and_run(f->source, seconds(10), 100, &limited));
  assert_int_equal(atomic_load(&looper.count), 3);
  pthread_join(looper.thread, NULL);
}

static void test_X2_a_thread_may_wait_on_other_clocks_and_with_limits(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  tb_clock_t *second;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_clock_create(&options, &second));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  looper_t one = {.second = second, .options = {.token = token, .limit = {FOREVER_NS}}};
  looper_t two = {.options = {.token = token}, .period_ns = 2 * S};
  looper_start(f, &one, 1);
  looper_start(f, &two, 2);
  assert_ok(tb_manual_source_advance_stepped_and_run(f->source, seconds(10), 100, &limited));
  assert_int_equal(atomic_load(&one.count), 10);
  assert_int_equal(atomic_load(&two.count), 5);
  looper_end(&one, token);
  looper_end(&two, token);
  assert_ok(tb_clock_destroy(second));
  assert_ok(tb_cancel_token_destroy(token));
}

/* ---- conditions and rates ---- */

typedef struct chain {
  tb_cond_t *cond;
  tb_rate_t *rate;
  tb_cancel_token_t *token;
  pthread_mutex_t mutex;
  bool filled, ready;
  _Atomic int consumed, produced;
} chain_t;

static void *consume(void *argument)
{
  chain_t *chain = argument;
  tb_wait_options_t options = {.token = chain->token};
  pthread_mutex_lock(&chain->mutex);
  while (!tb_cond_wait_for(chain->cond, &chain->mutex, seconds(100000), &options, NULL)) {
    if (chain->filled) {
      for (int i = 0; i < 100; i++)
        sched_yield();
      atomic_fetch_add(&chain->consumed, 1);
    }
    chain->filled = false;
  }
  pthread_mutex_unlock(&chain->mutex);
  return NULL;
}

static void *produce(void *argument)
{
  chain_t *chain = argument;
  tb_wait_options_t options = {.token = chain->token};
  while (!tb_rate_sleep(chain->rate, &options, NULL)) {
    pthread_mutex_lock(&chain->mutex);
    chain->filled = true;
    atomic_fetch_add(&chain->produced, 1);
    tb_cond_signal(chain->cond);
    pthread_mutex_unlock(&chain->mutex);
  }
  return NULL;
}

static void test_X2_threads_woken_in_between_count_too(void **state)
{
  fixture_t *f = *state;
  chain_t chain = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  pthread_t consumer, producer;
  assert_ok(tb_cancel_token_create(&chain.token));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_cond_create(f->clock, &chain.cond));
  assert_ok(tb_rate_create(f->clock, seconds(1), &chain.rate));
  pthread_create(&consumer, NULL, consume, &chain);
  pthread_create(&producer, NULL, produce, &chain);
  assert_ok(tb_manual_source_wait_for_sleepers(f->source, 2, &limited));
  for (int i = 1; i <= 100; i++) {
    assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
    assert_int_equal(atomic_load(&chain.produced), i);
    assert_int_equal(atomic_load(&chain.consumed), i);
  }
  tb_cancel_token_cancel(chain.token);
  pthread_join(consumer, NULL);
  pthread_join(producer, NULL);
  tb_rate_destroy(chain.rate);
  assert_ok(tb_cond_destroy(chain.cond));
  assert_ok(tb_cancel_token_destroy(chain.token));
}

/* ---- timers ---- */

static tb_timer_t *started(fixture_t *f, tb_timer_mode_t mode, int64_t period_s,
                           tb_timer_callback_t callback, void *user)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period = seconds(period_s);
  options.mode = mode;
  options.callback = callback;
  options.user = user;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  return timer;
}

static void dawdle(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  for (int i = 0; i < 100; i++)
    sched_yield();
  on_timer(timer, info, user);
}

static void test_X2_a_queue_with_a_thread_has_called_what_is_due(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  started(f, TB_TIMER_PERIODIC, 2, dawdle, (char[]){"two"});
  started(f, TB_TIMER_PERIODIC, 3, dawdle, (char[]){"three"});
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_ok(tb_manual_source_advance_stepped_and_run(f->source, seconds(6), 100, &limited));
  assert_string_equal(trace, "two@102/102 three@103/103 two@104/104 two@106/106 three@106/106 ");
  trace[0] = '\0';
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(6), &limited));
  assert_string_equal(trace, "two@108/112+2 three@109/112+1 ");
}

static void test_X2_the_thread_that_drives_a_queue_runs_it(void **state)
{
  fixture_t *f = *state;
  uint32_t calls;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  started(f, TB_TIMER_PERIODIC, 2, on_timer, (char[]){"two"});
  assert_ok(tb_manual_source_advance_stepped_and_run(f->source, seconds(4), 100, &limited));
  assert_string_equal(trace, "two@102/102 two@104/104 ");
  assert_ok(tb_timer_queue_run_due(f->queue, &calls));
  assert_int_equal(calls, 0);
  assert_ok(tb_manual_source_advance_to_next_and_run(f->source, &limited));
  assert_string_equal(trace, "two@102/102 two@104/104 two@106/106 ");
}

/* Restarts itself, due at once, a few times: all of it belongs to one move. */
static void again(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  int *left = user;
  TRACE("%lld ", (long long)(info->actual.ns / S));
  if (--*left > 0) tb_timer_start(timer);
}

static void test_X2_what_callbacks_make_due_is_called_too(void **state)
{
  fixture_t *f = *state;
  for (int with_thread = 0; with_thread < 2; with_thread++) {
    int left = 4;
    tb_timer_t *timer = NULL;
    tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
    options.mode = TB_TIMER_ONE_SHOT_AT;
    options.at = (tb_time_t){105 * S, TB_TIME_ROS};
    options.callback = again;
    options.user = &left;
    trace[0] = '\0';
    assert_ok(tb_manual_source_set(f->source, 100 * S));
    assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
    assert_ok(tb_timer_start(timer));
    if (with_thread) assert_ok(tb_timer_queue_start_thread(f->queue));
    assert_ok(tb_manual_source_advance_and_run(f->source, seconds(7), &limited));
    assert_string_equal(trace, "107 107 107 107 ");
    tb_timer_destroy(timer);
  }
}

/* A callback that waits on the timeline is idle; it ends in a later move. */
static void sleep_in_callback(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  fixture_t *f = user;
  (void)timer;
  TRACE("in@%lld ", (long long)(info->actual.ns / S));
  assert_ok(tb_sleep_for(f->clock, seconds(5), NULL));
  for (int i = 0; i < 100; i++)
    sched_yield();
  TRACE("out ");
}

static void test_X2_a_callback_that_waits_is_idle(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  started(f, TB_TIMER_ONE_SHOT, 1, sleep_in_callback, f);
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
  assert_string_equal(trace, "in@101 ");
  assert_ok(tb_manual_source_advance_to_next_and_run(f->source, &limited));
  assert_string_equal(trace, "in@101 out ");
}

typedef struct inside {
  fixture_t *f;
  tb_status_t advance, jump, stepped, waits;
} inside_t;

static void move_inside(inside_t *inside)
{
  tb_run_options_t brief = {{1}, NULL};
  tb_source_t *source = inside->f->source;
  inside->advance = tb_manual_source_advance_and_run(source, seconds(1), &limited);
  inside->jump = tb_manual_source_set_and_run(source, 7 * S, &limited);
  inside->waits = tb_manual_source_wait_for_sleepers(source, 99, &brief);
  inside->stepped = tb_manual_source_advance_stepped_and_run(source, seconds(1), 9, &limited);
}

static void move_in_callback(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  move_inside(user);
}

static void move_in_handler(const tb_jump_t *jump, void *user)
{
  (void)jump;
  move_inside(user);
}

static void expect_deadlock(fixture_t *f, const inside_t *inside, int64_t now_s)
{
  tb_time_t now;
  assert_status(inside->advance, TB_ERR_DEADLOCK);
  assert_status(inside->jump, TB_ERR_DEADLOCK);
  assert_status(inside->stepped, TB_ERR_DEADLOCK);
  assert_status(inside->waits, TB_ERR_DEADLOCK);
  assert_ok(tb_now(f->clock, &now));
  assert_int_equal(now.ns, now_s * S);
}

static void test_X2_callbacks_may_not_wait_for_themselves(void **state)
{
  fixture_t *f = *state;
  inside_t inside = {.f = f}, with_thread = {.f = f}, in_jump = {.f = f};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  started(f, TB_TIMER_ONE_SHOT, 1, move_in_callback, &inside);
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
  expect_deadlock(f, &inside, 101);
  started(f, TB_TIMER_ONE_SHOT, 1, move_in_callback, &with_thread);
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
  expect_deadlock(f, &with_thread, 102);
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.min_backward.ns = -1;
  options.after = move_in_handler;
  options.user = &in_jump;
  options.name = "mover";
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set_and_run(f->source, 50 * S, &limited));
  expect_deadlock(f, &in_jump, 50);
  tb_jump_handler_destroy(handler);
}

/* In a callback of a queue that has nothing to do with the timeline they are allowed. */
static void test_X2_callbacks_of_other_queues_may_wait(void **state)
{
  fixture_t *f = *state;
  tb_source_t *source;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  fixture_t other = {.source = source};
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &other.clock));
  looper_t looper = {.options = {.token = token}};
  looper_start(&other, &looper, 1);
  inside_t inside = {.f = &other};
  started(f, TB_TIMER_ONE_SHOT, 1, move_in_callback, &inside);
  assert_ok(tb_manual_source_advance_and_run(f->source, seconds(1), &limited));
  assert_ok(inside.advance);
  assert_ok(inside.stepped);
  assert_status(inside.waits, TB_ERR_TIMEOUT);
  assert_int_equal(atomic_load(&looper.count), 2);
  looper_end(&looper, token);
  assert_ok(tb_clock_destroy(other.clock));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_cancel_token_destroy(token));
}

/* ---- limit and token ---- */

typedef struct stuck {
  tb_clock_t *clock;
  _Atomic uint32_t woken, open; /* futexes */
  pthread_t thread;
} stuck_t;

static void raise_word(_Atomic uint32_t *word)
{
  atomic_store(word, 1);
  tb__futex_wake_all(word);
}

static void wait_word(_Atomic uint32_t *word)
{
  while (!atomic_load(word))
    tb__futex_wait(word, 0, TB__NO_DEADLINE);
}

static void *stuck_thread(void *argument)
{
  stuck_t *stuck = argument;
  assert_ok(tb_sleep_for(stuck->clock, seconds(1), NULL));
  raise_word(&stuck->woken);
  wait_word(&stuck->open);
  return NULL;
}

static void test_X2_a_limit_ends_the_wait_and_time_has_moved(void **state)
{
  fixture_t *f = *state;
  tb_time_t now;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  stuck_t stuck = {.clock = f->clock};
  tb_run_options_t brief = {{1}, NULL}, bad = {{-1}, NULL};
  pthread_create(&stuck.thread, NULL, stuck_thread, &stuck);
  assert_ok(tb_manual_source_wait_for_sleepers(f->source, 1, &limited));
  assert_status(tb_manual_source_wait_for_sleepers(f->source, 2, &brief), TB_ERR_TIMEOUT);
  assert_status(tb_manual_source_advance_and_run(f->source, seconds(1), &bad), TB_ERR_INVALID);
  assert_status(tb_manual_source_advance_and_run(f->source, seconds(1), &brief), TB_ERR_TIMEOUT);
  wait_word(&stuck.woken);
  assert_ok(tb_now(f->clock, &now));
  assert_int_equal(now.ns, 101 * S);
  raise_word(&stuck.open);
  assert_ok(tb_manual_source_set_and_run(f->source, 101 * S, &limited)); /* what is left to wait */
  pthread_join(stuck.thread, NULL);
}

static void *cancel_when_woken(void *argument)
{
  void **both = argument;
  wait_word(&((stuck_t *)both[0])->woken);
  tb_cancel_token_cancel(both[1]);
  return NULL;
}

static void test_X2_a_token_ends_the_wait(void **state)
{
  fixture_t *f = *state;
  tb_cancel_token_t *token;
  tb_time_t now;
  pthread_t canceller;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  stuck_t stuck = {.clock = f->clock};
  tb_run_options_t options = {{0}, token};
  void *both[] = {&stuck, token};
  pthread_create(&stuck.thread, NULL, stuck_thread, &stuck);
  assert_ok(tb_manual_source_wait_for_sleepers(f->source, 1, &limited));
  pthread_create(&canceller, NULL, cancel_when_woken, both);
  assert_status(tb_manual_source_advance_and_run(f->source, seconds(1), &options),
                TB_ERR_CANCELLED);
  assert_ok(tb_now(f->clock, &now));
  assert_int_equal(now.ns, 101 * S);
  raise_word(&stuck.open);
  pthread_join(stuck.thread, NULL);
  pthread_join(canceller, NULL);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_X2_a_source_may_be_destroyed_while_work_is_in_flight(void **state)
{
  fixture_t *f = *state;
  tb_source_t *source;
  tb_clock_t *clock;
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_ok(tb_manual_source_set(source, 100 * S));
  stuck_t stuck = {.clock = clock};
  pthread_create(&stuck.thread, NULL, stuck_thread, &stuck);
  assert_ok(tb_manual_source_wait_for_sleepers(source, 1, &limited));
  assert_ok(tb_manual_source_advance(source, seconds(1)));
  wait_word(&stuck.woken);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
  raise_word(&stuck.open);
  pthread_join(stuck.thread, NULL);
  assert_ok(tb_manual_source_set_and_run(f->source, 1, &limited));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_X2_a_periodic_thread_makes_a_round_at_every_stop),
      WITH_CLOCK(test_X2_each_form_waits_for_the_thread_that_it_wakes),
      WITH_CLOCK(test_X2_a_woken_thread_may_end),
      WITH_CLOCK(test_X2_a_thread_may_wait_on_other_clocks_and_with_limits),
      WITH_CLOCK(test_X2_threads_woken_in_between_count_too),
      WITH_QUEUE(test_X2_a_queue_with_a_thread_has_called_what_is_due),
      WITH_QUEUE(test_X2_the_thread_that_drives_a_queue_runs_it),
      WITH_QUEUE(test_X2_what_callbacks_make_due_is_called_too),
      WITH_QUEUE(test_X2_a_callback_that_waits_is_idle),
      WITH_QUEUE(test_X2_callbacks_may_not_wait_for_themselves),
      WITH_QUEUE(test_X2_callbacks_of_other_queues_may_wait),
      WITH_CLOCK(test_X2_a_limit_ends_the_wait_and_time_has_moved),
      WITH_CLOCK(test_X2_a_token_ends_the_wait),
      WITH_CLOCK(test_X2_a_source_may_be_destroyed_while_work_is_in_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
