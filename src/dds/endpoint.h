/* What readers and writers of raw samples have in common. */
#ifndef TB_DDS_ENDPOINT_H
#define TB_DDS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/qos.h>

typedef struct tb__endpoint_options {
  const char *topic; /* DDS names: "rt/clock", "rosgraph_msgs::msg::dds_::Clock_" */
  const char *type;
  const tb_qos_t *qos;
  const char *user_data; /* USER_DATA as text; NULL: none */
  bool ignore_local;     /* do not match endpoints of the same participant */
} tb__endpoint_options_t;

#endif
