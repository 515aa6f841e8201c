/* `timebase observe` on 200 topics of 100 messages a second: the processor time of its process,
 * next to a process of bare Cyclone DDS that takes the same messages with the same QoS. Each has
 * the publishers for itself, in turns. */
#include <dds/dds.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <timebase/duration.h>
#include <unistd.h>

#include "bench.h"
#include "peer.h"
#include "ros2_messages.h"

#define TOPICS    200
#define PERIOD_NS (10 * TB_NS_PER_MS)
#define WARM      200 /* periods */
#define MEASURED  400
#define TURNS     3
#define LIMIT_NS  (30 * TB_NS_PER_S)

static void topic_name(int index, char out[32])
{
  snprintf(out, 32, "rt/bench/observed_%d", index);
}

/* ---- the other process ---- */

static void on_data(dds_entity_t reader, void *user)
{
  (void)user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0)
    dds_return_loan(reader, samples, 1);
}

int bench_observe_peer(void)
{
  dds_entity_t participant = peer_participant();
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_qos_t *qos = dds_create_qos();
  bool is_ready = participant > 0;
  dds_lset_data_available(listener, on_data);
  dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 100);
  for (int i = 0; i < TOPICS && is_ready; i++) {
    char name[32];
    topic_name(i, name);
    dds_entity_t topic =
        dds_create_topic(participant, &std_msgs_msg_dds__Header__desc, name, NULL, NULL);
    is_ready = dds_create_reader(participant, topic, qos, listener) > 0;
  }
  dds_delete_qos(qos);
  dds_delete_listener(listener);
  return peer_serve(is_ready);
}

/* ---- publishing ---- */

typedef struct load {
  dds_entity_t participant, writers[TOPICS];
} load_t;

static bool load_open(load_t *load)
{
  dds_qos_t *qos = dds_create_qos();
  load->participant = peer_participant();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 10);
  bool is_good = load->participant > 0;
  for (int i = 0; i < TOPICS && is_good; i++) {
    char name[32];
    topic_name(i, name);
    dds_entity_t topic =
        dds_create_topic(load->participant, &std_msgs_msg_dds__Header__desc, name, NULL, NULL);
    load->writers[i] = dds_create_writer(load->participant, topic, qos, NULL);
    is_good = load->writers[i] > 0;
  }
  dds_delete_qos(qos);
  return is_good;
}

/* Until so many readers are matched with each. */
static bool load_await(const load_t *load, uint32_t count)
{
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  for (int i = 0; i < TOPICS;) {
    dds_publication_matched_status_t status = {0};
    dds_get_publication_matched_status(load->writers[i], &status);
    if (status.current_count == count)
      i++;
    else if (usleep(1000) || bench_now_ns() > give_up)
      return false;
  }
  return true;
}

static void load_run(const load_t *load, int periods)
{
  char frame[] = "base_link";
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < periods; i++) {
    int64_t now_ns = dds_time();
    std_msgs_msg_dds__Header_ message = {(int32_t)(now_ns / TB_NS_PER_S),
                                         (uint32_t)(now_ns % TB_NS_PER_S), frame};
    for (int topic = 0; topic < TOPICS; topic++)
      dds_write(load->writers[topic], &message);
    next_ns += PERIOD_NS;
    struct timespec until = {next_ns / TB_NS_PER_S, next_ns % TB_NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
      ;
  }
}

/* ---- measuring ---- */

static int64_t cpu_ns(pid_t pid)
{
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time)) return -1;
  return time.tv_sec * TB_NS_PER_S + time.tv_nsec;
}

static pid_t start(bool is_ours)
{
  fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int out = open("/dev/null", O_RDWR);
  dup2(out, STDOUT_FILENO);
  if (is_ours) {
    execl(TB_BENCH_COMMAND, "timebase", "observe", "/bench/*", (char *)NULL);
  } else {
    int in[2];
    if (pipe(in) == 0) dup2(in[0], STDIN_FILENO); /* both ends are its own: it is killed */
    execl("/proc/self/exe", "bench", BENCH_OBSERVE_PEER, (char *)NULL);
  }
  _exit(127);
}

/* Percent of a processor. */
static bool measure(const load_t *load, bool is_ours, double *out)
{
  pid_t pid = start(is_ours);
  bool is_good = pid > 0 && load_await(load, 1);
  if (is_good) {
    load_run(load, WARM);
    int64_t begin_ns = bench_now_ns(), cpu_begin_ns = cpu_ns(pid);
    load_run(load, MEASURED);
    int64_t cpu_end_ns = cpu_ns(pid);
    *out = 100.0 * (double)(cpu_end_ns - cpu_begin_ns) / (double)(bench_now_ns() - begin_ns);
    is_good = cpu_begin_ns >= 0 && cpu_end_ns > cpu_begin_ns;
  }
  if (pid > 0) {
    kill(pid, is_ours ? SIGTERM : SIGKILL);
    waitpid(pid, NULL, 0);
  }
  return is_good;
}

static bool observe_cpu(const row_t *row, result_t *out)
{
  load_t load = {0};
  double ours[TURNS], bare[TURNS];
  bool is_good = load_open(&load);
  for (int i = 0; i < TURNS && is_good; i++) {
    /* A killed reader is matched until its lease ends. */
    is_good =
        measure(&load, true, &ours[i]) && load_await(&load, 0) && measure(&load, false, &bare[i]);
    if (i + 1 < TURNS && is_good) is_good = load_await(&load, 0);
  }
  dds_delete(load.participant);
  if (!is_good) return bench_fail(row, "the processes cannot be measured");
  out->value = bench_median(ours, TURNS);
  out->against = bench_median(bare, TURNS);
  return true;
}

const row_t observe_rows[] = {
    {"observe_cpu", "%", "bare Cyclone DDS, same topics", 1.3, observe_cpu, 0},
};
const int observe_row_count = sizeof observe_rows / sizeof *observe_rows;
