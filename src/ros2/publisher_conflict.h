/* Two publishers that tick one clock at a time, and what is said of them: with the names of their
 * nodes, for which the graph is asked. Of one thread, which is none of DDS's. */
#ifndef TB_ROS2_PUBLISHER_CONFLICT_H
#define TB_ROS2_PUBLISHER_CONFLICT_H

#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>

#include "source/tick_filter.h"

typedef struct tb__publisher_conflict {
  tb__writer_id_t writers[2]; /* who was there, and who came */
  bool is_pending;            /* not said yet */
  int64_t until_ns;           /* steady: then it is said, with or without names */
  tb_ros2_graph_t *graph;     /* while it is pending */
  uint32_t changes;           /* of the graph, when it was looked at last */
  char names[2][TB_ROS2_NAME_SIZE];
} tb__publisher_conflict_t;

/* To be said. The graph is asked from now on. */
void tb__publisher_conflict_begin(tb__publisher_conflict_t *conflict, tb_ros2_context_t *context,
                                  const tb__writer_id_t writers[2], int64_t now_ns);

/* Says it to the log hook, once both names are known or it is time. False: later. */
bool tb__publisher_conflict_report(tb__publisher_conflict_t *conflict, const char *topic,
                                   bool hold_to_first, int64_t now_ns);

/* Says what is pending. */
void tb__publisher_conflict_fini(tb__publisher_conflict_t *conflict, const char *topic,
                                 bool hold_to_first);

#endif
