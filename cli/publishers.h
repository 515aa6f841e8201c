/* Who publishes a topic, as the graph of a context knows it. */
#ifndef TB_CLI_PUBLISHERS_H
#define TB_CLI_PUBLISHERS_H

#include <timebase/ros2_graph.h>

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

/* Those of others to standard error, "/sim and /player", each node once; a program that has none is
 * "a program without a node". */
void publishers_say_others(const publishers_t *publishers);

#endif
