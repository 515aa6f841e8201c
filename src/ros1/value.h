/* Values of parameters, between XML-RPC and programs. */
#ifndef TB_ROS1_VALUE_H
#define TB_ROS1_VALUE_H

#include <timebase/ros1_parameter.h>

#include "ros1/xmlrpc_parse.h"
#include "ros1/xmlrpc_write.h"

/* To be released with tb_ros1_value_release; NULL: no memory. */
const tb_ros1_value_t *tb__ros1_value_copy(const tb__xmlrpc_value_t *value);
/* NULL: it can be written; else why not. */
const char *tb__ros1_value_problem(const tb_ros1_value_t *value);
void tb__ros1_value_put(tb__xmlrpc_writer_t *call, const tb_ros1_value_t *value);

#endif
