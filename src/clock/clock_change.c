/* Changes of a clock's source. */
#include <stdlib.h>

#include "clock/callback_context.h"
#include "clock/claim.h"
#include "clock/clock.h"
#include "clock/default_source.h"
#include "clock/jump_wait.h"
#include "clock/running.h"
#include "clock/source.h"
#include "clock/step.h"
#include "held/parking.h"

/* Readers may read a timeline long after the clock has left it: it is kept as long as the clock.
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
  if (timeline->view) return (uintptr_t)timeline | TB__WORD_PAGE;
  return (uintptr_t)timeline | (timeline->kind == TB__TIMELINE_ROS ? 0 : TB__WORD_OS);
}

/* Two timelines, locked in the order of their ids. */
typedef struct pair {
  tb_timeline_t *from, *to;
} pair_t;

static void pair_lock(pair_t pair) TB_ACQUIRE(pair.from->mutex, pair.to->mutex)
{
  if (pair.from->id < pair.to->id) {
    tb__mutex_lock(&pair.from->mutex);
    tb__mutex_lock(&pair.to->mutex);
  } else {
    tb__mutex_lock(&pair.to->mutex);
    tb__mutex_lock(&pair.from->mutex);
  }
}

static void pair_unlock(pair_t pair) TB_RELEASE(pair.from->mutex, pair.to->mutex)
{
  tb__mutex_unlock(&pair.from->mutex);
  tb__mutex_unlock(&pair.to->mutex);
}

/* On system time each change needs no turn of its own: only steps are blocked. */
static tb_status_t take_turn(tb_timeline_t *timeline, int64_t limit_ns)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&timeline->mutex);
  if (limit_ns == INT64_MAX)
    tb__timeline_take_turn_locked(timeline);
  else
    status = tb__timeline_take_turn_within_locked(timeline, limit_ns);
  if (!status && timeline->kind == TB__TIMELINE_SYSTEM) {
    tb__steps_hold_locked(timeline);
    tb__timeline_end_turn_locked(timeline);
  }
  tb__mutex_unlock(&timeline->mutex);
  return status;
}

