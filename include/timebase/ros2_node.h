/* Nodes of a ROS 2 graph: a name under which others see topics, services, parameters and a clock.
 */
#ifndef TIMEBASE_ROS2_NODE_H
#define TIMEBASE_ROS2_NODE_H

#include <stdbool.h>
#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_parameter.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

/** A node. */
typedef struct tb_ros2_node tb_ros2_node_t;

/** The longest name that a node can resolve, with its NUL. */
#define TB_ROS2_NAME_SIZE 256

/** What a node is made with. */
typedef struct tb_ros2_node_options {
  /** Arguments of its own, as those of the context; they come before these. Read only during the
   * call; NULL if there are none. */
  int argc;
  const char *const *argv;      /**< argv[0] is skipped */
  bool ignore_global_arguments; /**< those of the context do not count for it */
} tb_ros2_node_options_t;

/** No arguments but those of the context. */
#define TB_ROS2_NODE_OPTIONS_INIT                                                                  \
  {                                                                                                \
    0, NULL, false                                                                                 \
  }

TB_BEGIN_DECLS

/** Makes a node and tells the graph of it: `ros2 node list` shows it when this has returned and the
 * word has got there. `name`: letters, digits and '_', not beginning with a digit, at most 255.
 * `name_space`: "" or "/" for the root, "/a/b" or "a/b". Arguments (__node, __ns) may give it
 * others. `options` may be NULL for the defaults. Two nodes of one name are allowed, as in ROS, and
 * no good.
 *
 *   TB_ERR_INVALID    a name breaks ROS's rules, or an argument after --ros-args cannot be read
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] */
TB_API tb_status_t tb_ros2_node_create(tb_ros2_context_t *context, const char *name,
                                       const char *name_space,
                                       const tb_ros2_node_options_t *options, tb_ros2_node_t **out,
                                       tb_error_t *error);

/** Accepts NULL. Destroy what was created on the node before it, and it before its context.
 * [any thread] [blocks: until running callbacks have returned] Not from a callback of the node. */
TB_API void tb_ros2_node_destroy(tb_ros2_node_t *node);

/** As long as the node lives. [any thread] [from callbacks] */
TB_API const char *tb_ros2_node_name(const tb_ros2_node_t *node);
/** "/" or "/a/b". [any thread] [from callbacks] */
TB_API const char *tb_ros2_node_namespace(const tb_ros2_node_t *node);
/** "/a/b/name". [any thread] [from callbacks] */
TB_API const char *tb_ros2_node_fully_qualified_name(const tb_ros2_node_t *node);
/** [any thread] [from callbacks] */
TB_API tb_ros2_context_t *tb_ros2_node_context(const tb_ros2_node_t *node);

/** The full name of a topic, or of a service, as the node means it: "chatter" is in its namespace,
 * "~/chatter" below its own name, "{node}" and "{ns}" are replaced; then the arguments' remappings
 * are applied. TB_ERR_INVALID: `name` breaks ROS's rules. [any thread] [from callbacks] */
TB_API tb_status_t tb_ros2_node_resolve_topic_name(const tb_ros2_node_t *node, const char *name,
                                                   char out[TB_ROS2_NAME_SIZE], tb_error_t *error);
/** [any thread] [from callbacks] */
TB_API tb_status_t tb_ros2_node_resolve_service_name(const tb_ros2_node_t *node, const char *name,
                                                     char out[TB_ROS2_NAME_SIZE],
                                                     tb_error_t *error);

/** As tb_ros2_publisher_create, with a name that the node resolves, and listed under the node
 * (`ros2 node info`). A topic with qos->avoid_ros_namespace_conventions is taken as it is. [any
 * thread] */
TB_API tb_status_t tb_ros2_node_create_publisher(tb_ros2_node_t *node, const char *topic,
                                                 const char *type, const tb_qos_t *qos,
                                                 tb_ros2_publisher_t **out, tb_error_t *error);

/** As tb_ros2_subscription_create, likewise. [any thread] */
TB_API tb_status_t tb_ros2_node_create_subscription(tb_ros2_node_t *node, const char *topic,
                                                    const char *type, const tb_qos_t *qos,
                                                    const tb_ros2_subscription_options_t *options,
                                                    tb_ros2_subscription_t **out,
                                                    tb_error_t *error);

/** As tb_ros2_client_create, likewise. [any thread] */
TB_API tb_status_t tb_ros2_node_create_client(tb_ros2_node_t *node, const char *service,
                                              const char *type, const tb_qos_t *qos,
                                              tb_ros2_client_t **out, tb_error_t *error);

/** As tb_ros2_service_create, likewise. [any thread] */
TB_API tb_status_t tb_ros2_node_create_service(tb_ros2_node_t *node, const char *service,
                                               const char *type, const tb_qos_t *qos,
                                               tb_ros2_service_callback_t callback, void *user,
                                               tb_ros2_service_t **out, tb_error_t *error);

TB_END_DECLS

#endif
