/* The clock that a command's options name: --ros, --system, --steady and --domain. */
#ifndef TB_CLI_CLOCKS_H
#define TB_CLI_CLOCKS_H

#include <pthread.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/source.h>
#include <timebase/steady_clock.h>

#include "command.h"

typedef enum clock_choice {
  CLOCK_DEFAULT,
  CLOCK_SYSTEM,
  CLOCK_ROS, /* follows /clock, or what TIMEBASE_SOURCE names */
  CLOCK_STEADY,
} clock_choice_t;

/* Why a clock has no time. */
typedef enum clock_reason {
  REASON_NONE,
  REASON_NO_PUBLISHER,
  REASON_AWAITED, /* no publisher, but participants whose endpoints and nodes are still to come */
  REASON_TYPE,    /* publishers have another type */
  REASON_QOS,
  REASON_SILENT, /* publishers match and send nothing */
  REASON_MASTER, /* of ROS 1: it does not answer */
  REASON_DEAD,   /* the same of the publishers that it has */
} clock_reason_t;

typedef struct ros_clock_facts {
  uint32_t matched;                        /* publishers that could tick */
  int64_t first_sample_ns, last_sample_ns; /* steady; 0: none yet */
} ros_clock_facts_t;

/* A ROS clock that follows /clock, or what TIMEBASE_SOURCE names, and the objects it needs. */
typedef struct ros_clock {
  void *context;                /* tb_ros2_context_t; NULL: not on a topic */
  void *graph;                  /* tb_ros2_graph_t */
  struct tb_ros1_context *ros1; /* NULL: not on a graph of ROS 1 */
  char topic[256];              /* "/clock"; empty: on none */
  tb_source_t *source;
  tb_clock_t *clock;
  clock_reason_t explained; /* the reason printed last */
  /* Of a topic: */
  void (*explain)(const command_t *command, struct ros_clock *clock);
  void (*read_facts)(const struct ros_clock *clock, ros_clock_facts_t *out);
  void (*leave)(struct ros_clock *clock); /* once source and clock are destroyed */
} ros_clock_t;

/* `domain` -1: ROS_DOMAIN_ID. EXIT_OK, or a message has been printed. Close it either way. */
int ros_clock_open(const command_t *command, int domain, ros_clock_t *out);
/* The same, on the topic whatever the environment has. */
struct tb_ros2_clock_source_options;
int topic_clock_open(const command_t *command, int domain,
                     const struct tb_ros2_clock_source_options *source, ros_clock_t *out);
void ros_clock_close(ros_clock_t *clock);
/* Of a clock on a topic; else zeroes. */
ros_clock_facts_t ros_clock_facts(const ros_clock_t *clock);

/* Prints why the clock has no time, unless that reason was the last one printed. */
void ros_clock_explain(const command_t *command, ros_clock_t *clock);

/* Prints the reason when a wait for the clock has taken a second and it has no time yet. */
typedef struct clock_hint {
  const command_t *command;
  ros_clock_t *clock;
  tb_cancel_token_t *done;
  pthread_t thread;
  bool is_running;
} clock_hint_t;

void clock_hint_begin(const command_t *command, ros_clock_t *clock, clock_hint_t *out);
/* When the wait is over. */
void clock_hint_end(clock_hint_t *hint);

/* Prints the reason, and that no time was received within the limit. EXIT_CHECK. */
int ros_clock_timed_out(const command_t *command, ros_clock_t *clock, tb_duration_t limit);

#endif
