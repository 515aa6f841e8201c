/* For unit tests of time that runs on by itself. */
#ifndef TB_TEST_RUNNING_TIME_H
#define TB_TEST_RUNNING_TIME_H

#include <sched.h>
#include <stdatomic.h>
#include <timebase/generic.h>

#include "on_manual_source.h"

static inline void count_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  assert_true(info->actual.ns >= info->scheduled.ns);
  atomic_fetch_add((_Atomic int *)user, 1);
}

/* Waits for three calls of a timer of one second. */
static inline void expect_timer_calls(const fixture_t *f)
{
  _Atomic int calls = 0;
  tb_timer_t *timer;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = S;
  options.callback = count_call;
  options.user = &calls;
  assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
  assert_ok(tb_timer_start(timer));
  assert_ok(tb_timer_queue_start_thread(f->queue));
  while (atomic_load(&calls) < 3)
    sched_yield();
  assert_ok(tb_timer_stop_wait(timer, TB_NO_LIMIT));
}

#endif
