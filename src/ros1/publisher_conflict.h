/* Warns of other nodes that publish a topic of which there is to be one publisher. The master knows
 * them by name only: one that was killed stays there too. */
#ifndef TB_ROS1_PUBLISHER_CONFLICT_H
#define TB_ROS1_PUBLISHER_CONFLICT_H

#include "ros1/node.h"

typedef struct tb__ros1_publisher_conflict {
  tb__ros1_node_t *node;
  const char *topic;
  tb__xmlrpc_exchange_t exchange;
  tb__ros1_timer_t timer;
  char reported[TB__ROS1_NAME_SIZE]; /* the node that was warned of last; "": none */
} tb__ros1_publisher_conflict_t;

/* `topic` is kept. On the loop's thread, as the following. */
void tb__ros1_publisher_conflict_begin(tb__ros1_publisher_conflict_t *conflict,
                                       tb__ros1_node_t *node, const char *topic);
void tb__ros1_publisher_conflict_end(tb__ros1_publisher_conflict_t *conflict);

#endif
