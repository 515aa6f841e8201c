/* rcl_node plain|followed TIMERS PERIOD_NS: what a node of rclcpp does with time, on the stand-in
 * for librcl: an executor that waits for the timers of a ROS clock and calls those that are due.
 * "plain" has the thread that receives /clock and sets the override; "followed" is run with
 * libtimebase-rcl preloaded. Prints a line when its timers are there, what a reading of the time
 * costs, in picoseconds, for each byte of its input, and when that ends how often they were called.
 */
#include <dds/dds.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "ros2_messages.h"
#include "standin.h"

#define MAX_TIMERS 100
#define READINGS   1000000

static rcl_clock_t ros_clock;
static rcl_timer_t timers[MAX_TIMERS], *all[MAX_TIMERS];
static size_t timer_count;
static int64_t period_ns;
static _Atomic long calls;

/* As rclcpp's clock thread: it waits for a sample, takes it and sets the time. */
static void *receive(void *unused)
{
  (void)unused;
  dds_entity_t participant = peer_participant();
  dds_entity_t topic =
      dds_create_topic(participant, &rosgraph_msgs_msg_dds__Clock__desc, "rt/clock", NULL, NULL);
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
  dds_entity_t reader = dds_create_reader(participant, topic, qos, NULL);
  dds_entity_t waitset = dds_create_waitset(participant);
  dds_set_status_mask(reader, DDS_DATA_AVAILABLE_STATUS);
  dds_waitset_attach(waitset, reader, 0);
  for (;;) {
    void *samples[1] = {NULL};
    dds_sample_info_t info;
    dds_attach_t triggered;
    dds_waitset_wait(waitset, &triggered, 1, DDS_INFINITY);
    while (dds_take(reader, samples, &info, 1, 1) > 0) {
      const rosgraph_msgs_msg_dds__Clock_ *clock = samples[0];
      if (info.valid_data)
        rcl_set_ros_time_override(&ros_clock, clock->sec * INT64_C(1000000000) + clock->nanosec);
      dds_return_loan(reader, samples, 1);
    }
  }
  return NULL;
}

static void *execute(void *unused)
{
  (void)unused;
  rcl_allocator_t allocator = standin_allocator();
  while (!rcl_clock_time_started(&ros_clock))
    usleep(1000);
  for (size_t i = 0; i < timer_count; i++) {
    all[i] = &timers[i];
    rcl_timer_init2(all[i], &ros_clock, NULL, period_ns, NULL, allocator, true);
  }
  puts("ready");
  fflush(stdout);
  for (;;) {
    standin_wait(all, timer_count, -1);
    for (size_t i = 0; i < timer_count; i++) {
      bool is_ready = false;
      rcl_timer_call_info_t info;
      rcl_timer_is_ready(all[i], &is_ready);
      if (is_ready && rcl_timer_call_with_info(all[i], &info) == RCL_RET_OK) calls++;
    }
  }
  return NULL;
}

static long reading_ps(void)
{
  struct timespec begin, end;
  int64_t now_ns;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < READINGS; i++)
    rcl_clock_get_now(&ros_clock, &now_ns);
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t took_ns = (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + end.tv_nsec - begin.tv_nsec;
  return (long)(took_ns * 1000 / READINGS);
}

int main(int argc, char **argv)
{
  pthread_t executor, receiver;
  rcl_allocator_t allocator = standin_allocator();
  if (argc != 4) return 2;
  timer_count = strtoul(argv[2], NULL, 10);
  period_ns = strtoll(argv[3], NULL, 10);
  if (timer_count > MAX_TIMERS || rcl_clock_init(RCL_ROS_TIME, &ros_clock, &allocator)) return 2;
  if (!strcmp(argv[1], "plain")) {
    rcl_enable_ros_time_override(&ros_clock);
    pthread_create(&receiver, NULL, receive, NULL);
  }
  pthread_create(&executor, NULL, execute, NULL);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
    printf("%ld\n", reading_ps());
    fflush(stdout);
  }
  printf("%ld\n", calls);
  fflush(stdout);
  _exit(0);
}
