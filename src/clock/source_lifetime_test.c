#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <timebase/source.h>

#include "clock/source.h"
#include "test.h"
#include "waiting.h"

#define S TB_NS_PER_S

/* A source whose stop waits until it is released, or for its own thread. */
typedef struct slow {
  tb_source_t *source;
  tb_clock_t *clock;
  pthread_t thread;
  bool has_thread;
  _Atomic bool stopping, released, stopped, destroyed_early, destroyed;
  _Atomic bool thread_wanted;
} slow_t;

static void slow_stop(void *self)
{
  slow_t *slow = self;
  atomic_store(&slow->stopping, true);
  while (!atomic_load(&slow->released))
    sched_yield();
  if (slow->has_thread) pthread_join(slow->thread, NULL);
  atomic_store(&slow->stopped, true);
}

static void slow_destroy(void *self)
{
  slow_t *slow = self;
  atomic_store(&slow->destroyed_early, !atomic_load(&slow->stopped));
  atomic_store(&slow->destroyed, true);
}

static const tb_source_ops_t slow_ops = {"slow", NULL, slow_stop, slow_destroy};

static void *leave(void *argument)
{
  slow_t *slow = argument;
  assert_ok(tb_clock_set_source(slow->clock, NULL));
  return NULL;
}

static void *destroy(void *argument)
{
  assert_ok(tb_source_destroy(((slow_t *)argument)->source));
  return NULL;
}

static void slow_setup(slow_t *slow)
{
  assert_ok(tb_source_create(&slow_ops, slow, &slow->source));
  tb_clock_options_t options = {TB_TIME_ROS, slow->source};
  assert_ok(tb_clock_create(&options, &slow->clock));
}

static void test_X1_destroying_a_source_waits_for_a_stop_in_progress(void **state)
{
  (void)state;
  static slow_t slow;
  pthread_t leaver, destroyer;
  slow_setup(&slow);
  pthread_create(&leaver, NULL, leave, &slow);
  while (!atomic_load(&slow.stopping))
    sched_yield();
  pthread_create(&destroyer, NULL, destroy, &slow);
  for (int i = 0; i < 1000; i++) /* chances to fail */
    sched_yield();
  assert_false(atomic_load(&slow.destroyed));
  atomic_store(&slow.released, true);
  pthread_join(leaver, NULL);
  pthread_join(destroyer, NULL);
  assert_true(atomic_load(&slow.destroyed));
  assert_false(atomic_load(&slow.destroyed_early));
  assert_ok(tb_clock_destroy(slow.clock));
}

static void *set_source_from_own_thread(void *argument)
{
  slow_t *slow = argument;
  while (!atomic_load(&slow->thread_wanted))
    sched_yield();
  assert_ok(tb_clock_set_source(slow->clock, NULL)); /* blocks for ever if a lock is held */
  return NULL;
}

static void test_X1_stop_may_join_a_thread_that_changes_the_clock(void **state)
{
  (void)state;
  static slow_t slow;
  slow.has_thread = true;
  atomic_store(&slow.released, true);
  slow_setup(&slow);
  pthread_create(&slow.thread, NULL, set_source_from_own_thread, &slow);
  pthread_t leaver;
  pthread_create(&leaver, NULL, leave, &slow);
  while (!atomic_load(&slow.stopping))
    sched_yield();
  atomic_store(&slow.thread_wanted, true);
  pthread_join(leaver, NULL);
  assert_true(atomic_load(&slow.stopped));
  assert_ok(tb_source_destroy(slow.source));
  assert_ok(tb_clock_destroy(slow.clock));
}

static void *wait_for_start(void *argument)
{
  assert_ok(tb_clock_wait_until_started(argument, NULL));
  return NULL;
}

