#include "params/parameter_store.h"

#include <stdlib.h>

#include "base/fork.h"
#include "clock/jump_wait.h"
#include "params/parameter_batch.h"
#include "params/parameter_list.h"
#include "params/parameter_rules.h"
#include "platform/mutex.h"

#define SHOWN(name) TB__PARAMETER_NAME_SHOWN, (name)

struct tb__parameter_store {
  tb__parameter_store_hooks_t hooks;
  void *user;
  tb__mutex_t turn;                 /* held through the hooks */
  tb__parameter_table_t overrides;  /* used by the thread that has the turn */
  tb__mutex_t mutex;                /* held briefly; the last lock in the order */
  tb__parameter_table_t parameters; /* written with both, read with either */
};

/* This thread is in a hook of any store. */
static _Thread_local bool in_hook;

tb_status_t tb__parameter_store_create(const tb__parameter_store_hooks_t *hooks, void *user,
                                       tb__parameter_store_t **out)
{
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb__parameter_store_t *store = calloc(1, sizeof *store);
  if (!store) return TB_ERR_NO_MEMORY;
  if (hooks) store->hooks = *hooks;
  store->user = user;
  tb__mutex_init(&store->turn);
  tb__mutex_init(&store->mutex);
  *out = store;
  return TB_OK;
}

void tb__parameter_store_destroy(tb__parameter_store_t *store)
{
  if (!store) return;
  if (tb__is_forked() && (!tb__mutex_was_free(&store->turn) || !tb__mutex_was_free(&store->mutex)))
    return; /* a thread that does not exist here may be changing it */
  tb__parameter_table_fini(&store->overrides);
  tb__parameter_table_fini(&store->parameters);
  tb__mutex_fini(&store->turn);
  tb__mutex_fini(&store->mutex);
  free(store);
}

static tb_status_t forked(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_FORKED, "parameters: %s", tb_status_message(TB_ERR_FORKED));
}

/* Whether this thread may wait for its turn. */
static tb_status_t may_change(const char *name, tb_error_t *error)
{
  tb_status_t status = tb__parameter_name_check(name, error);
  if (status) return status;
  if (tb__is_forked()) return forked(error);
  if (in_hook || tb__thread_may_not_wait())
    return tb_error_set(error, TB_ERR_DEADLOCK,
                        "parameter %.*s cannot be changed from this callback; change it after the "
                        "callback has returned, or on another thread",
                        SHOWN(name));
  return TB_OK;
}

typedef tb_status_t (*hook_t)(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                              tb_error_t *error);

static tb_status_t run_hook(tb__parameter_store_t *store, hook_t hook,
                            const tb_ros2_parameter_t *parameters, size_t count, tb_error_t *error)
{
  tb_error_t said = TB_ERROR_INIT;
  if (!hook) return TB_OK;
  in_hook = true;
  tb_status_t status = hook(parameters, count, store->user, &said);
  in_hook = false;
  if (tb__is_forked()) return forked(error);
  if (!status) return TB_OK;
  if (said.text[0] == '\0')
    return tb_error_set(error, status, "parameter %.*s: refused by the node (%s)",
                        SHOWN(parameters[0].name), tb_status_message(status));
  said.status = status;
  if (error) *error = said;
  return status;
}

static tb_status_t run_hooks(tb__parameter_store_t *store, const tb_ros2_parameter_t *parameters,
                             size_t count, tb_error_t *error) TB_REQUIRES(store->turn)
{
  tb_status_t status = run_hook(store, store->hooks.check, parameters, count, error);
  if (status) return status;
  return run_hook(store, store->hooks.apply, parameters, count, error);
}

static void settle(tb__parameter_store_t *store)
{
  if (store->hooks.settled && !tb__is_forked()) store->hooks.settled(store->user);
}

typedef struct change {
  const tb_ros2_parameter_t *parameters;
  size_t count;
} change_t;

