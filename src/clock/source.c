/* Sources: made and destroyed, started by their first user and stopped after the last. */
#include "clock/source.h"
#include "base/sized.h"

#include <stdlib.h>

#include "base/list.h"
#include "clock/callback_context.h"
#include "clock/clock.h"
#include "clock/default_source.h"
#include "clock/jump_wait.h"
#include "clock/running.h"
#include "held/parking.h"

bool tb__source_try_acquire(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool runs = atomic_load(&source->phase) == TB__SOURCE_RUNNING;
  if (runs) source->users++;
  tb__mutex_unlock(&source->mutex);
  return runs;
}

tb_status_t tb__source_acquire(tb_source_t *source, int64_t limit_ns)
{
  /* X1: the first user starts the source */
  for (;;) {
    tb__mutex_lock(&source->mutex);
    bool wrapped = atomic_load(&source->timeline->redirect);
    uint32_t phase = atomic_load(&source->phase);
    if (phase == TB__SOURCE_RUNNING)
      source->users++;
    else if (phase == TB__SOURCE_STOPPED && !wrapped)
      atomic_store(&source->phase, TB__SOURCE_CHANGING);
    tb__mutex_unlock(&source->mutex);
    if (wrapped) return TB_ERR_BUSY;
    if (phase == TB__SOURCE_RUNNING) return TB_OK;
    if (phase == TB__SOURCE_STOPPED) break;
    if (!tb__futex_wait(&source->phase, TB__SOURCE_CHANGING, tb__deadline_at(limit_ns)))
      return TB_ERR_TIMEOUT;
  }
  if (source->ops->start) tb__timeline_reset(source->timeline);
  tb__timeline_set_detached(source->timeline, false);
  tb_status_t status =
      source->ops->start ? source->ops->start(source->self, source->timeline) : TB_OK;
  if (status) tb__timeline_set_detached(source->timeline, true);
  tb__mutex_lock(&source->mutex);
  if (!status) source->users++;
  atomic_store(&source->phase, status ? TB__SOURCE_STOPPED : TB__SOURCE_RUNNING);
  tb__mutex_unlock(&source->mutex);
  tb__futex_wake_all(&source->phase);
  return status;
}

/* The last user counts as leaving while it takes the right to tick away: a clock that leaves on
 * another thread would stop the source, which could be freed while this thread still uses it. */
static bool source_revoke(tb_source_t *source, uint32_t leaving)
{
  tb__mutex_lock(&source->mutex);
  source->leaving += leaving;
  bool last = --source->users == 0;
  if (last) {
    atomic_store(&source->phase, TB__SOURCE_CHANGING);
    source->stop_deferred = true;
    source->leaving++;
  }
  tb__mutex_unlock(&source->mutex);
  if (!last) return false;
  tb__timeline_set_detached(source->timeline, true);
  return tb__source_end_leave(source);
}

bool tb__source_revoke(tb_source_t *source)
{
  /* X1: true for the last user, which stops the source */
  return source_revoke(source, 0);
}

void tb__source_begin_leave(tb_source_t *source)
{
  source_revoke(source, 1);
}

bool tb__source_end_leave(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool stops = --source->leaving == 0 && source->stop_deferred;
  if (stops) source->stop_deferred = false;
  tb__mutex_unlock(&source->mutex);
  return stops;
}

/* The source may be gone as soon as it counts as stopped: after that only the address of the futex
 * is used. */
void tb__source_stop(tb_source_t *source)
{
  if (tb__is_forked()) return; /* in a callback of the change */
  if (source->ops->stop) source->ops->stop(source->self);
  tb__running_end(source->timeline);
  atomic_store(&source->phase, TB__SOURCE_STOPPED);
  tb__futex_wake_all(&source->phase);
}

void tb__source_link(tb_source_t *source, tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  TB__LIST_PUSH_BY(source->clocks, clock, source_next, source_previous);
  tb__mutex_unlock(&source->mutex);
}

void tb__source_unlink(tb_source_t *source, tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  TB__LIST_REMOVE_BY(source->clocks, clock, source_next, source_previous);
  tb__mutex_unlock(&source->mutex);
}

/* The elapsed time continues, so deadlines in it stay. */
static void report_waiters_of(tb_clock_t *clock, tb_timeline_t *timeline, const tb_jump_t *jump,
                              tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex)
{
  for (tb__waiter_t *waiter = clock->waiters, *next; waiter; waiter = next) {
    next = waiter->clock_next;
    tb__waiter_unqueue_locked(timeline, waiter);
    if (waiter->ops->moved(waiter, jump)) {
      waiter->wake_next = *to_wake;
      *to_wake = waiter;
    }
  }
}

