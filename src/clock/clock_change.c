/* Changes of a clock's source. */
#include <stdlib.h>

#include "clock/clock.h"
#include "clock/default_source.h"
#include "clock/running.h"
#include "clock/source.h"
#include "platform/futex.h"

/* ---- the source's side: started by its first user, stopped after its last ---- */

bool tb__source_try_acquire(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool runs = atomic_load(&source->phase) == TB__SOURCE_RUNNING;
  if (runs) source->users++;
  tb__mutex_unlock(&source->mutex);
  return runs;
}

tb_status_t tb__source_acquire(tb_source_t *source)
{
  for (;;) {
    tb__mutex_lock(&source->mutex);
    uint32_t phase = atomic_load(&source->phase);
    if (phase == TB__SOURCE_RUNNING)
      source->users++;
    else if (phase == TB__SOURCE_STOPPED)
      atomic_store(&source->phase, TB__SOURCE_CHANGING);
    tb__mutex_unlock(&source->mutex);
    if (phase == TB__SOURCE_RUNNING) return TB_OK;
    if (phase == TB__SOURCE_STOPPED) break;
    tb__futex_wait(&source->phase, TB__SOURCE_CHANGING, TB__NO_DEADLINE);
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

bool tb__source_revoke(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool last = --source->users == 0;
  if (last) atomic_store(&source->phase, TB__SOURCE_CHANGING);
  tb__mutex_unlock(&source->mutex);
  if (last) tb__timeline_set_detached(source->timeline, true);
  return last;
}

/* The source may be gone as soon as it counts as stopped: only the futex's address is used then. */
void tb__source_stop(tb_source_t *source)
{
  if (source->ops->stop) source->ops->stop(source->self);
  tb__running_end(source->timeline);
  atomic_store(&source->phase, TB__SOURCE_STOPPED);
  tb__futex_wake_all(&source->phase);
}

static void source_link(tb_source_t *source, tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  clock->source_previous = NULL;
  clock->source_next = source->clocks;
  if (source->clocks) source->clocks->source_previous = clock;
  source->clocks = clock;
  tb__mutex_unlock(&source->mutex);
}

static void source_unlink(tb_source_t *source, tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  if (clock->source_previous)
    clock->source_previous->source_next = clock->source_next;
  else
    source->clocks = clock->source_next;
  if (clock->source_next) clock->source_next->source_previous = clock->source_previous;
  tb__mutex_unlock(&source->mutex);
}

/* ---- the clock's side ---- */

/* Readers may look at a timeline long after the clock left it: it is kept as long as the clock.
 * Takes one of the spares if it needs one. */
static void hold_timeline(tb_clock_t *clock, tb_timeline_t *timeline, tb__held_timeline_t **spares)
{
  for (const tb__held_timeline_t *held = clock->held; held; held = held->next)
    if (held->timeline == timeline) return;
  tb__held_timeline_t *held = *spares;
  *spares = held->next;
  tb__timeline_ref(timeline);
  *held = (tb__held_timeline_t){clock->held, timeline};
  clock->held = held;
}

static uintptr_t word_of(tb_timeline_t *timeline)
{
  return (uintptr_t)timeline | (timeline->kind == TB__TIMELINE_ROS ? 0 : TB__WORD_OS);
}

/* Two timelines, locked in the order of their ids. */
typedef struct pair {
  tb_timeline_t *from, *to;
} pair_t;

TB_NO_THREAD_ANALYSIS
static void pair_lock(pair_t pair)
{
  bool from_first = pair.from->id < pair.to->id;
  tb__mutex_lock(&(from_first ? pair.from : pair.to)->mutex);
  tb__mutex_lock(&(from_first ? pair.to : pair.from)->mutex);
}

TB_NO_THREAD_ANALYSIS
static void pair_unlock(pair_t pair)
{
  tb__mutex_unlock(&pair.from->mutex);
  tb__mutex_unlock(&pair.to->mutex);
}

static void take_turn(tb_timeline_t *timeline)
{
  if (timeline->kind != TB__TIMELINE_ROS) /* nobody moves it */
    return;
  tb__mutex_lock(&timeline->mutex);
  tb__timeline_take_turn_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

static void end_turn(tb_timeline_t *timeline)
{
  if (timeline->kind != TB__TIMELINE_ROS) return;
  tb__mutex_lock(&timeline->mutex);
  tb__timeline_end_turn_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

TB_NO_THREAD_ANALYSIS
static tb_jump_t describe_locked(tb_clock_t *clock, pair_t pair)
{
  bool from_ros = pair.from->kind == TB__TIMELINE_ROS;
  bool to_ros = pair.to->kind == TB__TIMELINE_ROS;
  tb_jump_t jump = {
      .kind = TB_JUMP_CLOCK_CHANGE,
      .reason = !from_ros ? TB_JUMP_REASON_SOURCE_ON
                : to_ros  ? TB_JUMP_REASON_SOURCE_REPLACED
                          : TB_JUMP_REASON_SOURCE_OFF,
      .before = {tb__timeline_time_locked(pair.from), clock->kind},
      .after = {tb__timeline_time_locked(pair.to), clock->kind},
      .epoch = tb__epoch_take(),
  };
  if (jump.before.ns && jump.after.ns) jump.delta.ns = jump.after.ns - jump.before.ns;
  return jump;
}

/* Waiters keep their place on the clock; each decides what the change does to it. */
TB_NO_THREAD_ANALYSIS
static void move_waiters_locked(tb_clock_t *clock, pair_t pair, const tb_jump_t *jump,
                                tb__waiter_t **to_wake)
{
  for (tb__waiter_t *waiter = clock->waiters, *next; waiter; waiter = next) {
    next = waiter->clock_next;
    uint64_t remaining = waiter->deadline - tb__timeline_elapsed_locked(pair.from);
    bool watching = waiter->watching;
    tb__waiter_unqueue_locked(pair.from, waiter);
    tb__waiter_unwatch_locked(pair.from, waiter);
    if (waiter->axis == TB__AXIS_ELAPSED)
      waiter->deadline = tb__timeline_elapsed_locked(pair.to) + remaining;
    if (watching) tb__waiter_watch_locked(pair.to, waiter);
    if (waiter->ops->moved(waiter, jump)) {
      waiter->wake_next = *to_wake;
      *to_wake = waiter;
    }
  }
}

TB_NO_THREAD_ANALYSIS
static void clock_change_end(tb_clock_t *clock, pair_t pair, tb__jump_t *change,
                             tb__waiter_t *to_wake)
{
  pair_lock(pair);
  tb__jump_release_locked(change, pair.from);
  atomic_fetch_and(&clock->word, ~TB__WORD_CHANGING);
  atomic_fetch_add(&clock->gate, 1);
  tb__futex_wake_all(&clock->gate);
  for (tb__waiter_t *waiter = clock->waiters; waiter; waiter = waiter->clock_next)
    if (waiter->ops->settled) waiter->ops->settled(waiter);
  tb__waiters_collect_due_locked(pair.to, &to_wake);
  /* handlers went along: those who wait for the end of the jump may look at either timeline */
  atomic_fetch_add(&pair.to->jumps_done, 1);
  tb__futex_wake_all(&pair.to->jumps_done);
  pair_unlock(pair);
  tb__waiters_wake(to_wake);
}

/* Steps 1 to 5 of a jump, for one clock. The clock's move_mutex is held. */
TB_NO_THREAD_ANALYSIS
static void clock_change(tb_clock_t *clock, tb_timeline_t *to, tb_clock_state_t idle_state)
{
  pair_t pair = {tb__clock_timeline(clock), to};
  bool from_first = pair.from->id < pair.to->id;
  take_turn(from_first ? pair.from : pair.to);
  take_turn(from_first ? pair.to : pair.from);

  pair_lock(pair);
  tb__jump_t change = {
      .info = describe_locked(clock, pair), .timelines = {pair.from, pair.to}, .moved = clock};
  tb__jump_select_locked(&change, pair.from);
  atomic_fetch_or(&clock->word, TB__WORD_CHANGING);
  pair_unlock(pair);
  tb__jump_call_before(&change);

  tb__waiter_t *to_wake = NULL;
  pair_lock(pair);
  atomic_store(&clock->idle_state, (uint32_t)idle_state);
  atomic_store(&clock->move_epoch, change.info.epoch); /* before the word: it never falls */
  atomic_store(&clock->word, word_of(to) | TB__WORD_CHANGING);
  tb__handlers_move(clock, pair.from, pair.to);
  move_waiters_locked(clock, pair, &change.info, &to_wake);
  pair_unlock(pair);
  tb__jump_call_after(&change);

  clock_change_end(clock, pair, &change, to_wake);
  end_turn(pair.from);
  end_turn(pair.to);
}

/* With move_mutex held. `source` is acquired, or NULL. Returns the source to stop, or NULL. */
static tb_source_t *clock_switch(tb_clock_t *clock, tb_source_t *source,
                                 tb_clock_state_t idle_state)
{
  tb_source_t *old = clock->source;
  bool last = old && tb__source_revoke(old);
  clock_change(clock, source ? source->timeline : tb__timeline_system(), idle_state);
  clock->source = source;
  if (old) source_unlink(old, clock);
  if (source) source_link(source, clock);
  return last ? old : NULL;
}

/* With move_mutex held and `source`, if any, acquired. Returns the source to stop, or NULL. */
static tb_source_t *clock_use_locked(tb_clock_t *clock, tb_source_t *source,
                                     tb_clock_state_t idle_state, tb__held_timeline_t **spares)
{
  if (source == clock->source) {
    if (!source) atomic_store(&clock->idle_state, (uint32_t)idle_state);
    if (source) tb__source_revoke(source); /* acquired twice: never the last */
    return NULL;
  }
  if (source) hold_timeline(clock, source->timeline, spares);
  return clock_switch(clock, source, idle_state);
}

/* Which source the clock is to use, or NULL, and whether it follows the default from now on. */
static tb_source_t *choose_locked(tb_clock_t *clock, tb_source_t *wanted, tb_clock_state_t *idle)
{
  *idle = TB_CLOCK_INACTIVE;
  if (wanted == TB_SOURCE_DEFAULT) {
    *idle = TB_CLOCK_NO_SOURCE;
    return tb__default_join(clock);
  }
  tb__default_leave(clock);
  return wanted;
}

/* Before the change: starts what must be started, so that nothing can fail after it. */
static tb_status_t source_prepare(tb_source_t *source, tb__held_timeline_t **spares)
{
  tb_status_t status = TB_OK;
  if (source && !tb__held_reserve(spares, 1)) return TB_ERR_NO_MEMORY;
  if (source == TB_SOURCE_DEFAULT)
    status = tb__default_need();
  else if (source && tb__jump_of_thread)
    status = tb__source_try_acquire(source) ? TB_OK : TB_ERR_DEADLOCK;
  else if (source)
    status = tb__source_acquire(source);
  if (status) tb__held_free(*spares);
  return status;
}

tb_status_t tb_clock_set_source(tb_clock_t *clock, tb_source_t *source)
{
  if (!clock || clock->kind != TB_TIME_ROS) return TB_ERR_INVALID;
  if (tb__jump_of_thread) return TB_ERR_DEADLOCK;
  tb__held_timeline_t *spares = NULL;
  tb_status_t status = source_prepare(source, &spares);
  if (status) return status;
  tb_clock_state_t idle;
  tb__clock_ref(clock); /* whom the change wakes may destroy it */
  tb__mutex_lock(&clock->move_mutex);
  tb_source_t *chosen = choose_locked(clock, source, &idle);
  tb_source_t *stop = clock_use_locked(clock, chosen, idle, &spares);
  tb__mutex_unlock(&clock->move_mutex);
  tb__clock_unref(clock);
  tb__held_free(spares);
  if (stop) tb__source_stop(stop);
  if (source && !chosen) tb__default_report_none();
  return TB_OK;
}

/* In a jump callback no turn can be taken. None is needed: nobody reads the clock or waits on it.
 */
tb_status_t tb__clock_set_first_source(tb_clock_t *clock, tb_source_t *source)
{
  if (!tb__jump_of_thread) return tb_clock_set_source(clock, source);
  tb__held_timeline_t *spares = NULL;
  tb_status_t status = source_prepare(source, &spares);
  if (status) return status;
  tb_clock_state_t idle;
  tb__mutex_lock(&clock->move_mutex);
  tb_source_t *chosen = choose_locked(clock, source, &idle);
  atomic_store(&clock->idle_state, (uint32_t)idle);
  if (chosen) {
    hold_timeline(clock, chosen->timeline, &spares);
    atomic_store(&clock->word, word_of(chosen->timeline));
    clock->source = chosen;
    source_link(chosen, clock);
  }
  tb__mutex_unlock(&clock->move_mutex);
  tb__held_free(spares);
  if (!chosen) tb__default_report_none();
  return TB_OK;
}

tb_source_t *tb__clock_follow(tb_clock_t *clock, tb_source_t *source, tb__held_timeline_t **spares)
{
  tb_source_t *stop = NULL;
  tb__mutex_lock(&clock->move_mutex);
  if (clock->follows && (!source || tb__source_try_acquire(source)))
    stop = clock_use_locked(clock, source, TB_CLOCK_NO_SOURCE, spares);
  tb__mutex_unlock(&clock->move_mutex);
  return stop;
}

void tb__clock_orphan(tb_clock_t *clock, tb_source_t *source)
{
  tb_source_t *stop = NULL;
  tb__mutex_lock(&clock->move_mutex);
  if (clock->source == source) stop = clock_switch(clock, NULL, TB_CLOCK_NO_SOURCE);
  tb__mutex_unlock(&clock->move_mutex);
  if (stop) tb__source_stop(stop);
}

void tb__clock_leave_source(tb_clock_t *clock)
{
  tb__mutex_lock(&clock->move_mutex);
  tb_source_t *source = clock->source;
  bool last = source && tb__source_revoke(source);
  tb__default_leave(clock);
  if (source) source_unlink(source, clock);
  clock->source = NULL;
  tb__mutex_unlock(&clock->move_mutex);
  if (last) tb__source_stop(source);
}
