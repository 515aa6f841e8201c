/* The clocks of a node and the source that moves them, as `use_sim_time` and `time_source` select.
 */
#ifndef TB_ROS2_NODE_TIME_H
#define TB_ROS2_NODE_TIME_H

#include <timebase/clock.h>
#include <timebase/ros2_clock_source.h>

#include "ros2/announcer.h"
#include "ros2/shared_sources.h"

/* The use of a source. */
typedef struct tb__source_lease {
  tb__shared_source_t *shared; /* NULL: none */
  tb_clock_t *
      keeper; /* on the source, so that it starts before, and stops after, the node's clocks move */
} tb__source_lease_t;

typedef struct tb__node_time {
  tb__shared_sources_t *sources;
  tb__announced_node_t *announced_node;
  const char *topic; /* the resolved name of /clock; outlives this */
  tb_qos_t qos;      /* of its subscription */

  tb__mutex_t
      turn; /* guards what follows; held while clocks are moved, and so during jump handlers */
  tb__source_lease_t lease;  /* none: inactive */
  tb__announced_t announced; /* the subscription of /clock that the node uses */
  tb_clock_t **clocks;
  size_t clock_count, clock_size;
} tb__node_time_t;

void tb__node_time_init(tb__node_time_t *time, tb__shared_sources_t *sources,
                        tb__announced_node_t *announced, const char *topic);

/* Its clocks must not be in use, except those that others own, which stay as they are. */
void tb__node_time_fini(tb__node_time_t *time);

/* Moves all clocks to the source of that name, or to system time (NULL). When it has returned, they
 * read the time of that source. On failure nothing has changed. Not from jump callbacks. The thread
 * must call tb__node_time_settle afterwards, whatever this returns. */
TB_WARN_UNUSED tb_status_t tb__node_time_follow(tb__node_time_t *time, const char *name,
                                                tb_error_t *error);

/* Releases the source that was followed before, with no lock held: a source that stops may wait for
 * threads that use the node (X1). */
void tb__node_time_settle(tb__node_time_t *time);

/* Of the subscription of /clock. TB_ERR_NOT_FOUND: none is followed. */
TB_WARN_UNUSED tb_status_t tb__node_time_status(tb__node_time_t *time,
                                                tb_ros2_clock_source_status_t *out);

/* Makes a clock follow the same source as the others, until it is removed. TB_ERR_INVALID: it has
 * been added already, or not at all. TB_ERR_BUSY: it follows another node. */
TB_WARN_UNUSED tb_status_t tb__node_time_add(tb__node_time_t *time, tb_clock_t *clock);
TB_WARN_UNUSED tb_status_t tb__node_time_remove(tb__node_time_t *time, tb_clock_t *clock);

#endif
