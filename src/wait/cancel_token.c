#include "wait/cancel_token.h"

#include <stdlib.h>

#include "clock/jump_wait.h"
#include "held/parking.h"
#include "wait/signal_token.h"

struct tb_cancel_token {
  tb__mutex_t mutex; /* no mutex is taken under it, and it is taken under none */
  tb__sleeper_t *members;
  _Atomic bool cancelled;   /* written under the mutex */
  bool closed;              /* by the mutex */
  bool on_signals;          /* never changes */
  _Atomic uint32_t emptied; /* futex: counts how often the last member has left */
};

tb_status_t tb_cancel_token_create(tb_cancel_token_t **out)
{
  if (!out) return TB_ERR_INVALID;
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_cancel_token_t *token = calloc(1, sizeof *token);
  if (!token) return TB_ERR_NO_MEMORY;
  tb__mutex_init(&token->mutex);
  *out = token;
  return TB_OK;
}

tb_status_t tb_cancel_token_create_on_signals(tb_cancel_token_t **out)
{
  tb_cancel_token_t *token;
  if (!out) return TB_ERR_INVALID;
  tb_status_t status = tb_cancel_token_create(&token);
  if (status) return status;
  token->on_signals = true;
  status = tb__signals_watch(token);
  if (status) {
    tb__mutex_fini(&token->mutex);
    free(token);
    return status;
  }
  *out = token;
  return TB_OK;
}

static void mark_members_locked(tb_cancel_token_t *token, uint32_t mark) TB_REQUIRES(token->mutex)
{
  for (tb__sleeper_t *member = token->members; member; member = member->token_next)
    tb__sleeper_mark(member, mark);
}

static tb_status_t token_close(tb_cancel_token_t *token, int64_t limit_ns)
{
  /* L1: all waits end, and have left the token on return */
  bool in_time = true;
  tb__mutex_lock(&token->mutex);
  token->closed = true;
  mark_members_locked(token, TB__MARK_CLOSED);
  while (token->members && in_time) {
    uint32_t seen = atomic_load(&token->emptied);
    tb__mutex_unlock(&token->mutex);
    in_time = tb__futex_wait(&token->emptied, seen, tb__deadline_at(limit_ns));
    tb__mutex_lock(&token->mutex);
  }
  bool empty = !token->members;
  tb__mutex_unlock(&token->mutex);
  return empty ? TB_OK : TB_ERR_TIMEOUT;
}

static tb_status_t token_destroy(tb_cancel_token_t *token, int64_t limit_ns)
{
  if (!token) return TB_OK;
  if (!tb__is_forked()) { /* else the members are of threads that do not exist */
    if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
    tb_status_t status = token_close(token, limit_ns);
    if (status) return status;
  }
  if (token->on_signals) tb__signals_unwatch(token);
  tb__mutex_fini(&token->mutex);
  free(token);
  return TB_OK;
}

tb_status_t tb_cancel_token_destroy(tb_cancel_token_t *token)
{
  return token_destroy(token, INT64_MAX);
}

tb_status_t tb_cancel_token_destroy_within(tb_cancel_token_t *token, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  return status ? status : token_destroy(token, deadline.ns);
}

void tb_cancel_token_cancel(tb_cancel_token_t *token)
{
  /* S5: ends the waits in progress, and future ones until a reset */
  if (!token || tb__is_forked()) return;
  tb__mutex_lock(&token->mutex);
  if (!atomic_load(&token->cancelled)) {
    atomic_store(&token->cancelled, true);
    mark_members_locked(token, TB__MARK_CANCELLED);
  }
  tb__mutex_unlock(&token->mutex);
}

void tb_cancel_token_reset(tb_cancel_token_t *token)
{
  /* S5: waits in progress keep their mark, so a reset does not undo a cancel for them */
  if (!token || tb__is_forked()) return;
  tb__mutex_lock(&token->mutex);
  atomic_store(&token->cancelled, false);
  tb__mutex_unlock(&token->mutex);
  if (token->on_signals) tb__signals_expect_again();
}

bool tb_cancel_token_is_cancelled(const tb_cancel_token_t *token)
{
  return token && atomic_load(&token->cancelled);
}

void tb__cancel_token_join(tb_cancel_token_t *token, tb__sleeper_t *sleeper)
{
  tb__mutex_lock(&token->mutex);
  sleeper->token_previous = NULL;
  sleeper->token_next = token->members;
  if (token->members) token->members->token_previous = sleeper;
  token->members = sleeper;
  if (atomic_load(&token->cancelled)) tb__sleeper_mark(sleeper, TB__MARK_CANCELLED);
  if (token->closed) tb__sleeper_mark(sleeper, TB__MARK_CLOSED);
  tb__mutex_unlock(&token->mutex);
}

void tb__cancel_token_leave(tb_cancel_token_t *token, tb__sleeper_t *sleeper)
{
  tb__mutex_lock(&token->mutex);
  if (sleeper->token_previous)
    sleeper->token_previous->token_next = sleeper->token_next;
  else
    token->members = sleeper->token_next;
  if (sleeper->token_next) sleeper->token_next->token_previous = sleeper->token_previous;
  bool wake = token->closed && !token->members;
  if (wake) atomic_fetch_add(&token->emptied, 1);
  _Atomic uint32_t *emptied = &token->emptied;
  tb__mutex_unlock(&token->mutex);
  if (wake) tb__futex_wake_all(emptied); /* the memory may be gone: at worst a stray wake-up */
}
