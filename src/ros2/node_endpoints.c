/* Resolves names for a node, and creates endpoints that are listed under it. */
#include "base/null_argument.h"
#include "base/sized.h"
#include "ros2/announced.h"
#include "ros2/node.h"
#include "wire/clock_message.h"

static tb_status_t resolve(const tb_ros2_node_t *node, const char *name, bool is_service,
                           char out[TB_ROS2_NAME_SIZE], tb_error_t *error)
{
  char full[TB__DDS_NAME_SIZE];
  tb_status_t status = tb__name_expand(name, node->name, node->name_space, full, error);
  if (status) return status;
  return tb__arguments_remap(node->own_arguments, node->arguments, node->name, node->name_space,
                             is_service, full, out, error);
}

tb_status_t tb_ros2_node_resolve_topic_name(const tb_ros2_node_t *node, const char *name,
                                            char out[TB_ROS2_NAME_SIZE], tb_error_t *error)
{
  if (!node || !name || !out) return tb__null_argument(error, __func__);
  return resolve(node, name, false, out, error);
}

tb_status_t tb_ros2_node_resolve_service_name(const tb_ros2_node_t *node, const char *name,
                                              char out[TB_ROS2_NAME_SIZE], tb_error_t *error)
{
  if (!node || !name || !out) return tb__null_argument(error, __func__);
  return resolve(node, name, true, out, error);
}

/* The resolved topic name, for an endpoint that is created in the context. */
static tb_status_t topic_choose(const tb_ros2_node_t *node, const char *topic, const tb_qos_t *qos,
                                char room[TB_ROS2_NAME_SIZE], const char **out, tb_error_t *error)
{
  *out = topic;
  if (qos && qos->avoid_ros_namespace_conventions) return TB_OK;
  *out = room;
  return resolve(node, topic, false, room, error);
}

tb_status_t tb_ros2_node_create_publisher(tb_ros2_node_t *node, const char *topic, const char *type,
                                          const tb_qos_t *qos, tb_ros2_publisher_t **out,
                                          tb_error_t *error)
{
  if (!node || !topic || !type || !out) return tb__null_argument(error, __func__);
  char room[TB_ROS2_NAME_SIZE];
  tb_ros2_publisher_t *publisher = NULL;
  tb_status_t status = topic_choose(node, topic, qos, room, &topic, error);
  if (!status)
    status = tb_ros2_publisher_create(node->context, topic, type, qos, &publisher, error);
  if (!status) status = tb__publisher_announce(publisher, &node->announced, error);
  if (status) {
    tb_ros2_publisher_destroy(publisher);
    return status;
  }
  *out = publisher;
  return TB_OK;
}

tb_status_t tb_ros2_node_create_clock_publisher(tb_ros2_node_t *node, const char *topic,
                                                const tb_qos_t *qos,
                                                tb_ros2_clock_publisher_t **out, tb_error_t *error)
{
  if (!node || !out) return tb__null_argument(error, __func__);
  char room[TB_ROS2_NAME_SIZE];
  tb_ros2_clock_publisher_t *publisher = NULL;
  tb_status_t status =
      topic_choose(node, topic ? topic : TB__CLOCK_TOPIC, qos, room, &topic, error);
  if (!status)
    status = tb_ros2_clock_publisher_create(node->context, topic, qos, &publisher, error);
  if (!status) status = tb__clock_publisher_announce(publisher, &node->announced, error);
  if (status) {
    tb_ros2_clock_publisher_destroy(publisher);
    return status;
  }
  *out = publisher;
  return TB_OK;
}

tb_status_t tb_ros2_node_create_subscription_sized(tb_ros2_node_t *node, const char *topic,
                                                   const char *type, const tb_qos_t *qos,
                                                   const tb_ros2_subscription_options_t *options,
                                                   size_t options_size,
                                                   tb_ros2_subscription_t **out, tb_error_t *error)
{
  if (!node || !topic || !type || !out) return tb__null_argument(error, __func__);
  tb_ros2_subscription_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_subscription_options_t");
  char room[TB_ROS2_NAME_SIZE];
  tb_ros2_subscription_t *subscription = NULL;
  tb_status_t status = topic_choose(node, topic, qos, room, &topic, error);
  if (!status)
    status =
        tb_ros2_subscription_create(node->context, topic, type, qos, options, &subscription, error);
  if (!status) status = tb__subscription_announce(subscription, &node->announced, error);
  if (status) {
    tb_ros2_subscription_destroy(subscription);
    return status;
  }
  *out = subscription;
  return TB_OK;
}

tb_status_t tb_ros2_node_create_client(tb_ros2_node_t *node, const char *service, const char *type,
                                       const tb_qos_t *qos, tb_ros2_client_t **out,
                                       tb_error_t *error)
{
  if (!node || !service || !type || !out) return tb__null_argument(error, __func__);
  char full[TB_ROS2_NAME_SIZE];
  tb_ros2_client_t *client = NULL;
  tb_status_t status = resolve(node, service, true, full, error);
  if (!status) status = tb_ros2_client_create(node->context, full, type, qos, &client, error);
  if (!status) status = tb__client_announce(client, &node->announced, error);
  if (status) {
    tb_ros2_client_destroy(client);
    return status;
  }
  *out = client;
  return TB_OK;
}

tb_status_t tb_ros2_node_create_service(tb_ros2_node_t *node, const char *service, const char *type,
                                        const tb_qos_t *qos, tb_ros2_service_callback_t callback,
                                        void *user, tb_ros2_service_t **out, tb_error_t *error)
{
  if (!node || !service || !type || !callback || !out) return tb__null_argument(error, __func__);
  char full[TB_ROS2_NAME_SIZE];
  tb_ros2_service_t *made = NULL;
  tb_status_t status = resolve(node, service, true, full, error);
  if (!status)
    status = tb_ros2_service_create(node->context, full, type, qos, callback, user, &made, error);
  if (!status) status = tb__service_announce(made, &node->announced, error);
  if (status) {
    tb_ros2_service_destroy(made);
    return status;
  }
  *out = made;
  return TB_OK;
}
