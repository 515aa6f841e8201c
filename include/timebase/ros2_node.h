/* Nodes of a ROS 2 graph: a name under which others see topics, services, parameters and a clock.
 */
#ifndef TIMEBASE_ROS2_NODE_H
#define TIMEBASE_ROS2_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_parameter.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

/** A node. */
typedef struct tb_ros2_node tb_ros2_node_t;

/** The longest name that a node can resolve, with its NUL. */
#define TB_ROS2_NAME_SIZE 256

/** Called with the new values before parameters of the node change, also with those that it has
 * when it is declared: TB_OK, or another status and a reason in *error, which refuses all of them.
 * On the thread that sets them, with no lock held; may read parameters, but setting or declaring
 * returns TB_ERR_DEADLOCK. Do not use the values yet: another reason may refuse them. */
typedef tb_status_t (*tb_ros2_set_parameters_callback_t)(tb_ros2_node_t *node,
                                                         const tb_ros2_parameter_t *parameters,
                                                         size_t count, void *user,
                                                         tb_error_t *error);

/** When the node's clocks follow the graph's time. */
typedef enum tb_ros2_clock_activation {
  TB_ROS2_CLOCK_BY_PARAMETER = 0, /**< while `use_sim_time` is true, as in ROS */
  /** `use_sim_time` becomes true each time that `/clock` gets its first publisher. It may be set to
     false again then. */
  TB_ROS2_CLOCK_BY_PUBLISHER = 1,
} tb_ros2_clock_activation_t;

/** What a node is made with. */
typedef struct tb_ros2_node_options {
  /** Arguments of its own, as those of the context; they take precedence over the context's. Read
   * only during the call; NULL if there are none. */
  int argc;
  const char *const *argv;      /**< argv[0] is skipped */
  bool ignore_global_arguments; /**< those of the context do not count for it */

  /** Values that parameters get when they are declared, instead of their defaults. As in rclcpp and
   * rclpy they take precedence over all arguments: the context's, the node's, and files of
   * parameters. Read only during the call. */
  const tb_ros2_parameter_t *parameter_overrides;
  size_t parameter_override_count; /**< how many there are */

  bool no_parameter_services; /**< others cannot see or set its parameters */
  bool no_parameter_events;   /**< it does not publish `/parameter_events` */

  tb_ros2_clock_activation_t clock_activation; /**< when its clocks follow the graph's time */
  /** With TB_ROS2_CLOCK_BY_PUBLISHER: steady time after which `use_sim_time` becomes false when the
   * last publisher has gone; TB_NO_LIMIT, 0: never, TB_NO_WAIT: at once. */
  tb_duration_t deactivation_limit;
} tb_ros2_node_options_t;

/** No arguments but those of the context; parameter services and events; ROS time while
 * `use_sim_time` is true. */
