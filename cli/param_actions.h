/* `timebase param list`, `get` and `set`. */
#ifndef TB_CLI_PARAM_ACTIONS_H
#define TB_CLI_PARAM_ACTIONS_H

#include <timebase/ros2_parameter_client.h>

#include "graph_view.h"

typedef struct param_arguments {
  bool json, hide_type;
  graph_options_t graph;
  char **words; /* after the action */
  size_t count;
} param_arguments_t;

/* Exit statuses, with messages printed. */
int param_list(graph_view_t *view, const param_arguments_t *arguments);
int param_get(graph_view_t *view, const param_arguments_t *arguments);
int param_set(graph_view_t *view, const param_arguments_t *arguments,
              const tb_ros2_parameter_value_t *value);

#endif
