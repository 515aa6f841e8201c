/* Changes of a clock's source. */
#include <stdlib.h>

#include "clock/clock.h"
#include "clock/running.h"
#include "clock/source.h"
#include "platform/futex.h"

/* ---- the source's side: started by its first clock, stopped after its last ---- */

static tb_status_t source_acquire(tb_source_t *source)
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

/* Takes one clock off. True for the last: its right to tick is gone, and source_stop must follow,
 * with nothing held. */
static bool source_revoke(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  bool last = --source->users == 0;
  if (last) atomic_store(&source->phase, TB__SOURCE_CHANGING);
  tb__mutex_unlock(&source->mutex);
  if (last) tb__timeline_set_detached(source->timeline, true);
  return last;
}

/* The source may be gone as soon as it counts as stopped: only the futex's address is used then. */
static void source_stop(tb_source_t *source)
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

/* What has passed goes on, so deadlines in that stay. */
TB_NO_THREAD_ANALYSIS
static void tell_waiters_of(tb_clock_t *clock, tb_timeline_t *timeline, const tb_jump_t *jump,
                            tb__waiter_t **to_wake)
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

void tb__source_tell_waiters_locked(tb_source_t *source, const tb_jump_t *jump,
                                    tb__waiter_t **to_wake)
{
  tb__mutex_lock(&source->mutex);
  for (tb_clock_t *clock = source->clocks; clock; clock = clock->source_next)
    if (tb__clock_timeline(clock) == source->timeline)
      tell_waiters_of(clock, source->timeline, jump, to_wake);
  tb__mutex_unlock(&source->mutex);
}

/* ---- the clock's side ---- */

/* Readers may look at a timeline long after the clock left it: it is kept as long as the clock. */
static tb_status_t hold_timeline(tb_clock_t *clock, tb_timeline_t *timeline)
{
  for (const tb__held_timeline_t *held = clock->held; held; held = held->next)
    if (held->timeline == timeline) return TB_OK;
  tb__held_timeline_t *held = malloc(sizeof *held);
  if (!held) return TB_ERR_NO_MEMORY;
  tb__timeline_ref(timeline);
  *held = (tb__held_timeline_t){clock->held, timeline};
  clock->held = held;
  return TB_OK;
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
  uintptr_t word = (uintptr_t)to | TB__WORD_CHANGING;
  if (to->kind != TB__TIMELINE_ROS) word |= TB__WORD_OS;
  if (to->view) word |= TB__WORD_PAGE;
  atomic_store(&clock->idle_state, (uint32_t)idle_state);
  atomic_store(&clock->move_epoch, change.info.epoch); /* before the word: it never falls */
  atomic_store(&clock->word, word);
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
  bool last = old && source_revoke(old);
  clock_change(clock, source ? source->timeline : tb__timeline_system(), idle_state);
  clock->source = source;
  if (old) source_unlink(old, clock);
  if (source) source_link(source, clock);
  return last ? old : NULL;
}

/* With move_mutex held and `source`, if any, acquired. *out_stop: the source to stop, or NULL. */
static tb_status_t clock_use_locked(tb_clock_t *clock, tb_source_t *source, tb_source_t **out_stop)
{
  *out_stop = NULL;
  if (source == clock->source) {
    if (!source) atomic_store(&clock->idle_state, TB_CLOCK_INACTIVE);
    if (source) source_revoke(source); /* acquired twice: never the last */
    return TB_OK;
  }
  tb_status_t status = source ? hold_timeline(clock, source->timeline) : TB_OK;
  if (status) {
    if (source_revoke(source)) *out_stop = source;
    return status;
  }
  *out_stop = clock_switch(clock, source, TB_CLOCK_INACTIVE);
  return TB_OK;
}

tb_status_t tb_clock_set_source(tb_clock_t *clock, tb_source_t *source)
{
  if (!clock || clock->kind != TB_TIME_ROS) return TB_ERR_INVALID;
  if (tb__jump_of_thread) return TB_ERR_DEADLOCK;
  tb_source_t *stop;
  tb_status_t status = source ? source_acquire(source) : TB_OK;
  if (status) return status;
  tb__clock_ref(clock); /* whom the change wakes may destroy it */
  tb__mutex_lock(&clock->move_mutex);
  status = clock_use_locked(clock, source, &stop);
  tb__mutex_unlock(&clock->move_mutex);
  tb__clock_unref(clock);
  if (stop) source_stop(stop);
  return status;
}

void tb__clock_orphan(tb_clock_t *clock, tb_source_t *source)
{
  tb_source_t *stop = NULL;
  tb__mutex_lock(&clock->move_mutex);
  if (clock->source == source) stop = clock_switch(clock, NULL, TB_CLOCK_NO_SOURCE);
  tb__mutex_unlock(&clock->move_mutex);
  if (stop) source_stop(stop);
}

void tb__clock_leave_source(tb_clock_t *clock)
{
  tb__mutex_lock(&clock->move_mutex);
  tb_source_t *source = clock->source;
  bool last = source && source_revoke(source);
  if (source) source_unlink(source, clock);
  clock->source = NULL;
  tb__mutex_unlock(&clock->move_mutex);
  if (last) source_stop(source);
}
