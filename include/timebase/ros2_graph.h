/* What is seen of a ROS 2 graph: its nodes, and the publishers, subscriptions, services and clients
 * that they have. */
#ifndef TIMEBASE_ROS2_GRAPH_H
#define TIMEBASE_ROS2_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/sleep.h>

/** Follows the discovery of one domain. */
typedef struct tb_ros2_graph tb_ros2_graph_t;

/** What an endpoint is for. */
typedef enum tb_ros2_endpoint_kind {
  TB_ROS2_ENDPOINT_TOPIC = 0,           /**< messages of a topic */
  TB_ROS2_ENDPOINT_SERVICE_REQUEST = 1, /**< requests: published by clients */
  TB_ROS2_ENDPOINT_SERVICE_REPLY = 2,   /**< answers: published by the service */
  TB_ROS2_ENDPOINT_DDS = 3,             /**< nothing of ROS's: the topic has no ROS name */
} tb_ros2_endpoint_kind_t;

/** What DDS reports of an endpoint and ROS has no term for. */
typedef struct tb_ros2_endpoint_dds_qos {
  uint8_t durability;       /**< 0 volatile, 1 transient local, 2 transient, 3 persistent */
  uint8_t liveliness;       /**< 0 automatic, 1 manual by participant, 2 manual by topic */
  bool exclusive_ownership; /**< of several publishers only the strongest is heard */
  bool has_partition;       /**< in another than the default partition, where ROS is */
  uint32_t representations; /**< bit 0 XCDR1, which ROS speaks, bit 1 XML, bit 2 XCDR2 */
  uint64_t reserved[2];     /**< 0 */
} tb_ros2_endpoint_dds_qos_t;

/** A publisher or a subscription, in the wide sense: services and clients have one of each. Texts
 * come from other processes: only names and types of ROS's form are known to have only ROS's
 * characters. */
typedef struct tb_ros2_graph_endpoint {
  tb_ros2_endpoint_kind_t kind; /**< what it is for */
  bool is_publisher;            /**< else a subscription */
  const char *name;             /**< of the topic or service: "/clock"; DDS's name if not ROS's */
  const char *type;      /**< "rosgraph_msgs/msg/Clock"; DDS's name if it has not that form */
  const char *type_hash; /**< "RIHS01_" and 64 hex digits; NULL: none announced (humble) */
  tb_qos_t qos;          /**< as ROS sees it: the nearest where ROS has no term. History and depth
                              are announced by Cyclone DDS alone: see TB_QOS_HISTORY_UNKNOWN */
  tb_ros2_endpoint_dds_qos_t dds_qos; /**< exactly as DDS has it */
  uint8_t guid[16];                   /**< DDS GUID, network order */
  uint8_t participant_guid[16]; /**< of the participant that it is in, usually one per process */
  int32_t node; /**< index of the first node that lists it: nodes of a process may share one; -1:
                   none does, for example that of a plain DDS program */
  uint64_t reserved[4]; /**< 0 */
} tb_ros2_graph_endpoint_t;

/** What is known of the nodes of a participant. */
typedef enum tb_ros2_participant_state {
  TB_ROS2_PARTICIPANT_NO_NODES = 0,   /**< a plain DDS program, or a ROS program without a node:
                                           it has no writer of ros_discovery_info */
  TB_ROS2_PARTICIPANT_AWAITED = 1,    /**< of ROS, and has not announced its nodes so far */
  TB_ROS2_PARTICIPANT_ANNOUNCED = 2,  /**< has announced its nodes, of which there may be none */
  TB_ROS2_PARTICIPANT_UNREADABLE = 3, /**< its announcement of nodes is not one of ROS: ignored */
} tb_ros2_participant_state_t;

/** What nodes and endpoints are in: usually one per process. It is known from its announcement to
 * DDS, before its endpoints and its nodes. Those of Fast DDS follow within 1 s and 4 s, since DDS
 * repeats what came before the two had met; those of Cyclone DDS in a moment. */
