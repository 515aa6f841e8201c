/* The two endpoints of a client or a service: names, QoS and ids, ready for DDS. */
#ifndef TB_ROS2_SERVICE_PAIR_H
#define TB_ROS2_SERVICE_PAIR_H

#include "dds/endpoint.h"
#include "dds/guid.h"
#include "ros2/context.h"
#include "wire/names.h"

#define TB__SERVICE_ID_SIZE 64

typedef struct tb__service_pair {
  tb__endpoint_options_t request, reply; /* point into the rest: do not copy */
  tb_qos_t qos;
  char request_topic[TB__DDS_NAME_SIZE], reply_topic[TB__DDS_NAME_SIZE];
  char request_type[TB__DDS_NAME_SIZE], reply_type[TB__DDS_NAME_SIZE];
  char request_user_data[TB__USER_DATA_SIZE], reply_user_data[TB__USER_DATA_SIZE];
} tb__service_pair_t;

/* `type`: "package/srv/Name". `key`: "clientid" or "serviceid". `qos` may be NULL. */
TB_WARN_UNUSED tb_status_t tb__service_pair_init(tb__service_pair_t *pair,
                                                 tb_ros2_context_t *context, const char *service,
                                                 const char *type, const tb_qos_t *qos,
                                                 const char *key, tb_error_t *error);

/* An id as rmw_cyclonedds prints it, from the participant part of `guid` and `number`. */
void tb__service_id_format(const tb__guid_t *guid, uint32_t number, char out[TB__SERVICE_ID_SIZE]);

/* The value of `key` in USER_DATA such as "clientid=1.2;typehash=x;". False if it has none. */
bool tb__user_data_find(const char *user_data, const char *key, char out[TB__SERVICE_ID_SIZE]);

/* The same for values of up to `size` - 1 characters. */
bool tb__user_data_value(const char *user_data, const char *key, char *out, size_t size);

#endif
