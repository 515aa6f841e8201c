/* Reports two publishers that tick one clock at the same time, with the names of their nodes, which
 * are looked up on the graph. Used by one thread, which is not one of DDS. */
#ifndef TB_ROS2_PUBLISHER_CONFLICT_H
#define TB_ROS2_PUBLISHER_CONFLICT_H

#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>

#include "dds/guid.h"

typedef struct tb__publisher_conflict {
  tb__guid_t writers[2];  /* the present one, and the new one */
  bool is_pending;        /* not reported yet */
  int64_t until_ns;       /* steady: then it is reported, with or without names */
  tb_ros2_graph_t *graph; /* while it is pending */
  uint32_t changes;       /* of the graph, at the last lookup */
  char names[2][TB_ROS2_NAME_SIZE];
} tb__publisher_conflict_t;

/* Begins a report, and the lookup of names. */
void tb__publisher_conflict_begin(tb__publisher_conflict_t *conflict, tb_ros2_context_t *context,
                                  const tb__guid_t writers[2], int64_t now_ns);

/* Reports to the log hook, once both names are known or the time limit has passed. False: not yet.
 */
bool tb__publisher_conflict_report(tb__publisher_conflict_t *conflict, const char *topic,
                                   bool hold_to_first, int64_t now_ns);

/* Makes a pending report. */
void tb__publisher_conflict_fini(tb__publisher_conflict_t *conflict, const char *topic,
                                 bool hold_to_first);

#endif
