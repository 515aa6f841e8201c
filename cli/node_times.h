/* What nodes answer about their parameters of time. */
#ifndef TB_CLI_NODE_TIMES_H
#define TB_CLI_NODE_TIMES_H

#include "graph_view.h"

typedef enum sim_time {
  SIM_TIME_NO_PARAMETERS, /* the node has no parameter services */
  SIM_TIME_NO_ANSWER,
  SIM_TIME_AMBIGUOUS, /* nodes share a name: it is not known which of them answers */
  SIM_TIME_UNSET,     /* the node has no such parameter, or it is not a bool */
  SIM_TIME_FALSE,
  SIM_TIME_TRUE,
} sim_time_t;

#define SIM_TIME_COUNT 6

/* The parameters of a node that concern time. */
typedef struct node_time {
  sim_time_t sim_time;
  char *source; /* its parameter time_source; NULL: none */
} node_time_t;

/* Asks all nodes of the view's snapshot at once, within `limit`. *out_times has one for each;
 * release it with the same snapshot, also after a failure. EXIT_OK, or a message has been printed.
 */
int node_times_query(const graph_view_t *view, tb_duration_t limit, node_time_t **out_times);
void node_times_release(const graph_view_t *view, node_time_t *times);

/* "no answer", "true". */
const char *node_time_name(sim_time_t sim_time);
/* Of time_source: whether it is /clock. NULL: ROS's own nodes do not have the parameter. */
bool node_time_is_default(const char *time_source);

#endif
