/* Jump handlers that are destroyed while their callbacks run, inert until the jump is over, and all
 * that is on a clock, destroyed in any order (address sanitizer checks it). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>
#include <timebase/jump.h>

#include "on_manual_source.h"
#include "waiting.h"

static void wait_for(_Atomic bool *flag)
{
  while (!atomic_load(flag))
    sched_yield();
}

/* ---- jump handlers ---- */

typedef struct handler_scene {
  tb_jump_handler_t *handler;
  tb_clock_t *clock;
  bool by_itself, in_after;
  tb_duration_t limit; /* of the destroyer; < 0: without the form that has one */
  _Atomic bool inside;
  int before, after;
} handler_scene_t;

static bool is_leaving(const handler_scene_t *scene)
{
  tb_timeline_t *timeline;
  tb__clock_lock(scene->clock, &timeline);
  bool leaving = scene->handler->leaving;
  tb__clock_unlock(timeline);
  return leaving;
}

static void use_destroyed_handler(handler_scene_t *scene)
{
  atomic_store(&scene->inside, true);
  if (scene->by_itself)
    tb_jump_handler_destroy(scene->handler);
  else
    while (!is_leaving(scene))
      sched_yield();
  for (int round = 0; round < 2; round++) {
    assert_status(tb_jump_handler_destroy_within(scene->handler, (tb_duration_t){S}),
                  TB_ERR_CLOSED);
    tb_jump_handler_destroy(scene->handler);
  }
}

static void on_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  handler_scene_t *scene = user;
  scene->before++;
  if (!scene->in_after) use_destroyed_handler(scene);
}

static void on_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  handler_scene_t *scene = user;
  scene->after++;
  if (scene->in_after) use_destroyed_handler(scene);
}

static tb_jump_handler_t *handler_on(tb_clock_t *clock, tb_jump_callback_t before,
                                     tb_jump_callback_t after, void *user)
{
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold = {{0}, {-1}, true}, .before = before, .after = after, .user = user};
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

static void *destroy_handler(void *argument)
{
  handler_scene_t *scene = argument;
  wait_for(&scene->inside);
  if (scene->limit.ns < 0)
    tb_jump_handler_destroy(scene->handler);
  else
    assert_ok(tb_jump_handler_destroy_within(scene->handler, scene->limit));
  return NULL;
}

static void jump(fixture_t *f)
{
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_ok(tb_manual_source_set(f->source, S));
}

static void handler_case(fixture_t *f, handler_scene_t scene)
{
  pthread_t destroyer;
  assert_ok(tb_manual_source_set(f->source, S));
  scene.clock = f->clock;
  scene.handler = handler_on(f->clock, on_before, on_after, &scene);
  if (!scene.by_itself) pthread_create(&destroyer, NULL, destroy_handler, &scene);
  jump(f);
  if (!scene.by_itself) pthread_join(destroyer, NULL);
  jump(f);
  assert_int_equal(scene.before, 1);
  assert_int_equal(scene.after, scene.by_itself && !scene.in_after ? 0 : 1);
}

static void test_J6_a_destroyed_handler_is_inert_while_its_jump_goes_on(void **state)
{
  for (int i = 0; i < 2; i++) {
    handler_case(*state, (handler_scene_t){.in_after = i, .by_itself = true});
    handler_case(*state, (handler_scene_t){.in_after = i, .limit = {-1}});
    handler_case(*state, (handler_scene_t){.in_after = i, .limit = {0}});
    handler_case(*state, (handler_scene_t){.in_after = i, .limit = {INT64_MAX}});
  }
}

static void never(const tb_jump_t *info, void *user)
{
  (void)info;
  (void)user;
  fail();
}

