/* Maps our quality of service to Cyclone's, as rmw_cyclonedds maps that of ROS, and back. */
#ifndef TB_DDS_QOS_MAP_H
#define TB_DDS_QOS_MAP_H

#include <dds/dds.h>
#include <timebase/error.h>
#include <timebase/qos.h>
#include <timebase/ros2_graph.h>

/* For readers and writers. A duration of 0 means unspecified, as in rmw.
 * Free *out with dds_delete_qos. TB_ERR_INVALID with the policy's name in the text. */
TB_WARN_UNUSED tb_status_t tb__qos_to_dds(const tb_qos_t *qos, dds_qos_t **out, tb_error_t *error);

/* The reverse, for endpoints of others: *out_dds gets what `out` cannot hold. */
void tb__qos_of_dds(const dds_qos_t *qos, tb_qos_t *out, tb_ros2_endpoint_dds_qos_t *out_dds);

/* "reliability" for DDS_RELIABILITY_QOS_POLICY_ID. Never NULL; static storage. */
const char *tb__qos_policy_name(uint32_t policy_id);

#endif
