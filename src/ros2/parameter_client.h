/* Functions shared by setting parameters on one node and on many. */
#ifndef TB_ROS2_PARAMETER_CLIENT_H
#define TB_ROS2_PARAMETER_CLIENT_H

#include <timebase/ros2_client.h>
#include <timebase/ros2_parameter_client.h>

#include "wire/messages.h"

/* Whether it is a full name: "/camera", not "camera". */
bool tb__is_full_node_name(const char *node);

/* A client of the node's `service` ("set_parameters"), with the QoS of parameter services. */
TB_WARN_UNUSED tb_status_t tb__parameter_service_client(tb_ros2_context_t *context,
                                                        const char *node, const char *service,
                                                        const char *type, tb_ros2_client_t **out,
                                                        tb_error_t *error);

/* The request of SetParameters and SetParametersAtomically: free *out. TB_ERR_INVALID. */
TB_WARN_UNUSED tb_status_t tb__set_request_encode(const tb_ros2_parameter_t *parameters,
                                                  size_t count, uint8_t **out, size_t *out_size);

/* The answer of SetParameters to `count` parameters. TB_ERR_CORRUPT, TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__set_response_read(const tb_ros2_response_t *response, size_t count,
                                                 tb_ros2_parameter_result_t *out_results);

#endif
