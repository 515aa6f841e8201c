/* The publishers of a topic, as the graph of a context knows them. */
#ifndef TB_CLI_PUBLISHERS_H
#define TB_CLI_PUBLISHERS_H

#include <stdbool.h>
#include <stdio.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>

#define CLOCK_TYPE "rosgraph_msgs/msg/Clock"

typedef struct publishers {
  const tb_ros2_graph_snapshot_t *snapshot;
  const tb_ros2_graph_endpoint_t *items;
  size_t count;
} publishers_t;

/* Empty where there is no graph (NULL) or no memory. Release them afterwards. */
void publishers_find(tb_ros2_graph_t *graph, const char *topic, publishers_t *out);
void publishers_release(publishers_t *publishers);

/* Whether the publisher belongs to the context of the graph. */
bool publishers_is_own(const publishers_t *publishers, size_t index);

size_t publishers_count_others(const publishers_t *publishers);

/* The nodes of the others, "/sim and /player", each once; "a program without a node" for one that
 * has none, and words for a node whose name is not known yet. */
void publishers_print_others(FILE *out, const publishers_t *publishers);

/* The value of a policy, "best effort"; NULL: one whose values are not printed. */
const char *publishers_policy_value(const tb_ros2_graph_endpoint_t *endpoint,
                                    tb_qos_policy_t policy);
/* "reliability differs (best effort offered, reliable requested)" for each bit of `mismatches`. */
void publishers_print_policies(FILE *out, const tb_ros2_graph_endpoint_t *publisher,
                               const tb_ros2_graph_endpoint_t *subscription, uint32_t mismatches);

/* An initializer: the subscription with which ROS follows /clock. */
#define PUBLISHERS_CLOCK_READER                                                                    \
  {                                                                                                \
    .name = "/clock", .type = CLOCK_TYPE, .qos = TB_QOS_INIT_CLOCK,                                \
    .dds_qos = {.representations = 1},                                                             \
  }

/* Reports when others publish a topic that a node of ours publishes. */
typedef struct publishers_watch {
  tb_ros2_graph_t *graph; /* NULL: not watching */
  const tb_ros2_node_t *node;
  const char *topic;     /* before remapping */
  const char *elsewhere; /* the option for another topic: "--topic" */
  uint32_t changes;      /* of the graph, at the last poll */
  bool is_seen;          /* the graph as of `changes` has been examined */
  bool has_others;       /* other publishers of the topic */
} publishers_watch_t;

tb_status_t publishers_watch_open(publishers_watch_t *watch, tb_ros2_context_t *context,
                                  const tb_ros2_node_t *node, const char *topic,
                                  const char *elsewhere, tb_error_t *error);
/* Returns a warning, to be freed, once there are others and the graph has settled; else NULL. To be
 * called periodically. */
char *publishers_watch_poll(publishers_watch_t *watch);
/* Accepts zeroes. */
void publishers_watch_close(publishers_watch_t *watch);

#endif
