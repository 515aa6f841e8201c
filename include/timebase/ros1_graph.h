/* What is seen of a ROS 1 graph: the nodes that the master knows, whether they are alive, and what
 * they publish and subscribe to. */
#ifndef TIMEBASE_ROS1_GRAPH_H
#define TIMEBASE_ROS1_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>

/** Whether a node that is registered with the master is there. A node that was killed stays
 * registered until another takes its name, or until `rosnode cleanup`. */
typedef enum tb_ros1_node_state {
  TB_ROS1_NODE_ALIVE = 0,  /**< it answers */
  TB_ROS1_NODE_DEAD = 1,   /**< nothing listens where it is registered */
  TB_ROS1_NODE_SILENT = 2, /**< no answer within the limit: it hangs, is stopped, or its host cannot
                                be reached */
  TB_ROS1_NODE_FOREIGN = 3, /**< what answers there is no node of ROS 1: another program has the
                                 port now */
} tb_ros1_node_state_t;

/** `/use_sim_time`, which nodes of ROS 1 read once, when they start. */
typedef enum tb_ros1_sim_time_value {
  TB_ROS1_SIM_TIME_UNSET = 0, /**< not set: system time */
  TB_ROS1_SIM_TIME_FALSE = 1, /**< false, in whatever type: system time */
  TB_ROS1_SIM_TIME_TRUE = 2,  /**< the boolean true: the time of `/clock` */
  TB_ROS1_SIM_TIME_ODD = 3, /**< true of another type: system time for roscpp and for this library,
                                 `/clock` for rospy */
} tb_ros1_sim_time_value_t;

/** A topic. Dead nodes count. */
typedef struct tb_ros1_graph_topic {
  const char *name;          /**< "/clock" */
  const char *type;          /**< "rosgraph_msgs/Clock"; "" where the master knows none */
  uint32_t publisher_count;  /**< nodes that publish it */
  uint32_t subscriber_count; /**< nodes that subscribe to it */
} tb_ros1_graph_topic_t;

/** A node. Texts come from others. */
typedef struct tb_ros1_graph_node {
  const char *name;    /**< "/talker" */
  const char *uri;     /**< of its XML-RPC server, as registered; "" where the master has none */
  const char *host;    /**< of the URI; "" where that is none */
  const char *problem; /**< why it is not ALIVE; "" if it is */
  tb_ros1_node_state_t state;    /**< whether it is there */
  int32_t pid;                   /**< of its process on its host, as it answers; 0: not known */
  bool is_own;                   /**< the node of the context that looked */
  bool publishes_clock;          /**< registered as a publisher of `/clock`, which may be silent */
  bool subscribes_clock;         /**< registered as a subscriber of `/clock` */
  uint8_t padding[5];            /**< not used */
  const char *clock_type;        /**< the type with which it subscribes to `/clock`, as it answers:
                                      "rosgraph_msgs/Clock" of one that follows it, "*" of a recorder or a
                                      tool; "" where it does not, or is not known to */
  int32_t clock_connections;     /**< publishers of `/clock` that it is connected to, as it answers;
                                      -1: not known */
  uint32_t publication_count;    /**< topics that it publishes */
  uint32_t subscription_count;   /**< topics that it subscribes to */
  uint32_t service_count;        /**< services that it offers */
  const uint32_t *publications;  /**< indices of topics of the snapshot */
  const uint32_t *subscriptions; /**< see above */
  uint64_t reserved[2];          /**< 0 */
} tb_ros1_graph_node_t;

/** The graph at one moment. */
typedef struct tb_ros1_graph_snapshot {
  const tb_ros1_graph_node_t *nodes;   /**< by name */
  size_t node_count;                   /**< how many */
  const tb_ros1_graph_topic_t *topics; /**< by name */
  size_t topic_count;                  /**< how many */
  tb_ros1_sim_time_value_t sim_time;   /**< `/use_sim_time` */
  const char *sim_time_text;           /**< with its type: "the integer 1"; "" if it is not set */
  const char *master_uri;              /**< the one that was asked */
  uint64_t reserved[4];                /**< 0 */
} tb_ros1_graph_snapshot_t;

TB_BEGIN_DECLS

/** Asks the master for its nodes, and then the nodes, up to 128 at a time, each for `limit` of
 * steady time at most (0: 1 s): one that hangs delays no other. Registers nothing. The master has
 * 5 s for each of its answers. Release the snapshot with tb_ros1_graph_snapshot_release. A node
 * that unregisters meanwhile is not in it.
 *
 *   TB_ERR_TRANSPORT  the master does not answer, or not as one does: the text has its URI
 *   TB_ERR_INVALID    the limit is negative
 *   TB_ERR_DEADLOCK   on the context's thread, as in a callback
 *   TB_ERR_FORKED, TB_ERR_NO_MEMORY
 *
 * [any thread] [blocks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_graph_take(tb_ros1_context_t *context,
                                                     tb_duration_t limit,
                                                     tb_ros1_graph_snapshot_t **out,
                                                     tb_error_t *error);

/** Accepts NULL. [any thread] [from callbacks] */
TB_API void tb_ros1_graph_snapshot_release(tb_ros1_graph_snapshot_t *snapshot);

/** "alive", "dead", "silent", "foreign"; "unknown" for others. Static text. [any thread]
 * [from callbacks] */
TB_API const char *tb_ros1_node_state_name(tb_ros1_node_state_t state);

TB_END_DECLS

#endif
