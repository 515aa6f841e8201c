/* Who publishes a topic, as the graph of a context knows it. */
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

/* Nobody where there is no graph (NULL) or no memory. Forget them afterwards. */
void publishers_look(tb_ros2_graph_t *graph, const char *topic, publishers_t *out);
void publishers_forget(publishers_t *publishers);

/* Whether it is of the context that the graph was made of. */
bool publishers_is_own(const publishers_t *publishers, size_t index);

size_t publishers_count_others(const publishers_t *publishers);

/* Those of others, "/sim and /player", each node once; a program that has none is "a program
 * without a node". */
void publishers_print_others(FILE *out, const publishers_t *publishers);

/* Whether others publish what a node of ours does. */
typedef struct publishers_watch {
  tb_ros2_graph_t *graph; /* NULL: nothing is watched */
  const tb_ros2_node_t *node;
  const char *topic;     /* as the node was given it */
  const char *elsewhere; /* what could be given to publish on another one: "--topic" */
  uint32_t changes;      /* of the graph, when it was looked at last */
  bool is_seen;          /* what has come up to then */
  bool has_others;       /* who publish there, too */
} publishers_watch_t;

tb_status_t publishers_watch_open(publishers_watch_t *watch, tb_ros2_context_t *context,
                                  const tb_ros2_node_t *node, const char *topic,
                                  const char *elsewhere, tb_error_t *error);
/* A warning once there are some and the graph has settled, to be freed; else NULL. Call it now and
 * then. */
char *publishers_watch_look(publishers_watch_t *watch);
/* Accepts zeroes. */
void publishers_watch_close(publishers_watch_t *watch);

#endif
