/* Reading clocks. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>
#include <timebase/steady_clock.h>

#include "bench.h"
#include "ros1_clock.h"

#define READS INT64_C(100000)

typedef struct subject {
  tb_clock_t *clock;
  tb_steady_clock_t *steady;
  tb_source_t *source;
  clockid_t os_clock;
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

/* A clock on a source that ticks have reached. */
static bool active_init(const row_t *row, subject_t *subject)
{
  *subject = (subject_t){.os_clock = CLOCK_MONOTONIC};
  if (tb_manual_source_create(&subject->source)) return bench_fail(row, "no source");
  tb_clock_options_t options = {TB_TIME_ROS, subject->source};
  if (tb_manual_source_set(subject->source, 1) || tb_clock_create(&options, &subject->clock))
    return bench_fail(row, "no clock");
  return true;
}

static void active_fini(subject_t *subject)
{
  tb_clock_destroy(subject->clock);
  tb_source_destroy(subject->source);
}

static bool now_ros_active(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!active_init(row, &subject)) return false;
  *out = bench_compare(read_clock, read_os, &subject, READS);
  active_fini(&subject);
  return true;
}

static bool now_ros_nonblocking(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!active_init(row, &subject)) return false;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.readers_never_block = true;
  bool set = !tb_timeline_set_options(tb_source_timeline(subject.source), &options);
  if (set) *out = bench_compare(read_clock, read_os, &subject, READS);
  active_fini(&subject);
  return set || bench_fail(row, "no options");
}

#ifdef TB_BENCH_ROS1
static void read_ros1(void *context, int64_t times)
{
  (void)context;
  bench_ros1_read(times);
}

static bool now_ros_active_vs_ros1(const row_t *row, result_t *out)
{
  subject_t subject;
  if (!active_init(row, &subject)) return false;
  bench_ros1_start();
  *out = bench_compare(read_clock, read_ros1, &subject, READS);
  active_fini(&subject);
  return true;
}
#endif

#define CONTENDED_ROUNDS  20
#define CONTENDED_BATCHES 20
#define CONTENDED_READS   INT64_C(1000000) /* takes longer than a tick interval */
#define TICK_PERIOD_NS    INT64_C(1000000)

/* Load on the measured reader: another reader, and a writer. */
typedef struct contention {
  subject_t subject;
  _Atomic bool stop;
  _Atomic int running, failed;
  _Atomic int64_t ticks;
  pthread_t reader, writer;
} contention_t;

static void *read_along(void *argument)
{
  contention_t *contention = argument;
  atomic_fetch_add(&contention->running, 1);
  while (!atomic_load_explicit(&contention->stop, memory_order_relaxed))
    read_clock(&contention->subject, 1000);
  return NULL;
}

static void *tick_along(void *argument)
{
  contention_t *contention = argument;
  int64_t next_ns = bench_now_ns(), ticks = atomic_load(&contention->ticks);
  atomic_fetch_add(&contention->running, 1);
  while (!atomic_load(&contention->stop)) {
    if (tb_manual_source_set(contention->subject.source, 2 + ticks++)) contention->failed++;
    next_ns += TICK_PERIOD_NS;
    if (next_ns < bench_now_ns()) next_ns = bench_now_ns();
    struct timespec next = {next_ns / 1000000000, next_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
  atomic_store(&contention->ticks, ticks);
  return NULL;
}

/* In CPU time, as there may be fewer processors than threads. */
static double thread_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* How often this thread has slept, which a reader must not do. */
static long thread_sleeps(void)
{
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

static void read_batches(contention_t *contention, double *out_ns)
{
  long sleeps = thread_sleeps();
  for (int i = 0; i < CONTENDED_BATCHES; i++) {
    double start = thread_ns();
    read_clock(&contention->subject, CONTENDED_READS);
    out_ns[i] = (thread_ns() - start) / (double)CONTENDED_READS;
  }
  if (thread_sleeps() != sleeps) contention->failed++;
}

static bool read_in_company(contention_t *contention, double *out_ns)
{
  atomic_store(&contention->stop, false);
  atomic_store(&contention->running, 0);
  if (pthread_create(&contention->reader, NULL, read_along, contention)) return false;
  if (pthread_create(&contention->writer, NULL, tick_along, contention)) {
    atomic_store(&contention->stop, true);
    pthread_join(contention->reader, NULL);
    return false;
  }
  while (atomic_load(&contention->running) < 2)
    sched_yield();
  read_batches(contention, out_ns);
  atomic_store(&contention->stop, true);
  pthread_join(contention->reader, NULL);
  pthread_join(contention->writer, NULL);
  return true;
}

static bool now_ros_active_contended(const row_t *row, result_t *out)
{
  static double contended[CONTENDED_ROUNDS * CONTENDED_BATCHES];
  static double idle[CONTENDED_ROUNDS * CONTENDED_BATCHES];
  contention_t contention = {0};
  bool started = true;
  if (!active_init(row, &contention.subject)) return false;
  for (int i = 0; started && i < CONTENDED_ROUNDS; i++) {
    read_batches(&contention, idle + (ptrdiff_t)i * CONTENDED_BATCHES);
    started = read_in_company(&contention, contended + (ptrdiff_t)i * CONTENDED_BATCHES);
  }
  active_fini(&contention.subject);
  if (!started || contention.failed)
    return bench_fail(row, "no threads, no ticks, or a reader slept");
  *out = (result_t){bench_median(contended, CONTENDED_ROUNDS * CONTENDED_BATCHES),
                    bench_median(idle, CONTENDED_ROUNDS * CONTENDED_BATCHES)};
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

const row_t core_rows[] = {
    {"now_ros_active", "ns", "clock_gettime(CLOCK_MONOTONIC)", 0.12, now_ros_active, 0},
    {"now_ros_nonblocking", "ns", "clock_gettime(CLOCK_MONOTONIC)", 0.12, now_ros_nonblocking, 0},
#ifdef TB_BENCH_ROS1
    {"now_ros_active_vs_ros1", "ns", "ROS 1, ros::Time::now()", 0.32, now_ros_active_vs_ros1, 0},
#endif
    {"now_ros_active_contended", "ns", "alone", 1.2, now_ros_active_contended, 0},
    {"now_ros_inactive", "ns", "clock_gettime(CLOCK_REALTIME)", 1.06, now_ros_inactive, 0},
    {"now_system", "ns", "clock_gettime(CLOCK_REALTIME)", 1.06, now_system, 0},
    {"now_steady", "ns", "clock_gettime(CLOCK_MONOTONIC)", 1.06, now_steady, 0},
};
const int core_row_count = sizeof core_rows / sizeof *core_rows;
