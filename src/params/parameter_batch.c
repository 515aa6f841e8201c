#include "params/parameter_batch.h"

#include <stdlib.h>

#include "params/parameter_rules.h"

#define SHOWN(name) TB__PARAMETER_NAME_SHOWN, (name)

tb_status_t tb__parameter_delete_check(const tb__parameter_state_t *state, tb_error_t *error)
{
  const tb__parameter_declaration_t *declaration = state->declaration;
  if (declaration->descriptor.dynamic_typing && !declaration->descriptor.read_only) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID, "parameter %.*s cannot be deleted: it %s",
                      SHOWN(declaration->name),
                      declaration->descriptor.read_only ? "is read-only" : "has a fixed type");
}

static tb_status_t parameter_check(const tb_ros2_parameter_t *parameter,
                                   const tb__parameter_state_t *state, tb_error_t *error)
{
  const tb__parameter_declaration_t *declaration = state->declaration;
  if (declaration->descriptor.read_only)
    return tb_error_set(error, TB_ERR_INVALID, "parameter %.*s is read-only",
                        SHOWN(declaration->name));
  if (parameter->value.type == TB_ROS2_PARAMETER_NOT_SET)
    return tb__parameter_delete_check(state, error);
  return tb__parameter_value_check(declaration->name, &declaration->descriptor, state->value.type,
                                   &parameter->value, error);
}

/* Takes ownership of the state. */
static void batch_put(tb__parameter_batch_t *batch, tb__parameter_state_t *state)
{
  size_t *staged = &state->declaration->staged;
  if (*staged > 0)
    tb__parameter_state_release(batch->states.items[*staged - 1]);
  else
    *staged = ++batch->states.count;
  batch->states.items[*staged - 1] = state;
  batch->parameters[*staged - 1] = tb__parameter_view(state);
}

static tb_status_t batch_add(tb__parameter_batch_t *batch, const tb__parameter_table_t *table,
                             const tb_ros2_parameter_t *parameter, tb_error_t *error)
{
  size_t index;
  tb__parameter_state_t *state;
  tb_status_t status = tb__parameter_name_check(parameter->name, error);
  if (status) return status;
  if (!tb__parameter_table_find(table, parameter->name, &index))
    return tb__parameter_not_declared(parameter->name, error);
  status = parameter_check(parameter, table->items[index], error);
  if (status) return status;
  status = tb__parameter_state_with(table->items[index], &parameter->value, &state);
  if (status == TB_ERR_NO_MEMORY) return tb__parameter_no_memory(parameter->name, error);
  if (status)
    return tb_error_set(error, status, "parameter %.*s: invalid value", SHOWN(parameter->name));
  batch_put(batch, state);
  return TB_OK;
}

tb_status_t tb__parameter_batch_make(tb__parameter_batch_t *batch,
                                     const tb__parameter_table_t *table,
                                     const tb_ros2_parameter_t *parameters, size_t count,
                                     tb_error_t *error)
{
  tb_status_t status = TB_OK;
  batch->states.items = calloc(count, sizeof *batch->states.items);
  batch->parameters = calloc(count, 2 * sizeof *batch->parameters);
  if (!batch->states.items || !batch->parameters)
    return tb__parameter_no_memory(parameters[0].name, error);
  batch->events = batch->parameters + count;
  for (size_t i = 0; i < count && !status; i++)
    status = batch_add(batch, table, &parameters[i], error);
  for (size_t i = 0; i < count; i++) {
    if (batch->states.items[i]) batch->states.items[i]->declaration->staged = 0;
  }
  return status;
}

static bool is_deleted(const tb__parameter_state_t *old, const tb_ros2_parameter_t *parameter)
{
  return parameter->value.type == TB_ROS2_PARAMETER_NOT_SET &&
         old->value.type != TB_ROS2_PARAMETER_NOT_SET;
}

void tb__parameter_batch_commit(tb__parameter_batch_t *batch, tb__parameter_table_t *table)
{
  for (size_t i = 0, index; i < batch->states.count; i++) {
    tb__parameter_state_t **state = &batch->states.items[i];
    tb__parameter_table_find(table, batch->parameters[i].name, &index);
    if (is_deleted(table->items[index], &batch->parameters[i])) {
      tb__parameter_state_release(*state);
      *state = tb__parameter_table_remove(table, index);
    } else {
      *state = tb__parameter_table_replace(table, index, *state);
    }
  }
}

static size_t events_add(tb__parameter_batch_t *batch, bool deleted, size_t count)
{
  for (size_t i = 0; i < batch->states.count; i++) {
    if (is_deleted(batch->states.items[i], &batch->parameters[i]) == deleted)
      batch->events[count++] = batch->parameters[i];
  }
  return count;
}

size_t tb__parameter_batch_events(tb__parameter_batch_t *batch)
{
  size_t changed_count = events_add(batch, false, 0);
  events_add(batch, true, changed_count);
  return changed_count;
}

void tb__parameter_batch_fini(tb__parameter_batch_t *batch)
{
  tb__parameter_states_release(&batch->states);
  free(batch->parameters);
}
