/* Readers that never block (J10), on a source that the program drives and on shared memory. An
 * interpreter's lock is modelled: the jump callback takes it, as a callback into an interpreter
 * does, and loses it to a thread that reads the time while it holds it. */
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <timebase/timer.h>

#include "never_falls.h"
#include "on_page.h"
#include "platform/time.h"
#include "waiting.h"

static void never_block(tb_source_t *source, bool value)
{
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = 0;
  options.readers_never_block = value;
  assert_ok(tb_timeline_set_options(tb_source_timeline(source), &options));
}

/* ---- the lock of an interpreter ---- */

/* The callback waits in the middle of its work, with the lock given away, until the other thread
 * has taken it, has read the time and has given it back. */
typedef struct interpreter {
  pthread_mutex_t lock;
  tb_clock_t *clock;
  _Atomic int phase; /* counts: 1, 3: a callback has given the lock away; 2, 4: it may have it */
  tb_clock_reading_t readings[2]; /* of the other thread: in "before", and in "after" */
  tb_clock_reading_t own[2];      /* of the callbacks */
} interpreter_t;

static void wait_for_phase(interpreter_t *self, int phase)
{
  while (atomic_load(&self->phase) < phase)
    sched_yield();
}

static void lose_the_lock(interpreter_t *self, int index)
{
  pthread_mutex_lock(&self->lock);
  assert_ok(tb_clock_read(self->clock, &self->own[index]));
  pthread_mutex_unlock(&self->lock);
  atomic_store(&self->phase, 2 * index + 1);
  wait_for_phase(self, 2 * index + 2);
  pthread_mutex_lock(&self->lock);
  pthread_mutex_unlock(&self->lock);
}

static void before_with_lock(const tb_jump_t *jump, void *user)
{
  (void)jump;
  lose_the_lock(user, 0);
}

static void after_with_lock(const tb_jump_t *jump, void *user)
{
  (void)jump;
  lose_the_lock(user, 1);
}

static void *interpret(void *argument)
{
  interpreter_t *self = argument;
  for (int i = 0; i < 2; i++) {
    wait_for_phase(self, 2 * i + 1);
    pthread_mutex_lock(&self->lock);
    assert_ok(tb_clock_read(self->clock, &self->readings[i]));
    tb_time_t now;
    assert_ok(tb_clock_now(self->clock, &now));
    assert_int_equal(now.ns / S, self->readings[i].time.ns / S);
    assert_int_equal(tb_clock_epoch(self->clock), self->readings[i].epoch);
    pthread_mutex_unlock(&self->lock);
    atomic_store(&self->phase, 2 * i + 2);
  }
  return NULL;
}

static tb_jump_handler_t *interpreter_begin(interpreter_t *self, tb_clock_t *clock,
                                            pthread_t *thread)
{
  *self = (interpreter_t){.lock = PTHREAD_MUTEX_INITIALIZER, .clock = clock};
  tb_jump_handler_options_t options = {.name = "interpreter",
                                       .threshold = {{0}, {-1}, true},
                                       .before = before_with_lock,
                                       .after = after_with_lock,
                                       .user = self};
  tb_jump_handler_t *handler = NULL;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  assert_int_equal(pthread_create(thread, NULL, interpret, self), 0);
  return handler;
}

/* What the other thread has read is what the callbacks have: the old time in the old epoch, then
 * the new time in the new one. */
static void interpreter_end(interpreter_t *self, tb_jump_handler_t *handler, pthread_t thread,
                            int64_t before_s, int64_t after_s)
{
  assert_int_equal(pthread_join(thread, NULL), 0);
  tb_jump_handler_destroy(handler);
  int64_t expected_s[2] = {before_s, after_s};
  for (int i = 0; i < 2; i++) {
    if (expected_s[i] >= 0) assert_int_equal(self->readings[i].time.ns / S, expected_s[i]);
    assert_int_equal(self->readings[i].epoch, self->own[i].epoch);
  }
}

static void test_J10_a_reader_with_a_lock_that_a_jump_wants(void **state)
{
  fixture_t *f = *state;
  interpreter_t interpreter;
  pthread_t thread;
  never_block(f->source, true);
  tb_jump_handler_t *handler = interpreter_begin(&interpreter, f->clock, &thread);
  assert_ok(tb_manual_source_set(f->source, 100 * S)); /* the first tick */
  interpreter_end(&interpreter, handler, thread, 0, 100);
  handler = interpreter_begin(&interpreter, f->clock, &thread);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  interpreter_end(&interpreter, handler, thread, 100, 50);
  assert_true(interpreter.readings[1].epoch > interpreter.readings[0].epoch);
}

