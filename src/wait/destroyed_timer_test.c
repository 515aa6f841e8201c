/* Timers that are destroyed while their callbacks run: inert until the callback has returned, freed
 * after it (address sanitizer checks it). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>

#include "on_manual_source.h"

static void wait_for(_Atomic bool *flag)
{
  while (!atomic_load(flag))
    sched_yield();
}

/* Everything that takes a timer and returns a status. */
static tb_status_t call_start(tb_timer_t *timer)
{
  return tb_timer_start(timer);
}

static tb_status_t call_stop(tb_timer_t *timer)
{
  return tb_timer_stop(timer);
}

static tb_status_t call_stop_wait(tb_timer_t *timer)
{
  return tb_timer_stop_wait(timer, TB_NO_LIMIT);
}

static tb_status_t call_set_period(tb_timer_t *timer)
{
  return tb_timer_set_period(timer, (tb_duration_t){1});
}

static tb_status_t call_next_deadline(tb_timer_t *timer)
{
  tb_time_t time = {0};
  tb_steady_time_t steady = {0};
  tb_status_t status = tb_clock_timer_next_deadline(timer, &time);
  if (status == TB_ERR_CLOCK_MISMATCH) status = tb_steady_clock_timer_next_deadline(timer, &steady);
  return status;
}

static const struct {
  const char *name;
  tb_status_t (*call)(tb_timer_t *timer);
} timer_calls[] = {
    {"start", call_start},
    {"stop", call_stop},
    {"stop_wait", call_stop_wait},
    {"set_period", call_set_period},
    {"next_deadline", call_next_deadline},
};

typedef struct timer_scene {
  tb_timer_t *timer;
  bool by_itself;
  _Atomic bool inside, destroyed, left;
  int calls;
} timer_scene_t;

static void use_destroyed_timer(tb_timer_t *timer, timer_scene_t *scene)
{
  scene->calls++;
  atomic_store(&scene->inside, true);
  if (scene->by_itself)
    tb_timer_destroy(timer);
  else
    wait_for(&scene->destroyed);
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof timer_calls / sizeof *timer_calls; i++) {
      tb_status_t status = timer_calls[i].call(timer);
      if (status != TB_ERR_CLOSED)
        fail_msg("%s of a destroyed timer: %s", timer_calls[i].name, tb_status_name(status));
    }
    assert_false(tb_timer_is_running(timer));
    tb_timer_destroy(timer); /* again: does nothing */
  }
  atomic_store(&scene->left, true);
}

static void on_clock_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)info;
  use_destroyed_timer(timer, user);
}

static void on_steady_timer(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)info;
  use_destroyed_timer(timer, user);
}

static void *destroy_timer(void *argument)
{
  timer_scene_t *scene = argument;
  wait_for(&scene->inside);
  tb_timer_destroy(scene->timer);
  atomic_store(&scene->destroyed, true);
  return NULL;
}

typedef struct timer_case {
  tb_clock_t *clock; /* NULL: the steady one */
  tb_steady_clock_t *steady;
  tb_timer_mode_t mode;
  bool by_itself, thread;
} timer_case_t;

static tb_timer_t *timer_of(tb_timer_queue_t *queue, const timer_case_t *c, timer_scene_t *scene)
{
  tb_timer_t *timer;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  tb_steady_timer_options_t steady = TB_STEADY_TIMER_OPTIONS_INIT;
  options.mode = steady.mode = c->mode;
  options.period.ns = steady.period.ns = 1;
  options.user = steady.user = scene;
  options.callback = on_clock_timer;
  steady.callback = on_steady_timer;
  steady.at.ns = 1;
  tb_time_t now;
  if (c->clock) {
    assert_ok(tb_now(c->clock, &now));
    options.at = (tb_time_t){1, now.kind};
    assert_ok(tb_timer_create(queue, c->clock, &options, &timer));
  } else {
    assert_ok(tb_timer_create(queue, c->steady, &steady, &timer));
  }
  return timer;
}

static void count(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  ++*(int *)user;
}

/* No place of a timer was given away twice. */
static void expect_three_timers_work(fixture_t *f, tb_clock_t *clock, tb_timer_queue_t *queue)
{
  int calls[3] = {0};
  tb_timer_t *timers[3];
  tb_time_t now;
  assert_ok(tb_now(clock, &now));
  for (int i = 0; i < 3; i++) {
    tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
    options.mode = TB_TIMER_ONE_SHOT_AT;
    options.at = (tb_time_t){1, now.kind};
    options.callback = count;
    options.user = &calls[i];
    assert_ok(tb_timer_create(queue, clock, &options, &timers[i]));
    assert_ok(tb_timer_start(timers[i]));
  }
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){S}));
  assert_ok(tb_timer_queue_run_due(queue, NULL));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(calls[i], 1);
    tb_timer_destroy(timers[i]);
  }
}

static void timer_case(fixture_t *f, const timer_case_t *c)
{
  timer_scene_t scene = {.by_itself = c->by_itself};
  tb_timer_queue_t *queue;
  pthread_t destroyer;
  tb_time_t deadline;
  assert_ok(tb_timer_queue_create(&queue));
  scene.timer = timer_of(queue, c, &scene);
  assert_ok(tb_timer_start(scene.timer));
  if (!c->by_itself) pthread_create(&destroyer, NULL, destroy_timer, &scene);
  if (c->thread) assert_ok(tb_timer_queue_start_thread(queue));
  assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){S}));
  do {
    if (!c->thread) assert_ok(tb_timer_queue_run_due(queue, NULL));
  } while (!atomic_load(&scene.left) && !sched_yield());
  if (c->thread) assert_ok(tb_timer_queue_stop_thread(queue, TB_NO_LIMIT));
  if (!c->by_itself) pthread_join(destroyer, NULL);
  assert_int_equal(scene.calls, 1);
  if (c->clock) {
    assert_status(tb_timer_queue_next_deadline(queue, c->clock, &deadline), TB_ERR_NOT_FOUND);
    expect_three_timers_work(f, c->clock, queue);
    assert_int_equal(scene.calls, 1);
  }
  assert_ok(tb_timer_queue_destroy(queue));
}

static void test_M5_a_destroyed_timer_is_inert_while_its_call_runs(void **state)
{
  fixture_t *f = *state;
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_clock_create(&options, &system));
  assert_ok(tb_manual_source_set(f->source, S));
  tb_clock_t *clocks[] = {f->clock, system, NULL};
  for (int i = 0; i < 3; i++)
    for (tb_timer_mode_t mode = TB_TIMER_PERIODIC; mode <= TB_TIMER_ONE_SHOT_AT; mode++)
      for (int way = 0; way < 4; way++)
        timer_case(f, &(timer_case_t){clocks[i], steady, mode, way & 1, way & 2});
  assert_ok(tb_clock_destroy(system));
  assert_ok(tb_steady_clock_destroy(steady));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_M5_a_destroyed_timer_is_inert_while_its_call_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
