/* Timers: starting, stopping and firing many of them, and ticks that make none due. */
#include <stdlib.h>
#include <time.h>
#include <timebase/manual_source.h>
#include <timebase/timer.h>

#include "bench.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

typedef struct subject {
  tb_source_t *source, *idle_source;
  tb_clock_t *clock, *idle_clock;
  tb_timer_queue_t *queue;
  tb_timer_t **timers;
  int64_t count, calls, now_ns, idle_ns;
  uint64_t random;
} subject_t;

/* xorshift64*: the same numbers in each run. */
static uint64_t random_next(subject_t *subject)
{
  subject->random ^= subject->random >> 12;
  subject->random ^= subject->random << 25;
  subject->random ^= subject->random >> 27;
  return subject->random * UINT64_C(2685821657736338717);
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  subject_t *subject = user;
  (void)timer;
  (void)info;
  subject->calls++;
}

/* What a dispatch of its own does with one that is ready. */
static void on_wake(tb_timer_t *timer, void *user)
{
  subject_t *subject = user;
  subject->calls += !tb_timer_call(timer);
}

static void subject_fini(subject_t *subject)
{
  tb_timer_queue_destroy(subject->queue);
  tb_clock_destroy(subject->clock);
  tb_clock_destroy(subject->idle_clock);
  tb_source_destroy(subject->source);
  tb_source_destroy(subject->idle_source);
  free(subject->timers);
}

/* `count` running timers, each with a period between the two. */
static bool subject_init_of(const row_t *row, subject_t *subject, int64_t count,
                            int64_t shortest_ns, int64_t longest_ns, bool passive)
{
  *subject = (subject_t){.count = count, .now_ns = 1, .idle_ns = 1, .random = 88172645463325252};
  subject->timers = calloc((size_t)count, sizeof *subject->timers);
  if (!subject->timers || tb_manual_source_create(&subject->source) ||
      tb_manual_source_create(&subject->idle_source) || tb_timer_queue_create(&subject->queue))
    goto fail;
  tb_clock_options_t options = {TB_TIME_ROS, subject->source};
  tb_clock_options_t idle_options = {TB_TIME_ROS, subject->idle_source};
  if (tb_clock_create(&options, &subject->clock) ||
      tb_clock_create(&idle_options, &subject->idle_clock) ||
      tb_manual_source_set(subject->source, subject->now_ns) ||
      tb_manual_source_set(subject->idle_source, subject->idle_ns))
    goto fail;
  for (int64_t i = 0; i < count; i++) {
    uint64_t spread = (uint64_t)(longest_ns - shortest_ns) + 1;
    tb_timer_options_t timer = {.period = {shortest_ns + (int64_t)(random_next(subject) % spread)},
                                .callback = passive ? NULL : on_timer,
                                .passive = passive,
                                .wake = on_wake,
                                .user = subject};
    if (tb_clock_timer_create(subject->queue, subject->clock, &timer, &subject->timers[i]) ||
        tb_timer_start(subject->timers[i]))
      goto fail;
  }
  return true;

fail:
  subject_fini(subject);
  return bench_fail(row, "no timers");
}

static bool subject_init(const row_t *row, subject_t *subject, int64_t count, int64_t shortest_ns,
                         int64_t longest_ns)
{
  return subject_init_of(row, subject, count, shortest_ns, longest_ns, false);
}

static void step(subject_t *subject, int64_t by_ns)
{
  subject->now_ns += by_ns;
  tb_manual_source_set(subject->source, subject->now_ns);
  tb_timer_queue_run_due(subject->queue, NULL);
}

#define ROUNDS 101
#define PAIRS  20000

static bool timer_start_stop(const row_t *row, result_t *out)
{
  static tb_timer_t *chosen[PAIRS]; /* set before the measurement */
  subject_t subject;
  double rounds[ROUNDS];
  if (!subject_init(row, &subject, 100000, S, 1000 * S)) return false;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < PAIRS; i++)
      chosen[i] = subject.timers[random_next(&subject) % (uint64_t)subject.count];
    int64_t start = bench_now_ns();
    for (int i = 0; i < PAIRS; i++) {
      tb_timer_stop(chosen[i]);
      tb_timer_start(chosen[i]);
    }
    rounds[round] = (double)(bench_now_ns() - start) / PAIRS;
  }
  out->value = bench_median(rounds, ROUNDS);
  subject_fini(&subject);
  return true;
}

