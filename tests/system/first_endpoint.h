/* For peers: what the first endpoint of a topic announces, once there is one. */
#ifndef TB_TEST_FIRST_ENDPOINT_H
#define TB_TEST_FIRST_ENDPOINT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_graph.h>

/* tb_ros2_graph_publishers or tb_ros2_graph_subscriptions. */
typedef size_t (*endpoints_of_t)(const tb_ros2_graph_snapshot_t *snapshot, const char *topic,
                                 const tb_ros2_graph_endpoint_t **out);

/* Ends the peer if it fails. */
static inline void with_first_endpoint(tb_ros2_context_t *context, const char *topic,
                                       endpoints_of_t endpoints_of,
                                       void (*use)(const tb_ros2_graph_endpoint_t *endpoint))
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_graph_t *graph = NULL;
  tb_status_t status = tb_ros2_graph_create(context, &graph, &error);
  for (bool is_there = false; !status && !is_there;) {
    const tb_ros2_graph_snapshot_t *snapshot;
    const tb_ros2_graph_endpoint_t *endpoints;
    uint32_t seen = tb_ros2_graph_changes(graph);
    status = tb_ros2_graph_snapshot(graph, &snapshot, &error);
    if (status) break;
    is_there = endpoints_of(snapshot, topic, &endpoints) != 0;
    if (is_there) use(&endpoints[0]);
    tb_ros2_graph_snapshot_release(snapshot);
    if (!is_there) status = tb_ros2_graph_wait_for_change(graph, seen, NULL);
  }
  tb_ros2_graph_destroy(graph);
  if (!status) return;
  fprintf(stderr, "peer: %s: %s\n", topic, error.text[0] ? error.text : tb_status_message(status));
  exit(1);
}

#endif