static void test_J10_a_reader_with_a_lock_that_a_clock_change_wants(void **state)
{
  fixture_t *f = *state;
  interpreter_t interpreter;
  pthread_t thread;
  never_block(f->source, true);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  for (int i = 0; i < 2; i++) { /* away from the timeline with the option, and back to it */
    tb_jump_handler_t *handler = interpreter_begin(&interpreter, f->clock, &thread);
    assert_ok(tb_clock_set_source(f->clock, i ? f->source : NULL));
    interpreter_end(&interpreter, handler, thread, i ? -1 : 100, i ? 100 : -1);
    assert_true(interpreter.readings[1].epoch > interpreter.readings[0].epoch);
    assert_true(interpreter.readings[i].state == TB_CLOCK_INACTIVE ||
                interpreter.readings[!i].state == TB_CLOCK_INACTIVE);
  }
}

/* Until it has been dispatched, such readers see that nothing has started. */
static void tick_first(const shared_t *f, int64_t time_ns)
{
  tick(f, time_ns);
  assert_ok(tb_clock_wait_until_started(f->clock, NULL));
}

static void test_J10_a_reader_with_a_lock_on_shared_memory(void **state)
{
  shared_t *f = *state;
  interpreter_t interpreter;
  pthread_t thread;
  never_block(f->source, true);
  open_first_publisher(f);
  tick_first(f, 90 * S);
  tick(f, 100 * S);
  assert_int_equal(now_of(f->clock), 100 * S);
  tb_jump_handler_t *handler = interpreter_begin(&interpreter, f->clock, &thread);
  tick(f, 50 * S);
  interpreter_end(&interpreter, handler, thread, 100, 50);
  assert_true(interpreter.readings[1].epoch > interpreter.readings[0].epoch);
}

/* ---- what else would wait for a jump ---- */

typedef struct probe {
  fixture_t *f;
  const char *phase;
  pthread_t thread;
} probe_t;

/* On another thread than the jump's, in a callback of it. */
static void *use_the_clock(void *argument)
{
  probe_t *probe = argument;
  tb_clock_t *clock = probe->f->clock;
  tb_time_t now;
  assert_ok(tb_clock_try_now(clock, &now));
  tb_wait_options_t look = {.limit = TB_NO_WAIT};
  tb_status_t status = tb_clock_sleep_until(clock, (tb_time_t){60 * S, TB_TIME_ROS}, &look);
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = 10 * S;
  options.callback = on_timer;
  options.user = (void *)probe->phase;
  tb_timer_t *timer = NULL;
  assert_ok(tb_timer_create(probe->f->queue, clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  tb_time_t deadline;
  uint32_t calls = 0;
  assert_ok(tb_timer_next_deadline(timer, &deadline));
  assert_ok(tb_timer_queue_run_due(probe->f->queue, &calls));
  TRACE("%s: now %lld, sleep %s, deadline %lld, %u calls; ", probe->phase, (long long)(now.ns / S),
        tb_status_name(status), (long long)(deadline.ns / S), calls);
  return NULL;
}

static void use_in(fixture_t *f, const char *phase)
{
  probe_t probe = {f, phase, 0};
  assert_int_equal(pthread_create(&probe.thread, NULL, use_the_clock, &probe), 0);
  assert_int_equal(pthread_join(probe.thread, NULL), 0);
}

static void use_in_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  use_in(user, "before");
}

static void use_in_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  use_in(user, "after");
}

static void test_J10_waits_and_timers_begin_during_a_jump(void **state)
{
  fixture_t *f = *state;
  never_block(f->source, true);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .before = use_in_before, .after = use_in_after, .user = f};
  tb_jump_handler_t *handler = NULL;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  tb_jump_handler_destroy(handler);
  assert_string_equal(trace, "before: now 100, sleep TB_OK, deadline 110, 0 calls; "
                             "after: now 50, sleep TB_ERR_TIMEOUT, deadline 60, 0 calls; ");
  trace[0] = '\0';
  assert_ok(tb_manual_source_set(f->source, 60 * S)); /* M4: the first was started in the future */
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  assert_string_equal(trace, "before@60/60 after@60/60 ");
}

/* ---- setting the option ---- */