static void notify(tb__parameter_store_t *store, change_t added, change_t changed, change_t deleted)
    TB_REQUIRES(store->turn)
{
  if (!store->hooks.changed) return;
  in_hook = true;
  store->hooks.changed(added.parameters, added.count, changed.parameters, changed.count,
                       deleted.parameters, deleted.count, store->user);
  in_hook = false;
}

static tb_status_t override_locked(tb__parameter_store_t *store, const char *name,
                                   const tb_ros2_parameter_value_t *value) TB_REQUIRES(store->turn)
{
  static const tb_ros2_parameter_descriptor_t no_descriptor = TB_ROS2_PARAMETER_DESCRIPTOR_INIT;
  tb__parameter_state_t *state;
  size_t index;
  tb_status_t status = tb__parameter_table_reserve(&store->overrides);
  if (!status) status = tb__parameter_declare(name, &no_descriptor, value, &state);
  if (status) return status;
  if (tb__parameter_table_find(&store->overrides, name, &index))
    tb__parameter_state_release(tb__parameter_table_replace(&store->overrides, index, state));
  else
    tb__parameter_table_insert(&store->overrides, index, state);
  return TB_OK;
}

tb_status_t tb__parameter_store_override(tb__parameter_store_t *store, const char *name,
                                         const tb_ros2_parameter_value_t *value, tb_error_t *error)
{
  tb_status_t status = may_change(name, error);
  if (status) return status;
  tb__mutex_lock(&store->turn);
  status = override_locked(store, name, value);
  tb__mutex_unlock(&store->turn);
  if (status == TB_ERR_NO_MEMORY) return tb__parameter_no_memory(name, error);
  if (status)
    return tb_error_set(error, status, "override of parameter %.*s: invalid value", SHOWN(name));
  return TB_OK;
}

tb_status_t tb__parameter_store_begin(tb__parameter_store_t *store) TB_TRY_ACQUIRE(0, store->turn)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (in_hook || tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  tb__mutex_lock(&store->turn);
  return TB_OK;
}

void tb__parameter_store_end(tb__parameter_store_t *store) TB_RELEASE(store->turn)
{
  tb__mutex_unlock(&store->turn);
}

/* The declaration, before hooks are called. */
static tb_status_t declaration_make(tb__parameter_store_t *store, const char *name,
                                    const tb_ros2_parameter_value_t *default_value,
                                    const tb_ros2_parameter_descriptor_t *descriptor,
                                    tb__parameter_state_t **out, tb_error_t *error)
    TB_REQUIRES(store->turn)
{
  const tb_ros2_parameter_value_t *value = default_value;
  size_t index;
  if (tb__parameter_table_find(&store->parameters, name, &index))
    return tb_error_set(error, TB_ERR_INVALID, "parameter %.*s is already declared", SHOWN(name));
  if (default_value->type == TB_ROS2_PARAMETER_NOT_SET && !descriptor->dynamic_typing)
    return tb_error_set(error, TB_ERR_INVALID,
                        "parameter %.*s: without dynamic typing it needs a default value",
                        SHOWN(name));
  tb_status_t status = tb__parameter_descriptor_check(name, descriptor, error);
  if (status) return status;
  if (tb__parameter_table_find(&store->overrides, name, &index))
    value = &store->overrides.items[index]->value;
  status = tb__parameter_value_check(name, descriptor, default_value->type, value, error);
  if (status) return status;
  status = tb__parameter_declare(name, descriptor, value, out);
  if (status == TB_ERR_NO_MEMORY) return tb__parameter_no_memory(name, error);
  if (status) return tb_error_set(error, status, "parameter %.*s: invalid default", SHOWN(name));
  return TB_OK;
}

