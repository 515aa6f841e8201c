/* What comes after a tick is seen at its time, whatever runs meanwhile: sleepers that are due,
 * handlers of jumps, another clock that comes and goes with its own handlers, and stops of the
 * process or of one of its threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>

#include "never_falls.h"
#include "platform/time.h"
#include "seed.h"
#include "source/tick_queue.h"
#include "stopping.h"
#include "test.h"

#define S        TB_NS_PER_S
#define TICKS    20000
#define SLEEPERS 3
#define LATE_NS  (50 * TB_NS_PER_MS) /* a dispatch that is stopped so long lets readers in */

typedef struct stage {
  tb_source_t *source;
  tb_clock_t *clock, *other;
  tb__tick_queue_t queue;
  _Atomic bool over;
  _Atomic uint64_t jumps;
  uint64_t seed;
} stage_t;

static void on_jump(const tb_jump_t *jump, void *user)
{
  stage_t *stage = user;
  tb_time_t now;
  assert_ok(tb_clock_now(stage->clock, &now)); /* as its clock's own thread sees it */
  if (jump->kind != TB_JUMP_CLOCK_CHANGE) assert_int_equal(now.ns, jump->after.ns);
  atomic_fetch_add(&stage->jumps, 1);
}

static void on_change(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  sched_yield();
}

static void *sleep_often(void *argument)
{
  stage_t *stage = argument;
  uint64_t random = stage->seed;
  while (!atomic_load(&stage->over)) {
    tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
    options.limit.ns = TB_NS_PER_MS;
    options.flags = test_random(&random) % 2 ? TB_WAIT_FAIL_ON_BACKWARD : 0;
    tb_duration_t duration = {(int64_t)(test_random(&random) % (uint64_t)(2 * S))};
    tb_status_t status = tb_clock_sleep_for(stage->clock, duration, &options);
    assert_true(status == TB_OK || status == TB_ERR_TIMEOUT || status == TB_ERR_JUMP_BACKWARD);
  }
  return NULL;
}

static void *come_and_go(void *argument)
{
  stage_t *stage = argument;
  for (bool there = true; !atomic_load(&stage->over); there = !there) {
    assert_ok(tb_clock_set_source(stage->other, there ? NULL : stage->source));
    tb_time_t now;
    assert_ok(tb_clock_now(stage->other, &now));
  }
  return NULL;
}

/* Returns whether it is a jump, which no reader may see late; the passing of time may wait for the
 * turn of a clock that comes or goes. */
static bool choose(uint64_t *random, int64_t *time_ns)
{
  uint64_t choice = test_random(random);
  switch (choice % 8) {
  case 0:
    *time_ns = 1 + (int64_t)(choice >> 8) % *time_ns;
    return true;
  case 1:
    *time_ns += S + (int64_t)((choice >> 8) % (uint64_t)(100 * S));
    return true;
  default:
    *time_ns += (int64_t)(choice >> 8) % (50 * TB_NS_PER_MS);
    return false;
  }
}

static void tick_and_look(stage_t *stage)
{
  uint64_t random = stage->seed;
  int64_t time_ns = S / 2;
  for (int i = 0; i < TICKS; i++) {
    bool is_jump = i == 0 || choose(&random, &time_ns);
    tb_time_t now;
    int64_t begin_ns = tb__steady_now_ns();
    tb__tick_queue_tick(&stage->queue, time_ns);
    assert_ok(tb_clock_now(stage->clock, &now));
    if (is_jump && tb__steady_now_ns() - begin_ns < LATE_NS)
      assert_int_equal(now.ns, time_ns);
    else
      assert_true(now.ns <= time_ns);
  }
}

static void run_all(void)
{
  stage_t stage = {.seed = test_seed()};
  static never_falls_reader_t readers[2];
  tb_jump_handler_t *handlers[2];
  pthread_t threads[SLEEPERS + 1];
  tb_jump_handler_options_t jumps = {
      .threshold = {{S}, {-1}, true}, .after = on_jump, .user = &stage};
  tb_jump_handler_options_t changes = {
      .threshold.on_clock_change = true, .before = on_change, .after = on_change};
  assert_ok(tb_manual_source_create(&stage.source));
  tb_clock_options_t options = {TB_TIME_ROS, stage.source};
  assert_ok(tb_clock_create(&options, &stage.clock));
  assert_ok(tb_clock_create(&options, &stage.other));
  assert_ok(tb_jump_handler_create(stage.clock, &jumps, &handlers[0]));
  assert_ok(tb_jump_handler_create(stage.other, &changes, &handlers[1]));
  assert_ok(tb__tick_queue_init(&stage.queue, tb_source_timeline(stage.source), NULL, NULL, NULL));
  for (int i = 0; i <= SLEEPERS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, i < SLEEPERS ? sleep_often : come_and_go, &stage), 0);
  never_falls_start(&readers[0], stage.clock);
  never_falls_start(&readers[1], stage.other);
  tick_and_look(&stage);
  for (int i = 0; i < 2; i++)
    never_falls_stop(&readers[i]);
  atomic_store(&stage.over, true);
  for (int i = 0; i <= SLEEPERS; i++)
    pthread_join(threads[i], NULL);
  tb__tick_queue_fini(&stage.queue);
  assert_true(atomic_load(&stage.jumps) > TICKS / 8);
  for (int i = 0; i < 2; i++)
    tb_jump_handler_destroy(handlers[i]);
  assert_ok(tb_clock_destroy(stage.clock));
  assert_ok(tb_clock_destroy(stage.other));
  assert_ok(tb_source_destroy(stage.source));
}

static void test_X5_C6_messages_after_a_jump_are_at_its_time(void **state)
{
  (void)state;
  stopping_run(run_all, test_seed());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X5_C6_messages_after_a_jump_are_at_its_time),
  };
  int failed;
  do
    failed = cmocka_run_group_tests(tests, NULL, NULL);
  while (!failed && test_goes_on());
  return failed;
}
