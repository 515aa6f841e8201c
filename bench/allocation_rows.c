/* Counts allocations after everything has been created: there are none. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>

#include "bench.h"
#include "counted_allocations.h"

#define TIMES    1000
#define PERIOD   INT64_C(1000000)
#define LIMIT_NS (10 * TB_NS_PER_S)

typedef struct subject {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  int64_t now_ns, calls;
  pthread_t sleeper;
  _Atomic bool ready, go;
  _Atomic int64_t slept;
} subject_t;

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  ((subject_t *)user)->calls++;
}

/* Sleeps through TIMES periods. */
static void *sleep_along(void *argument)
{
  subject_t *subject = argument;
  atomic_store(&subject->ready, true);
  while (!atomic_load(&subject->go))
    sched_yield();
  for (int64_t i = 1; i <= TIMES; i++) {
    tb_time_t until = {1 + i * PERIOD, TB_TIME_ROS};
    if (tb_clock_sleep_until(subject->clock, until, NULL)) break;
    atomic_fetch_add(&subject->slept, 1);
  }
  while (atomic_load(&subject->go)) /* the end of a thread frees memory */
    sched_yield();
  return NULL;
}

/* Now, ticks with a sleeper and a timer due at each, the call of the timer, its stop and start. */
static bool use(subject_t *subject)
{
  tb_time_t now;
  for (int64_t i = 1; i <= TIMES; i++) {
    subject->now_ns += PERIOD;
    if (tb_manual_source_set(subject->source, subject->now_ns) ||
        tb_timer_queue_run_due(subject->queue, NULL) || tb_clock_now(subject->clock, &now))
      return false;
    int64_t give_up = bench_now_ns() + LIMIT_NS;
    while (atomic_load(&subject->slept) < i)
      if (sched_yield() || bench_now_ns() > give_up) return false;
    tb_timer_stop(subject->timer);
    tb_timer_start(subject->timer);
  }
  return subject->calls == TIMES;
}

static bool create(subject_t *subject)
{
  tb_clock_options_t options = {TB_TIME_ROS, NULL};
  if (tb_manual_source_create(&subject->source)) return false;
  options.source = subject->source;
  tb_timer_options_t timer = {.period = {PERIOD}, .callback = on_timer, .user = subject};
  return !tb_clock_create(&options, &subject->clock) &&
         !tb_manual_source_set(subject->source, subject->now_ns) &&
         !tb_timer_queue_create(&subject->queue) &&
         !tb_clock_timer_create(subject->queue, subject->clock, &timer, &subject->timer) &&
         !tb_timer_start(subject->timer);
}

static bool allocations(const row_t *row, result_t *out)
{
  subject_t subject = {.now_ns = 1};
  bool done = create(&subject) && !pthread_create(&subject.sleeper, NULL, sleep_along, &subject);
  if (done) {
    while (!atomic_load(&subject.ready))
      sched_yield();
    allocations_begin();
    atomic_store(&subject.go, true);
    done = use(&subject);
    out->value = (double)allocations_end();
    atomic_store(&subject.go, false);
  }
  if (subject.sleeper) {
    tb_manual_source_set(subject.source, INT64_MAX);
    pthread_join(subject.sleeper, NULL);
  }
  tb_timer_queue_destroy(subject.queue);
  tb_clock_destroy(subject.clock);
  tb_source_destroy(subject.source);
  return done || bench_fail(row, "not every sleeper returned, or not every timer was called");
}

const row_t allocation_rows[] = {
    {"allocations", "", "limit", 1, allocations, 0},
};
const int allocation_row_count = sizeof allocation_rows / sizeof *allocation_rows;
