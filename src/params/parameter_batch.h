/* Several parameters that are set at once: checked and copied first, then committed, which cannot
 * fail. Takes no locks. */
#ifndef TB_ROS2_PARAMETER_BATCH_H
#define TB_ROS2_PARAMETER_BATCH_H

#include "params/parameter_table.h"

typedef struct tb__parameter_batch {
  tb__parameter_states_t states;   /* the new ones before the commit, the old ones after it */
  tb_ros2_parameter_t *parameters; /* as many: views of the new ones */
  tb_ros2_parameter_t *events;     /* as many */
} tb__parameter_batch_t;

/* If a name is given twice, both values are checked, and the last one counts. `batch` is zeros, and
 * needs tb__parameter_batch_fini in any case. Errors as tb__parameter_store_set. */
TB_WARN_UNUSED tb_status_t tb__parameter_batch_make(tb__parameter_batch_t *batch,
                                                    const tb__parameter_table_t *table,
                                                    const tb_ros2_parameter_t *parameters,
                                                    size_t count, tb_error_t *error);

/* The table must not have changed since the batch was made. */
void tb__parameter_batch_commit(tb__parameter_batch_t *batch, tb__parameter_table_t *table);

/* After the commit: `events` has the changed ones, whose number is returned, then the deleted ones.
 */
size_t tb__parameter_batch_events(tb__parameter_batch_t *batch);

void tb__parameter_batch_fini(tb__parameter_batch_t *batch);

/* TB_ERR_INVALID: it must not be deleted. */
TB_WARN_UNUSED tb_status_t tb__parameter_delete_check(const tb__parameter_state_t *state,
                                                      tb_error_t *error);

#endif
