/* `timebase record` on a topic of 10,000 small messages a second: the processor time of its process
 * for each message, next to a process of bare Cyclone DDS whose reader has the same QoS, takes them
 * serialized, and writes nothing. In turns, each with a topic of its own: a reader that was killed
 * is matched until its lease ends. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
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

#define PERIOD_NS (100 * TB_NS_PER_US)
#define LENGTH    88 /* of the text: 100 bytes with length, end and header */
#define WARM      3000
#define MEASURED  8000
#define TURNS     4
#define LIMIT_NS  (30 * TB_NS_PER_S)

static dds_entity_t topic_make(dds_entity_t participant, const char *number)
{
  char name[48];
  snprintf(name, sizeof name, "rt/bench/recorded_%s", number);
  return dds_create_topic(participant, &std_msgs_msg_dds__String__desc, name, NULL, NULL);
}

/* ---- the other process ---- */

static void on_data(dds_entity_t reader, void *user)
{
  (void)user;
  struct ddsi_serdata *sample = NULL;
  dds_sample_info_t info;
  while (dds_takecdr(reader, &sample, 1, &info, DDS_ANY_STATE) == 1)
    ddsi_serdata_unref(sample);
}

int bench_record_peer(const char *role, const char *number)
{
  (void)role;
  dds_entity_t participant = peer_participant();
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_qos_t *qos = peer_lossless_qos();
  dds_lset_data_available(listener, on_data);
  return peer_serve(dds_create_reader(participant, topic_make(participant, number), qos, listener) >
                    0);
}

/* ---- publishing ---- */

static bool await_reader(dds_entity_t writer)
{
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  dds_publication_matched_status_t status = {0};
  while (dds_get_publication_matched_status(writer, &status) == 0 && status.current_count == 0)
    if (usleep(1000) || bench_now_ns() > give_up) return false;
  return status.current_count > 0;
}

/* Returns when all have arrived. */
static bool publish(dds_entity_t writer, int count)
{
  char text[LENGTH + 1];
  memset(text, 'x', LENGTH);
  text[LENGTH] = 0;
  const std_msgs_msg_dds__String_ message = {text};
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < count; i++) {
    if (dds_write(writer, &message)) return false;
    next_ns += PERIOD_NS;
    struct timespec until = {next_ns / TB_NS_PER_S, next_ns % TB_NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
      ;
  }
  return dds_wait_for_acks(writer, LIMIT_NS) == DDS_RETCODE_OK;
}

/* ---- measuring ---- */

typedef struct subject {
  char folder[64], bag[80];
  const char *number; /* of the topic */
} subject_t;

static bool start_recorder(peer_t *peer, const subject_t *subject)
{
  char topic[48];
  snprintf(topic, sizeof topic, "/bench/recorded_%s", subject->number);
  fflush(NULL);
  *peer = PEER_NONE;
  peer->pid = fork();
  if (peer->pid != 0) return peer->pid > 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int null = open("/dev/null", O_RDWR);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    dup2(null, fd);
  execl(TB_BENCH_COMMAND, "timebase", "record", topic, "-o", subject->bag, (char *)NULL);
  _exit(127);
}

/* ns per message. */
static bool measure(dds_entity_t writer, const peer_t *peer, double *out)
{
  if (!await_reader(writer) || !publish(writer, WARM)) return false;
  int64_t begin_ns = peer_cpu_ns(peer);
  if (!publish(writer, MEASURED)) return false;
  int64_t end_ns = peer_cpu_ns(peer);
  *out = (double)(end_ns - begin_ns) / MEASURED;
  return begin_ns >= 0 && end_ns > begin_ns;
}

static void remove_bag(const subject_t *subject)
{
  char path[128];
  const char *name = strrchr(subject->bag, '/') + 1;
  snprintf(path, sizeof path, "%s/metadata.yaml", subject->bag);
  unlink(path);
  snprintf(path, sizeof path, "%s/%s_0.mcap", subject->bag, name);
  unlink(path);
  rmdir(subject->bag);
}

static bool take_turn(dds_entity_t participant, subject_t *subject, int turn, bool is_ours,
                      double *out)
{
  char number[24];
  snprintf(number, sizeof number, "%d", 2 * turn + is_ours);
  subject->number = number;
  snprintf(subject->bag, sizeof subject->bag, "%s/bag", subject->folder);
  dds_qos_t *qos = peer_lossless_qos();
  dds_entity_t writer = dds_create_writer(participant, topic_make(participant, number), qos, NULL);
  peer_t peer = PEER_NONE;
  bool good = writer > 0 && (is_ours ? start_recorder(&peer, subject)
                                     : peer_start(&peer, BENCH_RECORD_PEER, "takes", number));
  good = good && measure(writer, &peer, out);
  if (is_ours && peer.pid > 0) kill(peer.pid, SIGINT);
  peer_end(&peer);
  dds_delete(writer);
  dds_delete_qos(qos);
  if (is_ours) remove_bag(subject);
  return good;
}

static bool record_cpu(const row_t *row, result_t *out)
{
  subject_t subject = {.folder = "/dev/shm/timebase-bench-XXXXXX"};
  double ours[TURNS], bare[TURNS];
  dds_entity_t participant = peer_participant();
  bool good = participant > 0 && mkdtemp(subject.folder);
  for (int i = 0; i < TURNS && good; i++)
    good = take_turn(participant, &subject, i, false, &bare[i]) &&
           take_turn(participant, &subject, i, true, &ours[i]);
  dds_delete(participant);
  rmdir(subject.folder);
  if (!good) return bench_fail(row, "the processes cannot be measured");
  *out = (result_t){bench_median(ours, TURNS), bench_median(bare, TURNS)};
  return true;
}

const row_t record_rows[] = {
    {"record_cpu", "ns", "bare reader that takes, same QoS", 1.5, record_cpu, 0},
};
const int record_row_count = sizeof record_rows / sizeof *record_rows;
