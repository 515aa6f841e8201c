/* /clock as `wait` measures it, and how wrong simulated time is at most. */
#ifndef TB_CLI_CLOCK_GAUGE_H
#define TB_CLI_CLOCK_GAUGE_H

#include <jansson.h>
#include <pthread.h>
#include <timebase/ros2_subscription.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "contract/ticks.h"

/* --- one tick --- */

/* The time in a serialized rosgraph_msgs/Clock. It may be below 0 or no time
 * (tb__is_no_time). False: there is none. */
bool clock_tick_read(const tb_ros2_sample_t *sample, int64_t *out_ns);
/* What stands for a publisher in the statistics of ticks; never 0. */
uint64_t clock_publisher_id(const uint8_t guid[16]);
/* Adds how long the sample took from the publisher to here, in system time. */
void clock_latency_add(tb__spread_t *latency, const tb_ros2_sample_t *sample);

/* --- the error of simulated time --- */

/* How much later than the publisher's time the time that a node reads is at most. */
typedef struct clock_error {
  double factor, rate_hz;
  int64_t latency_ns; /* p99.9, from the publisher to here: not below it */
  int64_t step_ns;    /* one tick: the longest in simulated time, as ticks may come late */
  int64_t error_ns;   /* factor x latency + one tick; 0: not known */
} clock_error_t;

clock_error_t clock_error_make(const tb__tick_stream_t *ticks, const tb__spread_t *latency);
/* The rate in Hz at which the error is `allowed_ns` with this factor; 0: none is. */
double clock_error_rate(const clock_error_t *error, int64_t allowed_ns);
/* The factor at which it is with this rate. */
double clock_error_factor(const clock_error_t *error, int64_t allowed_ns);
/* "its time is wrong by at most 9.1 ms (allowed are 5.0 ms: ...)", or nothing where it is not
 * known. `allowed_ns` 0: nothing is demanded. */
void clock_error_print(const clock_error_t *error, int64_t allowed_ns);
/* "error_ns" with its parts "error_latency_ns" and "error_step_ns", and where something is demanded
 * "max_error_ns", "rate_for_max_error_hz" and "rtf_for_max_error"; null where it is not known or no
 * rate is enough. */
void clock_error_put(json_t *object, const clock_error_t *error, int64_t allowed_ns);

/* --- gathering --- */

/* A publisher of ROS 1 that has ticked. */
typedef struct clock_gauge_name {
  uint64_t id; /* as in the ticks */
  char name[256];
} clock_gauge_name_t;

typedef struct clock_gauge {
  tb_steady_clock_t *steady; /* NULL: not open */
  tb_ros2_subscription_t *subscription;
  struct tb_ros1_subscription *ros1; /* in its place, on a graph of ROS 1 */
  bool is_fed;                       /* by the source of a clock of ROS 1 */
  clock_gauge_name_t names[TB__TICK_PUBLISHERS];
  pthread_mutex_t mutex;
  int64_t begin_ns;                /* steady */
  struct clock_gauge *also;        /* is fed with the same ticks of ROS 1; NULL: none */
  struct tb__tick_history *recent; /* gets ticks of ROS 1, under the mutex; NULL: none */
  tb__ticks_t ticks;
  tb__spread_t latency; /* empty on ROS 1, whose messages do not carry when they were sent */
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

/* Begins, for samples of others: of the observer of a /clock source. EXIT_OK, or a message has been
 * printed. Close it either way. */
int clock_gauge_begin(const command_t *command, clock_gauge_t *out);
/* A tb_ros2_subscription_callback_t; `user` is the gauge. */
void clock_gauge_feed(const tb_ros2_sample_t *sample, void *user);

/* Begins and subscribes. EXIT_OK, or a message has been printed. Close it either way. */
int clock_gauge_open(const command_t *command, tb_ros2_context_t *context, const char *topic,
                     clock_gauge_t *out);
void clock_gauge_close(clock_gauge_t *gauge);
/* Whether it has a subscription of its own. */
bool clock_gauge_listens(const clock_gauge_t *gauge);
/* How many publishers ticked since it was opened or restarted. */
uint32_t clock_gauge_publishers(clock_gauge_t *gauge);
void clock_gauge_restart(clock_gauge_t *gauge);
/* The same, but goes on from the last tick. With the gauge's mutex held, so that no tick comes
 * between what was read and what is gathered next. */
void clock_gauge_go_on_locked(clock_gauge_t *gauge);
clock_gauge_facts_t clock_gauge_read(clock_gauge_t *gauge);

#endif