/* Takes ownership of the state. */
static void declaration_commit(tb__parameter_store_t *store, tb__parameter_state_t *state)
    TB_REQUIRES(store->turn)
{
  size_t index;
  tb_ros2_parameter_t added = tb__parameter_view(state);
  tb__mutex_lock(&store->mutex);
  tb__parameter_table_find(&store->parameters, added.name, &index);
  tb__parameter_table_insert(&store->parameters, index, state);
  tb__mutex_unlock(&store->mutex);
  if (added.value.type != TB_ROS2_PARAMETER_NOT_SET)
    notify(store, (change_t){&added, 1}, (change_t){0}, (change_t){0});
}

/* Copies the value to *copy. Nothing in `store` changes except capacity. */
static tb_status_t declaration_prepare(tb__parameter_store_t *store,
                                       const tb__parameter_state_t *state,
                                       tb_ros2_parameter_value_t *copy, tb_error_t *error)
    TB_REQUIRES(store->turn)
{
  tb_ros2_parameter_t added = tb__parameter_view(state);
  tb__mutex_lock(&store->mutex);
  tb_status_t status = tb__parameter_table_reserve(&store->parameters);
  tb__mutex_unlock(&store->mutex);
  if (!status) status = tb_ros2_parameter_value_copy(&added.value, copy);
  if (status) return tb__parameter_no_memory(added.name, error);
  if (added.value.type != TB_ROS2_PARAMETER_NOT_SET) status = run_hooks(store, &added, 1, error);
  if (status) tb_ros2_parameter_value_release(copy);
  return status;
}

tb_status_t tb__parameter_store_declare(tb__parameter_store_t *store, const char *name,
                                        const tb_ros2_parameter_value_t *default_value,
                                        const tb_ros2_parameter_descriptor_t *descriptor,
                                        tb_ros2_parameter_value_t *out, tb_error_t *error)
{
  static const tb_ros2_parameter_descriptor_t no_descriptor = TB_ROS2_PARAMETER_DESCRIPTOR_INIT;
  tb__parameter_state_t *state;
  tb_ros2_parameter_value_t copy = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_status_t status = may_change(name, error);
  if (status) return status;
  if (!default_value)
    return tb_error_set(error, TB_ERR_INVALID, "parameter %.*s: no default", SHOWN(name));
  if (!descriptor) descriptor = &no_descriptor;
  tb__mutex_lock(&store->turn);
  status = declaration_make(store, name, default_value, descriptor, &state, error);
  if (!status) {
    status = declaration_prepare(store, state, &copy, error);
    if (!status)
      declaration_commit(store, state);
    else
      tb__parameter_state_release(state);
  }
  tb__mutex_unlock(&store->turn);
  settle(store);
  if (!status && out)
    *out = copy;
  else
    tb_ros2_parameter_value_release(&copy);
  return status;
}

tb_status_t tb__parameter_store_undeclare(tb__parameter_store_t *store, const char *name,
                                          tb_error_t *error)
{
  size_t index;
  tb_status_t status = may_change(name, error);
  if (status) return status;
  tb__mutex_lock(&store->turn);
  if (!tb__parameter_table_find(&store->parameters, name, &index))
    status = tb__parameter_not_declared(name, error);
  else
    status = tb__parameter_delete_check(store->parameters.items[index], error);
  if (!status) {
    tb__mutex_lock(&store->mutex);
    tb__parameter_state_t *state = tb__parameter_table_remove(&store->parameters, index);
    tb__mutex_unlock(&store->mutex);
    tb_ros2_parameter_t deleted = {.name = state->declaration->name};
    notify(store, (change_t){0}, (change_t){0}, (change_t){&deleted, 1});
    tb__parameter_state_release(state);
  }
  tb__mutex_unlock(&store->turn);
  return status;
}

static void batch_commit(tb__parameter_store_t *store, tb__parameter_batch_t *batch)
    TB_REQUIRES(store->turn)
{
  tb__mutex_lock(&store->mutex);
  tb__parameter_batch_commit(batch, &store->parameters);
  tb__mutex_unlock(&store->mutex);
  size_t changed_count = tb__parameter_batch_events(batch);
  notify(store, (change_t){0}, (change_t){batch->events, changed_count},
         (change_t){batch->events + changed_count, batch->states.count - changed_count});
}