void tb__source_notify_waiters_locked(tb_source_t *source, const tb_jump_t *jump,
                                      tb__waiter_t **to_wake)
{
  tb__timeline_assert_locked(source->timeline);
  tb__mutex_lock(&source->mutex);
  for (tb_clock_t *clock = source->clocks; clock; clock = clock->source_next)
    if (tb__clock_timeline(clock) == source->timeline)
      report_waiters_of(clock, source->timeline, jump, to_wake);
  tb__mutex_unlock(&source->mutex);
}

/* ---- making and destroying ---- */

tb_status_t tb_source_create_sized(const tb_source_ops_t *ops, size_t ops_size, void *self,
                                   tb_source_t **out)
{
  const tb_source_ops_t *kind = ops;
  tb_source_ops_t known;
  if (!TB__SIZED_IN(ops, ops_size, known)) return TB_ERR_UNSUPPORTED;
  if (!ops || !out) return TB_ERR_INVALID;
  tb_source_t *source = calloc(1, sizeof *source);
  if (!source) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__timeline_create(&source->timeline);
  if (status) {
    free(source);
    return status;
  }
  tb__mutex_init(&source->mutex);
  source->kind = kind;
  source->own_ops = *ops;
  source->ops = &source->own_ops;
  source->self = self;
  *out = source;
  return TB_OK;
}

/* Referenced, so that it may be destroyed meanwhile. */
static tb_clock_t *first_clock(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  tb_clock_t *clock = source->clocks;
  if (clock) tb__clock_ref(clock);
  tb__mutex_unlock(&source->mutex);
  return clock;
}

/* A clock that has just left on another thread may still be stopping the source. */
static tb_status_t wait_until_stopped(tb_source_t *source, int64_t limit_ns)
{
  uint32_t phase;
  while (!tb__is_forked() && (phase = atomic_load(&source->phase)) != TB__SOURCE_STOPPED)
    if (!tb__futex_wait(&source->phase, phase, tb__deadline_at(limit_ns)) &&
        atomic_load(&source->phase) != TB__SOURCE_STOPPED)
      return TB_ERR_TIMEOUT;
  return TB_OK;
}

static void source_free(tb_source_t *source)
{
  tb__timeline_unref(source->timeline);
  tb__mutex_fini(&source->mutex);
  free(source);
}

/* Takes all clocks off the source, and stops it. */
static tb_status_t source_retire(tb_source_t *source, int64_t limit_ns)
{
  tb_status_t status = TB_OK;
  tb_clock_t *clock;
  while (!status && !tb__is_forked() && (clock = first_clock(source))) {
    status = tb__clock_orphan(clock, source, limit_ns);
    tb__clock_unref(clock);
  }
  return status ? status : wait_until_stopped(source, limit_ns);
}

static tb_status_t source_destroy(tb_source_t *source, int64_t limit_ns)
{
  if (!source) return TB_OK;
  if (source == TB_SOURCE_DEFAULT) return TB_ERR_INVALID;
  if (tb__is_forked()) { /* its functions may wait for threads that do not exist */
    source_free(source);
    return TB_OK;
  }
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  if (atomic_load(&source->timeline->redirect)) return TB_ERR_BUSY;
  tb_status_t status = tb__default_forget(source, limit_ns);
  if (!status) status = source_retire(source, limit_ns);
  if (tb__is_forked()) return TB_ERR_FORKED; /* by a callback */
  if (status) return status;
  tb__timeline_set_detached(source->timeline, true);
  tb__running_end(source->timeline); /* it may have been moved without a clock */
  if (source->ops->destroy) source->ops->destroy(source->self);
  source_free(source);
  return TB_OK;
}

tb_status_t tb__source_wrap(tb_source_t *source, tb__redirect_t *redirect)
{
  tb__mutex_lock(&source->mutex);
  bool free_to_go = source->users == 0 && atomic_load(&source->phase) == TB__SOURCE_STOPPED &&
                    !atomic_load(&source->timeline->redirect);
  if (free_to_go) atomic_store(&source->timeline->redirect, redirect);
  tb__mutex_unlock(&source->mutex);
  if (!free_to_go) return TB_ERR_BUSY;
  tb__running_end(source->timeline);
  tb__timeline_reset(source->timeline); /* so that no tick takes the fast path */
  return TB_OK;
}

void tb__source_unwrap(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  tb__timeline_set_detached(source->timeline, true);
  atomic_store(&source->timeline->redirect, NULL);
  tb__mutex_unlock(&source->mutex);
}

tb_status_t tb_source_destroy(tb_source_t *source)
{
  return source_destroy(source, INT64_MAX);
}

tb_status_t tb_source_destroy_within(tb_source_t *source, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  return status ? status : source_destroy(source, deadline.ns);
}

tb_timeline_t *tb_source_timeline(tb_source_t *source)
{
  return source && source != TB_SOURCE_DEFAULT ? source->timeline : NULL;
}
