/* What unit tests of clocks and waits begin with: a clock on a manual source that has not started,
 * and a trace of what happens, to be compared as text. */
#ifndef TB_TEST_ON_MANUAL_SOURCE_H
#define TB_TEST_ON_MANUAL_SOURCE_H

#include <string.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <timebase/timer.h>

#include "test.h"

#define S TB_NS_PER_S

typedef struct fixture {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_timer_queue_t *queue; /* with setup_with_queue */
} fixture_t;

static char trace[4096] __attribute__((unused));

#define TRACE(...) snprintf(trace + strlen(trace), sizeof trace - strlen(trace), __VA_ARGS__)

static inline int setup(void **state)
{
  static fixture_t fixture;
  trace[0] = '\0';
  assert_ok(tb_manual_source_create(&fixture.source));
  tb_clock_options_t options = {TB_TIME_ROS, fixture.source};
  assert_ok(tb_clock_create(&options, &fixture.clock));
  *state = &fixture;
  return 0;
}

static inline int teardown(void **state)
{
  fixture_t *f = *state;
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  return 0;
}

static inline int setup_with_queue(void **state)
{
  setup(state);
  assert_ok(tb_timer_queue_create(&((fixture_t *)*state)->queue));
  return 0;
}

static inline int teardown_with_queue(void **state)
{
  assert_ok(tb_timer_queue_destroy(((fixture_t *)*state)->queue));
  return teardown(state);
}

/* A timer callback that writes "NAME@SCHEDULED/ACTUAL+MISSED ", in seconds. */
static inline void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  TRACE("%s@%lld/%lld", (const char *)user, (long long)(info->scheduled.ns / S),
        (long long)(info->actual.ns / S));
  if (info->missed) TRACE("+%llu", (unsigned long long)info->missed);
  TRACE(" ");
}

#define WITH_CLOCK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WITH_QUEUE(test)                                                                           \
  cmocka_unit_test_setup_teardown(test, setup_with_queue, teardown_with_queue)

#endif
