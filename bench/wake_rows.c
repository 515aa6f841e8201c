/* From a tick to the sleeper that it makes due, next to a bare futex: the same threads, on the same
 * processor, wait on either. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <unistd.h>

#include "bench.h"

#define STACK_BYTES ((size_t)64 << 10)
#define CROWD       10000
#define STEP_NS     INT64_C(1000)      /* from deadline to deadline */
#define SETTLE_NS   INT64_C(30000)     /* until a thread that was woken sleeps again */
#define GRACE_NS    INT64_C(100000000) /* until all of them do */
#define LIMIT_NS    (30 * TB_NS_PER_S)
#define ROUNDS      10
#define WAKES       500 /* a round and kind */
#define TICKS       1000

typedef enum place { ON_FUTEX, ON_CLOCK, NOWHERE } place_t;

typedef struct sleeper {
  struct crowd *crowd;
  pthread_t thread;
  pid_t tid;
  _Atomic uint32_t word; /* futex: 1 when woken */
  place_t next;          /* where to wait when woken */
  int64_t next_ns;       /* until when, on the clock */
  int64_t woken_ns;
} sleeper_t;

typedef struct crowd {
  int count, started;
  sleeper_t *sleepers;
  int *order; /* of wake-ups, */
  int turn;   /* and the next index in it */
  tb_source_t *source;
  tb_clock_t *clock;
  int64_t now_ns, last_ns; /* time, last deadline */
  uint64_t random;
  int64_t expected;         /* waits that should have ended, */
  _Atomic int64_t returned; /* and have */
  _Atomic int failed;
  cpu_set_t allowed;
} crowd_t;

/* xorshift64*: the same numbers in each run. */
static uint64_t random_next(crowd_t *crowd)
{
  crowd->random ^= crowd->random >> 12;
  crowd->random ^= crowd->random << 25;
  crowd->random ^= crowd->random >> 27;
  return crowd->random * UINT64_C(2685821657736338717);
}

static void shuffle(crowd_t *crowd)
{
  crowd->turn = 0;
  for (int i = crowd->count - 1; i > 0; i--) {
    int other = (int)(random_next(crowd) % (uint64_t)(i + 1));
    int swap = crowd->order[i];
    crowd->order[i] = crowd->order[other];
    crowd->order[other] = swap;
  }
}

