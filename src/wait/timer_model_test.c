/* Timers against a model that checks all of them, under random calls, while others read the
 * clocks and are stopped. */
#include <stdlib.h>
#include <timebase/generic.h>

#include "never_falls.h"
#include "on_manual_source.h"
#include "seed.h"
#include "stopping.h"
#include "wait/lane_check.h"
#include "wait/timer_queue.h"

#define TIMERS 60
#define STEPS  20000

typedef struct model {
  tb_timer_t *timer;
  int lane;
  bool running;
  int64_t period_ns, deadline_ns, last_ns;
  uint64_t order; /* of its start */
} model_t;

static model_t models[TIMERS];
static uint64_t random_state, last_order;
static int64_t now_ns;
static tb_clock_t *clocks[2]; /* of the two lanes, on the same source */
static tb_source_t *sources[2];
static bool in_use; /* which of them */
static int called[TIMERS], expected[TIMERS], calls;

static uint32_t draw(uint32_t below)
{
  return (uint32_t)((test_random(&random_state) >> 20) % below);
}

static void note_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  assert_true(calls < TIMERS);
  called[calls++] = (int)((model_t *)user - models);
}

static void create(fixture_t *f, model_t *model)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  *model = (model_t){.period_ns = 1 + draw(8), .lane = (int)draw(2)};
  options.period.ns = model->period_ns;
  options.callback = note_call;
  options.user = model;
  assert_ok(tb_timer_create(f->queue, clocks[model->lane], &options, &model->timer));
}

static void start(model_t *model)
{
  assert_ok(tb_timer_start(model->timer));
  model->running = true;
  model->deadline_ns = now_ns + model->period_ns;
  model->last_ns = now_ns;
  model->order = ++last_order;
}

static void stop(model_t *model)
{
  assert_ok(tb_timer_stop(model->timer));
  model->running = false;
}

static void set_period(model_t *model)
{
  model->period_ns = 1 + draw(8);
  assert_ok(tb_timer_set_period(model->timer, (tb_duration_t){model->period_ns}));
}

/* Numbers only rise: one that has been given out must not be given out again. */
static void use_up_numbers_of(tb__heap_t *heap, uint64_t last_seq)
{
  if (heap->last_seq < last_seq) heap->last_seq = last_seq;
}

/* Starts are numbered from 1 again soon. */
static void use_up_numbers(const fixture_t *f)
{
  for (tb__lane_t *lane = atomic_load(&f->queue->lanes); lane; lane = lane->next)
    use_up_numbers_of(&lane->heap, TB__HEAP_LAST_SEQ - draw(3));
}

/* To a source whose time may be far away. What is left of each wait stays. */
static void change_source(void)
{
  static const int64_t bases[] = {1000, 2000, 3 * (INT64_C(1) << 60)};
  int64_t by_ns = bases[draw(3)] + draw(1000) - now_ns;
  now_ns += by_ns;
  in_use = !in_use;
  assert_ok(tb_manual_source_set(sources[in_use], now_ns));
  for (int i = 0; i < 2; i++)
    assert_ok(tb_clock_set_source(clocks[i], sources[in_use]));
  for (int i = 0; i < TIMERS; i++) {
    models[i].deadline_ns += by_ns;
    models[i].last_ns += by_ns;
  }
}

static bool precedes(const model_t *a, const model_t *b)
{
  return a->deadline_ns < b->deadline_ns ||
         (a->deadline_ns == b->deadline_ns && a->order < b->order);
}

static bool is_of(const model_t *model, int lanes)
{
  return lanes & 1 << model->lane;
}

static model_t *first_running(int lanes, int64_t until_ns)
{
  model_t *best = NULL;
  for (int i = 0; i < TIMERS; i++)
    if (models[i].running && is_of(&models[i], lanes) && models[i].deadline_ns <= until_ns &&
        (!best || precedes(&models[i], best)))
      best = &models[i];
  return best;
}