static void test_X2_a_wait_for_the_start_is_a_deadline_of_the_first_tick(void **state)
{
  (void)state;
  tb_source_t *source;
  tb_clock_t *clock;
  pthread_t waiter;
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  pthread_create(&waiter, NULL, wait_for_start, clock);
  wait_for_waiters(clock, 1);
  assert_ok(tb_manual_source_advance_stepped(source, (tb_duration_t){S}, 3));
  pthread_join(waiter, NULL);
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  assert_int_equal(now.ns, S);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

typedef struct other_time {
  tb_timeline_t *timeline;
  tb_status_t tick, try_tick;
} other_time_t;

static void move_other(const tb_jump_t *jump, void *user)
{
  (void)jump;
  other_time_t *other = user;
  other->tick = tb_timeline_tick(other->timeline, 5 * S, TB_JUMP_REASON_NONE);
  other->try_tick = tb_timeline_try_tick(other->timeline, 5 * S);
}

static void test_J5_no_timeline_moves_from_a_jump_callback(void **state)
{
  (void)state;
  tb_source_t *source, *bystander;
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_create(&bystander));
  other_time_t other = {.timeline = tb_source_timeline(bystander)};
  tb_clock_options_t options = {TB_TIME_ROS, source};
  tb_jump_handler_options_t handler_options = TB_JUMP_HANDLER_OPTIONS_INIT;
  handler_options.threshold.on_clock_change = true;
  handler_options.before = move_other;
  handler_options.user = &other;
  assert_ok(tb_clock_create(&options, &clock));
  assert_ok(tb_jump_handler_create(clock, &handler_options, &handler));
  assert_ok(tb_manual_source_set(source, S));
  assert_status(other.tick, TB_ERR_DEADLOCK);
  assert_status(other.try_tick, TB_ERR_DEADLOCK);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_destroy(bystander));
}

typedef struct revocation {
  tb_source_t *source;
  bool stops;
} revocation_t;

static void *revoke(void *argument)
{
  revocation_t *revocation = argument;
  revocation->stops = tb__source_revoke(revocation->source);
  return NULL;
}

/* A clock that leaves meanwhile must not stop the source: it could be freed while the thread that
 * revoked the last use is still detaching it. */
static void test_X1_a_source_is_not_stopped_while_its_last_user_detaches_it(void **state)
{
  (void)state;
  tb_source_t *source;
  pthread_t thread;
  assert_ok(tb_manual_source_create(&source));
  tb_timeline_t *timeline = tb_source_timeline(source);
  for (int i = 0; i < 2; i++)
    assert_ok(tb__source_acquire(source, INT64_MAX));
  tb__source_begin_leave(source);
  revocation_t revocation = {.source = source};
  tb__mutex_lock(&timeline->mutex); /* the revocation stops halfway */
  assert_int_equal(pthread_create(&thread, NULL, revoke, &revocation), 0);
  while (atomic_load(&source->phase) != TB__SOURCE_CHANGING)
    sched_yield();
  bool stops = tb__source_end_leave(source);
  tb__mutex_unlock(&timeline->mutex);
  pthread_join(thread, NULL);
  assert_false(stops);
  assert_true(revocation.stops);
  tb__source_stop(source);
  assert_ok(tb_source_destroy(source));
}

/* TB_SOURCE_DEFAULT is not a source of any kind. */
static void test_X7_calls_for_a_kind_of_source_refuse_the_default(void **state)
{
  (void)state;
  tb_extrapolating_stats_t stats;
  tb_shm_status_t shm;
  tb_source_t *none = TB_SOURCE_DEFAULT;
  assert_status(tb_manual_source_set(none, S), TB_ERR_INVALID);
  assert_status(tb_manual_source_advance(none, (tb_duration_t){S}), TB_ERR_INVALID);
  assert_status(tb_manual_source_advance_to_next(none), TB_ERR_INVALID);
  assert_status(tb_manual_source_set_and_run(none, S, NULL), TB_ERR_INVALID);
  assert_status(tb_manual_source_wait_for_sleepers(none, 1, NULL), TB_ERR_INVALID);
  assert_status(tb_extrapolating_source_stats(none, &stats), TB_ERR_INVALID);
  assert_status(tb_shm_source_status(none, &shm), TB_ERR_INVALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X1_destroying_a_source_waits_for_a_stop_in_progress),
      cmocka_unit_test(test_X1_stop_may_join_a_thread_that_changes_the_clock),
      cmocka_unit_test(test_X2_a_wait_for_the_start_is_a_deadline_of_the_first_tick),
      cmocka_unit_test(test_X1_a_source_is_not_stopped_while_its_last_user_detaches_it),
      cmocka_unit_test(test_X7_calls_for_a_kind_of_source_refuse_the_default),
      cmocka_unit_test(test_J5_no_timeline_moves_from_a_jump_callback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
