/* The parameters of a node: the store, the effects of built-in parameters, services and events. */
#ifndef TB_ROS2_NODE_PARAMETERS_H
#define TB_ROS2_NODE_PARAMETERS_H

#include <timebase/ros2_node.h>

#include "dds/raw_writer.h"
#include "params/parameter_requests.h"
#include "params/parameter_store.h"
#include "ros2/announcer.h"

/* One of the services, and its node. */
typedef struct tb__node_parameter_service {
  tb_ros2_node_t *node;
  const tb__parameter_service_t *kind;
  tb_ros2_service_t *service;
} tb__node_parameter_service_t;

typedef struct tb__node_parameters {
  tb__parameter_store_t *store;
  tb__raw_writer_t *events; /* of /parameter_events; NULL: none */
  tb__announced_t events_announced;
  tb__node_parameter_service_t services[TB__PARAMETER_SERVICE_COUNT];
  _Atomic uint32_t unreadable; /* requests that could not be answered */

  /* What follows is guarded by the turn of the store. */
  tb_ros2_set_parameters_callback_t callback;
  void *callback_user;
  bool use_sim_time;
  char *_Atomic time_source;
} tb__node_parameters_t;

/* Applies the overrides. The node's clock must exist. */
TB_WARN_UNUSED tb_status_t tb__node_parameters_open(tb_ros2_node_t *node,
                                                    const tb_ros2_node_options_t *options,
                                                    tb_error_t *error);
/* Ends the services: afterwards no parameter is set. */
void tb__node_parameters_close(tb_ros2_node_t *node);

#endif
