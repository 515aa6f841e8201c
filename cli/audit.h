/* `timebase audit`: what is gathered of a graph, and the parts that judge it. Callbacks of DDS fill
 * in what is live, each under the mutex of its part; everything else is the main thread's. */
#ifndef TB_CLI_AUDIT_H
#define TB_CLI_AUDIT_H

#include "audit_clock.h"
#include "audit_declared.h"
#include "audit_events.h"
#include "audit_hosts.h"
#include "audit_log.h"
#include "audit_tf.h"
#include "audit_topics.h"
#include "clock_gauge.h"
#include "contract/finding.h"
#include "contract/limits.h"
#include "contract/manifest.h"
#include "contract/time_base.h"
#include "graph_view.h"
#include "host_clocks.h"
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
  char shared_time[65]; /* the name of the time in shared memory; "": none */
  bool has_other_clock; /* it follows a clock under another name than the graph's */
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
  audit_tf_t tf;
  host_clocks_t hosts;
  node_time_t *times;       /* of each node of the snapshot */
  int64_t answered_ns;      /* steady: when the nodes were asked */
  audit_node_t *nodes;      /* of each node of the snapshot */
  tb__findings_t *findings; /* NULL: not judged yet */
  audit_declared_t declared;
} audit_t;

/* Joins the graph. The manifest (NULL: none) is the caller's. EXIT_OK, or a message has been
 * printed. Close it either way. */
int audit_open(const command_t *command, const graph_options_t *options,
               const tb__manifest_t *manifest, audit_t *out);
void audit_close(audit_t *audit);
/* Follows discovery as graph_view_settle does, listens for `duration` (0: the default) and judges.
 * EXIT_OK, or a message has been printed. A signal ends the program. */
int audit_look(audit_t *audit, tb_duration_t wait, tb_duration_t duration);

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
/* How wrong a time that is read from /clock was, in what is judged. */
clock_error_t audit_clock_error(const audit_t *audit);

/* The rate of /clock that a remedy names. */
typedef struct audit_needed_rate {
  char text[32];
} audit_needed_rate_t;
audit_needed_rate_t audit_clock_needed_rate(const audit_t *audit);

/* Whether the node is on wall time in a graph with /clock, and is not meant to be. */
bool audit_nodes_is_mixed(const audit_t *audit, size_t index);
/* Whether the node has a part in the graph's time that is judged: it is no tool, player or clock.
 */
bool audit_nodes_is_judged(const audit_t *audit, size_t index);
/* Findings: mixed time bases, unknown ones, shared names, processes without announced nodes. */
void audit_nodes_find(audit_t *audit);
/* Findings: nodes that follow /clock and do not receive it; lifecycle nodes that are active before
 * it begins. */
void audit_receivers_find(audit_t *audit);

#endif