typedef struct blocked {
  fixture_t *f;
  pthread_t thread;
  int64_t read_ns;
} blocked_t;

static void *read_once(void *argument)
{
  blocked_t *self = argument;
  self->read_ns = now_of(self->f->clock);
  return NULL;
}

static void free_a_blocked_reader(const tb_jump_t *jump, void *user)
{
  (void)jump;
  blocked_t *self = user;
  assert_int_equal(pthread_create(&self->thread, NULL, read_once, self), 0);
  while (!atomic_load(&tb_source_timeline(self->f->source)->readers) &&
         !atomic_load(&self->f->clock->readers))
    sched_yield();
  never_block(self->f->source, true);
  assert_int_equal(pthread_join(self->thread, NULL), 0);
}

static void test_J10_the_option_frees_readers_that_a_jump_blocks(void **state)
{
  fixture_t *f = *state;
  blocked_t blocked = {.f = f};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_jump_handler_options_t options = {
      .threshold = {{0}, {-1}, true}, .before = free_a_blocked_reader, .user = &blocked};
  tb_jump_handler_t *handler = NULL;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_int_equal(blocked.read_ns, 100 * S);
  never_block(f->source, false);
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_int_equal(blocked.read_ns, 50 * S);
  tb_jump_handler_destroy(handler);
}

/* ---- shared memory ---- */

static void test_J10_a_jump_that_is_not_dispatched_is_not_seen(void **state)
{
  shared_t *f = *state;
  never_block(f->source, true);
  open_first_publisher(f);
  tick_first(f, 90 * S);
  tb_clock_reading_t before, during, after;
  assert_ok(tb_clock_read(f->clock, &before));
  take_turn(f->source); /* this process dispatches nothing */
  tick(f, 100 * S);
  tick(f, 101 * S); /* it could have seen this one */
  tick(f, 50 * S);
  tick(f, 60 * S);
  assert_ok(tb_clock_read(f->clock, &during));
  assert_int_equal(during.time.ns, 101 * S);
  assert_int_equal(during.epoch, before.epoch);
  tb_time_t now;
  assert_ok(tb_clock_try_now(f->clock, &now));
  assert_int_equal(now.ns, 101 * S);
  for (int i = 0; i < 300; i++) /* more than the page keeps the ends of */
    tick(f, (40 - i % 2) * S);
  assert_int_equal(now_of(f->clock), 101 * S);
  end_turn(f->source);
  do
    assert_ok(tb_clock_read(f->clock, &after));
  while (after.epoch == before.epoch);
  assert_int_equal(after.time.ns, 39 * S);
}

static void jump_back(const tb_jump_t *jump, void *user)
{
  (void)user;
  assert_true(jump->before.ns > 0);
  sched_yield();
}

/* C6 holds for such readers too. */
static void test_J10_time_and_epoch_fit_while_a_publisher_jumps(void **state)
{
  shared_t *f = *state;
  never_block(f->source, true);
  open_first_publisher(f);
  tick_first(f, 90 * S);
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .before = jump_back, .after = jump_back};
  tb_jump_handler_t *handler = NULL;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  never_falls_reader_t readers[2];
  never_falls_start(&readers[0], f->clock);
  never_falls_start(&readers[1], f->clock);
  for (int64_t round = 0; round < 20000; round++) {
    for (int64_t i = 0; i < 20; i++)
      tick(f, (100 + i) * S + round);
    tb_anchor_t anchor = TB_ANCHOR_INIT;
    anchor.time_ns = 120 * S + round;
    anchor.steady.ns = tb__steady_now_ns();
    anchor.rate = 1000;
    anchor.bound.ns = 100000 * S;
    if (round % 3 == 0)
      assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
    sched_yield();
  }
  never_falls_stop(&readers[0]);
  never_falls_stop(&readers[1]);
  tb_jump_handler_destroy(handler);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_J10_a_reader_with_a_lock_that_a_jump_wants),
      WITH_CLOCK(test_J10_a_reader_with_a_lock_that_a_clock_change_wants),
      ON_PAGE(test_J10_a_reader_with_a_lock_on_shared_memory),
      WITH_QUEUE(test_J10_waits_and_timers_begin_during_a_jump),
      WITH_CLOCK(test_J10_the_option_frees_readers_that_a_jump_blocks),
      ON_PAGE(test_J10_a_jump_that_is_not_dispatched_is_not_seen),
      ON_PAGE(test_J10_time_and_epoch_fit_while_a_publisher_jumps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
