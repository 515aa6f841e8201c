/* From publishing a tick in one process to reading it in another: /clock and a clock on it, next
 * to bare Cyclone DDS with a listener that stores to an atomic. The paths take turns tick by tick,
 * so that other load on the machine affects both. */
#include <dds/dds.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <unistd.h>

#include "bench.h"
#include "ros2_messages.h"

#define TICKS    4000
#define WARM     200
#define LIMIT_NS (30 * TB_NS_PER_S)

typedef enum path { OURS, BARE, PATHS } path_t;

/* ---- the process that reads ---- */

static _Atomic int64_t bare_latest;

static void on_bare(dds_entity_t reader, void *user)
{
  (void)user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0) {
    const rosgraph_msgs_msg_dds__Clock_ *clock = samples[0];
    if (info.valid_data)
      atomic_store_explicit(&bare_latest, clock->sec * TB_NS_PER_S + clock->nanosec,
                            memory_order_release);
    dds_return_loan(reader, samples, 1);
  }
}

static dds_entity_t bare_topic(dds_entity_t *out_participant, dds_qos_t **out_qos)
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  *out_participant =
      dds_create_participant((dds_domainid_t)atoi(domain ? domain : "0"), NULL, NULL);
  *out_qos = dds_create_qos();
  dds_qset_reliability(*out_qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(*out_qos, DDS_HISTORY_KEEP_LAST, 1);
  return dds_create_topic(*out_participant, &rosgraph_msgs_msg_dds__Clock__desc, "rt/bare/clock",
                          NULL, NULL);
}

static tb_clock_t *reader_open(void)
{
  tb_ros2_context_t *context;
  tb_source_t *source;
  tb_clock_t *clock;
  if (tb_ros2_context_create(NULL, &context, NULL) ||
      tb_ros2_clock_source_create(context, NULL, &source, NULL))
    return NULL;
  tb_clock_options_t options = {TB_TIME_ROS, source};
  if (tb_clock_create(&options, &clock)) return NULL;
  dds_entity_t participant;
  dds_qos_t *qos;
  dds_entity_t topic = bare_topic(&participant, &qos);
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_lset_data_available(listener, on_bare);
  dds_entity_t reader = dds_create_reader(participant, topic, qos, listener);
  dds_delete_qos(qos);
  dds_delete_listener(listener);
  return reader < 0 ? NULL : clock;
}

static int64_t latest(path_t path, const tb_clock_t *clock)
{
  if (path == BARE) return atomic_load_explicit(&bare_latest, memory_order_acquire);
  tb_time_t now = {0};
  tb_clock_now(clock, &now);
  return now.ns;
}

/* The reply: when a tick was seen. */
typedef struct seen {
  int64_t stamp_ns, seen_ns;
} seen_t;

/* Polls both paths in turns of a tick each; commands select the next one. */
static void read_ticks(int commands, int answers)
{
  const tb_clock_t *clock = reader_open();
  int64_t last[PATHS] = {0};
  char command;
  if (!clock) return;
  while (read(commands, &command, 1) == 1) {
    path_t path = command ? BARE : OURS;
    seen_t seen;
    int64_t give_up = bench_now_ns() + TB_NS_PER_S;
    do {
      seen.stamp_ns = latest(path, clock);
      seen.seen_ns = bench_now_ns();
    } while (seen.stamp_ns == last[path] && seen.seen_ns < give_up);
    last[path] = seen.stamp_ns;
    if (write(answers, &seen, sizeof seen) != sizeof seen) return;
  }
}

/* ---- the process that publishes ---- */

typedef struct publishers {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *ours;
  dds_entity_t participant, bare;
} publishers_t;

static bool publishers_open(publishers_t *p)
{
  dds_qos_t *qos;
  if (tb_ros2_context_create(NULL, &p->context, NULL) ||
      tb_ros2_clock_publisher_create(p->context, NULL, NULL, &p->ours, NULL))
    return false;
  dds_entity_t topic = bare_topic(&p->participant, &qos);
  p->bare = dds_create_writer(p->participant, topic, qos, NULL);
  dds_delete_qos(qos);
  if (p->bare < 0 || tb_ros2_clock_publisher_wait_for_matched(
                         p->ours, 1, &(tb_wait_options_t){.limit = {LIMIT_NS}}))
    return false;
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  dds_publication_matched_status_t status = {0};
  while (dds_get_publication_matched_status(p->bare, &status) == 0 && status.current_count == 0)
    if (usleep(1000) || bench_now_ns() > give_up) return false;
  return true;
}

