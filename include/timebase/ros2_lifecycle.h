/* Lifecycle nodes: the states of ROS 2's managed nodes, on a node of this library. Activation waits
 * until the node's clock is ready, so that nothing is published with a stamp of zero. */
#ifndef TIMEBASE_ROS2_LIFECYCLE_H
#define TIMEBASE_ROS2_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros2_node.h>

/** The states of a node, and the services and the topic of rclcpp_lifecycle below its name:
 *
 *   ~/change_state               asks for a transition, by its label or else by its id
 *   ~/get_state                  the state, also during a transition
 *   ~/get_available_states       all states
 *   ~/get_available_transitions  those that begin at the state
 *   ~/get_transition_graph       all transitions
 *   ~/transition_event           two messages for each transition: at its beginning and its end */
typedef struct tb_ros2_lifecycle tb_ros2_lifecycle_t;

/** lifecycle_msgs/msg/State: four primary states, and those of a transition in progress. */
typedef enum tb_ros2_lifecycle_state {
  TB_ROS2_LIFECYCLE_UNKNOWN = 0,           /**< never reported */
  TB_ROS2_LIFECYCLE_UNCONFIGURED = 1,      /**< the first one */
  TB_ROS2_LIFECYCLE_INACTIVE = 2,          /**< configured, and does not work */
  TB_ROS2_LIFECYCLE_ACTIVE = 3,            /**< works */
  TB_ROS2_LIFECYCLE_FINALIZED = 4,         /**< has ended: there is no way out */
  TB_ROS2_LIFECYCLE_CONFIGURING = 10,      /**< in `on_configure` */
  TB_ROS2_LIFECYCLE_CLEANING_UP = 11,      /**< in `on_cleanup` */
  TB_ROS2_LIFECYCLE_SHUTTING_DOWN = 12,    /**< in `on_shutdown` */
  TB_ROS2_LIFECYCLE_ACTIVATING = 13,       /**< waits for the clock, or in `on_activate` */
  TB_ROS2_LIFECYCLE_DEACTIVATING = 14,     /**< in `on_deactivate` */
  TB_ROS2_LIFECYCLE_ERROR_PROCESSING = 15, /**< in `on_error` */
} tb_ros2_lifecycle_state_t;

/** lifecycle_msgs/msg/Transition: what may be asked for. */
typedef enum tb_ros2_lifecycle_transition {
  TB_ROS2_LIFECYCLE_CONFIGURE = 1,             /**< from unconfigured to inactive */
  TB_ROS2_LIFECYCLE_CLEANUP = 2,               /**< from inactive to unconfigured */
  TB_ROS2_LIFECYCLE_ACTIVATE = 3,              /**< from inactive to active */
  TB_ROS2_LIFECYCLE_DEACTIVATE = 4,            /**< from active to inactive */
  TB_ROS2_LIFECYCLE_UNCONFIGURED_SHUTDOWN = 5, /**< from unconfigured to finalized */
  TB_ROS2_LIFECYCLE_INACTIVE_SHUTDOWN = 6,     /**< from inactive to finalized */
  TB_ROS2_LIFECYCLE_ACTIVE_SHUTDOWN = 7,       /**< from active to finalized */
} tb_ros2_lifecycle_transition_t;

/** What a callback returns (CallbackReturn of rclcpp_lifecycle). Any other value is an error. */
typedef enum tb_ros2_lifecycle_return {
  TB_ROS2_LIFECYCLE_SUCCESS = 97, /**< the transition leads to its goal */
  TB_ROS2_LIFECYCLE_FAILURE = 98, /**< back to the state before; of a shutdown: to finalized */
  TB_ROS2_LIFECYCLE_ERROR = 99,   /**< `on_error` is called */
} tb_ros2_lifecycle_return_t;

/** Does the work of a transition. `previous` is the primary state in which it began. On the
 * context's thread, as callbacks of services: no other of them runs meanwhile, so return soon. May
 * call anything but the destruction of the lifecycle, of its node and of the context. */
typedef tb_ros2_lifecycle_return_t (*tb_ros2_lifecycle_callback_t)(
    tb_ros2_lifecycle_t *lifecycle, tb_ros2_lifecycle_state_t previous, void *user);

/** Called after each transition, with the primary state that it led to; another transition may be
 * asked for there (tb_ros2_lifecycle_change_state). On the context's thread, as above. */
