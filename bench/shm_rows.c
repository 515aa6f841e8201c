/* A time in shared memory, between two processes: reading it, ticks that concern no waiter, and
 * wake-ups. The other process is this program again. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>
#include <unistd.h>

#include "bench.h"

#define NAME        "bench"
#define READS       INT64_C(100000)
#define PERIOD_NS   INT64_C(1000000) /* of the publisher */
#define IDLE_NS     (10 * TB_NS_PER_S)
#define SETTLE_NS   INT64_C(100000) /* until a thread that was woken sleeps again */
#define WAKES       2000
#define LIMIT_NS    (30 * TB_NS_PER_S)
#define STEP_NS     INT64_C(1000)
#define TIMER_NS    INT64_C(500000000)
#define TIMER_CALLS 15 /* at least, in the time of a row: ticks of a busy machine are late */

/* Mapped by both processes in addition to the page. */
typedef struct board {
  _Atomic uint32_t ready; /* threads of the other process that wait or run */
  _Atomic uint32_t stop;
  _Atomic uint32_t first, second; /* futexes of the bare hand-overs */
  _Atomic uint32_t woken;         /* sleepers that were woken */
  _Atomic int64_t woken_ns;
} board_t;

typedef struct pair {
  char directory[64];
  tb_shm_options_t options;
  board_t *board;
  int board_fd;
  pid_t peer;
  cpu_set_t allowed;
} pair_t;

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
  while (atomic_load(word) == value)
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_raise(_Atomic uint32_t *word)
{
  atomic_fetch_add(word, 1);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Binds this thread, and those that it starts, to the first or the last processor. */
static void place(const cpu_set_t *allowed, bool first)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = 0; i < CPU_SETSIZE; i++) {
    if (!CPU_ISSET(i, allowed) || (first && CPU_COUNT(&set))) continue;
    CPU_ZERO(&set);
    CPU_SET(i, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

/* ---- the other process ---- */

static void note_wake(board_t *board)
{
  atomic_store(&board->woken_ns, bench_now_ns());
  atomic_fetch_add(&board->woken, 1);
}

static void *bare_first(void *argument)
{
  board_t *board = argument;
  atomic_fetch_add(&board->ready, 1);
  for (uint32_t seen = 0; !atomic_load(&board->stop); seen++) {
    futex_wait(&board->first, seen);
    futex_raise(&board->second);
  }
  return NULL;
}

static void *bare_second(void *argument)
{
  board_t *board = argument;
  atomic_fetch_add(&board->ready, 1);
  for (uint32_t seen = 0; !atomic_load(&board->stop); seen++) {
    futex_wait(&board->second, seen);
    note_wake(board);
  }
  return NULL;
}

static int sleep_on_page(tb_clock_t *clock, board_t *board)
{
  tb_time_t target = {STEP_NS, TB_TIME_ROS};
  atomic_fetch_add(&board->ready, 1);
  while (!atomic_load(&board->stop)) {
    if (tb_clock_sleep_until(clock, target, NULL)) return 1;
    note_wake(board);
    target.ns += STEP_NS;
  }
  return 0;
}

static int publish(tb_shm_publisher_t *publisher, board_t *board)
{
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int64_t i = 1; !atomic_load(&board->stop); i++) {
    if (tb_shm_publisher_tick(publisher, i * PERIOD_NS, TB_JUMP_REASON_NONE)) return 1;
    if (i == 1) atomic_store(&board->ready, 1);
    next.tv_nsec += PERIOD_NS;
    if (next.tv_nsec >= TB_NS_PER_S) {
      next.tv_nsec -= TB_NS_PER_S;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
  return 0;
}

static int peer_publisher(const tb_shm_options_t *options, board_t *board)
{
  tb_shm_publisher_t *publisher;
  return tb_shm_publisher_open(NAME, options, &publisher, NULL) || publish(publisher, board);
}

static void count_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  (void)info;
  note_wake(user);
}

static int wait_with_timer(tb_clock_t *clock, board_t *board)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  options.period.ns = TIMER_NS;
  options.callback = count_call;
  options.user = board;
  if (tb_timer_queue_create(&queue) || tb_clock_timer_create(queue, clock, &options, &timer) ||
      tb_timer_start(timer) || tb_timer_queue_start_thread(queue))
    return 1;
  atomic_store(&board->ready, 1);
  futex_wait(&board->stop, 0);
  return 0;
}

static int peer_reader(const tb_shm_options_t *options, board_t *board, const char *role)
{
  tb_clock_options_t clock_options = {TB_TIME_ROS, NULL};
  tb_source_t *source;
  tb_clock_t *clock;
  pthread_t first, second;
  if (tb_shm_source_create(NAME, options, &source, NULL)) return 1;
  clock_options.source = source;
  if (tb_clock_create(&clock_options, &clock)) return 1;
  if (!strcmp(role, "timer")) return wait_with_timer(clock, board);
  if (strcmp(role, "sleeper") != 0) {
    atomic_store(&board->ready, 1);
    futex_wait(&board->stop, 0);
    return 0;
  }
  if (pthread_create(&first, NULL, bare_first, board) ||
      pthread_create(&second, NULL, bare_second, board))
    return 1;
  return sleep_on_page(clock, board);
}

static board_t *map_board(int fd)
{
  void *map = mmap(NULL, sizeof(board_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return map == MAP_FAILED ? NULL : map;
}

int bench_shm_peer(const char *role, const char *directory, const char *fd)
{
  tb_shm_options_t options = TB_SHM_OPTIONS_INIT;
  options.directory = directory;
  board_t *board = map_board((int)strtol(fd, NULL, 10));
  if (!board) return 1;
  if (!strcmp(role, "publisher")) return peer_publisher(&options, board);
  return peer_reader(&options, board, role);
}

/* ---- this process ---- */

static pid_t spawn(pair_t *pair, const char *role)
{
  char fd[16];
  snprintf(fd, sizeof fd, "%d", pair->board_fd);
  pid_t child = fork();
  if (child) return child;
  place(&pair->allowed, false);
  execl("/proc/self/exe", "bench", BENCH_SHM_PEER, role, pair->directory, fd, (char *)NULL);
  _exit(127);
}

static bool wait_until(const _Atomic uint32_t *word, uint32_t value)
{
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  while (atomic_load(word) < value) {
    sched_yield();
    if (bench_now_ns() > give_up) return false;
  }
  return true;
}

static void pair_end(pair_t *pair)
{
  char path[128];
  if (pair->peer > 0) {
    kill(pair->peer, SIGKILL);
    waitpid(pair->peer, NULL, 0);
  }
  if (pair->board) munmap(pair->board, sizeof *pair->board);
  if (pair->board_fd >= 0) close(pair->board_fd);
  snprintf(path, sizeof path, "%s/timebase." NAME, pair->directory);
  unlink(path);
  snprintf(path, sizeof path, "%s/timebase-wake1." NAME,
           pair->directory); /* of a killed publisher */
  unlink(path);
  rmdir(pair->directory);
  sched_setaffinity(0, sizeof pair->allowed, &pair->allowed);
}

/* `ready`: how many threads of the peer are to be ready. */
static bool pair_begin(const row_t *row, pair_t *pair, const char *role, uint32_t ready)
{
  *pair = (pair_t){.directory = "/dev/shm/timebase-bench-XXXXXX", .board_fd = -1};
  sched_getaffinity(0, sizeof pair->allowed, &pair->allowed);
  pair->options = (tb_shm_options_t)TB_SHM_OPTIONS_INIT;
  pair->options.directory = pair->directory;
  if (!mkdtemp(pair->directory)) return bench_fail(row, "no folder in /dev/shm");
  pair->board_fd = memfd_create("bench", 0);
  if (pair->board_fd < 0 || ftruncate(pair->board_fd, sizeof(board_t)) ||
      !(pair->board = map_board(pair->board_fd)))
    return bench_fail(row, "no shared memory");
  pair->peer = spawn(pair, role);
  place(&pair->allowed, true);
  return wait_until(&pair->board->ready, ready) || bench_fail(row, "the other process fails");
}

static double time_reads(const tb_clock_t *clock)
{
  tb_time_t now;
  int64_t begin_ns = bench_now_ns();
  for (int64_t i = 0; i < READS; i++) {
    tb_clock_now(clock, &now);
    __asm__ volatile("" : : "r"(now.ns) : "memory");
  }
  return (double)(bench_now_ns() - begin_ns) / (double)READS;
}

static bool measure_reads(const row_t *row, const pair_t *pair, result_t *out)
{
  double costs[101];
  tb_source_t *source;
  tb_clock_t *clock;
  if (tb_shm_source_create(NAME, &pair->options, &source, NULL))
    return bench_fail(row, "no source");
  tb_clock_options_t options = {TB_TIME_ROS, source};
  if (tb_clock_create(&options, &clock)) return bench_fail(row, "no clock");
  for (int i = 0; i < 101; i++)
    costs[i] = time_reads(clock);
  out->value = bench_median(costs, 101);
  tb_time_t now = {0};
  tb_clock_now(clock, &now);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return now.ns > PERIOD_NS || bench_fail(row, "the time does not move");
}

static bool shm_read(const row_t *row, result_t *out)
{
  pair_t pair;
  bool done = pair_begin(row, &pair, "publisher", 1) && measure_reads(row, &pair, out);
  pair_end(&pair);
  return done;
}

/* Of all threads of a process. */
static long voluntary_switches(pid_t process)
{
  char command[128], line[64];
  snprintf(command, sizeof command, "cat /proc/%d/task/*/status", (int)process);
  FILE *statuses = popen(command, "r");
  long sum = 0, count;
  while (statuses && fgets(line, sizeof line, statuses))
    if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) sum += count;
  if (statuses) pclose(statuses);
  return sum;
}

static bool count_wakeups(const row_t *row, pair_t *pair, result_t *out)
{
  tb_shm_publisher_t *publisher;
  if (tb_shm_publisher_open(NAME, &pair->options, &publisher, NULL))
    return bench_fail(row, "no publisher");
  tb_shm_publisher_tick(publisher, PERIOD_NS, TB_JUMP_REASON_NONE);
  struct timespec period = {0, PERIOD_NS};
  nanosleep(&(struct timespec){0, 200 * PERIOD_NS}, NULL); /* the start is a jump */
  long before = voluntary_switches(pair->peer);
  int64_t begin_ns = bench_now_ns();
  for (int64_t i = 2; bench_now_ns() < begin_ns + IDLE_NS; i++) {
    tb_shm_publisher_tick(publisher, i * PERIOD_NS, TB_JUMP_REASON_NONE);
    nanosleep(&period, NULL);
  }
  out->value = (double)(voluntary_switches(pair->peer) - before);
  tb_shm_publisher_close(publisher);
  return true;
}

/* A reader with one timer of 0.5 s. */
static bool shm_wakeups_with_timer(const row_t *row, result_t *out)
{
  pair_t pair;
  bool done = pair_begin(row, &pair, "timer", 1) && count_wakeups(row, &pair, out);
  if (done && atomic_load(&pair.board->woken) < TIMER_CALLS)
    done = bench_fail(row, "the timer was not called");
  pair_end(&pair);
  return done;
}

static bool shm_idle_wakeups(const row_t *row, result_t *out)
{
  pair_t pair;
  bool done = pair_begin(row, &pair, "reader", 1) && count_wakeups(row, &pair, out);
  pair_end(&pair);
  return done;
}

/* One wake-up, through the clock or bare; negative: it did not arrive. */
static double one_wake(board_t *board, tb_shm_publisher_t *publisher, int64_t time_ns)
{
  uint32_t woken = atomic_load(&board->woken);
  int64_t settled_ns = bench_now_ns() + SETTLE_NS;
  while (bench_now_ns() < settled_ns)
    sched_yield();
  int64_t begin_ns = bench_now_ns();
  if (publisher)
    tb_shm_publisher_tick(publisher, time_ns, TB_JUMP_REASON_NONE);
  else
    futex_raise(&board->first);
  if (!wait_until(&board->woken, woken + 1)) return -1;
  return (double)(atomic_load(&board->woken_ns) - begin_ns);
}

static bool measure_wakes(const row_t *row, const pair_t *pair, result_t *out)
{
  static double ours[WAKES], bare[WAKES];
  tb_shm_publisher_t *publisher;
  if (tb_shm_publisher_open(NAME, &pair->options, &publisher, NULL))
    return bench_fail(row, "no publisher");
  tb_shm_publisher_tick(publisher, 1, TB_JUMP_REASON_NONE);
  bool woken = true;
  for (int i = 0; i < WAKES && woken; i++) {
    bare[i] = one_wake(pair->board, NULL, 0);
    ours[i] = one_wake(pair->board, publisher, (i + 1) * STEP_NS);
    woken = bare[i] >= 0 && ours[i] >= 0;
  }
  tb_shm_publisher_close(publisher);
  if (!woken) return bench_fail(row, "no thread was woken");
  out->value = bench_median(ours, WAKES) / 1000;
  out->against = bench_median(bare, WAKES) / 1000;
  return true;
}

static bool shm_wake_latency(const row_t *row, result_t *out)
{
  pair_t pair;
  bool done = pair_begin(row, &pair, "sleeper", 3) && measure_wakes(row, &pair, out);
  pair_end(&pair);
  return done;
}

const row_t shm_rows[] = {
    {"shm_read", "ns", "limit", 1, shm_read, 4},
    {"shm_idle_wakeups", "", "limit", 1, shm_idle_wakeups, 5},
    {"shm_wakeups_with_timer", "", "limit", 1, shm_wakeups_with_timer, 60},
    {"shm_wake_latency", "us", "two futex hand-overs", 1.3, shm_wake_latency, 0},
};
const int shm_row_count = sizeof shm_rows / sizeof *shm_rows;
