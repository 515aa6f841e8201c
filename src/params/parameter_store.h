/* The declared parameters of a node, without DDS. Any thread may read while another sets; sets are
 * one at a time, in a turn that is held through the hooks. Behaviour as rclcpp has it.
 *
 * All calls refuse in a forked child (TB_ERR_FORKED). All that change something return
 * TB_ERR_DEADLOCK from a hook, of any store, and from jump callbacks and the log hook: a turn may
 * be held by one who waits for them. Reading works there, and sees what was last committed. */
#ifndef TB_ROS2_PARAMETER_STORE_H
#define TB_ROS2_PARAMETER_STORE_H

#include "params/parameter_table.h"
#include "wire/messages.h"

typedef struct tb__parameter_store tb__parameter_store_t;

/* What the store asks and tells its owner, on the thread that sets, with nothing held but the turn.
 * Each may be NULL. A value that is not set stands for "will be deleted" unless the parameter is
 * declared without a value. Each name comes once in a batch. */
typedef struct tb__parameter_store_hooks {
  /* May refuse the whole batch with a reason in *error; values as they would become. */
  tb_status_t (*check)(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                       tb_error_t *error);
  /* Has the effects, after all checks and before the values are committed; may refuse likewise. */
  tb_status_t (*apply)(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                       tb_error_t *error);
  /* After the commit, in the order of the commits. A deleted one has no value. */
  void (*changed)(const tb_ros2_parameter_t *added, size_t added_count,
                  const tb_ros2_parameter_t *changed, size_t changed_count,
                  const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user);
  /* At the end of each call that asked, also of one that was refused: on its thread, with nothing
   * held. For what an effect leaves behind that may wait for others. */
  void (*settled)(void *user);
} tb__parameter_store_hooks_t;

/* `hooks` (NULL: none) are copied. TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
tb_status_t tb__parameter_store_create(const tb__parameter_store_hooks_t *hooks, void *user,
                                       tb__parameter_store_t **out);
/* Nobody uses it any more. Accepts NULL. */
void tb__parameter_store_destroy(tb__parameter_store_t *store);

/* Takes the place of the default when a parameter of that name is declared, now and later again.
 * The last one of a name counts. TB_ERR_INVALID: no name, no value. TB_ERR_NO_MEMORY. */
tb_status_t tb__parameter_store_override(tb__parameter_store_t *store, const char *name,
                                         const tb_ros2_parameter_value_t *value, tb_error_t *error);

/* The type of a parameter is that of its default, which only one with dynamic typing may leave not
 * set; then there is nothing to ask the hooks. The value in effect goes to *out (NULL: not wanted),
 * to be released. `descriptor` NULL: any value of the type.
 * TB_ERR_INVALID: no name, declared already, ranges that make no sense, another type than the
 * default's. TB_ERR_RANGE. TB_ERR_NO_MEMORY. What a hook said. */
tb_status_t tb__parameter_store_declare(tb__parameter_store_t *store, const char *name,
                                        const tb_ros2_parameter_value_t *default_value,
                                        const tb_ros2_parameter_descriptor_t *descriptor,
                                        tb_ros2_parameter_value_t *out, tb_error_t *error);

/* Only those with dynamic typing that are not read-only; `changed` is told, others are not asked.
 * TB_ERR_NOT_FOUND, TB_ERR_INVALID. */
tb_status_t tb__parameter_store_undeclare(tb__parameter_store_t *store, const char *name,
                                          tb_error_t *error);

/* All or none. A value that is not set deletes a parameter with dynamic typing. Of a name that
 * comes twice both values must be allowed, and the last one counts.
 * TB_ERR_NOT_FOUND: one is not declared. TB_ERR_INVALID: none given, read-only, of another type.
 * TB_ERR_RANGE. TB_ERR_NO_MEMORY. What a hook said. */
tb_status_t tb__parameter_store_set(tb__parameter_store_t *store,
                                    const tb_ros2_parameter_t *parameters, size_t count,
                                    tb_error_t *error);

/* For what the hooks read: nothing is set, and no hook runs, between the two. TB_ERR_FORKED,
 * TB_ERR_DEADLOCK. */
tb_status_t tb__parameter_store_begin(tb__parameter_store_t *store);
void tb__parameter_store_end(tb__parameter_store_t *store);

/* A copy, to be released. TB_ERR_NOT_FOUND, TB_ERR_NO_MEMORY. */
tb_status_t tb__parameter_store_get(tb__parameter_store_t *store, const char *name,
                                    tb_ros2_parameter_value_t *out, tb_error_t *error);

/* Parameters with their descriptors, all as they were at one moment. Give back with
 * tb__parameter_states_release. TB_ERR_NOT_FOUND: one is not declared. TB_ERR_NO_MEMORY. */
tb_status_t tb__parameter_store_read(tb__parameter_store_t *store, const char *const *names,
                                     size_t count, tb__parameter_states_t *out);

/* Those that are called like a prefix, or begin with one and a '.' and then have fewer than `depth`
 * more of them (0: any number); without prefixes, those of all names with fewer than `depth`.
 * Sorted. To be given back as above. TB_ERR_NO_MEMORY. */
tb_status_t tb__parameter_store_list(tb__parameter_store_t *store, const char *const *prefixes,
                                     size_t prefix_count, uint64_t depth,
                                     tb__parameter_states_t *out);

/* The texts before the last '.' of the names, each once, in the order in which they appear; one
 * block: free(out->items). TB_ERR_NO_MEMORY. */
tb_status_t tb__parameter_prefixes(const tb__parameter_states_t *states, tb__strings_t *out);

#endif