typedef struct tb_ros2_graph_participant {
  uint8_t guid[16];       /**< DDS GUID, network order; the first two bytes name the vendor */
  const char *middleware; /**< "Cyclone DDS", "Fast DDS"; "vendor 01.2a" if not known by name */
  const char *enclave;    /**< as tb_ros2_graph_node_t.enclave; NULL: not of ROS */
  const char *addresses;  /**< where DDS reaches it: "udp/192.168.0.7:7410@2,udp/..."; cut at 255
                             bytes. If is_own those of the network interfaces that DDS uses:
                             "192.168.0.7,127.0.0.1". Of another context in this process:
                             "localprocess" */
  tb_ros2_participant_state_t state; /**< what is known of its nodes */
  bool is_own;                       /**< of the context that the graph was made of */
  const char *host_name; /**< of its process, as Cyclone DDS announces it; NULL: not known */
  uint64_t process_id;   /**< the same, in its process namespace; 0: not known */
  uint64_t reserved[2];  /**< 0 */
} tb_ros2_graph_participant_t;

/** A node. */
typedef struct tb_ros2_graph_node {
  const char *name;             /**< "camera" */
  const char *name_space;       /**< "/front", "/" */
  const char *full_name;        /**< "/front/camera" */
  const char *enclave;          /**< of its process: "/" unless it is secured; any characters */
  tb_ros2_distro_t distro;      /**< by the form in which its process announces it */
  bool is_duplicate;            /**< there is another node of this name */
  bool is_own;                  /**< of the context that the graph was made of */
  uint8_t participant_guid[16]; /**< of its participant, usually one per process */
  const uint32_t *endpoints;    /**< indexes of its endpoints, rising */
  size_t endpoint_count;        /**< how many */
  const char *middleware;       /**< of its participant: "Cyclone DDS", "Fast DDS" */
  uint64_t unseen_count; /**< endpoints that it announces and that discovery has not found yet */
  uint64_t reserved[2];  /**< 0 */
} tb_ros2_graph_node_t;

/** The graph at one moment. Nothing in it changes. */
typedef struct tb_ros2_graph_snapshot {
  uint32_t change;                           /**< tb_ros2_graph_changes of that moment */
  const tb_ros2_graph_node_t *nodes;         /**< by full name, then GUID of the participant */
  size_t node_count;                         /**< how many */
  const tb_ros2_graph_endpoint_t *endpoints; /**< by kind, name, publishers first, type, GUID */
  size_t endpoint_count;                     /**< how many */
  uint64_t malformed; /**< announcements of nodes ignored so far because ROS would not send them */
  uint64_t foreign;   /**< announcements ignored because they were about another process */
  const tb_ros2_graph_participant_t *participants; /**< by GUID */
  size_t participant_count;                        /**< how many */
  size_t awaited_count; /**< of these, those with TB_ROS2_PARTICIPANT_AWAITED. May fall without a
                           change of the graph: while it is not 0, take a snapshot now and then */
} tb_ros2_graph_snapshot_t;

TB_BEGIN_DECLS

/** Begins to follow the domain of the context, the context's own nodes included. What is there
 * already is seen after a short while, the time of discovery: see tb_ros2_graph_wait_for_node.
 * Changes are processed on DDS's threads. Destroy the graph before its context.
 *
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_graph_create(tb_ros2_context_t *context,
                                                       tb_ros2_graph_t **out, tb_error_t *error);

/** Accepts NULL. Snapshots stay. No call may be in progress on another thread.
 * [any thread] [blocks: for a moment] Not from a callback of DDS. */
TB_API void tb_ros2_graph_destroy(tb_ros2_graph_t *graph);

