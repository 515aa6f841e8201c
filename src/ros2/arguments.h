/* What the command line says to nodes: other names, values of parameters, the enclave. */
#ifndef TB_ROS2_ARGUMENTS_H
#define TB_ROS2_ARGUMENTS_H

#include <stdbool.h>
#include <timebase/ros2_parameter.h>

#include "wire/names.h"

/* Parsed and immutable. */
typedef struct tb__arguments tb__arguments_t;

/* Reads what stands between "--ros-args" and "--" or the end, each time; other arguments are the
 * program's. argv[0] is skipped. Parameter files are read here. TB_ERR_INVALID with the argument
 * and what is wrong with it, TB_ERR_NOT_FOUND or TB_ERR_SYSTEM for a file, TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__arguments_parse(int argc, const char *const *argv, tb__arguments_t **out,
                                tb_error_t *error);
void tb__arguments_destroy(tb__arguments_t *arguments); /* accepts NULL */

/* In all of these `local` are the node's own and `global` the context's; either may be NULL. Of
 * rules, local ones are tried before global ones and each in their order; the first that matches
 * counts. */

/* The node's name by "__node:=x" or "__name:=x", otherwise `name`, which is valid. */
tb_status_t tb__arguments_node_name(const tb__arguments_t *local, const tb__arguments_t *global,
                                    const char *name, char out[TB__DDS_NAME_SIZE]);

/* The node's namespace by "__ns:=/x", otherwise `ns`, which is normalized. `name` is what
 * tb__arguments_node_name has made of it: "talker:__ns:=/x" means nodes that have the name then. */
tb_status_t tb__arguments_node_namespace(const tb__arguments_t *local,
                                         const tb__arguments_t *global, const char *name,
                                         const char *ns, char out[TB__DDS_NAME_SIZE]);

/* The full name of a topic or service that has the full name `full` without rules. TB_ERR_INVALID
 * if the rule that matches makes no valid name for this node. */
tb_status_t tb__arguments_remap(const tb__arguments_t *local, const tb__arguments_t *global,
                                const char *node_name, const char *node_namespace, bool is_service,
                                const char *full, char out[TB__DDS_NAME_SIZE], tb_error_t *error);

/* Not TB_OK ends the iteration. */
typedef tb_status_t (*tb__override_callback_t)(const char *name,
                                               const tb_ros2_parameter_value_t *value, void *user);

/* The values for parameters of a node, global ones first, then local ones, each in the order of the
 * command line: a later one of the same name wins. (rclcpp looks at all that is for one name or
 * pattern where that appears first; only here is the order of the command line what counts.) */
tb_status_t tb__arguments_overrides(const tb__arguments_t *local, const tb__arguments_t *global,
                                    const char *full_node_name, tb__override_callback_t callback,
                                    void *user, tb_error_t *error);

/* The last "--enclave /x" or "-e /x", NULL if there is none. Goes with `arguments`, which may be
 * NULL. */
const char *tb__arguments_enclave(const tb__arguments_t *arguments);

#endif
