/* Fixture for tests of the extrapolating source: a clock on one that wraps a manual source, and a
 * steady clock that the test moves. Moments and times are in milliseconds from the start of
 * both. */
#ifndef TB_SOURCE_ON_EXTRAPOLATING_SOURCE_H
#define TB_SOURCE_ON_EXTRAPOLATING_SOURCE_H

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/extrapolating_source.h>

#include "on_manual_source.h"
#include "platform/time.h"

#define MS         INT64_C(1000000)
#define TIME_BEGIN (100 * S)
/* so late that the real clock wakes no waiter */
#define STEADY_BEGIN (INT64_C(1000000000) * S)

static int (*real_gettime)(clockid_t id, struct timespec *out);
static _Atomic int64_t steady_ns;
static tb_source_t *inner, *outer;
static tb_clock_t *outer_clock;

static inline int fake_gettime(clockid_t id, struct timespec *out)
{
  if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE) return real_gettime(id, out);
  out->tv_sec = atomic_load(&steady_ns) / S;
  out->tv_nsec = atomic_load(&steady_ns) % S;
  return 0;
}

static inline int setup_wrapped(void **state)
{
  real_gettime = tb__clock_gettime;
  atomic_store(&steady_ns, STEADY_BEGIN);
  tb__clock_gettime = fake_gettime;
  assert_ok(tb_manual_source_create(&inner));
  assert_ok(tb_extrapolating_source_create(inner, NULL, &outer));
  tb_clock_options_t options = {TB_TIME_ROS, outer};
  assert_ok(tb_clock_create(&options, &outer_clock));
  *state = NULL;
  return 0;
}

static inline int teardown_wrapped(void **state)
{
  (void)state;
  assert_ok(tb_clock_destroy(outer_clock));
  assert_ok(tb_source_destroy(outer));
  tb__clock_gettime = real_gettime;
  return 0;
}

static inline void at(double ms)
{
  atomic_store(&steady_ns, STEADY_BEGIN + llround(ms * 1e6));
}

static inline void tick(double time_ms, double at_ms)
{
  at(at_ms);
  assert_ok(tb_manual_source_set(inner, TIME_BEGIN + llround(time_ms * 1e6)));
}

static inline double time_now(void)
{
  tb_time_t now;
  assert_ok(tb_clock_now(outer_clock, &now));
  return (double)(now.ns - TIME_BEGIN) / 1e6;
}

static inline double time_at(double ms)
{
  at(ms);
  return time_now();
}

#define assert_ms(actual, expected) assert_true(fabs((actual) - (expected)) < 1e-5)

/* Real time at 10 Hz: ticks of 0, 100, 200. */
static inline void three_ticks(void)
{
  for (int ms = 0; ms <= 200; ms += 100)
    tick(ms, ms);
}

static inline tb_extrapolating_stats_t stats(void)
{
  tb_extrapolating_stats_t out;
  assert_ok(tb_extrapolating_source_stats(outer, &out));
  return out;
}

static inline tb_timeline_stats_t counts(void)
{
  tb_timeline_stats_t out;
  tb_timeline_stats(tb_source_timeline(outer), &out);
  return out;
}

static inline tb_clock_state_t state_now(void)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(outer_clock, &reading));
  return reading.state;
}

#define WRAPPED(test) cmocka_unit_test_setup_teardown(test, setup_wrapped, teardown_wrapped)

#endif