static void end_turn(tb_timeline_t *timeline)
{
  tb__mutex_lock(&timeline->mutex);
  if (timeline->kind == TB__TIMELINE_SYSTEM)
    tb__steps_unblock_locked(timeline);
  else
    tb__timeline_end_turn_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

static tb_status_t pair_take_turns(pair_t pair, int64_t limit_ns)
{
  bool from_first = pair.from->id < pair.to->id;
  tb_timeline_t *first = from_first ? pair.from : pair.to;
  tb_status_t status = take_turn(first, limit_ns);
  if (status) return status;
  status = take_turn(from_first ? pair.to : pair.from, limit_ns);
  if (status) end_turn(first);
  return status;
}

static tb_jump_t describe_locked(tb_clock_t *clock, pair_t pair)
    TB_REQUIRES(pair.from->mutex, pair.to->mutex)
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

/* Waiters stay on the clock; each one decides what the change does to it. */
static void move_waiters_locked(tb_clock_t *clock, pair_t pair, const tb_jump_t *jump,
                                tb__waiter_t **to_wake)
    TB_REQUIRES(pair.from->mutex, pair.to->mutex)
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

/* For threads that are blocked by the change. The process's own timelines may be in any number of
 * changes. */
static void note_change_locked(tb_clock_t *clock, pair_t pair, tb__jump_t *change)
    TB_REQUIRES(pair.from->mutex, pair.to->mutex)
{
  clock->change = change;
  if (pair.from->kind == TB__TIMELINE_ROS) pair.from->jump = change;
  if (pair.to->kind == TB__TIMELINE_ROS) pair.to->jump = change;
}

/* A waiter for the state that results leaves. */
static void settle_waiters_locked(tb_clock_t *clock)
{
  for (tb__waiter_t *waiter = clock->waiters, *next; waiter; waiter = next) {
    next = waiter->clock_next;
    if (waiter->ops->settled) waiter->ops->settled(waiter);
  }
}

static void set_idle_state(tb_clock_t *clock, tb_clock_state_t state)
{
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  atomic_store(&clock->idle_state, (uint32_t)state);
  settle_waiters_locked(clock);
  tb__clock_unlock(timeline);
}

static void clock_change_end(tb_clock_t *clock, pair_t pair, tb__jump_t *change,
                             tb__waiter_t *to_wake)
{
  pair_lock(pair);
  note_change_locked(clock, pair, NULL);
  tb__jump_release_locked(change, pair.from);
  atomic_fetch_and(&clock->word, ~(TB__WORD_CHANGING | TB__WORD_OPEN | TB__WORD_MOVED));
  atomic_fetch_add(&clock->gate, 1);
  tb__futex_wake_all(&clock->gate);
  settle_waiters_locked(clock);
  tb__waiters_collect_due_locked(
      pair.from, &to_wake); /* done by the thread that has the turn: see tb__timeline_wake_due */
  tb__waiters_collect_due_locked(pair.to, &to_wake);
  /* handlers have moved: threads that wait for the end of the jump may wait on either timeline */
  atomic_fetch_add(&pair.to->jumps_done, 1);
  tb__futex_wake_all(&pair.to->jumps_done);
  pair_unlock(pair);
  tb__waiters_wake(to_wake);
}

/* J3: steps 2 to 5 of a jump, for one clock. With its `moving` and both turns held. */
static void clock_change(tb_clock_t *clock, pair_t pair, tb_clock_state_t idle_state)
{
  pair_lock(pair);
  tb__jump_t change = {
      .info = describe_locked(clock, pair), .timelines = {pair.from, pair.to}, .moved = clock};
  tb__jump_select_locked(&change, pair.from);
  note_change_locked(clock, pair, &change);
  bool open = atomic_load(&pair.from->readers_never_block) || /* J10 */
              atomic_load(&pair.to->readers_never_block);
  atomic_store(&clock->previous_epoch, atomic_load(&clock->move_epoch));
  atomic_fetch_or(&clock->word, TB__WORD_CHANGING | (open ? TB__WORD_OPEN : 0));
  pair_unlock(pair);
  tb__jump_call_before(&change);
  if (tb__is_forked()) return; /* by a callback */

  tb__waiter_t *to_wake = NULL;
  pair_lock(pair);
  atomic_store(&clock->idle_state, (uint32_t)idle_state);
  atomic_store(&clock->move_epoch, change.info.epoch); /* before the word: it never falls */
  uintptr_t open_bit = atomic_load(&clock->word) & TB__WORD_OPEN;
  atomic_store(&clock->word, word_of(pair.to) | TB__WORD_CHANGING | TB__WORD_MOVED | open_bit);
  tb__handlers_move(clock, pair.from, pair.to);
  move_waiters_locked(clock, pair, &change.info, &to_wake);
  pair_unlock(pair);
  tb__jump_call_after(&change);
  if (tb__is_forked()) return;

  clock_change_end(clock, pair, &change, to_wake);
  end_turn(pair.from);
  end_turn(pair.to);
}

static tb_status_t move_begin(tb_clock_t *clock, int64_t limit_ns)
{
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  while (atomic_exchange(&clock->moving, 1)) {
    tb_status_t status = tb__jump_wait_for_change(&wait, clock, &clock->moving, 1);
    if (status) return status;
  }
  return TB_OK;
}

static void move_end(tb_clock_t *clock)
{
  atomic_store(&clock->moving, 0);
  tb__futex_wake_all(&clock->moving);
}

/* With `moving` held. `source` is acquired, or NULL. *out_stop: the source to stop, or NULL. The
 * old source loses its right to tick before ticks that wait for their turn get it. With a limit it
 * loses it after the turns are taken, because a change that fails in time must not have begun. */
static tb_status_t clock_switch(tb_clock_t *clock, tb_source_t *source, tb_clock_state_t idle_state,
                                int64_t limit_ns, tb_source_t **out_stop)
{
  tb_source_t *old = clock->source;
  pair_t pair = {tb__clock_timeline(clock), source ? source->timeline : tb__timeline_system()};
  bool limited = limit_ns != INT64_MAX;
  tb_status_t status = limited ? pair_take_turns(pair, limit_ns) : TB_OK;
  if (status) return status;
  if (old) tb__source_begin_leave(old);
  if (!limited) pair_take_turns(pair, INT64_MAX);
  if (old) tb__source_unlink(old, clock);
  if (source) tb__source_link(source, clock); /* a move of the next turn finds the clock */
  clock->source = source;
  clock_change(clock, pair, idle_state);
  *out_stop = old && tb__source_end_leave(old) ? old : NULL;
  return TB_OK;
}

/* With `moving` held and `source`, if any, acquired. *out_stop: the source to stop, or NULL. */
static tb_status_t clock_use_locked(tb_clock_t *clock, tb_source_t *source,
                                    tb_clock_state_t idle_state, int64_t limit_ns,
                                    tb__held_timeline_t **spares, tb_source_t **out_stop)
{
  if (source == clock->source) {
    if (!source) set_idle_state(clock, idle_state);
    if (source) tb__source_revoke(source); /* acquired twice: never the last user */
    return TB_OK;
  }
  if (source) hold_timeline(clock, source->timeline, spares);
  tb_status_t status = clock_switch(clock, source, idle_state, limit_ns, out_stop);
  if (status && source && tb__source_revoke(source)) *out_stop = source;
  return status;
}

/* Releases an acquired source that the clock does not move to. */
static void source_release(tb_source_t *source)
{
  if (source && source != TB_SOURCE_DEFAULT && tb__source_revoke(source)) tb__source_stop(source);
}

/* Before the change: starts the source, so that only the limit can make the change fail. */
static tb_status_t source_prepare(tb_source_t *source, int64_t limit_ns,
                                  tb__held_timeline_t **spares)
{
  tb_status_t status = TB_OK;
  if (source && !tb__held_reserve(spares, 1)) return TB_ERR_NO_MEMORY;
  if (source == TB_SOURCE_DEFAULT)
    status = tb__default_need();
  else if (source && tb__may_not_wait())
    status = tb__source_try_acquire(source) ? TB_OK : TB_ERR_DEADLOCK;
  else if (source)
    status = tb__source_acquire(source, limit_ns);
  if (status) tb__held_free(*spares);
  return status;
}

/* With `moving` held. A clock whose change fails follows what it followed before. */
static tb_status_t clock_go_locked(tb_clock_t *clock, tb_source_t *wanted, int64_t limit_ns,
                                   tb__held_timeline_t **spares, tb_source_t **out_stop)
{
  bool to_default = wanted == TB_SOURCE_DEFAULT, followed = clock->follows;
  tb_source_t *source = to_default ? tb__default_join(clock) : wanted;
  tb_clock_state_t idle = to_default ? TB_CLOCK_NO_SOURCE : TB_CLOCK_INACTIVE;
  tb_status_t status = clock_use_locked(clock, source, idle, limit_ns, spares, out_stop);
  bool follows = status ? followed : to_default;
  if (!follows) tb__default_leave(clock);
  return status;
}

static tb_status_t set_source(tb_clock_t *clock, tb_source_t *source, int64_t limit_ns)
{
  if (!clock || clock->kind != TB_TIME_ROS) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  tb__held_timeline_t *spares = NULL;
  tb_status_t status = source_prepare(source, limit_ns, &spares);
  if (status) return status;
  tb_source_t *stop = NULL;
  bool has_no_source = false;
  tb__clock_ref(clock); /* a thread that the change wakes may destroy it */
  status = move_begin(clock, limit_ns);
  if (status) {
    source_release(source);
  } else {
    status = clock_go_locked(clock, source, limit_ns, &spares, &stop);
    has_no_source = clock->follows && !clock->source;
    move_end(clock);
  }
  tb__clock_unref(clock);
  tb__held_free(spares);
  tb__steps_watch();
  if (stop) tb__source_stop(stop);
  if (has_no_source) tb__default_report_none();
  return tb__is_forked() ? TB_ERR_FORKED : status;
}

tb_status_t tb__clock_set_claimed(tb_clock_t *clock, tb_source_t *source)
{
  return set_source(clock, source, INT64_MAX);
}

tb_status_t tb_clock_set_source(tb_clock_t *clock, tb_source_t *source)
{
  if (tb__clock_is_claimed(clock)) return TB_ERR_BUSY;
  return set_source(clock, source, INT64_MAX);
}

tb_status_t tb_clock_set_source_within(tb_clock_t *clock, tb_source_t *source, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  if (!status && tb__clock_is_claimed(clock)) status = TB_ERR_BUSY;
  return status ? status : set_source(clock, source, deadline.ns);
}

/* In a jump callback no turn can be taken. None is needed: no other thread knows the clock. */
tb_status_t tb__clock_set_first_source(tb_clock_t *clock, tb_source_t *source)
{
  if (!tb__may_not_wait()) return set_source(clock, source, INT64_MAX);
  tb__held_timeline_t *spares = NULL;
  tb_status_t status = source_prepare(source, INT64_MAX, &spares);
  if (status) return status;
  bool to_default = source == TB_SOURCE_DEFAULT;
  tb_source_t *chosen = to_default ? tb__default_join(clock) : source;
  if (to_default) atomic_store(&clock->idle_state, TB_CLOCK_NO_SOURCE);
  if (chosen) {
    hold_timeline(clock, chosen->timeline, &spares);
    atomic_store(&clock->word, word_of(chosen->timeline));
    clock->source = chosen;
    tb__source_link(chosen, clock);
  }
  tb__held_free(spares);
  if (!chosen) tb__default_report_none();
  return TB_OK;
}

tb_status_t tb__clock_follow(tb_clock_t *clock, tb_source_t *source, int64_t limit_ns,
                             tb__held_timeline_t **spares, tb_source_t **out_stop)
{
  tb_status_t status = move_begin(clock, limit_ns);
  if (status) return status;
  if (clock->follows && (!source || tb__source_try_acquire(source)))
    status = clock_use_locked(clock, source, TB_CLOCK_NO_SOURCE, limit_ns, spares, out_stop);
  move_end(clock);
  tb__steps_watch();
  return status;
}

tb_status_t tb__clock_orphan(tb_clock_t *clock, tb_source_t *source, int64_t limit_ns)
{
  tb_source_t *stop = NULL;
  tb_status_t status = move_begin(clock, limit_ns);
  if (status) return status;
  if (clock->source == source)
    status = clock_switch(clock, NULL, TB_CLOCK_NO_SOURCE, limit_ns, &stop);
  move_end(clock);
  tb__steps_watch();
  if (stop) tb__source_stop(stop);
  return status;
}

tb_status_t tb__clock_leave_source(tb_clock_t *clock, int64_t limit_ns)
{
  tb_status_t status = move_begin(clock, limit_ns);
  if (status) return status;
  tb_source_t *source = clock->source;
  bool last = source && tb__source_revoke(source);
  tb__default_leave(clock);
  if (source) tb__source_unlink(source, clock);
  clock->source = NULL;
  move_end(clock);
  if (last) tb__source_stop(source);
  return TB_OK;
}
