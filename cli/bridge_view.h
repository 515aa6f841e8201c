/* Both graphs at one moment: who publishes and subscribes a topic. A bridge is a node that
 * subscribes on one side, publishes the same topic under the same name on the other, and has marked
 * itself with a parameter of the master; or it is ros1_bridge. */
#ifndef TB_CLI_BRIDGE_VIEW_H
#define TB_CLI_BRIDGE_VIEW_H

#include <timebase/ros1_graph.h>

#include "bridge_ends.h"

typedef struct bridge_view {
  const bridge_ends_t *ends;
  const char *own; /* full name of our nodes */
  tb_ros1_graph_snapshot_t *ros1;
  const tb_ros2_graph_snapshot_t *ros2;
} bridge_view_t;

/* When the graphs are looked at. */
typedef struct bridge_look {
  const bridge_ends_t *ends;
  int64_t begin_ns, changed_ns, taken_ns; /* steady; 0: never */
  int64_t quiet_ns;                       /* steady: the last time that it had settled */
  uint32_t changes, taken_changes;        /* of the ROS 2 graph */
  bool has_reported_master, has_reported_changes;
} bridge_look_t;

void bridge_look_begin(bridge_look_t *look, const bridge_ends_t *ends);
/* To be called every 100 ms or so. True once a second, and right after a change of the ROS 2 graph:
 * release *out afterwards. Asks the master, for a short while at most; that it does not answer is
 * reported once. */
bool bridge_look_take(bridge_look_t *look, bridge_view_t *out);
/* Whether discovery has brought what was there when it began, or the graph has changed for 10 s
 * without a pause, which is reported once. */
bool bridge_look_is_settled(bridge_look_t *look, const bridge_view_t *view);
void bridge_view_release(bridge_view_t *view);

/* Whether it is an endpoint of ours. */
bool bridge_view_is_own(const bridge_view_t *view, const tb_ros2_graph_endpoint_t *endpoint);

/* The names of the nodes other than ours that publish the topic, up to `max` of them in `out`:
 * valid as long as the view. Returns how many there are. */
size_t bridge_view_publishers(const bridge_view_t *view, bridge_side_t side, const char *topic,
                              const char **out, size_t max);
bool bridge_view_subscribes(const bridge_view_t *view, bridge_side_t side, const char *topic,
                            const char *node);
/* The node, other than ours, that carries the topic from that side; NULL: none. */
const char *bridge_view_bridge(const bridge_view_t *view, bridge_side_t from, const char *topic);

/* A running node of ROS 1 that has the name of ours; NULL: none, or it is ours. */
const tb_ros1_graph_node_t *bridge_view_namesake(const bridge_view_t *view);

/* Sets the parameter by which other bridges know this one, or deletes it. */
tb_status_t bridge_view_mark(const bridge_ends_t *ends);
void bridge_view_unmark(const bridge_ends_t *ends);

/* "/a, /b and 3 more", to be freed; NULL: no memory. */
char *bridge_view_names(const bridge_view_t *view, bridge_side_t side, const char *topic);

#endif
