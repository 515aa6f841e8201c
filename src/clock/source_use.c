/* Sources as their users see them: started by the first, stopped after the last. */
#include "clock/clock.h"
#include "clock/jump_wait.h"
#include "clock/running.h"
#include "clock/source.h"
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

static bool source_revoke(tb_source_t *source, uint32_t leaving)
{
  tb__mutex_lock(&source->mutex);
  source->leaving += leaving;
  bool last = --source->users == 0;
  if (last) atomic_store(&source->phase, TB__SOURCE_CHANGING);
  if (last) source->stop_waits = source->leaving > 0;
  bool stops = last && !source->stop_waits;
  tb__mutex_unlock(&source->mutex);
  if (last) tb__timeline_set_detached(source->timeline, true);
  return stops;
}

bool tb__source_revoke(tb_source_t *source)
{
  return source_revoke(source, 0);
}

void tb__source_begin_leave(tb_source_t *source)
{
  source_revoke(source, 1);
}

bool tb__source_end_leave(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool stops = --source->leaving == 0 && source->stop_waits;
  if (stops) source->stop_waits = false;
  tb__mutex_unlock(&source->mutex);
  return stops;
}

/* The source may be gone as soon as it counts as stopped: only the futex's address is used then. */
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
  clock->source_previous = NULL;
  clock->source_next = source->clocks;
  if (source->clocks) source->clocks->source_previous = clock;
  source->clocks = clock;
  tb__mutex_unlock(&source->mutex);
}

void tb__source_unlink(tb_source_t *source, tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  if (clock->source_previous)
    clock->source_previous->source_next = clock->source_next;
  else
    source->clocks = clock->source_next;
  if (clock->source_next) clock->source_next->source_previous = clock->source_previous;
  tb__mutex_unlock(&source->mutex);
}

/* What has passed goes on, so deadlines in that stay. */
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
