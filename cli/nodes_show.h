/* What `timebase nodes` has found, as text and as JSON. */
#ifndef TB_CLI_NODES_SHOW_H
#define TB_CLI_NODES_SHOW_H

#include "graph_view.h"

typedef enum sim_time {
  SIM_TIME_NO_PARAMETERS, /* the node has no service that tells them */
  SIM_TIME_NO_ANSWER,
  SIM_TIME_AMBIGUOUS, /* nodes of one name: it cannot be told which of them answers */
  SIM_TIME_UNSET,     /* the node has no such parameter, or it holds no bool */
  SIM_TIME_FALSE,
  SIM_TIME_TRUE,
} sim_time_t;

#define SIM_TIME_COUNT 6

/* What a node tells of its time. */
typedef struct node_time {
  sim_time_t sim_time;
  char *source; /* its parameter time_source; NULL: it has none */
} node_time_t;

/* By sim_time_t: as the text says it. */
extern const char *const nodes_sim_time_names[SIM_TIME_COUNT];

typedef struct nodes {
  const graph_view_t *view;
  const node_time_t *times;                                   /* of each node of the snapshot */
  const tb_ros2_graph_endpoint_t *publishers, *subscriptions; /* of /clock */
  size_t publisher_count, subscription_count;
} nodes_t;

/* How many pairs of a publisher and a subscription of /clock are kept apart. */
size_t nodes_mismatch_count(const nodes_t *nodes);

void nodes_print(const nodes_t *nodes);
/* Returns `status`, or EXIT_IO with a message. */
int nodes_print_json(const command_t *command, const nodes_t *nodes, int status);

#endif
