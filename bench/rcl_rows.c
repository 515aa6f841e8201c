/* Nodes of ROS 2 that nobody has changed: what time of 1 kHz costs them with libtimebase-rcl, next
 * to a thread that receives /clock, on the stand-in for librcl and in the same run. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/shm_publisher.h>
#include <unistd.h>

#include "bench.h"
#include "peer.h"

#define LIMIT      ((tb_duration_t){30 * TB_NS_PER_S})
#define WARM_TICKS 2000
#define TICKS      6000
#define NOW_TRIES  5

typedef struct clocks {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *topic;
  tb_shm_publisher_t *page;
  char name[64];
} clocks_t;

static bool node_start(peer_t *node, const char *role, const char *timers, const char *period_ns,
                       const char *page)
{
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) return false;
  fflush(NULL);
  *node = (peer_t){fork(), in[1], out[0]};
  if (node->pid == 0) {
    char source[80];
    snprintf(source, sizeof source, "shm:%s", page);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (!strcmp(role, "followed")) {
      setenv("TIMEBASE_SOURCE", source, 1);
      setenv("LD_PRELOAD", TB_BENCH_RCL_LIBRARY, 1);
    }
    execl(TB_BENCH_RCL_NODE, "rcl_node", role, timers, period_ns, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  return node->pid > 0;
}

static bool node_is_ready(const peer_t *node)
{
  struct pollfd output = {node->out, POLLIN, 0};
  char text[16];
  return poll(&output, 1, 5000) == 1 && read(node->out, text, sizeof text) > 0;
}

/* Ends it. How often it has called timers. */
static long node_calls(peer_t *node)
{
  char text[32] = "";
  close(node->in);
  node->in = -1;
  ssize_t length = read(node->out, text, sizeof text - 1);
  return length > 0 ? strtol(text, NULL, 10) : 0;
}

static double cpu_ns(const peer_t *node)
{
  clockid_t clock;
  struct timespec used = {0};
  if (clock_getcpuclockid(node->pid, &clock) == 0) clock_gettime(clock, &used);
  return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static bool clocks_open(clocks_t *clocks)
{
  *clocks = (clocks_t){0};
  snprintf(clocks->name, sizeof clocks->name, "bench-rcl-%ld", (long)getpid());
  return !tb_ros2_context_create(NULL, &clocks->context, NULL) &&
         !tb_ros2_clock_publisher_create(clocks->context, NULL, NULL, &clocks->topic, NULL) &&
         !tb_shm_publisher_open(clocks->name, NULL, &clocks->page, NULL);
}

static void clocks_close(clocks_t *clocks)
{
  static const char *const files[] = {"timebase", "timebase-wake1"};
  tb_ros2_clock_publisher_destroy(clocks->topic);
  tb_ros2_context_destroy(clocks->context);
  tb_shm_publisher_close(clocks->page);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[96];
    snprintf(path, sizeof path, "/dev/shm/%s.%s", files[i], clocks->name);
    unlink(path);
  }
}

static void tick(const clocks_t *clocks, int count)
{
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < count; i++) {
    next_ns += TB_NS_PER_MS;
    struct timespec next = {next_ns / TB_NS_PER_S, next_ns % TB_NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    tb_ros2_clock_publisher_publish(clocks->topic, next_ns, NULL);
    tb_shm_publisher_tick(clocks->page, next_ns, TB_JUMP_REASON_NONE);
  }
}

static bool nodes_start(clocks_t *clocks, peer_t *followed, peer_t *plain, const char *timers,
                        const char *period_ns)
{
  if (!clocks_open(clocks) || !node_start(followed, "followed", timers, period_ns, clocks->name) ||
      !node_start(plain, "plain", timers, period_ns, clocks->name) ||
      tb_ros2_clock_publisher_wait_for_matched(clocks->topic, 1,
                                               &(tb_wait_options_t){.limit = LIMIT}))
    return false;
  tick(clocks, WARM_TICKS);
  return node_is_ready(followed) && node_is_ready(plain);
}

/* CPU time a tick, in microseconds; both follow the same ticks. */
static bool compare(const row_t *row, const char *timers, const char *period_ns, result_t *out)
{
  clocks_t clocks;
  peer_t followed = PEER_NONE, plain = PEER_NONE;
  bool done = nodes_start(&clocks, &followed, &plain, timers, period_ns);
  if (done) {
    double before[] = {cpu_ns(&followed), cpu_ns(&plain)};
    tick(&clocks, TICKS);
    *out = (result_t){(cpu_ns(&followed) - before[0]) / TICKS / 1000,
                      (cpu_ns(&plain) - before[1]) / TICKS / 1000};
    long least = TICKS * TB_NS_PER_MS / strtol(period_ns, NULL, 10) * strtol(timers, NULL, 10);
    done = node_calls(&followed) >= least && node_calls(&plain) >= least;
  }
  peer_end(&followed);
  peer_end(&plain);
  clocks_close(&clocks);
  return done ? true : bench_fail(row, "a process did not start, or its timers were not called");
}

/* What a reading costs, the least of some tries; no ticks come meanwhile. */
static bool ask_reading(const peer_t *node, double *out_ns)
{
  char text[32] = "";
  if (write(node->in, "", 1) != 1 || read(node->out, text, sizeof text - 1) <= 0) return false;
  double ns = strtod(text, NULL) / 1000;
  if (*out_ns == 0 || ns < *out_ns) *out_ns = ns;
  return true;
}

static bool rcl_now(const row_t *row, result_t *out)
{
  clocks_t clocks;
  peer_t followed = PEER_NONE, plain = PEER_NONE;
  double ours = 0, theirs = 0;
  bool done = nodes_start(&clocks, &followed, &plain, "0", "1");
  for (int i = 0; i < NOW_TRIES && done; i++)
    done = ask_reading(&followed, &ours) && ask_reading(&plain, &theirs);
  *out = (result_t){ours, theirs};
  peer_end(&followed);
  peer_end(&plain);
  clocks_close(&clocks);
  return done ? true : bench_fail(row, "a process did not start, or has ended");
}

static bool rcl_idle(const row_t *row, result_t *out)
{
  return compare(row, "0", "1", out);
}

static bool rcl_1_timer(const row_t *row, result_t *out)
{
  return compare(row, "1", "500000000", out);
}

static bool rcl_100_timers(const row_t *row, result_t *out)
{
  return compare(row, "100", "1000000000", out);
}

static bool rcl_20_timers(const row_t *row, result_t *out)
{
  return compare(row, "20", "20000000", out);
}

const row_t rcl_rows[] = {
    {"rcl_now", "ns", "rcl_clock_get_now of plain rcl", 1.2, rcl_now, 0},
    {"rcl_idle_cpu", "us", "receiving /clock, a tick", 1.0 / 20, rcl_idle, 0},
    {"rcl_1_timer_cpu", "us", "the same, a timer of 0.5 s", 1.0 / 10, rcl_1_timer, 0},
    {"rcl_100_timers_cpu", "us", "the same, 100 timers of 1 s", 1.0 / 3, rcl_100_timers, 0},
    {"rcl_20_timers_cpu", "us", "the same, 20 timers of 20 ms", 1, rcl_20_timers, 0},
};
const int rcl_row_count = (int)(sizeof rcl_rows / sizeof *rcl_rows);