typedef void (*tb_ros2_lifecycle_changed_callback_t)(tb_ros2_lifecycle_t *lifecycle,
                                                     tb_ros2_lifecycle_state_t state, void *user);

/** What a lifecycle is made with. A callback that is NULL counts as a success. */
typedef struct tb_ros2_lifecycle_options {
  tb_ros2_lifecycle_callback_t on_configure;  /**< reads parameters, makes publishers */
  tb_ros2_lifecycle_callback_t on_activate;   /**< starts timers; the clock is ready */
  tb_ros2_lifecycle_callback_t on_deactivate; /**< stops what on_activate has started */
  tb_ros2_lifecycle_callback_t on_cleanup;    /**< undoes on_configure */
  tb_ros2_lifecycle_callback_t on_shutdown;   /**< from any primary state */
  /** A success leads to unconfigured, anything else to finalized. */
  tb_ros2_lifecycle_callback_t on_error;
  tb_ros2_lifecycle_changed_callback_t on_changed; /**< may be NULL */
  void *user;                                      /**< handed to all of them */
  /** How long an activation waits for the clock, in steady time; then it fails, and the node is
   * inactive. TB_NO_LIMIT: as long as it takes; TB_NO_WAIT: looks once. */
  tb_duration_t activation_limit;
  bool waits_for_running; /**< time must be seen to advance; else its first non-zero tick is enough
                           */
  uint8_t padding[7];     /**< not used */
} tb_ros2_lifecycle_options_t;

/** No callbacks; activation waits for the first non-zero tick, without a limit. */
/* clang-format off */
#define TB_ROS2_LIFECYCLE_OPTIONS_INIT                                                             \
  {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {0}, false, {0}}
/* clang-format on */

TB_BEGIN_DECLS

/** Makes the services and the topic; the node is unconfigured. `node` must outlive the lifecycle.
 * `options` may be NULL.
 *
 * While an activation waits, the context's thread serves everything else: `~/get_state` reports
 * *activating*, and other transitions are refused, as during each transition. It waits only while
 * the node's clock follows a source (`use_sim_time`); system time is ready at once. The client of
 * `~/change_state` is answered at the end.
 *
 *   TB_ERR_INVALID    NULL, a limit that is negative and not TB_NO_WAIT, names that are too long
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_SYSTEM, TB_ERR_FORKED, TB_ERR_UNSUPPORTED
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_lifecycle_create(tb_ros2_node_t *node, const tb_ros2_lifecycle_options_t *options,
                         tb_ros2_lifecycle_t **out, tb_error_t *error);

/** Accepts NULL. Makes no transition: `on_shutdown` is not called. An activation that waits is not
 * answered. [any thread] [blocks: until running callbacks have returned, and for answers on their
 * way, up to half a second for each service] Not from callbacks of the context. */
TB_API void tb_ros2_lifecycle_destroy(tb_ros2_lifecycle_t *lifecycle);

/** The state now; unknown for NULL. A node publishes while it is active: ask before. Never blocks
 * for long. [any thread] [from callbacks] */
TB_API tb_ros2_lifecycle_state_t tb_ros2_lifecycle_state(const tb_ros2_lifecycle_t *lifecycle);

/** Begins a transition, as a client of ~/change_state does; it continues on the context's thread,
 * and `on_changed` has its outcome. TB_ERR_BUSY: another transition is in progress. TB_ERR_INVALID:
 * it does not begin at the state of the node; the text names the state. TB_ERR_FORKED. [any thread]
 * [from callbacks] */
TB_API tb_status_t tb_ros2_lifecycle_change_state(tb_ros2_lifecycle_t *lifecycle,
                                                  tb_ros2_lifecycle_transition_t transition,
                                                  tb_error_t *error);

/** "unconfigured", "activating", ..., as ROS labels it; "unknown" for others. Static text. [any
 * thread] [from callbacks] */
TB_API const char *tb_ros2_lifecycle_state_name(tb_ros2_lifecycle_state_t state);

/** What the call of this name hands over: the size of its struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros2_lifecycle_create_sized(tb_ros2_node_t *node,
                                                  const tb_ros2_lifecycle_options_t *options,
                                                  size_t options_size, tb_ros2_lifecycle_t **out,
                                                  tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_lifecycle_create(tb_ros2_node_t *node,
                                               const tb_ros2_lifecycle_options_t *options,
                                               tb_ros2_lifecycle_t **out, tb_error_t *error)
{
  return tb_ros2_lifecycle_create_sized(node, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
