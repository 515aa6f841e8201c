/* /clock as `wait` measures it, and how wrong simulated time is at most. */
#ifndef TB_CLI_CLOCK_GAUGE_H
#define TB_CLI_CLOCK_GAUGE_H

#include <pthread.h>
#include <timebase/ros2_subscription.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "contract/ticks.h"

/* --- one tick --- */

/* The time in a serialized rosgraph_msgs/Clock. False: there is none. */
bool clock_tick_read(const tb_ros2_sample_t *sample, int64_t *out_ns);
/* What stands for a publisher in the statistics of ticks; never 0. */
uint64_t clock_publisher_id(const uint8_t guid[16]);
/* Adds how long the sample took from the publisher to here, in system time. */
void clock_latency_add(tb__spread_t *latency, const tb_ros2_sample_t *sample);

/* --- the error of simulated time --- */

/* How much later than the publisher's time the time that a node reads is at most. */
typedef struct clock_error {
  double factor, rate_hz;
  int64_t latency_ns; /* p99.9, from the publisher to here */
  int64_t error_ns;   /* factor x latency + one tick; 0: not known */
} clock_error_t;

/* `step_ns`: of simulated time, between two ticks. */
clock_error_t clock_error_make(double factor, double rate_hz, int64_t step_ns,
                               const tb__spread_t *latency);
/* The rate in Hz at which the error is `allowed_ns` with this factor; 0: none is. */
double clock_error_rate(const clock_error_t *error, int64_t allowed_ns);
/* The factor at which it is with this rate. */
double clock_error_factor(const clock_error_t *error, int64_t allowed_ns);

/* --- gathering --- */

typedef struct clock_gauge {
  tb_steady_clock_t *steady; /* NULL: not open */
  tb_ros2_subscription_t *subscription;
  pthread_mutex_t mutex;
  int64_t begin_ns; /* steady */
  tb__ticks_t ticks;
  tb__spread_t latency;
} clock_gauge_t;

/* What was gathered since it was opened or restarted. */
typedef struct clock_gauge_facts {
  int64_t span_ns;     /* steady time */
  uint32_t publishers; /* that tick by turns: two at once if above 1 */
  bool is_double;      /* one publisher sends two times */
  int64_t apart_ns;    /* between those two */
  uint64_t distinct;   /* times */
  uint64_t repeats;
  double rate_hz, factor;
  int64_t step_ns; /* of simulated time, the usual one; 0: not known */
  clock_error_t error;
} clock_gauge_facts_t;

/* Subscribes. EXIT_OK, or a message has been printed. Close it either way. */
int clock_gauge_open(const command_t *command, tb_ros2_context_t *context, const char *topic,
                     clock_gauge_t *out);
void clock_gauge_close(clock_gauge_t *gauge);
void clock_gauge_restart(clock_gauge_t *gauge);
clock_gauge_facts_t clock_gauge_read(clock_gauge_t *gauge);

#endif
