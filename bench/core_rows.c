/* Reading clocks, and ticks. */
#include <stdlib.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <timebase/steady_clock.h>

#include "bench.h"

#define READS INT64_C(100000)
#define TICKS INT64_C(10000)

typedef struct subject {
  tb_clock_t *clock;
  tb_steady_clock_t *steady;
  tb_source_t *source, *crowded_source;
  clockid_t os_clock;
  int64_t tick_ns, crowded_tick_ns;
} subject_t;

static void read_clock(void *context, int64_t times)
{
  const subject_t *subject = context;
  tb_time_t now;
  for (int64_t i = 0; i < times; i++) {
    tb_clock_now(subject->clock, &now);
    __asm__ volatile("" : : "r"(now.ns) : "memory");
  }
}

static void read_steady(void *context, int64_t times)
{
  const subject_t *subject = context;
  tb_steady_time_t now;
  for (int64_t i = 0; i < times; i++) {
    tb_steady_clock_now(subject->steady, &now);
    __asm__ volatile("" : : "r"(now.ns) : "memory");
  }
}

static void read_os(void *context, int64_t times)
{
  const subject_t *subject = context;
  struct timespec now;
  for (int64_t i = 0; i < times; i++) {
    clock_gettime(subject->os_clock, &now);
    __asm__ volatile("" : : "r"(now.tv_nsec) : "memory");
  }
}

static bool now_ros_active(const row_t *row, result_t *out)
{
  subject_t subject = {.os_clock = CLOCK_MONOTONIC};
  if (tb_manual_source_create(&subject.source)) return bench_fail(row, "no source");
  tb_clock_options_t options = {TB_TIME_ROS, subject.source};
  if (tb_manual_source_set(subject.source, 1) || tb_clock_create(&options, &subject.clock))
    return bench_fail(row, "no clock");
  *out = bench_compare(read_clock, read_os, &subject, READS);
  tb_clock_destroy(subject.clock);
  tb_source_destroy(subject.source);
  return true;
}

static bool now_os_clock(const row_t *row, tb_time_kind_t kind, result_t *out)
{
  subject_t subject = {.os_clock = CLOCK_REALTIME};
  tb_clock_options_t options = {kind, NULL};
  if (tb_clock_create(&options, &subject.clock)) return bench_fail(row, "no clock");
  *out = bench_compare(read_clock, read_os, &subject, READS);
  tb_clock_destroy(subject.clock);
  return true;
}

static bool now_ros_inactive(const row_t *row, result_t *out)
{
  return now_os_clock(row, TB_TIME_ROS, out);
}

static bool now_system(const row_t *row, result_t *out)
{
  return now_os_clock(row, TB_TIME_SYSTEM, out);
}

static bool now_steady(const row_t *row, result_t *out)
{
  subject_t subject = {.os_clock = CLOCK_MONOTONIC};
  if (tb_steady_clock_create(&subject.steady)) return bench_fail(row, "no clock");
  *out = bench_compare(read_steady, read_os, &subject, READS);
  tb_steady_clock_destroy(subject.steady);
  return true;
}

static void tick(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->source, ++subject->tick_ns);
}

static void tick_crowded(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->crowded_source, ++subject->crowded_tick_ns);
}

#define CROWD 10000

static bool tick_10000_clocks(const row_t *row, result_t *out)
{
  subject_t subject = {0};
  tb_clock_t **clocks = calloc(CROWD, sizeof *clocks);
  if (!clocks || tb_manual_source_create(&subject.source) ||
      tb_manual_source_create(&subject.crowded_source))
    return bench_fail(row, "no source");
  tb_clock_options_t options = {TB_TIME_ROS, subject.source};
  if (tb_clock_create(&options, &subject.clock)) return bench_fail(row, "no clock");
  options.source = subject.crowded_source;
  for (int i = 0; i < CROWD; i++)
    if (tb_clock_create(&options, &clocks[i])) return bench_fail(row, "no clock");
  *out = bench_compare(tick_crowded, tick, &subject, TICKS);
  for (int i = 0; i < CROWD; i++)
    tb_clock_destroy(clocks[i]);
  free(clocks);
  tb_clock_destroy(subject.clock);
  tb_source_destroy(subject.source);
  tb_source_destroy(subject.crowded_source);
  return true;
}

const row_t core_rows[] = {
    {"now_ros_active", "ns", "clock_gettime(CLOCK_MONOTONIC)", 0.12, now_ros_active, 0},
    {"now_ros_inactive", "ns", "clock_gettime(CLOCK_REALTIME)", 1.06, now_ros_inactive, 0},
    {"now_system", "ns", "clock_gettime(CLOCK_REALTIME)", 1.06, now_system, 0},
    {"now_steady", "ns", "clock_gettime(CLOCK_MONOTONIC)", 1.06, now_steady, 0},
    {"tick_10000_clocks", "ns", "tick_1_clock", 1.1, tick_10000_clocks, 0},
};
const int core_row_count = sizeof core_rows / sizeof *core_rows;
