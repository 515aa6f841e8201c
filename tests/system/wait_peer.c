/* A node that a player waits for: it answers each message of IN with one of OUT that has the same
 * header stamp, DELAY_MS after it came, and notes how far the player runs ahead of its answers.
 *
 *   wait_peer NODE IN OUT OUT_TYPE DELAY_MS
 *
 * With a DELAY_MS below 0 it answers nothing, and each message blocks DDS's own thread until a line
 * comes: "got STAMP" is printed meanwhile. It prints "ready" at first, "met" for the line "meet"
 * once there is a publisher of IN, and "received N lead NS clock NS" for the line "report":
 * the most that a message was ahead of the newest stamp published before, and what /clock was ahead
 * of the newest stamp published and of the messages. The counts restart when stamps go back. It
 * ends with its stdin. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "wire/clock_message.h"

#define QUEUE 1024

static struct {
  pthread_mutex_t mutex;
  int64_t newest_ns, last_ns, lead_ns, clock_lead_ns;
  long received;
  int64_t queue[QUEUE];
  unsigned long first, end;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static sem_t queued, released;
static int delay_ms;
static bool has_header;
static tb_ros2_publisher_t *answers;
static tb_ros2_subscription_t *in;

static int64_t stamp_of(const tb_ros2_sample_t *sample)
{
  int64_t stamp_ns = 0;
  size_t size = sample->size < TB__CLOCK_MESSAGE_SIZE ? sample->size : TB__CLOCK_MESSAGE_SIZE;
  return tb__clock_message_decode(sample->cdr, size, &stamp_ns) == TB_OK ? stamp_ns : -1;
}

static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  int64_t stamp_ns = stamp_of(sample);
  pthread_mutex_lock(&seen.mutex);
  if (stamp_ns < seen.last_ns) seen.newest_ns = 0;
  seen.last_ns = stamp_ns;
  seen.received++;
  int64_t lead_ns = seen.newest_ns ? stamp_ns - seen.newest_ns : 0;
  if (lead_ns > seen.lead_ns) seen.lead_ns = lead_ns;
  seen.queue[seen.end++ % QUEUE] = stamp_ns;
  pthread_mutex_unlock(&seen.mutex);
  sem_post(&queued);
  if (delay_ms >= 0) return;
  printf("got %lld\n", (long long)stamp_ns);
  while (sem_wait(&released) != 0)
    ;
}

static void on_clock(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  int64_t time_ns = stamp_of(sample);
  pthread_mutex_lock(&seen.mutex);
  int64_t known_ns = seen.newest_ns > seen.last_ns ? seen.newest_ns : seen.last_ns;
  bool waits = seen.first != seen.end && seen.newest_ns > 0 && time_ns > known_ns;
  if (waits && time_ns - seen.newest_ns > seen.clock_lead_ns)
    seen.clock_lead_ns = time_ns - seen.newest_ns;
  pthread_mutex_unlock(&seen.mutex);
}

static void publish_answer(int64_t stamp_ns)
{
  uint8_t message[20] = {0};
  if (tb__clock_message_encode(stamp_ns, message)) abort();
  message[12] = has_header ? 1 : 77; /* the length of the frame's name */
  tb_ros2_publisher_publish(answers, message, sizeof message, NULL);
}

static void *answer(void *user)
{
  (void)user;
  for (;;) {
    while (sem_wait(&queued) != 0)
      ;
    usleep((useconds_t)delay_ms * 1000);
    pthread_mutex_lock(&seen.mutex);
    int64_t stamp_ns = seen.queue[seen.first % QUEUE];
    seen.newest_ns = stamp_ns;
    seen.first++;
    pthread_mutex_unlock(&seen.mutex);
    publish_answer(stamp_ns);
  }
  return NULL;
}

static void handle_line(const char *line)
{
  if (strcmp(line, "meet\n") == 0) {
    tb_status_t status = tb_ros2_subscription_wait_for_matched(
        in, 1, &(tb_wait_options_t){.limit = TB_SECONDS(120)});
    puts(status ? tb_status_name(status) : "met");
    return;
  }
  if (strcmp(line, "report\n") != 0) {
    sem_post(&released);
    return;
  }
  pthread_mutex_lock(&seen.mutex);
  printf("received %ld lead %lld clock %lld\n", seen.received, (long long)seen.lead_ns,
         (long long)seen.clock_lead_ns);
  pthread_mutex_unlock(&seen.mutex);
}

static void open_all(char **argv)
{
  const tb_qos_t reliable = {.reliability = TB_QOS_RELIABLE,
                             .durability = TB_QOS_VOLATILE,
                             .history = TB_QOS_KEEP_ALL,
                             .deadline = TB_QOS_INFINITE,
                             .lifespan = TB_QOS_INFINITE,
                             .liveliness = TB_QOS_LIVELINESS_AUTOMATIC,
                             .liveliness_lease = TB_QOS_INFINITE};
  const tb_qos_t clock = TB_QOS_INIT_CLOCK;
  static const tb_ros2_subscription_options_t message = {on_message, NULL}, tick = {on_clock, NULL};
  tb_ros2_context_t *context = NULL;
  tb_ros2_node_t *node = NULL;
  tb_ros2_subscription_t *clocks;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_node_create(context, argv[1], "", NULL, &node, &error) != TB_OK ||
      tb_ros2_node_create_publisher(node, argv[3], argv[4], &reliable, &answers, &error) != TB_OK ||
      tb_ros2_node_create_subscription(node, argv[2], "std_msgs/msg/Header", &reliable, &message,
                                       &in, &error) != TB_OK ||
      tb_ros2_node_create_subscription(node, "/clock", TB__CLOCK_TYPE, &clock, &tick, &clocks,
                                       &error) != TB_OK) {
    fprintf(stderr, "wait_peer: %s\n", error.text);
    exit(1);
  }
}

int main(int argc, char **argv)
{
  if (argc != 6) return 2;
  pthread_t thread;
  char line[64];
  setvbuf(stdout, NULL, _IOLBF, 0);
  sem_init(&queued, 0, 0);
  sem_init(&released, 0, 0);
  delay_ms = atoi(argv[5]);
  has_header = strcmp(argv[4], "std_msgs/msg/Header") == 0;
  open_all(argv);
  if (delay_ms >= 0 && pthread_create(&thread, NULL, answer, NULL) != 0) return 1;
  puts("ready");
  while (fgets(line, sizeof line, stdin))
    handle_line(line);
  fflush(stdout);
  _exit(0); /* a message may be blocked */
}
