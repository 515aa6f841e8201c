/* Nodes without a name so far: participants of ROS that are known from their announcement to DDS
 * and whose announcement of nodes, ros_discovery_info, has not arrived or cannot be read. */
#ifndef TB_CLI_UNNAMED_H
#define TB_CLI_UNNAMED_H

#include <jansson.h>
#include <timebase/ros2_graph.h>

#define UNNAMED_NODE "(name not known yet)"

bool unnamed_is(const tb_ros2_graph_participant_t *participant);

/* Whether the endpoint is in such a participant. */
bool unnamed_has(const tb_ros2_graph_snapshot_t *snapshot,
                 const tb_ros2_graph_endpoint_t *endpoint);

size_t unnamed_count(const tb_ros2_graph_snapshot_t *snapshot);

/* Of the network interfaces that this command uses: "192.168.0.7,127.0.0.1". */
const char *unnamed_own_addresses(const tb_ros2_graph_snapshot_t *snapshot);

/* Whether all of them are of loopback. False: there is none. */
bool unnamed_is_loopback(const char *addresses);

/* "of Fast DDS (enclave /) has not announced its nodes (no ros_discovery_info): publishes /clock"
 * and so on, with what to do where nothing arrives from it. Without a newline. */
void unnamed_describe(FILE *out, const tb_ros2_graph_snapshot_t *snapshot,
                      const tb_ros2_graph_participant_t *participant);

/* The same of the first one, without what it has. There must be one. */
void unnamed_explain(FILE *out, const tb_ros2_graph_snapshot_t *snapshot);

/* To standard error, a line for each: nodes of it are missing. */
void unnamed_warn(const char *command, const tb_ros2_graph_snapshot_t *snapshot);

/* Of each: middleware, enclave, state, addresses, endpoints. */
json_t *unnamed_json(const tb_ros2_graph_snapshot_t *snapshot);

#endif
