/* Reading and setting the parameters of other nodes. */
#ifndef TIMEBASE_ROS2_PARAMETER_CLIENT_H
#define TIMEBASE_ROS2_PARAMETER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_parameter.h>
#include <timebase/sleep.h>

/** A client of one node's parameter services. */
typedef struct tb_ros2_parameter_client tb_ros2_parameter_client_t;

/** Room for a reason, with its NUL. */
#define TB_ROS2_PARAMETER_REASON_SIZE 256

/** A node's answer to a parameter that was set. */
typedef struct tb_ros2_parameter_result {
  bool successful;                            /**< else the node has refused it */
  char reason[TB_ROS2_PARAMETER_REASON_SIZE]; /**< why, in the node's words; cut if longer */
} tb_ros2_parameter_result_t;

/** Names of parameters. */
typedef struct tb_ros2_parameter_list {
  const char *const *names;    /**< in the node's order */
  size_t name_count;           /**< how many */
  const char *const *prefixes; /**< of the names, without those below the depth asked for */
  size_t prefix_count;         /**< how many */
  void *owner;                 /**< internal */
} tb_ros2_parameter_list_t;

/** A parameter as its node describes it. */
typedef struct tb_ros2_parameter_description {
  const char *name;                          /**< such as "use_sim_time" */
  tb_ros2_parameter_type_t type;             /**< of the value that it has */
  tb_ros2_parameter_descriptor_t descriptor; /**< texts are not NULL */
} tb_ros2_parameter_description_t;

/** Descriptions of parameters. */
typedef struct tb_ros2_parameter_descriptions {
  const tb_ros2_parameter_description_t *items; /**< in the order asked for */
  size_t count;                                 /**< how many */
  void *owner;                                  /**< internal */
} tb_ros2_parameter_descriptions_t;

/** What came of a parameter set on one of many nodes. */
typedef struct tb_ros2_parameter_outcome {
  tb_status_t status; /**< TB_OK: it has answered; TB_ERR_NOT_FOUND, TB_ERR_TIMEOUT and so on */
  tb_ros2_parameter_result_t result; /**< its answer */
} tb_ros2_parameter_outcome_t;

TB_BEGIN_DECLS

/** `node`: its full name, "/ns/camera". Nothing is sent, and the node need not be there. Destroy
 * the client before its context.
 *
 *   TB_ERR_INVALID    the name breaks ROS's rules
 *   TB_ERR_NO_MEMORY, TB_ERR_FORKED
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_create(tb_ros2_context_t *context,
                                                                  const char *node,
                                                                  tb_ros2_parameter_client_t **out,
                                                                  tb_error_t *error);

/** Accepts NULL. No call may be in progress on another thread. [any thread] [blocks: for a moment]
 */
TB_API void tb_ros2_parameter_client_destroy(tb_ros2_parameter_client_t *client);

/** The values of `count` parameters: `out_values` has room for so many, each to be given back with
 * tb_ros2_parameter_value_release. *out_count becomes `count`, or 0: then the node does not have
 * all of them (the answer does not name which), and out_values is untouched.
 *
 * This and the calls below end early as `options` ask (tb_wait_options_t; NULL: nothing ends them),
 * the wait for the node included:
 *
 *   TB_ERR_NOT_FOUND  there was no service for the node's parameters within the limit
 *   TB_ERR_TIMEOUT    no answer within the limit
 *   TB_ERR_CLOSED     the node has gone before it answered: whether it has set something is not
 *                     known; or the token or the clock of the options was destroyed
 *   TB_ERR_CANCELLED, TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD, TB_ERR_CLOCK_CHANGED
 *                     as the options ask
 *   TB_ERR_CORRUPT    the answer does not fit the request
 *   TB_ERR_INVALID    a name is NULL, or a value or an option is not valid
 *   TB_ERR_DEADLOCK   from a jump callback or the log hook
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] [blocks] In a callback of a service of the same context it cannot get an answer of
 * this context's nodes. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_value_t *out_values, size_t *out_count,
    tb_error_t *error);

/** The same for types; of a parameter that is not there a node may also answer that it is not set.
 * [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get_types(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_type_t *out_types, size_t *out_count,
    tb_error_t *error);

/** Sets each for itself, in order: `out_results` has room for `count`. That the node refuses one is
 * a result, not an error. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_result_t *out_results, tb_error_t *error);

/** Sets all or none. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set_atomically(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_result_t *out_result, tb_error_t *error);

/** The names of parameters that begin with one of the prefixes and a '.', or are one; without
 * prefixes of all. `depth`: how many parts a name may have after its prefix; 0: any. Give *out back
 * with tb_ros2_parameter_list_release. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_parameter_client_list(tb_ros2_parameter_client_t *client, const char *const *prefixes,
                              size_t prefix_count, uint64_t depth, const tb_wait_options_t *options,
                              tb_ros2_parameter_list_t *out, tb_error_t *error);

/** Accepts NULL, and a list that is released or zero. [any thread] */
TB_API void tb_ros2_parameter_list_release(tb_ros2_parameter_list_t *list);