static void futex_wake(sleeper_t *sleeper)
{
  atomic_store(&sleeper->word, 1);
  syscall(SYS_futex, &sleeper->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(sleeper_t *sleeper)
{
  while (!atomic_load(&sleeper->word))
    syscall(SYS_futex, &sleeper->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  atomic_store(&sleeper->word, 0);
}

static void *sleeper_run(void *argument)
{
  sleeper_t *sleeper = argument;
  crowd_t *crowd = sleeper->crowd;
  place_t place = ON_FUTEX;
  tb_time_t target = {0, TB_TIME_ROS};
  sleeper->tid = (pid_t)syscall(SYS_gettid);
  while (place != NOWHERE) {
    if (place == ON_FUTEX)
      futex_wait(sleeper);
    else if (tb_clock_sleep_until(crowd->clock, target, NULL))
      atomic_fetch_add(&crowd->failed, 1);
    sleeper->woken_ns = bench_now_ns();
    place = sleeper->next;
    target.ns = sleeper->next_ns;
    atomic_fetch_add(&crowd->returned, 1);
  }
  return NULL;
}

/* ---- the crowd ---- */

/* Spins, so that this processor does not become idle. */
static bool wait_for_returns(crowd_t *crowd)
{
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  while (atomic_load(&crowd->returned) < crowd->expected) {
    sched_yield();
    if (bench_now_ns() > give_up) return false;
  }
  return atomic_load(&crowd->failed) == 0;
}

static void spin(int64_t for_ns)
{
  int64_t until = bench_now_ns() + for_ns;
  while (bench_now_ns() < until)
    sched_yield();
}

/* Binds this thread to its first processor, and those that it starts to the last. */
static void place(const crowd_t *crowd, bool first)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = 0; i < CPU_SETSIZE; i++) {
    if (!CPU_ISSET(i, &crowd->allowed) || (first && CPU_COUNT(&set))) continue;
    CPU_ZERO(&set);
    CPU_SET(i, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

/* Wakes all threads, which then wait at `where`; on the clock in a new order. */
static bool move_all(crowd_t *crowd, place_t from, place_t where)
{
  shuffle(crowd);
  int64_t now_ns = from == ON_CLOCK ? crowd->last_ns + STEP_NS : crowd->now_ns;
  for (int i = 0; i < crowd->count; i++) {
    sleeper_t *sleeper = &crowd->sleepers[crowd->order[i]];
    sleeper->next = where;
    sleeper->next_ns = now_ns + (i + 1) * STEP_NS;
  }
  crowd->expected += crowd->count;
  crowd->now_ns = now_ns;
  crowd->last_ns = now_ns + crowd->count * STEP_NS;
  if (from == ON_CLOCK)
    tb_manual_source_set(crowd->source, now_ns);
  else
    for (int i = 0; i < crowd->count; i++)
      futex_wake(&crowd->sleepers[i]);
  if (!wait_for_returns(crowd)) return false;
  if (where != NOWHERE) spin(GRACE_NS);
  return true;
}

static bool crowd_start(crowd_t *crowd)
{
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  place(crowd, false);
  for (int i = 0; i < crowd->count; i++) {
    sleeper_t *sleeper = &crowd->sleepers[i];
    sleeper->crowd = crowd;
    crowd->order[i] = i;
    if (pthread_create(&sleeper->thread, &attributes, sleeper_run, sleeper)) break;
    crowd->started++;
  }
  pthread_attr_destroy(&attributes);
  place(crowd, true);
  return crowd->started == crowd->count;
}

static bool crowd_init(const row_t *row, crowd_t *crowd, int count)
{
  *crowd = (crowd_t){.count = count, .now_ns = 1, .random = 88172645463325252};
  sched_getaffinity(0, sizeof crowd->allowed, &crowd->allowed);
  crowd->sleepers = calloc((size_t)count, sizeof *crowd->sleepers);
  crowd->order = calloc((size_t)count, sizeof *crowd->order);
  tb_clock_options_t options = {TB_TIME_ROS, NULL};
  if (!crowd->sleepers || !crowd->order || tb_manual_source_create(&crowd->source))
    return bench_fail(row, "no source");
  options.source = crowd->source;
  if (tb_clock_create(&options, &crowd->clock) ||
      tb_manual_source_set(crowd->source, crowd->now_ns))
    return bench_fail(row, "no clock");
  return crowd_start(crowd) || bench_fail(row, "not as many threads (see ulimit -u)");
}

/* Wherever they wait. */
static void crowd_fini(crowd_t *crowd)
{
  for (int i = 0; i < crowd->started; i++)
    crowd->sleepers[i].next = NOWHERE;
  for (int i = 0; i < crowd->started; i++)
    futex_wake(&crowd->sleepers[i]);
  if (crowd->source) tb_manual_source_set(crowd->source, INT64_MAX);
  for (int i = 0; i < crowd->started; i++)
    pthread_join(crowd->sleepers[i].thread, NULL);
  tb_clock_destroy(crowd->clock);
  tb_source_destroy(crowd->source);
  sched_setaffinity(0, sizeof crowd->allowed, &crowd->allowed);
  free(crowd->sleepers);
  free(crowd->order);
}

/* Wakes the next thread, which then waits at `next`. Returns the time that it took. */
static bool wake_next(crowd_t *crowd, place_t where, place_t next, double *out_us)
{
  sleeper_t *sleeper = &crowd->sleepers[crowd->order[crowd->turn]];
  crowd->turn = (crowd->turn + 1) % crowd->count;
  crowd->expected++;
  sleeper->next = next;
  sleeper->next_ns = crowd->last_ns += STEP_NS;
  int64_t start = bench_now_ns();
  if (where == ON_CLOCK)
    tb_manual_source_set(crowd->source, crowd->now_ns += STEP_NS);
  else
    futex_wake(sleeper);
  if (!wait_for_returns(crowd)) return false;
  *out_us = (double)(sleeper->woken_ns - start) / 1000;
  spin(SETTLE_NS);
  return true;
}

/* ---- the rows ---- */

static bool measure(crowd_t *crowd, result_t *out)
{
  static double ours[ROUNDS * WAKES], bare[ROUNDS * WAKES];
  spin(GRACE_NS);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < WAKES; i++)
      if (!wake_next(crowd, ON_FUTEX, ON_FUTEX, &bare[round * WAKES + i])) return false;
    if (!move_all(crowd, ON_FUTEX, ON_CLOCK)) return false;
    for (int i = 0; i < WAKES; i++)
      if (!wake_next(crowd, ON_CLOCK, ON_CLOCK, &ours[round * WAKES + i])) return false;
    if (!move_all(crowd, ON_CLOCK, ON_FUTEX)) return false;
  }
  *out = (result_t){bench_median(ours, ROUNDS * WAKES), bench_median(bare, ROUNDS * WAKES)};
  return true;
}

static bool wake_beside_futex(const row_t *row, int count, result_t *out)
{
  crowd_t crowd;
  bool ready = crowd_init(row, &crowd, count);
  bool done = ready && measure(&crowd, out);
  crowd_fini(&crowd);
  return done || (ready && bench_fail(row, "a sleeper did not return"));
}

static bool wake_one_of_10000_sleepers(const row_t *row, result_t *out)
{
  return wake_beside_futex(row, CROWD, out);
}

static bool wake_latency(const row_t *row, result_t *out)
{
  return wake_beside_futex(row, 1, out);
}

/* How often a thread has slept; -1: unknown. */
static int64_t times_asleep(pid_t tid)
{
  static const char name[] = "voluntary_ctxt_switches:";
  char path[64], line[128];
  int64_t times = -1;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
  FILE *status = fopen(path, "r");
  if (!status) return -1;
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, name, sizeof name - 1)) times = strtoll(line + sizeof name - 1, NULL, 10);
  fclose(status);
  return times;
}