static void test_L1_a_handler_may_be_destroyed_after_its_clock(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *own, *none;
  tb_steady_clock_t *steady;
  tb_jump_handler_t *handlers[4];
  tb_clock_options_t of_source = {TB_TIME_ROS, f->source}, of_none = {TB_TIME_ROS, NULL};
  tb_jump_handler_options_t options = {.threshold = {{S}, {-1}, true}, .before = never};
  assert_ok(tb_clock_create(&of_source, &own));
  assert_ok(tb_clock_create(&of_none, &none));
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_jump_handler_create(own, &options, &handlers[0]));
  assert_ok(tb_jump_handler_create(own, &options, &handlers[1]));
  assert_ok(tb_jump_handler_create(none, &options, &handlers[2]));
  assert_ok(tb_steady_clock_jump_handler_create(steady, &options, &handlers[3]));
  assert_ok(tb_clock_destroy(own));
  assert_ok(tb_clock_destroy(none));
  assert_ok(tb_steady_clock_destroy(steady));
  jump(f);
  tb_jump_handler_destroy(handlers[1]);
  assert_ok(tb_jump_handler_destroy_within(handlers[0], (tb_duration_t){S}));
  tb_jump_handler_destroy(handlers[2]);
  tb_jump_handler_destroy(handlers[3]);
}

typedef struct closing {
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  _Atomic bool inside, clock_gone;
  tb_time_t last;
} closing_t;

static bool is_closed(const tb_clock_t *clock)
{
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  bool closed = clock->closed;
  tb__clock_unlock(timeline);
  return closed;
}

static void *destroy_clock(void *argument)
{
  closing_t *closing = argument;
  wait_for(&closing->inside);
  assert_ok(tb_clock_destroy(closing->clock));
  atomic_store(&closing->clock_gone, true);
  return NULL;
}

/* Its own destruction, while the clock's destroyer waits for it, and the clock stays in use. */
static void destroy_in_closing(const tb_jump_t *info, void *user)
{
  (void)info;
  closing_t *closing = user;
  atomic_store(&closing->inside, true);
  while (!is_closed(closing->clock))
    sched_yield();
  tb_jump_handler_destroy(closing->handler);
  for (int i = 0; i < 100; i++)
    sched_yield();
  assert_false(atomic_load(&closing->clock_gone));
  assert_ok(tb_clock_now(closing->clock, &closing->last));
}

static void test_L1_a_clock_waits_for_a_handler_that_is_destroyed_in_its_callback(void **state)
{
  fixture_t *f = *state;
  closing_t closing = {0};
  pthread_t destroyer;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_ok(tb_clock_create(&options, &closing.clock));
  closing.handler = handler_on(closing.clock, NULL, destroy_in_closing, &closing);
  pthread_create(&destroyer, NULL, destroy_clock, &closing);
  assert_ok(tb_manual_source_set(f->source, S));
  pthread_join(destroyer, NULL);
  assert_int_equal(closing.last.ns, S);
}

static void do_nothing(const tb_jump_t *info, void *user)
{
  (void)info;
  (void)user;
}

static void *destroy_both_times(void *argument)
{
  closing_t *closing = argument;
  wait_for(&closing->inside);
  tb_jump_handler_destroy(closing->handler);
  return NULL;
}

static void test_L1_a_handler_and_its_clock_are_destroyed_at_once(void **state)
{
  fixture_t *f = *state;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  for (int i = 0; i < 200; i++) {
    closing_t closing = {0};
    pthread_t threads[2];
    assert_ok(tb_manual_source_set(f->source, 2 * S));
    assert_ok(tb_clock_create(&options, &closing.clock));
    closing.handler = handler_on(closing.clock, do_nothing, do_nothing, NULL);
    pthread_create(&threads[0], NULL, destroy_clock, &closing);
    pthread_create(&threads[1], NULL, destroy_both_times, &closing);
    atomic_store(&closing.inside, true);
    assert_ok(tb_manual_source_set(f->source, S));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
  }
}

typedef struct blocking {
  _Atomic bool inside, go_on;
  int calls;
} blocking_t;

static void block(const tb_jump_t *info, void *user)
{
  (void)info;
  blocking_t *blocking = user;
  blocking->calls++;
  atomic_store(&blocking->inside, true);
  wait_for(&blocking->go_on);
}

static void *jump_back(void *source)
{
  assert_ok(tb_manual_source_set(source, S));
  return NULL;
}

