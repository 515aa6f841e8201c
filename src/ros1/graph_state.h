/* The master's answer about its graph, as a snapshot of nodes that are yet to be asked. */
#ifndef TB_ROS1_GRAPH_STATE_H
#define TB_ROS1_GRAPH_STATE_H

#include <timebase/ros1_graph.h>

#include "ros1/sim_time.h"

/* Owns all texts and lists of the public part. */
typedef struct tb__graph_state {
  tb_ros1_graph_snapshot_t public; /* first: what the program has */
  tb_ros1_graph_node_t *nodes;     /* those of `public` */
  tb_ros1_graph_topic_t *topics;
} tb__graph_state_t;

/* Of the value of getSystemState. TB_ERR_CORRUPT, TB_ERR_NO_MEMORY; fills *out either way, to be
 * ended with tb__graph_state_fini. */
tb_status_t tb__graph_state_read(const tb__xmlrpc_value_t *value,
                                 tb__graph_state_t *out) TB_WARN_UNUSED;
void tb__graph_state_fini(tb__graph_state_t *state);

/* Of the value of getTopicTypes. TB_ERR_NO_MEMORY. */
tb_status_t tb__graph_state_types(const tb__xmlrpc_value_t *value,
                                  tb__graph_state_t *state) TB_WARN_UNUSED;
/* Of the answer to getParam of /use_sim_time. TB_ERR_NO_MEMORY. */
tb_status_t tb__graph_state_sim_time(const tb__xmlrpc_message_t *answer,
                                     tb__graph_state_t *state) TB_WARN_UNUSED;

/* Replaces a text of the snapshot by a copy. NULL is "". TB_ERR_NO_MEMORY. */
tb_status_t tb__graph_text_set(const char **place, const char *text) TB_WARN_UNUSED;

/* Takes a node out. */
void tb__graph_state_remove(tb__graph_state_t *state, size_t index);

#endif
