/* A look at a graph of ROS 1, and what is wrong with its time. */
#ifndef TB_CLI_ROS1_FINDINGS_H
#define TB_CLI_ROS1_FINDINGS_H

#include <stdio.h>
#include <timebase/ros1_graph.h>

#include "contract/finding.h"
#include "contract/time_base.h"
#include "ros1_ticks.h"

typedef enum ros1_role {
  ROS1_ROLE_NODE,
  ROS1_ROLE_QUIET,    /* it publishes nothing of its own */
  ROS1_ROLE_RECORDER, /* it subscribes to /clock, and to whatever else, of any type */
  ROS1_ROLE_CLOCK,    /* registered as a publisher of /clock: a simulator, a player */
  ROS1_ROLE_TOOL,     /* rosout, rostopic */
} ros1_role_t;

typedef struct ros1_node {
  ros1_role_t role;
  tb__base_t base;
  const char *why; /* the evidence of its time base, and with UNKNOWN why it is */
} ros1_node_t;

typedef enum ros1_clock_state {
  ROS1_CLOCK_NONE,    /* no publisher is registered */
  ROS1_CLOCK_DEAD,    /* those that are do not answer */
  ROS1_CLOCK_SILENT,  /* one that answers, and no tick */
  ROS1_CLOCK_STOPPED, /* there were ticks */
  ROS1_CLOCK_TICKS,
} ros1_clock_state_t;

typedef struct ros1_look {
  const command_t *command;
  struct tb_ros1_context *context;
  clock_gauge_t *gauge; /* listens to /clock */
  tb_duration_t limit;  /* for the answers of nodes */
  bool goes_on;         /* ticks that were taken are not taken again */
  bool is_brief;        /* a subscription that has just begun is not waited for */
  void (*find)(struct ros1_look *look, void *user); /* adds findings of its own; NULL: none */
  void *find_user;
  /* Taken: */
  tb_ros1_graph_snapshot_t *graph;
  ros1_node_t *nodes; /* of each node of the graph */
  tb__ticks_t ticks;  /* so far */
  clock_gauge_name_t names[TB__TICK_PUBLISHERS];
  ros1_clock_state_t clock;
  tb__findings_t *findings;
} ros1_look_t;

/* Joins, with a gauge of its own; a master that does not answer is a failure. From here on signals
 * are caught. EXIT_OK, or a message has been printed. Close it either way. */
int ros1_look_open(const command_t *command, tb_duration_t limit, ros1_look_t *out);
void ros1_look_close(ros1_look_t *look);

/* What is before "taken" is set before. Asks the graph, and judges it. EXIT_OK, or a message has
 * been printed. Release it either way; it can be taken again then. */
int ros1_look_take(ros1_look_t *look);
/* Listens before, until `begin_ns` + `duration_ns` of steady time where there is a publisher of
 * /clock that answers and has not ticked, or several; else not at all. *out_signal: a signal came,
 * and it is not taken. */
int ros1_look_listen(ros1_look_t *look, int64_t duration_ns, int *out_signal);
void ros1_look_release(ros1_look_t *look);

/* Whether its time is that of /clock, as it answers, and it is no tool. */
bool ros1_node_follows(const tb_ros1_graph_node_t *node);

/* A line for each finding that is below no other, to standard output. */
void ros1_look_print_lines(const ros1_look_t *look);

/* "node", "quiet", "recorder", "clock", "tool". */
const char *ros1_role_name(ros1_role_t role);
/* "none", "dead", "silent", "stopped", "ticks". */
const char *ros1_clock_state_name(ros1_clock_state_t state);
/* "/clock at 100.0 Hz, factor 1.000", "no publisher of /clock": to standard output. */
void ros1_look_print_clock(const ros1_look_t *look);

/* As if a signal had not been caught. */
void ros1_end_by_signal(int signal_number);

#endif