static bool timer_fire_10k(const row_t *row, result_t *out)
{
  subject_t subject;
  double rounds[ROUNDS];
  if (!subject_init(row, &subject, 10000, 10 * MS, 10 * MS)) return false;
  for (int round = 0; round < ROUNDS; round++) {
    int64_t start = bench_now_ns();
    step(&subject, 10 * MS);
    rounds[round] = (double)(bench_now_ns() - start) / (double)subject.count;
  }
  bool all = subject.calls == subject.count * ROUNDS;
  out->value = bench_median(rounds, ROUNDS);
  subject_fini(&subject);
  return all || bench_fail(row, "not every timer was called at each tick");
}

/* Two seconds of ticks of 1 ms, after one second that mixes the initial order. */
static bool timer_fire_1m(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!subject_init(row, &subject, 1000000, 100 * MS, 2 * S)) return false;
  for (int tick = 0; tick < 1000; tick++)
    step(&subject, MS);
  subject.calls = 0;
  int64_t start = bench_now_ns();
  for (int tick = 0; tick < 2000; tick++)
    step(&subject, MS);
  out->value = (double)(bench_now_ns() - start) / (double)subject.calls;
  bool enough = subject.calls > subject.count;
  subject_fini(&subject);
  return enough || bench_fail(row, "too few calls");
}

static void tick_crowded(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->source, ++subject->now_ns);
}

/* Firing 10,000 passive timers, which are advanced in their hooks, beside firing as many that have
 * callbacks: in turn, so that both have the same conditions. */
static bool timer_passive_fire_10k(const row_t *row, result_t *out)
{
  subject_t subjects[2];
  double rounds[2][ROUNDS];
  if (!subject_init_of(row, &subjects[0], 10000, 10 * MS, 10 * MS, true)) return false;
  if (!subject_init_of(row, &subjects[1], 10000, 10 * MS, 10 * MS, false)) {
    subject_fini(&subjects[0]);
    return false;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 2; i++) {
      int64_t start = bench_now_ns();
      step(&subjects[i], 10 * MS);
      rounds[i][round] = (double)(bench_now_ns() - start) / (double)subjects[i].count;
    }
  }
  bool all = true;
  for (int i = 0; i < 2; i++) {
    all = all && subjects[i].calls == subjects[i].count * ROUNDS;
    subject_fini(&subjects[i]);
  }
  out->value = bench_median(rounds[0], ROUNDS);
  out->against = bench_median(rounds[1], ROUNDS);
  return all || bench_fail(row, "not every timer fired at each tick");
}

static void ask_until_next(void *context, int64_t times)
{
  const subject_t *subject = context;
  tb_duration_t until;
  for (int64_t i = 0; i < times; i++) {
    tb_timer_time_until_next(subject->timers[0], &until);
    __asm__ volatile("" : : "r"(until.ns) : "memory");
  }
}

static void read_os(void *context, int64_t times)
{
  struct timespec now;
  (void)context;
  for (int64_t i = 0; i < times; i++) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    __asm__ volatile("" : : "r"(now.tv_nsec) : "memory");
  }
}

static bool timer_until_next(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!subject_init(row, &subject, 10, S, 2 * S)) return false;
  *out = bench_compare(ask_until_next, read_os, &subject, 1000000);
  subject_fini(&subject);
  return true;
}

static void tick_idle(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->idle_source, ++subject->idle_ns);
}

static bool tick_1m_timers_none_due(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!subject_init(row, &subject, 1000000, 1000 * S, 2000 * S)) return false;
  *out = bench_compare(tick_crowded, tick_idle, &subject, 10000);
  subject_fini(&subject);
  return true;
}

const row_t timer_rows[] = {
    {"timer_start_stop", "ns", "limit", 1, timer_start_stop, 150},
    {"timer_fire_10k", "ns", "limit", 1, timer_fire_10k, 120},
    {"timer_passive_fire_10k", "ns", "timer_fire_10k", 0.85, timer_passive_fire_10k, 0},
    {"timer_until_next", "ns", "clock_gettime(CLOCK_MONOTONIC)", 0.75, timer_until_next, 0},
    {"timer_fire_1M", "ns", "limit", 1, timer_fire_1m, 400},
    {"tick_1M_timers_none_due", "ns", "tick_idle", 1.5, tick_1m_timers_none_due, 0},
};
const int timer_row_count = sizeof timer_rows / sizeof *timer_rows;