static void test_L1_a_clock_that_is_closed_calls_no_handler_and_gets_none(void **state)
{
  fixture_t *f = *state;
  blocking_t blocking = {0};
  tb_clock_t *clock;
  pthread_t mover;
  tb_clock_options_t options = {TB_TIME_ROS, f->source};
  assert_ok(tb_manual_source_set(f->source, 2 * S));
  assert_ok(tb_clock_create(&options, &clock));
  tb_jump_handler_t *handler = handler_on(clock, block, NULL, &blocking), *refused = NULL;
  pthread_create(&mover, NULL, jump_back, f->source);
  wait_for(&blocking.inside);
  assert_status(tb_clock_destroy_within(clock, (tb_duration_t){1}), TB_ERR_TIMEOUT);
  tb_jump_handler_options_t late = {.threshold.on_clock_change = true, .before = never};
  assert_status(tb_jump_handler_create(clock, &late, &refused), TB_ERR_CLOSED);
  assert_null(refused);
  atomic_store(&blocking.go_on, true);
  pthread_join(mover, NULL);
  jump(f);
  assert_int_equal(blocking.calls, 1);
  assert_ok(tb_clock_destroy(clock));
  tb_jump_handler_destroy(handler);
}

/* ---- everything, in any order ---- */

enum { SOURCE, CLOCK, HANDLER, TIMER, QUEUE, COND, RATE, KINDS };

static void destroy_all(const int order[KINDS])
{
  tb_source_t *source;
  tb_clock_t *clock;
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  tb_cond_t *cond;
  tb_rate_t *rate;
  bool has_queue = true;
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_ok(tb_manual_source_set(source, S));
  tb_jump_handler_t *handler = handler_on(clock, do_nothing, do_nothing, NULL);
  assert_ok(tb_timer_queue_create(&queue));
  tb_timer_options_t every_second = TB_TIMER_OPTIONS_INIT;
  every_second.period.ns = S;
  every_second.callback = on_timer;
  assert_ok(tb_timer_create(queue, clock, &every_second, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_cond_create(clock, &cond));
  assert_ok(tb_rate_create(clock, ((tb_duration_t){S}), &rate));
  for (int i = 0; i < KINDS; i++) {
    switch (order[i]) {
    case SOURCE:
      assert_ok(tb_source_destroy(source));
      break;
    case CLOCK:
      assert_ok(tb_clock_destroy(clock));
      break;
    case HANDLER:
      tb_jump_handler_destroy(handler);
      break;
    case TIMER: /* its memory goes with the queue */
      if (has_queue) tb_timer_destroy(timer);
      break;
    case QUEUE:
      assert_ok(tb_timer_queue_destroy(queue));
      has_queue = false;
      break;
    case COND:
      assert_ok(tb_cond_destroy(cond));
      break;
    case RATE:
      tb_rate_destroy(rate);
      break;
    }
  }
}

static void permute(int order[KINDS], int from)
{
  if (from == KINDS) destroy_all(order);
  for (int i = from; i < KINDS; i++) {
    int first = order[from];
    order[from] = order[i];
    order[i] = first;
    permute(order, from + 1);
    order[i] = order[from];
    order[from] = first;
  }
}

static void test_L1_what_is_on_a_clock_is_destroyed_in_any_order(void **state)
{
  (void)state;
  int order[KINDS] = {SOURCE, CLOCK, HANDLER, TIMER, QUEUE, COND, RATE};
  permute(order, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_J6_a_destroyed_handler_is_inert_while_its_jump_goes_on),
      WITH_CLOCK(test_L1_a_handler_may_be_destroyed_after_its_clock),
      WITH_CLOCK(test_L1_a_clock_waits_for_a_handler_that_is_destroyed_in_its_callback),
      WITH_CLOCK(test_L1_a_handler_and_its_clock_are_destroyed_at_once),
      WITH_CLOCK(test_L1_a_clock_that_is_closed_calls_no_handler_and_gets_none),
      cmocka_unit_test(test_L1_what_is_on_a_clock_is_destroyed_in_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
