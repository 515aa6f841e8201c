/* ROS arguments of the command line: remaps, values of parameters, the enclave. */
#ifndef TB_ROS2_ARGUMENTS_H
#define TB_ROS2_ARGUMENTS_H

#include <stdbool.h>
#include <timebase/ros2_parameter.h>

#include "wire/names.h"

/* Parsed and immutable. */
typedef struct tb__arguments tb__arguments_t;

/* Reads all arguments between "--ros-args" and "--" or the end; other arguments belong to the
 * program. argv[0] is skipped. Parameter files are read here. TB_ERR_INVALID with the argument and
 * what is wrong with it, TB_ERR_NOT_FOUND or TB_ERR_SYSTEM for a file, TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__arguments_parse(int argc, const char *const *argv,
                                               tb__arguments_t **out, tb_error_t *error);
void tb__arguments_destroy(tb__arguments_t *arguments); /* accepts NULL */

/* In all of these `local` are the arguments of the node and `global` those of the context; either
 * may be NULL. Local rules are tried before global ones, each in their order; the first match
 * counts. */

/* The node's name by "__node:=x" or "__name:=x", otherwise `name`, which is valid. */
TB_WARN_UNUSED tb_status_t tb__arguments_node_name(const tb__arguments_t *local,
                                                   const tb__arguments_t *global, const char *name,
                                                   char out[TB__DDS_NAME_SIZE]);

/* The node's namespace by "__ns:=/x", otherwise `ns`, which is normalized. `name` is the
 * result of tb__arguments_node_name: "talker:__ns:=/x" applies to nodes of that resulting name. */
TB_WARN_UNUSED tb_status_t tb__arguments_node_namespace(const tb__arguments_t *local,
                                                        const tb__arguments_t *global,
                                                        const char *name, const char *ns,
                                                        char out[TB__DDS_NAME_SIZE]);

/* Remaps the full name `full` of a topic or service. TB_ERR_INVALID if the rule that matches does
 * not give a valid name for this node. */
TB_WARN_UNUSED tb_status_t tb__arguments_remap(const tb__arguments_t *local,
                                               const tb__arguments_t *global, const char *node_name,
                                               const char *node_namespace, bool is_service,
                                               const char *full, char out[TB__DDS_NAME_SIZE],
                                               tb_error_t *error);

/* A result other than TB_OK ends the iteration. */
typedef tb_status_t (*tb__override_callback_t)(const char *name,
                                               const tb_ros2_parameter_value_t *value, void *user);

/* The values for parameters of a node, global ones first, then local ones, each in the order of the
 * command line: a later one of the same name wins. (rclcpp instead takes all values for one name or
 * pattern at the place where that appears first.) */
TB_WARN_UNUSED tb_status_t tb__arguments_overrides(const tb__arguments_t *local,
                                                   const tb__arguments_t *global,
                                                   const char *full_node_name,
                                                   tb__override_callback_t callback, void *user,
                                                   tb_error_t *error);

/* The last "--enclave /x" or "-e /x", NULL if there is none. Valid as long as `arguments`, which
 * may be NULL. */
const char *tb__arguments_enclave(const tb__arguments_t *arguments);

#endif
