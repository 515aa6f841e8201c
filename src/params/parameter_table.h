/* Parameters at one moment, and tables of them ordered by name. */
#ifndef TB_ROS2_PARAMETER_TABLE_H
#define TB_ROS2_PARAMETER_TABLE_H

#include <stdatomic.h>
#include <timebase/ros2_parameter.h>

/* The part that does not change after the declaration. One block with its texts. */
typedef struct tb__parameter_declaration {
  _Atomic size_t references;
  const char *name;
  tb_ros2_parameter_descriptor_t descriptor; /* texts are not NULL */
  size_t staged; /* for the store: 1 + its index in the batch that is being set, else 0 */
} tb__parameter_declaration_t;

/* A parameter at one moment. Immutable: a holder of a reference reads it without a lock. */
typedef struct tb__parameter_state {
  _Atomic size_t references;
  tb__parameter_declaration_t *declaration;
  tb_ros2_parameter_value_t value;
} tb__parameter_state_t;

/* Has a reference to each. */
typedef struct tb__parameter_states {
  tb__parameter_state_t **items;
  size_t count;
} tb__parameter_states_t;

/* The same, sorted by name, without duplicates. */
typedef struct tb__parameter_table {
  tb__parameter_state_t **items;
  size_t count, room;
} tb__parameter_table_t;

/* Both make one reference. TB_ERR_NO_MEMORY; TB_ERR_INVALID: the value is invalid. */
TB_WARN_UNUSED tb_status_t tb__parameter_declare(const char *name,
                                                 const tb_ros2_parameter_descriptor_t *descriptor,
                                                 const tb_ros2_parameter_value_t *value,
                                                 tb__parameter_state_t **out);
/* A state with the same declaration. */
TB_WARN_UNUSED tb_status_t tb__parameter_state_with(const tb__parameter_state_t *state,
                                                    const tb_ros2_parameter_value_t *value,
                                                    tb__parameter_state_t **out);

/* Accept NULL. */
TB_WARN_UNUSED tb__parameter_state_t *tb__parameter_state_hold(tb__parameter_state_t *state);
void tb__parameter_state_release(tb__parameter_state_t *state);
void tb__parameter_states_release(tb__parameter_states_t *states);

/* A view. */
tb_ros2_parameter_t tb__parameter_view(const tb__parameter_state_t *state);

/* The index of the name. False: the index at which to insert it. */
bool tb__parameter_table_find(const tb__parameter_table_t *table, const char *name,
                              size_t *out_index);
/* Room for one more. TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_table_reserve(tb__parameter_table_t *table);
/* Takes ownership of the reference. There must be room. */
void tb__parameter_table_insert(tb__parameter_table_t *table, size_t index,
                                tb__parameter_state_t *state);
/* The reference goes to the caller. */
TB_WARN_UNUSED tb__parameter_state_t *tb__parameter_table_remove(tb__parameter_table_t *table,
                                                                 size_t index);
/* Exchanges the state; the old one's reference goes to the caller. */
TB_WARN_UNUSED tb__parameter_state_t *tb__parameter_table_replace(tb__parameter_table_t *table,
                                                                  size_t index,
                                                                  tb__parameter_state_t *state);
void tb__parameter_table_fini(tb__parameter_table_t *table);

#endif