static void publishers_close(publishers_t *p)
{
  dds_delete(p->participant);
  tb_ros2_clock_publisher_destroy(p->ours);
  tb_ros2_context_destroy(p->context);
}

static void publish(const publishers_t *p, path_t path)
{
  int64_t now = bench_now_ns();
  if (path == OURS) {
    tb_ros2_clock_publisher_publish(p->ours, now, NULL);
  } else {
    rosgraph_msgs_msg_dds__Clock_ message = {(int32_t)(now / TB_NS_PER_S),
                                             (uint32_t)(now % TB_NS_PER_S)};
    dds_write(p->bare, &message);
  }
}

/* One tick a millisecond. False when the reader is gone. */
static bool exchange(const publishers_t *p, int commands, int answers, double *took[PATHS],
                     int counts[PATHS])
{
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < TICKS * PATHS; i++) {
    path_t path = i % PATHS ? BARE : OURS;
    char command = path == BARE;
    seen_t seen;
    if (write(commands, &command, 1) != 1) return false;
    next_ns += TB_NS_PER_MS;
    struct timespec next = {next_ns / TB_NS_PER_S, next_ns % TB_NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    int64_t published_ns = bench_now_ns();
    publish(p, path);
    if (read(answers, &seen, sizeof seen) != sizeof seen) return false;
    if (i >= WARM && seen.stamp_ns >= published_ns) /* else the tick was lost */
      took[path][counts[path]++] = (double)(seen.seen_ns - seen.stamp_ns) / 1000.0;
    if (next_ns < bench_now_ns()) next_ns = bench_now_ns();
  }
  return true;
}

static bool measure(int commands, int answers, result_t *out)
{
  publishers_t publishers = {0};
  double *took[PATHS] = {calloc(TICKS, sizeof(double)), calloc(TICKS, sizeof(double))};
  int counts[PATHS] = {0};
  bool done = took[OURS] && took[BARE] && publishers_open(&publishers) &&
              exchange(&publishers, commands, answers, took, counts) && counts[OURS] > TICKS / 2 &&
              counts[BARE] > TICKS / 2;
  if (done)
    *out =
        (result_t){bench_median(took[OURS], counts[OURS]), bench_median(took[BARE], counts[BARE])};
  publishers_close(&publishers);
  free(took[OURS]);
  free(took[BARE]);
  return done;
}

/* Executed again, as a forked child of a process that has used the library must not use it. */
int bench_ros2_peer(const char *in, const char *out)
{
  read_ticks((int)strtol(in, NULL, 10), (int)strtol(out, NULL, 10));
  return 0;
}

static bool clock_topic_latency(const row_t *row, result_t *out)
{
  int commands[2], answers[2];
  if (!getenv("CYCLONEDDS_URI"))
    return bench_fail(row, "CYCLONEDDS_URI must keep the traffic on lo; run scripts/bench");
  if (pipe(commands) || pipe(answers)) return bench_fail(row, "no pipes");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char in[16], out_fd[16];
    close(commands[1]);
    snprintf(in, sizeof in, "%d", commands[0]);
    snprintf(out_fd, sizeof out_fd, "%d", answers[1]);
    execl("/proc/self/exe", "bench", BENCH_ROS2_PEER, in, out_fd, (char *)NULL);
    _exit(127);
  }
  close(commands[0]);
  close(answers[1]);
  bool done = child > 0 && measure(commands[1], answers[0], out);
  close(commands[1]);
  close(answers[0]);
  if (child > 0) waitpid(child, NULL, 0);
  return done ? true : bench_fail(row, "the two processes did not meet, or ticks were lost");
}

const row_t ros2_rows[] = {
    {"clock_topic_latency", "us", "bare Cyclone DDS listener", 1.15, clock_topic_latency, 0},
};
const int ros2_row_count = sizeof ros2_rows / sizeof *ros2_rows;