tb_status_t tb__parameter_store_set(tb__parameter_store_t *store,
                                    const tb_ros2_parameter_t *parameters, size_t count,
                                    tb_error_t *error)
{
  tb__parameter_batch_t batch = {0};
  if (!parameters || count == 0) return tb_error_set(error, TB_ERR_INVALID, "no parameters given");
  tb_status_t status = may_change(parameters[0].name, error);
  if (status) return status;
  tb__mutex_lock(&store->turn);
  status = tb__parameter_batch_make(&batch, &store->parameters, parameters, count, error);
  if (!status) status = run_hooks(store, batch.parameters, batch.states.count, error);
  if (!status) batch_commit(store, &batch);
  tb__mutex_unlock(&store->turn);
  settle(store);
  tb__parameter_batch_fini(&batch);
  return status;
}

tb_status_t tb__parameter_store_read(tb__parameter_store_t *store, const char *const *names,
                                     size_t count, tb__parameter_states_t *out)
{
  tb_status_t status = TB_OK;
  tb__parameter_states_t states = {0};
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (count > 0) states.items = calloc(count, sizeof *states.items);
  if (count > 0 && !states.items) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&store->mutex);
  for (; states.count < count && !status; states.count++) {
    size_t index;
    if (tb__parameter_table_find(&store->parameters, names[states.count], &index))
      states.items[states.count] = tb__parameter_state_hold(store->parameters.items[index]);
    else
      status = TB_ERR_NOT_FOUND;
  }
  tb__mutex_unlock(&store->mutex);
  if (!status)
    *out = states;
  else
    tb__parameter_states_release(&states);
  return status;
}

tb_status_t tb__parameter_store_get(tb__parameter_store_t *store, const char *name,
                                    tb_ros2_parameter_value_t *out, tb_error_t *error)
{
  tb__parameter_state_t *state = NULL;
  size_t index;
  tb_status_t status = tb__parameter_name_check(name, error);
  if (status) return status;
  if (tb__is_forked()) return forked(error);
  tb__mutex_lock(&store->mutex);
  if (tb__parameter_table_find(&store->parameters, name, &index))
    state = tb__parameter_state_hold(store->parameters.items[index]);
  tb__mutex_unlock(&store->mutex);
  if (!state) return tb__parameter_not_declared(name, error);
  status = tb_ros2_parameter_value_copy(&state->value, out);
  tb__parameter_state_release(state);
  return !status ? TB_OK : tb__parameter_no_memory(name, error);
}

static tb_status_t list_locked(const tb__parameter_store_t *store,
                               const tb__parameter_filter_t *filter, tb__parameter_states_t *out)
    TB_REQUIRES(store->mutex)
{
  tb__parameter_states_t states = {0};
  const tb__parameter_table_t *table = &store->parameters;
  if (table->count > 0) states.items = calloc(table->count, sizeof *states.items);
  if (table->count > 0 && !states.items) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < table->count; i++) {
    if (tb__parameter_filter_takes(filter, table->items[i]->declaration->name))
      states.items[states.count++] = tb__parameter_state_hold(table->items[i]);
  }
  *out = states;
  return TB_OK;
}

tb_status_t tb__parameter_store_list(tb__parameter_store_t *store, const char *const *prefixes,
                                     size_t prefix_count, uint64_t depth,
                                     tb__parameter_states_t *out)
{
  tb__parameter_filter_t filter;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_status_t status = tb__parameter_filter_init(&filter, prefixes, prefix_count, depth);
  if (status) return status;
  tb__mutex_lock(&store->mutex);
  status = list_locked(store, &filter, out);
  tb__mutex_unlock(&store->mutex);
  tb__parameter_filter_fini(&filter);
  return status;
}
