/* `timebase wait`: what was asked for, and what came out. */
#ifndef TB_CLI_WAIT_H
#define TB_CLI_WAIT_H

#include <jansson.h>
#include <timebase/ready.h>
#include <timebase/ros2_client.h>
#include <timebase/steady_clock.h>

#include "clock_gauge.h"
#include "clocks.h"

enum { WAIT_NODES = 64 };

/* Why it is not ready: tb_ready_reason_name, or one of these. */
#define WAIT_TWO_PUBLISHERS "two-publishers"
#define WAIT_TWO_STREAMS    "two-streams"
#define WAIT_INEXACT        "inexact"
#define WAIT_NOT_ACTIVE     "not-active"
#define WAIT_NO_MASTER      "no-master" /* of ROS 1: it does not answer */

typedef enum wait_node_outcome {
  WAIT_NODE_LEFT,      /* not asked: the clock was not ready */
  WAIT_NODE_ACTIVATED, /* by us */
  WAIT_NODE_WAS_ACTIVE,
  WAIT_NODE_FAILED,
} wait_node_outcome_t;

/* A lifecycle node to be activated. */
typedef struct wait_node {
  const char *argument;
  char name[256]; /* with the leading "/" */
  tb_ros2_client_t *get_state, *change_state;
  wait_node_outcome_t outcome;
  uint8_t state; /* the last that it reported; 0: none */
  char problem[160];
} wait_node_t;

typedef struct wait {
  const command_t *command;
  tb_ready_options_t ready;
  tb_duration_t limit;
  int64_t max_error_ns; /* 0: any */
  const char *manifest; /* NULL: none */
  char topic[256];      /* of the manifest; empty: /clock */
  int domain;
  bool json, ros1;
  wait_node_t nodes[WAIT_NODES];
  size_t node_count;

  ros_clock_t ros;
  clock_gauge_t gauge; /* not open where the clock is not on a topic */
  tb_steady_clock_t *steady;
  int64_t deadline_ns; /* steady */
  const char *reason;  /* of the result below: "ready" if it is */
  tb_ready_result_t result;
  clock_gauge_facts_t facts;
  uint32_t servers; /* of ROS 1: publishers that the master has and that answer */
  uint64_t rules;   /* of ROS 1: a bit for each rule that has found something */
} wait_t;

/* What is left of the limit; TB_NO_WAIT: nothing. */
tb_duration_t wait_left(const wait_t *wait);
void wait_rest(const wait_t *wait, int64_t rest_ns);

/* --- wait_show.c --- */

int wait_show_json(wait_t *wait, int status);
/* That the clock is ready. */
void wait_show_ready(const wait_t *wait);
/* That a node is active. */
void wait_show_node(const wait_node_t *node);
/* Why it is not, to standard error; `error`: the library's text. EXIT_CHECK. */
int wait_show_failure(wait_t *wait, const tb_error_t *error);

/* --- wait_activate.c --- */

/* Makes the clients, so that the services are found meanwhile. EXIT_OK, or a message has been
 * printed. Close them either way. */
int wait_nodes_open(wait_t *wait);
void wait_nodes_close(wait_t *wait);
/* Activates one node after another, within the limit. EXIT_CHECK: not all of them. */
int wait_nodes_activate(wait_t *wait);
/* "inactive" */
const char *wait_state_name(uint8_t state);

#endif
