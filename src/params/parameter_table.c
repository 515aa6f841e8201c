#include "params/parameter_table.h"

#include <stdlib.h>
#include <string.h>

static const char *text_put(char **at, const char *text)
{
  size_t size = text ? strlen(text) + 1 : 1;
  char *copy = *at;
  *at += size;
  return memcpy(copy, text ? text : "", size);
}

static size_t text_size(const char *text)
{
  return text ? strlen(text) + 1 : 1;
}

static tb__parameter_declaration_t *
declaration_create(const char *name, const tb_ros2_parameter_descriptor_t *descriptor)
{
  tb__parameter_declaration_t *declaration =
      malloc(sizeof *declaration + text_size(name) + text_size(descriptor->description) +
             text_size(descriptor->additional_constraints));
  if (!declaration) return NULL;
  char *texts = (char *)(declaration + 1);
  *declaration = (tb__parameter_declaration_t){.descriptor = *descriptor};
  atomic_init(&declaration->references, 1);
  declaration->name = text_put(&texts, name);
  declaration->descriptor.description = text_put(&texts, descriptor->description);
  declaration->descriptor.additional_constraints =
      text_put(&texts, descriptor->additional_constraints);
  return declaration;
}

static void declaration_release(tb__parameter_declaration_t *declaration)
{
  if (atomic_fetch_sub(&declaration->references, 1) == 1) free(declaration);
}

/* Takes its own reference. */
static tb_status_t state_create(tb__parameter_declaration_t *declaration,
                                const tb_ros2_parameter_value_t *value, tb__parameter_state_t **out)
{
  tb__parameter_state_t *state = malloc(sizeof *state);
  if (!state) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb_ros2_parameter_value_copy(value, &state->value);
  if (status) {
    free(state);
    return status;
  }
  atomic_init(&state->references, 1);
  atomic_fetch_add(&declaration->references, 1);
  state->declaration = declaration;
  *out = state;
  return TB_OK;
}

tb_status_t tb__parameter_declare(const char *name,
                                  const tb_ros2_parameter_descriptor_t *descriptor,
                                  const tb_ros2_parameter_value_t *value,
                                  tb__parameter_state_t **out)
{
  tb__parameter_declaration_t *declaration = declaration_create(name, descriptor);
  if (!declaration) return TB_ERR_NO_MEMORY;
  tb_status_t status = state_create(declaration, value, out);
  declaration_release(declaration);
  return status;
}

tb_status_t tb__parameter_state_with(const tb__parameter_state_t *state,
                                     const tb_ros2_parameter_value_t *value,
                                     tb__parameter_state_t **out)
{
  return state_create(state->declaration, value, out);
}

tb__parameter_state_t *tb__parameter_state_hold(tb__parameter_state_t *state)
{
  if (state) atomic_fetch_add_explicit(&state->references, 1, memory_order_relaxed);
  return state;
}

void tb__parameter_state_release(tb__parameter_state_t *state)
{
  if (!state || atomic_fetch_sub(&state->references, 1) != 1) return;
  tb_ros2_parameter_value_release(&state->value);
  declaration_release(state->declaration);
  free(state);
}

void tb__parameter_states_release(tb__parameter_states_t *states)
{
  for (size_t i = 0; i < states->count; i++)
    tb__parameter_state_release(states->items[i]);
  free(states->items);
  *states = (tb__parameter_states_t){0};
}

tb_ros2_parameter_t tb__parameter_view(const tb__parameter_state_t *state)
{
  return (tb_ros2_parameter_t){state->declaration->name, state->value};
}

bool tb__parameter_table_find(const tb__parameter_table_t *table, const char *name,
                              size_t *out_index)
{
  size_t from = 0, to = table->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    int order = strcmp(table->items[middle]->declaration->name, name);
    if (order == 0) {
      *out_index = middle;
      return true;
    }
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  *out_index = from;
  return false;
}

tb_status_t tb__parameter_table_reserve(tb__parameter_table_t *table)
{
  if (table->count < table->room) return TB_OK;
  size_t room = table->room ? 2 * table->room : 16;
  tb__parameter_state_t **items = realloc(table->items, room * sizeof *items);
  if (!items) return TB_ERR_NO_MEMORY;
  table->items = items;
  table->room = room;
  return TB_OK;
}

void tb__parameter_table_insert(tb__parameter_table_t *table, size_t index,
                                tb__parameter_state_t *state)
{
  tb__parameter_state_t **at = table->items + index;
  memmove(at + 1, at, (table->count - index) * sizeof *at);
  *at = state;
  table->count++;
}

tb__parameter_state_t *tb__parameter_table_remove(tb__parameter_table_t *table, size_t index)
{
  tb__parameter_state_t **at = table->items + index, *removed = *at;
  table->count--;
  memmove(at, at + 1, (table->count - index) * sizeof *at);
  return removed;
}

tb__parameter_state_t *tb__parameter_table_replace(tb__parameter_table_t *table, size_t index,
                                                   tb__parameter_state_t *state)
{
  tb__parameter_state_t *old = table->items[index];
  table->items[index] = state;
  return old;
}

void tb__parameter_table_fini(tb__parameter_table_t *table)
{
  tb__parameter_states_t states = {table->items, table->count};
  tb__parameter_states_release(&states);
  *table = (tb__parameter_table_t){0};
}