static void tick(fixture_t *f, int64_t to_ns)
{
  bool back = to_ns < now_ns;
  model_t *model;
  int due = 0;
  now_ns = to_ns;
  for (int i = 0; back && i < TIMERS; i++) {
    if (models[i].last_ns <= now_ns) continue;
    models[i].last_ns = now_ns;
    models[i].deadline_ns = now_ns + models[i].period_ns;
  }
  while ((model = first_running(3, now_ns))) {
    expected[due++] = (int)(model - models);
    model->last_ns = now_ns;
    while (model->deadline_ns <= now_ns)
      model->deadline_ns += model->period_ns;
  }
  calls = 0;
  assert_ok(tb_manual_source_set(sources[in_use], to_ns));
  assert_ok(tb_timer_queue_run_due(f->queue, NULL));
  assert_int_equal(calls, due);
  for (int i = 0; i < due; i++)
    assert_int_equal(called[i], expected[i]);
}

static void check_deadlines(const fixture_t *f)
{
  tb_time_t deadline;
  for (int lane = 0; lane < 2; lane++) {
    const model_t *first = first_running(1 << lane, INT64_MAX);
    assert_status(tb_timer_queue_next_deadline(f->queue, clocks[lane], &deadline),
                  first ? TB_OK : TB_ERR_NOT_FOUND);
    if (first) assert_int_equal(deadline.ns, first->deadline_ns);
  }
  for (int i = 0; i < TIMERS; i++) {
    assert_int_equal(tb_timer_is_running(models[i].timer), models[i].running);
    assert_status(tb_timer_next_deadline(models[i].timer, &deadline),
                  models[i].running ? TB_OK : TB_ERR_NOT_FOUND);
    if (models[i].running) assert_int_equal(deadline.ns, models[i].deadline_ns);
  }
}

static void check_lanes(const fixture_t *f)
{
  const char *wrong = tb__timer_queue_check(f->queue);
  if (wrong) fail_msg("%s", wrong);
}

static void agree_with_model(void)
{
  static never_falls_reader_t readers[2];
  void *state;
  setup_with_queue(&state);
  fixture_t *f = state;
  random_state = test_seed() * UINT64_C(0x9E3779B97F4A7C15);
  now_ns = 1000;
  tb_clock_t *holders[2]; /* so that neither source is ever without a clock */
  sources[0] = f->source;
  assert_ok(tb_manual_source_create(&sources[1]));
  for (int i = 0; i < 2; i++)
    assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, sources[i]}, &holders[i]));
  clocks[0] = f->clock;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, f->source}, &clocks[1]));
  assert_ok(tb_manual_source_set(f->source, now_ns));
  for (int i = 0; i < TIMERS; i++)
    create(f, &models[i]);
  for (int i = 0; i < 2; i++)
    never_falls_start(&readers[i], clocks[i]);
  for (int step = 0; step < STEPS; step++) {
    model_t *model = &models[draw(TIMERS)];
    uint32_t choice = draw(18);
    if (choice < 6) {
      start(model);
    } else if (choice < 11) {
      stop(model);
    } else if (choice == 11) {
      tb_timer_destroy(model->timer);
      create(f, model);
    } else if (choice == 12) {
      tick(f, now_ns - draw(5));
    } else if (choice == 13) {
      set_period(model);
    } else {
      tick(f, now_ns + draw(4));
    }
    if (step % 97 == 0) use_up_numbers(f);
    if (step % 211 == 0) change_source();
    if (step % 8 == 0) check_lanes(f);
    if (draw(16) == 0) check_deadlines(f); /* which repositions what was put off */
  }
  for (int i = 0; i < 2; i++)
    never_falls_stop(&readers[i]);
  for (int i = 0; i < TIMERS; i++)
    tb_timer_destroy(models[i].timer);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  tb_clock_destroy(clocks[1]);
  for (int i = 0; i < 2; i++)
    tb_clock_destroy(holders[i]);
  assert_ok(tb_source_destroy(sources[1]));
  teardown_with_queue(&state);
}

static void test_M2_M5_C6_calls_and_deadlines_agree_with_a_model(void **state)
{
  (void)state;
  stopping_run(agree_with_model, test_seed());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_M2_M5_C6_calls_and_deadlines_agree_with_a_model),
  };
  int failed;
  do
    failed = cmocka_run_group_tests(tests, NULL, NULL);
  while (!failed && test_goes_on());
  return failed;
}
