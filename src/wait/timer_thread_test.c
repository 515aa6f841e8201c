/* Waiting for a running call, and the thread of a queue. Threads wait for events. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/manual_source.h>
#include <timebase/timer.h>

#include "held/parking.h"
#include "on_manual_source.h"
#include "wait/timer_queue.h"

static tb_timer_t *started(fixture_t *f, tb_timer_mode_t mode, tb_timer_callback_t callback,
                           void *user)
{
  tb_timer_t *timer = NULL;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = 10 * S;
  options.mode = mode;
  options.callback = callback;
  options.user = user;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  return timer;
}

typedef struct gate {
  _Atomic uint32_t entered, open, left; /* futexes */
  tb_status_t stop_thread, run, destroy;
  tb_timer_queue_t *queue;
} gate_t;

static void wait_until(_Atomic uint32_t *word)
{
  while (!atomic_load(word))
    tb__futex_wait(word, 0, TB__NO_DEADLINE);
}

static void raise_word(_Atomic uint32_t *word)
{
  atomic_store(word, 1);
  tb__futex_wake_all(word);
}

static void stay_in_gate(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  gate_t *gate = user;
  gate->stop_thread = tb_timer_queue_stop_thread(gate->queue, TB_NO_LIMIT);
  gate->run = tb_timer_queue_run_due(gate->queue, NULL);
  gate->destroy = tb_timer_queue_destroy(gate->queue);
  raise_word(&gate->entered);
  wait_until(&gate->open);
  raise_word(&gate->left);
}

/* Opens once a thread waits for the call. */
static void *open_gate(void *argument)
{
  gate_t *gate = argument;
  while (!atomic_load(&gate->queue->call_waiters))
    sched_yield();
  raise_word(&gate->open);
  return NULL;
}

static void test_M5_stop_wait_returns_when_the_call_has_ended(void **state)
{
  fixture_t *f = *state;
  gate_t gate = {.queue = f->queue};
  pthread_t opener;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_timer_t *timer = started(f, TB_TIMER_PERIODIC, stay_in_gate, &gate);
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  wait_until(&gate.entered);
  assert_status(tb_timer_stop_wait(timer, (tb_duration_t){1}), TB_ERR_TIMEOUT);
  assert_false(tb_timer_is_running(timer));
  assert_status(tb_timer_stop_wait(timer, (tb_duration_t){-1}), TB_ERR_INVALID);
  assert_status(tb_timer_queue_stop_thread(f->queue, (tb_duration_t){1}), TB_ERR_TIMEOUT);
  pthread_create(&opener, NULL, open_gate, &gate);
  assert_ok(tb_timer_stop_wait(timer, TB_NO_LIMIT));
  assert_int_equal(atomic_load(&gate.left), 1);
  pthread_join(opener, NULL);
  assert_ok(tb_timer_queue_stop_thread(f->queue, TB_NO_LIMIT));
  assert_status(gate.stop_thread, TB_ERR_DEADLOCK);
  assert_status(gate.run, TB_ERR_DEADLOCK);
  assert_status(gate.destroy, TB_ERR_DEADLOCK);
}

static void destroy_in_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)info;
  tb_timer_destroy(timer);
  raise_word(user);
}

static void test_M6_a_thread_runs_the_queue(void **state)
{
  fixture_t *f = *state;
  _Atomic uint32_t called = 0;
  assert_ok(tb_timer_queue_start_thread(f->queue));
  assert_status(tb_timer_queue_start_thread(f->queue), TB_ERR_BUSY);
  assert_status(tb_timer_queue_run_due(f->queue, NULL), TB_ERR_BUSY);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  started(f, TB_TIMER_ONE_SHOT, destroy_in_call, &called);
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  wait_until(&called);
  assert_ok(tb_timer_queue_stop_thread(f->queue, TB_NO_LIMIT));
  assert_ok(tb_timer_queue_stop_thread(f->queue, TB_NO_LIMIT));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL)); /* the program drives it again */
  assert_ok(tb_timer_queue_start_thread(f->queue));  /* destroying the queue ends it */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_M5_stop_wait_returns_when_the_call_has_ended),
      WITH_QUEUE(test_M6_a_thread_runs_the_queue),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
