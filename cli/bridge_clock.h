/* /clock, carried from one graph to the other: each tick once, on the thread that takes it in. */
#ifndef TB_CLI_BRIDGE_CLOCK_H
#define TB_CLI_BRIDGE_CLOCK_H

#include <pthread.h>
#include <timebase/histogram.h>
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_subscription.h>

#include "bridge_ends.h"

#define BRIDGE_CLOCK_TOPIC "/clock"

/* What was carried so far. */
typedef struct bridge_clock_stats {
  uint64_t ticks;                         /* carried */
  uint64_t zero, invalid, beyond, failed; /* not carried, and why */
  uint64_t repeated;                      /* of the carried ones: the time before once more */
  uint64_t jumps_forward, jumps_backward;
  int64_t time_ns; /* of the last one */
  int64_t first_steady_ns, last_steady_ns;
  int64_t largest_backward_ns; /* negative */
} bridge_clock_stats_t;

/* From when a tick was received to when it was sent; 0 without ticks. */
typedef struct bridge_latency {
  int64_t median_ns, p99_ns, greatest_ns;
} bridge_latency_t;

typedef struct bridge_clock {
  const bridge_ends_t *ends;
  bridge_side_t from;
  tb_ros1_subscription_t *from_ros1;
  tb_ros1_clock_publisher_t *to_ros1;
  tb_ros2_subscription_t *from_ros2;
  tb_ros2_clock_publisher_t *to_ros2;
  tb_histogram_t *latency;
  tb_histogram_writer_t *writer;
  pthread_mutex_t mutex;
  bool is_carrying;   /* under the mutex, as the following */
  int64_t step_ns;    /* between the last two ticks */
  tb_error_t failure; /* the first one that has not been reported */
  bool is_failed;
  bridge_clock_stats_t stats;
} bridge_clock_t;

/* EXIT_OK, or a message has been printed. Close it either way. */
int bridge_clock_open(const bridge_ends_t *ends, bridge_side_t from, bridge_clock_t *out);
/* Whether ticks are carried, as after the call above, or dropped without being counted. */
void bridge_clock_set_carrying(bridge_clock_t *clock, bool is_carrying);
void bridge_clock_close(bridge_clock_t *clock);

/* How many publishers of the side from which it is carried are connected. */
uint32_t bridge_clock_connected(const bridge_clock_t *clock);
void bridge_clock_stats(bridge_clock_t *clock, bridge_clock_stats_t *out);
void bridge_clock_latency(bridge_clock_t *clock, bridge_latency_t *out);
/* True once for the first tick that could not be sent. */
bool bridge_clock_take_failure(bridge_clock_t *clock, tb_error_t *out);
uint64_t bridge_clock_dropped(const bridge_clock_stats_t *stats);

#endif
