/* The standard ROS 2 services that control a simulator, on a clock server. */
#ifndef TIMEBASE_ROS2_SIMULATION_SERVICES_H
#define TIMEBASE_ROS2_SIMULATION_SERVICES_H

#include <stddef.h>
#include <timebase/clock_server.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros2_node.h>

/** Five services of the package simulation_interfaces, in the node's namespace:
 *
 *   get_simulator_features  reset (20), reset of time (21), state getting (24) and setting (25),
 *                           pause (26), a single step (31), several steps (32)
 *   get_simulation_state    STOPPED while time is paused at the start time, unless PAUSED was
 *                           asked for there; PAUSED; PLAYING, also during a step; QUITTING
 *   set_simulation_state    STOPPED: pauses and resets; PLAYING, PAUSED; QUITTING: pauses, answers,
 *                           and calls `on_quit`
 *   step_simulation         answers when the last tick is out, or when another control has
 *                           cancelled it: OPERATION_FAILED. N steps are one advance of N times
 *                           `step`, in the server's ticks and at its speed. Only while paused
 *   reset_simulation        back to the start time, paused or running as before; scopes DEFAULT,
 *                           TIME and ALL
 *
 * What cannot be done is answered with a result and a message that says why; what is not a valid
 * request is not answered. Controls from elsewhere count as those of the services do. */
typedef struct tb_ros2_simulation_services tb_ros2_simulation_services_t;

/** Called once, on the context's thread, when QUITTING was asked for and has been answered. As in
 * callbacks of services, the services must not be destroyed in it. */
typedef void (*tb_ros2_simulation_quit_callback_t)(void *user);

/** How the services behave. */
typedef struct tb_ros2_simulation_services_options {
  tb_duration_t step; /**< of ROS time; 0: the length of a tick at that moment, factor / hz */
  tb_ros2_simulation_quit_callback_t on_quit; /**< NULL: QUITTING is refused, unsupported */
  void *user;                                 /**< for on_quit */
} tb_ros2_simulation_services_options_t;

/** Steps of a tick, and no quitting. */
#define TB_ROS2_SIMULATION_SERVICES_OPTIONS_INIT                                                   \
  {                                                                                                \
    {0}, NULL, NULL                                                                                \
  }

TB_BEGIN_DECLS

/** `server` and `node` must outlive the services. `options` may be NULL for the defaults.
 *
 *   TB_ERR_RANGE      step < 0
 *   TB_ERR_INVALID    NULL, or names that are too long in the node's namespace
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_SYSTEM, TB_ERR_FORKED
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_simulation_services_create(tb_ros2_node_t *node, tb_clock_server_t *server,
                                   const tb_ros2_simulation_services_options_t *options,
                                   tb_ros2_simulation_services_t **out, tb_error_t *error);

/** Accepts NULL. Steps that have not ended continue, and are answered with OPERATION_FAILED.
 * [any thread] [blocks: until running callbacks have returned, and for answers on their way, up to
 * half a second for each service] Not from callbacks of the context. */
TB_API void tb_ros2_simulation_services_destroy(tb_ros2_simulation_services_t *services);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_simulation_services_create_sized(
    tb_ros2_node_t *node, tb_clock_server_t *server,
    const tb_ros2_simulation_services_options_t *options, size_t options_size,
    tb_ros2_simulation_services_t **out, tb_error_t *error);
TB_INLINE tb_status_t
tb_ros2_simulation_services_create(tb_ros2_node_t *node, tb_clock_server_t *server,
                                   const tb_ros2_simulation_services_options_t *options,
                                   tb_ros2_simulation_services_t **out, tb_error_t *error)
{
  return tb_ros2_simulation_services_create_sized(node, server, options, sizeof *options, out,
                                                  error);
}

TB_END_DECLS

#endif
