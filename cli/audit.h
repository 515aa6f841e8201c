/* `timebase audit`: what is gathered of a graph, and the parts that judge it. Callbacks of DDS fill
 * in what is live, each under the mutex of its part; everything else is the main thread's. */
#ifndef TB_CLI_AUDIT_H
#define TB_CLI_AUDIT_H

#include "audit_clock.h"
#include "audit_events.h"
#include "audit_log.h"
#include "audit_topics.h"
#include "contract/finding.h"
#include "contract/limits.h"
#include "contract/manifest.h"
#include "contract/time_base.h"
#include "graph_view.h"
#include "node_times.h"

typedef enum audit_role {
  AUDIT_ROLE_NODE,
  AUDIT_ROLE_QUIET,    /* publishes nothing of its own */
  AUDIT_ROLE_RECORDER, /* of rosbag2 or ours */
  AUDIT_ROLE_PLAYER,   /* its stamps are those of a recording */
  AUDIT_ROLE_CLOCK,    /* publishes /clock, or is a simulator */
  AUDIT_ROLE_TOOL,     /* of tools, beside an application's nodes */
} audit_role_t;

/* A node of the snapshot. */
typedef struct audit_node {
  audit_role_t role;
  tb__base_facts_t facts;
  tb__base_verdict_t verdict;
} audit_node_t;

typedef struct audit {
  const command_t *command;
  graph_view_t view;
  tb__contract_limits_t limits;
  tb__manifest_t manifest;
  bool has_manifest;
  const char *clock_topic; /* "/clock", or that of the manifest */
  tb_duration_t limit;     /* of answers */
  audit_clock_t clock;
  audit_events_t events;
  audit_topics_t topics;
  audit_log_t log;
  node_time_t *times;       /* of each node of the snapshot */
  int64_t answered_ns;      /* steady: when the nodes were asked */
  audit_node_t *nodes;      /* of each node of the snapshot */
  tb__findings_t *findings; /* NULL: not judged yet */
} audit_t;

/* "/ekf", or NULL: the endpoint with this GUID is of no known node. */
const char *audit_node_of(const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16]);
/* The same of an endpoint. */
const char *audit_owner_of(const tb_ros2_graph_snapshot_t *snapshot,
                           const tb_ros2_graph_endpoint_t *endpoint);

/* Whether the endpoint is a topic's and of rosgraph_msgs/msg/Clock. */
bool audit_is_clock(const tb_ros2_graph_endpoint_t *endpoint);

/* An empty request to a service; the first byte of the response. False: no answer within `limit`.
 */
bool audit_ask(const audit_t *audit, const char *service, const char *type, tb_duration_t limit,
               uint8_t *out);

/* Roles and time bases of all nodes. EXIT_OK, or a message has been printed. */
int audit_nodes_judge(audit_t *audit);
/* A time that is read from /clock was wrong by at most that, in what is judged: factor x latency,
 * and one tick. 0: not known. */
int64_t audit_clock_error(const audit_t *audit);

/* Whether the node is on wall time in a graph with /clock, and is not meant to be. */
bool audit_nodes_is_mixed(const audit_t *audit, size_t index);
/* Findings: mixed time bases, unknown ones, shared names, processes without announced nodes. */
void audit_nodes_find(audit_t *audit);
/* Findings: nodes that follow /clock and do not receive it; lifecycle nodes that are active before
 * it begins. */
void audit_receivers_find(audit_t *audit);

#endif
