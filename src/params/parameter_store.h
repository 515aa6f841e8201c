/* The declared parameters of a node, without DDS. Any thread may read while another sets; one
 * thread sets at a time, in a turn that is held during the hooks. The behaviour is that of rclcpp.
 *
 * All calls return TB_ERR_FORKED in a forked child. All calls that change something return
 * TB_ERR_DEADLOCK from a hook of any store, from jump callbacks and from the log hook: a thread
 * that waits for these may hold a turn. Reading works there, and returns the last committed values.
 */
#ifndef TB_ROS2_PARAMETER_STORE_H
#define TB_ROS2_PARAMETER_STORE_H

#include "params/parameter_table.h"
#include "wire/messages.h"

typedef struct tb__parameter_store tb__parameter_store_t;

/* Hooks of the owner, called on the thread that sets, with only the turn held. Each may be NULL. A
 * value that is not set means "to be deleted", unless the parameter is declared without a value.
 * Each name is in a batch once. */
typedef struct tb__parameter_store_hooks {
  /* May refuse the whole batch with a reason in *error; gets the new values. */
  tb_status_t (*check)(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                       tb_error_t *error);
  /* Applies the effects, after all checks and before the commit; may refuse in the same way. */
  tb_status_t (*apply)(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                       tb_error_t *error);
  /* Called after the commit, in the order of commits. A deleted parameter has no value. */
  void (*changed)(const tb_ros2_parameter_t *added, size_t added_count,
                  const tb_ros2_parameter_t *changed, size_t changed_count,
                  const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user);
  /* Called at the end of each call that ran hooks, also a refused one, on its thread, with no lock
   * held: for work that follows from an effect and may wait for other threads. */
  void (*settled)(void *user);
} tb__parameter_store_hooks_t;

/* `hooks` (NULL: none) are copied. TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_create(const tb__parameter_store_hooks_t *hooks,
                                                      void *user, tb__parameter_store_t **out);
/* It must not be in use any more. Accepts NULL. */
void tb__parameter_store_destroy(tb__parameter_store_t *store);

/* Replaces the default whenever a parameter of that name is declared. The last override of a name
 * counts. TB_ERR_INVALID: no name, no value. TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_override(tb__parameter_store_t *store,
                                                        const char *name,
                                                        const tb_ros2_parameter_value_t *value,
                                                        tb_error_t *error);

/* The type of a parameter is that of its default, which may be unset only with dynamic typing; then
 * no hook is called. The value in effect goes to *out (NULL: not wanted), to be released.
 * `descriptor` NULL: any value of the type.
 * TB_ERR_INVALID: no name, already declared, invalid ranges, or a type other than that of the
 * default. TB_ERR_RANGE. TB_ERR_NO_MEMORY. Errors of a hook. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_declare(
    tb__parameter_store_t *store, const char *name, const tb_ros2_parameter_value_t *default_value,
    const tb_ros2_parameter_descriptor_t *descriptor, tb_ros2_parameter_value_t *out,
    tb_error_t *error);

/* Only for those with dynamic typing that are not read-only. Of the hooks only `changed` is called.
 * TB_ERR_NOT_FOUND, TB_ERR_INVALID. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_undeclare(tb__parameter_store_t *store,
                                                         const char *name, tb_error_t *error);

/* All or none. A value that is not set deletes a parameter with dynamic typing. If a
 * name is given twice, both values must be allowed, and the last one counts.
 * TB_ERR_NOT_FOUND: one is not declared. TB_ERR_INVALID: none given, read-only, of another type.
 * TB_ERR_RANGE. TB_ERR_NO_MEMORY. Errors of a hook. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_set(tb__parameter_store_t *store,
                                                   const tb_ros2_parameter_t *parameters,
                                                   size_t count, tb_error_t *error);

/* Nothing is set, and no hook runs, between the two: for data that the hooks read. TB_ERR_FORKED,
 * TB_ERR_DEADLOCK. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_begin(tb__parameter_store_t *store);
void tb__parameter_store_end(tb__parameter_store_t *store);

/* A copy, to be released. TB_ERR_NOT_FOUND, TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_get(tb__parameter_store_t *store, const char *name,
                                                   tb_ros2_parameter_value_t *out,
                                                   tb_error_t *error);

/* Parameters with their descriptors, all of one moment. Release with
 * tb__parameter_states_release. TB_ERR_NOT_FOUND: one is not declared. TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_read(tb__parameter_store_t *store,
                                                    const char *const *names, size_t count,
                                                    tb__parameter_states_t *out);

/* Parameters whose name is a prefix, or begins with one and a '.' and has fewer than `depth`
 * further
 * '.' (0: any number); without prefixes, all names with fewer than `depth`. Sorted. Release as
 * above. TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_store_list(tb__parameter_store_t *store,
                                                    const char *const *prefixes,
                                                    size_t prefix_count, uint64_t depth,
                                                    tb__parameter_states_t *out);

/* The texts before the last '.' of the names, each once, in the order in which they appear; one
 * block: free(out->items). TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_prefixes(const tb__parameter_states_t *states,
                                                  tb__strings_t *out);

#endif