#define TB_ROS2_NODE_OPTIONS_INIT                                                                  \
  {                                                                                                \
    0, NULL, false, NULL, 0, false, false, TB_ROS2_CLOCK_BY_PARAMETER,                             \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Makes a node and announces it to the graph: `ros2 node list` shows it when this has returned and
 * the announcement has arrived. `name`: letters, digits and '_', not beginning with a digit, at
 * most 255. `name_space`: "" or "/" for the root, "/a/b" or "a/b". Arguments (__node, __ns) may
 * give it others. `options` may be NULL for the defaults. Two nodes of one name are allowed, as in
 * ROS, but discouraged.
 *
 *   TB_ERR_INVALID    a name breaks ROS's rules, or an argument after --ros-args cannot be read
 *   TB_ERR_DEADLOCK   from a jump callback, the log hook or a callback of parameters
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_node_create(tb_ros2_context_t *context,
                                                         const char *name, const char *name_space,
                                                         const tb_ros2_node_options_t *options,
                                                         tb_ros2_node_t **out, tb_error_t *error);

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
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_node_create_publisher(tb_ros2_node_t *node,
                                                                const char *topic, const char *type,
                                                                const tb_qos_t *qos,
                                                                tb_ros2_publisher_t **out,
                                                                tb_error_t *error);

/** As tb_ros2_clock_publisher_create, with a resolved name and listed under the node; `topic` may
 * be NULL for "/clock". [any thread] */
TB_API TB_WARN_UNUSED tb_status_t
tb_ros2_node_create_clock_publisher(tb_ros2_node_t *node, const char *topic, const tb_qos_t *qos,
                                    tb_ros2_clock_publisher_t **out, tb_error_t *error);

/** As tb_ros2_subscription_create, with a resolved name and listed under the node. [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_node_create_subscription(
    tb_ros2_node_t *node, const char *topic, const char *type, const tb_qos_t *qos,
    const tb_ros2_subscription_options_t *options, tb_ros2_subscription_t **out, tb_error_t *error);

/** As tb_ros2_client_create, with a resolved name and listed under the node. [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_node_create_client(tb_ros2_node_t *node,
                                                             const char *service, const char *type,
                                                             const tb_qos_t *qos,
                                                             tb_ros2_client_t **out,
                                                             tb_error_t *error);

/** As tb_ros2_service_create, with a resolved name and listed under the node. [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_node_create_service(
    tb_ros2_node_t *node, const char *service, const char *type, const tb_qos_t *qos,
    tb_ros2_service_callback_t callback, void *user, tb_ros2_service_t **out, tb_error_t *error);

/** The node's clock: ROS time, which is system time until `use_sim_time` is true and then what the
 * parameter `time_source` names:
 *
 *   "clock_topic"    /clock, the default. All nodes of a context share one subscription and one
 *                    thread for it. Its QoS are the parameters
 *                    qos_overrides./clock.subscription.{reliability,durability,history,depth},
 *                    which arguments may set
 *   "extrapolating"  /clock, and between its ticks the time that follows from their rate
 *   "shm:NAME"       a time in shared memory, or any other name that tb_source_create_from_name
 *                    knows, also of a source that the program has registered
 *
 * Without an argument for it, TIMEBASE_SOURCE (source.h) names the source. When a call that sets
 * `use_sim_time` or `time_source` has returned, here or in another process, the clock reports the
 * time of the new source. With `use_sim_time` given at start, the clock never reports another time.
 * Lives as long as the node. Giving it another source and destroying it are TB_ERR_BUSY. [any
 * thread] [from callbacks] */
TB_API tb_clock_t *tb_ros2_node_clock(const tb_ros2_node_t *node);

/** Makes a ROS clock of the caller report the same as the node's clock from now on. It must be
 * detached before it is destroyed. A clock follows one node of the process at a time: detach it
 * from one before attaching it to the next. [any thread] [blocks: during jumps]
 *
 *   TB_ERR_INVALID    it is attached to this node already, or is a clock of system time
 *   TB_ERR_BUSY       it is attached to another node, or is the clock of another node: nothing has
 *                     changed. For one clock that both nodes' code reads, use either node's clock
 *   TB_ERR_DEADLOCK   from a jump callback or the log hook
 *
 * And what tb_clock_set_source returns. */
TB_API tb_status_t tb_ros2_node_attach_clock(tb_ros2_node_t *node, tb_clock_t *clock);
/** Back to system time. [any thread] [blocks: during jumps] TB_ERR_INVALID: it is not attached.
 * TB_ERR_DEADLOCK as above. */
TB_API tb_status_t tb_ros2_node_detach_clock(tb_ros2_node_t *node, tb_clock_t *clock);

/** What is known of `/clock` as the node follows it. TB_ERR_NOT_FOUND: it does not follow it now.
 * [any thread] [blocks: while the source is being changed] */
TB_INLINE tb_status_t tb_ros2_node_clock_source_status(tb_ros2_node_t *node,
                                                       tb_ros2_clock_source_status_t *out);

/* Parameters. A parameter exists once it is declared, and keeps the type that it has then unless
 * its descriptor has dynamic_typing. The node itself declares `use_sim_time`, `time_source` and
 * qos_overrides./clock.subscription.*. Values may be set from other processes, through the services
 * get_parameters, set_parameters and so on; each change is published on `/parameter_events`. */

/** Declares a parameter with its first value, unless options or arguments override that (the later
 * one wins: arguments of the context, of the node, parameter_overrides). It may be "not set" if
 * `descriptor` (NULL: TB_ROS2_PARAMETER_DESCRIPTOR_INIT) has dynamic_typing.
 *
 *   TB_ERR_INVALID    the name is empty or declared already, or the value, or what overrides it,
 *                     is of the wrong type: see the text
 *   TB_ERR_RANGE      out of the descriptor's range
 *   TB_ERR_DEADLOCK   from a callback of parameters, a jump callback or the log hook
 *   TB_ERR_NO_MEMORY, TB_ERR_FORKED
 *
 * [any thread] [blocks: while other parameters are being set] */
TB_API tb_status_t tb_ros2_node_declare_parameter(tb_ros2_node_t *node, const char *name,
                                                  const tb_ros2_parameter_value_t *value,
                                                  const tb_ros2_parameter_descriptor_t *descriptor,
                                                  tb_error_t *error);

/** As in ROS, only a parameter with dynamic typing that is not read-only. TB_ERR_NOT_FOUND: there
 * is none. TB_ERR_INVALID: it is no such parameter. Otherwise as above. [any thread] [blocks: while
 * other parameters are being set]
 */
TB_API tb_status_t tb_ros2_node_undeclare_parameter(tb_ros2_node_t *node, const char *name,
                                                    tb_error_t *error);

/** A copy of the value: give it back with tb_ros2_parameter_value_release. TB_ERR_NOT_FOUND: no
 * such parameter. TB_ERR_NO_MEMORY. [any thread] [from callbacks] */
TB_API tb_status_t tb_ros2_node_get_parameter(tb_ros2_node_t *node, const char *name,
                                              tb_ros2_parameter_value_t *out);

/** Sets one. TB_ERR_NOT_FOUND: there is none. TB_ERR_INVALID: read-only, or of another type.
 * TB_ERR_RANGE. Also what the callback or the move to another time source returns; the text says
 * why, and nothing has changed. Otherwise as tb_ros2_node_declare_parameter. [any thread] [blocks:
 * while other parameters are being set, and while clocks are moved] */
TB_API tb_status_t tb_ros2_node_set_parameter(tb_ros2_node_t *node, const char *name,
                                              const tb_ros2_parameter_value_t *value,
                                              tb_error_t *error);

/** Sets all of them, or none. [any thread] [blocks: as tb_ros2_node_set_parameter] */
TB_API tb_status_t tb_ros2_node_set_parameters_atomically(tb_ros2_node_t *node,
                                                          const tb_ros2_parameter_t *parameters,
                                                          size_t count, tb_error_t *error);

/** Replaces any earlier callback; NULL: none. When it returns, the earlier one is no longer called.
 * [any thread] [blocks: while parameters are being set] TB_ERR_DEADLOCK from a callback of
 * parameters, a jump callback or the log hook. */
TB_API tb_status_t tb_ros2_node_set_parameters_callback(tb_ros2_node_t *node,
                                                        tb_ros2_set_parameters_callback_t callback,
                                                        void *user);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_node_create_sized(tb_ros2_context_t *context, const char *name,
                                             const char *name_space,
                                             const tb_ros2_node_options_t *options,
                                             size_t options_size, tb_ros2_node_t **out,
                                             tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_node_create(tb_ros2_context_t *context, const char *name,
                                          const char *name_space,
                                          const tb_ros2_node_options_t *options,
                                          tb_ros2_node_t **out, tb_error_t *error)
{
  return tb_ros2_node_create_sized(context, name, name_space, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_ros2_node_create_subscription_sized(
    tb_ros2_node_t *node, const char *topic, const char *type, const tb_qos_t *qos,
    const tb_ros2_subscription_options_t *options, size_t options_size,
    tb_ros2_subscription_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_node_create_subscription(
    tb_ros2_node_t *node, const char *topic, const char *type, const tb_qos_t *qos,
    const tb_ros2_subscription_options_t *options, tb_ros2_subscription_t **out, tb_error_t *error)
{
  return tb_ros2_node_create_subscription_sized(node, topic, type, qos, options, sizeof *options,
                                                out, error);
}
TB_API tb_status_t tb_ros2_node_clock_source_status_sized(tb_ros2_node_t *node,
                                                          tb_ros2_clock_source_status_t *out,
                                                          size_t out_size);
TB_INLINE tb_status_t tb_ros2_node_clock_source_status(tb_ros2_node_t *node,
                                                       tb_ros2_clock_source_status_t *out)
{
  return tb_ros2_node_clock_source_status_sized(node, out, sizeof *out);
}

TB_END_DECLS

#endif
