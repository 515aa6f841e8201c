/* The listener of the player's test, a separate process: it counts what it receives and compares
 * times in the order of arrival. It uses the raw subscriptions of the library, and nothing of the
 * player.
 *
 *   play_peer CLOCK_END_NS CHATTER_COUNT
 *
 * It prints "ready", then, when /clock is at CLOCK_END_NS and CHATTER_COUNT messages of /chatter
 * have come: "chatter N", "stamped N", "map N", "ticks N", "first NS", "last NS", "back N", "early
 * N" (messages of /stamped that came when /clock was before their stamp), and ends with its stdin.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "wire/clock_message.h"
#include "within.h"

typedef struct seen {
  pthread_mutex_t mutex;
  sem_t complete;
  bool posted;
  long long end_ns;
  long chatter_wanted;
  long chatter, stamped, map, ticks, back, early;
  long long first_ns, last_ns;
} seen_t;

static seen_t seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void check_complete_locked(void)
{
  if (seen.posted || seen.last_ns != seen.end_ns || seen.chatter < seen.chatter_wanted) return;
  seen.posted = true;
  sem_post(&seen.complete);
}

static void on_clock(const tb_ros2_sample_t *sample, void *user)
{
  int64_t time_ns = -1;
  (void)user;
  if (tb__clock_message_decode(sample->cdr, sample->size, &time_ns) != TB_OK) time_ns = -1;
  pthread_mutex_lock(&seen.mutex);
  if (seen.ticks++ == 0) seen.first_ns = time_ns;
  if (time_ns < seen.last_ns) seen.back++;
  seen.last_ns = time_ns;
  check_complete_locked();
  pthread_mutex_unlock(&seen.mutex);
}

static void on_stamped(const tb_ros2_sample_t *sample, void *user)
{
  int64_t stamp_ns = 0;
  (void)user;
  /* std_msgs/Header begins as rosgraph_msgs/Clock is. */
  size_t size = sample->size < TB__CLOCK_MESSAGE_SIZE ? sample->size : TB__CLOCK_MESSAGE_SIZE;
  if (tb__clock_message_decode(sample->cdr, size, &stamp_ns) != TB_OK) stamp_ns = INT64_MAX;
  pthread_mutex_lock(&seen.mutex);
  seen.stamped++;
  if (seen.last_ns < stamp_ns) seen.early++;
  pthread_mutex_unlock(&seen.mutex);
}

static void on_count(const tb_ros2_sample_t *sample, void *user)
{
  (void)sample;
  pthread_mutex_lock(&seen.mutex);
  ++*(long *)user;
  check_complete_locked();
  pthread_mutex_unlock(&seen.mutex);
}

static tb_ros2_subscription_t *subscribe(tb_ros2_context_t *context, const char *topic,
                                         const char *type, tb_qos_t qos,
                                         tb_ros2_subscription_callback_t callback, void *user)
{
  tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  tb_ros2_subscription_t *out = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.callback = callback;
  options.user = user;
  qos.depth = 1000;
  if (tb_ros2_subscription_create(context, topic, type, &qos, &options, &out, &error) != TB_OK) {
    fprintf(stderr, "play_peer: %s\n", error.text);
    exit(1);
  }
  return out;
}

static void print_counts(void)
{
  pthread_mutex_lock(&seen.mutex);
  printf("chatter %ld\nstamped %ld\nmap %ld\nticks %ld\nfirst %lld\nlast %lld\nback %ld\n"
         "early %ld\n",
         seen.chatter, seen.stamped, seen.map, seen.ticks, seen.first_ns, seen.last_ns, seen.back,
         seen.early);
  pthread_mutex_unlock(&seen.mutex);
}

int main(int argc, char **argv)
{
  if (argc != 3) return 2;
  seen.end_ns = atoll(argv[1]);
  seen.chatter_wanted = atol(argv[2]);
  sem_init(&seen.complete, 0, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) {
    fprintf(stderr, "play_peer: %s\n", error.text);
    return 1;
  }
  const tb_qos_t reliable = TB_QOS_INIT_DEFAULT, clock = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_t *all[] = {
      subscribe(context, "/clock", "rosgraph_msgs/msg/Clock", clock, on_clock, NULL),
      subscribe(context, "/stamped", "std_msgs/msg/Header", clock, on_stamped, NULL),
      subscribe(context, "/chatter", "std_msgs/msg/String", reliable, on_count, &seen.chatter),
      subscribe(context, "/map_name", "std_msgs/msg/String", reliable, on_count, &seen.map),
  };
  puts("ready");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (tb_ros2_subscription_wait_for_matched(all[i], 1,
                                              WITHIN((tb_duration_t){120 * TB_NS_PER_S})))
      return 1;
  puts("matched");
  while (sem_wait(&seen.complete) != 0)
    ;
  print_counts();
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    tb_ros2_subscription_destroy(all[i]);
  tb_ros2_context_destroy(context);
  return 0;
}