static int64_t times_all_asleep(const crowd_t *crowd)
{
  int64_t sum = 0;
  for (int i = 0; i < crowd->count; i++)
    sum += times_asleep(crowd->sleepers[i].tid);
  return sum;
}

/* Every wake-up of a thread that sleeps again adds one. */
static bool count_wakes(crowd_t *crowd, result_t *out)
{
  double took_us;
  spin(GRACE_NS);
  if (!move_all(crowd, ON_FUTEX, ON_CLOCK)) return false;
  int64_t before = times_all_asleep(crowd);
  for (int i = 0; i < TICKS; i++)
    if (!wake_next(crowd, ON_CLOCK, ON_FUTEX, &took_us)) return false;
  spin(GRACE_NS);
  out->value = (double)(times_all_asleep(crowd) - before);
  return atomic_load(&crowd->returned) == crowd->expected;
}

static bool wakes_of_1000_ticks(const row_t *row, result_t *out)
{
  crowd_t crowd;
  bool ready = crowd_init(row, &crowd, CROWD);
  bool done = ready && count_wakes(&crowd, out);
  crowd_fini(&crowd);
  return done || (ready && bench_fail(row, "not exactly the waiters that were due returned"));
}

const row_t wake_rows[] = {
    {"wake_latency", "us", "futex hand-over", 1.3, wake_latency, 0},
    {"wake_one_of_10000_sleepers", "us", "futex wake of one of 10000", 1.3,
     wake_one_of_10000_sleepers, 0},
    {"wakes_of_1000_ticks", "", "limit", 1, wakes_of_1000_ticks, TICKS},
};
const int wake_row_count = sizeof wake_rows / sizeof *wake_rows;