/** Descriptions of `count` parameters: as many are in *out, or none if the node does not have all
 * of them. Give *out back with tb_ros2_parameter_descriptions_release. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_describe(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_descriptions_t *out, tb_error_t *error);

/** Accepts NULL, and what is released or zero. [any thread] */
TB_API void tb_ros2_parameter_descriptions_release(tb_ros2_parameter_descriptions_t *descriptions);

/** Sets one parameter on many nodes at once and waits for all answers. `options` (as above) are for
 * all of it. At the limit the call returns TB_OK, with TB_ERR_NOT_FOUND or TB_ERR_TIMEOUT in the
 * outcomes of the nodes that were not there or have not answered. What else ends it early is the
 * error of the call, and is in the outcomes of those nodes. `outcomes` has room for `node_count`.
 * Failures of one node are in its outcome and are not an error of the call; the outcome is
 * TB_ERR_INVALID if its name breaks ROS's rules. A node that has not answered is asked again, after
 * 2 s, 4 s more and so on: a request or its answer may be lost on the way.
 *
 *   TB_ERR_INVALID    the parameter or an option is not valid
 *   TB_ERR_CANCELLED, TB_ERR_CLOSED, TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD,
 *   TB_ERR_CLOCK_CHANGED   as the options ask
 *   TB_ERR_DEADLOCK   from a jump callback or the log hook, or from a callback of the context,
 *                     whose thread has to run for the answers
 *   TB_ERR_NO_MEMORY, TB_ERR_FORKED
 *
 * [any thread] [blocks] As tb_ros2_parameter_client_get. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_set_on_nodes(
    tb_ros2_context_t *context, const char *const *nodes, size_t node_count,
    const tb_ros2_parameter_t *parameter, const tb_wait_options_t *options,
    tb_ros2_parameter_outcome_t *outcomes, tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get_sized(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_value_t *out_values,
    size_t *out_count, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_value_t *out_values, size_t *out_count,
    tb_error_t *error)
{
  return tb_ros2_parameter_client_get_sized(client, names, count, options, sizeof *options,
                                            out_values, out_count, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get_types_sized(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_type_t *out_types,
    size_t *out_count, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_get_types(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_type_t *out_types, size_t *out_count,
    tb_error_t *error)
{
  return tb_ros2_parameter_client_get_types_sized(client, names, count, options, sizeof *options,
                                                  out_types, out_count, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set_sized(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_result_t *out_results,
    tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_result_t *out_results, tb_error_t *error)
{
  return tb_ros2_parameter_client_set_sized(client, parameters, count, options, sizeof *options,
                                            out_results, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set_atomically_sized(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_result_t *out_result,
    tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_set_atomically(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_result_t *out_result, tb_error_t *error)
{
  return tb_ros2_parameter_client_set_atomically_sized(client, parameters, count, options,
                                                       sizeof *options, out_result, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_list_sized(
    tb_ros2_parameter_client_t *client, const char *const *prefixes, size_t prefix_count,
    uint64_t depth, const tb_wait_options_t *options, size_t options_size,
    tb_ros2_parameter_list_t *out, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_parameter_client_list(tb_ros2_parameter_client_t *client, const char *const *prefixes,
                              size_t prefix_count, uint64_t depth, const tb_wait_options_t *options,
                              tb_ros2_parameter_list_t *out, tb_error_t *error)
{
  return tb_ros2_parameter_client_list_sized(client, prefixes, prefix_count, depth, options,
                                             sizeof *options, out, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_describe_sized(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_descriptions_t *out,
    tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_client_describe(
    tb_ros2_parameter_client_t *client, const char *const *names, size_t count,
    const tb_wait_options_t *options, tb_ros2_parameter_descriptions_t *out, tb_error_t *error)
{
  return tb_ros2_parameter_client_describe_sized(client, names, count, options, sizeof *options,
                                                 out, error);
}
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_set_on_nodes_sized(
    tb_ros2_context_t *context, const char *const *nodes, size_t node_count,
    const tb_ros2_parameter_t *parameter, const tb_wait_options_t *options, size_t options_size,
    tb_ros2_parameter_outcome_t *outcomes, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_parameter_set_on_nodes(
    tb_ros2_context_t *context, const char *const *nodes, size_t node_count,
    const tb_ros2_parameter_t *parameter, const tb_wait_options_t *options,
    tb_ros2_parameter_outcome_t *outcomes, tb_error_t *error)
{
  return tb_ros2_parameter_set_on_nodes_sized(context, nodes, node_count, parameter, options,
                                              sizeof *options, outcomes, error);
}

TB_END_DECLS

#endif