/** What is seen now: give *out back with tb_ros2_graph_snapshot_release. A node is listed even if
 * some of its endpoints are not discovered yet. While awaited_count is not 0 there may be more
 * nodes than are listed. A process that was killed stays for its lease, usually 10 s.
 *
 *   TB_ERR_NO_MEMORY  now, or earlier so that something that came was lost: then make a new graph
 *   TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_graph_snapshot(tb_ros2_graph_t *graph,
                                                         const tb_ros2_graph_snapshot_t **out,
                                                         tb_error_t *error);

/** Accepts NULL. [any thread] [from callbacks] */
TB_API void tb_ros2_graph_snapshot_release(const tb_ros2_graph_snapshot_t *snapshot);

/** How often the graph has changed; wraps around. [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_graph_changes(const tb_ros2_graph_t *graph);

/** Waits until tb_ros2_graph_changes is no longer `seen`, or the wait ends as `options` ask
 * (tb_wait_options_t; NULL: nothing ends it). TB_ERR_DEADLOCK (from a jump callback or the log
 * hook), TB_ERR_FORKED. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_graph_wait_for_change(
    tb_ros2_graph_t *graph, uint32_t seen, const tb_wait_options_t *options);

/** Waits until there is a node of this full name ("/camera"). Options and errors as above. [any
 * thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_graph_wait_for_node(tb_ros2_graph_t *graph,
                                                                 const char *full_name,
                                                                 const tb_wait_options_t *options);

/** The first node of this full name; NULL: none. Others of the name follow it in the snapshot.
 * [any thread] [from callbacks] */
TB_API const tb_ros2_graph_node_t *tb_ros2_graph_find_node(const tb_ros2_graph_snapshot_t *snapshot,
                                                           const char *full_name);

/** The participant with this GUID (tb_ros2_graph_node_t.participant_guid and the like); NULL: none.
 * [any thread] [from callbacks] */
TB_API const tb_ros2_graph_participant_t *
tb_ros2_graph_find_participant(const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16]);

/** The publishers of a topic ("/clock"), as many as are returned from *out_first on, with those of
 * plain DDS programs on the same DDS topic. 0: none, and *out_first is untouched.
 * [any thread] [from callbacks] */
TB_API size_t tb_ros2_graph_publishers(const tb_ros2_graph_snapshot_t *snapshot, const char *topic,
                                       const tb_ros2_graph_endpoint_t **out_first);

/** The same for its subscriptions. [any thread] [from callbacks] */
TB_API size_t tb_ros2_graph_subscriptions(const tb_ros2_graph_snapshot_t *snapshot,
                                          const char *topic,
                                          const tb_ros2_graph_endpoint_t **out_first);

/** Why `subscription` gets nothing from `publisher`, which are of one topic: tb_qos_policy_t bits
 * (timebase/qos.h), 0 if they match. [any thread] [from callbacks] */
TB_API uint32_t tb_ros2_graph_mismatches(const tb_ros2_graph_endpoint_t *publisher,
                                         const tb_ros2_graph_endpoint_t *subscription);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_graph_wait_for_change_sized(
    tb_ros2_graph_t *graph, uint32_t seen, const tb_wait_options_t *options, size_t options_size);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_graph_wait_for_change(tb_ros2_graph_t *graph,
                                                                   uint32_t seen,
                                                                   const tb_wait_options_t *options)
{
  return tb_ros2_graph_wait_for_change_sized(graph, seen, options, sizeof *options);
}
TB_API tb_status_t tb_ros2_graph_wait_for_node_sized(tb_ros2_graph_t *graph, const char *full_name,
                                                     const tb_wait_options_t *options,
                                                     size_t options_size);
TB_INLINE tb_status_t tb_ros2_graph_wait_for_node(tb_ros2_graph_t *graph, const char *full_name,
                                                  const tb_wait_options_t *options)
{
  return tb_ros2_graph_wait_for_node_sized(graph, full_name, options, sizeof *options);
}

TB_END_DECLS

#endif
