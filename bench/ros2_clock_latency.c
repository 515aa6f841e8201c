/* How long /clock takes from publishing to the callback in another process, at 1 kHz on loopback:
 * our raw path, and beside it Cyclone DDS with a type from IDL, tick by tick in turns, so that
 * other load on the machine meets both.
 *
 *   ros2_clock_latency [ROUNDS [TICKS]]     defaults 5, 3000; prints microseconds
 *
 * The receiving process publishes nothing; its main thread polls the value that the callback
 * stores, so the figure includes what a reader of the clock sees. Needs CYCLONEDDS_URI to stay on
 * lo. */
#include <dds/dds.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "ros2/clock_message.h"
#include "ros2_messages.h"

#define LIMIT      ((tb_duration_t){30 * TB_NS_PER_S})
#define WARM_TICKS 200

typedef enum path { PATH_OURS, PATH_IDL, PATH_COUNT } path_t;

static const char *const path_names[PATH_COUNT] = {"timebase", "cyclone-idl"};
static const char *const path_topics[PATH_COUNT] = {"/ours/clock", "rt/idl/clock"};
static _Atomic int64_t latest[PATH_COUNT];
static int ticks = 3000;

/* The stamp that travels: steady time now, which both processes share. */
static int64_t steady_now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * TB_NS_PER_S + now.tv_nsec;
}

static void die(const char *what)
{
  fprintf(stderr, "ros2_clock_latency: %s\n", what);
  exit(1);
}

/* --- receiving --- */

static void on_ours(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  int64_t time_ns;
  if (tb__clock_message_decode(sample->cdr, sample->size, &time_ns) == TB_OK)
    atomic_store_explicit(&latest[PATH_OURS], time_ns, memory_order_release);
}

static void on_idl(dds_entity_t reader, void *user)
{
  (void)user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0) {
    const rosgraph_msgs_msg_dds__Clock_ *clock = samples[0];
    if (info.valid_data)
      atomic_store_explicit(&latest[PATH_IDL], clock->sec * TB_NS_PER_S + clock->nanosec,
                            memory_order_release);
    dds_return_loan(reader, samples, 1);
  }
}

static dds_qos_t *idl_qos(void)
{
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
  return qos;
}

static dds_entity_t idl_participant(void)
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  return dds_create_participant((dds_domainid_t)atoi(domain ? domain : "0"), NULL, NULL);
}

static void receiver_open(void)
{
  static tb_ros2_context_t *context;
  static tb_ros2_subscription_t *subscription;
  static const tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_options_t options = {on_ours, NULL};
  if (tb_ros2_context_create(NULL, &context, NULL) != TB_OK ||
      tb_ros2_subscription_create(context, path_topics[PATH_OURS], "rosgraph_msgs/msg/Clock", &qos,
                                  &options, &subscription, NULL) != TB_OK)
    die("our subscription");
  dds_entity_t participant = idl_participant();
  dds_entity_t topic = dds_create_topic(participant, &rosgraph_msgs_msg_dds__Clock__desc,
                                        path_topics[PATH_IDL], NULL, NULL);
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_lset_data_available(listener, on_idl);
  dds_qos_t *dds_qos = idl_qos();
  if (dds_create_reader(participant, topic, dds_qos, listener) < 0) die("IDL reader");
  dds_delete_qos(dds_qos);
  dds_delete_listener(listener);
}

/* Polls for changes, by turns of the paths, and sends back how long each tick took. */
static void receive(int out)
{
  int64_t last[PATH_COUNT] = {0};
  receiver_open();
  for (int i = 0;; i++) {
    int path = i % PATH_COUNT;
    int64_t stamp;
    while ((stamp = atomic_load_explicit(&latest[path], memory_order_acquire)) == last[path])
      ;
    int64_t took = steady_now_ns() - stamp;
    last[path] = stamp;
    if (write(out, &took, sizeof took) != sizeof took) return;
  }
}

/* --- publishing --- */

static tb_ros2_clock_publisher_t *ours;
static dds_entity_t idl;

static void publisher_open(void)
{
  static tb_ros2_context_t *context;
  if (tb_ros2_context_create(NULL, &context, NULL) != TB_OK ||
      tb_ros2_clock_publisher_create(context, path_topics[PATH_OURS], NULL, &ours, NULL) != TB_OK)
    die("our publisher");
  dds_entity_t participant = idl_participant();
  dds_entity_t topic = dds_create_topic(participant, &rosgraph_msgs_msg_dds__Clock__desc,
                                        path_topics[PATH_IDL], NULL, NULL);
  dds_qos_t *qos = idl_qos();
  idl = dds_create_writer(participant, topic, qos, NULL);
  dds_delete_qos(qos);
  if (idl < 0) die("IDL writer");
  if (tb_ros2_clock_publisher_wait_for_matched(ours, 1, LIMIT) != TB_OK)
    die("nobody listens to us");
  dds_publication_matched_status_t status = {0};
  while (dds_get_publication_matched_status(idl, &status) == 0 && status.current_count == 0)
    usleep(1000);
}

static void tick(path_t path)
{
  int64_t now = steady_now_ns();
  if (path == PATH_OURS) {
    tb_ros2_clock_publisher_publish(ours, now, NULL);
  } else {
    rosgraph_msgs_msg_dds__Clock_ message = {(int32_t)(now / TB_NS_PER_S),
                                             (uint32_t)(now % TB_NS_PER_S)};
    dds_write(idl, &message);
  }
}

static int compare(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Every tick waits until the one before has been answered: at most one per millisecond. */
static void round_run(int in, int64_t *const took[PATH_COUNT])
{
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int i = 0; i < ticks * PATH_COUNT; i++) {
    next.tv_nsec += 1000000;
    if (next.tv_nsec >= TB_NS_PER_S) {
      next.tv_nsec -= TB_NS_PER_S;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    tick((path_t)(i % PATH_COUNT));
    int64_t *place = &took[i % PATH_COUNT][i / PATH_COUNT];
    if (read(in, place, sizeof *place) != sizeof *place) die("receiver is gone");
  }
  for (int path = 0; path < PATH_COUNT; path++)
    qsort(took[path] + WARM_TICKS, (size_t)(ticks - WARM_TICKS), sizeof *took[path], compare);
}

static double percentile_us(const int64_t *sorted, double part)
{
  int count = ticks - WARM_TICKS;
  return (double)sorted[WARM_TICKS + (int)(part * (count - 1))] / 1000.0;
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 5, pipes[2];
  ticks = argc > 2 ? atoi(argv[2]) : ticks;
  if (!getenv("CYCLONEDDS_URI")) die("set CYCLONEDDS_URI so that traffic stays on lo");
  int64_t *took[PATH_COUNT] = {calloc((size_t)ticks, sizeof(int64_t)),
                               calloc((size_t)ticks, sizeof(int64_t))};
  if (ticks <= WARM_TICKS || !took[0] || !took[1] || pipe(pipes) != 0)
    die("needs more than 200 ticks, and memory");
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    receive(pipes[1]);
    _exit(0);
  }
  publisher_open();
  printf("path          p50      p90      p99      max   (us)\n");
  for (int i = 0; i < rounds; i++) {
    round_run(pipes[0], took);
    for (int path = 0; path < PATH_COUNT; path++)
      printf("%-11s %6.1f   %6.1f   %6.1f   %6.1f\n", path_names[path],
             percentile_us(took[path], 0.5), percentile_us(took[path], 0.9),
             percentile_us(took[path], 0.99), percentile_us(took[path], 1.0));
    fflush(stdout);
  }
  free(took[0]);
  free(took[1]);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
