/* Waiting for a state of a clock whose time comes through a page, publisher and reader in one
 * process. */
#include <pthread.h>
#include <stdlib.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <unistd.h>

#include "on_manual_source.h"
#include "waiting.h"

#define BIT(state) TB_CLOCK_STATE_BIT(TB_CLOCK_##state)

typedef struct shared {
  char directory[64];
  tb_shm_options_t options;
  tb_shm_publisher_t *publisher;
  tb_source_t *source;
  tb_clock_t *clock;
} shared_t;

static int setup_shared(void **state)
{
  static shared_t f;
  f = (shared_t){.directory = "/tmp/timebase-shm-state-XXXXXX", .options = TB_SHM_OPTIONS_INIT};
  assert_non_null(mkdtemp(f.directory));
  f.options.directory = f.directory;
  assert_ok(tb_shm_source_create("test", &f.options, &f.source, NULL));
  tb_clock_options_t clock = {TB_TIME_ROS, f.source};
  assert_ok(tb_clock_create(&clock, &f.clock));
  *state = &f;
  return 0;
}

static int teardown_shared(void **state)
{
  shared_t *f = *state;
  char path[128];
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  tb_shm_publisher_close(f->publisher);
  snprintf(path, sizeof path, "%s/timebase.test", f->directory);
  unlink(path);
  assert_int_equal(rmdir(f->directory), 0);
  return 0;
}

typedef struct waiting {
  tb_clock_t *clock;
  uint32_t states;
  pthread_t thread;
  tb_status_t status;
  tb_clock_reading_t reading;
} waiting_t;

static void *wait_thread(void *argument)
{
  waiting_t *w = argument;
  w->status = tb_clock_wait_for_state(w->clock, w->states, NULL, &w->reading);
  return NULL;
}

static void start(waiting_t *w, const shared_t *f, uint32_t states)
{
  *w = (waiting_t){.clock = f->clock, .states = states};
  int before = waiters_on(f->clock);
  pthread_create(&w->thread, NULL, wait_thread, w);
  wait_for_waiters(f->clock, before + 1);
}

static void finish(waiting_t *w, tb_clock_state_t state)
{
  pthread_join(w->thread, NULL);
  assert_status(w->status, TB_OK);
  assert_int_equal(w->reading.state, state);
}

static void tick(const shared_t *f, int64_t time_ns)
{
  assert_ok(tb_shm_publisher_tick(f->publisher, time_ns, TB_JUMP_REASON_NONE));
}

static void test_X3_C8_states_of_a_publisher(void **state)
{
  shared_t *f = *state;
  waiting_t w, stalled;
  tb_error_t error = TB_ERROR_INIT;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = 0; /* until it is wanted */
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
  assert_ok(tb_clock_wait_for_state(f->clock, BIT(NO_PUBLISHER), NULL, NULL));
  start(&w, f, BIT(WAITING));
  assert_ok(tb_shm_publisher_open("test", &f->options, &f->publisher, &error));
  finish(&w, TB_CLOCK_WAITING);
  start(&w, f, BIT(RUNNING));
  tick(f, 5 * S);
  finish(&w, TB_CLOCK_RUNNING);
  assert_int_equal(w.reading.time.ns, 5 * S);

  start(&w, f, BIT(PAUSED) | BIT(LOST));
  while (waiters_on(f->clock))
    tick(f, 5 * S);
  finish(&w, TB_CLOCK_PAUSED);
  start(&w, f, BIT(RUNNING));
  tick(f, 6 * S);
  finish(&w, TB_CLOCK_RUNNING);

  start(&stalled, f, BIT(STALLED));
  options.stall_limit.ns = S / 10;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
  finish(&stalled, TB_CLOCK_STALLED);
  assert_int_equal(stalled.reading.time.ns, 6 * S);
  start(&w, f, BIT(RUNNING));
  for (int64_t i = 0; waiters_on(f->clock); i++) /* the machine may be slower than the limit */
    tick(f, 7 * S + i);
  finish(&w, TB_CLOCK_RUNNING);
  options.stall_limit.ns = 0;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));

  start(&w, f, BIT(LOST));
  tb_shm_publisher_close(f->publisher);
  finish(&w, TB_CLOCK_LOST);
  start(&w, f, BIT(RUNNING));
  assert_ok(tb_shm_publisher_open("test", &f->options, &f->publisher, &error));
  tick(f, 8000 * S);
  finish(&w, TB_CLOCK_RUNNING);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_X3_C8_states_of_a_publisher, setup_shared,
                                      teardown_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
