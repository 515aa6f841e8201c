#include "ros2/topic_endpoint.h"

#include "platform/time.h"

tb_status_t tb__topic_endpoint_init(tb__topic_endpoint_t *endpoint,
                                    const tb_ros2_context_t *context, const char *topic,
                                    const char *type, const tb_qos_t *qos, tb_error_t *error)
{
  static const tb_qos_t defaults = TB_QOS_INIT_DEFAULT;
  char full_type[TB__DDS_NAME_SIZE];
  endpoint->qos = qos ? *qos : defaults;
  tb_status_t status = tb__topic_name_to_dds(topic, endpoint->qos.avoid_ros_namespace_conventions,
                                             endpoint->topic, error);
  if (!status) status = tb__type_name_normalize(type, full_type, error);
  if (!status) status = tb__type_name_to_dds(type, endpoint->type, error);
  if (status) return status;
  endpoint->user_data[0] = '\0';
  if (!tb__ros2_context_is_humble(context)) tb__type_hash_user_data(full_type, endpoint->user_data);
  endpoint->options = (tb__endpoint_options_t){
      .topic = endpoint->topic,
      .type = endpoint->type,
      .qos = &endpoint->qos,
      .is_keyed = endpoint->qos.has_key,
      .user_data = endpoint->user_data[0] ? endpoint->user_data : NULL,
  };
  return TB_OK;
}
