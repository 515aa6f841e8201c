/* `/clock` of ROS 1: its way from one process to another, next to bare TCP, and the processor time
 * of a process that follows it, next to an idle node of roscpp. The processes meet by Debian's
 * rosmaster. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_parameter.h>
#include <unistd.h>

#include "tick_peers.h"

#define LIMIT      ((tb_duration_t){30 * TB_NS_PER_S})
#define FRAME_SIZE 12 /* of a tick: a length, seconds and nanoseconds */

/* ---- bare TCP ---- */

static struct sockaddr_in loopback(uint16_t port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* A socket that listens; -1: none. */
static int listen_anywhere(uint16_t *out_port)
{
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1) ||
      getsockname(fd, (struct sockaddr *)&address, &size))
    return -1;
  *out_port = ntohs(address.sin_port);
  return fd;
}

static void no_delay(int fd)
{
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static _Atomic int64_t bare_latest;

static void *bare_receive(void *argument)
{
  const int *fd = argument;
  uint32_t frame[FRAME_SIZE / 4];
  while (recv(*fd, frame, sizeof frame, MSG_WAITALL) == sizeof frame)
    atomic_store_explicit(&bare_latest, frame[1] * TB_NS_PER_S + frame[2], memory_order_release);
  return NULL;
}

static bool bare_connect(uint16_t port)
{
  static int fd;
  pthread_t thread;
  struct sockaddr_in address = loopback(port);
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return false;
  no_delay(fd);
  return !pthread_create(&thread, NULL, bare_receive, &fd);
}

/* ---- the process that follows ---- */

static tb_clock_t *follow(tb_ros1_sim_time_t sim_time)
{
  tb_ros1_context_t *context;
  tb_ros1_clock_source_options_t source_options = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  tb_clock_options_t options = {TB_TIME_ROS, NULL};
  tb_clock_t *clock;
  source_options.sim_time = sim_time;
  if (tb_ros1_context_create(NULL, &context, NULL) ||
      tb_ros1_clock_source_create(context, &source_options, &options.source, NULL) ||
      tb_clock_create(&options, &clock))
    return NULL;
  return clock;
}

static int64_t latest(void *clock, tick_path_t path)
{
  if (path == TICK_BARE) return atomic_load_explicit(&bare_latest, memory_order_acquire);
  tb_time_t now = {0};
  tb_clock_now(clock, &now);
  return now.ns;
}

int bench_ros1_peer(const char *role, const char *port)
{
  if (!strcmp(role, "roscpp")) {
    execl(TB_BENCH_ROS1_NODE, TB_BENCH_ROS1_NODE, (char *)NULL);
    return 127;
  }
  if (!strcmp(role, "idle")) return peer_serve(follow(TB_ROS1_SIM_TIME_PARAMETER));
  tb_clock_t *clock = follow(TB_ROS1_SIM_TIME_ALWAYS);
  return clock && bare_connect((uint16_t)strtol(port, NULL, 10)) ? tick_latency_read(latest, clock)
                                                                 : 1;
}

/* ---- the process that publishes ---- */

typedef struct graph {
  pid_t master;
  tb_ros1_context_t *context;
  tb_ros1_clock_publisher_t *publisher;
  int listener, bare;
  uint16_t bare_port;
} graph_t;

static pid_t start_master(uint16_t port)
{
  fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  char text[16];
  int null = open("/dev/null", O_RDWR);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  snprintf(text, sizeof text, "%u", port);
  execl(TB_BENCH_ROSMASTER, "rosmaster", "--core", "-p", text, (char *)NULL);
  _exit(127);
}

/* The environment leads this process and its peers to a master of their own. */
static bool begin_master(graph_t *graph)
{
  char uri[64];
  uint16_t port;
  int fd = listen_anywhere(&port); /* so that the port is free */
  if (fd < 0) return false;
  close(fd);
  snprintf(uri, sizeof uri, "http://127.0.0.1:%u/", port);
  setenv("ROS_MASTER_URI", uri, 1);
  setenv("ROS_IP", "127.0.0.1", 1);
  unsetenv("ROS_HOSTNAME");
  graph->master = start_master(port);
  return graph->master > 0;
}

/* Until the master runs and has it. */
static bool await_sim_time(const graph_t *graph)
{
  int64_t give_up = bench_now_ns() + LIMIT.ns;
  tb_ros1_parameter_t value;
  while (tb_ros1_parameter_get(graph->context, "/use_sim_time", LIMIT, &value, NULL))
    if (usleep(10000) || bench_now_ns() > give_up) return false;
  tb_ros1_parameter_release(&value);
  return true;
}

static bool graph_open(graph_t *graph)
{
  *graph = (graph_t){.listener = -1, .bare = -1};
  if (!begin_master(graph)) return false;
  graph->listener = listen_anywhere(&graph->bare_port);
  return graph->listener >= 0 && !tb_ros1_context_create(NULL, &graph->context, NULL) &&
         !tb_ros1_clock_publisher_create(graph->context, NULL, &graph->publisher, NULL) &&
         await_sim_time(graph);
}

static bool await_matched(const graph_t *graph, uint32_t count)
{
  int64_t give_up = bench_now_ns() + LIMIT.ns;
  while (tb_ros1_clock_publisher_matched(graph->publisher) < count)
    if (usleep(1000) || bench_now_ns() > give_up) return false;
  return true;
}

static void graph_close(const graph_t *graph)
{
  tb_ros1_clock_publisher_destroy(graph->publisher);
  tb_ros1_context_destroy(graph->context);
  if (graph->bare >= 0) close(graph->bare);
  if (graph->listener >= 0) close(graph->listener);
  if (graph->master <= 0) return;
  kill(graph->master, SIGKILL);
  waitpid(graph->master, NULL, 0);
}

static void publish(void *user, tick_path_t path, int64_t time_ns)
{
  const graph_t *graph = user;
  if (path == TICK_OURS) {
    tb_ros1_clock_publisher_publish(graph->publisher, time_ns, NULL);
    return;
  }
  const uint32_t frame[] = {8, (uint32_t)(time_ns / TB_NS_PER_S),
                            (uint32_t)(time_ns % TB_NS_PER_S)};
  ssize_t sent = send(graph->bare, frame, sizeof frame, MSG_NOSIGNAL);
  (void)sent; /* a tick that is lost is seen */
}

static bool ros1_clock_latency(const row_t *row, result_t *out)
{
  graph_t graph;
  peer_t peer = PEER_NONE;
  char port[16];
  bool done = graph_open(&graph);
  snprintf(port, sizeof port, "%u", graph.bare_port);
  done = done && peer_start(&peer, BENCH_ROS1_PEER, "latency", port) &&
         (graph.bare = accept4(graph.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;
  if (done) no_delay(graph.bare);
  done = done && await_matched(&graph, 1) && tick_latency_measure(&peer, publish, &graph, out);
  graph_close(&graph);
  peer_end(&peer);
  return done ? true : bench_fail(row, "the two processes did not meet, or ticks were lost");
}

static void tick(void *publisher, int64_t time_ns)
{
  tb_ros1_clock_publisher_publish(publisher, time_ns, NULL);
}

static bool ros1_idle_cpu(const row_t *row, result_t *out)
{
  graph_t graph;
  peer_t ours = PEER_NONE, roscpp = PEER_NONE;
  bool done = graph_open(&graph) && peer_start(&ours, BENCH_ROS1_PEER, "idle", "0") &&
              peer_start(&roscpp, BENCH_ROS1_PEER, "roscpp", "0") && await_matched(&graph, 2) &&
              tick_cpu_measure(&ours, &roscpp, tick, graph.publisher, out);
  graph_close(&graph);
  peer_end(&ours);
  peer_end(&roscpp);
  return done ? true : bench_fail(row, "the processes did not meet");
}

const row_t ros1_rows[] = {
    {"ros1_clock_latency", "us", "bare TCP, TCP_NODELAY", 1.4, ros1_clock_latency, 0},
    {"ros1_idle_cpu", "us", "idle roscpp node, a tick", 0.3, ros1_idle_cpu, 0},
};
const int ros1_row_count = sizeof ros1_rows / sizeof *ros1_rows;
