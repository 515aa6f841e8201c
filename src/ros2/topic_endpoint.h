/* Names and QoS of a ROS topic endpoint, ready for DDS. */
#ifndef TB_ROS2_TOPIC_ENDPOINT_H
#define TB_ROS2_TOPIC_ENDPOINT_H

#include "dds/endpoint.h"
#include "platform/futex.h"
#include "ros2/context.h"
#include "wire/names.h"
#include "wire/type_hash.h"

typedef struct tb__topic_endpoint {
  tb__endpoint_options_t options; /* points into the rest: do not copy */
  tb_qos_t qos;
  char topic[TB__DDS_NAME_SIZE];
  char type[TB__DDS_NAME_SIZE];
  char user_data[TB__TYPE_HASH_USER_DATA_SIZE];
} tb__topic_endpoint_t;

/* `qos` may be NULL for the default. The hash of the type, if it is known and the context is not
 * for humble, goes to USER_DATA. */
TB_WARN_UNUSED tb_status_t tb__topic_endpoint_init(tb__topic_endpoint_t *endpoint,
                                                   const tb_ros2_context_t *context,
                                                   const char *topic, const char *type,
                                                   const tb_qos_t *qos, tb_error_t *error);

#endif
